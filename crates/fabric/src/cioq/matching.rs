//! Decides which packets cross, and when.
//!
//! In each round, iSLIP asks all free outputs what they would take. An output that found nothing
//! finds nothing until one of these events: a packet arrives for it, or an input with packets for
//! it becomes free. If its queue was full, two more events count: a packet leaves the queue, or the
//! input whose packet did not fit transfers another one, because its next packet may be smaller.
//! Each output therefore has a time from which it is worth asking, and is not asked before.
//!
//! Packets that the congestion point holds back follow the same rule. They are asked about when
//! something changes for their output that the congestion point depends on. Packets that may go
//! last are asked about when the queue is empty. All are asked about after each timer and wake-up
//! of the congestion point.

use super::CioqSwitch;
use super::crossbar::Grant;
use super::inputs::VoqId;
use super::pending::{OutputState, Pending};
use super::port_set::Members;
use crate::hooks::InputQueuesOf;
use crate::packet::{PfcFrame, Scheme, Win};
use crate::switch::actions::SwitchCore;
use crate::switch::chassis::Chassis;
use engine::Handle;
use schemes::contract::InputQueueSlot;
use units::{PortId, Time};

/// What a free output would take from the free inputs.
enum Claim {
    Packet(Grant),
    /// There is a packet, but the output's queue has no room for it.
    Full,
    Nothing,
}

impl<S: Scheme> CioqSwitch<S> {
    /// Notes that an output is worth asking from `time` on.
    #[inline]
    fn ask(&mut self, output: usize, time: Time) {
        let ask_at = &mut self.pending.outputs[output].ask_at;
        *ask_at = time.min(*ask_at);
        self.check_at(output, time);
    }

    /// Notes that an output may be worth asking from `time` on.
    #[inline]
    fn check_at(&mut self, output: usize, time: Time) {
        let check_at = &mut self.pending.outputs[output].check_at;
        *check_at = time.min(*check_at);
        self.cross_at = time.min(self.cross_at);
    }

    /// Notes that a packet of `size` bytes has joined a VOQ.
    #[inline]
    pub(super) fn after_input_enqueue(
        &mut self,
        now: Time,
        VoqId { input, priority, output }: VoqId,
        size: u64,
    ) {
        if self.pending.outputs[output].none_fits && !self.fits(output, priority, size) {
            return;
        }
        self.pending.outputs[output].none_fits = false;
        let at = self.crossbar.both_free(input, output).max(now);
        self.ask(output, at);
    }

    /// Returns when a departure from the queue of `port` may let another packet cross, as far as
    /// that is known. If departures are events, each of them notes that itself.
    #[inline]
    fn awaited_at(&self, port: usize) -> Time {
        let OutputState { full, last, .. } = self.pending.outputs[port];
        let Chassis { ports, due, .. } = &self.chassis;
        if Self::STRICT {
            Time::NEVER
        } else if full {
            due.at(port).max(self.crossbar.output_free(port))
        } else if last {
            due.at(port).max(ports[port].earliest_empty(self.chassis.common.wire.max_packet.get()))
        } else {
            Time::NEVER
        }
    }

    /// Notes that the time of the next departure of `port` has changed.
    #[inline]
    pub(super) fn schedule_crossing(&mut self, port: usize) {
        self.check_at(port, self.awaited_at(port));
    }

    /// Notes that a packet left the queue of `port` at `now`.
    #[inline]
    pub(super) fn after_dequeue(&mut self, port: usize, now: Time) {
        let OutputState { full, none_fits, last, .. } = self.pending.outputs[port];
        let emptied = last && self.chassis.ports[port].queue_bytes == 0;
        if emptied || (full && (!none_fits || self.may_take(port))) {
            self.pending.outputs[port].none_fits = false;
            let at = self.crossbar.output_free(port).max(now);
            self.ask(port, at);
        }
    }

    /// Notes that packets which waited for `port`, or in its queue, are gone.
    pub(super) fn after_drops(&mut self, port: usize, now: Time) {
        let known = &mut self.pending.outputs[port];
        (known.full, known.none_fits, known.last) = (false, false, false);
        if self.inputs.priorities[port] != 0 {
            let at = self.crossbar.output_free(port).max(now);
            self.ask(port, at);
        }
    }

