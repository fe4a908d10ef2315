//! Handles a packet that arrives at a switch: verdict, next hop, admission, queue.

use super::Switch;
use super::actions::SwitchCore;
use crate::forwarding::{Choice, Depends};
use crate::hooks::{ArrivalsOf, SubQueuesOf};
use crate::mmu::{Admission, Full, Mmu, Refused};
use crate::observe::lossless_drops::Memory;
use crate::packet::{Header, NO_INGRESS, PacketKind, PfcFrame, Scheme, Win};
use crate::routing::PortSet;
use crate::switch::chassis::Chassis;
use engine::Handle;
use schemes::contract::{ArrivalSlot, HoldVerdict, QueueLimit, SubQueueSlot};
use units::{PortId, Time};

impl<S: Scheme> Switch<S> {
    /// Handles an arrival.
    #[inline(never)]
    pub(super) fn on_arrival(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        mut handle: Handle,
    ) {
        if self.has_short_links {
            self.depart_first(window, now, in_port, &handle);
        }
        if let Some(losses) = &mut self.losses
            && losses.loses_next(in_port)
        {
            return self.drop_lost(window, now, in_port, handle);
        }
        let packet = window.packets.get_mut(&mut handle);
        let kind = self.chassis.receive(now, in_port, packet);
        if kind == PacketKind::Pfc {
            let header = window.packets.remove(handle).header;
            return self.on_pfc(window, now, in_port as usize, &header);
        }
        if ArrivalsOf::<S>::HOLDS
            && kind == PacketKind::Data
            && let Err(refused) = self.refuse(window, now, in_port, &handle)
        {
            return self.drop_no_buffer(window, now, in_port, handle, refused);
        }
        let packet = window.packets.get_mut(&mut handle);
        match self.chassis.verdict(now, in_port, packet) {
            HoldVerdict::Forward if kind != PacketKind::LinkControl => {
                self.forward(window, now, in_port, handle)
            }
            HoldVerdict::Forward => self.divert(window, now, in_port, HoldVerdict::Consume, handle),
            other => self.divert(window, now, in_port, other, handle),
        }
        self.apply_effects(window, now);
    }

    /// Refuses a packet for which there is no room. A congestion point that holds packets counts on
    /// what it held. It therefore does not see refused packets.
    fn refuse(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        handle: &Handle,
    ) -> Result<(), Refused> {
        let Header { kind, priority, size, .. } = window.packets.get(handle).header;
        if self.chassis.mmu.cannot_hit_limit(in_port, priority, u64::from(size)) {
            return Ok(());
        }
        self.drain_all(window, now);
        self.chassis.mmu.refuse(in_port, priority, u64::from(size), kind)
    }

    /// Handles a packet that arrived and is not forwarded.
    #[cold]
    fn divert(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        verdict: HoldVerdict,
        handle: Handle,
    ) {
        match verdict {
            HoldVerdict::Forward => unreachable!("it goes on"),
            HoldVerdict::Consume => self.chassis.consume(window, handle),
            HoldVerdict::Drop => self.chassis.discard(window, now, in_port, handle),
            HoldVerdict::Hold(until) => self.hold_arrival(window, now, in_port, until, handle),
        }
    }

    /// Holds a packet that arrived until a later verdict. It is stored in the buffer now.
    #[cold]
    pub(super) fn hold_arrival(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        until: Time,
        handle: Handle,
    ) {
        // While ports lag behind, counters are upper bounds: drain all ports.
        self.drain_all(window, now);
        self.admit_near_limits(window, now, in_port, handle, |this, _, handle| {
            this.hold(now, in_port, until, handle);
        });
    }

    pub(super) fn hold(&mut self, now: Time, in_port: u16, until: Time, handle: Handle) {
        debug_assert!(ArrivalsOf::<S>::HOLDS, "only a hook that may hold packets holds one");
        self.held.add(until.max(now + Time::from_ps(1)), in_port, handle);
    }

