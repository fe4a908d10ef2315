//! Schemes whose switches judge congestion themselves: TCD and PACC.

use crate::common::{run, run_on, run_with};
use rocelab::RunResult;

/// The samples of a series from a time on.
fn samples(result: &RunResult, name: &str, from_us: u64) -> Vec<f64> {
    let found = result.series.iter().find(|series| series.name == name);
    let series = found.expect("there is such a series");
    let rows = series.time_ps.iter().zip(&series.value);
    let values: Vec<f64> =
        rows.filter(|(time, _)| **time >= from_us * 1_000_000).map(|(_, value)| *value).collect();
    assert!(values.len() >= 10, "{name} has {} samples", values.len());
    values
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The row of the port that leads from one node to another.
fn port(result: &RunResult, from: &str, to: &str) -> usize {
    let ports = &result.ports;
    let name = |node: u32| ports.node_names[node as usize].as_str();
    (0..ports.node.len())
        .find(|&row| (name(ports.node[row]), name(ports.peer[row])) == (from, to))
        .expect("there is such a port")
}

/// h1 sends to h3 (the victim) and h0 to h2, over a link s0-s1 that could carry both; every 300 us
/// eight hosts on s1 send to h2 too, and s1 pauses s0.
const BURSTS: &str = r#"
    [run]
    stop = "3500us"
    [topology]
    kind = "dumbbell"
    switches = 2
    senders = 2
    receivers = 2
    side_hosts = [0, 8]
    host_rate = "100Gbps"
    host_delay = "1us"
    rate = "200Gbps"
    delay = "1us"
    [[traffic]]
    kind = "flows"
    flows = [
        { src = "h1", dst = "h3", size = "40MB" },
        { src = "h0", dst = "h2", size = "40MB" },
    ]
    [[traffic]]
    kind = "incast"
    senders = ["h4..h11"]
    receiver = "h2"
    size = "200KB"
    start = "100us"
    repeat = 10
    period = "300us"
    [pfc]
    threshold = "static"
    xoff = "320KB"
    xon = "318KB"
    [[probe]]
    name = "victim"
    kind = "rate"
    interval = "10us"
    flows = [0]
    [[probe]]
    name = "state"
    kind = "port-state"
    interval = "1us"
    ports = ["s0:s1"]
    [[probe]]
    name = "pause"
    kind = "pause"
    interval = "1us"
    ports = ["s0:s1"]
"#;

/// Protects what TCD is for: where DCQCN marks and cuts a victim behind a paused port, DCQCN+TCD
/// marks nobody there and leaves the victim its rate.
#[test]
fn tcd_spares_the_victim_that_dcqcn_cuts() {
    let dcqcn = run_with(BURSTS, &[("scheme.name", "dcqcn")]);
    let tcd = run_with(BURSTS, &[("scheme.name", "dcqcn+tcd")]);
    let marks = |result: &RunResult| result.ports.ecn_marked_packets[port(result, "s0", "s1")];
    let paused = |result: &RunResult| result.ports.paused_ps[port(result, "s0", "s1")];
    assert!(paused(&dcqcn) > 50_000_000 && paused(&tcd) > 50_000_000, "both are paused");
    assert!(marks(&dcqcn) > 0);
    assert_eq!(marks(&tcd), 0, "only PFC holds the port back");
    let rate = |result: &RunResult| mean(&samples(result, "victim", 0)) / 1e9;
    // P1 lets the backlog of a pause go at 200 Gb/s, which queues on the victim's last link: one
    // cut remains.
    assert!(rate(&dcqcn) < 85.0 && rate(&tcd) > 95.0, "{} and {}", rate(&dcqcn), rate(&tcd));
    // Undetermined whenever it is paused, congested never.
    let states = samples(&tcd, "state", 0);
    let pauses = samples(&tcd, "pause", 0);
    assert!(states.iter().all(|&state| state != 1.0));
    assert!(states.iter().zip(&pauses).all(|(&state, &pause)| pause == 0.0 || state == 2.0));
    assert!(samples(&dcqcn, "pause", 0).contains(&1.0) && pauses.contains(&1.0));
}

/// Protects the same for round trips: TIMELY takes what the pauses add for congestion, and with TCD
/// the victim keeps its rate.
#[test]
fn tcd_spares_the_victim_that_timely_slows() {
    for (preset, alone) in [("timely-paper", 20.0), ("timely-hpcc", 85.0)] {
        let rates = |scheme: &str, preset: &str| {
            let set = [("scheme.name", scheme), ("scheme.preset", preset)];
            let result = run_with(BURSTS, &set);
            let paused = result.ports.paused_ps[port(&result, "s0", "s1")];
            assert!(paused > 50_000_000, "{preset} is paused");
            samples(&result, "victim", 0)
        };
        let timely = mean(&rates("timely", preset)) / 1e9;
        assert!(timely < alone, "{preset}: {timely}");
        let spared = rates("timely+tcd", &format!("{preset}+tcd"));
        assert!(spared.iter().all(|&rate| rate == 100e9), "{preset}: the victim is slowed");
    }
}

/// Protects that TCD changes nothing where nobody is paused: both laws act as they do alone.
#[test]
fn without_pauses_tcd_changes_nothing() {
    for (alone, preset) in
        [("dcqcn", "dcqcn-paper"), ("dcqcn", "dcqcn-hpcc"), ("hpcc", "hpcc-paper")]
    {
        let outcome = |scheme: &str, preset: &str| {
            let set = [("scheme.name", scheme), ("scheme.preset", preset), ("pfc.xoff", "9MB")];
            let result = run_with(BURSTS, &[set.as_slice(), &[("pfc.xon", "8MB")]].concat());
            assert_eq!(result.summary.pause_frames, 0, "{preset}");
            (result.flows.fct_ps, result.ports.tx_bytes)
        };
        let both = (format!("{alone}+tcd"), format!("{preset}+tcd"));
        assert_eq!(outcome(alone, preset), outcome(&both.0, &both.1), "{preset}");
    }
}

/// Protects the order of a switch's random draws, and the detectors', from the number of threads.
#[test]
fn threads_change_nothing() {
    for scheme in ["dcqcn+tcd", "timely+tcd", "hpcc+tcd", "pacc"] {
        let set = [("scheme.name", scheme)];
        let (one, two) = (run_on(BURSTS, &set, 1), run_on(BURSTS, &set, 2));
        assert_eq!(one.summary.digest, two.summary.digest, "{scheme}");
        assert_eq!(samples(&one, "state", 0), samples(&two, "state", 0), "{scheme}");
    }
}

/// `senders` long flows to one host under PACC, at 100 Gb/s.
fn pacc(senders: u32) -> RunResult {
    run(&format!(
        r#"
        [run]
        stop = "40ms"
        [topology]
        kind = "star"
        hosts = {}
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "incast"
        senders = {senders}
        receiver = "h0"
        size = "10GB"
        [scheme]
        name = "pacc"
        [pfc]
        threshold = "static"
        xoff = "320KB"
        xon = "318KB"
        [[probe]]
        name = "queue"
        kind = "queue"
        interval = "10us"
        ports = ["s0:h0"]
        [[probe]]
        name = "used"
        kind = "utilisation"
        interval = "10us"
        ports = ["s0:h0"]
        [[probe]]
        name = "probability"
        kind = "port-state"
        interval = "10us"
        ports = ["s0:h0"]
        [[probe]]
        name = "paused"
        kind = "pause"
        interval = "10us"
        nodes = ["h*"]
        "#,
        senders + 1
    ))
}

/// Protects the calibration: the marking probability of two flows to one host is a few per cent.
#[test]
fn pacc_marks_a_few_per_cent_of_a_two_to_one_incast() {
    let result = pacc(2);
    let probability = mean(&samples(&result, "probability", 20_000));
    assert!((0.01..0.05).contains(&probability), "{probability}");
    let used = mean(&samples(&result, "used", 20_000));
    assert!(used > 0.97, "{used} of the link");
}

/// Protects control by the switch alone: nothing is marked, so receivers have nothing to answer.
#[test]
fn pacc_controls_the_queue_of_an_incast() {
    let result = pacc(16);
    assert_eq!(result.ports.ecn_marked_packets.iter().sum::<u64>(), 0);
    let queue = mean(&samples(&result, "queue", 20_000));
    // q_ref is 12.5 KB, and a queue can't be negative.
    assert!((5e3..50e3).contains(&queue), "{queue} B wait");
    let used = mean(&samples(&result, "used", 20_000));
    assert!(used > 0.95, "{used} of the link");
    assert!(samples(&result, "paused", 20_000).iter().all(|&paused| paused == 0.0));
}

/// Protects who sends the CNPs: the receiver sends its ACKs and nothing else, the switch sends more
/// to the sources than it got from the receiver.
#[test]
fn pacc_notifies_from_the_switch() {
    let result = run(r#"
        [topology]
        kind = "star"
        hosts = 9
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "incast"
        senders = 8
        receiver = "h0"
        size = "2MB"
        [scheme]
        name = "pacc"
        [pfc]
        enabled = false
    "#);
    assert_eq!((result.summary.flows_done, result.summary.drops), (8, 0));
    let packets = |from: &str, to: &str| result.ports.tx_packets[port(&result, from, to)];
    assert_eq!(packets("h0", "s0"), 8 * 2_000, "an ACK for each packet");
    let to_sources: u64 = (1..=8).map(|host| packets("s0", &format!("h{host}"))).sum();
    let cnps = to_sources - 8 * 2_000;
    // At most one per QP in 80 us.
    let longest = result.flows.fct_ps.iter().max().expect("there are flows") / 80_000_000;
    assert!(cnps > 8 && cnps <= 8 * (longest + 1), "{cnps} CNPs in {longest} intervals");
}
