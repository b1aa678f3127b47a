//! Promise 14: what may be returned, and what is polled for.

use std::io;

use retry_runtime::retryable;

use crate::support::{Failed, Log, call, record, record_async, succeed_at};

type Outcome = Result<u32, Failed>;
type Io<T> = io::Result<T>;

mod renamed {
    pub(super) use std::result::Result as Answer;
}

#[retryable(sleep = record)]
fn alias() -> Outcome {
    succeed_at(3)
}

#[retryable(sleep = record_async)]
async fn generic_alias() -> Io<u32> {
    match call() {
        3 => Ok(3),
        _ => Err(io::ErrorKind::TimedOut.into()),
    }
}

#[retryable(sleep = record)]
fn other_name() -> renamed::Answer<u32, Box<Failed>> {
    Ok(succeed_at(3)?)
}

#[retryable(sleep = record)]
fn opaque() -> Result<impl Iterator<Item = u32>, Failed> {
    succeed_at(3).map(|n| 0..n)
}

#[retryable(sleep = record_async)]
async fn opaque_async(add: &u32) -> Result<impl Fn(u32) -> u32, Failed> {
    succeed_at(3).map(|n| move |m| n + m + add)
}

#[tokio::test]
async fn aliases_of_result_work() {
    let log = Log::start();
    assert_eq!(alias(), Ok(3));
    assert_eq!(log.calls(), 3);
    let log = Log::start();
    assert_eq!(generic_alias().await.unwrap(), 3);
    assert_eq!(log.calls(), 3);
    let _log = Log::start();
    assert_eq!(other_name(), Ok(3));
    let _log = Log::start();
    assert_eq!(opaque().map(Iterator::sum), Ok(3));
    let _log = Log::start();
    assert_eq!(opaque_async(&10).await.map(|add| add(1)), Ok(14));
}

#[derive(Debug, PartialEq)]
enum State {
    Pending(u32),
    Done,
}

fn state() -> State {
    match call() {
        3 => State::Done,
        number => State::Pending(number),
    }
}

#[retryable(until(State::Done), sleep = record)]
fn until_pattern() -> State {
    state()
}

#[retryable(until = |state| *state == State::Done, sleep = record_async)]
async fn until_closure() -> State {
    state()
}

#[retryable(max = 2, until(State::Done), sleep = record)]
fn until_used_up() -> State {
    state()
}

#[retryable(until = Option::is_some, sleep = record)]
fn until_some() -> Option<u32> {
    succeed_at(3).ok()
}

#[retryable(until(true), sleep = record_async)]
async fn until_true() -> bool {
    call() == 3
}

#[retryable(until(3..), sleep = record)]
fn until_number() -> u32 {
    call()
}

#[retryable(until = |found: &T| *found == wanted, sleep = record)]
fn until_generic<T: PartialEq>(wanted: T, mut next: impl FnMut() -> T) -> T {
    next()
}

#[retryable(until(Some(n) if *n == 3), sleep = record)]
fn until_in_result() -> Io<Option<u32>> {
    Ok(Some(call()))
}

#[tokio::test]
async fn with_until_any_value_is_polled_for() {
    let log = Log::start();
    assert_eq!(until_pattern(), State::Done);
    assert_eq!((log.calls(), log.waits().len()), (3, 2));
    let log = Log::start();
    assert_eq!(until_closure().await, State::Done);
    assert_eq!((log.calls(), log.waits().len()), (3, 2));
    let log = Log::start();
    assert_eq!(until_used_up(), State::Pending(2));
    assert_eq!((log.calls(), log.waits().len()), (2, 1));
    let _log = Log::start();
    assert_eq!(until_some(), Some(3));
    let _log = Log::start();
    assert!(until_true().await);
    let _log = Log::start();
    assert_eq!(until_number(), 3);
    let mut numbers = "abc".chars();
    assert_eq!(until_generic('c', || numbers.next().unwrap()), 'c');
    let _log = Log::start();
    assert_eq!(until_in_result().unwrap(), Some(3));
}

#[retryable(until(3..), sleep = record)]
fn until_without_on(fail_at: u32) -> Outcome {
    match call() {
        number if number == fail_at => Err(Failed(number)),
        number => Ok(number),
    }
}

#[retryable(until(4..), on = "any", max = 9, sleep = record_async)]
async fn until_with_on(fail_at: u32) -> Outcome {
    match call() {
        number if number == fail_at => Err(Failed(number)),
        number => Ok(number),
    }
}

#[retryable(until(4..), on = "any", except(Failed(2)), max = 9, sleep = record_async)]
async fn until_with_on_and_except(fail_at: u32) -> Outcome {
    match call() {
        number if number == fail_at => Err(Failed(number)),
        number => Ok(number),
    }
}

#[tokio::test]
async fn until_without_on_returns_errors_at_once() {
    let log = Log::start();
    assert_eq!(until_without_on(2), Err(Failed(2)));
    assert_eq!((log.calls(), log.waits().len()), (2, 1));
    let log = Log::start();
    assert_eq!(until_without_on(9), Ok(3));
    assert_eq!(log.calls(), 3);

    let log = Log::start();
    assert_eq!(until_with_on(2).await, Ok(4));
    assert_eq!(log.calls(), 4);
    let log = Log::start();
    assert_eq!(until_with_on_and_except(2).await, Err(Failed(2)));
    assert_eq!(log.calls(), 2);
    let log = Log::start();
    assert_eq!(until_with_on_and_except(3).await, Ok(4));
    assert_eq!(log.calls(), 4);
}
