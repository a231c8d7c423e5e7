//! One run: processes are started, play goes on, faults come and go, and at the end all is looked at.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chassis::Process;
use chassis::environment::{Limit, Secret};
use chassis::simulation::Host;
use futures_util::StreamExt;
use futures_util::stream::unfold;
use game_node::lobby::Pace;
use game_node::{CpuOf, LoadConfig, Thresholds};
use registry::simulation::{Redis, Wire};
use registry::{Lifetimes, NodeId, PresenceConfig, Registry};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::info;

use crate::network::{Network, NodeSocket, Socket};
use crate::player::{Player, SEATS, Seen, Table, lock};
use crate::schedule::{Fault, Planned, Schedule};
use crate::verdict::Verdict;

/// After the last fault each table has to be played on within this.
const RECOVERED_WITHIN: Duration = Duration::from_secs(40);
/// A node that drains is followed by another after so long.
const RESTARTED_AFTER: Duration = Duration::from_secs(1);

/// What a run has come to.
pub(crate) struct Outcome {
    pub(crate) breaches: Vec<String>,
    pub(crate) moves: u64,
}

/// Runs a schedule to its end, on the clock of the present runtime.
pub(crate) async fn run(seed: u64, schedule: &Schedule) -> Outcome {
    let world = World::start(seed, schedule);
    let began = Instant::now();
    for planned in &schedule.faults {
        sleep_until(began + planned.at).await;
        world.break_something(*planned);
        if !world.verdict.breaches().is_empty() {
            break;
        }
    }
    sleep_until(began + schedule.over()).await;
    let healed = Instant::now();
    info!("all faults are over");
    while healed.elapsed() < RECOVERED_WITHIN && world.verdict.breaches().is_empty() {
        sleep(Duration::from_secs(1)).await;
        if world.has_recovered(healed).is_ok() {
            break;
        }
    }
    if let Err(what) = world.has_recovered(healed) {
        world.verdict.breach(what);
    }
    Outcome {
        breaches: world.verdict.breaches(),
        moves: world.verdict.moves(),
    }
}

struct World {
    network: Network,
    redis: Redis,
    nodes: Vec<Machine>,
    gateways: Vec<Machine>,
    players: Vec<(String, Arc<Mutex<Seen>>)>,
    verdict: Verdict,
}

/// Where processes of one id run, one after the other.
#[derive(Clone)]
struct Machine {
    id: String,
    role: Role,
    network: Network,
    redis: Redis,
    running: Arc<Mutex<Running>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Node,
    Gateway,
}

/// One process.
struct Running {
    /// What its main thread runs.
    main: Host,
    /// What its presence's thread runs.
    presence: Host,
    wire: Wire,
    process: Process,
}

impl World {
    fn start(seed: u64, schedule: &Schedule) -> Self {
        let (network, redis) = (Network::default(), Redis::start(Lifetimes::default()));
        let machine = |id, role| Machine::start(id, role, &network, &redis);
        let nodes = (0..schedule.nodes).map(|node| machine(node_address(node), Role::Node));
        let nodes: Vec<Machine> = nodes.collect();
        let gateways =
            (0..schedule.gateways).map(|one| machine(gateway_address(one), Role::Gateway));
        let gateways: Vec<Machine> = gateways.collect();
        let verdict = Verdict::default();
        let doors: Vec<String> = (0..schedule.gateways).map(gateway_address).collect();
        let mut players = Vec::new();
        for table in 0..schedule.tables {
            let shared = Arc::new(Mutex::new(Table::default()));
            for seat in 0..SEATS {
                let name = format!("p{table}{seat}");
                let player = Player::new(
                    seed ^ ((table * SEATS + seat) as u64 + 1).wrapping_mul(0x9E37_79B9),
                    name.clone(),
                    seat == 0,
                    Arc::clone(&shared),
                    network.clone(),
                    doors.clone(),
                    verdict.clone(),
                );
                players.push((name, Arc::clone(&player.seen)));
                tokio::spawn(player.run());
            }
        }
        Self {
            network,
            redis,
            nodes,
            gateways,
            players,
            verdict,
        }
    }

    /// Begins a fault, and sees to its end.
    fn break_something(&self, planned: Planned) {
        info!(%planned, "FAULT");
        let end = self.begin(planned);
        tokio::spawn(async move {
            sleep(planned.lasts).await;
            info!(fault = ?planned.fault, "OVER");
            end();
        });
    }

    /// Begins it; gives back what ends it.
    fn begin(&self, planned: Planned) -> Box<dyn FnOnce() + Send> {
        match planned.fault {
            Fault::KillNode(node) => self.nodes[node].kill(),
            Fault::KillGateway(gateway) => self.gateways[gateway].kill(),
            Fault::StopNode(node) => self.nodes[node].stop(true),
            Fault::StopGateway(gateway) => self.gateways[gateway].stop(true),
            Fault::BlockNode(node) => self.nodes[node].stop(false),
            Fault::KillRedis(data) => {
                let redis = self.redis.clone();
                redis.kill();
                Box::new(move || redis.restart(data))
            }
            Fault::StopRedis => {
                let redis = self.redis.clone();
                redis.stop(true);
                Box::new(move || redis.stop(false))
            }
            Fault::CutNodeFromRedis(node) => self.nodes[node].on_its_wire(|wire| wire.cut(true)),
            Fault::CutGatewayFromRedis(gateway) => {
                self.gateways[gateway].on_its_wire(|wire| wire.cut(true))
            }
            Fault::LoseAnswers(node, count) => {
                self.nodes[node].on_its_wire(|wire| wire.lose_answers(count))
            }
            Fault::DelayRequests(node, count) => {
                self.nodes[node].on_its_wire(|wire| wire.delay(count, planned.lasts))
            }
            Fault::CutLink(gateway, node) => {
                let (gateway, node) = (gateway_address(gateway), node_address(node));
                let network = self.network.clone();
                network.cut(&gateway, &node, true);
                Box::new(move || network.cut(&gateway, &node, false))
            }
            Fault::ResetLink(gateway, node) => {
                self.network
                    .reset(&gateway_address(gateway), &node_address(node));
                Box::new(|| ())
            }
            Fault::DrainNode(node) => {
                lock(&self.nodes[node].running).process.shutdown.begin();
                Box::new(|| ())
            }
        }
    }

