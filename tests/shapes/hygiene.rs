//! Names of the user's that the expansion might take for its own, and the other way round.

use crate::support::{Busy, Calls, run};
use retry_runtime::retryable;

#[test]
fn arguments_named_like_anything_sync() {
    #[retryable(backoff = "none")]
    fn shape(
        calls: &Calls,
        counter: u8,
        policy: &str,
        result: [u8; 1],
        err: (),
        delay: char,
        attempts: bool,
        outcome: Option<u8>,
        wait: u64,
        error: i8,
        value: f32,
        decision: &[u8],
        retry: String,
        __self: u16,
        __retryable: u16,
        r#type: u16,
    ) -> Result<u32, Busy> {
        let first = (counter, policy, result, err, delay, attempts, outcome, wait);
        let rest = (error, value, decision, &retry, __self, __retryable, r#type);
        calls.fail_twice((first, rest))
    }
    let calls = Calls::new();
    assert_eq!(
        shape(
            &calls,
            1,
            "2",
            [3],
            (),
            '4',
            true,
            None,
            5,
            6,
            7.5,
            &[8],
            String::from("9"),
            10,
            11,
            12
        ),
        Ok(3)
    );
    calls.each_saw((
        (1, "2", [3], (), '4', true, None::<u8>, 5),
        (6, 7.5, [8], "9", 10, 11, 12),
    ));
}

#[test]
fn arguments_named_like_anything_async() {
    struct Client;
    impl Client {
        #[retryable(backoff = "none", clone(outcome))]
        async fn shape(
            mut self,
            calls: &Calls,
            mut attempts: String,
            outcome: String,
            mut wait: u64,
            mut error: i8,
            mut value: f32,
            mut decision: u8,
            __self: u16,
        ) -> Result<u32, Busy> {
            self = Self;
            let Self = self;
            attempts.push('!');
            wait += 1;
            error += 1;
            value += 1.0;
            decision += 1;
            let moved = outcome;
            calls.fail_twice((&attempts, moved, wait, error, value, decision, __self))
        }
    }
    impl Clone for Client {
        fn clone(&self) -> Self {
            Self
        }
    }
    let calls = Calls::new();
    let call = Client.shape(
        &calls,
        String::from("a"),
        String::from("b"),
        1,
        2,
        3.0,
        4,
        5,
    );
    assert_eq!(run(call), Ok(3));
    calls.each_saw(("a!", "b", 2, 3, 4.0, 5, 5));
}

#[test]
fn arguments_named_like_anything_in_the_keys_sync() {
    #[retryable(
        max = attempts,
        backoff = "none",
        on = |_| outcome == value && wait == error,
        except = |_| !decision,
    )]
    fn shape(
        calls: &Calls,
        attempts: u32,
        outcome: u32,
        value: u32,
        wait: u32,
        error: u32,
        decision: bool,
    ) -> Result<u32, Busy> {
        calls.fail_twice((attempts, outcome, value, wait, error, decision))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, 3, 1, 1, 2, 2, true), Ok(3));
    calls.each_saw((3, 1, 1, 2, 2, true));
}

#[test]
fn predicate_named_like_a_local_sync() {
    fn error(_: &Busy) -> bool {
        true
    }
    fn outcome(_: &Busy) -> bool {
        false
    }
    fn value(found: &Option<u32>) -> bool {
        found.is_some()
    }
    #[retryable(backoff = "none", on = error, except = outcome)]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        calls.fail_twice(())
    }
    #[retryable(backoff = "none", until = value)]
    fn polled(calls: &Calls) -> Option<u32> {
        calls.fail_twice(()).ok()
    }
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!((shape(&a), polled(&b)), (Ok(3), Some(3)));
    [a, b].iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn functions_named_like_anything_sync() {
    macro_rules! named {
        ($($name:ident)+) => {
            $({
                #[retryable(backoff = "none")]
                fn $name(calls: &Calls) -> Result<u32, Busy> {
                    calls.fail_twice(())
                }
                let calls = Calls::new();
                assert_eq!($name(&calls), Ok(3));
                calls.each_saw(());
            })+
        };
    }
    named! { retry attempts outcome wait error value decision begin after_failure block matches
    concat module_path core std retry_runtime retryable r#match r#async drop }
}

#[expect(non_upper_case_globals, reason = "the names are the point")]
mod constants_named_like_locals {
    use super::*;

    const result: u32 = 1;
    const err: u32 = 1;
    const counter: u32 = 1;
    const policy: u32 = 1;
    const delay: u32 = 1;
    static tries: u32 = 1;

    #[test]
    fn constants_named_like_locals_sync() {
        struct Client;
        impl Client {
            #[retryable(backoff = "none")]
            fn shape(&mut self, calls: &Calls) -> Result<u32, Busy> {
                calls.fail_twice(result + err + counter + policy + delay + tries)
            }
        }
        let calls = Calls::new();
        assert_eq!(Client.shape(&calls), Ok(3));
        calls.each_saw(6);
    }

    #[test]
    fn constants_named_like_locals_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(result + err + counter + policy + delay + tries)
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls)), Ok(3));
        calls.each_saw(6);
    }
}

