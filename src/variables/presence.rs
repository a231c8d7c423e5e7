//! How a process finds the others, and how it proves to them who it is.

use std::time::Duration;

use chassis::environment::Secret;
use clap::Args;
use registry::RegistryError;

use super::{Misconfigured, positive_duration};
use crate::start;

/// Registry, identity and shared secrets.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Registry and links")]
pub(crate) struct PresenceVariables {
    /// redis://, redis+sentinel://host:26379,host/master, or either with rediss (TLS); needed by a single role
    /// [default: none, the registry of this process]
    #[arg(long, env)]
    pub(crate) redis_url: Option<Secret>,

    /// What the names of all keys begin with
    #[arg(long, env, default_value = "network:")]
    pub(crate) redis_key_prefix: String,

    /// By which name others know this process [default: <role>-<8 hex>, new at every start]
    #[arg(long, env)]
    pub(crate) node_id: Option<String>,

    /// How often presence is renewed; at most 5s
    #[arg(long, env, default_value = "5s", value_parser = positive_duration)]
    pub(crate) heartbeat_interval: Duration,

    /// After how long without a heartbeat a process counts as gone; at least three intervals
    #[arg(long, env, default_value = "15s", value_parser = positive_duration)]
    pub(crate) presence_ttl: Duration,

    /// After how long a disconnected player's session is dropped
    #[arg(long, env, default_value = "1800s", value_parser = positive_duration)]
    pub(crate) session_ttl: Duration,

    /// Opens links between gateways and game nodes; empty: no check, and a warning at the start
    /// [default: empty]
    #[arg(long, env, default_value = "", hide_default_value = true)]
    pub(crate) gateway_shared_secret: Secret,

    /// Opens links between AI nodes and game nodes; empty: no check, and a warning at the start
    /// [default: empty]
    #[arg(long, env, default_value = "", hide_default_value = true)]
    pub(crate) ai_shared_secret: Secret,
}

impl PresenceVariables {
    pub(crate) fn check(&self) -> Result<(), Misconfigured> {
        if let Err(RegistryError::InvalidConfig { setting, why }) = start::presence(self).check() {
            return Err(Misconfigured::new(setting, why));
        }
        for (name, secret) in [
            ("GATEWAY_SHARED_SECRET", &self.gateway_shared_secret),
            ("AI_SHARED_SECRET", &self.ai_shared_secret),
        ] {
            if !secret.fits_a_header() {
                let problem = "must be one line, without a line's end or a space around it";
                return Err(Misconfigured::new(name, problem));
            }
        }
        Ok(())
    }
}
