//! The AI node's own variables.

use std::num::NonZeroUsize;
use std::thread;

use clap::Args;

/// Far more cores than a machine has; a typing error beyond it would end in whatever the system
/// does when it has no more threads.
const MOST_WORKERS: usize = 1024;

/// A request that waits behind so many others is late anyway, and the room for them is taken at the
/// start.
const LONGEST_QUEUE: usize = 65_536;

/// How much an AI node thinks at once.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "AI node")]
pub(crate) struct AiVariables {
    /// Threads that decide [default: one for each core]
    #[arg(long, env, value_parser = up_to::<MOST_WORKERS>)]
    pub(crate) ai_workers: Option<NonZeroUsize>,

    /// Requests that wait for a thread; beyond it they are refused
    #[arg(long, env, default_value = "64", value_parser = up_to::<LONGEST_QUEUE>)]
    pub(crate) ai_queue: NonZeroUsize,
}

fn up_to<const MOST: usize>(text: &str) -> Result<NonZeroUsize, String> {
    match text.trim().parse::<NonZeroUsize>() {
        Ok(count) if count.get() <= MOST => Ok(count),
        _ => Err(format!("must be a whole number from 1 to {MOST}")),
    }
}

impl AiVariables {
    pub(crate) fn workers(&self) -> NonZeroUsize {
        self.ai_workers
            .or_else(|| thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN)
    }
}
