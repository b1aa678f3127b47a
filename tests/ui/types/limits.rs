use retry_runtime::retryable;

use retry_runtime::{AttemptTimeout, Failure, Transient};

#[derive(Transient)]
#[transient]
struct ApiError;

#[retryable(timeout_ms = 500)]
async fn no_from() -> Result<u32, ApiError> {
    Ok(1)
}

#[retryable(cancel = token)]
fn not_a_token(token: u32) -> Result<u32, ApiError> {
    Ok(1)
}

fn wrong_error(_: Failure<std::io::Error>) -> Result<u32, ApiError> {
    Ok(1)
}

fn wrong_arguments(_: Failure<ApiError>, _: String) -> Result<u32, ApiError> {
    Ok(1)
}

fn wrong_result(_: Failure<ApiError>) -> u32 {
    1
}

#[retryable(recover = wrong_error)]
fn recovers_from_another_error(id: u32) -> Result<u32, ApiError> {
    Ok(id)
}

#[retryable(recover = wrong_arguments)]
fn recovers_with_other_arguments(id: u32) -> Result<u32, ApiError> {
    Ok(id)
}

#[retryable(recover = wrong_result)]
fn recovers_with_another_type(id: u32) -> Result<u32, ApiError> {
    Ok(id)
}

fn main() {}
