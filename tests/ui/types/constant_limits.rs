use retry_runtime::retryable;

use retry_runtime::AttemptTimeout;

const NONE: u64 = 0;
const NEGATIVE: i64 = -5;
const LONG: u64 = 500;
const SHORT: u64 = 100;

struct ApiError;

impl From<AttemptTimeout> for ApiError {
    fn from(_: AttemptTimeout) -> Self {
        Self
    }
}

#[retryable(deadline_ms = NONE, on = "any")]
fn no_time() -> Result<u32, ApiError> {
    Ok(1)
}

#[retryable(deadline_ms = NEGATIVE, on = "any")]
fn negative() -> Result<u32, ApiError> {
    Ok(1)
}

#[retryable(timeout_ms = LONG, deadline_ms = SHORT, max = 2, base_ms = 10, on = "any")]
async fn longer_than_the_call() -> Result<u32, ApiError> {
    Ok(1)
}

fn main() {}
