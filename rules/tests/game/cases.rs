//! The cases of the rules by their number. Seats A, B, C, D are 0, 1, 2, 3; tricks are written in
//! the order of play.

use rules::bid::{forbidden_bid, leads_alone};
use rules::score::{points, ranking};
use rules::{
    Action, BidRule, Card, CardSet, Event, Game, Length, Options, OptionsPatch, Phase, Reason,
    Refusal, Seat, Suit, Trick,
};

use crate::support::{
    Chance, act, advance_to_bids, advance_until, bid, cards, game_where, options, play, seat, seats,
};

fn trick(players: u8, plays: &str) -> Trick {
    let mut trick = Trick::new(seats(players), Seat::FIRST);
    for card in cards(plays) {
        trick.push(card);
    }
    trick
}

/// After these plays, exactly these cards of the hand may follow.
#[track_caller]
fn check_playable(plays: &str, hand: &str, playable: &str) {
    let hand: CardSet = cards(hand).into_iter().collect();
    let allowed: Vec<Card> = hand.playable(trick(6, plays).led()).into_iter().collect();
    assert_eq!(allowed, cards(playable));
}

/// This card of the trick takes it.
#[track_caller]
fn check_winner(trump: Option<Suit>, plays: &str, winner: &str) {
    let position = cards(plays)
        .iter()
        .position(|card| card.to_string() == winner)
        .unwrap();
    let players = u8::try_from(cards(plays).len().max(3)).unwrap();
    let expected = Seat::new(u8::try_from(position).unwrap());
    assert_eq!(trick(players, plays).winning(trump), expected);
}

#[test]
fn t1_a_jester_leads_nothing_so_the_next_card_does() {
    check_playable("J1 B7", "B2 R5 W1", "B2 W1");
}

#[test]
fn t2_two_jesters_lead_nothing_either() {
    check_playable("J1 J2 G4", "G1 Y9", "G1");
}

#[test]
fn t3_after_a_jester_a_wizard_leads_nothing_and_wins() {
    check_playable("J1 W1", "B2 R5 Y9 W2 J2", "B2 R5 Y9 W2 J2");
    check_winner(None, "J1 W1 B13", "W1");
}

#[test]
fn t4_after_a_wizard_nothing_becomes_led() {
    check_playable("J1 W1 R5", "B1 R9", "B1 R9");
    check_playable("W1 R5", "B1 R9", "B1 R9");
}

#[test]
fn t6_a_wizard_later_leaves_the_led_suit() {
    check_playable("R5 W1", "B1 R9", "R9");
}

#[test]
fn t7_a_jester_later_leaves_the_led_suit() {
    check_playable("R5 J1", "B1 R9", "R9");
}

#[test]
fn t8_the_first_wizard_wins() {
    check_winner(Some(Suit::Red), "W1 R5 W2 J1", "W1");
    check_winner(None, "R5 W3 W1 W2", "W3");
}

#[test]
fn t9_of_jesters_alone_the_first_wins() {
    check_winner(None, "J3 J1 J4 J2", "J3");
    check_winner(Some(Suit::Blue), "J1 J2 J3", "J1");
    check_winner(None, "J1 J2 B1", "B1");
}

#[test]
fn t10_the_lowest_trump_beats_the_highest_card_of_the_led_suit() {
    check_winner(Some(Suit::Red), "B13 R1 B2 J1", "R1");
    check_winner(Some(Suit::Red), "B13 R1 R2 J1", "R2");
}

#[test]
fn t11_without_trump_the_highest_of_the_led_suit_wins() {
    check_winner(None, "B3 R13 B2 Y13", "B3");
}

#[test]
fn t12_trump_may_be_led_after_a_jester() {
    check_playable("J1 R2", "R5 Y1", "R5");
}

#[test]
fn t13_wizards_and_jesters_may_always_be_played() {
    check_playable("B9", "B4 W1 J1", "B4 W1 J1");
}

#[test]
fn t14_nothing_is_led_in_a_new_trick() {
    check_playable("", "B1 Y2", "B1 Y2");
}

