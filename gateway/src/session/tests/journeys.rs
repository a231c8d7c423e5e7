//! The way to another table, or to none.

use super::*;
use crate::gathering::{Listing, Turn};
use crate::links::NotSent;

#[test]
fn creating_counts_draws_and_asks() {
    let mut bench = Bench::inside();
    bench.say(ADA);
    assert!(matches!(
        bench.effects.pop(),
        Some(Effect::CountCreate { .. })
    ));
    bench.counted();
    assert!(matches!(bench.effects.pop(), Some(Effect::Draw { .. })));
    bench.drawn("WXYZ23", "two");
    assert_eq!(bench.asked(), ["two WXYZ23 create"]);
    bench.answer(Outcome::Done);
    assert_eq!(bench.session.lobby(), Some("WXYZ23".parse().unwrap()));
    assert!(bench.errors().is_empty());
}

#[test]
fn a_code_in_use_or_a_node_that_is_full_is_drawn_anew() {
    for outcome in [Outcome::NotOwner, refused(ErrorCode::Busy)] {
        let mut bench = Bench::inside();
        bench.say(ADA);
        bench.counted();
        bench.drawn("WXYZ23", "two");
        bench.answer(outcome);
        assert!(bench.errors().is_empty());
        bench.drawn("WXYZ24", "one");
        bench.answer(Outcome::Done);
        assert_eq!(bench.session.lobby(), Some("WXYZ24".parse().unwrap()));
    }
}

#[test]
fn creating_ends_with_its_own_code() {
    let journey = 1;
    let mut bench = Bench::inside();
    bench.say(ADA);
    bench.give(Input::Counted {
        journey,
        allowed: false,
    });
    assert_eq!(bench.errors(), ["rate_limited"]);
    for (why, code) in [(NoNode::Busy, "busy"), (NoNode::Unavailable, "unavailable")] {
        let mut bench = Bench::inside();
        bench.say(ADA);
        bench.counted();
        bench.give(Input::Drawn {
            journey,
            drawn: Err(why),
        });
        assert_eq!(bench.errors(), [code]);
    }
}

#[test]
fn a_new_table_is_reached_before_the_old_one_is_left() {
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"join_lobby","code":"WXYZ23","name":"Ada"}"#);
    bench.found("two");
    assert_eq!(bench.asked(), ["two WXYZ23 join"]);
    bench.give(Input::Show(picture("ABCD23", 1, 11)));
    assert_eq!(bench.shown(), ["ABCD23 11"], "still at the old one");
    bench.answer(Outcome::Done);
    assert_eq!(bench.asked(), ["two WXYZ23 join", "one ABCD23 leave"]);
    bench.part("one", "ABCD23", Parting::Left);
    bench.answer(Outcome::Done);
    bench.give(Input::Show(picture("ABCD23", 1, 12)));
    bench.give(Input::Show(picture("WXYZ23", 1, 3)));
    assert_eq!(bench.shown(), ["ABCD23 11", "WXYZ23 3"]);
}

