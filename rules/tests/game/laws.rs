//! What holds in every game, whoever plays what.

use proptest::prelude::*;
use rules::{
    BidRule, Card, CardSet, Deal, Event, Game, Length, Options, OptionsPatch, Phase, Seat,
    SeatCount, Seed, Snapshot, Suit, Trick,
};

use crate::support::{Chance, bid, game_where, options, seats};

/// What a random game follows from.
#[derive(Clone, Debug)]
struct Setup {
    seats: SeatCount,
    options: Options,
    seed: [u8; 32],
    chance: u64,
}

impl Setup {
    fn game(&self) -> (Game, Vec<Event>) {
        Game::new(self.seats, self.options, Seed::new(self.seed))
    }

    /// Plays to the end; `look` sees the game and its newest events, at the start and after each move.
    fn walk(&self, mut look: impl FnMut(&Game, &[Event])) -> Game {
        let (mut game, mut events) = self.game();
        let mut chance = Chance::new(self.chance);
        loop {
            look(&game, &events);
            let Some((seat, action)) = chance.legal_move(&game) else {
                return game;
            };
            events = game.apply(seat, action).unwrap();
        }
    }
}

const BIDDING: [(bool, BidRule); 4] = [
    (false, BidRule::Free),
    (false, BidRule::Hook),
    (false, BidRule::Canadian),
    (true, BidRule::Free),
];
const LENGTHS: [Length; 3] = [Length::Full, Length::Tournament, Length::Short];

fn options_of((hidden, rule): (bool, BidRule), length: Length) -> Options {
    options(OptionsPatch {
        hidden_bids: Some(hidden),
        bid_rule: Some(rule),
        length: Some(length),
        turn_seconds: None,
    })
}

prop_compose! {
    fn any_setup()(
        players in 3u8..=6,
        bidding in prop::sample::select(&BIDDING[..]),
        length in prop::sample::select(&LENGTHS[..]),
        seed: [u8; 32],
        chance: u64,
    ) -> Setup {
        Setup { seats: seats(players), options: options_of(bidding, length), seed, chance }
    }
}

fn cards_of(game: &Game, seat: Seat) -> CardSet {
    game.own(Some(seat)).hand.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn tricks_of_a_round_add_up_to_its_hand_size(setup in any_setup()) {
        let mut rounds = 0;
        let game = setup.walk(|game, events| {
            for event in events {
                if let Event::RoundScored { tricks, scores, .. } = event {
                    let row = &game.sheet()[rounds];
                    assert_eq!(tricks.iter().sum::<u8>(), row.cards);
                    assert_eq!(scores, game.scores());
                    rounds += 1;
                }
            }
            assert_eq!(game.sheet().len(), rounds);
        });
        for seat in game.seats().seats() {
            let sum: i32 = game.sheet().iter().map(|row| row.points[seat.index()]).sum();
            assert_eq!(sum, game.scores()[seat.index()]);
        }
    }

    #[test]
    fn every_card_is_in_exactly_one_place(setup in any_setup()) {
        let mut played: Vec<Card> = Vec::new();
        let mut round = 0;
        setup.walk(|game, events| {
            played.extend(events.iter().filter_map(|event| match event {
                Event::CardPlayed { card, .. } => Some(*card),
                _ => None,
            }));
            if game.round() != round {
                round = game.round();
                played.clear();
            }
            let (seed, seats) = (Seed::new(setup.seed), game.seats());
            let deal = Deal::of(&seed, round, game.dealer(), seats, game.cards());
            let dealt: CardSet = seats.seats().flat_map(|seat| deal.hand(seat)).collect();
            let held: Vec<Card> = seats.seats().flat_map(|seat| cards_of(game, seat)).collect();
            assert_eq!(held.len() + played.len(), usize::from(game.cards() * seats.get()));
            assert_eq!(held.iter().chain(&played).copied().collect::<CardSet>(), dealt);
            assert!(deal.turned().is_none_or(|turned| !dealt.contains(turned)));
        });
    }

    #[test]
    fn exactly_one_seat_has_legal_actions_until_the_end(setup in any_setup()) {
        let game = setup.walk(|game, _| {
            let acting: Vec<Seat> =
                game.seats().seats().filter(|seat| game.legal_moves(*seat).len() > 0).collect();
            assert_eq!(acting, game.to_act().into_iter().collect::<Vec<_>>());
            assert_eq!(game.to_act().is_none(), game.is_finished());
            assert!(game.own(None).legal_actions.is_empty());
        });
        assert_eq!(game.sheet().len(), usize::from(game.rounds()));
    }

    #[test]
    fn what_is_legal_is_accepted_and_a_refusal_changes_nothing(setup in any_setup()) {
        let mut chance = Chance::new(setup.chance ^ 1);
        setup.walk(|game, _| {
            let mut tried = game.clone();
            for _ in 0..8 {
                let (seat, action) = chance.any_move();
                let legal = game.legal_actions(seat).contains(&action);
                let result = tried.apply(seat, action);
                assert_eq!(result.is_ok(), legal, "{seat:?} {action:?}");
                if legal {
                    assert_eq!(tried.turn(), game.turn() + 1);
                    tried = game.clone();
                }
                assert!(tried == *game);
            }
        });
    }

    #[test]
    fn forbidden_and_legal_moves_together_are_all_that_a_player_might_expect(
        setup in any_setup()
    ) {
        setup.walk(|game, _| {
            for seat in game.seats().seats() {
                let own = game.own(Some(seat));
                if game.to_act() != Some(seat) {
                    assert!(own.forbidden.is_empty());
                    continue;
                }
                let expected = match game.phase() {
                    Phase::ChooseTrump => 4,
                    Phase::Bid => usize::from(game.cards()) + 1,
                    Phase::Play => own.hand.len(),
                    Phase::Finished => 0,
                };
                assert_eq!(own.legal_actions.len() + own.forbidden.len(), expected);
            }
        });
    }

    #[test]
    fn the_same_seed_and_actions_give_the_same_state(setup in any_setup()) {
        let mut events_before = Vec::new();
        let before = setup.walk(|_, events| events_before.extend_from_slice(events));
        let mut events_again = Vec::new();
        let again = setup.walk(|_, events| events_again.extend_from_slice(events));
        prop_assert!(before == again);
        prop_assert_eq!(events_before, events_again);
    }

    #[test]
    fn a_snapshot_gives_the_game_back(setup in any_setup()) {
        setup.walk(|game, _| {
            let snapshot = game.snapshot();
            assert!(Game::restore(snapshot.clone()).unwrap() == *game);
            let json = serde_json::to_string(&snapshot).unwrap();
            assert!(serde_json::from_str::<Snapshot>(&json).unwrap() == snapshot);
            let packed = rmp_serde::to_vec_named(&snapshot).unwrap();
            assert!(rmp_serde::from_slice::<Snapshot>(&packed).unwrap() == snapshot);
        });
    }

    #[test]
    fn turns_count_accepted_actions(setup in any_setup()) {
        let mut turn = 0;
        let mut named = 0;
        let game = setup.walk(|game, events| {
            assert_eq!(game.turn(), turn);
            turn += 1;
            let naming = |event: &&Event| matches!(event, Event::TrumpChosen { .. });
            named += events.iter().filter(naming).count();
        });
        let cards: u32 = game.sheet().iter().map(|row| 1 + u32::from(row.cards)).sum();
        let named = u32::try_from(named).unwrap();
        prop_assert_eq!(game.turn(), cards * u32::from(game.seats().get()) + named);
    }
}