#[test]
fn t15_a_turned_wizard_lets_the_dealer_name_trump_before_anybody_bids() {
    let mut game = game_where(4, Options::default(), |game| {
        game.table().trump.card.is_some_and(Card::is_wizard)
    });
    let dealer = game.dealer();
    assert_eq!(
        (game.phase(), game.to_act(), game.trump()),
        (Phase::ChooseTrump, Some(dealer), None)
    );
    for seat in game.seats().seats() {
        let expected = if seat == dealer {
            Suit::ALL.map(|suit| Action::ChooseTrump { suit }).to_vec()
        } else {
            assert_eq!(game.apply(seat, bid(0)), Err(Refusal::NotYourTurn));
            Vec::new()
        };
        assert_eq!(game.legal_actions(seat), expected);
    }
    assert_eq!(
        game.apply(dealer, bid(0)),
        Err(Refusal::Illegal(Reason::WrongPhase))
    );

    let events = act(&mut game, Action::ChooseTrump { suit: Suit::Yellow });
    assert_eq!(
        events,
        [Event::TrumpChosen {
            seat: dealer,
            suit: Suit::Yellow
        }]
    );
    let left = game.seats().left_of(dealer, 1);
    assert_eq!((game.phase(), game.to_act()), (Phase::Bid, Some(left)));
    assert_eq!(game.trump(), Some(Suit::Yellow));
}

#[test]
fn t16_a_turned_jester_means_no_trump_and_bids_at_once() {
    let game = game_where(4, Options::default(), |game| {
        game.table().trump.card.is_some_and(Card::is_jester)
    });
    assert_eq!((game.phase(), game.trump()), (Phase::Bid, None));
}

#[test]
fn t17_the_last_round_turns_nothing() {
    for players in 3..=6 {
        let mut game = game_where(players, Options::default(), |_| true);
        let events = advance_until(&mut game, |game| game.round() == game.rounds());
        assert!(matches!(
            events.last(),
            Some(Event::RoundStarted {
                trump_card: None,
                ..
            })
        ));
        assert_eq!(game.cards() * players, 60);
        assert_eq!(
            (game.phase(), game.trump(), game.table().trump.card),
            (Phase::Bid, None, None)
        );
        advance_until(&mut game, Game::is_finished);
    }
}

#[test]
fn t18_rounds_go_on_until_the_whole_deck_is_dealt() {
    for (players, rounds) in [(3, 20), (4, 15), (5, 12), (6, 10)] {
        let mut game = game_where(players, Options::default(), |_| true);
        advance_until(&mut game, Game::is_finished);
        assert_eq!(game.sheet().len(), rounds);
        let sizes: Vec<usize> = game
            .sheet()
            .iter()
            .map(|row| usize::from(row.cards))
            .collect();
        assert_eq!(sizes, (1..=rounds).collect::<Vec<_>>());
    }
}

#[test]
fn t19_the_deal_passes_from_seat_0_to_seat_1_and_round_again() {
    let mut game = game_where(3, Options::default(), |game| game.dealer() == Seat::FIRST);
    for (round, dealer) in [(2, 1), (3, 2), (4, 0)] {
        advance_until(&mut game, |game| game.round() == round);
        assert_eq!(game.dealer(), seat(dealer));
    }
}

#[test]
fn t20_after_a_deal_by_d_seat_a_deals_and_b_begins_whoever_won_the_last_trick() {
    let mut game = game_where(4, Options::default(), |game| {
        let mut first = game.clone();
        advance_until(&mut first, |game| game.round() == 2);
        game.dealer() == seat(3) && first.sheet()[0].tricks == [0, 0, 1, 0]
    });
    advance_to_bids(&mut game, 2);
    assert_eq!((game.dealer(), game.to_act()), (seat(0), Some(seat(1))));
    advance_until(&mut game, |game| game.phase() == Phase::Play);
    assert_eq!(game.to_act(), Some(seat(1)));
}

#[track_caller]
fn check_refused(game: &mut Game, seat: Seat, action: Action, refusal: Refusal) {
    let before = game.clone();
    assert_eq!(game.apply(seat, action), Err(refusal));
    assert_eq!(*game, before);
}

