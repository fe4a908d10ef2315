//! Settings of wire, hosts, switches, PFC, ECN, classes and routing: checked and complete.

mod balance;
mod ecn;
mod leaf_spine;
mod pfc;
mod recovery;
mod run;

pub(crate) use balance::{
    balance, check_own_memory, check_ports_of_trees, check_scheme, check_spray, demands,
};
pub use ecn::Ecn;
pub(crate) use ecn::{check_order, check_probability, check_reference_rate, ecn};
pub use pfc::{Pfc, Threshold};
pub(crate) use pfc::{check_alpha, check_pause_times, class_threshold, pfc};
pub(crate) use recovery::Surroundings;
pub(crate) use run::run;
pub use run::{Run, Stop};

use crate::error::{Result, ScenarioError};
use crate::network::{Network, Node};
use crate::spec::{
    AckPriority, Architecture, ClassesSpec, FailureSpec, HashKind, HostSpec, LossAfter, PathsKind,
    Quantity, QuirksSpec, RoutingSpec, SwitchSpec, Timeout, WireSpec,
};
pub use crate::spec::{Headroom, MarkAt, WireProfile};
use crate::traffic::{MAX_TIME, check_priority, check_time};
use model::{Cioq, HostConfig, NodeKind, Paths, PortUse, Recovery, RecoveryMode, Spray};
use schemes::registry::SchemeInfo;
use units::{Bytes, Rate, Time};

/// What is on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wire {
    /// The sizes of headers and control frames.
    pub profile: WireProfile,
    /// Data bytes of a full packet.
    pub payload: u32,
    /// Probability that a packet arrives damaged, on links that have none of their own.
    pub error_rate: f64,
}

impl Wire {
    /// More bytes than a full packet has on the wire.
    pub fn above_full_packet(&self) -> Bytes {
        /// More than a packet has besides its payload.
        const HEADERS: u64 = 500;
        Bytes::new(u64::from(self.payload) + HEADERS)
    }
}

/// Every switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwitchSettings {
    /// Packet buffer that all ports share.
    pub buffer: Bytes,
    /// How many times what is free of it a queue of a class that PFC does not protect may take.
    pub lossy_alpha: Option<f64>,
    /// Time from the arrival of a packet to its place in a queue.
    pub latency: Time,
    /// Combined input and output queues, instead of a shared buffer.
    pub cioq: Option<Cioq>,
}

impl SwitchSettings {
    /// The shared buffer of a switch, which may have one of its own, and the key that says how
    /// large it is.
    pub fn buffer_of(&self, node: &Node) -> (Bytes, &'static str) {
        match node.buffer {
            Some(own) => (own, "topology"),
            None => (self.buffer, "switch.buffer"),
        }
    }

    /// The largest shared buffer of the network's switches. CIOQ switches have none, and count as
    /// if they had the default.
    pub(crate) fn largest_buffer(&self, network: &Network) -> Bytes {
        if self.cioq.is_some() {
            return SwitchSpec::default().buffer.0;
        }
        let switches = network.nodes.iter().filter(|node| node.kind == NodeKind::Switch);
        switches.map(|node| self.buffer_of(node).0).max().unwrap_or(self.buffer)
    }
}

/// Which priority carries what, and how ports schedule priorities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    /// Priority of messages that name none.
    pub data: u8,
    /// Priority of ACKs and NACKs; `None`: that of the data they answer.
    pub ack: Option<u8>,
    /// Priority of a scheme's own packets, such as CNPs.
    pub control: u8,
    /// The priorities that PFC protects.
    pub lossless: Vec<u8>,
    /// The priorities with strict precedence, higher numbers first; the others share by weight.
    pub strict: Vec<u8>,
    /// Weight of each priority in deficit round robin, at least 1.
    pub weights: [u32; 8],
    /// Bytes that a weight of 1 is worth in a round; above zero.
    pub quantum: Bytes,
}

/// Most bytes that a priority sends in a round: ports count them in 32 bits.
const MAX_ROUND: Bytes = Bytes::new(4_000_000_000);
/// More packets than this are never acknowledged together.
const MAX_PACKETS_PER_ACK: u32 = 10_000;
/// A larger switch buffer than this is a mistake.
const MAX_BUFFER: Bytes = Bytes::new(1 << 50);

