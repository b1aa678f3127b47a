//! What a function may return.

use crate::support::{Busy, Calls, run};
use retry_runtime::retryable;
use std::{
    cell::{Ref, RefCell},
    convert::Infallible,
    fmt::Debug,
    io,
    ops::Deref,
    sync::Arc,
};

type Res<T> = Result<T, Busy>;
type Done = Result<(), Busy>;

mod api {
    pub type Result<T, E = super::Busy> = std::result::Result<T, E>;
}

#[test]
fn result_of_unit_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<(), Busy> {
        calls.fail_twice(())?;
        Ok(())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(()));
    calls.each_saw(());
}

#[test]
fn result_by_a_full_path_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> std::result::Result<u32, Busy> {
        calls.fail_twice(())
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

#[test]
fn io_result_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> io::Result<u32> {
        Ok(calls.fail_twice(())?)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls).unwrap(), 3);
    calls.each_saw(());
}

#[test]
fn io_result_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> io::Result<u32> {
        Ok(calls.fail_twice(())?)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)).unwrap(), 3);
    calls.each_saw(());
}

#[test]
fn own_aliases_sync() {
    #[retryable(backoff = "none")]
    fn generic(calls: &Calls) -> Res<u32> {
        calls.fail_twice(())
    }
    #[retryable(backoff = "none")]
    fn plain(calls: &Calls) -> Done {
        calls.fail_twice(()).map(drop)
    }
    #[retryable(backoff = "none")]
    fn in_a_module(calls: &Calls) -> api::Result<u32> {
        calls.fail_twice(())
    }
    let [a, b, c] = [const { Calls::new() }; 3];
    assert_eq!(generic(&a), Ok(3));
    assert_eq!(plain(&b), Ok(()));
    assert_eq!(in_a_module(&c), Ok(3));
    [a, b, c].iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn own_aliases_async() {
    #[retryable(backoff = "none")]
    async fn generic(calls: &Calls) -> Res<u32> {
        calls.fail_twice(())
    }
    #[retryable(backoff = "none")]
    async fn plain(calls: &Calls) -> Done {
        calls.fail_twice(()).map(drop)
    }
    let [a, b] = [const { Calls::new() }; 2];
    assert_eq!(run(generic(&a)), Ok(3));
    assert_eq!(run(plain(&b)), Ok(()));
    [a, b].iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn result_in_a_result_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<Result<u32, &'static str>, Busy> {
        calls.fail_twice(())?;
        Ok(Err("inner"))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Ok(Err("inner")));
    calls.each_saw(());
}

#[test]
fn result_in_a_result_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<Result<u32, &'static str>, Busy> {
        calls.fail_twice(())?;
        Ok(Err("inner"))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(Err("inner")));
    calls.each_saw(());
}

#[test]
fn result_of_self_sync() {
    #[derive(Debug, PartialEq)]
    struct Connection(u32);
    impl Connection {
        #[retryable(backoff = "none")]
        fn connect(calls: &Calls) -> Result<Self, Busy> {
            calls.fail_twice(()).map(Self)
        }
    }
    let calls = Calls::new();
    assert_eq!(Connection::connect(&calls), Ok(Connection(3)));
    calls.each_saw(());
}

#[test]
fn result_of_self_async() {
    struct Connection<T>(T);
    impl<T: From<u32> + Send> Connection<T> {
        #[retryable(backoff = "none")]
        async fn connect(calls: &Calls) -> Result<Self, Busy> {
            calls.fail_twice(()).map(|number| Self(number.into()))
        }
    }
    let calls = Calls::new();
    assert_eq!(run(Connection::<u64>::connect(&calls)).unwrap().0, 3);
    calls.each_saw(());
}

#[test]
fn result_that_never_succeeds_sync() {
    let calls = Calls::new();
    #[retryable(backoff = "none")]
    fn always(calls: &Calls) -> Result<Infallible, Busy> {
        calls.fail_twice(()).map_or(Err(Busy), |_| Err(Busy))
    }
    assert!(matches!(always(&calls), Err(Busy)));
    calls.each_saw(());
}

#[test]
fn result_that_never_fails_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<bool, Infallible> {
        Ok(calls.fail_twice(()).is_ok())
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(false));
    calls.saw([()]);
}

// borrows

struct Text(String);

#[test]
fn borrow_of_self_with_a_coercion_sync() {
    impl Text {
        #[retryable(backoff = "none")]
        fn text(&self, calls: &Calls) -> Result<&str, Busy> {
            calls.fail_twice(&self.0)?;
            Ok(&self.0)
        }
    }
    let calls = Calls::new();
    assert_eq!(Text(String::from("a")).text(&calls), Ok("a"));
    calls.each_saw("a");
}

