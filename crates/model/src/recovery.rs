//! How lost data is sent again, and what receivers do with data that arrives ahead of a gap.

use units::{Bytes, Time};

/// What a sender sends again after a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
pub enum RecoveryMode {
    /// Everything from the first packet on that the receiver misses.
    #[default]
    GoBackN,
    /// Only the packets that are lost. ACKs name the packet that they answer, as in IRN.
    SelectiveRepeat,
}

/// A length of a QP's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// As many packets as the bandwidth-delay product of the longest path.
    Bdp,
    /// This many packets.
    Packets(u32),
    /// This many payload bytes.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

/// When a sender takes a packet for lost of which later ones have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossRule {
    /// At once.
    Gap,
    /// When a packet has arrived that is this far behind it in the stream.
    Span(Span),
    /// When a packet has arrived that left this much later, or more.
    After(Time),
    /// Never: only a timeout tells of a loss.
    Timeout,
}

/// How QPs recover from losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// What is sent again.
    pub mode: RecoveryMode,
    /// How far ahead of the first missing packet receivers keep data. Zero packets: they discard
    /// what is not in order, which goes with go-back-N only.
    pub reorder: Span,
    /// Selective repeat: when a packet is taken for lost.
    pub loss_after: LossRule,
    /// The largest distance between the first byte that is not acknowledged and the next new one.
    pub max_in_flight: Span,
    /// Selective repeat: the timeout of a QP with at most
    /// [`rto_low_packets`](Self::rto_low_packets) packets that are not known to have arrived.
    /// [`Time::NEVER`]: there is none.
    pub rto_low: Time,
    /// Selective repeat: the timeout of other QPs; not below `rto_low`.
    pub rto_high: Time,
    /// See [`rto_low`](Self::rto_low).
    pub rto_low_packets: u32,
    /// Whether a receiver handles data that is out of order as if it were marked by ECN.
    pub reordering_is_congestion: bool,
}

impl Recovery {
    /// The most packets that a receiver keeps ahead of a gap, and that a sender to such a receiver
    /// has between the first that is not acknowledged and the next new one: ACKs name packets by
    /// the low 16 bits of their numbers.
    pub const MAX_PACKETS: u32 = 1 << 14;

    /// Go-back-N; receivers keep nothing that is out of order.
    pub const GO_BACK_N: Recovery = Recovery {
        mode: RecoveryMode::GoBackN,
        reorder: Span::Packets(0),
        loss_after: LossRule::Gap,
        max_in_flight: Span::Unlimited,
        rto_low: Time::NEVER,
        rto_high: Time::NEVER,
        rto_low_packets: 0,
        reordering_is_congestion: false,
    };

    /// Whether receivers keep data that is out of order.
    pub fn keeps_out_of_order(&self) -> bool {
        self.reorder != Span::Packets(0)
    }
}
