//! Limits that are, or are in, owned arguments which the body reads as well. They are borrowed for
//! as long as the call lasts, and the body needs no more than a borrow either.

use std::sync::Arc;

use retry_runtime::{CancelToken, CircuitBreaker, CircuitOpen, RetryBudget, Transient, retryable};

#[derive(Debug, PartialEq, Transient)]
#[transient]
struct Busy;

impl From<CircuitOpen> for Busy {
    fn from(_: CircuitOpen) -> Self {
        Self
    }
}

#[derive(Default)]
struct Client {
    budget: RetryBudget,
    breaker: CircuitBreaker,
}

/// As the same function without `async` does
#[retryable(backoff = "none", cancel = token)]
async fn by_token(token: CancelToken) -> Result<u32, Busy> {
    if token.is_cancelled() {
        Ok(1)
    } else {
        Err(Busy)
    }
}

#[retryable(backoff = "none", budget = client.budget)]
async fn by_budget(client: Arc<Client>) -> Result<u32, Busy> {
    Err(Busy).or(Ok(client.budget.available()))
}

#[retryable(backoff = "none", breaker = client.breaker)]
async fn by_breaker(client: Arc<Client>) -> Result<u32, Busy> {
    Err(Busy).or(Ok(client.budget.available()))
}

impl Client {
    #[retryable(backoff = "none", budget = self.budget)]
    async fn by_mut_self(&mut self) -> Result<u32, Busy> {
        Ok(self.budget.available())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(by_token(CancelToken::new()).await, Err(Busy));
    assert!(by_budget(Arc::default()).await.is_ok());
    assert!(by_breaker(Arc::default()).await.is_ok());
    assert!(Client::default().by_mut_self().await.is_ok());
}