mod constants_named_like_locals_of_the_expansion {
    macro_rules! constants {
        ($($name:ident)+) => {
            $(
                #[expect(non_upper_case_globals, reason = "the names are the point")]
                mod $name {
                    use super::super::*;

                    const $name: u32 = 1;

                    #[test]
                    fn constant_named_like_a_local_sync() {
                        #[derive(Clone)]
                        struct Client;
                        impl Client {
                            #[retryable(backoff = "none", clone(self), on = |_| true)]
                            fn shape(self, calls: &Calls) -> Result<u32, Busy> {
                                let Self = self;
                                calls.fail_twice($name)
                            }
                        }
                        let calls = Calls::new();
                        assert_eq!(Client.shape(&calls), Ok(3));
                        calls.each_saw(1);
                    }

                    #[test]
                    fn constant_named_like_a_local_async() {
                        #[retryable(backoff = "none", deadline_ms = 9000, until(Some(_)))]
                        async fn shape(calls: &Calls) -> Option<u32> {
                            calls.fail_twice($name).ok()
                        }
                        let calls = Calls::new();
                        assert_eq!(run(shape(&calls)), Some(3));
                        calls.each_saw(1);
                    }
                }
            )+
        };
    }
    constants! { attempts outcome wait decision limits reason attempt error value found limit started
    failure given token permit open breaker budget next }
}

mod result_as_an_alias {
    use super::*;

    type Result<T> = std::result::Result<T, Busy>;

    #[test]
    fn result_as_an_alias_sync() {
        #[retryable(backoff = "none")]
        fn shape(calls: &Calls) -> Result<u32> {
            calls.fail_twice(())
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls), Ok(3));
        calls.each_saw(());
    }

    #[test]
    fn result_as_an_alias_async() {
        #[retryable(backoff = "none", clone(text))]
        async fn shape(calls: &Calls, text: String) -> Result<String> {
            calls.fail_twice(&text)?;
            Ok(text)
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, String::from("a"))).unwrap(), "a");
        calls.each_saw("a");
    }
}

mod variants_of_an_own_enum {
    use super::*;

    #[derive(Debug, PartialEq)]
    #[expect(dead_code, reason = "for their names")]
    enum Answer {
        Ok,
        Err,
        Some,
        None,
    }
    use Answer::*;

    #[test]
    fn variants_of_an_own_enum_sync() {
        #[retryable(backoff = "none")]
        fn shape(calls: &Calls, mut number: u32) -> Result<Answer, Busy> {
            number += 1;
            calls.fail_twice(number)?;
            Result::Ok(Ok)
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls, 1), Result::Ok(Ok));
        calls.each_saw(2);
    }

    #[test]
    fn variants_of_an_own_enum_async() {
        #[retryable(backoff = "none", until(Some), on(Busy))]
        async fn shape(calls: &Calls, text: String) -> Result<Answer, Busy> {
            match calls.fail_twice(text.len()) {
                Result::Ok(_) => Result::Ok(Some),
                Result::Err(Busy) => Result::Ok(Err),
            }
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, String::new())), Result::Ok(Some));
        calls.each_saw(0);
    }
}

#[expect(dead_code, reason = "for their names")]
mod types_traits_and_functions_of_the_prelude {
    use super::*;

    struct Result<T, E>(T, E);
    struct Option<T>(T);
    struct Duration;
    struct Policy;
    struct Decision;
    struct Attempts;
    struct String;
    trait Clone {}
    trait Into<T> {}
    trait Iterator {}
    trait Transient {}
    trait Send {}
    trait Future {}
    trait FnOnce {}
    fn drop() {}
    fn matches() {}

