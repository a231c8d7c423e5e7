//! From the wish that processes end to their end.

use crate::support::fleet::Fleet;
use crate::support::table::{gather, start};

/// Everything worth somebody's attention.
fn warnings(lines: Vec<String>) -> Vec<String> {
    let loud = |line: &String| line.contains(" WARN ") || line.contains(" ERROR ");
    lines.into_iter().filter(loud).collect()
}

/// Tables are being played when all are told to stop, and their players are still connected.
async fn lives_and_ends_in_silence(fleet: Fleet) {
    let mut tables = Vec::new();
    for _ in 0..3 {
        let (mut players, _) = gather(&fleet.url(), 2, 1).await;
        start(&mut players).await;
        tables.push(players);
    }
    assert_eq!(warnings(fleet.stop().await), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_healthy_life_in_one_process_is_worth_no_warning() {
    lives_and_ends_in_silence(Fleet::in_one_process(&[]).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_healthy_life_over_redis_is_worth_no_warning() {
    lives_and_ends_in_silence(Fleet::over_redis(&[]).await).await;
}
