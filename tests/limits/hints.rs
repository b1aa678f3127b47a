//! `Decision::RetryAfter` and `hint_cap_ms`. Promise 12.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant, UNIX_EPOCH},
};

use retry_runtime::{
    CancelToken, Decision, Policy, Reason, RetryBudget, Transient, retry_after_at, retryable,
};
use tokio::time::timeout;

use crate::support::{Failed, Log, ms, note, note_task, noted, secs};

const FIVE_MINUTES: Duration = secs(300);

/// Three attempts, with waits of 200 ms and 400 ms of its own.
#[retryable(
    jitter = "none", on = |_| Decision::RetryAfter(hint), sleep = note,
    recover_all = |failure| log.end(failure)
)]
fn hinted(hint: Duration, log: &Log) -> Result<u32, Failed> {
    log.fail()
}

#[retryable(
    jitter = "none", on = |_| Decision::RetryAfter(hint), sleep = note_task,
    recover_all = |failure| log.end(failure)
)]
async fn hinted_task(hint: Duration, log: &Log) -> Result<u32, Failed> {
    log.fail()
}

/// The waits of a call, which were the same in a function and in a task, and why it ended.
async fn waits_for(hint: Duration) -> (Vec<Duration>, Reason) {
    let log = Log::start();
    assert!(hinted(hint, &log).is_err());
    let waits = (noted(), log.reason().unwrap().0);
    let log = Log::start();
    assert!(hinted_task(hint, &log).await.is_err());
    assert_eq!((noted(), log.reason().unwrap().0), waits);
    waits
}

#[tokio::test]
async fn the_longer_of_the_hint_and_the_own_wait_is_waited() {
    for (hint, waits) in [
        (Duration::ZERO, [ms(200), ms(400)]),
        (ms(1), [ms(200), ms(400)]),
        (ms(200), [ms(200), ms(400)]),
        (ms(300), [ms(300), ms(400)]),
        (secs(90), [secs(90); 2]),
        (FIVE_MINUTES, [FIVE_MINUTES; 2]),
    ] {
        let waited = (waits.to_vec(), Reason::AttemptsUsedUp);
        assert_eq!(waits_for(hint).await, waited);
    }
}

/// C061, C063
#[tokio::test]
async fn a_hint_beyond_its_limit_is_neither_cut_nor_slept() {
    for hint in [
        FIVE_MINUTES + Duration::from_nanos(1),
        secs(999_999),
        secs(9_999_999_999),
        Duration::MAX,
    ] {
        assert_eq!(waits_for(hint).await, (vec![], Reason::HintTooLong));
    }
}

#[tokio::test]
async fn the_call_ends_with_the_error_that_had_the_hint() {
    let log = Log::start();
    assert_eq!(hinted(Duration::MAX, &log), Err(Failed::Busy(1)));
    assert_eq!(log.reason(), Some((Reason::HintTooLong, 1)));
}

#[tokio::test(start_paused = true)]
async fn a_hint_is_waited_on_the_timer_of_the_task() {
    #[retryable(jitter = "none", on = |_| Decision::RetryAfter(secs(7)))]
    async fn call(log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    let log = Log::start();
    assert!(call(&log).await.is_err());
    assert_eq!(log.begun_ms(), [0, 7_000, 14_000]);
}

/// C065
#[test]
fn the_limit_is_that_of_the_key_or_of_the_policy() {
    const POLICY: Policy = Policy::new().base_ms(1).max(2).hint_cap_ms(120_000);

    #[retryable(policy = POLICY, on = |_| Decision::RetryAfter(hint), sleep = note)]
    fn by_policy(hint: Duration, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    #[retryable(
        max = 2, base_ms = 1, hint_cap_ms = 120_000, on = |_| Decision::RetryAfter(hint),
        sleep = note
    )]
    fn by_key(hint: Duration, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    #[retryable(
        policy = POLICY, hint_cap_ms = limit, on = |_| Decision::RetryAfter(hint), sleep = note
    )]
    fn by_key_over_policy(hint: Duration, limit: i64, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }

    for (hint, waits) in [
        (secs(90), vec![secs(90)]),
        (secs(120), vec![secs(120)]),
        (secs(130), vec![]),
    ] {
        let log = Log::start();
        assert!(by_policy(hint, &log).is_err());
        assert_eq!(noted(), waits);
        assert!(by_key(hint, &log).is_err());
        assert_eq!(noted(), waits);
        // 90 s and 120 s are now too long as well, and 130 s is not
        assert!(by_key_over_policy(hint, 60_000, &log).is_err());
        assert_eq!(noted(), []);
        assert!(by_key_over_policy(hint, 130_000, &log).is_err());
        assert_eq!(noted(), [hint]);
    }
}

