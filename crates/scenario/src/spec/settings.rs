//! `[wire]`, `[host]`, `[switch]`, `[pfc]`, `[ecn]`, `[classes]`, `[routing]`.

use super::{
    AckPriority, BalanceKind, ClassSpec, ConWeaveSpec, CongaSpec, Headroom, LossAfter,
    PauseTimeSpec, Quantity, RefreshSpec, RepsSpec, ResponseSpec, SpanSpec, SprayKind, Timeout,
};
use model::{PortUse, RecoveryMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Time};

/// What is on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WireSpec {
    /// The sizes of headers and control frames.
    pub profile: WireProfile,
    /// Data bytes of a full packet, 64B to 9000B; with profile `hpcc-ns3` 1B to 65000B.
    pub payload: Quantity<Bytes>,
    /// Probability that a packet of any kind, PFC frames too, arrives damaged over a link and is
    /// discarded; links of a custom topology may have their own.
    pub error_rate: f64,
}

/// The sizes of headers and control frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WireProfile {
    /// RoCEv2 over Ethernet, with preamble and inter-packet gap.
    #[default]
    Rocev2,
    /// The sizes of the HPCC authors' ns-3 simulator: 48 B of headers, ACKs of 60 B.
    HpccNs3,
}

impl Default for WireSpec {
    fn default() -> WireSpec {
        WireSpec {
            profile: WireProfile::default(),
            payload: Quantity(Bytes::new(1000)),
            error_rate: 0.0,
        }
    }
}

/// Every host's RNIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HostSpec {
    /// Data packets for each ACK.
    pub ack_every: u32,
    /// Go-back-N: resend from the first unacknowledged packet after this long without an ACK, or
    /// "never"; default: 1ms, and not less than eight times the delay of the longest link; where no
    /// data is ever lost (PFC protects all flows on all links, none of which fails or damages
    /// packets), not less than the slowest link, at the lowest rate that it has in the run, takes
    /// for eight times a switch's buffer either (CIOQ switches: 32MB).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmit_timeout: Option<Timeout>,
    /// Time from the arrival of a packet to its handling in the host: a receiver answers that much
    /// later, and a sender knows of an ACK that much later.
    pub latency: Quantity<Time>,
    /// Whether a gap in the sequence is answered with a NACK.
    pub nack: bool,
    /// While the gap lasts, answer again after this long, or "never".
    pub nack_interval: Timeout,
    /// What is sent again after a loss.
    pub recovery: RecoveryMode,
    /// How far ahead of the first missing packet a receiver keeps data: packets, a size, or "bdp";
    /// 16384 packets at most. With selective repeat a sender goes no further. Default: 0 packets
    /// with go-back-N, as in most RoCE NICs; with selective repeat "bdp" where `in_flight` is
    /// "bdp", else 16384 packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<SpanSpec>,
    /// Selective repeat: when a packet is taken for lost. "gap": when a later one has arrived
    /// (IRN); a number of packets or "bdp": when one has arrived that is this far behind it in the
    /// stream; a time: when one has arrived that left this much later; "timeout": never. Default:
    /// "gap", or "timeout" where packets of a flow take several paths, because a gap is no sign of
    /// a loss there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_after: Option<LossAfter>,
    /// The largest distance between the first byte that is not acknowledged and the next new one:
    /// packets, a size, "bdp" (IRN's BDP-FC) or "unlimited"; where receivers keep data that is out
    /// of order, 16384 packets at most. Default: "bdp" for selective repeat without a control law
    /// (`scheme.name = "none"`), else "unlimited".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<SpanSpec>,
    /// Selective repeat: the timeout of a QP with at most `rto_low_packets` packets that are not
    /// known to have arrived, or "never". Default: where data may be lost 100us (IRN), but not less
    /// than eight times the delay of the longest link; else the default of `retransmit_timeout`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_low: Option<Timeout>,
    /// Selective repeat: the timeout of other QPs. Default: as `rto_low`, but 320us instead of
    /// 100us (IRN).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_high: Option<Timeout>,
    /// Selective repeat: see `rto_low`; default: 3 (IRN).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_low_packets: Option<u32>,
    /// Whether receivers take a packet out of order for a marked one, as some RNICs do: DCQCN
    /// answers with a CNP, other schemes echo a mark in the ACK. Without `reorder` only packets
    /// that are answered with a NACK count.
    pub reordering_makes_cnp: bool,
    /// How queue pairs use the links of a host that has several.
    pub ports: PortUse,
    /// How the packets of a queue pair are spread over paths by the sender: each data packet has an
    /// entropy value that switches hash. It goes with `routing.balance = "ecmp"` only.
    pub spray: SprayKind,
    /// Entropy values of a queue pair, 1 to 65536; a power of two for "cycle". Default: 256, for
    /// "reps" 65536.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropies: Option<u32>,
    /// `spray = "flowcell"`: payload bytes with one entropy value; default: 64KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<Quantity<Bytes>>,
    /// `spray = "reps"`: its parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reps: Option<RepsSpec>,
}

