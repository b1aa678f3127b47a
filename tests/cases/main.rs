//! Bugs that users of other retry libraries reported, as tests: `README.md` has the whole list.

mod arguments;
mod attempt_count;
mod blocking;
mod classification;
mod jitter;
mod last_error;
mod overflow;
mod ownership;

#[path = "../support/mod.rs"]
mod support;
