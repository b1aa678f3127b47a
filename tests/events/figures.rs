//! The order of events, and what is counted, against Resilience4j, cockatiel, p-retry and the
//! MicroProfile TCK.

use std::time::Duration;

use retry_runtime::{Outcome, Policy, Reason, Step, retryable, testing};

#[path = "../figures/account.rs"]
mod account;

use account::{Different, Row, same, settle, table};

use crate::metered::counted;

const TWICE: &str = "their `failAfterMaxAttempts` adds an exception of its own, and tells and counts \
     the end of the call twice; ours ends once, with its value";
const NO_RETRY: &str = "a call that may not retry is counted as one that has retried; ours has not";
const IGNORED: &str = "an ignored exception after retries is counted as if there were none";

const DIFFERENT: &Different = &[
    (
        TWICE,
        &[
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=1;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=2;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=3;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=4;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=5;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=2;fail_first=2;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=2;fail_first=3;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=2;fail_first=4;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=2;fail_first=5;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=3;fail_first=3;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=3;fail_first=4;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=3;fail_first=5;by=result;failAfterMaxAttempts=true",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=5;fail_first=5;by=result;failAfterMaxAttempts=true",
        ],
    ),
    (
        NO_RETRY,
        &[
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=1;by=exception;failAfterMaxAttempts=false",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=1;by=result;failAfterMaxAttempts=false",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=2;by=exception;failAfterMaxAttempts=false",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=2;by=result;failAfterMaxAttempts=false",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=3;by=exception;failAfterMaxAttempts=false",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=3;by=result;failAfterMaxAttempts=false",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=4;by=exception;failAfterMaxAttempts=false",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=4;by=result;failAfterMaxAttempts=false",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=5;by=exception;failAfterMaxAttempts=false",
            "resilience4j.Retry calls_events_metrics maxAttempts_total=1;fail_first=5;by=result;failAfterMaxAttempts=false",
        ],
    ),
    (
        IGNORED,
        &["resilience4j.Retry calls_events_metrics 2 retryable then ignored exception; max 5"],
    ),
];

fn count(row: &Row, name: &str) -> u32 {
    row.input[name].as_u64().unwrap().try_into().unwrap()
}

/// A call that fails at first, by an error or by a value, on this thread.
fn call(max: u32, fail_first: u32, by_value: bool) -> Result<u32, &'static str> {
    #[retryable(max = max, backoff = "none", on = "any")]
    fn by_error(max: u32, calls: &mut u32, fail_first: u32) -> Result<u32, &'static str> {
        *calls += 1;
        if *calls > fail_first {
            Ok(*calls)
        } else {
            Err("failed")
        }
    }
    #[retryable(max = max, backoff = "none", until(1..))]
    fn by_result(max: u32, calls: &mut u32, fail_first: u32) -> i64 {
        *calls += 1;
        if *calls > fail_first { 1 } else { -1 }
    }
    if by_value {
        u32::try_from(by_result(max, &mut 0, fail_first)).map_err(|_| "not final")
    } else {
        by_error(max, &mut 0, fail_first)
    }
}

fn ignored(after: u32) {
    #[retryable(max = 5, backoff = "none", on = |left| *left > 0)]
    fn call(left: &mut u32) -> Result<(), u32> {
        let error = *left;
        *left = left.saturating_sub(1);
        Err(error)
    }
    call(&mut { after }).unwrap_err();
}

/// The events of the only call, each written by `as_theirs`.
fn events(calls: &[testing::Timeline], as_theirs: impl Fn(u32, Step) -> Vec<String>) -> String {
    let [call] = calls else { panic!("{calls:?}") };
    let written = call
        .events()
        .iter()
        .flat_map(|event| as_theirs(event.attempt, event.step));
    written.collect::<Vec<_>>().join("|")
}

/// What is expected by this name.
fn part<'a>(row: &'a Row, name: &str) -> &'a str {
    let parts = row
        .expected
        .as_str()
        .unwrap()
        .split(';')
        .filter_map(|part| part.split_once('='));
    let mut named = parts.filter(|(key, _)| *key == name);
    named.next().map_or("", |(_, value)| value)
}

fn resilience4j(row: &Row) -> Result<(), String> {
    let recording = testing::on_this_thread::record();
    let counts = counted(|| match row.input.get("by") {
        Some(by) => {
            _ = call(
                count(row, "maxAttempts_total"),
                count(row, "fail_first"),
                by == "result",
            )
        }
        // an exception that is not retried, after as many as are
        None => ignored(if row.input.contains_key("max 5") {
            2
        } else {
            0
        }),
    });
    let calls = recording.calls();
    let ends = |outcome, attempt| match outcome {
        Outcome::Success if attempt == 1 => vec![],
        Outcome::Success => vec![format!("SUCCESS({})", attempt - 1)],
        Outcome::Failure(Reason::NotRetryable) => vec!["IGNORED(0)".into()],
        Outcome::Failure(_) => vec![format!("ERROR({attempt})")],
    };
    let events = events(&calls, |attempt, step| match step {
        Step::End(outcome) => ends(outcome, attempt),
        _ => vec![format!("RETRY({attempt})")],
    });
    same(&events.as_str(), &part(row, "events"))?;
    for (ours, theirs) in [
        ("successful_without_retry", "ok_no_retry"),
        ("successful_with_retry", "ok_retry"),
        ("failed_without_retry", "fail_no_retry"),
        ("failed_with_retry", "fail_retry"),
    ] {
        let counted = counts
            .sum("retry_calls_total", &[("kind", ours)])
            .to_string();
        // a count that the row does not tell
        if !part(row, theirs).is_empty() {
            same(&counted.as_str(), &part(row, theirs))?;
        }
    }
    Ok(())
}

