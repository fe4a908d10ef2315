//! What a message met: packets that were out of order or came twice, and timeouts.

use super::Host;
use crate::host::reorder_buffer::Fate;
use crate::packet::Scheme;
use model::FlowRecovery;

/// The timeouts of a message, at its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Timeouts {
    pub(crate) count: u32,
    /// Payload bytes that were sent again because of them.
    pub(crate) bytes: u64,
}

impl<S: Scheme> Host<S> {
    /// Whether no message to or from this host met anything.
    pub(crate) fn met_nothing(&self) -> bool {
        self.reordering.is_empty() && self.timeouts.is_empty()
    }

    /// What a message to this host met; `None` if none met anything.
    pub(crate) fn recovery_of(&self, index_at_receiver: u32) -> Option<&FlowRecovery> {
        self.reordering.get(index_at_receiver as usize)
    }

    /// Counts a packet of a message that was not the next in order and was `distance` packets
    /// ahead. The receiver now keeps `kept` bytes of its QP.
    pub(super) fn count_disorder(
        &mut self,
        flow: u32,
        fate: Fate,
        distance: u32,
        payload: u16,
        kept: u64,
    ) {
        if self.reordering.is_empty() {
            self.reordering = vec![FlowRecovery::default(); self.incoming as usize];
        }
        let place = self.common.flows[flow as usize].index_at_receiver as usize;
        let of_flow = &mut self.reordering[place];
        if fate == Fate::Duplicate {
            of_flow.duplicate_bytes += u64::from(payload);
            return;
        }
        self.out_of_order += 1;
        of_flow.out_of_order_packets += 1;
        of_flow.discarded_packets += u32::from(fate == Fate::Beyond);
        of_flow.max_distance = of_flow.max_distance.max(distance);
        of_flow.max_kept_bytes = of_flow.max_kept_bytes.max(kept);
    }
}
