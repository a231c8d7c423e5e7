//! What was sent, against what it should have been.

use std::fmt::Debug;

/// A state that the rules, or the states before it, do not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: expected {expected}, got {got}")]
pub struct Contradiction {
    /// The field or the rule, by its name on the wire.
    pub what: String,
    /// What it should have been.
    pub expected: String,
    /// What was sent.
    pub got: String,
}

impl Contradiction {
    /// Where there is no one right value, `expected` says in words what would be.
    pub(crate) fn new(what: &str, expected: impl Into<String>, got: &impl Debug) -> Self {
        Self {
            what: what.to_owned(),
            expected: expected.into(),
            got: format!("{got:?}"),
        }
    }
}

/// The two must be equal.
pub(crate) fn same<T: PartialEq + Debug + ?Sized>(
    what: &str,
    expected: &T,
    got: &T,
) -> Result<(), Contradiction> {
    if expected == got {
        return Ok(());
    }
    Err(Contradiction {
        what: what.to_owned(),
        expected: format!("{expected:?}"),
        got: format!("{got:?}"),
    })
}

/// It must be as `expected` says in words.
pub(crate) fn ensure(
    holds: bool,
    what: &str,
    expected: &str,
    got: &impl Debug,
) -> Result<(), Contradiction> {
    if holds {
        Ok(())
    } else {
        Err(Contradiction::new(what, expected, got))
    }
}
