//! Shortest paths by hop count: all that there are of that length.

use super::table::{Attachments, NO_ROW, Place, Sizes, Table};
use crate::graph::{Epoch, LinkEnd};
use crate::quirks::Quirks;
use crate::run::Refusal;
use units::{PortId, Rate, Time};

/// Fills the table of an epoch. Every host reaches every other: the scenario has checked it.
pub(super) fn fill(
    table: &mut Table,
    graph: &Epoch<'_>,
    sizes: &Sizes,
    attached: &Attachments,
    quirks: &Quirks,
) -> Result<(), Refusal> {
    let mut search = Search::new(graph, sizes, quirks);
    let on_switch = hosts_on_switches(graph, sizes, &attached.places);
    for (number, hosts) in attached.members.iter().enumerate() {
        search.run(graph, sizes, hosts);
        for &node in hosts.iter().chain(&search.order) {
            if table.rows[node as usize] == NO_ROW {
                continue;
            }
            let slot = table.slot(node, number);
            let ports_to = |leads: &dyn Fn(u32) -> bool| {
                let mut ports = ports_to(graph, node, leads);
                if quirks.node_hash {
                    by_rank(graph, node, &search.rank, &mut ports);
                }
                ports
            };
            if search.distance[node as usize] == 0 {
                // To a host on the same switches.
                table.entries[slot] = table.sets.name(ports_to(&|peer| !graph.is_host(peer)))?;
            } else if search.distance[node as usize] == 1 {
                let sets: Vec<_> =
                    hosts.iter().map(|&host| ports_to(&|peer| peer == host)).collect();
                table.entries[slot] = if sets.iter().all(|set| set.len() == 1) {
                    table.sets.single_ports(sets.concat())?
                } else {
                    table.sets.of_hosts(sets.into_iter())?
                };
            } else {
                let nearer = search.distance[node as usize] - 1;
                let ports = ports_to(&|peer| {
                    search.distance[peer as usize] == nearer && !graph.is_host(peer)
                });
                table.entries[slot] = table.sets.name(ports)?;
            }
        }
        for &node in &search.order {
            let (cost, rate) = (search.cost[node as usize], search.rate[node as usize]);
            let distance = search.distance[node as usize] as usize;
            if graph.is_host(node) {
                // Wired to a host of the attachment without a switch between them.
                table.widen_at(cost, rate, 0);
                continue;
            }
            for &OnSwitch { attachment, farthest, second, fastest } in &on_switch[node as usize] {
                let rate = rate.min(fastest);
                if attachment != number as u32 {
                    table.widen_at(cost + farthest, rate, distance);
                } else if second > Time::ZERO {
                    table.widen_at(farthest + second, fastest, distance);
                }
            }
        }
    }
    Ok(())
}

/// The hosts of an attachment that hang on a switch.
#[derive(Clone, Copy, Debug)]
struct OnSwitch {
    attachment: u32,
    /// The largest round trip over a host's cable, and the second largest (zero where there is one
    /// host).
    farthest: Time,
    second: Time,
    /// The highest rate of the cables.
    fastest: Rate,
}

/// The attachments with hosts on each switch.
fn hosts_on_switches(graph: &Epoch<'_>, sizes: &Sizes, places: &[Place]) -> Vec<Vec<OnSwitch>> {
    let mut found: Vec<Vec<OnSwitch>> = vec![Vec::new(); graph.nodes()];
    for (place, &host) in places.iter().zip(&graph.hosts) {
        for (_, end) in graph.live_ports(host) {
            let back = graph.ports(end.peer)[end.peer_port as usize];
            let cost = sizes.both(graph, end, &back);
            let known = &mut found[end.peer as usize];
            match known.iter_mut().find(|here| here.attachment == place.attachment) {
                Some(here) => {
                    here.second = here.second.max(cost.min(here.farthest));
                    here.farthest = here.farthest.max(cost);
                    here.fastest = here.fastest.max(end.rate);
                }
                None => known.push(OnSwitch {
                    attachment: place.attachment,
                    farthest: cost,
                    second: Time::ZERO,
                    fastest: end.rate,
                }),
            }
        }
    }
    found
}

