//! The crossbar: who is free, and whose turn it is.
//!
//! iSLIP (McKeown, 1999), for packets instead of cells: an output that is free grants to the first
//! input at or after its pointer, an input that is free accepts the first grant at or after its own,
//! and rounds are repeated until nothing is added. Pointers move past what was matched in the first
//! round only, so that no VOQ waits for ever. Inputs and outputs become free one by one here, and not
//! in time slots.

use units::{Rate, Time};

/// An offer of an output to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) priority: usize,
}

#[derive(Debug)]
pub(super) struct Crossbar {
    /// How fast a packet crosses.
    rate: Rate,
    strict: u8,
    /// When each is free again.
    inputs: Vec<Time>,
    outputs: Vec<Time>,
    /// By output, then priority: the input that has the first claim.
    grant_from: Vec<u16>,
    /// By input, then priority: the output that is preferred.
    accept_from: Vec<u16>,
    /// By output: which of the priorities that are not strict goes first.
    turn: Vec<u8>,
}

impl Crossbar {
    pub(super) fn new(ports: usize, rate: Rate, strict: u8) -> Crossbar {
        Crossbar {
            rate,
            strict,
            inputs: vec![Time::ZERO; ports],
            outputs: vec![Time::ZERO; ports],
            grant_from: vec![0; ports * 8],
            accept_from: vec![0; ports * 8],
            turn: vec![0; ports],
        }
    }

    #[inline]
    pub(super) fn input_free(&self, input: usize) -> Time {
        self.inputs[input]
    }

    #[inline]
    pub(super) fn output_free(&self, output: usize) -> Time {
        self.outputs[output]
    }

    /// The priorities among `waiting` in the order in which an output serves them.
    #[inline]
    pub(super) fn order(&self, output: usize, waiting: u8) -> impl Iterator<Item = usize> + use<> {
        let strict = waiting & self.strict;
        let others = waiting & !self.strict;
        let turn = self.turn[output] as usize;
        let highest_first = (0..8).rev().filter(move |priority| strict & 1 << priority != 0);
        let in_turn = (0..8).map(move |step| (turn + step) % 8);
        highest_first.chain(in_turn.filter(move |priority| others & 1 << priority != 0))
    }

    /// From where an output looks for an input of a priority.
    #[inline]
    pub(super) fn first_claim(&self, output: usize, priority: usize) -> usize {
        self.grant_from[output * 8 + priority] as usize
    }

    /// Orders grants so that, of those to an input, the one that it accepts comes first.
    pub(super) fn sort(&self, grants: &mut [Grant]) {
        let ports = self.inputs.len();
        grants.sort_unstable_by_key(|grant| {
            let from = self.accept_from[grant.input * 8 + grant.priority] as usize;
            let distance = (grant.output + ports - from) % ports;
            let strict = self.strict & 1 << grant.priority != 0;
            let rank = if strict { 7 - grant.priority } else { 8 };
            (grant.input, rank, distance, grant.output)
        });
    }

    /// A packet of `size` bytes crosses from now on; `first` where it was matched in the first round.
    pub(super) fn connect(&mut self, grant: &Grant, size: u64, now: Time, first: bool) {
        let Grant { input, output, priority } = *grant;
        let free = now + self.rate.time_for(units::Bytes::new(size));
        (self.inputs[input], self.outputs[output]) = (free, free);
        if first {
            let ports = self.inputs.len();
            self.grant_from[output * 8 + priority] = ((input + 1) % ports) as u16;
            self.accept_from[input * 8 + priority] = ((output + 1) % ports) as u16;
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
        Grant { input, output, priority }
    }

    #[test]
    fn an_input_accepts_strict_priorities_first_and_then_in_turn() {
        let mut crossbar = Crossbar::new(4, Rate::from_gbps(200), 0b1100_0000);
        let mut grants = [grant(1, 0, 3), grant(1, 2, 6), grant(1, 3, 7), grant(0, 1, 3)];
        crossbar.sort(&mut grants);
        assert_eq!(grants.map(|grant| grant.output), [1, 3, 2, 0]);
        crossbar.connect(&grant(1, 0, 3), 1000, Time::ZERO, true);
        let mut grants = [grant(1, 0, 3), grant(1, 2, 3), grant(1, 3, 3)];
        crossbar.sort(&mut grants);
        assert_eq!(grants.map(|grant| grant.output), [2, 3, 0], "after the one accepted last");
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
        assert_eq!(
            crossbar.order(1, 0b1010).collect::<Vec<_>>(),
            [1, 3],
            "priority 3 had its turn"
        );
    }
}
