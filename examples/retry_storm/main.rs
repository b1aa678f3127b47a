//! What retries do to the other side, simulated with the crate's own policies, budgets and
//! breakers: `cargo run --release --example retry_storm`.
//!
//! Prints two tables, and draws them as `contention.svg` and `outage.svg` in the directory that is
//! given as an argument, or else in `target/retry_storm`. Takes half a minute; two runs come to the
//! same.

use std::{env, error::Error, fs, path::PathBuf};

use contention::{Mean, POLICIES};
use outage::{
    CAPACITY_PER_PROCESS, CLIENTS_PER_PROCESS, END, Outage, VARIANTS, Variant, WORKS_AGAIN,
};

mod contention;
mod events;
mod outage;
mod plots;

/// As many as the blog's.
const RUNS: u32 = 100;

const PROCESSES: usize = 20;

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = env::args_os().nth(1).map(PathBuf::from);
    let directory = directory.unwrap_or_else(|| "target/retry_storm".into());
    fs::create_dir_all(&directory)?;

    let means = contention();
    let outages = outage().await;

    let plot = directory.join("contention.svg");
    plots::contention(&plot, &means)?;
    println!("\n{}", plot.display());
    let plot = directory.join("outage.svg");
    plots::outage(&plot, &outages)?;
    println!("{}", plot.display());
    Ok(())
}

/// A number of clients, and what it took with each policy.
type Row = (usize, [Mean; POLICIES.len()]);

fn contention() -> Vec<Row> {
    println!(
        "Clients update one row, and start again if another was faster: calls, and time until\n\
         all have written. Averages of {RUNS} runs.\n"
    );
    print!("| clients |");
    for (name, _) in plots::LINES {
        print!(" {name:>16} |");
    }
    print!("\n|--------:|");
    for _ in plots::LINES {
        print!("{:->17}:|", "");
    }
    println!();
    let row = |clients| {
        let means = POLICIES.map(|(_, policy)| contention::mean(&policy, clients, RUNS));
        print!("| {clients:>7} |");
        for Mean { calls, seconds } in means {
            print!(" {calls:>6.0} {seconds:>7.2} s |");
        }
        println!();
        (clients, means)
    };
    (10..200).step_by(10).map(row).collect()
}

async fn outage() -> Vec<Outage> {
    println!(
        "\n{} clients in {PROCESSES} processes make about 2000 calls a second to a service that \
         can answer {}\nand stops for 10 s.\n",
        PROCESSES * CLIENTS_PER_PROCESS,
        PROCESSES * CAPACITY_PER_PROCESS,
    );
    println!(
        "| calls made with              | peak requests/s | requests per call | failed calls | recovered after |\n\
         |------------------------------|----------------:|------------------:|-------------:|----------------:|"
    );
    let mut outages = Vec::new();
    for variant in &VARIANTS {
        let outage = outage::run(variant, PROCESSES, 1).await;
        println!("{}", row(variant, &outage));
        outages.push(outage);
    }
    outages
}

fn row(variant: &Variant, outage: &Outage) -> String {
    let recovery = match outage.recovery() {
        Some(time) => format!("{:.1} s", time.as_secs_f64()),
        None => format!("not in {} s", (END - WORKS_AGAIN).as_secs()),
    };
    format!(
        "| {:<28} | {:>15.0} | {:>17.2} | {:>10.0} % | {recovery:>15} |",
        variant.name,
        outage.peak(),
        outage.requests_per_call(),
        outage.share_of_failed() * 100.0,
    )
}
