//! Ways out of a body, and what a body may hold.

use crate::support::{Busy, Calls, run, run_here};
use retry_runtime::retryable;
use std::{fs, future, io, path::Path, sync::Arc, time::Duration};

fn number(calls: &Calls) -> Result<u32, Busy> {
    calls.fail_twice(())
}

/// An error that a `Busy` converts to.
#[derive(Debug, PartialEq, retry_runtime::Transient)]
enum Failure {
    #[transient]
    Inner(Busy),
    #[permanent]
    Text,
}

impl From<Busy> for Failure {
    fn from(busy: Busy) -> Self {
        Self::Inner(busy)
    }
}

// `?` and `return`

#[test]
fn question_mark_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        let number = number(calls)?;
        Ok(number + 1)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(4));
    calls.each_saw(());
}

#[test]
fn question_mark_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        let number = async { number(calls) }.await?;
        Ok(number + 1)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(4));
    calls.each_saw(());
}

#[test]
fn question_mark_with_a_conversion_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Failure> {
        let number = number(calls)?;
        number.checked_sub(3).ok_or(Failure::Text)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(0));
    calls.each_saw(());
}

#[test]
fn question_mark_with_a_conversion_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Failure> {
        let number = async { number(calls) }.await?;
        number.checked_sub(3).ok_or(Failure::Text)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(0));
    calls.each_saw(());
}

#[test]
fn question_mark_that_the_return_type_infers_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u64, Failure> {
        Ok(number(calls)?.into())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(3));
    calls.each_saw(());
}

#[test]
fn question_mark_that_the_return_type_infers_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u64, Failure> {
        Ok(async { number(calls) }.await?.into())
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

#[test]
fn early_return_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        if number(calls).is_err() {
            return Err(Busy);
        }
        Ok(1)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(1));
    calls.each_saw(());
}

#[test]
fn early_return_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        if number(calls).is_err() {
            return Err(Busy);
        }
        tokio::task::yield_now().await;
        Ok(1)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(1));
    calls.each_saw(());
}

#[test]
fn return_as_last_statement_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        return number(calls);
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(3));
    calls.each_saw(());
}

#[test]
fn return_as_last_statement_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        return number(calls);
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

#[test]
fn return_in_a_match_arm_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<(), Failure> {
        match number(calls) {
            Ok(3) => Ok(()),
            Ok(_) => unreachable!(),
            _ => return Err(Failure::Inner(Busy)),
        }
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(()));
    calls.each_saw(());
}

#[test]
fn return_in_let_else_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        let Ok(number) = number(calls) else {
            return Err(Busy);
        };
        Ok(number)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

#[test]
fn return_out_of_a_labelled_loop_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        let mut rounds = 0;
        'outer: loop {
            for inner in 0.. {
                if inner == 2 {
                    rounds += 1;
                    continue 'outer;
                }
                if rounds == 2 {
                    break 'outer;
                }
                if rounds == 1 {
                    number(calls)?;
                }
            }
        }
        Ok(rounds)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(2));
    calls.saw([(), (), (), ()]);
}

#[test]
fn return_out_of_a_labelled_loop_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        'outer: loop {
            for round in 0.. {
                let Ok(number) = number(calls) else {
                    return Err(Busy);
                };
                tokio::task::yield_now().await;
                if number == 5 {
                    break 'outer Ok(round);
                }
                if round == 1 {
                    continue 'outer;
                }
            }
        }
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(0));
    calls.saw([(); 5]);
}

#[test]
fn labelled_blocks_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        let number = 'block: {
            let Ok(number) = number(calls) else {
                break 'block 0;
            };
            number
        };
        'retry: {
            if number == 0 {
                break 'retry Err(Busy);
            }
            Ok(number)
        }
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(3));
    calls.each_saw(());
}

