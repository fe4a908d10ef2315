//! Handles a packet that arrives at a CIOQ switch: verdict, next hop, admission, input queue.

use super::CioqSwitch;
use super::inputs::VoqId;
use crate::forwarding::Choice;
use crate::hooks::InputQueuesOf;
use crate::mmu::{Full, Refused};
use crate::observe::lossless_drops::Memory;
use crate::packet::{Header, Packet, PacketKind, PfcFrame, Scheme, Win};
use crate::switch::actions::SwitchCore;
use crate::switch::chassis::Chassis;
use crate::switch::egress::LevelOf;
use engine::Handle;
use schemes::contract::{Crossing, FullCx, HoldVerdict, InputQueueSlot, InputView, Level};
use units::{PortId, Time};

impl<S: Scheme> CioqSwitch<S> {
    pub(super) fn on_arrival(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        in_port: u16,
        mut handle: Handle,
    ) {
        let packet = window.packets.get_mut(&mut handle);
        let kind = self.chassis.receive(now, in_port, packet);
        if kind == PacketKind::Pfc {
            let header = window.packets.remove(handle).header;
            return self.on_pfc(window, now, in_port as usize, &header);
        }
        match self.chassis.verdict(now, in_port, packet) {
            HoldVerdict::Forward if kind != PacketKind::LinkControl => {
                self.admit(window, now, in_port, handle)
            }
            HoldVerdict::Forward | HoldVerdict::Consume => self.chassis.consume(window, handle),
            HoldVerdict::Drop => self.chassis.discard(window, now, in_port, handle),
            HoldVerdict::Hold(_) => unreachable!("refused when the network was built"),
        }
        self.apply_effects(window, now);
    }

    /// Stores a packet in its input queue. Pauses its ingress or drops the packet if the limits
    /// require it. Transfers the packet at once if nothing can be in its way.
    fn admit(&mut self, window: &mut Win<'_, '_, S>, now: Time, in_port: u16, handle: Handle) {
        let packet = window.packets.get(&handle);
        let out = self.select_port(packet, now);
        let header = &packet.header;
        let (priority, size) = (header.priority, u64::from(header.size));
        if self.chassis.watchdog_drops(out, priority) {
            return self.chassis.discard(window, now, in_port, handle);
        }
        let input = in_port as usize;
        let voq = VoqId { input, priority: usize::from(priority), output: out };
        let has_room = self.chassis.mmu.of_ingress(in_port, priority) + size <= self.input_room;
        let far_from_limits =
            has_room && self.chassis.mmu.cannot_hit_limit(in_port, priority, size);
        let mut pauses = false;
        if !far_from_limits {
            let admission = if has_room || self.chassis.mmu.is_lossless(in_port, priority) {
                self.chassis.mmu.admit(in_port, priority, size, header.kind)
            } else {
                Err(Refused::BUFFER)
            };
            match admission {
                Ok(stored) => pauses = stored.pauses,
                Err(refused) => {
                    let full = match refused.full {
                        Full::Buffer => Memory::InputQueue,
                        Full::Headroom => Memory::Headroom,
                    };
                    self.chassis.drop_no_buffer(window, now, in_port, handle, full);
                    if refused.pauses {
                        self.send_pfc(window, now, input, priority, PfcFrame::Pause);
                    }
                    return;
                }
            }
        }
        let Chassis { cp, effects, views, .. } = &mut self.chassis;
        if InputQueuesOf::<S>::ENABLED
            && header.kind == PacketKind::Data
            && let Some(cp) = cp
        {
            let voqs = self.inputs.voqs(input, priority);
            let view = InputView { port: PortId::new(in_port), voqs };
            let mut cx = LevelOf::<S>::arrive(FullCx::new(now, effects, views));
            InputQueuesOf::<S>::on_input(cp, &mut cx, &view, PortId::new(out as u16), header);
        }
        if far_from_limits {
            if self.may_transfer_direct(window, now, input, out, header) {
                return self.transfer_direct(window, now, voq, handle);
            }
            self.chassis.mmu.store(in_port, priority, size);
        }
        self.inputs.push(window.packets, voq, size, handle);
        self.after_input_enqueue(now, voq, size);
        if pauses {
            self.send_pfc(window, now, input, priority, PfcFrame::Pause);
        }
    }

    /// Returns whether a packet that arrives now crosses now, whatever else happens at this
    /// instant. It does if nobody waits for its output or at its input, and nothing else may cross
    /// now.
    #[inline]
    fn may_transfer_direct(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        input: usize,
        out: usize,
        header: &Header,
    ) -> bool {
        if self.cross_at <= now
            || self.inputs.priorities[out] != 0
            || !self.inputs.wants.is_empty(input)
            || self.crossbar.both_free(input, out) > now
            || self.pending.recheck_all
            || window.next_arrival_time() <= now
            || self.next_timer() <= now
            || !self.chassis.effects.is_empty()
        {
            return false;
        }
        if Self::STRICT {
            if self.chassis.due.earliest().0 <= now {
                return false;
            }
        } else {
            self.drain(window, out, now + Time::from_ps(1));
        }
        if !self.fits(out, usize::from(header.priority), u64::from(header.size)) {
            return false;
        }
        let Some(cp) = self.chassis.cp.as_ref().filter(|_| InputQueuesOf::<S>::ENABLED) else {
            return true;
        };
        let out = PortId::new(out as u16);
        header.kind != PacketKind::Data
            || !InputQueuesOf::<S>::may_block(cp, out, now)
            || InputQueuesOf::<S>::crossing(cp, out, header, now) == Crossing::Allowed
    }

    /// Returns the port that a packet leaves through. The scheme may reroute data, none of which
    /// the switch makes itself.
    #[inline]
    pub(super) fn select_port(&mut self, packet: &Packet<S>, now: Time) -> usize {
        let header = &packet.header;
        let Chassis { common, cp, effects, views, switch_row, router, .. } = &mut self.chassis;
        let set = common.routes.ports_to(switch_row, header.destination());
        let choice = Choice::new(&common.routes, set, now);
        let chosen = router.select(&choice, header);
        let chosen = chosen.expect("links to these switches do not fail");
        let Some(cp) = cp.as_mut().filter(|_| InputQueuesOf::<S>::ENABLED) else {
            return chosen.index();
        };
        let mut cx = LevelOf::<S>::arrive(FullCx::new(now, effects, views));
        let candidates = choice.next_hops();
        if header.kind == PacketKind::Data {
            return InputQueuesOf::<S>::reroute(cp, &mut cx, header, candidates, chosen).index();
        }
        chosen.index()
    }
}