fn renamed(card: Card, names: [Suit; 4]) -> Card {
    match card {
        Card::Suited(suit, rank) => Card::Suited(names[suit.index()], rank),
        other => other,
    }
}

prop_compose! {
    fn any_trick()(
        plays in prop::sample::subsequence(Card::ALL.to_vec(), 3..=6).prop_shuffle(),
    ) -> Vec<Card> {
        plays
    }
}

fn trick_of(plays: impl ExactSizeIterator<Item = Card>) -> Trick {
    let mut trick = Trick::new(seats(u8::try_from(plays.len()).unwrap()), Seat::FIRST);
    plays.for_each(|card| trick.push(card));
    trick
}

proptest! {
    #[test]
    fn renaming_the_suits_changes_no_winner(
        plays in any_trick(),
        trump in prop::option::of(prop::sample::select(&Suit::ALL[..])),
        names in Just(Suit::ALL.to_vec()).prop_shuffle(),
    ) {
        let names: [Suit; 4] = names.try_into().unwrap();
        let new_name = |suit: Suit| names[suit.index()];
        let trick = trick_of(plays.iter().copied());
        let other = trick_of(plays.iter().map(|card| renamed(*card, names)));
        prop_assert_eq!(trick.led().map(new_name), other.led());
        prop_assert_eq!(trick.winning(trump), other.winning(trump.map(new_name)));
    }
}

#[test]
fn every_number_of_players_plays_every_option_to_the_end() {
    for (players, bidding, length) in (3..=6).flat_map(|players| {
        BIDDING
            .into_iter()
            .flat_map(move |bidding| LENGTHS.map(|length| (players, bidding, length)))
    }) {
        let options = options_of(bidding, length);
        let setup = Setup {
            seats: seats(players),
            options,
            seed: [players; 32],
            chance: 3,
        };
        let mut last = None;
        let game = setup.walk(|_, events| last = events.last().cloned());
        let sizes: Vec<u8> = game.sheet().iter().map(|row| row.cards).collect();
        assert_eq!(sizes, length.hand_sizes(seats(players)));
        let ranking = game.ranking().unwrap();
        assert!(ranking.is_sorted_by_key(|row| -row.score));
        let seed = game.revealed_seed().unwrap();
        assert_eq!(last, Some(Event::GameFinished { ranking, seed }));
    }
}

#[test]
fn hidden_bids_show_in_no_event_and_no_view_of_others_before_the_last() {
    let hidden = options_of((true, BidRule::Free), Length::Full);
    let mut zeros = game_where(5, hidden, |game| game.phase() == Phase::Bid);
    let mut ones = zeros.clone();
    for _ in 0..4 {
        let seat = zeros.to_act().unwrap();
        let events = zeros.apply(seat, bid(0));
        assert_eq!(events, ones.apply(seat, bid(1)));
        assert_eq!(zeros.observe(None), ones.observe(None));
        assert_eq!(zeros.observe(zeros.to_act()), ones.observe(ones.to_act()));
    }
}
