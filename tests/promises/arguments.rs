//! Promise 4: what each attempt sees of the arguments.

use std::{
    cell::{Cell, RefCell},
    io::{self, Write},
    marker::PhantomPinned,
    pin::Pin,
    rc::Rc,
    sync::Arc,
};

use retry_runtime::retryable;

use crate::support::{Failed, Log, fail, record, record_async, succeed_at};

type Seen = RefCell<Vec<(u32, String, Vec<u8>)>>;

#[retryable(sleep = record)]
fn changes_its_arguments(
    mut n: u32,
    mut name: String,
    (mut bytes, _): (Vec<u8>, ()),
    seen: &Seen,
) -> Result<u32, Failed> {
    let as_passed = (n, name.clone(), bytes.clone());
    seen.borrow_mut().push(as_passed);
    n += 1;
    name.push('!');
    bytes.clear();
    assert_eq!((n, &*name, bytes.len()), (8, "seven!", 0));
    fail()
}

#[retryable(sleep = record_async)]
async fn changes_its_arguments_async(
    mut n: u32,
    mut name: String,
    (mut bytes, _): (Vec<u8>, ()),
    seen: &Seen,
) -> Result<u32, Failed> {
    let as_passed = (n, name.clone(), bytes.clone());
    seen.borrow_mut().push(as_passed);
    n += 1;
    name.push('!');
    std::future::ready(()).await;
    bytes.clear();
    assert_eq!((n, &*name, bytes.len()), (8, "seven!", 0));
    fail()
}

#[tokio::test]
async fn each_attempt_sees_the_arguments_as_passed() {
    let passed = || (7, "seven".to_owned(), vec![7]);
    let (n, name, bytes) = passed();
    let (_log, seen) = (Log::start(), Seen::default());
    assert!(changes_its_arguments(n, name, (bytes, ()), &seen).is_err());
    assert_eq!(seen.into_inner(), [passed(), passed(), passed()]);

    let (n, name, bytes) = passed();
    let (_log, seen) = (Log::start(), Seen::default());
    let called = changes_its_arguments_async(n, name, (bytes, ()), &seen);
    assert!(called.await.is_err());
    assert_eq!(seen.into_inner(), [passed(), passed(), passed()]);
}

/// An argument that counts its clones
#[derive(Default)]
struct Cloned {
    clones: Rc<Cell<usize>>,
    attempts: u32,
}

impl Clone for Cloned {
    fn clone(&self) -> Self {
        self.clones.set(self.clones.get() + 1);
        Self {
            clones: Rc::clone(&self.clones),
            attempts: self.attempts,
        }
    }
}

impl Cloned {
    fn new() -> (Rc<Cell<usize>>, Self) {
        let cloned = Self::default();
        (Rc::clone(&cloned.clones), cloned)
    }

    #[retryable(max = max, sleep = record)]
    fn by_mut_self(mut self, max: u32) -> Result<u32, Failed> {
        self.attempts += 1;
        assert_eq!(self.attempts, 1);
        fail()
    }

    #[retryable(max = max, clone(self), sleep = record_async)]
    async fn by_clone_self(self, max: u32) -> Result<u32, Failed> {
        drop(self);
        fail()
    }

    #[retryable(max = max, sleep = record)]
    fn by_value(self, max: u32) -> Result<u32, Failed> {
        assert_eq!(self.attempts, 0);
        fail()
    }

    #[retryable(max = max, keep(self), sleep = record)]
    fn by_kept_self(mut self, max: u32) -> Result<u32, Failed> {
        self.attempts += 1;
        fail().inspect_err(|failed| assert_eq!(failed.0, self.attempts))
    }
}

#[retryable(max = max, sleep = record)]
fn mut_argument(mut a: Cloned, max: u32) -> Result<u32, Failed> {
    a.attempts += 1;
    fail()
}

#[retryable(max = max, clone(a), sleep = record_async)]
async fn listed_argument(a: Cloned, max: u32) -> Result<u32, Failed> {
    drop(a);
    fail()
}

