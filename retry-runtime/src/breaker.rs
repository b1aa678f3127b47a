//! A circuit breaker: calls that would fail anyway fail at once, and the other side gets time to
//! recover. Knows no errors and no waits.
//!
//! What decides is in one word, [`Word`]: state and epoch, and when half-open the counts of probes.
//! Whoever changes it compares and exchanges the whole word, so that nothing is decided twice, and
//! outcomes that belong to an earlier epoch are recognized. Beside it there are
//!
//! - `until`, when the first probe is due. It only grows, and is written before the word that says
//!   that the breaker is open;
//! - the window of the last outcomes, under a lock;
//! - successes that are not in the window yet. Once there are enough outcomes, a success can not
//!   open the breaker, and successes in a row are all alike: so each thread counts its own, in a
//!   place that few others write to, and the next failure takes them along before it is counted.
//!   Only failures take the lock then.

use std::{error::Error, fmt, mem, time::Duration};

#[cfg(feature = "metrics")]
use crate::metered;
use crate::{
    clock,
    sync::{AtomicU64, Mutex, Ordering, OwnLine, PoisonError, const_fn, own_lines, thread_number},
};

mod window;
mod word;

#[cfg(all(test, loom))]
mod loom;
#[cfg(all(test, not(loom)))]
mod tests;

use window::{LONGEST, Window};
use word::{ENOUGH, EPOCH, PROBES_ENDED, PROBES_FAILED, SUCCESSES, State, TAKEN, Word};

/// Places for successes.
const PLACES: usize = if cfg!(all(test, loom)) { 2 } else { 8 };

/// 1.0 as a failure rate.
const WHOLE: u64 = 1 << 32;

/// Stops calls to a service that fails, until probes show that it works again.
///
/// A `static`, shared by all functions that call the same service. Each attempt asks for a
/// [`Permit`] and says how it ended:
///
/// ```
/// use retry_runtime::{BreakerState, CircuitBreaker, CircuitOpen};
/// use std::time::Duration;
///
/// static ORDERS: CircuitBreaker = CircuitBreaker::new()
///     .window(10)
///     .min_calls(4)
///     .failure_rate(0.5)
///     .open_for(Duration::from_secs(30));
///
/// fn order(works: bool) -> Result<bool, CircuitOpen> {
///     let permit = ORDERS.try_acquire()?;
///     if works { permit.success() } else { permit.failure() }
///     Ok(works)
/// }
///
/// for works in [true, false, true, false] {
///     assert_eq!(order(works), Ok(works)); // two of four have failed now
/// }
/// let open = order(true).unwrap_err();
/// assert_eq!(ORDERS.state(), BreakerState::Open);
/// assert!(open.retry_after() <= Some(Duration::from_secs(30)));
/// ```
///
/// | part | unit, range | default |
/// |---|---|---|
/// | [`window`](Self::window) | last outcomes that are looked at, 1 to 1024 | 100 |
/// | [`min_calls`](Self::min_calls) | outcomes needed before it opens, 1 to the window | 100 |
/// | [`failure_rate`](Self::failure_rate) | share of failures that opens it, above 0.0, up to 1.0 | 0.5 |
/// | [`open_for`](Self::open_for) | time before the first probe, 1 ms or more | 60 s |
/// | [`probes`](Self::probes) | calls let through when half-open, 1 to 1024 | 10 |
///
/// A value out of range counts as the nearest allowed one. The defaults are those of Resilience4j.
///
/// # States
///
/// - **Closed**: every call is let through. It opens when there are at least `min_calls` outcomes,
///   and the share of failures among the last `window` of them is `failure_rate` or more. That is
///   looked at after each outcome, a success too.
/// - **Open**: no call is let through for `open_for`. The first one after that makes it half-open.
/// - **Half-open**: `probes` calls are let through, and no others. When all of them have ended,
///   it closes, with an empty window, if the share of failures is below `failure_rate`. It opens
///   again, for `open_for`, as soon as that can not happen any more.
///
/// An outcome counts only in the state in which its permit was taken: what was under way when the
/// breaker opened says nothing about its probes.
///
/// # Cost
///
/// Nothing is allocated. A permit is a look at a word, and a success adds to a number that few other
/// threads write to, until the window is full of them: from then on it only looks. A failure, and
/// each of the first `min_calls` outcomes, takes a lock for some nanoseconds. The clock is read only
/// to open and when open.
pub struct CircuitBreaker {
    name: Option<&'static str>,
    window: u64,
    min_calls: u64,
    probes: u64,
    /// In units of 2^-32, rounded down, so that 7 of 100 are 0.07
    failure_rate: u64,
    /// Nanoseconds
    open_for: u64,
    /// A [`Word`]
    head: AtomicU64,
    /// When an open breaker lets the first probe through. Only grows.
    until: AtomicU64,
    outcomes: OwnLine<Mutex<Window>>,
    /// [`Word`]s with [`SUCCESSES`] of an epoch
    successes: [OwnLine<AtomicU64>; PLACES],
}

