//! What a player is called.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use crate::limit::MAX_NAME_CHARS;

/// A name that may stand at a seat: 1 to 20 characters after trimming and NFC, none of them a control character.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct PlayerName(String);

/// Why a text is no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// Nothing is left after trimming.
    #[error("a name needs at least one character")]
    Empty,
    /// More than [`MAX_NAME_CHARS`].
    #[error("a name has at most {MAX_NAME_CHARS} characters")]
    TooLong,
    /// Line breaks, bells and the like.
    #[error("a name has no control characters")]
    Control,
}

impl PlayerName {
    /// The name as it is shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This name, or the first of "NAME (2)", "NAME (3)" … that is not taken; shortened where the number needs the room.
    #[must_use]
    pub fn unique_among(&self, is_taken: impl Fn(&PlayerName) -> bool) -> PlayerName {
        if !is_taken(self) {
            return self.clone();
        }
        (2..=u32::MAX)
            .map(|number| self.numbered(number))
            .find(|candidate| !is_taken(candidate))
            .expect("finitely many names are taken")
    }

    fn numbered(&self, number: u32) -> PlayerName {
        let suffix = format!(" ({number})");
        let kept: String = self.0.chars().take(MAX_NAME_CHARS - suffix.len()).collect();
        PlayerName(format!("{}{suffix}", kept.trim_end()))
    }
}

impl FromStr for PlayerName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        // A frame of 64 KiB may hold a name as long: look no further than a name can reach.
        if text.trim().chars().nth(4 * MAX_NAME_CHARS).is_some() {
            return Err(InvalidName::TooLong);
        }
        let name: String = text.trim().nfc().collect();
        if name.chars().any(is_unprintable) {
            return Err(InvalidName::Control);
        }
        match name.chars().count() {
            0 => Err(InvalidName::Empty),
            1..=MAX_NAME_CHARS => Ok(Self(name)),
            _ => Err(InvalidName::TooLong),
        }
    }
}

/// Control characters, and those that turn the direction of the text around them: a name must not rewrite its line.
fn is_unprintable(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

impl From<PlayerName> for String {
    fn from(name: PlayerName) -> Self {
        name.0
    }
}

impl TryFrom<String> for PlayerName {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        text.parse()
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, InvalidName>) {
        let name = text.parse::<PlayerName>();
        assert_eq!(
            name.as_ref().map(PlayerName::as_str),
            expected.as_ref().copied(),
            "{text:?}"
        );
    }

    #[test]
    fn names_are_trimmed_composed_and_bounded() {
        check("  Ada ", Ok("Ada"));
        check("Zoe\u{308}", Ok("Zo\u{eb}"));
        check("ÄÖÜäöüßéèêçñåøæœłžšč", Ok("ÄÖÜäöüßéèêçñåøæœłžšč"));
        check("", Err(InvalidName::Empty));
        check(" \t ", Err(InvalidName::Empty));
        check("123456789012345678901", Err(InvalidName::TooLong));
        check("A\nB", Err(InvalidName::Control));
        check("A\u{202e}B", Err(InvalidName::Control));
        check(&"x".repeat(60_000), Err(InvalidName::TooLong));
    }

    #[test]
    fn a_taken_name_gets_the_next_number() {
        let taken = ["Ada", "Ada (2)"].map(|name| name.parse::<PlayerName>().unwrap());
        let unique = |name: &str| {
            let name: PlayerName = name.parse().unwrap();
            name.unique_among(|candidate| taken.contains(candidate))
                .to_string()
        };
        assert_eq!(unique("Ada"), "Ada (3)");
        assert_eq!(unique("Bob"), "Bob");
    }

    #[test]
    fn a_long_name_makes_room_for_its_number() {
        let long: PlayerName = "12345678901234567890".parse().unwrap();
        let unique = long.unique_among(|candidate| *candidate == long);
        assert_eq!(unique.as_str(), "1234567890123456 (2)");
    }
}
