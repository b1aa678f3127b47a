//! `budget`. Promise 18. The arithmetic of a budget is tested where it is written; here it is what
//! retried functions do with one.

use std::{
    cell::Cell,
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use retry_runtime::{CancelToken, Decision, Reason, RetryBudget, retryable};
use tokio::{
    sync::Barrier,
    time::{advance, sleep},
};

use crate::support::{Failed, Log, ms, note, noted, secs};

/// Grants so many retries within its window and nothing for calls.
fn of(retries: u32) -> RetryBudget {
    RetryBudget::new()
        .ratio(0.0)
        .min_per_second(retries)
        .window(secs(1))
}

#[retryable(
    max = 1_000, backoff = "none", budget = budget, recover_all = |failure| log.end(failure)
)]
fn thousand(budget: &RetryBudget, log: &Log) -> Result<u32, Failed> {
    log.fail()
}

/// C106
#[test]
fn without_any_key_a_function_waits_and_callers_not_the_same_time() {
    #[retryable(sleep = note)]
    fn plain(log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    let mut first_waits = BTreeSet::new();
    for _ in 0..20 {
        assert!(plain(&Log::start()).is_err());
        let waits = noted();
        assert!(waits[0] <= ms(200) && waits[1] <= ms(400) && waits.len() == 2);
        first_waits.insert(waits[0]);
    }
    assert!(first_waits.len() > 15, "{first_waits:?}");
}

/// C102
#[tokio::test(start_paused = true)]
async fn a_budget_of_five_is_six_calls_whatever_max_allows() {
    let log = Log::start();
    assert_eq!(thousand(&of(5), &log), Err(Failed::Busy(6)));
    assert_eq!(log.reason(), Some((Reason::Budget, 6)));
}

#[tokio::test(start_paused = true)]
async fn without_anything_in_it_every_call_is_made_once() {
    let budget = of(0);
    for _ in 0..10 {
        let log = Log::start();
        assert_eq!(thousand(&budget, &log), Err(Failed::Busy(1)));
        assert_eq!(log.reason(), Some((Reason::Budget, 1)));
    }
}

/// C101
mod a_hundred_callers_with_a_budget_of_ten_make_a_hundred_and_ten_calls {
    use super::*;

    fn check(outcomes: &[Result<usize, Reason>], calls: usize) {
        assert_eq!(calls, 110);
        let ended = |reason| {
            let is = |outcome: &&Result<usize, Reason>| **outcome == Err(reason);
            outcomes.iter().filter(is).count()
        };
        // a caller may have all of its three retries, or some, or none
        let (budget, used_up) = (ended(Reason::Budget), ended(Reason::AttemptsUsedUp));
        assert_eq!(budget + used_up, 100);
        assert!(used_up <= 3, "{used_up} with all of their retries");
    }

    #[tokio::test(start_paused = true)]
    async fn as_tasks() {
        #[retryable(
            max = 4, on = "any", budget = budget, recover_all = |failure| Err(failure.reason)
        )]
        async fn call(budget: &RetryBudget, calls: &AtomicUsize) -> Result<usize, Reason> {
            calls.fetch_add(1, Ordering::Relaxed);
            sleep(ms(5)).await;
            Err(Reason::NotRetryable)
        }
        let shared = Arc::new((
            RetryBudget::new().ratio(0.0).min_per_second(1),
            AtomicUsize::new(0),
        ));
        let callers: Vec<_> = (0..100)
            .map(|_| {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move { call(&shared.0, &shared.1).await })
            })
            .collect();
        let mut outcomes = vec![];
        for caller in callers {
            outcomes.push(caller.await.unwrap());
        }
        check(&outcomes, shared.1.load(Ordering::Relaxed));
    }

    #[test]
    fn as_threads() {
        #[retryable(
            max = 4, backoff = "none", on = "any", budget = budget,
            recover_all = |failure| Err(failure.reason)
        )]
        fn call(budget: &RetryBudget, calls: &AtomicUsize) -> Result<usize, Reason> {
            calls.fetch_add(1, Ordering::Relaxed);
            thread::yield_now();
            Err(Reason::NotRetryable)
        }
        // 10 in 10 s: by the thread's clock, and a machine may be slow
        let budget = RetryBudget::new().ratio(0.0).min_per_second(1);
        let calls = AtomicUsize::new(0);
        let outcomes: Vec<_> = thread::scope(|scope| {
            let callers: Vec<_> = (0..10)
                .map(|_| {
                    let call = || call(&budget, &calls);
                    scope.spawn(move || (0..10).map(|_| call()).collect::<Vec<_>>())
                })
                .collect();
            let outcomes = callers.into_iter().map(|caller| caller.join().unwrap());
            outcomes.flatten().collect()
        });
        check(&outcomes, calls.into_inner());
    }
}

