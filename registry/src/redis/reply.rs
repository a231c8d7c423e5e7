//! Reads Redis' answers.

use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue, RedisError, RedisResult, Value};

use crate::backend::Answer;
use crate::health::Server;
use crate::{Epoch, Owner, Record, RegistryError, Seq};

/// Which run of Redis this is, since when, and its clock.
pub(super) async fn who_answers(
    connection: &mut MultiplexedConnection,
) -> Result<Server, RedisError> {
    let (info, (seconds, micros)): (String, (u64, u64)) = redis::pipe()
        .cmd("INFO")
        .arg("server")
        .cmd("TIME")
        .query_async(connection)
        .await?;
    let field = |name: &str| {
        let mut lines = info.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.unwrap_or_default().trim()
    };
    // Both as of one moment, and in whole seconds; what does not say them has long been there.
    let seen_at = field("server_time_usec").parse::<u64>().unwrap_or_default() / 1_000_000;
    let up_for = field("uptime_in_seconds").parse::<u64>();
    let began = up_for.map_or(0, |up_for| seen_at.saturating_sub(up_for));
    Ok(Server {
        run_id: field("run_id").to_owned(),
        run_began_ms: began * 1000,
        now_ms: seconds * 1000 + micros / 1000,
    })
}

/// A value of an expected type.
pub(super) fn read<T: FromRedisValue>(value: Value, key: &str) -> Answer<T> {
    T::from_redis_value(value).map_err(|error| RegistryError::corrupt(key, &error))
}

/// A script's answer: its word, then what comes with it.
pub(super) fn tagged(value: Value, key: &str) -> Answer<(String, std::vec::IntoIter<Value>)> {
    let mut parts = read::<Vec<Value>>(value, key)?.into_iter();
    let tag = read(parts.next().unwrap_or(Value::Nil), key)?;
    Ok((tag, parts))
}

/// The next part of an answer.
pub(super) fn next<T: FromRedisValue>(
    parts: &mut impl Iterator<Item = Value>,
    key: &str,
) -> Answer<T> {
    read(parts.next().unwrap_or(Value::Nil), key)
}

/// A record as the scripts and `HMGET` give it: born, owner, incarnation, epoch, seq, status,
/// deleted.
pub(super) fn record(row: Value, key: &str) -> Answer<Record> {
    type Row = (String, String, String, u64, u64, String, Option<String>);
    let (born, node, incarnation, epoch, seq, status, deleted) = read::<Row>(row, key)?;
    let corrupt = |error: RegistryError| RegistryError::corrupt(key, &error);
    let owner = if node.is_empty() {
        None
    } else {
        Some(Owner {
            node: node.parse().map_err(corrupt)?,
            incarnation: incarnation.parse().map_err(corrupt)?,
        })
    };
    Ok(Record {
        born: born.parse().map_err(corrupt)?,
        owner,
        epoch: Epoch(epoch),
        seq: Seq(seq),
        status,
        deleted: deleted.is_some_and(|deleted| deleted == "1"),
    })
}

/// A word that is none of the expected ones.
pub(super) fn unexpected(word: &str, key: &str) -> RegistryError {
    RegistryError::corrupt(key, &format!("unexpected answer {word:?}"))
}

/// One result of a batch.
pub(super) fn of_batch(result: RedisResult<Value>, key: &str) -> Answer<Value> {
    result.map_err(|error| super::connector::fault(&error, key))
}
