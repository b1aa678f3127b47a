//! Jitter, against the figures of other systems for the same random number, and against the
//! distributions it promises.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    mem,
    sync::{Arc, Barrier},
    thread,
    time::Duration,
};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use retry_runtime::{Backoff, Jitter, Policy, retryable};
use serde_json::{Map, Value};

#[path = "figures/account.rs"]
mod account;
#[path = "figures/delays.rs"]
mod delays;

use account::{Different, Row, is_listed, one_line, same, settle};
use delays::{duration, is_random, read, unit, waits};

const CUTS: &str = "cuts the wait to whole milliseconds";
const AHEAD: &str = "its first wait is our second";
const LENGTHENS: &str = "also lengthens the wait; ours only shortens it";

/// What is not ours, and why.
const DIFFERENT: &Different = &[
    (
        CUTS,
        &[
            "cockatiel.ExponentialBackoff.halfJitter delays_ms {};u=0.999999",
            r#"cockatiel.ExponentialBackoff.halfJitter delays_ms {"initialDelay":200,"maxDelay":5000};u=0.999999"#,
            "cockatiel.ExponentialBackoff.fullJitter delays_ms {};u=0.999999",
            r#"cockatiel.ExponentialBackoff.fullJitter delays_ms {"initialDelay":200,"maxDelay":5000};u=0.999999"#,
        ],
    ),
    (AHEAD, &["aws-blog-full", "aws-blog-equal"]),
    (
        LENGTHENS,
        &[
            "spring-retry-exprandom-bounds",
            "spring7-jitter-bounds",
            "r4j-randomized",
            "r4j-exp-random-bounds",
            "tenacity-exp-jitter-bounds",
            "cenkalti-exp",
            "cenkalti-random-interval",
            "gRPC-A6-formula",
            r#"node-retry.timeouts delays_ms {"retries":7,"minTimeout":200,"maxTimeout":5000,"randomize":true};u=0"#,
            r#"node-retry.timeouts delays_ms {"retries":7,"minTimeout":200,"maxTimeout":5000,"randomize":true};u=0.5"#,
            r#"node-retry.timeouts delays_ms {"retries":7,"minTimeout":200,"maxTimeout":5000,"randomize":true};u=0.999999"#,
            "tenacity.wait_exponential_jitter delays_s initial=0.2;max=5;jitter=1;u=0",
            "tenacity.wait_exponential_jitter delays_s initial=0.2;max=5;jitter=1;u=0.25",
            "tenacity.wait_exponential_jitter delays_s initial=0.2;max=5;jitter=1;u=0.5",
            "tenacity.wait_exponential_jitter delays_s initial=0.2;max=5;jitter=1;u=0.75",
            "tenacity.wait_exponential_jitter delays_s initial=0.2;max=5;jitter=1;u=1",
        ],
    ),
    (
        "decorrelates by another formula, within the exponential wait",
        &[
            "cockatiel.ExponentialBackoff.decorrelatedJitterV2 delays_ms {};u=0",
            r#"cockatiel.ExponentialBackoff.decorrelatedJitterV2 delays_ms {"initialDelay":200,"maxDelay":5000};u=0"#,
            "cockatiel.ExponentialBackoff.decorrelatedJitterV2 delays_ms {};u=0.25",
            r#"cockatiel.ExponentialBackoff.decorrelatedJitterV2 delays_ms {"initialDelay":200,"maxDelay":5000};u=0.25"#,
            "cockatiel.ExponentialBackoff.decorrelatedJitterV2 delays_ms {};u=0.5",
            r#"cockatiel.ExponentialBackoff.decorrelatedJitterV2 delays_ms {"initialDelay":200,"maxDelay":5000};u=0.5"#,
            "cockatiel.ExponentialBackoff.decorrelatedJitterV2 delays_ms {};u=0.75",
            r#"cockatiel.ExponentialBackoff.decorrelatedJitterV2 delays_ms {"initialDelay":200,"maxDelay":5000};u=0.75"#,
            "cockatiel.ExponentialBackoff.decorrelatedJitterV2 delays_ms {};u=0.999999",
            r#"cockatiel.ExponentialBackoff.decorrelatedJitterV2 delays_ms {"initialDelay":200,"maxDelay":5000};u=0.999999"#,
            "cockatiel-generators-bound",
        ],
    ),
    ("its full jitter grows by 2^k - 1", &["envoy-full-jitter"]),
];

