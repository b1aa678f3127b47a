//! Methods that `#[async_trait]` rewrites, before or after the attribute is expanded.

use crate::support::{Busy, Calls, run, run_here};
use async_trait::async_trait;
use retry_runtime::retryable;
use std::{rc::Rc, sync::Arc};

#[test]
fn implemented_method_async() {
    #[async_trait]
    trait Service {
        async fn ask(&self, number: u32, text: String, borrowed: &str) -> Result<u32, Busy>;
    }
    #[async_trait]
    impl Service for Calls {
        #[retryable(backoff = "none")]
        async fn ask(&self, number: u32, text: String, borrowed: &str) -> Result<u32, Busy> {
            tokio::task::yield_now().await;
            self.fail_twice((number, &text, borrowed))
        }
    }
    let calls = Calls::new();
    let object: &(dyn Service + Sync) = &calls;
    assert_eq!(run(object.ask(1, String::from("a"), "b")), Ok(3));
    calls.each_saw((1, "a", "b"));
}

#[test]
fn implemented_method_that_is_spawned_async() {
    #[async_trait]
    trait Service: Send + Sync {
        async fn ask(self: Arc<Self>, text: String) -> Result<u32, Busy>;
    }
    #[async_trait]
    impl Service for Calls {
        #[retryable(backoff = "none")]
        async fn ask(self: Arc<Self>, text: String) -> Result<u32, Busy> {
            self.fail_twice(&text)
        }
    }
    let calls = Arc::new(Calls::new());
    let object: Arc<dyn Service> = calls.clone();
    let task = async { tokio::spawn(object.ask(String::from("a"))).await.unwrap() };
    assert_eq!(run(task), Ok(3));
    calls.each_saw("a");
}

#[test]
fn implemented_method_with_question_mark_and_return_async() {
    #[async_trait]
    trait Service {
        async fn ask(&self, least: u32) -> Result<u32, Busy>;
    }
    #[async_trait]
    impl Service for Calls {
        #[retryable(backoff = "none")]
        async fn ask(&self, least: u32) -> Result<u32, Busy> {
            let number = self.fail_twice(least)?;
            if number > least {
                return Ok(number);
            }
            let text = format!("{}", self.fail_twice(())?);
            Ok(text.parse().unwrap_or(0))
        }
    }
    let calls = Calls::new();
    assert_eq!(run(calls.ask(2)), Ok(3));
    calls.each_saw(2);
}

