//! Monotonic time as a number, which an atomic can hold.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

/// Time begins this long before the clock is first read: the paused clock of a tokio test may have
/// stopped before another test read the time, and must not be cut off at 0.
const EARLIER: Duration = Duration::from_secs(24 * 60 * 60);

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Nanoseconds since the process first asked, plus a day; saturates after 584 years.
///
/// Never goes back within one clock. Two tokio runtimes, one of them paused, have two clocks: state
/// that both use sees time jump, so that readers compare with saturating arithmetic.
pub(crate) fn nanos() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    #[cfg(feature = "testing")]
    let now = crate::testing::now().unwrap_or_else(now);
    #[cfg(not(feature = "testing"))]
    let now = now();
    let origin = *ORIGIN.get_or_init(|| now.checked_sub(EARLIER).unwrap_or(now));
    let since = now.saturating_duration_since(origin);
    // in one word: `as_nanos` takes two, and this is read at every call
    let seconds = since.as_secs().saturating_mul(NANOS_PER_SECOND);
    seconds.saturating_add(since.subsec_nanos().into())
}

/// Outside of a runtime tokio's clock is that of std.
#[cfg(feature = "tokio")]
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(not(feature = "tokio"))]
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the clock"
)]
fn now() -> Instant {
    Instant::now()
}
