//! `[trace]`: the single events to record.

use super::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Time;

/// What is recorded event by event. An event counts as five samples of probes for
/// `run.max_samples`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TraceSpec {
    /// Record each PFC frame where it arrives, in `traces/pfc.parquet`.
    pub pfc: bool,
    /// Record what happens to each packet at these nodes, in `traces/packets.parquet`. `tor0..tor3`
    /// and `tor*` stand for several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packets: Vec<String>,
    /// Also write the packets that these nodes send and receive to `traces/packets.pcapng`, which
    /// Wireshark reads: frames of RoCEv2, cut where their headers end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub capture: bool,
    /// Events from this time on.
    pub start: Quantity<Time>,
    /// No event after this time; default: to the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Quantity<Time>>,
}

impl TraceSpec {
    /// Whether nothing was said.
    pub(super) fn is_default(&self) -> bool {
        *self == TraceSpec::default()
    }
}
