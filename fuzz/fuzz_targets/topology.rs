//! Any bytes as a topology.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let _ = hpcc_files::topology::parse(text, &mut Vec::new());
});
