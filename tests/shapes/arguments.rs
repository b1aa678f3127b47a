//! What each attempt sees of the arguments.

use crate::support::{Busy, Calls, run, run_here};
use retry_runtime::retryable;
use std::{
    cell::Cell,
    collections::HashMap,
    fmt::Debug,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

/// Has no `Clone`.
#[derive(Debug, PartialEq)]
struct Token(u32);

// owned

#[test]
fn no_argument_sync() {
    static CALLS: Calls = Calls::new();
    #[retryable(backoff = "none")]
    fn shape() -> Result<u32, Busy> {
        CALLS.fail_twice(())
    }
    assert_eq!(shape(), Ok(3));
    CALLS.each_saw(());
}

#[test]
fn no_argument_async() {
    static CALLS: Calls = Calls::new();
    #[retryable(backoff = "none")]
    async fn shape() -> Result<u32, Busy> {
        CALLS.fail_twice(())
    }
    assert_eq!(run(shape()), Ok(3));
    CALLS.each_saw(());
}

#[test]
fn copied_arguments_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, number: u32, wait: Duration, flag: bool) -> Result<Duration, Busy> {
        let moved = wait;
        calls.fail_twice((number, moved, flag))?;
        Ok(wait)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, 7, Duration::ZERO, true), Ok(Duration::ZERO));
    calls.each_saw((7, Duration::ZERO, true));
}

#[test]
fn copied_arguments_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, number: u32, wait: Duration) -> Result<Duration, Busy> {
        let moved = wait;
        calls.fail_twice((number, moved))?;
        Ok(wait)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, 7, Duration::ZERO)), Ok(Duration::ZERO));
    calls.each_saw((7, Duration::ZERO));
}

#[test]
fn owned_argument_only_read_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, text: String) -> Result<usize, Busy> {
        calls.fail_twice(&text)?;
        Ok(text.len())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, String::from("abc")), Ok(3));
    calls.each_saw("abc");
}

#[test]
fn owned_argument_only_read_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, text: String) -> Result<usize, Busy> {
        calls.fail_twice(&text)?;
        tokio::task::yield_now().await;
        Ok(text.len())
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, String::from("abc"))), Ok(3));
    calls.each_saw("abc");
}

#[test]
fn owned_argument_consumed_with_clone_sync() {
    #[retryable(backoff = "none", clone(text))]
    fn shape(calls: &Calls, text: String) -> Result<Vec<u8>, Busy> {
        let bytes = text.into_bytes();
        calls.fail_twice(&bytes)?;
        Ok(bytes)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, String::from("ab")), Ok(b"ab".to_vec()));
    calls.each_saw(b"ab");
}

#[test]
fn owned_argument_consumed_with_clone_async() {
    #[retryable(backoff = "none", clone(text))]
    async fn shape(calls: &Calls, text: String) -> Result<Vec<u8>, Busy> {
        let bytes = text.into_bytes();
        calls.fail_twice(&bytes)?;
        Ok(bytes)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, String::from("ab"))), Ok(b"ab".to_vec()));
    calls.each_saw(b"ab");
}

#[test]
fn owned_argument_cloned_in_the_body_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, text: String) -> Result<Vec<u8>, Busy> {
        let bytes = text.clone().into_bytes();
        calls.fail_twice(&text)?;
        Ok(bytes)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, String::from("ab")), Ok(b"ab".to_vec()));
    calls.each_saw("ab");
}

#[test]
fn owned_argument_cloned_in_the_body_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, text: String) -> Result<Vec<u8>, Busy> {
        let bytes = text.clone().into_bytes();
        calls.fail_twice(&text)?;
        Ok(bytes)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, String::from("ab"))), Ok(b"ab".to_vec()));
    calls.each_saw("ab");
}

#[test]
fn several_arguments_consumed_with_clone_sync() {
    #[retryable(backoff = "none", clone(list, name))]
    fn shape(calls: &Calls, list: Vec<u32>, name: Box<str>) -> Result<String, Busy> {
        let mut text = name.into_string();
        for number in list {
            text.push_str(&number.to_string());
        }
        calls.fail_twice(&text)?;
        Ok(text)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, vec![1, 2], "n".into()).unwrap(), "n12");
    calls.each_saw("n12");
}

