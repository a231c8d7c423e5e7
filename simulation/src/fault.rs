//! What breaks, and where.

use std::time::Duration;

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
    /// Nobody reaches it; afterwards one does so sooner than the other.
    CutRedis,
    CutNodeFromRedis(Node),
    CutGatewayFromRedis(Gateway),
    CutLink(Gateway, Node),
    /// Both see it end, and what was on its way is lost.
    ResetLink(Gateway, Node),
    /// The connection that is there holds everything back, as one does that has lost a packet; new ones do not.
    StallLink(Gateway, Node),
    /// It is reset again and again, and whatever is dialled anew carries so many messages of the node's and then none
    /// for so many ms.
    FlakyLink(Gateway, Node, u32, u64),
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
    /// A fault, and the longest time that it takes, in milliseconds. One that is aimed meets the first table.
    pub(crate) fn draw(
        chance: &mut ChaCha8Rng,
        is_aimed: bool,
        nodes: usize,
        gateways: usize,
    ) -> (Self, u64) {
        let (node, gateway) = if is_aimed {
            (Node::Owner, Gateway::Theirs)
        } else {
            let node = Node::Numbered(chance.random_range(0..nodes));
            (node, Gateway::Numbered(chance.random_range(0..gateways)))
        };
        let some = chance.random_range(1..=6);
        match chance.random_range(0..28) {
            0 | 1 => (Self::KillNode(node), 15_000),
            2 => (Self::KillGateway(gateway), 6_000),
            3 | 4 => (Self::StopNode(node), 35_000),
            5 => (Self::StopGateway(gateway), 12_000),
            6 => (Self::BlockNode(node), 35_000),
            7..=9 => Self::draw_redis(chance),
            10 => (Self::StopRedis, 20_000),
            27 => (Self::CutRedis, 20_000),
            11 | 12 => (Self::CutNodeFromRedis(node), 35_000),
            13 => (Self::CutGatewayFromRedis(gateway), 25_000),
            14 | 15 => (Self::CutLink(gateway, node), 25_000),
            16 => (Self::ResetLink(gateway, node), 101),
            17 => (Self::StallLink(gateway, node), 12_000),
            18 | 19 => {
                // It greets, says how it does, and answers whoever comes back.
                let messages = chance.random_range(2..6);
                let held = chance.random_range(1_500..4_900);
                (Self::FlakyLink(gateway, node, messages, held), 12_000)
            }
            20 | 21 => (Self::ResetPlayers(gateway), 101),
            22 => (Self::LoseAnswers(node, some), 2_000),
            23 => (Self::DelayRequests(node, some), 8_000),
            _ => (Self::DrainNode(node), 101),
        }
    }

    /// Redis dies, on which all others depend.
    pub(crate) fn draw_redis(chance: &mut ChaCha8Rng) -> (Self, u64) {
        (Self::KillRedis(data(chance)), 25_000)
    }

    /// Whether it takes Redis from everybody.
    pub(crate) fn is_redis(self) -> bool {
        matches!(self, Self::KillRedis(_) | Self::StopRedis | Self::CutRedis)
    }

    /// Within what everybody plays on while it alone goes on, also whoever's connection breaks meanwhile.
    pub(crate) fn played_within(self) -> Option<Duration> {
        let seconds = match self {
            Self::KillRedis(_)
            | Self::StopRedis
            | Self::CutRedis
            | Self::CutGatewayFromRedis(_) => 15,
            Self::KillNode(_) => 12,
            // Nobody is sure for up to 15 s that it is gone.
            Self::StopNode(_) | Self::BlockNode(_) | Self::CutNodeFromRedis(_) => 22,
            _ => return None,
        };
        Some(Duration::from_secs(seconds))
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
    match chance.random_range(0..4) {
        0 | 1 => Data::Whole,
        2 => Data::Older(chance.random_range(1..=8)),
        _ => Data::Empty,
    }
}
