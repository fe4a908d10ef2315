//! Forwards packets with tags, and holds those that overtook others of their flow (ConWeave).

use super::Switch;
use super::actions::SwitchCore;
use crate::forwarding::{Arrival, Choice, ConWeave, Fate, Notice};
use crate::observe::recorder::PacketEventKind;
use crate::packet::{Flags, Header, NO_INGRESS, Packet, PacketKind, Scheme, Win, blank};
use crate::switch::chassis::Chassis;
use engine::{Fifo, Handle};
use units::Time;

impl<S: Scheme> Switch<S> {
    /// Forwards a packet that came through `in_port`, or that the switch made.
    #[inline(never)]
    pub(super) fn forward_tagged(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        mut handle: Handle,
    ) {
        let arrival = self.arrive(window, now, &handle);
        let header = window.packets.get(&handle).header;
        if let Some(queue) = arrival.release_before {
            self.release(window, now, queue);
        }
        match arrival.fate {
            Fate::Consume => self.chassis.consume(window, handle),
            Fate::Hold(queue) => self.hold_in_order(window, now, (in_port, queue), handle),
            Fate::Pass => match self.select_port(window, &mut handle, now) {
                Some(out) => self.forward_to(window, now, (in_port, out), handle),
                None => self.chassis.discard(window, now, in_port, handle),
            },
        }
        if let Some(queue) = arrival.release_after {
            self.release(window, now, queue);
        }
        for notice in arrival.notices.into_iter().flatten() {
            self.send_notice(window, now, &header, notice);
        }
    }

    /// Asks the forwarding policy what a packet means to this switch.
    fn arrive(&mut self, window: &Win<'_, '_, S>, now: Time, handle: &Handle) -> Arrival {
        let Chassis { common, switch_row, router, .. } = &mut self.chassis;
        let Some(policy) = router.conweave() else { return Arrival::PASS };
        let header = &window.packets.get(handle).header;
        let set = common.routes.ports_to(switch_row, header.destination());
        let choice = Choice::new(&common.routes, set, now)
            .with_tag(window.packets.tag(handle), &common.host_locations);
        policy.arrive(&choice, header)
    }

    /// Puts a packet into a queue that does not send. It takes room in the buffer, unless what
    /// waits has memory of its own.
    fn hold_in_order(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        (in_port, queue): (u16, u32),
        handle: Handle,
    ) {
        if self.has_own_memory() {
            return self.keep_in_order(window, now, (in_port, queue), handle);
        }
        // While ports lag behind, counters are upper bounds: drain all ports.
        self.drain_all(window, now);
        self.admit_near_limits(window, now, in_port, handle, |this, window, handle| {
            this.keep_in_order(window, now, (in_port, queue), handle);
        });
    }

    fn keep_in_order(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        (in_port, queue): (u16, u32),
        handle: Handle,
    ) {
        let header = window.packets.get(&handle).header;
        if let Some(recorder) = &mut self.chassis.recorder {
            recorder.packet(now, in_port, PacketEventKind::Held, 0, &header);
        }
        let number = queue as usize;
        if self.reordering.len() <= number {
            self.reordering.resize_with(number + 1, Fifo::default);
        }
        self.reordering[number].push(window.packets, handle);
        self.conweave().note_held(queue, header.size);
    }

    /// Forwards all packets of a queue. Those in memory of their own ask for room in the buffer
    /// only now.
    fn release(&mut self, window: &mut Win<'_, '_, S>, now: Time, queue: u32) {
        let has_own_memory = self.has_own_memory();
        // A queue whose packets were all refused by the buffer may have none.
        while let Some(mut handle) =
            self.reordering.get_mut(queue as usize).and_then(|fifo| fifo.pop(window.packets))
        {
            let header = window.packets.get(&handle).header;
            let Header { ingress, priority, size, .. } = header;
            let out = self.select_port(window, &mut handle, now);
            match out.filter(|&out| !self.chassis.watchdog_drops(out, priority)) {
                Some(out) if has_own_memory => {
                    self.enqueue_admitted(window, now, (ingress, out), handle, |mmu, _| {
                        mmu.admit_from_own_memory(ingress, priority, size.into())
                    });
                }
                Some(out) => self.enqueue(window, now, ingress, out, handle),
                None => {
                    self.drain_all(window, now);
                    if !has_own_memory {
                        self.release_ingress(window, now, ingress, priority, size);
                    }
                    self.chassis.discard(window, now, ingress, handle);
                }
            }
        }
    }

    fn conweave(&mut self) -> &mut ConWeave {
        self.chassis.router.conweave().expect("only it holds packets")
    }

    fn has_own_memory(&mut self) -> bool {
        self.conweave().has_own_memory()
    }

    /// Releases the queues that have waited in vain until `now`.
    pub(super) fn release_due(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        while let Some(queue) =
            self.chassis.router.conweave().and_then(|policy| policy.take_due(now))
        {
            self.release(window, now, queue);
            self.apply_effects(window, now);
        }
    }

    /// Sends a notice to the switch of a data packet's sender.
    fn send_notice(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        data: &Header,
        notice: Notice,
    ) {
        let common = &self.chassis.common;
        let (priority, size) = (common.classes.config.control, common.wire.pfc_size);
        let mut header = blank(PacketKind::PathControl, data.address, priority, size);
        header.address.hash = common.hash_back(&data.address);
        header.flags = Flags::TO_SOURCE;
        let meta = S::blank_meta(common.side(data.address.flow));
        let packet = Packet::with_meta(header, meta);
        let mut handle = window.packets.insert(packet);
        window.packets.set_tag(&mut handle, ConWeave::tag_of(notice));
        self.forward(window, now, NO_INGRESS, handle);
    }
}
