//! What this node takes on, and who is told.
//!
//! Only new lobbies and new games are ever refused. Whoever has a table here goes on with it,
//! whatever the load is.

use protocol::link::ToGateway;
use protocol::server::LoadLevel;

use super::{Driver, Phase};
use crate::load::Load;

/// What others are told of this node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) level: LoadLevel,
    pub(super) accepting_games: bool,
}

impl Driver {
    /// Takes in the newest sample.
    pub(super) fn measured(&mut self, load: Load) {
        self.load = load;
        self.update_standing();
        self.tell_presence();
    }

    /// Whether one more game may start here.
    pub(super) fn admits_a_game(&self) -> bool {
        let games = usize::try_from(self.census.active_games).unwrap_or(usize::MAX);
        let has_room = self.settings.max_active_games.has_room(games);
        has_room && self.load.admits_games() && !self.is_draining()
    }

    /// Whether one more lobby may be created here: one whose game could not start is no use.
    pub(super) fn admits_a_lobby(&self) -> bool {
        let lobbies = self.tables.len() + self.creations.len();
        self.settings.max_lobbies.has_room(lobbies) && self.admits_a_game()
    }

    /// Whoever should know is told at once when the load or what this node takes has changed.
    pub(super) fn update_standing(&mut self) {
        let standing = Standing {
            level: self.load.level,
            accepting_games: self.phase == Phase::Ready && self.admits_a_lobby(),
        };
        if std::mem::replace(&mut self.standing, standing) == standing {
            return;
        }
        self.gateways.send_to_all(&self.status());
        // The lobbies hear of it with the next tick: each of them is written and shown anew for it,
        // and a node at its limit changes its mind with every game that begins or ends.
        self.tell_presence();
    }

    pub(super) fn status(&self) -> ToGateway {
        let Standing {
            level,
            accepting_games,
        } = self.standing;
        ToGateway::Status {
            level,
            accepting_games,
        }
    }
}