/// No more clones than attempts, and so none after the last one.
#[tokio::test]
async fn clone_count_is_the_number_of_attempts() {
    for max in [1, 2, 5] {
        for retried in [Cloned::by_mut_self, mut_argument] {
            let (_log, (clones, argument)) = (Log::start(), Cloned::new());
            assert!(retried(argument, max).is_err());
            assert_eq!(clones.get(), max as usize);
        }
        let (_log, (clones, argument)) = (Log::start(), Cloned::new());
        assert!(argument.by_clone_self(max).await.is_err());
        assert_eq!(clones.get(), max as usize);
        let (_log, (clones, argument)) = (Log::start(), Cloned::new());
        assert!(listed_argument(argument, max).await.is_err());
        assert_eq!(clones.get(), max as usize);
    }
}

#[retryable(max = max, sleep = record)]
fn lent(a: Cloned, max: u32, _b: &Cloned, [c, _]: [Cloned; 2]) -> Result<u32, Failed> {
    assert_eq!(a.attempts + c.attempts, 0);
    fail()
}

#[retryable(max = max, sleep = record_async)]
async fn lent_async(a: Cloned, max: u32, _b: &mut Cloned) -> Result<u32, Failed> {
    assert_eq!(a.attempts, 0);
    fail()
}

#[retryable(max = max, keep(a), sleep = record)]
fn kept(mut a: Cloned, max: u32) -> Result<u32, Failed> {
    a.attempts += 1;
    fail()
}

/// Not even `Clone`
struct Unique(u32);

#[retryable(sleep = record)]
fn lent_unique(a: Unique, mut b: &mut Unique) -> Result<u32, Failed> {
    b.0 += a.0;
    b = &mut *b;
    b.0 += a.0;
    fail()
}

#[tokio::test]
async fn no_clone_of_lent_arguments() {
    for retried in [Cloned::by_value, Cloned::by_kept_self, kept] {
        let (_log, (clones, argument)) = (Log::start(), Cloned::new());
        assert!(retried(argument, 5).is_err());
        assert_eq!(clones.get(), 0);
    }
    let (_log, (clones, a)) = (Log::start(), Cloned::new());
    let (b, c, d) = (a.clone(), a.clone(), a.clone());
    assert!(lent(a, 5, &b, [c, d]).is_err());
    let (_log, (clones_async, a)) = (Log::start(), Cloned::new());
    assert!(lent_async(a, 5, &mut Cloned::default()).await.is_err());
    assert_eq!((clones.get(), clones_async.get()), (3, 0));

    let (_log, mut unique) = (Log::start(), Unique(0));
    assert!(lent_unique(Unique(1), &mut unique).is_err());
    assert_eq!(unique.0, 6);
}

#[retryable(keep(force, items), sleep = record)]
fn keeps(mut force: bool, mut items: std::vec::IntoIter<u32>) -> Result<(bool, u32), Failed> {
    let item = items.next().unwrap();
    let forced = std::mem::replace(&mut force, true);
    succeed_at(3).map(|_| (forced, item))
}

#[retryable(keep(force, items), sleep = record_async)]
async fn keeps_async(
    mut force: bool,
    mut items: std::vec::IntoIter<u32>,
) -> Result<(bool, u32), Failed> {
    let item = items.next().unwrap();
    let forced = std::mem::replace(&mut force, true);
    succeed_at(3).map(|_| (forced, item))
}

#[tokio::test]
async fn keep_keeps() {
    let _log = Log::start();
    assert_eq!(keeps(false, vec![1, 2, 3].into_iter()), Ok((true, 3)));
    let _log = Log::start();
    let kept = keeps_async(false, vec![1, 2, 3].into_iter());
    assert_eq!(kept.await, Ok((true, 3)));
}

#[retryable(sleep = record)]
fn calls_closures<G>(mut f: impl FnMut() -> u32, mut g: G) -> Result<u32, Failed>
where
    G: FnMut() -> u32,
{
    let sum = f() + g();
    succeed_at(3).map(|_| sum)
}

