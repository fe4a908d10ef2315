//! Traces: PFC frames, packets, and lengths of queues. Taking them changes no result. A node that
//! records nothing pays for one test of a pointer.

use crate::network::setup::{QueueSampling, Records};
use crate::observe::sequence::{Stored, array};
use crate::packet::Header;
use crate::packet::{Address, Flags, NO_INGRESS, PacketKind};
use engine::Window;
use schemes::contract::EcnCodePoint;
use std::io::{self, ErrorKind, Read};
use std::mem;
use units::{NodeId, PortId, Time};

/// The arrival of a PFC frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcEvent {
    /// When.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// At which port.
    pub port: PortId,
    /// Of which priority.
    pub priority: u8,
    /// Whether it pauses; otherwise it resumes.
    pub pause: bool,
}

/// What happened to a packet. Events of one instant at one port are sorted in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PacketEventKind {
    /// It arrived.
    Received,
    /// It is about to join a queue.
    Enqueued,
    /// It left a queue, and its serialisation begins.
    Dequeued,
    /// It was dropped: it found no room or no route, the congestion point or the PFC watchdog
    /// dropped it, or it waited for a link that failed.
    Dropped,
    /// It was lost on the link to this port: damaged, or the link failed.
    Lost,
    /// It waits in the switch for packets that were sent before it, and has joined no queue of a
    /// port.
    Held,
}

/// An event of a packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketEvent {
    /// When.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// At which port.
    pub port: PortId,
    /// What.
    pub happening: PacketEventKind,
    /// Bytes in its queue, the packet not counted.
    pub queue_bytes: u64,
    /// The packet. What only nodes need is left out: slots and hash of its address, its ingress.
    pub header: Header,
    /// For a PFC frame: whether it pauses.
    pub pause: bool,
}

/// A histogram of the length of a switch port's queues, from the start to a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueBlock {
    /// When.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// At which port.
    pub port: PortId,
    /// Number of samples by length in bins.
    pub counts: Vec<u64>,
}

/// Events that were recorded.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(crate) pfc: Vec<PfcEvent>,
    pub(crate) packets: Vec<PacketEvent>,
    pub(crate) queues: Vec<QueueBlock>,
}

/// What a node records.
#[derive(Debug)]
pub(crate) struct Recorder {
    node: NodeId,
    takes_pfc: bool,
    records_packets: bool,
    start: Time,
    end: Time,
    samples_per_event: u64,
    /// The limit of records is reached.
    is_full: bool,
    /// Events of this window that are not counted yet, and the memory of new records.
    fresh: u64,
    fresh_bytes: u64,
    pfc: Vec<PfcEvent>,
    packets: Vec<PacketEvent>,
    /// By port; empty if lengths of queues are not recorded.
    queues: Vec<Lengths>,
    /// When the sending of the packet began that arrived last, if that counts.
    arrival_sent: Time,
}

impl Recorder {
    /// Returns the recorder of a node, if the node records anything. `ports`: how many ports have
    /// queues that are recorded.
    pub(crate) fn new(records: &Records, node: NodeId, ports: usize) -> Option<Box<Recorder>> {
        let records_packets = records.packets.contains(&node);
        let queues: Vec<Lengths> = match records.queues {
            Some(clock) => (0..ports).map(|_| Lengths::new(clock)).collect(),
            None => Vec::new(),
        };
        (records.pfc || records_packets || !queues.is_empty()).then(|| {
            Box::new(Recorder {
                node,
                takes_pfc: records.pfc,
                records_packets,
                start: records.start,
                end: records.end,
                samples_per_event: records.samples_per_event,
                is_full: false,
                fresh: 0,
                fresh_bytes: 0,
                pfc: Vec::new(),
                packets: Vec::new(),
                queues,
                arrival_sent: Time::ZERO,
            })
        })
    }

    /// Returns whether it records packets. Lengths of queues do not need every packet: they do not
    /// change if a packet leaves without waiting.
    pub(crate) fn records_packets(&self) -> bool {
        self.records_packets
    }

    /// Returns whether it records packets or lengths of queues.
    pub(crate) fn records_queues_or_packets(&self) -> bool {
        self.records_packets || !self.queues.is_empty()
    }

    /// Returns whether a sample of the length of a port's queues is due before `until`.
    #[inline]
    pub(crate) fn samples_queue_before(&self, port: usize, until: Time) -> bool {
        self.queues.get(port).is_some_and(|lengths| lengths.next < until)
    }

    /// Begins a window. Notes whether the limit of records is reached.
    #[inline]
    pub(crate) fn begin<P: Copy + Send>(
        this: &mut Option<Box<Recorder>>,
        window: &Window<'_, '_, P>,
    ) {
        if let Some(recorder) = this {
            recorder.is_full = !window.may_record();
        }
    }

