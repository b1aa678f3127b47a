use retry_runtime::retryable;

#[derive(Debug)]
struct ApiError;

#[retryable]
fn fetch() -> Result<u32, ApiError> {
    Err(ApiError)
}

#[retryable]
async fn anything() -> Result<u32, Box<dyn std::error::Error>> {
    Ok(1)
}

fn main() {}
