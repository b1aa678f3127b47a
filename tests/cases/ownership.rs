//! What a rewritten body can break: borrows, `Send`, `return`, warnings.

use std::{
    cell::{Cell, RefCell},
    io,
    rc::Rc,
};

use retry_runtime::retryable;

use crate::support::{Failed, Log, call, need_send, record, record_async, succeed_at};

#[derive(Clone, Default)]
struct Stream {
    position: u32,
}

impl Stream {
    #[retryable(sleep = record)]
    fn next(&mut self) -> Result<u32, Failed> {
        self.position += 1;
        succeed_at(3)
    }

    #[retryable(sleep = record_async)]
    async fn next_async(&mut self) -> Result<u32, Failed> {
        self.position += 1;
        std::future::ready(()).await;
        self.position += 1;
        succeed_at(3)
    }

    #[retryable(sleep = record)]
    fn skip(mut self, by: u32) -> Result<u32, Failed> {
        self.position += by;
        succeed_at(3).map(|_| self.position)
    }
}

/// C088, Xuanwo/backon#49
#[tokio::test]
async fn methods_with_mut_self_are_retried_and_keep_what_each_attempt_changed() {
    let (_log, mut stream) = (Log::start(), Stream::default());
    assert_eq!(stream.next(), Ok(3));
    assert_eq!(stream.position, 3);

    let (_log, mut stream) = (Log::start(), Stream::default());
    assert_eq!(need_send(stream.next_async()).await, Ok(3));
    assert_eq!(stream.position, 6);
}

#[retryable(on = |error| { seen.borrow_mut().push(error.0); error.0 < limit }, sleep = record)]
fn observed(seen: &RefCell<Vec<u32>>, limit: u32) -> Result<u32, Failed> {
    succeed_at(5)
}

struct Client {
    refused: u32,
}

impl Client {
    fn may_retry(&self, error: &Failed) -> bool {
        error.0 != self.refused
    }

    #[retryable(max = 9, on = |error| self.may_retry(error), sleep = record_async)]
    async fn send(&mut self) -> Result<u32, Failed> {
        succeed_at(5)
    }
}

/// C090, Xuanwo/backon#39, for predicates; a listener that captures needs `notify`.
#[tokio::test]
async fn a_predicate_can_use_what_the_function_has() {
    let (_log, seen) = (Log::start(), RefCell::default());
    assert_eq!(observed(&seen, 2), Err(Failed(2)));
    assert_eq!(seen.into_inner(), [1, 2]);

    let _log = Log::start();
    assert_eq!(Client { refused: 3 }.send().await, Err(Failed(3)));
}

#[retryable(sleep = record)]
fn counting(calls: &mut u32, shared: &Cell<u32>, local: Rc<Cell<u32>>) -> Result<u32, Failed> {
    *calls += 1;
    shared.set(shared.get() + 1);
    local.set(local.get() + 1);
    succeed_at(3)
}

#[retryable(sleep = record_async)]
async fn counting_async(calls: &mut u32, owned: Vec<u32>) -> Result<u32, Failed> {
    *calls += owned[0];
    succeed_at(3)
}

/// C092, oxidecomputer/omicron#6922
#[tokio::test]
async fn state_needs_neither_a_mutex_nor_an_arc() {
    let (_log, mut calls) = (Log::start(), 0);
    let (shared, local) = (Cell::new(0), Rc::new(Cell::new(0)));
    assert_eq!(counting(&mut calls, &shared, Rc::clone(&local)), Ok(3));
    assert_eq!((calls, shared.get(), local.get()), (3, 3, 3));

    let (_log, mut calls) = (Log::start(), 0);
    let counted = need_send(counting_async(&mut calls, vec![1])).await;
    assert_eq!((counted, calls), (Ok(3), 3));
}

/// C093, tokio-rs/tracing#399, #711, #1219
#[tokio::test]
async fn methods_of_an_async_trait_are_retried() {
    #[async_trait::async_trait]
    trait Fetch {
        async fn fetch(&self, id: String) -> Result<u32, Failed>;
        async fn advance(&mut self) -> Result<u32, Failed>;
    }

    #[async_trait::async_trait]
    impl Fetch for Stream {
        #[retryable(sleep = record_async)]
        async fn fetch(&self, id: String) -> Result<u32, Failed> {
            assert_eq!(id, "7");
            succeed_at(3)
        }

        #[retryable(sleep = record_async)]
        async fn advance(&mut self) -> Result<u32, Failed> {
            self.position += 1;
            succeed_at(3)
        }
    }

    let (log, mut stream) = (Log::start(), Stream::default());
    assert_eq!(need_send(stream.fetch("7".into())).await, Ok(3));
    assert_eq!(log.calls(), 3);
    let _log = Log::start();
    assert_eq!(need_send(stream.advance()).await, Ok(3));
    assert_eq!(stream.position, 3);
}

trait Fetch {
    fn position(&mut self) -> &mut u32;

    #[retryable(sleep = record)]
    fn fetch(&mut self) -> Result<u32, Failed> {
        *self.position() += 1;
        succeed_at(3)
    }

    #[retryable(sleep = record_async)]
    #[allow(async_fn_in_trait, reason = "used by this test only")]
    async fn fetch_async(&mut self) -> Result<u32, Failed> {
        *self.position() += 1;
        succeed_at(3)
    }
}

