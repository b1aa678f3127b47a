//! Bugs that users of other retry libraries reported, as tests: `README.md` has the whole list.

mod attempt_count;
mod classification;
mod jitter;
mod last_error;
mod overflow;

#[path = "../support/mod.rs"]
mod support;
