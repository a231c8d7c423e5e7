//! The loop around the lobbies: takes what comes, steps the lobby that it is for, commits what has
//! changed, and only then lets the effects out.
//!
//! It decides nothing about a table. One thread: no lobby is ever touched from another, and nothing
//! here waits for the registry; what is under way there comes back as a message of its own.
//!
//! Invariants: nothing that is not committed is ever shown or answered; of one lobby, answers,
//! partings and pictures leave in the order of its steps.

mod admission;
mod asks;
mod batch;
mod claims;
mod creation;
mod doubts;
mod faults;
mod gateways;
mod handover;
mod moves;
mod probe;
mod questions;
mod spans;
mod suspension;
mod table;
#[cfg(test)]
mod tests;
mod upkeep;

use std::collections::{BTreeSet, HashMap};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use chassis::trace::{self, TraceContext};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use protocol::LobbyCode;
use registry::{Events, Membership, State};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::time::DelayQueue;
use tracing::{error, info};

use self::admission::Standing;
use self::batch::Batch;
use self::claims::Claims;
use self::creation::Creations;
use self::gateways::Gateways;
use self::handover::Handovers;
pub(crate) use self::moves::Moves;
pub(crate) use self::spans::on_link;
use self::table::{Outgoing, Table};
use self::upkeep::Rounds;
use crate::ai::{Bridge, Decided, Matter};
use crate::chance;
use crate::custody::Custody;
use crate::health::HealthCell;
use crate::link::FromLink;
use crate::load::Load;
use crate::lobby::{Census, Input, LinkId, Pace, Refusal, Surroundings};
use crate::metrics::Metrics;
use crate::store::Store;

/// Messages that wait for the lobbies; a link that has more to say waits in its socket.
pub(crate) const INBOX_MESSAGES: usize = 1024;
/// Messages that are taken before what has changed is committed.
const TAKEN_AT_ONCE: usize = 256;
/// Between two looks at everything that is not driven by a message.
const TICK: Duration = Duration::from_secs(1);

/// What the driver is told at its start.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) pace: Pace,
    pub(crate) session_ttl: Duration,
    pub(crate) max_lobbies: chassis::environment::Limit,
    pub(crate) max_active_games: chassis::environment::Limit,
    pub(crate) drain_timeout: Duration,
}

/// What comes in from outside.
pub(crate) struct Inputs {
    pub(crate) links: mpsc::Receiver<FromLink>,
    /// Told once the start's self-check is done.
    pub(crate) ready: tokio::sync::watch::Receiver<bool>,
    /// What is measured of this thread.
    pub(crate) load: tokio::sync::watch::Receiver<Load>,
    /// Who comes and goes.
    pub(crate) events: Events,
    /// Turns true when operators ask this node to leave.
    pub(crate) drain_requested: tokio::sync::watch::Receiver<bool>,
    pub(crate) shutdown: chassis::Shutdown,
}

/// Whether this node wants more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Starting,
    Ready,
    Draining { since: Instant },
}

/// What has been under way at the registry.
enum Finished {
    Batch(crate::store::Tried),
    Created(
        Box<creation::Creation>,
        Result<registry::Created, registry::RegistryError>,
    ),
    Claimed(
        LobbyCode,
        Instant,
        Result<registry::Claimed, registry::RegistryError>,
    ),
    Released(LobbyCode, registry::Epoch, Instant, registry::Released),
    Touched(Instant, Vec<(LobbyCode, u64, Option<registry::Touched>)>),
    Sessions(Vec<upkeep::Found>),
    Probed {
        link: LinkId,
        request: u64,
        failure: Option<String>,
    },
    /// Nobody waits for it.
    Nothing,
}

/// Shown by the lobby thread itself, once a second, that it runs.
pub(crate) struct Alive {
    /// For the registry, which else says `stalled`.
    pub(crate) pulse: Arc<AtomicU64>,
    /// For systemd, which else starts the process anew.
    pub(crate) supervised: chassis::Pulse,
}

impl Alive {
    fn beat(&self) {
        self.pulse.fetch_add(1, Ordering::Relaxed);
        self.supervised.beat();
    }
}

