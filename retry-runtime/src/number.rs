//! Numbers from the attribute -> the policy's types. Users' configurations hold them in every
//! integer type, so that each is taken and none is cut.

use std::time::Duration;

use crate::{check::PolicyError, jitter::Jitter, policy::Policy};

/// An integer of any type, known at run time.
#[diagnostic::on_unimplemented(
    message = "expected an integer, found `{Self}`",
    label = "not an integer"
)]
pub trait Integer {
    /// Cut to 64 bits; `None` if negative.
    fn saturate(self) -> Option<u64>;
}

macro_rules! integers {
    ($($integer:ty)+) => {
        $(
            impl Integer for $integer {
                #[inline]
                fn saturate(self) -> Option<u64> {
                    #[allow(unused_comparisons, reason = "some are unsigned")]
                    let negative = self < 0;
                    (!negative).then(|| u64::try_from(self).unwrap_or(u64::MAX))
                }
            }

            impl Integer for std::num::NonZero<$integer> {
                #[inline]
                fn saturate(self) -> Option<u64> {
                    self.get().saturate()
                }
            }
        )+
    };
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// A number of calls that is known at run time; negative counts as 0, and that as 1.
#[inline]
pub fn count(calls: impl Integer) -> u32 {
    u32::try_from(calls.saturate().unwrap_or(0)).unwrap_or(u32::MAX)
}

/// Milliseconds that are known at run time; negative counts as 1: zero would be no pause at all.
#[inline]
pub fn millis(ms: impl Integer) -> u64 {
    ms.saturate().unwrap_or(1)
}

/// A jitter that is known at run time: a ratio or a `Jitter`.
#[inline]
pub fn jitter(given: impl Into<Jitter>) -> Jitter {
    given.into()
}

/// A number of calls that is a constant, clamped.
pub const fn const_count(calls: i128) -> u32 {
    const HIGHEST: i128 = 0xffff_ffff;
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the range, and traits are not available in constants"
    )]
    match calls {
        0..=HIGHEST => calls as u32,
        i128::MIN..0 => 0,
        _ => u32::MAX,
    }
}

/// Milliseconds that are a constant, clamped.
pub const fn const_millis(ms: i128) -> u64 {
    const HIGHEST: i128 = 0xffff_ffff_ffff_ffff;
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the range, and traits are not available in constants"
    )]
    match ms {
        0..=HIGHEST => ms as u64,
        i128::MIN..0 => 0,
        _ => u64::MAX,
    }
}

/// Fails the compilation if a constant can not be a number of calls.
///
/// # Panics
///
/// At compile time, with the rule that is broken.
#[track_caller]
pub const fn require_count(calls: i128) {
    assert!(calls >= 1, "{}", PolicyError::MaxIsZero.rule());
    assert!(
        calls <= 0xffff_ffff,
        "`max` must be below 2^32; for no limit write `max = \"unlimited\"`"
    );
}

/// Fails the compilation if a constant can not be a number of milliseconds.
///
/// # Panics
///
/// At compile time, with the rule that is broken.
#[track_caller]
pub const fn require_millis(ms: i128) {
    assert!(ms >= 0, "a wait must not be negative");
    assert!(
        ms <= 0xffff_ffff_ffff_ffff,
        "a wait must be below 2^64 milliseconds"
    );
}

/// An integer that is a constant: inherent methods, because those of traits are not `const`.
#[derive(Debug)]
pub struct ConstInteger<I>(pub I);

macro_rules! const_integers {
    ($($integer:ty)+) => {
        $(
            impl ConstInteger<$integer> {
                /// Wide enough for all but the largest of `u128`, which are as good as `i128::MAX`
                #[expect(clippy::allow_attributes, reason = "not all are true of each type")]
                #[allow(
                    clippy::as_conversions,
                    clippy::cast_lossless,
                    clippy::cast_possible_wrap,
                    trivial_numeric_casts,
                    unused_comparisons,
                    reason = "traits are not available in constants"
                )]
                pub const fn get(self) -> i128 {
                    let wide = self.0 as i128;
                    if self.0 > 0 && wide < 0 { i128::MAX } else { wide }
                }
            }
        )+
    };
}

const_integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// A growth that is known at run time, of any type of number.
#[diagnostic::on_unimplemented(
    message = "expected a number, found `{Self}`",
    label = "not a number"
)]
pub trait Growth {
    /// As a float, of which a growth needs no more than the first 53 bits.
    fn growth(self) -> f64;
}

macro_rules! growths {
    ($($number:ty)+) => {
        $(
            impl Growth for $number {
                #[inline]
                #[expect(clippy::allow_attributes, reason = "not all are true of each type")]
                #[allow(
                    clippy::as_conversions,
                    clippy::cast_lossless,
                    clippy::cast_precision_loss,
                    trivial_numeric_casts,
                    reason = "rounds"
                )]
                fn growth(self) -> f64 {
                    self as f64
                }
            }
        )+
    };
}

growths!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

/// A growth that is known at run time.
#[inline]
pub fn growth(factor: impl Growth) -> f64 {
    factor.growth()
}

/// Fails the compilation if a constant can not be a limit in milliseconds.
///
/// # Panics
///
/// At compile time, with the rule that is broken.
#[track_caller]
pub const fn require_limit(ms: i128) {
    assert!(
        ms > 0,
        "a limit must be above 0; for no such limit leave the key away"
    );
    assert!(
        ms <= 0xffff_ffff_ffff_ffff,
        "a limit must be below 2^64 milliseconds"
    );
}

/// Fails the compilation if an attempt may take as long as the call.
///
/// # Panics
///
/// At compile time, with the rule that is broken.
#[track_caller]
pub const fn require_below(timeout_ms: i128, deadline_ms: i128) {
    assert!(
        timeout_ms < deadline_ms,
        "`timeout_ms` must be below `deadline_ms`, which ends the call before it"
    );
}

/// A jitter that is a constant: inherent methods, because those of traits are not `const`.
#[derive(Debug)]
pub struct ConstJitter<J>(pub J);

impl ConstJitter<f64> {
    /// As a ratio
    pub const fn get(self) -> Jitter {
        Jitter::Ratio(self.0)
    }
}

impl ConstJitter<f32> {
    /// As a ratio
    #[expect(
        clippy::as_conversions,
        reason = "traits are not available in constants"
    )]
    pub const fn get(self) -> Jitter {
        Jitter::Ratio(self.0 as f64)
    }
}

impl ConstJitter<Jitter> {
    /// As it is
    pub const fn get(self) -> Jitter {
        self.0
    }
}

/// Fails the compilation if some of the attempts of a constant policy can never begin.
///
/// # Panics
///
/// At compile time, with the rule that is broken.
#[track_caller]
pub const fn require_reachable(policy: &Policy, deadline_ms: u64) {
    assert!(
        policy.reaches_all_attempts(Duration::from_millis(deadline_ms)),
        "`deadline_ms` ends the call before the last of `max` attempts, even with the shortest waits"
    );
}

/// Fails the compilation if a part of a constant policy is out of range.
///
/// # Panics
///
/// At compile time, with the rule that is broken.
#[track_caller]
pub const fn require(checked: Result<(), PolicyError>) {
    if let Err(error) = checked {
        panic_with(error.rule());
    }
}

#[track_caller]
#[expect(clippy::panic, reason = "at compile time")]
const fn panic_with(message: &str) -> ! {
    panic!("{}", message)
}
