//! Deadlines, hints and breakers against the figures of other systems.

use std::time::Duration;

use retry_runtime::{Backoff, CircuitBreaker, Decision, Jitter, Policy, Reason, retryable};
use serde_json::{Map, Value};
use tokio::{runtime, time::sleep};

use crate::{
    account::{Different, one_line, same, settle},
    support::{Failed, Log, ms, note, noted, secs},
};

/// The rows of a table, each with what tells it from the others.
fn rows(table: &str, keys: &[&str]) -> Vec<(String, Map<String, Value>)> {
    let rows: Vec<Map<String, Value>> = serde_json::from_str(table).unwrap();
    let name = |row: &Map<String, Value>| {
        let parts = keys.iter().filter_map(|key| match row.get(*key)? {
            Value::Object(object) => Some(one_line(object)),
            Value::String(text) => Some(text.clone()),
            other => Some(format!("{key}={other}")),
        });
        parts.collect::<Vec<_>>().join(" | ")
    };
    rows.into_iter().map(|row| (name(&row), row)).collect()
}

/// Runs a task by a clock that jumps over its waits.
fn by_paused_clock<T>(task: impl Future<Output = T>) -> T {
    let mut runtime = runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(task)
}

mod deadlines {
    use super::*;

    const DIFFERENT: &Different = &[
        (
            "stops when both limits are reached; ours when one of them is",
            &[
                "tenacity stop_all(after_delay 1, after_attempt 4) |  | attempt=4 elapsed_s=0.8",
                "tenacity stop_all(after_delay 1, after_attempt 4) |  | attempt=3 elapsed_s=1.8",
            ],
        ),
        (
            "limits the waits that were, and the last one goes beyond; ours looks ahead",
            &[
                "finagle takeUntil | cumulative_limit_s=9 | linear 1s+1s",
                "spring7 maxElapsed | initial_ms=2000 max_elapsed_ms=4000 multiplier=2 | ",
            ],
        ),
    ];

    struct Trial {
        policy: Policy,
        deadline_ms: u64,
        /// How long each attempt takes; the last one repeats
        works: Vec<Duration>,
        /// How many of them fail
        failures: u32,
    }

    struct Ran {
        outcome: Result<u32, Failed>,
        calls: usize,
        waits: Vec<Duration>,
    }

    async fn noting(wait: Duration) {
        note(wait);
        sleep(wait).await;
    }

    #[retryable(policy = trial.policy, deadline_ms = trial.deadline_ms, sleep = noting)]
    async fn call(trial: &Trial, log: &Log) -> Result<u32, Failed> {
        let number = log.attempt();
        let nth = usize::try_from(number - 1).unwrap();
        sleep(*trial.works.get(nth).or(trial.works.last()).unwrap()).await;
        match number {
            number if number > trial.failures => Ok(number),
            number => Err(Failed::Busy(number)),
        }
    }

    fn run(trial: &Trial) -> Ran {
        by_paused_clock(async {
            let log = Log::start();
            Ran {
                outcome: call(trial, &log).await,
                calls: log.calls(),
                waits: noted(),
            }
        })
    }

    fn waiting(wait: Duration) -> Policy {
        let policy = Policy::new().unlimited().jitter(Jitter::None);
        policy.backoff(Backoff::Fixed).base(wait)
    }

    /// Two limits: attempts, and milliseconds
    type Limits = (u32, u64);

