//! Values that are a word or something else.

use super::quantity::pattern;
use super::{ParamValue, Quantity, Unit};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use units::{Bytes, Time};

/// The functions of a visitor that take a whole number.
macro_rules! visit_count {
    ($type:ident::$count:ident) => {
        fn visit_i64<E: de::Error>(self, number: i64) -> Result<$type, E> {
            let count = number.try_into().map($type::$count);
            count.map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
        }
        fn visit_u64<E: de::Error>(self, number: u64) -> Result<$type, E> {
            let count = number.try_into().map($type::$count);
            count.map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
        }
    };
}
pub(super) use visit_count;

/// Reads one of some words, or a quantity.
pub(super) fn word_or_quantity<T: Copy, Q: Unit, E: de::Error>(
    text: &str,
    words: &[(&str, T)],
    quantity: fn(Q) -> T,
    expected: &dyn de::Expected,
) -> Result<T, E> {
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(*value);
    }
    // A text without digits is a misspelt word.
    if !text.contains(|c: char| c.is_ascii_digit()) {
        return Err(E::invalid_value(de::Unexpected::Str(text), expected));
    }
    Q::read(text).map(quantity).map_err(E::custom)
}

/// When a run stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopSpec {
    /// When every message has completed, or at the limit.
    FlowsDone,
    /// At a simulated time.
    At(Time),
}

/// The buffer reserved for what still arrives after a pause was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// As much as each link can still deliver, from its rate and delay.
    Auto,
    /// Two times what the cable holds and two packets, as in ConWeave's simulator.
    TwoBdp,
    /// Three times what the cable holds, as in the HPCC simulator.
    ThreeBdp,
    /// A fixed size, equal at every port.
    Fixed(Bytes),
}

impl Headroom {
    /// The two packets of [`Headroom::TwoBdp`].
    pub const TWO_PACKETS: Bytes = Bytes::new(2 * 1048);
}

/// The time until a pause takes hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseSpec {
    /// The upper bound of IEEE 802.3 for the rate of the link.
    Ieee8023,
    /// This time at all ports.
    After(Time),
}

/// How long a pause lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PauseTimeSpec {
    /// Quanta of 512 bits.
    Quanta(u16),
    /// A time, at links of all rates.
    Time(Quantity<Time>),
}

impl<'de> Deserialize<'de> for PauseTimeSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PauseTimeSpec, D::Error> {
        struct PauseTimeVisitor;
        impl Visitor<'_> for PauseTimeVisitor {
            type Value = PauseTimeSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of quanta, 1 to 65535, or a time such as \"5us\"")
            }
            visit_count!(PauseTimeSpec::Quanta);
            fn visit_str<E: de::Error>(self, text: &str) -> Result<PauseTimeSpec, E> {
                word_or_quantity(text, &[], |time| PauseTimeSpec::Time(Quantity(time)), &self)
            }
        }
        deserializer.deserialize_any(PauseTimeVisitor)
    }
}

impl JsonSchema for PauseTimeSpec {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("PauseTimeSpec")
    }
    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": u16::MAX },
                { "type": "string", "pattern": format!("^{}$", pattern::<Time>()) },
            ],
        })
    }
}

/// When a pause is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshSpec {
    /// With each packet that arrives while the queue is long enough to pause.
    Arrivals,
    /// After this long.
    After(Time),
}

/// A time after which something is done, or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// It is not done.
    Never,
    /// After this long.
    After(Time),
}

/// The priority of ACKs and NACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AckPriority {
    /// One of their own.
    Priority(#[schemars(range(max = 7))] u8),
    /// That of the data which they answer.
    Data(DataPriority),
}

/// The word `data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DataPriority {
    /// As the data.
    Data,
}

impl<'de> Deserialize<'de> for AckPriority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AckPriority, D::Error> {
        struct ClassVisitor;
        impl Visitor<'_> for ClassVisitor {
            type Value = AckPriority;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a priority or \"data\"")
            }
            visit_count!(AckPriority::Priority);
            fn visit_str<E: de::Error>(self, text: &str) -> Result<AckPriority, E> {
                if text == "data" {
                    return Ok(AckPriority::Data(DataPriority::Data));
                }
                Err(E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(ClassVisitor)
    }
}