/// Theirs also tell each failure, which is the first half of our retry and of our end.
fn cockatiel(row: &Row) -> Result<(), String> {
    let recording = testing::on_this_thread::record();
    _ = call(
        count(row, "maxAttempts") + 1,
        count(row, "fail_first"),
        false,
    );
    let events = events(&recording.calls(), |attempt, step| match step {
        Step::Retry { .. } => vec!["failure".into(), format!("retry({attempt})")],
        Step::End(Outcome::Success) => vec!["success".into()],
        _ => vec!["failure".into(), "giveUp".into()],
    });
    same(&events.as_str(), &part(row, "events"))
}

fn p_retry(row: &Row) -> Result<(), String> {
    let recording = testing::on_this_thread::record();
    let max = count(row, "retries") + 1;
    _ = call(max, count(row, "fail_first"), false);
    let events = events(&recording.calls(), |attempt, step| match step {
        Step::End(Outcome::Success) => vec![],
        _ => vec![format!("{attempt}/{}", max - attempt)],
    });
    same(
        &events.as_str(),
        &part(row, "onFailedAttempt(attempt/retriesLeft)"),
    )
}

#[test]
fn events_come_in_the_order_of_other_systems() {
    let rows = table(include_str!("../data/executed_calls.tsv")).into_iter();
    let rows = rows.filter_map(|row| {
        let compared = match (row.system.as_str(), row.case.as_str()) {
            ("resilience4j.Retry", "calls_events_metrics") => resilience4j(&row),
            ("cockatiel.retry", "calls_events") => cockatiel(&row),
            ("p-retry", "calls") if row.input.contains_key("fail_first") => p_retry(&row),
            _ => return None,
        };
        Some((row.id, compared))
    });
    assert_eq!(settle(rows, DIFFERENT), (100, 24));
}

#[test]
fn calls_and_retries_are_counted_as_in_microprofile() {
    let rows = table(include_str!("../data/metrics.tsv")).into_iter();
    let rows = rows.map(|row| {
        let compared = microprofile(&row);
        (row.id, compared)
    });
    assert_eq!(settle(rows, &[]), (8, 0));
}

fn microprofile(row: &Row) -> Result<(), String> {
    let _time = testing::virtual_time();
    let policy = |retries: u32| Policy::new().max(retries + 1).base_ms(1);
    #[retryable(policy = policy, on = |error| *error, deadline_ms = deadline)]
    fn call(
        policy: Policy,
        deadline: u64,
        takes: Duration,
        outcomes: &mut Vec<Result<(), bool>>,
    ) -> Result<(), bool> {
        testing::advance(takes);
        if outcomes.len() > 1 {
            outcomes.remove(0)
        } else {
            outcomes[0]
        }
    }
    const FAR: u64 = 3_600_000;
    let call = |retries, deadline, takes, outcomes: &[_]| {
        let takes = Duration::from_millis(takes);
        _ = call(policy(retries), deadline, takes, &mut outcomes.to_vec());
    };
    let (good, bad, fatal) = (Ok(()), Err(true), Err(false));
    let counts = counted(
        || match row.id.trim_start_matches("microprofile metrics ") {
            "maxRetries 5, no failure" => call(5, FAR, 0, &[good]),
            "3 failures then value" => call(5, FAR, 0, &[bad, bad, bad, good]),
            "non-retryable at once" => call(5, FAR, 0, &[fatal]),
            "3 retryable failures then non-retryable" => call(5, FAR, 0, &[bad, bad, bad, fatal]),
            "maxRetries 5, always fail, invoked twice" => {
                call(5, FAR, 0, &[bad]);
                call(5, FAR, 0, &[bad]);
            }
            "maxRetries 0, fail" => call(0, FAR, 0, &[bad]),
            "maxDuration 1000ms, attempts of 100ms fail" => call(99, 1_000, 100, &[bad]),
            "maxDuration 1000ms, one attempt of 1500ms fails" => call(99, 1_000, 1_500, &[bad]),
            other => panic!("{other}"),
        },
    );
    let reason = match part(row, "result") {
        "valueReturned" => Outcome::Success,
        "exceptionNotRetryable" => Outcome::Failure(Reason::NotRetryable),
        "maxRetriesReached" => Outcome::Failure(Reason::AttemptsUsedUp),
        "maxDurationReached" => Outcome::Failure(Reason::Deadline),
        other => panic!("{other}"),
    };
    let reason = reason.to_string().replace(' ', "_");
    let calls = counts.sum("retry_calls_total", &[("reason", &reason)]);
    same(&calls.to_string().as_str(), &part(row, "calls"))?;
    let with = ["successful_with_retry", "failed_with_retry"]
        .map(|kind| counts.sum("retry_calls_total", &[("kind", kind)]))
        .iter()
        .sum::<u64>();
    same(&(with > 0).to_string().as_str(), &part(row, "retried"))?;
    let retries = counts.sum("retry_retries_total", &[]);
    match part(row, "retries") {
        ">0" => same(&(retries > 0), &true),
        number => same(&retries.to_string().as_str(), &number),
    }
}
