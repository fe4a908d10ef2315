//! The crossbar: who is free, and whose turn it is.
//!
//! iSLIP (McKeown, 1999), for packets instead of cells: an output that is free grants to the first
//! input at or after its pointer, an input that is free accepts the first grant at or after its own,
//! and rounds are repeated until nothing is added. Pointers move past what was matched in the first
//! round only, so that no VOQ waits for ever. Inputs and outputs become free one by one here, and not
//! in time slots.

use super::inputs::Head;
use super::port_set::{PortSets, Words};
use engine::fetch;
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

/// A packet that crosses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) input: usize,
    pub(super) output: usize,
    /// When both are free again.
    pub(super) until: Time,
}

/// An input or an output.
#[derive(Clone, Debug, Default)]
struct Side {
    /// When it is free again.
    free: Time,
    /// By priority: the output that an input prefers, the input that has the first claim on an
    /// output.
    from: [u16; 8],
    /// Which of the priorities that are not strict an output serves first.
    turn: u8,
}

#[derive(Debug)]
pub(super) struct Crossbar {
    /// How fast a packet crosses, and the picoseconds that a byte takes; 0 where that is not a whole
    /// number.
    rate: Rate,
    byte_time: u64,
    strict: u8,
    inputs: Vec<Side>,
    outputs: Vec<Side>,
    /// What crosses, and what has crossed since [`free`](Crossbar::free) last looked.
    transfers: Vec<Transfer>,
    /// [`INPUTS`] and [`OUTPUTS`] that were not free when [`free`](Crossbar::free) last looked or
    /// were connected since; [`OFFERED`] inputs.
    sets: PortSets,
    /// By input, where it is offered any: the best of its grants.
    offers: Vec<Grant>,
}

const INPUTS: usize = 0;
const OUTPUTS: usize = 1;
const OFFERED: usize = 2;

impl Crossbar {
    pub(super) fn new(ports: usize, rate: Rate, strict: u8) -> Crossbar {
        Crossbar {
            rate,
            byte_time: rate.exact_ps_per_byte().unwrap_or(0),
            strict,
            inputs: vec![Side::default(); ports],
            outputs: vec![Side::default(); ports],
            transfers: Vec::with_capacity(2 * ports),
            sets: PortSets::new(3, ports),
            offers: vec![Grant::default(); ports],
        }
    }

    /// Has the processor fetch what every packet touches.
    pub(super) fn fetch(&self) {
        for sides in [&self.inputs, &self.outputs] {
            fetch(sides.as_slice(), size_of_val(sides.as_slice()).div_ceil(64).min(8));
        }
    }

    /// Frees those whose packets have crossed by `now`, and adds to `changed` the outputs for which
    /// that may mean something: themselves, and those that an input has packets for (`wants`).
    #[inline]
    pub(super) fn free(&mut self, now: Time, wants: &PortSets, changed: &mut PortSets) {
        self.sets.clear();
        let mut place = 0;
        while let Some(&Transfer { input, output, until }) = self.transfers.get(place) {
            if until <= now {
                changed.add(wants.set(input));
                changed.insert(0, output);
                self.transfers.swap_remove(place);
            } else {
                self.sets.insert(INPUTS, input);
                self.sets.insert(OUTPUTS, output);
                place += 1;
            }
        }
    }