#[test]
fn labelled_blocks_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        let number = 'block: {
            let Ok(number) = number(calls) else {
                break 'block 0;
            };
            tokio::task::yield_now().await;
            number
        };
        if number == 0 {
            return Err(Busy);
        }
        Ok(number)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

// closures, blocks, items

#[test]
fn question_mark_and_return_in_closures_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        let checked = |limit: u32| -> Result<u32, Busy> {
            let number = number(calls)?;
            if number > limit {
                return Ok(limit);
            }
            Ok(number)
        };
        checked(2)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(2));
    calls.each_saw(());
}

#[test]
fn question_mark_and_return_in_closures_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        let checked = |limit: u32| -> Result<u32, Busy> {
            let number = number(calls)?;
            if number > limit {
                return Ok(limit);
            }
            Ok(number)
        };
        tokio::task::yield_now().await;
        checked(2)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(2));
    calls.each_saw(());
}

#[test]
fn question_mark_and_return_in_async_blocks_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        let inner = async {
            let number = number(calls)?;
            if number > 2 {
                return Ok(2);
            }
            Ok::<u32, Busy>(number)
        };
        let closure = async |number: u32| {
            if number == 2 {
                return Err::<u32, Failure>(Failure::Text);
            }
            Ok(number)
        };
        assert_eq!(closure(2).await, Err(Failure::Text));
        inner.await
    }
    let calls = Calls::new();
    assert_eq!(run_here(shape(&calls)), Ok(2));
    calls.each_saw(());
}

#[test]
fn nested_functions_and_impls_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        struct Doubled(u32);
        impl Doubled {
            fn new(number: Result<u32, Busy>) -> Result<Self, Busy> {
                if number.is_err() {
                    return Err(Busy);
                }
                Ok(Self(number? * 2))
            }
        }
        fn unpack(doubled: Doubled) -> Option<u32> {
            let half = doubled.0.checked_div(2)?;
            Some(half)
        }
        const ONE: u32 = 1;
        Ok(unpack(Doubled::new(number(calls))?).map_or(0, |half| half + ONE))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(4));
    calls.each_saw(());
}

#[test]
fn nested_functions_and_impls_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        use std::future::ready as done;
        async fn inner(calls: &Calls) -> Result<u32, Busy> {
            let number = number(calls)?;
            done(Ok(number)).await
        }
        inner(calls).await
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

#[test]
fn retried_function_in_a_retried_function_sync() {
    #[retryable(backoff = "none", max = 2)]
    fn outer(calls: &Calls) -> Result<u32, Busy> {
        #[retryable(backoff = "none", max = 2)]
        fn inner(calls: &Calls) -> Result<u32, Busy> {
            number(calls)
        }
        inner(calls)
    }
    let calls = Calls::new();
    assert_eq!(outer(&calls), Ok(3));
    calls.each_saw(());
}

// macros

#[test]
fn question_mark_in_a_macro_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<String, Busy> {
        Ok(format!(
            "{} {}",
            number(calls)?,
            vec![Ok::<u8, Busy>(1)?].len()
        ))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls).unwrap(), "3 1");
    calls.each_saw(());
}

#[test]
fn question_mark_in_a_macro_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<String, Busy> {
        Ok(format!("{}", async { number(calls) }.await?))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)).unwrap(), "3");
    calls.each_saw(());
}

#[test]
fn macros_that_expand_to_return_sync() {
    macro_rules! check {
        ($result:expr) => {
            match $result {
                Ok(value) => value,
                Err(error) => return Err(error.into()),
            }
        };
    }
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Failure> {
        macro_rules! leave {
            () => {
                return Ok(1)
            };
        }
        if check!(number(calls)) == 3 {
            leave!();
        }
        Ok(0)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(1));
    calls.each_saw(());
}

