//! Packets that PFC should have protected, and that were dropped.

use crate::packet::{Address, Header};
use std::fmt;
use units::{FlowId, NodeId, PortId, Time};

/// A packet that was dropped because there was no room, in a class that PFC protects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LosslessDrop {
    /// When it was dropped.
    pub time: Time,
    /// The switch or host that dropped it.
    pub node: NodeId,
    /// Its ingress port.
    pub port: PortId,
    /// Its priority.
    pub priority: u8,
    /// Its message.
    pub flow: FlowId,
    /// Its size on the wire.
    pub size: u16,
    /// What was full.
    pub full: Memory,
}

/// A part of a node's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The headroom of its port and priority.
    Headroom,
    /// The switch's buffer.
    Buffer,
    /// In a CIOQ switch, the input's share of the buffer.
    InputQueue,
    /// The receive buffer of a host's NIC.
    ReceiveBuffer,
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Memory::Headroom => "headroom",
            Memory::Buffer => "buffer",
            Memory::InputQueue => "input queue",
            Memory::ReceiveBuffer => "receive buffer",
        })
    }
}

/// Such drops of a node.
#[derive(Debug, Default)]
pub(crate) struct LosslessDrops {
    pub(crate) count: u64,
    /// The first ones.
    pub(crate) listed: Vec<LosslessDrop>,
}

impl LosslessDrops {
    /// How many are listed. All are counted.
    const MAX_LISTED: usize = 16;

    /// Counts a packet that came to `node` through `port`.
    #[cold]
    pub(crate) fn add(&mut self, time: Time, node: u32, port: u16, header: &Header, full: Memory) {
        self.count += 1;
        if self.listed.len() < Self::MAX_LISTED {
            let Header { priority, size, address: Address { flow, .. }, .. } = *header;
            let (node, port) = (NodeId::new(node), PortId::new(port));
            let flow = FlowId::new(flow);
            self.listed.push(LosslessDrop { time, node, port, priority, flow, size, full });
        }
    }
}
