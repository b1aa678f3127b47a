//! `unsafe` functions stay unsafe, and their bodies do not become safe.

#![deny(warnings, unsafe_op_in_unsafe_fn)]

use retry_runtime::{Transient, retryable};
use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

#[derive(Debug, PartialEq, Transient)]
#[transient]
struct Busy;

/// Fails twice.
fn count(calls: &mut u32) -> Result<u32, Busy> {
    *calls += 1;
    if *calls < 3 { Err(Busy) } else { Ok(*calls) }
}

#[retryable(backoff = "none")]
unsafe fn without_an_unsafe_operation(calls: &mut u32) -> Result<u32, Busy> {
    count(calls)
}

#[retryable(backoff = "none")]
unsafe fn with_an_unsafe_operation(calls: *mut u32, mut fresh: u32) -> Result<u32, Busy> {
    fresh += 1;
    assert_eq!(fresh, 2);
    // SAFETY: the caller's
    count(unsafe { &mut *calls })
}

#[retryable(backoff = "none")]
async unsafe fn in_a_task(calls: &mut u32, text: String) -> Result<u32, Busy> {
    assert_eq!(text, "a");
    // SAFETY: calls only what is safe
    unsafe { without_an_unsafe_operation(calls) }
}

#[retryable(backoff = "none", until(0))]
unsafe extern "C" fn with_an_abi(calls: *mut u32) -> i32 {
    // SAFETY: the caller's
    count(unsafe { &mut *calls }).map_or(-1, |_| 0)
}

#[retryable(backoff = "none", until = |code| *code == 0)]
#[unsafe(no_mangle)]
extern "C" fn exported_and_retried(mut fresh: i32) -> i32 {
    static CALLS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    fresh += 1;
    assert_eq!(fresh, 1);
    let calls = CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    if calls < 2 { -1 } else { 0 }
}

/// # Safety
///
/// None is needed.
unsafe trait Service {
    /// # Safety
    ///
    /// None is needed.
    unsafe fn ask(&mut self) -> Result<u32, Busy>;

    /// # Safety
    ///
    /// None is needed.
    #[retryable(backoff = "none")]
    unsafe fn ask_by_default(&mut self) -> Result<u32, Busy> {
        // SAFETY: the caller's
        unsafe { self.ask() }
    }
}

// SAFETY: nothing is asked for
#[retryable(backoff = "none", max = 2)]
unsafe impl Service for u32 {
    unsafe fn ask(&mut self) -> Result<u32, Busy> {
        count(self)
    }
}

fn run<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
    }
}

fn main() {
    let pointer: unsafe fn(&mut u32) -> Result<u32, Busy> = without_an_unsafe_operation;
    let abi: unsafe extern "C" fn(*mut u32) -> i32 = with_an_abi;
    // SAFETY: the pointers are those of live references
    unsafe {
        assert_eq!(pointer(&mut 0), Ok(3));
        assert_eq!(with_an_unsafe_operation(&mut 0, 1), Ok(3));
        assert_eq!(run(in_a_task(&mut 0, String::from("a"))), Ok(3));
        assert_eq!(abi(&mut 0), 0);
        assert_eq!(0.ask(), Err(Busy));
        assert_eq!(0.ask_by_default(), Ok(3));
    }
    assert_eq!(exported_and_retried(0), 0);
}
