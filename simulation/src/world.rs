//! One run: processes are started, play goes on, faults come and go, and at the end all is looked at.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use registry::Lifetimes;
use registry::simulation::{Data, Redis, Wire};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::info;

use crate::calm::Calm;
use crate::fault::{Fault, Gateway, Node};
use crate::ledger::Ledger;
use crate::lock;
use crate::machine::{End, Machine, Role};
use crate::moment::{Moment, Moments};
use crate::network::{Lapse, Network, draw};
use crate::player::{Player, SEATS, Seen, Surroundings, Table};
use crate::schedule::{Planned, Schedule};
use crate::verdict::Verdict;

/// After the last fault each table has to be played on within this.
const RECOVERED_WITHIN: Duration = Duration::from_secs(40);

/// Once the network is whole again, everybody's packets get through to Redis within this.
const REACHED_WITHIN_MS: Range<u64> = 0..2_500;

/// What a run has come to.
pub(crate) struct Outcome {
    pub(crate) breaches: Vec<String>,
    pub(crate) moves: u64,
    /// Tables that were lost with their owner and Redis.
    pub(crate) lost: usize,
}

/// Runs a schedule to its end, on the clock of the present runtime.
pub(crate) async fn run(seed: u64, schedule: &Schedule) -> Outcome {
    let world = Arc::new(World::start(seed, schedule));
    let (began, faults) = (Instant::now(), TaskTracker::new());
    for planned in schedule.faults.clone() {
        let world = Arc::clone(&world);
        faults.spawn(async move {
            sleep_until(began + planned.at).await;
            world.break_something(planned).await;
        });
    }
    faults.close();
    faults.wait().await;
    let healed = Instant::now();
    info!("all faults are over");
    while healed.elapsed() < RECOVERED_WITHIN && world.verdict.breaches().is_empty() {
        sleep(Duration::from_secs(1)).await;
        if world.have_played(healed).is_ok() {
            break;
        }
    }
    if let Err(what) = world.have_played(healed) {
        world.verdict.breach(what);
    }
    Outcome {
        breaches: world.verdict.breaches(),
        moves: world.verdict.moves(),
        lost: world.ledger.lost(),
    }
}

struct World {
    network: Network,
    redis: Redis,
    ledger: Ledger,
    moments: Moments,
    calm: Calm,
    nodes: Vec<Machine>,
    gateways: Vec<Machine>,
    tables: Vec<Arc<Mutex<Table>>>,
    players: Vec<Seat>,
    verdict: Verdict,
}

/// A player, as the end of a run looks at them.
struct Seat {
    name: String,
    table: Arc<Mutex<Table>>,
    seen: Arc<Mutex<Seen>>,
}

impl World {
    fn start(seed: u64, schedule: &Schedule) -> Self {
        let (network, redis) = (Network::default(), Redis::start(Lifetimes::default()));
        let (verdict, moments) = (Verdict::default(), Moments::new());
        let ledger = Ledger::new(redis.clone(), verdict.clone());
        let (noting, telling) = (ledger.clone(), moments.clone());
        redis.watch(move |deed| {
            noting.note(deed);
            if let Some(moment) = Moment::of(&deed.kind) {
                telling.tell(moment);
            }
        });
        let machine = |id, role| Machine::start(id, role, &network, &redis, &ledger);
        let nodes = (0..schedule.nodes).map(|node| machine(node_address(node), Role::Node));
        let nodes: Vec<Machine> = nodes.collect();
        let gateways =
            (0..schedule.gateways).map(|one| machine(gateway_address(one), Role::Gateway));
        let gateways: Vec<Machine> = gateways.collect();
        let surroundings = Surroundings {
            network: network.clone(),
            gateways: (0..schedule.gateways).map(gateway_address).collect(),
            ai_seats: schedule.ai_seats,
            thinks_ms: schedule.thinks_ms.clone(),
            verdict: verdict.clone(),
            ledger: ledger.clone(),
            moments: moments.clone(),
        };
        let (mut tables, mut players) = (Vec::new(), Vec::new());
        for number in 0..schedule.tables {
            let table = Arc::new(Mutex::new(Table::default()));
            for seat in 0..SEATS {
                let name = format!("p{number}{seat}");
                let seed = seed ^ ((number * SEATS + seat) as u64 + 1).wrapping_mul(0x9E37_79B9);
                let (table, around) = (Arc::clone(&table), surroundings.clone());
                let player = Player::new(seed, name.clone(), seat == 0, table.clone(), around);
                players.push(Seat {
                    name,
                    table,
                    seen: Arc::clone(&player.seen),
                });
                tokio::spawn(player.run());
            }
            tables.push(table);
        }
        Self {
            network,
            redis,
            ledger,
            moments,
            calm: Calm::default(),
            nodes,
            gateways,
            tables,
            players,
            verdict,
        }
    }

    /// Begins a fault at its moment, and sees to its end.
    async fn break_something(&self, planned: Planned) {
        if let Some(moment) = planned.moment {
            self.moments.next(moment, planned.waits()).await;
        }
        if !self.verdict.breaches().is_empty() {
            return;
        }
        info!(%planned, "FAULT");
        let number = self.calm.begins(planned.fault);
        let end = self.begin(planned);
        sleep(planned.lasts).await;
        self.has_been_lived_with(planned.fault, number);
        info!(fault = ?planned.fault, "OVER");
        self.calm.ends(number);
        end();
    }

    /// A fault that has gone on alone for long enough stops nobody's play.
    fn has_been_lived_with(&self, fault: Fault, number: usize) {
        if let Some(within) = fault.played_within()
            && self.calm.lasts(number) >= within
            && let Err(what) = self.have_played(Instant::now() - within)
        {
            self.verdict.breach(format!("{fault:?} alone: {what}"));
        }
    }

