//! From `[[failure]]` to links with an end.

use crate::error::{Result, ScenarioError};
use crate::network::{Network, NodeKind, Reach};
use crate::select::Selector;
use crate::spec::FailureSpec;
use crate::traffic::check_time;
use units::{NodeId, Time};

/// Each time at which links fail takes a table of routes.
const MOST_FAILURES: usize = 256;

/// When each link of the network fails; [`Time::NEVER`] where it does not.
pub(crate) fn resolve(specs: &[FailureSpec], nodes: &Selector<'_>) -> Result<Vec<Time>> {
    let network = nodes.network();
    let mut ends = vec![Time::NEVER; network.links.len()];
    if specs.len() > MOST_FAILURES {
        return Err(ScenarioError::new(
            "failure",
            format!("there are {}; the most is {MOST_FAILURES}", specs.len()),
        ));
    }
    for (index, spec) in specs.iter().enumerate() {
        let key = |name: &str| format!("failure.{index}.{name}");
        let Some((a, b)) = spec.link.split_once(':') else {
            return Err(ScenarioError::new(
                key("link"),
                format!("`{}` is no link; one is written like \"tor0:agg1\"", spec.link),
            ));
        };
        let (a, b) = (nodes.node(a, &key("link"))?, nodes.node(b, &key("link"))?);
        let at = check_time(spec.at, || key("at"))?;
        if at == Time::ZERO {
            return Err(ScenarioError::new(key("at"), "must be above zero")
                .hint("leave the link out of the topology"));
        }
        let mut found = false;
        for (link, end) in network.links.iter().zip(&mut ends) {
            if (link.a, link.b) == (a, b) || (link.a, link.b) == (b, a) {
                found = true;
                *end = at.min(*end);
            }
        }
        if !found {
            return Err(ScenarioError::new(
                key("link"),
                format!("{} and {} have no link", network.node(a).name, network.node(b).name),
            ));
        }
    }
    if let Some((a, b)) = cut_off(network, specs.len(), &ends) {
        let name = |id| &network.node(id).name;
        return Err(ScenarioError::new(
            "failure",
            format!("leaves {} and {} without a way to each other", name(a), name(b)),
        )
        .hint("have a link of another path fail, or give the host a second one"));
    }
    Ok(ends)
}

/// Two hosts that do not reach each other when all links that fail have failed.
fn cut_off(network: &Network, failures: usize, ends: &[Time]) -> Option<(NodeId, NodeId)> {
    if failures == 0 {
        return None;
    }
    let mut left = network.clone();
    let mut end = ends.iter();
    left.links.retain(|_| end.next() == Some(&Time::NEVER));
    let reach = Reach::new(&left);
    let mut hosts = left.ids().filter(|&id| left.node(id).kind == NodeKind::Host);
    let first = hosts.next()?;
    let other = hosts.find(|&host| !reach.joins(first, host))?;
    Some((first, other))
}
