//! From an experiment of the HPCC simulator to a scenario.

use crate::setup::SAMPLES_PER_EVENT;
use fabric::{QueueClock, Records};
use hpcc_files::{CcMode, Experiment, Warning, qlen};
use scenario::NodeKind;
use scenario::spec::{
    AckClass, ClassesSpec, CustomSpec, DataWord, EcnRateSpec, EcnSpec, FailureSpec, FlowSpec,
    FlowsSpec, Headroom, HostSpec, LinkSpec, NodeSpec, ParamValue, PfcSpec, Quantity, QuirksSpec,
    RunSpec, SchemeSpec, Spec, StopSpec, SwitchSpec, ThresholdKind, Timeout, TopologySpec,
    TraceSpec, TrafficSpec, WireProfile, WireSpec,
};
use schemes::int::IntFormat;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Bytes, NodeId, Rate, Time};

/// Switches keep this much for each port.
const RESERVE: Bytes = Bytes::new(4096);
/// They resume this far below the threshold.
const RESUME_OFFSET: Bytes = Bytes::new(3072);
/// Alpha of ports at the hosts' rate.
const ALPHA: f64 = 0.125;
/// Priority of what switches make themselves.
const CONTROL: u8 = 6;
/// Buffer of the THEMIS prototype's external switches, those with a link of [`LONG`] or more.
const EXTERNAL_BUFFER: Bytes = Bytes::new(200 << 20);
/// A link of this delay leads to another data centre.
const LONG: Time = Time::from_us(10);
/// INT records that packets have room for.
const HOPS: u64 = 5;
/// INT records that packets of the THEMIS prototype have room for.
const THEMIS_HOPS: u64 = 10;
/// No limit but the disk: an event of a trace takes 60 bytes there and counts as five samples.
const MOST_SAMPLES: u64 = 1_000_000_000_000;
/// A receiver repeats a NACK after this long.
const NACK_INTERVAL: Time = Time::from_us(500);

