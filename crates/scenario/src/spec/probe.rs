//! `[[probe]]`: the time series to record.

use super::{FlowSelector, Quantity};
use model::ProbeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Time;

/// A time series to record: one kind of value at regular times for chosen ports or flows. Or with
/// `preset` several of them, which are written out in the complete scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeSpec {
    /// Several probes at once. Only `interval`, `start` and `end` go with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<ProbePreset>,
    /// Its name: the series is written to `series/NAME.parquet`. Required without a preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it records. Required without a preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ProbeKind>,
    /// From one sample to the next. Required without a preset; with one the default is 10us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Quantity<Time>>,
    /// The first sample.
    #[serde(default)]
    pub start: Quantity<Time>,
    /// No sample after this time; default: to the end of the run. There is no sample at the end of
    /// the run itself: for one at 5ms let the run go on a microsecond longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Quantity<Time>>,
    /// All ports of these nodes; for a kind of flows: the flows that these hosts send. `tor0..tor3`
    /// and `tor*` stand for several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Ports, each written "node:peer" after the two nodes of its link. Ranges and patterns stand
    /// for several: `leaf*:spine0..spine1` are the ports of all leaves to two spines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// For `queue`, `input-queue` and `pause`: only this priority, 0 to 7; default: all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
    /// Flows, by number or by tag.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowSelector>,
}

/// A set of probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbePreset {
    /// What `rocelab view` shows: `queue`, `utilisation` and `paused-share` of all ports, and
    /// `rate` and `window` of all flows. The series are called `view-queue` and so on.
    View,
}
