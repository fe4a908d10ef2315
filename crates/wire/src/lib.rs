//! What is on the wire in a RoCEv2 network.
//!
//! [`Profile`] says how many bytes a packet takes on a link; that is all a simulation needs. The
//! headers themselves ([`ethernet`], [`ip`], [`roce`], [`pfc`], [`int`]) are for captures
//! ([`pcapng`]) and for hardware: each is a plain struct with `emit` and `parse`, which allocate
//! nothing and never panic.

#![forbid(unsafe_code)]

pub mod ethernet;
mod header;
pub mod int;
pub mod ip;
pub mod pcapng;
pub mod pfc;
pub mod roce;
mod size;

pub use header::DecodeError;
pub use size::Profile;
