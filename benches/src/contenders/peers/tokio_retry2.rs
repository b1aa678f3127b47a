//! Its error says whether it is retried, so that each outcome is converted.

use std::time::Duration;

use tokio_retry2::{
    Retry, RetryError,
    strategy::{ExponentialFactorBackoff, jitter},
};

use crate::{
    BASE_MS, Failed, MAX_CALLS, Outcome, Service,
    contenders::{Calls, Contender, peers::ASYNC_ONLY, sizes, task},
    is_transient, ping,
};

pub const CONTENDER: Contender = Contender {
    name: "tokio-retry2",
    blocking: Calls::none(ASYNC_ONLY),
    task: task!(task),
    waiting: Ok(|service, id| Box::pin(task(service, id))),
    sizes: sizes!(plain, task, nested),
};

fn waits() -> impl Iterator<Item = Duration> {
    ExponentialFactorBackoff::from_millis(BASE_MS, 2.0)
        .map(jitter)
        .take(MAX_CALLS as usize - 1)
}

fn judged(outcome: Outcome) -> Result<u64, RetryError<Failed>> {
    outcome.map_err(|error| {
        if is_transient(&error) {
            RetryError::transient(error)
        } else {
            RetryError::permanent(error)
        }
    })
}

fn plain() -> impl Future<Output = Outcome> {
    Retry::spawn(waits(), || async { judged(ping().await) })
}

fn task(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    Retry::spawn(
        waits(),
        move || async move { judged(service.get(id).await) },
    )
}

fn nested(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    Retry::spawn(
        waits(),
        move || async move { judged(task(service, id).await) },
    )
}
