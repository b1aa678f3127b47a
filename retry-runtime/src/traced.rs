//! Events as `tracing` shows them, with the field names of OpenTelemetry where it has one.

use std::time::Duration;

use tracing::{Span, level_filters::LevelFilter};

use crate::{
    attempts::Attempts,
    call::Level,
    decision::Decision,
    event::{Cause, Event, Outcome, Step},
    limits::Reason,
};

/// Whether anybody listens at all.
#[inline]
pub(crate) fn is_enabled() -> bool {
    LevelFilter::current() != LevelFilter::OFF
}

/// The place of an event in the source is its level's: one per message and level.
macro_rules! at_level {
    ($level:expr, $($event:tt)*) => {
        match $level {
            tracing::Level::ERROR => tracing::event!(target: "retry_runtime", tracing::Level::ERROR, $($event)*),
            tracing::Level::WARN => tracing::event!(target: "retry_runtime", tracing::Level::WARN, $($event)*),
            tracing::Level::INFO => tracing::event!(target: "retry_runtime", tracing::Level::INFO, $($event)*),
            _ => tracing::event!(target: "retry_runtime", tracing::Level::DEBUG, $($event)*),
        }
    };
}

pub(crate) fn log(event: &Event<'_>, level: Level) {
    let cause = event.error;
    let error_type = cause.map(Cause::type_name);
    let message = cause.map(tracing::field::display);
    match event.step {
        Step::Retry { wait, decision } => at_level!(
            retry_level(level),
            code.function.name = event.name,
            retry.attempt = event.attempt,
            retry.max = event.max,
            retry.wait_ms = millis(wait),
            retry.hinted = matches!(decision, Decision::RetryAfter(_)),
            retry.elapsed_ms = millis(event.elapsed),
            error.type = error_type,
            exception.message = message,
            "attempt failed, retrying after a wait"
        ),
        // a call that was no retry's business
        Step::End(Outcome::Success) if event.attempt <= 1 => {}
        Step::End(outcome) => at_level!(
            end_level(level, outcome, event.attempt),
            code.function.name = event.name,
            retry.attempt = event.attempt,
            retry.max = event.max,
            retry.outcome = %outcome,
            retry.elapsed_ms = millis(event.elapsed),
            error.type = error_type,
            exception.message = message,
            "{}",
            match outcome {
                Outcome::Success => "succeeded after retries",
                Outcome::Failure(Reason::Dropped | Reason::Panicked) => "call did not end by itself",
                Outcome::Failure(Reason::NotRetryable) => "failed, not retryable",
                Outcome::Failure(_) => "gave up",
            }
        ),
    }
}

const fn retry_level(level: Level) -> tracing::Level {
    match level {
        Level::Warn => tracing::Level::WARN,
        Level::Debug => tracing::Level::DEBUG,
    }
}

const fn end_level(level: Level, outcome: Outcome, attempt: u32) -> tracing::Level {
    match (outcome, level) {
        (Outcome::Success, Level::Warn) => tracing::Level::INFO,
        // what the caller wanted, or an answer like any other
        (Outcome::Success, Level::Debug)
        | (Outcome::Failure(Reason::Cancelled | Reason::Dropped), _) => tracing::Level::DEBUG,
        (Outcome::Failure(Reason::NotRetryable), _) if attempt <= 1 => tracing::Level::DEBUG,
        (Outcome::Failure(_), Level::Warn) => tracing::Level::ERROR,
        (Outcome::Failure(_), Level::Debug) => tracing::Level::WARN,
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// The span of the attempt that is about to begin, below that of the caller.
pub fn attempt_span(name: &'static str, attempts: Attempts) -> Span {
    let attempt = attempts.failures().saturating_add(1);
    tracing::info_span!(target: "retry_runtime", "attempt", code.function.name = name, retry.attempt = attempt)
}
