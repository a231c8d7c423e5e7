//! What the web client's types are made from.

use rules::{Action, Card, Event, Forbidden, Observation, OptionsPatch, Seat};
use ts_rs::{Config, TS};

/// The declaration, without the comments that come from the Rust types.
fn declared<T: TS>() -> String {
    let declaration = T::decl(&Config::default());
    let mut rest = declaration.as_str();
    let mut bare = String::new();
    while let Some((before, comment)) = rest.split_once("/**") {
        bare.push_str(before);
        rest = comment.split_once("*/").unwrap().1;
    }
    bare.push_str(rest);
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn cards_are_texts_and_seats_are_numbers() {
    assert_eq!(declared::<Card>(), "type Card = string;");
    assert_eq!(declared::<Seat>(), "type Seat = number;");
}

#[test]
fn actions_are_told_apart_by_their_type() {
    assert_eq!(
        declared::<Action>(),
        r#"type Action = { "type": "choose_trump", suit: Suit, } | { "type": "bid", value: number, } | { "type": "play", card: Card, };"#
    );
    assert_eq!(
        declared::<Forbidden>(),
        "type Forbidden = { card: Card, reason: Reason, } | { value: number, reason: Reason, };"
    );
}

#[test]
fn a_patch_may_leave_everything_out() {
    assert_eq!(
        declared::<OptionsPatch>(),
        "type OptionsPatch = { hidden_bids?: boolean, bid_rule?: BidRule, length?: Length, \
         turn_seconds?: number | null, };"
    );
}

#[test]
fn an_observation_is_flat_and_no_number_is_a_bigint() {
    let observation = declared::<Observation>();
    for field in [
        "turn: number,",
        "hand: Array<Card>,",
        "last_trick: LastTrick | null,",
    ] {
        assert!(observation.contains(field), "{field} in {observation}");
    }
    assert!(!observation.contains("bigint") && !declared::<Event>().contains("bigint"));
}
