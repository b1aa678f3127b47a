//! Keys beside one another: each keeps what it promises by itself.

use std::{rc::Rc, sync::Arc, time::Duration};

use async_trait::async_trait;
use retry_runtime::{
    Attempt, AttemptTimeout, CancelToken, CircuitBreaker, CircuitOpen, Decision, Failure, Jitter,
    Policy, Reason, RetryBudget, retryable,
};
use tokio::time::sleep;

use crate::support::{Failed, Log, ms, need_send, note, noted, secs};

/// All limits of a call, each of them far away.
struct Limits {
    deadline: Duration,
    timeout: Duration,
    token: CancelToken,
    budget: RetryBudget,
    breaker: CircuitBreaker,
    policy: Policy,
}

impl Limits {
    fn far() -> Self {
        Self {
            deadline: secs(3_600),
            timeout: secs(60),
            token: CancelToken::new(),
            budget: RetryBudget::new(),
            breaker: CircuitBreaker::new(),
            policy: Policy::new().base_ms(100).jitter(Jitter::None),
        }
    }
}

/// Two keys on a function, a task and a method; the third attempt succeeds.
macro_rules! pair {
    ($name:ident: |$limits:ident, $log:ident| $($key:tt)*) => {
        #[tokio::test(start_paused = true)]
        async fn $name() {
            #[retryable(base_ms = 20, backoff = "fixed", jitter = "none", $($key)*)]
            async fn task($limits: &Limits, $log: &Log) -> Result<u32, Failed> {
                assert!(!$limits.token.is_cancelled());
                let number = $log.attempt();
                sleep(ms(10)).await;
                if number < 3 { Err(Failed::Busy(number)) } else { Ok(number) }
            }
            let ($limits, $log) = (Limits::far(), Log::start());
            assert_eq!(need_send(task(&$limits, &$log)).await, Ok(3));
            assert_eq!($log.begun_ms(), [0, 30, 60]);
            assert_eq!($limits.token.listeners(), 0);
        }
    };
}

/// The same, where a function that blocks can have them too.
macro_rules! pair_of_both {
    ($name:ident: |$limits:ident, $log:ident| $($key:tt)*) => {
        pair!($name: |$limits, $log| $($key)*);

        mod $name {
            use super::*;

            #[test]
            fn blocking() {
                #[retryable(backoff = "none", $($key)*)]
                fn call($limits: &Limits, $log: &Log) -> Result<u32, Failed> {
                    assert!(!$limits.token.is_cancelled());
                    $log.succeed_at(3)
                }
                let ($limits, $log) = (Limits::far(), Log::start());
                assert_eq!(call(&$limits, &$log), Ok(3));
                assert_eq!($log.calls(), 3);
                assert_eq!($limits.token.listeners(), 0);
            }
        }
    };
}

mod pairs {
    use super::*;