/// ns-3's generator takes seeds below this modulus.
const MAX_NS3_SEED: u64 = 4_294_944_443 - 1;

/// Refuses what would do nothing, or cannot be done.
pub(crate) fn quirks(spec: &mut QuirksSpec, seed: u64) -> Result<()> {
    spec.rate_scaled_alpha = spec.rate_scaled_alpha.filter(|rate| rate.0 > Rate::ZERO);
    let one_of_two = |key: &str, what: &str, other: &str| {
        let why = format!("is one way to {what}, and quirks.{other} is another");
        Err(ScenarioError::new(format!("quirks.{key}"), why).hint("turn one of the two off"))
    };
    if spec.ns3_ecmp_hash && spec.conweave_ecmp_hash {
        return one_of_two("conweave_ecmp_hash", "choose among equal paths", "ns3_ecmp_hash");
    }
    if spec.ns3_ecn_draws && spec.conweave_ecn_draws {
        return one_of_two("conweave_ecn_draws", "draw marks", "ns3_ecn_draws");
    }
    if spec.conweave_ecn_draws && !(1..=MAX_NS3_SEED).contains(&seed) {
        let why = format!(
            "{seed} is out of range with quirks.conweave_ecn_draws, where it is ns-3's seed; \
             allowed: 1 to {MAX_NS3_SEED}"
        );
        return Err(ScenarioError::new("run.seed", why)
            .hint("set another, or turn quirks.conweave_ecn_draws off"));
    }
    let of_scan =
        [("missed_wakeup", spec.missed_wakeup), ("stale_scan_index", spec.stale_scan_index)];
    match of_scan.iter().find(|(_, on)| *on && !spec.scan_queue_pairs) {
        Some((key, _)) => Err(ScenarioError::new(
            format!("quirks.{key}"),
            "goes with scan_queue_pairs = true, but it is false",
        )
        .hint(format!("turn quirks.scan_queue_pairs on, or quirks.{key} off"))),
        None => Ok(()),
    }
}

/// The error of a quirk without what it changes.
fn needs(quirk: &str, what: &str) -> ScenarioError {
    ScenarioError::new(format!("quirks.{quirk}"), format!("has no effect without {what}"))
        .hint(format!("set {what}, or turn quirks.{quirk} off"))
}

/// The quirks that are on, as `quirks.KEY` with commas between them.
fn quirks_on(quirks: &QuirksSpec) -> String {
    // Without a default for what is left out this names every quirk.
    let QuirksSpec {
        whole_nanoseconds,
        ns3_ecmp_hash,
        conweave_ecmp_hash,
        conweave_drill,
        conweave_conga,
        conweave_buffer,
        conweave_recovery,
        one_way_rtt,
        acks_ignore_pause,
        silent_duplicates,
        scan_queue_pairs,
        missed_wakeup,
        stale_scan_index,
        rate_scaled_alpha,
        threshold_wraparound,
        ns3_ecn_draws,
        conweave_ecn_draws,
        ns3_tie_order,
        packet_round_robin,
    } = quirks;
    let all = [
        ("whole_nanoseconds", *whole_nanoseconds),
        ("ns3_ecmp_hash", *ns3_ecmp_hash),
        ("conweave_ecmp_hash", *conweave_ecmp_hash),
        ("conweave_drill", *conweave_drill),
        ("conweave_conga", *conweave_conga),
        ("conweave_buffer", *conweave_buffer),
        ("conweave_recovery", *conweave_recovery),
        ("one_way_rtt", *one_way_rtt),
        ("acks_ignore_pause", *acks_ignore_pause),
        ("silent_duplicates", *silent_duplicates),
        ("scan_queue_pairs", *scan_queue_pairs),
        ("missed_wakeup", *missed_wakeup),
        ("stale_scan_index", *stale_scan_index),
        ("rate_scaled_alpha", rate_scaled_alpha.is_some()),
        ("threshold_wraparound", *threshold_wraparound),
        ("ns3_ecn_draws", *ns3_ecn_draws),
        ("conweave_ecn_draws", *conweave_ecn_draws),
        ("ns3_tie_order", *ns3_tie_order),
        ("packet_round_robin", *packet_round_robin),
    ];
    let on = all.iter().filter(|(_, on)| *on).map(|(key, _)| format!("quirks.{key}"));
    on.collect::<Vec<_>>().join(", ")
}

