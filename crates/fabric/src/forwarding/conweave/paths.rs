//! The shortest paths between top-of-rack switches, numbered.
//!
//! The paths from a node to a rack are numbered from 0. Those through its first next hop come first
//! and are numbered as that neighbour numbers them, and so on. So a switch finds the next hop of a
//! path by subtracting, and passes on the number that the path has for the neighbour.

use crate::error::SetupError;
use crate::network::graph::{Graph, LinkEnd};
use crate::routing::Routes;
use schemes::contract::HostLocation;
use units::{NodeId, PortId, Time, cancel};

/// A packet has 8 bits for a path.
pub(crate) const MAX_PATHS: u32 = 255;

/// What leads from a node to a rack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Toward {
    /// How many shortest paths there are; [`UNKNOWN`] while that is being found.
    pub(crate) paths: u32,
    /// The longest time that a full data packet takes on one of them while nothing waits.
    pub(crate) data: Time,
    /// The longest time that a control packet of the switches takes on one of them.
    pub(crate) control: Time,
}

const UNKNOWN: u32 = u32::MAX;

/// What leads from each node to each rack, in each epoch.
#[derive(Debug)]
pub(crate) struct PathTable {
    /// By epoch, node and rack.
    toward: Vec<Toward>,
    nodes: usize,
    racks: usize,
}

impl PathTable {
    /// `times`: how long a full data packet, and one of the switches, takes on a link.
    pub(crate) fn new(
        graph: &Graph,
        routes: &Routes,
        hosts: &[HostLocation],
        times: impl Fn(&LinkEnd) -> [Time; 2],
    ) -> Result<PathTable, SetupError> {
        let nodes = graph.nodes();
        let racks = hosts.iter().map(|host| host.rack as usize + 1).max().unwrap_or(0);
        let unknown = Toward { paths: UNKNOWN, ..Toward::default() };
        let toward = vec![unknown; graph.epochs() * nodes * racks];
        let mut table = PathTable { toward, nodes, racks };
        // By rack, its switch and hosts.
        let mut members: Vec<(u32, Vec<u32>)> = vec![(0, Vec::new()); racks];
        for (host, location) in hosts.iter().enumerate() {
            let member = &mut members[location.rack as usize];
            member.0 = location.tor.get();
            member.1.push(host as u32);
        }
        for epoch in 0..graph.epochs() {
            for (rack, (tor, hosts)) in members.iter().enumerate() {
                cancel::check();
                // All hosts whose links work have the same routes.
                let is_reached = |&&host: &&u32| !routes.next_hops(*tor, host, epoch).is_empty();
                let host = *hosts.iter().find(is_reached).unwrap_or(&hosts[0]);
                let place = table.place(epoch, *tor, rack as u32);
                table.toward[place] = Toward { paths: 1, ..Toward::default() };
                for node in (0..nodes as u32).filter(|&node| !graph.is_host(node)) {
                    let next_hops = |node| routes.next_hops(node, host, epoch);
                    table.find(graph, &times, &next_hops, (epoch, node, rack as u32));
                }
                for &(from, _) in &members {
                    let paths = table.toward(epoch, from, rack as u32).paths;
                    if paths > MAX_PATHS {
                        let [from, to] = [from, *tor].map(NodeId::new);
                        return Err(SetupError::TooManyPaths { from, to, paths });
                    }
                }
            }
        }
        Ok(table)
    }

