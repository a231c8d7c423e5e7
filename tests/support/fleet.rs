//! Whole systems: everything in one process, or each role in its own over a Redis.

use std::net::SocketAddr;

use super::free_address;
use super::process::Wizard;
use super::redis::Redis;

pub(crate) struct Fleet {
    /// First the gateways, or everything.
    processes: Vec<Wizard>,
    /// Of each gateway.
    players: Vec<SocketAddr>,
    redis: Option<Redis>,
    /// What every process was told.
    variables: Vec<(String, String)>,
    /// What processes that have ended had logged.
    ended: Vec<String>,
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
            players: vec![address.trim_end_matches('/').parse().expect("an address")],
            processes: vec![process],
            redis: None,
            variables: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// A gateway, two game nodes and an AI node over a Redis of their own, all ready.
    pub(crate) async fn over_redis(variables: &[(&str, &str)]) -> Self {
        Self::of(1, 2, variables).await
    }

    /// So many gateways and game nodes and an AI node over a Redis of their own, all ready.
    pub(crate) async fn of(gateways: usize, game_nodes: usize, variables: &[(&str, &str)]) -> Self {
        let redis = Redis::start().await;
        let url = redis.url();
        let spawn = |name: &str, role: &str, own: (&str, &str)| {
            let mut all = variables.to_vec();
            all.extend([("REDIS_URL", url.as_str()), own]);
            Wizard::spawn(name, role, &all)
        };
        let players: Vec<SocketAddr> = (0..gateways).map(|_| free_address()).collect();
        let mut starting: Vec<Wizard> = (1..)
            .zip(&players)
            .map(|(number, address)| {
                let listen = ("LISTEN_ADDR", &*address.to_string());
                spawn(&format!("gateway-{number}"), "gateway", listen)
            })
            .collect();
        starting.extend((1..=game_nodes).map(|number| {
            let name = format!("game-{number}");
            spawn(&name, "game-node", ("NODE_ID", &name))
        }));
        starting.push(spawn("ai", "ai-node", ("NODE_ID", "ai")));
        let mut processes = Vec::new();
        for process in starting {
            processes.push(process.ready().await);
        }
        Self {
            processes,
            players,
            redis: Some(redis),
            variables: owned(variables),
            ended: Vec::new(),
        }
    }

    /// Starts one more process of a role, and waits until it is ready; gives where players connect to it, if
    /// it is a gateway.
    pub(crate) async fn add(&mut self, role: &str, name: &str) -> SocketAddr {
        let redis = self.redis.as_ref().expect("a fleet over Redis").url();
        let address = free_address();
        let listen = address.to_string();
        let mut all = vec![("REDIS_URL", redis.as_str()), ("NODE_ID", name)];
        if role == "gateway" {
            all.push(("LISTEN_ADDR", &listen));
        }
        all.extend(
            self.variables
                .iter()
                .map(|(name, value)| (&**name, &**value)),
        );
        let process = Wizard::spawn(name, role, &all).ready().await;
        self.processes.push(process);
        address
    }

    /// Tells a process to stop, by its place, and waits until it has: with exit code 0.
    pub(crate) async fn end(&mut self, place: usize) {
        let process = &mut self.processes[place];
        process.signal("TERM");
        let status = process.ended().await;
        assert_eq!(status.code(), Some(0), "{status}");
        let process = self.processes.remove(place);
        self.ended.extend(process.lines());
    }

    /// Where players connect.
    pub(crate) fn url(&self) -> String {
        self.urls().remove(0)
    }

    /// Where players connect, at each gateway.
    pub(crate) fn urls(&self) -> Vec<String> {
        let url = |address| format!("ws://{address}/ws");
        self.players.iter().map(url).collect()
    }

    /// The same as an address.
    pub(crate) fn players(&self) -> SocketAddr {
        self.players[0]
    }

    /// The gateway's operations port.
    pub(crate) fn operations(&self) -> SocketAddr {
        self.gateway().operations()
    }

    /// The operations ports of all processes.
    pub(crate) fn all_operations(&self) -> Vec<SocketAddr> {
        self.processes.iter().map(Wizard::operations).collect()
    }

    /// All gateways.
    pub(crate) fn gateways(&self) -> &[Wizard] {
        &self.processes[..self.players.len()]
    }

    /// The first gateway.
    pub(crate) fn gateway(&self) -> &Wizard {
        &self.processes[0]
    }

    /// Takes the registry away.
    pub(crate) fn kill_redis(&mut self) {
        let redis = self.redis.as_mut();
        redis.expect("a fleet over Redis").kill();
    }

    /// Tells all processes to stop, and waits until they have: each with exit code 0.
    pub(crate) async fn stop(mut self) -> Vec<String> {
        for process in &self.processes {
            process.signal("TERM");
        }
        for process in &mut self.processes {
            let status = process.ended().await;
            assert_eq!(status.code(), Some(0), "{status}");
        }
        self.lines()
    }

    /// What all processes have logged so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        let running = self.processes.iter().flat_map(Wizard::lines);
        self.ended.iter().cloned().chain(running).collect()
    }
}

fn owned(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    variables.iter().map(own).collect()
}
