//! Error types of every kind.

use crate::support::{Busy, Calls, run};
use retry_runtime::{Transient, retryable};
use std::{error::Error, fmt, io, num::ParseIntError, rc::Rc, sync::Arc};

#[test]
fn anyhow_with_bail_and_question_mark_sync() {
    #[retryable(backoff = "none", on = "any")]
    fn shape(calls: &Calls, text: &str) -> anyhow::Result<u32> {
        let number: u32 = text.parse()?;
        if calls.fail_twice(number).is_err() {
            anyhow::bail!("busy with {number}");
        }
        anyhow::ensure!(number > 0, "too small");
        Ok(number)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, "1").unwrap(), 1);
    calls.each_saw(1);
}

#[test]
fn anyhow_with_bail_and_question_mark_async() {
    use anyhow::{Context as _, bail};
    #[retryable(backoff = "none", on = "any")]
    async fn shape(calls: &Calls, text: &str) -> anyhow::Result<u32> {
        let number: u32 = text.parse().context("not a number")?;
        tokio::task::yield_now().await;
        if calls.fail_twice(number).is_err() {
            bail!("busy with {number}");
        }
        Ok(number)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, "1")).unwrap(), 1);
    calls.each_saw(1);
}

#[test]
fn anyhow_judged_by_its_cause_sync() {
    #[retryable(backoff = "none", on = |error| error.is::<Busy>())]
    fn shape(calls: &Calls) -> Result<u32, anyhow::Error> {
        Ok(calls.fail_twice(())?)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls).unwrap(), 3);
    calls.each_saw(());
}

#[test]
fn boxed_error_returned_beside_question_mark_sync() {
    #[retryable(backoff = "none", on = "any")]
    fn shape(calls: &Calls, text: &str) -> Result<u32, Box<dyn Error>> {
        let number: u32 = text.parse()?;
        if let Err(error) = calls.fail_twice(number) {
            return Err(Box::new(error));
        }
        Ok(number)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, "1").unwrap(), 1);
    calls.each_saw(1);
}

#[test]
fn boxed_error_returned_beside_question_mark_async() {
    #[retryable(backoff = "none", on = "any")]
    async fn shape(
        calls: &Calls,
        text: &str,
    ) -> Result<u32, Box<dyn Error + Send + Sync + 'static>> {
        let number: u32 = text.parse()?;
        tokio::task::yield_now().await;
        if let Err(error) = calls.fail_twice(number) {
            return Err(Box::new(error));
        }
        Ok(number)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, "1")).unwrap(), 1);
    calls.each_saw(1);
}

#[test]
fn boxed_error_from_a_text_async() {
    #[retryable(backoff = "none", on = "any")]
    async fn shape(calls: &Calls) -> Result<u32, Box<dyn Error + Send + Sync>> {
        match calls.fail_twice(()) {
            Ok(number) => Ok(number),
            Err(Busy) => Err("text")?,
        }
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)).unwrap(), 3);
    calls.each_saw(());
}

#[test]
fn boxed_error_judged_by_its_type_sync() {
    fn is_busy(error: &(dyn Error + 'static)) -> bool {
        error.is::<Busy>()
    }
    #[retryable(backoff = "none", on = |error| is_busy(&**error))]
    fn shape(calls: &Calls) -> Result<u32, Box<dyn Error>> {
        Ok(calls.fail_twice(())?)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls).unwrap(), 3);
    calls.each_saw(());
}

#[test]
fn boxed_error_that_is_not_send_in_a_future_that_is_async() {
    #[retryable(backoff = "none", on = "any")]
    async fn shape(calls: &Calls) -> Result<u32, Box<dyn Error>> {
        Ok(calls.fail_twice(())?)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)).unwrap(), 3);
    calls.each_saw(());
}

