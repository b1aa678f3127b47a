//! For tests of code that retries: waits that take no time, calls that are not retried, jitter that
//! is known, calls whose events are recorded, and time that passes only by waiting.
//!
//! Enable the feature `testing` under `[dev-dependencies]` only. What is switched stays switched
//! until its guard is dropped. The switches are looked at when an attempt has failed, and cost a
//! success nothing; whether there is a recording is asked when a call begins.
//!
//! | | whole process | this thread |
//! |---|---|---|
//! | no wait takes time | [`instant`] | [`on_this_thread::instant`] |
//! | no call is retried | [`no_retries`] | [`on_this_thread::no_retries`] |
//! | jitter is known | [`pin_jitter`] | [`on_this_thread::pin_jitter`] |
//! | events are recorded | [`record`] | [`on_this_thread::record`] |
//! | time passes by waiting | tokio's paused clock | [`virtual_time`] |
//!
//! The test harness runs the tests of one program in parallel, each on a thread of its own. A switch
//! for this thread is for the calls that are made on it, and so does not disturb other tests: those
//! of blocking functions, and of async functions on a runtime that runs on the test's thread, as that
//! of `#[tokio::test]` does by default. Calls on other threads need a switch for the whole process:
//! tests that use one, and those that need retries as they are, belong into different files under
//! `tests/`, or all of them take turns on a lock.
//!
//! Async functions on tokio need no switch to be fast: on its paused clock,
//! `#[tokio::test(start_paused = true)]`, their waits, deadlines and timeouts take no time, and are
//! as long as ever.

use std::{
    cell::RefCell,
    marker::PhantomData,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::policy::Policy;

mod recording;
mod time;

pub use recording::{Recorded, Recording, Timeline};
pub(crate) use recording::{record as record_event, records};
pub use time::{VirtualTime, advance, virtual_time};
pub(crate) use time::{now, passes};

/// What is switched, in the process or on a thread.
struct Switched {
    instant: usize,
    off: usize,
    /// The last one counts
    jitter: Vec<(usize, f64)>,
    /// Of the next pinned jitter
    next: usize,
}

impl Switched {
    const NOTHING: Self = Self {
        instant: 0,
        off: 0,
        jitter: Vec::new(),
        next: 0,
    };

    fn switch(&mut self, switch: Switch, on: bool) {
        let count = |guards: &mut usize| {
            *guards = if on {
                guards.saturating_add(1)
            } else {
                guards.saturating_sub(1)
            };
        };
        match switch {
            Switch::Instant => count(&mut self.instant),
            Switch::Off => count(&mut self.off),
            Switch::Jitter(pin) => self.jitter.retain(|(other, _)| on || *other != pin),
        }
    }

    fn pin(&mut self, share: f64) -> Switch {
        let pin = self.next;
        self.next = pin.wrapping_add(1);
        self.jitter.push((pin, share));
        Switch::Jitter(pin)
    }
}

#[derive(Clone, Copy, Debug)]
enum Switch {
    Instant,
    Off,
    Jitter(usize),
}

static PROCESS: Mutex<Switched> = Mutex::new(Switched::NOTHING);

thread_local! {
    static THREAD: RefCell<Switched> = const { RefCell::new(Switched::NOTHING) };
}

fn in_process<T>(with: impl FnOnce(&mut Switched) -> T) -> T {
    with(&mut PROCESS.lock().unwrap_or_else(PoisonError::into_inner))
}

fn here<T>(with: impl FnOnce(&mut Switched) -> T) -> T {
    THREAD.with_borrow_mut(with)
}

/// Undoes what was switched for the whole process when it is dropped. The last guard of a kind to go
/// switches back.
#[must_use = "it switches back when it is dropped"]
#[derive(Debug)]
pub struct Guard(Switch);

impl Guard {
    fn new(switch: Switch) -> Self {
        in_process(|switched| switched.switch(switch, true));
        Self(switch)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        in_process(|switched| switched.switch(self.0, false));
    }
}

/// Makes every wait between attempts zero. What decides is as before: the number of calls, the
/// predicates, the limit on hints, budgets and breakers. A `sleep` function is not called.
///
/// Time that is not waited does not pass either, so a deadline ends a call only by what its attempts
/// take: an `"unlimited"` call to something that never succeeds runs until then without a pause.
/// [`virtual_time`], or tokio's paused clock, does better there. `timeout_ms` and the open time of a
/// breaker are not waits between attempts.
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
    Guard::new(Switch::Instant)
}