pub(crate) fn wire(spec: &WireSpec) -> Result<Wire> {
    let payload = spec.payload.0.get();
    // Lengths in that simulator's packets have 16 bits.
    let (least, most) = match spec.profile {
        WireProfile::HpccNs3 => (1, 65_000),
        WireProfile::Rocev2 => (64, 9000),
    };
    if !(least..=most).contains(&payload) {
        return Err(ScenarioError::new(
            "wire.payload",
            format!("{} is out of range; allowed: {least}B to {most}B", spec.payload.0),
        ));
    }
    let error_rate = check_error_rate(spec.error_rate, || "wire.error_rate".to_owned())?;
    Ok(Wire { profile: spec.profile, payload: payload as u32, error_rate })
}

/// Checks the probability of a damaged packet.
pub(crate) fn check_error_rate(rate: f64, key: impl Fn() -> String) -> Result<f64> {
    if (0.0..=1.0).contains(&rate) {
        return Ok(rate);
    }
    Err(ScenarioError::new(key(), format!("{rate} is no probability; allowed: 0 to 1")))
}

/// The default retransmission timeout, unless links are long: a round trip over one between data
/// centres may take longer, and all that is under way would be sent again.
const RETRANSMIT_TIMEOUT: Time = Time::from_ms(1);
/// Twice the round trip over two links of the longest delay, or four times that over one.
const MAX_LINK_DELAYS: u64 = 8;
/// How many full switch buffers a packet may wait behind in a lossless network, all of which drain
/// through the slowest link. A shorter timeout would only add useless retransmissions.
const FULL_BUFFERS: u64 = 8;

/// A time that is enough for a round trip over the longest links.
fn long_links(network: &Network) -> Time {
    let longest = network.links.iter().map(|link| link.delay).max().unwrap_or(Time::ZERO);
    longest.saturating_mul(MAX_LINK_DELAYS)
}

/// The default retransmission timeout. Links count with the lowest rate that they ever have.
pub(crate) fn usual_timeout(
    network: &Network,
    failures: &[FailureSpec],
    lossless_buffer: Option<Bytes>,
) -> Time {
    let slowed = failures.iter().filter_map(|failure| failure.rate).map(|rate| rate.0);
    let rates = network.links.iter().map(|link| link.rate).chain(slowed);
    let rate = rates.min().unwrap_or(Rate::ZERO);
    let drains = match lossless_buffer {
        Some(buffer) if rate != Rate::ZERO => rate.time_for(buffer),
        _ => Time::ZERO,
    };
    RETRANSMIT_TIMEOUT
        .max(long_links(network))
        .max(drains.saturating_mul(FULL_BUFFERS))
        .min(MAX_TIME)
}

