//! AI against AI on duplicate deals: each deal is played once for every seat that the challenger can
//! have, so that luck with the cards cancels out.
//!
//! Nobody is interrupted here: the same match gives the same points, on any machine, however busy.

use std::time::Duration;

use chassis::clock;
use protocol::decide::Decide;
use protocol::lobby::AiLevel;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rules::{Game, Options, Seat, SeatCount, Seed};
use rustix::time::{ClockId, clock_gettime};
use uuid::Uuid;

use crate::policy::{self, Budget};

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
    /// Worlds that a hard seat samples for a move; a pool gives [`WORLDS`](crate::pool::WORLDS).
    pub worlds: u32,
    /// The same seed gives the same deals.
    pub seed: u64,
}

/// What came of a match.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Report {
    /// Deals that were played.
    pub deals: usize,
    /// Games played.
    pub games: u32,
    /// Points a game by which the challenger is ahead of the mean opponent, over all deals.
    pub lead: f64,
    /// The standard error of `lead`; deals are independent, the games of one deal are not.
    pub standard_error: f64,
    /// The challenger.
    pub challenger: Side,
    /// The opponents, all together.
    pub opponent: Side,
}

/// How one side of a match did.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Side {
    /// Points a game and seat.
    pub points: f64,
    /// Which part of its games a seat of this side won, 0 to 1; a shared first place is a share of one.
    pub wins: f64,
    /// Which part of its bids it made, 0 to 1.
    pub bids_made: f64,
    /// Likewise, in each round of a game.
    pub bids_made_by_round: Vec<f64>,
    /// Processor time of a decision on average, in milliseconds.
    pub decision_mean_ms: f64,
    /// What half of the decisions take longer than.
    pub decision_p50_ms: f64,
    /// What one decision of a hundred takes longer than.
    pub decision_p99_ms: f64,
}

#[derive(Default)]
struct Tally {
    leads: Vec<f64>,
    /// Challenger and opponents.
    sides: [SideTally; 2],
}

#[derive(Default)]
struct SideTally {
    games: u32,
    points: i64,
    wins: f64,
    made: Vec<u32>,
    took: Vec<Duration>,
}

const CHALLENGER: usize = 0;
const OPPONENT: usize = 1;

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
    let side_of = |seat: Seat| {
        if seat == challenger {
            CHALLENGER
        } else {
            OPPONENT
        }
    };
    while let Some(seat) = game.to_act() {
        let level = if seat == challenger {
            setup.challenger
        } else {
            setup.opponent
        };
        let request = request(&game, seat, level, chance);
        let before = processor_time();
        let action = policy::decide(&request, budget(setup.worlds))
            .expect("whoever is to act has a legal action");
        let took = processor_time().saturating_sub(before);
        tally.sides[side_of(seat)].took.push(took);
        game.apply(seat, action)
            .expect("a policy chooses among the legal actions");
    }
    for seat in setup.seats.seats() {
        tally.sides[side_of(seat)].count(&game, seat);
    }
    let scores = game.scores();
    let own = f64::from(scores[challenger.index()]);
    let all: f64 = scores.iter().copied().map(f64::from).sum();
    own - (all - own) / f64::from(setup.seats.get() - 1)
}

/// So many worlds, however long they take.
fn budget(worlds: u32) -> Budget {
    Budget {
        worlds,
        until: clock::now() + WITHOUT_END,
    }
}

const WITHOUT_END: Duration = Duration::from_hours(1);

/// Of this thread: what else runs on the machine costs a decision nothing.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("nobody has used less than nothing")
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
        trace: None,
    }
}

impl SideTally {
    fn count(&mut self, game: &Game, seat: Seat) {
        let scores = game.scores();
        let best = scores.iter().max();
        let first = scores.iter().filter(|score| Some(*score) == best).count();
        self.games += 1;
        self.points += i64::from(scores[seat.index()]);
        if Some(&scores[seat.index()]) == best {
            self.wins += 1.0 / decimal(first);
        }
        self.made.resize(game.sheet().len(), 0);
        for (made, row) in self.made.iter_mut().zip(game.sheet()) {
            *made += u32::from(row.bids[seat.index()] == row.tricks[seat.index()]);
        }
    }

    fn report(mut self) -> Side {
        self.took.sort_unstable();
        let games = f64::from(self.games).max(1.0);
        let by_round: Vec<f64> = self
            .made
            .iter()
            .map(|made| f64::from(*made) / games)
            .collect();
        let total: Duration = self.took.iter().sum();
        let percentile = |percent: usize| {
            let took = self.took.get(self.took.len() * percent / 100);
            took.map_or(0.0, |took| took.as_secs_f64() * 1000.0)
        };
        Side {
            points: decimal(self.points) / games,
            wins: self.wins / games,
            bids_made: by_round.iter().sum::<f64>() / decimal(by_round.len().max(1)),
            bids_made_by_round: by_round,
            decision_mean_ms: total.as_secs_f64() * 1000.0 / decimal(self.took.len().max(1)),
            decision_p50_ms: percentile(50),
            decision_p99_ms: percentile(99),
        }
    }
}

impl Tally {
    fn report(self) -> Report {
        let deals = decimal(self.leads.len()).max(1.0);
        let lead = self.leads.iter().sum::<f64>() / deals;
        let squares: f64 = self.leads.iter().map(|one| (one - lead).powi(2)).sum();
        let [challenger, opponent] = self.sides;
        Report {
            deals: self.leads.len(),
            games: challenger.games,
            lead,
            standard_error: (squares / (deals - 1.0).max(1.0) / deals).sqrt(),
            challenger: challenger.report(),
            opponent: opponent.report(),
        }
    }
}

/// A count, or a sum of points, for reckoning; nothing here comes near the limits of `i32`.
fn decimal(count: impl TryInto<i32>) -> f64 {
    f64::from(count.try_into().unwrap_or(i32::MAX))
}
