//! What is known of a run before it begins, beside its messages and ports.

use serde::Serialize;

/// What is known of a run before it begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PlanChecks {
    /// The number of packets that all ports together would send. A core handles 5 to 30 million of
    /// them a second.
    pub packet_hops: u64,
    /// From the start of the first message to that of the last, in picoseconds. `None` if all start
    /// at once, or come as fast as the network carries them.
    pub span_ps: Option<u64>,
    /// For how long nodes are advanced on their own, in picoseconds: the shortest delay of links
    /// between them, at most a microsecond. With less of it packets cost more.
    pub window_ps: u64,
    /// The memory that the run needs, as estimated.
    pub memory_bytes: u64,
    /// The buffers of switches with shared memory, those with equal numbers in one row.
    pub buffers: Vec<BufferRow>,
    /// The marking thresholds of switch ports, by rate.
    pub marking: Vec<MarkingRow>,
    /// A circle of links that PFC could block for ever: the nodes that send on them, in order.
    pub buffer_cycle: Vec<String>,
    /// What the user should know before the run.
    pub warnings: Vec<String>,
}

/// The buffer of switches, and what PFC needs of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BufferRow {
    /// The tier of the switches.
    pub tier: u8,
    /// How many there are.
    pub switches: u64,
    /// The name of the first.
    pub first: String,
    /// The size of the buffer.
    pub buffer_bytes: u64,
    /// What headroom and reserves take of it.
    pub reserved_bytes: u64,
    /// The largest headroom of a port, for one lossless priority.
    pub max_headroom_bytes: u64,
    /// The number of ingresses, each a port and a priority, that PFC protects.
    pub lossless_ingresses: u32,
    /// The priority of which the threshold is; `None`: all that have no row of their own.
    pub priority: Option<u8>,
    /// The bytes at which an ingress pauses its peer while nothing else is stored. `None` if it
    /// never does.
    pub pause_threshold_bytes: Option<u64>,
    /// The priorities that PFC protects and of which the threshold is.
    pub priorities: Vec<u8>,
    /// Whether that threshold is fixed. Otherwise it falls as the buffer fills.
    pub is_fixed: bool,
    /// What all ingresses at a fixed threshold take, with headroom. `None` for other thresholds.
    pub needed_bytes: Option<u64>,
}

/// The marking thresholds of switch ports of a rate. Without thresholds nothing is marked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MarkingRow {
    /// The rate of the ports.
    pub rate_bps: u64,
    /// The priority whose queues they belong to; `None`: all that have no row of their own.
    pub priority: Option<u8>,
    /// Queue length from which packets are marked.
    pub kmin_bytes: Option<u64>,
    /// Queue length from which all packets are marked.
    pub kmax_bytes: Option<u64>,
    /// Probability of a mark at `kmax_bytes`.
    pub pmax: Option<f64>,
    /// The rate times the longest base round trip of a message: what fills the longest path.
    pub bdp_bytes: u64,
}
