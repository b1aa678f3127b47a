//! The breaker against a plain model of it, and what it promises.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::unwrap_used,
    reason = "tests fail where something is wrong"
)]

use std::{
    collections::{HashMap, VecDeque},
    panic, thread,
};

use super::*;
use crate::random::SplitMix;

const MINUTE: u64 = 60_000_000_000;

/// Two of four; open for a minute; two probes.
fn breaker() -> CircuitBreaker {
    CircuitBreaker::new().window(4).min_calls(4).probes(2)
}

impl CircuitBreaker {
    fn opened_at(self, now: u64) -> Self {
        while self.state() == BreakerState::Closed {
            self.at(now).unwrap().end(true, || now);
        }
        self
    }
}

/// The breaker as its documentation tells it.
struct Model {
    window: usize,
    min_calls: usize,
    probes: usize,
    rate: f64,
    open_for: u64,
    state: BreakerState,
    epoch: u32,
    outcomes: VecDeque<bool>,
    out: usize,
    until: u64,
}

impl Model {
    fn enter(&mut self, state: BreakerState) {
        self.state = state;
        self.epoch += 1;
        self.outcomes.clear();
        self.out = 0;
    }

    fn acquire(&mut self, now: u64) -> Result<u32, Option<u64>> {
        match self.state {
            BreakerState::Closed => return Ok(self.epoch),
            BreakerState::Open if now < self.until => return Err(Some(self.until - now)),
            BreakerState::Open => self.enter(BreakerState::HalfOpen),
            BreakerState::HalfOpen if self.out + self.outcomes.len() == self.probes => {
                return Err(None);
            }
            BreakerState::HalfOpen => {}
        }
        self.out += 1;
        Ok(self.epoch)
    }

    fn end(&mut self, epoch: u32, failed: Option<bool>, now: u64) {
        if epoch != self.epoch {
            return;
        }
        self.out = self.out.saturating_sub(1);
        let Some(failed) = failed else { return };
        self.outcomes.push_back(failed);
        let failures = |outcomes: &VecDeque<bool>| outcomes.iter().filter(|o| **o).count() as f64;
        let limit = if self.state == BreakerState::Closed {
            if self.outcomes.len() > self.window {
                self.outcomes.pop_front();
            }
            if self.outcomes.len() < self.min_calls.min(self.window) {
                return;
            }
            self.outcomes.len()
        } else {
            self.probes
        };
        if failures(&self.outcomes) / limit as f64 >= self.rate {
            self.enter(BreakerState::Open);
            self.until = now + self.open_for;
        } else if self.state == BreakerState::HalfOpen && self.outcomes.len() == self.probes {
            self.enter(BreakerState::Closed);
        }
    }
}

#[test]
fn it_does_what_the_model_does_over_any_sequence() {
    let mut changes = HashMap::new();
    for seed in 0..200 {
        let mut random = SplitMix(seed);
        let most = [3, 20, 1024][random.index(3)];
        let mut up_to = |most: u32| 1 + u32::try_from(random.below(u64::from(most))).unwrap();
        let (window, min_calls, probes) = (up_to(most), up_to(most), up_to(most.min(20)));
        // halves and quarters are exact, so that the model need not round as the breaker does
        let rate = [0.25, 0.5, 0.75, 1.0][random.index(4)];
        // shares of failures around the rate, so that each state is reached
        let failing = (rate * 100.0) as u64 + random.below(20) - 10;
        let breaker = CircuitBreaker::new()
            .window(window)
            .min_calls(min_calls)
            .failure_rate(rate)
            .probes(probes);
        let mut model = Model {
            window: window as usize,
            min_calls: min_calls as usize,
            probes: probes as usize,
            rate,
            open_for: MINUTE,
            state: BreakerState::Closed,
            epoch: 0,
            outcomes: VecDeque::new(),
            out: 0,
            until: 0,
        };
        let (mut now, mut under_way) = (random.below(MINUTE), Vec::new());
        for step in 0..4000 {
            let before = model.state;
            match random.below(100) {
                0..48 => match (breaker.at(now), model.acquire(now)) {
                    (Ok(permit), Ok(epoch)) => under_way.push((permit, epoch)),
                    (Err(open), Err(left)) => {
                        assert_eq!(open.retry_after(), left.map(Duration::from_nanos));
                    }
                    (ours, model) => panic!("seed {seed}, step {step}: {ours:?}, {model:?}"),
                },
                48..97 if !under_way.is_empty() => {
                    let (permit, epoch) = under_way.swap_remove(random.index(under_way.len()));
                    let failed = match random.below(110) {
                        100.. => None,
                        share => Some(share < failing),
                    };
                    match failed {
                        Some(failed) => permit.end(failed, || now),
                        None => permit.ignore(),
                    }
                    model.end(epoch, failed, now);
                }
                99 if random.below(100) == 0 => {
                    breaker.reset();
                    model.enter(BreakerState::Closed);
                }
                _ => now += random.below(MINUTE / 4),
            }
            assert_eq!(breaker.state(), model.state, "seed {seed}, step {step}");
            *changes.entry((before, model.state)).or_insert(0) += 1;
            if model.state == BreakerState::Closed && step % 32 == 0 {
                let failures = model.outcomes.iter().filter(|o| **o).count() as u64;
                assert_eq!(
                    breaker.counts(),
                    (model.outcomes.len() as u64, failures, failures),
                    "seed {seed}, step {step}"
                );
            }
        }
    }
    for change in [
        (BreakerState::Closed, BreakerState::Open),
        (BreakerState::Open, BreakerState::HalfOpen),
        (BreakerState::HalfOpen, BreakerState::Open),
        (BreakerState::HalfOpen, BreakerState::Closed),
    ] {
        assert!(changes[&change] > 50, "seldom {change:?}");
    }
}

