//! What is measured: one body that fails on demand, called plainly, from a loop by hand, under
//! `#[retryable]`, and with the feature `peers` through other crates.
//!
//! Each allows three calls and retries what [`is_transient`] says. Its usual function waits from a
//! millisecond on, twice as long each time, with the jitter that it offers; the other one, for
//! failures, does not wait.

use std::{
    cell::Cell,
    future,
    hint::black_box,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

pub mod contenders;

pub const MAX_CALLS: u32 = 3;
pub const BASE_MS: u64 = 1;

pub type Outcome = Result<u64, Failed>;

/// A status, as a server gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed(pub u16);

pub fn is_transient(error: &Failed) -> bool {
    error.0 >= 500
}

/// The other side.
#[derive(Debug, Default)]
pub struct Service {
    failures: Cell<u32>,
}

impl Service {
    /// Lets that many of the next calls fail.
    pub fn fail(&self, failures: u32) {
        self.failures.set(failures);
    }

    /// How many of the next calls fail.
    pub fn failures(&self) -> u32 {
        self.failures.get()
    }

    /// The body. Never inlined, so that no contender is optimized together with it.
    #[inline(never)]
    pub fn call(&self, id: u64) -> Outcome {
        let failures = self.failures.get();
        if black_box(failures) == 0 {
            return Ok(black_box(id));
        }
        self.failures.set(failures - 1);
        Err(Failed(503))
    }

    /// The body as a future, which might have to wait.
    pub async fn get(&self, id: u64) -> Outcome {
        future::poll_fn(|_| black_box(Poll::Ready(()))).await;
        self.call(id)
    }
}

/// The body without arguments.
pub async fn ping() -> Outcome {
    future::poll_fn(|_| black_box(Poll::Ready(()))).await;
    Ok(1)
}

/// The executor of all futures that do not wait. It polls through a pointer, as executors do, so
/// that no future is optimized together with it.
pub fn block_on(future: impl Future<Output = Outcome>) -> Outcome {
    run(pin!(future))
}

#[inline(never)]
fn run(mut future: Pin<&mut dyn Future<Output = Outcome>>) -> Outcome {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(outcome) = future.as_mut().poll(&mut context) {
            return outcome;
        }
    }
}
