//! Next hops on spanning trees. A tree has one path between two nodes, so packets and their ACKs
//! use the same links in any network. TCP-Bolt routes like this ("Practical DCB for improved data
//! center networks", Stephens et al., INFOCOM 2014), and FNCC does (section 3.1).
//!
//! The hash of a QP selects its tree. Trees have their roots at the switches of the highest tier in
//! turn, and grow breadth first. A switch with several links up takes the one that the trees before
//! used least. In a fat tree with one tree for each core switch, these are the paths of ECMP.
//!
//! A set of ports in the tables then has one port for each tree, in the order of the trees.

use super::builder::{Attachments, HopCosts, NO_ROW, Table};
use crate::error::SetupError;
use crate::network::graph::Epoch;
use units::{PortId, Time, cancel};

/// A tree over switches.
struct Tree {
    /// By node, its ports whose links belong to the tree.
    ports: Vec<Vec<u16>>,
    reached: Vec<bool>,
}

/// The switch at which an attachment joins a tree.
#[derive(Clone, Copy)]
struct Leaf {
    switch: u32,
    /// The largest and the second largest round trip over the hosts' links to it.
    link_times: (Time, Time),
}

/// Fills the table of an epoch with `count` trees.
pub(super) fn fill(
    table: &mut Table,
    graph: &Epoch<'_>,
    hop_costs: &HopCosts,
    attached: &Attachments,
    count: u32,
) -> Result<(), SetupError> {
    let trees = grow(graph, attached, count as usize)?;
    // By tree, then attachment.
    let leaves: Vec<Vec<Leaf>> = trees
        .iter()
        .enumerate()
        .map(|(number, tree)| {
            let leaf = |hosts: &Vec<u32>| Leaf::new(graph, hop_costs, tree, number, hosts);
            attached.members.iter().map(leaf).collect()
        })
        .collect();
    let mut with_row: Vec<u32> = (0..graph.nodes() as u32).collect();
    with_row.retain(|&node| table.rows[node as usize] != NO_ROW);
    // By node, then tree.
    let mut next = vec![None; graph.nodes() * trees.len()];
    for (number, hosts) in attached.members.iter().enumerate() {
        cancel::check();
        next.fill(None);
        for (at, tree) in trees.iter().enumerate() {
            lead(graph, hop_costs, (tree, &leaves[at]), (number, hosts), table, |node, port| {
                next[node as usize * trees.len() + at] = Some(port);
            });
        }
        for &node in &with_row {
            let slot = table.slot(node, number);
            let toward = &next[node as usize * trees.len()..][..trees.len()];
            if let Some(own) = attached.slots.get(graph.host_of[node as usize] as usize) {
                let own = own.attachment as usize;
                let ports = leaves.iter().map(|leaves| port_to(graph, node, leaves[own].switch));
                table.entries[slot] = table.sets.name(&set_of(ports))?;
            } else if leaves.iter().any(|leaves| leaves[number].switch == node) {
                let sets = hosts.iter().map(|&host| {
                    set_of(toward.iter().zip(&leaves).map(|(&port, leaves)| {
                        let here = leaves[number].switch == node;
                        if here { port_to(graph, node, host) } else { port }
                    }))
                });
                table.entries[slot] = table.sets.of_hosts(sets)?;
            } else {
                table.entries[slot] = table.sets.name(&set_of(toward.iter().copied()))?;
            }
        }
    }
    Ok(())
}

/// The set of one port for each tree, or of a single port if all trees use it. A tree that does not
/// reach the node gets any port.
fn set_of(ports: impl Iterator<Item = Option<PortId>> + Clone) -> Vec<PortId> {
    let any = ports.clone().flatten().next().unwrap_or(PortId::new(0));
    let mut set: Vec<PortId> = ports.map(|port| port.unwrap_or(any)).collect();
    if set.iter().all(|&port| port == any) {
        set.truncate(1);
    }
    set
}

/// The first port of `node` that leads to `peer`.
fn port_to(graph: &Epoch<'_>, node: u32, peer: u32) -> Option<PortId> {
    let (port, _) = graph.live_ports(node).find(|(_, end)| end.peer == peer)?;
    Some(PortId::new(port as u16))
}

impl Leaf {
    /// Hosts with several switches use them in turn, tree by tree.
    fn new(
        graph: &Epoch<'_>,
        hop_costs: &HopCosts,
        tree: &Tree,
        number: usize,
        hosts: &[u32],
    ) -> Leaf {
        let neighbours = graph.live_ports(hosts[0]).map(|(_, end)| end.peer);
        let mut switches: Vec<u32> =
            neighbours.filter(|&peer| tree.reached[peer as usize]).collect();
        switches.sort_unstable();
        switches.dedup();
        let switch = switches[number % switches.len()];
        let mut link_times = (Time::ZERO, Time::ZERO);
        for &host in hosts {
            let port = port_to(graph, host, switch).expect("it hangs there");
            let end = graph.ports(host)[port.index()];
            let back = graph.ports(switch)[usize::from(end.peer_port)];
            let cost = hop_costs.both(graph, &end, &back);
            link_times = (link_times.0.max(cost), link_times.1.max(cost.min(link_times.0)));
        }
        Leaf { switch, link_times }
    }
}