#[test]
fn owned_argument_consumed_with_clone_async() {
    #[async_trait]
    trait Sink {
        async fn put(&self, item: String) -> Result<String, Busy>;
    }
    #[async_trait]
    impl Sink for Calls {
        #[retryable(backoff = "none", clone(item))]
        async fn put(&self, item: String) -> Result<String, Busy> {
            let moved = item;
            self.fail_twice(&moved)?;
            Ok(moved)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(calls.put(String::from("a"))).unwrap(), "a");
    calls.each_saw("a");
}

#[test]
fn mut_arguments_and_patterns_are_fresh_async() {
    #[async_trait]
    trait Service {
        async fn ask(&self, number: u32, pair: (u32, String), _: u32) -> Result<u32, Busy>;
    }
    #[async_trait]
    impl Service for Calls {
        #[retryable(backoff = "none")]
        async fn ask(
            &self,
            mut number: u32,
            (mut a, b): (u32, String),
            _: u32,
        ) -> Result<u32, Busy> {
            number += 1;
            a += 1;
            self.fail_twice((number, a, &b))
        }
    }
    let calls = Calls::new();
    assert_eq!(run(calls.ask(1, (1, String::from("b")), 0)), Ok(3));
    calls.each_saw((2, 2, "b"));
}

#[test]
fn mut_argument_kept_async() {
    #[async_trait]
    trait Service {
        async fn ask(&self, number: u32, next: Box<dyn FnMut() -> u32 + Send>)
        -> Result<u32, Busy>;
    }
    #[async_trait]
    impl Service for Calls {
        #[retryable(backoff = "none", keep(number, next))]
        async fn ask(
            &self,
            mut number: u32,
            mut next: Box<dyn FnMut() -> u32 + Send>,
        ) -> Result<u32, Busy> {
            number += 1;
            self.fail_twice((number, next()))
        }
    }
    let (calls, mut count) = (Calls::new(), 0);
    let next = move || {
        count += 10;
        count
    };
    assert_eq!(run(calls.ask(0, Box::new(next))), Ok(3));
    calls.saw([(1, 10), (2, 20), (3, 30)]);
}

#[test]
fn mut_self_and_mut_borrow_keep_their_state_async() {
    #[async_trait]
    trait Sink {
        async fn put(&mut self, out: &mut Vec<u32>, calls: &Calls) -> Result<u32, Busy>;
    }
    #[async_trait]
    impl Sink for u32 {
        #[retryable(backoff = "none")]
        async fn put(&mut self, out: &mut Vec<u32>, calls: &Calls) -> Result<u32, Busy> {
            *self += 1;
            out.push(*self);
            calls.fail_twice(&*out)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(0.put(&mut vec![], &calls)), Ok(3));
    calls.saw([vec![1], vec![1, 2], vec![1, 2, 3]]);
}

#[test]
fn owned_self_consumed_with_clone_async() {
    #[async_trait]
    trait Job {
        async fn run(self, calls: &Calls) -> Result<String, Busy>;
        async fn run_changed(self, calls: &Calls) -> Result<String, Busy>;
        async fn run_boxed(self: Box<Self>, calls: &Calls) -> Result<u32, Busy>;
    }
    #[async_trait]
    impl Job for String {
        #[retryable(backoff = "none", clone(self))]
        async fn run(self, calls: &Calls) -> Result<String, Busy> {
            let moved = self;
            calls.fail_twice(&moved)?;
            Ok(moved)
        }

        #[retryable(backoff = "none")]
        async fn run_changed(mut self, calls: &Calls) -> Result<String, Busy> {
            self.push('!');
            calls.fail_twice(&self)?;
            Ok(self)
        }

        #[retryable(backoff = "none")]
        async fn run_boxed(self: Box<Self>, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(&*self)
        }
    }
    let [a, b, c] = [const { Calls::new() }; 3];
    assert_eq!(run(String::from("a").run(&a)).unwrap(), "a");
    assert_eq!(run(String::from("b").run_changed(&b)).unwrap(), "b!");
    assert_eq!(run(Box::new(String::from("c")).run_boxed(&c)), Ok(3));
    a.each_saw("a");
    b.each_saw("b!");
    c.each_saw("c");
}

#[test]
fn default_method_async() {
    #[async_trait]
    trait Service: Sync {
        fn calls(&self) -> &Calls;

        #[retryable(backoff = "none", clone(text))]
        async fn ask(&self, text: String, mut number: u32) -> Result<u32, Busy> {
            number += 1;
            self.calls().fail_twice((text, number))
        }
    }
    #[async_trait]
    impl Service for Calls {
        fn calls(&self) -> &Calls {
            self
        }
    }
    let calls = Calls::new();
    let object: &dyn Service = &calls;
    assert_eq!(run(object.ask(String::from("a"), 1)), Ok(3));
    calls.each_saw(("a", 2));
}

#[test]
fn keys_that_see_self_and_the_arguments_async() {
    #[async_trait]
    trait Service {
        async fn ask(&self, retry: bool, text: String) -> Result<u32, Busy>;
    }
    struct Client {
        calls: Calls,
        max: u32,
    }
    #[async_trait]
    impl Service for Client {
        #[retryable(
            backoff = "none",
            max = self.max,
            on = |error| retry && self.is_busy(error),
            except = |_| text.is_empty(),
        )]
        async fn ask(&self, retry: bool, text: String) -> Result<u32, Busy> {
            self.calls.fail_twice(&text)
        }
    }
    impl Client {
        fn is_busy(&self, _: &Busy) -> bool {
            self.max > 0
        }
    }
    let client = Client {
        calls: Calls::new(),
        max: 3,
    };
    assert_eq!(run(client.ask(true, String::from("a"))), Ok(3));
    client.calls.each_saw("a");
}