#[test]
fn borrow_of_self_with_a_coercion_async() {
    impl Text {
        #[retryable(backoff = "none")]
        async fn text_async(&self, calls: &Calls) -> Result<&str, Busy> {
            calls.fail_twice(&self.0)?;
            if self.0.is_empty() {
                return Ok(&self.0);
            }
            Ok(&self.0)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(Text(String::from("a")).text_async(&calls)), Ok("a"));
    calls.each_saw("a");
}

#[test]
fn borrow_of_an_argument_sync() {
    #[retryable(backoff = "none")]
    fn shape<'a>(calls: &Calls, list: &'a Vec<String>) -> Result<&'a [String], Busy> {
        calls.fail_twice(list)?;
        Ok(list)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, &vec![String::from("a")]).unwrap(), ["a"]);
    calls.each_saw(["a"]);
}

#[test]
fn borrow_of_an_argument_async() {
    #[retryable(backoff = "none")]
    async fn shape<'a>(calls: &Calls, text: &'a String) -> Result<&'a str, Busy> {
        calls.fail_twice(text)?;
        Ok(text)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, &String::from("a"))), Ok("a"));
    calls.each_saw("a");
}

#[test]
fn guard_that_borrows_self_sync() {
    struct Shared(RefCell<u32>);
    impl Shared {
        #[retryable(backoff = "none")]
        fn shape(&self, calls: &Calls) -> Result<Ref<'_, u32>, Busy> {
            let guard = self.0.borrow();
            calls.fail_twice(*guard)?;
            Ok(guard)
        }
    }
    let (calls, shared) = (Calls::new(), Shared(RefCell::new(1)));
    assert_eq!(shared.shape(&calls).as_deref(), Ok(&1));
    calls.each_saw(1);
}

// `impl Trait` and `dyn Trait`

#[test]
fn result_of_impl_iterator_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<impl Iterator<Item = u32>, Busy> {
        let number = calls.fail_twice(())?;
        Ok(0..number)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls).unwrap().count(), 3);
    calls.each_saw(());
}

#[test]
fn result_of_impl_iterator_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<impl Iterator<Item = u32> + Send, Busy> {
        let number = calls.fail_twice(())?;
        Ok(0..number)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)).unwrap().count(), 3);
    calls.each_saw(());
}

#[test]
fn result_of_impl_trait_that_borrows_sync() {
    #[retryable(backoff = "none")]
    fn shape<'a, T: Debug>(
        calls: &Calls,
        list: &'a [T],
    ) -> Result<impl DoubleEndedIterator<Item = &'a T> + use<'a, T>, Busy> {
        calls.fail_twice(list)?;
        Ok(list.iter().rev())
    }
    let calls = Calls::new();
    let mut last_first = shape(&calls, &[1, 2]).unwrap();
    assert_eq!(last_first.next(), Some(&2));
    calls.each_saw([1, 2]);
}

#[test]
fn result_of_impl_fn_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<impl Fn(u32) -> u32 + use<>, Busy> {
        let number = calls.fail_twice(())?;
        Ok(move |n| n + number)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls).unwrap()(1), 4);
    calls.each_saw(());
}

#[test]
fn impl_trait_error_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<u32, impl retry_runtime::Transient + Debug> {
        calls.fail_twice(())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls).unwrap(), 3);
    calls.each_saw(());
}

#[test]
fn result_of_a_boxed_trait_object_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls) -> Result<Box<dyn Iterator<Item = u32>>, Busy> {
        let number = calls.fail_twice(())?;
        if number > 3 {
            return Ok(Box::new(0..9));
        }
        Ok(Box::new(std::iter::repeat_n(1, 3)))
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls).unwrap().count(), 3);
    calls.each_saw(());
}

#[test]
fn result_of_a_boxed_trait_object_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<Arc<dyn Deref<Target = u32> + Send + Sync>, Busy> {
        let number = calls.fail_twice(())?;
        Ok(Arc::new(Box::new(number)))
    }
    let calls = Calls::new();
    assert_eq!(**run(shape(&calls)).unwrap(), 3);
    calls.each_saw(());
}

// judged by `until`

#[test]
fn option_sync() {
    #[retryable(backoff = "none", until = "Option::is_some")]
    fn shape(calls: &Calls) -> Option<u32> {
        calls.fail_twice(()).ok()
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Some(3));
    calls.each_saw(());
}

#[test]
fn option_async() {
    #[retryable(backoff = "none", until(Some(_)))]
    async fn shape(calls: &Calls) -> Option<u32> {
        calls.fail_twice(()).ok()
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Some(3));
    calls.each_saw(());
}

