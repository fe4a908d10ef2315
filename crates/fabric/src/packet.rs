//! The packet that the fabric moves is the scheme contract's; this adds how it is made.

use engine::{Class, Window};
pub(crate) use schemes::contract::{
    Address, Body, EcnCodePoint, Flags, Header, Packet, PacketKind, Scheme,
};
use units::Time;

/// The engine's window, with the fabric's packets.
pub(crate) type Win<'a, 'run, S> = Window<'a, 'run, Packet<S>>;

/// Control packets that hooks of a device had it send, and that wait at a port in one class: at most so many.
/// More are dropped, as no device has memory without end.
pub(crate) const MOST_OWN_CONTROL: u32 = 65_536;
/// Not from a port of this switch: made here.
pub(crate) const NO_INGRESS: u16 = u16::MAX;

/// The class that decides what goes first among arrivals at the same instant.
#[inline]
pub(crate) fn class_of(kind: PacketKind) -> Class {
    match kind {
        PacketKind::Pfc => Class::FlowControl,
        PacketKind::Data => Class::Data,
        PacketKind::Ack | PacketKind::Nack | PacketKind::Control | PacketKind::LinkControl => {
            Class::Control
        }
    }
}

/// A header with everything but its purpose left blank.
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

/// A frame that pauses a priority of the peer, or lets it go on.
pub(crate) fn pfc_frame<S: Scheme>(priority: u8, pause: bool, size: u16) -> Packet<S> {
    let mut header = blank(PacketKind::Pfc, Address::default(), priority, size);
    if pause {
        header.echo = EcnCodePoint::CongestionExperienced;
    }
    Packet { header, body: Body::Meta(S::Meta::default()) }
}

/// Whether a PFC frame pauses.
#[inline]
pub(crate) fn is_pause(header: &Header) -> bool {
    header.echo != EcnCodePoint::NotMarked
}
