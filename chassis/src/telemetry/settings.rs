//! What is logged, and how it is written.

use std::io::{self, IsTerminal};
use std::str::FromStr;

use tracing_subscriber::filter::{EnvFilter, LevelFilter};

/// What is logged: a level (`info`), or directives (`info,gateway=debug`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLevel(pub(super) String);

/// The text is not a level.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{0}' is not a level: write off, error, warn, info, debug or trace")]
pub struct InvalidLogLevel(String);

impl FromStr for LogLevel {
    type Err = InvalidLogLevel;

    fn from_str(text: &str) -> Result<Self, InvalidLogLevel> {
        // A lone word would otherwise be taken for the name of a module, and log nothing.
        let plain = !text.contains(['=', ',']);
        let valid = if plain {
            !text.is_empty() && text.parse::<LevelFilter>().is_ok()
        } else {
            EnvFilter::try_new(text).is_ok()
        };
        if valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidLogLevel(text.to_owned()))
        }
    }
}

/// How an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines: an object a line.
    Json,
}

impl LogFormat {
    /// Text where a person reads along, otherwise JSON.
    pub fn of_this_terminal() -> Self {
        if io::stderr().is_terminal() {
            Self::Text
        } else {
            Self::Json
        }
    }
}

/// The text is not a format.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{0}' is neither text nor json")]
pub struct InvalidLogFormat(String);

impl FromStr for LogFormat {
    type Err = InvalidLogFormat;

    fn from_str(text: &str) -> Result<Self, InvalidLogFormat> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(InvalidLogFormat(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_level_and_a_typo_is_not_a_module() {
        for text in ["info", "OFF", "info,gateway=debug", "gateway=trace"] {
            assert!(text.parse::<LogLevel>().is_ok(), "{text}");
        }
        for text in ["", "verbose", "info,gateway=loud"] {
            assert_eq!(
                text.parse::<LogLevel>(),
                Err(InvalidLogLevel(text.to_owned()))
            );
        }
    }
}
