//! `deadline_ms`. Promises 11 and 15.

use std::{
    cell::Cell,
    fs,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use retry_runtime::{CancelToken, Decision, Jitter, Policy, Reason, retryable};
use tokio::time::{advance, sleep, timeout};

use crate::support::{Failed, Log, ms, note, noted, secs};

/// Fails, with waits of 1 s, 2 s, 4 s, ...
#[retryable(
    max = "unlimited", base_ms = 1_000, jitter = "none", deadline_ms = limit,
    recover_all = |failure| log.end(failure)
)]
async fn doubling(limit: u64, log: &Log) -> Result<u32, Failed> {
    log.fail()
}

/// What a call is given, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Given {
    deadline: i64,
    /// Between the attempts
    wait: u64,
    /// How long each attempt takes
    work: u64,
    /// The attempt that succeeds
    success: u32,
}

#[retryable(
    max = "unlimited", base_ms = given.wait, backoff = "fixed", cap_ms = u64::MAX, jitter = "none",
    deadline_ms = given.deadline, recover_all = |failure| log.end(failure)
)]
async fn steady(given: Given, log: &Log) -> Result<u32, Failed> {
    let outcome = log.succeed_at(given.success);
    sleep(ms(given.work)).await;
    outcome
}

/// C036
#[tokio::test(start_paused = true)]
async fn a_wait_that_does_not_fit_is_not_begun() {
    let log = Log::start();
    assert_eq!(doubling(5_000, &log).await, Err(Failed::Busy(3)));
    assert_eq!(log.begun_ms(), [0, 1_000, 3_000]);
    // and not at 7 s, where the next wait would end
    assert_eq!(log.elapsed(), secs(3));
    assert_eq!(log.reason(), Some((Reason::Deadline, 3)));
}

