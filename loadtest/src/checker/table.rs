//! What a state shows of the lobby: seats, host, options.

use protocol::event::{ReplacedBy, TableEvent};
use protocol::limit::{MAX_SEATS, MAX_SPECTATORS, MIN_SEATS};
use protocol::lobby::{LobbyStatus, LobbyView, PlayerView};
use protocol::server::State;
use protocol::{Event, PlayerId};
use rules::Phase;

use crate::contradiction::{Contradiction, ensure, same};

/// One picture of a lobby, on its own.
pub(super) fn check(
    me: Option<&PlayerId>,
    lobby: &LobbyView,
    state: &State,
) -> Result<(), Contradiction> {
    same("min_players", &MIN_SEATS, &usize::from(lobby.min_players))?;
    same("max_players", &MAX_SEATS, &usize::from(lobby.max_players))?;
    ensure(
        (1..=MAX_SEATS).contains(&lobby.players.len()),
        "players",
        "one to six",
        &lobby.players.len(),
    )?;
    let watching = lobby.spectators as usize;
    ensure(
        watching <= MAX_SPECTATORS,
        "spectators",
        "at most 50",
        &watching,
    )?;
    for (place, player) in lobby.players.iter().enumerate() {
        check_player(lobby, player)?;
        let twice = |other: &PlayerView| other.id == player.id || other.name == player.name;
        let alone = !lobby.players[..place].iter().any(twice);
        ensure(alone, "players", "ids and names of their own", player)?;
    }
    let host = lobby
        .players
        .iter()
        .find(|player| player.id == lobby.host_id);
    ensure(
        host.is_some_and(|host| !host.is_ai),
        "host_id",
        "a person with a seat",
        &lobby.host_id,
    )?;
    check_game(me, lobby, state)
}

fn check_player(lobby: &LobbyView, player: &PlayerView) -> Result<(), Contradiction> {
    let away = !player.is_ai && !player.connected && lobby.status == LobbyStatus::Playing;
    ensure(
        player.is_ai == player.id.is_ai()
            && player.is_ai == player.level.is_some()
            && (player.connected || !player.is_ai)
            && (away || !player.replaceable),
        "players",
        "a person, or an AI that is always here",
        player,
    )
}

fn check_game(
    me: Option<&PlayerId>,
    lobby: &LobbyView,
    state: &State,
) -> Result<(), Contradiction> {
    let waiting = lobby.status == LobbyStatus::Waiting;
    same("game is null", &waiting, &state.game.is_none())?;
    let seat = me.and_then(|me| lobby.players.iter().position(|player| player.id == *me));
    if let Some(seat) = seat {
        ensure(
            lobby.players[seat].connected,
            "connected",
            "true for oneself",
            &lobby.players[seat],
        )?;
    }
    let Some(game) = &state.game else {
        return Ok(());
    };
    let finished = lobby.status == LobbyStatus::Finished;
    let table = &game.observation.observation.table;
    same(
        "phase is finished",
        &finished,
        &(table.phase == Phase::Finished),
    )?;
    same("seed is shown", &finished, &game.seed.is_some())?;
    same("you", &seat, &game.you.map(rules::Seat::index))?;
    let timed = lobby
        .options
        .turn_seconds()
        .map(|seconds| u32::from(seconds) * 1000);
    let left = game.observation.deadline_ms;
    ensure(
        left.is_none_or(|left| !finished && timed.is_some_and(|most| left <= most)),
        "deadline_ms",
        "what is left of turn_seconds",
        &left,
    )
}

/// One picture after another of the same lobby; `complete`: the events between them are all there.
pub(super) fn check_change(
    before: &LobbyView,
    lobby: &LobbyView,
    events: &[Event],
    complete: bool,
) -> Result<(), Contradiction> {
    let mut host = None;
    let mut replaced = [None; MAX_SEATS];
    for event in events {
        match event {
            Event::Table(TableEvent::HostChanged { player_id }) => host = Some(player_id),
            Event::Table(TableEvent::SeatReplaced { seat, by }) => {
                replaced[seat.index()] = Some(*by == ReplacedBy::Ai);
            }
            Event::Table(TableEvent::Reaction { seat, .. }) => {
                ensure(
                    seat.index() < lobby.players.len(),
                    "reaction",
                    "a seat of the table",
                    seat,
                )?;
            }
            Event::Game(_) => {}
        }
    }
    if let Some(host) = host {
        same("host_changed", &lobby.host_id, host)?;
    } else if complete {
        same("host_id without an event", &before.host_id, &lobby.host_id)?;
    }
    let seats_stay = before.status == LobbyStatus::Playing && lobby.status != LobbyStatus::Waiting;
    if seats_stay {
        same(
            "seats in a game",
            &before.players.len(),
            &lobby.players.len(),
        )?;
        same("options in a game", &before.options, &lobby.options)?;
        for (seat, (old, new)) in before.players.iter().zip(&lobby.players).enumerate() {
            same("the name at a seat", &old.name, &new.name)?;
            match replaced[seat] {
                Some(ai) => same("seat_replaced", &ai, &new.is_ai)?,
                None if complete => same("the id at a seat", &old.id, &new.id)?,
                None => {}
            }
        }
    }
    Ok(())
}