#[test]
fn owned_argument_moved_into_an_async_block_with_clone_async() {
    #[retryable(backoff = "none", clone(text))]
    async fn shape(calls: &Calls, text: String) -> Result<usize, Busy> {
        let later = async move { text.len() };
        calls.fail_twice(later.await)?;
        Ok(3)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, String::from("abc"))), Ok(3));
    calls.each_saw(3);
}

#[test]
fn owned_argument_moved_into_a_task_with_clone_async() {
    #[retryable(backoff = "none", clone(text))]
    async fn shape(calls: &Calls, text: String) -> Result<usize, Busy> {
        let length = tokio::spawn(async move { text.len() }).await.unwrap();
        calls.fail_twice(length)?;
        Ok(length)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, String::from("abc"))), Ok(3));
    calls.each_saw(3);
}

#[test]
fn argument_without_clone_only_read_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, token: Token) -> Result<u32, Busy> {
        calls.fail_twice(&token)?;
        Ok(token.0)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, Token(5)), Ok(5));
    calls.each_saw(Token(5));
}

#[test]
fn argument_without_clone_only_read_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, token: Token) -> Result<u32, Busy> {
        calls.fail_twice(&token)?;
        Ok(token.0)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, Token(5))), Ok(5));
    calls.each_saw(Token(5));
}

#[test]
fn guard_argument_lives_until_the_call_ends_async() {
    struct Permit(Arc<AtomicU32>);
    impl Drop for Permit {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, _permit: Permit, dropped: &AtomicU32) -> Result<u32, Busy> {
        calls.fail_twice(dropped.load(Ordering::Relaxed))
    }
    let (calls, dropped) = (Calls::new(), Arc::new(AtomicU32::new(0)));
    assert_eq!(
        run(shape(&calls, Permit(Arc::clone(&dropped)), &dropped)),
        Ok(3)
    );
    calls.each_saw(0);
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

#[test]
fn unused_arguments_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, _text: String, _: Token) -> Result<u32, Busy> {
        calls.fail_twice(())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, String::new(), Token(1)), Ok(3));
    calls.each_saw(());
}

// `mut`

#[test]
fn mut_number_is_fresh_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, mut number: u32) -> Result<u32, Busy> {
        number += 1;
        calls.fail_twice(number)?;
        Ok(number)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, 10), Ok(11));
    calls.each_saw(11);
}

#[test]
fn mut_number_is_fresh_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, mut number: u32) -> Result<u32, Busy> {
        number += 1;
        calls.fail_twice(number)?;
        Ok(number)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, 10)), Ok(11));
    calls.each_saw(11);
}

#[test]
fn mut_string_is_fresh_and_returned_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, mut text: String) -> Result<String, Busy> {
        text.push('!');
        calls.fail_twice(&text)?;
        Ok(text)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, String::from("a")).unwrap(), "a!");
    calls.each_saw("a!");
}

#[test]
fn mut_string_is_fresh_and_returned_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, mut text: String) -> Result<String, Busy> {
        text.push('!');
        calls.fail_twice(&text)?;
        Ok(text)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, String::from("a"))).unwrap(), "a!");
    calls.each_saw("a!");
}

#[test]
fn mut_iterator_is_fresh_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, mut numbers: std::ops::Range<u32>) -> Result<Option<u32>, Busy> {
        calls.fail_twice(numbers.next())?;
        Ok(numbers.next())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, 4..9), Ok(Some(5)));
    calls.each_saw(Some(4));
}

#[test]
fn mut_cursor_over_a_borrow_is_fresh_and_returned_sync() {
    #[retryable(backoff = "none")]
    fn shape<'a>(calls: &Calls, mut text: &'a str) -> Result<&'a str, Busy> {
        text = text.split_once(' ').map_or(text, |(_, rest)| rest);
        calls.fail_twice(text)?;
        Ok(text)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, "a b c"), Ok("b c"));
    calls.each_saw("b c");
}

