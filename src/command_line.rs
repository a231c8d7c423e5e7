//! The command line: which command, with which variables.

use std::ffi::OsString;
use std::net::SocketAddr;

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command as Grammar, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::arena::ArenaCommand;
use crate::loadtest::LoadtestCommand;
use crate::lobby::LobbyCommand;
use crate::nodes::NodesCommand;
use crate::variables::{
    AiVariables, GameVariables, GatewayVariables, ListenVariables, Misconfigured,
    PresenceVariables, ProcessVariables,
};

/// What the program was asked to do.
#[derive(Debug, Parser)]
#[command(
    name = "wizard",
    version,
    about = "The card game Wizard. Without a command: everything in one process, ready to play.",
    after_help = TRACES_HELP,
    args_conflicts_with_subcommands = true,
    max_term_width = 100,
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    #[command(flatten)]
    pub(crate) everything: EverythingVariables,
}

const TRACES_HELP: &str = "\
Traces:
  OTEL_EXPORTER_OTLP_ENDPOINT and its kin, as OpenTelemetry defines them [default: none]

Every flag is also the environment variable of its name; an empty variable counts as not set.
Durations are seconds (0.8) or carry a unit (800ms, 5s, 30m). Exit codes: 78 for a wrong
configuration, 1 for everything else that stops a start.";

/// A command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// One process that takes players' connections
    Gateway(GatewayCommand),
    /// One process that owns lobbies and runs their games
    GameNode(GameNodeCommand),
    /// One process that decides for AI seats
    AiNode(AiNodeCommand),
    /// Operators: who is there, who comes and goes, take a node out
    #[command(subcommand)]
    Nodes(NodesCommand),
    /// Operators: who owns a lobby, and who sits there
    Lobby(LobbyCommand),
    /// Ask the process on this host whether it is ready: exit 0 if so, else 1
    Health(HealthCommand),
    /// Play many whole games over real connections, check every state, report rates and latencies
    Loadtest(LoadtestCommand),
    /// AI against AI on duplicate deals
    Arena(ArenaCommand),
}

/// All roles in one process.
#[derive(Args, Clone, Debug)]
pub(crate) struct EverythingVariables {
    #[command(flatten)]
    pub(crate) process: ProcessVariables,
    #[command(flatten)]
    pub(crate) listen: ListenVariables,
    #[command(flatten)]
    pub(crate) presence: PresenceVariables,
    #[command(flatten)]
    pub(crate) gateway: GatewayVariables,
    #[command(flatten)]
    pub(crate) game: GameVariables,
    #[command(flatten)]
    pub(crate) ai: AiVariables,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct GatewayCommand {
    #[command(flatten)]
    pub(crate) process: ProcessVariables,
    #[command(flatten)]
    pub(crate) listen: ListenVariables,
    #[command(flatten)]
    pub(crate) presence: PresenceVariables,
    #[command(flatten)]
    pub(crate) gateway: GatewayVariables,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct GameNodeCommand {
    #[command(flatten)]
    pub(crate) process: ProcessVariables,
    #[command(flatten)]
    pub(crate) listen: ListenVariables,
    #[command(flatten)]
    pub(crate) presence: PresenceVariables,
    #[command(flatten)]
    pub(crate) game: GameVariables,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct AiNodeCommand {
    #[command(flatten)]
    pub(crate) process: ProcessVariables,
    #[command(flatten)]
    pub(crate) presence: PresenceVariables,
    #[command(flatten)]
    pub(crate) ai: AiVariables,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct HealthCommand {
    /// Operations port of the process to ask; a wildcard address means this host
    #[arg(long, env, default_value = "127.0.0.1:9090")]
    pub(crate) ops_addr: SocketAddr,
}

/// Reads the command line and the environment. Help and version are errors, too: `clap` prints
/// them and knows their exit code.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<CommandLine, Refused> {
    let grammar = tidy(CommandLine::command(), &|name| std::env::var_os(name));
    let matches = grammar
        .try_get_matches_from(arguments)
        .map_err(Refused::Usage)?;
    let line = CommandLine::from_arg_matches(&matches).map_err(Refused::Usage)?;
    line.check()?;
    Ok(line)
}

/// The command line was not carried out.
#[derive(Debug)]
pub(crate) enum Refused {
    /// By the grammar; also "refused" because help was asked for.
    Usage(clap::Error),
    /// By what the values mean together.
    Misconfigured(Misconfigured),
}

impl CommandLine {
    fn check(&self) -> Result<(), Refused> {
        let checked = match &self.command {
            None => {
                let EverythingVariables {
                    presence,
                    gateway,
                    game,
                    ..
                } = &self.everything;
                presence.check().and(gateway.check()).and(game.check())
            }
            Some(Command::Gateway(own)) => own.presence.check().and(own.gateway.check()),
            Some(Command::GameNode(own)) => own.presence.check().and(own.game.check()),
            Some(Command::AiNode(own)) => own.presence.check(),
            Some(
                Command::Nodes(_)
                | Command::Lobby(_)
                | Command::Health(_)
                | Command::Loadtest(_)
                | Command::Arena(_),
            ) => Ok(()),
        };
        checked.map_err(Refused::Misconfigured)
    }
}

impl Refused {
    /// Prints what a person must know and gives the exit code.
    pub(crate) fn report(self) -> u8 {
        match self {
            Self::Usage(error) => {
                // Nobody is left to be told if this fails.
                let _ = error.print();
                match error.kind() {
                    ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => 0,
                    _ => EXIT_MISCONFIGURED,
                }
            }
            Self::Misconfigured(error) => {
                eprintln!("error: {error}");
                EXIT_MISCONFIGURED
            }
        }
    }
}

/// `EX_CONFIG` of `sysexits.h`: a supervisor need not try again.
pub(crate) const EXIT_MISCONFIGURED: u8 = 78;

/// Makes the grammar the same for every variable of it: an empty variable of the environment
/// counts as not set, as compose files have them, and help never shows a value that is set, since
/// some are secret.
fn tidy(grammar: Grammar, environment: &dyn Fn(&str) -> Option<OsString>) -> Grammar {
    let tidy_one = |argument: Arg| {
        let name = argument
            .get_env()
            .map(|name| name.to_string_lossy().into_owned());
        let is_empty = name
            .and_then(|name| environment(&name))
            .is_some_and(|value| value.is_empty());
        let argument = argument.hide_env_values(true);
        if is_empty {
            argument.env(Resettable::Reset)
        } else {
            argument
        }
    };
    grammar
        .mut_args(tidy_one)
        .mut_subcommands(|subcommand| tidy(subcommand, environment))
}