/// All lobbies of this node and everything that reaches them.
pub(crate) struct Driver {
    settings: Settings,
    store: Store,
    membership: Membership,
    readiness: chassis::Readiness,
    health: Arc<HealthCell>,
    metrics: Metrics,
    load: Load,
    phase: Phase,
    tables: HashMap<LobbyCode, Table>,
    creations: Creations,
    claims: Claims,
    handovers: Handovers,
    handed_over: Moves,
    taken_over: Moves,
    /// Sum over all tables.
    census: Census,
    surroundings: Surroundings,
    /// Another node is there that wants new games.
    others_accept_games: bool,
    standing: Standing,
    gateways: Gateways,
    bridge: Bridge,
    timers: DelayQueue<LobbyCode>,
    /// Lobbies that are to be written, or whose answers wait.
    dirty: BTreeSet<LobbyCode>,
    /// What is being written.
    batch: Option<Batch>,
    /// Where the next batch begins, should not all that is dirty fit into one.
    next_in_batch: Option<LobbyCode>,
    custody: Custody,
    /// Some lobby may be another's by now.
    doubting: bool,
    /// When this loop last went on after it had not run for a while.
    last_gap: Option<Instant>,
    registry_health: tokio::sync::watch::Receiver<registry::Health>,
    /// The connection by which commits go, by its number.
    connection: u64,
    run_id: Option<String>,
    /// Counts the registry's runs.
    run: u64,
    under_way: FuturesUnordered<BoxFuture<'static, Finished>>,
    rounds: Rounds,
    probes_under_way: usize,
    alive: Alive,
}

impl Driver {
    pub(crate) fn new(
        settings: Settings,
        store: Store,
        membership: Membership,
        readiness: chassis::Readiness,
        health: Arc<HealthCell>,
        bridge: Bridge,
        alive: Alive,
    ) -> Self {
        let registry_health = store.health();
        let health_now = registry_health.borrow().clone();
        Self {
            rounds: Rounds::new(settings.session_ttl),
            settings,
            store,
            membership,
            readiness,
            health,
            metrics: Metrics::new(),
            load: Load::default(),
            phase: Phase::Starting,
            tables: HashMap::new(),
            creations: Creations::default(),
            claims: Claims::default(),
            handovers: Handovers::default(),
            handed_over: Moves::default(),
            taken_over: Moves::default(),
            census: Census::default(),
            surroundings: Surroundings::default(),
            others_accept_games: false,
            standing: Standing::default(),
            gateways: Gateways::default(),
            bridge,
            timers: DelayQueue::new(),
            dirty: BTreeSet::new(),
            batch: None,
            next_in_batch: None,
            custody: Custody::new(now()),
            doubting: false,
            last_gap: None,
            connection: health_now.commit_connection,
            run_id: health_now.run_id,
            registry_health,
            run: 0,
            under_way: FuturesUnordered::new(),
            probes_under_way: 0,
            alive,
        }
    }

    /// Until this node is told to stop and has said everything that it had to.
    ///
    /// Gives back the inbox: it is closed once the last link has written what it still had to.
    pub(crate) async fn run(mut self, mut inputs: Inputs) -> mpsc::Receiver<FromLink> {
        let mut taken = Vec::with_capacity(TAKEN_AT_ONCE);
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let shutdown = inputs.shutdown.clone();
        let mut stop = pin!(shutdown.begun());
        // A forced level is there from the start on.
        inputs.load.mark_changed();
        while !self.is_done() {
            let timeout = self.bridge.next_timeout();
            let custody = self.custody.next_wake().filter(|at| *at > now());
            tokio::select! {
                count = inputs.links.recv_many(&mut taken, TAKEN_AT_ONCE) => {
                    assert!(count > 0, "the listener lives as long as the driver");
                    for message in taken.drain(..) {
                        self.hear(message);
                    }
                }
                Some(due) = self.timers.next(), if !self.timers.is_empty() => {
                    self.due(due.into_inner());
                }
                () = sleep_until(timeout), if timeout.is_some() => {
                    let decided = self.bridge.expire(now());
                    self.decided(decided);
                }
                // What follows is looked at below.
                () = sleep_until(custody), if custody.is_some() => {}
                Some(finished) = self.under_way.next(), if !self.under_way.is_empty() => {
                    self.finished(finished);
                }
                _ = ticks.tick() => self.tick(),
                Ok(()) = inputs.load.changed() => {
                    let load = *inputs.load.borrow_and_update();
                    self.measured(load);
                }
                Some(_) = inputs.events.next() => self.look_around(),
                Ok(()) = inputs.ready.changed(), if self.phase == Phase::Starting => {
                    self.become_ready();
                }
                Ok(()) = inputs.drain_requested.changed(), if !self.is_draining() => {
                    self.begin_drain();
                }
                () = &mut stop, if !self.is_draining() => self.begin_drain(),
            }
            self.look_at_the_clock();
            self.keep_custody();
            self.keep_trying();
            self.flush();
            self.hand_over();
        }
        // Said with the goodbye: the last ones left since the last heartbeat.
        self.tell_presence();
        let lobbies = self.tables.len();
        info!(lobbies, "drained");
        inputs.links
    }

