//! Builds the nodes of a run from its description.

use crate::cioq::CioqSwitch;
use crate::context::path_facts::host_rate;
use crate::context::{NetworkContext, RunContext};
use crate::error::SetupError;
use crate::forwarding::{Place, Router};
use crate::host::nic::Nic;
use crate::host::receive_buffer::ReceiveBuffer;
use crate::host::spray::HostSpray;
use crate::host::{Host, HostParts};
use crate::mmu::{Mmu, MmuConfig};
use crate::network::graph::LinkEnd;
use crate::network::setup::{Cioq, Headroom, NodeKind, PfcConfig, ProbeTargets, Setup, Threshold};
use crate::observe::lossless_drops::LosslessDrops;
use crate::observe::probe::{
    FlowProbes, PortProbes, ProbeClock, at_first_switch, is_counted_at_receiver,
};
use crate::observe::recorder::Recorder;
use crate::observe::spill::Batch;
use crate::packet::{Packet, Scheme, Win};
use crate::port::losses::Losses;
use crate::port::pause_clock::PauseClock;
use crate::port::red::Red;
use crate::port::scheduler::Scheduler;
use crate::port::{Port, PortConfig};
use crate::stream;
use crate::switch::Switch;
use crate::switch::chassis::{Chassis, SwitchAudit};
use crate::switch::departure_times::DepartureTimes;
use engine::{Arrivals, Device};
use schemes::contract::{Cp, HostFacts, PortFacts, SwitchFacts};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{Bytes, NodeId, PortId, Time, cancel};

/// A node of the network.
pub(crate) enum NodeDevice<S: Scheme> {
    Host(Host<S>),
    Switch(Switch<S>),
    // Boxed: it is larger than the others, and most runs have none.
    Cioq(Box<CioqSwitch<S>>),
}

impl<S: Scheme> NodeDevice<S> {
    /// Moves to `batch` what this node recorded before `end`.
    pub(crate) fn hand_over(&mut self, batch: &mut Batch, end: Time) {
        match self {
            NodeDevice::Host(host) => host.hand_over(batch, end),
            NodeDevice::Switch(switch) => switch.chassis.hand_over(batch, end),
            NodeDevice::Cioq(switch) => switch.chassis.hand_over(batch, end),
        }
    }
}

impl<S: Scheme> Device for NodeDevice<S> {
    type Packet = Packet<S>;
    #[inline]
    fn advance(&mut self, window: &mut Win<'_, '_, S>) -> Time {
        match self {
            NodeDevice::Host(host) => host.advance(window),
            NodeDevice::Switch(switch) => switch.advance(window),
            NodeDevice::Cioq(switch) => switch.advance(window),
        }
    }
    #[inline]
    fn wants_buckets(&self, arrivals: usize) -> bool {
        matches!(self, NodeDevice::Switch(switch) if switch.wants_buckets(arrivals))
    }
    #[inline]
    fn advance_bucketed(&mut self, window: &mut Win<'_, '_, S>) -> Option<Time> {
        match self {
            NodeDevice::Switch(switch) => switch.advance_ports(window),
            NodeDevice::Host(_) | NodeDevice::Cioq(_) => None,
        }
    }
    fn add_couplings(&self, until: Time, couplings: &mut [i64]) {
        if let NodeDevice::Host(host) = self {
            host.add_couplings(until, couplings);
        }
    }
    #[inline]
    fn advance_downlinks(&mut self, window: &mut Win<'_, '_, S>, couplings: &[i64]) -> bool {
        match self {
            NodeDevice::Switch(switch) => switch.advance_downlinks(window, couplings),
            NodeDevice::Host(_) | NodeDevice::Cioq(_) => false,
        }
    }
    #[inline]
    fn advance_coupled(&mut self, window: &mut Win<'_, '_, S>) -> Time {
        match self {
            NodeDevice::Switch(switch) => switch.advance_coupled(window),
            NodeDevice::Host(_) | NodeDevice::Cioq(_) => unreachable!("it is worked in one piece"),
        }
    }
    #[inline]
    fn advance_uplinks(&mut self, window: &mut Win<'_, '_, S>) -> Time {
        match self {
            NodeDevice::Switch(switch) => switch.advance_uplinks(window),
            NodeDevice::Host(_) | NodeDevice::Cioq(_) => unreachable!("it is worked in one piece"),
        }
    }
    fn prefetch(&self, arrivals: usize) {
        match self {
            NodeDevice::Host(host) => host.prefetch(),
            NodeDevice::Switch(switch) => switch.prefetch(arrivals),
            NodeDevice::Cioq(switch) => switch.prefetch(),
        }
    }
    #[inline]
    fn reorder_arrivals(&mut self, arrivals: &mut Arrivals<'_, '_, Packet<S>>) {
        match self {
            NodeDevice::Switch(switch) => switch.reorder_arrivals(arrivals),
            NodeDevice::Host(host) => host.reorder_arrivals(arrivals),
            // Of these the simulator has none.
            NodeDevice::Cioq(_) => {}
        }
    }
}

