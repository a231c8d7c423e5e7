//! What has happened to the processes, for everybody who follows it.
//!
//! One task writes it, on the gateway's runtime; watchers get what is there and then each change,
//! as one step, so that none is missed or seen twice. This gateway is one of the processes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use registry::{Event, LeftReason, NodeId, Presence};
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::time::{MissedTickBehavior, interval};

use super::nodes::Node;
use super::trails::{SAMPLE_EVERY, Trails};
use crate::gateway::Gateway;

/// Between two looks at heartbeats, and two signs of life to the watchers.
const TICK: Duration = Duration::from_secs(1);

/// Changes that a watcher may be behind; beyond these its stream ends, and it begins anew.
const FRAMES_KEPT: usize = 1024;

/// Joins and leaves that are remembered: a whole fleet's restart.
const MAX_HISTORY: usize = 256;

/// One server-sent event.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) name: &'static str,
    pub(super) data: Arc<str>,
}

impl Frame {
    fn new(name: &'static str, data: &Value) -> Self {
        Self {
            name,
            data: data.to_string().into(),
        }
    }
}

/// The newest picture and its readers.
#[derive(Default)]
pub(super) struct Board(Mutex<State>);

struct State {
    nodes: BTreeMap<NodeId, Node>,
    /// Those of them whose heartbeat has lapsed, and whose link lives: it is their way to the
    /// registry that is broken. They are there for as long as the link is.
    lapsed: BTreeSet<NodeId>,
    history: VecDeque<Value>,
    trails: Trails,
    beats: Value,
    frames: broadcast::Sender<Frame>,
    ended: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            nodes: BTreeMap::new(),
            lapsed: BTreeSet::new(),
            history: VecDeque::new(),
            trails: Trails::default(),
            beats: Value::Null,
            frames: broadcast::channel(FRAMES_KEPT).0,
            ended: false,
        }
    }
}

impl Board {
    /// The present picture and everything from now on; none if `most` follow it already, or the
    /// gateway is ending.
    pub(super) fn watch(
        &self,
        most: usize,
    ) -> Option<(VecDeque<Frame>, broadcast::Receiver<Frame>)> {
        let state = self.lock();
        if state.ended || state.frames.receiver_count() >= most {
            return None;
        }
        let nodes: Value = state.nodes.values().map(Node::to_json).collect();
        let history: Value = state.history.iter().cloned().collect();
        let opening = [
            Frame::new("snapshot", &nodes),
            Frame::new("history", &history),
            Frame::new("trails", &state.trails.to_json()),
            Frame::new("beats", &state.beats),
        ];
        Some((opening.into(), state.frames.subscribe()))
    }

    /// Whom the registry names no more, and who is there all the same.
    pub(super) fn lapsed(&self) -> Vec<Arc<Presence>> {
        let state = self.lock();
        let lapsed = state.lapsed.iter().filter_map(|id| state.nodes.get(id));
        lapsed.map(|node| Arc::clone(&node.presence)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the board until this gateway has left.
pub(super) async fn follow(board: Arc<Board>, gateway: Arc<Gateway>) {
    let mut events = gateway.membership.events();
    let mut links = gateway.links.overview();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut samples = interval(SAMPLE_EVERY);
    samples.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) => board.lock().happened(&gateway, event),
                None => break,
            },
            Ok(()) = links.changed() => board.lock().look(&gateway),
            _ = ticks.tick() => {
                let mut state = board.lock();
                state.look(&gateway);
                state.beat(&gateway);
            }
            _ = samples.tick() => board.lock().sample(),
        }
    }
    let mut state = board.lock();
    state.ended = true;
    // Without its sender every stream ends.
    state.frames = broadcast::channel(1).0;
}

