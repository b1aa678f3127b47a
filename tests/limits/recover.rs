//! `recover` and `recover_all`.

use std::{cell::Cell, fmt, rc::Rc, time::Duration};

use async_trait::async_trait;
use retry_runtime::{
    CancelToken, CircuitBreaker, Decision, Failure, Policy, Reason, RetryBudget, Transient,
    retryable,
};
use tokio::time::sleep;

use crate::support::{Failed, Log, ms, need_send, note, noted, secs};

type Fields = (Failed, u32, Duration, Reason);

/// For `recover`: the failure, as a value.
fn fields(failure: Failure<Failed>) -> Result<Option<Fields>, Failed> {
    let Failure {
        error,
        attempts,
        elapsed,
        reason,
        ..
    } = failure;
    Ok(Some((error, attempts, elapsed, reason)))
}

#[tokio::test(start_paused = true)]
async fn it_is_called_once_after_the_last_attempt_with_all_that_is_known() {
    #[retryable(base_ms = 100, jitter = "none", recover = |failure| {
        recovered.set(recovered.get() + 1);
        assert_eq!(log.calls(), 3);
        fields(failure)
    })]
    async fn call(recovered: &Cell<u32>, log: &Log) -> Result<Option<Fields>, Failed> {
        let outcome = log.fail();
        sleep(ms(10)).await;
        outcome
    }
    let (recovered, log) = (Cell::new(0), Log::start());
    let known = (Failed::Busy(3), 3, ms(330), Reason::AttemptsUsedUp);
    assert_eq!(call(&recovered, &log).await, Ok(Some(known)));
    assert_eq!((recovered.get(), log.calls()), (1, 3));
}

#[test]
fn it_is_not_called_where_an_attempt_succeeds() {
    #[retryable(backoff = "none", recover_all = |_| unreachable!())]
    fn call(success: u32, log: &Log) -> Result<u32, Failed> {
        log.succeed_at(success)
    }
    for success in [1, 2, 3] {
        assert_eq!(call(success, &Log::start()), Ok(success));
    }
}

#[test]
fn nothing_is_waited_before_it() {
    #[retryable(max = 2, jitter = "none", sleep = note, recover = |_| Ok(noted()))]
    fn call(log: &Log) -> Result<Vec<Duration>, Failed> {
        log.fail()
    }
    assert_eq!(call(&Log::start()), Ok(vec![ms(200)]));
    assert_eq!(noted(), []);
}

#[test]
fn a_failure_can_be_shown() {
    #[retryable(max = 2, backoff = "none", recover = |failure| Ok(failure.to_string()))]
    fn call(log: &Log) -> Result<String, Failed> {
        log.fail()
    }
    let shown = call(&Log::start()).unwrap();
    let begin = "attempt 2 failed (attempts used up after 2 attempts in ";
    assert!(shown.starts_with(begin), "{shown}");
}

mod arguments {
    use super::*;

    /// Can not be cloned
    #[derive(Debug, PartialEq)]
    struct Order(u32);

    fn with_all(
        failure: Failure<Failed>,
        order: Order,
        name: &str,
        seen: &mut Vec<u32>,
    ) -> Result<String, Failed> {
        seen.push(0);
        Ok(format!("{} {name} {:?} {seen:?}", order.0, failure.error))
    }

    fn without(failure: Failure<Failed>) -> Result<String, Failed> {
        Ok(format!("{:?}", failure.error))
    }

    #[retryable(max = 2, backoff = "none", recover = with_all)]
    fn path(order: Order, name: &str, seen: &mut Vec<u32>) -> Result<String, Failed> {
        seen.push(order.0);
        Err(Failed::Busy(name.len().try_into().unwrap()))
    }

    #[retryable(max = 2, backoff = "none", recover = "with_all")]
    async fn path_task(order: Order, name: &str, seen: &mut Vec<u32>) -> Result<String, Failed> {
        seen.push(order.0);
        Err(Failed::Busy(name.len().try_into().unwrap()))
    }

    #[retryable(max = 2, backoff = "none", recover = without)]
    fn path_without(order: Order, name: &str, seen: &mut Vec<u32>) -> Result<String, Failed> {
        seen.push(order.0);
        Err(Failed::Busy(name.len().try_into().unwrap()))
    }

