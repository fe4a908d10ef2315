//! ConWeave: the top-of-rack switch of a sender moves a flow to another path when the present one
//! is slow, and that of the receiver puts packets back in order (Song et al., SIGCOMM 2023).
//!
//! At most two paths have packets of a flow: the source leaves the new one only after the
//! destination has said that nothing is left on the old one. What arrives on the new path before
//! the last packet of the old one waits in a queue of the destination's switch.
//!
//! As in the authors' simulator: of the paths that are sampled the present one may be one; if all
//! are busy the flow stays on its path and does all the rest; every marked packet is reported; what
//! waits leaves right behind the last packet of the old path. Other than there, what waits takes
//! room in the buffer of the switch, unless it has memory of its own, and a flow without a free
//! queue is not held.

mod destination;
mod paths;
mod source;
mod tag;

pub(crate) use destination::{Arrival, Fate, Notice};
pub(crate) use paths::PathTable;

use super::{Choice, Depends, Ecmp, Forwarding, Moves, Place};
use crate::packet::{Header, PacketKind};
use destination::Destination;
use model::ConWeave as Params;
use rand_pcg::Pcg64Mcg;
use source::Source;
use std::sync::Arc;
use tag::{NO_TAG, Stamp, Tag};
use units::{PortId, Time};

/// ConWeave in one switch.
#[derive(Debug)]
pub(crate) struct ConWeave {
    ecmp: Ecmp,
    paths: Arc<PathTable>,
    node: u32,
    epoch: usize,
    /// By port: the neighbour, if it is a switch.
    switches: Vec<Option<u32>>,
    /// `None` where no hosts are.
    rack: Option<Box<Rack>>,
    /// What waits takes no room in the buffer.
    has_own_memory: bool,
}

/// What the switch of a rack knows beside.
#[derive(Debug)]
struct Rack {
    number: u32,
    /// The switch of each rack.
    tors: Vec<u32>,
    source: Source,
    destination: Destination,
}

impl ConWeave {
    pub(crate) fn new(ecmp: Ecmp, params: &Params, draws: Pcg64Mcg, place: &Place<'_>) -> ConWeave {
        let Place { graph, hosts, node, paths, .. } = *place;
        let ends = graph.ports(node);
        let mut tors = Vec::new();
        for host in hosts {
            tors.resize(tors.len().max(host.rack as usize + 1), 0);
            tors[host.rack as usize] = host.tor.get();
        }
        let rack = tors.iter().position(|&tor| tor == node).map(|number| {
            Box::new(Rack {
                number: number as u32,
                source: Source::new(params, tors.len(), draws),
                destination: Destination::new(params, ends.len()),
                tors,
            })
        });
        ConWeave {
            ecmp,
            paths: Arc::clone(paths.expect("it is made with this policy")),
            node,
            epoch: 0,
            switches: ends
                .iter()
                .map(|end| (!graph.is_host(end.peer)).then_some(end.peer))
                .collect(),
            rack,
            has_own_memory: params.own_memory,
        }
    }

    /// Whether packets that wait have memory of their own, and take no room in the buffer.
    pub(crate) fn has_own_memory(&self) -> bool {
        self.has_own_memory
    }

    /// The bytes that wait for earlier ones and leave through `port` then; `None` if hosts are
    /// elsewhere.
    pub(crate) fn bytes_held(&self, port: PortId) -> Option<u64> {
        self.rack.as_ref().map(|rack| rack.destination.bytes_held(port))
    }

    /// The bytes that wait in memory of their own.
    pub(crate) fn bytes_in_own_memory(&self) -> u64 {
        let rack = self.rack.as_ref().filter(|_| self.has_own_memory);
        rack.map_or(0, |rack| rack.destination.held_bytes())
    }

