//! A layer around a service: the policy is the user's own, the backoff is tower's.

use std::{future, sync::LazyLock, time::Duration};

use tower::{
    ServiceExt as _,
    retry::{
        Policy, Retry,
        backoff::{Backoff, ExponentialBackoff, ExponentialBackoffMaker, MakeBackoff as _},
    },
    service_fn,
    util::rng::HasherRng,
};

use crate::{
    BASE_MS, Failed, MAX_CALLS, Outcome, Service,
    contenders::{Calls, Contender, peers::ASYNC_ONLY, sizes, task},
    is_transient, ping,
};

pub const CONTENDER: Contender = Contender {
    name: "tower",
    blocking: Calls::none(ASYNC_ONLY),
    task: task!(task, at_once task_at_once),
    waiting: Ok(|service, id| Box::pin(task(service, id))),
    sizes: sizes!(plain, task, nested),
};

/// Made once, as the service is in a program.
static BACKOFF: LazyLock<ExponentialBackoffMaker> = LazyLock::new(|| {
    let [shortest, longest] = [BASE_MS, 30_000].map(Duration::from_millis);
    ExponentialBackoffMaker::new(shortest, longest, 0.99, HasherRng::default())
        .expect("a valid backoff")
});

#[derive(Clone)]
struct Counted<B> {
    backoff: B,
    retries: u32,
}

fn usual() -> Counted<ExponentialBackoff> {
    Counted {
        backoff: BACKOFF.clone().make_backoff(),
        retries: 0,
    }
}

const AT_ONCE: Counted<NoWait> = Counted {
    backoff: NoWait,
    retries: 0,
};

#[derive(Clone)]
struct NoWait;

impl Backoff for NoWait {
    type Future = future::Ready<()>;

    fn next_backoff(&mut self) -> Self::Future {
        future::ready(())
    }
}

impl<B: Backoff, R: Clone> Policy<R, u64, Failed> for Counted<B> {
    type Future = B::Future;

    fn retry(&mut self, _: &mut R, outcome: &mut Outcome) -> Option<Self::Future> {
        self.retries += 1;
        let again = self.retries < MAX_CALLS && outcome.as_ref().is_err_and(is_transient);
        again.then(|| self.backoff.next_backoff())
    }

    fn clone_request(&mut self, request: &R) -> Option<R> {
        Some(request.clone())
    }
}

fn plain() -> impl Future<Output = Outcome> {
    Retry::new(usual(), service_fn(|()| ping())).oneshot(())
}

fn task(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    Retry::new(usual(), service_fn(move |id| service.get(id))).oneshot(id)
}

fn task_at_once(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    Retry::new(AT_ONCE, service_fn(move |id| service.get(id))).oneshot(id)
}

fn nested(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    Retry::new(usual(), service_fn(move |id| task(service, id))).oneshot(id)
}