const DIFFERENT_PINNED: &Different = &[
    (
        CUTS,
        &[
            "failsafe-java random_in_range max=100 min=10 u=0.25",
            "failsafe-java random_in_range max=100 min=10 u=0.75",
            "failsafe-java random_in_range max=500 min=50 u=0.25",
        ],
    ),
    (
        LENGTHENS,
        &[
            "failsafe-java jitter_factor delay=100 factor=0.5 u=0",
            "failsafe-java jitter_factor delay=100 factor=0.5 u=0.25",
            "failsafe-java jitter_factor delay=100 factor=0.5 u=0.5",
            "failsafe-java jitter_factor delay=100 factor=0.5 u=0.75",
            "failsafe-java jitter_factor delay=100 factor=0.5 u=0.9999",
            "failsafe-java jitter_factor delay=500 factor=0.5 u=0.25",
            "failsafe-java jitter_factor delay=500 factor=0.5 u=0.75",
            "failsafe-java jitter_factor delay=50000 factor=0.5 u=0.25",
            "failsafe-java jitter_duration delay=100 jitter=50 u=0",
            "failsafe-java jitter_duration delay=100 jitter=50 u=0.25",
            "failsafe-java jitter_duration delay=100 jitter=50 u=0.5",
            "failsafe-java jitter_duration delay=100 jitter=50 u=0.75",
            "failsafe-java jitter_duration delay=100 jitter=50 u=0.9999",
            "failsafe-java jitter_duration delay=500 jitter=50 u=0.25",
            "failsafe-java jitter_duration delay=50000 jitter=5000 u=0.25",
            "polly-v8 constant_jitter_25pct delay_s=1 u=0.4",
            "polly-v8 constant_jitter_25pct delay_s=1 u=0.6",
            "polly-v8 constant_jitter_25pct delay_s=1 u=1",
            "polly-v8 linear_jitter_25pct attempt0=2 delay_s=1 u=0.4",
            "polly-v8 linear_jitter_25pct attempt0=2 delay_s=1 u=0.5",
            "polly-v8 linear_jitter_25pct attempt0=2 delay_s=1 u=0.6",
            "polly-v8 linear_jitter_25pct attempt0=2 delay_s=1 u=1",
            "cenkalti random_interval current=2 factor=0.5 u=0.33",
            "cenkalti random_interval current=2 factor=0.5 u=0.34",
            "cenkalti random_interval current=2 factor=0.5 u=0.66",
            "cenkalti random_interval current=2 factor=0.5 u=0.67",
            "cenkalti random_interval current=2 factor=0.5 u=0.99",
        ],
    ),
    (
        "has no jitter left at the cap",
        &[
            "polly-v8 max_delay_cap attempt0=2 delay_s=10 jitter=true max_delay_s=1 type=constant u=0.5",
            "polly-v8 max_delay_cap attempt0=2 delay_s=10 jitter=true max_delay_s=1 type=linear u=0.5",
            "where_jitter_meets_cap Spring Retry ExponentialRandom",
            "where_jitter_meets_cap Polly v8",
            "where_jitter_meets_cap tenacity wait_exponential_jitter, stamina",
            "where_jitter_meets_cap Finagle jittered backoffs",
            "where_jitter_meets_cap p-retry / node-retry",
            "where_jitter_meets_cap cockatiel decorrelated",
        ],
    ),
    (
        "what would lengthen the wait is lost at the cap",
        &[
            "where_jitter_meets_cap Reactor backoff",
            "where_jitter_meets_cap Spring Framework 7",
            "where_jitter_meets_cap resilience4j",
        ],
    ),
    (
        "may exceed the cap, or has none",
        &[
            "where_jitter_meets_cap Failsafe",
            "where_jitter_meets_cap cenkalti v4",
            "where_jitter_meets_cap gRPC A6",
            "where_jitter_meets_cap backon",
            "where_jitter_meets_cap MicroProfile FT",
        ],
    ),
    (
        "decorrelates by another formula",
        &["polly-v8/contrib decorrelated_jitter_v2"],
    ),
    (
        "samples of an unknown random number",
        &[
            "polly-docs documented_samples_ms delay_ms=1000 samples=[986,912,842,972,1007] type=constant+jitter",
            "polly-docs documented_samples_ms delay_ms=1000 samples=[393,1453,4235,5369,16849] type=exponential+jitter",
        ],
    ),
];