    /// Asks for another verdict on a packet that was held. It is stored in the buffer.
    pub(super) fn on_held(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        mut handle: Handle,
    ) {
        let packet = window.packets.get_mut(&mut handle);
        let header = packet.header;
        let verdict = self.chassis.verdict(now, in_port, packet);
        let out = if verdict == HoldVerdict::Forward {
            self.select_port(window, &mut handle, now)
        } else {
            None
        };
        let out = out.filter(|&out| !self.chassis.watchdog_drops(out, header.priority));
        match (verdict, out) {
            (HoldVerdict::Forward, Some(out)) => self.enqueue(window, now, in_port, out, handle),
            (HoldVerdict::Hold(until), _) => self.hold(now, in_port, until, handle),
            (verdict @ (HoldVerdict::Forward | HoldVerdict::Consume | HoldVerdict::Drop), _) => {
                self.drain_all(window, now);
                self.release_ingress(window, now, in_port, header.priority, header.size);
                if verdict == HoldVerdict::Consume {
                    self.chassis.consume(window, handle);
                } else {
                    self.chassis.discard(window, now, in_port, handle);
                }
            }
        }
        self.apply_effects(window, now);
    }

    /// Forwards a packet that came through `in_port`, or that the switch made.
    #[inline(always)]
    pub(super) fn forward(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        mut handle: Handle,
    ) {
        if self.chassis.tags {
            return self.forward_tagged(window, now, in_port, handle);
        }
        match self.select_port(window, &mut handle, now) {
            Some(out) => self.forward_to(window, now, (in_port, out), handle),
            None => self.chassis.discard(window, now, in_port, handle),
        }
    }

    /// Forwards a packet through the port `out`.
    #[inline(always)]
    pub(super) fn forward_to(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        (in_port, out): (u16, usize),
        mut handle: Handle,
    ) {
        let packet = window.packets.get_mut(&mut handle);
        let (priority, size) = (packet.header.priority, u64::from(packet.header.size));
        if !self.has_room(window, now, out, priority) {
            return self.chassis.discard(window, now, in_port, handle);
        }
        if self.chassis.watchdog_drops(out, priority) {
            return self.chassis.discard(window, now, in_port, handle);
        }
        let immediate = self.sends_immediately(window, out, now);
        if in_port == NO_INGRESS {
            let Some(handle) = self.chassis.limit_own_control(window, now, out, handle) else {
                return;
            };
            self.enqueue(window, now, in_port, out, handle);
        } else if self.chassis.mmu.cannot_hit_limit(in_port, priority, size) {
            self.chassis.mmu.store(in_port, priority, size);
            self.enqueue(window, now, in_port, out, handle);
        } else {
            self.forward_near_limits(window, now, in_port, out, handle);
        }
        if immediate {
            self.send_immediately(window, now, out);
        }
    }

    /// Returns the port that a packet leaves through; `None` if failures have left no route.
    #[inline(always)]
    pub(super) fn select_port(
        &mut self,
        window: &mut Win<'_, '_, S>,
        handle: &mut Handle,
        now: Time,
    ) -> Option<usize> {
        let packet = window.packets.get(handle);
        let Chassis { common, switch_row, .. } = &self.chassis;
        let set = common.routes.ports_to(switch_row, packet.header.destination());
        if self.depends == Depends::Queues {
            self.drain_next_hops(window, &packet.header, set, now);
        }
        if self.chassis.tags {
            return self.chassis.select_tagged(window, now, handle, set).map(PortId::index);
        }
        let Chassis { common, router, ports, .. } = &mut self.chassis;
        let choice = Choice::new(&common.routes, set, now).with_ports(ports);
        router.select(&choice, &packet.header).map(PortId::index)
    }

    /// Drains the next hops of a packet, for a policy that chooses by their loads.
    #[inline]
    fn drain_next_hops(
        &mut self,
        window: &mut Win<'_, '_, S>,
        header: &Header,
        set: PortSet,
        now: Time,
    ) {
        if header.kind != PacketKind::Data || self.chassis.due.lower_bound() >= now {
            return;
        }
        for index in 0..self.chassis.common.routes.members(set).len() {
            let port = self.chassis.common.routes.members(set)[index];
            self.drain(window, port.index(), now);
        }
    }

    /// Forwards a packet that may pause its ingress or find no room.
    #[cold]
    pub(super) fn forward_near_limits(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        out: usize,
        handle: Handle,
    ) {
        self.enqueue_admitted(window, now, (in_port, out), handle, |mmu, header| {
            mmu.admit(in_port, header.priority, u64::from(header.size), header.kind)
        });
    }

