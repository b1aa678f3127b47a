//! Promises 8 and 9: how long a wait is.

use std::{collections::HashSet, time::Duration};

use retry_runtime::{Backoff, Jitter, Policy, retryable};

use crate::support::{Failed, Log, Seeded, distinct, fail, record};

const BASES: [Duration; 6] = [
    Duration::from_nanos(1),
    Duration::from_micros(1),
    Duration::from_millis(200),
    Duration::from_secs(3600),
    Duration::from_secs(u64::MAX / 2),
    Duration::MAX,
];

const RETRIES: [u32; 12] = [
    0,
    1,
    2,
    30,
    63,
    64,
    65,
    1023,
    1024,
    1 << 31,
    u32::MAX - 1,
    u32::MAX,
];

/// In whole numbers, and by repeated addition and multiplication.
fn by_the_formula(backoff: Backoff, base: u128, factor: u128, retry: u32) -> u128 {
    let repeat = |step: &dyn Fn((u128, u128)) -> (u128, u128)| {
        let start = (base, base);
        (0..retry).fold(start, |pair, _| step(pair)).0
    };
    match backoff {
        Backoff::Exponential => repeat(&|(wait, _)| (wait * factor, 0)),
        Backoff::Linear => repeat(&|(wait, _)| (wait + base, 0)),
        Backoff::Fibonacci => repeat(&|(wait, next)| (next, wait + next)),
        Backoff::Fixed => base,
        _ => 0,
    }
}

/// Promise 8
#[test]
fn the_wait_before_retry_k_follows_the_formula() {
    for backoff in [
        Backoff::Exponential,
        Backoff::Linear,
        Backoff::Fibonacci,
        Backoff::Fixed,
        Backoff::None,
    ] {
        for (base, factor) in [(1, 2_u32), (200, 2), (250, 3), (7, 10), (1, 1)] {
            let policy = Policy::new()
                .base_ms(base)
                .factor(f64::from(factor))
                .backoff(backoff)
                .cap(Duration::MAX);
            for retry in 0..18 {
                let expected = by_the_formula(backoff, base.into(), factor.into(), retry);
                let wait = policy.ceiling(retry).as_millis();
                assert_eq!(wait, expected, "{backoff:?} {base} {factor} {retry}");
                let capped = policy.cap_ms(1000).ceiling(retry).as_millis();
                assert_eq!(capped, expected.min(1000));
            }
        }
    }
}

#[retryable(max = 7, base_ms = 10, jitter = "none", sleep = record)]
fn exponential() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 7, base_ms = 10, factor = 1.5, jitter = "none", sleep = record)]
fn by_one_and_a_half() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 7, base_ms = 10, backoff = "linear", jitter = "none", sleep = record)]
fn linear() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 7, base_ms = 10, backoff = "fibonacci", jitter = "none", sleep = record)]
fn fibonacci() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 7, base_ms = 10, backoff = "fixed", jitter = "none", sleep = record)]
fn fixed() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 7, backoff = "none", sleep = record)]
fn none() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 7, delays_ms = [5, 80, 20], jitter = "none", sleep = record)]
fn delays() -> Result<u32, Failed> {
    fail()
}

#[retryable(max = 7, base_ms = 10, cap_ms = 45, backoff = "linear", jitter = 0.0, sleep = record)]
fn capped() -> Result<u32, Failed> {
    fail()
}

/// Promise 8
#[test]
fn each_shape_waits_as_the_table_of_keys_says() {
    type Retried = fn() -> Result<u32, Failed>;
    let micros: [(Retried, [u128; 6]); 8] = [
        (
            exponential,
            [10_000, 20_000, 40_000, 80_000, 160_000, 320_000],
        ),
        (
            by_one_and_a_half,
            [10_000, 15_000, 22_500, 33_750, 50_625, 75_937],
        ),
        (linear, [10_000, 20_000, 30_000, 40_000, 50_000, 60_000]),
        (fibonacci, [10_000, 10_000, 20_000, 30_000, 50_000, 80_000]),
        (fixed, [10_000; 6]),
        (none, [0; 6]),
        (delays, [5_000, 80_000, 20_000, 20_000, 20_000, 20_000]),
        (capped, [10_000, 20_000, 30_000, 40_000, 45_000, 45_000]),
    ];
    for (retried, expected) in micros {
        let log = Log::start();
        assert!(retried().is_err());
        let waits: Vec<u128> = log.waits().iter().map(Duration::as_micros).collect();
        assert_eq!(waits, expected);
    }
}