/// The tables of waits with jitter.
fn rows() -> impl Iterator<Item = Row> {
    delays::rows().into_iter().filter(is_random)
}

/// Ours of this meaning; all of them, if none has it.
fn jitters(row: &Row) -> Vec<Jitter> {
    let id = row.id.to_lowercase();
    let named = |name| id.contains(name);
    if named("full") || named("tenacity-random-exp") {
        vec![Jitter::Full]
    } else if named("half") || named("equal") {
        vec![Jitter::Equal]
    } else if named("decorr") {
        vec![Jitter::Decorrelated]
    } else {
        let ratio = row.input.get("factor").and_then(Value::as_f64);
        vec![
            Jitter::Full,
            Jitter::Equal,
            Jitter::Decorrelated,
            Jitter::Ratio(ratio.unwrap_or(0.2)),
        ]
    }
}

/// The random number `u`, within `0.0..=1.0`, of the whole range.
fn pinned(u: f64) -> impl Fn(u128) -> u128 {
    move |range| (u * range as f64) as u128
}

/// The waits before retries in order, each with the same random number.
fn walk(policy: &Policy, retries: impl IntoIterator<Item = u32>, u: f64) -> Vec<Duration> {
    let mut previous = None;
    let wait = |retry| {
        let wait = policy.wait_with(retry, previous, pinned(u));
        previous = Some(wait);
        wait
    };
    retries.into_iter().map(wait).collect()
}

fn durations(values: &Value, unit: &str) -> Option<Vec<Duration>> {
    let values = values.as_array()?.iter();
    values.map(|value| duration(value, unit)).collect()
}

/// The two ends of the random waits of a row, for retry 0, 1, ...
fn bounds(row: &Row) -> Option<(Vec<Duration>, Vec<Duration>)> {
    let unit = unit(&row.case);
    if row.input["random"]["bounds"] == "delay in [0,expected]" {
        let high = durations(&row.expected, unit)?;
        return Some((vec![Duration::ZERO; high.len()], high));
    }
    let pairs = row.expected.as_array()?.iter();
    let pairs = pairs.map(|pair| Some((duration(&pair[0], unit)?, duration(&pair[1], unit)?)));
    pairs.collect()
}

/// Ours and theirs for a pinned random number.
fn executed(row: &Row, policy: &Policy) -> Option<(Vec<Duration>, Vec<Duration>)> {
    let theirs = waits(row, &read(row))?.into_iter();
    let (retries, theirs): (Vec<u32>, Vec<Duration>) = theirs
        .filter_map(|(retry, wait)| Some((retry, wait?)))
        .unzip();
    Some((walk(policy, retries, row.input["u"].as_f64()?), theirs))
}

/// `Ok` if one of our jitters reproduces the row.
fn compare(row: &Row) -> Result<(), String> {
    let tried = jitters(row)
        .into_iter()
        .map(|jitter| compare_with(row, read(row).policy.jitter(jitter)));
    tried.reduce(Result::or).unwrap()
}