    /// Ends a window: counts what was recorded in it.
    #[inline]
    pub(crate) fn end<P: Copy + Send>(
        this: &mut Option<Box<Recorder>>,
        window: &mut Window<'_, '_, P>,
    ) {
        if let Some(recorder) = this {
            let entries = mem::take(&mut recorder.fresh) * recorder.samples_per_event;
            window.count_recorded(entries, mem::take(&mut recorder.fresh_bytes));
        }
    }

    /// Returns whether events of this time are recorded.
    fn is_asked(&self, time: Time) -> bool {
        !self.is_full && self.start <= time && time <= self.end
    }

    /// Records a PFC frame that arrives.
    pub(crate) fn pfc(&mut self, time: Time, port: u16, priority: u8, pause: bool) {
        if self.takes_pfc && self.is_asked(time) {
            self.fresh += 1;
            self.fresh_bytes += size_of::<PfcEvent>() as u64;
            let port = PortId::new(port);
            self.pfc.push(PfcEvent { time, node: self.node, port, priority, pause });
        }
    }

    /// Records an event of a packet.
    pub(crate) fn packet(
        &mut self,
        time: Time,
        port: u16,
        happening: PacketEventKind,
        queue_bytes: u64,
        header: &Header,
    ) {
        if self.records_packets && self.is_asked(time) {
            self.fresh += 1;
            self.fresh_bytes += size_of::<PacketEvent>() as u64;
            let pause = header.is_pause();
            let Address { src, dst, flow, .. } = header.address;
            let address = Address { src, dst, flow, ..Address::default() };
            let header = Header { address, ingress: NO_INGRESS, ..*header };
            let (node, port) = (self.node, PortId::new(port));
            let event = PacketEvent { time, node, port, happening, queue_bytes, header, pause };
            self.packets.push(event);
        }
    }

    /// Returns whether the lengths of queues are sampled at `now`.
    #[inline]
    pub(crate) fn samples_queues_at(&self, now: Time) -> bool {
        self.queues.first().is_some_and(|lengths| {
            let QueueSampling { start, interval, .. } = lengths.clock;
            now >= start && (now - start).ps().is_multiple_of(interval.ps())
        })
    }

    /// Notes when the sending of the packet that arrives now began: its arrival was scheduled then.
    pub(crate) fn set_arrival(&mut self, sent: Time) {
        self.arrival_sent = sent;
    }

    /// Returns whether a packet that was sent `way` ago may come after a sample of the length of a
    /// queue.
    pub(crate) fn samples_queues_within(&self, way: Time) -> bool {
        self.queues.iter().any(|lengths| way <= lengths.clock.interval)
    }

    /// A queue of `port`, which has held `bytes`, changes at `now`, when a packet comes in or a
    /// link fails. Unless [`set_arrival`](Self::set_arrival) says otherwise, both were scheduled
    /// before the sample of this instant, and so come before it. `idle`: the wire is free.
    pub(crate) fn queue_changes(&mut self, now: Time, port: usize, bytes: u64, idle: bool) {
        if let Some(lengths) = self.queues.get_mut(port) {
            if idle {
                lengths.idle_at = now;
            }
            self.fresh_bytes += lengths.count_to_change(now, bytes, self.arrival_sent);
        }
    }

    /// A packet leaves a queue of `port`, which has held `bytes`, at `now`. The end of the packet
    /// before it was scheduled at its beginning, at `last`. If the wire was free, the packet leaves
    /// as it comes in.
    pub(crate) fn packet_leaves(&mut self, now: Time, port: usize, bytes: u64, last: Time) {
        if let Some(lengths) = self.queues.get_mut(port) {
            let scheduled = if lengths.idle_at == now { self.arrival_sent } else { last };
            self.fresh_bytes += lengths.count_to_change(now, bytes, scheduled);
        }
    }

    /// Moves to `all` what was recorded before `end`. `bytes`: the queue length of a port then.
    pub(crate) fn hand_over(&mut self, all: &mut Events, end: Time, bytes: &dyn Fn(usize) -> u64) {
        assert!(self.packets.iter().all(|event| event.time < end), "a record of the future");
        all.pfc.append(&mut mem::take(&mut self.pfc));
        all.packets.append(&mut mem::take(&mut self.packets));
        for (port, lengths) in self.queues.iter_mut().enumerate() {
            lengths.count(end, bytes(port));
            for (time, counts) in lengths.blocks.drain(..) {
                all.queues.push(QueueBlock {
                    time,
                    node: self.node,
                    port: PortId::new(port as u16),
                    counts,
                });
            }
        }
    }
}

