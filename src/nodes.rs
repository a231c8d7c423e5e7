//! `wizard nodes`: who is there, who comes and goes, take a node out.
//!
//! From Redis if there is a `REDIS_URL`, so also when no gateway is up; else from a gateway.

mod drain;
mod source;
mod table;
mod watch;

use std::io::{self, Write};
use std::time::Duration;

use clap::{Args, Subcommand};
use registry::{NodeId, Presence};
use serde::{Deserialize, Serialize};

pub(crate) use source::{Source, ask};
use table::{Moment, Table};

use crate::variables::{Misconfigured, OperatorsVariables, TokenVariables, positive_duration};

/// What to do with the nodes.
#[derive(Debug, Subcommand)]
pub(crate) enum NodesCommand {
    /// Show every process once
    List(ListCommand),
    /// Show every process for as long as this runs; without a terminal, one line an event
    Watch(WatchCommand),
    /// Ask a process to take nothing new and to leave when it is empty
    Drain(DrainCommand),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ListCommand {
    /// For machines: the array of `GET /nodes`
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(crate) variables: OperatorsVariables,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct WatchCommand {
    #[command(flatten)]
    pub(crate) variables: OperatorsVariables,

    /// After how long without a heartbeat a process counts as gone; as the processes have it
    #[arg(long, env, default_value = "15s", value_parser = positive_duration)]
    pub(crate) presence_ttl: Duration,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct DrainCommand {
    /// Which process, by the id that `wizard nodes list` shows
    id: String,

    #[command(flatten)]
    token: TokenVariables,

    #[command(flatten)]
    pub(crate) variables: OperatorsVariables,
}

/// A process, as in `GET /nodes`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Node {
    #[serde(flatten)]
    pub(crate) presence: Presence,
    /// `up` or `down`, from the gateway that was asked.
    #[serde(default)]
    pub(crate) link: Option<String>,
    /// As that gateway knows: the process is gone, whatever its last heartbeat says.
    #[serde(default)]
    pub(crate) dead: bool,
    /// As it told that gateway: it alone can't save, and others go on with its lobbies.
    #[serde(default)]
    pub(crate) cut_off: bool,
}

impl Node {
    /// As the registry has it, where no link tells more.
    pub(crate) fn of_registry(presence: Presence) -> Self {
        Self {
            presence,
            link: None,
            dead: false,
            cut_off: false,
        }
    }
}

/// Carries the command out, and prints to standard output.
///
/// # Errors
/// If nobody can be asked, or what was asked could not be done.
pub(crate) fn run(command: NodesCommand) -> anyhow::Result<()> {
    match command {
        NodesCommand::List(command) => list(&command),
        NodesCommand::Watch(command) => {
            let source = Source::new(&command.variables)?;
            watch::run(source, command.presence_ttl)
        }
        NodesCommand::Drain(command) => {
            let id = NodeId::new(command.id.clone())
                .map_err(|error| Misconfigured::new("ID", error.to_string()))?;
            let source = Source::new(&command.variables)?;
            drain::run(&source, &id, &command.token.operator_token)
        }
    }
}

fn list(command: &ListCommand) -> anyhow::Result<()> {
    let (now_ms, nodes) = Source::new(&command.variables)?.list()?;
    let text = if command.json {
        format!("{}\n", serde_json::to_string_pretty(&nodes)?)
    } else if nodes.is_empty() {
        "no process is there\n".to_owned()
    } else {
        Table::new(&nodes, Moment(now_ms)).to_string()
    };
    print(&text)
}

/// Whoever reads may have had enough; that is no fault of ours.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
