//! What the messages of a run ask of the network, computed without running it.

mod buffer_cycle;
mod hops;

pub use hops::Hop;

use crate::build::NodeDevice;
use crate::context::NetworkContext;
use crate::context::path_facts::WayFacts;
use crate::mmu::Mmu;
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
    /// The time that the port takes to send all of them.
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

    /// The bytes that all ingresses together may store before each has paused its peer, with what
    /// headroom and reserves keep. `None` if a dynamic threshold keeps the sum below the buffer,
    /// or if none ever pauses.
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
/// twice. Paths are those of ECMP or of the spanning trees while all links work. Where switches or
/// hosts spread packets, each next hop gets an equal share. A scheme that reroutes may use others.
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
}

impl<S: Scheme> Simulation<S> {
    /// Computes what the messages ask of the network.
    pub fn plan(&self) -> Plan {
        self.common.plan(self.buffers())
    }

    /// The buffers of all switches with shared memory.
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
        let (common, graph) = (self, &self.graph);
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
        // The near end of a link, found by its far end; and the index in `ports` of its port.
        let near = |end: &LinkEnd| graph.ports(end.peer)[end.peer_port as usize];
        let place = |end: &LinkEnd| {
            let here = near(end);
            first_port[here.peer as usize] + here.peer_port as usize
        };
        let ideals = common.ideal_fcts();
        let payload = u64::from(common.wire.payload);
        let mut path = Vec::new();
        // By port: bytes of data, where that is spread over paths.
        let mut shares = vec![0.0f64; ports.len()];
        let mut packet_hops = 0;
        let mut depends: [Dependencies; 8] = Default::default();
        // Notes that a link may be paused because of the next one.
        let mut note = |link: &LinkEnd, next: &LinkEnd, priority: u8| {
            if common.lossless & 1 << priority != 0 && link.pfc && next.pfc {
                depends[usize::from(priority)].add(place(link) as u32, place(next) as u32);
            }
        };
        let paths: Vec<PlannedPath> = common
            .flows
            .iter()
            .zip(ideals)
            .map(|(flow, ideal)| {
                cancel::check();
                let packets = flow.size.div_ceil(payload);
                let last = flow.size - (packets - 1) * payload;
                let size = |payload: u64, first| {
                    u64::from(common.wire.data_size(payload as u32, first, flow.law))
                };
                let data = match packets {
                    1 => size(last, true),
                    more => {
                        size(payload, true) + (more - 2) * size(payload, false) + size(last, false)
                    }
                };
                let acks = packets.div_ceil(u64::from(common.host.ack_every));
                let back = (flow.dst, flow.src);
                common.path(back, common.hash(flow, true), 0, &mut path);
                let ack_priority = common.classes.config.ack.unwrap_or(flow.priority);
                path.windows(2).for_each(|pair| note(&pair[0], &pair[1], ack_priority));
                packet_hops += acks * path.len() as u64;
                for end in &path {
                    ports[place(end)].ack_bytes +=
                        acks * u64::from(common.wire.ack_size_of(flow.law));
                }
                let there = (flow.src, flow.dst);
                common.path(there, common.hash(flow, false), 0, &mut path);
                packet_hops += packets * path.len() as u64;
                if common.spreads_data {
                    let (mut links, hash) = (Vec::new(), common.hash(flow, false));
                    common.shares(there, hash, 0, &mut |link, share| {
                        shares[place(link)] += data as f64 * share;
                        links.push(*link);
                    });
                    links.sort_unstable_by_key(place);
                    links.dedup_by_key(|link| place(link));
                    for link in &links {
                        ports[place(link)].messages += 1;
                        let follow = links.iter().filter(|next| near(next).peer == link.peer);
                        follow.for_each(|next| note(link, next, flow.priority));
                    }
                } else {
                    for end in &path {
                        let port = &mut ports[place(end)];
                        port.messages += 1;
                        port.data_bytes += data;
                    }
                    path.windows(2).for_each(|pair| note(&pair[0], &pair[1], flow.priority));
                }
                let switches = (path.len() - 1) as u32;
                let hash = common.hash(flow, false);
                let WayFacts { bottleneck, base_rtt, .. } =
                    common.way_facts(there, hash, 0, &mut path);
                PlannedPath { switches, bottleneck, base_rtt, ideal }
            })
            .collect();
        for (port, share) in ports.iter_mut().zip(shares) {
            port.data_bytes += share.round() as u64;
        }
        let cycle = depends.iter().zip(0..).find_map(|(depends, priority)| {
            let nodes = depends.circle()?.iter().map(|&link| ports[link as usize].node).collect();
            Some(BufferCycle { priority, nodes })
        });
        Plan { paths, ports, buffers, cycle, packet_hops }
    }
}
