//! Which packets cross, and when.
//!
//! iSLIP asks all free outputs in each round what they would take. An output that found nothing finds
//! nothing until a packet comes for it, an input with packets for it becomes free, or, where its queue
//! was full, a packet leaves that or the input whose packet did not fit takes another away (the next
//! one's may be smaller). Only outputs of which that is so are asked, and nobody is at a time at which
//! there is none.
//!
//! It is the same for what the congestion point holds: packets are asked after when something of that
//! changes for their output, when what may go last finds the queue empty, and after each timer and
//! wake of the congestion point.

use super::CioqSwitch;
use super::crossbar::{Grant, Transfer};
use super::port_set::{PortSets, following_but, next_but, next_in_both};
use crate::egress::LevelOf;
use crate::packet::{Packet, Scheme};
use engine::{Handle, Window};
use schemes::contract::{Cp, Departure, Full, Level};
use units::{PortId, Time};

/// What is known of outputs between one look at the crossbar and the next.
#[derive(Debug)]
pub(super) struct Pending {
    /// Something changed.
    changed: PortSets,
    /// What waits does not fit into the queue.
    full: PortSets,
    /// What waits may cross when the queue is empty.
    last: PortSets,
    /// Those that may be matched yet at this instant.
    open: PortSets,
    /// All are asked at all times; nothing crosses without being matched.
    thorough: bool,
}

impl Pending {
    pub(super) fn new(ports: usize, thorough: bool) -> Pending {
        let set = || PortSets::new(1, ports);
        Pending { changed: set(), full: set(), last: set(), open: set(), thorough }
    }

    #[inline]
    pub(super) fn is_thorough(&self) -> bool {
        self.thorough
    }
}

/// No packet but data is larger, in bytes.
const LARGEST_CONTROL: u32 = 2_048;

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
        let free = self.crossbar.both_free(input, out);
        if free <= now {
            self.pending.changed.insert(0, out);
        }
        // What becomes free later is a change then.
        self.cross_at = self.cross_at.min(free.max(now));
    }

    /// When a packet that leaves the queue of `port` may let another cross, as far as is known.
    #[inline]
    fn leaves_at(&self, port: usize) -> Time {
        let Pending { full, last, .. } = &self.pending;
        if full.contains(0, port) {
            self.due.at(port).max(self.crossbar.output_free(port))
        } else if last.contains(0, port) {
            self.due.at(port).max(self.ports[port].empty_from(self.largest_packet()))
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
        let Pending { full, last, changed, .. } = &mut self.pending;
        let emptied = last.contains(0, port) && self.ports[port].queue_bytes == 0;
        if !emptied && !full.contains(0, port) {
            return;
        }
        changed.insert(0, port);
        if Self::STRICT {
            self.cross_at = self.cross_at.min(self.crossbar.output_free(port).max(now));
        }
    }

    /// The congestion point may say something else of what waits.
    pub(super) fn look_again(&mut self, now: Time) {
        self.pending.changed.add(self.inputs.wanted.set(0));
        self.cross_at = self.cross_at.min(now);
    }

    /// Matches inputs and outputs until nothing more may cross at `now`.
    pub(super) fn cross_all(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        self.cross_at = Time::NEVER;
        if !Self::STRICT {
            self.drain_all(window, now + Time::from_ps(1));
        }
        self.crossbar.free(now, &self.inputs.wants, &mut self.pending.changed);
        let Pending { open, changed, thorough, .. } = &mut self.pending;
        if *thorough && !S::Cp::INPUT_QUEUES {
            changed.add(self.inputs.wanted.set(0));
        }
        open.assign(self.inputs.wanted.set(0), changed, self.crossbar.busy_outputs());
        changed.clear();
        let mut first = true;
        while self.round(window, now, first) {
            first = false;
        }
        self.find_next_crossing();
        self.apply_effects(window, now);
    }

    /// A round of the matching, `first` or not; whether another may add something.
    #[inline]
    fn round(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time, first: bool) -> bool {
        let Some(output) = self.pending.open.first(0, 0) else { return false };
        let mut next = self.pending.open.first(0, output + 1);
        if next.is_none() {
            // Nobody is in its way.
            return match self.claim(window, output, now) {
                Claim::Packet(grant) => self.cross(window, &grant, now, first),
                Claim::Full | Claim::Nothing => false,
            };
        }
        next = Some(output);
        let mut again = false;
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
        let (mut last, mut full, mut waits_for_last) = (None, false, false);
        if S::Cp::INPUT_QUEUES && !self.may_take(output) {
            // The congestion point is not even asked.
            self.pending.full.insert(0, output);
            self.pending.last.remove(0, output);
            return Claim::Full;
        }
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
                    continue;
                };
                let grant = Grant { input, output, priority, head };
                let waits = self.ports[output].class_bytes(priority as u8);
                if head.last {
                    waits_for_last = true;
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
        self.crossbar.connect(grant, head.size, now, first);
        self.crossed += head.size;
        self.enqueue(window, now, output, handle);
        if self.mmu.release(input as u16, priority as u8, head.size) {
            self.send_pfc(window, now, input, priority as u8, false);
        }
        let Pending { open, last, full, .. } = &mut self.pending;
        open.remove(0, output);
        last.remove(0, output);
        full.remove(0, output);
        let wants = self.inputs.wants.set(input);
        let mut concerned = false;
        let mut next = next_in_both(full.set(0), wants, 0);
        while let Some(output) = next {
            if !self.crossbar.is_busy(output) {
                open.insert(0, output);
                concerned = true;
            }
            next = next_in_both(full.set(0), wants, output + 1);
        }
        concerned
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
        self.crossbar.connect_alone(&grant, u64::from(size), now);
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
    fn find_next_crossing(&mut self) {
        let mut at = Time::NEVER;
        for &Transfer { input, output, until } in self.crossbar.transfers() {
            if self.inputs.priorities[output] != 0 {
                // Where nothing fits, nothing will before a packet leaves.
                if self.may_take(output) {
                    at = at.min(until);
                } else {
                    self.pending.full.insert(0, output);
                }
            }
            let (wants, busy) = (self.inputs.wants.set(input), self.crossbar.busy_outputs());
            if next_but(wants, busy, 0).is_some() {
                at = at.min(until);
            }
        }
        if !Self::STRICT {
            for outputs in [&self.pending.full, &self.pending.last] {
                let mut next = outputs.first(0, 0);
                while let Some(output) = next {
                    at = at.min(self.leaves_at(output));
                    next = outputs.first(0, output + 1);
                }
            }
        }
        self.cross_at = self.cross_at.min(at);
    }

    /// Whether a packet that waits for an output may fit into its queue.
    #[inline]
    fn may_take(&self, output: usize) -> bool {
        let (port, largest) = (&self.ports[output], self.largest_packet());
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

    /// No packet is larger, in bytes.
    #[inline]
    fn largest_packet(&self) -> u64 {
        u64::from(self.common.longest_packet.max(LARGEST_CONTROL))
    }
}
