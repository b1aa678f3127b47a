//! The table of metrics, `retry-runtime/src/metrics.md`, against what is published.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic,
    pin::pin,
    task::{Context, Waker},
    time::Duration,
};

use metrics::with_local_recorder;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use retry_runtime::{
    CancelToken, CircuitBreaker, CircuitOpen, Decision, RetryBudget, describe_metrics, retryable,
    testing,
};

/// Labels with their values; any at all for a name that the program gives.
type Labels = BTreeMap<String, BTreeSet<String>>;

#[derive(Debug, Default, PartialEq)]
struct Metric {
    kind: String,
    labels: Labels,
    unit: String,
    meaning: String,
}

const GIVEN: [&str; 3] = ["name", "breaker", "budget"];

/// The rows of the table, by name.
fn documented() -> BTreeMap<String, Metric> {
    let table = include_str!("../../retry-runtime/src/metrics.md");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let rows = rows.map(|row| {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, kind, labels, unit, meaning] = cells.as_slice() else {
            panic!("{row}")
        };
        let words = |text: &str| -> Vec<String> {
            let words = text.split(", ").map(|word| word.trim_matches('`').into());
            words.collect()
        };
        let labels = labels.split("; ").map(|label| {
            let (name, values) = label.split_once(": ").unwrap_or((label, ""));
            let values = if values.is_empty() {
                vec![]
            } else {
                words(values)
            };
            (name.trim_matches('`').into(), values.into_iter().collect())
        });
        let metric = Metric {
            kind: (*kind).into(),
            labels: labels.collect(),
            unit: (*unit).into(),
            meaning: (*meaning).into(),
        };
        (name.trim_matches('`').to_string(), metric)
    });
    rows.collect()
}

/// What `run` publishes and describes, by name.
fn published(run: impl FnOnce()) -> BTreeMap<String, Metric> {
    let recorder = DebuggingRecorder::new();
    with_local_recorder(&recorder, run);
    let mut metrics = BTreeMap::<_, Metric>::new();
    for (key, unit, meaning, value) in recorder.snapshotter().snapshot().into_vec() {
        let (name, labels) = key.key().clone().into_parts();
        let metric = metrics.entry(name.as_str().to_string()).or_default();
        let kind = match value {
            DebugValue::Counter(_) => "counter",
            DebugValue::Gauge(_) => "gauge",
            DebugValue::Histogram(_) => "histogram",
        };
        metric.kind = kind.into();
        metric.unit = unit.map_or("", |unit| unit.as_str()).into();
        metric.meaning = meaning.unwrap_or_default().into_owned();
        for label in labels {
            let values = metric.labels.entry(label.key().into()).or_default();
            if !GIVEN.contains(&label.key()) {
                values.insert(label.value().into());
            }
        }
    }
    metrics
}

#[derive(Debug)]
struct Failed(Decision);

impl From<CircuitOpen> for Failed {
    fn from(_: CircuitOpen) -> Self {
        Self(Decision::Stop)
    }
}

/// Calls that end for every reason, retried for every reason.
fn all_kinds_of_calls() {
    #[retryable(
        max = 3, base_ms = 10, jitter = "none", hint_cap_ms = 1_000, deadline_ms = deadline,
        cancel = token, on = |error| error.0,
    )]
    fn call(
        outcomes: &mut Vec<Result<(), Failed>>,
        deadline: u64,
        token: &CancelToken,
    ) -> Result<(), Failed> {
        outcomes.remove(0)
    }
    #[retryable(max = 2, backoff = "none", until(Some(_)))]
    fn poll(values: &mut Vec<Option<()>>) -> Option<()> {
        values.remove(0)
    }
    #[retryable(on = "any", budget = budget, breaker = breaker)]
    fn limited(budget: &RetryBudget, breaker: &CircuitBreaker) -> Result<(), Failed> {
        Err(Failed(Decision::Retry))
    }
    #[retryable(on = "any")]
    async fn task() -> Result<(), Failed> {
        Err(Failed(Decision::Retry))
    }
    #[retryable]
    fn panics() -> std::io::Result<()> {
        panic!("a panic that belongs to this test")
    }

    let _time = testing::virtual_time();
    let open = CancelToken::new();
    let failing = |decision| vec![Err(Failed(decision)), Err(Failed(decision)), Ok(())];
    let hint = |seconds| Decision::RetryAfter(Duration::from_secs(seconds));

    call(&mut vec![Ok(())], 9_000, &open).unwrap(); // success
    for decision in [Decision::Retry, Decision::RetryNow, hint(1)] {
        call(&mut failing(decision), 9_000, &open).unwrap();
    }
    poll(&mut vec![None, Some(())]).unwrap();
    call(&mut failing(Decision::Stop), 9_000, &open).unwrap_err(); // not retryable
    assert_eq!(poll(&mut vec![None, None]), None); // attempts used up
    call(&mut failing(Decision::Retry), 15, &open).unwrap_err(); // deadline
    call(&mut failing(hint(2)), 9_000, &open).unwrap_err(); // hint too long
    let cancelled = CancelToken::new();
    cancelled.cancel();
    call(&mut failing(Decision::Retry), 9_000, &cancelled).unwrap_err();
    let budget = RetryBudget::new().named("b").ratio(0.0).min_per_second(1);
    let breaker = CircuitBreaker::new().named("b").window(4).min_calls(4);
    while budget.withdraw() {}
    for _ in 0..4 {
        limited(&budget, &breaker).unwrap_err(); // budget
    }
    limited(&budget, &breaker).unwrap_err(); // breaker
    panic::catch_unwind(panics).unwrap_err();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let _entered = runtime.enter();
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(task()).poll(&mut context).is_pending()); // dropped
}

#[test]
fn the_table_of_metrics_lists_what_is_published_and_nothing_else() {
    let published = published(|| {
        describe_metrics();
        all_kinds_of_calls();
    });
    assert_eq!(published, documented());
}

#[test]
fn metrics_are_published_without_being_described() {
    let published = published(all_kinds_of_calls);
    let names: Vec<_> = published.keys().collect();
    assert_eq!(names, documented().keys().collect::<Vec<_>>());
    assert!(published.values().all(|metric| metric.meaning.is_empty()));
}
