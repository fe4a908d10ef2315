//! Runs the HPCC ns-3 simulator's experiments: its files in, its files out.
//!
//! [`scenario_of`] says what an experiment is in our words, quirks and all, with the keys that a
//! user sets over it; that scenario is run like any other, with [`records_of`] on; [`write()`] then
//! puts what came out into its files.

mod convert;
mod derived;
mod law;
mod outputs;

pub use convert::{records_of, scenario_of, served};
pub use outputs::{Ns3OutputFiles, write};
