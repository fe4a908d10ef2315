use crate::build::{self, NodeDevice};
use crate::context::Common;
use crate::host::FlowOutcome;
use crate::network::partition;
use crate::network::setup::Setup;
use crate::observe::recorder::{PacketEvent, PfcEvent, QueueBlock};
use crate::observe::samples::Samples;
use crate::observe::spill::{Batch, Gathered, Sequence, SpillError, Store};
use crate::packet::Scheme;
use crate::port::Port;
use crate::switch::chassis::{Chassis, LosslessDrop, SwitchAudit};
use crate::unfinished;
use crate::unfinished::Unfinished;
use engine::{Collector, Outcome, ProgressCallback, RunLimits};
use schemes::params::ParamError;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use units::{Bytes, NodeId, PortId, Rate, Time, cancel};

/// A port at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct PortReport {
    /// Whose it is.
    pub node: NodeId,
    /// Its number.
    pub port: PortId,
    /// The node at the other end.
    pub peer: NodeId,
    /// Its rate.
    pub rate: Rate,
    /// What it counted.
    pub counters: crate::port::PortCounters,
}

/// What came out of a run.
#[derive(Clone, Debug)]
pub struct Output {
    /// By message.
    pub flows: Vec<FlowOutcome>,
    /// The messages that were not finished, by number, and why.
    pub unfinished: Vec<(u32, Unfinished)>,
    /// The nodes of a circle of links that PFC pauses for ever, in its order, and since when all are paused.
    pub deadlock: Option<(Vec<NodeId>, Time)>,
    /// What each message would have taken alone.
    pub ideal: Vec<Time>,
    /// By node, then port.
    pub ports: Vec<PortReport>,
    /// What the probes saw.
    pub samples: Samples,
    /// PFC frames that arrived, by time and node.
    pub pfc_events: Sequence<PfcEvent>,
    /// What happened to packets, by time and node.
    pub packet_events: Sequence<PacketEvent>,
    /// Lengths of queues, by time and node.
    pub queue_blocks: Sequence<QueueBlock>,
    /// Why samples and events end before the run does, where they found no room on disk.
    pub spill_error: Option<SpillError>,
    /// Drops in lossless classes: the first of each switch, by time.
    pub drops: Vec<LosslessDrop>,
    /// All of them.
    pub lossless_drops: u64,
    /// Data packets that reached their receiver ahead of others of their QP.
    pub out_of_order: u64,
    /// Bytes in and out of each switch.
    pub audits: Vec<SwitchAudit>,
    /// What the scheme counted, summed over hosts and switches, by name.
    pub counters: BTreeMap<&'static str, u64>,
    /// How it ended.
    pub outcome: Outcome,
    /// The largest base round trip of any pair of hosts.
    pub network_rtt: Time,
    /// The largest base round trip times lowest rate of any pair, where paths are shortest.
    pub network_bdp: Option<Bytes>,
}

/// A run that can start.
pub struct Ready<S: Scheme> {
    pub(crate) common: Arc<Common<S>>,
    devices: Vec<NodeDevice<S>>,
    limits: RunLimits,
    store: Store,
}

impl<S: Scheme> Ready<S> {
    /// Builds the network. Refuses what the scheme has no room for.
    pub fn new(setup: &Setup, params: S::Params) -> Result<Ready<S>, Refusal> {
        let common = Arc::new(Common::<S>::new(setup, params)?);
        if common.routes.max_switches > S::MAX_HOPS {
            return Err(Refusal::LongPaths {
                switches: common.routes.max_switches,
                room: S::MAX_HOPS,
            });
        }
        if common.rates.count() > S::MAX_RATES {
            return Err(Refusal::ManyRates { rates: common.rates.count(), room: S::MAX_RATES });
        }
        if let Some(priority) = common.taken_class(setup.pfc.lossless) {
            return Err(Refusal::ClassTaken { priority });
        }
        if let Some(priority) = common.late_class() {
            return Err(Refusal::ClassLate { priority });
        }
        if S::SYMMETRIC_PATHS
            && let Some((src, dst)) = common.two_way_pair()
        {
            return Err(Refusal::TwoWays { src, dst });
        }
        if setup.switch.cioq.is_some() && !common.goes_with_input_queues() {
            return Err(Refusal::NoInputQueues);
        }
        if let Some(refusal) = short_outage(setup, &common) {
            return Err(refusal);
        }
        if let Some(flow) = common.endless_message() {
            let row = &common.flows[flow as usize];
            let facts = common.path_facts(row.src, row.dst, common.hash(row, false), 0);
            return Err(Refusal::EndlessMessage { flow, rate: facts.bottleneck_rate });
        }
        let goal = setup.until_done.then_some(setup.messages.len() as u64);
        let devices = build::devices(setup, &common)?;
        let limits = RunLimits { stop: setup.stop, goal, max_records: setup.most_samples };
        Ok(Ready { common, devices, limits, store: Store::new(setup) })
    }

