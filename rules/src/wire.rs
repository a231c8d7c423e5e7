//! How fields that a player's program fills in are read, where serde alone takes too much or too
//! little.

use std::fmt;

use serde::de::value::StringDeserializer;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, IntoDeserializer, Visitor};

/// One of a few words. Serde takes `{"red":null}` for `"red"`; here that is a mistyped field.
///
/// # Errors
/// Anything but a text, and words that `T` does not know.
pub fn word<'de, D: Deserializer<'de>, T: DeserializeOwned>(field: D) -> Result<T, D::Error> {
    let text: StringDeserializer<D::Error> = String::deserialize(field)?.into_deserializer();
    T::deserialize(text)
}

/// The same for fields that may be missing or null.
///
/// # Errors
/// See [`word`].
pub fn word_or_none<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    field: D,
) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(field)?;
    let word = |text: String| T::deserialize(IntoDeserializer::<D::Error>::into_deserializer(text));
    text.map(word).transpose()
}

/// A whole number of any size, the nearest one that there is room for: what is too large for the
/// field is for the rules to refuse, like any other number that they don't allow.
pub(crate) struct WholeNumber(pub(crate) i64);

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(field: D) -> Result<Self, D::Error> {
        // By what is there: an enum read by its tag gives no float to who asks for an integer.
        field.deserialize_any(AnyWhole).map(Self)
    }
}

struct AnyWhole;

impl Visitor<'_> for AnyWhole {
    type Value = i64;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a whole number")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<i64, E> {
        Ok(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<i64, E> {
        Ok(i64::try_from(value).unwrap_or(i64::MAX))
    }

    /// JSON's integers become floats where no integer has room for them; those that are smaller
    /// were written as fractions.
    fn visit_f64<E: Error>(self, value: f64) -> Result<i64, E> {
        const FIRST_TOO_LARGE: f64 = 18_446_744_073_709_551_616.0;
        const LAST_TOO_SMALL: f64 = -9_223_372_036_854_775_808.0;
        if value >= FIRST_TOO_LARGE {
            Ok(i64::MAX)
        } else if value <= LAST_TOO_SMALL {
            Ok(i64::MIN)
        } else {
            Err(E::invalid_type(serde::de::Unexpected::Float(value), &self))
        }
    }
}
