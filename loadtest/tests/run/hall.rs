//! The smallest server that a load test can play at: one table, people only, and on demand one misdeed.

use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use protocol::code::CloseCode;
use protocol::lobby::{LobbyStatus, LobbyView, PlayerView};
use protocol::player::{Act, PlayerFrame, PlayerMessage};
use protocol::server::{
    GameView, Refused, ServerMessage, ServerStatus, State, TimedObservation, Welcome,
};
use protocol::{ErrorCode, Event, PlayerId, PlayerName, Token};
use rules::{Game, Options, Seat, SeatCount, Seed};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

/// What the server does wrong, once, at [`MISDEED_TURN`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Misdeed {
    None,
    CountTrickWrongly,
    LoseMove,
    ShowSeatsDifferentTables,
    ShowForeignHand,
    LeaveLobbyOut,
    RefuseLegalMove,
    RefuseForLackOfRoom,
    /// Not wrong by itself: a move whose answer is lost is asked again, and the repeat refused after the player's next.
    RefuseRepeatLate,
    /// Not wrong by itself: a gateway that shuts down.
    CloseOnce,
    /// The same, and then the token is unknown.
    ForgetPlayer,
    /// The same, and then the token's player sits nowhere.
    ForgetSeat,
}

/// In the first round, after the bids.
const MISDEED_TURN: u32 = 5;

pub(crate) struct Hall {
    misdeed: Misdeed,
    done: bool,
    /// Whose move was answered `unavailable`, and then the `id` of its repeat.
    repeat: Option<(PlayerId, Option<String>)>,
    seats: Vec<Place>,
    options: Options,
    game: Option<Game>,
    seq: u64,
    arrivals: u8,
}

struct Place {
    id: PlayerId,
    name: PlayerName,
    outbox: UnboundedSender<Message>,
}

