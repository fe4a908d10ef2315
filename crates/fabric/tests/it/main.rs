//! The fabric under few schemes: physics, PFC, failures, probes.

mod cioq;
mod common;
mod failures;
mod lossless;
mod oracle;
mod paths;
mod port_turns;
mod probes;
mod spill;
mod tcd;
