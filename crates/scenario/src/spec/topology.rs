//! `[topology]`: the network.

use super::Quantity;
use model::NodeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use units::{Bytes, Rate, Time};

/// The network.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TopologySpec {
    /// Hosts around one switch.
    Star(StarSpec),
    /// A chain of switches with senders on the first and receivers on the last.
    Dumbbell(DumbbellSpec),
    /// Two tiers: every leaf switch is linked to every spine switch.
    LeafSpine(LeafSpineSpec),
    /// A three-tier fat tree of k-port switches with k^3/4 hosts.
    FatTree(FatTreeSpec),
    /// Pods of ToR and aggregation switches under a core, with free counts.
    ThreeTier(ThreeTierSpec),
    /// Data centres, alike inside, joined by external switches over long links.
    CrossDc(CrossDcSpec),
    /// Nodes and links as listed.
    Custom(CustomSpec),
    /// Nodes and links from a file.
    File(FileSpec),
}

/// Reads the variant that `kind` names; see [`decode`](crate::decode).
#[derive(Deserialize)]
#[serde(remote = "TopologySpec", rename_all = "kebab-case")]
enum ByKind {
    Star(StarSpec),
    Dumbbell(DumbbellSpec),
    LeafSpine(LeafSpineSpec),
    FatTree(FatTreeSpec),
    ThreeTier(ThreeTierSpec),
    CrossDc(CrossDcSpec),
    Custom(CustomSpec),
    File(FileSpec),
}

impl<'de> Deserialize<'de> for TopologySpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TopologySpec, D::Error> {
        ByKind::deserialize(deserializer)
    }
}

/// Hosts `h0`, `h1`, ... around the switch `s0`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StarSpec {
    /// Number of hosts.
    pub hosts: u32,
    /// Rate of the hosts' links.
    pub host_rate: Quantity<Rate>,
    /// Propagation delay of the hosts' links.
    pub host_delay: Quantity<Time>,
}

/// A chain of switches `s0`, `s1`, ...; hosts are numbered senders first, then receivers, then
/// side hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DumbbellSpec {
    /// Number of switches in the chain, 1 or more.
    pub switches: u32,
    /// Number of hosts on the first switch.
    pub senders: u32,
    /// Number of hosts on the last switch.
    #[serde(default = "one")]
    pub receivers: u32,
    /// Further hosts on each switch, in order of the chain.
    #[serde(default)]
    pub side_hosts: Vec<u32>,
    /// Rate of the hosts' links.
    pub host_rate: Quantity<Rate>,
    /// Rate of the senders' links; default: `host_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_rate: Option<Quantity<Rate>>,
    /// Propagation delay of the hosts' links.
    pub host_delay: Quantity<Time>,
    /// Rate of the links between switches.
    pub rate: Quantity<Rate>,
    /// Propagation delay of the links between switches.
    pub delay: Quantity<Time>,
}

/// Switches `leaf0`, ... and `spine0`, ...; leaf i has the hosts i*n to i*n+n-1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpineSpec {
    /// Number of leaf switches.
    pub leaves: u32,
    /// Number of spine switches.
    pub spines: u32,
    /// Number of hosts on each leaf switch.
    pub hosts_per_leaf: u32,
    /// Number of links between each leaf and each spine.
    #[serde(default = "one")]
    pub links_per_pair: u32,
    /// Copies of the switches and their links, 1 to 64. Each host has a link to each copy. With
    /// more than one, switches are called `plane0/leaf0`, ...; `host.ports` says how hosts use
    /// their links.
    #[serde(default = "one")]
    pub planes: u32,
    /// Rate of the hosts' links.
    pub host_rate: Quantity<Rate>,
    /// Propagation delay of the hosts' links.
    pub host_delay: Quantity<Time>,
    /// Rate of the links between leaf and spine.
    pub rate: Quantity<Rate>,
    /// Propagation delay of the links between leaf and spine.
    pub delay: Quantity<Time>,
}

/// k pods of k/2 switches `tor` and k/2 switches `agg`, and (k/2)^2 switches `core`. Aggregation
/// switch j of each pod is linked to cores j*k/2 to j*k/2+k/2-1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTreeSpec {
    /// Ports of each switch, an even number.
    pub k: u32,
    /// Copies of the switches and their links, 1 to 64. Each host has a link to each copy. With
    /// more than one, switches are called `plane0/tor0`, ...; `host.ports` says how hosts use
    /// their links.
    #[serde(default = "one")]
    pub planes: u32,
    /// Rate of the hosts' links.
    pub host_rate: Quantity<Rate>,
    /// Propagation delay of the hosts' links.
    pub host_delay: Quantity<Time>,
    /// Rate of the links between switches.
    pub rate: Quantity<Rate>,
    /// Propagation delay of the links between switches.
    pub delay: Quantity<Time>,
}

