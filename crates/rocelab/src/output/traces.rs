//! From the events that the fabric recorded to the tables of traces.

use crate::Recordings;
use fabric::{Outcome, PacketEvent, PacketEventKind, PfcEvent};
use results::{PacketTrace, PfcTrace, TraceInfo};
use scenario::Scenario;
use schemes::contract::{EcnCodePoint, PacketKind};
use std::sync::Arc;
use units::Time;

/// PFC frames. `peers`: by node and port, the node at the other end.
pub(crate) fn pfc(events: &[PfcEvent], peers: &[Vec<u32>], names: &Arc<Vec<String>>) -> PfcTrace {
    let peer = |event: &PfcEvent| peers[event.node.index()][event.port.index()];
    PfcTrace {
        time_ps: events.iter().map(|event| event.time.ps()).collect(),
        node: events.iter().map(|event| event.node.get()).collect(),
        port: events.iter().map(|event| event.port.get()).collect(),
        peer: events.iter().map(peer).collect(),
        priority: events.iter().map(|event| event.priority).collect(),
        pause: events.iter().map(|event| event.pause).collect(),
        node_names: Arc::clone(names),
    }
}

/// What happened to packets.
pub(crate) fn packets(events: &[PacketEvent], names: &Arc<Vec<String>>) -> PacketTrace {
    let flow_id = |event: &PacketEvent| match event.header.kind {
        PacketKind::Pfc | PacketKind::LinkControl => PacketTrace::NO_FLOW,
        PacketKind::Data
        | PacketKind::Ack
        | PacketKind::Nack
        | PacketKind::Control
        | PacketKind::PathControl => event.header.address.flow,
    };
    PacketTrace {
        time_ps: events.iter().map(|event| event.time.ps()).collect(),
        node: events.iter().map(|event| event.node.get()).collect(),
        port: events.iter().map(|event| event.port.get()).collect(),
        event: events.iter().map(happening).collect(),
        kind: events.iter().map(kind).collect(),
        flow_id: events.iter().map(flow_id).collect(),
        priority: events.iter().map(|event| event.header.priority).collect(),
        sequence: events.iter().map(|event| event.header.sequence).collect(),
        payload_bytes: events.iter().map(|event| event.header.carried()).collect(),
        size_bytes: events.iter().map(|event| event.header.size).collect(),
        ecn: events.iter().map(ecn).collect(),
        queue_bytes: events.iter().map(|event| event.queue_bytes).collect(),
        node_names: Arc::clone(names),
    }
}

/// When probes and traces stopped to record, if they did so before the end of the run.
pub(crate) fn recording_stopped(outcome: &Outcome) -> Option<Time> {
    let from = outcome.recording_stopped_at;
    (from < outcome.end).then_some(from)
}

/// What the summary says of the traces.
pub(crate) fn trace_infos(
    scenario: &Scenario,
    outcome: &Outcome,
    recordings: &Recordings,
) -> Vec<TraceInfo> {
    let end = outcome
        .end
        .min(outcome.recording_stopped_at)
        .min(scenario.trace.end.unwrap_or(Time::NEVER));
    let pfc = recordings.pfc_rows().map(|rows| (PfcTrace::NAME, rows));
    let packets = recordings.packet_rows().map(|rows| (PacketTrace::NAME, rows));
    let info = |(name, rows): (&str, u64)| TraceInfo {
        name: name.to_owned(),
        rows,
        start_ps: scenario.trace.start.ps(),
        end_ps: end.max(scenario.trace.start).ps(),
    };
    pfc.into_iter().chain(packets).map(info).collect()
}

/// Returns its index in [`PacketTrace::EVENTS`].
fn happening(event: &PacketEvent) -> u8 {
    match event.happening {
        PacketEventKind::Received => 0,
        PacketEventKind::Enqueued => 1,
        PacketEventKind::Dequeued => 2,
        PacketEventKind::Dropped => 3,
        PacketEventKind::Lost => 4,
        PacketEventKind::Held => 5,
    }
}

/// Returns its index in [`PacketTrace::KINDS`].
fn kind(event: &PacketEvent) -> u8 {
    match event.header.kind {
        PacketKind::Data => 0,
        PacketKind::Ack => 1,
        PacketKind::Nack => 2,
        PacketKind::Control => 3,
        PacketKind::LinkControl => 4,
        PacketKind::Pfc if event.pause => 5,
        PacketKind::Pfc => 6,
        PacketKind::PathControl => 7,
    }
}

/// Returns its index in [`PacketTrace::CODE_POINTS`].
fn ecn(event: &PacketEvent) -> u8 {
    let header = &event.header;
    match header.kind {
        PacketKind::Ack | PacketKind::Nack => header.echo as u8,
        PacketKind::Pfc => EcnCodePoint::NotMarked as u8,
        PacketKind::Data
        | PacketKind::Control
        | PacketKind::LinkControl
        | PacketKind::PathControl => header.code_point as u8,
    }
}