#[test]
fn a_seat_that_could_not_be_given_up_takes_nobody_for_present() {
    let ends = [
        |bench: &mut Bench| bench.answer(Outcome::NotOwner),
        |bench: &mut Bench| {
            let number = bench.session.last_number;
            let why = NotSent::Full;
            bench.give(Input::Unreachable { number, why });
        },
        |bench: &mut Bench| bench.wait(ANSWER_WITHIN),
    ];
    for end in ends {
        let mut bench = Bench::seated();
        bench.say(r#"{"type":"join_lobby","code":"WXYZ23","name":"Ada"}"#);
        bench.found("two");
        bench.answer(Outcome::Done);
        assert_eq!(bench.asked().last().unwrap(), "one ABCD23 leave");
        end(&mut bench);
        assert_eq!(bench.detached(), ["one ABCD23"]);
        assert_eq!(bench.session.lobby(), Some("WXYZ23".parse().unwrap()));
    }
}

#[test]
fn a_refused_journey_costs_nobody_their_seat() {
    let refusals = [
        |bench: &mut Bench| bench.whereabouts(Whereabouts::Unknown),
        |bench: &mut Bench| bench.whereabouts(Whereabouts::Unavailable),
        |bench: &mut Bench| {
            bench.found("two");
            bench.refuse(ErrorCode::LobbyFull);
        },
        |bench: &mut Bench| {
            bench.found("two");
            let number = bench.session.last_number;
            bench.give(Input::Unreachable {
                number,
                why: NotSent::NoLink,
            });
        },
        |bench: &mut Bench| {
            bench.found("two");
            bench.give(Input::LinkLost { node: node("two") });
        },
    ];
    let codes = [
        "lobby_not_found",
        "unavailable",
        "lobby_full",
        "unavailable",
        "unavailable",
    ];
    for (end, code) in refusals.into_iter().zip(codes) {
        for text in [
            r#"{"type":"join_lobby","code":"WXYZ23","name":"Ada"}"#,
            r#"{"type":"watch_lobby","code":"WXYZ23"}"#,
        ] {
            let mut bench = Bench::seated();
            bench.say(text);
            end(&mut bench);
            assert_eq!(bench.errors(), [code]);
            assert_eq!(bench.session.lobby(), Some("ABCD23".parse().unwrap()));
            bench.effects.clear();
            bench.say(r#"{"type":"start_game"}"#);
            assert_eq!(bench.asked(), ["one ABCD23 start"]);
        }
    }
}

#[test]
fn ones_own_table_is_not_left_by_joining_it() {
    for text in [
        r#"{"type":"join_lobby","code":"ABCD23","name":"Ada"}"#,
        r#"{"type":"watch_lobby","code":"ABCD23"}"#,
    ] {
        let mut bench = Bench::seated();
        bench.say(text);
        bench.found("one");
        bench.answer(Outcome::Done);
        assert_eq!(bench.asked().len(), 1);
        bench.give(Input::Show(picture("ABCD23", 1, 9)));
        assert!(bench.shown().is_empty(), "older than what was shown before");
    }
}

#[test]
fn a_wrong_owner_is_corrected_once() {
    let mut bench = Bench::inside();
    bench.say(r#"{"type":"join_lobby","code":"ABCD23","name":"Ada"}"#);
    bench.found("one");
    bench.answer(Outcome::NotOwner);
    assert!(matches!(
        bench.effects.last(),
        Some(Effect::Find { fresh: true, .. })
    ));
    bench.found("two");
    assert_eq!(bench.asked(), ["one ABCD23 join", "two ABCD23 join"]);
    bench.answer(Outcome::NotOwner);
    assert_eq!(bench.errors(), ["unavailable"]);
}

#[test]
fn a_seat_that_comes_too_late_is_given_back() {
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"join_lobby","code":"WXYZ23","name":"Ada"}"#);
    bench.found("two");
    let number = bench.session.last_number;
    bench.wait(ANSWER_WITHIN);
    assert_eq!(bench.errors(), ["unavailable"]);
    bench.answer_to(number, Outcome::Done);
    assert_eq!(bench.asked(), ["two WXYZ23 join", "two WXYZ23 leave"]);
    assert_eq!(bench.session.lobby(), Some("ABCD23".parse().unwrap()));
}

#[test]
fn quick_play_tries_public_tables_and_then_makes_one() {
    let mut bench = Bench::inside();
    bench.say(r#"{"type":"quick_play","name":"Ada"}"#);
    assert!(matches!(
        bench.effects.pop(),
        Some(Effect::ListPublic { .. })
    ));
    let codes = ["ABCD23", "WXYZ23"]
        .map(|code| code.parse().unwrap())
        .to_vec();
    let some = Listing {
        codes: codes.clone(),
        turn: None,
    };
    bench.give(Input::Listed {
        journey: 1,
        listing: Ok(some),
    });
    bench.found("one");
    assert!(matches!(
        bench.effects.last(),
        Some(Effect::Ask { ask, .. })
            if matches!(ask.request, Request::Join { only_if_public: true, .. })
    ));
    bench.refuse(ErrorCode::LobbyFull);
    bench.whereabouts(Whereabouts::Unknown);
    let Some(Effect::ListPublic { tried, .. }) = bench.effects.last() else {
        panic!("others may have made one meanwhile: {:?}", bench.effects);
    };
    assert!(codes.iter().all(|code| tried.contains(code)));
    bench.give(Input::Listed {
        journey: 1,
        listing: Ok(Listing {
            codes: Vec::new(),
            turn: Some(Turn::free()),
        }),
    });
    assert!(matches!(
        bench.effects.last(),
        Some(Effect::CountCreate { .. })
    ));
    bench.counted();
    bench.drawn("QQQQ23", "two");
    assert!(matches!(
        bench.effects.last(),
        Some(Effect::Ask { ask, .. }) if matches!(ask.request, Request::Create { public: true, .. })
    ));
    bench.answer(Outcome::Done);
    let gathered = |effect: &Effect| matches!(effect, Effect::Gathered { turn: Some(_), .. });
    assert!(bench.effects.iter().any(gathered), "who waits is let in");
    assert!(bench.errors().is_empty());
}

#[test]
fn leaving_shows_nothing_once() {
    let left = || Input::Parted {
        node: node("one"),
        code: "ABCD23".parse().unwrap(),
        reason: Parting::Left,
    };
    for parted_first in [true, false] {
        let mut bench = Bench::seated();
        bench.say(r#"{"type":"leave_lobby"}"#);
        assert_eq!(bench.asked(), ["one ABCD23 leave"]);
        if parted_first {
            bench.give(left());
            bench.answer(Outcome::Done);
        } else {
            bench.answer(Outcome::Done);
            bench.give(left());
        }
        assert_eq!(bench.shown(), ["nothing"]);
        bench.say(r#"{"type":"leave_lobby"}"#);
        assert_eq!(bench.errors(), ["not_in_lobby"]);
    }
}

#[test]
fn a_seat_that_comes_late_is_kept_by_who_asked_for_it_again() {
    let join = r#"{"type":"join_lobby","code":"ABCD23","name":"Ada"}"#;
    let mut bench = Bench::inside();
    bench.say(join);
    bench.found("one");
    let late = bench.session.last_number;
    bench.wait(ANSWER_WITHIN);
    assert_eq!(bench.errors(), ["unavailable"]);
    bench.say(join);
    bench.found("one");
    bench.answer_to(late, Outcome::Done);
    bench.answer(Outcome::Done);
    bench.give(Input::Show(picture("ABCD23", 1, 10)));
    assert_eq!(bench.asked(), ["one ABCD23 join", "one ABCD23 join"]);
    assert_eq!(bench.shown(), ["ABCD23 10"]);
}

#[test]
fn who_came_back_to_a_table_that_did_not_answer_is_shown_it_once_it_does() {
    let mut bench = Bench::new();
    bench.say(r#"{"type":"hello","token":null}"#);
    bench.give(Input::Entered(Ok(entered(Some("ABCD23")))));
    bench.found("one");
    let late = bench.session.last_number;
    while bench.shown().is_empty() {
        bench.now = bench.session.deadline().unwrap();
        bench.give(Input::Time);
    }
    assert_eq!(bench.shown(), ["nothing"]);
    bench.answer_to(late, Outcome::Done);
    bench.found("one");
    bench.answer(Outcome::Done);
    bench.give(Input::Show(picture("ABCD23", 1, 10)));
    assert_eq!(bench.shown(), ["nothing", "ABCD23 10"]);
}

#[test]
fn who_ends_while_a_table_does_not_answer_is_not_taken_for_present_there() {
    let ends_after = |text: &str, came_back_to: Option<&str>| {
        let mut bench = Bench::new();
        bench.say(r#"{"type":"hello","token":null}"#);
        bench.give(Input::Entered(Ok(entered(came_back_to))));
        bench.say(text);
        bench.found("one");
        bench.wait(ANSWER_WITHIN);
        bench.give(Input::Gone);
        bench.detached()
    };
    let join = r#"{"type":"join_lobby","code":"ABCD23","name":"Ada"}"#;
    let watch = r#"{"type":"watch_lobby","code":"ABCD23"}"#;
    assert_eq!(ends_after(join, None), ["one ABCD23"]);
    assert_eq!(ends_after(watch, None), ["one ABCD23"]);
    let ping = r#"{"type":"ping"}"#;
    assert_eq!(ends_after(ping, Some("ABCD23")), ["one ABCD23"]);
}
