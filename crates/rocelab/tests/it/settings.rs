//! Settings in pairs: each combination runs and keeps what its outputs must keep, or is refused or
//! warned about in one line that names both settings and a fix, which is then tried.

use crate::common::refusal;
use results::{WarningInfo, WarningKind};
use rocelab::{RunOptions, RunResult};
use scenario::{NodeKind, Scenario, ScenarioError};
use schemes::registry::{self, SchemeInfo};
use std::collections::{BTreeMap, BTreeSet};

/// Two leaves and two spines. Five hosts send to one at once; together they send more than a buffer
/// holds.
const NETWORK: &str = r#"
    [run]
    stop = "20ms"
    [topology]
    kind = "leaf-spine"
    leaves = 2
    spines = 2
    hosts_per_leaf = 3
    host_rate = "100Gbps"
    host_delay = "200ns"
    rate = "100Gbps"
    delay = "200ns"
    [switch]
    buffer = "90KB"
    [[traffic]]
    kind = "incast"
    senders = 5
    receiver = "h0"
    size = "40KB"
"#;
/// The longest that an egress queue of that switch may be.
const BUFFER: u64 = 90_000;
/// Thresholds of ECN, where a scheme needs marks.
const MARKS: [(&str, &str); 3] = [("ecn.kmin", "5KB"), ("ecn.kmax", "20KB"), ("ecn.pmax", "0.2")];
const KMAX: u64 = 20_000;
/// A queue this much longer than Kmax has a packet marked, or dropped, whatever the scheme.
const BEYOND: u64 = 10_000;

type Keys = &'static [(&'static str, &'static str)];

const PFC: [Keys; 5] = [
    &[("pfc.enabled", "true")],
    &[("pfc.enabled", "false")],
    &[("classes.lossless", "[4]")],
    &[("pfc.threshold", "static"), ("pfc.xoff", "8KB")],
    &[("pfc.threshold", "dynamic")],
];

/// All but those that need a way to balance load or to recover, which many schemes lack.
const QUIRKS: [Keys; 16] = [
    &[],
    &[("quirks.whole_nanoseconds", "true")],
    &[("quirks.ns3_ecmp_hash", "true")],
    &[("quirks.conweave_ecmp_hash", "true")],
    &[("quirks.one_way_rtt", "true")],
    &[("quirks.acks_ignore_pause", "true")],
    &[("quirks.silent_duplicates", "true")],
    &[("quirks.scan_queue_pairs", "true")],
    &[("quirks.scan_queue_pairs", "true"), ("quirks.missed_wakeup", "true")],
    &[("quirks.scan_queue_pairs", "true"), ("quirks.stale_scan_index", "true")],
    &[("quirks.rate_scaled_alpha", "100Gbps")],
    &[("quirks.threshold_wraparound", "true")],
    &[("quirks.ns3_ecn_draws", "true")],
    &[("quirks.conweave_ecn_draws", "true")],
    &[("quirks.ns3_tie_order", "true")],
    &[("quirks.packet_round_robin", "true")],
];

const ROUTING: [Keys; 3] = [
    &[("routing.hash", "five-tuple")],
    &[("routing.hash", "symmetric")],
    &[("routing.paths", "spanning-trees")],
];

const ARCHITECTURE: [Keys; 2] =
    [&[("switch.architecture", "shared-memory")], &[("switch.architecture", "cioq")]];

/// One combination.
type Set = BTreeMap<String, String>;

