//! Numbers of a policy -> its longest waits, for the documentation. The waits themselves are
//! computed by the runtime; that both agree is tested on `tests/data/totals.tsv`.

const NANOS_PER_MS: u128 = 1_000_000;

/// Waits that grow are added up in so many pieces at most, as in the runtime.
const PIECES: u32 = 10_000;

/// How waits grow, in milliseconds, before jitter.
#[derive(Clone, Debug)]
pub(crate) enum Growth {
    None,
    Fixed(u64),
    Linear(u64),
    Fibonacci(u64),
    Exponential(u64, f64),
    /// Three times the wait before, if each draws the most
    Decorrelated(u64),
    /// One by one; the last one repeats
    Listed(Vec<u64>),
}

/// Waits that are known.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub(crate) growth: Growth,
    pub(crate) cap_ms: u64,
}

/// Times are in nanoseconds, and retries are counted from 0.
impl Schedule {
    /// The longest wait before a retry.
    pub(crate) fn wait(&self, retry: u32) -> u128 {
        let times = |ms: u64, factor| nanos(ms).saturating_mul(factor);
        let wait = match &self.growth {
            Growth::None => 0,
            Growth::Fixed(base) => nanos(*base),
            Growth::Linear(base) => times(*base, u128::from(retry).saturating_add(1)),
            Growth::Fibonacci(base) => times(*base, fibonacci(retry)),
            Growth::Exponential(base, factor) => power(*base, *factor, retry),
            Growth::Decorrelated(base) => power(*base, 3.0, retry.saturating_add(1)),
            Growth::Listed(list) => {
                let nth = usize::try_from(retry).ok().and_then(|nth| list.get(nth));
                nth.or(list.last()).map_or(0, |ms| nanos(*ms))
            }
        };
        wait.min(nanos(self.cap_ms))
    }

    /// The first retry from which on the waits are the same, up to the last one.
    pub(crate) fn settled(&self, last: u32) -> u32 {
        let longest = self.wait(last);
        if let Growth::Listed(list) = &self.growth {
            let listed = u32::try_from(list.len()).unwrap_or(u32::MAX).min(last);
            let differs = (0..listed).rev().find(|retry| self.wait(*retry) != longest);
            return differs.map_or(0, |retry| retry.saturating_add(1));
        }
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = u32::midpoint(low, high);
            if self.wait(middle) == longest {
                high = middle;
            } else {
                low = middle.saturating_add(1);
            }
        }
        low
    }

    /// The sum of the waits before so many retries.
    pub(crate) fn total(&self, retries: u32) -> u128 {
        let Some(last) = retries.checked_sub(1) else {
            return 0;
        };
        let settled = self.settled(last);
        let repeated = u128::from(retries.saturating_sub(settled));
        let mut total = self.wait(last).saturating_mul(repeated);
        let length = match self.growth {
            Growth::Listed(_) => 1,
            _ => settled.div_ceil(PIECES).max(1),
        };
        let mut from = 0;
        while from < settled {
            let to = settled.min(from.saturating_add(length));
            let ends = self
                .wait(from)
                .saturating_add(self.wait(to.saturating_sub(1)));
            let piece = ends.saturating_mul(u128::from(to.saturating_sub(from)));
            total = total.saturating_add(piece.div_ceil(2));
            from = to;
        }
        total
    }
}

fn nanos(ms: u64) -> u128 {
    u128::from(ms).saturating_mul(NANOS_PER_MS)
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "saturates, and is more precise than what is shown"
)]
fn power(base_ms: u64, factor: f64, exponent: u32) -> u128 {
    let growth = factor.powf(f64::from(exponent));
    // zero times infinity is NaN, which becomes 0
    (nanos(base_ms) as f64 * growth).round() as u128
}

/// 1, 1, 2, 3, 5, ... for n = 0, 1, 2, ..., saturating.
fn fibonacci(n: u32) -> u128 {
    let (mut current, mut next) = (1_u128, 1_u128);
    for _ in 0..n {
        if current == u128::MAX {
            break;
        }
        (current, next) = (next, current.saturating_add(next));
    }
    current
}

/// A time in the units that people use, rounded up to a millisecond: `1.5 s`, `2 min 30 s`.
pub(crate) fn time(nanos: u128) -> String {
    let ms = nanos.div_ceil(NANOS_PER_MS);
    if ms < 1_000 {
        return format!("{ms} ms");
    }
    let seconds = ms.div_euclid(1_000);
    let unit = |length: u128, of: u128, name: &str| {
        let number = seconds.div_euclid(length).checked_rem(of).unwrap_or(0);
        (number > 0).then(|| format!("{number} {name}"))
    };
    let fraction = format!("{:03}", ms.rem_euclid(1_000));
    let fraction = match fraction.trim_end_matches('0') {
        "" => String::new(),
        digits => format!(".{digits}"),
    };
    let below_a_minute = seconds.rem_euclid(60);
    let rest = (below_a_minute > 0 || !fraction.is_empty())
        .then(|| format!("{below_a_minute}{fraction} s"));
    let units = [
        unit(86_400, u128::MAX, "d"),
        unit(3_600, 24, "h"),
        unit(60, 60, "min"),
        rest,
    ];
    units.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Growth, NANOS_PER_MS, Schedule, time};

    /// The columns of a row.
    fn schedule(row: &[&str]) -> Option<(u32, Schedule)> {
        let [max, base, factor, backoff, cap, jitter, delays, _] = row else {
            panic!("{row:?}")
        };
        let base = base.parse().ok()?;
        let growth = match *backoff {
            _ if *jitter == "decorrelated" => Growth::Decorrelated(base),
            "exponential" => Growth::Exponential(base, factor.parse().ok()?),
            "linear" => Growth::Linear(base),
            "fibonacci" => Growth::Fibonacci(base),
            "fixed" => Growth::Fixed(base),
            "none" => Growth::None,
            "delays" => Growth::Listed(delays.split(' ').flat_map(str::parse).collect()),
            other => panic!("{other}"),
        };
        let cap_ms = cap.parse().ok()?;
        Some((max.parse().ok()?, Schedule { growth, cap_ms }))
    }

    #[test]
    fn totals_are_those_of_the_figures() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/totals.tsv");
        // not part of the published crate
        let Ok(figures) = std::fs::read_to_string(path) else {
            return;
        };
        for line in figures.lines().skip(1) {
            let row: Vec<&str> = line.split('\t').collect();
            let (max, schedule) = schedule(&row).unwrap_or_else(|| panic!("{line}"));
            let total = schedule.total(max - 1).div_ceil(NANOS_PER_MS);
            assert_eq!(total.to_string(), row[7], "{line}");
        }
    }

    #[test]
    fn times_are_exact_to_the_millisecond() {
        let cases = [
            (0, "0 ms"),
            (1, "1 ms"),
            (200_000_000, "200 ms"),
            (999_000_001, "1 s"),
            (1_500_000_000, "1.5 s"),
            (1_012_500_000, "1.013 s"),
            (30_000_000_000, "30 s"),
            (60_000_000_000, "1 min"),
            (90_050_000_000, "1 min 30.05 s"),
            (300_000_000_000, "5 min"),
            (3_600_000_000_000, "1 h"),
            (90_061_000_000_000, "1 d 1 h 1 min 1 s"),
            (60_000_001, "61 ms"),
        ];
        for (nanos, text) in cases {
            assert_eq!(time(nanos), text);
        }
    }
}
