//! Atomics and locks of the state that calls share: std's, or those of loom when it checks models
//! of that state (`RUSTFLAGS="--cfg loom" cargo test -p retry-runtime --release --lib loom`).

#[cfg(not(all(test, loom)))]
pub(crate) use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

#[cfg(all(test, loom))]
pub(crate) use {
    loom::sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    std::sync::PoisonError,
};

/// A `const fn`; for loom, whose atomics are made at run time, an `fn`.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visible:vis fn $name:ident() -> $result:ty $body:block) => {
        #[cfg(not(all(test, loom)))]
        $(#[$attribute])*
        $visible const fn $name() -> $result $body

        #[cfg(all(test, loom))]
        $(#[$attribute])*
        $visible fn $name() -> $result $body
    };
}
pub(crate) use const_fn;

#[cfg(not(all(test, loom)))]
pub(crate) const fn zeros<const N: usize>() -> [AtomicU64; N] {
    [const { AtomicU64::new(0) }; N]
}

#[cfg(all(test, loom))]
pub(crate) fn zeros<const N: usize>() -> [AtomicU64; N] {
    std::array::from_fn(|_| AtomicU64::new(0))
}
