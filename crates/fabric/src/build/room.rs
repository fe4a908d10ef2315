//! Whether packets fit where they are stored first and last.

use super::NodeDevice;
use crate::context::RunContext;
use crate::error::SetupError;
use crate::network::graph::LinkEnd;
use crate::packet::Scheme;
use units::{Bytes, NodeId, cancel};

/// Refuses messages with packets that the first switch on their way, or their receiver, would drop
/// even if it were empty. Other switches are not looked at: which of them a message passes is not
/// known yet.
pub(super) fn check_room<S: Scheme>(
    common: &RunContext<S>,
    devices: &mut [NodeDevice<S>],
) -> Result<(), SetupError> {
    let graph = &common.graph;
    // By sender and priority: the largest packet that is known to fit.
    let mut fits = vec![[0; 8]; graph.hosts.len()];
    for (flow, row) in common.flows.iter().enumerate() {
        cancel::check();
        let payload = row.size.min(u64::from(common.wire.payload)) as u32;
        // The first packet of a message is the largest.
        let size = u64::from(common.wire.data_size(payload, true, row.side));
        let refuse = |node: u32| SetupError::NoRoom {
            node: NodeId::new(node),
            flow: flow as u32,
            packet: Bytes::new(size),
        };
        let [src, dst] = [row.src, row.dst].map(|host| graph.hosts[host as usize]);
        let known = &mut fits[row.src as usize][usize::from(row.priority & 7)];
        if size > *known {
            let links = graph.ports(src);
            let mut takes =
                |link: &LinkEnd| takes(&mut devices[link.peer as usize], link, row.priority, size);
            if !links.iter().any(&mut takes) {
                return Err(refuse(links[0].peer));
            }
            *known = size;
        }
        let NodeDevice::Host(receiver) = &devices[dst as usize] else { unreachable!("a host") };
        if receiver.receive_buffer.as_ref().is_some_and(|buffer| !buffer.can_hold(size)) {
            return Err(refuse(dst));
        }
    }
    Ok(())
}

/// Whether the node at the end of a link stores data of `size` bytes while it is empty.
fn takes<S: Scheme>(device: &mut NodeDevice<S>, link: &LinkEnd, priority: u8, size: u64) -> bool {
    match device {
        NodeDevice::Host(_) => true,
        NodeDevice::Switch(switch) => {
            switch.chassis.mmu.takes_while_empty(link.peer_port, priority, size)
        }
        NodeDevice::Cioq(switch) => switch.takes_while_empty(link.peer_port, priority, size),
    }
}
