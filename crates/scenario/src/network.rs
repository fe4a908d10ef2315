//! The network that a topology describes: nodes, links, and the checks that make it one.

use crate::error::{Result, ScenarioError};
pub use model::{Link, Node, NodeKind};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{DisjointSets, NodeId, PortId, Rate, Time, cancel};

/// The most nodes that a scenario may have; few where a fuzzer reads many scenarios.
pub const MAX_NODES: u64 = if cfg!(fuzzing) { 1 << 9 } else { 1 << 20 };
/// The most links that a scenario may have.
pub const MAX_LINKS: u64 = 4 * MAX_NODES;
/// The most ports that a node may have.
pub const MAX_PORTS: usize = 1024;
/// The longest propagation delay.
pub const MAX_DELAY: Time = Time::from_ms(1000);
/// A link of this delay or more, 2 km of fibre, leads to another data centre.
pub const WAN_DELAY: Time = Time::from_us(10);
/// The lowest link rate; at it a full packet still takes less than two minutes.
pub const MIN_RATE: Rate = Rate::from_bps(1000);
/// The highest link rate.
pub const MAX_RATE: Rate = Rate::from_gbps(100_000);

/// A node's end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Index of its link.
    pub link: u32,
    /// The node at the other end.
    pub peer: NodeId,
    /// The port at the other end.
    pub peer_port: PortId,
}

/// Nodes and links. The ports of a node are numbered in the order of the links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Hosts and switches; a [`NodeId`] is an index here.
    pub nodes: Vec<Node>,
    /// The name of each node; no two are equal.
    pub names: Vec<String>,
    /// The links between them.
    pub links: Vec<Link>,
}

/// Returns the number of each node's data centre. Nodes joined by links shorter than [`WAN_DELAY`]
/// are in one data centre.
pub fn data_centres(
    nodes: usize,
    links: impl Iterator<Item = (NodeId, NodeId, Time)>,
) -> Vec<usize> {
    let mut sites = DisjointSets::new(nodes);
    for (a, b, _) in links.filter(|(_, _, delay)| *delay < WAN_DELAY) {
        sites.join(a.index(), b.index());
    }
    (0..nodes).map(|node| sites.of(node)).collect()
}

impl Network {
    /// The node with this id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The name of a node.
    pub fn name(&self, id: NodeId) -> &str {
        &self.names[id.index()]
    }

    /// Adds a node.
    pub(crate) fn add(&mut self, name: String, node: Node) {
        self.names.push(name);
        self.nodes.push(node);
    }

    /// Every host, in order.
    pub fn hosts(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.ids().filter(|id| self.node(*id).kind == NodeKind::Host)
    }

