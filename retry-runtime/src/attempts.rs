//! The decision after each failed attempt. Knows nothing of the user's types, and does not wait.

use std::{fmt, time::Duration};

#[cfg(feature = "testing")]
use crate::testing;
use crate::{
    decision::Decision,
    jitter,
    limits::{Limits, Reason},
    policy::Policy,
};

/// One call's count of failures. Untouched as long as nothing fails.
#[derive(Debug)]
pub struct Attempts {
    failures: u32,
    /// The wait before this attempt in nanoseconds, 0 before there was one. Half the size of a
    /// `Duration`: this is part of every future.
    previous: u64,
}

/// What follows an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing: the attempt succeeded
    Done,
    /// No further attempt: the outcome is the call's
    Return(Reason),
    /// Another attempt, after this wait
    Wait(Duration),
}

impl Attempts {
    /// The state before the first attempt.
    #[inline]
    pub const fn begin() -> Self {
        Self {
            failures: 0,
            previous: 0,
        }
    }

    /// How many have failed.
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// The attempt that is about to begin.
    #[inline]
    pub const fn current(&self, policy: &Policy, remaining: Option<Duration>) -> Attempt {
        Attempt {
            number: self.failures.saturating_add(1),
            max: policy.max_calls(),
            remaining,
        }
    }

    /// What follows an attempt that failed, given what the predicate says of its failure.
    #[cold]
    #[inline(never)]
    pub fn after_failure(
        &mut self,
        policy: &Policy,
        decision: Decision,
        limits: &Limits<'_>,
    ) -> Next {
        match self.decide(policy, decision, limits, jitter::draw) {
            Ok(wait) => Next::Wait(wait),
            Err(reason) => Next::Return(reason),
        }
    }

    fn decide(
        &mut self,
        policy: &Policy,
        decision: Decision,
        limits: &Limits<'_>,
        draw: impl FnOnce(u128) -> u128,
    ) -> Result<Duration, Reason> {
        let retry = self.failures;
        self.failures = self.failures.saturating_add(1);
        if decision == Decision::Stop {
            return Err(Reason::NotRetryable);
        }
        #[cfg(not(feature = "testing"))]
        let max = policy.max_calls();
        #[cfg(feature = "testing")]
        let max = testing::max_calls(policy);
        if max.is_some_and(|max| self.failures >= max) {
            return Err(Reason::AttemptsUsedUp);
        }
        if limits.is_cancelled() {
            return Err(Reason::Cancelled);
        }
        let wait = match decision {
            Decision::RetryAfter(hint) if hint > policy.longest_hint() => {
                return Err(Reason::HintTooLong);
            }
            Decision::RetryAfter(hint) => self.backoff(policy, retry, draw).max(hint),
            Decision::RetryNow | Decision::Stop => Duration::ZERO,
            Decision::Retry => self.backoff(policy, retry, draw),
        };
        #[cfg(feature = "testing")]
        let wait = testing::wait(wait);
        if !limits.fits(wait) {
            return Err(Reason::Deadline);
        }
        // the last question: what was paid for is used
        if limits.is_paid() {
            Ok(wait)
        } else {
            Err(Reason::Budget)
        }
    }

    fn backoff(
        &mut self,
        policy: &Policy,
        retry: u32,
        draw: impl FnOnce(u128) -> u128,
    ) -> Duration {
        #[cfg(feature = "testing")]
        let draw = |most| testing::draw(most, draw);
        let previous = (self.previous > 0).then_some(Duration::from_nanos(self.previous));
        let wait = policy.wait_with(retry, previous, draw);
        self.previous = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        wait
    }
}

/// An attempt as its body sees it, bound by `attempt = name`.
///
/// ```
/// # #[cfg(feature = "macros")] {
/// use retry_runtime::retryable;
///
/// #[retryable(max = 3, backoff = "none", on = "any", attempt = attempt)]
/// fn header() -> Result<String, String> {
///     let header = format!("attempt={}; max=3", attempt.number());
///     if attempt.number() < 3 { Err(header) } else { Ok(header) }
/// }
/// assert_eq!(header().unwrap(), "attempt=3; max=3");
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    number: u32,
    max: Option<u32>,
    remaining: Option<Duration>,
}

impl Attempt {
    /// Which attempt this is: 1, 2, 3, ...
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// How many there may be; `None` if unlimited.
    pub const fn max(&self) -> Option<u32> {
        self.max
    }

    /// Whether no other attempt can follow.
    pub const fn is_last(&self) -> bool {
        matches!(self.max, Some(max) if self.number >= max)
    }

    /// The time from the start of this attempt to the deadline; `None` without `deadline_ms`.
    pub const fn remaining(&self) -> Option<Duration> {
        self.remaining
    }
}

impl fmt::Display for Attempt {
    /// `2/5`, or `2` if unlimited
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max {
            Some(max) => write!(f, "{}/{max}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}
