//! A million calls that wait at once on tokio: bytes per call, and time to start and to finish all
//! of them. Each fails once; the clock is paused, so that it moves when the last one waits.

use std::{
    alloc::System,
    cell::Cell,
    rc::Rc,
    time::{Duration, Instant},
};

use retry_benches::{
    Service,
    contenders::{ALL, Waiting},
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::{runtime::Builder, task::LocalSet};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CALLS: u32 = 1_000_000;

fn main() {
    // the first one pays for memory that the system has yet to give
    if let Some(waiting) = ALL.iter().find_map(|contender| contender.waiting.ok()) {
        measure(waiting);
    }
    for contender in ALL {
        let name = contender.name;
        match contender.waiting {
            Ok(waiting) => {
                let figures = measure(waiting);
                println!("scale\tbytes\t{name}\t{}", figures.bytes / CALLS as usize);
                println!("scale\tstart\t{name}\t{}", figures.start.as_millis());
                println!("scale\tfinish\t{name}\t{}", figures.finish.as_millis());
            }
            Err(reason) => println!("scale\tbytes\t{name}\t{reason}"),
        }
    }
}

#[derive(Default)]
struct Figures {
    /// While all wait, for the boxed futures and their tasks
    bytes: usize,
    start: Duration,
    finish: Duration,
}

fn measure(waiting: Waiting) -> Figures {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let service: &'static Service = Box::leak(Box::default());
    service.fail(CALLS);
    let succeeded = Rc::new(Cell::new(0));
    let figures = Rc::new(Cell::new(Figures::default()));

    let begin = Instant::now();
    let region = Region::new(ALLOCATOR);
    let tasks = LocalSet::new();
    for id in 0..CALLS {
        let call = waiting(service, id.into());
        let succeeded = Rc::clone(&succeeded);
        tasks.spawn_local(async move {
            assert_eq!(call.await, Ok(id.into()));
            succeeded.set(succeeded.get() + 1);
        });
    }
    // runs after the first attempt of all others, which came before it
    tasks.spawn_local({
        let (figures, succeeded) = (Rc::clone(&figures), Rc::clone(&succeeded));
        async move {
            assert_eq!(service.failures(), 0);
            // a jitter may draw a wait of zero
            assert!(succeeded.get() < CALLS / 1000);
            let change = region.change();
            figures.set(Figures {
                bytes: change.bytes_allocated - change.bytes_deallocated,
                start: begin.elapsed(),
                finish: Duration::ZERO,
            });
        }
    });
    runtime.block_on(tasks);
    assert_eq!(succeeded.get(), CALLS);
    let figures = figures.take();
    Figures {
        finish: begin.elapsed() - figures.start,
        ..figures
    }
}
