//! `attempt`: what the body sees of its attempt.

use std::{cell::Cell, time::Duration};

use retry_runtime::{Attempt, CircuitBreaker, Policy, retryable};
use tokio::time::{advance, sleep};

use crate::support::{Failed, ms, need_send, secs};

type Seen = Vec<Attempt>;

fn numbers(seen: &Seen) -> Vec<u32> {
    seen.iter().map(Attempt::number).collect()
}

fn texts(seen: &Seen) -> Vec<String> {
    seen.iter().map(Attempt::to_string).collect()
}

fn remaining(seen: &Seen) -> Vec<Option<Duration>> {
    seen.iter().map(Attempt::remaining).collect()
}

#[retryable(max = 5, backoff = "none", attempt = attempt)]
fn limited(success: u32, seen: &mut Seen) -> Result<u32, Failed> {
    seen.push(attempt);
    match attempt.number() {
        number if number < success => Err(Failed::Busy(number)),
        number => Ok(number),
    }
}

#[retryable(max = "unlimited", backoff = "none", attempt = attempt)]
async fn unlimited(success: u32, seen: &mut Seen) -> Result<u32, Failed> {
    seen.push(attempt);
    match attempt.number() {
        number if number < success => Err(Failed::Busy(number)),
        number => Ok(number),
    }
}

#[test]
fn attempts_are_numbered_from_one_to_max_and_the_last_one_knows_it() {
    let mut seen = vec![];
    assert_eq!(limited(9, &mut seen), Err(Failed::Busy(5)));
    assert_eq!(numbers(&seen), [1, 2, 3, 4, 5]);
    assert_eq!(texts(&seen), ["1/5", "2/5", "3/5", "4/5", "5/5"]);
    assert!(seen.iter().all(|attempt| attempt.max() == Some(5)));
    let last: Vec<bool> = seen.iter().map(Attempt::is_last).collect();
    assert_eq!(last, [false, false, false, false, true]);
}

#[test]
fn every_call_counts_anew() {
    for success in [1, 3, 2] {
        let mut seen = vec![];
        assert_eq!(limited(success, &mut seen), Ok(success));
        assert_eq!(numbers(&seen).last(), Some(&success));
    }
}

#[tokio::test]
async fn without_a_limit_there_is_neither_a_maximum_nor_a_last_one() {
    let mut seen = vec![];
    assert_eq!(unlimited(300, &mut seen).await, Ok(300));
    assert_eq!(texts(&seen)[298..], ["299", "300"]);
    assert!(seen.iter().all(|attempt| attempt.max().is_none()));
    assert!(!seen.iter().any(Attempt::is_last));
}

#[test]
fn a_maximum_known_at_run_time_is_shown_as_it_counts() {
    #[retryable(max = max, backoff = "none", attempt = attempt)]
    fn call(max: i64, seen: &mut Seen) -> Result<u32, Failed> {
        seen.push(attempt);
        Err(Failed::Busy(attempt.number()))
    }
    for (max, shown) in [
        (2, vec!["1/2", "2/2"]),
        (1, vec!["1/1"]),
        (0, vec!["1/1"]),
        (-7, vec!["1/1"]),
    ] {
        let mut seen = vec![];
        assert!(call(max, &mut seen).is_err());
        assert_eq!(texts(&seen), shown);
        assert!(seen.last().unwrap().is_last());
    }
    #[retryable(max = max, backoff = "none", attempt = attempt)]
    fn highest(max: u64) -> Result<Attempt, Failed> {
        Ok(attempt)
    }
    assert_eq!(highest(u64::MAX).unwrap().max(), Some(u32::MAX));
}

#[test]
fn a_maximum_that_changes_is_shown_as_it_is() {
    #[retryable(max = left.get(), backoff = "none", attempt = attempt)]
    fn call(left: &Cell<u32>, seen: &mut Seen) -> Result<u32, Failed> {
        seen.push(attempt);
        if attempt.number() == 2 {
            left.set(3);
        }
        Err(Failed::Busy(attempt.number()))
    }
    let mut seen = vec![];
    assert!(call(&Cell::new(9), &mut seen).is_err());
    assert_eq!(texts(&seen), ["1/9", "2/9", "3/3"]);
}

#[test]
fn the_maximum_of_a_policy_and_the_default_are_shown_too() {
    const POLICY: Policy = Policy::new().max(7);
    #[retryable(policy = POLICY, attempt = this)]
    fn by_policy() -> Result<String, Failed> {
        Ok(this.to_string())
    }
    #[retryable(policy = POLICY.unlimited(), attempt = this)]
    fn by_unlimited() -> Result<String, Failed> {
        Ok(this.to_string())
    }
    #[retryable(attempt = this)]
    fn by_default() -> Result<String, Failed> {
        Ok(this.to_string())
    }
    assert_eq!(by_policy().unwrap(), "1/7");
    assert_eq!(by_unlimited().unwrap(), "1");
    assert_eq!(by_default().unwrap(), "1/3");
}

#[tokio::test(start_paused = true)]
async fn what_remains_is_the_time_from_the_start_of_the_attempt_to_the_deadline() {
    #[retryable(
        max = "unlimited", base_ms = 200, backoff = "fixed", jitter = "none",
        deadline_ms = 1_000, attempt = attempt
    )]
    async fn call(seen: &mut Seen) -> Result<u32, Failed> {
        seen.push(attempt);
        sleep(ms(150)).await;
        // as it was, and not as it is
        assert_eq!(seen.last(), Some(&attempt));
        Err(Failed::Busy(attempt.number()))
    }
    let mut seen = vec![];
    assert_eq!(call(&mut seen).await, Err(Failed::Busy(3)));
    let left = [ms(1_000), ms(650), ms(300)];
    assert_eq!(remaining(&seen), left.map(Some));
}

