use retry_runtime::retryable;

struct ApiError;

fn by_value(_: ApiError) -> bool {
    true
}

fn no_answer(_: &ApiError) {}

fn of_another(_: &std::io::Error) -> bool {
    true
}

#[retryable(on = "missing")]
fn not_there() -> Result<u32, ApiError> {
    Ok(1)
}

#[retryable(on = "by_value")]
fn takes_the_value() -> Result<u32, ApiError> {
    Ok(1)
}

#[retryable(on = no_answer)]
fn answers_nothing() -> Result<u32, ApiError> {
    Ok(1)
}

#[retryable(on = of_another)]
fn wrong_type() -> Result<u32, ApiError> {
    Ok(1)
}

#[retryable(on = |error| error.is_transient())]
fn closure() -> Result<u32, ApiError> {
    Ok(1)
}

#[retryable(on(ApiError::Timeout))]
fn pattern() -> Result<u32, ApiError> {
    Ok(1)
}

fn main() {}
