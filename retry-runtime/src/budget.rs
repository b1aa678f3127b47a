//! A budget of retries that many calls share: an outage then costs a share of the calls, not a
//! multiple of them. Knows no errors and no waits.
//!
//! The state is a pair of counters, calls and retries since the beginning, in one word; and what
//! they were at the start of each of the last slots, a tenth of the window each. The difference is
//! what happened since. So
//!
//! 1. a call is one addition, wherever time stands;
//! 2. a retry compares and exchanges the pair that it was judged by, so that none is judged by a
//!    count that another has changed;
//! 3. the starts change only when a slot ends, under a lock, and with `end` set to [`TURNING`]
//!    meanwhile, which sends everybody to that lock. Who reads them looks at `end` before and after.

use std::{fmt, time::Duration};

#[cfg(feature = "metrics")]
use crate::metered;
use crate::{
    clock,
    sync::{AtomicU64, Mutex, Ordering, OwnLine, PoisonError, const_fn, zeros},
};

#[cfg(all(test, loom))]
mod loom;
#[cfg(all(test, not(loom)))]
mod tests;

/// Slots in a window.
const SLOTS: usize = 10;

/// Calls are counted in the upper half of a word and retries in the lower one. Both wrap; within a
/// window neither can pass 2^32, retries because that is their limit.
const CALL: u64 = 1 << 32;
const RETRIES: u64 = CALL - 1;

/// After so many calls in a slot, one of `EVERY` reads the clock, which costs more than all the
/// rest. The others count in the slot of an earlier call: they may expire early, but never late.
const MANY: u64 = 1000;
const EVERY: u64 = 16;

/// `end` while the starts change, and at first: in the past, whatever the time.
const TURNING: u64 = 0;

/// Time stops here, after 292 years, so that each slot has an end.
const LATEST: u64 = u64::MAX >> 1;

const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// How many retries calls may make together, in relation to how many calls there are.
///
/// A limit on attempts is not enough when a service is down: with `max = 4` it gets four times the
/// calls just then. With a budget, each call earns a part of a retry, and each retry is paid for
/// before its wait. When the budget is empty, calls end with their own error at once.
///
/// A `static`, shared by all functions that call the same service:
///
/// ```
/// use retry_runtime::RetryBudget;
///
/// static ORDERS: RetryBudget = RetryBudget::new().ratio(0.5).min_per_second(0);
///
/// for _ in 0..10 {
///     ORDERS.deposit(); // ten calls, and all of them fail
/// }
/// let granted = (0..10).filter(|_| ORDERS.withdraw()).count();
/// assert_eq!(granted, 5);
/// ```
///
/// | part | unit, range | default |
/// |---|---|---|
/// | [`ratio`](Self::ratio) | retries earned per call, `0.0..=1000.0` | 0.2 |
/// | [`min_per_second`](Self::min_per_second) | retries per second without any call | 10 |
/// | [`window`](Self::window) | how long calls and retries count, 1 s to 60 s | 10 s |
///
/// A value out of range counts as the nearest allowed one. The defaults are those of Finagle and
/// Linkerd.
///
/// # What is granted
///
/// Whenever a retry is granted, the retries of the window that ends with it, itself included, are
/// at most `calls * ratio + min_per_second * window`, where `calls` are those of the same window.
///
/// The window moves on in tenths, so that a call may stop counting a tenth of it early, and a retry
/// a tenth late. After a thousand calls in a tenth, one of sixteen reads the clock: up to sixteen
/// that follow a pause may count as made before it.
///
/// # Cost
///
/// Nothing is allocated. A call adds to a counter and a retry exchanges it, after a look at the
/// clock. Once in a tenth of the window one caller moves it on, under a lock that only those wait
/// for who come just then.
pub struct RetryBudget {
    name: Option<&'static str>,
    /// Retries per call, in units of 2^-32, rounded up: a window's calls, fewer than 2^32, then
    /// earn less than one retry too many, and five calls at 0.2 earn one
    ratio: u64,
    min_per_second: u32,
    /// Of a window
    floor: u64,
    /// Length in nanoseconds
    slot: u64,
    /// When the current slot ends
    end: AtomicU64,
    /// When the last slot with many calls ends
    busy: AtomicU64,
    /// The totals at the start of the current slot, of the one before, and so on
    starts: [AtomicU64; SLOTS + 1],
    turning: Mutex<()>,
    /// Calls and retries since the beginning
    totals: OwnLine<AtomicU64>,
}

