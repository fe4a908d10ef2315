//! Runs the HPCC ns-3 simulator's experiments: its files in, its files out.
//!
//! [`scenario_of`] says what an experiment is in our words, quirks and all, with the keys that a
//! user sets over it; that scenario is run like any other, with [`records_of`] on; [`write()`] then
//! puts what came out into its files. [`run_in_ns3_order`] takes the experiment as it is and runs
//! it in that simulator's order of events.

mod convert;
mod derived;
mod law;
mod ns3_order_run;
mod outputs;
mod warnings;

pub use convert::{records_of, scenario_of, served, served_in_ns3_order};
pub(crate) use ns3_order_run::UNACKNOWLEDGED;
pub use ns3_order_run::{check_ns3_order, run_in_ns3_order};
pub use outputs::{Ns3OutputFiles, write};
