//! What `/health` shows of a game node.

use std::sync::{Mutex, PoisonError};

use chassis::operations::HealthFields;
use serde_json::{Map, Value, json};

use crate::ai::Counters;
use crate::driver::Moves;
use crate::load::Load;
use crate::lobby::Census;

/// The newest snapshot; written by the lobby thread, read by the operations port.
#[derive(Debug, Default)]
pub(crate) struct HealthCell(Mutex<Snapshot>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) lobbies: usize,
    pub(crate) census: Census,
    pub(crate) load: Load,
    pub(crate) accepting_games: bool,
    pub(crate) handed_over: Moves,
    pub(crate) taken_over: Moves,
    pub(crate) is_suspended: bool,
    pub(crate) uncommitted: u32,
    /// AI links, open breakers among them, waiting requests.
    pub(crate) ai_links: (usize, usize, usize),
    pub(crate) ai_counters: Counters,
}

impl HealthCell {
    pub(crate) fn set(&self, snapshot: Snapshot) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }

    pub(crate) fn fields(&self) -> HealthFields {
        let now = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let (links, open_breakers, waiting) = now.ai_links;
        let ai = now.ai_counters;
        let sample = now.load.sample;
        let fields = json!({
            "lobbies": now.lobbies,
            "sessions": now.census.sessions,
            "connections": now.census.connections,
            "active_games": now.census.active_games,
            "load": now.load.level.as_str(),
            "loop_lag": sample.loop_lag.as_secs_f64(),
            "cpu": sample.cpu,
            "throttled": sample.throttled,
            "accepting_games": now.accepting_games,
            "suspended": now.is_suspended,
            "uncommitted": now.uncommitted,
            "handed_over": now.handed_over.lobbies(),
            "hand_overs": by_reason(&now.handed_over),
            "taken_over": now.taken_over.lobbies(),
            "take_overs": by_reason(&now.taken_over),
            "ai_available": links > 0,
            "ai": {
                "links": links,
                "open_breakers": open_breakers,
                "waiting": waiting,
                "decided": ai.decided,
                "late": ai.late,
                "failed": ai.failed,
                "illegal": ai.illegal,
                "unasked": ai.unasked,
                "passed_on": ai.passed_on,
            },
        });
        match fields {
            Value::Object(fields) => fields,
            _ => unreachable!("written as an object above"),
        }
    }
}

/// How many lobbies moved for each reason, and the longest that one took.
fn by_reason(moves: &Moves) -> Map<String, Value> {
    let told = moves.by_reason().map(|(why, tally)| {
        let longest_ms = chassis::clock::milliseconds(tally.longest);
        let told = json!({ "lobbies": tally.lobbies, "longest_ms": longest_ms });
        (why.to_owned(), told)
    });
    told.collect()
}
