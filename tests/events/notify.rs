//! `notify`, and the one type of event that it shares with every observer.

use std::{cell::RefCell, fmt::Display, future::pending, panic, time::Duration};

use retry_runtime::{
    CancelToken, CircuitBreaker, CircuitOpen, Decision, Event, Outcome, Policy, Reason,
    RetryBudget, Step, retryable, testing,
};
use tokio::time::timeout;

thread_local! {
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static SLEPT: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
}

fn tell<E: Display>(event: &Event<'_, E>) {
    let error = event.error.map_or(String::from("-"), ToString::to_string);
    let of = event.max.map_or(String::new(), |max| format!("/{max}"));
    let what = match event.step {
        Step::Retry { wait, .. } => format!("{wait:?}"),
        Step::End(outcome) => outcome.to_string(),
        _ => String::from("?"),
    };
    TOLD.with_borrow_mut(|told| told.push(format!("{}{of} {error}: {what}", event.attempt)));
}

fn told() -> Vec<String> {
    TOLD.take()
}

fn sleep(wait: Duration) {
    SLEPT.with_borrow_mut(|slept| slept.push(wait));
}

/// C118, avast/retry-go#31 and denoland/std#7297: the hook fired after the last failure too, and the
/// delay it was given was not the one slept.
#[test]
fn each_retry_is_told_before_its_wait_and_the_end_once() {
    #[retryable(max = 3, base_ms = 10, jitter = "none", on = "any", notify = tell, sleep = sleep)]
    fn down() -> Result<(), &'static str> {
        tell_attempt();
        Err("down")
    }
    fn tell_attempt() {
        let slept = SLEPT.take();
        TOLD.with_borrow_mut(|told| told.push(format!("slept {slept:?}")));
    }
    assert_eq!(down(), Err("down"));
    assert_eq!(
        told(),
        [
            "slept []",
            "1/3 down: 10ms",
            "slept [10ms]",
            "2/3 down: 20ms",
            "slept [20ms]",
            "3/3 down: attempts used up",
        ]
    );
    assert_eq!(SLEPT.take(), []);
}

#[test]
fn what_is_told_may_count_by_itself() {
    fn counting(counts: &RefCell<Vec<u32>>) -> impl FnMut(&Event<'_, &'static str>) {
        let mut told = 0;
        move |event| {
            told += event.attempt;
            counts.borrow_mut().push(told);
        }
    }
    #[retryable(max = 3, backoff = "none", on = "any", notify = counting(counts))]
    fn down(counts: &RefCell<Vec<u32>>) -> Result<(), &'static str> {
        Err("down")
    }
    let counts = RefCell::default();
    down(&counts).unwrap_err();
    assert_eq!(counts.take(), [1, 3, 6]);
}

/// C117, avast/retry-go#113: the number began at 0 or at 1, depending on whether there was a limit.
#[test]
fn attempts_are_numbered_from_one_with_and_without_a_limit() {
    #[retryable(max = 4, backoff = "none", on = "any", notify = tell)]
    fn limited(left: &mut u32) -> Result<(), &'static str> {
        fails(left)
    }
    #[retryable(max = "unlimited", backoff = "none", on = "any", notify = tell)]
    fn unlimited(left: &mut u32) -> Result<(), &'static str> {
        fails(left)
    }
    fn fails(left: &mut u32) -> Result<(), &'static str> {
        *left = left
            .checked_sub(1)
            .map_or(Ok(0), |left| if left == 0 { Ok(0) } else { Ok(left) })?;
        if *left == 0 { Ok(()) } else { Err("busy") }
    }
    limited(&mut 3).unwrap();
    assert_eq!(told(), ["1/4 busy: 0ns", "2/4 busy: 0ns", "3/4 -: success"]);
    unlimited(&mut 3).unwrap();
    assert_eq!(told(), ["1 busy: 0ns", "2 busy: 0ns", "3 -: success"]);
}

