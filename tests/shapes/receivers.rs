//! `self` in all its forms.

use crate::support::{Busy, Calls, run, run_here};
use retry_runtime::retryable;
use std::{pin::Pin, rc::Rc, sync::Arc};

#[derive(Clone, Debug, Default, PartialEq)]
struct Job {
    name: String,
    runs: u32,
}

fn job() -> Job {
    Job {
        name: String::from("job"),
        runs: 0,
    }
}

/// Has no `Clone`.
struct Handle(String);

#[test]
fn shared_self_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn shared(&self, calls: &Calls) -> Result<usize, Busy> {
            calls.fail_twice(&self.name)?;
            Ok(self.name.len())
        }
    }
    let calls = Calls::new();
    assert_eq!(job().shared(&calls), Ok(3));
    calls.each_saw("job");
}

#[test]
fn shared_self_async() {
    impl Job {
        #[retryable(backoff = "none")]
        async fn shared_async(&self, calls: &Calls) -> Result<usize, Busy> {
            calls.fail_twice(&self.name)?;
            Ok(self.name.len())
        }
    }
    let calls = Calls::new();
    assert_eq!(run(job().shared_async(&calls)), Ok(3));
    calls.each_saw("job");
}

#[test]
fn mut_self_keeps_its_state_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn advance(&mut self, calls: &Calls) -> Result<u32, Busy> {
            self.runs += 1;
            calls.fail_twice(self.runs)
        }
    }
    let calls = Calls::new();
    let mut job = job();
    assert_eq!(job.advance(&calls), Ok(3));
    calls.saw([1, 2, 3]);
    assert_eq!(job.runs, 3);
}

#[test]
fn mut_self_keeps_its_state_async() {
    impl Job {
        #[retryable(backoff = "none")]
        async fn advance_async(&mut self, calls: &Calls) -> Result<u32, Busy> {
            self.runs += 1;
            calls.fail_twice(self.runs)
        }
    }
    let calls = Calls::new();
    let mut job = job();
    assert_eq!(run(job.advance_async(&calls)), Ok(3));
    calls.saw([1, 2, 3]);
    assert_eq!(job.runs, 3);
}

#[test]
fn mut_self_taken_apart_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn apart(&mut self, calls: &Calls) -> Result<u32, Busy> {
            let Self { name, runs } = self;
            name.push('!');
            *runs += 1;
            calls.fail_twice((name, runs))
        }
    }
    let calls = Calls::new();
    assert_eq!(job().apart(&calls), Ok(3));
    calls.saw([("job!", 1), ("job!!", 2), ("job!!!", 3)]);
}

#[test]
fn mut_self_taken_apart_async() {
    impl Job {
        #[retryable(backoff = "none")]
        async fn apart_async(&mut self, calls: &Calls) -> Result<u32, Busy> {
            let Self { name, runs } = self;
            name.push('!');
            *runs += 1;
            calls.fail_twice((name, runs))
        }
    }
    let calls = Calls::new();
    assert_eq!(run(job().apart_async(&calls)), Ok(3));
    calls.saw([("job!", 1), ("job!!", 2), ("job!!!", 3)]);
}

mod mut_self_moved {
    use super::*;

    #[test]
    fn mut_self_bound_to_another_name_sync() {
        impl Job {
            #[retryable(backoff = "none")]
            fn renamed(&mut self, calls: &Calls) -> Result<u32, Busy> {
                let this = self;
                this.runs += 1;
                calls.fail_twice(this.runs)
            }
        }
        let calls = Calls::new();
        assert_eq!(job().renamed(&calls), Ok(3));
        calls.saw([1, 2, 3]);
    }

    #[test]
    fn mut_self_bound_to_another_name_async() {
        impl Job {
            #[retryable(backoff = "none")]
            async fn renamed_async(&mut self, calls: &Calls) -> Result<u32, Busy> {
                let this = self;
                this.runs += 1;
                calls.fail_twice(this.runs)
            }
        }
        let calls = Calls::new();
        assert_eq!(run(job().renamed_async(&calls)), Ok(3));
        calls.saw([1, 2, 3]);
    }

