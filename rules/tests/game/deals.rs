//! Deals against vectors that another program made (`docs/check_deal.py`).

use std::collections::BTreeMap;

use rules::deal::{Deal, first_dealer, shuffled_deck};
use rules::{Card, Event, Game, Options, RevealedSeed};
use serde::Deserialize;

use crate::support::{advance_until, cards, seat, seats};

const VECTORS: &str = include_str!("../vectors/deals.json");

#[derive(Deserialize)]
struct Vector {
    seed: RevealedSeed,
    commitment: String,
    /// By number of players.
    first_dealer: BTreeMap<u8, u8>,
    /// By round.
    decks: BTreeMap<u8, String>,
    deals: Vec<VectorDeal>,
}

#[derive(Deserialize)]
struct VectorDeal {
    players: u8,
    round: u8,
    cards: u8,
    dealer: u8,
    hands: Vec<String>,
    turned: Option<Card>,
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(VECTORS).unwrap()
}

#[test]
fn seeds_give_the_deals_that_the_vectors_say() {
    for vector in vectors() {
        let seed = vector.seed.seed();
        assert_eq!(seed.commitment().to_string(), vector.commitment);
        for (players, dealer) in vector.first_dealer {
            assert_eq!(first_dealer(&seed, seats(players)), seat(dealer));
        }
        for (round, deck) in vector.decks {
            assert_eq!(
                shuffled_deck(&seed, round).to_vec(),
                cards(&deck),
                "round {round}"
            );
        }
        for expected in vector.deals {
            let (dealer, players) = (seat(expected.dealer), seats(expected.players));
            let deal = Deal::of(&seed, expected.round, dealer, players, expected.cards);
            assert_eq!(deal.turned(), expected.turned);
            for (seat, hand) in players.seats().zip(&expected.hands) {
                assert!(
                    deal.hand(seat).into_iter().eq(cards(hand)),
                    "{seat:?} of {players:?}"
                );
            }
        }
    }
}

/// What a player does after a game: the cards that were seen against those that the seed gives.
#[test]
fn a_game_deals_what_its_revealed_seed_gives() {
    for vector in vectors() {
        for deal in vector.deals {
            let players = seats(deal.players);
            let (mut game, events) = Game::new(players, Options::default(), vector.seed.seed());
            let Event::GameStarted { deal_commitment } = events[0] else {
                panic!("{events:?}")
            };
            assert_eq!(deal_commitment.to_string(), vector.commitment);

            advance_until(&mut game, |game| game.round() == deal.round);
            assert_eq!(game.dealer(), seat(deal.dealer));
            assert_eq!(game.table().trump.card, deal.turned);
            for (seat, hand) in players.seats().zip(&deal.hands) {
                assert_eq!(game.own(Some(seat)).hand, cards(hand));
            }

            assert_eq!(game.revealed_seed(), None);
            advance_until(&mut game, Game::is_finished);
            assert_eq!(
                game.revealed_seed().unwrap().seed().commitment(),
                deal_commitment
            );
        }
    }
}
