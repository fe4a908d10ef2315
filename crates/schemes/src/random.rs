//! Random numbers for control laws. A stream depends only on a seed from the facts.

use units::PortId;
use units::splitmix::{STEP, mix};

/// SplitMix64. Its state is eight bytes, which fits a switch that has one for each port.
#[derive(Clone, Debug)]
pub(crate) struct Stream(u64);

impl Stream {
    /// Returns the stream of an entity, such as a QP, of the host or switch with this seed.
    pub(crate) fn new(seed: u64, entity: u64) -> Stream {
        Stream(mix(seed ^ mix(entity.wrapping_add(STEP))))
    }

    /// Returns the stream of a port of the switch with this seed.
    pub(crate) fn of_port(switch_seed: u64, port: PortId) -> Stream {
        Stream(mix(switch_seed ^ u64::from(port.get())))
    }

    /// Returns the next 64 bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Returns a number uniform in [0, 1), in steps of 2^-53.
    #[inline]
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_uniform_and_differ() {
        let mut means = Vec::new();
        for (seed, entity) in [(1, 0), (1, 1), (2, 0)] {
            let mut stream = Stream::new(seed, entity);
            means.push((0..10_000).map(|_| stream.fraction()).sum::<f64>() / 10_000.0);
        }
        assert!(means.iter().all(|mean| (mean - 0.5).abs() < 0.01), "{means:?}");
        assert!(means[0] != means[1] && means[1] != means[2] && means[0] != means[2]);
    }
}
