//! What all nodes of a run know and none changes.

use crate::compat::Compat;
use crate::compat::clock::{Clock, transfer_time};
use crate::compat::murmur3::udp_word;
use crate::error::SetupError;
use crate::forwarding::EcmpHashes;
use crate::hooks::{ArrivalsOf, RequeueOf, SubQueuesOf};
use crate::network::flow::{FlowInfo, flow_rows};
use crate::network::graph::{Graph, LinkEnd};
use crate::network::host_locations;
use crate::network::ideal::{PacketBytes, completion_time};
use crate::network::partition::RackGroups;
use crate::network::setup::{ClassConfig, HostConfig, Paths, Setup};
use crate::packet::{Address, Body, Packet, PacketKind, Scheme, blank};
use crate::routing::hash::flow_hash;
use crate::routing::{HopCosts, Routes};
use schemes::contract::{
    ArrivalSlot, ClassSpec, Ctl, HostLocation, LinkRates, PathFacts, QueueLimit, RequeueSlot,
    SubQueueSlot, WireFacts,
};
use std::sync::Arc;
use units::{Bytes, NodeId, PortId, Rate, Time, cancel};

pub(crate) struct RunContext<S: Scheme> {
    pub(crate) params: S::Params,
    pub(crate) graph: Graph,
    pub(crate) groups: RackGroups,
    pub(crate) routes: Routes,
    pub(crate) ecmp: EcmpHashes,
    /// By index among the hosts.
    pub(crate) host_locations: Vec<HostLocation>,
    /// Those of all links.
    pub(crate) rates: LinkRates,
    pub(crate) flows: Vec<FlowInfo>,
    /// The priorities that have data, as a bit mask.
    pub(crate) data_priorities: u8,
    pub(crate) queue_limits: [QueueLimit; 8],
    /// The scheme's own traffic classes.
    pub(crate) own_classes: Vec<ClassSpec>,
    pub(crate) classes: ClassConfig,
    /// Theirs, for all ports.
    pub(crate) quanta: Arc<[u32; 8]>,
    pub(crate) host: HostConfig,
    pub(crate) switch_latency: Time,
    pub(crate) wire: wire::Profile,
    pub(crate) payload: u32,
    pub(crate) symmetric: bool,
    pub(crate) compat: Compat,
    /// What is certain to come out the same may be left out.
    pub(crate) fast_paths: bool,
    /// Where hosts queue ACKs, if not in the priority that they have on the wire.
    pub(crate) ack_queue: Option<u8>,
    pub(crate) clock: Clock,
    hop_costs: HopCosts,
    /// RED may mark data when it joins a queue, or when it leaves. Only data is ECN-capable.
    pub(crate) marks_at_enqueue: bool,
    pub(crate) marks_at_dequeue: bool,
    /// Wire bytes of a full data packet, an ACK, a PFC frame.
    pub(crate) full_packet: u32,
    /// Of data or ACKs none is longer: the first packet of a message says where its bytes go.
    pub(crate) max_data_or_ack: u32,
    pub(crate) wire_facts: WireFacts,
    pub(crate) ack_size: u16,
    pub(crate) pfc_bytes: u16,
    meta_bytes: u32,
    /// A data packet with nothing in it.
    pub(crate) blank: Packet<S>,
}

/// No packet but data and ACKs is larger, in bytes.
const MAX_CONTROL: u32 = 2_048;

