//! What the player asks of their table.
//!
//! An ask that is not answered when its table moves is kept, with its number: the new owner says
//! which it has taken, and gets the others again, in their order. So each is done once, or its
//! player is told that nobody knows.

use std::time::Instant;

use chassis::trace::TraceContext;
use protocol::link::{Ask, Outcome, Request};
use protocol::player::PlayerMessage;
use protocol::{ErrorCode, LobbyCode, TraceParent};
use registry::NodeId;

use super::journey::{Goal, Journey};
use super::place::Place;
use super::{ANSWER_WITHIN, Effect, Session};
use crate::links::NotSent;

/// A message that has been read and not been acted on.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) came_at: Instant,
    pub(crate) reply: Option<String>,
    pub(crate) trace: TraceContext,
    pub(crate) wish: Wish,
}

/// What a message asks for.
#[derive(Debug)]
pub(crate) enum Wish {
    /// Another table, or none.
    Go(Goal),
    /// Something of the present table.
    Ask(Request),
}

/// Asked of the table, and not answered.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) node: NodeId,
    code: LobbyCode,
    pub(crate) asked_at: Instant,
    /// Links over which it was sent and that are gone.
    losses: u32,
    /// Whom to answer; nobody if the gateway asked by itself.
    pub(crate) reply: Option<Reply>,
}

/// A message of the player that waits for its answer.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The message's `id`.
    pub(crate) id: Option<String>,
    trace: TraceContext,
    request: Request,
}

impl Wish {
    /// `hello` and `ping` never get here.
    pub(crate) fn of(message: PlayerMessage) -> Self {
        match message {
            PlayerMessage::CreateLobby(named) => Self::Go(Goal::Create {
                name: named.name,
                public: false,
            }),
            PlayerMessage::JoinLobby(join) => Self::Go(Goal::Join {
                code: join.code,
                name: join.name,
            }),
            PlayerMessage::QuickPlay(named) => Self::Go(Goal::QuickPlay {
                name: named.name,
                candidates: Vec::new(),
                tried: Vec::new(),
            }),
            PlayerMessage::WatchLobby(watch) => Self::Go(Goal::Watch { code: watch.code }),
            PlayerMessage::LeaveLobby => Self::Go(Goal::Leave),
            PlayerMessage::AddAi(add) => Self::Ask(Request::AddAi { level: add.level }),
            PlayerMessage::RemovePlayer(other) => Self::Ask(Request::RemovePlayer {
                player: other.player_id,
            }),
            PlayerMessage::SetOptions(options) => Self::Ask(Request::SetOptions(options)),
            PlayerMessage::StartGame => Self::Ask(Request::Start),
            PlayerMessage::Action(act) => Self::Ask(Request::Act {
                action: act.action,
                turn: act.turn,
            }),
            PlayerMessage::ReplacePlayer(other) => Self::Ask(Request::ReplacePlayer {
                player: other.player_id,
            }),
            PlayerMessage::React(react) => Self::Ask(Request::React {
                reaction: react.reaction,
            }),
            PlayerMessage::ReturnToLobby => Self::Ask(Request::ReturnToLobby),
            PlayerMessage::Hello(_) | PlayerMessage::Ping(_) => {
                unreachable!("answered before anything waits")
            }
        }
    }
}

impl Session {
    /// Acts on what waits, as far as it need not wait any longer.
    pub(super) fn advance(&mut self, now: Instant) {
        while self.person().is_some() && self.journey.is_none() {
            if let Some(place) = self.place.as_ref().filter(|place| place.lost) {
                let goal = Goal::going_back_to(now, place.code);
                self.begin(now, None, goal);
            } else if let Some(waiting) = self.waiting.pop_front() {
                self.act_on(now, waiting);
            } else {
                return;
            }
        }
    }