#[retryable(sleep = record_async)]
async fn calls_closures_async<F: FnMut() -> u32>(
    mut f: F,
    mut g: impl AsyncFnMut() -> u32,
) -> Result<u32, Failed> {
    let sum = f() + g().await;
    succeed_at(3).map(|_| sum)
}

#[tokio::test]
async fn fnmut_arguments_are_kept() {
    let (mut f, mut g) = (0, 0);
    let _log = Log::start();
    let sum = calls_closures(
        || {
            f += 1;
            f
        },
        || {
            g += 10;
            g
        },
    );
    assert_eq!((sum, f, g), (Ok(33), 3, 30));

    let (mut f, mut g) = (0, 0);
    let _log = Log::start();
    let sum = calls_closures_async(
        || {
            f += 1;
            f
        },
        async || {
            g += 10;
            g
        },
    );
    assert_eq!((sum.await, f, g), (Ok(33), 3, 30));
}

#[derive(Default)]
struct Cursor {
    position: u32,
}

impl Cursor {
    #[retryable(sleep = record)]
    fn advance(&mut self, log: &mut Vec<u32>, mut rest: &mut [u32]) -> Result<u32, Failed> {
        self.position += 1;
        log.push(self.position);
        rest[0] += 1;
        rest = &mut rest[1..];
        rest[0] += 10;
        succeed_at(3)
    }

    #[retryable(sleep = record_async)]
    async fn advance_async(&mut self, log: &mut Vec<u32>) -> Result<u32, Failed> {
        self.position += 1;
        std::future::ready(()).await;
        log.push(self.position);
        succeed_at(3)
    }

    #[allow(unused_mut, reason = "a fault: it is used, by the attempts' `self`")]
    #[retryable(sleep = record)]
    fn from_mut_binding(mut self: &mut Self) -> Result<u32, Failed> {
        self = &mut *self;
        self.position += 1;
        succeed_at(3)
    }
}

#[tokio::test]
async fn mut_references_keep_their_state() {
    let (mut cursor, mut seen, mut rest) = (Cursor::default(), Vec::new(), [0, 0]);
    let _log = Log::start();
    assert_eq!(cursor.advance(&mut seen, &mut rest), Ok(3));
    assert_eq!((seen, rest), (vec![1, 2, 3], [3, 30]));

    let (mut cursor, mut seen) = (Cursor::default(), Vec::new());
    let _log = Log::start();
    assert_eq!(cursor.advance_async(&mut seen).await, Ok(3));
    assert_eq!(seen, [1, 2, 3]);

    let _log = Log::start();
    assert_eq!(cursor.from_mut_binding(), Ok(3));
    assert_eq!(cursor.position, 6);
}

/// Does not compile yet: E0382, `sink` and `self` are moved by the first attempt.
#[cfg(any())]
mod moved_references {
    use super::*;

    #[retryable(sleep = record)]
    fn buffered(sink: &mut impl Write) -> io::Result<()> {
        let mut buffered = io::BufWriter::new(sink);
        buffered.write_all(b"x")?;
        buffered.flush()?;
        Err(io::ErrorKind::BrokenPipe.into())
    }

    #[retryable(sleep = record_async)]
    async fn looped(numbers: &mut Vec<u32>) -> Result<u32, Failed> {
        for number in numbers {
            *number += 1;
        }
        succeed_at(3)
    }

    impl Cursor {
        #[retryable(sleep = record)]
        fn rebound(&mut self) -> Result<u32, Failed> {
            let this = self;
            this.position += 1;
            succeed_at(3)
        }
    }

    #[tokio::test]
    async fn a_body_that_moves_a_mut_reference_gets_a_new_one_for_each_attempt() {
        let (_log, mut sink) = (Log::start(), Vec::new());
        buffered(&mut sink).unwrap_err();
        assert_eq!(sink, b"xxx");
        let (_log, mut numbers) = (Log::start(), vec![0]);
        assert_eq!(looped(&mut numbers).await, Ok(3));
        assert_eq!(numbers, [3]);
        let (_log, mut cursor) = (Log::start(), Cursor::default());
        assert_eq!(cursor.rebound(), Ok(3));
        assert_eq!(cursor.position, 3);
    }
}

