//! Memory and listeners that grow with the number of attempts.

use std::{cell::Cell, rc::Rc, time::Duration};

use retry_runtime::{CancelToken, Transient, retryable};

use crate::support::{Failed, Log, fail};

const MILLION: u32 = 1_000_000;

/// An error that is counted as long as it lives
#[derive(Transient)]
#[transient]
struct Counted(Rc<Alive>);

#[derive(Default)]
struct Alive {
    now: Cell<u32>,
    most: Cell<u32>,
    calls: Cell<u32>,
}

impl Counted {
    fn new(alive: &Rc<Alive>) -> Self {
        alive.calls.set(alive.calls.get() + 1);
        alive.now.set(alive.now.get() + 1);
        alive.most.set(alive.most.get().max(alive.now.get()));
        Self(Rc::clone(alive))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.now.set(self.0.now.get() - 1);
    }
}

#[retryable(max = MILLION, backoff = "none")]
fn failing(alive: &Rc<Alive>) -> Result<(), Counted> {
    Err(Counted::new(alive))
}

#[retryable(max = MILLION, backoff = "none")]
async fn failing_async(alive: &Rc<Alive>) -> Result<(), Counted> {
    Err(Counted::new(alive))
}

#[retryable(max = MILLION / 10, backoff = "none", until = |_| false)]
fn polling(alive: &Rc<Alive>) -> Counted {
    Counted::new(alive)
}

/// C146, dotnet/orleans#2533
#[tokio::test]
async fn a_million_failures_are_not_kept() {
    let alive = Rc::default();
    assert!(failing(&alive).is_err());
    assert_eq!((alive.calls.get(), alive.most.get()), (MILLION, 1));
    assert_eq!(alive.now.get(), 0);

    let alive = Rc::default();
    assert!(failing_async(&alive).await.is_err());
    assert_eq!((alive.calls.get(), alive.most.get()), (MILLION, 1));
    assert_eq!(alive.now.get(), 0);

    let alive = Rc::default();
    drop(polling(&alive));
    assert_eq!((alive.calls.get(), alive.most.get()), (MILLION / 10, 1));
    assert_eq!(alive.now.get(), 0);
}

#[retryable(base_ms = 1000, cancel = token)]
async fn cancellable(token: &CancelToken) -> Result<u32, Failed> {
    fail()
}

#[retryable(backoff = "none", cancel = token)]
fn cancellable_blocking(token: &CancelToken) -> Result<u32, Failed> {
    fail()
}

/// C145, sindresorhus/p-retry#71, kaeawc/auto-mobile#6138, Gitlawb/openclaude#611
#[tokio::test(start_paused = true)]
async fn a_long_lived_cancel_token_keeps_no_listeners() {
    let (log, token) = (Log::start(), CancelToken::new());
    for _ in 0..20 {
        assert!(cancellable(&token).await.is_err());
        assert!(cancellable_blocking(&token).is_err());
    }
    assert_eq!((log.calls(), token.listeners()), (20 * 2 * 3, 0));

    let dropped = tokio::time::timeout(Duration::ZERO, cancellable(&token));
    assert!(dropped.await.is_err());
    assert_eq!(token.listeners(), 0);
}
