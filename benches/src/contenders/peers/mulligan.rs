use std::time::Duration;

use mulligan::{Exponential, Full, Mulligan};

use crate::{
    BASE_MS, Failed, MAX_CALLS, Outcome, Service,
    contenders::{Calls, Contender, sizes, task},
    is_transient, ping,
};

pub const CONTENDER: Contender = Contender {
    name: "mulligan",
    blocking: Calls {
        usual: Ok(blocking),
        at_once: Ok(blocking_at_once),
    },
    task: task!(task),
    waiting: Ok(|service, id| Box::pin(task(service, id))),
    sizes: sizes!(plain, task, nested),
};

const RETRIES: u32 = MAX_CALLS - 1;

fn is_final(outcome: &Outcome) -> bool {
    !outcome.as_ref().is_err_and(is_transient)
}

type Usual = Mulligan<'static, u64, Failed, fn(&Outcome) -> bool, Full, Exponential>;

fn usual() -> Usual {
    mulligan::until(is_final as fn(&Outcome) -> bool)
        .stop_after(RETRIES)
        .exponential(Duration::from_millis(BASE_MS))
        .max_delay(Duration::from_secs(30))
        .full_jitter()
}

fn blocking(service: &Service, id: u64) -> Outcome {
    usual().execute_sync(|| service.call(id))
}

fn blocking_at_once(service: &Service, id: u64) -> Outcome {
    mulligan::until(is_final)
        .stop_after(RETRIES)
        .execute_sync(|| service.call(id))
}

fn plain() -> impl Future<Output = Outcome> {
    usual().execute(ping)
}

fn task(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    usual().execute(move || service.get(id))
}

fn nested(service: &Service, id: u64) -> impl Future<Output = Outcome> {
    usual().execute(move || task(service, id))
}
