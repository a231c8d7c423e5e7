//! Thousands of schedules of faults against the real gateways and game nodes, on a clock that nobody waits for.
//!
//! Each schedule runs in a process of its own, whose chance is its seed's: the same seed is the same run.

mod calm;
mod chance;
mod fault;
mod ledger;
mod machine;
mod moment;
mod network;
mod player;
mod schedule;
mod verdict;
mod world;

use std::io::Write as _;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use clap::Parser;

use crate::schedule::Schedule;

/// Runs schedules of faults, and says which of them break a promise.
#[derive(Parser)]
struct Arguments {
    /// How many schedules.
    #[arg(long, env = "COUNT", default_value_t = 1_000)]
    count: u64,
    /// The first one's seed.
    #[arg(long, env = "FROM", default_value_t = 1)]
    from: u64,
    /// One schedule alone, with what it does.
    #[arg(long, env = "SEED")]
    seed: Option<u64>,
    /// How many faults go on at the same time, at most.
    #[arg(long, env = "OVERLAP", default_value_t = 2)]
    overlap: usize,
    /// How many run at the same time; 0: as many as there are cores.
    #[arg(long, env = "JOBS", default_value_t = 0)]
    jobs: usize,
    /// Says only how it ended.
    #[arg(long, hide = true)]
    quiet: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match arguments.seed {
        Some(seed) => one(seed, &arguments),
        None => many(&arguments),
    }
}

/// Runs one schedule in this process.
fn one(seed: u64, arguments: &Arguments) -> ExitCode {
    if !arguments.quiet {
        // On another thread, since each counts the hash maps that were made in it: with a log or without, the run is
        // the same.
        let logging = thread::spawn(log);
        logging.join().expect("the filter is one");
    }
    chance::seed(seed);
    let schedule = Schedule::draw(seed, arguments.overlap);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without sockets needs nothing");
    let outcome = runtime.block_on(async {
        chance::begin();
        world::run(seed, &schedule).await
    });
    println!("moves {}", outcome.moves);
    println!("lost {}", outcome.lost);
    for breach in &outcome.breaches {
        println!("breach {breach}");
    }
    // Nothing that still runs has anything to say.
    std::io::stdout().flush().expect("standard output is there");
    std::process::exit(i32::from(!outcome.breaches.is_empty()));
}

/// Prints what the processes log from now on.
fn log() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env();
    tracing_subscriber::fmt()
        .with_env_filter(filter.unwrap_or_else(|_| "info".into()))
        .with_target(false)
        .with_ansi(false)
        .init();
}

/// What schedules have come to.
#[derive(Default)]
struct Sum {
    moves: u64,
    lost: u64,
    failed: u64,
}

/// Runs many, each in a process of its own.
fn many(arguments: &Arguments) -> ExitCode {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let jobs = if arguments.jobs == 0 {
        cores
    } else {
        arguments.jobs
    };
    let next = AtomicU64::new(arguments.from);
    let end = arguments.from + arguments.count;
    let sum = Mutex::new(Sum::default());
    let began = chassis::clock::now();
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    one_of_many(seed, arguments, &sum);
                }
            });
        }
    });
    let sum = lock(&sum);
    println!(
        "{} schedules, {} moves, {} tables lost with owner and Redis, {} fail, {:.1} s",
        arguments.count,
        sum.moves,
        sum.lost,
        sum.failed,
        began.elapsed().as_secs_f64()
    );
    if sum.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs one schedule in a process of its own, and prints what that says if it fails.
fn one_of_many(seed: u64, arguments: &Arguments, sum: &Mutex<Sum>) {
    let program = std::env::current_exe().expect("this program is a file");
    let output = Command::new(program)
        .args(["--quiet", "--seed", &seed.to_string()])
        .args(["--overlap", &arguments.overlap.to_string()])
        .output()
        .expect("this program can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut sum = lock(sum);
    sum.moves += counted(&text, "moves ");
    sum.lost += counted(&text, "lost ");
    if !output.status.success() {
        sum.failed += 1;
        let errors = String::from_utf8_lossy(&output.stderr);
        println!("SEED={seed} fails\n{text}{errors}");
    }
}

/// A number of what one schedule has said.
fn counted(said: &str, what: &str) -> u64 {
    let number = said.lines().find_map(|line| line.strip_prefix(what));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// What a panic elsewhere has left is looked at all the same: it is the run's end that counts.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
