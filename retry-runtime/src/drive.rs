//! The one loop. The attribute expands to a call of [`__retry!`](crate::__retry), and
//! [`Policy::retry`] is written with it.
//!
//! An inline loop and not a function that takes a closure: such a function loses `Send` with
//! `AsyncFnMut`, can not lend `&mut` with `FnMut() -> Future`, and makes larger futures with both.

use crate::{Decision, Policy, Transient};

/// The parts come in parentheses, in this order:
///
/// - `attempt`: an expression, evaluated once per attempt, or one of
///   - `blocking`/`future` `[returns] [bindings] { body }`
///   - `straight [returns] [bindings] { body }`: of a task, where nothing leaves the body early
///   - `task [returns] [bindings before the future] [bindings in it] { body }`, perhaps after
///     `within [limit = time, error] by [timer]`, the time that an attempt may take
/// - `judge`: `[outcome => failure] |error| decision`, or `|value| is_final, |error| decision`
/// - `policy`: an expression for `&Policy`, evaluated after a failed attempt; of a function with
///   `[items that it needs] [itself, if it is a constant]` before it
/// - `wait`: `blocking`/`task`; perhaps `unless [token] late [whether the deadline has passed]`;
///   perhaps `with` the function that waits
/// - `limits`: `[statements before the first attempt] state`, the state after a failed attempt
/// - `breaker`: a permit for each attempt, and the outcome where there is none
/// - `bind`: a name for the `Attempt`, and the time that remains
/// - `recover`: what becomes of a failure, after `some` or `all` errors
/// - `events`: name and level; `[span]` if each attempt has one; `[returns, notifier, notify]`
///   if the call tells somebody
///
/// Those from `limits` to `recover` are empty unless asked for.
///
/// Hygiene keeps variables apart but not a variable from a constant of the same name, so that the
/// names are ones that nobody gives to a constant.
#[doc(hidden)]
#[macro_export]
macro_rules! __retry {
    (
        attempt($($attempt:tt)*)
        judge $judge:tt
        policy $policy:tt
        wait($kind:ident $($wait:tt)*)
        limits($([$($before:tt)*] $limits:expr)?)
        breaker($($permit:ident = $breaker:expr, |$open:ident| [$refused:ty] $refusal:expr, |$decided:ident| $counts:expr)?)
        bind($($name:ident, $remaining:expr)?)
        recover $recover:tt
        events($label:expr, $level:ident $span:tt $notify:tt)
    ) => {{
        $crate::__retry!(@site $label, $policy);
        $($($before)*)?
        let mut __attempts = $crate::__private::Attempts::begin();
        $crate::__events!($notify
            let mut __call = $crate::__private::Call::begin(
                $crate::__private::Label::new($label, $crate::__private::Level::$level),
                $crate::__retry!(@notify $notify $judge),
                $crate::__private::Started::$kind,
                $crate::__retry!(@max $policy),
            );
        );
        loop {
            $(let $name = $crate::__private::Attempts::current(__attempts, $crate::__retry!(@policy $policy), $remaining);)?
            $(
                let $permit = match $crate::__private::CircuitBreaker::try_acquire($breaker) {
                    $crate::__private::Result::Ok(__permit) => __permit,
                    $crate::__private::Result::Err($open) => {
                        let __outcome: $refused = $crate::__private::Result::Err($refusal);
                        let __end = $crate::__private::Next::ended($crate::__private::Reason::Breaker);
                        break $crate::__retry!(@end [__attempts __call $notify $judge $recover] __end, __outcome);
                    }
                };
            )?
            $crate::__events!($notify $crate::__private::Call::attempts(&mut __call););
            // the outcome ends with this block: an error that is not `Send` must not live on
            // while a task waits
            let __wait = {
                let __outcome = $crate::__retry!(@spanned $span [$label, __attempts] $($attempt)*);
                // in variables, so that what an expression of the user's locks is not locked on
                let __judged = $crate::__retry!(@judge __outcome, $judge);
                let __next = match __judged {
                    $crate::__private::Option::None => {
                        $($crate::__private::Permit::success($permit);)?
                        $crate::__private::Next::DONE
                    }
                    $crate::__private::Option::Some(__decision) => {
                        $(
                            let $decided = __decision;
                            $crate::__private::record($permit, &__outcome, $counts);
                        )?
                        let __limits = $crate::__retry!(@limits $($limits)?);
                        $crate::__private::Attempts::after_failure(
                            &mut __attempts,
                            $crate::__events!(@policy $notify __call, $crate::__retry!(@policy $policy)),
                            __decision,
                            __limits,
                        )
                    }
                };
                match $crate::__private::Next::wait(__next) {
                    $crate::__private::Option::Some(__wait) => {
                        $crate::__events!($notify $crate::__private::Call::retries(
                            &mut __call,
                            &$crate::__retry!(@seen __outcome, $judge),
                            __wait,
                            __judged,
                        ););
                        $crate::__retry!(
                            @hold [__attempts __call $notify $judge $recover]
                            __outcome, __wait, [$label] $kind $($wait)*
                        )
                    }
                    // the only way out of the loop, so that the outcome is made where it is returned
                    $crate::__private::Option::None => {
                        break $crate::__retry!(@end [__attempts __call $notify $judge $recover] __next, __outcome);
                    }
                }
            };
            $crate::__retry!(@wait __wait, [$label] $kind $($wait)*);
        }
    }};

    // a function has a place in the list of them, and its policy may be overridden
    (@site $label:expr, ([$($items:tt)*] $known:tt $policy:expr)) => {
        $($items)*
        $crate::__site!($label, $known);
    };
    (@site $label:expr, $policy:tt) => {};
    (@policy ([$($items:tt)*] $known:tt $policy:expr)) => { $crate::__site!(@policy $policy) };
    (@policy ($policy:expr)) => { $policy };
    // asked only where somebody looks
    (@max ([$($items:tt)*] [$known:expr] $policy:expr)) => {
        || $crate::__private::Policy::max_calls($crate::__site!(@policy $known))
    };
    (@max ([$($items:tt)*] [] $policy:expr)) => { || $crate::__private::Option::None };
    (@max ($policy:expr)) => { || $crate::__private::Policy::max_calls($policy) };

    (@limits) => { $crate::__private::Option::None };
    (@limits $limits:expr) => { $crate::__private::Option::Some($limits) };

    (@notify [] $judge:tt) => { $crate::__private::Nobody };
    (@notify [$returns:ty, $call:path, $notify:expr] $judge:tt) => {
        $call(|__outcome: &$returns| $crate::__retry!(@error __outcome, $judge), $notify)
    };

    // the error of a failed attempt, and what those see of it who are told
    (@error $outcome:ident, ([$found:ident => $failure:expr] $($judge:tt)*)) => {{
        let $found = $outcome;
        $failure
    }};
    (@error $outcome:ident, $judge:tt) => {{
        use $crate::__private::AnyValue as _;
        $crate::__private::Result::err($crate::__private::Judged($outcome).__retryable_split())
    }};
    (@seen $outcome:ident, $judge:tt) => {{
        let __outcome = &$outcome;
        $crate::__seen!($crate::__retry!(@error __outcome, $judge))
    }};

    // a span for each attempt
    (@spanned [] $named:tt $($attempt:tt)*) => { $crate::__retry!(@attempt $($attempt)*) };
    (@spanned [span] [$label:expr, $attempts:ident] blocking $($attempt:tt)*) => {
        $crate::__spanned!(
            $label, $attempts, blocking $crate::__retry!(@attempt blocking $($attempt)*)
        )
    };
    (@spanned [span] [$label:expr, $attempts:ident] task $($attempt:tt)*) => {{
        $crate::__retry!(@future __attempt, task $($attempt)*);
        $crate::__spanned!($label, $attempts, future __attempt)
    }};
    (@spanned [span] [$label:expr, $attempts:ident] $($attempt:tt)*) => {
        $crate::__spanned!($label, $attempts, task $crate::__retry!(@attempt $($attempt)*))
    };

    // `return` and `?` end the attempt, not the loop, and the return type is known to both. The body
    // is a block of its own, so that its imports do not change that type; it has a label, because
    // braces without one would be called unnecessary where it is a single expression.
    (@attempt blocking [$returns:ty] [] $body:tt) => {
        (|| -> $returns $body)()
    };
    (@attempt blocking [$returns:ty] [$($bindings:tt)+] $body:tt) => {
        (|| -> $returns { $($bindings)+ '_body: $body })()
    };
    (@attempt expression $attempt:expr) => { $attempt };
    // a future by itself costs a byte of state, the captured arguments, and the time to write them
    (@attempt straight [$returns:ty] [$($bindings:tt)*] $body:tt) => {{
        $($bindings)*
        // a body that never ends would make what follows it unreachable
        let __outcome: $returns = if true $body else { $crate::__private::never() };
        __outcome
    }};
    (@attempt within [$limit:ident = $value:expr, $timed_out:expr] by [$($timer:expr)?] $($task:tt)*) => {{
        let $limit = $value;
        $crate::__retry!(@future __attempt, $($task)*);
        let __attempt = $crate::__private::pin!(__attempt);
        match $crate::__private::within(__attempt, $crate::__timer!($limit $(, $timer)?)).await {
            $crate::__private::Option::Some(__outcome) => __outcome,
            $crate::__private::Option::None => $crate::__private::Result::Err($timed_out),
        }
    }};
    (@attempt $($task:tt)*) => {{
        $crate::__retry!(@future __attempt, $($task)*);
        __attempt.await
    }};
    (@future $attempt:ident, task [$returns:ty] [$($before:tt)*] [$($inside:tt)*] $body:tt) => {
        $($before)*
        let $attempt = async {
            // an async block can not be given a type, except by a return
            if false {
                return $crate::__private::never::<$returns>();
            }
            $($inside)*
            '_body: $body
        };
    };
    // the body gives a future
    (@future $attempt:ident, future $($body:tt)*) => {
        let $attempt = $crate::__retry!(@attempt blocking $($body)*);
    };

    (@judge $outcome:ident, ([$found:ident => $failure:expr] |$error:ident| $decision:expr)) => {
        match {
            let $found = &$outcome;
            $failure
        } {
            $crate::__private::Option::None => $crate::__private::Option::None,
            $crate::__private::Option::Some($error) => $crate::__private::Option::Some($decision),
        }
    };
    (@judge $outcome:ident, (|$value:ident| $is_final:expr, |$error:ident| $decision:expr)) => {
        match {
            use $crate::__private::AnyValue as _;
            $crate::__private::Judged(&$outcome).__retryable_split()
        } {
            $crate::__private::Result::Ok($value) if $is_final => $crate::__private::Option::None,
            $crate::__private::Result::Ok(_) => {
                $crate::__private::Option::Some($crate::__private::Decision::Retry)
            }
            $crate::__private::Result::Err($error) => $crate::__private::Option::Some($decision),
        }
    };

    // a call that can end after a wait waits with its outcome, which it then returns
    (@hold $end:tt $outcome:ident, $wait:ident, $label:tt $kind:ident unless [$token:expr] late [$($late:expr)?] $($how:tt)*) => {{
        let __cancelled = $crate::__retry!(@cancelled $wait, $label $kind [$token] $($how)*);
        if __cancelled {
            let __end = $crate::__private::Next::ended($crate::__private::Reason::Cancelled);
            break $crate::__retry!(@end $end __end, $outcome);
        }
        $($crate::__retry!(@late $end $outcome, $late);)?
        $wait
    }};
    (@hold $end:tt $outcome:ident, $wait:ident, $label:tt $kind:ident unless [] late [$late:expr] $($how:tt)*) => {{
        $crate::__retry!(@wait $wait, $label $kind $($how)*);
        $crate::__retry!(@late $end $outcome, $late);
        $wait
    }};
    (@hold $end:tt $outcome:ident, $wait:ident, $($how:tt)*) => { $wait };

    // the wait was in time, but the thread or the task came back late
    (@late $end:tt $outcome:ident, $late:expr) => {
        let __late = $late;
        if __late {
            let __end = $crate::__private::Next::ended($crate::__private::Reason::Deadline);
            break $crate::__retry!(@end $end __end, $outcome);
        }
    };

    (@cancelled $wait:ident, $label:tt blocking [$token:expr]) => {
        $crate::__cancelled!($token, $wait)
    };
    (@cancelled $wait:ident, $label:tt task [$token:expr] $($how:tt)*) => {
        $crate::__cancelled!($token, async {
            $crate::__retry!(@wait $wait, $label task $($how)*);
        })
    };

    (@wait $wait:ident, $label:tt $kind:ident unless $($how:tt)*) => {
        let _ = $wait;
    };
    (@wait $wait:ident, $label:tt blocking with |$given:ident| $($sleep:tt)*) => {
        if !$crate::__private::is_over($wait) {
            let $given = $crate::__private::Wait::duration($wait);
            $($sleep)*
        }
    };
    (@wait $wait:ident, $label:tt task with |$given:ident| $sleep:expr) => {
        if $crate::__private::Wait::is_zero($wait) {
            $crate::__private::no_pause($wait).await
        } else {
            let $given = $crate::__private::Wait::duration($wait);
            $sleep
        }
    };
    (@wait $wait:ident, $label:tt blocking) => { $crate::__private::block($wait) };
    (@wait $wait:ident, [$label:expr] task) => {
        if $crate::__private::Wait::is_zero($wait) {
            $crate::__private::no_pause($wait).await
        } else {
            $crate::__pause!($crate::__private::Wait::duration($wait), $label)
        }
    };

    (@end [$attempts:ident $call:ident $notify:tt $judge:tt $recover:tt] $end:ident, $outcome:ident) => {{
        $crate::__events!($notify $crate::__private::Call::ends(
            &mut $call,
            $end,
            &$crate::__retry!(@seen $outcome, $judge),
        ););
        $crate::__retry!(@recover $attempts, $end, $outcome, $recover)
    }};
    (@recover $attempts:ident, $end:ident, $outcome:ident, ()) => {{
        let _ = $end;
        $outcome
    }};
    // `some`: an error that was never worth a retry is not recovered from
    (@recover $attempts:ident, $end:ident, $outcome:ident, ($which:ident $started:ident |$failure:ident| $recovered:expr)) => {
        match ($crate::__private::Next::reason($end), $outcome) {
            ($crate::__private::Option::Some(__reason), $crate::__private::Result::Err(__error))
                if $crate::__retry!(@recovers $which __reason) =>
            {
                let $failure = $crate::__private::Failure::new(
                    __error,
                    $crate::__private::Attempts::failures($attempts),
                    $crate::__private::Started::elapsed(&$started),
                    __reason,
                );
                $recovered
            }
            (_, __outcome) => __outcome,
        }
    };
    (@recovers all $reason:ident) => { true };
    (@recovers some $reason:ident) => { $reason != $crate::__private::Reason::NotRetryable };
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
            name: None,
        }
    }
}