impl Default for HostSpec {
    fn default() -> HostSpec {
        HostSpec {
            ack_every: 1,
            retransmit_timeout: None,
            latency: Quantity(Time::ZERO),
            nack: true,
            nack_interval: Timeout::Never,
            recovery: RecoveryMode::GoBackN,
            reorder: None,
            loss_after: None,
            in_flight: None,
            rto_low: None,
            rto_high: None,
            rto_low_packets: None,
            reordering_makes_cnp: false,
            ports: PortUse::Hash,
            spray: SprayKind::Off,
            entropies: None,
            cell: None,
            reps: None,
        }
    }
}

/// Every switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SwitchSpec {
    /// Where packets wait; default: "shared-memory", or what the scheme works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Architecture>,
    /// Packet buffer that all ports share ("shared-memory").
    pub buffer: Quantity<Bytes>,
    /// "shared-memory": limit of a queue of a class that PFC does not protect, as a multiple of the
    /// free shared buffer, 2^-16 to 64. Default: no limit but what is free. What such a queue
    /// takes lowers dynamic thresholds of lossless classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossy_alpha: Option<f64>,
    /// Time from the arrival of a packet to its place in a queue.
    pub latency: Quantity<Time>,
    /// "cioq": how many times faster than the fastest port the crossbar is, 1 to 16; default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup: Option<f64>,
    /// "cioq": bytes of a priority that the input queue of a port holds, all virtual output queues
    /// together; default 100KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_queue: Option<Quantity<Bytes>>,
    /// "cioq": bytes of a priority that the output queue of a port holds; default 100KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_queue: Option<Quantity<Bytes>>,
}

/// Where packets wait in a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// In output queues that share a buffer.
    #[default]
    SharedMemory,
    /// In virtual output queues at the inputs, then in an output queue at each port; a crossbar
    /// (iSLIP) is between them. PFC looks at the input queues.
    Cioq,
}

impl Default for SwitchSpec {
    fn default() -> SwitchSpec {
        SwitchSpec {
            architecture: None,
            buffer: Quantity(Bytes::new(32_000_000)),
            lossy_alpha: None,
            latency: Quantity(Time::ZERO),
            speedup: None,
            input_queue: None,
            output_queue: None,
        }
    }
}

/// Priority flow control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PfcSpec {
    /// Whether switches pause; without it full buffers drop.
    pub enabled: bool,
    /// How the threshold of an ingress queue is found; default: "static" where `xoff` is given and
    /// in CIOQ switches, else "dynamic".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<ThresholdKind>,
    /// Static: pause at this many bytes of an ingress port and priority; default 320KB, in CIOQ
    /// switches 70% of the input queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Quantity<Bytes>>,
    /// Static: resume at this many bytes; default: 2KB below `xoff`, in CIOQ switches 5/7 of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xon: Option<Quantity<Bytes>>,
    /// Dynamic: pause at this share of the free shared buffer; default 0.125.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Dynamic: resume this much below the threshold; default 3KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_offset: Option<Quantity<Bytes>>,
    /// Dynamic: buffer kept for each port alone; default 4KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserve: Option<Quantity<Bytes>>,
    /// Buffer for what still arrives after a pause: "auto" (from rate and delay of each link), a
    /// size, "3bdp" (three times what the cable holds), or "2bdp" (two times that and 2096B).
    pub headroom: Headroom,
    /// From the arrival of a PFC frame until it takes effect: a time, or "802.3" for the upper
    /// bounds of IEEE 802.3 at links of 10, 25, 40, 100 and 400 Gb/s (60, 80, 118, 394 and 905
    /// quanta).
    pub response: ResponseSpec,
    /// How long a pause lasts: quanta of 512 bits, 1 to 65535, or a time that is the same at links
    /// of all rates; default: until a resume frame arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_time: Option<PauseTimeSpec>,
    /// With `pause_time`: a pause is sent again after this time, as long as the queue is above the
    /// length at which it ends; default: half of the pause. "arrivals": it is sent again with each
    /// packet that arrives while the queue is long enough to pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh: Option<RefreshSpec>,
    /// Lets switches free queues that stay paused for too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<WatchdogSpec>,
}

/// A watchdog of switches against pauses without end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WatchdogSpec {
    /// A priority of a port counts as stuck when it has been paused for this long without a break
    /// and packets wait. The switch looks again after the same time.
    pub detect: Quantity<Time>,
    /// For this long the priority then ignores pauses.
    pub restore: Quantity<Time>,
    /// What the switch does with its packets in that time.
    pub action: WatchdogActionSpec,
}

impl Default for WatchdogSpec {
    fn default() -> WatchdogSpec {
        let time = Quantity(Time::from_ms(200));
        WatchdogSpec { detect: time, restore: time, action: WatchdogActionSpec::Drop }
    }
}

/// What a watchdog does with the packets of a priority that is paused without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WatchdogActionSpec {
    /// Those that wait, and those that come, are dropped.
    Drop,
    /// They leave as if there were no pause.
    Forward,
}

