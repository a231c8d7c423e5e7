//! Follows the nodes on a thread of its own: in the registry, or by a gateway's events.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use chassis::clock;
use registry::{Event, PresenceConfig, RedisConfig, Registry};
use serde::Deserialize;
use tokio::time::{MissedTickBehavior, interval};

use super::super::source::{now_of, runtime};
use super::super::{Node, Source};
use super::News;
use crate::operations_port::OperationsPort;

/// Between two tries of a gateway that is away, and two looks at heartbeats.
const EVERY: Duration = Duration::from_secs(1);

/// How long a start may take before it is said that nobody answers.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);

const REGISTRY_AWAY: &str = "the registry can't be reached";

/// Whoever listens has gone: the end of the program.
struct Gone;

/// Begins to follow.
///
/// # Errors
/// If the registry's settings are wrong.
pub(super) fn start(
    source: Source,
    presence_ttl: Duration,
    news: SyncSender<News>,
) -> anyhow::Result<()> {
    match source {
        Source::Registry(config) => {
            let presence = PresenceConfig {
                heartbeat_interval: (presence_ttl / 3).min(PresenceConfig::MAX_HEARTBEAT_INTERVAL),
                ttl: presence_ttl,
                ..PresenceConfig::default()
            };
            let runtime = runtime()?;
            thread::spawn(move || runtime.block_on(follow_registry(&config, presence, &news)));
        }
        Source::Gateway(port) => {
            thread::spawn(move || while follow_gateway(port, &news).is_ok() {});
        }
    }
    Ok(())
}

async fn follow_registry(config: &RedisConfig, presence: PresenceConfig, news: &SyncSender<News>) {
    let opened = Registry::redis(config).and_then(|registry| {
        let observer = registry.observe(presence)?;
        Ok((registry, observer))
    });
    let (registry, observer) = match opened {
        Ok(both) => both,
        Err(error) => {
            // Whoever listens has gone: nobody is left to be told.
            let _gone = news.send(News::Lost(error.to_string()));
            return;
        }
    };
    let mut events = observer.events();
    // Until then nothing is lost: it has only just begun.
    let patience = tokio::time::Instant::now() + CONNECT_WITHIN;
    let mut was_current = false;
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let told = tokio::select! {
            event = events.next() => match event {
                Some(event) => of_event(event),
                None => return,
            },
            _ = ticks.tick() => {
                let current = observer.checks().borrow().current;
                was_current |= current;
                if current {
                    let last_seen = observer.servers().iter().map(|one| {
                        (one.id.as_str().to_owned(), one.last_seen)
                    }).collect();
                    let now_ms = registry.now_ms().unwrap_or_else(clock::unix_milliseconds);
                    News::Beats(now_ms, last_seen)
                } else if !was_current && tokio::time::Instant::now() < patience {
                    continue;
                } else {
                    News::Lost(REGISTRY_AWAY.to_owned())
                }
            }
        };
        if news.send(told).is_err() {
            return;
        }
    }
}

fn of_event(event: Event) -> News {
    let node = |presence: std::sync::Arc<registry::Presence>| {
        Node::of_registry(registry::Presence::clone(&presence))
    };
    match event {
        Event::Joined(presence) => News::Joined(node(presence)),
        Event::Changed(presence) => News::Changed(node(presence)),
        Event::Left { presence, reason } => News::Left(node(presence), reason.to_string()),
    }
}

/// One stream of a gateway, to its end.
fn follow_gateway(port: OperationsPort, news: &SyncSender<News>) -> Result<(), Gone> {
    let tell = |told| news.send(told).map_err(|_| Gone);
    let why = match port.stream("/nodes/events") {
        Ok(lines) => {
            let mut name = String::new();
            for line in lines {
                if let Some(event) = line.strip_prefix("event: ") {
                    event.clone_into(&mut name);
                } else if let Some(data) = line.strip_prefix("data: ")
                    && let Some(told) = of_server_sent(&name, data)
                {
                    tell(told)?;
                }
            }
            "the gateway is gone".to_owned()
        }
        Err(error) => format!("{error:#}"),
    };
    tell(News::Lost(why))?;
    thread::sleep(EVERY);
    Ok(())
}

/// None if it is of no interest here, or of a later version.
fn of_server_sent(name: &str, data: &str) -> Option<News> {
    #[derive(Deserialize)]
    struct Beats {
        now: Option<u64>,
        current: bool,
        last_seen: BTreeMap<String, u64>,
    }
    #[derive(Deserialize)]
    struct Left {
        #[serde(flatten)]
        node: Node,
        reason: String,
    }
    match name {
        "snapshot" => serde_json::from_str(data).ok().map(News::All),
        "joined" => serde_json::from_str(data).ok().map(News::Joined),
        "changed" => serde_json::from_str(data).ok().map(News::Changed),
        "left" => {
            let left: Left = serde_json::from_str(data).ok()?;
            Some(News::Left(left.node, left.reason))
        }
        "beats" => {
            let beats: Beats = serde_json::from_str(data).ok()?;
            if !beats.current {
                return Some(News::Lost(REGISTRY_AWAY.to_owned()));
            }
            let now_ms = beats.now.unwrap_or_else(|| now_of(&[]));
            Some(News::Beats(now_ms, beats.last_seen))
        }
        _ => None,
    }
}
