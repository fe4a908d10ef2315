//! What is to be built: the network and what happens in it, as plain values.
//!
//! Everything here is trusted: whoever makes it (the scenario) has checked it.

use crate::compat::Quirks;
pub use model::{Link, Message, Node, NodeKind, Outage};
use schemes::contract::SwitchFlowMetric;
use std::collections::BTreeSet;
use std::path::PathBuf;
use units::{Bytes, FlowId, NodeId, PortId, Rate, Time};

/// How hosts behave beside the scheme.
#[derive(Clone, Copy, Debug)]
pub struct HostConfig {
    /// Packets per ACK.
    pub ack_every: u32,
    /// Without progress for this long the sender goes back; [`Time::NEVER`] for not at all.
    pub retransmit_timeout: Time,
    /// Time from the wire to the NIC's logic.
    pub latency: Time,
    /// Whether receivers answer a gap with a NACK.
    pub nack: bool,
    /// They answer again for the same gap, as more arrives, after this long;
    /// [`Time::NEVER`] for once.
    pub nack_interval: Time,
}

/// How switches behave beside the scheme.
#[derive(Clone, Copy, Debug)]
pub struct SwitchConfig {
    /// Shared packet buffer.
    pub buffer: Bytes,
    /// A queue of a class that PFC does not protect takes no more than so many 65536ths of what is free.
    pub lossy_alpha: Option<u32>,
    /// Time from the wire to the egress queue, for all but PFC frames.
    pub latency: Time,
    /// Combined input and output queues, instead of a shared buffer.
    pub cioq: Option<Cioq>,
}

/// Combined input and output queues (CIOQ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cioq {
    /// How many times faster than the fastest port the crossbar takes packets over; 1 at least.
    pub speedup: f64,
    /// Bytes of a priority that a port's input queue, all of its VOQs, holds.
    pub input_queue: Bytes,
    /// Bytes of a priority that a port's output queue holds.
    pub output_queue: Bytes,
}

/// Priority flow control.
#[derive(Clone, Copy, Debug)]
pub struct PfcConfig {
    /// Priorities that it protects, as a bit mask; 0 for none.
    pub lossless: u8,
    /// When an ingress pauses its peer.
    pub threshold: Threshold,
    /// Room per port and lossless priority above the threshold.
    pub headroom: Headroom,
}

/// Room above the threshold, for what still arrives after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// What rate, delay and packet sizes demand.
    Auto,
    /// As given.
    Fixed(Bytes),
    /// This many times what the cable holds.
    CableBdp(u32),
}

/// When an ingress pauses and lets go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// At fixed lengths.
    Static {
        /// Pause at this many bytes.
        xoff: Bytes,
        /// Resume at this many.
        xon: Bytes,
    },
    /// At a share of the buffer that is still free.
    Dynamic {
        /// The share, in 65536ths.
        alpha: u32,
        /// The port rate that alpha is for, where faster ports may take more
        /// ([`Quirks::rate_scaled_alpha`](crate::Quirks::rate_scaled_alpha)).
        at: Rate,
        /// Resume this far below the threshold.
        resume_offset: Bytes,
        /// Bytes that each ingress port has for itself.
        reserve: Bytes,
    },
}

/// RED marking.
#[derive(Clone, Debug, PartialEq)]
pub struct EcnConfig {
    /// The law of ports whose rate is not in `by_rate`.
    pub law: EcnLaw,
    /// The port rate the thresholds of `law` are for; others scale. `None`: the same at all ports.
    pub at: Option<Rate>,
    /// Laws of ports of certain rates.
    pub by_rate: Vec<(Rate, EcnLaw)>,
    /// Mark when a packet joins the queue instead of when it leaves.
    pub at_enqueue: bool,
}

impl EcnConfig {
    /// The law of ports of a rate.
    pub fn law_at(&self, rate: Rate) -> EcnLaw {
        if let Some((_, law)) = self.by_rate.iter().find(|(of, _)| *of == rate) {
            return *law;
        }
        let Some(at) = self.at else { return self.law };
        let share = |bytes: Bytes| {
            let bytes = u128::from(bytes.get()) * u128::from(rate.bps()) / u128::from(at.bps());
            Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
        };
        EcnLaw { kmin: share(self.law.kmin), kmax: share(self.law.kmax), pmax: self.law.pmax }
    }
}

/// RED's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EcnLaw {
    /// Nothing is marked up to here.
    pub kmin: Bytes,
    /// Everything above.
    pub kmax: Bytes,
    /// Probability at `kmax`.
    pub pmax: f64,
}

/// Which priority is what.
#[derive(Clone, Copy, Debug)]
pub struct ClassConfig {
    /// Of ACKs and NACKs; `None`: that of the data they answer.
    pub ack: Option<u8>,
    /// Of the scheme's control packets.
    pub control: u8,
    /// Priorities served first, highest first, as a bit mask; the others share by weight.
    pub strict: u8,
    /// Bytes per round of each priority that is not strict.
    pub quanta: [u32; 8],
}

/// How the packets of a QP choose among paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// Shortest paths, by a hash of the five-tuple.
    FiveTuple,
    /// The same, where data and ACKs hash alike.
    Symmetric,
    /// This many spanning trees; each QP keeps to one.
    SpanningTrees(u32),
}