    fn act_on(&mut self, now: Instant, waiting: Waiting) {
        let Waiting {
            came_at,
            reply,
            trace,
            wish,
        } = waiting;
        self.trace = trace;
        let at_table = self.place.is_some();
        match wish {
            Wish::Go(Goal::Leave) | Wish::Ask(_) if !at_table => {
                self.refuse(reply, ErrorCode::NotInLobby, "you are in no lobby");
            }
            Wish::Go(Goal::Leave) => self.begin_leaving(now, reply),
            Wish::Go(goal) => self.begin(now, reply, goal),
            Wish::Ask(request) => {
                let reply = Reply {
                    id: reply,
                    trace,
                    request,
                };
                self.ask_table(came_at, reply);
            }
        }
    }

    /// Sends to the present table's node.
    fn ask_table(&mut self, came_at: Instant, reply: Reply) {
        let Some(place) = &self.place else {
            return;
        };
        let (node, code) = (place.node.clone(), place.code);
        let number = self.ask(node.clone(), code, reply.request.clone());
        self.asks.insert(
            number,
            Pending {
                node,
                code,
                asked_at: came_at,
                losses: 0,
                reply: Some(reply),
            },
        );
    }

    /// Gives a seat up that the player does not want; nobody waits for the answer.
    pub(super) fn leave_silently(&mut self, now: Instant, place: super::Place) {
        let number = self.ask(place.node.clone(), place.code, Request::Leave);
        self.asks.insert(
            number,
            Pending {
                node: place.node,
                code: place.code,
                asked_at: now,
                losses: 0,
                reply: None,
            },
        );
    }

    /// Sends to a node; the answer bears the number.
    pub(super) fn ask(&mut self, node: NodeId, code: LobbyCode, request: Request) -> u64 {
        self.last_number += 1;
        let number = self.last_number;
        self.send_ask(node, code, number, request);
        number
    }

    fn send_ask(&mut self, node: NodeId, code: LobbyCode, number: u64, request: Request) {
        let person = self
            .person()
            .expect("nothing is asked before hello was answered")
            .clone();
        let ask = Ask {
            person,
            connection: self.connection,
            number,
            code,
            request,
            // Without a trace the text is empty, and nothing is allocated.
            trace: TraceParent::try_from(self.trace.to_string()).ok(),
        };
        self.effects.push(Effect::Ask { node, ask });
    }

    pub(super) fn answered(&mut self, now: Instant, node: &NodeId, number: u64, outcome: Outcome) {
        match self.asks.get(&number) {
            // A late word of an owner that the table has left: the new one knows what was done.
            Some(pending) if pending.node != *node => {}
            Some(Pending {
                code,
                reply: Some(_),
                ..
            }) if outcome == Outcome::NotOwner => {
                // It has done nothing: the message waits for the new owner.
                let code = *code;
                if self.place.as_ref().is_some_and(|place| place.code == code) {
                    self.lose(node);
                }
            }
            Some(_) => match self.asks.remove(&number) {
                Some(Pending {
                    reply: Some(reply), ..
                }) => self.table_answered(reply, outcome),
                Some(pending) if outcome == Outcome::NotOwner => self.stay_away(&pending),
                _ => {}
            },
            None => self.journey_answered(now, number, outcome),
        }
    }

    /// A seat could not be given up: its table is on the move, or its node takes nothing. Should
    /// the table stay there, it at least takes nobody for present, and gives the seat up once it
    /// sees by the session that its player sits elsewhere.
    fn stay_away(&mut self, pending: &Pending) {
        let is_there = |place: &Place| place.node == pending.node && place.code == pending.code;
        let asked = self.journey.as_ref().and_then(Journey::asked);
        if !self.place.iter().chain(&asked).any(is_there) {
            let (node, code) = (pending.node.clone(), pending.code);
            self.effects.push(Effect::Detach { node, code });
        }
    }

