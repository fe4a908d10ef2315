//! Records of single events: PFC frames, packets, and how long queues were. Taking them changes
//! nothing; a node that takes none pays a test of a pointer.

use crate::packet::Header;
use engine::Window;
use schemes::contract::CodePoint;
use std::collections::BTreeSet;
use units::{NodeId, Time};

/// What to record.
#[derive(Clone, Debug)]
pub struct Records {
    /// Every PFC frame where it arrives.
    pub pfc: bool,
    /// Every packet at these nodes.
    pub packets: BTreeSet<NodeId>,
    /// Lengths of all queues of switches.
    pub queues: Option<QueueClock>,
    /// PFC frames and packets from this time on.
    pub start: Time,
    /// And up to this one.
    pub end: Time,
    /// Each PFC frame and each event of a packet counts as so many samples of probes: where there is no
    /// room for more of those, none is recorded.
    pub samples_each: u64,
}

impl Default for Records {
    /// Nothing; what is asked for then, to the end of the run and however much it is.
    fn default() -> Records {
        Records {
            pfc: false,
            packets: BTreeSet::new(),
            queues: None,
            start: Time::ZERO,
            end: Time::NEVER,
            samples_each: 0,
        }
    }
}

/// When lengths of queues are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueClock {
    /// For the first time.
    pub start: Time,
    /// For the last time at this or just after it.
    pub end: Time,
    /// So often.
    pub interval: Time,
    /// What was counted until then is kept whenever the time is a multiple of this.
    pub block: Time,
    /// Bytes that count as the same length.
    pub bin: u64,
}

/// A PFC frame arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcEvent {
    /// When.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// At which port.
    pub port: u16,
    /// Of which priority.
    pub priority: u8,
    /// It pauses, or else resumes.
    pub pause: bool,
}

/// What happened to a packet; of one instant at one port, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Happening {
    /// It came in.
    Received,
    /// It is about to join a queue.
    Enqueued,
    /// It left a queue and begins to go out.
    Dequeued,
    /// It found no room, or no way that a failure has left.
    Dropped,
    /// It was damaged on the link to this port, or that failed.
    Lost,
}

/// Something happened to a packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketEvent {
    /// When.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// At which port.
    pub port: u16,
    /// What.
    pub happening: Happening,
    /// Bytes in its queue without it.
    pub queue_bytes: u64,
    /// The packet.
    pub header: Header,
    /// Of a PFC frame: it pauses.
    pub pause: bool,
}

/// How often the queues of a switch's port had which length, as of a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueBlock {
    /// When.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// At which port.
    pub port: u16,
    /// Looks, by length in bins.
    pub counts: Vec<u64>,
}

/// What a node records.
#[derive(Debug)]
pub(crate) struct Recorder {
    node: NodeId,
    takes_pfc: bool,
    takes_packets: bool,
    start: Time,
    end: Time,
    samples_each: u64,
    /// There is no room for more.
    is_full: bool,
    /// Events that have not been counted.
    fresh: u64,
    pub(crate) pfc: Vec<PfcEvent>,
    pub(crate) packets: Vec<PacketEvent>,
    /// By port; none where lengths are not looked at.
    queues: Vec<Lengths>,
}

impl Recorder {
    /// The recorder of a node with so many ports whose queues count, if it records anything.
    pub(crate) fn new(records: &Records, node: NodeId, ports: usize) -> Option<Box<Recorder>> {
        let takes_packets = records.packets.contains(&node);
        let queues: Vec<Lengths> = match records.queues {
            Some(clock) => (0..ports).map(|_| Lengths::new(clock)).collect(),
            None => Vec::new(),
        };
        (records.pfc || takes_packets || !queues.is_empty()).then(|| {
            Box::new(Recorder {
                node,
                takes_pfc: records.pfc,
                takes_packets,
                start: records.start,
                end: records.end,
                samples_each: records.samples_each,
                is_full: false,
                fresh: 0,
                pfc: Vec::new(),
                packets: Vec::new(),
                queues,
            })
        })
    }

    /// Whether it wants to see every packet. Lengths of queues do not change where a packet passes
    /// through a port without waiting.
    pub(crate) fn takes_packets(&self) -> bool {
        self.takes_packets
    }

    /// Whether it looks at packets or queues.
    pub(crate) fn looks_at_packets(&self) -> bool {
        self.takes_packets || !self.queues.is_empty()
    }

