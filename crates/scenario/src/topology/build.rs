//! The regular topologies. Links are made tier by tier from the hosts up, so a switch's first
//! ports lead down.

use super::{Builder, Row, check_counts};
use crate::error::{Result, ScenarioError};
use crate::network::{Network, check_link};
use crate::spec::{
    CoreWiring, DumbbellSpec, FatTreeSpec, LeafSpineSpec, Quantity, StarSpec, ThreeTierSpec,
    TopologySpec,
};
use units::{Rate, Time};

/// The most copies of a network's switches.
const MAX_PLANES: u32 = 64;

/// Checks counts, rates and delays key by key.
pub(super) fn check_sizes(spec: &TopologySpec) -> Result<()> {
    match spec {
        TopologySpec::Star(s) => check_star(s),
        TopologySpec::Dumbbell(s) => check_dumbbell(s),
        TopologySpec::LeafSpine(s) => check_leaf_spine(s),
        TopologySpec::FatTree(s) => check_fat_tree(s),
        TopologySpec::ThreeTier(s) => check_three_tier(s),
        TopologySpec::CrossDc(_) | TopologySpec::Custom(_) | TopologySpec::File(_) => Ok(()),
    }
}

fn check_star(s: &StarSpec) -> Result<()> {
    require_min("hosts", s.hosts, 2)?;
    check_links("host_rate", s.host_rate, "host_delay", s.host_delay)?;
    check_counts(u64::from(s.hosts) + 1, u64::from(s.hosts))
}

fn check_dumbbell(s: &DumbbellSpec) -> Result<()> {
    require_min("switches", s.switches, 1)?;
    require_min("senders", s.senders, 1)?;
    require_min("receivers", s.receivers, 1)?;
    if s.side_hosts.len() > s.switches as usize {
        return Err(ScenarioError::new(
            "topology.side_hosts",
            format!("has {} counts for {} switches", s.side_hosts.len(), s.switches),
        ));
    }
    check_links("host_rate", s.host_rate, "host_delay", s.host_delay)?;
    if let Some(rate) = s.sender_rate {
        check_links("sender_rate", rate, "host_delay", s.host_delay)?;
    }
    check_links("rate", s.rate, "delay", s.delay)?;
    let side: u64 = s.side_hosts.iter().map(|n| u64::from(*n)).sum();
    let hosts = u64::from(s.senders) + u64::from(s.receivers) + side;
    check_counts(hosts + u64::from(s.switches), hosts + u64::from(s.switches))
}

fn check_leaf_spine(s: &LeafSpineSpec) -> Result<()> {
    require_min("leaves", s.leaves, 1)?;
    require_min("spines", s.spines, 1)?;
    require_min("hosts_per_leaf", s.hosts_per_leaf, 1)?;
    require_min("links_per_pair", s.links_per_pair, 1)?;
    check_planes(s.planes)?;
    check_links("host_rate", s.host_rate, "host_delay", s.host_delay)?;
    check_links("rate", s.rate, "delay", s.delay)?;
    let hosts = product(&[s.leaves, s.hosts_per_leaf]);
    let planes = u64::from(s.planes);
    let switches = planes * (u64::from(s.leaves) + u64::from(s.spines));
    let uplinks = product(&[s.leaves, s.spines, s.links_per_pair]);
    let links = hosts.saturating_add(uplinks).saturating_mul(planes);
    check_counts(hosts.saturating_add(switches), links)
}

fn check_fat_tree(s: &FatTreeSpec) -> Result<()> {
    if !s.k.is_multiple_of(2) {
        return Err(ScenarioError::new("topology.k", format!("must be even, got {}", s.k)));
    }
    require_min("k", s.k, 2)?;
    check_planes(s.planes)?;
    check_links("host_rate", s.host_rate, "host_delay", s.host_delay)?;
    check_links("rate", s.rate, "delay", s.delay)?;
    let half = s.k / 2;
    let hosts = product(&[s.k, half, half]);
    let switches = product(&[s.k, s.k]).saturating_add(product(&[half, half]));
    let planes = u64::from(s.planes);
    check_counts(
        hosts.saturating_add(switches.saturating_mul(planes)),
        hosts.saturating_mul(3 * planes),
    )
}

