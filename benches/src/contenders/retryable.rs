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

/// With a `?` in the body. Makes a difference to async functions only: each attempt is then a future
/// of its own.
pub const LEFT_EARLY: Contender = Contender {
    name: "#[retryable], a body with `?`",
    blocking: Calls {
        usual: Ok(left_early::blocking),
        at_once: Ok(left_early::blocking_at_once),
    },
    task: task!(left_early::task, at_once left_early::task_at_once),
    waiting: Ok(|service, id| Box::pin(left_early::task(service, id))),
    sizes: sizes!(left_early::plain, left_early::task, left_early::nested),
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

mod left_early {
    use retry_runtime::retryable;

    use crate::{BASE_MS, MAX_CALLS, Outcome, Service, is_transient, ping};

    #[retryable(max = MAX_CALLS, base_ms = BASE_MS, on = is_transient)]
    pub fn blocking(service: &Service, id: u64) -> Outcome {
        let value = service.call(id)?;
        Ok(value)
    }

    #[retryable(max = MAX_CALLS, backoff = "none", on = is_transient)]
    pub fn blocking_at_once(service: &Service, id: u64) -> Outcome {
        let value = service.call(id)?;
        Ok(value)
    }

    #[retryable(max = MAX_CALLS, base_ms = BASE_MS, on = is_transient)]
    pub async fn plain() -> Outcome {
        let value = ping().await?;
        Ok(value)
    }

    #[retryable(max = MAX_CALLS, base_ms = BASE_MS, on = is_transient)]
    pub async fn task(service: &Service, id: u64) -> Outcome {
        let value = service.get(id).await?;
        Ok(value)
    }

    #[retryable(max = MAX_CALLS, backoff = "none", on = is_transient)]
    pub async fn task_at_once(service: &Service, id: u64) -> Outcome {
        let value = service.get(id).await?;
        Ok(value)
    }

    #[retryable(max = MAX_CALLS, base_ms = BASE_MS, on = is_transient)]
    pub async fn nested(service: &Service, id: u64) -> Outcome {
        let value = task(service, id).await?;
        Ok(value)
    }
}
