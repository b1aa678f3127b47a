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

use crate::{
    clock,
    sync::{AtomicU64, Mutex, Ordering, PoisonError, const_fn, zeros},
};

/// Slots in a window.
const SLOTS: usize = 10;

/// Calls are counted in the upper half of a word and retries in the lower one. Both wrap; within a
/// window neither can pass 2^32, retries because that is their limit.
const CALL: u64 = 1 << 32;
const RETRIES: u64 = CALL - 1;

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
/// A call may stop counting up to a tenth of the window early, and a retry up to a tenth late.
///
/// # Cost
///
/// A call reads the clock and adds to a counter, a retry reads the clock and exchanges it. Once in
/// a tenth of the window, one caller moves the window on under a lock, for which those wait who
/// come just then.
#[repr(align(64))] // a cache line of its own
pub struct RetryBudget {
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
    totals: AtomicU64,
    /// The totals at the start of the current slot, of the one before, and so on
    starts: [AtomicU64; SLOTS + 1],
    turning: Mutex<()>,
}

impl RetryBudget {
    const_fn! {
        /// A fifth of a retry per call and ten retries per second, over ten seconds.
        pub fn new() -> Self {
            Self {
                ratio: 0,
                min_per_second: 10,
                floor: 0,
                slot: 0,
                end: AtomicU64::new(TURNING),
                totals: AtomicU64::new(0),
                starts: zeros(),
                turning: Mutex::new(()),
            }
            .ratio(0.2)
            .window(Duration::from_secs(10))
        }
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
        if self.ratio > 0 {
            self.deposit_at(clock::nanos());
        }
    }

    /// Takes one retry out of the budget, before its wait. `false`: it is empty, do not retry.
    #[inline]
    #[must_use = "`false` means that there must be no retry"]
    pub fn withdraw(&self) -> bool {
        self.withdraw_at(clock::nanos())
    }

    /// How many retries would be granted now.
    pub fn available(&self) -> u32 {
        self.read(clock::nanos()).1
    }
}