fn ports_to(graph: &Epoch<'_>, node: u32, leads: impl Fn(u32) -> bool) -> Vec<PortId> {
    let ends = graph.live_ports(node);
    ends.filter(|(_, end)| leads(end.peer)).map(|(port, _)| PortId::new(port as u16)).collect()
}

/// As the HPCC simulator lists next hops: one link to each neighbour, the last; neighbours in the
/// order in which its search from the destination came upon them.
fn by_rank(graph: &Epoch<'_>, node: u32, rank: &[u32], ports: &mut Vec<PortId>) {
    let ends = graph.ports(node);
    let peer = |port: &PortId| ends[port.index()].peer;
    ports.sort_by_key(|port| (rank[peer(port) as usize], peer(port), std::cmp::Reverse(*port)));
    ports.dedup_by_key(|port| peer(port));
}

/// Breadth-first search from the hosts of an attachment.
struct Search {
    distance: Vec<u32>,
    /// Round trip from the node to the farthest host of the attachment over any shortest path, or
    /// over the one that the search found first.
    cost: Vec<Time>,
    /// The lowest rate on the path that the search found first.
    rate: Vec<Rate>,
    order: Vec<u32>,
    /// Place in that order.
    rank: Vec<u32>,
    /// Ports of each node in the order in which the search looks at them.
    ports: Vec<Vec<u16>>,
    first_path: bool,
}

impl Search {
    /// The HPCC simulator looks at neighbours by their place in memory: the last one made first.
    fn new(graph: &Epoch<'_>, sizes: &Sizes, quirks: &Quirks) -> Search {
        let nodes = graph.nodes();
        let ports = (0..nodes as u32).map(|node| {
            let mut live: Vec<(usize, &LinkEnd)> = graph.live_ports(node).collect();
            if quirks.node_hash {
                live.sort_by_key(|(port, end)| std::cmp::Reverse((end.peer, *port)));
            }
            live.into_iter().map(|(port, _)| port as u16).collect()
        });
        Search {
            distance: vec![u32::MAX; nodes],
            cost: vec![Time::ZERO; nodes],
            rate: vec![Rate::ZERO; nodes],
            order: Vec::new(),
            rank: vec![u32::MAX; nodes],
            ports: ports.collect(),
            first_path: sizes.payload_only.is_some(),
        }
    }

    /// `order` becomes the nodes reached, nearest first, without the hosts searched from.
    fn run(&mut self, graph: &Epoch<'_>, sizes: &Sizes, hosts: &[u32]) {
        self.distance.fill(u32::MAX);
        self.cost.fill(Time::ZERO);
        self.rank.fill(u32::MAX);
        self.order.clear();
        for &host in hosts {
            self.distance[host as usize] = 0;
        }
        // The first round goes from the hosts, later ones from switches: hosts do not forward.
        for &host in hosts {
            self.reach_from(graph, sizes, host, 1);
        }
        let mut next = 0;
        while next < self.order.len() {
            let node = self.order[next];
            next += 1;
            if !graph.is_host(node) {
                self.reach_from(graph, sizes, node, self.distance[node as usize] + 1);
            }
        }
    }

    /// Steps from `node` to its neighbours, against the packets' direction.
    fn reach_from(&mut self, graph: &Epoch<'_>, sizes: &Sizes, node: u32, distance: u32) {
        for place in 0..self.ports[node as usize].len() {
            let end = &graph.ports(node)[self.ports[node as usize][place] as usize];
            let peer = end.peer as usize;
            let is_first = self.distance[peer] == u32::MAX;
            if is_first {
                self.distance[peer] = distance;
                self.rank[peer] = self.order.len() as u32;
                self.order.push(end.peer);
                let before = if distance == 1 { end.rate } else { self.rate[node as usize] };
                self.rate[peer] = before.min(end.rate);
            }
            // Hosts of an attachment may have cables of different length.
            let counts = is_first || !self.first_path || distance == 1;
            if self.distance[peer] == distance && counts {
                let back = graph.ports(end.peer)[end.peer_port as usize];
                let cost = self.cost[node as usize] + sizes.both(graph, &back, end);
                self.cost[peer] = self.cost[peer].max(cost);
            }
        }
    }
}
