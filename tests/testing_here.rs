//! Promise 24: the switches for one thread. These tests run in parallel, and do not disturb one
//! another.

use std::{fmt, sync::mpsc::sync_channel, thread, time::Duration};

use retry_runtime::{
    BreakerState, CancelToken, CircuitBreaker, CircuitOpen, Jitter, Outcome, Policy, Reason,
    RetryBudget, retryable, testing,
};

const HOUR_MS: u64 = 3_600_000;

#[retryable(max = 4, base_ms = HOUR_MS, cap_ms = HOUR_MS, on = "any")]
fn down() -> Result<(), &'static str> {
    Err("down")
}

fn millis(waits: &[Duration]) -> Vec<u128> {
    waits.iter().map(Duration::as_millis).collect()
}

/// The other thread would wait for an hour if the switch were its own; it is found waiting.
#[test]
fn a_switch_for_this_thread_is_for_no_other() {
    let cancel = CancelToken::new();
    #[retryable(base_ms = HOUR_MS, cap_ms = HOUR_MS, jitter = "none", on = "any", cancel = cancel)]
    fn cancelled(cancel: &CancelToken) -> Result<(), &'static str> {
        Err("down")
    }
    let _instant = testing::on_this_thread::instant();
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let _off = testing::on_this_thread::no_retries();
            down().unwrap_err();
        });
        other.join().unwrap();
        let other = scope.spawn(|| cancelled(&cancel));
        while cancel.listeners() == 0 {
            thread::yield_now();
        }
        cancelled(&CancelToken::new()).unwrap_err();
        cancel.cancel();
        other.join().unwrap().unwrap_err();
    });
}

#[test]
fn a_switch_for_this_thread_is_undone_by_its_guard() {
    let recording = testing::on_this_thread::record();
    let _time = testing::virtual_time();
    let off = testing::on_this_thread::no_retries();
    down().unwrap_err();
    drop(off);
    let instant = testing::on_this_thread::instant();
    down().unwrap_err();
    drop(instant);
    let pinned = testing::on_this_thread::pin_jitter(1.0);
    down().unwrap_err();
    drop(pinned);
    let waits: Vec<_> = recording
        .calls()
        .iter()
        .map(|call| millis(&call.waits()))
        .collect();
    assert_eq!(waits, [vec![], vec![0; 3], vec![u128::from(HOUR_MS); 3]]);
}

#[test]
fn jitter_is_pinned_within_its_own_range() {
    let _time = testing::virtual_time();
    let waits = |jitter, share| {
        let _pinned = testing::on_this_thread::pin_jitter(share);
        let recording = testing::on_this_thread::record();
        let policy = Policy::new().max(3).base_ms(100).jitter(jitter);
        policy
            .on(|_: &()| true)
            .retry(|| Err::<(), ()>(()))
            .unwrap_err();
        millis(&recording.waits())
    };
    for (jitter, least, middle, most) in [
        (Jitter::Full, [0, 0], [50, 100], [100, 200]),
        (Jitter::Equal, [50, 100], [75, 150], [100, 200]),
        (Jitter::Ratio(0.2), [80, 160], [90, 180], [100, 200]),
        (Jitter::None, [100, 200], [100, 200], [100, 200]),
        (Jitter::Decorrelated, [100, 100], [200, 350], [300, 900]),
    ] {
        assert_eq!(waits(jitter, 0.0), least, "{jitter:?}");
        assert_eq!(waits(jitter, 0.5), middle, "{jitter:?}");
        assert_eq!(waits(jitter, 1.0), most, "{jitter:?}");
        assert_eq!(waits(jitter, 7.0), most, "{jitter:?}");
        assert_eq!(waits(jitter, f64::NAN), least, "{jitter:?}");
    }
}