    #[test]
    fn mut_self_given_to_a_generic_function_sync() {
        fn count(mut counter: impl std::ops::DerefMut<Target = Job>) -> u32 {
            counter.runs += 1;
            counter.runs
        }
        impl Job {
            #[retryable(backoff = "none")]
            fn given(&mut self, calls: &Calls) -> Result<u32, Busy> {
                calls.fail_twice(count(self))
            }
        }
        let calls = Calls::new();
        assert_eq!(job().given(&calls), Ok(3));
        calls.saw([1, 2, 3]);
    }
}

#[test]
fn owned_self_only_read_sync() {
    impl Handle {
        #[retryable(backoff = "none")]
        fn read(self, calls: &Calls) -> Result<usize, Busy> {
            calls.fail_twice(&self.0)?;
            Ok(self.0.len())
        }
    }
    let calls = Calls::new();
    assert_eq!(Handle(String::from("door")).read(&calls), Ok(4));
    calls.each_saw("door");
}

#[test]
fn owned_self_only_read_async() {
    impl Handle {
        #[retryable(backoff = "none")]
        async fn read_async(self, calls: &Calls) -> Result<usize, Busy> {
            calls.fail_twice(&self.0)?;
            Ok(self.0.len())
        }
    }
    let calls = Calls::new();
    assert_eq!(run(Handle(String::from("door")).read_async(&calls)), Ok(4));
    calls.each_saw("door");
}

#[test]
fn owned_self_consumed_with_clone_sync() {
    impl Job {
        #[retryable(backoff = "none", clone(self))]
        fn consumed(self, calls: &Calls) -> Result<String, Busy> {
            let name = self.name;
            calls.fail_twice(&name)?;
            Ok(name)
        }
    }
    let calls = Calls::new();
    assert_eq!(job().consumed(&calls).unwrap(), "job");
    calls.each_saw("job");
}

#[test]
fn owned_self_consumed_with_clone_async() {
    impl Job {
        #[retryable(backoff = "none", clone(self))]
        async fn consumed_async(self, calls: &Calls) -> Result<String, Busy> {
            let name = self.name;
            calls.fail_twice(&name)?;
            Ok(name)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(job().consumed_async(&calls)).unwrap(), "job");
    calls.each_saw("job");
}

#[test]
fn owned_self_taken_apart_with_clone_sync() {
    impl Job {
        #[retryable(backoff = "none", clone(self))]
        fn unpacked(self, calls: &Calls) -> Result<Self, Busy> {
            let Self { name, runs } = self;
            calls.fail_twice((&name, runs))?;
            Ok(Self { name, runs })
        }
    }
    let calls = Calls::new();
    assert_eq!(job().unpacked(&calls), Ok(job()));
    calls.each_saw(("job", 0));
}

#[test]
fn owned_self_as_the_rest_of_a_struct_with_clone_async() {
    impl Job {
        #[retryable(backoff = "none", clone(self))]
        async fn updated(self, calls: &Calls) -> Result<Self, Busy> {
            let next = Self { runs: 7, ..self };
            calls.fail_twice((&next.name, next.runs))?;
            Ok(next)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(job().updated(&calls)).unwrap().runs, 7);
    calls.each_saw(("job", 7));
}

#[test]
fn copied_self_consumed_sync() {
    #[derive(Clone, Copy, Debug)]
    struct Id(u32);
    impl Id {
        #[retryable(backoff = "none")]
        fn consumed(self, calls: &Calls) -> Result<Self, Busy> {
            let moved = self;
            calls.fail_twice(moved)?;
            Ok(self)
        }
    }
    let calls = Calls::new();
    assert_eq!(Id(4).consumed(&calls).unwrap().0, 4);
    calls.each_saw(Id(4));
}

#[test]
fn owned_mut_self_is_fresh_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn fresh(mut self, calls: &Calls) -> Result<Self, Busy> {
            self.runs += 1;
            calls.fail_twice(self.runs)?;
            Ok(self)
        }
    }
    let calls = Calls::new();
    assert_eq!(job().fresh(&calls).unwrap().runs, 1);
    calls.each_saw(1);
}

