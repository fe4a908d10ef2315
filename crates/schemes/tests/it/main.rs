//! The laws of all schemes, without a network.

mod annulus;
mod dcqcn;
mod dctcp;
mod expresspass;
mod external;
mod fncc;
mod guide;
mod hiercc;
mod hpcc;
mod hpcc_pint;
mod hpcc_rate;
mod invariants;
mod mercury;
mod pacc;
mod packets;
mod presets;
mod rcm;
mod rocc;
mod swift;
mod tcd;
mod themis;
mod themis_hpcc;
mod timely;

// The files of `guide` are written as files of the crate, as the reader of the page writes them.
use schemes::{contract, int, params};
