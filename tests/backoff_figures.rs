//! Waits before jitter, against the figures of other systems.

use std::{
    cell::{Cell, RefCell},
    mem,
    time::Duration,
};

use retry_runtime::{Backoff, Decision, Policy, retryable};
use serde_json::Value;

#[path = "figures/account.rs"]
mod account;
#[path = "figures/delays.rs"]
mod delays;

use account::{Different, Row, is_listed, same, settle, table};
use delays::{duration, is_random, read, unit, waits};

const CUTS: &str = "cuts each wait to whole milliseconds and grows from what is left";
const AHEAD: &str = "its first wait is our second";
const FLOOR: &str = "has a lower limit as well";
const CLAMPS: &str = "cuts a hint to its own wait and 5 s; ours is waited out or ends the call";

/// What is not ours, and why.
const DIFFERENT: &Different = &[
    (
        CUTS,
        &[
            "spring-retry-exp-1.2",
            "spring7.ExponentialBackOff delays_ms initial=2000;multiplier=1.5;max=30000",
            "resilience4j.IntervalFunction delays_ms initial=500;multiplier=1.5;max=none",
            "spring-retry.ExponentialBackOffPolicy delays_ms initial=40;multiplier=1.2;max=30000",
            "spring-retry.ExponentialBackOffPolicy delays_ms initial=1000;multiplier=1.1;max=2000",
            "spring-retry.ExponentialBackOffPolicy delays_ms initial=500;multiplier=1.5;max=30000",
        ],
    ),
    (
        AHEAD,
        &[
            "guava-exp",
            "guava-exp-max",
            "guava-exp-mult",
            "smallrye-fib",
        ],
    ),
    (
        FLOOR,
        &[
            "tenacity-exp-min20",
            "tenacity-exp-min20-mult2",
            "tenacity-exp-min10-max100",
            "tenacity.wait_exponential delays_s multiplier=1;min=4;max=10",
        ],
    ),
    (
        "grows by a step that is not the first wait",
        &[
            "guava-incrementing",
            "tenacity-incrementing",
            "finagle-linear",
            "finagle-linear-max",
            "tenacity.wait_incrementing delays_s start=0.5;increment=0.1;max=1",
            "tenacity.wait_incrementing delays_s start=1;increment=-0.3",
        ],
    ),
    (
        "ends by a limit on the sum of its waits, which may exceed it; our deadline is no part of a policy",
        &[
            "spring7-fixed-maxelapsed",
            "spring7-max-elapsed",
            "finagle-take-until",
            "finagle-take-until-zero",
        ],
    ),
    (
        "stops where the wait exceeds its integers; ours stays at the cap",
        &["spring7.ExponentialBackOff delays_ms initial=1;multiplier=2.0;max=9223372036854775807"],
    ),
    (
        "stops growing after 33 retries, far below its largest wait",
        &["avast-backoff-1s-n62"],
    ),
    (
        "a factor below 1 counts as 1",
        &[r#"node-retry.timeouts delays_ms {"retries":3,"factor":0.5,"minTimeout":100}"#],
    ),
    ("a wait can not be negative", &["avast-backoff-neg"]),
    ("has sums of two policies", &["avast-combine-overflow"]),
    (
        "a cap below a nanosecond is none",
        &["tenacity-exp-underflow"],
    ),
];

/// Hints of the other side that have another effect with us.
const DIFFERENT_HINTS: &Different = &[(
    CLAMPS,
    &[
        "botocore.standard.retry_after delay_s attempt=1;t_i=0.05;x-amz-retry-after(ms)='5051'",
        "botocore.standard.retry_after delay_s attempt=1;t_i=0.05;x-amz-retry-after(ms)='10000'",
        "botocore.standard.retry_after delay_s attempt=1;t_i=0.05;x-amz-retry-after(ms)='99999999999999999999'",
        "botocore.standard.retry_after delay_s attempt=3;x-amz-retry-after(ms)=9000",
        "botocore.standard.retry_after delay_s attempt=12;x-amz-retry-after(ms)=30000",
    ],
)];

/// The tables of waits without jitter.
fn rows() -> impl Iterator<Item = Row> {
    delays::rows().into_iter().filter(|row| !is_random(row))
}

/// The wait before a retry by our policy, before jitter; `None` if the calls are used up.
fn ours(policy: &Policy, retry: u32) -> Option<Duration> {
    let used_up = policy.max_calls().is_some_and(|max| retry >= max - 1);
    (!used_up).then(|| policy.ceiling(retry))
}

fn compare(row: &Row) -> Result<(), String> {
    let policy = read(row).policy;
    let theirs = waits(row, &read(row)).ok_or("words, not waits")?;
    for (retry, theirs) in theirs {
        same(ours(&policy, retry), theirs).map_err(|how| format!("retry {retry}: {how}"))?;
    }
    Ok(())
}

thread_local! {
    static WAITS: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
}

fn record(wait: Duration) {
    WAITS.with_borrow_mut(|waits| waits.push(wait));
}

fn recorded() -> Vec<Duration> {
    WAITS.with_borrow_mut(mem::take)
}

/// A function that fails, retried as the keys say, in each shape.
macro_rules! failing {
    ($($name:ident $shape:literal $(, factor = $factor:ident)?;)+) => {
        $(
            #[retryable(
                max = reading.calls, base_ms = reading.base_ms, cap_ms = reading.cap_ms,
                $(factor = reading.$factor,)?
                backoff = $shape, jitter = "none", on = "any", sleep = "record"
            )]
            fn $name(reading: &Keys) -> Result<(), ()> {
                Err(())
            }
        )+
    };
}

