//! `timeout_ms`. Promises 15 and 16.

use std::{cell::Cell, future, panic, time::Duration};

use retry_runtime::{AttemptTimeout, Decision, Reason, Transient, retryable};
use tokio::time::sleep;

use crate::support::{Failed, Log, ms, need_send, secs};

/// An error type that says of a timeout that it is worth a retry.
#[derive(Clone, Debug, PartialEq, Transient)]
#[transient]
enum Slow {
    After(Duration),
}

impl From<AttemptTimeout> for Slow {
    fn from(timeout: AttemptTimeout) -> Self {
        Self::After(timeout.limit())
    }
}

/// Takes `work` for its first attempts, and succeeds at once in a later one.
#[retryable(max = 3, base_ms = wait, backoff = "fixed", jitter = "none", timeout_ms = limit)]
async fn patient(limit: i64, wait: u64, work: &[Duration], log: &Log) -> Result<u32, Slow> {
    let number = log.attempt();
    let _held = log.hold();
    let index = usize::try_from(number).unwrap() - 1;
    if let Some(work) = work.get(index) {
        sleep(*work).await;
    }
    Ok(number)
}

/// C157
#[tokio::test(start_paused = true)]
async fn an_attempt_that_hangs_is_followed_by_another() {
    let log = Log::start();
    assert_eq!(patient(1_000, 200, &[Duration::MAX], &log).await, Ok(2));
    assert_eq!(log.begun_ms(), [0, 1_200]);
}

