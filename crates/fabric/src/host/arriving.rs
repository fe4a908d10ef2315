//! What a host does with a packet that arrives, before its kind decides.

use super::{Host, ReceiverSlot};
use crate::observe::recorder::PacketEventKind;
use crate::packet::{Flags, Header, PacketKind, Scheme, Win, is_pause};
use engine::Handle;
use units::Time;

impl<S: Scheme> Host<S> {
    /// Prefetches the end of the QP that a packet is for.
    #[inline]
    pub(super) fn prefetch_qp(&self, header: &Header) {
        if header.kind == PacketKind::Data {
            if let Some(&ReceiverSlot::Open(slot)) =
                self.receiver_slots.get(header.address.receiver_slot as usize)
            {
                self.receivers.prefetch(slot);
            }
        } else if header.flags.contains(Flags::TO_SOURCE) {
            self.senders.prefetch(header.address.sender_slot);
        }
    }

    /// Handles a packet that arrives at `port`.
    #[inline]
    pub(super) fn on_arrival(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: u16,
        mut handle: Handle,
    ) {
        self.uncouple_by(&window.packets.get(&handle).header);
        if let Some(losses) = &mut self.losses
            && losses.take(port)
        {
            return self.discard_arrival(window, now, port, handle, PacketEventKind::Lost);
        }
        if let Some(recorder) = &mut self.recorder {
            let header = &window.packets.get(&handle).header;
            if header.kind == PacketKind::Pfc {
                recorder.pfc(now, port, header.priority, is_pause(header));
            }
            recorder.packet(now, port, PacketEventKind::Received, 0, header);
        }
        if self.takes_turns() {
            window.packets.get_mut(&mut handle).header.ingress = port;
        }
        match window.packets.get(&handle).header.kind {
            PacketKind::Data => {
                if self.receive_buffer.is_some() {
                    let header = window.packets.get(&handle).header;
                    if !self.has_receive_room(window, now, port, &header) {
                        let why = PacketEventKind::Dropped;
                        return self.discard_arrival(window, now, port, handle, why);
                    }
                }
                self.on_data(window, now, port, handle)
            }
            PacketKind::Ack | PacketKind::Nack => {
                self.on_ack(window, now, handle);
            }
            PacketKind::Pfc => {
                let header = window.packets.remove(handle).header;
                if let Some(clock) = &mut self.pause_clock {
                    let pause = is_pause(&header);
                    clock.received(port as usize, header.priority, pause, now);
                    self.timers.wake_pauses(clock.next());
                }
                let nic = &mut self.nics[port as usize];
                nic.port.set_paused(header.priority, is_pause(&header), now);
                if is_pause(&header) {
                    nic.schedule();
                } else {
                    nic.wake(now);
                }
                self.leave_paused_ports(now, header.priority);
            }
            PacketKind::Control => {
                let packet = window.packets.remove(handle);
                let ctl = packet.ctl().expect("control carries control");
                self.on_ctl(window, now, &packet.header, ctl);
            }
            // It was meant for a switch.
            PacketKind::LinkControl | PacketKind::PathControl => window.packets.discard(handle),
        }
    }

    /// Discards a packet that came to `port`. `why`: it was lost on the link, or dropped because
    /// there is no room.
    #[cold]
    pub(super) fn discard_arrival(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: u16,
        handle: Handle,
        why: PacketEventKind,
    ) {
        if let Some(recorder) = &mut self.recorder {
            let header = &window.packets.get(&handle).header;
            recorder.packet(now, port, why, 0, header);
        }
        let counters = &mut self.nics[port as usize].port.counters;
        match why {
            PacketEventKind::Lost => counters.lost_packets += 1,
            _ => counters.dropped_packets += 1,
        }
        window.packets.discard(handle);
    }
}
