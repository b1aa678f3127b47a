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

/// On a cache line of its own, because it is written often and what is beside it is not.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct OwnLine<T>(pub(crate) T);

/// A number per thread, to spread threads over places that they write to.
#[inline]
pub(crate) fn thread_number() -> usize {
    THREAD.with(|number| *number)
}

#[cfg(not(all(test, loom)))]
thread_local! {
    static THREAD: usize = {
        static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

#[cfg(all(test, loom))]
loom::thread_local! {
    static THREAD: usize = {
        // alike in each run of a model: the threads that it starts, and the one that starts them
        usize::from(format!("{:?}", loom::thread::current().id()) != "ThreadId(0)")
    };
}

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

#[cfg(not(all(test, loom)))]
pub(crate) const fn own_lines<const N: usize>() -> [OwnLine<AtomicU64>; N] {
    [const { OwnLine(AtomicU64::new(0)) }; N]
}

#[cfg(all(test, loom))]
pub(crate) fn own_lines<const N: usize>() -> [OwnLine<AtomicU64>; N] {
    std::array::from_fn(|_| OwnLine(AtomicU64::new(0)))
}
