//! How messages between processes become binary frames: `MessagePack` with named fields, so that a field may be added while
//! processes of two versions talk to each other.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A frame of a link that is no message.
#[derive(Debug, thiserror::Error)]
#[error("a link's frame is no message: {0}")]
pub struct InvalidFrame(#[from] rmp_serde::decode::Error);

/// Writes a message.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    rmp_serde::to_vec_named(message).expect("our messages have a MessagePack form")
}

/// Reads a message.
///
/// # Errors
/// [`InvalidFrame`] if the bytes are not exactly one message of this type.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, InvalidFrame> {
    Ok(rmp_serde::from_slice(bytes)?)
}
