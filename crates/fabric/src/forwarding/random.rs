//! Random packet spraying: each data packet takes a next hop at random.
//!
//! The draw is a hash of the flow and of the time at which the packet left its sender. Where hosts
//! send packets of a flow through several ports at one instant, it is also of the packet's first
//! byte. So the choice depends on the header alone, and all fast paths remain.

use super::{Choice, Depends, Ecmp, Forwarding};
use crate::packet::{Header, PacketKind};
use crate::routing::hash::mix32;
use units::PortId;

/// Random spraying in one switch.
#[derive(Debug)]
pub(crate) struct Random {
    pub(super) ecmp: Ecmp,
    /// Packets of a flow may leave their sender at one instant.
    pub(super) at_once: bool,
}

impl Forwarding for Random {
    const DEPENDS: Depends = Depends::Header;

    #[inline]
    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        self.ecmp.select(choice, &self.sprayed(header))
    }
}

impl Random {
    /// The header with the hash that decides a packet's path.
    #[inline]
    pub(super) fn sprayed(&self, header: &Header) -> Header {
        let mut sprayed = *header;
        sprayed.address.hash = hash(header, self.at_once);
        sprayed
    }
}

/// The hash that decides a packet's path. `at_once`: see [`Random`].
#[inline(never)]
pub(super) fn hash(header: &Header, at_once: bool) -> u32 {
    let hash = header.address.hash;
    if header.kind != PacketKind::Data {
        return hash;
    }
    let sent = header.sent_at.ps();
    let first = if at_once { mix32(header.sequence as u32) } else { 0 };
    mix32(hash ^ first ^ mix32(sent as u32 ^ (sent >> 32) as u32))
}
