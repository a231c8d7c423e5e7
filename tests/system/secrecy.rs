//! Nothing that a seat is sent, and nothing that is logged, tells what that seat may not know.

use std::collections::BTreeSet;

use loadtest::secrecy::cards_in;
use loadtest::{Player, checker::Record};
use protocol::Event;
use protocol::lobby::LobbyStatus;
use protocol::server::{ServerMessage, State};
use rules::{Card, CardSet, Game, Options, RevealedSeed, Seat, SeatCount};
use serde_json::{Value, json};

use crate::support::CEILING;
use crate::support::fleet::Fleet;
use crate::support::table::{agree_on, arrive, gather, play_to_the_end, start, status_of};

#[tokio::test]
async fn no_frame_and_no_log_line_tells_a_card_a_hidden_bid_or_the_seed() {
    let fleet = Fleet::over_redis(&[]).await;
    for options in [json!({"hidden_bids": true}), json!({"bid_rule": "hook"})] {
        let (mut players, code) = gather(&fleet.url(), 2, 1).await;
        let mut watcher = arrive(&fleet.url()).await;
        watcher.watch(code).await.unwrap();
        agree_on(&mut players[0], options).await;
        start(&mut players).await;
        let finished = |state: &_| status_of(state) == Some(LobbyStatus::Finished);
        let ((), shown) = tokio::join!(
            play_to_the_end(&mut players),
            watcher.until(finished, 8 * CEILING)
        );
        shown.unwrap();
        players.push(watcher);

        let record = players[0].checker().record().unwrap();
        let seed = record.seed().unwrap();
        let pictures = Pictures::of(&players[0], record);
        for player in &players {
            for text in player.transcript() {
                pictures.check(text);
            }
        }
        check_logs(&fleet.lines(), seed, &players);
    }
}

/// The game at each of its turns, played again from the seed.
struct Pictures {
    turns: Vec<(Game, CardSet)>,
    seed: String,
}

impl Pictures {
    fn of(player: &Player, record: &Record) -> Self {
        let lobby = player.state().lobby.as_ref().unwrap();
        let seats = SeatCount::new(u8::try_from(lobby.players.len()).unwrap()).unwrap();
        let options: Options = lobby.options;
        let seed = record.seed().unwrap();
        let (mut game, _) = Game::new(seats, options, seed.seed());
        let mut public = CardSet::EMPTY;
        public_cards(&game, &mut public);
        let mut turns = vec![(game.clone(), public)];
        for known in record.moves() {
            let step = known.unwrap();
            let events = game.apply(step.seat, step.action).unwrap();
            for event in events {
                if let rules::Event::CardPlayed { card, .. } = event {
                    public.insert(card);
                }
            }
            public_cards(&game, &mut public);
            turns.push((game.clone(), public));
        }
        Self {
            turns,
            seed: seed.to_string(),
        }
    }

    fn check(&self, text: &str) {
        let message: ServerMessage = serde_json::from_str(text).unwrap();
        let sent: Value = serde_json::from_str(text).unwrap();
        assert_eq!(
            serde_json::to_value(&message).unwrap(),
            sent,
            "a field that is not in the contract"
        );
        let ServerMessage::State(state) = &message else {
            return assert!(cards_in(text).is_empty(), "{text}");
        };
        let Some(game) = &state.game else {
            return assert!(cards_in(text).is_empty(), "{text}");
        };
        let shown = &game.observation.observation;
        let (at_that_turn, public) = &self.turns[shown.table.turn as usize];
        assert_eq!(*shown, at_that_turn.observe(game.you), "{text}");
        let hand: CardSet = shown.own.hand.iter().copied().collect();
        let allowed = public.or(hand);
        assert!(
            cards_in(text)
                .into_iter()
                .all(|card| allowed.contains(card)),
            "{text}"
        );
        if !at_that_turn.is_finished() {
            assert!(!text.contains(&self.seed), "{text}");
        }
        check_hidden_bids(state, game.you);
    }
}

/// Turned cards of earlier rounds are in events of a state that comes late.
fn public_cards(game: &Game, public: &mut CardSet) {
    if let Some(card) = game.table().trump.card {
        public.insert(card);
    }
}

fn check_hidden_bids(state: &State, you: Option<Seat>) {
    let hidden = state
        .lobby
        .as_ref()
        .is_some_and(|lobby| lobby.options.hidden_bids());
    for event in &state.events {
        if let Event::Game(rules::Event::BidMade { value, .. }) = event {
            assert_eq!(value.is_none(), hidden, "{state:?}");
        }
    }
    let shown = &state.game.as_ref().unwrap().observation.observation;
    if hidden && shown.table.phase == rules::Phase::Bid {
        let others = (0..)
            .zip(&shown.own.bids)
            .filter(|(seat, _)| Seat::new(*seat) != you);
        assert!(others.map(|(_, bid)| bid).all(Option::is_none), "{state:?}");
    }
}

fn check_logs(lines: &[String], seed: &RevealedSeed, players: &[Player]) {
    assert!(
        lines.iter().any(|line| line.contains("DEBUG")),
        "debug lines are kept"
    );
    let seed = seed.to_string();
    let bytes: Vec<u8> = (0..4)
        .map(|i| u8::from_str_radix(&seed[2 * i..2 * i + 2], 16).unwrap())
        .collect();
    let bytes = format!("{}, {}, {}, {}", bytes[0], bytes[1], bytes[2], bytes[3]);
    for line in lines {
        assert!(!line.to_lowercase().contains(&seed), "the seed: {line}");
        assert!(!line.contains(&bytes), "the seed's bytes: {line}");
        let cards: BTreeSet<Card> = words(line).filter_map(|word| word.parse().ok()).collect();
        assert!(cards.is_empty(), "{cards:?}: {line}");
        assert!(
            !line.contains("Bid {") && !line.contains("\"bid\""),
            "a bid: {line}"
        );
        for player in players {
            let token = player.welcome().unwrap().token.reveal();
            assert!(!line.contains(token), "a token: {line}");
        }
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric())
}