impl<S: Scheme> RunContext<S> {
    pub(crate) fn new(setup: &Setup, params: S::Params) -> Result<RunContext<S>, SetupError> {
        let compat = Compat::new(setup.quirks);
        let graph = Graph::new(&setup.nodes, &setup.links, &setup.outages);
        let (data_meta, ack_meta) = S::meta_bytes(&params);
        let full_packet = setup.wire.data_bytes(setup.payload, false, data_meta);
        let ack_size = setup.wire.ack_bytes(ack_meta);
        let hop_costs = HopCosts {
            data: u64::from(full_packet),
            ack: u64::from(ack_size),
            payload_only: compat.has_one_way_rtt().then_some(u64::from(setup.payload)),
            host_latency: setup.host.latency,
            switch_latency: setup.switch.latency,
        };
        let routes = Routes::new(&graph, &hop_costs, &compat, setup.paths)?;
        let wire_facts = WireFacts {
            packet_bytes: Bytes::new(u64::from(full_packet)),
            ack_bytes: Bytes::new(u64::from(ack_size)),
            min_control_bytes: Bytes::new(u64::from(setup.wire.control_bytes(0))),
        };
        let mut queue_limits = [QueueLimit::Lossless; 8];
        let own_classes = if S::CLASSES { S::classes(&params, &wire_facts) } else { Vec::new() };
        for class in &own_classes {
            queue_limits[class.priority.index()] = class.limit;
        }
        Ok(RunContext {
            flows: flow_rows(&graph, setup),
            data_priorities: setup.messages.iter().fold(0, |all, one| all | 1 << one.priority),
            host_locations: host_locations::of_hosts(&graph),
            rates: LinkRates::new(graph.rates()),
            params,
            groups: RackGroups::new(&graph),
            ecmp: EcmpHashes::new(&graph, setup.seed, &compat, setup.paths),
            graph,
            routes,
            queue_limits,
            own_classes,
            classes: setup.classes,
            quanta: Arc::new(setup.classes.quanta),
            host: setup.host,
            switch_latency: setup.switch.latency,
            wire: setup.wire,
            payload: setup.payload,
            symmetric: setup.paths != Paths::FiveTuple || S::SYMMETRIC_PATHS,
            compat,
            fast_paths: !setup.reference_mode,
            ack_queue: compat.ack_queue(),
            clock: compat.clock(),
            hop_costs,
            marks_at_enqueue: setup.ecn.as_ref().is_some_and(|ecn| ecn.at_enqueue),
            marks_at_dequeue: setup.ecn.as_ref().is_some_and(|ecn| !ecn.at_enqueue),
            full_packet,
            max_data_or_ack: setup.wire.data_bytes(setup.payload, true, data_meta).max(ack_size),
            blank: Packet {
                header: blank(PacketKind::Data, Address::default(), 0, 0),
                body: Body::Meta(S::Meta::default()),
            },
            wire_facts,
            ack_size: ack_size as u16,
            pfc_bytes: setup.wire.pfc_bytes() as u16,
            meta_bytes: data_meta,
        })
    }

    /// Whether a message is between neighbours: hosts of a group with a hub.
    pub(crate) fn is_same_rack(&self, row: &FlowInfo) -> bool {
        let [src, dst] = [row.src, row.dst].map(|host| self.graph.hosts[host as usize]);
        self.groups.are_in_same_rack(src, dst)
    }

    /// The place of a host in its group.
    pub(crate) fn index_in_group(&self, host: u32) -> usize {
        self.groups.index(self.graph.hosts[host as usize])
    }

    /// No packet is larger, in bytes.
    #[inline]
    pub(crate) fn max_packet(&self) -> u64 {
        u64::from(self.max_data_or_ack.max(MAX_CONTROL))
    }

    /// Bytes of one of the scheme's control packets on the wire.
    pub(crate) fn control_size(&self, ctl: &S::Ctl) -> u16 {
        let bytes = self.wire.control_bytes(ctl.frame_bytes());
        assert!(bytes <= MAX_CONTROL, "a control packet of {bytes} B; allowed: {MAX_CONTROL}");
        bytes as u16
    }

    /// A drop-tail class that something else uses, too.
    pub(crate) fn class_in_use(&self, lossless: u8) -> Option<u8> {
        (0..8).find(|&priority| {
            self.queue_limits[priority as usize] != QueueLimit::Lossless
                && (lossless & 1 << priority != 0
                    || self.classes.ack == Some(priority)
                    || priority == self.classes.control
                    || self.flows.iter().any(|flow| flow.priority == priority))
        })
    }

    /// A class that nothing may go before, and something may.
    pub(crate) fn class_not_first(&self) -> Option<u8> {
        let acks = self.classes.ack.map_or(0, |priority| 1 << priority);
        let others = self.data_priorities | acks | 1 << self.classes.control;
        let firsts = self.own_classes.iter().filter(|class| class.first);
        firsts.map(|class| class.priority.get()).find(|&priority| {
            let is_strict = self.classes.strict & 1 << priority != 0;
            !is_strict || others >> priority != 0
        })
    }

