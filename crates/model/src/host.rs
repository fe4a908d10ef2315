//! How hosts behave, apart from the scheme.

use crate::{Recovery, Spray};
use units::Time;

/// How the QPs of a host use its ports, if it has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
pub enum PortUse {
    /// A queue pair has one port, by its hash.
    #[default]
    Hash,
    /// The packets of a queue pair take turns over the ports that lead to the receiver, those that
    /// are paused left out.
    Spray,
}

/// How hosts behave, apart from the scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Data packets for each ACK, at least 1.
    pub ack_every: u32,
    /// Time without progress after which a sender sends again; [`Time::NEVER`]: it does not. With
    /// selective repeat the longer of its two timeouts.
    pub retransmit_timeout: Time,
    /// Time from the wire to the logic of the NIC.
    pub latency: Time,
    /// Whether receivers answer a gap with a NACK.
    pub nack: bool,
    /// Time after which they answer the same gap again, when more data arrives; [`Time::NEVER`]:
    /// they answer a gap once.
    pub nack_interval: Time,
    /// What is sent again after a loss, and what receivers keep.
    pub recovery: Recovery,
    /// How packets of a QP are spread over paths.
    pub spray: Spray,
    /// How many entropy values a QP uses, 1 to 65536; a power of two for [`Spray::Cycle`].
    pub entropies: u32,
    /// How QPs use the ports of a host that has several.
    pub ports: PortUse,
}
