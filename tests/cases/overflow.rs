//! Waits that overflow, wrap around to nothing, or turn into NaN.

use std::time::Duration;

use retry_runtime::{Backoff, Decision, Jitter, Policy, retryable};
use tokio::time::Instant;

use crate::support::{Failed, Log, Seeded, fail, mean, record, record_async, succeed_at};

const UNLIMITED: Duration = Duration::MAX;
const SECOND: Duration = Duration::from_secs(1);

/// C001, djc/tokio-retry#1
#[test]
fn growth_without_a_cap_saturates_and_never_decreases() {
    let policy = Policy::new().base_ms(10).factor(10.0).cap(UNLIMITED);
    let waits: Vec<Duration> = (0..2000).map(|retry| policy.ceiling(retry)).collect();
    assert!(waits.is_sorted());
    let largest = waits.iter().position(|wait| *wait == Duration::MAX);
    assert_eq!(largest, Some(22), "10 ms * 10^22 is beyond u64 seconds");
    assert!(waits[22..].iter().all(|wait| *wait == Duration::MAX));
}

#[retryable(max = 101, base_ms = base_ms, cap_ms = 10, jitter = "none", sleep = record)]
fn far_below(base_ms: u64) -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 101, base_ms = base_ms, cap_ms = 10, jitter = "none")]
async fn far_below_async(base_ms: u64) -> Result<u32, Failed> {
    fail()
}

/// C002, EmbarkStudios/tryhard#24
#[test]
fn a_cap_far_below_the_base_holds_for_a_hundred_retries() {
    let log = Log::start();
    assert_eq!(far_below(1000), Err(Failed(101)));
    assert_eq!(log.waits_ms(), [10; 100]);
}

/// C002, EmbarkStudios/tryhard#24
#[tokio::test(start_paused = true)]
async fn a_cap_far_below_the_base_holds_for_a_hundred_async_retries() {
    let _log = Log::start();
    let start = Instant::now();
    assert_eq!(far_below_async(1000).await, Err(Failed(101)));
    assert_eq!(start.elapsed(), SECOND);
}

#[retryable(max = 70, base_ms = 100, cap_ms = 60_000, jitter = "none", sleep = record)]
fn seventy_calls() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 70, base_ms = 100, cap_ms = 60_000, jitter = "none")]
async fn seventy_calls_async() -> Result<u32, Failed> {
    fail()
}

/// C004, GoPlasmatic/Orion#179. The last 59 waits are at the cap: the 10th is 51.2 s.
#[test]
fn seventy_calls_wait_at_the_cap_from_the_eleventh_retry_on() {
    let log = Log::start();
    assert_eq!(seventy_calls(), Err(Failed(70)));
    let waits = log.waits_ms();
    assert_eq!(
        waits[..10],
        [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200]
    );
    assert_eq!(waits[10..], [60_000; 59]);
}

/// C004, GoPlasmatic/Orion#179
#[tokio::test(start_paused = true)]
async fn seventy_async_calls_wait_at_the_cap_from_the_eleventh_retry_on() {
    let log = Log::start();
    let start = Instant::now();
    assert_eq!(seventy_calls_async().await, Err(Failed(70)));
    assert_eq!(log.calls(), 70);
    assert_eq!(start.elapsed().as_millis(), 100 * 1023 + 59 * 60_000);
}

#[retryable(max = 201, base_ms = 1, factor = 2, cap_ms = 3_600_000, jitter = "none", sleep = record)]
fn two_hundred_retries() -> Result<u32, Failed> {
    fail()
}

/// C005, onosproject/onos-lib-go#127
#[test]
fn no_retry_runs_without_a_pause_however_many_came_before() {
    let log = Log::start();
    assert_eq!(two_hundred_retries(), Err(Failed(201)));
    let waits = log.waits();
    assert_eq!(waits.len(), 200);
    assert!(waits.is_sorted());
    assert!(waits.iter().all(|wait| !wait.is_zero()));
    assert_eq!(waits[199], 3600 * SECOND);
}

#[retryable(max = 65, base_ms = 500, sleep = record)]
fn sixty_four_jittered() -> Result<u32, Failed> {
    fail()
}

/// C008, openai/openai-go#519
#[test]
fn jitter_after_dozens_of_retries_stays_below_the_cap() {
    let log = Log::start();
    assert_eq!(sixty_four_jittered(), Err(Failed(65)));
    assert!(log.waits().iter().all(|wait| *wait <= 30 * SECOND));

    for jitter in [Jitter::Full, Jitter::Equal, Jitter::Ratio(1.0)] {
        let policy = Policy::new().base_ms(500).jitter(jitter);
        for retry in [34, 63] {
            let highest = policy.wait_with(retry, None, |highest| highest);
            assert_eq!(highest, 30 * SECOND, "{jitter:?}, retry {retry}");
        }
    }
}

