//! Where a role that is connected to listens, and by which address others reach it.

use std::net::SocketAddr;

use clap::Args;

/// Addresses of players' connections (gateway) and of links (game node).
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Addresses")]
pub(crate) struct ListenVariables {
    /// Where players (gateway) or links (game node) connect [default: 0.0.0.0:8080 for a gateway,
    /// 0.0.0.0:7000 for a game node, 127.0.0.1:8080 for all roles together]
    #[arg(long, env)]
    pub(crate) listen_addr: Option<SocketAddr>,

    /// What the registry tells others to connect to [default: from LISTEN_ADDR and the host's name]
    #[arg(long, env)]
    pub(crate) advertise_addr: Option<String>,
}
