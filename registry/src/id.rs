//! The names things have in the registry. Each can only be made from a valid text, also through
//! serde, so that whatever reaches a key of Redis has been checked.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::RegistryError;

/// The longest node id and role: they are parts of keys and columns of the operators' table.
const MAX_WORD_LENGTH: usize = 64;

/// The id of a process: configured, or `<role>-<8 hex>`, drawn anew at every start.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NodeId(String);

impl NodeId {
    /// 1 to 64 of letters, digits, `.`, `_` and `-`.
    pub fn new(text: impl Into<String>) -> Result<Self, RegistryError> {
        let text = text.into();
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        check("node id", &text, text.bytes().all(fits))?;
        Ok(Self(text))
    }

    /// The id of a process that was given none; `chance` are four random bytes of the caller.
    pub fn drawn(role: &Role, chance: [u8; 4]) -> Self {
        Self(format!("{role}-{}", hex::encode(chance)))
    }

    /// The id as it is written everywhere.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a process does, a `snake_case` word: `gateway`, `game`, `ai`, or any other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Role(String);

impl Role {
    /// A lower-case letter, then lower-case letters, digits and `_`; 48 characters at most, so
    /// that a drawn id stays a valid one.
    pub fn new(text: impl Into<String>) -> Result<Self, RegistryError> {
        let text = text.into();
        let word = text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.len() <= 48
            && text
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        check("role", &text, word)?;
        Ok(Self(text))
    }

    /// The role's word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One run of a process. Two runs under one id are told apart by it; which is the later one is
/// told by their presence's `started_at`, which Redis' clock gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Incarnation(Uuid);

impl Incarnation {
    /// A run; `id` is drawn by the process at its start.
    pub const fn new(id: Uuid) -> Self {
        Self(id)
    }

    /// The UUID in it.
    pub const fn uuid(self) -> Uuid {
        self.0
    }
}

/// The life of one lobby: a code can be used again after a lobby has ended, a `Born` never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Born([u8; 8]);

impl Born {
    /// A life; `chance` are eight random bytes of the caller.
    pub const fn new(chance: [u8; 8]) -> Self {
        Self(chance)
    }
}

/// The number of an ownership: rises with every change of the owner, never used twice because it
/// is at least Redis' clock in milliseconds when it is given out (so it stays under 2^53, which
/// the numbers of Lua need).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Epoch(pub u64);

/// The number of a saved state within a lobby: rises with every change, across owners too.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// The number of a session's `hello`: the higher one is the newer connection.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Generation(pub u64);

/// The SHA-256 of a player's token. The registry never sees a token itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash as its 32 bytes.
    pub const fn new(sha256: [u8; 32]) -> Self {
        Self(sha256)
    }
}

/// Enough to tell two apart in a log, not enough to look a session up.
impl fmt::Debug for TokenHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TokenHash({}…)", hex::encode(&self.0[..4]))
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

impl fmt::Display for Born {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for NodeId {
    type Err = RegistryError;
    fn from_str(text: &str) -> Result<Self, RegistryError> {
        Self::new(text)
    }
}

impl FromStr for Role {
    type Err = RegistryError;
    fn from_str(text: &str) -> Result<Self, RegistryError> {
        Self::new(text)
    }
}

impl FromStr for Incarnation {
    type Err = RegistryError;
    fn from_str(text: &str) -> Result<Self, RegistryError> {
        text.parse()
            .map(Self)
            .map_err(|_| invalid("incarnation", text))
    }
}

impl FromStr for Born {
    type Err = RegistryError;
    fn from_str(text: &str) -> Result<Self, RegistryError> {
        let mut bytes = [0; 8];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| invalid("born", text))?;
        Ok(Self(bytes))
    }
}

impl FromStr for TokenHash {
    type Err = RegistryError;
    fn from_str(text: &str) -> Result<Self, RegistryError> {
        let mut bytes = [0; 32];
        // The text is left out of the error: it might be a token given by mistake.
        hex::decode_to_slice(text, &mut bytes).map_err(|_| invalid("token hash", "…"))?;
        Ok(Self(bytes))
    }
}

/// Serde goes through the same door as everybody: text in, checked.
macro_rules! through_text {
    ($($id:ident),*) => {$(
        impl TryFrom<String> for $id {
            type Error = RegistryError;
            fn try_from(text: String) -> Result<Self, RegistryError> {
                text.parse()
            }
        }

        impl From<$id> for String {
            fn from(id: $id) -> Self {
                id.to_string()
            }
        }
    )*};
}

through_text!(NodeId, Role, Born, TokenHash);

fn check(what: &'static str, text: &str, fits: bool) -> Result<(), RegistryError> {
    if fits && !text.is_empty() && text.len() <= MAX_WORD_LENGTH {
        Ok(())
    } else {
        Err(invalid(what, text))
    }
}

fn invalid(what: &'static str, text: &str) -> RegistryError {
    RegistryError::InvalidId {
        what,
        text: text.chars().take(MAX_WORD_LENGTH).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_texts_become_ids() {
        for good in ["game-1a2b3c4d", "a", "Host.local_1"] {
            assert_eq!(NodeId::new(good).expect(good).as_str(), good);
        }
        for bad in ["", "a b", "a:b", "ä", &"x".repeat(65)] {
            NodeId::new(bad).expect_err(bad);
        }
        for bad in ["", "Game", "1st", "ga-me", &"x".repeat(49)] {
            Role::new(bad).expect_err(bad);
        }
        serde_json::from_str::<NodeId>("\"a:b\"").expect_err("serde checks too");
        serde_json::from_str::<TokenHash>("\"00\"").expect_err("too short");
    }

    #[test]
    fn texts_come_back_as_they_were() {
        let born = Born::new([1, 2, 3, 4, 5, 6, 7, 255]);
        assert_eq!(born.to_string().parse::<Born>().expect("hex"), born);
        let hash = TokenHash::new([7; 32]);
        assert_eq!(hash.to_string().parse::<TokenHash>().expect("hex"), hash);
        let role = Role::new("game").expect("a word");
        assert_eq!(
            NodeId::drawn(&role, [0, 1, 2, 0xff]).as_str(),
            "game-000102ff"
        );
    }

    #[test]
    fn a_token_hash_hides_in_debug() {
        assert_eq!(
            format!("{:?}", TokenHash::new([0xab; 32])),
            "TokenHash(abababab…)"
        );
    }
}
