//! Promises 12 and 13: which errors are tried again, and when.

use std::{error::Error, io, time::Duration};

use retry_runtime::{Backoff, Decision, Jitter, Policy, Transient, retryable};
use tokio::time::Instant;

use crate::support::{
    Event::{Call, Wait},
    Failed, Log, call, fail, record, record_async, succeed_at,
};

const SECOND: Duration = Duration::from_secs(1);
const FIVE_MINUTES: Duration = Duration::from_secs(300);

#[retryable(max = 4, jitter = "none", on = |_| decision, sleep = record)]
fn decided(decision: Decision) -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 4, jitter = "none", on = |_| decision, sleep = record_async)]
async fn decided_async(decision: Decision) -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 4, jitter = "none", on = |_| decision)]
async fn decided_on_tokio(decision: Decision) -> Result<u32, Failed> {
    fail()
}

/// Promise 12
#[tokio::test(start_paused = true)]
async fn a_decision_has_four_values() {
    let backoff = vec![200, 400, 800];
    for (decision, waits) in [
        (Decision::Stop, vec![]),
        (Decision::Retry, backoff),
        (Decision::RetryNow, vec![]),
        (Decision::RetryAfter(SECOND), vec![1000; 3]),
    ] {
        let log = Log::start();
        assert!(decided(decision).is_err());
        assert_eq!(log.waits_ms(), waits);
        let log = Log::start();
        assert!(decided_async(decision).await.is_err());
        assert_eq!(log.waits_ms(), waits);
        let start = Instant::now();
        assert!(decided_on_tokio(decision).await.is_err());
        assert_eq!(start.elapsed().as_millis(), waits.iter().sum());
    }
}

/// The user's own word for it
struct Verdict(u16);

impl From<Verdict> for Decision {
    fn from(verdict: Verdict) -> Self {
        (verdict.0 >= 500).into()
    }
}

#[retryable(on = |_| Verdict(status), sleep = record)]
fn by_own_type(status: u16) -> Result<u32, Failed> {
    fail()
}

/// Promise 12
#[test]
fn a_bool_and_what_converts_into_a_decision_are_decisions() {
    assert_eq!(Decision::from(true), Decision::Retry);
    assert_eq!(Decision::from(false), Decision::Stop);
    for (status, calls) in [(503, 3), (404, 1)] {
        let log = Log::start();
        assert!(by_own_type(status).is_err());
        assert_eq!(log.calls(), calls);
    }
}

/// Promise 12
#[tokio::test(start_paused = true)]
async fn retry_after_waits_the_longer_of_hint_and_backoff() {
    for (hint, waits) in [
        (0, [200, 400, 800]),
        (300, [300, 400, 800]),
        (500, [500, 500, 800]),
        (1000, [1000; 3]),
        (60_000, [60_000; 3]), // above the cap, which is about the policy's own waits
        (300_000, [300_000; 3]),
    ] {
        let hint = Decision::RetryAfter(Duration::from_millis(hint));
        let log = Log::start();
        assert!(decided(hint).is_err());
        assert_eq!(log.waits_ms(), waits);
        let log = Log::start();
        assert!(decided_async(hint).await.is_err());
        assert_eq!(log.waits_ms(), waits);
        let start = Instant::now();
        assert!(decided_on_tokio(hint).await.is_err());
        assert_eq!(start.elapsed().as_millis(), waits.iter().sum());
    }
}

/// Promise 12
#[tokio::test(start_paused = true)]
async fn a_hint_beyond_the_limit_ends_the_call_at_once() {
    let just_above = FIVE_MINUTES + Duration::from_nanos(1);
    for hint in [just_above, Duration::from_secs(999_999), Duration::MAX] {
        let hint = Decision::RetryAfter(hint);
        let log = Log::start();
        assert_eq!(decided(hint), Err(Failed(1)));
        assert_eq!(log.events(), [Call]);
        let log = Log::start();
        assert_eq!(decided_async(hint).await, Err(Failed(1)));
        assert_eq!(log.events(), [Call]);
        let (_log, start) = (Log::start(), Instant::now());
        assert_eq!(decided_on_tokio(hint).await, Err(Failed(1)));
        assert!(start.elapsed().is_zero());
    }
}

const PATIENT: Policy = Policy::new()
    .hint_cap(Duration::from_secs(3600))
    .backoff(Backoff::None);
const DEAF: Policy = Policy::new().hint_cap(Duration::ZERO);

