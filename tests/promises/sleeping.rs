//! Promises 10 and 11: who waits, and on which clock.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use retry_runtime::{Jitter, Policy, retryable};
use tokio::time::Instant;

use crate::support::{
    Event::{Call, Wait},
    Failed, Log, fail, need_send, poll_to_end, record_async, succeed_at,
};

#[retryable(max = 3, base_ms = 1, backoff = "fixed", jitter = "none")]
fn two_milliseconds() -> Result<u32, Failed> {
    fail()
}

/// Promise 10. The one test that waits in real time, and it has only a lower bound.
#[test]
#[expect(clippy::disallowed_methods, reason = "real time is what is tested")]
fn sync_functions_block_the_thread() {
    let (_log, start) = (Log::start(), std::time::Instant::now());
    assert!(two_milliseconds().is_err());
    assert!(start.elapsed() >= Duration::from_millis(2));
}

#[retryable(max = 2, base_ms = 10_000, jitter = "none")]
async fn ten_seconds() -> Result<u32, Failed> {
    succeed_at(2)
}

/// Promise 10: on a runtime of one thread.
#[tokio::test(start_paused = true)]
async fn async_waits_do_not_block_the_executor() {
    let _log = Log::start();
    let start = Instant::now();
    let waiting = tokio::spawn(need_send(ten_seconds()));
    let mut ticks = 0;
    let mut interval = tokio::time::interval(Duration::from_secs(1));
    interval.tick().await;
    while !waiting.is_finished() {
        interval.tick().await;
        ticks += 1;
    }
    assert_eq!(waiting.await.unwrap(), Ok(2));
    assert!((10..=11).contains(&ticks), "{ticks}");
    assert!(start.elapsed() <= Duration::from_secs(11));
}

/// Promise 10: many calls wait at the same time on one thread.
#[tokio::test(start_paused = true)]
async fn a_thousand_calls_wait_together() {
    let start = Instant::now();
    let log = Log::start();
    let calls: Vec<_> = (0..1000).map(|_| tokio::spawn(ten_seconds())).collect();
    for call in calls {
        assert!(call.await.unwrap().is_ok());
    }
    assert!(log.calls() > 1000);
    assert_eq!(start.elapsed(), Duration::from_secs(10));
}

fn panic_of<T>(future: impl Future<Output = T>) -> String {
    let payload = catch_unwind(AssertUnwindSafe(|| drop(poll_to_end(future)))).unwrap_err();
    payload.downcast_ref::<String>().unwrap().clone()
}

#[retryable(name = "the order service", jitter = "none")]
async fn named() -> Result<u32, Failed> {
    fail()
}

