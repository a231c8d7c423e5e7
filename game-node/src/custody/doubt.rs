//! Whether a lobby may still be this node's.
//!
//! After a gap of the loop, on a new connection, or after this node alone could not commit, another
//! may have claimed it. Nothing of it leaves before the registry has said `ok` to a question asked
//! after that; an answer to one asked before says nothing.

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
    /// Another may have owned it meanwhile: a record that was lost is no proof that nobody did.
    is_deep: bool,
    /// Nothing leaves before a question asked from then on is answered with `ok`.
    ask_from: Option<Instant>,
    /// The first `ok` was not enough.
    confirms: bool,
    /// The run of the registry that has last said `ok`.
    sure_run: u64,
}

impl Doubt {
    /// None, at a lobby that the registry's present run has just given.
    pub(crate) fn none(run: u64) -> Self {
        Self {
            sure_run: run,
            ..Self::default()
        }
    }

    /// The loop has not run for a while.
    pub(crate) fn gap(&mut self, now: Instant) {
        self.is_deep = true;
        self.ask_from = Some(now);
        self.confirms = false;
    }

    /// What is sent goes over a new connection.
    pub(crate) fn new_connection(&mut self, now: Instant) {
        // A second `ok` that is waited for is waited for until then.
        if !self.confirms {
            self.ask_from = Some(now);
        }
    }

    /// This node alone could not commit for long.
    pub(crate) fn alone(&mut self) {
        self.is_deep = true;
    }

    /// Whether what was asked then was asked before the doubt: its answer says nothing now.
    pub(crate) fn is_older(&self, asked: Instant) -> bool {
        self.ask_from.is_some_and(|from| asked < from)
    }

    /// Whether anything of it may leave.
    pub(crate) fn lets_out(&self) -> bool {
        self.ask_from.is_none()
    }

    /// Whether it may be written: first of all it is asked about.
    pub(crate) fn lets_commit(&self) -> bool {
        self.ask_from.is_none() || self.confirms
    }

    /// Whether the registry is to be asked about it now.
    pub(crate) fn asks(&self, now: Instant) -> bool {
        self.ask_from.is_some_and(|from| from <= now)
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
                self.confirms = true;
                self.ask_from = Some(now + CONFIRMED_AFTER);
                Verdict::Unsure
            }
            Said::Behind => {
                // Written anew; nothing speaks against it.
                self.ask_from = None;
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
        self.is_deep && is_lost && !self.confirms
    }
}