    /// What a packet that has arrived asks of this switch as that of its destination.
    pub(crate) fn arrive(&mut self, choice: &Choice<'_>, header: &Header) -> Arrival {
        let in_port = header.in_port();
        let [from, to] = choice.racks(header);
        let Some(rack) = self.rack.as_mut().filter(|rack| rack.number == to) else {
            return Arrival::PASS;
        };
        if in_port.is_none_or(|port| self.switches[port.index()].is_none()) {
            return Arrival::PASS;
        }
        match (header.kind, Tag::from_bits(choice.tag()), choice.next_hops()) {
            (PacketKind::PathControl, Some(tag), _) => {
                rack.source.hear(header, tag, from, choice.now());
                Arrival { fate: Fate::Consume, ..Arrival::PASS }
            }
            (PacketKind::Data, Some(tag), &[port]) => {
                rack.destination.receive(header, tag, choice.now(), port)
            }
            _ => Arrival::PASS,
        }
    }

    /// The tag of a notice.
    pub(crate) fn tag_of(notice: Notice) -> u64 {
        let Notice { kind, epoch, path } = notice;
        let (sent, tail_sent) = (Stamp::ZERO, Stamp::ZERO);
        Tag { kind, epoch, is_rerouted: false, path, rest: 0, sent, tail_sent }.to_bits()
    }

    /// A packet of `size` bytes waits in a queue from now on.
    pub(crate) fn note_held(&mut self, queue: u32, size: u16) {
        self.rack.as_mut().expect("it has hosts").destination.note_held(queue, size);
    }

    /// When a queue next stops to wait for the last packet of an old path.
    #[inline]
    pub(crate) fn next_timer(&self) -> Time {
        self.rack.as_ref().map_or(Time::NEVER, |rack| rack.destination.next())
    }

    /// Takes a queue that has waited in vain until `now`.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<u32> {
        self.rack.as_mut()?.destination.take_due(now)
    }

    /// Writes the tag of a data packet that a host of this switch sends to another rack. A packet
    /// that has no choice of paths gets none.
    fn stamp(&mut self, choice: &Choice<'_>, header: &Header, to: u32) -> u64 {
        let ConWeave { paths, node, epoch, rack, .. } = self;
        let rack = rack.as_mut().expect("it has hosts");
        let there = paths.toward(*epoch, *node, to);
        if there.paths < 2 {
            return NO_TAG;
        }
        let back = paths.toward(*epoch, rack.tors[to as usize], rack.number);
        let round_trip = there.data + back.control;
        let tag = rack.source.send(header, choice.now(), (to, there.paths), round_trip);
        Tag { rest: tag.path, ..tag }.to_bits()
    }

    /// The next hop of a packet on its path.
    fn follow(&self, choice: &Choice<'_>, tag: Tag, to: u32) -> Option<PortId> {
        let neighbours = choice.next_hops().iter();
        let neighbours = neighbours.map(|&port| (port, self.switches[port.index()]));
        let paths = self.paths.toward(self.epoch, self.node, to).paths;
        // Where links have failed meanwhile the number may be of no path.
        let number = u32::from(tag.rest) % paths.max(1);
        let (port, rest) = self.paths.step(self.epoch, neighbours, to, number)?;
        choice.set_tag(Tag { rest, ..tag }.to_bits());
        Some(port)
    }
}

impl Forwarding for ConWeave {
    const DEPENDS: Depends = Depends::History;

    fn select(&mut self, choice: &Choice<'_>, header: &Header) -> Option<PortId> {
        if header.kind != PacketKind::Data {
            return self.ecmp.select(choice, header);
        }
        let [_, to] = choice.racks(header);
        let own = self.rack.as_ref().map(|rack| rack.number);
        let in_port = header.in_port();
        if in_port.is_some_and(|port| self.switches[port.index()].is_none()) {
            let tag = if own == Some(to) { NO_TAG } else { self.stamp(choice, header, to) };
            choice.set_tag(tag);
        }
        match Tag::from_bits(choice.tag()) {
            Some(tag) if own != Some(to) => self.follow(choice, tag, to),
            _ => self.ecmp.select(choice, header),
        }
    }

    fn begin_epoch(&mut self) {
        self.epoch += 1;
    }

    fn on_reroute(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.source.forget_paths();
        }
    }

    fn moved(&self) -> Vec<Moves> {
        self.rack.as_ref().map_or(Vec::new(), |rack| rack.source.moved())
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Some(rack) = &self.rack else { return Vec::new() };
        rack.source.counters().into_iter().chain(rack.destination.counters()).collect()
    }
}