/// Promise 8
#[test]
fn waits_saturate_for_every_base_and_every_retry() {
    for backoff in [
        Backoff::Exponential,
        Backoff::Linear,
        Backoff::Fibonacci,
        Backoff::Fixed,
    ] {
        for base in BASES {
            for factor in [1.0, 1.000_000_1, 2.0, 1e9, f64::MAX, f64::INFINITY] {
                let policy = Policy::new().base(base).factor(factor).backoff(backoff);
                let unlimited = policy.cap(Duration::MAX);
                let waits = RETRIES.map(|retry| unlimited.ceiling(retry));
                assert!(waits.is_sorted(), "{backoff:?} {base:?} {factor}");
                assert_eq!(waits[0], base);
                for (retry, wait) in RETRIES.into_iter().zip(waits) {
                    let cap = Duration::from_secs(30);
                    assert_eq!(policy.cap(cap).ceiling(retry), wait.min(cap));
                }
            }
        }
    }
}

/// Promise 8
#[test]
fn no_wait_exceeds_the_cap_and_jitter_survives_at_it() {
    let mut random = Seeded(8);
    for jitter in [
        Jitter::Full,
        Jitter::Equal,
        Jitter::Decorrelated,
        Jitter::Ratio(0.01),
        Jitter::Ratio(1.0),
    ] {
        for (base, cap) in [(200, 30_000), (30_000, 30_000), (1, 1), (1000, 10)] {
            let policy = Policy::new().base_ms(base).cap_ms(cap).jitter(jitter);
            let cap = Duration::from_millis(cap);
            for retry in RETRIES {
                let mut sample = || {
                    let wait = policy.wait_with(retry, Some(cap), |highest| random.draw(highest));
                    assert!(wait <= cap, "{jitter:?} {base} {cap:?} {retry}: {wait:?}");
                    wait
                };
                let waits: Vec<Duration> = (0..50).map(|_| sample()).collect();
                // with the base at the cap, `min(cap, uniform(base, ..))` is the cap
                if jitter != Jitter::Decorrelated || policy.ceiling(0) < cap {
                    assert!(distinct(&waits) > 1, "{jitter:?} {base} {cap:?} {retry}");
                }
            }
        }
    }
}

/// Promise 8
#[test]
fn jitter_only_shortens() {
    let mut random = Seeded(88);
    for retry in 0..20 {
        let plain = Policy::new().ceiling(retry);
        for (jitter, least) in [
            (Jitter::Full, 0),
            (Jitter::Equal, 500),
            (Jitter::Ratio(0.25), 750),
            (Jitter::Ratio(0.0), 1000),
            (Jitter::None, 1000),
        ] {
            let policy = Policy::new().jitter(jitter);
            let range = plain * least / 1000..=plain;
            assert_eq!(policy.wait_with(retry, None, |_| 0), *range.start());
            assert_eq!(policy.wait_with(retry, None, |highest| highest), plain);
            for _ in 0..50 {
                let wait = policy.wait_with(retry, None, |highest| random.draw(highest));
                assert!(range.contains(&wait));
            }
        }
    }
}

#[retryable(max = 40, base_ms = 100, cap_ms = 5000, jitter = "decorrelated", sleep = record)]
fn decorrelated() -> Result<u32, Failed> {
    fail()
}

/// Promise 8
#[test]
fn decorrelated_waits_lie_between_the_base_and_three_times_the_previous_wait() {
    let mut longest = Duration::ZERO;
    for _ in 0..50 {
        let log = Log::start();
        assert!(decorrelated().is_err());
        let (base, cap) = (Duration::from_millis(100), Duration::from_secs(5));
        let mut previous = base;
        for wait in log.waits() {
            assert!((base..=cap.min(3 * previous)).contains(&wait));
            longest = longest.max(wait);
            previous = wait;
        }
    }
    assert_eq!(
        longest,
        Duration::from_secs(5),
        "no wait has grown to the cap"
    );
}

#[retryable(base_ms = base_ms, cap_ms = cap_ms, factor = factor, sleep = record)]
fn computed(base_ms: u64, cap_ms: u64, factor: f64) -> Result<u32, Failed> {
    fail()
}

/// Promise 8: apart from the jitter's draw, which may come out at nothing.
#[test]
fn no_ceiling_is_zero_unless_that_is_asked_for() {
    for base in BASES {
        for retry in RETRIES {
            assert!(!Policy::new().base(base).ceiling(retry).is_zero());
        }
    }
    assert!(!Policy::new().cap(Duration::ZERO).ceiling(0).is_zero());
    for (base_ms, cap_ms, factor) in [(1, 0, 0.0), (1, 1, -1.0), (u64::MAX, u64::MAX, f64::NAN)] {
        let log = Log::start();
        assert!(computed(base_ms, cap_ms, factor).is_err());
        assert!(log.waits().iter().any(|wait| !wait.is_zero()));
    }
}

/// Promise 9
#[test]
fn simultaneous_callers_get_different_waits() {
    let one_call = || {
        let log = Log::start();
        assert!(decorrelated().is_err());
        log.waits()
    };
    let threads: Vec<_> = (0..16).map(|_| std::thread::spawn(one_call)).collect();
    let sequences: HashSet<Vec<Duration>> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    assert_eq!(sequences.len(), 16);
}
