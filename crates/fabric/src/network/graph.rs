//! The network as a graph of nodes, their numbered ports, and links that may fail for a time.

use model::{Impairment, Link, Node, NodeKind, Outage};
use std::collections::BTreeMap;
use std::ops::Deref;
use units::{NodeId, Rate, Time};

/// The link of a port, seen from the port's node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkEnd {
    pub(crate) peer: u32,
    pub(crate) peer_port: u16,
    pub(crate) rate: Rate,
    pub(crate) delay: Time,
    pub(crate) pfc: bool,
    pub(crate) error_rate: f64,
    /// Whether it ever fails.
    pub(crate) fails: bool,
    /// Whether it is ever slower or lossier than else.
    pub(crate) is_impaired: bool,
}

/// What a link is like for a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinkQuality {
    pub(crate) rate: Rate,
    pub(crate) error_rate: f64,
}

/// The network as a graph.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) kinds: Vec<NodeKind>,
    pub(crate) tiers: Vec<u8>,
    first_port: Vec<u32>,
    ends: Vec<LinkEnd>,
    /// The node of each host.
    pub(crate) hosts: Vec<u32>,
    /// By node, its index among the hosts if it is one.
    pub(crate) host_of: Vec<u32>,
    /// The outages of links that fail, by index in `ends`.
    outages: BTreeMap<u32, Vec<Outage>>,
    /// The impairments of links that have some, by index in `ends`.
    impairments: BTreeMap<u32, Vec<Impairment>>,
    /// When links fail, are repaired or change, ascending. Each of these times begins an epoch.
    changes: Vec<Time>,
}

impl Graph {
    /// The rates of all links, also those that they have for a time. They come several times.
    pub(crate) fn rates(&self) -> impl Iterator<Item = Rate> + '_ {
        let impaired = self.impairments.values().flatten();
        self.ends.iter().map(|end| end.rate).chain(impaired.filter_map(|one| one.rate))
    }

    pub(crate) fn new(
        nodes: &[Node],
        links: &[Link],
        outages: &[Outage],
        impairments: &[Impairment],
    ) -> Graph {
        let mut degree = vec![0u32; nodes.len() + 1];
        for link in links {
            degree[link.a.index()] += 1;
            degree[link.b.index()] += 1;
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
            fails: false,
            is_impaired: false,
        };
        let mut ends = vec![none; total as usize];
        let mut of_links = by_link(outages, |outage| outage.link);
        let mut impaired_links = by_link(impairments, |impairment| impairment.link);
        let mut of_ends = BTreeMap::new();
        let mut impaired_ends = BTreeMap::new();
        for (number, link) in links.iter().enumerate() {
            let (a, b) = (link.a.index(), link.b.index());
            let (at, bt) = (next[a], next[b]);
            next[a] += 1;
            next[b] += 1;
            let end = |peer: NodeId, peer_port: u32| LinkEnd {
                peer: peer.get(),
                peer_port: peer_port as u16,
                rate: link.rate,
                delay: link.delay,
                pfc: link.pfc,
                error_rate: link.error_rate,
                fails: of_links.contains_key(&(number as u32)),
                is_impaired: impaired_links.contains_key(&(number as u32)),
            };
            ends[at as usize] = end(link.b, bt - first_port[b]);
            ends[bt as usize] = end(link.a, at - first_port[a]);
            if let Some(list) = of_links.remove(&(number as u32)) {
                of_ends.insert(at, list.clone());
                of_ends.insert(bt, list);
            }
            if let Some(list) = impaired_links.remove(&(number as u32)) {
                impaired_ends.insert(at, list.clone());
                impaired_ends.insert(bt, list);
            }
        }
        let mut hosts = Vec::new();
        let mut host_of = vec![u32::MAX; nodes.len()];
        for (node, &Node { kind, .. }) in nodes.iter().enumerate() {
            if kind == NodeKind::Host {
                host_of[node] = hosts.len() as u32;
                hosts.push(node as u32);
            }
        }
        Graph {
            outages: of_ends,
            impairments: impaired_ends,
            changes: changes(outages, impairments),
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

    /// The number of epochs.
    pub(crate) fn epochs(&self) -> usize {
        self.changes.len() + 1
    }

    /// The end of an epoch.
    pub(crate) fn end_of(&self, epoch: usize) -> Time {
        self.changes.get(epoch).copied().unwrap_or(Time::NEVER)
    }

    /// The epoch of a run when it ends at `end`.
    pub(crate) fn epoch_at(&self, end: Time) -> usize {
        self.changes.partition_point(|&change| change < end)
    }

    /// The rates that links of a node have for a time, each with its port.
    pub(crate) fn rates_while_impaired(&self, node: u32) -> Vec<(usize, Rate)> {
        let ends = self.ports(node).iter().enumerate().filter(|(_, end)| end.is_impaired);
        let all = ends.flat_map(|(port, _)| {
            self.impairments(node, port).iter().filter_map(move |one| Some((port, one.rate?)))
        });
        all.collect()
    }

    /// Whether a link fails or is repaired at this time, so that routes change.
    pub(crate) fn reroutes_at(&self, time: Time) -> bool {
        let mut all = self.outages.values().flatten();
        all.any(|outage| outage.from == time || outage.until == time)
    }

    /// The probability at `time` that a packet on the link of a port is damaged.
    pub(crate) fn error_rate_at(&self, node: u32, port: usize, time: Time) -> f64 {
        self.quality_at(node, port, time).error_rate
    }

    /// The graph with only the links that work in an epoch.
    pub(crate) fn in_epoch(&self, epoch: usize) -> Epoch<'_> {
        let begin = epoch.checked_sub(1).map_or(Time::ZERO, |before| self.changes[before]);
        Epoch { graph: self, begin }
    }

    /// The outages of a port's link.
    fn outages(&self, node: u32, port: usize) -> &[Outage] {
        let end = self.first_port[node as usize] + port as u32;
        self.outages.get(&end).map_or(&[], Vec::as_slice)
    }

    /// The times for which a port's link is slower or lossier than else.
    fn impairments(&self, node: u32, port: usize) -> &[Impairment] {
        let end = self.first_port[node as usize] + port as u32;
        self.impairments.get(&end).map_or(&[], Vec::as_slice)
    }

    /// What a port's link is like at `time`.
    fn quality_at(&self, node: u32, port: usize, time: Time) -> LinkQuality {
        let LinkEnd { rate, error_rate, .. } = self.ports(node)[port];
        let mut list = self.impairments(node, port).iter();
        let now = list.find(|one| one.is_at(time));
        LinkQuality {
            rate: now.and_then(|one| one.rate).unwrap_or(rate),
            error_rate: now.and_then(|one| one.error_rate).unwrap_or(error_rate),
        }
    }

    /// The ports of a node whose links fail at `time`, and those whose links are repaired then.
    pub(crate) fn changes_at(&self, node: u32, time: Time) -> (Vec<usize>, Vec<usize>) {
        let ports = |changes: fn(&Outage) -> Time| {
            let ends = self.ports(node).iter().enumerate();
            let failing = ends.filter(|(_, end)| end.fails).map(|(port, _)| port);
            let change =
                |port: &usize| self.outages(node, *port).iter().any(|one| changes(one) == time);
            failing.filter(change).collect()
        };
        (ports(|one| one.from), ports(|one| one.until))
    }

    /// The ports of a node whose links become slower or lossier at `time`, or are as before again,
    /// and what they are like from then on.
    pub(crate) fn qualities_at(&self, node: u32, time: Time) -> Vec<(usize, LinkQuality)> {
        let ends = self.ports(node).iter().enumerate().filter(|(_, end)| end.is_impaired);
        let changes = |port| {
            let mut list = self.impairments(node, port).iter();
            list.any(|one| one.from == time || one.until == time)
        };
        let changed = ends.map(|(port, _)| port).filter(|&port| changes(port));
        changed.map(|port| (port, self.quality_at(node, port, time))).collect()
    }

    /// Whether the link of a port ever damages packets.
    pub(crate) fn ever_damages(&self, node: u32, port: usize) -> bool {
        let mut impairments = self.impairments(node, port).iter();
        self.ports(node)[port].error_rate > 0.0
            || impairments.any(|one| one.error_rate.is_some_and(|rate| rate > 0.0))
    }

    pub(crate) fn is_host(&self, node: u32) -> bool {
        self.kinds[node as usize] == NodeKind::Host
    }
}

