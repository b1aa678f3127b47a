//! Promise 29: other attributes on the same function.

use std::{
    cell::RefCell,
    pin::Pin,
    sync::{Mutex, PoisonError},
};

use retry_runtime::retryable;

use crate::support::{
    Failed, Log, call, fail, need_send, poll_to_end, record, record_async, succeed_at,
};

/// Documented.
#[retryable(sleep = record)]
#[inline(never)]
#[cold]
#[must_use = "kept"]
#[allow(unused_variables, reason = "kept")]
#[cfg(test)]
fn below(unused: u32) -> Result<u32, Failed> {
    succeed_at(3)
}

/// Documented.
#[inline]
#[must_use = "kept"]
#[expect(unused_variables, reason = "kept")]
#[cfg_attr(all(), deprecated = "kept")]
#[retryable(sleep = record_async)]
async fn above(unused: u32) -> Result<u32, Failed> {
    succeed_at(3)
}

#[retryable(sleep = record)]
#[cfg(not(test))]
fn below() -> Result<u32, Failed> {
    compile_error!("not kept")
}

#[cfg_attr(test, retryable(sleep = record))]
fn by_cfg(
    #[cfg(test)] mut number: u32,
    #[cfg(not(test))] missing: Missing,
    #[allow(unused_variables)] unused: u32,
) -> Result<u32, Failed> {
    number += 1;
    succeed_at(3).map(|_| number)
}

#[retryable(sleep = record)]
fn inner_attributes() -> Result<u32, Failed> {
    #![allow(unused_variables)]
    #![expect(unused_mut, reason = "kept")]
    let mut unused = 1;
    succeed_at(3)
}

#[tokio::test]
async fn attributes_are_kept_on_either_side() {
    let _log = Log::start();
    assert_eq!(below(0), Ok(3));
    let _log = Log::start();
    #[expect(deprecated, reason = "kept")]
    let called = above(0);
    assert_eq!(called.await, Ok(3));
    let _log = Log::start();
    assert_eq!(by_cfg(7, 0), Ok(8));
    let _log = Log::start();
    assert_eq!(inner_attributes(), Ok(3));
}

#[test]
#[retryable(sleep = record)]
fn a_test_that_is_retried() -> Result<(), Failed> {
    succeed_at(2).map(|_| ())
}

#[retryable(sleep = record)]
#[test]
fn a_test_that_is_retried_below() -> Result<(), Failed> {
    succeed_at(2).map(|_| ())
}

/// The runtime is made by each attempt, and the thread waits in between.
#[tokio::test(start_paused = true)]
#[retryable(sleep = record)]
async fn a_tokio_test_that_is_retried() -> Result<(), Failed> {
    tokio::task::yield_now().await;
    succeed_at(2).map(|_| ())
}

/// The runtime is made once, and its clock moves on.
#[retryable]
#[tokio::test(start_paused = true)]
async fn a_tokio_test_that_is_retried_below() -> Result<(), Failed> {
    tokio::task::yield_now().await;
    succeed_at(2).map(|_| ())
}

mod by_async_trait {
    use super::*;

    #[async_trait::async_trait]
    trait Fetch {
        async fn by_reference(&self, path: &str, mut n: usize) -> Result<usize, Failed>;
        async fn by_mut(&mut self, (a, b): (u32, String)) -> Result<usize, Failed>;
        async fn consumed(self, body: String) -> Result<String, Failed>
        where
            Self: Sized;

        #[retryable(sleep = record_async)]
        async fn by_default(&mut self) -> Result<u32, Failed> {
            succeed_at(3)
        }

        #[retryable(sleep = record_async)]
        async fn without_self(n: u32) -> Result<u32, Failed>
        where
            Self: Sized,
        {
            succeed_at(n)
        }
    }

    #[derive(Clone, Default)]
    struct Client {
        attempts: u32,
        max: u32,
    }

    #[async_trait::async_trait]
    impl Fetch for Client {
        #[retryable(max = self.max, on = |_| self.max > 1, sleep = record_async)]
        async fn by_reference(&self, path: &str, mut n: usize) -> Result<usize, Failed> {
            n += path.len();
            tokio::task::yield_now().await;
            succeed_at(3).map(|_| n)
        }

        #[retryable(sleep = record_async)]
        async fn by_mut(&mut self, (a, b): (u32, String)) -> Result<usize, Failed> {
            self.attempts += a;
            if call() < 2 {
                return Err(Failed(0));
            }
            succeed_at(4)?;
            Ok(b.len())
        }

        #[retryable(clone(self, body), sleep = record_async)]
        async fn consumed(self, body: String) -> Result<String, Failed> {
            let Self { max, .. } = self;
            succeed_at(3 + max).map(|_| body)
        }
    }