fn check_three_tier(s: &ThreeTierSpec) -> Result<()> {
    require_min("pods", s.pods, 1)?;
    require_min("tors_per_pod", s.tors_per_pod, 1)?;
    require_min("aggs_per_pod", s.aggs_per_pod, 1)?;
    require_min("cores", s.cores, 1)?;
    require_min("hosts_per_tor", s.hosts_per_tor, 1)?;
    check_links("host_rate", s.host_rate, "host_delay", s.host_delay)?;
    check_links("agg_rate", s.agg_rate, "agg_delay", s.agg_delay)?;
    check_links("core_rate", s.core_rate, "core_delay", s.core_delay)?;
    if s.core_wiring == CoreWiring::Planes && !s.cores.is_multiple_of(s.aggs_per_pod) {
        return Err(ScenarioError::new(
            "topology.cores",
            format!(
                "{} cores cannot be shared out among {} aggregation switches of a pod",
                s.cores, s.aggs_per_pod
            ),
        )
        .hint("take a multiple, or core_wiring = \"full\""));
    }
    let tors = product(&[s.pods, s.tors_per_pod]);
    let aggs = product(&[s.pods, s.aggs_per_pod]);
    let hosts = product(&[s.pods, s.tors_per_pod, s.hosts_per_tor]);
    let core_links = match s.core_wiring {
        CoreWiring::Planes => product(&[s.pods, s.cores]),
        CoreWiring::Full => product(&[s.pods, s.aggs_per_pod, s.cores]),
    };
    let nodes = [hosts, tors, aggs, u64::from(s.cores)];
    let links = [hosts, product(&[s.pods, s.tors_per_pod, s.aggs_per_pod]), core_links];
    check_counts(sum(&nodes), sum(&links))
}

fn check_planes(planes: u32) -> Result<()> {
    require_min("planes", planes, 1)?;
    if planes <= MAX_PLANES {
        return Ok(());
    }
    let why = format!("must be at most {MAX_PLANES}, got {planes}");
    Err(ScenarioError::new("topology.planes", why))
}

fn product(factors: &[u32]) -> u64 {
    factors.iter().fold(1, |product, factor| product.saturating_mul(u64::from(*factor)))
}

fn sum(terms: &[u64]) -> u64 {
    terms.iter().fold(0, |sum, term| sum.saturating_add(*term))
}

pub(super) fn require_min(key: &str, value: u32, least: u32) -> Result<()> {
    if value >= least {
        return Ok(());
    }
    Err(ScenarioError::new(
        format!("topology.{key}"),
        format!("must be at least {least}, got {value}"),
    ))
}

pub(super) fn check_links(
    rate_key: &str,
    rate: Quantity<Rate>,
    delay_key: &str,
    delay: Quantity<Time>,
) -> Result<()> {
    check_link(
        (&format!("topology.{rate_key}"), rate.0),
        (&format!("topology.{delay_key}"), delay.0),
    )
}

pub(super) fn star(mut net: Builder, spec: &StarSpec) -> Network {
    let hosts = net.add("h", spec.hosts, 0);
    let switch = net.add("s", 1, 1).at(0);
    for i in 0..spec.hosts {
        net.link(hosts.at(i), switch, spec.host_rate.0, spec.host_delay.0);
    }
    net.network
}

pub(super) fn dumbbell(mut net: Builder, spec: &DumbbellSpec) -> Network {
    let side: u32 = spec.side_hosts.iter().sum();
    let hosts = net.add("h", spec.senders + spec.receivers + side, 0);
    let switches = net.add("s", spec.switches, 1);
    let first = (0..spec.senders).map(|_| 0);
    let last = (0..spec.receivers).map(|_| spec.switches - 1);
    let others =
        (0..).zip(&spec.side_hosts).flat_map(|(switch, count)| (0..*count).map(move |_| switch));
    for (host, switch) in (0..).zip(first.chain(last).chain(others)) {
        let sends = host < spec.senders;
        let rate = spec.sender_rate.filter(|_| sends).unwrap_or(spec.host_rate);
        net.link(hosts.at(host), switches.at(switch), rate.0, spec.host_delay.0);
    }
    for i in 1..spec.switches {
        net.link(switches.at(i - 1), switches.at(i), spec.rate.0, spec.delay.0);
    }
    net.network
}

