//! Where a call may run: in tasks, on other threads, and on one thread only. A call is `Send`
//! whenever the written body is.

use crate::support::{Busy, Calls, run, run_here};
use retry_runtime::retryable;
use std::{
    cell::{Cell, RefCell},
    fmt::Debug,
    rc::Rc,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::task::{LocalSet, yield_now};

#[test]
fn spawned_function_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: Arc<Calls>, text: String, number: u32) -> Result<usize, Busy> {
        yield_now().await;
        calls.fail_twice((&text, number))?;
        Ok(text.len())
    }
    let calls = Arc::new(Calls::new());
    let call = shape(Arc::clone(&calls), String::from("a"), 1);
    assert_eq!(run(async { tokio::spawn(call).await.unwrap() }), Ok(1));
    calls.each_saw(("a", 1));
}

#[test]
fn spawned_method_of_an_arc_async() {
    struct Client(Calls);
    impl Client {
        #[retryable(backoff = "none")]
        async fn shape(&self, number: u32) -> Result<u32, Busy> {
            yield_now().await;
            self.0.fail_twice(number)
        }
    }
    let client = Arc::new(Client(Calls::new()));
    let task = {
        let client = Arc::clone(&client);
        async move { client.shape(1).await }
    };
    assert_eq!(run(async { tokio::spawn(task).await.unwrap() }), Ok(3));
    client.0.each_saw(1);
}

#[test]
fn spawned_method_of_arc_self_async() {
    struct Client(Calls);
    impl Client {
        #[retryable(backoff = "none")]
        async fn shape(self: Arc<Self>, number: u32) -> Result<u32, Busy> {
            yield_now().await;
            self.0.fail_twice(number)
        }
    }
    let client = Arc::new(Client(Calls::new()));
    let call = Arc::clone(&client).shape(1);
    assert_eq!(run(async { tokio::spawn(call).await.unwrap() }), Ok(3));
    client.0.each_saw(1);
}

#[test]
fn spawned_generic_function_async() {
    trait Service: Send + Sync + 'static {
        fn ask(&self) -> impl Future<Output = Result<u32, Busy>> + Send;
    }
    impl Service for Calls {
        async fn ask(&self) -> Result<u32, Busy> {
            self.fail_twice(())
        }
    }
    #[retryable(backoff = "none")]
    async fn shape<S: Service>(service: Arc<S>) -> Result<u32, Busy> {
        service.ask().await
    }
    async fn spawn<S: Service>(service: Arc<S>) -> Result<u32, Busy> {
        tokio::spawn(shape(service)).await.unwrap()
    }
    let calls = Arc::new(Calls::new());
    assert_eq!(run(spawn(Arc::clone(&calls))), Ok(3));
    calls.each_saw(());
}

#[test]
fn call_moved_to_another_thread_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, mut text: String) -> Result<u32, Busy> {
        text.push('!');
        yield_now().await;
        calls.fail_twice(&text)
    }
    let calls = Calls::new();
    let call = shape(&calls, String::from("a"));
    let done = std::thread::scope(|scope| scope.spawn(|| run_here(call)).join().unwrap());
    assert_eq!(done, Ok(3));
    calls.each_saw("a!");
}

#[test]
fn boxed_send_future_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls, text: &str) -> Result<u32, Busy> {
        yield_now().await;
        calls.fail_twice(text)
    }
    let calls = Calls::new();
    let boxed: std::pin::Pin<Box<dyn Future<Output = Result<u32, Busy>> + Send + '_>> =
        Box::pin(shape(&calls, "a"));
    assert_eq!(run(boxed), Ok(3));
    calls.each_saw("a");
}

