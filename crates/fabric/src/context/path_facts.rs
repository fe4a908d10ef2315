//! Paths between hosts, and what they mean for a QP: base RTT, bottleneck, ideal completion time.

use super::NetworkContext;
use crate::compat::clock::transfer_time;
use crate::network::flow::FlowInfo;
use crate::network::graph::{Graph, LinkEnd};
use crate::network::ideal::{PacketBytes, completion_time};
use model::PortUse;
use schemes::contract::PathFacts;
use std::collections::{BTreeMap, VecDeque};
use units::{Bytes, MixSide, NodeId, PortId, Rate, Time, cancel};

/// What is known of the way of a QP. If its packets take turns over ports, the rates are those of
/// all paths together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayFacts {
    /// The rate at which the sender sends at most.
    pub(crate) line_rate: Rate,
    /// The rate of the slowest link.
    pub(crate) bottleneck: Rate,
    /// The longest round trip without queues.
    pub(crate) base_rtt: Time,
}

impl NetworkContext {
    /// The port through which `node` sends what goes from one host to another (`ends`) with this
    /// hash.
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

    /// Fills `path` with the links that packets of a hash take from one host to another in an
    /// epoch. Of a QP that takes turns over ports it is the path of the first packet.
    pub(crate) fn path(&self, ends: (u32, u32), hash: u32, epoch: usize, path: &mut Vec<LinkEnd>) {
        self.routes.walk(&self.graph, ends, epoch, path, |node, next_hops| {
            self.ecmp.pick(node, next_hops, ends, hash)
        });
    }

    /// Like [`path`](Self::path), of packets that leave through port `first` of their host.
    fn path_through(
        &self,
        first: PortId,
        ends: (u32, u32),
        hash: u32,
        epoch: usize,
        path: &mut Vec<LinkEnd>,
    ) {
        let source = self.graph.hosts[ends.0 as usize];
        self.routes.walk(&self.graph, ends, epoch, path, |node, next_hops| {
            if node == source { first } else { self.ecmp.pick(node, next_hops, ends, hash) }
        });
    }

    /// The ports through which the packets of a QP leave their host, the first packet through the
    /// first one.
    fn ports_in_turn(&self, ends: (u32, u32), hash: u32, epoch: usize) -> Vec<PortId> {
        let source = self.graph.hosts[ends.0 as usize];
        let first = self.select_port(source, ends, hash, epoch);
        if self.host.ports == PortUse::Hash {
            return vec![first];
        }
        let mut ports = self.routes.next_hops(source, ends.1, epoch).to_vec();
        let at = ports.iter().position(|&port| port == first).unwrap_or(0);
        ports.rotate_left(at);
        ports
    }

    /// Calls `each` with every link that the data of a QP may take where data is spread over paths,
    /// and with the share that takes it. Switches that spread data split what they get evenly. A
    /// link may come more than once.
    pub(crate) fn shares(
        &self,
        ends: (u32, u32),
        hash: u32,
        epoch: usize,
        each: &mut dyn FnMut(&LinkEnd, f64),
    ) {
        debug_assert!(self.spreads_data);
        let ports = self.ports_in_turn(ends, hash, epoch);
        let mut path = Vec::with_capacity(8);
        if !self.spreads_at_switches {
            for &port in &ports {
                self.path_through(port, ends, hash, epoch, &mut path);
                path.iter().for_each(|end| each(end, 1.0 / ports.len() as f64));
            }
            return;
        }
        if let Some(trees) = self.trees {
            // Each packet takes the ports of one tree at all switches.
            let source = self.graph.hosts[ends.0 as usize];
            for tree in 0..trees as usize {
                let of_tree = |node, next_hops: &[PortId]| match node == source {
                    true => ports[0],
                    // Where there is one port, it is that of all trees.
                    false => next_hops[tree.min(next_hops.len() - 1)],
                };
                self.routes.walk(&self.graph, ends, epoch, &mut path, of_tree);
                path.iter().for_each(|end| each(end, 1.0 / f64::from(trees)));
            }
            return;
        }
        let (first, last) = (self.graph.hosts[ends.0 as usize], self.graph.hosts[ends.1 as usize]);
        let mut reached = VecDeque::new();
        for port in &ports {
            let (link, share) = (self.graph.ports(first)[port.index()], 1.0 / ports.len() as f64);
            each(&link, share);
            reached.push_back((link.peer, share));
        }
        while let Some((node, share)) = reached.pop_front() {
            if node == last {
                continue;
            }
            let next_hops = self.routes.next_hops(node, ends.1, epoch);
            let share = share / next_hops.len() as f64;
            for port in next_hops {
                let link = self.graph.ports(node)[port.index()];
                each(&link, share);
                match reached.iter_mut().find(|(node, _)| *node == link.peer) {
                    Some((_, all)) => *all += share,
                    None => reached.push_back((link.peer, share)),
                }
            }
        }
    }

