//! Calls under a policy, made in the way a row of a table asks for.

use std::{
    cell::{Cell, RefCell},
    iter, mem,
    time::Duration,
};

use retry_runtime::{AttemptTimeout, Backoff, Policy, retryable};
use tokio::runtime;

/// What a call was asked for: how often, which failures are retried, and what the attempts do.
pub struct Trial {
    /// Attempts in total, as the user wrote it; `None` for no limit
    pub max: Option<i64>,
    /// Classes of errors that are retried; any, if there are none
    pub on: Vec<String>,
    /// Classes of errors that are not retried
    pub except: Vec<String>,
    /// What the attempts do; the last one repeats
    pub outcomes: Vec<Result<(), Thrown>>,
    /// How long each of them takes
    pub work: Duration,
    /// The first wait in milliseconds, and its growth
    pub base_ms: u64,
    pub factor: f64,
    pub way: Way,
}

/// What the attribute is put on, and what else it is given.
pub enum Way {
    /// A function, and a closure as well
    Plain,
    /// The same, async
    Async,
    /// A function whose value says whether it has failed
    Poll,
    /// A function that calls another one with the attribute, and has this maximum itself
    Nested(i64),
    /// A block with this maximum, on a method that has its own or not
    Block(i64, Option<i64>),
    /// A function with another value for the call that failed for good, or not for this error
    Recover(bool),
    /// An async function with a limit on each attempt, in milliseconds
    Timeout(u64),
    /// An async function with a limit on the whole call, in milliseconds
    Deadline(u64),
}

/// An error as other systems have it, with a class and a cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Thrown {
    pub class: String,
    cause: Option<Box<Thrown>>,
}

impl Thrown {
    /// `Class`, `Class (anything)` or `Class(cause Class)`
    pub fn new(text: &str) -> Self {
        let (class, cause) = match text.split_once("(cause ") {
            Some((class, cause)) => (class, Some(cause.trim_end_matches(')'))),
            None => (text, None),
        };
        Self {
            class: class.split(" (").next().unwrap_or_default().into(),
            cause: cause.map(|cause| Box::new(Self::new(cause))),
        }
    }

    /// Whether it is of this class, `Class`, or has it among its causes, `Class (as cause)`.
    fn is(&self, wanted: &str) -> bool {
        // subclass, superclass
        const PARENTS: &[(&str, &str)] = &[("RetryChildException", "RetryParentException")];
        let parent = |class: &&str| {
            let found = PARENTS.iter().find(|(subclass, _)| subclass == class);
            found.map(|(_, superclass)| *superclass)
        };
        if iter::successors(Some(self.class.as_str()), parent).any(|class| class == wanted) {
            return true;
        }
        match (wanted.strip_suffix(" (as cause)"), &self.cause) {
            (Some(class), Some(cause)) => cause.is(class) || cause.is(wanted),
            _ => false,
        }
    }
}

impl From<AttemptTimeout> for Thrown {
    fn from(_: AttemptTimeout) -> Self {
        Self::new("TimeoutException")
    }
}

impl Trial {
    /// With the maximum that we have where none is given.
    pub fn new(outcomes: Vec<Result<(), Thrown>>) -> Self {
        Self {
            max: Policy::new().max_calls().map(i64::from),
            on: Vec::new(),
            except: Vec::new(),
            outcomes,
            work: Duration::ZERO,
            base_ms: 1,
            factor: 1.0,
            way: Way::Plain,
        }
    }

    fn retries(&self, thrown: &Thrown) -> bool {
        let is_one_of = |classes: &[String]| classes.iter().any(|class| thrown.is(class));
        (self.on.is_empty() || is_one_of(&self.on)) && !is_one_of(&self.except)
    }

    /// The outcome of an attempt, and that it was made.
    fn attempt(&self, calls: &Cell<u32>) -> Result<(), Thrown> {
        let nth = usize::try_from(calls.get()).unwrap();
        calls.set(calls.get() + 1);
        let outcome = self.outcomes.get(nth).or(self.outcomes.last());
        outcome.unwrap().clone()
    }

