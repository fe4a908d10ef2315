//! Everything that reproduces the HPCC authors' ns-3 simulator: values and pure functions only.
//!
//! [`Quirks`] lists the deviations that a run asks for. [`Compat`] answers the questions of the
//! other rooms, so that no other file reads a quirk. The code that moves packets stays with its
//! room: `switch/ns3_order.rs` and `host/ns3_scan.rs`.

pub(crate) mod clock;
pub(crate) mod event_order;
pub(crate) mod mrg;
pub(crate) mod murmur3;
pub(crate) mod qp_scan;
mod quirks;
pub(crate) mod threshold;

pub use quirks::{Quirks, ScanQuirks};

use clock::Clock;
use mrg::{Draws, MarkDraws};
use qp_scan::QpScan;
use threshold::ThresholdRules;
use units::Rate;

/// The queue of a host in which ACKs wait that ignore pauses.
const NEVER_PAUSED: u8 = 0;

/// The queue of a host of the HPCC simulator in which ACKs wait, whatever their priority on the
/// wire.
const ACK_QUEUE: u8 = 3;

/// How a search for routes goes through the neighbours of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchOrder {
    /// By ascending node number.
    Ascending,
    /// By descending node number.
    Descending,
}

/// How DRILL compares ports and what it remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrillForm {
    /// By the time of the backlog, the best of each group of next hops.
    Native,
    /// By the bytes that wait, the best for each destination host.
    ByHostAndBytes,
}

/// What CONGA measures and which uplinks it compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CongaForm {
    /// All packets that leave, and all uplinks.
    Native,
    /// Data when it arrives, and four neighbouring uplinks. A level has no upper bound but that of
    /// its number, and a leaf returns those that it knows in random order.
    FourUplinks,
}

/// Says how a run differs from a native one. In a native run no question is answered with a
/// deviation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compat {
    quirks: Quirks,
}

impl Compat {
    pub(crate) fn new(quirks: Quirks) -> Compat {
        Compat { quirks }
    }

    /// Returns how times on the wire and between packets are rounded.
    pub(crate) fn clock(&self) -> Clock {
        if self.quirks.whole_nanoseconds { Clock::WholeNanoseconds } else { Clock::Exact }
    }

    /// Returns the order in which the simulator's search visits neighbours, if switches list next
    /// hops as it finds them and use one link to each neighbour.
    pub(crate) fn search_order(&self) -> Option<SearchOrder> {
        match self.quirks {
            Quirks { ns3_ecmp_hash: true, .. } => Some(SearchOrder::Descending),
            Quirks { conweave_ecmp_hash: true, .. } => Some(SearchOrder::Ascending),
            _ => None,
        }
    }

    /// Returns whether switches hash addresses and UDP ports with MurmurHash3.
    pub(crate) fn hashes_with_murmur3(&self) -> bool {
        self.quirks.ns3_ecmp_hash || self.quirks.conweave_ecmp_hash
    }

    /// Returns how DRILL compares ports and what it remembers.
    pub(crate) fn drill_form(&self) -> DrillForm {
        if self.quirks.conweave_drill { DrillForm::ByHostAndBytes } else { DrillForm::Native }
    }

    /// Returns what CONGA measures and which uplinks it compares.
    pub(crate) fn conga_form(&self) -> CongaForm {
        if self.quirks.conweave_conga { CongaForm::FourUplinks } else { CongaForm::Native }
    }

    /// Returns whether a gap has senders go back to it, past what has arrived.
    pub(crate) fn goes_back_at_gaps(&self) -> bool {
        self.quirks.conweave_recovery
    }

    /// Returns whether what may be in flight is a bandwidth-delay product of payload, without
    /// headers.
    pub(crate) fn counts_payload(&self) -> bool {
        self.quirks.conweave_recovery
    }

    /// Returns whether the base round trip counts payload one way only, once for each pair of
    /// hosts.
    pub(crate) fn has_one_way_rtt(&self) -> bool {
        self.quirks.one_way_rtt
    }

