//! What happened at the table lately.

use std::collections::VecDeque;

use protocol::Event;
use protocol::limit::MAX_EVENTS;
use protocol::parts::Fragment;
use serde::{Deserialize, Serialize};

/// The newest [`MAX_EVENTS`] events, oldest first, each with the seq of the state that it led to.
/// Serialised when they happen, once for everybody who ever sees them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Events(VecDeque<Happened>);

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Happened {
    pub(super) seq: u64,
    pub(super) event: Fragment,
}

impl Events {
    pub(super) fn push(&mut self, seq: u64, event: impl Into<Event>) {
        if self.0.len() == MAX_EVENTS {
            self.0.pop_front();
        }
        self.0.push_back(Happened {
            seq,
            event: Fragment::of(&event.into()),
        });
    }

    /// Those that led to a state after `seq`.
    pub(super) fn after(&self, seq: u64) -> Vec<Fragment> {
        let new = self.0.iter().filter(|happened| happened.seq > seq);
        new.map(|happened| happened.event.clone()).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn to_vec(&self) -> Vec<Happened> {
        self.0.iter().cloned().collect()
    }

    /// The newest of these, should there be too many.
    pub(super) fn from_vec(events: Vec<Happened>) -> Self {
        let surplus = events.len().saturating_sub(MAX_EVENTS);
        Self(events.into_iter().skip(surplus).collect())
    }
}