    /// Calls `each` with every path of the ACKs of a QP, and with the share that takes it. `ends`
    /// and the first of `hashes` are those of its data, the second is that of its ACKs.
    pub(crate) fn ack_paths(
        &self,
        ends: (u32, u32),
        hashes: (u32, u32),
        epoch: usize,
        each: &mut dyn FnMut(&[LinkEnd], f64),
    ) {
        let back = (ends.1, ends.0);
        let mut path = Vec::with_capacity(8);
        if self.host.ports == PortUse::Hash {
            self.path(back, hashes.1, epoch, &mut path);
            return each(&path, 1.0);
        }
        let receiver = self.graph.hosts[ends.1 as usize];
        // By port of the receiver, the share of the data that comes in through it.
        let mut came_in = BTreeMap::new();
        self.shares(ends, hashes.0, epoch, &mut |link, share| {
            if link.peer == receiver {
                *came_in.entry(link.peer_port).or_insert(0.0) += share;
            }
        });
        for (port, share) in came_in {
            let port = PortId::new(port);
            let leads_back = self.routes.next_hops(receiver, back.1, epoch).contains(&port);
            let first = match leads_back {
                true => port,
                false => self.select_port(receiver, back, hashes.1, epoch),
            };
            self.path_through(first, back, hashes.1, epoch, &mut path);
            each(&path, share);
        }
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

    /// Finds two hosts whose data and ACKs take different paths.
    pub(crate) fn asymmetric_pair(&self) -> Option<(NodeId, NodeId)> {
        let row = self.flows.iter().find(|row| {
            cancel::check();
            let hashes = (self.data_hash(row), self.ack_hash(row));
            let ends = (row.src, row.dst);
            let mut epochs = 0..self.graph.epochs();
            !epochs.all(|epoch| self.is_symmetric(ends, hashes, epoch))
        })?;
        let node = |host: u32| NodeId::new(self.graph.hosts[host as usize]);
        Some((node(row.src), node(row.dst)))
    }

    /// The time from the start of a packet of `bytes` at a port to its handling at the other end.
    #[inline]
    pub(crate) fn link_time(&self, end: &LinkEnd, bytes: u32) -> Time {
        let latency =
            if self.graph.is_host(end.peer) { self.host.latency } else { self.switch_latency };
        end.rate.time_for(Bytes::new(u64::from(bytes))) + end.delay + latency
    }

    /// The time from the start of a full data packet at a port to its place in a queue of the peer,
    /// if the link has this rate.
    #[inline]
    pub(crate) fn transit(&self, node: u32, port: usize, rate: Rate) -> Time {
        let end = LinkEnd { rate, ..self.graph.ports(node)[port] };
        self.link_time(&end, self.wire.full_packet)
    }

    /// The path of a QP from host `src` to host `dst` with this hash, if it is opened in this
    /// epoch.
    pub(crate) fn path_facts(&self, src: u32, dst: u32, hash: u32, epoch: usize) -> PathFacts {
        let mut path = Vec::with_capacity(8);
        self.path((src, dst), hash, epoch, &mut path);
        let own_port = path.first().map_or(Rate::ZERO, |end| end.rate);
        if self.compat.has_one_way_rtt() {
            // The HPCC simulator computes round trips once for each pair of hosts.
            self.routes.ns3_path(&self.graph, (src, dst), &mut path);
        }
        let WayFacts { line_rate, bottleneck, base_rtt } =
            self.way_facts((src, dst), hash, epoch, &mut path);
        // The path of the pair may begin at another port than the QP's, whose rate its law begins
        // at.
        let line_rate = if self.host.ports == PortUse::Hash { own_port } else { line_rate };
        PathFacts {
            receiver: dst,
            side: MixSide::First,
            line_rate,
            bottleneck_rate: bottleneck,
            base_rtt,
            network_rtt: self.routes.network_rtt,
            network_bdp: match self.routes.network_bdp {
                Some(bdp) if self.compat.has_one_way_rtt() => bdp,
                _ => line_rate.bytes_in(self.routes.network_rtt),
            },
            switches: (path.len() - 1) as u32,
            payload: Bytes::new(u64::from(self.wire.payload)),
            packet_bytes: Bytes::new(u64::from(self.wire.full_packet)),
            rates: self.rates.clone(),
        }
    }

    /// What is known of the way of a QP whose first packet takes `path`. Changes `path` if the
    /// packets take turns over ports.
    pub(crate) fn way_facts(
        &self,
        ends: (u32, u32),
        hash: u32,
        epoch: usize,
        path: &mut Vec<LinkEnd>,
    ) -> WayFacts {
        let of = |path: &[LinkEnd]| WayFacts {
            line_rate: path.first().map_or(Rate::ZERO, |end| end.rate),
            bottleneck: path.iter().map(|end| end.rate).min().unwrap_or(Rate::ZERO),
            base_rtt: self.round_trip(path),
        };
        let mut all = of(path);
        if self.host.ports == PortUse::Spray {
            for port in self.ports_in_turn(ends, hash, epoch).into_iter().skip(1) {
                self.path_through(port, ends, hash, epoch, path);
                let next = of(path);
                all = WayFacts {
                    line_rate: sum(all.line_rate, next.line_rate),
                    bottleneck: sum(all.bottleneck, next.bottleneck),
                    base_rtt: all.base_rtt.max(next.base_rtt),
                };
            }
        }
        all
    }

    /// The base round trip over these links. ACKs may take another equal-cost path; unless rates
    /// differ, that takes as long.
    pub(crate) fn round_trip(&self, path: &[LinkEnd]) -> Time {
        let back = |end: &LinkEnd| self.graph.ports(end.peer)[end.peer_port as usize];
        path.iter().map(|end| self.hop_costs.both(&self.graph, end, &back(end))).sum()
    }

    /// The ideal completion time of each message: alone in the network, as plain RoCE without INT,
    /// without a control law, all links up.
    pub(crate) fn ideal_fcts(&self) -> Vec<Time> {
        let (mut forward, mut backward) = (Vec::new(), Vec::new());
        let ack = u64::from(self.wire.profile.ack_bytes(0));
        let data = |payload: u64, first: bool| {
            u64::from(self.wire.profile.data_bytes(payload as u32, first, 0))
        };
        self.flows
            .iter()
            .map(|row| {
                cancel::check();
                let (graph, routes) = (&self.graph, &self.routes);
                let payload = u64::from(self.wire.payload);
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
                if self.host.ports == PortUse::Spray {
                    return self.ideal_over_ports(row, &bytes);
                }
                self.path((row.src, row.dst), self.data_hash(row), 0, &mut forward);
                self.path((row.dst, row.src), self.ack_hash(row), 0, &mut backward);
                self.time_over(&forward, &backward, &bytes)
            })
            .collect()
    }

    /// The ideal completion time of a message whose packets take turns over ports: with n ports
    /// each has every n-th packet, and ACKs go back the way that their data came.
    fn ideal_over_ports(&self, row: &FlowInfo, bytes: &PacketBytes) -> Time {
        let (there, back) = ((row.src, row.dst), (row.dst, row.src));
        let (hash, hash_back) = (self.data_hash(row), self.ack_hash(row));
        let (mut forward, mut backward) = (Vec::new(), Vec::new());
        let ports = self.ports_in_turn(there, hash, 0);
        let last = (bytes.count - 1) % ports.len() as u64;
        let parts = (0..bytes.count).zip(&ports).map(|(turn, &port)| {
            self.path_through(port, there, hash, 0, &mut forward);
            let came_in = PortId::new(forward[forward.len() - 1].peer_port);
            self.path_through(came_in, back, hash_back, 0, &mut backward);
            let count = (bytes.count - turn).div_ceil(ports.len() as u64);
            let part = PacketBytes {
                count,
                first: if turn == 0 { bytes.first } else { bytes.middle },
                last: match (turn == last, turn == 0 && count == 1) {
                    (true, _) => bytes.last,
                    (false, true) => bytes.first,
                    (false, false) => bytes.middle,
                },
                ..*bytes
            };
            self.time_over(&forward, &backward, &part)
        });
        parts.max().unwrap_or(Time::ZERO)
    }

    fn time_over(&self, forward: &[LinkEnd], backward: &[LinkEnd], bytes: &PacketBytes) -> Time {
        completion_time(&self.graph, forward, backward, bytes, &self.host, self.switch_latency)
    }

    /// Finds a message whose ideal completion time is beyond the range of `Time`.
    pub(crate) fn endless_message(&self) -> Option<u32> {
        let largest = self.flows.iter().map(|row| row.size).max()?;
        let slowest = self.graph.rates().min()?;
        // All its packets on the slowest link. The other links and the ACKs add less than that
        // again.
        let packets = largest.div_ceil(u64::from(self.wire.payload));
        let all = slowest.time_for(Bytes::new(packets.saturating_mul(self.wire.max_packet.get())));
        if all < Time::from_ps(Time::NEVER.ps() / 4) {
            return None;
        }
        let endless = self.ideal_fcts().iter().position(|&ideal| ideal == Time::NEVER)?;
        Some(endless as u32)
    }

    /// The ideal completion time of the HPCC simulator: base round trip, and all bytes at the rate
    /// of the slowest link.
    fn one_way_ideal(&self, path: &[LinkEnd], bytes: &PacketBytes) -> Time {
        let total = u128::from((bytes.count - 1) * bytes.middle + bytes.last);
        let slowest = path.iter().map(|end| end.rate.bps()).min().unwrap_or(1).max(1);
        self.round_trip(path).saturating_add(transfer_time(total, slowest))
    }
}

/// The rate at which a host sends at most.
pub(crate) fn host_rate(graph: &Graph, node: u32, ports: PortUse) -> Rate {
    let rates = graph.ports(node).iter().map(|end| end.rate);
    match ports {
        PortUse::Hash => rates.max().unwrap_or_default(),
        PortUse::Spray => rates.fold(Rate::ZERO, sum),
    }
}

fn sum(a: Rate, b: Rate) -> Rate {
    Rate::from_bps(a.bps().saturating_add(b.bps()))
}
