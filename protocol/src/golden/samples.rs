//! One sample a message. A seeded game gives the states, so that they are pictures that a player can really see.

use bytes::Bytes;
use rules::{Action, Card, Game, OptionsPatch, Seat, SeatCount, Seed};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use crate::code::ErrorCode;
use crate::decide::{self, Decide, DecideFailure, ToAi};
use crate::event::{ReplacedBy, TableEvent};
use crate::id::{ConnectionId, LobbyCode, PlayerId, Token, TokenHash};
use crate::link::{
    Ask, Claim, Claimed, Handed, InspectedSeat, Inspection, Known, KnownPerson, Outcome, Parting,
    Person, Question, Receiver, Request, Show, Sight, ToGateway, ToNode, Unsaved, Why,
};
use crate::lobby::{AiLevel, LobbyStatus, LobbyView, PlayerView, Reaction};
use crate::name::PlayerName;
use crate::parts::{Fragment, GameParts, OwnPart, SharedParts};
use crate::player::{
    Act, AddAi, Hello, JoinLobby, Named, OtherPlayer, Ping, PlayerMessage, React, SetOptions,
    WatchLobby,
};
use crate::server::{
    GameView, LoadLevel, Pong, Refused, ServerMessage, ServerStatus, State, StatusReason,
    TimedObservation, Welcome,
};
use crate::trace::TraceParent;

pub(super) fn player() -> Vec<(&'static str, PlayerMessage)> {
    vec![
        (
            "hello",
            PlayerMessage::Hello(Hello {
                token: None,
                partial: true,
            }),
        ),
        (
            "hello_again",
            PlayerMessage::Hello(Hello {
                token: Some(token().reveal().to_owned()),
                partial: false,
            }),
        ),
        (
            "create_lobby",
            PlayerMessage::CreateLobby(Named { name: name("Ada") }),
        ),
        (
            "join_lobby",
            PlayerMessage::JoinLobby(JoinLobby {
                code: code(),
                name: name("Ben"),
            }),
        ),
        (
            "quick_play",
            PlayerMessage::QuickPlay(Named { name: name("Cleo") }),
        ),
        (
            "watch_lobby",
            PlayerMessage::WatchLobby(WatchLobby { code: code() }),
        ),
        ("leave_lobby", PlayerMessage::LeaveLobby),
        (
            "add_ai",
            PlayerMessage::AddAi(AddAi {
                level: AiLevel::Hard,
            }),
        ),
        (
            "remove_player",
            PlayerMessage::RemovePlayer(OtherPlayer {
                player_id: person(2),
            }),
        ),
        ("set_options", PlayerMessage::SetOptions(some_options())),
        (
            "set_options_no_deadline",
            PlayerMessage::SetOptions(SetOptions {
                options: OptionsPatch {
                    turn_seconds: Some(None),
                    ..OptionsPatch::default()
                },
                public: None,
            }),
        ),
        ("start_game", PlayerMessage::StartGame),
        (
            "action_choose_trump",
            act(Action::ChooseTrump {
                suit: rules::Suit::Red,
            }),
        ),
        ("action_bid", act(Action::Bid { value: 2 })),
        ("action_play", act(Action::Play { card: card("R13") })),
        (
            "replace_player",
            PlayerMessage::ReplacePlayer(OtherPlayer {
                player_id: person(2),
            }),
        ),
        (
            "react",
            PlayerMessage::React(React {
                reaction: Reaction::WellPlayed,
            }),
        ),
        ("return_to_lobby", PlayerMessage::ReturnToLobby),
        (
            "ping",
            PlayerMessage::Ping(Ping {
                nonce: Some("7".to_owned()),
            }),
        ),
    ]
}

pub(super) fn server() -> Vec<(&'static str, ServerMessage)> {
    let status = ServerStatus {
        level: LoadLevel::Normal,
        accepting_games: true,
        reason: None,
        retry_after_ms: None,
        reconnect_within_ms: None,
    };
    let full = ServerStatus {
        level: LoadLevel::Busy,
        accepting_games: false,
        reason: Some(StatusReason::Full),
        retry_after_ms: Some(5000),
        reconnect_within_ms: Some(10_000),
    };
    let not_your_turn = Refused {
        code: ErrorCode::NotYourTurn,
        message: "another player is to act".to_owned(),
        retry_after_ms: None,
        id: Some("a1".to_owned()),
    };
    vec![
        (
            "welcome",
            ServerMessage::Welcome(Welcome {
                player_id: person(1),
                token: token(),
                name: Some(name("Ada")),
                reconnect_within_ms: 5000,
            }),
        ),
        ("server_status", ServerMessage::ServerStatus(status)),
        ("server_status_full", ServerMessage::ServerStatus(full)),
        ("state_empty", state(State::empty())),
        ("state_waiting", state(waiting())),
        ("state_bidding", state(bidding())),
        ("state_playing", state(playing())),
        ("state_spectator", state(spectator())),
        ("state_finished", state(finished())),
        ("error", ServerMessage::Error(not_your_turn)),
        (
            "pong",
            ServerMessage::Pong(Pong {
                nonce: Some("7".to_owned()),
            }),
        ),
    ]
}

