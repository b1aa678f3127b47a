//! Outcome of an attempt -> success, or a failure to decide about. Told apart by type, so that
//! aliases of `Result` work.

use std::convert::Infallible;

use crate::decision::Decision;

/// What an attempt may return when only its errors are judged: a `Result`, or an alias of one.
#[diagnostic::on_unimplemented(
    message = "`#[retryable]` can not tell whether `{Self}` is a failure",
    label = "neither a `Result` nor judged by `until`",
    note = "return a `Result`, or say which values are final: `until = \"is_ready\"` or `until(Some(_))`"
)]
pub trait Fallible<E> {
    /// The error of a failed attempt.
    fn failure(&self) -> Option<&E>;
}

impl<T, E> Fallible<E> for Result<T, E> {
    #[inline]
    fn failure(&self) -> Option<&E> {
        self.as_ref().err()
    }
}

/// An outcome whose value is judged by `until`. For a `Result` the value is that of `Ok`; anything
/// else is itself the value.
#[derive(Debug)]
pub struct Judged<'a, O>(pub &'a O);

impl<'a, T, E> Judged<'a, Result<T, E>> {
    /// Found before that of [`AnyValue`], because it is inherent. The name is one that no trait for
    /// all types has.
    #[inline]
    #[expect(clippy::missing_errors_doc, reason = "the error is the attempt's")]
    pub fn __retryable_split(self) -> Result<&'a T, &'a E> {
        self.0.as_ref()
    }
}

/// For values that are not a `Result`.
pub trait AnyValue<'a, O> {
    /// The value; there is no error.
    #[expect(clippy::missing_errors_doc, reason = "there is none")]
    fn __retryable_split(self) -> Result<&'a O, &'a Infallible>;
}

impl<'a, O> AnyValue<'a, O> for Judged<'a, O> {
    #[inline]
    fn __retryable_split(self) -> Result<&'a O, &'a Infallible> {
        Ok(self.0)
    }
}

/// The decision in what a predicate returned.
#[inline]
pub fn decision(said: impl Into<Decision>) -> Decision {
    said.into()
}

/// The decision of a closure, which learns its argument's type here.
#[inline]
pub fn decision_by<E, D: Into<Decision>>(error: &E, predicate: impl FnOnce(&E) -> D) -> Decision {
    predicate(error).into()
}

/// The answer of a closure, which learns its argument's type here.
#[inline]
pub fn holds<T>(value: &T, predicate: impl FnOnce(&T) -> bool) -> bool {
    predicate(value)
}
