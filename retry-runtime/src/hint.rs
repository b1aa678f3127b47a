//! HTTP `Retry-After` -> how long to wait.

use std::time::{Duration, SystemTime};

/// The wait in the value of an HTTP `Retry-After` header: seconds, or a date (RFC 9110, 10.2.3).
///
/// A date in the past and a negative number are no wait. Seconds may have a fraction, which the
/// standard does not have but servers do. `None` if the value is neither, so that the policy's own
/// wait is used. There is no upper limit here: the policy's
/// [`hint_cap`](crate::Policy::hint_cap) is one.
///
/// ```
/// use retry_runtime::{Decision, retry_after};
/// use std::time::Duration;
///
/// assert_eq!(retry_after("120"), Some(Duration::from_secs(120)));
/// assert_eq!(retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
/// assert_eq!(retry_after("soon"), None);
///
/// // given as `on`: what the server asks for, or else the policy's wait
/// struct Busy { retry_after: Option<String> }
/// fn decide(error: &Busy) -> Decision {
///     Decision::hinted(error.retry_after.as_deref().and_then(retry_after))
/// }
/// # assert_eq!(decide(&Busy { retry_after: None }), Decision::Retry);
/// # assert_eq!(decide(&Busy { retry_after: Some("1".into()) }), Decision::RetryAfter(Duration::from_secs(1)));
/// ```
pub fn retry_after(value: &str) -> Option<Duration> {
    retry_after_at(value, SystemTime::now())
}

/// [`retry_after`] for another time than now, which dates are compared with.
///
/// ```
/// use retry_runtime::retry_after_at;
/// use std::time::{Duration, UNIX_EPOCH};
///
/// let wait = retry_after_at("Thu, 01 Jan 1970 00:02:00 GMT", UNIX_EPOCH);
/// assert_eq!(wait, Some(Duration::from_secs(120)));
/// ```
pub fn retry_after_at(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    // whole seconds of any size: a float would round large ones
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    if let Ok(seconds) = value.parse::<f64>() {
        // neither infinite nor NaN, which the same parser takes
        let seconds = seconds.is_finite().then_some(seconds.max(0.0))?;
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now_ms: u64, value: &str) -> Option<Duration> {
        retry_after_at(
            value,
            SystemTime::UNIX_EPOCH
                .checked_add(Duration::from_millis(now_ms))
                .unwrap(),
        )
    }

    #[test]
    fn seconds_are_taken_whole_however_many() {
        for (value, seconds) in [
            ("0", 0),
            ("90", 90),
            (" 7 ", 7),
            ("9999999999", 9_999_999_999),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(at(0, value), Some(Duration::from_secs(seconds)), "{value}");
        }
        assert_eq!(at(0, "1.5"), Some(Duration::from_millis(1500)));
        assert_eq!(at(0, "1e300"), Some(Duration::MAX));
    }

    #[test]
    fn what_is_past_or_negative_is_no_wait() {
        for value in ["-1", "-0.5", "Thu, 01 Jan 1970 00:00:09 GMT"] {
            assert_eq!(at(10_000, value), Some(Duration::ZERO), "{value}");
        }
    }

    #[test]
    fn a_date_is_the_time_until_then() {
        assert_eq!(
            at(500, "Thu, 01 Jan 1970 00:02:00 GMT"),
            Some(Duration::from_millis(119_500))
        );
        // the obsolete forms that a recipient has to take
        assert_eq!(
            at(0, "Thursday, 01-Jan-70 00:02:00 GMT"),
            Some(Duration::from_secs(120))
        );
        assert_eq!(
            at(0, "Thu Jan  1 00:02:00 1970"),
            Some(Duration::from_secs(120))
        );
        assert!(
            at(0, "Fri, 31 Dec 9999 23:59:59 GMT")
                .is_some_and(|wait| wait > Duration::from_secs(1 << 37))
        );
    }

    #[test]
    fn what_is_malformed_is_no_hint() {
        for value in [
            "",
            "soon",
            "Thu, 99 Foo",
            "NaN",
            "inf",
            "1e400",
            "-1e400",
            "0x10",
            "1 s",
            "Thu, 01 Jan 1970 25:00:00 GMT",
        ] {
            assert_eq!(at(0, value), None, "{value}");
        }
    }
}
