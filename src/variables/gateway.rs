//! The gateway's own variables.

use std::time::Duration;

use chassis::environment::{Limit, Networks, Secret, duration};
use clap::Args;

use super::Misconfigured;

/// Requests beside the players' sockets, and requests in all, for which there is room at least.
const BESIDE_PLAYERS: u64 = 100;
const LEAST: u64 = 1000;

/// Limits of players' connections, and what operators may do.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Gateway (a limit or rate of 0 means none)")]
pub(crate) struct GatewayVariables {
    /// What operators authenticate with; empty: nobody may drain a node [default: empty]
    #[arg(long, env, default_value = "", hide_default_value = true)]
    pub(crate) operator_token: Secret,

    /// Origins of pages that may connect, comma separated [default: empty, all]
    #[arg(long, env, default_value = "", hide_default_value = true)]
    pub(crate) allowed_origins: Origins,

    /// Networks of proxies whose X-Forwarded-For is believed, comma separated [default: empty]
    #[arg(long, env, default_value = "", hide_default_value = true)]
    pub(crate) trusted_proxies: Networks,

    /// Players' connections in all
    #[arg(long, env, default_value = "500")]
    pub(crate) max_connections: Limit,

    /// Players' connections from one address
    #[arg(long, env, default_value = "10")]
    pub(crate) max_connections_per_ip: Limit,

    /// Messages a second and connection
    #[arg(long, env, default_value = "10")]
    pub(crate) message_rate: Limit,

    /// Messages of a connection at once
    #[arg(long, env, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) message_burst: u32,

    /// Messages dropped for flooding before the connection is closed
    #[arg(long, env, default_value = "50")]
    pub(crate) max_rate_violations: Limit,

    /// New lobbies a minute and address, over all gateways
    #[arg(long, env, default_value = "10")]
    pub(crate) lobby_create_rate: Limit,

    /// Requests and sockets in all, a tenth of them from one address before they are WebSockets;
    /// beyond it 503 [default: 1000, or MAX_CONNECTIONS + 100 if that is more]
    #[arg(long, env)]
    pub(crate) max_http_concurrency: Option<Limit>,

    /// New sockets a second; the rest wait
    #[arg(long, env, default_value = "200")]
    pub(crate) accept_rate: Limit,

    /// Over how long clients spread their return after their connection broke
    #[arg(long, env, default_value = "5s", value_parser = duration)]
    pub(crate) reconnect_window: Duration,
}

/// Where pages that may connect come from; none listed means from anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origins(pub(crate) Vec<String>);

impl std::str::FromStr for Origins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let entries = text
            .split(',')
            .map(|entry| entry.trim().trim_end_matches('/'));
        let origins: Vec<String> = entries
            .filter(|entry| !entry.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let is_origin = |origin: &String| {
            let host = origin
                .strip_prefix("https://")
                .or_else(|| origin.strip_prefix("http://"));
            host.is_some_and(|host| !host.is_empty() && !host.contains('/'))
        };
        match origins.iter().find(|origin| !is_origin(origin)) {
            None => Ok(Self(origins)),
            Some(wrong) => Err(format!(
                "'{wrong}' is not an origin: write https://example.org"
            )),
        }
    }
}

impl GatewayVariables {
    /// Enough for the players' sockets and some pages, if nothing else was said.
    pub(crate) fn http_concurrency(&self) -> Limit {
        self.max_http_concurrency
            .unwrap_or_else(|| match self.max_connections.count() {
                Some(connections) => {
                    Limit::at_most(connections.saturating_add(BESIDE_PLAYERS).max(LEAST))
                }
                None => Limit::NONE,
            })
    }

    pub(crate) fn check(&self) -> Result<(), Misconfigured> {
        if !self.operator_token.fits_a_header() {
            let problem = "must be one line, without a line's end or a space around it";
            return Err(Misconfigured::new("OPERATOR_TOKEN", problem));
        }
        let set = self.max_http_concurrency.and_then(Limit::count);
        match (set, self.max_connections.count()) {
            (Some(set), Some(connections)) if set < connections => {
                let problem = format!("must not be below MAX_CONNECTIONS ({connections})");
                Err(Misconfigured::new("MAX_HTTP_CONCURRENCY", problem))
            }
            _ => Ok(()),
        }
    }
}
