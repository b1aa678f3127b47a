//! How often a function is called, against the figures of other systems.

use std::{cell::Cell, iter, time::Duration};

use retry_runtime::retryable;
use serde_json::{Map, Value};

#[path = "figures/account.rs"]
mod account;
#[path = "figures/trials.rs"]
mod trials;

use account::{Different, Row, one_line, same, settle, table};
use trials::{Ending, Ran, Thrown, Trial, Way, run};

const SWITCH: &str = "needs a switch for tests, another feature";
const CONFIG: &str = "needs configuration that overrides the code from outside";
const COUNTS_ON: &str = "the inner calls are counted on over the outer ones; ours start anew";

/// What is not ours, and why.
const DIFFERENT: &Different = &[
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
        "a future that is returned is judged by its output, also where the function is not async",
        &[
            "microprofile-ft asynchronous=false maxRetries=2 returns=CompletionStage: completes exceptionally",
        ],
    ),
    (
        COUNTS_ON,
        &["failsafe inner_maxRetries=1 outer_maxRetries=10: 5 fails then ok"],
    ),
    (
        "measures time, not calls",
        &["microprofile-ft delay_ms=0 jitter_ms=0 maxRetries=3: always fail"],
    ),
    (
        "its jitter also lengthens the wait, so that the number of calls is by chance",
        &[
            "microprofile-ft delay_ms=400 jitter_ms=400 maxDuration_ms=3200 maxRetries=-1: always fail",
            "microprofile-ft delay_ms=0 jitter_ms=400 maxDuration_ms=1000 maxRetries=100: always fail",
        ],
    ),
];