    /// Runs it on at most `threads` threads. Refuses where the system does not give as many.
    ///
    /// From here on `watch` stops it, and what it has done is kept: no cancelled scope unwinds it.
    pub fn run(self, threads: usize, watch: ProgressCallback<'_>) -> Result<Output, Refusal> {
        cancel::shielded(|| self.run_shielded(threads, watch))
    }

    fn run_shielded(self, threads: usize, watch: ProgressCallback<'_>) -> Result<Output, Refusal> {
        let Ready { common, devices, limits, store } = self;
        let layout = partition::layout(&common, threads);
        let (probes, max_held_bytes) = (store.probes(), store.max_held_bytes());
        let store = Mutex::new(store);
        let lock = || store.lock().unwrap_or_else(PoisonError::into_inner);
        let put = |devices: &mut dyn Iterator<Item = &mut NodeDevice<S>>, end| {
            lock().put(Batch::take(devices, probes, end))
        };
        let collector = Collector { max_held_bytes, collect: &put };
        let (mut devices, outcome, left) = if common.short_ways {
            engine::run_collecting(devices, &layout, limits, watch, collector)
                .map_err(|error| Refusal::NoThread { threads, reason: error.to_string() })?
        } else {
            engine::run_reference(devices, &layout, limits)
        };
        let unfinished = unfinished::causes(&common, &devices, &left, outcome.end);
        // Packets take memory that tables need.
        drop(left);
        let pauses = unfinished::pauses(&common, &devices);
        let deadlock = unfinished::pauses::deadlock(&pauses, devices.len(), outcome.end);
        let last = Batch::take(devices.iter_mut(), probes, outcome.end);
        let store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
        let output = collect(&common, devices, outcome, store.finish(last));
        Ok(Output { unfinished, deadlock, ..output })
    }
}

/// An outage that ends before what was on the cable would have arrived: it could not be told from what
/// comes after.
fn short_outage<S: Scheme>(setup: &Setup, common: &Common<S>) -> Option<Refusal> {
    let latency = setup.host.latency.max(setup.switch.latency);
    setup.outages.iter().find_map(|outage| {
        let cable = &setup.cables[outage.cable as usize];
        let longest = Bytes::new(common.largest_packet());
        let arrives = cable.rate.time_for(longest) + cable.delay + latency;
        // As one would write it.
        let least = Time::from_ns(arrives.ns() + 1);
        let short = outage.until != Time::NEVER && outage.until - outage.from <= least;
        short.then_some(Refusal::ShortOutage { cable: outage.cable, from: outage.from, least })
    })
}

