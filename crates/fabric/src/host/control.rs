//! Control packets at a host: answers to data, and what hooks send to the other end of a QP.

use super::{Host, ReceiverSlot};
use crate::observe::recorder::PacketEventKind;
use crate::packet::{
    Flags, Header, MAX_OWN_CONTROL, NO_INGRESS, Packet, PacketKind, Scheme, Win, blank,
};
use engine::Handle;
use schemes::contract::{Address, Ctl, Np, QueueLimit, Rp};
use units::{Priority, Time};

impl<S: Scheme> Host<S> {
    /// Sends an ACK or a NACK.
    #[inline]
    pub(super) fn send_answer(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        mut handle: Handle,
    ) {
        let header = &mut window.packets.get_mut(&mut handle).header;
        let Address { src, dst, hash, .. } = header.address;
        let number = usize::from(self.port_back((dst, src), hash, header.ingress));
        header.ingress = NO_INGRESS;
        self.couple_by(header);
        let wire = header.kind_priority_size();
        let queue = self.common.classes.ack_queue.unwrap_or(wire.1);
        if self.would_pass(window, now, number, queue) {
            let nic = &mut self.nics[number];
            nic.port.count_direct(wire.2);
            nic.port.transmit(window, now, wire, handle);
            return nic.schedule();
        }
        self.send_from(window, now, number, queue, handle);
    }

    /// Whether a control packet that joined a port's queue now would leave at this instant. Then it
    /// need not be queued.
    #[inline]
    fn would_pass(&self, window: &Win<'_, '_, S>, now: Time, number: usize, queue: u8) -> bool {
        self.nics.len() == 1
            && self.common.fast_paths
            && self.nics[number].is_idle(queue, now)
            && window.next_arrival_time() > now
            && self.next_timer() > now
            && self.recorder.as_ref().is_none_or(|recorder| !recorder.records_queues_or_packets())
    }

    /// Queues a control packet at a port.
    #[inline]
    fn send_from(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        number: usize,
        queue: u8,
        handle: Handle,
    ) {
        let size = window.packets.get(&handle).header.size;
        let nic = &mut self.nics[number];
        if let Some(recorder) = &mut self.recorder {
            let bytes = nic.port.class_bytes(queue);
            let header = &window.packets.get(&handle).header;
            recorder.packet(now, number as u16, PacketEventKind::Enqueued, bytes, header);
        }
        nic.port.enqueue(window.packets, queue, size, handle);
        nic.wake(now);
    }

    /// Sends the control packets in the outbox to the other end of the QP. `to_source`: the hook
    /// was that of a notification point.
    #[cold]
    pub(super) fn send_ctl(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        mut address: Address,
        nic: u16,
        to_source: bool,
    ) {
        if to_source {
            address.hash = self.common.hash_back(&address);
        }
        let row = &self.common.flows[address.flow as usize];
        let stays_in_rack = self.couplings.is_some() && self.common.is_same_rack(row);
        let mut outbox = std::mem::take(&mut self.outbox);
        for ctl in outbox.drain(..) {
            let common = &*self.common;
            let priority = ctl.priority(&common.params);
            let priority = priority.map_or(common.classes.config.control, Priority::get);
            let mut header =
                blank(PacketKind::Control, address, priority, common.control_size(&ctl));
            header.flags.set(Flags::CNP, ctl.is_cnp());
            header.flags.set(Flags::TO_SOURCE, to_source);
            header.flags.set(Flags::NEIGHBOURLY, stays_in_rack);
            header.sent_at = now;
            let limit = match common.classes.limits[priority as usize] {
                QueueLimit::DropTail(limit) => limit,
                QueueLimit::Lossless => MAX_OWN_CONTROL,
            };
            let port = &mut self.nics[usize::from(nic)].port;
            if port.class_packets(priority) >= limit {
                port.counters.dropped_packets += 1;
                if let Some(recorder) = &mut self.recorder {
                    recorder.packet(now, nic, PacketEventKind::Dropped, 0, &header);
                }
                continue;
            }
            self.couple_by(&header);
            let handle = window.packets.insert(Packet::with_ctl(header, ctl));
            self.send_from(window, now, usize::from(nic), priority, handle);
        }
        self.outbox = outbox;
    }

    /// Handles a control packet of the scheme.
    pub(super) fn on_ctl(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        header: &Header,
        ctl: &S::Ctl,
    ) {
        if header.flags.contains(Flags::TO_SOURCE) {
            let address = header.address;
            let at = address.sender_slot;
            let for_all = ctl.for_all_qps(&self.common.params);
            let slots = if for_all { 0..self.senders.places() } else { at..at + 1 };
            let mut known = false;
            for slot in slots {
                if self.senders.get(slot).is_some_and(|sender| {
                    sender.matches(&address) || (for_all && sender.dst == address.dst)
                }) {
                    known = true;
                    self.with_rp(window, now, slot, |sender, cx| sender.rp.on_ctl(cx, ctl));
                    self.reschedule_qp(now, slot);
                }
            }
            if !known {
                S::on_late_ctl(&mut self.state, ctl);
            }
            return;
        }
        let slot = match self.receiver_slots[header.address.receiver_slot as usize] {
            ReceiverSlot::Open(slot) => slot,
            ReceiverSlot::Unopened => self.open_receiver(now, header),
            ReceiverSlot::Finished(all) => {
                S::on_late_ctl(&mut self.state, ctl);
                if ctl.needs_ack(&self.common.params) {
                    self.acknowledge_all(window, now, *header, all);
                }
                return;
            }
        };
        self.with_np(window, now, slot, header.ingress, |np, cx| np.on_ctl(cx, ctl));
    }
}
