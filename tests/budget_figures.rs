//! The retry budget against the figures of other systems, on tokio's paused clock.

use std::time::Duration;

use retry_runtime::RetryBudget;
use serde_json::Value;
use tokio::time::advance;

#[path = "figures/account.rs"]
mod account;

use account::{Different, Row, same, settle, table};

const INFINITE: &str = "a budget without limits is no budget: leave the key out";
const LARGER: &str =
    "theirs is the larger of share and minimum; ours adds the minimum to the share";
const IN_FLIGHT: &str = "theirs limits retries in flight, and gets them back when they end; ours \
     limits how many begin in a window";

/// What is not ours, and why.
const DIFFERENT: &Different = &[
    (INFINITE, &["finagle retries infinite;requests=0"]),
    (
        LARGER,
        // with fewer requests, the share is less than a retry
        &[
            "envoy retries min=3;ratio=0.2;requests=25",
            "envoy retries min=3;ratio=0.2;requests=100",
        ],
    ),
    (
        IN_FLIGHT,
        &[
            "failsafe-go in_flight ratio=0.5;min=1;executions=2;retries=1;events=withdraw,withdraw,release,withdraw,withdraw",
        ],
    ),
];

fn count(row: &Row, name: &str) -> u32 {
    let count = row.input.get(name).and_then(Value::as_u64);
    count.map_or(0, |count| count.try_into().unwrap())
}

fn reading(row: &Row) -> RetryBudget {
    let Some(ratio) = row.input.get("ratio").and_then(Value::as_f64) else {
        return RetryBudget::new();
    };
    let budget = RetryBudget::new().ratio(ratio);
    match row.system.as_str() {
        "envoy" | "failsafe-go" => budget
            .window(Duration::from_secs(1))
            .min_per_second(count(row, "min")),
        _ => budget
            .window(Duration::from_secs(count(row, "ttl_s").into()))
            .min_per_second(count(row, "min_per_s")),
    }
}

fn drain(budget: &RetryBudget) -> u32 {
    (0..)
        .take_while(|_| budget.withdraw())
        .count()
        .try_into()
        .unwrap()
}

/// How many retries are granted when each request fails.
fn retries(budget: &RetryBudget, requests: u32) -> u32 {
    let at_first = if requests == 0 { drain(budget) } else { 0 };
    let granted = (0..requests).map(|_| {
        budget.deposit();
        drain(budget)
    });
    at_first + granted.sum::<u32>()
}

async fn events(budget: &RetryBudget, events: &str) -> String {
    let mut results = Vec::new();
    for event in events.split(',') {
        match event.split_at(1) {
            ("d", "eposit") => budget.deposit(),
            ("w", "ithdraw") => results.push(budget.withdraw().to_string()),
            ("b", "alance") => results.push(budget.available().to_string()),
            ("+", ms) => advance(Duration::from_millis(ms.parse().unwrap())).await,
            ("r", "elease") => {} // there is no such thing
            _ => panic!("not known: {event}"),
        }
    }
    results.join(",")
}

async fn ours(row: &Row) -> String {
    let budget = reading(row);
    let sequence = row.input.get("events").and_then(Value::as_str);
    match row.case.as_str() {
        "retries" => {
            let ours = retries(&budget, count(row, "requests"));
            let theirs = row.expected.as_str().unwrap();
            match theirs.parse::<u32>() {
                // more or less one, as they say
                Ok(number) if ours.abs_diff(number) <= 1 => theirs.into(),
                _ => ours.to_string(),
            }
        }
        "events" => events(&budget, sequence.unwrap()).await,
        "in_flight" => {
            (0..count(row, "executions")).for_each(|_| budget.deposit());
            (0..count(row, "retries")).for_each(|_| assert!(budget.withdraw()));
            events(&budget, sequence.unwrap()).await
        }
        "defaults" => defaults(&budget).await,
        case => panic!("not known: {case}"),
    }
}

/// The settings of a budget, by what it does.
async fn defaults(budget: &RetryBudget) -> String {
    let floor = budget.available();
    (0..1000).for_each(|_| budget.deposit());
    let ratio = f64::from(budget.available() - floor) / 1000.0;
    let mut seconds = 0;
    while budget.available() > floor {
        advance(Duration::from_secs(1)).await;
        seconds += 1;
    }
    let per_second = floor / seconds;
    format!("ttl_s={seconds};min_per_s={per_second};ratio={ratio}")
}

#[tokio::test(start_paused = true)]
async fn other_systems_budgets_grant_what_ours_grants() {
    let mut rows = Vec::new();
    for row in table(include_str!("data/budgets.tsv")) {
        let ours = ours(&row).await;
        let compared = same(ours.as_str(), row.expected.as_str().unwrap());
        rows.push((row.id, compared));
    }
    assert_eq!(settle(rows, DIFFERENT), (26, 4));
}
