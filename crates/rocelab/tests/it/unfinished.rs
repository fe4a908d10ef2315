//! Flows that are unfinished when a run ends: each has the right cause, and the fix that the
//! warning names finishes all of them.

use crate::common::{parse, run_on, run_with};
use results::{Cause, Summary, Unfinished, WarningInfo, WarningKind};
use rocelab::{RunOptions, RunResult};

/// The keys and values that the warning says to set. Of `a or b` the first.
fn fix(warning: &str) -> Vec<(String, String)> {
    let (_, fixes) = warning.rsplit_once("To finish ").expect("it names a fix");
    let words: Vec<&str> = fixes.split_whitespace().collect();
    let first = words.iter().position(|&word| word == "or").unwrap_or(words.len());
    let value = |word: &str| word.trim_matches([',', ';', '"']).to_owned();
    let of_keys = words[..first].windows(3).filter(|three| three[1] == "=");
    of_keys.map(|three| (three[0].to_owned(), value(three[2]))).collect()
}

/// The first warning of a run, of which flows are unfinished.
fn told(summary: &Summary) -> &str {
    assert!(summary.flows_done < summary.flows && !summary.warnings.is_empty());
    let kind = &summary.warning_kinds[0];
    let kinds = [WarningKind::UnfinishedFlows, WarningKind::CutOffFlows];
    assert!(kinds.map(WarningInfo::from).contains(kind), "{kind:?}");
    let left = summary.flows - summary.flows_done;
    let begins = format!("{left} of {} flows ", summary.flows);
    assert!(summary.warnings[0].starts_with(&begins), "{:?}", summary.warnings);
    assert_eq!(summary.unfinished.total(), left);
    &summary.warnings[0]
}

/// Runs it as the warning of `summary` says, and checks that nothing is left.
fn mend(scenario: &str, set: &[(&str, &str)], summary: &Summary, keys: &[&str]) {
    let fix = fix(told(summary));
    let named: Vec<_> = fix.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(named, keys, "{:?}", summary.warnings);
    let fixed = fix.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let mended = run_with(scenario, &set.iter().copied().chain(fixed).collect::<Vec<_>>()).summary;
    assert_eq!(mended.unfinished.total(), 0, "{:?}", mended.warnings);
}

/// Counts by cause are those of the table's rows, and on any number of threads the same.
fn check_rows(result: &RunResult) {
    let rows = result.flows.unfinished.iter().copied();
    assert_eq!(Unfinished::count(rows.clone().flatten()), result.summary.unfinished);
    for (cause, fct) in rows.zip(&result.flows.fct_ps) {
        assert_eq!(cause.is_some(), *fct == results::UNFINISHED);
    }
}

/// Many small flows over links that lose packets.
const LOSSY: &str = r#"
    [topology]
    kind = "star"
    hosts = 4
    host_rate = "100Gbps"
    host_delay = "500ns"
    [[traffic]]
    kind = "permutation"
    size = "20KB"
    [[traffic]]
    kind = "incast"
    senders = 3
    receiver = "h3"
    size = "5KB"
    period = "20us"
    repeat = 60
    [wire]
    error_rate = 0.01
    [host]
    retransmit_timeout = "never"
    [scheme]
    name = "dcqcn"
    [run]
    stop = "20ms"
"#;

