//! Which packets cross, and when.
//!
//! iSLIP asks all free outputs in each round what they would take. An output that found nothing finds
//! nothing until a packet comes for it, an input with packets for it becomes free, or, where its queue
//! was full, a packet leaves that or the input whose packet did not fit takes another away (the next
//! one's may be smaller). So each output has a time from which on it is worth asking again, and is not
//! asked before.
//!
//! It is the same for what the congestion point holds: packets are asked after when something of that
//! changes for their output, when what may go last finds the queue empty, and after each timer and
//! wake of the congestion point.

use super::CioqSwitch;
use super::crossbar::Grant;
use super::port_set::{Members, PortSet};
use crate::chassis::Chassis;
use crate::packet::{Packet, Scheme};
use engine::{Handle, Window};
use schemes::contract::Cp;
use units::{PortId, Time};

/// What is known of outputs between one look at the crossbar and the next.
#[derive(Debug)]
pub(super) struct Pending {
    /// From when on they are worth asking: not before they are free, [`Time::NEVER`] where nothing
    /// waits.
    ask_at: Vec<Time>,
    /// Something that waits does not fit into the queue.
    full: PortSet,
    /// Nothing does that waits: of no use to ask before a packet leaves, or a smaller one comes.
    shut: PortSet,
    /// What waits may cross when the queue is empty.
    last: PortSet,
    /// Those that may be matched yet at this instant.
    open: PortSet,
    /// All are asked at all times; nothing crosses without being matched.
    thorough: bool,
}

impl Pending {
    pub(super) fn new(ports: usize, thorough: bool) -> Pending {
        let set = || PortSet::new(ports);
        let ask_at = vec![Time::NEVER; ports];
        Pending { ask_at, full: set(), shut: set(), last: set(), open: set(), thorough }
    }

    /// An output is worth asking from `time` on.
    #[inline]
    fn ask(&mut self, output: usize, time: Time) {
        let ask_at = &mut self.ask_at[output];
        *ask_at = time.min(*ask_at);
    }

    #[inline]
    pub(super) fn is_thorough(&self) -> bool {
        self.thorough
    }
}

/// What a free output would take from the inputs that are free.
enum Claim {
    Packet(Grant),
    /// There is one, for which its queue has no room.
    Full,
    Nothing,
}

impl<S: Scheme> CioqSwitch<S> {
    /// A packet for `out` has joined the queue of `input`.
    #[inline]
    pub(super) fn joined_input(
        &mut self,
        now: Time,
        (input, priority, out): (usize, usize, usize),
        size: u64,
    ) {
        if self.pending.shut.contains(out) && !self.fits(out, priority, size) {
            return;
        }
        self.pending.shut.remove(out);
        let at = self.crossbar.both_free(input, out).max(now);
        self.pending.ask(out, at);
        self.cross_at = self.cross_at.min(at);
    }

    /// When a packet that leaves the queue of `port` may let another cross, as far as is known.
    #[inline]
    fn leaves_at(&self, port: usize) -> Time {
        let Pending { full, last, .. } = &self.pending;
        let Chassis { ports, due, .. } = &self.chassis;
        if full.contains(port) {
            due.at(port).max(self.crossbar.output_free(port))
        } else if last.contains(port) {
            due.at(port).max(ports[port].empty_from(self.chassis.common.largest_packet()))
        } else {
            Time::NEVER
        }
    }

    /// The next packet of `port` is due otherwise than before.
    #[inline]
    pub(super) fn becomes_due(&mut self, port: usize) {
        if !Self::STRICT {
            self.cross_at = self.cross_at.min(self.leaves_at(port));
        }
    }

    /// A packet left the queue of `port` at `now`.
    #[inline]
    pub(super) fn left(&mut self, port: usize, now: Time) {
        let Pending { full, shut, last, .. } = &self.pending;
        let emptied = last.contains(port) && self.chassis.ports[port].queue_bytes == 0;
        if emptied || (full.contains(port) && (!shut.contains(port) || self.may_take(port))) {
            self.pending.shut.remove(port);
            let at = self.crossbar.output_free(port).max(now);
            self.pending.ask(port, at);
            if Self::STRICT {
                self.cross_at = self.cross_at.min(at);
            }
        }
    }

    /// The congestion point may say something else of what waits.
    pub(super) fn look_again(&mut self, now: Time) {
        let mut outputs = Members::default();
        while let Some(output) = outputs.next(|word| self.inputs.wanted.word(word)) {
            if self.crossbar.output_free(output) <= now && !self.pending.shut.contains(output) {
                self.pending.ask(output, now);
            }
        }
        self.cross_at = self.cross_at.min(now);
    }

