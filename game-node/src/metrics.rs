//! What a game node records, by OpenTelemetry's names.

use std::time::Duration;

use chassis::metrics::{COUNT, SECONDS};
use opentelemetry::metrics::{Histogram, UpDownCounter};
use opentelemetry::{KeyValue, global};
use protocol::lobby::AiLevel;

use crate::ai::Outcome;

/// The instruments of one node.
pub(crate) struct Metrics {
    command: Histogram<f64>,
    decision: Histogram<f64>,
    takeover: Histogram<f64>,
    handover: Histogram<f64>,
    commit: Histogram<f64>,
    batch: Histogram<u64>,
    lobbies: UpDownCounter<i64>,
    people: UpDownCounter<i64>,
    links: UpDownCounter<i64>,
    accepting: UpDownCounter<i64>,
    suspended: UpDownCounter<i64>,
    uncommitted: UpDownCounter<i64>,
    /// What was told last.
    population: Population,
}

/// How many there are of what, in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Population {
    /// Lobbies.
    pub(crate) waiting: i64,
    pub(crate) playing: i64,
    pub(crate) finished: i64,
    /// People at the tables who are here, and who are not.
    pub(crate) connected: i64,
    pub(crate) away: i64,
    /// Links that are up.
    pub(crate) gateways: i64,
    pub(crate) ai_nodes: i64,
    pub(crate) accepting_games: bool,
    /// Nothing new is shown.
    pub(crate) suspended: bool,
    /// Lobbies that go on unsaved.
    pub(crate) uncommitted: i64,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let meter = global::meter("game");
        let seconds = |name, description| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(description)
                .with_boundaries(SECONDS.to_vec())
                .build()
        };
        let number = |name, unit, description| {
            meter
                .i64_up_down_counter(name)
                .with_unit(unit)
                .with_description(description)
                .build()
        };
        Self {
            command: seconds(
                "game.command.duration",
                "From a player's wish to its answer",
            ),
            takeover: seconds(
                "game.takeover.duration",
                "From a gateway's request to the lobby's being here",
            ),
            handover: seconds(
                "game.handover.duration",
                "From a lobby's last word here until others may take it",
            ),
            decision: seconds("game.decision.duration", "From a question to its decision"),
            commit: seconds(
                "game.commit.duration",
                "From a batch of changed lobbies until it is saved",
            ),
            batch: meter
                .u64_histogram("game.commit.size")
                .with_unit("{lobby}")
                .with_description("Lobbies that are saved at once")
                .with_boundaries(COUNT.to_vec())
                .build(),
            lobbies: number("game.lobby.count", "{lobby}", "Lobbies that this node owns"),
            people: number(
                "game.player.count",
                "{player}",
                "People at this node's tables",
            ),
            links: number(
                "game.link.count",
                "{link}",
                "Links that are up, by who has dialled",
            ),
            accepting: number(
                "game.node.accepting",
                "{node}",
                "1 while this node takes new games",
            ),
            suspended: number(
                "game.node.suspended",
                "{node}",
                "1 while this node shows nothing new because it can't save",
            ),
            uncommitted: number(
                "game.lobby.uncommitted",
                "{lobby}",
                "Lobbies that go on without being saved",
            ),
            population: Population::default(),
        }
    }

    /// A player's wish was answered, with the code of its error if it was refused.
    pub(crate) fn answered(&self, name: &'static str, took: Duration, error: Option<&'static str>) {
        let mut attributes = vec![KeyValue::new("game.command.name", name)];
        attributes.extend(error.map(|code| KeyValue::new("error.type", code)));
        self.command.record(took.as_secs_f64(), &attributes);
    }

    /// An AI seat's move was decided, by an AI or else at random.
    pub(crate) fn decided(&self, took: Duration, level: AiLevel, outcome: Outcome) {
        let attributes = [
            KeyValue::new("ai.level", level.as_str()),
            KeyValue::new("game.decision.outcome", outcome.as_str()),
        ];
        self.decision.record(took.as_secs_f64(), &attributes);
    }

    /// So many lobbies were saved at once.
    pub(crate) fn committed(&self, took: Duration, lobbies: usize) {
        self.commit.record(took.as_secs_f64(), &[]);
        self.batch.record(lobbies as u64, &[]);
    }

    /// How many there are now. Changes are added up, so that several nodes of one process are shown as
    /// their sum.
    pub(crate) fn count(&mut self, now: Population) {
        let before = std::mem::replace(&mut self.population, now);
        let lobbies = |status, before: i64, now: i64| {
            let status = KeyValue::new("game.lobby.status", status);
            self.lobbies.add(now - before, &[status]);
        };
        lobbies("waiting", before.waiting, now.waiting);
        lobbies("playing", before.playing, now.playing);
        lobbies("finished", before.finished, now.finished);
        let people = |is_here, before: i64, now: i64| {
            let is_here = KeyValue::new("game.player.connected", is_here);
            self.people.add(now - before, &[is_here]);
        };
        people(true, before.connected, now.connected);
        people(false, before.away, now.away);
        let links = |peer, before: i64, now: i64| {
            let peer = KeyValue::new("game.link.peer", peer);
            self.links.add(now - before, &[peer]);
        };
        links("gateway", before.gateways, now.gateways);
        links("ai", before.ai_nodes, now.ai_nodes);
        let accepting = i64::from(now.accepting_games) - i64::from(before.accepting_games);
        self.accepting.add(accepting, &[]);
        let suspended = i64::from(now.suspended) - i64::from(before.suspended);
        self.suspended.add(suspended, &[]);
        self.uncommitted
            .add(now.uncommitted - before.uncommitted, &[]);
    }

    /// A lobby was released for others to take.
    pub(crate) fn handed_over(&self, took: Duration, why: &'static str) {
        let reason = KeyValue::new("game.handover.reason", why);
        self.handover.record(took.as_secs_f64(), &[reason]);
    }

    /// A lobby was taken over.
    pub(crate) fn taken_over(&self, took: Duration, why: &'static str) {
        let reason = KeyValue::new("game.takeover.reason", why);
        self.takeover.record(took.as_secs_f64(), &[reason]);
    }
}
