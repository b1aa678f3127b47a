//! `on`, `except` and `until` in every form.

use crate::support::{Calls, run};
use retry_runtime::{Decision, retryable};
use std::time::Duration;

/// An error without `Transient`.
#[derive(Debug, PartialEq)]
enum ApiError {
    Busy,
    Status(u16),
    Denied { again: bool },
}

impl ApiError {
    fn is_busy(&self) -> bool {
        matches!(self, Self::Busy)
    }

    fn decision(&self) -> Decision {
        match self {
            Self::Busy => Decision::RetryNow,
            Self::Status(_) => Decision::RetryAfter(Duration::ZERO),
            Self::Denied { .. } => Decision::Stop,
        }
    }
}

fn is_busy(error: &ApiError) -> bool {
    error.is_busy()
}

fn is_denied(error: &ApiError) -> bool {
    matches!(error, ApiError::Denied { .. })
}

fn always(said: bool) -> impl Fn(&ApiError) -> bool {
    move |_| said
}

mod classify {
    use super::*;

    pub(super) fn busy(error: &ApiError) -> bool {
        error.is_busy()
    }

    pub(super) fn decide(error: &ApiError) -> Decision {
        error.decision()
    }

    pub(super) fn any<E>(_: &E) -> bool {
        true
    }
}

fn busy_twice(calls: &Calls) -> Result<u32, ApiError> {
    calls.fail_twice(()).map_err(|_| ApiError::Busy)
}

/// With these keys `busy_twice` is retried.
macro_rules! retried {
    ($($name:ident($($keys:tt)*);)+) => {
        $(
            #[test]
            fn $name() {
                #[retryable(backoff = "none", $($keys)*)]
                fn blocking(calls: &Calls) -> Result<u32, ApiError> {
                    busy_twice(calls)
                }
                #[retryable(backoff = "none", $($keys)*)]
                async fn task(calls: &Calls) -> Result<u32, ApiError> {
                    busy_twice(calls)
                }
                let [a, b] = [const { Calls::new() }; 2];
                assert_eq!((blocking(&a), run(task(&b))), (Ok(3), Ok(3)));
                [a, b].iter().for_each(|calls| calls.each_saw(()));
            }
        )+
    };
}

retried! {
    on_any(on = "any");
    on_path(on = is_busy);
    on_path_in_a_string(on = "is_busy");
    on_path_in_a_module(on = classify::busy);
    on_path_in_a_module_in_a_string(on = "classify::busy");
    on_path_from_the_crate(on = crate::predicates::classify::busy);
    on_path_from_self_in_a_string(on = "self::is_busy");
    on_path_of_a_method(on = ApiError::is_busy);
    on_path_of_a_method_in_a_string(on = "ApiError::is_busy");
    on_path_of_a_qualified_type(on = <ApiError>::is_busy);
    on_path_with_generics(on = classify::any::<ApiError>);
    on_path_with_generics_in_a_string(on = "classify::any::<ApiError>");
    on_path_of_a_generic_function(on = classify::any);
    on_path_to_a_decision(on = classify::decide);
    on_path_of_a_method_to_a_decision(on = "ApiError::decision");
    on_closure(on = |error| error.is_busy());
    on_closure_with_a_type(on = |error: &ApiError| *error == ApiError::Busy);
    on_closure_with_a_block(on = |error| { let busy = error.is_busy(); assert!(busy); busy });
    on_closure_without_a_name(on = |_| true);
    on_closure_to_a_decision(on = |error| error.decision());
    on_closure_to_a_chosen_decision(on = |error| if error.is_busy() { Decision::Retry } else { Decision::Stop });
    on_closure_that_moves(on = move |error| error.is_busy());
    on_function_that_makes_a_predicate(on = always(true));
    on_pattern(on(ApiError::Busy));
    on_pattern_with_alternatives(on(ApiError::Status(_) | ApiError::Busy));
    on_pattern_with_a_leading_bar(on(| ApiError::Busy | ApiError::Denied { again: true }));
    on_pattern_with_a_range(on(ApiError::Busy | ApiError::Status(429 | 500..=599)));
    on_pattern_with_a_guard(on(error if error.is_busy()));
    on_pattern_that_matches_all(on(_));
    except_path(on = "any", except = is_denied);
    except_path_in_a_string(on = "any", except = "is_denied");
    except_closure(on = "any", except = |error| !error.is_busy());
    except_pattern(on = "any", except(ApiError::Denied { .. } | ApiError::Status(400..=499)));
    except_before_on(except(ApiError::Status(_)), on = is_busy);
}

