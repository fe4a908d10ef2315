//! Nodes, the links between them, and when links fail.

use units::{Bytes, NodeId, Rate, Time};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
pub enum NodeKind {
    /// Sends and receives messages; never forwards.
    Host,
    /// Forwards.
    Switch,
}

/// A host or a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// 0 for a host; for a switch 1 ToR (or leaf), 2 aggregation (or spine), 3 core.
    pub tier: u8,
    /// The packet buffer of this switch, if it differs from that of other switches.
    pub buffer: Option<Bytes>,
}

/// A full-duplex link. The ports of a node are numbered in the order of the links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// Rate of each direction.
    pub rate: Rate,
    /// Propagation delay, above zero.
    pub delay: Time,
    /// Whether PFC may pause it. If not, packets that arrive over it are dropped when the switch's
    /// buffer is full.
    pub pfc: bool,
    /// Probability that a packet, also a PFC frame, arrives damaged and is discarded.
    pub error_rate: f64,
}

/// A time during which a link is slower than else, or damages more packets. Routes stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impairment {
    /// Index of the link.
    pub link: u32,
    /// When it begins, above zero.
    pub from: Time,
    /// When the link is again as it was; [`Time::NEVER`] for never.
    pub until: Time,
    /// The rate of each direction meanwhile, at most the link's own. `None`: the link's own.
    pub rate: Option<Rate>,
    /// The probability meanwhile that a packet is damaged. `None`: the link's own.
    pub error_rate: Option<f64>,
}

impl Impairment {
    /// Returns whether the link is so at `time`.
    pub fn is_at(&self, time: Time) -> bool {
        self.from <= time && time < self.until
    }
}

/// A time during which a link carries nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Index of the link.
    pub link: u32,
    /// When it fails, above zero.
    pub from: Time,
    /// When it carries packets again, after everything that was on it has arrived;
    /// [`Time::NEVER`] if it is not repaired.
    pub until: Time,
    /// Index of the scenario's `[[failure]]` that asks for it. The simulator does not use it.
    pub entry: usize,
}
