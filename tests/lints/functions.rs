//! Functions of the usual shapes, written so that no lint finds fault with them.

use retry_runtime::{Decision, Policy, Transient, retryable};
use std::{convert::Infallible, error::Error, fmt, future, future::Future, io, path::Path};

/// Calls in total.
pub const MAX: u8 = 5;

/// A policy that several functions share.
pub const QUICK: Policy = Policy::new().max(4).base_ms(5);

/// What a service answers instead of an order.
#[derive(Debug, Transient)]
#[non_exhaustive]
pub enum ApiError {
    /// Too much to do
    #[transient]
    Busy,
    /// Not this way
    #[permanent]
    Status(u16),
    /// Did not get there
    #[transient(inner)]
    Io(io::Error),
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Busy => f.write_str("busy"),
            Self::Status(status) => write!(f, "status {status}"),
            Self::Io(ref error) => error.fmt(f),
        }
    }
}

impl Error for ApiError {}

impl From<io::Error> for ApiError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Whether to call again.
pub const fn decide(error: &ApiError) -> Decision {
    match *error {
        ApiError::Busy => Decision::RetryNow,
        ApiError::Status(_) | ApiError::Io(_) => Decision::Stop,
    }
}

/// Never ends.
///
/// # Errors
///
/// Never.
#[retryable(on = "any")]
pub async fn endless() -> io::Result<String> {
    match future::pending::<Infallible>().await {}
}

/// Reads a file.
///
/// # Errors
///
/// If there is none.
#[retryable]
pub fn bare(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path)
}

/// Constants and the other literals.
///
/// # Errors
///
/// If it is busy.
#[retryable(max = MAX, base_ms = 10, factor = 1.5, cap_ms = 1000, jitter = 0.5, on(ApiError::Busy))]
pub fn constants(number: u8) -> Result<u8, ApiError> {
    number.checked_add(1).ok_or(ApiError::Busy)
}

/// Waits from a list, and a predicate by its path.
///
/// # Errors
///
/// If it is busy.
#[retryable(policy = QUICK, delays_ms = [10, 20], on = decide, except(ApiError::Status(400..=499)))]
pub fn listed(number: u8) -> Result<u8, ApiError> {
    number.checked_add(1).ok_or(ApiError::Busy)
}

/// Text that Markdown would take for something else.
///
/// # Errors
///
/// If it is busy.
#[retryable(max = 2, on = |error: &ApiError| error.to_string() != "`[nowhere]` <T> *[x](y)*")]
pub fn quoted(number: u8) -> Result<u8, ApiError> {
    number.checked_add(1).ok_or(ApiError::Busy)
}

/// Says nothing of its retries.
///
/// # Errors
///
/// If it is busy.
#[retryable(doc = false)]
pub fn silent(number: u8) -> Result<u8, ApiError> {
    number.checked_add(1).ok_or(ApiError::Busy)
}

/// A copy of the number for each attempt, and the text as it is.
///
/// # Errors
///
/// If it is busy.
#[retryable(backoff = "linear", on = |error| matches!(error, ApiError::Busy))]
pub async fn arguments(mut number: u8, text: &str) -> Result<String, ApiError> {
    number = number.checked_add(1).ok_or(ApiError::Busy)?;
    tokio::task::yield_now().await;
    Ok(format!("{number} {text}"))
}

/// Consumes its argument.
///
/// # Errors
///
/// If it is busy.
#[retryable(clone(text), backoff = "fixed", base_ms = 1)]
pub async fn consumed(text: String) -> Result<Vec<u8>, ApiError> {
    tokio::task::yield_now().await;
    if text.is_empty() {
        return Err(ApiError::Busy);
    }
    Ok(text.into_bytes())
}

/// Consumes its argument too.
///
/// # Errors
///
/// If there is no text.
#[retryable(clone(text), base_ms = 1)]
pub fn consumed_at_once(text: String) -> Result<Vec<u8>, ApiError> {
    if text.is_empty() {
        return Err(ApiError::Busy);
    }
    Ok(text.into_bytes())
}

/// Changes what it was given, in each attempt anew.
///
/// # Errors
///
/// If there is nothing.
#[retryable(base_ms = 1)]
pub fn changed((mut number, text): (u8, &str), mut rest: &[u8]) -> Result<Vec<u8>, ApiError> {
    number = number.checked_add(1).ok_or(ApiError::Busy)?;
    let mut list = vec![number];
    list.extend(text.bytes());
    while let Some((first, others)) = rest.split_first() {
        list.push(*first);
        rest = others;
    }
    Ok(list)
}

/// Changes what it was given, in each attempt anew.
///
/// # Errors
///
/// If there is nothing.
#[retryable(base_ms = 1)]
pub fn changed_and_returned(mut list: Vec<u8>) -> Result<Vec<u8>, ApiError> {
    list.push(1);
    Ok(list)
}