pub(super) fn gateway_to_node() -> Vec<(&'static str, ToNode)> {
    let mut messages = vec![
        (
            "hello",
            ToNode::Hello {
                gateway: "gateway-0011aabb".to_owned(),
                incarnation: Uuid::from_u128(1),
            },
        ),
        (
            "ping",
            ToNode::Ping {
                nonce: 7,
                registry: Sight::Away { since_ms: 1500 },
            },
        ),
        ("probe", ToNode::Probe { request: 1 }),
        (
            "inspect",
            ToNode::Inspect {
                request: 1,
                code: code(),
            },
        ),
        (
            "claim",
            ToNode::Claim {
                request: 1,
                claim: Claim {
                    code: code(),
                    born: "00112233445566aa".to_owned(),
                    epoch: 1_764_460_800_000,
                    seq: 1_764_460_800_042,
                    handed: Some(handed()),
                    why: Some(Why::HandedOver),
                    searched_ms: 5_200,
                },
            },
        ),
        (
            "question",
            ToNode::Question {
                request: 1,
                question: Question::Session(token_hash()),
            },
        ),
        (
            "detach",
            ToNode::Detach {
                code: code(),
                connection: ConnectionId(12),
            },
        ),
    ];
    messages.extend(requests().into_iter().map(|(name, request)| {
        let person = Person {
            player: person(1),
            token: token_hash(),
            generation: 1_764_460_800_000,
        };
        (
            name,
            ToNode::Ask(Ask {
                person,
                connection: ConnectionId(12),
                number: 4,
                code: code(),
                request,
                trace: Some(trace()),
            }),
        )
    }));
    messages
}

/// Everything that a player may want.
fn requests() -> Vec<(&'static str, Request)> {
    vec![
        (
            "create",
            Request::Create {
                born: "00112233445566aa".to_owned(),
                name: name("Ada"),
                public: true,
            },
        ),
        (
            "join",
            Request::Join {
                name: name("Ben"),
                only_if_public: false,
            },
        ),
        ("watch", Request::Watch),
        ("attach", Request::Attach { shown: Some(42) }),
        ("leave", Request::Leave),
        (
            "add_ai",
            Request::AddAi {
                level: AiLevel::Easy,
            },
        ),
        ("remove_player", Request::RemovePlayer { player: person(2) }),
        ("set_options", Request::SetOptions(some_options())),
        ("start", Request::Start),
        (
            "act",
            Request::Act {
                action: Action::Bid { value: 1 },
                turn: Some(3),
            },
        ),
        (
            "replace_player",
            Request::ReplacePlayer { player: person(2) },
        ),
        (
            "react",
            Request::React {
                reaction: Reaction::Oops,
            },
        ),
        ("return_to_lobby", Request::ReturnToLobby),
    ]
}

fn pong() -> ToGateway {
    ToGateway::Pong {
        nonce: 7,
        unsaved: Some(Unsaved {
            suspended: 3,
            uncommitted: 1,
            cut_off: true,
        }),
    }
}

pub(super) fn node_to_gateway() -> Vec<(&'static str, ToGateway)> {
    let answer = |outcome| ToGateway::Answer {
        connection: ConnectionId(12),
        number: 4,
        outcome,
    };
    let refused = Outcome::Refused {
        code: ErrorCode::RateLimited,
        message: "one sign every two seconds".to_owned(),
        retry_after_ms: Some(1500),
    };
    let playing = playing();
    let (shared, own) = parts(
        playing.seq,
        playing.lobby.as_ref().unwrap(),
        playing.game.as_ref(),
    );
    let show = Show {
        code: code(),
        epoch: 1_764_460_800_000,
        shared,
        events: playing.events.iter().map(Fragment::of).collect(),
        own: own.into_iter().collect(),
        to: vec![Receiver {
            connection: ConnectionId(12),
            own: Some(0),
        }],
        traces: vec![trace()],
    };
    vec![
        (
            "hello",
            ToGateway::Hello {
                node: "game-0011aabb".to_owned(),
                incarnation: Uuid::from_u128(2),
            },
        ),
        ("pong", pong()),
        (
            "probed",
            ToGateway::Probed {
                request: 1,
                failure: None,
            },
        ),
        (
            "inspected",
            ToGateway::Inspected {
                request: 1,
                lobby: Some(inspection()),
            },
        ),
        (
            "status",
            ToGateway::Status {
                level: LoadLevel::Busy,
                accepting_games: false,
            },
        ),
        ("answer_done", answer(Outcome::Done)),
        ("answer_attached", answer(Outcome::Attached { taken: 3 })),
        ("answer_refused", answer(refused)),
        ("answer_not_owner", answer(Outcome::NotOwner)),
        (
            "claimed",
            ToGateway::Claimed {
                request: 1,
                outcome: Claimed::Owned {
                    epoch: 1_764_460_800_001,
                },
            },
        ),
        (
            "knows",
            ToGateway::Knows {
                request: 1,
                known: Some(known()),
            },
        ),
        (
            "hands_over",
            ToGateway::HandsOver {
                lobbies: vec![(code(), handed())],
            },
        ),
        ("commits_again", ToGateway::CommitsAgain),
        ("show", ToGateway::Show(show)),
        (
            "parted",
            ToGateway::Parted {
                code: code(),
                connection: ConnectionId(12),
                reason: Parting::Removed,
            },
        ),
    ]
}

