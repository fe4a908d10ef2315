//! Shortest paths by hop count: all that there are of that length.

use super::table::{Attachments, NO_ROW, Place, Sizes, Table};
use crate::graph::Epoch;
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
    let mut search = Search::new(graph, sizes, &table.rows, quirks);
    let on_switch = hosts_on_switches(graph, sizes, &attached.places);
    // Filled anew for each node: a list of its own for each would take half as long again.
    let mut toward = Vec::new();
    for (number, hosts) in attached.members.iter().enumerate() {
        search.run(graph, hosts);
        for &node in hosts.iter().chain(&search.order) {
            if table.rows[node as usize] == NO_ROW {
                continue;
            }
            let slot = table.slot(node, number);
            let entry = match search.distance[node as usize] {
                // To a host on the same switches.
                0 => {
                    let to_switch = |peer| !graph.is_host(peer);
                    table.sets.name(&search.ports_to(graph, node, to_switch))?
                }
                1 => {
                    let sets: Vec<_> = hosts
                        .iter()
                        .map(|&host| search.ports_to(graph, node, |peer| peer == host))
                        .collect();
                    if sets.iter().all(|set| set.len() == 1) {
                        table.sets.single_ports(&sets.concat())?
                    } else {
                        table.sets.of_hosts(sets.into_iter())?
                    }
                }
                _ => {
                    search.ports_nearer(graph, node, &mut toward);
                    table.sets.name(&toward)?
                }
            };
            table.entries[slot] = entry;
        }
        for &node in &search.order {
            let (cost, rate) = (search.cost[node as usize], search.rate[node as usize]);
            let distance = search.distance[node as usize] as usize;
            if graph.is_host(node) {
                // Wired to a host of the attachment; or with several cables, which count at their switches.
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

/// A link as the search steps over it, against the packets' direction.
#[derive(Clone, Copy, Debug)]
struct Step {
    peer: u32,
    /// The port of the node that is stepped from.
    port: PortId,
    rate: Rate,
    /// Of a data packet from the peer, and its ACK back.
    cost: Time,
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
    /// Steps from each node, one after another, in the order in which the search looks at them; and where
    /// those of each node begin.
    steps: Vec<Step>,
    first_step: Vec<usize>,
    /// Whether links are looked at, and next hops listed, as the HPCC simulator does.
    by_rank: bool,
    first_path: bool,
}

impl Search {
    /// Hosts without a row need not be found: what is said of the hosts on a switch holds for them.
    /// The HPCC simulator looks at neighbours by their place in memory: the last one made first.
    fn new(graph: &Epoch<'_>, sizes: &Sizes, rows: &[u32], quirks: &Quirks) -> Search {
        let nodes = graph.nodes();
        let (mut steps, mut first_step) = (Vec::new(), vec![0]);
        for node in 0..nodes as u32 {
            let live = graph.live_ports(node).filter(|(_, end)| {
                graph.is_host(node) || !graph.is_host(end.peer) || rows[end.peer as usize] != NO_ROW
            });
            let begin = steps.len();
            steps.extend(live.map(|(port, end)| Step {
                peer: end.peer,
                port: PortId::new(port as u16),
                rate: end.rate,
                cost: sizes.both(graph, &graph.ports(end.peer)[end.peer_port as usize], end),
            }));
            if quirks.node_hash {
                steps[begin..].sort_by_key(|step| std::cmp::Reverse((step.peer, step.port)));
            }
            first_step.push(steps.len());
        }
        Search {
            distance: vec![u32::MAX; nodes],
            cost: vec![Time::ZERO; nodes],
            rate: vec![Rate::ZERO; nodes],
            order: Vec::new(),
            rank: vec![u32::MAX; nodes],
            steps,
            first_step,
            by_rank: quirks.node_hash,
            first_path: sizes.payload_only.is_some(),
        }
    }

    fn steps(&self, node: u32) -> std::ops::Range<usize> {
        self.first_step[node as usize]..self.first_step[node as usize + 1]
    }

    /// `order` becomes the nodes reached, nearest first, without the hosts searched from.
    fn run(&mut self, graph: &Epoch<'_>, hosts: &[u32]) {
        self.distance.fill(u32::MAX);
        self.cost.fill(Time::ZERO);
        self.rank.fill(u32::MAX);
        self.order.clear();
        for &host in hosts {
            self.distance[host as usize] = 0;
        }
        // The first round goes from the hosts, later ones from switches: hosts do not forward.
        for &host in hosts {
            self.reach_from(host, 1);
        }
        let mut next = 0;
        while next < self.order.len() {
            let node = self.order[next];
            next += 1;
            if !graph.is_host(node) {
                self.reach_from(node, self.distance[node as usize] + 1);
            }
        }
    }

    /// Steps from `node` to its neighbours, against the packets' direction.
    fn reach_from(&mut self, node: u32, distance: u32) {
        let (cost, rate) = (self.cost[node as usize], self.rate[node as usize]);
        for step in &self.steps[self.steps(node)] {
            let peer = step.peer as usize;
            let is_first = self.distance[peer] == u32::MAX;
            if is_first {
                self.distance[peer] = distance;
                self.rank[peer] = self.order.len() as u32;
                self.order.push(step.peer);
                let before = if distance == 1 { step.rate } else { rate };
                self.rate[peer] = before.min(step.rate);
            }
            // Hosts of an attachment may have cables of different length.
            let counts = is_first || !self.first_path || distance == 1;
            if self.distance[peer] == distance && counts {
                self.cost[peer] = self.cost[peer].max(cost + step.cost);
            }
        }
    }

    /// The ports of `node` to peers that `leads` takes.
    fn ports_to(&self, graph: &Epoch<'_>, node: u32, leads: impl Fn(u32) -> bool) -> Vec<PortId> {
        let live = graph.live_ports(node).filter(|(_, end)| leads(end.peer));
        let mut ports = live.map(|(port, _)| PortId::new(port as u16)).collect();
        self.list(graph, node, &mut ports);
        ports
    }

    /// The ports of `node` to switches that are nearer.
    fn ports_nearer(&self, graph: &Epoch<'_>, node: u32, ports: &mut Vec<PortId>) {
        let nearer = self.distance[node as usize] - 1;
        let steps = self.steps[self.steps(node)].iter().filter(|step| {
            self.distance[step.peer as usize] == nearer && !graph.is_host(step.peer)
        });
        ports.clear();
        ports.extend(steps.map(|step| step.port));
        self.list(graph, node, ports);
    }

    /// As the HPCC simulator lists next hops, where that is asked for: one link to each neighbour, the
    /// last; neighbours in the order in which its search from the destination came upon them.
    fn list(&self, graph: &Epoch<'_>, node: u32, ports: &mut Vec<PortId>) {
        if !self.by_rank {
            return;
        }
        let ends = graph.ports(node);
        let peer = |port: &PortId| ends[port.index()].peer;
        let rank = |peer: u32| self.rank[peer as usize];
        ports.sort_by_key(|port| (rank(peer(port)), peer(port), std::cmp::Reverse(*port)));
        ports.dedup_by_key(|port| peer(port));
    }
}
