//! Other systems' descriptions of a backoff -> a policy, and their tables of waits.

use std::time::Duration;

use retry_runtime::{Backoff, Policy};
use serde_json::{Map, Value};

use crate::account::{Row, table};

/// All rows about waits: those of the upstream test suites, and those executed.
pub fn rows() -> Vec<Row> {
    let upstream: Vec<Map<String, Value>> =
        serde_json::from_str(include_str!("../data/delays.json")).unwrap();
    let upstream = upstream.into_iter().map(|mut row| {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let repository = text("repo");
        let random = row.contains_key("bounds") || row.contains_key("statistic");
        Row {
            id: text("id"),
            system: repository.rsplit('/').next().unwrap_or_default().into(),
            case: match row.get("unit") {
                Some(Value::String(unit)) => format!("delays_{unit}"),
                _ => "delays_ms".into(),
            },
            input: {
                let Value::Object(mut input) = row["params"].take() else {
                    panic!("`params` is an object")
                };
                if random {
                    input.insert("random".into(), row.clone().into());
                }
                input
            },
            expected: row["expected"].take(),
        }
    });
    upstream
        .chain(table(include_str!("../data/executed_delays.tsv")))
        .filter(|row| row.case.starts_with("delays_"))
        .collect()
}

/// Whether the row is about jitter: bounds, a statistic, or waits for a pinned random number.
pub fn is_random(row: &Row) -> bool {
    let pinned = matches!(&row.expected, Value::Object(waits) if waits.contains_key("u=0"));
    let executed = row.input.contains_key("u") && !row.system.ends_with(".noJitter");
    pinned || executed || row.input.contains_key("random")
}

/// A backoff as we would write it.
#[derive(Debug)]
pub struct Reading {
    pub policy: Policy,
    pub base: Duration,
    pub factor: f64,
    pub cap: Duration,
    pub shape: Backoff,
    /// A lower limit of the waits, which we do not have
    pub floor: Duration,
    /// The retries the waits are for, where it is not all of them; counted from 0
    pub retries: Option<Vec<u32>>,
}

/// The policy that a row describes, as near as ours come to it. Fails on an unknown parameter.
pub fn read(row: &Row) -> Reading {
    let (system, unit) = (system(row), unit(&row.case));
    let mut reading = Reading {
        policy: Policy::new().unlimited(),
        base: Duration::ZERO,
        factor: 2.0,
        cap: Duration::MAX,
        shape: if row.id.contains("fib") {
            Backoff::Fibonacci
        } else if row.id.contains("fixed") {
            Backoff::Fixed
        } else {
            Backoff::Exponential
        },
        floor: Duration::ZERO,
        retries: None,
    };
    // what the system does where a row leaves it out
    match system {
        "cockatiel" => (reading.base, reading.cap) = (millis(128), millis(30_000)),
        "node-retry" => reading.base = millis(1_000),
        "stamina" => (reading.base, reading.cap) = (millis(100), millis(5_000)),
        "botocore" => reading.base = millis(50),
        _ => {}
    }
    for (key, value) in &row.input {
        let (name, unit) = match key.rsplit_once('_') {
            Some((name, suffix @ ("ns" | "ms" | "s"))) => (name, suffix),
            _ => (key.as_str(), unit),
        };
        let wait = || duration(value, unit).unwrap_or_else(|| panic!("{key} of {}", row.id));
        match (system, name) {
            ("guava-retrying" | "tenacity", "multiplier") | ("backon", "min") => {
                reading.base = wait();
            }
            ("tenacity", "min") => reading.floor = wait(),
            (
                "spring-retry" | "spring7" | "spring-framework" | "resilience4j" | "proposal"
                | "backoff" | "finagle",
                "multiplier",
            )
            | ("cockatiel", "exponent")
            | ("tenacity" | "stamina", "exp_base")
            | (
                "backon" | "failsafe" | "failsafe-go" | "node-retry" | "smallrye-fault-tolerance",
                "factor",
            ) => reading.factor = value.as_f64().unwrap(),
            (_, "fixed" | "const") => {
                reading.base = wait();
                reading.shape = Backoff::Fixed;
            }
            (_, "chain_fixed") => {
                let delays = value.as_array().unwrap().iter();
                let delays = delays.map(|delay| duration(delay, unit).unwrap().as_millis());
                let delays: Vec<u64> = delays.map(|ms| u64::try_from(ms).unwrap()).collect();
                reading.shape = Backoff::Delays(delays.leak());
            }
            (
                _,
                "base" | "initial" | "delay" | "start" | "interval" | "minTimeout" | "initialDelay"
                | "wait_initial" | "initialBackoff",
            ) => reading.base = duration(value, unit).unwrap_or_default(),
            ("botocore", "throttling" | "dynamodb throttling") => reading.base = millis(1_000),
            ("botocore", "dynamodb transient") => reading.base = millis(25),
            ("botocore", "transient") => reading.base = millis(50),
            (_, "max" | "cap" | "maxTimeout" | "maxDelay" | "wait_max" | "maxBackoff") => {
                reading.cap = wait()
            }
            // our step is the first wait
            (_, "increment" | "offset") => reading.shape = Backoff::Linear,
            (_, "max_times" | "max_backoffs" | "retries") => {
                reading.policy = reading.policy.max(count(value) + 1);
            }
            ("tenacity", "attempts") => {
                let attempts = value.as_str().unwrap().split(',');
                let retries = attempts.map(|attempt| attempt.parse::<u32>().unwrap() - 1);
                reading.retries = Some(retries.collect());
            }
            (_, "attempts_total" | "attempts") => reading.policy = reading.policy.max(count(value)),
            // no part of a policy: the table shows whether it makes a difference
            (_, "max_elapsed" | "cumulative_limit" | "timeout") | ("retry-go", "parts") => {}
            // the upper end of the random wait
            ("smithy-rs" | "botocore", "rand") => assert_eq!(value, 1),
            // which wait the row is about; how the rest is random is read by the test of jitter
            (_, "n" | "k" | "u" | "random" | "randomize" | "samples" | "current")
            | (_, "jitter" | "wait_jitter")
            | ("backoff" | "resilience4j", "factor") => {}
            _ => panic!("what does {key} = {value} mean to {system}, in {}?", row.id),
        }
    }
    reading.policy = reading
        .policy
        .base(reading.base)
        .factor(reading.factor)
        .backoff(reading.shape)
        .cap(reading.cap);
    reading
}

