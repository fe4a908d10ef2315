//! Random packet spraying: each data packet takes a next hop at random.
//!
//! The draw is a hash of the flow and of the time at which the packet left its sender, which no
//! other packet of the flow shares. So the choice depends on the header alone, and all fast paths
//! remain.

use super::{Choice, Depends, Ecmp, Forwarding};
use crate::packet::{Header, PacketKind};
use crate::routing::hash::mix32;
use units::PortId;

/// Random spraying in one switch.
#[derive(Debug)]
pub(crate) struct Random {
    pub(super) ecmp: Ecmp,
}

impl Forwarding for Random {
    const DEPENDS: Depends = Depends::Header;

    #[inline]
    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        self.ecmp.select(choice, &sprayed(header))
    }
}

/// The header with the hash that decides a packet's path.
#[inline]
pub(super) fn sprayed(header: &Header) -> Header {
    let mut sprayed = *header;
    sprayed.address.hash = hash(header);
    sprayed
}

/// The hash that decides a packet's path.
#[inline(never)]
pub(super) fn hash(header: &Header) -> u32 {
    let hash = header.address.hash;
    if header.kind != PacketKind::Data {
        return hash;
    }
    let sent = header.sent_at.ps();
    mix32(hash ^ mix32(sent as u32 ^ (sent >> 32) as u32))
}
