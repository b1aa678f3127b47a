//! Clients that update one row, where of those who have read the same version only the first can
//! write: the simulation of the AWS Architecture Blog's "Exponential Backoff And Jitter".
//!
//! A client reads the row and writes it, and if another was faster, waits and starts again, until
//! it has written once.

use std::{f64::consts::TAU, time::Duration};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use retry_runtime::{Backoff, Jitter, Policy};

use crate::events::{Events, Time};

/// How long a message takes: normally distributed, in milliseconds.
const DELAY_MS: f64 = 10.0;
const DELAY_DEVIATION_MS: f64 = 2.0;

/// The numbers of the blog: its exponential wait is 10 ms before the first retry and 2 s at most.
const EXPONENTIAL: Policy = Policy::new().unlimited().base_ms(10).cap_ms(2_000);

/// The policies that are compared, by the names of the blog's simulator.
pub const POLICIES: [(&str, Policy); 5] = [
    ("None", EXPONENTIAL.backoff(Backoff::None)),
    ("Exponential", EXPONENTIAL.jitter(Jitter::None)),
    ("EqualJitter", EXPONENTIAL.jitter(Jitter::Equal)),
    ("FullJitter", EXPONENTIAL.jitter(Jitter::Full)),
    // grows by itself, from half of the above
    (
        "Decorr",
        EXPONENTIAL.base_ms(5).jitter(Jitter::Decorrelated),
    ),
];

/// What it took until every client had written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Attempts to write, successful or not
    pub calls: u32,
    pub time: Time,
}

/// Averages of simulations that differ by their seed.
#[derive(Clone, Copy, Debug)]
pub struct Mean {
    pub calls: f64,
    pub seconds: f64,
}

pub fn mean(policy: &Policy, clients: usize, runs: u32) -> Mean {
    let (mut calls, mut time) = (0, Time::ZERO);
    for seed in 0..runs {
        let run = run(policy, clients, seed.into());
        calls += run.calls;
        time += run.time;
    }
    Mean {
        calls: f64::from(calls) / f64::from(runs),
        seconds: time.as_secs_f64() / f64::from(runs),
    }
}

/// One simulation. Two with the same seed are the same.
pub fn run(policy: &Policy, clients: usize, seed: u64) -> Run {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut events = Events::new();
    for _ in 0..clients {
        events.plan(delay(&mut rng), Event::Read(Client::default()));
    }
    let mut version = 0;
    let mut run = Run {
        calls: 0,
        time: Time::ZERO,
    };
    while let Some((now, event)) = events.next() {
        run.time = now;
        match event {
            Event::Read(client) => {
                let there_and_back = delay(&mut rng) + delay(&mut rng);
                events.plan(now + there_and_back, Event::Write(client, version));
            }
            Event::Write(client, read) => {
                run.calls += 1;
                let written = read == version;
                if written {
                    version += 1;
                }
                events.plan(now + delay(&mut rng), Event::Answer(client, written));
            }
            Event::Answer(_, true) => {}
            Event::Answer(mut client, false) => {
                let wait = policy.wait_with(client.retries, client.waited, |nanos| {
                    rng.random_range(0..=nanos)
                });
                client.retries += 1;
                client.waited = Some(wait);
                events.plan(now + wait + delay(&mut rng), Event::Read(client));
            }
        }
    }
    run
}

/// A message arrives.
enum Event {
    /// At the server
    Read(Client),
    /// At the server, with the version that was read
    Write(Client, u32),
    /// At the client: whether it has written
    Answer(Client, bool),
}

#[derive(Default)]
struct Client {
    retries: u32,
    waited: Option<Duration>,
}

/// By the Box-Muller transform.
fn delay(rng: &mut StdRng) -> Duration {
    let [radius, angle]: [f64; 2] = rng.random();
    let normal = (-2.0 * (1.0 - radius).ln()).sqrt() * (TAU * angle).cos();
    Duration::from_secs_f64((DELAY_MS + DELAY_DEVIATION_MS * normal).abs() / 1_000.0)
}
