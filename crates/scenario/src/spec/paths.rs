//! Keys of `[host]` and `[routing]` that are words, numbers or quantities, and their tables.

use super::Quantity;
use super::quantity::pattern;
use super::word_or_value::{visit_count, word_or_quantity};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use units::{Bytes, Time};

/// A length of a queue pair's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanSpec {
    /// The bandwidth-delay product of the longest path.
    Bdp,
    /// No limit.
    Unlimited,
    /// A number of packets.
    Packets(u32),
    /// Payload bytes.
    Size(Bytes),
}

/// When a packet is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossAfter {
    /// When a later one has arrived.
    Gap,
    /// When one has arrived that is a bandwidth-delay product later in the stream.
    Bdp,
    /// Never; a timeout tells.
    Timeout,
    /// When one has arrived that is this many packets later in the stream.
    Packets(u32),
    /// When one has arrived that left this much later.
    Time(Time),
}

/// A type that is a word, a number of packets or a quantity.
macro_rules! word_count_or_quantity {
    ($type:ident, $($word:literal = $named:ident),+; $quantity:ident($of:ty), $example:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $($type::$named => serializer.serialize_str($word),)+
                    $type::Packets(packets) => serializer.serialize_u32(*packets),
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
                            $("\"", $word, "\" or "),+, "a number of packets or a quantity ",
                            "such as ", $example
                        ))
                    }
                    visit_count!($type::Packets);
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        let words = [$(($word, $type::$named)),+];
                        word_or_quantity(text, &words, $type::$quantity, &self)
                    }
                }
                deserializer.deserialize_any(WordVisitor)
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
                let pattern = format!(concat!("^(", $($word, "|"),+, "{})$"), pattern::<$of>());
                json_schema!({
                    "anyOf": [
                        { "type": "integer", "minimum": 0, "maximum": u32::MAX },
                        { "type": "string", "pattern": pattern },
                    ],
                })
            }
        }
    };
}
word_count_or_quantity!(SpanSpec, "bdp" = Bdp, "unlimited" = Unlimited; Size(Bytes), "\"64KB\"");
word_count_or_quantity!(
    LossAfter, "gap" = Gap, "bdp" = Bdp, "timeout" = Timeout; Time(Time), "\"20us\""
);

/// How switches choose among next hops.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum BalanceKind {
    /// By a hash: all packets of a flow take one path.
    #[default]
    Ecmp,
    /// Each data packet takes a next hop at random (random packet spraying).
    Random,
    /// Data packets take the next hops in turn.
    RoundRobin,
    /// Each data packet takes the next hop with the least backlog (adaptive routing); with
    /// `flowlet_gap`, each flowlet does.
    Adaptive,
    /// Each data packet takes the next hop with the least backlog among some that are drawn and
    /// some that were good before (DRILL, SIGCOMM 2017).
    Drill,
    /// Each flowlet takes a next hop at random (LetFlow, NSDI 2017).
    Letflow,
    /// Each flowlet takes the uplink whose path is least congested, as switches measure it and
    /// leaves tell each other (CONGA, SIGCOMM 2014). In leaf-spine networks only.
    Conga,
    /// A flow takes another path when its present one is slow, and the switch of the receiver's
    /// rack puts packets back in order (ConWeave, SIGCOMM 2023).
    Conweave,
}

/// Parameters of `balance = "conga"`; defaults as in the paper.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CongaSpec {
    /// How often a port's measure of the bytes that it sends decays.
    pub dre_period: Quantity<Time>,
    /// The share of it that decays, above 0 and at most 1. The measure covers the last
    /// `dre_period / alpha`.
    pub alpha: f64,
    /// Bits of a measure that packets carry, 1 to 8.
    pub bits: u32,
    /// A path of which nothing has been heard for this long counts as idle.
    pub age: Quantity<Time>,
}

impl Default for CongaSpec {
    fn default() -> CongaSpec {
        CongaSpec {
            dre_period: Quantity(Time::from_us(20)),
            alpha: 0.125,
            bits: 3,
            age: Quantity(Time::from_ms(10)),
        }
    }
}

/// Parameters of `balance = "conweave"`; defaults as in the paper's leaf-spines.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConWeaveSpec {
    /// How long a reply may take beyond the round trip between the switches of two racks while
    /// nothing waits. A flow whose reply is later takes another path.
    pub reply_extra: Quantity<Time>,
    /// For how long flows do not move to a path on which a packet was marked.
    pub path_busy: Quantity<Time>,
    /// A flow that sends nothing for longer than this starts over, and may take another path at
    /// once.
    pub inactive: Quantity<Time>,
    /// How much later than expected the last packet of an old path may come before those of the new
    /// one are released; default 16us, but 64us with PFC in networks of three tiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_extra: Option<Quantity<Time>>,
    /// How long it may take if no packet of that path has come.
    pub resume_default: Quantity<Time>,
    /// Queues for reordering at each port of a switch to a host.
    pub queues: u32,
    /// Paths that are drawn, 1 to 64; the first one that is not busy is taken.
    pub samples: u32,
    /// What data packets carry for it on the wire, at most 64B.
    pub header: Quantity<Bytes>,
    /// Whether packets that wait for a tail have memory of their own, as in the authors'
    /// simulator. Otherwise they take room in the switch's buffer, and PFC counts them.
    pub own_memory: bool,
}

impl Default for ConWeaveSpec {
    fn default() -> ConWeaveSpec {
        ConWeaveSpec {
            reply_extra: Quantity(Time::from_us(4)),
            path_busy: Quantity(Time::from_us(8)),
            inactive: Quantity(Time::from_us(300)),
            resume_extra: None,
            resume_default: Quantity(Time::from_us(200)),
            queues: 31,
            samples: 2,
            header: Quantity(Bytes::new(4)),
            own_memory: false,
        }
    }
}

/// How senders spread the packets of a queue pair over paths.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SprayKind {
    /// No spraying: all packets have the queue pair's UDP source port.
    #[default]
    Off,
    /// Each packet has an entropy value at random.
    Random,
    /// Each value once in a random order, then again in another.
    Cycle,
    /// Values of packets that were acknowledged without a mark, each once; else at random (REPS).
    Reps,
    /// Values in turn, but those that were lately marked or lost are skipped.
    Bitmap,
    /// The next value after each `host.cell` of the stream (Presto, SIGCOMM 2015).
    Flowcell,
}

/// Parameters of `spray = "reps"`; defaults as in the REPS authors' experiments.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RepsSpec {
    /// Values that are kept for reuse, 1 to 1024.
    pub cache: u32,
    /// After a timeout, only kept values are used for this long; 0ns: at no time.
    pub freeze: Quantity<Time>,
    /// After that, values are drawn for this many packets.
    pub explore: u32,
}

impl Default for RepsSpec {
    fn default() -> RepsSpec {
        RepsSpec { cache: 8, freeze: Quantity(Time::from_ms(10)), explore: 16 }
    }
}