/// C103
#[tokio::test(start_paused = true)]
async fn a_thousand_callers_that_fail_together_retry_a_fifth_of_their_number() {
    #[retryable(max = 4, base_ms = 10_000, budget = shared.0)]
    async fn call(shared: &(RetryBudget, Barrier, AtomicUsize)) -> Result<u32, Failed> {
        let number = shared.2.fetch_add(1, Ordering::Relaxed);
        if number < 1_000 {
            shared.1.wait().await;
        }
        Err(Failed::Busy(1))
    }
    let budget = RetryBudget::new().ratio(0.2).min_per_second(0);
    let shared = Arc::new((budget, Barrier::new(1_000), AtomicUsize::new(0)));
    let callers: Vec<_> = (0..1_000)
        .map(|_| {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move { call(&shared).await })
        })
        .collect();
    // all have failed, and none has waited
    advance(Duration::ZERO).await;
    while shared.0.available() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(shared.2.load(Ordering::Relaxed), 1_000);
    for caller in callers {
        assert_eq!(caller.await.unwrap(), Err(Failed::Busy(1)));
    }
    let calls = shared.2.load(Ordering::Relaxed);
    assert_eq!(calls, 1_200);
}

/// C105
#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_granted_a_retry_ends_at_once_and_not_at_its_deadline() {
    #[retryable(deadline_ms = 15_000, budget = budget, recover_all = |failure| log.end(failure))]
    async fn call(budget: &RetryBudget, log: &Log) -> Result<u32, Failed> {
        let outcome = log.fail();
        sleep(ms(4)).await;
        outcome
    }
    let log = Log::start();
    assert_eq!(call(&of(0), &log).await, Err(Failed::Busy(1)));
    assert_eq!(log.elapsed(), ms(4));
    assert_eq!(log.reason(), Some((Reason::Budget, 1)));
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_paid_for_before_its_wait() {
    #[retryable(max = 2, base_ms = 500, jitter = "none", budget = budget)]
    async fn call(budget: &RetryBudget, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    let (budget, first, second) = (of(1), Log::start(), Log::start());
    let others = async {
        sleep(ms(100)).await;
        assert_eq!(budget.available(), 0);
        assert_eq!(call(&budget, &second).await, Err(Failed::Busy(1)));
        assert_eq!(second.elapsed(), ms(100));
    };
    let (outcome, ()) = tokio::join!(call(&budget, &first), others);
    assert_eq!(outcome, Err(Failed::Busy(2)));
}

mod earned {
    use super::*;

    #[retryable(max = 3, backoff = "none", budget = budget)]
    fn call(success: u32, budget: &RetryBudget, log: &Log) -> Result<u32, Failed> {
        log.succeed_at(success)
    }

    fn half() -> RetryBudget {
        RetryBudget::new().ratio(0.5).min_per_second(0)
    }

    #[tokio::test(start_paused = true)]
    async fn by_each_call_whatever_becomes_of_it() {
        let budget = half();
        for _ in 0..10 {
            assert_eq!(call(1, &budget, &Log::start()), Ok(1));
        }
        assert_eq!(budget.available(), 5);
        // earns half a retry, spends two
        assert_eq!(call(3, &budget, &Log::start()), Ok(3));
        assert_eq!(budget.available(), 3);
        #[retryable(budget = budget)]
        fn wrong(budget: &RetryBudget) -> Result<u32, Failed> {
            Err(Failed::Wrong(1))
        }
        assert!(wrong(&budget).is_err());
        assert_eq!(budget.available(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn by_calls_and_not_by_attempts() {
        let budget = half();
        for _ in 0..4 {
            assert!(call(1, &budget, &Log::start()).is_ok());
        }
        let mut attempts = 0;
        for _ in 0..100 {
            let log = Log::start();
            assert!(call(9, &budget, &log).is_err());
            attempts += log.calls();
        }
        assert_eq!(attempts, 100 + 52);
    }

    #[tokio::test(start_paused = true)]
    async fn again_when_the_window_has_passed() {
        let budget = of(1);
        let log = Log::start();
        assert_eq!(thousand(&budget, &log), Err(Failed::Busy(2)));
        assert_eq!(thousand(&budget, &Log::start()), Err(Failed::Busy(1)));
        advance(ms(1_100)).await;
        assert_eq!(thousand(&budget, &Log::start()), Err(Failed::Busy(2)));
    }

    #[tokio::test(start_paused = true)]
    async fn by_a_task_when_it_is_polled_and_not_when_its_future_is_made() {
        #[retryable(budget = budget)]
        async fn call(budget: &RetryBudget) -> Result<u32, Failed> {
            Ok(1)
        }
        let budget = RetryBudget::new().ratio(1.0).min_per_second(0);
        let future = call(&budget);
        assert_eq!(budget.available(), 0);
        assert!(future.await.is_ok());
        assert_eq!(budget.available(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_for_another_reason_takes_nothing_out() {
    #[retryable(
        max = max, base_ms = 1_000, jitter = "none", deadline_ms = deadline, cancel = token,
        budget = budget, on = |_| decision, recover_all = |failure| log.end(failure)
    )]
    async fn call(
        max: u32,
        deadline: u64,
        decision: Decision,
        token: &CancelToken,
        budget: &RetryBudget,
        log: &Log,
    ) -> Result<u32, Failed> {
        log.fail()
    }
    let (budget, token, cancelled) = (of(1), CancelToken::new(), CancelToken::new());
    cancelled.cancel();
    let long = Decision::RetryAfter(Duration::MAX);
    for (max, deadline, decision, token, reason) in [
        (2, 5_000, Decision::Stop, &token, Reason::NotRetryable),
        (1, 5_000, Decision::Retry, &token, Reason::AttemptsUsedUp),
        (2, 900, Decision::Retry, &token, Reason::Deadline),
        (2, 5_000, long, &token, Reason::HintTooLong),
        (2, 5_000, Decision::Retry, &cancelled, Reason::Cancelled),
    ] {
        let log = Log::start();
        let ended = call(max, deadline, decision, token, &budget, &log);
        assert!(ended.await.is_err());
        assert_eq!(log.reason(), Some((reason, 1)));
        assert_eq!(budget.available(), 1, "{reason}");
    }
    // what was paid for is used
    let log = Log::start();
    let ended = call(3, 5_000, Decision::RetryNow, &token, &budget, &log);
    assert!(ended.await.is_err());
    assert_eq!(log.reason(), Some((Reason::Budget, 2)));
}

#[test]
fn a_retry_at_once_and_one_with_a_hint_are_paid_for_too() {
    #[retryable(max = 9, budget = budget, sleep = note, on = |_| decision)]
    fn call(decision: Decision, budget: &RetryBudget, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    for decision in [Decision::RetryNow, Decision::RetryAfter(secs(2))] {
        let budget = RetryBudget::new().ratio(0.0).min_per_second(1);
        let budget = budget.window(secs(3));
        assert_eq!(call(decision, &budget, &Log::start()), Err(Failed::Busy(4)));
        assert!(noted().iter().all(|wait| *wait == secs(2)));
    }
}

#[test]
fn a_value_that_is_not_final_is_asked_for_again_within_the_budget() {
    #[retryable(max = 9, backoff = "none", until = |_: &u32| false, budget = budget)]
    fn poll(budget: &RetryBudget, polls: &Cell<u32>) -> u32 {
        polls.set(polls.get() + 1);
        polls.get()
    }
    let budget = RetryBudget::new().ratio(0.0).min_per_second(4);
    assert_eq!(poll(&budget.window(secs(1)), &Cell::new(0)), 5);
}

mod kept {
    use super::*;

    static SHARED: RetryBudget = RetryBudget::new().ratio(0.0).min_per_second(1);

    struct Client<'a> {
        own: RetryBudget,
        arc: Arc<RetryBudget>,
        lent: &'a RetryBudget,
    }

    #[retryable(max = 100, backoff = "none", budget = SHARED)]
    fn by_static(log: &Log) -> Result<u32, Failed> {
        log.fail()
    }

    #[retryable(max = 100, backoff = "none", budget = "SHARED")]
    async fn by_text(log: &Log) -> Result<u32, Failed> {
        log.fail()
    }

    #[retryable(max = 100, backoff = "none")]
    impl Client<'_> {
        #[retryable(budget = self.own)]
        fn by_field(&self, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }

        #[retryable(budget = self.arc)]
        async fn by_arc(&mut self, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }

        #[retryable(budget = self.lent)]
        fn by_reference(&self, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }

        #[retryable(budget = self.given())]
        fn by_call(&self, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }

        #[retryable(budget = Arc::clone(&self.arc))]
        async fn by_call_of_a_task(&self, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }

        fn given(&self) -> &RetryBudget {
            self.lent
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_budget_is_for_all_functions_that_have_it() {
        let begin = SHARED.available();
        assert_eq!(begin, 10);
        let log = Log::start();
        assert!(by_static(&log).is_err());
        assert_eq!((log.calls(), SHARED.available()), (11, 0));
        let log = Log::start();
        assert!(by_text(&log).await.is_err());
        assert_eq!(log.calls(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn it_can_be_a_field_a_reference_an_arc_or_what_a_call_gives() {
        let lent = of(4);
        let mut client = Client {
            own: of(2),
            arc: Arc::new(of(3)),
            lent: &lent,
        };
        let log = Log::start();
        assert_eq!(client.by_field(&log), Err(Failed::Busy(3)));
        let log = Log::start();
        assert_eq!(client.by_arc(&log).await, Err(Failed::Busy(4)));
        let log = Log::start();
        assert_eq!(client.by_reference(&log), Err(Failed::Busy(5)));
        // what is left of the same
        assert_eq!(client.by_call(&log), Err(Failed::Busy(6)));
        let given = client.by_call_of_a_task(&log).await;
        assert_eq!(given, Err(Failed::Busy(7)));
    }
}
