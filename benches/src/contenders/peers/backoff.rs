//! Limits the time and not the calls, so that these are counted around its backoff, as its trait
//! allows.

use std::{future, time::Duration};

use backoff::{
    Error, ExponentialBackoff, ExponentialBackoffBuilder,
    backoff::{Backoff, Zero},
    future::{Retry, Sleeper},
};

use crate::{
    BASE_MS, Failed, MAX_CALLS, Outcome, Service,
    contenders::{Calls, Contender, sizes, task},
    is_transient, ping,
};

pub const CONTENDER: Contender = Contender {
    name: "backoff",
    blocking: Calls {
        usual: Ok(blocking),
        at_once: Ok(blocking_at_once),
    },
    task: task!(task, at_once task_at_once),
    waiting: Ok(|service, id| Box::pin(task(service, id))),
    sizes: sizes!(plain, task, nested),
};

struct Counted<B> {
    backoff: B,
    retries: u32,
}

impl<B: Backoff> Backoff for Counted<B> {
    fn reset(&mut self) {
        self.backoff.reset();
        self.retries = 0;
    }

    fn next_backoff(&mut self) -> Option<Duration> {
        self.retries += 1;
        (self.retries < MAX_CALLS).then(|| self.backoff.next_backoff())?
    }
}

fn usual() -> Counted<ExponentialBackoff> {
    let backoff = ExponentialBackoffBuilder::new()
        .with_initial_interval(Duration::from_millis(BASE_MS))
        .build();
    Counted {
        backoff,
        retries: 0,
    }
}

const AT_ONCE: Counted<Zero> = Counted {
    backoff: Zero {},
    retries: 0,
};

struct NoWait;

impl Sleeper for NoWait {
    type Sleep = future::Ready<()>;

    fn sleep(&self, _: Duration) -> Self::Sleep {
        future::ready(())
    }
}

fn judged(outcome: Outcome) -> Result<u64, Error<Failed>> {
    outcome.map_err(|error| {
        if is_transient(&error) {
            Error::transient(error)
        } else {
            Error::permanent(error)
        }
    })
}

fn error(failure: Error<Failed>) -> Failed {
    match failure {
        Error::Permanent(error) | Error::Transient { err: error, .. } => error,
    }
}

fn blocking(service: &Service, id: u64) -> Outcome {
    backoff::retry(usual(), || judged(service.call(id))).map_err(error)
}

fn blocking_at_once(service: &Service, id: u64) -> Outcome {
    backoff::retry(AT_ONCE, || judged(service.call(id))).map_err(error)
}

fn plain() -> impl Future<Output = Outcome> {
    backoff::future::retry(usual(), || async { judged(ping().await) })
}

fn task(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    backoff::future::retry(
        usual(),
        move || async move { judged(service.get(id).await) },
    )
}

fn task_at_once(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    let body = move || async move { judged(service.get(id).await) };
    Retry::new(NoWait, AT_ONCE, |_, _| {}, body)
}

fn nested(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    backoff::future::retry(
        usual(),
        move || async move { judged(task(service, id).await) },
    )
}
