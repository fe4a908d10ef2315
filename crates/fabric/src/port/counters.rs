//! The counters of a port.

use units::Time;

/// What a port counts in every run.
///
/// Counters that every packet adds to are not neighbours: compilers would add to two of them with
/// one vector instruction, which takes longer than two additions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PortCounters {
    /// Bytes put on the wire.
    pub tx_bytes: u64,
    /// Largest number of bytes that waited at one time.
    pub max_queue_bytes: u64,
    /// Packets of any kind put on the wire, that is, packet-hops.
    pub tx_packets: u64,
    /// Pause frames sent.
    pub pause_frames_sent: u64,
    /// Data packets put on the wire.
    pub tx_data_packets: u64,
    /// Pause frames received.
    pub pause_frames_received: u64,
    /// Time during which the peer paused at least one priority.
    pub paused: Time,
    /// Packets that were ECN-marked.
    pub ecn_marked_packets: u64,
    /// Packets dropped. At a switch: packets that came in through this port and found no room or no
    /// route, or that the congestion point or the PFC watchdog dropped. At a host: data for which
    /// the receive buffer had no room, and control packets that were to leave through this port.
    pub dropped_packets: u64,
    /// Packets lost on the link to this port, by damage or by a failure of the link, and packets
    /// that waited to leave through it when it failed.
    pub lost_packets: u64,
}

impl PortCounters {
    /// Notes that `bytes` bytes wait.
    #[inline(always)]
    pub(super) fn count_queue(&mut self, bytes: u64) {
        if bytes > self.max_queue_bytes {
            self.max_queue_bytes = bytes;
        }
    }
}