    /// Notes that the congestion point may decide differently about waiting packets.
    pub(super) fn recheck_outputs(&mut self, now: Time) {
        let mut outputs = Members::default();
        while let Some(output) = outputs.next(|word| self.inputs.wanted.word(word)) {
            if self.crossbar.output_free(output) <= now && !self.pending.outputs[output].none_fits {
                self.ask(output, now);
            }
        }
    }

    /// Matches inputs and outputs until nothing more may cross at `now`.
    pub(super) fn transfer_all(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        self.open_outputs(window, now);
        let mut first = true;
        while self.round(window, now, first) {
            first = false;
        }
        while let Some(output) = self.pending.open.first() {
            self.close(output, now);
        }
        if !Self::STRICT && !self.chassis.effects.is_empty() {
            // Departures at this instant come before what the switch sends now.
            self.drain_all(window, now + Time::from_ps(1));
        }
        self.apply_effects(window, now);
    }

    /// Finds the outputs that are worth asking at `now`, and drains them.
    #[inline]
    fn open_outputs(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        if self.pending.recheck_all {
            self.drain_all(window, now + Time::from_ps(1));
        }
        self.pending.checks += 1;
        let (mut next, mut word) = (Time::NEVER, 0);
        while let Some(wanted) = self.inputs.wanted.word(word) {
            let (mut due, others) = self.pending.outputs_to_match(word, wanted, now);
            next = next.min(others);
            while due != 0 {
                let output = word * 64 + due.trailing_zeros() as usize;
                due &= due - 1;
                next = next.min(self.open_output(window, output, now));
            }
            word += 1;
        }
        self.cross_at = next;
    }

    /// Drains an output and finds out whether it is worth asking at `now`. Returns when it must be
    /// checked again if it is not.
    #[inline]
    fn open_output(&mut self, window: &mut Win<'_, '_, S>, output: usize, now: Time) -> Time {
        if !Self::STRICT {
            self.drain(window, output, now + Time::from_ps(1));
        }
        let free = self.crossbar.output_free(output) <= now;
        let Pending { outputs, checks, recheck_all, open } = &mut self.pending;
        let all = *recheck_all && !InputQueuesOf::<S>::ENABLED;
        let known = &mut outputs[output];
        known.checked_in = *checks;
        if known.ask_at <= now || (all && free) {
            debug_assert!(free, "nobody asks an output that takes a packet");
            (known.check_at, known.ask_at) = (Time::NEVER, Time::NEVER);
            open.insert(output);
            return Time::NEVER;
        }
        self.compute_check_at(output)
    }

    /// Computes when an output must be checked next.
    #[inline]
    fn compute_check_at(&mut self, output: usize) -> Time {
        let awaited_at = self.awaited_at(output);
        let known = &mut self.pending.outputs[output];
        known.check_at = known.ask_at.min(awaited_at);
        known.check_at
    }

    /// Notes that an output takes nothing more at `now`, and computes when it must be checked next.
    #[inline]
    fn close(&mut self, output: usize, now: Time) {
        self.pending.open.remove(output);
        if !self.pending.outputs[output].none_fits {
            self.ask_when_inputs_are_free(output, now);
        }
        self.schedule_crossing(output);
    }

    /// Notes that an output that took nothing is worth asking when an input with packets for it
    /// becomes free.
    #[inline]
    fn ask_when_inputs_are_free(&mut self, output: usize, now: Time) {
        let mut at = Time::NEVER;
        let mut priorities = self.inputs.priorities[output];
        while priorities != 0 {
            let waiting = output * 8 + priorities.trailing_zeros() as usize;
            priorities &= priorities - 1;
            let mut inputs = Members::default();
            while let Some(input) = inputs.next(|word| self.inputs.waiting.word(waiting, word)) {
                let free = self.crossbar.input_free(input);
                at = if free > now { at.min(free) } else { at };
            }
        }
        self.ask(output, at);
    }

    /// Does one round of the matching. Returns whether another may add something.
    #[inline]
    fn round(&mut self, window: &mut Win<'_, '_, S>, now: Time, first: bool) -> bool {
        if let Some(output) = self.pending.open.only() {
            // No other output competes with it.
            return match self.claim(window, output, now) {
                Claim::Packet(grant) => self.cross(window, &grant, now, first),
                Claim::Full | Claim::Nothing => false,
            };
        }
        let mut outputs = Members::default();
        let mut again = false;
        while let Some(output) = outputs.next(|word| self.pending.open.word(word)) {
            match self.claim(window, output, now) {
                Claim::Packet(grant) => again |= self.crossbar.offer(grant),
                // A smaller packet of another input may have room.
                Claim::Full => again = true,
                // It will find none in later rounds of this instant: transfers to other outputs
                // neither bring it packets nor free inputs.
                Claim::Nothing => self.close(output, now),
            }
        }
        let mut crossed = false;
        while let Some(grant) = self.crossbar.accept() {
            again |= self.cross(window, &grant, now, first);
            crossed = true;
        }
        again && crossed
    }