    /// Whether the scheme needs no queues, holds or shapers in switches that CIOQ switches lack.
    pub(crate) fn fits_cioq(&self) -> bool {
        !(SubQueuesOf::<S>::ENABLED || RequeueOf::<S>::ENABLED || ArrivalsOf::<S>::HOLDS)
            && self.own_classes.is_empty()
    }

    /// Wire bytes of a data packet.
    #[inline]
    pub(crate) fn data_size(&self, payload: u32, first_of_message: bool) -> u16 {
        self.wire.data_bytes(payload, first_of_message, self.meta_bytes) as u16
    }

    /// Bytes on the wire of the smallest packet there is.
    pub(crate) fn min_packet(&self) -> u64 {
        let least = self.data_size(1, false).min(self.ack_size).min(self.pfc_bytes);
        self.wire_facts.min_control_bytes.get().min(u64::from(least))
    }

    /// Hash of a message's data packets, or of what goes back (`to_source`).
    pub(crate) fn hash(&self, flow: &FlowInfo, to_source: bool) -> u32 {
        if self.compat.hashes_with_murmur3() {
            return udp_word(flow.udp_ports, to_source);
        }
        flow_hash(flow.src, flow.dst, flow.qp, self.symmetric, to_source)
    }

    /// Hash of the packets that go from a QP's receiver to its sender.
    pub(crate) fn hash_back(&self, address: &Address) -> u32 {
        self.hash(&self.flows[address.flow as usize], true)
    }

    /// Two hosts whose data takes another path than its ACKs, if there are any.
    pub(crate) fn asymmetric_pair(&self) -> Option<(NodeId, NodeId)> {
        let row = self.flows.iter().find(|row| {
            cancel::check();
            let hashes = (self.hash(row, false), self.hash(row, true));
            let ends = (row.src, row.dst);
            let mut epochs = 0..self.graph.epochs();
            !epochs.all(|epoch| self.is_symmetric(ends, hashes, epoch))
        })?;
        let node = |host: u32| NodeId::new(self.graph.hosts[host as usize]);
        Some((node(row.src), node(row.dst)))
    }

    /// The port through which `node` sends what goes from one host to another (`ends`) with this hash.
    #[inline(always)]
    pub(crate) fn select_port(
        &self,
        node: u32,
        ends: (u32, u32),
        hash: u32,
        epoch: usize,
    ) -> PortId {
        self.ecmp.pick(node, self.routes.next_hops(node, ends.1, epoch), ends, hash)
    }

    /// Fills `path` with the links that packets of a hash take from one host to another in an epoch.
    pub(crate) fn path(&self, ends: (u32, u32), hash: u32, epoch: usize, path: &mut Vec<LinkEnd>) {
        self.routes.walk(&self.graph, ends, epoch, path, |node, next_hops| {
            self.ecmp.pick(node, next_hops, ends, hash)
        });
    }

    /// Whether packets between two hosts use the same links in both directions. `hashes`: of those
    /// from `src` to `dst`, and of those back.
    fn is_symmetric(&self, (src, dst): (u32, u32), hashes: (u32, u32), epoch: usize) -> bool {
        let (mut forward, mut backward) = (Vec::new(), Vec::new());
        self.path((src, dst), hashes.0, epoch, &mut forward);
        self.path((dst, src), hashes.1, epoch, &mut backward);
        // A link is identified by its end away from `src`.
        let away = forward.iter().map(|end| (end.peer, end.peer_port));
        away.eq(backward.iter().rev().map(|end| {
            let end = self.graph.ports(end.peer)[end.peer_port as usize];
            (end.peer, end.peer_port)
        }))
    }

    /// From the start of `bytes` at a port to their handling at the other end.
    pub(crate) fn link_time(&self, end: &LinkEnd, bytes: u32) -> Time {
        let latency =
            if self.graph.is_host(end.peer) { self.host.latency } else { self.switch_latency };
        end.rate.time_for(Bytes::new(u64::from(bytes))) + end.delay + latency
    }

