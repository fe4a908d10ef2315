//! Oblivious spraying without repetition: each entropy value once in each round. Round r takes the
//! values i XOR x(r) for i from 0, with another x(r); the number of values is a power of two
//! (as in the simulator of the Ultra Ethernet Consortium, uet-htsim).

use units::splitmix;

#[derive(Debug)]
pub(super) struct Cycle {
    seed: u64,
    entropies: u32,
    sent: u64,
}

impl Cycle {
    pub(super) fn new(entropies: u32, seed: u64) -> Cycle {
        debug_assert!(entropies.is_power_of_two());
        Cycle { seed, entropies, sent: 0 }
    }

    pub(super) fn next(&mut self) -> u16 {
        let entropies = u64::from(self.entropies);
        let (round, place) = (self.sent / entropies, self.sent % entropies);
        self.sent += 1;
        let mask = splitmix::mix(self.seed.wrapping_add(round.wrapping_mul(splitmix::STEP)));
        ((place ^ mask) % entropies) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_round_has_each_value_once_and_rounds_differ() {
        let mut cycle = Cycle::new(64, 7);
        let rounds: Vec<Vec<u16>> =
            (0..3).map(|_| (0..64).map(|_| cycle.next()).collect()).collect();
        for round in &rounds {
            assert_eq!(round.iter().copied().collect::<BTreeSet<u16>>().len(), 64);
        }
        assert!(rounds[0] != rounds[1] && rounds[1] != rounds[2]);
    }
}