    fn table_answered(&mut self, reply: Reply, outcome: Outcome) {
        match outcome {
            Outcome::Done | Outcome::Attached { .. } | Outcome::NotOwner => {}
            Outcome::Refused {
                code: ErrorCode::TakenOver,
                ..
            } => self.taken_over(),
            Outcome::Refused {
                code,
                message,
                retry_after_ms,
            } => {
                self.within(reply.trace, |session| {
                    session.refuse_until(reply.id, code, message, retry_after_ms);
                });
            }
        }
    }

    fn asked_in_vain(&mut self, reply: Reply, why: &str) {
        self.within(reply.trace, |session| session.unavailable(reply.id, why));
    }

    /// The table has an owner again, which has taken everything up to that number: what comes
    /// after it is sent once more, as it was.
    pub(super) fn resend(&mut self, taken: u64) {
        let Some(place) = &self.place else {
            return;
        };
        let (node, code) = (place.node.clone(), place.code);
        let at_table = |pending: &Pending| pending.code == code && pending.reply.is_some();
        self.asks
            .retain(|number, pending| *number > taken || !at_table(pending));
        let mut again = Vec::new();
        for (number, pending) in &mut self.asks {
            if at_table(pending)
                && let Some(reply) = &pending.reply
            {
                pending.node = node.clone();
                again.push((*number, reply.trace, reply.request.clone()));
            }
        }
        for (number, trace, request) in again {
            self.trace = trace;
            self.send_ask(node.clone(), code, number, request);
        }
    }

    /// The link to that node is gone, and maybe the node. What was asked there outlives one such
    /// loss, not two.
    pub(super) fn bury_asks(&mut self, node: &NodeId) {
        for pending in self.asks.values_mut() {
            pending.losses += u32::from(pending.node == *node);
        }
        let buried = self.asks.extract_if(.., |_, pending| {
            pending.node == *node && (pending.losses > 1 || pending.reply.is_none())
        });
        let buried: Vec<_> = buried.filter_map(|(_, pending)| pending.reply).collect();
        for reply in buried {
            let why = "the table's server went away twice: see what the table shows";
            self.asked_in_vain(reply, why);
        }
    }

    /// There is no table any more that could answer.
    pub(super) fn drop_asks(&mut self, code: LobbyCode) {
        let dropped = self.asks.extract_if(.., |_, pending| pending.code == code);
        let dropped: Vec<_> = dropped.filter_map(|(_, pending)| pending.reply).collect();
        for reply in dropped {
            self.asked_in_vain(reply, "the table is gone");
        }
    }

    pub(super) fn unreachable(&mut self, now: Instant, number: u64, why: NotSent) {
        let Some(pending) = self.asks.get(&number) else {
            if self.journey_asks(number) {
                self.journey_unreachable(now);
            }
            return;
        };
        if pending.reply.is_some() && why == NotSent::NoLink {
            // It was never sent: the message waits for the table, which the loss of the link, of which this player has
            // not heard yet, or the node's own word moves elsewhere.
            let node = pending.node.clone();
            return self.lose(&node);
        }
        // The node takes nothing more just now.
        let Some(mut pending) = self.asks.remove(&number) else {
            return;
        };
        match pending.reply.take() {
            Some(reply) => {
                self.asked_in_vain(reply, "the table's server can't be reached just now");
            }
            None => self.stay_away(&pending),
        }
    }

    /// Answers what nobody else will answer any more.
    pub(super) fn expire_asks(&mut self, now: Instant) {
        let late = self
            .asks
            .extract_if(.., |_, ask| now >= ask.asked_at + ANSWER_WITHIN);
        let late: Vec<Pending> = late.map(|(_, pending)| pending).collect();
        for mut pending in late {
            match pending.reply.take() {
                Some(reply) => {
                    self.asked_in_vain(reply, "the table did not answer: see what it shows");
                }
                None => self.stay_away(&pending),
            }
        }
        while let Some(oldest) = self.waiting.front() {
            if now < oldest.came_at + ANSWER_WITHIN {
                break;
            }
            if let Some(waiting) = self.waiting.pop_front() {
                self.waited_in_vain(waiting, "the table can't be reached just now");
            }
        }
    }
}
