//! The simulations of `examples/retry_storm`: contention against the figures of the simulator that
//! it follows, and what an outage comes to.

use std::{collections::BTreeMap, sync::LazyLock, time::Duration};

use serde_json::Value;

#[path = "../examples/retry_storm/contention.rs"]
mod contention;
#[path = "../examples/retry_storm/events.rs"]
mod events;
#[path = "../examples/retry_storm/outage.rs"]
mod outage;

use contention::{Mean, POLICIES};
use outage::{INTERVAL, Outage, VARIANTS, WORKS_AGAIN};

/// Means, and the deviation of what they are of.
#[derive(Clone, Copy)]
struct Figure {
    mean: f64,
    deviation: f64,
}

/// A row of their table, and our means for it.
struct Cell {
    calls: Figure,
    ms: Figure,
    /// Of ours; theirs are 400
    runs: u32,
    ours: Mean,
}

impl Cell {
    /// Of the figure that an invariant is about: theirs and ours.
    fn of(&self, what: &str) -> (Figure, f64) {
        match what {
            "calls" => (self.calls, self.ours.calls),
            "time" => (self.ms, self.ours.seconds * 1_000.0),
            what => panic!("what is {what}?"),
        }
    }

    /// Five standard errors of our mean and five of theirs, for a figure of this deviation.
    fn tolerance(&self, deviation: f64) -> f64 {
        5.0 * deviation / f64::from(self.runs).sqrt() + 5.0 * deviation / 400_f64.sqrt()
    }
}

/// By clients and algorithm. The more clients, the less do runs differ, and the longer they take.
static CELLS: LazyLock<BTreeMap<(usize, &str), Cell>> = LazyLock::new(|| {
    let rows = include_str!("data/contention.tsv").lines().skip(1);
    let cells = rows.map(|row| {
        let columns: Vec<&str> = row.split('\t').collect();
        let number = |column: usize| columns[column].parse::<f64>().unwrap();
        let (clients, algorithm) = (columns[0].parse().unwrap(), columns[1]);
        let policy = POLICIES.iter().find(|(name, _)| *name == algorithm);
        let (_, policy) = policy.unwrap();
        let runs = u32::try_from(240 / clients).unwrap().max(2);
        let figure = |column| Figure {
            mean: number(column),
            deviation: number(column + 1),
        };
        let cell = Cell {
            calls: figure(5),
            ms: figure(3),
            runs,
            ours: contention::mean(policy, clients, runs),
        };
        ((clients, algorithm), cell)
    });
    cells.collect()
});

/// `factor` times one algorithm's figure is above another's.
type Above = (f64, &'static str, &'static str);

/// What an invariant says.
fn above(invariant: &str) -> &'static [Above] {
    match invariant {
        "FullJitter < Exponential" => &[(1.0, "Exponential", "FullJitter")],
        "FullJitter < Decorr" => &[(1.0, "Decorr", "FullJitter")],
        "EqualJitter < Decorr" => &[(1.0, "Decorr", "EqualJitter")],
        "Decorr < Exponential" => &[(1.0, "Exponential", "Decorr")],
        "Exponential < None" => &[(1.0, "None", "Exponential")],
        "|Full-Equal| < 10% of Full" => &[
            (1.1, "FullJitter", "EqualJitter"),
            (1.0 / 0.9, "EqualJitter", "FullJitter"),
        ],
        "None < FullJitter < EqualJitter < Exponential" => &[
            (1.0, "FullJitter", "None"),
            (1.0, "EqualJitter", "FullJitter"),
            (1.0, "Exponential", "EqualJitter"),
        ],
        "Decorr < FullJitter*1.1" => &[(1.1, "FullJitter", "Decorr")],
        "Exponential > 4x FullJitter" => &[(0.25, "Exponential", "FullJitter")],
        "FullJitter <= 0.6 x Exponential" => &[(0.6, "Exponential", "FullJitter")],
        invariant => panic!("what is {invariant}?"),
    }
}

#[test]
fn calls_and_times_under_contention_are_those_of_the_aws_simulator() {
    let mut reproduced = 0;
    for ((clients, algorithm), cell) in &*CELLS {
        for what in ["calls", "time"] {
            let (theirs, ours) = cell.of(what);
            let (theirs, tolerance) = (theirs.mean, cell.tolerance(theirs.deviation));
            assert!(
                (ours - theirs).abs() <= tolerance,
                "{what}, {clients} clients, {algorithm}: {ours:.1} is not {theirs:.1} ± {tolerance:.1}"
            );
            reproduced += 1;
        }
    }
    // 19 numbers of clients with 5 algorithms: none is left out
    assert_eq!(reproduced, 190);
}

