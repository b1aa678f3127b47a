//! How often a function is called, against the figures of other systems.

use std::{
    cell::{Cell, RefCell},
    iter, mem,
    time::Duration,
};

use retry_runtime::{Backoff, Policy, retryable};
use serde_json::{Map, Value};

#[path = "figures/account.rs"]
mod account;

use account::{Different, Row, one_line, same, settle, table};

const DEADLINE: &str = "needs a limit on the whole call, another feature";
const TIMEOUT: &str = "needs a limit on each call, another feature";
const RECOVER: &str = "needs a value for the call that failed for good, another feature";
const IMPL: &str = "needs the attribute on an `impl` block, another feature";
const SWITCH: &str = "needs a switch for tests, another feature";
const CONFIG: &str = "needs configuration that overrides the code from outside";
const FUTURE: &str = "needs a judgement of a future that a function returns without being async";
const RESETS_NOT: &str = "the inner calls are counted on over the outer ones; ours start anew";

/// What is not ours, and why.
const DIFFERENT: &Different = &[
    (
        DEADLINE,
        &[
            "failsafe maxDuration_ms=100 maxRetries=-1: each attempt sleeps 120ms then fails",
            "microprofile-ft delay_ms=0 jitter_ms=0 maxDuration_ms=1000 maxRetries=90: each attempt works 100ms then fails",
            "microprofile-ft delay_ms=400 jitter_ms=400 maxDuration_ms=3200 maxRetries=-1: always fail",
            "microprofile-ft delay_ms=0 jitter_ms=400 maxDuration_ms=1000 maxRetries=100: always fail",
        ],
    ),
    (
        TIMEOUT,
        &[
            "microprofile-ft maxRetries=1 timeout_ms=500: attempt sleeps 1000ms",
            "microprofile-ft maxRetries=1 timeout_ms=500: attempt sleeps 10ms then throws",
            "microprofile-ft maxRetries=1 retryOn=BulkheadException timeout_ms=500: attempt sleeps 1000ms (TimeoutException)",
            "microprofile-ft abortOn=TimeoutException maxRetries=1 timeout_ms=500: attempt sleeps 1000ms",
        ],
    ),
    (
        RECOVER,
        &[
            "spring-retry maxAttempts_total=3 recover=true: always fail",
            "spring-retry maxAttempts_total=3 notRecoverable=matches thrown recover=true: always fail (retryable)",
            "spring-retry notRecoverable=matches thrown recover=true: non-retryable",
        ],
    ),
    (
        IMPL,
        &[
            "spring7 maxRetries_class=3 maxRetries_method=1: always fail",
            "microprofile-ft maxRetries_class=2: always fail",
        ],
    ),
    (SWITCH, &["stamina set_testing_attempts=3: always fail"]),
    (
        CONFIG,
        &[
            "microprofile-ft annotation_maxRetries=5 config_maxRetries=10: always fail",
            r#"microprofile-ft config_retryOn=["A","B"] maxRetries=1: throws other"#,
            r#"microprofile-ft config_retryOn=["A","B"] maxRetries=1: throws A"#,
            r#"microprofile-ft config_retryOn=["A","B"] maxRetries=1: throws B2 (subclass of B)"#,
            r#"microprofile-ft config_retryOn=["A","B"] maxRetries=1: throws B1 (subclass of B)"#,
            r#"microprofile-ft config_abortOn=["Test","A","B"] maxRetries=1: throws Test"#,
            r#"microprofile-ft config_abortOn=["Test","A","B"] maxRetries=1: throws A"#,
            r#"microprofile-ft config_abortOn=["Test","A","B"] maxRetries=1: throws B2/B1"#,
        ],
    ),
    (
        FUTURE,
        &[
            "microprofile-ft asynchronous=false maxRetries=2 returns=CompletionStage: completes exceptionally",
        ],
    ),
    (
        RESETS_NOT,
        &["failsafe inner_maxRetries=1 outer_maxRetries=10: 5 fails then ok"],
    ),
    (
        "measures time, not calls",
        &["microprofile-ft delay_ms=0 jitter_ms=0 maxRetries=3: always fail"],
    ),
];

