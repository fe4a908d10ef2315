//! RED marking of one queue. Nothing is marked up to Kmin and everything above Kmax. In between the
//! probability rises linearly from 0 to Pmax.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use units::{Bytes, Rate};

use crate::compat::mrg::MarkDraws;
use crate::network::setup::{EcnConfig, EcnLaw};
use model::ClassSettings;

/// The marking laws of a port.
#[derive(Clone, Debug)]
pub(crate) struct Red {
    /// The law of classes that have none of their own.
    law: IntegerLaw,
    /// By priority, where classes have laws of their own.
    of_classes: Option<Box<[IntegerLaw; 8]>>,
    random: Pcg64Mcg,
}

/// A marking law in integers. Probabilities are 32-bit fractions.
#[derive(Clone, Copy, Debug)]
struct IntegerLaw {
    kmin: u64,
    kmax: u64,
    pmax: f64,
    /// Increase of the probability per byte, in 2^-48.
    slope: u64,
}

impl From<EcnLaw> for IntegerLaw {
    fn from(law: EcnLaw) -> IntegerLaw {
        let (kmin, kmax) = (law.kmin.get(), law.kmax.get());
        let span = kmax.saturating_sub(kmin).max(1);
        let slope = (law.pmax * (1u64 << 48) as f64 / span as f64) as u64;
        IntegerLaw { kmin, kmax, pmax: law.pmax, slope }
    }
}

impl Red {
    pub(crate) fn new(
        config: &EcnConfig,
        classes: &[ClassSettings],
        rate: Rate,
        random: Pcg64Mcg,
    ) -> Red {
        let law = IntegerLaw::from(config.law_at(rate));
        let mut of_classes = [law; 8];
        for class in classes {
            if let Some(own) = EcnConfig::of_class(class) {
                of_classes[usize::from(class.priority & 7)] = own.law_at(rate).into();
            }
        }
        let is_own = classes.iter().any(|class| class.marking.is_some());
        Red { law, of_classes: is_own.then(|| Box::new(of_classes)), random }
    }

    /// Returns, by priority, the queue length up to which packets are not marked.
    pub(crate) fn kmin(&self) -> [Bytes; 8] {
        let laws = self.of_classes.as_deref().copied().unwrap_or([self.law; 8]);
        laws.map(|law| Bytes::new(law.kmin))
    }

    /// Returns the queue length above which it may be left to chance whether a packet is marked;
    /// `None` if it never is.
    pub(crate) fn draws_above(&self) -> Option<u64> {
        let of_classes = self.of_classes.iter().flat_map(|laws| laws.iter());
        let laws = of_classes.chain([&self.law]);
        laws.filter(|law| law.kmin < law.kmax).map(|law| law.kmin).min()
    }

    /// Returns whether a packet is marked that sees `queue` bytes in its queue. `draws` replaces
    /// the port's own random stream.
    #[inline]
    pub(crate) fn marks(
        &mut self,
        queue: u64,
        priority: u8,
        draws: Option<&mut MarkDraws>,
    ) -> bool {
        let law = match &self.of_classes {
            None => &self.law,
            Some(laws) => &laws[usize::from(priority & 7)],
        };
        if queue <= law.kmin {
            return false;
        }
        if queue > law.kmax {
            return true;
        }
        if let Some(draws) = draws {
            let span = (law.kmax - law.kmin) as f64;
            return draws.draw() < law.pmax * (queue - law.kmin) as f64 / span;
        }
        let probability = (u128::from(queue - law.kmin) * u128::from(law.slope)) >> 16;
        u128::from(self.random.next_u32()) < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ClassMarking;

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
        let mut red = Red::new(&config, &[], Rate::from_gbps(100), random);
        let share =
            |red: &mut Red, queue| (0..20_000).filter(|_| red.marks(queue, 3, None)).count();
        assert_eq!(share(&mut red, 400_000), 0);
        assert_eq!(share(&mut red, 1_600_001), 20_000);
        let half = share(&mut red, 1_000_000);
        assert!((1_850..2_150).contains(&half), "{half} of 20000 at half of Pmax = 0.2");
        let random = crate::stream::stream(1, "test", 0);
        let mut red = Red::new(&config, &[], Rate::from_gbps(400), random);
        assert_eq!(
            (red.marks(7, 3, None), red.marks(8, 3, None)),
            (false, true),
            "a law of its own"
        );
    }

    #[test]
    fn a_class_has_a_law_of_its_own_or_none() {
        let law = EcnLaw { kmin: Bytes::new(100), kmax: Bytes::new(100), pmax: 1.0 };
        let config = EcnConfig { law, at: None, by_rate: Vec::new(), at_enqueue: false };
        let own = ClassMarking::Law {
            kmin: Bytes::new(10),
            kmax: Bytes::new(10),
            pmax: 1.0,
            at: Some(Rate::from_gbps(50)),
        };
        let class = |priority, marking| ClassSettings { priority, marking, lossy_alpha: None };
        let classes = [class(1, Some(own)), class(2, Some(ClassMarking::Off)), class(4, None)];
        let random = crate::stream::stream(1, "test", 0);
        let mut red = Red::new(&config, &classes, Rate::from_gbps(100), random);
        let marked = |red: &mut Red, priority| {
            [20, 21, 100, 101, 1 << 40].map(|queue| red.marks(queue, priority, None))
        };
        assert_eq!(marked(&mut red, 1), [false, true, true, true, true], "twice its rate");
        assert_eq!(marked(&mut red, 2), [false; 5]);
        for priority in [0, 3, 4] {
            assert_eq!(marked(&mut red, priority), [false, false, false, true, true]);
        }
    }
}
