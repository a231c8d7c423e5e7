//! People at one table, from the lobby to the end of a game.

use futures_util::future::try_join_all;
use loadtest::strategy::random_moves;
use loadtest::{Agreement, Player};
use protocol::lobby::{AiLevel, LobbyStatus};
use protocol::player::{AddAi, PlayerMessage, SetOptions};
use protocol::server::State;
use protocol::{ErrorCode, LobbyCode};
use serde_json::Value;

use super::CEILING;

/// A connected player who has said hello and sits nowhere.
pub(crate) async fn arrive(url: &str) -> Player {
    let mut player = Player::connect(url).await.unwrap().keeping_transcript();
    player.hello(None).await.unwrap();
    player
}

/// People in one lobby, the first its host, and AI seats after them.
pub(crate) async fn gather(url: &str, people: usize, ai_seats: usize) -> (Vec<Player>, LobbyCode) {
    let mut players = vec![arrive(url).await];
    let code = players[0].create("Person 1").await.unwrap();
    for number in 2..=people {
        let mut player = arrive(url).await;
        player
            .join(code, &format!("Person {number}"))
            .await
            .unwrap();
        players.push(player);
    }
    for seats in people + 1..=people + ai_seats {
        let message = PlayerMessage::AddAi(AddAi {
            level: AiLevel::Normal,
        });
        players[0]
            .ask(message, |state| seats_of(state) == seats)
            .await
            .unwrap();
    }
    for player in &mut players {
        player
            .until(|state| seats_of(state) == people + ai_seats, CEILING)
            .await
            .unwrap();
    }
    (players, code)
}

/// Sets options, as they are sent.
pub(crate) async fn agree_on(host: &mut Player, options: Value) {
    let options: SetOptions = serde_json::from_value(options).unwrap();
    let wanted = options.options;
    let shows = |state: &State| {
        let options = state.lobby.as_ref().map(|lobby| lobby.options);
        options.is_some_and(|options| options.with(wanted) == Ok(options))
    };
    host.ask(PlayerMessage::SetOptions(options), shows)
        .await
        .unwrap();
}

/// Starts the game; all see it.
pub(crate) async fn start(players: &mut [Player]) {
    players[0].send(PlayerMessage::StartGame).await.unwrap();
    for player in players {
        player
            .until(|state| state.game.is_some(), CEILING)
            .await
            .unwrap();
    }
}

/// All play to the end at the same time, at random; then the game is played again from its seed, with every move that
/// anybody was shown.
pub(crate) async fn play_to_the_end(players: &mut [Player]) {
    let playing = players
        .iter_mut()
        .zip(1..)
        .map(|(player, seed)| player.play(random_moves(seed)));
    try_join_all(playing).await.unwrap();
    let mut agreement = Agreement::default();
    for player in players.iter() {
        agreement.see(player.state()).unwrap();
    }
    let records: Vec<_> = players
        .iter()
        .map(|player| player.checker().record().unwrap())
        .collect();
    assert_eq!(
        records[0].replay(&records[1..]),
        Ok(true),
        "every move is known"
    );
}

/// The message is refused with this code, and nothing has changed for who sent it.
pub(crate) async fn refused(player: &mut Player, message: PlayerMessage, code: ErrorCode) {
    let before = player.state().clone();
    player.send(message.clone()).await.unwrap();
    let refused = player.refusal(CEILING).await.unwrap();
    assert_eq!(refused.code, code, "{message:?}: {}", refused.message);
    assert!(refused.id.is_some(), "{message:?}: the id is repeated");
    player.echo(CEILING).await.unwrap();
    assert_eq!(*player.state(), before, "{message:?}");
}

pub(crate) fn seats_of(state: &State) -> usize {
    state.lobby.as_ref().map_or(0, |lobby| lobby.players.len())
}

pub(crate) fn status_of(state: &State) -> Option<LobbyStatus> {
    state.lobby.as_ref().map(|lobby| lobby.status)
}
