//! From what the fabric counted to tables and the summary.

use super::capture::Capturer;
use super::{EventOrder, traces, warnings};
use crate::recordings::Inner;
use crate::{Recordings, Run, RunOptions, VERSION};
use fabric::{FlowOutcome, ProbeTargets, RunOutput, Sample, Setup};
use results::{
    Deadlock, Drop, FlowTable, PortTable, Series, Summary, UNFINISHED, Unfinished, Warning,
};
use scenario::{Message, NamedProbe, NodeKind, ResolvedScheme, Scenario};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::memory::collect;
use units::{NodeId, Time};

/// What a table of flows has, as errors call it.
const ROWS: &str = "rows of the flow table";

/// How a run was executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Execution {
    pub(crate) threads: usize,
    /// Wall time without set-up, in seconds.
    pub(crate) wall_s: f64,
    pub(crate) order: EventOrder,
}

/// What a run leaves behind.
pub(crate) fn report(
    scenario: &Scenario,
    options: &RunOptions,
    setup: &Setup,
    mut output: RunOutput,
    execution: Execution,
) -> Run {
    let names = node_names(scenario);
    let flows = flow_table(scenario, &output, &names);
    let ports = port_table(scenario, &output, &names);
    let drops: Vec<Drop> = output
        .drops
        .iter()
        .map(|drop| Drop {
            time_ps: drop.time.ps(),
            node: names[drop.node.index()].clone(),
            port: drop.port.get(),
            reason: format!("{} full", drop.full),
            priority: drop.priority,
            flow_id: drop.flow.get(),
            size_bytes: u64::from(drop.size),
        })
        .collect();
    let recordings = recordings(scenario, setup, &output, &names);
    let explicit = options.explicit_params;
    let order = execution.order;
    let warnings = warnings::collect(scenario, explicit, setup, &output, &flows, order);
    let (warning_kinds, warnings) =
        warnings.into_iter().map(|Warning { kind, text }| (kind.into(), text)).unzip();
    let summary = Summary {
        series: recordings.series_infos(),
        traces: traces::trace_infos(scenario, &output.outcome, &recordings),
        recording_stopped_ps: traces::recording_stopped(&output.outcome).map(Time::ps),
        warnings,
        warning_kinds,
        ..summary(scenario, &output, &flows, &ports, execution)
    };
    let failure = output.spill_error.take();
    Run { flows, ports, drops, recordings, failure, summary }
}

fn recordings(
    scenario: &Scenario,
    setup: &Setup,
    output: &RunOutput,
    names: &Arc<Vec<String>>,
) -> Recordings {
    let mut peers = vec![Vec::new(); scenario.network.nodes.len()];
    output.ports.iter().for_each(|port| peers[port.node.index()].push(port.peer.get()));
    let inner = Inner {
        samples: output.samples.clone(),
        probes: scenario
            .probes
            .iter()
            .map(|named| (empty_series(named, names), named.probe.targets.clone()))
            .collect(),
        pfc: output.pfc_events.clone(),
        packets: output.packet_events.clone(),
        queues: output.queue_blocks.clone(),
        traces_pfc: scenario.trace.pfc,
        traces_packets: !scenario.trace.packets.is_empty(),
        peers,
        node_names: Arc::clone(names),
        capturer: scenario.trace.capture.then(|| Capturer::new(scenario, setup)),
        network_bdp: output.network_bdp,
    };
    Recordings { inner: Arc::new(inner) }
}

/// The names of nodes, for tables.
pub(crate) fn node_names(scenario: &Scenario) -> Arc<Vec<String>> {
    Arc::new(scenario.network.names.clone())
}

