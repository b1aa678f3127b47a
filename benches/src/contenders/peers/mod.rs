//! Other crates, each used as its documentation shows, at the versions in `Cargo.lock`. Async
//! functions return the crate's own future where they can: an `async fn` around it would be larger.

pub mod backoff;
pub mod backon;
pub mod backon_macros;
pub mod mulligan;
pub mod retry;
pub mod retry_if;
pub mod tokio_retry;
pub mod tokio_retry2;
pub mod tower;

const ASYNC_ONLY: &str = "async only";
