//! From `[[failure]]` to links with an end.

use crate::error::{Result, ScenarioError};
use crate::network::{Network, Reach};
use crate::select::Selector;
use crate::spec::FailureSpec;
use crate::traffic::check_time;
use std::collections::{BTreeMap, BTreeSet};
use units::{NodeId, Time};

/// Most times at which links fail, each of which takes a table of routes.
const MOST_TIMES: usize = 256;

/// When each link of the network fails; [`Time::NEVER`] where it does not.
pub(crate) fn resolve(specs: &[FailureSpec], nodes: &Selector<'_>) -> Result<Vec<Time>> {
    let network = nodes.network();
    let mut ends = vec![Time::NEVER; network.links.len()];
    let times: BTreeSet<Time> = specs.iter().map(|spec| spec.at.0).collect();
    if times.len() > MOST_TIMES {
        let why = format!("links fail at {} times; the most is {MOST_TIMES}", times.len());
        return Err(ScenarioError::new("failure", why).hint("have some fail together"));
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
                if *end != Time::NEVER {
                    let (a, b) = (&network.node(a).name, &network.node(b).name);
                    let why = format!("the link between {a} and {b} fails at {end} already");
                    return Err(ScenarioError::new(key("link"), why));
                }
                *end = at;
            }
        }
        if !found {
            return Err(ScenarioError::new(
                key("link"),
                format!("{} and {} have no link", network.node(a).name, network.node(b).name),
            ));
        }
    }
    if !specs.is_empty()
        && let Some((a, b)) = cut_off(network, &ends)
    {
        let name = |id| &network.node(id).name;
        return Err(ScenarioError::new(
            "failure",
            format!("leaves {} and {} without a way to each other", name(a), name(b)),
        )
        .hint("have a link of another path fail, or give the host a second one"));
    }
    Ok(ends)
}

/// Two hosts that reach each other, but not when all links that fail have failed.
fn cut_off(network: &Network, ends: &[Time]) -> Option<(NodeId, NodeId)> {
    let mut left = network.clone();
    let mut end = ends.iter();
    left.links.retain(|_| end.next() == Some(&Time::NEVER));
    let (before, after) = (Reach::new(network), Reach::new(&left));
    // Hosts that are linked to the same switches, before and after, as far as switches reach each other, fare
    // alike; two of each stand for all. Who has a link to another host stands for itself.
    let mut alike: BTreeMap<_, Vec<NodeId>> = BTreeMap::new();
    let mut chosen = Vec::new();
    for host in network.hosts() {
        let itself = before.has_direct(host).then_some(host);
        let known = alike.entry((before.groups(host), after.groups(host), itself)).or_default();
        if known.len() < 2 {
            known.push(host);
            chosen.push(host);
        }
    }
    let pairs = chosen
        .iter()
        .enumerate()
        .flat_map(|(place, &a)| chosen[place + 1..].iter().map(move |&b| (a, b)));
    let mut lost = pairs.filter(|&(a, b)| before.joins(a, b) && !after.joins(a, b));
    lost.next()
}