#[retryable(policy = PATIENT, on = |_| Decision::RetryAfter(hint), sleep = record)]
fn patient(hint: Duration) -> Result<u32, Failed> {
    fail()
}

#[retryable(policy = DEAF, on = |_| Decision::RetryAfter(hint), sleep = record)]
fn deaf(hint: Duration) -> Result<u32, Failed> {
    fail()
}

/// Promise 12
#[test]
fn the_limit_of_hints_is_the_policys() {
    let log = Log::start();
    assert!(patient(3600 * SECOND).is_err());
    assert_eq!(log.waits(), [3600 * SECOND; 2]);
    let log = Log::start();
    assert!(patient(3601 * SECOND).is_err());
    assert_eq!(log.events(), [Call]);
    let log = Log::start();
    assert!(deaf(Duration::from_nanos(1)).is_err());
    assert_eq!(log.events(), [Call]);
}

#[retryable(
    max = 5,
    jitter = "none",
    on = |failed| if failed.0 % 2 == 1 { Decision::RetryNow } else { Decision::Retry },
    sleep = record,
)]
fn every_other_at_once() -> Result<u32, Failed> {
    fail()
}

/// Promise 12
#[test]
fn retry_now_does_not_wait() {
    let log = Log::start();
    assert_eq!(every_other_at_once(), Err(Failed(5)));
    assert_eq!((log.calls(), log.waits_ms()), (5, vec![400, 1600]));
}

/// Promise 12
#[test]
fn without_a_wait_nobody_is_asked_to_sleep() {
    let log = Log::start();
    assert!(decided(Decision::RetryNow).is_err());
    assert_eq!(log.events(), [Call; 4]);
}

#[derive(Debug, Transient)]
enum Marked {
    #[transient]
    Busy,
    #[permanent]
    Refused,
    #[transient(inner)]
    Io(io::Error),
}

fn marked(kind: Option<io::ErrorKind>, refused: bool) -> Marked {
    call();
    match kind {
        Some(kind) => Marked::Io(kind.into()),
        None if refused => Marked::Refused,
        None => Marked::Busy,
    }
}

#[retryable(sleep = record)]
fn by_its_type(kind: Option<io::ErrorKind>, refused: bool) -> Result<u32, Marked> {
    Err(marked(kind, refused))
}

#[retryable(sleep = record_async)]
async fn by_its_type_async(kind: Option<io::ErrorKind>, refused: bool) -> Result<u32, Marked> {
    Err(marked(kind, refused))
}

/// Promise 13
#[tokio::test]
async fn without_on_the_error_type_decides() {
    for (kind, refused, calls) in [
        (None, false, 3),
        (None, true, 1),
        (Some(io::ErrorKind::ConnectionReset), false, 3),
        (Some(io::ErrorKind::NotFound), false, 1),
    ] {
        let log = Log::start();
        assert!(by_its_type(kind, refused).is_err());
        assert_eq!(log.calls(), calls);
        let log = Log::start();
        assert!(by_its_type_async(kind, refused).await.is_err());
        assert_eq!(log.calls(), calls);
    }
}

#[retryable(sleep = record)]
fn io_error(kind: io::ErrorKind) -> io::Result<u32> {
    call();
    Err(kind.into())
}

/// Promise 13
#[test]
fn io_errors_are_retried_by_their_kind() {
    use io::ErrorKind as Kind;
    for kind in [
        Kind::ConnectionRefused,
        Kind::ConnectionReset,
        Kind::ConnectionAborted,
        Kind::BrokenPipe,
        Kind::HostUnreachable,
        Kind::NetworkUnreachable,
        Kind::NetworkDown,
        Kind::TimedOut,
        Kind::Interrupted,
        Kind::WouldBlock,
        Kind::ResourceBusy,
    ] {
        let log = Log::start();
        assert_eq!(io_error(kind).unwrap_err().kind(), kind);
        assert_eq!(log.calls(), 3, "{kind}");
    }
    for kind in [
        Kind::NotFound,
        Kind::PermissionDenied,
        Kind::AlreadyExists,
        Kind::InvalidInput,
        Kind::InvalidData,
        Kind::UnexpectedEof,
        Kind::Unsupported,
        Kind::OutOfMemory,
        Kind::StorageFull,
        Kind::Other,
    ] {
        let log = Log::start();
        assert_eq!(io_error(kind).unwrap_err().kind(), kind);
        assert_eq!(log.calls(), 1, "{kind}");
    }
}

