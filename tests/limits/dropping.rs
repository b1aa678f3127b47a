//! An async call that is dropped, wherever it stands, leaves nothing behind. Promise 17.

use std::{
    cell::Cell,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Wake, Waker},
    time::Duration,
};

use retry_runtime::{BreakerState, CancelToken, CircuitBreaker, RetryBudget, retryable};
use tokio::{task::yield_now, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::support::{Failed, Log, ms, secs};

const PROBES: usize = 3;
const GRANTED: usize = 10;

/// All that a call can hold on to.
struct World {
    log: Log,
    token: CancelToken,
    child: CancellationToken,
    budget: RetryBudget,
    /// Takes three probes, and no other call
    breaker: CircuitBreaker,
    /// Failures that were judged
    failures: Cell<usize>,
}

thread_local! {
    /// Waits under way, where they are our own
    static PAUSES: Cell<usize> = const { Cell::new(0) };
}

/// For `sleep`.
async fn pause(wait: Duration) {
    struct Paused;
    impl Drop for Paused {
        fn drop(&mut self) {
            PAUSES.set(PAUSES.get() - 1);
        }
    }
    PAUSES.set(PAUSES.get() + 1);
    let _paused = Paused;
    sleep(wait).await;
}

impl World {
    async fn new() -> Self {
        let breaker = CircuitBreaker::new()
            .window(1)
            .min_calls(1)
            .failure_rate(1.0)
            .open_for(ms(1))
            .probes(PROBES.try_into().unwrap());
        breaker.try_acquire().unwrap().failure();
        sleep(ms(1)).await;
        Self {
            log: Log::start(),
            token: CancelToken::new(),
            child: CancellationToken::new().child_token(),
            budget: RetryBudget::new().ratio(0.0).min_per_second(1),
            breaker,
            failures: Cell::new(0),
        }
    }

    /// For `on`: everything is retried, and noted.
    fn judge(&self) -> bool {
        self.failures.set(self.failures.get() + 1);
        true
    }

    fn probes_to_take(&self) -> usize {
        let taken: Vec<_> = (0..=PROBES)
            .map_while(|_| self.breaker.try_acquire().ok())
            .collect();
        taken.len()
    }
}

/// Counts how often it was woken; whoever keeps its waker keeps it alive.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Polls a call so many times, each when it is woken; says whether it has ended.
async fn poll_times<F: Future>(mut call: Pin<&mut F>, times: usize, woken: &Arc<Woken>) -> bool {
    let waker = Waker::from(Arc::clone(woken));
    for _ in 0..times {
        let before = woken.0.load(Ordering::Relaxed);
        let poll = call.as_mut().poll(&mut Context::from_waker(&waker));
        if poll.is_ready() {
            return true;
        }
        while woken.0.load(Ordering::Relaxed) == before {
            sleep(ms(1)).await;
        }
    }
    false
}

/// What a call with some of the keys holds while it lasts.
#[derive(Clone, Copy, Default)]
struct Holds {
    permits: bool,
    retries: bool,
}

/// Drops a call after 0, 1, 2, ... polls until it has ended, and looks for what it left.
async fn leaves_nothing_behind<'w, F: Future>(
    worlds: &'w mut Vec<World>,
    holds: Holds,
    call: impl Fn(Arc<()>, &'w World) -> F,
) {
    // the calls borrow from them
    for _ in 0..MOST_POLLS {
        worlds.push(World::new().await);
    }
    for (polls, world) in worlds.iter().enumerate() {
        let (owned, woken) = (Arc::new(()), Arc::new(Woken::default()));
        let mut future = Box::pin(call(Arc::clone(&owned), world));
        let ended = poll_times(future.as_mut(), polls, &woken).await;
        let calls = world.log.calls();
        drop(future);

        let at = format!("after {polls} polls");
        assert_eq!(world.log.held(), 0, "an attempt is alive {at}");
        assert_eq!(PAUSES.get(), 0, "a wait is alive {at}");
        assert_eq!(world.token.listeners(), 0, "a listener {at}");
        assert_eq!(Arc::strong_count(&owned), 1, "an argument {at}");
        assert_eq!(Arc::strong_count(&woken), 1, "a timer or listener {at}");
        let failures = world.failures.get();
        let spent = if holds.retries { failures.min(2) } else { 0 };
        let left = usize::try_from(world.budget.available()).unwrap();
        assert_eq!(left, GRANTED - spent, "a retry {at}");
        if ended {
            assert_eq!((calls, failures), (3, 3));
            assert!(polls > 3, "nothing was waited for");
            return;
        }
        let used = if holds.permits { failures } else { 0 };
        assert_eq!(world.probes_to_take(), PROBES - used, "a probe {at}");
        if holds.permits && calls > 0 {
            assert_eq!(world.breaker.state(), BreakerState::HalfOpen);
        }

        let wakes = woken.0.load(Ordering::Relaxed);
        sleep(secs(3_600)).await;
        assert_eq!(woken.0.load(Ordering::Relaxed), wakes, "woken {at}");
        assert_eq!(world.log.calls(), calls, "called {at}");
    }
    panic!("more than {MOST_POLLS} polls");
}

const MOST_POLLS: usize = 100;

/// A test of a function with these keys, which use the names in bars. Its first attempt fails, the
/// second hangs where there is a limit to its time, and the third fails.
macro_rules! dropped {
    ($name:ident: $hangs:literal, $holds:expr, |$owned:ident, $world:ident| $($key:tt)*) => {
        #[tokio::test(start_paused = true)]
        async fn $name() {
            #[retryable(
                base_ms = 20, backoff = "fixed", jitter = "none", on = |_| $world.judge(),
                clone($owned), $($key)*
            )]
            async fn call($owned: Arc<()>, $world: &World) -> Result<u32, Failed> {
                let number = $world.log.attempt();
                let _held = $world.log.hold();
                let moved = $owned;
                yield_now().await;
                sleep(ms(5)).await;
                if $hangs && number == 2 {
                    std::future::pending::<()>().await;
                }
                inner($world).await;
                drop(moved);
                Err(Failed::Busy(number))
            }
            leaves_nothing_behind(&mut vec![], $holds, call).await;
        }
    };
}