    /// Whether there is no attempt after this one, if it ends after `elapsed` and is followed by
    /// that wait.
    fn stops(attempt: usize, elapsed: Duration, wait: Duration, limits: Limits) -> bool {
        async fn at_once(_: Duration) {}
        // nothing ends the call before the attempt that is asked about
        #[retryable(
            max = if log.calls() < attempt { u32::MAX } else { limits.0 },
            base_ms = 0, deadline_ms = limits.1, sleep = at_once,
            on = |_| match log.calls() < attempt {
                true => Decision::RetryNow,
                false => Decision::RetryAfter(wait),
            }
        )]
        async fn call(
            attempt: usize,
            elapsed: Duration,
            wait: Duration,
            limits: Limits,
            log: &Log,
        ) -> Result<(), Failed> {
            let number = log.attempt();
            match log.calls() {
                calls if calls == attempt => sleep(elapsed).await,
                calls if calls > attempt => return Ok(()),
                _ => {}
            }
            Err(Failed::Busy(number))
        }
        by_paused_clock(async {
            let log = Log::start();
            let outcome = call(attempt, elapsed, wait, limits, &log).await;
            assert_eq!(log.calls(), attempt + usize::from(outcome.is_ok()));
            outcome.is_err()
        })
    }

    fn compare(row: &Map<String, Value>) -> Result<(), String> {
        const NONE: Duration = Duration::ZERO;
        let (input, expected) = (&row["input"], &row["expected"]);
        let seconds = |key: &str| Duration::from_secs_f64(input[key].as_f64().unwrap());
        let nth = || usize::try_from(input["attempt"].as_u64().unwrap()).unwrap();
        let stop = |stops: bool| same(stops, expected["stop"].as_bool().unwrap());
        let ran = |deadline_ms, policy, works: &[Duration], failures| {
            run(&Trial {
                policy,
                deadline_ms,
                works: works.to_vec(),
                failures,
            })
        };
        let calls = |deadline_ms, wait, works: &[Duration]| {
            ran(deadline_ms, waiting(wait), works, u32::MAX).calls
        };
        let expected_calls = || usize::try_from(expected["calls"].as_u64().unwrap()).unwrap();
        let config = one_line(row["config"].as_object().unwrap());
        match (row["system"].as_str().unwrap(), config.as_str()) {
            ("guava-retrying", "stopAfterAttempt=3") => {
                stop(stops(nth(), NONE, NONE, (3, u64::MAX)))
            }
            ("guava-retrying", "stopAfterDelay_ms=1000") => {
                let elapsed = ms(input["delay_since_first_ms"].as_u64().unwrap());
                stop(stops(1, elapsed, NONE, (u32::MAX, 1_000)))
            }
            ("tenacity stop_before_delay", "limit_s=1") => {
                let wait = seconds("upcoming_sleep_s");
                stop(stops(1, seconds("elapsed_s"), wait, (u32::MAX, 1_000)))
            }
            (
                "tenacity stop_any(after_delay 1, after_attempt 4)"
                | "tenacity stop_all(after_delay 1, after_attempt 4)",
                "",
            ) => stop(stops(nth(), seconds("elapsed_s"), NONE, (4, 1_000))),
            ("spring7", "delay_ms=100 timeout_ms=20") => {
                same(calls(20, ms(100), &[NONE]), expected_calls())
            }
            ("spring7", "timeout=elapses during 1st retry") => {
                same(calls(20, ms(1), &[NONE, ms(30)]), expected_calls())
            }
            ("spring7", "timeout=elapses during 2nd retry") => {
                same(calls(20, ms(1), &[NONE, NONE, ms(30)]), expected_calls())
            }
            ("spring7", "timeout=elapses during a successful attempt") => {
                let outcome = ran(20, waiting(ms(1)), &[ms(30)], 0).outcome;
                assert_eq!(expected["result"], "value still returned");
                same(outcome, Ok(1))
            }
            ("spring-retry TimeoutRetryPolicy", "timeout_ms=100") => {
                let retries = |elapsed: &Value| {
                    let elapsed = ms(elapsed.as_u64().unwrap());
                    !stops(1, elapsed, NONE, (u32::MAX, 100))
                };
                let elapsed = input["elapsed_ms"].as_array().unwrap();
                let retried: Vec<bool> = elapsed.iter().map(retries).collect();
                same(Value::from(retried), expected["canRetry"].clone())
            }
            ("failsafe", "maxDuration_ms=100") => {
                same(calls(100, NONE, &[ms(120)]), expected_calls())
            }
            ("microprofile", "maxDuration_ms=1000 maxRetries=90") => {
                assert_eq!(expected["calls"], ">3 and <11");
                let policy = waiting(NONE).max(91);
                let calls = ran(1_000, policy, &[ms(100)], u32::MAX).calls;
                same((4..11).contains(&calls), true)
            }
            ("finagle takeUntil", "cumulative_limit_s=9") => {
                let policy = waiting(secs(1)).backoff(Backoff::Linear);
                let waits = ran(9_000, policy, &[NONE], u32::MAX).waits;
                let waits: Vec<_> = waits.iter().map(Duration::as_secs).collect();
                same(Value::from(waits), expected["backoffs_s"].clone())
            }
            ("spring7 maxElapsed", "initial_ms=2000 max_elapsed_ms=4000 multiplier=2") => {
                let policy = waiting(secs(2)).backoff(Backoff::Exponential);
                let waits = ran(4_000, policy, &[NONE], u32::MAX).waits;
                let waits = waits.iter().map(|wait| wait.as_secs() * 1_000);
                let mut waits: Vec<_> = waits.map(Value::from).collect();
                waits.push("STOP".into());
                same(Value::from(waits), expected["backoffs_ms"].clone())
            }
            row => panic!("an unknown row: {row:?}"),
        }
    }

    #[test]
    fn are_those_of_other_systems_but_where_listed() {
        let rows = rows(
            include_str!("../data/deadlines.json"),
            &["system", "config", "input"],
        );
        let compared = rows.iter().map(|(id, row)| (id.clone(), compare(row)));
        assert_eq!(settle(compared, DIFFERENT), (27, 4));
    }
}

