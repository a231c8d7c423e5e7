//! A table that changes its owner: what waits, what is sent again, and what is not.

use super::*;
use crate::links::NotSent;

/// How a player's table is lost.
const LOSSES: [fn(&mut Bench); 3] = [
    |bench| bench.give(Input::LinkLost { node: node("one") }),
    |bench| bench.part("one", "ABCD23", Parting::Moved),
    |bench| bench.give(Input::HandedOver { node: node("one") }),
];

#[test]
fn a_lost_table_is_looked_for_at_once_and_told_as_moving_until_it_is_back() {
    for lose in LOSSES {
        let mut bench = Bench::seated();
        bench.give(Input::LinkLost { node: node("two") });
        bench.part("two", "ABCD23", Parting::Moved);
        assert!(bench.effects.is_empty(), "another node's");
        lose(&mut bench);
        let shown = (1, 10);
        assert!(matches!(
            bench.effects[0],
            Effect::Find { fresh: true, shown: seen, .. } if seen == shown
        ));
        assert_eq!(
            bench.statuses().last().unwrap()["reason"],
            json!(StatusReason::Moving)
        );
        bench.found("two");
        let ask = bench.effects.iter().rev().find_map(|effect| match effect {
            Effect::Ask { ask, .. } => Some(ask.request.clone()),
            _ => None,
        });
        assert_eq!(ask, Some(Request::Attach { shown: Some(10) }));
        bench.attached(0);
        assert_eq!(bench.statuses().last().unwrap()["reason"], Value::Null);
        bench.give(Input::Show(picture("ABCD23", 2, 11)));
        assert_eq!(bench.shown(), ["ABCD23 11"]);
        assert!(bench.errors().is_empty());
    }
}

#[test]
fn what_the_new_owner_has_not_taken_is_sent_again_in_order_and_the_rest_follows() {
    for lose in LOSSES {
        let mut bench = Bench::seated();
        for text in ["start_game", "add_ai", "return_to_lobby"] {
            bench.say(&json!({ "type": text }).to_string());
        }
        let first = bench.session.last_number - 2;
        lose(&mut bench);
        bench.say(r#"{"type":"react","reaction":"oops"}"#);
        bench.effects.clear();
        bench.found("two");
        assert_eq!(bench.asked(), ["two ABCD23 attach"], "the flow has stopped");
        bench.effects.clear();
        bench.attached(first);
        let attach = first + 3;
        assert_eq!(
            bench.numbered(),
            [
                format!("two {} add_ai", first + 1),
                format!("two {} return_to_lobby", first + 2),
                format!("two {} react", attach + 1),
            ]
        );
        bench.wait(ANSWER_WITHIN);
        assert_eq!(
            bench.errors().len(),
            3,
            "the taken one is done: it needs no answer"
        );
    }
}

#[test]
fn a_bounced_message_waits_for_the_new_owner_in_its_order() {
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"add_ai"}"#);
    let first = bench.session.last_number;
    bench.say(r#"{"type":"start_game"}"#);
    bench.answer_to(first, Outcome::NotOwner);
    bench.say(r#"{"type":"return_to_lobby"}"#);
    bench.answer_to(first + 1, Outcome::NotOwner);
    assert_eq!(bench.looks(), 1);
    bench.effects.clear();
    bench.found("two");
    bench.attached(first - 1);
    let asked = ["attach", "add_ai", "start", "return_to_lobby"];
    assert_eq!(
        bench.asked(),
        asked.map(|request| format!("two ABCD23 {request}"))
    );
    assert!(bench.errors().is_empty());
}

#[test]
fn what_an_attach_brings_is_not_shown_before_it() {
    let mut bench = Bench::seated();
    bench.give(Input::LinkLost { node: node("one") });
    bench.give(Input::Show(picture("ABCD23", 1, 11)));
    assert_eq!(bench.shown(), ["ABCD23 11"], "nobody was asked yet");
    bench.found("one");
    // Of before the attach, which asks for what has happened since 11.
    bench.give(Input::Show(picture("ABCD23", 1, 12)));
    bench.wait(ANSWER_WITHIN);
    bench.give(Input::Show(picture("ABCD23", 1, 12)));
    assert_eq!(bench.shown(), ["ABCD23 11"]);
    bench.wait(Duration::from_secs(1));
    bench.found("one");
    bench.attached(0);
    bench.give(Input::Show(picture("ABCD23", 1, 13)));
    assert_eq!(bench.shown(), ["ABCD23 11", "ABCD23 13"]);
}

#[test]
fn the_way_back_takes_no_number_from_what_is_sent_again() {
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"add_ai"}"#);
    let number = bench.session.last_number;
    bench.give(Input::LinkLost { node: node("one") });
    for _ in 0..3 {
        bench.found("two");
        bench.answer(Outcome::NotOwner);
        bench.wait(Duration::from_millis(200));
    }
    bench.found("two");
    bench.effects.clear();
    bench.attached(number - 1);
    assert_eq!(bench.numbered(), [format!("two {number} add_ai")]);
}

#[test]
fn an_unanswered_message_outlives_one_owners_death_not_two() {
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"add_ai","id":"7"}"#);
    let number = bench.session.last_number;
    bench.give(Input::LinkLost { node: node("one") });
    assert!(bench.errors().is_empty());
    bench.found("two");
    bench.attached(number - 1);
    bench.give(Input::LinkLost { node: node("two") });
    assert_eq!(bench.errors(), ["unavailable"]);
    assert_eq!(
        bench.sent().iter().filter(|sent| sent["id"] == "7").count(),
        1
    );
    bench.found("one");
    bench.effects.clear();
    bench.attached(number - 1);
    assert!(bench.asked().is_empty());
}

