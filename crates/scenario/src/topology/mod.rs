//! From `[topology]` to a [`Network`].

mod build;
mod cross_dc;
mod custom;

use crate::error::{Result, ScenarioError};
use crate::network::{Link, MAX_LINKS, MAX_NODES, Network, Node, NodeKind};
use crate::read_file::Files;
use crate::spec::TopologySpec;
use units::{NodeId, Rate, Time, cancel};

/// Builds the network, checks it, and completes `spec` to what was built: a file is replaced by
/// what it says. Links without an error rate of their own get `error_rate`.
pub(crate) fn resolve(spec: &mut TopologySpec, files: &Files, error_rate: f64) -> Result<Network> {
    match spec {
        TopologySpec::File(file) => {
            let (mut custom, source) = custom::read(file, files)?;
            let network = custom::build(&mut custom, error_rate).map_err(|error| {
                // The file's keys are those of the table.
                let key = error.key.strip_prefix("topology").unwrap_or(&error.key);
                let key = key.trim_start_matches('.').to_owned();
                source.with_location(ScenarioError { key, ..error })
            });
            *spec = TopologySpec::Custom(custom);
            return network;
        }
        TopologySpec::Custom(custom) => return custom::build(custom, error_rate),
        TopologySpec::CrossDc(cross_dc) => return cross_dc::build(cross_dc, files, error_rate),
        _ => {}
    }
    build::check_sizes(spec)?;
    let net = Builder { error_rate, ..Builder::default() };
    let network = match spec {
        TopologySpec::Star(star) => build::star(net, star),
        TopologySpec::Dumbbell(dumbbell) => build::dumbbell(net, dumbbell),
        TopologySpec::LeafSpine(leaf_spine) => build::leaf_spine(net, leaf_spine),
        TopologySpec::FatTree(fat_tree) => build::fat_tree(net, fat_tree),
        TopologySpec::ThreeTier(three_tier) => build::three_tier(net, three_tier),
        TopologySpec::CrossDc(_) | TopologySpec::Custom(_) | TopologySpec::File(_) => {
            unreachable!("built above")
        }
    };
    network.check("topology", |_| "topology".to_owned())?;
    network.check_joined("topology")?;
    Ok(network)
}

/// Refuses sizes that would not fit memory, before anything is made.
fn check_counts(nodes: u64, links: u64) -> Result<()> {
    let refuse = |what: &str, got: u64, most: u64| {
        Err(ScenarioError::new("topology", format!("has {got} {what}; the most is {most}")))
    };
    if nodes > MAX_NODES {
        return refuse("nodes", nodes, MAX_NODES);
    }
    if links > MAX_LINKS {
        return refuse("links", links, MAX_LINKS);
    }
    Ok(())
}

/// A network under construction.
#[derive(Default)]
struct Builder {
    network: Network,
    /// Of all links.
    error_rate: f64,
}

impl Builder {
    /// Adds `count` nodes named `prefix0`, `prefix1`, ...
    fn add(&mut self, prefix: &str, count: u32, tier: u8) -> Row {
        let first = self.network.nodes.len() as u32;
        let kind = if tier == 0 { NodeKind::Host } else { NodeKind::Switch };
        for i in 0..count {
            self.network.add(format!("{prefix}{i}"), Node { kind, tier, buffer: None });
        }
        Row { first }
    }

    fn link(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Time) {
        cancel::check();
        let error_rate = self.error_rate;
        self.network.links.push(Link { a, b, rate, delay, pfc: true, error_rate });
    }
}

/// Nodes made together, numbered in a row.
#[derive(Clone, Copy)]
struct Row {
    first: u32,
}

impl Row {
    fn at(self, index: u32) -> NodeId {
        NodeId::new(self.first + index)
    }
}
