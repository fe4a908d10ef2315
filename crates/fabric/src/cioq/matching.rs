//! Which packets cross, and when.
//!
//! iSLIP asks all free outputs in each round what they would take. An output that found nothing, or
//! whose queue was full, finds the same until something of it changes: a packet comes to one of its
//! VOQs, an input with packets for it becomes free, one leaves its queue, or, where its queue is full,
//! the input whose packet did not fit takes another away, so that the next one's smaller packet may.
//! Only outputs of which that is so are asked. What the congestion point restrains may change with
//! time: while there is such, outputs are asked again whenever anything happens.

use super::crossbar::Grant;
use super::port_set::{PortSets, following_but, next_but, next_in_both};
use super::{CioqSwitch, LevelOf};
use crate::packet::{Packet, Scheme};
use engine::{Handle, Window};
use schemes::contract::{Cp, Departure, Full, Level};
use units::{PortId, Time};

/// What is known of outputs between one look at the crossbar and the next.
#[derive(Debug)]
pub(super) struct Pending {
    /// Something changed.
    changed: PortSets,
    /// Packets could cross if the congestion point let them.
    held: PortSets,
    /// There is a packet for which the queue has no room.
    full: PortSets,
    /// Those that may be matched yet at this instant.
    open: PortSets,
    /// All outputs are asked whenever anything happens.
    watchful: bool,
    thorough: bool,
}

impl Pending {
    /// `thorough`: it is always asked for everything.
    pub(super) fn new(ports: usize, thorough: bool) -> Pending {
        let set = || PortSets::new(1, ports);
        Pending {
            changed: set(),
            held: set(),
            full: set(),
            open: set(),
            watchful: thorough,
            thorough,
        }
    }

