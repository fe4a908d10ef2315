//! From the events that the fabric recorded to the tables of traces.

use fabric::{Output, PacketEvent, PfcEvent};
use results::{PacketTrace, PfcTrace, TraceInfo};
use scenario::{Scenario, Trace};
use schemes::contract::{CodePoint, Kind};
use std::sync::Arc;
use units::Time;

/// The PFC frames, which are taken out of `output`.
pub(crate) fn pfc(output: &mut Output, names: &Arc<Vec<String>>) -> PfcTrace {
    let mut events = std::mem::take(&mut output.pfc_events);
    events.sort_by_key(|event| (event.time, event.node, event.port, event.priority));
    let peer = |event: &PfcEvent| {
        let first = output.ports.partition_point(|port| port.node < event.node);
        output.ports[first + usize::from(event.port)].peer.get()
    };
    PfcTrace {
        time_ps: events.iter().map(|event| event.time.ps()).collect(),
        node: events.iter().map(|event| event.node.get()).collect(),
        port: events.iter().map(|event| event.port).collect(),
        peer: events.iter().map(peer).collect(),
        priority: events.iter().map(|event| event.priority).collect(),
        pause: events.iter().map(|event| event.pause).collect(),
        node_names: Arc::clone(names),
    }
}

/// Ports of a node are worked in any order where none sees another: in traces events of one instant come
/// port by port.
pub(crate) fn put_in_order(events: &mut [PacketEvent], trace: &Trace) {
    if !trace.packets.is_empty() {
        events.sort_by_key(|event| (event.time, event.node, event.port, event.happening));
    }
}

/// What happened to packets.
pub(crate) fn packets(events: &[PacketEvent], names: &Arc<Vec<String>>) -> PacketTrace {
    let flow_id = |event: &PacketEvent| match event.header.kind {
        Kind::Pfc | Kind::LinkCtl => PacketTrace::NO_FLOW,
        Kind::Data | Kind::Ack | Kind::Nack | Kind::Ctl => event.header.address.flow,
    };
    PacketTrace {
        time_ps: events.iter().map(|event| event.time.ps()).collect(),
        node: events.iter().map(|event| event.node.get()).collect(),
        port: events.iter().map(|event| event.port).collect(),
        event: events.iter().map(|event| event.happening as u8).collect(),
        kind: events.iter().map(kind).collect(),
        flow_id: events.iter().map(flow_id).collect(),
        priority: events.iter().map(|event| event.header.priority).collect(),
        sequence: events.iter().map(|event| event.header.sequence).collect(),
        payload_bytes: events.iter().map(|event| event.header.payload).collect(),
        size_bytes: events.iter().map(|event| event.header.size).collect(),
        ecn: events.iter().map(ecn).collect(),
        queue_bytes: events.iter().map(|event| event.queue_bytes).collect(),
        node_names: Arc::clone(names),
    }
}

/// What the summary says of the traces.
pub(crate) fn infos(
    scenario: &Scenario,
    output: &Output,
    pfc: Option<&PfcTrace>,
    packets: Option<&PacketTrace>,
) -> Vec<TraceInfo> {
    let outcome = &output.outcome;
    let end = outcome.end.min(outcome.full_from).min(scenario.trace.end.unwrap_or(Time::NEVER));
    let pfc = pfc.map(|trace| (PfcTrace::NAME, trace.time_ps.len()));
    let packets = packets.map(|trace| (PacketTrace::NAME, trace.time_ps.len()));
    let info = |(name, rows): (&str, usize)| TraceInfo {
        name: name.to_owned(),
        rows: rows as u64,
        start_ps: scenario.trace.start.ps(),
        end_ps: end.max(scenario.trace.start).ps(),
    };
    pfc.into_iter().chain(packets).map(info).collect()
}

/// Its place among [`PacketTrace::KINDS`].
fn kind(event: &PacketEvent) -> u8 {
    match event.header.kind {
        Kind::Data => 0,
        Kind::Ack => 1,
        Kind::Nack => 2,
        Kind::Ctl => 3,
        Kind::LinkCtl => 4,
        Kind::Pfc if event.pause => 5,
        Kind::Pfc => 6,
    }
}

/// Its place among [`PacketTrace::CODE_POINTS`].
fn ecn(event: &PacketEvent) -> u8 {
    let header = &event.header;
    match header.kind {
        Kind::Ack | Kind::Nack => header.echo as u8,
        Kind::Pfc => CodePoint::Capable as u8,
        Kind::Data | Kind::Ctl | Kind::LinkCtl => header.code_point as u8,
    }
}