/// The same, where other systems ran.
const DIFFERENT_EXECUTED: &Different = &[
    (
        RESETS_NOT,
        &[
            "failsafe.nested calls outer_retries=1;inner_retries=1;always_fail",
            "failsafe.nested calls outer_retries=1;inner_retries=2;always_fail",
            "failsafe.nested calls outer_retries=1;inner_retries=3;always_fail",
            "failsafe.nested calls outer_retries=2;inner_retries=1;always_fail",
            "failsafe.nested calls outer_retries=2;inner_retries=2;always_fail",
            "failsafe.nested calls outer_retries=2;inner_retries=3;always_fail",
            "failsafe.nested calls outer_retries=3;inner_retries=1;always_fail",
            "failsafe.nested calls outer_retries=3;inner_retries=2;always_fail",
            "failsafe.nested calls outer_retries=3;inner_retries=3;always_fail",
        ],
    ),
    (
        "makes no call at all; ours makes one, whatever the policy",
        &[
            "spring-retry.RetryTemplate calls max_total=0;always_fail",
            "spring-retry.RetryTemplate calls max_total=-5;always_fail",
        ],
    ),
    (
        "turns the last value into an error; ours returns it",
        &[
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=1;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=2;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=3;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=4;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=5;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=2;fail_first=2;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=2;fail_first=3;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=2;fail_first=4;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=2;fail_first=5;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=3;fail_first=3;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=3;fail_first=4;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=3;fail_first=5;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=5;fail_first=5;by=result;failAfterMaxAttempts=true",
        ],
    ),
    (
        DEADLINE,
        &[
            "tenacity.stop_after_delay calls;virtual_elapsed deadline=1s;waits=0.5*2^n;work=0",
            "tenacity.stop_after_delay calls;virtual_elapsed deadline=2s;waits=0.5*2^n;work=0",
            "tenacity.stop_after_delay calls;virtual_elapsed deadline=3.5s;waits=0.5*2^n;work=0",
            "tenacity.stop_before_delay calls;virtual_elapsed deadline=1s;waits=0.5*2^n;work=0",
            "tenacity.stop_before_delay calls;virtual_elapsed deadline=2s;waits=0.5*2^n;work=0",
            "tenacity.stop_before_delay calls;virtual_elapsed deadline=3.5s;waits=0.5*2^n;work=0",
            "stamina.timeout calls;virtual_elapsed timeout=1.0s;waits=0.5*2^n;work=0",
            "stamina.timeout calls;virtual_elapsed timeout=2.0s;waits=0.5*2^n;work=0",
            "stamina.timeout calls;virtual_elapsed timeout=45.0s;waits=0.5*2^n;work=0",
        ],
    ),
    (
        SWITCH,
        &[
            "stamina.set_testing calls set_testing(True);default attempts=10",
            "stamina.set_testing calls set_testing(True,attempts=4);default attempts=10",
            "stamina.set_testing calls set_testing(True,attempts=4,cap=True);attempts=2",
            "stamina.set_testing calls set_testing(True,attempts=4,cap=False);attempts=2",
            "stamina.set_active calls set_active(False);attempts=2",
        ],
    ),
];

/// What a call was asked for: how often, which failures are retried, and what the calls do.
struct Trial {
    /// Calls in total, as the user wrote it; `None` for no limit
    max: Option<i64>,
    /// Classes of errors that are retried; any, if there are none
    on: Vec<String>,
    /// Classes of errors that are not retried
    except: Vec<String>,
    /// What the calls do; the last one repeats
    outcomes: Vec<Result<(), Thrown>>,
    /// The first wait in milliseconds, and its growth
    base_ms: u64,
    factor: f64,
}

/// An error as other systems have it, with a class and a cause.
#[derive(Clone, Debug, PartialEq)]
struct Thrown {
    class: String,
    cause: Option<Box<Thrown>>,
}

impl Thrown {
    /// `Class`, `Class (anything)` or `Class(cause Class)`
    fn new(text: &str) -> Self {
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
            (Some(wanted), Some(cause)) => {
                cause.is(wanted) || cause.is(&format!("{wanted} (as cause)"))
            }
            _ => false,
        }
    }
}

