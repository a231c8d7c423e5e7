//! Whole games of policies against each other, and single situations that anybody would agree on.

use rand::RngExt;
use rules::{Card, Game, Options, Phase, SeatCount, Seed};

use super::*;

fn chance(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn game(seats: u8, seed: u64) -> Game {
    let seed = Seed::new(chance(seed).random());
    Game::new(SeatCount::new(seats).unwrap(), Options::default(), seed).0
}

struct Random;

impl Policy for Random {
    fn decide(&self, situation: &Situation<'_>, chance: &mut ChaCha8Rng) -> Option<Action> {
        let legal = &situation.observation.own.legal_actions;
        (!legal.is_empty()).then(|| legal[chance.random_range(0..legal.len())])
    }
}

/// Plays to the end; every move must be legal.
fn play(game: &mut Game, policies: &[&dyn Policy], chance: &mut ChaCha8Rng) {
    while let Some(seat) = game.to_act() {
        let observation = game.observe(Some(seat));
        let situation = Situation {
            seat,
            observation: &observation,
        };
        let action = policies[seat.index()].decide(&situation, chance).unwrap();
        game.apply(seat, action)
            .unwrap_or_else(|refusal| panic!("{action:?}: {refusal}"));
    }
}

#[test]
fn every_policy_plays_legal_moves_at_every_table() {
    for seats in 3..=6 {
        for (number, policy) in [&Heuristic as &dyn Policy, &Slips::default()]
            .into_iter()
            .enumerate()
        {
            let mut game = game(seats, 10 * u64::from(seats) + number as u64);
            play(&mut game, &vec![policy; usize::from(seats)], &mut chance(1));
            assert!(game.is_finished());
        }
    }
}

#[test]
fn the_same_situation_gives_the_same_move() {
    let game = game(4, 5);
    let seat = game.to_act().unwrap();
    let observation = game.observe(Some(seat));
    let situation = Situation {
        seat,
        observation: &observation,
    };
    let slips = Slips {
        misjudged_bids: 0.5,
        thoughtless_cards: 0.5,
    };
    assert_eq!(
        slips.decide(&situation, &mut chance(3)),
        slips.decide(&situation, &mut chance(3))
    );
}

/// Mean points a seat and game, of the first two seats and of the last two, each deal played twice
/// with the seats changed.
fn duel(one: &dyn Policy, other: &dyn Policy, games: u32) -> (f64, f64) {
    let (mut ones, mut others) = (0, 0);
    for seed in (0..games).map(u64::from) {
        for swapped in [false, true] {
            let (left, right) = if swapped { (other, one) } else { (one, other) };
            let mut game = game(4, seed);
            play(&mut game, &[left, right, left, right], &mut chance(seed));
            let scores = game.table().scores;
            let left: i32 = scores[0] + scores[2];
            let right: i32 = scores[1] + scores[3];
            ones += if swapped { right } else { left };
            others += if swapped { left } else { right };
        }
    }
    let mean = |points: i32| f64::from(points) / f64::from(4 * games);
    (mean(ones), mean(others))
}

#[test]
fn thinking_beats_slipping_beats_chance() {
    let (heuristic, random) = duel(&Heuristic, &Random, 20);
    println!("heuristic {heuristic:.0}, random {random:.0}");
    assert!(
        heuristic > random + 200.0,
        "heuristic {heuristic:.0}, random {random:.0}"
    );
    let (heuristic, slips) = duel(&Heuristic, &Slips::default(), 40);
    println!("heuristic {heuristic:.0}, slips {slips:.0}");
    assert!(
        heuristic > slips,
        "heuristic {heuristic:.0}, slips {slips:.0}"
    );
    let (slips, random) = duel(&Slips::default(), &Random, 20);
    println!("slips {slips:.0}, random {random:.0}");
    assert!(
        slips > random + 100.0,
        "slips {slips:.0}, random {random:.0}"
    );
}

#[test]
fn the_heuristic_makes_its_bid_more_often_than_not_in_short_hands() {
    let (mut exact, mut bids) = (0, 0);
    for seed in 0..30 {
        let mut game = game(4, seed);
        play(
            &mut game,
            &[&Heuristic; 4].map(|policy| policy as &dyn Policy),
            &mut chance(seed),
        );
        for row in game.sheet().iter().take(5) {
            exact += row
                .bids
                .iter()
                .zip(&row.tricks)
                .filter(|(bid, tricks)| bid == tricks)
                .count();
            bids += row.bids.len();
        }
    }
    println!("{exact} of {bids} bids exact");
    assert!(2 * exact > bids, "{exact} of {bids} bids exact");
}

/// A round that is played until the seat in front of a trick has a choice to make.
fn until(mut found: impl FnMut(&Game) -> bool) -> Game {
    for seed in 0..500 {
        let mut game = game(4, seed);
        let mut random = chance(seed);
        while let Some(seat) = game.to_act() {
            if found(&game) {
                return game;
            }
            let legal = game.legal_actions(seat);
            game.apply(seat, legal[random.random_range(0..legal.len())])
                .unwrap();
        }
    }
    panic!("no such situation in 500 games");
}

fn choice(game: &Game) -> (Action, Vec<Card>) {
    let seat = game.to_act().unwrap();
    let observation = game.observe(Some(seat));
    let action = Heuristic
        .decide(
            &Situation {
                seat,
                observation: &observation,
            },
            &mut chance(0),
        )
        .unwrap();
    let legal = observation
        .own
        .legal_actions
        .iter()
        .filter_map(|action| match action {
            Action::Play { card } => Some(*card),
            _ => None,
        });
    (action, legal.collect())
}

fn last_to_play(game: &Game) -> bool {
    game.phase() == Phase::Play && game.table().trick.plays.len() == 3
}

fn needed(game: &Game) -> i32 {
    let seat = game.to_act().unwrap();
    let bid = game.own(Some(seat)).bids[seat.index()].unwrap();
    i32::from(bid) - i32::from(game.table().tricks[seat.index()])
}

#[test]
fn the_last_to_play_ducks_when_its_bid_is_reached() {
    let game = until(|game| {
        let (_, legal) = if last_to_play(game) {
            choice(game)
        } else {
            return false;
        };
        let winning = legal.iter().filter(|card| wins(game, **card)).count();
        needed(game) == 0 && winning > 0 && winning < legal.len()
    });
    let (Action::Play { card }, _) = choice(&game) else {
        panic!("a card")
    };
    assert!(!wins(&game, card), "{card:?} takes a trick too many");
}

#[test]
fn the_last_to_play_takes_a_needed_trick_with_its_weakest_winner() {
    let game = until(|game| {
        let (_, legal) = if last_to_play(game) {
            choice(game)
        } else {
            return false;
        };
        let hand = i32::try_from(game.own(game.to_act()).hand.len()).unwrap();
        needed(game) > 0
            && needed(game) < hand
            && legal.iter().filter(|card| wins(game, **card)).count() > 1
    });
    let (Action::Play { card }, legal) = choice(&game) else {
        panic!("a card")
    };
    let trump = game.table().trump.suit;
    let strength = |card: &Card| match card {
        Card::Wizard(_) => 100,
        Card::Suited(suit, rank) if Some(*suit) == trump => 50 + rank.get(),
        Card::Suited(_, rank) => rank.get(),
        Card::Jester(_) => 0,
    };
    let weakest = legal
        .iter()
        .filter(|card| wins(&game, **card))
        .min_by_key(|card| strength(card))
        .unwrap();
    assert_eq!(
        strength(&card),
        strength(weakest),
        "{card:?} instead of {weakest:?}"
    );
}

fn wins(game: &Game, card: Card) -> bool {
    let mut after = game.clone();
    let seat = game.to_act().unwrap();
    let events = after.apply(seat, Action::Play { card }).unwrap();
    events.iter().any(
        |event| matches!(event, rules::Event::TrickCompleted { winner, .. } if *winner == seat),
    )
}
