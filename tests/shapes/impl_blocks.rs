//! The attribute on an `impl` block.

use crate::support::{Busy, Calls, run};
use retry_runtime::{Transient, retryable};
use std::io;

#[test]
fn every_method_that_returns_a_result() {
    struct Client(u32);
    #[retryable(backoff = "none")]
    impl Client {
        fn shared(&self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(self.0)
        }

        async fn shared_async(&self, calls: &Calls, text: String) -> Result<u32, Busy> {
            calls.fail_twice((self.0, &text))
        }

        fn exclusive(&mut self, calls: &Calls) -> io::Result<u32> {
            self.0 += 1;
            Ok(calls.fail_twice(self.0)?)
        }

        async fn exclusive_async(&mut self, calls: &Calls, mut fresh: u32) -> Result<u32, Busy> {
            self.0 += 1;
            fresh += 1;
            calls.fail_twice((self.0, fresh))
        }

        fn associated(calls: &Calls, (a, mut b): (u32, u32)) -> std::result::Result<u32, Busy> {
            b += 1;
            calls.fail_twice((a, b))
        }

        fn owned(self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(self.0)
        }
    }
    let all = [const { Calls::new() }; 6];
    let [a, b, c, d, e, f] = &all;
    let mut client = Client(0);
    assert_eq!(client.shared(a), Ok(3));
    assert_eq!(run(client.shared_async(b, String::from("a"))), Ok(3));
    assert_eq!(client.exclusive(c).unwrap(), 3);
    assert_eq!(run(client.exclusive_async(d, 0)), Ok(3));
    assert_eq!(Client::associated(e, (1, 2)), Ok(3));
    assert_eq!(client.owned(f), Ok(3));
    a.each_saw(0);
    b.each_saw((0, "a"));
    c.saw([1, 2, 3]);
    d.saw([(4, 1), (5, 1), (6, 1)]);
    e.each_saw((1, 3));
    f.each_saw(6);
}

#[test]
fn other_members_are_left_alone() {
    trait Named {
        const NAME: &'static str;
        type Error;
        fn ask(&self) -> Result<u32, Self::Error>;
        fn count(&self) -> u32;
    }
    #[retryable(backoff = "none")]
    impl Named for Calls {
        const NAME: &'static str = "calls";
        type Error = Busy;

        fn ask(&self) -> Result<u32, Busy> {
            self.fail_twice(Self::NAME)
        }

        fn count(&self) -> u32 {
            self.fail_twice(()).unwrap_or(0)
        }
    }
    #[retryable(backoff = "none")]
    impl Calls {
        const LIMIT: u32 = 3;

        fn nothing(&self) {
            _ = self.fail_twice(Self::LIMIT);
        }

        fn maybe(&self) -> Option<u32> {
            self.fail_twice(()).ok()
        }

        const fn constant() -> u32 {
            1
        }
    }
    let [a, b, c, d] = [const { Calls::new() }; 4];
    assert_eq!(a.ask(), Ok(3));
    assert_eq!(b.count(), 0);
    c.nothing();
    assert_eq!(d.maybe(), None);
    assert_eq!(Calls::constant(), 1);
    a.each_saw("calls");
    b.saw([()]);
    c.saw([3]);
    d.saw([()]);
}

#[test]
fn method_overrides_the_block_key_by_key() {
    struct Client;
    #[retryable(backoff = "none", max = 2, on(Busy))]
    impl Client {
        fn as_the_block(&self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }

        #[retryable(max = 3)]
        fn other_max(&self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }

        #[retryable(max = 3, on = |_| false)]
        fn other_on(&self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }

        #[retryable(max = 3, clone(text))]
        fn with_clone(&self, calls: &Calls, text: String) -> Result<u32, Busy> {
            calls.fail_twice(text)
        }

        #[retryable]
        fn without_keys(&self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }
    }
    let all = [const { Calls::new() }; 5];
    let [a, b, c, d, e] = &all;
    assert_eq!(Client.as_the_block(a), Err(Busy));
    assert_eq!(Client.other_max(b), Ok(3));
    assert_eq!(Client.other_on(c), Err(Busy));
    assert_eq!(Client.with_clone(d, String::from("d")), Ok(3));
    assert_eq!(Client.without_keys(e), Err(Busy));
    a.saw([(), ()]);
    b.each_saw(());
    c.saw([()]);
    d.each_saw("d");
    e.saw([(), ()]);
}

#[test]
fn skip_leaves_a_method_out() {
    struct Client;
    #[retryable(backoff = "none")]
    impl Client {
        #[retryable(skip)]
        fn skipped(&self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }

        #[retryable(skip)]
        async fn skipped_async(&self, calls: &Calls, text: String) -> Result<String, Busy> {
            calls.fail_twice(&text)?;
            Ok(text)
        }

        #[retry_runtime::retryable(skip)]
        fn skipped_by_a_path(&self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }
    }
    let [a, b, c] = [const { Calls::new() }; 3];
    assert_eq!(Client.skipped(&a), Err(Busy));
    assert_eq!(run(Client.skipped_async(&b, String::from("b"))), Err(Busy));
    assert_eq!(Client.skipped_by_a_path(&c), Err(Busy));
    a.saw([()]);
    b.saw(["b"]);
    c.saw([()]);
}