#[test]
fn text_number_tuple_and_unit_errors_sync() {
    #[retryable(backoff = "none", on = "any")]
    fn text(calls: &Calls) -> Result<u32, String> {
        calls.fail_twice(()).map_err(|error| error.to_string())
    }
    #[retryable(backoff = "none", on(&"busy"))]
    fn borrowed(calls: &Calls) -> Result<u32, &'static str> {
        calls.fail_twice(()).map_err(|_| "busy")
    }
    #[retryable(backoff = "none", on(500..=599))]
    fn number(calls: &Calls) -> Result<u32, u16> {
        calls.fail_twice(()).map_err(|_| 503)
    }
    #[retryable(backoff = "none", on((_, true)))]
    fn tuple(calls: &Calls) -> Result<u32, (Busy, bool)> {
        calls.fail_twice(()).map_err(|error| (error, true))
    }
    #[retryable(backoff = "none", on = "any")]
    fn unit(calls: &Calls) -> Result<u32, ()> {
        calls.fail_twice(()).map_err(drop)
    }
    let all = [const { Calls::new() }; 5];
    let [a, b, c, d, e] = &all;
    assert_eq!(text(a), Ok(3));
    assert_eq!(borrowed(b), Ok(3));
    assert_eq!(number(c), Ok(3));
    assert_eq!(tuple(d), Ok(3));
    assert_eq!(unit(e), Ok(3));
    all.iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn errors_behind_pointers_sync() {
    #[retryable(backoff = "none")]
    fn boxed(calls: &Calls) -> Result<u32, Box<Busy>> {
        calls.fail_twice(()).map_err(Box::new)
    }
    #[retryable(backoff = "none")]
    fn shared(calls: &Calls) -> Result<u32, Arc<io::Error>> {
        let number = calls.fail_twice(()).map_err(io::Error::from);
        number.map_err(Arc::new)
    }
    #[retryable(backoff = "none")]
    fn object(calls: &Calls) -> Result<u32, Box<dyn Transient>> {
        if let Err(error) = calls.fail_twice(()) {
            return Err(Box::new(error));
        }
        Ok(3)
    }
    let all = [const { Calls::new() }; 3];
    let [a, b, c] = &all;
    assert_eq!(boxed(a), Ok(3));
    assert_eq!(shared(b).unwrap(), 3);
    assert!(object(c).is_ok());
    all.iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn error_that_borrows_an_argument_sync() {
    #[derive(Debug, PartialEq, Transient)]
    #[transient]
    struct Unexpected<'a>(&'a str);
    #[retryable(backoff = "none")]
    fn shape<'a>(calls: &Calls, text: &'a str) -> Result<u32, Unexpected<'a>> {
        calls.fail_twice(text).map_err(|_| Unexpected(text))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, "a"), Ok(3));
    calls.each_saw("a");
}

#[test]
fn error_that_borrows_an_argument_async() {
    #[derive(Debug, PartialEq)]
    struct Unexpected<'a>(&'a str);
    #[retryable(backoff = "none", on(Unexpected(_)))]
    async fn shape<'a>(calls: &Calls, text: &'a str) -> Result<u32, Unexpected<'a>> {
        calls.fail_twice(text).map_err(|_| Unexpected(text))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, "a")), Ok(3));
    calls.each_saw("a");
}

#[test]
fn error_without_any_trait_sync() {
    struct Bare;
    #[retryable(backoff = "none", on = "any")]
    fn shape(calls: &Calls) -> Result<u32, Bare> {
        calls.fail_twice(()).map_err(|_| Bare)
    }
    let calls = Calls::new();
    assert!(matches!(shape(&calls), Ok(3)));
    calls.each_saw(());
}

#[test]
fn error_that_is_not_send_in_a_future_that_is_async() {
    #[retryable(backoff = "none", on = "any")]
    async fn shape(calls: &Calls) -> Result<u32, Rc<str>> {
        tokio::task::yield_now().await;
        calls.fail_twice(()).map_err(|_| Rc::from("busy"))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

#[test]
fn errors_of_the_standard_library_sync() {
    #[retryable(backoff = "none", on = "any")]
    fn number(calls: &Calls) -> Result<u32, ParseIntError> {
        let text = calls.fail_twice(()).map_or("x", |_| "3");
        text.parse()
    }
    #[retryable(backoff = "none", on(fmt::Error))]
    fn write(calls: &Calls, out: &mut String) -> fmt::Result {
        out.push('!');
        calls.fail_twice(&out).map_err(|_| fmt::Error).map(drop)
    }
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!(number(&a), Ok(3));
    assert_eq!(write(&b, &mut String::new()), Ok(()));
    a.each_saw(());
    b.saw(["!", "!!", "!!!"]);
}

#[test]
fn derived_error_with_an_inner_one_async() {
    #[derive(Debug, Transient)]
    enum ApiError {
        #[transient(inner)]
        Io(io::Error),
        #[permanent]
        Denied,
    }
    impl From<io::Error> for ApiError {
        fn from(error: io::Error) -> Self {
            Self::Io(error)
        }
    }
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, denied: bool) -> Result<u32, ApiError> {
        let number = calls.fail_twice(denied).map_err(io::Error::from);
        if denied {
            return Err(ApiError::Denied);
        }
        Ok(number?)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, false)).unwrap(), 3);
    calls.each_saw(false);
    let calls = Calls::new();
    assert!(matches!(run(shape(&calls, true)), Err(ApiError::Denied)));
    calls.saw([true]);
}

#[test]
fn last_error_is_returned_untouched_sync() {
    #[derive(Debug)]
    struct Wrapped(u32, Busy);
    impl fmt::Display for Wrapped {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "call {}", self.0)
        }
    }
    impl Error for Wrapped {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.1)
        }
    }
    #[retryable(backoff = "none", on = "any")]
    fn shape(number: &mut u32) -> Result<u32, Box<dyn Error>> {
        *number += 1;
        Err(Box::new(Wrapped(*number, Busy)))
    }
    let error = shape(&mut 0).unwrap_err();
    assert_eq!(error.to_string(), "call 3");
    assert!(error.source().unwrap().is::<Busy>());
}
