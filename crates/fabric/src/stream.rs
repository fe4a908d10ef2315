//! Random streams: one for each purpose and entity, so that no draw depends on another.

use rand_pcg::Pcg64Mcg;
use units::splitmix;

/// The seed of the stream for `purpose` at `entity` in a run with `seed`.
///
/// Each word of the key is mixed in by SplitMix64's finaliser, so that neighbouring entities have
/// unrelated streams.
pub(crate) fn seed(seed: u64, purpose: &str, entity: u64) -> u64 {
    let mut state = mix(seed);
    for chunk in purpose.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = mix(state ^ u64::from_le_bytes(word));
    }
    mix(state ^ entity)
}

/// The stream for `purpose` at `entity` (PCG XSL 128/64 MCG).
pub(crate) fn stream(run_seed: u64, purpose: &str, entity: u64) -> Pcg64Mcg {
    let low = seed(run_seed, purpose, entity);
    Pcg64Mcg::new(u128::from(mix(low)) << 64 | u128::from(low))
}

fn mix(word: u64) -> u64 {
    splitmix::mix(word.wrapping_add(splitmix::STEP))
}
