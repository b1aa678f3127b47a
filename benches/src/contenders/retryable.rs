//! This crate.

use retry_runtime::retryable;

use super::{Calls, Contender, sizes, task};
use crate::{BASE_MS, MAX_CALLS, Outcome, Service, is_transient, ping};

pub const CONTENDER: Contender = Contender {
    name: "#[retryable]",
    blocking: Calls {
        usual: Ok(blocking),
        at_once: Ok(blocking_at_once),
    },
    task: task!(task, at_once task_at_once),
    waiting: Ok(|service, id| Box::pin(task(service, id))),
    sizes: sizes!(plain, task, nested),
};

#[retryable(max = MAX_CALLS, base_ms = BASE_MS, on = is_transient)]
fn blocking(service: &Service, id: u64) -> Outcome {
    service.call(id)
}

#[retryable(max = MAX_CALLS, backoff = "none", on = is_transient)]
fn blocking_at_once(service: &Service, id: u64) -> Outcome {
    service.call(id)
}

#[retryable(max = MAX_CALLS, base_ms = BASE_MS, on = is_transient)]
async fn plain() -> Outcome {
    ping().await
}

#[retryable(max = MAX_CALLS, base_ms = BASE_MS, on = is_transient)]
async fn task(service: &Service, id: u64) -> Outcome {
    service.get(id).await
}

#[retryable(max = MAX_CALLS, backoff = "none", on = is_transient)]
async fn task_at_once(service: &Service, id: u64) -> Outcome {
    service.get(id).await
}

#[retryable(max = MAX_CALLS, base_ms = BASE_MS, on = is_transient)]
async fn nested(service: &Service, id: u64) -> Outcome {
    task(service, id).await
}
