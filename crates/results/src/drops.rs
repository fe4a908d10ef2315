//! Packets that a lossless class lost.

use serde::Serialize;

/// A packet that was dropped in a lossless class, which is an error of the network's set-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drop {
    /// When.
    pub time_ps: u64,
    /// The node that dropped it.
    pub node: String,
    /// The port it had come in by.
    pub port: u16,
    /// What was full: `headroom full`, `buffer full`, `input queue full`.
    pub reason: String,
    /// Its priority.
    pub priority: u8,
    /// The flow it belonged to.
    pub flow_id: u32,
    /// Its size on the wire.
    pub size_bytes: u64,
}
