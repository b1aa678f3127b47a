//! What one observer sees of calls that run at the same time, and inside one another.

use std::time::Duration;

use retry_runtime::{Outcome, Reason, retryable, testing};
use tokio::join;

#[retryable(max = 3, base_ms = 100, jitter = "none", on = "any")]
async fn task(name: &str, failures: &mut u32) -> Result<(), String> {
    match failures.checked_sub(1) {
        Some(left) => {
            *failures = left;
            Err(format!("{name} {left}"))
        }
        None => Ok(()),
    }
}

/// One list of events is enough to tell what happened in each of them.
#[tokio::test(start_paused = true)]
async fn a_single_observer_can_rebuild_each_call() {
    let recording = testing::on_this_thread::record();
    let (mut one, mut two, mut nine) = (1, 2, 9);
    let (a, b, c) = join!(
        task("a", &mut one),
        task("b", &mut two),
        task("c", &mut nine)
    );
    assert!(a.is_ok() && b.is_ok() && c.is_err());
    let calls = recording.calls_of("order::task");
    let seen: Vec<_> = calls
        .iter()
        .map(|call| (call.errors(), call.outcome()))
        .collect();
    let success = Some(Outcome::Success);
    let used_up = Some(Outcome::Failure(Reason::AttemptsUsedUp));
    assert_eq!(
        seen,
        [
            (vec!["a 0"], success),
            (vec!["b 1", "b 0"], success),
            (vec!["c 8", "c 7", "c 6"], used_up),
        ]
    );
    assert_eq!(calls[1].waits(), [100, 200].map(Duration::from_millis));
}

/// Promise 20: events name the function that they belong to.
#[test]
fn nested_calls_are_told_apart_by_name() {
    #[retryable(max = 3, backoff = "none", on = "any", name = "outer")]
    fn outer(calls: &mut u32) -> Result<(), &'static str> {
        inner(calls)
    }
    #[retryable(max = 3, backoff = "none", on = "any", name = "inner")]
    fn inner(calls: &mut u32) -> Result<(), &'static str> {
        *calls += 1;
        Err("down")
    }
    let recording = testing::on_this_thread::record();
    let mut calls = 0;
    outer(&mut calls).unwrap_err();
    assert_eq!(calls, 9);
    let inner = recording.calls_of("inner");
    assert_eq!((inner.len(), recording.calls_of("outer").len()), (3, 1));
    assert!(inner.iter().all(|call| call.attempts() == 3));
}
