//! A bench for one session, and what each file of tests asks of it.

mod entering;
mod journeys;
mod moving;
mod scripts;
mod table;
mod time;

use std::time::Duration;

use chassis::environment::Limit;
use protocol::Token;
use protocol::link::{Ask, Outcome, Parting, Request, Show};
use protocol::parts::{Fragment, SharedParts};
use protocol::server::{LoadLevel, StatusReason};
use registry::NodeId;
use serde_json::{Value, json};

use super::*;
use crate::outbox::Picture;
use crate::status::NodeStatus;

const ADA: &str = r#"{"type":"create_lobby","name":"Ada"}"#;

/// A session, the time, and what it has done since the last look.
struct Bench {
    session: Session,
    now: Instant,
    effects: Vec<Effect>,
    /// What the nodes were told, and what they have said of it.
    history: Vec<Event>,
}

/// What decides where nodes take this connection for present.
#[derive(Debug)]
enum Event {
    Asked(NodeId, Ask),
    /// Refused, or never arrived.
    NotDone(u64),
    Parted(LobbyCode),
    LinkLost(NodeId),
    Detached(NodeId, LobbyCode),
}

impl Bench {
    fn new() -> Self {
        let now = chassis::clock::now();
        let flood = FloodLimits {
            rate: Limit::at_most(10),
            burst: 30,
            violations: Limit::at_most(50),
        };
        let renew_every = Duration::from_mins(7);
        let config = SessionConfig {
            flood,
            renew_every,
            reconnect_within_ms: 5000,
        };
        let mut overview = Overview::new();
        for name in ["one", "two"] {
            let status = NodeStatus {
                level: LoadLevel::Normal,
                accepting_games: true,
            };
            overview.nodes.insert(node(name), status);
        }
        let session = Session::new(now, ConnectionId(1), config, Arc::new(overview));
        Self {
            session,
            now,
            effects: Vec::new(),
            history: Vec::new(),
        }
    }

    /// Gives an input, and keeps what it means to the nodes.
    fn give(&mut self, input: Input) {
        let told = match &input {
            Input::Answer {
                number, outcome, ..
            } if !matches!(outcome, Outcome::Done | Outcome::Attached { .. }) => {
                Some(Event::NotDone(*number))
            }
            Input::Unreachable { number, .. } => Some(Event::NotDone(*number)),
            Input::Parted { code, reason, .. } if *reason != Parting::Moved => {
                Some(Event::Parted(*code))
            }
            Input::LinkLost { node } => Some(Event::LinkLost(node.clone())),
            _ => None,
        };
        self.history.extend(told);
        let effects = self.session.step(self.now, input);
        self.history
            .extend(effects.iter().filter_map(|effect| match effect {
                Effect::Ask { node, ask } => Some(Event::Asked(node.clone(), ask.clone())),
                Effect::Detach { node, code } => Some(Event::Detached(node.clone(), *code)),
                _ => None,
            }));
        self.effects.extend(effects);
    }

