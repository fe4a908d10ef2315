//! The network as nodes, their ports, and the links between them.

use crate::network::{Cable, Node, NodeKind};
use units::{NodeId, Rate, Time};

/// A port's link as seen from its node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkEnd {
    pub(crate) peer: u32,
    pub(crate) peer_port: u16,
    pub(crate) rate: Rate,
    pub(crate) delay: Time,
    pub(crate) pfc: bool,
    pub(crate) error_rate: f64,
    pub(crate) fails_at: Time,
}

/// The network as a graph, ports numbered.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) kinds: Vec<NodeKind>,
    pub(crate) tiers: Vec<u8>,
    first_port: Vec<u32>,
    ends: Vec<LinkEnd>,
    /// Node of each host.
    pub(crate) hosts: Vec<u32>,
    /// Index among the hosts of each node that is one.
    pub(crate) host_of: Vec<u32>,
    /// When links fail, ascending: each begins an epoch after the first.
    failures: Vec<Time>,
    /// The epoch whose links the graph has.
    epoch: usize,
}

impl Graph {
    /// Of each link's two ends.
    pub(crate) fn rates(&self) -> impl Iterator<Item = Rate> + '_ {
        self.ends.iter().map(|end| end.rate)
    }

    pub(crate) fn new(nodes: &[Node], cables: &[Cable]) -> Graph {
        let mut degree = vec![0u32; nodes.len() + 1];
        for cable in cables {
            degree[cable.a.index()] += 1;
            degree[cable.b.index()] += 1;
        }
        let mut first_port = Vec::with_capacity(nodes.len() + 1);
        let mut total = 0;
        for count in degree {
            first_port.push(total);
            total += count;
        }
        let mut next: Vec<u32> = first_port.clone();
        let none = LinkEnd {
            peer: 0,
            peer_port: 0,
            rate: Rate::ZERO,
            delay: Time::ZERO,
            pfc: true,
            error_rate: 0.0,
            fails_at: Time::NEVER,
        };
        let mut ends = vec![none; total as usize];
        for cable in cables {
            let (a, b) = (cable.a.index(), cable.b.index());
            let (at, bt) = (next[a], next[b]);
            next[a] += 1;
            next[b] += 1;
            let end = |peer: NodeId, peer_port: u32| LinkEnd {
                peer: peer.get(),
                peer_port: peer_port as u16,
                rate: cable.rate,
                delay: cable.delay,
                pfc: cable.pfc,
                error_rate: cable.error_rate,
                fails_at: cable.fails_at,
            };
            ends[at as usize] = end(cable.b, bt - first_port[b]);
            ends[bt as usize] = end(cable.a, at - first_port[a]);
        }
        let mut hosts = Vec::new();
        let mut host_of = vec![u32::MAX; nodes.len()];
        for (node, &Node { kind, .. }) in nodes.iter().enumerate() {
            if kind == NodeKind::Host {
                host_of[node] = hosts.len() as u32;
                hosts.push(node as u32);
            }
        }
        let mut failures: Vec<Time> = cables.iter().map(|cable| cable.fails_at).collect();
        failures.retain(|&time| time != Time::NEVER);
        failures.sort_unstable();
        failures.dedup();
        Graph {
            failures,
            epoch: 0,
            kinds: nodes.iter().map(|node| node.kind).collect(),
            tiers: nodes.iter().map(|node| node.tier).collect(),
            first_port,
            ends,
            hosts,
            host_of,
        }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.kinds.len()
    }

    pub(crate) fn ports(&self, node: u32) -> &[LinkEnd] {
        let node = node as usize;
        &self.ends[self.first_port[node] as usize..self.first_port[node + 1] as usize]
    }

    /// How many epochs there are.
    pub(crate) fn epochs(&self) -> usize {
        self.failures.len() + 1
    }

    /// When an epoch ends.
    pub(crate) fn end_of(&self, epoch: usize) -> Time {
        self.failures.get(epoch).copied().unwrap_or(Time::NEVER)
    }

    /// The graph with the links of an epoch alone; ports keep their numbers.
    pub(crate) fn in_epoch(&self, epoch: usize) -> Graph {
        Graph { epoch, ..self.clone() }
    }

    /// The ports of a node whose links have not failed, with their numbers.
    pub(crate) fn live_ports(&self, node: u32) -> impl Iterator<Item = (usize, &LinkEnd)> + Clone {
        let begin = self.epoch.checked_sub(1).map_or(Time::ZERO, |before| self.failures[before]);
        let ends = self.ports(node).iter().enumerate();
        ends.filter(move |(_, end)| end.fails_at > begin)
    }

    pub(crate) fn is_host(&self, node: u32) -> bool {
        self.kinds[node as usize] == NodeKind::Host
    }
}