#[test]
fn generic_trait_method_and_lifetimes_async() {
    #[async_trait]
    trait Convert<'t, T: Send + Sync + 't> {
        async fn convert<U: From<u32> + Send>(&self, value: &'t T) -> Result<(U, &'t T), Busy>
        where
            T: std::fmt::Debug;
    }
    #[async_trait]
    impl<'t, T: Send + Sync + 't> Convert<'t, T> for Calls {
        #[retryable(backoff = "none")]
        async fn convert<U: From<u32> + Send>(&self, value: &'t T) -> Result<(U, &'t T), Busy>
        where
            T: std::fmt::Debug,
        {
            Ok((self.fail_twice(value)?.into(), value))
        }
    }
    let calls = Calls::new();
    assert_eq!(run(calls.convert::<u64>(&"a")), Ok((3, &"a")));
    calls.each_saw("a");
}

#[test]
fn borrow_of_self_with_a_coercion_async() {
    #[async_trait]
    trait Named {
        async fn name(&self, calls: &Calls) -> Result<&str, Busy>;
    }
    #[async_trait]
    impl Named for String {
        #[retryable(backoff = "none")]
        async fn name(&self, calls: &Calls) -> Result<&str, Busy> {
            calls.fail_twice(self)?;
            Ok(self)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(String::from("a").name(&calls)), Ok("a"));
    calls.each_saw("a");
}

#[test]
fn boxed_error_returned_beside_question_mark_async() {
    type Error = Box<dyn std::error::Error + Send + Sync>;
    #[async_trait]
    trait Service {
        async fn ask(&self, text: &str) -> Result<u32, Error>;
    }
    #[async_trait]
    impl Service for Calls {
        #[retryable(backoff = "none", on = "any")]
        async fn ask(&self, text: &str) -> Result<u32, Error> {
            let number: u32 = text.parse()?;
            if let Err(error) = self.fail_twice(number) {
                return Err(Box::new(error));
            }
            Ok(number)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(calls.ask("1")).unwrap(), 1);
    calls.each_saw(1);
}

#[test]
fn option_and_plain_value_judged_by_until_async() {
    #[async_trait]
    trait Poll {
        async fn find(&self) -> Option<u32>;
        async fn ready(&self) -> bool;
    }
    #[async_trait]
    impl Poll for Calls {
        #[retryable(backoff = "none", until(Some(_)))]
        async fn find(&self) -> Option<u32> {
            let number = self.fail_twice(()).ok()?;
            Some(number)
        }

        #[retryable(backoff = "none", until(true))]
        async fn ready(&self) -> bool {
            self.fail_twice(()).is_ok()
        }
    }
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!(run(a.find()), Some(3));
    assert!(run(b.ready()));
    [a, b].iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn without_send_not_send_async() {
    #[async_trait(?Send)]
    trait Service {
        async fn ask(&self, shared: Rc<u32>) -> Result<Rc<u32>, Busy>;
    }
    #[async_trait(?Send)]
    impl Service for Calls {
        #[retryable(backoff = "none", clone(shared))]
        async fn ask(&self, shared: Rc<u32>) -> Result<Rc<u32>, Busy> {
            let moved = shared;
            tokio::task::yield_now().await;
            self.fail_twice(&moved)?;
            Ok(moved)
        }
    }
    let calls = Calls::new();
    assert_eq!(run_here(calls.ask(Rc::new(1))), Ok(Rc::new(1)));
    calls.each_saw(1);
}

#[test]
fn instrument_above_and_below_async() {
    #[async_trait]
    trait Service {
        async fn above(&self, number: u32) -> Result<u32, Busy>;
        async fn below(&self, text: String, number: u32) -> Result<u32, Busy>;
    }
    #[async_trait]
    impl Service for Calls {
        #[tracing::instrument(skip(self))]
        #[retryable(backoff = "none")]
        async fn above(&self, number: u32) -> Result<u32, Busy> {
            self.fail_twice(number)
        }

        #[retryable(backoff = "none")]
        #[tracing::instrument(skip_all)]
        async fn below(&self, text: String, mut number: u32) -> Result<u32, Busy> {
            number += 1;
            self.fail_twice((&text, number))
        }
    }
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!(run(a.above(1)), Ok(3));
    assert_eq!(run(b.below(String::from("a"), 1)), Ok(3));
    a.each_saw(1);
    b.each_saw(("a", 2));
}

mod instrument_above_with_owned_and_mut_arguments {
    use super::*;

    #[test]
    fn instrument_above_with_owned_and_mut_arguments_async() {
        #[async_trait]
        trait Service {
            async fn ask(&mut self, text: String, calls: &Calls) -> Result<u32, Busy>;
        }
        #[async_trait]
        impl Service for u32 {
            #[tracing::instrument(skip_all)]
            #[retryable(backoff = "none")]
            async fn ask(&mut self, text: String, calls: &Calls) -> Result<u32, Busy> {
                *self += 1;
                calls.fail_twice((*self, &text))
            }
        }
        let calls = Calls::new();
        assert_eq!(run(0.ask(String::from("a"), &calls)), Ok(3));
        calls.saw([(1, "a"), (2, "a"), (3, "a")]);
    }
}

// the attribute on the whole `impl`

#[async_trait]
trait Both {
    async fn first(&self, mut number: u32) -> Result<u32, Busy>;
    async fn second(&self, text: String) -> Result<u32, Busy>;
    async fn skipped(&self) -> Result<u32, Busy>;
    fn plain(&self) -> u32;
}

#[test]
fn attribute_on_the_impl_above_async() {
    struct Client(Calls);
    #[retryable(backoff = "none")]
    #[async_trait]
    impl Both for Client {
        async fn first(&self, mut number: u32) -> Result<u32, Busy> {
            number += 1;
            self.0.fail_twice(number)
        }

        #[retryable(clone(text))]
        async fn second(&self, text: String) -> Result<u32, Busy> {
            self.0.fail_twice(text)
        }

        #[retryable(skip)]
        async fn skipped(&self) -> Result<u32, Busy> {
            self.0.fail_twice(())
        }

        fn plain(&self) -> u32 {
            1
        }
    }
    let [a, b, c] = [const { Client(Calls::new()) }; 3];
    assert_eq!(run(a.first(1)), Ok(3));
    assert_eq!(run(b.second(String::from("b"))), Ok(3));
    assert_eq!(run(c.skipped()), Err(Busy));
    assert_eq!(c.plain(), 1);
    a.0.each_saw(2);
    b.0.each_saw("b");
    c.0.saw([()]);
}

#[test]
fn attribute_on_the_impl_below_async() {
    struct Client(Calls);
    #[async_trait]
    #[retryable(backoff = "none")]
    impl Both for Client {
        async fn first(&self, mut number: u32) -> Result<u32, Busy> {
            number += 1;
            self.0.fail_twice(number)
        }

        #[retryable(clone(text))]
        async fn second(&self, text: String) -> Result<u32, Busy> {
            self.0.fail_twice(text)
        }

        #[retryable(skip)]
        async fn skipped(&self) -> Result<u32, Busy> {
            self.0.fail_twice(())
        }

        fn plain(&self) -> u32 {
            1
        }
    }
    let [a, b, c] = [const { Client(Calls::new()) }; 3];
    assert_eq!(run(a.first(1)), Ok(3));
    assert_eq!(run(b.second(String::from("b"))), Ok(3));
    assert_eq!(run(c.skipped()), Err(Busy));
    assert_eq!(c.plain(), 1);
    a.0.each_saw(2);
    b.0.each_saw("b");
    c.0.saw([()]);
}
