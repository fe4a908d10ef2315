//! The messages of a run in the form that hosts need.

use crate::network::graph::Graph;
use crate::network::setup::Setup;
use std::collections::BTreeMap;
use units::memory::reserve;
use units::{MixSide, Time, cancel};

/// No message.
pub(crate) const NO_FLOW: u32 = u32::MAX;

/// A message in the form that hosts need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowInfo {
    pub(crate) size: u64,
    pub(crate) start: Time,
    /// The sender and the receiver, as indices among the hosts.
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) qp: u32,
    /// The messages before and after it on its QP, or [`NO_FLOW`].
    pub(crate) before_on_qp: u32,
    pub(crate) next_on_qp: u32,
    /// The number of its QP at the receiver.
    pub(crate) receiver_slot: u32,
    /// Its index among the sender's messages.
    pub(crate) index_at_sender: u32,
    /// Its index among the messages to the receiver.
    pub(crate) index_at_receiver: u32,
    /// It is posted when others have arrived.
    pub(crate) has_dependency: bool,
    /// Begin and end of the joins that it belongs to, among those of all messages.
    pub(crate) joins: (u32, u32),
    pub(crate) priority: u8,
    /// Which scheme of a mix its QP has.
    pub(crate) side: MixSide,
    pub(crate) udp_ports: (u16, u16),
}

/// The messages of a setup, in its order, linked by QP.
pub(crate) fn flow_rows(graph: &Graph, setup: &Setup) -> Vec<FlowInfo> {
    let mut rows: Vec<FlowInfo> = Vec::new();
    reserve(&mut rows, setup.messages.len(), "messages");
    let mut sent = vec![0; graph.hosts.len()];
    let mut received = vec![0; graph.hosts.len()];
    let mut receiver_slots = vec![0; graph.hosts.len()];
    let mut last_on_qp: BTreeMap<u32, u32> = BTreeMap::new();
    for (flow, message) in setup.messages.iter().enumerate() {
        cancel::check();
        let src = graph.host_of[message.src.index()];
        let dst = graph.host_of[message.dst.index()];
        let before_on_qp = last_on_qp.insert(message.qp, flow as u32);
        let receiver_slot = match before_on_qp {
            Some(before) => {
                let before = &mut rows[before as usize];
                debug_assert_eq!((before.src, before.dst), (src, dst), "a QP joins two hosts");
                before.next_on_qp = flow as u32;
                before.receiver_slot
            }
            None => {
                receiver_slots[dst as usize] += 1;
                receiver_slots[dst as usize] - 1
            }
        };
        rows.push(FlowInfo {
            size: message.size.get(),
            start: message.start,
            src,
            dst,
            qp: message.qp,
            before_on_qp: before_on_qp.unwrap_or(NO_FLOW),
            next_on_qp: NO_FLOW,
            receiver_slot,
            index_at_sender: sent[src as usize],
            index_at_receiver: received[dst as usize],
            has_dependency: message.after.is_some(),
            joins: (0, 0),
            priority: message.priority,
            side: message.side,
            udp_ports: message.udp_ports,
        });
        sent[src as usize] += 1;
        received[dst as usize] += 1;
    }
    rows
}
