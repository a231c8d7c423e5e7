//! The table at which a player is.

use std::time::Instant;

use protocol::link::Parting;
use protocol::{ErrorCode, LobbyCode};
use registry::NodeId;

use super::journey::Journey;
use super::{Effect, Session};
use crate::outbox::Picture;

/// A table, seated or watching: which of the two only its node knows.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) code: LobbyCode,
    pub(crate) node: NodeId,
    /// Epoch and `seq` of the newest picture that was shown.
    pub(crate) shown: (u64, u64),
    /// The node does not show anything to this connection just now: it has to be found anew.
    pub(crate) lost: bool,
    /// The epoch at which the node has said that it owns the table, if it was asked that.
    pub(crate) confirmed: Option<u64>,
}

impl Place {
    pub(crate) fn new(code: LobbyCode, node: NodeId) -> Self {
        Self {
            code,
            node,
            shown: (0, 0),
            lost: false,
            confirmed: None,
        }
    }

    /// Whether both are the same table at the same node.
    pub(crate) fn is_at(&self, other: &Place) -> bool {
        self.code == other.code && self.node == other.node
    }

    /// The newest picture that was shown, or none.
    pub(crate) fn shown_seq(&self) -> Option<u64> {
        (self.shown != (0, 0)).then_some(self.shown.1)
    }

    /// This table has moved on from `before`: pictures go on from where they were. Unless the
    /// record has gone back and its newest owner is dead: then its present one begins anew.
    pub(crate) fn follows(&mut self, before: &Place) {
        let gone_back = self.confirmed.is_some_and(|epoch| epoch < before.shown.0);
        self.shown = if gone_back { (0, 0) } else { before.shown };
    }
}

impl Session {
    /// A node shows a table: the player's, or the one that they are on their way to.
    pub(super) fn show(&mut self, picture: Picture) {
        let journey = self.journey.as_ref();
        if journey.is_some_and(|journey| journey.goes_on_with(picture.code())) {
            return;
        }
        if let Some(place) = self
            .place
            .as_mut()
            .filter(|place| place.code == picture.code())
        {
            // A late one of an owner that has been relieved.
            if picture.time() >= place.shown {
                place.shown = picture.time();
                self.effects.push(Effect::Show(picture));
            }
        } else if let Some(journey) = &mut self.journey {
            journey.keep(picture);
        }
    }

    pub(super) fn parted(&mut self, node: &NodeId, code: LobbyCode, reason: Parting) {
        if reason == Parting::TakenOver {
            return self.taken_over();
        }
        if reason != Parting::Moved {
            self.abandoned
                .retain(|abandoned| abandoned.place.code != code);
        }
        let Some(place) = self.place.as_mut().filter(|place| place.code == code) else {
            return;
        };
        match reason {
            // Of an owner that the table has left already.
            Parting::Moved if place.node != *node => return,
            Parting::Moved => {
                place.lost = true;
                return;
            }
            Parting::Removed => {
                self.refuse(
                    None,
                    ErrorCode::Removed,
                    "the host has removed you from the lobby",
                );
            }
            Parting::Lost => self.table_lost(),
            Parting::Left | Parting::Ended | Parting::TakenOver => {}
        }
        self.leave_place();
    }

    /// Says that the table at which the player was has ended, and why.
    pub(super) fn table_lost(&mut self) {
        let message = "the table was lost by a fault of the server";
        self.refuse(None, ErrorCode::LobbyLost, message);
    }

    /// The player is at no table.
    pub(super) fn leave_place(&mut self) {
        self.place = None;
        self.effects.push(Effect::ShowNothing);
    }

    pub(super) fn link_lost(&mut self, now: Instant, node: &NodeId) {
        self.lose(node);
        // A node knows by itself that nobody of a lost link is there any more.
        self.abandoned
            .retain(|abandoned| abandoned.place.node != *node);
        self.bury_asks(node);
        let asked = self.journey.as_ref().and_then(Journey::asked);
        if asked.is_some_and(|asked| asked.node == *node) {
            self.journey_unreachable(now);
        }
    }

    /// That node shows the player's table no more, if that is there: it has to be found anew.
    pub(super) fn lose(&mut self, node: &NodeId) {
        if let Some(place) = self.place.as_mut().filter(|place| place.node == *node) {
            place.lost = true;
        }
    }

    /// Whether the player's table can't be reached just now.
    pub(super) fn is_moving(&self) -> bool {
        let trying = self.journey.as_ref().is_some_and(Journey::is_retry);
        trying || self.place.as_ref().is_some_and(|place| place.lost)
    }
}
