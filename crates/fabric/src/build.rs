//! Builds the nodes of a run from its description.

mod probes;
mod room;
mod switches;

use self::probes::probes_by_node;
use self::room::check_room;
pub use self::switches::sufficient_headroom;
use self::switches::switch;
use crate::cioq::CioqSwitch;
use crate::compat::Compat;
use crate::context::path_facts::host_rate;
use crate::context::{NetworkContext, RunContext};
use crate::error::SetupError;
use crate::host::nic::Nic;
use crate::host::receive_buffer::ReceiveBuffer;
use crate::host::spray::HostSpray;
use crate::host::{Host, HostParts};
use crate::network::graph::LinkEnd;
use crate::network::setup::Setup;
use crate::observe::probe::{FlowProbes, PortProbes};
use crate::observe::recorder::Recorder;
use crate::observe::spill::Batch;
use crate::packet::{Packet, Scheme, Win};
use crate::port::losses::Losses;
use crate::port::pause_clock::PauseClock;
use crate::port::scheduler::Scheduler;
use crate::port::{Port, PortConfig};
use crate::stream;
use crate::switch::Switch;
use engine::{Arrivals, Bucketing, Device};
use model::{NodeKind, SlowReceiver, Watchdog};
use schemes::contract::HostFacts;
use std::sync::Arc;
use units::{NodeId, Time, cancel};

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
    #[inline(always)]
    fn advance(&mut self, window: &mut Win<'_, '_, S>) -> Time {
        match self {
            NodeDevice::Host(host) => host.advance(window),
            NodeDevice::Switch(switch) => switch.advance(window),
            NodeDevice::Cioq(switch) => switch.advance(window),
        }
    }
    #[inline]
    fn wants_buckets(&self, arrivals: usize) -> Bucketing {
        match self {
            NodeDevice::Switch(switch) => switch.wants_buckets(arrivals),
            NodeDevice::Host(_) | NodeDevice::Cioq(_) => Bucketing::None,
        }
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
    let mut awaited = common.joins.awaited(graph.hosts.len());
    let mut slow_times: Vec<Vec<SlowReceiver>> = vec![Vec::new(); graph.hosts.len()];
    for slow in &setup.slow_receivers {
        slow_times[graph.host_of[slow.host.index()] as usize].push(*slow);
    }
    let mut devices = Vec::with_capacity(graph.nodes());
    for node in 0..graph.nodes() as u32 {
        cancel::check();
        let probes = PortProbes::new(port_probes.remove(&node).unwrap_or_default());
        let ports = ports(setup, common, node);
        if graph.kinds[node as usize] == NodeKind::Switch {
            devices.push(switch(setup, common, node, ports, probes)?);
            continue;
        }
        let host = graph.host_of[node as usize] as usize;
        let parts = HostParts {
            index: host as u32,
            nics: nics(ports, &common.compat),
            state: S::host(&common.params, &host_facts(setup, common, node)),
            spray: HostSpray::new(
                setup.host.spray,
                setup.host.entropies,
                stream::seed(setup.seed, "spray", u64::from(node)),
            ),
            receivers: receiver_slots[host],
            incoming: incoming[host],
            outgoing: std::mem::take(&mut outgoing[host]),
            awaited: std::mem::take(&mut awaited[host]),
            port_probes: probes,
            flow_probes: FlowProbes::new(flow_probes.remove(&node).unwrap_or_default()),
            recorder: Recorder::new(&setup.records, NodeId::new(node), 0),
            losses: Losses::new(graph, node, setup.seed),
            receive_buffer: ReceiveBuffer::new(std::mem::take(&mut slow_times[host])).map(Box::new),
            pause_clock: pause_clock(setup, graph.ports(node), None),
        };
        devices.push(NodeDevice::Host(Host::new(Arc::clone(common), parts)));
    }
    check_room(common, &mut devices)?;
    Ok(devices)
}

/// The ports of a node.
fn ports(setup: &Setup, common: &NetworkContext, node: u32) -> Vec<Port> {
    common.graph.ports(node).iter().map(|end| port(setup, common, end)).collect()
}

/// The NICs of a host, one for each of its ports.
fn nics(ports: Vec<Port>, compat: &Compat) -> Vec<Nic> {
    ports.into_iter().map(|port| Nic::new(port, compat.qp_scan())).collect()
}

/// Returns the times of pauses at a node's ports, if they have some. Hosts have no `watchdog`.
fn pause_clock(
    setup: &Setup,
    ends: &[LinkEnd],
    watchdog: Option<Watchdog>,
) -> Option<Box<PauseClock>> {
    PauseClock::new(setup.pfc.timing.expiry, watchdog, ends.iter().map(|end| end.rate))
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
        compat: common.compat,
    });
    for class in &common.classes.own {
        port.shape(class);
    }
    port
}