#[test]
fn the_newest_pin_counts_and_each_guard_takes_its_own_away() {
    let waits = || {
        let _time = testing::virtual_time();
        let recording = testing::on_this_thread::record();
        down().unwrap_err();
        millis(&recording.waits())[0]
    };
    let first = testing::on_this_thread::pin_jitter(0.25);
    let second = testing::on_this_thread::pin_jitter(0.5);
    assert_eq!(waits(), u128::from(HOUR_MS / 2));
    drop(first);
    assert_eq!(waits(), u128::from(HOUR_MS / 2));
    drop(second);
    let third = testing::on_this_thread::pin_jitter(0.0);
    assert_eq!(waits(), 0);
    drop(third);
}

#[test]
fn time_goes_on_when_the_last_of_several_guards_is_dropped_in_any_order() {
    let first = testing::virtual_time();
    testing::advance(Duration::from_secs(1));
    let second = testing::virtual_time();
    testing::advance(Duration::from_secs(2));
    assert_eq!(
        (first.elapsed(), second.elapsed()),
        (Duration::from_secs(3), Duration::from_secs(2))
    );
    drop(first);
    testing::advance(Duration::from_secs(4));
    assert_eq!(second.elapsed(), Duration::from_secs(6));
    drop(second);
    // where time is not virtual, it can not be advanced
    testing::advance(Duration::from_secs(8));
    assert_eq!(testing::virtual_time().elapsed(), Duration::ZERO);
    let wait = Duration::from_millis(20);
    let policy = Policy::new().max(2).base(wait).jitter(Jitter::None);
    let recording = testing::on_this_thread::record();
    policy
        .on(|_: &()| true)
        .retry(|| Err::<(), ()>(()))
        .unwrap_err();
    assert!(recording.events()[1].elapsed >= wait);
}

#[derive(Debug, PartialEq, Eq)]
enum Refused {
    Down,
    Open,
}

impl From<CircuitOpen> for Refused {
    fn from(_: CircuitOpen) -> Self {
        Self::Open
    }
}

/// Everything that goes by time goes by the virtual one.
#[test]
fn time_passes_by_waiting_for_deadlines_breakers_and_budgets() {
    let breaker = CircuitBreaker::new()
        .window(2)
        .min_calls(2)
        .open_for(Duration::from_secs(60));
    let budget = RetryBudget::new()
        .ratio(0.0)
        .min_per_second(1)
        .window(Duration::from_secs(1));
    #[retryable(
        max = "unlimited", base_ms = 1_000, backoff = "fixed", jitter = "none",
        deadline_ms = 600_000, on = |error| *error == Refused::Down, budget = budget
    )]
    fn paid(budget: &RetryBudget) -> Result<(), Refused> {
        Err(Refused::Down)
    }
    #[retryable(max = 1, on = "any", breaker = breaker)]
    fn guarded(breaker: &CircuitBreaker) -> Result<(), Refused> {
        Err(Refused::Down)
    }
    let time = testing::virtual_time();
    let recording = testing::on_this_thread::record();
    // one retry in a second is paid for, one tenth of a second late
    paid(&budget).unwrap_err();
    let call = &recording.calls()[0];
    assert_eq!(call.outcome(), Some(Outcome::Failure(Reason::Budget)));
    testing::advance(Duration::from_secs(10));
    assert_eq!(budget.available(), 1);

    assert_eq!(guarded(&breaker), Err(Refused::Down));
    assert_eq!(guarded(&breaker), Err(Refused::Down));
    assert_eq!(breaker.state(), BreakerState::Open);
    testing::advance(Duration::from_secs(59));
    assert_eq!(guarded(&breaker), Err(Refused::Open));
    testing::advance(Duration::from_secs(1));
    assert_eq!(guarded(&breaker), Err(Refused::Down));
    assert!(time.elapsed() >= Duration::from_secs(70));
}

