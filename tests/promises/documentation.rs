use std::{fs, time::Duration};

use retry_runtime::{Backoff, Jitter, Policy};

fn policy(row: &[&str]) -> Policy {
    let number = |column: usize| row[column].parse().unwrap();
    let policy = Policy::new()
        .max(row[0].parse().unwrap())
        .base_ms(number(1))
        .factor(row[2].parse().unwrap())
        .cap_ms(number(4))
        .jitter(match row[5] {
            "full" => Jitter::Full,
            "equal" => Jitter::Equal,
            "decorrelated" => Jitter::Decorrelated,
            "none" => Jitter::None,
            ratio => Jitter::Ratio(ratio.parse().unwrap()),
        });
    match row[3] {
        "exponential" => policy.backoff(Backoff::Exponential),
        "linear" => policy.backoff(Backoff::Linear),
        "fibonacci" => policy.backoff(Backoff::Fibonacci),
        "fixed" => policy.backoff(Backoff::Fixed),
        "none" => policy.backoff(Backoff::None),
        _ => {
            let list = row[6].split(' ').map(|ms| ms.parse().unwrap());
            policy.delays_ms(list.collect::<Vec<_>>().leak())
        }
    }
}

/// The attribute is tested on the same figures, in `retry-macros/src/schedule.rs`: so what it
/// writes into the documentation is what the policy does.
#[test]
fn the_total_wait_is_that_of_the_documentation() {
    let figures = fs::read_to_string("tests/data/totals.tsv").unwrap();
    for line in figures.lines().skip(1) {
        let row: Vec<&str> = line.split('\t').collect();
        let total = policy(&row).total_wait().as_ref().map(Duration::as_nanos);
        let total_ms = total.map(|nanos| nanos.div_ceil(1_000_000));
        assert_eq!(total_ms, Some(row[7].parse().unwrap()), "{line}");
    }
}
