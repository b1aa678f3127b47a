//! What else than the policy can end a call: time, other callers, somebody who cancels.

use std::{
    error::Error,
    fmt, io,
    time::{Duration, Instant},
};

use crate::{attempts::Wait, budget::RetryBudget};

/// Why a call that failed was not tried again, or ended without its own success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The predicate said that trying again can not help
    NotRetryable,
    /// The last of the allowed calls failed
    AttemptsUsedUp,
    /// The next wait would not end before the deadline
    Deadline,
    /// The other side asked for a longer wait than the policy accepts
    HintTooLong,
    /// The retry budget is empty
    Budget,
    /// The circuit breaker is open
    Breaker,
    /// Somebody cancelled the call
    Cancelled,
    /// The future of the call was dropped. Only an [`Event`](crate::Event) says so
    Dropped,
    /// The body panicked, or its future was dropped by a panic elsewhere. Only an
    /// [`Event`](crate::Event) says so
    Panicked,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotRetryable => "not retryable",
            Self::AttemptsUsedUp => "attempts used up",
            Self::Deadline => "deadline",
            Self::HintTooLong => "hint too long",
            Self::Budget => "budget",
            Self::Breaker => "breaker",
            Self::Cancelled => "cancelled",
            Self::Dropped => "dropped",
            Self::Panicked => "panicked",
        })
    }
}

/// What limits a call besides its policy, as it is after a failed attempt.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// The time to the deadline, if there is one
    remaining: Option<Duration>,
    cancelled: bool,
    budget: Option<&'a RetryBudget>,
}

impl<'a> Limits<'a> {
    /// Nothing but the policy limits the call.
    pub const NONE: Self = Self {
        remaining: None,
        cancelled: false,
        budget: None,
    };

    /// The call has a deadline.
    #[must_use]
    pub const fn remaining(self, remaining: Option<Duration>) -> Self {
        Self { remaining, ..self }
    }

    /// The call can be cancelled, and may have been.
    #[must_use]
    pub const fn cancelled(self, cancelled: bool) -> Self {
        Self { cancelled, ..self }
    }

    /// Each retry is paid for.
    #[must_use]
    pub const fn budget(self, budget: &'a RetryBudget) -> Self {
        Self {
            budget: Some(budget),
            ..self
        }
    }

    /// Takes a retry from the budget, if there is one.
    pub(crate) fn is_paid(&self) -> bool {
        self.budget.is_none_or(RetryBudget::withdraw)
    }

    /// Whether anything but the policy can end the call now.
    #[inline]
    pub(crate) const fn are_any(&self) -> bool {
        self.remaining.is_some() || self.budget.is_some() || self.cancelled
    }

    pub(crate) const fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    /// Whether the wait ends before the deadline, so that an attempt can follow.
    pub(crate) fn fits(&self, wait: Wait) -> bool {
        self.remaining
            .is_none_or(|remaining| wait.duration() < remaining)
    }
}

/// When a call began, by the clock that its waits are measured with: the thread's, which is
/// monotonic, or for tasks that of tokio, which can be paused.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    at: Instant,
    by: fn() -> Instant,
}

impl Started {
    /// A blocking call begins.
    pub fn blocking() -> Self {
        Self::by(thread_clock)
    }

    /// An async call begins.
    pub fn task() -> Self {
        Self::by(task_clock)
    }

    fn by(clock: fn() -> Instant) -> Self {
        Self {
            at: clock(),
            by: clock,
        }
    }

    /// How long the call has taken.
    pub fn elapsed(&self) -> Duration {
        (self.by)().saturating_duration_since(self.at)
    }

    /// The time left of `limit` milliseconds.
    pub fn remaining(&self, limit: u64) -> Duration {
        Duration::from_millis(limit).saturating_sub(self.elapsed())
    }
}

#[expect(clippy::disallowed_methods, reason = "the clock itself")]
fn thread_clock() -> Instant {
    #[cfg(feature = "testing")]
    if let Some(now) = crate::testing::now() {
        return now;
    }
    Instant::now()
}

#[cfg(feature = "tokio")]
fn task_clock() -> Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(not(feature = "tokio"))]
use thread_clock as task_clock;

/// A call that has failed for good, as `recover` sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure<E> {
    /// Of the last attempt
    pub error: E,
    /// How many were made
    pub attempts: u32,
    /// Since the first attempt began
    pub elapsed: Duration,
    /// Why there was no further one
    pub reason: Reason,
}

impl<E> Failure<E> {
    #[doc(hidden)]
    pub const fn new(error: E, attempts: u32, elapsed: Duration, reason: Reason) -> Self {
        Self {
            error,
            attempts,
            elapsed,
            reason,
        }
    }
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            error,
            attempts,
            elapsed,
            reason,
        } = self;
        write!(
            f,
            "{error} ({reason} after {attempts} attempts in {elapsed:?})"
        )
    }
}

/// An attempt took longer than `timeout_ms`; its future was dropped.
///
/// Whether the other side has done the work is not known, so nothing is retried by itself: `on`
/// decides about the error that is made from this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptTimeout {
    limit: Duration,
}

impl AttemptTimeout {
    #[doc(hidden)]
    pub const fn new(limit: Duration) -> Self {
        Self { limit }
    }

    /// How long the attempt had: `timeout_ms`, or less where the deadline was nearer.
    pub const fn limit(&self) -> Duration {
        self.limit
    }
}

impl fmt::Display for AttemptTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the attempt took longer than {:?}", self.limit)
    }
}

impl Error for AttemptTimeout {}

/// With the kind `TimedOut`. Unlike others of that kind it is not
/// [`Transient`](crate::Transient): `on` says whether it is retried.
impl From<AttemptTimeout> for io::Error {
    fn from(timeout: AttemptTimeout) -> Self {
        Self::new(io::ErrorKind::TimedOut, timeout)
    }
}

impl<E: Error + 'static> Error for Failure<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}