fn compare_with(row: &Row, policy: Policy) -> Result<(), String> {
    let unit = unit(&row.case);
    if row.input.contains_key("u") {
        let (ours, theirs) = executed(row, &policy).ok_or("words, not waits")?;
        return same(ours, theirs);
    }
    if let Value::Object(by_number) = &row.expected {
        for (number, theirs) in by_number {
            let u = number.trim_start_matches("u=").parse().unwrap();
            let theirs = durations(theirs, unit).ok_or("words, not waits")?;
            same(walk(&policy, (0..).take(theirs.len()), u), theirs)?;
        }
        return Ok(());
    }
    let about = &row.input["random"];
    if about["statistic"] == "mean" {
        let theirs = durations(&row.expected, unit).unwrap();
        let tolerances = durations(&about["eps"], unit).unwrap();
        let mut rng = StdRng::seed_from_u64(1);
        for ((retry, theirs), tolerance) in (0..).zip(theirs).zip(tolerances) {
            let samples = row.input["samples"].as_u64().unwrap();
            let total: Duration = (0..samples)
                .map(|_| policy.wait_with(retry, None, |range| rng.random_range(0..=range)))
                .sum();
            let mean = total / u32::try_from(samples).unwrap();
            if mean.abs_diff(theirs) > tolerance {
                return Err(format!("retry {retry}: mean {mean:?}, theirs {theirs:?}"));
            }
        }
        return Ok(());
    }
    if row.expected == "never NaN, never negative" {
        let (_, last) = row.input["k"].as_str().unwrap().split_once("..").unwrap();
        let retries = 0..last.parse().unwrap();
        let within = |wait: &Duration| read(row).base <= *wait && *wait <= read(row).cap;
        let sane = [0.0, 0.3, 1.0].map(|u| walk(&policy, retries.clone(), u).iter().all(within));
        return same(sane, [true; 3]);
    }
    let (low, high) = bounds(row).ok_or("words, not waits")?;
    let retries = || (0..).take(low.len());
    same(walk(&policy, retries(), 0.0), low.clone())?;
    same(walk(&policy, retries(), 1.0), high)
}

#[test]
fn waits_are_those_of_other_systems() {
    let rows = rows().map(|row| {
        let compared = compare(&row);
        (row.id, compared)
    });
    assert_eq!(settle(rows, DIFFERENT), (26, 34));
}

#[test]
fn a_system_that_cuts_waits_differs_by_less_than_a_millisecond() {
    for row in rows().filter(|row| is_listed(DIFFERENT, CUTS, &row.id)) {
        let policy = read(&row).policy.jitter(jitters(&row)[0]);
        let (ours, theirs) = executed(&row, &policy).unwrap();
        let whole = |wait: &Duration| Duration::from_millis(wait.as_millis().try_into().unwrap());
        let ours: Vec<Duration> = ours.iter().map(whole).collect();
        assert_eq!(ours, theirs, "{}", row.id);
    }
}

#[test]
fn a_system_that_is_ahead_waits_our_next_wait() {
    for row in rows().filter(|row| is_listed(DIFFERENT, AHEAD, &row.id)) {
        let policy = read(&row).policy.jitter(jitters(&row)[0]);
        let (low, high) = bounds(&row).unwrap();
        let retries = || (1..).take(low.len());
        assert_eq!(walk(&policy, retries(), 0.0), low, "{}", row.id);
        assert_eq!(walk(&policy, retries(), 1.0), high, "{}", row.id);
    }
}

/// The rows with a pinned random number: what they are about, and the row.
fn pinned_rows() -> Vec<(String, String, Map<String, Value>)> {
    let groups: Vec<Map<String, Value>> =
        serde_json::from_str(include_str!("data/jitter.json")).unwrap();
    let mut all = Vec::new();
    for group in groups {
        let text = |name: &str| group.get(name).and_then(Value::as_str).unwrap_or_default();
        let about = format!("{} {}", text("system"), text("kind"));
        let kind = text("kind").to_owned();
        match group.get("rows") {
            None => all.push((about.trim().into(), kind, Map::new())),
            Some(rows) => {
                for row in rows.as_array().unwrap() {
                    let row = row.as_object().unwrap().clone();
                    let given = row.iter().filter(|(key, _)| !key.starts_with("expected"));
                    let given = given.map(|(key, value)| (key.clone(), value.clone()));
                    let what = match row.get("system") {
                        Some(system) => system.as_str().unwrap().to_owned(),
                        None => one_line(&given.collect()),
                    };
                    let id = format!("{about} {what}");
                    all.push((id.trim().into(), kind.clone(), row));
                }
            }
        }
    }
    all
}

