//! Tests of readers and writers, in one binary. `cargo test -p hpcc-files --test it -- readers::`
//! runs one file.

mod corpus;
mod forks;
#[path = "../../../../fuzz/checks/mutants.rs"]
mod mutants;
mod outputs;
mod readers;