/// Why a network can't be built for a scheme.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Paths have more switches than the scheme's packets have room for.
    LongPaths {
        /// Most switches on a path.
        switches: usize,
        /// What the scheme has room for.
        room: usize,
    },
    /// Links have more rates than the scheme's packets can tell apart.
    ManyRates {
        /// How many.
        rates: usize,
        /// How many it can.
        room: usize,
    },
    /// The scheme keeps a drop-tail class for its own packets, and something else uses it.
    ClassTaken {
        /// Its priority.
        priority: u8,
    },
    /// The scheme keeps a class that must go before all else, and does not.
    ClassLate {
        /// Its priority.
        priority: u8,
    },
    /// Data and ACKs of two hosts take different paths, and the scheme needs them on one.
    TwoWays {
        /// The sender.
        src: NodeId,
        /// The receiver.
        dst: NodeId,
    },
    /// No tree of switches has all hosts on it.
    NoSpanningTree,
    /// The system does not start so many threads.
    NoThread {
        /// How many.
        threads: usize,
        /// What it says.
        reason: String,
    },
    /// A cable is repaired so soon that what was on it could still arrive.
    ShortOutage {
        /// The cable's index.
        cable: u32,
        /// When it fails.
        from: Time,
        /// It must last longer than this.
        least: Time,
    },
    /// A message takes longer than times reach, even alone in the network.
    EndlessMessage {
        /// Its index.
        flow: u32,
        /// The lowest rate on its path.
        rate: Rate,
    },
    /// The tables have no room for so many different routes.
    ManyRoutes,
    /// A switch's buffer does not even hold the headroom that PFC needs.
    SmallBuffer {
        /// The switch.
        node: NodeId,
        /// Bytes that its headroom and reserve take.
        needed: u64,
    },
    /// An input queue does not hold Xoff and the headroom.
    SmallInputQueue {
        /// The switch.
        node: NodeId,
        /// Bytes that both take.
        needed: u64,
    },
    /// The scheme has queues or holds of its own that CIOQ switches do not have.
    NoInputQueues,
    /// The scheme's parameters do not go with a switch.
    Switch {
        /// The switch.
        node: NodeId,
        /// Which parameter, and why.
        error: ParamError,
    },
}

impl Output {
    /// Takes what a switch leaves.
    fn add_switch<S: Scheme>(
        &mut self,
        chassis: Chassis<S>,
        audit: SwitchAudit,
        report: impl Fn(usize, &Port) -> PortReport,
    ) {
        for (name, count) in chassis.counters() {
            *self.counters.entry(name).or_default() += count;
        }
        let Chassis { ports, mut drops_listed, .. } = chassis;
        self.ports.extend(ports.iter().enumerate().map(|(port, this)| report(port, this)));
        self.drops.append(&mut drops_listed);
        self.lossless_drops += audit.lossless_drops;
        self.audits.push(audit);
    }
}

fn collect<S: Scheme>(
    common: &Common<S>,
    devices: Vec<NodeDevice<S>>,
    outcome: Outcome,
    gathered: Gathered,
) -> Output {
    let Gathered { pfc, packets, queues, samples, failure } = gathered;
    let mut output = Output {
        flows: vec![FlowOutcome::NONE; common.flows.len()],
        unfinished: Vec::new(),
        deadlock: None,
        ideal: common.ideal_fcts(),
        ports: Vec::new(),
        samples,
        pfc_events: pfc,
        packet_events: packets,
        queue_blocks: queues,
        spill_error: failure,
        drops: Vec::new(),
        lossless_drops: 0,
        out_of_order: 0,
        audits: Vec::new(),
        counters: BTreeMap::new(),
        outcome,
        network_rtt: common.routes.network_rtt,
        network_bdp: common.routes.network_bdp,
    };
    for (node, device) in devices.into_iter().enumerate() {
        let ends = common.graph.ports(node as u32);
        let report = |port: usize, this: &Port| PortReport {
            node: NodeId::new(node as u32),
            port: PortId::new(port as u16),
            peer: NodeId::new(ends[port].peer),
            rate: ends[port].rate,
            counters: this.final_counters(outcome.end),
        };
        match device {
            NodeDevice::Host(host) => {
                let nics = host.nics.iter().enumerate();
                output.ports.extend(nics.map(|(port, nic)| report(port, &nic.port)));
                for (place, &flow) in host.outgoing().iter().enumerate() {
                    output.flows[flow as usize] = host.outcomes[place];
                }
                output.out_of_order += host.out_of_order;
                for (name, count) in host.counters() {
                    *output.counters.entry(name).or_default() += count;
                }
            }
            NodeDevice::Switch(switch) => {
                let audit = switch.final_audit();
                output.add_switch(switch.chassis, audit, report);
            }
            NodeDevice::Cioq(switch) => {
                let audit = switch.final_audit();
                output.add_switch(switch.chassis, audit, report);
            }
        }
    }
    output.drops.sort_by_key(|drop| (drop.time, drop.node, drop.port));
    output
}
