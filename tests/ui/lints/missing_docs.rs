//! The section on retries is no description: the lint still asks for one.
#![deny(missing_docs)]

use retry_runtime::retryable;

#[retryable(on = "any")]
pub fn function() -> Result<u32, String> {
    Ok(1)
}

/// Has methods.
pub struct Client;

#[retryable(on = "any")]
impl Client {
    pub fn method(&self) -> Result<u32, String> {
        Ok(1)
    }

    /// Is described.
    pub fn other(&self) -> Result<u32, String> {
        Ok(1)
    }
}

fn main() {}
