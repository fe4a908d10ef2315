//! The description of a run as plain values: the network, and what happens in it.
//!
//! The fabric trusts all values. The scenario, which makes them, has checked them.

use crate::compat::Quirks;
use model::{
    Balance, Cioq, ClassMarking, ClassSettings, HostConfig, Impairment, Joins, Link, Message, Node,
    Outage, Paths, PauseTiming, Probe, SlowReceiver,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use units::{Bytes, NodeId, Rate, Time};

/// How switches behave, apart from the scheme.
#[derive(Clone, Copy, Debug)]
pub struct SwitchConfig {
    /// Shared packet buffer.
    pub buffer: Bytes,
    /// By priority, the share of the free buffer that a queue without PFC may take, in 65536ths;
    /// `None`: all of it.
    pub lossy_alpha: [Option<u32>; 8],
    /// Time from the wire to the egress queue. PFC frames do not take it.
    pub latency: Time,
    /// Combined input and output queues; `None`: output queues in a shared buffer.
    pub cioq: Option<Cioq>,
}

/// Priority flow control.
#[derive(Clone, Copy, Debug)]
pub struct PfcConfig {
    /// Priorities that it protects, as a bit mask; 0 for none.
    pub lossless: u8,
    /// When an ingress pauses its peer.
    pub threshold: Threshold,
    /// By priority, the threshold of classes that have one of their own. It is of the same kind.
    pub of_class: [Option<Threshold>; 8],
    /// Buffer space above the threshold, for each port and lossless priority.
    pub headroom: Headroom,
    /// How fast a pause takes hold, how long it lasts, and who frees what is paused without end.
    pub timing: PauseTiming,
}

impl PfcConfig {
    /// Returns the priorities that it protects.
    pub fn lossless_priorities(&self) -> impl Iterator<Item = u8> + use<> {
        let lossless = self.lossless;
        (0..8).filter(move |priority| lossless & 1 << priority != 0)
    }

    /// Returns the threshold of a priority.
    pub fn threshold_of(&self, priority: u8) -> Threshold {
        self.of_class[usize::from(priority & 7)].unwrap_or(self.threshold)
    }
}

/// Buffer space above the threshold, for packets that still arrive after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// What rate, delay and packet sizes require.
    Auto,
    /// This many bytes.
    Fixed(Bytes),
    /// This multiple of the bytes that the link holds, and this many bytes.
    CableBdp(u32, Bytes),
}

/// When an ingress pauses its peer, and when it resumes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// At fixed numbers of bytes.
    Static {
        /// Pause at this many bytes.
        xoff: Bytes,
        /// Resume at this many bytes.
        xon: Bytes,
    },
    /// At a share of the buffer that is free.
    Dynamic {
        /// The share, in 65536ths.
        alpha: u32,
        /// A quirk of the HPCC simulator: a port's alpha doubles with each doubling of its rate
        /// over this one, up to the whole free buffer. Headroom then belongs to the port, not to
        /// each priority, and ingresses that PFC protects are checked against their own limits
        /// only. The thresholds of all classes have the same rate.
        shifted_above: Option<Rate>,
        /// Resume this far below the threshold.
        resume_offset: Bytes,
        /// Bytes that each ingress port has for itself alone.
        reserve: Bytes,
    },
}

impl Threshold {
    /// Returns Xoff and Xon of a fixed threshold.
    pub fn fixed(self) -> Option<(Bytes, Bytes)> {
        match self {
            Threshold::Static { xoff, xon } => Some((xoff, xon)),
            Threshold::Dynamic { .. } => None,
        }
    }
}

/// ECN marking by RED.
#[derive(Clone, Debug, PartialEq)]
pub struct EcnConfig {
    /// The law of ports whose rate is not in `by_rate`.
    pub law: EcnLaw,
    /// The port rate for which the thresholds of `law` hold; they scale with the rate of other
    /// ports. `None`: they hold at all ports.
    pub at: Option<Rate>,
    /// The laws of ports with certain rates.
    pub by_rate: Vec<(Rate, EcnLaw)>,
    /// Whether a packet is marked when it joins the queue; otherwise when it leaves.
    pub at_enqueue: bool,
}

impl EcnConfig {
    /// Marks nothing. `at_enqueue`: classes with marking of their own mark then.
    pub fn off(at_enqueue: bool) -> EcnConfig {
        let law = EcnLaw { kmin: Bytes::UNLIMITED, kmax: Bytes::UNLIMITED, pmax: 0.0 };
        EcnConfig { law, at: None, by_rate: Vec::new(), at_enqueue }
    }

