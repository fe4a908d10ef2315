//! What the messages of a run ask of the network, computed without running it.

mod buffer_cycle;
mod hops;

pub use hops::Hop;

use crate::build::NodeDevice;
use crate::context::NetworkContext;
use crate::context::path_facts::WayFacts;
use crate::mmu::Mmu;
use crate::network::flow::FlowInfo;
use crate::network::graph::LinkEnd;
use crate::packet::Scheme;
use crate::simulation::Simulation;
use buffer_cycle::Dependencies;
use units::{Bytes, NodeId, PortId, Rate, Time, cancel};

/// The path of a message, with all links up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedPath {
    /// The number of switches on it.
    pub switches: u32,
    /// The lowest rate of its links.
    pub bottleneck: Rate,
    /// The time of a full packet to the receiver and of its ACK back.
    pub base_rtt: Time,
    /// The ideal completion time of the message: alone, as plain RoCE.
    pub ideal: Time,
}

/// What the messages of a run ask of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortLoad {
    /// The node of the port.
    pub node: NodeId,
    /// The number of the port at its node.
    pub port: PortId,
    /// The node at the other end.
    pub peer: NodeId,
    /// The rate of the port.
    pub rate: Rate,
    /// The number of messages whose data leaves through it.
    pub messages: u32,
    /// The bytes of their data on the wire.
    pub data_bytes: u64,
    /// The bytes on the wire of ACKs that leave through it.
    pub ack_bytes: u64,
}

impl PortLoad {
    /// Returns the time that the port takes to send all of them.
    pub fn busy_time(&self) -> Time {
        self.rate.time_for(Bytes::new(self.data_bytes + self.ack_bytes))
    }
}

/// The buffer of a switch with shared memory, and what PFC needs of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchBuffer {
    /// The switch.
    pub node: NodeId,
    /// The size of the buffer.
    pub buffer: Bytes,
    /// What is kept for headroom and reserves of all ports and lossless priorities. It may exceed
    /// the buffer under a quirk of the HPCC simulator.
    pub reserved: Bytes,
    /// The largest headroom of a port for one lossless priority.
    pub max_headroom: Bytes,
    /// The number of ingresses, each a port and a priority, that PFC protects.
    pub lossless_ingresses: u32,
    /// By priority, the smallest number of bytes at which an ingress pauses its peer while nothing
    /// else is stored. `None` if none ever does.
    pub pause_thresholds: [Option<Bytes>; 8],
    /// Whether thresholds are fixed. Otherwise they fall as the buffer fills.
    pub is_fixed: bool,
}

impl SwitchBuffer {
    fn of(node: NodeId, mmu: &Mmu) -> SwitchBuffer {
        let headroom = mmu.headroom_bytes();
        let threshold = |priority: usize| {
            let of_port = |port| mmu.pause_threshold(port, priority as u8);
            (0..headroom.len() as u16).filter_map(of_port).min().map(Bytes::new)
        };
        SwitchBuffer {
            node,
            buffer: Bytes::new(mmu.buffer_bytes()),
            reserved: Bytes::new(mmu.reserved_bytes()),
            max_headroom: Bytes::new(headroom.iter().copied().max().unwrap_or(0)),
            lossless_ingresses: mmu.lossless_ingresses() as u32,
            pause_thresholds: std::array::from_fn(threshold),
            is_fixed: mmu.has_fixed_threshold(),
        }
    }

    /// Returns the bytes that all ingresses together may store before each has paused its peer,
    /// with what headroom and reserves keep. `None` if a dynamic threshold keeps the sum below the
    /// buffer, or if none ever pauses.
    pub fn needed(&self) -> Option<Bytes> {
        let thresholds = || self.pause_thresholds.iter().flatten();
        let priorities = thresholds().count() as u32;
        if !self.is_fixed || priorities == 0 {
            return None;
        }
        // A link has PFC in all of these priorities, or in none.
        let ports = u64::from(self.lossless_ingresses / priorities);
        let all = thresholds().try_fold(0u64, |sum, bytes| sum.checked_add(bytes.get()))?;
        Some(Bytes::new(all.checked_mul(ports)?.checked_add(self.reserved.get())?))
    }
}

/// A circle of links of which each may be paused because the next one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferCycle {
    /// The priority of the packets.
    pub priority: u8,
    /// The nodes at the sending ends of the links, in the order of the circle.
    pub nodes: Vec<NodeId>,
}

