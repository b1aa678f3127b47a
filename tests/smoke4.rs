#![deny(warnings)]
use retry_runtime::{Attempt, AttemptTimeout, CancelToken, Failure, Reason, Transient, retryable};
use std::{cell::Cell, time::Duration};

#[derive(Debug, PartialEq, Transient, Clone)]
#[transient]
enum E {
    A,
    #[permanent]
    P,
    Timeout(Duration),
}
impl From<AttemptTimeout> for E {
    fn from(t: AttemptTimeout) -> Self {
        E::Timeout(t.limit())
    }
}

#[retryable(max = "unlimited", base_ms = 1000, jitter = "none", deadline_ms = 5000)]
async fn deadline(calls: &Cell<u32>) -> Result<u32, E> {
    calls.set(calls.get() + 1);
    Err(E::A)
}

#[retryable(max = 3, base_ms = 10, jitter = "none", timeout_ms = 200, on = "any")]
async fn timeout(calls: &Cell<u32>) -> Result<u32, E> {
    calls.set(calls.get() + 1);
    if calls.get() < 3 {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    Ok(calls.get())
}

#[retryable(max = 5, backoff = "none", attempt = attempt, deadline_ms = 10_000)]
fn attempts(seen: &mut Vec<Attempt>) -> Result<u32, E> {
    seen.push(attempt);
    if attempt.number() < 3 {
        Err(E::A)
    } else {
        Ok(1)
    }
}

fn fallback(f: Failure<E>, id: u32, name: &str) -> Result<String, E> {
    assert_eq!(f.reason, Reason::AttemptsUsedUp);
    Ok(format!("{id} {name} {} {:?}", f.attempts, f.error))
}
fn simple<T: Default>(_: Failure<E>) -> Result<T, E> {
    Ok(T::default())
}
#[retryable(max = 2, backoff = "none", recover = fallback)]
fn recovers(id: u32, name: &str) -> Result<String, E> {
    Err(E::A)
}
#[retryable(max = 2, backoff = "none", recover = simple)]
fn recovers_simple(id: u32, permanent: bool) -> Result<String, E> {
    Err(if permanent { E::P } else { E::A })
}
#[retryable(max = 2, backoff = "none", recover_all = |failure| Ok(format!("{:?} {id}", failure.error)))]
fn recovers_closure(id: u32, permanent: bool) -> Result<String, E> {
    Err(if permanent { E::P } else { E::A })
}

#[retryable(max = 2, base_ms = 30_000, cap_ms = 60_000, jitter = "none", cancel = token)]
async fn cancelled(token: &CancelToken) -> Result<String, E> {
    Err(E::A)
}
#[retryable(max = 2, base_ms = 30_000, cap_ms = 60_000, jitter = "none", cancel = token)]
fn cancelled_blocking(token: &CancelToken) -> Result<String, E> {
    Err(E::A)
}

fn need_send<T: Send>(t: T) -> T {
    t
}

#[tokio::test(start_paused = true)]
async fn limits() {
    let start = tokio::time::Instant::now();
    let calls = Cell::new(0);
    assert_eq!(deadline(&calls).await, Err(E::A));
    assert_eq!((calls.get(), start.elapsed()), (3, Duration::from_secs(3)));
    calls.set(0);
    assert_eq!(timeout(&calls).await, Ok(3));
    let mut seen = vec![];
    attempts(&mut seen).unwrap();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[2].to_string(), "3/5");
    assert_eq!(recovers(7, "x").unwrap(), "7 x 2 A");
    assert_eq!(recovers_simple(7, false).unwrap(), "");
    assert_eq!(recovers_simple(7, true).unwrap_err(), E::P);
    assert_eq!(recovers_closure(7, true).unwrap(), "P 7");
    let token = CancelToken::new();
    let call = tokio::spawn({
        let token = token.clone();
        need_send(async move { cancelled(&token).await })
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(token.listeners(), 1);
    token.cancel();
    assert_eq!(call.await.unwrap(), Err(E::A));
    assert_eq!(token.listeners(), 0);
    assert_eq!(cancelled_blocking(&token), Err(E::A));
}
