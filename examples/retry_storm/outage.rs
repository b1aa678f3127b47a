//! A service that stops for a while, and what its clients' retries make of that.
//!
//! The service works on one request after the other. While it stops it takes requests and answers
//! none, until its queue is full and it refuses them. A client gives a request up after a second;
//! the service does not know, and works on it all the same. Work for nobody is what keeps a service
//! down that has recovered.

use std::{mem, time::Duration};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use retry_runtime::{Backoff, CircuitBreaker, Jitter, Permit, Policy, RetryBudget};
use tokio::time;

use crate::events::{Events, Time};

/// Who share a budget and a breaker.
pub const CLIENTS_PER_PROCESS: usize = 500;

/// The longest time from the end of a call to the beginning of the client's next one. All shorter
/// ones are as likely, so that it is half of this on average.
pub const PAUSE: Duration = Duration::from_secs(10);

/// After which a client gives a request up.
pub const TIMEOUT: Duration = Duration::from_secs(1);

/// From a client to the service, or back.
const DELAY: Duration = Duration::from_millis(5);

/// Requests per second that the service can answer, for each process.
pub const CAPACITY_PER_PROCESS: usize = 150;

/// How much work the service takes before it refuses more.
pub const QUEUE: Duration = Duration::from_secs(3);

pub const STOPS: Time = Duration::from_secs(10);
pub const WORKS_AGAIN: Time = Duration::from_secs(20);
pub const END: Time = Duration::from_secs(80);

/// Requests and calls are counted by intervals of this length.
pub const INTERVAL: Duration = Duration::from_millis(500);

/// How long the breaker stays open. All the rest is as by default.
pub const OPEN_FOR: Duration = Duration::from_secs(5);

const DEFAULT: Variant = Variant {
    name: "full jitter",
    policy: Policy::new(),
    budget: false,
    breaker: false,
};

/// What is compared. All numbers are the defaults, except that breakers are open for a shorter time.
pub const VARIANTS: [Variant; 7] = [
    Variant {
        name: "no retries",
        policy: DEFAULT.policy.max(1),
        ..DEFAULT
    },
    Variant {
        name: "retries at once",
        policy: DEFAULT.policy.backoff(Backoff::None),
        ..DEFAULT
    },
    Variant {
        name: "backoff without jitter",
        policy: DEFAULT.policy.jitter(Jitter::None),
        ..DEFAULT
    },
    DEFAULT,
    Variant {
        name: "full jitter, budget",
        budget: true,
        ..DEFAULT
    },
    Variant {
        name: "full jitter, breaker",
        breaker: true,
        ..DEFAULT
    },
    Variant {
        name: "full jitter, budget, breaker",
        budget: true,
        breaker: true,
        ..DEFAULT
    },
];

/// How a client's calls are made.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    pub name: &'static str,
    pub policy: Policy,
    pub budget: bool,
    pub breaker: bool,
}

/// What happened in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// That reached the service
    pub requests: u32,
    /// That ended with a success
    pub succeeded: u32,
    /// That ended without one
    pub failed: u32,
}

/// What happened in the whole of a simulation.
#[derive(Debug)]
pub struct Outage {
    pub intervals: Vec<Interval>,
}

impl Outage {
    /// The most requests per second, in an interval.
    pub fn peak(&self) -> f64 {
        let most = self.intervals.iter().map(|interval| interval.requests);
        per_second(most.max().unwrap_or_default())
    }

    pub fn requests_per_call(&self) -> f64 {
        self.sum(|interval| interval.requests) / self.sum(|i| i.succeeded + i.failed)
    }

    /// Of all calls.
    pub fn share_of_failed(&self) -> f64 {
        self.sum(|interval| interval.failed) / self.sum(|i| i.succeeded + i.failed)
    }

    /// How long it took, after the service worked again, until no interval had more than one failed
    /// call in a hundred. `None` if there were more to the end.
    pub fn recovery(&self) -> Option<Duration> {
        let fails = |i: &Interval| i.failed * 100 > i.succeeded + i.failed;
        let last = self.intervals.iter().rposition(fails);
        let recovered = INTERVAL * last.map_or(0, |last| last as u32 + 1);
        (recovered < END).then(|| recovered.saturating_sub(WORKS_AGAIN))
    }

    fn sum(&self, count: impl Fn(&Interval) -> u32) -> f64 {
        self.intervals.iter().map(count).map(f64::from).sum()
    }
}

pub fn per_second(in_interval: u32) -> f64 {
    f64::from(in_interval) / INTERVAL.as_secs_f64()
}