/// Protects from survivors' statistics: a few flows of which the last packet, or its ACK, is lost.
#[test]
fn lost_packets_that_nothing_sends_again_are_told_with_all_that_it_takes() {
    let silent = ("quirks.silent_duplicates", "true");
    let timeout = ("host.retransmit_timeout", "1ms");
    let (both, one): (&[_], &[_]) =
        (&["host.retransmit_timeout", "quirks.silent_duplicates"], &["host.retransmit_timeout"]);
    for (set, keys) in [(vec![], one), (vec![silent], both), (vec![silent, timeout], &both[1..])] {
        let result = run_with(LOSSY, &set);
        check_rows(&result);
        let summary = &result.summary;
        let Unfinished { lost, .. } = summary.unfinished;
        assert!(lost > 0 && lost == summary.unfinished.total(), "{summary:?}");
        assert!(lost * 4 < summary.flows, "most are done: {lost}");
        mend(LOSSY, &set, summary, keys);
        for threads in [2, 3] {
            let other = run_on(LOSSY, &set, threads);
            assert_eq!(other.flows.unfinished, result.flows.unfinished);
        }
        let options = RunOptions { reference_mode: true, ..RunOptions::default() };
        let book = rocelab::run(&parse(LOSSY, &set), &options).unwrap();
        assert_eq!(book.flows.unfinished, result.flows.unfinished);
    }
}

/// The fix names the timeouts of selective repeat where that is what hosts do.
#[test]
fn selective_repeat_has_timeouts_of_its_own() {
    let set = [("host.rto_low", "never"), ("host.rto_high", "never")];
    let text = LOSSY.replace("retransmit_timeout = \"never\"", "recovery = \"selective-repeat\"");
    let summary = run_with(&text, &set).summary;
    assert!(summary.unfinished.lost > 0, "{:?}", summary.warnings);
    mend(&text, &set, &summary, &["host.rto_low", "host.rto_high"]);
}

/// A QP whose short timeout will send again is not stuck, though the long one is off.
#[test]
fn a_timeout_of_few_packets_counts_where_few_are_in_flight() {
    let text = LOSSY.replace("retransmit_timeout = \"never\"", "recovery = \"selective-repeat\"");
    let text = text.replace("stop = \"20ms\"", "stop = \"3ms\"");
    // Messages of one to three packets.
    let set = [
        ("traffic.0.size", "3KB"),
        ("traffic.1.size", "3KB"),
        ("host.rto_low", "10ms"),
        ("host.rto_high", "never"),
    ];
    let summary = run_with(&text, &set).summary;
    let Unfinished { sending, .. } = summary.unfinished;
    assert!(sending > 0 && sending == summary.unfinished.total(), "{:?}", summary.unfinished);
    let later = [set[0], set[1], set[2], set[3], ("run.stop", "100ms")];
    assert_eq!(run_with(&text, &later).summary.unfinished.total(), 0);
}

/// A gap that no NACK tells of is there for good, whatever follows it.
#[test]
fn without_nacks_a_gap_is_a_loss_while_the_sender_goes_on() {
    let set = [("host.nack", "false"), ("traffic.0.size", "2MB"), ("run.stop", "150us")];
    let result = run_with(LOSSY, &set);
    let summary = &result.summary;
    assert!(summary.unfinished.lost > 0, "{:?}", summary.warnings);
    assert!(told(summary).contains("set host.retransmit_timeout"), "{:?}", summary.warnings);
}

/// A flow that is slow is no flow that is stuck: more time finishes it, and is all that is named.
#[test]
fn flows_that_more_time_finishes_are_still_sending() {
    for (key, kind) in
        [("run.time_limit", WarningKind::UnfinishedFlows), ("run.stop", WarningKind::CutOffFlows)]
    {
        let text = LOSSY.replace("stop = \"20ms\"", "");
        let set = [("wire.error_rate", "0"), ("traffic.1.start", "50us"), (key, "30us")];
        let summary = run_with(&text, &set).summary;
        assert_eq!(summary.warning_kinds, [kind.into()]);
        let Unfinished { sending, not_started, .. } = summary.unfinished;
        assert_eq!(not_started, 180);
        assert_eq!(sending + not_started, summary.unfinished.total());
        assert!(told(&summary).ends_with(&format!("raise {key}")), "{:?}", summary.warnings);
        let more = run_with(&text, &[set[0], set[1], (key, "20ms")]).summary;
        assert_eq!((more.unfinished.total(), more.warnings), (0, vec![]));
    }
}