/// What a probe records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// Bytes waiting at a port.
    Queue,
    /// Bytes in a switch that came in through a port.
    InputQueue,
    /// Bits per second that a port sent, or that a flow's receiver got in order.
    Throughput,
    /// Share of a port's rate that was used.
    Utilisation,
    /// 1 while a port is paused in some priority.
    Pause,
    /// The scheme's number for a port.
    PortState,
    /// A flow's pacing rate, bits per second.
    Rate,
    /// A flow's window, bytes.
    Window,
    /// A flow's congestion estimate.
    Alpha,
    /// Mean time of a flow's packets from sender to receiver, seconds.
    Latency,
    /// Bytes that wait in the queue that the scheme keeps for a flow at its first switch.
    FlowQueue,
    /// Bytes that this queue may send.
    FlowCredits,
    /// The rate that this switch gives to the flow, bits per second.
    FlowRate,
}

impl ProbeKind {
    /// What a flow's first switch is asked for, where it is asked.
    pub(crate) fn at_first_switch(self) -> Option<SwitchFlowMetric> {
        match self {
            ProbeKind::FlowQueue => Some(SwitchFlowMetric::Queue),
            ProbeKind::FlowCredits => Some(SwitchFlowMetric::Credits),
            ProbeKind::FlowRate => Some(SwitchFlowMetric::Rate),
            _ => None,
        }
    }
    /// Whether, of a flow, the receiver knows it and not the sender.
    pub(crate) fn is_counted_at_receiver(self) -> bool {
        matches!(self, ProbeKind::Throughput | ProbeKind::Latency)
    }
}

/// What a probe looks at.
#[derive(Clone, Debug)]
pub enum ProbeTargets {
    /// Ports.
    Ports(Vec<(NodeId, PortId)>),
    /// Messages.
    Flows(Vec<FlowId>),
}

/// A time series to record.
#[derive(Clone, Debug)]
pub struct Probe {
    /// What.
    pub kind: ProbeKind,
    /// Of ports' queues and pauses: of this priority alone, 0 to 7.
    pub priority: Option<u8>,
    /// How often.
    pub interval: Time,
    /// From when.
    pub start: Time,
    /// Until when.
    pub end: Time,
    /// Of what.
    pub targets: ProbeTargets,
}

/// What to record.
#[derive(Clone, Debug)]
pub struct Records {
    /// Every PFC frame where it arrives.
    pub pfc: bool,
    /// Every packet at these nodes.
    pub packets: BTreeSet<NodeId>,
    /// Lengths of all queues of switches.
    pub queues: Option<QueueSampling>,
    /// PFC frames and packets from this time on.
    pub start: Time,
    /// And up to this one.
    pub end: Time,
    /// Each PFC frame and each event of a packet counts as so many samples of probes: where there is no
    /// room for more of those, none is recorded.
    pub samples_per_event: u64,
}

impl Default for Records {
    /// Nothing; what is asked for then, to the end of the run and however much it is.
    fn default() -> Records {
        Records {
            pfc: false,
            packets: BTreeSet::new(),
            queues: None,
            start: Time::ZERO,
            end: Time::NEVER,
            samples_per_event: 0,
        }
    }
}

/// When lengths of queues are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSampling {
    /// For the first time.
    pub start: Time,
    /// For the last time at this or just after it.
    pub end: Time,
    /// So often.
    pub interval: Time,
    /// What was counted until then is kept whenever the time is a multiple of this.
    pub block: Time,
    /// Bytes that count as the same length.
    pub bin: u64,
}

/// Where records go that memory is not to hold.
#[derive(Clone, Debug)]
pub struct Spill {
    /// The directory of the file. The file has no name there, and is gone when nobody reads it any more.
    pub directory: PathBuf,
    /// Bytes of records that stay in memory.
    pub max_held_bytes: u64,
}

impl Default for Spill {
    /// 32 MiB in memory, and a file in the system's directory for temporary files.
    fn default() -> Spill {
        Spill { directory: std::env::temp_dir(), max_held_bytes: 32 << 20 }
    }
}

/// A run of the fabric, but for the scheme.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// What joins them.
    pub links: Vec<Link>,
    /// When they fail; those of a link do not overlap or touch.
    pub outages: Vec<Outage>,
    /// In order of posting.
    pub messages: Vec<Message>,
    /// Sizes on the wire.
    pub wire: wire::Profile,
    /// Payload bytes of a full packet.
    pub payload: u32,
    /// Hosts.
    pub host: HostConfig,
    /// Switches.
    pub switch: SwitchConfig,
    /// Flow control.
    pub pfc: PfcConfig,
    /// Marking; `None` for none.
    pub ecn: Option<EcnConfig>,
    /// Priorities.
    pub classes: ClassConfig,
    /// How QPs choose among paths.
    pub paths: Paths,
    /// What is done as in the HPCC simulator.
    pub quirks: Quirks,
    /// Seed of all random streams.
    pub seed: u64,
    /// When the run ends at the latest.
    pub stop: Time,
    /// Whether it ends when all messages are done.
    pub until_done: bool,
    /// Time series to record.
    pub probes: Vec<Probe>,
    /// Samples of all probes, and events as [`Records`] counts them: from the whole microsecond on at which
    /// there are so many, none are taken.
    pub max_samples: u64,
    /// Single events to record.
    pub records: Records,
    /// Where samples and events go that are too many for memory.
    pub spill: Spill,
    /// Has the run worked by the book: event by event on the reference engine, without the fabric's
    /// short ways. Slow; what comes out is the same, which is what tests ask.
    pub reference_mode: bool,
}
