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

/// With a `?` in the body, which would leave the loop, if it were not in a closure or an async block.
pub const LEFT_EARLY: Contender = Contender {
    name: "loop by hand, a body with `?`",
    blocking: Calls {
        usual: Ok(left_early::blocking),
        at_once: Ok(left_early::blocking_at_once),
    },
    task: task!(left_early::task, at_once left_early::task_at_once),
    waiting: Ok(|service, id| Box::pin(left_early::task(service, id))),
    sizes: sizes!(left_early::plain, left_early::task, left_early::nested),
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

mod left_early {
    use std::thread;

    use super::wait;
    use crate::{MAX_CALLS, Outcome, Service, is_transient, ping};

    pub fn blocking(service: &Service, id: u64) -> Outcome {
        let mut failures = 0;
        loop {
            let attempt = || {
                let value = service.call(id)?;
                Ok(value)
            };
            match attempt() {
                Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => {}
                outcome => return outcome,
            }
            thread::sleep(wait(failures));
            failures += 1;
        }
    }

    pub fn blocking_at_once(service: &Service, id: u64) -> Outcome {
        let mut failures = 0;
        loop {
            let attempt = || {
                let value = service.call(id)?;
                Ok(value)
            };
            match attempt() {
                Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => failures += 1,
                outcome => return outcome,
            }
        }
    }

    pub async fn plain() -> Outcome {
        let mut failures = 0;
        loop {
            let attempt = async {
                let value = ping().await?;
                Ok(value)
            };
            match attempt.await {
                Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => {}
                outcome => return outcome,
            }
            tokio::time::sleep(wait(failures)).await;
            failures += 1;
        }
    }

    pub async fn task(service: &Service, id: u64) -> Outcome {
        let mut failures = 0;
        loop {
            let attempt = async {
                let value = service.get(id).await?;
                Ok(value)
            };
            match attempt.await {
                Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => {}
                outcome => return outcome,
            }
            tokio::time::sleep(wait(failures)).await;
            failures += 1;
        }
    }

    pub async fn task_at_once(service: &Service, id: u64) -> Outcome {
        let mut failures = 0;
        loop {
            let attempt = async {
                let value = service.get(id).await?;
                Ok(value)
            };
            match attempt.await {
                Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => failures += 1,
                outcome => return outcome,
            }
        }
    }

    pub async fn nested(service: &Service, id: u64) -> Outcome {
        let mut failures = 0;
        loop {
            let attempt = async {
                let value = task(service, id).await?;
                Ok(value)
            };
            match attempt.await {
                Err(error) if is_transient(&error) && failures + 1 < MAX_CALLS => {}
                outcome => return outcome,
            }
            tokio::time::sleep(wait(failures)).await;
            failures += 1;
        }
    }
}
