//! AI against AI on duplicate deals: each deal is played once for every seat that the challenger can
//! have, so that luck with the cards cancels out.

use std::time::{Duration, Instant};

use chassis::clock;
use protocol::decide::Decide;
use protocol::lobby::AiLevel;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rules::{Game, Options, Seat, SeatCount, Seed};
use uuid::Uuid;

use crate::policy::{self, Budget};
use crate::pool::{LONGEST_THOUGHT, WORLDS};

/// One match: a challenger at one seat, the same opponent at all others.
#[derive(Clone, Copy, Debug)]
pub struct Match {
    /// How many play.
    pub seats: SeatCount,
    /// Plays one seat.
    pub challenger: AiLevel,
    /// Plays all others.
    pub opponent: AiLevel,
    /// Deals; each is played once a seat.
    pub deals: u32,
    /// The same seed gives the same deals.
    pub seed: u64,
}

/// What came of a match.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// Points a game by which the challenger is ahead of the mean opponent, over all deals.
    pub lead: f64,
    /// The standard error of `lead`; deals are independent, the games of one deal are not.
    pub standard_error: f64,
    /// Which part of its bids the challenger made, 0 to 1.
    pub bids_made: f64,
    /// Likewise for the opponents.
    pub opponents_bids_made: f64,
    /// The slowest of a hundred of the challenger's decisions took so long.
    pub decision_p99: Duration,
}

#[derive(Default)]
struct Tally {
    leads: Vec<f64>,
    made: [u32; 2],
    bids: [u32; 2],
    took: Vec<Duration>,
}

/// Plays a match on this thread.
pub fn play(setup: Match) -> Report {
    let mut chance = ChaCha8Rng::seed_from_u64(setup.seed);
    let mut tally = Tally::default();
    for _ in 0..setup.deals {
        let deal: [u8; 32] = chance.random();
        let lead: f64 = setup
            .seats
            .seats()
            .map(|seat| play_game(setup, deal, seat, &mut chance, &mut tally))
            .sum();
        tally.leads.push(lead / f64::from(setup.seats.get()));
    }
    tally.report()
}

/// How far the challenger's points are ahead of the mean of the others'.
fn play_game(
    setup: Match,
    deal: [u8; 32],
    challenger: Seat,
    chance: &mut ChaCha8Rng,
    tally: &mut Tally,
) -> f64 {
    let (mut game, _) = Game::new(setup.seats, Options::default(), Seed::new(deal));
    while let Some(seat) = game.to_act() {
        let level = if seat == challenger {
            setup.challenger
        } else {
            setup.opponent
        };
        let request = request(&game, seat, level, chance);
        let asked = clock::now();
        let action =
            policy::decide(&request, budget(asked)).expect("whoever is to act has a legal action");
        if seat == challenger {
            tally
                .took
                .push(clock::now().saturating_duration_since(asked));
        }
        game.apply(seat, action)
            .expect("a policy chooses among the legal actions");
    }
    tally.count_bids(&game, challenger);
    let scores = game.scores();
    let own = f64::from(scores[challenger.index()]);
    let all: f64 = scores.iter().copied().map(f64::from).sum();
    own - (all - own) / f64::from(setup.seats.get() - 1)
}

fn budget(now: Instant) -> Budget {
    Budget {
        worlds: WORLDS,
        until: now + LONGEST_THOUGHT,
    }
}

fn request(game: &Game, seat: Seat, level: AiLevel, chance: &mut ChaCha8Rng) -> Decide {
    Decide {
        request_id: Uuid::from_u128(chance.random()),
        seat,
        level,
        options: *game.options(),
        observation: game.observe(Some(seat)),
        plays: game.plays().to_vec(),
        timeout_ms: 5000,
    }
}

impl Tally {
    fn count_bids(&mut self, game: &Game, challenger: Seat) {
        for row in game.sheet() {
            for (place, (bid, tricks)) in row.bids.iter().zip(&row.tricks).enumerate() {
                let side = usize::from(place != challenger.index());
                self.made[side] += u32::from(bid == tricks);
                self.bids[side] += 1;
            }
        }
    }

    fn report(mut self) -> Report {
        self.took.sort_unstable();
        let count = f64::from(u32::try_from(self.leads.len()).unwrap_or(u32::MAX)).max(1.0);
        let lead = self.leads.iter().sum::<f64>() / count;
        let squares: f64 = self.leads.iter().map(|one| (one - lead).powi(2)).sum();
        let part = |side: usize| f64::from(self.made[side]) / f64::from(self.bids[side]).max(1.0);
        Report {
            lead,
            standard_error: (squares / (count - 1.0).max(1.0) / count).sqrt(),
            bids_made: part(0),
            opponents_bids_made: part(1),
            decision_p99: self
                .took
                .get(self.took.len() * 99 / 100)
                .copied()
                .unwrap_or_default(),
        }
    }
}
