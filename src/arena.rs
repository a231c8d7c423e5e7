//! `wizard arena`: AI against AI on duplicate deals.

use ai_node::arena::{self, Match};
use clap::{Args, ValueEnum};
use protocol::lobby::AiLevel;
use rules::SeatCount;

/// Who plays whom, how often.
#[derive(Args, Clone, Debug)]
pub(crate) struct ArenaCommand {
    /// Plays one seat
    #[arg(long, value_enum, default_value = "normal")]
    challenger: Level,

    /// Plays all others
    #[arg(long, value_enum, default_value = "easy")]
    opponent: Level,

    /// Seats, 3 to 6
    #[arg(long, default_value = "4", value_parser = crate::loadtest::seat_count)]
    players: SeatCount,

    /// Deals; each is played once for every seat that the challenger can have
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    deals: u32,

    /// The same seed gives the same deals
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// How well an AI plays.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Easy,
    Normal,
    Hard,
}

impl From<Level> for AiLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Easy => Self::Easy,
            Level::Normal => Self::Normal,
            Level::Hard => Self::Hard,
        }
    }
}

/// Plays the match on this thread and reports on standard output.
pub(crate) fn run(command: &ArenaCommand) {
    let report = arena::play(Match {
        seats: command.players,
        challenger: command.challenger.into(),
        opponent: command.opponent.into(),
        deals: command.deals,
        seed: command.seed,
    });
    println!(
        "lead {:+.1} ± {:.1} points a game, {} games",
        report.lead, report.standard_error, report.games
    );
    for (name, side) in [
        ("challenger", &report.challenger),
        ("opponent", &report.opponent),
    ] {
        println!(
            "{name:<11} {:6.1} points, {:4.1} % of games won, {:4.1} % of bids made, \
             decisions {:.2} ms, p99 {:.2} ms",
            side.points,
            side.wins * 100.0,
            side.bids_made * 100.0,
            side.decision_mean_ms,
            side.decision_p99_ms
        );
    }
}
