//! A success or an error that is not retried has a type of its own, so that each outcome is
//! converted.

use retry::{
    OperationResult,
    delay::{Exponential, NoDelay, jitter},
};

use crate::{
    BASE_MS, Failed, MAX_CALLS, Outcome, Service,
    contenders::{Calls, Contender},
    is_transient,
};

pub const CONTENDER: Contender = Contender {
    name: "retry",
    blocking: Calls {
        usual: Ok(blocking),
        at_once: Ok(blocking_at_once),
    },
    task: Calls {
        usual: Err(SYNC_ONLY),
        at_once: Err(SYNC_ONLY),
    },
    waiting: Err(SYNC_ONLY),
    sizes: Err(SYNC_ONLY),
};

const SYNC_ONLY: &str = "sync only";
const RETRIES: usize = MAX_CALLS as usize - 1;

fn judged(outcome: Outcome) -> OperationResult<u64, Failed> {
    match outcome {
        Ok(value) => OperationResult::Ok(value),
        Err(error) if is_transient(&error) => OperationResult::Retry(error),
        Err(error) => OperationResult::Err(error),
    }
}

fn blocking(service: &Service, id: u64) -> Outcome {
    let waits = Exponential::from_millis(BASE_MS).map(jitter).take(RETRIES);
    retry::retry(waits, || judged(service.call(id))).map_err(|failure| failure.error)
}

fn blocking_at_once(service: &Service, id: u64) -> Outcome {
    retry::retry(NoDelay.take(RETRIES), || judged(service.call(id)))
        .map_err(|failure| failure.error)
}
