//! Whatever a scenario, an override or a file that a scenario names says, it is read or refused in
//! a line: the fuzzers' seeds, and random changes to them.

use crate::checks;
use crate::mutants::{Dice, mutant, seeds};
use std::path::{Path, PathBuf};

/// Words that upset readers.
const ODD: &[&[u8]] = &[
    b"0",
    b"-1",
    b"65536",
    b"9223372036854775807",
    b"18446744073709551616",
    b"1e309",
    b"nan",
    b"-0.0",
    b"\"1e3us\"",
    b"\"0.0000000001ps\"",
    b"\"99999999999999999Gbps\"",
    b"\"\\u202e\"",
    b"\xff\xff",
    b"\0",
    b"#",
    b"\r\n",
    b"[[traffic]]",
    b"[probe]",
    b"h0..h99999999",
    b"*",
    b"{}",
    b"[]",
    b"true",
    b"\"",
];

/// Checks the seeds, what is left of them when they are cut off, and `changed` of them with
/// changes.
fn survive(target: &str, changed: usize, check: impl Fn(&[u8]) -> bool) {
    let seeds = seeds(target);
    let (mut good, mut bad) = (0, 0);
    let mut count = |text: &[u8]| *if check(text) { &mut good } else { &mut bad } += 1;
    for seed in &seeds {
        count(seed);
        for part in 0..8 {
            count(&seed[..seed.len() * part / 8]);
        }
    }
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..changed {
        count(&mutant(&seeds, ODD, &mut dice));
    }
    // Changes that leave nothing right, or nothing wrong, would test little.
    assert!(good >= 8 && bad > changed / 10, "{good} good, {bad} bad");
}

/// A file of this test's own.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn scenarios() {
    survive("scenario", 4000, checks::text);
}

#[test]
fn overrides() {
    survive("overrides", 4000, checks::overrides);
}

#[test]
fn flow_files() {
    let path = file("flows.csv");
    survive("flow_file", 4000, |text| checks::flow_file(text, &path));
}

#[test]
fn topology_files() {
    let path = file("topology");
    survive("topology_file", 4000, |text| checks::topology_file(text, &path));
}

#[test]
fn tables_of_sizes() {
    survive("sizes", 4000, checks::sizes);
}