/// The lengths of a port's queues.
#[derive(Debug)]
struct Lengths {
    clock: QueueSampling,
    /// When the next sample is due.
    next: Time,
    /// When a packet last came in while the wire was free.
    idle_at: Time,
    counts: Vec<u64>,
    blocks: Vec<(Time, Vec<u64>)>,
}

impl Lengths {
    fn new(clock: QueueSampling) -> Lengths {
        let (next, idle_at) = (clock.start, Time::NEVER);
        Lengths { clock, next, idle_at, counts: Vec::new(), blocks: Vec::new() }
    }

    /// Takes the samples before a change at `now`. A sample is scheduled at the one before it, and
    /// the change at `scheduled`. If both are at one instant, they come in the order of their
    /// scheduling. Returns the memory of new blocks.
    fn count_to_change(&mut self, now: Time, bytes: u64, scheduled: Time) -> u64 {
        let QueueSampling { start, interval, .. } = self.clock;
        let sample_is_first = now == start || scheduled + interval >= now;
        let until = if sample_is_first { now + Time::from_ps(1) } else { now };
        self.count(until, bytes)
    }

    /// Takes the samples before `until`, when the queue has `bytes`. Returns the memory of new
    /// blocks.
    fn count(&mut self, until: Time, bytes: u64) -> u64 {
        let mut taken = 0;
        let QueueSampling { end, interval, block, bin, .. } = self.clock;
        while self.next < until {
            // All samples up to the end of a block at once.
            let block_end = self.next.round_up(block);
            // The last sample is the first one that is not before the end.
            let last = (until - Time::from_ps(1)).min(block_end).min(end.max(self.next));
            let looks = (last - self.next).ps() / interval.ps() + 1;
            let index = (bytes / bin) as usize;
            if self.counts.len() <= index {
                self.counts.resize(index + 1, 0);
            }
            self.counts[index] += looks;
            let last = self.next + interval * (looks - 1);
            if last.ps().is_multiple_of(block.ps()) {
                self.blocks.push((last, self.counts.clone()));
                taken += (size_of::<QueueBlock>() + size_of_val(&self.counts[..])) as u64;
            }
            self.next = if last >= end { Time::NEVER } else { last + interval };
        }
        taken
    }
}

impl Stored for PfcEvent {
    fn store(&self, out: &mut Vec<u8>) {
        out.extend(self.time.ps().to_le_bytes());
        out.extend(self.node.get().to_le_bytes());
        out.extend(self.port.get().to_le_bytes());
        out.extend([self.priority, self.pause.into()]);
    }

    fn load(from: &mut impl Read) -> io::Result<PfcEvent> {
        let (time, node, port) = port_at_time(from)?;
        let [priority, pause] = array(from)?;
        Ok(PfcEvent { time, node, port, priority, pause: pause != 0 })
    }
}

impl Stored for QueueBlock {
    fn store(&self, out: &mut Vec<u8>) {
        out.extend(self.time.ps().to_le_bytes());
        out.extend(self.node.get().to_le_bytes());
        out.extend(self.port.get().to_le_bytes());
        out.extend((self.counts.len() as u64).to_le_bytes());
        self.counts.iter().for_each(|count| out.extend(count.to_le_bytes()));
    }

    fn load(from: &mut impl Read) -> io::Result<QueueBlock> {
        let (time, node, port) = port_at_time(from)?;
        let length = u64::from_le_bytes(array(from)?);
        let counts = (0..length).map(|_| Ok(u64::from_le_bytes(array(from)?)));
        Ok(QueueBlock { time, node, port, counts: counts.collect::<io::Result<_>>()? })
    }
}

impl Stored for PacketEvent {
    fn store(&self, out: &mut Vec<u8>) {
        let header = &self.header;
        let Address { src, dst, flow, .. } = header.address;
        out.extend(self.time.ps().to_le_bytes());
        out.extend(self.node.get().to_le_bytes());
        out.extend(self.port.get().to_le_bytes());
        out.extend([self.happening as u8, self.pause.into()]);
        out.extend(self.queue_bytes.to_le_bytes());
        [src, dst, flow].into_iter().for_each(|part| out.extend(part.to_le_bytes()));
        out.extend({ header.sequence }.to_le_bytes());
        out.extend({ header.sent_at }.ps().to_le_bytes());
        out.extend(header.size.to_le_bytes());
        out.extend(header.payload.to_le_bytes());
        let bytes = [header.kind as u8, header.priority, header.code_point as u8];
        out.extend(bytes.into_iter().chain([header.echo as u8, header.flags.bits()]));
    }