/// Makes every call end with its first attempt, as with `max = 1`. An [`Attempt`](crate::Attempt)
/// and an [`Event`](crate::Event) still say what the policy does.
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
    Guard::new(Switch::Off)
}

/// Takes chance out of the jitter: 0.0 is the shortest wait that the jitter allows, 1.0 the longest,
/// and 0.5 that in the middle. Other numbers count as the nearest of these, NaN as 0.0. With several
/// guards the newest one counts.
///
/// ```standalone_crate
/// # #[cfg(feature = "macros")] {
/// use retry_runtime::{retryable, testing};
/// use std::time::Duration;
///
/// #[retryable(max = 3, base_ms = 100, on = "any")] // full jitter
/// fn ping() -> Result<(), &'static str> {
///     Err("no answer")
/// }
///
/// let _middle = testing::pin_jitter(0.5);
/// let _time = testing::virtual_time();
/// let recording = testing::on_this_thread::record();
/// ping().unwrap_err();
/// assert_eq!(recording.waits(), [50, 100].map(Duration::from_millis));
/// # }
/// ```
pub fn pin_jitter(share: f64) -> Guard {
    Guard(in_process(|switched| switched.pin(share)))
}

/// Records the events of all calls that begin from now on, in the whole process.
///
/// Other tests that run meanwhile are recorded too: pick the calls with
/// [`calls_of`](Recording::calls_of).
pub fn record() -> Recording {
    Recording::of_process()
}

/// The same switches for the calls on this thread only, so that tests may run in parallel.
///
/// ```
/// # #[cfg(feature = "macros")] {
/// use retry_runtime::{retryable, testing};
/// use std::time::Duration;
///
/// #[retryable(max = 3, base_ms = 100, jitter = "none", on = "any")]
/// fn ping() -> Result<(), &'static str> {
///     Err("no answer")
/// }
///
/// let _time = testing::virtual_time();
/// let recording = testing::on_this_thread::record();
/// ping().unwrap_err();
///
/// let call = &recording.calls()[0];
/// assert_eq!(call.waits(), [100, 200].map(Duration::from_millis));
/// assert_eq!(call.attempts(), 3);
/// # }
/// ```
pub mod on_this_thread {
    use std::marker::PhantomData;

    use super::{Recording, Switch, ThreadGuard, here};

    /// As [`instant`](super::instant).
    pub fn instant() -> ThreadGuard {
        ThreadGuard::new(Switch::Instant)
    }

    /// As [`no_retries`](super::no_retries).
    pub fn no_retries() -> ThreadGuard {
        ThreadGuard::new(Switch::Off)
    }

    /// As [`pin_jitter`](super::pin_jitter). Where both are switched, this one counts.
    pub fn pin_jitter(share: f64) -> ThreadGuard {
        ThreadGuard(here(|switched| switched.pin(share)), PhantomData)
    }

    /// Records the events that happen on this thread, of calls that begin from now on.
    pub fn record() -> Recording {
        Recording::of_this_thread()
    }
}

/// Undoes what was switched for its thread when it is dropped, and stays on that thread.
#[must_use = "it switches back when it is dropped"]
#[derive(Debug)]
pub struct ThreadGuard(Switch, PhantomData<*const ()>);

impl ThreadGuard {
    fn new(switch: Switch) -> Self {
        here(|switched| switched.switch(switch, true));
        Self(switch, PhantomData)
    }
}

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        here(|switched| switched.switch(self.0, false));
    }
}

/// Whether it is switched, here or in the process.
fn is(switched: impl Fn(&mut Switched) -> bool) -> bool {
    here(&switched) || in_process(&switched)
}

pub(crate) fn max_calls(policy: &Policy) -> Option<u32> {
    if is(|switched| switched.off > 0) {
        Some(1)
    } else {
        policy.max_calls()
    }
}

pub(crate) fn wait(wait: Duration) -> Duration {
    if is(|switched| switched.instant > 0) {
        Duration::ZERO
    } else {
        wait
    }
}

/// A pinned share of `most`, or what is drawn.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a wait; the end is exact, and the result is at most it"
)]
pub(crate) fn draw(most: u128, draw: impl FnOnce(u128) -> u128) -> u128 {
    let pinned = |switched: &mut Switched| switched.jitter.last().map(|(_, share)| *share);
    match here(pinned).or_else(|| in_process(pinned)) {
        Some(share) if share >= 1.0 => most,
        Some(share) => ((most as f64 * share.max(0.0)) as u128).min(most),
        None => draw(most),
    }
}
