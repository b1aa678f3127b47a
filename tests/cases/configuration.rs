//! Settings that do something else than they say.

use std::time::Duration;

use retry_runtime::{Policy, retryable};
use tokio::time::Instant;

use crate::support::{Failed, Log, fail, record, record_async};

#[retryable(max = max, sleep = record)]
fn max_from(max: i64) -> Result<u32, Failed> {
    fail()
}

/// C137, juju/retry#9. A `max = 0` that is known at compile time is refused: tests/ui.
#[test]
fn zero_attempts_from_a_configuration_are_one_call_not_endless_ones() {
    for max in [0, -1, i64::MIN, 1] {
        let log = Log::start();
        assert_eq!(max_from(max), Err(Failed(1)), "{max}");
        assert_eq!((log.calls(), log.waits().len()), (1, 0));
    }
    assert_eq!(Policy::new().max(0).max_calls(), Some(1));
    assert!(Policy::new().max(0).validate().is_err());
}

#[retryable(max = 7, base_ms = 3000, factor = 2, jitter = "none", sleep = record)]
fn capped_by_default() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 7, base_ms = 3000, factor = 2, cap_ms = 120_000, jitter = "none", sleep = record)]
fn with_a_higher_cap() -> Result<u32, Failed> {
    fail()
}

/// C139, spring-attic/spring-retry#425. The default cap is in the table of keys.
#[test]
fn growth_goes_on_to_the_cap_that_was_given() {
    let log = Log::start();
    assert!(capped_by_default().is_err());
    assert_eq!(log.waits_ms(), [3000, 6000, 12_000, 24_000, 30_000, 30_000]);
    let log = Log::start();
    assert!(with_a_higher_cap().is_err());
    assert_eq!(log.waits_ms(), [3000, 6000, 12_000, 24_000, 48_000, 96_000]);
}

#[retryable(max = 10, sleep = record)]
fn ten() -> Result<u32, Failed> {
    fail()
}

/// C140, grpc/grpc-go#4615
#[test]
fn no_hidden_limit_lies_below_max() {
    let log = Log::start();
    assert_eq!(ten(), Err(Failed(10)));
    assert_eq!(log.calls(), 10);
    let log = Log::start();
    assert_eq!(max_from(3000), Err(Failed(3000)));
    assert_eq!(log.calls(), 3000);
}

#[retryable(max = 5, base_ms = 200, factor = 2, jitter = "none", sleep = record)]
fn from_200() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 5, base_ms = 200, factor = 2, jitter = "none", sleep = record_async)]
async fn from_200_async() -> Result<u32, Failed> {
    fail()
}

/// C141, urllib3/urllib3#847 and #3377
#[tokio::test]
async fn the_first_retry_waits_the_base() {
    let log = Log::start();
    assert!(from_200().is_err());
    assert_eq!(log.waits_ms(), [200, 400, 800, 1600]);
    let log = Log::start();
    assert!(from_200_async().await.is_err());
    assert_eq!(log.waits_ms(), [200, 400, 800, 1600]);
}

#[retryable(
    max = 5,
    base_ms = 150,
    backoff = "linear",
    cap_ms = 500,
    jitter = "none"
)]
async fn linear(starts: &mut Vec<Instant>) -> Result<u32, Failed> {
    starts.push(Instant::now());
    fail()
}

#[retryable(max = 5, delays_ms = [10, 250, 60], jitter = "none")]
async fn listed(starts: &mut Vec<Instant>) -> Result<u32, Failed> {
    starts.push(Instant::now());
    fail()
}

#[retryable(max = 5, base_ms = 100, backoff = "fibonacci", jitter = "none")]
async fn fibonacci(starts: &mut Vec<Instant>) -> Result<u32, Failed> {
    starts.push(Instant::now());
    fail()
}

fn gaps(starts: &[Instant]) -> Vec<u128> {
    let gaps = starts.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.map(|gap| gap.as_millis()).collect()
}

/// C142, failsafe-go/failsafe-go#23
#[tokio::test(start_paused = true)]
async fn the_time_between_two_attempts_is_the_configured_wait() {
    let (_log, mut starts) = (Log::start(), Vec::new());
    assert!(linear(&mut starts).await.is_err());
    assert_eq!(gaps(&starts), [150, 300, 450, 500]);
    let (_log, mut starts) = (Log::start(), Vec::new());
    assert!(listed(&mut starts).await.is_err());
    assert_eq!(gaps(&starts), [10, 250, 60, 60]);
    let (_log, mut starts) = (Log::start(), Vec::new());
    assert!(fibonacci(&mut starts).await.is_err());
    assert_eq!(gaps(&starts), [100, 100, 200, 300]);
}

#[retryable(max = 4, base_ms = base_ms, factor = factor, cap_ms = cap_ms, jitter = "none", sleep = record)]
fn from_a_configuration(base_ms: i64, factor: f64, cap_ms: i64) -> Result<u32, Failed> {
    fail()
}

/// C144, J7mbo/MethodCallRetrier#18. Constants out of range are refused: tests/ui.
#[test]
fn values_out_of_range_count_as_the_nearest_allowed_one() {
    for ((base_ms, factor, cap_ms), waits) in [
        ((200, 0.0, 30_000), [200, 200, 200]),
        ((200, 0.5, 30_000), [200, 200, 200]),
        ((200, f64::NAN, 30_000), [200, 200, 200]),
        ((200, 2.0, 100), [100, 100, 100]),
        ((200, 2.0, 0), [1, 1, 1]),
        ((200, 2.0, -1), [1, 1, 1]),
        ((i64::MAX, 2.0, i64::MAX), [i64::MAX as u128; 3]),
        ((0, 2.0, 30_000), [0, 0, 0]),
    ] {
        let log = Log::start();
        assert_eq!(
            from_a_configuration(base_ms, factor, cap_ms),
            Err(Failed(4))
        );
        assert_eq!(log.waits_ms(), waits, "{base_ms} {factor} {cap_ms}");
    }
}

/// C144, J7mbo/MethodCallRetrier#18
#[test]
#[ignore = "a negative `base_ms` counts as 0, which retries without a pause"]
fn a_negative_base_does_not_turn_the_pauses_off() {
    let log = Log::start();
    assert!(from_a_configuration(-1, 2.0, 30_000).is_err());
    assert!(log.waits().iter().all(|wait| !wait.is_zero()));
}

/// C144, J7mbo/MethodCallRetrier#18
#[test]
fn a_configuration_can_be_checked_before_it_is_used() {
    let good = Policy::new();
    assert_eq!(good.validate(), Ok(good));
    for (bad, named) in [
        (good.max(0), "`max` is 0"),
        (good.factor(0.0), "`factor` is 0"),
        (good.factor(0.5), "`factor` is 0.5"),
        (good.factor(f64::NAN), "`factor` is NaN"),
        (good.factor(f64::INFINITY), "`factor` is inf"),
        (good.cap(Duration::ZERO), "`cap` is 0"),
        (good.cap_ms(100), "`base` is 200ms"),
        (good.delays_ms(&[]), "`delays_ms` is empty"),
        (good.delays_ms(&[1, 60_000]), "an entry of 60s"),
        (good.jitter(1.5.into()), "`jitter` is 1.5"),
        (good.jitter(f64::NAN.into()), "`jitter` is NaN"),
    ] {
        let error = bad.validate().unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}
