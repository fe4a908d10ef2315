//! The readers must hold out against any bytes: the fuzzers' seeds, and random changes to them.

use hpcc_files::{FileError, Topology, Warning, config, flows, topology, trace_list};
use std::path::Path;

const TOPOLOGY: &[u8] = include_bytes!("../../../fuzz/corpus/topology/two-racks.txt");

/// Words that have upset readers before.
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

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<_> =
        std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A small generator of random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// A seed with some changes.
fn mutant(seeds: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut text = seeds[dice.below(seeds.len())].clone();
    for _ in 0..=dice.below(6) {
        let at = dice.below(text.len() + 1);
        let end = at + dice.below((text.len() - at).min(30) + 1);
        match dice.below(6) {
            0 => drop(text.drain(at..end)),
            1 => drop(text.splice(at..end, ODD[dice.below(ODD.len())].iter().copied())),
            2 => text.insert(at, b" \n\t0.9-eG"[dice.below(9)]),
            3 => text.truncate(at),
            4 => {
                let other = &seeds[dice.below(seeds.len())];
                let from = dice.below(other.len() + 1);
                text.splice(at..end, other[from..].iter().copied());
            }
            _ => {
                if let Some(byte) = text.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
        }
    }
    text
}

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
        check(&mutant(&seeds, &mut dice));
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
