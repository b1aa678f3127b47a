//! Methods of traits: implemented, default, declared in another form.

use crate::support::{Busy, Calls, run, run_here};
use retry_runtime::retryable;

#[test]
fn implemented_method_sync() {
    trait Service {
        fn ask(&self, number: u32) -> Result<u32, Busy>;
    }
    impl Service for Calls {
        #[retryable(backoff = "none")]
        fn ask(&self, number: u32) -> Result<u32, Busy> {
            self.fail_twice(number)
        }
    }
    let calls = Calls::new();
    assert_eq!(calls.ask(1), Ok(3));
    calls.each_saw(1);
    let calls: &dyn Service = &Calls::new();
    assert_eq!(calls.ask(1), Ok(3));
}

#[test]
fn implemented_method_async() {
    trait Service {
        async fn ask(&self, number: u32) -> Result<u32, Busy>;
    }
    impl Service for Calls {
        #[retryable(backoff = "none")]
        async fn ask(&self, mut number: u32) -> Result<u32, Busy> {
            number += 1;
            self.fail_twice(number)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(calls.ask(1)), Ok(3));
    calls.each_saw(2);
}

#[test]
fn implemented_method_of_mut_self_and_owned_argument_async() {
    trait Sink {
        async fn put(&mut self, item: String) -> Result<u32, Busy>;
    }
    struct List(Vec<String>, Calls);
    impl Sink for List {
        #[retryable(backoff = "none", clone(item))]
        async fn put(&mut self, item: String) -> Result<u32, Busy> {
            self.0.push(item);
            self.1.fail_twice(&self.0)
        }
    }
    let mut list = List(vec![], Calls::new());
    assert_eq!(run(list.put(String::from("a"))), Ok(3));
    list.1.saw([vec!["a"], vec!["a", "a"], vec!["a", "a", "a"]]);
}

#[test]
fn default_method_sync() {
    trait Service {
        fn calls(&self) -> &Calls;

        #[retryable(backoff = "none")]
        fn ask(&self, number: u32) -> Result<u32, Busy> {
            self.calls().fail_twice(number)
        }
    }
    impl Service for Calls {
        fn calls(&self) -> &Calls {
            self
        }
    }
    let calls = Calls::new();
    assert_eq!(calls.ask(1), Ok(3));
    calls.each_saw(1);
    let calls: &dyn Service = &Calls::new();
    assert_eq!(calls.ask(1), Ok(3));
}

#[test]
fn default_method_async() {
    trait Service: Sync {
        fn calls(&self) -> &Calls;

        #[retryable(backoff = "none")]
        async fn ask(&self, number: u32) -> Result<u32, Busy> {
            self.calls().fail_twice(number)
        }
    }
    impl Service for Calls {
        fn calls(&self) -> &Calls {
            self
        }
    }
    let calls = Calls::new();
    assert_eq!(run(calls.ask(1)), Ok(3));
    calls.each_saw(1);
}

#[test]
fn default_method_of_owned_self_sync() {
    trait Job: Sized + Clone {
        fn run(self, calls: &Calls) -> Result<u32, Busy>;

        #[retryable(backoff = "none", clone(self))]
        fn run_often(self, calls: &Calls) -> Result<u32, Busy> {
            self.run(calls)
        }

        #[retryable(backoff = "none")]
        fn in_box(self: Box<Self>, calls: &Calls) -> Result<u32, Busy>
        where
            Self: std::fmt::Debug,
        {
            calls.fail_twice(&self)
        }
    }
    impl Job for String {
        fn run(self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(self)
        }
    }
    let (calls, other) = (Calls::new(), Calls::new());
    assert_eq!(String::from("a").run_often(&calls), Ok(3));
    calls.each_saw("a");
    assert_eq!(Box::new(String::from("b")).in_box(&other), Ok(3));
    other.each_saw("b");
}

#[test]
fn associated_function_and_constant_of_the_trait_sync() {
    trait Connect: Sized {
        const MAX: u32;
        type Options: Clone;

        fn open(options: Self::Options, calls: &Calls) -> Result<Self, Busy>;

        #[retryable(backoff = "none", max = Self::MAX, clone(options))]
        fn connect(options: Self::Options, calls: &Calls) -> Result<Self, Busy> {
            Self::open(options, calls)
        }
    }
    impl Connect for String {
        const MAX: u32 = 3;
        type Options = &'static str;

        fn open(options: &'static str, calls: &Calls) -> Result<Self, Busy> {
            calls.fail_twice(options)?;
            Ok(Self::from(options))
        }
    }
    let calls = Calls::new();
    assert_eq!(String::connect("host", &calls).unwrap(), "host");
    calls.each_saw("host");
}

#[test]
fn generic_trait_and_method_sync() {
    trait Convert<T> {
        fn convert<U: From<T>>(&self, value: T) -> Result<U, Busy>;
    }
    impl<T: Copy + std::fmt::Debug> Convert<T> for Calls {
        #[retryable(backoff = "none")]
        fn convert<U: From<T>>(&self, value: T) -> Result<U, Busy> {
            self.fail_twice(value)?;
            Ok(value.into())
        }
    }
    let calls = Calls::new();
    assert_eq!(calls.convert::<u64>(1u32), Ok(1));
    calls.each_saw(1);
}

#[test]
fn declared_as_impl_future_implemented_as_async_fn_async() {
    trait Service {
        fn ask(&self, number: u32) -> impl Future<Output = Result<u32, Busy>> + Send;
    }
    impl Service for Calls {
        #[retryable(backoff = "none")]
        async fn ask(&self, number: u32) -> Result<u32, Busy> {
            self.fail_twice(number)
        }
    }
    async fn ask(service: &(impl Service + Sync)) -> Result<u32, Busy> {
        service.ask(1).await
    }
    let calls = Calls::new();
    assert_eq!(run(ask(&calls)), Ok(3));
    calls.each_saw(1);
}

#[test]
fn implemented_for_a_reference_and_a_pointer_async() {
    trait Service {
        async fn ask(self) -> Result<u32, Busy>;
    }
    impl Service for &Calls {
        #[retryable(backoff = "none")]
        async fn ask(self) -> Result<u32, Busy> {
            self.fail_twice(())
        }
    }
    impl Service for std::sync::Arc<Calls> {
        #[retryable(backoff = "none")]
        async fn ask(self) -> Result<u32, Busy> {
            self.fail_twice(())
        }
    }
    let calls = Calls::new();
    assert_eq!(run((&calls).ask()), Ok(3));
    calls.each_saw(());
    let calls = std::sync::Arc::new(calls);
    assert_eq!(run(std::sync::Arc::clone(&calls).ask()), Ok(4));
}

#[test]
fn same_method_name_in_two_impls_sync() {
    trait Other {
        fn ask(&self) -> Result<u32, Busy>;
    }
    struct First(Calls);
    struct Second(Calls);
    impl First {
        #[retryable(backoff = "none")]
        fn ask(&self) -> Result<u32, Busy> {
            self.0.fail_twice("inherent")
        }
    }
    impl Second {
        #[retryable(backoff = "none")]
        fn ask(&self) -> Result<u32, Busy> {
            self.0.fail_twice("second")
        }
    }
    impl Other for First {
        #[retryable(backoff = "none")]
        fn ask(&self) -> Result<u32, Busy> {
            self.0.fail_twice("trait")
        }
    }
    let (first, other, second) = (
        First(Calls::new()),
        First(Calls::new()),
        Second(Calls::new()),
    );
    assert_eq!(first.ask(), Ok(3));
    assert_eq!(Other::ask(&other), Ok(3));
    assert_eq!(second.ask(), Ok(3));
    first.0.each_saw("inherent");
    other.0.each_saw("trait");
    second.0.each_saw("second");
}

#[test]
fn poll_of_a_hand_written_future_sync() {
    use std::{
        pin::Pin,
        task::{Context, Poll},
    };
    struct Counting(Calls, u32);
    impl Future for Counting {
        type Output = u32;

        #[retryable(backoff = "none", until(Poll::Ready(_)))]
        fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<u32> {
            self.1 += 1;
            match self.0.fail_twice(self.1) {
                Ok(number) => Poll::Ready(number),
                Err(Busy) => Poll::Pending,
            }
        }
    }
    assert_eq!(run_here(Counting(Calls::new(), 0)), 3);
}