/// A wait of a row, in seconds if its key says so, or else in milliseconds, or in words.
fn wait(row: &Map<String, Value>, name: &str) -> Option<Duration> {
    const DAY: Duration = Duration::from_secs(86_400);
    let (value, unit) = match row.get(name) {
        Some(value) => (value, "ms"),
        None => (row.get(&format!("{name}_s"))?, "s"),
    };
    match value.as_str() {
        Some("1 day") => Some(DAY),
        Some("2 days") => Some(2 * DAY),
        Some("TimeSpan.MaxValue") => Some(LONGEST_TIME_SPAN),
        _ => duration(value, unit),
    }
}

/// `i64::MAX` ticks of 100 ns, which is as long as a wait of .NET can be.
const LONGEST_TIME_SPAN: Duration = Duration::from_nanos(i64::MAX as u64).saturating_mul(100);

fn ratio(part: Duration, whole: Duration) -> Jitter {
    Jitter::Ratio(part.as_secs_f64() / whole.as_secs_f64())
}

/// The policy of a row with a pinned number, or what it has that no policy says.
fn pinned_policy(kind: &str, row: &Map<String, Value>) -> Result<Policy, &'static str> {
    let number = |name: &str| row[name].as_f64().unwrap();
    let part = |name: &str| wait(row, name).unwrap();
    let fixed = |base: Duration| {
        Policy::new()
            .base(base)
            .cap(Duration::MAX)
            .backoff(Backoff::Fixed)
    };
    let shape = || match row["type"].as_str() {
        Some("constant") => Backoff::Fixed,
        Some("linear") => Backoff::Linear,
        Some("exponential") => Backoff::Exponential,
        shape => panic!("what is {shape:?}?"),
    };
    match kind {
        "random_in_range" => {
            let (low, high) = (part("min"), part("max"));
            Ok(fixed(high).jitter(ratio(high - low, high)))
        }
        "jitter_factor" => Ok(fixed(part("delay")).jitter(Jitter::Ratio(number("factor")))),
        "jitter_duration" => Ok(fixed(part("delay")).jitter(ratio(part("jitter"), part("delay")))),
        "random_interval" => Ok(fixed(part("current")).jitter(Jitter::Ratio(number("factor")))),
        "constant_jitter_25pct" => Ok(fixed(part("delay")).jitter(Jitter::Ratio(0.25))),
        "linear_jitter_25pct" => {
            let linear = fixed(part("delay")).backoff(Backoff::Linear);
            Ok(linear.jitter(Jitter::Ratio(0.25)))
        }
        "no_jitter" => Ok(fixed(part("delay")).backoff(shape()).jitter(Jitter::None)),
        "max_delay_cap" => {
            let jitter = match (row.get("jitter").and_then(Value::as_bool), shape()) {
                (Some(true), Backoff::Exponential) => Jitter::Decorrelated,
                (Some(true), _) => Jitter::Ratio(0.25),
                _ => Jitter::None,
            };
            let cap = wait(row, "max_delay").unwrap_or(LONGEST_TIME_SPAN);
            Ok(fixed(part("delay"))
                .backoff(shape())
                .cap(cap)
                .jitter(jitter))
        }
        "decorrelated_jitter_v2" => Err("a formula, which is not ours"),
        "documented_samples_ms" => Err("samples of an unknown random number"),
        _ => panic!("what is {kind}?"),
    }
}

