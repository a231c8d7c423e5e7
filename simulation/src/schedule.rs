//! What happens in one run, and when: drawn from its seed, and nothing else.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use registry::simulation::Data;

/// Tables are up and playing by then.
const FIRST_AT_MS: u64 = 6_000;
/// After a fault is over, what it broke has so long to be whole again before it no longer counts as going on.
const RECOVERY_MS: u64 = 12_000;

/// One run.
#[derive(Debug)]
pub(crate) struct Schedule {
    pub(crate) nodes: usize,
    pub(crate) gateways: usize,
    pub(crate) tables: usize,
    /// In the order of their beginnings.
    pub(crate) faults: Vec<Planned>,
}

/// A fault, and when it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    pub(crate) at: Duration,
    pub(crate) lasts: Duration,
    pub(crate) fault: Fault,
}

/// Nodes and gateways by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `kill -9`, and started again afterwards.
    KillNode(usize),
    KillGateway(usize),
    /// `SIGSTOP`, and `SIGCONT` afterwards.
    StopNode(usize),
    StopGateway(usize),
    /// The lobbies' thread stands still, the presence's does not.
    BlockNode(usize),
    KillRedis(Data),
    StopRedis,
    CutNodeFromRedis(usize),
    CutGatewayFromRedis(usize),
    /// By gateway and node.
    CutLink(usize, usize),
    /// Both see it end.
    ResetLink(usize, usize),
    /// Answers to some operations never come.
    LoseAnswers(usize, u32),
    /// Some operations are done later than anybody waits for them.
    DelayRequests(usize, u32),
    /// Told to stop; another is started when it has left.
    DrainNode(usize),
}

impl Schedule {
    /// The same for the same seed. At most so many faults go on at a time.
    pub(crate) fn draw(seed: u64, overlap: usize) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let (nodes, gateways) = (chance.random_range(2..=4), chance.random_range(1..=3));
        let tables = chance.random_range(1..=3);
        let count = chance.random_range(1..=6);
        // Most at about the same time: what is spread out is seldom in another's way.
        let window: Range<u64> = if chance.random_bool(0.5) {
            FIRST_AT_MS..30_000
        } else {
            FIRST_AT_MS..FIRST_AT_MS + 9_000
        };
        let mut faults: Vec<Planned> = (0..count)
            .map(|_| {
                let at = Duration::from_millis(chance.random_range(window.clone()));
                let (fault, longest_ms) = draw(&mut chance, nodes, gateways);
                let lasts = Duration::from_millis(chance.random_range(100..=longest_ms));
                Planned { at, lasts, fault }
            })
            .collect();
        faults.sort_by_key(|planned| planned.at);
        let mut kept: Vec<Planned> = Vec::new();
        for planned in faults {
            let going_on = kept.iter().filter(|other| other.over() > planned.at);
            let lost = |other: &&Planned| loses_both(other.fault, planned.fault);
            if going_on.clone().count() < overlap && !going_on.clone().any(|other| lost(&other)) {
                kept.push(planned);
            }
        }
        Self {
            nodes,
            gateways,
            tables,
            faults: kept,
        }
    }

    /// When the last fault is over.
    pub(crate) fn over(&self) -> Duration {
        let ends = self.faults.iter().map(|planned| planned.at + planned.lasts);
        ends.max()
            .unwrap_or_default()
            .max(Duration::from_millis(FIRST_AT_MS))
    }
}

impl Planned {
    fn over(&self) -> Duration {
        self.at + self.lasts + Duration::from_millis(RECOVERY_MS)
    }
}

/// The owner and Redis lost together are lost, and so is what only they knew: that is promised to nobody.
fn loses_both(one: Fault, other: Fault) -> bool {
    let redis = |fault| matches!(fault, Fault::KillRedis(_) | Fault::StopRedis);
    let owner = |fault| {
        matches!(
            fault,
            Fault::KillNode(_) | Fault::StopNode(_) | Fault::BlockNode(_) | Fault::DrainNode(_)
        )
    };
    redis(one) && owner(other) || owner(one) && redis(other)
}

/// A fault, and the longest time that it takes, in milliseconds.
fn draw(chance: &mut ChaCha8Rng, nodes: usize, gateways: usize) -> (Fault, u64) {
    let node = chance.random_range(0..nodes);
    let gateway = chance.random_range(0..gateways);
    let some = chance.random_range(1..=6);
    match chance.random_range(0..16) {
        0 | 1 => (Fault::KillNode(node), 9_000),
        2 => (Fault::KillGateway(gateway), 6_000),
        3 => (Fault::StopNode(node), 22_000),
        4 => (Fault::StopGateway(gateway), 12_000),
        5 => (Fault::BlockNode(node), 15_000),
        6 | 7 => {
            let data = match chance.random_range(0..4) {
                0 | 1 => Data::Whole,
                2 => Data::Older(chance.random_range(1..=8)),
                _ => Data::Empty,
            };
            (Fault::KillRedis(data), 15_000)
        }
        8 => (Fault::StopRedis, 12_000),
        9 => (Fault::CutNodeFromRedis(node), 20_000),
        10 => (Fault::CutGatewayFromRedis(gateway), 15_000),
        11 => (Fault::CutLink(gateway, node), 15_000),
        12 => (Fault::ResetLink(gateway, node), 101),
        13 => (Fault::LoseAnswers(node, some), 2_000),
        14 => (Fault::DelayRequests(node, some), 2_000),
        _ => (Fault::DrainNode(node), 101),
    }
}

impl fmt::Display for Planned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, lasts, fault } = self;
        write!(
            formatter,
            "{:>6} ms for {:>5} ms  {fault:?}",
            at.as_millis(),
            lasts.as_millis()
        )
    }
}
