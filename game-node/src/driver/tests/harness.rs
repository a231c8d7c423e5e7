//! Gateways in memory that keep what they are sent, around a driver in this task's runtime.

mod gateway;

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use chassis::environment::Limit;
use chassis::{Metrics, Process};
use protocol::ConnectionId;
use protocol::decide;
use protocol::link::Request;
use protocol::server::LoadLevel;
use registry::{
    Incarnation, Lifetimes, Membership, NodeId, Owner, Presence, PresenceConfig, Registry, Session,
};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::ai::{BreakerLimits, Bridge, BridgeLimits};
use crate::driver::{Alive, Driver, Finished, INBOX_MESSAGES, Inputs, Settings};
use crate::health::HealthCell;
use crate::link::{FromLink, outbox};
use crate::load::Load;
use crate::lobby::testing::{name, person};
use crate::lobby::{LinkId, Pace};
use crate::store::Store;

pub(super) use crate::lobby::testing::join;
pub(super) use gateway::Gateway;

pub(super) const CODE: &str = "TABLE2";
pub(super) const BORN: &str = "0123456789abcdef";
/// Longer than anything here takes; of a paused clock.
const CEILING: Duration = Duration::from_mins(20);

pub(super) fn registry() -> Registry {
    Registry::in_process(Lifetimes::default())
}

pub(super) fn settings() -> Settings {
    Settings {
        pace: Pace {
            ai_move_delay: Duration::ZERO,
            trick_pause: Duration::ZERO,
        },
        session_ttl: super::TTL,
        max_lobbies: Limit::NONE,
        max_active_games: Limit::NONE,
        drain_timeout: Duration::from_mins(1),
    }
}

pub(super) fn create(born: &str) -> Request {
    Request::Create {
        born: born.to_owned(),
        name: name("Host"),
        public: true,
    }
}

pub(super) fn connection(number: u8, generation: u64) -> ConnectionId {
    crate::lobby::testing::connection(number, generation).id
}

pub(super) fn token(number: u8) -> registry::TokenHash {
    person(number, 1).token.as_str().parse().unwrap()
}

/// The ends of a driver's inputs that a test holds.
struct Ends {
    process: Process,
    membership: Membership,
    inbox: mpsc::Sender<FromLink>,
    gate: watch::Sender<bool>,
    load: watch::Sender<Load>,
    registry_health: watch::Sender<registry::Health>,
}

fn assemble(registry: &Registry, settings: Settings) -> (Driver, Inputs, Ends) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let process = Process::start(listener, Metrics::default()).unwrap();
    let incarnation = Incarnation::new(uuid::Uuid::new_v4());
    let node = NodeId::new(format!("game-{}", incarnation.uuid())).unwrap();
    let own = Presence::new(
        node.clone(),
        crate::role(),
        incarnation,
        "127.0.0.1:1",
        "test",
    );
    let membership = registry.join(own, PresenceConfig::default()).unwrap();
    let (gate_keeper, gate) = watch::channel(true);
    let mut store = Store::new(registry.clone(), Owner { node, incarnation });
    store.gate = gate;
    let bridge = Bridge::new(BridgeLimits {
        timeout: Duration::from_secs(5),
        inflight: Limit::at_most(32),
        breaker: BreakerLimits {
            failures: 5,
            cooldown: Duration::from_secs(30),
        },
    });
    let (inbox, links) = mpsc::channel(INBOX_MESSAGES);
    let (ready, is_ready) = watch::channel(false);
    ready.send_replace(true);
    let (load_publisher, load) = watch::channel(Load::default());
    let inputs = Inputs {
        links,
        ready: is_ready,
        load,
        events: membership.events(),
        drain_requested: membership.drain_requested(),
        shutdown: process.shutdown.clone(),
    };
    let health = Arc::new(HealthCell::default());
    let readiness = process.readiness.clone();
    let alive = Alive {
        pulse: Arc::default(),
        supervised: process.supervisor.watch(),
    };
    let mut driver = Driver::new(
        settings,
        store,
        membership.clone(),
        readiness,
        health,
        bridge,
        alive,
    );
    let seen = driver.registry_health.borrow().clone();
    let (registry_health, health) = watch::channel(seen);
    driver.registry_health = health;
    let ends = Ends {
        process,
        membership,
        inbox,
        gate: gate_keeper,
        load: load_publisher,
        registry_health,
    };
    (driver, inputs, ends)
}

/// A driver that runs.
pub(super) struct World {
    pub(super) registry: Registry,
    pub(super) process: Process,
    pub(super) membership: Membership,
    pub(super) driving: JoinHandle<()>,
    inbox: mpsc::Sender<FromLink>,
    gate: watch::Sender<bool>,
    load: watch::Sender<Load>,
    registry_health: watch::Sender<registry::Health>,
}

impl World {
    pub(super) fn start() -> Self {
        Self::start_with(&registry(), settings())
    }

