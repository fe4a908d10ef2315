//! From `[[failure]]` to the times for which links carry nothing, or are slow or lossy.

use crate::error::{Result, ScenarioError};
use crate::network::{Network, Reachability};
use crate::selector::Selector;
use crate::settings::check_error_rate;
use crate::spec::{FailureSpec, Quantity, QuirksSpec};
use crate::traffic::{check_time, check_until};
use model::{Impairment, Outage};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use units::{NodeId, Rate, Time, cancel};

/// Most times at which links fail or are repaired, each of which takes a table of routes.
const MAX_EPOCHS: usize = 256;

/// Of more failures that come together not all are tried without each.
const MAX_PARTITION_CHECKS: usize = 16;

/// Whether the link of an outage is down.
fn is_down_at(outage: &Outage, time: Time) -> bool {
    outage.from <= time && time < outage.until
}

/// When links of the network fail, and when they are slow or lossy; those of a link are apart.
pub(crate) fn resolve(
    specs: &[FailureSpec],
    nodes: &Selector<'_>,
    quirks: &QuirksSpec,
) -> Result<(Vec<Outage>, Vec<Impairment>)> {
    let network = nodes.network();
    let all = entries(specs, nodes, quirks)?;
    let times: BTreeSet<Time> = all.iter().flat_map(|one| [one.from, one.until]).collect();
    let changes = times.iter().filter(|time| **time != Time::NEVER).count();
    if changes > MAX_EPOCHS {
        let why = format!("links fail or change at {changes} times; the most is {MAX_EPOCHS}");
        return Err(ScenarioError::new("failure", why).hint("have some fail together"));
    }
    let (impaired, outages): (Vec<Outage>, Vec<Outage>) =
        all.into_iter().partition(|one| is_impairment(&specs[one.entry]));
    let impairments = impaired.iter().map(|one| impairment(one, specs, network));
    let impairments = impairments.collect::<Result<Vec<_>>>()?;
    let times: BTreeSet<Time> = outages.iter().flat_map(|one| [one.from, one.until]).collect();
    match cut_off(network, &outages, &times) {
        Some((time, ends)) => Err(refusal(specs, network, &outages, time, ends)),
        None => Ok((outages, impairments)),
    }
}

/// All entries as outages, those of links that only become slow or lossy, too.
fn entries(
    specs: &[FailureSpec],
    nodes: &Selector<'_>,
    quirks: &QuirksSpec,
) -> Result<Vec<Outage>> {
    let network = nodes.network();
    let mut outages: Vec<Outage> = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let key = |name: &str| format!("failure.{index}.{name}");
        let Some((a, b)) = spec.link.split_once(':') else {
            return Err(ScenarioError::new(
                key("link"),
                format!("`{}` is no link; one is written like \"tor0:agg1\"", spec.link),
            ));
        };
        let (a, b) = (nodes.node(a, &key("link"))?, nodes.node(b, &key("link"))?);
        let (from, until) = span(spec, key)?;
        check_quality(spec, quirks, key)?;
        let found = outages.len();
        for (link, ends) in network.links.iter().enumerate() {
            if (ends.a, ends.b) == (a, b) || (ends.a, ends.b) == (b, a) {
                outages.push(Outage { link: link as u32, from, until, entry: index });
            }
        }
        let (before, new) = outages.split_at(found);
        let names = || (network.name(a), network.name(b));
        let Some(first) = new.first() else {
            let (a_name, b_name) = names();
            let why = format!("{a_name} and {b_name} have no link");
            return Err(ScenarioError::new(key("link"), why).hint(nodes.neighbours(a)));
        };
        let apart = |one: &Outage| one.link != first.link || one.until < from || until < one.from;
        if let Some(other) = before.iter().find(|one| !apart(one)) {
            let (a, b) = names();
            let end = match other.until {
                Time::NEVER => "for good".to_owned(),
                until => format!("until {until}"),
            };
            let does = match is_impairment(&specs[other.entry]) {
                true => "is slow or lossy from",
                false => "fails at",
            };
            let why = format!("the link between {a} and {b} {does} {} already, {end}", other.from);
            return Err(ScenarioError::new(key("link"), why)
                .hint("let one end before the other begins, or leave one out"));
        }
    }
    Ok(outages)
}

/// What an entry makes of its link, which must be worse than before.
fn impairment(outage: &Outage, specs: &[FailureSpec], network: &Network) -> Result<Impairment> {
    let Outage { link, from, until, entry } = *outage;
    let (spec, own) = (&specs[entry], &network.links[link as usize]);
    if let Some(Quantity(rate)) = spec.rate
        && rate >= own.rate
    {
        let why = format!("{rate} is not below the rate of the link, which is {}", own.rate);
        return Err(ScenarioError::new(format!("failure.{entry}.rate"), why)
            .hint("lower it, or leave it out"));
    }
    if let Some(error_rate) = spec.error_rate
        && error_rate < own.error_rate
    {
        let why = format!("{error_rate} is below that of the link, {}", own.error_rate);
        return Err(ScenarioError::new(format!("failure.{entry}.error_rate"), why)
            .hint("raise it, or leave it out"));
    }
    let rate = spec.rate.map(|rate| rate.0);
    Ok(Impairment { link, from, until, rate, error_rate: spec.error_rate })
}

/// Whether the link does not fail, but becomes slow or lossy.
fn is_impairment(spec: &FailureSpec) -> bool {
    spec.rate.is_some() || spec.error_rate.is_some()
}