/// Who waits for a message that is stuck is not stuck itself.
#[test]
fn flows_behind_others_wait() {
    let flows = r#"
        [topology]
        kind = "star"
        hosts = 2
        host_rate = "100Gbps"
        host_delay = "500ns"
        [[traffic]]
        kind = "flows"
        flows = [
            { src = "h0", dst = "h1", size = "100KB", qp = "one" },
            { src = "h0", dst = "h1", size = "100KB", qp = "one" },
            { src = "h0", dst = "h1", size = "1KB", start = "1ms", qp = "one" },
        ]
        [scheme]
        name = "hpcc"
        [run]
        stop = "5us"
    "#;
    let causes = run_with(flows, &[]).flows.unfinished;
    assert_eq!(causes, [Some(Cause::Sending), Some(Cause::Waiting), Some(Cause::NotStarted)]);
}

/// A frame that is lost on its way to end a pause leaves the port paused, and what waits behind it.
#[test]
fn ports_that_stay_paused_are_told() {
    let damaged = r#"
        [topology]
        kind = "star"
        hosts = 5
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "incast"
        senders = 4
        receiver = "h4"
        size = "2MB"
        [pfc]
        threshold = "static"
        xoff = "30KB"
        [wire]
        error_rate = 0.01
        [run]
        time_limit = "30ms"
        [scheme]
        name = "none"
    "#;
    let summary = run_with(damaged, &[]).summary;
    let Unfinished { paused, .. } = summary.unfinished;
    assert!(paused > 0 && paused == summary.unfinished.total(), "{:?}", summary.warnings);
    mend(damaged, &[], &summary, &["wire.error_rate"]);
    // The other way that it names.
    assert!(told(&summary).ends_with("or pfc.enabled = false"), "{:?}", summary.warnings);
    let without = run_with(damaged, &[("pfc.enabled", "false"), ("run.time_limit", "1s")]).summary;
    assert_eq!(without.unfinished.total(), 0, "{:?}", without.warnings);
}

/// A link that loses every packet leaves no path.
#[test]
fn links_that_lose_everything_are_told() {
    let set = [("wire.error_rate", "1.0"), ("host.retransmit_timeout", "1ms")];
    let summary = run_with(LOSSY, &set).summary;
    assert_eq!((summary.flows_done, summary.unfinished.disconnected), (0, summary.flows));
    assert!(told(&summary).contains("below 1"), "{:?}", summary.warnings);
}

/// Whatever a random lossy network ends with: flows that are called lost never end without the fix,
/// the others end with more time, and the named fix finishes all.
#[test]
fn causes_say_what_more_time_changes() {
    let schemes = ["dcqcn", "hpcc", "timely", "swift", "dctcp", "none"];
    let mut lost = 0;
    for seed in 0..48_usize {
        let number = |modulus: usize, shift: usize| (seed * 7919 + seed / 3) >> shift & modulus;
        let seed_text = (seed + 1).to_string();
        let rate = ["0.0005", "0.005", "0.03"][seed % 3];
        let base = [
            ("run.seed", seed_text.as_str()),
            ("scheme", schemes[seed % schemes.len()]),
            ("wire.error_rate", rate),
            ("host.nack", if number(1, 0) == 0 { "true" } else { "false" }),
            ("host.ack_every", ["1", "4"][number(1, 1)]),
            ("quirks.silent_duplicates", ["true", "false"][number(1, 2)]),
            ("host.retransmit_timeout", ["never", "never", "200us", "never"][number(3, 3)]),
            ("traffic.0.size", ["3KB", "40KB"][number(1, 4)]),
        ];
        let at = |stop, more: &[(&str, &str)]| {
            let set: Vec<_> =
                base.iter().chain(more).copied().chain([("run.stop", stop)]).collect();
            run_with(LOSSY, &set)
        };
        let early = at("700us", &[]);
        check_rows(&early);
        let late = at("60ms", &[]);
        for (flow, cause) in early.flows.unfinished.iter().enumerate() {
            if *cause == Some(Cause::Lost) {
                assert_eq!(late.flows.unfinished[flow], Some(Cause::Lost), "{base:?} flow {flow}");
            }
        }
        let Unfinished { lost: stuck, .. } = late.summary.unfinished;
        assert_eq!(stuck, late.summary.unfinished.total(), "{base:?}: {:?}", late.summary.warnings);
        lost += stuck;
        if stuck > 0 {
            let fix = fix(told(&late.summary));
            let fix: Vec<_> =
                fix.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            let mended = at("1s", &fix).summary;
            assert_eq!(mended.unfinished.total(), 0, "{base:?}: {:?}", mended.warnings);
        }
    }
    assert!(lost > 50, "{lost}");
}

