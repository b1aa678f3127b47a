//! Functions that a `macro_rules!` macro writes.

use crate::support::{Busy, Calls, run};
use retry_runtime::retryable;

macro_rules! functions {
    ($(
        $(#[$attr:meta])*
        $vis:vis fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty $body:block
    )+) => {
        $(
            $(#[$attr])*
            #[retryable(backoff = "none")]
            $vis fn $name($($arg: $ty),*) -> $ret $body
        )+
    };
}

mod library {
    use super::*;

    functions! {
        /// Documented.
        #[inline]
        pub(super) fn public(calls: &Calls, text: String) -> Result<u32, Busy> {
            calls.fail_twice(&text)
        }

        fn private(calls: &Calls) -> std::io::Result<u32> {
            let number = calls.fail_twice(())?;
            Ok(number)
        }
    }

    pub(super) fn call_private(calls: &Calls) -> std::io::Result<u32> {
        private(calls)
    }
}

#[test]
fn every_part_from_a_macro_sync() {
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!(library::public(&a, String::from("a")), Ok(3));
    a.each_saw("a");
    assert_eq!(library::call_private(&b).unwrap(), 3);
    b.each_saw(());
}

macro_rules! with_keys {
    (max = $max:expr, on = $on:path, except = $except:pat, clone = $clone:ident) => {
        #[retryable(
                                                                            max = $max,
                                                                            backoff = "none",
                                                                            on = $on,
                                                                            except($except),
                                                                            clone($clone),
                                                                        )]
        async fn keys_from_a_macro(calls: &Calls, $clone: String) -> Result<String, u16> {
            let moved = $clone;
            calls.fail_twice(&moved).map_err(|_| 503u16)?;
            Ok(moved)
        }
    };
}

mod status {
    pub(super) fn is_transient(status: &u16) -> bool {
        *status >= 400
    }
}

#[test]
fn every_key_from_a_macro_async() {
    with_keys! {
        max = 1 + 2,
        on = status::is_transient,
        except = 400..=499 | 501,
        clone = text
    }
    let calls = Calls::new();
    let done = run(keys_from_a_macro(&calls, String::from("a")));
    assert_eq!(done.unwrap(), "a");
    calls.each_saw("a");
}

macro_rules! methods {
    ($self:ident, $ty:ident, $count:expr, $($name:ident: $receiver:ty),+) => {
        impl $ty {
            $(
                #[retryable(backoff = "none", max = $count)]
                fn $name($self: $receiver, calls: &Calls) -> Result<u32, Busy> {
                    calls.fail_twice(&$self.0)
                }
            )+

            #[retryable(backoff = "none", max = $self.0)]
            async fn renamed(mut $self, calls: &Calls) -> Result<u32, Busy> {
                $self.0 += 1;
                calls.fail_twice($self.0)
            }
        }
    };
}

#[test]
fn self_from_a_macro() {
    #[derive(Clone)]
    struct Job(u32);
    methods!(self, Job, 3, shared: &Self, boxed: Box<Self>);
    let [a, b, c] = [const { Calls::new() }; 3];
    assert_eq!(Job(3).shared(&a), Ok(3));
    assert_eq!(Box::new(Job(3)).boxed(&b), Ok(3));
    assert_eq!(run(Job(3).renamed(&c)), Ok(3));
    a.each_saw(3);
    b.each_saw(3);
    c.each_saw(4);
}

macro_rules! patterns {
    ($pattern:pat, $ty:ty => $seen:expr, $lifetime:lifetime, $literal:literal) => {
        #[retryable(backoff = "none", max = $literal)]
        fn pattern_from_a_macro<$lifetime>(
            calls: &$lifetime Calls,
            $pattern: $ty,
        ) -> Result<&$lifetime Calls, Busy> {
            calls.fail_twice($seen)?;
            Ok(calls)
        }
    };
}

#[test]
fn patterns_lifetimes_and_literals_from_a_macro_sync() {
    patterns!((a, b), (u32, String) => (a, &b), 'a, 3);
    let calls = Calls::new();
    assert!(pattern_from_a_macro(&calls, (1, String::from("b"))).is_ok());
    calls.each_saw((1, "b"));
}

#[test]
fn mut_pattern_from_a_macro_is_fresh_sync() {
    macro_rules! written {
        ($pattern:pat, $argument:ident, $ty:ty, $body:block) => {
            #[retryable(backoff = "none")]
            fn shape(calls: &Calls, $pattern: $ty, mut $argument: u32) -> Result<u32, Busy> {
                $argument += 1;
                calls.fail_twice(($body, $argument))
            }
        };
    }
    written!((mut a, _), b, (u32, String), {
        a += 1;
        a
    });
    let calls = Calls::new();
    assert_eq!(shape(&calls, (1, String::new()), 1), Ok(3));
    calls.each_saw((2, 2));
}

#[test]
fn item_from_a_macro_sync() {
    macro_rules! retried {
        ($item:item) => {
            #[retryable(backoff = "none")]
            $item
        };
    }
    retried! {
        fn shape(calls: &Calls, mut text: String) -> Result<u32, Busy> {
            text.push('!');
            calls.fail_twice(text)
        }
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, String::from("a")), Ok(3));
    calls.each_saw("a!");
}

#[test]
fn local_of_a_macro_beside_an_argument_sync() {
    macro_rules! shadowed {
        ($number:ident, $body:expr) => {
            #[retryable(backoff = "none")]
            fn shape(calls: &Calls, mut $number: u32, mut number: u32) -> Result<u32, Busy> {
                number += 10;
                $number += $body;
                calls.fail_twice(($number, number))
            }
        };
    }
    shadowed!(number, 1);
    let calls = Calls::new();
    assert_eq!(shape(&calls, 1, 2), Ok(3));
    calls.each_saw((2, 12));
}

mod paths_from_a_macro {
    use super::*;

    #[test]
    fn crate_and_sleep_from_a_macro_sync() {
        fn never(_: std::time::Duration) {}
        macro_rules! written {
            ($crate_:path, $sleep:path) => {
                #[retryable(crate = $crate_, sleep = $sleep)]
                fn shape(calls: &Calls) -> Result<u32, Busy> {
                    calls.fail_twice(())
                }
            };
        }
        written!(::retry_runtime, never);
        let calls = Calls::new();
        assert_eq!(shape(&calls), Ok(3));
        calls.each_saw(());
    }
}

mod dollar_crate {
    use super::*;

    #[test]
    fn dollar_crate_from_a_macro_sync() {
        macro_rules! written {
            () => {
                #[retryable(crate = $crate::hygiene::reexport::retry, backoff = "none")]
                fn shape(calls: &Calls) -> Result<u32, Busy> {
                    calls.fail_twice(())
                }
            };
        }
        written!();
        let calls = Calls::new();
        assert_eq!(shape(&calls), Ok(3));
        calls.each_saw(());
    }
}