/// Pods of switches `tor` and `agg` (every ToR linked to every aggregation switch of its pod)
/// under switches `core`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreeTierSpec {
    /// Number of pods.
    pub pods: u32,
    /// Number of ToR switches in each pod.
    pub tors_per_pod: u32,
    /// Number of aggregation switches in each pod.
    pub aggs_per_pod: u32,
    /// Number of core switches.
    pub cores: u32,
    /// Number of hosts on each ToR switch.
    pub hosts_per_tor: u32,
    /// Which cores an aggregation switch is linked to.
    #[serde(default)]
    pub core_wiring: CoreWiring,
    /// Rate of the hosts' links.
    pub host_rate: Quantity<Rate>,
    /// Propagation delay of the hosts' links.
    pub host_delay: Quantity<Time>,
    /// Rate of the links between ToR and aggregation switches.
    pub agg_rate: Quantity<Rate>,
    /// Propagation delay of the links between ToR and aggregation switches.
    pub agg_delay: Quantity<Time>,
    /// Rate of the links between aggregation and core switches.
    pub core_rate: Quantity<Rate>,
    /// Propagation delay of the links between aggregation and core switches.
    pub core_delay: Quantity<Time>,
}

/// Which cores an aggregation switch is linked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CoreWiring {
    /// With c cores and a aggregation switches in a pod, the j-th of each pod is linked to the
    /// c/a cores from j*c/a on.
    #[default]
    Planes,
    /// Every aggregation switch is linked to every core.
    Full,
}

/// Data centres `dc0`, `dc1`, ... Node `h3` of the first is `dc0/h3`. Each has an external switch,
/// `dc0/ext`, linked to every switch of its highest tier; external switches are linked each to
/// each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossDcSpec {
    /// Number of data centres, 2 or more.
    #[serde(default = "two")]
    pub data_centres: u32,
    /// The network inside each: any other kind of topology.
    pub data_centre: Box<TopologySpec>,
    /// Rate of the links between the highest tier and the external switch.
    pub rate: Quantity<Rate>,
    /// Propagation delay of the links between the highest tier and the external switch.
    pub delay: Quantity<Time>,
    /// Rate of the links between data centres.
    pub wan_rate: Quantity<Rate>,
    /// Propagation delay of the links between data centres, 10us or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wan_delay: Option<Quantity<Time>>,
    /// Instead of `wan_delay`: length of fibre such as "100km", at 5 ns per metre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wan_length: Option<String>,
    /// Whether PFC may pause the links between data centres. Without it what comes over them is
    /// dropped where the external switch's buffer is full, and needs no headroom.
    #[serde(default = "yes")]
    pub wan_pfc: bool,
    /// The external switches' packet buffer; default: `switch.buffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_buffer: Option<Quantity<Bytes>>,
}

/// Nodes and links as listed. The ports of a node are numbered in the order of the links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomSpec {
    /// The hosts and switches.
    pub nodes: Vec<NodeSpec>,
    /// The links between them.
    pub links: Vec<LinkSpec>,
    /// Whether the network may have several parts that no link joins, and nodes without a link.
    /// Messages stay within a part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_parts: bool,
}

/// A node of a custom topology.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Its name. No other node has it.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// A switch's tier: 1 ToR, 2 aggregation, 3 core; default: its distance from the nearest host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<u8>,
    /// A switch's packet buffer; default: `switch.buffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Quantity<Bytes>>,
}

/// A link of a custom topology; it carries both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// One end.
    pub a: String,
    /// The other end.
    pub b: String,
    /// Rate of each direction.
    pub rate: Quantity<Rate>,
    /// Propagation delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Quantity<Time>>,
    /// Instead of the delay: length of fibre such as "2km", at 5 ns per metre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<String>,
    /// Whether PFC may pause it. Without it what comes over the link is dropped where the switch's
    /// buffer is full, and needs no headroom.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub pfc: bool,
    /// Probability that a packet arrives damaged and is discarded; default: `wire.error_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<f64>,
}

/// Nodes and links from a file, written as in a custom topology.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// A TOML or JSON file (by its ending) with `nodes` and `links`, relative to the scenario.
    pub path: String,
}

fn one() -> u32 {
    1
}

fn two() -> u32 {
    2
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_true(flag: &bool) -> bool {
    *flag
}
