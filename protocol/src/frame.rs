//! How messages between processes become binary frames: `MessagePack` with named fields, so that a field may be added while
//! processes of two versions talk to each other.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// How deeply a frame may nest: several times what our messages need. The library's own bound lets a
/// frame that nests in an unknown field use up a thread's stack.
const MAX_DEPTH: usize = 64;

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
/// [`InvalidFrame`] if the bytes do not begin with a message of this type.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, InvalidFrame> {
    let mut reader = rmp_serde::Deserializer::from_read_ref(bytes);
    reader.set_max_depth(MAX_DEPTH);
    Ok(T::deserialize(&mut reader)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::ToNode;

    #[test]
    fn a_frame_that_nests_without_end_is_invalid_and_costs_no_stack() {
        // {"ping": {"nonce": 1, "x": [[[…
        let mut frame = b"\x81\xa4ping\x82\xa5nonce\x01\xa1x".to_vec();
        frame.extend([0x91; 1_000]);
        let reading = std::thread::Builder::new().stack_size(256 * 1024);
        let read = reading.spawn(move || decode::<ToNode>(&frame).is_err());
        assert!(read.unwrap().join().unwrap());
    }
}
