//! Which networks are leaf-spines: hosts on leaves, and each leaf joined to spines alone.

use crate::error::{Result, ScenarioError};
use crate::network::Network;
use model::NodeKind;
use units::NodeId;

/// Refuses a network that is no leaf-spine for `routing.balance = "conga"`.
pub(super) fn check_leaf_spine(network: &Network) -> Result<()> {
    let Some(why) = why_not(network) else { return Ok(()) };
    let why = format!("\"conga\" needs a leaf-spine network: {why}");
    Err(ScenarioError::new("routing.balance", why).hint(
        "set topology.kind = \"leaf-spine\" or join leaves to spines alone, or choose \
         routing.balance = \"letflow\", which needs no such network",
    ))
}

/// What keeps a network from being a leaf-spine.
fn why_not(network: &Network) -> Option<String> {
    let is_host = |id: NodeId| network.node(id).kind == NodeKind::Host;
    let name = |id: NodeId| network.name(id);
    let mut links_of_host = vec![0; network.nodes.len()];
    let mut is_leaf = vec![false; network.nodes.len()];
    for link in &network.links {
        for (here, there) in [(link.a, link.b), (link.b, link.a)] {
            if !is_host(here) {
                continue;
            }
            if is_host(there) {
                return Some(format!("hosts {} and {} are joined", name(here), name(there)));
            }
            links_of_host[here.index()] += 1;
            is_leaf[there.index()] = true;
            if links_of_host[here.index()] > 1 {
                return Some(format!("host {} has links to several leaves or planes", name(here)));
            }
        }
    }
    let of_switches = network.links.iter().filter(|link| !is_host(link.a) && !is_host(link.b));
    let mut has_spines = false;
    for link in of_switches {
        has_spines = true;
        let what = match (is_leaf[link.a.index()], is_leaf[link.b.index()]) {
            (true, true) => "both have hosts",
            (false, false) => "neither has hosts",
            _ => continue,
        };
        return Some(format!(
            "switches {} and {} are joined, and {what}",
            name(link.a),
            name(link.b)
        ));
    }
    (!has_spines).then(|| "no switch is a spine".to_owned())
}