/// Grows `count` trees, each of which reaches all hosts.
fn grow(graph: &Epoch<'_>, attached: &Attachments, count: usize) -> Result<Vec<Tree>, SetupError> {
    let spans = |reached: &[bool]| {
        attached.members.iter().all(|hosts| {
            let mut ends = graph.live_ports(hosts[0]);
            ends.clone().any(|(_, end)| reached[end.peer as usize])
                && ends.all(|(_, end)| !graph.is_host(end.peer))
        })
    };
    let mut uses: Vec<Vec<u32>> =
        (0..graph.nodes() as u32).map(|node| vec![0; graph.ports(node).len()]).collect();
    let mut roots = Vec::new();
    let mut seen = vec![false; graph.nodes()];
    for root in (0..graph.nodes() as u32).filter(|&node| !graph.is_host(node)) {
        if seen[root as usize] {
            continue;
        }
        // All nodes that it reaches would reach the same ones.
        let reached = Tree::grow(graph, root, &uses).reached;
        let part = (0..graph.nodes() as u32).filter(|&node| reached[node as usize]);
        part.clone().for_each(|node| seen[node as usize] = true);
        if spans(&reached) {
            roots.extend(part);
        }
    }
    roots.sort_unstable();
    let highest = roots.iter().map(|&node| graph.tiers[node as usize]).max();
    roots.retain(|&node| Some(graph.tiers[node as usize]) == highest);
    if roots.is_empty() {
        return Err(SetupError::NoSpanningTree);
    }
    let grow = |&root: &u32| {
        let tree = Tree::grow(graph, root, &uses);
        for (uses, ports) in uses.iter_mut().zip(&tree.ports) {
            ports.iter().for_each(|&port| uses[usize::from(port)] += 1);
        }
        tree
    };
    Ok(roots.iter().cycle().take(count).map(grow).collect())
}

impl Tree {
    /// Grows a tree from `root`. `uses`: by node and port, how many trees use it already.
    fn grow(graph: &Epoch<'_>, root: u32, uses: &[Vec<u32>]) -> Tree {
        cancel::check();
        let mut distance = vec![u32::MAX; graph.nodes()];
        distance[root as usize] = 0;
        let mut order = vec![root];
        let mut next = 0;
        while next < order.len() {
            let node = order[next];
            next += 1;
            for (_, end) in graph.live_ports(node) {
                if !graph.is_host(end.peer) && distance[end.peer as usize] == u32::MAX {
                    distance[end.peer as usize] = distance[node as usize] + 1;
                    order.push(end.peer);
                }
            }
        }
        let mut ports = vec![Vec::new(); graph.nodes()];
        for &node in &order[1..] {
            let ends = graph.live_ports(node);
            let up = ends
                .filter(|(_, end)| distance[end.peer as usize] == distance[node as usize] - 1)
                .min_by_key(|&(port, _)| uses[node as usize][port]);
            let (port, end) = up.expect("it was reached from above");
            ports[node as usize].push(port as u16);
            ports[end.peer as usize].push(end.peer_port);
        }
        Tree { ports, reached: distance.iter().map(|&d| d != u32::MAX).collect() }
    }
}

/// Calls `toward` with each switch's port to the attachment `number`, and counts the round trips
/// from all other attachments.
fn lead(
    graph: &Epoch<'_>,
    hop_costs: &HopCosts,
    (tree, leaves): (&Tree, &[Leaf]),
    (number, hosts): (usize, &[u32]),
    table: &mut Table,
    mut toward: impl FnMut(u32, PortId),
) {
    cancel::check();
    let mut reached: Vec<Option<(Time, usize)>> = vec![None; graph.nodes()];
    reached[leaves[number].switch as usize] = Some((Time::ZERO, 1));
    let mut order = vec![leaves[number].switch];
    let mut next = 0;
    while next < order.len() {
        let node = order[next];
        next += 1;
        let (cost, switches) = reached[node as usize].expect("it is in order");
        for &port in &tree.ports[node as usize] {
            let end = graph.ports(node)[usize::from(port)];
            let known = &mut reached[end.peer as usize];
            if known.is_none() {
                let back = graph.ports(end.peer)[usize::from(end.peer_port)];
                *known = Some((cost + hop_costs.both(graph, &back, &end), switches + 1));
                toward(end.peer, PortId::new(end.peer_port));
                order.push(end.peer);
            }
        }
    }
    let (farthest, second) = leaves[number].link_times;
    for (other, leaf) in leaves.iter().enumerate() {
        let (cost, switches) = reached[leaf.switch as usize].expect("trees span");
        if other != number {
            table.note_round_trip(farthest + cost + leaf.link_times.0, switches);
        } else if hosts.len() > 1 {
            table.note_round_trip(farthest + second, switches);
        }
    }
}
