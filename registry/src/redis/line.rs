//! One connection of one's own, made anew when it is dead.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Pipeline, RedisError, RedisResult, Value};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::connector::{Connector, unavailable, wrong_server};
use super::reply;
use crate::RegistryError;
use crate::backend::Answer;
use crate::backoff::Backoff;
use crate::health::HealthCell;
use crate::metrics::Purpose;

/// So many answers in a row that did not come in time, and the connection is taken for dead.
pub(crate) const TIMEOUTS_BEFORE_NEW: u32 = 2;

pub(super) struct Line {
    connector: Arc<Connector>,
    purpose: Purpose,
    health: Arc<HealthCell>,
    response_timeout: Duration,
    counting: bool,
    state: Mutex<State>,
}

struct State {
    connection: Option<MultiplexedConnection>,
    /// Tells connections apart: what happens on an abandoned one says nothing about the next.
    number: u64,
    timeouts: u32,
    /// Goes on when a caller gives up waiting, so that a slow handshake comes to its end.
    connecting: Option<JoinHandle<Result<MultiplexedConnection, RedisError>>>,
    backoff: Backoff,
    retry_at: Option<Instant>,
}

impl Line {
    pub(super) fn new(
        connector: Arc<Connector>,
        purpose: Purpose,
        health: Arc<HealthCell>,
        response_timeout: Duration,
    ) -> Self {
        let state = State {
            connection: None,
            number: 0,
            timeouts: 0,
            connecting: None,
            backoff: Backoff::new(),
            retry_at: None,
        };
        Self {
            connector,
            purpose,
            health,
            response_timeout,
            counting: false,
            state: Mutex::new(state),
        }
    }

    /// Its connections are those of [`crate::Health::commit_connection`].
    pub(super) fn counting_connections(mut self) -> Self {
        self.counting = true;
        self
    }

    /// Sends all commands at once; one result each. Never tries twice: the caller knows whether
    /// that is right.
    pub(super) async fn run(&self, pipeline: &mut Pipeline) -> Answer<Vec<RedisResult<Value>>> {
        let (mut connection, number) = self.connection().await?;
        let results: RedisResult<Vec<RedisResult<Value>>> =
            pipeline.ignore_errors().query_async(&mut connection).await;
        let mut state = self.state.lock().await;
        let same = state.number == number;
        match results {
            Ok(results) => {
                for error in results.iter().filter_map(|one| one.as_ref().err()) {
                    self.connector.metrics.failed(self.purpose, error);
                }
                if same {
                    state.timeouts = 0;
                    if results
                        .iter()
                        .any(|one| one.as_ref().is_err_and(wrong_server))
                    {
                        state.connection = None;
                    }
                }
                Ok(results)
            }
            Err(error) => {
                self.connector.metrics.failed(self.purpose, &error);
                if same {
                    state.timeouts += 1;
                    if !error.is_timeout() || state.timeouts >= TIMEOUTS_BEFORE_NEW {
                        state.connection = None;
                    }
                }
                Err(unavailable(&error))
            }
        }
    }

    async fn connection(&self) -> Answer<(MultiplexedConnection, u64)> {
        let mut guard = self.state.lock().await;
        let state = &mut *guard;
        if let Some(connection) = &state.connection {
            return Ok((connection.clone(), state.number));
        }
        if state
            .retry_at
            .is_some_and(|retry_at| retry_at > Instant::now())
        {
            return Err(RegistryError::Unavailable(
                "waiting to connect again".to_owned(),
            ));
        }
        let connecting = state.connecting.get_or_insert_with(|| {
            let (connector, patience) = (Arc::clone(&self.connector), self.response_timeout);
            let purpose = self.purpose;
            tokio::spawn(async move { connector.connect(purpose, patience).await })
        });
        let Ok(ended) = timeout(self.response_timeout, connecting).await else {
            return Err(RegistryError::Unavailable("still connecting".to_owned()));
        };
        state.connecting = None;
        let connected = match ended {
            Ok(connected) => connected.map_err(|error| unavailable(&error)),
            Err(ended) => Err(RegistryError::Unavailable(ended.to_string())),
        };
        let greeted = match connected {
            Ok(connection) => self.greet(connection).await,
            Err(error) => Err(error),
        };
        match greeted {
            Ok(connection) => {
                state.backoff.reset();
                state.retry_at = None;
                state.timeouts = 0;
                state.number += 1;
                state.connection = Some(connection.clone());
                if self.counting {
                    self.health.new_commit_connection();
                }
                Ok((connection, state.number))
            }
            Err(error) => {
                state.retry_at = Some(Instant::now() + state.backoff.next());
                Err(error)
            }
        }
    }

    /// Asks a new connection which run of Redis it leads to: another one may have lost data.
    async fn greet(&self, mut connection: MultiplexedConnection) -> Answer<MultiplexedConnection> {
        let server = reply::who_answers(&mut connection)
            .await
            .map_err(|error| unavailable(&error))?;
        self.health.saw(&server);
        Ok(connection)
    }
}