impl RetryBudget {
    const_fn! {
        /// A fifth of a retry per call and ten retries per second, over ten seconds.
        pub fn new() -> Self {
            Self {
                name: None,
                ratio: 0,
                min_per_second: 10,
                floor: 0,
                slot: 0,
                end: AtomicU64::new(TURNING),
                busy: AtomicU64::new(u64::MAX),
                starts: zeros(),
                turning: Mutex::new(()),
                totals: OwnLine(AtomicU64::new(0)),
            }
            .ratio(0.2)
            .window(Duration::from_secs(10))
        }
    }

    /// What the budget is called in metrics, which publish only one that has a name.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// Retries that each call earns: 0.2 allows one retry for five calls, 2.0 two for each.
    /// Within `0.0..=1000.0`; NaN counts as 0.
    #[must_use]
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "within the range, NaN becomes 0, and there is no other way in constants"
    )]
    pub const fn ratio(mut self, retries_per_call: f64) -> Self {
        let scaled = retries_per_call.clamp(0.0, 1000.0) * CALL as f64;
        let whole = scaled as u64;
        let rounded_off = (whole as f64) < scaled;
        self.ratio = whole.saturating_add(rounded_off as u64);
        self
    }

    /// Retries per second that are granted even without any call, so that a caller with little
    /// traffic can retry at all. Counted over the window: of the default's 100 in 10 s, all may
    /// be taken at once.
    #[must_use]
    pub const fn min_per_second(mut self, retries: u32) -> Self {
        self.min_per_second = retries;
        self.with_floor()
    }

    /// How long a call's share can be spent, and how long a retry counts. Within 1 s to 60 s.
    #[must_use]
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "at most a minute, and there is no other way in constants"
    )]
    pub const fn window(mut self, window: Duration) -> Self {
        let nanos = if window.as_nanos() < SHORTEST.as_nanos() {
            SHORTEST.as_nanos()
        } else if window.as_nanos() > LONGEST.as_nanos() {
            LONGEST.as_nanos()
        } else {
            window.as_nanos()
        };
        self.slot = nanos.div_euclid(SLOTS as u128) as u64;
        self.with_floor()
    }

    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "2^32 a second for a minute, and there is no other way in constants"
    )]
    const fn with_floor(mut self) -> Self {
        let window = (self.slot as u128).saturating_mul(SLOTS as u128);
        let retries = (self.min_per_second as u128).saturating_mul(window);
        self.floor = retries.div_euclid(1_000_000_000) as u64;
        self
    }

    /// A call begins. Once per call, whatever becomes of it.
    #[inline]
    pub fn deposit(&self) {
        self.deposit_by(clock::nanos);
        #[cfg(feature = "metrics")]
        metered::budget(self);
    }

    /// Takes one retry out of the budget, before its wait. `false`: it is empty, do not retry.
    #[inline]
    #[must_use = "`false` means that there must be no retry"]
    pub fn withdraw(&self) -> bool {
        let granted = self.withdraw_at(clock::nanos());
        #[cfg(feature = "metrics")]
        metered::withdrawn(self, granted);
        granted
    }

    #[cfg(feature = "metrics")]
    pub(crate) const fn name(&self) -> Option<&'static str> {
        self.name
    }

    /// How many retries would be granted now.
    pub fn available(&self) -> u32 {
        self.read(clock::nanos()).1
    }
}

/// The same at a given time in nanoseconds. One that is before the current slot counts as in it.
impl RetryBudget {
    #[inline]
    pub(crate) fn deposit_by(&self, now: impl Fn() -> u64) {
        if self.ratio == 0 {
            return;
        }
        if self.busy.load(Ordering::Relaxed) == self.end.load(Ordering::Relaxed) {
            let before = self.totals.0.fetch_add(CALL, Ordering::Relaxed);
            if before & (CALL * EVERY - 1) < CALL {
                self.turn_at(now());
            }
            return;
        }
        let end = self.turn_at(now());
        // Acquire: the totals are not older than the start
        let start = self.starts[0].load(Ordering::Acquire);
        let before = self.totals.0.fetch_add(CALL, Ordering::Relaxed);
        if calls(before, start) >= MANY {
            self.busy.store(end, Ordering::Relaxed);
        }
    }

