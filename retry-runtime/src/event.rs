//! What a call tells of itself.

use std::{error::Error, fmt, time::Duration};

use crate::{decision::Decision, limits::Reason};

/// A retry that is about to be waited for, or the end of a call.
///
/// The function given as `notify` sees the error as it is: `fn(&Event<'_, E>)`. The observer of the
/// whole process (feature `observer`) sees a [`Cause`] in its place: `Fn(&Event<'_>)`. Nothing is
/// allocated for either.
///
/// ```
/// # #[cfg(feature = "macros")] {
/// use retry_runtime::{Event, retryable};
/// use std::sync::Mutex;
///
/// static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());
///
/// fn log(event: &Event<'_, &str>) {
///     LOG.lock().unwrap().push(match (event.wait(), event.outcome()) {
///         (Some(wait), _) => format!("{}/{}: {wait:?}", event.attempt, event.max.unwrap()),
///         (_, outcome) => format!("{} at {}", outcome.unwrap(), event.attempt),
///     });
/// }
///
/// #[retryable(max = 3, base_ms = 1, factor = 2, jitter = "none", on = "any", notify = log)]
/// fn fetch() -> Result<(), &'static str> {
///     Err("no answer")
/// }
///
/// assert!(fetch().is_err());
/// assert_eq!(*LOG.lock().unwrap(), ["1/3: 1ms", "2/3: 2ms", "attempts used up at 3"]);
/// # }
/// ```
///
/// # When
///
/// - Once for each retry, when it is decided and before its wait. The wait told is the wait made,
///   unless somebody cancels it.
/// - Once at the end, whatever ends the call: also a success at the first attempt, a future that is
///   dropped, and a panic of the body.
///
/// So the events of a call are `Retry` with `attempt` 1, 2, 3 and so on, and then one `End`. If the
/// function that is told panics, the call ends with that panic and nobody is told any more: neither an
/// observer nor the metrics see its end. Where it panics while another panic is under way, such as
/// that of the body, the process ends.
#[derive(Debug)]
#[non_exhaustive]
pub struct Event<'a, E = Cause<'a>> {
    /// Tells calls apart: a number that no other call in this process has
    pub call: u64,
    /// The function: the key `name`, or else its module path and name
    pub name: &'static str,
    /// The attempt that has ended: 1, 2, 3 and so on. 0 only at the end of a call whose breaker let
    /// no attempt through
    pub attempt: u32,
    /// How many there may be; `None` if unlimited, and before the first failure of a call whose
    /// policy is evaluated at run time
    pub max: Option<u32>,
    /// Of this attempt; `None` after a success, after a value that is not final, and where a future
    /// was dropped or a body panicked
    pub error: Option<&'a E>,
    /// Since the call began
    pub elapsed: Duration,
    /// What follows
    pub step: Step,
}

/// What follows an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Another attempt
    #[non_exhaustive]
    Retry {
        /// How long the call waits for it
        wait: Duration,
        /// What the predicate said: `Retry` where it is a `bool`, and for a value that is not final
        decision: Decision,
    },
    /// Nothing: the call has ended
    End(Outcome),
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// With a success, or a final value
    Success,
    /// Without one
    Failure(Reason),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success => f.write_str("success"),
            Self::Failure(reason) => reason.fmt(f),
        }
    }
}

impl<E> Event<'_, E> {
    /// The wait before the retry; `None` at the end.
    pub const fn wait(&self) -> Option<Duration> {
        match self.step {
            Step::Retry { wait, .. } => Some(wait),
            Step::End(_) => None,
        }
    }

    /// How the call ended; `None` before a retry.
    pub const fn outcome(&self) -> Option<Outcome> {
        match self.step {
            Step::Retry { .. } => None,
            Step::End(outcome) => Some(outcome),
        }
    }

    /// How many retries were made before this event: the attempts after the first one.
    pub const fn retries(&self) -> u32 {
        self.attempt.saturating_sub(1)
    }
}

