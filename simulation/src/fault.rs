//! What breaks, and where.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use registry::simulation::Data;

use crate::moment::Moment;

/// One fault. What it begins, its end mends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `kill -9`, and started again afterwards.
    KillNode(Node),
    KillGateway(Gateway),
    /// `SIGSTOP`, and `SIGCONT` afterwards.
    StopNode(Node),
    StopGateway(Gateway),
    /// The lobbies' thread stands still, the presence's does not.
    BlockNode(Node),
    KillRedis(Data),
    StopRedis,
    CutNodeFromRedis(Node),
    CutGatewayFromRedis(Gateway),
    CutLink(Gateway, Node),
    /// Both see it end, and what was on its way is lost.
    ResetLink(Gateway, Node),
    /// The connection that is there holds everything back, as one does that has lost a packet; new ones do not.
    StallLink(Gateway, Node),
    /// It is reset, and whatever is dialled anew stalls after so many ms, at the next state that is saved, for so many
    /// ms, and is reset again.
    FlakyLink(Gateway, Node, u64, u64),
    /// All its players' sockets break.
    ResetPlayers(Gateway),
    /// Answers to some operations never come.
    LoseAnswers(Node, u32),
    /// Some operations are done later than anybody waits for them.
    DelayRequests(Node, u32),
    /// Told to stop; another is started when it has left.
    DrainNode(Node),
}

/// A game node, known when its fault begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Numbered(usize),
    /// Whom the first table's record names.
    Owner,
}

/// A gateway, likewise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gateway {
    Numbered(usize),
    /// Through which the first table's host plays.
    Theirs,
}

impl Fault {
    /// A fault, and the longest time that it takes, in milliseconds. Half of them meet the first table.
    pub(crate) fn draw(chance: &mut ChaCha8Rng, nodes: usize, gateways: usize) -> (Self, u64) {
        let (node, gateway) = if chance.random() {
            (Node::Owner, Gateway::Theirs)
        } else {
            let node = Node::Numbered(chance.random_range(0..nodes));
            (node, Gateway::Numbered(chance.random_range(0..gateways)))
        };
        let some = chance.random_range(1..=6);
        match chance.random_range(0..26) {
            0 | 1 => (Self::KillNode(node), 9_000),
            2 => (Self::KillGateway(gateway), 6_000),
            3 | 4 => (Self::StopNode(node), 22_000),
            5 => (Self::StopGateway(gateway), 12_000),
            6 => (Self::BlockNode(node), 15_000),
            7..=9 => (Self::KillRedis(data(chance)), 25_000),
            10 => (Self::StopRedis, 20_000),
            11 | 12 => (Self::CutNodeFromRedis(node), 20_000),
            13 => (Self::CutGatewayFromRedis(gateway), 15_000),
            14 => (Self::CutLink(gateway, node), 15_000),
            15 => (Self::ResetLink(gateway, node), 101),
            16 => (Self::StallLink(gateway, node), 12_000),
            17 | 18 => {
                let up = chance.random_range(50..300);
                let held = chance.random_range(1_000..4_900);
                (Self::FlakyLink(gateway, node, up, held), 12_000)
            }
            19 | 20 => (Self::ResetPlayers(gateway), 101),
            21 => (Self::LoseAnswers(node, some), 2_000),
            22 => (Self::DelayRequests(node, some), 8_000),
            _ => (Self::DrainNode(node), 101),
        }
    }

    /// Whether it takes Redis from everybody.
    pub(crate) fn is_redis(self) -> bool {
        matches!(self, Self::KillRedis(_) | Self::StopRedis)
    }

    /// Whether it breaks nothing but connections that are made anew at once.
    pub(crate) fn only_resets(self) -> bool {
        matches!(self, Self::ResetPlayers(_) | Self::ResetLink(..))
    }

    /// What it sets off, at which another fault finds most under way.
    pub(crate) fn sets_off(self) -> &'static [Moment] {
        use Moment::{Claim, Commit, Hello, Move, Release};
        match self {
            Self::DrainNode(_) => &[Release, Claim],
            Self::KillNode(_) | Self::StopNode(_) | Self::BlockNode(_) => &[Claim],
            Self::CutNodeFromRedis(_) => &[Claim, Move],
            Self::KillGateway(_) | Self::StopGateway(_) | Self::ResetPlayers(_) => &[Hello, Commit],
            _ => &[Move, Commit],
        }
    }
}

fn data(chance: &mut ChaCha8Rng) -> Data {
    match chance.random_range(0..3) {
        0 => Data::Whole,
        1 => Data::Older(chance.random_range(1..=8)),
        _ => Data::Empty,
    }
}