/// The headroom above Xoff with which a port never drops: all bytes that may still arrive when a
/// packet crosses the threshold. They are:
/// - that packet itself;
/// - what arrives while the pause frame waits for the packet on the wire, is sent and travels;
///   pause frames of the other priorities may go first;
/// - what the peer sends until the pause takes hold;
/// - the packet that it has just begun to send then;
/// - what is on the link at that time;
/// - what has arrived and is not handled yet: the switch has a latency for all but PFC frames.
fn headroom(end: &LinkEnd, setup: &Setup, max_data_or_ack: u32) -> u64 {
    let frames = u64::from(setup.pfc.lossless.count_ones()) * u64::from(setup.wire.pfc_bytes());
    let response = setup.pfc.timing.response.at(end.rate);
    let on_the_way = end.rate.bytes_in(end.delay * 2 + response + setup.switch.latency).get() + 1;
    3 * u64::from(max_data_or_ack) + frames + on_the_way
}

/// Probes by node: what they sample, and the targets with their index in the probe's list.
type ByNode = BTreeMap<u32, Vec<(ProbeClock, Vec<(u32, u32)>)>>;

fn probes_by_node(setup: &Setup, common: &NetworkContext) -> (ByNode, ByNode) {
    let (mut ports, mut flows) = (ByNode::new(), ByNode::new());
    for (number, probe) in setup.probes.iter().enumerate() {
        let clock = ProbeClock {
            probe: number as u32,
            kind: probe.kind,
            priority: probe.priority,
            interval: probe.interval,
            end: probe.end,
            next: probe.start,
            instant: 0,
        };
        let mut targets: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        let by_node = match &probe.targets {
            ProbeTargets::Ports(list) => {
                for (target, (node, port)) in list.iter().enumerate() {
                    let entry = targets.entry(node.get()).or_default();
                    entry.push((target as u32, u32::from(port.get())));
                }
                &mut ports
            }
            ProbeTargets::Flows(list) => {
                // What arrives is counted at the receiver, everything else at the sender.
                let at_receiver = is_counted_at_receiver(probe.kind);
                let at_switch = at_first_switch(probe.kind).is_some();
                for (target, flow) in list.iter().enumerate() {
                    let row = &common.flows[flow.index()];
                    let host = if at_receiver { row.dst } else { row.src };
                    let mut node = common.graph.hosts[host as usize];
                    if at_switch {
                        let (ends, hash) = ((row.src, row.dst), common.hash(row, false));
                        let port = common.select_port(node, ends, hash, 0);
                        node = common.graph.ports(node)[port.index()].peer;
                    }
                    targets.entry(node).or_default().push((target as u32, flow.get()));
                }
                if at_switch { &mut ports } else { &mut flows }
            }
        };
        for (node, list) in targets {
            by_node.entry(node).or_default().push((clock, list));
        }
    }
    (ports, flows)
}

