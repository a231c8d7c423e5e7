//! Makes connections, all with the same settings.
//!
//! A connection that goes silent without an end would be believed in for minutes: the kernel
//! gives it up after 5 s of unanswered data or 6 s of unanswered keep-alives, and whoever uses it
//! does after two answers that did not come in time.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, select_ok};
use redis::aio::{MultiplexedConnection, PubSub};
use redis::io::tcp::{TcpSettings, socket2};
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ErrorKind, ProtocolVersion, RedisError,
    ServerErrorKind, TlsMode,
};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::config::{Address, RedisConfig, Sentinels};
use crate::RegistryError;
use crate::backend::Answer;
use crate::metrics::{Metrics, Purpose};

/// A new connection must be there within this.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Sentinels must have named a master within this.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(2);
/// Sent data that is not acknowledged for so long ends a connection.
const USER_TIMEOUT: Duration = Duration::from_secs(5);
/// An idle connection is asked after 3 s, each second, three times.
const KEEP_ALIVE: (Duration, Duration, u32) = (Duration::from_secs(3), Duration::from_secs(1), 3);

pub(super) struct Connector {
    target: Target,
    pub(super) metrics: Metrics,
}

enum Target {
    Server(Box<Client>),
    /// Asked for every connection: after a fail-over the old master may still answer. All at
    /// once, so that one that is silent delays nothing.
    Sentinels(Vec<Mutex<SentinelClient>>),
}

impl Connector {
    pub(super) fn new(config: &RedisConfig) -> Answer<Self> {
        let address = Address::parse(&config.url)?;
        if address.needs_tls() {
            // Fails if the process has chosen one already, which is as good.
            let _chosen = rustls::crypto::ring::default_provider().install_default();
        }
        let target = match address {
            Address::Server(info) => {
                let settings = info
                    .redis_settings()
                    .clone()
                    .set_protocol(ProtocolVersion::RESP2);
                let info = info
                    .set_tcp_settings(tcp_settings())
                    .set_redis_settings(settings);
                Target::Server(Box::new(
                    Client::open(info).map_err(|error| invalid(&error))?,
                ))
            }
            Address::Sentinels(sentinels) => {
                let clients = sentinel_clients(&sentinels).map_err(|error| invalid(&error))?;
                Target::Sentinels(clients)
            }
        };
        Ok(Self {
            target,
            metrics: Metrics::new(),
        })
    }

    /// A connection on which an answer that takes longer than `response_timeout` is an error.
    pub(super) async fn connect(
        &self,
        purpose: Purpose,
        response_timeout: Duration,
    ) -> Result<MultiplexedConnection, RedisError> {
        self.counted(purpose, self.try_to_connect(response_timeout).await)
    }

    async fn try_to_connect(
        &self,
        response_timeout: Duration,
    ) -> Result<MultiplexedConnection, RedisError> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(response_timeout));
        let client = self.client().await?;
        // Boxed: connecting is rare, and its future would make every caller's many times larger.
        Box::pin(client.get_multiplexed_async_connection_with_config(&config)).await
    }

    /// A connection for a subscription; the caller limits the time.
    pub(super) async fn subscribe(&self) -> Result<PubSub, RedisError> {
        let subscribing = async { self.client().await?.get_async_pubsub().await };
        self.counted(Purpose::Subscription, subscribing.await)
    }

    fn counted<T>(&self, purpose: Purpose, made: Result<T, RedisError>) -> Result<T, RedisError> {
        match &made {
            Ok(_) => self.metrics.opened(purpose),
            Err(error) => self.metrics.failed(purpose, error),
        }
        made
    }

    async fn client(&self) -> Result<Client, RedisError> {
        match &self.target {
            Target::Server(client) => Ok(Client::clone(client)),
            Target::Sentinels(sentinels) => {
                match timeout(RESOLVE_TIMEOUT, select_ok(sentinels.iter().map(master))).await {
                    Ok(first) => first.map(|(client, _others)| client),
                    Err(_) => Err(RedisError::from((
                        ErrorKind::Io,
                        "no sentinel names a master in time",
                    ))),
                }
            }
        }
    }
}

fn master(sentinel: &Mutex<SentinelClient>) -> BoxFuture<'_, Result<Client, RedisError>> {
    async { sentinel.lock().await.async_get_client().await }.boxed()
}

fn tcp_settings() -> TcpSettings {
    let (time, interval, retries) = KEEP_ALIVE;
    let keep_alive = socket2::TcpKeepalive::new()
        .with_time(time)
        .with_interval(interval)
        .with_retries(retries);
    TcpSettings::default()
        .set_nodelay(true)
        .set_user_timeout(USER_TIMEOUT)
        .set_keepalive(keep_alive)
}

/// One a sentinel.
fn sentinel_clients(sentinels: &Sentinels) -> Result<Vec<Mutex<SentinelClient>>, RedisError> {
    let client = |(host, port): &(String, u16)| {
        let host = if sentinels.encrypted {
            ConnectionAddr::TcpTls {
                host: host.clone(),
                port: *port,
                insecure: false,
                tls_params: None,
            }
        } else {
            ConnectionAddr::Tcp(host.clone(), *port)
        };
        let mut builder =
            SentinelClientBuilder::new([host], &sentinels.master, SentinelServerType::Master)?
                .set_client_to_redis_tcp_settings(tcp_settings())
                .set_client_to_redis_protocol(ProtocolVersion::RESP2)
                .set_client_to_redis_db(sentinels.database)
                .set_client_to_sentinel_tcp_settings(tcp_settings());
        if let Some(username) = &sentinels.username {
            builder = builder.set_client_to_redis_username(username.clone());
        }
        if let Some(password) = &sentinels.password {
            builder = builder.set_client_to_redis_password(password.clone());
        }
        if sentinels.encrypted {
            builder = builder.set_client_to_redis_tls_mode(TlsMode::Secure);
        }
        builder.build().map(Mutex::new)
    };
    sentinels.hosts.iter().map(client).collect()
}

