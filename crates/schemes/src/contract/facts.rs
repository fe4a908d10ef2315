use super::LinkRates;
use units::{Bytes, MixSide, NodeId, PortId, Priority, Rate, Time};
use wire::Profile;

/// What a reaction point may know of the path of its QP. Given when the QP opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFacts {
    /// The receiver, by its index among the hosts of the network.
    pub receiver: u32,
    /// Which scheme of a [`Mix`](super::Mix) the QP has. Without a mix, the first.
    pub side: MixSide,
    /// Rate of the sender's port.
    pub line_rate: Rate,
    /// Lowest rate on the path.
    pub bottleneck_rate: Rate,
    /// Round trip of a full packet and its ACK in the empty network.
    pub base_rtt: Time,
    /// The largest base round trip of any pair of hosts.
    pub network_rtt: Time,
    /// What the sender's port sends in `network_rtt`. With the quirk `one_way_rtt`: the largest
    /// product of round trip and lowest rate of any pair of hosts.
    pub network_bdp: Bytes,
    /// Switches on the path.
    pub switches: u32,
    /// Payload bytes of a full packet.
    pub payload: Bytes,
    /// Wire bytes of a full packet.
    pub packet_bytes: Bytes,
    /// The rates that [`RateCode`](super::RateCode)s stand for.
    pub rates: LinkRates,
}

/// How many bytes packets take on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireFacts {
    /// How sizes are counted.
    pub profile: Profile,
    /// A full data packet.
    pub packet_bytes: Bytes,
    /// An ACK.
    pub ack_bytes: Bytes,
    /// The shortest packet of a scheme's own, such as a CNP or a credit.
    pub min_control_bytes: Bytes,
}

/// What a scheme may know of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFacts {
    /// The host's node.
    pub node: NodeId,
    /// Rate of its fastest port.
    pub line_rate: Rate,
    /// The largest base round trip of any pair of hosts.
    pub network_rtt: Time,
    /// Sizes on the wire.
    pub wire: WireFacts,
    /// Seed of the host's own random stream.
    pub seed: u64,
}

/// What a congestion point may know of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortFacts {
    /// Which port of the switch.
    pub port: PortId,
    /// Rate of its link.
    pub rate: Rate,
    /// Propagation delay of its link.
    pub delay: Time,
    /// The node at the other end.
    pub peer: NodeId,
    /// Whether the peer is a host.
    pub peer_is_host: bool,
    /// Queue length at which an ingress pauses its peer, if the threshold is fixed. Single classes
    /// may have other values of this and the next.
    pub xoff: Bytes,
    /// Queue length at which an ingress ends the pause, if the threshold is fixed.
    pub xon: Bytes,
    /// Xoff - Xon: how far the queue must fall below the length at which the ingress paused its
    /// peer before it ends the pause. The largest of all classes that PFC protects. Also set if
    /// thresholds are not fixed.
    pub resume_offset: Bytes,
    /// By priority: the queue length up to which RED marks nothing here; unlimited without RED.
    pub kmin: [Bytes; 8],
    /// From the start of a full data packet here to its place in a queue of the peer.
    pub transit: Time,
}

/// Where a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLocation {
    /// The node at the other end of its first port: its ToR switch, if it is attached to one.
    pub tor: NodeId,
    /// Number of its rack. Racks are numbered in the order of these nodes, one for each.
    pub rack: u32,
    /// Number of its pod. Racks that reach each other below tier 3 are in one pod.
    pub pod: u32,
    /// Rate of its (first) port.
    pub rate: Rate,
    /// How many ports it has.
    pub ports: u16,
}

/// What a scheme may know of a switch.
#[derive(Clone, Copy, Debug)]
pub struct SwitchFacts<'a> {
    /// The switch.
    pub node: NodeId,
    /// 1 for a ToR, 2 and up for the layers above.
    pub tier: u8,
    /// Its ports, by number.
    pub ports: &'a [PortFacts],
    /// Where each host of the network is, by its index among the hosts.
    pub hosts: &'a [HostLocation],
    /// The largest base round trip of any pair of hosts.
    pub network_rtt: Time,
    /// Wire bytes of a full data packet.
    pub packet_bytes: Bytes,
    /// What codes of rates stand for.
    pub rates: &'a LinkRates,
    /// Seed of the switch's own random stream.
    pub seed: u64,
}

/// How a class treats a full queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// PFC keeps it from overflowing.
    Lossless,
    /// At most this many packets wait at a port; the rest are dropped and counted apart.
    DropTail(u32),
}

/// Gives the traffic classes of a scheme with parameters `P`.
pub type Classes<P> = fn(params: &P, wire: &WireFacts) -> Vec<ClassSpec>;

/// A traffic class that a scheme needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassSpec {
    /// Its priority.
    pub priority: Priority,
    /// What happens when it is full.
    pub limit: QueueLimit,
    /// Share of the link's rate that it may take at most, in wire bytes, within
    /// [`SHARES`](Self::SHARES); 1 for all of it.
    pub share: f64,
    /// Depth of the token bucket in packets, if the share is below 1: up to this many packets leave
    /// back to back after a silence. 1, the least, spaces all packets.
    pub burst: u32,
    /// It has priority over data, ACKs and control packets; a run in which it has not is refused.
    pub first: bool,
}

impl ClassSpec {
    /// The shares of a link's rate that a class may have. A run with another one is refused.
    pub const SHARES: std::ops::RangeInclusive<f64> = 1.0 / 65_536.0..=1.0;
}
