//! Snapshots that no game can have given; that the others give their game back is a law.

use rules::{Game, InvalidSnapshot, Options, Reason, Refusal, Snapshot};
use serde_json::{Value, json};

use crate::support::{advance_until, game_where};

/// The snapshot of a game in its second round, changed by `change`, is refused.
#[track_caller]
fn check(change: impl Fn(&mut Value), expected: InvalidSnapshot) {
    let mut game = game_where(4, Options::default(), |_| true);
    advance_until(&mut game, |game| game.turn() == 14 && game.round() == 2);
    let mut snapshot = serde_json::to_value(game.snapshot()).unwrap();
    change(&mut snapshot);
    let snapshot: Snapshot = serde_json::from_value(snapshot).unwrap();
    assert_eq!(Game::restore(snapshot), Err(expected));
}

#[test]
fn a_round_that_cannot_have_ended_like_that() {
    let impossible = InvalidSnapshot::Result { round: 1 };
    check(
        |snapshot| snapshot["finished"][0]["tricks"] = json!([1, 1, 0, 0]),
        impossible,
    );
    check(
        |snapshot| snapshot["finished"][0]["tricks"] = json!([1, 0, 0]),
        impossible,
    );
    check(
        |snapshot| snapshot["finished"][0]["bids"] = json!([2, 0, 0, 0]),
        impossible,
    );
    check(
        |snapshot| snapshot["finished"][0]["bids"] = json!([]),
        impossible,
    );
}

#[test]
fn more_rounds_than_the_game_has() {
    let grow = |snapshot: &mut Value| {
        let rounds =
            (1..=15).map(|cards| json!({"bids": [0, 0, 0, 0], "tricks": [cards, 0, 0, 0]}));
        snapshot["finished"] = rounds.collect();
    };
    check(grow, InvalidSnapshot::TooLong);
}

#[test]
fn moves_against_the_rules() {
    let refused = |reason| InvalidSnapshot::Move(Refusal::Illegal(reason));
    check(
        |snapshot| snapshot["bids"][0] = json!(3),
        refused(Reason::OutOfRange),
    );
    check(
        |snapshot| snapshot["bids"] = json!([0, 0, 0]),
        refused(Reason::WrongPhase),
    );
    // Another seed deals other hands.
    check(
        |snapshot| snapshot["seed"] = json!("ff".repeat(32)),
        refused(Reason::NotInHand),
    );
}
