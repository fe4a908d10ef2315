//! From an experiment of the HPCC simulator to a scenario: what its files say. What follows from
//! that, and from the keys that are set besides, is found in [`super::derived`].

use super::derived::{derive, laws, node_buffers};
use super::warnings;
use crate::fabric_setup::SAMPLES_PER_EVENT;
use fabric::RecoveryMode;
use fabric::{QueueSampling, Records};
use hpcc_files::{ConWeaveTimes, Config, Experiment, LoadBalancing, Warning, queue_lengths};
use scenario::spec::{
    AckPriority, BalanceKind, ClassesSpec, ConWeaveSpec, CongaSpec, CustomSpec, DataPriority,
    EcnSpec, FailureSpec, FlowSpec, FlowsSpec, Headroom, HostSpec, LinkSpec, LossAfter, NodeSpec,
    PfcSpec, Quantity, QuirksSpec, RunSpec, SpanSpec, Spec, StopSpec, SwitchSpec, Timeout,
    TopologySpec, TraceSpec, TrafficSpec, WireProfile, WireSpec,
};
use scenario::{NodeKind, ScenarioError};
use std::collections::BTreeSet;
use units::{Bytes, NodeId, Time, cancel};

/// Priority of what switches make themselves.
pub(super) const CONTROL: u8 = 6;
/// No limit but the disk: an event of a trace takes 60 bytes there and counts as five samples.
const MAX_SAMPLES: u64 = 1_000_000_000_000;
/// Where the files set no end, a run takes at most this much simulated time.
const TIME_LIMIT: Time = Time::from_ms(1_000_000);
/// The share of the free buffer at which a switch of ConWeave's simulator pauses an ingress.
const CONWEAVE_ALPHA: f64 = 1.0 / 16.0;
/// What a queue of ConWeave's simulator holds before its bytes count for marks.
const CONWEAVE_UNMARKED: Bytes = Bytes::new(1_049);
/// With go-back-N a receiver of ConWeave's simulator repeats a NACK after this long.
const CONWEAVE_NACK_INTERVAL: Time = Time::from_us(4);
/// With go-back-N a sender of ConWeave's simulator sends again after this long.
const CONWEAVE_TIMEOUT: Time = Time::from_ms(4);
/// A receiver repeats a NACK after this long.
const NACK_INTERVAL: Time = Time::from_us(500);

/// Tables of a scenario that are files of their own, and the keys that name those.
const FILES: [(&str, &str); 3] =
    [("topology", "TOPOLOGY_FILE"), ("traffic", "FLOW_FILE"), ("trace", "TRACE_FILE")];

/// The scenario that does what the original does with `experiment`, with keys set as in
/// [`scenario::parse`], and what of it is served in another way.
///
/// # Errors
/// Where a key cannot be set.
pub fn scenario_of(
    experiment: &Experiment,
    name: &str,
    settings: &[(String, String)],
) -> Result<(Spec, Vec<Warning>), ScenarioError> {
    let (spec, warnings) = without_lists(experiment, name, settings)?;
    let data = data_class(experiment);
    let topology = TopologySpec::Custom(CustomSpec {
        nodes: nodes(experiment, &spec),
        links: links(experiment),
        in_parts: experiment.topology.is_in_parts(),
    });
    let traffic = vec![TrafficSpec::Flows(FlowsSpec {
        tag: Some("flows".to_owned()),
        priority: Some(data),
        after: None,
        after_delay: None,
        flows: Some(flows(experiment, data)),
        flows_file: None,
    })];
    Ok((Spec { topology, traffic, ..spec }, warnings))
}

/// What is served in another way than by the original, with keys set as for [`scenario_of`].
///
/// # Errors
/// Where a key cannot be set.
pub fn served(
    experiment: &Experiment,
    settings: &[(String, String)],
) -> Result<Vec<Warning>, ScenarioError> {
    Ok(without_lists(experiment, "config", settings)?.1)
}

/// What a reader of the results should know of the original, where a run has ns-3's order of
/// events.
pub fn served_in_ns3_order(experiment: &Experiment) -> Vec<Warning> {
    match without_lists(experiment, "config", &[]) {
        Ok((spec, _)) => warnings::in_ns3_order(&spec, experiment),
        Err(_) => Vec::new(),
    }
}

/// Whether a key can be set for a run in ns-3's order of events, which takes the files as they are.
pub(super) fn allowed_in_ns3_order(key: &str) -> bool {
    matches!(key, "name" | "description" | "run.seed")
}

