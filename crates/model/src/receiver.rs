//! Receivers that take data more slowly than it arrives.

use units::{Bytes, NodeId, Rate, Time};

/// A host whose NIC passes data on more slowly than the link for a while. What waits for that is in
/// a buffer of the NIC, and the NIC pauses its link by PFC before the buffer is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowReceiver {
    /// The host.
    pub host: NodeId,
    /// How fast the NIC passes data on; zero: not at all.
    pub rate: Rate,
    /// The size of the buffer.
    pub buffer: Bytes,
    /// The NIC pauses its link when this much is in the buffer.
    pub xoff: Bytes,
    /// It resumes the link when no more than this is left.
    pub xon: Bytes,
    /// When that begins.
    pub from: Time,
    /// When the NIC is as fast as the link again, and its buffer empty; [`Time::NEVER`] if it is
    /// not.
    pub until: Time,
}
