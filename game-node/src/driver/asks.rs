//! What players want, and what is answered.

use std::time::Instant;

use chassis::trace::TraceContext;
use protocol::link::{Ask, Outcome, Request, ToGateway};
use protocol::{ErrorCode, LobbyCode};
use tracing::debug;

use super::{Driver, Outgoing, now};
use crate::chance;
use crate::lobby::{Connection, Input, LinkId, Refusal, Wish};

/// A wish that is to be answered.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    connection: Connection,
    number: u64,
    /// What it is called in metrics.
    name: &'static str,
    since: Instant,
    trace: TraceContext,
}

impl Asked {
    fn new(wish: &Wish, trace: TraceContext) -> Self {
        let name = request_name(&wish.request);
        Self {
            connection: wish.connection,
            number: wish.number,
            name,
            since: now(),
            trace,
        }
    }

    /// When it was asked.
    pub(super) fn since(&self) -> Instant {
        self.since
    }

    /// What it is called in metrics.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Where it is in its trace.
    pub(super) fn trace(&self) -> TraceContext {
        self.trace
    }

    pub(super) fn connection(&self) -> Connection {
        self.connection
    }
}

impl Driver {
    pub(super) fn ask(&mut self, link: LinkId, ask: Ask, trace: TraceContext) {
        let _log = trace.enter();
        let Ask {
            person,
            connection,
            number,
            code,
            request,
            trace: _,
        } = ask;
        let connection = Connection {
            link,
            id: connection,
        };
        let wish = Wish {
            person,
            connection,
            number,
            request,
        };
        let asked = Asked::new(&wish, trace);
        if !self.tables.contains_key(&code) {
            return self.ask_for_unknown(code, wish, &asked);
        }
        if self.tables[&code].giving.is_frozen() || self.is_another_life(code, &wish.request) {
            return self.answer(&asked, Outcome::NotOwner);
        }
        let may_start = self.admits_a_game();
        let is_start = matches!(wish.request, Request::Start);
        let is_return = matches!(wish.request, Request::Attach { .. });
        let input = Input::Ask {
            wish,
            chance: chance::draw(),
            may_start,
        };
        match self.try_step(code, input, Some(&asked)) {
            Some(Ok(())) => {
                if let Some(table) = self.tables.get_mut(&code) {
                    table.has_accepted_input |= !is_return;
                }
            }
            Some(Err(refusal)) => {
                debug!(%code, command = asked.name, %refusal, "refused");
                let is_busy = is_start && refusal.code == ErrorCode::Busy;
                if is_busy && self.may_start_elsewhere(code) {
                    return self.start_elsewhere(code, asked);
                }
                self.refuse_behind(code, asked, &refusal);
            }
            None => {}
        }
    }

    fn ask_for_unknown(&mut self, code: LobbyCode, wish: Wish, asked: &Asked) {
        if matches!(wish.request, Request::Create { .. }) {
            if let Err(refusal) = self.create(code, wish, asked.clone()) {
                self.answer(asked, refused(&refusal));
            }
        } else {
            self.answer(asked, Outcome::NotOwner);
        }
    }

    /// A creation whose code another table has.
    fn is_another_life(&self, code: LobbyCode, request: &Request) -> bool {
        match request {
            Request::Create { born, .. } => self.tables[&code].born.to_string() != *born,
            _ => false,
        }
    }

    /// A refusal keeps its place behind what its lobby has to say before.
    fn refuse_behind(&mut self, code: LobbyCode, asked: Asked, refusal: &Refusal) {
        let outcome = refused(refusal);
        if let Some(table) = self.tables.get_mut(&code) {
            table.outgoing.push(Outgoing::Answer { asked, outcome });
            self.let_out(code);
        }
    }

    pub(super) fn answer(&mut self, asked: &Asked, outcome: Outcome) {
        let error = match &outcome {
            Outcome::Refused { code, .. } => Some(code.as_str()),
            Outcome::Done | Outcome::Attached { .. } | Outcome::NotOwner => None,
        };
        self.metrics.answered(
            asked.name,
            now().saturating_duration_since(asked.since),
            error,
        );
        let Asked {
            connection, number, ..
        } = *asked;
        let answer = ToGateway::Answer {
            connection: connection.id,
            number,
            outcome,
        };
        self.gateways.send(connection.link, answer);
    }
}

pub(super) fn refused(refusal: &Refusal) -> Outcome {
    Outcome::Refused {
        code: refusal.code,
        message: refusal.message.clone(),
        retry_after_ms: refusal.retry_after_ms(),
    }
}

fn request_name(request: &Request) -> &'static str {
    match request {
        Request::Create { .. } => "create",
        Request::Join { .. } => "join",
        Request::Watch => "watch",
        Request::Attach { .. } => "attach",
        Request::Leave => "leave",
        Request::AddAi { .. } => "add_ai",
        Request::RemovePlayer { .. } => "remove_player",
        Request::SetOptions(_) => "set_options",
        Request::Start => "start",
        Request::Act { .. } => "act",
        Request::ReplacePlayer { .. } => "replace_player",
        Request::React { .. } => "react",
        Request::ReturnToLobby => "return_to_lobby",
    }
}