#[test]
fn owned_mut_self_is_fresh_async() {
    impl Job {
        #[retryable(backoff = "none")]
        async fn fresh_async(mut self, calls: &Calls) -> Result<Self, Busy> {
            self.runs += 1;
            calls.fail_twice(self.runs)?;
            Ok(self)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(job().fresh_async(&calls)).unwrap().runs, 1);
    calls.each_saw(1);
}

#[test]
fn owned_mut_self_kept_sync() {
    impl Handle {
        #[retryable(backoff = "none", keep(self))]
        fn kept(mut self, calls: &Calls) -> Result<u32, Busy> {
            self.0.push('!');
            calls.fail_twice(&self.0)
        }
    }
    let calls = Calls::new();
    assert_eq!(Handle(String::new()).kept(&calls), Ok(3));
    calls.saw(["!", "!!", "!!!"]);
}

#[test]
fn owned_mut_self_kept_async() {
    impl Handle {
        #[retryable(backoff = "none", keep(self))]
        async fn kept_async(mut self, calls: &Calls) -> Result<u32, Busy> {
            self.0.push('!');
            calls.fail_twice(&self.0)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(Handle(String::new()).kept_async(&calls)), Ok(3));
    calls.saw(["!", "!!", "!!!"]);
}

#[test]
fn arc_self_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn in_arc(self: Arc<Self>, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(&self.name)
        }
    }
    let calls = Calls::new();
    assert_eq!(Arc::new(job()).in_arc(&calls), Ok(3));
    calls.each_saw("job");
}

#[test]
fn arc_self_async() {
    impl Job {
        #[retryable(backoff = "none")]
        async fn in_arc_async(self: Arc<Self>, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(&self.name)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(Arc::new(job()).in_arc_async(&calls)), Ok(3));
    calls.each_saw("job");
}

#[test]
fn arc_self_consumed_with_clone_sync() {
    impl Handle {
        #[retryable(backoff = "none", clone(self))]
        fn shared_out(self: Arc<Self>, calls: &Calls) -> Result<Arc<Self>, Busy> {
            let shared = self;
            calls.fail_twice(&shared.0)?;
            Ok(shared)
        }
    }
    let calls = Calls::new();
    let handle = Arc::new(Handle(String::from("door")));
    assert!(Arc::ptr_eq(
        &Arc::clone(&handle).shared_out(&calls).ok().unwrap(),
        &handle
    ));
    calls.each_saw("door");
    assert_eq!(Arc::strong_count(&handle), 1);
}

#[test]
fn arc_self_moved_into_a_task_with_clone_async() {
    impl Handle {
        #[retryable(backoff = "none", clone(self))]
        async fn in_a_task(self: Arc<Self>, calls: Arc<Calls>) -> Result<u32, Busy> {
            let calls = Arc::clone(&calls);
            let task = tokio::spawn(async move { calls.fail_twice(&self.0) });
            task.await.unwrap()
        }
    }
    let calls = Arc::new(Calls::new());
    let handle = Arc::new(Handle(String::from("door")));
    assert_eq!(run(handle.in_a_task(Arc::clone(&calls))), Ok(3));
    calls.each_saw("door");
}

#[test]
fn borrowed_arc_self_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn by_arc(self: &Arc<Self>, calls: &Calls) -> Result<Arc<Self>, Busy> {
            calls.fail_twice(&self.name)?;
            Ok(Arc::clone(self))
        }
    }
    let calls = Calls::new();
    assert!(Arc::new(job()).by_arc(&calls).is_ok());
    calls.each_saw("job");
}

