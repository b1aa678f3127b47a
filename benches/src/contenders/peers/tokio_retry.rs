//! `from_millis(2)` waits for 2, 4, 8 ms, so that half of it doubles from a millisecond on.

use std::time::Duration;

use tokio_retry::{
    RetryIf,
    strategy::{ExponentialBackoff, jitter},
};

use crate::{
    BASE_MS, MAX_CALLS, Outcome, Service,
    contenders::{Calls, Contender, peers::ASYNC_ONLY, sizes, task},
    is_transient, ping,
};

pub const CONTENDER: Contender = Contender {
    name: "tokio-retry",
    blocking: Calls::none(ASYNC_ONLY),
    task: task!(task),
    waiting: Ok(|service, id| Box::pin(task(service, id))),
    sizes: sizes!(plain, task, nested),
};

fn waits() -> impl Iterator<Item = Duration> {
    ExponentialBackoff::from_millis(2 * BASE_MS)
        .map(|wait| jitter(wait / 2))
        .take(MAX_CALLS as usize - 1)
}

fn plain() -> impl Future<Output = Outcome> {
    RetryIf::start(waits(), ping, is_transient)
}

fn task(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    RetryIf::start(waits(), move || service.get(id), is_transient)
}

fn nested(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    RetryIf::start(waits(), move || task(service, id), is_transient)
}
