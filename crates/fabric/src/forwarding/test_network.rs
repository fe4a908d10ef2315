//! A small leaf-spine on which policies are tested.

use crate::compat::Compat;
use crate::network::graph::Graph;
use crate::routing::{HopCosts, Routes};
use model::{Link, Node, NodeKind, Paths};
use units::{NodeId, Rate, Time};

pub(super) const LEAVES: u32 = 4;
pub(super) const SPINES: u32 = 3;

/// Leaves, then spines, then two hosts at each leaf.
pub(super) fn leaf_spine() -> Graph {
    let node = |kind, tier| Node { kind, tier, buffer: None };
    let link = |a, b| Link {
        a: NodeId::new(a),
        b: NodeId::new(b),
        rate: Rate::from_gbps(100),
        delay: Time::from_us(1),
        pfc: true,
        error_rate: 0.0,
    };
    let (leaves, spines) = (0..LEAVES, LEAVES..LEAVES + SPINES);
    let mut nodes = vec![node(NodeKind::Switch, 1); LEAVES as usize];
    nodes.extend(vec![node(NodeKind::Switch, 2); SPINES as usize]);
    let mut links: Vec<Link> =
        leaves.flat_map(|leaf| spines.clone().map(move |spine| link(leaf, spine))).collect();
    for host in 0..2 * LEAVES {
        nodes.push(node(NodeKind::Host, 0));
        links.push(link(LEAVES + SPINES + host, host / 2));
    }
    Graph::new(&nodes, &links, &[], &[])
}

/// The routes of a network without failures.
pub(super) fn routes(graph: &Graph, compat: &Compat, paths: Paths) -> Routes {
    Routes::new(graph, &HopCosts::PLAIN, compat, paths).unwrap()
}