/// What a [`CircuitBreaker`] does with calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BreakerState {
    /// Lets them through
    Closed,
    /// Refuses them
    Open,
    /// Lets some through, to see whether they succeed
    HalfOpen,
}

impl State {
    /// Without who holds it there.
    const fn seen(self) -> BreakerState {
        match self {
            Self::Closed | Self::HeldClosed => BreakerState::Closed,
            Self::Open | Self::HeldOpen => BreakerState::Open,
            Self::HalfOpen => BreakerState::HalfOpen,
        }
    }
}

impl CircuitBreaker {
    const_fn! {
        /// Opens for a minute when half of the last hundred calls have failed.
        pub fn new() -> Self {
            Self {
                name: None,
                window: 100,
                min_calls: 100,
                probes: 10,
                failure_rate: WHOLE / 2,
                open_for: 60_000_000_000,
                head: AtomicU64::new(0),
                until: AtomicU64::new(0),
                outcomes: OwnLine(Mutex::new(Window::new())),
                successes: own_lines(),
            }
        }
    }

    /// What the breaker is called in metrics, which publish only one that has a name.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// How many of the last outcomes are looked at. Within 1 to 1024.
    #[must_use]
    pub const fn window(mut self, outcomes: u32) -> Self {
        self.window = counted(outcomes);
        self
    }

    /// How many outcomes there must be before the breaker opens. At least 1; more than the window
    /// counts as the window.
    #[must_use]
    pub const fn min_calls(mut self, outcomes: u32) -> Self {
        self.min_calls = counted(outcomes);
        self
    }