mod hints {
    use super::*;

    const DIFFERENT: &Different = &[
        (
            "cuts a long hint; ours is waited in full, or ends the call",
            &[
                "AWS SDK v2.1 | x-amz-retry-after (ms) | 10000",
                "AWS SDK v2.1 | x-amz-retry-after (ms), another test | 10000",
                "AWS SDK v2.0 | x-amz-retry-after (ms) | 30000",
            ],
        ),
        (
            "starts over after a hint; ours go on growing",
            &["gRPC | grpc-retry-pushback-ms | then none"],
        ),
    ];

    /// What a client of AWS reads.
    fn milliseconds(header: &str) -> Decision {
        let read: Option<i64> = header.parse().ok();
        let hint = read.map(|ms| Duration::from_millis(ms.max(0).unsigned_abs()));
        Decision::hinted(hint)
    }

    /// What a client of gRPC reads.
    fn pushback(header: &str) -> Decision {
        match header.parse() {
            Ok(0) => Decision::RetryNow,
            Ok(ms) => Decision::RetryAfter(Duration::from_millis(ms)),
            Err(_) if header.is_empty() => Decision::Retry,
            Err(_) => Decision::Stop,
        }
    }

    type Headers<'a> = &'a [&'a str];

    #[retryable(policy = policy, on = |header: &String| decide(header), sleep = note)]
    fn call(
        headers: Headers<'_>,
        policy: Policy,
        decide: fn(&str) -> Decision,
        log: &Log,
    ) -> Result<(), String> {
        let nth = usize::try_from(log.attempt()).unwrap();
        match headers.get(nth - 1) {
            Some(header) => Err((*header).into()),
            None => Ok(()),
        }
    }

    fn waits(headers: Headers<'_>, policy: Policy, decide: fn(&str) -> Decision) -> Vec<u128> {
        let outcome = call(headers, policy, decide, &Log::start());
        let mut waits: Vec<_> = noted().iter().map(Duration::as_millis).collect();
        // a wait, and the attempt after it; or the end
        match outcome {
            // nobody is asked to wait for no time
            Ok(()) if waits.is_empty() => waits.push(0),
            Ok(()) => assert_eq!(waits.len(), headers.len()),
            Err(_) => assert!(waits.is_empty()),
        }
        waits
    }

    fn compare(row: &Map<String, Value>) -> Result<(), String> {
        let policy = Policy::new().unlimited().jitter(Jitter::None);
        let (value, expected) = (row["value"].as_str().unwrap(), row.get("expected"));
        if row["system"] == "gRPC" {
            let policy = policy.base_ms(50);
            let ours = match value {
                "then none" => waits(&["", "100", ""], policy, pushback),
                value => waits(&[value], policy, pushback),
            };
            let theirs: &[u128] = match expected.unwrap().as_str().unwrap() {
                "retry at once" => &[0],
                "retry after exactly 100ms" => &[100],
                "do not retry" => &[],
                "next non-pushback delay restarts at initialBackoff" => &[50, 100, 50],
                other => panic!("{other}"),
            };
            return same(ours.as_slice(), theirs);
        }
        let own_wait = row.get("own_wait_ms").map_or(50, |ms| ms.as_u64().unwrap());
        let limit = row
            .get("max_backoff_ms")
            .map_or(300_000, |ms| ms.as_u64().unwrap());
        let policy = policy.base_ms(own_wait).hint_cap_ms(limit);
        let theirs = u128::from(row["expected_ms"].as_u64().unwrap());
        same(waits(&[value], policy, milliseconds), vec![theirs])
    }

    #[test]
    fn are_waited_as_by_other_systems_but_where_listed() {
        let rows = rows(
            include_str!("../data/hints.json"),
            &["system", "header", "value"],
        );
        let compared = rows.iter().map(|(id, row)| (id.clone(), compare(row)));
        assert_eq!(settle(compared, DIFFERENT), (11, 4));
    }
}

mod breakers {
    use super::*;

