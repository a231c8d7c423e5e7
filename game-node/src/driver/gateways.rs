//! The gateways' links, and what they say beside players' wishes.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;

use chassis::trace::Span;
use futures_util::FutureExt;
use protocol::link::{ToGateway, ToNode};
use tracing::{debug, info};
use uuid::Uuid;

use super::{Driver, Finished, now, probe};
use crate::custody::Mode;
use crate::link::Outbox;
use crate::lobby::{Connection, Input, LinkId};

/// Probe lobbies at once; each gateway asks for one when it starts.
const MAX_PROBES: usize = 16;

/// The links that are up.
#[derive(Default)]
pub(super) struct Gateways(HashMap<LinkId, Gateway>);

struct Gateway {
    name: String,
    /// Tells gateways apart, since two may have been given the same name: each has its link.
    incarnation: Uuid,
    outbox: Outbox<ToGateway>,
}

impl Gateways {
    /// Sends, if the link is still there: what its connections had is then theirs no more anyway.
    pub(super) fn send(&self, link: LinkId, message: ToGateway) {
        if let Some(gateway) = self.0.get(&link) {
            // A link that does not drain is cut by its outbox, and says so by going down.
            let _sent = gateway.outbox.send(message);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    fn is_up(&self, link: LinkId) -> bool {
        self.0.contains_key(&link)
    }

    /// The link by which that gateway is reached.
    fn of(&self, incarnation: Uuid) -> Option<LinkId> {
        let mut all = self.0.iter();
        let (link, _) = all.find(|(_, gateway)| gateway.incarnation == incarnation)?;
        Some(*link)
    }

    pub(super) fn send_to_all(&self, message: &ToGateway) {
        for gateway in self.0.values() {
            let _sent = gateway.outbox.send(message.clone());
        }
    }
}

impl Driver {
    pub(super) fn gateway_up(
        &mut self,
        link: LinkId,
        name: String,
        incarnation: Uuid,
        outbox: Outbox<ToGateway>,
    ) {
        if self.supersedes(link, incarnation) == Some(false) {
            // Dialled earlier, and heard of later: the gateway has given it up.
            return debug!(gateway = name, "a link was late");
        }
        if self.is_own_probe(&name) {
            debug!("the own probe is linked");
        } else {
            info!(gateway = name, "a gateway is linked");
            self.custody.linked(link);
        }
        let gateway = Gateway {
            name,
            incarnation,
            outbox,
        };
        self.gateways.0.insert(link, gateway);
        let owner = self.store.owner();
        let incarnation = owner.incarnation.uuid();
        self.gateways.send(
            link,
            ToGateway::Hello {
                node: owner.node.to_string(),
                incarnation,
            },
        );
        self.gateways.send(link, self.status());
        if self.custody.mode() == Mode::HandingOver {
            self.hand_to(Some(link));
        }
    }

    /// A gateway has one link, which it has dialled anew if this is another: then the one before has ended, though that
    /// may not be heard for long. What was on its way there was asked again over the new one, and must not come after
    /// that: a player who has come back would be nowhere. Whether this is the newer one; none if there is no other.
    fn supersedes(&mut self, link: LinkId, incarnation: Uuid) -> Option<bool> {
        let other = self.gateways.of(incarnation)?;
        let is_newer = other < link;
        if is_newer {
            self.gateway_down(other);
        }
        Some(is_newer)
    }

    /// Whether it is this node that tries itself at its start: nothing for the log of every day.
    fn is_own_probe(&self, name: &str) -> bool {
        name == self.store.owner().node.as_str()
    }

    pub(super) fn gateway_down(&mut self, link: LinkId) {
        if let Some(gateway) = self.gateways.0.remove(&link) {
            if self.is_own_probe(&gateway.name) {
                debug!("the own probe is linked no more");
            } else {
                info!(gateway = gateway.name, "a gateway is linked no more");
            }
        }
        self.custody.unlinked(link);
        self.creations.link_lost(link);
        self.for_each_table(|driver, code| {
            if driver
                .tables
                .get(&code)
                .is_some_and(|table| table.lobby.is_reached_by(link))
            {
                driver.step(code, Input::LinkLost(link));
            }
        });
    }

    /// What a gateway says, which has waited for as long as `span` says until now.
    pub(super) fn gateway_says(&mut self, link: LinkId, message: ToNode, span: Span) {
        let trace = span.context();
        drop(span);
        if !self.gateways.is_up(link) {
            // Another one has followed it.
            return debug!("a link that has ended says something");
        }
        match message {
            // It has said that already.
            ToNode::Hello { .. } => {}
            ToNode::Ping { nonce, registry } => {
                self.custody.heard(now(), link, registry);
                let unsaved = Some(self.unsaved());
                self.gateways.send(link, ToGateway::Pong { nonce, unsaved });
            }
            ToNode::Probe { request } => self.probe(link, request),
            ToNode::Inspect { request, code } => {
                let lobby = self.at_table(code, None, |table| table.lobby.inspect());
                self.gateways
                    .send(link, ToGateway::Inspected { request, lobby });
            }
            ToNode::Claim { request, claim } => self.claim(link, request, claim),
            ToNode::Question { request, question } => self.question(link, request, &question),
            ToNode::Ask(ask) => self.ask(link, ask, trace),
            ToNode::Detach { code, connection } => {
                let connection = Connection {
                    link,
                    id: connection,
                };
                self.creations.detach(code, connection);
                self.step(code, Input::Detach(connection));
            }
        }
    }

    fn probe(&mut self, link: LinkId, request: u64) {
        if self.probes_under_way >= MAX_PROBES {
            let failure = Some("too many probes at once".to_owned());
            return self
                .gateways
                .send(link, ToGateway::Probed { request, failure });
        }
        self.probes_under_way += 1;
        let (store, pace) = (self.store.clone(), self.settings.pace);
        self.under_way.push(Box::pin(async move {
            let probed = AssertUnwindSafe(probe::probe(&store, pace)).catch_unwind();
            let failure = match probed.await {
                Ok(probed) => probed.err().map(|error| error.to_string()),
                Err(_panic) => Some("the probe lobby has broken".to_owned()),
            };
            Finished::Probed {
                link,
                request,
                failure,
            }
        }));
    }

    pub(super) fn probed(&mut self, link: LinkId, request: u64, failure: Option<String>) {
        self.probes_under_way -= 1;
        self.gateways
            .send(link, ToGateway::Probed { request, failure });
    }
}