    /// Returns whether hosts send ACKs while their priority is paused.
    pub(crate) fn acks_ignore_pause(&self) -> bool {
        self.quirks.acks_ignore_pause
    }

    /// Returns the queue in which hosts keep ACKs, if it is not that of their priority on the wire.
    pub(crate) fn ack_queue(&self) -> Option<u8> {
        match (self.quirks.acks_ignore_pause, self.scans_queue_pairs()) {
            (true, _) => Some(NEVER_PAUSED),
            (false, true) => Some(ACK_QUEUE),
            (false, false) => None,
        }
    }

    /// Returns whether a receiver acknowledges data that has arrived earlier.
    #[inline]
    pub(crate) fn answers_duplicates(&self) -> bool {
        !self.quirks.silent_duplicates
    }

    /// Returns whether a sender goes back at every NACK, before its control law sees the NACK.
    #[inline]
    pub(crate) fn goes_back_before_law(&self) -> bool {
        self.quirks.silent_duplicates
    }

    /// Returns whether a host's NIC scans its QPs.
    #[inline]
    pub(crate) fn scans_queue_pairs(&self) -> bool {
        self.quirks.scan_queue_pairs.is_some()
    }

    /// Returns the state of a NIC that scans its QPs; `None` if it keeps lists of ready ones.
    pub(crate) fn qp_scan(&self) -> Option<Box<QpScan>> {
        self.scans_queue_pairs().then(|| Box::new(QpScan::new()))
    }

    /// Returns whether a scanning NIC may sleep although a QP may send.
    #[inline]
    pub(crate) fn misses_wake_ups(&self) -> bool {
        self.quirks.scan_queue_pairs.is_some_and(|scan| scan.missed_wakeup)
    }

    /// Returns whether a scanning NIC corrects its position in the table when finished QPs leave
    /// it.
    pub(crate) fn corrects_turn(&self) -> bool {
        !self.quirks.scan_queue_pairs.is_some_and(|scan| scan.stale_index)
    }

    /// Returns how dynamic thresholds are computed in a switch. `shifted_above`: see
    /// [`Threshold::Dynamic`](crate::Threshold::Dynamic); `None` if PFC is off.
    pub(crate) fn threshold_rules(&self, shifted_above: Option<Rate>) -> ThresholdRules {
        ThresholdRules {
            shifted_above,
            wraps: self.quirks.threshold_wraparound,
            shares_first: self.quirks.conweave_buffer,
        }
    }

    /// Returns whether headroom may exceed the buffer.
    pub(crate) fn headroom_may_exceed_buffer(&self) -> bool {
        self.quirks.threshold_wraparound
    }

    /// Returns the generator that a switch among `nodes` nodes draws its marks from, if it is
    /// ns-3's. In the HPCC simulator all switches share one. Here each has its own, which begins as
    /// if no other switch drew. In ConWeave's each has its own, too.
    pub(crate) fn mark_draws(&self, nodes: usize, seed: u64) -> Option<MarkDraws> {
        match self.quirks {
            Quirks { ns3_ecn_draws: true, .. } => {
                let draws = Draws::from_stream(mrg::first_stream(nodes as u64), seed);
                Some(MarkDraws::StreamEach(Box::new(draws)))
            }
            Quirks { conweave_ecn_draws: true, .. } => {
                Some(MarkDraws::OneStream(mrg::conweave_marks(seed)))
            }
            _ => None,
        }
    }

    /// Returns whether arrivals of one instant are handled in the order of their sending.
    #[inline]
    pub(crate) fn orders_by_emission(&self) -> bool {
        self.quirks.ns3_tie_order
    }

    /// Returns whether priorities that are not strict alternate packet by packet.
    pub(crate) fn alternates_packets(&self) -> bool {
        self.quirks.packet_round_robin
    }
}
