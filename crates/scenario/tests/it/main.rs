//! Tests of scenario files, in one binary. `cargo test -p scenario --test it -- errors::`
//! runs one file.

#[path = "../../../../fuzz/checks/scenario.rs"]
mod checks;
mod corpus;
mod effective;
mod errors;
mod flow_files;
#[path = "../../../../fuzz/checks/mutants.rs"]
mod mutants;
mod topologies;
mod traffic;
