//! Traces say what happened, event by event, and change nothing.

use crate::common::{run, run_on, run_with};
use results::{PacketTrace, PfcTrace};
use rocelab::{RunOptions, RunResult};

/// Eight hosts send to one, and PFC works.
const INCAST: &str = r#"
    [run]
    stop = "300us"
    [topology]
    kind = "leaf-spine"
    leaves = 3
    spines = 2
    hosts_per_leaf = 4
    host_rate = "100Gbps"
    host_delay = "1us"
    rate = "100Gbps"
    delay = "1us"
    [pfc]
    threshold = "static"
    xoff = "30KB"
    xon = "28KB"
    [scheme]
    name = "dcqcn"
    [[traffic]]
    kind = "incast"
    receiver = "h0"
    senders = ["h4..h11"]
    size = "100KB"
"#;
const ALL: [(&str, &str); 2] = [("trace.pfc", "true"), ("trace.packets", r#"["*"]"#)];

fn pfc(result: &RunResult) -> &PfcTrace {
    result.pfc_trace.as_ref().expect("it was asked for")
}

fn packets(result: &RunResult) -> &PacketTrace {
    result.packet_trace.as_ref().expect("it was asked for")
}

/// Rows of the packets' trace: time, node, port, event, kind.
fn rows(result: &RunResult) -> Vec<(u64, &str, u16, &str, &str)> {
    let trace = packets(result);
    (0..trace.time_ps.len())
        .map(|row| {
            (
                trace.time_ps[row],
                trace.node_names[trace.node[row] as usize].as_str(),
                trace.port[row],
                PacketTrace::EVENTS[usize::from(trace.event[row])],
                PacketTrace::KINDS[usize::from(trace.kind[row])],
            )
        })
        .collect()
}

/// A packet's way over a switch and its answer's back, to the picosecond.
#[test]
fn a_packet_is_followed_through_the_network() {
    let result = run(r#"
        [topology]
        kind = "star"
        hosts = 2
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "flows"
        flows = [{ src = "h0", dst = "h1", size = "1000B" }]
        [trace]
        packets = ["*"]
    "#);
    let trace = packets(&result);
    let (data, ack) = (u64::from(trace.size_bytes[0]) * 80, 1_000_000);
    let sizes = |kind| {
        let kinds = trace.kind.iter().zip(&trace.size_bytes);
        kinds.filter(|(known, _)| **known == kind).map(|(_, size)| *size).collect::<Vec<_>>()
    };
    assert!(sizes(0).iter().all(|size| *size == trace.size_bytes[0]), "all are the same packet");
    let answer = u64::from(sizes(1)[0]) * 80;
    let at_switch = data + 1_000_000;
    let at_h1 = 2 * at_switch;
    let back = at_h1 + answer + ack;
    let expected = [
        (0, "h0", 0, "dequeued", "data"),
        (at_switch, "s0", 0, "received", "data"),
        (at_switch, "s0", 1, "enqueued", "data"),
        (at_switch, "s0", 1, "dequeued", "data"),
        (at_h1, "h1", 0, "received", "data"),
        (at_h1, "h1", 0, "enqueued", "ack"),
        (at_h1, "h1", 0, "dequeued", "ack"),
        (back, "s0", 0, "enqueued", "ack"),
        (back, "s0", 0, "dequeued", "ack"),
        (back, "s0", 1, "received", "ack"),
        (back + answer + ack, "h0", 0, "received", "ack"),
    ];
    assert_eq!(rows(&result), expected);
    assert!(trace.flow_id.iter().all(|flow| *flow == 0));
    assert_eq!(trace.payload_bytes[0], 1000);
    // The ACK asks for the byte after the last.
    assert_eq!(trace.sequence.last(), Some(&1000));
}

/// What the ports counted is what the trace has, and pausing it says is theirs.
#[test]
fn traces_say_what_the_ports_counted() {
    let result = run_with(INCAST, &ALL);
    assert!(result.summary.pause_frames > 20, "{} pauses", result.summary.pause_frames);
    let (pfc, ports) = (pfc(&result), &result.ports);
    let end = result.summary.simulated_ns * 1000;
    let rows = rows(&result);
    for place in 0..ports.len() {
        let (node, port) = (ports.node[place], ports.port[place]);
        let name = ports.node_names[node as usize].as_str();
        let sent = rows.iter().filter(|row| (row.1, row.2, row.3) == (name, port, "dequeued"));
        assert_eq!(sent.count() as u64, ports.tx_packets[place], "{name}, port {port}");
        // One priority is lossless: pauses and resumes take turns.
        let (mut frames, mut paused, mut since) = (0, 0, None);
        for row in 0..pfc.time_ps.len() {
            if (pfc.node[row], pfc.port[row]) != (node, port) {
                continue;
            }
            assert_eq!(pfc.peer[row], ports.peer[place]);
            assert_eq!(pfc.pause[row], since.is_none(), "they take turns");
            match since.take() {
                None => (frames, since) = (frames + 1, Some(pfc.time_ps[row])),
                Some(begin) => paused += pfc.time_ps[row] - begin,
            }
        }
        paused += since.map_or(0, |begin| end - begin);
        assert_eq!(frames, ports.pause_frames_received[place], "{name}, port {port}");
        assert_eq!(paused, ports.paused_ps[place], "{name}, port {port}");
    }
    let infos: Vec<_> = result.summary.traces.iter().map(|it| (&it.name[..], it.rows)).collect();
    let counts = (pfc.time_ps.len() as u64, packets(&result).time_ps.len() as u64);
    assert_eq!(infos, [("pfc", counts.0), ("packets", counts.1)]);
    let frames =
        rows.iter().filter(|row| row.3 == "received" && matches!(row.4, "pause" | "resume"));
    assert_eq!(frames.count() as u64, counts.0, "both have all PFC frames");
}

/// Traces are equal on any number of threads and in the reference engine, and tracing changes no
/// run.
#[test]
fn traces_change_nothing_and_never_differ() {
    for switches in ["shared-memory", "cioq"] {
        let mut set = vec![("switch.architecture", switches)];
        if switches == "cioq" {
            set.extend([("pfc.xoff", "45KB"), ("pfc.xon", "40KB")]);
        }
        let plain = run_with(INCAST, &set);
        assert!(plain.pfc_trace.is_none() && plain.packet_trace.is_none());
        assert!(plain.summary.pause_frames > 0, "{switches}: no pause");
        let pfc_alone = run_with(INCAST, &[&set[..], &ALL[..1]].concat());
        set.extend(ALL);
        let one = run_with(INCAST, &set);
        for other in [&one, &pfc_alone] {
            assert_eq!(other.summary.digest, plain.summary.digest, "{switches}");
            assert_eq!((&other.flows, &other.ports), (&plain.flows, &plain.ports), "{switches}");
            assert_eq!(other.pfc_trace, one.pfc_trace, "{switches}");
        }
        let mut others: Vec<RunResult> =
            [2, 3, 8].map(|threads| run_on(INCAST, &set, threads)).into();
        let owned: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let scenario = scenario::parse(INCAST, None, &owned).unwrap();
        let options = RunOptions { reference_mode: true, ..RunOptions::default() };
        others.push(rocelab::run(&scenario, &options).unwrap());
        for other in others {
            assert_eq!(other.pfc_trace, one.pfc_trace, "{switches}");
            assert_eq!(other.packet_trace, one.packet_trace, "{switches}");
        }
    }
}

/// Traces end where there is no room for more, with a warning, at the same time on any threads.
#[test]
fn traces_end_where_there_is_no_room() {
    let whole = run_with(INCAST, &ALL);
    let few = [&ALL[..], &[("run.max_samples", "50000")]].concat();
    let one = run_with(INCAST, &few);
    let (all, some) = (packets(&whole), packets(&one));
    let count = some.time_ps.len();
    // An event counts as five, and those of a microsecond are taken to its end.
    assert!((8_000..20_000).contains(&count), "{count} events");
    assert!(count < all.time_ps.len());
    assert_eq!(some.time_ps[..], all.time_ps[..count]);
    assert!(
        all.time_ps[count] / 1_000_000 > some.time_ps[count - 1] / 1_000_000,
        "a microsecond's"
    );
    let told = &one.summary.traces[1];
    assert_eq!(told.end_ps, some.time_ps[count - 1].next_multiple_of(1_000_000), "{told:?}");
    let [warning] = &one.summary.warnings[..] else { panic!("{:?}", one.summary.warnings) };
    assert!(warning.starts_with("probes and traces recorded nothing from"), "{warning}");
    let two = run_on(INCAST, &few, 2);
    assert_eq!((&two.packet_trace, &two.pfc_trace), (&one.packet_trace, &one.pfc_trace));
    assert_eq!(two.summary.warnings, one.summary.warnings);
}

/// `start` and `end` cut a piece out of the whole, both included.
#[test]
fn a_span_of_time_is_traced() {
    let whole = run_with(INCAST, &ALL);
    let all = packets(&whole);
    let (first, last) = (all.time_ps[300], all.time_ps[900]);
    let (from, to) = (format!("{first}ps"), format!("{last}ps"));
    let span = [&ALL[..], &[("trace.start", from.as_str()), ("trace.end", to.as_str())]].concat();
    let part = run_with(INCAST, &span);
    let expected: Vec<u64> =
        all.time_ps.iter().copied().filter(|time| (first..=last).contains(time)).collect();
    assert_eq!(packets(&part).time_ps, expected);
    assert!(part.summary.traces.iter().all(|it| (it.start_ps, it.end_ps) == (first, last)));
    assert!(pfc(&part).time_ps.iter().all(|time| (first..=last).contains(time)));
}

/// A trace distinguishes packets that find no room from those that a link damages.
#[test]
fn drops_and_losses_are_told() {
    let set = [ALL[1], ("pfc.enabled", "false"), ("switch.buffer", "60KB")];
    let dropped = run_with(INCAST, &set);
    let set = [ALL[1], ("wire.error_rate", "0.01")];
    let lost = run_with(INCAST, &set);
    let count =
        |result: &RunResult, event| rows(result).iter().filter(|row| row.3 == event).count();
    assert!(dropped.summary.drops > 10);
    assert_eq!(count(&dropped, "dropped") as u64, dropped.summary.drops);
    assert_eq!(count(&dropped, "lost"), 0);
    assert!(lost.summary.lost_packets > 10);
    assert_eq!(count(&lost, "lost") as u64, lost.summary.lost_packets);
}

/// Credits that a host has no room for, and those that a switch drops, port by port.
#[test]
fn control_packets_that_a_host_drops_are_told() {
    let result = run_with(CREDITS, &ALL[1..]);
    let (rows, ports) = (rows(&result), &result.ports);
    let mut at_hosts = 0;
    for place in 0..ports.len() {
        let (node, port) =
            (ports.node_names[ports.node[place] as usize].as_str(), ports.port[place]);
        let traced = rows.iter().filter(|row| (row.1, row.2, row.3) == (node, port, "dropped"));
        assert_eq!(traced.count() as u64, ports.dropped_packets[place], "{node}, port {port}");
        at_hosts += if node.starts_with('h') { ports.dropped_packets[place] } else { 0 };
    }
    assert!(at_hosts > 100, "{at_hosts} dropped by hosts");
    assert!(rows.iter().filter(|row| row.3 == "dropped").all(|row| row.4 == "control"));
}

/// More messages to one host than its credits have room for.
const CREDITS: &str = r#"
    [topology]
    kind = "star"
    hosts = 2
    host_rate = "25Gbps"
    host_delay = "1us"
    [scheme]
    name = "expresspass"
    [[traffic]]
    kind = "bursts"
    src = ["h0"]
    dst = ["h1"]
    size = "64KB"
    count = 8
    period = "1us"
"#;

/// An error in a trace file names its place.
#[test]
fn bad_traces_are_refused() {
    let refusal = |set: &[(&str, &str)]| {
        let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        scenario::parse(INCAST, None, &set).unwrap_err().to_string()
    };
    let told = refusal(&[("trace.packets", r#"["tor9"]"#)]);
    assert!(told.contains("trace.packets.0") && told.contains("unknown node `tor9`"), "{told}");
    let told = refusal(&[("trace.pfc", "true"), ("trace.start", "2us"), ("trace.end", "1us")]);
    assert!(told.contains("trace.end") && told.contains("before the start"), "{told}");
    let told = refusal(&[("trace.start", "2us")]);
    assert!(told.contains("trace") && told.contains("pfc = true"), "{told}");
}