#[test]
fn mut_slice_of_what_has_no_clone_is_fresh_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, mut tokens: &[Token]) -> Result<usize, Busy> {
        if let [_, rest @ ..] = tokens {
            tokens = rest;
        }
        calls.fail_twice(tokens)?;
        Ok(tokens.len())
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, &[Token(1), Token(2)])), Ok(1));
    calls.each_saw([Token(2)]);
}

#[test]
fn mut_array_map_and_arc_are_fresh_async() {
    #[retryable(backoff = "none")]
    async fn shape(
        calls: &Calls,
        mut array: [u8; 2],
        mut map: HashMap<u8, u8>,
        mut shared: Arc<u8>,
    ) -> Result<u8, Busy> {
        array[0] += 1;
        map.insert(9, 9);
        *Arc::make_mut(&mut shared) += 1;
        calls.fail_twice((array, map.len(), &shared))?;
        Ok(*shared)
    }
    let calls = Calls::new();
    assert_eq!(
        run(shape(&calls, [1, 2], HashMap::new(), Arc::new(3))),
        Ok(4)
    );
    calls.each_saw(([2, 2], 1, 4));
}

// `keep`

#[test]
fn mut_flag_kept_sync() {
    #[retryable(backoff = "none", keep(force))]
    fn shape(calls: &Calls, mut force: bool) -> Result<bool, Busy> {
        let seen = force;
        force = true;
        calls.fail_twice(seen)?;
        Ok(force)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, false), Ok(true));
    calls.saw([false, true, true]);
}

#[test]
fn mut_iterator_without_clone_kept_async() {
    #[retryable(backoff = "none", keep(hosts))]
    async fn shape(
        calls: &Calls,
        mut hosts: impl Iterator<Item = u32> + Send,
    ) -> Result<Option<u32>, Busy> {
        let host = hosts.next();
        calls.fail_twice(host)?;
        Ok(host)
    }
    let (calls, tokens) = (Calls::new(), vec![Token(1), Token(2), Token(3)]);
    assert_eq!(
        run(shape(&calls, tokens.into_iter().map(|token| token.0))),
        Ok(Some(3))
    );
    calls.saw([Some(1), Some(2), Some(3)]);
}

#[test]
fn mut_optional_borrow_kept_sync() {
    #[retryable(backoff = "none", keep(slot))]
    fn shape(calls: &Calls, mut slot: Option<&mut u32>) -> Result<u32, Busy> {
        if let Some(slot) = slot.as_deref_mut() {
            *slot += 1;
        }
        calls.fail_twice(&slot)
    }
    let (calls, mut slot) = (Calls::new(), 0);
    assert_eq!(shape(&calls, Some(&mut slot)), Ok(3));
    calls.saw([Some(1), Some(2), Some(3)]);
    assert_eq!(slot, 3);
}

#[test]
fn cloned_kept_and_lent_side_by_side_async() {
    #[retryable(backoff = "none", clone(cloned), keep(kept))]
    async fn shape(
        calls: &Calls,
        cloned: String,
        mut kept: u32,
        mut fresh: u32,
        lent: Token,
        out: &mut Vec<u32>,
    ) -> Result<String, Busy> {
        kept += 1;
        fresh += 1;
        out.push(kept);
        let consumed = cloned;
        calls.fail_twice((&consumed, kept, fresh, &lent, out.len()))?;
        Ok(consumed)
    }
    let (calls, mut out) = (Calls::new(), Vec::new());
    let done = run(shape(&calls, "c".into(), 0, 0, Token(1), &mut out));
    assert_eq!(done.unwrap(), "c");
    calls.saw([1, 2, 3].map(|kept| ("c", kept, 1, Token(1), kept)));
    assert_eq!(out, [1, 2, 3]);
}

// `&mut`

#[test]
fn mut_borrow_keeps_its_state_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, out: &mut Vec<u32>) -> Result<u32, Busy> {
        out.push(0);
        calls.fail_twice(out.len())
    }
    let (calls, mut out) = (Calls::new(), vec![]);
    assert_eq!(shape(&calls, &mut out), Ok(3));
    calls.saw([1, 2, 3]);
    assert_eq!(out.len(), 3);
}

