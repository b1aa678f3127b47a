//! The decision after each failed attempt. Knows nothing of the user's types, and does not wait.

use std::time::Duration;

use crate::{decision::Decision, jitter, policy::Policy};

/// One call's count of failures. Untouched as long as nothing fails.
#[derive(Debug)]
pub struct Attempts {
    failures: u32,
    /// The wait before this attempt in nanoseconds, 0 before there was one. Half the size of a
    /// `Duration`: this is part of every future.
    previous: u64,
}

/// What follows a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// No further attempt: the outcome is the call's
    Return,
    /// Another attempt, after this wait
    Wait(Duration),
}

impl Attempts {
    /// The state before the first attempt.
    #[inline]
    pub const fn begin() -> Self {
        Self {
            failures: 0,
            previous: 0,
        }
    }

    /// What follows an attempt that failed, given what the predicate says of its failure.
    #[cold]
    #[inline(never)]
    pub fn after_failure(&mut self, policy: &Policy, decision: Decision) -> Next {
        self.decide(policy, decision, jitter::draw)
    }

    fn decide(
        &mut self,
        policy: &Policy,
        decision: Decision,
        draw: impl FnOnce(u128) -> u128,
    ) -> Next {
        let retry = self.failures;
        self.failures = self.failures.saturating_add(1);
        let used_up = policy.max_calls().is_some_and(|max| self.failures >= max);
        if used_up || decision == Decision::Stop {
            return Next::Return;
        }
        if matches!(decision, Decision::RetryAfter(hint) if hint > policy.longest_hint()) {
            return Next::Return;
        }
        if decision == Decision::RetryNow {
            return Next::Wait(Duration::ZERO);
        }
        let previous = (self.previous > 0).then_some(Duration::from_nanos(self.previous));
        let wait = policy.wait_with(retry, previous, draw);
        self.previous = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        match decision {
            Decision::RetryAfter(hint) => Next::Wait(wait.max(hint)),
            _ => Next::Wait(wait),
        }
    }
}
