//! How loaded this node is.
//!
//! The lobby thread's lag is measured; what follows from it is decided elsewhere, so the level is
//! the one of a node that has room.

use std::time::Duration;

use protocol::server::LoadLevel;

/// The newest measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    lag: Duration,
}

impl Load {
    /// The lobby thread came to its timer so much later than it wanted to.
    pub(crate) fn ran(&mut self, lag: Duration) {
        self.lag = lag;
    }

    pub(crate) fn lag(self) -> Duration {
        self.lag
    }

    #[expect(
        clippy::unused_self,
        reason = "the level will follow from what is measured"
    )]
    pub(crate) fn level(self) -> LoadLevel {
        LoadLevel::Normal
    }

    pub(crate) fn registry_level(self) -> registry::Load {
        match self.level() {
            LoadLevel::Normal => registry::Load::Normal,
            LoadLevel::Busy => registry::Load::Busy,
            LoadLevel::Overloaded => registry::Load::Overloaded,
        }
    }
}
