//! Whether all who see a table see the same one.

use std::collections::BTreeMap;

use protocol::lobby::LobbyView;
use protocol::server::State;
use rules::{DealCommitment, LastTrick, SheetRow, TableView};

use crate::contradiction::{Contradiction, same};

/// How many states of a table are remembered: more than any player of it may lag behind, since a slow reader gets the
/// newest state and not a queue.
const REMEMBERED_STATES: usize = 256;

/// The public part of the newest states of one table, by their `seq`.
#[derive(Debug, Default)]
pub struct Agreement(BTreeMap<u64, Public>);

#[derive(Debug, PartialEq)]
struct Public {
    lobby: LobbyView,
    game: Option<PublicGame>,
}

#[derive(Debug, PartialEq)]
struct PublicGame {
    deal_commitment: DealCommitment,
    table: TableView,
    sheet: Vec<SheetRow>,
    last_trick: Option<LastTrick>,
}

impl Agreement {
    /// Takes a state that one of the table's players, or a spectator, was sent.
    ///
    /// # Errors
    /// Another was sent the same `seq` with another public part.
    pub fn see(&mut self, state: &State) -> Result<(), Contradiction> {
        let Some(lobby) = &state.lobby else {
            return Ok(());
        };
        let public = Public {
            lobby: lobby.clone(),
            game: state.game.as_ref().map(|game| {
                let shown = &game.observation.observation;
                PublicGame {
                    deal_commitment: game.deal_commitment,
                    table: shown.table.clone(),
                    sheet: shown.sheet.clone(),
                    last_trick: shown.last_trick.clone(),
                }
            }),
        };
        if let Some(seen) = self.0.get(&state.seq) {
            return same(
                &format!("the public part of seq {}", state.seq),
                seen,
                &public,
            );
        }
        self.0.insert(state.seq, public);
        if self.0.len() > REMEMBERED_STATES {
            self.0.pop_first();
        }
        Ok(())
    }
}
