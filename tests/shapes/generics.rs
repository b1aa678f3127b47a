//! Generic functions, methods, lifetimes and constants.

use crate::support::{Busy, Calls, run, run_here};
use retry_runtime::{Transient, retryable};
use std::{borrow::Cow, cell::Cell, collections::HashMap, fmt::Debug, marker::PhantomData};

#[test]
fn type_and_where_clause_sync() {
    #[retryable(backoff = "none")]
    fn shape<T>(calls: &Calls, value: &T) -> Result<T, Busy>
    where
        T: Debug + Clone,
    {
        calls.fail_twice(value)?;
        Ok(value.clone())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, &"a"), Ok("a"));
    calls.each_saw("a");
}

#[test]
fn borrowed_type_that_is_not_sync_not_send_async() {
    #[retryable(backoff = "none")]
    async fn shape<T>(calls: &Calls, value: &T) -> Result<u32, Busy>
    where
        T: Debug,
    {
        calls.fail_twice(value)
    }
    let calls = Calls::new();
    assert_eq!(run_here(shape(&calls, &Cell::new(1))), Ok(3));
    calls.each_saw(Cell::new(1));
}

#[test]
fn type_by_value_sync() {
    #[retryable(backoff = "none")]
    fn shape<T: Debug>(calls: &Calls, value: T) -> Result<u32, Busy> {
        calls.fail_twice(&value)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, "a"), Ok(3));
    calls.each_saw("a");
}

#[test]
fn type_by_value_async() {
    #[retryable(backoff = "none")]
    async fn shape<T: Debug + Sync>(calls: &Calls, value: T) -> Result<u32, Busy> {
        calls.fail_twice(&value)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, "a")), Ok(3));
    calls.each_saw("a");
}

#[test]
fn type_that_is_mut_is_fresh_sync() {
    #[retryable(backoff = "none")]
    fn shape<I>(calls: &Calls, mut items: I) -> Result<Vec<I::Item>, Busy>
    where
        I: Iterator<Item: Debug> + Clone,
    {
        calls.fail_twice(items.next())?;
        Ok(items.collect())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, 1..4), Ok(vec![2, 3]));
    calls.each_saw(Some(1));
}

#[test]
fn unsized_type_async() {
    #[retryable(backoff = "none")]
    async fn shape<T: ?Sized + Debug + Sync>(calls: &Calls, value: &T) -> Result<u32, Busy> {
        calls.fail_twice(value)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, "a")), Ok(3));
    assert_eq!(run(shape::<[u32]>(&Calls::new(), &[1])), Ok(3));
    calls.each_saw("a");
}

#[test]
fn type_given_by_the_caller_sync() {
    #[retryable(backoff = "none")]
    fn shape<T: Default + Debug>(calls: &Calls) -> Result<T, Busy> {
        calls.fail_twice(T::default())?;
        Ok(T::default())
    }
    let calls = Calls::new();
    assert_eq!(shape::<String>(&calls).unwrap(), "");
    calls.each_saw("");
}

#[test]
fn generic_error_sync() {
    #[retryable(backoff = "none")]
    fn shape<E: Transient + From<Busy>>(calls: &Calls) -> Result<u32, E> {
        Ok(calls.fail_twice(())?)
    }
    let calls = Calls::new();
    assert_eq!(shape::<Busy>(&calls), Ok(3));
    calls.each_saw(());
}

#[test]
fn associated_types_async() {
    trait Service: Sync {
        type Answer: Send;
        type Error: Send;
        fn ask(&self) -> Result<Self::Answer, Self::Error>;
    }
    struct Flaky(Calls);
    impl Service for Flaky {
        type Answer = u32;
        type Error = Busy;
        fn ask(&self) -> Result<u32, Busy> {
            self.0.fail_twice(())
        }
    }
    #[retryable(backoff = "none", on = "any")]
    async fn shape<S: Service>(service: &S) -> Result<S::Answer, S::Error> {
        service.ask()
    }
    #[retryable(backoff = "none")]
    async fn bounded<S>(service: &S) -> Result<<S as Service>::Answer, S::Error>
    where
        S: Service<Error: Transient>,
    {
        service.ask()
    }
    let (service, other) = (Flaky(Calls::new()), Flaky(Calls::new()));
    assert_eq!(run(shape(&service)), Ok(3));
    service.0.each_saw(());
    assert_eq!(run(bounded(&other)), Ok(3));
    other.0.each_saw(());
}