    pub(super) fn start_with(registry: &Registry, settings: Settings) -> Self {
        let (driver, inputs, ends) = assemble(registry, settings);
        let driving = tokio::spawn(async move { drop(driver.run(inputs).await) });
        Self {
            registry: registry.clone(),
            process: ends.process,
            membership: ends.membership,
            driving,
            inbox: ends.inbox,
            gate: ends.gate,
            load: ends.load,
            registry_health: ends.registry_health,
        }
    }

    /// Waits until the driver has come to its end.
    pub(super) async fn leaves(&mut self) {
        let left = tokio::time::timeout(CEILING, &mut self.driving).await;
        left.expect("it leaves").unwrap();
    }

    /// From now on commits go over another connection.
    pub(super) fn connects_anew(&self) {
        self.registry_health
            .send_modify(|health| health.commit_connection += 1);
    }

    /// Waits until the other node's readiness and acceptance are known here.
    pub(super) async fn sees_another_accept(&self) {
        let sees = || {
            let nodes = self.membership.servers_by_role(&crate::role());
            let is_other = |node: &registry::Presence| node.id != self.membership.own().id;
            nodes.iter().any(|node| {
                is_other(node) && node.state == registry::State::Ready && node.accepting_games
            })
        };
        // The presence thread has a clock of its own, which nobody pauses.
        for _ in 0..1000 {
            if sees() {
                // The next look around finds it too.
                return tokio::time::sleep(Duration::from_secs(2)).await;
            }
            std::thread::sleep(Duration::from_millis(10));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the other node is not seen");
    }

    /// From now on nothing can be saved.
    pub(super) fn shut(&self) {
        self.gate.send_replace(false);
    }

    pub(super) fn open(&self) {
        self.gate.send_replace(true);
    }

    /// As the monitor finds it from now on.
    pub(super) fn is_loaded(&self, level: LoadLevel) {
        self.load.send_modify(|load| load.level = level);
    }

    pub(super) fn gateway(&self, link: u64) -> Gateway {
        self.gateway_called(link, &format!("gateway-{link}"))
    }

    pub(super) fn gateway_called(&self, link: u64, name: &str) -> Gateway {
        Gateway::new(link, name, self.inbox.clone())
    }

    /// A gateway with a table whose picture says all that it will say by itself.
    pub(super) async fn settled_table(&self) -> Gateway {
        let mut gateway = self.gateway(1);
        gateway.creates(0).await;
        gateway
            .until(|gateway| gateway.lobby(0)["accepting_games"] == true)
            .await;
        gateway
    }

    pub(super) fn ai(&self, link: u64) -> Ai {
        let link = LinkId(link);
        let (outbox, queue) = outbox();
        let up = FromLink::AiUp {
            link,
            ai_node: "ai".to_owned(),
            outbox,
        };
        self.inbox.try_send(up).unwrap();
        Ai {
            link,
            inbox: self.inbox.clone(),
            queue,
        }
    }

    pub(super) async fn session(&self, number: u8) -> Option<Session> {
        self.registry
            .sessions_read(&[token(number)])
            .await
            .unwrap()
            .remove(0)
    }
}

/// An AI node's link.
pub(super) struct Ai {
    link: LinkId,
    inbox: mpsc::Sender<FromLink>,
    pub(super) queue: mpsc::Receiver<decide::ToAi>,
}

impl Ai {
    pub(super) fn says(&self, message: decide::ToNode) {
        self.inbox
            .try_send(FromLink::Ai {
                link: self.link,
                message,
            })
            .unwrap();
    }
}

impl Drop for Ai {
    fn drop(&mut self) {
        let _driver_gone = self.inbox.try_send(FromLink::AiDown { link: self.link });
    }
}

/// A driver that does what it is told, step by step.
pub(super) struct Manual {
    pub(super) driver: Driver,
    pub(super) registry: Registry,
    inputs: Inputs,
    ends: Ends,
}

impl Manual {
    pub(super) fn new() -> Self {
        let registry = registry();
        let (driver, inputs, ends) = assemble(&registry, settings());
        Self {
            driver,
            registry,
            inputs,
            ends,
        }
    }

    pub(super) fn gateway(&self, link: u64) -> Gateway {
        Gateway::new(link, "gateway", self.ends.inbox.clone())
    }

    /// From now on commits go over another connection.
    pub(super) fn connects_anew(&mut self) {
        self.ends
            .registry_health
            .send_modify(|health| health.commit_connection += 1);
        self.driver.look_at_the_clock();
    }

    /// Takes in what has come, and commits nothing.
    pub(super) fn takes_in(&mut self) {
        while let Ok(message) = self.inputs.links.try_recv() {
            self.driver.hear(message);
        }
    }

    pub(super) async fn hears(&mut self, gateway: &mut Gateway, number: u8, request: Request) {
        gateway.asks(number, request);
        self.takes_in();
        self.pump(gateway).await;
    }

    /// Commits and lets out until nothing is under way.
    pub(super) async fn pump(&mut self, gateway: &mut Gateway) {
        use futures_util::StreamExt as _;
        loop {
            self.driver.flush();
            let Some(finished): Option<Finished> = self.driver.under_way.next().await else {
                break;
            };
            self.driver.finished(finished);
        }
        while let Ok(message) = gateway.queue.try_recv() {
            gateway.keep(message);
        }
    }
}