impl Fetch for Stream {
    fn position(&mut self) -> &mut u32 {
        &mut self.position
    }
}

/// C094, tokio-rs/tracing#3179. A method without a body is refused: tests/ui.
#[tokio::test]
async fn a_default_method_of_a_trait_is_retried() {
    let (_log, mut stream) = (Log::start(), Stream::default());
    assert_eq!(stream.fetch(), Ok(3));
    assert_eq!(stream.position, 3);
    let (_log, mut stream) = (Log::start(), Stream::default());
    assert_eq!(stream.fetch_async().await, Ok(3));
    assert_eq!(stream.position, 3);
}

#[retryable(sleep = record)]
fn mut_number(mut n: u32) -> Result<u32, Failed> {
    n += 1;
    succeed_at(3).map(|_| n)
}

#[retryable(sleep = record)]
fn mut_reference(v: &mut Vec<u32>) -> Result<u32, Failed> {
    v.push(call());
    if v.len() < 3 { Err(Failed(0)) } else { Ok(3) }
}

#[retryable(sleep = record_async)]
async fn mut_pattern((mut a, b): (Vec<u32>, u32), mut c: [u32; 1]) -> Result<usize, Failed> {
    a.push(b);
    c[0] += 1;
    succeed_at(3).map(|_| a.len() + c[0] as usize)
}

/// C095, tokio-rs/tracing#1167
#[tokio::test]
async fn mut_arguments_start_afresh_and_mut_references_go_on() {
    let _log = Log::start();
    assert_eq!(mut_number(10), Ok(11));
    let (_log, mut v) = (Log::start(), Vec::new());
    assert_eq!(mut_reference(&mut v), Ok(3));
    assert_eq!(v, [1, 2, 3]);
    let (_log, stream) = (Log::start(), Stream::default());
    assert_eq!(stream.skip(10), Ok(10));
    let _log = Log::start();
    assert_eq!(mut_pattern((vec![0], 1), [5]).await, Ok(2 + 6));
}

/// C096, async-graphql/async-graphql#1479: that this compiles is the test.
mod without_warnings {
    #![deny(warnings, clippy::pedantic)]

    use retry_runtime::retryable;

    use crate::support::{Failed, succeed_at};

    #[derive(Clone)]
    pub struct Counter(u32);

    impl Counter {
        #[retryable(base_ms = 1)]
        pub fn by_value(mut self, mut by: u32) -> Result<u32, Failed> {
            self.0 += by;
            by += 1;
            succeed_at(by)
        }

        #[retryable(base_ms = 1, keep(by))]
        pub async fn kept(&mut self, mut by: u32, mut more: Vec<u32>) -> Result<u32, Failed> {
            by += 1;
            more.push(by);
            self.0 += by;
            succeed_at(by)
        }
    }

    #[retryable(base_ms = 1)]
    pub async fn destructured((mut a, [b, ..]): (u32, [u32; 3]), _: &str) -> Result<u32, Failed> {
        a += b;
        succeed_at(a)
    }

    #[test]
    fn mut_arguments_bring_no_warning() {
        assert!(Counter(1).by_value(0).is_ok());
        drop(Counter(1).kept(0, vec![]));
        drop(destructured((1, [1, 2, 3]), ""));
    }
}

#[retryable(sleep = record)]
fn ways_out(way: u32) -> io::Result<u32> {
    fn inner_question_mark() -> io::Result<u32> {
        Err(io::Error::from(io::ErrorKind::NotFound))?;
        Ok(0)
    }
    let number = call();
    let closure = |n: u32| -> u32 {
        if n > 1 {
            return n * 10;
        }
        n
    };
    let found = 'search: {
        for n in 0..10 {
            if closure(n) == 20 {
                break 'search Some(n);
            }
        }
        None
    };
    assert_eq!(found, Some(2));
    assert_eq!(
        inner_question_mark().unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
    if number < 3 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    match way {
        0 => return Ok(number),
        1 => Err(io::Error::from(io::ErrorKind::PermissionDenied))?,
        _ => {}
    }
    Ok(100)
}

#[retryable(sleep = record_async)]
async fn ways_out_async(way: u32) -> io::Result<u32> {
    async fn inner_question_mark() -> io::Result<u32> {
        Err(io::Error::from(io::ErrorKind::NotFound))?;
        Ok(0)
    }
    let number = call();
    let block = async {
        if number > 0 {
            return number * 10;
        }
        0
    };
    assert_eq!(block.await, number * 10);
    let in_loop = 'outer: loop {
        for n in 0.. {
            if n == number {
                break 'outer n;
            }
        }
    };
    assert_eq!(in_loop, number);
    assert_eq!(
        inner_question_mark().await.unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
    if number < 3 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    match way {
        0 => return Ok(number),
        1 => Err(io::Error::from(io::ErrorKind::PermissionDenied))?,
        _ => {}
    }
    Ok(100)
}

/// C098, x52dev/contracts#41
#[tokio::test]
async fn return_question_mark_and_break_keep_their_meaning() {
    for (way, expected) in [(0, Some(3)), (1, None), (2, Some(100))] {
        let log = Log::start();
        assert_eq!(ways_out(way).ok(), expected);
        assert_eq!(log.calls(), 3);
        let log = Log::start();
        assert_eq!(ways_out_async(way).await.ok(), expected);
        assert_eq!(log.calls(), 3);
    }
}
