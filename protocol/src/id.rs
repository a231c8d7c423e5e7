//! Ids, each a type of its own: what exists is well formed.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// Letters of a lobby code: no 0, O, 1 or I, which people confuse.
const CODE_LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_CHARS: usize = 6;
const PERSON_HEX_CHARS: usize = 12;
const AI_PREFIX: &str = "ai-";
const AI_HEX_CHARS: usize = 8;
const TOKEN_BYTES: usize = 24;
const HASH_HEX_CHARS: usize = 64;

/// An id that is not of its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    /// Not six letters of the code's alphabet.
    #[error("a lobby code is six letters or digits, without 0, O, 1 and I")]
    Code,
    /// Neither a person's id nor an AI seat's.
    #[error("a player's id is 12 hexadecimal digits, or ai- and 8 of them")]
    Player,
    /// Not the base64url of 24 bytes.
    #[error("a token is 24 bytes in base64url")]
    Token,
    /// Not the hexadecimal SHA-256 of a token.
    #[error("a token's hash is 64 hexadecimal digits")]
    Hash,
}

/// Six letters that name a lobby; read in any case, written in capitals.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct LobbyCode([u8; CODE_CHARS]);

impl LobbyCode {
    /// The code that 30 random bits stand for; higher bits are ignored.
    pub fn from_bits(bits: u32) -> Self {
        let letter =
            |place: usize| CODE_LETTERS[(bits >> (5 * place)) as usize % CODE_LETTERS.len()];
        Self(std::array::from_fn(letter))
    }

    /// The six capitals.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a code's letters are ASCII")
    }
}

impl FromStr for LobbyCode {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let letters = text.trim().as_bytes().try_into();
        let mut letters: [u8; CODE_CHARS] = letters.map_err(|_| InvalidId::Code)?;
        letters.make_ascii_uppercase();
        if letters.iter().all(|letter| CODE_LETTERS.contains(letter)) {
            Ok(Self(letters))
        } else {
            Err(InvalidId::Code)
        }
    }
}

/// A seat's player: a person (12 hexadecimal digits, for as long as their session lives) or an AI seat (`ai-` and 8, new
/// whenever a seat is converted).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct PlayerId(String);

impl PlayerId {
    /// A person's id from six random bytes.
    pub fn person(random: [u8; PERSON_HEX_CHARS / 2]) -> Self {
        Self(hex::encode(random))
    }

    /// An AI seat's id from four random bytes.
    pub fn ai(random: [u8; AI_HEX_CHARS / 2]) -> Self {
        Self(format!("{AI_PREFIX}{}", hex::encode(random)))
    }

    /// True for an AI seat's id.
    pub fn is_ai(&self) -> bool {
        self.0.starts_with(AI_PREFIX)
    }

    /// The id as it is sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PlayerId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let valid = match text.strip_prefix(AI_PREFIX) {
            Some(digits) => is_lower_hex(digits, AI_HEX_CHARS),
            None => is_lower_hex(text, PERSON_HEX_CHARS),
        };
        if valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidId::Player)
        }
    }
}

/// The secret by which a person comes back: 24 random bytes in base64url.
///
/// It goes to its player and nowhere else: the registry, logs and traces know its [`TokenHash`] only.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct Token(String);

impl Token {
    /// A token from random bytes of the operating system.
    pub fn new(random: [u8; TOKEN_BYTES]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(random))
    }

    /// What the registry keeps instead of the token.
    pub fn hash(&self) -> TokenHash {
        TokenHash(hex::encode(Sha256::digest(self.0.as_bytes())))
    }

    /// The text that is sent to the token's owner, and to nobody else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for Token {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        match URL_SAFE_NO_PAD.decode(text) {
            Ok(bytes) if bytes.len() == TOKEN_BYTES => Ok(Self(text.to_owned())),
            _ => Err(InvalidId::Token),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

/// The SHA-256 of a token in 64 hexadecimal digits: names a session, opens none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(String);

impl TokenHash {
    /// The 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TokenHash {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        if is_lower_hex(text, HASH_HEX_CHARS) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidId::Hash)
        }
    }
}

/// One connection of a player at one gateway; a number that the gateway process never gives twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnectionId(pub u64);

fn is_lower_hex(text: &str, chars: usize) -> bool {
    text.len() == chars
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

macro_rules! text_form {
    ($($id:ident),*) => {$(
        impl TryFrom<String> for $id {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                text.parse()
            }
        }

        impl Serialize for $id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_text())
            }
        }

        impl<'de> Deserialize<'de> for $id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(TextForm(PhantomData))
            }
        }
    )*};
}

/// Reads an id from where its text stands: every message on a link has several.
struct TextForm<T>(PhantomData<T>);

impl<T: FromStr<Err = InvalidId>> Visitor<'_> for TextForm<T> {
    type Value = T;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

macro_rules! shown_as_text {
    ($($id:ident),*) => {$(
        impl $id {
            fn as_text(&self) -> &str {
                self.as_str()
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

impl Token {
    fn as_text(&self) -> &str {
        self.reveal()
    }
}

text_form!(LobbyCode, PlayerId, Token, TokenHash);
shown_as_text!(LobbyCode, PlayerId, TokenHash);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_in_any_case_and_written_in_capitals() {
        assert_eq!("abcd23".parse::<LobbyCode>().unwrap().as_str(), "ABCD23");
        for wrong in [
            "", "ABCDE", "ABCDEFG", "ABCDE0", "ABCDEO", "ABCDE1", "ABCDEI", "ABCDEÄ", "AB CDE",
        ] {
            assert_eq!(wrong.parse::<LobbyCode>(), Err(InvalidId::Code), "{wrong}");
        }
    }

    #[test]
    fn every_drawn_code_is_a_code() {
        for bits in [0, 1, 0x3fff_ffff, u32::MAX, 0x1234_5678] {
            let code = LobbyCode::from_bits(bits);
            assert_eq!(code.as_str().parse(), Ok(code));
        }
        assert_ne!(LobbyCode::from_bits(1), LobbyCode::from_bits(1 << 25));
    }

    #[test]
    fn ids_of_people_and_ai_seats_are_told_apart() {
        assert!(PlayerId::ai([1, 2, 3, 4]).is_ai());
        assert_eq!(PlayerId::person([0xab; 6]).as_str(), "abababababab");
        for wrong in [
            "",
            "ABABABABABAB",
            "abababababa",
            "ai-0123456",
            "ai-0123456g",
            "ai-012345678",
        ] {
            assert_eq!(wrong.parse::<PlayerId>(), Err(InvalidId::Player), "{wrong}");
        }
    }

    #[test]
    fn a_token_shows_itself_only_where_it_is_asked_to() {
        let token = Token::new([7; 24]);
        assert_eq!(format!("{token:?}"), "Token(hidden)");
        assert_eq!(token.reveal().parse::<Token>().unwrap(), token);
        assert_eq!(token.hash().as_str().len(), 64);
        assert!(!token.hash().as_str().contains(token.reveal()));
    }
}
