#![deny(warnings)]
use retry_runtime::{
    BreakerState, CircuitBreaker, CircuitOpen, Failure, Reason, RetryBudget, Transient, retryable,
};
use std::{cell::Cell, time::Duration};

#[derive(Debug, PartialEq, Transient)]
#[transient]
enum E {
    A,
    #[permanent]
    P,
    Open,
}
impl From<CircuitOpen> for E {
    fn from(_: CircuitOpen) -> Self {
        E::Open
    }
}

#[test]
fn budget_limits_retries() {
    static BUDGET: RetryBudget = RetryBudget::new()
        .min_per_second(1)
        .window(Duration::from_secs(5))
        .ratio(0.0);
    #[retryable(max = 1000, backoff = "none", budget = BUDGET)]
    fn call(calls: &Cell<u32>) -> Result<(), E> {
        calls.set(calls.get() + 1);
        Err(E::A)
    }
    let calls = Cell::new(0);
    assert_eq!(call(&calls), Err(E::A));
    assert_eq!(calls.get(), 6);
}

static BREAKER: CircuitBreaker = CircuitBreaker::new()
    .window(4)
    .min_calls(4)
    .failure_rate(0.75)
    .open_for(Duration::from_secs(50));
#[retryable(max = 8, backoff = "none", breaker = BREAKER)]
async fn guarded(calls: &Cell<u32>) -> Result<(), E> {
    calls.set(calls.get() + 1);
    Err(E::A)
}
#[retryable(max = 8, backoff = "none", breaker = "BREAKER", recover = |failure: Failure<E>| { assert_eq!(failure.reason, Reason::Breaker); Ok(()) })]
async fn recovered(calls: &Cell<u32>) -> Result<(), E> {
    calls.set(calls.get() + 1);
    Err(E::P)
}

#[tokio::test]
async fn breaker_opens() {
    let calls = Cell::new(0);
    assert_eq!(guarded(&calls).await, Err(E::Open));
    assert_eq!(calls.get(), 4);
    assert_eq!(BREAKER.state(), BreakerState::Open);
    assert_eq!(recovered(&calls).await, Ok(()));
    assert_eq!(calls.get(), 4);
}
