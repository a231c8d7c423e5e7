//! The record of a lobby, and what can be asked of it.
//!
//! A record is a fence: whoever writes says at which epoch, and an older epoch changes nothing.
//! The registry reads nothing of what is saved.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Born, Epoch, Incarnation, NodeId, Seq};

/// Claims within this time count for the limit on claims.
pub(crate) const CLAIM_WINDOW: Duration = Duration::from_mins(1);
/// So many claims within the window are free.
pub(crate) const FREE_CLAIMS: usize = 2;
/// How long the first claim beyond the free ones waits after the last; each further one twice as
/// long. A lobby that kills its owners must not walk through the fleet.
pub(crate) const CLAIM_WAIT: Duration = Duration::from_secs(10);
/// How many times of claims are kept: beyond these the wait is longer than the window anyway.
pub(crate) const KEPT_CLAIMS: usize = 8;
/// How long the record of a probe lobby lives that nobody deletes.
const PROBE_LIFETIME: Duration = Duration::from_mins(1);

/// Who owns a lobby: one run of one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// The node.
    pub node: NodeId,
    /// Its run.
    pub incarnation: Incarnation,
}

/// What a record says without what is saved: all that routing needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The lobby's life.
    pub born: Born,
    /// Nobody, if it was released or has ended.
    pub owner: Option<Owner>,
    /// The present ownership.
    pub epoch: Epoch,
    /// The newest saved state.
    pub seq: Seq,
    /// The lobby's own word for where it is (`waiting`, `playing`, `finished`).
    pub status: String,
    /// The lobby has ended: a tombstone, which keeps late writes out.
    pub deleted: bool,
}

/// How long a record lives that is not renewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// A table of players: twice as long as a session.
    #[default]
    Table,
    /// A node's own try: 60 s.
    Probe,
}

impl Lifetime {
    pub(crate) fn ttl(self, session_ttl: Duration) -> Duration {
        match self {
            Self::Table => session_ttl * 2,
            Self::Probe => PROBE_LIFETIME,
        }
    }
}

/// Asks for a new record.
#[derive(Clone, Debug)]
pub struct Create {
    /// The lobby's code.
    pub code: String,
    /// Its life, drawn by whoever drew the code; the same for a retry.
    pub born: Born,
    /// The first owner.
    pub owner: Owner,
    /// Its first state.
    pub saved: Bytes,
    /// Its first status.
    pub status: String,
    /// A table or a probe.
    pub lifetime: Lifetime,
}

/// The answer to [`Create`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created {
    /// Written; both numbers are at least Redis' clock in ms.
    Ok {
        /// The first epoch.
        epoch: Epoch,
        /// The first seq.
        seq: Seq,
    },
    /// The code is in use, perhaps by an earlier try of the same creation (same `born`).
    Exists(Record),
}

/// Asks for a state to be saved.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The lobby's code.
    pub code: String,
    /// Its life.
    pub born: Born,
    /// The epoch at which the writer owns it.
    pub epoch: Epoch,
    /// The writer.
    pub owner: Owner,
    /// The state's number.
    pub seq: Seq,
    /// The state.
    pub saved: Bytes,
    /// The lobby's status.
    pub status: String,
    /// A player's input was accepted since the claim: earlier claims no longer count for the
    /// limit, since this lobby evidently does not kill its owners.
    pub accepted_input: bool,
    /// A table or a probe.
    pub lifetime: Lifetime,
}

/// The answer to [`Commit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// Saved (or already was).
    Ok,
    /// A later state of the same owner is there: as good as `Ok`.
    Superseded,
    /// Somebody else owns it, or it has ended: drop the copy.
    Relieved,
}

/// Asks to become the owner.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The lobby's code.
    pub code: String,
    /// Its life.
    pub born: Born,
    /// The highest epoch that the asker has seen; a record with a higher one is not claimed.
    pub seen_epoch: Epoch,
    /// The highest seq that the asker has seen.
    pub seen_seq: Seq,
    /// Who wants it.
    pub owner: Owner,
    /// What the last owner handed over, if it did.
    pub handed: Option<Handed>,
}

/// A state that its owner handed over while it couldn't be committed.
#[derive(Clone, Debug)]
pub struct Handed {
    /// The epoch of the owner that handed it.
    pub epoch: Epoch,
    /// The state's number.
    pub seq: Seq,
    /// The state.
    pub saved: Bytes,
    /// The lobby's status.
    pub status: String,
}

/// The answer to [`Claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// The lobby is the claimer's, at these numbers.
    Saved {
        /// The new epoch.
        epoch: Epoch,
        /// The number that the next state must be above.
        seq: Seq,
        /// The newest state.
        saved: Bytes,
        /// Its status.
        status: String,
    },
    /// The record is of a higher epoch, or of another life of this code.
    OwnedBy(Record),
    /// There is no such lobby, or it has ended.
    Gone,
    /// Claimed too often lately.
    Wait {
        /// Try again after so long.
        milliseconds: u64,
    },
}

/// Asks whether a lobby is still the owner's, and renews its life.
#[derive(Clone, Debug)]
pub struct Touch {
    /// The lobby's code.
    pub code: String,
    /// Its life.
    pub born: Born,
    /// The epoch at which the asker owns it.
    pub epoch: Epoch,
    /// The asker.
    pub owner: Owner,
    /// The newest state that the asker has committed.
    pub seq: Seq,
}

/// The answer to [`Touch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// Still the asker's, and all of it is saved.
    Ok,
    /// The record is absent or older: commit anew.
    Behind,
    /// Somebody else owns it: drop the copy.
    Relieved,
}

/// Gives a lobby up to whoever claims it first.
#[derive(Clone, Debug)]
pub struct Release {
    /// The lobby's code.
    pub code: String,
    /// Its life.
    pub born: Born,
    /// The epoch at which it is owned.
    pub epoch: Epoch,
    /// The newest state that was committed.
    pub seq: Seq,
}

/// The answer to [`Release`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// Nobody owns it now.
    Ok,
    /// The record is absent or older: commit anew, then release.
    Behind,
    /// A later state is there than the one named.
    Superseded,
    /// It is not the asker's any more.
    Relieved,
}

/// Ends a lobby.
#[derive(Clone, Debug)]
pub struct Delete {
    /// The lobby's code.
    pub code: String,
    /// Its life.
    pub born: Born,
    /// The epoch at which it is owned.
    pub epoch: Epoch,
}

/// The answer to [`Delete`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// A tombstone is there.
    Ok,
    /// It is not the asker's any more; nothing was changed.
    Relieved,
}
