//! The pool for everything that a single task asks and waits for: sessions, routing, operators.

use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::{self, Metrics, Object, RecycleError, RecycleResult};
use redis::aio::MultiplexedConnection;
use redis::{Cmd, FromRedisValue, Pipeline, RedisError, RedisResult, ScriptInvocation, Value};

use super::connector::{Connector, fault, wrong_server};
use super::reply;
use crate::RegistryError;
use crate::backend::Answer;
use crate::health::{HealthCell, Sight};
use crate::metrics::Purpose;

/// Enough for thousands of short operations a second.
const CONNECTIONS: usize = 16;
/// An operation that is not answered within this has failed.
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Waiting for a free connection, or for a used one to answer its check.
const CHECKOUT_TIMEOUT: Duration = Duration::from_secs(1);
/// Making one may take a sentinel's answer and a handshake.
const CREATE_TIMEOUT: Duration = Duration::from_secs(3);

pub(super) struct Pool {
    connections: managed::Pool<Manager>,
    connector: Arc<Connector>,
    health: Arc<HealthCell>,
}

impl Pool {
    pub(super) fn new(connector: Arc<Connector>, health: Arc<HealthCell>) -> Answer<Self> {
        let connections = managed::Pool::builder(Manager {
            connector: Arc::clone(&connector),
            health: Arc::clone(&health),
        })
        .max_size(CONNECTIONS)
        .wait_timeout(Some(CHECKOUT_TIMEOUT))
        .create_timeout(Some(CREATE_TIMEOUT))
        .recycle_timeout(Some(CHECKOUT_TIMEOUT))
        .runtime(deadpool::Runtime::Tokio1)
        .build()
        .map_err(|error| RegistryError::Unavailable(error.to_string()))?;
        Ok(Self {
            connections,
            connector,
            health,
        })
    }

    /// Runs a script on its one key.
    pub(super) async fn script(&self, script: &ScriptInvocation<'_>, key: &str) -> Answer<Value> {
        let mut connection = self.checkout().await?;
        let result = script.invoke_async(&mut *connection).await;
        self.finish(result, key, connection)
    }

    pub(super) async fn command<T: FromRedisValue>(&self, command: &Cmd, key: &str) -> Answer<T> {
        let mut connection = self.checkout().await?;
        let result = command.query_async(&mut *connection).await;
        self.finish(result, key, connection)
    }

    pub(super) async fn pipeline<T: FromRedisValue>(
        &self,
        pipeline: &Pipeline,
        key: &str,
    ) -> Answer<T> {
        let mut connection = self.checkout().await?;
        let result = pipeline.query_async(&mut *connection).await;
        self.finish(result, key, connection)
    }

    /// One round trip that brings clock and run id.
    pub(super) async fn probe(&self) -> Answer<()> {
        let mut connection = self.checkout().await?;
        let seen = reply::who_answers(&mut connection).await;
        let server = self.finish(seen, "the clock", connection)?;
        self.health.saw(&server);
        Ok(())
    }

    async fn checkout(&self) -> Answer<Object<Manager>> {
        self.connections.get().await.map_err(|error| {
            let error = RegistryError::Unavailable(error.to_string());
            self.health.failed(Sight::Other, &error);
            error
        })
    }

    fn finish<T>(
        &self,
        result: RedisResult<T>,
        key: &str,
        connection: Object<Manager>,
    ) -> Answer<T> {
        match result {
            Ok(value) => {
                self.health.answered(Sight::Other);
                Ok(value)
            }
            Err(error) => {
                self.connector.metrics.failed(Purpose::Pool, &error);
                if wrong_server(&error) {
                    drop(Object::take(connection));
                    self.connections.retain(|_, _| false);
                }
                let error = fault(&error, key);
                if error.may_pass() {
                    self.health.failed(Sight::Other, &error);
                }
                Err(error)
            }
        }
    }
}

struct Manager {
    connector: Arc<Connector>,
    health: Arc<HealthCell>,
}

impl managed::Manager for Manager {
    type Type = MultiplexedConnection;
    type Error = RedisError;

    async fn create(&self) -> Result<MultiplexedConnection, RedisError> {
        let mut connection = self
            .connector
            .connect(Purpose::Pool, RESPONSE_TIMEOUT)
            .await?;
        let server = reply::who_answers(&mut connection).await?;
        self.health.saw(&server);
        Ok(connection)
    }

    /// A round trip, which finds a connection that has gone silent.
    async fn recycle(
        &self,
        connection: &mut MultiplexedConnection,
        _: &Metrics,
    ) -> RecycleResult<RedisError> {
        match redis::cmd("PING").query_async::<String>(connection).await {
            Ok(_) => Ok(()),
            Err(error) => Err(RecycleError::Backend(error)),
        }
    }
}