/// A type that is either a word or a quantity.
macro_rules! word_or_quantity {
    ($type:ident, $($word:literal = $named:ident),+; $quantity:ident($of:ty), $example:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $($type::$named => serializer.serialize_str($word),)+
                    $type::$quantity(quantity) => Quantity(*quantity).serialize(serializer),
                }
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                struct WordVisitor;
                impl Visitor<'_> for WordVisitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!(
                            $("\"", $word, "\" or "),+, "a quantity such as ", $example
                        ))
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        let words = [$(($word, $type::$named)),+];
                        word_or_quantity(text, &words, $type::$quantity, &self)
                    }
                    /// Reads `802.3`, which is a number where it has no quotes.
                    fn visit_f64<E: de::Error>(self, number: f64) -> Result<$type, E> {
                        self.visit_str(&number.to_string())
                    }
                }
                deserializer.deserialize_str(WordVisitor)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($type))
            }
            fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "pattern": format!(concat!("^(", $($word, "|"),+, "{})$"), pattern::<$of>()),
                })
            }
        }
    };
}
word_or_quantity!(StopSpec, "flows-done" = FlowsDone; At(Time), "\"2ms\"");
word_or_quantity!(
    Headroom, "auto" = Auto, "2bdp" = TwoBdp, "3bdp" = ThreeBdp; Fixed(Bytes), "\"37.5KB\""
);
word_or_quantity!(ResponseSpec, "802.3" = Ieee8023; After(Time), "\"2us\"");
word_or_quantity!(RefreshSpec, "arrivals" = Arrivals; After(Time), "\"2us\"");
word_or_quantity!(Timeout, "never" = Never; After(Time), "\"1ms\"");

/// Hosts: a number of them, chosen at random, or a list of names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HostSet {
    /// This number of hosts, chosen at random by the seed.
    Count(u32),
    /// These; `h0..h15` and `h*` stand for several.
    Names(Vec<String>),
}

impl<'de> Deserialize<'de> for HostSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HostSet, D::Error> {
        struct HostSetVisitor;
        impl<'de> Visitor<'de> for HostSetVisitor {
            type Value = HostSet;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of hosts or a list of host names")
            }
            visit_count!(HostSet::Count);
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<HostSet, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(HostSet::Names(names))
            }
        }
        deserializer.deserialize_any(HostSetVisitor)
    }
}

/// Flows of a probe: one by its number, or all with a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FlowSelector {
    /// The flow with this number, in order of start.
    Index(u32),
    /// Every flow with this tag.
    Tag(String),
}

impl<'de> Deserialize<'de> for FlowSelector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FlowSelector, D::Error> {
        struct SelectorVisitor;
        impl Visitor<'_> for SelectorVisitor {
            type Value = FlowSelector;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of a flow or the tag of several")
            }
            visit_count!(FlowSelector::Index);
            fn visit_str<E: de::Error>(self, tag: &str) -> Result<FlowSelector, E> {
                Ok(FlowSelector::Tag(tag.to_owned()))
            }
        }
        deserializer.deserialize_any(SelectorVisitor)
    }
}

impl<'de> Deserialize<'de> for ParamValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ParamValue, D::Error> {
        struct ParamVisitor;
        impl Visitor<'_> for ParamVisitor {
            type Value = ParamValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, true or false, or a text")
            }
            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<ParamValue, E> {
                Ok(ParamValue::Flag(flag))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<ParamValue, E> {
                Ok(u64::try_from(number)
                    .map_or(ParamValue::Number(number as f64), ParamValue::Count))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<ParamValue, E> {
                Ok(ParamValue::Count(number))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<ParamValue, E> {
                Ok(ParamValue::Number(number))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ParamValue, E> {
                Ok(ParamValue::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(ParamVisitor)
    }
}
