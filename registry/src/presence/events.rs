//! The stream of who comes, changes and goes.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::Presence;
use super::membership::Shared;
use crate::NodeId;

/// What happened to another process.
#[derive(Clone, Debug)]
pub enum Event {
    /// It is there.
    Joined(Arc<Presence>),
    /// It says something else about itself than before.
    Changed(Arc<Presence>),
    /// It is gone.
    Left {
        /// What was last known of it.
        presence: Arc<Presence>,
        /// Why it is believed to be gone.
        reason: LeftReason,
    },
}

/// Why a process left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftReason {
    /// It said so.
    Goodbye,
    /// Its heartbeat lapsed.
    Expired,
    /// A later run has its id.
    Replaced,
}

impl fmt::Display for LeftReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Goodbye => "goodbye",
            Self::Expired => "expired",
            Self::Replaced => "replaced",
        })
    }
}

/// The events for one reader: first a `Joined` for everybody who is there already, then what
/// happens. A reader that falls far behind gets the difference instead of what it missed.
pub struct Events {
    shared: Arc<Shared>,
    receiver: broadcast::Receiver<Event>,
    known: HashMap<NodeId, Arc<Presence>>,
    waiting: VecDeque<Event>,
}

impl Events {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let (receiver, members) = shared.subscribe();
        let waiting = members.into_iter().map(Event::Joined).collect();
        Self {
            shared,
            receiver,
            known: HashMap::new(),
            waiting,
        }
    }

    /// The next event; nothing once the membership has ended. Cancelling loses none.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.note(&event);
                return Some(event);
            }
            match self.receiver.recv().await {
                Ok(event) => self.waiting.push_back(event),
                Err(RecvError::Lagged(_)) => self.catch_up(),
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::Joined(presence) | Event::Changed(presence) => {
                self.known.insert(presence.id.clone(), Arc::clone(presence));
            }
            Event::Left { presence, .. } => {
                self.known.remove(&presence.id);
            }
        }
    }

    fn catch_up(&mut self) {
        let (receiver, members) = self.shared.subscribe();
        self.receiver = receiver;
        let mut gone = self.known.clone();
        for presence in members {
            let event = match gone.remove(&presence.id) {
                None => Event::Joined(presence),
                Some(known) if known.incarnation != presence.incarnation => {
                    let left = Event::Left {
                        presence: known,
                        reason: LeftReason::Replaced,
                    };
                    self.waiting.push_back(left);
                    Event::Joined(presence)
                }
                Some(known) if presence.differs_from(&known) => Event::Changed(presence),
                Some(_) => continue,
            };
            self.waiting.push_back(event);
        }
        // Whether they said goodbye is among what was missed.
        let left = |presence| Event::Left {
            presence,
            reason: LeftReason::Expired,
        };
        self.waiting.extend(gone.into_values().map(left));
    }
}
