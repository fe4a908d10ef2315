//! What `summary.json` holds.

use crate::by_tag::TagStatistics;
use crate::record::record;
use crate::series::SeriesInfo;
use crate::statistics::SlowdownStatistics;
use crate::traces::TraceInfo;
use crate::unfinished::Unfinished;
use crate::warning::WarningInfo;
use std::collections::BTreeMap;

/// Version of the result directory's layout; a reader refuses a newer one.
pub const SCHEMA_VERSION: u32 = 2;

record! {
    deadlock_fields:
    /// A circle of links that PFC pauses, in which a run ended.
    pub struct Deadlock {
        /// Nodes, each of which is paused by the next one, and the last one by the first.
        pub nodes: Vec<String>,
        /// Simulated time, in nanoseconds, since which all of the links are paused.
        pub since_ns: u64,
    }
}

record! {
    summary_fields:
    /// A run in figures.
    pub struct Summary {
        /// Version of the layout of result directories.
        pub schema: u32,
        /// Name of the scenario.
        pub name: String,
        /// Name of the congestion-control scheme.
        pub scheme: String,
        /// Name of the preset of its parameters.
        pub preset: String,
        /// What to know before trusting a figure made with the scheme; empty where there is
        /// nothing.
        pub caveat: String,
        /// Seed of all random streams.
        pub seed: u64,
        /// Number of threads that were used.
        pub threads: u64,
        /// Version of rocelab that made the run.
        pub version: String,
        /// Whether the run was interrupted.
        pub partial: bool,
        /// Number of hosts in the network.
        pub hosts: u64,
        /// Number of switches in the network.
        pub switches: u64,
        /// Simulated time at the end of the run, in nanoseconds.
        pub simulated_ns: u64,
        /// How long the run took, in seconds of wall time, without set-up.
        pub wall_s: f64,
        /// Number of packets of any kind that were serialised, each counted at every port that sent
        /// it.
        pub packet_hops: u64,
        /// The packet-hops of data packets alone.
        pub data_packet_hops: u64,
        /// Packet-hops of any kind in a second of wall time.
        pub packet_hops_per_s: f64,
        /// Number of flows, completed or not.
        pub flows: u64,
        /// Number of flows that completed.
        pub flows_done: u64,
        /// Number of the other flows, by the cause that the end of the run shows.
        pub unfinished: Unfinished,
        /// The PFC deadlock in which the run ended; `None` if there is none.
        pub deadlock: Option<Deadlock>,
        /// Slowdown of the flows that completed.
        pub slowdown: SlowdownStatistics,
        /// Mean slowdown of the flows tagged `intra` over that of those tagged `inter`; `None`
        /// where there are not both.
        pub intra_inter_slowdown: Option<f64>,
        /// The flows of each tag, by its name; empty if there are more than 256 tags.
        pub by_tag: BTreeMap<String, TagStatistics>,
        /// The flows of each scheme, by its name, if a run has two; else empty.
        pub by_scheme: BTreeMap<String, TagStatistics>,
        /// Jain's fairness index of the goodputs of the flows that completed, each its size over
        /// its completion time.
        pub jain: Option<f64>,
        /// Number of PFC frames that pause, sent by all ports.
        pub pause_frames: u64,
        /// Time that ports had at least one class paused, in nanoseconds, summed over ports.
        pub paused_ns: u64,
        /// The parts of `paused_ns`, in nanoseconds, by the tier of the node whose ports paused:
        /// `hosts`, `tier1` (the switches nearest to hosts), `tier2` and so on. Ports of a host or
        /// tier that has none count 0.
        pub paused_by_tier_ns: BTreeMap<String, u64>,
        /// Number of packets that were dropped for want of room or of a path, in any class.
        pub drops: u64,
        /// Number of packets that were dropped in lossless classes; anything but 0 is an error of
        /// the set-up.
        pub lossless_drops: u64,
        /// Number of packets that were lost on links: damaged, or by a failure.
        pub lost_packets: u64,
        /// Number of data packets that reached their receiver ahead of others of their QP: after a
        /// loss, or by a faster path.
        pub out_of_order_packets: u64,
        /// The largest number of packets that were missing before one of these, itself included.
        pub max_reorder_packets: u64,
        /// The largest number of payload bytes that a receiver kept of a QP ahead of a gap.
        pub max_reorder_bytes: u64,
        /// Number of payload bytes that were sent again.
        pub retransmitted_bytes: u64,
        /// Number of payload bytes that arrived at a receiver that had them already.
        pub duplicate_bytes: u64,
        /// How often a QP acknowledged nothing for its timeout.
        pub timeouts: u64,
        /// Number of payload bytes that senders sent again because of a timeout.
        pub timeout_bytes: u64,
        /// The largest size of the egress queues of any port, in bytes.
        pub max_queue_bytes: u64,
        /// What the scheme, load balancing and limits of pauses counted, by name; empty where they
        /// count nothing.
        pub counters: BTreeMap<String, u64>,
        /// A hash of all flow rows and port counters: equal for equal outcomes.
        pub digest: String,
        /// The series that were recorded.
        pub series: Vec<SeriesInfo>,
        /// The traces that were recorded.
        pub traces: Vec<TraceInfo>,
        /// Simulated time, in picoseconds, from which on probes and traces recorded nothing, as
        /// there was no more room; `None` if they recorded to the end.
        pub recording_stopped_ps: Option<u64>,
        /// What the user should know, as text; unfinished flows come first.
        pub warnings: Vec<String>,
        /// What each of `warnings` is about, in the same order.
        pub warning_kinds: Vec<WarningInfo>,
    }
}