#[tokio::test(start_paused = true)]
async fn what_remains_is_never_below_zero() {
    #[retryable(max = 2, deadline_ms = limit, attempt = attempt)]
    fn call(limit: i64) -> Result<Option<Duration>, Failed> {
        Ok(attempt.remaining())
    }
    assert_eq!(call(0).unwrap(), Some(Duration::ZERO));
    assert!(call(-5).unwrap() <= Some(ms(1)));
    let long = call(i64::MAX).unwrap().unwrap();
    assert!(long > secs(1 << 50));
}

#[test]
fn without_a_deadline_nothing_remains_to_be_told() {
    let mut seen = vec![];
    assert!(limited(9, &mut seen).is_err());
    assert_eq!(remaining(&seen), [None; 5]);
}

#[test]
fn in_a_thread_it_falls_from_attempt_to_attempt() {
    #[retryable(max = 4, base_ms = 1, jitter = "none", deadline_ms = 60_000, attempt = attempt)]
    fn call(seen: &mut Seen) -> Result<u32, Failed> {
        seen.push(attempt);
        Err(Failed::Busy(attempt.number()))
    }
    let mut seen = vec![];
    assert!(call(&mut seen).is_err());
    let left = remaining(&seen);
    assert_eq!(left.len(), 4);
    assert!(
        left.is_sorted_by(|earlier, later| earlier > later),
        "{left:?}"
    );
    assert!(left[0] <= Some(secs(60)));
}

#[tokio::test(start_paused = true)]
async fn a_body_can_give_what_remains_to_what_it_calls() {
    #[retryable(
        max = 9, base_ms = 100, backoff = "fixed", jitter = "none", on = "any",
        deadline_ms = limit, attempt = attempt
    )]
    async fn call(limit: u64) -> Result<(), Duration> {
        let left = attempt.remaining().unwrap();
        tokio::time::timeout(left, std::future::pending::<()>())
            .await
            .map_err(|_| left)
    }
    let begin = tokio::time::Instant::now();
    assert_eq!(call(700).await, Err(ms(700)));
    assert_eq!(begin.elapsed(), ms(700));
}

#[tokio::test]
async fn it_is_a_copy_that_goes_anywhere() {
    #[retryable(backoff = "none", attempt = attempt)]
    async fn call() -> Result<(Attempt, Attempt, u32), Failed> {
        let again = attempt;
        let in_closure = || attempt.number();
        let number = in_closure();
        let moved = tokio::spawn(async move { attempt }).await.unwrap();
        if number < 3 {
            return Err(Failed::Busy(number));
        }
        Ok((again, moved, number))
    }
    let (again, moved, number) = need_send(call()).await.unwrap();
    assert_eq!((again, number), (moved, 3));
}

#[test]
fn its_name_is_free_and_hides_what_had_it() {
    const LAST: u32 = 99;
    #[retryable(backoff = "none", attempt = number)]
    fn call(log: &mut Vec<u32>) -> Result<u32, Failed> {
        let number = number.number();
        log.push(number);
        Err(Failed::Busy(number))
    }
    #[retryable(backoff = "none", attempt = attempts)]
    fn like_the_loop() -> Result<u32, Failed> {
        Ok(attempts.number() + LAST)
    }
    let mut log = vec![];
    assert!(call(&mut log).is_err());
    assert_eq!(log, [1, 2, 3]);
    assert_eq!(like_the_loop(), Ok(100));
}

#[tokio::test(start_paused = true)]
async fn a_method_of_a_block_has_its_own() {
    struct Client;
    #[retryable(max = 4, backoff = "none", attempt = attempt, deadline_ms = 5_000)]
    impl Client {
        async fn first(&self) -> Result<String, Failed> {
            match attempt.number() {
                4 => Ok(attempt.to_string()),
                number => Err(Failed::Busy(number)),
            }
        }

        #[retryable(max = 2)]
        fn second(&mut self) -> Result<String, Failed> {
            match attempt.number() {
                2 => Ok(attempt.to_string()),
                number => Err(Failed::Busy(number)),
            }
        }
    }
    assert_eq!(Client.first().await.unwrap(), "4/4");
    assert_eq!(Client.second().unwrap(), "2/2");
}

/// A refused attempt is not made.
#[tokio::test(start_paused = true)]
async fn what_a_breaker_refuses_has_no_number() {
    #[retryable(max = 9, backoff = "none", breaker = breaker, attempt = attempt)]
    async fn call(breaker: &CircuitBreaker, seen: &mut Seen) -> Result<u32, Failed> {
        seen.push(attempt);
        Err(Failed::Busy(attempt.number()))
    }
    let breaker = CircuitBreaker::new().window(2).min_calls(2);
    let breaker = breaker.open_for(secs(1)).probes(1);
    let mut seen = vec![];
    assert!(call(&breaker, &mut seen).await.is_err());
    assert_eq!(numbers(&seen), [1, 2]);
    assert!(call(&breaker, &mut seen).await.is_err());
    assert_eq!(numbers(&seen), [1, 2]);
    advance(secs(1)).await;
    assert!(call(&breaker, &mut seen).await.is_err());
    assert_eq!(numbers(&seen), [1, 2, 1]);
}