    /// The share of failures at which the breaker opens. Above 0.0, up to 1.0. What is not above
    /// 0.0 opens it at any failure, and NaN counts as the default.
    #[must_use]
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "within the range, and there is no other way in constants"
    )]
    pub const fn failure_rate(mut self, share: f64) -> Self {
        let share = if share.is_nan() { 0.5 } else { share };
        self.failure_rate = (share.clamp(0.0, 1.0) * WHOLE as f64) as u64;
        self
    }

    /// How long the breaker stays open before it lets a probe through. At least 1 ms, and 584 years
    /// at most.
    #[must_use]
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        reason = "within the range, and there is no other way in constants"
    )]
    pub const fn open_for(mut self, time: Duration) -> Self {
        let nanos = time.as_nanos();
        self.open_for = if nanos < 1_000_000 {
            1_000_000
        } else if nanos > u64::MAX as u128 {
            u64::MAX
        } else {
            nanos as u64
        };
        self
    }

    /// How many calls a half-open breaker lets through, and whose outcomes it judges by. Within 1
    /// to 1024.
    #[must_use]
    pub const fn probes(mut self, calls: u32) -> Self {
        self.probes = counted(calls);
        self
    }

    /// Asks whether a call may be made. Its end must be told to the permit.
    ///
    /// # Errors
    ///
    /// The breaker is open, or half-open and all its probes are under way: the call must not be
    /// made.
    #[inline]
    pub fn try_acquire(&self) -> Result<Permit<'_>, CircuitOpen> {
        let permit = self.try_acquire_by(clock::nanos);
        #[cfg(feature = "metrics")]
        if permit.is_err() {
            metered::breaker_refused(self);
        }
        permit
    }

    #[cfg(feature = "metrics")]
    pub(crate) const fn name(&self) -> Option<&'static str> {
        self.name
    }

    /// The state as it was left by the last call: an open breaker becomes half-open when a call
    /// asks, not before.
    pub fn state(&self) -> BreakerState {
        Word(self.head.load(Ordering::Acquire)).state().seen()
    }

    /// Opens the breaker and holds it open, whatever the time, until [`reset`](Self::reset) or
    /// [`force_close`](Self::force_close).
    pub fn force_open(&self) {
        self.force(State::HeldOpen);
    }

    /// Closes the breaker and holds it closed, whatever fails, until [`reset`](Self::reset) or
    /// [`force_open`](Self::force_open). Outcomes are not recorded.
    pub fn force_close(&self) {
        self.force(State::HeldClosed);
    }

    /// Closes the breaker, with an empty window, and lets it work by itself again. Outcomes of
    /// calls that are under way do not count.
    pub fn reset(&self) {
        self.force(State::Closed);
    }
}