fn handed() -> Handed {
    Handed {
        epoch: 1_764_460_800_000,
        seq: 1_764_460_800_042,
        born: "00112233445566aa".to_owned(),
        status: "playing".to_owned(),
        saved: Bytes::from_static(&[1, 128]),
    }
}

fn known() -> Known {
    Known {
        code: code(),
        born: "00112233445566aa".to_owned(),
        epoch: 1_764_460_800_000,
        suspended: false,
        person: Some(KnownPerson {
            player: person(1),
            name: Some(name("Ada")),
            generation: 1_764_460_800_000,
        }),
    }
}

fn inspection() -> Inspection {
    let seat = |is_ai, connected| InspectedSeat { is_ai, connected };
    Inspection {
        epoch: 1_764_460_800_000,
        seq: 1_764_460_800_042,
        status: LobbyStatus::Playing,
        seats: vec![seat(false, true), seat(false, false), seat(true, true)],
        spectators: 1,
    }
}

pub(super) fn node_to_ai() -> Vec<(&'static str, ToAi)> {
    let game = game_after(3 + 3 + 3 + 4);
    let seat = game.to_act().unwrap();
    let decide = Decide {
        request_id: Uuid::from_u128(3),
        seat,
        level: AiLevel::Normal,
        options: *game.options(),
        observation: game.observe(Some(seat)),
        plays: game.plays().to_vec(),
        timeout_ms: 5000,
        trace: Some(trace()),
    };
    vec![
        ("decide", ToAi::Decide(Box::new(decide))),
        ("ping", ToAi::Ping { nonce: 7 }),
    ]
}

pub(super) fn ai_to_node() -> Vec<(&'static str, decide::ToNode)> {
    let request_id = Uuid::from_u128(3);
    vec![
        (
            "hello",
            decide::ToNode::Hello {
                ai_node: "ai-node-0011aabb".to_owned(),
                incarnation: Uuid::from_u128(4),
            },
        ),
        (
            "decision",
            decide::ToNode::Decision {
                request_id,
                action: Action::Play { card: card("B7") },
            },
        ),
        (
            "failed",
            decide::ToNode::Failed {
                request_id,
                failure: DecideFailure::Overloaded,
            },
        ),
        ("pong", decide::ToNode::Pong { nonce: 7 }),
    ]
}

/// A typed state, cut into the parts that a game node sends.
pub(super) fn parts(
    seq: u64,
    lobby: &LobbyView,
    game: Option<&GameView>,
) -> (SharedParts, Option<OwnPart>) {
    let own = game.map(|game| OwnPart {
        you: object(&json!({ "you": game.you })),
        own: Fragment::of(&game.observation.observation.own),
    });
    let game = game.map(|game| {
        let mut table = serde_json::to_value(&game.observation.observation.table).unwrap();
        table["deadline_ms"] = json!(game.observation.deadline_ms);
        GameParts {
            deal: object(&json!({ "deal_commitment": game.deal_commitment, "seed": game.seed })),
            table: object(&table),
            sheet: Fragment::of(&game.observation.observation.sheet),
            last_trick: Fragment::of(&game.observation.observation.last_trick),
        }
    });
    (
        SharedParts {
            seq,
            lobby: Fragment::of(lobby),
            game,
        },
        own,
    )
}

fn object(value: &impl Serialize) -> Fragment {
    Fragment::of(value)
}

fn state(state: State) -> ServerMessage {
    ServerMessage::State(Box::new(state))
}

fn waiting() -> State {
    State {
        seq: 1_764_460_800_001,
        lobby: Some(lobby(LobbyStatus::Waiting)),
        game: None,
        events: Vec::new(),
    }
}

