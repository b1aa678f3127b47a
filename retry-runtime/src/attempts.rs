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

/// One call's state, a word of every future. Untouched as long as nothing fails.
#[derive(Clone, Copy, Debug)]
pub struct Attempts {
    failures: u32,
    previous: Previous,
}

/// The wait before an attempt, of which only decorrelated jitter is made: in nanoseconds, six bits
/// for how many others were cut off, and the `KEPT` highest ones. 0 before there was one.
#[derive(Clone, Copy, Debug)]
struct Previous(u32);

/// Bits of a previous wait.
const KEPT: u32 = 26;

/// A wait between two attempts, in one word: nanoseconds, from `RESERVED` on, or those of centuries
/// as milliseconds with the bit `IN_MILLIS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait(u64);

/// What follows an attempt: a [`Wait`] or, in the values below those, why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next(u64);

/// How many attempts of a task follow one another at once before it lets others run.
const IN_A_ROW: u32 = 32;

const RESERVED: u64 = 16;
const IN_MILLIS: u64 = 1 << 63;
const LONGEST_IN_NANOS: u64 = IN_MILLIS - RESERVED - 1;

impl Next {
    /// No further attempt: this one succeeded.
    pub const DONE: Self = Self(0);

    /// Another attempt, after this wait.
    const fn after(wait: Wait) -> Self {
        Self(wait.0)
    }

    /// No further attempt: the outcome is the call's.
    #[inline]
    pub const fn ended(reason: Reason) -> Self {
        Self(match reason {
            Reason::NotRetryable => 1,
            Reason::AttemptsUsedUp => 2,
            Reason::Deadline => 3,
            Reason::HintTooLong => 4,
            Reason::Budget => 5,
            Reason::Breaker => 6,
            Reason::Cancelled => 7,
            Reason::Dropped => 8,
            Reason::Panicked => 9,
        })
    }

    /// The wait, if another attempt follows.
    #[inline]
    pub const fn wait(self) -> Option<Wait> {
        if self.0 < RESERVED {
            None
        } else {
            Some(Wait(self.0))
        }
    }

    /// Why none follows; `None` after a success.
    #[inline]
    pub const fn reason(self) -> Option<Reason> {
        match self.0 {
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
    const ZERO: Self = Self(RESERVED);
    /// Zero too, but a task lets others run in it
    const YIELD: Self = Self(IN_MILLIS);

    /// The longest is one of 292 million years.
    fn of(wait: Duration) -> Self {
        let nanos = wait
            .as_secs()
            .checked_mul(1_000_000_000)
            .and_then(|nanos| nanos.checked_add(u64::from(wait.subsec_nanos())));
        match nanos {
            Some(0) => Self::YIELD,
            Some(nanos) if nanos <= LONGEST_IN_NANOS => Self(nanos.wrapping_add(RESERVED)),
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
        self.0 == Self::ZERO.0 || self.yields()
    }

    /// Whether a task lets others run in it.
    #[inline]
    pub const fn yields(self) -> bool {
        self.0 == Self::YIELD.0
    }

    const fn nanos(self) -> u64 {
        self.0.wrapping_sub(RESERVED)
    }

    /// The same as those take it who wait.
    #[inline]
    pub const fn duration(self) -> Duration {
        if self.0 < IN_MILLIS {
            Duration::from_nanos(self.nanos())
        } else {
            Duration::from_millis(self.0 ^ IN_MILLIS)
        }
    }
}

impl Previous {
    const NONE: Self = Self(0);

    fn of(wait: Duration) -> Self {
        let nanos = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        let bits = u64::BITS.wrapping_sub(nanos.leading_zeros());
        let cut = bits.saturating_sub(KEPT);
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            reason = "the highest bits"
        )]
        let kept = nanos.wrapping_shr(cut) as u32;
        Self(cut.wrapping_shl(KEPT) | kept)
    }

    /// Rounded down, by less than one in 33 million.
    fn wait(self) -> Option<Duration> {
        let kept = self.0 & u32::MAX.wrapping_shr(u32::BITS.wrapping_sub(KEPT));
        let cut = self.0.wrapping_shr(KEPT);
        (kept > 0).then(|| Duration::from_nanos(u64::from(kept).wrapping_shl(cut)))
    }
}

impl Attempts {
    /// The state before the first attempt.
    #[inline]
    pub const fn begin() -> Self {
        Self {
            failures: 0,
            previous: Previous::NONE,
        }
    }

