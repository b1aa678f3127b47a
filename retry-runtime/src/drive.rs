//! The one loop. The attribute expands to a call of [`__retry!`](crate::__retry), and
//! [`Policy::retry`] is written with it.
//!
//! An inline loop and not a function that takes a closure: such a function loses `Send` with
//! `AsyncFnMut`, can not lend `&mut` with `FnMut() -> Future`, and makes larger futures with both.

use crate::{Decision, Policy, Transient};

/// The parts come in parentheses, in this order:
///
/// - `attempt`: an expression, evaluated once per attempt, or one of
///   `blocking`/`task`/`future` `[returns] [bindings] { body }`
/// - `judge`: `[outcome => failure] |error| decision`, or `|value| is_final, |error| decision`
/// - `policy`: an expression for `&Policy`, evaluated after a failed attempt only
/// - `wait`: `blocking`/`task` and the function that waits, or for `task` the name to report when
///   nothing can
#[doc(hidden)]
#[macro_export]
macro_rules! __retry {
    (
        attempt($($attempt:tt)*)
        judge($($judge:tt)*)
        policy($policy:expr)
        wait($($wait:tt)*)
    ) => {{
        let mut attempts = $crate::__private::Attempts::begin();
        loop {
            // the outcome ends with this block: an error that is not `Send` must not live on
            // while a task waits
            let wait = {
                let outcome = $crate::__retry!(@attempt $($attempt)*);
                match $crate::__retry!(@judge outcome, $($judge)*) {
                    $crate::__private::Option::None => break outcome,
                    $crate::__private::Option::Some(decision) => {
                        match attempts.after_failure($policy, decision) {
                            $crate::__private::Next::Return => break outcome,
                            $crate::__private::Next::Wait(wait) => wait,
                        }
                    }
                }
            };
            $crate::__retry!(@wait wait, $($wait)*);
        }
    }};

    // `return` and `?` end the attempt, not the loop, and the return type is known to both
    (@attempt blocking [$returns:ty] [] $body:tt) => {
        (|| -> $returns $body)()
    };
    (@attempt blocking [$returns:ty] [$($bindings:tt)+] $body:tt) => {
        (|| -> $returns { $($bindings)+ $body })()
    };
    (@attempt task [$returns:ty] [$($bindings:tt)*] $body:tt) => {
        async {
            // an async block can not be given a type, except by a return
            if false {
                return $crate::__private::never::<$returns>();
            }
            $($bindings)*
            $body
        }
        .await
    };
    // the body gives a future
    (@attempt future $($parts:tt)*) => {
        $crate::__retry!(@attempt blocking $($parts)*).await
    };
    (@attempt expression $attempt:expr) => { $attempt };

    (@judge $outcome:ident, [$found:ident => $failure:expr] |$error:ident| $decision:expr) => {
        match {
            let $found = &$outcome;
            $failure
        } {
            $crate::__private::Option::None => $crate::__private::Option::None,
            $crate::__private::Option::Some($error) => $crate::__private::Option::Some($decision),
        }
    };
    (@judge $outcome:ident, |$value:ident| $is_final:expr, |$error:ident| $decision:expr) => {
        match {
            use $crate::__private::AnyValue as _;
            $crate::__private::Judged(&$outcome).split()
        } {
            $crate::__private::Result::Ok($value) if $is_final => $crate::__private::Option::None,
            $crate::__private::Result::Ok(_) => {
                $crate::__private::Option::Some($crate::__private::Decision::Retry)
            }
            $crate::__private::Result::Err($error) => $crate::__private::Option::Some($decision),
        }
    };

    (@wait $wait:ident, $kind:ident with |$given:ident| $($sleep:tt)*) => {
        let $given = $wait;
        $($sleep)*
    };
    (@wait $wait:ident, blocking) => { $crate::__private::block($wait) };
    (@wait $wait:ident, task named $name:expr) => {
        if $wait.is_zero() {
            $crate::__private::yield_now().await
        } else {
            $crate::__private::require_timer($name);
            $crate::__private::pause($wait).await
        }
    };
}

