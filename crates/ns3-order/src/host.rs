//! Hosts: what a NIC sends next, receivers, and what senders do with ACKs.

use crate::event_list::{Kind, NONE};
use crate::laws::Law;
use crate::packets::{Answer, Packet, PacketKind};
use crate::pint;
use crate::settings::Settings;
use crate::simulation::{Receiver, Simulation};
use hpcc_files::CcMode;
use hpcc_files::packet_trace::Event;

/// What a NIC finds in its list of QPs, as places in it.
pub(crate) struct Scan {
    /// The QP that sends now, if one may.
    pub(crate) next: Option<usize>,
    /// The first finished QP that the search met, if it met one.
    pub(crate) finished: Option<usize>,
}

impl Scan {
    pub(crate) const NOTHING: Scan = Scan { next: None, finished: None };

    /// Notes a finished QP.
    #[inline]
    pub(crate) fn note_finished(&mut self, place: usize) {
        self.finished = Some(self.finished.map_or(place, |first| first.min(place)));
    }
}

impl Simulation<'_> {
    /// Lets a free NIC send an ACK or the packet of the QP whose turn it is.
    pub(crate) fn kick_host(&mut self, index: u32) {
        let port = &mut self.ports[index as usize];
        if !port.acks.is_empty() && port.paused & 1 << self.settings.ack_class == 0 {
            let packet = port.acks.pop(&self.packets).expect("it is not empty");
            if port.traced {
                self.trace(index, packet, Event::Dequeued, 0, 0);
            }
            return self.transmit(index, packet);
        }
        if port.table.is_empty() {
            return;
        }
        match self.next_in_turn(index) {
            Some(place) => self.send_data(index, place),
            None => self.schedule_wake_up(index),
        }
    }

    /// Finds the place of the QP that sends now. If the search met a finished one, all finished
    /// ones from the first such place on leave the list.
    fn next_in_turn(&mut self, index: u32) -> Option<usize> {
        let scan = match self.settings.selective {
            true => self.scan_selective(index),
            false => self.scan(index),
        };
        match scan.finished {
            None => scan.next,
            Some(first) => self.purge(index, first, scan.next),
        }
    }

    /// Looks through the QPs of a port, after the one that sent last, for one that may send now.
    #[inline(always)]
    fn scan(&mut self, index: u32) -> Scan {
        let now = self.events.now();
        let port = &mut self.ports[index as usize];
        let count = port.table.len();
        let mut scan = Scan::NOTHING;
        let mut place = port.last % count;
        for _ in 0..count {
            place += 1;
            if place == count {
                place = 0;
            }
            let qp = &self.qps[port.table[place] as usize];
            let is_open = port.paused & 1 << qp.priority == 0
                && qp.size > qp.snd_nxt
                && !qp.is_window_bound();
            if is_open {
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

    /// Removes the finished QPs from the list of a port, from place `first` on. Returns the new
    /// place of the QP at `next`.
    #[cold]
    fn purge(&mut self, index: u32, first: usize, next: Option<usize>) -> Option<usize> {
        let mut moved = next;
        let port = &mut self.ports[index as usize];
        let mut kept = first;
        // The place after the one that sent last.
        let mut after_last = port.last + 1;
        for place in first..port.table.len() {
            let flow = port.table[place];
            let qp = &mut self.qps[flow as usize];
            if qp.snd_una >= qp.size {
                after_last -= usize::from(place <= port.last);
                // The timers of DCQCN may go on.
                if qp.ended && !matches!(qp.law, Law::Dcqcn(_)) {
                    qp.law = Law::None;
                }
                continue;
            }
            if next == Some(place) {
                moved = Some(kept);
            }
            port.table[kept] = flow;
            kept += 1;
        }
        port.table.truncate(kept);
        if self.settings.conweave {
            // There a finished QP keeps its place.
            port.last = after_last.checked_sub(1).unwrap_or(kept.saturating_sub(1));
        }
        moved
    }

    fn schedule_wake_up(&mut self, index: u32) {
        if self.settings.selective {
            self.skip_arrived_of_port(index);
        }
        let port = &mut self.ports[index as usize];
        let now = self.events.now();
        let qps = port.table.iter().map(|&flow| &self.qps[flow as usize]);
        let times = qps.filter(|qp| qp.size > qp.snd_nxt).map(|qp| qp.next_avail);
        // A QP that may send already keeps the NIC asleep, but not in ConWeave's simulator.
        let earliest = match self.settings.conweave {
            true => times.filter(|&time| time > now).min(),
            false => times.min(),
        };
        if let Some(time) = earliest
            && time > now
            && !self.events.is_pending(&port.wake)
        {
            port.wake = self.events.schedule(time - now, Kind::WakeUp, index, 0);
        }
    }

    fn send_data(&mut self, index: u32, place: usize) {
        let now = self.events.now();
        let port = &mut self.ports[index as usize];
        let flow = port.table[place];
        port.last = place;
        port.counters.tx_data_packets += 1;
        let traced = port.traced;
        let qp = &mut self.qps[flow as usize];
        let payload = (qp.size - qp.snd_nxt).min(self.settings.payload);
        let size = payload as u16 + self.settings.header;
        let packet = self.packets.add(Packet {
            flow,
            seq: qp.snd_nxt as u32,
            size,
            payload: payload as u16,
            kind: PacketKind::Data,
            priority: qp.priority,
            sent_at: now,
            ..Packet::EMPTY
        });
        let end = qp.snd_nxt + payload;
        if end > qp.fresh {
            qp.resent += qp.fresh - qp.snd_nxt;
            qp.fresh = end;
        } else {
            qp.resent += payload;
        }
        qp.snd_nxt = end;
        qp.last_size = u32::from(size);
        qp.next_avail = now + qp.gap(u32::from(size), qp.rate);
        if traced {
            let priority = qp.priority;
            self.trace(index, packet, Event::Dequeued, priority, 0);
        }
        self.transmit(index, packet);
        if self.settings.conweave {
            self.note_sent(flow, self.packets.get(packet).seq);
            self.restart_timeout(flow);
        }
    }

    /// A host receives data: the packet becomes its ACK or NACK, or is gone.
    pub(crate) fn receive_data(&mut self, slot: u32) {
        let now = self.events.now();
        let packet = self.packets.get(slot);
        let flow = &self.flows[packet.flow as usize];
        let connection = flow.connection as usize;
        let receiver = &mut self.connections[connection].receiver;
        let is_ahead = packet.seq > receiver.expected;
        self.output.out_of_order += u64::from(is_ahead);
        let answer = match self.settings.selective {
            true => self.receive_selective(slot),
            false => receive_in_order(receiver, packet, &self.settings, now),
        };
        let Some(answer) = answer else { return self.packets.remove(slot) };
        let is_nack = answer == Answer::Nack;
        let packet = self.packets.get_mut(slot);
        packet.kind = answer.kind();
        packet.size = self.settings.ack;
        packet.echo = packet.marked;
        packet.marked = false;
        if self.settings.conweave {
            // A packet ahead of a gap counts as marked.
            packet.echo |= is_nack && is_ahead;
            packet.priority = 0;
            packet.answers = packet.seq;
        }
        if !(is_nack && self.settings.selective) {
            packet.payload = 0;
        }
        packet.seq = self.connections[connection].receiver.expected;
        let port = self.nic(self.four_tuple(slot));
        if self.ports[port as usize].traced {
            self.trace(port, slot, Event::Enqueued, 0, 0);
        }
        self.ports[port as usize].acks.push(&mut self.packets, slot);
        self.kick(port);
    }

    /// A host receives an ACK or a NACK.
    pub(crate) fn receive_ack(&mut self, slot: u32) {
        let packet = *self.packets.get(slot);
        self.packets.remove(slot);
        let connection = self.flows[packet.flow as usize].connection;
        let flow = self.connections[connection as usize].sender;
        if flow == NONE {
            return;
        }
        let now = self.events.now();
        let qp = &mut self.qps[flow as usize];
        let port = qp.port;
        qp.snd_una = qp.snd_una.max(u64::from(packet.seq));
        if self.settings.selective {
            self.note_selective(flow, &packet);
        }
        let qp = &self.qps[flow as usize];
        if qp.snd_una >= qp.size {
            self.end_flow(flow);
        }
        if self.settings.conweave {
            self.note_answer(flow);
        }
        if self.settings.selective {
            self.recover_selective(flow, &packet);
        } else if packet.kind == PacketKind::Nack {
            let qp = &mut self.qps[flow as usize];
            qp.snd_nxt = qp.snd_una;
        }
        let qp = &mut self.qps[flow as usize];
        match self.settings.mode {
            CcMode::Dcqcn => {
                // In a flow that has ended there, timers would change nothing.
                if packet.echo && !(self.settings.conweave && self.qps[flow as usize].ended) {
                    self.on_mark(flow);
                }
            }
            CcMode::HpccPint => {
                let (codes, rand) = (&self.laws.codes, &mut self.rand);
                let (seq, sent) = (packet.seq, qp.snd_nxt);
                let reaction = pint::react(codes, &mut qp.law, seq, packet.power, sent, rand);
                self.apply(flow, reaction);
            }
            CcMode::None(_) => {}
            _ => {
                let reaction = self.laws.react(&mut qp.law, now, &packet, qp.snd_nxt);
                self.apply(flow, reaction);
            }
        }
        self.kick(port);
    }
}

/// Takes data that begins before the byte that is expected, in ConWeave's simulator. Returns what
/// is answered, if anything.
fn receive_again(receiver: &mut Receiver, packet: &Packet, settings: &Settings) -> Option<Answer> {
    let end = packet.seq.wrapping_add(u32::from(packet.payload));
    if end < receiver.expected {
        return Some(Answer::Ack);
    }
    receiver.expected = end;
    settings.acknowledges(end).then_some(Answer::Ack)
}

/// Takes data where nothing is kept ahead of a gap. Returns what is answered, if anything.
fn receive_in_order(
    receiver: &mut Receiver,
    packet: &Packet,
    settings: &Settings,
    now: u64,
) -> Option<Answer> {
    let expected = receiver.expected;
    if packet.seq == expected {
        receiver.expected = expected.wrapping_add(u32::from(packet.payload));
        return settings.acknowledges(receiver.expected).then_some(Answer::Ack);
    }
    if packet.seq < expected && settings.conweave {
        return receive_again(receiver, packet, settings);
    }
    if packet.seq < expected || (now < receiver.nack_time && receiver.last_nack == expected) {
        return None;
    }
    receiver.nack_time = now + settings.nack_interval;
    receiver.last_nack = expected;
    Some(Answer::Nack)
}