/// Promise 10
#[test]
fn outside_tokio_the_message_says_what_to_enable() {
    let log = Log::start();
    let message = panic_of(ten_seconds());
    for expected in [
        "promises::sleeping::ten_seconds",
        "tokio",
        "`smol`",
        "`timer`",
        "`sleep = ",
    ] {
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(log.calls(), 1);
    assert!(panic_of(named()).contains("the order service"));
    let by_hand = Policy::new().jitter(Jitter::None);
    let message = panic_of(by_hand.retry_async(|| async { fail() }));
    assert!(message.contains("Policy::retry_async"));
}

#[retryable(max = 4, backoff = "none")]
async fn never_waits() -> Result<u32, Failed> {
    fail()
}

#[retryable(jitter = "none", sleep = record_async)]
async fn sleeps_by_itself() -> Result<u32, Failed> {
    fail()
}

#[retryable]
async fn succeeds() -> Result<u32, Failed> {
    succeed_at(1)
}

#[retryable(max = 1)]
async fn has_one_call() -> Result<u32, Failed> {
    fail()
}

/// Promise 10
#[test]
fn who_does_not_wait_needs_no_timer() {
    let _log = Log::start();
    assert_eq!(poll_to_end(succeeds()), Ok(1));
    let _log = Log::start();
    assert_eq!(poll_to_end(has_one_call()), Err(Failed(1)));
    let _log = Log::start();
    assert_eq!(poll_to_end(never_waits()), Err(Failed(4)));
    let log = Log::start();
    assert_eq!(poll_to_end(sleeps_by_itself()), Err(Failed(3)));
    assert_eq!(log.waits_ms(), [200, 400]);
}

mod sleeps {
    use std::time::Duration;

    use crate::support::record;

    pub(super) struct Clock;

    impl Clock {
        pub(super) fn block(wait: Duration) {
            record(wait * 2);
        }

        pub(super) fn future(wait: Duration) -> impl Future<Output = ()> {
            record(wait * 3);
            std::future::ready(())
        }
    }
}

#[retryable(jitter = "none", sleep = sleeps::Clock::block)]
fn by_path() -> Result<u32, Failed> {
    fail()
}

#[retryable(jitter = "none", sleep = "self::sleeps::Clock::future")]
async fn by_text() -> Result<u32, Failed> {
    fail()
}

#[retryable(jitter = "none", sleep = "tokio::time::sleep")]
async fn by_tokio() -> Result<u32, Failed> {
    fail()
}

/// Promise 10
#[tokio::test(start_paused = true)]
async fn any_function_can_do_the_waiting() {
    let log = Log::start();
    assert!(by_path().is_err());
    assert_eq!(log.waits_ms(), [400, 800]);
    let log = Log::start();
    assert!(by_text().await.is_err());
    assert_eq!(log.waits_ms(), [600, 1200]);
    let start = Instant::now();
    assert!(by_tokio().await.is_err());
    assert_eq!(start.elapsed(), Duration::from_millis(600));
}

#[retryable(max = 5, base_ms = 3_600_000, cap_ms = 36_000_000, jitter = "none")]
async fn hours(starts: &mut Vec<Instant>) -> Result<u32, Failed> {
    starts.push(Instant::now());
    fail()
}

/// Promise 11
#[tokio::test(start_paused = true)]
async fn paused_time_is_honoured() {
    let (_log, mut starts) = (Log::start(), Vec::new());
    assert!(hours(&mut starts).await.is_err());
    let after = starts.iter().map(|start| *start - starts[0]);
    assert!(
        after
            .map(|after| after.as_secs() / 3600)
            .eq([0, 1, 3, 7, 15])
    );

    let policy = Policy::new().base_ms(60_000).jitter(Jitter::None);
    let start = Instant::now();
    let retried = policy.cap_ms(120_000).retry_async(|| async { fail() });
    assert!(retried.await.is_err());
    assert_eq!(start.elapsed(), Duration::from_secs(180));
}

/// Promise 11: a wait is not cut short or drawn out by what time it is when it begins.
#[tokio::test(start_paused = true)]
async fn a_wait_is_counted_from_the_failure() {
    let _log = Log::start();
    let slow = Policy::new().jitter(Jitter::None).retry_async(|| async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        fail()
    });
    let start = Instant::now();
    assert!(slow.await.is_err());
    assert_eq!(start.elapsed(), Duration::from_millis(3 * 5000 + 200 + 400));
}

struct Guard<'a>(&'a Cell<u32>);

impl<'a> Guard<'a> {
    fn new(held: &'a Cell<u32>) -> Self {
        held.set(held.get() + 1);
        Self(held)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

#[retryable(max = "unlimited", base_ms = 1000, jitter = "none")]
async fn holds<'a>(_for_the_call: Guard<'a>, held: &'a Cell<u32>) -> Result<u32, Failed> {
    let _for_the_attempt = Guard::new(held);
    tokio::time::sleep(Duration::from_secs(1)).await;
    fail()
}

/// Promise 17, of a future that is dropped
#[tokio::test(start_paused = true)]
async fn a_dropped_call_releases_what_it_holds_and_makes_no_further_attempt() {
    let held = Cell::new(0);
    for (after, while_running, calls) in [(500, 2, 0), (1500, 1, 1), (2500, 2, 1), (3500, 1, 2)] {
        let log = Log::start();
        {
            let mut call = std::pin::pin!(holds(Guard::new(&held), &held));
            let limit = Duration::from_millis(after);
            assert!(tokio::time::timeout(limit, &mut call).await.is_err());
            assert_eq!(held.get(), while_running, "after {after} ms");
        }
        assert_eq!(held.get(), 0);
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(log.calls(), calls);
    }
}

/// Promise 10
#[tokio::test]
async fn the_sleep_function_is_given_the_wait_once_per_retry() {
    let log = Log::start();
    assert!(sleeps_by_itself().await.is_err());
    let wait = |ms| Wait(Duration::from_millis(ms));
    assert_eq!(log.events(), [Call, wait(200), Call, wait(400), Call]);
}
