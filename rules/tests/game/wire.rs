//! What is sent: shapes and texts exactly as players' programs rely on them.

use rules::{
    Action, BadOption, BidRule, Event, Forbidden, Game, Length, Observation, Options, OptionsPatch,
    Reason, Seat, SeatCount, Seed,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[track_caller]
fn check_action(shape: &Value, readable: bool) {
    let read = serde_json::from_value::<Action>(shape.clone());
    assert_eq!(read.is_ok(), readable, "{shape}: {read:?}");
    if let Ok(action) = read {
        assert_eq!(serde_json::to_value(action).unwrap(), *shape);
    }
}

#[test]
fn actions() {
    check_action(&json!({"type": "choose_trump", "suit": "red"}), true);
    check_action(&json!({"type": "bid", "value": 2}), true);
    check_action(&json!({"type": "play", "card": "R13"}), true);
    check_action(&json!({"type": "bid", "value": 1.5}), false);
    check_action(&json!({"type": "bid", "value": "1"}), false);
    check_action(&json!({"type": "bid"}), false);
    check_action(&json!({"type": "play", "card": "R14"}), false);
    check_action(&json!({"type": "choose_trump", "suit": "none"}), false);
    check_action(&json!({"type": "choose_trump", "suit": null}), false);
    check_action(&json!({"type": "pass"}), false);
}

#[track_caller]
fn check_options(before: &Value, patch: &Value, after: &Result<Value, BadOption>) {
    let before: Options = serde_json::from_value(before.clone()).unwrap();
    let patch: OptionsPatch = serde_json::from_value(patch.clone()).unwrap();
    let result = before
        .with(patch)
        .map(|options| serde_json::to_value(options).unwrap());
    assert_eq!(result, *after);
}

#[test]
fn options_change_by_field_and_never_contradict_each_other() {
    let default = json!({
        "hidden_bids": false, "bid_rule": "free", "length": "full", "turn_seconds": null
    });
    check_options(&json!({}), &json!({}), &Ok(default.clone()));
    check_options(
        &json!({"turn_seconds": 30, "bid_rule": "hook"}),
        &json!({"length": "short", "unknown": 1}),
        &Ok(json!({
            "hidden_bids": false, "bid_rule": "hook", "length": "short", "turn_seconds": 30
        })),
    );
    check_options(
        &json!({"turn_seconds": 30}),
        &json!({"turn_seconds": null}),
        &Ok(default),
    );
    let far_off = ["-1", "4294967297", "18446744073709551616", "1e30", "-1e30"];
    let far_off = far_off.map(|seconds| serde_json::from_str(seconds).unwrap());
    let near = [0, 9, 301, 70_000].map(Value::from);
    for seconds in near.into_iter().chain(far_off) {
        check_options(
            &json!({}),
            &json!({"turn_seconds": seconds}),
            &Err(BadOption::TurnSeconds),
        );
    }
    check_options(
        &json!({"bid_rule": "canadian"}),
        &json!({"hidden_bids": true}),
        &Err(BadOption::BidRuleWithHiddenBids),
    );
    check_options(
        &json!({"bid_rule": "hook"}),
        &json!({"hidden_bids": true, "bid_rule": "free"}),
        &Ok(json!({
            "hidden_bids": true, "bid_rule": "free", "length": "full", "turn_seconds": null
        })),
    );
    assert!(serde_json::from_value::<Options>(json!({"turn_seconds": 5})).is_err());
    assert!(
        serde_json::from_value::<Options>(json!({"hidden_bids": true, "bid_rule": "hook"}))
            .is_err()
    );
}

#[test]
fn a_patch_within_a_message_keeps_null_and_missing_apart() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct SetOptions {
        public: Option<bool>,
        #[serde(flatten)]
        options: OptionsPatch,
    }
    let read = |shape: Value| serde_json::from_value::<SetOptions>(shape).unwrap();
    let missing = read(json!({"public": true, "bid_rule": "hook", "length": "tournament"}));
    assert_eq!(missing.options.turn_seconds, None);
    assert_eq!(missing.options.bid_rule, Some(BidRule::Hook));
    assert_eq!(missing.options.length, Some(Length::Tournament));
    let null = read(json!({"public": true, "turn_seconds": null}));
    assert_eq!(null.options.turn_seconds, Some(None));
    assert_eq!(
        serde_json::to_value(null).unwrap(),
        json!({"public": true, "turn_seconds": null})
    );
    let ten = read(json!({"turn_seconds": 10}));
    assert_eq!(ten.options.turn_seconds, Some(Some(10)));
}