#[test]
fn on_pattern_of_alternatives_and_ranges_tells_errors_apart_sync() {
    #[retryable(backoff = "none", max = 9, on(ApiError::Busy | ApiError::Status(429 | 500..=599)))]
    fn shape(statuses: &mut dyn Iterator<Item = u16>) -> Result<u32, ApiError> {
        Err(ApiError::Status(statuses.next().unwrap_or(0)))
    }
    let mut statuses = [429, 500, 599, 404, 503].into_iter();
    assert_eq!(shape(&mut statuses), Err(ApiError::Status(404)));
    assert_eq!(statuses.next(), Some(503));
}

#[test]
fn except_wins_over_on_sync() {
    #[retryable(backoff = "none", on = "any", except(ApiError::Busy))]
    fn shape(calls: &Calls) -> Result<u32, ApiError> {
        busy_twice(calls)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Err(ApiError::Busy));
    calls.saw([()]);
}

#[test]
fn on_leaves_other_errors_alone_async() {
    #[retryable(backoff = "none", on(ApiError::Status(500..=599)))]
    async fn shape(calls: &Calls) -> Result<u32, ApiError> {
        busy_twice(calls)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Err(ApiError::Busy));
    calls.saw([()]);
}

#[test]
fn except_without_on_narrows_transient_sync() {
    #[retryable(backoff = "none", except(error if error.raw_os_error().is_some()))]
    fn shape(calls: &Calls) -> std::io::Result<u32> {
        Ok(calls.fail_twice(())?)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls).unwrap(), 3);
    calls.each_saw(());
}

#[test]
fn predicate_that_sees_the_arguments_sync() {
    #[retryable(backoff = "none", on = |error| retry && error.is_busy(), clone(name))]
    fn shape(calls: &Calls, retry: bool, name: String) -> Result<u32, ApiError> {
        calls.fail_twice(name).map_err(|_| ApiError::Busy)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, true, String::from("a")), Ok(3));
    calls.each_saw("a");
    let calls = Calls::new();
    assert!(shape(&calls, false, String::from("a")).is_err());
    calls.saw(["a"]);
}

#[test]
fn predicate_that_sees_the_arguments_async() {
    #[retryable(
        backoff = "none",
        on = |error| codes.contains(&1) && error.is_busy(),
        except = |_| codes.is_empty(),
    )]
    async fn shape(calls: &Calls, codes: Vec<u16>, mut left: u32) -> Result<u32, ApiError> {
        left += 1;
        calls.fail_twice(left).map_err(|_| ApiError::Busy)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, vec![1], 0)), Ok(3));
    calls.each_saw(1);
}

#[test]
fn predicate_that_sees_the_callers_value_of_a_mut_argument_sync() {
    #[retryable(backoff = "none", on = |_| number == 1)]
    fn shape(calls: &Calls, mut number: u32) -> Result<u32, ApiError> {
        number += 1;
        calls.fail_twice(number).map_err(|_| ApiError::Busy)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, 1), Ok(3));
    calls.each_saw(2);
}

