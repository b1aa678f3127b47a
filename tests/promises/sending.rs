//! Promise 28: an async call is `Send` whenever the written body is.

use std::{cell::Cell, fmt, rc::Rc, time::Duration};

use retry_runtime::{Decision, Policy, retryable};

use crate::support::{Failed, Log, call, fail, need_send, record_async, succeed_at};

async fn elsewhere() {
    tokio::task::yield_now().await;
}

async fn measure(text: impl Fn(&str) -> usize) -> usize {
    elsewhere().await;
    text("abc")
}

#[derive(Clone, Default)]
struct Client {
    calls: u32,
    max: u8,
}

impl Client {
    fn may_retry(&self, _: &Failed) -> bool {
        self.max > 0
    }

    #[retryable(max = self.max, on = |error| self.may_retry(error), sleep = record_async)]
    async fn by_reference(&self, path: &str, body: String) -> Result<usize, Failed> {
        elsewhere().await;
        succeed_at(2).map(|_| path.len() + body.len())
    }

    #[retryable(max = self.max, sleep = record_async)]
    async fn by_mut_reference(&mut self, bytes: &mut [u8]) -> Result<usize, Failed> {
        self.calls += 1;
        elsewhere().await;
        bytes[0] += 1;
        succeed_at(2).map(|_| bytes.len())
    }

    #[retryable(clone(self), sleep = record_async)]
    async fn by_value(self, mut n: usize, numbers: Vec<usize>) -> Result<usize, Failed> {
        elsewhere().await;
        n += 1;
        let Self { calls, .. } = self;
        succeed_at(2).map(|_| n + calls as usize + numbers.len())
    }
}

#[retryable(sleep = record_async)]
async fn generic<'a, T, U>(a: &'a T, b: U, more: &[&(dyn fmt::Debug + Sync)]) -> Result<&'a T, U>
where
    T: Sync + ?Sized,
    U: retry_runtime::Transient + Clone + Send + Sync,
{
    elsewhere().await;
    if call() < 2 {
        return Err(b.clone());
    }
    assert_eq!(format!("{more:?}"), "[7]");
    Ok(a)
}

#[retryable(sleep = record_async)]
async fn higher_ranked(texts: &[String]) -> Result<usize, Failed> {
    let mut sum = measure(|text| text.len()).await;
    for text in texts
        .iter()
        .map(String::as_str)
        .filter(|text| !text.is_empty())
    {
        elsewhere().await;
        sum += text.len();
    }
    succeed_at(2).map(|_| sum)
}

#[retryable(sleep = record_async)]
async fn closures(
    mut f: impl FnMut() -> u32 + Send,
    g: &mut (dyn FnMut() -> u32 + Send),
) -> Result<u32, Failed> {
    elsewhere().await;
    let sum = f() + g();
    succeed_at(2).map(|_| sum)
}

#[retryable(max = 2, sleep = record_async)]
async fn recursive(depth: u32) -> Result<u32, Failed> {
    if depth == 0 {
        return fail();
    }
    Box::pin(recursive(depth - 1)).await
}

#[retryable(base_ms = 1)]
async fn on_the_timer(values: &mut Vec<u32>) -> Result<u32, Failed> {
    elsewhere().await;
    values.push(0);
    succeed_at(2)
}

#[retryable(until(Some(_)), on = |_| Decision::RetryAfter(Duration::ZERO), sleep = record_async)]
async fn polled() -> Result<Option<u32>, Failed> {
    elsewhere().await;
    succeed_at(2).map(Some)
}

#[tokio::test]
async fn every_future_is_send_when_the_body_is() {
    let mut client = Client { calls: 0, max: 3 };
    let _log = Log::start();
    let called = need_send(client.by_reference("ab", "c".into()));
    assert_eq!(called.await, Ok(3));
    let (_log, mut bytes) = (Log::start(), [0]);
    assert_eq!(need_send(client.by_mut_reference(&mut bytes)).await, Ok(1));
    assert_eq!((client.calls, bytes), (2, [2]));
    let _log = Log::start();
    assert_eq!(need_send(client.by_value(1, vec![0])).await, Ok(5));
    let _log = Log::start();
    let called = need_send(generic("a", std::sync::Arc::new(Failed(0)), &[&7]));
    assert!(called.await.is_ok());
    let _log = Log::start();
    assert_eq!(need_send(higher_ranked(&["ab".into()])).await, Ok(5));
    let (_log, mut n) = (Log::start(), 0);
    let mut counts = || {
        n += 1;
        n
    };
    assert_eq!(need_send(closures(|| 1, &mut counts)).await, Ok(3));
    let log = Log::start();
    assert_eq!(need_send(recursive(2)).await, Err(Failed(8)));
    assert_eq!(log.calls(), 8);
    let (_log, mut values) = (Log::start(), Vec::new());
    assert_eq!(need_send(on_the_timer(&mut values)).await, Ok(2));
    let _log = Log::start();
    assert_eq!(need_send(polled()).await, Ok(Some(2)));
}

