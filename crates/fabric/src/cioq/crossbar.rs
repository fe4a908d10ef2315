//! The crossbar: which inputs and outputs are free, and whose turn it is.
//!
//! It is iSLIP (McKeown, 1999) for packets instead of cells. A free output grants to the first
//! input at or after its pointer. A free input accepts the first grant at or after its own pointer.
//! Rounds are repeated until they add nothing. Pointers advance past matches of the first round
//! only, so that no VOQ waits for ever. Inputs and outputs become free one by one, and not in time
//! slots.

use super::inputs::{Head, VoqId};
use super::port_set::PortSet;
use engine::prefetch;
use units::{Bytes, Rate, Time};

/// An offer of an output to an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Grant {
    /// The VOQ of the packet.
    pub(super) voq: VoqId,
    /// The packet.
    pub(super) head: Head,
}

/// The state of an input or of an output.
#[derive(Clone, Debug, Default)]
struct Side {
    /// When it becomes free.
    free: Time,
    /// By priority, the round-robin pointer of iSLIP: of an input its accept pointer, of an output
    /// its grant pointer.
    pointer: [u16; 8],
    /// The priority that an output serves first among those that are not strict.
    turn: u8,
}

#[derive(Debug)]
pub(super) struct Crossbar {
    /// Rate at which packets cross, and picoseconds per byte; 0 if that is not a whole number.
    rate: Rate,
    byte_time: u64,
    strict: u8,
    inputs: Vec<Side>,
    outputs: Vec<Side>,
    /// Inputs that have an offer.
    offered: PortSet,
    /// By input: the best of its offers.
    offers: Vec<Grant>,
}

impl Crossbar {
    pub(super) fn new(ports: usize, rate: Rate, strict: u8) -> Crossbar {
        Crossbar {
            rate,
            byte_time: rate.exact_ps_per_byte().unwrap_or(0),
            strict,
            inputs: vec![Side::default(); ports],
            outputs: vec![Side::default(); ports],
            offered: PortSet::new(ports),
            offers: vec![Grant::default(); ports],
        }
    }

    /// Prefetches what every packet touches.
    pub(super) fn prefetch(&self) {
        for sides in [&self.inputs, &self.outputs] {
            prefetch(sides.as_slice(), size_of_val(sides.as_slice()).div_ceil(64).min(8));
        }
    }

    /// Returns when an input becomes free.
    #[inline]
    pub(super) fn input_free(&self, input: usize) -> Time {
        self.inputs[input].free
    }

    /// Returns when an output becomes free.
    #[inline]
    pub(super) fn output_free(&self, output: usize) -> Time {
        self.outputs[output].free
    }

    /// Returns when both an input and an output are free.
    #[inline]
    pub(super) fn both_free(&self, input: usize, output: usize) -> Time {
        self.inputs[input].free.max(self.outputs[output].free)
    }

    /// Returns the priority that an output serves first among those in `waiting`, which is not
    /// empty: the highest strict one, else the next one in turn.
    #[inline]
    pub(super) fn first_priority(&self, output: usize, waiting: u8) -> usize {
        let strict = waiting & self.strict;
        if strict != 0 {
            return 7 - strict.leading_zeros() as usize;
        }
        let turn = self.outputs[output].turn as usize;
        (turn + waiting.rotate_right(turn as u32).trailing_zeros() as usize) % 8
    }

    /// Returns the input at which an output begins its search for packets of a priority.
    #[inline]
    pub(super) fn grant_pointer(&self, output: usize, priority: usize) -> usize {
        self.outputs[output].pointer[priority] as usize
    }

    /// Offers an output to an input, which keeps the better of two offers. Returns whether it had
    /// an offer, so that one output is left over.
    #[inline]
    pub(super) fn offer(&mut self, grant: Grant) -> bool {
        let input = grant.voq.input;
        let rivals = self.offered.contains(input);
        if !rivals || self.rank(&grant) < self.rank(&self.offers[input]) {
            self.offers[input] = grant;
            self.offered.insert(input);
        }
        rivals
    }

    /// Returns a rank: an input accepts the lowest. Strict priorities come first, then outputs in
    /// turn.
    fn rank(&self, grant: &Grant) -> (usize, usize, usize) {
        let VoqId { input, output, priority } = grant.voq;
        let from = self.inputs[input].pointer[priority] as usize;
        let distance =
            if output >= from { output - from } else { output + self.inputs.len() - from };
        let strict = self.strict & 1 << priority != 0;
        (if strict { 7 - priority } else { 8 }, distance, output)
    }

    /// Takes the offer that the first input with one accepts.
    #[inline]
    pub(super) fn accept(&mut self) -> Option<Grant> {
        let input = self.offered.first()?;
        self.offered.remove(input);
        Some(self.offers[input])
    }

    /// Starts the transfer of a packet of `size` bytes between a free input and a free output.
    /// `first`: it was matched in the first round. Returns when both are free again.
    #[inline]
    pub(super) fn connect(&mut self, grant: &Grant, size: u64, now: Time, first: bool) -> Time {
        let VoqId { input, output, priority } = grant.voq;
        let priority = priority & 7;
        let takes = match self.byte_time {
            0 => self.rate.time_for(Bytes::new(size)),
            byte_time => Time::from_ps(size * byte_time),
        };
        let until = now + takes;
        let last = self.inputs.len() - 1;
        let after = |port: usize| if port == last { 0 } else { port as u16 + 1 };
        let (from, to) = (&mut self.inputs[input], &mut self.outputs[output]);
        (from.free, to.free) = (until, until);
        if first {
            from.pointer[priority] = after(output);
            to.pointer[priority] = after(input);
        }
        if self.strict & 1 << priority == 0 {
            to.turn = (priority as u8 + 1) % 8;
        }
        until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(input: usize, output: usize, priority: usize) -> Grant {
        Grant { voq: VoqId { input, output, priority }, head: Head::default() }
    }

    #[test]
    fn an_input_accepts_strict_priorities_first_and_then_in_turn() {
        let mut crossbar = Crossbar::new(4, Rate::from_gbps(200), 0b1100_0000);
        let accepted = |crossbar: &mut Crossbar, offers: &[Grant]| {
            for offer in offers {
                crossbar.offer(*offer);
            }
            let accepted = std::iter::from_fn(|| crossbar.accept());
            accepted.map(|grant| (grant.voq.input, grant.voq.output)).collect::<Vec<_>>()
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
        let until = crossbar.connect(&grant(2, 1, 3), 1000, Time::from_ns(5), false);
        assert_eq!((until, crossbar.output_free(1)), (Time::from_ns(45), Time::from_ns(45)));
        assert_eq!((crossbar.both_free(2, 3), crossbar.input_free(2)), (until, until));
        assert_eq!((crossbar.both_free(1, 2), crossbar.grant_pointer(1, 3)), (Time::ZERO, 0));
        crossbar.connect(&grant(3, 1, 3), 1000, Time::from_ns(45), true);
        assert_eq!(crossbar.grant_pointer(1, 3), 0, "the input after the last one");
        assert_eq!(crossbar.first_priority(1, 0b1010), 1, "priority 3 had its turn");
        assert_eq!(crossbar.first_priority(0, 0b1010), 1);
        assert_eq!(crossbar.first_priority(1, 0b1_1010), 4);
    }
}