#[test]
fn const_generic_sync() {
    #[retryable(backoff = "none")]
    fn shape<const N: usize>(calls: &Calls, numbers: [u32; N]) -> Result<[u32; N], Busy> {
        calls.fail_twice(N)?;
        Ok(numbers)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, [1, 2]), Ok([1, 2]));
    calls.each_saw(2);
}

#[test]
fn const_generic_as_max_async() {
    #[retryable(backoff = "none", max = N)]
    async fn shape<const N: u8>(calls: &Calls) -> Result<u32, Busy> {
        calls.fail_twice(N)
    }
    let calls = Calls::new();
    assert_eq!(run(shape::<3>(&calls)), Ok(3));
    calls.each_saw(3);
    assert_eq!(run(shape::<2>(&Calls::new())), Err(Busy));
}

#[test]
fn named_lifetimes_sync() {
    #[retryable(backoff = "none")]
    fn shape<'a, 'b: 'a>(
        calls: &Calls,
        a: &'a str,
        b: &'b str,
    ) -> Result<(&'a str, &'b str), Busy> {
        calls.fail_twice((a, b))?;
        Ok((b, b))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, "a", "b"), Ok(("b", "b")));
    calls.each_saw(("a", "b"));
}

#[test]
fn named_lifetimes_async() {
    #[retryable(backoff = "none")]
    async fn shape<'a>(calls: &Calls, words: &'a [&'a str]) -> Result<&'a str, Busy> {
        calls.fail_twice(words)?;
        Ok(words[0])
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, &["a"])), Ok("a"));
    calls.each_saw(["a"]);
}

#[test]
fn elided_lifetimes_sync() {
    struct Parser<'t>(&'t str);
    impl Parser<'_> {
        #[retryable(backoff = "none")]
        fn shape(&self, calls: &Calls) -> Result<Cow<'_, str>, Busy> {
            calls.fail_twice(self.0)?;
            Ok(self.0.into())
        }
    }
    let calls = Calls::new();
    assert_eq!(Parser("a").shape(&calls).unwrap(), "a");
    calls.each_saw("a");
}

#[test]
fn lifetime_of_the_impl_async() {
    struct Parser<'t> {
        text: &'t str,
    }
    impl<'t> Parser<'t> {
        #[retryable(backoff = "none")]
        async fn shape(&mut self, calls: &Calls) -> Result<&'t str, Busy> {
            self.text = &self.text[1..];
            calls.fail_twice(self.text)?;
            Ok(self.text)
        }
    }
    let calls = Calls::new();
    let mut parser = Parser { text: "abcde" };
    assert_eq!(run(parser.shape(&calls)), Ok("de"));
    calls.saw(["bcde", "cde", "de"]);
}

#[test]
fn higher_ranked_bound_async() {
    #[retryable(backoff = "none")]
    async fn shape<F>(calls: &Calls, f: F) -> Result<u32, Busy>
    where
        for<'a> F: Fn(&'a str) -> &'a str + Sync,
    {
        calls.fail_twice(f("ab"))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, |text| &text[1..])), Ok(3));
    calls.each_saw("b");
}

#[test]
fn generic_method_of_a_generic_impl_sync() {
    struct Cache<K, V>(HashMap<K, V>);
    impl<K, V> Cache<K, V>
    where
        K: std::hash::Hash + Eq,
        V: Clone + Debug,
    {
        #[retryable(backoff = "none")]
        fn shape<Q>(&mut self, calls: &Calls, key: &Q, value: V) -> Result<Option<V>, Busy>
        where
            Q: ?Sized + ToOwned<Owned = K>,
        {
            let before = self.0.insert(key.to_owned(), value.clone());
            calls.fail_twice(&before)?;
            Ok(before)
        }
    }
    let calls = Calls::new();
    let mut cache = Cache::<String, u32>(HashMap::new());
    assert_eq!(cache.shape(&calls, "key", 5), Ok(Some(5)));
    calls.saw([None, Some(5), Some(5)]);
}