/// An incast and a permutation for all schemes, without retransmission timeouts.
const BUSY: &str = r#"
    [topology]
    kind = "leaf-spine"
    leaves = 2
    spines = 2
    hosts_per_leaf = 3
    host_rate = "100Gbps"
    host_delay = "1us"
    rate = "100Gbps"
    delay = "1us"
    [[traffic]]
    kind = "permutation"
    size = "100KB"
    [[traffic]]
    kind = "incast"
    senders = 5
    receiver = "h0"
    size = "50KB"
    [host]
    retransmit_timeout = "never"
"#;

fn schemes() -> impl Iterator<Item = (&'static str, Vec<(&'static str, &'static str)>)> {
    schemes::registry::all().iter().map(|scheme| {
        let mut set = vec![("scheme", scheme.name)];
        if scheme.input_queues {
            set.extend([
                ("switch.input_queue", "200KB"),
                ("pfc.xoff", "70KB"),
                ("pfc.xon", "50KB"),
            ]);
        }
        (scheme.name, set)
    })
}

/// Where nothing is lost, whatever a scheme waits for comes.
#[test]
fn no_flow_of_a_sound_network_is_stuck() {
    for (name, set) in schemes() {
        for stop in ["3us", "8us", "20us", "45us", "90us"] {
            let set: Vec<_> = set.iter().copied().chain([("run.stop", stop)]).collect();
            let summary = run_with(BUSY, &set).summary;
            let Unfinished { sending, .. } = summary.unfinished;
            assert_eq!(
                sending,
                summary.unfinished.total(),
                "{name}, {stop}: {:?}",
                summary.warnings
            );
            assert!(sending > 0 || !["3us", "8us"].contains(&stop), "{name}, {stop}");
        }
    }
}

/// Under any scheme a flow that is called lost stays unfinished, and the fix finishes it.
#[test]
fn lost_flows_of_any_scheme_stay_unfinished() {
    let mut lost = 0;
    // Links of CIOQ switches lose nothing.
    for (name, set) in schemes().filter(|(_, set)| set.len() == 1) {
        let run = |stop, more: &[(&str, &str)]| {
            let base = [
                ("wire.error_rate", "0.004"),
                ("pfc.enabled", "false"),
                ("traffic.1.size", "3KB"),
                ("traffic.1.repeat", "20"),
                ("traffic.1.period", "20us"),
                ("run.stop", stop),
            ];
            run_with(BUSY, &[&set, &base[..], more].concat())
        };
        let (early, late) = (run("1ms", &[]), run("8ms", &[]));
        for (flow, cause) in early.flows.unfinished.iter().enumerate() {
            if *cause == Some(Cause::Lost) {
                assert!(late.flows.unfinished[flow].is_some(), "{name}: flow {flow}");
            }
        }
        let Unfinished { lost: stuck, .. } = late.summary.unfinished;
        assert_eq!(stuck, late.summary.unfinished.total(), "{name}: {:?}", late.summary.warnings);
        lost += stuck;
        if stuck > 0 {
            let fix = fix(told(&late.summary));
            let fix: Vec<_> =
                fix.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            let mended = run("100ms", &fix).summary;
            assert_eq!(mended.unfinished.total(), 0, "{name}: {:?}", mended.warnings);
        }
    }
    assert!(lost > 20, "{lost}");
}
