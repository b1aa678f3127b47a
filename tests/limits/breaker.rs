//! `breaker`. Promise 19. The states of a breaker are tested where it is written; here it is what
//! retried functions do with one.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    time::Duration,
};

use retry_runtime::{
    BreakerState, CircuitBreaker, CircuitOpen, Decision, Failure, Reason, RetryBudget, retryable,
};
use tokio::time::{advance, sleep};

use crate::support::{Failed, Log, ms, note_task, noted, secs};

/// Opens at the second failure, for ten seconds, and takes one probe.
fn of_two() -> CircuitBreaker {
    CircuitBreaker::new()
        .window(2)
        .min_calls(2)
        .failure_rate(1.0)
        .open_for(secs(10))
        .probes(1)
}

/// A breaker that lets the next call through as its only probe.
async fn half_open() -> CircuitBreaker {
    let breaker = of_two();
    for _ in 0..2 {
        breaker.try_acquire().unwrap().failure();
    }
    assert_eq!(breaker.state(), BreakerState::Open);
    advance(secs(10)).await;
    breaker
}

/// Whether a probe can be taken; gives it back.
fn takes_a_probe(breaker: &CircuitBreaker) -> bool {
    breaker.try_acquire().is_ok()
}

#[retryable(
    max = max, backoff = "none", breaker = breaker, on = "any",
    except(Failed::Wrong(_)), recover_all = |failure| log.end(failure)
)]
fn call(
    max: u32,
    outcomes: &[Result<u32, Failed>],
    breaker: &CircuitBreaker,
    log: &Log,
) -> Result<u32, Failed> {
    let number = usize::try_from(log.attempt()).unwrap();
    *outcomes.get(number - 1).or(outcomes.last()).unwrap()
}

const BUSY: Result<u32, Failed> = Err(Failed::Busy(0));
const WRONG: Result<u32, Failed> = Err(Failed::Wrong(0));

