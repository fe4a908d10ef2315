//! Any bytes as a configuration.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let _ = hpcc_files::config::parse(text, &mut Vec::new());
});