/// `lossless_buffer`: the largest buffer of a switch, where no data is ever lost.
/// `balances_packets`: switches choose a path for each packet.
pub(crate) fn host(
    spec: &mut HostSpec,
    scheme: &SchemeInfo,
    (network, failures): (&Network, &[FailureSpec]),
    quirks: &QuirksSpec,
    lossless_buffer: Option<Bytes>,
    balances_packets: bool,
) -> Result<HostConfig> {
    if !(1..=MAX_PACKETS_PER_ACK).contains(&spec.ack_every) {
        return Err(ScenarioError::new(
            "host.ack_every",
            format!("{} is out of range; allowed: 1 to {MAX_PACKETS_PER_ACK}", spec.ack_every),
        ));
    }
    if !spec.nack && spec.nack_interval != Timeout::Never && spec.recovery == RecoveryMode::GoBackN
    {
        return Err(recovery::no_effect_of("host", "nack_interval", "host.nack = true"));
    }
    let usual_timeout = usual_timeout(network, failures, lossless_buffer);
    let is_lossless = lossless_buffer.is_some();
    let around = Surroundings { balances_packets, is_lossless, usual_timeout };
    let recovery = recovery::recovery(spec, scheme, network, around)?;
    let (spray, entropies) = recovery::spray(spec, &recovery)?;
    check_ports(spec.ports, network)?;
    let goes = quirks.go_with_balancing();
    let goes_with_spray = goes && quirks.go_with_spraying();
    let uses = [
        ("host.spray", spray != Spray::Off && !goes_with_spray),
        ("host.ports", spec.ports != PortUse::Hash && !goes_with_spray),
        ("host.recovery", recovery != Recovery::GO_BACK_N && !goes),
    ];
    if quirks.conweave_recovery && spec.loss_after != Some(LossAfter::Gap) {
        return Err(needs("conweave_recovery", "host.loss_after = \"gap\""));
    }
    if let Some((key, _)) = uses.into_iter().find(|(_, is_refused)| *is_refused) {
        let why = format!("does not go with {}: they are the HPCC simulator's", quirks_on(quirks));
        let hint = format!("leave {key}, host.reorder and host.in_flight out, or turn these off");
        return Err(ScenarioError::new(key, why).hint(hint));
    }
    let retransmit_timeout = match recovery.mode {
        RecoveryMode::GoBackN => timeout(
            *spec.retransmit_timeout.get_or_insert(Timeout::After(usual_timeout)),
            "host.retransmit_timeout",
        )?,
        RecoveryMode::SelectiveRepeat => recovery.rto_high,
    };
    Ok(HostConfig {
        ack_every: spec.ack_every,
        retransmit_timeout,
        recovery,
        spray,
        entropies,
        ports: spec.ports,
        nack_interval: timeout(spec.nack_interval, "host.nack_interval")?,
        latency: check_latency(spec.latency, "host.latency")?,
        nack: spec.nack,
    })
}

/// Refuses packets that take turns over ports where each host has one.
fn check_ports(ports: PortUse, network: &Network) -> Result<()> {
    if ports == PortUse::Hash || network.links_of_hosts().any(|links| links > 1) {
        return Ok(());
    }
    Err(ScenarioError::new("host.ports", "\"spray\" needs hosts with several links, and none has")
        .hint("set topology.planes, or leave host.ports out"))
}

fn timeout(timeout: Timeout, key: &str) -> Result<Time> {
    let after = match timeout {
        Timeout::Never => return Ok(Time::NEVER),
        Timeout::After(after) => check_time(Quantity(after), || key.to_owned())?,
    };
    if after == Time::ZERO {
        return Err(ScenarioError::new(key, "must be above zero"));
    }
    Ok(after)
}

pub(crate) fn switch(
    spec: &mut SwitchSpec,
    scheme: &SchemeInfo,
    quirks: &QuirksSpec,
) -> Result<SwitchSettings> {
    let buffer = check_buffer(spec.buffer.0, || "switch.buffer".to_owned())?;
    let latency = check_latency(spec.latency, "switch.latency")?;
    let default = if scheme.input_queues { Architecture::Cioq } else { Architecture::SharedMemory };
    let cioq = match *spec.architecture.get_or_insert(default) {
        Architecture::SharedMemory if scheme.input_queues => {
            return Err(ScenarioError::new(
                "switch.architecture",
                format!("scheme {} works on input queues", scheme.name),
            )
            .hint("set switch.architecture = \"cioq\", or leave it out"));
        }
        Architecture::SharedMemory => {
            let given = [
                ("speedup", spec.speedup.is_some()),
                ("input_queue", spec.input_queue.is_some()),
                ("output_queue", spec.output_queue.is_some()),
            ];
            if let Some((key, _)) = given.iter().find(|(_, given)| *given) {
                return Err(ScenarioError::new(
                    format!("switch.{key}"),
                    "goes with switch.architecture = \"cioq\", but it is \"shared-memory\"",
                )
                .hint(format!("leave switch.{key} out, or set switch.architecture = \"cioq\"")));
            }
            None
        }
        Architecture::Cioq if !quirks.is_native() => {
            return Err(ScenarioError::new(
                "switch.architecture",
                format!(
                    "\"cioq\" does not go with {}: the HPCC simulator has shared-memory switches",
                    quirks_on(quirks)
                ),
            )
            .hint(if scheme.input_queues {
                format!("turn these off, as scheme {} needs \"cioq\"", scheme.name)
            } else {
                "set switch.architecture = \"shared-memory\", or turn these off".to_owned()
            }));
        }
        Architecture::Cioq => Some(cioq(spec)?),
    };
    let lossy_alpha = spec.lossy_alpha.map(|alpha| pfc::check_alpha(alpha, "switch.lossy_alpha"));
    let lossy_alpha = lossy_alpha.transpose()?;
    if lossy_alpha.is_some() && cioq.is_some() {
        return Err(ScenarioError::new(
            "switch.lossy_alpha",
            "is a share of a shared buffer, and with switch.architecture = \"cioq\" there is none",
        )
        .hint("leave switch.lossy_alpha out, or set switch.architecture = \"shared-memory\""));
    }
    if lossy_alpha.is_some() && !quirks.go_with_balancing() {
        let why = format!("does not go with {}: the HPCC simulator has none", quirks_on(quirks));
        return Err(ScenarioError::new("switch.lossy_alpha", why)
            .hint("leave switch.lossy_alpha out, or turn these off"));
    }
    Ok(SwitchSettings { buffer, lossy_alpha, latency, cioq })
}