impl State {
    fn happened(&mut self, gateway: &Gateway, event: Event) {
        let now = gateway.registry.now_ms();
        match event {
            Event::Joined(presence) if self.comes_back(&presence) => {
                self.change(Node::new(gateway, presence));
            }
            Event::Joined(presence) => {
                // A later run of one that had lapsed.
                if self.lapsed.contains(&presence.id)
                    && let Some(before) = self.nodes.get(&presence.id).cloned()
                {
                    self.leave(gateway, &before, LeftReason::Replaced);
                }
                // Whoever was there before this gateway has not just joined. It does not know
                // its own start (0) before its first heartbeat: whom it meets by then was there.
                let own_start = gateway.membership.own().started_at;
                let found = (own_start == 0 || presence.started_at <= own_start)
                    && !self.has_left(&presence.id);
                let node = self.join(Node::new(gateway, presence));
                if !found {
                    self.remember(json!({ "at": now, "event": "joined", "node": node }));
                }
            }
            Event::Changed(presence) => self.change(Node::new(gateway, presence)),
            Event::Left { presence, reason } => {
                let node = Node::new(gateway, presence);
                if reason == LeftReason::Expired && node.is_linked() {
                    self.lapsed.insert(node.presence.id.clone());
                } else {
                    self.leave(gateway, &node, reason);
                }
            }
        }
    }

    /// Whether it had only lapsed.
    fn comes_back(&mut self, presence: &Presence) -> bool {
        let known = self.nodes.get(&presence.id);
        known.is_some_and(|known| is_same_run(&known.presence, presence))
            && self.lapsed.remove(&presence.id)
    }

    /// Takes in what comes without an event: heartbeats, links, and this gateway itself.
    fn look(&mut self, gateway: &Gateway) {
        let own = &gateway.config.node_id;
        for presence in &*gateway.membership.servers() {
            let node = Node::new(gateway, Arc::clone(presence));
            match self.nodes.get(&presence.id) {
                Some(known) if is_same_run(&known.presence, presence) => self.change(node),
                None if presence.id == *own => {
                    self.join(node);
                }
                // Its own event comes, or has come.
                _ => {}
            }
        }
        for id in self.lapsed.clone() {
            let Some(known) = self.nodes.get(&id) else {
                continue;
            };
            let node = Node::new(gateway, Arc::clone(&known.presence));
            if node.is_linked() {
                self.change(node);
            } else {
                self.leave(gateway, &node, LeftReason::Expired);
            }
        }
    }

    /// Says who has been heard of when; also the watchers' sign that the stream lives.
    fn beat(&mut self, gateway: &Gateway) {
        let last_seen: BTreeMap<&str, u64> = self
            .nodes
            .values()
            .map(|node| (node.presence.id.as_str(), node.presence.last_seen))
            .collect();
        self.beats = json!({
            "now": gateway.registry.now_ms(),
            "current": gateway.membership.checks().borrow().current,
            "as_of": gateway.membership.own().last_seen,
            "last_seen": last_seen,
        });
        let beats = self.beats.clone();
        self.send("beats", &beats);
    }

    fn sample(&mut self) {
        let present = self.nodes.values().map(|node| &*node.presence);
        self.trails.sample(present);
    }

    fn join(&mut self, node: Node) -> Value {
        let fields = node.to_json();
        self.nodes.insert(node.presence.id.clone(), node);
        self.send("joined", &fields);
        fields
    }

    fn leave(&mut self, gateway: &Gateway, node: &Node, reason: LeftReason) {
        let id = &node.presence.id;
        self.nodes.remove(id);
        self.lapsed.remove(id);
        let mut node = node.to_json();
        let now = gateway.registry.now_ms();
        self.remember(json!({ "at": now, "event": "left", "node": node, "reason": reason }));
        node["reason"] = json!(reason);
        self.send("left", &node);
    }

    fn change(&mut self, node: Node) {
        let known = self.nodes.get(&node.presence.id);
        if known.is_none_or(|known| node.differs_from(known)) {
            self.send("changed", &node.to_json());
        }
        self.nodes.insert(node.presence.id.clone(), node);
    }

    fn send(&self, name: &'static str, data: &Value) {
        // Fails if nobody watches.
        let _watchers = self.frames.send(Frame::new(name, data));
    }

    fn remember(&mut self, happening: Value) {
        if self.history.len() >= MAX_HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(happening);
    }

    fn has_left(&self, id: &NodeId) -> bool {
        self.history
            .iter()
            .any(|past| past["event"] == "left" && past["node"]["id"] == id.as_str())
    }
}

fn is_same_run(one: &Presence, other: &Presence) -> bool {
    one.incarnation == other.incarnation
}