impl Trial {
    fn new(outcomes: Vec<Result<(), Thrown>>) -> Self {
        Self {
            max: Policy::new().max_calls().map(i64::from),
            on: Vec::new(),
            except: Vec::new(),
            outcomes,
            base_ms: 1,
            factor: 1.0,
        }
    }

    fn retries(&self, thrown: &Thrown) -> bool {
        let is_one_of = |classes: &[String]| classes.iter().any(|class| thrown.is(class));
        (self.on.is_empty() || is_one_of(&self.on)) && !is_one_of(&self.except)
    }

    /// The outcome of a call, and that it was made.
    fn call(&self, calls: &Cell<u32>) -> Result<(), Thrown> {
        let nth = usize::try_from(calls.get()).unwrap();
        calls.set(calls.get() + 1);
        self.outcomes
            .get(nth)
            .or(self.outcomes.last())
            .unwrap()
            .clone()
    }

    /// The same without waits, for a closure.
    fn policy(&self) -> Policy {
        policy(self.max)
    }
}

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
    max = trial.max.unwrap(), base_ms = trial.base_ms, factor = trial.factor, jitter = "none",
    on = |thrown: &Thrown| trial.retries(thrown), sleep = "record"
)]
fn limited(trial: &Trial, calls: &Cell<u32>) -> Result<(), Thrown> {
    trial.call(calls)
}

#[retryable(
    max = "unlimited", base_ms = trial.base_ms, factor = trial.factor, jitter = "none",
    on = |thrown: &Thrown| trial.retries(thrown), sleep = "record"
)]
fn unlimited(trial: &Trial, calls: &Cell<u32>) -> Result<(), Thrown> {
    trial.call(calls)
}

#[retryable(
    max = trial.max.unwrap(), base_ms = trial.base_ms, factor = trial.factor, jitter = "none",
    on = |thrown: &Thrown| trial.retries(thrown), sleep = "record_of_a_task"
)]
async fn asynchronous(trial: &Trial, calls: &Cell<u32>) -> Result<(), Thrown> {
    trial.call(calls)
}

/// Fails by its value.
#[retryable(max = trial.max.unwrap(), backoff = "none", until(true))]
fn polled(trial: &Trial, calls: &Cell<u32>) -> bool {
    trial.call(calls).is_ok()
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    Value,
    Error,
    /// The value of a call that was not the final one
    LastValue,
}

impl From<Result<(), Thrown>> for Ending {
    fn from(outcome: Result<(), Thrown>) -> Self {
        outcome.map_or(Self::Error, |()| Self::Value)
    }
}

/// What came of a trial.
#[derive(Debug, PartialEq)]
struct Ran {
    calls: u32,
    ending: Ending,
    waits: Vec<Duration>,
}

/// Runs a trial through `run`, once.
fn count(run: impl FnOnce(&Cell<u32>) -> Ending) -> Ran {
    let calls = Cell::new(0);
    let ending = run(&calls);
    Ran {
        calls: calls.get(),
        ending,
        waits: WAITS.with_borrow_mut(mem::take),
    }
}

/// Runs a trial as a function with the attribute and as a closure, which must agree.
fn run(trial: &Trial) -> Ran {
    let by_attribute = count(|calls| match trial.max {
        Some(_) => limited(trial, calls).into(),
        None => unlimited(trial, calls).into(),
    });
    let by_closure = count(|calls| {
        let retrier = trial.policy().on(|thrown: &Thrown| trial.retries(thrown));
        retrier.retry(|| trial.call(calls)).into()
    });
    assert_eq!(by_attribute.calls, by_closure.calls);
    assert_eq!(by_attribute.ending, by_closure.ending);
    by_attribute
}

/// The same, async.
fn run_async(trial: &Trial) -> Ran {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let by_attribute = count(|calls| runtime.block_on(asynchronous(trial, calls)).into());
    let by_closure = count(|calls| {
        let retrier = trial.policy().on(|thrown: &Thrown| trial.retries(thrown));
        runtime
            .block_on(retrier.retry_async(async || trial.call(calls)))
            .into()
    });
    assert_eq!(by_attribute.calls, by_closure.calls);
    assert_eq!(by_attribute.ending, by_closure.ending);
    by_attribute
}