#[test]
fn mut_borrow_keeps_its_state_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, out: &mut Vec<u32>) -> Result<u32, Busy> {
        out.push(0);
        calls.fail_twice(out.len())
    }
    let (calls, mut out) = (Calls::new(), vec![]);
    assert_eq!(run(shape(&calls, &mut out)), Ok(3));
    calls.saw([1, 2, 3]);
}

#[test]
fn mut_borrow_passed_on_sync() {
    fn push(out: &mut [u32]) -> u32 {
        out[0] += 1;
        out[0]
    }
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, out: &mut Vec<u32>) -> Result<u32, Busy> {
        calls.fail_twice(push(out))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, &mut vec![0]), Ok(3));
    calls.saw([1, 2, 3]);
}

#[test]
fn mut_name_of_a_mut_borrow_is_lent_anew_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, mut rest: &mut [u32]) -> Result<usize, Busy> {
        while let [first, others @ ..] = rest {
            *first += 1;
            rest = others;
        }
        calls.fail_twice(rest.len())?;
        Ok(rest.len())
    }
    let (calls, mut numbers) = (Calls::new(), [0, 0, 0]);
    assert_eq!(shape(&calls, &mut numbers), Ok(0));
    calls.each_saw(0);
    assert_eq!(numbers, [3, 3, 3]);
}

#[test]
fn mut_name_of_a_mut_borrow_is_lent_anew_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, mut rest: &mut [u32]) -> Result<usize, Busy> {
        if let Some((first, others)) = std::mem::take(&mut rest).split_first_mut() {
            *first += 1;
            calls.fail_twice(*first)?;
            rest = others;
        }
        Ok(rest.len())
    }
    let (calls, mut numbers) = (Calls::new(), [0, 0, 0]);
    assert_eq!(run(shape(&calls, &mut numbers)), Ok(2));
    calls.saw([1, 2, 3]);
}

mod mut_borrow_moved {
    use super::*;

    #[test]
    fn mut_borrow_iterated_sync() {
        #[retryable(backoff = "none")]
        fn shape(calls: &Calls, numbers: &mut Vec<u32>) -> Result<u32, Busy> {
            let mut sum = 0;
            for number in numbers {
                *number += 1;
                sum += *number;
            }
            calls.fail_twice(sum)
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls, &mut vec![0, 0]), Ok(3));
        calls.saw([2, 4, 6]);
    }

    #[test]
    fn mut_borrow_iterated_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls, numbers: &mut Vec<u32>) -> Result<u32, Busy> {
            let mut sum = 0;
            for number in numbers {
                *number += 1;
                sum += *number;
            }
            calls.fail_twice(sum)
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, &mut vec![0, 0])), Ok(3));
        calls.saw([2, 4, 6]);
    }

    #[test]
    fn mut_borrow_given_to_a_generic_function_sync() {
        fn write(mut writer: impl std::io::Write) -> std::io::Result<()> {
            writer.write_all(b"x")
        }
        #[retryable(backoff = "none")]
        fn shape(calls: &Calls, out: &mut Vec<u8>) -> std::io::Result<u32> {
            write(out)?;
            Ok(calls.fail_twice(())?)
        }
        let (calls, mut out) = (Calls::new(), vec![]);
        assert_eq!(shape(&calls, &mut out).unwrap(), 3);
        assert_eq!(out, b"xxx");
    }

    #[test]
    fn mut_borrow_bound_to_another_name_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls, out: &mut u32) -> Result<u32, Busy> {
            let counter = out;
            *counter += 1;
            calls.fail_twice(*counter)
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, &mut 0)), Ok(3));
        calls.saw([1, 2, 3]);
    }

    #[test]
    fn mut_borrow_of_a_generic_writer_sync() {
        fn write(mut writer: impl std::io::Write) -> std::io::Result<()> {
            writer.write_all(b"x")
        }
        #[retryable(backoff = "none")]
        fn shape<W: std::io::Write>(calls: &Calls, out: &mut W) -> std::io::Result<u32> {
            write(out)?;
            Ok(calls.fail_twice(())?)
        }
        let (calls, mut out) = (Calls::new(), vec![]);
        assert_eq!(shape(&calls, &mut out).unwrap(), 3);
        assert_eq!(out, b"xxx");
    }
}

mod pinned_mut_borrow {
    use super::*;