/// Says nothing about itself
struct Opaque;

#[retryable(on = "any", sleep = record)]
fn anything() -> Result<u32, Opaque> {
    call();
    Err(Opaque)
}

#[retryable(on = "any", except(Failed(2)), sleep = record_async)]
async fn anything_but() -> Result<u32, Failed> {
    fail()
}

/// Promise 13: that it does not happen unsaid is a compile error, tests/ui.
#[tokio::test]
async fn everything_is_retried_where_that_is_said() {
    let log = Log::start();
    assert!(anything().is_err());
    assert_eq!(log.calls(), 3);
    let log = Log::start();
    assert_eq!(anything_but().await, Err(Failed(2)));
    assert_eq!(log.calls(), 2);
}

#[retryable(on(Failed(_)), except = |failed| failed.0 == 2, sleep = record)]
fn on_and_except() -> Result<u32, Failed> {
    fail()
}

#[retryable(on = |_| Decision::RetryAfter(SECOND), except(Failed(1)), sleep = record)]
fn hint_and_except() -> Result<u32, Failed> {
    fail()
}

#[retryable(except = second, sleep = record_async)]
async fn type_and_except() -> Result<u32, Failed> {
    fail()
}

fn second(failed: &Failed) -> bool {
    failed.0 == 2
}

/// Promise 13
#[tokio::test]
async fn except_wins_over_on() {
    let log = Log::start();
    assert_eq!(on_and_except(), Err(Failed(2)));
    assert_eq!(log.calls(), 2);
    let log = Log::start();
    assert_eq!(hint_and_except(), Err(Failed(1)));
    assert_eq!(log.events(), [Call]);
    let log = Log::start();
    assert_eq!(type_and_except().await, Err(Failed(2)));
    assert_eq!(log.calls(), 2);
}

mod predicates {
    use crate::support::Failed;

    pub(super) fn up_to_two(failed: &Failed) -> bool {
        failed.0 <= 2
    }

    pub(super) fn up_to<const N: u32>(failed: &Failed) -> bool {
        failed.0 <= N
    }

    pub(super) fn of_any_error(error: &dyn std::error::Error) -> bool {
        *error.to_string() < *"attempt 3"
    }
}

struct Judge {
    pointer: fn(&Failed) -> bool,
    boxed: Box<dyn Fn(&Failed) -> Decision>,
}

/// Every way to write a predicate that stops at the third error
impl Judge {
    const LAST: u32 = 3;

    fn up_to_two(failed: &Failed) -> bool {
        failed.0 <= 2
    }

    fn says(&self, failed: &Failed) -> bool {
        (self.pointer)(failed)
    }

    #[retryable(max = 9, on = predicates::up_to_two, sleep = record)]
    fn by_path(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, on = "predicates::up_to_two", sleep = record)]
    fn by_text(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, on = "predicates::up_to::<2>", sleep = record)]
    fn by_generic_path(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, on = Self::up_to_two, sleep = record)]
    fn by_associated_function(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, on = predicates::of_any_error, sleep = record)]
    fn by_trait_object(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, on = |failed| failed.0 < Self::LAST, sleep = record)]
    fn by_closure(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, on = |failed| self.says(failed), sleep = record)]
    fn by_method(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, on = self.pointer, sleep = record)]
    fn by_field(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, on = &self.boxed, sleep = record)]
    fn by_boxed_closure(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, on(Failed(1 | 2)), sleep = record)]
    fn by_pattern(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, on(Failed(n) if *n < Self::LAST), sleep = record)]
    fn by_guarded_pattern(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, except = |failed| failed.0 == 3, sleep = record)]
    fn by_except(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 9, except(Failed(Self::LAST)), sleep = record)]
    fn by_except_pattern(&self) -> Result<u32, Failed> {
        fail()
    }
}

/// Promise 13
#[test]
fn a_predicate_can_be_a_path_a_closure_or_a_pattern() {
    let judge = Judge {
        pointer: Judge::up_to_two,
        boxed: Box::new(|failed| (failed.0 < Judge::LAST).into()),
    };
    for retried in [
        Judge::by_path,
        Judge::by_text,
        Judge::by_generic_path,
        Judge::by_associated_function,
        Judge::by_trait_object,
        Judge::by_closure,
        Judge::by_method,
        Judge::by_field,
        Judge::by_boxed_closure,
        Judge::by_pattern,
        Judge::by_guarded_pattern,
        Judge::by_except,
        Judge::by_except_pattern,
    ] {
        let log = Log::start();
        assert_eq!(retried(&judge), Err(Failed(3)));
        assert_eq!(log.calls(), 3);
    }
}