pub(super) fn leaf_spine(mut net: Builder, spec: &LeafSpineSpec) -> Network {
    let hosts = net.add("h", spec.leaves * spec.hosts_per_leaf, 0);
    for plane in 0..spec.planes {
        let prefix = prefix_of(plane, spec.planes);
        let leaves = net.add(&format!("{prefix}leaf"), spec.leaves, 1);
        let spines = net.add(&format!("{prefix}spine"), spec.spines, 2);
        for i in 0..spec.leaves * spec.hosts_per_leaf {
            let leaf = leaves.at(i / spec.hosts_per_leaf);
            net.link(hosts.at(i), leaf, spec.host_rate.0, spec.host_delay.0);
        }
        for leaf in 0..spec.leaves {
            for spine in 0..spec.spines {
                for _ in 0..spec.links_per_pair {
                    net.link(leaves.at(leaf), spines.at(spine), spec.rate.0, spec.delay.0);
                }
            }
        }
    }
    net.network
}

/// What the names of a plane's switches begin with.
fn prefix_of(plane: u32, planes: u32) -> String {
    if planes == 1 { String::new() } else { format!("plane{plane}/") }
}

pub(super) fn fat_tree(net: Builder, spec: &FatTreeSpec) -> Network {
    let half = spec.k / 2;
    let one_plane = ThreeTierSpec {
        pods: spec.k,
        tors_per_pod: half,
        aggs_per_pod: half,
        cores: half * half,
        hosts_per_tor: half,
        core_wiring: CoreWiring::Planes,
        host_rate: spec.host_rate,
        host_delay: spec.host_delay,
        agg_rate: spec.rate,
        agg_delay: spec.delay,
        core_rate: spec.rate,
        core_delay: spec.delay,
    };
    three_tiers(net, &one_plane, spec.planes)
}

pub(super) fn three_tier(net: Builder, spec: &ThreeTierSpec) -> Network {
    three_tiers(net, spec, 1)
}

/// Makes the hosts, and the switches once for each plane.
fn three_tiers(mut net: Builder, spec: &ThreeTierSpec, planes: u32) -> Network {
    let hosts = net.add("h", spec.pods * spec.tors_per_pod * spec.hosts_per_tor, 0);
    for plane in 0..planes {
        add_three_tiers(&mut net, spec, hosts, &prefix_of(plane, planes));
    }
    net.network
}

fn add_three_tiers(net: &mut Builder, spec: &ThreeTierSpec, hosts: Row, prefix: &str) {
    let tor_count = spec.pods * spec.tors_per_pod;
    let agg_count = spec.pods * spec.aggs_per_pod;
    let tors = net.add(&format!("{prefix}tor"), tor_count, 1);
    let aggs = net.add(&format!("{prefix}agg"), agg_count, 2);
    let cores = net.add(&format!("{prefix}core"), spec.cores, 3);
    for i in 0..tor_count * spec.hosts_per_tor {
        let tor = tors.at(i / spec.hosts_per_tor);
        net.link(hosts.at(i), tor, spec.host_rate.0, spec.host_delay.0);
    }
    for tor in 0..tor_count {
        let first_agg = tor / spec.tors_per_pod * spec.aggs_per_pod;
        for agg in first_agg..first_agg + spec.aggs_per_pod {
            net.link(tors.at(tor), aggs.at(agg), spec.agg_rate.0, spec.agg_delay.0);
        }
    }
    for agg in 0..agg_count {
        let linked = match spec.core_wiring {
            CoreWiring::Planes => {
                let share = spec.cores / spec.aggs_per_pod;
                let first = agg % spec.aggs_per_pod * share;
                first..first + share
            }
            CoreWiring::Full => 0..spec.cores,
        };
        for core in linked {
            net.link(aggs.at(agg), cores.at(core), spec.core_rate.0, spec.core_delay.0);
        }
    }
}