/// Keeps what it was given.
///
/// # Errors
///
/// If there is nothing.
#[retryable(base_ms = 1, keep(names))]
pub fn kept(
    mut names: impl Iterator<Item = u8>,
    mut next: impl FnMut() -> Option<u8>,
    out: &mut Vec<u8>,
) -> Result<u8, ApiError> {
    let name = names.next().or_else(&mut next).ok_or(ApiError::Busy)?;
    out.push(name);
    Ok(name)
}

/// Is generic.
///
/// # Errors
///
/// If there is nothing.
#[retryable(max = N, base_ms = 1)]
pub fn generic<T, const N: usize>(texts: &[T; N]) -> Result<&str, ApiError>
where
    T: AsRef<str>,
{
    texts.first().map(AsRef::as_ref).ok_or(ApiError::Busy)
}

/// Polls.
#[retryable(until(Some(_)), max = 9, backoff = "none")]
#[must_use]
pub fn polled(text: &str) -> Option<char> {
    let first = text.chars().next()?;
    first.is_alphanumeric().then_some(first)
}

/// Limited in time, twice.
///
/// # Errors
///
/// If it is busy.
#[retryable(deadline_ms = 500, max = "unlimited", base_ms = 5)]
pub async fn limited(text: &str) -> io::Result<usize> {
    tokio::task::yield_now().await;
    Ok(text.len())
}

/// A future that is returned.
///
/// # Errors
///
/// If it is busy.
#[retryable(base_ms = 1)]
pub fn returned(text: &str) -> impl Future<Output = Result<usize, ApiError>> + Send {
    let length = text.len();
    async move {
        tokio::task::yield_now().await;
        length.checked_add(1).ok_or(ApiError::Busy)
    }
}

/// Has methods.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Client {
    /// The policy of this client
    pub policy: Policy,
    /// The calls of this client
    pub retries: u32,
    /// What it knows
    name: String,
}

impl Client {
    /// A client of this name.
    #[must_use]
    pub const fn new(name: String) -> Self {
        Self {
            policy: QUICK,
            retries: 3,
            name,
        }
    }

    /// Values known at run time.
    ///
    /// # Errors
    ///
    /// If it is busy.
    #[retryable(policy = self.policy, max = self.retries, on = |error| self.retries(error))]
    pub fn shared(&self, number: u8) -> Result<u8, ApiError> {
        number.checked_add(1).ok_or(ApiError::Busy)
    }

    /// Keeps its state.
    ///
    /// # Errors
    ///
    /// If it is busy.
    #[retryable(base_ms = u64::from(self.retries), factor = 1.5)]
    pub async fn exclusive(&mut self, out: &mut String) -> Result<u32, ApiError> {
        self.retries = self.retries.checked_sub(1).ok_or(ApiError::Busy)?;
        out.push_str(&self.name);
        tokio::task::yield_now().await;
        Ok(self.retries)
    }

    /// Is consumed.
    ///
    /// # Errors
    ///
    /// If it has no name.
    #[retryable(clone(self), base_ms = 1)]
    pub fn into_name(self) -> Result<String, ApiError> {
        if self.name.is_empty() {
            return Err(ApiError::Busy);
        }
        Ok(self.name)
    }

    /// Is changed by each attempt.
    ///
    /// # Errors
    ///
    /// If it is busy.
    #[retryable(base_ms = 1)]
    pub fn renamed(mut self) -> Result<Self, ApiError> {
        self.name.push('!');
        self.retries = self.retries.checked_sub(1).ok_or(ApiError::Busy)?;
        Ok(self)
    }

    /// Whether the client retries.
    const fn retries(&self, error: &ApiError) -> bool {
        self.retries > 1 && matches!(*error, ApiError::Busy)
    }
}

/// A service in two words.
pub trait Service {
    /// Asks.
    ///
    /// # Errors
    ///
    /// If it is busy.
    fn ask(&self, number: u8) -> Result<u8, ApiError>;

    /// Answers.
    ///
    /// # Errors
    ///
    /// If it is busy.
    #[retryable(base_ms = 1)]
    fn answer(&self, number: u8) -> Result<u8, ApiError> {
        self.ask(number)
    }
}

#[retryable(max = 2)]
impl Service for Client {
    #[inline]
    fn ask(&self, mut number: u8) -> Result<u8, ApiError> {
        number = number.checked_add(1).ok_or(ApiError::Busy)?;
        Ok(number)
    }

    #[retryable(skip)]
    #[inline]
    fn answer(&self, number: u8) -> Result<u8, ApiError> {
        self.ask(number)
    }
}
