//! Whether a lobby may still be this node's.
//!
//! After a gap of the loop, or after this node alone could not commit, another may have claimed it.
//! After a gap nothing of it leaves before the registry has said `ok` to a question asked since then;
//! an answer to one asked before says nothing. That the connection is a new one puts nothing in doubt:
//! what another has claimed can't be committed over it, and what is not committed is not shown.

use std::time::{Duration, Instant};

/// Where the record was absent, older or another run's, a newer owner may only not have written
/// it again yet: the second `ok` comes so much later.
const CONFIRMED_AFTER: Duration = Duration::from_secs(5);

/// What an answer of the registry means for a lobby.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is this node's: what waits for the answer may leave.
    Sure,
    /// The answer says nothing about what is there now, or not enough: commit anew and wait.
    Unsure,
    /// It is another's: the copy is dropped.
    Relieved,
}

/// What the registry has said of a lobby's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Ok,
    /// It was absent or older.
    Behind,
    Relieved,
}

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doubt {
    stage: Stage,
    /// The run of the registry that has last said `ok`.
    sure_run: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Sure,
    /// What is said next decides; a record that was lost is no proof that nobody owned it meanwhile.
    Alone,
    /// Likewise, and nothing leaves before a question asked from then on is answered.
    Asks(Instant),
    /// The first `ok` was not enough: neither before one to a question asked from then on.
    Confirms(Instant),
}

impl Doubt {
    /// None, at a lobby that the registry's present run has just given.
    pub(crate) fn none(run: u64) -> Self {
        Self {
            stage: Stage::Sure,
            sure_run: run,
        }
    }

    /// The loop has not run for a while.
    pub(crate) fn gap(&mut self, now: Instant) {
        self.stage = Stage::Asks(now);
    }

    /// This node alone could not commit for long.
    pub(crate) fn alone(&mut self) {
        if self.stage == Stage::Sure {
            self.stage = Stage::Alone;
        }
    }

    fn ask_from(&self) -> Option<Instant> {
        match self.stage {
            Stage::Sure | Stage::Alone => None,
            Stage::Asks(from) | Stage::Confirms(from) => Some(from),
        }
    }

    /// Whether what was asked then was asked before the doubt: its answer says nothing now.
    pub(crate) fn is_older(&self, asked: Instant) -> bool {
        self.ask_from().is_some_and(|from| asked < from)
    }

    /// Whether anything of it may leave.
    pub(crate) fn lets_out(&self) -> bool {
        self.ask_from().is_none()
    }

    /// Whether it may be written: first of all it is asked about.
    pub(crate) fn lets_commit(&self) -> bool {
        !matches!(self.stage, Stage::Asks(_))
    }

    /// Whether the registry is to be asked about it now.
    pub(crate) fn asks(&self, now: Instant) -> bool {
        self.ask_from().is_some_and(|from| from <= now)
    }

    /// The registry has answered a question of `asked`, as its run `run`.
    pub(crate) fn answered(
        &mut self,
        now: Instant,
        asked: Instant,
        run: u64,
        said: Said,
    ) -> Verdict {
        if self.is_older(asked) {
            return Verdict::Unsure;
        }
        match said {
            Said::Relieved => Verdict::Relieved,
            Said::Ok | Said::Behind if self.must_confirm(run, said) => {
                self.stage = Stage::Confirms(now + CONFIRMED_AFTER);
                Verdict::Unsure
            }
            Said::Behind => {
                // Written anew; nothing speaks against it.
                self.stage = Stage::Sure;
                Verdict::Unsure
            }
            Said::Ok => {
                *self = Self::none(run);
                Verdict::Sure
            }
        }
    }

    fn must_confirm(&self, run: u64, said: Said) -> bool {
        let is_lost = said == Said::Behind || run != self.sure_run;
        is_lost && matches!(self.stage, Stage::Alone | Stage::Asks(_))
    }
}
