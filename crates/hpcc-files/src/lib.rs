//! The files of the HPCC ns-3 simulator (alibaba-edu/High-Precision-Congestion-Control).
//!
//! Inputs are [`config`], [`topology`], [`flows`] and [`trace_list`]; [`Experiment::read`] reads
//! them together. Outputs are [`fct`], [`pfc`], [`queue_lengths`] and [`packet_trace`], which can
//! be written and read. The readers accept what that simulator accepts. Numbers have the meaning
//! that they have there, to the nanosecond. If the simulator leaves a case undefined, it is an
//! error with a hint. Readers use memory of at most a small multiple of the file's size, and never
//! panic.
//!
//! "The original" in this crate is that simulator at commit 9f4be2a.

#![forbid(unsafe_code)]

pub mod address;
mod columns;
pub mod config;
mod error;
mod experiment;
pub mod fct;
pub mod flows;
pub mod packet_trace;
pub mod pfc;
pub mod quantity;
pub mod queue_lengths;
mod tokens;
pub mod topology;
pub mod trace_list;

pub use config::{CcMode, ConWeaveTimes, Config, LoadBalancing};
pub use error::{FileError, Result, Warning};
pub use experiment::{Experiment, read_topology};
pub use flows::Flow;
pub use topology::Topology;
