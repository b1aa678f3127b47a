//! Two threads in all orders that the memory model allows.

#![expect(clippy::unwrap_used, reason = "tests fail where something is wrong")]

use ::loom::{sync::Arc, thread};

use super::*;

const SECOND: u64 = 1_000_000_000;

fn budget(ratio: f64, floor: u32) -> Arc<RetryBudget> {
    let budget = RetryBudget::new().ratio(ratio).min_per_second(floor);
    let budget = budget.window(SHORTEST);
    budget.read(0); // the first slot starts
    Arc::new(budget)
}

fn together<A: 'static, B: 'static>(
    budget: &Arc<RetryBudget>,
    one: impl Fn(&RetryBudget) -> A + 'static,
    other: impl Fn(&RetryBudget) -> B,
) -> (A, B) {
    let shared = Arc::clone(budget);
    let thread = thread::spawn(move || one(&shared));
    let other = other(budget);
    (thread.join().unwrap(), other)
}

#[test]
fn the_last_retry_is_granted_once() {
    ::loom::model(|| {
        let budget = budget(0.0, 1);
        let granted = together(&budget, |b| b.withdraw_at(0), |b| b.withdraw_at(0));
        assert!(granted.0 ^ granted.1);
    });
}

#[test]
fn the_last_retry_is_granted_once_although_a_slot_ends() {
    ::loom::model(|| {
        let budget = budget(0.0, 1);
        let granted = together(
            &budget,
            |b| b.withdraw_at(0),
            |b| b.withdraw_at(SECOND / 10),
        );
        assert!(granted.0 ^ granted.1);
    });
}

#[test]
fn a_call_is_counted_beside_a_retry() {
    ::loom::model(|| {
        let budget = budget(1.0, 0);
        let ((), granted) = together(&budget, |b| b.deposit_at(0), |b| b.withdraw_at(0));
        assert_eq!(budget.read(0).1, u32::from(!granted));
    });
}

#[test]
fn a_call_is_counted_although_a_slot_ends() {
    ::loom::model(|| {
        let budget = budget(1.0, 0);
        budget.deposit_at(0);
        let later = SECOND / 10;
        let ((), granted) = together(
            &budget,
            move |b| b.deposit_at(later),
            move |b| b.withdraw_at(later),
        );
        assert!(granted);
        assert_eq!(budget.read(later).1, 1);
    });
}

#[test]
fn the_starts_of_two_slots_are_not_mixed() {
    ::loom::model(|| {
        let budget = budget(1.0, 0);
        budget.deposit_at(0);
        assert!(budget.withdraw_at(0));
        let (last, after) = (SECOND * 9 / 10, SECOND * 11 / 10);
        assert_eq!(budget.read(last).1, 0);
        // the call with the retry before it is over, or neither is
        let granted = together(
            &budget,
            move |b| b.withdraw_at(last),
            move |b| b.withdraw_at(after),
        );
        assert_eq!(granted, (false, false));
    });
}

#[test]
fn what_expired_is_not_granted_while_a_call_turns_the_window() {
    ::loom::model(|| {
        let budget = budget(1.0, 0);
        budget.deposit_at(0);
        assert!(budget.withdraw_at(0));
        // the call's share is spent, and the retry counts for one slot longer
        let ((), granted) = together(&budget, |b| b.deposit_at(SECOND), |b| b.withdraw_at(SECOND));
        assert!(!granted);
        assert_eq!(budget.read(SECOND).1, 0);
        assert_eq!(budget.read(SECOND + SECOND / 10).1, 1);
    });
}
