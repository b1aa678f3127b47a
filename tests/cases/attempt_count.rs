//! `max` taken for something else than the number of calls.

use retry_runtime::{Policy, PolicyError, retryable};
use tokio::time::Instant;

use crate::support::{Failed, Log, fail, record, record_async};

#[retryable(max = 5, sleep = record)]
fn five() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 5, sleep = record_async)]
async fn five_async() -> Result<u32, Failed> {
    fail()
}

/// C027, apache/pekko#3233
#[tokio::test]
async fn five_attempts_are_five_calls_and_four_waits() {
    let log = Log::start();
    assert_eq!(five(), Err(Failed(5)));
    assert_eq!((log.calls(), log.waits().len()), (5, 4));

    let log = Log::start();
    assert_eq!(five_async().await, Err(Failed(5)));
    assert_eq!((log.calls(), log.waits().len()), (5, 4));
}

#[retryable(max = 3, sleep = record)]
fn three() -> Result<u32, Failed> {
    fail()
}

#[retryable(sleep = record)]
fn as_by_default() -> Result<u32, Failed> {
    fail()
}

/// C030, takezoe/scala-retry#1, tim-kos/node-retry#21, resilience4j/resilience4j#1320,
/// segmentio/analytics-next#824
#[tokio::test(start_paused = true)]
async fn max_counts_calls_and_its_error_says_so() {
    let log = Log::start();
    assert_eq!(three(), Err(Failed(3)));
    assert_eq!(log.calls(), 3);
    let log = Log::start();
    assert_eq!(as_by_default(), Err(Failed(3)));
    assert_eq!(log.calls(), 3);

    let policy = Policy::new().max(3).backoff(retry_runtime::Backoff::None);
    let log = Log::start();
    assert_eq!(policy.retry(fail), Err(Failed(3)));
    assert_eq!(log.calls(), 3);
    let log = Log::start();
    let calls = policy.retry_async(|| async { fail() });
    assert_eq!(calls.await, Err(Failed(3)));
    assert_eq!(log.calls(), 3);

    assert_eq!(policy.max_calls(), Some(3));
    let error = policy.max(0).validate().unwrap_err();
    assert_eq!(error, PolicyError::MaxIsZero);
    assert!(error.to_string().contains("calls, the first included"));
}

#[retryable(max = retries + 1, sleep = record)]
fn max_retries(retries: u32) -> Result<u32, Failed> {
    fail()
}

/// C031, spring-projects/spring-boot#48023
#[test]
fn three_max_attempts_are_max_three_and_three_max_retries_are_max_four() {
    let log = Log::start();
    assert_eq!(three(), Err(Failed(3)));
    assert_eq!((log.calls(), log.waits().len()), (3, 2));
    let log = Log::start();
    assert_eq!(max_retries(3), Err(Failed(4)));
    assert_eq!((log.calls(), log.waits().len()), (4, 3));
}

#[retryable(max = 1, sleep = record)]
fn once() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 1)]
async fn once_async() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = max, on = "any", sleep = record)]
fn at_run_time(max: i8) -> Result<u32, Failed> {
    fail()
}

/// C032, spring-attic/spring-retry#152. That no retry is reported either needs `notify`.
#[tokio::test(start_paused = true)]
async fn one_attempt_is_one_call_without_a_wait() {
    let log = Log::start();
    assert_eq!(once(), Err(Failed(1)));
    assert_eq!((log.calls(), log.waits().len()), (1, 0));

    let log = Log::start();
    let start = Instant::now();
    assert_eq!(once_async().await, Err(Failed(1)));
    assert_eq!(log.calls(), 1);
    assert!(start.elapsed().is_zero());

    let log = Log::start();
    assert_eq!(at_run_time(1), Err(Failed(1)));
    assert_eq!((log.calls(), log.waits().len()), (1, 0));
}

/// What the project had before it took a crate.
fn hand_loop(retry_limit: u32) -> Result<u32, Failed> {
    let mut tries = 0;
    loop {
        tries += 1;
        match fail() {
            Err(_) if tries < retry_limit => {}
            outcome => return outcome,
        }
    }
}

#[retryable(max = retry_limit, sleep = record)]
fn ported(retry_limit: u32) -> Result<u32, Failed> {
    fail()
}

/// C033, matrix-org/matrix-rust-sdk, http_client/native.rs
#[test]
fn a_hand_loop_is_ported_without_adding_or_subtracting_one() {
    for limit in 1..6 {
        let log = Log::start();
        let by_hand = (hand_loop(limit), log.calls());
        let log = Log::start();
        assert_eq!((ported(limit), log.calls()), by_hand);
    }
}

#[retryable(max = 10, attempt = attempt, sleep = record)]
fn ten(seen: &mut Vec<String>) -> Result<u32, Failed> {
    seen.push(attempt.to_string());
    fail()
}

#[retryable(max = 10, attempt = attempt, sleep = record_async)]
async fn ten_async(seen: &mut Vec<String>) -> Result<u32, Failed> {
    seen.push(attempt.to_string());
    fail()
}

/// C034, neondatabase/neon, compute.rs
#[tokio::test]
async fn ten_attempts_are_ten_calls_and_count_from_one_to_ten() {
    let one_to_ten: Vec<String> = (1..=10).map(|number| format!("{number}/10")).collect();
    let (log, mut seen) = (Log::start(), Vec::new());
    assert!(ten(&mut seen).is_err());
    assert_eq!((log.calls(), seen), (10, one_to_ten.clone()));
    let (log, mut seen) = (Log::start(), Vec::new());
    assert!(ten_async(&mut seen).await.is_err());
    assert_eq!((log.calls(), seen), (10, one_to_ten));
}