/// The random number of a row; where it needs none, any.
fn number(row: &Map<String, Value>) -> f64 {
    row.get("u").map_or(0.5, |u| u.as_f64().unwrap())
}

fn compare_pinned(kind: &str, row: &Map<String, Value>) -> Result<(), String> {
    if kind == "where_jitter_meets_cap" {
        let theirs = (
            row["at_cap"].as_str().unwrap(),
            row["may_exceed_cap"].as_bool(),
        );
        return same(at_the_cap(), theirs);
    }
    let policy = pinned_policy(kind, row)?;
    if let Some(theirs) = row
        .get("expected_s")
        .and_then(|waits| durations(waits, "s"))
    {
        return same(walk(&policy, (0..).take(theirs.len()), number(row)), theirs);
    }
    same(Some(pinned_wait(&policy, row)), wait(row, "expected"))
}

fn pinned_wait(policy: &Policy, row: &Map<String, Value>) -> Duration {
    let retry = row.get("attempt0").and_then(Value::as_u64).unwrap_or(0);
    policy.wait_with(retry.try_into().unwrap(), None, pinned(number(row)))
}

const CAP: Duration = Duration::from_millis(5_000);

const JITTERS: [Jitter; 4] = [
    Jitter::Full,
    Jitter::Equal,
    Jitter::Ratio(0.2),
    Jitter::Decorrelated,
];

/// A policy that has reached its cap at the 20th retry, the wait before it included.
fn capped(jitter: Jitter) -> Policy {
    Policy::new().base_ms(200).cap(CAP).jitter(jitter)
}

/// What becomes of our jitters at the cap, and whether they may exceed it, in the words of the
/// table.
fn at_the_cap() -> (&'static str, Option<bool>) {
    let draws: [fn(u128) -> u128; 3] = [|_| 0, |range| range / 2, |range| range];
    let waits =
        JITTERS.map(|jitter| draws.map(|draw| capped(jitter).wait_with(20, Some(CAP), draw)));
    let random = waits.iter().all(|waits| waits[0] < waits[2]);
    let exceeds = waits.iter().flatten().any(|wait| *wait > CAP);
    (
        if random { "still random" } else { "constant" },
        Some(exceeds),
    )
}

#[test]
fn waits_for_a_given_random_number_are_those_of_other_systems() {
    let rows = pinned_rows().into_iter().map(|(id, kind, row)| {
        let compared = compare_pinned(&kind, &row);
        (id, compared)
    });
    assert_eq!(settle(rows, DIFFERENT_PINNED), (18, 49));
}

#[test]
fn for_a_given_random_number_a_system_that_cuts_waits_differs_by_less_than_a_millisecond() {
    for (id, kind, row) in pinned_rows() {
        if is_listed(DIFFERENT_PINNED, CUTS, &id) {
            let ours = pinned_wait(&pinned_policy(&kind, &row).unwrap(), &row);
            let theirs = wait(&row, "expected").unwrap();
            assert_eq!(ours.as_millis(), theirs.as_millis(), "{id}");
        }
    }
}

const SAMPLES: u32 = 20_000;

/// `SAMPLES` waits before a retry, in milliseconds.
fn sample(policy: &Policy, retry: u32, previous: Duration, seed: u64) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(seed);
    let draw = |_| policy.wait_with(retry, Some(previous), |range| rng.random_range(0..=range));
    let waits: Vec<Duration> = (0..SAMPLES).map(draw).collect();
    assert!(waits.iter().all(|wait| *wait <= CAP));
    waits.iter().map(|wait| wait.as_secs_f64() * 1e3).collect()
}

/// Mean and variance.
fn moments(samples: &[f64]) -> (f64, f64) {
    let number = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / number;
    let squares = samples.iter().map(|sample| (sample - mean).powi(2));
    (mean, squares.sum::<f64>() / (number - 1.0))
}

