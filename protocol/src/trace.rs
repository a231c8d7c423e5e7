//! Where the sender of a message is in its trace, for whoever collects traces.

use serde::{Deserialize, Serialize};

/// A place in a trace, as W3C Trace Context writes its `traceparent`: version, trace, span and flags in
/// hexadecimal digits. It names nobody and opens nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceParent(String);

/// `00-`, 32 digits, 16 digits, 2 digits.
const CHARS: usize = 55;

/// The text is no place in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a trace's place is 55 hexadecimal digits and dashes")]
pub struct InvalidTraceParent;

impl TraceParent {
    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TraceParent {
    type Error = InvalidTraceParent;

    fn try_from(text: String) -> Result<Self, InvalidTraceParent> {
        let fits = |byte: u8| byte == b'-' || byte.is_ascii_hexdigit();
        if text.len() == CHARS && text.bytes().all(fits) {
            Ok(Self(text))
        } else {
            Err(InvalidTraceParent)
        }
    }
}

impl From<TraceParent> for String {
    fn from(parent: TraceParent) -> Self {
        parent.0
    }
}
