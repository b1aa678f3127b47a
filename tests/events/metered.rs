//! Feature `metrics`.

use std::{
    collections::HashMap, future::Future as _, panic, pin::pin, task::Context, time::Duration,
};

use metrics::with_local_recorder;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use retry_runtime::{
    BreakerState, CircuitBreaker, CircuitOpen, Decision, RetryBudget, retryable, testing,
};

/// What was published: each metric with its labels.
#[derive(Debug)]
pub struct Counts(Vec<(String, HashMap<String, String>, DebugValue)>);

impl Counts {
    fn of(snapshotter: &Snapshotter) -> Self {
        let metrics = snapshotter.snapshot().into_vec().into_iter();
        let metrics = metrics.map(|(key, _, _, value)| {
            let (name, labels) = key.key().clone().into_parts();
            let labels = labels.into_iter().map(|label| {
                let (key, value) = label.into_parts();
                (key.into_owned(), value.into_owned())
            });
            (name.as_str().to_string(), labels.collect(), value)
        });
        Self(metrics.collect())
    }

    fn with<'a>(
        &'a self,
        name: &'a str,
        labels: &'a [(&'a str, &'a str)],
    ) -> impl Iterator<Item = &'a DebugValue> {
        let metrics = self.0.iter().filter(move |(other, has, _)| {
            let with = |(key, value): &(&str, &str)| has.get(*key).is_some_and(|has| has == value);
            other == name && labels.iter().all(with)
        });
        metrics.map(|(_, _, value)| value)
    }

    /// Of the counters of this name that have these labels.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        let values = self.with(name, labels).map(|value| match value {
            DebugValue::Counter(count) => *count,
            other => panic!("{name}: {other:?}"),
        });
        values.sum()
    }

    fn gauge(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let values: Vec<_> = self.with(name, labels).collect();
        match values.as_slice() {
            [DebugValue::Gauge(value)] => value.0,
            other => panic!("{name}: {other:?}"),
        }
    }

    fn values(&self, name: &str) -> Vec<f64> {
        let values = self.with(name, &[]).flat_map(|value| match value {
            DebugValue::Histogram(values) => values.iter().map(|value| value.0),
            other => panic!("{name}: {other:?}"),
        });
        values.collect()
    }
}

/// What is published on this thread while `run` runs.
pub fn counted(run: impl FnOnce()) -> Counts {
    let recorder = DebuggingRecorder::new();
    with_local_recorder(&recorder, run);
    Counts::of(&recorder.snapshotter())
}

#[retryable(max = 3, base_ms = 100, jitter = "none", on = |error| *error, name = "call")]
fn call(outcomes: &mut Vec<Result<(), Decision>>) -> Result<(), Decision> {
    outcomes.remove(0)
}

/// C122, resilience4j/resilience4j#1600: there was no count of all calls.
#[test]
fn calls_are_counted_by_outcome_and_by_whether_they_retried() {
    let busy = Err(Decision::Retry);
    let _time = testing::virtual_time();
    let counts = counted(|| {
        call(&mut vec![Ok(())]).unwrap();
        call(&mut vec![busy, busy, Ok(())]).unwrap();
        assert_eq!(call(&mut vec![Err(Decision::Stop)]), Err(Decision::Stop));
    });
    let calls = |labels: &[_]| counts.sum("retry_calls_total", labels);
    assert_eq!(calls(&[("name", "call")]), 3);
    assert_eq!(counts.sum("retry_retries_total", &[("name", "call")]), 2);
    assert_eq!(calls(&[("kind", "successful_with_retry")]), 1);
    assert_eq!(
        calls(&[("kind", "successful_without_retry"), ("reason", "success")]),
        1
    );
    assert_eq!(
        calls(&[
            ("kind", "failed_without_retry"),
            ("reason", "not_retryable")
        ]),
        1
    );
    assert_eq!(calls(&[("kind", "failed_with_retry")]), 0);
    assert_eq!(counts.values("retry_wait_seconds"), [0.1, 0.2]);
    let mut attempts = counts.values("retry_attempts");
    attempts.sort_by(f64::total_cmp);
    assert_eq!(attempts, [1.0, 1.0, 3.0]);
}

