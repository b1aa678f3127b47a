//! Promises 1 to 3 and 5 to 7: how often the body runs, and what comes back.

use std::{
    cell::Cell,
    error::Error,
    fmt,
    io::{self},
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
};

use retry_runtime::{Backoff, Policy, retryable};

use crate::support::{
    Event::{Call, Wait},
    Failed, Log, call, fail, poll_to_end, record, record_async, succeed_at,
};

fn no_number() -> u32 {
    panic!("looked at a condition")
}

#[retryable(
    max = no_number(),
    base_ms = no_number(),
    factor = no_number(),
    cap_ms = no_number(),
    jitter = f64::from(no_number()),
    sleep = record,
)]
fn conditions_can_not_be_looked_at() -> Result<u32, Failed> {
    succeed_at(1)
}

#[retryable(
    max = no_number(),
    base_ms = no_number(),
    until = |n| *n > 0,
    sleep = record_async,
)]
async fn conditions_can_not_be_looked_at_async() -> Result<u32, Failed> {
    succeed_at(1)
}

#[retryable(max = max, base_ms = max, cap_ms = max, factor = -f64::from(max), sleep = record)]
fn refused_by_its_policy(max: i32) -> Result<u32, Failed> {
    fail()
}

#[retryable(max = max, base_ms = max, cap_ms = max, factor = -f64::from(max), sleep = record_async)]
async fn refused_by_its_policy_async(max: i32) -> Result<u32, Failed> {
    fail()
}

/// Promise 1
#[tokio::test]
async fn the_body_runs_at_least_once_whatever_the_policy() {
    for max in [1, 0, -1, i32::MIN] {
        let log = Log::start();
        assert_eq!(refused_by_its_policy(max), Err(Failed(1)));
        assert_eq!(log.events(), [Call]);
        let log = Log::start();
        assert_eq!(refused_by_its_policy_async(max).await, Err(Failed(1)));
        assert_eq!(log.events(), [Call]);
    }
    let log = Log::start();
    assert_eq!(Policy::new().max(0).retry(fail), Err(Failed(1)));
    assert_eq!(log.events(), [Call]);
}

/// Promise 1
#[tokio::test]
async fn the_body_runs_before_any_condition_is_looked_at() {
    let _log = Log::start();
    assert_eq!(conditions_can_not_be_looked_at(), Ok(1));
    let _log = Log::start();
    assert_eq!(conditions_can_not_be_looked_at_async().await, Ok(1));
}

#[retryable(max = max, sleep = record)]
fn up_to(max: u32, success: u32) -> Result<u32, Failed> {
    succeed_at(success)
}

#[retryable(max = max, sleep = record_async)]
async fn up_to_async(max: u32, success: u32) -> Result<u32, Failed> {
    succeed_at(success)
}

/// Promise 2
#[tokio::test]
async fn max_is_the_number_of_calls() {
    let policy = Policy::new().backoff(Backoff::None);
    for max in 1..=12 {
        for success in [1, 2, max, max + 1] {
            let calls = max.min(success);
            let outcome = if success > max {
                Err(Failed(max))
            } else {
                Ok(success)
            };
            let log = Log::start();
            assert_eq!(up_to(max, success), outcome);
            assert_eq!(log.calls(), calls as usize);
            assert_eq!(log.waits().len(), calls as usize - 1);

            let log = Log::start();
            assert_eq!(up_to_async(max, success).await, outcome);
            assert_eq!(log.calls(), calls as usize);
            assert_eq!(log.waits().len(), calls as usize - 1);

            let log = Log::start();
            assert_eq!(policy.max(max).retry(|| succeed_at(success)), outcome);
            assert_eq!(log.calls(), calls as usize);

            let log = Log::start();
            let retried = policy
                .max(max)
                .retry_async(|| async { succeed_at(success) });
            assert_eq!(retried.await, outcome);
            assert_eq!(log.calls(), calls as usize);
        }
    }
}

#[retryable(max = "unlimited", base_ms = 1, sleep = record)]
fn without_a_limit() -> Result<u32, Failed> {
    succeed_at(5000)
}

/// Promise 2
#[test]
fn unlimited_has_no_limit() {
    let log = Log::start();
    assert_eq!(without_a_limit(), Ok(5000));
    assert_eq!(log.waits().len(), 4999);
}

#[retryable(jitter = "none", on = |failed| failed.0 != stop, sleep = record)]
fn stopped_at(stop: u32) -> Result<u32, Failed> {
    fail()
}

#[retryable(jitter = "none", on = |failed| failed.0 != stop, sleep = record_async)]
async fn stopped_at_async(stop: u32) -> Result<u32, Failed> {
    fail()
}

