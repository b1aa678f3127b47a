//! Who sees the events of every call in the process.

use std::{error::Error, fmt, sync::OnceLock};

use crate::{call::Level, event::Event};

type Observer = Box<dyn Fn(&Event<'_>) + Send + Sync>;

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Sets the observer that sees the events of every retried call in the process: of attributes and
/// closures, with and without `notify`, also in other crates.
///
/// There is one at most, for good; a program sets it at its start. It runs where the call runs, a
/// retry is not waited for before it returns, and it may be called by several threads at once. The
/// features `tracing` and `metrics` need none.
///
/// A call is watched from its beginning: one that is under way is not seen.
///
/// ```standalone_crate
/// # #[cfg(feature = "macros")] {
/// use retry_runtime::{retryable, set_observer};
///
/// #[retryable(base_ms = 1, on = "any", name = "greet")]
/// fn greet(calls: &mut u32) -> Result<(), &'static str> {
///     *calls += 1;
///     if *calls < 2 { Err("not yet") } else { Ok(()) }
/// }
///
/// let (sender, events) = std::sync::mpsc::sync_channel(8);
/// set_observer(move |event| {
///     let what = event.outcome().map_or(String::from("retry"), |outcome| outcome.to_string());
///     sender.try_send(format!("{} {}: {what}", event.name, event.attempt)).unwrap();
/// })?;
/// greet(&mut 0).unwrap();
/// assert_eq!(events.try_iter().collect::<Vec<_>>(), ["greet 1: retry", "greet 2: success"]);
/// # }
/// # Ok::<(), retry_runtime::ObserverAlreadySet>(())
/// ```
///
/// # Errors
///
/// There is one already; this one is dropped.
///
/// # Panics
///
/// An observer that panics ends the call that it is told of with that panic, except while a panic
/// is already under way, which ends the process.
pub fn set_observer(
    observer: impl Fn(&Event<'_>) + Send + Sync + 'static,
) -> Result<(), ObserverAlreadySet> {
    OBSERVER
        .set(Box::new(observer))
        .map_err(|_| ObserverAlreadySet(()))
}

/// The process has an observer already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObserverAlreadySet(());

impl fmt::Display for ObserverAlreadySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the process has an observer of its retries already")
    }
}

impl Error for ObserverAlreadySet {}

/// Whether a call that begins has anybody to tell.
#[inline]
pub(crate) fn watches() -> bool {
    #[cfg(feature = "testing")]
    if crate::testing::records() {
        return true;
    }
    #[cfg(feature = "tracing")]
    if crate::traced::is_enabled() {
        return true;
    }
    cfg!(feature = "metrics") || OBSERVER.get().is_some()
}

/// Tells those who see everything.
#[cold]
pub(crate) fn tell(event: &Event<'_>, level: Level) {
    #[cfg(feature = "testing")]
    crate::testing::record_event(event);
    #[cfg(feature = "metrics")]
    crate::metered::count(event);
    #[cfg(feature = "tracing")]
    crate::traced::log(event, level);
    #[cfg(not(feature = "tracing"))]
    let _ = level;
    if let Some(observer) = OBSERVER.get() {
        observer(event);
    }
}