    /// Whether everybody has been shown their table since then, with a move of their own.
    fn has_recovered(&self, since: Instant) -> Result<(), String> {
        for (name, seen) in &self.players {
            let seen = lock(seen);
            if seen.moved_at.is_none_or(|at| at < since) {
                return Err(format!("{name} has not moved since: {seen:?}"));
            }
        }
        Ok(())
    }
}

impl Machine {
    fn start(id: String, role: Role, network: &Network, redis: &Redis) -> Self {
        let running = Running::new(&id);
        let machine = Self {
            id,
            role,
            network: network.clone(),
            redis: redis.clone(),
            running: Arc::new(Mutex::new(running)),
        };
        machine.boot();
        machine
    }

    /// Starts a process.
    fn boot(&self) {
        let running = Running::new(&self.id);
        let (main, presence) = (running.main.clone(), running.presence.clone());
        let (wire, process) = (running.wire.clone(), running.process.clone());
        let spawn = Arc::new(move |task| drop(tokio::spawn(presence.task(task))));
        let registry = self.redis.client(wire, spawn);
        let links = sockets(self.network.listen(&self.id));
        let machine = self.clone();
        let id = NodeId::new(self.id.clone()).expect("an id");
        *lock(&self.running) = running;
        let task = async move {
            match machine.role {
                Role::Node => run_node(id, registry, process, links).await,
                Role::Gateway => {
                    let network = machine.network.clone();
                    run_gateway(id, registry, process, network, links).await;
                }
            }
            // It has drained.
            tokio::spawn(async move {
                sleep(RESTARTED_AFTER).await;
                machine.boot();
            });
        };
        tokio::spawn(main.task(task));
    }

    /// Kills its process; what starts another.
    fn kill(&self) -> Box<dyn FnOnce() + Send> {
        let running = lock(&self.running);
        running.main.kill();
        running.presence.kill();
        let machine = self.clone();
        Box::new(move || machine.boot())
    }

    /// Stops its process, or its main thread alone; what wakes it.
    fn stop(&self, whole: bool) -> Box<dyn FnOnce() + Send> {
        let running = lock(&self.running);
        running.main.stop();
        if whole {
            running.presence.stop();
        }
        let (main, presence) = (running.main.clone(), running.presence.clone());
        Box::new(move || {
            main.wake();
            presence.wake();
        })
    }

    /// Does something to its way to Redis; what mends it.
    fn on_its_wire(&self, begin: impl FnOnce(&Wire)) -> Box<dyn FnOnce() + Send> {
        let wire = lock(&self.running).wire.clone();
        begin(&wire);
        Box::new(move || wire.heal())
    }
}

impl Running {
    fn new(name: &str) -> Self {
        Self {
            main: Host::new(name),
            presence: Host::new(name),
            wire: Wire::default(),
            process: Process::simulated(),
        }
    }
}

async fn run_node(
    id: NodeId,
    registry: Registry,
    process: Process,
    links: impl futures_util::Stream<Item = Socket> + Unpin,
) {
    let config = game_node::Config {
        advertise_addr: id.to_string(),
        node_id: id,
        gateway_secret: Secret::default(),
        ai_secret: Secret::default(),
        presence: PresenceConfig::default(),
        ready_timeout: Duration::from_secs(30),
        drain_timeout: Duration::from_mins(1),
        pace: Pace {
            ai_move_delay: Duration::from_millis(800),
            trick_pause: Duration::ZERO,
        },
        ai_decision_timeout: Duration::from_secs(5),
        ai_max_inflight: Limit::at_most(32),
        ai_breaker_failures: 5,
        ai_breaker_cooldown: Duration::from_secs(30),
        session_ttl: Duration::from_mins(30),
        max_lobbies: Limit::at_most(1000),
        max_active_games: Limit::at_most(50),
        load: LoadConfig {
            sample_interval: Duration::from_secs(1),
            thresholds: Thresholds::default(),
            force_level: None,
            cpu_of: CpuOf::Process,
        },
        version: "simulated".to_owned(),
    };
    let ran = game_node::simulation::run(config, registry, process, links.map(NodeSocket)).await;
    ran.expect("the settings are right");
}

async fn run_gateway(
    id: NodeId,
    registry: Registry,
    process: Process,
    network: Network,
    players: impl futures_util::Stream<Item = Socket> + Unpin,
) {
    let name = id.to_string();
    let mut config = gateway::Config::new(id, name.clone());
    config.lobby_create_rate = Limit::NONE;
    config.max_connections_per_ip = Limit::NONE;
    let dial = move |address| network.clone().dial(name.clone(), address);
    let ran = gateway::simulation::run(config, registry, process, dial, players).await;
    ran.expect("the settings are right");
}

fn sockets(
    receiver: tokio::sync::mpsc::UnboundedReceiver<Socket>,
) -> impl futures_util::Stream<Item = Socket> + Unpin {
    Box::pin(unfold(receiver, async |mut receiver| {
        Some((receiver.recv().await?, receiver))
    }))
}

fn node_address(number: usize) -> String {
    format!("game-{number}")
}

fn gateway_address(number: usize) -> String {
    format!("gateway-{number}")
}