    async fn timed_attempt(&self, calls: &Cell<u32>) -> Result<(), Thrown> {
        let outcome = self.attempt(calls);
        tokio::time::sleep(self.work).await;
        outcome
    }

    /// The maximum, where there is no way to write that there is none.
    fn most(&self) -> i64 {
        self.max.unwrap_or(u32::MAX.into())
    }
}

/// For a closure, without waits.
fn policy(max: Option<i64>) -> Policy {
    let policy = Policy::new().backoff(Backoff::None);
    match max {
        // the type of the method leaves out what is below 0
        Some(max) => policy.max(max.max(0).try_into().unwrap()),
        None => policy.unlimited(),
    }
}

thread_local! {
    static WAITS: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
}

fn record(wait: Duration) {
    WAITS.with_borrow_mut(|waits| waits.push(wait));
}

async fn record_of_a_task(wait: Duration) {
    record(wait);
}

#[retryable(
    max = trial.most(), base_ms = trial.base_ms, factor = trial.factor, jitter = "none",
    on = |thrown: &Thrown| trial.retries(thrown), sleep = "record"
)]
fn limited(trial: &Trial, calls: &Cell<u32>) -> Result<(), Thrown> {
    trial.attempt(calls)
}

#[retryable(
    max = "unlimited", base_ms = trial.base_ms, factor = trial.factor, jitter = "none",
    on = |thrown: &Thrown| trial.retries(thrown), sleep = "record"
)]
fn unlimited(trial: &Trial, calls: &Cell<u32>) -> Result<(), Thrown> {
    trial.attempt(calls)
}

#[retryable(
    max = trial.most(), base_ms = trial.base_ms, factor = trial.factor, jitter = "none",
    on = |thrown: &Thrown| trial.retries(thrown), sleep = "record_of_a_task"
)]
async fn asynchronous(trial: &Trial, calls: &Cell<u32>) -> Result<(), Thrown> {
    trial.attempt(calls)
}

#[retryable(max = trial.most(), backoff = "none", until(true))]
fn polled(trial: &Trial, calls: &Cell<u32>) -> bool {
    trial.attempt(calls).is_ok()
}

#[retryable(max = max, backoff = "none", on = "any")]
fn outer(max: i64, inner: &Trial, attempts: &Cell<u32>, calls: &Cell<u32>) -> Result<(), Thrown> {
    attempts.set(attempts.get() + 1);
    limited(inner, calls)
}

struct Block<'a> {
    trial: &'a Trial,
    max: i64,
    own: i64,
}

#[retryable(max = self.max, backoff = "none", on = "any")]
impl Block<'_> {
    fn method(&self, calls: &Cell<u32>) -> Result<(), Thrown> {
        self.trial.attempt(calls)
    }

    #[retryable(max = self.own)]
    fn method_with_its_own(&self, calls: &Cell<u32>) -> Result<(), Thrown> {
        self.trial.attempt(calls)
    }
}

#[retryable(
    max = trial.most(), backoff = "none", on = |thrown: &Thrown| trial.retries(thrown),
    recover = |failure| if has_value { Ok(()) } else { Err(failure.error) }
)]
fn recovered(trial: &Trial, has_value: bool, calls: &Cell<u32>) -> Result<(), Thrown> {
    trial.attempt(calls)
}

#[retryable(
    max = trial.most(), backoff = "none", on = |thrown: &Thrown| trial.retries(thrown),
    timeout_ms = limit
)]
async fn with_timeout(trial: &Trial, limit: u64, calls: &Cell<u32>) -> Result<(), Thrown> {
    trial.timed_attempt(calls).await
}