    fn hear(&mut self, message: FromLink) {
        self.look_at_the_clock();
        match message {
            FromLink::GatewayUp {
                link,
                gateway,
                incarnation,
                outbox,
            } => {
                self.gateway_up(link, gateway, incarnation, outbox);
            }
            FromLink::Gateway {
                link,
                message,
                span,
            } => self.gateway_says(link, message, span),
            FromLink::GatewayDown { link } => self.gateway_down(link),
            FromLink::AiUp {
                link,
                ai_node,
                outbox,
            } => {
                self.bridge.link_up(link, ai_node, outbox);
                self.look_around();
            }
            FromLink::Ai { link, message } => {
                let started = now();
                let decided = self.bridge.hear(started, link, &message);
                self.decided(decided);
            }
            FromLink::AiDown { link } => {
                let decided = self.bridge.link_down(now(), link);
                self.decided(decided);
                self.look_around();
            }
        }
    }

    fn finished(&mut self, finished: Finished) {
        self.look_at_the_clock();
        match finished {
            Finished::Batch(tried) => self.committed(tried),
            Finished::Created(creation, created) => self.created(*creation, created),
            Finished::Claimed(code, begun, claimed) => self.claimed(code, begun, claimed),
            Finished::Released(code, epoch, begun, released) => {
                self.released(code, epoch, begun, released);
            }
            Finished::Touched(asked, touched) => self.touched(asked, touched),
            Finished::Sessions(found) => self.sessions_found(found),
            Finished::Probed {
                link,
                request,
                failure,
            } => self.probed(link, request, failure),
            Finished::Nothing => {}
        }
    }

    /// Steps a lobby with an input that nobody waits for; a refusal can't be.
    fn step(&mut self, code: LobbyCode, input: Input) {
        if let Some(table) = self.tables.get_mut(&code)
            && table.giving.is_frozen()
        {
            // Done should the lobby stay.
            return table.postpone(input);
        }
        if let Some(Err(refusal)) = self.try_step(code, input, None) {
            error!(%code, %refusal, "a lobby refused what was no wish");
        }
    }

    /// Steps a lobby and takes its effects in; none if it is not here, or has just broken.
    fn try_step(
        &mut self,
        code: LobbyCode,
        input: Input,
        asked: Option<&asks::Asked>,
    ) -> Option<Result<(), Refusal>> {
        let table = self.tables.get_mut(&code)?;
        let (at, began, seq) = (now(), trace::moment(), table.lobby.seq());
        let seat = began.and_then(|_| table.seat_of(&input, asked));
        let decision = std::mem::take(&mut table.decision);
        let stepped = self.at_table(code, asked, |table| table.lobby.step(at, input))?;
        let (table, node) = (self.tables.get_mut(&code)?, &self.store.owner().node);
        let step = |refused| spans::Step {
            began,
            node,
            code,
            asked,
            seat,
            decision,
            refused,
        };
        let result = match stepped {
            Ok(effects) => {
                let place = if table.lobby.seq() > seq {
                    step(None).end()
                } else {
                    table.decision = decision;
                    TraceContext::NONE
                };
                table.take_in(effects, asked, place);
                Ok(())
            }
            Err(refusal) => {
                step(Some(&refusal)).end();
                table.decision = decision;
                Err(refusal)
            }
        };
        self.after_step(code);
        Some(result)
    }

