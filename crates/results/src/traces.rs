//! Traces: single events of a run.

use crate::column::{names, nullable, values};
use crate::record::record;
use arrow_array::{RecordBatch, UInt32Array};
use arrow_schema::ArrowError;
use std::sync::Arc;

record! {
    trace_fields:
    /// A trace that was recorded.
    pub struct TraceInfo {
        /// Name of the trace, and of its file.
        pub name: String,
        /// Number of rows.
        pub rows: u64,
        /// Simulated time of the first events that were recorded, in picoseconds.
        pub start_ps: u64,
        /// Simulated time of the last events that were recorded, in picoseconds: the end that was
        /// asked for, that of the run, or when there was no more room.
        pub end_ps: u64,
    }
}

/// PFC frames where they arrived, as columns of equal length, by time, node, port.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PfcTrace {
    /// When each arrived.
    pub time_ps: Vec<u64>,
    /// Where: index into `node_names`.
    pub node: Vec<u32>,
    /// The port that it tells to pause or to go on.
    pub port: Vec<u16>,
    /// Who sent it, the node at the other end: index into `node_names`.
    pub peer: Vec<u32>,
    /// The priority that it is about.
    pub priority: Vec<u8>,
    /// It pauses, or else resumes.
    pub pause: Vec<bool>,
    /// The names of the nodes.
    pub node_names: Arc<Vec<String>>,
}

impl PfcTrace {
    /// Its name.
    pub const NAME: &'static str = "pfc";

    /// As Arrow, in the order of the rows.
    ///
    /// # Errors
    /// If the columns differ in length.
    pub fn to_record_batch(&self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_from_iter_with_nullable([
            values("time_ps", &self.time_ps),
            names("node", &self.node, &self.node_names),
            values("port", &self.port),
            names("peer", &self.peer, &self.node_names),
            values("priority", &self.priority),
            values("pause", &self.pause),
        ])
    }
}

/// What happened to packets, as columns of equal length, by time, node, port.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketTrace {
    /// When.
    pub time_ps: Vec<u64>,
    /// Where: index into `node_names`.
    pub node: Vec<u32>,
    /// At which port.
    pub port: Vec<u16>,
    /// What happened: index into [`EVENTS`](PacketTrace::EVENTS).
    pub event: Vec<u8>,
    /// What the packet is: index into [`KINDS`](PacketTrace::KINDS).
    pub kind: Vec<u8>,
    /// The message that it belongs to, or [`NO_FLOW`](PacketTrace::NO_FLOW).
    pub flow_id: Vec<u32>,
    /// Its priority; of a pause or resume the one that it is about.
    pub priority: Vec<u8>,
    /// Data: its first byte in the stream of its QP; ACK and NACK: the first byte not yet received.
    pub sequence: Vec<u64>,
    /// Payload.
    pub payload_bytes: Vec<u16>,
    /// Link time that it takes.
    pub size_bytes: Vec<u16>,
    /// How the packet is marked; of an ACK or NACK, how the packet that it answers was marked.
    /// Index into [`CODE_POINTS`](PacketTrace::CODE_POINTS).
    pub ecn: Vec<u8>,
    /// Bytes in the queue that it joins or leaves, without it.
    pub queue_bytes: Vec<u64>,
    /// The names of the nodes.
    pub node_names: Arc<Vec<String>>,
}

impl PacketTrace {
    /// Its name.
    pub const NAME: &'static str = "packets";
    /// What may happen to a packet.
    pub const EVENTS: [&'static str; 6] =
        ["received", "enqueued", "dequeued", "dropped", "lost", "held"];
    /// What a packet may be.
    pub const KINDS: [&'static str; 8] =
        ["data", "ack", "nack", "control", "link-control", "pause", "resume", "path-control"];
    /// What switches may say in its ECN field.
    pub const CODE_POINTS: [&'static str; 3] = ["not-marked", "undetermined", "congestion"];
    /// Of a packet that belongs to no message.
    pub const NO_FLOW: u32 = u32::MAX;

    /// As Arrow, in the order of the rows.
    ///
    /// # Errors
    /// If the columns differ in length.
    pub fn to_record_batch(&self) -> Result<RecordBatch, ArrowError> {
        let flows = self.flow_id.iter().map(|&flow| (flow != PacketTrace::NO_FLOW).then_some(flow));
        RecordBatch::try_from_iter_with_nullable([
            values("time_ps", &self.time_ps),
            names("node", &self.node, &self.node_names),
            values("port", &self.port),
            names("event", &self.event, &PacketTrace::EVENTS),
            names("kind", &self.kind, &PacketTrace::KINDS),
            nullable("flow_id", flows.collect::<UInt32Array>()),
            values("priority", &self.priority),
            values("sequence", &self.sequence),
            values("payload_bytes", &self.payload_bytes),
            values("size_bytes", &self.size_bytes),
            names("ecn", &self.ecn, &PacketTrace::CODE_POINTS),
            values("queue_bytes", &self.queue_bytes),
        ])
    }
}