    /// Every node's id, in order.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId::new)
    }

    /// The ports of every node.
    pub fn ports(&self) -> Vec<Vec<Port>> {
        let mut ports: Vec<Vec<Port>> = vec![Vec::new(); self.nodes.len()];
        for (index, link) in self.links.iter().enumerate() {
            let index = index as u32;
            let at_a = PortId::new(ports[link.a.index()].len() as u16);
            let at_b = PortId::new(ports[link.b.index()].len() as u16);
            ports[link.a.index()].push(Port { link: index, peer: link.b, peer_port: at_b });
            ports[link.b.index()].push(Port { link: index, peer: link.a, peer_port: at_a });
        }
        ports
    }

    /// For each node the sum of its links' rates.
    pub fn node_rates(&self) -> Vec<Rate> {
        let mut sums = vec![0_u64; self.nodes.len()];
        for link in &self.links {
            for end in [link.a, link.b] {
                sums[end.index()] = sums[end.index()].saturating_add(link.rate.bps());
            }
        }
        sums.into_iter().map(Rate::from_bps).collect()
    }

    /// For each node its data centre, see [`data_centres`].
    pub fn data_centres(&self) -> Vec<usize> {
        data_centres(self.nodes.len(), self.links.iter().map(|link| (link.a, link.b, link.delay)))
    }

    /// For each node the number of its links.
    fn degrees(&self) -> Vec<usize> {
        let mut links = vec![0; self.nodes.len()];
        for link in &self.links {
            links[link.a.index()] += 1;
            links[link.b.index()] += 1;
        }
        links
    }

    /// For each host the number of its links.
    pub fn links_of_hosts(&self) -> impl Iterator<Item = usize> {
        let links = self.degrees();
        self.hosts().map(move |host| links[host.index()])
    }

    /// The links of hosts.
    pub fn host_links(&self) -> impl Iterator<Item = &Link> {
        let is_host = |id: NodeId| self.node(id).kind == NodeKind::Host;
        self.links.iter().filter(move |link| is_host(link.a) || is_host(link.b))
    }

    /// The rates of the hosts' ports.
    pub fn host_rates(&self) -> impl Iterator<Item = Rate> {
        self.host_links().map(|link| link.rate)
    }

    /// Whether switches have one way to each host. Hosts do not forward, so planes are networks of
    /// their own.
    pub fn has_one_way(&self) -> bool {
        let reach = Reachability::new(self, &BTreeSet::new());
        let is_switch = |id: NodeId| self.node(id).kind == NodeKind::Switch;
        let links = self.links.iter().filter(|link| is_switch(link.a) || is_switch(link.b));
        let switches = self.ids().filter(|&id| is_switch(id)).count();
        let planes: Vec<u32> = self.hosts().flat_map(|host| reach.groups(host)).copied().collect();
        let trees = planes.iter().collect::<BTreeSet<_>>().len();
        // A host is a node of each of its planes, and trees have one link less than nodes.
        links.count() + trees == switches + planes.len()
    }

    /// The lowest rate of a host's port.
    pub fn min_host_rate(&self) -> Rate {
        self.host_rates().min().unwrap_or(Rate::ZERO)
    }

    /// Checks what every network must satisfy beyond each link's rate and delay, for which see
    /// [`check_link`]; `key` is where it was described, `link_key` where the link with an index
    /// was. Whether links join all nodes is another check: [`check_joined`](Self::check_joined).
    pub(crate) fn check(&self, key: &str, link_key: impl Fn(usize) -> String) -> Result<()> {
        if let Some(index) = self.links.iter().position(|link| link.a == link.b) {
            return Err(ScenarioError::new(
                link_key(index),
                format!("links {} to itself", self.name(self.links[index].a)),
            ));
        }
        let degree = self.degrees();
        if let Some(node) = degree.iter().position(|ports| *ports > MAX_PORTS) {
            return Err(ScenarioError::new(
                key,
                format!(
                    "{} has {} ports; a node has at most {MAX_PORTS}",
                    self.names[node], degree[node]
                ),
            ));
        }
        let hosts = self.hosts().count();
        if hosts < 2 {
            return Err(ScenarioError::new(key, format!("needs at least 2 hosts, got {hosts}")));
        }
        Ok(())
    }

    /// Checks that each node has a link, and that links join all nodes.
    pub(crate) fn check_joined(&self, key: &str) -> Result<()> {
        let degree = self.degrees();
        if let Some(node) = degree.iter().position(|ports| *ports == 0) {
            let kind = match self.nodes[node].kind {
                NodeKind::Host => "host",
                NodeKind::Switch => "switch",
            };
            return Err(ScenarioError::new(
                key,
                format!("the {kind} {} has no link", self.names[node]),
            ));
        }
        self.check_connected(key)
    }

    /// The parts that links join.
    fn parts(&self) -> DisjointSets {
        let mut parts = DisjointSets::new(self.nodes.len());
        for link in &self.links {
            parts.join(link.a.index(), link.b.index());
        }
        parts
    }

    /// Whether links join two nodes, be it through hosts.
    pub(crate) fn joins(&self, a: NodeId, b: NodeId) -> bool {
        let mut parts = self.parts();
        parts.of(a.index()) == parts.of(b.index())
    }

    fn check_connected(&self, key: &str) -> Result<()> {
        let mut groups = self.parts();
        let first = groups.of(0);
        let (here, there): (Vec<usize>, Vec<usize>) =
            (0..self.nodes.len()).partition(|node| groups.of(*node) == first);
        if there.is_empty() {
            return Ok(());
        }
        let names = |nodes: &[usize]| {
            let shown: Vec<&str> =
                nodes.iter().take(4).map(|node| self.names[*node].as_str()).collect();
            match nodes.len() - shown.len() {
                0 => shown.join(", "),
                more => format!("{} and {more} more", shown.join(", ")),
            }
        };
        Err(ScenarioError::new(
            key,
            format!(
                "is disconnected: no path between {{{}}} and {{{}}}",
                names(&here),
                names(&there)
            ),
        )
        .hint("join them with a link, or simulate each part by itself"))
    }
}