#[test]
fn a_hand_over_is_no_death() {
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"add_ai"}"#);
    let number = bench.session.last_number;
    for (from, to) in [("one", "two"), ("two", "one"), ("one", "two")] {
        bench.part(from, "ABCD23", Parting::Moved);
        bench.found(to);
        bench.effects.clear();
        bench.attached(number - 1);
        assert_eq!(bench.numbered(), [format!("{to} {number} add_ai")]);
    }
    bench.answer_to(number, Outcome::Done);
    assert!(bench.session.asks.is_empty() && bench.errors().is_empty());
}

#[test]
fn a_late_word_of_a_former_owner_changes_nothing() {
    for late in [
        Outcome::Done,
        Outcome::NotOwner,
        refused(ErrorCode::NotHost),
    ] {
        let mut bench = Bench::seated();
        bench.say(r#"{"type":"add_ai"}"#);
        let number = bench.session.last_number;
        bench.part("one", "ABCD23", Parting::Moved);
        bench.found("two");
        bench.attached(number - 1);
        bench.effects.clear();
        bench.give(Input::Answer {
            node: node("one"),
            number,
            outcome: late,
        });
        bench.part("one", "ABCD23", Parting::Moved);
        assert!(bench.effects.is_empty());
        bench.give(Input::Answer {
            node: node("two"),
            number,
            outcome: refused(ErrorCode::NotHost),
        });
        assert_eq!(bench.errors(), ["not_host"]);
    }
}

#[test]
fn what_waits_for_a_table_that_moves_is_answered_in_time_all_the_same() {
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"add_ai","id":"under way"}"#);
    bench.wait(Duration::from_secs(1));
    bench.give(Input::LinkLost { node: node("one") });
    bench.say(r#"{"type":"add_ai","id":"waiting"}"#);
    for (seconds, answered) in [(0.7, 0), (0.2, 1), (0.8, 1), (0.2, 2)] {
        bench.wait(Duration::from_secs_f64(seconds));
        assert_eq!(bench.errors().len(), answered);
    }
    assert_eq!(bench.closed(), None, "and their table is looked for on");
    bench.found("two");
    bench.effects.clear();
    bench.attached(0);
    assert!(
        bench.asked().is_empty(),
        "who was told so may have said it again"
    );
}

#[test]
fn sixteen_wait_for_a_table_that_moves_and_then_the_socket_is_not_read_on() {
    let mut bench = Bench::seated();
    for _ in 0..4 {
        bench.say(r#"{"type":"add_ai"}"#);
    }
    bench.give(Input::LinkLost { node: node("one") });
    let mut said = 4;
    while bench.session.reads() {
        bench.say(r#"{"type":"add_ai"}"#);
        said += 1;
    }
    assert_eq!(said, MAX_WAITING_MESSAGES - 1, "and the way back");
}

#[test]
fn a_message_that_found_no_link_waits_and_a_link_that_is_full_says_so() {
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"add_ai"}"#);
    let number = bench.session.last_number;
    bench.give(Input::Unreachable {
        number,
        why: NotSent::Full,
    });
    assert_eq!(bench.errors(), ["unavailable"], "the link is there");
    bench.effects.clear();
    bench.say(r#"{"type":"add_ai"}"#);
    let number = bench.session.last_number;
    bench.give(Input::Unreachable {
        number,
        why: NotSent::NoLink,
    });
    assert_eq!((bench.errors().len(), bench.looks()), (0, 1));
    bench.found("two");
    bench.attached(number - 1);
    assert_eq!(bench.asked().last().unwrap(), "two ABCD23 add_ai");
}

#[test]
fn a_table_that_stays_lost_sends_its_player_elsewhere() {
    let mut bench = Bench::seated();
    bench.give(Input::LinkLost { node: node("one") });
    let lost_at = bench.now;
    while bench.closed().is_none() {
        bench.whereabouts(Whereabouts::Unavailable);
        bench.now = bench.session.deadline().unwrap_or(bench.now);
        bench.give(Input::Time);
        assert!(bench.now < lost_at + Duration::from_secs(25));
    }
    assert!(bench.now >= lost_at + Duration::from_secs(20));
    assert_eq!(bench.closed(), Some(CloseCode::Restart));
}

#[test]
fn an_owner_that_only_this_gateway_cant_reach_sends_its_players_elsewhere_at_once() {
    let mut bench = Bench::seated();
    bench.give(Input::LinkLost { node: node("one") });
    bench.whereabouts(Whereabouts::Alone);
    assert_eq!(bench.closed(), Some(CloseCode::Restart));
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"join_lobby","code":"WXYZ23","name":"Ada"}"#);
    bench.whereabouts(Whereabouts::Alone);
    assert_eq!(
        (bench.errors(), bench.closed()),
        (vec!["unavailable".to_owned()], None)
    );
}

#[test]
fn a_table_that_is_gone_answers_what_was_asked_of_it() {
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"add_ai","id":"7"}"#);
    bench.part("one", "ABCD23", Parting::Moved);
    bench.whereabouts(Whereabouts::Unknown);
    assert_eq!(bench.errors(), ["lobby_lost", "unavailable"]);
    assert_eq!(bench.shown(), ["nothing"]);
}

#[test]
fn pictures_never_go_back_unless_the_record_did() {
    for (epoch, shown) in [(None, 0), (Some(1), 0), (Some(2), 0), (Some(0), 1)] {
        let mut bench = Bench::seated();
        bench.give(Input::LinkLost { node: node("one") });
        let node = node("two");
        bench.whereabouts(Whereabouts::At { node, epoch });
        bench.attached(0);
        bench.give(Input::Show(picture("ABCD23", 0, 9)));
        assert_eq!(bench.shown().len(), shown, "{epoch:?}");
    }
}
