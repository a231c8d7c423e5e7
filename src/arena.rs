//! `wizard arena`: AI against AI on duplicate deals.

use ai_node::arena::{self, Match, Report};
use ai_node::pool::WORLDS;
use clap::{Args, ValueEnum};
use protocol::lobby::AiLevel;
use rules::SeatCount;
use serde_json::json;

/// Who plays whom, how often.
#[derive(Args, Clone, Debug)]
pub(crate) struct ArenaCommand {
    /// Plays one seat
    #[arg(long, value_enum, default_value = "hard")]
    challenger: Level,

    /// Plays all others
    #[arg(long, value_enum, default_value = "normal")]
    opponent: Level,

    /// Seats, 3 to 6
    #[arg(long, default_value = "4", value_parser = crate::loadtest::seat_count)]
    players: SeatCount,

    /// Deals; each is played once for every seat that the challenger can have
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=MOST_DEALS))]
    deals: u32,

    /// Ways in which the unseen cards may lie, that a hard seat tries for each move
    #[arg(long, default_value_t = WORLDS, value_parser = clap::value_parser!(u32).range(1..=MOST_WORLDS))]
    worlds: u32,

    /// The same seed gives the same deals
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Prints one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Days of play; every count of a match stays far below what a number holds.
const MOST_DEALS: i64 = 1_000_000;
/// Minutes for one move.
const MOST_WORLDS: i64 = 10_000_000;

/// How well an AI plays.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Easy,
    Normal,
    Hard,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Normal => "normal",
            Self::Hard => "hard",
        }
    }
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
        worlds: command.worlds,
        seed: command.seed,
    });
    let names = [command.challenger, command.opponent].map(Level::name);
    if command.json {
        let report = json!({
            "players": command.players,
            "worlds": command.worlds,
            "seed": command.seed,
            "levels": {"challenger": names[0], "opponent": names[1]},
            "report": report,
        });
        println!("{report}");
    } else {
        print!("{}", table(&report, names));
    }
}

/// One column a side, one row a figure.
fn table(report: &Report, [challenger, opponent]: [&str; 2]) -> String {
    let sides = [&report.challenger, &report.opponent];
    let row = |name: &str, [one, other]: [String; 2]| format!("{name:<16}{one:>16}{other:>16}\n");
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let ms = |ms: f64| format!("{ms:.3} ms");
    let mut rows = vec![
        row(
            "",
            [format!("1 {challenger}"), format!("others {opponent}")],
        ),
        row(
            "points a game",
            sides.map(|side| format!("{:.1}", side.points)),
        ),
        row("games won", sides.map(|side| percent(side.wins))),
        row("bids hit", sides.map(|side| percent(side.bids_made))),
    ];
    for round in 0..sides[0].bids_made_by_round.len() {
        let name = format!("  in round {}", round + 1);
        rows.push(row(
            &name,
            sides.map(|side| percent(side.bids_made_by_round[round])),
        ));
    }
    rows.push(row(
        "decision, mean",
        sides.map(|side| ms(side.decision_mean_ms)),
    ));
    rows.push(row("  p50", sides.map(|side| ms(side.decision_p50_ms))));
    rows.push(row("  p99", sides.map(|side| ms(side.decision_p99_ms))));
    format!(
        "{}\nAhead by {:.1} points a game, standard error {:.1}: {} games on {} deals.\n",
        rows.concat(),
        report.lead,
        report.standard_error,
        report.games,
        report.deals
    )
}
