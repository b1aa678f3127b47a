//! Three ways to use `#[retryable]`, on a free async function, an async method and a blocking
//! function, against a server that fails in real ways: `cargo run --example quickstart`.
//!
//! The keys `on` and `sleep` are here to print the timeline. Without them the functions retry just
//! the same: [`ApiError`] says which errors are worth it.

use std::{error::Error, fmt, io, time::Duration};

use reqwest::{
    StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};
use retry_runtime::{Decision, Transient, find_source, retry_after, retryable};
use tokio::{task, time::Instant};

use faulty_server::{Fault, FaultyServer};

#[path = "support/faulty_server.rs"]
mod faulty_server;

/// Whether the shop is open. It may still be starting: many calls, close together.
#[retryable(
    max = 20,
    cap_ms = 500,
    jitter = "equal",
    on = timeline::decide,
    sleep = timeline::pause
)]
async fn health(http: &reqwest::Client, url: &str) -> Result<String, ApiError> {
    text(http.get(format!("{url}/health")).send().await?).await
}

struct Shop {
    http: reqwest::Client,
    url: String,
    max_calls: u32,
}

impl Shop {
    /// One order. How often to try is a setting of the shop.
    #[retryable(max = self.max_calls, on = timeline::decide, sleep = timeline::pause)]
    async fn order(&self, id: u32) -> Result<String, ApiError> {
        let url = format!("{}/orders/{id}", self.url);
        text(self.http.get(url).send().await?).await
    }

    /// What was earned, for those who may know.
    #[retryable(max = self.max_calls, on = timeline::decide, sleep = timeline::pause)]
    async fn revenue(&self) -> Result<String, ApiError> {
        let url = format!("{}/revenue", self.url);
        text(self.http.get(url).send().await?).await
    }
}

/// How many are left of an article. Blocks the thread, in the waits too.
#[retryable(max = 5, base_ms = 150, on = timeline::decide, sleep = timeline::block)]
fn stock(http: &ureq::Agent, url: &str, article: &str) -> Result<String, ApiError> {
    let mut response = http.get(format!("{url}/stock/{article}")).call()?;
    check(response.status(), response.headers())?;
    Ok(response.body_mut().read_to_string()?)
}

async fn text(response: reqwest::Response) -> Result<String, ApiError> {
    check(response.status(), response.headers())?;
    Ok(response.text().await?)
}

/// Makes an error of an answer that is one.
fn check(status: StatusCode, headers: &HeaderMap) -> Result<(), ApiError> {
    if status.is_success() {
        return Ok(());
    }
    let hint = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    Err(ApiError::Status {
        status,
        retry_after: hint.and_then(retry_after),
    })
}

#[derive(Debug)]
enum ApiError {
    /// There was no answer, or only a part of one
    NoAnswer(io::Error),
    /// The answer was an error
    Status {
        status: StatusCode,
        retry_after: Option<Duration>,
    },
}

/// What `#[retryable]` asks after each failed attempt, unless `on` is given.
impl Transient for ApiError {
    fn decision(&self) -> Decision {
        match self {
            Self::NoAnswer(error) => error.decision(),
            Self::Status {
                retry_after: Some(wait),
                ..
            } => Decision::RetryAfter(*wait),
            Self::Status { status, .. } => {
                matches!(status.as_u16(), 408 | 429 | 500 | 502..=504).into()
            }
        }
    }
}

impl From<reqwest::Error> for ApiError {
    fn from(error: reqwest::Error) -> Self {
        let kind = if error.is_timeout() {
            io::ErrorKind::TimedOut
        } else {
            // reqwest tells that a connection failed, but why is only in the chain of causes
            find_source(&error).map_or(io::ErrorKind::Other, io::Error::kind)
        };
        Self::NoAnswer(io::Error::new(kind, error))
    }
}

impl From<ureq::Error> for ApiError {
    fn from(error: ureq::Error) -> Self {
        Self::NoAnswer(match error {
            ureq::Error::Timeout(_) => io::Error::new(io::ErrorKind::TimedOut, error),
            _ => error.into_io(),
        })
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAnswer(error) => error.kind().fmt(f),
            Self::Status { status, .. } => status.fmt(f),
        }
    }
}

impl Error for ApiError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NoAnswer(error) => Some(error),
            Self::Status { .. } => None,
        }
    }
}

