//! Moves of AIs, turns with a deadline, and the end of a game.

use super::*;

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
