//! Functions that are not `async` and return a future.

#![allow(clippy::manual_async_fn, reason = "the shape")]

use crate::support::{Busy, Calls, run, run_here};
use retry_runtime::retryable;
use std::{
    future::{Ready, ready},
    pin::Pin,
    rc::Rc,
    sync::Arc,
};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type LocalBoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

async fn plain(calls: &Calls, text: &str) -> Result<u32, Busy> {
    calls.fail_twice(text)
}

// `-> impl Future`

#[test]
fn impl_future_with_an_async_block_async() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, number: u32) -> impl Future<Output = Result<u32, Busy>> {
        async move {
            let seen = calls.fail_twice(number)?;
            if seen > 5 {
                return Ok(0);
            }
            Ok(seen)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, 1)), Ok(3));
    calls.each_saw(1);
}

#[test]
fn impl_future_of_owned_arguments_only_read_async() {
    #[retryable(backoff = "none")]
    fn shape(
        calls: Arc<Calls>,
        text: String,
    ) -> impl Future<Output = Result<usize, Busy>> + Send + 'static {
        async move {
            tokio::task::yield_now().await;
            calls.fail_twice(&text)?;
            Ok(text.len())
        }
    }
    let calls = Arc::new(Calls::new());
    let call = shape(Arc::clone(&calls), String::from("a"));
    assert_eq!(run(async { tokio::spawn(call).await.unwrap() }), Ok(1));
    calls.each_saw("a");
}

#[test]
fn impl_future_of_clone_mut_and_keep_async() {
    #[retryable(backoff = "none", clone(text), keep(kept))]
    fn shape(
        calls: &Calls,
        text: String,
        mut fresh: u32,
        mut kept: u32,
    ) -> impl Future<Output = Result<String, Busy>> + Send {
        async move {
            fresh += 1;
            kept += 1;
            let moved = text;
            calls.fail_twice((&moved, fresh, kept))?;
            Ok(moved)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, String::from("a"), 1, 0)).unwrap(), "a");
    calls.saw([("a", 2, 1), ("a", 2, 2), ("a", 2, 3)]);
}

#[test]
fn impl_future_with_statements_before_it_async() {
    #[retryable(backoff = "none")]
    fn shape<'a>(
        calls: &'a Calls,
        prepared: &'a Calls,
        text: &str,
    ) -> impl Future<Output = Result<u32, Busy>> + use<'a> {
        _ = prepared.fail_twice(());
        let length = text.len();
        async move { calls.fail_twice(length) }
    }
    let (calls, prepared) = (Calls::new(), Calls::new());
    let call = shape(&calls, &prepared, "ab");
    prepared.saw([()]);
    assert_eq!(run(call), Ok(3));
    calls.each_saw(2);
    prepared.saw([()]);
}

#[test]
fn impl_future_of_self_async() {
    struct Client(Calls);
    impl Client {
        #[retryable(backoff = "none")]
        fn shape(&self, text: String) -> impl Future<Output = Result<u32, Busy>> + Send {
            async move { self.0.fail_twice(&text) }
        }
    }
    let client = Client(Calls::new());
    assert_eq!(run(client.shape(String::from("a"))), Ok(3));
    client.0.each_saw("a");
}

#[test]
fn impl_future_of_mut_self_and_mut_borrow_async() {
    struct Client(u32);
    impl Client {
        #[retryable(backoff = "none")]
        fn shape<'a>(
            &'a mut self,
            calls: &'a Calls,
            out: &'a mut Vec<u32>,
        ) -> impl Future<Output = Result<u32, Busy>> + Send + 'a {
            async move {
                self.0 += 1;
                out.push(self.0);
                calls.fail_twice(&*out)
            }
        }
    }
    let calls = Calls::new();
    assert_eq!(run(Client(0).shape(&calls, &mut vec![])), Ok(3));
    calls.saw([vec![1], vec![1, 2], vec![1, 2, 3]]);
}

#[test]
fn impl_future_of_consumed_and_changed_self_async() {
    #[derive(Clone, Debug)]
    struct Client(u32);
    impl Client {
        #[retryable(backoff = "none", clone(self))]
        fn consumed(self, calls: &Calls) -> impl Future<Output = Result<Self, Busy>> + Send {
            async move {
                let moved = self;
                calls.fail_twice(&moved)?;
                Ok(moved)
            }
        }

        #[retryable(backoff = "none")]
        fn changed(mut self, calls: &Calls) -> impl Future<Output = Result<Self, Busy>> + Send {
            async move {
                self.0 += 1;
                calls.fail_twice(&self)?;
                Ok(self)
            }
        }
    }
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!(run(Client(1).consumed(&a)).unwrap().0, 1);
    assert_eq!(run(Client(1).changed(&b)).unwrap().0, 2);
    a.each_saw(Client(1));
    b.each_saw(Client(2));
}

#[test]
fn impl_future_that_is_called_async() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, text: &str) -> impl Future<Output = Result<u32, Busy>> {
        plain(calls, text)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, "a")), Ok(3));
    calls.each_saw("a");
}

#[test]
fn impl_future_in_a_trait_and_its_impl_async() {
    trait Service: Sync {
        fn calls(&self) -> &Calls;
        fn ask(&self, number: u32) -> impl Future<Output = Result<u32, Busy>> + Send;

        #[retryable(backoff = "none")]
        fn ask_default(&self, number: u32) -> impl Future<Output = Result<u32, Busy>> + Send {
            async move { self.calls().fail_twice(number) }
        }
    }
    impl Service for Calls {
        fn calls(&self) -> &Calls {
            self
        }

        #[retryable(backoff = "none")]
        fn ask(&self, mut number: u32) -> impl Future<Output = Result<u32, Busy>> + Send {
            async move {
                number += 1;
                self.fail_twice(number)
            }
        }
    }
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!(run(a.ask(1)), Ok(3));
    assert_eq!(run(b.ask_default(1)), Ok(3));
    a.each_saw(2);
    b.each_saw(1);
}

