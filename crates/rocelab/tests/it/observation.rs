//! Protects: observing a run changes nothing. Probes, traces, captures and monitors leave every
//! digest as it is, and so does an error rate that damages no packet.
//!
//! Observed runs take other code paths than unobserved ones: a switch that records packets, or has
//! a link that may lose some, handles each arrival on its own. The random runs below therefore
//! cover all schemes, all quirks and both switch architectures, with many arrivals at equal times.

use crate::common::{parse, random_cases};
use fabric::Records;
use hpcc_files::{Experiment, address};
use proptest::prelude::*;
use rocelab::hpcc_ns3::{records_of, scenario_of};
use rocelab::{RunOptions, RunResult};
use scenario::Scenario;
use schemes::registry;
use std::path::PathBuf;
use units::{NodeId, Time};

/// A small network with traffic, and the quirks that are on.
#[derive(Clone, Debug)]
struct Case {
    topology: &'static str,
    quirks: u16,
    xoff_kb: u64,
    size_kb: u64,
    start_ns: u64,
    payload: u64,
    stop_us: u64,
    seed: u64,
}

/// Links whose delays differ, or are all the same: then many packets arrive at the same time.
const TOPOLOGIES: [&str; 6] = [
    r#"kind = "star"
    hosts = 6
    host_rate = "100Gbps"
    host_delay = "1us""#,
    r#"kind = "dumbbell"
    senders = 4
    switches = 3
    host_rate = "100Gbps"
    host_delay = "1us"
    rate = "100Gbps"
    delay = "1us""#,
    r#"kind = "dumbbell"
    senders = 5
    switches = 2
    host_rate = "25Gbps"
    host_delay = "333ns"
    rate = "100Gbps"
    delay = "2us""#,
    r#"kind = "leaf-spine"
    leaves = 3
    spines = 2
    hosts_per_leaf = 3
    host_rate = "100Gbps"
    host_delay = "1us"
    rate = "100Gbps"
    delay = "1us""#,
    r#"kind = "leaf-spine"
    leaves = 2
    spines = 1
    hosts_per_leaf = 5
    host_rate = "25Gbps"
    host_delay = "1us"
    rate = "50Gbps"
    delay = "1us""#,
    r#"kind = "fat-tree"
    k = 4
    host_rate = "100Gbps"
    host_delay = "500ns"
    rate = "100Gbps"
    delay = "1us""#,
];

/// The quirks, with the bit of [`Case::quirks`] that turns each on.
const QUIRKS: [&str; 13] = [
    "whole_nanoseconds = true",
    "ns3_ecmp_hash = true",
    "one_way_rtt = true",
    "acks_ignore_pause = true",
    "silent_duplicates = true",
    "scan_queue_pairs = true",
    "missed_wakeup = true",
    "stale_scan_index = true",
    "rate_scaled_alpha = \"100Gbps\"",
    "threshold_wraparound = true",
    "ns3_ecn_draws = true",
    "ns3_tie_order = true",
    "packet_round_robin = true",
];
/// Schemes that are tried on both switch architectures; the others work on one of them.
const ON_BOTH: [&str; 3] = ["none", "dcqcn", "hpcc"];
const SCAN: u16 = 1 << 5;
const NEEDS_SCAN: u16 = 0b11 << 6;
/// All quirks but the wrapping threshold, which needs a small buffer.
const FILES: u16 = 0x1fff & !(1 << 9);
/// The quirks of dynamic thresholds: the shifted and the wrapping one.
const DYNAMIC: u16 = 0b11 << 8;
const NODE_HASH: u16 = 1 << 1;

/// Probes of every kind at every node, and every trace.
const EVERYTHING: &str = r#"
    [trace]
    pfc = true
    packets = ["*"]
    capture = true
