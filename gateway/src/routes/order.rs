//! In which order nodes are asked to take a lobby.

use protocol::LobbyCode;
use registry::NodeId;

/// A node that could take a lobby over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claimant {
    pub(crate) node: NodeId,
    /// Whether it wants new games. That refuses no claim; but a start that the last owner had to
    /// refuse shall find a node that does not.
    pub(crate) accepts_games: bool,
    /// Whether it says that it is going to stop, and would refuse.
    pub(crate) draining: bool,
}

/// Those that want games first, and within them by code and id: gateways that see the same nodes
/// ask the same one first, and the lobbies of one node spread over all others.
pub(crate) fn in_order(code: LobbyCode, mut claimants: Vec<Claimant>) -> Vec<NodeId> {
    let place = |one: &Claimant| {
        let rank = (one.draining, !one.accepts_games);
        (rank, weight(code, &one.node))
    };
    claimants.sort_by_key(place);
    claimants.into_iter().map(|one| one.node).collect()
}

/// Rendezvous hashing: FNV-1a over both, and a last mix so that near ids end far apart. The same
/// in all processes of all versions.
fn weight(code: LobbyCode, node: &NodeId) -> u64 {
    let bytes = code.as_str().bytes().chain(node.as_str().bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn claimant(name: &str, accepts_games: bool, draining: bool) -> Claimant {
        Claimant {
            node: NodeId::new(name).unwrap(),
            accepts_games,
            draining,
        }
    }

    fn first(code: u32, claimants: &[Claimant]) -> String {
        in_order(LobbyCode::from_bits(code), claimants.to_vec())[0].to_string()
    }

    #[test]
    fn who_wants_games_is_asked_first_and_who_is_leaving_last() {
        let claimants = [
            claimant("leaving", true, true),
            claimant("full", false, false),
            claimant("open", true, false),
        ];
        for bits in 0..50 {
            let order = in_order(LobbyCode::from_bits(bits), claimants.to_vec());
            let names: Vec<_> = order.iter().map(NodeId::as_str).collect();
            assert_eq!(names, ["open", "full", "leaving"]);
        }
    }

    #[test]
    fn lobbies_spread_and_one_node_less_moves_only_its_own() {
        let four = ["a", "b", "c", "d"].map(|name| claimant(name, true, false));
        let mut shares = BTreeMap::<String, u32>::new();
        for code in 0..4000 {
            let before = first(code, &four);
            let after = first(code, &four[..3]);
            assert!(before == "d" || before == after);
            *shares.entry(before).or_default() += 1;
        }
        assert_eq!(shares.len(), 4);
        assert!(
            shares.values().all(|share| (800..1200).contains(share)),
            "{shares:?}"
        );
    }

    #[test]
    fn the_order_of_listing_does_not_matter() {
        let four = ["a", "b", "c", "d"].map(|name| claimant(name, true, false));
        let reversed: Vec<_> = four.iter().rev().cloned().collect();
        for code in 0..100 {
            assert_eq!(first(code, &four), first(code, &reversed));
        }
    }
}