#[retryable(max = "unlimited", base_ms = 2000, cap_ms = 300_000, jitter = "none", sleep = record)]
fn until_the_hundredth_retry() -> Result<u32, Failed> {
    succeed_at(101)
}

/// C009, App-vNext/Polly#1866
#[test]
fn endless_attempts_do_not_fall_silent() {
    let log = Log::start();
    assert_eq!(until_the_hundredth_retry(), Ok(101));
    assert_eq!(log.waits()[99], 300 * SECOND);
}

/// C010, App-vNext/Polly#2163
#[test]
fn jitter_beyond_a_thousand_retries_keeps_its_spread() {
    let cap = 30 * SECOND;
    let mut random = Seeded(2163);
    for (jitter, expected) in [
        (Jitter::Full, 0.5),             // uniform in [0, cap]
        (Jitter::Equal, 0.75),           // uniform in [cap/2, cap]
        (Jitter::Ratio(0.2), 0.9),       // uniform in [0.8 cap, cap]
        (Jitter::Decorrelated, 5. / 6.), // a third uniform in [0, cap], the others the cap
    ] {
        let policy = Policy::new().base_ms(200).cap(cap).jitter(jitter);
        for retry in [1023, 1024, 4999, u32::MAX] {
            let mut sample = || policy.wait_with(retry, Some(cap), |highest| random.draw(highest));
            let waits: Vec<Duration> = (0..1000).map(|_| sample()).collect();
            assert!(waits.iter().all(|wait| *wait <= cap));
            let share = mean(&waits) / cap.as_secs_f64();
            assert!(
                (share - expected).abs() < 0.05,
                "{jitter:?}, retry {retry}: {share}"
            );
        }
    }
}

/// C012, Dixin/EnterpriseLibrary.TransientFaultHandling.Core#2
#[test]
fn the_wait_does_not_fall_to_nothing_after_twenty_two_retries() {
    for backoff in [Backoff::Exponential, Backoff::Linear, Backoff::Fibonacci] {
        let policy = Policy::new()
            .base(6 * SECOND)
            .cap(120 * SECOND)
            .backoff(backoff);
        for retry in 19..30 {
            assert_eq!(policy.ceiling(retry), 120 * SECOND, "{backoff:?} {retry}");
        }
    }
}

/// C013, BaseIntelligence/bounty-challenge#5061
#[test]
fn growth_beyond_the_largest_float_is_the_cap() {
    for (factor, retry) in [
        (10.0, 308),
        (1e308, 1),
        (2.0, 1023),
        (2.0, 1024),
        (f64::MAX, u32::MAX),
    ] {
        let policy = Policy::new().factor(factor);
        assert_eq!(policy.ceiling(retry), 30 * SECOND, "{factor}^{retry}");
    }
    for factor in [f64::INFINITY, f64::NAN, f64::NEG_INFINITY, -1.0] {
        let policy = Policy::new().factor(factor);
        for retry in [0, 1, 2, 1024, u32::MAX] {
            assert!(policy.ceiling(retry) >= Duration::from_millis(200));
        }
    }
}

#[retryable(max = 4, base_ms = 100, factor = factor, sleep = record_async, jitter = "none")]
async fn by(factor: f64) -> Result<u32, Failed> {
    fail()
}

/// C013, BaseIntelligence/bounty-challenge#5061
#[tokio::test]
async fn a_factor_from_a_configuration_can_be_anything() {
    for (factor, waits) in [
        (1e308, [100, 30_000, 30_000]),
        (f64::INFINITY, [100, 30_000, 30_000]),
        (f64::NAN, [100; 3]),
        (-2.0, [100; 3]),
        (0.0, [100; 3]),
    ] {
        let log = Log::start();
        assert!(by(factor).await.is_err());
        assert_eq!(log.waits_ms(), waits, "{factor}");
    }
}

#[retryable(deadline_ms = 1000, hint_cap_ms = u64::MAX, on = |_| Decision::RetryAfter(hint), sleep = record)]
fn one_second_left(hint: Duration) -> Result<u32, Failed> {
    fail()
}

#[retryable(deadline_ms = 1000, hint_cap_ms = u64::MAX, on = |_| Decision::RetryAfter(hint))]
async fn one_second_left_async(hint: Duration) -> Result<u32, Failed> {
    fail()
}

/// C014, cenkalti/backoff#190 and #191
#[tokio::test(start_paused = true)]
async fn a_deadline_of_a_second_does_not_accept_a_wait_of_centuries() {
    for hint in [
        Duration::from_secs(1),
        Duration::from_secs(60 * 60 * 24 * 365 * 300),
        Duration::from_millis(u64::MAX),
        Duration::MAX,
    ] {
        let log = Log::start();
        assert_eq!(one_second_left(hint), Err(Failed(1)));
        assert_eq!(log.waits(), []);
        let (_log, start) = (Log::start(), Instant::now());
        assert_eq!(one_second_left_async(hint).await, Err(Failed(1)));
        assert!(start.elapsed().is_zero());
    }
}
