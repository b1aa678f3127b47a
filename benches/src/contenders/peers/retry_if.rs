//! An attribute for async functions, without jitter.

#![allow(unexpected_cfgs)] // its expansion asks for a feature of the crate that it is used in

use std::time::Duration;

use retry_if::{ExponentialBackoffConfig, retry};

use crate::{
    BASE_MS, MAX_CALLS, Outcome, Service,
    contenders::{Calls, Contender, peers::ASYNC_ONLY, sizes, task},
    is_transient, ping,
};

pub const CONTENDER: Contender = Contender {
    name: "retry-if",
    blocking: Calls::none(ASYNC_ONLY),
    task: task!(task),
    waiting: Ok(|service, id| Box::pin(task(service, id))),
    sizes: sizes!(plain, task, nested),
};

const USUAL: ExponentialBackoffConfig = ExponentialBackoffConfig {
    max_retries: MAX_CALLS - 1,
    t_wait: Duration::from_millis(BASE_MS),
    backoff: 2.0,
    t_wait_max: None,
    backoff_max: Some(Duration::from_secs(30)),
};

fn failed(outcome: &Outcome) -> bool {
    outcome.as_ref().is_err_and(is_transient)
}

#[retry(USUAL, failed)]
async fn plain() -> Outcome {
    ping().await
}

#[retry(USUAL, failed)]
async fn task(service: &Service, id: u64) -> Outcome {
    service.get(id).await
}

#[retry(USUAL, failed)]
async fn nested(service: &Service, id: u64) -> Outcome {
    task(service, id).await
}