    #[test]
    fn pinned_mut_borrow_sync() {
        #[retryable(backoff = "none")]
        fn shape(calls: &Calls, pinned: Pin<&mut u32>) -> Result<u32, Busy> {
            let number = pinned.get_mut();
            *number += 1;
            calls.fail_twice(*number)
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls, Pin::new(&mut 0)), Ok(3));
        calls.saw([1, 2, 3]);
    }

    #[test]
    fn pinned_mut_borrow_of_a_stream_async() {
        #[retryable(backoff = "none")]
        async fn shape(
            calls: &Calls,
            mut future: Pin<&mut (dyn Future<Output = u32> + Send)>,
        ) -> Result<u32, Busy> {
            calls.fail_twice(())?;
            Ok(future.as_mut().await)
        }
        let calls = Calls::new();
        assert_eq!(
            run(async { shape(&calls, std::pin::pin!(async { 4 })).await }),
            Ok(4)
        );
        calls.each_saw(());
    }
}

#[test]
fn pinned_mut_borrow_kept_async() {
    #[retryable(backoff = "none", keep(number))]
    async fn shape(calls: &Calls, mut number: Pin<&mut u32>) -> Result<u32, Busy> {
        *number.as_mut() += 1;
        calls.fail_twice(&number)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, Pin::new(&mut 0))), Ok(3));
    calls.saw([1, 2, 3]);
}

// borrowed

#[test]
fn borrowed_arguments_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, text: &str, bytes: &[u8], maybe: Option<&u32>) -> Result<u32, Busy> {
        calls.fail_twice((text, bytes, maybe))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, "a", &[1], Some(&2)), Ok(3));
    calls.each_saw(("a", [1], Some(2)));
}

#[test]
fn borrowed_arguments_async() {
    #[retryable(backoff = "none")]
    async fn shape(
        calls: &Calls,
        text: &str,
        bytes: &[u8],
        maybe: Option<&u32>,
    ) -> Result<u32, Busy> {
        calls.fail_twice((text, bytes, maybe))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, "a", &[1], Some(&2))), Ok(3));
    calls.each_saw(("a", [1], Some(2)));
}

// `impl Trait`, `dyn Trait`, closures

#[test]
fn impl_trait_argument_only_read_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, value: impl Debug) -> Result<u32, Busy> {
        calls.fail_twice(&value)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, Token(1)), Ok(3));
    calls.each_saw(Token(1));
}

#[test]
fn impl_trait_argument_only_read_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, value: impl Debug + Sync) -> Result<u32, Busy> {
        calls.fail_twice(&value)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, Token(1))), Ok(3));
    calls.each_saw(Token(1));
}

#[test]
fn impl_trait_argument_consumed_with_clone_sync() {
    #[retryable(backoff = "none", clone(text))]
    fn shape(calls: &Calls, text: impl Into<String> + Clone) -> Result<String, Busy> {
        let text = text.into();
        calls.fail_twice(&text)?;
        Ok(text)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, "abc").unwrap(), "abc");
    calls.each_saw("abc");
}

#[test]
fn impl_as_ref_argument_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, text: impl AsRef<str> + Sync) -> Result<usize, Busy> {
        calls.fail_twice(text.as_ref())?;
        Ok(text.as_ref().len())
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, "abc")), Ok(3));
    calls.each_saw("abc");
}

#[test]
fn dyn_trait_arguments_sync() {
    #[retryable(backoff = "none")]
    fn shape(
        calls: &Calls,
        borrowed: &dyn Debug,
        boxed: Box<dyn Debug>,
        shared: Arc<dyn Debug>,
    ) -> Result<u32, Busy> {
        calls.fail_twice((borrowed, &boxed, &shared))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, &1, Box::new(2), Arc::new(3)), Ok(3));
    calls.each_saw((1, 2, 3));
}

#[test]
fn dyn_trait_arguments_async() {
    #[retryable(backoff = "none")]
    async fn shape(
        calls: &Calls,
        borrowed: &(dyn Debug + Sync),
        boxed: Box<dyn Debug + Send + Sync>,
    ) -> Result<u32, Busy> {
        calls.fail_twice((borrowed, &boxed))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, &1, Box::new(2))), Ok(3));
    calls.each_saw((1, 2));
}

