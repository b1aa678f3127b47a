//! The functions in edition 2021.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    unused,
    rust_2018_idioms,
    future_incompatible,
    rust_2021_compatibility,
    rust_2024_compatibility
)]
#![deny(
    unreachable_pub,
    unused_qualifications,
    single_use_lifetimes,
    unused_results
)]
#![deny(clippy::all, clippy::pedantic)]
#![allow(
    impl_trait_overcaptures,
    rust_2024_incompatible_pat,
    reason = "the functions do so"
)]

#[path = "../../functions.rs"]
pub mod functions;

/// Before edition 2024 `mut` makes a copy of what the pattern borrows.
#[allow(clippy::missing_errors_doc, clippy::trivially_copy_pass_by_ref)]
#[retry_runtime::retryable(on = "any")]
pub fn borrowed_pattern((mut number, _): &(u8, u8)) -> Result<u8, String> {
    number += 1;
    Ok(number)
}
