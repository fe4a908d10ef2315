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
    /// When it is posted. If it waits for other messages, it is not posted earlier than this.
    pub start: Time,
    /// The join that it waits for, as an index of [`Joins::delays`].
    pub after: Option<u32>,
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

/// What messages wait for. A join is a set of messages that all arrive at one host. When the last
/// byte of the last of them has arrived, the host posts the messages that wait for the join.
///
/// An answer waits for a join of one message, the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joins {
    /// For each join, how long after the last arrival its messages are posted.
    pub delays: Vec<Time>,
    /// The messages of all joins. Each join has at least one.
    pub awaited: Vec<Awaited>,
}

/// A message that a join waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Index of the message. It may belong to several joins.
    pub message: u32,
    /// Index of the join.
    pub join: u32,
}

impl Joins {
    /// Adds a join of these messages, and returns its index.
    pub fn add(&mut self, delay: Time, messages: impl IntoIterator<Item = u32>) -> u32 {
        let join = self.delays.len() as u32;
        self.delays.push(delay);
        self.awaited.extend(messages.into_iter().map(|message| Awaited { message, join }));
        join
    }
}
