use retry_runtime::retryable;

enum ApiError {
    Timeout,
    Status(u16),
}

fn is_transient(_: &ApiError) -> bool {
    true
}

#[retryable(on(is_transient))]
fn a_path_in_parentheses() -> Result<(), ApiError> {
    Ok(())
}

#[retryable(on = "any", except(ApiError::Timeout | other))]
fn a_variable_among_patterns() -> Result<(), ApiError> {
    Ok(())
}

#[retryable(on = ApiError::Timeout)]
fn a_variant_without_parentheses() -> Result<(), ApiError> {
    Ok(())
}

#[retryable(on = "ApiError::Timeout")]
fn a_variant_in_a_string() -> Result<(), ApiError> {
    Ok(())
}

#[retryable(on = ApiError::Status(500))]
fn a_variant_with_a_value() -> Result<(), ApiError> {
    Ok(())
}

#[retryable(until = Some(_))]
fn a_value_without_parentheses() -> Option<u32> {
    None
}

#[retryable(on(ApiError::Timeout, ApiError::Status(_)))]
fn a_list_of_patterns() -> Result<(), ApiError> {
    Ok(())
}

fn main() {}