    /// Matches inputs and outputs until nothing more may cross at `now`.
    pub(super) fn cross_all(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        self.cross_at = Time::NEVER;
        self.open_outputs(window, now);
        let mut first = true;
        while self.round(window, now, first) {
            first = false;
        }
        while let Some(output) = self.pending.open.first() {
            self.pending.open.remove(output);
            if !self.pending.shut.contains(output) {
                self.ask_when_inputs_are_free(output, now);
            }
        }
        self.find_next_crossing();
        if !Self::STRICT && !self.chassis.effects.is_empty() {
            // Departures at this instant come before what is sent now.
            self.drain_all(window, now + Time::from_ps(1));
        }
        self.apply_effects(window, now);
    }

    /// Finds the outputs that are worth asking at `now`, and has them send what they send until then.
    #[inline]
    fn open_outputs(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        let thorough = self.pending.thorough;
        let after = now + Time::from_ps(1);
        // What crosses may end a pause: that frame goes after what is due at this instant, but before what
        // crosses.
        if thorough {
            self.drain_all(window, after);
        } else if !Self::STRICT {
            let mut ports = Members::default();
            while let Some(port) = ports.next(|word| self.pausing.word(word)) {
                self.drain(window, port, after);
            }
        }
        let mut outputs = Members::default();
        while let Some(output) = outputs.next(|word| self.inputs.wanted.word(word)) {
            let Pending { ask_at, full, last, .. } = &self.pending;
            // A packet that leaves it may be what others wait for.
            let awaited = full.contains(output) || last.contains(output);
            if !Self::STRICT && (awaited || ask_at[output] <= now) {
                self.drain(window, output, after);
            }
            let free = self.crossbar.output_free(output) <= now;
            let all = thorough && !S::Cp::INPUT_QUEUES;
            if self.pending.ask_at[output] <= now || (all && free) {
                debug_assert!(free, "nobody asks an output that takes a packet");
                self.pending.ask_at[output] = Time::NEVER;
                self.pending.open.insert(output);
            }
        }
    }

