//! What this gateway knows of its way to one node: who answers there, since when nobody does, and
//! how dialling fares. Pure: times are passed in.

use std::time::{Duration, Instant};

use registry::Incarnation;

/// Dials that must be refused in a row before the process is taken for dead: one may meet a
/// process that has just begun.
pub(crate) const REFUSALS: usize = 2;
/// Between two dials of a node whose death is in question, at random.
const SHORT_BACKOFF_MS: (u32, u32) = (80, 200);
/// Between two dials otherwise: so that gateways do not come all at once.
const LONG_BACKOFF_MS: (u32, u32) = (100, 1_000);

/// How a dial came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nobody listens at that address.
    Refused,
    /// Another node answers there.
    AnotherNode,
    /// It can't be told from a broken network: a time-out, no route, an unknown name.
    Unclear,
}

/// One node's.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// The run that the registry names, which is dialled.
    pub(crate) listed: Incarnation,
    /// The run that answers over the link, if it is up.
    pub(crate) up: Option<Incarnation>,
    /// When anything was heard last; at first, when the node became known here.
    pub(crate) heard_at: Instant,
    /// When the last dials that were refused in a row began, oldest first.
    refused_at: Vec<Instant>,
    /// When the last dial began that met another node.
    usurped_at: Option<Instant>,
}

impl Standing {
    /// A node that has just become known.
    pub(crate) fn new(now: Instant, listed: Incarnation) -> Self {
        Self {
            listed,
            up: None,
            heard_at: now,
            refused_at: Vec::new(),
            usurped_at: None,
        }
    }

    /// The link is up, and this run answers.
    pub(crate) fn connected(&mut self, now: Instant, incarnation: Incarnation) {
        self.up = Some(incarnation);
        self.heard_at = now;
        self.refused_at.clear();
        self.usurped_at = None;
    }

    /// The link is down; something came over it last at `heard_at`.
    pub(crate) fn disconnected(&mut self, heard_at: Instant) {
        self.up = None;
        self.heard_at = self.heard_at.max(heard_at);
        self.refused_at.clear();
        self.usurped_at = None;
    }

    /// A dial that began then has failed.
    pub(crate) fn failed(&mut self, began: Instant, failure: Failure) {
        match failure {
            Failure::Refused => {
                if self.refused_at.len() >= REFUSALS {
                    self.refused_at.remove(0);
                }
                self.refused_at.push(began);
            }
            Failure::AnotherNode => self.usurped_at = Some(began),
            Failure::Unclear => self.refused_at.clear(),
        }
    }

    /// Whether the process behind the link is known to be gone, by what was tried since then.
    pub(crate) fn is_dead_since(&self, since: Instant) -> bool {
        if self.up.is_some() {
            return false;
        }
        let refused = self.refused_at.len() >= REFUSALS
            && self.refused_at.first().is_some_and(|first| *first >= since);
        refused || self.usurped_at.is_some_and(|at| at >= since)
    }

    /// Whether as many dials were refused as are needed.
    pub(crate) fn is_refused(&self) -> bool {
        self.usurped_at.is_some() || self.refused_at.len() >= REFUSALS
    }

    /// How long to wait before the next dial; `urgent` if somebody's table depends on it.
    pub(crate) fn backoff(&self, urgent: bool, chance: u32) -> Duration {
        let (least, most) = if urgent || !self.is_refused() {
            SHORT_BACKOFF_MS
        } else {
            LONG_BACKOFF_MS
        };
        Duration::from_millis(u64::from(least + chance % (most - least)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u128) -> Incarnation {
        Incarnation::new(uuid::Uuid::from_u128(number))
    }

    fn after(start: Instant, milliseconds: u64) -> Instant {
        start + Duration::from_millis(milliseconds)
    }

    #[test]
    fn two_refusals_in_a_row_since_then_are_a_death() {
        let start = chassis::clock::now();
        let mut standing = Standing::new(start, run(1));
        standing.failed(after(start, 10), Failure::Refused);
        assert!(!standing.is_dead_since(start), "one is not enough");
        standing.failed(after(start, 20), Failure::Refused);
        assert!(standing.is_dead_since(start));
        assert!(
            !standing.is_dead_since(after(start, 15)),
            "one of them is older"
        );
        standing.failed(after(start, 30), Failure::Refused);
        assert!(standing.is_dead_since(after(start, 15)));
        standing.failed(after(start, 40), Failure::Unclear);
        assert!(!standing.is_dead_since(start), "not in a row");
    }

    #[test]
    fn a_link_that_came_up_is_no_death_and_begins_anew() {
        let start = chassis::clock::now();
        let mut standing = Standing::new(start, run(1));
        for milliseconds in [10, 20] {
            standing.failed(after(start, milliseconds), Failure::Refused);
        }
        standing.connected(after(start, 30), run(1));
        assert!(!standing.is_dead_since(start));
        standing.disconnected(after(start, 40));
        assert_eq!(standing.heard_at, after(start, 40));
        assert!(!standing.is_dead_since(start), "a reset alone is none");
    }

    #[test]
    fn another_node_under_the_address_is_a_death_at_once() {
        let start = chassis::clock::now();
        let mut standing = Standing::new(start, run(1));
        standing.failed(after(start, 10), Failure::AnotherNode);
        assert!(standing.is_dead_since(start));
        assert!(!standing.is_dead_since(after(start, 11)));
    }

    #[test]
    fn two_refusals_take_well_under_a_second_while_they_matter() {
        let start = chassis::clock::now();
        let mut standing = Standing::new(start, run(1));
        for chance in [0, 7, u32::MAX] {
            assert!(standing.backoff(false, chance) <= Duration::from_millis(200));
        }
        standing.failed(start, Failure::Refused);
        standing.failed(start, Failure::Refused);
        assert!(standing.backoff(false, 899) > Duration::from_millis(900));
        assert!(standing.backoff(true, 899) <= Duration::from_millis(200));
    }
}