    #[tokio::test]
    async fn methods_of_an_async_trait_are_retried() {
        let mut client = Client {
            attempts: 0,
            max: 3,
        };
        let _log = Log::start();
        let called = need_send(client.by_reference("ab", 1));
        assert_eq!(called.await, Ok(3));
        let log = Log::start();
        let called = need_send(client.by_mut((1, "abc".into())));
        assert_eq!(called.await, Ok(3));
        assert_eq!((client.attempts, log.waits().len()), (3, 2));
        let _log = Log::start();
        assert_eq!(client.by_default().await, Ok(3));
        let _log = Log::start();
        assert_eq!(Client::without_self(2).await, Ok(2));
        let _log = Log::start();
        client.max = 0;
        let called = need_send(client.consumed("body".into()));
        assert_eq!(called.await, Ok("body".into()));
    }
}

mod returned_futures {
    use super::*;

    type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

    #[expect(clippy::manual_async_fn, reason = "what is tested")]
    #[retryable(sleep = record_async)]
    fn opaque(n: u32) -> impl Future<Output = Result<u32, Failed>> + Send {
        async move {
            tokio::task::yield_now().await;
            succeed_at(3).map(|_| n)
        }
    }

    #[retryable(sleep = record_async)]
    fn boxed(text: &str) -> BoxFuture<'_, Result<usize, Failed>> {
        let more = 1;
        Box::pin(async move { succeed_at(3).map(|_| text.len() + more) })
    }

    async fn plain(n: u32) -> Result<u32, Failed> {
        succeed_at(3).map(|_| n)
    }

    #[retryable(sleep = record_async)]
    fn delegated(n: u32) -> impl Future<Output = Result<u32, Failed>> {
        plain(n)
    }

    #[retryable(sleep = record_async)]
    fn either(n: u32) -> Pin<Box<dyn Future<Output = Result<u32, Failed>>>> {
        if n == 0 {
            Box::pin(plain(0))
        } else {
            Box::pin(async move { plain(n).await })
        }
    }

    #[retryable(sleep = record_async)]
    fn early(n: u32) -> Pin<Box<dyn Future<Output = Result<u32, Failed>>>> {
        if n == 0 {
            return Box::pin(plain(0));
        }
        Box::pin(async move { plain(n).await })
    }

    #[tokio::test]
    async fn the_future_that_is_returned_is_retried() {
        let _log = Log::start();
        assert_eq!(need_send(opaque(7)).await, Ok(7));
        let _log = Log::start();
        assert_eq!(need_send(boxed("text")).await, Ok(5));
        let _log = Log::start();
        assert_eq!(delegated(7).await, Ok(7));
        for n in [0, 7] {
            let _log = Log::start();
            assert_eq!(either(n).await, Ok(n));
        }
        let _log = Log::start();
        assert_eq!(early(7).await, Ok(7));
    }

    #[tokio::test]
    async fn an_argument_may_be_changed_before_the_future_is_made() {
        #[retryable(sleep = record_async)]
        fn changed(mut n: u32) -> impl Future<Output = Result<u32, Failed>> {
            n += 1;
            async move { succeed_at(3).map(|_| n) }
        }
        let _log = Log::start();
        assert_eq!(changed(6).await, Ok(7));
    }

    #[tokio::test]
    async fn a_future_that_is_returned_early_is_retried() {
        let _log = Log::start();
        assert_eq!(early(0).await, Ok(0));
    }
}

/// Spans and events as a subscriber sees them
#[derive(Default)]
struct Seen(Mutex<Vec<&'static str>>);

impl Seen {
    fn push(&self, what: &'static str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(what);
    }
}

struct Subscriber(std::sync::Arc<Seen>);

impl tracing::Subscriber for Subscriber {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        // those of the functions alone
        metadata.target() != "retry_runtime"
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        self.0.push("span");
        tracing::span::Id::from_u64(1)
    }

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.push("event");
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

fn seen(run: impl FnOnce()) -> Vec<&'static str> {
    let seen = std::sync::Arc::<Seen>::default();
    tracing::subscriber::with_default(Subscriber(seen.clone()), run);
    std::mem::take(&mut seen.0.lock().unwrap())
}

mod instrumented {
    use super::*;

    #[retryable(sleep = record)]
    #[tracing::instrument(err)]
    fn call_in_a_span(name: &str, list: Vec<u32>) -> Result<u32, Failed> {
        tracing::info!(name, ?list);
        fail()
    }

