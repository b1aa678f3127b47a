//! Events that are kept, and put in order call by call.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt,
    marker::PhantomData,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::event::{Event, Outcome, Step};

/// An [`Event`] as it was recorded, with the text of its error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "as in Event")]
pub struct Recorded {
    pub call: u64,
    pub name: &'static str,
    pub attempt: u32,
    pub max: Option<u32>,
    pub error: Option<String>,
    pub elapsed: Duration,
    pub step: Step,
}

impl Recorded {
    fn new(event: &Event<'_>) -> Self {
        Self {
            call: event.call,
            name: event.name,
            attempt: event.attempt,
            max: event.max,
            error: event.error.map(ToString::to_string),
            elapsed: event.elapsed,
            step: event.step,
        }
    }

    fn as_event(&self) -> Event<'_, String> {
        Event {
            call: self.call,
            name: self.name,
            attempt: self.attempt,
            max: self.max,
            error: self.error.as_ref(),
            elapsed: self.elapsed,
            step: self.step,
        }
    }
}

impl fmt::Display for Recorded {
    /// As that of an [`Event`]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_event().fmt(f)
    }
}

/// The events of one call, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    name: &'static str,
    events: Vec<Recorded>,
}

impl Timeline {
    /// The function.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The events: a retry, a retry, and so on, and the end.
    pub fn events(&self) -> &[Recorded] {
        &self.events
    }

    /// How many attempts were made.
    pub fn attempts(&self) -> u32 {
        self.events.last().map_or(0, |last| last.attempt)
    }

    /// The waits, one for each retry.
    pub fn waits(&self) -> Vec<Duration> {
        waits(&self.events)
    }

    /// The errors of the attempts that had one.
    pub fn errors(&self) -> Vec<&str> {
        let errors = self
            .events
            .iter()
            .filter_map(|event| event.error.as_deref());
        errors.collect()
    }

    /// How it ended; `None` for a call that is under way.
    pub fn outcome(&self) -> Option<Outcome> {
        self.events
            .last()
            .and_then(|last| last.as_event().outcome())
    }
}

impl fmt::Display for Timeline {
    /// A line for each event
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.events
            .iter()
            .try_for_each(|event| writeln!(f, "{event}"))
    }
}

fn waits(events: &[Recorded]) -> Vec<Duration> {
    events
        .iter()
        .filter_map(|event| event.as_event().wait())
        .collect()
}

type Events = Arc<Mutex<Vec<Recorded>>>;

static PROCESS: Mutex<Vec<Events>> = Mutex::new(Vec::new());

/// How many there are, of the process and of threads, so that a call that begins need not ask all.
static RECORDINGS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static THREAD: RefCell<Vec<Events>> = const { RefCell::new(Vec::new()) };
}

fn in_process<T>(with: impl FnOnce(&mut Vec<Events>) -> T) -> T {
    with(&mut PROCESS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What was recorded, and is still being recorded until this is dropped.
#[must_use = "nothing is recorded after it is dropped"]
#[derive(Debug)]
pub struct Recording {
    events: Events,
    everywhere: bool,
    // it is taken off the list of the thread that made it
    stays: PhantomData<*const ()>,
}

impl Recording {
    pub(super) fn of_process() -> Self {
        let recording = Self::new(true);
        in_process(|all| all.push(Arc::clone(&recording.events)));
        recording
    }

    pub(super) fn of_this_thread() -> Self {
        let recording = Self::new(false);
        THREAD.with_borrow_mut(|all| all.push(Arc::clone(&recording.events)));
        recording
    }

    fn new(everywhere: bool) -> Self {
        RECORDINGS.fetch_add(1, Ordering::Relaxed);
        Self {
            events: Events::default(),
            everywhere,
            stays: PhantomData,
        }
    }

    /// All events so far, in the order in which they happened.
    pub fn events(&self) -> Vec<Recorded> {
        self.events
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The calls so far, in the order of their first events.
    pub fn calls(&self) -> Vec<Timeline> {
        let mut calls: Vec<Timeline> = Vec::new();
        let mut places = BTreeMap::new();
        for event in self.events() {
            let place = *places.entry(event.call).or_insert(calls.len());
            match calls.get_mut(place) {
                Some(call) => call.events.push(event),
                None => calls.push(Timeline {
                    name: event.name,
                    events: vec![event],
                }),
            }
        }
        calls
    }

    /// The calls of one function, given by its name with or without its module path.
    pub fn calls_of(&self, name: &str) -> Vec<Timeline> {
        let mut calls = self.calls();
        calls.retain(|call| {
            let path = call.name.strip_suffix(name);
            path.is_some_and(|path| path.is_empty() || path.ends_with("::"))
        });
        calls
    }

    /// The waits of all calls, in the order in which they happened.
    pub fn waits(&self) -> Vec<Duration> {
        waits(&self.events())
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        RECORDINGS.fetch_sub(1, Ordering::Relaxed);
        let others = |all: &mut Vec<Events>| {
            all.retain(|events| !Arc::ptr_eq(events, &self.events));
        };
        if self.everywhere {
            in_process(others);
        } else {
            THREAD.with_borrow_mut(others);
        }
    }
}

/// Whether anything is being recorded, perhaps by another thread for itself.
#[inline]
pub(crate) fn records() -> bool {
    RECORDINGS.load(Ordering::Relaxed) > 0
}

/// Adds an event to all recordings.
pub(crate) fn record(event: &Event<'_>) {
    if !records() {
        return;
    }
    // before anything is locked: what shows the error may itself make retried calls
    let recorded = Recorded::new(event);
    let add = |all: &mut Vec<Events>| {
        for events in all {
            let mut events = events.lock().unwrap_or_else(PoisonError::into_inner);
            events.push(recorded.clone());
        }
    };
    THREAD.with_borrow_mut(add);
    in_process(add);
}
