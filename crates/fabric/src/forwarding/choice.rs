//! What a policy may use beside the header of a packet.

use crate::packet::{Header, PacketKind};
use crate::port::{NextHopLoad, Port};
use crate::routing::{PortSet, Routes};
use schemes::contract::HostLocation;
use std::cell::Cell;
use units::{PortId, Time};

/// What a policy may use beside the header.
pub struct Choice<'a> {
    set: PortSet,
    next_hops: &'a [PortId],
    now: Time,
    ports: &'a [Port],
    hosts: &'a [HostLocation],
    tag: Cell<u64>,
}

impl<'a> Choice<'a> {
    /// A choice among the ports of a set ([`Routes::ports_to`]).
    #[inline]
    pub(crate) fn new(routes: &'a Routes, set: PortSet, now: Time) -> Choice<'a> {
        let next_hops = routes.members(set);
        Choice { set, next_hops, now, ports: &[], hosts: &[], tag: Cell::new(0) }
    }

    /// Adds the tag of the packet, and where hosts are.
    pub(crate) fn with_tag(self, tag: u64, hosts: &'a [HostLocation]) -> Choice<'a> {
        Choice { hosts, tag: Cell::new(tag), ..self }
    }

    /// Adds the ports of the switch. Those that lead to the packet's destination must have been
    /// drained.
    #[inline]
    pub(crate) fn with_ports(self, ports: &'a [Port]) -> Choice<'a> {
        Choice { ports, ..self }
    }

    /// When the packet is forwarded.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The ports that lead to the packet's destination: those on shortest paths, or one for each
    /// spanning tree.
    #[inline]
    pub fn next_hops(&self) -> &'a [PortId] {
        self.next_hops
    }

    /// Whether there is something to choose for a packet: it carries data, and has several next
    /// hops. Other packets take ECMP's.
    #[inline]
    pub(crate) fn is_open(&self, header: &Header) -> bool {
        header.kind == PacketKind::Data && self.next_hops.len() > 1
    }

    /// The number of the group of next hops of a packet. Packets of one group have the same.
    #[inline]
    pub(crate) fn group(&self) -> u32 {
        self.set.number()
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

    /// The load that a next hop has for a packet. Only a policy that depends on
    /// [queues](super::Depends::Queues) may ask.
    #[inline]
    pub fn load(&self, next_hop: PortId, header: &Header) -> NextHopLoad {
        self.ports[next_hop.index()].load(header.priority, self.now)
    }
}