/// C042
#[tokio::test(start_paused = true)]
async fn a_first_wait_that_does_not_fit_ends_the_call_at_once_with_the_last_error() {
    let log = Log::start();
    let given = Given {
        deadline: 150,
        wait: 400,
        work: 50,
        success: u32::MAX,
    };
    assert_eq!(steady(given, &log).await, Err(Failed::Busy(1)));
    assert_eq!(log.elapsed(), ms(50));
    assert_eq!(log.reason(), Some((Reason::Deadline, 1)));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_ends_just_at_the_deadline_does_not_fit() {
    for (deadline, begun) in [
        (2_999, &[0, 1_000][..]),
        (3_000, &[0, 1_000]),
        (3_001, &[0, 1_000, 3_000]),
    ] {
        let log = Log::start();
        assert!(doubling(deadline, &log).await.is_err());
        assert_eq!(log.begun_ms(), begun, "{deadline}");
    }
}

/// C040
#[tokio::test(start_paused = true)]
async fn unlimited_attempts_end_by_the_deadline() {
    let log = Log::start();
    let given = Given {
        deadline: 3_000,
        wait: 700,
        work: 0,
        success: u32::MAX,
    };
    assert_eq!(steady(given, &log).await, Err(Failed::Busy(5)));
    assert_eq!(log.elapsed(), ms(2_800));
}

#[tokio::test(start_paused = true)]
async fn no_attempt_but_the_first_starts_at_the_deadline_or_later() {
    for deadline in 0..25 {
        for wait in 0..6 {
            for work in 0..4 {
                let log = Log::start();
                let given = Given {
                    deadline,
                    wait,
                    // time has to pass somewhere
                    work: if wait == 0 { work + 1 } else { work },
                    success: u32::MAX,
                };
                assert!(steady(given, &log).await.is_err());
                let limit = ms(deadline.unsigned_abs());
                let begun = log.begun();
                let late = begun.iter().skip(1).any(|begun| *begun >= limit);
                assert!(!late, "{given:?}: {begun:?}");
                // nor is the call ended while there is time
                let next = log.elapsed() + ms(wait);
                assert!(next >= limit, "{given:?}: {begun:?}");
            }
        }
    }
}

/// C037
#[tokio::test(start_paused = true)]
async fn without_a_deadline_a_failure_after_an_hour_is_retried() {
    #[retryable]
    async fn hours(log: &Log) -> Result<u32, Failed> {
        let outcome = log.succeed_at(2);
        sleep(secs(3_600)).await;
        outcome
    }
    let log = Log::start();
    assert_eq!(hours(&log).await, Ok(2));
    assert!(log.elapsed() >= secs(7_200));
}

/// C038
#[tokio::test(start_paused = true)]
async fn a_first_attempt_beyond_the_deadline_is_the_last_one_and_the_failure_says_so() {
    #[retryable(deadline_ms = 1_000, on = "any", recover = |failure| Err(failure.to_string()))]
    async fn slow(log: &Log) -> Result<u32, String> {
        log.attempt();
        sleep(secs(2)).await;
        Err("refused".into())
    }
    let log = Log::start();
    let error = slow(&log).await.unwrap_err();
    assert_eq!(error, "refused (deadline after 1 attempts in 2s)");
    assert_eq!((log.calls(), log.elapsed()), (1, secs(2)));
}

/// C041
#[tokio::test(start_paused = true)]
async fn an_attempt_that_runs_is_not_cut_by_the_deadline() {
    let log = Log::start();
    let given = Given {
        deadline: 5_000,
        wait: 100,
        work: 15_000,
        success: 1,
    };
    assert_eq!(steady(given, &log).await, Ok(1));
    assert_eq!(log.elapsed(), secs(15));
    // and not in a later attempt either
    let log = Log::start();
    let given = Given {
        work: 4_000,
        success: 2,
        ..given
    };
    assert_eq!(steady(given, &log).await, Ok(2));
    assert_eq!(log.elapsed(), ms(8_100));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_counts_from_where_the_first_attempt_starts_not_from_where_the_future_is_made()
{
    let log = Log::start();
    let call = doubling(5_000, &log);
    advance(secs(10)).await;
    assert_eq!(call.await, Err(Failed::Busy(3)));
    assert_eq!(log.begun_ms(), [10_000, 11_000, 13_000]);
}

#[tokio::test(start_paused = true)]
async fn every_call_has_the_whole_deadline() {
    for _ in 0..3 {
        let log = Log::start();
        assert!(doubling(5_000, &log).await.is_err());
        assert_eq!(log.calls(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_known_at_run_time_can_be_anything() {
    let given = Given {
        deadline: 0,
        wait: 1,
        work: 0,
        success: 4,
    };
    for (deadline, ends) in [
        (i64::MIN, Err(Failed::Busy(1))),
        (-1, Err(Failed::Busy(1))),
        (0, Err(Failed::Busy(1))),
        (1, Err(Failed::Busy(1))),
        (2, Err(Failed::Busy(2))),
        (i64::MAX, Ok(4)),
    ] {
        let ended = steady(Given { deadline, ..given }, &Log::start()).await;
        assert_eq!(ended, ends, "{deadline}");
    }
    let log = Log::start();
    let endless = timeout(secs(24 * 3_600), doubling(u64::MAX, &log));
    assert!(endless.await.is_err());
    assert!(log.calls() > 1_000);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_asked_for_after_failures_and_waits_and_never_on_success() {
    #[retryable(
        max = 5, base_ms = 100, backoff = "fixed", jitter = "none",
        deadline_ms = { asked.set(asked.get() + 1); 250 }
    )]
    async fn counts(success: u32, asked: &Cell<u32>, log: &Log) -> Result<u32, Failed> {
        log.succeed_at(success)
    }
    let asked = Cell::new(0);
    assert_eq!(counts(1, &asked, &Log::start()).await, Ok(1));
    assert_eq!(asked.take(), 0);
    assert_eq!(counts(3, &asked, &Log::start()).await, Ok(3));
    assert_eq!(asked.take(), 4);
    assert_eq!(counts(9, &asked, &Log::start()).await, Err(Failed::Busy(3)));
    assert_eq!(asked.take(), 5);
}

#[tokio::test(start_paused = true)]
async fn retrying_at_once_needs_time_too() {
    #[retryable(max = "unlimited", deadline_ms = 1_000, on = |_| Decision::RetryNow)]
    async fn impatient(log: &Log) -> Result<u32, Failed> {
        let outcome = log.fail();
        sleep(ms(300)).await;
        outcome
    }
    let log = Log::start();
    assert_eq!(impatient(&log).await, Err(Failed::Busy(4)));
    assert_eq!(log.begun_ms(), [0, 300, 600, 900]);
}

#[tokio::test(start_paused = true)]
async fn a_function_that_returns_a_future_has_a_deadline_from_its_first_poll() {
    #[allow(clippy::manual_async_fn, reason = "the form that is tested")]
    #[retryable(base_ms = 400, jitter = "none", deadline_ms = limit)]
    fn block(limit: u64, log: &Log) -> impl Future<Output = Result<u32, Failed>> {
        async move { log.fail() }
    }
    #[retryable(base_ms = 400, jitter = "none", deadline_ms = limit)]
    fn call(limit: u64, log: &Log) -> impl Future<Output = Result<u32, Failed>> {
        std::future::ready(log.fail())
    }
    let log = Log::start();
    let (block, call) = (block(1_000, &log), call(1_000, &log));
    advance(secs(5)).await;
    assert_eq!(block.await, Err(Failed::Busy(2)));
    assert_eq!(call.await, Err(Failed::Busy(4)));
    assert_eq!(log.begun_ms(), [5_000, 5_400, 5_400, 5_800]);
}

/// C133, C134, C136: there is no wall clock to fake, because none is read; a date of the other side
/// is the one thing that is compared with it.
#[test]
fn nothing_but_a_date_in_a_header_is_compared_with_the_wall_clock() {
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/retry-runtime/src");
    let mut folders = vec![sources.into()];
    let mut reading = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir::<PathBuf>(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::read_to_string(&path).unwrap().contains("SystemTime") {
                reading.push(path.file_name().unwrap().to_owned());
            }
        }
    }
    assert_eq!(reading, ["hint.rs"]);
}

/// Waits that are no whole number of milliseconds, which is what jitter makes of them.
mod fractions {
    use super::*;

    const DEADLINE: Duration = ms(10);

    #[retryable(policy = policy, deadline_ms = 10)]
    async fn call(policy: Policy, log: &Log) -> Result<u32, Failed> {
        log.succeed_at(2)
    }

    fn waits(wait: Duration) -> Policy {
        Policy::new().base(wait).jitter(Jitter::None)
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_just_short_of_the_deadline_fits() {
        let log = Log::start();
        assert_eq!(
            call(waits(Duration::from_nanos(9_000_000)), &log).await,
            Ok(2)
        );
        assert!(log.elapsed() < DEADLINE);
    }

    #[tokio::test(start_paused = true)]
    async fn no_attempt_follows_a_wait_that_ends_late_because_the_timer_is_coarse() {
        // tokio's timer counts whole milliseconds of its own
        advance(Duration::from_micros(700)).await;
        for wait in [9_500, 9_900] {
            let log = Log::start();
            let ended = call(waits(Duration::from_micros(wait)), &log).await;
            assert_eq!(ended, Err(Failed::Busy(1)));
            assert_eq!(log.calls(), 1);
        }
    }
}

mod oversleeping {
    use super::*;

    /// Twice as long as it is asked to
    async fn oversleep(wait: Duration) {
        sleep(wait * 2).await;
    }

    #[tokio::test(start_paused = true)]
    async fn no_attempt_starts_after_the_deadline_although_the_wait_took_longer_than_asked() {
        #[retryable(
            max = 2, base_ms = 8, jitter = "none", deadline_ms = 10, sleep = oversleep,
            recover_all = |failure| log.end(failure)
        )]
        async fn call(log: &Log) -> Result<u32, Failed> {
            log.fail()
        }
        let log = Log::start();
        assert_eq!(call(&log).await, Err(Failed::Busy(1)));
        assert_eq!((log.begun_ms(), log.elapsed()), (vec![0], ms(16)));
        assert_eq!(log.reason(), Some((Reason::Deadline, 1)));
    }

    #[tokio::test(start_paused = true)]
    async fn nor_where_the_call_can_be_cancelled() {
        #[retryable(
            max = 2, base_ms = 8, jitter = "none", deadline_ms = 10, sleep = oversleep,
            cancel = token, recover_all = |failure| log.end(failure)
        )]
        async fn call(token: &CancelToken, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }
        let (token, log) = (CancelToken::new(), Log::start());
        assert_eq!(call(&token, &log).await, Err(Failed::Busy(1)));
        assert_eq!(log.begun_ms(), [0]);
        assert_eq!(log.reason(), Some((Reason::Deadline, 1)));
        assert_eq!(token.listeners(), 0);
    }

    #[test]
    fn nor_in_a_thread() {
        fn oversleep(wait: Duration) {
            thread::sleep(wait * 2);
        }
        #[retryable(
            max = 2, base_ms = 8, jitter = "none", deadline_ms = 10, sleep = oversleep,
            recover_all = |failure| log.end(failure)
        )]
        fn call(log: &Log) -> Result<u32, Failed> {
            log.fail()
        }
        let log = Log::start();
        assert_eq!(call(&log), Err(Failed::Busy(1)));
        assert_eq!(log.reason(), Some((Reason::Deadline, 1)));
    }

    #[test]
    fn attempts_of_a_thread_start_in_time_however_late_it_wakes() {
        #[retryable(
            max = "unlimited", base_ms = 1, backoff = "fixed", deadline_ms = 3, attempt = attempt
        )]
        fn call(left: &mut Vec<Duration>) -> Result<u32, Failed> {
            left.push(attempt.remaining().unwrap());
            Err(Failed::Busy(attempt.number()))
        }
        for _ in 0..10 {
            let mut left = vec![];
            assert!(call(&mut left).is_err());
            assert!(left[1..].iter().all(|left| !left.is_zero()), "{left:?}");
        }
    }
}

