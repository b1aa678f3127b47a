//! What holds for every policy, retry and random number.
//!
//! The cases are the same in each run. `PROPTEST_RNG_SEED=7` tries others, `PROPTEST_CASES=10000`
//! more. CI also runs this file in release, where integers overflow without a panic.

use std::{
    cell::{Cell, RefCell},
    mem,
    time::Duration,
};

use proptest::{
    num,
    prelude::{
        Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
    },
    test_runner::RngSeed,
};
use retry_runtime::{Backoff, Decision, Jitter, Policy, PolicyError, retryable};

fn config() -> ProptestConfig {
    let given = ProptestConfig::default();
    ProptestConfig {
        cases: given.cases.saturating_mul(2),
        rng_seed: match given.rng_seed {
            RngSeed::Random => RngSeed::Fixed(0),
            seed => seed,
        },
        failure_persistence: None,
        ..given
    }
}

/// The parts of a policy, each of them in or out of range.
#[derive(Clone, Copy, Debug)]
struct Parts {
    max: Option<u32>,
    base: Duration,
    factor: f64,
    shape: Backoff,
    cap: Duration,
    jitter: Jitter,
}

impl Parts {
    fn policy(&self) -> Policy {
        let policy = match self.max {
            Some(max) => Policy::new().max(max),
            None => Policy::new().unlimited(),
        };
        policy
            .base(self.base)
            .factor(self.factor)
            .backoff(self.shape)
            .cap(self.cap)
            .jitter(self.jitter)
    }

    /// The cap in effect.
    fn longest(&self) -> Duration {
        if self.cap.is_zero() {
            Duration::from_millis(1)
        } else {
            self.cap
        }
    }
}

/// The number within the range that is nearest to it; for NaN, the lowest.
fn nearest(number: f64, lowest: f64, highest: f64) -> f64 {
    if number >= lowest {
        number.min(highest)
    } else {
        lowest
    }
}

fn parts() -> impl Strategy<Value = Parts> {
    let times = (durations(), factors(), shapes(), durations());
    (maxima(), times, jitters()).prop_map(|(max, (base, factor, shape, cap), jitter)| Parts {
        max,
        base,
        factor,
        shape,
        cap,
        jitter,
    })
}

/// Waits of every size, the ends of the type, and the usual ones.
fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        1 => Just(Duration::ZERO),
        1 => Just(Duration::MAX),
        2 => (1..1_000_u64).prop_map(Duration::from_nanos),
        4 => (1..100_000_u64).prop_map(Duration::from_millis),
        2 => any::<u64>().prop_map(Duration::from_nanos),
        2 => (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(s, ns)| Duration::new(s, ns)),
    ]
}

/// A number of up to so many bits, the small ones as likely as the large.
fn any_size(bits: u32) -> impl Strategy<Value = u64> {
    (any::<u64>(), 1..=bits).prop_map(|(number, bits)| number >> (64 - bits))
}

/// The float this number of steps above 1.
fn just_above_1(steps: u64) -> f64 {
    f64::from_bits(1.0_f64.to_bits() + steps)
}

fn factors() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 1.0..10.0,
        4 => (0..1_000_u64).prop_map(just_above_1),
        2 => (-15.0..0.0).prop_map(|exponent: f64| 1.0 + 10.0_f64.powf(exponent)),
        2 => Just(2.0),
        // NaN, infinities, negative and subnormal ones
        4 => num::f64::ANY,
    ]
}

/// Shapes that grow or stay.
fn growing() -> impl Strategy<Value = Backoff> {
    prop_oneof![
        3 => Just(Backoff::Exponential),
        1 => Just(Backoff::Linear),
        1 => Just(Backoff::Fibonacci),
        1 => Just(Backoff::Fixed),
        1 => Just(Backoff::None),
    ]
}

fn lists() -> impl Strategy<Value = Backoff> {
    let entries = prop_oneof![0..100_000_u64, any::<u64>()];
    proptest::collection::vec(entries, 0..5).prop_map(|list| Backoff::Delays(list.leak()))
}

fn shapes() -> impl Strategy<Value = Backoff> {
    prop_oneof![6 => growing(), 1 => lists()]
}

fn jitters() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        Just(Jitter::Full),
        Just(Jitter::Equal),
        Just(Jitter::Decorrelated),
        Just(Jitter::None),
        (0.0..=1.0).prop_map(Jitter::Ratio),
        num::f64::ANY.prop_map(Jitter::Ratio),
    ]
}

fn maxima() -> impl Strategy<Value = Option<u32>> {
    proptest::option::of(prop_oneof![0..10_u32, 0..200_u32, any::<u32>()])
}