    #[tracing::instrument]
    #[retryable(sleep = record)]
    fn attempt_in_a_span(name: &str, list: Vec<u32>) -> Result<u32, Failed> {
        tracing::info!(name, ?list);
        fail()
    }

    #[retryable(sleep = record_async)]
    #[tracing::instrument(skip(numbers))]
    async fn async_call_in_a_span(name: String, numbers: &mut Vec<u32>) -> Result<u32, Failed> {
        tracing::info!(name);
        numbers.push(1);
        fail()
    }

    #[tracing::instrument]
    #[retryable(clone(name), sleep = record_async)]
    async fn async_attempt_in_a_span(name: String, id: u32) -> Result<u32, Failed> {
        tracing::info!(name, id);
        fail()
    }

    #[async_trait::async_trait]
    trait Fetch {
        async fn in_a_span(&self, id: u32) -> Result<u32, Failed>;
        async fn in_spans(&self, id: u32) -> Result<u32, Failed>;
    }

    #[async_trait::async_trait]
    impl Fetch for u8 {
        #[retryable(sleep = record_async)]
        #[tracing::instrument]
        async fn in_a_span(&self, id: u32) -> Result<u32, Failed> {
            tracing::info!(id);
            fail()
        }

        #[tracing::instrument]
        #[retryable(sleep = record_async)]
        async fn in_spans(&self, id: u32) -> Result<u32, Failed> {
            tracing::info!(id);
            fail()
        }
    }

    /// Above, `#[instrument]` is expanded first, and its future or block is looked into.
    #[test]
    fn instrument_is_one_span_around_all_attempts_in_either_order() {
        let in_one_span = ["span", "event", "event", "event"];

        let log = Log::start();
        let mut events = seen(|| drop(call_in_a_span("a", vec![1])));
        assert_eq!(events.pop(), Some("event"), "that of `err`, once");
        assert_eq!(events, in_one_span);
        assert_eq!(log.calls(), 3);
        let _log = Log::start();
        let mut numbers = Vec::new();
        let call = async_call_in_a_span("a".into(), &mut numbers);
        assert_eq!(seen(|| drop(poll_to_end(call))), in_one_span);
        assert_eq!(numbers, [1; 3]);
        let _log = Log::start();
        assert_eq!(seen(|| drop(poll_to_end(7.in_a_span(1)))), in_one_span);

        let log = Log::start();
        assert_eq!(seen(|| drop(attempt_in_a_span("a", vec![1]))), in_one_span);
        assert_eq!(log.calls(), 3);
        let _log = Log::start();
        let call = async_attempt_in_a_span("a".into(), 1);
        assert_eq!(seen(|| drop(poll_to_end(call))), in_one_span);
        let _log = Log::start();
        assert_eq!(seen(|| drop(poll_to_end(7.in_spans(1)))), in_one_span);
    }

    mod above_mut {
        use super::*;

        struct Client(u32);

        impl Client {
            #[tracing::instrument(skip(self, list))]
            #[retryable(sleep = record_async)]
            async fn fetch(&mut self, list: &mut Vec<u32>) -> Result<u32, Failed> {
                self.0 += 1;
                list.push(self.0);
                fail()
            }
        }

        #[test]
        fn instrument_above_an_async_function_with_mut_references() {
            let (_log, mut client, mut list) = (Log::start(), Client(0), Vec::new());
            poll_to_end(client.fetch(&mut list)).unwrap_err();
            assert_eq!(list, [1, 2, 3]);
        }
    }
}

macro_rules! functions {
    ($($(#[$attr:meta])* $visibility:vis fn $name:ident($($arg:ident: $ty:ty),*) -> $returns:ty { max: $max:expr, $wait:literal } $body:block)*) => {
        $(
            $(#[$attr])*
            #[retryable(max = $max, base_ms = $wait, jitter = "none", sleep = record)]
            $visibility fn $name($($arg: $ty),*) -> $returns $body
        )*
    };
}

functions! {
    #[inline]
    pub(crate) fn first(seen: &RefCell<Vec<u32>>) -> Result<u32, Failed> { max: 1 + 1, 7 } {
        seen.borrow_mut().push(1);
        fail()
    }

    fn second(max: u32) -> Result<u32, Failed> { max: max, 9 } {
        let _max = max;
        fail()
    }
}

#[test]
fn functions_made_by_a_macro_are_retried() {
    let (log, seen) = (Log::start(), RefCell::default());
    assert!(first(&seen).is_err());
    assert_eq!((log.waits_ms(), seen.into_inner().len()), (vec![7], 2));
    let log = Log::start();
    assert!(second(3).is_err());
    assert_eq!(log.waits_ms(), [9, 18]);
}
