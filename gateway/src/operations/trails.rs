//! How many players and games each process has had over the last minutes, so that a page that is
//! opened now shows them at once.
//!
//! Pure: whoever keeps it says when to sample. Bounded by the number of processes that are there:
//! a trail ends with its run.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use registry::{Incarnation, NodeId, Presence};
use serde_json::{Value, json};

/// Between two samples, and how many of them are kept: ten minutes, a point for each pixel or so.
pub(super) const SAMPLE_EVERY: Duration = Duration::from_secs(5);
const SAMPLES_KEPT: usize = 120;

/// Of each process, oldest sample first.
#[derive(Debug, Default)]
pub(super) struct Trails(BTreeMap<NodeId, Trail>);

#[derive(Debug)]
struct Trail {
    run: Incarnation,
    /// Players and running games.
    samples: VecDeque<(u32, u32)>,
}

impl Trails {
    /// Takes one sample of everybody who is there; whoever is not has no trail any more.
    pub(super) fn sample<'a>(&mut self, present: impl Iterator<Item = &'a Presence>) {
        let mut before = std::mem::take(&mut self.0);
        for presence in present {
            let known = before.remove(&presence.id);
            let known = known.filter(|trail| trail.run == presence.incarnation);
            let mut samples = known.map(|trail| trail.samples).unwrap_or_default();
            if samples.len() >= SAMPLES_KEPT {
                samples.pop_front();
            }
            samples.push_back((presence.players, presence.active_games));
            let run = presence.incarnation;
            self.0.insert(presence.id.clone(), Trail { run, samples });
        }
    }

    /// As in `docs/protocol.md` §2: `{"every_ms", "nodes": {id: [[players, games], …]}}`.
    pub(super) fn to_json(&self) -> Value {
        let nodes: BTreeMap<&str, &VecDeque<(u32, u32)>> = self
            .0
            .iter()
            .map(|(id, trail)| (id.as_str(), &trail.samples))
            .collect();
        json!({ "every_ms": SAMPLE_EVERY.as_millis(), "nodes": nodes })
    }
}

#[cfg(test)]
mod tests {
    use registry::Role;
    use uuid::Uuid;

    use super::*;

    fn presence(id: &str, run: u128, players: u32) -> Presence {
        let mut presence = Presence::new(
            NodeId::new(id).unwrap(),
            Role::new("game").unwrap(),
            Incarnation::new(Uuid::from_u128(run)),
            "",
            "",
        );
        presence.players = players;
        presence
    }

    #[test]
    fn a_trail_is_ten_minutes_of_one_run() {
        let mut trails = Trails::default();
        let (gone, stays) = (presence("gone", 1, 0), presence("stays", 1, 7));
        trails.sample([&gone, &stays].into_iter());
        for players in 0..120 {
            trails.sample(std::iter::once(&presence("stays", 1, players)));
        }
        let json = trails.to_json();
        assert_eq!(json["nodes"]["gone"], Value::Null);
        let kept = json["nodes"]["stays"].as_array().unwrap();
        assert_eq!((kept.len(), &kept[0]), (120, &json!([0, 0])));
        assert_eq!(kept[119], json!([119, 0]));

        trails.sample(std::iter::once(&presence("stays", 2, 3)));
        assert_eq!(trails.to_json()["nodes"]["stays"], json!([[3, 0]]));
    }
}