/// Retrying a closure, for a part of a function or an operation built at run time.
impl Policy {
    /// Calls `operation` until it succeeds, fails with an error that is not transient, or the
    /// calls are used up. Blocks the thread between the calls; in async code use
    /// [`retry_async`](Policy#method.retry_async).
    ///
    /// ```
    /// use retry_runtime::Policy;
    /// use std::{fs, io};
    ///
    /// const QUICK: Policy = Policy::new().max(3).base_ms(1);
    ///
    /// let error = QUICK.retry(|| fs::read_to_string("no/such/file")).unwrap_err();
    /// assert_eq!(error.kind(), io::ErrorKind::NotFound);
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the last call, untouched.
    pub fn retry<T, E: Transient>(self, operation: impl FnMut() -> Result<T, E>) -> Result<T, E> {
        self.on(Transient::decision).retry(operation)
    }

    /// Awaits the future that `operation` makes, until one succeeds, fails with an error that is
    /// not transient, or the calls are used up. `Send` if the operation and its future are.
    ///
    /// ```
    /// use retry_runtime::Policy;
    /// use std::io;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> io::Result<()> {
    /// let mut failures = vec![io::ErrorKind::ConnectionReset];
    /// let answer = Policy::new().base_ms(1).retry_async(|| {
    ///     let failure = failures.pop();
    ///     async move { failure.map_or(Ok("answer"), |kind| Err(io::Error::from(kind))) }
    /// });
    /// assert_eq!(answer.await?, "answer");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the last call, untouched.
    ///
    /// # Panics
    ///
    /// If it has to wait where there is no timer: outside of a tokio runtime, with neither of the
    /// features `smol` and `timer`.
    ///
    /// # Cancellation safety
    ///
    /// Dropping the future drops the attempt or the wait in progress; nothing is left behind.
    #[cfg(any(feature = "tokio", feature = "smol", feature = "timer"))]
    pub async fn retry_async<T, E: Transient, F>(self, operation: impl FnMut() -> F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        self.on(Transient::decision).retry_async(operation).await
    }

    /// The same policy, with a predicate that says which errors are retried: it returns a `bool`
    /// or a [`Decision`]. The error type need not be [`Transient`].
    ///
    /// ```
    /// use retry_runtime::{Decision, Policy};
    ///
    /// let quick = Policy::new().max(5).base_ms(1);
    /// let mut calls = 0;
    /// let error = quick
    ///     .on(|error: &&str| if *error == "busy" { Decision::RetryNow } else { Decision::Stop })
    ///     .retry(|| {
    ///         calls += 1;
    ///         if calls < 3 { Err::<(), _>("busy") } else { Err("gone") }
    ///     });
    /// assert_eq!((error, calls), (Err("gone"), 3));
    /// ```
    pub const fn on<P>(self, predicate: P) -> Retrier<P> {
        Retrier {
            policy: self,
            predicate,
        }
    }
}

/// A policy with a predicate, made by [`Policy::on`].
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is retried until an operation is given"]
pub struct Retrier<P> {
    policy: Policy,
    predicate: P,
}

impl<P> Retrier<P> {
    /// As [`Policy::retry`], with the predicate in place of [`Transient`].
    ///
    /// # Errors
    ///
    /// The error of the last call, untouched.
    pub fn retry<T, E, D>(&self, mut operation: impl FnMut() -> Result<T, E>) -> Result<T, E>
    where
        P: Fn(&E) -> D,
        D: Into<Decision>,
    {
        __retry! {
            attempt(expression operation())
            judge([outcome => outcome.as_ref().err()] |error| (self.predicate)(error).into())
            policy(&self.policy)
            wait(blocking)
        }
    }

    /// As [`Policy::retry_async`], with the predicate in place of [`Transient`].
    ///
    /// # Errors
    ///
    /// The error of the last call, untouched.
    ///
    /// # Panics
    ///
    /// If it has to wait where there is no timer: outside of a tokio runtime, with neither of the
    /// features `smol` and `timer`.
    ///
    /// # Cancellation safety
    ///
    /// Dropping the future drops the attempt or the wait in progress; nothing is left behind.
    #[cfg(any(feature = "tokio", feature = "smol", feature = "timer"))]
    pub async fn retry_async<T, E, D, F>(&self, mut operation: impl FnMut() -> F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
        P: Fn(&E) -> D,
        D: Into<Decision>,
    {
        __retry! {
            attempt(expression operation().await)
            judge([outcome => outcome.as_ref().err()] |error| (self.predicate)(error).into())
            policy(&self.policy)
            wait(task named "Policy::retry_async")
        }
    }
}
