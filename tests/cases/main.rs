//! Bugs that users of other retry libraries reported, as tests: `README.md` has the whole list.

mod arguments;
mod attempt_count;
mod blocking;
mod classification;
mod configuration;
mod jitter;
mod last_error;
mod leaks;
mod overflow;
mod ownership;
mod placement;
mod state;

#[path = "../support/mod.rs"]
mod support;