"#;
/// Two hosts that record packets, and no switch that does.
const TWO_HOSTS: &str = "[trace]\npackets = [\"h0\", \"h2\"]\n";
const PROBES: [(&str, &str); 7] = [
    ("queue", "*"),
    ("utilisation", "*"),
    ("pause", "*"),
    ("rate", "h*"),
    ("window", "h*"),
    ("latency", "h*"),
    ("goodput", "h*"),
];

impl Case {
    fn toml(&self, cioq: bool) -> String {
        let Case { topology, xoff_kb, size_kb, start_ns, payload, stop_us, seed, .. } = self;
        // Switches of the HPCC simulator have a shared buffer.
        let quirks = if cioq { 0 } else { self.quirks };
        let on = QUIRKS.iter().enumerate().filter(|(bit, _)| quirks >> bit & 1 == 1);
        let on: Vec<&str> = on.map(|(_, quirk)| *quirk).collect();
        let threshold = match (quirks & DYNAMIC != 0, cioq) {
            (true, _) => {
                format!("threshold = \"dynamic\"\n[switch]\nbuffer = \"{}KB\"", 200 + 5 * xoff_kb)
            }
            (false, cioq) => {
                let switch = if cioq {
                    "architecture = \"cioq\"\ninput_queue = \"2MB\""
                } else {
                    "buffer = \"4MB\""
                };
                format!(
                    "threshold = \"static\"\nxoff = \"{xoff_kb}KB\"\nxon = \"{}KB\"\n[switch]\n\
                     {switch}",
                    xoff_kb - 2
                )
            }
        };
        format!(
            r#"
            [run]
            seed = {seed}
            stop = "{stop_us}us"
            [topology]
            {topology}
            [wire]
            payload = "{payload}B"
            [host]
            retransmit_timeout = "100us"
            [quirks]
            {}
            [pfc]
            headroom = "auto"
            {threshold}
            [[traffic]]
            kind = "incast"
            senders = 4
            receiver = "h0"
            size = "{size_kb}KB"
            [[traffic]]
            kind = "permutation"
            size = "{}KB"
            start = "{start_ns}ns"
            "#,
            on.join("\n            "),
            size_kb / 2 + 1,
        )
    }
}

fn case() -> impl Strategy<Value = Case> {
    // Half of the runs have what all files of the HPCC simulator have.
    let exact = FILES & !1;
    let quirks = prop_oneof![1 => Just(0), 2 => Just(FILES), 2 => Just(exact), 3 => 0..0x2000u16];
    // Half of the runs pause nobody: then ports are not brought up to date all the time.
    let xoff_kb = prop_oneof![10u64..60, Just(1000)];
    let payload = prop_oneof![2 => Just(1000u64), 1 => 64u64..400];
    let start = prop_oneof![Just(0u64), 0u64..9_000];
    let numbers = (0..TOPOLOGIES.len(), xoff_kb, 10u64..100, 30u64..120, 1u64..1_000);
    (quirks, payload, start, numbers).prop_map(
        |(quirks, payload, start_ns, (topology, xoff_kb, size_kb, stop_us, seed))| Case {
            topology: TOPOLOGIES[topology],
            quirks: if quirks & NEEDS_SCAN == 0 { quirks } else { quirks | SCAN },
            xoff_kb,
            size_kb,
            start_ns,
            payload,
            stop_us,
            seed,
        },
    )
}