/// The same, where other systems ran.
const DIFFERENT_EXECUTED: &Different = &[
    (
        COUNTS_ON,
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
        "waits beyond its limit and calls once more; ours looks ahead",
        &[
            "tenacity.stop_after_delay calls;virtual_elapsed deadline=1s;waits=0.5*2^n;work=0",
            "tenacity.stop_after_delay calls;virtual_elapsed deadline=2s;waits=0.5*2^n;work=0",
            "tenacity.stop_after_delay calls;virtual_elapsed deadline=3.5s;waits=0.5*2^n;work=0",
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
    let words = words.trim_start_matches("messages ");
    words.split(',').map(one).collect()
}

/// How long each attempt of a row takes: the words have it as `120ms`.
fn work(words: &str) -> Duration {
    let ms = words
        .split(' ')
        .find_map(|word| word.strip_suffix("ms")?.parse().ok());
    Duration::from_millis(ms.unwrap_or(0))
}

/// What of the row no trial says.
fn needs(config: &Map<String, Value>) -> Option<&'static str> {
    config.iter().find_map(|(key, value)| match key.as_str() {
        key if key.starts_with("config_") => Some(CONFIG),
        key if key.starts_with("set_") => Some(SWITCH),
        "jitter_ms" if value != 0 => Some("jitter that lengthens the wait"),
        _ => None,
    })
}

/// The rows of the test suites: their id, and the row.
fn rows() -> impl Iterator<Item = (String, Map<String, Value>)> {
    let rows: Vec<Map<String, Value>> =
        serde_json::from_str(include_str!("data/attempts.json")).unwrap();
    rows.into_iter().map(|row| {
        let text = |name: &str| row[name].as_str().unwrap();
        let config = one_line(row["config"].as_object().unwrap());
        (
            format!("{} {config}: {}", text("system"), text("outcomes")),
            row,
        )
    })
}

/// One class, or a list of them.
fn classes(value: &Value) -> Vec<String> {
    match value {
        Value::String(class) => vec![class.clone()],
        classes => serde_json::from_value(classes.clone()).unwrap(),
    }
}

/// The trial of a row. Fails on a parameter that it does not know.
fn trial(config: &Map<String, Value>, words: &str) -> Trial {
    let mut trial = Trial::new(outcomes(words));
    trial.work = work(words);
    let retries = |value: &Value| value.as_i64().map(|retries| retries + 1);
    for (key, value) in config {
        match key.as_str() {
            "maxAttempts_total" | "maxAttempts_total_by_expression" | "max_attempts_total" => {
                trial.max = value.as_i64();
            }
            // how Failsafe and MicroProfile say that there is no limit
            "maxRetries" if value == -1 => trial.max = None,
            "maxRetries" | "WithMaxRetries" | "inner_maxRetries" => trial.max = retries(value),
            "outer_maxRetries" => trial.way = Way::Nested(retries(value).unwrap()),
            "maxRetries_class" => {
                let own = config.get("maxRetries_method").and_then(retries);
                trial.way = Way::Block(retries(value).unwrap(), own);
            }
            "retryOn" | "includes" => trial.on = classes(value),
            "abortOn" | "noRetryFor" | "excludes" => trial.except = classes(value),
            "predicate" => {
                let but = value
                    .as_str()
                    .unwrap()
                    .strip_prefix("retry unless message==");
                trial.except = vec![but.unwrap().trim_matches('\'').into()];
            }
            "exceptionExpression" if value.as_str().unwrap().starts_with("false") => {
                trial.on = vec!["nothing".into()];
            }
            "recover" => {
                trial.way = Way::Recover(!config.contains_key("notRecoverable"));
                trial.except = vec!["non-retryable".into()];
            }
            "delay_ms" => trial.base_ms = value.as_u64().unwrap(),
            "timeout_ms" => trial.way = Way::Timeout(value.as_u64().unwrap()),
            "maxDuration_ms" => trial.way = Way::Deadline(value.as_u64().unwrap()),
            "asynchronous" => trial.way = Way::Async,
            "exceptionExpression"
            | "maxRetries_method"
            | "notRecoverable"
            | "jitter_ms"
            | "defaults"
            | "interceptor"
            | "returns" => {}
            _ => panic!("what is {key}?"),
        }
    }
    trial
}

fn compare(row: &Map<String, Value>) -> Result<(), String> {
    let config = row["config"].as_object().unwrap();
    if let Some(need) = needs(config) {
        return Err(need.into());
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
    let mut trial = trial(config, row["outcomes"].as_str().unwrap());
    let waits = row.get("delays_ms").map(|waits| waits.as_array().unwrap());
    if let Some(waits) = waits {
        (trial.base_ms, trial.factor) = (waits[0].as_u64().unwrap(), 2.0);
    }
    let ran = run(&trial);
    same_calls(&ran, &row["expected_calls"])?;
    if let Some(retries) = row.get("retry_count") {
        same(Some(u64::from(ran.calls) - 1), retries.as_u64())?;
    }
    if let Some(waits) = waits {
        let waits = waits
            .iter()
            .map(|ms| Duration::from_millis(ms.as_u64().unwrap()));
        same(ran.waits, waits.collect())?;
    }
    if let Some(failed) = row.get("outer_failed_attempts") {
        same(Some(u64::from(ran.outer) - 1), failed.as_u64())?;
    }
    match row.get("result").map(|result| result.as_str().unwrap()) {
        None => Ok(()),
        Some("recovery value returned") => same(ran.ending, Ending::Value),
        Some(thrown) => {
            assert!(thrown.starts_with("original exception thrown"));
            same(ran.ending, Ending::Error)
        }
    }
}

/// A number of calls, or bounds of it: `>3 and <11`.
fn same_calls(ran: &Ran, theirs: &Value) -> Result<(), String> {
    let Value::String(bounds) = theirs else {
        return same(Some(u64::from(ran.calls)), theirs.as_u64());
    };
    for bound in bounds.split(" and ") {
        let number = bound.get(1..).and_then(|number| number.parse().ok());
        let number: u32 = number.ok_or("words, not a number")?;
        let holds = match &bound[..1] {
            "<" => ran.calls < number,
            ">" => ran.calls > number,
            other => panic!("what is {other}?"),
        };
        if !holds {
            return Err(format!("ours {}, theirs {bound}", ran.calls));
        }
    }
    Ok(())
}

#[test]
fn calls_are_those_of_other_systems() {
    let rows = rows().map(|(id, row)| {
        let compared = compare(&row);
        (id, compared)
    });
    assert_eq!(settle(rows, DIFFERENT), (39, 14));
}

/// The trial of an executed row.
fn executed_trial(row: &Row) -> Trial {
    let mut trial = Trial::new(always("failure"));
    let retries = |value: &Value| value.as_i64().map(|retries| retries + 1);
    for (key, value) in &row.input {
        match key.as_str() {
            "max_total" | "stop_after_attempt" | "maxAttempts_total" | "inner_total" => {
                trial.max = value.as_i64();
            }
            // how Failsafe says that there is no limit
            "max_retries" if value == -1 && row.system == "failsafe.RetryPolicy" => {
                trial.max = None;
            }
            // cockatiel does not count the first call
            "max_retries" | "retries" | "maxAttempts" | "inner_retries" => {
                trial.max = retries(value);
            }
            "outer_total" => trial.way = Way::Nested(value.as_i64().unwrap()),
            "outer_retries" => trial.way = Way::Nested(retries(value).unwrap()),
            "max 5" => trial.max = Some(5),
            "fail_first" => trial.outcomes = fail_first(value.as_u64().unwrap()),
            "by" if value == "result" => trial.way = Way::Poll,
            "deadline" | "timeout" => {
                let seconds: f64 = value
                    .as_str()
                    .unwrap()
                    .trim_end_matches('s')
                    .parse()
                    .unwrap();
                trial.way = Way::Deadline((seconds * 1e3) as u64);
                trial.max = None;
            }
            "waits" => {
                assert_eq!(value, "0.5*2^n");
                (trial.base_ms, trial.factor) = (500, 2.0);
            }
            "work" => assert_eq!(value, 0),
            "by" | "always_fail" | "failAfterMaxAttempts" => {}
            _ => {
                // what the calls throw; a number of failures comes before it
                let words = key.trim_start_matches("throws ");
                let (failures, thrown) = match words.split_once(" retryable then ") {
                    Some((failures, thrown)) => (failures.parse().unwrap(), thrown),
                    None => (0, words.trim_end_matches(" at once")),
                };
                let known = ["ignored exception", "AbortError", "TypeError (not network)"];
                assert!(known.contains(&thrown), "what is {key}?");
                let thrown = Thrown::new(thrown);
                trial.except = vec![thrown.class.clone()];
                trial.outcomes = fail_first(failures);
                *trial.outcomes.last_mut().unwrap() = Err(thrown);
            }
        }
    }
    if row.system == "tenacity.Retrying" {
        trial.base_ms = 250;
    }
    trial
}

fn compare_executed(row: &Row) -> Result<(), String> {
    assert!(row.case.starts_with("calls"));
    if let Some(need) = needs(&row.input) {
        return Err(need.into());
    }
    let ran = run(&executed_trial(row));
    // the number of calls comes first, before `;` or `:`
    let expected = row.expected.as_str().unwrap().replacen(':', ";", 1);
    for (nth, part) in expected.split(';').enumerate() {
        let (name, figure) = part.split_once('=').unwrap_or(("", part));
        let number = figure.parse().ok();
        let seconds = || Duration::from_secs_f64(figure.parse().unwrap());
        match (name, figure) {
            ("calls" | "last_attempt", _) => same(Some(ran.calls), number)?,
            ("", _) if nth == 0 => same(Some(ran.calls), number)?,
            ("", "ok") | ("value", "1") => same(ran.ending, Ending::Value)?,
            ("value", "-1") => same(ran.ending, Ending::LastValue)?,
            ("", _) => same(ran.ending, Ending::Error)?,
            ("retryCount" | "suppressed", _) => same(ran.calls.checked_sub(1), number)?,
            ("sleeps", _) => same(u32::try_from(ran.waits.len()).ok(), number)?,
            ("idle_for", _) => same(ran.waits.iter().sum(), seconds())?,
            ("elapsed", _) => same(ran.elapsed, seconds())?,
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
    assert_eq!(settle(rows, DIFFERENT_EXECUTED), (301, 35));
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
