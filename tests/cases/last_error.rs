//! The last error replaced, wrapped, or used up.

use std::{
    error::Error,
    fmt,
    io::{self, Read as _},
    time::Duration,
};

use retry_runtime::{Decision, Failure, Reason, Transient, retryable};

use crate::support::{Failed, Log, call, fail, record, record_async};

/// Number of the attempt, and what caused the failure
#[derive(Debug, Transient)]
#[transient]
struct Unavailable(u32, io::Error);

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "attempt {}: unavailable", self.0)
    }
}

impl Error for Unavailable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.1)
    }
}

fn unavailable() -> Unavailable {
    let number = call();
    Unavailable(number, io::Error::other(format!("cause {number}")))
}

#[retryable(sleep = record)]
fn three_failures() -> Result<(), Unavailable> {
    Err(unavailable())
}

#[retryable(sleep = record_async, on = "any")]
async fn three_boxed_failures() -> Result<(), Box<dyn Error + Send + Sync>> {
    Err(unavailable())?
}

#[retryable(sleep = record, recover = |failure| Ok((failure.attempts, failure.error)))]
fn counted() -> Result<(u32, Unavailable), Unavailable> {
    Err(unavailable())
}

/// C054, hashicorp/go-retryablehttp#25 and #156, saucelabs/saucectl#704, sigstore/rekor#2796,
/// Lilypad-Tech/lilypad#420
#[tokio::test]
async fn giving_up_keeps_the_reason() {
    let _log = Log::start();
    let error = three_failures().unwrap_err();
    assert_eq!(error.to_string(), "attempt 3: unavailable");
    assert_eq!(error.source().unwrap().to_string(), "cause 3");

    let _log = Log::start();
    let error = three_boxed_failures().await.unwrap_err();
    assert_eq!(error.to_string(), "attempt 3: unavailable");
    let error: Box<Unavailable> = error.downcast().unwrap();
    assert_eq!((error.0, error.1.to_string()), (3, "cause 3".into()));

    let _log = Log::start();
    let (attempts, error) = counted().unwrap();
    assert_eq!((attempts, error.0), (3, 3));
}

#[retryable(max = 5, on = |error| error.0 > 1, sleep = record)]
fn not_worth_it() -> Result<(), Unavailable> {
    Err(unavailable())
}

#[retryable(max = 5, except(Unavailable(1, _)), sleep = record_async)]
async fn not_worth_it_async() -> Result<(), Unavailable> {
    Err(unavailable())
}

#[retryable(max = 5, on(Unavailable(2, _)), sleep = record, recover_all = Ok)]
fn explained() -> Result<Failure<Unavailable>, Unavailable> {
    Err(unavailable())
}

/// C055, spring-attic/spring-retry#500
#[tokio::test]
async fn a_failure_that_is_not_retried_does_not_look_exhausted() {
    let log = Log::start();
    let error = not_worth_it().unwrap_err();
    assert_eq!(error.to_string(), "attempt 1: unavailable");
    assert_eq!((log.calls(), log.waits().len()), (1, 0));

    let log = Log::start();
    let error = not_worth_it_async().await.unwrap_err();
    assert_eq!(error.to_string(), "attempt 1: unavailable");
    assert_eq!((log.calls(), log.waits().len()), (1, 0));

    let _log = Log::start();
    let failure = explained().unwrap();
    assert_eq!(
        (failure.reason, failure.attempts),
        (Reason::NotRetryable, 1)
    );
}

#[derive(Debug)]
struct Throttled {
    retry_after: Duration,
    cause: io::Error,
}

impl Transient for Throttled {
    fn decision(&self) -> Decision {
        Decision::RetryAfter(self.retry_after)
    }
}

fn throttled() -> Throttled {
    let cause = io::Error::other(format!("quota exceeded {}", call()));
    Throttled {
        retry_after: Duration::from_secs(60),
        cause,
    }
}

#[retryable(max = 2, sleep = record)]
fn throttled_twice() -> Result<(), Throttled> {
    Err(throttled())
}

#[retryable(max = 2, sleep = record_async)]
async fn throttled_twice_async() -> Result<(), Throttled> {
    Err(throttled())
}

/// C056, cenkalti/backoff#184
#[tokio::test]
async fn a_delay_asked_for_by_the_server_does_not_hide_the_cause() {
    let log = Log::start();
    let error = throttled_twice().unwrap_err();
    assert_eq!(error.cause.to_string(), "quota exceeded 2");
    assert_eq!(log.waits_ms(), [60_000]);

    let log = Log::start();
    let error = throttled_twice_async().await.unwrap_err();
    assert_eq!(error.cause.to_string(), "quota exceeded 2");
    assert_eq!(log.waits_ms(), [60_000]);
}

struct Response {
    status: u16,
    body: Box<dyn io::Read>,
}

fn too_many_requests() -> Response {
    Response {
        status: 429,
        body: Box::new(io::Cursor::new(format!("try later, {}", call()))),
    }
}

#[retryable(until(Response { status: 200..=299, .. }), sleep = record)]
fn status_is_retried() -> Response {
    too_many_requests()
}

#[retryable(until = |response| response.status < 400, sleep = record_async)]
async fn status_is_retried_async() -> io::Result<Response> {
    Ok(too_many_requests())
}

/// C058, amikos-tech/chroma-go#539
#[tokio::test]
async fn the_last_response_is_returned_whole_and_readable() {
    let read = |mut response: Response| {
        let mut body = String::new();
        response.body.read_to_string(&mut body).unwrap();
        (response.status, body)
    };
    let log = Log::start();
    let last = read(status_is_retried());
    assert_eq!(last, (429, "try later, 3".into()));
    assert_eq!((log.calls(), log.waits().len()), (3, 2));

    let log = Log::start();
    let last = read(status_is_retried_async().await.unwrap());
    assert_eq!(last, (429, "try later, 3".into()));
    assert_eq!((log.calls(), log.waits().len()), (3, 2));
}

#[derive(Debug, PartialEq)]
struct Fallback(&'static str);

impl From<Failed> for Fallback {
    fn from(_: Failed) -> Self {
        Self("converted")
    }
}

fn no_copy_either(failure: Failure<Fallback>) -> Result<u32, Fallback> {
    assert_eq!(failure.error, Fallback("converted"));
    Err(Fallback("no copy either"))
}

#[retryable(on = "any", sleep = record, recover = no_copy_either)]
fn recovered() -> Result<u32, Fallback> {
    Ok(fail()?)
}

#[retryable(on = "any", sleep = record_async, recover = no_copy_either)]
async fn recovered_async() -> Result<u32, Fallback> {
    Ok(fail()?)
}

/// C059, resilience4j/resilience4j#691 and #766
#[tokio::test]
async fn an_error_of_the_fallback_is_returned_as_it_is() {
    let log = Log::start();
    assert_eq!(recovered(), Err(Fallback("no copy either")));
    assert_eq!(log.calls(), 3);
    let log = Log::start();
    assert_eq!(recovered_async().await, Err(Fallback("no copy either")));
    assert_eq!(log.calls(), 3);
}
