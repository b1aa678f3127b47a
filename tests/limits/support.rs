//! What the modules share: an error, attempts that are noted, and waits that are noted instead of
//! slept.

use std::{
    cell::RefCell,
    fmt,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use retry_runtime::{AttemptTimeout, CircuitOpen, Failure, Reason, Transient};
use tokio::time::Instant;

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// How a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Transient)]
pub enum Failed {
    /// In the attempt of this number
    #[transient]
    Busy(u32),
    /// In the attempt of this number, and will again
    #[permanent]
    Wrong(u32),
    /// After this time
    #[permanent]
    TimedOut(Duration),
    /// By a breaker that lets no call through for this time
    #[permanent]
    Open(Option<Duration>),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(attempt) | Self::Wrong(attempt) => write!(f, "attempt {attempt} failed"),
            Self::TimedOut(limit) => write!(f, "no answer in {limit:?}"),
            Self::Open(_) => f.write_str("not sent"),
        }
    }
}

impl std::error::Error for Failed {}

impl From<AttemptTimeout> for Failed {
    fn from(timeout: AttemptTimeout) -> Self {
        Self::TimedOut(timeout.limit())
    }
}

impl From<CircuitOpen> for Failed {
    fn from(open: CircuitOpen) -> Self {
        Self::Open(open.retry_after())
    }
}

/// How a call ended: why, after how many attempts and how long.
pub type End = (Reason, u32, Duration);

/// What a call did, by tokio's clock.
#[derive(Debug)]
pub struct Log {
    start: Instant,
    begun: Mutex<Vec<Duration>>,
    end: Mutex<Option<End>>,
    held: AtomicUsize,
}

impl Log {
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
            begun: Mutex::default(),
            end: Mutex::default(),
            held: AtomicUsize::new(0),
        }
    }

    /// An attempt begins. Gives its number: 1, 2, ...
    pub fn attempt(&self) -> u32 {
        let mut begun = self.begun.lock().unwrap();
        begun.push(self.start.elapsed());
        begun.len().try_into().unwrap()
    }

    /// An attempt that fails.
    pub fn fail<T>(&self) -> Result<T, Failed> {
        Err(Failed::Busy(self.attempt()))
    }

    /// An attempt that fails, unless it is number `success` or later.
    pub fn succeed_at(&self, success: u32) -> Result<u32, Failed> {
        match self.attempt() {
            number if number < success => Err(Failed::Busy(number)),
            number => Ok(number),
        }
    }

    /// For `recover_all`: notes how the call ended, and changes nothing.
    pub fn end<T, E>(&self, failure: Failure<E>) -> Result<T, E> {
        let end = (failure.reason, failure.attempts, failure.elapsed);
        let before = self.end.lock().unwrap().replace(end);
        assert_eq!(before, None, "a call ends once");
        Err(failure.error)
    }

    /// Something that an attempt holds until it ends or is dropped.
    pub fn hold(&self) -> Held<'_> {
        self.held.fetch_add(1, Ordering::Relaxed);
        Held(self)
    }

    /// How many attempts hold something now.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    pub fn calls(&self) -> usize {
        self.begun.lock().unwrap().len()
    }

    /// When each attempt began.
    pub fn begun(&self) -> Vec<Duration> {
        self.begun.lock().unwrap().clone()
    }

    pub fn begun_ms(&self) -> Vec<u128> {
        self.begun().iter().map(Duration::as_millis).collect()
    }

    /// Why the call failed, after how many attempts.
    pub fn reason(&self) -> Option<(Reason, u32)> {
        let end = *self.end.lock().unwrap();
        end.map(|(reason, attempts, _)| (reason, attempts))
    }

    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// See [`Log::hold`].
pub struct Held<'a>(&'a Log);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.held.fetch_sub(1, Ordering::Relaxed);
    }
}

thread_local! {
    static WAITS: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
}

/// For `sleep = note`.
pub fn note(wait: Duration) {
    WAITS.with_borrow_mut(|waits| waits.push(wait));
}

/// For `sleep = note_task`.
pub async fn note_task(wait: Duration) {
    note(wait);
}

/// The waits that were noted on this thread since this was last asked.
pub fn noted() -> Vec<Duration> {
    WAITS.take()
}

/// The caller's part of promise 28.
pub fn need_send<T: Send>(value: T) -> T {
    value
}
