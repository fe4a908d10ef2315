//! Quantities in a scenario file: texts with a unit, never bare numbers.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use units::{Bytes, ParseError, Rate, Time, parse_bytes, parse_rate, parse_time};

/// A [`Time`], [`Rate`] or [`Bytes`] that is written as a text with its unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity<T>(
    /// The quantity.
    pub T,
);

/// What can be written as a [`Quantity`].
pub trait Unit: Copy + fmt::Display {
    /// What it is called, with its article.
    const NAME: &'static str;
    /// How it is written.
    const EXAMPLE: &'static str;
    /// Its units, as alternatives of a regular expression.
    const UNITS: &'static str;
    /// Reads it.
    fn read(text: &str) -> Result<Self, ParseError>;
}

impl Unit for Time {
    const NAME: &'static str = "a time";
    const EXAMPLE: &'static str = "1.5us";
    const UNITS: &'static str = "ps|ns|us|ms|s";
    fn read(text: &str) -> Result<Time, ParseError> {
        parse_time(text)
    }
}

impl Unit for Rate {
    const NAME: &'static str = "a rate";
    const EXAMPLE: &'static str = "100Gbps";
    const UNITS: &'static str = "[KMGT]?bps";
    fn read(text: &str) -> Result<Rate, ParseError> {
        parse_rate(text)
    }
}

impl Unit for Bytes {
    const NAME: &'static str = "a size";
    const EXAMPLE: &'static str = "320KB";
    const UNITS: &'static str = "B|[KMG]i?B";
    fn read(text: &str) -> Result<Bytes, ParseError> {
        parse_bytes(text)
    }
}

impl<T: fmt::Display> Serialize for Quantity<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: Unit> Deserialize<'de> for Quantity<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quantity<T>, D::Error> {
        struct QuantityVisitor<T>(PhantomData<T>);
        impl<T: Unit> QuantityVisitor<T> {
            fn bare<E: de::Error>(self, number: impl fmt::Display) -> Result<Quantity<T>, E> {
                Err(E::custom(format_args!(
                    "{} needs its unit, in quotes, such as \"{}\"; got {number}",
                    T::NAME,
                    T::EXAMPLE
                )))
            }
        }
        impl<T: Unit> Visitor<'_> for QuantityVisitor<T> {
            type Value = Quantity<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} in quotes, such as \"{}\"", T::NAME, T::EXAMPLE)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity<T>, E> {
                T::read(text).map(Quantity).map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Quantity<T>, E> {
                self.bare(number)
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Quantity<T>, E> {
                self.bare(number)
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Quantity<T>, E> {
                self.bare(number)
            }
        }
        deserializer.deserialize_str(QuantityVisitor(PhantomData))
    }
}

/// A regular expression of how such a quantity is written.
pub(super) fn pattern<T: Unit>() -> String {
    format!(r"[0-9]+(\.[0-9]+)?\s*({})", T::UNITS)
}

impl<T: Unit> JsonSchema for Quantity<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed(T::NAME)
    }
    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": format!("^{}$", pattern::<T>()),
            "examples": [T::EXAMPLE],
        })
    }
}
