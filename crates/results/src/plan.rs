//! What is asked of a network before it is run: its messages, and what each port would carry.

use crate::column::{names, required, values};
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use std::sync::Arc;

/// One row for each message, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageTable {
    /// Its number, unique in the run.
    pub flow_id: Vec<u32>,
    /// The queue pair it is sent on.
    pub qp_id: Vec<u32>,
    /// Index into `tags` of the traffic entry it comes from.
    pub tag: Vec<u16>,
    /// The names of the tags.
    pub tags: Vec<String>,
    /// Sending host: index into `node_names`.
    pub src: Vec<u32>,
    /// Receiving host: index into `node_names`.
    pub dst: Vec<u32>,
    /// The names of the nodes.
    pub node_names: Arc<Vec<String>>,
    /// Priority of its data packets, 0 to 7.
    pub priority: Vec<u8>,
    /// Payload bytes.
    pub size_bytes: Vec<u64>,
    /// When it is posted; if it waits for others, not before this.
    pub start_ps: Vec<u64>,
    /// Whether it waits for others to arrive at its sender.
    pub waits: Vec<bool>,
    /// Switches that its data passes.
    pub switches: Vec<u32>,
    /// The lowest rate on its way.
    pub bottleneck_bps: Vec<u64>,
    /// A full packet there and an ACK back in an empty network.
    pub base_rtt_ps: Vec<u64>,
    /// What it takes alone in the network.
    pub ideal_fct_ps: Vec<u64>,
}

impl MessageTable {
    /// As Arrow, in the order of the rows.
    ///
    /// # Errors
    /// If the columns differ in length.
    pub fn to_record_batch(&self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_from_iter_with_nullable([
            values("flow_id", &self.flow_id),
            values("qp_id", &self.qp_id),
            names("tag", &self.tag, &self.tags),
            names("src", &self.src, &self.node_names),
            names("dst", &self.dst, &self.node_names),
            values("priority", &self.priority),
            values("size_bytes", &self.size_bytes),
            values("start_ps", &self.start_ps),
            required("waits", BooleanArray::from(self.waits.clone())),
            values("switches", &self.switches),
            values("bottleneck_bps", &self.bottleneck_bps),
            values("base_rtt_ps", &self.base_rtt_ps),
            values("ideal_fct_ps", &self.ideal_fct_ps),
        ])
    }
}

/// One row for each port of each node, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadTable {
    /// The node: index into `node_names`.
    pub node: Vec<u32>,
    /// The port's number on its node.
    pub port: Vec<u16>,
    /// The node at the other end: index into `node_names`.
    pub peer: Vec<u32>,
    /// The names of the nodes.
    pub node_names: Arc<Vec<String>>,
    /// The node's tier: 0 for a host.
    pub tier: Vec<u8>,
    /// That of the node at the other end.
    pub peer_tier: Vec<u8>,
    /// Rate of the link.
    pub rate_bps: Vec<u64>,
    /// Messages whose data leaves through it.
    pub messages: Vec<u32>,
    /// Their data, as it is on the wire.
    pub data_bytes: Vec<u64>,
    /// ACKs that leave through it, as they are on the wire.
    pub ack_bytes: Vec<u64>,
    /// How long it takes to send all that.
    pub busy_ps: Vec<u64>,
}

impl LoadTable {
    /// As Arrow, in the order of the rows.
    ///
    /// # Errors
    /// If the columns differ in length.
    pub fn to_record_batch(&self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_from_iter_with_nullable([
            names("node", &self.node, &self.node_names),
            values("port", &self.port),
            names("peer", &self.peer, &self.node_names),
            values("tier", &self.tier),
            values("peer_tier", &self.peer_tier),
            values("rate_bps", &self.rate_bps),
            values("messages", &self.messages),
            values("data_bytes", &self.data_bytes),
            values("ack_bytes", &self.ack_bytes),
            values("busy_ps", &self.busy_ps),
        ])
    }
}

/// One row for each port that a message passes, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HopTable {
    /// The message.
    pub flow_id: Vec<u32>,
    /// The node: index into `node_names`.
    pub node: Vec<u32>,
    /// The port's number on its node.
    pub port: Vec<u16>,
    /// The names of the nodes.
    pub node_names: Arc<Vec<String>>,
}

impl HopTable {
    /// As Arrow, in the order of the rows.
    ///
    /// # Errors
    /// If the columns differ in length.
    pub fn to_record_batch(&self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_from_iter_with_nullable([
            values("flow_id", &self.flow_id),
            names("node", &self.node, &self.node_names),
            values("port", &self.port),
        ])
    }
}
