//! What people at a table rely on.

use std::time::Duration;

use protocol::ErrorCode as Code;
use protocol::link::{Parting, Request};
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
fn who_may_not_is_told_the_first_reason_in_the_contracts_order() {
    let check = |mut table: Table, number, request: Request, expected| {
        assert_eq!(
            table.refused(number, request.clone()),
            expected,
            "{number} {request:?}"
        );
    };
    let host_only = [
        ADD_AI,
        remove(1),
        options(OptionsPatch::default()),
        Request::Start,
    ];
    for request in host_only {
        check(waiting(), 9, request.clone(), Code::NotInLobby);
        check(playing(), 4, request.clone(), Code::Spectator);
        check(playing(), 1, request.clone(), Code::NotHost);
        check(playing(), 0, request.clone(), Code::NotWaiting);
        check(finished(), 0, request, Code::NotWaiting);
    }
    for (request, refused) in [
        (replace(1), Code::NotPlaying),
        (bid(9), Code::NotPlaying),
        (Request::ReturnToLobby, Code::NotFinished),
    ] {
        check(waiting(), 9, request.clone(), Code::NotInLobby);
        check(waiting(), 4, request.clone(), Code::Spectator);
        check(waiting(), 0, request, refused);
    }
    for request in [replace(1), Request::ReturnToLobby] {
        check(waiting(), 1, request, Code::NotHost);
    }
    check(playing(), 9, join("Eve"), Code::LobbyPlaying);
    check(finished(), 9, join("Eve"), Code::LobbyPlaying);
    check(waiting(), 9, Request::Leave, Code::NotInLobby);
    check(waiting(), 9, Request::Attach, Code::NotInLobby);
    check(waiting(), 9, REACT, Code::NotInLobby);
    check(waiting(), 4, REACT, Code::Spectator);
    check(waiting(), 0, remove(0), Code::PlayerNotFound);
    check(waiting(), 0, remove(4), Code::PlayerNotFound);
    check(playing(), 0, replace(9), Code::PlayerNotFound);
    check(playing(), 0, replace(1), Code::PlayerPresent);
    check(waiting(), 0, turn_seconds(5), Code::BadOption);
}

#[test]
fn a_game_needs_three_and_a_node_that_takes_it() {
    let mut table = Table::new();
    table.does(1, join("Ada"));
    assert_eq!(table.refused(0, Request::Start), Code::NotEnoughPlayers);
    table.does(0, ADD_AI);
    table.may_start = false;
    assert_eq!(table.refused(0, Request::Start), Code::Busy);
    table.may_start = true;
    table.does(0, Request::Start);
    assert_eq!(table.view().status, LobbyStatus::Playing);
}

#[test]
fn a_move_is_checked_for_its_turn_its_seat_and_its_legality_in_this_order() {
    let mut table = playing();
    while table.to_act() == 3 {
        table.moves().unwrap();
    }
    let acts = table.to_act();
    let other = (acts + 1) % 3;
    let turn = table.game().turn();
    let act = |value, turn| Request::Act {
        action: Action::Bid { value },
        turn,
    };
    let illegal = act(9, None);
    assert_eq!(table.refused(other, illegal.clone()), Code::NotYourTurn);
    assert_eq!(table.refused(acts, illegal), Code::IllegalAction);
    assert_eq!(table.refused(acts, act(9, Some(turn))), Code::IllegalAction);
    assert_eq!(
        table.refused(acts, act(0, Some(turn + 1))),
        Code::IllegalAction
    );
    if turn > 0 {
        assert_eq!(
            table.refused(other, act(9, Some(turn - 1))),
            Code::StaleTurn
        );
    }
    table.moves().unwrap();
    assert_eq!(table.refused(other, act(9, Some(turn))), Code::StaleTurn);
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
    let wish = table.wish(0, 2, Request::Attach);
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
    let wish = table.wish(1, 2, Request::Attach);
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
    let wish = table.wish(1, 2, Request::Attach);
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
    let wish = table.wish(1, 2, Request::Attach);
    let effects = table.hears(wish).unwrap();
    assert_eq!(partings(&effects), [(connection(1, 1), Parting::TakenOver)]);
    assert_eq!(table.refused(1, Request::Attach), Code::TakenOver);
    assert_eq!(table.refused(1, REACT), Code::TakenOver);
    table.goes_offline(1);
    assert!(
        table.view().players[1].connected,
        "the old connection's end is no news"
    );
}

