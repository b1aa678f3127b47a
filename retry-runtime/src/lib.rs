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
//!
//! # Features
//!
//! | feature | brings | default |
//! |---|---|---|
//! | `macros` | the attribute and `#[derive(Transient)]` | yes |
//! | `renamed` | the macros find this crate where Cargo.toml renames it; else `crate = ::name` says so | no |
//! | `tokio` | async waits on tokio's timer; paused time is honoured | no |
//! | `smol` | async waits on smol's timer, outside of tokio | no |
//! | `timer` | async waits anywhere, on a timer thread | no |
//!
//! An async function needs one of the last three, or `sleep = "path"`; a sync function blocks its
//! thread and needs none. With `tokio` alone, a wait outside of a tokio runtime panics and says
//! what to enable.

#![forbid(unsafe_code)]

mod attempts;
mod backoff;
mod decision;
mod drive;
mod jitter;
mod number;
mod outcome;
mod policy;
mod transient;
mod wait;

pub use backoff::Backoff;
pub use decision::Decision;
pub use drive::Retrier;
pub use jitter::Jitter;
pub use policy::{Policy, PolicyError};
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
        matches, module_path,
        option::Option,
        result::Result,
    };

    pub use crate::{
        __retry as retry,
        attempts::{Attempts, Next},
        backoff::Backoff,
        decision::Decision,
        jitter::Jitter,
        number::{
            ConstJitter, Integer, const_count, const_millis, count, jitter, millis, require,
            require_count, require_millis,
        },
        outcome::{AnyValue, Fallible, Judged, decision, decision_by, holds},
        policy::Policy,
        transient::Transient,
        wait::block,
    };

    #[cfg(any(feature = "tokio", feature = "smol", feature = "timer"))]
    pub use crate::wait::{pause, require_timer, yield_now};

    /// Stands for a value where only its type matters.
    ///
    /// # Panics
    ///
    /// Always; the expansion never calls it.
    #[expect(clippy::panic, reason = "never called")]
    pub fn never<T>() -> T {
        panic!("only the type of this call is used")
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