#[test]
fn arguments_of_every_kind_in_a_send_future_async() {
    #[retryable(backoff = "none", clone(cloned), keep(kept))]
    async fn shape(
        calls: &Calls,
        cloned: Vec<u32>,
        mut kept: Box<dyn FnMut() -> u32 + Send>,
        mut fresh: String,
        lent: &mut (dyn Debug + Send + Sync),
        (a, mut b): (u32, u32),
        _: u32,
    ) -> Result<u32, Busy> {
        fresh.push('!');
        b += 1;
        yield_now().await;
        calls.fail_twice((cloned, kept(), fresh, &lent, a, b))
    }
    let (calls, mut number, mut seven) = (Calls::new(), 0, 7);
    let count = move || {
        number += 1;
        number
    };
    let done = shape(
        &calls,
        vec![1],
        Box::new(count),
        String::new(),
        &mut seven,
        (8, 9),
        10,
    );
    assert_eq!(run(done), Ok(3));
    calls.saw([1, 2, 3].map(|number| ([1], number, "!", 7, 8, 10)));
}

#[test]
fn error_that_is_not_send_and_a_wait_async() {
    #[retryable(base_ms = 5, on = |error| error.strong_count_is_one())]
    async fn shape(calls: &Calls) -> Result<u32, Rc<Cell<u32>>> {
        yield_now().await;
        calls.fail_twice(()).map_err(|_| Rc::new(Cell::new(1)))
    }
    trait CountIsOne {
        fn strong_count_is_one(&self) -> bool;
    }
    impl<T> CountIsOne for Rc<T> {
        fn strong_count_is_one(&self) -> bool {
            Rc::strong_count(self) == 1
        }
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

#[test]
fn error_that_holds_a_guard_async() {
    #[retryable(backoff = "none", on = "any")]
    async fn shape<'a>(
        calls: &Calls,
        shared: &'a Mutex<u32>,
    ) -> Result<u32, PoisonError<MutexGuard<'a, u32>>> {
        yield_now().await;
        let guard = shared.try_lock().unwrap();
        calls
            .fail_twice(*guard)
            .map_err(|_| PoisonError::new(guard))
    }
    let (calls, shared) = (Calls::new(), Mutex::new(1));
    assert_eq!(run(shape(&calls, &shared)).ok(), Some(3));
    calls.each_saw(1);
}

#[test]
fn value_that_is_not_send_judged_by_until_async() {
    #[retryable(base_ms = 5, until = |found| found.get().is_some())]
    async fn shape(calls: &Calls) -> Rc<Cell<Option<u32>>> {
        yield_now().await;
        Rc::new(Cell::new(calls.fail_twice(()).ok()))
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)).get(), Some(3));
    calls.each_saw(());
}

#[test]
fn run_time_policy_that_is_not_send_async() {
    #[retryable(max = Rc::new(3u32).min(Rc::new(5)).to_string().len() * 3, base_ms = Cell::new(5).get())]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        yield_now().await;
        calls.fail_twice(())
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(());
}

#[test]
fn local_that_is_not_send_and_gone_before_the_await_async() {
    #[retryable(backoff = "none")]
    async fn shape(calls: &Calls) -> Result<u32, Busy> {
        let length = {
            let local = Rc::new(String::from("ab"));
            local.len()
        };
        yield_now().await;
        calls.fail_twice(length)
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls)), Ok(3));
    calls.each_saw(2);
}