    /// Everything that may have changed by a step beside the lobby itself.
    fn after_step(&mut self, code: LobbyCode) {
        let Some(table) = self.tables.get_mut(&code) else {
            return;
        };
        if table.wants_writing() || !table.outgoing.is_empty() {
            self.dirty.insert(code);
        }
        table.set_timer(code, &mut self.timers);
        let before = std::mem::replace(&mut table.census, table.lobby.census());
        self.census.change(before, table.census);
        self.update_standing();
    }

    fn due(&mut self, code: LobbyCode) {
        if let Some(table) = self.tables.get_mut(&code) {
            table.timer = None;
            self.step(code, Input::Wake(chance::draw()));
        }
    }

    /// Asks an AI for a move of a lobby that has been committed.
    fn ask_ai(&mut self, matter: Matter, cause: TraceContext) {
        // The turn may have passed meanwhile: then nobody needs a decision.
        let (game, turn) = (matter.game, matter.turn);
        let question = self.at_table(matter.code, None, |table| table.lobby.question(game, turn));
        if let Some(question) = question.flatten() {
            let span = spans::question(cause, &self.store.owner().node, &matter, &question);
            let request = uuid::Uuid::new_v4();
            let decided = self.bridge.ask(now(), request, matter, question, span);
            self.decided(decided);
        }
    }

    fn decided(&mut self, decided: impl IntoIterator<Item = Decided>) {
        for one in decided {
            self.metrics.decided(one.took, one.level, one.outcome);
            let Matter { code, game, turn } = one.verdict.matter;
            let action = one.verdict.action;
            if let Some(table) = self.tables.get_mut(&code) {
                table.decision = one.trace;
            }
            self.step(
                code,
                Input::Decision {
                    game,
                    turn,
                    action,
                    chance: chance::draw(),
                },
            );
        }
    }

    fn for_each_table(&mut self, mut step: impl FnMut(&mut Self, LobbyCode)) {
        let codes: Vec<LobbyCode> = self.tables.keys().copied().collect();
        for code in codes {
            step(self, code);
        }
    }

    fn become_ready(&mut self) {
        self.phase = Phase::Ready;
        self.update_standing();
        self.look_around();
    }

    fn begin_drain(&mut self) {
        self.phase = Phase::Draining { since: now() };
        info!(lobbies = self.tables.len(), "draining");
        self.readiness.drain("draining");
        self.membership.update(|own| own.state = State::Draining);
        self.update_standing();
    }

    fn is_draining(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. })
    }

    /// Draining, with nothing left to do here.
    fn is_done(&self) -> bool {
        let Phase::Draining { since } = self.phase else {
            return false;
        };
        if now().saturating_duration_since(since) >= self.settings.drain_timeout {
            return true;
        }
        let is_saved = self.batch.is_none()
            && self.dirty.is_empty()
            && self.creations.is_empty()
            // What the registry gives is this node's, and has to be given up too.
            && self.claims.are_done()
            && self.handovers.are_done();
        is_saved && (self.tables.is_empty() || !self.is_relieved_by_another())
    }

    /// Whether another game node is there that takes lobbies over.
    fn is_relieved_by_another(&self) -> bool {
        let own = self.membership.own().id;
        let servers = self.membership.servers_by_role(&crate::role());
        servers
            .iter()
            .any(|node| node.id != own && node.state == State::Ready && node.suspended == 0)
    }

    fn drop_table(&mut self, code: LobbyCode) {
        if let Some(table) = self.tables.remove(&code) {
            if let Some(timer) = &table.timer {
                self.timers.try_remove(&timer.key);
            }
            self.census.change(table.census, Census::default());
            self.dirty.remove(&code);
            self.update_standing();
        }
    }
}

/// The clock of this runtime, which a test can pause.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

async fn sleep_until(at: Option<Instant>) {
    if let Some(at) = at {
        tokio::time::sleep_until(at.into()).await;
    }
}
