//! Which errors are worth another attempt, said by the error's type.

use std::{convert::Infallible, error::Error, io, rc::Rc, sync::Arc};

use crate::{decision::Decision, limits::AttemptTimeout};

/// An error that knows whether trying again can help. Used by `#[retryable]` without `on`.
///
/// Usually derived, with a mark on each variant:
///
/// ```
/// # #[cfg(feature = "macros")] {
/// use retry_runtime::Transient;
///
/// #[derive(Debug, Transient)]
/// enum ApiError {
///     #[transient]
///     Timeout,
///     #[permanent]
///     Unauthorized,
///     #[transient(inner)]
///     Io(std::io::Error),
/// }
///
/// assert!(ApiError::Timeout.is_transient());
/// assert!(!ApiError::Unauthorized.is_transient());
/// assert!(ApiError::Io(std::io::ErrorKind::ConnectionReset.into()).is_transient());
/// # }
/// ```
///
/// Written by hand where the answer depends on more than the variant:
///
/// ```
/// use retry_runtime::{Decision, Transient};
///
/// struct Status(u16);
///
/// impl Transient for Status {
///     fn decision(&self) -> Decision {
///         matches!(self.0, 408 | 429 | 500 | 502..=504).into()
///     }
/// }
/// # assert!(Status(503).is_transient() && !Status(404).is_transient());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which of its values are worth a retry",
    label = "not `Transient`",
    note = "name the errors to retry with `on = \"is_transient\"` or `on(MyError::Timeout)`, retry all with `on = \"any\"`, or mark its variants with `#[derive(Transient)]`"
)]
pub trait Transient {
    /// What to do after this error. A `bool` converts: `matches!(self, ..).into()`.
    fn decision(&self) -> Decision;

    /// Whether another attempt is worth it: the decision is any but [`Stop`](Decision::Stop).
    fn is_transient(&self) -> bool {
        self.decision() != Decision::Stop
    }
}

/// Retried are the kinds that tell of a state which passes by itself:
///
/// | kind | why |
/// |---|---|
/// | `ConnectionRefused` | a server that starts or restarts does not listen yet |
/// | `ConnectionReset`, `ConnectionAborted`, `BrokenPipe` | the connection broke; a new one may hold |
/// | `HostUnreachable`, `NetworkUnreachable`, `NetworkDown` | routes change and links come back |
/// | `TimedOut` | slow now does not mean slow later |
/// | `Interrupted` | a signal came in between; meant to be called again |
/// | `WouldBlock` | not ready yet |
/// | `ResourceBusy`, `ExecutableFileBusy`, `Deadlock` | somebody else holds it and will let go |
/// | `StaleNetworkFileHandle` | opening the file anew gives a fresh handle |
///
/// `UnexpectedEof` is not among them: it is a broken connection for a client, but a damaged file
/// for a reader. Neither are `AddrInUse`, `NotConnected` and `StorageFull`, which seldom pass
/// without somebody's doing. Use `on(...)` where they do.
///
/// An error made from an [`AttemptTimeout`] is not transient, though its kind is `TimedOut`: to retry
/// it has to be said.
///
/// Whether the operation may run twice is for the caller to know: after `TimedOut` or
/// `ConnectionReset` the other side may have done its work.
impl Transient for io::Error {
    fn decision(&self) -> Decision {
        use io::ErrorKind as Kind;
        if let Some(true) = self
            .get_ref()
            .map(<dyn Error + Send + Sync>::is::<AttemptTimeout>)
        {
            return Decision::Stop;
        }
        matches!(
            self.kind(),
            Kind::ConnectionRefused
                | Kind::ConnectionReset
                | Kind::ConnectionAborted
                | Kind::BrokenPipe
                | Kind::HostUnreachable
                | Kind::NetworkUnreachable
                | Kind::NetworkDown
                | Kind::TimedOut
                | Kind::Interrupted
                | Kind::WouldBlock
                | Kind::ResourceBusy
                | Kind::ExecutableFileBusy
                | Kind::Deadlock
                | Kind::StaleNetworkFileHandle
        )
        .into()
    }
}

impl Transient for Infallible {
    fn decision(&self) -> Decision {
        match *self {}
    }
}

macro_rules! as_its_target {
    ($($pointer:ty),+) => {
        $(
            /// As the error pointed to.
            impl<E: Transient + ?Sized> Transient for $pointer {
                fn decision(&self) -> Decision {
                    (**self).decision()
                }
            }
        )+
    };
}

as_its_target!(&E, Box<E>, Arc<E>, Rc<E>);

/// The first error of type `E` in a chain of causes: `error` itself, its source, and so on. Looks
/// into `Arc` and `Box`, and into the error that an `io::Error` was made from.
///
/// ```
/// use std::{error::Error, io};
/// use retry_runtime::{Transient, find_source};
///
/// #[derive(Debug)]
/// struct Context(io::Error);
/// # impl std::fmt::Display for Context {
/// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, "in context") }
/// # }
/// impl Error for Context {
///     fn source(&self) -> Option<&(dyn Error + 'static)> { Some(&self.0) }
/// }
///
/// // given as `on = lost_connection`
/// fn lost_connection(error: &Context) -> bool {
///     find_source::<io::Error>(error).is_some_and(Transient::is_transient)
/// }
/// assert!(lost_connection(&Context(io::ErrorKind::TimedOut.into())));
/// ```
pub fn find_source<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let mut next = Some(error);
    while let Some(error) = next {
        let behind_pointer = || {
            let shared = error.downcast_ref::<Arc<E>>().map(|error| &**error);
            shared.or_else(|| error.downcast_ref::<Box<E>>().map(|error| &**error))
        };
        if let Some(found) = error.downcast_ref().or_else(behind_pointer) {
            return Some(found);
        }
        // the source of an `io::Error` is that of the error inside it
        let inside = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        next = inside
            .map(|error| -> &(dyn Error + 'static) { error })
            .or_else(|| error.source());
    }
    None
}
