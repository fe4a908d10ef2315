//! Next hops on all shortest paths, by number of hops.

use super::builder::{Attachments, HopCosts, HostSlot, NO_ROW, Table};
use crate::compat::{Compat, SearchOrder};
use crate::error::SetupError;
use crate::network::graph::Epoch;
use std::cmp::Reverse;
use units::{PortId, Rate, Time, cancel};

/// Fills the table of an epoch. Every host can reach every other; the scenario has checked that.
pub(super) fn fill(
    table: &mut Table,
    graph: &Epoch<'_>,
    hop_costs: &HopCosts,
    attached: &Attachments,
    compat: &Compat,
) -> Result<(), SetupError> {
    let mut search = Search::new(graph, hop_costs, &table.rows, compat);
    let on_switch = hosts_on_switches(graph, hop_costs, &attached.slots);
    // Used for all nodes: a new list for each makes this take half as long again.
    let mut toward = Vec::new();
    // The attachment that the last search began from, and its switch.
    let mut last: Option<(usize, Leaf)> = None;
    for (number, hosts) in attached.members.iter().enumerate() {
        cancel::check();
        let leaf = search.leaf(graph, hosts);
        let known = last.zip(leaf).filter(|((_, known), leaf)| search.are_equivalent(known, leaf));
        match known {
            Some(((_, known), leaf)) => search.swap(known.switch, leaf.switch),
            None => search.run(graph, hosts),
        }
        last = leaf.map(|leaf| (number, leaf));
        for &node in hosts.iter().chain(&search.order) {
            if table.rows[node as usize] == NO_ROW {
                continue;
            }
            let slot = table.slot(node, number);
            if let Some(((earlier, leaf), _)) = known
                && search.distance[node as usize] > 2
                && node != leaf.switch
            {
                // It is neither one of the two switches nor a neighbour of theirs.
                table.entries[slot] = table.entries[table.slot(node, earlier)];
                continue;
            }
            let entry = match search.distance[node as usize] {
                // From a host of the attachment to another one.
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
                // A host linked to one of the attachment; or a host with several links, whose round
                // trips count at its switches.
                table.note_round_trip_at_rate(cost, rate, 0);
                continue;
            }
            for &OnSwitch { attachment, farthest, second, fastest } in &on_switch[node as usize] {
                let rate = rate.min(fastest);
                if attachment != number as u32 {
                    table.note_round_trip_at_rate(cost + farthest, rate, distance);
                } else if second > Time::ZERO {
                    table.note_round_trip_at_rate(farthest + second, fastest, distance);
                }
            }
        }
    }
    Ok(())
}

/// The hosts of an attachment that hang on a switch, by equal links.
#[derive(Clone, Copy, Debug)]
struct OnSwitch {
    attachment: u32,
    /// The round trip over the link of a host. If hosts have several links here, the largest.
    farthest: Time,
    /// That of a second host; zero if there is only one.
    second: Time,
    /// The highest rate of these links.
    fastest: Rate,
}

/// The attachments with hosts on each switch.
fn hosts_on_switches(
    graph: &Epoch<'_>,
    hop_costs: &HopCosts,
    slots: &[HostSlot],
) -> Vec<Vec<OnSwitch>> {
    let mut found: Vec<Vec<OnSwitch>> = vec![Vec::new(); graph.nodes()];
    for (slot, &host) in slots.iter().zip(&graph.hosts) {
        for (_, end) in graph.live_ports(host) {
            let back = graph.ports(end.peer)[end.peer_port as usize];
            let cost = hop_costs.both(graph, end, &back);
            let known = &mut found[end.peer as usize];
            match known.iter_mut().find(|here| here.attachment == slot.attachment) {
                Some(here) => {
                    here.second = here.second.max(cost.min(here.farthest));
                    here.farthest = here.farthest.max(cost);
                    here.fastest = here.fastest.max(end.rate);
                }
                None => known.push(OnSwitch {
                    attachment: slot.attachment,
                    farthest: cost,
                    second: Time::ZERO,
                    fastest: end.rate,
                }),
            }
        }
    }
    found
}

/// A step of the search over a link, against the direction of packets.
#[derive(Clone, Copy, Debug)]
struct Step {
    peer: u32,
    /// The port of the node from which the step leads.
    port: PortId,
    rate: Rate,
    /// The time of a data packet from the peer and of its ACK back.
    cost: Time,
}

/// The only switch that the hosts of an attachment hang on, and what a search finds there.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    switch: u32,
    cost: Time,
    rate: Rate,
}