/// Promise 2: whether the calls are used up or the error is not worth one more.
#[tokio::test]
async fn nothing_sleeps_after_the_last_failure() {
    let wait = |ms| Wait(std::time::Duration::from_millis(ms));
    for (stop, events) in [
        (1, vec![Call]),
        (2, vec![Call, wait(200), Call]),
        (3, vec![Call, wait(200), Call, wait(400), Call]),
        (9, vec![Call, wait(200), Call, wait(400), Call]),
    ] {
        let log = Log::start();
        assert!(stopped_at(stop).is_err());
        assert_eq!(log.events(), events);
        let log = Log::start();
        assert!(stopped_at_async(stop).await.is_err());
        assert_eq!(log.events(), events);
    }
}

fn not_found() -> io::Result<u32> {
    Err(io::ErrorKind::NotFound.into())
}

#[retryable(sleep = record)]
fn leaves_early(reached: &mut Vec<&'static str>) -> io::Result<u32> {
    let number = call();
    reached.push("start");
    let in_closure = || -> io::Result<u32> {
        not_found()?;
        Ok(1)
    };
    assert!(in_closure().is_err());
    let labelled = 'block: {
        if number == 1 {
            break 'block 10;
        }
        20
    };
    reached.push("after closure and block");
    match number {
        1 => Err(io::Error::from(io::ErrorKind::TimedOut))?,
        2 => return Err(io::ErrorKind::TimedOut.into()),
        _ => return Ok(labelled),
    }
    reached.push("end");
    Ok(0)
}

#[retryable(sleep = record_async)]
async fn leaves_early_async(reached: &mut Vec<&'static str>) -> io::Result<u32> {
    let number = call();
    reached.push("start");
    let in_closure = async || -> io::Result<u32> {
        not_found()?;
        Ok(1)
    };
    assert!(in_closure().await.is_err());
    let in_block = async {
        not_found()?;
        Ok::<u32, io::Error>(1)
    };
    assert!(in_block.await.is_err());
    let labelled = 'block: {
        if number == 1 {
            break 'block 10;
        }
        20
    };
    reached.push("after closure and block");
    match number {
        1 => Err(io::Error::from(io::ErrorKind::TimedOut))?,
        2 => return Err(io::ErrorKind::TimedOut.into()),
        _ => return Ok(labelled),
    }
    reached.push("end");
    Ok(0)
}

/// Promise 3
#[tokio::test]
async fn early_return_ends_the_attempt_only() {
    let steps = ["start", "after closure and block"].repeat(3);
    let (_log, mut reached) = (Log::start(), Vec::new());
    assert_eq!(leaves_early(&mut reached).unwrap(), 20);
    assert_eq!(reached, steps);
    let (_log, mut reached) = (Log::start(), Vec::new());
    assert_eq!(leaves_early_async(&mut reached).await.unwrap(), 20);
    assert_eq!(reached, steps);
}

/// An error with a chain of causes, and an address to be known by
#[derive(Debug)]
struct Outer {
    cause: Box<Failed>,
}

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("outer")
    }
}

impl Error for Outer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.cause)
    }
}

#[retryable(on = "any", sleep = record)]
fn chained(addresses: &mut Vec<*const Failed>) -> Result<(), Outer> {
    let cause = Box::new(Failed(call()));
    addresses.push(&raw const *cause);
    Err(Outer { cause })
}

#[retryable(on = "any", sleep = record_async)]
async fn chained_async(
    addresses: &mut Vec<*const Failed>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let cause = Box::new(Failed(call()));
    addresses.push(&raw const *cause);
    Err(Box::new(Outer { cause }))
}

/// Promise 5
#[tokio::test]
async fn the_last_error_comes_back_untouched_source_chain_included() {
    let (_log, mut addresses) = (Log::start(), Vec::new());
    let error = chained(&mut addresses).unwrap_err();
    assert!(std::ptr::eq(&*error.cause, addresses[2]));
    let source = error.source().unwrap();
    assert_eq!(source.to_string(), "attempt 3 failed");
    assert!(source.source().is_none());

    let (_log, mut addresses) = (Log::start(), Vec::new());
    let error = chained_async(&mut addresses).await.unwrap_err();
    let error: Box<Outer> = error.downcast().unwrap();
    assert!(std::ptr::eq(&*error.cause, addresses[2]));
}

/// Neither `'static`, nor `Error`, nor anything else
struct Borrowed<'a>(&'a str);

#[retryable(on = |error| error.0.len() < 9, sleep = record)]
fn borrowed<'a>(text: &'a str, _other: &str) -> Result<(), Borrowed<'a>> {
    call();
    Err(Borrowed(text))
}

