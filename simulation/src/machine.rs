//! The machines: what runs on each, one process after the other, and how it is killed, stopped and cut off.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chassis::Process;
use chassis::environment::Limit;
use chassis::simulation::Host;
use futures_util::StreamExt;
use futures_util::stream::unfold;
use registry::simulation::{Redis, Wire};
use registry::{NodeId, Registry};
use tokio::time::sleep;

use crate::ledger::Ledger;
use crate::lock;
use crate::network::{Network, NodeSocket, Socket};

/// A process that has drained is followed by another after so long.
const RESTARTED_AFTER: Duration = Duration::from_secs(1);

/// What ends a fault.
pub(crate) type End = Box<dyn FnOnce() + Send>;

/// Where processes of one id run, one after the other.
#[derive(Clone)]
pub(crate) struct Machine {
    id: String,
    role: Role,
    network: Network,
    redis: Redis,
    ledger: Ledger,
    /// Its way to Redis, whichever process takes it.
    wire: Wire,
    running: Arc<Mutex<Running>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Node,
    Gateway,
}

/// One process.
struct Running {
    /// Counts those of this machine.
    number: u64,
    /// What its main thread runs.
    main: Host,
    /// What its presence's thread runs.
    presence: Host,
    process: Process,
}

impl Machine {
    pub(crate) fn start(
        id: String,
        role: Role,
        network: &Network,
        redis: &Redis,
        ledger: &Ledger,
    ) -> Self {
        let running = Running::new(&id, 0);
        let machine = Self {
            id,
            role,
            network: network.clone(),
            redis: redis.clone(),
            ledger: ledger.clone(),
            wire: Wire::default(),
            running: Arc::new(Mutex::new(running)),
        };
        machine.boot_after(0);
        machine
    }

    /// Starts a process, unless one has followed that one already.
    fn boot_after(&self, before: u64) {
        let mut present = lock(&self.running);
        if present.number != before {
            return;
        }
        let running = Running::new(&self.id, before + 1);
        let (main, presence) = (running.main.clone(), running.presence.clone());
        let process = running.process.clone();
        *present = running;
        drop(present);
        self.ledger.boots(&self.id);
        let spawn = Arc::new(move |task| drop(tokio::spawn(presence.task(task))));
        let registry = self.redis.client(self.wire.clone(), spawn);
        let links = sockets(self.network.listen(&self.id));
        let machine = self.clone();
        let id = NodeId::new(self.id.clone()).expect("an id");
        let task = async move {
            match machine.role {
                Role::Node => run_node(id, registry, process, links).await,
                Role::Gateway => {
                    let network = machine.network.clone();
                    run_gateway(id, registry, process, network, links).await;
                }
            }
            // It has drained.
            machine.ledger.leaves(&machine.id);
            tokio::spawn(async move {
                sleep(RESTARTED_AFTER).await;
                machine.boot_after(before + 1);
            });
        };
        tokio::spawn(main.task(task));
    }

    /// Kills its process; what starts another.
    pub(crate) fn kill(&self) -> End {
        let running = lock(&self.running);
        running.main.kill();
        running.presence.kill();
        let number = running.number;
        drop(running);
        self.ledger.dies(&self.id);
        let machine = self.clone();
        Box::new(move || machine.boot_after(number))
    }

    /// Stops its process, or its main thread alone; what wakes it.
    pub(crate) fn stop(&self, whole: bool) -> End {
        let running = lock(&self.running);
        running.main.stop();
        if whole {
            running.presence.stop();
        }
        let (main, presence) = (running.main.clone(), running.presence.clone());
        self.ledger.stands_still(&self.id, true);
        self.ledger.is_in_trouble(&self.id, true);
        let machine = self.clone();
        Box::new(move || {
            main.wake();
            presence.wake();
            machine.ledger.stands_still(&machine.id, false);
            machine.ledger.is_in_trouble(&machine.id, false);
        })
    }

    /// Does something to its way to Redis, for which it may be relieved; what mends that.
    pub(crate) fn on_its_wire(&self, begin: impl FnOnce(&Wire), end: fn(&Wire)) -> End {
        begin(&self.wire);
        self.ledger.is_in_trouble(&self.id, true);
        let machine = self.clone();
        Box::new(move || {
            end(&machine.wire);
            machine.ledger.is_in_trouble(&machine.id, false);
        })
    }

    /// Its way to Redis, if what is done to it happens to everybody.
    pub(crate) fn wire(&self) -> Wire {
        self.wire.clone()
    }

    /// Tells its process to stop; another follows when it has left.
    pub(crate) fn drain(&self) {
        lock(&self.running).process.shutdown.begin();
    }
}

impl Running {
    fn new(name: &str, number: u64) -> Self {
        Self {
            number,
            main: Host::new(name),
            presence: Host::new(name),
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
    let name = id.to_string();
    let mut config = game_node::Config::new(id, name);
    config.pace.trick_pause = Duration::ZERO;
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
