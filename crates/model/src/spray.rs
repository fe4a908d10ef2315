//! How hosts spread the packets of a QP over paths.

use units::{Bytes, Time};

/// How a sender chooses the entropy value of a data packet: what switches hash in the place of the
/// QP's UDP source port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spray {
    /// It does not: all packets of a QP have one.
    #[default]
    Off,
    /// At random.
    Random,
    /// Each value once in a random order, then all again in another order.
    Cycle,
    /// REPS: those of packets that were acknowledged without a mark, each once.
    Reps {
        /// How many such values are kept.
        cache: u32,
        /// After a timeout: how long only the kept values are used.
        freeze: Time,
        /// After that: for how many packets values are drawn at random.
        explore: u32,
    },
    /// In turn, without those that were lately marked or lost.
    Bitmap,
    /// The next value after each cell of the stream (Presto).
    FlowCell {
        /// Payload bytes of a cell; above zero.
        cell: Bytes,
    },
}

impl Spray {
    /// Whether it learns from ACKs.
    pub fn learns(&self) -> bool {
        matches!(self, Spray::Reps { .. } | Spray::Bitmap)
    }

    /// Whether packets of a QP may take different paths without a pause between them.
    pub fn is_per_packet(&self) -> bool {
        *self != Spray::Off
    }
}
