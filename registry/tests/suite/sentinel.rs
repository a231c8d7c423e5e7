//! Sentinels name the master, before and after a fail-over. Scenes of [`super::at_once`].

use std::process::Child;
use std::time::Duration;

use registry::{Committed, RedisConfig, Registry};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};

use super::node::Node;
use super::redis_server::{RedisServer, command, free_port, spawn};
use super::world::{at_most, commit, create, until};

/// Within this after the sentinel has named another master, all is as it was.
const HEALED_WITHIN: Duration = Duration::from_secs(5);

pub(crate) struct Sentinel {
    port: u16,
    child: Child,
    _directory: TempDir,
}

impl Sentinel {
    /// Watches one master called `main`, and takes it for down after a second.
    fn start(master: u16) -> Self {
        let hasty = "sentinel down-after-milliseconds main 1000\n\
                     sentinel failover-timeout main 5000\n";
        Self::start_with(master, hasty)
    }

    /// The same with other lines for its file. By itself it is patient: nobody is sent to a master
    /// that it takes for down, and on a busy machine it may do so soon, and believe it for long.
    pub(crate) fn start_with(master: u16, settings: &str) -> Self {
        let port = free_port();
        let directory = TempDir::new().expect("a writable directory");
        let file = directory.path().join("sentinel.conf");
        let config = format!(
            "sentinel monitor main 127.0.0.1 {master} 1\n\
             {settings}"
        );
        std::fs::write(&file, config).expect("a writable directory");
        let path = file.to_str().expect("a plain path");
        Self {
            port,
            child: spawn(port, &directory, &[path, "--sentinel"]),
            _directory: directory,
        }
    }

    fn names(&self, server: &RedisServer) -> bool {
        let words = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"];
        let address: Vec<String> = command(self.port, &words);
        address.last() == Some(&server.port().to_string())
    }

    fn knows_replicas(&self) -> usize {
        let replicas: Vec<redis::Value> = command(self.port, &["SENTINEL", "REPLICAS", "main"]);
        replicas.len()
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _gone_already = self.child.wait();
    }
}

pub(crate) async fn a_fail_over_heals() {
    let (master, replica) = (RedisServer::start(), RedisServer::start());
    let port = master.port().to_string();
    replica.command::<String>(&["REPLICAOF", "127.0.0.1", &port]);
    let sentinel = Sentinel::start(master.port());
    let url = format!("redis+sentinel://127.0.0.1:{}/main", sentinel.port);
    let nodes = ["one", "two"].map(|id| Node::start(&url, id));
    nodes[0].sees_ready("two").await;
    nodes[1].sees_ready("one").await;
    let registry = Registry::redis(&RedisConfig::new(url)).expect("a valid configuration");
    let (epoch, seq) = create(&registry, "AAAAAA").await;
    until("the sentinel knows the replica", || async {
        sentinel.knows_replicas() == 1
    })
    .await;
    until("the replica has all", || async {
        replica.command::<usize>(&["DBSIZE"]) == master.command::<usize>(&["DBSIZE"])
    })
    .await;

    master.kill();
    let killed = Instant::now();
    until("the sentinel names the replica", || async {
        sentinel.names(&replica)
    })
    .await;
    println!("failed over after {:?}", killed.elapsed());
    let named = Instant::now();
    let next = commit("AAAAAA", 1, epoch, seq.0 + 1);
    let healed = async {
        loop {
            let heard = registry.publish_session("0123456789ab", registry::Generation(1));
            let answer = registry.commit(std::slice::from_ref(&next)).await;
            let sent = heard.await.is_ok();
            let all_hear = nodes.iter().all(|node| node.has_said("heard 1"));
            if sent && all_hear && matches!(answer[0], Ok(Committed::Ok)) {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    let in_time = timeout(at_most(HEALED_WITHIN), healed).await;
    println!("healed after {:?} more", named.elapsed());
    let logs: Vec<_> = nodes.iter().map(Node::log).collect();
    assert!(in_time.is_ok(), "{logs:?}");
    for node in &nodes {
        assert!(!node.has_said("left"), "{:?}", node.said());
        until("it is listed by the new master", || async {
            replica
                .command::<Option<f64>>(&["ZSCORE", "network:servers", &node.id])
                .is_some()
        })
        .await;
    }
}

/// It takes connections, and that is all.
pub(crate) async fn a_silent_sentinel_delays_nothing() {
    let master = RedisServer::start();
    let sentinel = Sentinel::start(master.port());
    let silent = TcpListener::bind(("127.0.0.1", 0))
        .await
        .expect("a free port");
    let port = silent.local_addr().expect("it is bound").port();
    let url = format!(
        "redis+sentinel://127.0.0.1:{port},127.0.0.1:{}/main",
        sentinel.port
    );
    let registry = Registry::redis(&RedisConfig::new(url)).expect("a valid configuration");
    until("the master is found", || async {
        registry.probe().await.is_ok()
    })
    .await;
    let asked = Instant::now();
    let (epoch, seq) = create(&registry, "AAAAAA").await;
    let next = commit("AAAAAA", 1, epoch, seq.0 + 1);
    // A connection of its own, made now.
    let answer = registry.commit(std::slice::from_ref(&next)).await;
    assert!(matches!(answer[0], Ok(Committed::Ok)), "{answer:?}");
    assert!(
        asked.elapsed() < at_most(Duration::from_secs(1)),
        "{:?}",
        asked.elapsed()
    );
}
