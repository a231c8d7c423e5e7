//! A real decision, as a game node would ask for it: only who has just made one is ready.

use std::time::Duration;

use chassis::clock;
use protocol::decide::Decide;
use protocol::lobby::AiLevel;
use rules::{Game, Options, SeatCount, Seed};
use uuid::Uuid;

use crate::pool::Pool;

/// Longer than any decision of a node that keeps up.
const TIMEOUT_MS: u32 = 2000;

/// How long the own pool took to decide.
///
/// # Errors
/// Why there was no legal move in time, for a person.
pub(crate) async fn decide(pool: &Pool) -> Result<Duration, String> {
    let asked = clock::now();
    let request = request(TIMEOUT_MS);
    let legal = request.observation.own.legal_actions.clone();
    let answer = pool
        .submit(request)
        .map_err(|failure| format!("{failure:?}"))?;
    match tokio::time::timeout(Duration::from_millis(u64::from(TIMEOUT_MS)), answer).await {
        Ok(Ok(Ok(action))) if legal.contains(&action) => {
            Ok(clock::now().saturating_duration_since(asked))
        }
        Ok(Ok(Ok(action))) => Err(format!("decided on an illegal {action:?}")),
        Ok(Ok(Err(failure))) => Err(format!("failed to decide: {failure:?}")),
        Ok(Err(_)) | Err(_) => Err(format!("no decision within {TIMEOUT_MS} ms")),
    }
}

/// The first bid of a game that nobody plays.
pub(crate) fn request(timeout_ms: u32) -> Box<Decide> {
    let (game, _) = Game::new(SeatCount::MIN, Options::default(), Seed::new([0; 32]));
    let seat = game
        .to_act()
        .expect("a game that has just begun waits for somebody");
    Box::new(Decide {
        request_id: Uuid::new_v4(),
        seat,
        level: AiLevel::Normal,
        options: *game.options(),
        observation: game.observe(Some(seat)),
        plays: Vec::new(),
        timeout_ms,
        trace: None,
    })
}