#[retryable(sleep = record)]
fn writes(sink: &mut impl Write) -> io::Result<()> {
    sink.write_all(b"x")?;
    Err(io::ErrorKind::BrokenPipe.into())
}

#[test]
fn a_generic_mut_reference_is_lent_to_every_attempt() {
    let (_log, mut sink) = (Log::start(), Vec::new());
    writes(&mut sink).unwrap_err();
    assert_eq!(sink, b"xxx");
}

#[derive(Clone, Debug, Default)]
struct Handle {
    attempts: u32,
}

/// Not `Unpin`
#[derive(Default)]
struct Pinned {
    attempts: Cell<u32>,
    _pinned: PhantomPinned,
}

impl Handle {
    #[retryable(sleep = record)]
    fn shared(self: Arc<Self>) -> Result<u32, Failed> {
        assert_eq!(Arc::strong_count(&self), 1);
        succeed_at(3).map(|_| self.attempts)
    }

    #[retryable(clone(self), sleep = record_async)]
    async fn consumed(self: Rc<Self>) -> Result<u32, Failed> {
        let this = self;
        assert_eq!(Rc::strong_count(&this), 2);
        succeed_at(3).map(|_| this.attempts)
    }

    #[retryable(sleep = record)]
    fn boxed(mut self: Box<Self>) -> Result<u32, Failed> {
        self.attempts += 1;
        let add = || self.attempts + 1;
        succeed_at(3).map(|_| add())
    }

    #[retryable(sleep = record)]
    fn renamed(mut self) -> Result<u32, Failed> {
        struct Inner(u32);
        impl Inner {
            fn get(&self) -> u32 {
                self.0
            }
        }
        macro_rules! attempts {
            () => {
                self.attempts
            };
        }
        self.attempts += Inner(1).get();
        let Self { attempts } = self;
        assert_eq!(attempts, attempts!());
        succeed_at(3).map(|_| attempts)
    }

    #[retryable(on = "any", sleep = record)]
    fn formatted(mut self) -> Result<u32, String> {
        self.attempts += 1;
        Err(format!("{self:?}"))
    }
}

impl Pinned {
    #[retryable(sleep = record_async)]
    async fn pinned(self: Pin<&mut Self>) -> Result<u32, Failed> {
        let this = self;
        this.attempts.set(this.attempts.get() + 1);
        succeed_at(3).map(|_| this.attempts.get())
    }
}

#[tokio::test]
async fn every_kind_of_self_is_retried() {
    let _log = Log::start();
    assert_eq!(Arc::new(Handle::default()).shared(), Ok(0));
    let _log = Log::start();
    assert_eq!(Rc::new(Handle::default()).consumed().await, Ok(0));
    let _log = Log::start();
    assert_eq!(Box::new(Handle::default()).boxed(), Ok(2));
    let _log = Log::start();
    assert_eq!(Handle::default().renamed(), Ok(1));
    let _log = Log::start();
    assert_eq!(Box::pin(Pinned::default()).as_mut().pinned().await, Ok(3));
}

#[test]
#[ignore = "`{self}` in a format string is the `self` before the attempt, not the attempt's own"]
fn self_in_a_format_string_is_that_of_the_attempt() {
    let formatted = Handle::default().formatted().unwrap_err();
    assert_eq!(formatted, "Handle { attempts: 1 }");
}

/// Does not compile yet where `self` is bound anew: "no `__self` in `fmt`".
#[cfg(any())]
mod paths_with_self {
    use super::*;

    fn one() -> u32 {
        1
    }

    impl Handle {
        #[retryable(sleep = record)]
        fn uses_modules(mut self) -> Result<String, Failed> {
            use std::fmt::{self, Write as _};
            self.attempts += self::one();
            let mut text = String::new();
            let written: fmt::Result = write!(text, "{}", self.attempts);
            assert!(written.is_ok());
            succeed_at(3).map(|_| text)
        }
    }

    #[test]
    fn self_in_a_path_is_the_module() {
        let _log = Log::start();
        assert_eq!(Handle::default().uses_modules(), Ok("1".into()));
    }
}
