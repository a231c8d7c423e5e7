//! The breakers of all AI nodes, by the name that a node gives itself.
//!
//! They outlive links: a node that speaks nonsense loses its link and dials again, and would otherwise be trusted anew
//! each time.

use std::collections::{BTreeMap, VecDeque};

use super::breaker::{Breaker, BreakerLimits};

/// Breakers of nodes without a link that are kept: far more than a fleet has AI nodes. Beyond it the one whose node has
/// been away longest is forgotten.
const MAX_AWAY: usize = 256;

#[derive(Debug)]
pub(super) struct Breakers {
    limits: BreakerLimits,
    by_node: BTreeMap<String, Breaker>,
    /// Nodes without a link that had failed last, the longest away first.
    away: VecDeque<String>,
}

impl Breakers {
    pub(super) fn new(limits: BreakerLimits) -> Self {
        Self {
            limits,
            by_node: BTreeMap::new(),
            away: VecDeque::new(),
        }
    }

    /// A link of this node has come up; what is known of it stays.
    pub(super) fn linked(&mut self, node: &str) {
        self.away.retain(|away| away != node);
        self.by_node
            .entry(node.to_owned())
            .or_insert_with(|| Breaker::new(self.limits));
    }

    /// This node's last link is gone; it is remembered for its failures only.
    pub(super) fn unlinked(&mut self, node: &str) {
        if self.of(node).is_some_and(|breaker| breaker.is_clean()) {
            self.by_node.remove(node);
            return;
        }
        self.away.push_back(node.to_owned());
        if self.away.len() > MAX_AWAY
            && let Some(longest) = self.away.pop_front()
        {
            self.by_node.remove(&longest);
        }
    }

    /// Of a node that has a link: always there.
    pub(super) fn of(&mut self, node: &str) -> Option<&mut Breaker> {
        self.by_node.get_mut(node)
    }

    pub(super) fn is_open(&self, node: &str) -> bool {
        self.by_node.get(node).is_some_and(Breaker::is_open)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn breakers() -> Breakers {
        Breakers::new(BreakerLimits {
            failures: 1,
            cooldown: Duration::from_secs(30),
        })
    }

    #[test]
    fn a_node_that_comes_back_is_known_by_its_failures() {
        let mut breakers = breakers();
        breakers.linked("ai");
        breakers.of("ai").unwrap().failed(chassis::clock::now());
        breakers.unlinked("ai");
        breakers.linked("ai");
        assert!(breakers.is_open("ai"));
        breakers.of("ai").unwrap().succeeded();
        breakers.unlinked("ai");
        assert!(breakers.by_node.is_empty() && breakers.away.is_empty());
    }

    #[test]
    fn names_without_end_are_not_kept_without_end() {
        let mut breakers = breakers();
        for number in 0..MAX_AWAY * 2 {
            let node = format!("ai-{number}");
            breakers.linked(&node);
            breakers.of(&node).unwrap().failed(chassis::clock::now());
            breakers.unlinked(&node);
        }
        assert_eq!(breakers.by_node.len(), MAX_AWAY);
        assert!(!breakers.is_open("ai-0") && breakers.is_open("ai-511"));
    }
}
