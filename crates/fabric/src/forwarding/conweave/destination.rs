//! What a top-of-rack switch does for the flows that end below it: it holds rerouted packets back
//! until the last one of the old path has come, and tells the source what it sees.

use super::tag::{Kind, Stamp, Tag};
use crate::forwarding::flow_table::FlowTable;
use crate::packet::{EcnCodePoint, Header};
use model::ConWeave as Params;
use units::{PortId, Time};

/// What becomes of a packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is forwarded.
    Pass,
    /// It was for this switch.
    Consume,
    /// It waits in this queue.
    Hold(u32),
}

/// What a switch says to the source of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(super) kind: Kind,
    pub(super) epoch: u8,
    pub(super) path: u8,
}

/// What follows from an arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// What waits in this queue is forwarded first.
    pub(crate) release_before: Option<u32>,
    pub(crate) fate: Fate,
    /// What waits in this queue is forwarded then.
    pub(crate) release_after: Option<u32>,
    pub(crate) notices: [Option<Notice>; 2],
}

impl Arrival {
    pub(crate) const PASS: Arrival =
        Arrival { release_before: None, fate: Fate::Pass, release_after: None, notices: [None; 2] };
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    is_known: bool,
    /// The lowest two bits.
    epoch: u8,
    /// The tail has come, or will not be waited for: rerouted packets pass.
    is_past_tail: bool,
    /// When the last packet on the old path was sent and when it came.
    old: Option<(Stamp, Time)>,
    /// Where its packets wait.
    queue: Option<u32>,
}

const UNSEEN: Flow =
    Flow { is_known: false, epoch: 0, is_past_tail: false, old: None, queue: None };

/// A queue for the rerouted packets of one flow.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// A packet of its flow.
    flow: Header,
    port: PortId,
    /// When the tail of its flow was sent.
    tail_sent: Stamp,
    /// When the tail is no longer waited for.
    resume: Time,
    bytes: u64,
}

/// The flows that end below a switch.
#[derive(Debug)]
pub(super) struct Destination {
    flows: FlowTable<Flow>,
    /// By number; `None`: it is free.
    queues: Vec<Option<Queue>>,
    /// By port: how many of its queues are in use.
    in_use: Vec<u32>,
    /// The earliest end of waiting.
    next: Time,
    params: Params,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    replies: u64,
    clears: u64,
    notifies: u64,
    held_packets: u64,
    releases: u64,
    early_releases: u64,
    unheld_packets: u64,
    max_queues: u64,
    max_queue_bytes: u64,
    held_bytes: u64,
    max_held_bytes: u64,
}

impl Destination {
    pub(super) fn new(params: &Params, ports: usize) -> Destination {
        Destination {
            flows: FlowTable::new(UNSEEN),
            queues: Vec::new(),
            in_use: vec![0; ports],
            next: Time::NEVER,
            params: params.clone(),
            counts: Counts::default(),
        }
    }

    /// A data packet with a tag has come, for a host at `port`.
    pub(super) fn receive(
        &mut self,
        header: &Header,
        tag: Tag,
        now: Time,
        port: PortId,
    ) -> Arrival {
        let mut arrival = Arrival::PASS;
        let mut flow = *self.flows.of(header);
        match (tag.epoch.wrapping_sub(flow.epoch) & 3, flow.is_known) {
            (0, true) => {}
            // Of the epoch before: no packet of its flow waits for it.
            (3, true) => return arrival,
            _ => {
                arrival.release_before = flow.queue;
                flow = Flow { is_known: true, epoch: tag.epoch, ..UNSEEN };
            }
        }
        if tag.kind == Kind::Tail {
            flow.is_past_tail = true;
            arrival.release_after = flow.queue.take();
        } else if !tag.is_rerouted {
            flow.old = Some((tag.sent, now));
            if let Some(queue) = flow.queue {
                self.renew(queue, flow.old, now);
            }
        } else if !flow.is_past_tail {
            if flow.queue.is_none() {
                flow.queue = self.take_queue(header, tag, flow.old, now, port);
            }
            match flow.queue {
                Some(queue) => arrival.fate = Fate::Hold(queue),
                None => self.counts.unheld_packets += 1,
            }
        }
        *self.flows.of(header) = flow;
        if let Some(queue) = arrival.release_before {
            self.counts.early_releases += 1;
            self.free(queue);
        }
        if let Some(queue) = arrival.release_after {
            self.free(queue);
        }
        arrival.notices = self.answer(header, tag);
        arrival
    }

