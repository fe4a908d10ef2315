//! Warnings of what the files ask for, said before a run: what the original does in a way that a
//! reader of the results might not expect, and what is served in another way.

use super::derived::{HPCC_NS3, UNCODED, node_buffers};
use super::law::{HOPS, THEMIS_HOPS};
use hpcc_files::{CcMode, Experiment, Warning};
use scenario::spec::{ParamValue, Spec};
use schemes::int::IntFormat;
use std::collections::{BTreeMap, VecDeque};
use units::{NodeId, Time};

/// The warnings for a run in rocelab's order of events. `pauses_set`: whether switches pause is
/// set besides the files.
pub(super) fn in_fast_order(
    spec: &Spec,
    experiment: &Experiment,
    pauses_set: bool,
) -> Vec<Warning> {
    let headroom = headroom(spec, experiment).map(|takes| {
        format!(
            "{takes}, more than BUFFER_SIZE: it gets that much besides; the original's PFC never \
             fires there"
        )
    });
    let acks = unacknowledged(experiment).map(|(interval, flows)| {
        format!(
            "L2_ACK_INTERVAL {interval}: all packets are acknowledged here; the original leaves \
             out those that end before this byte of a flow, unless at a multiple of \
             L2_CHUNK_SIZE{}",
            if flows.is_empty() { flows } else { format!(", and {flows}") }
        )
    });
    let no_pause = (pauses_nobody(experiment) && !pauses_set).then(|| {
        "PAUSE_TIME 0 pauses nobody: switches drop what finds the whole buffer full; the \
         original's drop what exceeds the threshold and headroom of an ingress"
            .to_owned()
    });
    let large = large(experiment).map(|flows| {
        format!(
            "{flows}: their ideal FCT is longer than in the original, whose product of bytes and \
             nanoseconds wraps around 64 bits there"
        )
    });
    let above = above_line_rate(experiment);
    let served = [headroom, acks, no_pause, large, above].into_iter().flatten().map(Warning::new);
    served.chain(as_there(spec, experiment, "")).collect()
}

/// The warnings for a run in ns-3's order of events, where everything is as in the original.
pub(super) fn in_ns3_order(spec: &Spec, experiment: &Experiment) -> Vec<Warning> {
    let headroom = headroom(spec, experiment).map(|takes| {
        format!(
            "{takes}, more than BUFFER_SIZE: its PFC never fires, as in the original; raise \
             BUFFER_SIZE"
        )
    });
    let acks = unacknowledged(experiment).filter(|(_, flows)| !flows.is_empty());
    let acks = acks.map(|(interval, flows)| {
        format!(
            "L2_ACK_INTERVAL {interval}: packets that end before this byte of a flow are not \
             acknowledged, unless at a multiple of L2_CHUNK_SIZE, as in the original: {flows}; \
             set it to 1 for an ACK of every packet"
        )
    });
    let no_pause = pauses_nobody(experiment).then(|| {
        "PAUSE_TIME 0 pauses nobody, as in the original: switches drop what exceeds the threshold \
         and headroom of an ingress"
            .to_owned()
    });
    let large = large(experiment).map(|flows| {
        format!(
            "{flows}: their ideal FCT is too short and their slowdown too large, as in the \
             original, whose product of bytes and nanoseconds wraps around 64 bits there; the \
             default order has neither"
        )
    });
    // Here DCQCN's is as there.
    let above = above_line_rate(experiment).filter(|_| experiment.config.cc_mode != CcMode::Dcqcn);
    let told = [headroom, acks, no_pause, large, above].into_iter().flatten().map(Warning::new);
    told.chain(as_there(spec, experiment, "without --order ns3, ")).collect()
}

/// A `MIN_RATE` above the rate of a host's link, where a window follows the rate.
fn above_line_rate(experiment: &Experiment) -> Option<String> {
    let Experiment { config, topology, .. } = experiment;
    let has_law = !matches!(config.cc_mode, CcMode::None(_));
    if !(has_law && config.has_win && config.var_win) {
        return None;
    }
    let is_host = |node: NodeId| !topology.is_switch[node.index()];
    let links = topology.links.iter().filter(|link| is_host(link.a) || is_host(link.b));
    let slowest = links.min_by_key(|link| link.rate)?;
    (config.min_rate > slowest.rate).then(|| {
        format!(
            "MIN_RATE {} is above {}, the rate of the link in line {} of the topology: no rate is \
             above that of a host's link here, and the original's may be, with a window of \
             VAR_WIN that is longer than a BDP",
            config.min_rate, slowest.rate, slowest.line
        )
    })
}

/// Flows with more bytes on the wire than the original's ideal FCT has room for, in words.
fn large(experiment: &Experiment) -> Option<String> {
    let payload = experiment.config.packet_payload_size.get();
    let wire = |size: u64| size.saturating_add(size.div_ceil(payload).saturating_mul(48));
    let most = u64::MAX / 8_000_000_000;
    let count = experiment.flows.iter().filter(|flow| wire(flow.size.get()) > most).count();
    let flows = if count == 1 { "1 flow has".to_owned() } else { format!("{count} flows have") };
    (count > 0).then(|| format!("{flows} more than {most} bytes with headers"))
}

/// Switches whose headroom exceeds the buffer, in words.
fn headroom(spec: &Spec, experiment: &Experiment) -> Option<String> {
    let (node, needed, count) = node_buffers(experiment, spec).small?;
    let others = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
    Some(format!("the headroom of switch {node}{others} takes {needed} bytes"))
}

/// Whether pauses of no length are asked for.
fn pauses_nobody(experiment: &Experiment) -> bool {
    experiment.config.pause_time == Time::ZERO && experiment.config.enable_pfc
}

