//! The next hops of every node to every host, in the order of that simulator's search.

use crate::event_list::NONE;
use crate::network::{Flow, Node, Port, neighbour};
use crate::settings::Settings;
use units::cancel;

/// The next hops, as ports.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    /// By node: its row, or [`NONE`] for a host with one port.
    rows: Vec<u32>,
    /// By node: its number among the hosts.
    host_index: Vec<u32>,
    hosts: usize,
    /// By row, then host: where its next hops are and how many there are.
    entries: Vec<(u32, u32)>,
    hops: Vec<u32>,
    /// By node: its only port, of hosts with one port.
    only: Vec<u32>,
    /// The largest base round trip of any two hosts in nanoseconds, and BDP in bytes.
    pub(crate) max_rtt: u64,
    pub(crate) max_bdp: u64,
}

/// What a search has found of a node.
#[derive(Clone, Copy)]
struct Found {
    distance: u32,
    delay: u64,
    /// Time on the wires of a payload, once for each link.
    wire: u64,
    bottleneck: u64,
}

const UNSEEN: Found = Found { distance: u32::MAX, delay: 0, wire: 0, bottleneck: u64::MAX };

/// The order in which a search looks at the neighbours of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NeighbourOrder {
    /// Hosts by rising number, then switches by falling number.
    HostsFirst,
    /// All by rising number, in ConWeave's simulator.
    Rising,
}

/// The shortest paths from a host to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathFacts {
    /// Base round trip, in nanoseconds.
    pub(crate) base_rtt: u64,
    /// Base round trip times bottleneck, in bytes.
    pub(crate) bdp: u64,
    /// The lowest rate of a link, in bits per second.
    pub(crate) bottleneck: u64,
}

impl Routes {
    /// Finds all next hops over links that are up.
    pub(crate) fn new(nodes: &[Node], ports: &[Port], settings: &Settings) -> Routes {
        Routes::for_flows(nodes, ports, settings, &mut [], |_, _| ())
    }

    /// Finds all next hops over links that are up, and calls `note` for each flow between hosts
    /// that they join.
    pub(crate) fn for_flows(
        nodes: &[Node],
        ports: &[Port],
        settings: &Settings,
        flows: &mut [Flow],
        note: impl Fn(&mut Flow, PathFacts),
    ) -> Routes {
        let payload = settings.payload;
        let hosts: Vec<u32> =
            (0..nodes.len() as u32).filter(|&node| !nodes[node as usize].is_switch).collect();
        let mut host_index = vec![NONE; nodes.len()];
        hosts
            .iter()
            .enumerate()
            .for_each(|(index, &host)| host_index[host as usize] = index as u32);
        let (mut rows, mut only, mut count) = (vec![NONE; nodes.len()], vec![NONE; nodes.len()], 0);
        for (node, this) in nodes.iter().enumerate() {
            match this.ports[..] {
                [port] if !this.is_switch => only[node] = port,
                _ => {
                    rows[node] = count;
                    count += 1;
                }
            }
        }
        let order = match settings.conweave {
            true => NeighbourOrder::Rising,
            false => NeighbourOrder::HostsFirst,
        };
        let neighbours: Vec<Vec<(u32, u32)>> =
            (0..nodes.len()).map(|node| neighbours(node, nodes, ports, order)).collect();
        let mut by_destination = vec![Vec::new(); nodes.len()];
        for (index, flow) in flows.iter().enumerate() {
            by_destination[flow.dst as usize].push(index);
        }
        let mut routes = Routes {
            rows,
            host_index,
            hosts: hosts.len(),
            entries: vec![(0, 0); count as usize * hosts.len()],
            hops: Vec::new(),
            only,
            max_rtt: 0,
            max_bdp: 0,
        };
        let mut found = vec![UNSEEN; nodes.len()];
        let mut hops: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
        for &host in &hosts {
            cancel::check();
            let reached = search(host, nodes, ports, &neighbours, payload, &mut found, &mut hops);
            routes.keep(host, &reached, &mut hops);
            let facts = |node: u32| {
                let Found { delay, wire, bottleneck, .. } = found[node as usize];
                let base_rtt = delay * 2 + wire;
                let bdp = base_rtt.wrapping_mul(bottleneck) / 1_000_000_000 / 8;
                PathFacts { base_rtt, bdp, bottleneck }
            };
            let is_other_host = |node: u32| node != host && !nodes[node as usize].is_switch;
            for &node in reached.iter().filter(|&&node| is_other_host(node)) {
                let PathFacts { base_rtt, bdp, .. } = facts(node);
                routes.max_rtt = routes.max_rtt.max(base_rtt);
                routes.max_bdp = routes.max_bdp.max(bdp);
            }
            for &flow in &by_destination[host as usize] {
                let flow = &mut flows[flow];
                if found[flow.src as usize].distance != UNSEEN.distance {
                    note(flow, facts(flow.src));
                }
            }
            reached.iter().for_each(|&node| found[node as usize] = UNSEEN);
        }
        routes
    }