async fn inner(world: &World) {
    let _held = world.log.hold();
    sleep(ms(3)).await;
}

const NOTHING: Holds = Holds {
    permits: false,
    retries: false,
};
const PERMITS: Holds = Holds {
    permits: true,
    retries: false,
};
const RETRIES: Holds = Holds {
    permits: false,
    retries: true,
};
const BOTH: Holds = Holds {
    permits: true,
    retries: true,
};

dropped!(without_limits: false, NOTHING, |owned, world| max = 3);
dropped!(with_a_deadline: false, NOTHING, |owned, world| deadline_ms = 5_000);
dropped!(with_a_timeout: true, NOTHING, |owned, world| timeout_ms = 50);
dropped!(with_a_token: false, NOTHING, |owned, world| cancel = world.token);
dropped!(with_a_token_of_tokio_util: false, NOTHING, |owned, world| cancel = world.child);
dropped!(with_a_budget: false, RETRIES, |owned, world| budget = world.budget);
dropped!(with_a_breaker: false, PERMITS, |owned, world| breaker = world.breaker);
dropped!(with_its_own_wait: false, NOTHING, |owned, world| sleep = pause);
dropped!(
    with_its_own_wait_and_a_token: false, NOTHING,
    |owned, world| sleep = pause, cancel = world.token
);
dropped!(
    with_recovery: false, NOTHING,
    |owned, world| recover = |failure| { drop(owned); world.log.end(failure) }
);
dropped!(
    with_all: true, BOTH,
    |owned, world|
    deadline_ms = 5_000, timeout_ms = 50, cancel = world.token, budget = world.budget,
    breaker = world.breaker, recover_all = |failure| { drop(owned); world.log.end(failure) }
);
dropped!(
    with_all_and_a_token_of_tokio_util: true, BOTH,
    |owned, world|
    deadline_ms = 5_000, timeout_ms = 50, cancel = world.child, budget = world.budget,
    breaker = world.breaker, recover = |failure| world.log.end(failure)
);

/// C050
#[tokio::test(start_paused = true)]
async fn a_task_that_is_aborted_makes_no_further_call() {
    #[retryable(max = "unlimited", base_ms = 100, jitter = "none", cancel = token, breaker = breaker)]
    async fn call(
        token: CancelToken,
        breaker: Arc<CircuitBreaker>,
        log: Arc<Log>,
    ) -> Result<u32, Failed> {
        let _held = log.hold();
        sleep(ms(10)).await;
        log.fail()
    }
    for abort_after in [ms(5), ms(50), ms(111), ms(200)] {
        let (token, breaker, log) = (CancelToken::new(), Arc::default(), Arc::new(Log::start()));
        let task = tokio::spawn(call(token.clone(), Arc::clone(&breaker), Arc::clone(&log)));
        sleep(abort_after).await;
        let calls = log.calls();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!((token.listeners(), log.held()), (0, 0));
        assert_eq!(Arc::strong_count(&breaker), 1);
        sleep(secs(3_600)).await;
        assert_eq!((log.calls(), Arc::strong_count(&log)), (calls, 1));
    }
}
