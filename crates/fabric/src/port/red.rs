//! RED marking of one queue. Nothing is marked up to Kmin and everything above Kmax. In between the
//! probability rises linearly from 0 to Pmax.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use units::Rate;

use crate::compat::mrg::Draws;
use crate::network::setup::EcnConfig;

/// The marking law of a port in integers. Probabilities are 32-bit fractions.
#[derive(Clone, Debug)]
pub(crate) struct Red {
    pub(crate) kmin: u64,
    kmax: u64,
    pmax: f64,
    /// Increase of the probability per byte, in 2^-48.
    slope: u64,
    random: Pcg64Mcg,
}

impl Red {
    pub(crate) fn new(config: &EcnConfig, rate: Rate, random: Pcg64Mcg) -> Red {
        let law = config.law_at(rate);
        let (kmin, kmax) = (law.kmin.get(), law.kmax.get());
        let span = kmax.saturating_sub(kmin).max(1);
        let slope = (law.pmax * (1u64 << 48) as f64 / span as f64) as u64;
        Red { kmin, kmax, pmax: law.pmax, slope, random }
    }

    /// Returns whether a packet is marked that sees `queue` bytes in its queue. `draws` replaces
    /// the port's own random stream.
    #[inline]
    pub(crate) fn marks(&mut self, queue: u64, draws: Option<&mut Draws>) -> bool {
        if queue <= self.kmin {
            return false;
        }
        if queue > self.kmax {
            return true;
        }
        if let Some(draws) = draws {
            let span = (self.kmax - self.kmin) as f64;
            return draws.draw() < self.pmax * (queue - self.kmin) as f64 / span;
        }
        let probability = (u128::from(queue - self.kmin) * u128::from(self.slope)) >> 16;
        u128::from(self.random.next_u32()) < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::setup::EcnLaw;
    use units::Bytes;

    #[test]
    fn probability_rises_in_proportion_and_thresholds_scale_with_the_port() {
        let law = EcnLaw { kmin: Bytes::new(100_000), kmax: Bytes::new(400_000), pmax: 0.2 };
        let fast = EcnLaw { kmin: Bytes::new(7), kmax: Bytes::new(7), pmax: 1.0 };
        let config = EcnConfig {
            law,
            at: Some(Rate::from_gbps(25)),
            by_rate: vec![(Rate::from_gbps(400), fast)],
            at_enqueue: false,
        };
        let random = crate::stream::stream(1, "test", 0);
        let mut red = Red::new(&config, Rate::from_gbps(100), random);
        let share = |red: &mut Red, queue| (0..20_000).filter(|_| red.marks(queue, None)).count();
        assert_eq!(share(&mut red, 400_000), 0);
        assert_eq!(share(&mut red, 1_600_001), 20_000);
        let half = share(&mut red, 1_000_000);
        assert!((1_850..2_150).contains(&half), "{half} of 20000 at half of Pmax = 0.2");
        let random = crate::stream::stream(1, "test", 0);
        let mut red = Red::new(&config, Rate::from_gbps(400), random);
        assert_eq!((red.marks(7, None), red.marks(8, None)), (false, true), "a law of its own");
    }
}
