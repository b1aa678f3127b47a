//! Times of calls, to be read as ratios within one run. Time is what the thread ran, so that other
//! work on the machine counts for less.

use std::{hint::black_box, time::Duration};

use cpu_time::ThreadTime;
use criterion::{
    Criterion, criterion_group, criterion_main,
    measurement::{Measurement, ValueFormatter, WallTime},
};
use retry_benches::{
    Service,
    contenders::{ALL, CASES},
};

struct TimeOfThread;

impl Measurement for TimeOfThread {
    type Intermediate = ThreadTime;
    type Value = Duration;

    fn start(&self) -> ThreadTime {
        ThreadTime::now()
    }

    fn end(&self, start: ThreadTime) -> Duration {
        start.elapsed()
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, time: &Duration) -> f64 {
        WallTime.to_f64(time)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        static SAME: WallTime = WallTime;
        SAME.formatter()
    }
}

fn calls(criterion: &mut Criterion<TimeOfThread>) {
    for case in &CASES {
        for kind in ["sync", "async"] {
            let mut group = criterion.benchmark_group(format!("{kind}, {}", case.name));
            for contender in ALL {
                let calls = if kind == "sync" {
                    &contender.blocking
                } else {
                    &contender.task
                };
                let Ok(call) = calls.of(case) else { continue };
                let service = Service::default();
                group.bench_function(contender.name, |bencher| {
                    bencher.iter(|| {
                        service.fail(case.failures);
                        black_box(call)(&service, black_box(1))
                    });
                });
            }
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(TimeOfThread);
    targets = calls
}
criterion_main!(benches);