fn retries() -> impl Strategy<Value = u32> {
    prop_oneof![
        0..200_u32,
        any::<u32>(),
        (0..32_u32, 0..3_u32)
            .prop_map(|(bit, next)| (1_u32 << bit).wrapping_sub(1).saturating_add(next)),
        (0..3_u32).prop_map(|below| u32::MAX - below),
    ]
}

/// A random number: within the range asked for, or whatever comes.
#[derive(Clone, Copy, Debug)]
enum Draw {
    Within(u128),
    Any(u128),
}

impl Draw {
    fn number(self, range: u128) -> u128 {
        match self {
            Self::Within(number) => range.checked_add(1).map_or(number, |range| number % range),
            Self::Any(number) => number,
        }
    }
}

fn draws() -> impl Strategy<Value = Draw> {
    prop_oneof![
        Just(Draw::Any(0)),
        Just(Draw::Any(u128::MAX)),
        any::<u128>().prop_map(Draw::Any),
        any::<u128>().prop_map(Draw::Within),
    ]
}

fn previous() -> impl Strategy<Value = Option<Duration>> {
    proptest::option::of(durations())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_wait_exceeds_the_cap(
        parts in parts(), retry in retries(), previous in previous(), draw in draws(),
    ) {
        let policy = parts.policy();
        prop_assert!(policy.ceiling(retry) <= parts.longest());
        let wait = policy.wait_with(retry, previous, |range| draw.number(range));
        prop_assert!(wait <= parts.longest(), "{:?}", wait);
    }

    #[test]
    fn the_ceiling_never_decreases(
        parts in parts(), shape in growing(), retry in retries(), later in retries(),
    ) {
        let policy = Parts { shape, ..parts }.policy();
        let (first, last) = (retry.min(later), retry.max(later));
        let next = first.saturating_add(1);
        prop_assert!(policy.ceiling(first) <= policy.ceiling(next));
        prop_assert!(policy.ceiling(first) <= policy.ceiling(last));
    }

    /// Where a wait hardly grows from one retry to the next, an error in the last bit shows, and
    /// most where their binary numbers have little in common: a carry through many ones.
    #[test]
    fn the_ceiling_never_decreases_for_factors_just_above_1(
        base in any_size(64), steps in any_size(36), retry in any::<u32>(), ones in 0..32_u32,
    ) {
        let policy = Policy::new().base(Duration::from_secs(base)).cap(Duration::MAX);
        let policy = policy.factor(just_above_1(steps));
        let retry = retry | ((1 << ones) - 1);
        prop_assert!(policy.ceiling(retry) <= policy.ceiling(retry.saturating_add(1)));
    }

    #[test]
    fn the_first_ceiling_is_the_base_within_the_cap(parts in parts(), shape in growing()) {
        let first = Parts { shape, ..parts }.policy().ceiling(0);
        let base = if shape == Backoff::None { Duration::ZERO } else { parts.base };
        prop_assert_eq!(first, base.min(parts.longest()));
    }

    #[test]
    fn the_ceiling_is_zero_only_if_asked_for(
        parts in parts(), shape in growing(), retry in retries(),
    ) {
        let zero = Parts { shape, ..parts }.policy().ceiling(retry).is_zero();
        prop_assert_eq!(zero, parts.base.is_zero() || shape == Backoff::None);
    }

    #[test]
    fn a_list_of_delays_is_taken_as_written_and_its_last_entry_repeats(
        parts in parts(), list in proptest::collection::vec(any::<u64>(), 1..5), retry in retries(),
    ) {
        let list: &'static [u64] = list.leak();
        let policy = Parts { shape: Backoff::Delays(list), ..parts }.policy();
        let nth = usize::try_from(retry).unwrap().min(list.len() - 1);
        let entry = Duration::from_millis(list[nth]);
        prop_assert_eq!(policy.ceiling(retry), entry.min(parts.longest()));
    }

    /// Against integers: `base * (eighths / 8)^retry`. A factor of eighths is exact in a float.
    #[test]
    fn exponential_waits_are_exact_to_the_nearest_nanosecond(
        base in 0..1_u64 << 40, eighths in 8..=80_u32, retry in 0..=8_u32,
    ) {
        let policy = Policy::new().base(Duration::from_nanos(base)).cap(Duration::MAX);
        let ours = policy.factor(f64::from(eighths) / 8.0).ceiling(retry).as_nanos();
        let exact = u128::from(base) * u128::from(eighths).pow(retry);
        let divisor = 8_u128.pow(retry);
        prop_assert!((ours * divisor).abs_diff(exact) * 2 <= divisor, "{} ns", ours);
    }

    #[test]
    fn jitter_never_lengthens(
        parts in parts(), retry in retries(), previous in previous(), draw in draws(),
    ) {
        let policy = parts.policy();
        let ceiling = policy.ceiling(retry);
        let wait = policy.wait_with(retry, previous, |range| draw.number(range));
        if parts.jitter != Jitter::Decorrelated {
            prop_assert!(wait <= ceiling, "{:?} > {:?}", wait, ceiling);
        }
    }

    #[test]
    fn jitter_keeps_to_its_range_and_reaches_both_ends(
        parts in parts(), retry in retries(), previous in previous(), draw in draws(),
    ) {
        let policy = parts.policy();
        let ceiling = policy.ceiling(retry);
        let wait = |draw: Draw| policy.wait_with(retry, previous, |range| draw.number(range));
        let (low, some, high) = (wait(Draw::Any(0)), wait(draw), wait(Draw::Any(u128::MAX)));
        prop_assert!(low <= some && some <= high);
        let nanos = |share: f64| ceiling.as_nanos() as f64 * share;
        match parts.jitter {
            _ if ceiling.is_zero() => prop_assert_eq!((low, high), (ceiling, ceiling)),
            Jitter::None => prop_assert_eq!((low, high), (ceiling, ceiling)),
            Jitter::Full => prop_assert_eq!((low, high), (Duration::ZERO, ceiling)),
            Jitter::Equal => prop_assert_eq!((low, high), (ceiling / 2, ceiling)),
            Jitter::Ratio(ratio) => {
                prop_assert_eq!(high, ceiling);
                let promised = nanos(1.0 - nearest(ratio, 0.0, 1.0));
                // to the precision of the ratio itself
                let off = (low.as_nanos() as f64 - promised).abs();
                prop_assert!(off <= 1.0 + nanos(2.0 * f64::EPSILON), "off by {} ns", off);
            }
            Jitter::Decorrelated => {
                let longest = parts.longest();
                let previous = previous.unwrap_or(parts.base);
                prop_assert_eq!(low, parts.base.min(longest));
                let promised = previous.saturating_mul(3).max(parts.base);
                prop_assert_eq!(high, promised.min(longest));
            }
            _ => prop_assert!(false, "a jitter without a promise"),
        }
    }

    #[test]
    fn the_total_wait_is_the_sum_of_the_ceilings(parts in parts(), max in 1..300_u32) {
        let policy = parts.policy().max(max).jitter(Jitter::None);
        let sum = (0..max - 1).map(|retry| policy.ceiling(retry).as_nanos()).sum::<u128>();
        let total = policy.total_wait().unwrap();
        prop_assert_eq!(total.as_nanos(), sum.min(Duration::MAX.as_nanos()));
        prop_assert_eq!(policy.unlimited().total_wait(), None);
    }

    /// Against waits of which each draws the most.
    #[test]
    fn no_waits_are_longer_than_the_total(
        parts in parts(), shape in growing(), max in 1..300_u32, draw in draws(),
    ) {
        let policy = Parts { shape, ..parts }.policy().max(max);
        let drawn = |draw: Draw| {
            let (mut sum, mut previous) = (0, None);
            for retry in 0..max - 1 {
                let wait = policy.wait_with(retry, previous, |range| draw.number(range));
                sum += wait.as_nanos();
                previous = Some(wait);
            }
            sum.min(Duration::MAX.as_nanos())
        };
        let total = policy.total_wait().unwrap().as_nanos();
        prop_assert_eq!(drawn(Draw::Any(u128::MAX)), total);
        prop_assert!(drawn(draw) <= total);
    }

    #[test]
    fn a_policy_is_valid_if_its_parts_are_within_the_documented_ranges(parts in parts()) {
        let Parts { max, base, factor, shape, cap, jitter } = parts;
        let uses_base = !matches!(shape, Backoff::None | Backoff::Delays(_));
        let too_long = |ms: &u64| Duration::from_millis(*ms) > cap;
        let broken = [
            max == Some(0),
            !(1.0..f64::INFINITY).contains(&factor),
            cap.is_zero(),
            uses_base && base > cap,
            matches!(shape, Backoff::Delays([])),
            matches!(shape, Backoff::Delays(list) if list.iter().any(too_long)),
            matches!(jitter, Jitter::Ratio(ratio) if !(0.0..=1.0).contains(&ratio)),
            matches!((shape, jitter), (Backoff::Delays(_), Jitter::Decorrelated)),
        ];
        let rule = |error| match error {
            PolicyError::MaxIsZero => 0,
            PolicyError::FactorOutOfRange(_) => 1,
            PolicyError::CapIsZero => 2,
            PolicyError::BaseAboveCap { .. } => 3,
            PolicyError::DelaysAreEmpty => 4,
            PolicyError::DelayAboveCap { .. } => 5,
            PolicyError::JitterOutOfRange(_) => 6,
            PolicyError::DelaysAreDecorrelated => 7,
            _ => usize::MAX,
        };
        // the first of them is the one that is reported
        let reported = parts.policy().validate().err().map(rule);
        prop_assert_eq!(reported, broken.iter().position(|broken| *broken));
    }

    #[test]
    fn a_value_out_of_range_counts_as_the_nearest_allowed(
        parts in parts(), shape in growing(), retry in retries(), previous in previous(),
        draw in draws(),
    ) {
        let parts = Parts { shape, ..parts };
        let nearest = Parts {
            max: parts.max.map(|max| max.max(1)),
            factor: nearest(parts.factor, 1.0, f64::MAX),
            cap: parts.longest(),
            base: parts.base.min(parts.longest()),
            jitter: match parts.jitter {
                Jitter::Ratio(ratio) => Jitter::Ratio(nearest(ratio, 0.0, 1.0)),
                jitter => jitter,
            },
            shape,
        };
        prop_assert!(nearest.policy().validate().is_ok());
        prop_assert_eq!(parts.policy().max_calls(), nearest.policy().max_calls());
        let waits = [parts, nearest].map(|parts| {
            let policy = parts.policy();
            (policy.ceiling(retry), policy.wait_with(retry, previous, |range| draw.number(range)))
        });
        prop_assert_eq!(waits[0], waits[1]);
    }

    #[test]
    fn a_call_is_made_for_each_failure_and_the_success_up_to_the_maximum(
        max in maxima(), failures in 0..200_u32, jitter in jitters(),
    ) {
        let policy = Policy::new().backoff(Backoff::None).jitter(jitter);
        let policy = max.map_or(policy.unlimited(), |max| policy.max(max));
        let mut calls = 0;
        let outcome = policy.on(|_: &u32| true).retry(|| {
            calls += 1;
            if calls <= failures { Err(calls) } else { Ok(calls) }
        });
        let most = max.map_or(u32::MAX, |max| max.max(1));
        prop_assert_eq!(calls, most.min(failures + 1));
        // the last outcome, untouched
        prop_assert_eq!(outcome, if failures < most { Ok(calls) } else { Err(calls) });
    }

    /// Against a loop that knows nothing of our code.
    #[test]
    fn each_decision_has_its_effect(
        max in 1..8_u32, wanted in proptest::collection::vec(decisions(), 1..8),
    ) {
        let calls = Cell::new(0);
        let failed = fail_with(max, &wanted, &calls);
        let waits = WAITS.with_borrow_mut(mem::take);

        let mut expected = Vec::new();
        let mut last = None;
        for (retry, &decision) in (0..max).zip(wanted.iter().cycle()) {
            last = Some(decision);
            let computed = POLICY.ceiling(retry);
            let wait = match decision {
                Decision::Stop => break,
                Decision::Retry => computed,
                Decision::RetryNow => Duration::ZERO,
                Decision::RetryAfter(hint) if hint > HINT_CAP => break,
                Decision::RetryAfter(hint) => hint.max(computed),
            };
            if retry + 1 < max {
                expected.push(wait);
            }
        }
        prop_assert_eq!(usize::try_from(calls.get()).unwrap(), expected.len() + 1);
        prop_assert_eq!(failed.err(), last);
        // nobody is asked to sleep for no time
        expected.retain(|wait| !wait.is_zero());
        prop_assert_eq!(waits, expected);
    }
}

