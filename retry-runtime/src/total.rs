//! The sum of many waits. Pure, and never as long as the calls are many.

use std::ops::Range;

/// Waits that grow are added up in so many pieces at most.
const PIECES: u32 = 10_000;

/// The sum of `wait` over these retries, where it never decreases from one to the next.
///
/// Exact for up to [`PIECES`] waits that differ from the longest. More of them are taken several at
/// a time as if they grew evenly: exact for the linear backoff, less than 1 in 100 000 too much for
/// the exponential one.
pub(crate) fn sum(retries: Range<u32>, wait: impl Fn(u32) -> u128) -> u128 {
    if retries.is_empty() {
        return 0;
    }
    let last = retries.end.saturating_sub(1);
    let longest = wait(last);
    let settled = first(retries.start, last, |retry| wait(retry) == longest);
    let growing = settled.saturating_sub(retries.start);
    let repeated = longest.saturating_mul(u128::from(retries.end.saturating_sub(settled)));
    let length = growing.div_ceil(PIECES).max(1);
    let mut sum = repeated;
    let mut from = retries.start;
    while from < settled {
        let to = settled.min(from.saturating_add(length));
        let ends = wait(from).saturating_add(wait(to.saturating_sub(1)));
        let piece = ends.saturating_mul(u128::from(to.saturating_sub(from)));
        sum = sum.saturating_add(piece.div_ceil(2));
        from = to;
    }
    sum
}

/// The first number for which `holds`, which holds for the last and for all after the first.
fn first(mut low: u32, mut last: u32, holds: impl Fn(u32) -> bool) -> u32 {
    while low < last {
        let middle = low.midpoint(last);
        if holds(middle) {
            last = middle;
        } else {
            low = middle.saturating_add(1);
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_few_waits_are_added_up_as_they_are() {
        let waits = [3, 3, 4, 9, 9, 9];
        for from in 0..6 {
            for to in from..6 {
                let added = waits[from..to].iter().sum();
                let range = u32::try_from(from).unwrap()..u32::try_from(to).unwrap();
                let wait = |retry| waits[usize::try_from(retry).unwrap()];
                assert_eq!(sum(range, wait), added, "{from}..{to}");
            }
        }
    }

    #[test]
    fn even_growth_is_exact_for_any_number_of_calls() {
        for calls in [10_000, 10_001, 123_456_789, u32::MAX] {
            let exact = u128::from(calls) * (u128::from(calls) + 1) / 2;
            assert_eq!(sum(0..calls, |retry| u128::from(retry) + 1), exact);
        }
    }

    #[test]
    fn slow_exponential_growth_is_hardly_overestimated() {
        // 64 is the logarithm of the longest wait there is, in nanoseconds
        let calls = 64_000_000;
        let wait = |retry: u32| (f64::from(retry) * 1e-6).exp();
        let exact = 64_f64.exp_m1() / 1e-6_f64.exp_m1();
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "up to 1e34, to 16 digits"
        )]
        let ratio = sum(0..calls, |retry| wait(retry) as u128) as f64 / exact;
        assert!((1.0..1.000_01).contains(&ratio), "{ratio}");
    }

    #[test]
    fn the_waits_looked_at_are_bounded() {
        let looked = Cell::new(0);
        sum(0..u32::MAX, |retry| {
            looked.set(looked.get() + 1);
            u128::from(retry)
        });
        assert!(looked.get() <= 20_100, "{}", looked.get());
    }
}