    #[retryable(max = 2, backoff = "none", recover = |failure| {
        seen.push(0);
        let Order(number) = order;
        Ok(format!("{number} {name} {:?} {seen:?}", failure.error))
    })]
    async fn closure(order: Order, name: &str, seen: &mut Vec<u32>) -> Result<String, Failed> {
        seen.push(order.0);
        Err(Failed::Busy(name.len().try_into().unwrap()))
    }

    /// C154, C155
    #[tokio::test]
    async fn it_takes_all_of_them_or_none_and_a_closure_sees_them() {
        let all = "7 abc Busy(3) [7, 7, 0]";
        assert_eq!(path(Order(7), "abc", &mut vec![]).unwrap(), all);
        assert_eq!(path_task(Order(7), "abc", &mut vec![]).await.unwrap(), all);
        assert_eq!(closure(Order(7), "abc", &mut vec![]).await.unwrap(), all);
        let none = path_without(Order(7), "abc", &mut vec![]);
        assert_eq!(none.unwrap(), "Busy(3)");
    }

    #[test]
    fn it_sees_arguments_as_the_caller_passed_them() {
        fn back(_: Failure<Failed>, passed: u32, kept: u32) -> Result<(u32, u32), Failed> {
            Ok((passed, kept))
        }
        #[retryable(max = 3, backoff = "none", recover = back, keep(kept))]
        fn call(mut passed: u32, mut kept: u32) -> Result<(u32, u32), Failed> {
            passed += 1;
            kept += 1;
            Err(Failed::Busy(passed + kept))
        }
        assert_eq!(call(10, 20), Ok((10, 23)));
    }

    /// Not the parts, and not the others.
    #[test]
    fn it_takes_none_where_the_function_takes_one_apart() {
        fn back(failure: Failure<Failed>) -> Result<u32, Failed> {
            Ok(failure.attempts)
        }
        #[retryable(max = 1, recover = back)]
        fn call((a, b): (u32, u32), other: u32) -> Result<u32, Failed> {
            Err(Failed::Busy(a + b + other))
        }
        assert_eq!(call((1, 2), 3), Ok(1));
    }

    #[test]
    fn it_takes_up_to_six_of_them() {
        type Six = (u8, u16, u32, u64, i8, char);
        fn six(
            _: Failure<Failed>,
            a: u8,
            b: u16,
            c: u32,
            d: u64,
            e: i8,
            f: char,
        ) -> Result<Six, Failed> {
            Ok((a, b, c, d, e, f))
        }
        #[retryable(max = 1, recover = six)]
        fn call(a: u8, b: u16, c: u32, d: u64, e: i8, f: char) -> Result<Six, Failed> {
            Err(Failed::Busy(1))
        }
        assert_eq!(call(1, 2, 3, 4, 5, '6'), Ok((1, 2, 3, 4, 5, '6')));
    }

    #[test]
    fn it_can_be_generic_and_take_no_arguments_where_there_are_none() {
        fn default<T: Default, E>(_: Failure<E>) -> Result<T, E> {
            Ok(T::default())
        }
        #[retryable(max = 1, recover = default)]
        fn call() -> Result<Vec<u32>, Failed> {
            Err(Failed::Busy(1))
        }
        #[retryable(max = 1, recover = default::<T, _>)]
        fn generic<T: Default + fmt::Debug, const N: usize>(t: [T; N]) -> Result<T, Failed> {
            Err(Failed::Busy(1))
        }
        assert_eq!(call(), Ok(vec![]));
        assert_eq!(generic(["text".to_owned()]), Ok(String::new()));
    }
}

mod methods {
    use super::*;

    struct Client {
        cached: u32,
        recovered: u32,
    }

    #[retryable(max = 2, backoff = "none")]
    impl Client {
        fn stale(failure: Failure<Failed>, id: u32) -> Result<u32, Failed> {
            Ok(id + failure.attempts)
        }

        fn cached_for(&self, failure: &Failure<Failed>) -> u32 {
            self.cached + failure.attempts
        }

        #[retryable(recover = Self::stale)]
        fn by_associated_function(&self, id: u32) -> Result<u32, Failed> {
            Err(Failed::Busy(id))
        }

        #[retryable(recover = |failure| Ok(self.cached_for(&failure)))]
        async fn by_method(&self, id: u32) -> Result<u32, Failed> {
            Err(Failed::Busy(id))
        }

