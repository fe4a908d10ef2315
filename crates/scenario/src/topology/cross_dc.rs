//! Several data centres, joined by external switches over long links.

use super::build::{check_links, require_min};
use super::{check_counts, custom};
use crate::error::{Result, ScenarioError};
use crate::network::{Link, Network, Node, NodeKind, WAN_DELAY, check_link};
use crate::read_file::Files;
use crate::settings::check_buffer;
use crate::spec::{CrossDcSpec, Quantity, TopologySpec};
use units::{NodeId, Time};

/// What the switch of a data centre that leads outside is called in it.
const EXTERNAL: &str = "ext";

/// Builds the network and completes `spec`: a file inside is replaced by what it says, the length
/// by a delay.
pub(super) fn build(spec: &mut CrossDcSpec, files: &Files, error_rate: f64) -> Result<Network> {
    require_min("data_centres", spec.data_centres, 2)?;
    if let TopologySpec::CrossDc(_) = *spec.data_centre {
        return Err(ScenarioError::new(
            "topology.data_centre.kind",
            "a data centre has no others in it",
        ));
    }
    check_links("rate", spec.rate, "delay", spec.delay)?;
    let delay = wan_delay(spec)?;
    (spec.wan_delay, spec.wan_length) = (Some(Quantity(delay)), None);
    let buffer = match spec.external_buffer {
        Some(buffer) => Some(check_buffer(buffer.0, || "topology.external_buffer".to_owned())?),
        None => None,
    };
    let inside = data_centre(spec, files, error_rate)?;
    let top = inside.nodes.iter().map(|node| node.tier).max().unwrap_or(0);
    let leads_up: Vec<NodeId> =
        inside.ids().filter(|node| top > 0 && inside.node(*node).tier == top).collect();
    if leads_up.is_empty() {
        return Err(ScenarioError::new("topology.data_centre", "has no switch"));
    }
    let external = Node { kind: NodeKind::Switch, tier: top.saturating_add(1), buffer };
    let network = joined(spec, &inside, &leads_up, external, Wan { delay, error_rate })?;
    network.check("topology", |_| "topology".to_owned())?;
    network.check_joined("topology")?;
    Ok(network)
}

/// The delay of the links between data centres, which tells them from those inside.
fn wan_delay(spec: &CrossDcSpec) -> Result<Time> {
    let delay = custom::delay_of(
        (spec.wan_delay, spec.wan_length.as_deref()),
        ("topology.wan_delay", "topology.wan_length"),
        ("100us", "20km"),
    )?;
    let key = if spec.wan_length.is_some() { "topology.wan_length" } else { "topology.wan_delay" };
    check_link(("topology.wan_rate", spec.wan_rate.0), (key, delay))?;
    if delay < WAN_DELAY {
        return Err(ScenarioError::new(
            key,
            format!("{delay} is too short between data centres; the shortest is {WAN_DELAY}"),
        ));
    }
    if spec.delay.0 >= WAN_DELAY {
        return Err(ScenarioError::new(
            "topology.delay",
            format!(
                "{} is too long inside a data centre; it must be below {WAN_DELAY}",
                spec.delay.0
            ),
        ));
    }
    Ok(delay)
}

/// Builds one data centre, without the switch that leads outside.
fn data_centre(spec: &mut CrossDcSpec, files: &Files, error_rate: f64) -> Result<Network> {
    let inside =
        super::resolve(&mut spec.data_centre, files, error_rate).map_err(|mut error| {
            if let Some(rest) = error.key.strip_prefix("topology") {
                error.key = format!("topology.data_centre{rest}");
            }
            error
        })?;
    if inside.names.iter().any(|name| name == EXTERNAL) {
        let why =
            format!("a node of it is called `{EXTERNAL}`, as is the switch that leads outside");
        return Err(ScenarioError::new("topology.data_centre", why).hint("give it another name"));
    }
    if inside.links.iter().any(|link| link.delay >= WAN_DELAY) {
        return Err(ScenarioError::new(
            "topology.data_centre",
            format!("has links of {WAN_DELAY} or more, which lead to other data centres"),
        ));
    }
    Ok(inside)
}

/// What links outside of data centres have in common.
#[derive(Clone, Copy)]
struct Wan {
    delay: Time,
    error_rate: f64,
}

/// Joins copies of a data centre. In each, the switches `leads_up` have a link to one that is like
/// `external`, and all of these are linked to each other.
fn joined(
    spec: &CrossDcSpec,
    inside: &Network,
    leads_up: &[NodeId],
    external: Node,
    wan: Wan,
) -> Result<Network> {
    let dcs = spec.data_centres;
    let size = inside.nodes.len() as u32;
    let inner_links = inside.links.len() as u64 + leads_up.len() as u64;
    let dc_count = u64::from(dcs);
    check_counts(
        dc_count.saturating_mul(u64::from(size) + 1),
        dc_count.saturating_mul(inner_links).saturating_add(dc_count * (dc_count - 1) / 2),
    )?;
    let mut network = Network::default();
    let place = |dc: u32, node: NodeId| NodeId::new(dc * size + node.get());
    let outside = |dc: u32| NodeId::new(dcs * size + dc);
    for dc in 0..dcs {
        for (name, node) in inside.names.iter().zip(&inside.nodes) {
            network.add(format!("dc{dc}/{name}"), *node);
        }
        let moved = |link: &Link| Link { a: place(dc, link.a), b: place(dc, link.b), ..*link };
        network.links.extend(inside.links.iter().map(moved));
    }
    for dc in 0..dcs {
        network.add(format!("dc{dc}/{EXTERNAL}"), external);
        let up = leads_up.iter().map(|&node| Link {
            a: place(dc, node),
            b: outside(dc),
            rate: spec.rate.0,
            delay: spec.delay.0,
            pfc: true,
            error_rate: wan.error_rate,
        });
        network.links.extend(up);
    }
    for a in 0..dcs {
        let others = (a + 1..dcs).map(|b| Link {
            a: outside(a),
            b: outside(b),
            rate: spec.wan_rate.0,
            delay: wan.delay,
            pfc: spec.wan_pfc,
            error_rate: wan.error_rate,
        });
        network.links.extend(others);
    }
    Ok(network)
}
