//! The crossbar: who is free, and whose turn it is.
//!
//! iSLIP (McKeown, 1999), for packets instead of cells: an output that is free grants to the first
//! input at or after its pointer, an input that is free accepts the first grant at or after its own,
//! and rounds are repeated until nothing is added. Pointers move past what was matched in the first
//! round only, so that no VOQ waits for ever. Inputs and outputs become free one by one here, and not
//! in time slots.

use super::inputs::Head;
use super::port_set::{PortSets, Words};
use units::{Bytes, Rate, Time};

/// An offer of an output to an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) priority: usize,
    /// The packet.
    pub(super) head: Head,
}

#[derive(Debug)]
pub(super) struct Crossbar {
    ports: usize,
    /// How fast a packet crosses, and the picoseconds that a byte takes; 0 where that is not a whole
    /// number.
    rate: Rate,
    byte_time: u64,
    strict: u8,
    /// When each is free again.
    inputs: Vec<Time>,
    outputs: Vec<Time>,
    /// When the first of them is.
    next_free: Time,
    /// [`INPUTS`] and [`OUTPUTS`] that were not free when [`free`](Crossbar::free) last looked or
    /// were connected since; [`OFFERED`] inputs.
    sets: PortSets,
    /// By input, where it is offered any: the best of its grants.
    offers: Vec<Grant>,
    /// By output, then priority: the input that has the first claim.
    grant_from: Vec<u16>,
    /// By input, then priority: the output that is preferred.
    accept_from: Vec<u16>,
    /// By output: which of the priorities that are not strict goes first.
    turn: Vec<u8>,
}

const INPUTS: usize = 0;
const OUTPUTS: usize = 1;
const OFFERED: usize = 2;

impl Crossbar {
    pub(super) fn new(ports: usize, rate: Rate, strict: u8) -> Crossbar {
        Crossbar {
            ports,
            rate,
            byte_time: rate.exact_ps_per_byte().unwrap_or(0),
            strict,
            inputs: vec![Time::ZERO; ports],
            outputs: vec![Time::ZERO; ports],
            next_free: Time::NEVER,
            sets: PortSets::new(3, ports),
            offers: vec![Grant::default(); ports],
            grant_from: vec![0; ports * 8],
            accept_from: vec![0; ports * 8],
            turn: vec![0; ports],
        }
    }

    /// Frees those whose packets have crossed by `now`, and adds to `changed` the outputs for which
    /// that may mean something: themselves, and those that an input has packets for (`wants`).
    #[inline]
    pub(super) fn free(&mut self, now: Time, wants: &PortSets, changed: &mut PortSets) {
        if now < self.next_free {
            return;
        }
        self.next_free = Time::NEVER;
        for (set, times) in [(INPUTS, &self.inputs), (OUTPUTS, &self.outputs)] {
            let mut next = self.sets.first(set, 0);
            while let Some(port) = next {
                if times[port] <= now {
                    self.sets.remove(set, port);
                    if set == INPUTS {
                        changed.add(wants.set(port));
                    } else {
                        changed.insert(0, port);
                    }
                } else {
                    self.next_free = self.next_free.min(times[port]);
                }
                next = self.sets.first(set, port + 1);
            }
        }
    }

    /// Inputs that are not free.
    #[inline]
    pub(super) fn busy_inputs(&self) -> &Words {
        self.sets.set(INPUTS)
    }

    /// Outputs that are not free.
    #[inline]
    pub(super) fn busy_outputs(&self) -> &Words {
        self.sets.set(OUTPUTS)
    }

    #[inline]
    pub(super) fn input_free(&self, input: usize) -> Time {
        self.inputs[input]
    }

    #[inline]
    pub(super) fn output_free(&self, output: usize) -> Time {
        self.outputs[output]
    }

    /// The priority that an output serves first among `waiting`, which is not empty: the highest
    /// strict one, else the others in turn.
    #[inline]
    pub(super) fn first_priority(&self, output: usize, waiting: u8) -> usize {
        let strict = waiting & self.strict;
        if strict != 0 {
            return 7 - strict.leading_zeros() as usize;
        }
        let turn = self.turn[output] as usize;
        (turn + waiting.rotate_right(turn as u32).trailing_zeros() as usize) % 8
    }

    /// From where an output looks for an input of a priority.
    #[inline]
    pub(super) fn first_claim(&self, output: usize, priority: usize) -> usize {
        self.grant_from[output * 8 + priority] as usize
    }

    /// Offers an output to an input, which keeps the best of its grants. Whether there are two, so
    /// that an output is left over.
    #[inline]
    pub(super) fn offer(&mut self, grant: Grant) -> bool {
        let input = grant.input;
        let rivals = self.sets.contains(OFFERED, input);
        if !rivals || self.rank(&grant) < self.rank(&self.offers[input]) {
            self.offers[input] = grant;
            self.sets.insert(OFFERED, input);
        }
        rivals
    }