/// The scenario that does what the original does with `experiment`, and what of it is served in
/// another way.
pub fn scenario_of(experiment: &Experiment, name: &str) -> (Spec, Vec<Warning>) {
    let Experiment { config, topology, flows, .. } = experiment;
    let mut warnings = Vec::new();
    let nic_rate = nic_rate(experiment);
    let priorities: BTreeSet<u8> = flows.iter().map(|flow| flow.priority.get()).collect();
    let data = priorities.first().copied().unwrap_or(3);
    let node_name = |node: NodeId| format!("n{node}");
    let buffers = buffers(experiment, &mut warnings);
    let themis = config.enable_themis == Some(true);
    if themis && config.cc_mode != CcMode::Dcqcn {
        warnings.push(Warning::new("ENABLE_THEMIS goes with CC_MODE 1 alone: it is left out"));
    }
    if let Some(link) = uncoded(experiment) {
        warnings.push(Warning::new(format!(
            "CC_MODE 3 has no code for {}, the rate of the link in line {} of the topology: INT says \
             25Gbps, as in the original; --set scheme.params.int_format=full has it say the rate",
            link.rate, link.line
        )));
    }
    if config.l2_ack_interval > config.packet_payload_size {
        warnings.push(Warning::new(format!(
            "L2_ACK_INTERVAL {}: all packets are acknowledged here; the original begins with this \
             byte of a flow, but for packets that end at a multiple of L2_CHUNK_SIZE: shorter flows of \
             another size never end",
            config.l2_ack_interval.get()
        )));
    }
    warnings.extend(unmeasured(experiment));
    let pauses = config.pause_time != Time::ZERO;
    if !pauses {
        warnings.push(Warning::new(
            "PAUSE_TIME 0 pauses nobody: switches drop what finds the whole buffer full; the original's \
             drop what exceeds the threshold and headroom of an ingress",
        ));
    }
    let nodes = topology.is_switch.iter().zip(buffers).enumerate();
    let nodes = nodes.map(|(node, (&is_switch, buffer))| NodeSpec {
        name: node_name(NodeId::new(node as u32)),
        kind: if is_switch { NodeKind::Switch } else { NodeKind::Host },
        tier: None,
        buffer: buffer.map(Quantity),
    });
    let links = topology.links.iter().map(|link| LinkSpec {
        a: node_name(link.a),
        b: node_name(link.b),
        rate: Quantity(link.rate),
        delay: Some(Quantity(link.delay)),
        length: None,
        pfc: true,
        error_rate: (link.error_rate > 0.0).then_some(link.error_rate),
    });
    let failure = config.link_down.map(|down| FailureSpec {
        link: format!("{}:{}", node_name(down.a), node_name(down.b)),
        at: Quantity(down.at),
        until: None,
    });
    let flows = flows.iter().map(|flow| FlowSpec {
        src: node_name(flow.src),
        dst: node_name(flow.dst),
        size: Quantity(flow.size),
        start: Quantity(flow.start),
        priority: (flow.priority.get() != data).then_some(flow.priority.get()),
        qp: None,
        port: Some(flow.dport),
        tag: Some(flow.dport.to_string()),
    });
    let spec = Spec {
        schema: scenario::spec::SCHEMA_VERSION,
        name: Some(name.to_owned()),
        description: Some("An experiment of the HPCC ns-3 simulator".to_owned()),
        run: RunSpec {
            stop: StopSpec::At(config.simulator_stop_time),
            // Traces of all nodes are its default, and go to disk.
            most_samples: MOST_SAMPLES,
            ..RunSpec::default()
        },
        topology: TopologySpec::Custom(CustomSpec {
            nodes: nodes.collect(),
            links: links.collect(),
        }),
        scheme: scheme(experiment),
        wire: WireSpec {
            profile: WireProfile::HpccNs3,
            payload: Quantity(config.packet_payload_size),
            error_rate: config.error_rate_per_link,
        },
        host: HostSpec {
            ack_every: 1,
            retransmit_timeout: Some(Timeout::Never),
            latency: Quantity(Time::ZERO),
            nack: true,
            nack_interval: Timeout::After(NACK_INTERVAL),
        },
        switch: SwitchSpec { buffer: Quantity(config.buffer_size), ..SwitchSpec::default() },
        pfc: PfcSpec {
            enabled: pauses,
            threshold: Some(ThresholdKind::Dynamic),
            alpha: Some(ALPHA),
            resume_offset: Some(Quantity(RESUME_OFFSET)),
            reserve: Some(Quantity(RESERVE)),
            headroom: Headroom::ThreeBdp,
            ..PfcSpec::default()
        },
        ecn: ecn(experiment),
        classes: ClassesSpec {
            data,
            ack: AckClass::Data(DataWord::Data),
            lossless: priorities.into_iter().collect(),
            // CNPs of switches go before everything else; nothing else is of their class.
            strict: if themis { vec![CONTROL] } else { Vec::new() },
            control: CONTROL,
            ..ClassesSpec::default()
        },
        quirks: QuirksSpec {
            whole_nanoseconds: true,
            node_hash: true,
            one_way_rtt: true,
            acks_ignore_pause: config.ack_high_prio,
            silent_duplicates: true,
            scan_queue_pairs: true,
            missed_wake_up: true,
            stale_turn: true,
            // It checks nothing but the limits of ingresses that PFC protects.
            shifted_threshold: pauses.then_some(Quantity(nic_rate)),
            // Its external switches never pause; what it measured rests on that.
            threshold_wraps: config.enable_themis.is_some(),
            ns3_streams: true,
            emission_order: true,
            packet_turns: true,
        },
        traffic: vec![TrafficSpec::Flows(FlowsSpec {
            tag: Some("flows".to_owned()),
            priority: Some(data),
            flows: Some(flows.collect()),
            flows_file: None,
        })],
        routing: Default::default(),
        failure: failure.into_iter().collect(),
        probe: Vec::new(),
        trace: TraceSpec::default(),
    };
    (spec, warnings)
}