    pair!(deadline_timeout: |l, log| deadline_ms = 5_000, timeout_ms = 1_000);
    pair!(timeout_budget: |l, log| timeout_ms = 1_000, budget = l.budget);
    pair!(timeout_breaker: |l, log| timeout_ms = 1_000, breaker = l.breaker);
    pair!(timeout_cancel: |l, log| timeout_ms = 1_000, cancel = l.token);
    pair!(timeout_attempt: |l, log| timeout_ms = 1_000, attempt = a);
    pair!(timeout_recover: |l, log| timeout_ms = 1_000, recover = |f| log.end(f));
    pair!(timeout_hint: |l, log| timeout_ms = 1_000, hint_cap_ms = 5);
    pair!(timeout_until: |l, log| timeout_ms = 1_000, until(3..), on = "any");
    pair_of_both!(deadline_budget: |l, log| deadline_ms = 5_000, budget = l.budget);
    pair_of_both!(deadline_breaker: |l, log| deadline_ms = 5_000, breaker = l.breaker);
    pair_of_both!(deadline_cancel: |l, log| deadline_ms = 5_000, cancel = l.token);
    pair_of_both!(deadline_attempt: |l, log| deadline_ms = 5_000, attempt = a);
    pair_of_both!(deadline_recover: |l, log| deadline_ms = 5_000, recover = |f| log.end(f));
    pair_of_both!(deadline_hint: |l, log| deadline_ms = 5_000, hint_cap_ms = 5);
    pair_of_both!(deadline_until: |l, log| deadline_ms = 5_000, until(3..), on = "any");
    pair_of_both!(budget_breaker: |l, log| budget = l.budget, breaker = l.breaker);
    pair_of_both!(budget_cancel: |l, log| budget = l.budget, cancel = l.token);
    pair_of_both!(budget_attempt: |l, log| budget = l.budget, attempt = a);
    pair_of_both!(budget_recover: |l, log| budget = l.budget, recover = |f| log.end(f));
    pair_of_both!(budget_hint: |l, log| budget = l.budget, hint_cap_ms = 5);
    pair_of_both!(budget_until: |l, log| budget = l.budget, until(3..), on = "any");
    pair_of_both!(breaker_cancel: |l, log| breaker = l.breaker, cancel = l.token);
    pair_of_both!(breaker_attempt: |l, log| breaker = l.breaker, attempt = a);
    pair_of_both!(breaker_recover: |l, log| breaker = l.breaker, recover = |f| log.end(f));
    pair_of_both!(breaker_hint: |l, log| breaker = l.breaker, hint_cap_ms = 5);
    pair_of_both!(breaker_until: |l, log| breaker = l.breaker, until(3..), on = "any");
    pair_of_both!(cancel_attempt: |l, log| cancel = l.token, attempt = a);
    pair_of_both!(cancel_recover: |l, log| cancel = l.token, recover = |f| log.end(f));
    pair_of_both!(cancel_hint: |l, log| cancel = l.token, hint_cap_ms = 5);
    pair_of_both!(cancel_until: |l, log| cancel = l.token, until(3..), on = "any");
    pair_of_both!(attempt_recover: |l, log| attempt = a, recover_all = |f| log.end(f));
    pair_of_both!(attempt_hint: |l, log| attempt = a, hint_cap_ms = 5);
    pair_of_both!(attempt_until: |l, log| attempt = a, until(3..), on = "any");
    pair_of_both!(recover_hint: |l, log| recover_all = |f| log.end(f), hint_cap_ms = 5);
    pair_of_both!(recover_until: |l, log| recover = |f| log.end(f), until(3..), on = "any");
    pair_of_both!(hint_until: |l, log| hint_cap_ms = 5, until(3..), on = "any");
}

/// Every key at once.
#[retryable(
    policy = limits.policy, on = |error: &Failed| decide(*error), except(Failed::Wrong(_)),
    until = |value: &u32| *value > 0, deadline_ms = limits.deadline.as_millis(),
    timeout_ms = limits.timeout.as_millis(), hint_cap_ms = 1_000, budget = limits.budget,
    breaker = limits.breaker, cancel = limits.token, attempt = attempt, clone(body), keep(sent),
    name = "all", recover_all = |failure| log.end(failure)
)]
async fn all(
    limits: &Limits,
    answers: &[Answer],
    body: String,
    mut sent: Vec<(String, Attempt)>,
    log: &Log,
) -> Result<u32, Failed> {
    sent.push((body, attempt));
    let number = usize::try_from(log.attempt()).unwrap();
    assert_eq!(
        (sent.len(), attempt.number()),
        (number, number.try_into().unwrap())
    );
    match answers.get(number - 1).or(answers.last()).unwrap() {
        Answer::Value(value) => Ok(*value),
        Answer::Error(error) => Err(*error),
        Answer::Never => std::future::pending().await,
    }
}

#[derive(Clone, Copy)]
enum Answer {
    Value(u32),
    Error(Failed),
    Never,
}

use Answer::{Error, Never, Value};

const BUSY: Answer = Error(Failed::Busy(0));

fn decide(error: Failed) -> Decision {
    match error {
        Failed::Busy(0) | Failed::TimedOut(_) => Decision::Retry,
        Failed::Busy(1) => Decision::RetryNow,
        Failed::Busy(seconds) => Decision::RetryAfter(secs(seconds.into())),
        Failed::Wrong(_) | Failed::Open(_) => Decision::Stop,
    }
}

async fn run(limits: &Limits, answers: &[Answer]) -> (Result<u32, Failed>, Log) {
    let log = Log::start();
    let body = String::from("body");
    let outcome = all(limits, answers, body, vec![], &log).await;
    (outcome, log)
}

