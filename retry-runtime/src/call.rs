//! A call that somebody watches: tells each retry and, whatever happens, its end.

use std::{
    marker::PhantomData,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use crate::{
    attempts::{Next, Wait},
    decision::Decision,
    event::{Event, Outcome, Step},
    limits::{Reason, Started},
    policy::Policy,
};
#[cfg(feature = "observer")]
use crate::{event::Cause, observer};

/// How loud a call is told in logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Retries as warnings, the end of a call that failed as an error
    Warn,
    /// Retries for those who look for them, the end of a call that failed as a warning
    Debug,
}

/// What a call is called, and how loud.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    pub(crate) name: &'static str,
    #[cfg_attr(
        not(feature = "observer"),
        expect(dead_code, reason = "only logs have levels")
    )]
    pub(crate) level: Level,
}

impl Label {
    /// Of a function or closure.
    pub const fn new(name: &'static str, level: Level) -> Self {
        Self { name, level }
    }
}

/// Who is told by a call itself, beside the observer of the process.
pub trait Notify<E> {
    /// Whether anybody is.
    const IS_GIVEN: bool = true;

    /// Tells it.
    fn notify(&mut self, event: &Event<'_, E>);
}

/// Nobody.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl<E> Notify<E> for Nobody {
    const IS_GIVEN: bool = false;

    fn notify(&mut self, _event: &Event<'_, E>) {}
}

impl<E, F: FnMut(&Event<'_, E>)> Notify<E> for F {
    fn notify(&mut self, event: &Event<'_, E>) {
        self(event);
    }
}

/// The function given as `notify`, which learns here that the errors of its events are those `of` an
/// outcome.
pub fn notifier<O, E, N: FnMut(&Event<'_, E>)>(_of: impl FnOnce(&O) -> Option<&E>, notify: N) -> N {
    notify
}

/// The error of an attempt, as those see it who are told.
#[derive(Debug)]
pub struct Seen<'a, E> {
    error: Option<&'a E>,
    #[cfg(feature = "observer")]
    cause: Option<Cause<'a>>,
}

impl<'a, E> Seen<'a, E> {
    const NOTHING: Self = Self {
        error: None,
        #[cfg(feature = "observer")]
        cause: None,
    };

    /// An error, or none.
    #[cfg(not(feature = "observer"))]
    pub const fn new(error: Option<&'a E>) -> Self {
        Self { error }
    }

    /// An error with its text, or none.
    #[cfg(feature = "observer")]
    pub const fn new(error: Option<&'a E>, cause: Option<Cause<'a>>) -> Self {
        Self { error, cause }
    }
}

/// A call that is under way. Dropped before it has told its end, it tells that.
#[derive(Debug)]
pub struct Call<E, N: Notify<E>> {
    /// `None` where nobody looks, and after the end
    watched: Option<Watched>,
    notify: N,
    error: PhantomData<fn(&E)>,
}

/// Of the next call.
static NUMBER: AtomicU64 = AtomicU64::new(1);

#[derive(Clone, Copy, Debug)]
struct Watched {
    number: u64,
    label: Label,
    max: Option<u32>,
    started: Started,
    attempt: u32,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Between,
    Attempt,
    Wait,
}

impl<E, N: Notify<E>> Call<E, N> {
    /// A call begins. Its policy may not be known before an attempt has failed: nothing is evaluated
    /// before the first. Where nobody looks, neither the clock nor the policy is asked, which may be
    /// overridden.
    #[inline]
    pub fn begin(
        label: Label,
        notify: N,
        started: fn() -> Started,
        max: impl FnOnce() -> Option<u32>,
    ) -> Self {
        #[cfg(feature = "observer")]
        let is_watched = N::IS_GIVEN || observer::watches();
        #[cfg(not(feature = "observer"))]
        let is_watched = N::IS_GIVEN;
        Self {
            watched: is_watched.then(|| Watched {
                number: NUMBER.fetch_add(1, Ordering::Relaxed),
                label,
                max: max(),
                started: started(),
                attempt: 0,
                phase: Phase::Between,
            }),
            notify,
            error: PhantomData,
        }
    }

    /// An attempt begins.
    #[inline]
    pub fn attempts(&mut self) {
        if let Some(watched) = &mut self.watched {
            watched.ends_wait();
            watched.attempt = watched.attempt.saturating_add(1);
            watched.phase = Phase::Attempt;
        }
    }

    /// The policy of an attempt that has failed, by which is decided.
    #[inline]
    pub const fn sees<'p>(&mut self, policy: &'p Policy) -> &'p Policy {
        if let Some(watched) = &mut self.watched {
            watched.max = policy.max_calls();
        }
        policy
    }

    /// An attempt has failed, and another one follows after a wait.
    #[inline]
    pub fn retries(&mut self, seen: &Seen<'_, E>, wait: Wait, judged: Option<Decision>) {
        let decision = judged.unwrap_or(Decision::Retry);
        // not there while somebody is told, so that a panic of theirs is not told to them
        if let Some(mut watched) = self.watched.take() {
            watched.tell(
                seen,
                Step::Retry {
                    wait: wait.duration(),
                    decision,
                },
                &mut self.notify,
            );
            watched.begins_wait();
            self.watched = Some(watched);
        }
    }

    /// The call ends.
    #[inline]
    pub fn ends(&mut self, end: Next, seen: &Seen<'_, E>) {
        let outcome = end.reason().map_or(Outcome::Success, Outcome::Failure);
        if let Some(mut watched) = self.watched.take() {
            watched.ends_wait();
            watched.tell(seen, Step::End(outcome), &mut self.notify);
        }
    }
}

impl<E, N: Notify<E>> Drop for Call<E, N> {
    #[inline]
    fn drop(&mut self) {
        if let Some(watched) = &self.watched {
            let panicked = watched.phase == Phase::Attempt && thread::panicking();
            let reason = if panicked {
                Reason::Panicked
            } else {
                Reason::Dropped
            };
            self.ends(Next::ended(reason), &Seen::NOTHING);
        }
    }
}

impl Watched {
    fn tell<E>(&self, seen: &Seen<'_, E>, step: Step, notify: &mut impl Notify<E>) {
        let elapsed = self.started.elapsed();
        #[cfg(feature = "observer")]
        observer::tell(
            &self.event(seen.cause.as_ref(), elapsed, step),
            self.label.level,
        );
        notify.notify(&self.event(seen.error, elapsed, step));
    }

    const fn event<'a, E>(
        &self,
        error: Option<&'a E>,
        elapsed: Duration,
        step: Step,
    ) -> Event<'a, E> {
        Event {
            call: self.number,
            name: self.label.name,
            attempt: self.attempt,
            max: self.max,
            error,
            elapsed,
            step,
        }
    }

    fn begins_wait(&mut self) {
        self.phase = Phase::Wait;
        #[cfg(feature = "metrics")]
        crate::metered::waiting(self.label.name, 1.0);
    }

    fn ends_wait(&mut self) {
        #[cfg(feature = "metrics")]
        if self.phase == Phase::Wait {
            crate::metered::waiting(self.label.name, -1.0);
        }
        self.phase = Phase::Between;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn where_nobody_looks_the_policy_is_not_asked() {
        #[cfg(feature = "observer")]
        if observer::watches() {
            return;
        }
        let label = Label::new("call", Level::Warn);
        let call = Call::<(), _>::begin(label, Nobody, Started::blocking, || {
            unreachable!("nobody looks")
        });
        assert!(call.watched.is_none());
    }
}