#[test]
fn dyn_closure_arguments_async() {
    #[retryable(backoff = "none")]
    async fn shape(
        calls: &Calls,
        borrowed: &(dyn Fn(u32) -> u32 + Sync),
        boxed: Box<dyn Fn(u32) -> u32 + Send + Sync>,
    ) -> Result<u32, Busy> {
        calls.fail_twice(boxed(borrowed(1)))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, &|n| n + 1, Box::new(|n| n * 5))), Ok(3));
    calls.each_saw(10);
}

#[test]
fn fn_closure_in_a_where_clause_sync() {
    #[retryable(backoff = "none")]
    fn shape<F>(calls: &Calls, f: F) -> Result<u32, Busy>
    where
        F: Fn(u32) -> u32,
    {
        calls.fail_twice(f(1))
    }
    let (calls, token) = (Calls::new(), Token(1));
    assert_eq!(shape(&calls, move |n| n + token.0), Ok(3));
    calls.each_saw(2);
}

#[test]
fn fn_closure_that_makes_a_future_async() {
    #[retryable(backoff = "none")]
    async fn shape<F, Fut>(calls: &Calls, f: F) -> Result<u32, Busy>
    where
        F: Fn(u32) -> Fut + Sync,
        Fut: Future<Output = u32> + Send,
    {
        calls.fail_twice(f(1).await)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, async |n| n + 1)), Ok(3));
    calls.each_saw(2);
}

#[test]
fn higher_ranked_closure_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, f: impl for<'a> Fn(&'a str) -> &'a str) -> Result<u32, Busy> {
        calls.fail_twice(f("a b"))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, |text| &text[2..]), Ok(3));
    calls.each_saw("b");
}

#[test]
fn fn_pointer_argument_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, f: fn(u32) -> u32) -> Result<u32, Busy> {
        calls.fail_twice(f(1))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, |n| n + 1), Ok(3));
    calls.each_saw(2);
}

#[test]
fn mut_impl_fn_mut_is_kept_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, mut f: impl FnMut() -> u32) -> Result<u32, Busy> {
        calls.fail_twice(f())
    }
    let (calls, mut token) = (Calls::new(), Token(0));
    let next = || {
        token.0 += 1;
        token.0
    };
    assert_eq!(shape(&calls, next), Ok(3));
    calls.saw([1, 2, 3]);
}

#[test]
fn mut_impl_fn_mut_is_kept_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, mut f: impl FnMut() -> u32 + Send) -> Result<u32, Busy> {
        calls.fail_twice(f())
    }
    let (calls, mut token) = (Calls::new(), Token(0));
    let next = || {
        token.0 += 1;
        token.0
    };
    assert_eq!(run(shape(&calls, next)), Ok(3));
    calls.saw([1, 2, 3]);
}

#[test]
fn mut_fn_mut_by_bound_and_by_where_clause_sync() {
    #[retryable(backoff = "none")]
    fn shape<F: FnMut() -> u32, G>(calls: &Calls, mut f: F, mut g: G) -> Result<u32, Busy>
    where
        for<'a> G: FnMut(&'a mut u32),
    {
        let mut number = f();
        g(&mut number);
        calls.fail_twice(number)
    }
    let (calls, mut token, mut added) = (Calls::new(), Token(0), 0);
    let next = || {
        token.0 += 1;
        token.0
    };
    let add = |number: &mut u32| {
        added += 10;
        *number += added;
    };
    assert_eq!(shape(&calls, next, add), Ok(3));
    calls.saw([11, 22, 33]);
}

#[test]
fn mut_async_fn_mut_is_kept_not_send_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, mut f: impl AsyncFnMut() -> u32) -> Result<u32, Busy> {
        calls.fail_twice(f().await)
    }
    let (calls, mut token) = (Calls::new(), Token(0));
    let next = async || {
        token.0 += 1;
        token.0
    };
    assert_eq!(run_here(shape(&calls, next)), Ok(3));
    calls.saw([1, 2, 3]);
}