/// What the messages of a setup ask of its network, if all of them arrive and nothing is sent
/// twice. Paths are those of ECMP or of the spanning trees while all links work. Where switches
/// spread packets, or hash a value that differs from packet to packet, each next hop gets an equal
/// share, and so does each port of a host over which packets take turns. A scheme that reroutes may
/// use others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The path of each message.
    pub paths: Vec<PlannedPath>,
    /// All ports, by node and then port.
    pub ports: Vec<PortLoad>,
    /// The buffers of all switches with shared memory, by node.
    pub buffers: Vec<SwitchBuffer>,
    /// A cyclic buffer dependency of the paths, if there is one: PFC could then deadlock.
    pub cycle: Option<BufferCycle>,
    /// How many packets all ports together would send: data packets and ACKs.
    pub packet_hops: u64,
    /// For how long nodes, or racks where the cables of hosts are short, are advanced on their own.
    pub window: Time,
    /// The largest base round trip of any pair of hosts.
    pub network_rtt: Time,
    /// The largest product of base round trip and lowest rate of any pair, if paths are shortest.
    pub network_bdp: Option<Bytes>,
    /// The size of the longest packet on the wire.
    pub longest_packet: Bytes,
}

impl<S: Scheme> Simulation<S> {
    /// Computes what the messages ask of the network.
    pub fn plan(&self) -> Plan {
        self.common.plan(self.buffers())
    }

    /// Returns the buffers of all switches with shared memory.
    fn buffers(&self) -> Vec<SwitchBuffer> {
        let mut buffers = Vec::new();
        for (node, device) in self.devices.iter().enumerate() {
            match device {
                NodeDevice::Switch(switch) => {
                    buffers.push(SwitchBuffer::of(NodeId::new(node as u32), &switch.chassis.mmu));
                }
                NodeDevice::Host(_) | NodeDevice::Cioq(_) => {}
            }
        }
        buffers
    }
}

impl NetworkContext {
    /// `buffers`: those of all switches with shared memory.
    fn plan(&self, buffers: Vec<SwitchBuffer>) -> Plan {
        let mut planner = Planner::new(self);
        let flows = self.flows.iter().zip(self.ideal_fcts());
        let paths = flows.map(|(flow, ideal)| {
            cancel::check();
            planner.add_acks(flow);
            let links = planner.add_data(flow);
            planner.planned_path(flow, links, ideal)
        });
        let paths = paths.collect();
        let Planner { mut ports, shares, ack_shares, packet_hops, depends, .. } = planner;
        for (port, (data, acks)) in ports.iter_mut().zip(shares.into_iter().zip(ack_shares)) {
            port.data_bytes += data.round() as u64;
            port.ack_bytes = acks.round() as u64;
        }
        let cycle = depends.iter().zip(0..).find_map(|(depends, priority)| {
            let nodes = depends.circle()?.iter().map(|&link| ports[link as usize].node).collect();
            Some(BufferCycle { priority, nodes })
        });
        Plan {
            paths,
            ports,
            buffers,
            cycle,
            packet_hops,
            window: self.groups.lookahead(&self.graph),
            network_rtt: self.routes.network_rtt,
            network_bdp: self.routes.network_bdp,
            longest_packet: self.wire.max_packet,
        }
    }
}

/// Adds up what messages ask of ports.
struct Planner<'a> {
    common: &'a NetworkContext,
    ports: Vec<PortLoad>,
    /// By node, the index in `ports` of its first port.
    first_port: Vec<usize>,
    /// By port: bytes of data that is spread over paths.
    shares: Vec<f64>,
    /// By port: bytes of ACKs.
    ack_shares: Vec<f64>,
    packet_hops: u64,
    /// By priority: which links may be paused because of which.
    depends: [Dependencies; 8],
    /// The path that was looked at last.
    path: Vec<LinkEnd>,
}

