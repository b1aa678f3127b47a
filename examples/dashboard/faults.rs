//! How much fails, and when.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use metrics::gauge;
use tokio::time::Instant;

/// A minute, again and again.
const CYCLE: [(u64, Faulty); 5] = [
    (
        12,
        Faulty::new(
            "healthy",
            "no request fails; a parcel may take longer than four looks",
            0.0,
        ),
    ),
    (
        12,
        Faulty::new("some faults", "retries hide nearly all of them", 0.15),
    ),
    (
        12,
        Faulty::new("many faults", "more than the budget covers", 0.4),
    ),
    (
        14,
        Faulty::new("outage", "the breaker opens, and looks every 3 s", 1.0),
    ),
    (
        10,
        Faulty::new("recovery", "the breaker closes, the budget fills", 0.05),
    ),
];

const BY_HAND: &str = "by hand";

/// The state of the shop.
#[derive(Clone, Copy)]
pub struct Faulty {
    pub phase: &'static str,
    pub what: &'static str,
    /// The share of requests that fail
    pub rate: f64,
}

impl Faulty {
    const fn new(phase: &'static str, what: &'static str, rate: f64) -> Self {
        Self { phase, what, rate }
    }
}

pub struct Faults(Mutex<Source>);

enum Source {
    Cycle { since: Instant },
    Hand { rate: f64 },
}

impl Default for Faults {
    fn default() -> Self {
        Self(Mutex::new(Source::cycle()))
    }
}

impl Source {
    fn cycle() -> Self {
        Self::Cycle {
            since: Instant::now(),
        }
    }
}

impl Faults {
    pub fn now(&self) -> Faulty {
        match *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Source::Hand { rate } => Faulty::new(BY_HAND, "as the page says", rate),
            Source::Cycle { since } => in_cycle(since.elapsed()),
        }
    }

    /// By the page: a share of `0.0..=1.0`.
    pub fn set(&self, rate: f64) {
        let rate = rate.clamp(0.0, 1.0);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Source::Hand { rate };
    }

    /// By itself again, from the first phase on.
    pub fn cycle(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Source::cycle();
    }

    pub fn publish(&self) {
        let now = self.now();
        gauge!("shop_fault_rate").set(now.rate);
        for phase in CYCLE
            .map(|(_, faulty)| faulty.phase)
            .into_iter()
            .chain([BY_HAND])
        {
            let is_now = if phase == now.phase { 1.0 } else { 0.0 };
            gauge!("shop_phase", "phase" => phase).set(is_now);
        }
    }
}

fn in_cycle(elapsed: Duration) -> Faulty {
    let length: u64 = CYCLE.iter().map(|(seconds, _)| seconds).sum();
    let mut left = elapsed.as_secs() % length;
    for (seconds, faulty) in CYCLE {
        match left.checked_sub(seconds) {
            Some(less) => left = less,
            None => return faulty,
        }
    }
    unreachable!("less than a cycle is left")
}
