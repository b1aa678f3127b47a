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

/// One call's count of failures, in the low half of a word: it is part of every future, and a loop that
/// blocks has it in a register. Untouched as long as nothing fails.
///
/// The high half is the wait before this attempt, of which only decorrelated jitter is made: in
/// nanoseconds, six bits for how many others were cut off, and the `KEPT` highest ones. 0 before
/// there was one.
#[derive(Clone, Copy, Debug)]
pub struct Attempts(u64);

/// Bits of a previous wait.
const KEPT: u32 = 26;

/// A wait between two attempts, in one word: nanoseconds, or above `LONGEST_IN_NANOS` milliseconds
/// with the highest bit, `IN_MILLIS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait(u64);

/// What follows an attempt: a [`Wait`] or, in a gap that those leave, why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next(u64);

const IN_MILLIS: u64 = 1 << 63;

/// Below the gap.
const GAP: u64 = 16;
const LONGEST_IN_NANOS: u64 = IN_MILLIS - GAP - 1;

impl Next {
    /// No further attempt: this one succeeded.
    pub const DONE: Self = Self(LONGEST_IN_NANOS + 1);

    /// Another attempt, after this wait.
    const fn after(wait: Wait) -> Self {
        Self(wait.0)
    }

    /// No further attempt: the outcome is the call's.
    pub const fn ended(reason: Reason) -> Self {
        Self(Self::DONE.0.saturating_add(match reason {
            Reason::NotRetryable => 1,
            Reason::AttemptsUsedUp => 2,
            Reason::Deadline => 3,
            Reason::HintTooLong => 4,
            Reason::Budget => 5,
            Reason::Breaker => 6,
            Reason::Cancelled => 7,
            Reason::Dropped => 8,
            Reason::Panicked => 9,
        }))
    }

    /// The wait, if another attempt follows.
    #[inline]
    pub const fn wait(self) -> Option<Wait> {
        if self.0.wrapping_sub(Self::DONE.0) < GAP {
            None
        } else {
            Some(Wait(self.0))
        }
    }

    /// Why none follows; `None` after a success.
    #[inline]
    pub const fn reason(self) -> Option<Reason> {
        match self.0.wrapping_sub(Self::DONE.0) {
            1 => Some(Reason::NotRetryable),
            2 => Some(Reason::AttemptsUsedUp),
            3 => Some(Reason::Deadline),
            4 => Some(Reason::HintTooLong),
            5 => Some(Reason::Budget),
            6 => Some(Reason::Breaker),
            7 => Some(Reason::Cancelled),
            8 => Some(Reason::Dropped),
            9 => Some(Reason::Panicked),
            _ => None,
        }
    }
}

impl Wait {
    const NONE: Self = Self(0);

    /// The longest is one of 292 million years.
    fn of(wait: Duration) -> Self {
        let nanos = wait
            .as_secs()
            .checked_mul(1_000_000_000)
            .and_then(|nanos| nanos.checked_add(u64::from(wait.subsec_nanos())));
        match nanos {
            Some(nanos) if nanos <= LONGEST_IN_NANOS => Self(nanos),
            _ => {
                let millis = wait.as_secs().saturating_mul(1_000);
                let millis = millis.saturating_add(u64::from(wait.subsec_millis()));
                Self(IN_MILLIS | millis.min(IN_MILLIS - 1))
            }
        }
    }

    /// Whether there is nothing to wait for.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The same as those take it who wait.
    #[inline]
    pub const fn duration(self) -> Duration {
        if self.0 < IN_MILLIS {
            Duration::from_nanos(self.0)
        } else {
            Duration::from_millis(self.0 & !IN_MILLIS)
        }
    }
}

impl Attempts {
    /// The state before the first attempt.
    #[inline]
    pub const fn begin() -> Self {
        Self(0)
    }