fn set_of(scheme: &SchemeInfo, parts: &[Keys]) -> Set {
    let marks: &[(&str, &str)] = if (scheme.presets)()[0].ecn.is_some() { &MARKS } else { &[] };
    let keys = parts.iter().copied().flatten().chain(marks);
    let name = [("scheme.name", scheme.name)];
    keys.chain(&name).map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn parse(set: &Set) -> Result<Scenario, ScenarioError> {
    let set: Vec<(String, String)> = set.clone().into_iter().collect();
    scenario::parse(NETWORK, None, &set)
}

/// What became of all combinations.
#[derive(Default)]
struct Tally {
    /// Those that were checked, refused or not.
    checked: u32,
    /// Those that ran as they are; a fix may lead to one of them again.
    ran: BTreeSet<Set>,
    /// How many runs had packets dropped, paused ports, marked packets, and a queue far beyond
    /// Kmax.
    drops: u32,
    pauses: u32,
    marks: u32,
    beyond: u32,
}

impl Tally {
    fn run(&mut self, set: &Set) -> Result<(), ScenarioError> {
        if self.ran.contains(set) {
            return Ok(());
        }
        let options = RunOptions { threads: Some(1), ..RunOptions::default() };
        let scenario = parse(set)?;
        let result = rocelab::run(&scenario, &options).map_err(refusal)?;
        let longest = check(&scenario, &result, set);
        self.ran.insert(set.clone());
        self.drops += u32::from(result.summary.drops > 0);
        self.pauses += u32::from(result.summary.pause_frames > 0);
        self.marks += u32::from(marks(&result) > 0);
        self.beyond += u32::from(scenario.ecn.is_some() && longest > KMAX + BEYOND);
        Ok(())
    }

    /// Runs a combination; where it is refused, its fixes are tried until it runs.
    fn runs_or_says_why(&mut self, mut set: Set) {
        self.checked += 1;
        for _ in 0..5 {
            let Err(error) = self.run(&set) else { return };
            let line = error.to_string();
            assert!(!line.contains('\n'), "{line:?}");
            // The key at fault, and one more that is set; all scenarios set the buffer.
            let named = set.iter().filter(|(key, value)| names(&line, key, value));
            let mut named: BTreeSet<&str> = named.map(|(key, _)| key.as_str()).collect();
            named.insert(&error.key);
            named.extend(["switch.buffer"].iter().filter(|key| line.contains(**key)));
            assert!(named.len() >= 2, "{set:?}: {line}");
            match fix(&error) {
                Some((key, value)) => set.insert(key, value),
                // Several keys are listed that are to be changed.
                None if line.contains("turn these off") => return,
                None => panic!("{set:?}: {line}"),
            };
        }
        panic!("{set:?}: no fix helps");
    }

    /// Every combination of a scheme with the rest.
    fn scheme(&mut self, scheme: &SchemeInfo) {
        for pfc in PFC {
            for quirk in QUIRKS {
                for routing in ROUTING {
                    for architecture in ARCHITECTURE {
                        self.runs_or_says_why(set_of(scheme, &[pfc, quirk, routing, architecture]));
                    }
                }
            }
        }
    }
}

/// Whether a line names a setting: its key, or the scheme.
fn names(line: &str, key: &str, value: &str) -> bool {
    line.contains(key) || (key == "scheme.name" && line.contains(value))
}

/// The first fix that an error gives: `set KEY = VALUE`, or `lower it`.
fn fix(error: &ScenarioError) -> Option<(String, String)> {
    let hint = error.hint.as_deref()?;
    if hint.starts_with("lower it") {
        return Some((error.key.clone(), "8KB".to_owned()));
    }
    let (key, rest) = hint.strip_prefix("set ")?.split_once(" = ")?;
    let end = rest.find([' ', ',', ';', ':']).unwrap_or(rest.len());
    Some((key.to_owned(), rest[..end].trim_matches('"').to_owned()))
}

/// What outputs must keep. Returns the longest queue of a switch.
fn check(scenario: &Scenario, result: &RunResult, set: &Set) -> u64 {
    let (summary, ports) = (&result.summary, &result.ports);
    let node = |row: usize| &scenario.network.nodes[ports.node[row] as usize];
    let switch_ports = || (0..ports.len()).filter(|row| node(*row).kind == NodeKind::Switch);
    let longest = switch_ports().map(|row| ports.max_queue_bytes[row]).max().unwrap_or(0);

    // No queue is longer than the memory that holds it: in CIOQ switches each of eight priorities
    // has some.
    let room = match scenario.switch.cioq {
        Some(cioq) => cioq.output_queue.get() * 8,
        None => BUFFER,
    };
    assert!(longest <= room, "{set:?}: a queue of {longest} bytes");

    // Drops are counted, and none is of a class that PFC protects.
    assert_eq!(summary.drops, ports.dropped_packets.iter().sum::<u64>(), "{set:?}");
    assert!(summary.lossless_drops <= summary.drops, "{set:?}");
    let protected = scenario.pfc.enabled && scenario.classes.lossless.contains(&3);
    assert_eq!(summary.lossless_drops > 0, told(result, "PFC did not protect"), "{set:?}");
    if protected {
        assert_eq!(summary.lossless_drops, 0, "{set:?}");
    } else {
        assert!(!scenario.pfc.enabled || told(result, "classes.lossless"), "{set:?}");
    }

    // Switches that mark do so where a queue is far beyond Kmax.
    match scenario.ecn {
        None => assert_eq!(marks(result), 0, "{set:?}"),
        Some(_) if longest <= KMAX + BEYOND => {}
        Some(_) => assert!(marks(result) > 0, "{set:?}: a queue of {longest} bytes and no mark"),
    }

    // Flows that are not done are counted by cause, and the first warning is about them.
    let left = summary.flows - summary.flows_done;
    assert_eq!(summary.unfinished.total(), left, "{set:?}");
    let first = summary.warning_kinds.first();
    let kinds = [WarningKind::UnfinishedFlows, WarningKind::CutOffFlows];
    let told_first = first.is_some_and(|kind| kinds.map(WarningInfo::from).contains(kind));
    assert_eq!(told_first, left > 0, "{set:?}: {left} flows, {first:?}");
    conserves(result, set);
    longest
}

fn marks(result: &RunResult) -> u64 {
    result.ports.ecn_marked_packets.iter().sum()
}

fn told(result: &RunResult, words: &str) -> bool {
    result.summary.warnings.iter().any(|warning| warning.contains(words))
}

/// What came into a switch has left it or was dropped, once all flows are done. Frames of PFC begin
/// and end there, two for each pause; so do packets of the schemes that have some of their own.
fn conserves(result: &RunResult, set: &Set) {
    const MAKES_PACKETS: [&str; 7] =
        ["pacc", "rocc", "mercury", "themis", "hiercc", "annulus", "rcm"];
    let (flows, ports) = (&result.flows, &result.ports);
    let own = MAKES_PACKETS.iter().any(|scheme| set["scheme.name"].starts_with(scheme));
    if own || result.summary.flows_done < result.summary.flows {
        return;
    }
    let hosts: BTreeSet<u32> = flows.src.iter().chain(&flows.dst).copied().collect();
    let mut left: BTreeMap<u32, i64> = BTreeMap::new();
    for row in 0..ports.len() {
        let (node, peer) = (ports.node[row], ports.peer[row]);
        let (sent, dropped) = (ports.tx_packets[row] as i64, ports.dropped_packets[row] as i64);
        let frames = 2 * ports.pause_frames_sent[row] as i64;
        if !hosts.contains(&node) {
            *left.entry(node).or_default() += sent + dropped - frames;
        }
        if !hosts.contains(&peer) {
            *left.entry(peer).or_default() -= sent - frames;
        }
    }
    assert!(left.values().all(|packets| *packets == 0), "{set:?}: {left:?} appeared");
}

#[test]
fn settings_go_together_or_say_that_they_do_not() {
    let mut tally = Tally::default();
    for scheme in registry::all() {
        tally.scheme(scheme);
    }
    assert_eq!(tally.checked, 22 * 5 * 16 * 3 * 2);
    // Each kind of event was there to be checked, and often.
    let ran = tally.ran.len() as u32;
    assert!(ran > tally.checked / 3, "{ran}");
    for (what, runs) in [
        ("drops", tally.drops),
        ("pauses", tally.pauses),
        ("marks", tally.marks),
        ("long queues", tally.beyond),
    ] {
        assert!(runs > ran / 10, "{what} in {runs} of {ran} runs");
    }
}
