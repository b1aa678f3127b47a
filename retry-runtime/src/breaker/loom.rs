//! Two threads in all orders that the memory model allows.

#![expect(clippy::unwrap_used, reason = "tests fail where something is wrong")]

use ::loom::{sync::Arc, thread};

use super::*;

const MINUTE: u64 = 60_000_000_000;

/// Opens when the last two have failed, and lets one probe through.
fn breaker() -> CircuitBreaker {
    let breaker = CircuitBreaker::new().window(2).min_calls(2);
    breaker.failure_rate(1.0).probes(1)
}

fn record(breaker: &CircuitBreaker, failed: bool) {
    if let Ok(permit) = breaker.at(0) {
        permit.end(failed, || 0);
    }
}

/// With these outcomes already.
fn after(breaker: CircuitBreaker, outcomes: &[bool]) -> Arc<CircuitBreaker> {
    for failed in outcomes {
        record(&breaker, *failed);
    }
    Arc::new(breaker)
}

fn together<A: 'static, B>(
    breaker: &Arc<CircuitBreaker>,
    one: impl Fn(&CircuitBreaker) -> A + 'static,
    other: impl Fn(&CircuitBreaker) -> B,
) -> (A, B) {
    let shared = Arc::clone(breaker);
    let thread = thread::spawn(move || one(&shared));
    let other = other(breaker);
    (thread.join().unwrap(), other)
}

fn epoch(breaker: &CircuitBreaker) -> u64 {
    Word(breaker.head.load(Ordering::Acquire)).get(EPOCH)
}

#[test]
fn it_opens_once_when_two_failures_open_it_together() {
    ::loom::model(|| {
        let breaker = after(breaker(), &[]);
        together(&breaker, |b| record(b, true), |b| record(b, true));
        assert_eq!(breaker.state(), BreakerState::Open);
        assert_eq!(epoch(&breaker), 1);
    });
}

#[test]
fn it_opens_once_when_either_of_two_failures_opens_it() {
    ::loom::model(|| {
        let breaker = after(breaker(), &[true]);
        together(&breaker, |b| record(b, true), |b| record(b, true));
        assert_eq!(breaker.state(), BreakerState::Open);
        assert_eq!(epoch(&breaker), 1);
    });
}

#[test]
fn no_outcome_is_lost() {
    for (min_calls, one, other) in [
        (4, true, false),
        (1, true, true),
        (1, true, false),
        (1, false, false),
    ] {
        ::loom::model(move || {
            // enough outcomes to count successes apart, or not
            let breaker = after(breaker().window(8).min_calls(min_calls), &[false, true]);
            together(&breaker, move |b| record(b, one), move |b| record(b, other));
            let failures = 1 + u64::from(one) + u64::from(other);
            assert_eq!(breaker.counts(), (4, failures, failures));
        });
    }
}

#[test]
fn successes_count_before_the_failure_that_follows_them() {
    ::loom::model(|| {
        let breaker = after(breaker().failure_rate(0.6).window(8).min_calls(1), &[false]);
        // whichever comes last, three of five are never reached
        together(
            &breaker,
            |b| [false, true].map(|failed| record(b, failed)),
            |b| [false, true].map(|failed| record(b, failed)),
        );
        assert_eq!(breaker.counts(), (5, 2, 2));
    });
}

#[test]
fn outcomes_from_before_a_reset_do_not_count() {
    for failed in [false, true] {
        ::loom::model(move || {
            let breaker = after(breaker().window(4).min_calls(1), &[false]);
            let before = epoch(&breaker);
            together(
                &breaker,
                move |b| b.record(before, failed, || 0),
                |b| {
                    b.reset();
                    [false, false].map(|failed| record(b, failed))
                },
            );
            assert_eq!(breaker.counts(), (2, 0, 0));
        });
    }
}

#[test]
fn a_success_from_before_a_reset_does_not_displace_those_after_it() {
    ::loom::model(|| {
        let breaker = after(breaker().window(4).min_calls(1), &[false]);
        let before = epoch(&breaker);
        // both count in the same place
        let (one, other) = (Arc::clone(&breaker), Arc::clone(&breaker));
        let one = thread::spawn(move || one.record(before, false, || 0));
        let other = thread::spawn(move || {
            other.reset();
            [false, false].map(|failed| record(&other, failed))
        });
        one.join().unwrap();
        other.join().unwrap();
        assert_eq!(breaker.counts(), (2, 0, 0));
    });
}

#[test]
fn a_thread_that_was_held_up_does_not_end_the_next_opening_early() {
    ::loom::model(|| {
        let breaker = after(breaker().failure_rate(0.5).probes(2), &[true, true]);
        let probes = [MINUTE; 2].map(|now| breaker.at(now).map(mem::forget));
        assert_eq!(probes, [Ok(()), Ok(())]);
        let half_open = epoch(&breaker);
        together(
            &breaker,
            move |b| b.record(half_open, true, || MINUTE),
            move |b| {
                b.record(half_open, true, || MINUTE);
                b.at(2 * MINUTE).unwrap().end(true, || 2 * MINUTE);
            },
        );
        let open = breaker.at(2 * MINUTE).map(mem::forget).unwrap_err();
        assert_eq!(open.retry_after(), Some(Duration::from_nanos(MINUTE)));
    });
}

#[test]
fn a_call_beside_the_failure_that_opens_it_is_not_a_probe() {
    ::loom::model(|| {
        let breaker = after(breaker(), &[true]);
        let (refused, ()) = together(
            &breaker,
            |b| b.at(1).err().map(|open| open.retry_after()),
            |b| record(b, true),
        );
        let left = Some(Duration::from_nanos(MINUTE - 1));
        assert!(refused.is_none_or(|retry_after| retry_after == left));
        assert_eq!(breaker.state(), BreakerState::Open);
    });
}

#[test]
fn the_only_probe_is_taken_once() {
    ::loom::model(|| {
        let breaker = after(breaker(), &[true, true]);
        let take = |b: &CircuitBreaker| b.at(MINUTE).map(mem::forget).is_ok();
        let taken = together(&breaker, take, take);
        assert!(taken.0 ^ taken.1);
    });
}

#[test]
fn a_probe_that_is_given_back_can_be_taken_once() {
    ::loom::model(|| {
        let breaker = after(breaker(), &[true, true]);
        breaker.at(MINUTE).map(mem::forget).unwrap();
        let half_open = epoch(&breaker);
        let take = |b: &CircuitBreaker| b.at(MINUTE).map(mem::forget).is_ok();
        let ((), taken) = together(&breaker, move |b| b.give_back(half_open), take);
        assert_eq!(take(&breaker), !taken);
        assert!(!take(&breaker));
    });
}

#[test]
fn the_end_of_a_probe_and_a_reset_leave_it_closed() {
    ::loom::model(|| {
        let breaker = after(breaker(), &[true, true]);
        breaker.at(MINUTE).map(mem::forget).unwrap();
        let half_open = epoch(&breaker);
        together(
            &breaker,
            move |b| b.record(half_open, true, || MINUTE),
            CircuitBreaker::reset,
        );
        assert_eq!(breaker.state(), BreakerState::Closed);
        assert_eq!(breaker.counts(), (0, 0, 0));
    });
}
