//! Random numbers for congestion points: a stream per switch port.

use units::PortId;

/// SplitMix64: a counter, and a bijection that scrambles it. Eight bytes, which a switch has to
/// spare for each of its ports.
#[derive(Clone, Debug)]
pub(crate) struct Stream(u64);

impl Stream {
    /// The stream of a port of the switch whose stream has this seed.
    pub(crate) fn of_port(switch_seed: u64, port: PortId) -> Stream {
        Stream(mix(switch_seed ^ u64::from(port.get())))
    }

    /// The next 64 bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }
}

/// SplitMix64's finaliser: every bit of the result depends on all of `word`.
#[inline]
pub(crate) fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
