//! What all nodes of a run share and none changes.

mod classes;
pub(crate) mod path_facts;
pub(crate) mod recovery;
mod wire_sizes;

use self::classes::Classes;
use self::path_facts::host_rate;
use self::recovery::RecoveryPlan;
use self::wire_sizes::WireSizes;
use crate::compat::Compat;
use crate::compat::clock::Clock;
use crate::compat::murmur3::udp_word;
use crate::error::SetupError;
use crate::forwarding::{EcmpHashes, PathTable};
use crate::hooks::{ArrivalsOf, RequeueOf, SubQueuesOf};
use crate::network::flow::{FlowInfo, flow_rows};
use crate::network::graph::{Graph, LinkEnd};
use crate::network::host_locations;
use crate::network::joins::JoinTable;
use crate::network::partition::RackGroups;
use crate::network::setup::Setup;
use crate::packet::{Address, Packet, PacketKind, Scheme, blank};
use crate::routing::hash::flow_hash;
use crate::routing::{HopCosts, Routes};
use model::PortUse;
use model::{Balance, HostConfig, Paths, Spray};
use schemes::contract::{
    ArrivalSlot, ClassSpec, Ctl, HostLocation, LinkRates, RequeueSlot, SubQueueSlot,
};
use std::ops::Deref;
use std::sync::Arc;
use units::{MixSide, Time};

/// What all nodes of a run share.
pub(crate) struct RunContext<S: Scheme> {
    /// The scheme's parameters.
    pub(crate) params: S::Params,
    /// An empty data packet.
    pub(crate) blank: Packet<S>,
    network: NetworkContext,
}

impl<S: Scheme> Deref for RunContext<S> {
    type Target = NetworkContext;

    #[inline(always)]
    fn deref(&self) -> &NetworkContext {
        &self.network
    }
}

/// What all nodes of a run share, without the types of the scheme: what only needs this is compiled
/// once for all schemes. Built in four parts: sizes on the wire, traffic classes, routes, messages.
pub(crate) struct NetworkContext {
    pub(crate) wire: WireSizes,
    pub(crate) classes: Classes,
    pub(crate) graph: Graph,
    pub(crate) groups: RackGroups,
    pub(crate) routes: Routes,
    pub(crate) ecmp: EcmpHashes,
    hop_costs: HopCosts,
    /// By index among the hosts.
    pub(crate) host_locations: Vec<HostLocation>,
    /// The rates of all links.
    pub(crate) rates: LinkRates,
    pub(crate) flows: Vec<FlowInfo>,
    pub(crate) joins: JoinTable,
    pub(crate) host: HostConfig,
    pub(crate) recovery: RecoveryPlan,
    /// The priorities that PFC protects, as a bit mask.
    pub(crate) lossless: u8,
    /// Whether hosts may pause their links.
    pub(crate) hosts_pause: bool,
    pub(crate) switch_latency: Time,
    /// Whether senders note more of their packets than go-back-N needs.
    pub(crate) tracks_packets: bool,
    /// The paths between racks, if the forwarding policy numbers them.
    pub(crate) paths: Option<Arc<PathTable>>,
    /// Whether packets have tags, for the forwarding policy.
    pub(crate) has_tags: bool,
    /// Whether switches remember the path of a flow, and move it to another one.
    pub(crate) moves_flows: bool,
    /// Whether the data of a QP takes several paths.
    pub(crate) spreads_data: bool,
    /// Whether it does so at switches, and not only at the ports of its host.
    spreads_at_switches: bool,
    /// The number of spanning trees, if paths are theirs.
    trees: Option<u32>,
    /// Whether both directions of a QP have the same hash.
    symmetric: bool,
    pub(crate) compat: Compat,
    pub(crate) clock: Clock,
    /// Enables the fast paths. They change no result; the reference engine runs without them.
    pub(crate) fast_paths: bool,
    /// Whether RED marks data when it joins a queue. Only data is ECN-capable.
    pub(crate) marks_at_enqueue: bool,
    /// Whether RED marks data when it leaves a queue.
    pub(crate) marks_at_dequeue: bool,
}

impl<S: Scheme> RunContext<S> {
    pub(crate) fn new(setup: &Setup, params: S::Params) -> Result<RunContext<S>, SetupError> {
        let meta = MixSide::ALL.map(|side| S::meta_bytes_of_side(&params, side));
        let wire = WireSizes::new(setup, meta, S::Ctl::MAX_FRAME_BYTES);
        let own = S::CLASSES.map_or(Vec::new(), |classes| classes(&params, &wire.facts));
        let network = NetworkContext::new(setup, wire, own, S::NEEDS.symmetric_paths)?;
        let blank = blank(PacketKind::Data, Address::default(), 0, 0);
        Ok(RunContext { params, blank: Packet::with_meta(blank, S::Meta::default()), network })
    }

    /// Which scheme the QP of a message has.
    #[inline(always)]
    pub(crate) fn side(&self, flow: u32) -> MixSide {
        if S::IS_MIX { self.flows[flow as usize].side } else { MixSide::First }
    }

    /// Bytes of one of the scheme's control packets on the wire.
    pub(crate) fn control_size(&self, ctl: &S::Ctl) -> u16 {
        self.wire.control_size(ctl.frame_bytes())
    }

