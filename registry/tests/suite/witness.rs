//! Looks at a Redis directly while its nodes are in trouble: what they publish, whether their
//! entries lapse.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use redis::aio::MultiplexedConnection;
use tokio::task::JoinHandle;
use tokio::time::sleep;

pub(crate) struct Witness {
    client: redis::Client,
    hellos: Arc<Mutex<Vec<String>>>,
    lapses: Arc<Mutex<Vec<String>>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Witness {
    /// Listens from now on.
    pub(crate) async fn start(url: &str) -> Self {
        let client = redis::Client::open(url).expect("a valid URL");
        let mut subscription = client.get_async_pubsub().await.expect("Redis answers");
        subscription
            .subscribe("network:events")
            .await
            .expect("Redis answers");
        let hellos = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&hellos);
        let listening = tokio::spawn(async move {
            let mut messages = subscription.into_on_message();
            while let Some(message) = messages.next().await {
                let message: serde_json::Value =
                    serde_json::from_slice(message.get_payload_bytes()).expect("JSON");
                if message["type"] == "hello" {
                    let id = message["id"].as_str().expect("an id").to_owned();
                    heard
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(id);
                }
            }
        });
        Self {
            client,
            hellos,
            lapses: Arc::default(),
            tasks: vec![listening],
        }
    }

    /// Whether this node has said hello since the start.
    pub(crate) fn heard_hello(&self, id: &str) -> bool {
        let hellos = self.hellos.lock().unwrap_or_else(PoisonError::into_inner);
        hellos.iter().any(|hello| hello == id)
    }

    /// Watches that the entries of these nodes are there whenever Redis answers.
    pub(crate) fn watch_for_lapses(&mut self, ids: &[&str]) {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        let (client, lapses) = (self.client.clone(), Arc::clone(&self.lapses));
        self.tasks.push(tokio::spawn(async move {
            let mut connection = None;
            loop {
                if connection.is_none() {
                    connection = client.get_multiplexed_async_connection().await.ok();
                }
                for id in &ids {
                    if let Some(present) = &mut connection {
                        match is_listed(present, id).await {
                            Ok(true) => {}
                            Ok(false) => lapses
                                .lock()
                                .unwrap_or_else(PoisonError::into_inner)
                                .push(id.clone()),
                            Err(_) => connection = None,
                        }
                    }
                }
                sleep(Duration::from_millis(50)).await;
            }
        }));
    }

    /// Who was seen to be missing.
    pub(crate) fn lapses(&self) -> Vec<String> {
        self.lapses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// A command on a connection of its own.
    pub(crate) async fn command<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        let mut connection = self
            .client
            .get_multiplexed_async_connection()
            .await
            .expect("Redis answers");
        redis::cmd(words[0])
            .arg(&words[1..])
            .query_async(&mut connection)
            .await
            .expect("a valid command")
    }

    /// Says that a session was opened; nodes tell when they hear it.
    pub(crate) async fn publish_session(&self, generation: u64) {
        let message =
            format!(r#"{{"type":"session","player_id":"0123456789ab","generation":{generation}}}"#);
        self.command::<usize>(&["PUBLISH", "network:events", &message])
            .await;
    }

    /// Enters a node that says nothing: only who reads the whole list finds it.
    pub(crate) async fn plant(&self, id: &str) {
        let run = "00000000-0000-0000-0000-000000000001";
        let key = format!("network:servers:{id}");
        let (seconds, _): (u64, u64) = self.command(&["TIME"]).await;
        let now = (seconds * 1000).to_string();
        let expiry = (seconds * 1000 + 600_000).to_string();
        self.command::<usize>(&[
            "HSET",
            &key,
            "id",
            id,
            "role",
            "game",
            "incarnation",
            run,
            "address",
            "a:1",
            "state",
            "ready",
            "verified",
            "1",
            "load",
            "normal",
            "started_at",
            &now,
            "last_seen",
            &now,
        ])
        .await;
        self.command::<usize>(&["ZADD", "network:servers", &expiry, id])
            .await;
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn is_listed(connection: &mut MultiplexedConnection, id: &str) -> redis::RedisResult<bool> {
    let (key, expiry): (bool, Option<f64>) = redis::pipe()
        .cmd("EXISTS")
        .arg(format!("network:servers:{id}"))
        .cmd("ZSCORE")
        .arg("network:servers")
        .arg(id)
        .query_async(connection)
        .await?;
    Ok(key && expiry.is_some())
}
