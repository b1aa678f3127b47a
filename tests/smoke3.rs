#![deny(warnings)]
use retry_runtime::retryable;
use std::{
    io,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

struct S<const N: usize> {
    calls: AtomicU32,
}

#[retryable(max = N, base_ms = 1)]
impl<const N: usize> S<N> {
    #![allow(dead_code)]
    pub const LIMIT: u32 = 2;
    fn calls(&self) -> u32 {
        self.calls.swap(0, SeqCst)
    }
    fn fails(&self, until: u32) -> io::Result<u32> {
        if self.calls.fetch_add(1, SeqCst) < until {
            Err(io::ErrorKind::TimedOut)?;
        }
        Ok(1)
    }
    #[retryable(max = Self::LIMIT)]
    fn own(&self, until: u32) -> io::Result<u32> {
        if self.calls.fetch_add(1, SeqCst) < until {
            Err(io::ErrorKind::TimedOut)?;
        }
        Ok(1)
    }
    #[retryable(skip)]
    fn skipped(&self, until: u32) -> io::Result<u32> {
        if self.calls.fetch_add(1, SeqCst) < until {
            Err(io::ErrorKind::TimedOut)?;
        }
        Ok(1)
    }
    async fn asynchronous(&self, until: u32) -> Result<u32, io::Error> {
        if self.calls.fetch_add(1, SeqCst) < until {
            Err(io::ErrorKind::TimedOut)?;
        }
        Ok(1)
    }
}

#[async_trait::async_trait]
trait T {
    async fn go(&self, until: u32) -> io::Result<u32>;
    fn plain(&self) -> u32 {
        1
    }
}
#[retryable(base_ms = 1)]
#[async_trait::async_trait]
impl T for S<1> {
    async fn go(&self, until: u32) -> io::Result<u32> {
        if self.calls.fetch_add(1, SeqCst) < until {
            Err(io::ErrorKind::TimedOut)?;
        }
        Ok(1)
    }
}
#[async_trait::async_trait]
#[retryable(base_ms = 1)]
impl T for S<2> {
    async fn go(&self, until: u32) -> io::Result<u32> {
        if self.calls.fetch_add(1, SeqCst) < until {
            Err(io::ErrorKind::TimedOut)?;
        }
        Ok(1)
    }
}

#[tokio::test]
async fn block() {
    let s = S::<4> {
        calls: AtomicU32::new(0),
    };
    assert!(s.fails(9).is_err());
    assert_eq!(s.calls(), 4);
    assert!(s.own(9).is_err());
    assert_eq!(s.calls(), 2);
    assert!(s.skipped(9).is_err());
    assert_eq!(s.calls(), 1);
    assert!(s.asynchronous(9).await.is_err());
    assert_eq!(s.calls(), 4);
    let s = S::<1> {
        calls: AtomicU32::new(0),
    };
    assert!(s.go(9).await.is_err());
    assert_eq!(s.calls(), 3);
    let s = S::<2> {
        calls: AtomicU32::new(0),
    };
    assert!(s.go(9).await.is_err());
    assert_eq!(s.calls(), 3);
    assert_eq!(s.plain(), 1);
}
