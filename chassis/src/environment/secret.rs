//! Secrets that no log shows.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use subtle::ConstantTimeEq;

/// A shared secret or an operator's token; empty means that none is set.
#[derive(Clone, Default)]
pub struct Secret(String);

impl Secret {
    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `presented` is the secret. Takes the same time wherever the two differ, though not
    /// for two of different length.
    ///
    /// False if none is set: whether that lets everybody in is for the caller to decide.
    pub fn matches(&self, presented: &[u8]) -> bool {
        !self.is_empty() && bool::from(self.0.as_bytes().ct_eq(presented))
    }

    /// Whether it can be sent in a header and arrives as it is. One from a file with a line's end
    /// at its end can't, and spaces at an end are lost on the way.
    pub fn fits_a_header(&self) -> bool {
        !self.0.chars().any(char::is_control) && self.0.trim() == self.0
    }

    /// The text, to be sent to whom it authenticates us, and nowhere else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl FromStr for Secret {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_empty() {
            "Secret(empty)"
        } else {
            "Secret(…)"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_only_itself_and_never_when_empty() {
        let secret = Secret::from("abc".to_owned());
        assert!(secret.matches(b"abc"));
        assert!(!secret.matches(b"abd") && !secret.matches(b"ab") && !secret.matches(b""));
        assert!(!Secret::default().matches(b""));
    }

    #[test]
    fn lines_fit_no_header() {
        let fits = |text: &str| Secret::from(text.to_owned()).fits_a_header();
        assert!(fits("") && fits("two words") && fits("g\u{e9}heim"));
        assert!(!fits(" ") && !fits(" secret") && !fits("secret "));
        assert!(!fits("secret\n") && !fits("two\nlines") && !fits("\0"));
    }

    #[test]
    fn debug_hides_it() {
        assert_eq!(format!("{:?}", Secret::from("abc".to_owned())), "Secret(…)");
    }
}