/// The interval of ACKs, if it leaves a packet of the flows without one in the original, and in
/// words how many flows never end because of it; nothing if all do.
fn unacknowledged(experiment: &Experiment) -> Option<(u64, String)> {
    let Experiment { config, flows, .. } = experiment;
    let (interval, chunk) = (config.l2_ack_interval.get(), config.l2_chunk_size.get());
    let is_left_out = |end: u64| end < interval && !end.is_multiple_of(chunk);
    let payload = config.packet_payload_size.get();
    let (mut any, mut endless) = (false, 0_usize);
    for flow in flows {
        let size = flow.size.get();
        any |= is_left_out(size) || is_left_out(size.min(payload));
        endless += usize::from(is_left_out(size));
    }
    let never = if endless == 1 { "never ends" } else { "never end" };
    let told = match endless {
        0 => String::new(),
        _ => format!("{endless} of {} flows {never}", flows.len()),
    };
    any.then_some((interval, told))
}

/// What is as in the original. `if_set`: the condition under which keys can be set.
fn as_there(spec: &Spec, experiment: &Experiment, if_set: &str) -> impl Iterator<Item = Warning> {
    let warnings = [
        uncoded(spec, experiment, if_set),
        unmeasured(spec, experiment),
        too_fast(spec, experiment, if_set),
    ];
    warnings.into_iter().flatten()
}

/// The fastest link that whole nanoseconds make 10 % or more faster than its rate.
fn too_fast(spec: &Spec, experiment: &Experiment, if_set: &str) -> Option<Warning> {
    if !spec.quirks.whole_nanoseconds {
        return None;
    }
    let config = &experiment.config;
    let bytes = config.packet_payload_size.get() + u64::from(config.cc_mode.data_header_bytes());
    let link = experiment.topology.links.iter().max_by_key(|link| link.rate)?;
    let exact = bytes as f64 * 8e9 / link.rate.bps() as f64;
    let cut = exact.floor();
    (exact >= 1.1 * cut).then(|| {
        Warning::new(format!(
            "on the link in line {} of the topology, of {}, {bytes} bytes take {cut} ns in place \
             of {exact:.2} ns, as times are whole nanoseconds in the original: it is faster than \
             its rate; {if_set}--set quirks.whole_nanoseconds=false has exact times",
            link.line, link.rate
        ))
    })
}

/// A link of switches whose rate INT has no code for, where it then says another.
fn uncoded(spec: &Spec, experiment: &Experiment, if_set: &str) -> Option<Warning> {
    let format = spec.scheme.params.get("int_format");
    if format != Some(&ParamValue::Text(UNCODED.to_owned())) {
        return None;
    }
    let mut links = experiment.topology.switch_links();
    let link = links.find(|link| !IntFormat::SIMULATOR_RATES.contains(&link.rate))?;
    Some(Warning::new(format!(
        "CC_MODE 3 has no code for {}, the rate of the link in line {} of the topology: INT says \
         25Gbps, as in the original; {if_set}--set scheme.params.int_format=full has it say the \
         rate",
        link.rate, link.line
    )))
}

/// Flows of `CC_MODE 3` whose packets have no room for the INT records of their paths.
fn unmeasured(spec: &Spec, experiment: &Experiment) -> Option<Warning> {
    let Experiment { config, topology, flows, .. } = experiment;
    if spec.scheme.name != "hpcc" || spec.scheme.preset.as_deref() != Some(HPCC_NS3) {
        return None;
    }
    let room = match spec.scheme.params.get("max_hops") {
        Some(ParamValue::Count(hops)) => *hops,
        _ if config.enable_themis.is_some() => THEMIS_HOPS,
        _ => HOPS,
    };
    let mut neighbours = vec![Vec::new(); topology.is_switch.len()];
    for link in &topology.links {
        neighbours[link.a.index()].push(link.b);
        neighbours[link.b.index()].push(link.a);
    }
    let mut by_source: BTreeMap<NodeId, BTreeMap<NodeId, u64>> = BTreeMap::new();
    for flow in flows {
        *by_source.entry(flow.src).or_default().entry(flow.dst).or_default() += 1;
    }
    let (mut count, mut most) = (0, 0);
    for (src, receivers) in by_source {
        let switches = switches_to(src, &neighbours, &topology.is_switch);
        for (dst, flows) in receivers {
            // No way at all is refused elsewhere.
            let on_path = switches[dst.index()].unwrap_or(0);
            if on_path > room {
                count += flows;
                most = most.max(on_path);
            }
        }
    }
    let flows = if count == 1 { "1 flow has".to_owned() } else { format!("{count} flows have") };
    (count > 0).then(|| {
        Warning::new(format!(
            "{flows} paths of more than {room} switches, up to {most}: CC_MODE 3 measures nothing \
             on these, and such flows keep the line rate, as in the original"
        ))
    })
}

/// For each node the switches between it and the host `src`, which alone forward; none: no way.
fn switches_to(src: NodeId, neighbours: &[Vec<NodeId>], is_switch: &[bool]) -> Vec<Option<u64>> {
    let mut switches = vec![None; is_switch.len()];
    switches[src.index()] = Some(0);
    let mut queue = VecDeque::from([src]);
    while let Some(node) = queue.pop_front() {
        let on_path =
            switches[node.index()].map(|there| there + u64::from(is_switch[node.index()]));
        for next in &neighbours[node.index()] {
            if switches[next.index()].is_none() {
                switches[next.index()] = on_path;
                if is_switch[next.index()] {
                    queue.push_back(*next);
                }
            }
        }
    }
    switches
}
