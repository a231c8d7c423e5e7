//! Which game node gets a new lobby.

use protocol::server::LoadLevel;
use registry::NodeId;

/// A node that a new lobby could go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) node: NodeId,
    pub(crate) level: LoadLevel,
    /// Running ones, and the lobbies that were sent there since that was counted.
    pub(crate) games: u32,
    pub(crate) players: u32,
}

/// The less loaded of two that chance draws, the first of them if they are alike; none if there
/// are none.
///
/// Not simply the least loaded of all: what is known of the others is some seconds old, and all
/// gateways would send everybody to the same one.
pub(crate) fn choose(mut candidates: Vec<Candidate>, chance: [u32; 2]) -> Option<NodeId> {
    let first = take(&mut candidates, chance[0])?;
    let Some(second) = take(&mut candidates, chance[1]) else {
        return Some(first.node);
    };
    let burden = |one: &Candidate| (one.level, one.games, one.players);
    Some(if burden(&second) < burden(&first) {
        second.node
    } else {
        first.node
    })
}

fn take(candidates: &mut Vec<Candidate>, chance: u32) -> Option<Candidate> {
    let place = (chance as usize).checked_rem(candidates.len())?;
    Some(candidates.swap_remove(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(name: &str, level: LoadLevel, games: u32, players: u32) -> Candidate {
        Candidate {
            node: NodeId::new(name).unwrap(),
            level,
            games,
            players,
        }
    }

    fn chosen(candidates: &[Candidate], chance: [u32; 2]) -> Option<String> {
        choose(candidates.to_vec(), chance).map(|node| node.to_string())
    }

    #[test]
    fn of_two_the_less_loaded_is_chosen() {
        let lighter = candidate("lighter", LoadLevel::Normal, 3, 9);
        for heavier in [
            candidate("heavier", LoadLevel::Busy, 0, 0),
            candidate("heavier", LoadLevel::Normal, 4, 0),
            candidate("heavier", LoadLevel::Normal, 3, 10),
        ] {
            for chance in [[0, 0], [1, 0], [u32::MAX, u32::MAX]] {
                let both = [heavier.clone(), lighter.clone()];
                assert_eq!(chosen(&both, chance).as_deref(), Some("lighter"));
            }
        }
    }

    #[test]
    fn one_is_chosen_anyway_and_of_none_none() {
        let only = candidate("only", LoadLevel::Busy, 50, 300);
        assert_eq!(chosen(&[only], [7, 9]).as_deref(), Some("only"));
        assert_eq!(chosen(&[], [7, 9]), None);
    }

    #[test]
    fn chance_reaches_everybody() {
        let same: Vec<_> = ["a", "b", "c"]
            .map(|name| candidate(name, LoadLevel::Normal, 0, 0))
            .into();
        let mut reached: Vec<_> = (0..3).filter_map(|draw| chosen(&same, [draw, 0])).collect();
        reached.sort();
        assert_eq!(reached, ["a", "b", "c"]);
    }
}