#[test]
fn a_rate_is_a_decimal_fraction_and_not_the_float_above_it() {
    for (rate, failures, calls) in [
        (0.07, 7, 100),
        (0.29, 29, 100),
        (0.1, 1, 10),
        (1.0 / 3.0, 1, 3),
    ] {
        let breaker = CircuitBreaker::new().window(calls).failure_rate(rate);
        for call in 0..calls {
            assert_eq!(breaker.state(), BreakerState::Closed);
            breaker.at(0).unwrap().end(call < failures, || 0);
        }
        assert_eq!(breaker.state(), BreakerState::Open, "{rate}");
        let breaker = CircuitBreaker::new().window(calls).failure_rate(rate);
        for call in 0..calls * 3 {
            breaker
                .at(0)
                .unwrap()
                .end(call % calls < failures - 1, || 0);
        }
        assert_eq!(breaker.state(), BreakerState::Closed, "{rate}");
    }
}

#[test]
fn settings_out_of_range_count_as_the_nearest_allowed() {
    let breaker = CircuitBreaker::new();
    assert_eq!(breaker.window(0).window, 1);
    assert_eq!(CircuitBreaker::new().window(u32::MAX).window, 1024);
    assert_eq!(CircuitBreaker::new().min_calls(0).min_calls, 1);
    assert_eq!(CircuitBreaker::new().probes(0).probes, 1);
    assert_eq!(CircuitBreaker::new().probes(u32::MAX).probes, 1024);
    assert_eq!(
        CircuitBreaker::new().open_for(Duration::ZERO).open_for,
        1_000_000
    );
    assert_eq!(
        CircuitBreaker::new().open_for(Duration::MAX).open_for,
        u64::MAX
    );
    for (rate, counts_as) in [
        (2.0, WHOLE),
        (f64::NAN, WHOLE / 2),
        (-1.0, 0),
        (f64::INFINITY, WHOLE),
    ] {
        assert_eq!(
            CircuitBreaker::new().failure_rate(rate).failure_rate,
            counts_as
        );
    }
    // more than the window is the window
    let breaker = CircuitBreaker::new().window(3).min_calls(50).opened_at(0);
    assert_eq!(breaker.state(), BreakerState::Open);
    // any failure, but no success
    let breaker = CircuitBreaker::new().min_calls(1).failure_rate(0.0);
    breaker.at(0).unwrap().end(false, || 0);
    assert_eq!(breaker.state(), BreakerState::Closed);
    breaker.at(0).unwrap().end(true, || 0);
    assert_eq!(breaker.state(), BreakerState::Open);
}

#[test]
fn it_says_how_long_until_the_next_probe() {
    let breaker = breaker().opened_at(7);
    let open = breaker.at(MINUTE).unwrap_err();
    assert_eq!(open.retry_after(), Some(Duration::from_nanos(7)));
    assert_eq!(
        open.to_string(),
        "circuit breaker is open, next probe in 7ns"
    );
    let probes = [
        breaker.at(MINUTE + 7).unwrap(),
        breaker.at(MINUTE + 7).unwrap(),
    ];
    let open = breaker.at(MINUTE + 7).unwrap_err();
    assert_eq!(open.retry_after(), None);
    assert_eq!(
        open.to_string(),
        "circuit breaker is half-open, its probes are under way"
    );
    drop(probes);
    breaker.force_open();
    let open = breaker.at(u64::MAX).unwrap_err();
    assert_eq!(open.retry_after(), None);
    assert_eq!(open.to_string(), "circuit breaker is held open");
}

