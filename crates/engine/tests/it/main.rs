//! Tests of the engine as a whole, in one binary. `cargo test -p engine --test it -- hubs::` runs
//! one file.

mod determinism;
mod hubs;

/// Mixes two numbers into a running hash, so that any change in the order or time of an event
/// shows.
fn mix(a: u64, b: u64) -> u64 {
    (a ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ (b >> 7)
}