/// The same at a given time in nanoseconds, which is asked for only where it matters.
impl CircuitBreaker {
    #[inline]
    pub(crate) fn try_acquire_by(&self, now: impl Fn() -> u64) -> Result<Permit<'_>, CircuitOpen> {
        let head = Word(self.head.load(Ordering::Acquire));
        if matches!(head.state(), State::Closed | State::HeldClosed) {
            return Ok(self.permit(head));
        }
        self.try_acquire_probe(now)
    }

    #[cold]
    fn try_acquire_probe(&self, now: impl Fn() -> u64) -> Result<Permit<'_>, CircuitOpen> {
        loop {
            let head = Word(self.head.load(Ordering::Acquire));
            let next = match head.state() {
                State::Closed | State::HeldClosed => return Ok(self.permit(head)),
                State::HeldOpen => return Err(CircuitOpen(Why::Held)),
                State::Open => {
                    let left = self.until.load(Ordering::Relaxed).saturating_sub(now());
                    if left > 0 {
                        return Err(CircuitOpen(Why::Open(left)));
                    }
                    head.followed_by(State::HalfOpen).with(TAKEN, 1)
                }
                State::HalfOpen if head.get(TAKEN) >= self.probes => {
                    return Err(CircuitOpen(Why::Probing));
                }
                State::HalfOpen => head.plus_one(TAKEN),
            };
            if self.exchange(head, next) {
                return Ok(self.permit(next));
            }
        }
    }

    fn permit(&self, head: Word) -> Permit<'_> {
        Permit {
            breaker: self,
            epoch: head.get(EPOCH),
        }
    }

    /// Counts an outcome of a permit that was taken in `epoch`.
    #[inline]
    fn record(&self, epoch: u64, failed: bool, now: impl Fn() -> u64) {
        let head = Word(self.head.load(Ordering::Acquire));
        if head.get(EPOCH) != epoch {
            return;
        }
        match head.state() {
            State::Closed if !failed && head.get(ENOUGH) == 1 => self.succeed(epoch),
            State::Closed => self.slide(epoch, failed, now),
            State::HalfOpen => self.probed(epoch, failed, now),
            State::Open | State::HeldOpen | State::HeldClosed => {}
        }
    }

    /// A success that can not open the breaker.
    #[inline]
    fn succeed(&self, epoch: u64) {
        let number = thread_number().rem_euclid(PLACES);
        let Some(OwnLine(place)) = self.successes.get(number) else {
            return;
        };
        loop {
            let word = Word(place.load(Ordering::Acquire));
            let next = if word.get(EPOCH) == epoch {
                if word.get(SUCCESSES) >= self.window {
                    return;
                }
                word.plus_one(SUCCESSES)
            } else if Word(self.head.load(Ordering::Acquire)).get(EPOCH) == epoch {
                Word(0).with(EPOCH, epoch).with(SUCCESSES, 1)
            } else {
                return;
            };
            let exchanged =
                place.compare_exchange_weak(word.0, next.0, Ordering::AcqRel, Ordering::Relaxed);
            if exchanged.is_ok() {
                return;
            }
        }
    }

    /// An outcome of a closed breaker, after the successes that have not been counted.
    #[cold]
    fn slide(&self, epoch: u64, failed: bool, now: impl Fn() -> u64) {
        let mut outcomes = self
            .outcomes
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let head = Word(self.head.load(Ordering::Acquire));
        // in this epoch it has been closed, and the only way on is by this lock or from outside
        if head.get(EPOCH) != epoch {
            return;
        }
        let outcomes = outcomes.of(epoch);
        outcomes.push_successes(self.take_successes(epoch), self.window);
        outcomes.push(failed, self.window);
        let seen = outcomes.seen(self.window);
        if seen < self.min_calls.min(self.window) {
            return;
        }
        let next = if self.is_too_many(outcomes.failures(), seen) {
            self.open(head, now)
        } else {
            head.with(ENOUGH, 1)
        };
        if next != head {
            self.exchange(head, next);
        }
    }

    /// Empties the places of successes that belong to `epoch`.
    fn take_successes(&self, epoch: u64) -> u64 {
        let taken = self.successes.iter().map(|OwnLine(place)| {
            loop {
                let word = Word(place.load(Ordering::Acquire));
                let successes = word.get(SUCCESSES);
                if word.get(EPOCH) != epoch || successes == 0 {
                    return 0;
                }
                let next = word.with(SUCCESSES, 0);
                let exchanged = place.compare_exchange_weak(
                    word.0,
                    next.0,
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
                if exchanged.is_ok() {
                    return successes;
                }
            }
        });
        taken.fold(0, u64::saturating_add)
    }

    /// An outcome of a half-open breaker.
    #[cold]
    fn probed(&self, epoch: u64, failed: bool, now: impl Fn() -> u64) {
        loop {
            let head = Word(self.head.load(Ordering::Acquire));
            if head.get(EPOCH) != epoch {
                return;
            }
            let counted = head.plus_one(PROBES_ENDED);
            let counted = if failed {
                counted.plus_one(PROBES_FAILED)
            } else {
                counted
            };
            let next = if self.is_too_many(counted.get(PROBES_FAILED), self.probes) {
                self.open(head, &now)
            } else if counted.get(PROBES_ENDED) >= self.probes {
                head.followed_by(State::Closed)
            } else {
                counted
            };
            if self.exchange(head, next) {
                return;
            }
        }
    }

    /// What becomes of a breaker that opens. It is open when the word says so.
    fn open(&self, head: Word, now: impl Fn() -> u64) -> Word {
        let until = now().saturating_add(self.open_for);
        self.until.fetch_max(until, Ordering::Relaxed);
        head.followed_by(State::Open)
    }

    #[inline]
    fn is_too_many(&self, failures: u64, calls: u64) -> bool {
        // neither is above 1024
        failures > 0 && failures.wrapping_mul(WHOLE) >= calls.wrapping_mul(self.failure_rate)
    }

    /// Gives a permit back that was taken in `epoch`.
    fn give_back(&self, epoch: u64) {
        loop {
            let head = Word(self.head.load(Ordering::Acquire));
            if head.get(EPOCH) != epoch || head.state() != State::HalfOpen {
                return;
            }
            let taken = head.get(TAKEN).saturating_sub(1);
            if self.exchange(head, head.with(TAKEN, taken)) {
                return;
            }
        }
    }

    fn force(&self, state: State) {
        loop {
            let head = Word(self.head.load(Ordering::Acquire));
            if self.exchange(head, head.followed_by(state)) {
                return;
            }
        }
    }

    #[inline]
    fn exchange(&self, head: Word, next: Word) -> bool {
        let exchanged = self
            .head
            .compare_exchange(head.0, next.0, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok();
        #[cfg(feature = "metrics")]
        if exchanged && head.state().seen() != next.state().seen() {
            metered::breaker_changed(self, next.state().seen());
        }
        exchanged
    }
}

impl Default for CircuitBreaker {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitBreaker")
            .field("name", &self.name)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

/// A number of outcomes, within the window that there is room for.
#[expect(
    clippy::as_conversions,
    reason = "widens, and there is no other way in constants"
)]
const fn counted(outcomes: u32) -> u64 {
    match outcomes {
        0 => 1,
        1..=LONGEST => outcomes as u64,
        _ => LONGEST as u64,
    }
}