#[test]
fn an_ignored_error_gives_its_probe_back() {
    let breaker = breaker().probes(1).opened_at(0);
    for _ in 0..10 {
        let probe = breaker.at(MINUTE).unwrap();
        assert!(breaker.at(MINUTE).is_err());
        probe.ignore();
    }
    breaker.at(MINUTE).unwrap().end(false, || MINUTE);
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[test]
fn a_dropped_probe_is_given_back_by_a_panic_too() {
    let breaker = breaker().probes(1).opened_at(0);
    drop(breaker.at(MINUTE).unwrap());
    let panicked = thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _probe = breaker.at(MINUTE).unwrap();
            panic::resume_unwind(Box::new("the body panics"));
        });
        thread.join().is_err()
    });
    assert!(panicked);
    assert_eq!(breaker.state(), BreakerState::HalfOpen);
    assert!(breaker.at(MINUTE).is_ok());
}

#[test]
fn what_was_under_way_when_it_opened_says_nothing_about_its_probes() {
    let breaker = breaker();
    let early: Vec<_> = (0..6).map(|_| breaker.at(0).unwrap()).collect();
    let breaker = &breaker;
    while breaker.state() == BreakerState::Closed {
        breaker.at(0).unwrap().end(true, || 0);
    }
    let probe = breaker.at(MINUTE).unwrap();
    for (number, permit) in early.into_iter().enumerate() {
        match number % 3 {
            0 => permit.end(true, || MINUTE),
            1 => permit.end(false, || MINUTE),
            _ => permit.ignore(),
        }
        assert_eq!(breaker.state(), BreakerState::HalfOpen);
    }
    let other = breaker.at(MINUTE).unwrap();
    assert!(breaker.at(MINUTE).is_err());
    probe.end(false, || MINUTE);
    other.end(false, || MINUTE);
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[test]
fn it_opens_again_as_soon_as_the_probes_can_not_close_it() {
    let breaker = breaker().probes(4).opened_at(0);
    let probes: Vec<_> = (0..4).map(|_| breaker.at(MINUTE).unwrap()).collect();
    let mut probes = probes.into_iter();
    probes.next().unwrap().end(true, || MINUTE);
    assert_eq!(breaker.state(), BreakerState::HalfOpen);
    probes.next().unwrap().end(true, || MINUTE + 1);
    assert_eq!(breaker.state(), BreakerState::Open);
    let left = breaker.at(MINUTE + 1).unwrap_err().retry_after();
    assert_eq!(left, Some(Duration::from_nanos(MINUTE)));
    for late in probes {
        late.end(false, || MINUTE + 2);
    }
    assert_eq!(breaker.state(), BreakerState::Open);
}

#[test]
fn it_is_held_open_and_closed_until_it_is_reset() {
    let breaker = breaker();
    breaker.force_open();
    assert_eq!(breaker.state(), BreakerState::Open);
    assert!(breaker.at(u64::MAX).is_err());
    breaker.force_close();
    for _ in 0..10 {
        breaker.at(0).unwrap().end(true, || 0);
    }
    assert_eq!(breaker.state(), BreakerState::Closed);
    breaker.reset();
    for _ in 0..4 {
        assert_eq!(breaker.state(), BreakerState::Closed);
        breaker.at(0).unwrap().end(true, || 0);
    }
    assert_eq!(breaker.state(), BreakerState::Open);
    breaker.reset();
    assert_eq!(breaker.state(), BreakerState::Closed);
    assert_eq!(breaker.counts(), (0, 0, 0));
}

#[test]
fn time_that_goes_back_keeps_it_open() {
    let breaker = breaker().opened_at(MINUTE);
    assert_eq!(
        breaker.at(0).unwrap_err().retry_after(),
        Some(Duration::from_nanos(2 * MINUTE))
    );
}

#[test]
fn threads_lose_no_outcome() {
    for round in 0..100 {
        // fewer than the window, so that all are there in the end, and it never opens
        let breaker = CircuitBreaker::new()
            .window(1024)
            .min_calls(10)
            .failure_rate(1.0);
        breaker.at(0).unwrap().end(false, || 0);
        let failures: u64 = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let breaker = &breaker;
                    scope.spawn(move || {
                        let mut random = SplitMix(round * 4 + thread);
                        let mut outcomes = (0..200).map(|_| {
                            let failed = random.below(5) == 0;
                            breaker.at(0).unwrap().end(failed, || 0);
                            u64::from(failed)
                        });
                        outcomes.by_ref().sum::<u64>()
                    })
                })
                .collect();
            let failures = threads.into_iter().map(|thread| thread.join().unwrap());
            failures.sum()
        });
        assert_eq!(breaker.counts(), (801, failures, failures));
    }
}

#[test]
fn threads_get_no_more_probes_than_there_are() {
    for round in 0..200 {
        let breaker = CircuitBreaker::new().window(1).probes(3).opened_at(0);
        let now = MINUTE + round;
        let probes: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        (0..4)
                            .filter_map(|_| breaker.at(now).ok())
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap().into_iter().map(mem::forget).count())
                .sum()
        });
        assert_eq!(probes, 3);
    }
}
