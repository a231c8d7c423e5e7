//! A game node of this process, on a thread of its own.

use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::Duration;

use chassis::environment::Limit;
use chassis::{Metrics, Process};
use game_node::Config;
use game_node::lobby::Pace;
use protocol::server::LoadLevel;
use registry::{NodeId, Registry};

use crate::support::free_address;

/// What the kernel counts CPU in.
const TICKS_PER_SECOND: f64 = 100.0;

pub(crate) struct Node {
    /// By which the kernel knows its thread.
    name: &'static str,
    address: SocketAddr,
    process: Process,
    thread: JoinHandle<()>,
}

impl Node {
    /// The registry is made on the node's thread, where its connections live.
    pub(crate) fn start(
        name: &'static str,
        registry: impl FnOnce() -> Registry + Send + 'static,
        metrics: Metrics,
    ) -> Self {
        let address = free_address();
        let operations = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let process = Process::start(operations, metrics).unwrap();
        let own = process.clone();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                let listener = std::net::TcpListener::bind(address).unwrap();
                let running =
                    async { game_node::run(config(address), listener, registry(), own).await };
                runtime.unwrap().block_on(running).unwrap();
            });
        Self {
            name,
            address,
            process,
            thread: thread.unwrap(),
        }
    }

    pub(crate) async fn ready(&self) {
        self.process.readiness.ready().await;
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn operations(&self) -> SocketAddr {
        self.process.operations.address()
    }

    pub(crate) async fn end(self) {
        self.process.shutdown.begin();
        let ended = tokio::task::spawn_blocking(|| self.thread.join());
        ended.await.unwrap().unwrap();
    }

    /// What its thread has used.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let threads = std::fs::read_dir("/proc/self/task").unwrap();
        let mut threads = threads.map(|thread| thread.unwrap().path());
        let is_it = |thread: &std::path::PathBuf| {
            let name = std::fs::read_to_string(thread.join("comm"));
            name.is_ok_and(|name| name.trim_end() == self.name)
        };
        let thread = threads.find(is_it).expect("it runs");
        cpu_seconds(&thread.join("stat"))
    }
}

/// In user and kernel mode, of a process or a thread.
pub(crate) fn cpu_seconds(stat: &std::path::Path) -> f64 {
    let stat = std::fs::read_to_string(stat).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |place: usize| fields[place].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / TICKS_PER_SECOND
}

/// Without limits and pauses; its load, which would refuse the next game, is pinned.
fn config(address: SocketAddr) -> Config {
    let id = NodeId::new("game-measured").unwrap();
    let mut config = Config::new(id, address.to_string());
    config.drain_timeout = Duration::from_secs(1);
    config.pace = Pace {
        ai_move_delay: Duration::ZERO,
        trick_pause: Duration::ZERO,
    };
    config.ai_max_inflight = Limit::NONE;
    config.max_lobbies = Limit::NONE;
    config.max_active_games = Limit::NONE;
    config.load.force_level = Some(LoadLevel::Normal);
    config
}
