//! Many tables at once, until the games or the time are over, or the first fault.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use protocol::player::SetOptions;
use rules::SeatCount;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::player::PlayerError;
use crate::report::{Report, Tally};
use crate::table::Table;

/// Connections that are opened at the same time: gateways take so many a second and let the rest wait.
const OPENING_AT_ONCE: usize = 64;

/// What is to be played, where, and for how long.
#[derive(Debug, Clone)]
pub struct Config {
    /// Gateways' `ws://…/ws`; tables and seats are spread over them. At least one.
    pub urls: Vec<String>,
    /// Tables that play at the same time.
    pub tables: u32,
    /// Seats of each table.
    pub players: SeatCount,
    /// How many of them are connections of this program, from 1 to `players`; the rest are AI seats.
    pub humans: u8,
    /// When this is over, running games are left.
    pub duration: Duration,
    /// Games of all tables together, after which no other begins; None: as many as the time allows.
    pub games: Option<u64>,
    /// Options of every game; None: other ones for each, by the seed.
    pub options: Option<SetOptions>,
    /// Mean pause before a move; from half to one and a half of it.
    pub think: Duration,
    /// Repeats the choices of a run: options, moves, pauses.
    pub seed: u64,
}

/// The first thing that went wrong.
#[derive(Debug, thiserror::Error)]
#[error("seed {seed}, table {table}, {}: {what}", seat_name(.seat.as_ref()))]
pub struct Fault {
    /// Of the run.
    pub seed: u64,
    /// From 0.
    pub table: u32,
    /// Whose connection; None where seats disagree with each other.
    pub seat: Option<usize>,
    /// What.
    pub what: PlayerError,
}

fn seat_name(seat: Option<&usize>) -> String {
    seat.map_or("all seats".to_owned(), |seat| format!("seat {seat}"))
}

/// What all tables share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) end: Instant,
    pub(crate) opening: Semaphore,
    tally: Mutex<Tally>,
    games_begun: AtomicU64,
    first_game: OnceLock<Instant>,
}

impl Shared {
    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Takes one of the games that are left.
    pub(crate) fn may_begin_game(&self) -> bool {
        let begun = self.games_begun.fetch_add(1, Ordering::Relaxed);
        let may = !self.is_over() && self.config.games.is_none_or(|games| begun < games);
        if may {
            self.first_game.get_or_init(Instant::now);
        }
        may
    }
}

/// Plays.
///
/// # Errors
/// The first fault; everything else is then given up.
pub async fn run(config: Config) -> Result<Report, Fault> {
    let started = Instant::now();
    let shared = Arc::new(Shared {
        end: started + config.duration,
        opening: Semaphore::new(OPENING_AT_ONCE),
        tally: Mutex::new(Tally::new()),
        games_begun: AtomicU64::new(0),
        first_game: OnceLock::new(),
        config,
    });
    // Dropped on the way out by a fault, it ends all other tables.
    let mut tables = JoinSet::new();
    for table in 0..shared.config.tables {
        tables.spawn(Table::new(table, shared.clone()).run());
    }
    while let Some(table) = tables.join_next().await {
        table.expect("a table ends by itself")?;
    }
    let config = &shared.config;
    let total = started.elapsed();
    let playing = shared
        .first_game
        .get()
        .map_or(Duration::ZERO, Instant::elapsed);
    let tables = u64::from(config.tables);
    let players = tables * u64::from(config.humans);
    Ok(shared
        .tally()
        .report(config.seed, tables, players, playing, total))
}