/// A policy with a predicate, made by [`Policy::on`].
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is retried until an operation is given"]
pub struct Retrier<P> {
    policy: Policy,
    predicate: P,
    name: Option<&'static str>,
}

impl<P> Retrier<P> {
    /// What the operation is called in events and metrics, instead of `Policy::retry` or
    /// `Policy::retry_async`.
    ///
    /// ```
    /// use retry_runtime::Policy;
    /// use std::{fs, io};
    ///
    /// let is_busy = |error: &io::Error| error.kind() == io::ErrorKind::ResourceBusy;
    /// let config = Policy::new().base_ms(10).on(is_busy).named("read config");
    /// assert!(config.retry(|| fs::read("no/such/file")).is_err());
    /// ```
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// As [`Policy::retry`], with the predicate in place of [`Transient`].
    ///
    /// # Errors
    ///
    /// The error of the last call, untouched.
    pub fn retry<T, E, D>(self, mut operation: impl FnMut() -> Result<T, E>) -> Result<T, E>
    where
        P: Fn(&E) -> D,
        D: Into<Decision>,
    {
        __retry! {
            attempt(expression operation())
            judge([outcome => outcome.as_ref().err()] |error| (self.predicate)(error).into())
            policy(&self.policy)
            wait(blocking)
            limits()
            breaker()
            bind()
            recover()
            events(self.name.unwrap_or("Policy::retry"), Warn [] [])
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
    pub async fn retry_async<T, E, D, F>(self, mut operation: impl FnMut() -> F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
        P: Fn(&E) -> D,
        D: Into<Decision>,
    {
        __retry! {
            attempt(expression operation().await)
            judge([outcome => outcome.as_ref().err()] |error| (self.predicate)(error).into())
            policy(&self.policy)
            wait(task)
            limits()
            breaker()
            bind()
            recover()
            events(self.name.unwrap_or("Policy::retry_async"), Warn [] [])
        }
    }
}
