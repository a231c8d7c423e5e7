//! What was counted at one time, and what follows from two such times.

use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::node::{Node, cpu_seconds};
use crate::support::http;
use crate::support::redis::Redis;

/// Everything since the start.
pub(crate) struct Counted {
    pub(crate) at: Instant,
    cpu_seconds: f64,
    redis: Option<RedisCounted>,
    commit_seconds: Histogram,
    batches: f64,
    lobbies: f64,
}

struct RedisCounted {
    cpu_seconds: f64,
    bytes_read: f64,
}

impl RedisCounted {
    async fn read(redis: &Redis) -> Self {
        let mut stream = TcpStream::connect(redis.address()).await.unwrap();
        stream.write_all(b"INFO\r\nQUIT\r\n").await.unwrap();
        let mut info = String::new();
        stream.read_to_string(&mut info).await.unwrap();
        let value = |name: &str| {
            let mut lines = info.lines().filter_map(|line| line.split_once(':'));
            let (_, value) = lines.find(|(found, _)| *found == name).unwrap();
            value.to_owned()
        };
        let stat = PathBuf::from(format!("/proc/{}/stat", value("process_id")));
        Self {
            cpu_seconds: cpu_seconds(&stat),
            bytes_read: value("total_net_input_bytes").parse().unwrap(),
        }
    }
}

impl Counted {
    pub(crate) async fn read(node: &Node, redis: Option<&Redis>) -> Self {
        let (_, metrics) = http::get(node.operations(), "/metrics").await.unwrap();
        let redis = match redis {
            Some(redis) => Some(RedisCounted::read(redis).await),
            None => None,
        };
        Self {
            at: Instant::now(),
            cpu_seconds: node.cpu_seconds(),
            redis,
            commit_seconds: Histogram::read(&metrics, "game_commit_duration_seconds"),
            batches: sample(&metrics, "game_commit_size_count"),
            lobbies: sample(&metrics, "game_commit_size_sum"),
        }
    }
}

/// Of a time in which so many moves were made.
pub(crate) struct Figures {
    pub(crate) moves_per_second: f64,
    moves: f64,
    cpu_seconds: f64,
    /// From a move to its answer, sorted.
    answers: Vec<Duration>,
    commits: Histogram,
    lobbies_a_batch: f64,
    redis_cpu_a_move: Option<f64>,
    bytes_a_commit: Option<f64>,
}

impl Figures {
    #[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
    pub(crate) fn between(before: &Counted, after: &Counted, mut answers: Vec<Duration>) -> Self {
        answers.sort_unstable();
        let moves = answers.len() as f64;
        let lobbies = after.lobbies - before.lobbies;
        let redis = before.redis.as_ref().zip(after.redis.as_ref());
        Self {
            moves_per_second: moves / (after.at - before.at).as_secs_f64(),
            moves,
            cpu_seconds: after.cpu_seconds - before.cpu_seconds,
            answers,
            commits: after.commit_seconds.since(&before.commit_seconds),
            lobbies_a_batch: lobbies / (after.batches - before.batches),
            redis_cpu_a_move: redis
                .map(|(before, after)| (after.cpu_seconds - before.cpu_seconds) / moves),
            bytes_a_commit: redis
                .map(|(before, after)| (after.bytes_read - before.bytes_read) / lobbies),
        }
    }

    pub(crate) fn cpu_a_move(&self) -> f64 {
        self.cpu_seconds / self.moves
    }

    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let answer = |thousandths: usize| {
            let place = (self.answers.len() - 1) * thousandths / 1000;
            format!("{:.1} ms", self.answers[place].as_secs_f64() * 1e3)
        };
        let commit = |quantile| format!("{:.1} ms", self.commits.quantile(quantile) * 1e3);
        let or_none = |value: Option<String>| value.unwrap_or_default();
        vec![
            ("moves a second", format!("{:.0}", self.moves_per_second)),
            ("CPU a move", format!("{:.0} µs", self.cpu_a_move() * 1e6)),
            (
                "Redis' CPU a move",
                or_none(
                    self.redis_cpu_a_move
                        .map(|cpu| format!("{:.0} µs", cpu * 1e6)),
                ),
            ),
            ("a move to its answer, p50", answer(500)),
            ("a move to its answer, p99", answer(990)),
            ("a commit, p50", commit(0.5)),
            ("a commit, p99", commit(0.99)),
            ("tables in a commit", format!("{:.1}", self.lobbies_a_batch)),
            (
                "bytes to Redis, a table and commit",
                or_none(self.bytes_a_commit.map(|bytes| format!("{bytes:.0}"))),
            ),
        ]
    }
}

/// How many were at most as long as each bound, in seconds.
struct Histogram(Vec<(f64, f64)>);

impl Histogram {
    fn read(metrics: &str, name: &str) -> Self {
        let begin = format!("{name}_bucket{{");
        let buckets = metrics.lines().filter(|line| line.starts_with(&begin));
        let bucket = |line: &str| {
            let (_, rest) = line.split_once("le=\"").unwrap();
            let (bound, _) = rest.split_once('"').unwrap();
            let (_, count) = line.rsplit_once(' ').unwrap();
            (
                bound.parse().unwrap_or(f64::INFINITY),
                count.parse().unwrap(),
            )
        };
        Self(buckets.map(bucket).collect())
    }

    fn since(&self, before: &Self) -> Self {
        let counts_before = before
            .0
            .iter()
            .map(|(_, count)| *count)
            .chain(std::iter::repeat(0.0));
        let both = self.0.iter().zip(counts_before);
        Self(
            both.map(|((bound, count), before)| (*bound, count - before))
                .collect(),
        )
    }

    /// Evenly between the bounds of its bucket.
    fn quantile(&self, quantile: f64) -> f64 {
        let all = self.0.last().map_or(0.0, |(_, count)| *count);
        let wanted = all * quantile;
        let (mut low, mut below) = (0.0, 0.0);
        for (bound, count) in &self.0 {
            if *count >= wanted && *count > below {
                let share = (wanted - below) / (count - below);
                return if bound.is_finite() {
                    low + (bound - low) * share
                } else {
                    low
                };
            }
            (low, below) = (*bound, *count);
        }
        low
    }
}

/// 0 before anything was recorded.
fn sample(metrics: &str, name: &str) -> f64 {
    let mut lines = metrics.lines();
    let line = lines.find(|line| line.starts_with(name) && !line.starts_with('#'));
    line.and_then(|line| line.rsplit_once(' '))
        .map_or(0.0, |(_, value)| value.parse().unwrap())
}