    /// Returns what a free output would take.
    #[inline]
    fn claim(&mut self, window: &Win<'_, '_, S>, output: usize, now: Time) -> Claim {
        let (mut last, mut full, mut waits_for_last) = (None, false, false);
        let fits = self.may_take(output);
        let known = &mut self.pending.outputs[output];
        known.none_fits = !fits;
        if !fits {
            // The congestion point is not asked.
            (known.full, known.last) = (true, false);
            return Claim::Full;
        }
        let may_block = |cp: &&S::Cp| {
            InputQueuesOf::<S>::ENABLED
                && InputQueuesOf::<S>::may_block(cp, PortId::new(output as u16), now)
        };
        let cp = self.chassis.cp.as_ref().filter(may_block);
        let mut priorities = self.inputs.priorities[output];
        while priorities != 0 {
            let priority = self.crossbar.first_priority(output, priorities);
            priorities &= !(1 << priority);
            let from = self.crossbar.grant_pointer(output, priority);
            let mut member = None;
            while let Some(input) =
                self.inputs.waiting.following(output * 8 + priority, from, member)
            {
                member = Some(input);
                if self.crossbar.input_free(input) > now {
                    continue;
                }
                let voq = VoqId { input, priority, output };
                let Some(head) = self.inputs.head::<S>(window.packets, cp, voq, now) else {
                    continue;
                };
                let grant = Grant { voq, head };
                if head.last {
                    waits_for_last = true;
                    let idle = last.is_none() && self.chassis.ports[output].queue_bytes == 0;
                    last = if idle { Some(grant) } else { last };
                } else if self.fits(output, priority, head.size) {
                    return Claim::Packet(grant);
                } else {
                    // The input whose turn it is decides. Inputs whose packets might be smaller do
                    // not overtake it.
                    full = true;
                    break;
                }
            }
        }
        if let Some(grant) = last {
            return Claim::Packet(grant);
        }
        let known = &mut self.pending.outputs[output];
        (known.full, known.last) = (full, waits_for_last);
        if full { Claim::Full } else { Claim::Nothing }
    }

    /// Transfers a packet from its input queue to its output queue. Returns whether that may change
    /// something for an output whose queue is full.
    #[inline]
    fn cross(
        &mut self,
        window: &mut Win<'_, '_, S>,
        grant: &Grant,
        now: Time,
        first: bool,
    ) -> bool {
        let Grant { voq, head } = *grant;
        let VoqId { input, priority, output } = voq;
        let mut handle = self.inputs.pop(window.packets, voq, head);
        let until = self.crossbar.connect(grant, head.size, now, first);
        // If something else crosses now, a frame that ends a pause would go before the packet.
        let passes = self.passes(output, priority as u8, now)
            && !self.chassis.mmu.pauses_peer_of(output as u16);
        if passes {
            let packet = window.packets.get_mut(&mut handle);
            self.chassis.egress(output).notify_enqueue(now, packet);
            self.leaves_at_once(window, now, output, handle);
        } else {
            self.crossed += head.size;
            self.enqueue(window, now, output, handle);
        }
        if self.chassis.mmu.release(input as u16, priority as u8, head.size) {
            self.ends_pause(window, now, input, priority as u8);
        }
        self.connected(output, until);
        let mut concerned = false;
        let mut others = Members::default();
        while let Some(other) = others.next(|word| self.inputs.wants.word(input, word)) {
            if self.pending.outputs[other].none_fits {
                continue;
            }
            let free = self.crossbar.output_free(other);
            if free <= until {
                self.ask(other, until);
            }
            if free <= now && self.pending.outputs[other].full {
                self.pending.open.insert(other);
                concerned = true;
            }
        }
        concerned
    }

