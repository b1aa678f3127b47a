//! The contenders, each in a module of its own.

use std::pin::Pin;

use crate::{Failed, MAX_CALLS, Outcome, Service};

mod bare;
mod by_hand;
mod retryable;

#[cfg(feature = "peers")]
mod peers;

/// Or why it can not.
pub type Can<T> = Result<T, &'static str>;
pub type Call = fn(&Service, u64) -> Outcome;
pub type Waiting = for<'a> fn(&'a Service, u64) -> Pin<Box<dyn Future<Output = Outcome> + 'a>>;

/// One way to call the body.
pub struct Contender {
    pub name: &'static str,
    pub blocking: Calls,
    pub task: Calls,
    /// The usual async function, on tokio's timer
    pub waiting: Can<Waiting>,
    pub sizes: Can<fn() -> Sizes>,
}

pub struct Calls {
    /// With the usual waits
    pub usual: Can<Call>,
    /// Without waits
    pub at_once: Can<Call>,
}

/// Of futures, in bytes.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// A body without arguments
    pub plain: usize,
    /// A body with two
    pub arguments: usize,
    /// The second, called from a body that is itself retried
    pub nested: usize,
}

/// How often the body fails, and what must come of it.
pub struct Case {
    pub name: &'static str,
    pub failures: u32,
}

pub const CASES: [Case; 3] = [
    Case {
        name: "success",
        failures: 0,
    },
    Case {
        name: "one failure",
        failures: 1,
    },
    Case {
        name: "exhausted",
        failures: MAX_CALLS,
    },
];

impl Case {
    /// The outcome of a call with this `id`, once it is retried.
    pub fn expected(&self, id: u64) -> Outcome {
        if self.failures < MAX_CALLS {
            Ok(id)
        } else {
            Err(Failed(503))
        }
    }
}

impl Calls {
    /// The call that is measured: where nothing fails, the usual one.
    pub fn of(&self, case: &Case) -> Can<Call> {
        if case.failures == 0 {
            self.usual
        } else {
            self.at_once
        }
    }

    #[cfg(feature = "peers")]
    const fn none(reason: &'static str) -> Self {
        Self {
            usual: Err(reason),
            at_once: Err(reason),
        }
    }
}

#[cfg(not(feature = "peers"))]
pub const ALL: &[Contender] = &[
    bare::CONTENDER,
    by_hand::CONTENDER,
    by_hand::LEFT_EARLY,
    retryable::CONTENDER,
    retryable::LEFT_EARLY,
];

#[cfg(feature = "peers")]
pub const ALL: &[Contender] = &[
    bare::CONTENDER,
    by_hand::CONTENDER,
    by_hand::LEFT_EARLY,
    retryable::CONTENDER,
    retryable::LEFT_EARLY,
    peers::backon::CONTENDER,
    peers::backon_macros::CONTENDER,
    peers::retry::CONTENDER,
    peers::backoff::CONTENDER,
    peers::tokio_retry::CONTENDER,
    peers::tokio_retry2::CONTENDER,
    peers::retry_if::CONTENDER,
    peers::mulligan::CONTENDER,
    peers::tower::CONTENDER,
];

/// The async functions of a module, as a contender has them.
macro_rules! task {
    ($usual:expr) => {
        task!(
            $usual,
            Err("waits on tokio's timer, a millisecond at least")
        )
    };
    ($usual:expr, at_once $at_once:expr) => {
        task!(
            $usual,
            Ok(|service, id| $crate::block_on($at_once(service, id)))
        )
    };
    ($usual:expr, $at_once:expr) => {
        $crate::contenders::Calls {
            usual: Ok(|service, id| $crate::block_on($usual(service, id))),
            at_once: $at_once,
        }
    };
}

macro_rules! sizes {
    ($plain:expr, $arguments:expr, $nested:expr) => {
        Ok(|| {
            let service = $crate::Service::default();
            $crate::contenders::Sizes {
                plain: size_of_val(&$plain()),
                arguments: size_of_val(&$arguments(&service, 1)),
                nested: size_of_val(&$nested(&service, 1)),
            }
        })
    };
}

pub(crate) use {sizes, task};
