//! How much memory a command will take for a scenario, before it begins.
//!
//! Constants were measured as peak resident memory (`VmHWM`) of the process, on Linux with the
//! allocator of the Python package: stars of 16 and 64 hosts with 20,000 to 1,000,000 messages, and
//! fat trees of 1024 and 8192 hosts. A test compares estimates with measured peaks.

use crate::fabric_setup::SAMPLES_PER_EVENT;
use scenario::memory::{Limits, Verdict, size};
use scenario::{NamedProbe, NodeKind, Scenario, ScenarioError, Stop};
use std::collections::BTreeSet;
use std::fmt;
use units::{Bytes, Time};

/// What a command does with a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Checks it, which builds its network.
    Check,
    /// Plans it: tables of messages and ports.
    Plan,
    /// Runs it and writes the result.
    Run,
}

/// What building any network takes.
const BASE: u64 = 20_000_000;
/// Libraries that tables load.
const BASE_OF_TABLES: u64 = 50_000_000;
/// A message on its way to the network.
const PER_MESSAGE: u64 = 130;
/// Bytes for each message in the tables of a run, while they are made and written.
const PER_MESSAGE_OF_RUN: u64 = 130;
/// Bytes for each message in the tables of a plan.
const PER_MESSAGE_OF_PLAN: u64 = 260;
/// Both ends of a QP while its message is under way.
const PER_OPEN_MESSAGE: u64 = 330;
/// A port with its queues, counters and buffers.
const PER_PORT: u64 = 1_300;
/// A route from a switch to hosts on the same switch.
const PER_ROUTE: u64 = 4;
/// A sample of a probe, as it is put in order and written.
const PER_SAMPLE: u64 = 48;
/// An event of a trace.
const PER_EVENT: u64 = 300;
/// A packet under way, with its scheme's words.
const PER_PACKET: u64 = 192;
/// Samples and events beyond this are on disk.
const MAX_RECORDED: u64 = 120_000_000;

/// Bytes that a command needs beside what the process has already, by what needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Libraries, and what does not depend on the scenario.
    pub base: u64,
    /// Messages: in the network, in tables, and the QPs that are open at once.
    pub messages: u64,
    /// Routes.
    pub routes: u64,
    /// Hosts and switches with their ports.
    pub nodes: u64,
    /// Samples of probes that are not yet on disk.
    pub samples: u64,
    /// Events of traces that are not yet on disk.
    pub traces: u64,
    /// Packets that are under way at once.
    pub packets: u64,
}

impl Estimate {
    /// All of it.
    pub fn total(&self) -> u64 {
        let Estimate { base, messages, routes, nodes, samples, traces, packets } = *self;
        [base, messages, routes, nodes, samples, traces, packets].iter().sum()
    }
}

/// Such as `messages 2.4 GB, nodes 12 MB`: the largest parts.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = [
            ("messages", self.messages),
            ("routes", self.routes),
            ("hosts and switches", self.nodes),
            ("samples", self.samples),
            ("traces", self.traces),
            ("packets", self.packets),
        ];
        parts.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
        for (number, (name, bytes)) in parts.iter().take(2).enumerate() {
            write!(f, "{}{name} {}", if number > 0 { ", " } else { "" }, size(*bytes))?;
        }
        Ok(())
    }
}

/// What a command will need for `scenario`, which has been read.
pub fn estimate(scenario: &Scenario, command: Use) -> Estimate {
    let network = &scenario.network;
    let messages = scenario.messages.len() as u64;
    let ports = 2 * network.links.len() as u64;
    let (tables, per_message) = match command {
        Use::Check => (0, 0),
        Use::Plan => (BASE_OF_TABLES, PER_MESSAGE_OF_PLAN),
        Use::Run => (BASE_OF_TABLES, PER_MESSAGE_OF_RUN),
    };
    let mut estimate = Estimate {
        base: BASE + tables,
        messages: messages * (PER_MESSAGE + per_message),
        routes: routes(scenario) * PER_ROUTE,
        nodes: ports * PER_PORT,
        samples: 0,
        traces: 0,
        packets: 0,
    };
    if command == Use::Run {
        let load = Load::of(scenario);
        estimate.messages += (messages as f64 * load.open) as u64 * PER_OPEN_MESSAGE;
        let samples = samples(scenario, load.end).min(scenario.run.max_samples);
        estimate.samples = samples.saturating_mul(PER_SAMPLE).min(MAX_RECORDED);
        if scenario.trace.is_enabled() {
            let events = scenario.run.max_samples / SAMPLES_PER_EVENT;
            let all = load.packets.saturating_mul(6 * scenario.trace.packets.len().max(1) as u64);
            estimate.traces = events.min(all).saturating_mul(PER_EVENT).min(MAX_RECORDED);
        }
        estimate.packets = packets(scenario, load.packets);
    }
    estimate
}

/// Switches times the switches that hosts hang on, for each set of routes.
fn routes(scenario: &Scenario) -> u64 {
    let network = &scenario.network;
    let is_host = |node| network.node(node).kind == NodeKind::Host;
    let switches = network.nodes.iter().filter(|node| node.kind == NodeKind::Switch).count();
    let attached: BTreeSet<_> = network
        .links
        .iter()
        .filter_map(|link| match (is_host(link.a), is_host(link.b)) {
            (true, false) => Some(link.b),
            (false, true) => Some(link.a),
            _ => None,
        })
        .collect();
    let outages = scenario.outages.iter().flat_map(|outage| [outage.from, outage.until]);
    let impairments = scenario.impairments.iter().flat_map(|one| [one.from, one.until]);
    let changes = outages.chain(impairments).filter(|&change| change != Time::NEVER);
    let changes: BTreeSet<Time> = changes.collect();
    switches as u64 * attached.len() as u64 * (1 + changes.len() as u64)
}

