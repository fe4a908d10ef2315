//! Any bytes as a scenario file.
#![no_main]
#![allow(dead_code)]

use libfuzzer_sys::fuzz_target;

#[path = "../checks/scenario.rs"]
mod checks;

fuzz_target!(|bytes: &[u8]| {
    checks::text(bytes);
});
