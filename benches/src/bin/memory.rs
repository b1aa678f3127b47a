//! Prints the sizes of futures in bytes, and how often a call allocates.

use std::alloc::System;

use retry_benches::{
    Service,
    contenders::{ALL, CASES, Call, Can, Case, Waiting},
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::runtime::Builder;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    for contender in ALL {
        let say = |kind, case, number: Can<usize>| match number {
            Ok(number) => println!("{kind}\t{case}\t{}\t{number}", contender.name),
            Err(reason) => println!("{kind}\t{case}\t{}\t{reason}", contender.name),
        };
        let sizes = contender.sizes.map(|sizes| sizes());
        say("size", "plain", sizes.map(|sizes| sizes.plain));
        say("size", "arguments", sizes.map(|sizes| sizes.arguments));
        say("size", "nested", sizes.map(|sizes| sizes.nested));
        for case in &CASES {
            // with waits, but only where it is also able to fail
            let call = contender.blocking.of(case).and(contender.blocking.usual);
            say("sync", case.name, call.map(|call| blocking(call, case)));
            let waiting = contender.task.usual.and(contender.waiting);
            say(
                "tokio",
                case.name,
                waiting.map(|waiting| task(waiting, case)),
            );
        }
    }
}

/// How often the second call of a thread allocates: the first one makes the thread's source of
/// randomness.
fn blocking(call: Call, case: &Case) -> usize {
    let service = Service::default();
    let once = |id| {
        service.fail(case.failures);
        let region = Region::new(ALLOCATOR);
        let outcome = call(&service, id);
        let allocations = made(&region);
        assert_eq!(outcome, case.expected(id));
        allocations
    };
    once(1);
    once(2)
}

/// The same on tokio, whose clock is paused, without the box that the future is given in.
fn task(waiting: Waiting, case: &Case) -> usize {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let service = Service::default();
    let once = async |id| {
        service.fail(case.failures);
        let call = waiting(&service, id);
        let region = Region::new(ALLOCATOR);
        let outcome = call.await;
        let allocations = made(&region);
        assert_eq!(outcome, case.expected(id));
        allocations
    };
    runtime.block_on(async {
        once(1).await;
        once(2).await
    })
}

fn made(region: &Region<'_, System>) -> usize {
    let change = region.change();
    change.allocations + change.reallocations
}
