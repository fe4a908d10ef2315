//! Any bytes as a topology in TOML or JSON.
#![no_main]
#![allow(dead_code)]

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

#[path = "../checks/scenario.rs"]
mod checks;

static PATH: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("rocelab-fuzz-{}", std::process::id())));

fuzz_target!(|bytes: &[u8]| {
    checks::topology_file(bytes, &PATH);
});
