//! What systemd is told, and what everybody sees of a lobby thread that stands still.

use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until};

use crate::support::cgroup::Freezer;
use crate::support::process::Wizard;
use crate::support::redis::Redis;
use crate::support::{CEILING, eventually, http};

/// The process must be heard of within this, or is started anew.
const PATIENCE: Duration = Duration::from_secs(4);

/// Listens as systemd does.
struct Systemd {
    path: PathBuf,
    patience: String,
    heard: Receiver<String>,
}

impl Systemd {
    fn listen(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wizard-{name}-{}", std::process::id()));
        // A path of an earlier run that was killed.
        let _ = std::fs::remove_file(&path);
        let socket = UnixDatagram::bind(&path).unwrap();
        let (sender, heard) = channel();
        thread::spawn(move || {
            let mut message = [0; 512];
            while let Ok(length) = socket.recv(&mut message) {
                let text = String::from_utf8_lossy(&message[..length])
                    .trim()
                    .to_owned();
                if sender.send(text).is_err() {
                    return;
                }
            }
        });
        Self {
            path,
            patience: PATIENCE.as_micros().to_string(),
            heard,
        }
    }

    fn variables(&self) -> [(&str, &str); 2] {
        let path = self.path.to_str().unwrap();
        [("NOTIFY_SOCKET", path), ("WATCHDOG_USEC", &self.patience)]
    }

    fn hears(&self, wanted: &str) {
        while self
            .heard
            .recv_timeout(CEILING)
            .expect("systemd hears in time")
            != wanted
        {}
    }

    /// Everything that it has been told meanwhile.
    fn heard(&self) -> Vec<String> {
        self.heard.try_iter().collect()
    }
}

impl Drop for Systemd {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Ready once it is, fed while it runs, stopping at the end.
#[tokio::test(flavor = "multi_thread")]
async fn systemd_is_told() {
    let systemd = Systemd::listen("told");
    let mut process = Wizard::spawn("wizard", "", &systemd.variables());
    systemd.hears("READY=1");
    let ready = http::get(process.operations(), "/ready").await;
    assert_eq!(ready.unwrap().0, 200);
    for _ in 0..3 {
        systemd.hears("WATCHDOG=1");
    }
    process.signal("TERM");
    systemd.hears("STOPPING=1");
    assert!(process.ended().await.success());
}

/// Heartbeats go on and say so, systemd is not fed, and all is well again when the thread runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lobby_thread_that_is_blocked_for_8_s_is_seen_by_all() {
    let freezer = match Freezer::new() {
        Ok(freezer) => freezer,
        Err(why) => {
            println!("SKIPPED: this machine lets nobody freeze a thread: {why}");
            return;
        }
    };
    let redis = Redis::start().await;
    let url = redis.url();
    let gateway = Wizard::spawn("gateway", "gateway", &[("REDIS_URL", &url)]);
    let systemd = Systemd::listen("blocked");
    let mut variables = vec![
        ("REDIS_URL", url.as_str()),
        ("NODE_ID", "game"),
        ("HEARTBEAT_INTERVAL", "1s"),
    ];
    variables.extend(systemd.variables());
    let node = Wizard::spawn("game", "game-node", &variables).ready().await;
    let gateway = gateway.ready().await;
    systemd.hears("WATCHDOG=1");

    let frozen = freezer.freeze(node.thread("lobbies"));
    let blocked = Instant::now();
    let seen = async || -> Option<Value> {
        let nodes = http::get_json(gateway.operations(), "/nodes").await?;
        let nodes = nodes.as_array().unwrap().clone();
        nodes.into_iter().find(|node| node["id"] == "game")
    };
    // What it said just before may still be on its way.
    sleep(Duration::from_millis(500)).await;
    systemd.heard();
    let stalled = eventually("it is seen to be stalled", async || {
        seen().await.filter(|node| node["state"] == "stalled")
    })
    .await;
    assert!(blocked.elapsed() > PATIENCE, "no thread is blocked so fast");
    let beat = stalled["last_seen"].as_u64();
    eventually("heartbeats go on", async || {
        seen()
            .await
            .filter(|node| node["last_seen"].as_u64() > beat)
    })
    .await;
    let (status, _) = http::get(node.operations(), "/health").await.unwrap();
    assert_eq!(status, 200, "the process itself answers");
    sleep_until(blocked + Duration::from_secs(8)).await;
    assert_eq!(systemd.heard(), [""; 0], "it would be started anew by now");

    drop(frozen);
    eventually("it is ready again", async || {
        seen().await.filter(|node| node["state"] == "ready")
    })
    .await;
    systemd.hears("WATCHDOG=1");
}