fn cioq(spec: &mut SwitchSpec) -> Result<Cioq> {
    let speedup = *spec.speedup.get_or_insert(2.0);
    if !(1.0..=16.0).contains(&speedup) {
        return Err(ScenarioError::new(
            "switch.speedup",
            format!("must be 1 to 16, got {speedup}"),
        ));
    }
    let queue = Quantity(Bytes::new(100_000));
    let input_queue = spec.input_queue.get_or_insert(queue).0;
    let output_queue = spec.output_queue.get_or_insert(queue).0;
    Ok(Cioq {
        speedup,
        input_queue: check_buffer(input_queue, || "switch.input_queue".to_owned())?,
        output_queue: check_buffer(output_queue, || "switch.output_queue".to_owned())?,
    })
}

pub(crate) fn check_buffer(buffer: Bytes, key: impl Fn() -> String) -> Result<Bytes> {
    if buffer == Bytes::ZERO || buffer > MAX_BUFFER {
        return Err(ScenarioError::new(
            key(),
            format!("{buffer} is out of range; allowed: 1B to {MAX_BUFFER}"),
        ));
    }
    Ok(buffer)
}

fn check_latency(latency: Quantity<Time>, key: &str) -> Result<Time> {
    let longest = Time::from_ms(1000);
    if latency.0 > longest {
        return Err(ScenarioError::new(
            key,
            format!("{} is too long; the longest is {longest}", latency.0),
        ));
    }
    Ok(latency.0)
}

pub(crate) fn classes(spec: &ClassesSpec, quirks: &QuirksSpec) -> Result<Classes> {
    let ack = match spec.ack {
        AckPriority::Priority(priority) => Some(priority),
        AckPriority::Data(_) => None,
    };
    let named = [("data", Some(spec.data)), ("ack", ack), ("control", Some(spec.control))];
    for (name, priority) in named {
        if let Some(priority) = priority {
            check_priority(priority, || format!("classes.{name}"))?;
        }
    }
    for (name, list) in [("lossless", &spec.lossless), ("strict", &spec.strict)] {
        for (index, priority) in list.iter().enumerate() {
            let key = || format!("classes.{name}.{index}");
            check_priority(*priority, key)?;
            if list[..index].contains(priority) {
                return Err(ScenarioError::new(
                    key(),
                    format!("priority {priority} is listed twice"),
                ));
            }
        }
    }
    if let Some(priority) = spec.weights.iter().position(|weight| !(1..=1_000_000).contains(weight))
    {
        return Err(ScenarioError::new(
            format!("classes.weights.{priority}"),
            format!("a weight is 1 to 1000000, got {}", spec.weights[priority]),
        ));
    }
    if quirks.packet_round_robin && spec.weights != ClassesSpec::default().weights {
        return Err(ScenarioError::new(
            "classes.weights",
            "has no effect with quirks.packet_round_robin = true: ports then send a packet of \
             each priority in turn",
        )
        .hint("set quirks.packet_round_robin = false, or leave classes.weights out"));
    }
    let quantum = spec.quantum.0;
    if quantum == Bytes::ZERO || quantum > Bytes::new(1_000_000_000) {
        return Err(ScenarioError::new(
            "classes.quantum",
            format!("{quantum} is out of range; allowed: 1B to 1GB"),
        ));
    }
    let shares = (0u8..).zip(spec.weights).filter(|(priority, _)| !spec.strict.contains(priority));
    let weight = shares.map(|(_, weight)| weight).max().unwrap_or(1);
    if quantum.get() * u64::from(weight) > MAX_ROUND.get() {
        return Err(ScenarioError::new(
            "classes.quantum",
            format!("{quantum} times a weight of {weight} is more than {MAX_ROUND} in a round"),
        )
        .hint("lower it, or the weights: only their ratios count"));
    }
    Ok(Classes {
        data: spec.data,
        ack,
        control: spec.control,
        lossless: spec.lossless.clone(),
        strict: spec.strict.clone(),
        weights: spec.weights,
        quantum,
    })
}

