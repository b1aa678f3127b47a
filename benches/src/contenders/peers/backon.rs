//! Its jitter is upwards, from once to twice the wait.

use std::{future, time::Duration};

use backon::{BlockingRetryable as _, ConstantBuilder, ExponentialBuilder, Retryable as _};

use crate::{
    BASE_MS, MAX_CALLS, Outcome, Service,
    contenders::{Calls, Contender, sizes, task},
    is_transient, ping,
};

pub const CONTENDER: Contender = Contender {
    name: "backon",
    blocking: Calls {
        usual: Ok(blocking),
        at_once: Ok(blocking_at_once),
    },
    task: task!(task, at_once task_at_once),
    waiting: Ok(|service, id| Box::pin(task(service, id))),
    sizes: sizes!(plain, task, nested),
};

const RETRIES: usize = MAX_CALLS as usize - 1;
const USUAL: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(BASE_MS))
    .with_max_times(RETRIES)
    .with_jitter();
const AT_ONCE: ConstantBuilder = ConstantBuilder::new()
    .with_delay(Duration::ZERO)
    .with_max_times(RETRIES);

fn blocking(service: &Service, id: u64) -> Outcome {
    (|| service.call(id)).retry(USUAL).when(is_transient).call()
}

fn blocking_at_once(service: &Service, id: u64) -> Outcome {
    (|| service.call(id))
        .retry(AT_ONCE)
        .when(is_transient)
        .call()
}

fn plain() -> impl Future<Output = Outcome> {
    ping.retry(USUAL).when(is_transient)
}

fn task(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    (move || service.get(id)).retry(USUAL).when(is_transient)
}

fn task_at_once(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    (move || service.get(id))
        .retry(AT_ONCE)
        .sleep(|_| future::ready(()))
        .when(is_transient)
}

fn nested(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    (move || task(service, id)).retry(USUAL).when(is_transient)
}