mod arguments_that_are_not_sync {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn mut_borrow_of_what_is_not_sync_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls, numbers: &mut mpsc::Receiver<u32>) -> Result<u32, Busy> {
            let number = numbers.try_recv();
            yield_now().await;
            calls.fail_twice(number)
        }
        let (calls, (send, mut receive)) = (Calls::new(), mpsc::channel());
        (1..=3).for_each(|number| send.send(number).unwrap());
        assert_eq!(run(shape(&calls, &mut receive)), Ok(3));
        calls.saw([1, 2, 3].map(Ok::<u32, ()>));
    }

    #[test]
    fn mut_self_that_is_not_sync_async() {
        struct Client(Cell<u32>);
        impl Client {
            #[retryable(backoff = "none")]
            async fn shape(&mut self, calls: &Calls) -> Result<u32, Busy> {
                self.0.set(self.0.get() + 1);
                yield_now().await;
                calls.fail_twice(self.0.get())
            }
        }
        let calls = Calls::new();
        assert_eq!(run(Client(Cell::new(0)).shape(&calls)), Ok(3));
        calls.saw([1, 2, 3]);
    }

    #[test]
    fn owned_receiver_that_is_not_sync_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls, numbers: mpsc::Receiver<u32>) -> Result<u32, Busy> {
            let number = numbers.try_recv();
            yield_now().await;
            calls.fail_twice(number)
        }
        let (calls, (send, receive)) = (Calls::new(), mpsc::channel());
        (1..=3).for_each(|number| send.send(number).unwrap());
        assert_eq!(run(shape(&calls, receive)), Ok(3));
        calls.saw([1, 2, 3].map(Ok::<u32, ()>));
    }

    #[test]
    fn owned_boxed_closure_that_is_not_sync_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls, f: Box<dyn Fn() -> u32 + Send>) -> Result<u32, Busy> {
            let number = f();
            yield_now().await;
            calls.fail_twice(number)
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, Box::new(|| 1))), Ok(3));
        calls.each_saw(1);
    }

    #[test]
    fn generic_argument_that_is_not_known_to_be_sync_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls, f: impl Fn() -> u32 + Send) -> Result<u32, Busy> {
            let number = f();
            yield_now().await;
            calls.fail_twice(number)
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, || 1)), Ok(3));
        calls.each_saw(1);
    }

    #[test]
    fn owned_self_that_is_not_sync_async() {
        struct Client(Cell<u32>);
        impl Client {
            #[retryable(backoff = "none")]
            async fn shape(self, calls: &Calls) -> Result<u32, Busy> {
                self.0.set(self.0.get() + 1);
                yield_now().await;
                calls.fail_twice(self.0.get())
            }
        }
        let calls = Calls::new();
        assert_eq!(run(Client(Cell::new(0)).shape(&calls)), Ok(3));
        calls.saw([1, 2, 3]);
    }

    #[test]
    fn mut_argument_that_is_not_sync_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls, mut cell: RefCell<u32>) -> Result<u32, Busy> {
            *cell.get_mut() += 1;
            yield_now().await;
            calls.fail_twice(cell.get_mut())
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, RefCell::new(0))), Ok(3));
        calls.each_saw(1);
    }

    #[test]
    fn cloned_argument_that_is_not_sync_async() {
        #[retryable(backoff = "none", clone(cell))]
        async fn shape(calls: &Calls, cell: Cell<u32>) -> Result<u32, Busy> {
            yield_now().await;
            calls.fail_twice(cell.into_inner())
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, Cell::new(1))), Ok(3));
        calls.each_saw(1);
    }

    // the same where `?` makes each attempt a future of its own, which holds the argument

    #[test]
    fn mut_self_that_is_not_sync_in_a_body_that_may_be_left_async() {
        struct Client(Cell<u32>);
        impl Client {
            #[retryable(backoff = "none")]
            async fn shape(&mut self, calls: &Calls) -> Result<u32, Busy> {
                self.0.set(self.0.get() + 1);
                yield_now().await;
                let done = calls.fail_twice(self.0.get())?;
                Ok(done)
            }
        }
        let calls = Calls::new();
        assert_eq!(run(Client(Cell::new(0)).shape(&calls)), Ok(3));
        calls.saw([1, 2, 3]);
    }

    #[test]
    fn owned_receiver_that_is_not_sync_in_a_body_that_may_be_left_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls, numbers: mpsc::Receiver<u32>) -> Result<u32, Busy> {
            let number = numbers.try_recv();
            yield_now().await;
            let done = calls.fail_twice(number)?;
            Ok(done)
        }
        let (calls, (send, receive)) = (Calls::new(), mpsc::channel());
        (1..=3).for_each(|number| send.send(number).unwrap());
        assert_eq!(run(shape(&calls, receive)), Ok(3));
        calls.saw([1, 2, 3].map(Ok::<u32, ()>));
    }

    #[test]
    fn generic_argument_that_is_not_known_to_be_sync_in_a_body_that_may_be_left_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls, f: impl Fn() -> u32 + Send) -> Result<u32, Busy> {
            let number = f();
            yield_now().await;
            let done = calls.fail_twice(number)?;
            Ok(done)
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, || 1)), Ok(3));
        calls.each_saw(1);
    }

    #[test]
    fn owned_self_that_is_not_sync_in_a_body_that_may_be_left_async() {
        struct Client(Cell<u32>);
        impl Client {
            #[retryable(backoff = "none")]
            async fn shape(self, calls: &Calls) -> Result<u32, Busy> {
                self.0.set(self.0.get() + 1);
                yield_now().await;
                let done = calls.fail_twice(self.0.get())?;
                Ok(done)
            }
        }
        let calls = Calls::new();
        assert_eq!(run(Client(Cell::new(0)).shape(&calls)), Ok(3));
        calls.saw([1, 2, 3]);
    }

    #[test]
    fn mut_argument_that_is_not_sync_in_a_body_that_may_be_left_async() {
        #[retryable(backoff = "none")]
        async fn shape(calls: &Calls, mut cell: RefCell<u32>) -> Result<u32, Busy> {
            *cell.get_mut() += 1;
            yield_now().await;
            let done = calls.fail_twice(cell.get_mut())?;
            Ok(done)
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, RefCell::new(0))), Ok(3));
        calls.each_saw(1);
    }

    #[test]
    fn cloned_argument_that_is_not_sync_in_a_body_that_may_be_left_async() {
        #[retryable(backoff = "none", clone(cell))]
        async fn shape(calls: &Calls, cell: Cell<u32>) -> Result<u32, Busy> {
            yield_now().await;
            let done = calls.fail_twice(cell.into_inner())?;
            Ok(done)
        }
        let calls = Calls::new();
        assert_eq!(run(shape(&calls, Cell::new(1))), Ok(3));
        calls.each_saw(1);
    }
}

