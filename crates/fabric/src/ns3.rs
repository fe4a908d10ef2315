//! Functions of the HPCC ns-3 simulator: its times on the wire, its hash and its random numbers.
//!
//! Hosts and switches of the fabric use them for [`Quirks`](crate::Quirks). The crate `ns3-order`
//! uses them, too.

pub use crate::compat::clock::whole_nanoseconds;
pub use crate::compat::mrg::{Draws, Numbers, conweave_marks, first_stream};
pub use crate::compat::murmur3::{address, murmur3};