/// C158
#[tokio::test(start_paused = true)]
async fn each_attempt_is_cut_although_there_is_no_deadline() {
    let log = Log::start();
    let hangs = [secs(60); 3];
    let failed = Err(Slow::After(ms(200)));
    assert_eq!(patient(200, 0, &hangs, &log).await, failed);
    assert_eq!(log.begun_ms(), [0, 200, 400]);
    assert_eq!(log.elapsed(), ms(600));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_in_time_is_not_cut() {
    let log = Log::start();
    assert_eq!(patient(200, 0, &[ms(199)], &log).await, Ok(1));
    assert_eq!(log.elapsed(), ms(199));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_ready_when_its_time_is_up_has_not_failed() {
    assert_eq!(patient(200, 0, &[ms(200)], &Log::start()).await, Ok(1));
    assert_eq!(patient(200, 0, &[ms(201)], &Log::start()).await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn every_attempt_has_the_whole_time_and_the_waits_have_none_of_it() {
    let log = Log::start();
    let works = [ms(150), ms(250), ms(150)];
    assert_eq!(patient(100, 500, &works[..2], &log).await, Ok(3));
    assert_eq!(log.begun_ms(), [0, 600, 1_200]);
}

#[tokio::test(start_paused = true)]
async fn the_attempt_is_dropped_before_anything_is_decided_or_waited() {
    #[retryable(
        jitter = "none", timeout_ms = 50, sleep = pause,
        on = |_| { asked.set(asked.get() + 1); log.held() == 0 }
    )]
    async fn hangs(log: &Log, asked: &Cell<u32>) -> Result<u32, Failed> {
        let number = log.attempt();
        let _held = log.hold();
        assert_eq!(log.held(), 1);
        if number < 3 {
            future::pending::<()>().await;
        }
        Ok(number)
    }
    async fn pause(wait: Duration) {
        sleep(wait).await;
    }
    let (log, asked) = (Log::start(), Cell::new(0));
    let call = hangs(&log, &asked);
    assert_eq!(call.await, Ok(3));
    assert_eq!((asked.get(), log.held()), (2, 0));
    assert_eq!(log.begun_ms(), [0, 250, 700]);
}

/// C082
#[tokio::test(start_paused = true)]
async fn a_timeout_is_not_retried_unless_the_error_type_says_so() {
    #[retryable(timeout_ms = 50, recover_all = |failure| log.end(failure))]
    async fn pays(effects: &Cell<u32>, log: &Log) -> Result<u32, Failed> {
        effects.set(effects.get() + 1);
        // done, but the answer does not come
        sleep(secs(60)).await;
        Ok(log.attempt())
    }
    let (log, effects) = (Log::start(), Cell::new(0));
    assert_eq!(pays(&effects, &log).await, Err(Failed::TimedOut(ms(50))));
    assert_eq!((effects.get(), log.elapsed()), (1, ms(50)));
    assert_eq!(log.reason(), Some((Reason::NotRetryable, 1)));
}

#[tokio::test(start_paused = true)]
async fn on_decides_about_a_timeout_as_about_any_error() {
    macro_rules! calls {
        ($($key:tt)*) => {{
            #[retryable(backoff = "none", timeout_ms = 50, $($key)*)]
            async fn hangs(log: &Log) -> Result<u32, Failed> {
                log.attempt();
                future::pending().await
            }
            let log = Log::start();
            assert_eq!(hangs(&log).await, Err(Failed::TimedOut(ms(50))));
            log.begun_ms()
        }};
    }
    assert_eq!(calls!(on = "any"), [0, 50, 100]);
    assert_eq!(calls!(on(Failed::TimedOut(_))), [0, 50, 100]);
    assert_eq!(calls!(on(Failed::Busy(_))), [0]);
    assert_eq!(calls!(on = "any", except(Failed::TimedOut(_))), [0]);
    assert_eq!(
        calls!(on = |_| Decision::RetryAfter(ms(300))),
        [0, 350, 700]
    );
}

#[tokio::test(start_paused = true)]
async fn the_error_is_made_where_an_attempt_has_timed_out_and_nowhere_else() {
    thread_local! {
        static MADE: Cell<u32> = const { Cell::new(0) };
    }
    struct Counted;
    impl From<AttemptTimeout> for Counted {
        fn from(_: AttemptTimeout) -> Self {
            MADE.set(MADE.get() + 1);
            Self
        }
    }
    #[retryable(max = 4, backoff = "none", on = "any", timeout_ms = 50)]
    async fn call(log: &Log) -> Result<u32, Counted> {
        match log.attempt() {
            1 | 3 => Err(Counted),
            2 => future::pending().await,
            number => Ok(number),
        }
    }
    assert!(call(&Log::start()).await.is_ok_and(|number| number == 4));
    assert_eq!(MADE.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_time_known_at_run_time_can_be_anything() {
    for (limit, expected) in [
        (i64::MIN, Err(Slow::After(ms(1)))),
        (-1, Err(Slow::After(ms(1)))),
        (0, Err(Slow::After(Duration::ZERO))),
        (1, Err(Slow::After(ms(1)))),
        (2, Ok(1)),
        (i64::MAX, Ok(1)),
    ] {
        let ended = patient(limit, 0, &[ms(2); 3], &Log::start()).await;
        assert_eq!(ended, expected, "{limit}");
    }
    // what needs no time at all has enough
    assert_eq!(patient(0, 0, &[], &Log::start()).await, Ok(1));

    #[retryable(timeout_ms = u64::MAX)]
    async fn longest() -> Result<u32, Slow> {
        sleep(secs(1_000_000)).await;
        Ok(1)
    }
    assert_eq!(longest().await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn the_time_is_asked_for_before_each_attempt() {
    #[retryable(
        max = 3, backoff = "none",
        timeout_ms = { limits.set(limits.get() * 2); limits.get() }
    )]
    async fn call(limits: &Cell<u64>, log: &Log) -> Result<u32, Slow> {
        log.attempt();
        future::pending().await
    }
    let log = Log::start();
    let failed = call(&Cell::new(50), &log).await;
    assert_eq!(failed, Err(Slow::After(ms(400))));
    assert_eq!(log.begun_ms(), [0, 100, 300]);
}

#[tokio::test(start_paused = true)]
async fn futures_that_are_returned_are_cut_too() {
    #[allow(clippy::manual_async_fn, reason = "the form that is tested")]
    #[retryable(backoff = "none", timeout_ms = 50)]
    fn block(log: &Log) -> impl Future<Output = Result<u32, Slow>> {
        async move {
            let number = log.attempt();
            if number < 3 {
                future::pending::<()>().await;
            }
            Ok(number)
        }
    }
    #[retryable(backoff = "none", timeout_ms = 50)]
    fn call(log: &Log) -> impl Future<Output = Result<u32, Slow>> {
        slow_twice(log.attempt())
    }
    async fn slow_twice(number: u32) -> Result<u32, Slow> {
        sleep(if number < 3 { secs(60) } else { ms(10) }).await;
        Ok(number)
    }
    let log = Log::start();
    assert_eq!(block(&log).await, Ok(3));
    assert_eq!(log.begun_ms(), [0, 50, 100]);
    let log = Log::start();
    assert_eq!(call(&log).await, Ok(3));
    assert_eq!(log.elapsed(), ms(110));
}

#[tokio::test(start_paused = true)]
async fn a_call_with_a_limit_on_its_attempts_can_move_between_threads() {
    #[retryable(base_ms = 1, timeout_ms = 50, deadline_ms = 5_000)]
    async fn call(name: String, mut log: Vec<u8>) -> Result<usize, Slow> {
        log.push(1);
        sleep(ms(10)).await;
        Ok(name.len() + log.len())
    }
    let call = tokio::spawn(need_send(call("name".into(), vec![])));
    assert_eq!(call.await.unwrap(), Ok(5));
}

/// C081
#[tokio::test(start_paused = true)]
async fn on_can_ask_the_arguments_whether_it_is_safe_to_send_again() {
    #[retryable(backoff = "none", timeout_ms = 50, on = |_| method != "POST")]
    async fn send(method: &str, log: &Log) -> Result<u32, Failed> {
        log.attempt();
        future::pending().await
    }
    for (method, calls) in [("POST", 1), ("GET", 3)] {
        let log = Log::start();
        let failed = send(method, &log).await;
        assert_eq!(failed, Err(Failed::TimedOut(ms(50))));
        assert_eq!(log.calls(), calls, "{method}");
    }
}

/// C161
#[tokio::test(start_paused = true)]
async fn what_an_attempt_that_timed_out_got_done_is_kept_behind_a_mut_reference() {
    #[retryable(max = 4, backoff = "none", timeout_ms = 55)]
    async fn read(
        source: &[u8],
        offset: &mut usize,
        into: &mut Vec<u8>,
        log: &Log,
    ) -> Result<usize, Slow> {
        log.attempt();
        while let Some(byte) = source.get(*offset) {
            sleep(ms(10)).await;
            into.push(*byte);
            *offset += 1;
        }
        Ok(into.len())
    }
    let (log, mut offset, mut read_so_far) = (Log::start(), 0, vec![]);
    let source: Vec<u8> = (0..12).collect();
    let read = read(&source, &mut offset, &mut read_so_far, &log);
    assert_eq!(read.await, Ok(12));
    // five each in the first two attempts, and nothing twice
    assert_eq!(log.begun_ms(), [0, 55, 110]);
    assert_eq!(read_so_far, source);
}

#[tokio::test(start_paused = true)]
async fn the_message_names_the_time() {
    #[retryable(timeout_ms = 50, on = "any")]
    async fn call() -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
        future::pending().await
    }
    let error = call().await.unwrap_err();
    assert_eq!(error.to_string(), "the attempt took longer than 50ms");
    assert!(error.downcast::<AttemptTimeout>().is_ok());
}

mod with_a_deadline {
    use super::*;

    #[retryable(
        max = "unlimited", base_ms = 50, backoff = "fixed", jitter = "none",
        timeout_ms = limit, deadline_ms = deadline, on = "any",
        recover_all = |failure| log.end(failure)
    )]
    async fn hangs(limit: u64, deadline: u64, log: &Log) -> Result<u32, Failed> {
        log.attempt();
        future::pending().await
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_has_what_remains_where_that_is_less() {
        let log = Log::start();
        let failed = hangs(400, 1_000, &log).await;
        assert_eq!(failed, Err(Failed::TimedOut(ms(100))));
        assert_eq!(log.begun_ms(), [0, 450, 900]);
        assert_eq!(log.elapsed(), secs(1));
        assert_eq!(log.reason(), Some((Reason::Deadline, 3)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_attempt_ends_at_the_deadline_too() {
        for (limit, deadline) in [(5_000, 300), (300, 300), (u64::MAX, 300)] {
            let log = Log::start();
            let failed = hangs(limit, deadline, &log).await;
            assert_eq!(failed, Err(Failed::TimedOut(ms(300))));
            assert_eq!((log.calls(), log.elapsed()), (1, ms(300)));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_without_any_time_leaves_one_look_at_the_first_attempt() {
        #[retryable(timeout_ms = 50, deadline_ms = deadline)]
        async fn call(deadline: u64, work: Duration, log: &Log) -> Result<u32, Failed> {
            let number = log.attempt();
            if !work.is_zero() {
                sleep(work).await;
            }
            Ok(number)
        }
        let log = Log::start();
        assert_eq!(call(0, Duration::ZERO, &log).await, Ok(1));
        let failed = Err(Failed::TimedOut(Duration::ZERO));
        assert_eq!(call(0, ms(10), &log).await, failed);
        assert_eq!(log.calls(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_at_the_deadline_is_not_retried_at_once_either() {
        #[retryable(timeout_ms = 400, deadline_ms = 600, on = |_| Decision::RetryNow)]
        async fn call(log: &Log) -> Result<u32, Failed> {
            log.attempt();
            future::pending().await
        }
        let log = Log::start();
        assert_eq!(call(&log).await, Err(Failed::TimedOut(ms(200))));
        assert_eq!(log.begun_ms(), [0, 400]);
        assert_eq!(log.elapsed(), ms(600));
    }
}

mod outside_of_tokio {
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    use super::*;

    /// What a call that is polled outside of any runtime panics with, if it does.
    fn panic_of(call: impl Future) -> Option<String> {
        let poll = panic::AssertUnwindSafe(|| {
            let _ = pin!(call).poll(&mut Context::from_waker(Waker::noop()));
        });
        let panic = panic::catch_unwind(poll).err()?;
        let text = panic.downcast_ref::<String>().cloned();
        text.or(panic.downcast_ref::<&str>().map(|text| (*text).into()))
    }

    #[test]
    fn a_time_limit_without_a_timer_says_what_to_enable() {
        #[retryable(timeout_ms = 50)]
        async fn call() -> Result<u32, Failed> {
            future::pending().await
        }
        let message = panic_of(call()).unwrap();
        assert!(message.contains("timeout_ms"), "{message}");
        assert!(message.contains("feature `smol` or `timer`"), "{message}");
    }

    #[test]
    fn a_time_limit_uses_the_sleep_that_is_given() {
        async fn pause(_: Duration) {}
        #[retryable(timeout_ms = 50, sleep = pause, max = 1, on = "any")]
        async fn call() -> Result<u32, Failed> {
            future::pending().await
        }
        assert_eq!(panic_of(call()), None);
    }
}