    /// Moves the window on, if it is time. The end of the slot so far.
    #[inline]
    fn turn_at(&self, now: u64) -> u64 {
        let now = now.min(LATEST);
        // Acquire: what is added from here on was not in the totals that the slot started with
        let end = self.end.load(Ordering::Acquire);
        if now >= end {
            self.turn(now);
        }
        end
    }

    #[inline]
    pub(crate) fn withdraw_at(&self, now: u64) -> bool {
        loop {
            let (totals, available) = self.read(now);
            if available == 0 {
                return false;
            }
            let taken = (totals & !RETRIES) | (totals.wrapping_add(1) & RETRIES);
            let exchanged = self.totals.0.compare_exchange_weak(
                totals,
                taken,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            if exchanged.is_ok() {
                return true;
            }
        }
    }

    /// The totals, and what is left of the budget by them.
    #[inline]
    fn read(&self, now: u64) -> (u64, u32) {
        let now = now.min(LATEST);
        loop {
            let end = self.end.load(Ordering::Acquire);
            if now >= end {
                self.turn(now);
                continue;
            }
            // Acquire: who sees a start that is being written sees `TURNING` too, and totals that
            // are not older than any start
            let earned_since = self.starts[SLOTS - 1].load(Ordering::Acquire);
            let spent_since = self.starts[SLOTS].load(Ordering::Acquire);
            let totals = self.totals.0.load(Ordering::Relaxed);
            if self.end.load(Ordering::Relaxed) == end {
                return (totals, self.left(totals, earned_since, spent_since));
            }
        }
    }

    #[inline]
    fn left(&self, totals: u64, earned_since: u64, spent_since: u64) -> u32 {
        let calls = calls(totals, earned_since);
        let retries = totals.wrapping_sub(spent_since) & RETRIES;
        // 2^32 calls at 1000.0 are below 2^74
        let earned = u128::from(calls).wrapping_mul(u128::from(self.ratio)) >> 32;
        let earned = u64::try_from(earned).unwrap_or(u64::MAX);
        let allowed = self.floor.saturating_add(earned).min(RETRIES);
        u32::try_from(allowed.saturating_sub(retries)).unwrap_or(u32::MAX)
    }

    /// Moves the window on to the slot of `now`, unless another caller has done so.
    #[cold]
    fn turn(&self, now: u64) {
        let _turning = self.turning.lock().unwrap_or_else(PoisonError::into_inner);
        let end = match self.end.load(Ordering::Relaxed) {
            TURNING => now, // the first slot starts with the first use
            end => end,
        };
        let Some(late) = now.checked_sub(end) else {
            return;
        };
        let turns = late.div_euclid(self.slot).saturating_add(1);
        self.end.store(TURNING, Ordering::Relaxed);
        let totals = self.totals.0.load(Ordering::Relaxed);
        let turned = usize::try_from(turns).unwrap_or(usize::MAX);
        for slot in (0..self.starts.len()).rev() {
            let start = slot
                .checked_sub(turned)
                .and_then(|before| self.starts.get(before))
                .map_or(totals, |before| before.load(Ordering::Relaxed));
            if let Some(slot) = self.starts.get(slot) {
                // after `TURNING`
                slot.store(start, Ordering::Release);
            }
        }
        let end = end.saturating_add(turns.saturating_mul(self.slot));
        self.end.store(end, Ordering::Release);
    }
}

/// How many calls the totals have grown by.
#[inline]
const fn calls(totals: u64, since: u64) -> u64 {
    totals.wrapping_sub(since & !RETRIES) >> 32
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RetryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryBudget")
            .field("name", &self.name)
            .field("available", &self.available())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
impl RetryBudget {
    fn deposit_at(&self, now: u64) {
        self.deposit_by(|| now);
    }
}
