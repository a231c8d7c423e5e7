//! What this gateway knows of its way to one node: who answers there, since when nobody does, and
//! how dialling fares. Pure: times are passed in.

use std::time::{Duration, Instant};

use registry::Incarnation;

/// Dials that must be refused in a row before the process is taken for dead: one may meet a
/// process that has just begun.
const REFUSALS: usize = 2;
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
    /// So many dials in a row were refused.
    refusals: usize,
    /// A dial met another node.
    is_usurped: bool,
}

impl Standing {
    /// A node that has just become known.
    pub(crate) fn new(now: Instant, listed: Incarnation) -> Self {
        Self {
            listed,
            up: None,
            heard_at: now,
            refusals: 0,
            is_usurped: false,
        }
    }

    /// The link is up, and this run answers.
    pub(crate) fn connected(&mut self, now: Instant, incarnation: Incarnation) {
        self.up = Some(incarnation);
        self.heard_at = now;
        (self.refusals, self.is_usurped) = (0, false);
    }

    /// The link is down; something came over it last at `heard_at`.
    pub(crate) fn disconnected(&mut self, heard_at: Instant) {
        self.up = None;
        self.heard_at = self.heard_at.max(heard_at);
        (self.refusals, self.is_usurped) = (0, false);
    }

    /// A dial has failed.
    pub(crate) fn failed(&mut self, failure: Failure) {
        match failure {
            Failure::Refused => self.refusals += 1,
            Failure::AnotherNode => self.is_usurped = true,
            Failure::Unclear => self.refusals = 0,
        }
    }

    /// Whether the listed run is known to be gone: nobody listens where it did, or another node.
    pub(crate) fn is_dead(&self) -> bool {
        self.up.is_none() && (self.is_usurped || self.refusals >= REFUSALS)
    }

    /// How long to wait before the next dial; `urgent` if somebody's table depends on it.
    pub(crate) fn backoff(&self, urgent: bool, chance: u32) -> Duration {
        let (least, most) = if urgent || !self.is_dead() {
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
    fn two_refusals_in_a_row_are_a_death() {
        let mut standing = Standing::new(chassis::clock::now(), run(1));
        standing.failed(Failure::Refused);
        assert!(!standing.is_dead(), "one is not enough");
        standing.failed(Failure::Unclear);
        standing.failed(Failure::Refused);
        assert!(!standing.is_dead(), "not in a row");
        standing.failed(Failure::Refused);
        assert!(standing.is_dead());
    }

    #[test]
    fn a_link_that_came_up_is_no_death_and_begins_anew() {
        let start = chassis::clock::now();
        let mut standing = Standing::new(start, run(1));
        for failure in [Failure::Refused, Failure::Refused, Failure::AnotherNode] {
            standing.failed(failure);
        }
        standing.connected(after(start, 30), run(1));
        assert!(!standing.is_dead());
        standing.disconnected(after(start, 40));
        assert_eq!(standing.heard_at, after(start, 40));
        assert!(!standing.is_dead(), "a reset alone is none");
    }

    #[test]
    fn another_node_under_the_address_is_a_death_at_once() {
        let mut standing = Standing::new(chassis::clock::now(), run(1));
        standing.failed(Failure::AnotherNode);
        assert!(standing.is_dead());
    }

    #[test]
    fn two_refusals_take_well_under_a_second_while_they_matter() {
        let start = chassis::clock::now();
        let mut standing = Standing::new(start, run(1));
        for chance in [0, 7, u32::MAX] {
            assert!(standing.backoff(false, chance) <= Duration::from_millis(200));
        }
        standing.failed(Failure::Refused);
        standing.failed(Failure::Refused);
        assert!(standing.backoff(false, 899) > Duration::from_millis(900));
        assert!(standing.backoff(true, 899) <= Duration::from_millis(200));
    }
}
