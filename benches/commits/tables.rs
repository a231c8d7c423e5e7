//! Tables of four people each, all played by this program over one link, as by a gateway.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use protocol::frame::{decode, encode};
use protocol::link::{
    Ask, GATEWAY_LINK_PATH, Outcome, Person, Receiver, Request, Show, ToGateway, ToNode,
};
use protocol::{ConnectionId, LobbyCode, PlayerId};
use rules::Action;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

const SEATS: u32 = 4;

pub(crate) struct Tables {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// By connection: what was asked last, and when.
    asked: HashMap<ConnectionId, (u64, Instant)>,
    /// Asks that are not answered yet.
    open: usize,
    /// What each table showed last: the turn and whose it is, none without a game.
    shown: HashMap<u32, Option<(u32, Option<u32>)>>,
    /// Moves that can be made, oldest first.
    possible: VecDeque<Ask>,
    pace: Option<u32>,
    next_move: Instant,
    answers: Vec<Duration>,
}

/// What the one who is to move has to know.
#[derive(Deserialize)]
struct Turn {
    turn: u32,
    to_act: Option<u32>,
}

#[derive(Deserialize)]
struct Own {
    legal_actions: Vec<Action>,
}

#[derive(Deserialize)]
struct Seat {
    you: u32,
}

impl Tables {
    /// All with a running game.
    pub(crate) async fn open(address: SocketAddr, tables: u32) -> Self {
        let url = format!("ws://{address}{GATEWAY_LINK_PATH}");
        let (socket, _) = connect_async(url).await.unwrap();
        let mut all = Self {
            socket,
            asked: HashMap::new(),
            open: 0,
            shown: HashMap::new(),
            possible: VecDeque::new(),
            pace: None,
            next_move: Instant::now(),
            answers: Vec::new(),
        };
        all.say(&ToNode::Hello {
            gateway: "gateway-bench".to_owned(),
            incarnation: uuid::Uuid::new_v4(),
        })
        .await;
        for table in 0..tables {
            for seat in 0..SEATS {
                let request = match seat {
                    0 => create(table),
                    _ => Request::Join {
                        name: format!("Player {seat}").parse().unwrap(),
                        only_if_public: false,
                    },
                };
                let ask = all.ask(table, seat, request);
                all.send(ask).await;
                while all.open > 0 {
                    if let Some(show) = all.hear().await {
                        all.look_at(&show);
                    }
                }
            }
            let ask = all.ask(table, 0, Request::Start);
            all.send(ask).await;
        }
        all
    }

    /// So many moves a second at most, or as many as can be.
    pub(crate) fn set_pace(&mut self, pace: Option<u32>) {
        self.pace = pace;
        self.next_move = Instant::now();
    }

    /// The time of each move so far from its sending to its answer.
    pub(crate) fn forget(&mut self) -> Vec<Duration> {
        std::mem::take(&mut self.answers)
    }

    pub(crate) async fn play_until(&mut self, end: Instant) {
        loop {
            while self.next_move <= Instant::now() && self.may_move().await {}
            let wake = if self.possible.is_empty() {
                end
            } else {
                self.next_move.min(end)
            };
            tokio::select! {
                biased;
                () = sleep_until(wake) => {
                    if Instant::now() >= end {
                        return;
                    }
                }
                show = self.hear() => {
                    if let Some(show) = show {
                        self.look_at(&show);
                    }
                }
            }
        }
    }

    /// Whether there was a move.
    async fn may_move(&mut self) -> bool {
        let Some(ask) = self.possible.pop_front() else {
            return false;
        };
        if let Some(pace) = self.pace {
            // What could not be made in time is not made up for.
            let earliest = Instant::now() - Duration::from_millis(100);
            self.next_move = self.next_move.max(earliest) + Duration::from_secs(1) / pace;
        }
        self.send(ask).await;
        true
    }

    /// Who is to act may act; a table whose game is over begins the next. Each once, however often it is shown.
    fn look_at(&mut self, show: &Show) {
        let table = table_of(show.to[0].connection);
        let turn = show.shared.game.as_ref().map(|game| {
            let turn: Turn = serde_json::from_slice(game.table.as_bytes()).unwrap();
            (turn.turn, turn.to_act)
        });
        // Before its first game a table is started where it is opened.
        let last = self.shown.insert(table, turn);
        if last == Some(turn) || (last.is_none() && turn.is_none()) {
            return;
        }
        let (seat, request) = match turn {
            None => (0, Request::Start),
            Some((_, None)) => (0, Request::ReturnToLobby),
            Some((turn, Some(to_act))) => the_move_of(to_act, turn, show),
        };
        let ask = self.ask(table, seat, request);
        self.possible.push_back(ask);
    }

    fn ask(&self, table: u32, seat: u32, request: Request) -> Ask {
        let id = table * SEATS + seat;
        let connection = ConnectionId(id.into());
        let random = u64::from(id).to_be_bytes();
        let person = Person {
            player: PlayerId::person(random[2..].try_into().unwrap()),
            token: format!("{id:064x}").parse().unwrap(),
            generation: 1,
        };
        Ask {
            person,
            connection,
            number: self.asked.get(&connection).map_or(0, |(number, _)| *number) + 1,
            code: LobbyCode::from_bits(table),
            request,
            trace: None,
        }
    }

    async fn send(&mut self, ask: Ask) {
        self.asked
            .insert(ask.connection, (ask.number, Instant::now()));
        self.open += 1;
        self.say(&ToNode::Ask(ask)).await;
    }

    async fn say(&mut self, message: &ToNode) {
        let message = Message::Binary(encode(message).into());
        self.socket.send(message).await.unwrap();
    }

    /// The next message, if it is a picture.
    async fn hear(&mut self) -> Option<Show> {
        let frame = self.socket.next().await.expect("the node lives").unwrap();
        let Message::Binary(bytes) = frame else {
            return None;
        };
        match decode(&bytes).unwrap() {
            ToGateway::Show(show) => Some(show),
            ToGateway::Answer {
                connection,
                number,
                outcome,
            } => {
                assert_eq!(outcome, Outcome::Done);
                let (asked, at) = self.asked[&connection];
                assert_eq!(asked, number);
                self.open -= 1;
                self.answers.push(at.elapsed());
                None
            }
            _ => None,
        }
    }
}

/// The first move that this seat may make, by the connection that has the seat.
fn the_move_of(to_act: u32, turn: u32, show: &Show) -> (u32, Request) {
    let of_seat = |to: &&Receiver| {
        let own = &show.own[to.own.unwrap() as usize];
        let seat: Seat = serde_json::from_slice(own.you.as_bytes()).unwrap();
        seat.you == to_act
    };
    let to = show.to.iter().find(of_seat).unwrap();
    let own = &show.own[to.own.unwrap() as usize];
    let own: Own = serde_json::from_slice(own.own.as_bytes()).unwrap();
    let request = Request::Act {
        action: own.legal_actions[0],
        turn: Some(turn),
    };
    (seat_of(to.connection), request)
}

fn create(table: u32) -> Request {
    Request::Create {
        born: format!("{table:016x}"),
        name: "Host".parse().unwrap(),
        public: false,
    }
}

fn table_of(connection: ConnectionId) -> u32 {
    u32::try_from(connection.0).unwrap() / SEATS
}

fn seat_of(connection: ConnectionId) -> u32 {
    u32::try_from(connection.0).unwrap() % SEATS
}