/// What messages ask of a network, roughly.
struct Load {
    /// Data packets in all.
    packets: u64,
    /// The share of messages that are under way at once, at most.
    open: f64,
    /// When the run will probably have ended.
    end: Time,
}

impl Load {
    fn of(scenario: &Scenario) -> Load {
        let rates = scenario.network.node_rates();
        let payload = u64::from(scenario.wire.payload).max(1);
        let (mut packets, mut last) = (0u64, Time::ZERO);
        let mut bytes = vec![0u64; rates.len()];
        for message in &scenario.messages {
            packets += message.size.get().div_ceil(payload);
            last = last.max(message.start);
            bytes[message.dst.index()] += message.size.get();
        }
        // The busiest receiver has all no earlier than this.
        let each = bytes.iter().zip(&rates).filter(|&(&bytes, _)| bytes > 0);
        let busy = each.map(|(&bytes, rate)| rate.time_for(Bytes::new(bytes))).max();
        let busy = busy.unwrap_or(Time::ZERO);
        let (stop, until_done) = match scenario.run.stop {
            Stop::FlowsDone => (scenario.run.time_limit, true),
            Stop::At(stop) => (stop, false),
        };
        let needed = busy.max(last).saturating_mul(2);
        // What arrives faster than it can be received is under way for long.
        let late = busy.ps() as f64 - last.ps() as f64;
        let open = if busy == Time::ZERO { 0.0 } else { late / busy.ps() as f64 };
        Load {
            packets,
            open: open.max(0.05),
            end: if until_done { stop.min(needed) } else { stop },
        }
    }
}

/// Samples of all probes up to `end`.
fn samples(scenario: &Scenario, end: Time) -> u64 {
    let of_each = scenario.probes.iter().map(|NamedProbe { probe, .. }| {
        let last = probe.end.min(end);
        let times = last.saturating_sub(probe.start).ps() / probe.interval.ps().max(1);
        times.saturating_mul(probe.targets.count() as u64)
    });
    of_each.fold(0, u64::saturating_add)
}

/// Bytes of the packets that are under way at once: what fills half of all links, as far as there
/// are as many, with as much again in queues.
fn packets(scenario: &Scenario, all: u64) -> u64 {
    let payload = u64::from(scenario.wire.payload).max(1);
    let links = scenario.network.links.iter().map(|link| link.rate.bytes_in(link.delay).get());
    let under_way = links.fold(0, u64::saturating_add).saturating_mul(2) / payload;
    under_way.min(all).saturating_mul(PER_PACKET)
}

/// Whether the memory that `runs` at a time of `scenario` need is there: `Ok` with a warning where
/// it may not be.
///
/// # Errors
/// Where it clearly is not, with numbers and what can be done.
pub fn check(
    scenario: &Scenario,
    command: Use,
    runs: u64,
    limits: &Limits,
) -> Result<Option<String>, ScenarioError> {
    let estimate = estimate(scenario, command);
    let each = estimate.total();
    let what = match (command, runs) {
        (Use::Check, _) => "checking the scenario needs about".to_owned(),
        (Use::Plan, _) => "planning needs about".to_owned(),
        (Use::Run, 1) => "the run needs about".to_owned(),
        (Use::Run, _) => format!("{runs} runs at a time need about"),
    };
    let need = each.saturating_mul(runs);
    match limits.judge(what, need) {
        Verdict::Fits => Ok(None),
        Verdict::Tight(why) => Ok(Some(format!("{why} ({estimate}{})", per_run(runs)))),
        Verdict::TooMuch(why, mend) => {
            let room = limits.tightest().map_or(u64::MAX, |limit| limit.room);
            let fit = room / each.max(1);
            let hint = if runs > 1 && fit > 0 {
                format!("take fewer at a time: --jobs {fit}, in Python jobs={fit}; or {mend}")
            } else {
                format!("{}; or {mend}", estimate.advice())
            };
            let why = format!("{why} ({estimate}{})", per_run(runs));
            Err(scenario.with_location(ScenarioError::new(estimate.key(), why).hint(hint)))
        }
    }
}

fn per_run(runs: u64) -> &'static str {
    if runs > 1 { " each" } else { "" }
}

impl Estimate {
    /// The table of the scenario that most of it is for.
    fn key(&self) -> &'static str {
        let most = [
            (self.messages, "traffic"),
            (self.routes + self.nodes + self.packets, "topology"),
            (self.samples, "probe"),
            (self.traces, "trace"),
        ];
        most.into_iter().max_by_key(|&(bytes, _)| bytes).map_or("", |(_, key)| key)
    }

    /// How to need less.
    fn advice(&self) -> &'static str {
        match self.key() {
            "traffic" => "have fewer messages",
            "topology" => "take a smaller network",
            "probe" => "lower `run.max_samples`, or sample fewer targets less often",
            _ => "trace fewer nodes, or a shorter span",
        }
    }
}
