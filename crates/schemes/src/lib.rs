//! Congestion-control schemes as pure state machines.
//!
//! A scheme is a reaction point (RP, at the sender), a notification point (NP, at the receiver)
//! and a congestion point (CP, in the switch). None of them owns a queue, a link or a clock:
//! inputs are values ("this ACK, with these INT records, at this time"), outputs are values
//! ("this rate and window", "send this notification", "wake me then"). So this code could run in
//! firmware or in a software NIC.
//!
//! [`contract`] has all plug-in points, [`registry`] lists the schemes. Each scheme is a file, with
//! a folder of its parts if it is large.

#![forbid(unsafe_code)]

pub mod annulus;
pub mod contract;
pub mod dcqcn;
pub mod dcqcn_tcd;
pub mod dctcp;
pub mod expresspass;
pub mod fncc;
pub mod form;
pub mod hiercc;
pub mod hpcc;
pub mod hpcc_pint;
pub mod hpcc_tcd;
pub mod int;
pub mod mercury;
pub mod none;
pub mod pacc;
pub mod params;
mod random;
pub mod rate_window;
pub mod rcm;
pub mod registry;
pub mod rocc;
mod shared_law;
pub mod swift;
pub mod tcd;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod themis;
pub mod timely;
pub mod timely_tcd;
