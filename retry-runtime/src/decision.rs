//! What to do after a failed attempt, as data.

use std::time::Duration;

/// What to do after a failed attempt. A predicate given as `on` returns one, or a `bool`.
///
/// Whatever it says, the call ends when its attempts are used up.
///
/// ```
/// use retry_runtime::Decision;
/// use std::time::Duration;
///
/// enum ApiError {
///     Unauthorized,
///     Busy { retry_after: Option<Duration> },
///     StaleRoute,
/// }
///
/// fn classify(error: &ApiError) -> Decision {
///     match error {
///         ApiError::Unauthorized => Decision::Stop,
///         ApiError::Busy { retry_after: Some(wait) } => Decision::RetryAfter(*wait),
///         ApiError::Busy { retry_after: None } => Decision::Retry,
///         ApiError::StaleRoute => Decision::RetryNow,
///     }
/// }
/// # assert_eq!(classify(&ApiError::StaleRoute), Decision::RetryNow);
/// # assert_eq!(classify(&ApiError::Unauthorized), Decision::from(false));
/// # assert_eq!(classify(&ApiError::Busy { retry_after: None }), Decision::from(true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a decision does nothing by itself"]
pub enum Decision {
    /// Trying again can not help: the call ends with this error
    Stop,
    /// Try again after the policy's wait
    Retry,
    /// Try again without waiting, for example over another route. Still counts as an attempt.
    RetryNow,
    /// The other side asked for this wait: the next attempt starts after the longer of it and
    /// the policy's wait. A wait beyond the policy's hint limit
    /// ([`Policy::hint_cap`](crate::Policy::hint_cap)) ends the call at once with its error; it is
    /// neither cut short nor slept through.
    RetryAfter(Duration),
}

impl Decision {
    /// Try again, after the hint of the other side if it gave one.
    ///
    /// ```
    /// use retry_runtime::Decision;
    /// use std::time::Duration;
    ///
    /// assert_eq!(Decision::hinted(None), Decision::Retry);
    /// let hint = Duration::from_secs(2);
    /// assert_eq!(Decision::hinted(Some(hint)), Decision::RetryAfter(hint));
    /// ```
    pub const fn hinted(hint: Option<Duration>) -> Self {
        match hint {
            Some(wait) => Self::RetryAfter(wait),
            None => Self::Retry,
        }
    }
}

/// `true` is [`Retry`](Decision::Retry), `false` is [`Stop`](Decision::Stop).
impl From<bool> for Decision {
    #[inline]
    fn from(transient: bool) -> Self {
        if transient { Self::Retry } else { Self::Stop }
    }
}