/// The jitters below the cap: each is uniform, and these are its ends in milliseconds. Retry 2 has
/// a wait of 800 ms, the one before it was 300 ms.
const UNIFORM: [(Jitter, f64, f64); 4] = [
    (Jitter::Full, 0.0, 800.0),
    (Jitter::Equal, 400.0, 800.0),
    (Jitter::Ratio(0.2), 640.0, 800.0),
    (Jitter::Decorrelated, 200.0, 900.0),
];

fn uniform(jitter: Jitter) -> Vec<f64> {
    sample(&capped(jitter), 2, Duration::from_millis(300), 2)
}

/// The mean of n uniform numbers over a width w has the standard error w / sqrt(12 n). Their
/// variance, w^2 / 12, has sqrt((m4 - variance^2) / n) with the fourth moment m4 = w^4 / 80:
/// w^2 / sqrt(180 n). Chance exceeds 5 standard errors once in 1.7 million; the seed is fixed.
#[test]
fn mean_and_spread_are_those_of_the_promised_range() {
    let number = f64::from(SAMPLES);
    for (jitter, low, high) in UNIFORM {
        let (mean, variance) = moments(&uniform(jitter));
        let width = high - low;
        let off = (mean - (low + high) / 2.0).abs();
        let allowed = 5.0 * width / (12.0 * number).sqrt();
        assert!(off < allowed, "{jitter:?}: the mean is {mean}");
        let off = (variance - width.powi(2) / 12.0).abs();
        let allowed = 5.0 * width.powi(2) / (180.0 * number).sqrt();
        assert!(off < allowed, "{jitter:?}: the variance is {variance}");
    }
}

/// Kolmogorov-Smirnov: the share of waits up to x is off the promised one by more than e for some
/// x with a probability of at most 2 exp(-2 n e^2) (Massart): for e = 2.5 / sqrt(n), once in
/// 130,000.
#[test]
fn waits_are_uniform_over_the_promised_range() {
    for (jitter, low, high) in UNIFORM {
        let mut waits = uniform(jitter);
        waits.sort_by(f64::total_cmp);
        let number = f64::from(SAMPLES);
        let off = (0..SAMPLES).zip(&waits).map(|(below, wait)| {
            let promised = (wait - low) / (high - low);
            let below = f64::from(below);
            (promised - below / number).max((below + 1.0) / number - promised)
        });
        let most = off.fold(0.0, f64::max);
        assert!(most < 2.5 / number.sqrt(), "{jitter:?}: off by {most}");
    }
}

/// With x uniform in [b, 3 p], the mean of x is (b + 3 p) / 2 and that of its square is
/// (b^2 + 3 b p + 9 p^2) / 3, so that both follow from those of p, the wait before.
#[test]
fn decorrelated_waits_grow_by_half_from_one_to_the_next() {
    const BASE: f64 = 200.0;
    let policy = Policy::new().base_ms(200).cap(Duration::MAX);
    let policy = policy.jitter(Jitter::Decorrelated);
    let mut rng = StdRng::seed_from_u64(3);
    let mut previous: Vec<Option<Duration>> = vec![None; SAMPLES.try_into().unwrap()];
    let (mut promised, mut square) = (BASE, BASE.powi(2));
    for retry in 0..6 {
        for wait in &mut previous {
            *wait = Some(policy.wait_with(retry, *wait, |range| rng.random_range(0..=range)));
        }
        square = (BASE.powi(2) + 3.0 * BASE * promised + 9.0 * square) / 3.0;
        promised = (BASE + 3.0 * promised) / 2.0;
        let waits = previous
            .iter()
            .map(|wait| wait.unwrap().as_secs_f64() * 1e3);
        let (mean, _) = moments(&waits.collect::<Vec<f64>>());
        let error = ((square - promised.powi(2)) / f64::from(SAMPLES)).sqrt();
        let off = (mean - promised).abs();
        assert!(off < 5.0 * error, "retry {retry}: {mean}, not {promised}");
    }
}

