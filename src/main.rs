//! The program `wizard`: picks a role or a command, reads the configuration, starts it.
//!
//! It decides nothing about the game: what is here assembles the parts and ends with the right
//! exit code.

mod address;
mod arena;
mod chance;
mod command_line;
mod configuration;
mod everything;
mod health;
mod loadtest;
mod lobby;
mod nodes;
mod operations_port;
mod role_threads;
mod single;
mod start;
mod variables;

use std::process::ExitCode;

use registry::RegistryError;

use crate::command_line::{Command, EXIT_MISCONFIGURED};
use crate::operations_port::OperationsPort;
use crate::variables::Misconfigured;

fn main() -> ExitCode {
    let line = match command_line::parse(std::env::args_os()) {
        Ok(line) => line,
        Err(refused) => return ExitCode::from(refused.report()),
    };
    let outcome = match line.command {
        None => everything::run(line.everything),
        Some(Command::Gateway(command)) => single::gateway(&command),
        Some(Command::GameNode(command)) => single::game_node(&command),
        Some(Command::AiNode(command)) => single::ai_node(&command),
        Some(Command::Nodes(command)) => nodes::run(command),
        Some(Command::Lobby(command)) => lobby::run(&command),
        Some(Command::Health(command)) => health::ask(OperationsPort::new(command.ops_addr)),
        Some(Command::Loadtest(command)) => loadtest::run(command),
        Some(Command::Arena(command)) => {
            arena::run(&command);
            Ok(())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            exit_code(&error)
        }
    }
}

fn exit_code(error: &anyhow::Error) -> ExitCode {
    let by_registry = error.downcast_ref::<RegistryError>();
    let misconfigured = error.is::<Misconfigured>()
        || matches!(by_registry, Some(RegistryError::InvalidConfig { .. }));
    if misconfigured {
        ExitCode::from(EXIT_MISCONFIGURED)
    } else {
        ExitCode::FAILURE
    }
}