    /// How many have failed.
    #[inline]
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "the low half"
    )]
    pub const fn failures(self) -> u32 {
        self.0 as u32
    }

    /// One more has failed.
    const fn plus_one(self) -> Self {
        if self.failures() == u32::MAX {
            self
        } else {
            Self(self.0.wrapping_add(1))
        }
    }

    /// Rounded down, by less than one in 33 million.
    fn previous(self) -> Option<Duration> {
        let half = self.0.wrapping_shr(u32::BITS);
        let kept = half & u64::MAX.wrapping_shr(u64::BITS.wrapping_sub(KEPT));
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            reason = "six bits"
        )]
        let cut = half.wrapping_shr(KEPT) as u32;
        (kept > 0).then(|| Duration::from_nanos(kept.wrapping_shl(cut)))
    }

    fn after(self, wait: Wait) -> Self {
        let nanos = wait.0.min(LONGEST_IN_NANOS);
        let bits = u64::BITS.wrapping_sub(nanos.leading_zeros());
        let cut = bits.saturating_sub(KEPT);
        let half = u64::from(cut).wrapping_shl(KEPT) | nanos.wrapping_shr(cut);
        Self(half.wrapping_shl(u32::BITS) | u64::from(self.failures()))
    }

    /// The attempt that is about to begin.
    #[inline]
    pub const fn current(self, policy: &Policy, remaining: Option<Duration>) -> Attempt {
        Attempt {
            number: self.failures().saturating_add(1),
            max: policy.max_calls(),
            remaining,
        }
    }

    /// What follows an attempt that failed, given what the predicate says of its failure.
    #[cold]
    #[inline(never)]
    pub fn after_failure(
        self,
        policy: &Policy,
        decision: Decision,
        limits: &Limits<'_>,
    ) -> (Self, Next) {
        let failed = self.plus_one();
        if decision == Decision::Stop {
            return (failed, Next::ended(Reason::NotRetryable));
        }
        // one has failed, so that 0 counts as 1
        #[cfg(not(feature = "testing"))]
        let max = policy.max;
        #[cfg(feature = "testing")]
        let max = testing::max_calls(policy);
        if max.is_some_and(|max| failed.failures() >= max) {
            return (failed, Next::ended(Reason::AttemptsUsedUp));
        }
        if limits.is_cancelled() {
            return (failed, Next::ended(Reason::Cancelled));
        }
        let at_once = match decision {
            Decision::RetryNow => true,
            Decision::Retry => policy.never_waits(),
            Decision::RetryAfter(_) | Decision::Stop => false,
        };
        if at_once && limits.are_none() {
            return (failed, Next::after(Wait::NONE));
        }
        failed.after_waiting(self.failures(), policy, decision, limits)
    }

    /// The rest of the decision, by itself, so that what needs none of it is cheap.
    #[inline(never)]
    fn after_waiting(
        mut self,
        retry: u32,
        policy: &Policy,
        decision: Decision,
        limits: &Limits<'_>,
    ) -> (Self, Next) {
        let wait = match decision {
            Decision::RetryAfter(hint) if hint > policy.longest_hint() => {
                return (self, Next::ended(Reason::HintTooLong));
            }
            Decision::RetryAfter(hint) => Wait::of(self.backoff(policy, retry).max(hint)),
            Decision::RetryNow | Decision::Stop => Wait::NONE,
            Decision::Retry => Wait::of(self.backoff(policy, retry)),
        };
        #[cfg(feature = "testing")]
        let wait = Wait::of(testing::wait(wait.duration()));
        let next = if !limits.fits(wait) {
            Next::ended(Reason::Deadline)
        // the last question: what was paid for is used
        } else if limits.is_paid() {
            Next::after(wait)
        } else {
            Next::ended(Reason::Budget)
        };
        (self, next)
    }

    fn backoff(&mut self, policy: &Policy, retry: u32) -> Duration {
        #[cfg(not(feature = "testing"))]
        let draw = jitter::draw;
        #[cfg(feature = "testing")]
        let draw = |most| testing::draw(most, jitter::draw);
        let wait = policy.wait_with(retry, self.previous(), draw);
        *self = self.after(Wait::of(wait));
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

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::{Attempts, GAP, IN_MILLIS, LONGEST_IN_NANOS, Next, Wait};
    use crate::limits::Reason;

    const EDGES: [u64; 9] = [
        0,
        1,
        999_999_999,
        1_000_000_000,
        1 << 32,
        LONGEST_IN_NANOS - 1,
        LONGEST_IN_NANOS,
        LONGEST_IN_NANOS + 1,
        u64::MAX,
    ];

    #[test]
    fn a_wait_is_kept_to_the_nanosecond_and_for_centuries_to_the_millisecond() {
        for nanos in EDGES {
            let kept = Wait::of(Duration::from_nanos(nanos)).duration();
            let coarse = if nanos > LONGEST_IN_NANOS {
                1_000_000
            } else {
                1
            };
            assert_eq!(
                kept.as_nanos(),
                u128::from(nanos / coarse * coarse),
                "{nanos}"
            );
        }
        for millis in [u64::MAX / 2, 1 << 62, 9_223_372_036_855] {
            let wait = Duration::from_millis(millis);
            assert_eq!(Wait::of(wait).duration(), wait);
        }
        let longest = Duration::from_millis(IN_MILLIS - 1);
        assert_eq!(Wait::of(Duration::MAX).duration(), longest);
        assert_eq!(
            Wait::of(Duration::from_millis(u64::MAX)).duration(),
            longest
        );
    }

    #[test]
    fn a_reason_is_no_wait_and_a_wait_no_reason() {
        for nanos in EDGES {
            let next = Next::after(Wait::of(Duration::from_nanos(nanos)));
            assert!(next.wait().is_some() && next.reason().is_none(), "{nanos}");
        }
        let reasons = [
            Reason::NotRetryable,
            Reason::AttemptsUsedUp,
            Reason::Deadline,
            Reason::HintTooLong,
            Reason::Budget,
            Reason::Breaker,
            Reason::Cancelled,
            Reason::Dropped,
            Reason::Panicked,
        ];
        assert!(u64::try_from(reasons.len()).unwrap() < GAP);
        for reason in reasons {
            let next = Next::ended(reason);
            assert_eq!((next.wait(), next.reason()), (None, Some(reason)));
        }
        assert_eq!((Next::DONE.wait(), Next::DONE.reason()), (None, None));
    }

    #[test]
    fn the_previous_wait_is_kept_but_for_its_lowest_bits_and_the_failures_are_counted() {
        assert_eq!(Attempts::begin().previous(), None);
        let kept = |nanos: &u64| (1..=LONGEST_IN_NANOS).contains(nanos);
        for nanos in EDGES.into_iter().filter(kept) {
            let wait = Duration::from_nanos(nanos);
            let attempts = Attempts::begin()
                .plus_one()
                .after(Wait::of(wait))
                .plus_one();
            let kept = attempts.previous().unwrap();
            assert!(kept <= wait, "{nanos}");
            // 33 million is 2^25
            assert!(wait.saturating_sub(kept) <= wait / 33_000_000, "{nanos}");
            assert_eq!(attempts.failures(), 2);
        }
        let most = Attempts(u64::from(u32::MAX));
        assert_eq!(most.plus_one().failures(), u32::MAX);
        assert_eq!(most.plus_one().previous(), None);
    }
}