/// The thread's clock, which no test can hold: no assertion depends on how fast the machine is.
mod blocking {
    use super::*;

    #[retryable(
        max = "unlimited", base_ms = wait, backoff = "fixed", cap_ms = u64::MAX, jitter = "none",
        deadline_ms = limit, sleep = note, recover_all = |failure| log.end(failure)
    )]
    fn call(limit: u64, wait: u64, work: Duration, success: u32, log: &Log) -> Result<u32, Failed> {
        thread::sleep(work);
        log.succeed_at(success)
    }

    #[test]
    fn a_wait_that_does_not_fit_ends_the_call_at_once() {
        let log = Log::start();
        let ended = call(10_000, 10_000, Duration::ZERO, u32::MAX, &log);
        assert_eq!(ended, Err(Failed::Busy(1)));
        assert_eq!(log.reason(), Some((Reason::Deadline, 1)));
        assert_eq!(noted(), []);
    }

    #[test]
    fn waits_that_fit_are_waited() {
        assert_eq!(call(60_000, 50, Duration::ZERO, 3, &Log::start()), Ok(3));
        assert_eq!(noted(), [ms(50), ms(50)]);
    }

    #[test]
    fn no_attempt_starts_after_the_deadline() {
        let log = Log::start();
        // three attempts of 4 ms need 12 ms at least
        assert!(call(10, 0, ms(4), u32::MAX, &log).is_err());
        assert!((1..=3).contains(&log.calls()), "{log:?}");
        assert_eq!(log.reason().unwrap().0, Reason::Deadline);
    }

    /// C041
    #[test]
    fn an_attempt_that_runs_is_not_cut_by_the_deadline() {
        assert_eq!(call(1, 0, ms(3), 1, &Log::start()), Ok(1));
    }

    #[test]
    fn unlimited_attempts_end_by_the_deadline() {
        #[retryable(max = "unlimited", base_ms = 2, backoff = "fixed", deadline_ms = 10)]
        fn sleeps(log: &Log) -> Result<u32, Failed> {
            log.fail()
        }
        let begin = Instant::now();
        assert!(sleeps(&Log::start()).is_err());
        assert!(begin.elapsed() < secs(5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_of_tokio_does_not_stop_that_of_a_thread() {
        let log = Log::start();
        assert!(call(1, 0, ms(2), u32::MAX, &log).is_err());
        assert_eq!((log.calls(), log.elapsed()), (1, Duration::ZERO));
    }
}