    /// Whether CIOQ switches have all queues, holds and shapers that the scheme needs.
    pub(crate) fn fits_cioq(&self) -> bool {
        !(SubQueuesOf::<S>::ENABLED || RequeueOf::<S>::ENABLED || ArrivalsOf::<S>::HOLDS)
            && self.classes.own.is_empty()
    }
}

impl NetworkContext {
    /// `own`: the classes of the scheme's own packets.
    fn new(
        setup: &Setup,
        wire: WireSizes,
        own: Vec<ClassSpec>,
        needs_symmetric_paths: bool,
    ) -> Result<NetworkContext, SetupError> {
        let compat = Compat::new(setup.quirks);
        let classes = Classes::new(setup, &compat, own);
        let graph = Graph::new(&setup.nodes, &setup.links, &setup.outages, &setup.impairments);
        let hop_costs = HopCosts {
            data: u64::from(wire.full_packet),
            ack: u64::from(wire.ack_size),
            payload_only: compat.has_one_way_rtt().then_some(u64::from(setup.payload)),
            host_latency: setup.host.latency,
            switch_latency: setup.switch.latency,
        };
        let mut routes = Routes::new(&graph, &hop_costs, &compat, setup.paths)?;
        if setup.host.ports == PortUse::Spray {
            let ports = graph.hosts.iter().map(|&host| graph.ports(host).len() as u64).max();
            routes.multiply_bdp(ports.unwrap_or(1));
        }
        let ecmp = EcmpHashes::new(&graph, setup.seed, &compat, setup.paths);

        let mut flows = flow_rows(&graph, setup);
        let joins = JoinTable::new(setup, &mut flows, graph.hosts.len());
        let line_rates = graph.hosts.iter().map(|&host| host_rate(&graph, host, setup.host.ports));
        let line_rate = line_rates.max().unwrap_or_default();
        let HostConfig { recovery, retransmit_timeout, .. } = setup.host;
        let recovery = RecoveryPlan::new(
            &recovery,
            &compat,
            retransmit_timeout,
            &wire,
            &routes,
            line_rate,
            &flows,
        );

        let locations = host_locations::of_hosts(&graph);
        let spreads_at_switches = setup.balance != Balance::Ecmp || setup.host.spray != Spray::Off;
        let mut context = NetworkContext {
            wire,
            classes,
            groups: RackGroups::new(&graph),
            host_locations: locations,
            paths: None,
            rates: LinkRates::new(graph.rates()),
            graph,
            routes,
            ecmp,
            hop_costs,
            flows,
            joins,
            host: setup.host,
            switch_latency: setup.switch.latency,
            lossless: setup.pfc.lossless,
            hosts_pause: !setup.slow_receivers.is_empty(),
            tracks_packets: recovery.keeps_out_of_order
                || recovery.max_in_flight.is_limited()
                || setup.host.spray != Spray::Off,
            trees: match setup.paths {
                Paths::SpanningTrees(trees) => Some(trees),
                Paths::FiveTuple | Paths::Symmetric => None,
            },
            has_tags: setup.balance.has_tags(),
            moves_flows: setup.balance.moves_flows(),
            spreads_data: spreads_at_switches || setup.host.ports == PortUse::Spray,
            spreads_at_switches,
            symmetric: setup.paths != Paths::FiveTuple || needs_symmetric_paths,
            recovery,
            clock: compat.clock(),
            compat,
            fast_paths: !setup.reference_mode,
            marks_at_enqueue: setup.ecn.as_ref().is_some_and(|ecn| ecn.at_enqueue),
            marks_at_dequeue: setup.ecn.as_ref().is_some_and(|ecn| !ecn.at_enqueue),
        };
        if let Balance::ConWeave(_) = setup.balance {
            let sizes = [context.wire.full_packet, u32::from(context.wire.pfc_size)];
            let times = |end: &LinkEnd| sizes.map(|bytes| context.link_time(end, bytes));
            let (graph, hosts) = (&context.graph, &context.host_locations);
            context.paths = Some(Arc::new(PathTable::new(graph, &context.routes, hosts, times)?));
        }
        Ok(context)
    }

    /// Whether a message is between hosts of one rack, whose switch is the hub of their group.
    #[inline]
    pub(crate) fn is_same_rack(&self, row: &FlowInfo) -> bool {
        let [src, dst] = [row.src, row.dst].map(|host| self.graph.hosts[host as usize]);
        self.groups.are_in_same_rack(src, dst)
    }

    /// The index of a host in its group.
    #[inline]
    pub(crate) fn index_in_group(&self, host: u32) -> usize {
        self.groups.index(self.graph.hosts[host as usize])
    }

    /// The hash of a message's data packets.
    #[inline]
    pub(crate) fn data_hash(&self, flow: &FlowInfo) -> u32 {
        self.hash(flow, false)
    }

    /// The hash of the ACKs and control packets back to the sender of a message.
    #[inline]
    pub(crate) fn ack_hash(&self, flow: &FlowInfo) -> u32 {
        self.hash(flow, true)
    }

    #[inline]
    fn hash(&self, flow: &FlowInfo, to_source: bool) -> u32 {
        if self.compat.hashes_with_murmur3() {
            return udp_word(flow.udp_ports, to_source);
        }
        flow_hash(flow.src, flow.dst, flow.qp, self.symmetric, to_source)
    }

    /// The hash of the packets from a QP's receiver to its sender.
    #[inline]
    pub(crate) fn hash_back(&self, address: &Address) -> u32 {
        self.ack_hash(&self.flows[address.flow as usize])
    }
}
