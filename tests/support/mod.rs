//! What the test crates share: attempts that are counted, and waits that are recorded instead of
//! slept.

#![allow(dead_code, reason = "each test crate uses a part")]

use std::{
    cell::RefCell,
    task::{Context, Poll, Waker},
    time::Duration,
};

use retry_runtime::Transient;

thread_local! {
    static EVENTS: RefCell<Vec<Event>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Call,
    Wait(Duration),
}

/// What happened on this thread since the log was started.
pub struct Log(());

impl Log {
    pub fn start() -> Self {
        EVENTS.take();
        Self(())
    }

    pub fn events(&self) -> Vec<Event> {
        EVENTS.with_borrow(Clone::clone)
    }

    pub fn calls(&self) -> usize {
        Self::calls_so_far()
    }

    /// For a task that has no log at hand
    pub fn calls_so_far() -> usize {
        let is_call = |event: &&Event| **event == Event::Call;
        EVENTS.with_borrow(|events| events.iter().filter(is_call).count())
    }

    pub fn waits(&self) -> Vec<Duration> {
        let wait = |event| match event {
            Event::Call => None,
            Event::Wait(wait) => Some(wait),
        };
        self.events().into_iter().filter_map(wait).collect()
    }

    pub fn waits_ms(&self) -> Vec<u128> {
        self.waits().iter().map(Duration::as_millis).collect()
    }
}

/// Counts an attempt, and gives its number: 1, 2, ...
pub fn call() -> u32 {
    EVENTS.with_borrow_mut(|events| events.push(Event::Call));
    Log::calls_so_far().try_into().expect("few calls")
}

/// For `sleep = record`
pub fn record(wait: Duration) {
    EVENTS.with_borrow_mut(|events| events.push(Event::Wait(wait)));
}

/// For `sleep = record_async`
pub async fn record_async(wait: Duration) {
    record(wait);
}

/// The failure of attempt number `.0`, worth a retry
#[derive(Debug, PartialEq, Eq, Transient)]
#[transient]
pub struct Failed(pub u32);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "attempt {} failed", self.0)
    }
}

impl std::error::Error for Failed {}

/// An attempt that fails.
pub fn fail() -> Result<u32, Failed> {
    Err(Failed(call()))
}

/// An attempt that fails, unless it is number `success` or later.
pub fn succeed_at(success: u32) -> Result<u32, Failed> {
    match call() {
        number if number < success => Err(Failed(number)),
        number => Ok(number),
    }
}

/// Random numbers that are the same in every run (splitmix64), for `Policy::wait_with`.
pub struct Seeded(pub u64);

impl Seeded {
    pub fn draw(&mut self, highest: u128) -> u128 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u128::from(bits ^ (bits >> 31)) % highest.saturating_add(1)
    }
}

pub fn mean(samples: &[Duration]) -> f64 {
    samples.iter().map(Duration::as_secs_f64).sum::<f64>() / samples.len() as f64
}

pub fn standard_deviation(samples: &[Duration]) -> f64 {
    let mean = mean(samples);
    let squares = samples
        .iter()
        .map(|sample| (sample.as_secs_f64() - mean).powi(2));
    (squares.sum::<f64>() / samples.len() as f64).sqrt()
}

pub fn distinct(samples: &[Duration]) -> usize {
    samples
        .iter()
        .collect::<std::collections::HashSet<_>>()
        .len()
}

/// Polls a future outside of any runtime until it is ready.
pub fn poll_to_end<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

pub fn need_send<T: Send>(value: T) -> T {
    value
}
