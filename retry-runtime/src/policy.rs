//! What was asked for: how often, how long, how random.

use std::{fmt, time::Duration};

use crate::{
    backoff::{Backoff, from_nanos},
    jitter::{Jitter, Waits},
    total,
};

/// How often to try and how long to wait in between.
///
/// A plain `Copy` value, built in a constant or at run time, used by
/// `#[retryable(policy = POLICY)]` or by itself:
///
/// ```
/// use retry_runtime::Policy;
///
/// const LOOKUP: Policy = Policy::new().max(4).base_ms(50).cap_ms(2_000);
///
/// let mut calls = 0;
/// let answer = LOOKUP.on(|_: &String| true).retry(|| {
///     calls += 1;
///     if calls < 3 { Err(String::from("not yet")) } else { Ok(calls) }
/// });
/// assert_eq!(answer, Ok(3));
/// ```
///
/// | part | unit, range | default |
/// |---|---|---|
/// | [`max`](Self::max) | calls in total, the first included; at least 1 | 3 |
/// | [`base`](Self::base) | wait before the first retry, at most the cap | 200 ms |
/// | [`factor`](Self::factor) | growth per retry; finite, at least 1 | 2.0 |
/// | [`backoff`](Self::backoff) | shape of the growth | exponential |
/// | [`cap`](Self::cap) | longest wait, jitter included; above 0 | 30 s |
/// | [`jitter`](Self::jitter) | share of the wait left to chance | full |
/// | [`hint_cap`](Self::hint_cap) | longest wait accepted from the other side | 5 min |
///
/// The setters take any value. One that is out of range is reported by [`validate`](Self::validate),
/// and counts as the nearest allowed one where the policy is used all the same, so that a bad
/// configuration neither panics nor retries without a pause: a `max` of 0 counts as 1, a factor
/// below 1 or NaN as 1, a cap below the base caps the base too, a cap of 0 counts as 1 ms.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a policy does nothing until it is used"]
pub struct Policy {
    pub(crate) max: Option<u32>,
    pub(crate) backoff: Backoff,
    pub(crate) base: Duration,
    pub(crate) factor: f64,
    pub(crate) cap: Duration,
    pub(crate) jitter: Jitter,
    hint_cap: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self::new()
    }
}

/// Setters.
impl Policy {
    /// The defaults of the table: three calls, and waits that full jitter draws from 0 to 200 ms
    /// and from 0 to 400 ms.
    pub const fn new() -> Self {
        Self {
            max: Some(3),
            backoff: Backoff::Exponential,
            base: Duration::from_millis(200),
            factor: 2.0,
            cap: Duration::from_secs(30),
            jitter: Jitter::Full,
            hint_cap: Duration::from_secs(300),
        }
    }

    /// Calls in total, the first included: `max(3)` is three calls and two waits. At least 1,
    /// which is one call and no retry.
    pub const fn max(mut self, calls: u32) -> Self {
        self.max = Some(calls);
        self
    }

    /// No limit on the number of calls: only a success or an error that is not retried ends it.
    pub const fn unlimited(mut self) -> Self {
        self.max = None;
        self
    }

    /// The wait before the first retry, before jitter. At most the cap. Zero means no wait before
    /// any retry.
    pub const fn base(mut self, wait: Duration) -> Self {
        self.base = wait;
        self
    }

    /// [`base`](Self::base) in milliseconds.
    pub const fn base_ms(self, ms: u64) -> Self {
        self.base(Duration::from_millis(ms))
    }

    /// Growth of the exponential backoff per retry: 2.0 doubles the wait, 1.0 leaves it as it is.
    /// Finite, at least 1. The other backoffs do not use it.
    pub const fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// How the wait grows from retry to retry.
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// A list of waits in milliseconds, before jitter, instead of a base and a factor; its last
    /// entry repeats. At least one entry, none above the cap. Not with [`Jitter::Decorrelated`],
    /// which grows by itself.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// const POLICY: Policy = Policy::new().max(6).delays_ms(&[100, 500, 2_000]);
    ///
    /// let waits = [0, 1, 2, 3, 4].map(|retry| POLICY.ceiling(retry).as_millis());
    /// assert_eq!(waits, [100, 500, 2_000, 2_000, 2_000]);
    /// ```
    pub const fn delays_ms(self, delays: &'static [u64]) -> Self {
        self.backoff(Backoff::Delays(delays))
    }

