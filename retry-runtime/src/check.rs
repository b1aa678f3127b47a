//! Whether the parts of a policy are in range and agree, at compile time or at run time.

use std::{fmt, time::Duration};

use crate::{backoff::Backoff, jitter::Jitter, policy::Policy};

impl Policy {
    /// This policy, if all its parts are in range and agree with one another.
    ///
    /// ```
    /// use retry_runtime::{Policy, PolicyError};
    ///
    /// struct Config { attempts: u32, factor: f64 }
    /// let config = Config { attempts: 5, factor: f64::NAN };
    ///
    /// let error = Policy::new().max(config.attempts).factor(config.factor).validate().unwrap_err();
    /// assert_eq!(error.to_string(), "`factor` is NaN: it must be a finite number of at least 1");
    /// ```
    ///
    /// # Errors
    ///
    /// The first part that is out of range, with its value and what is allowed.
    pub const fn validate(self) -> Result<Self, PolicyError> {
        match self.check() {
            Ok(()) => Ok(self),
            Err(error) => Err(error),
        }
    }

    #[doc(hidden)]
    pub const fn check(&self) -> Result<(), PolicyError> {
        let parts = [
            self.check_max(),
            self.check_factor(),
            self.check_cap(),
            self.check_base(),
            self.check_delays(),
            self.check_jitter(),
        ];
        // `?` and iterators are not available in constants
        let mut part = 0;
        #[expect(
            clippy::indexing_slicing,
            clippy::arithmetic_side_effects,
            reason = "bounded by the length"
        )]
        while part < parts.len() {
            if let Err(error) = parts[part] {
                return Err(error);
            }
            part += 1;
        }
        Ok(())
    }

    #[doc(hidden)]
    pub const fn check_max(&self) -> Result<(), PolicyError> {
        match self.max {
            Some(0) => Err(PolicyError::MaxIsZero),
            _ => Ok(()),
        }
    }

    #[doc(hidden)]
    pub const fn check_factor(&self) -> Result<(), PolicyError> {
        if self.factor >= 1.0 && self.factor.is_finite() {
            Ok(())
        } else {
            Err(PolicyError::FactorOutOfRange(self.factor))
        }
    }

    #[doc(hidden)]
    pub const fn check_cap(&self) -> Result<(), PolicyError> {
        if self.cap.is_zero() {
            Err(PolicyError::CapIsZero)
        } else {
            Ok(())
        }
    }

    #[doc(hidden)]
    pub const fn check_base(&self) -> Result<(), PolicyError> {
        let uses_base = !matches!(self.backoff, Backoff::None | Backoff::Delays(_));
        if uses_base && self.base.as_nanos() > self.cap.as_nanos() {
            Err(PolicyError::BaseAboveCap {
                base: self.base,
                cap: self.cap,
            })
        } else {
            Ok(())
        }
    }

    #[doc(hidden)]
    pub const fn check_delays(&self) -> Result<(), PolicyError> {
        let Backoff::Delays(delays) = self.backoff else {
            return Ok(());
        };
        if delays.is_empty() {
            return Err(PolicyError::DelaysAreEmpty);
        }
        let mut index = 0;
        #[expect(
            clippy::indexing_slicing,
            clippy::arithmetic_side_effects,
            reason = "bounded by the length"
        )]
        while index < delays.len() {
            let delay = Duration::from_millis(delays[index]);
            if delay.as_nanos() > self.cap.as_nanos() {
                return Err(PolicyError::DelayAboveCap {
                    delay,
                    cap: self.cap,
                });
            }
            index += 1;
        }
        Ok(())
    }

    /// Whether the shortest waits that jitter allows leave time for every attempt.
    ///
    /// Close enough for a check: with floats, because the exact growth is not available in
    /// constants.
    #[doc(hidden)]
    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "traits are not available in constants; bounded by the length"
    )]
    pub const fn reaches_all_attempts(&self, deadline: Duration) -> bool {
        const MOST: u32 = 1_000;
        let lowest = match self.jitter {
            Jitter::None | Jitter::Decorrelated => 1.0,
            Jitter::Full => 0.0,
            Jitter::Equal => 0.5,
            Jitter::Ratio(ratio) => 1.0 - ratio,
        };
        // reported by itself
        if deadline.is_zero() {
            return true;
        }
        // without a limit it is the deadline that ends the call
        let Some(max) = self.max else { return true };
        let (base, cap) = (self.base.as_nanos() as f64, self.cap.as_nanos() as f64);
        let (mut grown, mut before) = (base, 0.0);
        let (mut retry, mut waited) = (0, 0.0);
        while retry + 1 < max && retry < MOST {
            let wait = match self.backoff {
                Backoff::None => return true,
                Backoff::Delays([]) => base,
                Backoff::Delays(list) => {
                    let end = list.len() - 1;
                    let index = if (retry as usize) < end {
                        retry as usize
                    } else {
                        end
                    };
                    list[index] as f64 * 1e6
                }
                _ => grown,
            };
            waited += if wait < cap { wait } else { cap } * lowest;
            if waited >= deadline.as_nanos() as f64 * (1.0 + 1e-9) {
                return false;
            }
            (before, grown) = match (self.backoff, self.jitter) {
                (_, Jitter::Decorrelated) | (Backoff::Fixed, _) => (before, base),
                (Backoff::Linear, _) => (before, grown + base),
                (Backoff::Fibonacci, _) => {
                    (grown, if before > 0.0 { before + grown } else { base })
                }
                (_, _) => (before, grown * self.factor),
            };
            retry += 1;
        }
        true
    }

    #[doc(hidden)]
    pub const fn check_jitter(&self) -> Result<(), PolicyError> {
        match self.jitter {
            Jitter::Ratio(ratio) if !(ratio >= 0.0 && ratio <= 1.0) => {
                Err(PolicyError::JitterOutOfRange(ratio))
            }
            Jitter::Decorrelated if matches!(self.backoff, Backoff::Delays(_)) => {
                Err(PolicyError::DelaysAreDecorrelated)
            }
            _ => Ok(()),
        }
    }
}