#[test]
fn kept_argument_that_is_not_sync_async() {
    #[retryable(backoff = "none", keep(cell))]
    async fn shape(calls: &Calls, mut cell: RefCell<u32>) -> Result<u32, Busy> {
        *cell.get_mut() += 1;
        yield_now().await;
        calls.fail_twice(*cell.get_mut())
    }
    let calls = Calls::new();
    assert_eq!(run(shape(&calls, RefCell::new(0))), Ok(3));
    calls.saw([1, 2, 3]);
}

// on one thread only

#[test]
fn rc_argument_not_send_async() {
    #[retryable(backoff = "none", clone(owned))]
    async fn shape(calls: &Calls, lent: &Rc<u32>, owned: Rc<u32>) -> Result<u32, Busy> {
        let moved = owned;
        yield_now().await;
        calls.fail_twice((lent, moved))
    }
    let calls = Calls::new();
    assert_eq!(run_here(shape(&calls, &Rc::new(1), Rc::new(2))), Ok(3));
    calls.each_saw((1, 2));
}

#[test]
fn on_a_local_set_not_send_async() {
    #[retryable(backoff = "none", on = "any")]
    async fn shape(calls: Rc<Calls>) -> Result<Rc<u32>, Rc<str>> {
        let local = Rc::new(1);
        yield_now().await;
        match calls.fail_twice(&local) {
            Ok(_) => Ok(local),
            Err(Busy) => Err(Rc::from("busy")),
        }
    }
    let calls = Rc::new(Calls::new());
    let set = LocalSet::new();
    let call = shape(Rc::clone(&calls));
    let done = run_here(set.run_until(async { tokio::task::spawn_local(call).await.unwrap() }));
    assert_eq!(done, Ok(Rc::new(1)));
    calls.each_saw(1);
}

#[test]
fn sync_function_on_another_thread_sync() {
    #[retryable(backoff = "none")]
    fn shape(calls: &Calls, cell: &Cell<u32>) -> Result<u32, Busy> {
        cell.set(cell.get() + 1);
        calls.fail_twice(cell.get())
    }
    let calls = Calls::new();
    let call = || shape(&calls, &Cell::new(0));
    let done = std::thread::scope(|scope| scope.spawn(call).join().unwrap());
    assert_eq!(done, Ok(3));
    calls.saw([1, 2, 3]);
}