/// Builds the nodes of a run.
pub(crate) fn devices<S: Scheme>(
    setup: &Setup,
    common: &Arc<RunContext<S>>,
) -> Result<Vec<NodeDevice<S>>, SetupError> {
    let graph = &common.graph;
    let (mut port_probes, mut flow_probes) = probes_by_node(setup, common);
    let mut outgoing: Vec<Vec<u32>> = vec![Vec::new(); graph.hosts.len()];
    let mut receiver_slots = vec![0; graph.hosts.len()];
    let mut incoming = vec![0; graph.hosts.len()];
    for (flow, row) in common.flows.iter().enumerate() {
        outgoing[row.src as usize].push(flow as u32);
        incoming[row.dst as usize] += 1;
        receiver_slots[row.dst as usize] =
            receiver_slots[row.dst as usize].max(row.receiver_slot + 1);
    }
    (0..graph.nodes() as u32)
        .map(|node| {
            cancel::check();
            let probes = PortProbes::new(port_probes.remove(&node).unwrap_or_default());
            let ports = graph.ports(node).iter().map(|end| port(setup, common, end)).collect();
            match graph.kinds[node as usize] {
                NodeKind::Host => {
                    let host = graph.host_of[node as usize];
                    let parts = HostParts {
                        index: host,
                        nics: Vec::into_iter(ports)
                            .map(|port| Nic::new(port, common.compat.qp_scan()))
                            .collect(),
                        state: S::host(&common.params, &host_facts(setup, common, node)),
                        spray: HostSpray::new(
                            setup.host.spray,
                            setup.host.entropies,
                            stream::seed(setup.seed, "spray", u64::from(node)),
                        ),
                        receivers: receiver_slots[host as usize],
                        incoming: incoming[host as usize],
                        outgoing: std::mem::take(&mut outgoing[host as usize]),
                        port_probes: probes,
                        flow_probes: FlowProbes::new(flow_probes.remove(&node).unwrap_or_default()),
                        recorder: Recorder::new(&setup.records, NodeId::new(node), 0),
                        losses: Losses::new(graph, node, setup.seed),
                        receive_buffer: receive_buffer(setup, node),
                        pause_clock: pause_clock(setup, graph.ports(node), false),
                    };
                    Ok(NodeDevice::Host(Host::new(Arc::clone(common), parts)))
                }
                NodeKind::Switch => switch(setup, common, node, ports, probes),
            }
        })
        .collect()
}

/// The times of pauses at a node's ports, if they have some.
fn pause_clock(setup: &Setup, ends: &[LinkEnd], watches: bool) -> Option<Box<PauseClock>> {
    PauseClock::new(&setup.pfc.timing, ends.iter().map(|end| end.rate), watches)
}

/// The receive buffer of a host, if its NIC passes data on slowly.
fn receive_buffer(setup: &Setup, node: u32) -> Option<Box<ReceiveBuffer>> {
    let slow = setup.slow_receivers.iter().find(|slow| slow.host.get() == node)?;
    Some(Box::new(ReceiveBuffer::new(*slow)))
}

fn host_facts(setup: &Setup, common: &NetworkContext, node: u32) -> HostFacts {
    HostFacts {
        node: NodeId::new(node),
        line_rate: host_rate(&common.graph, node, setup.host.ports),
        network_rtt: common.routes.network_rtt,
        wire: common.wire.facts,
        seed: stream::seed(setup.seed, "host", u64::from(node)),
    }
}

fn port(setup: &Setup, common: &NetworkContext, end: &LinkEnd) -> Port {
    let latency =
        if common.graph.is_host(end.peer) { setup.host.latency } else { setup.switch.latency };
    let mut port = Port::new(PortConfig {
        end,
        latency,
        pause_response: setup.pfc.timing.response,
        scheduler: Scheduler::new(setup.classes.strict, Arc::clone(&common.classes.quanta)),
        common_sizes: [u64::from(common.wire.full_packet), u64::from(common.wire.ack_size)],
        min_packet: common.wire.min_packet(),
        compat: common.compat,
    });
    for class in &common.classes.own {
        port.shape(class);
    }
    port
}

