//! What a gateway is told at its start.

use std::time::Duration;

use chassis::environment::{Limit, Networks, Secret};
use registry::{NodeId, PresenceConfig};

/// The gateway's settings, named after their variables in `docs/protocol.md` §4.
#[derive(Clone, Debug)]
pub struct Config {
    /// `NODE_ID`: what the registry calls this process.
    pub node_id: NodeId,
    /// `ADVERTISE_ADDR`: the players' address, for operators to read.
    pub advertise_addr: String,
    /// `HEARTBEAT_INTERVAL` and `PRESENCE_TTL`.
    pub presence: PresenceConfig,
    /// `READY_TIMEOUT`: from the start of the process on; after it, a warning says what is missing.
    pub ready_timeout: Duration,
    /// `GATEWAY_SHARED_SECRET`: shown to game nodes on every link; empty: none is shown.
    pub shared_secret: Secret,
    /// `OPERATOR_TOKEN`: who shows it may drain nodes; empty: nobody may.
    pub operator_token: Secret,
    /// `SESSION_TTL`: open sessions are renewed four times in it.
    pub session_ttl: Duration,
    /// `ALLOWED_ORIGINS`: browsers on other pages are turned away; empty: none is.
    pub allowed_origins: Vec<String>,
    /// `TRUSTED_PROXIES`: whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Networks,
    /// `MAX_CONNECTIONS`: players' sockets, all together.
    pub max_connections: Limit,
    /// `MAX_CONNECTIONS_PER_IP`: players' sockets from one address, or one IPv6 network of 64 bits.
    pub max_connections_per_ip: Limit,
    /// `MESSAGE_RATE`: messages of one connection in a second, in the long run.
    pub message_rate: Limit,
    /// `MESSAGE_BURST`: messages of one connection at once.
    pub message_burst: u32,
    /// `MAX_RATE_VIOLATIONS`: the dropped message that closes the connection.
    pub max_rate_violations: Limit,
    /// `LOBBY_CREATE_RATE`: lobbies that one address may create in a minute, over all gateways.
    pub lobby_create_rate: Limit,
    /// `MAX_HTTP_CONCURRENCY`: requests and WebSockets, all together.
    pub max_http_concurrency: Limit,
    /// `ACCEPT_RATE`: new sockets in a second; the rest wait.
    pub accept_rate: Limit,
    /// `RECONNECT_WINDOW`: over what time clients spread their return when a connection breaks.
    pub reconnect_window: Duration,
}

impl Config {
    /// The defaults of `docs/protocol.md` §4.
    pub fn new(node_id: NodeId, advertise_addr: impl Into<String>) -> Self {
        Self {
            node_id,
            advertise_addr: advertise_addr.into(),
            presence: PresenceConfig::default(),
            ready_timeout: Duration::from_secs(30),
            shared_secret: Secret::default(),
            operator_token: Secret::default(),
            session_ttl: Duration::from_mins(30),
            allowed_origins: Vec::new(),
            trusted_proxies: Networks::default(),
            max_connections: Limit::at_most(500),
            max_connections_per_ip: Limit::at_most(10),
            message_rate: Limit::at_most(10),
            message_burst: 30,
            max_rate_violations: Limit::at_most(50),
            lobby_create_rate: Limit::at_most(10),
            max_http_concurrency: Limit::at_most(1000),
            accept_rate: Limit::at_most(200),
            reconnect_window: Duration::from_secs(5),
        }
    }
}