    /// What a QP from host `src` to host `dst` with this hash has before it, if it is opened in this
    /// epoch.
    pub(crate) fn path_facts(&self, src: u32, dst: u32, hash: u32, epoch: usize) -> PathFacts {
        let mut path = Vec::with_capacity(8);
        if self.compat.has_one_way_rtt() {
            // The HPCC simulator works out round trips once, for each two hosts.
            self.routes.ns3_path(&self.graph, (src, dst), &mut path);
        } else {
            self.path((src, dst), hash, epoch, &mut path);
        }
        let line_rate = path.first().map_or(Rate::ZERO, |end| end.rate);
        PathFacts {
            line_rate,
            bottleneck_rate: path.iter().map(|end| end.rate).min().unwrap_or(Rate::ZERO),
            base_rtt: self.round_trip(&path),
            network_rtt: self.routes.network_rtt,
            network_bdp: match self.routes.network_bdp {
                Some(bdp) if self.compat.has_one_way_rtt() => bdp,
                _ => line_rate.bytes_in(self.routes.network_rtt),
            },
            switches: (path.len() - 1) as u32,
            payload: Bytes::new(u64::from(self.payload)),
            packet_bytes: Bytes::new(u64::from(self.full_packet)),
            rates: self.rates.clone(),
        }
    }

    /// Base round trip over these links. The way back takes as long whatever equal-cost path it
    /// takes, unless rates differ.
    pub(crate) fn round_trip(&self, path: &[LinkEnd]) -> Time {
        let back = |end: &LinkEnd| self.graph.ports(end.peer)[end.peer_port as usize];
        path.iter().map(|end| self.hop_costs.both(&self.graph, end, &back(end))).sum()
    }

    /// What each message would take alone, as plain RoCE: no INT, no control law, all links up.
    pub(crate) fn ideal_fcts(&self) -> Vec<Time> {
        let (mut forward, mut backward) = (Vec::new(), Vec::new());
        let ack = u64::from(self.wire.ack_bytes(0));
        let data =
            |payload: u64, first: bool| u64::from(self.wire.data_bytes(payload as u32, first, 0));
        self.flows
            .iter()
            .map(|row| {
                cancel::check();
                let (graph, routes) = (&self.graph, &self.routes);
                let payload = u64::from(self.payload);
                let count = row.size.div_ceil(payload);
                let bytes = PacketBytes {
                    count,
                    first: data(payload, true),
                    middle: data(payload, false),
                    last: data(row.size - (count - 1) * payload, count == 1),
                    ack,
                };
                if self.compat.has_one_way_rtt() {
                    routes.ns3_path(graph, (row.src, row.dst), &mut forward);
                    return self.one_way_ideal(&forward, &bytes);
                }
                self.path((row.src, row.dst), self.hash(row, false), 0, &mut forward);
                self.path((row.dst, row.src), self.hash(row, true), 0, &mut backward);
                completion_time(graph, &forward, &backward, &bytes, &self.host, self.switch_latency)
            })
            .collect()
    }

    /// A message that takes longer than times reach, even alone in the network.
    pub(crate) fn endless_message(&self) -> Option<u32> {
        let largest = self.flows.iter().map(|row| row.size).max()?;
        let slowest = self.graph.rates().min()?;
        // Its packets on the slowest link; other links and the way back take less than that again.
        let packets = largest.div_ceil(u64::from(self.payload));
        let all = slowest.time_for(Bytes::new(packets.saturating_mul(self.max_packet())));
        if all < Time::from_ps(Time::NEVER.ps() / 4) {
            return None;
        }
        let endless = self.ideal_fcts().iter().position(|&ideal| ideal == Time::NEVER)?;
        Some(endless as u32)
    }

    /// The HPCC simulator's: base round trip and all bytes at the slowest link's rate.
    fn one_way_ideal(&self, path: &[LinkEnd], bytes: &PacketBytes) -> Time {
        let total = u128::from((bytes.count - 1) * bytes.middle + bytes.last);
        let slowest = path.iter().map(|end| end.rate.bps()).min().unwrap_or(1).max(1);
        self.round_trip(path).saturating_add(transfer_time(total, slowest))
    }
}