failing! {
    exponential "exponential", factor = factor;
    linear "linear";
    fibonacci "fibonacci";
    fixed "fixed";
}

#[retryable(policy = policy, jitter = "none", on = "any", sleep = "record")]
fn by_policy(policy: Policy) -> Result<(), ()> {
    Err(())
}

/// What is written in the attribute.
struct Keys {
    calls: u32,
    base_ms: u128,
    factor: f64,
    cap_ms: u128,
}

/// Fails, each time with what it wants done.
#[retryable(
    max = max, base_ms = base_ms, cap_ms = 20_000, jitter = "none",
    on = |wanted: &Decision| *wanted, sleep = "record"
)]
fn fail_with(
    max: u32,
    base_ms: u128,
    calls: &Cell<u32>,
    wanted: impl Fn(u32) -> Decision,
) -> Result<(), Decision> {
    calls.set(calls.get() + 1);
    Err(wanted(calls.get()))
}

#[test]
fn waits_are_those_of_other_systems() {
    let rows = rows().map(|row| {
        let compared = compare(&row);
        (row.id, compared)
    });
    assert_eq!(settle(rows, DIFFERENT), (75, 30));
}

#[test]
fn first_wait_is_the_base() {
    let mut tables = 0;
    for row in rows().filter(|row| compare(row).is_ok()) {
        let reading = read(&row);
        let listed = matches!(reading.shape, Backoff::Delays(_));
        if !listed && reading.policy.validate().is_ok() {
            assert_eq!(reading.policy.ceiling(0), reading.base, "{}", row.id);
            tables += 1;
        }
    }
    assert_eq!(tables, 72);
}

#[test]
fn the_attribute_waits_what_the_tables_say() {
    let mut tables = 0;
    for row in rows().filter(|row| compare(row).is_ok()) {
        let reading = read(&row);
        let theirs = waits(&row, &reading).unwrap();
        let in_order = (0..).zip(&theirs).all(|(nth, (retry, _))| nth == *retry);
        if !in_order {
            continue;
        }
        let theirs: Vec<Duration> = theirs.into_iter().filter_map(|(_, wait)| wait).collect();
        let calls = match reading.policy.max_calls() {
            Some(calls) => calls,
            None => u32::try_from(theirs.len()).unwrap() + 1,
        };
        // nobody is asked to sleep for no time
        let slept: Vec<Duration> = theirs.into_iter().filter(|wait| !wait.is_zero()).collect();
        assert_eq!(by_policy(reading.policy.max(calls)), Err(()));
        assert_eq!(recorded(), slept, "{}", row.id);
        tables += 1;

        let keys = Keys {
            calls,
            base_ms: reading.base.as_millis(),
            factor: reading.factor,
            cap_ms: reading.cap.as_millis(),
        };
        let failed = match reading.shape {
            Backoff::Exponential => exponential(&keys),
            Backoff::Linear => linear(&keys),
            Backoff::Fibonacci => fibonacci(&keys),
            Backoff::Fixed => fixed(&keys),
            // a list is a constant in the attribute
            _ => continue,
        };
        assert_eq!(failed, Err(()));
        assert_eq!(recorded(), slept, "{}", row.id);
    }
    assert_eq!(tables, 66);
}

