//! The readers must hold out against any bytes: the fuzzers' seeds, and random changes to them.

use crate::mutants::{Dice, mutant, seeds};
use hpcc_files::{FileError, Topology, Warning, config, flows, topology, trace_list};

const TOPOLOGY: &[u8] = include_bytes!("../../../../fuzz/corpus/topology/two-racks.txt");

/// Tokens that have upset readers before.
const ODD: &[&[u8]] = &[
    b"0",
    b"-1",
    b"4294967295",
    b"4294967296",
    b"18446744073709551615",
    b"99999999999999999999999999999999999999999",
    b"1e309",
    b"1e-400",
    b"nan",
    b"-0.0",
    b".",
    b"1y",
    b"1fs",
    b"99999999999999999Gbps",
    b"\xff\xff",
    b"\0",
    b"#",
    b"\r\n",
    b"KMIN_MAP",
    b"LINK_DOWN",
    b"time:",
];

fn survives<T>(target: &str, parse: impl Fn(&[u8], &mut Vec<Warning>) -> Result<T, FileError>) {
    let seeds = seeds(target);
    let (mut good, mut bad) = (0, 0);
    let mut check = |text: &[u8]| {
        let mut warnings = Vec::new();
        match parse(text, &mut warnings) {
            Ok(_) => good += 1,
            Err(error) => {
                bad += 1;
                let error = error.to_string();
                assert!(error.lines().count() == 1 && error.len() < 500, "{error}");
            }
        }
        for warning in warnings {
            let warning = warning.to_string();
            assert!(warning.lines().count() == 1 && warning.len() < 500, "{warning}");
        }
    };
    for seed in &seeds {
        check(seed);
        for length in 0..seed.len().min(300) {
            check(&seed[..length]);
        }
    }
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..5_000 {
        check(&mutant(&seeds, ODD, &mut dice));
    }
    // Changes that leave nothing right, or nothing wrong, would test little.
    assert!(good > 50 && bad > 1000, "{good} good, {bad} bad");
}

fn network() -> Topology {
    topology::parse(TOPOLOGY, &mut Vec::new()).unwrap()
}

#[test]
fn configurations() {
    survives("config", config::parse);
}

#[test]
fn topologies() {
    survives("topology", topology::parse);
}

#[test]
fn flow_lists() {
    let network = network();
    survives("flows", |text, warnings| flows::parse(text, &network, warnings));
}

#[test]
fn trace_lists() {
    let network = network();
    survives("trace_list", |text, warnings| trace_list::parse(text, &network, warnings));
}
