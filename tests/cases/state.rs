//! State that is stale, or reset too early or too late.

use std::time::Duration;

use retry_runtime::{Policy, retryable};

use crate::support::{Failed, Log, fail, record, record_async};

#[retryable(max = 26, jitter = "none", sleep = record)]
fn without_a_cap() -> Result<u32, Failed> {
    fail()
}

/// C124, EmbarkStudios/quilkin#731
#[test]
fn a_policy_without_a_cap_has_one_of_thirty_seconds() {
    let log = Log::start();
    assert!(without_a_cap().is_err());
    assert_eq!(
        log.waits_ms()[7..],
        [25_600].into_iter().chain([30_000; 17]).collect::<Vec<_>>()
    );
    assert_eq!(Policy::new().ceiling(u32::MAX), Duration::from_secs(30));
}

#[retryable(max = 6, jitter = "none", sleep = record)]
fn five_failures() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 6, jitter = "none", sleep = record_async)]
async fn five_failures_async() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 6, base_ms = base_ms, jitter = "none", sleep = record)]
fn policy_made_anew_each_time(base_ms: u64) -> Result<u32, Failed> {
    fail()
}

/// C125, bitdriftlabs/pulse#52
#[tokio::test]
async fn waits_grow_from_failure_to_failure() {
    let growing = [200, 400, 800, 1600, 3200];
    let log = Log::start();
    assert!(five_failures().is_err());
    assert_eq!(log.waits_ms(), growing);
    let log = Log::start();
    assert!(five_failures_async().await.is_err());
    assert_eq!(log.waits_ms(), growing);
    let log = Log::start();
    assert!(policy_made_anew_each_time(200).is_err());
    assert_eq!(log.waits_ms(), growing);
}

#[retryable(max = 5, base_ms = 200, factor = 2, jitter = "none", sleep = record)]
fn four_waits() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 5, base_ms = 200, jitter = "decorrelated", cap_ms = 600_000, sleep = record)]
fn decorrelated() -> Result<u32, Failed> {
    fail()
}

/// C126, spring-attic/spring-retry#1
#[test]
fn every_call_starts_over_and_no_retry_does() {
    for _ in 0..3 {
        let log = Log::start();
        assert!(four_waits().is_err());
        assert_eq!(log.waits_ms(), [200, 400, 800, 1600]);
    }
    for _ in 0..100 {
        let log = Log::start();
        assert!(decorrelated().is_err());
        let mut longest = 200;
        for wait in log.waits_ms() {
            longest *= 3;
            assert!((200..=longest).contains(&wait), "{wait}");
        }
    }
}
