//! `cancel`. Promise 17.

use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use retry_runtime::{CancelToken, Decision, Failure, Reason, retryable};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::support::{Failed, Log, ms, need_send, secs};

/// Far less than the waits that are cancelled, and more than any machine needs.
const SOON: Duration = secs(5);

/// Waits a minute, and then two.
#[retryable(
    base_ms = 60_000, cap_ms = 600_000, jitter = "none", cancel = token,
    recover_all = |failure| log.end(failure)
)]
fn blocking(token: &CancelToken, success: u32, log: &Log) -> Result<u32, Failed> {
    log.succeed_at(success)
}

#[retryable(
    base_ms = 60_000, cap_ms = 600_000, jitter = "none", cancel = token,
    recover_all = |failure| log.end(failure)
)]
async fn task(token: &CancelToken, success: u32, log: &Log) -> Result<u32, Failed> {
    log.succeed_at(success)
}

/// Until so many waits listen.
fn await_listeners(token: &CancelToken, listeners: usize) {
    let begin = Instant::now();
    while token.listeners() < listeners {
        assert!(begin.elapsed() < SOON, "nobody listens");
        thread::yield_now();
    }
}

mod threads {
    use super::*;

    /// C052
    #[test]
    fn a_wait_of_a_minute_ends_at_once_when_another_thread_cancels() {
        let (token, log) = (CancelToken::new(), Log::start());
        let begin = Instant::now();
        let outcome = thread::scope(|scope| {
            let call = scope.spawn(|| blocking(&token, u32::MAX, &log));
            await_listeners(&token, 1);
            token.cancel();
            call.join().unwrap()
        });
        assert!(begin.elapsed() < SOON);
        assert_eq!(outcome, Err(Failed::Busy(1)));
        assert_eq!(log.reason(), Some((Reason::Cancelled, 1)));
        assert_eq!((log.calls(), token.listeners()), (1, 0));
    }

    #[test]
    fn one_token_ends_the_waits_of_all_threads() {
        let token = CancelToken::new();
        thread::scope(|scope| {
            let calls: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| blocking(&token, u32::MAX, &Log::start())))
                .collect();
            await_listeners(&token, 8);
            token.cancel();
            for call in calls {
                assert_eq!(call.join().unwrap(), Err(Failed::Busy(1)));
            }
        });
        assert_eq!(token.listeners(), 0);
    }

    #[test]
    fn a_cancellation_just_before_the_wait_is_not_missed() {
        for _ in 0..300 {
            let (token, log) = (CancelToken::new(), Log::start());
            thread::scope(|scope| {
                let call = scope.spawn(|| blocking(&token, u32::MAX, &log));
                while log.calls() == 0 {
                    thread::yield_now();
                }
                token.cancel();
                assert_eq!(call.join().unwrap(), Err(Failed::Busy(1)));
            });
        }
    }

    #[test]
    fn a_wait_that_nobody_cancels_is_waited_and_followed_by_an_attempt() {
        #[retryable(base_ms = 3, jitter = "none", cancel = token)]
        fn call(token: &CancelToken, log: &Log) -> Result<u32, Failed> {
            log.succeed_at(3)
        }
        let (token, begin) = (CancelToken::new(), Instant::now());
        assert_eq!(call(&token, &Log::start()), Ok(3));
        assert!(begin.elapsed() >= ms(9));
        assert_eq!(token.listeners(), 0);
    }
}

/// C045
#[tokio::test(start_paused = true)]
async fn cancelled_before_the_first_attempt_it_is_made_all_the_same_and_no_other() {
    let token = CancelToken::new();
    token.cancel();
    let log = Log::start();
    assert_eq!(task(&token, u32::MAX, &log).await, Err(Failed::Busy(1)));
    assert_eq!(log.reason(), Some((Reason::Cancelled, 1)));
    let log = Log::start();
    assert_eq!(blocking(&token, u32::MAX, &log), Err(Failed::Busy(1)));
    assert_eq!(log.reason(), Some((Reason::Cancelled, 1)));
    // if it succeeds, so does the call
    assert_eq!(task(&token, 1, &Log::start()).await, Ok(1));
    assert_eq!(blocking(&token, 1, &Log::start()), Ok(1));
}