/// Prints attempts, decisions and waits as they come.
mod timeline {
    use std::{
        sync::{
            LazyLock,
            atomic::{AtomicU32, Ordering},
        },
        time::Duration,
    };

    use retry_runtime::{Decision, Transient as _};
    use tokio::time::Instant;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

    pub fn call(function: &str) {
        ATTEMPTS.store(0, Ordering::Relaxed);
        println!("\n{function}");
        LazyLock::force(&START);
    }

    pub fn answered(answer: &str) {
        attempt("200 OK", &format!("\"{answer}\""));
    }

    /// As `on`: leaves the decision to the error, and shows both.
    pub fn decide(error: &crate::ApiError) -> Decision {
        let decision = error.decision();
        attempt(&error.to_string(), &format!("{decision:?}"));
        decision
    }

    /// As `sleep` of an async function.
    pub async fn pause(wait: Duration) {
        line("wait", &format!("{} ms", wait.as_millis()));
        tokio::time::sleep(wait).await;
    }

    /// As `sleep` of a blocking function.
    #[expect(clippy::disallowed_methods, reason = "this is what blocking means")]
    pub fn block(wait: Duration) {
        line("wait", &format!("{} ms", wait.as_millis()));
        std::thread::sleep(wait);
    }

    fn attempt(outcome: &str, next: &str) {
        let number = ATTEMPTS.fetch_add(1, Ordering::Relaxed) + 1;
        line(
            &format!("attempt {number}"),
            &format!("{outcome:<26} -> {next}"),
        );
    }

    fn line(what: &str, rest: &str) {
        println!(
            "{:>7.3} s  {what:<10}  {rest}",
            START.elapsed().as_secs_f64()
        );
    }
}

const START_UP: Duration = Duration::from_millis(800);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // each path fails as listed, one request after the other, and then answers
    let server = FaultyServer::default()
        .route("/health", [Fault::Reset], "open")
        .route(
            "/orders/7",
            [Fault::Status(503), Fault::Busy { retry_after: 2 }],
            "two apples",
        )
        .route(
            "/stock/apples",
            [Fault::Silence, Fault::Reset, Fault::Status(500)],
            "41",
        )
        .route("/revenue", [Fault::Status(401)], "never asked for again")
        .start_after(START_UP)?;
    println!("Seconds since the start; an attempt is shown when it ends, a wait when it begins.");
    let url = server.url.clone();

    // no proxy: the server is on this machine
    let http = reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(5))
        .build()?;

    timeline::call("async fn health(..): the server is slow to come up, then resets a connection");
    let asked = Instant::now();
    let state = health(&http, &url).await?;
    let health_took = asked.elapsed();
    timeline::answered(&state);

    let shop = Shop {
        http,
        url: url.clone(),
        max_calls: 5,
    };
    timeline::call("async fn order(&self, ..): the server is busy, and says when to come back");
    let asked = Instant::now();
    let order = shop.order(7).await?;
    let order_took = asked.elapsed();
    timeline::answered(&order);

    let http = ureq::Agent::config_builder()
        .proxy(None)
        .timeout_global(Some(Duration::from_millis(500)))
        .http_status_as_error(false) // such an error has lost its headers
        .build()
        .new_agent();
    timeline::call("fn stock(..), blocking: no answer in time, a reset connection, a server error");
    // on a thread of its own, so that the server goes on
    let stock = task::spawn_blocking(move || stock(&http, &url, "apples")).await??;
    timeline::answered(&stock);

    timeline::call("async fn revenue(&self): not allowed, which another try would not change");
    let revenue = shop.revenue().await;

    assert_eq!(state, "open");
    assert_eq!(server.requests("/health"), 2);
    assert!(health_took >= START_UP, "answered before it was up");

    assert_eq!(order, "two apples");
    assert_eq!(server.requests("/orders/7"), 3);
    assert!(
        order_took >= Duration::from_secs(2),
        "asked again too early"
    );

    assert_eq!(stock, "41");
    assert_eq!(server.requests("/stock/apples"), 4);

    assert!(matches!(revenue, Err(ApiError::Status { status, .. }) if status == 401));
    assert_eq!(server.requests("/revenue"), 1);

    println!("\nEvery call ended as it should.");
    Ok(())
}