fn invalid(error: &RedisError) -> RegistryError {
    RegistryError::InvalidConfig {
        setting: "REDIS_URL",
        why: error.to_string(),
    }
}

pub(super) fn unavailable(error: &RedisError) -> RegistryError {
    if refuses_writes(error) {
        RegistryError::Refused(error.to_string())
    } else {
        RegistryError::Unavailable(error.to_string())
    }
}

/// How Redis begins what it says where it writes nothing now.
const REFUSALS: [&str; 4] = ["OOM", "READONLY", "MISCONF", "NOREPLICAS"];

fn refuses_writes(error: &RedisError) -> bool {
    REFUSALS.iter().any(|code| {
        // A script's error before version 7.
        let in_script = || {
            error
                .detail()?
                .contains(&format!(": -{code} "))
                .then_some(())
        };
        error.code() == Some(code) || in_script().is_some()
    })
}

/// What an error means for whoever asked about `key`. Only what says that a script or a command has
/// stumbled over what is stored will happen again; everything else is the state that Redis is in,
/// or its way to it, and may pass.
pub(super) fn fault(error: &RedisError, key: &str) -> RegistryError {
    let stored = match error.kind() {
        ErrorKind::UnexpectedReturnType => true,
        ErrorKind::Server(ServerErrorKind::ResponseError) => is_of_what_is_stored(error),
        _ => error.code() == Some("WRONGTYPE"),
    };
    if stored {
        RegistryError::corrupt(key, error)
    } else {
        unavailable(error)
    }
}

/// Lua's own words for a value that is not what a script takes it for, and Redis'.
///
/// Told by these and not by what else there may be: before version 7 whatever ends a script comes
/// as the same `ERR`, and says only in its text that Redis can't write now.
fn is_of_what_is_stored(error: &RedisError) -> bool {
    let words = [
        "attempt to ",
        "bad argument #",
        "WRONGTYPE ",
        "not an integer",
    ];
    let says = |text: &str| words.iter().any(|word| text.contains(word));
    error.detail().is_some_and(says)
}

/// Whether the server on the other end is the wrong one now: a master that has become a replica.
/// Such a connection looks healthy.
pub(super) fn wrong_server(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown) => true,
        // A script's error before version 7.
        ErrorKind::Server(ServerErrorKind::ResponseError) => error
            .detail()
            .is_some_and(|text| text.contains(": -READONLY ") || text.contains(": -MASTERDOWN ")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Redis 6 puts before what has ended a script.
    const SIX: &str = "ERR Error running script (call to f_e6a86ad1): @user_script:1: ";

    /// An answer of Redis, as it comes over the wire.
    fn answered(text: &str) -> RedisError {
        let answer = redis::parse_redis_value(format!("-{text}\r\n").as_bytes());
        answer.unwrap().extract_error().unwrap_err()
    }

    #[test]
    fn the_state_that_redis_is_in_says_nothing_of_what_is_stored() {
        let states = [
            "OOM command not allowed when used memory > 'maxmemory'.",
            "READONLY You can't write against a read only replica.",
            "MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk.",
            "NOREPLICAS Not enough good replicas to write.",
            "LOADING Redis is loading the dataset in memory",
            "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        ];
        let others = [
            "ERR max number of clients reached",
            "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
            "NOSCRIPT No matching script. Please use EVAL.",
            "NOPERM this user has no permissions to run the 'evalsha' command",
            "UNKILLABLE Sorry the script already executed write commands against the dataset.",
        ];
        let others = others.into_iter().map(str::to_owned);
        let six = states.map(|state| format!("{SIX}@user_script: 1: -{state}"));
        let seven = states.map(|state| format!("{state} script: e6a86ad1, on @user_script:1."));
        for text in six.into_iter().chain(seven).chain(others) {
            let error = answered(&text);
            let fault = fault(&error, "key");
            let writes_nothing = REFUSALS.iter().any(|code| text.contains(code));
            let is_refusal = matches!(fault, RegistryError::Refused(_));
            assert!(fault.may_pass() && is_refusal == writes_nothing, "{fault}");
            let is_wrong = text.contains("READONLY") || text.contains("MASTERDOWN");
            assert_eq!(wrong_server(&error), is_wrong, "{text}");
        }
    }

    #[test]
    fn what_is_stored_and_can_not_be_read_is_corrupt() {
        let stumbles = [
            "user_script:1: attempt to perform arithmetic on a nil value",
            "user_script:1: attempt to compare number with boolean",
            "user_script:1: bad argument #1 to 'gmatch' (string expected, got boolean)",
            "WRONGTYPE Operation against a key holding the wrong kind of value",
            "ERR value is not an integer or out of range",
        ];
        let six = stumbles.map(|stumble| format!("{SIX}{stumble}"));
        let seven = stumbles.map(|stumble| {
            let code = if stumble.starts_with("user") {
                "ERR "
            } else {
                ""
            };
            format!("{code}{stumble} script: e6a86ad1, on @user_script:1.")
        });
        for text in six.into_iter().chain(seven) {
            let error = answered(&text);
            let fault = fault(&error, "key");
            assert!(matches!(fault, RegistryError::Corrupt { .. }), "{fault}");
            assert!(!wrong_server(&error), "{text}");
        }
    }
}