/// One simulation, on tokio's paused clock, which budgets and breakers read too. Two with the same
/// seed are the same.
pub async fn run(variant: &Variant, processes: usize, seed: u64) -> Outage {
    let processes: Vec<Process> = (0..processes).map(|_| Process::new()).collect();
    let mut simulation = Simulation {
        variant,
        service: Service::new(processes.len() * CAPACITY_PER_PROCESS),
        events: Events::new(),
        rng: StdRng::seed_from_u64(seed),
        intervals: vec![Interval::default(); interval(END)],
    };
    for process in &processes {
        for _ in 0..CLIENTS_PER_PROCESS {
            // what is left of a pause that began at some time before
            let pause = simulation.pause().min(simulation.pause());
            simulation.call_at(pause, process);
        }
    }
    let mut clock = Time::ZERO;
    while let Some((now, event)) = simulation.events.next() {
        if now >= END {
            break;
        }
        time::advance(now - mem::replace(&mut clock, now)).await;
        simulation.happen(now, event);
    }
    Outage {
        intervals: simulation.intervals,
    }
}

fn interval(at: Time) -> usize {
    (at.as_nanos() / INTERVAL.as_nanos()) as usize
}

struct Process {
    budget: RetryBudget,
    breaker: CircuitBreaker,
}

impl Process {
    fn new() -> Self {
        Self {
            budget: RetryBudget::new(),
            breaker: CircuitBreaker::new().open_for(OPEN_FOR),
        }
    }
}

/// A call under way.
struct Call<'a> {
    process: &'a Process,
    retries: u32,
    waited: Option<Duration>,
}

enum Event<'a> {
    Attempt(Call<'a>),
    /// Whether there was an answer, and the permit of the attempt
    Outcome(Call<'a>, bool, Option<Permit<'a>>),
}

struct Simulation<'a> {
    variant: &'a Variant,
    service: Service,
    events: Events<Event<'a>>,
    rng: StdRng,
    intervals: Vec<Interval>,
}

impl<'a> Simulation<'a> {
    /// In the order of `#[retryable]`: a deposit for each call, a permit for each attempt, a
    /// withdrawal before each wait.
    fn happen(&mut self, now: Time, event: Event<'a>) {
        match event {
            Event::Attempt(call) => {
                if self.variant.budget && call.retries == 0 {
                    call.process.budget.deposit();
                }
                let permit = match self.variant.breaker {
                    true => match call.process.breaker.try_acquire() {
                        Ok(permit) => Some(permit),
                        Err(_) => return self.end(now, &call, false),
                    },
                    false => None,
                };
                self.intervals[interval(now)].requests += 1;
                let (at, answered) = self.service.request(now);
                self.events.plan(at, Event::Outcome(call, answered, permit));
            }
            Event::Outcome(call, answered, permit) => {
                match permit {
                    Some(permit) if answered => permit.success(),
                    Some(permit) => permit.failure(),
                    None => {}
                }
                if answered {
                    self.end(now, &call, true);
                } else {
                    self.fail(now, call);
                }
            }
        }
    }

    /// An attempt has failed.
    fn fail(&mut self, now: Time, mut call: Call<'a>) {
        let policy = &self.variant.policy;
        let used_up = policy
            .max_calls()
            .is_some_and(|max| call.retries + 1 >= max);
        if used_up || self.variant.budget && !call.process.budget.withdraw() {
            return self.end(now, &call, false);
        }
        let wait = policy.wait_with(call.retries, call.waited, |nanos| {
            self.rng.random_range(0..=nanos)
        });
        call.retries += 1;
        call.waited = Some(wait);
        self.events.plan(now + wait, Event::Attempt(call));
    }

    fn end(&mut self, now: Time, call: &Call<'a>, succeeded: bool) {
        let interval = &mut self.intervals[interval(now)];
        if succeeded {
            interval.succeeded += 1;
        } else {
            interval.failed += 1;
        }
        let pause = self.pause();
        self.call_at(now + pause, call.process);
    }

    fn pause(&mut self) -> Duration {
        self.rng.random_range(Duration::ZERO..=PAUSE)
    }

    fn call_at(&mut self, at: Time, process: &'a Process) {
        let call = Call {
            process,
            retries: 0,
            waited: None,
        };
        self.events.plan(at, Event::Attempt(call));
    }
}

struct Service {
    /// For one request
    work: Duration,
    /// When it has done what is in its queue
    free: Time,
}

impl Service {
    fn new(capacity: usize) -> Self {
        Self {
            work: Duration::from_secs(1) / capacity as u32,
            free: Time::ZERO,
        }
    }

    /// When the client of a request that is sent now knows its outcome, and whether that is an
    /// answer.
    fn request(&mut self, now: Time) -> (Time, bool) {
        let arrived = now + DELAY;
        let begin = working(arrived.max(self.free));
        if begin - working(arrived) >= QUEUE {
            return (arrived + DELAY, false);
        }
        self.free = begin + self.work;
        let answered = self.free + DELAY;
        let given_up = now + TIMEOUT;
        (answered.min(given_up), answered < given_up)
    }
}

/// When the service works, from then on.
fn working(at: Time) -> Time {
    match (STOPS..WORKS_AGAIN).contains(&at) {
        true => WORKS_AGAIN,
        false => at,
    }
}
