//! Versions of what processes say to each other, so that two of them can talk while one is upgraded.
//!
//! Whoever dials a link names its version in the request ([`VERSION_HEADER`]), and whoever takes it in the answer. What
//! a newer peer says that is not known here is skipped: a message, or one of its parts, that came later. Whoever waits
//! for an answer to it goes on without one, as with a peer that is too slow. From a peer of the same version or an
//! older one such a frame is a fault, and ends the link.
//!
//! Invariant: every version reads all frames of those before it (`golden/links/`). So the newer one of two understands
//! everything, and the older one everything that it can act on.

use serde::de::DeserializeOwned;

use crate::frame::{InvalidFrame, decode};

/// What this program speaks. It rises with each message, request, answer or code that an older one can't read.
pub const VERSION: u32 = 1;

/// The header of a link's request and of its answer that holds the version, in digits.
pub const VERSION_HEADER: &str = "wizard-link-version";

/// The other end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    version: u32,
}

impl Peer {
    /// Of the same program.
    pub const EQUAL: Self = Self { version: VERSION };

    /// As its header says. Who says nothing, or nothing that is a number, speaks the first version.
    pub fn of(header: Option<&[u8]>) -> Self {
        let text = header.and_then(|header| std::str::from_utf8(header).ok());
        let version = text.and_then(|text| text.parse().ok()).unwrap_or(1);
        Self { version }
    }

    /// Whether it may say what is not known here.
    pub fn is_newer(self) -> bool {
        self.version > VERSION
    }

    /// Reads a frame of it; nothing if only a newer program can.
    ///
    /// # Errors
    /// [`InvalidFrame`] if this program should be able to read it, and can't.
    pub fn read<T: DeserializeOwned>(self, frame: &[u8]) -> Result<Option<T>, InvalidFrame> {
        match decode(frame) {
            Ok(message) => Ok(Some(message)),
            Err(_) if self.is_newer() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;
    use crate::frame::encode;
    use crate::link::ToNode;

    /// As a later version may say it.
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Later {
        Greet { warmly: bool },
    }

    #[test]
    fn only_a_newer_peer_may_say_what_is_not_known() {
        let unknown = encode(&Later::Greet { warmly: true });
        let newer = (VERSION + 1).to_string();
        let own = VERSION.to_string();
        let read = |header: Option<&str>| Peer::of(header.map(str::as_bytes)).read(&unknown);
        let skipped: Option<ToNode> = read(Some(&newer)).unwrap();
        assert_eq!(skipped, None);
        for header in [None, Some(own.as_str()), Some("0"), Some("new")] {
            assert!(read(header).is_err(), "{header:?}");
        }
    }

    #[test]
    fn what_is_known_is_read_whoever_says_it() {
        let probe = ToNode::Probe { request: 1 };
        for version in [1, VERSION, VERSION + 1] {
            let read = Peer { version }.read(&encode(&probe));
            assert_eq!(read.unwrap(), Some(probe.clone()));
        }
    }
}