#[test]
fn async_fn_closure_not_send_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, f: impl AsyncFn(&str) -> usize) -> Result<u32, Busy> {
        calls.fail_twice(f("ab").await)
    }
    let calls = Calls::new();
    assert_eq!(
        run_here(shape(&calls, async |text: &str| text.len())),
        Ok(3)
    );
    calls.each_saw(2);
}

#[test]
fn borrowed_fn_mut_is_lent_anew_sync() {
    #[retryable(backoff = "none")]
    fn shape(
        calls: &Calls,
        generic: &mut impl FnMut() -> u32,
        erased: &mut dyn FnMut() -> u32,
    ) -> Result<u32, Busy> {
        calls.fail_twice((generic(), erased()))
    }
    let (calls, mut first, mut second) = (Calls::new(), 0, 0);
    let mut count = || {
        first += 1;
        first
    };
    let mut tens = || {
        second += 10;
        second
    };
    assert_eq!(shape(&calls, &mut count, &mut tens), Ok(3));
    calls.saw([(1, 10), (2, 20), (3, 30)]);
}

#[test]
fn mut_boxed_fn_mut_kept_sync() {
    #[retryable(backoff = "none", keep(f))]
    fn shape(calls: &Calls, mut f: Box<dyn FnMut() -> u32>) -> Result<u32, Busy> {
        calls.fail_twice(f())
    }
    let (calls, mut number) = (Calls::new(), 0);
    let next = move || {
        number += 1;
        number
    };
    assert_eq!(shape(&calls, Box::new(next)), Ok(3));
    calls.saw([1, 2, 3]);
}

#[cfg(any())] // LIMIT: `F: FnMut` of the `impl` is not seen from the method: `keep(f)`
mod fn_mut_of_the_impl {
    use super::*;

    #[test]
    fn mut_fn_mut_bounded_by_the_impl_sync() {
        struct Runner<F>(std::marker::PhantomData<F>);
        impl<F: FnMut() -> u32> Runner<F> {
            #[retryable(backoff = "none")]
            fn shape(calls: &Calls, mut f: F) -> Result<u32, Busy> {
                calls.fail_twice(f())
            }
        }
        let (calls, mut token) = (Calls::new(), Token(0));
        let next = || {
            token.0 += 1;
            token.0
        };
        assert_eq!(Runner::shape(&calls, next), Ok(3));
        calls.saw([1, 2, 3]);
    }
}

#[test]
fn fn_once_consumed_with_clone_sync() {
    #[retryable(backoff = "none", clone(f))]
    fn shape(calls: &Calls, f: impl FnOnce() -> String + Clone) -> Result<u32, Busy> {
        calls.fail_twice(f())
    }
    let (calls, text) = (Calls::new(), String::from("abc"));
    assert_eq!(shape(&calls, move || text), Ok(3));
    calls.each_saw("abc");
}

// attributes on arguments

#[test]
fn cfg_on_arguments_sync() {
    #[retryable(backoff = "none", clone(consumed))]
    fn shape(
        #[cfg(test)] calls: &Calls,
        #[cfg(not(test))] absent: Absent,
        #[cfg(test)] mut fresh: u32,
        #[cfg(not(test))] mut absent: Absent,
        #[cfg_attr(test, cfg(test))] consumed: String,
    ) -> Result<u32, Busy> {
        fresh += 1;
        calls.fail_twice((fresh, { consumed }))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, 0, String::from("a")), Ok(3));
    calls.each_saw((1, "a"));
}

#[test]
fn cfg_on_arguments_async() {
    #[retryable(backoff = "none")]
    async fn shape(
        calls: &Calls,
        #[cfg(not(test))] absent: Absent,
        #[cfg(test)] mut fresh: u32,
        #[cfg(not(test))] mut absent: Absent,
    ) -> Result<u32, Busy> {
        fresh += 1;
        calls.fail_twice(fresh)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, 0)), Ok(3));
    calls.each_saw(1);
}

#[test]
fn lint_attributes_on_arguments_sync() {
    #[retryable(backoff = "none")]
    fn shape(
        calls: &Calls,
        #[allow(unused_variables)] unused: u32,
        #[expect(unused_variables)] expected: u32,
    ) -> Result<u32, Busy> {
        calls.fail_twice(())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, 1, 2), Ok(3));
    calls.each_saw(());
}