#[tokio::test]
async fn a_spawned_call_runs() {
    let spawned = tokio::spawn(async {
        let _log = Log::start();
        let client = Client { calls: 0, max: 3 };
        client.by_value(1, vec![0]).await
    });
    assert_eq!(spawned.await.unwrap(), Ok(3));
}

/// Made and looked at, but not held while anything is awaited
#[retryable(on = "any", base_ms = 1)]
async fn error_of_one_thread() -> Result<u32, Rc<str>> {
    elsewhere().await;
    succeed_at(3).map_err(|failed| failed.to_string().into())
}

#[retryable(until(n if n.get() == 3), base_ms = 1)]
async fn value_of_one_thread() -> Result<Rc<Cell<u32>>, Failed> {
    elsewhere().await;
    Ok(Rc::new(Cell::new(call())))
}

#[retryable(on = "any", base_ms = 1)]
async fn boxed_error() -> Result<u32, Box<dyn std::error::Error>> {
    elsewhere().await;
    Ok(succeed_at(3)?)
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_not_send_is_gone_before_the_wait() {
    let _log = Log::start();
    assert_eq!(need_send(error_of_one_thread()).await, Ok(3));
    let _log = Log::start();
    assert_eq!(need_send(value_of_one_thread()).await.unwrap().get(), 3);
    let _log = Log::start();
    assert_eq!(need_send(boxed_error()).await.unwrap(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_retried_closure_is_send_when_it_is() {
    let policy = Policy::new();
    let (_log, mut calls) = (Log::start(), 0);
    let retried = policy.retry_async(|| {
        calls += 1;
        async {
            elsewhere().await;
            succeed_at(2)
        }
    });
    assert_eq!(need_send(retried).await, Ok(2));
    let _log = Log::start();
    let judged = policy.on(|_: &Failed| true);
    let retried = judged.retry_async(|| async { succeed_at(2) });
    assert_eq!(need_send(retried).await, Ok(2));
}

/// Does not compile yet: an owned argument is lent to the attempts, and `&Cell` is not `Send`. The
/// same for `Box<dyn Fn() + Send>`, `impl AsyncFn + Send`, `mpsc::Receiver`, `dyn Stream + Send`.
#[cfg(any())]
mod owned_but_not_sync {
    use super::*;

    async fn plain(count: Cell<u32>, call: Box<dyn Fn() -> u32 + Send>) -> Result<u32, Failed> {
        count.set(1);
        elsewhere().await;
        Ok(count.get() + call())
    }

    #[retryable(sleep = record_async)]
    async fn lent(count: Cell<u32>, call: Box<dyn Fn() -> u32 + Send>) -> Result<u32, Failed> {
        count.set(1);
        elsewhere().await;
        Ok(count.get() + call())
    }

    #[retryable(clone(count), sleep = record_async)]
    async fn cloned(count: Cell<u32>) -> Result<u32, Failed> {
        count.set(1);
        elsewhere().await;
        Ok(count.get())
    }

    #[tokio::test]
    async fn an_owned_argument_need_not_be_sync() {
        assert_eq!(need_send(plain(Cell::new(0), Box::new(|| 1))).await, Ok(2));
        assert_eq!(need_send(lent(Cell::new(0), Box::new(|| 1))).await, Ok(2));
        assert_eq!(need_send(cloned(Cell::new(0))).await, Ok(1));
    }
}

/// Does not compile yet: E0597, `Retrier::retry_async` borrows what `on` gives.
#[cfg(any())]
#[tokio::test]
async fn a_retried_closure_with_a_predicate_can_be_spawned() {
    let _log = Log::start();
    let judged = Policy::new().on(|_: &Failed| true);
    let spawned = tokio::spawn(judged.retry_async(|| async { succeed_at(1) }));
    assert_eq!(spawned.await.unwrap(), Ok(1));
}