#[test]
fn macros_that_expand_to_return_async() {
    macro_rules! ready {
        ($result:expr) => {
            match $result {
                Ok(value) => value,
                Err(error) => return Err(error),
            }
        };
    }
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        let number = ready!(number(calls));
        tokio::task::yield_now().await;
        Ok(number)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

#[test]
fn select_with_question_mark_and_return_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        tokio::select! {
            biased;
            () = future::pending() => return Err(Busy),
            number = async { number(calls) } => {
                let number = number?;
                if number == 3 {
                    return Ok(number);
                }
            }
        }
        Ok(0)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

#[test]
fn join_with_question_mark_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        let (one, two) = tokio::try_join!(async { Ok(1) }, async { number(calls) })?;
        Ok(one + two)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(4));
    calls.each_saw(());
}

// the rest

#[test]
fn single_expression_sync() {
    #[retryable(backoff = "none")]
    #[rustfmt::skip]
    fn shape(calls: &Calls) -> Result<u32, Busy> { number(calls) }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(3));
    calls.each_saw(());
}

#[test]
fn collect_into_a_result_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<Vec<u32>, Busy> {
        let numbers = (0..2)
            .map(|_| number(calls))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(numbers)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(vec![3, 4]));
    calls.saw([(); 4]);
}

#[test]
fn collect_into_a_result_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<Vec<u32>, Busy> {
        let numbers = (0..2)
            .map(|_| number(calls))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(numbers)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(vec![3, 4]));
    calls.saw([(); 4]);
}

#[test]
fn recursion_sync() {
    #[retryable(backoff = "none", max = 2)]
    fn shape(calls: &Calls, depth: u32) -> Result<u32, Busy> {
        if depth == 0 {
            return calls.fail_twice(depth);
        }
        shape(calls, depth - 1)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, 5), Ok(3));
    calls.each_saw(0);
}

#[test]
fn recursion_async() {
    #[retryable(backoff = "none", max = 2)]
    async fn shape(calls: &Calls, depth: u32) -> Result<u32, Busy> {
        if depth == 0 {
            return calls.fail_twice(depth);
        }
        Box::pin(shape(calls, depth - 1)).await
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, 5)), Ok(3));
    calls.each_saw(0);
}

#[test]
fn inner_attributes_and_docs_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        //! Belongs to the function.
        #![allow(unused_variables, unused_mut)]
        let unused = 1;
        let mut unchanged = number(calls)?;
        Ok(unchanged)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(3));
    calls.each_saw(());
}

#[test]
fn inner_attributes_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        #![expect(unused_variables)]
        let unused = 1;
        number(calls)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

#[test]
fn body_that_only_diverges_sync() {
    #[retryable(backoff = "none")]
    #[expect(clippy::todo, reason = "the shape")]
    fn shape() -> Result<u32, Busy> {
        todo!()
    }
    assert!(std::panic::catch_unwind(shape).is_err());
}

#[test]
#[should_panic = "not yet implemented"]
fn body_that_only_diverges_async() {
    #[retryable(backoff = "none")]
    async fn shape() -> Result<u32, Busy> {
        todo!()
    }
    _ = run(shape());
}

#[test]
fn body_that_loops_until_it_returns_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        loop {
            if number(calls)? == 5 {
                return Ok(5);
            }
        }
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(5));
    calls.saw([(); 5]);
}

#[test]
fn temporary_in_the_tail_that_borrows_a_local_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        let shared = std::sync::Mutex::new(number(calls));
        *shared.lock().unwrap()
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(3));
    calls.each_saw(());
}

#[test]
fn local_named_like_an_argument_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, mut text: String, number: u32) -> Result<u32, Busy> {
        text.push('!');
        let text = text.len();
        let number = Box::new(number);
        calls.fail_twice((text, &number))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, String::from("a"), 1), Ok(3));
    calls.each_saw((2, 1));
}

#[test]
fn glob_import_that_hides_the_return_type_sync() {
    mod other {
        pub(super) struct Result;
        pub(super) struct Busy;
    }
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, Busy> {
        use other::*;
        let _hidden = (Result, Busy);
        number(calls)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(3));
    calls.each_saw(());
}

