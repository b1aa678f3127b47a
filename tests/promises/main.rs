//! What `#[retryable]` promises, a test for each promise, named after it.

mod arguments;
mod running;

#[path = "../support/mod.rs"]
mod support;