    /// After `hello`, at no table.
    fn inside() -> Self {
        let mut bench = Self::new();
        bench.say(r#"{"type":"hello","token":null}"#);
        bench.give(Input::Entered(Ok(entered(None))));
        bench.effects.clear();
        bench
    }

    /// At the table `ABCD23` on node `one`.
    fn seated() -> Self {
        let mut bench = Self::inside();
        bench.sit_down();
        assert_eq!(bench.shown(), ["ABCD23 10"]);
        bench.effects.clear();
        bench
    }

    fn sit_down(&mut self) {
        self.say(r#"{"type":"join_lobby","code":"ABCD23","name":"Ada"}"#);
        self.found("one");
        self.answer(Outcome::Done);
        self.give(Input::Show(picture("ABCD23", 1, 10)));
    }

    fn say(&mut self, text: &str) {
        self.give(Input::Message(PlayerFrame::parse(text)));
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.give(Input::Time);
    }

    fn found(&mut self, name: &str) {
        let (node, epoch) = (node(name), None);
        self.whereabouts(Whereabouts::At { node, epoch });
    }

    fn whereabouts(&mut self, whereabouts: Whereabouts) {
        let journey = self.session.last_journey;
        self.give(Input::Found {
            journey,
            whereabouts,
        });
    }

    fn drawn(&mut self, code: &str, name: &str) {
        let journey = self.session.last_journey;
        let born = "0011223344556677".to_owned();
        let drawn = Drawn {
            code: code.parse().unwrap(),
            born,
            node: node(name),
        };
        self.give(Input::Drawn {
            journey,
            drawn: Ok(drawn),
        });
    }

    fn counted(&mut self) {
        let journey = self.session.last_journey;
        self.give(Input::Counted {
            journey,
            allowed: true,
        });
    }

    /// Answers the last thing that was asked.
    fn answer(&mut self, outcome: Outcome) {
        self.answer_to(self.session.last_number, outcome);
    }

    /// Answers what was asked by that number, from the node that was asked last.
    fn answer_to(&mut self, number: u64, outcome: Outcome) {
        let asked = self.history.iter().rev().find_map(|event| match event {
            Event::Asked(node, ask) if ask.number == number => Some(node.clone()),
            _ => None,
        });
        let node = asked.unwrap_or_else(|| node("one"));
        self.give(Input::Answer {
            node,
            number,
            outcome,
        });
    }

    /// The new owner has taken everything up to that number.
    fn attached(&mut self, taken: u64) {
        self.answer(Outcome::Attached { taken });
    }

    /// That node says that the table is not there any more.
    fn part(&mut self, name: &str, code: &str, reason: Parting) {
        let (node, code) = (node(name), code.parse().unwrap());
        self.give(Input::Parted { node, code, reason });
    }

    fn refuse(&mut self, code: ErrorCode) {
        self.answer(refused(code));
    }

    /// What was asked of nodes, as `node number request`.
    fn numbered(&self) -> Vec<String> {
        let numbers = self.effects.iter().filter_map(|effect| match effect {
            Effect::Ask { ask, .. } => Some(ask.number),
            _ => None,
        });
        let word = |(asked, number): (&String, u64)| {
            let words: Vec<_> = asked.split(' ').collect();
            format!("{} {number} {}", words[0], words[2])
        };
        self.asked().iter().zip(numbers).map(word).collect()
    }

    /// What was asked of nodes, as `node code request`.
    fn asked(&self) -> Vec<String> {
        let asked = |effect: &Effect| match effect {
            Effect::Ask { node, ask } => {
                let request = serde_json::to_value(&ask.request).unwrap();
                let name = match &request {
                    Value::String(name) => name.clone(),
                    other => other.as_object().unwrap().keys().next().unwrap().clone(),
                };
                Some(format!("{node} {} {name}", ask.code))
            }
            _ => None,
        };
        self.effects.iter().filter_map(asked).collect()
    }

    fn sent(&self) -> Vec<Value> {
        let sent = |effect: &Effect| match effect {
            Effect::Send(message) => Some(serde_json::to_value(message).unwrap()),
            Effect::Refuse { refused, .. } => {
                Some(serde_json::to_value(ServerMessage::Error(refused.clone())).unwrap())
            }
            _ => None,
        };
        self.effects.iter().filter_map(sent).collect()
    }

    fn errors(&self) -> Vec<String> {
        let of_error = |message: &Value| message["code"].as_str().map(str::to_owned);
        self.sent().iter().filter_map(of_error).collect()
    }

    fn statuses(&self) -> Vec<Value> {
        let mut sent = self.sent();
        sent.retain(|message| message["type"] == "server_status");
        sent
    }

    /// The states that were sent, as `code seq` or `nothing`.
    fn shown(&self) -> Vec<String> {
        let shown = |effect: &Effect| match effect {
            Effect::Show(picture) => Some(format!("{} {}", picture.code(), picture.time().1)),
            Effect::ShowNothing => Some("nothing".to_owned()),
            _ => None,
        };
        self.effects.iter().filter_map(shown).collect()
    }

    fn closed(&self) -> Option<CloseCode> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Close(code) => Some(*code),
            _ => None,
        })
    }

    fn detached(&self) -> Vec<String> {
        let detached = |effect: &Effect| match effect {
            Effect::Detach { node, code } => Some(format!("{node} {code}")),
            _ => None,
        };
        self.effects.iter().filter_map(detached).collect()
    }

    fn looks(&self) -> usize {
        self.effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Find { .. }))
            .count()
    }
}

fn node(name: &str) -> NodeId {
    NodeId::new(name).unwrap()
}

fn entered(lobby: Option<&str>) -> Entered {
    let token = Token::new([7; 24]);
    let player = protocol::PlayerId::person([1; 6]);
    let person = Person {
        player,
        token: token.hash(),
        generation: 5,
    };
    Entered {
        person,
        token,
        name: None,
        lobby: lobby.map(|code| code.parse().unwrap()),
        written: true,
    }
}

fn picture(code: &str, epoch: u64, seq: u64) -> Picture {
    let shared = SharedParts {
        seq,
        lobby: Fragment::of(&json!({})),
        game: None,
    };
    let (events, own, to) = (Vec::new(), Vec::new(), Vec::new());
    let show = Show {
        code: code.parse().unwrap(),
        epoch,
        shared,
        events,
        own,
        to,
        traces: Vec::new(),
    };
    Picture::new(Arc::new(show), None)
}

fn refused(code: ErrorCode) -> Outcome {
    Outcome::Refused {
        code,
        message: "no".to_owned(),
        retry_after_ms: None,
    }
}