#[test]
fn a_limit_of_zero_or_less_takes_no_hint_but_zero() {
    #[retryable(
        max = 2, jitter = "none", hint_cap_ms = limit, on = |_| Decision::RetryAfter(hint),
        sleep = note
    )]
    fn call(hint: Duration, limit: i64) -> Result<u32, Failed> {
        Err(Failed::Busy(1))
    }
    for limit in [0, -1, i64::MIN] {
        assert!(call(ms(2), limit).is_err());
        assert_eq!(noted(), []);
        assert!(call(Duration::ZERO, limit).is_err());
        assert_eq!(noted(), [ms(200)]);
    }
}

#[test]
fn a_hint_may_be_longer_than_the_cap_of_the_own_waits() {
    #[retryable(max = 2, cap_ms = 1_000, on = |_| Decision::RetryAfter(secs(90)), sleep = note)]
    fn call(log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    assert!(call(&Log::start()).is_err());
    assert_eq!(noted(), [secs(90)]);
}

#[test]
fn a_hint_is_not_shortened_by_jitter() {
    #[retryable(max = 100, jitter = "full", on = |_| Decision::RetryAfter(secs(40)), sleep = note)]
    fn call(log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    assert!(call(&Log::start()).is_err());
    assert_eq!(noted(), [secs(40); 99]);
}

#[test]
fn the_own_waits_go_on_growing_beside_hints() {
    #[retryable(
        max = 5, base_ms = 100, jitter = "none", sleep = note,
        on = |error: &Failed| Decision::hinted((*error == Failed::Busy(2)).then_some(secs(1)))
    )]
    fn call(log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    assert!(call(&Log::start()).is_err());
    assert_eq!(noted(), [ms(100), secs(1), ms(400), ms(800)]);
}

#[test]
fn the_last_attempt_has_used_the_attempts_up_whatever_it_was_told() {
    struct Hint(Duration);
    impl Transient for Hint {
        fn decision(&self) -> Decision {
            Decision::RetryAfter(self.0)
        }
    }
    #[retryable(max = max, sleep = note, recover_all = |failure| log.end(failure))]
    fn call(max: u32, log: &Log) -> Result<u32, Hint> {
        Err(Hint(if log.attempt() < max {
            secs(1)
        } else {
            Duration::MAX
        }))
    }
    for max in [1, 3] {
        let log = Log::start();
        assert!(call(max, &log).is_err());
        assert_eq!(log.reason(), Some((Reason::AttemptsUsedUp, max)));
    }
    assert_eq!(noted(), [secs(1); 2]);
}

#[test]
fn a_hint_that_is_too_long_takes_nothing_out_of_the_budget() {
    #[retryable(budget = budget, on = |_| Decision::RetryAfter(hint), sleep = note)]
    fn call(budget: &RetryBudget, hint: Duration) -> Result<u32, Failed> {
        Err(Failed::Busy(1))
    }
    let budget = RetryBudget::new().ratio(0.0).min_per_second(1);
    assert!(call(&budget, Duration::MAX).is_err());
    assert_eq!(budget.available(), 10);
    assert!(call(&budget, secs(1)).is_err());
    assert_eq!(budget.available(), 8);
}

mod without_end {
    use super::*;

    /// C014
    #[tokio::test(start_paused = true)]
    async fn a_hint_of_centuries_does_not_fit_before_the_deadline() {
        #[retryable(
            deadline_ms = 1_000, max = 2, base_ms = 1, hint_cap_ms = u64::MAX,
            on = |_| Decision::RetryAfter(hint), recover_all = |failure| log.end(failure)
        )]
        async fn task(hint: Duration, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }
        #[retryable(
            policy = LONG, deadline_ms = 60_000,
            on = |_| Decision::RetryAfter(hint), recover_all = |failure| log.end(failure)
        )]
        fn thread(hint: Duration, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }
        const LONG: Policy = Policy::new().max(2).base_ms(1).hint_cap(Duration::MAX);
        for hint in [Duration::MAX, ms(u64::MAX), secs(60)] {
            let (in_task, in_thread) = (Log::start(), Log::start());
            let last = Err(Failed::Busy(1));
            let too_long = hint > ms(u64::MAX);
            assert_eq!(task(hint, &in_task).await, last);
            let reason = if too_long {
                Reason::HintTooLong
            } else {
                Reason::Deadline
            };
            assert_eq!(in_task.reason(), Some((reason, 1)));
            assert_eq!(thread(hint, &in_thread), last);
            assert_eq!(in_thread.reason(), Some((Reason::Deadline, 1)));
            assert_eq!(in_task.elapsed(), Duration::ZERO);
        }
    }

    const ENDLESS: Policy = Policy::new().max(2).hint_cap(Duration::MAX);

    /// Not for no time at all, as where a sum of times overflows.
    #[tokio::test(start_paused = true)]
    async fn a_task_waits_for_centuries_if_it_may() {
        #[retryable(policy = ENDLESS, on = |_| Decision::RetryAfter(Duration::MAX))]
        async fn call(log: &Log) -> Result<u32, Failed> {
            log.fail()
        }
        let log = Log::start();
        let year = secs(365 * 24 * 3_600);
        assert!(timeout(year, call(&log)).await.is_err());
        assert_eq!((log.calls(), log.elapsed()), (1, year));
    }

    #[test]
    fn a_thread_waits_for_centuries_until_it_is_cancelled() {
        #[retryable(
            policy = ENDLESS, on = |_| Decision::RetryAfter(Duration::MAX), cancel = token
        )]
        fn call(token: &CancelToken, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }
        let (token, log, ended) = (CancelToken::new(), Log::start(), AtomicBool::new(false));
        thread::scope(|scope| {
            let waits = scope.spawn(|| {
                let outcome = call(&token, &log);
                ended.store(true, Ordering::Relaxed);
                outcome
            });
            let begin = Instant::now();
            while token.listeners() == 0 && begin.elapsed() < secs(5) {
                thread::yield_now();
            }
            thread::sleep(ms(2));
            assert!(!ended.load(Ordering::Relaxed));
            token.cancel();
            assert_eq!(waits.join().unwrap(), Err(Failed::Busy(1)));
        });
        assert_eq!(log.calls(), 1);
    }
}