#[tokio::test(start_paused = true)]
async fn every_attempt_asks_and_the_call_ends_where_one_is_refused() {
    let (breaker, log) = (of_two(), Log::start());
    let refused = Err(Failed::Open(Some(secs(10))));
    assert_eq!(call(8, &[BUSY], &breaker, &log), refused);
    assert_eq!(log.calls(), 2);
    assert_eq!(log.reason(), Some((Reason::Breaker, 2)));
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_refuses_before_the_body_runs_and_nothing_is_waited() {
    #[retryable(
        max = "unlimited", on = "any", breaker = breaker, sleep = note_task,
        recover_all = |failure| log.end(failure)
    )]
    async fn task(breaker: &CircuitBreaker, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    let (breaker, log) = (of_two(), Log::start());
    breaker.force_open();
    assert_eq!(task(&breaker, &log).await, Err(Failed::Open(None)));
    assert_eq!((log.calls(), noted()), (0, vec![]));
    // a refusal is not an attempt
    assert_eq!(log.reason(), Some((Reason::Breaker, 0)));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_retried_whatever_is_said_of_errors() {
    macro_rules! refused {
        ($($key:tt)*) => {{
            #[retryable(max = 5, breaker = breaker, $($key)*)]
            async fn task(breaker: &CircuitBreaker, log: &Log) -> Result<u32, Failed> {
                log.fail()
            }
            let (breaker, log) = (of_two(), Log::start());
            breaker.force_open();
            assert_eq!(task(&breaker, &log).await, Err(Failed::Open(None)));
            assert_eq!((log.calls(), log.elapsed()), (0, Duration::ZERO));
        }};
    }
    refused!();
    refused!(on = "any");
    refused!(on(Failed::Open(_)));
    refused!(on = |_| Decision::RetryNow);
    refused!(on = |_| Decision::RetryAfter(secs(1)));
    refused!(until = |_| false, on = "any");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_says_when_the_next_probe_is_due() {
    let (breaker, log) = (of_two(), Log::start());
    assert!(call(8, &[BUSY], &breaker, &log).is_err());
    advance(ms(2_500)).await;
    let refused = call(8, &[BUSY], &breaker, &Log::start());
    assert_eq!(refused, Err(Failed::Open(Some(ms(7_500)))));
}

#[tokio::test(start_paused = true)]
async fn successes_count_and_so_do_the_failures_of_a_call_that_succeeds() {
    let breaker = of_two().window(4).min_calls(4).failure_rate(0.5);
    assert_eq!(call(8, &[Ok(7)], &breaker, &Log::start()), Ok(7));
    let twice = [BUSY, BUSY, Ok(7)];
    let refused = call(8, &twice, &breaker, &Log::start());
    assert_eq!(refused, Ok(7));
    // F F S after S: two of four
    assert_eq!(breaker.state(), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_retried_does_not_count() {
    let breaker = of_two();
    for _ in 0..10 {
        assert_eq!(call(8, &[WRONG], &breaker, &Log::start()), WRONG);
    }
    assert_eq!(breaker.state(), BreakerState::Closed);
    // nor does it push what counts out of the window
    assert_eq!(call(8, &[BUSY, WRONG], &breaker, &Log::start()), WRONG);
    assert_eq!(call(1, &[BUSY], &breaker, &Log::start()), BUSY);
    assert_eq!(breaker.state(), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn the_last_failure_counts_although_it_is_not_retried_any_more() {
    let breaker = of_two();
    for _ in 0..2 {
        assert_eq!(call(1, &[BUSY], &breaker, &Log::start()), BUSY);
    }
    assert_eq!(breaker.state(), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn failures_count_that_are_retried_at_once_or_after_a_hint() {
    #[retryable(max = 9, breaker = breaker, on = |_| decision)]
    async fn task(decision: Decision, breaker: &CircuitBreaker, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    for decision in [Decision::RetryNow, Decision::RetryAfter(secs(1))] {
        let (breaker, log) = (of_two(), Log::start());
        let refused = task(decision, &breaker, &log).await;
        assert!(matches!(refused, Err(Failed::Open(Some(_)))));
        assert_eq!(log.calls(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_longer_than_the_breaker_is_open_ends_in_a_probe() {
    #[retryable(max = 3, base_ms = 6_000, backoff = "fixed", jitter = "none", breaker = breaker)]
    async fn task(breaker: &CircuitBreaker, log: &Log) -> Result<u32, Failed> {
        log.succeed_at(3)
    }
    let breaker = of_two();
    breaker.try_acquire().unwrap().failure();
    let log = Log::start();
    // open after the first attempt, and still when the second is due
    let refused = task(&breaker, &log).await;
    assert_eq!(refused, Err(Failed::Open(Some(secs(4)))));
    assert_eq!((log.calls(), log.elapsed()), (1, secs(6)));

    let breaker = of_two().open_for(secs(5));
    breaker.try_acquire().unwrap().failure();
    let log = Log::start();
    // half-open when the second is due; it fails, and the third is a probe again
    assert_eq!(task(&breaker, &log).await, Ok(3));
    assert_eq!(breaker.state(), BreakerState::Closed);
}

mod half_open {
    use super::*;

    /// C127, C129, C130
    #[tokio::test(start_paused = true)]
    async fn an_error_that_does_not_count_gives_its_probe_back() {
        let breaker = half_open().await;
        for _ in 0..3 {
            assert_eq!(call(8, &[WRONG], &breaker, &Log::start()), WRONG);
            assert_eq!(breaker.state(), BreakerState::HalfOpen);
        }
        // and the next probe decides
        assert_eq!(call(8, &[Ok(7)], &breaker, &Log::start()), Ok(7));
        assert_eq!(breaker.state(), BreakerState::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_probe_opens_it_again_and_ends_the_call() {
        let (breaker, log) = (half_open().await, Log::start());
        let refused = Err(Failed::Open(Some(secs(10))));
        assert_eq!(call(8, &[BUSY], &breaker, &log), refused);
        assert_eq!(log.calls(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_panics_gives_its_probe_back() {
        #[retryable(backoff = "none", breaker = breaker)]
        fn blocking(breaker: &CircuitBreaker) -> Result<u32, Failed> {
            panic::panic_any("in the body")
        }
        #[retryable(backoff = "none", breaker = breaker, timeout_ms = 1_000)]
        async fn task(breaker: &CircuitBreaker) -> Result<u32, Failed> {
            sleep(ms(1)).await;
            panic::panic_any("in the body")
        }
        let breaker = Arc::new(half_open().await);
        let panicked = panic::catch_unwind(AssertUnwindSafe(|| blocking(&breaker)));
        assert!(panicked.is_err());
        assert!(takes_a_probe(&breaker));
        let shared = Arc::clone(&breaker);
        let panicked = tokio::spawn(async move { task(&shared).await }).await;
        assert!(panicked.unwrap_err().is_panic());
        assert!(takes_a_probe(&breaker));
        assert_eq!(breaker.state(), BreakerState::HalfOpen);
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_is_dropped_gives_its_probe_back() {
        #[retryable(breaker = breaker)]
        async fn task(breaker: &CircuitBreaker) -> Result<u32, Failed> {
            sleep(secs(60)).await;
            Ok(1)
        }
        let breaker = half_open().await;
        let mut call = Box::pin(task(&breaker));
        tokio::select! {
            biased;
            _ = &mut call => unreachable!(),
            () = sleep(ms(1)) => assert!(!takes_a_probe(&breaker)),
        }
        drop(call);
        assert!(takes_a_probe(&breaker));
    }

    #[tokio::test(start_paused = true)]
    async fn calls_beside_the_probe_are_refused() {
        #[retryable(breaker = breaker)]
        async fn task(breaker: &CircuitBreaker, log: &Log) -> Result<u32, Failed> {
            log.attempt();
            sleep(secs(1)).await;
            Ok(1)
        }
        let (breaker, log) = (half_open().await, Log::start());
        let both = tokio::join!(task(&breaker, &log), task(&breaker, &log));
        assert_eq!(both, (Ok(1), Err(Failed::Open(None))));
        assert_eq!(log.calls(), 1);
        assert_eq!(breaker.state(), BreakerState::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn several_probes_can_be_attempts_of_one_call() {
        let breaker = of_two().probes(3).failure_rate(1.0);
        for _ in 0..2 {
            breaker.try_acquire().unwrap().failure();
        }
        advance(secs(10)).await;
        let outcomes = [BUSY, BUSY, Ok(7)];
        assert_eq!(call(8, &outcomes, &breaker, &Log::start()), Ok(7));
        assert_eq!(breaker.state(), BreakerState::Closed);
    }
}

mod timeouts {
    use super::*;

    #[retryable(
        max = 8, backoff = "none", timeout_ms = 50, breaker = breaker, on = |_| retried
    )]
    async fn hangs(retried: bool, breaker: &CircuitBreaker, log: &Log) -> Result<u32, Failed> {
        log.attempt();
        std::future::pending().await
    }

    #[tokio::test(start_paused = true)]
    async fn that_are_retried_count() {
        let (breaker, log) = (of_two(), Log::start());
        let refused = hangs(true, &breaker, &log).await;
        assert_eq!(refused, Err(Failed::Open(Some(secs(10)))));
        assert_eq!((log.calls(), log.elapsed()), (2, ms(100)));
    }

    #[tokio::test(start_paused = true)]
    async fn that_are_not_retried_do_not() {
        let (breaker, log) = (of_two(), Log::start());
        for _ in 0..10 {
            let failed = hangs(false, &breaker, &log).await;
            assert_eq!(failed, Err(Failed::TimedOut(ms(50))));
        }
        assert_eq!(breaker.state(), BreakerState::Closed);
    }
}

mod polling {
    use super::*;

    #[retryable(
        max = 5, backoff = "none", until = |value: &u32| *value > 9, on = "any", breaker = breaker
    )]
    fn poll(value: Result<u32, Failed>, breaker: &CircuitBreaker) -> Result<u32, Failed> {
        value
    }

    #[tokio::test(start_paused = true)]
    async fn errors_count() {
        let breaker = of_two();
        assert!(poll(BUSY, &breaker).is_err());
        assert_eq!(breaker.state(), BreakerState::Open);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_final_yet_is_no_failure_of_the_service() {
        let breaker = of_two();
        assert_eq!(poll(Ok(1), &breaker), Ok(1));
        assert_eq!(breaker.state(), BreakerState::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn without_on_errors_count_rather_than_answers() {
        #[retryable(max = 2, until = |value: &u32| *value > 9, breaker = breaker)]
        fn poll(value: Result<u32, Failed>, breaker: &CircuitBreaker) -> Result<u32, Failed> {
            value
        }
        let breaker = of_two();
        for _ in 0..3 {
            let _ = poll(BUSY, &breaker);
        }
        assert_eq!(breaker.state(), BreakerState::Open);
    }
}

/// C132
#[tokio::test(start_paused = true)]
async fn retries_come_first_then_the_breaker_and_the_fallback_once_at_the_end() {
    #[retryable(max = 8, backoff = "none", breaker = breaker, recover = |failure| {
        fallbacks.set(fallbacks.get() + 1);
        assert_eq!(failure.reason, Reason::Breaker);
        Ok(log.calls())
    })]
    async fn task(
        fallbacks: &Cell<u32>,
        breaker: &CircuitBreaker,
        log: &Log,
    ) -> Result<usize, Failed> {
        log.fail()
    }
    let (breaker, log, fallbacks) = (of_two(), Log::start(), Cell::new(0));
    assert_eq!(task(&fallbacks, &breaker, &log).await, Ok(2));
    assert_eq!(fallbacks.take(), 1);
    // a failure that is recovered from has been one all the same
    assert_eq!(task(&fallbacks, &breaker, &log).await, Ok(2));
    assert_eq!(fallbacks.take(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_is_refused_by_the_budget_has_counted() {
    #[retryable(backoff = "none", breaker = breaker, budget = budget)]
    fn poor(budget: &RetryBudget, breaker: &CircuitBreaker, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    let (breaker, log) = (of_two(), Log::start());
    let budget = RetryBudget::new().ratio(0.0).min_per_second(0);
    assert_eq!(poor(&budget, &breaker, &log), Err(Failed::Busy(1)));
    assert_eq!(poor(&budget, &breaker, &log), Err(Failed::Busy(2)));
    assert_eq!(breaker.state(), BreakerState::Open);
}

mod kept {
    use super::*;

    static SHARED: CircuitBreaker = CircuitBreaker::new().window(2).min_calls(2);

    struct Client<'a> {
        own: CircuitBreaker,
        arc: Arc<CircuitBreaker>,
        lent: &'a CircuitBreaker,
    }

    #[retryable(max = 9, backoff = "none", breaker = SHARED)]
    fn by_static(log: &Log) -> Result<u32, Failed> {
        log.fail()
    }

    #[retryable(max = 9, backoff = "none", breaker = "SHARED")]
    async fn by_text(log: &Log) -> Result<u32, Failed> {
        log.fail()
    }

    #[retryable(max = 9, backoff = "none")]
    impl Client<'_> {
        #[retryable(breaker = self.own)]
        fn by_field(&self, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }

        #[retryable(breaker = self.arc)]
        async fn by_arc(&self, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }

        #[retryable(breaker = self.lent)]
        fn by_reference(&self, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }

        #[retryable(breaker = self.given())]
        fn by_call(&self, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }

        #[retryable(breaker = Arc::clone(&self.arc))]
        async fn by_call_of_a_task(&self, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }

        fn given(&self) -> &CircuitBreaker {
            self.lent
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_breaker_is_for_all_functions_that_have_it() {
        let log = Log::start();
        assert!(by_static(&log).is_err());
        assert!(by_text(&log).await.is_err());
        assert_eq!(log.calls(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn it_can_be_a_field_a_reference_an_arc_or_what_a_call_gives() {
        let lent = of_two();
        let client = Client {
            own: of_two(),
            arc: Arc::new(of_two()),
            lent: &lent,
        };
        let log = Log::start();
        assert!(client.by_field(&log).is_err());
        assert!(client.by_arc(&log).await.is_err());
        assert!(client.by_reference(&log).is_err());
        assert_eq!(log.calls(), 6);
        // open already
        assert!(client.by_call(&log).is_err());
        assert!(client.by_call_of_a_task(&log).await.is_err());
        assert_eq!(log.calls(), 6);
    }
}

#[tokio::test(start_paused = true)]
async fn the_error_of_a_refusal_may_be_any_that_is_made_of_it() {
    #[retryable(on = "any", breaker = breaker)]
    async fn boxed(breaker: &CircuitBreaker) -> Result<u32, Box<dyn std::error::Error>> {
        Err("busy".into())
    }
    #[retryable(on = "any", breaker = breaker, recover = |failure: Failure<CircuitOpen>| {
        Err(failure.error)
    })]
    fn itself(breaker: &CircuitBreaker) -> Result<u32, CircuitOpen> {
        Ok(1)
    }
    let breaker = of_two();
    breaker.force_open();
    let error = boxed(&breaker).await.unwrap_err();
    assert_eq!(error.to_string(), "circuit breaker is held open");
    assert_eq!(itself(&breaker).unwrap_err().retry_after(), None);
}
