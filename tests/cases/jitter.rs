//! Jitter that breaks its bounds, gets lost, or is the same for everybody.

use std::{collections::HashSet, time::Duration};

use retry_runtime::{Jitter, Policy, retryable};

use crate::support::{
    Failed, Log, Seeded, distinct, fail, record, record_async, standard_deviation,
};

const EVERY_JITTER: [Jitter; 5] = [
    Jitter::Full,
    Jitter::Equal,
    Jitter::Decorrelated,
    Jitter::Ratio(0.2),
    Jitter::Ratio(1.0),
];

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The waits of `calls` calls.
fn sample(calls: usize, mut call: impl FnMut() -> Result<u32, Failed>) -> Vec<Duration> {
    let log = Log::start();
    for _ in 0..calls {
        assert!(call().is_err());
    }
    log.waits()
}

#[retryable(base_ms = 500, cap_ms = 500, sleep = record)]
fn at_the_cap() -> Result<u32, Failed> {
    fail()
}

#[retryable(base_ms = 500, cap_ms = 500, jitter = "decorrelated", sleep = record)]
fn decorrelated_at_the_cap() -> Result<u32, Failed> {
    fail()
}

/// C017, langchain-ai/langgraph#7554
#[test]
fn jitter_does_not_lengthen_a_wait_beyond_the_cap() {
    let waits = sample(500, at_the_cap);
    assert_eq!(waits.len(), 1000);
    assert!(waits.iter().all(|wait| *wait <= ms(500)));
    let waits = sample(500, decorrelated_at_the_cap);
    assert!(waits.iter().all(|wait| *wait <= ms(500)));

    for jitter in EVERY_JITTER {
        let policy = Policy::new().base_ms(500).cap_ms(500).jitter(jitter);
        for retry in [0, 1, 2, 100, u32::MAX] {
            for previous in [
                None,
                Some(Duration::ZERO),
                Some(ms(500)),
                Some(Duration::MAX),
            ] {
                let highest = policy.wait_with(retry, previous, |_| u128::MAX);
                assert_eq!(highest, ms(500), "{jitter:?} {retry} {previous:?}");
            }
        }
    }
}

#[retryable(max = 12, cap_ms = 180_000, sleep = record)]
fn three_minutes() -> Result<u32, Failed> {
    fail()
}

/// C018, oxidecomputer/omicron#3202
#[test]
fn the_cap_is_the_longest_wait_not_the_middle_of_it() {
    let waits = sample(100, three_minutes);
    assert!(waits.iter().all(|wait| *wait <= ms(180_000)));
    assert!(waits.iter().any(|wait| *wait > ms(90_000)));
    let default = Policy::new().cap_ms(180_000);
    assert_eq!(default.wait_with(20, None, |highest| highest), ms(180_000));
}

#[retryable(max = 9, base_ms = 50, factor = 2, cap_ms = 3000, sleep = record)]
fn fifty_to_three_thousand() -> Result<u32, Failed> {
    fail()
}

/// C019, spring-attic/spring-retry#126
#[test]
fn jitter_gives_less_than_the_plain_wait_and_never_more() {
    let plain = [50, 100, 200, 400, 800, 1600, 3000, 3000].map(ms);
    let waits = sample(200, fifty_to_three_thousand);
    for call in waits.chunks_exact(8) {
        assert!(call.iter().zip(plain).all(|(wait, plain)| *wait <= plain));
    }
    let below = waits
        .chunks_exact(8)
        .flat_map(|call| call.iter().zip(plain))
        .filter(|(wait, plain)| *wait < plain)
        .count();
    assert!(below > 1500, "{below} of 1600");
}

#[retryable(max = 101, base_ms = 2000, backoff = "fixed", sleep = record)]
fn fixed() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 101, base_ms = 2000, factor = 1, jitter = "equal", sleep = record)]
fn factor_one() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 101, delays_ms = [2000], jitter = 0.3, sleep = record)]
fn listed() -> Result<u32, Failed> {
    fail()
}

/// C020, spring-attic/spring-retry#391
#[test]
fn a_wait_that_does_not_grow_is_jittered_too() {
    for call in [fixed, factor_one, listed] {
        let waits = sample(1, call);
        assert_eq!(waits.len(), 100);
        assert!(distinct(&waits) > 90);
    }
}

mod config {
    pub const RATIO: f64 = 0.5;
    pub const JITTER: retry_runtime::Jitter = retry_runtime::Jitter::Ratio(0.5);
}

struct Config {
    ratio: f64,
    narrow: f32,
    jitter: Jitter,
}

impl Config {
    const RATIO: f64 = 0.5;

    #[retryable(max = 501, backoff = "fixed", jitter = self.ratio, sleep = record)]
    fn by_field(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 501, backoff = "fixed", jitter = self.narrow, sleep = record)]
    fn by_narrow_field(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 501, backoff = "fixed", jitter = self.jitter, sleep = record)]
    fn by_named_jitter(&self) -> Result<u32, Failed> {
        fail()
    }

    #[retryable(max = 501, backoff = "fixed", jitter = Self::RATIO, sleep = record)]
    fn by_associated_constant(&self) -> Result<u32, Failed> {
        fail()
    }
}