#[test]
fn rc_self_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn in_rc(self: Rc<Self>, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(&self.name)
        }
    }
    let calls = Calls::new();
    assert_eq!(Rc::new(job()).in_rc(&calls), Ok(3));
    calls.each_saw("job");
}

#[test]
fn rc_self_not_send_async() {
    impl Job {
        #[retryable(backoff = "none")]
        async fn in_rc_async(self: Rc<Self>, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(&self.name)
        }
    }
    let calls = Calls::new();
    assert_eq!(run_here(Rc::new(job()).in_rc_async(&calls)), Ok(3));
    calls.each_saw("job");
}

#[test]
fn box_self_only_read_sync() {
    impl Handle {
        #[retryable(backoff = "none")]
        fn in_box(self: Box<Self>, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(&self.0)
        }
    }
    let calls = Calls::new();
    assert_eq!(Box::new(Handle(String::from("door"))).in_box(&calls), Ok(3));
    calls.each_saw("door");
}

#[test]
fn box_self_consumed_with_clone_async() {
    impl Job {
        #[retryable(backoff = "none", clone(self))]
        async fn out_of_box(self: Box<Self>, calls: &Calls) -> Result<Self, Busy> {
            let unboxed = *self;
            calls.fail_twice(&unboxed.name)?;
            Ok(unboxed)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(Box::new(job()).out_of_box(&calls)), Ok(job()));
    calls.each_saw("job");
}

#[test]
fn mut_box_self_is_fresh_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn fresh_in_box(mut self: Box<Self>, calls: &Calls) -> Result<u32, Busy> {
            self.runs += 1;
            calls.fail_twice(self.runs)?;
            Ok(self.runs)
        }
    }
    let calls = Calls::new();
    assert_eq!(Box::new(job()).fresh_in_box(&calls), Ok(1));
    calls.each_saw(1);
}

#[test]
fn self_as_typed_reference_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn typed(self: &Self, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(&self.name)
        }
    }
    let calls = Calls::new();
    assert_eq!(job().typed(&calls), Ok(3));
    calls.each_saw("job");
}

#[test]
fn self_as_typed_mut_reference_async() {
    impl Job {
        #[retryable(backoff = "none")]
        async fn typed_mut(self: &mut Self, calls: &Calls) -> Result<u32, Busy> {
            self.runs += 1;
            calls.fail_twice(self.runs)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(job().typed_mut(&calls)), Ok(3));
    calls.saw([1, 2, 3]);
}

mod mut_self_reference {
    use super::*;

    #[test]
    fn mut_self_as_typed_mut_reference_sync() {
        impl Job {
            #[retryable(backoff = "none")]
            fn retargeted<'a>(
                mut self: &'a mut Self,
                other: &'a mut Self,
                calls: &Calls,
            ) -> Result<u32, Busy> {
                self.runs += 1;
                let seen = self.runs;
                self = other;
                self.runs += 10;
                calls.fail_twice((seen, self.runs))
            }
        }
        let calls = Calls::new();
        assert_eq!(job().retargeted(&mut job(), &calls), Ok(3));
        calls.saw([(1, 10), (2, 20), (3, 30)]);
    }
}

#[test]
fn pinned_mut_self_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn pinned(self: Pin<&mut Self>, calls: &Calls) -> Result<u32, Busy> {
            let job = self.get_mut();
            job.runs += 1;
            calls.fail_twice(job.runs)
        }
    }
    let calls = Calls::new();
    assert_eq!(Pin::new(&mut job()).pinned(&calls), Ok(3));
    calls.saw([1, 2, 3]);
}