#[test]
fn option_with_question_mark_sync() {
    #[retryable(backoff = "none", until(Some(_)))]
    fn shape(calls: &Calls) -> Option<u32> {
        let number = calls.fail_twice(()).ok()?;
        Some(number + 1)
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), Some(4));
    calls.each_saw(());
}

#[test]
fn option_with_question_mark_async() {
    #[retryable(backoff = "none", until = Option::is_some)]
    async fn shape(calls: &Calls) -> Option<u32> {
        let number = calls.fail_twice(()).ok()?;
        Some(number + 1)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Some(4));
    calls.each_saw(());
}

#[test]
fn option_that_borrows_sync() {
    #[retryable(backoff = "none", until(Some(_)))]
    fn shape<'a>(calls: &Calls, list: &'a [String]) -> Option<&'a str> {
        calls.fail_twice(list).ok()?;
        list.first().map(|text| text.as_str())
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, &[String::from("a")]), Some("a"));
    calls.each_saw(["a"]);
}

#[test]
fn plain_value_sync() {
    #[retryable(backoff = "none", until = |state| *state == "ready")]
    fn shape(calls: &Calls) -> &'static str {
        match calls.fail_twice(()) {
            Ok(_) => "ready",
            Err(Busy) => "starting",
        }
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls), "ready");
    calls.each_saw(());
}

#[test]
fn plain_value_async() {
    #[derive(Debug, PartialEq)]
    struct State {
        ready: bool,
    }
    impl State {
        fn is_ready(&self) -> bool {
            self.ready
        }
    }
    #[retryable(backoff = "none", until = "State::is_ready")]
    async fn shape(calls: &Calls) -> State {
        State {
            ready: calls.fail_twice(()).is_ok(),
        }
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), State { ready: true });
    calls.each_saw(());
}

#[test]
fn bool_number_tuple_and_list_sync() {
    #[retryable(backoff = "none", until(true))]
    fn flag(calls: &Calls) -> bool {
        calls.fail_twice(()).is_ok()
    }
    #[retryable(backoff = "none", until(200..=299 | 404))]
    fn status(calls: &Calls) -> u16 {
        calls.fail_twice(()).map_or(503, |_| 204)
    }
    #[retryable(backoff = "none", until(("done", _)))]
    fn pair(calls: &Calls) -> (&'static str, u32) {
        calls.fail_twice(()).map_or(("wait", 0), |n| ("done", n))
    }
    #[retryable(backoff = "none", until([3, _]))]
    fn array(calls: &Calls) -> [u32; 2] {
        [calls.fail_twice(()).unwrap_or(0), 0]
    }
    #[retryable(backoff = "none", until = |list: &Vec<u32>| !list.is_empty())]
    fn list(calls: &Calls) -> Vec<u32> {
        calls.fail_twice(()).ok().into_iter().collect()
    }
    let all = [const { Calls::new() }; 5];
    let [a, b, c, d, e] = &all;
    assert!(flag(a));
    assert_eq!(status(b), 204);
    assert_eq!(pair(c), ("done", 3));
    assert_eq!(array(d), [3, 0]);
    assert_eq!(list(e), [3]);
    all.iter().for_each(|calls| calls.each_saw(()));
}

#[test]
fn impl_trait_judged_by_until_sync() {
    #[retryable(backoff = "none", until = |items| items.len() > 0)]
    fn shape(calls: &Calls) -> impl ExactSizeIterator<Item = u32> {
        let number = calls.fail_twice(()).unwrap_or(0);
        (0..number).collect::<Vec<_>>().into_iter()
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls).len(), 3);
    calls.each_saw(());
}

#[test]
fn result_of_option_judged_by_until_async() {
    #[retryable(backoff = "none", until(Some(_)))]
    async fn shape(calls: &Calls, fail_at: u32) -> io::Result<Option<u32>> {
        match calls.fail_twice(()) {
            Err(Busy) if fail_at == 1 => Err(io::ErrorKind::TimedOut.into()),
            found => Ok(found.ok()),
        }
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, 0)).unwrap(), Some(3));
    calls.each_saw(());
    let calls = Calls::new();
    assert!(
        run(shape(&calls, 1)).is_err(),
        "an error is returned at once"
    );
    calls.saw([()]);
}

#[test]
fn result_judged_by_until_and_on_sync() {
    #[retryable(backoff = "none", until = Option::is_some, on(Busy))]
    fn shape(calls: &Calls, fail: &mut bool) -> Result<Option<u32>, Busy> {
        let found = calls.fail_twice(());
        if std::mem::take(fail) {
            found.map(Some)
        } else {
            Ok(found.ok())
        }
    }
    let calls = Calls::new();
    assert_eq!(shape(&calls, &mut true), Ok(Some(3)));
    calls.each_saw(());
}