impl<'a> Planner<'a> {
    fn new(common: &'a NetworkContext) -> Planner<'a> {
        let graph = &common.graph;
        let mut first_port = Vec::with_capacity(graph.nodes());
        let mut ports = Vec::new();
        for node in 0..graph.nodes() as u32 {
            first_port.push(ports.len());
            ports.extend(graph.ports(node).iter().enumerate().map(|(port, end)| PortLoad {
                node: NodeId::new(node),
                port: PortId::new(port as u16),
                peer: NodeId::new(end.peer),
                rate: end.rate,
                messages: 0,
                data_bytes: 0,
                ack_bytes: 0,
            }));
        }
        Planner {
            common,
            shares: vec![0.0; ports.len()],
            ack_shares: vec![0.0; ports.len()],
            ports,
            first_port,
            packet_hops: 0,
            depends: Default::default(),
            path: Vec::new(),
        }
    }

    /// Returns the near end of a link, found by its far end.
    fn near(&self, end: &LinkEnd) -> LinkEnd {
        self.common.graph.ports(end.peer)[end.peer_port as usize]
    }

    /// Returns the index in `ports` of the port that sends over a link, found by its far end.
    fn port_index(&self, end: &LinkEnd) -> usize {
        let near = self.near(end);
        self.first_port[near.peer as usize] + near.peer_port as usize
    }

    /// Notes that a link may be paused because of the next one.
    fn note(&mut self, link: &LinkEnd, next: &LinkEnd, priority: u8) {
        if self.common.lossless & 1 << priority != 0 && link.pfc && next.pfc {
            let (link, next) = (self.port_index(link) as u32, self.port_index(next) as u32);
            self.depends[usize::from(priority)].add(link, next);
        }
    }

    /// Notes that each link of `path` may be paused because of the next one.
    fn note_path(&mut self, path: &[LinkEnd], priority: u8) {
        path.windows(2).for_each(|pair| self.note(&pair[0], &pair[1], priority));
    }

    /// Returns the number of packets of a message.
    fn packets(&self, flow: &FlowInfo) -> u64 {
        flow.size.div_ceil(u64::from(self.common.wire.payload))
    }

    /// Bytes of all data packets of a message on the wire.
    fn data_bytes(&self, flow: &FlowInfo) -> u64 {
        let payload = u64::from(self.common.wire.payload);
        let packets = self.packets(flow);
        let last = flow.size - (packets - 1) * payload;
        let size = |payload: u64, first| {
            u64::from(self.common.wire.data_size(payload as u32, first, flow.side))
        };
        match packets {
            1 => size(last, true),
            more => size(payload, true) + (more - 2) * size(payload, false) + size(last, false),
        }
    }

    /// Adds the ACKs of a message.
    fn add_acks(&mut self, flow: &FlowInfo) {
        let common = self.common;
        let acks = self.packets(flow).div_ceil(u64::from(common.host.ack_every));
        let bytes = (acks * u64::from(common.wire.ack_size_of(flow.side))) as f64;
        let priority = common.classes.config.ack.unwrap_or(flow.priority);
        let hashes = (common.data_hash(flow), common.ack_hash(flow));
        let mut links = 0;
        common.ack_paths((flow.src, flow.dst), hashes, 0, &mut |path, share| {
            self.note_path(path, priority);
            for end in path {
                let index = self.port_index(end);
                self.ack_shares[index] += bytes * share;
            }
            links = path.len();
        });
        // All paths are as long.
        self.packet_hops += acks * links as u64;
    }

    /// Adds the data of a message. Returns the number of links of its path.
    fn add_data(&mut self, flow: &FlowInfo) -> usize {
        let common = self.common;
        let mut path = std::mem::take(&mut self.path);
        let (ends, hash) = ((flow.src, flow.dst), common.data_hash(flow));
        common.path(ends, hash, 0, &mut path);
        self.packet_hops += self.packets(flow) * path.len() as u64;
        let bytes = self.data_bytes(flow);
        if common.spreads_data {
            self.add_spread_data(flow, hash, bytes);
        } else {
            for end in &path {
                let index = self.port_index(end);
                let port = &mut self.ports[index];
                port.messages += 1;
                port.data_bytes += bytes;
            }
            self.note_path(&path, flow.priority);
        }
        let links = path.len();
        self.path = path;
        links
    }

    /// Adds the data of a message that may take any of the shortest paths.
    fn add_spread_data(&mut self, flow: &FlowInfo, hash: u32, bytes: u64) {
        let mut links = Vec::new();
        self.common.shares((flow.src, flow.dst), hash, 0, &mut |link, share| {
            let near = self.common.graph.ports(link.peer)[link.peer_port as usize];
            let index = self.first_port[near.peer as usize] + near.peer_port as usize;
            self.shares[index] += bytes as f64 * share;
            links.push(*link);
        });
        links.sort_unstable_by_key(|link| self.port_index(link));
        links.dedup_by_key(|link| self.port_index(link));
        for link in &links {
            let index = self.port_index(link);
            self.ports[index].messages += 1;
            for next in &links {
                if self.near(next).peer == link.peer {
                    self.note(link, next, flow.priority);
                }
            }
        }
    }

    /// Returns what is planned of a message over a path with `links`.
    fn planned_path(&mut self, flow: &FlowInfo, links: usize, ideal: Time) -> PlannedPath {
        let switches = links as u32 - 1;
        let hash = self.common.data_hash(flow);
        let ends = (flow.src, flow.dst);
        let WayFacts { bottleneck, base_rtt, .. } =
            self.common.way_facts(ends, hash, 0, &mut self.path);
        PlannedPath { switches, bottleneck, base_rtt, ideal }
    }
}
