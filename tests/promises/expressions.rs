//! Expressions in the attribute, and what they hold on to. Promises 4, 15, 16, 26

use std::{
    cell::Cell,
    io,
    sync::Mutex,
    time::{Duration, Instant},
};

use retry_runtime::{
    AttemptTimeout, CircuitBreaker, CircuitOpen, Decision, RetryBudget, Transient, retryable,
};

struct Config {
    max: u32,
}

#[retryable(
    base_ms = 1,
    max = config.lock().unwrap().max,
    on = |_: &u32| config.lock().unwrap().max > 0,
    recover = |failure| {
        config.lock().unwrap().max += failure.error;
        Ok(failure.attempts)
    }
)]
fn locks(config: &Mutex<Config>) -> Result<u32, u32> {
    Err(7)
}

#[test]
fn a_lock_in_an_expression_is_released_before_anything_else_runs() {
    let config = Mutex::new(Config { max: 3 });
    assert_eq!(locks(&config), Ok(3));
    assert_eq!(config.lock().unwrap().max, 10);
}

#[retryable(timeout_ms = 20, max = 1, on = "any")]
async fn busy(until: Instant) -> Result<(), io::Error> {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    #[expect(clippy::disallowed_methods, reason = "the task is busy in real time")]
    while Instant::now() < until {
        sender.send(()).unwrap();
        receiver.recv().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_timeout_ends_an_attempt_that_is_always_ready() {
    #[expect(clippy::disallowed_methods, reason = "the task is busy in real time")]
    let until = Instant::now() + Duration::from_secs(20);
    let error = busy(until).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

#[test]
fn a_timeout_is_not_retried_unless_that_is_said() {
    let timeout = io::Error::from(AttemptTimeout::new(Duration::from_secs(1)));
    assert_eq!(timeout.decision(), Decision::Stop);
    let other = io::Error::from(io::ErrorKind::TimedOut);
    assert_eq!(other.decision(), Decision::Retry);
}

async fn late(wait: Duration) {
    tokio::time::sleep(wait + Duration::from_secs(1)).await;
}

#[retryable(base_ms = 10, jitter = "none", max = 3, deadline_ms = 500, sleep = late, on = "any")]
async fn woken_late(calls: &Cell<u32>) -> Result<(), u32> {
    calls.set(calls.get() + 1);
    Err(calls.get())
}

#[tokio::test(start_paused = true)]
async fn no_attempt_starts_after_the_deadline_though_the_wait_was_late() {
    let calls = Cell::new(0);
    assert_eq!(woken_late(&calls).await, Err(1));
    assert_eq!(calls.get(), 1);
}

#[derive(Debug, PartialEq)]
enum Polled {
    Down,
    Open,
}

impl From<CircuitOpen> for Polled {
    fn from(_: CircuitOpen) -> Self {
        Self::Open
    }
}

#[test]
fn a_value_that_is_not_final_is_a_success_for_the_breaker() {
    static BREAKER: CircuitBreaker = CircuitBreaker::new()
        .window(10)
        .min_calls(4)
        .failure_rate(0.5);

    #[retryable(backoff = "none", max = 10, until = |ready| *ready, breaker = BREAKER)]
    fn poll(calls: &mut u32) -> Result<bool, Polled> {
        *calls += 1;
        Ok(*calls >= 8)
    }
    assert_eq!(poll(&mut 0), Ok(true));

    #[retryable(backoff = "none", until = |ready| *ready, breaker = BREAKER)]
    fn down() -> Result<bool, Polled> {
        Err(Polled::Down)
    }
    let errors: Vec<_> = (0..20).map(|_| down().unwrap_err()).collect();
    assert!(
        errors.contains(&Polled::Open),
        "an error that is returned at once counts"
    );
}

struct Shared {
    budget: std::sync::Arc<RetryBudget>,
    breaker: std::sync::Arc<CircuitBreaker>,
}

impl Shared {
    #[retryable(
        backoff = "none",
        budget = std::sync::Arc::clone(&self.budget),
        breaker = std::sync::Arc::clone(&self.breaker),
        on = "any"
    )]
    async fn call(&self) -> Result<(), Polled> {
        Err(Polled::Down)
    }
}

#[tokio::test]
async fn a_budget_and_a_breaker_may_come_from_an_expression() {
    let shared = Shared {
        budget: RetryBudget::new().into(),
        breaker: CircuitBreaker::new().into(),
    };
    assert_eq!(shared.call().await, Err(Polled::Down));
}