/// The graph of an epoch. Ports keep their numbers; links that are down are left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epoch<'a> {
    graph: &'a Graph,
    begin: Time,
}

impl Epoch<'_> {
    /// The ports of a node whose links work, with their numbers.
    pub(crate) fn live_ports(&self, node: u32) -> impl Iterator<Item = (usize, &LinkEnd)> + Clone {
        let begin = self.begin;
        let is_down = move |port: usize| {
            self.outages(node, port).iter().any(|one| one.from <= begin && begin < one.until)
        };
        let ends = self.ports(node).iter().enumerate();
        ends.filter(move |(port, end)| !end.fails || !is_down(*port))
    }
}

impl Deref for Epoch<'_> {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        self.graph
    }
}

/// The entries of each link that has some.
fn by_link<T: Copy>(entries: &[T], link: impl Fn(&T) -> u32) -> BTreeMap<u32, Vec<T>> {
    let mut of_links: BTreeMap<u32, Vec<T>> = BTreeMap::new();
    for entry in entries {
        of_links.entry(link(entry)).or_default().push(*entry);
    }
    of_links
}

/// When links fail, are repaired or change, ascending.
fn changes(outages: &[Outage], impairments: &[Impairment]) -> Vec<Time> {
    let of_outages = outages.iter().flat_map(|outage| [outage.from, outage.until]);
    let of_impairments = impairments.iter().flat_map(|one| [one.from, one.until]);
    let mut changes: Vec<Time> = of_outages.chain(of_impairments).collect();
    changes.retain(|&time| time != Time::NEVER);
    changes.sort_unstable();
    changes.dedup();
    changes
}