#[test]
fn a_message_is_done_once_however_often_it_comes() {
    let mut table = playing();
    while table.to_act() == 3 {
        table.moves().unwrap();
    }
    let number = table.to_act();
    let action = table.game().legal_actions(table.game().to_act().unwrap())[0];
    let wish = table.wish(number, 1, Request::Act { action, turn: None });
    table.hears(wish.clone()).unwrap();
    let (turn, seq) = (table.game().turn(), table.lobby.seq());
    let effects = table.hears(wish.clone()).unwrap();
    let answer = Effect::Answer {
        to: wish.connection,
        number: wish.number,
    };
    assert_eq!(effects, [answer]);
    assert_eq!((table.game().turn(), table.lobby.seq()), (turn, seq));
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
fn one_reaction_every_two_seconds() {
    let mut table = playing();
    table.does(1, REACT);
    let event = json!({"type": "reaction", "seat": 1, "reaction": "oops"});
    assert_eq!(table.events(), [event]);
    table.wait(Duration::from_millis(500));
    let wish = table.wish(1, 1, REACT);
    let input = Input::Ask {
        wish,
        chance: chance(0),
        may_start: true,
    };
    let refusal = table.lobby.step(table.now, input).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.retry_after_ms()),
        (Code::RateLimited, Some(1500))
    );
    table.does(2, REACT);
    table.wait(Duration::from_millis(1500));
    table.does(1, REACT);
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
fn an_ai_thinks_while_its_delay_runs_and_acts_after_it() {
    let mut table = Table::new();
    table.does(0, ADD_AI);
    table.does(0, ADD_AI);
    let mut effects = table.does(0, Request::Start);
    while table.to_act() == 0 {
        effects = table.moves().unwrap();
    }
    let turn = table.game().turn();
    assert_eq!(asked(&effects), [turn], "asked at once");
    let question = table.lobby.question(1, turn).unwrap();
    assert_eq!(u8::from(question.seat), table.to_act());
    let action = *question.observation.legal_actions_last();
    let decision = |action| Input::Decision {
        game: 1,
        turn,
        action,
        chance: chance(3),
    };
    table.step(decision(Some(action))).unwrap();
    table.wait(Duration::from_millis(799));
    assert_eq!(table.game().turn(), turn);
    table.wait(Duration::from_millis(1));
    assert_eq!(table.game().turn(), turn + 1);
    assert!(table.lobby.question(1, turn).is_none());
    table.step(decision(Some(action))).unwrap();
    assert_eq!(
        table.game().turn(),
        turn + 1,
        "a late decision is of no use"
    );
}

trait LastLegal {
    fn legal_actions_last(&self) -> &Action;
}

impl LastLegal for rules::Observation {
    fn legal_actions_last(&self) -> &Action {
        self.own.legal_actions.last().unwrap()
    }
}

#[test]
fn an_ai_without_a_legal_decision_makes_a_random_legal_move() {
    for decision in [
        None,
        Some(Action::Bid { value: 20 }),
        Some(Action::ChooseTrump { suit: Suit::Red }),
    ] {
        let mut table = Table::new();
        table.does(0, ADD_AI);
        table.does(0, ADD_AI);
        table.does(0, Request::Start);
        while table.to_act() == 0 || table.game().phase() != rules::Phase::Bid {
            table.moves().unwrap();
        }
        let turn = table.game().turn();
        table.ai_moves(decision).unwrap();
        assert_eq!(table.game().turn(), turn + 1, "{decision:?}");
    }
}