#[test]
fn pinned_mut_self_async() {
    impl Job {
        #[retryable(backoff = "none")]
        async fn pinned_async(mut self: Pin<&mut Self>, calls: &Calls) -> Result<u32, Busy> {
            self.as_mut().runs += 1;
            self.runs += 1;
            calls.fail_twice(self.runs)
        }
    }
    let calls = Calls::new();
    assert_eq!(run(Pin::new(&mut job()).pinned_async(&calls)), Ok(3));
    calls.saw([2, 4, 6]);
}

#[test]
fn pinned_shared_self_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn pinned_shared(self: Pin<&Self>, calls: &Calls) -> Result<u32, Busy> {
            calls.fail_twice(&self.get_ref().name)
        }
    }
    let calls = Calls::new();
    assert_eq!(Pin::new(&job()).pinned_shared(&calls), Ok(3));
    calls.each_saw("job");
}

#[test]
fn self_of_a_named_lifetime_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn borrowed<'a>(&'a self, calls: &Calls) -> Result<&'a str, Busy> {
            calls.fail_twice(&self.name)?;
            Ok(&self.name)
        }
    }
    let calls = Calls::new();
    assert_eq!(job().borrowed(&calls), Ok("job"));
    calls.each_saw("job");
}

// where `self` is bound anew, the body has another name for it

#[test]
fn rebound_self_in_closures_macros_and_items_sync() {
    impl Job {
        #[retryable(backoff = "none")]
        fn busy(mut self, calls: &Calls) -> Result<u32, Busy> {
            struct Inner(u32);
            impl Inner {
                fn own(&self) -> u32 {
                    self.0
                }
            }
            trait Own {
                fn own(&self) -> u32;
            }
            impl Own for u32 {
                fn own(&self) -> u32 {
                    *self
                }
            }
            fn first(numbers: &[impl Own]) -> u32 {
                numbers.first().map_or(0, Own::own)
            }
            macro_rules! runs {
                () => {
                    self.runs
                };
            }
            let mut add = |by: u32| self.runs += by;
            add(1);
            assert!(matches!(self, Self { runs: 1, .. }));
            let as_pointer: fn(&Inner) -> u32 = Inner::own;
            let seen = (as_pointer(&Inner(5)), first(&[6]), runs!(), vec![self.runs]);
            calls.fail_twice(seen)
        }
    }
    let calls = Calls::new();
    assert_eq!(job().busy(&calls), Ok(3));
    calls.each_saw((5, 6, 1, [1]));
}

#[test]
fn rebound_self_in_an_async_block_async() {
    impl Job {
        #[retryable(backoff = "none")]
        async fn nested(mut self, calls: &Calls) -> Result<u32, Busy> {
            let later = async {
                self.runs += 1;
                self.runs
            };
            let seen = later.await;
            calls.fail_twice((seen, self.runs))
        }
    }
    let calls = Calls::new();
    assert_eq!(run(job().nested(&calls)), Ok(3));
    calls.each_saw((1, 1));
}

mod rebound_self_and_module_paths {
    use super::*;

    fn helper() -> u32 {
        1
    }

    #[test]
    fn rebound_self_beside_a_path_from_self_sync() {
        impl Job {
            #[retryable(backoff = "none")]
            fn by_path(mut self, calls: &Calls) -> Result<u32, Busy> {
                self.runs += self::helper();
                calls.fail_twice(self.runs)
            }
        }
        let calls = Calls::new();
        assert_eq!(job().by_path(&calls), Ok(3));
        calls.each_saw(1);
    }

    #[test]
    fn rebound_self_beside_imports_sync() {
        impl Job {
            #[retryable(backoff = "none")]
            fn by_import(mut self, calls: &Calls) -> Result<u32, Busy> {
                use self::helper as imported;
                use std::fmt::{self, Write as _};
                self.runs += imported();
                let written: fmt::Result = write!(self.name, "!");
                calls.fail_twice((written, &self.name, self.runs))
            }
        }
        let calls = Calls::new();
        assert_eq!(job().by_import(&calls), Ok(3));
        calls.each_saw((Ok::<(), ()>(()), "job!", 1));
    }
}
