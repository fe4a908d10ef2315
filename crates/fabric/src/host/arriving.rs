//! What a host does with a packet that arrives, before its kind decides.

use super::{Host, ReceiverSlot};
use crate::observe::recorder::PacketEventKind;
use crate::packet::{Flags, Header, PacketKind, PfcFrame, Scheme, Win};
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

    /// Returns whether packets that arrive are looked at before their kind decides.
    pub(super) fn examines_arrivals(&self) -> bool {
        self.common.compat.orders_by_emission()
            || self.losses.is_some()
            || self.recorder.is_some()
            || self.takes_turns()
            || self.receive_buffer.is_some()
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
        if self.examines_arrivals
            && let Err(why) = self.examine(window, now, port, &mut handle)
        {
            return self.discard_arrival(window, now, port, handle, why);
        }
        match window.packets.get(&handle).header.kind {
            PacketKind::Data => self.on_data(window, now, port, handle),
            PacketKind::Ack | PacketKind::Nack => {
                self.on_ack(window, now, handle);
            }
            PacketKind::Pfc => {
                let header = window.packets.remove(handle).header;
                let frame = PfcFrame::of(&header);
                if let Some(clock) = &mut self.pause_clock {
                    clock.received(port as usize, header.priority, frame, now);
                    self.timers.wake_pauses(clock.next());
                }
                let nic = &mut self.nics[port as usize];
                nic.port.receive_pfc(header.priority, frame, now);
                match frame {
                    PfcFrame::Pause => nic.schedule(),
                    PfcFrame::Resume => nic.wake(now),
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

    /// Does what few hosts do with each packet that arrives. Returns why the packet is discarded,
    /// if it is.
    #[inline(never)]
    fn examine(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: u16,
        handle: &mut Handle,
    ) -> Result<(), PacketEventKind> {
        if self.common.compat.orders_by_emission() {
            self.scan_before_arrival(window, now, port, handle);
        }
        if let Some(losses) = &mut self.losses
            && losses.loses_next(port)
        {
            return Err(PacketEventKind::Lost);
        }
        let header = &mut window.packets.get_mut(handle).header;
        if let Some(recorder) = &mut self.recorder {
            if header.kind == PacketKind::Pfc {
                recorder.pfc(now, port, header.priority, header.is_pause());
            }
            recorder.packet(now, port, PacketEventKind::Received, 0, header);
        }
        if self.takes_turns() {
            header.ingress = port;
        }
        let header = *header;
        if header.kind == PacketKind::Data
            && self.receive_buffer.is_some()
            && !self.has_receive_room(window, now, port, &header)
        {
            return Err(PacketEventKind::Dropped);
        }
        Ok(())
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