#[test]
fn a_system_that_cuts_waits_differs_by_what_it_cut() {
    for row in rows().filter(|row| is_listed(DIFFERENT, CUTS, &row.id)) {
        let reading = read(&row);
        let mut cut = Duration::ZERO;
        for (retry, theirs) in waits(&row, &reading).unwrap() {
            let (ours, theirs) = (reading.policy.ceiling(retry), theirs.unwrap());
            let id = &row.id;
            assert!(
                theirs <= ours && ours <= theirs + cut,
                "{id}, retry {retry}: {ours:?} is not within {cut:?} of {theirs:?}"
            );
            // what was cut grows on, and up to one more millisecond is
            cut = cut.mul_f64(reading.factor) + Duration::from_millis(1);
        }
    }
}

#[test]
fn a_system_that_is_ahead_waits_our_next_wait() {
    for row in rows().filter(|row| is_listed(DIFFERENT, AHEAD, &row.id)) {
        let reading = read(&row);
        for (retry, theirs) in waits(&row, &reading).unwrap() {
            let ours = ours(&reading.policy, retry + 1);
            assert_eq!(ours, theirs, "{}, retry {retry}", row.id);
        }
    }
}

#[test]
fn a_system_with_a_lower_limit_differs_below_it_only() {
    for row in rows().filter(|row| is_listed(DIFFERENT, FLOOR, &row.id)) {
        let reading = read(&row);
        for (retry, theirs) in waits(&row, &reading).unwrap() {
            let ours = ours(&reading.policy, retry).map(|wait| wait.max(reading.floor));
            assert_eq!(ours, theirs, "{}, retry {retry}", row.id);
        }
    }
}

/// The hint of a row: a number of milliseconds, or something else, which is no hint.
fn hint(row: &Row) -> Option<Duration> {
    let header = match &row.input["x-amz-retry-after(ms)"] {
        Value::String(text) => text.trim_matches('\'').to_owned(),
        number => number.to_string(),
    };
    let ms = header.parse::<u128>().ok()?;
    Some(u64::try_from(ms).map_or(Duration::MAX, Duration::from_millis))
}

/// Our wait after the attempt whose failure comes with the hint; `None` if that ends the call.
fn wait_after_hint(row: &Row) -> Option<Duration> {
    let attempt = u32::try_from(row.input["attempt"].as_u64().unwrap()).unwrap();
    // where the row does not say: the one of the system
    let base = match row.input.get("t_i") {
        Some(base) => duration(base, "s").unwrap(),
        None => Duration::from_millis(50),
    };
    let wanted = |call| match hint(row) {
        Some(hint) if call == attempt => Decision::RetryAfter(hint),
        _ => Decision::Retry,
    };
    let failed = fail_with(attempt + 1, base.as_millis(), &Cell::new(0), wanted);
    assert!(failed.is_err());
    recorded()
        .into_iter()
        .nth(usize::try_from(attempt).unwrap() - 1)
}

#[test]
fn a_hint_is_waited_out_unless_the_computed_wait_is_longer() {
    let rows = table(include_str!("data/executed_delays.tsv"));
    let rows = rows
        .into_iter()
        .filter(|row| row.case == "delay_s")
        .map(|row| {
            let ours = wait_after_hint(&row);
            if is_listed(DIFFERENT_HINTS, CLAMPS, &row.id) {
                let within_limit = hint(&row).filter(|hint| *hint <= Duration::from_secs(300));
                assert_eq!(ours, within_limit, "{}", row.id);
            }
            let theirs = serde_json::from_str(row.expected.as_str().unwrap()).unwrap();
            (row.id, same(ours, duration(&theirs, unit(&row.case))))
        });
    assert_eq!(settle(rows, DIFFERENT_HINTS), (14, 5));
}
