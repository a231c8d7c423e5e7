//! Where operators' commands find out what they are asked.

use std::net::SocketAddr;

use chassis::environment::Secret;
use clap::Args;

/// The registry, or else a gateway.
#[derive(Args, Clone, Debug)]
pub(crate) struct OperatorsVariables {
    /// Ask this Redis, also when no gateway is up [default: none, ask OPS_ADDR]
    #[arg(long, env)]
    pub(crate) redis_url: Option<Secret>,

    /// What the names of all keys begin with
    #[arg(long, env, default_value = "network:")]
    pub(crate) redis_key_prefix: String,

    /// Without REDIS_URL: operations port of a gateway to ask
    #[arg(long, env, default_value = "127.0.0.1:9090")]
    pub(crate) ops_addr: SocketAddr,
}

/// What operators show a gateway.
#[derive(Args, Clone, Debug)]
pub(crate) struct TokenVariables {
    /// What the gateway lets operators in by; not needed with REDIS_URL [default: empty]
    #[arg(long, env, default_value = "", hide_default_value = true)]
    pub(crate) operator_token: Secret,
}
