//! How packets are made. Their types are those of the scheme contract.

use engine::{Rank, Window};
pub(crate) use schemes::contract::{
    Address, EcnCodePoint, Flags, Header, Packet, PacketKind, Scheme,
};
use units::Time;

/// The engine's window, with the fabric's packets.
pub(crate) type Win<'a, 'run, S> = Window<'a, 'run, Packet<S>>;

/// The maximum number of control packets in a queue of a port that a hook of this device sent. More
/// are dropped: no device has infinite memory.
pub(crate) const MAX_OWN_CONTROL: u32 = 65_536;
/// The ingress of a packet that this switch made itself.
pub(crate) const NO_INGRESS: u16 = Header::NO_INGRESS;

/// Returns the rank of a packet, which decides the order of arrivals at the same instant.
#[inline]
pub(crate) fn rank_of(kind: PacketKind) -> Rank {
    match kind {
        PacketKind::Pfc => Rank::First,
        PacketKind::Data => Rank::Third,
        PacketKind::Ack
        | PacketKind::Nack
        | PacketKind::Control
        | PacketKind::LinkControl
        | PacketKind::PathControl => Rank::Second,
    }
}

/// A header in which only kind, address, priority and size are set.
pub(crate) fn blank(kind: PacketKind, address: Address, priority: u8, size: u16) -> Header {
    Header {
        address,
        sequence: 0,
        sent_at: Time::ZERO,
        size,
        payload: 0,
        ingress: NO_INGRESS,
        kind,
        priority,
        code_point: EcnCodePoint::NotMarked,
        echo: EcnCodePoint::NotMarked,
        flags: Flags::empty(),
    }
}

/// What a PFC frame does to a priority of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PfcFrame {
    Pause,
    Resume,
}

impl PfcFrame {
    /// Returns what the frame with this header does.
    pub(crate) fn of(header: &Header) -> PfcFrame {
        if header.is_pause() { PfcFrame::Pause } else { PfcFrame::Resume }
    }

    /// Makes the frame at `now`.
    pub(crate) fn packet<S: Scheme>(self, now: Time, priority: u8, size: u16) -> Packet<S> {
        let mut header = blank(PacketKind::Pfc, Address::default(), priority, size);
        header.sent_at = now;
        if self == PfcFrame::Pause {
            header.echo = EcnCodePoint::CongestionExperienced;
        }
        Packet::with_meta(header, S::Meta::default())
    }
}
