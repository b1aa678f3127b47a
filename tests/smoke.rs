#![deny(warnings)]
use retry_runtime::{Policy, Transient, retryable};
use std::cell::Cell;
use std::io;

const POLICY: Policy = Policy::new().max(4).base_ms(1);
const MAX: usize = 3;

#[retryable(max = MAX, base_ms = 1)]
fn sync(calls: &Cell<u32>) -> io::Result<u32> {
    calls.set(calls.get() + 1);
    if calls.get() < 3 {
        Err(io::ErrorKind::TimedOut)?;
    }
    Ok(calls.get())
}

#[retryable(policy = POLICY, on = "any")]
async fn asynchronous(
    calls: &mut u32,
    mut fresh: u32,
    owned: String,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    *calls += 1;
    fresh += 1;
    if *calls < 3 {
        return Err(Box::new(io::Error::from(io::ErrorKind::Other)));
    }
    Ok(format!("{fresh} {owned}"))
}

#[derive(Debug, Transient, PartialEq)]
enum E {
    #[transient]
    A,
    #[permanent]
    B,
}

#[derive(Clone)]
struct S {
    retries: u8,
    calls: u32,
}
impl S {
    #[retryable(max = self.retries, base_ms = 1)]
    fn m(&mut self) -> Result<u32, E> {
        self.calls += 1;
        if self.calls < 3 {
            Err(E::A)
        } else if self.calls == 3 {
            Ok(3)
        } else {
            Err(E::B)
        }
    }
    #[retryable(max = 5, base_ms = 1, on(E::A), clone(self))]
    fn eat(self, calls: &Cell<u32>) -> Result<S, E> {
        calls.set(calls.get() + 1);
        let s = self;
        if calls.get() < 3 { Err(E::A) } else { Ok(s) }
    }
}

#[retryable(until(Some(_)), base_ms = 1)]
fn poll(calls: &Cell<u32>) -> Option<u32> {
    calls.set(calls.get() + 1);
    if calls.get() < 3 {
        None
    } else {
        Some(calls.get())
    }
}

#[test]
fn works() {
    assert_eq!(sync(&Cell::new(0)).unwrap(), 3);
    assert_eq!(poll(&Cell::new(0)).unwrap(), 3);
    let mut s = S {
        retries: 3,
        calls: 0,
    };
    assert_eq!(s.m(), Ok(3));
    assert_eq!(s.eat(&Cell::new(0)).unwrap().calls, 3);
}

fn need_send<T: Send>(t: T) -> T {
    t
}
#[tokio::test]
async fn works_async() {
    let mut calls = 0;
    assert_eq!(
        need_send(asynchronous(&mut calls, 1, "x".into()))
            .await
            .unwrap(),
        "2 x"
    );
    assert_eq!(calls, 3);
}
