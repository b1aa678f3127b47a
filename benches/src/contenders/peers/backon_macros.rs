//! The attribute of backon.

use std::{future, time::Duration};

use backon::{ConstantBuilder, ExponentialBuilder};
use backon_macros::backon;

use crate::{
    BASE_MS, MAX_CALLS, Outcome, Service,
    contenders::{Calls, Contender, sizes, task},
    is_transient, ping,
};

pub const CONTENDER: Contender = Contender {
    name: "backon-macros",
    blocking: Calls {
        usual: Ok(blocking),
        at_once: Ok(blocking_at_once),
    },
    task: task!(task, at_once task_at_once),
    waiting: Ok(|service, id| Box::pin(task(service, id))),
    sizes: sizes!(plain, task, nested),
};

const fn usual() -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(BASE_MS))
        .with_max_times(MAX_CALLS as usize - 1)
        .with_jitter()
}

const fn at_once() -> ConstantBuilder {
    ConstantBuilder::new()
        .with_delay(Duration::ZERO)
        .with_max_times(MAX_CALLS as usize - 1)
}

fn no_wait(_: Duration) -> future::Ready<()> {
    future::ready(())
}

#[backon(backoff = usual, when = is_transient)]
fn blocking(service: &Service, id: u64) -> Outcome {
    service.call(id)
}

#[backon(backoff = at_once, when = is_transient)]
fn blocking_at_once(service: &Service, id: u64) -> Outcome {
    service.call(id)
}

#[backon(backoff = usual, when = is_transient)]
async fn plain() -> Outcome {
    ping().await
}

#[backon(backoff = usual, when = is_transient)]
async fn task(service: &Service, id: u64) -> Outcome {
    service.get(id).await
}

#[backon(backoff = at_once, sleep = no_wait, when = is_transient)]
async fn task_at_once(service: &Service, id: u64) -> Outcome {
    service.get(id).await
}

#[backon(backoff = usual, when = is_transient)]
async fn nested(service: &Service, id: u64) -> Outcome {
    task(service, id).await
}
