//! Bugs that users of other retry libraries reported, as tests: `README.md` has the whole list.

mod jitter;
mod overflow;

#[path = "../support/mod.rs"]
mod support;
