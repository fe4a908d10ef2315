//! Groups of nodes, and their distribution among threads.

use crate::compat::clock::Clock;
use crate::network::graph::{Graph, LinkEnd};
use engine::{Group, Layout, TieBreak};
use units::Time;

/// Groups of nodes that short links connect.
///
/// A window is no longer than the shortest link between groups. If links to hosts are shorter than
/// those between switches, a rack (a switch and its hosts) becomes one group, and windows stay
/// long.
#[derive(Debug)]
pub(crate) struct RackGroups {
    members: Vec<Vec<u32>>,
    /// By node, its group and its index in the group.
    of_node: Vec<u32>,
    indices: Vec<u32>,
    /// By group, its hub: the only switch, at which all links of the group's hosts end.
    hubs: Vec<Option<u32>>,
}

impl RackGroups {
    pub(crate) fn new(graph: &Graph) -> RackGroups {
        let nodes = graph.nodes() as u32;
        let between_switches = links(graph)
            .filter(|(node, end)| !graph.is_host(*node) && !graph.is_host(end.peer))
            .map(|(_, end)| end.delay)
            .min();
        let short = between_switches.unwrap_or(Time::ZERO).min(Time::from_us(1));
        let mut leader: Vec<u32> = (0..nodes).collect();
        for (node, end) in links(graph) {
            if end.delay < short {
                let (a, b) = (find(&mut leader, node), find(&mut leader, end.peer));
                leader[a.max(b) as usize] = a.min(b);
            }
        }
        let mut of_node = vec![u32::MAX; nodes as usize];
        let mut indices = vec![0; nodes as usize];
        let mut members: Vec<Vec<u32>> = Vec::new();
        for node in 0..nodes {
            let first = find(&mut leader, node);
            if first == node {
                of_node[node as usize] = members.len() as u32;
                members.push(Vec::new());
            } else {
                of_node[node as usize] = of_node[first as usize];
            }
            let group = &mut members[of_node[node as usize] as usize];
            indices[node as usize] = group.len() as u32;
            group.push(node);
        }
        let hubs = members.iter().map(|group| hub(graph, group)).collect();
        RackGroups { members, of_node, indices, hubs }
    }

    /// The index of a node in its group.
    pub(crate) fn index(&self, node: u32) -> usize {
        self.indices[node as usize] as usize
    }

    /// The number of nodes in the group of a node.
    pub(crate) fn size(&self, node: u32) -> usize {
        self.members[self.of_node[node as usize] as usize].len()
    }

    /// Whether a node is the hub of its group.
    pub(crate) fn is_hub(&self, node: u32) -> bool {
        self.hubs[self.of_node[node as usize] as usize] == Some(node)
    }

    /// Whether two nodes are in one group that has a hub.
    pub(crate) fn are_in_same_rack(&self, a: u32, b: u32) -> bool {
        let group = self.of_node[a as usize];
        group == self.of_node[b as usize] && self.hubs[group as usize].is_some()
    }
}

/// All links of a graph, from each of their ends.
fn links(graph: &Graph) -> impl Iterator<Item = (u32, LinkEnd)> + '_ {
    let nodes = 0..graph.nodes() as u32;
    nodes.flat_map(|node| graph.ports(node).iter().map(move |end| (node, *end)))
}

/// The only switch of a group, if the group has hosts and all their links lead to it.
fn hub(graph: &Graph, group: &[u32]) -> Option<u32> {
    let mut switches = group.iter().copied().filter(|&node| !graph.is_host(node));
    let hub = switches.next().filter(|_| group.len() > 1)?;
    let mut hosts = group.iter().filter(|&&node| graph.is_host(node));
    let all_its = hosts.all(|&host| graph.ports(host).iter().all(|end| end.peer == hub));
    (all_its && switches.next().is_none()).then_some(hub)
}

fn find(leader: &mut [u32], mut node: u32) -> u32 {
    while leader[node as usize] != node {
        leader[node as usize] = leader[leader[node as usize] as usize];
        node = leader[node as usize];
    }
    node
}

impl RackGroups {
    /// Returns for how long no group can act on another: the shortest delay between two, at most a
    /// microsecond.
    pub(crate) fn lookahead(&self, graph: &Graph) -> Time {
        let group = |node: u32| self.of_node[node as usize];
        let between = links(graph).filter(|(node, end)| group(*node) != group(end.peer));
        between.map(|(_, end)| end.delay).fold(Time::from_us(1), Time::min)
    }

    /// Distributes the groups among threads. `clock` and `min_packet` (bytes on the wire) give the
    /// shortest time that a packet needs for a link.
    pub(crate) fn partition(
        &self,
        graph: &Graph,
        clock: Clock,
        min_packet: u64,
        threads: usize,
    ) -> Layout {
        let RackGroups { members, of_node, hubs, .. } = self;
        let mut internal_lookahead = vec![Time::NEVER; members.len()];
        for (node, end) in links(graph) {
            let group = of_node[node as usize];
            if group == of_node[end.peer as usize] {
                // A packet arrives once it is serialised and has travelled.
                let soonest = end.delay + clock.time_for(end.rate, min_packet);
                let known = &mut internal_lookahead[group as usize];
                *known = soonest.min(*known);
            }
        }
        let threads = threads.clamp(1, members.len());
        let owners = owners(graph, threads);
        let facts = members.iter().zip(hubs).zip(internal_lookahead);
        let groups = facts.map(|((devices, &hub), internal_lookahead)| Group {
            devices: devices.clone(),
            owner: owners[devices[0] as usize],
            internal_lookahead,
            hub,
        });
        Layout {
            groups: groups.collect(),
            threads,
            lookahead: self.lookahead(graph),
            tie_break: TieBreak::RotatePorts,
            solo_periods: true,
            tags: false,
        }
    }
}

/// The thread of each node. Hosts are distributed in blocks. A switch belongs to the thread of most
/// nodes below it; if several threads have equally many (the top tier), switches take them in turn.
fn owners(graph: &Graph, threads: usize) -> Vec<u16> {
    let mut owners = vec![u16::MAX; graph.nodes()];
    for (index, &host) in graph.hosts.iter().enumerate() {
        owners[host as usize] = (index * threads / graph.hosts.len()) as u16;
    }
    let mut switches: Vec<u32> =
        (0..graph.nodes() as u32).filter(|&node| !graph.is_host(node)).collect();
    switches.sort_by_key(|&node| graph.tiers[node as usize]);
    for (turn, node) in switches.into_iter().enumerate() {
        let mut votes = vec![0; threads];
        for end in graph.ports(node) {
            let owner = owners[end.peer as usize];
            if owner != u16::MAX && graph.tiers[end.peer as usize] < graph.tiers[node as usize] {
                votes[owner as usize] += 1;
            }
        }
        let max_votes = votes.iter().copied().max().unwrap_or(0);
        let winners: Vec<usize> =
            (0..threads).filter(|&thread| votes[thread] == max_votes).collect();
        owners[node as usize] = winners[turn % winners.len()] as u16;
    }
    owners
}