/// A part of a [`Policy`] that is out of range. Its text names the part as the attribute's key
/// and the method do, gives the value, and says what is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PolicyError {
    /// `max` is 0: not even the first call would be allowed
    MaxIsZero,
    /// `factor` is below 1, infinite or NaN
    FactorOutOfRange(f64),
    /// `cap` is 0: there would be no wait
    CapIsZero,
    /// `base` is longer than `cap`
    BaseAboveCap {
        /// The first wait
        base: Duration,
        /// The longest wait
        cap: Duration,
    },
    /// `delays_ms` has no entry
    DelaysAreEmpty,
    /// An entry of `delays_ms` is longer than `cap`
    DelayAboveCap {
        /// The entry
        delay: Duration,
        /// The longest wait
        cap: Duration,
    },
    /// The ratio of `jitter` is below 0, above 1 or NaN
    JitterOutOfRange(f64),
    /// `jitter` is decorrelated, which grows by itself and would not look at `delays_ms`
    DelaysAreDecorrelated,
}

const DELAYS_ARE_DECORRELATED: &str =
    "`delays_ms` has no effect on decorrelated `jitter`, which grows by itself";

impl PolicyError {
    /// The rule that was broken, without the value: a constant can not format numbers.
    #[doc(hidden)]
    pub const fn rule(self) -> &'static str {
        match self {
            Self::MaxIsZero => "`max` must be at least 1: it counts calls, the first included",
            Self::FactorOutOfRange(_) => "`factor` must be a finite number of at least 1",
            Self::CapIsZero => {
                "`cap_ms` must be above 0; for no wait at all write `backoff = \"none\"`"
            }
            Self::BaseAboveCap { .. } => {
                "`base_ms` (200 unless given) must not be above `cap_ms` (30000 unless given)"
            }
            Self::DelaysAreEmpty => "`delays_ms` must have at least one entry",
            Self::DelayAboveCap { .. } => {
                "no entry of `delays_ms` may be above `cap_ms` (30000 unless given)"
            }
            Self::DelaysAreDecorrelated => DELAYS_ARE_DECORRELATED,
            Self::JitterOutOfRange(_) => "the ratio of `jitter` must be within 0.0..=1.0",
        }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MaxIsZero => write!(
                f,
                "`max` is 0: it must be at least 1, it counts calls, the first included"
            ),
            Self::FactorOutOfRange(factor) => {
                write!(
                    f,
                    "`factor` is {factor}: it must be a finite number of at least 1"
                )
            }
            Self::CapIsZero => write!(f, "`cap` is 0: it must be above 0"),
            Self::BaseAboveCap { base, cap } => {
                write!(f, "`base` is {base:?}: it must not be above `cap`, {cap:?}")
            }
            Self::DelaysAreEmpty => {
                write!(f, "`delays_ms` is empty: it must have at least one entry")
            }
            Self::DelayAboveCap { delay, cap } => {
                write!(
                    f,
                    "`delays_ms` has an entry of {delay:?}: none may be above `cap`, {cap:?}"
                )
            }
            Self::DelaysAreDecorrelated => f.write_str(DELAYS_ARE_DECORRELATED),
            Self::JitterOutOfRange(ratio) => {
                write!(
                    f,
                    "the ratio of `jitter` is {ratio}: it must be within 0.0..=1.0"
                )
            }
        }
    }
}

impl std::error::Error for PolicyError {}
