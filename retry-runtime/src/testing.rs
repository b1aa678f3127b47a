//! For tests of code that retries: waits that take no time, and calls that are not retried.
//!
//! Enable the feature `testing` under `[dev-dependencies]` only. Both switches act on the whole
//! process, for attributes and closures, threads and tasks alike, until their guard is dropped.
//! They are looked at when an attempt has failed, and never on the way of a success.
//!
//! The test harness runs the tests of one program in parallel: tests that need retries as they are
//! belong into another file under `tests/`, or all of them take turns on a lock. Where only the
//! waits of one async test matter, tokio's paused clock does without a switch:
//! `#[tokio::test(start_paused = true)]`.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use crate::policy::Policy;

static INSTANT: AtomicUsize = AtomicUsize::new(0);
static OFF: AtomicUsize = AtomicUsize::new(0);

/// Undoes what was switched when it is dropped. The last guard of a kind to go switches back.
#[must_use = "it switches back when it is dropped"]
#[derive(Debug)]
pub struct Guard {
    guards: &'static AtomicUsize,
}

impl Guard {
    fn new(guards: &'static AtomicUsize) -> Self {
        guards.fetch_add(1, Ordering::Relaxed);
        Self { guards }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.guards.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Makes every wait between attempts zero. What decides is as before: the number of calls, the
/// predicates, the limit on hints, budgets and breakers. A `sleep` function is not called.
///
/// Time that is not waited does not pass either, so a deadline ends a call only by what its attempts
/// take: an `"unlimited"` call to something that never succeeds runs until then without a pause.
/// `timeout_ms` and the open time of a breaker are not waits between attempts.
///
/// ```standalone_crate
/// # #[cfg(feature = "macros")] {
/// use retry_runtime::{retryable, testing};
///
/// #[retryable(max = 5, base_ms = 10_000, on = "any")]
/// fn ping(calls: &mut u32) -> Result<u32, &'static str> {
///     *calls += 1;
///     if *calls < 5 { Err("no answer") } else { Ok(*calls) }
/// }
///
/// let _instant = testing::instant();
/// assert_eq!(ping(&mut 0), Ok(5)); // at once
/// # }
/// ```
pub fn instant() -> Guard {
    Guard::new(&INSTANT)
}

/// Makes every call end with its first attempt, as with `max = 1`. An [`Attempt`](crate::Attempt)
/// still says what the policy does.
///
/// ```standalone_crate
/// # #[cfg(feature = "macros")] {
/// use retry_runtime::{retryable, testing};
///
/// #[retryable(max = 5, base_ms = 10_000, on = "any")]
/// fn ping(calls: &mut u32) -> Result<u32, &'static str> {
///     *calls += 1;
///     Err("no answer")
/// }
///
/// let _off = testing::no_retries();
/// let mut calls = 0;
/// assert_eq!(ping(&mut calls), Err("no answer"));
/// assert_eq!(calls, 1);
/// # }
/// ```
pub fn no_retries() -> Guard {
    Guard::new(&OFF)
}

pub(crate) fn max_calls(policy: &Policy) -> Option<u32> {
    if OFF.load(Ordering::Relaxed) > 0 {
        Some(1)
    } else {
        policy.max_calls()
    }
}

pub(crate) fn wait(wait: Duration) -> Duration {
    if INSTANT.load(Ordering::Relaxed) > 0 {
        Duration::ZERO
    } else {
        wait
    }
}

pub(crate) fn records() -> bool {
    false
}

pub(crate) fn record(_event: &crate::Event<'_>) {}
