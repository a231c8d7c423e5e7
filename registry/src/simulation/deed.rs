//! What is done to lobbies' records, for whoever watches the server itself.

use crate::lobby::{Claim, Claimed, Commit, Committed, Create, Created, Record, Release, Released};
use crate::{Owner, Seq};

/// Something that was done at this moment, though nobody may have been told yet.
#[derive(Clone, Debug)]
pub struct Deed {
    /// Of which lobby.
    pub code: String,
    /// What it was.
    pub kind: DeedKind,
    /// The record of before.
    pub before: Option<Record>,
}

/// What was done.
#[derive(Clone, Debug)]
pub enum DeedKind {
    /// A record was written for the first time.
    Created {
        /// By whom.
        by: Owner,
    },
    /// A state was saved.
    Committed {
        /// By whom.
        by: Owner,
        /// Whether a player's input was accepted since the last claim.
        accepted_input: bool,
    },
    /// The lobby has another owner.
    Claimed {
        /// Who it is.
        by: Owner,
        /// The state that it brought.
        handed: Option<Seq>,
    },
    /// Its owner has given it up.
    Released,
}

impl Deed {
    pub(super) fn of_create(create: &Create, answer: &Created) -> Option<Self> {
        let by = create.owner.clone();
        let created = matches!(answer, Created::Ok { .. });
        created.then(|| Self::new(&create.code, None, DeedKind::Created { by }))
    }

    pub(super) fn of_commit(
        commit: &Commit,
        before: Option<Record>,
        answer: Committed,
    ) -> Option<Self> {
        let kind = DeedKind::Committed {
            by: commit.owner.clone(),
            accepted_input: commit.accepted_input,
        };
        (answer == Committed::Ok).then(|| Self::new(&commit.code, before, kind))
    }

    pub(super) fn of_claim(
        claim: &Claim,
        before: Option<Record>,
        answer: &Claimed,
    ) -> Option<Self> {
        let kind = DeedKind::Claimed {
            by: claim.owner.clone(),
            handed: claim.handed.as_ref().map(|handed| handed.seq),
        };
        let claimed = matches!(answer, Claimed::Saved { .. });
        claimed.then(|| Self::new(&claim.code, before, kind))
    }

    pub(super) fn of_release(
        release: &Release,
        before: Option<Record>,
        answer: Released,
    ) -> Option<Self> {
        let released = answer == Released::Ok;
        released.then(|| Self::new(&release.code, before, DeedKind::Released))
    }

    fn new(code: &str, before: Option<Record>, kind: DeedKind) -> Self {
        let code = code.to_owned();
        Self { code, kind, before }
    }
}
