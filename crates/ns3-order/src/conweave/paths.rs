//! The paths between leaves. A leaf is a switch with hosts. A leaf chooses a path, and the packet
//! carries it in a tag.

use crate::network::{Node, Port};
use crate::routes::Routes;
use std::collections::{BTreeSet, HashMap};

/// A path is the numbers of the ports that lead out of its switches, the first in the lowest byte.
pub(super) type Path = u32;

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
    /// CONGA: a path of the other direction, and its level.
    pub(super) about: (Path, u32),
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
        path: super::NO_PATH,
        hop: 0,
        level: 0,
        about: (super::NO_PATH, 0),
        epoch: 0,
        is_rerouted: false,
        mark: Mark::None,
        sent_at: 0,
        tail_at: 0,
    };
}

/// Returns the number of the port that a path takes at its switch number `hop`.
pub(super) fn port_at(path: Path, hop: u8) -> u32 {
    path >> (8 * u32::from(hop)) & 0xff
}

/// Returns how many switches have a port in a path.
pub(super) fn length(path: Path) -> u64 {
    u64::from(4 - path.leading_zeros() / 8)
}

impl Paths {
    pub(super) fn new(nodes: &[Node], ports: &[Port], routes: &Routes) -> Paths {
        let peer = |port: u32| ports[ports[port as usize].peer as usize].node;
        let mut leaf: Vec<u32> = (0..nodes.len() as u32).collect();
        let hosts = || (0..nodes.len()).filter(|&node| !nodes[node].is_switch);
        for host in hosts() {
            // The link that comes last in the file counts.
            if let Some(&port) = nodes[host].ports.last() {
                leaf[host] = peer(port);
            }
        }
        let leaves: BTreeSet<u32> = hosts().map(|host| leaf[host]).collect();
        let mut between: HashMap<(u32, u32), BTreeSet<Path>> = HashMap::new();
        for &source in &leaves {
            for host in hosts().filter(|&host| leaf[host] != source) {
                let set = between.entry((source, leaf[host])).or_default();
                let step = Step { nodes, ports, routes, host: host as u32, leaf: leaf[host] };
                step.collect(source, 0, 0, set);
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

/// A search for the paths to a host.
struct Step<'a> {
    nodes: &'a [Node],
    ports: &'a [Port],
    routes: &'a Routes,
    host: u32,
    leaf: u32,
}

impl Step<'_> {
    /// Adds all paths that go on from `node`, with `begun` behind them.
    fn collect(&self, node: u32, hop: u32, begun: Path, paths: &mut BTreeSet<Path>) {
        for &port in self.routes.next_hops(node, self.host) {
            let path = begun | u32::from(self.ports[port as usize].number & 0xff) << (8 * hop);
            let next = self.ports[self.ports[port as usize].peer as usize].node;
            if next == self.leaf {
                paths.insert(path);
            } else if self.nodes[next as usize].is_switch && hop < 3 {
                self.collect(next, hop + 1, path, paths);
            }
        }
    }
}
