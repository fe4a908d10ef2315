//! The port table: one row for each end of a link, with its counters.

use crate::column::{names, values};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use std::sync::Arc;

/// Picoseconds in a nanosecond.
const PS_PER_NS: u64 = 1_000;

/// One row for each port of each node, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortTable {
    /// The node: index into `node_names`.
    pub node: Vec<u32>,
    /// The port's number on its node.
    pub port: Vec<u16>,
    /// The node at the other end: index into `node_names`.
    pub peer: Vec<u32>,
    /// The names of the nodes.
    pub node_names: Arc<Vec<String>>,
    /// Tier of the node: 0 for hosts, 1 for their switches, and so on.
    pub tier: Vec<u8>,
    /// Tier of the node at the other end.
    pub peer_tier: Vec<u8>,
    /// Rate of the link.
    pub rate_bps: Vec<u64>,
    /// Bytes sent, as they are on the wire.
    pub tx_bytes: Vec<u64>,
    /// Packets of any kind sent.
    pub tx_packets: Vec<u64>,
    /// Pause frames sent; resumes are not counted.
    pub pause_frames_sent: Vec<u64>,
    /// Pause frames received; resumes are not counted.
    pub pause_frames_received: Vec<u64>,
    /// How long at least one class of this port was kept from sending by pauses.
    pub paused_ps: Vec<u64>,
    /// The longest its egress queues ever were together.
    pub max_queue_bytes: Vec<u64>,
    /// Packets this port marked with CE.
    pub ecn_marked_packets: Vec<u64>,
    /// Packets that came in through this port and were dropped: there was no room or no route, or
    /// the congestion point or the PFC watchdog dropped them. At a host also control packets that
    /// were to leave through this port and found no room.
    pub dropped_packets: Vec<u64>,
    /// Packets that the link to this port lost, damaged or by its failure, and those that waited
    /// for this port when its link failed.
    pub lost_packets: Vec<u64>,
}

impl PortTable {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.node.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.node.is_empty()
    }

    /// As Arrow, in the order of the rows. `paused_ns` is rounded down.
    ///
    /// # Errors
    /// If the columns differ in length.
    pub fn to_record_batch(&self) -> Result<RecordBatch, ArrowError> {
        let paused: Vec<u64> = self.paused_ps.iter().map(|ps| ps / PS_PER_NS).collect();
        RecordBatch::try_from_iter_with_nullable([
            names("node", &self.node, &self.node_names),
            values("port", &self.port),
            names("peer", &self.peer, &self.node_names),
            values("tier", &self.tier),
            values("peer_tier", &self.peer_tier),
            values("rate_bps", &self.rate_bps),
            values("tx_bytes", &self.tx_bytes),
            values("tx_packets", &self.tx_packets),
            values("pause_frames_sent", &self.pause_frames_sent),
            values("pause_frames_received", &self.pause_frames_received),
            values("paused_ns", &paused),
            values("max_queue_bytes", &self.max_queue_bytes),
            values("ecn_marked_packets", &self.ecn_marked_packets),
            values("dropped_packets", &self.dropped_packets),
            values("lost_packets", &self.lost_packets),
        ])
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;

    /// The two ends of one link.
    pub(crate) fn two_ports() -> PortTable {
        PortTable {
            node: vec![0, 1],
            port: vec![0, 0],
            peer: vec![1, 0],
            node_names: Arc::new(vec!["h0".to_owned(), "s0".to_owned()]),
            tier: vec![0, 1],
            peer_tier: vec![1, 0],
            rate_bps: vec![100_000_000_000; 2],
            tx_bytes: vec![1_048, 64],
            tx_packets: vec![1, 1],
            pause_frames_sent: vec![0, 2],
            pause_frames_received: vec![2, 0],
            paused_ps: vec![1_999, 0],
            max_queue_bytes: vec![1_048, 64],
            ecn_marked_packets: vec![0, 0],
            dropped_packets: vec![0, 0],
            lost_packets: vec![0, 0],
        }
    }

    #[test]
    fn paused_time_is_whole_nanoseconds() {
        let batch = two_ports().to_record_batch().unwrap();
        let paused = batch.column_by_name("paused_ns").unwrap().as_primitive::<UInt64Type>();
        assert_eq!(paused.values().to_vec(), [1, 0]);
        let peer = batch.column_by_name("peer").unwrap().as_string::<i64>();
        assert_eq!(peer.value(0), "s0");
    }
}
