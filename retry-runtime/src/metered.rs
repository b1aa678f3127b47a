//! Events as counters and histograms. The table of names is `metrics.md`.

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use crate::{
    breaker::{BreakerState, CircuitBreaker},
    budget::RetryBudget,
    decision::Decision,
    event::{Event, Outcome, Step},
    limits::Reason,
};

/// Tells the installed recorder of the crate `metrics` what the metrics of this crate mean, for
/// exporters that show it. They are published without this too.
///
/// ```standalone_crate
/// # #[cfg(feature = "macros")] {
/// use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
/// use retry_runtime::{describe_metrics, retryable};
///
/// #[retryable(max = 3, base_ms = 20, jitter = "none", on = "any", name = "ping")]
/// fn ping() -> Result<(), &'static str> {
///     Err("no answer")
/// }
///
/// // at the start of the program
/// let waits = Matcher::Full("retry_wait_seconds".into());
/// let attempts = Matcher::Full("retry_attempts".into());
/// let prometheus = PrometheusBuilder::new()
///     .set_buckets_for_metric(waits, &[0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0])?
///     .set_buckets_for_metric(attempts, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0])?
///     .install_recorder()?;
/// describe_metrics();
///
/// ping().unwrap_err(); // waits 20 ms and 40 ms
/// let text = prometheus.render();
/// assert!(text.contains("# HELP retry_waiting calls that are waiting for their next attempt"));
/// assert!(text.contains(r#"retry_retries_total{name="ping",reason="error"} 2"#));
/// assert!(text.contains(r#"retry_wait_seconds_bucket{name="ping",le="0.03"} 1"#));
/// # }
/// # Ok::<(), metrics_exporter_prometheus::BuildError>(())
/// ```
///
/// # Buckets
///
/// The exporter decides what becomes of the two histograms. That for Prometheus makes quantiles of
/// them, each of one process, unless it is given buckets as above, which can be added up over all
/// processes. For waits: from a tenth of `base_ms` up to `cap_ms`, or to `hint_cap_ms` where the
/// other side gives hints. For attempts: one for each number up to `max`, with 0 if there is a
/// breaker.
///
/// # The metrics
///
#[doc = include_str!("metrics.md")]
pub fn describe_metrics() {
    describe_counter!(
        "retry_calls_total",
        Unit::Count,
        "calls that have ended, by whether they made a second attempt, and by why they ended"
    );
    describe_counter!(
        "retry_retries_total",
        Unit::Count,
        "retries that were decided on, each counted before its wait"
    );
    describe_histogram!(
        "retry_attempts",
        Unit::Count,
        "attempts of a call, recorded when it ends; 0 if its breaker let none through"
    );
    describe_histogram!(
        "retry_wait_seconds",
        Unit::Seconds,
        "waits before retries, each recorded when it begins"
    );
    describe_gauge!(
        "retry_waiting",
        Unit::Count,
        "calls that are waiting for their next attempt"
    );
    describe_gauge!("retry_breaker_state", "0 closed, 1 half-open, 2 open");
    describe_counter!(
        "retry_breaker_opened_total",
        Unit::Count,
        "how often the breaker has opened"
    );
    describe_counter!(
        "retry_breaker_refused_total",
        Unit::Count,
        "attempts that the breaker did not let through"
    );
    describe_gauge!(
        "retry_budget_available",
        Unit::Count,
        "retries left in the budget, as of the last call that uses it"
    );
    describe_counter!(
        "retry_budget_withdrawn_total",
        Unit::Count,
        "retries paid from the budget"
    );
    describe_counter!(
        "retry_budget_refused_total",
        Unit::Count,
        "retries that the budget did not cover"
    );
}

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

/// The state that a breaker has just taken, and perhaps left again by another thread.
pub(crate) fn breaker_changed(breaker: &CircuitBreaker, state: BreakerState) {
    self::breaker(breaker);
    if let (Some(name), BreakerState::Open) = (breaker.name(), state) {
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