/// C119, sindresorhus/p-retry#11: "0 left" and then a success all the same. C120,
/// jleinenbach/GoogleFindMy-HA#990: the log said 1/6 where seven calls were possible.
#[test]
fn the_most_that_is_told_is_the_number_of_calls_that_can_follow() {
    let mut left = Vec::new();
    let mut calls = 0;
    {
        let left = RefCell::new(&mut left);
        #[retryable(
            max = 4, backoff = "none", on = "any",
            notify = |event| left.borrow_mut().push((event.attempt, event.max.unwrap() - event.attempt))
        )]
        fn fourth(calls: &mut u32, left: &RefCell<&mut Vec<(u32, u32)>>) -> Result<(), ()> {
            *calls += 1;
            if *calls == 4 { Ok(()) } else { Err(()) }
        }
        fourth(&mut calls, &left).unwrap();
    }
    assert_eq!(left, [(1, 3), (2, 2), (3, 1), (4, 0)]);
}

/// A function in a field, a closure that changes what the body does not use, and one that reads what
/// an async body reads.
#[tokio::test(start_paused = true)]
async fn notify_is_any_function_of_an_event() {
    struct Client {
        listener: fn(&Event<'_, &'static str>),
    }
    impl Client {
        #[retryable(max = 2, base_ms = 1, jitter = "none", on = "any", notify = self.listener)]
        async fn down(&self) -> Result<(), &'static str> {
            Err("down")
        }

        #[retryable(max = 2, backoff = "none", on = "any", notify = |event| seen.push(event.attempt))]
        fn counted(&mut self, seen: &mut Vec<u32>) -> Result<(), &'static str> {
            Err("down")
        }
    }
    #[retryable(max = 2, base_ms = 1, on = "any", notify = |event| read(text, &given, event))]
    async fn lent(text: &str, given: String) -> Result<(), String> {
        Err(format!("{text} {given}"))
    }
    fn read(_: &str, _: &str, event: &Event<'_, String>) {
        tell(event);
    }
    let mut client = Client { listener: tell };
    tokio::spawn(async { lent("a", "b".into()).await.unwrap_err() })
        .await
        .unwrap();
    assert_eq!(told().len(), 2);
    client.down().await.unwrap_err();
    assert_eq!(told(), ["1/2 down: 1ms", "2/2 down: attempts used up"]);
    let mut seen = vec![0];
    client.counted(&mut seen).unwrap_err();
    assert_eq!(seen, [0, 1, 2]);
}

#[test]
fn a_success_at_once_is_an_end_too() {
    #[retryable(notify = tell, on = "any")]
    fn fine() -> Result<(), &'static str> {
        Ok(())
    }
    fine().unwrap();
    assert_eq!(told(), ["1/3 -: success"]);
}

/// Promise 1: nothing is evaluated before an attempt has failed, and no number told that is not known.
#[test]
fn a_number_that_is_evaluated_at_run_time_is_told_after_the_first_failure() {
    fn max(evaluated: &std::cell::Cell<u32>) -> u32 {
        evaluated.set(evaluated.get() + 1);
        2
    }
    #[retryable(max = max(evaluated), backoff = "none", on = "any", notify = tell)]
    fn fails(
        failures: u32,
        calls: &mut u32,
        evaluated: &std::cell::Cell<u32>,
    ) -> Result<(), &'static str> {
        *calls += 1;
        if *calls > failures {
            Ok(())
        } else {
            Err("down")
        }
    }
    let evaluated = std::cell::Cell::new(0);
    fails(0, &mut 0, &evaluated).unwrap();
    assert_eq!((told(), evaluated.take()), (vec!["1 -: success".into()], 0));
    fails(1, &mut 0, &evaluated).unwrap();
    assert_eq!(told(), ["1/2 down: 0ns", "2/2 -: success"]);
    assert_eq!(evaluated.take(), 1);
}

#[test]
fn a_value_that_is_not_final_is_no_error() {
    #[retryable(max = 2, backoff = "none", until(Some(_)), notify = tell)]
    fn empty() -> Option<()> {
        None
    }
    #[retryable(max = 2, backoff = "none", until = |n| *n > 1, on = "any", notify = tell)]
    fn results(n: &mut u32) -> Result<u32, String> {
        *n += 1;
        if *n == 1 { Ok(1) } else { Err("late".into()) }
    }
    assert_eq!(empty(), None);
    assert_eq!(told(), ["1/2 -: 0ns", "2/2 -: attempts used up"]);
    assert_eq!(results(&mut 0), Err("late".into()));
    assert_eq!(told(), ["1/2 -: 0ns", "2/2 late: attempts used up"]);
}

/// The text of the error that `notify` takes as it is.
#[derive(Debug, PartialEq, Eq)]
enum Refused {
    Busy(Decision),
    Open,
}

