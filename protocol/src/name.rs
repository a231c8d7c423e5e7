//! What a player is called.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::limit::MAX_NAME_CHARS;

/// A name that may stand at a seat: 1 to 20 characters after trimming and NFC, none of them a control character.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct PlayerName(String);

/// Why a text is no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// Nothing is left after trimming, or nothing that can be seen.
    #[error("a name needs at least one character that can be seen")]
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

    /// Whether people could not tell the two apart: they differ by what is only seen beside others, and by how wide a
    /// space is.
    pub fn looks_like(&self, other: &PlayerName) -> bool {
        seen(&self.0).eq(seen(&other.0))
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
        if name.chars().all(is_blank) {
            return Err(InvalidName::Empty);
        }
        match name.chars().count() {
            1..=MAX_NAME_CHARS => Ok(Self(name)),
            _ => Err(InvalidName::TooLong),
        }
    }
}

/// Control characters, those that turn the direction of the text around them or break its line, and those that only make
/// a name look like another's: a name must not rewrite its line, and not pass for somebody else's.
fn is_unprintable(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' // direction
            | '\u{2028}' | '\u{2029}' // lines
            | '\u{00ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0001}' // nothing
        )
}

/// Nothing of which is seen without others: it takes more than these to make a name.
fn is_blank(char: char) -> bool {
    is_combining_mark(char) || is_space(char) || is_helper(char)
}

/// Room between letters, also that of writing systems that have a letter for it.
fn is_space(char: char) -> bool {
    char.is_whitespace()
        || matches!(
            char,
            '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
        )
}

/// What some scripts and emoji need to say how their neighbours are drawn: joiners, variation selectors and tags.
fn is_helper(char: char) -> bool {
    matches!(
        char,
        '\u{034f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{200c}' | '\u{200d}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}'
    )
}

/// What people see of a name: a page draws many spaces as one.
fn seen(name: &str) -> impl Iterator<Item = char> + '_ {
    let mut after_space = true;
    let mut waits = false;
    name.chars()
        .filter(|char| !is_helper(*char))
        .flat_map(move |char| {
            if is_space(char) {
                waits = !after_space;
                return [None, None];
            }
            after_space = false;
            let space = std::mem::take(&mut waits).then_some(' ');
            [space, Some(char)]
        })
        .flatten()
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
        for invisible in [
            "\u{200d}",
            "\u{3164}",
            "\u{2800}",
            "\u{301}",
            "\u{fe0f}\u{200d}",
            "\u{2800} \u{2800}",
        ] {
            check(invisible, Err(InvalidName::Empty));
        }
        for disguise in [
            "A\u{200b}",
            "A\u{ad}",
            "\u{feff}A",
            "A\u{2060}B",
            "A\u{61c}",
            "A\u{1d173}",
        ] {
            check(disguise, Err(InvalidName::Control));
        }
        check(
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
            Ok("\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}"),
        );
        check(
            "\u{5e9}\u{5dc}\u{5d5}\u{5dd}",
            Ok("\u{5e9}\u{5dc}\u{5d5}\u{5dd}"),
        );
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
    fn names_that_look_the_same_are_told_apart() {
        let looks = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|name| name.parse::<PlayerName>().unwrap());
            one.looks_like(&other)
        };
        for twin in [
            "Ada L",
            "A\u{200d}da L",
            "Ada\u{fe0f} L",
            "Ada \u{34f}L",
            "Ada L\u{e0041}\u{e007f}",
            "Ada  L",
            "Ada\u{a0}\u{3000}L",
            "\u{2800}Ada\u{3164}L\u{2800}",
            "Ada \u{200c} L",
        ] {
            assert!(looks("Ada L", twin), "{twin:?}");
        }
        for other in ["AdaL", "ada L", "Ad\u{e1} L", "Ada", "Ada LL"] {
            assert!(!looks("Ada L", other), "{other:?}");
        }
        assert!(!looks("\u{1f468}", "\u{1f468}\u{200d}\u{1f467}"));
    }

    #[test]
    fn a_long_name_makes_room_for_its_number() {
        let long: PlayerName = "12345678901234567890".parse().unwrap();
        let unique = long.unique_among(|candidate| *candidate == long);
        assert_eq!(unique.as_str(), "1234567890123456 (2)");
    }
}
