//! `[[receiver]]`: hosts that take data more slowly than it arrives.

use super::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Time};

/// Hosts whose NIC passes data on more slowly than the link for a while: to a slow bus, or not at
/// all because something stalls. Data waits in a buffer of the NIC. Before that is full, the NIC
/// pauses its link by PFC, and so spreads congestion that no switch has caused. Without PFC
/// (`pfc.enabled = false`) what finds no room is dropped. ACKs leave when data arrives. A host may
/// have several entries, at times that do not overlap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiverSpec {
    /// The hosts; `h0..h15` and `h*` stand for several.
    pub hosts: Vec<String>,
    /// How fast each passes data on, in bytes on the wire; 0bps: not at all.
    pub rate: Quantity<Rate>,
    /// The size of the NIC's buffer.
    #[serde(default = "default_buffer")]
    pub buffer: Quantity<Bytes>,
    /// The NIC pauses its link at this many bytes; default: half of `buffer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Quantity<Bytes>>,
    /// It resumes the link at this many bytes; default: three quarters of `xoff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xon: Option<Quantity<Bytes>>,
    /// When that begins.
    #[serde(default = "from_the_start")]
    pub at: Quantity<Time>,
    /// When the host is as fast as its link again, and its buffer empty; default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Quantity<Time>>,
}

fn default_buffer() -> Quantity<Bytes> {
    Quantity(Bytes::new(1_000_000))
}

fn from_the_start() -> Quantity<Time> {
    Quantity(Time::ZERO)
}
