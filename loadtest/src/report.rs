//! What a run measured.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use protocol::ErrorCode;
use serde::Serialize;
use tokio::time::Instant;

use crate::run::Pause;

/// Longest latency that is told apart from longer ones, in microseconds: twice the patience of a player.
const LONGEST_MICROSECONDS: u64 = 60_000_000;

/// A move that takes longer is a pause, which is kept: several times what a busy server takes.
const NOTICEABLE: Duration = Duration::from_millis(30);

/// Pauses that are kept; a run in which everything is slow needs no more.
const MAX_PAUSES: usize = 100_000;

/// The result of a run without a fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Repeats the choices of the run.
    pub seed: u64,
    /// From the first connection to the end.
    pub seconds: f64,
    /// Connections that took part.
    pub players: u64,
    /// Tables that took part.
    pub tables: u64,
    /// Moves of these players; those of AI seats are not counted.
    pub moves: u64,
    /// `moves` by the time in which games ran.
    pub moves_per_second: f64,
    /// From sending a move until every player of the table had the new state.
    pub latency: Latency,
    /// States that were received and checked.
    pub states: u64,
    /// Games played to the end and replayed from their seed.
    pub games_finished: u64,
    /// Games that ran when the time was over.
    pub games_unfinished: u64,
    /// Connections that broke and were opened anew.
    pub reconnects: u64,
    /// Refusals that a player may meet, by their code.
    pub errors: BTreeMap<ErrorCode, u64>,
}

/// How long moves took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(
    clippy::struct_field_names,
    reason = "the report's fields carry their unit"
)]
pub struct Latency {
    /// Half of the moves were faster.
    pub p50_ms: f64,
    /// 99 of 100 moves were faster.
    pub p99_ms: f64,
    /// The slowest.
    pub max_ms: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} players at {} tables, {:.1} s, seed {}",
            self.players, self.tables, self.seconds, self.seed
        )?;
        writeln!(
            f,
            "moves      {} ({:.1} a second)",
            self.moves, self.moves_per_second
        )?;
        let Latency {
            p50_ms,
            p99_ms,
            max_ms,
        } = self.latency;
        writeln!(
            f,
            "latency    p50 {p50_ms:.1} ms, p99 {p99_ms:.1} ms, max {max_ms:.1} ms"
        )?;
        writeln!(f, "states     {} checked", self.states)?;
        writeln!(
            f,
            "games      {} finished, {} unfinished",
            self.games_finished, self.games_unfinished
        )?;
        write!(f, "reconnects {}", self.reconnects)?;
        for (code, count) in &self.errors {
            write!(f, "\nerror      {code}: {count}")?;
        }
        Ok(())
    }
}

/// Counts while a run goes on.
#[derive(Debug)]
pub(crate) struct Tally {
    latency: Histogram<u64>,
    pub(crate) pauses: Vec<Pause>,
    pub(crate) states: u64,
    pub(crate) games_running: u32,
    pub(crate) games_finished: u64,
    games_unfinished: u64,
    pub(crate) reconnects: u64,
    errors: BTreeMap<ErrorCode, u64>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            latency: Histogram::new_with_bounds(1, LONGEST_MICROSECONDS, 3)
                .expect("three digits of a minute fit"),
            pauses: Vec::new(),
            states: 0,
            games_running: 0,
            games_finished: 0,
            games_unfinished: 0,
            reconnects: 0,
            errors: BTreeMap::new(),
        }
    }

    pub(crate) fn moved(&mut self, table: u32, begun: Instant) {
        let took = self.waited(table, begun);
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(LONGEST_MICROSECONDS);
        self.latency.saturating_record(microseconds);
    }

    pub(crate) fn game_begun(&mut self) {
        self.games_running += 1;
    }

    /// False: the time was over first.
    pub(crate) fn game_ended(&mut self, to_the_end: bool) {
        self.games_running -= 1;
        self.games_finished += u64::from(to_the_end);
        self.games_unfinished += u64::from(!to_the_end);
    }

    /// For a move of one of these players, or of an AI seat.
    pub(crate) fn waited(&mut self, table: u32, begun: Instant) -> Duration {
        let took = begun.elapsed();
        if took >= NOTICEABLE && self.pauses.len() < MAX_PAUSES {
            self.pauses.push(Pause { table, begun, took });
        }
        took
    }

    pub(crate) fn refused(&mut self, code: ErrorCode) {
        *self.errors.entry(code).or_default() += 1;
    }

    /// `playing`: how long games ran; `total`: with connecting.
    pub(crate) fn report(
        &self,
        seed: u64,
        tables: u64,
        players: u64,
        playing: Duration,
        total: Duration,
    ) -> Report {
        let moves = self.latency.len();
        Report {
            seed,
            seconds: total.as_secs_f64(),
            players,
            tables,
            moves,
            moves_per_second: rate(moves, playing),
            latency: Latency {
                p50_ms: milliseconds(self.latency.value_at_quantile(0.5)),
                p99_ms: milliseconds(self.latency.value_at_quantile(0.99)),
                max_ms: milliseconds(self.latency.max()),
            },
            states: self.states,
            games_finished: self.games_finished,
            games_unfinished: self.games_unfinished,
            reconnects: self.reconnects,
            errors: self.errors.clone(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
fn rate(count: u64, time: Duration) -> f64 {
    if time.is_zero() {
        0.0
    } else {
        count as f64 / time.as_secs_f64()
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
fn milliseconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1000.0
}
