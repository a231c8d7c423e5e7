//! Which Redis, from one URL.

use std::fmt;

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo};

use crate::{Lifetimes, RegistryError};

/// Where Redis is, and how things are kept in it.
#[derive(Clone)]
pub struct RedisConfig {
    /// `redis://`, `rediss://`, or `redis+sentinel://[user:password@]host:26379,host/master[/db]`
    /// (user and password are Redis', not the sentinels'); `rediss+sentinel://`: TLS to both.
    pub url: String,
    /// Begins every key and channel.
    pub key_prefix: String,
    /// How long things live.
    pub lifetimes: Lifetimes,
}

impl RedisConfig {
    /// The usual prefix and lifetimes.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            key_prefix: "network:".to_owned(),
            lifetimes: Lifetimes::default(),
        }
    }
}

/// The URL may hold a password.
impl fmt::Debug for RedisConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RedisConfig")
            .field("key_prefix", &self.key_prefix)
            .field("lifetimes", &self.lifetimes)
            .finish_non_exhaustive()
    }
}

/// What a URL says.
#[derive(Debug)]
pub(super) enum Address {
    Server(Box<ConnectionInfo>),
    Sentinels(Sentinels),
}

/// Who knows where the master is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sentinels {
    pub(super) hosts: Vec<(String, u16)>,
    pub(super) master: String,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: i64,
    /// TLS, to the sentinels and to Redis.
    pub(super) encrypted: bool,
}

/// Each with whether it means TLS.
const SENTINEL_SCHEMES: [(&str, bool); 2] =
    [("redis+sentinel://", false), ("rediss+sentinel://", true)];
const SENTINEL_PORT: u16 = 26379;

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, RegistryError> {
        for (scheme, encrypted) in SENTINEL_SCHEMES {
            if let Some(rest) = url.strip_prefix(scheme) {
                let sentinels = Sentinels::parse(rest, encrypted);
                return sentinels.map(Self::Sentinels).map_err(invalid);
            }
        }
        if !url.starts_with("redis://") && !url.starts_with("rediss://") {
            return Err(invalid(
                "begins with redis://, rediss://, redis+sentinel:// or rediss+sentinel://",
            ));
        }
        let info = url
            .into_connection_info()
            .map_err(|error| invalid(error.detail().unwrap_or("is no valid URL")))?;
        Ok(Self::Server(Box::new(info)))
    }

    pub(super) fn needs_tls(&self) -> bool {
        match self {
            Self::Server(info) => matches!(info.addr(), ConnectionAddr::TcpTls { .. }),
            Self::Sentinels(sentinels) => sentinels.encrypted,
        }
    }
}

impl Sentinels {
    fn parse(rest: &str, encrypted: bool) -> Result<Self, &'static str> {
        let (credentials, rest) = match rest.rsplit_once('@') {
            Some((credentials, rest)) => (Some(credentials), rest),
            None => (None, rest),
        };
        let mut path = rest.split('/');
        let hosts = path.next().unwrap_or_default();
        let master = path.next().filter(|master| !master.is_empty());
        let database = match path.next() {
            None | Some("") => 0,
            Some(number) => number
                .parse()
                .map_err(|_| "the database must be a number")?,
        };
        let (username, password) = match credentials.map(|both| both.split_once(':')) {
            None => (None, None),
            Some(None) => return Err("credentials are user:password or :password"),
            Some(Some((user, password))) => {
                (Some(user).filter(|user| !user.is_empty()), Some(password))
            }
        };
        Ok(Self {
            hosts: hosts.split(',').map(parse_host).collect::<Result<_, _>>()?,
            master: master
                .ok_or("the master's name is missing: host:26379,host/master")?
                .to_owned(),
            username: username.map(str::to_owned),
            password: password.map(str::to_owned),
            database,
            encrypted,
        })
    }
}

fn parse_host(host: &str) -> Result<(String, u16), &'static str> {
    let (name, port) = match host.rsplit_once(':') {
        // The colons of an IPv6 address end inside its brackets.
        Some((name, port)) if !port.ends_with(']') => (
            name,
            port.parse()
                .map_err(|_| "a sentinel's port must be a number up to 65535")?,
        ),
        _ => (host, SENTINEL_PORT),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    if name.is_empty() {
        Err("a sentinel's host is missing")
    } else {
        Ok((name.to_owned(), port))
    }
}

fn invalid(why: &str) -> RegistryError {
    RegistryError::InvalidConfig {
        setting: "REDIS_URL",
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentinels(url: &str) -> Sentinels {
        match Address::parse(url).expect(url) {
            Address::Sentinels(sentinels) => sentinels,
            Address::Server(_) => panic!("{url} names sentinels"),
        }
    }

    #[test]
    fn sentinel_urls() {
        let expected = Sentinels {
            hosts: vec![
                ("one".into(), 26379),
                ("::1".into(), 5000),
                ("three".into(), 26379),
            ],
            master: "main".into(),
            username: None,
            password: None,
            database: 0,
            encrypted: false,
        };
        assert_eq!(
            sentinels("redis+sentinel://one:26379,[::1]:5000,three/main"),
            expected
        );
        let with_all = sentinels("redis+sentinel://me:p@ss@one/main/3");
        assert_eq!(with_all.username.as_deref(), Some("me"));
        assert_eq!(with_all.password.as_deref(), Some("p@ss"));
        assert_eq!(with_all.database, 3);
    }

    #[test]
    fn wrong_urls_name_the_variable_and_hide_the_password() {
        for url in [
            "",
            "http://secret@host",
            "redis://",
            "redis://:secret@host:99999",
            "redis+sentinel://one",
            "redis+sentinel://:secret@one:x/main",
            "redis+sentinel://one,/main",
            "redis+sentinel://one/main/x",
        ] {
            let error = Address::parse(url).expect_err(url).to_string();
            assert!(error.starts_with("REDIS_URL: "), "{url}: {error}");
            assert!(!error.contains("secret"), "{url}: {error}");
        }
        let config = RedisConfig::new("redis://:secret@host");
        assert!(!format!("{config:?}").contains("secret"));
    }

    #[test]
    fn with_and_without_tls() {
        assert!(
            !Address::parse("redis://127.0.0.1:6380/1")
                .expect("valid")
                .needs_tls()
        );
        assert!(Address::parse("rediss://host").expect("valid").needs_tls());
        for (url, encrypted) in [
            ("redis+sentinel://one/main", false),
            ("rediss+sentinel://one/main", true),
        ] {
            assert_eq!(sentinels(url).encrypted, encrypted);
            assert_eq!(Address::parse(url).expect("valid").needs_tls(), encrypted);
        }
    }
}
