#![deny(warnings)]
#![allow(clippy::manual_async_fn)]
use retry_runtime::retryable;
use std::{
    cell::Cell,
    io,
    pin::Pin,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

#[async_trait::async_trait]
trait Fetch: Send + Sync {
    fn calls(&self) -> &AtomicU32;
    async fn fetch(&self, mut n: u32, pair: (u32, String), s: String) -> io::Result<u32>;
    #[retryable(max = 3, base_ms = 1)]
    async fn default(&self, s: &str) -> io::Result<usize> {
        if self.calls().fetch_add(1, SeqCst) < 2 {
            Err(io::ErrorKind::TimedOut)?;
        }
        Ok(s.len())
    }
    async fn eat(self, s: String) -> io::Result<String>
    where
        Self: Sized;
}
#[derive(Clone)]
struct S {
    calls: std::sync::Arc<AtomicU32>,
    retries: u32,
}
fn send(s: String) -> usize {
    s.len()
}
#[async_trait::async_trait]
impl Fetch for S {
    fn calls(&self) -> &AtomicU32 {
        &self.calls
    }
    #[retryable(max = self.retries, base_ms = 1, clone(s))]
    async fn fetch(&self, mut n: u32, (a, b): (u32, String), s: String) -> io::Result<u32> {
        n += 1;
        let l = send(s);
        if self.calls().fetch_add(1, SeqCst) < 2 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(n + a + b.len() as u32 + l as u32)
    }
    #[retryable(max = 3, base_ms = 1, clone(self, s))]
    async fn eat(self, s: String) -> io::Result<String> {
        let me = self;
        if me.calls().fetch_add(1, SeqCst) < 2 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(s)
    }
}
impl S {
    #[retryable(max = 3, base_ms = 1)]
    fn impl_future<'a>(
        &'a self,
        id: &'a str,
    ) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        async move {
            if self.calls().fetch_add(1, SeqCst) < 2 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Ok(id.len())
        }
    }
    #[retryable(max = 3, base_ms = 1)]
    fn boxed(&self, id: String) -> Pin<Box<dyn Future<Output = io::Result<usize>> + Send + '_>> {
        let extra = 1;
        Box::pin(async move {
            if self.calls().fetch_add(1, SeqCst) < 2 {
                Err(io::ErrorKind::TimedOut)?;
            }
            Ok(id.len() + extra)
        })
    }
    async fn plain(&self, id: &str) -> io::Result<usize> {
        if self.calls().fetch_add(1, SeqCst) < 2 {
            Err(io::ErrorKind::TimedOut)?;
        }
        Ok(id.len())
    }
    #[retryable(max = 3, base_ms = 1)]
    fn delegated<'a>(&'a self, id: &'a str) -> impl Future<Output = io::Result<usize>> + Send + 'a {
        self.plain(id)
    }
    #[retryable(max = 3, base_ms = 1)]
    fn delegated_box<'a>(
        &'a self,
        id: &'a str,
    ) -> Pin<Box<dyn Future<Output = io::Result<usize>> + Send + 'a>> {
        if id.is_empty() {
            return Box::pin(async { Ok(0) });
        }
        Box::pin(self.plain(id))
    }
}

#[tokio::test]
async fn futures() {
    let s = S {
        calls: Default::default(),
        retries: 3,
    };
    let reset = || s.calls.store(0, SeqCst);
    let f: &dyn Fn() -> u32 = &|| s.calls.load(SeqCst);
    assert_eq!(s.fetch(1, (1, "ab".into()), "xyz".into()).await.unwrap(), 8);
    assert_eq!(f(), 3);
    reset();
    assert_eq!(s.default("abc").await.unwrap(), 3);
    assert_eq!(f(), 3);
    reset();
    assert_eq!(s.impl_future("abc").await.unwrap(), 3);
    assert_eq!(f(), 3);
    reset();
    assert_eq!(s.boxed("abc".into()).await.unwrap(), 4);
    assert_eq!(f(), 3);
    reset();
    assert_eq!(s.delegated("abc").await.unwrap(), 3);
    assert_eq!(f(), 3);
    reset();
    assert_eq!(s.delegated_box("abc").await.unwrap(), 3);
    assert_eq!(f(), 3);
    reset();
    assert_eq!(s.clone().eat("abc".into()).await.unwrap(), "abc");
    assert_eq!(f(), 3);
    let _ = Cell::new(1);
}