/// C050, C051
#[tokio::test(start_paused = true)]
async fn a_wait_of_a_minute_ends_when_another_task_cancels() {
    let (token, log) = (CancelToken::new(), Arc::new(Log::start()));
    let call = tokio::spawn(need_send({
        let (token, log) = (token.clone(), Arc::clone(&log));
        async move { task(&token, u32::MAX, &log).await }
    }));
    sleep(secs(1)).await;
    assert_eq!(token.listeners(), 1);
    token.cancel();
    assert_eq!(call.await.unwrap(), Err(Failed::Busy(1)));
    assert_eq!(log.elapsed(), secs(1));
    assert_eq!(log.reason(), Some((Reason::Cancelled, 1)));
    assert_eq!(token.listeners(), 0);
    sleep(secs(1_000)).await;
    assert_eq!(log.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_token_ends_the_waits_of_all_tasks() {
    let token = CancelToken::new();
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let token = token.clone();
            tokio::spawn(async move { task(&token, u32::MAX, &Log::start()).await })
        })
        .collect();
    sleep(secs(1)).await;
    assert_eq!(token.listeners(), 100);
    token.cancel();
    for call in calls {
        assert_eq!(call.await.unwrap(), Err(Failed::Busy(1)));
    }
    assert_eq!(token.listeners(), 0);
}

/// After the failure was judged, and before anything listens: here while the policy is evaluated.
#[tokio::test(start_paused = true)]
async fn a_cancellation_between_the_failure_and_the_wait_is_not_missed() {
    #[retryable(
        max = { token.cancel(); 3 }, base_ms = 6_000, jitter = "none",
        cancel = token
    )]
    fn blocking(token: &CancelToken, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    #[retryable(
        max = { token.cancel(); 3 }, base_ms = 6_000, jitter = "none",
        cancel = token
    )]
    async fn task(token: &CancelToken, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    let (log, begin) = (Log::start(), Instant::now());
    assert_eq!(blocking(&CancelToken::new(), &log), Err(Failed::Busy(1)));
    assert!(begin.elapsed() < SOON);
    let log = Log::start();
    assert_eq!(task(&CancelToken::new(), &log).await, Err(Failed::Busy(1)));
    assert_eq!(log.elapsed(), Duration::ZERO);
}