/// Checks rate and delay of a link, each under its own key.
pub(crate) fn check_link(rate: (&str, Rate), delay: (&str, Time)) -> Result<()> {
    let (rate_key, rate) = rate;
    let (delay_key, delay) = delay;
    if !(MIN_RATE..=MAX_RATE).contains(&rate) {
        return Err(ScenarioError::new(
            rate_key,
            format!("{rate} is out of range; allowed: {} to {}", MIN_RATE, MAX_RATE),
        ));
    }
    if delay == Time::ZERO {
        return Err(ScenarioError::new(delay_key, "must be above zero").hint(
            "nodes are simulated independently for as long as nothing can reach them, and that is \
             the delay of their links; 5ns is a metre of fibre",
        ));
    }
    if delay > MAX_DELAY {
        return Err(ScenarioError::new(
            delay_key,
            format!("{delay} is too long; the longest is {}", MAX_DELAY),
        ));
    }
    Ok(())
}

/// Which hosts can reach which, given that hosts do not forward.
pub(crate) struct Reachability {
    /// For each host the groups of switches that it is linked to, sorted.
    groups: Vec<Vec<u32>>,
    /// Pairs of hosts with a link of their own, in both directions, sorted.
    direct: Vec<(NodeId, NodeId)>,
}

impl Reachability {
    /// In the network without the links `down`.
    pub fn new(network: &Network, down: &BTreeSet<u32>) -> Reachability {
        cancel::check();
        let links = || network.links.iter().zip(0..).filter(|(_, link)| !down.contains(link));
        let is_host = |id: NodeId| network.node(id).kind == NodeKind::Host;
        let mut switches = DisjointSets::new(network.nodes.len());
        for (link, _) in links() {
            if !is_host(link.a) && !is_host(link.b) {
                switches.join(link.a.index(), link.b.index());
            }
        }
        let mut groups = vec![Vec::new(); network.nodes.len()];
        let mut direct = Vec::new();
        for (link, _) in links() {
            match (is_host(link.a), is_host(link.b)) {
                (true, true) => direct.extend([(link.a, link.b), (link.b, link.a)]),
                (true, false) => groups[link.a.index()].push(switches.of(link.b.index()) as u32),
                (false, true) => groups[link.b.index()].push(switches.of(link.a.index()) as u32),
                (false, false) => {}
            }
        }
        for list in &mut groups {
            list.sort_unstable();
            list.dedup();
        }
        direct.sort_unstable();
        Reachability { groups, direct }
    }

    /// The groups of switches that a host is linked to, sorted.
    pub fn groups(&self, host: NodeId) -> &[u32] {
        &self.groups[host.index()]
    }

    /// Whether a host has a link to another.
    pub fn has_direct(&self, host: NodeId) -> bool {
        let place = self.direct.partition_point(|&(from, _)| from < host);
        self.direct.get(place).is_some_and(|&(from, _)| from == host)
    }

    pub fn joins(&self, a: NodeId, b: NodeId) -> bool {
        let theirs = &self.groups[b.index()];
        self.groups[a.index()].iter().any(|group| theirs.binary_search(group).is_ok())
            || self.direct.binary_search(&(a, b)).is_ok()
    }
}

/// For each node its distance in links from the nearest host, at most 255.
pub(crate) fn distances_from_hosts(network: &Network) -> Vec<u8> {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); network.nodes.len()];
    for link in &network.links {
        neighbours[link.a.index()].push(link.b.get());
        neighbours[link.b.index()].push(link.a.get());
    }
    let mut distance = vec![u8::MAX; network.nodes.len()];
    let mut queue: VecDeque<NodeId> = network.hosts().collect();
    for host in &queue {
        distance[host.index()] = 0;
    }
    while let Some(node) = queue.pop_front() {
        let next = distance[node.index()].saturating_add(1);
        for &peer in &neighbours[node.index()] {
            if distance[peer as usize] > next {
                distance[peer as usize] = next;
                queue.push_back(NodeId::new(peer));
            }
        }
    }
    distance
}

/// The nodes of a network by name.
pub(crate) struct NameIndex<'a>(BTreeMap<&'a str, NodeId>);

impl<'a> NameIndex<'a> {
    pub fn of(network: &'a Network) -> NameIndex<'a> {
        let named = |id| {
            cancel::check();
            (network.name(id), id)
        };
        NameIndex(network.ids().map(named).collect())
    }
    pub fn get(&self, name: &str) -> Option<NodeId> {
        self.0.get(name).copied()
    }
}