    /// Puts a packet into a queue of the port `out` if its class has a share of the buffer left and
    /// `admit` stores it. Pauses its ingress or drops the packet if the limits require it.
    pub(super) fn enqueue_admitted(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        (in_port, out): (u16, usize),
        handle: Handle,
        admit: impl FnOnce(&mut Mmu, &Header) -> Admission,
    ) {
        // Limits are checked with exact counters.
        self.drain_all(window, now);
        let header = window.packets.get(&handle).header;
        let Header { kind, priority, size, .. } = header;
        let queued = self.chassis.ports[out].class_bytes(priority);
        let mmu = &mut self.chassis.mmu;
        let fits = kind != PacketKind::Data
            || mmu.fits_lossy_share(in_port, priority, queued, size.into());
        let admission = if fits { admit(mmu, &header) } else { Err(Refused::BUFFER) };
        self.keep_admitted(window, now, (in_port, admission), handle, |this, window, handle| {
            this.enqueue(window, now, in_port, out, handle);
        });
    }

    /// Stores a packet in the buffer and calls `keep`, which puts it where it waits. Pauses its
    /// ingress or drops the packet if the limits require it. All ports must have been drained to
    /// `now`.
    pub(super) fn admit_near_limits(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        handle: Handle,
        keep: impl FnOnce(&mut Self, &mut Win<'_, '_, S>, Handle),
    ) {
        let Header { kind, priority, size, .. } = window.packets.get(&handle).header;
        let admission = self.chassis.mmu.admit(in_port, priority, u64::from(size), kind);
        self.keep_admitted(window, now, (in_port, admission), handle, keep);
    }

    /// Calls `keep` if a packet was admitted. Pauses its ingress or drops the packet if the
    /// admission says so.
    fn keep_admitted(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        (in_port, admission): (u16, Admission),
        handle: Handle,
        keep: impl FnOnce(&mut Self, &mut Win<'_, '_, S>, Handle),
    ) {
        let priority = window.packets.get(&handle).header.priority;
        match admission {
            Ok(stored) => {
                keep(self, window, handle);
                if stored.pauses {
                    self.send_pfc(window, now, in_port as usize, priority, PfcFrame::Pause);
                }
            }
            Err(refused) => self.drop_no_buffer(window, now, in_port, handle, refused),
        }
    }

    /// Drops a packet that has no room.
    #[cold]
    fn drop_no_buffer(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        handle: Handle,
        refused: Refused,
    ) {
        let priority = window.packets.get(&handle).header.priority;
        let full = match refused.full {
            Full::Buffer => Memory::Buffer,
            Full::Headroom => Memory::Headroom,
        };
        self.chassis.drop_no_buffer(window, now, in_port, handle, full);
        if refused.pauses {
            self.send_pfc(window, now, in_port as usize, priority, PfcFrame::Pause);
        }
    }

    /// Returns whether the queue of a class at `out` takes another packet.
    #[inline]
    pub(super) fn has_room(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        out: usize,
        priority: u8,
    ) -> bool {
        match self.chassis.common.classes.limits[priority as usize & 7] {
            QueueLimit::Lossless => true,
            QueueLimit::DropTail(limit) => {
                self.has_drop_tail_room(window, now, out, priority, limit)
            }
        }
    }

    /// Returns whether fewer than `limit` packets of a class wait at `out`.
    #[inline(never)]
    fn has_drop_tail_room(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        out: usize,
        priority: u8,
        limit: u32,
    ) -> bool {
        self.drain(window, out, now);
        self.chassis.ports[out].class_packets(priority) < limit
    }

    /// Puts a packet into a queue of `out`.
    pub(super) fn enqueue(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        out: usize,
        mut handle: Handle,
    ) {
        self.drain(window, out, now);
        let packet = window.packets.get_mut(&mut handle);
        let (priority, size) = (packet.header.priority, packet.header.size);
        let marks = self.chassis.common.marks_at_enqueue;
        self.chassis.egress(out).on_enqueue(now, marks, packet);
        let mut sub_queue = 0;
        if !self.sub_queues.is_empty()
            && let Some(cp) = &self.chassis.cp
        {
            sub_queue = SubQueuesOf::<S>::sub_queue(
                cp,
                PortId::new(in_port),
                PortId::new(out as u16),
                packet,
            );
        }
        let port = &mut self.chassis.ports[out];
        if sub_queue == 0 {
            port.enqueue(window.packets, priority, size, handle);
        } else {
            port.count_in(priority, size);
            self.sub_queues[out].push(window.packets, sub_queue, priority, handle);
        }
        self.after_enqueue(window, out, priority, now);
        self.chassis.refresh_view(out);
    }
}
