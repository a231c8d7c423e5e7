//! Whole systems: everything in one process, or each role in its own over a Redis.

use std::net::SocketAddr;

use super::free_address;
use super::process::Wizard;
use super::redis::Redis;

pub(crate) struct Fleet {
    /// The first one is the gateway, or everything.
    processes: Vec<Wizard>,
    players: SocketAddr,
    redis: Option<Redis>,
}

impl Fleet {
    /// `wizard` alone, once it has printed where to play.
    pub(crate) async fn in_one_process(variables: &[(&str, &str)]) -> Self {
        let process = Wizard::spawn("wizard", "", variables);
        let line = process
            .line("the address to play at", |line| {
                line.starts_with("Wizard is ready: http://")
            })
            .await;
        let (_, address) = line.split_once("http://").expect("just matched");
        Self {
            players: address.trim_end_matches('/').parse().expect("an address"),
            processes: vec![process],
            redis: None,
        }
    }

    /// A gateway, two game nodes and an AI node over a Redis of their own, all ready.
    pub(crate) async fn over_redis(variables: &[(&str, &str)]) -> Self {
        let redis = Redis::start().await;
        let url = redis.url();
        let players = free_address();
        let listen = players.to_string();
        let with = |more: &[(&'static str, &str)]| -> Vec<(String, String)> {
            let all = variables
                .iter()
                .chain(more)
                .map(|(key, value)| (*key, *value));
            all.map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect()
        };
        let spawn = |name: &str, role: &str, more: &[(&'static str, &str)]| {
            let variables = with(more);
            let variables: Vec<(&str, &str)> = variables
                .iter()
                .map(|(key, value)| (key.as_str(), value.as_str()))
                .collect();
            Wizard::spawn(name, role, &variables)
        };
        let redis_url = ("REDIS_URL", url.as_str());
        let starting = [
            spawn("gateway", "gateway", &[redis_url, ("LISTEN_ADDR", &listen)]),
            spawn("game-1", "game-node", &[redis_url, ("NODE_ID", "game-1")]),
            spawn("game-2", "game-node", &[redis_url, ("NODE_ID", "game-2")]),
            spawn("ai", "ai-node", &[redis_url]),
        ];
        let mut processes = Vec::new();
        for process in starting {
            processes.push(process.ready().await);
        }
        Self {
            processes,
            players,
            redis: Some(redis),
        }
    }

    /// Where players connect.
    pub(crate) fn url(&self) -> String {
        format!("ws://{}/ws", self.players)
    }

    /// The same as an address.
    pub(crate) fn players(&self) -> SocketAddr {
        self.players
    }

    /// The gateway's operations port.
    pub(crate) fn operations(&self) -> SocketAddr {
        self.processes[0].operations()
    }

    /// Takes the registry away.
    pub(crate) fn kill_redis(&mut self) {
        let redis = self.redis.as_mut();
        redis.expect("a fleet over Redis").kill();
    }

    /// What all processes have logged so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.processes.iter().flat_map(Wizard::lines).collect()
    }
}
