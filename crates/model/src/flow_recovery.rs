//! What a message met of reordering and losses.

/// What a message met of reordering and losses, at its sender and its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowRecovery {
    /// Data packets that arrived ahead of others of their QP.
    pub out_of_order_packets: u32,
    /// Of these, the ones that the receiver discarded because they were too far ahead.
    pub discarded_packets: u32,
    /// The largest number of packets that were missing before one that arrived, that one included.
    pub max_distance: u32,
    /// The most payload bytes that the receiver kept ahead of a gap.
    pub max_kept_bytes: u64,
    /// Payload bytes that arrived again.
    pub duplicate_bytes: u64,
    /// How often the retransmission timeout passed without an ACK.
    pub timeouts: u32,
    /// Payload bytes that were sent again because of that.
    pub timeout_bytes: u64,
}

impl FlowRecovery {
    /// Returns whether nothing happened.
    pub fn is_empty(&self) -> bool {
        *self == FlowRecovery::default()
    }
}