fn run_poll(trial: &Trial) -> Ran {
    count(|calls| match polled(trial, calls) {
        true => Ending::Value,
        false => Ending::LastValue,
    })
}

#[retryable(max = max, backoff = "none", on = "any")]
fn outer(max: i64, inner: &Trial, attempts: &Cell<u32>, calls: &Cell<u32>) -> Result<(), Thrown> {
    attempts.set(attempts.get() + 1);
    limited(inner, calls)
}

/// Runs a trial inside of a function that is retried too: what came of it, and how often the
/// function was called.
fn run_nested(max: i64, trial: &Trial) -> (Ran, u32) {
    let by_attribute = (Cell::new(0), Cell::new(0));
    let ran = count(|calls| outer(max, trial, &by_attribute.0, calls).into());
    let attempts = Cell::new(0);
    let by_closure = count(|calls| {
        let outer = policy(Some(max)).on(|_: &Thrown| true);
        let inner = trial.policy().on(|thrown: &Thrown| trial.retries(thrown));
        let outcome = outer.retry(|| {
            attempts.set(attempts.get() + 1);
            inner.retry(|| trial.call(calls))
        });
        outcome.into()
    });
    assert_eq!(
        (ran.calls, by_attribute.0.get()),
        (by_closure.calls, attempts.get())
    );
    (ran, attempts.get())
}

fn fail_first(failures: u64) -> Vec<Result<(), Thrown>> {
    let failed = Err(Thrown::new("failure"));
    let mut outcomes = vec![failed; usize::try_from(failures).unwrap()];
    outcomes.push(Ok(()));
    outcomes
}

fn always(thrown: &str) -> Vec<Result<(), Thrown>> {
    vec![Err(Thrown::new(thrown))]
}

/// The outcomes of a row, which has them in words.
fn outcomes(words: &str) -> Vec<Result<(), Thrown>> {
    if let Some(failures) = words.strip_suffix(" fails then ok") {
        return fail_first(failures.parse().unwrap());
    }
    let one = |word: &str| match word {
        "ok" => Ok(()),
        thrown => Err(Thrown::new(thrown)),
    };
    words
        .trim_start_matches("messages ")
        .split(',')
        .map(one)
        .collect()
}

/// A feature of the row that we do not have, or not yet.
fn needs(config: &Map<String, Value>) -> Option<&'static str> {
    let needs = |key: &str, value: &Value| match key {
        "maxDuration_ms" | "deadline" | "timeout" => Some(DEADLINE),
        "timeout_ms" => Some(TIMEOUT),
        "recover" => Some(RECOVER),
        "maxRetries_class" => Some(IMPL),
        "asynchronous" if value == false => Some(FUTURE),
        _ if key.starts_with("config_") => Some(CONFIG),
        _ if key.starts_with("set_") => Some(SWITCH),
        _ => None,
    };
    config.iter().find_map(|(key, value)| needs(key, value))
}

/// The rows of the test suites: their id, and the row.
fn rows() -> impl Iterator<Item = (String, Map<String, Value>)> {
    let rows: Vec<Map<String, Value>> =
        serde_json::from_str(include_str!("data/attempts.json")).unwrap();
    rows.into_iter().map(|row| {
        let (system, outcomes) = (
            row["system"].as_str().unwrap(),
            row["outcomes"].as_str().unwrap(),
        );
        let config = one_line(row["config"].as_object().unwrap());
        (format!("{system} {config}: {outcomes}"), row)
    })
}

/// One class, or a list of them.
fn classes(value: &Value) -> Vec<String> {
    match value {
        Value::String(class) => vec![class.clone()],
        classes => serde_json::from_value(classes.clone()).unwrap(),
    }
}