fn switch<S: Scheme>(
    setup: &Setup,
    common: &Arc<RunContext<S>>,
    node: u32,
    ports: Vec<Port>,
    probes: PortProbes,
) -> Result<NodeDevice<S>, SetupError> {
    let chassis = chassis(setup, common, node, ports, probes)?;
    Ok(match &setup.switch.cioq {
        Some(cioq) => NodeDevice::Cioq(Box::new(CioqSwitch::new(chassis, cioq))),
        None => {
            let losses = Losses::new(&common.graph, node, setup.seed);
            NodeDevice::Switch(Switch::new(chassis, losses))
        }
    })
}

/// Builds what every switch has, whatever its architecture.
fn chassis<S: Scheme>(
    setup: &Setup,
    common: &Arc<RunContext<S>>,
    node: u32,
    ports: Vec<Port>,
    probes: PortProbes,
) -> Result<Chassis<S>, SetupError> {
    let red = red(setup, node, common.graph.ports(node));
    let (graph, hosts) = (&common.graph, &common.host_locations);
    let (paths, port_use) = (common.paths.as_ref(), setup.host.ports);
    let place = Place { graph, hosts, node, paths, port_use };
    let router = Router::new(&setup.balance, common.ecmp.at(node), setup.seed, &place);
    let (cp, cp_ports, port_facts) = congestion_point(setup, common, node, &red)?;
    let draws = if red.iter().any(|red| red.draws_above().is_some()) {
        common.compat.mark_draws(common.graph.nodes(), setup.seed)
    } else {
        None
    };
    let mut chassis = Chassis {
        mmu: mmu(setup, common, node)?,
        red,
        draws,
        cp,
        cp_ports,
        port_facts,
        pause_clock: pause_clock(setup, common.graph.ports(node), true),
        effects: Vec::new(),
        views: Vec::new(),
        due: DepartureTimes::new(ports.len()),
        switch_row: common.routes.switch_row(node, 0),
        tags: common.has_tags,
        router,
        loads: Vec::new(),
        probes,
        recorder: Recorder::new(&setup.records, NodeId::new(node), ports.len()),
        lossless_drops: LosslessDrops::default(),
        audit: SwitchAudit::default(),
        generated_bytes: 0,
        common: Arc::clone(common),
        node,
        ports,
    };
    if chassis.is_strict() {
        let ports = chassis.ports.iter().enumerate();
        chassis.views = ports.map(|(number, port)| port.view_without_packet(number)).collect();
    }
    Ok(chassis)
}

/// RED for each port of a switch; empty if nothing is marked.
fn red(setup: &Setup, node: u32, ends: &[LinkEnd]) -> Vec<Red> {
    let Some(ecn) = &setup.ecn else { return Vec::new() };
    let ends = ends.iter().enumerate();
    ends.map(|(number, end)| {
        let entity = u64::from(node) << 16 | number as u64;
        let random = stream::stream(setup.seed, "red", entity);
        Red::new(ecn, &setup.class_settings, end.rate, random)
    })
    .collect()
}

/// The scheme's state of a switch, and of each of its ports, and what it may know of these.
type CongestionPoint<S> =
    (Option<<S as Scheme>::Cp>, Vec<<<S as Scheme>::Cp as Cp<S>>::Port>, Vec<PortFacts>);

