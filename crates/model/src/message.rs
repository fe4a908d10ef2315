//! Messages: what hosts send.

use units::{Bytes, MixSide, NodeId, Time};

/// A message: a row of the flow table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sending host.
    pub src: NodeId,
    /// The receiving host.
    pub dst: NodeId,
    /// Bytes of data.
    pub size: Bytes,
    /// When it is posted. If it answers another message, it is not posted earlier than this.
    pub start: Time,
    /// The message that it answers.
    pub after: Option<After>,
    /// Priority of its data, 0 to 7.
    pub priority: u8,
    /// Which scheme its QP has.
    pub side: MixSide,
    /// Index of its tag in the scenario's list of tags. The simulator does not use it.
    pub tag: u16,
    /// The QP that carries it, numbered in order of first use. Messages of one QP have the same
    /// ends, priority and scheme, and are sent in the order of their indices.
    pub qp: u32,
    /// UDP source and destination port.
    pub udp_ports: (u16, u16),
}

/// A message is posted after another has arrived at its sender: the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// Index of the request. At most one message answers each request.
    pub message: u32,
    /// From the arrival of the request's last byte to the posting of the answer.
    pub delay: Time,
}