#[retryable(max = 501, backoff = "fixed", jitter = 0.5, sleep = record)]
fn by_literal() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 501, backoff = "fixed", jitter = config::RATIO, sleep = record)]
fn by_constant() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 501, backoff = "fixed", jitter = config::JITTER, sleep = record)]
fn by_named_constant() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 501, backoff = "fixed", jitter = ratio, sleep = record_async)]
async fn by_argument(ratio: f64) -> Result<u32, Failed> {
    fail()
}

/// C021, spring-attic/spring-retry#427
#[tokio::test]
async fn jitter_is_the_same_wherever_its_value_comes_from() {
    let config = Config {
        ratio: Config::RATIO,
        narrow: 0.5,
        jitter: Jitter::Ratio(0.5),
    };
    let mut samples = vec![
        ("literal", sample(1, by_literal)),
        ("constant", sample(1, by_constant)),
        ("named constant", sample(1, by_named_constant)),
        ("field", sample(1, || config.by_field())),
        ("narrow field", sample(1, || config.by_narrow_field())),
        ("named jitter", sample(1, || config.by_named_jitter())),
        ("associated", sample(1, || config.by_associated_constant())),
    ];
    let log = Log::start();
    assert!(by_argument(0.5).await.is_err());
    samples.push(("argument", log.waits()));

    for (source, waits) in samples {
        assert_eq!(waits.len(), 500, "{source}");
        let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
        assert!((ms(100)..ms(110)).contains(least), "{source}: {least:?}");
        assert!((ms(190)..=ms(200)).contains(most), "{source}: {most:?}");
    }
}

/// C022, ferd/backoff#8
#[test]
fn callers_at_the_cap_do_not_wait_the_same_time() {
    let cap = ms(30_000);
    let mut random = Seeded(8);
    for jitter in EVERY_JITTER {
        let policy = Policy::new().cap(cap).jitter(jitter);
        let callers: Vec<Duration> = (0..100)
            .map(|_| policy.wait_with(50, Some(cap), |highest| random.draw(highest)))
            .collect();
        let spread = standard_deviation(&callers);
        assert!(spread > 1.0, "{jitter:?}: {spread} s");
    }
}

#[retryable(max = 20, base_ms = base_ms, cap_ms = 100, jitter = ratio, sleep = record)]
fn beyond_all_bounds(base_ms: i64, ratio: f64) -> Result<u32, Failed> {
    fail()
}

/// C024, career-ops-hq/career-ops#2520
#[test]
fn a_jitter_above_the_wait_neither_panics_nor_goes_below_zero() {
    for ratio in [2.5, f64::INFINITY, 1.0, 0.0, -1.0, f64::NAN] {
        let waits = sample(20, || beyond_all_bounds(250, ratio));
        assert_eq!(waits.len(), 380);
        assert!(waits.iter().all(|wait| *wait <= ms(100)), "{ratio}");
    }
    let unjittered = sample(1, || beyond_all_bounds(250, f64::NAN));
    assert_eq!(unjittered, [ms(100); 19]);
}

#[retryable(max = 2, base_ms = 30_000, sleep = record)]
fn one_retry() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 2, base_ms = 30_000, sleep = record_async)]
async fn one_async_retry() -> Result<u32, Failed> {
    fail()
}

/// C025, gabrielkoerich/orch#1961
#[test]
fn threads_that_fail_together_wait_different_times() {
    let first_wait = || sample(1, one_retry)[0];
    let threads: Vec<_> = (0..100).map(|_| std::thread::spawn(first_wait)).collect();
    let waits: HashSet<Duration> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    assert!(waits.len() >= 90, "{} distinct", waits.len());
}

/// C025, gabrielkoerich/orch#1961
#[tokio::test]
async fn tasks_that_fail_together_wait_different_times() {
    let log = Log::start();
    let tasks: Vec<_> = (0..100).map(|_| tokio::spawn(one_async_retry())).collect();
    for task in tasks {
        assert!(task.await.unwrap().is_err());
    }
    assert_eq!(log.waits().len(), 100);
    assert!(distinct(&log.waits()) >= 90);
}

#[retryable(max = 1001, backoff = "fixed", base_ms = 200, jitter = 0.5, sleep = record)]
fn between_100_and_200() -> Result<u32, Failed> {
    fail()
}

/// C026, failsafe-lib/failsafe#216
#[test]
fn jitter_is_spread_over_its_whole_range() {
    let waits = sample(1, between_100_and_200);
    assert_eq!(waits.len(), 1000);
    assert!(waits.iter().all(|wait| (ms(100)..=ms(200)).contains(wait)));
    assert!(waits.iter().min() < Some(&ms(120)));
    assert!(waits.iter().max() > Some(&ms(180)));
}