#[test]
fn impl_future_of_an_option_async() {
    #[retryable(backoff = "none", until(Some(_)))]
    fn shape(calls: &Calls) -> impl Future<Output = Option<u32>> {
        async move {
            let number = calls.fail_twice(()).ok()?;
            Some(number)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Some(3));
    calls.each_saw(());
}

#[test]
fn impl_future_that_is_generic_async() {
    #[retryable(backoff = "none")]
    fn shape<'a, T, F, Fut>(
        calls: &'a Calls,
        value: &'a T,
        f: F,
    ) -> impl Future<Output = Result<u32, Busy>> + use<'a, T, F, Fut>
    where
        T: std::fmt::Debug,
        F: Fn() -> Fut,
        Fut: Future<Output = u32>,
    {
        async move {
            let number = f().await;
            calls.fail_twice((value, number))
        }
    }
    let calls = Calls::new();
    assert_eq!(run_here(shape(&calls, &"a", async || 1)), Ok(3));
    calls.each_saw(("a", 1));
}

#[test]
fn impl_future_that_is_not_send_async() {
    #[retryable(backoff = "none")]
    fn shape(calls: Rc<Calls>) -> impl Future<Output = Result<u32, Busy>> {
        async move {
            tokio::task::yield_now().await;
            calls.fail_twice(())
        }
    }
    let calls = Rc::new(Calls::new());
    assert_eq!(run_here(shape(Rc::clone(&calls))), Ok(3));
    calls.each_saw(());
}

// `-> Pin<Box<dyn Future>>`

#[test]
fn boxed_future_with_an_async_block_async() {
    #[retryable(backoff = "none", clone(moved))]
    fn shape<'a>(
        calls: &'a Calls,
        text: String,
        moved: String,
        mut fresh: u32,
    ) -> Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send + 'a>> {
        let length = text.len();
        Box::pin(async move {
            fresh += 1;
            calls.fail_twice((length, moved, fresh))
        })
    }
    let calls = Calls::new();
    let call = shape(&calls, String::from("ab"), String::from("c"), 1);
    assert_eq!(run(call), Ok(3));
    calls.each_saw((2, "c", 2));
}

#[test]
fn boxed_future_of_an_object_async() {
    trait Service {
        fn ask(&self, number: u32) -> BoxFuture<'_, Result<u32, Busy>>;
    }
    impl Service for Calls {
        #[retryable(backoff = "none")]
        fn ask(&self, number: u32) -> BoxFuture<'_, Result<u32, Busy>> {
            Box::pin(async move { self.fail_twice(number) })
        }
    }
    let calls = Calls::new();
    let object: &dyn Service = &calls;
    assert_eq!(run(object.ask(1)), Ok(3));
    calls.each_saw(1);
}

#[test]
fn boxed_future_that_is_called_or_ready_async() {
    #[retryable(backoff = "none")]
    fn shape<'a>(calls: &'a Calls, text: &'a str) -> BoxFuture<'a, Result<u32, Busy>> {
        if text.is_empty() {
            return Box::pin(ready(Ok(0)));
        }
        Box::pin(plain(calls, text))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, "a")), Ok(3));
    calls.each_saw("a");
    assert_eq!(run(shape(&calls, "")), Ok(0));
}

#[test]
fn boxed_future_that_is_not_send_async() {
    #[retryable(backoff = "none")]
    fn shape(calls: Rc<Calls>) -> LocalBoxFuture<'static, Result<u32, Busy>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            calls.fail_twice(())
        })
    }
    let calls = Rc::new(Calls::new());
    assert_eq!(run_here(shape(Rc::clone(&calls))), Ok(3));
    calls.each_saw(());
}

#[test]
fn boxed_future_that_recurses_async() {
    #[retryable(backoff = "none", max = 2)]
    fn shape(calls: &Calls, depth: u32) -> BoxFuture<'_, Result<u32, Busy>> {
        Box::pin(async move {
            if depth == 0 {
                return calls.fail_twice(depth);
            }
            shape(calls, depth - 1).await
        })
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, 5)), Ok(3));
    calls.each_saw(0);
}

#[test]
fn boxed_future_with_a_boxed_error_async() {
    type Error = Box<dyn std::error::Error + Send + Sync>;
    #[retryable(backoff = "none", on = "any")]
    fn shape<'a>(calls: &'a Calls, text: &'a str) -> BoxFuture<'a, Result<u32, Error>> {
        Box::pin(async move {
            let number: u32 = text.parse()?;
            if let Err(error) = calls.fail_twice(number) {
                return Err(Box::new(error) as Error);
            }
            Ok(number)
        })
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, "1")).unwrap(), 1);
    calls.each_saw(1);
}

#[test]
fn named_future_type_is_judged_by_until_sync() {
    #[retryable(backoff = "none", until = |future| calls.fail_twice(()).is_ok() && matches!(future, Ready { .. }))]
    fn shape(calls: &Calls) -> Ready<u32> {
        ready(1)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), 1);
    calls.each_saw(());
}

mod instrument_above_a_returned_future {
    use super::*;

    #[test]
    fn instrument_above_a_returned_future_async() {
        #[tracing::instrument(skip_all)]
        #[retryable(backoff = "none")]
        fn shape(calls: &Calls, text: String) -> impl Future<Output = Result<u32, Busy>> {
            async move { calls.fail_twice(&text) }
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, String::from("a"))), Ok(3));
        calls.each_saw("a");
    }
}