/// The scenario without nodes, links and flows.
fn without_lists(
    experiment: &Experiment,
    name: &str,
    settings: &[(String, String)],
) -> Result<(Spec, Vec<Warning>), ScenarioError> {
    for (key, _) in settings {
        let table = key.split('.').next();
        if let Some((_, source)) = FILES.iter().find(|(file, _)| Some(*file) == table) {
            let why =
                format!("comes from the file that {source} names, and so do the files of a run");
            return Err(ScenarioError::new(key, why).hint(
                "change that file; or change and run the scenario that `rocelab hpcc \
                 --print-scenario` prints",
            ));
        }
    }
    let mut given = given(experiment, name);
    let mut warnings = Vec::new();
    if experiment.config.conweave_key().is_some() {
        conweave(&mut given, &experiment.config);
        let exact = ns3_order::check_settings(experiment)
            .map_or("", |()| "; --order ns3 gives its results");
        warnings.push(Warning::new(format!(
            "LB_MODE and ENABLE_IRN are keys of ConWeave, whose switches send ACKs first; results \
             agree with that simulator in distribution, not flow by flow{exact}"
        )));
    }
    let mut spec = scenario::with_settings(&given, settings)?;
    warnings.extend(derive(&mut spec, experiment, settings));
    Ok((spec, warnings))
}

/// What ConWeave's simulator does in another way than the HPCC simulator, or with its keys.
fn conweave(spec: &mut Spec, config: &Config) {
    // Its switches send ACKs first, whatever the file says (attribute AckHighPrio).
    spec.classes.ack = AckPriority::Priority(CONTROL);
    spec.pfc.alpha = Some(CONWEAVE_ALPHA);
    spec.pfc.headroom = Headroom::TwoBdp;
    for law in &mut spec.ecn.by_rate {
        law.kmin.0 += CONWEAVE_UNMARKED;
        law.kmax.0 += CONWEAVE_UNMARKED;
    }
    spec.quirks = QuirksSpec {
        whole_nanoseconds: true,
        one_way_rtt: true,
        conweave_ecmp_hash: true,
        conweave_drill: config.load_balancing == LoadBalancing::Drill,
        conweave_conga: config.load_balancing == LoadBalancing::Conga,
        conweave_recovery: config.enable_irn,
        acks_ignore_pause: true,
        scan_queue_pairs: true,
        conweave_ecn_draws: true,
        ns3_tie_order: true,
        packet_round_robin: true,
        ..QuirksSpec::default()
    };
    // Receivers there answer a packet that is ahead of a gap with a NACK and a CNP.
    spec.host.reordering_makes_cnp = true;
    if config.enable_irn {
        spec.host.recovery = RecoveryMode::SelectiveRepeat;
        spec.host.in_flight = Some(SpanSpec::Bdp);
        spec.host.loss_after = Some(LossAfter::Gap);
        spec.host.nack_interval = HostSpec::default().nack_interval;
        spec.host.retransmit_timeout = None;
    } else {
        spec.host.nack_interval = Timeout::After(CONWEAVE_NACK_INTERVAL);
        spec.host.retransmit_timeout = Some(Timeout::After(CONWEAVE_TIMEOUT));
    }
    spec.routing.balance = match config.load_balancing {
        LoadBalancing::Ecmp => BalanceKind::Ecmp,
        LoadBalancing::Drill => BalanceKind::Drill,
        LoadBalancing::LetFlow => BalanceKind::Letflow,
        LoadBalancing::Conga => {
            // As that simulator measures links.
            spec.routing.conga = Some(CongaSpec {
                dre_period: Quantity(Time::from_us(50)),
                alpha: 0.2,
                age: Quantity(Time::from_us(500)),
                ..CongaSpec::default()
            });
            BalanceKind::Conga
        }
        LoadBalancing::ConWeave => {
            spec.routing.conweave = Some(conweave_spec(&config.conweave));
            BalanceKind::Conweave
        }
    };
}

/// ConWeave's parameters, with that simulator's defaults. There it takes no room in data packets,
/// and packets that wait take none in the buffer.
fn conweave_spec(times: &ConWeaveTimes) -> ConWeaveSpec {
    let [inactive, reply_extra, path_busy, resume_extra, resume_default] =
        times.or_defaults().map(Quantity);
    ConWeaveSpec {
        inactive,
        reply_extra,
        path_busy,
        resume_extra: Some(resume_extra),
        resume_default,
        header: Quantity(Bytes::ZERO),
        own_memory: true,
        ..ConWeaveSpec::default()
    }
}

