//! Whole games of policies against each other, and single situations that anybody would agree on.

use std::time::Duration;

use protocol::lobby::AiLevel;
use rand::RngExt;
use rules::{Card, CardSet, Game, Options, Phase, SeatCount, Seed};
use uuid::Uuid;

use super::*;

fn chance(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn game(seats: u8, seed: u64) -> Game {
    let seed = Seed::new(chance(seed).random());
    Game::new(SeatCount::new(seats).unwrap(), Options::default(), seed).0
}

fn request(game: &Game, seat: Seat, level: AiLevel) -> Decide {
    Decide {
        request_id: Uuid::from_u128(7),
        seat,
        level,
        options: *game.options(),
        observation: game.observe(Some(seat)),
        plays: game.plays().to_vec(),
        timeout_ms: 5000,
        trace: None,
    }
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
        let request = request(game, seat, AiLevel::Normal);
        let situation = Situation::of(&request);
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
    let request = request(&game, seat, AiLevel::Normal);
    let situation = Situation::of(&request);
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
    let request = request(game, seat, AiLevel::Normal);
    let situation = Situation::of(&request);
    let action = Heuristic.decide(&situation, &mut chance(0)).unwrap();
    let legal = situation
        .observation
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

/// Every request of a game that is played at random, with the game that it comes from.
fn for_every_request(seats: u8, seed: u64, mut check: impl FnMut(&Game, &Decide)) {
    let mut game = game(seats, seed);
    let mut random = chance(seed);
    while let Some(seat) = game.to_act() {
        let request = request(&game, seat, AiLevel::Hard);
        check(&game, &request);
        let legal = &request.observation.own.legal_actions;
        game.apply(seat, legal[random.random_range(0..legal.len())])
            .unwrap();
    }
}

#[test]
fn what_a_round_says_of_others_is_true_of_them() {
    for seats in 3..=6 {
        for_every_request(seats, 11, |game, request| {
            let round = round::Round::of(request).unwrap();
            for seat in round.others() {
                let hand: CardSet = game.own(Some(seat)).hand.into_iter().collect();
                assert_eq!(u32::from(round.held[seat.index()]), hand.len());
                assert!(
                    hand.without(round.unseen).is_empty(),
                    "a card of theirs counts as seen"
                );
                assert!(
                    hand.and(round.void[seat.index()]).is_empty(),
                    "they have a suit that counts as void"
                );
            }
        });
    }
}

#[test]
fn a_world_gives_every_hand_its_size_and_no_hand_a_suit_it_is_void_of() {
    let mut random = chance(5);
    for seats in 3..=6 {
        for_every_request(seats, 12, |_, request| {
            let round = round::Round::of(request).unwrap();
            let hands = world::deal(&round, &mut random);
            let mut dealt = CardSet::EMPTY;
            for seat in round.seats.seats() {
                let hand = hands[seat.index()];
                assert!(hand.and(dealt).is_empty(), "a card lies in two hands");
                dealt = dealt.or(hand);
                assert_eq!(hand.len(), u32::from(round.held[seat.index()]));
                assert!(hand.and(round.void[seat.index()]).is_empty());
            }
            assert!(
                dealt.without(round.hand).without(round.unseen).is_empty(),
                "a card that was seen elsewhere"
            );
        });
    }
}

#[test]
fn a_request_that_contradicts_itself_is_answered_by_rule_of_thumb() {
    for_every_request(4, 13, |_, request| {
        let mut odd = request.clone();
        odd.plays
            .extend(request.observation.own.hand.iter().take(2));
        let action = decide(&odd, budget(8)).unwrap();
        assert!(odd.observation.own.legal_actions.contains(&action));
    });
}

#[test]
fn sampling_gives_the_same_move_for_the_same_seed_and_budget() {
    for_every_request(6, 14, |_, request| {
        assert_eq!(decide(request, budget(16)), decide(request, budget(16)));
    });
}

#[test]
fn cards_that_a_seat_cannot_see_never_change_its_move() {
    let mut random = chance(16);
    for seats in 3..=6 {
        for hidden_bids in [false, true] {
            let patch = rules::OptionsPatch {
                hidden_bids: Some(hidden_bids),
                ..rules::OptionsPatch::default()
            };
            let options = Options::default().with(patch).unwrap();
            let count = SeatCount::new(seats).unwrap();
            let (mut game, _) = Game::new(count, options, Seed::new(random.random()));
            while let Some(seat) = game.to_act() {
                let mut other = game.clone();
                other.swap_what_is_hidden_from(Some(seat), &mut random);
                for level in [AiLevel::Easy, AiLevel::Normal, AiLevel::Hard] {
                    let [one, swapped] =
                        [&game, &other].map(|game| decide(&request(game, seat, level), budget(32)));
                    assert_eq!(one, swapped, "{level:?} at seat {seat:?} of {seats}");
                }
                let legal = game.legal_actions(seat);
                game.apply(seat, legal[random.random_range(0..legal.len())])
                    .unwrap();
            }
        }
    }
}

fn budget(worlds: u32) -> Budget {
    Budget {
        worlds,
        until: chassis::clock::now() + Duration::from_mins(1),
    }
}

#[test]
fn without_time_to_sample_the_heuristic_moves() {
    for_every_request(4, 15, |_, request| {
        let situation = Situation::of(request);
        assert_eq!(
            decide(request, budget(0)),
            Heuristic.decide(&situation, &mut chance(0))
        );
    });
}

/// With 48 of the 400 worlds that a pool gives: enough to be far ahead on a few deals, while a debug build still plays them
/// in seconds. How far 400 are ahead at each count of players is the arena's to say.
#[test]
fn sampling_beats_the_heuristic() {
    for (seats, deals) in [(3, 3), (6, 8)] {
        let report = crate::arena::play(crate::arena::Match {
            seats: SeatCount::new(seats).unwrap(),
            challenger: AiLevel::Hard,
            opponent: AiLevel::Normal,
            deals,
            worlds: 48,
            seed: 2,
        });
        assert!(
            report.lead > 3.0 * report.standard_error,
            "{seats} seats: {report:?}"
        );
        assert!(
            report.challenger.bids_made > report.opponent.bids_made,
            "{seats} seats: {report:?}"
        );
    }
}

/// Tricks that the seat takes at least when all others play against it with all cards open.
fn tricks_against_all(
    hands: [CardSet; 3],
    trick: rules::Trick,
    trump: Option<rules::Suit>,
    seat: Seat,
) -> u8 {
    let Some(player) = trick.to_play() else {
        let winner = trick.winning(trump).unwrap();
        let next = rules::Trick::new(SeatCount::MIN, winner);
        return u8::from(winner == seat) + tricks_against_all(hands, next, trump, seat);
    };
    let outcomes = hands[player.index()]
        .playable(trick.led())
        .into_iter()
        .map(|card| {
            let (mut hands, mut trick) = (hands, trick);
            hands[player.index()].remove(card);
            trick.push(card);
            tricks_against_all(hands, trick, trump, seat)
        });
    let best = if player == seat {
        outcomes.max()
    } else {
        outcomes.min()
    };
    best.unwrap_or(0)
}

#[test]
fn sure_tricks_are_taken_whatever_the_others_hold_and_do() {
    let mut random = chance(21);
    let mut promised = 0;
    for _ in 0..3000 {
        let (game, _) = Game::new(
            SeatCount::MIN,
            Options::default(),
            Seed::new(random.random()),
        );
        let mut request = request(&game, game.to_act().unwrap(), AiLevel::Normal);
        let seat = request.seat;
        let cards = random.random_range(1..=3_usize);
        // Many Wizards and high trumps, so that there is something to be sure of.
        let mut deck: Vec<Card> = "W1 W2 W3 W4 R13 R12 R11 R10 B13 B12 B5 J1"
            .split(' ')
            .map(|card| card.parse().unwrap())
            .collect();
        rand::seq::SliceRandom::shuffle(&mut deck[..], &mut random);
        let hands: [CardSet; 3] =
            std::array::from_fn(|place| deck[place * cards..][..cards].iter().copied().collect());
        request.observation.own.hand = hands[seat.index()].into_iter().collect();
        request.observation.table.trump.suit = Some(rules::Suit::Red);
        request.observation.table.trump.card = Some("R1".parse().unwrap());
        request.observation.table.phase = Phase::Bid;
        let leader = SeatCount::MIN.left_of(seat, random.random_range(0..3));
        request.observation.table.trick.leader = leader;

        let sure = sense::sure_tricks(&Situation::of(&request));
        let trick = rules::Trick::new(SeatCount::MIN, leader);
        let taken = tricks_against_all(hands, trick, Some(rules::Suit::Red), seat);
        assert!(
            sure <= taken,
            "{hands:?}, seat {seat:?}, {leader:?} leads: {sure} promised, {taken} taken"
        );
        promised += u32::from(sure);
    }
    assert!(
        promised > 300,
        "the cases promise too little to mean anything: {promised}"
    );
}

#[test]
fn nobody_bids_below_the_sure_tricks_or_leads_low_when_all_are_needed() {
    for level in [AiLevel::Easy, AiLevel::Normal, AiLevel::Hard] {
        let mut four_wizards = request(&game(4, 1), Seat::FIRST, level);
        four_wizards.observation.own.hand = "W1 W2 W3 W4 B2"
            .split(' ')
            .map(|card| card.parse().unwrap())
            .collect();
        four_wizards.observation.table.phase = Phase::Bid;
        four_wizards.observation.own.legal_actions =
            (0..=5).map(|value| Action::Bid { value }).collect();
        let Some(Action::Bid { value }) = decide(&four_wizards, budget(16)) else {
            panic!("a bid")
        };
        assert!(value >= 4, "{level:?} bids {value}");

        let mut all_needed = four_wizards.clone();
        all_needed.observation.table.phase = Phase::Play;
        all_needed.observation.table.trick.leader = Seat::FIRST;
        all_needed.observation.own.bids = vec![Some(5), Some(0), Some(0), Some(0)];
        all_needed.observation.own.legal_actions = all_needed
            .observation
            .own
            .hand
            .iter()
            .map(|card| Action::Play { card: *card })
            .collect();
        for id in 0..20 {
            all_needed.request_id = Uuid::from_u64_pair(id, 0);
            let Some(Action::Play { card }) = decide(&all_needed, budget(16)) else {
                panic!("a card")
            };
            assert!(card.is_wizard(), "{level:?} leads {card}");
        }
    }
}
