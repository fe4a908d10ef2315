//! Selective repeat (`ENABLE_IRN`): receivers keep what is ahead of a gap, and senders skip it.

use crate::event_list::Kind;
use crate::host::Scan;
use crate::packets::{Answer, Packet};
use crate::settings::Settings;
use crate::simulation::Simulation;

/// Ranges of bytes that have arrived ahead of others, in order. None touches the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks(Vec<(u64, u64)>);

impl Blocks {
    /// Adds a range.
    fn add(&mut self, begin: u64, end: u64) {
        if begin >= end {
            return;
        }
        let first = self.0.partition_point(|block| block.1 < begin);
        let last = self.0.partition_point(|block| block.0 <= end);
        let merged = self.0[first..last]
            .iter()
            .fold((begin, end), |sum, block| (sum.0.min(block.0), sum.1.max(block.1)));
        self.0.splice(first..last, [merged]);
    }

    /// Whether a range is in one of them.
    fn contains(&self, begin: u64, end: u64) -> bool {
        self.0.iter().any(|block| block.0 <= begin && end <= block.1)
    }

    /// The first of them.
    fn first(&self) -> Option<(u64, u64)> {
        self.0.first().copied()
    }

    /// Removes what is before a byte.
    fn remove_before(&mut self, byte: u64) {
        self.0.retain(|block| block.1 > byte);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(byte);
        }
    }
}

/// What a sender knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Sender {
    arrived: Blocks,
    /// The greatest byte that an ACK has expected, and the greatest first byte of a packet sent.
    acked: u32,
    sent: u32,
    /// It recovers, until this byte has arrived.
    recovers: bool,
    until: u64,
}

