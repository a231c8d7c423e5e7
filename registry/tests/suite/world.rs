//! Two registries over one store, and the small things that every case needs.

use std::future::Future;
use std::time::Duration;

use registry::{
    Born, Commit, Create, Created, Epoch, Event, Events, Incarnation, Lifetime, Lifetimes,
    Membership, NodeId, Owner, Presence, PresenceConfig, RedisConfig, Registry, Role, Seq,
};
use uuid::Uuid;

use super::redis_server::RedisServer;

/// Short enough to wait for, long enough for a busy machine.
pub(crate) const SESSION_TTL: Duration = Duration::from_secs(2);
pub(crate) const PUBLIC_TTL: Duration = Duration::from_secs(2);
/// No test waits longer for anything.
pub(crate) const CEILING: Duration = Duration::from_mins(1);

/// What is promised, where `make bench` measures it; beside other tests several times that.
pub(crate) fn at_most(promised: Duration) -> Duration {
    const SLACK: u32 = 3;
    if std::env::var_os(LONG).is_some() {
        promised
    } else {
        SLACK * promised
    }
}

/// Also waits out what takes minutes, and holds all to what is promised; `make bench` sets it.
pub(crate) const LONG: &str = "REGISTRY_LONG_TESTS";

pub(crate) struct World {
    pub(crate) one: Registry,
    pub(crate) other: Registry,
    pub(crate) server: Option<RedisServer>,
}

const LIFETIMES: Lifetimes = Lifetimes {
    session: SESSION_TTL,
    public: PUBLIC_TTL,
};

impl World {
    pub(crate) fn in_process() -> Self {
        let one = Registry::in_process(LIFETIMES);
        Self {
            other: one.clone(),
            one,
            server: None,
        }
    }

    pub(crate) fn redis() -> Self {
        let server = RedisServer::start();
        Self {
            one: connect(&server),
            other: connect(&server),
            server: Some(server),
        }
    }

    pub(crate) fn server(&self) -> &RedisServer {
        self.server.as_ref().expect("a case about Redis")
    }
}

pub(crate) fn connect(server: &RedisServer) -> Registry {
    let config = RedisConfig {
        lifetimes: LIFETIMES,
        ..RedisConfig::new(server.url())
    };
    Registry::redis(&config).expect("a valid configuration")
}

/// Waits for something that must happen.
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(CEILING, future).await;
    ended.unwrap_or_else(|_| panic!("not within {CEILING:?}: {what}"))
}

/// Waits until something is so.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut check: impl FnMut() -> F) {
    within(what, async {
        while !check().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

pub(crate) fn owner(run: u128) -> Owner {
    Owner {
        node: NodeId::new(format!("game-{run}")).expect("a valid id"),
        incarnation: Incarnation::new(Uuid::from_u128(run)),
    }
}

pub(crate) const BORN: Born = Born::new([7; 8]);
pub(crate) const OTHER_BORN: Born = Born::new([8; 8]);

/// A lobby of owner 1, freshly created: its numbers.
pub(crate) async fn create(registry: &Registry, code: &str) -> (Epoch, Seq) {
    let create = Create {
        code: code.to_owned(),
        born: BORN,
        owner: owner(1),
        saved: "first".into(),
        status: "waiting".to_owned(),
        lifetime: Lifetime::Table,
    };
    match registry
        .create(&create)
        .await
        .expect("the registry answers")
    {
        Created::Ok { epoch, seq } => (epoch, seq),
        Created::Exists(record) => panic!("{code} is in use: {record:?}"),
    }
}

pub(crate) fn commit(code: &str, run: u128, epoch: Epoch, seq: u64) -> Commit {
    Commit {
        code: code.to_owned(),
        born: BORN,
        epoch,
        owner: owner(run),
        seq: Seq(seq),
        saved: format!("state {seq}").into(),
        status: "playing".to_owned(),
        accepted_input: false,
        lifetime: Lifetime::Table,
    }
}

/// Quick heartbeats: a crash is known after some seconds, and a busy machine is none.
pub(crate) fn quick() -> PresenceConfig {
    PresenceConfig {
        heartbeat_interval: Duration::from_millis(300),
        ttl: Duration::from_secs(3),
        stall_after: Duration::from_millis(500),
        ..PresenceConfig::default()
    }
}

pub(crate) fn presence(id: &str, role: &str, run: u128) -> Presence {
    Presence::new(
        NodeId::new(id).expect("a valid id"),
        Role::new(role).expect("a valid role"),
        Incarnation::new(Uuid::from_u128(run)),
        "127.0.0.1:7000",
        "1.2.3",
    )
}

pub(crate) async fn join(registry: &Registry, id: &str, run: u128) -> Membership {
    let member = registry
        .join(presence(id, "game", run), quick())
        .expect("a valid configuration");
    within("ready", member.ready()).await;
    member
}

/// The next event that `pick` takes.
pub(crate) async fn event<T>(
    events: &mut Events,
    what: &str,
    mut pick: impl FnMut(Event) -> Option<T>,
) -> T {
    within(what, async {
        loop {
            let event = events.next().await.expect("the membership goes on");
            if let Some(picked) = pick(event) {
                return picked;
            }
        }
    })
    .await
}
