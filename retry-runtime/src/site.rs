//! The retried functions of the program, and what an operator has changed about them.

use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{overrides::Setting, policy::Policy};

/// A function with the attribute: what it is called, and how it retries.
///
/// [`sites`] lists those of the program.
pub struct Site {
    name: &'static str,
    policy: Option<&'static Policy>,
    is_overridden: AtomicBool,
    settings: Mutex<Vec<Setting>>,
}

/// All functions with the attribute in this program, those of other crates and those that are never
/// called included, in no particular order. A generic function is one of them, whatever its
/// parameters; closures are none.
///
/// ```
/// # #[cfg(feature = "macros")] {
/// use retry_runtime::{retryable, sites};
///
/// #[retryable(max = 5, base_ms = 50, name = "fetch")]
/// fn fetch() -> std::io::Result<()> {
///     Ok(())
/// }
///
/// let fetch = sites().find(|site| site.name() == "fetch").unwrap();
/// assert_eq!(fetch.policy().unwrap().max_calls(), Some(5));
/// assert_eq!(
///     fetch.to_string(),
///     "fetch: up to 5 calls; waits of 50ms, times 2, at most 30s; full jitter"
/// );
/// # }
/// ```
///
/// The list is made by the linker and by functions that run before `main`, by the crate
/// `inventory`, on the platforms that it supports. On WebAssembly without a start function it is
/// empty.
pub fn sites() -> impl Iterator<Item = &'static Site> {
    inventory::iter::<&'static Site>.into_iter().copied()
}

inventory::collect!(&'static Site);

impl Site {
    #[doc(hidden)]
    pub const fn new(name: &'static str, policy: Option<&'static Policy>) -> Self {
        Self {
            name,
            policy,
            is_overridden: AtomicBool::new(false),
            settings: Mutex::new(Vec::new()),
        }
    }

    /// The key `name`, or else module path and function name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The policy as it is written; `None` where a part of it is an expression that is evaluated at
    /// run time, or depends on generic parameters.
    pub fn policy(&self) -> Option<Policy> {
        self.policy.copied()
    }

    /// The policy with what was overridden.
    pub fn effective(&self) -> Option<Policy> {
        self.policy.map(|policy| self.policy_or(policy))
    }

    /// Whether an [`Overrides`](crate::Overrides) has changed anything.
    pub fn is_overridden(&self) -> bool {
        self.is_overridden.load(Ordering::Acquire)
    }

    /// The policy to go by. Asked after a failed attempt.
    #[doc(hidden)]
    #[inline]
    pub fn policy_or(&self, policy: &Policy) -> Policy {
        if self.is_overridden() {
            self.overridden(*policy)
        } else {
            *policy
        }
    }

    #[cold]
    fn overridden(&self, policy: Policy) -> Policy {
        let settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        settings
            .iter()
            .fold(policy, |policy, setting| setting.on(policy))
    }

    pub(crate) fn set(&self, settings: Vec<Setting>) {
        let mut current = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_overridden
            .store(!settings.is_empty(), Ordering::Release);
        *current = settings;
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site")
            .field("name", &self.name)
            .field("policy", &self.effective())
            .field("is_overridden", &self.is_overridden())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match self.effective() {
            Some(policy) => policy.fmt(f)?,
            None => f.write_str("known when it is called")?,
        }
        if self.is_overridden() {
            f.write_str(" (overridden)")?;
        }
        Ok(())
    }
}
