//! A gateway in memory that keeps what it is sent.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::link::{
    Ask, Claim, Claimed, Handed, Known, Outcome, Parting, Question, Receiver, Request, Show, Sight,
    ToGateway, ToNode, Why,
};
use protocol::parts::{WaitingEvents, full_state};
use protocol::server::LoadLevel;
use protocol::{ConnectionId, LobbyCode};
use registry::{Record, Registry};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::timeout;
use uuid::Uuid;

use super::{BORN, CEILING, CODE, connection, create};
use crate::link::{FromLink, outbox};
use crate::lobby::LinkId;
use crate::lobby::testing::person;

/// A gateway's link; its players are people by number, each with one connection a generation.
pub(in crate::driver::tests) struct Gateway {
    link: LinkId,
    inbox: mpsc::Sender<FromLink>,
    pub(in crate::driver::tests) queue: mpsc::Receiver<ToGateway>,
    asked: u64,
    pub(in crate::driver::tests) code: LobbyCode,
    pub(in crate::driver::tests) generation: u64,
    pub(in crate::driver::tests) answers: Vec<(u64, Outcome)>,
    pub(in crate::driver::tests) partings: Vec<(ConnectionId, Parting)>,
    pub(in crate::driver::tests) probed: Vec<(u64, Option<String>)>,
    pub(in crate::driver::tests) claimed: Vec<(u64, Claimed)>,
    pub(in crate::driver::tests) known: Vec<(u64, Option<Known>)>,
    pub(in crate::driver::tests) handed: Vec<(LobbyCode, Handed)>,
    pub(in crate::driver::tests) commits_again: bool,
    pub(in crate::driver::tests) level: Option<LoadLevel>,
    pub(in crate::driver::tests) accepting: Option<bool>,
    states: BTreeMap<ConnectionId, Vec<Value>>,
}

impl Gateway {
    /// One run, told by the name, of a gateway that is called so: `name` or `name#run`.
    pub(super) fn new(link: u64, called: &str, inbox: mpsc::Sender<FromLink>) -> Self {
        let name = called.split('#').next().unwrap_or(called);
        let incarnation = Uuid::from_u128(
            called
                .bytes()
                .fold(0, |run, byte| run << 8 | u128::from(byte)),
        );
        let link = LinkId(link);
        let (outbox, queue) = outbox();
        let up = FromLink::GatewayUp {
            link,
            gateway: name.to_owned(),
            incarnation,
            outbox,
        };
        inbox.try_send(up).unwrap();
        Self {
            link,
            inbox,
            queue,
            asked: 0,
            code: CODE.parse().unwrap(),
            generation: 1,
            answers: Vec::new(),
            partings: Vec::new(),
            probed: Vec::new(),
            claimed: Vec::new(),
            known: Vec::new(),
            handed: Vec::new(),
            commits_again: false,
            level: None,
            accepting: None,
            states: BTreeMap::new(),
        }
    }

    fn says(&self, message: ToNode) {
        self.inbox
            .try_send(FromLink::gateway(self.link, message))
            .unwrap();
    }

    /// Asks, and gives back the number.
    pub(in crate::driver::tests) fn asks(&mut self, number: u8, request: Request) -> u64 {
        self.asked += 1;
        self.repeats(number, self.asked, request);
        self.asked
    }

    /// The number of the last wish.
    pub(in crate::driver::tests) fn last_asked(&self) -> u64 {
        self.asked
    }

    /// The next wish is numbered above this.
    pub(in crate::driver::tests) fn goes_on_from(&mut self, number: u64) {
        self.asked = number;
    }

    pub(in crate::driver::tests) fn repeats(&self, number: u8, ask: u64, request: Request) {
        self.says(ToNode::Ask(Ask {
            person: person(number, self.generation),
            connection: connection(number, self.generation),
            number: ask,
            code: self.code,
            request,
            trace: None,
        }));
    }

    pub(in crate::driver::tests) fn detaches(&self, number: u8, generation: u64) {
        let connection = connection(number, generation);
        self.says(ToNode::Detach {
            code: self.code,
            connection,
        });
    }

    pub(in crate::driver::tests) fn pings(&self, registry: Sight) {
        self.says(ToNode::Ping { nonce: 0, registry });
    }

    pub(in crate::driver::tests) fn probes(&self, request: u64) {
        self.says(ToNode::Probe { request });
    }

    /// Wants the lobby owned by this node, as the registry knows it.
    pub(in crate::driver::tests) async fn claims(&mut self, registry: &Registry) -> Claimed {
        let record = registry.owner(self.code.as_str()).await.unwrap().unwrap();
        self.claims_as(&record).await
    }

    pub(in crate::driver::tests) async fn claims_as(&mut self, record: &Record) -> Claimed {
        let request = self.sends_claim(record);
        self.claim_answered(request).await
    }

    pub(in crate::driver::tests) fn sends_claim(&mut self, record: &Record) -> u64 {
        self.asked += 1;
        let claim = Claim {
            code: self.code,
            born: record.born.to_string(),
            epoch: record.epoch.0,
            seq: record.seq.0,
            handed: self.handed.last().map(|(_, handed)| handed.clone()),
            why: Some(Why::Dead),
            searched_ms: 600,
        };
        self.says(ToNode::Claim {
            request: self.asked,
            claim,
        });
        self.asked
    }

    pub(in crate::driver::tests) async fn claim_answered(&mut self, request: u64) -> Claimed {
        let is_it = move |(number, _): &&(u64, Claimed)| *number == request;
        self.until(|gateway| gateway.claimed.iter().any(|claimed| is_it(&claimed)))
            .await;
        self.claimed.iter().find(is_it).unwrap().1.clone()
    }