    #[test]
    fn types_traits_and_functions_of_the_prelude_sync() {
        #[retryable(backoff = "none", max = max, clone(text))]
        fn shape(
            calls: &Calls,
            max: u8,
            text: std::string::String,
            mut number: u32,
        ) -> core::result::Result<u32, Busy> {
            number += 1;
            calls.fail_twice((&text, number))?;
            core::mem::drop(text);
            Ok(number)
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls, 3, "a".into(), 1), Ok(2));
        calls.each_saw(("a", 2));
    }

    #[test]
    fn types_traits_and_functions_of_the_prelude_async() {
        #[retryable(until(core::option::Option::Some(_)), jitter = 0.5, factor = factor, max = 3)]
        async fn shape(calls: &Calls, factor: f64) -> core::option::Option<u32> {
            calls.fail_twice(factor).ok()
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, 1.5)), Some(3));
        calls.each_saw(1.5);
    }
}

#[expect(unused_macros, reason = "for their names")]
mod modules_and_macros_of_the_standard_library {
    use super::{Busy, Calls, retryable, run};

    mod std {}
    mod core {}
    mod alloc {}
    mod tokio {}
    mod retry_runtime {}
    mod retry_macros {}
    macro_rules! matches {
        () => {};
    }
    macro_rules! concat {
        () => {};
    }
    macro_rules! module_path {
        () => {};
    }
    macro_rules! retry {
        () => {};
    }
    macro_rules! __retry {
        () => {};
    }

    #[test]
    fn modules_and_macros_of_the_standard_library_sync() {
        #[retryable(backoff = "none", on(Busy), max = max)]
        fn shape(calls: &Calls, max: u32, mut text: String) -> Result<u32, Busy> {
            text.push('!');
            calls.fail_twice(text)
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls, 3, String::from("a")), Ok(3));
        calls.each_saw("a!");
    }

    #[test]
    fn modules_and_macros_of_the_standard_library_async() {
        #[retryable(max = 3, base_ms = 5, jitter = "full")]
        async fn shape(calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls)), Ok(3));
        calls.each_saw(());
    }
}

#[allow(dead_code, reason = "for their names")]
mod methods_of_a_trait_for_everything {
    use super::*;

    /// Has a method of each name that the expansion calls, for every type.
    #[allow(
        dead_code,
        clippy::wrong_self_convention,
        reason = "in scope is enough"
    )]
    trait Everything: Sized {
        fn failure(&self) -> u32 {
            panic!("taken for a method of Fallible")
        }
        fn max(self, _: u32) -> u32 {
            panic!("taken for a method of Policy")
        }
        fn backoff(self, _: u32) -> u32 {
            panic!("taken for a method of Policy")
        }
        fn as_ref(&self) -> u32 {
            panic!("taken for a method of Option")
        }
        fn clone(&self) -> u32 {
            panic!("taken for a method of Clone")
        }
    }
    impl<T> Everything for T {}

    #[test]
    fn methods_of_a_trait_for_everything_sync() {
        #[retryable(backoff = "none", max = 3, clone(text))]
        fn shape(calls: &Calls, text: String, mut number: u32) -> Result<u32, Busy> {
            number += 1;
            calls.fail_twice((text, number))
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls, String::new(), 1), Ok(3));
        calls.each_saw(("", 2));
    }

    #[test]
    fn methods_of_a_trait_for_everything_async() {
        #[retryable(max = 3, base_ms = 1)]
        async fn shape(calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls)), Ok(3));
        calls.each_saw(());
    }
}

mod methods_by_value_of_a_trait_for_everything {
    use super::*;

    #[allow(
        dead_code,
        clippy::wrong_self_convention,
        reason = "in scope is enough"
    )]
    trait Everything: Sized {
        fn is_zero(self) -> u32 {
            panic!("taken for a method of Duration")
        }
        fn after_failure(self) -> u32 {
            panic!("taken for a method of Attempts")
        }
    }
    impl<T> Everything for T {}

    #[test]
    fn methods_by_value_of_a_trait_for_everything_async() {
        #[retryable(max = 3, base_ms = 1)]
        async fn shape(calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(())
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls)), Ok(3));
        calls.each_saw(());
    }
}

mod method_split_of_a_trait_for_everything {
    use super::*;

    trait Split: Sized {
        fn split(self) -> u32 {
            0
        }
    }
    impl<T> Split for T {}