    /// What crosses.
    #[inline]
    pub(super) fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// Whether an output is not free.
    #[inline]
    pub(super) fn is_busy(&self, output: usize) -> bool {
        self.sets.contains(OUTPUTS, output)
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

    /// When both are.
    #[inline]
    pub(super) fn both_free(&self, input: usize, output: usize) -> Time {
        self.inputs[input].free.max(self.outputs[output].free)
    }

    #[inline]
    pub(super) fn output_free(&self, output: usize) -> Time {
        self.outputs[output].free
    }

    /// The priority that an output serves first among `waiting`, which is not empty: the highest
    /// strict one, else the others in turn.
    #[inline]
    pub(super) fn first_priority(&self, output: usize, waiting: u8) -> usize {
        let strict = waiting & self.strict;
        if strict != 0 {
            return 7 - strict.leading_zeros() as usize;
        }
        let turn = self.outputs[output].turn as usize;
        (turn + waiting.rotate_right(turn as u32).trailing_zeros() as usize) % 8
    }

    /// From where an output looks for an input of a priority.
    #[inline]
    pub(super) fn first_claim(&self, output: usize, priority: usize) -> usize {
        self.outputs[output].from[priority] as usize
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
        let from = self.inputs[input].from[priority] as usize;
        let distance =
            if output >= from { output - from } else { output + self.inputs.len() - from };
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

    /// A packet of `size` bytes crosses from now on between two that are free; `first` where it was
    /// matched in the first round.
    #[inline]
    pub(super) fn connect(&mut self, grant: &Grant, size: u64, now: Time, first: bool) {
        self.sets.insert(INPUTS, grant.input);
        self.sets.insert(OUTPUTS, grant.output);
        self.join(grant, size, now, first);
    }

    /// The same for a packet that is not matched, as nobody else may cross now.
    #[inline]
    pub(super) fn connect_alone(&mut self, grant: &Grant, size: u64, now: Time) {
        if self.transfers.len() == 2 * self.inputs.len() {
            // Nobody waited for what became free, or it would have been looked at.
            self.transfers.retain(|transfer| transfer.until > now);
        }
        self.join(grant, size, now, true);
    }

    #[inline]
    fn join(&mut self, grant: &Grant, size: u64, now: Time, first: bool) {
        let Grant { input, output, priority, .. } = *grant;
        let priority = priority & 7;
        let takes = match self.byte_time {
            0 => self.rate.time_for(Bytes::new(size)),
            byte_time => Time::from_ps(size * byte_time),
        };
        let until = now + takes;
        self.transfers.push(Transfer { input, output, until });
        let last = self.inputs.len() - 1;
        let after = |port: usize| if port == last { 0 } else { port as u16 + 1 };
        let (from, to) = (&mut self.inputs[input], &mut self.outputs[output]);
        (from.free, to.free) = (until, until);
        if first {
            from.from[priority] = after(output);
            to.from[priority] = after(input);
        }
        if self.strict & 1 << priority == 0 {
            to.turn = (priority as u8 + 1) % 8;
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
        assert_eq!(crossbar.output_free(1), Time::from_ns(45));
        assert_eq!(crossbar.both_free(2, 3), Time::from_ns(45));
        assert_eq!((crossbar.both_free(1, 2), crossbar.first_claim(1, 3)), (Time::ZERO, 0));
        assert!(crossbar.is_busy(1) && !crossbar.is_busy(2));
        let (mut wants, mut changed) = (PortSets::new(4, 4), PortSets::new(1, 4));
        crossbar.free(Time::from_ns(45), &wants, &mut changed);
        changed.clear();
        crossbar.connect(&grant(3, 1, 3), 1000, Time::from_ns(45), true);
        assert_eq!(crossbar.first_claim(1, 3), 0, "the input after the last one");
        assert_eq!(crossbar.first_priority(1, 0b1010), 1, "priority 3 had its turn");
        assert_eq!(crossbar.first_priority(0, 0b1010), 1);
        assert_eq!(crossbar.first_priority(1, 0b1_1010), 4);
        wants.insert(3, 2);
        wants.insert(0, 3);
        crossbar.free(Time::from_ns(84), &wants, &mut changed);
        assert_eq!((crossbar.busy_inputs(), crossbar.busy_outputs()), (&[8][..], &[2][..]));
        assert!(changed.is_empty(0));
        crossbar.free(Time::from_ns(85), &wants, &mut changed);
        assert_eq!((crossbar.busy_inputs(), crossbar.busy_outputs()), (&[0][..], &[0][..]));
        assert_eq!(changed.set(0), &[0b0110][..], "output 1, and what input 3 has packets for");
    }
}
