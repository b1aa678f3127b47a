//! Ending a call from outside.

use std::{
    future::{self, Future},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

use event_listener::{Event, Listener as _, listener};

use crate::{attempts::Wait, wait::is_over};

/// Ends the waiting of retried calls, of threads and tasks alike.
///
/// A token is cheap to clone; all clones are the same token. Cancelling is for good.
///
/// ```
/// use retry_runtime::{CancelToken, retryable};
/// use std::{io, thread, time::Duration};
///
/// #[retryable(base_ms = 30_000, jitter = "none", cancel = shutdown)]
/// fn connect(shutdown: &CancelToken) -> io::Result<()> {
///     Err(io::ErrorKind::ConnectionRefused.into())
/// }
///
/// let shutdown = CancelToken::new();
/// thread::scope(|scope| {
///     let call = scope.spawn(|| connect(&shutdown));
///     shutdown.cancel();
///     // at once, and not after half a minute
///     assert_eq!(call.join().unwrap().unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
/// });
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    changed: Event,
}

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the waits of all calls that were given this token, now and later.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        self.0.changed.notify(usize::MAX);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// How many waits listen at this moment.
    pub fn listeners(&self) -> usize {
        self.0.changed.total_listeners()
    }
}

/// What a blocking function can be cancelled by.
#[diagnostic::on_unimplemented(
    message = "a blocking function can not be cancelled by a `{Self}`",
    note = "`cancel` expects a `retry_runtime::CancelToken`"
)]
pub trait CancelBlocking {
    /// Whether no further attempt is wanted.
    fn is_cancelled(&self) -> bool;

    /// Blocks the thread, at most for `wait`; says whether the call was cancelled meanwhile.
    fn wait(&self, wait: Wait) -> bool;
}

/// What an async function can be cancelled by.
#[diagnostic::on_unimplemented(
    message = "an async function can not be cancelled by a `{Self}`",
    note = "`cancel` expects a `retry_runtime::CancelToken` or, with feature `tokio-util`, a `tokio_util::sync::CancellationToken`"
)]
pub trait CancelTask {
    /// Whether no further attempt is wanted.
    fn is_cancelled(&self) -> bool;

    /// Ends when the call is cancelled.
    fn cancelled(&self) -> impl Future<Output = ()> + Send;
}

impl CancelBlocking for CancelToken {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled()
    }

    fn wait(&self, wait: Wait) -> bool {
        listener!(self.0.changed => listener);
        // a token cancelled before there was a listener tells nobody
        if !self.is_cancelled() && !is_over(wait) {
            listener.wait_timeout(wait.duration());
        }
        self.is_cancelled()
    }
}

impl CancelTask for CancelToken {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled()
    }

    async fn cancelled(&self) {
        listener!(self.0.changed => listener);
        if !self.is_cancelled() {
            listener.await;
        }
    }
}

#[cfg(feature = "tokio-util")]
impl CancelTask for tokio_util::sync::CancellationToken {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled()
    }

    async fn cancelled(&self) {
        self.cancelled().await;
    }
}

macro_rules! as_its_target {
    ($($pointer:ty),+) => {
        $(
            impl<C: CancelBlocking + ?Sized> CancelBlocking for $pointer {
                fn is_cancelled(&self) -> bool {
                    (**self).is_cancelled()
                }

                fn wait(&self, wait: Wait) -> bool {
                    (**self).wait(wait)
                }
            }

            impl<C: CancelTask + ?Sized + Sync + Send> CancelTask for $pointer {
                fn is_cancelled(&self) -> bool {
                    (**self).is_cancelled()
                }

                fn cancelled(&self) -> impl Future<Output = ()> + Send {
                    (**self).cancelled()
                }
            }
        )+
    };
}

as_its_target!(&C, Arc<C>);

/// Waits, or less where the call is cancelled; says whether it was.
pub async fn cancelled_during(cancel: &impl CancelTask, wait: impl Future<Output = ()>) -> bool {
    let mut cancelled = pin!(cancel.cancelled());
    let mut wait = pin!(wait);
    future::poll_fn(|context| {
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        wait.as_mut().poll(context).map(|()| false)
    })
    .await
}
