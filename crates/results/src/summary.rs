//! What `summary.json` holds.

use crate::by_tag::TagStatistics;
use crate::series::SeriesInfo;
use crate::statistics::SlowdownStatistics;
use crate::traces::TraceInfo;
use crate::unfinished::Unfinished;
use crate::warning::WarningKind;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the result directory's layout; a reader refuses a newer one.
pub const SCHEMA_VERSION: u32 = 2;

/// A circle of links that PFC pauses, in which a run ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deadlock {
    /// Nodes, each of which is paused by the next one, and the last one by the first.
    pub nodes: Vec<String>,
    /// Since when all of the links are paused.
    pub since_ns: u64,
}

/// A run in figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// [`SCHEMA_VERSION`].
    pub schema: u32,
    /// The scenario's name.
    pub name: String,
    /// The congestion-control scheme.
    pub scheme: String,
    /// Its preset.
    pub preset: String,
    /// What to know before trusting a figure made with the scheme; empty where there is nothing.
    pub caveat: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Threads that were used.
    pub threads: u64,
    /// Version of rocelab.
    pub version: String,
    /// The run was interrupted.
    pub partial: bool,
    /// Hosts in the network.
    pub hosts: u64,
    /// Switches in the network.
    pub switches: u64,
    /// How far simulated time went.
    pub simulated_ns: u64,
    /// How long the run took, set-up left out.
    pub wall_s: f64,
    /// Packets of any kind serialised, each counted at every port that sent it.
    pub packet_hops: u64,
    /// Packet-hops of data packets alone.
    pub data_packet_hops: u64,
    /// `packet_hops` over `wall_s`.
    pub packet_hops_per_s: f64,
    /// Flows that were posted or waited to be.
    pub flows: u64,
    /// Flows that completed.
    pub flows_done: u64,
    /// The others, by the cause that the end of the run shows.
    pub unfinished: Unfinished,
    /// The deadlock in which the run ended, if it did.
    pub deadlock: Option<Deadlock>,
    /// Slowdown of the flows that completed.
    pub slowdown: SlowdownStatistics,
    /// Mean slowdown of the flows tagged `intra` over that of those tagged `inter`; `None` where
    /// there are not both.
    pub intra_inter_slowdown: Option<f64>,
    /// The flows of each tag, by its name; empty if there are more than
    /// [`MAX_TAGS`](crate::MAX_TAGS) tags.
    pub by_tag: BTreeMap<String, TagStatistics>,
    /// The flows of each scheme, by its name, where a run has two; else empty.
    pub by_scheme: BTreeMap<String, TagStatistics>,
    /// Jain's fairness index of the goodputs of the flows that completed, each its size over its
    /// completion time.
    pub jain: Option<f64>,
    /// Pause frames sent by all ports.
    pub pause_frames: u64,
    /// Time that ports had at least one class paused, summed over ports.
    pub paused_ns: u64,
    /// `paused_ns` by the tier of the node whose ports were paused: `hosts`, `tier1` (the switches
    /// nearest to hosts), `tier2` and so on. Ports of a host or tier that has none count 0.
    pub paused_by_tier_ns: BTreeMap<String, u64>,
    /// Packets dropped, in any class.
    pub drops: u64,
    /// Of these, those in lossless classes; anything but 0 is an error of the set-up.
    pub lossless_drops: u64,
    /// Packets lost on links: damaged, or by a failure.
    pub lost_packets: u64,
    /// Data packets that reached their receiver ahead of others of their QP: after a loss, or by a
    /// faster path.
    pub out_of_order_packets: u64,
    /// The most packets that were missing before one of these, it counted.
    pub max_reorder_packets: u64,
    /// The most payload bytes that a receiver kept of a QP ahead of a gap.
    pub max_reorder_bytes: u64,
    /// Payload bytes that were sent again.
    pub retransmitted_bytes: u64,
    /// Payload bytes that arrived at a receiver that had them already.
    pub duplicate_bytes: u64,
    /// How often a QP acknowledged nothing for its timeout.
    pub timeouts: u64,
    /// Payload bytes that senders sent again because of a timeout.
    pub timeout_bytes: u64,
    /// The longest any port's egress queues were.
    pub max_queue_bytes: u64,
    /// What the scheme counted, by name; empty where it counts nothing.
    pub counters: BTreeMap<String, u64>,
    /// Equal for equal outcomes.
    pub digest: String,
    /// The series that were recorded.
    pub series: Vec<SeriesInfo>,
    /// The traces that were recorded.
    pub traces: Vec<TraceInfo>,
    /// What the user should know; unfinished flows come first.
    pub warnings: Vec<String>,
    /// The kind of each warning, in the same order.
    pub warning_kinds: Vec<WarningKind>,
}