impl<E: fmt::Display> fmt::Display for Event<'_, E> {
    /// `fetch: attempt 1/3 failed: no answer; the next one in 200ms`, or at the end
    /// `fetch: attempts used up after attempt 3/3, 601ms: no answer`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            attempt,
            elapsed,
            error,
            ..
        } = self;
        let of = |f: &mut fmt::Formatter<'_>| match self.max {
            Some(max) => write!(f, "{attempt}/{max}"),
            None => write!(f, "{attempt}"),
        };
        match self.step {
            Step::Retry { wait, .. } => {
                write!(f, "{name}: attempt ")?;
                of(f)?;
                match error {
                    Some(error) => write!(f, " failed: {error}; ")?,
                    None => f.write_str(" gave no final value; ")?,
                }
                write!(f, "the next one in {wait:?}")
            }
            Step::End(outcome) => {
                write!(f, "{name}: {outcome} after attempt ")?;
                of(f)?;
                write!(f, ", {elapsed:?}")?;
                error.map_or(Ok(()), |error| write!(f, ": {error}"))
            }
        }
    }
}

/// An error of whatever type.
///
/// Its text is the error's [`Display`](fmt::Display), or else its [`Debug`], or else the name of its
/// type: the retried function need not promise any of them. What counts is what is known where the
/// function is written: if its error is a generic parameter, that are its bounds. Nothing is known of
/// the errors of closures, those of [`Policy::retry`](crate::Policy::retry) and its like, so that they
/// are told by their type.
#[derive(Clone, Copy)]
pub struct Cause<'a> {
    text: Text<'a>,
    type_name: &'static str,
    source: Option<&'a (dyn Error + 'static)>,
}

#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "observer"),
    expect(dead_code, reason = "only an observer sees one")
)]
enum Text<'a> {
    Display(&'a dyn fmt::Display),
    Debug(&'a dyn fmt::Debug),
    None,
}

impl<'a> Cause<'a> {
    /// The type of the error, such as `std::io::error::Error`. Meant for people, as
    /// [`std::any::type_name`] is.
    pub const fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// What caused the error, if it is an [`Error`] and says so.
    pub const fn source(&self) -> Option<&'a (dyn Error + 'static)> {
        self.source
    }
}

impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text {
            Text::Display(text) => text.fmt(f),
            Text::Debug(text) => text.fmt(f),
            Text::None => f.write_str(self.type_name),
        }
    }
}

impl fmt::Debug for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cause({self})")
    }
}

/// An error whose [`Cause`] is asked for by the expansion, with four references before it: method
/// lookup takes them off one by one until it finds a trait whose condition holds, so that each type
/// is shown by the best that it can do.
#[cfg(feature = "observer")]
#[derive(Debug)]
pub struct Erased<'a, E>(pub &'a E);

macro_rules! shown_by {
    ($($(#[$attribute:meta])* $trait:ident for $on:ty, [$($bound:tt)*] |$error:ident| $text:expr, $source:expr;)+) => {
        $(
            $(#[$attribute])*
            #[cfg(feature = "observer")]
            pub trait $trait<'a> {
                /// The name is one that no trait for all types has.
                fn __retryable_cause(&self) -> Cause<'a>;
            }

            #[cfg(feature = "observer")]
            impl<'a, E $($bound)*> $trait<'a> for $on {
                fn __retryable_cause(&self) -> Cause<'a> {
                    let $error = self.0;
                    Cause { text: $text, type_name: std::any::type_name::<E>(), source: $source }
                }
            }
        )+
    };
}

shown_by! {
    /// An error by its text and source.
    ShownAsError for &&&Erased<'a, E>, [: Error] |error| Text::Display(error), error.source();
    /// A value by its text.
    ShownByDisplay for &&Erased<'a, E>, [: fmt::Display] |error| Text::Display(error), None;
    /// A value as programmers see it.
    ShownByDebug for &Erased<'a, E>, [: fmt::Debug] |error| Text::Debug(error), None;
    /// A value by its type.
    ShownByName for Erased<'a, E>, [] |_error| Text::None, None;
}
