//! Longest wait + random draw -> wait. Pure: the source of randomness is an argument.

use std::time::Duration;

use rand::RngExt as _;

use crate::backoff::from_nanos;

/// How much of the computed wait is left to chance, so that callers who failed together do not
/// come back together.
///
/// `d` is the wait after the cap. Jitter only shortens, so that no wait exceeds the cap, and it is
/// applied after the cap, so that waits at the cap still differ. The first three are those of
/// the AWS Architecture Blog's "Exponential Backoff And Jitter".
///
/// ```
/// use retry_runtime::{Jitter, Policy};
///
/// // a wait of 200 ms at most, and of 150 ms at least
/// const POLICY: Policy = Policy::new().base_ms(200).jitter(Jitter::Ratio(0.25));
///
/// let (shortest, longest) = (POLICY.wait_with(0, None, |_| 0), POLICY.wait_with(0, None, |n| n));
/// assert_eq!((shortest.as_millis(), longest.as_millis()), (150, 200));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Jitter {
    /// Uniform in `[0, d]`: spreads callers the most. May be close to zero.
    Full,
    /// Uniform in `[d/2, d]`: at least half of the wait is kept.
    Equal,
    /// `min(cap, uniform(base, 3 * previous wait))`, the first time with `base` as the previous
    /// wait. Grows by itself: the shape of the backoff is not used. Once the waits have reached the
    /// cap, about two in three are the cap itself.
    Decorrelated,
    /// Exactly `d`: callers who failed together come back together.
    None,
    /// Uniform in `[d * (1 - ratio), d]`. The ratio is within `0.0..=1.0`; outside it counts as
    /// the nearer end, and NaN as 0.
    Ratio(f64),
}

/// A [`Ratio`](Jitter::Ratio).
impl From<f64> for Jitter {
    fn from(ratio: f64) -> Self {
        Self::Ratio(ratio)
    }
}

/// A [`Ratio`](Jitter::Ratio).
impl From<f32> for Jitter {
    fn from(ratio: f32) -> Self {
        Self::Ratio(f64::from(ratio))
    }
}

impl Jitter {
    /// Whether a wait is made of the one before it.
    #[inline]
    pub(crate) const fn grows(self) -> bool {
        matches!(self, Self::Decorrelated)
    }

    /// The wait, for a ceiling `d` that is not above the cap. `draw(n)` gives a number in `0..=n`.
    pub(crate) fn apply(self, waits: &Waits, draw: impl FnOnce(u128) -> u128) -> Duration {
        let ceiling = waits.ceiling.as_nanos();
        let (low, high) = match self {
            Self::None => return waits.ceiling,
            Self::Full => (0, ceiling),
            Self::Equal => (ceiling.div_euclid(2), ceiling),
            Self::Ratio(ratio) => (ceiling.saturating_sub(share(ceiling, ratio)), ceiling),
            Self::Decorrelated => {
                let low = waits.base.as_nanos();
                (low, waits.previous.as_nanos().saturating_mul(3).max(low))
            }
        };
        let span = high.saturating_sub(low);
        from_nanos(low.saturating_add(draw(span).min(span))).min(waits.cap)
    }
}

/// What a jitter may draw on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits {
    /// The wait by backoff, capped
    pub(crate) ceiling: Duration,
    pub(crate) base: Duration,
    pub(crate) cap: Duration,
    /// The wait before the retry before this one; the base before the first
    pub(crate) previous: Duration,
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, NaN becomes 0, and 53 bits are exact up to 104 days"
)]
fn share(whole: u128, ratio: f64) -> u128 {
    (whole as f64 * ratio.clamp(0.0, 1.0)).round() as u128
}

/// A number in `0..=highest` from this thread's generator, seeded from the operating system.
pub(crate) fn draw(highest: u128) -> u128 {
    let mut rng = rand::rng();
    // one word is enough for waits up to 584 years, and much faster than two
    match u64::try_from(highest) {
        Ok(highest) => u128::from(rng.random_range(0..=highest)),
        Err(_) => rng.random_range(0..=highest),
    }
}
