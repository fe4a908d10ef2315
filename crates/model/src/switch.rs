//! How switches are built, and which paths they offer.

use units::Bytes;

/// Combined input and output queues (CIOQ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cioq {
    /// The speed of the crossbar, as a multiple of the rate of the fastest port; 1 or more.
    pub speedup: f64,
    /// Bytes that the input queue of a port (all of its VOQs) holds in each priority.
    pub input_queue: Bytes,
    /// Bytes that the output queue of a port holds in each priority.
    pub output_queue: Bytes,
}

/// Which paths packets may use, and how a QP selects one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// Shortest paths, selected by a hash of the five-tuple.
    FiveTuple,
    /// Shortest paths, selected by a hash that is equal for data and ACKs.
    Symmetric,
    /// The paths of this many spanning trees. A hash selects one tree for each QP.
    SpanningTrees(u32),
}