const HINT_CAP: Duration = Duration::from_secs(2);

const POLICY: Policy = Policy::new()
    .base_ms(100)
    .cap_ms(1_000)
    .jitter(Jitter::None)
    .hint_cap(HINT_CAP);

thread_local! {
    static WAITS: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
}

fn record(wait: Duration) {
    WAITS.with_borrow_mut(|waits| waits.push(wait));
}

/// Fails with what is wanted, one decision after the other.
#[retryable(policy = POLICY, max = max, on = |wanted: &Decision| *wanted, sleep = "record")]
fn fail_with(max: u32, wanted: &[Decision], calls: &Cell<u32>) -> Result<(), Decision> {
    let nth = usize::try_from(calls.get()).unwrap();
    calls.set(calls.get() + 1);
    Err(wanted[nth % wanted.len()])
}

fn decisions() -> impl Strategy<Value = Decision> {
    prop_oneof![
        1 => Just(Decision::Stop),
        4 => Just(Decision::Retry),
        4 => Just(Decision::RetryNow),
        1 => Just(Decision::RetryAfter(HINT_CAP)),
        1 => Just(Decision::RetryAfter(HINT_CAP + Duration::from_nanos(1))),
        4 => (0..2_200_u64).prop_map(|ms| Decision::RetryAfter(Duration::from_millis(ms))),
    ]
}
