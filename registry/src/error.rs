//! What can go wrong between a process and the registry.

/// Why the registry could not do what it was asked.
///
/// Answers such as `relieved` or `wait` are no errors: they are the registry's work.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RegistryError {
    /// Nothing is known about whether it happened: no connection, no answer in time, or a Redis
    /// that is loading.
    #[error("the registry can't be reached: {0}")]
    Unavailable(String),
    /// It answers, and writes nothing now: its memory or disk is full, it only reads, or its
    /// replicas are missing. To whoever asks it is the same as being away.
    #[error("the registry can't write: {0}")]
    Refused(String),
    /// A setting can't be used.
    #[error("{setting}: {why}")]
    InvalidConfig {
        /// The environment variable that is wrong.
        setting: &'static str,
        /// What is wrong with it; never holds a password.
        why: String,
    },
    /// Something is stored that this version can't read.
    #[error("{key} holds what can't be read: {why}")]
    Corrupt {
        /// Where.
        key: String,
        /// What was expected.
        why: String,
    },
    /// A text is no valid id.
    #[error("{text:?} is no valid {what}")]
    InvalidId {
        /// Which kind of id.
        what: &'static str,
        /// The text, cut to a readable length.
        text: String,
    },
}

impl RegistryError {
    /// Whether the same may work later, as it is.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Refused(_))
    }

    pub(crate) fn corrupt(key: impl Into<String>, why: &impl ToString) -> Self {
        Self::Corrupt {
            key: key.into(),
            why: why.to_string(),
        }
    }
}