#[test]
fn an_ai_waits_for_the_pause_after_a_trick() {
    let mut table = Table::new();
    table.does(0, ADD_AI);
    table.does(0, ADD_AI);
    table.does(0, Request::Start);
    let trick_ended = |table: &Table| {
        table
            .events()
            .iter()
            .any(|event| event["type"] == "trick_completed")
    };
    while table.to_act() == 0 || !trick_ended(&table) {
        table.moves().unwrap();
    }
    let (turn, ended) = (table.game().turn(), table.now);
    table
        .step(Input::Decision {
            game: 1,
            turn,
            action: None,
            chance: chance(1),
        })
        .unwrap();
    assert_eq!(table.lobby.next_wake(), Some(ended + PACE.trick_pause));
}

#[test]
fn at_the_deadline_an_ai_makes_that_one_move() {
    let mut table = waiting();
    table.does(0, turn_seconds(10));
    table.does(0, Request::Start);
    while table.to_act() == 3 {
        table.moves().unwrap();
    }
    let (seat, turn) = (table.to_act(), table.game().turn());
    table.wait(seconds(4));
    let show = table.show().remove(0);
    let game: serde_json::Value =
        serde_json::from_slice(show.shared.game.unwrap().table.as_bytes()).unwrap();
    assert_eq!(game["deadline_ms"], 6000);
    let effects = table.wait(seconds(6));
    assert_eq!(asked(&effects), [turn]);
    let question = table.lobby.question(1, turn).unwrap();
    assert_eq!(
        (u8::from(question.seat), question.level),
        (seat, AiLevel::Normal)
    );
    table
        .step(Input::Decision {
            game: 1,
            turn,
            action: None,
            chance: chance(1),
        })
        .unwrap();
    assert_eq!(table.game().turn(), turn + 1, "without further delay");
    assert!(
        !table.view().players[usize::from(seat)].is_ai,
        "the seat stays its player's"
    );
}

#[test]
fn an_overdue_player_may_still_be_faster_than_the_ai() {
    let mut table = waiting();
    table.does(0, turn_seconds(10));
    table.does(0, Request::Start);
    while table.to_act() == 3 {
        table.moves().unwrap();
    }
    let turn = table.game().turn();
    table.wait(seconds(10));
    table.moves().unwrap();
    table
        .step(Input::Decision {
            game: 1,
            turn,
            action: None,
            chance: chance(1),
        })
        .unwrap();
    assert_eq!(table.game().turn(), turn + 1);
}

#[test]
fn after_the_game_the_seed_is_shown_and_the_table_can_play_again() {
    let mut table = finished();
    table.goes_offline(1);
    let show = table.show().remove(0);
    let deal: serde_json::Value =
        serde_json::from_slice(show.shared.game.unwrap().deal.as_bytes()).unwrap();
    assert_eq!(deal["seed"].as_str().map(str::len), Some(64));
    table.does(0, Request::ReturnToLobby);
    let view = table.view();
    assert_eq!(view.status, LobbyStatus::Waiting);
    assert!(
        !view.players[1].connected && !view.players[1].is_ai,
        "who is away keeps the seat"
    );
    assert!(table.show().remove(0).shared.game.is_none());
    table.does(0, Request::Start);
    assert_eq!(table.game().turn(), 0);
    assert_eq!(table.lobby.games, 2);
}

#[test]
fn an_answer_for_an_earlier_game_is_of_no_use() {
    let mut table = Table::new();
    table.does(0, ADD_AI);
    table.does(0, ADD_AI);
    table.does(
        0,
        options(OptionsPatch {
            length: Some(rules::Length::Short),
            ..OptionsPatch::default()
        }),
    );
    table.does(0, Request::Start);
    table.play_to_the_end();
    table.does(0, Request::ReturnToLobby);
    table.does(0, Request::Start);
    while table.to_act() == 0 {
        table.moves().unwrap();
    }
    let turn = table.game().turn();
    table
        .step(Input::Decision {
            game: 1,
            turn,
            action: None,
            chance: chance(1),
        })
        .unwrap();
    table.wait(seconds(5));
    assert_eq!(table.game().turn(), turn);
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
    let wish = table.wish(1, 2, Request::Attach);
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
