//! Arguments used up by the first attempt.

use std::io::{self, Read};

use retry_runtime::retryable;

use crate::support::{Failed, Log, call, record, record_async, succeed_at};

fn send(body: String, sent: &mut Vec<String>) -> Result<u32, Failed> {
    sent.push(body);
    succeed_at(2)
}

#[retryable(clone(body), sleep = record)]
fn cloned(body: String, sent: &mut Vec<String>) -> Result<u32, Failed> {
    send(body, sent)
}

#[retryable(clone(body), sleep = record_async)]
async fn cloned_async(body: String, sent: &mut Vec<String>) -> Result<u32, Failed> {
    send(body, sent)
}

#[retryable(sleep = record)]
fn cloned_by_hand(body: String, sent: &mut Vec<String>) -> Result<u32, Failed> {
    send(body.clone(), sent)
}

#[retryable(sleep = record_async)]
async fn cloned_by_hand_async(body: String, sent: &mut Vec<String>) -> Result<u32, Failed> {
    send(body.clone(), sent)
}

#[retryable(sleep = record)]
fn used_up(mut body: String, sent: &mut Vec<String>) -> Result<u32, Failed> {
    send(std::mem::take(&mut body), sent)
}

/// C084, XAMPPRocky/octocrab#842
#[tokio::test]
async fn a_retried_request_has_its_body() {
    for call in [cloned, cloned_by_hand, used_up] {
        let (_log, mut sent) = (Log::start(), Vec::new());
        assert_eq!(call("order 7".into(), &mut sent), Ok(2));
        assert_eq!(sent, ["order 7", "order 7"]);
    }
    let (_log, mut sent) = (Log::start(), Vec::new());
    assert_eq!(cloned_async("order 7".into(), &mut sent).await, Ok(2));
    assert_eq!(sent, ["order 7", "order 7"]);
    let (_log, mut sent) = (Log::start(), Vec::new());
    let call = cloned_by_hand_async("order 7".into(), &mut sent);
    assert_eq!(call.await, Ok(2));
    assert_eq!(sent, ["order 7", "order 7"]);
}

#[retryable(sleep = record)]
fn read_all(mut reader: impl Read + Clone, seen: &mut Vec<String>) -> io::Result<()> {
    let mut text = String::new();
    reader.read_to_string(&mut text)?;
    seen.push(text);
    Err(io::ErrorKind::ConnectionReset.into())
}

#[retryable(clone(items), sleep = record_async)]
async fn sum(items: impl Iterator<Item = u32> + Clone, sums: &mut Vec<u32>) -> io::Result<()> {
    sums.push(items.sum());
    Err(io::ErrorKind::ConnectionReset.into())
}

/// C085, jonbern/fetch-retry#99, cloudflare/mcp#197. Readers that can not be cloned are refused
/// by the compiler: tests/ui.
#[tokio::test]
async fn a_reader_or_iterator_starts_over_with_each_attempt() {
    let (_log, mut seen) = (Log::start(), Vec::new());
    assert!(read_all(&b"upload"[..], &mut seen).is_err());
    assert_eq!(seen, ["upload"; 3]);

    let (_log, mut sums) = (Log::start(), Vec::new());
    assert!(sum(1..=4, &mut sums).await.is_err());
    assert_eq!(sums, [10; 3]);
}

struct Writer {
    buffer: Vec<u8>,
    written: Vec<Vec<u8>>,
}

impl Writer {
    fn new() -> Self {
        Self {
            buffer: b"rows".to_vec(),
            written: Vec::new(),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written.push(bytes.to_vec());
        if call() < 3 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    }

    /// The bug: what a failed attempt took is gone
    #[retryable(sleep = record)]
    fn flush_and_lose(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.buffer);
        self.write(&bytes)
    }

    /// What to do about it: put it back
    #[retryable(sleep = record)]
    fn flush(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.buffer);
        self.write(&bytes).inspect_err(|_| self.buffer = bytes)
    }

    #[retryable(sleep = record_async)]
    async fn flush_async(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.buffer);
        self.write(&bytes).inspect_err(|_| self.buffer = bytes)
    }
}

/// C086, apache/opendal#7400
#[tokio::test]
async fn what_a_failed_attempt_took_from_self_must_be_put_back() {
    let (_log, mut writer) = (Log::start(), Writer::new());
    writer.flush_and_lose().unwrap();
    assert_eq!(writer.written, [&b"rows"[..], b"", b""]);

    let (_log, mut writer) = (Log::start(), Writer::new());
    writer.flush().unwrap();
    assert_eq!(writer.written, [b"rows"; 3]);
    assert!(writer.buffer.is_empty());

    let (_log, mut writer) = (Log::start(), Writer::new());
    writer.flush_async().await.unwrap();
    assert_eq!(writer.written, [b"rows"; 3]);
}
