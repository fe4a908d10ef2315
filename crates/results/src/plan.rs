//! What is asked of a network before it is run: its messages, and what each port would carry.

use crate::text::names_of;
use arrow_array::{ArrayRef, RecordBatch, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
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
    /// When it is posted; of an answer, before which it is not.
    pub start_ps: Vec<u64>,
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
        let name = |ids: &[u32]| names_of(ids.iter().map(|&id| id as usize), &self.node_names);
        let columns: [(&str, ArrayRef, bool); 12] = [
            ("flow_id", Arc::new(UInt32Array::from(self.flow_id.clone())), false),
            ("qp_id", Arc::new(UInt32Array::from(self.qp_id.clone())), false),
            ("tag", names_of(self.tag.iter().map(|&tag| tag.into()), &self.tags), false),
            ("src", name(&self.src), false),
            ("dst", name(&self.dst), false),
            ("priority", Arc::new(UInt8Array::from(self.priority.clone())), false),
            ("size_bytes", Arc::new(UInt64Array::from(self.size_bytes.clone())), false),
            ("start_ps", Arc::new(UInt64Array::from(self.start_ps.clone())), false),
            ("switches", Arc::new(UInt32Array::from(self.switches.clone())), false),
            ("bottleneck_bps", Arc::new(UInt64Array::from(self.bottleneck_bps.clone())), false),
            ("base_rtt_ps", Arc::new(UInt64Array::from(self.base_rtt_ps.clone())), false),
            ("ideal_fct_ps", Arc::new(UInt64Array::from(self.ideal_fct_ps.clone())), false),
        ];
        RecordBatch::try_from_iter_with_nullable(columns)
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
        let name = |ids: &[u32]| names_of(ids.iter().map(|&id| id as usize), &self.node_names);
        let columns: [(&str, ArrayRef, bool); 10] = [
            ("node", name(&self.node), false),
            ("port", Arc::new(UInt16Array::from(self.port.clone())), false),
            ("peer", name(&self.peer), false),
            ("tier", Arc::new(UInt8Array::from(self.tier.clone())), false),
            ("peer_tier", Arc::new(UInt8Array::from(self.peer_tier.clone())), false),
            ("rate_bps", Arc::new(UInt64Array::from(self.rate_bps.clone())), false),
            ("messages", Arc::new(UInt32Array::from(self.messages.clone())), false),
            ("data_bytes", Arc::new(UInt64Array::from(self.data_bytes.clone())), false),
            ("ack_bytes", Arc::new(UInt64Array::from(self.ack_bytes.clone())), false),
            ("busy_ps", Arc::new(UInt64Array::from(self.busy_ps.clone())), false),
        ];
        RecordBatch::try_from_iter_with_nullable(columns)
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
        let nodes = self.node.iter().map(|&id| id as usize);
        let columns: [(&str, ArrayRef, bool); 3] = [
            ("flow_id", Arc::new(UInt32Array::from(self.flow_id.clone())), false),
            ("node", names_of(nodes, &self.node_names), false),
            ("port", Arc::new(UInt16Array::from(self.port.clone())), false),
        ];
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}
