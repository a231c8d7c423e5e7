//! Complete four-player games of random moves: the floor under the AI, which plays games out by the
//! thousand.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rules::{Game, Options, SeatCount, Seed};

/// Plays one whole game and gives the number of its actions.
fn play(chance: &mut ChaCha8Rng) -> u32 {
    let four = SeatCount::new(4).expect("four may play");
    let (mut game, events) = Game::new(four, Options::default(), Seed::new(chance.random()));
    black_box(events);
    while let Some(seat) = game.to_act() {
        let mut moves = game.legal_moves(seat);
        let chosen = chance.random_range(0..moves.len());
        let action = moves.nth(chosen).expect("an index below the length");
        black_box(game.apply(seat, action).expect("a legal move"));
    }
    game.turn()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn games_a_minute(chance: &mut ChaCha8Rng) -> (u32, f64) {
    let started = Instant::now();
    let mut games = 0;
    while started.elapsed() < Duration::from_secs(3) {
        black_box(play(chance));
        games += 1;
    }
    (
        games,
        f64::from(games) * 60.0 / started.elapsed().as_secs_f64(),
    )
}

fn random_games(criterion: &mut Criterion) {
    let mut chance = ChaCha8Rng::from_seed([7; 32]);
    let (games, rate) = games_a_minute(&mut chance);
    println!("{games} games in 3 s: {rate:.0} games a minute on one core");

    let mut group = criterion.benchmark_group("random_games");
    group.throughput(Throughput::Elements(1));
    group.bench_function("four players, all 15 rounds", |bencher| {
        bencher.iter(|| play(&mut chance));
    });
    group.finish();
}

criterion_group!(benches, random_games);
criterion_main!(benches);
