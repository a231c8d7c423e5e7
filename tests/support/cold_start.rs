//! A deployment that starts from nothing, each process within the limits of its container; and a player who comes in the
//! moment that the gateway says it is ready.

use std::time::Duration;

use loadtest::Player;
use tokio::time::{Instant, sleep, timeout};

use super::cgroup::{ControlGroup, Limits};
use super::process::{MEASURED_LOAD, Wizard};
use super::redis::Redis;
use super::{CEILING, free_address, http};

/// Between two looks at `/ready`. Each costs the process some of what little it has.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The memory that each role's container has.
const GATEWAY_MIB: u64 = 512;
const GAME_NODE_MIB: u64 = 512;
const AI_NODE_MIB: u64 = 1024;

/// From the start of each process to its ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadyAfter {
    pub(crate) gateway: Duration,
    pub(crate) game_node: Duration,
    pub(crate) ai_node: Duration,
}

/// One group for each role, to be used for one start after the other.
pub(crate) struct Containers {
    gateway: ControlGroup,
    game_node: ControlGroup,
    ai_node: ControlGroup,
}

impl Containers {
    /// # Errors
    /// Why this machine lets nobody make them here, for the person who runs the test.
    pub(crate) fn with_percent_of_a_core(percent_of_a_core: u32) -> Result<Self, String> {
        let with = |mib| {
            ControlGroup::with(Limits {
                percent_of_a_core,
                memory_mib: Some(mib),
            })
        };
        Ok(Self {
            gateway: with(GATEWAY_MIB)?,
            game_node: with(GAME_NODE_MIB)?,
            ai_node: with(AI_NODE_MIB)?,
        })
    }

    /// Starts one process of each role at the same time.
    ///
    /// # Panics
    /// If one does not become ready, or the player does not get a lobby at the first try.
    pub(crate) async fn start(&self) -> ReadyAfter {
        let redis = Redis::start().await;
        let (url, players) = (redis.url(), free_address());
        let listen = players.to_string();
        let shared = [
            ("REDIS_URL", url.as_str()),
            ("LOG_LEVEL", "info"),
            MEASURED_LOAD,
        ];
        let with_players = [shared[0], shared[1], ("LISTEN_ADDR", &listen)];
        let began = Instant::now();
        let game_node = Wizard::spawn_in(&self.game_node, "game node", "game-node", &shared);
        let ai_node = Wizard::spawn_in(&self.ai_node, "AI node", "ai-node", &shared);
        let gateway = Wizard::spawn_in(&self.gateway, "gateway", "gateway", &with_players);
        let serving = async {
            let after = ready_after(&gateway, began).await;
            // Nothing here tries twice.
            let mut player = Player::connect(&format!("ws://{players}/ws"))
                .await
                .unwrap();
            player.hello(None).await.unwrap();
            player.create("Ada").await.unwrap();
            after
        };
        let (gateway, game_node, ai_node) = tokio::join!(
            serving,
            ready_after(&game_node, began),
            ready_after(&ai_node, began)
        );
        ReadyAfter {
            gateway,
            game_node,
            ai_node,
        }
    }
}

async fn ready_after(process: &Wizard, began: Instant) -> Duration {
    let ready = async {
        loop {
            if let Some((200, _)) = http::get(process.operations(), "/ready").await {
                return began.elapsed();
            }
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(CEILING, ready).await.expect("it becomes ready")
}
