//! Moments at which a fault does the most harm, told when they come.

use std::time::Duration;

use registry::simulation::DeedKind;
use tokio::sync::broadcast;
use tokio::time::timeout;

/// Told at one moment of the clock: some deeds of each table, and a message of each player.
const TOLD_AT_ONCE: usize = 256;

/// Something that happens, for which a fault may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A player has just sent a move.
    Move,
    /// A player has just said who they are.
    Hello,
    /// Redis has just saved a state, and its owner does not know yet.
    Commit,
    /// Likewise of a table that another owns from then on.
    Claim,
    /// Likewise of a table that nobody owns from then on.
    Release,
}

/// Tells of them. Clones are the same.
#[derive(Clone)]
pub(crate) struct Moments(broadcast::Sender<Moment>);

impl Moments {
    pub(crate) fn new() -> Self {
        Self(broadcast::channel(TOLD_AT_ONCE).0)
    }

    pub(crate) fn tell(&self, moment: Moment) {
        // Fails if nobody waits for any.
        let _waiting = self.0.send(moment);
    }

    /// Until the next one of these, or that time has passed.
    pub(crate) async fn next(&self, moment: Moment, at_most: Duration) {
        let mut told = self.0.subscribe();
        let coming = async {
            // Who lags has missed some, and waits for the next.
            while told.recv().await != Ok(moment) {}
        };
        let _came = timeout(at_most, coming).await;
    }
}

impl Moment {
    /// Of what is done at Redis.
    pub(crate) fn of(deed: &DeedKind) -> Option<Self> {
        match deed {
            DeedKind::Created { .. } => None,
            DeedKind::Committed { .. } => Some(Self::Commit),
            DeedKind::Claimed { .. } => Some(Self::Claim),
            DeedKind::Released => Some(Self::Release),
        }
    }
}