    /// How many have failed.
    #[inline]
    pub const fn failures(self) -> u32 {
        self.failures
    }

    /// The attempt that is about to begin.
    #[inline]
    pub const fn current(self, policy: &Policy, remaining: Option<Duration>) -> Attempt {
        Attempt {
            number: self.failures.saturating_add(1),
            max: policy.max_calls(),
            remaining,
        }
    }

    /// What follows an attempt that failed, given what the predicate says of its failure.
    ///
    /// Inline, because little is left of it where the policy is constant: the compiler counts the
    /// attempts as in a loop that is written by hand, and unrolls it where it would unroll that. What
    /// takes time, or needs more than the policy, is out of line.
    #[inline]
    pub fn after_failure(
        &mut self,
        policy: &Policy,
        decision: Decision,
        limits: Option<Limits<'_>>,
    ) -> Next {
        let retry = self.failures;
        if decision == Decision::Stop {
            self.failures = retry.saturating_add(1);
            return Next::ended(Reason::NotRetryable);
        }
        #[cfg(not(feature = "testing"))]
        let max = policy.max_calls();
        #[cfg(feature = "testing")]
        let max = testing::max_calls(policy);
        // not earlier: the compiler would no longer see how often the loop can go round
        self.failures = retry.saturating_add(1);
        if max.is_some_and(|max| self.failures >= max) {
            return Next::ended(Reason::AttemptsUsedUp);
        }
        let at_once = match decision {
            Decision::RetryNow => true,
            Decision::Retry => policy.never_waits(),
            Decision::RetryAfter(_) | Decision::Stop => false,
        };
        let limits = limits.filter(Limits::are_any);
        if at_once && limits.is_none() {
            return Next::after(if retry % IN_A_ROW == IN_A_ROW - 1 {
                Wait::YIELD
            } else {
                Wait::ZERO
            });
        }
        let (previous, next) =
            after_waiting(retry, self.previous, policy, decision, limits.as_ref());
        // nothing to keep from one attempt to the next where nothing is made of it
        if policy.jitter.grows() {
            self.previous = previous;
        }
        next
    }
}

/// The wait before retry number `retry`, if it may be waited for.
#[cold]
#[inline(never)]
fn after_waiting(
    retry: u32,
    previous: Previous,
    policy: &Policy,
    decision: Decision,
    limits: Option<&Limits<'_>>,
) -> (Previous, Next) {
    if limits.is_some_and(Limits::is_cancelled) {
        return (previous, Next::ended(Reason::Cancelled));
    }
    if matches!(decision, Decision::RetryAfter(hint) if hint > policy.longest_hint()) {
        return (previous, Next::ended(Reason::HintTooLong));
    }
    let (wait, previous) = match decision {
        Decision::RetryNow | Decision::Stop => (Duration::ZERO, previous),
        Decision::Retry | Decision::RetryAfter(_) => {
            let wait = backoff(policy, retry, previous);
            (wait, Previous::of(wait))
        }
    };
    let wait = match decision {
        Decision::RetryAfter(hint) => wait.max(hint),
        _ => wait,
    };
    #[cfg(feature = "testing")]
    let wait = testing::wait(wait);
    let wait = Wait::of(wait);
    let next = if !limits.is_none_or(|limits| limits.fits(wait)) {
        Next::ended(Reason::Deadline)
    // the last question: what was paid for is used
    } else if limits.is_none_or(Limits::is_paid) {
        Next::after(wait)
    } else {
        Next::ended(Reason::Budget)
    };
    (previous, next)
}

fn backoff(policy: &Policy, retry: u32, previous: Previous) -> Duration {
    #[cfg(not(feature = "testing"))]
    let draw = jitter::draw;
    #[cfg(feature = "testing")]
    let draw = |most| testing::draw(most, jitter::draw);
    policy.wait_with(retry, previous.wait(), draw)
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

    use super::{Attempts, IN_A_ROW, IN_MILLIS, LONGEST_IN_NANOS, Next, Previous, RESERVED, Wait};
    use crate::{Policy, backoff::Backoff, decision::Decision, limits::Reason};

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
            let wait = Wait::of(Duration::from_nanos(nanos));
            let coarse = if nanos > LONGEST_IN_NANOS {
                1_000_000
            } else {
                1
            };
            assert_eq!(
                wait.duration().as_nanos(),
                u128::from(nanos / coarse * coarse),
                "{nanos}"
            );
            assert_eq!(wait.is_zero(), nanos == 0, "{nanos}");
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
        assert!(u64::try_from(reasons.len()).unwrap() < RESERVED);
        for reason in reasons {
            let next = Next::ended(reason);
            assert_eq!((next.wait(), next.reason()), (None, Some(reason)));
        }
        assert_eq!((Next::DONE.wait(), Next::DONE.reason()), (None, None));
    }