/// What the files say, but for nodes, links and flows.
fn given(experiment: &Experiment, name: &str) -> Spec {
    let config = &experiment.config;
    let failure = config.link_down.map(|down| FailureSpec {
        link: format!("{}:{}", node_name(down.a), node_name(down.b)),
        at: Quantity(down.at),
        until: None,
        rate: None,
        error_rate: None,
    });
    Spec {
        schema: scenario::spec::SCHEMA_VERSION,
        name: Some(name.to_owned()),
        description: Some("An experiment of the HPCC ns-3 simulator".to_owned()),
        run: RunSpec {
            stop: config.simulator_stop_time.map_or(StopSpec::FlowsDone, StopSpec::At),
            // Of a run without an end. A flow that lost its last packet never ends.
            time_limit: Quantity(TIME_LIMIT),
            // Traces of all nodes are its default, and go to disk.
            max_samples: MAX_SAMPLES,
            seed: config.random_seed,
        },
        topology: TopologySpec::Custom(CustomSpec::default()),
        scheme: super::law::scheme(config),
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
            ..HostSpec::default()
        },
        switch: SwitchSpec { buffer: Quantity(config.buffer_size), ..SwitchSpec::default() },
        pfc: PfcSpec {
            enabled: config.enable_pfc && config.pause_time != Time::ZERO,
            headroom: Headroom::ThreeBdp,
            ..PfcSpec::default()
        },
        ecn: EcnSpec {
            enabled: (!config.enable_qcn).then_some(false),
            by_rate: laws(experiment).0,
            ..EcnSpec::default()
        },
        classes: ClassesSpec {
            data: data_class(experiment),
            ack: AckPriority::Data(DataPriority::Data),
            lossless: priorities(experiment).into_iter().collect(),
            strict: Vec::new(),
            control: CONTROL,
            ..ClassesSpec::default()
        },
        quirks: QuirksSpec {
            whole_nanoseconds: true,
            ns3_ecmp_hash: true,
            conweave_ecmp_hash: false,
            conweave_drill: false,
            conweave_conga: false,
            conweave_buffer: false,
            conweave_recovery: false,
            one_way_rtt: true,
            acks_ignore_pause: config.ack_high_prio,
            silent_duplicates: true,
            scan_queue_pairs: true,
            missed_wakeup: true,
            stale_scan_index: true,
            rate_scaled_alpha: None,
            threshold_wraparound: false,
            ns3_ecn_draws: true,
            conweave_ecn_draws: false,
            ns3_tie_order: true,
            packet_round_robin: true,
        },
        traffic: Vec::new(),
        routing: Default::default(),
        receiver: Vec::new(),
        failure: failure.into_iter().collect(),
        probe: Vec::new(),
        trace: TraceSpec::default(),
    }
}

/// The priorities of flows.
fn priorities(experiment: &Experiment) -> BTreeSet<u8> {
    experiment.flows.iter().map(|flow| flow.priority.get()).collect()
}

/// The priority of flows that name none.
fn data_class(experiment: &Experiment) -> u8 {
    priorities(experiment).first().copied().unwrap_or(3)
}

fn node_name(node: NodeId) -> String {
    format!("n{node}")
}

fn nodes(experiment: &Experiment, spec: &Spec) -> Vec<NodeSpec> {
    let nodes = experiment.topology.is_switch.iter().zip(node_buffers(experiment, spec).buffers);
    let nodes = nodes.enumerate().map(|(node, (&is_switch, buffer))| NodeSpec {
        name: node_name(NodeId::new(node as u32)),
        kind: if is_switch { NodeKind::Switch } else { NodeKind::Host },
        tier: None,
        buffer: buffer.map(Quantity),
    });
    nodes.collect()
}

fn links(experiment: &Experiment) -> Vec<LinkSpec> {
    let links = experiment.topology.links.iter().map(|link| LinkSpec {
        a: node_name(link.a),
        b: node_name(link.b),
        rate: Quantity(link.rate),
        delay: Some(Quantity(link.delay)),
        length: None,
        pfc: true,
        error_rate: (link.error_rate > 0.0).then_some(link.error_rate),
    });
    links.collect()
}

/// `data`: the priority of flows that name none.
fn flows(experiment: &Experiment, data: u8) -> Vec<FlowSpec> {
    let flows = experiment.flows.iter().map(|flow| {
        cancel::check();
        FlowSpec {
            src: node_name(flow.src),
            dst: node_name(flow.dst),
            size: Quantity(flow.size),
            start: Quantity(flow.start),
            priority: (flow.priority.get() != data).then_some(flow.priority.get()),
            qp: None,
            port: Some(flow.dport),
            after: None,
            after_delay: None,
            tag: Some(flow.dport.to_string()),
        }
    });
    flows.collect()
}

/// What has to be recorded for the files that `experiment` asks for.
pub fn records_of(experiment: &Experiment) -> Records {
    let config = &experiment.config;
    Records {
        pfc: true,
        packets: experiment.traced.iter().copied().collect(),
        queues: config.qlen_mon_file.is_some().then_some(QueueSampling {
            start: config.qlen_mon_start,
            end: config.qlen_mon_end,
            interval: queue_lengths::SAMPLE_INTERVAL,
            block: queue_lengths::BLOCK_INTERVAL,
            bin: 1000,
        }),
        samples_per_event: SAMPLES_PER_EVENT,
        ..Records::default()
    }
}