fn trial(config: &Map<String, Value>, outcomes: Vec<Result<(), Thrown>>) -> Trial {
    let mut trial = Trial::new(outcomes);
    for (key, value) in config {
        match key.as_str() {
            "maxAttempts_total" | "maxAttempts_total_by_expression" | "max_attempts_total" => {
                trial.max = value.as_i64();
            }
            "maxRetries" | "WithMaxRetries" | "inner_maxRetries" => {
                trial.max = value.as_i64().map(|retries| retries + 1);
            }
            "retryOn" | "includes" => trial.on = classes(value),
            "abortOn" | "noRetryFor" | "excludes" => trial.except = classes(value),
            "delay_ms" => trial.base_ms = value.as_u64().unwrap(),
            "predicate" => {
                let not = value
                    .as_str()
                    .unwrap()
                    .strip_prefix("retry unless message==");
                trial.except = vec![not.unwrap().trim_matches('\'').into()];
            }
            "exceptionExpression" if value.as_str().unwrap().starts_with("false") => {
                trial.on = vec!["nothing".into()];
            }
            "exceptionExpression"
            | "jitter_ms"
            | "defaults"
            | "interceptor"
            | "outer_maxRetries"
            | "asynchronous"
            | "returns" => {}
            _ => panic!("what is {key}?"),
        }
    }
    trial
}

fn compare(row: &Map<String, Value>) -> Result<(), String> {
    let config = row["config"].as_object().unwrap();
    if let Some(feature) = needs(config) {
        return Err(feature.into());
    }
    // for every number of retries
    if config
        .get("WithMaxRetries")
        .is_some_and(|retries| retries == "n")
    {
        assert_eq!(row["expected_calls"], "n+1");
        for retries in 17..30 {
            let mut row = row.clone();
            row["config"]["WithMaxRetries"] = retries.into();
            row["expected_calls"] = (retries + 1).into();
            compare(&row)?;
        }
        return Ok(());
    }
    let mut trial = trial(config, outcomes(row["outcomes"].as_str().unwrap()));
    let waits = row.get("delays_ms").map(|waits| waits.as_array().unwrap());
    if let Some(waits) = waits {
        (trial.base_ms, trial.factor) = (waits[0].as_u64().unwrap(), 2.0);
    }
    let (ran, attempts) = match config.get("outer_maxRetries") {
        Some(retries) => run_nested(retries.as_i64().unwrap() + 1, &trial),
        None if config.contains_key("asynchronous") => (run_async(&trial), 1),
        None => (run(&trial), 1),
    };
    let theirs = row["expected_calls"]
        .as_u64()
        .ok_or("words, not a number")?;
    same(u64::from(ran.calls), theirs)?;
    if let Some(retries) = row.get("retry_count") {
        same(Some(u64::from(ran.calls) - 1), retries.as_u64())?;
    }
    if let Some(waits) = waits {
        let waits: Vec<Duration> = waits
            .iter()
            .map(|ms| Duration::from_millis(ms.as_u64().unwrap()))
            .collect();
        same(ran.waits, waits)?;
    }
    if let Some(failed) = row.get("outer_failed_attempts") {
        same(Some(u64::from(attempts) - 1), failed.as_u64())?;
    }
    Ok(())
}

#[test]
fn calls_are_those_of_other_systems() {
    let rows = rows().map(|(id, row)| {
        let compared = compare(&row);
        (id, compared)
    });
    assert_eq!(settle(rows, DIFFERENT), (28, 25));
}

