//! The two ways to wait: the thread blocks, or the task is woken by a timer.

use std::{
    future::{self, Future},
    mem,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use crate::attempts::Wait;

/// Blocks the thread.
#[inline]
pub fn block(wait: Wait) {
    if !wait.is_zero() {
        sleep(wait);
    }
}

#[cold]
#[inline(never)]
fn sleep(wait: Wait) {
    if !is_over(wait) {
        #[expect(clippy::disallowed_methods, reason = "the one place that blocks")]
        std::thread::sleep(wait.duration());
    }
}

/// Whether a thread need not block: there is no wait, or its time is virtual.
#[inline]
pub fn is_over(wait: Wait) -> bool {
    #[cfg(feature = "testing")]
    if crate::testing::passes(wait.duration()) {
        return true;
    }
    wait.is_zero()
}

/// The wait of a task that is over at once, in which it perhaps lets others run: so that an endless
/// retry without waits does not hold on to its thread.
pub const fn no_pause(wait: Wait) -> NoPause {
    NoPause {
        yields: wait.yields(),
    }
}

/// Made by [`no_pause`].
#[derive(Debug)]
pub struct NoPause {
    yields: bool,
}

impl Future for NoPause {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if mem::take(&mut self.yields) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

#[cfg(any(feature = "tokio", feature = "smol", feature = "timer"))]
pub use timer::{pause, require_timer};

#[cfg(any(feature = "tokio", feature = "smol", feature = "timer"))]
mod timer {
    #[cfg(any(feature = "smol", feature = "timer"))]
    use std::time::Duration;

    /// Checks that [`pause`] can wait here.
    ///
    /// # Panics
    ///
    /// If there is no timer: the only one enabled is tokio's, and the caller, the retried
    /// function `name`, does not run on tokio.
    pub fn require_timer(name: &str) {
        #[cfg(feature = "tokio")]
        let on_tokio = tokio::runtime::Handle::try_current().is_ok();
        #[cfg(not(feature = "tokio"))]
        let on_tokio = false;
        assert!(
            on_tokio || cfg!(any(feature = "smol", feature = "timer")),
            "`{name}` has to wait, but there is no timer: run it on tokio, \
             or enable the feature `smol` or `timer` of retry-runtime, or give `sleep = \"path\"`"
        );
    }

    /// Lets the task wait, on the timer of the runtime that polls it. Where tokio's is the only
    /// one, this is its future and not one around it, which would be larger.
    #[cfg(all(feature = "tokio", not(any(feature = "smol", feature = "timer"))))]
    pub use tokio::time::sleep as pause;

    /// Lets the task wait, on the timer of the runtime that polls it.
    #[cfg(any(feature = "smol", feature = "timer"))]
    pub async fn pause(wait: Duration) {
        #[cfg(feature = "tokio")]
        if tokio::runtime::Handle::try_current().is_ok() {
            return tokio::time::sleep(wait).await;
        }
        #[cfg(feature = "smol")]
        async_io::Timer::after(wait).await;
        #[cfg(not(feature = "smol"))]
        futures_timer::Delay::new(wait).await;
    }
}

/// The output of an attempt, unless the timer ends before it.
pub async fn within<F: Future>(
    mut attempt: Pin<&mut F>,
    timer: impl Future<Output = ()>,
) -> Option<F::Output> {
    let mut timer = pin!(unconstrained(timer));
    future::poll_fn(|context| {
        if let Poll::Ready(output) = attempt.as_mut().poll(context) {
            return Poll::Ready(Some(output));
        }
        timer.as_mut().poll(context).map(|()| None)
    })
    .await
}

// an attempt that has used up its share of tokio's budget must not keep the timer from being looked
// at
#[cfg(not(feature = "tokio"))]
use std::convert::identity as unconstrained;
#[cfg(feature = "tokio")]
use tokio::task::unconstrained;