fn flow_table(scenario: &Scenario, output: &RunOutput, names: &Arc<Vec<String>>) -> FlowTable {
    let messages = &scenario.messages;
    let outcomes = &output.flows;
    let of_messages = |value: fn(&Message) -> u32| collect(messages.iter().map(value), ROWS);
    let times = |value: fn(&FlowOutcome) -> u64| collect(outcomes.iter().map(value), ROWS);
    let starts = messages.iter().zip(outcomes).map(|(message, flow)| start(message, flow));
    FlowTable {
        flow_id: collect(0..messages.len() as u32, ROWS),
        qp_id: of_messages(|message| message.qp),
        tag: collect(messages.iter().map(|message| message.tag), ROWS),
        tags: scenario.tags.clone(),
        scheme: collect(messages.iter().map(|message| message.side.index() as u8), ROWS),
        schemes: scenario.scheme_names(),
        src: of_messages(|message| message.src.get()),
        dst: of_messages(|message| message.dst.get()),
        node_names: Arc::clone(names),
        priority: collect(messages.iter().map(|message| message.priority), ROWS),
        size_bytes: collect(messages.iter().map(|message| message.size.get()), ROWS),
        start_ps: collect(starts, ROWS),
        fct_ps: times(|flow| if flow.fct == Time::NEVER { UNFINISHED } else { flow.fct.ps() }),
        ideal_fct_ps: collect(output.ideal.iter().map(|ideal| ideal.ps()), ROWS),
        retransmitted_bytes: times(|flow| flow.retransmitted_bytes),
        recovery: output.recovery.clone(),
        path_changes: output.path_changes.clone(),
        unfinished: {
            let mut causes = vec![None; messages.len()];
            for &(flow, why) in &output.unfinished {
                causes[flow as usize] = Some(why);
            }
            causes
        },
    }
}

/// What a summary calls the scheme of a run, its preset and its caveat. Of two schemes it has both,
/// and each caveat says whose it is.
fn scheme_words(scenario: &Scenario) -> [String; 3] {
    let words =
        |one: &ResolvedScheme| [one.info.name, &one.preset, one.info.caveat].map(str::to_owned);
    let first = words(&scenario.scheme);
    let Some(also) = &scenario.also else { return first };
    let second = words(&also.scheme);
    let mut caveats: Vec<String> = [&first, &second]
        .into_iter()
        .filter(|[.., caveat]| !caveat.is_empty())
        .map(|[name, _, caveat]| format!("{name}: {caveat}"))
        .collect();
    // Two parameter sets of one scheme have one.
    caveats.dedup();
    [
        format!("{} and {}", first[0], second[0]),
        format!("{} and {}", first[1], second[1]),
        caveats.join(" "),
    ]
}

/// When a message was posted; what never was counts from when it might have been.
fn start(message: &Message, outcome: &FlowOutcome) -> u64 {
    if outcome.posted == Time::NEVER { message.start.ps() } else { outcome.posted.ps() }
}

fn port_table(scenario: &Scenario, output: &RunOutput, names: &Arc<Vec<String>>) -> PortTable {
    let ports = &output.ports;
    let tier = |node: NodeId| scenario.network.node(node).tier;
    let column = |value: fn(&fabric::PortCounters) -> u64| {
        ports.iter().map(|port| value(&port.counters)).collect()
    };
    PortTable {
        node: ports.iter().map(|port| port.node.get()).collect(),
        port: ports.iter().map(|port| port.port.get()).collect(),
        peer: ports.iter().map(|port| port.peer.get()).collect(),
        node_names: Arc::clone(names),
        tier: ports.iter().map(|port| tier(port.node)).collect(),
        peer_tier: ports.iter().map(|port| tier(port.peer)).collect(),
        rate_bps: ports.iter().map(|port| port.rate.bps()).collect(),
        tx_bytes: column(|counters| counters.tx_bytes),
        tx_packets: column(|counters| counters.tx_packets),
        pause_frames_sent: column(|counters| counters.pause_frames_sent),
        pause_frames_received: column(|counters| counters.pause_frames_received),
        paused_ps: column(|counters| counters.paused.ps()),
        max_queue_bytes: column(|counters| counters.max_queue_bytes),
        ecn_marked_packets: column(|counters| counters.ecn_marked_packets),
        dropped_packets: column(|counters| counters.dropped_packets),
        lost_packets: column(|counters| counters.lost_packets),
    }
}

/// The series of a probe without rows.
fn empty_series(named: &NamedProbe, names: &Arc<Vec<String>>) -> Series {
    let NamedProbe { name, probe } = named;
    Series {
        name: name.clone(),
        kind: probe.kind.name().to_owned(),
        unit: probe.kind.unit().to_owned(),
        priority: probe.priority,
        of_flows: matches!(probe.targets, ProbeTargets::Flows(_)),
        node_names: Arc::clone(names),
        ..Series::default()
    }
}