        #[retryable(recover = |failure| { self.recovered += 1; Err(failure.error) })]
        async fn by_changing_itself(&mut self, id: u32) -> Result<u32, Failed> {
            Err(Failed::Busy(id))
        }

        #[retryable(recover = |_| Ok(self.cached))]
        fn by_consuming_itself(self) -> Result<u32, Failed> {
            Err(Failed::Busy(1))
        }
    }

    #[tokio::test]
    async fn it_can_be_an_associated_function_or_use_self() {
        let mut client = Client {
            cached: 40,
            recovered: 0,
        };
        assert_eq!(client.by_associated_function(10), Ok(12));
        assert_eq!(client.by_method(1).await, Ok(42));
        assert_eq!(client.by_changing_itself(5).await, Err(Failed::Busy(5)));
        assert_eq!(client.recovered, 1);
        assert_eq!(client.by_consuming_itself(), Ok(40));
    }

    #[async_trait]
    trait Store {
        async fn get(&self, id: u32) -> Result<u32, Failed>;
    }

    #[async_trait]
    impl Store for Client {
        #[retryable(max = 2, backoff = "none", recover = |failure| Ok(self.cached_for(&failure) + id))]
        async fn get(&self, id: u32) -> Result<u32, Failed> {
            Err(Failed::Busy(id))
        }
    }

    #[async_trait(?Send)]
    trait LocalStore {
        async fn get_local(&mut self, id: Rc<u32>) -> Result<Rc<u32>, Failed>;
    }

    #[async_trait(?Send)]
    impl LocalStore for Client {
        #[retryable(max = 2, backoff = "none", recover = |_| { self.recovered += 1; Ok(id) })]
        async fn get_local(&mut self, id: Rc<u32>) -> Result<Rc<u32>, Failed> {
            sleep(Duration::ZERO).await;
            Err(Failed::Busy(*id))
        }
    }

    #[tokio::test]
    async fn in_an_async_trait_it_uses_self_too_send_or_not() {
        let mut client = Client {
            cached: 40,
            recovered: 0,
        };
        assert_eq!(need_send(client.get(100)).await, Ok(142));
        assert_eq!(client.get_local(Rc::new(7)).await, Ok(Rc::new(7)));
        assert_eq!(client.recovered, 1);
    }
}

mod errors {
    use super::*;

    #[derive(Debug, PartialEq, Transient)]
    #[transient]
    enum Error {
        Busy,
        Fallback,
    }

    /// C059
    #[tokio::test]
    async fn its_own_error_is_returned_as_it_is() {
        fn fails(failure: Failure<Error>) -> Result<u32, Error> {
            assert_eq!(failure.error, Error::Busy);
            Err(Error::Fallback)
        }
        #[retryable(backoff = "none", recover = fails)]
        fn call() -> Result<u32, Error> {
            Err(Error::Busy)
        }
        #[retryable(backoff = "none", recover = fails)]
        async fn task() -> Result<u32, Error> {
            Err(Error::Busy)
        }
        assert_eq!(call(), Err(Error::Fallback));
        assert_eq!(task().await, Err(Error::Fallback));
    }

    #[test]
    fn what_it_returns_is_not_judged_again() {
        #[retryable(
            backoff = "none", on = "any", except = |_: &Failed| false,
            recover = |failure| { times.set(times.get() + 1); Err(failure.error) }
        )]
        fn call(times: &Cell<u32>, log: &Log) -> Result<u32, Failed> {
            log.fail()
        }
        let (times, log) = (Cell::new(0), Log::start());
        assert_eq!(call(&times, &log), Err(Failed::Busy(3)));
        assert_eq!((times.get(), log.calls()), (1, 3));
    }

    #[test]
    fn an_early_return_of_an_attempt_is_recovered_from() {
        #[retryable(max = 2, backoff = "none", recover = |failure| Ok(failure.attempts.to_string()))]
        fn call(text: &str, early: bool) -> Result<String, Failed> {
            let number: u32 = text.parse().map_err(|_| Failed::Busy(0))?;
            if early {
                return Err(Failed::Busy(number));
            }
            Ok(number.to_string())
        }
        assert_eq!(call("no number", false).unwrap(), "2");
        assert_eq!(call("77", true).unwrap(), "2");
        assert_eq!(call("77", false).unwrap(), "77");
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_must_not_leave_its_thread_keeps_the_call_sendable() {
        #[retryable(base_ms = 5, on = "any", recover = |failure| {
            Err(Rc::from(failure.to_string()))
        })]
        async fn call(id: u32) -> Result<u32, Rc<str>> {
            sleep(ms(id.into())).await;
            Err(Rc::from("busy"))
        }
        let call = need_send(call(1));
        let text = call.await.unwrap_err();
        assert!(text.starts_with("busy (attempts used up"), "{text}");
    }
}