mod lint_attributes_on_mut_arguments {
    use super::*;

    #[test]
    fn lint_attributes_on_mut_arguments_sync() {
        #[retryable(backoff = "none")]
        fn shape(
            calls: &Calls,
            #[allow(unused_variables, unused_mut)] mut unused: u32,
            #[expect(unused_mut)] mut unchanged: u32,
        ) -> Result<u32, Busy> {
            calls.fail_twice(unchanged)
        }
        let calls = Calls::new();
        assert_eq!(shape(&calls, 1, 2), Ok(3));
        calls.each_saw(2);
    }
}

#[test]
fn raw_identifiers_async() {
    #[retryable(backoff = "none", clone(r#type))]
    async fn shape(calls: &Calls, r#type: String, mut r#match: u32) -> Result<u32, Busy> {
        r#match += 1;
        calls.fail_twice(({ r#type }, r#match))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, String::from("t"), 1)), Ok(3));
    calls.each_saw(("t", 2));
}

#[test]
fn many_arguments_async() {
    #[retryable(backoff = "none")]
    async fn shape(
        calls: &Calls,
        a: u8,
        b: &str,
        c: String,
        mut d: u32,
        e: &mut u32,
        f: Option<Token>,
        g: [u8; 2],
        h: impl Fn() -> u32 + Sync,
        _: bool,
        (i, j): (u8, u8),
    ) -> Result<u32, Busy> {
        d += 1;
        *e += 1;
        calls.fail_twice((a, b, &c, d, &e, &f, g, h(), i + j))
    }
    let (calls, mut state) = (Calls::new(), 0);
    let done = shape(
        &calls,
        1,
        "b",
        String::from("c"),
        4,
        &mut state,
        None,
        [6, 7],
        || 8,
        true,
        (9, 10),
    );
    assert_eq!(run(done), Ok(3));
    calls.saw([1, 2, 3].map(|state| (1, "b", "c", 5, state, None::<Token>, [6, 7], 8, 19)));
}

// how often arguments are cloned

#[derive(Debug, Default)]
struct Counted<'a> {
    clones: Option<&'a AtomicU32>,
}

impl Clone for Counted<'_> {
    fn clone(&self) -> Self {
        self.clones
            .inspect(|clones| _ = clones.fetch_add(1, Ordering::Relaxed));
        Self { ..*self }
    }
}

#[test]
fn arguments_are_cloned_once_an_attempt_where_asked_for_sync() {
    #[retryable(backoff = "none", clone(cloned))]
    fn shape(
        calls: &Calls,
        read: Counted<'_>,
        cloned: Counted<'_>,
        mut changed: Counted<'_>,
    ) -> Result<u32, Busy> {
        std::mem::take(&mut { cloned });
        changed.clones = None;
        calls.fail_twice((read.clones.is_some(), changed.clones.is_some()))
    }
    let [read, cloned, changed] = [const { AtomicU32::new(0) }; 3];
    let counted = |clones| Counted {
        clones: Some(clones),
    };
    let calls = Calls::new();
    let done = shape(&calls, counted(&read), counted(&cloned), counted(&changed));
    assert_eq!(done, Ok(3));
    calls.each_saw((true, false));
    assert_eq!(
        [read, cloned, changed].map(AtomicU32::into_inner),
        [0, 3, 3]
    );
}

#[test]
fn first_success_clones_nothing_that_is_only_read_async() {
    #[retryable(backoff = "none")]
    async fn shape(read: Counted<'_>) -> Result<bool, Busy> {
        Ok(read.clones.is_some())
    }
    let clones = AtomicU32::new(0);
    let read = Counted {
        clones: Some(&clones),
    };
    assert_eq!(run(shape(read)), Ok(true));
    assert_eq!(clones.into_inner(), 0);
}

#[test]
fn owned_cell_not_send_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, cell: Cell<u32>) -> Result<u32, Busy> {
        cell.set(cell.get() + 1);
        tokio::task::yield_now().await;
        calls.fail_twice(cell.get())
    }
    let calls = Calls::new();
    assert_eq!(run_here(shape(&calls, Cell::new(0))), Ok(3));
    calls.saw([1, 2, 3]);
}