    /// An output that took nothing is worth asking when an input with packets for it becomes free.
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
        self.pending.ask(output, at);
    }

    /// A round of the matching, `first` or not; whether another may add something.
    #[inline]
    fn round(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time, first: bool) -> bool {
        let Some(output) = self.pending.open.first() else { return false };
        let mut outputs = Members::default();
        let open = |word| self.pending.open.word(word);
        outputs.next(open);
        if outputs.next(open).is_none() {
            // Nobody is in its way.
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
                // A smaller one of another input may have room.
                Claim::Full => again = true,
                // It finds none in the rounds after this one either: what crosses elsewhere neither
                // brings it packets nor frees inputs.
                Claim::Nothing => {
                    self.pending.open.remove(output);
                    self.ask_when_inputs_are_free(output, now);
                }
            }
        }
        let mut crossed = false;
        while let Some(grant) = self.crossbar.accept() {
            again |= self.cross(window, &grant, now, first);
            crossed = true;
        }
        again && crossed
    }

    /// What a free output would take.
    #[inline]
    fn claim(&mut self, window: &Window<'_, '_, Packet<S>>, output: usize, now: Time) -> Claim {
        let (mut last, mut full, mut waits_for_last) = (None, false, false);
        let fits = self.may_take(output);
        self.pending.shut.put(output, !fits);
        if !fits {
            // The congestion point is not even asked.
            self.pending.full.insert(output);
            self.pending.last.remove(output);
            return Claim::Full;
        }
        let restrains =
            |cp: &&S::Cp| S::Cp::INPUT_QUEUES && cp.restrains(PortId::new(output as u16), now);
        let cp = self.chassis.cp.as_ref().filter(restrains);
        let mut priorities = self.inputs.priorities[output];
        while priorities != 0 {
            let priority = self.crossbar.first_priority(output, priorities);
            priorities &= !(1 << priority);
            let from = self.crossbar.first_claim(output, priority);
            let mut member = None;
            while let Some(input) =
                self.inputs.waiting.following(output * 8 + priority, from, member)
            {
                member = Some(input);
                if self.crossbar.input_free(input) > now {
                    continue;
                }
                let voq = (input, priority, output);
                let Some(head) = self.inputs.head::<S>(window.packets, cp, voq, now) else {
                    continue;
                };
                let grant = Grant { input, output, priority, head };
                if head.last {
                    waits_for_last = true;
                    let idle = last.is_none() && self.chassis.ports[output].queue_bytes == 0;
                    last = if idle { Some(grant) } else { last };
                } else if self.fits(output, priority, head.size) {
                    return Claim::Packet(grant);
                } else {
                    // The queue of this priority is full, whatever the input.
                    full = true;
                    break;
                }
            }
        }
        if let Some(grant) = last {
            return Claim::Packet(grant);
        }
        let pending = &mut self.pending;
        pending.last.put(output, waits_for_last);
        pending.full.put(output, full);
        if full { Claim::Full } else { Claim::Nothing }
    }

    /// Takes a packet from its input queue to the queue of its output. Whether that may mean
    /// something for an output whose queue is full.
    #[inline]
    fn cross(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        grant: &Grant,
        now: Time,
        first: bool,
    ) -> bool {
        let Grant { input, output, priority, head } = *grant;
        let voq = (input, priority, output);
        let handle = self.inputs.pop(window.packets, voq, head);
        let until = self.crossbar.connect(grant, head.size, now, first);
        self.crossed += head.size;
        self.enqueue(window, now, output, handle);
        if self.chassis.mmu.release(input as u16, priority as u8, head.size) {
            self.send_pfc(window, now, input, priority as u8, false);
        }
        self.connected(output, until);
        let mut concerned = false;
        let mut others = Members::default();
        while let Some(other) = others.next(|word| self.inputs.wants.word(input, word)) {
            if self.pending.shut.contains(other) {
                continue;
            }
            let free = self.crossbar.output_free(other);
            if free <= until {
                self.pending.ask(other, until);
            }
            if free <= now && self.pending.full.contains(other) {
                self.pending.open.insert(other);
                concerned = true;
            }
        }
        concerned
    }

    /// An output takes a packet until then.
    #[inline]
    fn connected(&mut self, output: usize, until: Time) {
        let waits = self.inputs.priorities[output] != 0;
        // Where nothing fits, nothing will before a packet leaves.
        let fits = waits && self.may_take(output);
        let Pending { ask_at, open, last, full, shut, .. } = &mut self.pending;
        ask_at[output] = if fits { until } else { Time::NEVER };
        full.put(output, waits && !fits);
        shut.put(output, waits && !fits);
        open.remove(output);
        last.remove(output);
    }

    /// Takes a packet that just arrived to the queue of its output, or straight on.
    #[inline]
    pub(super) fn cross_alone(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        (input, priority, output): (usize, usize, usize),
        mut handle: Handle,
    ) {
        let packet = window.packets.get_mut(&mut handle);
        let (kind, class, size) = packet.header.on_the_wire();
        let grant = Grant { input, output, priority, head: Default::default() };
        self.crossbar.connect(&grant, u64::from(size), now, true);
        let passes = !Self::STRICT
            && self.chassis.ports[output].is_idle(class, now)
            && !self.chassis.common.marks_at_enqueue
            && !self.chassis.looks_at_packets();
        if !passes {
            self.crossed += u64::from(size);
            self.enqueue(window, now, output, handle);
        } else {
            // RED does not mark where nothing is left waiting.
            let mut egress = self.chassis.egress(output);
            egress.tells_join(now, packet);
            if egress.effects.is_empty() {
                egress.tells_leave(now, packet);
                egress.port.count_through(size);
                egress.port.transmit(window, now, (kind, class, size), handle);
                self.chassis.audit.departed += u64::from(size);
                return;
            }
            // What the switch sends itself at this instant may go first.
            self.crossed += u64::from(size);
            egress.port.enqueue(window.packets, class, size, handle);
            self.joined(output, class, now);
        }
        if !self.chassis.effects.is_empty() {
            // Departures at this instant come before what is sent now.
            self.drain_others(window, output, now + Time::from_ps(1));
            self.apply_effects(window, now);
        }
    }

    /// When the crossbar may be able to take a packet that it can't take now.
    fn find_next_crossing(&mut self) {
        let mut at = self.cross_at;
        let mut outputs = Members::default();
        while let Some(output) = outputs.next(|word| self.inputs.wanted.word(word)) {
            at = at.min(self.pending.ask_at[output]);
            if !Self::STRICT {
                at = at.min(self.leaves_at(output));
            }
        }
        self.cross_at = at;
    }

    /// Whether a packet of `size` bytes fits into the queue of an output, as that is now.
    #[inline]
    pub(super) fn fits(&self, output: usize, priority: usize, size: u64) -> bool {
        let waits = self.chassis.ports[output].class_bytes(priority as u8);
        waits == 0 || waits + size <= self.output_room
    }

    /// Whether a packet that waits for an output may fit into its queue.
    #[inline]
    fn may_take(&self, output: usize) -> bool {
        let (port, largest) = (&self.chassis.ports[output], self.chassis.common.largest_packet());
        let mut priorities = self.inputs.priorities[output];
        while priorities != 0 {
            let priority = priorities.trailing_zeros() as usize;
            priorities &= priorities - 1;
            let waits = port.class_bytes(priority as u8);
            let room = self.output_room.saturating_sub(waits);
            if waits == 0 || room >= largest || self.inputs.may_fit(output, priority, room) {
                return true;
            }
        }
        false
    }
}