#[test]
fn retries_are_counted_by_reason() {
    #[retryable(max = 2, backoff = "none", until(Some(_)))]
    fn poll(values: &mut Vec<Option<()>>) -> Option<()> {
        values.remove(0)
    }
    let _time = testing::virtual_time();
    let counts = counted(|| {
        let hint = Decision::RetryAfter(Duration::from_secs(1));
        call(&mut vec![Err(Decision::RetryNow), Err(hint), Ok(())]).unwrap();
        call(&mut vec![Err(Decision::Retry), Ok(())]).unwrap();
        poll(&mut vec![None, Some(())]).unwrap();
    });
    for reason in ["error", "hint", "now", "value"] {
        let counted = counts.sum("retry_retries_total", &[("reason", reason)]);
        assert_eq!(counted, 1, "{reason}");
    }
}

/// C121, envoyproxy/envoy#10211: the gauge of pending retries went up twice.
#[test]
fn nobody_waits_after_an_end_a_drop_or_a_panic() {
    #[retryable(base_ms = 1_000, on = "any", name = "task")]
    async fn task() -> Result<(), &'static str> {
        Err("down")
    }
    #[retryable(base_ms = 0, on = "any", name = "task")]
    fn panics(calls: &mut u32) -> Result<(), &'static str> {
        *calls += 1;
        assert!(*calls < 2, "a panic that belongs to this test");
        Err("down")
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    // a snapshot shows what has changed since the last one
    let mut total = 0.0;
    let mut waiting = || {
        total += Counts::of(&snapshotter).gauge("retry_waiting", &[("name", "task")]);
        total
    };
    with_local_recorder(&recorder, || {
        runtime.block_on(async {
            task().await.unwrap_err();
            assert_eq!(waiting(), 0.0);
            let mut call = Box::pin(task());
            let mut context = Context::from_waker(std::task::Waker::noop());
            assert!(pin!(&mut call).poll(&mut context).is_pending());
            assert_eq!(waiting(), 1.0);
            drop(call);
            assert_eq!(waiting(), 0.0);
        });
        panic::catch_unwind(|| panics(&mut 0)).unwrap_err();
        assert_eq!(waiting(), 0.0);
    });
}

#[derive(Debug)]
struct Refused;

impl From<CircuitOpen> for Refused {
    fn from(_: CircuitOpen) -> Self {
        Self
    }
}

#[test]
fn breakers_and_budgets_are_published_by_their_names() {
    static BREAKER: CircuitBreaker = CircuitBreaker::new().named("shop").min_calls(2).window(2);
    static BUDGET: RetryBudget = RetryBudget::new()
        .named("shop")
        .ratio(0.0)
        .min_per_second(1);
    static NAMELESS: RetryBudget = RetryBudget::new();

    #[retryable(max = 2, backoff = "none", on = "any", breaker = BREAKER, budget = BUDGET)]
    fn order() -> Result<(), Refused> {
        Err(Refused)
    }
    #[retryable(max = 2, backoff = "none", on = "any", budget = NAMELESS)]
    fn other() -> Result<(), Refused> {
        Err(Refused)
    }
    let _time = testing::virtual_time();
    let of = &[("breaker", "shop")];
    let counts = counted(|| {
        // ten retries are there at first
        order().unwrap_err();
        assert_eq!(BREAKER.state(), BreakerState::Open);
        order().unwrap_err();
        other().unwrap_err();
        BREAKER.force_open(); // is open already
    });
    assert_eq!(counts.gauge("retry_breaker_state", of), 2.0);
    assert_eq!(counts.sum("retry_breaker_opened_total", of), 1);
    assert_eq!(counts.sum("retry_breaker_refused_total", of), 1);
    let of = &[("budget", "shop")];
    assert_eq!(counts.gauge("retry_budget_available", of), 9.0);
    assert_eq!(counts.sum("retry_budget_withdrawn_total", of), 1);
    assert_eq!(counts.sum("retry_budget_refused_total", of), 0);
    assert_eq!(counts.with("retry_budget_available", &[]).count(), 1);
}