#[retryable(on = |_| method != "POST" || *idempotent, sleep = record_async)]
async fn request(method: &str, idempotent: &mut bool, body: String) -> Result<u32, Failed> {
    assert_eq!(body, "{}");
    fail()
}

/// Promise 13
#[tokio::test]
async fn a_predicate_sees_the_arguments() {
    for (method, mut idempotent, calls) in
        [("GET", false, 3), ("POST", false, 1), ("POST", true, 3)]
    {
        let log = Log::start();
        let answer = request(method, &mut idempotent, "{}".into());
        assert!(answer.await.is_err());
        assert_eq!(log.calls(), calls);
    }
}

/// Promise 13. Do not compile yet: a pattern is matched against a reference, and unlike a literal
/// number a constant or a text does not look through it (E0308).
mod constants_as_patterns {
    use super::*;

    #[derive(Debug, PartialEq, Eq)]
    struct Status(u16);

    impl Status {
        const UNAVAILABLE: Self = Self(503);
        const THROTTLED: Self = Self(429);
    }

    #[retryable(on(Status::UNAVAILABLE | Status::THROTTLED), sleep = record)]
    fn by_constant() -> Result<u32, Status> {
        call();
        Err(Status(503))
    }

    #[retryable(on("busy" | "gone"), sleep = record)]
    fn by_text() -> Result<u32, &'static str> {
        call();
        Err("gone")
    }

    #[test]
    fn constants_and_texts_are_patterns_too() {
        let log = Log::start();
        assert!(by_constant().is_err());
        assert_eq!(log.calls(), 3);
        let log = Log::start();
        assert!(by_text().is_err());
        assert_eq!(log.calls(), 3);
    }
}

/// Promises 12 and 13
#[tokio::test(start_paused = true)]
async fn closures_are_judged_as_functions_are() {
    let policy = Policy::new().jitter(Jitter::None);
    let log = Log::start();
    let judged = policy.on(|failed: &Failed| failed.0 < 2);
    let outcome = judged.retry_async(|| async { fail() });
    let start = Instant::now();
    assert_eq!(outcome.await, Err(Failed(2)));
    assert_eq!(start.elapsed(), Duration::from_millis(200));
    assert_eq!(log.calls(), 2);

    let log = Log::start();
    let permanent = policy.retry(|| Err::<(), _>(marked(None, true)));
    assert!(permanent.is_err());
    assert_eq!(log.calls(), 1);

    let log = Log::start();
    let hinted = policy.on(|_: &Failed| Decision::RetryAfter(301 * SECOND));
    assert_eq!(hinted.retry(fail), Err(Failed(1)));
    assert_eq!(log.calls(), 1);
}

#[retryable(on = |error| error.is::<Failed>(), sleep = record)]
fn boxed() -> Result<u32, Box<dyn Error>> {
    Ok(succeed_at(3)?)
}

/// Promise 13
#[test]
fn boxed_errors_can_be_asked_for_their_type() {
    let log = Log::start();
    assert_eq!(boxed().unwrap(), 3);
    assert!(matches!(
        log.events()[..],
        [Call, Wait(_), Call, Wait(_), Call]
    ));
}

/// An error inside of errors of its own kind, with something that may be transient at the end.
#[derive(Debug, Transient)]
enum Nested<E> {
    #[transient(inner)]
    Within(Box<Self>),
    #[transient(inner)]
    Around(Box<Nested<E>>),
    #[transient(inner)]
    End(E),
}

#[retryable(jitter = "none", sleep = record)]
fn nested(kind: io::ErrorKind) -> Result<u32, Nested<io::Error>> {
    let calls = succeed_at(3).map_err(|_| Nested::End(kind.into()));
    calls.map_err(|end| Nested::Around(Box::new(Nested::Within(Box::new(end)))))
}

/// Promise 13
#[test]
fn an_error_that_holds_its_own_kind_is_asked_to_the_end() {
    let _log = Log::start();
    assert_eq!(nested(io::ErrorKind::TimedOut).unwrap(), 3);
    let log = Log::start();
    assert!(nested(io::ErrorKind::NotFound).is_err());
    assert_eq!(log.calls(), 1);
}
