//! `[[probe]]`: the time series to record.

use super::{FlowSelector, Quantity};
use model::ProbeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Time;

/// A time series to record: one kind of value at regular times for chosen ports or flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeSpec {
    /// Its name: the series is written to `series/NAME.parquet`.
    pub name: String,
    /// What it records.
    pub kind: ProbeKind,
    /// From one sample to the next.
    pub interval: Quantity<Time>,
    /// The first sample.
    #[serde(default)]
    pub start: Quantity<Time>,
    /// No sample after this time; default: to the end of the run. Nothing happens at the end
    /// itself, and so no sample either: for one at 5ms let the run go on a microsecond longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Quantity<Time>>,
    /// All ports of these nodes; for a kind of flows: the flows that these hosts send. `tor0..tor3`
    /// and `tor*` stand for several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Ports, each written "node:peer" after the two nodes of its link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Of `queue`, `input-queue` and `pause`, this priority alone, 0 to 7; default: all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
    /// Flows, by number or by tag.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowSelector>,
}