fn congestion_point<S: Scheme>(
    setup: &Setup,
    common: &RunContext<S>,
    node: u32,
    red: &[Red],
) -> Result<CongestionPoint<S>, SetupError> {
    let (xoff, xon, resume_offset) = match setup.pfc.threshold {
        Threshold::Static { xoff, xon } => {
            let offsets = fixed_thresholds(&setup.pfc).map(|(xoff, xon)| xoff - xon);
            (xoff, xon, offsets.max().unwrap_or(xoff - xon))
        }
        Threshold::Dynamic { resume_offset, .. } => {
            (Bytes::UNLIMITED, Bytes::UNLIMITED, resume_offset)
        }
    };
    let ends = common.graph.ports(node).iter().enumerate();
    let ports: Vec<PortFacts> = ends
        .map(|(number, end)| PortFacts {
            port: PortId::new(number as u16),
            rate: end.rate,
            delay: end.delay,
            peer: NodeId::new(end.peer),
            peer_is_host: common.graph.is_host(end.peer),
            xoff,
            xon,
            resume_offset,
            kmin: red.get(number).map_or([Bytes::UNLIMITED; 8], Red::kmin),
            transit: common.link_time(end, common.wire.full_packet),
        })
        .collect();
    let facts = SwitchFacts {
        node: NodeId::new(node),
        tier: common.graph.tiers[node as usize],
        ports: &ports,
        hosts: &common.host_locations,
        network_rtt: common.routes.network_rtt,
        packet_bytes: Bytes::new(u64::from(common.wire.full_packet)),
        rates: &common.rates,
        seed: stream::seed(setup.seed, "switch", u64::from(node)),
    };
    let refused = |error| SetupError::SwitchParams { node: NodeId::new(node), error };
    S::check_switch(&common.params, &facts).map_err(refused)?;
    for (port, rate) in common.graph.rates_while_impaired(node) {
        let mut then = ports.clone();
        then[port].rate = rate;
        let facts = SwitchFacts { ports: &then, ..facts };
        S::check_switch(&common.params, &facts).map_err(refused)?;
    }
    let cp = S::congestion_point(&common.params, &facts);
    let cp_ports = match &cp {
        Some(cp) => ports.iter().map(|facts| cp.port(&common.params, facts)).collect(),
        None => Vec::new(),
    };
    let is_impaired = common.graph.ports(node).iter().any(|end| end.is_impaired);
    Ok((cp, cp_ports, if is_impaired { ports } else { Vec::new() }))
}

/// The buffer of a switch, with its limits and headroom.
fn mmu(setup: &Setup, common: &NetworkContext, node: u32) -> Result<Mmu, SetupError> {
    let ends = common.graph.ports(node);
    let headroom: Vec<u64> = ends
        .iter()
        .map(|end| match setup.pfc.headroom {
            _ if !end.pfc => 0,
            Headroom::Fixed(given) => given.get(),
            Headroom::Auto => headroom(end, setup, common.wire.max_data_or_ack),
            Headroom::CableBdp(times) => end.rate.bytes_in(end.delay).get() * u64::from(times),
        })
        .collect();
    let buffer = match &setup.switch.cioq {
        // Each input queue has a buffer of its own.
        Some(cioq) => {
            check_input_queues(setup, cioq, &headroom, NodeId::new(node))?;
            u64::MAX / 2
        }
        None => setup.nodes[node as usize].buffer.unwrap_or(setup.switch.buffer).get(),
    };
    let mut mmu = Mmu::new(MmuConfig {
        buffer,
        lossy_alpha: setup.switch.lossy_alpha,
        pfc: &setup.pfc,
        data_priorities: common.classes.data,
        headroom,
        rates: ends.iter().map(|end| end.rate).collect(),
        compat: common.compat,
    });
    for (number, _) in ends.iter().enumerate().filter(|(_, end)| !end.pfc) {
        mmu.disable_pfc(number);
    }
    let needed = mmu.reserved_bytes();
    if setup.pfc.lossless != 0 && needed >= buffer && !common.compat.headroom_may_exceed_buffer() {
        return Err(SetupError::BufferTooSmall { node: NodeId::new(node), needed });
    }
    Ok(mmu)
}

/// Xoff and Xon of the priorities that PFC protects, if thresholds are fixed.
fn fixed_thresholds(pfc: &PfcConfig) -> impl Iterator<Item = (Bytes, Bytes)> {
    pfc.lossless_priorities().filter_map(|priority| pfc.threshold_of(priority).fixed())
}

/// Refuses input queues of CIOQ switches that cannot hold Xoff and the headroom.
fn check_input_queues(
    setup: &Setup,
    cioq: &Cioq,
    headroom: &[u64],
    node: NodeId,
) -> Result<(), SetupError> {
    let xoff = fixed_thresholds(&setup.pfc).map(|(xoff, _)| xoff.get()).max().unwrap_or(0);
    let needed = headroom.iter().max().map_or(0, |headroom| headroom + xoff);
    if setup.pfc.lossless != 0 && needed > cioq.input_queue.get() {
        return Err(SetupError::InputQueueTooSmall { node, needed });
    }
    Ok(())
}
