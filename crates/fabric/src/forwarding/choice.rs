//! What a policy may use beside the header of a packet.

use crate::packet::{Header, PacketKind};
use crate::routing::{Routes, SwitchRow};
use schemes::contract::HostLocation;
use std::cell::Cell;
use units::{Bytes, PortId, Time};

/// The load of a next hop as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHopLoad {
    /// The port.
    pub port: PortId,
    /// PFC pauses the priority of the packet there.
    pub is_paused: bool,
    /// Bytes that wait there, in all priorities.
    pub bytes: Bytes,
    /// The time until the port would begin to send a packet that joined now, if all that waits went
    /// first.
    pub backlog: Time,
}

impl NextHopLoad {
    /// A port whose load is still to be measured.
    pub(crate) fn unmeasured(port: PortId) -> NextHopLoad {
        NextHopLoad { port, is_paused: false, bytes: Bytes::ZERO, backlog: Time::ZERO }
    }
}

/// What a policy may use beside the header.
pub struct Choice<'a> {
    pub(super) routes: &'a Routes,
    pub(super) row: &'a SwitchRow,
    now: Time,
    loads: &'a [NextHopLoad],
    hosts: &'a [HostLocation],
    tag: Cell<u64>,
}

impl<'a> Choice<'a> {
    #[inline]
    pub(crate) fn new(routes: &'a Routes, row: &'a SwitchRow, now: Time) -> Choice<'a> {
        Choice { routes, row, now, loads: &[], hosts: &[], tag: Cell::new(0) }
    }

    /// Adds the tag of the packet, and where hosts are.
    pub(crate) fn with_tag(self, tag: u64, hosts: &'a [HostLocation]) -> Choice<'a> {
        Choice { hosts, tag: Cell::new(tag), ..self }
    }

    /// Adds the loads of the packet's next hops.
    pub(crate) fn with_loads(self, loads: &'a [NextHopLoad]) -> Choice<'a> {
        Choice { loads, ..self }
    }

    /// When the packet is forwarded.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The ports that lead to the packet's destination: those on shortest paths, or one for each
    /// spanning tree.
    #[inline]
    pub fn next_hops(&self, header: &Header) -> &'a [PortId] {
        self.routes.next_hops_from(self.row, header.destination())
    }

    /// Whether there is something to choose for a packet: it carries data, and has several next
    /// hops. Other packets take ECMP's.
    #[inline]
    pub(crate) fn is_open(&self, header: &Header) -> bool {
        header.kind == PacketKind::Data && self.next_hops(header).len() > 1
    }

    /// The number of the group of next hops of a packet. Packets of one group have the same.
    #[inline]
    pub(crate) fn group(&self, header: &Header) -> u32 {
        self.routes.group_from(self.row, header.destination())
    }

    /// The numbers of the racks that a packet travels from and to. Only a policy with
    /// tags may ask.
    pub(crate) fn racks(&self, header: &Header) -> [u32; 2] {
        let (from, to) = header.route_ends();
        [from, to].map(|host| self.hosts[host as usize].rack)
    }

    /// The packet's tag; 0 if the policy has no tags.
    #[inline]
    pub(crate) fn tag(&self) -> u64 {
        self.tag.get()
    }

    /// Sets the packet's tag.
    #[inline]
    pub(crate) fn set_tag(&self, tag: u64) {
        self.tag.set(tag);
    }

    /// The loads of the next hops, in their order. Only a policy that depends on
    /// [queues](super::Depends::Queues) sees them.
    #[inline]
    pub fn loads(&self) -> &'a [NextHopLoad] {
        self.loads
    }
}
