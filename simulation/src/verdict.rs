//! What must hold, and what did not.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use loadtest::Agreement;
use loadtest::checker::{Move, Record};
use protocol::server::State;
use rules::DealCommitment;

use crate::lock;

/// Breaches that are kept; the first one says it.
const MOST: usize = 8;

/// Of one run. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Verdict(Arc<Mutex<Breaches>>);

#[derive(Default)]
struct Breaches {
    breaches: Vec<String>,
    moves: u64,
}

impl Verdict {
    pub(crate) fn breach(&self, what: String) {
        tracing::info!(what, "BREACH");
        let mut breaches = self.lock();
        if breaches.breaches.len() < MOST {
            breaches.breaches.push(what);
        }
    }

    pub(crate) fn moved(&self) {
        self.lock().moves += 1;
    }

    pub(crate) fn moves(&self) -> u64 {
        self.lock().moves
    }

    pub(crate) fn breaches(&self) -> Vec<String> {
        self.lock().breaches.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Breaches> {
        lock(&self.0)
    }
}

/// What all players of one table have been shown: one history.
#[derive(Default)]
pub(crate) struct History {
    agreement: Agreement,
    /// The game, and the `seq` of the first state with it that somebody was shown.
    game: Option<(u64, DealCommitment)>,
    moves: BTreeMap<usize, Move>,
}

impl History {
    /// Takes a state that a player was shown, and what they have seen of the game until now.
    ///
    /// # Errors
    /// What of it another player was shown differently.
    pub(crate) fn see(&mut self, state: &State, record: Option<&Record>) -> Result<(), String> {
        self.agreement
            .see(state)
            .map_err(|contradiction| contradiction.to_string())?;
        let (Some(game), Some(record)) = (&state.game, record) else {
            return match self.game {
                Some((since, _)) if state.seq >= since => {
                    Err("the table's game is gone".to_owned())
                }
                _ => Ok(()),
            };
        };
        let seen = (state.seq, game.deal_commitment);
        let (since, known) = self.game.get_or_insert(seen);
        *since = state.seq.min(*since);
        if *known != game.deal_commitment {
            return Err("the table plays another game".to_owned());
        }
        for (turn, played) in record.moves().iter().enumerate() {
            let Some(played) = played else { continue };
            let before = self.moves.insert(turn, *played);
            if let Some(before) = before.filter(|before| before != played) {
                return Err(format!("turn {turn} was {before:?}, and is {played:?}"));
            }
        }
        Ok(())
    }
}
