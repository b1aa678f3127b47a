//! Events as counters and histograms. The table of names is in the documentation of the crate.

use metrics::{counter, gauge, histogram};

use crate::{
    breaker::{BreakerState, CircuitBreaker},
    budget::RetryBudget,
    decision::Decision,
    event::{Event, Outcome, Step},
    limits::Reason,
};

pub(crate) fn count(event: &Event<'_>) {
    let name = event.name;
    match event.step {
        Step::Retry { wait, decision } => {
            let reason = match (event.error, decision) {
                (None, _) => "value",
                (_, Decision::RetryAfter(_)) => "hint",
                (_, Decision::RetryNow) => "now",
                (_, Decision::Retry | Decision::Stop) => "error",
            };
            counter!("retry_retries_total", "name" => name, "reason" => reason).increment(1);
            histogram!("retry_wait_seconds", "name" => name).record(wait);
        }
        Step::End(outcome) => {
            let kind = match (outcome, event.retries()) {
                (Outcome::Success, 0) => "successful_without_retry",
                (Outcome::Success, _) => "successful_with_retry",
                (Outcome::Failure(_), 0) => "failed_without_retry",
                (Outcome::Failure(_), _) => "failed_with_retry",
            };
            let reason = label(outcome);
            counter!("retry_calls_total", "name" => name, "kind" => kind, "reason" => reason)
                .increment(1);
            histogram!("retry_attempts", "name" => name).record(event.attempt);
        }
    }
}

/// One more call that waits, or one less.
pub(crate) fn waiting(name: &'static str, change: f64) {
    gauge!("retry_waiting", "name" => name).increment(change);
}

const fn label(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Success => "success",
        Outcome::Failure(reason) => match reason {
            Reason::NotRetryable => "not_retryable",
            Reason::AttemptsUsedUp => "attempts_used_up",
            Reason::Deadline => "deadline",
            Reason::HintTooLong => "hint_too_long",
            Reason::Budget => "budget",
            Reason::Breaker => "breaker",
            Reason::Cancelled => "cancelled",
            Reason::Dropped => "dropped",
            Reason::Panicked => "panicked",
        },
    }
}

/// The state of a breaker that has a name.
pub(crate) fn breaker(breaker: &CircuitBreaker) {
    if let Some(name) = breaker.name() {
        let state = match breaker.state() {
            BreakerState::Closed => 0.0,
            BreakerState::HalfOpen => 1.0,
            BreakerState::Open => 2.0,
        };
        gauge!("retry_breaker_state", "breaker" => name).set(state);
    }
}

/// The state that a breaker has just taken.
pub(crate) fn breaker_changed(breaker: &CircuitBreaker) {
    self::breaker(breaker);
    if let (Some(name), BreakerState::Open) = (breaker.name(), breaker.state()) {
        counter!("retry_breaker_opened_total", "breaker" => name).increment(1);
    }
}

pub(crate) fn breaker_refused(breaker: &CircuitBreaker) {
    if let Some(name) = breaker.name() {
        counter!("retry_breaker_refused_total", "breaker" => name).increment(1);
    }
}

/// The retries that a budget with a name has left.
pub(crate) fn budget(budget: &RetryBudget) {
    if let Some(name) = budget.name() {
        gauge!("retry_budget_available", "budget" => name).set(budget.available());
    }
}

pub(crate) fn withdrawn(budget: &RetryBudget, granted: bool) {
    if let Some(name) = budget.name() {
        let counter = if granted {
            counter!("retry_budget_withdrawn_total", "budget" => name)
        } else {
            counter!("retry_budget_refused_total", "budget" => name)
        };
        counter.increment(1);
        self::budget(budget);
    }
}
