use retry_runtime::retryable;

use retry_runtime::{CircuitBreaker, RetryBudget, Transient};

static BUDGET: RetryBudget = RetryBudget::new();
static BREAKER: CircuitBreaker = CircuitBreaker::new();

#[derive(Transient)]
#[transient]
struct ApiError;

#[retryable(breaker = BREAKER)]
fn no_from() -> Result<u32, ApiError> {
    Ok(1)
}

#[retryable(budget = BREAKER)]
fn not_a_budget() -> Result<u32, ApiError> {
    Ok(1)
}

#[retryable(breaker = BUDGET)]
fn not_a_breaker() -> Result<u32, ApiError> {
    Ok(1)
}

fn main() {}