    const DIFFERENT: &Different = &[(
        "can be told to retry what the breaker refused; ours never does",
        &[
            "microprofile-ft | delay_ms=1000 | delay_ms=100 maxRetries=20 retryOn=CircuitBreakerOpenException | breaker opened then ok",
        ],
    )];

    #[retryable(
        max = max, base_ms = 100, backoff = "fixed", jitter = "none", on = "any",
        breaker = breaker, timeout_ms = 50, recover_all = |failure| log.end(failure)
    )]
    async fn call(
        max: u64,
        hangs: bool,
        fails: bool,
        breaker: &CircuitBreaker,
        log: &Log,
    ) -> Result<(), Failed> {
        let number = log.attempt();
        if hangs {
            std::future::pending::<()>().await;
        }
        if fails {
            Err(Failed::Busy(number))
        } else {
            Ok(())
        }
    }

    fn compare(row: &Map<String, Value>) -> Result<(), String> {
        let (cb, retry) = (&row["cb"], &row["retry"]);
        let max = retry
            .get("maxRetries")
            .map_or(4, |retries| retries.as_u64().unwrap() + 1);
        let open_for = ms(cb["delay_ms"].as_u64().unwrap());
        let breaker = CircuitBreaker::new().open_for(open_for).probes(1);
        by_paused_clock(async {
            let log = Log::start();
            let Some(volume) = cb.get("requestVolumeThreshold") else {
                // opened before
                let breaker = breaker.window(1).min_calls(1);
                breaker.try_acquire().unwrap().failure();
                let outcome = call(max, false, false, &breaker, &log).await;
                let ours = (outcome.is_ok(), log.elapsed() < ms(200));
                let retried = row.get("result").is_some_and(|result| result == "ok");
                assert!(retried || row["thrown"] == "CircuitBreakerOpenException");
                return same(ours, (retried, !retried));
            };
            let volume = volume.as_u64().unwrap().try_into().unwrap();
            let breaker = breaker.window(volume).min_calls(volume);
            let breaker = breaker.failure_rate(cb["failureRatio"].as_f64().unwrap());
            let hangs = row.get("timeout").is_some();
            assert!(call(max, hangs, true, &breaker, &log).await.is_err());
            let thrown = match log.reason().unwrap().0 {
                Reason::Breaker => "CircuitBreakerOpenException",
                Reason::AttemptsUsedUp => "TestException",
                other => panic!("{other}"),
            };
            let theirs = (
                row["executions"].as_u64().unwrap(),
                row["thrown"].as_str().unwrap(),
            );
            same((log.calls() as u64, thrown), theirs)
        })
    }

    #[test]
    fn around_which_is_retried_are_those_of_another_system_but_where_listed() {
        let rows = rows(
            include_str!("../data/breaker_retry.json"),
            &["system", "cb", "retry", "body"],
        );
        let compared = rows.iter().map(|(id, row)| (id.clone(), compare(row)));
        assert_eq!(settle(compared, DIFFERENT), (5, 1));
    }
}