    /// What an input accepts first has the least: strict priorities, then outputs in turn.
    fn rank(&self, grant: &Grant) -> (usize, usize, usize) {
        let Grant { input, output, priority, .. } = *grant;
        let from = self.accept_from[input * 8 + priority] as usize;
        let distance = if output >= from { output - from } else { output + self.ports - from };
        let strict = self.strict & 1 << priority != 0;
        (if strict { 7 - priority } else { 8 }, distance, output)
    }

    /// Takes what the first input that is offered something accepts.
    #[inline]
    pub(super) fn accept(&mut self) -> Option<Grant> {
        let input = self.sets.first(OFFERED, 0)?;
        self.sets.remove(OFFERED, input);
        Some(self.offers[input])
    }

    /// A packet of `size` bytes crosses from now on; `first` where it was matched in the first round.
    #[inline]
    pub(super) fn connect(&mut self, grant: &Grant, size: u64, now: Time, first: bool) {
        let Grant { input, output, priority, .. } = *grant;
        let takes = match self.byte_time {
            0 => self.rate.time_for(Bytes::new(size)),
            byte_time => Time::from_ps(size * byte_time),
        };
        let free = now + takes;
        (self.inputs[input], self.outputs[output]) = (free, free);
        self.next_free = self.next_free.min(free);
        self.sets.insert(INPUTS, input);
        self.sets.insert(OUTPUTS, output);
        if first {
            let after = |port: usize| if port + 1 == self.ports { 0 } else { port as u16 + 1 };
            self.grant_from[output * 8 + priority] = after(input);
            self.accept_from[input * 8 + priority] = after(output);
        }
        if self.strict & 1 << priority == 0 {
            self.turn[output] = (priority as u8 + 1) % 8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(input: usize, output: usize, priority: usize) -> Grant {
        Grant { input, output, priority, head: Head::default() }
    }

    #[test]
    fn an_input_accepts_strict_priorities_first_and_then_in_turn() {
        let mut crossbar = Crossbar::new(4, Rate::from_gbps(200), 0b1100_0000);
        let accepted = |crossbar: &mut Crossbar, offers: &[Grant]| {
            for offer in offers {
                crossbar.offer(*offer);
            }
            let accepted = std::iter::from_fn(|| crossbar.accept());
            accepted.map(|grant| (grant.input, grant.output)).collect::<Vec<_>>()
        };
        let all = [grant(1, 0, 3), grant(1, 2, 6), grant(1, 3, 7), grant(0, 1, 3)];
        assert_eq!(accepted(&mut crossbar, &all), [(0, 1), (1, 3)]);
        assert_eq!(accepted(&mut crossbar, &all[..2]), [(1, 2)]);
        crossbar.connect(&grant(1, 0, 3), 1000, Time::ZERO, true);
        let equal = [grant(1, 0, 3), grant(1, 2, 3), grant(1, 3, 3)];
        assert_eq!(accepted(&mut crossbar, &equal), [(1, 2)], "after the one accepted last");
        assert_eq!(accepted(&mut crossbar, &equal[..1]), [(1, 0)]);
    }

    #[test]
    fn a_packet_takes_both_ends_for_its_time_and_only_first_rounds_move_pointers() {
        let mut crossbar = Crossbar::new(4, Rate::from_gbps(200), 0);
        crossbar.connect(&grant(2, 1, 3), 1000, Time::from_ns(5), false);
        assert_eq!(crossbar.input_free(2), Time::from_ns(45));
        assert_eq!(crossbar.output_free(1), Time::from_ns(45));
        assert_eq!((crossbar.input_free(1), crossbar.first_claim(1, 3)), (Time::ZERO, 0));
        crossbar.connect(&grant(3, 1, 3), 1000, Time::from_ns(45), true);
        assert_eq!(crossbar.first_claim(1, 3), 0, "the input after the last one");
        assert_eq!(crossbar.first_priority(1, 0b1010), 1, "priority 3 had its turn");
        assert_eq!(crossbar.first_priority(0, 0b1010), 1);
        assert_eq!(crossbar.first_priority(1, 0b1_1010), 4);
        let (mut wants, mut changed) = (PortSets::new(4, 4), PortSets::new(1, 4));
        wants.insert(3, 2);
        wants.insert(0, 3);
        crossbar.free(Time::from_ns(84), &wants, &mut changed);
        assert_eq!((crossbar.busy_inputs(), crossbar.busy_outputs()), (&[8][..], &[2][..]));
        assert!(changed.none());
        crossbar.free(Time::from_ns(85), &wants, &mut changed);
        assert_eq!((crossbar.busy_inputs(), crossbar.busy_outputs()), (&[0][..], &[0][..]));
        assert_eq!(changed.set(0), &[0b0110][..], "output 1, and what input 3 has packets for");
    }
}