/// Whether the link only becomes slow: nothing is lost on it.
pub(crate) fn loses_nothing(spec: &FailureSpec) -> bool {
    is_impairment(spec) && spec.error_rate.is_none_or(|rate| rate == 0.0)
}

/// Checks what a link is like that does not fail altogether.
fn check_quality(
    spec: &FailureSpec,
    quirks: &QuirksSpec,
    key: impl Fn(&str) -> String,
) -> Result<()> {
    if is_impairment(spec) && !quirks.is_native() {
        let name = if spec.rate.is_some() { "rate" } else { "error_rate" };
        let why = "does not go with quirks: links of the HPCC simulator fail altogether";
        return Err(ScenarioError::new(key(name), why)
            .hint(format!("leave `{name}` out, or turn the quirks off")));
    }
    if spec.rate.is_some_and(|rate| rate.0 == Rate::ZERO) {
        return Err(ScenarioError::new(key("rate"), "must be above zero")
            .hint("leave `rate` out: then the link fails"));
    }
    match spec.error_rate {
        Some(rate) => check_error_rate(rate, || key("error_rate")).map(drop),
        None => Ok(()),
    }
}

/// Says which failure it is that leaves two hosts, as `time` finds them, without a way.
fn refusal(
    specs: &[FailureSpec],
    network: &Network,
    outages: &[Outage],
    time: Time,
    (a, b): (NodeId, NodeId),
) -> ScenarioError {
    let mut down: Vec<&Outage> = outages.iter().filter(|one| is_down_at(one, time)).collect();
    down.sort_by_key(|one| (one.from, one.entry));
    let are_cut_off = |entries: &[usize]| {
        let links = down.iter().filter(|one| entries.contains(&one.entry)).map(|one| one.link);
        !Reachability::new(network, &links.collect()).joins(a, b)
    };
    let mut entries: Vec<usize> = down.iter().map(|one| one.entry).collect();
    entries.dedup();
    // The first that leaves none, after those before it.
    let counts: Vec<usize> = (1..=entries.len()).collect();
    let last = counts.partition_point(|&count| !are_cut_off(&entries[..count]));
    let last = last.min(entries.len() - 1);
    let entry = entries[last];
    let mut others = entries[..last].to_vec();
    if others.len() <= MAX_PARTITION_CHECKS {
        for other in others.clone() {
            let rest: Vec<usize> = others.iter().copied().filter(|one| *one != other).collect();
            if are_cut_off(&[&rest[..], &[entry]].concat()) {
                others = rest;
            }
        }
    }
    let of = |entry: usize| down.iter().find(|one| one.entry == entry);
    let named = |entry: usize| {
        let span = of(entry).map(|one| match one.until {
            Time::NEVER => format!("from {} on", one.from),
            until => format!("{} to {until}", one.from),
        });
        format!("{} is down ({})", specs[entry].link, span.unwrap_or_default())
    };
    let meanwhile = match others[..] {
        [] => String::new(),
        [other] => format!(" while {}", named(other)),
        [one, other] => format!(" while {} and {}", named(one), named(other)),
        _ => format!(" while {} others are down", others.len()),
    };
    let name = |id| network.name(id);
    let link = &specs[entry].link;
    let from = of(entry).map_or(time, |one| one.from);
    ScenarioError::new(
        format!("failure.{entry}.link"),
        format!(
            "{link} fails at {from} and leaves {} and {} without a way to each other{meanwhile}",
            name(a),
            name(b)
        ),
    )
    .hint(
        "have a link of another path fail, or give the host a second one; a link with error_rate = \
         1.0 loses all packets and keeps its routes",
    )
}

/// From when to when a link fails.
fn span(spec: &FailureSpec, key: impl Fn(&str) -> String) -> Result<(Time, Time)> {
    let from = check_time(spec.at, || key("at"))?;
    if from == Time::ZERO {
        return Err(ScenarioError::new(key("at"), "must be above zero")
            .hint("leave the link out of the topology"));
    }
    Ok((from, check_until(from, spec.until, || key("until"))?))
}

/// Two hosts that reach each other, but not while some links are down, and a time when they are.
fn cut_off(
    network: &Network,
    outages: &[Outage],
    times: &BTreeSet<Time>,
) -> Option<(Time, (NodeId, NodeId))> {
    // Of failures one after the other the last leaves the least.
    let repairs: BTreeSet<Time> = outages.iter().map(|one| one.until).collect();
    let next = |time: &Time| times.range((Bound::Excluded(time), Bound::Unbounded)).next();
    let worst = times.iter().filter(|time| {
        **time != Time::NEVER && next(time).is_none_or(|next| repairs.contains(next))
    });
    let before = Reachability::new(network, &BTreeSet::new());
    worst.copied().find_map(|time| {
        let down: BTreeSet<u32> =
            outages.iter().filter(|one| is_down_at(one, time)).map(|one| one.link).collect();
        cut_off_without(network, &before, &down).map(|ends| (time, ends))
    })
}

/// A pair of hosts that reach each other with all links (`before`) and not while `down` are down.
fn cut_off_without(
    network: &Network,
    before: &Reachability,
    down: &BTreeSet<u32>,
) -> Option<(NodeId, NodeId)> {
    let after = Reachability::new(network, down);
    // Hosts that are linked to the same switches, before and after, as far as switches reach each
    // other, fare alike; two of each stand for all. Who has a link to another host stands for
    // itself.
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
    let mut lost = pairs.filter(|&(a, b)| {
        cancel::check();
        before.joins(a, b) && !after.joins(a, b)
    });
    lost.next()
}