    /// The longest wait, jitter included. Above 0, and at least the base. Only a wait that the
    /// other side asks for may be longer: see [`hint_cap`](Self::hint_cap).
    pub const fn cap(mut self, wait: Duration) -> Self {
        self.cap = wait;
        self
    }

    /// [`cap`](Self::cap) in milliseconds.
    pub const fn cap_ms(self, ms: u64) -> Self {
        self.cap(Duration::from_millis(ms))
    }

    /// How much of the wait is left to chance.
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// [`hint_cap`](Self::hint_cap) in milliseconds.
    pub const fn hint_cap_ms(self, ms: u64) -> Self {
        self.hint_cap(Duration::from_millis(ms))
    }

    /// The longest wait accepted from [`Decision::RetryAfter`](crate::Decision::RetryAfter). A
    /// longer one ends the call with its error, at once. May be above [`cap`](Self::cap), and any
    /// value is in range; zero accepts no wait but that of zero.
    pub const fn hint_cap(mut self, wait: Duration) -> Self {
        self.hint_cap = wait;
        self
    }
}

/// What the policy comes to.
impl Policy {
    /// Calls in total, at least 1; `None` if unlimited.
    #[inline]
    pub const fn max_calls(&self) -> Option<u32> {
        match self.max {
            Some(0) => Some(1),
            max => max,
        }
    }

    /// Whether a retry follows at once, whatever the jitter.
    #[inline]
    pub(crate) const fn never_waits(&self) -> bool {
        matches!(self.backoff, Backoff::None)
    }

    /// The longest accepted hint of the other side.
    pub(crate) const fn longest_hint(&self) -> Duration {
        self.hint_cap
    }

    /// The wait before retry `retry`, counted from 0, before jitter: `min(cap, base * factor^retry)`
    /// for the exponential backoff. It saturates where it would overflow, and never decreases from
    /// retry to retry, except as a list of delays does. [`Jitter::Decorrelated`] does not use it.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let policy = Policy::new().base_ms(200).factor(2.0).cap_ms(1_000);
    /// let waits = [0, 1, 2, 3, u32::MAX].map(|retry| policy.ceiling(retry).as_millis());
    /// assert_eq!(waits, [200, 400, 800, 1_000, 1_000]);
    /// ```
    pub fn ceiling(&self, retry: u32) -> Duration {
        // `max` also turns NaN into 1
        self.backoff
            .wait(self.base, self.factor.max(1.0), retry)
            .min(self.longest_wait())
    }

    /// The wait before retry `retry`, counted from 0, with jitter. `draw(n)` gives the random
    /// number of nanoseconds, within `0..=n`: pinned in a test, drawn from a seeded generator in a
    /// simulation. A larger number is taken as `n`. It is not called where there is no wait or no
    /// jitter.
    ///
    /// `previous` is the wait before the retry before this one, `None` before the first. Only
    /// [`Jitter::Decorrelated`] uses it.
    ///
    /// ```
    /// use retry_runtime::{Jitter, Policy};
    ///
    /// let policy = Policy::new().base_ms(200).jitter(Jitter::Equal);
    /// let wait = |share: fn(u128) -> u128| policy.wait_with(1, None, share).as_millis();
    /// assert_eq!((wait(|_| 0), wait(|n| n / 2), wait(|n| n)), (200, 300, 400));
    /// ```
    pub fn wait_with(
        &self,
        retry: u32,
        previous: Option<Duration>,
        draw: impl FnOnce(u128) -> u128,
    ) -> Duration {
        let waits = Waits {
            ceiling: self.ceiling(retry),
            base: self.base,
            cap: self.longest_wait(),
            previous: previous.unwrap_or(self.base),
        };
        if waits.ceiling.is_zero() {
            return Duration::ZERO;
        }
        self.jitter.apply(&waits, draw)
    }

