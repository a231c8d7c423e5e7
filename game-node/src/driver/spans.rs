//! A move's way through this node, for whoever collects traces.
//!
//! One trace a move: the way through the link, the step, the commit, and the question to an AI that the
//! move leads to. An AI's own move begins a trace of its own, which follows its decision. Without a
//! collector nothing here does anything.

use std::time::SystemTime;

use chassis::trace::{Kind, Span, TraceContext};
use opentelemetry::KeyValue;
use protocol::LobbyCode;
use protocol::TraceParent;
use protocol::link::{Ask, ToNode};
use registry::NodeId;
use rules::Seat;

use super::asks::Asked;
use crate::ai::Matter;
use crate::lobby::{Question, Refusal};

/// Moves of one lobby whose commit is told in their traces; more than one at once is rare.
pub(super) const MAX_TRACES: usize = 16;

/// From when a message has been read until its lobby is stepped: how long it has waited for this thread.
pub(crate) fn on_link(message: &ToNode) -> Span {
    let ToNode::Ask(ask) = message else {
        return Span::NONE;
    };
    let parent = TraceContext::read(ask.trace.as_ref().map(TraceParent::as_str));
    Span::begin("link.receive", Kind::Server, parent, || attributes_of(ask))
}

fn attributes_of(ask: &Ask) -> [KeyValue; 2] {
    [
        KeyValue::new("wizard.lobby", ask.code.to_string()),
        KeyValue::new("wizard.connection", connection(ask.connection.0)),
    ]
}

fn connection(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}

/// A step that was made.
pub(super) struct Step<'a> {
    pub(super) began: Option<SystemTime>,
    pub(super) node: &'a NodeId,
    pub(super) code: LobbyCode,
    /// Whose wish it was, if it was anybody's.
    pub(super) asked: Option<&'a Asked>,
    pub(super) seat: Option<Seat>,
    /// The decision that it carries out, if it does.
    pub(super) decision: TraceContext,
    pub(super) refused: Option<&'a Refusal>,
}

impl Step<'_> {
    /// Ends it now, and gives its place.
    pub(super) fn end(self) -> TraceContext {
        let parent = self.asked.map_or(TraceContext::NONE, Asked::trace);
        let name = self.asked.map_or("by_itself", Asked::name);
        let mut span = Span::begin_at(self.began, "game.step", Kind::Internal, parent, || {
            [
                KeyValue::new("wizard.node", self.node.to_string()),
                KeyValue::new("wizard.lobby", self.code.to_string()),
                KeyValue::new("game.command.name", name),
            ]
        });
        if let Some(asked) = self.asked {
            span.set("wizard.connection", || connection(asked.connection().id.0));
        }
        if let Some(seat) = self.seat {
            span.set("wizard.seat", || seat_number(seat));
        }
        if let Some(refusal) = self.refused {
            span.failed(refusal.code.as_str());
        }
        span.follows(self.decision);
        span.context()
    }
}

/// Until the lobby's new state is saved, in the trace of each move that has led to it.
pub(super) fn commits(moves: &[TraceContext], node: &NodeId, code: LobbyCode) -> Vec<Span> {
    let begin = |step: &TraceContext| {
        Span::begin("game.commit", Kind::Client, *step, || {
            [
                KeyValue::new("wizard.node", node.to_string()),
                KeyValue::new("wizard.lobby", code.to_string()),
            ]
        })
    };
    moves.iter().map(begin).collect()
}

/// Until an AI has decided, or nobody has.
pub(super) fn question(
    cause: TraceContext,
    node: &NodeId,
    matter: &Matter,
    question: &Question,
) -> Span {
    Span::begin("game.decide", Kind::Client, cause, || {
        [
            KeyValue::new("wizard.node", node.to_string()),
            KeyValue::new("wizard.lobby", matter.code.to_string()),
            KeyValue::new("wizard.seat", seat_number(question.seat)),
        ]
    })
}

fn seat_number(seat: Seat) -> i64 {
    i64::try_from(seat.index()).expect("a table is small")
}
