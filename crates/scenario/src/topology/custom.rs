//! Topologies that list their nodes and links, in the scenario or in a file.

use super::check_counts;
use crate::decode::decode;
use crate::error::{Result, ScenarioError, known_words};
use crate::network::{Link, Network, Node, NodeKind, check_link, distances_from_hosts};
use crate::read_file::Files;
use crate::settings::check_error_rate;
use crate::source::Source;
use crate::spec::{CustomSpec, FileSpec, Quantity};
use crate::tree::Tree;
use std::collections::BTreeMap;
use units::{NodeId, Time, cancel, parse_length};

/// Reads the file that `spec` names; says where what it says is written.
pub(super) fn read(spec: &FileSpec, files: &Files) -> Result<(CustomSpec, Source)> {
    let (path, text) = files.read(&spec.path, "topology.path")?;
    let parsed = match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => Tree::from_json(&text),
        Some("toml") => Tree::from_toml(&text),
        _ => {
            return Err(ScenarioError::new(
                "topology.path",
                format!("{} is neither .toml nor .json", path.display()),
            ));
        }
    };
    let read = parsed.and_then(|tree| Ok((decode(&tree)?, tree)));
    let (custom, tree) = read.map_err(|error| error.in_file(Some(&path)))?;
    Ok((custom, Source { file: Some(path), keys: Some(tree) }))
}

/// Builds the network and completes `spec`: delays for lengths, tiers for switches. Links without
/// an error rate of their own get `error_rate`.
pub(super) fn build(spec: &mut CustomSpec, error_rate: f64) -> Result<Network> {
    check_counts(spec.nodes.len() as u64, spec.links.len() as u64)?;
    let mut by_name: BTreeMap<&str, NodeId> = BTreeMap::new();
    let mut network = Network::default();
    for (index, node) in spec.nodes.iter().enumerate() {
        cancel::check();
        let key = || format!("topology.nodes.{index}.name");
        check_name(&node.name, key)?;
        if let Some(first) = by_name.insert(&node.name, NodeId::new(index as u32)) {
            return Err(ScenarioError::new(
                key(),
                format!("duplicate node `{}`: node {first} has this name already", node.name),
            ));
        }
        let tier = match (node.kind, node.tier) {
            (NodeKind::Host, Some(tier)) if tier > 0 => {
                return Err(ScenarioError::new(
                    format!("topology.nodes.{index}.tier"),
                    "a host has tier 0",
                ));
            }
            (NodeKind::Host, _) => 0,
            (NodeKind::Switch, Some(0)) => {
                return Err(ScenarioError::new(
                    format!("topology.nodes.{index}.tier"),
                    "a switch has tier 1 or more",
                ));
            }
            (NodeKind::Switch, tier) => tier.unwrap_or(0),
        };
        let buffer = match node.buffer {
            Some(_) if node.kind == NodeKind::Host => {
                return Err(ScenarioError::new(
                    format!("topology.nodes.{index}.buffer"),
                    "a host has no packet buffer of this kind",
                ));
            }
            Some(buffer) => Some(crate::settings::check_buffer(buffer.0, || {
                format!("topology.nodes.{index}.buffer")
            })?),
            None => None,
        };
        network.add(node.name.clone(), Node { kind: node.kind, tier, buffer });
    }
    for (index, link) in spec.links.iter_mut().enumerate() {
        cancel::check();
        let key = |end: &str| format!("topology.links.{index}.{end}");
        let end = |end: &str, name: &str| {
            by_name.get(name).copied().ok_or_else(|| {
                ScenarioError::new(key(end), format!("unknown node `{name}`"))
                    .hint(known_words(name, by_name.keys().copied().take(1000)))
            })
        };
        let (a, b) = (end("a", &link.a)?, end("b", &link.b)?);
        let given = (link.delay, link.length.as_deref());
        let delay = delay_of(given, (&key("delay"), &key("length")), ("1us", "200m"))?;
        check_link((&key("rate"), link.rate.0), (&key("delay"), delay))?;
        link.delay = Some(Quantity(delay));
        link.length = None;
        let error_rate = match link.error_rate {
            Some(own) => check_error_rate(own, || key("error_rate"))?,
            None => error_rate,
        };
        let (rate, pfc) = (link.rate.0, link.pfc);
        network.links.push(Link { a, b, rate, delay, pfc, error_rate });
    }
    network.check("topology", |index| format!("topology.links.{index}"))?;
    if !spec.in_parts {
        network.check_joined("topology")?;
    }
    let distances = distances_from_hosts(&network);
    for ((node, written), distance) in network.nodes.iter_mut().zip(&mut spec.nodes).zip(distances)
    {
        if node.tier == 0 {
            node.tier = distance;
        }
        written.tier = Some(node.tier);
    }
    Ok(network)
}

/// The delay of a link that is given as such or as a length, with the keys and examples of both.
pub(super) fn delay_of(
    (delay, length): (Option<Quantity<Time>>, Option<&str>),
    (delay_key, length_key): (&str, &str),
    examples: (&str, &str),
) -> Result<Time> {
    let name = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let (delay_name, length_name) = (name(delay_key), name(length_key));
    match (delay, length) {
        (Some(delay), None) => Ok(delay.0),
        (None, Some(length)) => {
            parse_length(length).map_err(|error| ScenarioError::new(length_key, error.to_string()))
        }
        (None, None) => Err(ScenarioError::new(delay_key, "is missing").hint(format!(
            "give a `{delay_name}` such as {:?} or a `{length_name}` such as {:?}",
            examples.0, examples.1
        ))),
        (Some(_), Some(_)) => Err(ScenarioError::new(
            length_key,
            format!("give either `{delay_name}` or `{length_name}`, not both"),
        )),
    }
}

/// Names end up in tables, in `node:peer` and in patterns.
fn check_name(name: &str, key: impl Fn() -> String) -> Result<()> {
    if name.is_empty() {
        return Err(ScenarioError::new(key(), "a node needs a name"));
    }
    let odd = name.chars().find(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')));
    match odd {
        Some(odd) => {
            let why = format!("{odd:?} cannot stand in a node's name");
            Err(ScenarioError::new(key(), why).hint("take letters, digits, _, -, . and /"))
        }
        None if name.contains("..") => {
            Err(ScenarioError::new(key(), "\"..\" cannot stand in a node's name"))
        }
        None => Ok(()),
    }
}
