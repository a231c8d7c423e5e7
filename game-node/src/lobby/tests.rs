//! What people at a table rely on.

mod checks;
mod moves;

use std::time::Duration;

use protocol::ErrorCode as Code;
use protocol::link::{InspectedSeat, Parting, Request};
use protocol::lobby::{AiLevel, LobbyStatus, Reaction};
use protocol::player::SetOptions;
use rules::{Action, OptionsPatch, Suit};
use serde_json::json;

use super::testing::*;
use super::*;

const ADD_AI: Request = Request::AddAi {
    level: AiLevel::Normal,
};
const REACT: Request = Request::React {
    reaction: Reaction::Oops,
};

fn remove(number: u8) -> Request {
    Request::RemovePlayer { player: id(number) }
}

fn replace(number: u8) -> Request {
    Request::ReplacePlayer { player: id(number) }
}

fn bid(value: u8) -> Request {
    Request::Act {
        action: Action::Bid { value },
        turn: None,
    }
}

fn options(patch: OptionsPatch) -> Request {
    Request::SetOptions(SetOptions {
        options: patch,
        public: None,
    })
}

fn turn_seconds(seconds: u32) -> Request {
    options(OptionsPatch {
        turn_seconds: Some(Some(seconds)),
        ..OptionsPatch::default()
    })
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn partings(effects: &[Effect]) -> Vec<(Connection, Parting)> {
    let parted = effects.iter().filter_map(|effect| match effect {
        Effect::Parted { to, reason } => Some((*to, *reason)),
        _ => None,
    });
    parted.collect()
}

fn sessions(effects: &[Effect]) -> Vec<(PlayerId, SessionPlace)> {
    let changes = effects.iter().filter_map(|effect| match effect {
        Effect::Session(change) => Some((change.player.clone(), change.place.clone())),
        _ => None,
    });
    changes.collect()
}

fn asked(effects: &[Effect]) -> Vec<u32> {
    let turns = effects.iter().filter_map(|effect| match effect {
        Effect::Decide { turn, .. } => Some(*turn),
        _ => None,
    });
    turns.collect()
}

/// Four seats; person 0 is host, 4 watches, 9 is a stranger.
fn waiting() -> Table {
    let mut table = Table::new();
    table.does(1, join("Ada"));
    table.does(2, join("Bob"));
    table.does(0, ADD_AI);
    table.does(4, Request::Watch);
    table
}

fn playing() -> Table {
    let mut table = waiting();
    table.does(0, Request::Start);
    table
}

fn finished() -> Table {
    let mut table = waiting();
    table.does(
        0,
        options(OptionsPatch {
            length: Some(rules::Length::Short),
            ..OptionsPatch::default()
        }),
    );
    table.does(0, Request::Start);
    table.play_to_the_end();
    table
}

#[test]
fn names_are_unique_and_ai_seats_are_wizards() {
    let mut table = Table::new();
    table.does(1, join("Ada"));
    table.does(2, join("Ada"));
    table.does(3, join("Ada"));
    table.does(0, ADD_AI);
    table.does(
        0,
        Request::AddAi {
            level: AiLevel::Hard,
        },
    );
    let names = table.names();
    assert_eq!(names[..4], ["Host", "Ada", "Ada (2)", "Ada (3)"]);
    let view = table.view();
    assert!(view.players[4].is_ai && view.players[4].id.is_ai());
    assert_eq!(view.players[5].level, Some(AiLevel::Hard));
    assert_ne!(names[4], names[5]);
    assert_eq!(table.refused(0, ADD_AI), Code::LobbyFull);
    assert_eq!(table.refused(5, join("Eve")), Code::LobbyFull);
}

#[test]
fn quick_play_brings_nobody_to_a_private_table() {
    let mut table = Table::new();
    let quick = Request::Join {
        name: name("Eve"),
        only_if_public: true,
    };
    table.does(1, quick.clone());
    assert!(table.lobby.welcomes_strangers());
    table.does(
        0,
        Request::SetOptions(SetOptions {
            options: OptionsPatch::default(),
            public: Some(false),
        }),
    );
    assert!(!table.lobby.welcomes_strangers());
    assert_eq!(table.refused(2, quick), Code::LobbyNotFound);
    table.does(2, join("Ada"));
}

#[test]
fn leaving_a_waiting_table_frees_the_seat_and_passes_the_host_on() {
    let mut table = waiting();
    let effects = table.does(0, Request::Leave);
    assert_eq!(partings(&effects), [(connection(0, 1), Parting::Left)]);
    assert_eq!(sessions(&effects), [(id(0), SessionPlace::Elsewhere)]);
    assert_eq!(
        table.events(),
        [json!({"type": "host_changed", "player_id": id(1)})]
    );
    assert_eq!(table.names()[..2], ["Ada", "Bob"]);
    assert_eq!(table.view().host_id, id(1));
}

#[test]
fn leaving_a_running_game_makes_the_seat_an_ais_of_the_same_name() {
    let mut table = playing();
    let turn = table.game().turn();
    table.does(1, Request::Leave);
    assert_eq!(
        table.events(),
        [json!({"type": "seat_replaced", "seat": 1, "by": "ai"})]
    );
    let seat = table.view().players[1].clone();
    assert!(seat.is_ai && seat.id.is_ai() && seat.name.as_str() == "Ada");
    assert_eq!(table.game().turn(), turn);
    assert_eq!(table.refused(1, join("Ada")), Code::LobbyPlaying);
    table.play_to_the_end();
    table.does(0, Request::ReturnToLobby);
    assert!(
        table.view().players[1].is_ai,
        "who left does not come back by that"
    );
    table.does(1, join("Ada"));
    assert_eq!(table.names()[4], "Ada (2)");
}

#[test]
fn with_nobody_left_the_lobby_ends() {
    let mut table = playing();
    table.does(1, Request::Leave);
    table.does(2, Request::Leave);
    let effects = table.does(0, Request::Leave);
    assert!(matches!(effects[0], Effect::Answer { .. }));
    assert!(effects.contains(&Effect::End));
    let parted = [
        (connection(0, 1), Parting::Left),
        (connection(4, 1), Parting::Ended),
    ];
    assert_eq!(partings(&effects), parted);
    assert!(table.lobby.has_ended() && table.lobby.next_wake().is_none());
    assert_eq!(table.refused(9, join("Eve")), Code::LobbyNotFound);
}

#[test]
fn a_removed_person_is_told_and_may_come_again() {
    let mut table = waiting();
    let effects = table.does(0, remove(1));
    assert_eq!(partings(&effects), [(connection(1, 1), Parting::Removed)]);
    assert_eq!(sessions(&effects), [(id(1), SessionPlace::Elsewhere)]);
    assert_eq!(table.names()[..2], ["Host", "Bob"]);
    let ai = table.view().players[2].id.clone();
    table.does(0, Request::RemovePlayer { player: ai });
    table.does(1, join("Ada"));
    assert_eq!(table.names(), ["Host", "Bob", "Ada"]);
}

#[test]
fn the_host_passes_on_after_a_minute_away_to_somebody_who_is_here() {
    let mut table = waiting();
    table.goes_offline(0);
    table.goes_offline(1);
    table.wait(seconds(59));
    assert_eq!(table.view().host_id, id(0));
    table.wait(seconds(1));
    assert_eq!(table.view().host_id, id(2), "1 is away too");
    assert_eq!(table.names()[0], "Host", "the seat stays");
    let wish = table.wish(0, 2, Request::Attach { shown: None });
    table.hears(wish).unwrap();
    assert_eq!(table.view().host_id, id(2), "the role does not come back");
}

#[test]
fn a_host_who_is_alone_and_away_passes_on_to_the_first_who_comes() {
    let mut table = waiting();
    for number in [0, 1, 2] {
        table.goes_offline(number);
    }
    table.wait(seconds(100));
    assert_eq!(table.view().host_id, id(0));
    let wish = table.wish(1, 2, Request::Attach { shown: None });
    table.hears(wish).unwrap();
    assert_eq!(table.view().host_id, id(1));
}

#[test]
fn somebody_away_for_a_minute_can_be_replaced_and_takes_the_seat_back() {
    let mut table = playing();
    table.goes_offline(1);
    table.wait(seconds(59));
    assert!(!table.view().players[1].connected && !table.view().players[1].replaceable);
    assert_eq!(table.refused(0, replace(1)), Code::PlayerPresent);
    table.wait(seconds(1));
    assert!(table.view().players[1].replaceable);
    table.does(0, replace(1));
    assert_eq!(
        table.events(),
        [json!({"type": "seat_replaced", "seat": 1, "by": "ai"})]
    );
    assert!(table.view().players[1].is_ai);
    assert_eq!(table.refused(0, replace(1)), Code::PlayerNotFound);
    assert_eq!(
        table.refused(1, bid(0)),
        Code::NotInLobby,
        "not before they come back"
    );
    let wish = table.wish(1, 2, Request::Attach { shown: None });
    let effects = table.hears(wish).unwrap();
    assert_eq!(sessions(&effects), [(id(1), SessionPlace::Here(None))]);
    assert_eq!(
        table.events(),
        [json!({"type": "seat_replaced", "seat": 1, "by": "player"})]
    );
    let seat = table.view().players[1].clone();
    assert_eq!((seat.id, seat.is_ai, seat.connected), (id(1), false, true));
}

#[test]
fn a_newer_connection_takes_over_and_the_older_one_is_told() {
    let mut table = playing();
    let wish = table.wish(1, 2, Request::Attach { shown: None });
    let effects = table.hears(wish).unwrap();
    assert_eq!(partings(&effects), [(connection(1, 1), Parting::TakenOver)]);
    assert_eq!(
        table.refused(1, Request::Attach { shown: None }),
        Code::TakenOver
    );
    assert_eq!(table.refused(1, REACT), Code::TakenOver);
    table.goes_offline(1);
    assert!(
        table.view().players[1].connected,
        "the old connection's end is no news"
    );
}

#[test]
fn who_watches_is_counted_shown_no_hand_and_makes_room_after_a_minute_away() {
    let mut table = playing();
    assert_eq!(table.view().spectators, 1);
    let show = table.shows_all();
    let place = show
        .to
        .iter()
        .find(|to| to.connection == connection(4, 1).id)
        .unwrap()
        .own;
    let own = &show.own[place.unwrap() as usize];
    let own: serde_json::Value = serde_json::from_slice(own.own.as_bytes()).unwrap();
    assert_eq!(
        (&own["hand"], &own["legal_actions"]),
        (&json!([]), &json!([]))
    );
    table.goes_offline(4);
    assert_eq!(table.view().spectators, 1);
    let effects = table.wait(seconds(60));
    assert_eq!(sessions(&effects), [(id(4), SessionPlace::Elsewhere)]);
    assert_eq!(table.view().spectators, 0);
    for number in 100..150 {
        table.does(number, Request::Watch);
    }
    assert_eq!(table.refused(150, Request::Watch), Code::LobbyFull);
    table.does(0, Request::Watch);
    assert_eq!(table.view().players[0].id, id(0), "who sits keeps the seat");
}

#[test]
fn who_watches_may_sit_down_before_the_game() {
    let mut table = waiting();
    table.does(4, join("Dora"));
    let view = table.view();
    assert_eq!((view.spectators, view.players[4].id.clone()), (0, id(4)));
    table.does(4, Request::Leave);
    table.does(4, Request::Watch);
    table.does(4, Request::Leave);
    assert_eq!(table.view().spectators, 0);
}

#[test]
fn a_session_that_is_gone_leaves_unless_it_is_here() {
    let mut table = playing();
    let gone = |number| Input::Gone {
        player: id(number),
        chance: chance(7),
    };
    table.step(gone(1)).unwrap();
    assert!(!table.view().players[1].is_ai);
    table.goes_offline(1);
    table.now += seconds(5);
    let absent = table.lobby.absent(table.now);
    assert_eq!((absent.len(), absent[0].away), (1, seconds(5)));
    let effects = table.step(gone(1)).unwrap();
    assert!(table.view().players[1].is_ai);
    assert_eq!(sessions(&effects), [(id(1), SessionPlace::Elsewhere)]);

    let mut table = waiting();
    table.goes_offline(1);
    table.step(gone(1)).unwrap();
    assert_eq!(table.names()[..2], ["Host", "Bob"]);
}

#[test]
fn who_comes_back_gets_the_events_that_they_missed() {
    let mut table = playing();
    table.show();
    table.goes_offline(1);
    for _ in 0..2 {
        table.does(2, REACT);
        table.show();
        table.wait(seconds(2));
    }
    let wish = table.wish(1, 2, Request::Attach { shown: None });
    table.hears(wish).unwrap();
    let mut shows = table.show();
    shows.sort_by_key(|show| show.to.len());
    let [back, others] = shows.as_slice() else {
        panic!("two pictures: {}", shows.len())
    };
    assert_eq!((back.events.len(), others.events.len()), (2, 0));
    assert_eq!(back.to[0].connection, connection(1, 2).id);
    assert_eq!(table.show().len(), 1, "from now on like everybody");
}

/// By type there is no card, name or token in it; so what is there must be right.
#[test]
fn operators_see_who_sits_where() {
    let mut table = playing();
    table.goes_offline(1);
    let inspection = table.lobby.inspect();
    let view = table.view();
    let seen = view.players.iter().map(|player| InspectedSeat {
        is_ai: player.is_ai,
        connected: player.connected,
    });
    assert_eq!(inspection.seats, seen.collect::<Vec<_>>());
    assert!(!inspection.seats[1].connected && inspection.seats[0].connected);
    assert_eq!(inspection.status, LobbyStatus::Playing);
    assert_eq!(inspection.spectators, view.spectators);
    assert_eq!(
        (inspection.epoch, inspection.seq),
        (table.lobby.epoch(), table.lobby.seq())
    );
}

#[test]
fn what_is_around_the_table_shows() {
    let mut table = waiting();
    let seq = table.lobby.seq();
    table
        .step(Input::Surroundings(Surroundings::default()))
        .unwrap();
    table
        .step(Input::Surroundings(Surroundings::default()))
        .unwrap();
    let view = table.view();
    assert!(!view.ai_available && !view.accepting_games);
    assert_eq!(table.lobby.seq(), seq + 1, "no change, no new state");
}

#[test]
fn a_lost_link_takes_its_connections_offline() {
    let mut table = playing();
    table.step(Input::LinkLost(LinkId(2))).unwrap();
    assert!(table.view().players[1].connected);
    table.step(Input::LinkLost(LinkId(1))).unwrap();
    assert_eq!(
        table.lobby.census(),
        Census {
            players: 3,
            sessions: 4,
            connections: 0,
            active_games: 1
        }
    );
}
