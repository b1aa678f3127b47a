//! What a decision of a budget and of a breaker costs: time of the thread per decision, by one
//! thread and by as many as there are cores, which share the state.
//!
//! Prints picoseconds. Other work on the machine matters little to one thread; of the measurements
//! with several, those count in which they ran most at the same time.

use std::{
    hint::black_box,
    num::NonZero,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use cpu_time::ThreadTime;
use retry_runtime::{CircuitBreaker, RetryBudget};

const ROUNDS: u32 = 2_000_000;
const REPEATS: usize = 12;

fn main() {
    report("for comparison, the clock that some of them read", |_| {
        black_box(Instant::now());
    });

    let budget = RetryBudget::new();
    report("budget: call", |_| budget.deposit());
    let plenty = RetryBudget::new().ratio(1000.0).min_per_second(u32::MAX);
    report("budget: retry granted", |_| assert!(plenty.withdraw()));
    let empty = RetryBudget::new().ratio(0.0).min_per_second(0);
    report("budget: retry refused", |_| assert!(!empty.withdraw()));
    let mixed = RetryBudget::new();
    report("budget: call, every tenth with a retry", |round| {
        mixed.deposit();
        if round.is_multiple_of(10) {
            black_box(mixed.withdraw());
        }
    });
    // what one call earns pays for its own retry, so that each lost call would be a retry refused
    let even = RetryBudget::new().ratio(1.0).min_per_second(1);
    report("budget: call, each with a retry, all granted", |_| {
        even.deposit();
        assert!(even.withdraw());
    });

    let healthy = CircuitBreaker::new();
    report("breaker: permit and success, all succeed", |_| {
        permit(&healthy).success();
    });
    for (name, every) in [("hundredth", 100), ("tenth", 10), ("third", 3)] {
        let failing = CircuitBreaker::new();
        report(
            &format!("breaker: permit and end, every {name} fails"),
            |round| {
                if round.is_multiple_of(every) {
                    permit(&failing).failure();
                } else {
                    permit(&failing).success();
                }
            },
        );
    }
    let open = CircuitBreaker::new().open_for(Duration::from_secs(3600));
    for _ in 0..100 {
        permit(&open).failure();
    }
    report("breaker: refused, open", |_| {
        assert!(open.try_acquire().is_err());
    });
}

fn permit(breaker: &CircuitBreaker) -> retry_runtime::Permit<'_> {
    breaker.try_acquire().expect("a breaker that is not open")
}

/// Per round: the least of the measurements of one thread, and of several the median of the quarter
/// in which they ran most at the same time.
fn report(name: &str, round: impl Fn(u32) + Sync) {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    for threads in 1..=cores {
        let mut measured: Vec<_> = (0..REPEATS).map(|_| measure(threads, &round)).collect();
        measured.sort_by(|a, b| b.1.total_cmp(&a.1));
        let together = if threads == 1 { REPEATS } else { REPEATS / 4 };
        let mut times: Vec<_> = measured
            .iter()
            .take(together)
            .map(|(time, _)| *time)
            .collect();
        times.sort();
        let time = times[if threads == 1 { 0 } else { together / 2 }];
        let picoseconds = time.as_nanos() * 1000 / u128::from(ROUNDS);
        println!("protection\t{threads}\t{name}\t{picoseconds}");
    }
}

/// The time that the slowest thread ran, and the least share of the time that one of them ran.
fn measure(threads: usize, round: &(impl Fn(u32) + Sync)) -> (Duration, f64) {
    let start = Barrier::new(threads);
    let each = || {
        start.wait();
        let (begin, ran) = (Instant::now(), ThreadTime::now());
        for number in 0..ROUNDS {
            round(black_box(number));
        }
        let ran = ran.elapsed();
        (ran, ran.as_secs_f64() / begin.elapsed().as_secs_f64())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(each)).collect();
        let times = threads
            .into_iter()
            .map(|thread| thread.join().expect("a thread that ends"));
        times
            .reduce(|a, b| (a.0.max(b.0), a.1.min(b.1)))
            .unwrap_or_default()
    })
}