#[test]
fn method_of_another_type_with_its_own_until() {
    struct Client;
    #[retryable(backoff = "none", max = 3)]
    impl Client {
        #[retryable(until(Some(_)))]
        fn find(&self, calls: &Calls) -> Option<u32> {
            calls.fail_twice(()).ok()
        }

        #[retryable(until = |ready| *ready)]
        async fn ready(&self, calls: &Calls) -> bool {
            calls.fail_twice(()).is_ok()
        }
    }
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!(Client.find(&a), Some(3));
    assert!(run(Client.ready(&b)));
    [a, b].iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn keys_of_the_block_that_see_self() {
    struct Client {
        max: u32,
    }
    impl Client {
        fn retries(&self, _: &Busy) -> bool {
            self.max > 1
        }
    }
    #[retryable(backoff = "none", max = self.max, on = |error| self.retries(error))]
    impl Client {
        fn shared(&self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }

        async fn exclusive(&mut self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }
    }
    let [a, b] = [const { Calls::new() }; 2];
    let mut client = Client { max: 3 };
    assert_eq!(client.shared(&a), Ok(3));
    assert_eq!(run(client.exclusive(&b)), Ok(3));
    [a, b].iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn generic_block_with_its_own_parameters_in_the_keys() {
    struct Client<T, const LIMIT: usize>(T);
    #[retryable(backoff = "none", max = LIMIT)]
    impl<T: std::fmt::Debug, const LIMIT: usize> Client<T, LIMIT>
    where
        T: Sync,
    {
        fn shared<U: std::fmt::Debug>(&self, calls: &Calls, other: U) -> Result<u32, Busy> {
            calls.fail_twice((&self.0, &other))
        }

        #[retryable(max = Self::MAX)]
        async fn constant(&self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(&self.0)
        }

        const MAX: u32 = 3;
    }
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!(Client::<_, 3>("a").shared(&a, 1), Ok(3));
    assert_eq!(run(Client::<_, 1>("b").constant(&b)), Ok(3));
    a.each_saw(("a", 1));
    b.each_saw("b");
}

mod fn_mut_of_the_block {
    use super::*;

    #[test]
    fn fn_mut_bounded_by_the_block_is_kept() {
        struct Runner<F>(std::marker::PhantomData<F>);
        #[retryable(backoff = "none")]
        impl<F: FnMut() -> u32> Runner<F> {
            fn shape(calls: &Calls, mut f: F) -> Result<u32, Busy> {
                calls.fail_twice(f())
            }
        }
        let (calls, mut count) = (Calls::new(), vec![0]);
        let next = || {
            count[0] += 1;
            count[0]
        };
        assert_eq!(Runner::shape(&calls, next), Ok(3));
        calls.saw([1, 2, 3]);
    }
}

#[test]
fn block_of_a_trait() {
    trait Service {
        fn ask(&self, number: u32) -> Result<u32, Busy>;
        async fn ask_async(&self, text: String) -> Result<u32, Busy>;
        fn ask_later(&self) -> impl Future<Output = Result<u32, Busy>> + Send;
    }
    #[retryable(backoff = "none")]
    impl Service for Calls {
        fn ask(&self, mut number: u32) -> Result<u32, Busy> {
            number += 1;
            self.fail_twice(number)
        }

        async fn ask_async(&self, text: String) -> Result<u32, Busy> {
            self.fail_twice(&text)
        }

        fn ask_later(&self) -> impl Future<Output = Result<u32, Busy>> + Send {
            let number = 1;
            async move { self.fail_twice(number) }
        }
    }
    let [a, b, c] = [const { Calls::new() }; 3];
    assert_eq!(a.ask(1), Ok(3));
    assert_eq!(run(b.ask_async(String::from("a"))), Ok(3));
    assert_eq!(run(c.ask_later()), Ok(3));
    a.each_saw(2);
    b.each_saw("a");
    c.each_saw(1);
}

#[test]
fn attributes_docs_and_visibility_in_a_block_are_kept() {
    mod library {
        use super::*;
        pub(super) struct Client;
        /// A documented block.
        #[expect(unused_variables)]
        #[retryable(backoff = "none")]
        #[cfg(test)]
        impl Client {
            /// A documented method.
            #[inline]
            #[deprecated]
            pub(super) fn kept(&self, calls: &Calls, unused: u32) -> Result<u32, Busy> {
                calls.fail_twice(())
            }

            #[cfg(not(test))]
            pub fn absent(&self) -> Result<u32, Absent> {}

            #[tracing::instrument(skip_all)]
            pub(crate) async fn traced(&self, calls: &Calls) -> Result<u32, Busy> {
                calls.fail_twice(())
            }
        }
    }
    let [a, b] = [const { Calls::new() }; 2];
    #[expect(deprecated, reason = "the attribute is kept")]
    let kept = library::Client.kept(&a, 1);
    assert_eq!(kept, Ok(3));
    assert_eq!(run(library::Client.traced(&b)), Ok(3));
    [a, b].iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn error_that_differs_between_methods() {
    #[derive(Debug, PartialEq, Transient)]
    #[transient]
    struct Full;
    struct Client;
    #[retryable(backoff = "none")]
    impl Client {
        fn one(&self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }

        fn other(&self, calls: &Calls) -> Result<u32, Full> {
            calls.fail_twice(()).map_err(|_| Full)
        }
    }
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!((Client.one(&a), Client.other(&b)), (Ok(3), Ok(3)));
    [a, b].iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn methods_that_call_one_another_multiply_their_calls() {
    struct Client;
    #[retryable(backoff = "none", max = 2)]
    impl Client {
        fn outer(&self, calls: &Calls) -> Result<u32, Busy> {
            self.inner(calls)
        }

        fn inner(&self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }
    }
    let calls = Calls::new();
    assert_eq!(Client.outer(&calls), Ok(3));
    calls.each_saw(());
}
