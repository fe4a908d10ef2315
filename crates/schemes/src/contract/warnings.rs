//! What a scheme says of its parameters, so that runs can warn of those that do harm.

use units::{Bytes, Rate, Time};

/// The lowest rate that a law gives a sender, set by the scheme's parameter `min_rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateFloor {
    /// The value of `min_rate`.
    pub rate: Rate,
    /// Whether a window slows senders down further.
    pub has_window: bool,
    /// The longest time between two packets whose measurements the law compares. `None`: any.
    pub max_packet_gap: Option<Time>,
}

/// The network of a run while no link fails. For
/// [`Scheme::warnings`](super::Scheme::warnings).
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkFacts {
    /// The name of the scheme that warns, for its texts.
    pub scheme: &'static str,
    /// Payload bytes of a full packet.
    pub payload: Bytes,
    /// Rate and propagation delay of each link of a host.
    pub host_links: Vec<(Rate, Time)>,
    /// The lowest rate of a link.
    pub min_link_rate: Rate,
    /// The highest rate of a link.
    pub max_link_rate: Rate,
    /// The largest base round trip of any pair of hosts.
    pub network_rtt: Time,
    /// The largest product of base round trip and lowest rate of any pair of hosts, if known.
    pub network_bdp: Option<Bytes>,
}