fn bidding() -> State {
    let (game, events) = new_game();
    let to_act = game.to_act();
    seen(
        &game,
        to_act,
        LobbyStatus::Playing,
        events.into_iter().map(Into::into).collect(),
        Some(29_500),
    )
}

fn playing() -> State {
    let mut game = game_after(3 + 3 + 3 + 4);
    let actor = game.to_act().unwrap();
    let mut events: Vec<crate::Event> = game
        .apply(actor, game.legal_actions(actor)[0])
        .unwrap()
        .into_iter()
        .map(Into::into)
        .collect();
    events.push(
        TableEvent::SeatReplaced {
            seat: seat(2),
            by: ReplacedBy::Ai,
        }
        .into(),
    );
    events.push(
        TableEvent::HostChanged {
            player_id: person(1),
        }
        .into(),
    );
    events.push(
        TableEvent::Reaction {
            seat: seat(1),
            reaction: Reaction::Hurry,
        }
        .into(),
    );
    seen(&game, Some(seat(0)), LobbyStatus::Playing, events, None)
}

fn spectator() -> State {
    seen(&game_after(8), None, LobbyStatus::Playing, Vec::new(), None)
}

fn finished() -> State {
    let (mut game, _) = new_game();
    let mut last = Vec::new();
    while let Some(actor) = game.to_act() {
        last = game.apply(actor, game.legal_actions(actor)[0]).unwrap();
    }
    seen(
        &game,
        Some(seat(0)),
        LobbyStatus::Finished,
        last.into_iter().map(Into::into).collect(),
        None,
    )
}

fn seen(
    game: &Game,
    you: Option<Seat>,
    status: LobbyStatus,
    events: Vec<crate::Event>,
    deadline_ms: Option<u32>,
) -> State {
    let view = GameView {
        you,
        deal_commitment: game.commitment(),
        seed: game.revealed_seed(),
        observation: TimedObservation {
            observation: game.observe(you),
            deadline_ms,
        },
    };
    State {
        seq: 1_764_460_800_100 + u64::from(game.turn()),
        lobby: Some(lobby(status)),
        game: Some(view),
        events,
    }
}

fn lobby(status: LobbyStatus) -> LobbyView {
    let human = |id, named, connected| PlayerView {
        id: person(id),
        name: name(named),
        is_ai: false,
        connected,
        replaceable: !connected,
        level: None,
    };
    let merlin = PlayerView {
        id: PlayerId::ai([0xa1; 4]),
        name: name("Merlin"),
        is_ai: true,
        connected: true,
        replaceable: false,
        level: Some(AiLevel::Normal),
    };
    LobbyView {
        code: code(),
        status,
        host_id: person(1),
        options: rules::Options::default()
            .with(some_options().options)
            .unwrap(),
        public: true,
        players: vec![human(1, "Ada", true), human(2, "Ben", false), merlin],
        spectators: 1,
        min_players: 3,
        max_players: 6,
        ai_available: true,
        accepting_games: true,
        saved: true,
    }
}

fn new_game() -> (Game, Vec<rules::Event>) {
    let options = rules::Options::default()
        .with(some_options().options)
        .unwrap();
    Game::new(SeatCount::MIN, options, Seed::new([7; 32]))
}

/// The game after so many actions, each the first legal one.
fn game_after(actions: usize) -> Game {
    let (mut game, _) = new_game();
    for _ in 0..actions {
        let actor = game.to_act().unwrap();
        game.apply(actor, game.legal_actions(actor)[0]).unwrap();
    }
    game
}

fn some_options() -> SetOptions {
    let options = OptionsPatch {
        bid_rule: Some(rules::BidRule::Hook),
        length: Some(rules::Length::Short),
        turn_seconds: Some(Some(30)),
        ..OptionsPatch::default()
    };
    SetOptions {
        options,
        public: Some(true),
    }
}

fn act(action: Action) -> PlayerMessage {
    PlayerMessage::Action(Act {
        action,
        turn: Some(12),
    })
}

fn name(text: &str) -> PlayerName {
    text.parse().unwrap()
}

fn code() -> LobbyCode {
    "ABCD23".parse().unwrap()
}

fn person(number: u8) -> PlayerId {
    PlayerId::person([number; 6])
}

fn seat(index: u8) -> Seat {
    Seat::new(index).unwrap()
}

fn card(text: &str) -> Card {
    text.parse().unwrap()
}

/// The one that W3C's text uses as its example.
fn trace() -> TraceParent {
    let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    text.to_owned().try_into().unwrap()
}

/// Opens nothing anywhere: the bytes are all the same.
fn token() -> Token {
    Token::new([1; 24])
}

fn token_hash() -> TokenHash {
    token().hash()
}
