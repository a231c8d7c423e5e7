//! WebSocket frames as a server writes them: whole, unmasked, one after the other into one buffer.

use protocol::CloseCode;

const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
/// A length of two bytes follows; it is that long for every picture of a table.
const TWO_BYTES: u8 = 126;
const EIGHT_BYTES: u8 = 127;
const USUAL_HEADER_BYTES: usize = 4;

/// Adds a text that `write` adds after its header, without a copy of it; returns how long it is.
pub(crate) fn text(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> usize {
    let start = bytes.len();
    bytes.extend([0; USUAL_HEADER_BYTES]);
    write(bytes);
    let length = bytes.len() - start - USUAL_HEADER_BYTES;
    let usual = start..start + USUAL_HEADER_BYTES;
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short), _) if short < TWO_BYTES => {
            bytes.splice(usual, [TEXT, short]);
        }
        (_, Ok(medium)) => {
            let [high, low] = medium.to_be_bytes();
            bytes[usual].copy_from_slice(&[TEXT, TWO_BYTES, high, low]);
        }
        _ => {
            let length = (length as u64).to_be_bytes();
            bytes.splice(usual, [TEXT, EIGHT_BYTES].into_iter().chain(length));
        }
    }
    length
}

/// Adds a ping.
pub(crate) fn ping(bytes: &mut Vec<u8>) {
    bytes.extend([PING, 0]);
}

/// Adds the last one.
pub(crate) fn close(bytes: &mut Vec<u8>, code: CloseCode) {
    bytes.extend([CLOSE, 2]);
    bytes.extend(u16::from(code).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_the_standard_has_them() {
        let with_header = |length: usize| {
            let mut bytes = b"before".to_vec();
            assert_eq!(text(&mut bytes, |to| to.extend(vec![b'x'; length])), length);
            let framed = bytes.strip_prefix(b"before").unwrap();
            let (header, payload) = framed.split_at(framed.len() - length);
            assert!(payload.iter().all(|byte| *byte == b'x'));
            header.to_vec()
        };
        assert_eq!(with_header(0), [0x81, 0]);
        assert_eq!(with_header(125), [0x81, 125]);
        assert_eq!(with_header(126), [0x81, 126, 0, 126]);
        assert_eq!(with_header(65_535), [0x81, 126, 0xff, 0xff]);
        assert_eq!(with_header(65_536), [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
        let mut bytes = Vec::new();
        ping(&mut bytes);
        close(&mut bytes, CloseCode::Restart);
        assert_eq!(bytes, [0x89, 0, 0x88, 2, 0x03, 0xf4]);
    }
}