/// C047, C048
#[tokio::test(start_paused = true)]
async fn what_is_cancelled_during_an_attempt_waits_no_more() {
    #[retryable(max = 4, base_ms = 10_000, jitter = "none", on = "any", cancel = token)]
    async fn aborts(token: &CancelToken, log: &Log) -> Result<u32, Failed> {
        let outcome = log.fail();
        sleep(secs(1)).await;
        token.cancel();
        outcome
    }
    let log = Log::start();
    assert_eq!(
        aborts(&CancelToken::new(), &log).await,
        Err(Failed::Busy(1))
    );
    assert_eq!(log.elapsed(), secs(1));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_runs_is_not_interrupted() {
    #[retryable(cancel = token)]
    async fn works(token: &CancelToken) -> Result<u32, Failed> {
        token.cancel();
        sleep(secs(60)).await;
        Ok(1)
    }
    assert_eq!(works(&CancelToken::new()).await, Ok(1));
}

/// C049
#[tokio::test(start_paused = true)]
async fn the_last_error_of_several_is_returned() {
    let (token, log) = (CancelToken::new(), Log::start());
    let cancelling = async {
        sleep(secs(100)).await; // in the second wait
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(task(&token, u32::MAX, &log), cancelling);
    assert_eq!(outcome, Err(Failed::Busy(2)));
    assert_eq!(log.begun_ms(), [0, 60_000]);
    assert_eq!(log.elapsed(), secs(100));
}

#[tokio::test(start_paused = true)]
async fn retrying_at_once_ends_too() {
    #[retryable(max = "unlimited", on = |_| Decision::RetryNow, cancel = token)]
    async fn task(token: &CancelToken, log: &Log) -> Result<u32, Failed> {
        if log.calls() == 9 {
            token.cancel();
        }
        log.fail()
    }
    #[retryable(max = "unlimited", backoff = "none", cancel = token)]
    fn blocking(token: &CancelToken, log: &Log) -> Result<u32, Failed> {
        if log.calls() == 9 {
            token.cancel();
        }
        log.fail()
    }
    let log = Log::start();
    assert_eq!(task(&CancelToken::new(), &log).await, Err(Failed::Busy(10)));
    let log = Log::start();
    assert_eq!(blocking(&CancelToken::new(), &log), Err(Failed::Busy(10)));
}

/// From outside, while the call does nothing but retry.
#[tokio::test(start_paused = true)]
async fn a_task_without_waits_hears_of_it() {
    #[retryable(max = "unlimited", backoff = "none", cancel = token)]
    async fn call(token: &CancelToken, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    let (token, log) = (CancelToken::new(), Log::start());
    let cancelling = async {
        while log.calls() < 100 {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(call(&token, &log), cancelling);
    assert!(outcome.is_err());
    // others run after each 32 attempts, and `join!` takes turns in who is first
    assert!((100..=160).contains(&log.calls()), "{}", log.calls());
}

#[tokio::test(start_paused = true)]
async fn other_reasons_come_before_a_cancellation() {
    #[retryable(max = max, on = |_| decision, cancel = token, recover_all = |failure| log.end(failure))]
    fn call(max: u32, decision: bool, token: &CancelToken, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    let token = CancelToken::new();
    token.cancel();
    for (max, decision, reason) in [
        (3, false, Reason::NotRetryable),
        (1, true, Reason::AttemptsUsedUp),
        (3, true, Reason::Cancelled),
    ] {
        let log = Log::start();
        assert!(call(max, decision, &token, &log).is_err());
        assert_eq!(log.reason(), Some((reason, 1)));
    }
}

mod leaves_nothing {
    use super::*;

    /// C145
    #[tokio::test(start_paused = true)]
    async fn of_ten_thousand_retries_on_one_token() {
        #[retryable(max = 10_001, base_ms = wait, backoff = "fixed", jitter = "none", cancel = token)]
        async fn task(wait: u64, token: &CancelToken, calls: &AtomicU32) -> Result<u32, Failed> {
            Err(Failed::Busy(calls.fetch_add(1, Ordering::Relaxed) + 1))
        }
        #[retryable(max = 10_001, backoff = "none", cancel = token)]
        fn blocking(token: &CancelToken, calls: &AtomicU32) -> Result<u32, Failed> {
            Err(Failed::Busy(calls.fetch_add(1, Ordering::Relaxed) + 1))
        }
        let token = CancelToken::new();
        let last = Err(Failed::Busy(10_001));
        for wait in [0, 1] {
            assert_eq!(task(wait, &token, &AtomicU32::new(0)).await, last);
            assert_eq!(token.listeners(), 0);
        }
        assert_eq!(blocking(&token, &AtomicU32::new(0)), last);
        assert_eq!(token.listeners(), 0);
    }

    /// C145
    #[tokio::test(start_paused = true)]
    async fn of_twenty_calls_with_two_retries() {
        let token = CancelToken::new();
        for _ in 0..20 {
            let log = Log::start();
            assert_eq!(task(&token, 3, &log).await, Ok(3));
            assert_eq!((log.calls(), token.listeners()), (3, 0));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn of_a_call_that_is_dropped() {
        let (token, log) = (CancelToken::new(), Log::start());
        let call = tokio::time::timeout(secs(30), task(&token, 3, &log));
        assert!(call.await.is_err());
        assert_eq!(token.listeners(), 0);
        token.cancel();
        assert_eq!(log.calls(), 1);
    }
}

mod tokens {
    use super::*;

    #[retryable(base_ms = 60_000, cap_ms = 600_000, jitter = "none", cancel = token)]
    async fn by_tokio_util(token: &CancellationToken, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }

    async fn cancel_after_a_second(token: CancellationToken) {
        sleep(secs(1)).await;
        token.cancel();
    }

    #[tokio::test(start_paused = true)]
    async fn that_of_tokio_util_ends_a_wait() {
        let (token, log) = (CancellationToken::new(), Log::start());
        let cancelling = cancel_after_a_second(token.clone());
        let (outcome, ()) = tokio::join!(by_tokio_util(&token, &log), cancelling);
        assert_eq!(outcome, Err(Failed::Busy(1)));
        assert_eq!(log.elapsed(), secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_child_is_cancelled_with_its_parent() {
        let (token, log) = (CancellationToken::new(), Log::start());
        let child = token.child_token();
        let cancelling = cancel_after_a_second(token);
        let (outcome, ()) = tokio::join!(by_tokio_util(&child, &log), cancelling);
        assert_eq!(outcome, Err(Failed::Busy(1)));
        assert_eq!(log.elapsed(), secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn that_of_tokio_util_cancelled_before_allows_one_attempt() {
        let (token, log) = (CancellationToken::new(), Log::start());
        token.cancel();
        assert!(by_tokio_util(&token, &log).await.is_err());
        assert_eq!((log.calls(), log.elapsed()), (1, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_with_that_of_tokio_util_can_move_between_threads() {
        let token = CancellationToken::new();
        let call = tokio::spawn(need_send({
            let token = token.clone();
            async move { by_tokio_util(&token, &Log::start()).await }
        }));
        token.cancel();
        assert_eq!(call.await.unwrap(), Err(Failed::Busy(1)));
    }

    static SHUTDOWN: LazyLock<CancelToken> = LazyLock::new(CancelToken::new);

    struct Client {
        shutdown: Arc<CancelToken>,
        child: CancellationToken,
    }

    /// Wherever a program keeps its token.
    #[retryable(max = 2, base_ms = 60_000, cap_ms = 600_000, jitter = "none")]
    impl Client {
        #[retryable(cancel = self.shutdown)]
        fn by_field(&self) -> Result<u32, Failed> {
            Err(Failed::Busy(1))
        }

        #[retryable(cancel = self.child)]
        async fn by_field_task(&self) -> Result<u32, Failed> {
            Err(Failed::Busy(1))
        }

        #[retryable(cancel = self.token())]
        async fn by_method(&mut self) -> Result<u32, Failed> {
            Err(Failed::Busy(1))
        }

        #[retryable(cancel = *SHUTDOWN)]
        fn by_static() -> Result<u32, Failed> {
            Err(Failed::Busy(1))
        }

        #[retryable(cancel = { &&*SHUTDOWN })]
        async fn by_reference() -> Result<u32, Failed> {
            Err(Failed::Busy(1))
        }

        fn token(&self) -> CancelToken {
            CancelToken::clone(&self.shutdown)
        }
    }

    #[tokio::test]
    async fn it_can_be_a_field_a_static_or_what_a_method_gives() {
        let mut client = Client {
            shutdown: Arc::default(),
            child: CancellationToken::new(),
        };
        client.shutdown.cancel();
        client.child.cancel();
        SHUTDOWN.cancel();
        let cancelled = Err(Failed::Busy(1));
        assert_eq!(client.by_field(), cancelled);
        assert_eq!(client.by_field_task().await, cancelled);
        assert_eq!(client.by_method().await, cancelled);
        assert_eq!(Client::by_static(), cancelled);
        assert_eq!(Client::by_reference().await, cancelled);
    }

    #[tokio::test]
    async fn it_is_evaluated_once_per_call() {
        #[retryable(
            max = 4, backoff = "none",
            cancel = { asked.fetch_add(1, Ordering::Relaxed); CancelToken::new() }
        )]
        async fn call(asked: &AtomicU32) -> Result<u32, Failed> {
            Err(Failed::Busy(1))
        }
        let asked = AtomicU32::new(0);
        assert!(call(&asked).await.is_err());
        assert_eq!(asked.into_inner(), 1);
    }
}

/// C053, as far as the end of a call is told to anybody yet: to `recover`, once.
#[tokio::test(start_paused = true)]
async fn a_cancelled_call_is_recovered_once_and_with_that_reason() {
    fn ended(
        failure: Failure<Failed>,
        _: &CancelToken,
        ends: &AtomicU32,
    ) -> Result<(Reason, u32, Duration), Failed> {
        ends.fetch_add(1, Ordering::Relaxed);
        assert_eq!(failure.error, Failed::Busy(7));
        Ok((failure.reason, failure.attempts, failure.elapsed))
    }
    #[retryable(base_ms = 60_000, cap_ms = 600_000, jitter = "none", cancel = token, recover = ended)]
    async fn call(
        token: &CancelToken,
        ends: &AtomicU32,
    ) -> Result<(Reason, u32, Duration), Failed> {
        Err(Failed::Busy(7))
    }
    let (token, ends) = (CancelToken::new(), AtomicU32::new(0));
    let cancelling = async {
        sleep(ms(1)).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(call(&token, &ends), cancelling);
    assert_eq!(outcome, Ok((Reason::Cancelled, 1, ms(1))));
    assert_eq!(ends.into_inner(), 1);
}