    #[test]
    fn method_split_of_a_trait_for_everything_sync() {
        #[retryable(backoff = "none", until(Some(_)))]
        fn shape(calls: &Calls) -> Option<u32> {
            calls.fail_twice(().split()).ok()
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls), Some(3));
        calls.each_saw(0);
    }
}

mod method_into_of_a_trait_for_everything {
    use super::*;

    trait Convert: Sized {
        fn into(self) -> u32 {
            0
        }
    }
    impl<T> Convert for T {}

    #[test]
    fn method_into_of_a_trait_for_everything_async() {
        #[retryable(factor = factor)]
        async fn shape(calls: &Calls, factor: f64) -> Result<u32, Busy> {
            calls.fail_twice(Convert::into(factor))
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, 1.5)), Ok(3));
        calls.each_saw(0);
    }
}

#[no_implicit_prelude]
mod without_the_prelude {
    use super::{Busy, Calls, retryable, run};
    use ::core::{
        clone::Clone as _,
        convert::From as _,
        option::Option::{self, Some},
        result::Result::{self, Ok},
    };
    use ::std::{assert_eq, string::String};

    #[::core::prelude::v1::test]
    fn without_the_prelude_sync() {
        #[retryable(max = max, backoff = "none", clone(text), on(Busy), except = |_| false)]
        fn shape(calls: &Calls, max: u8, text: String, mut fresh: u32) -> Result<String, Busy> {
            fresh += 1;
            calls.fail_twice((&text, fresh))?;
            Ok(text)
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls, 3, String::from("a"), 1).unwrap(), "a");
        calls.each_saw(("a", 2));
    }

    #[::core::prelude::v1::test]
    fn without_the_prelude_async() {
        #[retryable(base_ms = 1, jitter = 0.5, until(Some(_)), max = 3)]
        async fn shape(calls: &Calls, text: String) -> Option<u32> {
            calls.fail_twice(text.clone()).ok()
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, String::from("a"))), Some(3));
        calls.each_saw("a");
    }

    #[::core::prelude::v1::test]
    fn run_time_factor_without_the_prelude_async() {
        #[retryable(factor = factor)]
        async fn shape(calls: &Calls, factor: f64) -> Result<u32, Busy> {
            calls.fail_twice(factor)
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, 1.5)), Ok(3));
        calls.each_saw(1.5);
    }
}

#[test]
#[expect(non_camel_case_types, reason = "the names are the point")]
fn type_parameters_named_like_anything_sync() {
    #[retryable(backoff = "none", on = "any")]
    fn shape<Option, Policy, outcome, __Result>(
        calls: &Calls,
        one: Option,
        _two: Policy,
        three: outcome,
        error: __Result,
    ) -> Result<Option, __Result>
    where
        Option: std::fmt::Debug + Clone,
        outcome: std::fmt::Debug,
        __Result: Clone,
    {
        calls
            .fail_twice((&one, &three))
            .map_err(|_| error.clone())?;
        Ok(one.clone())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, 1, 2, 3, "error"), Ok(1));
    calls.each_saw((1, 3));
}

#[test]
fn constant_that_the_body_hides_sync() {
    const MAX: usize = 3;
    #[retryable(backoff = "none", max = MAX)]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        const MAX: u32 = 0;
        calls.fail_twice(MAX)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(3));
    calls.each_saw(0);
}

#[test]
fn runtime_by_another_path_sync() {
    #[retryable(crate = ::retry_runtime, backoff = "none")]
    fn absolute(calls: &Calls) -> Result<u32, Busy> {
        calls.fail_twice(())
    }
    #[retryable(crate = crate::hygiene::reexport::retry, backoff = "none", on(Busy))]
    fn relative(calls: &Calls, mut number: u32) -> Result<u32, Busy> {
        number += 1;
        calls.fail_twice(number)
    }
    #[retryable(
        crate = "crate::hygiene::reexport::retry",
        backoff = "none",
        until(Some(_))
    )]
    fn text(calls: &Calls) -> Option<u32> {
        calls.fail_twice(()).ok()
    }
    let [a, b, c] = [const { Calls::new() }; 3];
    assert_eq!(absolute(&a), Ok(3));
    assert_eq!(relative(&b, 1), Ok(3));
    assert_eq!(text(&c), Some(3));
    b.each_saw(2);
}

pub(crate) mod reexport {
    pub(crate) use retry_runtime as retry;
}