/// Field names and order of an observation, as programs read them.
const OBSERVATION_FIELDS: [&str; 19] = [
    "turn",
    "round",
    "rounds",
    "cards",
    "phase",
    "dealer",
    "to_act",
    "trump",
    "bid_made",
    "tricks",
    "trick",
    "scores",
    "ranking",
    "sheet",
    "last_trick",
    "hand",
    "bids",
    "legal_actions",
    "forbidden",
];

#[test]
fn an_observation_is_one_flat_object_and_survives_json_and_message_pack() {
    let four = SeatCount::new(4).unwrap();
    let (mut game, _) = Game::new(four, Options::default(), Seed::new([5; 32]));
    while let Some(seat) = game.to_act() {
        for viewer in [None, Some(Seat::FIRST)] {
            let seen = game.observe(viewer);
            let json = serde_json::to_value(&seen).unwrap();
            let fields = json.as_object().unwrap();
            assert_eq!(fields.len(), OBSERVATION_FIELDS.len());
            for field in OBSERVATION_FIELDS {
                assert!(fields.contains_key(field), "{field}");
            }
            assert_eq!(serde_json::from_value::<Observation>(json).unwrap(), seen);
            let packed = rmp_serde::to_vec_named(&seen).unwrap();
            assert_eq!(rmp_serde::from_slice::<Observation>(&packed).unwrap(), seen);
        }
        let action = game.legal_moves(seat).last().unwrap();
        game.apply(seat, action).unwrap();
    }
}

#[test]
fn forbidden_moves() {
    let shapes = json!([
        {"card": "B2", "reason": "must_follow"},
        {"value": 2, "reason": "bid_rule"},
    ]);
    let read: Vec<Forbidden> = serde_json::from_value(shapes.clone()).unwrap();
    let card = "B2".parse().unwrap();
    assert_eq!(
        read,
        [
            Forbidden::Card {
                card,
                reason: Reason::MustFollow
            },
            Forbidden::Value {
                value: 2,
                reason: Reason::BidRule
            },
        ]
    );
    assert_eq!(serde_json::to_value(read).unwrap(), shapes);
}

#[test]
fn events() {
    let zeros = "0".repeat(64);
    let shapes = json!([
        {"type": "game_started", "deal_commitment": zeros},
        {"type": "round_started", "round": 1, "cards": 1, "dealer": 3, "trump_card": "W2"},
        {"type": "round_started", "round": 20, "cards": 20, "dealer": 0, "trump_card": null},
        {"type": "trump_chosen", "seat": 3, "suit": "red"},
        {"type": "bid_made", "seat": 0, "value": 1},
        {"type": "bid_made", "seat": 1, "value": null},
        {"type": "bids_revealed", "bids": [1, 0, 0]},
        {"type": "card_played", "seat": 0, "card": "R13"},
        {"type": "trick_completed", "winner": 0, "plays": [{"seat": 0, "card": "R13"}]},
        {
            "type": "round_scored",
            "bids": [1, 0, 0], "tricks": [1, 0, 0], "points": [30, 20, 20], "scores": [30, 20, -10]
        },
        {
            "type": "game_finished",
            "ranking": [{"seat": 0, "score": 30, "rank": 1}], "seed": zeros
        },
    ]);
    let read: Vec<Event> = serde_json::from_value(shapes.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), shapes);
}

#[test]
fn nothing_that_can_be_logged_shows_the_seed() {
    let four = SeatCount::new(4).unwrap();
    let (game, events) = Game::new(four, Options::default(), Seed::new([0xAB; 32]));
    let logged = format!(
        "{game:?} {:?} {events:?} {:?}",
        game.snapshot(),
        game.observe(None)
    );
    assert!(!logged.to_lowercase().contains("abab") && !logged.contains("171, 171"));
}