impl Simulation<'_> {
    /// Bytes from what the last ACK expects to the last packet that was sent. They have 32 bits, so
    /// that they are huge if that packet is acknowledged, as there.
    pub(super) fn in_flight(&self, flow: u32) -> u64 {
        let sender = &self.conweave.senders[flow as usize];
        u64::from(sender.sent.wrapping_sub(sender.acked))
    }

    /// Whether the limit of bytes in flight, a BDP, lets a flow send.
    fn may_be_in_flight(&self, flow: u32) -> bool {
        let (qp, bdp) = (&self.qps[flow as usize], self.routes.max_bdp);
        let next = qp.size.saturating_sub(qp.snd_nxt).min(self.settings.payload);
        self.in_flight(flow) + next < bdp
            || u64::from(self.conweave.senders[flow as usize].acked) + bdp > qp.snd_nxt
    }

    /// Skips the block that begins at the next byte of a flow, which has arrived.
    fn skip_arrived(&mut self, flow: u32) {
        let (qp, sender) =
            (&mut self.qps[flow as usize], &mut self.conweave.senders[flow as usize]);
        if let Some((begin, end)) = sender.arrived.first()
            && begin == qp.snd_nxt
        {
            qp.snd_nxt = end;
            sender.arrived.remove_before(end);
        }
    }

    /// Has each flow of a port skip what has arrived.
    pub(crate) fn skip_arrived_of_port(&mut self, index: u32) {
        for place in 0..self.ports[index as usize].table.len() {
            self.skip_arrived(self.ports[index as usize].table[place]);
        }
    }

    /// Looks through the QPs of a port, after the one that sent last, for one that may send now.
    /// Those that it looks at skip what has arrived.
    pub(crate) fn scan_selective(&mut self, index: u32) -> Scan {
        let now = self.events.now();
        let mut scan = Scan::NOTHING;
        let port = &self.ports[index as usize];
        let (count, mut place) = (port.table.len(), port.last % port.table.len());
        for _ in 0..count {
            place = if place + 1 == count { 0 } else { place + 1 };
            let flow = self.ports[index as usize].table[place];
            let may_send =
                !self.qps[flow as usize].is_window_bound() && self.may_be_in_flight(flow);
            self.skip_arrived(flow);
            let (port, qp) = (&self.ports[index as usize], &self.qps[flow as usize]);
            if may_send && port.paused & 1 << qp.priority == 0 && qp.size > qp.snd_nxt {
                if qp.next_avail <= now {
                    scan.next = Some(place);
                    break;
                }
            } else if qp.snd_una >= qp.size {
                scan.note_finished(place);
            }
        }
        scan
    }

    /// That simulator counts the flows with bytes left now and then. To count them, it has each
    /// skip what has arrived.
    pub(crate) fn count_flows(&mut self) {
        for index in 0..self.ports.len() as u32 {
            self.skip_arrived_of_port(index);
        }
        let Settings { count_interval, count_end, .. } = self.settings;
        if self.events.now() < count_end {
            self.events.schedule(count_interval, Kind::CountFlows, 0, 0);
        }
    }

    /// Notes that a packet is sent that begins at a byte.
    pub(crate) fn note_sent(&mut self, flow: u32, seq: u32) {
        if let Some(sender) = self.conweave.senders.get_mut(flow as usize) {
            sender.sent = sender.sent.max(seq);
        }
    }

    /// A sender takes note of what an ACK says. [`Simulation::receive_ack`] has moved `snd_una`.
    pub(crate) fn note_selective(&mut self, flow: u32, packet: &Packet) {
        let (qp, sender) =
            (&mut self.qps[flow as usize], &mut self.conweave.senders[flow as usize]);
        sender.acked = sender.acked.max(packet.seq);
        let begin = u64::from(packet.answers);
        sender.arrived.add(begin, begin + u64::from(packet.payload));
        if let Some((begin, end)) = sender.arrived.first()
            && begin == qp.snd_una
        {
            qp.snd_una = end;
        }
        sender.arrived.remove_before(qp.snd_una);
        qp.snd_nxt = qp.snd_nxt.max(qp.snd_una);
        if sender.recovers && qp.snd_una >= sender.until {
            sender.recovers = false;
        }
        self.skip_arrived(flow);
    }

    /// A sender goes back at the first ACK that tells of a gap.
    pub(crate) fn recover_selective(&mut self, flow: u32, packet: &Packet) {
        let (qp, sender) =
            (&mut self.qps[flow as usize], &mut self.conweave.senders[flow as usize]);
        if packet.payload == 0 {
            sender.recovers = false;
        } else if !sender.recovers {
            sender.until = qp.snd_nxt;
            qp.snd_nxt = qp.snd_una;
            sender.recovers = true;
        }
    }

    /// A timeout has a sender recover.
    pub(super) fn begin_recovery(&mut self, flow: u32) {
        if let Some(sender) = self.conweave.senders.get_mut(flow as usize) {
            sender.recovers = true;
        }
    }

    /// A receiver takes data. Returns what it answers, if anything.
    pub(crate) fn receive_selective(&mut self, slot: u32) -> Option<Answer> {
        let now = self.events.now();
        let packet = self.packets.get(slot);
        let connection = self.flows[packet.flow as usize].connection as usize;
        let receiver = &mut self.connections[connection].receiver;
        let kept = &mut self.conweave.kept[connection];
        let (begin, size) = (u64::from(packet.seq), u64::from(packet.payload));
        let (end, expected) = (begin + size, u64::from(receiver.expected));
        if begin > expected {
            if kept.contains(begin, end) && now < receiver.nack_time {
                return None;
            }
            receiver.nack_time = now + self.settings.nack_interval;
            kept.add(begin, end);
            return Some(Answer::Nack);
        }
        if end >= expected {
            let mut next = end;
            if let Some((first, last)) = kept.first()
                && first <= next
            {
                next = last;
            }
            receiver.expected = next as u32;
            kept.remove_before(next);
        }
        Some(if kept.first().is_some() { Answer::Nack } else { Answer::Ack })
    }

    /// A connection is new again.
    pub(crate) fn forget_kept(&mut self, connection: u32) {
        if let Some(kept) = self.conweave.kept.get_mut(connection as usize) {
            *kept = Blocks::default();
        }
    }
}