    /// What the source gets to know of a packet.
    fn answer(&mut self, header: &Header, tag: Tag) -> [Option<Notice>; 2] {
        let Counts { replies, clears, notifies, .. } = &mut self.counts;
        let notice = |kind| Notice { kind, epoch: tag.epoch, path: tag.path };
        let is_marked = header.code_point == EcnCodePoint::CongestionExperienced;
        *notifies += u64::from(is_marked);
        let asked = match tag.kind {
            Kind::Request => {
                *replies += 1;
                Some(notice(Kind::Reply))
            }
            Kind::Tail => {
                *clears += 1;
                Some(notice(Kind::Clear))
            }
            _ => None,
        };
        [is_marked.then(|| notice(Kind::Notify)), asked]
    }

    /// Takes a free queue of a port for the flow of a packet; `None` if there is none.
    fn take_queue(
        &mut self,
        header: &Header,
        tag: Tag,
        old: Option<(Stamp, Time)>,
        now: Time,
        port: PortId,
    ) -> Option<u32> {
        let in_use = &mut self.in_use[port.index()];
        if *in_use == self.params.queues {
            return None;
        }
        *in_use += 1;
        self.counts.max_queues = self.counts.max_queues.max(u64::from(*in_use));
        let free = self.queues.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.queues.push(None);
            self.queues.len() - 1
        }) as u32;
        let queue =
            Queue { flow: *header, port, tail_sent: tag.tail_sent, resume: Time::NEVER, bytes: 0 };
        self.queues[number as usize] = Some(queue);
        self.renew(number, old, now);
        Some(number)
    }

    /// Sets until when a queue waits for the tail. `old`: when the last packet on the old path was
    /// sent and when it came.
    fn renew(&mut self, queue: u32, old: Option<(Stamp, Time)>, now: Time) {
        let Params { resume_extra, resume_default, .. } = self.params;
        let queue = self.queues[queue as usize].as_mut().expect("it is in use");
        let resume = match old {
            Some((sent, came)) => came + queue.tail_sent.since(sent) + resume_extra,
            None => now + resume_default,
        };
        queue.resume = resume.max(now + Time::from_ps(1));
        self.next = self.earliest();
    }

    /// When the first queue stops to wait.
    fn earliest(&self) -> Time {
        self.queues.iter().flatten().map(|queue| queue.resume).min().unwrap_or(Time::NEVER)
    }

    fn free(&mut self, queue: u32) {
        let freed = self.queues[queue as usize].take().expect("it was in use");
        self.in_use[freed.port.index()] -= 1;
        self.counts.releases += 1;
        self.counts.held_bytes -= freed.bytes;
        self.next = self.earliest();
    }

    /// The bytes that wait now.
    pub(super) fn held_bytes(&self) -> u64 {
        self.counts.held_bytes
    }

    /// The bytes that wait now and leave through a port then.
    pub(super) fn bytes_held(&self, port: PortId) -> u64 {
        let queues = self.queues.iter().flatten().filter(|queue| queue.port == port);
        queues.map(|queue| queue.bytes).sum()
    }

    /// A packet of `size` bytes waits in a queue from now on.
    pub(super) fn note_held(&mut self, queue: u32, size: u16) {
        let queue = self.queues[queue as usize].as_mut().expect("it is in use");
        let counts = &mut self.counts;
        queue.bytes += u64::from(size);
        counts.held_bytes += u64::from(size);
        counts.held_packets += 1;
        counts.max_queue_bytes = counts.max_queue_bytes.max(queue.bytes);
        counts.max_held_bytes = counts.max_held_bytes.max(counts.held_bytes);
    }

    /// When the next queue stops to wait.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Takes a queue that has waited in vain until `now`.
    pub(super) fn take_due(&mut self, now: Time) -> Option<u32> {
        if self.next > now {
            return None;
        }
        let is_due = |queue: &Option<Queue>| queue.is_some_and(|queue| queue.resume <= now);
        let number = self.queues.iter().position(is_due)? as u32;
        let queue = self.queues[number as usize].expect("it is due");
        let flow = self.flows.of(&queue.flow);
        (flow.queue, flow.is_past_tail) = (None, true);
        self.counts.early_releases += 1;
        self.free(number);
        Some(number)
    }

    pub(super) fn counters(&self) -> [(&'static str, u64); 10] {
        let counts = &self.counts;
        [
            ("replies", counts.replies),
            ("clears", counts.clears),
            ("notifies", counts.notifies),
            ("held_packets", counts.held_packets),
            ("releases", counts.releases),
            ("early_releases", counts.early_releases),
            ("unheld_packets", counts.unheld_packets),
            ("max_reorder_queues", counts.max_queues),
            ("max_reorder_queue_bytes", counts.max_queue_bytes),
            ("max_held_bytes", counts.max_held_bytes),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Address, PacketKind, blank};

    const PARAMS: Params = Params {
        reply_extra: Time::from_us(4),
        path_busy: Time::from_us(8),
        inactive: Time::from_us(300),
        resume_extra: Time::from_us(16),
        resume_default: Time::from_us(200),
        queues: 2,
        samples: 2,
        header: 4,
        own_memory: false,
    };

    fn packet(flow: u32) -> Header {
        blank(PacketKind::Data, Address { receiver_slot: flow, ..Address::default() }, 3, 1000)
    }

    fn tag(kind: Kind, epoch: u8, sent_us: u64) -> Tag {
        let (sent, tail_sent) = (Stamp::new(Time::from_us(sent_us)), Stamp::ZERO);
        Tag { kind, epoch, is_rerouted: false, path: 7, rest: 0, sent, tail_sent }
    }

    /// A rerouted packet of a flow whose tail left at 50 us.
    fn rerouted(epoch: u8, sent_us: u64) -> Tag {
        let tail_sent = Stamp::new(Time::from_us(50));
        Tag { is_rerouted: true, tail_sent, ..tag(Kind::Data, epoch, sent_us) }
    }

    fn receive(to: &mut Destination, flow: u32, tag: Tag, us: u64) -> Arrival {
        to.receive(&packet(flow), tag, Time::from_us(us), PortId::new(3))
    }

    #[test]
    fn rerouted_packets_wait_for_the_tail() {
        let mut to = Destination::new(&PARAMS, 4);
        let request = receive(&mut to, 1, tag(Kind::Request, 1, 40), 100);
        assert_eq!(request.fate, Fate::Pass);
        assert_eq!(request.notices[1].unwrap().kind, Kind::Reply);
        for us in 101..104 {
            assert_eq!(receive(&mut to, 1, rerouted(1, 51), us).fate, Fate::Hold(0));
            to.note_held(0, 1000);
        }
        // Those of the old path pass.
        let old = receive(&mut to, 1, tag(Kind::Data, 1, 45), 104);
        assert_eq!((old.fate, old.release_after), (Fate::Pass, None));
        let tail = receive(&mut to, 1, tag(Kind::Tail, 1, 50), 105);
        assert_eq!((tail.fate, tail.release_after), (Fate::Pass, Some(0)));
        assert_eq!(tail.notices[1].unwrap().kind, Kind::Clear);
        assert_eq!(to.next(), Time::NEVER);
        assert_eq!(receive(&mut to, 1, rerouted(1, 60), 106).fate, Fate::Pass);
        assert_eq!((to.counts.held_packets, to.counts.max_queue_bytes), (3, 3000));
        assert_eq!((to.counts.releases, to.counts.early_releases), (1, 0));
        assert_eq!(to.counts.held_bytes, 0);
    }

    #[test]
    fn the_tail_is_waited_for_as_long_as_the_old_path_takes() {
        let mut to = Destination::new(&PARAMS, 4);
        // Sent at 40 us, so the tail is 10 us behind it; 16 us more are waited.
        receive(&mut to, 1, tag(Kind::Request, 1, 40), 100);
        receive(&mut to, 1, rerouted(1, 51), 101);
        assert_eq!(to.next(), Time::from_us(126));
        receive(&mut to, 1, tag(Kind::Data, 1, 48), 120);
        assert_eq!(to.next(), Time::from_us(138));
        assert_eq!(to.take_due(Time::from_us(137)), None);
        assert_eq!(to.take_due(Time::from_us(138)), Some(0));
        assert_eq!(to.take_due(Time::from_us(138)), None);
        assert_eq!(receive(&mut to, 1, rerouted(1, 52), 139).fate, Fate::Pass);
        assert_eq!(to.counts.early_releases, 1);
        // Nothing is known of the old path.
        receive(&mut to, 2, rerouted(1, 51), 200);
        assert_eq!(to.next(), Time::from_us(400));
    }

    #[test]
    fn an_older_epoch_passes_and_a_newer_one_ends_the_waiting() {
        let mut to = Destination::new(&PARAMS, 4);
        receive(&mut to, 1, tag(Kind::Request, 2, 40), 100);
        let old = receive(&mut to, 1, tag(Kind::Tail, 1, 30), 101);
        assert_eq!((old.fate, old.notices), (Fate::Pass, [None; 2]));
        assert_eq!(receive(&mut to, 1, rerouted(2, 51), 102).fate, Fate::Hold(0));
        let new = receive(&mut to, 1, tag(Kind::Request, 3, 400), 450);
        assert_eq!((new.fate, new.release_before), (Fate::Pass, Some(0)));
        // Two bits: 0 comes after 3.
        assert_eq!(receive(&mut to, 1, rerouted(0, 51), 451).fate, Fate::Hold(0));
    }

    #[test]
    fn a_flow_without_a_free_queue_is_not_held() {
        let mut to = Destination::new(&PARAMS, 4);
        for flow in 0..2 {
            assert_eq!(receive(&mut to, flow, rerouted(1, 51), 100).fate, Fate::Hold(flow));
        }
        assert_eq!(receive(&mut to, 2, rerouted(1, 51), 100).fate, Fate::Pass);
        // Other ports have their own.
        let other = to.receive(&packet(3), rerouted(1, 51), Time::from_us(100), PortId::new(0));
        assert_eq!(other.fate, Fate::Hold(2));
        receive(&mut to, 0, tag(Kind::Tail, 1, 50), 101);
        assert_eq!(receive(&mut to, 2, rerouted(1, 52), 102).fate, Fate::Hold(0));
        assert_eq!((to.counts.unheld_packets, to.counts.max_queues), (1, 2));
    }

    #[test]
    fn marked_packets_are_reported() {
        let mut to = Destination::new(&PARAMS, 4);
        let marked = Header { code_point: EcnCodePoint::CongestionExperienced, ..packet(1) };
        let now = Time::from_us(100);
        let arrival = to.receive(&marked, tag(Kind::Request, 1, 40), now, PortId::new(0));
        let [notify, reply] = arrival.notices.map(Option::unwrap);
        assert_eq!((notify.kind, notify.path), (Kind::Notify, 7));
        assert_eq!((reply.kind, reply.epoch), (Kind::Reply, 1));
    }
}