#[test]
fn what_the_aws_simulator_shows_of_jitter_holds() {
    let invariants: Vec<Value> =
        serde_json::from_str(include_str!("data/contention.json")).unwrap();
    let (mut same, mut too_close) = (0, 0);
    for row in &invariants {
        let (what, invariant) = row["invariant"].as_str().unwrap().split_once(": ").unwrap();
        let holds_for = row["holds_for_clients"].as_array().unwrap();
        for clients in (10..200).step_by(10) {
            let theirs = holds_for.contains(&clients.into());
            let mut ours = true;
            // so near to each other that this many runs do not tell
            let mut is_close = false;
            for (factor, larger, smaller) in above(invariant) {
                let (cell, other) = (&CELLS[&(clients, *larger)], &CELLS[&(clients, *smaller)]);
                let (large, our_large) = cell.of(what);
                let (small, our_small) = other.of(what);
                ours &= factor * our_large > our_small;
                let deviation = (factor * large.deviation).hypot(small.deviation);
                is_close |= (factor * large.mean - small.mean).abs() < cell.tolerance(deviation);
            }
            if is_close {
                too_close += 1;
            } else {
                assert_eq!(ours, theirs, "{what}: {invariant}, {clients} clients");
                same += 1;
            }
        }
    }
    assert_eq!((same, too_close), (129, 61));
}

/// With a tenth of the example's clients and capacity.
const PROCESSES: usize = 2;
const CALLS_PER_SECOND: f64 = 200.0;

/// An outage with the variant of this name.
async fn outage(name: &str) -> Outage {
    let variant = VARIANTS.iter().find(|variant| variant.name == name);
    outage::run(variant.unwrap(), PROCESSES, 1).await
}

#[tokio::test(start_paused = true)]
async fn a_simulation_with_the_same_seed_is_the_same() {
    let (_, policy) = POLICIES[3];
    assert_eq!(
        contention::run(&policy, 30, 7),
        contention::run(&policy, 30, 7)
    );
    assert_ne!(
        contention::run(&policy, 30, 7),
        contention::run(&policy, 30, 8)
    );
    for variant in &VARIANTS[4..] {
        let [first, second] = [
            outage::run(variant, 1, 7).await,
            outage::run(variant, 1, 7).await,
        ];
        assert_eq!(first.intervals, second.intervals);
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_works_again_recovers_without_retries() {
    let outage = outage("no retries").await;
    // some are under way at the end
    assert!((1.0..1.01).contains(&outage.requests_per_call()));
    assert!(outage.recovery().unwrap() < Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn retries_keep_it_down_with_or_without_jitter() {
    for name in ["retries at once", "backoff without jitter", "full jitter"] {
        let outage = outage(name).await;
        assert_eq!(outage.recovery(), None, "{name}");
        let last = outage.intervals.last().unwrap();
        assert!(last.failed > 20 * last.succeeded, "{name}: {last:?}");
        // three for each call, but for those before the outage
        let requests = outage.requests_per_call();
        assert!((2.5..3.0).contains(&requests), "{name}: {requests}");
        assert!(outage.share_of_failed() > 0.75, "{name}");
        assert!(outage.peak() > 3.0 * CALLS_PER_SECOND, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_lets_it_recover() {
    let outage = outage("full jitter, budget").await;
    assert!(outage.recovery().unwrap() < Duration::from_secs(15));
    // a fifth of the calls, and at least ten a second, which are a tenth of them
    assert!(outage.requests_per_call() < 1.3);
    assert!(outage.share_of_failed() < 0.25);
}

#[tokio::test(start_paused = true)]
async fn a_breaker_lets_it_recover_and_keeps_requests_from_it() {
    for name in ["full jitter, breaker", "full jitter, budget, breaker"] {
        let outage = outage(name).await;
        // the breaker may have opened just before, and then needs a probe
        let limit = outage::OPEN_FOR + Duration::from_secs(2);
        assert!(outage.recovery().unwrap() < limit, "{name}");
        // open once more: two rounds of ten probes for each process
        let reached = |interval: usize| outage.intervals[interval].requests as usize;
        let interval = |seconds: u64| (seconds * 1_000) as usize / INTERVAL.as_millis() as usize;
        let probes: usize = (interval(13)..interval(WORKS_AGAIN.as_secs()))
            .map(reached)
            .sum();
        assert!(probes <= 2 * 10 * PROCESSES, "{name}: {probes}");
    }
}