/// The HTTP header, read by `on`.
mod header {
    use super::*;

    /// Midnight of 1 January 1970
    const NOW: std::time::SystemTime = UNIX_EPOCH;

    #[retryable(
        max = 3, base_ms = 50, jitter = "none", hint_cap_ms = 120_000, sleep = note,
        on = |value: &String| Decision::hinted(retry_after_at(value, NOW)),
        recover_all = |failure| log.end(failure)
    )]
    fn answers(value: &str, log: &Log) -> Result<u32, String> {
        log.attempt();
        Err(value.into())
    }

    fn waits_for(value: &str) -> (Vec<Duration>, Reason) {
        let log = Log::start();
        assert_eq!(answers(value, &log), Err(value.into()));
        (noted(), log.reason().unwrap().0)
    }

    fn waited(waits: [Duration; 2]) -> (Vec<Duration>, Reason) {
        (waits.into(), Reason::AttemptsUsedUp)
    }

    /// C069
    #[test]
    fn a_date_is_waited_for() {
        let ahead = waits_for("Thu, 01 Jan 1970 00:02:00 GMT");
        assert_eq!(ahead, waited([secs(120); 2]));
        let too_far = waits_for("Thu, 01 Jan 1970 00:02:01 GMT");
        assert_eq!(too_far, (vec![], Reason::HintTooLong));
    }

    /// C066, C067
    #[test]
    fn what_is_negative_or_past_leaves_the_own_wait() {
        for value in ["-1", "0", "Wed, 31 Dec 1969 23:59:59 GMT"] {
            assert_eq!(waits_for(value), waited([ms(50), ms(100)]), "{value}");
        }
    }

    /// C068
    #[test]
    fn what_is_malformed_leaves_the_own_wait() {
        for value in ["Thu, 99 Foo", "", "soon", "NaN"] {
            assert_eq!(waits_for(value), waited([ms(50), ms(100)]), "{value}");
        }
    }

    /// C061
    #[test]
    fn seconds_without_end_end_the_call() {
        for value in ["9999999999", "18446744073709551615", "1e300"] {
            assert_eq!(waits_for(value), (vec![], Reason::HintTooLong), "{value}");
        }
    }
}
