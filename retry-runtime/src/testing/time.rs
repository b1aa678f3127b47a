//! Time that passes only when a blocking call waits, or a test says so.

use std::{
    cell::Cell,
    marker::PhantomData,
    time::{Duration, Instant},
};

thread_local! {
    static NOW: Cell<Option<Instant>> = const { Cell::new(None) };
    static GUARDS: Cell<usize> = const { Cell::new(0) };
}

/// Stops the time of this thread. From now on it passes only by the waits of blocking calls, which
/// take no time themselves, and by [`advance`]: so deadlines end calls, open breakers let a probe
/// through and budgets fill up as they would, and a test is over at once.
///
/// For calls of blocking functions on this thread; a `sleep` function is not called. The waits,
/// deadlines and timeouts of async functions go by the time of their runtime: use tokio's paused
/// clock, and not both, because budgets and breakers that are used on this thread go by the virtual
/// time, whoever uses them. `std::time::Instant::now()` in a body is not changed.
///
/// ```
/// # #[cfg(feature = "macros")] {
/// use retry_runtime::{retryable, testing};
/// use std::time::Duration;
///
/// #[retryable(max = "unlimited", base_ms = 1_000, jitter = "none", deadline_ms = 60_000, on = "any")]
/// fn ping(calls: &mut u32) -> Result<(), &'static str> {
///     *calls += 1;
///     testing::advance(Duration::from_secs(5)); // a slow answer
///     Err("no answer")
/// }
///
/// let time = testing::virtual_time();
/// let mut calls = 0;
/// ping(&mut calls).unwrap_err();
/// // at 0, 6, 13, 22 and 35 s; the next wait would end at 56 s, and the one after that too late
/// assert_eq!((calls, time.elapsed()), (6, Duration::from_secs(61)));
/// # }
/// ```
pub fn virtual_time() -> VirtualTime {
    #[expect(clippy::disallowed_methods, reason = "where the time stops")]
    let start = now().unwrap_or_else(Instant::now);
    NOW.set(Some(start));
    GUARDS.set(GUARDS.get().saturating_add(1));
    VirtualTime {
        start,
        stays: PhantomData,
    }
}

/// Time goes on when it is dropped; of several, the last one to go lets it.
#[must_use = "time goes on when it is dropped"]
#[derive(Debug)]
pub struct VirtualTime {
    start: Instant,
    stays: PhantomData<*const ()>,
}

impl VirtualTime {
    /// How much time has passed since it was made.
    pub fn elapsed(&self) -> Duration {
        now().map_or(Duration::ZERO, |now| {
            now.saturating_duration_since(self.start)
        })
    }
}

impl Drop for VirtualTime {
    fn drop(&mut self) {
        let others = GUARDS.get().saturating_sub(1);
        GUARDS.set(others);
        if others == 0 {
            NOW.set(None);
        }
    }
}

/// Lets the time of this thread pass, where [`virtual_time`] has stopped it; elsewhere it does
/// nothing.
pub fn advance(by: Duration) {
    passes(by);
}

/// The time of this thread, if it is virtual.
pub(crate) fn now() -> Option<Instant> {
    NOW.get()
}

/// Whether a wait is over because time is virtual here.
pub(crate) fn passes(wait: Duration) -> bool {
    let Some(now) = NOW.get() else { return false };
    // a wait of centuries ends where time does
    NOW.set(Some(now.checked_add(wait).unwrap_or(now)));
    true
}
