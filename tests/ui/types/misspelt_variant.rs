use retry_runtime::retryable;

use ApiError::{Busy, Fatal};

#[derive(Clone, Copy)]
enum ApiError {
    Busy,
    Fatal,
}

#[retryable(on(Bussy | Fatal))]
fn fetch() -> Result<u32, ApiError> {
    Err(Busy)
}

fn main() {}
