//! Waits in the wrong place, or in none.

use std::time::Duration;

use retry_runtime::{Policy, retryable};
use tokio::time::Instant;

use crate::support::{
    Event::{Call, Wait},
    Failed, Log, fail, record, record_async, succeed_at,
};

const SECOND: Duration = Duration::from_secs(1);

#[retryable(max = 2, base_ms = 1000, jitter = "none", sleep = record)]
fn twice() -> Result<u32, Failed> {
    succeed_at(2)
}

#[retryable(max = 2, base_ms = 1000, jitter = "none")]
async fn twice_async() -> Result<u32, Failed> {
    succeed_at(2)
}

/// C149, avast/retry-go#19
#[tokio::test(start_paused = true)]
async fn the_wait_lies_between_the_first_attempt_and_the_second() {
    let log = Log::start();
    assert_eq!(twice(), Ok(2));
    assert_eq!(log.events(), [Call, Wait(SECOND), Call]);

    let start = Instant::now();
    let _log = Log::start();
    assert_eq!(twice_async().await, Ok(2));
    assert_eq!(start.elapsed(), SECOND);
}

#[retryable(max = 6, base_ms = 70, factor = 1.7, cap_ms = 400, jitter = "none", sleep = record)]
fn sync() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 6, base_ms = 70, factor = 1.7, cap_ms = 400, jitter = "none", sleep = record_async)]
async fn asynchronous() -> Result<u32, Failed> {
    fail()
}

/// C150, failsafe-lib/failsafe#242
#[tokio::test]
async fn async_waits_are_those_of_a_sync_function() {
    let log = Log::start();
    assert!(sync().is_err());
    let events = log.events();
    assert_eq!(events.len(), 11);
    let log = Log::start();
    assert!(asynchronous().await.is_err());
    assert_eq!(log.events(), events);
}

#[retryable(base_ms = 0, sleep = record)]
fn asked_for() -> Result<u32, Failed> {
    fail()
}

#[retryable(jitter = "none", sleep = record)]
fn by_default() -> Result<u32, Failed> {
    fail()
}

/// C151, delta-io/delta-rs put_with_retries
#[test]
fn retries_without_a_pause_are_never_a_default() {
    let log = Log::start();
    assert!(asked_for().is_err());
    assert!(log.waits().iter().all(Duration::is_zero));
    let log = Log::start();
    assert!(by_default().is_err());
    assert_eq!(log.waits_ms(), [200, 400]);
    assert!(!Policy::default().ceiling(0).is_zero());
}