impl Hall {
    /// Gives the address to connect to.
    pub(crate) async fn open(misdeed: Misdeed) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/ws", listener.local_addr().unwrap());
        let hall = Arc::new(Mutex::new(Self {
            misdeed,
            done: misdeed == Misdeed::None,
            repeat: None,
            seats: Vec::new(),
            options: Options::default(),
            game: None,
            seq: 0,
            arrivals: 0,
        }));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, hall.clone()));
            }
        });
        url
    }

    fn hello(&mut self, token: Option<&str>, outbox: &UnboundedSender<Message>) -> PlayerId {
        let known = token.filter(|_| self.misdeed != Misdeed::ForgetPlayer);
        let number = known.map_or(self.arrivals, |token| {
            token.parse().map_or(0, |token| number_of(&token))
        });
        self.arrivals += 1;
        let id = PlayerId::person([number; 6]);
        say(
            outbox,
            &ServerMessage::Welcome(Welcome {
                player_id: id.clone(),
                token: Token::new([number; 24]),
                name: None,
                reconnect_within_ms: 5,
            }),
        );
        say(
            outbox,
            &ServerMessage::ServerStatus(ServerStatus {
                level: protocol::server::LoadLevel::Normal,
                accepting_games: true,
                reason: None,
                retry_after_ms: None,
                reconnect_within_ms: None,
            }),
        );
        let forgotten = self.misdeed == Misdeed::ForgetSeat;
        let place = self
            .seats
            .iter_mut()
            .find(|place| place.id == id && !forgotten);
        if let Some(place) = place {
            place.outbox = outbox.clone();
            self.show(Vec::new());
        } else {
            say(outbox, &ServerMessage::State(Box::new(State::empty())));
        }
        id
    }

    fn take(&mut self, me: &PlayerId, frame: PlayerFrame, outbox: &UnboundedSender<Message>) {
        let mut events = Vec::new();
        match frame.message {
            PlayerMessage::CreateLobby(named) => self.sit(me, named.name, outbox),
            PlayerMessage::JoinLobby(join) => self.sit(me, join.name, outbox),
            PlayerMessage::SetOptions(set) => {
                self.options = self.options.with(set.options).unwrap();
            }
            PlayerMessage::StartGame => {
                let seats = SeatCount::new(u8::try_from(self.seats.len()).unwrap()).unwrap();
                let seed = Seed::new([u8::try_from(self.seq % 200).unwrap(); 32]);
                let (game, started) = Game::new(seats, self.options, seed);
                self.game = Some(game);
                events = started;
            }
            PlayerMessage::Action(act) => match self.act(me, &act, frame.id, outbox) {
                Some(happened) => events = happened,
                None => return,
            },
            PlayerMessage::ReturnToLobby => self.game = None,
            PlayerMessage::LeaveLobby => {
                say(outbox, &ServerMessage::State(Box::new(State::empty())));
                // The next player sees nothing of it: the run is over.
                return;
            }
            other => panic!("a load test says {other:?}"),
        }
        self.show(events);
    }

    fn sit(&mut self, me: &PlayerId, name: PlayerName, outbox: &UnboundedSender<Message>) {
        self.seats.push(Place {
            id: me.clone(),
            name,
            outbox: outbox.clone(),
        });
    }

    fn act(
        &mut self,
        me: &PlayerId,
        act: &Act,
        id: Option<String>,
        outbox: &UnboundedSender<Message>,
    ) -> Option<Vec<rules::Event>> {
        let seat = self.seats.iter().position(|place| place.id == *me).unwrap();
        let game = self.game.as_mut().unwrap();
        let due = !self.done && game.turn() == MISDEED_TURN;
        let refusal = match self.misdeed {
            Misdeed::RefuseLegalMove => Some(ErrorCode::IllegalAction),
            Misdeed::RefuseForLackOfRoom => Some(ErrorCode::RateLimited),
            Misdeed::RefuseRepeatLate => Some(ErrorCode::Unavailable),
            _ => None,
        };
        if let Some(code) = refusal.filter(|_| due) {
            self.done = true;
            if code == ErrorCode::Unavailable {
                self.repeat = Some((me.clone(), None));
            }
            refuse(outbox, code, id);
            return None;
        }
        if due
            && matches!(
                self.misdeed,
                Misdeed::CloseOnce | Misdeed::ForgetPlayer | Misdeed::ForgetSeat
            )
        {
            // The move is lost with the connection.
            self.done = true;
            let frame = CloseFrame {
                code: u16::from(CloseCode::Restart).into(),
                reason: "".into(),
            };
            let _ = outbox.send(Message::Close(Some(frame)));
            return None;
        }
        if act.turn.is_some_and(|turn| turn < game.turn()) {
            refuse(outbox, ErrorCode::StaleTurn, id);
            return None;
        }
        if let Some((_, repeat)) = self.repeat.as_mut().filter(|(who, _)| who == me) {
            match repeat.take() {
                None => *repeat = id,
                late => {
                    refuse(outbox, ErrorCode::StaleTurn, late);
                    self.repeat = None;
                }
            }
        }
        let before = game.clone();
        let seat = Seat::new(u8::try_from(seat).unwrap()).unwrap();
        let events = game.apply(seat, act.action).unwrap();
        if due && self.misdeed == Misdeed::LoseMove {
            self.show(events);
            self.done = true;
            self.game = Some(before);
            return Some(Vec::new());
        }
        Some(events)
    }

    /// A state for each seat.
    fn show(&mut self, events: Vec<rules::Event>) {
        self.seq += 1;
        let turn = self.game.as_ref().map(Game::turn);
        let due = !self.done && turn > Some(MISDEED_TURN);
        let events: Vec<Event> = events.into_iter().map(Event::Game).collect();
        for (index, place) in self.seats.iter().enumerate() {
            let state = self.state(index, events.clone());
            let mut json = serde_json::to_value(ServerMessage::State(Box::new(state))).unwrap();
            if due {
                self.spoil(index, &mut json);
            }
            let _ = place.outbox.send(Message::text(json.to_string()));
        }
    }

    fn spoil(&self, index: usize, json: &mut Value) {
        match self.misdeed {
            Misdeed::CountTrickWrongly => json["game"]["observation"]["tricks"] = json!([1, 1, 1]),
            Misdeed::ShowSeatsDifferentTables => json["lobby"]["spectators"] = index.into(),
            Misdeed::ShowForeignHand => {
                let next = Seat::new(u8::try_from((index + 1) % 3).unwrap());
                let hand = self.game.as_ref().unwrap().observe(next).own.hand;
                json["game"]["observation"]["others"] = json!([hand]);
            }
            Misdeed::LeaveLobbyOut => {
                json.as_object_mut().unwrap().remove("lobby");
            }
            _ => {}
        }
    }

    fn state(&self, index: usize, events: Vec<Event>) -> State {
        let you = Seat::new(u8::try_from(index).unwrap());
        let status = match &self.game {
            None => LobbyStatus::Waiting,
            Some(game) if game.is_finished() => LobbyStatus::Finished,
            Some(_) => LobbyStatus::Playing,
        };
        let players = self.seats.iter().map(|place| PlayerView {
            id: place.id.clone(),
            name: place.name.clone(),
            is_ai: false,
            connected: true,
            replaceable: false,
            level: None,
        });
        State {
            seq: self.seq,
            lobby: Some(LobbyView {
                code: "ABCDEF".parse().unwrap(),
                status,
                host_id: self.seats[0].id.clone(),
                options: self.options,
                public: false,
                players: players.collect(),
                spectators: 0,
                min_players: 3,
                max_players: 6,
                ai_available: true,
                accepting_games: true,
                saved: true,
            }),
            game: self.game.as_ref().map(|game| GameView {
                you,
                deal_commitment: game.commitment(),
                seed: game.revealed_seed(),
                observation: TimedObservation {
                    observation: game.observe(you),
                    deadline_ms: None,
                },
            }),
            events,
        }
    }
}

async fn serve(stream: TcpStream, hall: Arc<Mutex<Hall>>) {
    stream.set_nodelay(true).unwrap();
    let (mut sink, mut source) = accept_async(stream).await.unwrap().split();
    let (outbox, mut waiting) = unbounded_channel();
    tokio::spawn(async move {
        while let Some(message) = waiting.recv().await {
            if sink.send(message).await.is_err() {
                break;
            }
        }
    });
    let mut me = None;
    while let Some(Ok(Message::Text(text))) = source.next().await {
        let frame = PlayerFrame::parse(&text).unwrap();
        let mut hall = hall.lock().unwrap();
        if let PlayerMessage::Hello(hello) = &frame.message {
            me = Some(hall.hello(hello.token.as_deref(), &outbox));
        } else {
            let me = me.as_ref().expect("hello comes first");
            hall.take(me, frame, &outbox);
        }
    }
}

fn refuse(outbox: &UnboundedSender<Message>, code: ErrorCode, id: Option<String>) {
    let message = String::new();
    let retry_after_ms = Some(1);
    say(
        outbox,
        &ServerMessage::Error(Refused {
            code,
            message,
            retry_after_ms,
            id,
        }),
    );
}

fn say(outbox: &UnboundedSender<Message>, message: &ServerMessage) {
    let _ = outbox.send(Message::text(serde_json::to_string(message).unwrap()));
}

/// The tokens here are one byte, repeated.
fn number_of(token: &Token) -> u8 {
    (0..=u8::MAX)
        .find(|number| Token::new([*number; 24]) == *token)
        .unwrap()
}
