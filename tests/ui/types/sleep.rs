use retry_runtime::retryable;

use std::time::Duration;

async fn pause(_: Duration) {}

fn block(_: Duration) {}

#[retryable(sleep = pause)]
fn never_waits() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(sleep = "block")]
async fn blocks() -> Result<u32, std::io::Error> {
    Ok(1)
}

#[retryable(sleep = missing)]
fn missing_function() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {}