#[tokio::test(start_paused = true)]
async fn with_every_key_a_call_ends_for_the_reason_that_comes_first() {
    let with = |policy: Policy| Limits {
        policy,
        ..Limits::far()
    };
    let near = || with(Limits::far().policy.max(9));
    let (outcome, log) = run(&near(), &[Value(7)]).await;
    assert_eq!((outcome, log.calls()), (Ok(7), 1));

    // failed, polled, timed out, retried at once, then done
    let answers = [BUSY, Value(0), Never, Error(Failed::Busy(1)), Value(7)];
    let (outcome, log) = run(&near(), &answers).await;
    assert_eq!(outcome, Ok(7));
    assert_eq!(log.begun_ms(), [0, 100, 300, 60_700, 60_700]);
    assert_eq!(log.reason(), None);

    let (outcome, log) = run(&near(), &[BUSY, Error(Failed::Wrong(5))]).await;
    assert_eq!(outcome, Err(Failed::Wrong(5)));
    assert_eq!(log.reason(), Some((Reason::NotRetryable, 2)));

    let (outcome, log) = run(&with(Limits::far().policy), &[BUSY]).await;
    assert_eq!(outcome, Err(Failed::Busy(0)));
    assert_eq!(log.reason(), Some((Reason::AttemptsUsedUp, 3)));

    let (outcome, log) = run(&near(), &[BUSY, Error(Failed::Busy(2))]).await;
    assert_eq!(outcome, Err(Failed::Busy(2)));
    assert_eq!(log.reason(), Some((Reason::HintTooLong, 2)));

    let limits = Limits {
        deadline: ms(250),
        ..near()
    };
    let (outcome, log) = run(&limits, &[BUSY]).await;
    assert_eq!(outcome, Err(Failed::Busy(0)));
    assert_eq!(log.reason(), Some((Reason::Deadline, 2)));
    let (outcome, log) = run(&limits, &[BUSY, Never]).await;
    assert_eq!(outcome, Err(Failed::TimedOut(ms(150))));
    assert_eq!(
        (log.reason(), log.elapsed()),
        (Some((Reason::Deadline, 2)), ms(250))
    );

    let limits = Limits {
        budget: RetryBudget::new().ratio(0.0).min_per_second(0),
        ..near()
    };
    let (outcome, log) = run(&limits, &[BUSY]).await;
    assert_eq!(outcome, Err(Failed::Busy(0)));
    assert_eq!(log.reason(), Some((Reason::Budget, 1)));

    let limits = Limits {
        breaker: CircuitBreaker::new().window(4).min_calls(4),
        ..near()
    };
    let (outcome, log) = run(&limits, &[BUSY]).await;
    // the fourth wait ago
    assert_eq!(outcome, Err(Failed::Open(Some(secs(60) - ms(800)))));
    assert_eq!(log.reason(), Some((Reason::Breaker, 4)));

    let limits = near();
    let cancelling = async {
        sleep(ms(500)).await;
        limits.token.cancel();
    };
    let ((outcome, log), ()) = tokio::join!(run(&limits, &[BUSY]), cancelling);
    assert_eq!(outcome, Err(Failed::Busy(0)));
    assert_eq!(log.reason(), Some((Reason::Cancelled, 3)));
    assert_eq!(log.elapsed(), ms(500));
    assert_eq!(limits.token.listeners(), 0);
}

#[tokio::test(start_paused = true)]
async fn with_every_key_a_call_can_move_between_threads() {
    let call = tokio::spawn(need_send(async {
        let (limits, log) = (Limits::far(), Log::start());
        all(&limits, &[BUSY, Value(3)], "body".into(), vec![], &log).await
    }));
    assert_eq!(call.await.unwrap(), Ok(3));
}

/// Where several reasons hold, the first of this order is given: not retryable, attempts used up,
/// cancelled, hint too long, deadline, budget.
#[test]
fn reasons_have_an_order() {
    #[retryable(
        max = max, on = |_| decision, deadline_ms = deadline, cancel = token, budget = budget,
        recover_all = |failure| log.end(failure)
    )]
    fn call(
        max: u32,
        decision: Decision,
        deadline: u64,
        token: &CancelToken,
        budget: &RetryBudget,
        log: &Log,
    ) -> Result<u32, Failed> {
        log.fail()
    }
    let (cancelled, token) = (CancelToken::new(), CancelToken::new());
    cancelled.cancel();
    let (hint, far) = (Decision::RetryAfter(Duration::MAX), 60_000);
    let empty = RetryBudget::new().ratio(0.0).min_per_second(0);
    for (max, decision, deadline, token, reason) in [
        (1, Decision::Stop, 0, &cancelled, Reason::NotRetryable),
        (1, hint, 0, &cancelled, Reason::AttemptsUsedUp),
        (2, hint, 0, &cancelled, Reason::Cancelled),
        (2, hint, 0, &token, Reason::HintTooLong),
        (2, Decision::Retry, 0, &token, Reason::Deadline),
        (2, Decision::RetryNow, far, &token, Reason::Budget),
    ] {
        let log = Log::start();
        let ended = call(max, decision, deadline, token, &empty, &log);
        assert_eq!(ended, Err(Failed::Busy(1)));
        assert_eq!(log.reason(), Some((reason, 1)));
    }
}

