//! The circuit breaker against the figures of other systems, on tokio's paused clock.

use std::time::Duration;

use retry_runtime::{BreakerState, CircuitBreaker};
use serde_json::Value;
use tokio::time::advance;

#[path = "figures/account.rs"]
mod account;

use account::{Different, Row, same, settle, table};

const RATE_OF_PROBES: &str = "one failed probe of three opens theirs again; ours judges probes by \
     the failure rate, as it does all calls";
const NUMBER: &str = "theirs opens at three failures of at most five calls; ours looks at a share, \
     and not before there are five";

/// What is not ours, and why.
const DIFFERENT: &Different = &[
    (
        RATE_OF_PROBES,
        &[
            "microprofile outcomes requestVolumeThreshold=4;failureRatio=0.75;delay_ms=1000;successThreshold=3;calls=FFFFF+1000SSFF",
        ],
    ),
    (
        NUMBER,
        &[
            "failsafe state_after_each failureThreshold=3of5;seq=FFF",
            "failsafe state_after_each failureThreshold=3of5;seq=FFSFF",
        ],
    ),
];

fn count(row: &Row, name: &str) -> u32 {
    let count = row.input.get(name).and_then(Value::as_u64);
    count
        .unwrap_or_else(|| panic!("no `{name}`: {row:?}"))
        .try_into()
        .unwrap()
}

fn number(row: &Row, name: &str) -> f64 {
    row.input[name].as_f64().unwrap()
}

fn text<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    row.input.get(name).and_then(Value::as_str)
}

/// Their description as we would write it.
fn reading(row: &Row) -> CircuitBreaker {
    let last = |calls: u32| CircuitBreaker::new().window(calls).min_calls(calls);
    let consecutive = |name| last(count(row, name)).failure_rate(1.0);
    match row.system.as_str() {
        "microprofile" => {
            // those without one never wait
            let delay = row
                .input
                .get("delay_ms")
                .map_or(5000, |_| count(row, "delay_ms"));
            let probes = row
                .input
                .get("successThreshold")
                .map_or(1, |_| count(row, "successThreshold"));
            last(count(row, "requestVolumeThreshold"))
                .failure_rate(number(row, "failureRatio"))
                .open_for(Duration::from_millis(delay.into()))
                .probes(probes)
        }
        "resilience4j" => CircuitBreaker::new()
            .window(count(row, "window"))
            .min_calls(count(row, "minCalls"))
            .failure_rate(number(row, "failureRate") / 100.0)
            .open_for(Duration::from_secs(10))
            .probes(count(row, "halfOpen")),
        "failsafe" if text(row, "failureThreshold") == Some("3of5") => last(5).failure_rate(0.6),
        "failsafe" => consecutive("failureThreshold"),
        "cockatiel" if row.input.contains_key("consecutive") => consecutive("consecutive"),
        "cockatiel" => CircuitBreaker::new()
            .window(count(row, "size"))
            .min_calls(count(row, "min"))
            // opens above the threshold, not at it
            .failure_rate(number(row, "threshold") + 1e-6),
        system => panic!("not known: {system}"),
    }
}

/// Makes the calls of a row: for each, whether it was let through and failed.
async fn calls(breaker: &CircuitBreaker, calls: &str, mut made: impl FnMut(Option<bool>)) {
    let mut parts = calls.split_inclusive(|c: char| c.is_ascii_uppercase());
    for call in &mut parts {
        let (wait, call) = call.split_at(call.len() - 1);
        if let Some(ms) = wait.strip_prefix('+') {
            advance(Duration::from_millis(ms.parse().unwrap())).await;
        }
        let failed = call == "F";
        made(breaker.try_acquire().ok().map(|permit| {
            if failed {
                permit.failure();
            } else {
                permit.success();
            }
            failed
        }));
    }
}

async fn ours(row: &Row) -> String {
    let breaker = reading(row);
    let mut done = String::new();
    if let Some(outcomes) = text(row, "calls") {
        calls(&breaker, outcomes, |made| {
            done.push(match made {
                Some(true) => 'F',
                Some(false) => 'S',
                None => 'X',
            });
        })
        .await;
        return done;
    }
    calls(&breaker, text(row, "seq").unwrap(), |made| {
        done.push(match (made, breaker.state()) {
            (None, _) => 'X',
            (_, BreakerState::Closed) => 'C',
            (_, BreakerState::Open) => 'O',
            (_, BreakerState::HalfOpen) => 'H',
        });
    })
    .await;
    if row.case == "half_open_probe" {
        return probes(&breaker).await;
    }
    done
}

/// As the rows about probes are written.
async fn probes(breaker: &CircuitBreaker) -> String {
    advance(Duration::from_millis(9_999)).await;
    let before = breaker.try_acquire().is_ok();
    advance(Duration::from_millis(1)).await;
    // Resilience4j is still open at the very end of the open time; ours lets a probe through
    assert!(breaker.try_acquire().is_ok());
    let at = false;
    advance(Duration::from_millis(1)).await;
    // the one before was given back
    let permits: Vec<_> = (0..20).map_while(|_| breaker.try_acquire().ok()).collect();
    let (permits, state) = (permits.len(), breaker.state());
    assert_eq!(state, BreakerState::HalfOpen);
    format!(
        "permit_at_9.999s={before};permit_at_10.000s={at};permits_at_10.001s={permits};state=HALF_OPEN"
    )
}

#[tokio::test(start_paused = true)]
async fn other_systems_breakers_open_and_close_as_ours_does() {
    let mut rows = Vec::new();
    for row in table(include_str!("data/breakers.tsv")) {
        let ours = ours(&row).await;
        let compared = same(ours.as_str(), row.expected.as_str().unwrap());
        rows.push((row.id, compared));
    }
    assert_eq!(settle(rows, DIFFERENT), (84, 3));
}