    pub(in crate::driver::tests) async fn knows(&mut self, question: Question) -> Option<Known> {
        self.asked += 1;
        let request = self.asked;
        self.says(ToNode::Question { request, question });
        let is_it = move |(number, _): &&(u64, Option<Known>)| *number == request;
        self.until(|gateway| gateway.known.iter().any(|known| is_it(&known)))
            .await;
        self.known.iter().find(is_it).unwrap().1.clone()
    }

    pub(in crate::driver::tests) async fn outcome(
        &mut self,
        number: u8,
        request: Request,
    ) -> Outcome {
        let asked = self.asks(number, request);
        self.answered(asked).await
    }

    /// Asks for what is granted, and waits until it is shown.
    pub(in crate::driver::tests) async fn done(&mut self, number: u8, request: Request) {
        let connection = connection(number, self.generation);
        let shown = self.states.get(&connection).map_or(0, Vec::len);
        let expects_a_picture = !matches!(request, Request::Leave);
        let outcome = self.outcome(number, request).await;
        assert!(
            matches!(outcome, Outcome::Done | Outcome::Attached { .. }),
            "{outcome:?}"
        );
        let is_shown = move |gateway: &Self| {
            gateway
                .states
                .get(&connection)
                .is_some_and(|states| states.len() > shown)
        };
        self.until(|gateway| !expects_a_picture || is_shown(gateway))
            .await;
    }

    pub(in crate::driver::tests) async fn creates(&mut self, number: u8) {
        self.done(number, create(BORN)).await;
    }

    pub(in crate::driver::tests) async fn answered(&mut self, ask: u64) -> Outcome {
        self.until(|gateway| gateway.answers.iter().any(|(number, _)| *number == ask))
            .await;
        self.answers
            .iter()
            .find(|(number, _)| *number == ask)
            .unwrap()
            .1
            .clone()
    }

    /// Hears on until it is so.
    pub(in crate::driver::tests) async fn until(&mut self, is_so: impl Fn(&Self) -> bool) {
        let hearing = async {
            while !is_so(self) {
                self.next().await;
            }
        };
        timeout(CEILING, hearing).await.expect("it comes to that");
    }

    /// Waits until this player is sent on: the table has another owner.
    pub(in crate::driver::tests) async fn is_sent_on(&mut self, number: u8) {
        let parted = (connection(number, self.generation), Parting::Moved);
        self.until(|gateway| gateway.partings.contains(&parted))
            .await;
    }

    pub(in crate::driver::tests) async fn next(&mut self) {
        let message = timeout(CEILING, self.queue.recv())
            .await
            .expect("something is sent");
        self.keep(message.expect("the link is up"));
    }

    pub(in crate::driver::tests) async fn hears_nothing_for(&mut self, time: Duration) {
        let heard = timeout(time, async {
            loop {
                match self.queue.recv().await {
                    // Not of a lobby.
                    Some(
                        ToGateway::Hello { .. } | ToGateway::Status { .. } | ToGateway::Pong { .. },
                    ) => {}
                    other => return other,
                }
            }
        });
        assert!(heard.await.is_err(), "nothing may be sent");
    }

    pub(super) fn keep(&mut self, message: ToGateway) {
        match message {
            ToGateway::Answer {
                number, outcome, ..
            } => self.answers.push((number, outcome)),
            ToGateway::Show(show) => self.keep_show(&show),
            ToGateway::Parted {
                connection, reason, ..
            } => self.partings.push((connection, reason)),
            ToGateway::Probed { request, failure } => self.probed.push((request, failure)),
            ToGateway::Claimed { request, outcome } => self.claimed.push((request, outcome)),
            ToGateway::Knows { request, known } => self.known.push((request, known)),
            ToGateway::Status {
                level,
                accepting_games,
            } => {
                (self.level, self.accepting) = (Some(level), Some(accepting_games));
            }
            ToGateway::Hello { .. } | ToGateway::Pong { .. } | ToGateway::Inspected { .. } => {}
            ToGateway::HandsOver { lobbies } => self.handed.extend(lobbies),
            ToGateway::CommitsAgain => self.commits_again = true,
        }
    }

    fn keep_show(&mut self, show: &Show) {
        let mut events = WaitingEvents::default();
        events.append(&show.events);
        for Receiver { connection, own } in &show.to {
            let own = own.map(|place| &show.own[place as usize]);
            let state = full_state(&show.shared, own, &events);
            let states = self.states.entry(*connection).or_default();
            states.push(serde_json::from_slice(&state).unwrap());
        }
    }

    /// All states that a player was sent.
    pub(in crate::driver::tests) fn seen(&self, number: u8) -> &[Value] {
        let states = self.states.get(&connection(number, self.generation));
        states.map_or(&[], Vec::as_slice)
    }

    /// The newest of them, null before the first.
    pub(in crate::driver::tests) fn state(&self, number: u8) -> &Value {
        self.seen(number).last().unwrap_or(&Value::Null)
    }

    pub(in crate::driver::tests) fn lobby(&self, number: u8) -> &Value {
        &self.state(number)["lobby"]
    }

    pub(in crate::driver::tests) fn game(&self, number: u8) -> &Value {
        &self.state(number)["game"]
    }

    /// Whether this player, whose seat has the same number, is to move.
    pub(in crate::driver::tests) fn is_to_act(&self, number: u8) -> bool {
        self.game(number)["observation"]["to_act"] == number
    }

    /// The first of the moves that this player may make.
    pub(in crate::driver::tests) fn legal_act(&self, number: u8) -> Request {
        let action = self.game(number)["observation"]["legal_actions"][0].clone();
        Request::Act {
            action: serde_json::from_value(action).unwrap(),
            turn: None,
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _driver_gone = self
            .inbox
            .try_send(FromLink::GatewayDown { link: self.link });
    }
}
