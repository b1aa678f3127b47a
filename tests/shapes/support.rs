//! What the shapes share: an operation that fails twice and remembers what it saw.

use retry_runtime::Transient;
use std::{
    error::Error,
    fmt::{self, Debug},
    io,
    sync::{Mutex, PoisonError},
};

/// The failure of the first two calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Transient)]
#[transient]
pub struct Busy;

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("busy")
    }
}

impl Error for Busy {}

impl From<Busy> for io::Error {
    fn from(Busy: Busy) -> Self {
        io::ErrorKind::TimedOut.into()
    }
}

/// What each call so far saw of its arguments.
#[derive(Debug, Default)]
pub struct Calls(Mutex<Vec<String>>);

impl Calls {
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Fails on the first two calls. Later ones get their number.
    pub fn fail_twice(&self, saw: impl Debug) -> Result<u32, Busy> {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(format!("{saw:?}"));
        match u32::try_from(calls.len()) {
            Ok(1 | 2) | Err(_) => Err(Busy),
            Ok(number) => Ok(number),
        }
    }

    /// There were three calls, and each saw this.
    #[track_caller]
    pub fn each_saw(&self, expected: impl Debug) {
        self.saw([&expected, &expected, &expected]);
    }

    /// There were as many calls, and they saw this.
    #[track_caller]
    pub fn saw(&self, expected: impl IntoIterator<Item: Debug>) {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|seen| format!("{seen:?}"))
            .collect();
        assert_eq!(*self.0.lock().unwrap(), expected, "what the calls saw");
    }
}

/// Runs a future that may move between threads.
pub fn run<F: Future + Send>(future: F) -> F::Output {
    run_here(future)
}

/// Runs a future that need not be `Send`.
pub fn run_here<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(future)
}