/// The waits at the cap spread as far as the narrowest of the promised ranges does: a ratio of 0.2
/// is a second of the 5, with a deviation of 289 ms.
#[test]
fn jitter_survives_at_the_cap() {
    for jitter in JITTERS {
        let waits = sample(&capped(jitter), 20, CAP, 4);
        let distinct: BTreeSet<u64> = waits.iter().map(|wait| wait.to_bits()).collect();
        let distinct = distinct.len();
        assert!(distinct > waits.len() / 4, "{jitter:?}: {distinct}");
        let deviation = moments(&waits).1.sqrt();
        assert!(deviation > 280.0, "{jitter:?}: {deviation}");
    }
}

/// At the cap, uniform(base, 3 * cap) is below the cap with probability
/// p = (cap - base) / (3 * cap - base); its share of n waits has the standard error
/// sqrt(p (1 - p) / n).
#[test]
fn a_third_of_decorrelated_waits_is_below_the_cap_once_it_is_reached() {
    let waits = sample(&capped(Jitter::Decorrelated), 20, CAP, 5);
    let below = waits.iter().filter(|wait| **wait < 5_000.0).count() as f64;
    let (number, promised) = (f64::from(SAMPLES), 4_800.0 / 14_800.0);
    let error = (promised * (1.0 - promised) / number).sqrt();
    let off = (below / number - promised).abs();
    assert!(off < 5.0 * error, "{below} of {number}");
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

fn recorded() -> Vec<Duration> {
    WAITS.with_borrow_mut(mem::take)
}

#[retryable(max = 2, base_ms = 30_000, on = "any", sleep = "record")]
fn fail() -> Result<(), ()> {
    Err(())
}

#[retryable(max = 2, base_ms = 30_000, on = "any", sleep = "record_of_a_task")]
async fn fail_in_a_task() -> Result<(), ()> {
    tokio::task::yield_now().await;
    Err(())
}

#[retryable(
    max = 12,
    base_ms = 10,
    cap_ms = 60_000,
    jitter = "decorrelated",
    on = "any",
    sleep = "record"
)]
fn fail_decorrelated() -> Result<(), ()> {
    Err(())
}

#[test]
fn each_decorrelated_wait_of_a_call_follows_from_the_one_before() {
    const BASE: Duration = Duration::from_millis(10);
    let mut longest = Duration::ZERO;
    for _ in 0..200 {
        assert_eq!(fail_decorrelated(), Err(()));
        let waits = recorded();
        assert_eq!(waits.len(), 11);
        let mut previous = BASE;
        for wait in waits {
            assert!(
                BASE <= wait && wait <= 3 * previous,
                "{wait:?} after {previous:?}"
            );
            longest = longest.max(wait);
            previous = wait;
        }
    }
    // a third of the calls get that far: that none of 200 does happens once in 10^37
    assert!(longest > Duration::from_secs(1), "{longest:?}");
}

const CALLERS: usize = 100;

fn assert_apart(waits: &[Duration]) {
    assert_eq!(waits.len(), CALLERS);
    assert!(waits.iter().all(|wait| *wait <= Duration::from_secs(30)));
    let different = waits.iter().collect::<BTreeSet<_>>().len();
    assert!(different >= 90, "{different} different waits");
}

#[test]
fn threads_that_fail_together_wait_differently() {
    let together = Arc::new(Barrier::new(CALLERS));
    let threads: Vec<_> = (0..CALLERS)
        .map(|_| {
            let together = Arc::clone(&together);
            thread::spawn(move || {
                together.wait();
                assert_eq!(fail(), Err(()));
                recorded()
            })
        })
        .collect();
    let waits = threads
        .into_iter()
        .flat_map(|thread| thread.join().unwrap());
    assert_apart(&waits.collect::<Vec<_>>());
}

#[tokio::test]
async fn tasks_that_fail_together_wait_differently() {
    let tasks: Vec<_> = (0..CALLERS)
        .map(|_| tokio::spawn(fail_in_a_task()))
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), Err(()));
    }
    assert_apart(&recorded());
}
