//! What a decision of a budget and of a breaker costs: time on the processor per decision, by one
//! thread and by two that share the state.
//!
//! `cargo bench -p retry-runtime --bench protection`. The scheduler's count of nanoseconds is
//! used, so that other work on the machine does not matter much; Linux only.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "a program to run by hand"
)]

use std::{
    fs,
    hint::black_box,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use retry_runtime::{CircuitBreaker, RetryBudget};

const ROUNDS: u32 = 2_000_000;
const REPEATS: usize = 12;

fn main() {
    println!("{:50}{:>22}{:>33}", "", "1 thread", "2 threads");
    println!(
        "{:50}{:>11}{:>11}{:>11}{:>11}{:>11}",
        "decision", "ns", "M/s", "ns", "M/s a core", "together %"
    );
    report("for comparison, the clock that some of them read", |_| {
        #[expect(clippy::disallowed_methods, reason = "the clock itself")]
        black_box(Instant::now());
    });

    let budget = RetryBudget::new();
    report("budget: call", |_| budget.deposit());
    let plenty = RetryBudget::new().ratio(1000.0).min_per_second(u32::MAX);
    report("budget: retry granted", |_| {
        assert!(plenty.withdraw());
    });
    let empty = RetryBudget::new().ratio(0.0).min_per_second(0);
    report("budget: retry refused", |_| {
        assert!(!empty.withdraw());
    });
    let mixed = RetryBudget::new();
    report("budget: call, every tenth with a retry", |round| {
        mixed.deposit();
        if round % 10 == 0 {
            black_box(mixed.withdraw());
        }
    });

    let healthy = CircuitBreaker::new();
    report("breaker: permit and success, all succeed", |_| {
        healthy.try_acquire().unwrap().success();
    });
    for (name, every) in [("hundredth", 100), ("tenth", 10), ("third", 3)] {
        let name = format!("breaker: permit and end, every {name} fails");
        let failing = CircuitBreaker::new();
        report(&name, |round| {
            let permit = failing.try_acquire().unwrap();
            if round % every == 0 {
                permit.failure();
            } else {
                permit.success();
            }
        });
    }
    let open = CircuitBreaker::new().open_for(Duration::from_secs(3600));
    for _ in 0..100 {
        open.try_acquire().unwrap().failure();
    }
    report("breaker: refused, open", |_| {
        assert!(open.try_acquire().is_err());
    });
}

/// Per round: the least of some measurements of one thread, and of two the one in which they ran
/// most at the same time.
fn report(name: &str, round: impl Fn(u32) + Sync) {
    let measured = |threads| -> Vec<_> { (0..REPEATS).map(|_| measure(threads, &round)).collect() };
    let (one, _) = *measured(1)
        .iter()
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap();
    let (two, together) = *measured(2)
        .iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap();
    println!(
        "{name:50}{one:11.1}{:11.0}{two:11.1}{:11.0}{:11.0}",
        1000.0 / one,
        1000.0 / two,
        100.0 * together
    );
}

/// Nanoseconds on the processor per round, and the share of the time that the threads ran.
fn measure(threads: usize, round: &(impl Fn(u32) + Sync)) -> (f64, f64) {
    let start = Barrier::new(threads);
    let each = || {
        start.wait();
        #[expect(clippy::disallowed_methods, reason = "the clock itself")]
        let (begin, before) = (Instant::now(), on_processor());
        for number in 0..ROUNDS {
            round(black_box(number));
        }
        let ran = on_processor().saturating_sub(before) as f64;
        (
            ran / f64::from(ROUNDS),
            ran / begin.elapsed().as_nanos() as f64,
        )
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(each)).collect();
        let times = threads.into_iter().map(|thread| thread.join().unwrap());
        times.reduce(|a, b| (a.0.max(b.0), a.1.min(b.1))).unwrap()
    })
}

/// Nanoseconds that this thread has run.
fn on_processor() -> u64 {
    let statistics = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    statistics.split(' ').next().unwrap().parse().unwrap()
}
