//! What `#[retryable]` promises, a test for each promise, named after it.

mod arguments;
mod attributes;
mod blocks;
mod deciding;
mod documentation;
mod expressions;
mod numbers;
mod polling;
mod running;
mod sending;
mod sleeping;
mod waiting;
mod warnings;

#[path = "../support/mod.rs"]
mod support;
