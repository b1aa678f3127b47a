//! Promise 24: the switches for tests of code that retries. They act on the whole process, so the
//! tests here take turns.

use std::{
    cell::RefCell,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use retry_runtime::{Decision, Failure, Policy, Reason, RetryBudget, retryable, testing};
use tokio::time::Instant;

fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn paused() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
}

const HOUR_MS: u64 = 3_600_000;

#[retryable(max = 5, base_ms = HOUR_MS, cap_ms = HOUR_MS, jitter = "none", on = "any")]
fn blocking(calls: &mut u32) -> Result<(), &'static str> {
    *calls += 1;
    Err("down")
}

#[retryable(max = 5, base_ms = HOUR_MS, cap_ms = HOUR_MS, jitter = "none", on = "any")]
async fn task(calls: &mut u32) -> Result<(), &'static str> {
    *calls += 1;
    Err("down")
}

thread_local! {
    static WAITS: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
}

fn note(wait: Duration) {
    WAITS.with_borrow_mut(|waits| waits.push(wait));
}

fn noted() -> Vec<Duration> {
    WAITS.take()
}

/// Why it ended, and after how many attempts.
type Ended = (Reason, u32);

const NOT_ENDED: Ended = (Reason::Cancelled, 0);

#[retryable(
    max = 3, base_ms = HOUR_MS, cap_ms = HOUR_MS, jitter = "none", sleep = note, budget = budget,
    on = |_| decision, recover_all = |failure: Failure<Ended>| Err((failure.reason, failure.attempts))
)]
fn decided(decision: Decision, budget: &RetryBudget) -> Result<(), Ended> {
    Err(NOT_ENDED)
}

/// C110, jd/tenacity#156 and #25, and C111, jd/tenacity#440: tests that took as long as the backoff,
/// because the sleep that was replaced was not that of the async call.
#[test]
fn an_instant_call_makes_as_many_attempts_and_waits_for_none() {
    let _turn = alone();
    let _instant = testing::instant();
    let mut calls = 0;
    // without the switch this takes four hours
    assert_eq!(blocking(&mut calls), Err("down"));
    assert_eq!(calls, 5);
    paused().block_on(async {
        let start = Instant::now();
        let mut calls = 0;
        assert_eq!(task(&mut calls).await, Err("down"));
        assert_eq!((calls, start.elapsed()), (5, Duration::ZERO));
    });
}

#[test]
fn an_instant_call_decides_as_ever() {
    let _turn = alone();
    let _instant = testing::instant();
    let plenty = RetryBudget::new();
    let none = RetryBudget::new().ratio(0.0).min_per_second(0);
    let hour = Duration::from_millis(HOUR_MS);
    for (decision, budget, ended) in [
        (Decision::Retry, &plenty, (Reason::AttemptsUsedUp, 3)),
        (Decision::Stop, &plenty, (Reason::NotRetryable, 1)),
        (
            Decision::RetryAfter(hour / 3600),
            &plenty,
            (Reason::AttemptsUsedUp, 3),
        ),
        (
            Decision::RetryAfter(hour * 24),
            &plenty,
            (Reason::HintTooLong, 1),
        ),
        (Decision::Retry, &none, (Reason::Budget, 1)),
    ] {
        assert_eq!(decided(decision, budget), Err(ended), "{decision:?}");
        assert_eq!(noted(), [], "{decision:?}");
    }
}

#[test]
fn a_wait_that_takes_no_time_is_no_reason_for_a_deadline() {
    #[retryable(max = 3, base_ms = 50_000, cap_ms = 50_000, jitter = "none", deadline_ms = 60_000, on = |_| Decision::Retry)]
    fn ended(calls: &mut u32) -> Result<(), ()> {
        *calls += 1;
        Err(())
    }
    let _turn = alone();
    let _instant = testing::instant();
    let mut calls = 0;
    assert_eq!((ended(&mut calls), calls), (Err(()), 3));
}

/// C114, litl/backoff#206: a switch for all calls.
#[test]
fn without_retries_a_call_is_one_attempt_and_returns_its_outcome() {
    let _turn = alone();
    let off = testing::no_retries();
    let budget = RetryBudget::new();
    assert_eq!(
        decided(Decision::Retry, &budget),
        Err((Reason::AttemptsUsedUp, 1))
    );
    assert_eq!(
        decided(Decision::RetryNow, &budget),
        Err((Reason::AttemptsUsedUp, 1))
    );
    assert_eq!(
        decided(Decision::Stop, &budget),
        Err((Reason::NotRetryable, 1))
    );
    assert_eq!(noted(), []);
    let mut calls = 0;
    assert_eq!((blocking(&mut calls), calls), (Err("down"), 1));
    paused().block_on(async {
        let mut calls = 0;
        assert_eq!(task(&mut calls).await, Err("down"));
        assert_eq!(calls, 1);
    });
    drop(off);
    assert_eq!(
        decided(Decision::Retry, &budget),
        Err((Reason::AttemptsUsedUp, 3))
    );
    assert_eq!(noted(), [HOUR_MS, HOUR_MS].map(Duration::from_millis));
}

/// C112, hynek/stamina#98: a test mode that made ten attempts of three.
#[test]
fn no_switch_makes_more_attempts_than_the_policy() {
    let _turn = alone();
    let _instant = testing::instant();
    let mut calls = 0;
    let once = Policy::new().max(1).retry(|| {
        calls += 1;
        Err::<(), _>(std::io::Error::from(std::io::ErrorKind::TimedOut))
    });
    assert_eq!((once.is_err(), calls), (true, 1));
}

#[test]
fn closures_are_switched_too() {
    let _turn = alone();
    let policy = Policy::new().max(4).base_ms(HOUR_MS).cap_ms(HOUR_MS);
    let calls = |policy: Policy| {
        let mut calls = 0;
        let _ = policy.on(|_: &()| Decision::Retry).retry(|| {
            calls += 1;
            Err::<(), ()>(())
        });
        calls
    };
    let instant = testing::instant();
    assert_eq!(calls(policy), 4);
    let off = testing::no_retries();
    assert_eq!(calls(policy), 1);
    drop(off);
    assert_eq!(calls(policy), 4);
    drop(instant);
}

#[test]
fn the_last_guard_switches_back_even_when_a_test_panics() {
    let _turn = alone();
    let budget = RetryBudget::new();
    let outer = testing::instant();
    let inner = testing::instant();
    drop(outer);
    assert_eq!(
        decided(Decision::Retry, &budget),
        Err((Reason::AttemptsUsedUp, 3))
    );
    assert_eq!(noted(), []);
    let panicked = std::panic::catch_unwind(move || {
        let _inner = inner;
        panic!("a failed assertion");
    });
    assert!(panicked.is_err());
    assert_eq!(
        decided(Decision::Retry, &budget),
        Err((Reason::AttemptsUsedUp, 3))
    );
    assert_eq!(noted(), [HOUR_MS, HOUR_MS].map(Duration::from_millis));
}