#[test]
fn t21_bids_that_are_refused() {
    // Half a trick is no action at all; a number below 0 is one that is refused.
    assert!(serde_json::from_str::<Action>(r#"{"type":"bid","value":1.5}"#).is_err());
    let below_zero = serde_json::from_str(r#"{"type":"bid","value":-1}"#).unwrap();
    let mut game = game_where(4, Options::default(), |game| game.phase() == Phase::Bid);
    let first = game.to_act().unwrap();
    let second = game.seats().left_of(first, 1);
    check_refused(
        &mut game,
        first,
        bid(2),
        Refusal::Illegal(Reason::OutOfRange),
    );
    check_refused(&mut game, second, bid(1), Refusal::NotYourTurn);
    check_refused(
        &mut game,
        first,
        below_zero,
        Refusal::Illegal(Reason::OutOfRange),
    );
    act(&mut game, bid(1));
    check_refused(&mut game, first, bid(1), Refusal::NotYourTurn);
    advance_until(&mut game, |game| game.phase() == Phase::Play);
    check_refused(
        &mut game,
        first,
        bid(1),
        Refusal::Illegal(Reason::WrongPhase),
    );
    check_refused(&mut game, second, bid(1), Refusal::NotYourTurn);
    advance_until(&mut game, Game::is_finished);
    check_refused(&mut game, first, bid(1), Refusal::NotYourTurn);
}

/// After these bids in a game with this rule, the dealer may make exactly these.
#[track_caller]
fn check_dealers_bids(rule: BidRule, cards: u8, bids: [u8; 3], allowed: &[u8]) {
    let with_rule = options(OptionsPatch {
        bid_rule: Some(rule),
        ..OptionsPatch::default()
    });
    let mut game = game_where(4, with_rule, |_| true);
    advance_to_bids(&mut game, cards);
    for value in bids {
        // The earlier bidders are free.
        assert_eq!(
            game.legal_actions(game.to_act().unwrap()).len(),
            usize::from(cards) + 1
        );
        act(&mut game, bid(value));
    }
    let dealer = game.dealer();
    let expected: Vec<Action> = allowed.iter().copied().map(bid).collect();
    assert_eq!(game.legal_actions(dealer), expected);
    for value in (0..=cards).filter(|value| !allowed.contains(value)) {
        check_refused(
            &mut game,
            dealer,
            bid(value),
            Refusal::Illegal(Reason::BidRule),
        );
    }
}

#[test]
fn t22_hook_with_three_cards() {
    check_dealers_bids(BidRule::Hook, 3, [1, 1, 0], &[0, 2, 3]);
    check_dealers_bids(BidRule::Free, 3, [1, 1, 0], &[0, 1, 2, 3]);
    check_dealers_bids(BidRule::Hook, 3, [3, 3, 3], &[0, 1, 2, 3]);
}

#[test]
fn t24_hook_with_one_card() {
    check_dealers_bids(BidRule::Hook, 1, [0, 0, 0], &[0]);
    check_dealers_bids(BidRule::Hook, 1, [1, 0, 0], &[1]);
}

#[test]
fn the_canadian_rule_holds_only_for_a_dealer_who_alone_leads_and_never_against_zero() {
    let canadian = |sum, leads| forbidden_bid(BidRule::Canadian, 5, sum, leads);
    assert_eq!(canadian(3, true), Some(2));
    assert_eq!(canadian(3, false), None);
    assert_eq!(canadian(5, true), None);
    assert_eq!(canadian(6, true), None);
    assert_eq!(forbidden_bid(BidRule::Hook, 5, 5, false), Some(0));

    assert!(leads_alone(&[10, 30, 20], 1));
    assert!(!leads_alone(&[10, 30, 20], 2));
    assert!(!leads_alone(&[30, 30, 20], 1));
    assert!(leads_alone(&[-30, -20, -40], 1));
    // In the first round nobody leads.
    check_dealers_bids(BidRule::Canadian, 1, [0, 0, 0], &[0, 1]);
}

#[test]
fn the_canadian_rule_in_a_game() {
    let rule = Some(BidRule::Canadian);
    let canadian = options(OptionsPatch {
        bid_rule: rule,
        ..OptionsPatch::default()
    });
    let (mut held, mut free) = (false, false);
    for number in 0.. {
        let mut game = game_where(3, canadian, |_| true);
        let mut chance = Chance::new(number);
        while let Some((seat, action)) = chance.legal_move(&game) {
            let scores = game.scores();
            let others = game.seats().seats().filter(|other| *other != game.dealer());
            let best_other = others.map(|other| scores[other.index()]).max().unwrap();
            let leads = scores[game.dealer().index()] > best_other;
            let bids = game.own(Some(seat)).bids;
            let sum: u8 = bids.iter().flatten().sum();
            if game.phase() == Phase::Bid && seat == game.dealer() && sum < game.cards() {
                let value = game.cards() - sum;
                assert_eq!(game.legal_actions(seat).contains(&bid(value)), !leads);
                held |= leads;
                free |= !leads;
            }
            game.apply(seat, action).unwrap();
        }
        if held && free {
            return;
        }
    }
}

#[test]
fn t26_hidden_bids_are_seen_by_nobody_before_the_last() {
    let hidden = options(OptionsPatch {
        hidden_bids: Some(true),
        ..OptionsPatch::default()
    });
    let mut game = game_where(4, hidden, |game| game.phase() == Phase::Bid);
    let bidders: Vec<Seat> = (1..=4)
        .map(|steps| game.seats().left_of(game.dealer(), steps))
        .collect();
    let values = [1, 0, 1, 1];
    for (made, (&bidder, value)) in bidders.iter().zip(values).enumerate() {
        for viewer in game.seats().seats().map(Some).chain([None]) {
            let seen = game.observe(viewer);
            for (&other, value) in bidders.iter().zip(values).take(made) {
                assert!(seen.table.bid_made[other.index()]);
                let own = (viewer == Some(other)).then_some(value);
                assert_eq!(seen.own.bids[other.index()], own);
            }
        }
        let events = act(&mut game, bid(value));
        assert_eq!(
            events[0],
            Event::BidMade {
                seat: bidder,
                value: None
            }
        );
        assert_eq!(events.len(), if made == 3 { 2 } else { 1 });
        if let Some(Event::BidsRevealed { bids }) = events.get(1) {
            assert!(
                bidders
                    .iter()
                    .zip(values)
                    .all(|(bidder, value)| bids[bidder.index()] == value)
            );
        }
    }
    for viewer in [Some(Seat::FIRST), None] {
        assert!(game.own(viewer).bids.iter().all(Option::is_some));
    }
}

#[test]
fn t27_points() {
    for (bid, taken, expected) in [
        (0, 0, 20),
        (2, 2, 40),
        (3, 1, -20),
        (0, 4, -40),
        (15, 15, 170),
    ] {
        assert_eq!(points(bid, taken), expected, "{bid}/{taken}");
    }
}

#[test]
fn t29_equal_totals_share_a_rank() {
    let places = |scores: &[i32]| -> Vec<(usize, u8)> {
        ranking(seats(4), scores)
            .iter()
            .map(|row| (row.seat.index(), row.rank))
            .collect()
    };
    assert_eq!(places(&[20, 50, -10, 50]), [(1, 1), (3, 1), (0, 3), (2, 4)]);
    assert_eq!(places(&[0, 0, 0, 0]), [(0, 1), (1, 1), (2, 1), (3, 1)]);
    assert_eq!(
        places(&[-30, -10, -20, -20]),
        [(1, 1), (2, 2), (3, 2), (0, 4)]
    );
}

#[test]
fn t30_the_turned_card_is_in_no_hand() {
    let mut game = game_where(6, Options::default(), |_| true);
    for round in 1..game.rounds() {
        advance_until(&mut game, |game| game.round() == round);
        let turned = game.table().trump.card.unwrap();
        for seat in game.seats().seats() {
            assert!(!game.own(Some(seat)).hand.contains(&turned));
        }
    }
}

#[test]
fn t36_the_same_move_twice_is_made_once() {
    for players in 3..=6 {
        let mut game = game_where(players, Options::default(), |_| true);
        let mut chance = Chance::new(u64::from(players));
        while let Some((seat, action)) = chance.legal_move(&game) {
            game.apply(seat, action).unwrap();
            let once = game.clone();
            assert!(game.apply(seat, action).is_err());
            assert_eq!(game, once);
        }
    }
}

#[test]
fn the_lengths_of_a_game() {
    let sizes = |length: Length, players| length.hand_sizes(seats(players)).to_vec();
    let tournament = |players| sizes(Length::Tournament, players);
    assert_eq!(tournament(3), [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    assert_eq!(tournament(4), [1, 3, 5, 7, 9, 11, 12, 13, 14, 15]);
    assert_eq!(tournament(5), [2, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(tournament(6), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for players in 3..=6 {
        assert_eq!(sizes(Length::Short, players), [1, 3, 5, 7, 9]);
    }
}

#[test]
fn refusals_say_why() {
    let mut game = game_where(4, Options::default(), |game| game.phase() == Phase::Bid);
    advance_until(&mut game, |game| game.phase() == Phase::Play);
    let first = game.to_act().unwrap();
    let held = game.own(Some(first)).hand[0];
    let other = Card::ALL.into_iter().find(|card| *card != held).unwrap();
    check_refused(
        &mut game,
        first,
        play(other),
        Refusal::Illegal(Reason::NotInHand),
    );

    // To the first seat that holds the led suit and another.
    let must_follow = |game: &Game| !game.own(game.to_act()).forbidden.is_empty();
    advance_until(&mut game, |game| {
        game.phase() == Phase::Play && must_follow(game)
    });
    let seat = game.to_act().unwrap();
    let own = game.own(Some(seat));
    let barred = own
        .hand
        .iter()
        .find(|card| !own.legal_actions.contains(&play(**card)))
        .unwrap();
    let refusal = Refusal::Illegal(Reason::MustFollow);
    check_refused(&mut game, seat, play(*barred), refusal);
    assert_eq!(
        refusal.to_string(),
        "You must follow suit, or play a Wizard or a Jester."
    );
}
