//! A loop as one writes it where it is needed.

use std::{thread, time::Duration};

use super::{Calls, Contender, sizes, task};
use crate::{BASE_MS, MAX_CALLS, Outcome, Service, is_transient, ping};

pub const CONTENDER: Contender = Contender {
    name: "loop by hand",
    blocking: Calls {
        usual: Ok(blocking),
        at_once: Ok(blocking_at_once),
    },
    task: task!(task, at_once task_at_once),
    waiting: Ok(|service, id| Box::pin(task(service, id))),
    sizes: sizes!(plain, task, nested),
};

fn wait(failures: u32) -> Duration {
    let longest = BASE_MS.saturating_mul(1 << failures).min(30_000);
    Duration::from_millis(longest).mul_f64(rand::random())
}

fn blocking(service: &Service, id: u64) -> Outcome {
    let mut failures = 0;
    loop {
        match service.call(id) {
            Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => {}
            outcome => return outcome,
        }
        thread::sleep(wait(failures));
        failures += 1;
    }
}

fn blocking_at_once(service: &Service, id: u64) -> Outcome {
    let mut failures = 0;
    loop {
        match service.call(id) {
            Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => failures += 1,
            outcome => return outcome,
        }
    }
}

async fn plain() -> Outcome {
    let mut failures = 0;
    loop {
        match ping().await {
            Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => {}
            outcome => return outcome,
        }
        tokio::time::sleep(wait(failures)).await;
        failures += 1;
    }
}

async fn task(service: &Service, id: u64) -> Outcome {
    let mut failures = 0;
    loop {
        match service.get(id).await {
            Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => {}
            outcome => return outcome,
        }
        tokio::time::sleep(wait(failures)).await;
        failures += 1;
    }
}

/// Does not let other tasks run in between.
async fn task_at_once(service: &Service, id: u64) -> Outcome {
    let mut failures = 0;
    loop {
        match service.get(id).await {
            Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => failures += 1,
            outcome => return outcome,
        }
    }
}

async fn nested(service: &Service, id: u64) -> Outcome {
    let mut failures = 0;
    loop {
        match task(service, id).await {
            Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => {}
            outcome => return outcome,
        }
        tokio::time::sleep(wait(failures)).await;
        failures += 1;
    }
}
