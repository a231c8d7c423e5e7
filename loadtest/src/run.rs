//! Many tables at once, until the games or the time are over, or the first fault.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use protocol::player::SetOptions;
use rules::SeatCount;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
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

/// A move, of one of these players or of an AI seat, that took its table noticeably long: something happened meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct Pause {
    /// From 0.
    pub table: u32,
    /// When it was sent, or an AI's began to be waited for.
    pub begun: Instant,
    /// Until every player of the table had the new state.
    pub took: Duration,
}

/// What all tables share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) end: Instant,
    pub(crate) opening: Semaphore,
    tally: Mutex<Tally>,
    games_begun: AtomicU64,
    /// No other game begins, and nobody thinks about a move.
    enough: AtomicBool,
    /// The first.
    fault: OnceLock<String>,
    first_game: OnceLock<Instant>,
}

impl Shared {
    fn new(started: Instant, config: Config) -> Self {
        Self {
            end: started + config.duration,
            opening: Semaphore::new(OPENING_AT_ONCE),
            tally: Mutex::new(Tally::new()),
            games_begun: AtomicU64::new(0),
            enough: AtomicBool::new(false),
            fault: OnceLock::new(),
            first_game: OnceLock::new(),
            config,
        }
    }

    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// What runs is only to be brought to its end.
    pub(crate) fn is_finishing(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }

    /// Takes one of the games that are left.
    pub(crate) fn may_begin_game(&self) -> bool {
        if self.is_over() || self.is_finishing() {
            return false;
        }
        let begun = self.games_begun.fetch_add(1, Ordering::Relaxed);
        let may = self.config.games.is_none_or(|games| begun < games);
        if may {
            self.first_game.get_or_init(Instant::now);
        }
        may
    }
}

/// Tables that play, to be watched and ended from outside.
pub struct Run {
    started: Instant,
    shared: Arc<Shared>,
    tables: JoinHandle<Result<(), Fault>>,
}

impl Run {
    /// Begins to play; all ends at the first fault.
    pub fn start(config: Config) -> Self {
        let started = Instant::now();
        let shared = Arc::new(Shared::new(started, config));
        let mut tables = JoinSet::new();
        for table in 0..shared.config.tables {
            tables.spawn(Table::new(table, shared.clone()).run());
        }
        let noting = Arc::clone(&shared);
        // Dropped on the way out by a fault, the set ends all other tables.
        let tables = tokio::spawn(async move {
            while let Some(table) = tables.join_next().await {
                let result = table.expect("a table ends by itself");
                result.inspect_err(|fault| {
                    noting.fault.get_or_init(|| fault.to_string());
                })?;
            }
            Ok(())
        });
        Self {
            started,
            shared,
            tables,
        }
    }

    /// The fault that has ended it, if there was one.
    pub fn fault(&self) -> Option<&str> {
        self.shared.fault.get().map(String::as_str)
    }

    /// Games that run just now.
    pub fn games_running(&self) -> u32 {
        self.shared.tally().games_running
    }

    /// Games that were played to the end so far.
    pub fn games_finished(&self) -> u64 {
        self.shared.tally().games_finished
    }

    /// Moves so far that took long, the oldest first.
    pub fn pauses(&self) -> Vec<Pause> {
        self.shared.tally().pauses.clone()
    }

    /// From now on no other game begins; those that run are played to their end, without a pause before a move.
    pub fn finish(&self) {
        self.shared.enough.store(true, Ordering::Relaxed);
    }

    /// Waits until all tables have ended; once.
    ///
    /// # Errors
    /// The first fault.
    pub async fn report(&mut self) -> Result<Report, Fault> {
        let tables = &mut self.tables;
        tables.await.expect("the tables are not aborted")?;
        let config = &self.shared.config;
        let playing = self.shared.first_game.get();
        let playing = playing.map_or(Duration::ZERO, Instant::elapsed);
        let tables = u64::from(config.tables);
        let players = tables * u64::from(config.humans);
        let total = self.started.elapsed();
        Ok(self
            .shared
            .tally()
            .report(config.seed, tables, players, playing, total))
    }
}

/// Plays to the end.
///
/// # Errors
/// The first fault; everything else is then given up.
pub async fn run(config: Config) -> Result<Report, Fault> {
    Run::start(config).report().await
}
