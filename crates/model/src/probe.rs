//! Time series to record: what, where and when.

use units::{FlowId, NodeId, PortId, Time};

/// Defines [`ProbeKind`] and all that depends on a kind but its value, from one table.
macro_rules! probe_kinds {
    ($(
        $(#[$doc:meta])*
        $kind:ident = $name:literal, $unit:literal, $of:ident, $title:literal, $no_rows:literal;
    )*) => {
        /// What a probe records.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(
            feature = "serde",
            derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)
        )]
        pub enum ProbeKind {
            $($(#[$doc])* #[cfg_attr(feature = "serde", serde(rename = $name))] $kind,)*
        }

        impl ProbeKind {
            /// Every kind.
            pub const ALL: &'static [ProbeKind] = &[$(ProbeKind::$kind),*];

            /// Its name in scenario files; also the kind of its series.
            pub fn name(self) -> &'static str {
                match self { $(ProbeKind::$kind => $name,)* }
            }

            /// The unit of its values; empty for plain numbers.
            pub fn unit(self) -> &'static str {
                match self { $(ProbeKind::$kind => $unit,)* }
            }

            /// What an axis that shows it is called.
            pub fn title(self) -> &'static str {
                match self { $(ProbeKind::$kind => $title,)* }
            }

            /// Why a probe that looked may have no rows. `{scheme}` stands for the scheme's name.
            /// Empty if it has a row whenever it looks.
            pub fn no_rows(self) -> &'static str {
                match self { $(ProbeKind::$kind => $no_rows,)* }
            }

            fn of(self) -> Of {
                match self { $(ProbeKind::$kind => Of::$of,)* }
            }
        }
    };
}

/// What has values of a kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Each port.
    Ports,
    /// Each port; also each of its priorities.
    Priorities,
    /// Each flow.
    Flows,
}

// Columns: kind = name, unit, what has values, title of an axis, why there may be no rows.
probe_kinds! {
    /// Bytes queued at the egress of a port.
    Queue = "queue", "bytes", Priorities, "Queue length", "";
    /// Link time that a port used since the last sample, as a rate: packets of any kind, with
    /// headers and gaps between them. "goodput" is data alone.
    Throughput = "throughput", "bps", Ports, "Throughput", "";
    /// Fraction of the link rate that a port used since the last sample.
    Utilisation = "utilisation", "", Ports, "Utilisation", "";
    /// Whether a port is paused.
    Pause = "pause", "", Priorities, "Paused", "";
    /// Fraction of the time since the last sample in which the peer paused at least one priority
    /// of a port.
    PausedShare = "paused-share", "", Ports, "Paused share of the time", "";
    /// The scheme's number for a port of a switch: a detector's state, a fair rate.
    PortState = "port-state", "", Ports, "Port state",
        "the scheme {scheme} has no number for these ports";
    /// Sending rate that the scheme allows a flow, the first of its QP that is not complete.
    Rate = "rate", "bps", Flows, "Rate",
        "the scheme {scheme} tells no rate, or none of its flows was under way when it looked";
    /// Window that the scheme allows a flow.
    Window = "window", "bytes", Flows, "Window",
        "the scheme {scheme} tells no window, or none of its flows was under way when it looked";
    /// DCQCN's alpha of a flow, or what a scheme has in its place.
    Alpha = "alpha", "", Flows, "Congestion estimate (alpha probe)",
        "the scheme {scheme} tells no alpha, or none of its flows was under way when it looked";
    /// Mean time that a flow's packets took from sender to receiver since the last sample, without
    /// those that the receiver discarded.
    Latency = "latency", "s", Flows, "Packet latency",
        "no packet of its flows arrived while it looked, or all were discarded";
    /// Bytes in the queue that the scheme keeps for a flow, and others like it, at its first
    /// switch.
    FlowQueue = "flow-queue", "bytes", Flows, "Queue of the flow's own",
        "the scheme {scheme} tells no flow-queue, or none of its flows was under way when it \
         looked";
    /// Bytes that this queue may send now: the credits that it has.
    FlowCredits = "flow-credits", "bytes", Flows, "Credits",
        "the scheme {scheme} tells no flow-credits, or none of its flows was under way when it \
         looked";
    /// Rate that this switch gives to the flow.
    FlowRate = "flow-rate", "bps", Flows, "Rate given",
        "the scheme {scheme} tells no flow-rate, or none of its flows was under way when it \
         looked";
    /// New data that a flow's receiver took since the last sample, as a rate: what came in order,
    /// and what it keeps ahead of a gap.
    Goodput = "goodput", "bps", Flows, "Goodput", "";
    /// Bytes in a switch that came in through a port: its input queue.
    InputQueue = "input-queue", "bytes", Priorities, "Input queue length", "";
    /// Bytes that ConWeave holds back at a switch until packets come that were sent before them, by
    /// the port through which they will leave.
    ReorderQueue = "reorder-queue", "bytes", Ports, "Held back to restore order",
        "routing.balance is not \"conweave\", or these ports lead to no host";
    /// Bytes that the receiver of a flow keeps because earlier ones are missing.
    ReorderBuffer = "reorder-buffer", "bytes", Flows, "Kept ahead of a gap",
        "receivers keep no data that is out of order (host.reorder, host.recovery), or none of \
         its flows was under way when it looked";
}

impl ProbeKind {
    /// Whether it is recorded for each port, rather than for each flow.
    pub fn is_of_ports(self) -> bool {
        self.of() != Of::Flows
    }

    /// Whether a port has a value of it for each priority.
    pub fn is_of_priorities(self) -> bool {
        self.of() == Of::Priorities
    }
}

/// What a probe samples. In the scenario never empty, each target once, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeTargets {
    /// Egress ports.
    Ports(Vec<(NodeId, PortId)>),
    /// Flows, which are messages by index.
    Flows(Vec<FlowId>),
}

impl ProbeTargets {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            ProbeTargets::Ports(ports) => ports.len(),
            ProbeTargets::Flows(flows) => flows.len(),
        }
    }
}

/// A time series to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What it records.
    pub kind: ProbeKind,
    /// Of this priority alone, 0 to 7; `None`: of all.
    pub priority: Option<u8>,
    /// From one sample to the next; above zero.
    pub interval: Time,
    /// The first sample.
    pub start: Time,
    /// No sample after this time; [`Time::NEVER`]: to the end of the run.
    pub end: Time,
    /// Where it samples: ports for the kinds of ports, flows for the kinds of flows.
    pub targets: ProbeTargets,
}