#[test]
fn generic_method_of_a_generic_impl_async() {
    struct Client<T>(PhantomData<T>);
    impl<T: Default + Debug + Sync> Client<T> {
        const MAX: u32 = 3;

        #[retryable(backoff = "none", max = Self::MAX)]
        async fn shape<U: Debug + Sync>(&self, calls: &Calls, other: U) -> Result<T, Busy> {
            calls.fail_twice((T::default(), &other))?;
            Ok(T::default())
        }
    }
    let calls = Calls::new();
    assert_eq!(run(Client::<u32>(PhantomData).shape(&calls, "a")), Ok(0));
    calls.each_saw((0, "a"));
}

#[test]
fn const_generic_of_the_impl_as_max_sync() {
    struct Times<const N: usize>;
    impl<const N: usize> Times<N> {
        #[retryable(backoff = "none", max = N)]
        fn shape(calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(N)
        }
    }
    let calls = Calls::new();
    assert_eq!(Times::<3>::shape(&calls), Ok(3));
    calls.each_saw(3);
}

mod named_constant_of_the_impl {
    use super::*;

    #[test]
    fn long_const_generic_of_the_impl_as_max_sync() {
        struct Times<const MAX: usize>;
        impl<const MAX: usize> Times<MAX> {
            #[retryable(backoff = "none", max = const { MAX })]
            fn shape(calls: &Calls) -> Result<u32, Busy> {
                calls.fail_twice(MAX)
            }
        }
        let calls = Calls::new();
        assert_eq!(Times::<3>::shape(&calls), Ok(3));
        calls.each_saw(3);
    }
}

#[test]
fn constant_of_a_type_parameter_as_max_sync() {
    trait Config {
        const RETRIES: u16;
    }
    struct Three;
    impl Config for Three {
        const RETRIES: u16 = 3;
    }
    #[retryable(backoff = "none", max = C::RETRIES)]
    fn shape<C: Config>(calls: &Calls) -> Result<u32, Busy> {
        calls.fail_twice(())
    }
    #[retryable(backoff = "none", max = <Conf as Config>::RETRIES)]
    fn qualified<Conf: Config>(calls: &Calls) -> Result<u32, Busy> {
        calls.fail_twice(())
    }
    let (calls, other) = (Calls::new(), Calls::new());
    assert_eq!(shape::<Three>(&calls), Ok(3));
    assert_eq!(qualified::<Three>(&other), Ok(3));
    calls.each_saw(());
    other.each_saw(());
}

#[test]
fn coerces_to_a_function_pointer_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, number: u32) -> Result<u32, Busy> {
        calls.fail_twice(number)
    }
    let calls = Calls::new();
    let pointer: for<'a> fn(&'a Calls, u32) -> Result<u32, Busy> = shape;
    assert_eq!(pointer(&calls, 1), Ok(3));
    calls.each_saw(1);
}

#[test]
fn method_as_a_function_pointer_sync() {
    struct Client(Calls);
    impl Client {
        #[retryable(backoff = "none")]
        fn shape(&self) -> Result<u32, Busy> {
            self.0.fail_twice(())
        }
    }
    let clients = [const { Client(Calls::new()) }; 2];
    assert!(clients.iter().map(Client::shape).eq([Ok(3), Ok(3)]));
    clients.iter().for_each(|client| client.0.each_saw(()));
}

#[test]
fn lifetime_late_bound_as_written_async() {
    #[retryable(backoff = "none")]
    async fn shape<'a>(calls: &'a Calls, text: &str) -> Result<&'a Calls, Busy> {
        calls.fail_twice(text)?;
        Ok(calls)
    }
    async fn call<F>(f: F, calls: &Calls) -> bool
    where
        F: for<'a> AsyncFn(&'a Calls, &str) -> Result<&'a Calls, Busy>,
    {
        f(calls, "a").await.is_ok()
    }
    let calls = Calls::new();
    assert!(run_here(call(shape, &calls)));
    calls.each_saw("a");
}
