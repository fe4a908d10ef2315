//! Random streams: each has a seed, a purpose and an entity, and none depends on another, so that
//! one more random choice somewhere changes nothing elsewhere.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use std::collections::BTreeMap;
use units::splitmix;

/// A stream of random numbers (PCG XSL RR 128/64).
pub(crate) struct Stream(Pcg64);

impl Stream {
    /// The stream of `purpose` for the entity with these numbers.
    pub fn new(seed: u64, purpose: &str, entity: &[u64]) -> Stream {
        let mut mixer = Mixer(0x243f_6a88_85a3_08d3);
        mixer.word(seed);
        mixer.word(purpose.len() as u64);
        purpose.bytes().for_each(|byte| mixer.word(u64::from(byte)));
        entity.iter().for_each(|number| mixer.word(*number));
        let mut next = || (u128::from(mixer.next()) << 64) | u128::from(mixer.next());
        let (state, stream) = (next(), next());
        Stream(Pcg64::new(state, stream))
    }

    /// Uniform in `0..n`; `n` above 0.
    pub fn below(&mut self, n: u64) -> u64 {
        // Lemire's method: the high half of a product, with the few values that would favour some
        // results thrown away.
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(n);
            let low = product as u64;
            if low >= n.wrapping_neg() % n {
                return (product >> 64) as u64;
            }
        }
    }

    /// Uniform in [0, 1), in steps of 2^-53.
    pub fn fraction(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // `libm` and not the platform's logarithm: the same bits on every machine.
        -libm::log(1.0 - self.fraction()) * mean
    }

    /// `count` different members of `0..n` in random order.
    pub fn sample(&mut self, n: usize, count: usize) -> Vec<usize> {
        // A shuffle that stops after `count` swaps and keeps no more than what was moved, so that
        // a few of many are cheap.
        let mut moved: BTreeMap<usize, usize> = BTreeMap::new();
        (0..count.min(n))
            .map(|i| {
                let j = i + self.below((n - i) as u64) as usize;
                let here = moved.get(&i).copied().unwrap_or(i);
                moved.insert(j, here).unwrap_or(j)
            })
            .collect()
    }

    /// A permutation of `0..n` that moves every member, uniform among those; `n` above 1.
    pub fn derangement(&mut self, n: usize) -> Vec<usize> {
        loop {
            // About 37 of 100 permutations move every member, whatever n is.
            let order = self.sample(n, n);
            if order.iter().enumerate().all(|(from, to)| from != *to) {
                return order;
            }
        }
    }
}

/// A number that stands for a text in a stream's entity (FNV-1a).
pub(crate) fn entity_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// SplitMix64, fed word by word.
struct Mixer(u64);

impl Mixer {
    fn word(&mut self, word: u64) {
        self.0 = Mixer(self.0 ^ word).next();
    }
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(splitmix::STEP);
        splitmix::mix(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_pinned() {
        // A change here changes every result that anyone has published.
        let mut stream = Stream::new(1, "test", &[0]);
        let first: Vec<u64> = (0..4).map(|_| stream.below(1_000_000)).collect();
        assert_eq!(first, [844_540, 39_495, 575_669, 315_446]);
        for (seed, purpose, entity) in [(2, "test", 0), (1, "tesu", 0), (1, "test", 1)] {
            let mut other = Stream::new(seed, purpose, &[entity]);
            assert_ne!(first, (0..4).map(|_| other.below(1_000_000)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn moments_are_right() {
        let mut stream = Stream::new(7, "moments", &[]);
        let n = 200_000;
        let mean = (0..n).map(|_| stream.exponential(3.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 3.0).abs() < 0.03, "{mean}");
        let mean = (0..n).map(|_| stream.below(10) as f64).sum::<f64>() / f64::from(n);
        assert!((mean - 4.5).abs() < 0.03, "{mean}");
    }

    #[test]
    fn samples_are_different_and_derangements_move_all() {
        let mut stream = Stream::new(7, "sample", &[]);
        for n in 2..30 {
            let mut sample = stream.sample(n, n / 2);
            sample.sort_unstable();
            sample.dedup();
            assert_eq!(sample.len(), n / 2);
            let order = stream.derangement(n);
            assert!(order.iter().enumerate().all(|(from, to)| from != *to));
            let mut sorted = order;
            sorted.sort_unstable();
            assert_eq!(sorted, (0..n).collect::<Vec<_>>());
        }
    }
}
