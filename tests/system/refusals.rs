//! Every code that a player can meet: the right one, the connection stays open, and nothing has changed.

use loadtest::Player;
use protocol::lobby::{AiLevel, LobbyStatus, Reaction};
use protocol::player::{
    Act, AddAi, Hello, JoinLobby, Named, OtherPlayer, PlayerMessage, React, SetOptions, WatchLobby,
};
use protocol::server::State;
use protocol::{ErrorCode, PlayerId};
use rules::Action;
use serde_json::{Value, json};

use crate::support::CEILING;
use crate::support::fleet::Fleet;
use crate::support::table::{agree_on, arrive, gather, play_to_the_end, refused, start, status_of};

#[tokio::test]
async fn what_is_no_message_is_refused_by_name() {
    let fleet = Fleet::in_one_process(&[]).await;
    let mut player = arrive(&fleet.url()).await;
    for text in [
        "",
        "nonsense",
        "[]",
        "7",
        r#"{"type":"state"}"#,
        r#"{"type":"dance"}"#,
        r#"{"type":7}"#,
        r#"{"name":"Ada"}"#,
        r#"{"type":"create_lobby"}"#,
        r#"{"type":"create_lobby","name":7}"#,
        r#"{"type":"create_lobby","name":"  "}"#,
        r#"{"type":"create_lobby","name":"123456789012345678901"}"#,
        r#"{"type":"join_lobby","name":"Ada","code":"ABC"}"#,
        r#"{"type":"add_ai","level":"divine"}"#,
        r#"{"type":"set_options","length":"endless"}"#,
        r#"{"type":"set_options","hidden_bids":"yes"}"#,
        r#"{"type":"action","action":{"type":"play","card":"B14"}}"#,
        r#"{"type":"action","action":{"type":"bid","value":1.5}}"#,
        r#"{"type":"action","action":{"type":"bid","value":1},"turn":-1}"#,
        r#"{"type":"remove_player","player_id":"Ada"}"#,
        r#"{"type":"react","reaction":"dance"}"#,
        r#"{"type":"ping","id":7}"#,
        r#"{"type":"hello","token":null}"#,
    ] {
        player.send_text(text).await.unwrap();
        let refused = player.refusal(CEILING).await.unwrap();
        assert_eq!(refused.code, ErrorCode::InvalidMessage, "{text}");
        assert!(!refused.message.is_empty(), "{text}");
    }
    player
        .send_text(r#"{"type":"join_lobby","id":"mine","code":"ABCD23"}"#)
        .await
        .unwrap();
    let refused = player.refusal(CEILING).await.unwrap();
    assert_eq!(refused.id.as_deref(), Some("mine"));
    assert!(refused.message.contains("name"), "{}", refused.message);
    player.create("Still here").await.unwrap();
}

#[tokio::test]
async fn before_hello_everything_else_is_too_early() {
    let fleet = Fleet::in_one_process(&[]).await;
    let mut player = Player::connect(&fleet.url()).await.unwrap();
    let create = PlayerMessage::CreateLobby(Named {
        name: "Hasty".parse().unwrap(),
    });
    for message in [create, PlayerMessage::StartGame, PlayerMessage::LeaveLobby] {
        player.send(message).await.unwrap();
        assert_eq!(
            player.refusal(CEILING).await.unwrap().code,
            ErrorCode::HelloRequired
        );
    }
    player.hello(None).await.unwrap();
    let again = PlayerMessage::Hello(Hello {
        token: None,
        partial: false,
    });
    refused(&mut player, again, ErrorCode::InvalidMessage).await;
}

#[tokio::test]
async fn outside_a_lobby() {
    let fleet = Fleet::in_one_process(&[]).await;
    let mut player = arrive(&fleet.url()).await;
    let somebody = player.id().unwrap().clone();
    for message in [
        PlayerMessage::StartGame,
        PlayerMessage::LeaveLobby,
        PlayerMessage::ReturnToLobby,
        add_ai(),
        options(json!({"length": "short"})),
        act(Action::Bid { value: 0 }, None),
        react(),
        PlayerMessage::RemovePlayer(OtherPlayer {
            player_id: somebody.clone(),
        }),
        PlayerMessage::ReplacePlayer(OtherPlayer {
            player_id: somebody,
        }),
    ] {
        refused(&mut player, message, ErrorCode::NotInLobby).await;
    }
    let code = "ZZZZ99".parse().unwrap();
    let watch = PlayerMessage::WatchLobby(WatchLobby { code });
    refused(&mut player, watch, ErrorCode::LobbyNotFound).await;
    refused(&mut player, join("ZZZZ99"), ErrorCode::LobbyNotFound).await;
}

#[tokio::test]
async fn before_a_game() {
    let fleet = Fleet::in_one_process(&[]).await;
    let (mut players, code) = gather(&fleet.url(), 2, 0).await;
    let mut watcher = arrive(&fleet.url()).await;
    watcher.watch(code).await.unwrap();
    let with_spectator = |state: &State| {
        state
            .lobby
            .as_ref()
            .is_some_and(|lobby| lobby.spectators == 1)
    };
    for player in &mut players {
        player.until(with_spectator, CEILING).await.unwrap();
    }
    let [host, guest] = &mut players[..] else {
        unreachable!()
    };
    let (host_id, guest_id) = (host.id().unwrap().clone(), guest.id().unwrap().clone());

    for message in [
        add_ai(),
        options(json!({"length": "short"})),
        PlayerMessage::StartGame,
        PlayerMessage::ReturnToLobby,
        other(PlayerMessage::RemovePlayer, &host_id),
        other(PlayerMessage::ReplacePlayer, &host_id),
    ] {
        refused(guest, message.clone(), ErrorCode::NotHost).await;
        refused(&mut watcher, message, ErrorCode::Spectator).await;
    }
    for message in [act(Action::Bid { value: 0 }, None), react()] {
        refused(&mut watcher, message, ErrorCode::Spectator).await;
    }
    refused(
        guest,
        act(Action::Bid { value: 0 }, Some(0)),
        ErrorCode::NotPlaying,
    )
    .await;

    let stranger: PlayerId = "0123456789ab".parse().unwrap();
    for (message, code) in [
        (PlayerMessage::StartGame, ErrorCode::NotEnoughPlayers),
        (PlayerMessage::ReturnToLobby, ErrorCode::NotFinished),
        (
            other(PlayerMessage::ReplacePlayer, &guest_id),
            ErrorCode::NotPlaying,
        ),
        (
            other(PlayerMessage::RemovePlayer, &host_id),
            ErrorCode::PlayerNotFound,
        ),
        (
            other(PlayerMessage::RemovePlayer, &stranger),
            ErrorCode::PlayerNotFound,
        ),
        (
            options(json!({"hidden_bids": true, "bid_rule": "hook"})),
            ErrorCode::BadOption,
        ),
        (options(json!({"turn_seconds": 9})), ErrorCode::BadOption),
        (
            options(json!({"turn_seconds": 70000, "public": true})),
            ErrorCode::BadOption,
        ),
    ] {
        refused(host, message, code).await;
    }

    for seats in 3..=6 {
        let more = |state: &State| {
            state
                .lobby
                .as_ref()
                .is_some_and(|l| l.players.len() == seats)
        };
        host.ask(add_ai(), more).await.unwrap();
    }
    refused(host, add_ai(), ErrorCode::LobbyFull).await;
    let mut late = arrive(&fleet.url()).await;
    refused(&mut late, join(code.as_str()), ErrorCode::LobbyFull).await;
}

#[tokio::test]
async fn in_a_game_and_after_it() {
    let fleet = Fleet::in_one_process(&[]).await;
    let (mut players, code) = gather(&fleet.url(), 3, 0).await;
    agree_on(&mut players[0], json!({"length": "short"})).await;
    start(&mut players).await;
    let ids: Vec<PlayerId> = players
        .iter()
        .map(|player| player.id().unwrap().clone())
        .collect();
    let stranger: PlayerId = "0123456789ab".parse().unwrap();
    for (message, code) in [
        (add_ai(), ErrorCode::NotWaiting),
        (options(json!({"length": "full"})), ErrorCode::NotWaiting),
        (PlayerMessage::StartGame, ErrorCode::NotWaiting),
        (
            other(PlayerMessage::RemovePlayer, &ids[1]),
            ErrorCode::NotWaiting,
        ),
        (PlayerMessage::ReturnToLobby, ErrorCode::NotFinished),
        (
            other(PlayerMessage::ReplacePlayer, &ids[1]),
            ErrorCode::PlayerPresent,
        ),
        (
            other(PlayerMessage::ReplacePlayer, &stranger),
            ErrorCode::PlayerNotFound,
        ),
    ] {
        refused(&mut players[0], message, code).await;
    }
    let mut late = arrive(&fleet.url()).await;
    refused(&mut late, join(code.as_str()), ErrorCode::LobbyPlaying).await;

    refuse_wrong_moves(&mut players).await;

    players[2].send(react()).await.unwrap();
    players[2].send(react()).await.unwrap();
    let limited = players[2].refusal(CEILING).await.unwrap();
    assert_eq!(limited.code, ErrorCode::RateLimited);

    play_to_the_end(&mut players).await;
    assert_eq!(status_of(players[0].state()), Some(LobbyStatus::Finished));
    refused(
        &mut players[0],
        act(Action::Bid { value: 0 }, None),
        ErrorCode::NotPlaying,
    )
    .await;
    refused(
        &mut players[0],
        PlayerMessage::StartGame,
        ErrorCode::NotWaiting,
    )
    .await;
    refused(
        &mut players[1],
        PlayerMessage::ReturnToLobby,
        ErrorCode::NotHost,
    )
    .await;
    refused(&mut late, join(code.as_str()), ErrorCode::LobbyPlaying).await;
}

/// Who may not act, who may, and what they may not do; then one move that is sent twice.
async fn refuse_wrong_moves(players: &mut [Player]) {
    let to_act = acting(players);
    let waiting = (to_act + 1) % players.len();
    refused(
        &mut players[waiting],
        act(Action::Bid { value: 0 }, None),
        ErrorCode::NotYourTurn,
    )
    .await;
    let card = players[to_act].observation().unwrap().own.hand[0];
    let impossible = Action::Bid { value: 99 };
    let is_bid = players[to_act].observation().unwrap().table.phase == rules::Phase::Bid;
    for action in [impossible, Action::Play { card }] {
        refused(
            &mut players[to_act],
            act(action, None),
            ErrorCode::IllegalAction,
        )
        .await;
    }
    if is_bid {
        players[to_act]
            .send_text(r#"{"type":"action","id":"below","action":{"type":"bid","value":-1}}"#)
            .await
            .unwrap();
        let below = players[to_act].refusal(CEILING).await.unwrap();
        assert_eq!(below.code, ErrorCode::IllegalAction);
    }

    double_click(players, true).await;
    double_click(players, false).await;
}

/// Played once; the second is refused as stale if it says which turn it meant, else because the turn has passed on.
async fn double_click(players: &mut [Player], with_turn: bool) {
    let clicking = acting(players);
    let player = &mut players[clicking];
    let turn = player.turn().unwrap();
    let action = player.observation().unwrap().own.legal_actions[0];
    let message = act(action, with_turn.then_some(turn));
    player.send(message.clone()).await.unwrap();
    player.send(message).await.unwrap();
    let code = player.refusal(CEILING).await.unwrap().code;
    assert_eq!(
        code,
        if with_turn {
            ErrorCode::StaleTurn
        } else {
            ErrorCode::NotYourTurn
        }
    );
    for player in players {
        player
            .until(|state| turn_of(state) > turn, CEILING)
            .await
            .unwrap();
        player.echo(CEILING).await.unwrap();
        assert_eq!(player.turn(), Some(turn + 1));
    }
}

fn acting(players: &[Player]) -> usize {
    let acts = |player: &Player| !player.observation().unwrap().own.legal_actions.is_empty();
    players.iter().position(acts).unwrap()
}

fn turn_of(state: &State) -> u32 {
    state
        .game
        .as_ref()
        .map_or(0, |game| game.observation.observation.table.turn)
}

fn add_ai() -> PlayerMessage {
    PlayerMessage::AddAi(AddAi {
        level: AiLevel::Normal,
    })
}

fn react() -> PlayerMessage {
    PlayerMessage::React(React {
        reaction: Reaction::Hello,
    })
}

fn act(action: Action, turn: Option<u32>) -> PlayerMessage {
    PlayerMessage::Action(Act { action, turn })
}

fn join(code: &str) -> PlayerMessage {
    PlayerMessage::JoinLobby(JoinLobby {
        code: code.parse().unwrap(),
        name: "Ada".parse().unwrap(),
    })
}

fn options(json: Value) -> PlayerMessage {
    PlayerMessage::SetOptions(serde_json::from_value::<SetOptions>(json).unwrap())
}

fn other(message: fn(OtherPlayer) -> PlayerMessage, id: &PlayerId) -> PlayerMessage {
    message(OtherPlayer {
        player_id: id.clone(),
    })
}
