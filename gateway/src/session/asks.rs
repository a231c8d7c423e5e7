//! What the player asks of their table.

use std::time::Instant;

use chassis::trace::TraceContext;
use protocol::link::{Ask, Outcome, Request};
use protocol::player::PlayerMessage;
use protocol::{ErrorCode, TraceParent};
use registry::NodeId;

use super::journey::Goal;
use super::{ANSWER_WITHIN, Effect, Session};

/// A message that has been read and not been acted on.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Rises with each message: what a node bounces goes back to its place in the order.
    pub(crate) order: u64,
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
    pub(crate) asked_at: Instant,
    /// Whom to answer; nobody if the gateway asked by itself.
    pub(crate) reply: Option<Reply>,
}

/// A message of the player that waits for its answer.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The message's `id`.
    pub(crate) id: Option<String>,
    order: u64,
    came_at: Instant,
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
            order,
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
                    order,
                    came_at,
                    trace,
                    request: request.clone(),
                };
                self.ask_table(now, Some(reply), request);
            }
        }
    }

    /// Sends to the present table's node.
    fn ask_table(&mut self, now: Instant, reply: Option<Reply>, request: Request) {
        let Some(place) = &self.place else {
            return;
        };
        let (node, code) = (place.node.clone(), place.code);
        let number = self.ask(node.clone(), code, request);
        self.asks.insert(
            number,
            Pending {
                node,
                asked_at: now,
                reply,
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
                asked_at: now,
                reply: None,
            },
        );
    }

    /// Sends to a node; the answer bears the number.
    pub(super) fn ask(&mut self, node: NodeId, code: protocol::LobbyCode, request: Request) -> u64 {
        let person = self
            .person()
            .expect("nothing is asked before hello was answered")
            .clone();
        self.last_number += 1;
        let number = self.last_number;
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
        number
    }

    pub(super) fn answered(&mut self, now: Instant, number: u64, outcome: Outcome) {
        if let Some(pending) = self.asks.remove(&number) {
            if let Some(reply) = pending.reply {
                self.table_answered(reply, outcome);
            }
        } else {
            self.journey_answered(now, number, outcome);
        }
    }

    fn table_answered(&mut self, reply: Reply, outcome: Outcome) {
        match outcome {
            Outcome::Done | Outcome::Attached { .. } => {}
            Outcome::Refused {
                code: ErrorCode::TakenOver,
                ..
            } => self.taken_over(),
            Outcome::Refused {
                code,
                message,
                retry_after_ms,
            } => {
                self.refuse_until(reply.id, code, message, retry_after_ms);
            }
            Outcome::NotOwner => {
                if let Some(place) = &mut self.place {
                    place.lost = true;
                }
                self.put_back(reply);
            }
        }
    }

    /// A node that does not own the table has done nothing: the message waits for its owner.
    fn put_back(&mut self, reply: Reply) {
        let Reply {
            id,
            order,
            came_at,
            trace,
            request,
        } = reply;
        let place = self
            .waiting
            .partition_point(|waiting| waiting.order < order);
        let wish = Wish::Ask(request);
        self.waiting.insert(
            place,
            Waiting {
                order,
                came_at,
                reply: id,
                trace,
                wish,
            },
        );
    }

    pub(super) fn unreachable(&mut self, now: Instant, number: u64) {
        match self.asks.remove(&number) {
            Some(Pending {
                reply: Some(reply), ..
            }) => {
                self.unavailable(reply.id, "the table's server can't be reached just now");
            }
            None if self.journey_asks(number) => self.journey_unreachable(now),
            Some(_) | None => {}
        }
    }

    /// Answers what nobody else will answer any more.
    pub(super) fn expire_asks(&mut self, now: Instant) {
        let late = self
            .asks
            .extract_if(.., |_, ask| now >= ask.asked_at + ANSWER_WITHIN);
        let late: Vec<_> = late.filter_map(|(_, pending)| pending.reply).collect();
        for reply in late {
            self.unavailable(reply.id, "the table did not answer: see what it shows");
        }
        while let Some(oldest) = self.waiting.front() {
            if now < oldest.came_at + ANSWER_WITHIN {
                break;
            }
            if let Some(waiting) = self.waiting.pop_front() {
                self.unavailable(waiting.reply, "the table can't be reached just now");
            }
        }
    }
}