mod blocks {
    use super::*;

    struct Client {
        limits: Limits,
        log: Log,
    }

    #[retryable(
        max = "unlimited", base_ms = 100, backoff = "fixed", jitter = "none", deadline_ms = 350,
        cancel = self.limits.token, budget = self.limits.budget, breaker = self.limits.breaker,
        recover_all = |failure| self.log.end(failure)
    )]
    impl Client {
        async fn inherits(&self) -> Result<u32, Failed> {
            self.log.fail()
        }

        #[retryable(timeout_ms = 40, on = "any")]
        async fn adds(&self) -> Result<u32, Failed> {
            self.log.attempt();
            std::future::pending().await
        }

        #[retryable(deadline_ms = 150)]
        async fn overrides(&self) -> Result<u32, Failed> {
            self.log.fail()
        }

        #[retryable(base_ms = 0)]
        fn blocks(&self) -> Result<u32, Failed> {
            self.limits.token.cancel();
            self.log.fail()
        }
    }

    fn client() -> Client {
        Client {
            limits: Limits::far(),
            log: Log::start(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn limits_of_a_block_are_those_of_its_methods_unless_they_have_their_own() {
        let mut first = client();
        assert_eq!(need_send(first.inherits()).await, Err(Failed::Busy(4)));
        assert_eq!(first.log.reason(), Some((Reason::Deadline, 4)));
        first.log = Log::start();
        assert_eq!(first.overrides().await, Err(Failed::Busy(2)));
        assert_eq!(first.log.reason(), Some((Reason::Deadline, 2)));
        let second = client();
        assert_eq!(second.adds().await, Err(Failed::TimedOut(ms(40))));
        assert_eq!(second.log.begun_ms(), [0, 140, 280]);
        let third = client();
        assert_eq!(third.blocks(), Err(Failed::Busy(1)));
        assert_eq!(third.log.reason(), Some((Reason::Cancelled, 1)));
    }

    #[async_trait]
    trait Store {
        async fn get(&mut self, key: String) -> Result<u32, Failed>;
    }

    #[async_trait]
    impl Store for Client {
        #[retryable(
            max = 5, base_ms = 100, jitter = "none", timeout_ms = self.limits.timeout.as_millis(),
            deadline_ms = self.limits.deadline.as_millis(), cancel = self.limits.token,
            budget = self.limits.budget, breaker = self.limits.breaker, on = "any",
            attempt = attempt, recover_all = |failure| self.log.end(failure)
        )]
        async fn get(&mut self, key: String) -> Result<u32, Failed> {
            self.log.attempt();
            if attempt.is_last() {
                return Ok(key.len().try_into().unwrap());
            }
            std::future::pending().await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn methods_of_an_async_trait_have_all_of_them_by_self() {
        let mut client = client();
        client.limits.timeout = ms(50);
        assert_eq!(client.get("key".into()).await, Ok(3));
        assert_eq!(client.log.begun_ms(), [0, 150, 400, 850, 1_700]);
        client.limits.deadline = ms(170);
        client.log = Log::start();
        let failed = client.get("key".into()).await;
        assert_eq!(failed, Err(Failed::TimedOut(ms(20))));
        assert_eq!(client.log.reason(), Some((Reason::Deadline, 2)));
    }
}

#[tokio::test(start_paused = true)]
async fn each_of_two_nested_calls_has_its_own_limits() {
    #[retryable(
        max = "unlimited", base_ms = 100, backoff = "fixed", jitter = "none", deadline_ms = 250,
        on = "any",
        recover_all = |failure| Err(failure.reason)
    )]
    async fn inner(log: &Log) -> Result<u32, Reason> {
        log.attempt();
        Err(Reason::NotRetryable)
    }
    #[retryable(
        max = 2,
        base_ms = 1_000,
        jitter = "none",
        deadline_ms = 5_000,
        on = "any"
    )]
    async fn outer(log: &Log) -> Result<u32, Reason> {
        inner(log).await
    }
    let log = Log::start();
    assert_eq!(outer(&log).await, Err(Reason::Deadline));
    assert_eq!(log.begun_ms(), [0, 100, 200, 1_200, 1_300, 1_400]);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_an_outer_attempt_ends_an_inner_call() {
    #[retryable(max = "unlimited", base_ms = 100, backoff = "fixed", jitter = "none", cancel = token)]
    async fn inner(token: &CancelToken, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    #[retryable(max = 2, base_ms = 50, jitter = "none", timeout_ms = 250, on = "any")]
    async fn outer(token: &CancelToken, log: &Log) -> Result<u32, Failed> {
        inner(token, log).await
    }
    let (token, log) = (CancelToken::new(), Log::start());
    assert_eq!(outer(&token, &log).await, Err(Failed::TimedOut(ms(250))));
    assert_eq!(log.begun_ms(), [0, 100, 200, 300, 400, 500]);
    assert_eq!(token.listeners(), 0);
}

#[test]
fn generic_functions_have_limits() {
    #[retryable(
        max = N, backoff = "none", on = "any", deadline_ms = 60_000, breaker = breaker,
        budget = budget, recover = |failure: Failure<E>| Err(failure.error), attempt = attempt
    )]
    fn call<E, B, const N: u32>(
        mut body: impl FnMut(u32) -> Result<(), E>,
        breaker: &CircuitBreaker,
        budget: B,
    ) -> Result<(), E>
    where
        E: From<CircuitOpen>,
        B: std::borrow::Borrow<RetryBudget>,
    {
        body(attempt.number())
    }
    let mut seen = vec![];
    let breaker = CircuitBreaker::new();
    let body = |number| {
        seen.push(number);
        Err(Failed::Busy(number))
    };
    let failed = call::<_, _, 4>(body, &breaker, Arc::new(RetryBudget::new()));
    assert_eq!(failed, Err(Failed::Busy(4)));
    assert_eq!(seen, [1, 2, 3, 4]);
}