fn run(text: &str, set: &[(&str, &str)], threads: usize) -> RunResult {
    let options = RunOptions { threads: Some(threads), ..RunOptions::default() };
    rocelab::run(&parse(text, set), &options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What a run did, without what was seen of it.
fn outcome(result: &RunResult) -> (&str, &results::FlowTable, &results::PortTable) {
    (&result.summary.digest, &result.flows, &result.ports)
}

fn with_probes(text: &str) -> String {
    let probes = PROBES.iter().map(|(kind, nodes)| {
        format!(
            "[[probe]]\nname = \"{kind}\"\nkind = \"{kind}\"\nnodes = [\"{nodes}\"]\n\
             interval = \"777ns\"\n"
        )
    });
    format!("{text}\n{}", probes.collect::<String>())
}

/// Runs a case under all schemes, unobserved and observed in all ways, and compares.
fn check_observation(case: &Case) -> Result<(), TestCaseError> {
    for scheme in registry::all() {
        let mut set = vec![("scheme", scheme.name)];
        let mut case = case.clone();
        if scheme.symmetric_paths {
            case.quirks &= !NODE_HASH;
        }
        if scheme.name.starts_with("themis") {
            set.push(("scheme.params.wan_delay", "1us"));
        }
        for cioq in [false, true] {
            let runs = match cioq {
                false => !scheme.input_queues,
                true => scheme.input_queues || ON_BOTH.contains(&scheme.name),
            };
            if !runs {
                continue;
            }
            let text = case.toml(cioq);
            let plain = run(&text, &set, 1);
            prop_assert!(plain.summary.packet_hops > 100, "nothing happened");
            let traced = format!("{text}\n{EVERYTHING}");
            let no_damage = [&set[..], &[("wire.error_rate", "1e-19")]].concat();
            let mut observed = vec![
                ("traces", run(&traced, &set, 1)),
                ("probes and traces", run(&with_probes(&traced), &set, 2)),
                ("probes", run(&with_probes(&text), &set, 1)),
                ("traces of two hosts", run(&format!("{text}\n{TWO_HOSTS}"), &set, 2)),
            ];
            if !cioq {
                observed.push(("an error rate that damages no packet", run(&text, &no_damage, 1)));
            }
            for (how, other) in &observed {
                prop_assert!(
                    outcome(other) == outcome(&plain),
                    "{how} changed {} (cioq: {cioq})\n{text}",
                    scheme.name
                );
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(random_cases(6))]

    #[test]
    fn no_observation_changes_a_run(case in case()) {
        check_observation(&case)?;
    }
}

/// A packet arrives at the instant at which the port that it leaves by ends a transmission, after a
/// time without arrivals. If the port is not up to date then, a traced run sends too early.
#[test]
fn an_arrival_at_the_end_of_a_transmission_finds_the_port_up_to_date() {
    let case = Case {
        topology: TOPOLOGIES[1],
        quirks: FILES,
        xoff_kb: 1000,
        size_kb: 69,
        start_ns: 3106,
        payload: 207,
        stop_us: 85,
        seed: 522,
    };
    check_observation(&case).unwrap();
}

/// Several ports of a switch draw marks from one generator. A probe brings all ports up to date at
/// its samples, and must not change the order in which they draw.
#[test]
fn ports_draw_in_time_order_from_a_generator_that_they_share() {
    let case = Case {
        topology: TOPOLOGIES[4],
        quirks: 1 << 10 | 1 << 12,
        xoff_kb: 45,
        size_kb: 83,
        start_ns: 6909,
        payload: 77,
        stop_us: 109,
        seed: 771,
    };
    check_observation(&case).unwrap();
}

/// A loaded network in the event order of the HPCC simulator.
const LOADED: &str = r#"
    [run]
    stop = "150us"
    [topology]
    kind = "leaf-spine"
    leaves = 2
    spines = 1
    hosts_per_leaf = 3
    host_rate = "200Gbps"
    host_delay = "1us"
    rate = "400Gbps"
    delay = "1us"
    [wire]
    profile = "hpcc-ns3"
    [switch]
    buffer = "32MB"
    [quirks]
    whole_nanoseconds = true
    ns3_ecmp_hash = true
    ns3_tie_order = true
    packet_round_robin = true
    [[traffic]]
    kind = "poisson"
    workload = "FB_Hadoop"
    load = 0.3
    [[traffic]]
    kind = "incast"
    senders = 5
    receiver = "h0"
    size = "30KB"
    [[traffic]]
    kind = "permutation"
    size = "50KB"
"#;

/// Enough arrives in a window for switches to work one port after the other, which they do not
/// where packets are recorded. Ports are free, busy, or become free while several packets arrive at
/// one nanosecond.
#[test]
fn ports_worked_one_after_the_other_keep_the_order_of_sending() {
    for (scheme, seed) in [("dctcp", "41"), ("hpcc", "45"), ("none", "47")] {
        for acks_first in [false, true] {
            let mut set = vec![("scheme", scheme), ("run.seed", seed)];
            if acks_first {
                set.extend([("classes.ack", "7"), ("classes.strict", "[7]")]);
            }
            let plain = run(LOADED, &set, 1);
            let traced = run(&format!("{LOADED}\n{EVERYTHING}"), &set, 2);
            assert!(outcome(&traced) == outcome(&plain), "{scheme}, ACKs first: {acks_first}");
        }
    }
}

/// Experiments of the HPCC simulator: network, control law, and how many completion times are equal
/// to that simulator's at least. The others differ where packets of one nanosecond come in an order
/// that the fast event order does not know.
const EXPERIMENTS: [(&str, &str, usize); 15] = [
    ("minimal", "hpcc", 37),
    ("tie_hpcc", "hpcc", 22),
    ("dual_trace", "hpcc", 8),
    ("interleaved", "dcqcn", 22),
    ("interleaved", "dctcp", 26),
    ("interleaved", "hpcc", 20),
    ("interleaved", "timely", 26),
    ("dualhomed", "dcqcn", 45),
    ("dualhomed", "dctcp", 55),
    ("dualhomed", "hpcc", 15),
    ("dualhomed", "timely", 58),
    ("sametuple", "dcqcn", 60),
    ("sametuple", "dctcp", 60),
    ("sametuple", "hpcc", 60),
    ("sametuple", "timely", 60),
];

fn run_experiment(experiment: &Experiment, records: Records, threads: usize) -> RunResult {
    let (spec, _) = scenario_of(experiment, "observed", &[]).unwrap();
    let scenario = Scenario::from_spec(spec, &scenario::Files::default()).unwrap();
    let options = RunOptions { threads: Some(threads), records, ..RunOptions::default() };
    rocelab::run(&scenario, &options).unwrap()
}

/// `ENABLE_TRACE` and monitors of queues and pauses leave an experiment's completion times alone.
#[test]
fn monitors_of_hpcc_files_change_nothing() {
    let data: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "data", "hpcc-ns3"].iter().collect();
    for (network, law, least) in EXPERIMENTS {
        let folder = data.join(network).join(law);
        let mut experiment = Experiment::read(&folder.join("config.txt"), &folder).unwrap();
        let plain = run_experiment(&experiment, Records::default(), 1);
        let monitored = run_experiment(&experiment, records_of(&experiment), 1);
        let nodes = experiment.topology.hosts().chain(experiment.topology.switches());
        experiment.traced = nodes.collect();
        let traced = run_experiment(&experiment, records_of(&experiment), 2);
        for (how, other) in [("monitors", &monitored), ("a trace of all nodes", &traced)] {
            assert!(outcome(other) == outcome(&plain), "{how} changed {network}/{law}");
        }
        let ns3 = hpcc_files::fct::parse(&std::fs::read(folder.join("fct.txt")).unwrap()).unwrap();
        let mut ns3: Vec<_> = ns3.iter().map(|it| (it.src, it.dst, it.start, it.fct)).collect();
        let flows = &plain.flows;
        let ours = (0..flows.fct_ps.len()).map(|row| {
            (
                address::of(NodeId::new(flows.src[row])),
                address::of(NodeId::new(flows.dst[row])),
                Time::from_ps(flows.start_ps[row]),
                Time::from_ps(flows.fct_ps[row]),
            )
        });
        let mut ours: Vec<_> = ours.collect();
        ns3.sort();
        ours.sort();
        let equal = ours.iter().zip(&ns3).filter(|(a, b)| a == b).count();
        let all = u64::try_from(ns3.len()).unwrap() == plain.summary.flows;
        assert!(all && equal >= least, "{network}/{law}: {equal} completion times are as there");
    }
}
