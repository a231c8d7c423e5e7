//! The AI node's own variables.

use std::num::NonZeroUsize;
use std::thread;

use clap::Args;

/// How much an AI node thinks at once.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "AI node")]
pub(crate) struct AiVariables {
    /// Threads that decide [default: one for each core]
    #[arg(long, env)]
    pub(crate) ai_workers: Option<NonZeroUsize>,

    /// Requests that wait for a thread; beyond it they are refused
    #[arg(long, env, default_value = "64")]
    pub(crate) ai_queue: NonZeroUsize,
}

impl AiVariables {
    pub(crate) fn workers(&self) -> NonZeroUsize {
        self.ai_workers
            .or_else(|| thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN)
    }
}