    #[test]
    fn the_previous_wait_is_kept_but_for_its_lowest_bits() {
        assert_eq!(Attempts::begin().previous.wait(), None);
        for nanos in EDGES.into_iter().filter(|nanos| *nanos > 0) {
            let wait = Duration::from_nanos(nanos);
            let kept = Previous::of(wait).wait().unwrap();
            assert!(kept <= wait, "{nanos}");
            // 33 million is 2^25
            assert!(wait.saturating_sub(kept) <= wait / 33_000_000, "{nanos}");
        }
    }

    /// What follows so many failures, none of which was waited for.
    fn after(failures: u32, policy: &Policy) -> (u32, Next) {
        let mut attempts = Attempts {
            failures,
            ..Attempts::begin()
        };
        let next = attempts.after_failure(policy, Decision::Retry, None);
        (attempts.failures(), next)
    }

    #[test]
    fn failures_are_counted_up_to_the_most_and_no_further() {
        let at_once = Policy::new().backoff(Backoff::None);
        let used_up = Next::ended(Reason::AttemptsUsedUp);
        let again = Next::after(Wait::ZERO);
        for (max, failures, expected) in [
            (0, 0, (1, used_up)),
            (1, 0, (1, used_up)),
            (2, 0, (1, again)),
            (2, 1, (2, used_up)),
            (u32::MAX, u32::MAX - 2, (u32::MAX - 1, again)),
            (u32::MAX, u32::MAX - 1, (u32::MAX, used_up)),
        ] {
            assert_eq!(after(failures, &at_once.max(max)), expected, "{max}");
        }
        let (failures, next) = after(u32::MAX, &at_once.unlimited());
        assert_eq!(failures, u32::MAX);
        assert!(next.wait().is_some_and(Wait::is_zero));
    }

    #[test]
    fn of_many_attempts_at_once_each_32nd_lets_others_run() {
        let at_once = Policy::new().backoff(Backoff::None).unlimited();
        let yields = (0..IN_A_ROW * 3)
            .filter(|&failures| after(failures, &at_once).1.wait().unwrap().yields());
        assert_eq!(yields.collect::<Vec<_>>(), [31, 63, 95]);
        // a wait of zero always does, which a policy asked for or jitter left
        let zero = Policy::new().base_ms(0).unlimited();
        assert!((0..4).all(|failures| after(failures, &zero).1.wait().unwrap().yields()));
    }
}
