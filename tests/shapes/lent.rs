//! How arguments are lent to the attempts of a task: uniquely, and under their own name.

use std::{cell::Cell, fmt::Display, io, pin::Pin, sync::Arc};

use retry_runtime::{CancelToken, retryable};

fn send<T: Send>(value: T) -> T {
    value
}

async fn tick() -> io::Result<()> {
    tokio::task::yield_now().await;
    Ok(())
}

trait Take {
    fn take(self);
}

impl Take for &mut Vec<u8> {
    fn take(self) {
        self.push(1);
    }
}

fn take<T: Take>(taken: T) {
    taken.take();
}

#[retryable(on = "any")]
fn shadowed_before(x: Arc<str>) -> impl Future<Output = io::Result<usize>> + Send {
    let x = Arc::clone(&x);
    async move {
        tick().await?;
        Ok(x.len())
    }
}

#[retryable(on = "any")]
fn shadowed_before_boxed(x: String) -> Pin<Box<dyn Future<Output = io::Result<usize>> + Send>> {
    let x = x.trim().to_owned();
    Box::pin(async move {
        tick().await?;
        Ok(x.len())
    })
}

#[retryable(on = "any")]
fn shadowed_borrow(x: &mut Vec<u8>) -> Pin<Box<dyn Future<Output = io::Result<usize>> + Send>> {
    let x = x.len();
    Box::pin(async move {
        tick().await?;
        Ok(x)
    })
}

/// Not `Clone`
struct Named(Vec<u8>);

#[retryable(on = "any")]
fn shadowed_and_changed(mut x: Vec<u8>) -> impl Future<Output = io::Result<usize>> + Send {
    x.push(1);
    let x = Named(x);
    async move {
        tick().await?;
        Ok(x.0.len())
    }
}

struct Counter(Cell<u8>);

#[async_trait::async_trait]
trait Counts {
    async fn read(&mut self, other: Cell<u8>) -> io::Result<u8>;
    async fn lend(&mut self, list: &mut Vec<u8>) -> io::Result<usize>;
    async fn recover(&mut self, list: &mut Vec<u8>, count: usize) -> io::Result<usize>;
}

#[async_trait::async_trait]
impl Counts for Counter {
    #[retryable(on = "any")]
    async fn read(&mut self, other: Cell<u8>) -> io::Result<u8> {
        let sum = self.0.get() + other.get();
        tick().await?;
        Ok(sum)
    }

    #[retryable(on = "any")]
    async fn lend(&mut self, list: &mut Vec<u8>) -> io::Result<usize> {
        take(&mut *list);
        let taken = list;
        take(taken);
        tick().await?;
        Ok(usize::from(self.0.get()))
    }

    #[retryable(max = 1, on = "any", recover = Counter::lengths, keep(list))]
    async fn recover(&mut self, list: &mut Vec<u8>, count: usize) -> io::Result<usize> {
        list.resize(count, 0);
        tick().await?;
        Err(io::ErrorKind::TimedOut.into())
    }
}

impl Counter {
    fn lengths(
        _: retry_runtime::Failure<io::Error>,
        list: &mut Vec<u8>,
        count: usize,
    ) -> io::Result<usize> {
        Ok(list.len() * 10 + count)
    }

    #[retryable(on = "any")]
    fn boxed<'a>(&'a mut self) -> Pin<Box<dyn Future<Output = io::Result<u8>> + Send + 'a>> {
        Box::pin(async move {
            let count = self.0.get();
            tick().await?;
            Ok(count)
        })
    }

    #[retryable(on = "any")]
    async fn of_static(&mut self) -> io::Result<&'static str> {
        let count = self.0.get();
        tick().await?;
        Ok(if count == 1 { "one" } else { "many" })
    }
}

#[retryable(on = "any")]
fn static_beside_a_borrow(list: &mut Vec<u8>) -> io::Result<&'static str> {
    take(list);
    Ok("a")
}

#[retryable(on = "any")]
async fn only_in_a_text(message: Box<dyn Display + Send>) -> io::Result<String> {
    let text = format!("{message}!");
    tick().await?;
    Ok(text)
}

#[retryable(on = "any")]
#[allow(clippy::used_underscore_binding)]
async fn with_an_underscore(_count: Cell<u8>) -> io::Result<u8> {
    let count = _count.get();
    tick().await?;
    Ok(count)
}

#[retryable(on = "any", cancel = token, attempt = attempt)]
async fn beside_a_token(token: CancelToken, count: Cell<u8>) -> io::Result<(bool, u8, u32)> {
    tick().await?;
    Ok((token.is_cancelled(), count.get(), attempt.number()))
}

#[tokio::test]
async fn arguments_are_lent_to_each_attempt() {
    assert_eq!(send(shadowed_before("ab".into())).await.unwrap(), 2);
    assert_eq!(send(shadowed_before_boxed(" ab ".into())).await.unwrap(), 2);
    assert_eq!(send(shadowed_borrow(&mut vec![1])).await.unwrap(), 1);
    assert_eq!(send(shadowed_and_changed(vec![])).await.unwrap(), 1);
    let mut counter = Counter(Cell::new(1));
    assert_eq!(counter.read(Cell::new(2)).await.unwrap(), 3);
    let mut list = vec![];
    assert_eq!(counter.lend(&mut list).await.unwrap(), 1);
    assert_eq!(list.len(), 2);
    assert_eq!(counter.recover(&mut list, 3).await.unwrap(), 33);
    assert_eq!(counter.boxed().await.unwrap(), 1);
    assert_eq!(send(counter.of_static()).await.unwrap(), "one");
    assert_eq!(static_beside_a_borrow(&mut list).unwrap(), "a");
    assert_eq!(send(only_in_a_text(Box::new(1))).await.unwrap(), "1!");
    assert_eq!(send(with_an_underscore(Cell::new(1))).await.unwrap(), 1);
    let call = beside_a_token(CancelToken::new(), Cell::new(1));
    assert_eq!(send(call).await.unwrap(), (false, 1, 1));
}
