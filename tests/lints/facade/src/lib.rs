//! Hands the runtime on, as a framework does.

#![deny(warnings, missing_docs)]

/// By its name.
pub use retry_runtime;

/// With all that is in it.
pub mod retry {
    pub use retry_runtime::*;
}

/// Writes a function that retries itself, for a crate that knows only this one.
#[macro_export]
macro_rules! answer {
    ($name:ident) => {
        /// Written by a macro.
        #[$crate::retry::retryable(crate = ::lints_facade::retry, on = "any")]
        pub fn $name(number: u8) -> Result<u8, String> {
            number.checked_add(1).ok_or_else(|| String::from("full"))
        }
    };
}
