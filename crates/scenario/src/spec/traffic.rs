//! `[[traffic]]`: the messages to send.

use super::{HostSet, Quantity};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use units::{Bytes, Time};

/// A traffic generator.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TrafficSpec {
    /// Messages as listed.
    Flows(FlowsSpec),
    /// Poisson arrivals at every host, with sizes from a distribution, to random hosts.
    Poisson(PoissonSpec),
    /// Small requests and the responses that they ask for, within and between data centres.
    RequestResponse(RequestResponseSpec),
    /// Many hosts send to one at the same time.
    Incast(IncastSpec),
    /// Every host sends to another and receives from another, at random.
    Permutation(PermutationSpec),
    /// Every source sends to every destination, again and again.
    Bursts(BurstsSpec),
    /// Collective operations, such as a ring all-reduce: hosts go on when they have what they wait
    /// for.
    Collective(CollectiveSpec),
}

/// Reads the variant that `kind` names; see [`decode`](crate::decode).
#[derive(Deserialize)]
#[serde(remote = "TrafficSpec", rename_all = "kebab-case")]
enum ByKind {
    Flows(FlowsSpec),
    Poisson(PoissonSpec),
    RequestResponse(RequestResponseSpec),
    Incast(IncastSpec),
    Permutation(PermutationSpec),
    Bursts(BurstsSpec),
    Collective(CollectiveSpec),
}

impl<'de> Deserialize<'de> for TrafficSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TrafficSpec, D::Error> {
        ByKind::deserialize(deserializer)
    }
}

/// Messages as listed, here or in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowsSpec {
    /// Name of this traffic in results and probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Priority of the messages; default: `classes.data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
    /// Its messages wait until their sender has received all messages with this tag. Those
    /// must be listed above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// From the arrival of the last of these to the posting; default: 0ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_delay: Option<Quantity<Time>>,
    /// The messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<FlowSpec>>,
    /// Instead of those: a CSV file with a line for each message, relative to the scenario. Its
    /// head names columns: the keys of a message, or `size_bytes` and `start_ps` in plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows_file: Option<String>,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// The sending host.
    pub src: String,
    /// The receiving host.
    pub dst: String,
    /// Size of the message.
    pub size: Quantity<Bytes>,
    /// When it is posted.
    #[serde(default)]
    pub start: Quantity<Time>,
    /// Its priority; default: that of the traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
    /// Messages with the same name here share a QP, in order; default: a QP of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qp: Option<String>,
    /// Its name in results and probes; default: that of the traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// It waits until its sender has received all messages with this tag. Those must be listed
    /// above it. Default: the `after` of the traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// From the arrival of the last of these to the posting; default: 0ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_delay: Option<Quantity<Time>>,
    /// UDP destination port, which counts where `quirks.ns3_ecmp_hash` is on; default: 4791. Source
    /// ports count up from 10000 for each pair of hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

/// Poisson arrivals at every host. Exactly one of `workload`, `cdf` and `workload_file` gives the
/// sizes; at most one of `duration` and `messages` ends the arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonSpec {
    /// Name of this traffic in results and probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Priority of the messages; default: `classes.data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
    /// Flow-size distribution by name, as `rocelab list workloads` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Flow-size distribution as points [bytes, cumulative probability], interpolated linearly; two
    /// points of equal size form a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdf: Option<Vec<(u64, f64)>>,
    /// Flow-size distribution from a file of lines `bytes,probability`, relative to the scenario; a
    /// line of column names may come first. The HPCC simulator's `bytes percent` is read, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_file: Option<String>,
    /// Offered load as a fraction of each host's link rate, in (0, 1]; payload alone: headers and
    /// ACKs come on top.
    pub load: f64,
    /// When arrivals begin.
    #[serde(default)]
    pub start: Quantity<Time>,
    /// How long messages arrive; default: until `run.stop`, where that is a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Quantity<Time>>,
    /// Instead of the duration: how many messages arrive in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// The hosts that send, and that receive unless `receivers` is given; `h0..h15` and `h*` stand
    /// for several; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// The hosts that receive, such as the hot spots of a network; a host does not send to itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receivers: Option<Vec<String>>,
    /// Number of groups of equal size into which the hosts are split, in their order; each host
    /// sends within its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
}

/// Requests arrive at every host as a Poisson process, each from a random host that gets the
/// response. A response is posted when its request has arrived; its tag is "intra" or "inter",
/// after where the two hosts are. Sizes and ends are given as for Poisson traffic, and are those of
/// the responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponseSpec {
    /// Name of the requests in results and probes; default: "request".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Priority of the messages; default: `classes.data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
    /// Flow-size distribution by name, as `rocelab list workloads` prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Flow-size distribution as points [bytes, cumulative probability], interpolated linearly; two
    /// points of equal size form a step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdf: Option<Vec<(u64, f64)>>,
    /// Flow-size distribution from a file of lines `bytes,probability`, relative to the scenario; a
    /// line of column names may come first. The HPCC simulator's `bytes percent` is read, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_file: Option<String>,
    /// Load that the responses offer as a fraction of each host's link rate, in (0, 1]; payload
    /// alone: headers and ACKs come on top.
    pub load: f64,
    /// Size of a request; 0B for responses that nobody asks for.
    #[serde(default = "small_request")]
    pub request_size: Quantity<Bytes>,
    /// From the arrival of a request to its response.
    #[serde(default)]
    pub service_time: Quantity<Time>,
    /// Share of the responses that go to another data centre, 0 to 1; default: one of six.
    #[serde(default = "one_of_six")]
    pub inter_share: f64,
    /// How destinations are drawn so that they have the share `inter_share`.
    #[serde(default)]
    pub destination_mix: DestinationMix,
    /// When requests begin.
    #[serde(default)]
    pub start: Quantity<Time>,
    /// How long requests are made; default: until `run.stop`, where that is a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Quantity<Time>>,
    /// Instead of the duration: how many responses there are in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// The hosts that take part; `h0..h15` and `h*` stand for several; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
}

