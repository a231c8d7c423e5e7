//! The game node's own variables.

use std::time::Duration;

use chassis::environment::{Limit, duration};
use clap::{Args, ValueEnum};
use protocol::server::LoadLevel;

use super::{Misconfigured, positive_duration};

/// Pace of the games, patience with the AI, and when there is no room for more.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Game node")]
pub(crate) struct GameVariables {
    /// How long to wait for the AI before a random legal move
    #[arg(long, env, default_value = "5s", value_parser = positive_duration)]
    pub(crate) ai_decision_timeout: Duration,

    /// Least time of an AI's move
    #[arg(long, env, default_value = "0.8", value_parser = duration)]
    pub(crate) ai_move_delay: Duration,

    /// Pause after a trick
    #[arg(long, env, default_value = "1.8", value_parser = duration)]
    pub(crate) trick_pause: Duration,

    /// Requests that wait for an answer on one AI connection
    #[arg(long, env, default_value = "32")]
    pub(crate) ai_max_inflight: Limit,

    /// Failures in a row after which an AI node is left alone
    #[arg(long, env, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ai_breaker_failures: u32,

    /// For how long it is left alone
    #[arg(long, env, default_value = "30s", value_parser = duration)]
    pub(crate) ai_breaker_cooldown: Duration,

    /// Lobbies of a node; 0: as many as the load allows
    #[arg(long, env, default_value = "1000")]
    pub(crate) max_lobbies: Limit,

    /// Running games of a node; 0: as many as the load allows
    #[arg(long, env, default_value = "50")]
    pub(crate) max_active_games: Limit,

    #[command(flatten)]
    pub(crate) load: LoadVariables,
}

/// When a game node calls itself busy or overloaded.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Load of a game node")]
#[expect(
    clippy::struct_field_names,
    reason = "a field is called like its variable"
)]
pub(crate) struct LoadVariables {
    /// How often the load is measured
    #[arg(long, env, default_value = "1s", value_parser = positive_duration)]
    pub(crate) load_sample_interval: Duration,

    /// Busy from this lag of the lobby thread on
    #[arg(long, env, default_value = "0.1", value_parser = positive_duration)]
    pub(crate) load_lag_busy: Duration,

    /// Overloaded from this lag on, if it lasts
    #[arg(long, env, default_value = "0.25", value_parser = positive_duration)]
    pub(crate) load_lag_overload: Duration,

    /// Overloaded from this lag on, at once
    #[arg(long, env, default_value = "1.0", value_parser = positive_duration)]
    pub(crate) load_lag_severe: Duration,

    /// Busy from this share of the CPU on
    #[arg(long, env, default_value = "0.7", value_parser = share)]
    pub(crate) load_cpu_busy: f64,

    /// Overloaded from this share of the CPU on, if it lasts
    #[arg(long, env, default_value = "0.9", value_parser = share)]
    pub(crate) load_cpu_overload: f64,

    /// Overloaded from this share of throttled periods on, if it lasts
    #[arg(long, env, default_value = "0.5", value_parser = share)]
    pub(crate) load_throttle_overload: f64,

    /// Samples in a row that make a node overloaded
    #[arg(long, env, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) load_overload_samples: u32,

    /// Better samples in a row after which it recovers
    #[arg(long, env, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) load_recover_samples: u32,

    /// Pins the level, for trying it out [default: empty, as measured]
    #[arg(long, env, value_enum)]
    pub(crate) load_force_level: Option<ForcedLevel>,
}

impl GameVariables {
    pub(crate) fn check(&self) -> Result<(), Misconfigured> {
        self.load.check()
    }
}

impl LoadVariables {
    /// A higher level must not begin before a lower one.
    fn check(&self) -> Result<(), Misconfigured> {
        let not_below = |variable, value, least_variable: &str, least: f64| {
            if value >= least {
                return Ok(());
            }
            let problem = format!("must not be below {least_variable} ({least})");
            Err(Misconfigured::new(variable, problem))
        };
        let lags = [
            self.load_lag_busy,
            self.load_lag_overload,
            self.load_lag_severe,
        ];
        let [busy, overload, severe] = lags.map(|lag| lag.as_secs_f64());
        not_below("LOAD_LAG_OVERLOAD", overload, "LOAD_LAG_BUSY", busy)?;
        not_below("LOAD_LAG_SEVERE", severe, "LOAD_LAG_OVERLOAD", overload)?;
        let (busy, overload) = (self.load_cpu_busy, self.load_cpu_overload);
        not_below("LOAD_CPU_OVERLOAD", overload, "LOAD_CPU_BUSY", busy)
    }
}

/// The levels of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ForcedLevel {
    Normal,
    Busy,
    Overloaded,
}

impl From<ForcedLevel> for LoadLevel {
    fn from(level: ForcedLevel) -> Self {
        match level {
            ForcedLevel::Normal => Self::Normal,
            ForcedLevel::Busy => Self::Busy,
            ForcedLevel::Overloaded => Self::Overloaded,
        }
    }
}

/// A share of a whole, above 0 and up to 1.
fn share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("must be a number above 0 and up to 1".to_owned()),
    }
}
