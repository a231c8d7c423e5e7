//! What every process has.

use std::net::SocketAddr;
use std::time::Duration;

use chassis::environment::duration;
use chassis::telemetry::{LogFormat, LogLevel};
use clap::Args;

use super::positive_duration;

/// Operations port, logs, start and end.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Process")]
pub(crate) struct ProcessVariables {
    /// Operations port: /health, /ready, /metrics [default: 127.0.0.1:9090 for a gateway and for
    /// all roles together, 127.0.0.1:9091 for a game node, 127.0.0.1:9092 for an AI node]
    #[arg(long, env)]
    pub(crate) ops_addr: Option<SocketAddr>,

    /// What is logged to standard error: off, error, warn, info, debug, trace, or directives
    #[arg(long, env, default_value = "info")]
    pub(crate) log_level: LogLevel,

    /// How it is logged: text or json [default: text on a terminal, else json]
    #[arg(long, env)]
    pub(crate) log_format: Option<LogFormat>,

    /// Ceiling of the self-check at a start, counted from the start of the process
    #[arg(long, env, default_value = "30s", value_parser = positive_duration)]
    pub(crate) ready_timeout: Duration,

    /// How long a process that was told to stop may take to hand over what it has
    #[arg(long, env, default_value = "60s", value_parser = duration)]
    pub(crate) drain_timeout: Duration,
}

impl ProcessVariables {
    pub(crate) fn log_format(&self) -> LogFormat {
        self.log_format.unwrap_or_else(LogFormat::of_this_terminal)
    }
}
