//! Retries for functions and closures, sync and async, with the policy checked when the program
//! is compiled.
//!
//! ```
//! # #[cfg(feature = "macros")] {
//! use retry_runtime::retryable;
//! use std::{fs, io, path::Path};
//!
//! /// Reads a file that another process may hold for a moment.
//! #[retryable(max = 5, base_ms = 20)]
//! fn read(path: &Path) -> io::Result<String> {
//!     fs::read_to_string(path)
//! }
//! # assert!(read(Path::new("no/such/file")).is_err());
//! # }
//! ```
//!
//! - [`macro@retryable`] is the attribute; its page has the table of keys.
//! - [`Policy`] is how often and how long, a constant or a run-time value, and retries closures:
//!   [`Policy::retry`], [`Policy::retry_async`](Policy#method.retry_async).
//! - [`Transient`] and [`Decision`] say which errors are worth another attempt.
//! - [`RetryBudget`] and [`CircuitBreaker`] protect the other side from retries. Functions that
//!   call the same service share them.
//! - [`Event`] is what a call tells of its retries and its end: to `notify`, and by feature to an
//!   observer, to `tracing`, or as metrics, whose table is in
//!   [`describe_metrics`](fn.describe_metrics.html).
//!
//! # Features
//!
//! | feature | brings | default |
//! |---|---|---|
//! | `macros` | the attribute and `#[derive(Transient)]` | yes |
//! | `renamed` | the macros find this crate where Cargo.toml renames it; else `crate = ::name` says so | no |
//! | `tokio` | async waits on tokio's timer; paused time is honoured | no |
//! | `smol` | async waits on smol's timer, outside of tokio | no |
//! | `retry-after` | reads the HTTP header `Retry-After` | no |
//! | `cancel` | `CancelToken`, which ends the waits of threads and tasks | no |
//! | `tokio-util` | its `CancellationToken` for async functions | no |
//! | `timer` | async waits anywhere, on a timer thread | no |
//! | `observer` | a function that sees the events of every call in the process | no |
//! | `tracing` | retries and ends of calls as events of `tracing`, and spans of attempts | no |
//! | `metrics` | counters, gauges and histograms through the crate `metrics` | no |
//! | `sites` | a list of all retried functions, and overrides of their policies by name, from the environment | no |
//! | `serde` | overrides from a configuration | no |
//! | `testing` | for tests: instant waits, no retries, pinned jitter, recorded calls, virtual time | no |
//!
//! An async function needs one of `tokio`, `smol` and `timer`, or `sleep = "path"`; a sync function blocks its
//! thread and needs none. With `tokio` alone, a wait outside of a tokio runtime panics and says
//! what to enable.

#![forbid(unsafe_code)]

mod attempts;
mod backoff;
mod breaker;
mod budget;
mod call;
#[cfg(feature = "cancel")]
mod cancel;
mod check;
mod clock;
mod decision;
mod drive;
mod event;
mod features;
#[cfg(feature = "retry-after")]
mod hint;
mod jitter;
mod limits;
#[cfg(feature = "metrics")]
mod metered;
mod number;
#[cfg(feature = "observer")]
mod observer;
mod outcome;
#[cfg(feature = "sites")]
mod overrides;
mod policy;
#[cfg(all(test, not(loom)))]
mod random;
mod recover;
#[cfg(feature = "sites")]
mod site;
mod sync;
#[cfg(feature = "testing")]
pub mod testing;
mod total;
#[cfg(feature = "tracing")]
mod traced;
mod transient;
mod wait;

pub use attempts::Attempt;
pub use backoff::Backoff;
pub use breaker::{BreakerState, CircuitBreaker, CircuitOpen, Permit};
pub use budget::RetryBudget;
#[cfg(feature = "cancel")]
pub use cancel::CancelToken;
pub use check::PolicyError;
pub use decision::Decision;
pub use drive::Retrier;
pub use event::{Cause, Event, Outcome, Step};
#[cfg(feature = "retry-after")]
pub use hint::{retry_after, retry_after_at};
pub use jitter::Jitter;
pub use limits::{AttemptTimeout, Failure, Reason};
#[cfg(feature = "metrics")]
pub use metered::describe_metrics;
#[cfg(feature = "observer")]
pub use observer::{ObserverAlreadySet, set_observer};
#[cfg(feature = "sites")]
pub use overrides::{OverrideError, Overrides};
pub use policy::Policy;
#[cfg(feature = "sites")]
pub use site::{Site, sites};
pub use transient::{Transient, find_source};

#[cfg(feature = "macros")]
pub use retry_macros::Transient;

/// Retries a function as its keys say.
///
/// ```
/// use retry_runtime::retryable;
///
/// #[derive(Debug, PartialEq)]
/// enum QueueError {
///     Full,
///     Closed,
/// }
///
/// /// Puts a job into a queue, with up to three calls. Here each refusal lets one job go.
/// #[retryable(base_ms = 5, on(QueueError::Full), clone(job))]
/// fn submit(queue: &mut Vec<String>, job: String) -> Result<usize, QueueError> {
///     match queue.len() {
///         0 => return Err(QueueError::Closed),
///         3.. => {
///             queue.pop();
///             return Err(QueueError::Full);
///         }
///         _ => queue.push(job),
///     }
///     Ok(queue.len())
/// }
///
/// let mut queue = vec![String::from("job"); 4];
/// assert_eq!(submit(&mut queue, "another".into()), Ok(3)); // at the third call
/// assert_eq!(submit(&mut Vec::new(), "first".into()), Err(QueueError::Closed)); // at the first
/// ```
#[cfg(feature = "macros")]
pub use retry_macros::retryable;