impl Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl From<CircuitOpen> for Refused {
    fn from(_: CircuitOpen) -> Self {
        Self::Open
    }
}

#[test]
fn each_reason_is_told() {
    fn says(error: &Refused) -> Decision {
        match error {
            Refused::Busy(decision) => *decision,
            Refused::Open => Decision::Stop,
        }
    }
    let _time = testing::virtual_time();
    let budget = RetryBudget::new().ratio(0.0).min_per_second(0);
    let plenty = RetryBudget::new();
    let shut = CircuitBreaker::new();
    shut.force_open();
    let fine = CircuitBreaker::new();
    let (cancelled, running) = (CancelToken::new(), CancelToken::new());
    cancelled.cancel();

    #[retryable(
        max = max, base_ms = 1_000, jitter = "none", deadline_ms = deadline, hint_cap_ms = 10,
        on = says, budget = budget, breaker = breaker, cancel = cancel, notify = tell
    )]
    fn call(
        decision: Decision,
        max: u32,
        deadline: u64,
        budget: &RetryBudget,
        breaker: &CircuitBreaker,
        cancel: &CancelToken,
    ) -> Result<(), Refused> {
        Err(Refused::Busy(decision))
    }
    let end = |decision, max, deadline, budget: &_, breaker: &_, cancel: &_| {
        call(decision, max, deadline, budget, breaker, cancel).unwrap_err();
        let mut told = told();
        (
            told.len(),
            told.pop().unwrap().rsplit(": ").next().unwrap().to_string(),
        )
    };
    let ended = |events: usize, reason: &str| (events, String::from(reason));
    let far = 3_600_000;
    use Decision::{Retry, RetryAfter, Stop};
    assert_eq!(
        end(Stop, 2, far, &plenty, &fine, &running),
        ended(1, "not retryable")
    );
    assert_eq!(
        end(Retry, 2, far, &plenty, &fine, &running),
        ended(2, "attempts used up")
    );
    assert_eq!(
        end(Retry, 2, 900, &plenty, &fine, &running),
        ended(1, "deadline")
    );
    let long = RetryAfter(Duration::from_secs(1));
    assert_eq!(
        end(long, 2, far, &plenty, &fine, &running),
        ended(1, "hint too long")
    );
    assert_eq!(
        end(Retry, 2, far, &budget, &fine, &running),
        ended(1, "budget")
    );
    assert_eq!(
        end(Retry, 2, far, &plenty, &shut, &running),
        ended(1, "breaker")
    );
    assert_eq!(
        end(Retry, 2, far, &plenty, &fine, &cancelled),
        ended(1, "cancelled")
    );
}

/// No attempt was made, and none is counted.
#[test]
fn a_call_that_the_breaker_refuses_at_once_ends_with_attempt_zero() {
    let breaker = CircuitBreaker::new();
    breaker.force_open();
    #[retryable(on = |error| *error != Refused::Open, breaker = breaker, notify = tell)]
    fn call(breaker: &CircuitBreaker) -> Result<(), Refused> {
        Ok(())
    }
    call(&breaker).unwrap_err();
    assert_eq!(told(), ["0/3 Open: breaker"]);
}

#[retryable(base_ms = 1_000, jitter = "none", on = "any", notify = tell)]
async fn task(attempts_end: bool) -> Result<(), &'static str> {
    if attempts_end {
        Err("down")
    } else {
        pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_future_dropped_in_its_wait_or_in_an_attempt_tells_so_once() {
    let short = Duration::from_millis(1_500);
    timeout(short, task(true)).await.unwrap_err();
    assert_eq!(told(), ["1/3 down: 1s", "2/3 down: 2s", "2/3 -: dropped"]);
    timeout(short, task(false)).await.unwrap_err();
    assert_eq!(told(), ["1/3 -: dropped"]);
    drop(task(true));
    // it has not begun
    assert_eq!(told(), Vec::<String>::new());
}

#[test]
fn a_panic_of_the_body_is_an_end_of_its_own() {
    #[retryable(backoff = "none", on = "any", notify = tell)]
    fn second(calls: &mut u32) -> Result<(), &'static str> {
        *calls += 1;
        assert!(*calls < 2, "a panic that belongs to this test");
        Err("down")
    }
    let mut calls = 0;
    panic::catch_unwind(panic::AssertUnwindSafe(|| second(&mut calls))).unwrap_err();
    assert_eq!(told(), ["1/3 down: 0ns", "2/3 -: panicked"]);
}