#[test]
fn reading_a_file_sync() {
    #[retryable(backoff = "none", on(error if error.kind() == io::ErrorKind::NotFound))]
    fn shape(path: &Path, calls: &Calls) -> io::Result<String> {
        if calls.fail_twice(()).is_ok() {
            return Ok(String::from("found"));
        }
        let bytes = fs::read(path)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }
    let calls = Calls::new();
    assert_eq!(shape(Path::new("no/such/file"), &calls).unwrap(), "found");
    calls.each_saw(());
}

#[test]
fn tokio_mutex_guard_held_while_waiting_async() {
    #[retryable(backoff = "none")]
    async fn shape(shared: Arc<tokio::sync::Mutex<u32>>, calls: &Calls) -> Result<u32, Busy> {
        let mut guard = shared.lock().await;
        *guard += 1;
        tokio::time::sleep(Duration::from_secs(1)).await;
        calls.fail_twice(*guard)
    }
    let (calls, shared) = (Calls::new(), Arc::new(tokio::sync::Mutex::new(0)));
    assert_eq!(run(shape(Arc::clone(&shared), &calls)), Ok(3));
    calls.saw([1, 2, 3]);
    assert_eq!(*shared.try_lock().unwrap(), 3);
}

#[test]
fn std_mutex_guard_dropped_before_waiting_async() {
    #[retryable(backoff = "none")]
    async fn shape(shared: &std::sync::Mutex<u32>, calls: &Calls) -> Result<u32, Busy> {
        let seen = {
            let mut guard = shared.lock().unwrap();
            *guard += 1;
            *guard
        };
        tokio::time::sleep(Duration::from_secs(1)).await;
        calls.fail_twice(seen)
    }
    let (calls, shared) = (Calls::new(), std::sync::Mutex::new(0));
    assert_eq!(run(shape(&shared, &calls)), Ok(3));
    calls.saw([1, 2, 3]);
}

#[test]
fn time_limit_in_the_body_async() {
    #[retryable(backoff = "none", on = "any")]
    async fn shape(calls: &Calls) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
        let attempt = async {
            if calls.fail_twice(()).is_err() {
                future::pending::<()>().await;
            }
            3
        };
        Ok(tokio::time::timeout(Duration::from_secs(1), attempt).await?)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)).unwrap(), 3);
    calls.each_saw(());
}

// a body that nothing leaves early is a part of the loop

#[test]
fn value_made_to_fit_the_return_type_async() {
    type Made = Box<dyn Fn() -> u32 + Send>;
    #[retryable(backoff = "none", on = "any")]
    async fn shape(calls: &Calls) -> Result<Made, Box<dyn std::error::Error + Send + Sync>> {
        match calls.fail_twice(()) {
            Ok(number) => Ok(Box::new(move || number)),
            Err(_) => Err("busy".into()),
        }
    }
    let calls = Calls::new();
    let made = run(shape(&calls)).unwrap();
    assert_eq!(made(), 3);
    calls.each_saw(());
}

#[test]
fn body_that_never_ends_async() {
    fn never() -> std::convert::Infallible {
        panic!("never")
    }
    #[retryable(on = "any")]
    async fn shape() -> Result<u32, Busy> {
        future::ready(()).await;
        match never() {}
    }
    let caught = std::panic::catch_unwind(|| run(shape()));
    assert!(caught.is_err());
}

#[test]
fn local_variables_end_with_the_attempt_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, alive: &Arc<()>) -> Result<u32, Busy> {
        let _held = Arc::clone(alive);
        future::ready(()).await;
        calls.fail_twice(Arc::strong_count(alive))
    }
    let (calls, alive) = (Calls::new(), Arc::new(()));
    assert_eq!(run(shape(&calls, &alive)), Ok(3));
    calls.each_saw(2);
}