fn system(row: &Row) -> &str {
    row.system.split('.').next().unwrap_or_default()
}

/// The unit of a table, `delays_ms`.
pub fn unit(case: &str) -> &str {
    case.rsplit('_').next().unwrap_or_default()
}

fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn count(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

/// A number as a wait, exactly. `None` if it is negative or no number.
pub fn duration(value: &Value, unit: &str) -> Option<Duration> {
    let nanos_per_unit = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => panic!("what is {unit}?"),
    };
    let longest = |unit: u64| from_nanos(u128::from(unit) * u128::from(i64::MAX.unsigned_abs()));
    match value {
        // an unlimited wait is as long as the system's integers can say
        Value::String(text) if text == "none" => Some(longest(nanos_per_unit)),
        Value::String(text) if text == "i64::MAX" => Some(longest(1)),
        Value::String(text) if text == "i64::MAX/2" => Some(longest(1) / 2),
        _ => match value.as_u64() {
            Some(whole) => Some(from_nanos(u128::from(whole) * u128::from(nanos_per_unit))),
            None => {
                let seconds = value.as_f64()? * nanos_per_unit as f64 / 1e9;
                let beyond = || (seconds > 0.0).then_some(Duration::MAX);
                Duration::try_from_secs_f64(seconds).ok().or_else(beyond)
            }
        },
    }
}

fn from_nanos(nanos: u128) -> Duration {
    let seconds = u64::try_from(nanos / 1_000_000_000).unwrap();
    Duration::new(seconds, u32::try_from(nanos % 1_000_000_000).unwrap())
}

/// The waits of a table with the retries they precede, counted from 0; `None` is no retry.
/// Nothing, if the row has words instead of waits.
pub fn waits(row: &Row, reading: &Reading) -> Option<Vec<(u32, Option<Duration>)>> {
    let unit = unit(&row.case);
    let wait = |value: &Value| match value {
        Value::String(stop) if stop == "STOP" => Some(None),
        // how Spring says it
        Value::Number(stop) if stop.as_i64() == Some(-1) => Some(None),
        value => duration(value, unit).map(Some),
    };
    let list = |values: Vec<Value>| {
        let retries = reading
            .retries
            .clone()
            .unwrap_or_else(|| (0..).take(values.len()).collect());
        let waits = retries.into_iter().zip(&values);
        let waits: Option<Vec<_>> = waits
            .map(|(retry, value)| Some((retry, wait(value)?)))
            .collect();
        let mut waits = waits?;
        // the table is the whole of a limited number of retries
        if reading.policy.max_calls().is_some()
            && waits.last().is_none_or(|(_, last)| last.is_some())
        {
            waits.push((u32::try_from(values.len()).unwrap(), None));
        }
        Some(waits)
    };
    match &row.expected {
        Value::Array(values) => list(values.clone()),
        Value::Object(by_attempt) => {
            let waits = by_attempt.iter().map(|(attempt, value)| {
                Some((attempt.parse::<u32>().ok()?.checked_sub(1)?, wait(value)?))
            });
            waits.collect()
        }
        Value::String(text) => {
            let figures = text.split(';').find(|part| !part.contains('='))?;
            let figures = figures.split(',').filter(|figure| !figure.is_empty());
            list(
                figures
                    .map(serde_json::from_str)
                    .collect::<Result<_, _>>()
                    .ok()?,
            )
        }
        _ => None,
    }
}
