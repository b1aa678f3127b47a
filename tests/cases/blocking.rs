//! Waits that hold up the thread of others.

use std::time::Duration;

use retry_runtime::retryable;
use tokio::time::Instant;

use crate::support::{Failed, Log, fail, succeed_at};

#[retryable(max = 2, base_ms = 1000, jitter = "none")]
async fn one_second() -> Result<u32, Failed> {
    succeed_at(2)
}

/// C107, xmtp/libxmtp#1032, ihrwein/backoff#71, informalsystems/hermes wait_for_block_commits.
/// The runtime has one thread: if the wait held it, nothing would tick.
#[tokio::test(start_paused = true)]
async fn other_tasks_run_while_an_async_call_waits() {
    let _log = Log::start();
    let ticks = tokio::spawn(async {
        let mut ticks = Vec::new();
        let mut interval = tokio::time::interval(Duration::from_millis(100));
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(1) {
            interval.tick().await;
            ticks.push(start.elapsed().as_millis());
        }
        ticks
    });
    let start = Instant::now();
    assert_eq!(one_second().await, Ok(2));
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    assert!(ticks.await.unwrap().into_iter().eq((0..=1000).step_by(100)));
}

#[retryable(max = 1000, backoff = "none")]
async fn without_a_pause() -> Result<u32, Failed> {
    fail()
}

/// C107, xmtp/libxmtp#1032: nor does a call that was asked not to wait at all.
#[tokio::test]
async fn other_tasks_run_after_some_attempts_without_a_wait() {
    let log = Log::start();
    let calls_when_the_other_task_ran = tokio::spawn(async { Log::calls_so_far() });
    assert!(without_a_pause().await.is_err());
    assert_eq!(log.calls(), 1000);
    assert_eq!(calls_when_the_other_task_ran.await.unwrap(), 32);
}