#[test]
fn predicate_that_sees_self_sync() {
    #[derive(Clone)]
    struct Client {
        codes: Vec<u16>,
        runs: u32,
    }
    impl Client {
        fn retries(&self, error: &ApiError) -> bool {
            !self.codes.is_empty() && error.is_busy()
        }

        #[retryable(backoff = "none", on = |error| self.retries(error))]
        fn shared(&self, calls: &Calls) -> Result<u32, ApiError> {
            busy_twice(calls)
        }

        #[retryable(backoff = "none", on = |error| self.runs < 3 && self.retries(error))]
        fn changed(&mut self, calls: &Calls) -> Result<u32, ApiError> {
            self.runs += 1;
            busy_twice(calls)
        }

        #[retryable(backoff = "none", on = |error| self.retries(error), clone(self))]
        fn consumed(self, calls: &Calls) -> Result<u32, ApiError> {
            drop(self.codes);
            busy_twice(calls)
        }

        #[retryable(backoff = "none", on = Self::any)]
        async fn associated(&self, calls: &Calls) -> Result<u32, ApiError> {
            busy_twice(calls)
        }

        fn any(_: &ApiError) -> bool {
            true
        }
    }
    let all = [const { Calls::new() }; 4];
    let [a, b, c, d] = &all;
    let mut client = Client {
        codes: vec![1],
        runs: 0,
    };
    assert_eq!(client.shared(a), Ok(3));
    assert_eq!(client.changed(b), Ok(3));
    assert_eq!(run(client.associated(c)), Ok(3));
    assert_eq!(client.consumed(d), Ok(3));
    all.iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn predicate_that_changes_what_it_captures_sync() {
    #[retryable(backoff = "none", on = |error| { *asked += 1; error.is_busy() })]
    fn shape(calls: &Calls, asked: &mut u32) -> Result<u32, ApiError> {
        busy_twice(calls)
    }
    let (calls, mut asked) = (Calls::new(), 0);
    assert_eq!(shape(&calls, &mut asked), Ok(3));
    calls.each_saw(());
    assert_eq!(asked, 2);
}

#[test]
fn predicate_on_what_the_error_points_to_sync() {
    fn is_busy(text: &str) -> bool {
        text == "busy"
    }
    #[retryable(backoff = "none", on = is_busy)]
    fn shape(calls: &Calls) -> Result<u32, String> {
        calls.fail_twice(()).map_err(|error| error.to_string())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(3));
    calls.each_saw(());
}

#[test]
fn predicate_held_in_an_argument_sync() {
    #[retryable(backoff = "none", on = retries)]
    fn pointer(calls: &Calls, retries: fn(&ApiError) -> bool) -> Result<u32, ApiError> {
        busy_twice(calls)
    }
    #[retryable(backoff = "none", on = retries)]
    fn generic(calls: &Calls, retries: impl Fn(&ApiError) -> bool) -> Result<u32, ApiError> {
        busy_twice(calls)
    }
    #[retryable(backoff = "none", on = |error| retries(error))]
    fn object(calls: &Calls, retries: &dyn Fn(&ApiError) -> Decision) -> Result<u32, ApiError> {
        busy_twice(calls)
    }
    let all = [const { Calls::new() }; 3];
    let [a, b, c] = &all;
    assert_eq!(pointer(a, is_busy), Ok(3));
    assert_eq!(generic(b, |error| error.is_busy()), Ok(3));
    assert_eq!(object(c, &|error| error.decision()), Ok(3));
    all.iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn predicate_held_in_a_field_sync() {
    struct Client {
        retries: fn(&ApiError) -> bool,
    }
    impl Client {
        #[retryable(backoff = "none", on = self.retries)]
        fn shape(&self, calls: &Calls) -> Result<u32, ApiError> {
            busy_twice(calls)
        }
    }
    let calls = Calls::new();
    assert_eq!(Client { retries: is_busy }.shape(&calls), Ok(3));
    calls.each_saw(());
}

// `until`, on the value

/// With these keys a function polls until there is a number above 2.
macro_rules! polled {
    ($($name:ident($($keys:tt)*);)+) => {
        $(
            #[test]
            fn $name() {
                #[retryable(backoff = "none", $($keys)*)]
                fn value(calls: &Calls, least: u32) -> Option<u32> {
                    calls.fail_twice(least).ok()
                }
                #[retryable(backoff = "none", $($keys)*)]
                async fn result(calls: &Calls, least: u32) -> Result<Option<u32>, ApiError> {
                    Ok(calls.fail_twice(least).ok())
                }
                let [a, b] = [const { Calls::new() }; 2];
                assert_eq!(value(&a, 2), Some(3));
                assert_eq!(run(result(&b, 2)), Ok(Some(3)));
                [a, b].iter().for_each(|calls| calls.each_saw(2));
            }
        )+
    };
}

polled! {
    until_path(until = Option::is_some);
    until_path_in_a_string(until = "Option::is_some");
    until_path_with_generics(until = Option::<u32>::is_some);
    until_own_function(until = is_there);
    until_closure(until = |found| found.is_some());
    until_closure_with_a_type(until = |found: &Option<u32>| *found > Some(2));
    until_pattern(until(Some(_)));
    until_pattern_with_a_range(until(Some(3..)));
    until_pattern_with_a_guard(until(Some(number) if *number > 2));
    until_pattern_with_alternatives(until(Some(3) | Some(4..=9)));
}

fn is_there(found: &Option<u32>) -> bool {
    found.is_some()
}

#[test]
fn until_that_sees_the_arguments_sync() {
    #[retryable(backoff = "none", until = |found| *found > Some(least))]
    fn closure(calls: &Calls, least: u32) -> Option<u32> {
        calls.fail_twice(least).ok()
    }
    #[retryable(backoff = "none", until(Some(number) if *number > least))]
    fn guard(calls: &Calls, least: u32) -> Option<u32> {
        calls.fail_twice(least).ok()
    }
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!((closure(&a, 2), guard(&b, 2)), (Some(3), Some(3)));
    [a, b].iter().for_each(|calls| calls.each_saw(2));
}

#[test]
fn until_beside_on_and_except_sync() {
    #[retryable(
        backoff = "none",
        max = 5,
        until(Some(_)),
        on = is_busy,
        except(ApiError::Denied { again: false })
    )]
    fn shape(calls: &Calls) -> Result<Option<u32>, ApiError> {
        match calls.fail_twice(()) {
            Err(_) => Err(ApiError::Busy),
            Ok(3) => Ok(None),
            Ok(4) => Ok(Some(4)),
            Ok(_) => Err(ApiError::Denied { again: false }),
        }
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(Some(4)));
    calls.saw([(); 4]);
    assert_eq!(shape(&calls), Err(ApiError::Denied { again: false }));
}
