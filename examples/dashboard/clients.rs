//! Who calls the shop: three functions that retry, about fifty times a second in all.

use std::{fmt, future::Future, time::Duration};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use reqwest::{StatusCode, header::RETRY_AFTER};
use retry_runtime::{
    CircuitBreaker, CircuitOpen, Decision, Policy, RetryBudget, Transient, retry_after, retryable,
};
use tokio::time::sleep;

/// Opens when six of ten fail, so that many faults are a matter for the budget, and an outage one
/// for the breaker.
pub static BREAKER: CircuitBreaker = CircuitBreaker::new()
    .named("shop")
    .window(100)
    .min_calls(50)
    .failure_rate(0.6)
    .open_for(Duration::from_secs(3))
    .probes(5);

pub static BUDGET: RetryBudget = RetryBudget::new().named("shop").min_per_second(2);

const POLICY: Policy = Policy::new().max(4).base_ms(100).cap_ms(1_000);

#[derive(Clone)]
struct Shop {
    http: reqwest::Client,
    url: String,
}

impl Shop {
    #[retryable(policy = POLICY, name = "price", breaker = BREAKER, budget = BUDGET)]
    async fn price(&self, article: u32) -> Result<String, ShopError> {
        let url = format!("{}/prices/{article}", self.url);
        text(self.http.get(url).send().await?).await
    }

    /// May be sent twice: the shop knows by its number that it is the same order.
    #[retryable(policy = POLICY, name = "order", breaker = BREAKER, budget = BUDGET)]
    async fn order(&self, number: u32) -> Result<String, ShopError> {
        let url = format!("{}/orders/{number}", self.url);
        text(self.http.put(url).send().await?).await
    }

    /// Looks until it is there. Such retries are expected, and not paid from the budget.
    #[retryable(
        policy = POLICY,
        name = "parcel",
        base_ms = 300,
        breaker = BREAKER,
        on = |error| error.decision(),
        until = |state| state == "delivered",
    )]
    async fn parcel(&self, number: u32) -> Result<String, ShopError> {
        let url = format!("{}/parcels/{number}", self.url);
        text(self.http.get(url).send().await?).await
    }
}

async fn text(response: reqwest::Response) -> Result<String, ShopError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response.text().await?);
    }
    let hint = response.headers().get(RETRY_AFTER);
    let hint = hint
        .and_then(|value| value.to_str().ok())
        .and_then(retry_after);
    Err(ShopError::Status(status, hint))
}

#[derive(Debug)]
enum ShopError {
    NoAnswer(reqwest::Error),
    Status(StatusCode, Option<Duration>),
    Open(CircuitOpen),
}

impl Transient for ShopError {
    fn decision(&self) -> Decision {
        match self {
            // the connection was closed; on a new one there may be an answer at once
            Self::NoAnswer(_) => Decision::RetryNow,
            Self::Status(_, Some(wait)) => Decision::RetryAfter(*wait),
            Self::Status(status, None) => status.is_server_error().into(),
            Self::Open(_) => Decision::Stop,
        }
    }
}

impl From<reqwest::Error> for ShopError {
    fn from(error: reqwest::Error) -> Self {
        Self::NoAnswer(error)
    }
}

impl From<CircuitOpen> for ShopError {
    fn from(open: CircuitOpen) -> Self {
        Self::Open(open)
    }
}

impl fmt::Display for ShopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnswer(error) => error.fmt(f),
            Self::Status(status, _) => status.fmt(f),
            Self::Open(open) => open.fmt(f),
        }
    }
}

/// Starts calling, until the program ends.
pub fn call(url: String) -> reqwest::Result<()> {
    // no proxy: the shop is on this machine
    let http = reqwest::Client::builder().no_proxy().build()?;
    let shop = Shop { http, url };
    each(30, 1, &shop, |shop, number| async move {
        _ = shop.price(number % 50).await;
    });
    each(15, 2, &shop, |shop, number| async move {
        _ = shop.order(number).await;
    });
    each(5, 3, &shop, |shop, number| async move {
        _ = shop.parcel(number).await;
    });
    Ok(())
}

/// So many calls a second on average, whether or not those before have ended.
fn each<F: Future<Output = ()> + Send + 'static>(
    per_second: u64,
    seed: u64,
    shop: &Shop,
    call: impl Fn(Shop, u32) -> F + Send + 'static,
) {
    let shop = shop.clone();
    let mut random = StdRng::seed_from_u64(seed);
    tokio::spawn(async move {
        for number in 0.. {
            let pause = random.random_range(0..2_000_000 / per_second);
            sleep(Duration::from_micros(pause)).await;
            tokio::spawn(call(shop.clone(), number));
        }
    });
}