    /// The marking of a class's queues; `None` if it is that of other classes.
    pub fn of_class(class: &ClassSettings) -> Option<EcnConfig> {
        Some(match class.marking? {
            ClassMarking::Off => EcnConfig::off(false),
            ClassMarking::Law { kmin, kmax, pmax, at } => {
                let law = EcnLaw { kmin, kmax, pmax };
                EcnConfig { law, at, by_rate: Vec::new(), at_enqueue: false }
            }
        })
    }

    /// Whether it marks nothing at any port.
    pub fn is_off(&self) -> bool {
        self.law.kmin == Bytes::UNLIMITED
    }

    /// The law of ports with this rate.
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
    /// Up to this length of the queue nothing is marked.
    pub kmin: Bytes,
    /// Above this length everything is marked.
    pub kmax: Bytes,
    /// The probability of a mark at `kmax`.
    pub pmax: f64,
}

/// Which priority carries what, and how priorities are served.
#[derive(Clone, Copy, Debug)]
pub struct ClassConfig {
    /// The priority of ACKs and NACKs; `None`: that of the data that they answer.
    pub ack: Option<u8>,
    /// The priority of the scheme's control packets.
    pub control: u8,
    /// Priorities that are served strictly first, the highest first, as a bit mask. The others
    /// share by weight.
    pub strict: u8,
    /// Bytes in each round for each priority that is not strict.
    pub quanta: [u32; 8],
}

/// Which single events are recorded.
#[derive(Clone, Debug)]
pub struct Records {
    /// Every PFC frame where it arrives.
    pub pfc: bool,
    /// Every packet at these nodes.
    pub packets: BTreeSet<NodeId>,
    /// The lengths of all queues of switches.
    pub queues: Option<QueueSampling>,
    /// The first time of PFC frames and packets that are recorded.
    pub start: Time,
    /// The last time of PFC frames and packets that are recorded.
    pub end: Time,
    /// How many samples of probes a PFC frame or an event of a packet counts for. When the limit of
    /// samples is reached, no more events are recorded.
    pub samples_per_event: u64,
}

impl Default for Records {
    /// Nothing is recorded. What is switched on afterwards is recorded to the end of the run,
    /// without a limit.
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

/// When lengths of queues are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSampling {
    /// The first sample.
    pub start: Time,
    /// The last sample is at this time or the next one after it.
    pub end: Time,
    /// The time between two samples.
    pub interval: Time,
    /// A histogram of all samples so far is recorded at every multiple of this time.
    pub block: Time,
    /// The size of a bin of the histogram, in bytes.
    pub bin: u64,
}

/// Where records are stored that exceed their share of memory.
#[derive(Clone, Debug)]
pub struct Spill {
    /// The directory of the file. The file has no name there, and vanishes when nobody reads it.
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

/// The description of a run, without the scheme.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// The links between them.
    pub links: Vec<Link>,
    /// When links fail. Outages of one link do not overlap or touch.
    pub outages: Vec<Outage>,
    /// What single classes have of their own. Where none but these mark packets, `ecn` is
    /// [off](EcnConfig::off).
    pub class_settings: Vec<ClassSettings>,
    /// When links are slower or lossier than else.
    pub impairments: Vec<Impairment>,
    /// The messages, in order of posting.
    pub messages: Vec<Message>,
    /// What messages wait for.
    pub joins: Joins,
    /// Sizes on the wire.
    pub wire: wire::Profile,
    /// Payload bytes of a full packet.
    pub payload: u32,
    /// How hosts behave.
    pub host: HostConfig,
    /// Hosts that pass data on more slowly than it arrives; the times of each do not overlap.
    pub slow_receivers: Vec<SlowReceiver>,
    /// How switches behave.
    pub switch: SwitchConfig,
    /// Flow control.
    pub pfc: PfcConfig,
    /// ECN marking; `None`: nothing is marked.
    pub ecn: Option<EcnConfig>,
    /// Traffic classes.
    pub classes: ClassConfig,
    /// Which paths packets may use.
    pub paths: Paths,
    /// How switches choose among them.
    pub balance: Balance,
    /// What is done as in the HPCC authors' ns-3 simulator.
    pub quirks: Quirks,
    /// Seed of all random streams.
    pub seed: u64,
    /// The latest end of the run.
    pub stop: Time,
    /// Whether the run ends when all messages are finished.
    pub until_done: bool,
    /// Time series to record.
    pub probes: Vec<Probe>,
    /// The limit of samples of all probes and of events, as [`Records`] counts them. None are taken
    /// from the whole microsecond on at which it is reached.
    pub max_samples: u64,
    /// Single events to record.
    pub records: Records,
    /// Where samples and events are stored that are too many for memory.
    pub spill: Spill,
    /// Runs on the reference engine, event by event, without the fast paths. This is slow. Tests
    /// check that the results are equal.
    pub reference_mode: bool,
}
