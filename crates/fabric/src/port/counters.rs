//! What is counted at a port.

use units::Time;

/// What a port counts, always. What every packet adds to does not stand side by side: compilers would
/// then add to both at once, which takes longer than one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PortCounters {
    /// Bytes put on the wire.
    pub tx_bytes: u64,
    /// Most bytes that ever waited.
    pub max_queue_bytes: u64,
    /// Packets of any kind put on the wire: packet-hops.
    pub tx_packets: u64,
    /// Pause frames sent.
    pub pause_frames_sent: u64,
    /// Data packets put on the wire.
    pub tx_data_packets: u64,
    /// Pause frames received.
    pub pause_frames_received: u64,
    /// Time in which some priority was paused by the peer.
    pub paused: Time,
    /// Packets marked.
    pub ecn_marked_packets: u64,
    /// Packets that were dropped for want of room: at a switch those that came in through this port,
    /// at a host control packets that were to leave through it.
    pub dropped_packets: u64,
    /// Packets that came over the link to this port and were lost: damaged, or cut off by its
    /// failure; and those that waited to leave through it when it failed.
    pub lost_packets: u64,
}

impl PortCounters {
    /// So many bytes wait.
    #[inline(always)]
    pub(super) fn count_queue(&mut self, bytes: u64) {
        if bytes > self.max_queue_bytes {
            self.max_queue_bytes = bytes;
        }
    }
}
