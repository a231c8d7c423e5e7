//! `wizard loadtest`: players that play whole games over real connections.

#![expect(
    clippy::doc_markdown,
    reason = "the fields' docs are the program's help: plain text"
)]

use std::time::Duration;

use anyhow::Context;
use chassis::environment::duration;
use clap::Args;
use protocol::player::SetOptions;
use rules::SeatCount;

use crate::chance;

/// What is to be played, where, and for how long.
#[derive(Args, Clone, Debug)]
pub(crate) struct LoadtestCommand {
    /// Where players connect; several, with commas between them, share tables and seats
    #[arg(
        long = "url",
        value_name = "URL",
        value_delimiter = ',',
        default_value = "http://127.0.0.1:8080"
    )]
    urls: Vec<String>,

    /// Tables that play at the same time
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    tables: u32,

    /// Seats of each table, 3 to 6
    #[arg(long, default_value = "4", value_parser = seat_count)]
    players: SeatCount,

    /// How many of them are connections; the others are AI seats [default: all]
    #[arg(long)]
    humans: Option<u8>,

    /// After this, running games are left
    #[arg(long, default_value = "30s", value_parser = duration)]
    duration: Duration,

    /// After so many games no other begins [default: as many as the time allows]
    #[arg(long)]
    games: Option<u64>,

    /// Options of every game, as in set_options: '{"length":"short"}' [default: other ones each game]
    #[arg(long, value_parser = options)]
    options: Option<SetOptions>,

    /// Mean pause before a move; much less than the default breaks a gateway's default MESSAGE_RATE
    #[arg(long, default_value = "200ms", value_parser = duration)]
    think: Duration,

    /// Repeats the choices of a run [default: drawn, and reported]
    #[arg(long)]
    seed: Option<u64>,

    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// Plays, and reports on standard output.
///
/// # Errors
/// The first promise of the contract that was broken, or that nobody could move at all.
pub(crate) fn run(command: LoadtestCommand) -> anyhow::Result<()> {
    let json = command.json;
    let config = command.into_config()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let report = runtime.block_on(loadtest::run(config))?;
    anyhow::ensure!(report.moves > 0, "nobody came to make a move in that time");
    if json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        println!("{report}");
    }
    Ok(())
}

impl LoadtestCommand {
    fn into_config(self) -> anyhow::Result<loadtest::Config> {
        let humans = self.humans.unwrap_or(self.players.get());
        anyhow::ensure!(
            (1..=self.players.get()).contains(&humans),
            "--humans: must be from 1 to --players ({})",
            self.players.get()
        );
        let seed = match self.seed {
            Some(seed) => seed,
            None => u64::from_le_bytes(chance::bytes()?),
        };
        Ok(loadtest::Config {
            urls: self
                .urls
                .iter()
                .map(|url| socket_url(url))
                .collect::<Result<_, _>>()?,
            tables: self.tables,
            players: self.players,
            humans,
            duration: self.duration,
            games: self.games,
            options: self.options,
            think: self.think,
            seed,
        })
    }
}

/// From the address of the page to that of the players' socket beneath it; the latter may also be
/// given.
fn socket_url(url: &str) -> anyhow::Result<String> {
    let (scheme, rest) = url
        .split_once("://")
        .context("--url: write http://host:port")?;
    let scheme = match scheme {
        "http" | "ws" => "ws",
        _ => anyhow::bail!("--url: only http:// and ws:// are spoken"),
    };
    let rest = rest.trim_end_matches('/');
    let rest = rest.strip_suffix("/ws").unwrap_or(rest);
    Ok(format!("{scheme}://{rest}/ws"))
}

pub(crate) fn seat_count(text: &str) -> Result<SeatCount, String> {
    let count = text.parse().ok().and_then(SeatCount::new);
    count.ok_or_else(|| "must be from 3 to 6".to_owned())
}

fn options(text: &str) -> Result<SetOptions, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_leads_to_the_socket() {
        let check = |given: &str, expected: &str| assert_eq!(socket_url(given).unwrap(), expected);
        check("http://127.0.0.1:8080", "ws://127.0.0.1:8080/ws");
        check(
            "http://games.example/wizard/",
            "ws://games.example/wizard/ws",
        );
        check("ws://127.0.0.1:8080/ws", "ws://127.0.0.1:8080/ws");
        assert!(socket_url("127.0.0.1:8080").is_err());
    }
}