/// The trial of an executed row, and whether it fails by its value.
fn executed_trial(row: &Row) -> (Trial, bool) {
    let (mut trial, mut by_value) = (Trial::new(always("failure")), false);
    for (key, value) in &row.input {
        match key.as_str() {
            "max_total" | "stop_after_attempt" | "maxAttempts_total" | "inner_total" => {
                trial.max = value.as_i64();
            }
            // how Failsafe says that there is no limit
            "max_retries" if value == -1 && row.system == "failsafe.RetryPolicy" => {
                trial.max = None;
            }
            // cockatiel counts the first call out
            "max_retries" | "retries" | "maxAttempts" | "inner_retries" => {
                trial.max = value.as_i64().map(|retries| retries + 1);
            }
            "max 5" => trial.max = Some(5),
            "fail_first" => trial.outcomes = fail_first(value.as_u64().unwrap()),
            "by" => by_value = value == "result",
            "always_fail" | "failAfterMaxAttempts" | "outer_total" | "outer_retries" => {}
            _ => {
                // what the calls throw; a number of failures comes before it
                let words = key.trim_start_matches("throws ");
                let (failures, thrown) = match words.split_once(" retryable then ") {
                    Some((failures, thrown)) => (failures.parse().unwrap(), thrown),
                    None => (0, words.trim_end_matches(" at once")),
                };
                assert!(matches!(
                    thrown,
                    "ignored exception" | "AbortError" | "TypeError (not network)"
                ));
                let thrown = Thrown::new(thrown);
                trial.except = vec![thrown.class.clone()];
                trial.outcomes = fail_first(failures);
                *trial.outcomes.last_mut().unwrap() = Err(thrown);
            }
        }
    }
    if row.system.starts_with("tenacity") {
        trial.base_ms = 250;
    }
    (trial, by_value)
}

fn compare_executed(row: &Row) -> Result<(), String> {
    assert!(row.case.starts_with("calls"));
    if let Some(feature) = needs(&row.input) {
        return Err(feature.into());
    }
    let (trial, by_value) = executed_trial(row);
    let outer = |name: &str| row.input.get(name).and_then(Value::as_i64);
    let ran = match (outer("outer_total"), outer("outer_retries")) {
        (Some(max), _) => run_nested(max, &trial).0,
        (_, Some(retries)) => run_nested(retries + 1, &trial).0,
        _ if by_value => run_poll(&trial),
        _ => run(&trial),
    };
    let expected = match &row.expected {
        Value::String(text) => text.replacen(':', ";", 1),
        other => other.to_string(),
    };
    for (nth, part) in expected.split(';').enumerate() {
        let (name, figure) = part.split_once('=').unwrap_or(("", part));
        let number = figure.parse().ok();
        let retries = ran.calls.checked_sub(1);
        match (name, figure) {
            ("calls", _) => same(Some(ran.calls), number)?,
            ("", _) if nth == 0 => same(Some(ran.calls), number)?,
            ("", "ok") | ("value", "1") => same(ran.ending, Ending::Value)?,
            ("value", "-1") => same(ran.ending, Ending::LastValue)?,
            ("", _) => same(ran.ending, Ending::Error)?,
            ("last_attempt", _) => same(Some(ran.calls), number)?,
            ("retryCount" | "suppressed", _) => same(retries, number)?,
            ("sleeps", _) => same(u32::try_from(ran.waits.len()).ok(), number)?,
            ("idle_for", _) => {
                let waited: Duration = ran.waits.iter().sum();
                same(waited.as_secs_f64(), figure.parse().unwrap())?;
            }
            // for the tests of events
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn calls_are_those_counted_where_other_systems_ran() {
    let rows = table(include_str!("data/executed_calls.tsv"));
    let rows = rows.into_iter().map(|row| {
        let compared = compare_executed(&row);
        (row.id, compared)
    });
    assert_eq!(settle(rows, DIFFERENT_EXECUTED), (298, 38));
}

/// The exceptions of the table: `E1` extends `E0`, `E2` extends `E1`, each `E0S` its `E0`, and all
/// of these `Exception`, as `RuntimeException` does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Throwable {
    Exception,
    RuntimeException,
    E0,
    E0S,
    E1,
    E1S,
    E2,
    E2S,
    Error,
}

use Throwable::{E0, E0S, E1, E1S, E2, E2S, RuntimeException};

const THROWABLES: [Throwable; 9] = [
    Throwable::Exception,
    RuntimeException,
    E0,
    E0S,
    E1,
    E1S,
    E2,
    E2S,
    Throwable::Error,
];

// Patterns: a class and its subclasses, which are alternatives of it.
macro_rules! exception {
    () => {
        Throwable::Exception | RuntimeException | e0!()
    };
}
macro_rules! e0 {
    () => {
        E0 | E0S | e1!()
    };
}
macro_rules! e1 {
    () => {
        E1 | E1S | e2!()
    };
}
macro_rules! e2 {
    () => {
        E2 | E2S
    };
}

/// A class by its name, and by its pattern.
struct Class {
    name: &'static str,
    has: fn(Throwable) -> bool,
}

const CLASSES: [Class; 4] = [
    Class {
        name: "Exception",
        has: |thrown| matches!(thrown, exception!()),
    },
    Class {
        name: "E0",
        has: |thrown| matches!(thrown, e0!()),
    },
    Class {
        name: "E1",
        has: |thrown| matches!(thrown, e1!()),
    },
    Class {
        name: "E2",
        has: |thrown| matches!(thrown, e2!()),
    },
];

#[expect(
    unreachable_patterns,
    reason = "the table has `E2` beside `E0`, of which it is one"
)]
#[retryable(max = 2, on(e0!() | e2!()), except(e1!()), backoff = "none")]
fn a(thrown: Throwable, calls: &Cell<u32>) -> Result<(), Throwable> {
    calls.set(calls.get() + 1);
    Err(thrown)
}

