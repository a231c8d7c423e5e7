//! Gateways in memory that keep what they are sent, around a driver in this task's runtime.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use chassis::environment::Limit;
use chassis::{Metrics, Process};
use protocol::decide;
use protocol::link::{
    Ask, Claim, Claimed, Handed, Known, Outcome, Parting, Question, Receiver, Request, Show, Sight,
    ToGateway, ToNode,
};
use protocol::parts::{WaitingEvents, full_state};
use protocol::server::LoadLevel;
use protocol::{ConnectionId, LobbyCode};
use registry::{
    Incarnation, Lifetimes, Membership, NodeId, Owner, Presence, PresenceConfig, Record, Registry,
    Session,
};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::ai::{BreakerLimits, Bridge, BridgeLimits};
use crate::driver::{Alive, Driver, Finished, INBOX_MESSAGES, Inputs, Settings};
use crate::health::HealthCell;
use crate::link::{FromLink, outbox};
use crate::load::Load;
use crate::lobby::testing::{name, person};
use crate::lobby::{LinkId, Pace};
use crate::store::Store;

pub(super) use crate::lobby::testing::join;

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
    let driver = Driver::new(
        settings,
        store,
        membership.clone(),
        readiness,
        health,
        bridge,
        alive,
    );
    let ends = Ends {
        process,
        membership,
        inbox,
        gate: gate_keeper,
        load: load_publisher,
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
        }
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
        self.gateway_called(link, "gateway")
    }

    pub(super) fn gateway_called(&self, link: u64, name: &str) -> Gateway {
        Gateway::new(link, name, self.inbox.clone())
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

/// A gateway's link; its players are people by number, each with one connection a generation.
pub(super) struct Gateway {
    link: LinkId,
    inbox: mpsc::Sender<FromLink>,
    queue: mpsc::Receiver<ToGateway>,
    asked: u64,
    pub(super) code: LobbyCode,
    pub(super) generation: u64,
    pub(super) answers: Vec<(u64, Outcome)>,
    pub(super) partings: Vec<(ConnectionId, Parting)>,
    pub(super) probed: Vec<(u64, Option<String>)>,
    pub(super) claimed: Vec<(u64, Claimed)>,
    pub(super) known: Vec<(u64, Option<Known>)>,
    pub(super) handed: Vec<(LobbyCode, Handed)>,
    pub(super) commits_again: bool,
    pub(super) level: Option<LoadLevel>,
    pub(super) accepting: Option<bool>,
    states: BTreeMap<ConnectionId, Vec<Value>>,
}

impl Gateway {
    fn new(link: u64, name: &str, inbox: mpsc::Sender<FromLink>) -> Self {
        let link = LinkId(link);
        let (outbox, queue) = outbox();
        let up = FromLink::GatewayUp {
            link,
            gateway: name.to_owned(),
            outbox,
        };
        inbox.try_send(up).unwrap();
        Self {
            link,
            inbox,
            queue,
            asked: 0,
            code: CODE.parse().unwrap(),
            generation: 1,
            answers: Vec::new(),
            partings: Vec::new(),
            probed: Vec::new(),
            claimed: Vec::new(),
            known: Vec::new(),
            handed: Vec::new(),
            commits_again: false,
            level: None,
            accepting: None,
            states: BTreeMap::new(),
        }
    }

    fn says(&self, message: ToNode) {
        self.inbox
            .try_send(FromLink::gateway(self.link, message))
            .unwrap();
    }

    /// Asks, and gives back the number.
    pub(super) fn asks(&mut self, number: u8, request: Request) -> u64 {
        self.asked += 1;
        self.repeats(number, self.asked, request);
        self.asked
    }

    /// The number of the last wish.
    pub(super) fn last_asked(&self) -> u64 {
        self.asked
    }

    /// The next wish is numbered above this.
    pub(super) fn goes_on_from(&mut self, number: u64) {
        self.asked = number;
    }

    pub(super) fn repeats(&self, number: u8, ask: u64, request: Request) {
        self.says(ToNode::Ask(Ask {
            person: person(number, self.generation),
            connection: connection(number, self.generation),
            number: ask,
            code: self.code,
            request,
            trace: None,
        }));
    }

    pub(super) fn detaches(&self, number: u8, generation: u64) {
        let connection = connection(number, generation);
        self.says(ToNode::Detach {
            code: self.code,
            connection,
        });
    }

    pub(super) fn pings(&self, registry: Sight) {
        self.says(ToNode::Ping { nonce: 0, registry });
    }

    pub(super) fn probes(&self, request: u64) {
        self.says(ToNode::Probe { request });
    }

    /// Wants the lobby owned by this node, as the registry knows it.
    pub(super) async fn claims(&mut self, registry: &Registry) -> Claimed {
        let record = registry.owner(self.code.as_str()).await.unwrap().unwrap();
        self.claims_as(&record).await
    }

    pub(super) async fn claims_as(&mut self, record: &Record) -> Claimed {
        let request = self.sends_claim(record);
        self.claim_answered(request).await
    }

    pub(super) fn sends_claim(&mut self, record: &Record) -> u64 {
        self.asked += 1;
        let claim = Claim {
            code: self.code,
            born: record.born.to_string(),
            epoch: record.epoch.0,
            seq: record.seq.0,
            handed: self.handed.last().map(|(_, handed)| handed.clone()),
            void_after_ms: u64::MAX,
        };
        self.says(ToNode::Claim {
            request: self.asked,
            claim,
        });
        self.asked
    }

    pub(super) async fn claim_answered(&mut self, request: u64) -> Claimed {
        let is_it = move |(number, _): &&(u64, Claimed)| *number == request;
        self.until(|gateway| gateway.claimed.iter().any(|claimed| is_it(&claimed)))
            .await;
        self.claimed.iter().find(is_it).unwrap().1.clone()
    }

    pub(super) async fn knows(&mut self, question: Question) -> Option<Known> {
        self.asked += 1;
        let request = self.asked;
        self.says(ToNode::Question { request, question });
        let is_it = move |(number, _): &&(u64, Option<Known>)| *number == request;
        self.until(|gateway| gateway.known.iter().any(|known| is_it(&known)))
            .await;
        self.known.iter().find(is_it).unwrap().1.clone()
    }

    pub(super) async fn outcome(&mut self, number: u8, request: Request) -> Outcome {
        let asked = self.asks(number, request);
        self.answered(asked).await
    }

    /// Asks for what is granted, and waits until it is shown.
    pub(super) async fn done(&mut self, number: u8, request: Request) {
        let connection = connection(number, self.generation);
        let shown = self.states.get(&connection).map_or(0, Vec::len);
        let expects_a_picture = !matches!(request, Request::Leave);
        let outcome = self.outcome(number, request).await;
        assert!(
            matches!(outcome, Outcome::Done | Outcome::Attached { .. }),
            "{outcome:?}"
        );
        let is_shown = move |gateway: &Self| {
            gateway
                .states
                .get(&connection)
                .is_some_and(|states| states.len() > shown)
        };
        self.until(|gateway| !expects_a_picture || is_shown(gateway))
            .await;
    }

    pub(super) async fn creates(&mut self, number: u8) {
        self.done(number, create(BORN)).await;
    }

    pub(super) async fn answered(&mut self, ask: u64) -> Outcome {
        self.until(|gateway| gateway.answers.iter().any(|(number, _)| *number == ask))
            .await;
        self.answers
            .iter()
            .find(|(number, _)| *number == ask)
            .unwrap()
            .1
            .clone()
    }

    /// Hears on until it is so.
    pub(super) async fn until(&mut self, is_so: impl Fn(&Self) -> bool) {
        let hearing = async {
            while !is_so(self) {
                self.next().await;
            }
        };
        timeout(CEILING, hearing).await.expect("it comes to that");
    }

    pub(super) async fn next(&mut self) {
        let message = timeout(CEILING, self.queue.recv())
            .await
            .expect("something is sent");
        self.keep(message.expect("the link is up"));
    }

    pub(super) async fn hears_nothing_for(&mut self, time: Duration) {
        let heard = timeout(time, async {
            loop {
                match self.queue.recv().await {
                    // Not of a lobby.
                    Some(
                        ToGateway::Hello { .. } | ToGateway::Status { .. } | ToGateway::Pong { .. },
                    ) => {}
                    other => return other,
                }
            }
        });
        assert!(heard.await.is_err(), "nothing may be sent");
    }

    fn keep(&mut self, message: ToGateway) {
        match message {
            ToGateway::Answer {
                number, outcome, ..
            } => self.answers.push((number, outcome)),
            ToGateway::Show(show) => self.keep_show(&show),
            ToGateway::Parted {
                connection, reason, ..
            } => self.partings.push((connection, reason)),
            ToGateway::Probed { request, failure } => self.probed.push((request, failure)),
            ToGateway::Claimed { request, outcome } => self.claimed.push((request, outcome)),
            ToGateway::Knows { request, known } => self.known.push((request, known)),
            ToGateway::Status {
                level,
                accepting_games,
            } => {
                (self.level, self.accepting) = (Some(level), Some(accepting_games));
            }
            ToGateway::Hello { .. } | ToGateway::Pong { .. } | ToGateway::Inspected { .. } => {}
            ToGateway::HandsOver { lobbies } => self.handed.extend(lobbies),
            ToGateway::CommitsAgain => self.commits_again = true,
        }
    }

    fn keep_show(&mut self, show: &Show) {
        let mut events = WaitingEvents::default();
        events.append(&show.events);
        for Receiver { connection, own } in &show.to {
            let own = own.map(|place| &show.own[place as usize]);
            let state = full_state(&show.shared, own, &events);
            let states = self.states.entry(*connection).or_default();
            states.push(serde_json::from_slice(&state).unwrap());
        }
    }

    /// All states that a player was sent.
    pub(super) fn seen(&self, number: u8) -> &[Value] {
        let states = self.states.get(&connection(number, self.generation));
        states.map_or(&[], Vec::as_slice)
    }

    /// The newest of them, null before the first.
    pub(super) fn state(&self, number: u8) -> &Value {
        self.seen(number).last().unwrap_or(&Value::Null)
    }

    pub(super) fn lobby(&self, number: u8) -> &Value {
        &self.state(number)["lobby"]
    }

    pub(super) fn game(&self, number: u8) -> &Value {
        &self.state(number)["game"]
    }

    /// Whether this player, whose seat has the same number, is to move.
    pub(super) fn is_to_act(&self, number: u8) -> bool {
        self.game(number)["observation"]["to_act"] == number
    }

    /// The first of the moves that this player may make.
    pub(super) fn legal_act(&self, number: u8) -> Request {
        let action = self.game(number)["observation"]["legal_actions"][0].clone();
        Request::Act {
            action: serde_json::from_value(action).unwrap(),
            turn: None,
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _driver_gone = self
            .inbox
            .try_send(FromLink::GatewayDown { link: self.link });
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
