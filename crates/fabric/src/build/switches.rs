//! Builds switches of both kinds.

use super::{NodeDevice, pause_clock};
use crate::cioq::CioqSwitch;
use crate::context::{NetworkContext, RunContext};
use crate::error::SetupError;
use crate::forwarding::{Place, Router};
use crate::mmu::{Mmu, MmuConfig};
use crate::network::graph::LinkEnd;
use crate::network::setup::{Headroom, PfcConfig, Setup, Threshold};
use crate::observe::lossless_drops::LosslessDrops;
use crate::observe::probe::PortProbes;
use crate::observe::recorder::Recorder;
use crate::packet::Scheme;
use crate::port::Port;
use crate::port::losses::Losses;
use crate::port::red::Red;
use crate::stream;
use crate::switch::Switch;
use crate::switch::chassis::{Chassis, SwitchAudit};
use crate::switch::departure_times::DepartureTimes;
use model::{Balance, Cioq};
use schemes::contract::{Cp, PortFacts, SwitchFacts};
use std::sync::Arc;
use units::{Bytes, NodeId, PortId, Rate, Time};

/// Builds a switch.
pub(super) fn switch<S: Scheme>(
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
    let compat = common.compat;
    let place = Place { graph, hosts, node, paths, port_use, compat };
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
        pause_clock: pause_clock(setup, common.graph.ports(node), setup.pfc.timing.watchdog),
        effects: Vec::new(),
        views: Vec::new(),
        due: DepartureTimes::new(ports.len()),
        switch_row: common.routes.switch_row(node, 0),
        tags: common.has_tags,
        router,
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
    let ports = port_facts(setup, common, node, red);
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
    let orders = matches!(setup.balance, Balance::ConWeave(_))
        && common.host_locations.iter().any(|host| host.tor == facts.node);
    if orders && cp.as_ref().is_some_and(Cp::may_hold) {
        return Err(SetupError::HoldsBeforeOrder { node: facts.node });
    }
    let cp_ports = match &cp {
        Some(cp) => ports.iter().map(|facts| cp.port(&common.params, facts)).collect(),
        None => Vec::new(),
    };
    let is_impaired = common.graph.ports(node).iter().any(|end| end.is_impaired);
    Ok((cp, cp_ports, if is_impaired { ports } else { Vec::new() }))
}

/// What the scheme may know of each port of a switch.
fn port_facts(setup: &Setup, common: &NetworkContext, node: u32, red: &[Red]) -> Vec<PortFacts> {
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
    let facts = ends.map(|(number, end)| PortFacts {
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
    });
    facts.collect()
}

/// The buffer of a switch, with its limits and headroom.
fn mmu(setup: &Setup, common: &NetworkContext, node: u32) -> Result<Mmu, SetupError> {
    let ends = common.graph.ports(node);
    let headroom_of = |end: &LinkEnd| match setup.pfc.headroom {
        Headroom::Fixed(given) => given.get(),
        Headroom::Auto => {
            sufficient_headroom(setup, end.rate, end.delay, common.wire.max_packet).get()
        }
        Headroom::CableBdp(times, extra) => {
            end.rate.bytes_in(end.delay).get() * u64::from(times) + extra.get()
        }
    };
    let headroom: Vec<Option<u64>> =
        ends.iter().map(|end| end.pfc.then(|| headroom_of(end))).collect();
    let buffer = match &setup.switch.cioq {
        // Each input queue has a buffer of its own.
        Some(cioq) => {
            check_input_queues(setup, cioq, &headroom, NodeId::new(node))?;
            u64::MAX / 2
        }
        None => setup.nodes[node as usize].buffer.unwrap_or(setup.switch.buffer).get(),
    };
    let mmu = Mmu::new(MmuConfig {
        buffer,
        lossy_alpha: setup.switch.lossy_alpha,
        pfc: &setup.pfc,
        data_priorities: common.classes.data,
        headroom,
        rates: ends.iter().map(|end| end.rate).collect(),
        compat: common.compat,
    });
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
    headroom: &[Option<u64>],
    node: NodeId,
) -> Result<(), SetupError> {
    let xoff = fixed_thresholds(&setup.pfc).map(|(xoff, _)| xoff.get()).max().unwrap_or(0);
    let needed = headroom.iter().flatten().max().map_or(0, |headroom| headroom + xoff);
    if setup.pfc.lossless != 0 && needed > cioq.input_queue.get() {
        return Err(SetupError::InputQueueTooSmall { node, needed });
    }
    Ok(())
}

/// Returns the headroom above Xoff with which the port of a link with this rate and delay never
/// drops. `longest` is the size of the longest packet on the wire.
pub fn sufficient_headroom(setup: &Setup, rate: Rate, delay: Time, longest: Bytes) -> Bytes {
    let frames = u64::from(setup.pfc.lossless.count_ones()) * u64::from(setup.wire.pfc_bytes());
    setup.pfc.timing.still_arrives((rate, delay), setup.switch.latency, longest, frames)
}
