//! The files of the HPCC ns-3 simulator (alibaba-edu/High-Precision-Congestion-Control).
//!
//! What goes in: [`config`], [`topology`], [`flows`] and [`trace_list`], read together by
//! [`Experiment::read`]. What comes out: [`fct`], [`pfc`], [`qlen`] and [`packet_trace`], which can
//! be written and read. The readers take what that simulator takes, and numbers mean what they mean
//! there, to the nanosecond; what it leaves undefined is an error that says how to mend it. They
//! hold no more than a small multiple of the file's size, and never panic.
//!
//! "The original" in this crate is that simulator at commit 9f4be2a.

#![forbid(unsafe_code)]

pub mod address;
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

pub use config::{CcMode, Config};
pub use error::{FileError, Result, Warning};
pub use experiment::{Experiment, read_topology};
pub use flows::Flow;
pub use topology::Topology;