    /// Fills an entry, and those that it depends on.
    fn find<'r>(
        &mut self,
        graph: &Graph,
        times: &impl Fn(&LinkEnd) -> [Time; 2],
        next_hops: &impl Fn(u32) -> &'r [PortId],
        (epoch, node, rack): (usize, u32, u32),
    ) -> Toward {
        let place = self.place(epoch, node, rack);
        if self.toward[place].paths != UNKNOWN {
            return self.toward[place];
        }
        let mut all = Toward::default();
        for &port in next_hops(node) {
            let end = &graph.ports(node)[port.index()];
            let rest = self.find(graph, times, next_hops, (epoch, end.peer, rack));
            let [data, control] = times(end);
            all = Toward {
                paths: all.paths.saturating_add(rest.paths),
                data: all.data.max(data + rest.data),
                control: all.control.max(control + rest.control),
            };
        }
        self.toward[place] = all;
        all
    }

    /// The next hop of the path with a number, and the number that it has for the neighbour there.
    /// `next_hops`: the ports that lead to the rack, in order, with the switches behind them.
    #[inline]
    pub(crate) fn step(
        &self,
        epoch: usize,
        next_hops: impl Iterator<Item = (PortId, Option<u32>)>,
        rack: u32,
        mut number: u32,
    ) -> Option<(PortId, u8)> {
        for (port, neighbour) in next_hops {
            let paths = neighbour.map_or(0, |node| self.toward(epoch, node, rack).paths);
            if number < paths {
                return Some((port, number as u8));
            }
            number -= paths;
        }
        None
    }

    /// What leads from a switch to a rack.
    #[inline]
    pub(crate) fn toward(&self, epoch: usize, node: u32, rack: u32) -> Toward {
        self.toward[self.place(epoch, node, rack)]
    }

    #[inline]
    fn place(&self, epoch: usize, node: u32, rack: u32) -> usize {
        (epoch * self.nodes + node as usize) * self.racks + rack as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::{Compat, Quirks};
    use crate::forwarding::test_network;
    use crate::network::host_locations;
    use model::{Link, Node, NodeKind, Outage, Paths};
    use std::collections::BTreeSet;
    use units::Rate;

    /// Two pods of two racks and two aggregation switches, four cores, a host in each rack: nodes 0
    /// to 3 are hosts, 4 to 7 racks' switches, 8 to 11 aggregation switches, 12 to 15 cores.
    fn fat_tree(outages: &[Outage]) -> Graph {
        let tiers = [[0; 4], [1; 4], [2; 4], [3; 4]].concat();
        let kind = |tier| if tier == 0 { NodeKind::Host } else { NodeKind::Switch };
        let nodes: Vec<Node> =
            tiers.iter().map(|&tier| Node { kind: kind(tier), tier, buffer: None }).collect();
        let mut pairs: Vec<(u32, u32)> = (0..4).map(|host| (host, 4 + host)).collect();
        for pod in 0..2 {
            for agg in [8 + 2 * pod, 9 + 2 * pod] {
                pairs.extend([4 + 2 * pod, 5 + 2 * pod].map(|tor| (tor, agg)));
                pairs.extend((0..2).map(|core| (agg, 12 + 2 * (agg % 2) + core)));
            }
        }
        let link = |(a, b): (u32, u32)| Link {
            a: NodeId::new(a),
            b: NodeId::new(b),
            rate: Rate::from_gbps(100),
            // One is longer.
            delay: Time::from_us(if (a, b) == (9, 14) { 3 } else { 1 }),
            pfc: true,
            error_rate: 0.0,
        };
        let links: Vec<Link> = pairs.into_iter().map(link).collect();
        Graph::new(&nodes, &links, outages, &[])
    }

    fn table(graph: &Graph) -> (PathTable, Routes) {
        let compat = Compat::new(Quirks::default());
        let routes = test_network::routes(graph, &compat, Paths::FiveTuple);
        let hosts = host_locations::of_hosts(graph);
        let times = |end: &LinkEnd| [end.delay + Time::from_ns(80), end.delay + Time::from_ns(6)];
        (PathTable::new(graph, &routes, &hosts, times).unwrap(), routes)
    }

    /// The nodes of a path to a host, each in a rack of its own.
    fn walk(
        graph: &Graph,
        (table, routes): &(PathTable, Routes),
        (epoch, from, host): (usize, u32, u32),
        mut number: u32,
    ) -> Vec<u32> {
        let mut nodes = vec![from];
        while nodes[nodes.len() - 1] != host + 4 {
            let node = nodes[nodes.len() - 1];
            let next_hops = routes.next_hops(node, host, epoch).iter();
            let peer = |port: PortId| graph.ports(node)[port.index()].peer;
            let next_hops = next_hops.map(|&port| (port, Some(peer(port))));
            let (port, rest) = table.step(epoch, next_hops, host, number).unwrap();
            nodes.push(peer(port));
            number = u32::from(rest);
        }
        nodes
    }

    #[test]
    fn each_number_is_a_path_of_its_own_and_each_path_has_one() {
        // The link from the first rack to one of its two aggregation switches fails.
        let outage = Outage { entry: 0, link: 4, from: Time::from_us(50), until: Time::NEVER };
        let graph = fat_tree(&[outage]);
        let found = table(&graph);
        for (epoch, from, host, paths) in [(0, 4, 1, 2), (0, 4, 3, 4), (1, 4, 3, 2), (1, 5, 3, 4)] {
            assert_eq!(found.0.toward(epoch, from, host).paths, paths);
            let all: BTreeSet<_> =
                (0..paths).map(|n| walk(&graph, &found, (epoch, from, host), n)).collect();
            assert_eq!(all.len(), paths as usize);
        }
        assert_eq!(found.0.toward(0, 4, 0).paths, 1);
    }

    #[test]
    fn times_are_those_of_the_longest_path() {
        let graph = fat_tree(&[]);
        let (table, _) = table(&graph);
        let there = table.toward(0, 4, 3);
        assert_eq!(there.data, Time::from_us(6) + Time::from_ns(4 * 80));
        assert_eq!(there.control, Time::from_us(6) + Time::from_ns(4 * 6));
        assert_eq!(table.toward(0, 4, 1).data, Time::from_us(2) + Time::from_ns(160));
    }
}