    #[inline]
    pub(super) fn is_watchful(&self) -> bool {
        self.watchful
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
    pub(super) fn joined_input(&mut self, now: Time, input: usize, out: usize) {
        self.pending.changed.insert(0, out);
        let free = self.crossbar.input_free(input).max(self.crossbar.output_free(out));
        let at = if self.pending.watchful { now } else { free.max(now) };
        self.cross_at = self.cross_at.min(at);
    }

    /// The next packet of `port` is due: what waits for it may cross then.
    #[inline]
    pub(super) fn becomes_due(&mut self, port: usize) {
        let Pending { full, watchful, .. } = &self.pending;
        if full.contains(0, port) || (*watchful && self.inputs.priorities[port] != 0) {
            self.cross_at = self.cross_at.min(self.due.at(port));
        }
    }

    /// A packet left the queue of `port` at `now`.
    #[inline]
    pub(super) fn left(&mut self, port: usize, now: Time) {
        let Pending { full, changed, watchful, .. } = &mut self.pending;
        let full = full.contains(0, port);
        if full {
            changed.insert(0, port);
        }
        if Self::STRICT && (full || (*watchful && self.inputs.priorities[port] != 0)) {
            self.cross_at = self.cross_at.min(now);
        }
    }

    /// Anything may have changed.
    pub(super) fn look_again(&mut self, now: Time) {
        self.pending.changed.add(self.inputs.wanted.set(0));
        self.cross_at = self.cross_at.min(now);
    }

    /// The congestion point was asked something: from now on it may restrain what did not fit.
    #[inline]
    pub(super) fn watch(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        if S::Cp::INPUT_QUEUES
            && !self.pending.watchful
            && !self.pending.full.none()
            && self.restrains_full(now)
        {
            self.pending.watchful = true;
            if !Self::STRICT {
                self.drain_all(window, now);
                self.find_next_due();
            }
        }
    }

    /// Whether the congestion point restrains what would not fit anyway.
    fn restrains_full(&self, now: Time) -> bool {
        let Some(cp) = &self.cp else { return false };
        let full = &self.pending.full;
        let mut next = full.first(0, 0);
        while let Some(output) = next {
            if cp.restrains(PortId::new(output as u16), now) {
                return true;
            }
            next = full.first(0, output + 1);
        }
        false
    }

    /// Matches inputs and outputs until nothing more may cross at `now`.
    pub(super) fn cross_all(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        self.cross_at = Time::NEVER;
        if !Self::STRICT {
            self.drain_all(window, now + Time::from_ps(1));
        }
        self.crossbar.free(now, &self.inputs.wants, &mut self.pending.changed);
        if self.pending.watchful {
            self.open_all(now);
        }
        let Pending { open, changed, .. } = &mut self.pending;
        open.assign(self.inputs.wanted.set(0), changed, self.crossbar.busy_outputs());
        changed.clear();
        let mut first = true;
        while self.round(window, now, first) {
            first = false;
        }
        self.find_next_crossing(now);
        self.apply_effects(window, now);
    }

    /// Asks outputs, too, that may find something else because the congestion point says something
    /// else.
    fn open_all(&mut self, now: Time) {
        let Pending { changed, held, full, thorough, .. } = &mut self.pending;
        if *thorough {
            return changed.add(self.inputs.wanted.set(0));
        }
        changed.add(held.set(0));
        let Some(cp) = &self.cp else { return };
        let mut next = full.first(0, 0);
        while let Some(output) = next {
            if cp.restrains(PortId::new(output as u16), now) {
                changed.insert(0, output);
            }
            next = full.first(0, output + 1);
        }
    }

    /// A round of the matching, `first` or not; whether another may add something.
    #[inline]
    fn round(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time, first: bool) -> bool {
        let mut again = false;
        let mut next = self.pending.open.first(0, 0);
        while let Some(output) = next {
            next = self.pending.open.first(0, output + 1);
            match self.claim(window, output, now) {
                Claim::Packet(grant) => again |= self.crossbar.offer(grant),
                // A smaller one of another input may have room.
                Claim::Full => again = true,
                // It finds none in the rounds after this one either: what crosses elsewhere neither
                // brings it packets nor frees inputs.
                Claim::Nothing => self.pending.open.remove(0, output),
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
        let (mut last, mut full, mut held) = (None, false, false);
        let restrains =
            |cp: &&S::Cp| S::Cp::INPUT_QUEUES && cp.restrains(PortId::new(output as u16), now);
        let cp = self.cp.as_ref().filter(restrains);
        let mut priorities = self.inputs.priorities[output];
        while priorities != 0 {
            let priority = self.crossbar.first_priority(output, priorities);
            priorities &= !(1 << priority);
            let from = self.crossbar.first_claim(output, priority);
            let mut member = None;
            while let Some(input) = following_but(
                self.inputs.waiting.set(output * 8 + priority),
                self.crossbar.busy_inputs(),
                from,
                member,
            ) {
                member = Some(input);
                let voq = (input, priority, output);
                let Some(head) = self.inputs.head::<S>(window.packets, cp, voq, now) else {
                    held = true;
                    continue;
                };
                let grant = Grant { input, output, priority, head };
                let waits = self.ports[output].class_bytes(priority as u8);
                if head.last {
                    held = true;
                    let idle = last.is_none() && self.ports[output].queue_bytes == 0;
                    last = if idle { Some(grant) } else { last };
                } else if waits == 0 || waits + head.size <= self.output_room {
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
        pending.held.put(output, held);
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
        self.inputs.count_out(voq, head.size);
        self.crossbar.connect(grant, head.size, now, first);
        self.crossed += head.size;
        self.enqueue(window, now, output, handle);
        if self.mmu.release(input as u16, priority as u8, head.size) {
            self.send_pfc(window, now, input, priority as u8, false);
        }
        let Pending { open, held, full, .. } = &mut self.pending;
        open.remove(0, output);
        held.remove(0, output);
        full.remove(0, output);
        let concerned = next_in_both(full.set(0), self.inputs.wants.set(input), 0);
        let mut next = concerned;
        while let Some(output) = next {
            open.insert(0, output);
            next = next_in_both(full.set(0), self.inputs.wants.set(input), output + 1);
        }
        concerned.is_some()
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
            && self.ports[output].is_idle(class, now)
            && !self.common.marks_at_enqueue
            && self.recorder.is_none();
        if !passes {
            self.crossed += u64::from(size);
            self.enqueue(window, now, output, handle);
        } else {
            // RED does not mark where nothing is left waiting.
            let port = &mut self.ports[output];
            let view = port.view(output, class);
            if let Some(cp) = &mut self.cp {
                let full = Full::new(now, &mut self.effects, &self.views);
                let mut cx = LevelOf::<S>::arrive(full);
                cp.on_enqueue(&mut cx, &mut self.cp_ports[output], &view, packet);
            }
            if self.effects.is_empty() {
                port.count_through(size);
                self.audit.departed += u64::from(size);
                if let Some(cp) = &mut self.cp {
                    let departure =
                        Departure { now, effects: &mut self.effects, views: &self.views };
                    let mut cx = LevelOf::<S>::depart(departure);
                    cp.on_depart(&mut cx, &mut self.cp_ports[output], &view, packet);
                }
                return port.transmit(window, now, (kind, class, size), handle);
            }
            // What the switch sends itself at this instant may go first.
            self.crossed += u64::from(size);
            port.enqueue(window.packets, class, size, handle);
            self.joined(output, class, now);
        }
        if !self.effects.is_empty() {
            // Departures at this instant come before what is sent now.
            self.drain_others(window, output, now + Time::from_ps(1));
            self.apply_effects(window, now);
        }
    }

    /// When the crossbar may be able to take a packet that it can't take now.
    fn find_next_crossing(&mut self, now: Time) {
        let (wanted, busy) = (self.inputs.wanted.set(0), self.crossbar.busy_outputs());
        let mut at = Time::NEVER;
        let mut next = next_in_both(wanted, busy, 0);
        while let Some(output) = next {
            at = at.min(self.crossbar.output_free(output));
            next = next_in_both(wanted, busy, output + 1);
        }
        let inputs = self.crossbar.busy_inputs();
        let mut next = next_in_both(inputs, inputs, 0);
        while let Some(input) = next {
            if next_but(self.inputs.wants.set(input), busy, 0).is_some() {
                at = at.min(self.crossbar.input_free(input));
            }
            next = next_in_both(inputs, inputs, input + 1);
        }
        self.cross_at = self.cross_at.min(at);
        self.pending.watchful = self.pending.thorough
            || (S::Cp::INPUT_QUEUES && (!self.pending.held.none() || self.restrains_full(now)));
        if !Self::STRICT {
            self.find_next_due();
        }
    }

    /// When a packet leaves an output for which others wait.
    fn find_next_due(&mut self) {
        let Pending { full, watchful, .. } = &self.pending;
        let outputs = if *watchful { &self.inputs.wanted } else { full };
        let mut next = outputs.first(0, 0);
        while let Some(output) = next {
            self.cross_at = self.cross_at.min(self.due.at(output));
            next = outputs.first(0, output + 1);
        }
    }
}
