//! Tests of readers and writers, in one binary. `cargo test -p hpcc-files --test it -- readers::`
//! runs one file.

mod common;
mod configurations;
mod corpus;
mod experiments;
mod forks;
#[path = "../../../../fuzz/checks/mutants.rs"]
mod mutants;
mod outputs;
mod readers;