/// For the expansion of the attribute only: no promise is made about anything in here.
#[doc(hidden)]
pub mod __private {
    pub use std::boxed::Box;

    pub use core::{
        borrow::Borrow,
        clone::Clone,
        concat,
        convert::{Into, identity},
        matches,
        mem::drop,
        module_path,
        option::Option,
        pin::pin,
        result::Result,
    };

    pub use crate::{
        __retry as retry,
        attempts::{Attempts, Next, Wait},
        backoff::Backoff,
        breaker::{CircuitBreaker, CircuitOpen, Permit},
        budget::RetryBudget,
        call::{Call, Label, Level, Nobody, Notify, Seen, notifier},
        decision::Decision,
        jitter::Jitter,
        limits::{AttemptTimeout, Failure, Limits, Reason, Started},
        number::{
            ConstInteger, ConstJitter, Growth, Integer, const_count, const_millis, count, growth,
            jitter, millis, require, require_below, require_count, require_limit, require_millis,
            require_reachable,
        },
        outcome::{AnyValue, Fallible, Judged, decision, decision_by, holds},
        policy::Policy,
        recover::{Recover, recover, recover_by},
        transient::Transient,
        wait::{NoPause, block, is_over, no_pause, within},
    };

    #[cfg(any(feature = "tokio", feature = "smol", feature = "timer"))]
    pub use crate::wait::{pause, require_timer};

    #[cfg(feature = "observer")]
    pub use crate::event::{Erased, ShownAsError, ShownByDebug, ShownByDisplay, ShownByName};

    #[cfg(feature = "sites")]
    pub use {crate::site::Site, inventory::submit};

    #[cfg(feature = "tracing")]
    pub use {
        crate::traced::attempt_span,
        tracing::{Instrument, Span},
    };

    #[cfg(feature = "cancel")]
    pub use crate::cancel::{CancelBlocking, CancelTask, cancelled_during};

    /// By path, because a user's trait for all types may have a method of this name.
    #[inline]
    pub fn is_zero(wait: core::time::Duration) -> bool {
        wait.is_zero()
    }

    /// So that without the feature there is one error, which names it.
    #[cfg(not(feature = "cancel"))]
    pub trait CancelBlocking {
        /// Not without the feature.
        fn is_cancelled(&self) -> bool {
            false
        }
    }

    #[cfg(not(feature = "cancel"))]
    impl<T> CancelBlocking for T {}

    #[cfg(not(feature = "cancel"))]
    pub use CancelBlocking as CancelTask;

    /// Stands for a value where only its type matters.
    ///
    /// # Panics
    ///
    /// Always; the expansion never calls it.
    #[expect(clippy::panic, reason = "never called")]
    pub fn never<T>() -> T {
        panic!("only the type of this call is used")
    }

    /// How long an attempt may take: its own time, or what remains of the call's.
    pub fn limit(timeout_ms: u64, remaining: Option<core::time::Duration>) -> core::time::Duration {
        let timeout = core::time::Duration::from_millis(timeout_ms);
        remaining.map_or(timeout, |remaining| timeout.min(remaining))
    }

    /// The error of an attempt that took longer than `limit`.
    pub fn timed_out<E: From<AttemptTimeout>>(limit: core::time::Duration) -> E {
        AttemptTimeout::new(limit).into()
    }

    /// A budget given by value, reference or smart pointer, to which this call adds.
    pub fn earn(given: &impl Borrow<RetryBudget>) -> &RetryBudget {
        let budget = given.borrow();
        budget.deposit();
        budget
    }

    /// A breaker given by value, reference or smart pointer.
    pub fn breaker(given: &impl Borrow<CircuitBreaker>) -> &CircuitBreaker {
        let breaker = given.borrow();
        #[cfg(feature = "metrics")]
        crate::metered::breaker(breaker);
        breaker
    }

    /// Tells the breaker how an attempt ended. A value is a success of the other side, final or
    /// not; an error that is not retried does not count, where `on` can tell.
    pub fn record<T, E>(permit: Permit<'_>, outcome: &Result<T, E>, decision: Option<Decision>) {
        match (outcome, decision) {
            (Ok(_), _) => permit.success(),
            (Err(_), Some(Decision::Stop)) => permit.ignore(),
            (Err(_), _) => permit.failure(),
        }
    }

    /// The error of an attempt that the breaker refused.
    pub fn refused<E: From<CircuitOpen>>(open: CircuitOpen) -> E {
        open.into()
    }

    /// A copy of a policy given by value, reference or smart pointer.
    #[inline]
    pub fn policy(given: &impl Borrow<Policy>) -> Policy {
        *given.borrow()
    }
}

/// The examples of the README, compiled and run as tests.
#[cfg(all(doctest, feature = "macros", feature = "tokio"))]
#[doc = include_str!("../../README.md")]
mod readme {}

/// The same for the guide.
#[cfg(all(
    doctest,
    feature = "macros",
    feature = "retry-after",
    feature = "serde",
    feature = "testing",
    feature = "tokio"
))]
#[doc = include_str!("../../docs/guide.md")]
mod guide {}