/// Breadth-first search from the hosts of an attachment.
struct Search {
    distance: Vec<u32>,
    /// The largest round trip from each node to a host of the attachment, over any shortest path.
    /// If `first_path`, over the path that the search found first.
    cost: Vec<Time>,
    /// By node, the lowest rate on the path that the search found first.
    rate: Vec<Rate>,
    order: Vec<u32>,
    /// Index of each node in `order`.
    rank: Vec<u32>,
    /// The steps from all nodes, in the order in which the search takes them, and where those of
    /// each node begin.
    steps: Vec<Step>,
    first_step: Vec<usize>,
    /// Whether links are searched, and next hops listed, in the order of the HPCC simulator.
    by_rank: bool,
    first_path: bool,
}

impl Search {
    /// Hosts without a row need not be found: [`OnSwitch`] covers them. The HPCC simulator visits
    /// neighbours by their address in memory, the last one created first. ConWeave's visits the
    /// first one created first.
    fn new(graph: &Epoch<'_>, hop_costs: &HopCosts, rows: &[u32], compat: &Compat) -> Search {
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
                cost: hop_costs.both(graph, &graph.ports(end.peer)[end.peer_port as usize], end),
            }));
            let own = &mut steps[begin..];
            match compat.search_order() {
                Some(SearchOrder::Descending) => {
                    own.sort_by_key(|step| Reverse((step.peer, step.port)));
                }
                // Of several links to a neighbour the last comes first.
                Some(SearchOrder::Ascending) => {
                    own.sort_by_key(|step| (step.peer, Reverse(step.port)));
                }
                None => {}
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
            by_rank: compat.search_order().is_some(),
            first_path: hop_costs.payload_only.is_some(),
        }
    }

    fn steps(&self, node: u32) -> std::ops::Range<usize> {
        self.first_step[node as usize]..self.first_step[node as usize + 1]
    }

    /// Searches from these hosts. `order` becomes the nodes reached, the nearest first, without the
    /// hosts themselves.
    fn run(&mut self, graph: &Epoch<'_>, hosts: &[u32]) {
        self.distance.fill(u32::MAX);
        self.cost.fill(Time::ZERO);
        self.rank.fill(u32::MAX);
        self.order.clear();
        for &host in hosts {
            self.distance[host as usize] = 0;
        }
        // The first steps lead from the hosts, later ones from switches only: hosts do not forward.
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

    /// Returns the leaf of the attachment with these hosts, if it has only one switch.
    fn leaf(&self, graph: &Epoch<'_>, hosts: &[u32]) -> Option<Leaf> {
        let mut steps = hosts.iter().flat_map(|&host| &self.steps[self.steps(host)]);
        let first = steps.next().filter(|step| !graph.is_host(step.peer))?;
        let cost = steps.try_fold(first.cost, |cost, step| {
            (step.peer == first.peer).then_some(cost.max(step.cost))
        })?;
        Some(Leaf { switch: first.peer, cost, rate: first.rate })
    }

    /// Returns whether searches from two leaves differ only in which of the two switches comes
    /// first. Then both switches have the same links to the same neighbours, among them a switch.
    /// The last search began at `a`. In the HPCC simulator the order of the search counts, so no
    /// two are equivalent.
    fn are_equivalent(&self, a: &Leaf, b: &Leaf) -> bool {
        let links = |leaf: &Leaf| {
            let steps = &self.steps[self.steps(leaf.switch)];
            steps.iter().map(|step| (step.peer, step.rate, step.cost))
        };
        !self.by_rank
            && !self.first_path
            && a.switch != b.switch
            && (a.cost, a.rate) == (b.cost, b.rate)
            && self.rank[b.switch as usize] != u32::MAX
            && links(a).eq(links(b))
    }

    /// Turns the search from a leaf with switch `from` into that from its equivalent with switch
    /// `to`.
    fn swap(&mut self, from: u32, to: u32) {
        let (a, b) = (from as usize, to as usize);
        self.distance.swap(a, b);
        self.cost.swap(a, b);
        self.rate.swap(a, b);
        self.order.swap(self.rank[a] as usize, self.rank[b] as usize);
        self.rank.swap(a, b);
    }

    /// Steps from `node` to its neighbours, against the direction of packets.
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
            // Hosts of an attachment may have links of different length.
            let counts = is_first || !self.first_path || distance == 1;
            if self.distance[peer] == distance && counts {
                self.cost[peer] = self.cost[peer].max(cost + step.cost);
            }
        }
    }

    /// The ports of `node` to peers for which `leads` is true.
    fn ports_to(&self, graph: &Epoch<'_>, node: u32, leads: impl Fn(u32) -> bool) -> Vec<PortId> {
        let live = graph.live_ports(node).filter(|(_, end)| leads(end.peer));
        let mut ports = live.map(|(port, _)| PortId::new(port as u16)).collect();
        self.list(graph, node, &mut ports);
        ports
    }

    /// Fills `ports` with the ports of `node` to switches that are nearer to the hosts.
    fn ports_nearer(&self, graph: &Epoch<'_>, node: u32, ports: &mut Vec<PortId>) {
        let nearer = self.distance[node as usize] - 1;
        let steps = self.steps[self.steps(node)].iter().filter(|step| {
            self.distance[step.peer as usize] == nearer && !graph.is_host(step.peer)
        });
        ports.clear();
        ports.extend(steps.map(|step| step.port));
        self.list(graph, node, ports);
    }

    /// Lists next hops as the HPCC simulator does, if that is asked for: only the last link to each
    /// neighbour, neighbours in the order in which the search from the destination found them.
    fn list(&self, graph: &Epoch<'_>, node: u32, ports: &mut Vec<PortId>) {
        if !self.by_rank {
            return;
        }
        let ends = graph.ports(node);
        let peer = |port: &PortId| ends[port.index()].peer;
        let rank = |peer: u32| self.rank[peer as usize];
        ports.sort_by_key(|port| (rank(peer(port)), peer(port), Reverse(*port)));
        ports.dedup_by_key(|port| peer(port));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::graph::Graph;
    use model::{Link, Node, NodeKind};
    use proptest::prelude::*;
    use units::NodeId;

    /// Racks of two hosts, each linked to the `ups` among four switches, which a last switch
    /// connects. Delays in us.
    fn network(racks: &[(u8, u64, u64)]) -> (Vec<Node>, Vec<Link>) {
        let node = |kind, tier| Node { kind, tier, buffer: None };
        let cable = |a: usize, b: usize, delay: u64| Link {
            a: NodeId::new(a as u32),
            b: NodeId::new(b as u32),
            rate: Rate::from_gbps(100),
            delay: Time::from_us(delay),
            pfc: true,
            error_rate: 0.0,
        };
        let mut nodes = vec![node(NodeKind::Switch, 2); 4];
        nodes.push(node(NodeKind::Switch, 3));
        let mut cables: Vec<Link> = (0..4).map(|up| cable(up, 4, 1)).collect();
        for &(ups, host_delay, delay) in racks {
            let rack = nodes.len();
            nodes.push(node(NodeKind::Switch, 1));
            cables.extend((0..4).filter(|up| ups & 1 << up != 0).map(|up| cable(rack, up, delay)));
            for host in rack + 1..=rack + 2 {
                nodes.push(node(NodeKind::Host, 0));
                cables.push(cable(host, rack, host_delay));
            }
        }
        (nodes, cables)
    }

    fn rack() -> impl Strategy<Value = (u8, u64, u64)> {
        (prop::sample::select(vec![0b1111u8, 0b0011, 0b0101]), 1..3u64, 1..3u64)
    }

    /// Returns which of `racks` are equivalent to the one before; checks the search of each.
    fn equivalent(racks: &[(u8, u64, u64)]) -> Vec<bool> {
        let (nodes, cables) = network(racks);
        let graph = Graph::new(&nodes, &cables, &[], &[]);
        let epoch = graph.in_epoch(0);
        let attached = Attachments::new(&[epoch]);
        let table =
            Table::new(&graph, attached.members.len(), super::super::builder::PortSetCodec::new(8));
        let new = || Search::new(&epoch, &HopCosts::PLAIN, &table.rows, &Compat::default());
        let mut search = new();
        let mut last: Option<Leaf> = None;
        let mut found = Vec::new();
        for hosts in &attached.members {
            let leaf = search.leaf(&epoch, hosts).expect("a rack has one switch");
            let known = last.filter(|known| search.are_equivalent(known, &leaf));
            match known {
                Some(known) => search.swap(known.switch, leaf.switch),
                None => search.run(&epoch, hosts),
            }
            found.push(known.is_some());
            last = Some(leaf);
            let mut alone = new();
            alone.run(&epoch, hosts);
            for node in (0..graph.nodes()).filter(|&node| !graph.is_host(node as u32)) {
                let of = |one: &Search| (one.distance[node], one.cost[node], one.rate[node]);
                assert_eq!(of(&search), of(&alone), "node {node} from {hosts:?}");
                assert_eq!(search.order[search.rank[node] as usize], node as u32);
            }
            let sorted = |one: &Search| {
                let mut order = one.order.clone();
                order.sort_unstable();
                order
            };
            assert_eq!(sorted(&search), sorted(&alone));
        }
        found
    }

    #[test]
    fn racks_with_the_same_links_are_equivalent() {
        let (wide, far, near_hosts) = ((0b1111, 2, 2), (0b1111, 2, 1), (0b1111, 1, 2));
        assert_eq!(equivalent(&[wide; 4]), [false, true, true, true]);
        assert_eq!(equivalent(&[wide, far, far, wide]), [false, false, true, false]);
        assert_eq!(equivalent(&[wide, near_hosts, wide]), [false, false, false]);
        assert_eq!(equivalent(&[(0b0011, 1, 1), (0b0101, 1, 1)]), [false, false]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn a_search_taken_over_from_an_equivalent_leaf_is_its_own(
            racks in prop::collection::vec(rack(), 2..8),
        ) {
            equivalent(&racks);
        }
    }
}
