//! Any bytes as the flows of a network of four hosts and two switches.
#![no_main]

use libfuzzer_sys::fuzz_target;

const TOPOLOGY: &[u8] = include_bytes!("../corpus/topology/two-racks.txt");

fuzz_target!(|text: &[u8]| {
    let topology = hpcc_files::topology::parse(TOPOLOGY, &mut Vec::new()).unwrap();
    let _ = hpcc_files::flows::parse(text, &topology, &mut Vec::new());
});