    /// Keeps the next hops to `host` of the nodes that the search reached.
    fn keep(&mut self, host: u32, reached: &[u32], hops: &mut [Vec<u32>]) {
        for &node in reached {
            let hops = &mut hops[node as usize];
            let row = self.rows[node as usize];
            if row != NONE {
                let entry = row as usize * self.hosts + self.host_index[host as usize] as usize;
                self.entries[entry] = (self.hops.len() as u32, hops.len() as u32);
                self.hops.extend_from_slice(hops);
            }
            hops.clear();
        }
    }

    /// Returns the ports of `node` that lead to `host`.
    #[inline]
    pub(crate) fn next_hops(&self, node: u32, host: u32) -> &[u32] {
        let row = self.rows[node as usize];
        if row == NONE {
            return std::slice::from_ref(&self.only[node as usize]);
        }
        let entry = row as usize * self.hosts + self.host_index[host as usize] as usize;
        let (first, count) = self.entries[entry];
        &self.hops[first as usize..][..count as usize]
    }
}

/// The neighbours of a node and the ports to them, in the order in which the search looks at them.
/// Of several links to one neighbour only the last counts.
pub(crate) fn neighbours(
    node: usize,
    nodes: &[Node],
    ports: &[Port],
    order: NeighbourOrder,
) -> Vec<(u32, u32)> {
    let mut list: Vec<(u32, u32)> = Vec::new();
    for &port in &nodes[node].ports {
        let peer = neighbour(ports, port);
        match list.iter_mut().find(|(known, _)| *known == peer) {
            Some(entry) => entry.1 = port,
            None => list.push((peer, port)),
        }
    }
    list.sort_by_key(|&(peer, _)| {
        let is_switch = nodes[peer as usize].is_switch;
        match order {
            NeighbourOrder::HostsFirst if is_switch => (true, u32::MAX - peer),
            NeighbourOrder::HostsFirst | NeighbourOrder::Rising => (false, peer),
        }
    });
    list
}

/// Searches breadth first from `host`. Fills `found` and the next hops `hops` of the nodes that it
/// returns.
fn search(
    host: u32,
    nodes: &[Node],
    ports: &[Port],
    neighbours: &[Vec<(u32, u32)>],
    payload: u64,
    found: &mut [Found],
    hops: &mut [Vec<u32>],
) -> Vec<u32> {
    found[host as usize] = Found { distance: 0, ..UNSEEN };
    let mut reached = vec![host];
    let mut next = 0;
    while next < reached.len() {
        let node = reached[next];
        next += 1;
        if node != host && !nodes[node as usize].is_switch {
            continue;
        }
        let here = found[node as usize];
        for &(peer, port) in &neighbours[node as usize] {
            let port = &ports[port as usize];
            if !port.up {
                continue;
            }
            let there = &mut found[peer as usize];
            if there.distance == UNSEEN.distance {
                *there = Found {
                    distance: here.distance + 1,
                    delay: here.delay + port.delay,
                    wire: here.wire + payload * 8_000_000_000 / port.rate,
                    bottleneck: here.bottleneck.min(port.rate),
                };
                reached.push(peer);
            }
            if there.distance == here.distance + 1 {
                // The port of the peer that leads back: that of the last link between the two.
                hops[peer as usize].push(port.peer);
            }
        }
    }
    reached
}
