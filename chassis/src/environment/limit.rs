//! Limits where 0 means none.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

/// How many of something there may be; 0 in the configuration means as many as come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(Option<NonZeroU64>);

/// The text is not a limit.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{0}' is not a whole number from 0 (no limit) on")]
pub struct InvalidLimit(String);

impl Limit {
    /// No limit.
    pub const NONE: Self = Self(None);

    /// At most `count`; 0 means no limit.
    pub const fn at_most(count: u64) -> Self {
        Self(NonZeroU64::new(count))
    }

    /// The number, or `None` without a limit.
    pub const fn count(self) -> Option<u64> {
        match self.0 {
            Some(count) => Some(count.get()),
            None => None,
        }
    }

    /// Whether one more may come where there are already `present`.
    pub fn has_room(self, present: usize) -> bool {
        self.count()
            .is_none_or(|count| u64::try_from(present).is_ok_and(|there| there < count))
    }
}

impl FromStr for Limit {
    type Err = InvalidLimit;

    fn from_str(text: &str) -> Result<Self, InvalidLimit> {
        text.trim()
            .parse()
            .map(Self::at_most)
            .map_err(|_| InvalidLimit(text.to_owned()))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.count().unwrap_or(0).fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_means_no_limit() {
        assert_eq!("0".parse(), Ok(Limit::NONE));
        assert!(Limit::NONE.has_room(usize::MAX));
        let two: Limit = "2".parse().unwrap();
        assert!(two.has_room(1) && !two.has_room(2));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "-1", "1.5", "many"] {
            assert_eq!(text.parse::<Limit>(), Err(InvalidLimit(text.to_owned())));
        }
    }
}
