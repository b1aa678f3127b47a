//! What retries look like from outside: a shop whose fault rate changes, its clients, and a page
//! that draws the metrics of their retries as they come.
//!
//! `cargo run --example dashboard [-- [--port N] [--seconds N]]`, and open the address that it
//! prints. It listens on loopback alone. The page reads `/metrics`, which is what Prometheus would
//! read; the lines in the terminal come from an observer.

use std::{
    env,
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use retry_runtime::{BreakerState, Outcome, Step, describe_metrics, set_observer};
use tokio::time::{Instant, MissedTickBehavior, interval};

use faults::Faults;

mod clients;
mod faults;
mod shop;
mod web;

/// Upper ends of the waits: of 100 ms, which grow to a second, and hints of a second. At 0 are those
/// that do not wait.
const WAITS: [f64; 8] = [0.0, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6];

/// Up to four attempts, and none where the breaker is open.
const ATTEMPTS: [f64; 5] = [0.0, 1.0, 2.0, 3.0, 4.0];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (port, seconds) = arguments()?;

    // before the first call: what happens without a recorder is lost
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full("retry_wait_seconds".into()), &WAITS)?
        .set_buckets_for_metric(Matcher::Full("retry_attempts".into()), &ATTEMPTS)?
        .build_recorder();
    let prometheus = recorder.handle();
    metrics::set_global_recorder(recorder)?;
    describe_metrics();
    shop::describe_metrics();

    let seen = Arc::new(Seen::default());
    let counts = Arc::clone(&seen);
    set_observer(move |event| counts.count(event.step))?;

    let faults = Arc::new(Faults::default());
    let shop = shop::open(Arc::clone(&faults)).await?;
    let page = web::serve(port, Arc::clone(&faults), prometheus).await?;
    println!("The dashboard is at {page}");
    match seconds {
        Some(seconds) => println!("It ends after {seconds} s, or with Ctrl-C."),
        None => println!("Ctrl-C ends it."),
    }
    clients::call(shop)?;

    let mut phase = "";
    let start = Instant::now();
    let mut ticks = interval(Duration::from_secs(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        let now = faults.now();
        if now.phase != phase {
            phase = now.phase;
            println!("\n{phase}: {}\n", now.what);
            println!("  time | faults | calls/s  failed/s  retries/s | breaker    budget");
        }
        ticks.tick().await;
        let elapsed = start.elapsed().as_secs();
        println!(
            "{elapsed:>4} s | {:>4.0} % | {}",
            now.rate * 100.0,
            seen.line()
        );
        if seconds.is_some_and(|seconds| elapsed >= seconds) {
            println!("\n{}", seen.summary());
            return Ok(());
        }
    }
}

/// The port, 0 for any that is free; and when to end, if ever.
fn arguments() -> Result<(u16, Option<u64>), Box<dyn Error>> {
    let (mut port, mut seconds) = (0, None);
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or("an argument without a value")?;
        match argument.as_str() {
            "--port" => port = value.parse()?,
            "--seconds" => seconds = Some(value.parse()?),
            _ => return Err(format!("`{argument}` is none of `--port`, `--seconds`").into()),
        }
    }
    Ok((port, seconds))
}

/// What the observer has counted: since the last line, and before.
#[derive(Default)]
struct Seen {
    succeeded: Count,
    failed: Count,
    retries: Count,
}

#[derive(Default)]
struct Count {
    new: AtomicU64,
    old: AtomicU64,
}

impl Count {
    fn add(&self) {
        self.new.fetch_add(1, Ordering::Relaxed);
    }

    fn take(&self) -> u64 {
        let new = self.new.swap(0, Ordering::Relaxed);
        self.old.fetch_add(new, Ordering::Relaxed);
        new
    }

    fn total(&self) -> u64 {
        self.new.load(Ordering::Relaxed) + self.old.load(Ordering::Relaxed)
    }
}

impl Seen {
    fn count(&self, step: Step) {
        match step {
            Step::Retry { .. } => self.retries.add(),
            Step::End(Outcome::Success) => self.succeeded.add(),
            Step::End(Outcome::Failure(_)) => self.failed.add(),
            _ => {}
        }
    }

    fn line(&self) -> String {
        let (succeeded, failed) = (self.succeeded.take(), self.failed.take());
        let breaker = match clients::BREAKER.state() {
            BreakerState::Closed => "closed",
            BreakerState::HalfOpen => "half-open",
            BreakerState::Open => "open",
        };
        format!(
            "{:>7}  {failed:>8}  {:>9} | {breaker:<9}  {:>6}",
            succeeded + failed,
            self.retries.take(),
            clients::BUDGET.available(),
        )
    }

    fn summary(&self) -> String {
        let (succeeded, failed) = (self.succeeded.total(), self.failed.total());
        format!(
            "{} calls, of which {failed} failed, and {} retries.",
            succeeded + failed,
            self.retries.total()
        )
    }
}