impl Default for PfcSpec {
    fn default() -> PfcSpec {
        PfcSpec {
            enabled: true,
            threshold: None,
            xoff: None,
            xon: None,
            alpha: None,
            resume_offset: None,
            reserve: None,
            headroom: Headroom::Auto,
            response: ResponseSpec::After(Time::ZERO),
            pause_time: None,
            refresh: None,
            watchdog: None,
        }
    }
}

/// How the threshold of an ingress queue is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdKind {
    /// A fixed number of bytes.
    Static,
    /// A share of what is left of the shared buffer.
    Dynamic,
}

/// ECN marking at switches (RED on the egress queue).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EcnSpec {
    /// Whether switches mark; default: whether the scheme's preset has a marking law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Nothing is marked up to this queue length; default: from the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kmin: Option<Quantity<Bytes>>,
    /// Everything is marked above this queue length; default: from the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kmax: Option<Quantity<Bytes>>,
    /// Marking probability at `kmax`; default: from the preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmax: Option<f64>,
    /// The port rate that `kmin` and `kmax` are given for: other ports scale them with their rate.
    /// Default: if both are given, they hold at all ports, whatever their rate; if one is, the
    /// preset's rate, such as 40 Gb/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_rate: Option<Quantity<Rate>>,
    /// Thresholds of ports of certain rates, instead of `kmin`, `kmax` and `pmax`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_rate: Vec<EcnRateSpec>,
    /// Whether the queue is looked at when a packet leaves or when it arrives.
    pub mark_at: MarkAt,
}

/// ECN thresholds of ports of one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcnRateSpec {
    /// The rate of the ports.
    pub rate: Quantity<Rate>,
    /// Nothing is marked up to this queue length.
    pub kmin: Quantity<Bytes>,
    /// Everything is marked above this queue length.
    pub kmax: Quantity<Bytes>,
    /// Marking probability at `kmax`.
    pub pmax: f64,
}

/// When a switch looks at the queue to mark a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// When the packet leaves.
    #[default]
    Dequeue,
    /// When the packet arrives.
    Enqueue,
}

/// Which priority carries what, and how ports schedule priorities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClassesSpec {
    /// Priority of messages that name none.
    #[schemars(range(max = 7))]
    pub data: u8,
    /// Priority of ACKs and NACKs, or "data" for that of the data they answer.
    pub ack: AckPriority,
    /// Priority of a scheme's own packets, such as CNPs.
    #[schemars(range(max = 7))]
    pub control: u8,
    /// The priorities that PFC protects.
    #[schemars(inner(range(max = 7)))]
    pub lossless: Vec<u8>,
    /// The priorities with strict precedence, higher numbers first; the others share by weight.
    #[schemars(inner(range(max = 7)))]
    pub strict: Vec<u8>,
    /// Weight of each priority, 0 to 7, in deficit round robin.
    pub weights: [u32; 8],
    /// Bytes that a weight of 1 is worth in a round.
    pub quantum: Quantity<Bytes>,
    /// Settings of single classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<ClassSpec>,
}

impl Default for ClassesSpec {
    fn default() -> ClassesSpec {
        ClassesSpec {
            data: 3,
            ack: AckPriority::Priority(6),
            control: 6,
            lossless: vec![3],
            strict: vec![6, 7],
            weights: [1; 8],
            quantum: Quantity(Bytes::new(1600)),
            settings: Vec::new(),
        }
    }
}

/// How switches choose among paths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoutingSpec {
    /// The paths between two hosts.
    pub paths: PathsKind,
    /// The hash; default: "symmetric" for a scheme whose ACKs must return on the data's path, else
    /// "five-tuple".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<HashKind>,
    /// Number of spanning trees, with `paths = "spanning-trees"` only; default: one for each switch
    /// of the highest tier, but at most 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trees: Option<u32>,
    /// How a switch chooses among next hops for data; everything else takes the hash.
    pub balance: BalanceKind,
    /// "drill": next hops that are drawn, 1 to 64; default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// "drill": next hops that are remembered, 0 to 64; default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u32>,
    /// "letflow" and "conga": a flow that sends nothing for longer than this chooses again;
    /// default: 100us, as in ConWeave's experiments. "adaptive": the same, but by default each
    /// packet chooses (0ns).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flowlet_gap: Option<Quantity<Time>>,
    /// "adaptive": backlogs between two neighbours of these sizes count as equal; default: none
    /// do, and backlogs are compared by the time that ports take for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantise: Option<Vec<Quantity<Bytes>>>,
    /// "adaptive": how old the backlogs may be that a switch compares; default 0ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<Quantity<Time>>,
    /// "conga": its parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conga: Option<CongaSpec>,
    /// "conweave": its parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conweave: Option<ConWeaveSpec>,
}

/// The paths between two hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathsKind {
    /// All shortest paths; the hash chooses among next hops of equal cost.
    #[default]
    Shortest,
    /// The symmetric hash chooses one of several spanning trees over all switches, in which any two
    /// hosts have one path: ACKs take the data's path back in every topology.
    SpanningTrees,
}

/// What the choice of a path depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HashKind {
    /// Addresses, ports and protocol as they stand in the packet.
    FiveTuple,
    /// ECMP by a hash that is equal for both directions: in a regular topology ACKs take the data's
    /// path back.
    Symmetric,
}
