//! `[[probe]]`: the time series to record.

use super::{FlowSelector, Quantity};
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
    /// No sample after this time; default: to the end of the run. Nothing happens at the end itself, and
    /// so no sample either: for one at 5ms let the run go on a microsecond longer.
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

/// What a probe records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// Bytes queued at the egress of a port.
    Queue,
    /// Link time that a port used since the last sample, as a rate: packets of any kind, with headers and gaps
    /// between them. "goodput" is data alone.
    Throughput,
    /// Fraction of the link rate that a port used since the last sample.
    Utilisation,
    /// Whether a port is paused.
    Pause,
    /// The scheme's number for a port of a switch: a detector's state, a fair rate.
    PortState,
    /// Sending rate that the scheme allows a flow, the first of its QP that is not complete.
    Rate,
    /// Window that the scheme allows a flow.
    Window,
    /// DCQCN's alpha of a flow, or what a scheme has in its place.
    Alpha,
    /// Mean time that a flow's packets took from sender to receiver since the last sample.
    Latency,
    /// Bytes in the queue that the scheme keeps for a flow, and others like it, at its first switch.
    FlowQueue,
    /// Bytes that this queue may send now: the credits that it has.
    FlowCredits,
    /// Rate that this switch gives to the flow.
    FlowRate,
    /// Data that a flow's receiver got in order since the last sample, as a rate.
    Goodput,
    /// Bytes in a switch that came in through a port: its input queue.
    InputQueue,
}

impl ProbeKind {
    /// Whether it is recorded for each port, rather than for each flow.
    pub fn is_of_ports(self) -> bool {
        match self {
            ProbeKind::Queue
            | ProbeKind::Throughput
            | ProbeKind::Utilisation
            | ProbeKind::Pause
            | ProbeKind::PortState
            | ProbeKind::InputQueue => true,
            ProbeKind::Rate
            | ProbeKind::Window
            | ProbeKind::Alpha
            | ProbeKind::Latency
            | ProbeKind::FlowQueue
            | ProbeKind::FlowCredits
            | ProbeKind::FlowRate
            | ProbeKind::Goodput => false,
        }
    }

    /// Whether a port has a value of it for each priority.
    pub fn is_of_priorities(self) -> bool {
        matches!(self, ProbeKind::Queue | ProbeKind::InputQueue | ProbeKind::Pause)
    }

    /// Its name in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            ProbeKind::Queue => "queue",
            ProbeKind::Throughput => "throughput",
            ProbeKind::Utilisation => "utilisation",
            ProbeKind::Pause => "pause",
            ProbeKind::PortState => "port-state",
            ProbeKind::Rate => "rate",
            ProbeKind::Window => "window",
            ProbeKind::Alpha => "alpha",
            ProbeKind::Latency => "latency",
            ProbeKind::FlowQueue => "flow-queue",
            ProbeKind::FlowCredits => "flow-credits",
            ProbeKind::FlowRate => "flow-rate",
            ProbeKind::Goodput => "goodput",
            ProbeKind::InputQueue => "input-queue",
        }
    }
}