#[retryable(until = |_| false, sleep = record_async)]
async fn never_final(owner: &Rc<u32>) -> Result<Rc<u32>, Failed> {
    call();
    Ok(Rc::clone(owner))
}

/// Promise 5
#[tokio::test]
async fn the_last_outcome_is_returned_whatever_it_is() {
    let (log, text) = (Log::start(), String::from("borrowed"));
    let error = borrowed(&text, "").unwrap_err();
    assert!(std::ptr::eq(error.0, &*text));
    assert_eq!(log.calls(), 3);

    let (log, owner) = (Log::start(), Rc::new(7));
    assert!(Rc::ptr_eq(&never_final(&owner).await.unwrap(), &owner));
    assert_eq!(log.calls(), 3);
}

#[retryable(on = "any", sleep = record)]
fn panics(text: &'static str) -> io::Result<u32> {
    call();
    panic!("{text}")
}

#[retryable(on = "any", sleep = record_async)]
async fn panics_async(text: &'static str) -> io::Result<u32> {
    call();
    panic!("{text}")
}

#[retryable(on = |failed| -> bool { panic!("of {failed}") }, sleep = record)]
fn panics_in_its_predicate() -> Result<u32, Failed> {
    fail()
}

fn panic_text(run: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    payload.downcast_ref::<String>().unwrap().clone()
}

/// Promise 6
#[test]
fn a_panic_passes_through() {
    let log = Log::start();
    assert_eq!(panic_text(|| drop(panics("sync"))), "sync");
    assert_eq!(log.events(), [Call]);

    let log = Log::start();
    let text = panic_text(|| drop(poll_to_end(panics_async("async"))));
    assert_eq!(text, "async");
    assert_eq!(log.events(), [Call]);

    let log = Log::start();
    let text = panic_text(|| drop(panics_in_its_predicate()));
    assert_eq!(text, "of attempt 1 failed");
    assert_eq!(log.events(), [Call]);
}

const MILLION: u32 = 1_000_000;

/// The lowest and the highest place of a local variable
#[derive(Default)]
struct Stack {
    places: Cell<Option<(usize, usize)>>,
    attempts: Cell<u32>,
}

impl Stack {
    fn note(&self) {
        let local = 0_u8;
        let here = std::ptr::from_ref(&local).addr();
        let (low, high) = self.places.get().unwrap_or((here, here));
        self.places.set(Some((low.min(here), high.max(here))));
        self.attempts.set(self.attempts.get() + 1);
    }

    fn depth(&self) -> usize {
        let (low, high) = self.places.get().unwrap();
        high - low
    }
}

#[retryable(max = MILLION, backoff = "none")]
fn deep(stack: &Stack) -> Result<(), Failed> {
    stack.note();
    Err(Failed(0))
}

#[retryable(max = MILLION, backoff = "none")]
async fn deep_async(stack: &Stack) -> Result<(), Failed> {
    stack.note();
    std::future::ready(()).await;
    Err(Failed(0))
}

/// Promise 7, in both; that the memory is constant too: cases/leaks.rs
#[test]
fn a_million_attempts_use_constant_stack() {
    let stack = Stack::default();
    deep(&stack).unwrap_err();
    assert_eq!((stack.attempts.get(), stack.depth()), (MILLION, 0));

    let stack = Stack::default();
    poll_to_end(deep_async(&stack)).unwrap_err();
    assert_eq!((stack.attempts.get(), stack.depth()), (MILLION, 0));
}

#[retryable(sleep = record)]
fn outer() -> Result<u32, Failed> {
    inner()
}

#[retryable(sleep = record)]
fn inner() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 2, sleep = record)]
fn recursive(depth: u32) -> Result<u32, Failed> {
    if depth == 0 {
        return fail();
    }
    recursive(depth - 1)
}

#[retryable(max = 2, sleep = record_async)]
async fn recursive_async(depth: u32) -> Result<u32, Failed> {
    if depth == 0 {
        return fail();
    }
    Box::pin(recursive_async(depth - 1)).await
}

/// Promises 7 and 20
#[tokio::test]
async fn nesting_and_recursion_multiply_the_calls_and_end() {
    let log = Log::start();
    assert_eq!(outer(), Err(Failed(9)));
    assert_eq!((log.calls(), log.waits().len()), (9, 8));
    let log = Log::start();
    assert_eq!(recursive(9), Err(Failed(1024)));
    assert_eq!(log.calls(), 1024);
    let log = Log::start();
    assert_eq!(recursive_async(9).await, Err(Failed(1024)));
    assert_eq!(log.calls(), 1024);
}
