//! The functions in edition 2018.

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
#![allow(impl_trait_overcaptures, reason = "the functions do so")]

#[path = "../../functions.rs"]
pub mod functions;