#[test]
fn an_unlimited_call_ends_at_its_deadline_without_waiting_for_it() {
    #[retryable(
        max = "unlimited",
        base_ms = 1_000,
        backoff = "fixed",
        jitter = "none",
        deadline_ms = 3_600_000,
        on = "any"
    )]
    fn ping(calls: &mut u32) -> Result<(), &'static str> {
        *calls += 1;
        Err("no answer")
    }
    let time = testing::virtual_time();
    let mut calls = 0;
    ping(&mut calls).unwrap_err();
    assert_eq!((calls, time.elapsed()), (3_600, Duration::from_secs(3_599)));
}

#[test]
fn a_sleep_function_is_not_called_and_a_cancelled_wait_ends() {
    fn never(_: Duration) {
        panic!("a real wait");
    }
    #[retryable(base_ms = HOUR_MS, cap_ms = HOUR_MS, jitter = "none", on = "any", sleep = never)]
    fn asleep() -> Result<(), &'static str> {
        Err("down")
    }
    #[retryable(base_ms = HOUR_MS, cap_ms = HOUR_MS, jitter = "none", on = "any", cancel = cancel)]
    fn waits(cancel: &CancelToken) -> Result<(), &'static str> {
        Err("down")
    }
    let time = testing::virtual_time();
    asleep().unwrap_err();
    waits(&CancelToken::new()).unwrap_err();
    assert_eq!(time.elapsed(), Duration::from_millis(4 * HOUR_MS));
    drop(time);
    // it goes on
    testing::advance(Duration::from_secs(1));
    let inner = testing::virtual_time();
    assert_eq!(inner.elapsed(), Duration::ZERO);
}

/// Async functions on the test's own runtime are calls on its thread.
#[tokio::test(start_paused = true)]
async fn tasks_on_this_thread_are_switched_and_recorded_too() {
    #[retryable(max = 3, base_ms = 1_000, on = "any")]
    async fn task() -> Result<(), &'static str> {
        Err("down")
    }
    let recording = testing::on_this_thread::record();
    let _longest = testing::on_this_thread::pin_jitter(1.0);
    tokio::spawn(task()).await.unwrap().unwrap_err();
    assert_eq!(millis(&recording.waits()), [1_000, 2_000]);
    let _off = testing::on_this_thread::no_retries();
    task().await.unwrap_err();
    assert_eq!(recording.calls_of("task")[1].attempts(), 1);
}

#[test]
fn a_recording_of_the_process_sees_other_threads_and_one_of_a_thread_does_not() {
    #[retryable(max = 2, backoff = "none", on = "any")]
    fn elsewhere() -> Result<(), &'static str> {
        Err("down")
    }
    let everywhere = testing::record();
    let here = testing::on_this_thread::record();
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        elsewhere().unwrap_err();
        sender.send(()).unwrap();
    });
    receiver.recv().unwrap();
    assert_eq!(everywhere.calls_of("elsewhere").len(), 1);
    assert_eq!(here.calls_of("elsewhere").len(), 0);
    assert_eq!(everywhere.calls_of("else").len(), 0);
}

/// An error whose text is asked for from somewhere.
struct Remote;

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[retryable(max = 2, backoff = "none", on = "any", name = "text")]
        fn text() -> Result<(), &'static str> {
            Err("no text")
        }
        f.write_str(text().unwrap_err())
    }
}

#[test]
fn the_text_of_a_recorded_error_may_make_calls_that_are_recorded_too() {
    #[retryable(max = 1, on = "any", name = "remote")]
    fn remote() -> Result<(), Remote> {
        Err(Remote)
    }
    let recording = testing::on_this_thread::record();
    assert!(remote().is_err());
    assert_eq!(recording.calls_of("text")[0].attempts(), 2);
    assert_eq!(recording.calls_of("remote")[0].errors(), ["no text"]);
}

/// Where each event is looked for among all calls, this takes minutes.
#[test]
fn many_recorded_calls_are_put_in_order_in_no_time() {
    let recording = testing::on_this_thread::record();
    for _ in 0..100_000 {
        let call = Policy::new().on(|_: &()| false).retry(|| Ok::<(), ()>(()));
        assert_eq!(call, Ok(()));
    }
    assert_eq!(recording.calls().len(), 100_000);
}