/// Leave to make one call. Say how it ended; dropped without a word, as when the call panics or is
/// cancelled, it is [ignored](Self::ignore).
///
/// A permit that is leaked (`mem::forget`) keeps its probe until [`CircuitBreaker::reset`].
#[derive(Debug)]
#[must_use = "dropped, it does not count"]
pub struct Permit<'a> {
    breaker: &'a CircuitBreaker,
    epoch: u64,
}

impl Permit<'_> {
    /// The call did what it should.
    #[inline]
    pub fn success(self) {
        self.end(false, clock::nanos);
    }

    /// The call failed in a way that tells of the other side's state. May open the breaker.
    #[inline]
    pub fn failure(self) {
        self.end(true, clock::nanos);
    }

    /// The call says nothing about the other side's state: it was not made, was cancelled, or
    /// failed through the caller's fault. It does not count, and a probe can be taken again.
    pub fn ignore(self) {
        drop(self);
    }

    #[inline]
    fn end(self, failed: bool, now: impl Fn() -> u64) {
        self.breaker.record(self.epoch, failed, now);
        mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.breaker.give_back(self.epoch);
    }
}

/// A [`CircuitBreaker`] refused a call, which was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitOpen(Why);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// The first probe is due after this time
    Open(u64),
    /// All probes are under way
    Probing,
    /// From outside
    Held,
}

impl CircuitOpen {
    /// How long until the next probe is allowed. `None` where that is not a matter of time: all
    /// probes are under way, or the breaker is held open.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self.0 {
            Why::Open(left) => Some(Duration::from_nanos(left)),
            Why::Probing | Why::Held => None,
        }
    }
}

impl fmt::Display for CircuitOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Why::Open(left) => {
                let left = Duration::from_nanos(left);
                write!(f, "circuit breaker is open, next probe in {left:?}")
            }
            Why::Probing => f.write_str("circuit breaker is half-open, its probes are under way"),
            Why::Held => f.write_str("circuit breaker is held open"),
        }
    }
}

impl Error for CircuitOpen {}

#[cfg(test)]
impl CircuitBreaker {
    fn at(&self, now: u64) -> Result<Permit<'_>, CircuitOpen> {
        self.try_acquire_by(|| now)
    }

    /// The outcomes of a closed breaker: how many are seen, the failures among them as counted, and
    /// as kept.
    fn counts(&self) -> (u64, u64, u64) {
        let mut outcomes = self
            .outcomes
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let head = Word(self.head.load(Ordering::Acquire));
        assert_eq!(head.state(), State::Closed);
        let outcomes = outcomes.of(head.get(EPOCH));
        let successes = self.take_successes(head.get(EPOCH));
        outcomes.push_successes(successes, self.window);
        (
            outcomes.seen(self.window),
            outcomes.failures(),
            outcomes.recount(self.window),
        )
    }
}
