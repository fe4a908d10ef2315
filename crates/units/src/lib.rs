//! Exact quantities of a packet-level simulation.
//!
//! Time is an integer number of picoseconds (a byte at 400 Gb/s takes exactly 20 ps), rates are
//! bits per second, sizes are bytes. No quantity is ever a float: products go through `u128` and
//! divisions that do not come out even round up, so a packet never leaves early.
//!
//! What all random streams are keyed with is here too, as everyone uses it: [`splitmix`]. So is how
//! a long computation is cancelled: [`cancel`], how text of unknown origin is shown: [`text`], and
//! which nodes links join: [`DisjointSets`].

#![forbid(unsafe_code)]

pub mod cancel;
mod disjoint_sets;
mod ids;
pub mod memory;
mod quantity;
mod rate;
mod size;
pub mod splitmix;
pub mod text;
mod time;

pub use disjoint_sets::DisjointSets;
pub use ids::{FlowId, MixSide, NodeId, PortId, Priority};
pub use quantity::{ParseError, parse_bytes, parse_length, parse_rate, parse_time};
pub use rate::Rate;
pub use size::Bytes;
pub use time::Time;