    /// Begins it; gives back what ends it.
    fn begin(&self, planned: Planned) -> End {
        match planned.fault {
            Fault::KillNode(node) => self.node(node).kill(),
            Fault::KillGateway(gateway) => self.gateway(gateway).kill(),
            Fault::StopNode(node) => self.node(node).stop(true),
            Fault::StopGateway(gateway) => self.gateway(gateway).stop(true),
            Fault::BlockNode(node) => self.node(node).stop(false),
            Fault::KillRedis(data) => self.kill_redis(data),
            Fault::StopRedis => {
                let redis = self.redis.clone();
                redis.stop(true);
                Box::new(move || redis.stop(false))
            }
            Fault::CutRedis => self.cut_redis(),
            Fault::CutNodeFromRedis(node) => self.node(node).on_its_wire(Wire::cut, Wire::mend),
            Fault::CutGatewayFromRedis(gateway) => {
                self.gateway(gateway).on_its_wire(Wire::cut, Wire::mend)
            }
            Fault::LoseAnswers(node, count) => self
                .node(node)
                .on_its_wire(|wire| wire.lose_answers(count), Wire::heal),
            Fault::DelayRequests(node, count) => self
                .node(node)
                .on_its_wire(|wire| wire.delay(count, planned.lasts), Wire::heal),
            Fault::CutLink(gateway, node) => {
                let (from, to) = self.link(gateway, node);
                let network = self.network.clone();
                network.cut(&from, &to, true);
                Box::new(move || network.cut(&from, &to, false))
            }
            Fault::ResetLink(gateway, node) => {
                let (from, to) = self.link(gateway, node);
                self.network.reset(&from, &to);
                Box::new(|| ())
            }
            Fault::StallLink(gateway, node) => {
                let (from, to) = self.link(gateway, node);
                self.network.stall(&from, &to)
            }
            Fault::FlakyLink(gateway, node, after, held) => {
                let lasts = Duration::from_millis(held);
                self.flaky(self.link(gateway, node), Lapse { after, lasts })
            }
            Fault::ResetPlayers(gateway) => {
                let gateway = gateway_address(self.gateway_number(gateway));
                for player in &self.players {
                    self.network.reset(&player.name, &gateway);
                }
                Box::new(|| ())
            }
            Fault::DrainNode(node) => {
                self.node(node).drain();
                Box::new(|| ())
            }
        }
    }

    fn kill_redis(&self, data: Data) -> End {
        let (redis, ledger) = (self.redis.clone(), self.ledger.clone());
        redis.kill();
        Box::new(move || {
            redis.restart(data);
            if data != Data::Whole {
                ledger.redis_lost_data();
            }
        })
    }

    fn cut_redis(&self) -> End {
        let machines = self.nodes.iter().chain(&self.gateways);
        let wires: Vec<Wire> = machines.map(Machine::wire).collect();
        wires.iter().for_each(Wire::cut);
        Box::new(move || {
            for wire in wires {
                let after = Duration::from_millis(draw(REACHED_WITHIN_MS));
                tokio::spawn(async move {
                    sleep(after).await;
                    wire.mend();
                });
            }
        })
    }

    fn flaky(&self, (from, to): (String, String), lapse: Lapse) -> End {
        let (network, over) = (self.network.clone(), CancellationToken::new());
        let end = over.clone();
        tokio::spawn(async move {
            network.lapse(&from, &to, Some(lapse));
            while !over.is_cancelled() {
                network.reset(&from, &to);
                // What was held back has come by then.
                let next = lapse.lasts + Duration::from_millis(500);
                let _over = over.run_until_cancelled(sleep(next)).await;
            }
            network.lapse(&from, &to, None);
        });
        Box::new(move || end.cancel())
    }

    fn node(&self, node: Node) -> &Machine {
        &self.nodes[self.node_number(node)]
    }

    fn gateway(&self, gateway: Gateway) -> &Machine {
        &self.gateways[self.gateway_number(gateway)]
    }

    fn link(&self, gateway: Gateway, node: Node) -> (String, String) {
        let (gateway, node) = (self.gateway_number(gateway), self.node_number(node));
        (gateway_address(gateway), node_address(node))
    }

    fn node_number(&self, node: Node) -> usize {
        let Node::Numbered(number) = node else {
            let code = lock(&self.tables[0]).code;
            let record = code.and_then(|code| self.redis.record(code.as_str()));
            let owner = record.and_then(|record| record.owner);
            let is_owner = |number: &usize| {
                let id = owner.as_ref().map(|owner| owner.node.as_str());
                id == Some(&node_address(*number))
            };
            return (0..self.nodes.len()).find(is_owner).unwrap_or(0);
        };
        number
    }

    fn gateway_number(&self, gateway: Gateway) -> usize {
        match gateway {
            Gateway::Numbered(number) => number,
            Gateway::Theirs => lock(&self.players[0].seen).gateway,
        }
    }

    /// Whether everybody has been shown their table since then, with a move of their own.
    fn have_played(&self, since: Instant) -> Result<(), String> {
        for Seat { name, table, seen } in &self.players {
            let (code, seen) = (lock(table).code, lock(seen));
            let is_lost = code.is_some_and(|code| self.ledger.may_be_lost(code.as_str()));
            if !is_lost && !seen.has_left && seen.moved_at.is_none_or(|at| at < since) {
                return Err(format!("{name} has not moved since: {seen:?}"));
            }
        }
        Ok(())
    }
}

fn node_address(number: usize) -> String {
    format!("game-{number}")
}

fn gateway_address(number: usize) -> String {
    format!("gateway-{number}")
}
