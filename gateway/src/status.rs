//! How the servers do, as players are told in `server_status`.

use std::collections::BTreeMap;

use protocol::server::{LoadLevel, ServerStatus, StatusReason};
use registry::NodeId;

/// A table that moves is usually back within two seconds.
const MOVING_RETRY_MS: u32 = 1_000;
/// Redis is usually back within some seconds.
const REDIS_RETRY_MS: u32 = 2_000;
/// Games end by the minute, not by the second.
const FULL_RETRY_MS: u32 = 15_000;

/// What this gateway knows of the game nodes that it has a live link to, and of the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overview {
    /// The nodes with a live link.
    pub(crate) nodes: BTreeMap<NodeId, NodeStatus>,
    /// Whether the registry answers.
    pub(crate) registry_reachable: bool,
    /// Counts the runs of Redis that have answered: a new one may have lost sessions.
    pub(crate) registry_run: u64,
}

/// How one game node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeStatus {
    pub(crate) level: LoadLevel,
    pub(crate) accepting_games: bool,
}

impl Overview {
    /// Before anything is known.
    pub(crate) fn new() -> Self {
        Self {
            nodes: BTreeMap::new(),
            registry_reachable: true,
            registry_run: 0,
        }
    }

    /// What a player is told whose table is on `node`, if on any; `moving` if it just changes it.
    pub(crate) fn status(&self, node: Option<&NodeId>, moving: bool) -> ServerStatus {
        let of_table = node
            .and_then(|node| self.nodes.get(node))
            .map(|node| node.level);
        // Nobody is the least loaded where nobody is.
        let level = of_table
            .or_else(|| self.least_level())
            .unwrap_or(LoadLevel::Overloaded);
        let accepting = self.nodes.values().any(|node| node.accepting_games);
        let (reason, retry_after_ms) = match () {
            () if moving => (Some(StatusReason::Moving), Some(MOVING_RETRY_MS)),
            () if !self.registry_reachable => (Some(StatusReason::RedisAway), Some(REDIS_RETRY_MS)),
            () if accepting => (None, None),
            () if self
                .least_level()
                .is_none_or(|level| level == LoadLevel::Overloaded) =>
            {
                (Some(StatusReason::Overloaded), Some(FULL_RETRY_MS))
            }
            () => (Some(StatusReason::Full), Some(FULL_RETRY_MS)),
        };
        // A new table is written to the registry before anybody sees it.
        let accepting_games = accepting && self.registry_reachable;
        ServerStatus {
            level,
            accepting_games,
            reason,
            retry_after_ms,
            // Each gateway's own.
            reconnect_within_ms: None,
        }
    }

    fn least_level(&self) -> Option<LoadLevel> {
        self.nodes.values().map(|node| node.level).min()
    }
}

#[cfg(test)]
mod tests {
    use LoadLevel::{Busy, Normal, Overloaded};

    use super::*;

    fn id(name: &str) -> NodeId {
        NodeId::new(name).unwrap()
    }

    fn overview(nodes: &[(&str, LoadLevel, bool)]) -> Overview {
        let status = |&(name, level, accepting_games): &(&str, LoadLevel, bool)| {
            (
                id(name),
                NodeStatus {
                    level,
                    accepting_games,
                },
            )
        };
        Overview {
            nodes: nodes.iter().map(status).collect(),
            ..Overview::new()
        }
    }

    #[test]
    fn the_level_is_the_tables_and_otherwise_the_least() {
        let two = overview(&[("a", Busy, true), ("b", Normal, true)]);
        assert_eq!(two.status(Some(&id("a")), false).level, Busy);
        assert_eq!(two.status(None, false).level, Normal);
        assert_eq!(two.status(Some(&id("gone")), false).level, Normal);
    }

    #[test]
    fn the_reason_says_why_there_are_no_new_games() {
        use StatusReason as Reason;
        for (nodes, accepting, reason) in [
            (
                &[("a", Busy, true), ("b", Overloaded, false)][..],
                true,
                None,
            ),
            (&[("a", Overloaded, false)], false, Some(Reason::Overloaded)),
            (
                &[("a", Overloaded, false), ("b", Normal, false)],
                false,
                Some(Reason::Full),
            ),
            (&[], false, Some(Reason::Overloaded)),
        ] {
            let status = overview(nodes).status(None, false);
            assert_eq!(
                (status.accepting_games, status.reason),
                (accepting, reason),
                "{nodes:?}"
            );
            assert_eq!(status.retry_after_ms.is_some(), reason.is_some());
        }
    }

    #[test]
    fn without_the_registry_nothing_new_begins_and_a_moving_table_comes_first() {
        let mut away = overview(&[("a", Normal, true)]);
        away.registry_reachable = false;
        let status = away.status(None, false);
        assert_eq!(
            (status.accepting_games, status.reason),
            (false, Some(StatusReason::RedisAway))
        );
        let status = away.status(Some(&id("a")), true);
        assert_eq!(status.reason, Some(StatusReason::Moving));
    }
}
