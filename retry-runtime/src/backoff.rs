//! Retry number -> longest wait. Pure and total: nothing here knows of jitter, clocks or errors.

use std::time::Duration;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// No wait can be longer than `Duration::MAX`, 1.9e28 ns: what is beyond this has reached any cap.
const LARGEST: f64 = 1e30;

/// How the wait grows from retry to retry, before the cap and before jitter.
///
/// `k` is the retry's number counted from 0: the first retry, which follows the first failed
/// attempt, has `k = 0` and waits `base` in every shape that has a base.
///
/// ```
/// use retry_runtime::{Backoff, Policy};
/// use std::time::Duration;
///
/// let policy = Policy::new().base_ms(100).backoff(Backoff::Linear);
/// assert_eq!(policy.ceiling(2), Duration::from_millis(300));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backoff {
    /// `base * factor^k`
    Exponential,
    /// `base * (k + 1)`
    Linear,
    /// `base` times 1, 1, 2, 3, 5, 8, ...
    Fibonacci,
    /// `base`, always
    Fixed,
    /// No wait at all: the next attempt follows at once. Asked for, never a default.
    None,
    /// These milliseconds, one entry per retry; the last one repeats. An empty list waits `base`.
    Delays(&'static [u64]),
}

impl Backoff {
    /// The wait before retry `retry` (counted from 0), before cap and jitter. Never decreases
    /// with `retry` (a list of delays is taken as written), saturates at `Duration::MAX`.
    pub(crate) fn wait(self, base: Duration, factor: f64, retry: u32) -> Duration {
        let base_nanos = base.as_nanos();
        match self {
            Self::Exponential => exponential(base, factor, retry),
            Self::Linear => {
                from_nanos(base_nanos.saturating_mul(u128::from(retry).saturating_add(1)))
            }
            Self::Fibonacci => from_nanos(base_nanos.saturating_mul(fibonacci(retry))),
            Self::Fixed => base,
            Self::None => Duration::ZERO,
            Self::Delays(list) => {
                let index = usize::try_from(retry).unwrap_or(usize::MAX);
                list.get(index)
                    .or(list.last())
                    .map_or(base, |&ms| Duration::from_millis(ms))
            }
        }
    }
}

/// Nanoseconds as a `Duration`, saturating.
pub(crate) fn from_nanos(nanos: u128) -> Duration {
    let subsec = u32::try_from(nanos.rem_euclid(NANOS_PER_SECOND)).unwrap_or(0);
    u64::try_from(nanos.div_euclid(NANOS_PER_SECOND))
        .map_or(Duration::MAX, |seconds| Duration::new(seconds, subsec))
}

fn exponential(base: Duration, factor: f64, retry: u32) -> Duration {
    let Some(growth) = power(factor, retry) else {
        return if base.is_zero() { base } else { Duration::MAX };
    };
    from_nanos(
        growth
            .times(Precise::from_whole(base.as_nanos()))
            .to_whole(),
    )
}

/// `factor^exponent` by squaring, from the highest bit of the exponent down; `None` beyond
/// [`LARGEST`].
fn power(factor: f64, exponent: u32) -> Option<Precise> {
    let factor = Precise::from(factor);
    let mut result = Precise::from(1.0);
    for bit in (0..u32::BITS.saturating_sub(exponent.leading_zeros())).rev() {
        result = result.times(result);
        if exponent & 1_u32.wrapping_shl(bit) != 0 {
            result = result.times(factor);
        }
        // a factor is at least 1, so that the result only grows
        if result.high > LARGEST {
            return None;
        }
    }
    Some(result)
}

/// A number as an unevaluated sum of two floats, about 106 bits (Dekker, "A floating-point
/// technique for extending the available precision", 1971).
///
/// One `f64` is not enough: its rounding errors, doubled by each squaring, make
/// `factor^(k+1) < factor^k` possible for factors just above 1.
#[derive(Clone, Copy)]
struct Precise {
    high: f64,
    low: f64,
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "floats saturate, are never negative where they become whole, and what is rounded off is kept"
)]
impl Precise {
    fn times(self, other: Self) -> Self {
        let product = self.high * other.high;
        // overflow: the sum below would be NaN
        if product > LARGEST * LARGEST {
            return Self::from(product);
        }
        let error = self.high.mul_add(other.high, -product);
        let error = error + (self.high * other.low + self.low * other.high);
        let high = product + error;
        Self {
            high,
            low: error - (high - product),
        }
    }