/// An error that was never worth a retry is the caller's to see.
mod not_retryable {
    use super::*;

    #[retryable(backoff = "none", recover = fields)]
    fn some(wrong: u32, log: &Log) -> Result<Option<Fields>, Failed> {
        match log.attempt() {
            number if number == wrong => Err(Failed::Wrong(number)),
            number => Err(Failed::Busy(number)),
        }
    }

    #[retryable(backoff = "none", recover_all = fields)]
    async fn all(wrong: u32, log: &Log) -> Result<Option<Fields>, Failed> {
        match log.attempt() {
            number if number == wrong => Err(Failed::Wrong(number)),
            number => Err(Failed::Busy(number)),
        }
    }

    #[test]
    fn is_not_recovered_from() {
        for wrong in [1, 2, 3] {
            let log = Log::start();
            assert_eq!(some(wrong, &log), Err(Failed::Wrong(wrong)));
        }
        assert!(some(4, &Log::start()).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn is_recovered_from_by_recover_all() {
        for wrong in [1, 2, 3] {
            let log = Log::start();
            let end = (
                Failed::Wrong(wrong),
                wrong,
                Duration::ZERO,
                Reason::NotRetryable,
            );
            assert_eq!(all(wrong, &log).await, Ok(Some(end)));
        }
        let end = all(4, &Log::start()).await.unwrap().unwrap();
        assert_eq!(end.3, Reason::AttemptsUsedUp);
    }

    #[test]
    fn is_what_except_and_on_say_it_is() {
        #[retryable(backoff = "none", except(Failed::Busy(2)), recover = |_| Ok(0))]
        fn except(log: &Log) -> Result<u32, Failed> {
            log.fail()
        }
        #[retryable(backoff = "none", on = |_| Decision::Stop, recover = |_| Ok(0))]
        fn on(log: &Log) -> Result<u32, Failed> {
            log.fail()
        }
        assert_eq!(except(&Log::start()), Err(Failed::Busy(2)));
        assert_eq!(on(&Log::start()), Err(Failed::Busy(1)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_that_never_became_final_is_not_a_failure() {
    #[retryable(max = 2, backoff = "none", until(2..), on = "any", recover = |_| Ok(7))]
    async fn poll(value: Result<u32, Failed>) -> Result<u32, Failed> {
        value
    }
    assert_eq!(poll(Ok(1)).await, Ok(1));
    assert_eq!(poll(Ok(2)).await, Ok(2));
    assert_eq!(poll(Err(Failed::Busy(1))).await, Ok(7));
}

#[tokio::test(start_paused = true)]
async fn a_function_that_returns_a_future_is_recovered_from() {
    #[retryable(max = 2, backoff = "none", recover = fields)]
    fn call(log: &Log) -> impl Future<Output = Result<Option<Fields>, Failed>> + Send {
        std::future::ready(log.fail())
    }
    let end = (Failed::Busy(2), 2, Duration::ZERO, Reason::AttemptsUsedUp);
    assert_eq!(call(&Log::start()).await, Ok(Some(end)));
}

/// Each reason but that an error was not retryable, which is above.
mod reasons {
    use super::*;

    /// What ends the call.
    struct Ends {
        policy: Policy,
        decision: Decision,
        deadline: u64,
        timeout: u64,
        token: CancelToken,
        budget: RetryBudget,
        breaker: CircuitBreaker,
    }

    fn nothing_ends() -> Ends {
        Ends {
            policy: Policy::new().base_ms(0).max(4),
            decision: Decision::Retry,
            deadline: u64::MAX,
            timeout: u64::MAX,
            token: CancelToken::new(),
            budget: RetryBudget::new(),
            breaker: CircuitBreaker::new(),
        }
    }

    #[retryable(
        policy = ends.policy, on = |_| ends.decision, deadline_ms = ends.deadline,
        timeout_ms = ends.timeout, cancel = ends.token, budget = ends.budget,
        breaker = ends.breaker, recover = fields
    )]
    async fn task(ends: &Ends, log: &Log) -> Result<Option<Fields>, Failed> {
        let outcome = log.fail();
        sleep(ms(10)).await;
        outcome
    }

    #[retryable(
        policy = ends.policy, on = |_| ends.decision, deadline_ms = ends.deadline,
        cancel = ends.token, budget = ends.budget, breaker = ends.breaker, recover = fields
    )]
    fn thread(ends: &Ends, log: &Log) -> Result<Option<Fields>, Failed> {
        log.fail()
    }

    async fn end_of_task(ends: &Ends) -> Fields {
        task(ends, &Log::start()).await.unwrap().unwrap()
    }

    async fn check(ends: Ends, error: Failed, attempts: u32, elapsed: Duration, reason: Reason) {
        let end = end_of_task(&ends).await;
        assert_eq!(end, (error, attempts, elapsed, reason));
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_used_up() {
        let reason = Reason::AttemptsUsedUp;
        check(nothing_ends(), Failed::Busy(4), 4, ms(40), reason).await;
        let end = thread(&nothing_ends(), &Log::start()).unwrap().unwrap();
        assert_eq!((end.0, end.1, end.3), (Failed::Busy(4), 4, reason));
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_timeout_is_an_error_like_any_other() {
        let ends = || Ends {
            timeout: 8,
            ..nothing_ends()
        };
        let error = Failed::TimedOut(ms(8));
        check(ends(), error, 4, ms(32), Reason::AttemptsUsedUp).await;
    }

    #[tokio::test(start_paused = true)]
    async fn deadline() {
        let ends = || Ends {
            deadline: 25,
            ..nothing_ends()
        };
        // the third attempt has 5 ms
        let error = Failed::TimedOut(ms(5));
        check(ends(), error, 3, ms(25), Reason::Deadline).await;
        let ends = Ends {
            deadline: 0,
            ..ends()
        };
        let end = thread(&ends, &Log::start()).unwrap().unwrap();
        assert_eq!(
            (end.0, end.1, end.3),
            (Failed::Busy(1), 1, Reason::Deadline)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn hint_too_long() {
        let ends = || Ends {
            decision: Decision::RetryAfter(secs(301)),
            ..nothing_ends()
        };
        check(ends(), Failed::Busy(1), 1, ms(10), Reason::HintTooLong).await;
        let end = thread(&ends(), &Log::start()).unwrap().unwrap();
        assert_eq!(end.3, Reason::HintTooLong);
    }

    #[tokio::test(start_paused = true)]
    async fn budget() {
        let ends = || Ends {
            budget: RetryBudget::new()
                .ratio(0.0)
                .min_per_second(2)
                .window(secs(1)),
            ..nothing_ends()
        };
        check(ends(), Failed::Busy(3), 3, ms(30), Reason::Budget).await;
        let end = thread(&ends(), &Log::start()).unwrap().unwrap();
        assert_eq!((end.0, end.1, end.3), (Failed::Busy(3), 3, Reason::Budget));
    }

    #[tokio::test(start_paused = true)]
    async fn breaker() {
        let ends = || Ends {
            breaker: CircuitBreaker::new().window(2).min_calls(2),
            ..nothing_ends()
        };
        let error = Failed::Open(Some(secs(60)));
        check(ends(), error, 2, ms(20), Reason::Breaker).await;
        let end = thread(&ends(), &Log::start()).unwrap().unwrap();
        assert_eq!((end.0, end.1, end.3), (error, 2, Reason::Breaker));
    }

    #[tokio::test(start_paused = true)]
    async fn breaker_before_any_attempt() {
        let ends = nothing_ends();
        ends.breaker.force_open();
        check(ends, Failed::Open(None), 0, Duration::ZERO, Reason::Breaker).await;
    }

    #[tokio::test(start_paused = true)]
    async fn cancelled() {
        let ends = Ends {
            policy: Policy::new().base(secs(60)).cap(secs(60)).max(4),
            ..nothing_ends()
        };
        ends.token.cancel();
        let end = thread(&ends, &Log::start()).unwrap().unwrap();
        assert_eq!(
            (end.0, end.1, end.3),
            (Failed::Busy(1), 1, Reason::Cancelled)
        );
        check(ends, Failed::Busy(1), 1, ms(10), Reason::Cancelled).await;
    }
}
