//! What the budget grants.

#![expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "tests fail where something is wrong"
)]

use std::{cell::Cell, thread};

use super::*;
use crate::random::SplitMix;

const SECOND: u64 = 1_000_000_000;

fn granted_at(budget: &RetryBudget, now: u64, asked: u32) -> u32 {
    (0..asked).map(|_| u32::from(budget.withdraw_at(now))).sum()
}

#[test]
fn a_thousand_callers_that_fail_together_get_a_fifth_of_their_number() {
    let budget = RetryBudget::new().min_per_second(0);
    for _ in 0..1000 {
        budget.deposit_at(0);
    }
    assert_eq!(granted_at(&budget, 0, 3000), 200);
}

#[test]
fn callers_that_fail_together_stop_when_a_budget_of_ten_is_empty() {
    let budget = RetryBudget::new()
        .ratio(0.0)
        .min_per_second(10)
        .window(Duration::from_secs(1));
    let mut calls = 0;
    for _ in 0..100 {
        budget.deposit_at(0);
        calls += 1;
        for _retry in 1..4 {
            if !budget.withdraw_at(0) {
                break;
            }
            calls += 1;
        }
    }
    assert_eq!(calls, 110);
}

#[test]
fn a_share_is_a_decimal_fraction_and_not_the_float_below_it() {
    for (ratio, calls, earned) in [
        (0.2, 5, 1),
        (0.29, 100, 29),
        (0.07, 100, 7),
        (1.0 / 3.0, 3, 1),
        (0.1, 10, 1),
        (0.1, 9, 0),
        (2.5, 2, 5),
        (1000.0, 3, 3000),
    ] {
        let budget = RetryBudget::new().ratio(ratio).min_per_second(0);
        for _ in 0..calls {
            budget.deposit_at(0);
        }
        assert_eq!(budget.read(0).1, earned, "{ratio} of {calls}");
    }
}

#[test]
fn settings_out_of_range_count_as_the_nearest_allowed() {
    let left = |budget: RetryBudget| {
        budget.deposit_at(0);
        budget.read(0).1
    };
    let none = || RetryBudget::new().min_per_second(0);
    assert_eq!(left(none().ratio(f64::NAN)), 0);
    assert_eq!(left(none().ratio(-1.0)), 0);
    assert_eq!(left(none().ratio(f64::INFINITY)), 1000);
    assert_eq!(left(RetryBudget::new().window(Duration::ZERO)), 10);
    assert_eq!(left(RetryBudget::new().window(Duration::MAX)), 600);
    assert_eq!(left(RetryBudget::new().min_per_second(u32::MAX)), u32::MAX);
    assert_eq!(
        left(RetryBudget::new().window(Duration::from_millis(2550))),
        25
    );
}

#[test]
fn what_a_call_earned_expires_with_the_window_and_a_tenth_of_it_early_at_most() {
    for begin in [0, SECOND / 2, SECOND - 1] {
        let left = |after: u64| {
            let budget = RetryBudget::new().ratio(1.0).min_per_second(0);
            budget.read(0); // the first slot starts
            budget.deposit_at(begin);
            budget.read(begin + after).1
        };
        assert_eq!(left(9 * SECOND), 1);
        assert_eq!(left(10 * SECOND), 0);
    }
}

#[test]
fn the_floor_is_there_again_after_a_window_and_a_tenth() {
    for begin in [0, SECOND / 2, SECOND - 1] {
        let budget = RetryBudget::new().ratio(0.0);
        budget.read(0);
        assert_eq!(granted_at(&budget, begin, 1000), 100);
        assert_eq!(granted_at(&budget, begin + 10 * SECOND, 1), 0);
        assert_eq!(granted_at(&budget, begin + 11 * SECOND, 1000), 100);
    }
}

#[test]
fn time_that_stands_jumps_or_goes_back_neither_earns_nor_hangs() {
    let budget = RetryBudget::new().ratio(1.0).min_per_second(1);
    for now in [u64::MAX, 0, LATEST, u64::MAX, 7, u64::MAX - 1] {
        budget.deposit_at(now);
        assert!(budget.withdraw_at(now));
    }
    assert_eq!(granted_at(&budget, u64::MAX, 100), 10);
}