/// More trees than this take tables without end.
const MAX_TREES: u32 = 1024;
/// More are not grown unasked.
const DEFAULT_TREES: usize = 64;

pub(crate) fn routing(
    spec: &mut RoutingSpec,
    scheme: &SchemeInfo,
    network: &Network,
    quirks: &QuirksSpec,
) -> Result<Paths> {
    let is_tree = spec.paths == PathsKind::SpanningTrees;
    let quirk = quirks.ecmp_hash();
    let symmetric = scheme.symmetric_paths && quirk.is_none();
    let default = if symmetric || is_tree { HashKind::Symmetric } else { HashKind::FiveTuple };
    let hash = *spec.hash.get_or_insert(default);
    if let Some(quirk) = quirk.filter(|_| is_tree || hash != HashKind::FiveTuple) {
        // What the quirk hashes are five-tuples, too.
        let key = if is_tree { "routing.paths" } else { "routing.hash" };
        let why =
            format!("has no effect with {quirk} = true: each switch then hashes with its own seed");
        return Err(
            ScenarioError::new(key, why).hint(format!("set {quirk} = false, or leave {key} out"))
        );
    }
    if spec.trees.is_some() && !is_tree {
        return Err(ScenarioError::new(
            "routing.trees",
            "needs routing.paths = \"spanning-trees\"",
        ));
    }
    match (spec.paths, hash) {
        (PathsKind::Shortest, HashKind::FiveTuple) if symmetric => Err(ScenarioError::new(
            "routing.hash",
            format!("scheme {} needs data and ACKs on the same path", scheme.name),
        )
        .hint(
            "set routing.hash = \"symmetric\" or leave it out, or routing.paths = \
            \"spanning-trees\"",
        )),
        (PathsKind::Shortest, HashKind::FiveTuple) => Ok(Paths::FiveTuple),
        (PathsKind::Shortest, HashKind::Symmetric) => Ok(Paths::Symmetric),
        (PathsKind::SpanningTrees, HashKind::FiveTuple) => Err(ScenarioError::new(
            "routing.hash",
            "has no effect with routing.paths = \"spanning-trees\": the symmetric hash chooses a \
             tree",
        )
        .hint("leave routing.hash out, or set routing.paths = \"shortest\"")),
        (PathsKind::SpanningTrees, HashKind::Symmetric) => {
            let highest = network.nodes.iter().map(|node| node.tier).max();
            let roots = network.nodes.iter().filter(|node| Some(node.tier) == highest).count();
            let trees = *spec.trees.get_or_insert(roots.min(DEFAULT_TREES) as u32);
            if !(1..=MAX_TREES).contains(&trees) {
                return Err(ScenarioError::new(
                    "routing.trees",
                    format!("must be 1 to {MAX_TREES}, got {trees}"),
                ));
            }
            Ok(Paths::SpanningTrees(trees))
        }
    }
}