/// The same at a given time in nanoseconds. One that is before the current slot counts as in it.
impl RetryBudget {
    #[inline]
    pub(crate) fn deposit_at(&self, now: u64) {
        let now = now.min(LATEST);
        // Acquire: what is added from here on was not in the totals that the slot started with
        if now >= self.end.load(Ordering::Acquire) {
            self.turn(now);
        }
        self.totals.fetch_add(CALL, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn withdraw_at(&self, now: u64) -> bool {
        loop {
            let (totals, available) = self.read(now);
            if available == 0 {
                return false;
            }
            let taken = (totals & !RETRIES) | (totals.wrapping_add(1) & RETRIES);
            let exchanged = self.totals.compare_exchange_weak(
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
            let totals = self.totals.load(Ordering::Relaxed);
            if self.end.load(Ordering::Relaxed) == end {
                return (totals, self.left(totals, earned_since, spent_since));
            }
        }
    }

    #[inline]
    fn left(&self, totals: u64, earned_since: u64, spent_since: u64) -> u32 {
        let calls = totals.wrapping_sub(earned_since & !RETRIES) >> 32;
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
        let end = self.end.load(Ordering::Relaxed);
        let Some(late) = now.checked_sub(end) else {
            return;
        };
        let turns = late.div_euclid(self.slot).saturating_add(1);
        self.end.store(TURNING, Ordering::Relaxed);
        let totals = self.totals.load(Ordering::Relaxed);
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

impl Default for RetryBudget {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RetryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryBudget")
            .field("available", &self.available())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn granted_at(budget: &RetryBudget, now: u64, asked: u32) -> u32 {
        (0..asked).map(|_| u32::from(budget.withdraw_at(now))).sum()
    }

    /// Numbers that look random and are the same in each run (Steele et al., "Fast splittable
    /// pseudorandom number generators", 2014).
    struct SplitMix(u64);

    impl SplitMix {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) % limit
        }
    }

    #[test]
    fn a_thousand_callers_that_fail_together_get_a_fifth_of_their_number() {
        let budget = RetryBudget::new().min_per_second(0);
        for _ in 0..1000 {
            budget.deposit_at(0);
        }
        assert_eq!(granted_at(&budget, 0, 3000), 200);
    }

    #[test]
    fn callers_that_fail_together_stop_when_a_budget_of_ten_is_empty() {
        let budget = RetryBudget::new()
            .ratio(0.0)
            .min_per_second(10)
            .window(Duration::from_secs(1));
        let mut calls = 0;
        for _ in 0..100 {
            budget.deposit_at(0);
            calls += 1;
            for _retry in 1..4 {
                if !budget.withdraw_at(0) {
                    break;
                }
                calls += 1;
            }
        }
        assert_eq!(calls, 110);
    }

    #[test]
    fn a_share_is_a_decimal_fraction_and_not_the_float_below_it() {
        for (ratio, calls, earned) in [
            (0.2, 5, 1),
            (0.29, 100, 29),
            (0.07, 100, 7),
            (1.0 / 3.0, 3, 1),
            (0.1, 10, 1),
            (0.1, 9, 0),
            (2.5, 2, 5),
            (1000.0, 3, 3000),
        ] {
            let budget = RetryBudget::new().ratio(ratio).min_per_second(0);
            for _ in 0..calls {
                budget.deposit_at(0);
            }
            assert_eq!(budget.read(0).1, earned, "{ratio} of {calls}");
        }
    }

    #[test]
    fn settings_out_of_range_count_as_the_nearest_allowed() {
        let left = |budget: RetryBudget| {
            budget.deposit_at(0);
            budget.read(0).1
        };
        let none = || RetryBudget::new().min_per_second(0);
        assert_eq!(left(none().ratio(f64::NAN)), 0);
        assert_eq!(left(none().ratio(-1.0)), 0);
        assert_eq!(left(none().ratio(f64::INFINITY)), 1000);
        assert_eq!(left(RetryBudget::new().window(Duration::ZERO)), 10);
        assert_eq!(left(RetryBudget::new().window(Duration::MAX)), 600);
        assert_eq!(left(RetryBudget::new().min_per_second(u32::MAX)), u32::MAX);
        assert_eq!(
            left(RetryBudget::new().window(Duration::from_millis(2550))),
            25
        );
    }

    #[test]
    fn what_a_call_earned_expires_with_the_window_and_a_tenth_of_it_early_at_most() {
        for begin in [0, SECOND / 2, SECOND - 1] {
            let left = |after: u64| {
                let budget = RetryBudget::new().ratio(1.0).min_per_second(0);
                budget.deposit_at(begin);
                budget.read(begin + after).1
            };
            assert_eq!(left(9 * SECOND), 1);
            assert_eq!(left(10 * SECOND), 0);
        }
    }

    #[test]
    fn the_floor_is_there_again_after_a_window_and_a_tenth() {
        for begin in [0, SECOND / 2, SECOND - 1] {
            let budget = RetryBudget::new().ratio(0.0);
            assert_eq!(granted_at(&budget, begin, 1000), 100);
            assert_eq!(granted_at(&budget, begin + 10 * SECOND, 1), 0);
            assert_eq!(granted_at(&budget, begin + 11 * SECOND, 1000), 100);
        }
    }

    #[test]
    fn time_that_stands_jumps_or_goes_back_neither_earns_nor_hangs() {
        let budget = RetryBudget::new().ratio(1.0).min_per_second(1);
        for now in [u64::MAX, 0, LATEST, u64::MAX, 7, u64::MAX - 1] {
            budget.deposit_at(now);
            assert!(budget.withdraw_at(now));
        }
        assert_eq!(granted_at(&budget, u64::MAX, 100), 10);
    }

    #[test]
    fn counters_wrap_unseen() {
        let budget = RetryBudget::new().ratio(1.0).min_per_second(0);
        let full = u64::MAX - CALL - 1;
        budget.totals.store(full, Ordering::Relaxed);
        for start in &budget.starts {
            start.store(full, Ordering::Relaxed);
        }
        for _ in 0..5 {
            budget.deposit_at(0);
        }
        assert_eq!(granted_at(&budget, 0, 9), 5);
        assert_eq!(budget.read(0).1, 0);
    }

    /// Over any sequence of calls, retries and time, each granted retry is within the calls of the
    /// window that ends with it; and one that is within those of nine tenths of it is granted,
    /// even if the retries of a tenth more count.
    #[test]
    fn retries_never_exceed_the_share_of_the_calls_in_their_window() {
        for seed in 0..300 {
            let mut random = SplitMix(seed);
            let ratio = [0.0, 0.1, 0.2, 1.0, 2.5][random.below(5) as usize];
            let min_per_second = [0, 1, 7][random.below(3) as usize];
            let window = SECOND * (1 + random.below(10)) + random.below(SECOND);
            let budget = RetryBudget::new()
                .ratio(ratio)
                .min_per_second(min_per_second)
                .window(Duration::from_nanos(window));
            let (window, slot) = (budget.slot * 10, budget.slot);
            let floor = f64::from(min_per_second) * window as f64 / SECOND as f64;
            let (mut now, mut calls, mut retries) = (random.below(window), vec![], vec![]);
            for _ in 0..2000 {
                match random.below(10) {
                    0..4 => {
                        budget.deposit_at(now);
                        calls.push(now);
                    }
                    4..8 => {
                        // events in (now - length, now]
                        let within = |events: &[u64], length: u64| {
                            let recent = events.iter().rev();
                            recent.take_while(|&&at| at + length > now).count() as f64
                        };
                        let granted = budget.withdraw_at(now);
                        let must = within(&calls, window - slot) * ratio + floor.floor() - 1.0
                            >= within(&retries, window + slot);
                        if granted {
                            retries.push(now);
                            let allowed = within(&calls, window) * ratio + floor;
                            assert!(
                                within(&retries, window) <= allowed + 1e-6,
                                "seed {seed}: more than {allowed} at {now}"
                            );
                        }
                        assert!(granted || !must, "seed {seed}: refused at {now}");
                    }
                    8 => now += random.below(slot * 3),
                    _ => {
                        now +=
                            [0, 1, slot - 1, slot, window, window + slot][random.below(6) as usize]
                    }
                }
            }
        }
    }

    #[test]
    fn threads_lose_no_call_and_no_retry() {
        let budget = RetryBudget::new().ratio(0.5).min_per_second(1);
        let granted: u32 = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let budget = &budget;
                    scope.spawn(move || {
                        let mut granted = 0;
                        for call in 0..20_000_u64 {
                            // across eight of the ten slots, so that nothing expires
                            let now = call * SECOND / 2_500 + thread;
                            budget.deposit_at(now);
                            granted += u32::from(budget.withdraw_at(now));
                        }
                        granted
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        let left = budget.read(0).1;
        assert_eq!(granted + left, 40_010);
    }
}

/// All interleavings of two threads, as far as the memory model allows them.
#[cfg(all(test, loom))]
mod loom {
    use ::loom::{sync::Arc, thread};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn budget(ratio: f64, floor: u32) -> Arc<RetryBudget> {
        let budget = RetryBudget::new().ratio(ratio).min_per_second(floor);
        Arc::new(budget.window(SHORTEST))
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
    fn what_expired_is_not_granted_while_a_call_turns_the_window() {
        ::loom::model(|| {
            let budget = budget(1.0, 0);
            budget.deposit_at(0);
            assert!(budget.withdraw_at(0));
            // the call's share is spent, and the retry counts for one slot longer
            let ((), granted) =
                together(&budget, |b| b.deposit_at(SECOND), |b| b.withdraw_at(SECOND));
            assert!(!granted);
            assert_eq!(budget.read(SECOND).1, 0);
            assert_eq!(budget.read(SECOND + SECOND / 10).1, 1);
        });
    }
}
