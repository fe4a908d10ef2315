//! The paths between leaves. A leaf is a switch with hosts. A leaf chooses a path, and the packet
//! carries it in a tag.

use crate::network::{Node, Port, neighbour};
use crate::routes::Routes;
use fabric::ns3::murmur3;
use hpcc_files::Flow;
use std::collections::{BTreeSet, HashMap};

/// How many switches have a port in a path, at most.
const MAX_LENGTH: u32 = 4;
/// The greatest number of a port that a path has room for.
const MAX_PORT: usize = 255;

/// A path from leaf to leaf: the numbers of the ports that lead out of its switches, one in each
/// byte, that of the first switch in the lowest. Ports count from 1, so unused bytes are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Path(u32);

impl Path {
    /// A path through no switch: that of a packet to which no leaf has given one.
    pub(super) const EMPTY: Path = Path(0);

    /// Returns the path that goes on through a port of its switch number `hop`, from 0.
    pub(super) fn through(self, hop: u32, port: u16) -> Path {
        Path(self.0 | u32::from(port & 0xff) << (8 * hop))
    }

    /// Returns the number of the port that it takes at its switch number `hop`, from 0.
    pub(super) fn port_at(self, hop: u8) -> u32 {
        self.0 >> (8 * u32::from(hop)) & 0xff
    }

    /// Returns how many switches have a port in it.
    pub(super) fn length(self) -> u32 {
        MAX_LENGTH - self.0.leading_zeros() / 8
    }

    /// Returns a hash of it.
    pub(super) fn hash(self, seed: u32) -> u32 {
        murmur3([self.0], seed)
    }
}

/// All paths.
#[derive(Default)]
pub(super) struct Paths {
    /// By node: the leaf of a host, and the switch itself.
    leaf: Vec<u32>,
    /// By source and destination leaf, in rising order.
    between: HashMap<(u32, u32), Vec<Path>>,
}

/// What a packet carries from leaf to leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag {
    pub(super) path: Path,
    /// How many switches it has passed.
    pub(super) hop: u8,
    /// CONGA: the greatest level of the links that it has passed.
    pub(super) level: u32,
    /// CONGA: a path of the other direction and its level, if the leaf knows of one.
    pub(super) about: Option<(Path, u32)>,
    /// ConWeave: see [`super::reroute`].
    pub(super) epoch: u32,
    pub(super) is_rerouted: bool,
    pub(super) mark: Mark,
    pub(super) sent_at: u64,
    pub(super) tail_at: u64,
}

/// What a packet of ConWeave asks for or answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Nothing.
    None,
    /// The first of an epoch, or the reply to it.
    First,
    /// The last on an old path, or the reply to it.
    Tail,
    /// It tells of a marked packet on a path.
    Congested,
}

impl Tag {
    pub(super) const NONE: Tag = Tag {
        path: Path::EMPTY,
        hop: 0,
        level: 0,
        about: None,
        epoch: 0,
        is_rerouted: false,
        mark: Mark::None,
        sent_at: 0,
        tail_at: 0,
    };
}

impl Paths {
    pub(super) fn new(nodes: &[Node], ports: &[Port], routes: &Routes) -> Paths {
        let mut leaf: Vec<u32> = (0..nodes.len() as u32).collect();
        let hosts = || (0..nodes.len()).filter(|&node| !nodes[node].is_switch);
        for host in hosts() {
            // The link that comes last in the file counts.
            if let Some(&port) = nodes[host].ports.last() {
                leaf[host] = neighbour(ports, port);
            }
        }
        let leaves: BTreeSet<u32> = hosts().map(|host| leaf[host]).collect();
        let mut between: HashMap<(u32, u32), BTreeSet<Path>> = HashMap::new();
        for &source in &leaves {
            for host in hosts().filter(|&host| leaf[host] != source) {
                let set = between.entry((source, leaf[host])).or_default();
                let step = Step { nodes, ports, routes, host: host as u32, leaf: leaf[host] };
                step.collect(source, 0, Path::EMPTY, set);
            }
        }
        let sorted = |set: BTreeSet<Path>| set.into_iter().collect();
        Paths {
            leaf,
            between: between.into_iter().map(|(ends, set)| (ends, sorted(set))).collect(),
        }
    }

    /// Returns the leaf of a host.
    pub(super) fn leaf(&self, host: u32) -> u32 {
        self.leaf[host as usize]
    }

    /// Returns the paths from leaf to leaf.
    pub(super) fn between(&self, source: u32, destination: u32) -> &[Path] {
        self.between.get(&(source, destination)).map_or(&[], Vec::as_slice)
    }
}

/// Returns why packets of a flow have no path or carry none from its first switch on, if so.
pub(super) fn obstacle(
    nodes: &[Node],
    ports: &[Port],
    routes: &Routes,
    flows: &[Flow],
) -> Option<String> {
    let has_room = |node: &Node| !node.is_switch || node.ports.len() <= MAX_PORT;
    if let Some(node) = nodes.iter().position(|node| !has_room(node)) {
        return Some(format!(
            "switch {node} has {} ports, and the numbers of ports in a path go up to {MAX_PORT}",
            nodes[node].ports.len()
        ));
    }
    let paths = Paths::new(nodes, ports, routes);
    let is_below = |host: u32, leaf: u32| {
        nodes[leaf as usize].is_switch
            && nodes[host as usize].ports.iter().all(|&port| neighbour(ports, port) == leaf)
    };
    flows.iter().find_map(|flow| {
        let ends = [flow.src.get(), flow.dst.get()];
        let [from, to] = ends.map(|host| paths.leaf(host));
        if let Some(host) = ends.into_iter().find(|&host| !is_below(host, paths.leaf(host))) {
            return Some(format!(
                "paths begin and end at the one switch of a host, and host {host} is linked to \
                 others, too, or to a host"
            ));
        }
        (from != to && paths.between(from, to).is_empty()).then(|| {
            format!(
                "no path of up to {MAX_LENGTH} switches leads from switch {from} to switch {to}, \
                 and host {} sends to host {}",
                flow.src, flow.dst
            )
        })
    })
}

/// A search for the paths to a host.
struct Step<'a> {
    nodes: &'a [Node],
    ports: &'a [Port],
    routes: &'a Routes,
    host: u32,
    leaf: u32,
}

impl Step<'_> {
    /// Adds all paths that go on from `node`, their switch number `hop`, with `begun` behind them.
    fn collect(&self, node: u32, hop: u32, begun: Path, paths: &mut BTreeSet<Path>) {
        for &port in self.routes.next_hops(node, self.host) {
            let path = begun.through(hop, self.ports[port as usize].number);
            let next = neighbour(self.ports, port);
            if next == self.leaf {
                paths.insert(path);
            } else if self.nodes[next as usize].is_switch && hop + 1 < MAX_LENGTH {
                self.collect(next, hop + 1, path, paths);
            }
        }
    }
}