/// Whether a future is `Send`, asked at run time: the inherent method is there only if it is.
mod sending {
    use super::*;

    struct Probe<T>(T);

    impl<T: Send> Probe<T> {
        fn is_send(&self) -> bool {
            true
        }
    }

    trait Otherwise {
        fn is_send(&self) -> bool {
            false
        }
    }

    impl<T> Otherwise for &Probe<T> {}

    /// An error that must not leave its thread, made anew by each attempt.
    struct Local(Rc<str>);

    impl From<AttemptTimeout> for Local {
        fn from(timeout: AttemptTimeout) -> Self {
            Self(Rc::from(timeout.to_string()))
        }
    }

    impl From<CircuitOpen> for Local {
        fn from(open: CircuitOpen) -> Self {
            Self(Rc::from(open.to_string()))
        }
    }

    macro_rules! is_send {
        (|$limits:ident| $($key:tt)*) => {{
            #[retryable(
                base_ms = 5, on = |error: &Local| error.0.starts_with("busy"), $($key)*
            )]
            async fn call($limits: &Limits) -> Result<u32, Local> {
                sleep($limits.timeout).await;
                Err(Local(Rc::from("busy")))
            }
            let $limits = Limits::far();
            let probe = Probe(call(&$limits));
            (&probe).is_send()
        }};
    }

    #[test]
    fn other_limits_do_not_take_it_away() {
        assert!(is_send!(|limits| max = 3));
        assert!(is_send!(|limits| timeout_ms = 500));
        assert!(is_send!(|limits| budget = limits.budget));
        assert!(is_send!(|limits| breaker = limits.breaker));
        assert!(is_send!(|limits| attempt = attempt));
        assert!(is_send!(|limits| recover = |failure| Err(failure.error)));
    }

    /// Its last error may have to be returned after the wait, and so is kept meanwhile.
    #[test]
    fn a_call_that_can_end_after_a_wait_needs_an_error_that_is_send() {
        assert!(!is_send!(|limits| deadline_ms = 5_000));
        assert!(!is_send!(|limits| cancel = limits.token));
    }
}

#[test]
fn what_is_noted_by_sleep_is_what_fits_and_is_paid_for() {
    #[retryable(
        max = "unlimited", base_ms = 10, jitter = "none", deadline_ms = 60_000, budget = budget,
        sleep = note
    )]
    fn call(budget: &RetryBudget, log: &Log) -> Result<u32, Failed> {
        log.fail()
    }
    let budget = RetryBudget::new().ratio(0.0).min_per_second(3);
    let budget = budget.window(secs(1));
    assert_eq!(call(&budget, &Log::start()), Err(Failed::Busy(4)));
    assert_eq!(noted(), [ms(10), ms(20), ms(40)]);
}