    /// The longest that all waits of a call can take together, before jitter has shortened them;
    /// `None` if the calls are unlimited. [`Jitter::Decorrelated`] counts with the longest wait it
    /// can draw each time. Longer waits that the other side asks for are left out, and so is the
    /// time that the attempts take.
    ///
    /// Up to 10 000 growing waits are added up to the nanosecond. For more of them the sum may be
    /// too large by 1 in 100 000.
    ///
    /// ```
    /// use retry_runtime::Policy;
    /// use std::time::Duration;
    ///
    /// // 100 + 200 + 400 + 800 + 1000 ms
    /// let policy = Policy::new().max(6).base_ms(100).cap_ms(1_000);
    /// assert_eq!(policy.total_wait(), Some(Duration::from_millis(2_500)));
    /// assert_eq!(policy.unlimited().total_wait(), None);
    /// ```
    pub fn total_wait(&self) -> Option<Duration> {
        let retries = self.max_calls()?.saturating_sub(1);
        // a list is in no order
        let listed = match self.backoff {
            Backoff::Delays(list) => u32::try_from(list.len()).unwrap_or(u32::MAX).min(retries),
            _ => 0,
        };
        let wait = |retry| self.longest(retry).as_nanos();
        let of_the_list: u128 = (0..listed).map(wait).sum();
        let of_the_rest = total::sum(listed..retries, wait);
        Some(from_nanos(of_the_list.saturating_add(of_the_rest)))
    }

    /// The longest wait before retry `retry`, counted from 0, that jitter may leave.
    fn longest(&self, retry: u32) -> Duration {
        let ceiling = self.ceiling(retry);
        match self.jitter {
            // three times the one before, and before the first that is the base
            Jitter::Decorrelated if !ceiling.is_zero() => Backoff::Exponential
                .wait(self.base, 3.0, retry.saturating_add(1))
                .min(self.longest_wait()),
            _ => ceiling,
        }
    }

    /// A cap of zero would turn every wait into none.
    const fn longest_wait(&self) -> Duration {
        if self.cap.is_zero() {
            Duration::from_millis(1)
        } else {
            self.cap
        }
    }
}

impl fmt::Display for Policy {
    /// `up to 3 calls; waits of 200ms, times 2, at most 30s; full jitter`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max_calls() {
            Some(1) => return f.write_str("1 call"),
            Some(calls) => write!(f, "up to {calls} calls; ")?,
            None => f.write_str("calls without limit; ")?,
        }
        let (base, factor) = (self.base, self.factor);
        match (self.backoff, self.jitter) {
            (Backoff::None, _) => return f.write_str("no wait"),
            (Backoff::Delays(list), _) => {
                f.write_str("waits of ")?;
                for (retry, ms) in list.iter().enumerate() {
                    let comma = if retry > 0 { ", " } else { "" };
                    write!(f, "{comma}{:?}", Duration::from_millis(*ms))?;
                }
            }
            (_, Jitter::Decorrelated) => write!(f, "waits from {base:?}")?,
            (Backoff::Fixed, _) => write!(f, "waits of {base:?}")?,
            (Backoff::Exponential, _) => write!(f, "waits of {base:?}, times {factor}")?,
            (Backoff::Linear, _) => write!(f, "waits of {base:?}, growing by as much")?,
            (Backoff::Fibonacci, _) => write!(f, "waits of {base:?}, as Fibonacci's numbers")?,
        }
        if !matches!(self.backoff, Backoff::Delays(_) | Backoff::Fixed) {
            write!(f, ", at most {:?}", self.longest_wait())?;
        }
        match self.jitter {
            Jitter::Full => f.write_str("; full jitter"),
            Jitter::Equal => f.write_str("; equal jitter"),
            Jitter::Decorrelated => f.write_str("; decorrelated jitter"),
            Jitter::None => f.write_str("; no jitter"),
            Jitter::Ratio(ratio) => write!(f, "; jitter {ratio}"),
        }
    }
}