/// A piece of a series.
pub(crate) fn series_of(empty: &Series, targets: &ProbeTargets, samples: &[Sample]) -> Series {
    let mut series = empty.clone();
    series.time_ps = samples.iter().map(|sample| sample.time.ps()).collect();
    series.value = samples.iter().map(|sample| sample.value).collect();
    let places = samples.iter().map(|sample| sample.target as usize);
    match targets {
        ProbeTargets::Ports(ports) => {
            series.node = places.clone().map(|place| ports[place].0.get()).collect();
            series.port = places.map(|place| ports[place].1.get()).collect();
        }
        ProbeTargets::Flows(flows) => {
            series.flow = places.map(|place| flows[place].get()).collect();
        }
    }
    series
}

/// The summary but for what the probes and traces saw, and the warnings.
fn summary(
    scenario: &Scenario,
    output: &RunOutput,
    flows: &FlowTable,
    ports: &PortTable,
    Execution { threads, wall_s, .. }: Execution,
) -> Summary {
    let count = |kind| scenario.network.nodes.iter().filter(|node| node.kind == kind).count();
    let packet_hops: u64 = ports.tx_packets.iter().sum();
    let flows_done = flows.done();
    let recovery = || output.recovery.iter().map(|(_, met)| met);
    let [scheme, preset, caveat] = scheme_words(scenario);
    Summary {
        schema: results::SCHEMA_VERSION,
        name: scenario.name.clone(),
        scheme,
        preset,
        caveat,
        seed: scenario.run.seed,
        threads: threads as u64,
        version: VERSION.to_owned(),
        partial: output.outcome.cancelled,
        hosts: count(NodeKind::Host) as u64,
        switches: count(NodeKind::Switch) as u64,
        simulated_ns: output.outcome.end.ns(),
        wall_s,
        packet_hops,
        data_packet_hops: output.ports.iter().map(|port| port.counters.tx_data_packets).sum(),
        packet_hops_per_s: packet_hops as f64 / wall_s.max(1e-9),
        flows: flows.len() as u64,
        flows_done,
        unfinished: Unfinished::count(flows.unfinished.iter().copied().flatten()),
        deadlock: output.deadlock.as_ref().map(|(circle, since)| Deadlock {
            nodes: circle.iter().map(|&node| scenario.network.name(node).to_owned()).collect(),
            since_ns: since.ns(),
        }),
        slowdown: results::slowdown_statistics(flows),
        intra_inter_slowdown: results::intra_inter_slowdown(flows),
        by_tag: results::statistics_by_tag(flows),
        by_scheme: results::statistics_by_scheme(flows),
        jain: results::jain_of_flows(flows),
        pause_frames: ports.pause_frames_sent.iter().sum(),
        paused_ns: ports.paused_ps.iter().map(|paused| paused / 1000).sum(),
        paused_by_tier_ns: paused_by_tier(scenario, ports),
        drops: ports.dropped_packets.iter().sum(),
        lost_packets: ports.lost_packets.iter().sum(),
        lossless_drops: output.lossless_drops,
        out_of_order_packets: output.out_of_order,
        max_reorder_packets: recovery().map(|met| met.max_distance.into()).max().unwrap_or(0),
        max_reorder_bytes: recovery().map(|met| met.max_kept_bytes).max().unwrap_or(0),
        retransmitted_bytes: flows.retransmitted_bytes.iter().sum(),
        duplicate_bytes: recovery().map(|met| met.duplicate_bytes).sum(),
        timeouts: recovery().map(|met| u64::from(met.timeouts)).sum(),
        timeout_bytes: recovery().map(|met| met.timeout_bytes).sum(),
        max_queue_bytes: ports.max_queue_bytes.iter().copied().max().unwrap_or(0),
        counters: output.counters.iter().map(|(&name, &count)| (name.to_owned(), count)).collect(),
        digest: results::digest(flows, ports),
        ..Summary::default()
    }
}

/// How long ports of each tier of nodes were paused, summed over ports.
fn paused_by_tier(scenario: &Scenario, ports: &PortTable) -> BTreeMap<String, u64> {
    let mut paused = BTreeMap::new();
    for (&node, &ps) in ports.node.iter().zip(&ports.paused_ps) {
        let node = &scenario.network.nodes[node as usize];
        let tier = match node.kind {
            NodeKind::Host => "hosts".to_owned(),
            NodeKind::Switch => format!("tier{}", node.tier),
        };
        *paused.entry(tier).or_default() += ps / 1000;
    }
    paused
}