#[test]
fn counters_wrap_unseen() {
    let budget = RetryBudget::new().ratio(1.0).min_per_second(0);
    let full = u64::MAX - CALL - 1;
    budget.totals.0.store(full, Ordering::Relaxed);
    for start in &budget.starts {
        start.store(full, Ordering::Relaxed);
    }
    for _ in 0..5 {
        budget.deposit_at(0);
    }
    assert_eq!(granted_at(&budget, 0, 9), 5);
    assert_eq!(budget.read(0).1, 0);
}

/// Over any sequence of calls, retries and time, each granted retry is within the calls of the
/// window that ends with it; and one that is within those of nine tenths of it is granted,
/// even if the retries of a tenth more count.
#[test]
fn retries_never_exceed_the_share_of_the_calls_in_their_window() {
    for seed in 0..400 {
        let mut random = SplitMix(seed);
        let ratio = [0.0, 0.1, 0.2, 1.0, 2.5][random.index(5)];
        let min_per_second = [0, 1, 7][random.index(3)];
        let window = SECOND * (1 + random.below(10)) + random.below(SECOND);
        let budget = RetryBudget::new()
            .ratio(ratio)
            .min_per_second(min_per_second)
            .window(Duration::from_nanos(window));
        let (window, slot) = (budget.slot * 10, budget.slot);
        let floor = f64::from(min_per_second) * window as f64 / SECOND as f64;
        // with many calls in a slot, some of the next ones count as earlier than they are
        let is_busy = seed % 4 == 0;
        let unsure = if is_busy { EVERY * 10 } else { 0 };
        let most = if is_busy { MANY / 2 } else { 2 };
        let (mut now, mut calls, mut retries) = (random.below(window), vec![], vec![]);
        for _ in 0..2000 {
            match random.below(10) {
                0..4 => {
                    let number = 1 + random.below(most);
                    (0..number).for_each(|_| budget.deposit_at(now));
                    calls.push((now, number));
                }
                4..8 => {
                    // in (now - length, now]
                    let within = |events: &[(u64, u64)], length| {
                        let recent = events.iter().rev();
                        let recent = recent.take_while(|(at, _)| at + length > now);
                        recent.map(|(_, number)| number).sum::<u64>()
                    };
                    let sure = within(&calls, window - slot).saturating_sub(unsure);
                    let sure = (sure as f64 * ratio + floor.floor()).floor();
                    let due = sure >= within(&retries, window + slot) as f64 + 1.0;
                    let granted = budget.withdraw_at(now);
                    if granted {
                        retries.push((now, 1));
                        let allowed = within(&calls, window) as f64 * ratio + floor;
                        assert!(
                            within(&retries, window) as f64 <= allowed + 1e-6,
                            "seed {seed}: more than {allowed} at {now}"
                        );
                    }
                    assert!(granted || !due, "seed {seed}: refused at {now}");
                }
                8 => now += random.below(slot * 3),
                _ => now += [0, 1, slot - 1, slot, window, window + slot][random.index(6)],
            }
        }
    }
}

#[test]
fn of_many_calls_few_read_the_clock_and_all_are_counted() {
    let budget = RetryBudget::new().ratio(1.0).min_per_second(0);
    let readings = Cell::new(0);
    for _ in 0..MANY + EVERY * 100 {
        budget.deposit_by(|| {
            readings.set(readings.get() + 1);
            0
        });
    }
    assert_eq!(readings.get(), MANY + 1 + 100);
    assert_eq!(u64::from(budget.read(0).1), MANY + EVERY * 100);
    // the pause is seen within `EVERY` calls
    (0..EVERY * 2).for_each(|_| budget.deposit_at(60 * SECOND));
    assert!(u64::from(budget.read(60 * SECOND).1) >= EVERY);
}

#[test]
fn without_a_share_a_call_reads_no_clock() {
    let budget = RetryBudget::new().ratio(0.0);
    budget.deposit_by(|| unreachable!());
}

#[test]
fn threads_lose_no_call_and_no_retry() {
    let budget = RetryBudget::new().ratio(0.5).min_per_second(1);
    let granted: u32 = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let budget = &budget;
                scope.spawn(move || {
                    let mut granted = 0;
                    for call in 0..20_000_u64 {
                        // across eight of the ten slots, so that nothing expires
                        let now = call * SECOND / 2_500 + thread;
                        budget.deposit_at(now);
                        granted += u32::from(budget.withdraw_at(now));
                    }
                    granted
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    let left = budget.read(0).1;
    assert_eq!(granted + left, 40_010);
}
