//! The deviations that a run may ask for, one by one.

/// The deviations of the HPCC authors' ns-3 simulator that a run reproduces. A native run has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// Cuts times on the wire and between packets to whole nanoseconds: 1048 bytes at 100 Gb/s take
    /// 83 ns instead of 83.84 ns, which makes links a little faster than their rate.
    pub whole_nanoseconds: bool,
    /// Each switch hashes with its own seed (MurmurHash3). It lists next hops in the order in which
    /// a search from the destination finds them; the search visits neighbours by descending node
    /// number. In a tree that is descending node number, too. Of several links to one neighbour
    /// only the last is used.
    pub ns3_ecmp_hash: bool,
    /// As `ns3_ecmp_hash`, but the search visits neighbours by ascending node number, as in
    /// ConWeave's simulator.
    pub conweave_ecmp_hash: bool,
    /// DRILL compares ports by the bytes that wait, whether they are paused or not, and remembers
    /// the best ports for each destination host, as in ConWeave's simulator.
    pub conweave_drill: bool,
    /// CONGA as in ConWeave's simulator: a flow chooses among four neighbouring uplinks, of which
    /// the first is drawn, and never prefers the one that it has. Ports count data alone, when it
    /// arrives. Levels may exceed that of the full rate. Leaves return those that they know in
    /// random order.
    pub conweave_conga: bool,
    /// Buffers as in ConWeave's simulator: all that is stored counts as shared, and a packet uses
    /// headroom only where the shared part has no room for it. An ingress pauses its peer when it
    /// is above its threshold, not at it. A port sets four times its reserve aside.
    pub conweave_buffer: bool,
    /// Selective repeat as in ConWeave's simulator: an ACK that shows a gap has everything sent
    /// again that is not known to have arrived, unless the sender recovers already. It recovers
    /// until an ACK shows no gap, or until all has arrived that it had sent when that began.
    /// Headers do not count in what may be in flight.
    pub conweave_recovery: bool,
    /// The base round trip counts the payload's serialisation one way and the propagation both
    /// ways. Headers and ACKs do not count. The ideal FCT follows it, and the network's BDP is the
    /// largest product of round trip and lowest rate of any pair of hosts.
    pub one_way_rtt: bool,
    /// Hosts send ACKs while the priority that carries them is paused.
    pub acks_ignore_pause: bool,
    /// A receiver does not acknowledge data that arrived earlier. A sender goes back at every NACK,
    /// and does so before its control law sees the NACK.
    pub silent_duplicates: bool,
    /// A host's NIC scans all its QPs in the order in which they were opened, whatever their
    /// priority. It starts after the QP that sent last.
    pub scan_queue_pairs: Option<ScanQuirks>,
    /// The free buffer is an unsigned 32-bit number. If headroom exceeds the buffer, the threshold
    /// becomes huge and PFC never fires.
    pub threshold_wraparound: bool,
    /// Marks are drawn from ns-3's generator. Each draw and each PFC frame takes one stream. The
    /// run's seed is ns-3's run number. Each switch begins with the same stream. If a single switch
    /// draws, its draws equal the simulator's.
    pub ns3_ecn_draws: bool,
    /// Marks are drawn from ns-3's generator as in ConWeave's simulator: each switch draws the same
    /// numbers of one stream. The run's seed is ns-3's seed.
    pub conweave_ecn_draws: bool,
    /// Arrivals at the same nanosecond are ordered by when their sending was scheduled, as far as
    /// packets tell, instead of by kind and in turn. A packet that joins a free port leaves before
    /// the next arrival.
    pub ns3_tie_order: bool,
    /// Priorities that are not strict alternate at a port packet by packet, starting after the one
    /// that sent last, whatever their weights and the sizes of their packets.
    pub packet_round_robin: bool,
}

/// The deviations of a NIC that scans its QPs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanQuirks {
    /// A NIC with nothing to send wakes at the earliest pacing time of all QPs with bytes left. If
    /// that time has passed for a QP whose window is closed, the NIC does not wake at all. A timer
    /// that changes a rate does not wake the NIC.
    pub missed_wakeup: bool,
    /// When finished QPs leave the table, the NIC's position in the table is not corrected.
    pub stale_index: bool,
}