    /// Ends the pause of the peer of `port`, because a packet has crossed from there. The frame
    /// goes after what is due at this instant and before what crosses.
    #[cold]
    fn ends_pause(&mut self, window: &mut Win<'_, '_, S>, now: Time, port: usize, priority: u8) {
        let Pending { outputs, checks, recheck_all, .. } = &self.pending;
        if !Self::STRICT && !recheck_all && outputs[port].checked_in != *checks {
            self.drain(window, port, now + Time::from_ps(1));
        }
        self.send_pfc(window, now, port, priority, PfcFrame::Resume);
    }

    /// Notes that an output takes a packet until `until`.
    #[inline]
    fn connected(&mut self, output: usize, until: Time) {
        let waits = self.inputs.priorities[output] != 0;
        // If nothing fits, nothing will before a packet leaves.
        let fits = waits && self.may_take(output);
        let full = waits && !fits;
        self.pending.open.remove(output);
        let known = &mut self.pending.outputs[output];
        (known.full, known.none_fits, known.last) = (full, full, false);
        known.ask_at = if fits { until } else { Time::NEVER };
        self.cross_at = self.cross_at.min(self.compute_check_at(output));
    }

    /// Transfers a packet that just arrived to its output queue, or sends it without queueing.
    #[inline]
    pub(super) fn transfer_direct(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        voq: VoqId,
        mut handle: Handle,
    ) {
        let output = voq.output;
        let packet = window.packets.get_mut(&mut handle);
        let (_, class, size) = packet.header.kind_priority_size();
        let grant = Grant { voq, head: Default::default() };
        self.crossbar.connect(&grant, u64::from(size), now, true);
        if !self.passes(output, class, now) {
            self.crossed += u64::from(size);
            self.enqueue(window, now, output, handle);
        } else {
            let mut egress = self.chassis.egress(output);
            egress.notify_enqueue(now, packet);
            if egress.effects.is_empty() {
                return self.leaves_at_once(window, now, output, handle);
            }
            // What the switch makes at this instant may go first.
            self.crossed += u64::from(size);
            egress.port.enqueue(window.packets, class, size, handle);
            self.after_enqueue(output, class, now);
        }
        if !self.chassis.effects.is_empty() {
            // Departures at this instant come before what the switch sends now.
            self.drain_others(window, output, now + Time::from_ps(1));
            self.apply_effects(window, now);
        }
    }

    /// Returns whether a packet of a priority that crosses now leaves without waiting, so that it
    /// need not be queued.
    #[inline]
    fn passes(&self, output: usize, priority: u8, now: Time) -> bool {
        // RED at dequeue does not mark a packet that leaves an empty queue behind.
        !Self::STRICT
            && !self.pending.recheck_all
            && self.chassis.ports[output].can_send_priority_now(priority, now)
            && !self.chassis.common.marks_at_enqueue
            && !self.chassis.records_queues_or_packets()
    }

    /// Sends a packet that has just crossed.
    #[inline]
    fn leaves_at_once(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        output: usize,
        mut handle: Handle,
    ) {
        let packet = window.packets.get_mut(&mut handle);
        let kind_priority_size = packet.header.kind_priority_size();
        let (_, _, size) = kind_priority_size;
        let mut egress = self.chassis.egress(output);
        egress.notify_dequeue(now, packet);
        egress.port.count_direct(size);
        egress.port.transmit(window, now, kind_priority_size, handle);
    }

    /// Returns whether a packet of `size` bytes fits into the present queue of an output.
    #[inline]
    pub(super) fn fits(&self, output: usize, priority: usize, size: u64) -> bool {
        let port = &self.chassis.ports[output];
        let waits = || port.class_bytes(priority as u8);
        port.queue_bytes + size <= self.output_room
            || waits() == 0
            || waits() + size <= self.output_room
    }

    /// Returns whether some packet that waits for an output may fit into its queue.
    #[inline]
    fn may_take(&self, output: usize) -> bool {
        let port = &self.chassis.ports[output];
        if port.queue_bytes <= self.always_fits {
            return true;
        }
        let max_packet = self.chassis.common.wire.max_packet.get();
        let mut priorities = self.inputs.priorities[output];
        while priorities != 0 {
            let priority = priorities.trailing_zeros() as usize;
            priorities &= priorities - 1;
            let waits = port.class_bytes(priority as u8);
            let room = self.output_room.saturating_sub(waits);
            if waits == 0 || room >= max_packet || self.inputs.may_fit(output, priority, room) {
                return true;
            }
        }
        false
    }
}