    /// A window begins, in which there is room for what is recorded or not.
    #[inline]
    pub(crate) fn begin<P: Copy + Send>(
        this: &mut Option<Box<Recorder>>,
        window: &Window<'_, '_, P>,
    ) {
        if let Some(recorder) = this {
            recorder.is_full = recorder.samples_each > 0 && !window.has_room();
        }
    }

    /// The window ends: what was recorded in it is counted.
    #[inline]
    pub(crate) fn end<P: Copy + Send>(
        this: &mut Option<Box<Recorder>>,
        window: &mut Window<'_, '_, P>,
    ) {
        if let Some(recorder) = this {
            window.record(std::mem::take(&mut recorder.fresh) * recorder.samples_each);
        }
    }

    fn is_asked(&self, time: Time) -> bool {
        !self.is_full && self.start <= time && time <= self.end
    }

    pub(crate) fn pfc(&mut self, time: Time, port: u16, priority: u8, pause: bool) {
        if self.takes_pfc && self.is_asked(time) {
            self.fresh += 1;
            self.pfc.push(PfcEvent { time, node: self.node, port, priority, pause });
        }
    }

    pub(crate) fn packet(
        &mut self,
        time: Time,
        port: u16,
        happening: Happening,
        queue_bytes: u64,
        header: &Header,
    ) {
        if self.takes_packets && self.is_asked(time) {
            self.fresh += 1;
            let pause = header.echo != CodePoint::Capable;
            let (node, header) = (self.node, *header);
            let event = PacketEvent { time, node, port, happening, queue_bytes, header, pause };
            self.packets.push(event);
        }
    }

    /// A queue of `port` that holds `bytes` is about to grow: looks before `now` saw that.
    pub(crate) fn grows(&mut self, now: Time, port: usize, bytes: u64) {
        if let Some(lengths) = self.queues.get_mut(port) {
            lengths.count(now, bytes);
        }
    }

    /// A queue of `port` that holds `bytes` is about to shrink: looks up to `now` saw that.
    pub(crate) fn shrinks(&mut self, now: Time, port: usize, bytes: u64) {
        if let Some(lengths) = self.queues.get_mut(port) {
            lengths.count(now + Time::from_ps(1), bytes);
        }
    }

    /// The blocks of the run, which ends at `end` with queues of these bytes.
    pub(crate) fn blocks(&mut self, end: Time, bytes: impl Fn(usize) -> u64) -> Vec<QueueBlock> {
        let mut blocks = Vec::new();
        for (port, lengths) in self.queues.iter_mut().enumerate() {
            lengths.count(end, bytes(port));
            for (time, counts) in lengths.blocks.drain(..) {
                blocks.push(QueueBlock { time, node: self.node, port: port as u16, counts });
            }
        }
        blocks
    }
}

/// The lengths of a port's queues.
#[derive(Debug)]
struct Lengths {
    clock: QueueClock,
    /// The next look.
    next: Time,
    counts: Vec<u64>,
    blocks: Vec<(Time, Vec<u64>)>,
}

impl Lengths {
    fn new(clock: QueueClock) -> Lengths {
        Lengths { clock, next: clock.start, counts: Vec::new(), blocks: Vec::new() }
    }

    /// Counts the looks before `until`, which see `bytes`.
    fn count(&mut self, until: Time, bytes: u64) {
        let QueueClock { end, interval, block, bin, .. } = self.clock;
        while self.next < until {
            // As many as there are up to the end of a block, at once.
            let block_end = self.next.round_up(block);
            // The last look is the first that is not before the end.
            let last = (until - Time::from_ps(1)).min(block_end).min(end.max(self.next));
            let looks = (last - self.next).ps() / interval.ps() + 1;
            let place = (bytes / bin) as usize;
            if self.counts.len() <= place {
                self.counts.resize(place + 1, 0);
            }
            self.counts[place] += looks;
            let last = self.next + interval * (looks - 1);
            if last.ps().is_multiple_of(block.ps()) {
                self.blocks.push((last, self.counts.clone()));
            }
            self.next = if last >= end { Time::NEVER } else { last + interval };
        }
    }
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
            let clock = QueueClock {
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
                let place = (seen / 1_000) as usize;
                counts.resize(counts.len().max(place + 1), 0);
                counts[place] += 1;
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