#[expect(unreachable_patterns, reason = "the table has `E1` beside `Exception`")]
#[retryable(max = 2, on(exception!() | e1!()), except(e0!() | e2!()), backoff = "none")]
fn b(thrown: Throwable, calls: &Cell<u32>) -> Result<(), Throwable> {
    calls.set(calls.get() + 1);
    Err(thrown)
}

#[expect(unreachable_patterns, reason = "the table has `E2` beside `E1`")]
#[retryable(max = 2, on(e1!() | e2!()), except(e0!()), backoff = "none")]
fn c(thrown: Throwable, calls: &Cell<u32>) -> Result<(), Throwable> {
    calls.set(calls.get() + 1);
    Err(thrown)
}

/// A function of the table, and the classes its patterns are written with.
struct Service {
    id: &'static str,
    run: fn(Throwable, &Cell<u32>) -> Result<(), Throwable>,
    on: &'static [&'static str],
    except: &'static [&'static str],
}

const SERVICES: [Service; 3] = [
    Service {
        id: "A",
        run: a,
        on: &["E0", "E2"],
        except: &["E1"],
    },
    Service {
        id: "B",
        run: b,
        on: &["Exception", "E1"],
        except: &["E0", "E2"],
    },
    Service {
        id: "C",
        run: c,
        on: &["E1", "E2"],
        except: &["E0"],
    },
];

fn hierarchy() -> Map<String, Value> {
    serde_json::from_str(include_str!("data/exceptions.json")).unwrap()
}

#[test]
fn a_pattern_takes_the_subclasses_of_its_class() {
    let hierarchy = hierarchy();
    let parent = |class: &str| match class {
        "RuntimeException" => Some("Exception"),
        class => hierarchy["hierarchy"].get(class).and_then(Value::as_str),
    };
    for thrown in THROWABLES {
        let name = format!("{thrown:?}");
        let lineage: Vec<&str> =
            iter::successors(Some(name.as_str()), |class| parent(class)).collect();
        for Class { name, has } in CLASSES {
            assert_eq!(has(thrown), lineage.contains(&name), "{thrown:?} of {name}");
        }
    }
}

#[test]
fn except_wins_over_on_in_every_cell_of_the_hierarchy_table() {
    let hierarchy = hierarchy();
    let services = hierarchy["services"].as_array().unwrap();
    assert_eq!(services.len(), SERVICES.len());
    let mut cells = 0;
    for (theirs, ours) in services.iter().zip(SERVICES) {
        assert_eq!(theirs["id"], ours.id);
        assert_eq!(theirs["retryOn"], Value::from(ours.on));
        assert_eq!(theirs["abortOn"], Value::from(ours.except));
        for thrown in THROWABLES {
            let calls = Cell::new(0);
            assert_eq!((ours.run)(thrown, &calls), Err(thrown));
            let retried = if calls.get() == 2 { "R" } else { "F" };
            let cell = &theirs["expected"][format!("{thrown:?}")];
            assert_eq!(cell, retried, "{thrown:?} in {}", ours.id);
            cells += 1;
        }
    }
    assert_eq!(cells, 27);
}
