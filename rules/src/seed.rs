//! The secret that all deals of a game come from, and what may be shown of it when.
//!
//! [`Seed`] can't be serialised and hides in `Debug`. Players get a [`DealCommitment`] at the start
//! and a [`RevealedSeed`] at the end; only a [`crate::Snapshot`] holds the seed in the meantime.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// 32 random bytes, drawn by the caller from the operating system.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// A game has one seed, and a seed one game.
    pub const fn new(bytes: [u8; 32]) -> Seed {
        Seed(bytes)
    }

    /// What is published before the first card is dealt: the SHA-256 of the 32 bytes.
    pub fn commitment(&self) -> DealCommitment {
        DealCommitment(Sha256::digest(self.0).into())
    }

    pub(crate) const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(hidden)")
    }
}

/// The seed's SHA-256, as 64 lower-case hex digits: who has it can check later that the seed shown
/// at the end is the one that was dealt from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct DealCommitment([u8; 32]);

/// The seed of a finished game, as 64 lower-case hex digits.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct RevealedSeed([u8; 32]);

impl RevealedSeed {
    /// Only for a finished game, or a snapshot.
    pub(crate) const fn of(seed: &Seed) -> RevealedSeed {
        RevealedSeed(seed.0)
    }

    /// To deal the rounds again.
    pub const fn seed(&self) -> Seed {
        Seed(self.0)
    }
}

/// Not 64 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("64 hex digits are needed")]
pub struct NotHex;

fn from_hex(text: &str) -> Result<[u8; 32], NotHex> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).map_err(|_| NotHex)?;
    Ok(bytes)
}

macro_rules! hex_text {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotHex;

            fn try_from(text: String) -> Result<$name, NotHex> {
                from_hex(&text).map($name)
            }
        }
    };
}

hex_text!(DealCommitment);
hex_text!(RevealedSeed);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commitment_is_the_sha256_of_the_bytes_and_the_seed_hides() {
        let seed = Seed::new([0; 32]);
        assert_eq!(
            seed.commitment().to_string(),
            "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
        );
        assert!(!format!("{seed:?}").contains('0'));
        let revealed = RevealedSeed::of(&seed);
        let json = serde_json::to_string(&revealed).unwrap();
        assert_eq!(json, format!("\"{}\"", "0".repeat(64)));
        assert_eq!(
            serde_json::from_str::<RevealedSeed>(&json).unwrap().seed(),
            seed
        );
        assert!(serde_json::from_str::<DealCommitment>("\"66\"").is_err());
    }
}
