//! The body alone. It is not retried.

use super::{Calls, Contender, sizes};
use crate::{Outcome, Service, block_on, ping};

pub const CONTENDER: Contender = Contender {
    name: "bare call",
    blocking: Calls {
        usual: Ok(blocking),
        at_once: Err(NOT_RETRIED),
    },
    task: Calls {
        usual: Ok(|service, id| block_on(task(service, id))),
        at_once: Err(NOT_RETRIED),
    },
    waiting: Err(NOT_RETRIED),
    sizes: sizes!(plain, task, nested),
};

const NOT_RETRIED: &str = "does not retry";

fn blocking(service: &Service, id: u64) -> Outcome {
    service.call(id)
}

async fn plain() -> Outcome {
    ping().await
}

async fn task(service: &Service, id: u64) -> Outcome {
    service.get(id).await
}

async fn nested(service: &Service, id: u64) -> Outcome {
    task(service, id).await
}
