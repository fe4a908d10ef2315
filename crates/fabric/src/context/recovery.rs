//! Loss recovery with its lengths in packets and bytes, and the numbers of packets in a QP's
//! stream.

use super::wire_sizes::WireSizes;
use crate::compat::Compat;
use crate::network::flow::{FlowInfo, NO_FLOW};
use crate::packet::Header;
use crate::routing::Routes;
use model::{LossRule, Recovery, RecoveryMode, Span};
use units::{Rate, Time};

/// When a packet is taken for lost of which later ones have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossTest {
    /// When a packet has arrived that comes at least this many after it in the stream.
    Distance(u32),
    /// When a packet has arrived that left this much later, or more.
    After(Time),
    /// All that are on the way, when an ACK shows a gap, unless the sender recovers already.
    AllAtGap,
    /// Never.
    Never,
}

/// A limit of what is sent and not acknowledged in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// Payload bytes.
    pub(crate) bytes: u64,
    /// Packets, of whatever size. They are counted where receivers keep data that is out of order.
    pub(crate) packets: u32,
}

impl InFlight {
    const UNLIMITED: InFlight = InFlight { bytes: u64::MAX, packets: u32::MAX };

    pub(crate) fn is_limited(self) -> bool {
        self != InFlight::UNLIMITED
    }
}

/// Loss recovery of a run.
#[derive(Debug)]
pub(crate) struct RecoveryPlan {
    /// Receivers keep data that is out of order, and senders note what has arrived.
    pub(crate) keeps_out_of_order: bool,
    /// Only lost packets are sent again.
    pub(crate) is_selective: bool,
    /// How many packets after the first missing one a receiver keeps.
    pub(crate) reorder: u32,
    pub(crate) loss_test: LossTest,
    /// The largest distance between the first byte that is not acknowledged and the next new one.
    pub(crate) max_in_flight: InFlight,
    pub(crate) reordering_is_congestion: bool,
    rto_low: Time,
    rto_high: Time,
    rto_low_packets: u32,
    /// Payload bytes of a full packet.
    payload: u64,
    /// By message: the first byte and the first packet of it in its QP's stream. Empty if
    /// receivers keep nothing.
    starts: Vec<(u64, u32)>,
}

impl RecoveryPlan {
    /// `line_rate`: that of the fastest host.
    pub(crate) fn new(
        recovery: &Recovery,
        compat: &Compat,
        retransmit_timeout: Time,
        wire: &WireSizes,
        routes: &Routes,
        line_rate: Rate,
        flows: &[FlowInfo],
    ) -> RecoveryPlan {
        let payload = u64::from(wire.payload);
        let bdp = routes.network_bdp.unwrap_or_else(|| line_rate.bytes_in(routes.network_rtt));
        // Of those that a bandwidth-delay product counts.
        let bytes_of_packet =
            if compat.counts_payload() { payload } else { u64::from(wire.full_packet) };
        let packets = |span: Span| match span {
            Span::Bdp => bdp.get().div_ceil(bytes_of_packet).max(2),
            Span::Packets(packets) => u64::from(packets),
            Span::Bytes(bytes) => bytes.get().div_ceil(payload),
            Span::Unlimited => u64::MAX,
        };
        let capped = |span: Span| packets(span).min(u64::from(Recovery::MAX_PACKETS)) as u32;
        let keeps_out_of_order = recovery.keeps_out_of_order();
        let is_selective = recovery.mode == RecoveryMode::SelectiveRepeat;
        let mut max_in_flight = match recovery.max_in_flight {
            Span::Unlimited => InFlight::UNLIMITED,
            Span::Bytes(bytes) => InFlight { bytes: bytes.get(), ..InFlight::UNLIMITED },
            span => InFlight {
                bytes: packets(span).saturating_mul(payload),
                packets: u32::try_from(packets(span)).unwrap_or(u32::MAX),
            },
        };
        let reorder = capped(recovery.reorder);
        if keeps_out_of_order {
            // Short packets fill a receiver's bitmap, and the numbers of packets, before bytes do.
            let room = if is_selective { reorder + 1 } else { Recovery::MAX_PACKETS };
            max_in_flight.packets = max_in_flight.packets.min(room).min(Recovery::MAX_PACKETS);
            let all = u64::from(Recovery::MAX_PACKETS) * payload;
            max_in_flight.bytes = max_in_flight.bytes.min(all);
        }
        let (rto_low, rto_high) = if is_selective {
            (recovery.rto_low, recovery.rto_high)
        } else {
            (retransmit_timeout, retransmit_timeout)
        };
        RecoveryPlan {
            keeps_out_of_order,
            is_selective,
            reorder,
            loss_test: match recovery.loss_after {
                LossRule::Gap if compat.goes_back_at_gaps() => LossTest::AllAtGap,
                LossRule::Gap => LossTest::Distance(1),
                LossRule::Span(span) => LossTest::Distance(capped(span).max(1)),
                LossRule::After(time) => LossTest::After(time),
                LossRule::Timeout => LossTest::Never,
            },
            max_in_flight,
            reordering_is_congestion: recovery.reordering_is_congestion,
            rto_low,
            rto_high,
            rto_low_packets: recovery.rto_low_packets,
            payload,
            starts: if keeps_out_of_order { starts(flows, payload) } else { Vec::new() },
        }
    }

    /// The shortest timeout that a QP may have.
    #[inline(always)]
    pub(crate) fn shortest_timeout(&self) -> Time {
        self.rto_low
    }

    /// The timeout of a QP with this many packets that are not known to have arrived.
    pub(crate) fn timeout(&self, outstanding: u32) -> Time {
        if outstanding <= self.rto_low_packets { self.rto_low } else { self.rto_high }
    }

    /// The number of a data packet in its QP's stream.
    #[inline]
    pub(crate) fn number_of(&self, header: &Header) -> u32 {
        let (first_byte, first_packet) = self.starts[header.address.flow as usize];
        first_packet + (header.sequence.saturating_sub(first_byte) / self.payload) as u32
    }
}

/// Where each message begins in its QP's stream: the byte and the packet.
fn starts(flows: &[FlowInfo], payload: u64) -> Vec<(u64, u32)> {
    let mut starts = vec![(0, 0); flows.len()];
    for (flow, row) in flows.iter().enumerate() {
        // Messages of a QP are listed in the order in which it sends them.
        if row.before_on_qp != NO_FLOW {
            let before = row.before_on_qp as usize;
            let (byte, packet) = starts[before];
            let packets = flows[before].size.div_ceil(payload) as u32;
            starts[flow] = (byte + flows[before].size, packet + packets);
        }
    }
    starts
}
