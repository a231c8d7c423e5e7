//! What comes in over a link, and whom it is for.

use std::sync::Arc;

use chassis::clock;
use chassis::trace::{Kind, Span, TraceContext};
use opentelemetry::KeyValue;
use protocol::TraceParent;
use protocol::link::{Show, ToGateway};
use registry::NodeId;

use super::Links;
use crate::outbox::Picture;
use crate::session::Input;
use crate::status::NodeStatus;

impl Links {
    /// A node has said something.
    pub(crate) fn received(&self, node: &NodeId, message: ToGateway) {
        match message {
            ToGateway::Answer {
                connection,
                number,
                outcome,
            } => {
                let node = node.clone();
                let answer = Input::Answer {
                    node,
                    number,
                    outcome,
                };
                self.connections.deliver(connection, answer);
            }
            ToGateway::Show(show) => self.show(show),
            ToGateway::Parted {
                code,
                connection,
                reason,
            } => {
                let node = node.clone();
                self.connections
                    .deliver(connection, Input::Parted { node, code, reason });
            }
            ToGateway::Status {
                level,
                accepting_games,
            } => {
                self.change_status(
                    node,
                    NodeStatus {
                        level,
                        accepting_games,
                    },
                );
            }
            ToGateway::Probed { request, failure } => self.probes.answered(request, failure),
            ToGateway::Inspected { request, lobby } => self.inspections.answered(request, lobby),
            ToGateway::Claimed { request, outcome } => self.claims.answered(request, outcome),
            ToGateway::Knows { request, known } => self.questions.answered(request, known),
            ToGateway::HandsOver { lobbies } => {
                self.handed.keep(clock::now(), node, lobbies);
                self.connections
                    .deliver_to_all(|| Input::HandedOver { node: node.clone() });
            }
            ToGateway::CommitsAgain => self.handed.take_back(node),
            ToGateway::Pong { unsaved, .. } => self.ponged(node, unsaved),
            // It comes only once.
            ToGateway::Hello { .. } => {}
        }
    }

    fn show(&self, show: Show) {
        let spans = self.fan_out(&show);
        let show = Arc::new(show);
        for receiver in &show.to {
            let picture = Picture::new(Arc::clone(&show), receiver.own).traced(spans.clone());
            self.connections
                .deliver(receiver.connection, Input::Show(picture));
        }
    }

    /// The way of a picture to its players, in the trace of each move that has led to it.
    fn fan_out(&self, show: &Show) -> Option<Arc<[Span]>> {
        if show.traces.is_empty() {
            return None;
        }
        let begin = |parent: &TraceParent| {
            let parent = TraceContext::read(Some(parent.as_str()));
            Span::begin("gateway.fan_out", Kind::Consumer, parent, || {
                [
                    KeyValue::new("wizard.node", self.own_id.to_string()),
                    KeyValue::new("wizard.lobby", show.code.to_string()),
                    KeyValue::new(
                        "wizard.receivers",
                        i64::try_from(show.to.len()).unwrap_or(i64::MAX),
                    ),
                ]
            })
        };
        Some(show.traces.iter().map(begin).collect())
    }

    fn change_status(&self, node: &NodeId, status: NodeStatus) {
        if let Some(up) = self
            .lock()
            .get_mut(node)
            .and_then(|entry| entry.up.as_mut())
        {
            up.status = status;
        }
        self.change_overview(|overview| {
            if let Some(known) = overview.nodes.get_mut(node) {
                *known = status;
            }
        });
    }
}