/// A hook that fails is the caller's fault to see, and is not told about itself.
#[test]
fn a_panic_of_notify_passes_through_and_is_not_told_to_it() {
    fn fails(event: &Event<'_, &str>) {
        tell(event);
        panic!("a panic that belongs to this test");
    }
    #[retryable(backoff = "none", on = "any", notify = fails)]
    fn down() -> Result<(), &'static str> {
        Err("down")
    }
    panic::catch_unwind(down).unwrap_err();
    assert_eq!(told(), ["1/3 down: 0ns"]);
}

#[tokio::test(start_paused = true)]
async fn elapsed_goes_by_the_clock_of_the_call() {
    let recording = testing::on_this_thread::record();
    task(true).await.unwrap_err();
    let elapsed: Vec<_> = recording
        .events()
        .iter()
        .map(|event| event.elapsed)
        .collect();
    assert_eq!(elapsed, [0, 1, 3].map(Duration::from_secs));
    told();
}

/// Without a promise by the type, the best text that it has.
#[test]
fn the_observer_sees_an_error_by_the_best_that_its_type_can_do() {
    struct Nothing;
    #[derive(Debug)]
    struct Debugged;

    #[retryable(max = 1, on = "any")]
    fn error() -> std::io::Result<()> {
        Err(std::io::Error::other("disk"))
    }
    #[retryable(max = 1, on = "any")]
    fn displayed() -> Result<(), String> {
        Err("text".into())
    }
    #[retryable(max = 1, on = "any")]
    fn borrowed(text: &str) -> Result<(), &str> {
        Err(text)
    }
    #[retryable(max = 1, on = "any")]
    fn debugged() -> Result<(), Debugged> {
        Err(Debugged)
    }
    #[retryable(max = 1, on = "any")]
    fn nothing() -> Result<(), Nothing> {
        Err(Nothing)
    }
    #[retryable(max = 1, on = "any")]
    fn parameter<E: Clone>(error: E) -> Result<(), (E, u8)> {
        Err((error.clone(), 1))
    }
    #[retryable(max = 1, on = "any", clone(error))]
    fn bounded<E: Display + Clone>(error: E) -> Result<(), E> {
        Err(error)
    }
    let recording = testing::on_this_thread::record();
    _ = (
        error(),
        displayed(),
        borrowed("lent"),
        debugged(),
        nothing(),
    );
    _ = (parameter("x"), bounded("by its bound"));
    let errors: Vec<String> = recording
        .events()
        .into_iter()
        .filter_map(|event| event.error)
        .collect();
    let [.., by_name, tuple, _] = errors.as_slice() else {
        panic!("{errors:?}")
    };
    assert_eq!(errors[..4], ["disk", "text", "lent", "Debugged"]);
    assert!(by_name.ends_with("Nothing"), "{by_name}");
    assert_eq!(tuple, "(&str, u8)");
    assert_eq!(errors[6], "by its bound");
}

#[test]
fn closures_are_told_of_too_by_their_name() {
    let recording = testing::on_this_thread::record();
    let quick = Policy::new().max(2).base_ms(0).on(|_: &&str| true);
    quick.retry(|| Err::<(), _>("down")).unwrap_err();
    quick.named("lookup").retry(|| Ok::<_, &str>(())).unwrap();
    let calls: Vec<_> = recording
        .calls()
        .iter()
        .map(|call| (call.name(), call.attempts(), call.outcome()))
        .collect();
    let used_up = Some(Outcome::Failure(Reason::AttemptsUsedUp));
    let success = Some(Outcome::Success);
    assert_eq!(
        calls,
        [("Policy::retry", 2, used_up), ("lookup", 1, success)]
    );
}

#[test]
fn an_event_reads_as_a_line_of_a_log() {
    #[retryable(max = 2, base_ms = 200, jitter = "none", on = "any", name = "fetch")]
    fn down() -> Result<(), &'static str> {
        Err("no answer")
    }
    let _time = testing::virtual_time();
    let recording = testing::on_this_thread::record();
    down().unwrap_err();
    assert_eq!(
        recording.calls()[0].to_string(),
        "fetch: attempt 1/2 failed: no answer; the next one in 200ms\n\
         fetch: attempts used up after attempt 2/2, 200ms: no answer\n"
    );
}
