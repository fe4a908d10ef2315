//! SplitMix64, a counter and a bijection that scrambles it: what all random streams begin with.

/// What the counter goes on by: odd, so that it passes through all values.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser: every bit of the result depends on all of `word`.
///
/// ```
/// use units::splitmix::{STEP, mix};
/// // What the generator gives first with seed 0.
/// assert_eq!(mix(STEP), 0xe220_a839_7b1d_cdaf);
/// ```
#[inline]
pub const fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