    /// Exact below 2^106.
    fn from_whole(number: u128) -> Self {
        let high = number as f64;
        let rounded = high as u128;
        let error = number.abs_diff(rounded) as f64;
        let low = if rounded > number { -error } else { error };
        Self { high, low }
    }

    /// The nearest whole number, saturating.
    fn to_whole(self) -> u128 {
        if self.high > LARGEST {
            return u128::MAX;
        }
        let whole = self.high.round();
        let rest = (self.high - whole + self.low).round();
        if rest < 0.0 {
            (whole as u128).saturating_sub(rest.abs() as u128)
        } else {
            (whole as u128).saturating_add(rest as u128)
        }
    }
}

impl From<f64> for Precise {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

/// 1, 1, 2, 3, 5, ... for n = 0, 1, 2, ..., saturating.
fn fibonacci(n: u32) -> u128 {
    let (mut current, mut next) = (1_u128, 1_u128);
    for _ in 0..n {
        if current == u128::MAX {
            break;
        }
        (current, next) = (next, current.saturating_add(next));
    }
    current
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: [Duration; 6] = [
        Duration::ZERO,
        Duration::from_nanos(1),
        Duration::from_millis(200),
        Duration::from_nanos(u64::MAX),
        Duration::from_secs(1 << 40),
        Duration::MAX,
    ];

    fn retries() -> impl Iterator<Item = u32> {
        let powers = (0..32).map(|bit| 1_u32 << bit);
        let powers = powers.flat_map(|k| [k.wrapping_sub(1), k, k.wrapping_add(1)]);
        (0..70)
            .chain(powers)
            .chain([1023, 1024, 1025, u32::MAX - 1, u32::MAX])
    }

    #[test]
    fn the_first_wait_is_the_base_in_every_growing_shape() {
        for base in EDGES {
            for shape in [
                Backoff::Exponential,
                Backoff::Linear,
                Backoff::Fibonacci,
                Backoff::Fixed,
            ] {
                for factor in [1.0, 1.5, 2.0, f64::MAX] {
                    assert_eq!(shape.wait(base, factor, 0), base, "{shape:?} {factor}");
                }
            }
        }
    }

    #[test]
    fn no_wait_decreases_from_one_retry_to_the_next() {
        let barely_one = [
            1.0,
            1.0 + f64::EPSILON,
            1.0 + 3.0 * f64::EPSILON,
            1.0 + 1e-12,
            1.0 + 1e-9,
        ];
        let factors = barely_one
            .into_iter()
            .chain([1.1, 1.5, 2.0, 10.0, 1e308, f64::MAX]);
        for factor in factors {
            for base in EDGES {
                for shape in [
                    Backoff::Exponential,
                    Backoff::Linear,
                    Backoff::Fibonacci,
                    Backoff::Fixed,
                ] {
                    for retry in retries() {
                        let (now, then) = (
                            shape.wait(base, factor, retry),
                            shape.wait(base, factor, retry.saturating_add(1)),
                        );
                        assert!(
                            now <= then,
                            "{shape:?} {base:?} {factor} {retry}: {now:?} > {then:?}"
                        );
                        assert!(now >= base);
                    }
                }
            }
        }
    }

    #[test]
    fn fibonacci_counts_1_1_2_3_5_and_saturates() {
        let first: Vec<u128> = (0..8).map(fibonacci).collect();
        assert_eq!(first, [1, 1, 2, 3, 5, 8, 13, 21]);
        assert_eq!(fibonacci(u32::MAX), u128::MAX);
    }

    #[test]
    fn a_list_of_delays_repeats_its_last_entry() {
        let list = Backoff::Delays(&[100, 500, 20]);
        let waits: Vec<u128> = [0, 1, 2, 3, u32::MAX]
            .map(|k| list.wait(Duration::MAX, 2.0, k).as_millis())
            .into();
        assert_eq!(waits, [100, 500, 20, 20, 20]);
    }
}
