//! Time, other callers, and somebody who cancels: what ends a call besides its policy, through the
//! attribute. Promises 1, 11, 12 and 15 to 19 of the contract; README.md has the reported bugs.

#![allow(
    clippy::disallowed_methods,
    reason = "time of a thread is real, also in tests"
)]

mod attempt;
mod breaker;
mod budget;
mod cancel;
mod combination;
mod compiling;
mod deadline;
mod dropping;
mod faults;
mod figures;
mod hints;
mod recover;
mod support;
mod timeout;

#[allow(dead_code, reason = "of tables in another form")]
#[path = "../figures/account.rs"]
mod account;
