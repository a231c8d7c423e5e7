//! Every variable of the configuration: its name, its default, what it means, and what it may be.
//!
//! Each is an environment variable and the flag of the same name. They are read here and nowhere
//! else, all of them before any port is bound, and become the roles' plain `Config`s.
//!
//! Invariant: a value that can't be is refused here by a message that names the variable.

#![expect(
    clippy::doc_markdown,
    reason = "the fields' docs are the program's help: plain text"
)]
#![allow(rustdoc::invalid_html_tags, reason = "likewise")]

mod ai;
mod game;
mod gateway;
mod listen;
mod operators;
mod presence;
mod process;

pub(crate) use ai::AiVariables;
pub(crate) use game::{GameVariables, LoadVariables};
pub(crate) use gateway::GatewayVariables;
pub(crate) use listen::ListenVariables;
pub(crate) use operators::{OperatorsVariables, TokenVariables};
pub(crate) use presence::PresenceVariables;
pub(crate) use process::ProcessVariables;

use std::borrow::Cow;
use std::time::Duration;

use chassis::environment::duration;

/// The configuration contradicts itself, or lacks something. Names the variable.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{variable}: {problem}")]
pub(crate) struct Misconfigured {
    pub(crate) variable: Cow<'static, str>,
    pub(crate) problem: String,
}

impl Misconfigured {
    pub(crate) fn new(variable: impl Into<Cow<'static, str>>, problem: impl Into<String>) -> Self {
        Self {
            variable: variable.into(),
            problem: problem.into(),
        }
    }
}

/// A duration that must not be zero, such as an interval or a time to live.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text) {
        Ok(Duration::ZERO) => Err("must be longer than nothing".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(error.to_string()),
    }
}