    fn load(from: &mut impl Read) -> io::Result<PacketEvent> {
        let (time, node, port) = port_at_time(from)?;
        let [happening, pause] = array(from)?;
        let queue_bytes = u64::from_le_bytes(array(from)?);
        let mut part = || Ok::<_, io::Error>(u32::from_le_bytes(array(from)?));
        let address = Address { src: part()?, dst: part()?, flow: part()?, ..Address::default() };
        let sequence = u64::from_le_bytes(array(from)?);
        let sent_at = Time::from_ps(u64::from_le_bytes(array(from)?));
        let size = u16::from_le_bytes(array(from)?);
        let payload = u16::from_le_bytes(array(from)?);
        let [kind, priority, code_point, echo, flags] = array(from)?;
        let header = Header {
            address,
            sequence,
            sent_at,
            size,
            payload,
            ingress: NO_INGRESS,
            kind: numbered(&KINDS, kind)?,
            priority,
            code_point: numbered(&CODE_POINTS, code_point)?,
            echo: numbered(&CODE_POINTS, echo)?,
            flags: Flags::from_bits_retain(flags),
        };
        let happening = numbered(&HAPPENINGS, happening)?;
        Ok(PacketEvent { time, node, port, happening, queue_bytes, header, pause: pause != 0 })
    }
}

/// Reads time, node and port, with which each record begins.
fn port_at_time(from: &mut impl Read) -> io::Result<(Time, NodeId, PortId)> {
    let time = Time::from_ps(u64::from_le_bytes(array(from)?));
    let node = NodeId::new(u32::from_le_bytes(array(from)?));
    Ok((time, node, PortId::new(u16::from_le_bytes(array(from)?))))
}

/// Every kind of packet, at the index that is its number in a file.
const KINDS: [PacketKind; 7] = [
    PacketKind::Data,
    PacketKind::Ack,
    PacketKind::Nack,
    PacketKind::Control,
    PacketKind::LinkControl,
    PacketKind::PathControl,
    PacketKind::Pfc,
];
/// Every code point, at the index that is its number in a file.
const CODE_POINTS: [EcnCodePoint; 3] =
    [EcnCodePoint::NotMarked, EcnCodePoint::Undetermined, EcnCodePoint::CongestionExperienced];
/// Every kind of event, at the index that is its number in a file.
const HAPPENINGS: [PacketEventKind; 6] = [
    PacketEventKind::Received,
    PacketEventKind::Enqueued,
    PacketEventKind::Dequeued,
    PacketEventKind::Dropped,
    PacketEventKind::Lost,
    PacketEventKind::Held,
];

const _: () = {
    let mut index = 0;
    while index < KINDS.len() {
        assert!(KINDS[index] as usize == index);
        index += 1;
    }
    index = 0;
    while index < CODE_POINTS.len() {
        assert!(CODE_POINTS[index] as usize == index);
        index += 1;
    }
    index = 0;
    while index < HAPPENINGS.len() {
        assert!(HAPPENINGS[index] as usize == index);
        index += 1;
    }
};

/// Returns the variant with this number in a file.
fn numbered<T: Copy>(all: &[T], number: u8) -> io::Result<T> {
    all.get(usize::from(number)).copied().ok_or_else(|| ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counting_many_looks_at_once_is_counting_each(
            changes in prop::collection::vec((0u64..3_000, 0u64..5_000), 0..40),
            start in 0u64..40,
            end in 0u64..400,
        ) {
            let ns = |n: u64| Time::from_ns(n * 100);
            let clock = QueueSampling {
                start: ns(start),
                end: ns(end),
                interval: ns(1),
                block: ns(50),
                bin: 1_000,
            };
            let mut lengths = Lengths::new(clock);
            let mut now = Time::ZERO;
            let mut bytes = 0;
            let mut history = vec![];
            for (wait, next) in changes {
                now += Time::from_ns(wait);
                lengths.count(now, bytes);
                bytes = next;
                history.push((now, next));
            }
            let stop = now.max(ns(start)).max(ns(end)) + ns(7);
            lengths.count(stop, bytes);
            let mut counts = Vec::<u64>::new();
            let mut blocks = vec![];
            let mut look = clock.start;
            loop {
                let seen = history.iter().rev().find(|(at, _)| *at <= look).map_or(0, |h| h.1);
                let index = (seen / 1_000) as usize;
                counts.resize(counts.len().max(index + 1), 0);
                counts[index] += 1;
                if look.ps().is_multiple_of(clock.block.ps()) {
                    blocks.push((look, counts.clone()));
                }
                if look >= clock.end {
                    break;
                }
                look += clock.interval;
            }
            prop_assert_eq!(lengths.blocks, blocks);
            prop_assert_eq!(lengths.counts, counts);
        }
    }
}