/// How the share of responses that go to another data centre comes about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DestinationMix {
    /// Each response goes to another data centre with the probability `inter_share`.
    #[default]
    Steady,
    /// All other hosts are equally likely until one kind, inside or to another data centre, has its
    /// share of the expected number. Then only the other kind is drawn, so the rarer kind ends
    /// early. The flows of the THEMIS prototype were made in this way.
    Quota,
}

/// Many hosts send to one at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IncastSpec {
    /// Name of this traffic in results and probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Priority of the messages; default: `classes.data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
    /// Its messages wait until their sender has received all messages with this tag. Those
    /// must be listed above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// From the arrival of the last of these to the posting; default: 0ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_delay: Option<Quantity<Time>>,
    /// The senders: a number of hosts, drawn again for each repetition, or a list of names.
    pub senders: HostSet,
    /// The receiver; default: a host drawn at random for each repetition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<String>,
    /// Size of each sender's message.
    pub size: Quantity<Bytes>,
    /// When the first incast begins.
    #[serde(default)]
    pub start: Quantity<Time>,
    /// How many incasts there are; default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// From the start of one incast to that of the next, which needs `repeat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Quantity<Time>>,
}

/// Every host sends one message and receives one, none to itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermutationSpec {
    /// Name of this traffic in results and probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Priority of the messages; default: `classes.data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
    /// Its messages wait until their sender has received all messages with this tag. Those
    /// must be listed above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// From the arrival of the last of these to the posting; default: 0ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_delay: Option<Quantity<Time>>,
    /// Size of each message.
    pub size: Quantity<Bytes>,
    /// When the messages are posted.
    #[serde(default)]
    pub start: Quantity<Time>,
    /// The hosts that take part; `h0..h15` and `h*` stand for several; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
}

/// Every source sends a message to every destination, once in each period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstsSpec {
    /// Name of this traffic in results and probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Priority of the messages; default: `classes.data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
    /// The sending hosts; `h0..h15` and `h*` stand for several.
    pub src: Vec<String>,
    /// The receiving hosts; `h0..h15` and `h*` stand for several.
    pub dst: Vec<String>,
    /// Size of each message.
    pub size: Quantity<Bytes>,
    /// When the first burst begins.
    #[serde(default)]
    pub start: Quantity<Time>,
    /// From one burst to the next.
    pub period: Quantity<Time>,
    /// How many bursts there are.
    pub count: u32,
}

/// A collective operation of N hosts, each message of which is an N-th of `size`. How long it takes
/// is the time to the end of its last message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectiveSpec {
    /// Name of this traffic in results and probes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Priority of the messages; default: `classes.data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub priority: Option<u8>,
    /// Its messages wait until their sender has received all messages with this tag. Those
    /// must be listed above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// From the arrival of the last of these to the posting; default: 0ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_delay: Option<Quantity<Time>>,
    /// What the hosts do.
    pub operation: CollectiveOperation,
    /// The hosts, in the order of the ring; `h0..h15` and `h*` stand for several; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// Bytes that each host has in the end (all-reduce, all-gather), has at the beginning
    /// (reduce-scatter), or sends to all and itself (all-to-all); rounded up to N parts.
    pub size: Quantity<Bytes>,
    /// When it begins.
    #[serde(default)]
    pub start: Quantity<Time>,
    /// How many times it is done, one after the other.
    #[serde(default = "once")]
    pub repeat: u32,
    /// How long a host computes between one time and the next, from the arrival of what it waits
    /// for.
    #[serde(default)]
    pub compute_time: Quantity<Time>,
    /// In a repeated all-to-all: whether a host goes on only when it has the parts of all others.
    /// Else it sends to another again when it has that one's part. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub barrier: Option<bool>,
}

/// What is done together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveOperation {
    /// A ring: 2 (N - 1) steps, in each of which every host sends a part to the next one, as soon
    /// as it has the part of the step before.
    AllReduce,
    /// The first N - 1 steps of an all-reduce.
    ReduceScatter,
    /// The last N - 1 steps of an all-reduce.
    AllGather,
    /// Every host sends a part to each of the others, all at once, the next one first. When it is
    /// repeated, `barrier` says what a host waits for.
    AllToAll,
}

fn once() -> u32 {
    1
}

fn small_request() -> Quantity<Bytes> {
    Quantity(Bytes::new(1_000))
}

fn one_of_six() -> f64 {
    1.0 / 6.0
}
