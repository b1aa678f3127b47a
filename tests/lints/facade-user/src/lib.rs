//! Knows the runtime only through another crate.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unused, unused_qualifications, clippy::all)]

/// By the name of the crate.
pub mod by_crate {
    use lints_facade::retry_runtime::{Policy, Transient, retryable};

    /// The error.
    #[derive(Debug, Transient)]
    #[transient(crate = ::lints_facade::retry_runtime)]
    #[transient]
    pub struct Busy;

    /// A constant policy.
    pub const QUICK: Policy = Policy::new().max(4).base_ms(5);

    /// The default, or nearly so.
    #[retryable(crate = ::lints_facade::retry_runtime, max = 4)]
    pub fn blocking(number: u8) -> Result<u8, Busy> {
        number.checked_add(1).ok_or(Busy)
    }

    /// Run-time values.
    #[retryable(crate = ::lints_facade::retry_runtime, max = max, base_ms = u32::from(max), factor = 1.5, jitter = 0.5)]
    pub async fn task(max: u8, mut number: u8) -> Result<u8, Busy> {
        number = number.checked_add(1).ok_or(Busy)?;
        Ok(number)
    }

    /// Predicates of each form.
    #[retryable(crate = ::lints_facade::retry_runtime, policy = QUICK, on = |_| true, except(Busy), clone(text))]
    pub async fn judged(text: String) -> Result<Vec<u8>, Busy> {
        Ok(text.into_bytes())
    }

    /// A pattern for the value.
    #[retryable(crate = ::lints_facade::retry_runtime, until(Some(_)), deadline_ms = 900)]
    pub fn polled(text: &str) -> Option<char> {
        text.chars().next()
    }

    /// Has methods.
    #[derive(Clone, Debug)]
    pub struct Client(u8);

    #[retryable(crate = ::lints_facade::retry_runtime, max = self.0)]
    impl Client {
        /// Borrows.
        pub fn shared(&self, number: u8) -> Result<u8, Busy> {
            number.checked_add(self.0).ok_or(Busy)
        }

        /// Is changed.
        #[retryable(base_ms = 10)]
        pub async fn exclusive(&mut self, number: u8) -> Result<u8, Busy> {
            self.0 = number;
            self.shared(number)
        }

        /// Is consumed.
        #[retryable(clone(self))]
        pub fn consumed(self) -> Result<Self, Busy> {
            Ok(self)
        }
    }
}

/// By a module of that crate.
pub mod by_module {
    use lints_facade::retry::{Policy, Transient, retryable};

    /// The error.
    #[derive(Debug, Transient)]
    #[transient(crate = ::lints_facade::retry)]
    #[transient]
    pub struct Busy;

    /// A constant policy.
    pub const QUICK: Policy = Policy::new().max(4).base_ms(5);

    /// The default, or nearly so.
    #[retryable(crate = "::lints_facade::retry", max = 4)]
    pub fn blocking(number: u8) -> Result<u8, Busy> {
        number.checked_add(1).ok_or(Busy)
    }

    /// Run-time values.
    #[retryable(crate = "::lints_facade::retry", max = max, base_ms = u32::from(max), factor = 1.5, jitter = 0.5)]
    pub async fn task(max: u8, mut number: u8) -> Result<u8, Busy> {
        number = number.checked_add(1).ok_or(Busy)?;
        Ok(number)
    }

    /// Predicates of each form.
    #[retryable(crate = "::lints_facade::retry", policy = QUICK, on = |_| true, except(Busy), clone(text))]
    pub async fn judged(text: String) -> Result<Vec<u8>, Busy> {
        Ok(text.into_bytes())
    }

    /// A pattern for the value.
    #[retryable(crate = "::lints_facade::retry", until(Some(_)), deadline_ms = 900)]
    pub fn polled(text: &str) -> Option<char> {
        text.chars().next()
    }

    /// Has methods.
    #[derive(Clone, Debug)]
    pub struct Client(u8);

    #[retryable(crate = "::lints_facade::retry", max = self.0)]
    impl Client {
        /// Borrows.
        pub fn shared(&self, number: u8) -> Result<u8, Busy> {
            number.checked_add(self.0).ok_or(Busy)
        }

        /// Is changed.
        #[retryable(base_ms = 10)]
        pub async fn exclusive(&mut self, number: u8) -> Result<u8, Busy> {
            self.0 = number;
            self.shared(number)
        }

        /// Is consumed.
        #[retryable(clone(self))]
        pub fn consumed(self) -> Result<Self, Busy> {
            Ok(self)
        }
    }
}

lints_facade::answer!(by_macro);