#[retryable(
    max = trial.most(), base_ms = trial.base_ms, factor = trial.factor, jitter = "none",
    cap_ms = u64::MAX, on = |thrown: &Thrown| trial.retries(thrown), deadline_ms = limit
)]
async fn with_deadline(trial: &Trial, limit: u64, calls: &Cell<u32>) -> Result<(), Thrown> {
    trial.timed_attempt(calls).await
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ending {
    Value,
    Error,
    /// The value of an attempt that was not final
    LastValue,
}

impl From<Result<(), Thrown>> for Ending {
    fn from(outcome: Result<(), Thrown>) -> Self {
        outcome.map_or(Self::Error, |()| Self::Value)
    }
}

/// What came of a trial.
#[derive(Debug, PartialEq)]
pub struct Ran {
    /// Attempts that were made
    pub calls: u32,
    pub ending: Ending,
    pub waits: Vec<Duration>,
    /// By tokio's clock, where the call was async
    pub elapsed: Duration,
    /// Attempts of the outer function
    pub outer: u32,
}

/// What `call` does: counts in the cell, and says how it ended.
fn count(call: impl FnOnce(&Cell<u32>) -> Ending) -> Ran {
    let calls = Cell::new(0);
    let ending = call(&calls);
    Ran {
        calls: calls.get(),
        ending,
        waits: WAITS.with_borrow_mut(mem::take),
        elapsed: Duration::ZERO,
        outer: 1,
    }
}

/// The same for an async call, by a clock that jumps over the waits.
fn count_async(call: impl AsyncFnOnce(&Cell<u32>) -> Result<(), Thrown>) -> Ran {
    let mut runtime = runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let mut elapsed = Duration::ZERO;
    let ran = count(|calls| {
        runtime.block_on(async {
            let start = tokio::time::Instant::now();
            let outcome = call(calls).await;
            elapsed = start.elapsed();
            outcome.into()
        })
    });
    Ran { elapsed, ..ran }
}

/// The first of both, which must have come to the same.
fn agreed(by_attribute: Ran, by_closure: &Ran) -> Ran {
    let came_to = |ran: &Ran| (ran.calls, ran.ending, ran.outer);
    assert_eq!(came_to(&by_attribute), came_to(by_closure));
    by_attribute
}

pub fn run(trial: &Trial) -> Ran {
    let retrier = policy(trial.max).on(|thrown: &Thrown| trial.retries(thrown));
    match trial.way {
        Way::Plain => agreed(
            count(|calls| match trial.max {
                Some(_) => limited(trial, calls).into(),
                None => unlimited(trial, calls).into(),
            }),
            &count(|calls| retrier.retry(|| trial.attempt(calls)).into()),
        ),
        Way::Async => agreed(
            count_async(async |calls| asynchronous(trial, calls).await),
            &count_async(async |calls| retrier.retry_async(async || trial.attempt(calls)).await),
        ),
        Way::Poll => count(|calls| match polled(trial, calls) {
            true => Ending::Value,
            false => Ending::LastValue,
        }),
        Way::Nested(max) => {
            let (first, second) = (Cell::new(0), Cell::new(0));
            let by_attribute = count(|calls| outer(max, trial, &first, calls).into());
            let by_closure = count(|calls| {
                let outer = policy(Some(max)).on(|_: &Thrown| true);
                let outcome = outer.retry(|| {
                    second.set(second.get() + 1);
                    retrier.retry(|| trial.attempt(calls))
                });
                outcome.into()
            });
            let with = |ran, outer: Cell<u32>| Ran {
                outer: outer.get(),
                ..ran
            };
            agreed(with(by_attribute, first), &with(by_closure, second))
        }
        Way::Block(max, own) => {
            let block = Block {
                trial,
                max,
                own: own.unwrap_or_default(),
            };
            count(|calls| match own {
                Some(_) => block.method_with_its_own(calls).into(),
                None => block.method(calls).into(),
            })
        }
        Way::Recover(has_value) => count(|calls| recovered(trial, has_value, calls).into()),
        Way::Timeout(limit) => count_async(async |calls| with_timeout(trial, limit, calls).await),
        Way::Deadline(limit) => count_async(async |calls| with_deadline(trial, limit, calls).await),
    }
}