/// Flows of CC_MODE 3 whose packets have no room for the INT records of their paths.
fn unmeasured(experiment: &Experiment) -> Option<Warning> {
    let Experiment { config, topology, flows, .. } = experiment;
    if config.cc_mode != CcMode::Hpcc {
        return None;
    }
    let room = if config.enable_themis.is_some() { THEMIS_HOPS } else { HOPS };
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
            "{flows} paths of more than {room} switches, up to {most}: CC_MODE 3 measures nothing on \
             these, and such flows keep the line rate, as in the original"
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

/// Where CC_MODE 3 is asked for, a link of switches whose rate INT has no code for.
fn uncoded(experiment: &Experiment) -> Option<&hpcc_files::topology::Link> {
    let hpcc = experiment.config.cc_mode == CcMode::Hpcc;
    let mut links = experiment.topology.switch_links().filter(|_| hpcc);
    links.find(|link| !IntFormat::RATES.contains(&link.rate))
}

/// What has to be recorded for the files that `experiment` asks for.
pub fn records_of(experiment: &Experiment) -> Records {
    let config = &experiment.config;
    Records {
        pfc: true,
        packets: experiment.traced.iter().copied().collect(),
        queues: config.qlen_mon_file.is_some().then_some(QueueClock {
            start: config.qlen_mon_start,
            end: config.qlen_mon_end,
            interval: qlen::SAMPLE_INTERVAL,
            block: qlen::BLOCK_INTERVAL,
            bin: 1000,
        }),
        samples_each: SAMPLES_PER_EVENT,
        ..Records::default()
    }
}

/// The rate of the first host's port.
fn nic_rate(experiment: &Experiment) -> Rate {
    let topology = &experiment.topology;
    let first = topology.hosts().next();
    let mut links = topology.links.iter();
    let link = links.find(|link| first.is_some_and(|host| link.a == host || link.b == host));
    link.map_or(Rate::ZERO, |link| link.rate)
}

/// Headroom and reserve of a switch's ports.
fn kept_apart(experiment: &Experiment, switch: NodeId) -> u64 {
    let links = experiment.topology.links.iter();
    let links = links.filter(|link| link.a == switch || link.b == switch);
    links.map(|link| 3 * link.rate.bytes_in(link.delay).get() + RESERVE.get()).sum()
}

/// Buffers of switches that are too small for their headroom. There the original's arithmetic goes
/// below zero and its PFC never fires; here the switch gets room for its headroom besides, but for the
/// THEMIS prototype, whose external switches have buffers of their own and are as there.
fn buffers(experiment: &Experiment, warnings: &mut Vec<Warning>) -> Vec<Option<Bytes>> {
    let buffer = experiment.config.buffer_size;
    let prototype = experiment.config.enable_themis.is_some();
    let links = || experiment.topology.links.iter();
    let is_external =
        |node: NodeId| links().any(|link| link.delay >= LONG && (link.a == node || link.b == node));
    let mut small: Option<(NodeId, u64, u64)> = None;
    let nodes = 0..experiment.topology.is_switch.len() as u32;
    let buffers = nodes.map(NodeId::new).map(|node| {
        if !experiment.topology.is_switch[node.index()] {
            return None;
        }
        if prototype {
            return is_external(node).then_some(EXTERNAL_BUFFER);
        }
        let needed = kept_apart(experiment, node);
        // Beyond this a link is longer than any may be, which is told of that.
        if needed < buffer.get() || needed > 1 << 50 {
            return None;
        }
        small.get_or_insert((node, needed, 0)).2 += 1;
        Some(Bytes::new(needed + buffer.get()))
    });
    let buffers = buffers.collect();
    if let Some((node, needed, count)) = small {
        let others = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
        warnings.push(Warning::new(format!(
            "the headroom of switch {node}{others} takes {needed} bytes, more than BUFFER_SIZE: it \
             gets that much besides; the original's PFC never fires there"
        )));
    }
    buffers
}

fn ecn(experiment: &Experiment) -> EcnSpec {
    let config = &experiment.config;
    let marks = config.enable_qcn && config.cc_mode.heeds_marks();
    let mut laws: Vec<EcnRateSpec> = Vec::new();
    for link in experiment.topology.switch_links() {
        if laws.iter().any(|law| law.rate.0 == link.rate) {
            continue;
        }
        let (kmin, kmax) = (config.kmin.get(&link.rate), config.kmax.get(&link.rate));
        let (Some(&kmin), Some(&kmax), Some(&pmax)) = (kmin, kmax, config.pmax.get(&link.rate))
        else {
            continue;
        };
        let rate = Quantity(link.rate);
        laws.push(EcnRateSpec { rate, kmin: Quantity(kmin), kmax: Quantity(kmax), pmax });
    }
    let Some(first) = laws.first().filter(|_| marks) else {
        return EcnSpec { enabled: Some(false), ..EcnSpec::default() };
    };
    EcnSpec {
        enabled: Some(true),
        kmin: Some(first.kmin),
        kmax: Some(first.kmax),
        pmax: Some(first.pmax),
        by_rate: laws,
        ..EcnSpec::default()
    }
}

fn scheme(experiment: &Experiment) -> SchemeSpec {
    let config = &experiment.config;
    let mut params: BTreeMap<String, ParamValue> = BTreeMap::new();
    let mut set = |name: &str, value: ParamValue| {
        params.insert(name.to_owned(), value);
    };
    let rate = |rate: Rate| ParamValue::Text(rate.to_string());
    let time = |time: Time| ParamValue::Text(time.to_string());
    let window = ParamValue::Text(
        match (config.has_win, config.var_win, config.global_t) {
            (false, ..) => "none",
            (true, true, true) => "bdp",
            (true, true, false) => "path-bdp",
            (true, false, true) => "fixed-bdp",
            (true, false, false) => "fixed-path-bdp",
        }
        .to_owned(),
    );
    // Checked by the reader where the law needs them.
    let rate_ai = config.rate_ai.unwrap_or(Rate::ZERO);
    let rate_hai = config.rate_hai.unwrap_or(Rate::ZERO);
    let (name, preset) = match config.cc_mode {
        CcMode::Dcqcn => {
            set("alpha_timer", time(config.alpha_resume_interval));
            set("decrease_interval", time(config.rate_decrease_interval));
            set("increase_timer", time(config.rp_timer.unwrap_or(Time::ZERO)));
            set("gain", ParamValue::Number(config.ewma_gain.unwrap_or(0.0)));
            set("recovery_steps", ParamValue::Count(config.fast_recovery_times.into()));
            set("clamp_target", ParamValue::Flag(config.clamp_target_rate));
            set("rate_ai", rate(rate_ai));
            set("rate_hai", rate(rate_hai));
            set("min_rate", rate(config.min_rate));
            set("window", window);
            if config.enable_themis == Some(true) {
                ("themis", "themis-prototype")
            } else {
                ("dcqcn", "dcqcn-hpcc")
            }
        }
        CcMode::Timely => {
            set("rate_ai", rate(rate_ai));
            set("rate_hai", rate(rate_hai));
            set("min_rate", rate(config.min_rate));
            set("window", window);
            ("timely", "timely-hpcc")
        }
        CcMode::Dctcp => {
            set("gain", ParamValue::Number(config.ewma_gain.unwrap_or(0.0)));
            set("rate_ai", rate(config.dctcp_rate_ai));
            set("min_rate", rate(config.min_rate));
            set("window", window);
            ("dctcp", "dctcp-hpcc")
        }
        CcMode::Hpcc | CcMode::HpccPint => {
            set("eta", ParamValue::Number(config.u_target));
            set("max_stage", ParamValue::Count(config.mi_thresh.into()));
            // 0 would ask for the one that follows from eta: a bit per second is as good as none.
            set("rate_ai", rate(rate_ai.max(Rate::from_bps(1))));
            set("min_rate", rate(config.min_rate));
            set("window", window);
            if config.cc_mode == CcMode::Hpcc {
                let base_rtt = if config.global_t { "network" } else { "path" };
                set("base_rtt", ParamValue::Text(base_rtt.to_owned()));
                set("fast_reaction", ParamValue::Flag(config.fast_react));
                set("sample_feedback", ParamValue::Flag(config.sample_feedback));
                set("rate_per_hop", ParamValue::Flag(config.multi_rate));
                set("int_multi", ParamValue::Count(config.int_multi.into()));
                if config.enable_themis.is_some() {
                    set("max_hops", ParamValue::Count(THEMIS_HOPS));
                }
                if uncoded(experiment).is_some() {
                    set("int_format", ParamValue::Text("hpcc-ns3-uncoded".to_owned()));
                }
                ("hpcc", "hpcc-ns3")
            } else {
                set("log_base", ParamValue::Number(config.pint_log_base));
                set("probability", ParamValue::Number(config.pint_prob));
                ("hpcc-pint", "hpcc-pint-ns3")
            }
        }
        CcMode::None(_) => {
            set("window", window);
            ("none", "none")
        }
    };
    SchemeSpec { name: name.to_owned(), preset: Some(preset.to_owned()), params }
}
