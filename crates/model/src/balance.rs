//! How switches choose among next hops that are equally good.

use units::{Bytes, Time};

/// How a switch chooses the next hop of a data packet. Other packets take the hash of ECMP.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Balance {
    /// By a hash of the five-tuple.
    #[default]
    Ecmp,
    /// At random for each packet.
    Random,
    /// In turn for each packet, by next hops that are used together.
    RoundRobin,
    /// The least backlog.
    Adaptive {
        /// Backlogs between two neighbours of these lengths count as equal; empty: none do.
        levels: Vec<Bytes>,
        /// Backlogs are measured again at the first packet after each multiple of this time; zero:
        /// at each packet.
        update: Time,
        /// A flow keeps its next hop until it pauses for longer than this; zero: each packet
        /// chooses.
        gap: Time,
    },
    /// The least backlog of some next hops drawn at random and some that were good before.
    Drill {
        /// How many are drawn; above zero.
        samples: u32,
        /// How many are remembered.
        memory: u32,
    },
    /// At random; a flow keeps its next hop until it pauses for longer than this.
    LetFlow {
        /// The pause.
        gap: Time,
    },
    /// The least congested of the paths that the uplinks of a leaf lead to, as all switches on them
    /// measure it.
    Conga(Conga),
    /// A path that the switch of the sender's rack chooses, until it is slow; the switch of the
    /// receiver's rack puts packets back in order.
    ConWeave(ConWeave),
}

/// Parameters of CONGA.
#[derive(Clone, Debug, PartialEq)]
pub struct Conga {
    /// A flow keeps its uplink until it pauses for longer than this.
    pub gap: Time,
    /// How often the measure of what a link carries decays; above zero.
    pub dre_period: Time,
    /// The share of it that decays; above 0, at most 1.
    pub alpha: f64,
    /// Bits of a measure that a packet carries, 1 to 8.
    pub bits: u8,
    /// After this time without news a path counts as idle.
    pub age: Time,
}

/// Parameters of ConWeave.
#[derive(Clone, Debug, PartialEq)]
pub struct ConWeave {
    /// How long a reply may take beyond the round trip between the switches of two racks.
    pub reply_extra: Time,
    /// For how long a path counts as busy on which a packet was marked.
    pub path_busy: Time,
    /// After this time without packets a flow starts over.
    pub inactive: Time,
    /// How much later than expected the last packet of an old path may come.
    pub resume_extra: Time,
    /// How long it may take if no packet of that path has come.
    pub resume_default: Time,
    /// Queues for reordering at each port; above zero.
    pub queues: u32,
    /// How many paths are drawn to find one that is not busy; above zero.
    pub samples: u32,
    /// Bytes that data packets have for it.
    pub header: u32,
    /// Packets that wait for others have memory of their own; otherwise they take room in the
    /// buffer of the switch.
    pub own_memory: bool,
}

impl Balance {
    /// Whether switches write something into packets that others read.
    pub fn has_tags(&self) -> bool {
        matches!(self, Balance::Conga(_) | Balance::ConWeave(_))
    }

    /// Bytes that a data packet has for it on the wire.
    pub fn data_bytes(&self) -> u32 {
        if let Balance::ConWeave(ConWeave { header, .. }) = self { *header } else { 0 }
    }

    /// Whether switches remember the path of a flow, and move it to another one.
    pub fn moves_flows(&self) -> bool {
        match self {
            Balance::LetFlow { .. } | Balance::Conga(_) | Balance::ConWeave(_) => true,
            Balance::Adaptive { gap, .. } => *gap > Time::ZERO,
            Balance::Ecmp | Balance::Random | Balance::RoundRobin | Balance::Drill { .. } => false,
        }
    }

    /// Whether packets of a flow may take different paths without a pause between them.
    pub fn is_per_packet(&self) -> bool {
        match self {
            Balance::Ecmp | Balance::ConWeave(_) => false,
            Balance::Random | Balance::RoundRobin | Balance::Drill { .. } => true,
            Balance::Adaptive { gap, .. }
            | Balance::LetFlow { gap }
            | Balance::Conga(Conga { gap, .. }) => *gap == Time::ZERO,
        }
    }
}
