//! Schemes, recovery and scheduling behave as the papers and standards say.

use crate::common;
use crate::common::{run, run_with};
use results::Series;
use rocelab::RunResult;

/// Jain's index: 1 where all have the same, 1/n where one has everything.
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn series<'a>(result: &'a RunResult, name: &str) -> &'a Series {
    result.series.iter().find(|series| series.name == name).expect("there is such a series")
}

/// The samples of a series from a time on.
fn late(result: &RunResult, name: &str, from_us: u64) -> Vec<f64> {
    let series = series(result, name);
    let rows = series.time_ps.iter().zip(&series.value);
    let values: Vec<f64> =
        rows.filter(|(time, _)| **time >= from_us * 1_000_000).map(|(_, value)| *value).collect();
    assert!(values.len() >= 10, "{name} has {} late samples", values.len());
    values
}

/// Two pairs of hosts over one 100 Gb/s link; the second flow begins at `second`.
fn two_long_flows(scheme: &str, preset: &str, second: &str, stop: &str) -> RunResult {
    two_long_flows_with(scheme, preset, second, stop, &[])
}

/// Runs two long flows with settings.
fn two_long_flows_with(
    scheme: &str,
    preset: &str,
    second: &str,
    stop: &str,
    set: &[(&str, &str)],
) -> RunResult {
    let text = format!(
        r#"
        [run]
        stop = "{stop}"
        [topology]
        kind = "dumbbell"
        switches = 2
        senders = 2
        receivers = 2
        host_rate = "100Gbps"
        host_delay = "1us"
        rate = "100Gbps"
        delay = "1us"
        [[traffic]]
        kind = "flows"
        flows = [
            {{ src = "h0", dst = "h2", size = "10GB" }},
            {{ src = "h1", dst = "h3", size = "10GB", start = "{second}" }},
        ]
        [scheme]
        name = "{scheme}"
        preset = "{preset}"
        [[probe]]
        name = "first"
        kind = "throughput"
        interval = "10us"
        ports = ["s1:h2"]
        [[probe]]
        name = "second"
        kind = "throughput"
        interval = "10us"
        ports = ["s1:h3"]
        [[probe]]
        name = "link"
        kind = "utilisation"
        interval = "10us"
        ports = ["s0:s1"]
        [[probe]]
        name = "queue"
        kind = "queue"
        interval = "1us"
        ports = ["s0:s1"]
        "#
    );
    run_with(&text, set)
}

/// Shares of the two flows from `from_us` on.
fn shares(result: &RunResult, from_us: u64) -> [f64; 2] {
    [mean(&late(result, "first", from_us)), mean(&late(result, "second", from_us))]
}

/// Protects DCQCN's fairness, for flows that begin together and for one that comes late, in both of
/// its forms.
#[test]
fn two_dcqcn_flows_share_a_link() {
    for preset in ["dcqcn-paper", "dcqcn-hpcc"] {
        for second in ["0us", "5ms"] {
            let result = two_long_flows("dcqcn", preset, second, "60ms");
            let shares = shares(&result, 30_000);
            let used = mean(&late(&result, "link", 30_000));
            assert!(jain(&shares) > 0.99, "{preset} from {second}: {shares:?}");
            assert!(used > 0.95, "{preset} uses {used} of the link");
            assert_eq!(result.summary.drops, 0);
        }
    }
}

/// Protects HPCC's fairness and what it promises: the link at eta = 95 %, and next to no queue.
#[test]
fn two_hpcc_flows_share_a_link_without_a_queue() {
    for preset in ["hpcc-paper", "hpcc-ns3"] {
        for second in ["0us", "2ms"] {
            let result = two_long_flows("hpcc", preset, second, "10ms");
            let shares = shares(&result, 5_000);
            assert!(jain(&shares) > 0.99, "{preset} from {second}: {shares:?}");
            let used = mean(&late(&result, "link", 5_000));
            assert!((0.93..=0.97).contains(&used), "{preset} uses {used} of the link");
            // A packet with INT for five hops is 1124 B.
            let longest = late(&result, "queue", 5_000).into_iter().fold(0.0, f64::max);
            assert!(longest < 10.0 * 1_124.0, "{preset}: {longest} B wait");
            assert_eq!(result.summary.pause_frames, 0);
        }
    }
}

/// Protects records from ports that their format can't name: the run is refused, and says why.
#[test]
fn ports_that_the_int_format_has_no_code_for_are_refused() {
    let run = |format: &str| {
        let text = format!(
            r#"
            [topology]
            kind = "star"
            hosts = 3
            host_rate = "40Gbps"
            host_delay = "1us"
            [[traffic]]
            kind = "incast"
            senders = 2
            receiver = "h0"
            size = "100KB"
            [scheme]
            name = "hpcc"
            preset = "hpcc-ns3"
            params = {{ int_format = "{format}" }}
            "#
        );
        let scenario = scenario::parse(&text, None, &[]).unwrap();
        rocelab::run(&scenario, &rocelab::RunOptions::default())
    };
    assert_eq!(
        run("hpcc-ns3").unwrap_err().to_string(),
        "line 15: scheme.params.int_format: hpcc-ns3 has codes for ports of 25, 50, 100, 200 and \
         400 Gbps only, not for 40Gbps; use \"full\", or \"hpcc-ns3-uncoded\" for its mistake \
         (switch s0)"
    );
    assert_eq!(run("full").unwrap().summary.flows_done, 2);
}

/// Protects TIMELY's use of a link: round trips lengthen until they are beyond T_low, where their
/// gradient stops them, far below T_high. Between the cycles of queue and rate the link has its
/// load. (Shares are not tested: the law has no fixed point.)
#[test]
fn two_timely_flows_keep_round_trips_between_their_thresholds() {
    for (preset, least) in [("timely-paper", 0.97), ("timely-hpcc", 0.85)] {
        for second in ["0us", "2ms"] {
            let result = two_long_flows("timely", preset, second, "60ms");
            let used = mean(&late(&result, "link", 30_000));
            assert!(used > least, "{preset} from {second} uses {used} of the link");
            // 12 500 B are a microsecond; 8 us are on the way.
            let longest = late(&result, "queue", 30_000).into_iter().fold(0.0, f64::max);
            let rtt_us = 8.0 + longest / 12_500.0;
            assert!((50.0..100.0).contains(&rtt_us), "{preset} from {second}: {rtt_us} us");
            assert_eq!((result.summary.pause_frames, result.summary.drops), (0, 0));
        }
    }
}

/// Protects DCTCP: flows share, and the window's queue stands a little below K. The rate's swings
/// around K, unless the window on top of it keeps the queue from ever getting there.
#[test]
fn two_dctcp_flows_share_a_link_with_a_queue_at_k() {
    // 97.5 KB and 30 KB at 10G.
    for (preset, window, mean_queue, longest) in [
        ("dctcp-paper", "none", 950_000.0..975_000.0, 975_000.0..985_000.0),
        ("dctcp-hpcc", "none", 150_000.0..300_000.0, 400_000.0..700_000.0),
        ("dctcp-hpcc", "bdp", 85_000.0..100_000.0, 85_000.0..100_000.0),
    ] {
        for second in ["0us", "2ms"] {
            let set = [("scheme.params.window", window)];
            let result = two_long_flows_with("dctcp", preset, second, "60ms", &set);
            let case = format!("{preset}, window = {window}, from {second}");
            let shares = shares(&result, 30_000);
            assert!(jain(&shares) > 0.99, "{case}: {shares:?}");
            let used = mean(&late(&result, "link", 30_000));
            assert!(used > 0.95, "{case} uses {used} of the link");
            let queue = late(&result, "queue", 30_000);
            assert!(mean_queue.contains(&mean(&queue)), "{case}: {} B wait", mean(&queue));
            let most = queue.into_iter().fold(0.0, f64::max);
            assert!(longest.contains(&most), "{case}: at most {most} B wait");
            assert_eq!((result.summary.pause_frames, result.summary.drops), (0, 0));
        }
    }
}

/// Protects HPCC's promises where one rounded field brings home what INT would: the link near eta,
/// no queue to speak of. A coarse field takes a little more of the link and of fairness.
#[test]
fn two_hpcc_pint_flows_share_a_link_without_a_queue() {
    for (preset, used_least, fair) in
        [("hpcc-pint-paper", 0.90, 0.95), ("hpcc-pint-ns3", 0.93, 0.99)]
    {
        for second in ["0us", "2ms"] {
            let result = two_long_flows("hpcc-pint", preset, second, "60ms");
            let shares = shares(&result, 30_000);
            assert!(jain(&shares) > fair, "{preset} from {second}: {shares:?}");
            let used = mean(&late(&result, "link", 30_000));
            assert!((used_least..0.97).contains(&used), "{preset} uses {used} of the link");
            let longest = late(&result, "queue", 30_000).into_iter().fold(0.0, f64::max);
            assert!(longest < 10.0 * 1_084.0, "{preset}: {longest} B wait");
            assert_eq!(result.summary.pause_frames, 0);
        }
    }
}

/// Protects the first story of the field: a victim that shares only a paused link with an incast
/// suffers under PFC alone, and much less where someone controls congestion.
#[test]
fn a_victim_suffers_without_control_and_less_with_it() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/incast.toml");
    let text = std::fs::read_to_string(path).expect("the example is there");
    let slowdown = |scheme: &str| {
        let result = run_with(&text, &[("scheme", scheme)]);
        assert_eq!((result.summary.drops, result.summary.flows_done), (0, 10), "{scheme}");
        let flows = &result.flows;
        let victim = flows.tags.iter().position(|tag| tag == "victim").expect("a tag") as u16;
        let row = flows.tag.iter().position(|&tag| tag == victim).expect("a victim");
        flows.fct_ps[row] as f64 / flows.ideal_fct_ps[row] as f64
    };
    let (none, dcqcn, hpcc) = (slowdown("none"), slowdown("dcqcn"), slowdown("hpcc"));
    assert!(none > 2.0, "none: {none}");
    assert!(dcqcn < 0.6 * none && dcqcn < 2.0, "dcqcn: {dcqcn} against {none}");
    assert!(hpcc < 0.4 * none && hpcc < 1.2, "hpcc: {hpcc} against {none}");
}

/// Protects recovery where nothing protects from loss: with and without NACKs, everything that an
/// overflowing buffer drops is sent again, in order, to the end.
#[test]
fn without_pfc_drops_are_recovered() {
    for scheme in ["none", "dcqcn", "hpcc", "timely", "dctcp", "hpcc-pint"] {
        for nack in ["true", "false"] {
            let result = run_with(
                r#"
                [run]
                time_limit = "2s"
                [topology]
                kind = "star"
                hosts = 9
                host_rate = "100Gbps"
                host_delay = "1us"
                [[traffic]]
                kind = "incast"
                senders = 8
                receiver = "h0"
                size = "500KB"
                [host]
                retransmit_timeout = "100us"
                [switch]
                buffer = "150KB"
                [pfc]
                enabled = false
                "#,
                &[("scheme", scheme), ("host.nack", nack)],
            );
            let summary = &result.summary;
            assert!(summary.drops > 0, "{scheme}: nothing dropped");
            assert_eq!(summary.lossless_drops, 0, "{scheme}: no class is lossless");
            assert_eq!(summary.flows_done, 8, "{scheme}, nack = {nack}");
            assert_eq!(summary.pause_frames, 0);
            let again: u64 = result.flows.retransmitted_bytes.iter().sum();
            // Each data packet dropped is sent again, and ACKs may be among the drops.
            assert!(again > 0 && again.is_multiple_of(1_000), "{scheme}: {again} B again");
        }
    }
}

/// Protects windows with few ACKs: whatever a window does while packets are under way, some packet
/// under way asks for an ACK, or the sender would fall silent until the timeout. The timeout is
/// beyond the limit here, so a stall shows as a flow that is not done.
#[test]
fn few_acks_never_stall_a_window() {
    for (scheme, preset) in [
        ("hpcc", "hpcc-paper"),
        ("hpcc", "hpcc-ns3"),
        ("dcqcn", "dcqcn-themis"),
        ("dctcp", "dctcp-paper"),
        ("dctcp", "dctcp-hpcc"),
        ("hpcc-pint", "hpcc-pint-paper"),
    ] {
        for ack_every in ["4", "16", "64"] {
            let result = run_with(
                r#"
                [run]
                time_limit = "80ms"
                [topology]
                kind = "star"
                hosts = 17
                host_rate = "100Gbps"
                host_delay = "1us"
                [[traffic]]
                kind = "incast"
                senders = 16
                receiver = "h0"
                size = "300KB"
                [[traffic]]
                kind = "permutation"
                size = "1MB"
                start = "20us"
                [host]
                retransmit_timeout = "1s"
                "#,
                &[
                    ("scheme.name", scheme),
                    ("scheme.preset", preset),
                    ("host.ack_every", ack_every),
                ],
            );
            assert_eq!(
                (result.summary.flows_done, result.summary.drops),
                (result.summary.flows, 0),
                "{preset}, an ACK for {ack_every} packets"
            );
        }
    }
}

/// Protects the order of a QP's messages, whatever their sizes and times: a later one is never done
/// before an earlier one, and each takes no less than its own bytes.
#[test]
fn messages_of_a_queue_pair_are_delivered_in_order() {
    for scheme in ["none", "dcqcn", "hpcc"] {
        let result = run_with(
            r#"
            [topology]
            kind = "star"
            hosts = 3
            host_rate = "100Gbps"
            host_delay = "1us"
            [[traffic]]
            kind = "flows"
            flows = [
                { src = "h0", dst = "h2", size = "400KB", qp = "a" },
                { src = "h0", dst = "h2", size = "1B", qp = "a" },
                { src = "h0", dst = "h2", size = "30KB", start = "3us", qp = "a" },
                { src = "h0", dst = "h2", size = "1001B", start = "500us", qp = "a" },
                { src = "h0", dst = "h2", size = "1KB", start = "1us" },
                { src = "h1", dst = "h2", size = "1MB" },
            ]
            "#,
            &[("scheme", scheme)],
        );
        let flows = &result.flows;
        assert_eq!(result.summary.flows_done, 6);
        // By order of start: the message of 1 KB with a QP of its own is before that of 30 KB.
        let qp = flows.qp_id[0];
        let done: Vec<u64> = (0..flows.len())
            .filter(|&row| flows.qp_id[row] == qp)
            .map(|row| flows.start_ps[row] + flows.fct_ps[row])
            .collect();
        assert_eq!(done.len(), 4);
        assert!(done.is_sorted(), "{scheme}: {done:?}");
        assert_eq!(flows.retransmitted_bytes.iter().sum::<u64>(), 0);
        // The one with its own QP does not wait for the 400 KB.
        let own = flows.size_bytes.iter().position(|&size| size == 1_000).expect("it is there");
        assert!(flows.start_ps[own] + flows.fct_ps[own] < done[0], "{scheme}");
        // Alone on its QP by then, the last of them takes what it takes alone, where the scheme
        // lets it go at line rate again.
        if scheme == "none" {
            let last = flows.size_bytes.iter().position(|&size| size == 1_001).expect("it is");
            assert_eq!(flows.fct_ps[last], flows.ideal_fct_ps[last]);
        }
    }
}

/// Protects control state per QP: a second message on a QP that congestion has slowed begins at
/// the rate where the first ended; one on a QP of its own begins at line rate.
#[test]
fn a_queue_pair_that_is_used_again_keeps_its_rate() {
    let scenario = |start: &str, qp: &str| {
        run(&format!(
            r#"
            [topology]
            kind = "star"
            hosts = 3
            host_rate = "100Gbps"
            host_delay = "1us"
            [[traffic]]
            kind = "flows"
            flows = [
                {{ src = "h0", dst = "h2", size = "4MB", qp = "a" }},
                {{ src = "h1", dst = "h2", size = "2MB" }},
                {{ src = "h0", dst = "h2", size = "200KB", start = "{start}", qp = "{qp}" }},
            ]
            [scheme]
            name = "dcqcn"
            preset = "dcqcn-paper"
            "#
        ))
    };
    // When the first two are done.
    let before = scenario("50ms", "b");
    let first = before.flows.fct_ps[0].max(before.flows.fct_ps[1]);
    let start = format!("{}ps", first + 2_000_000);
    let slowdown =
        |result: &RunResult| result.flows.fct_ps[2] as f64 / result.flows.ideal_fct_ps[2] as f64;
    let (used, fresh) = (slowdown(&scenario(&start, "a")), slowdown(&scenario(&start, "b")));
    assert!(fresh < 1.01, "a new QP begins at line rate: {fresh}");
    assert!(used > 1.2, "a used one does not: {used}");
}

/// Two flows of 2 MB from two hosts to one, in two classes.
fn two_classes(first: u8, second: u8, weights: &str) -> RunResult {
    run(&format!(
        r#"
        [topology]
        kind = "star"
        hosts = 3
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "flows"
        flows = [
            {{ src = "h0", dst = "h2", size = "2MB", priority = {first} }},
            {{ src = "h1", dst = "h2", size = "2MB", priority = {second} }},
        ]
        [classes]
        lossless = [1, 2, 7]
        weights = {weights}
        [pfc]
        xoff = "4MB"
        "#
    ))
}

/// Protects strict priority: it waits for one packet that has begun, at each port, and no more.
#[test]
fn strict_priority_goes_first() {
    let result = two_classes(7, 1, "[1, 1, 1, 1, 1, 1, 1, 1]");
    let (fct, ideal) = (result.flows.fct_ps[0], result.flows.ideal_fct_ps[0]);
    // 1098 B at 80 ps.
    assert!((ideal..=ideal + 87_840).contains(&fct), "{fct} ps, alone {ideal}");
    let other = result.flows.fct_ps[1] as f64 / result.flows.ideal_fct_ps[1] as f64;
    assert!((1.9..2.1).contains(&other), "the other comes after it: {other}");
}

/// Protects weights: as long as both have packets they share bytes as their weights say. A flow
/// with w of the w + 1 parts is done when w + 1 parts per w of its bytes have passed.
#[test]
fn weights_share_a_port() {
    for (weight, expected) in [(1, 2.0), (2, 1.5), (4, 1.25)] {
        let weights = format!("[1, {weight}, 1, 1, 1, 1, 1, 1]");
        let result = two_classes(1, 2, &weights);
        let slowdown =
            |row: usize| result.flows.fct_ps[row] as f64 / result.flows.ideal_fct_ps[row] as f64;
        let first = slowdown(0);
        assert!((first - expected).abs() < 0.02 * expected, "weight {weight}: {first}");
        assert!((slowdown(1) - 2.0).abs() < 0.04, "all is done in the time of both");
    }
}

const THREE_TO_ONE: &str = r#"
    [topology]
    kind = "star"
    hosts = 4
    host_rate = "100Gbps"
    host_delay = "1us"
    [[traffic]]
    kind = "incast"
    senders = 3
    receiver = "h0"
    size = "1MB"
    [scheme]
    name = "none"
"#;

/// A timer that a departure asks for may come before the next thing the host looks at.
#[test]
fn a_retransmission_timeout_far_below_the_round_trip_only_wastes() {
    for timeout in ["1ns", "100ns", "1500ns"] {
        let set = [("host.retransmit_timeout", timeout), ("run.stop", "400us")];
        let result = run_with(THREE_TO_ONE, &set);
        let resent: u64 = result.flows.retransmitted_bytes.iter().sum();
        assert!(resent > 0 && result.summary.drops == 0, "{timeout}: {resent} B sent again");
        let again = common::run_on(THREE_TO_ONE, &set, 2);
        assert_eq!(again.summary.digest, result.summary.digest, "{timeout}");
    }
}

/// What an interval saw is known at its end: nothing from before the probe's start counts.
#[test]
fn a_probe_that_starts_late_counts_from_its_start() {
    let text = format!(
        "{THREE_TO_ONE}\n[[probe]]\nname = \"u\"\nkind = \"utilisation\"\nports = [\"s0:h0\"]\n\
         interval = \"10us\"\nstart = \"50us\"\n"
    );
    let result = run_with(&text, &[]);
    let series = &result.series[0];
    assert_eq!(series.time_ps[0], 60_000_000, "the first interval ends at 60 us");
    assert!(series.value.iter().all(|&used| used < 1.01), "no more than the wire carries");
    assert!(series.value[..15].iter().all(|&used| used > 0.98), "a busy port");
}

/// With `packet_round_robin` priorities share a port packet by packet; without it, byte by byte and
/// by their weights.
#[test]
fn priorities_take_turns_packet_by_packet() {
    let text = r#"
        [topology]
        kind = "star"
        hosts = 3
        host_rate = "100Gbps"
        host_delay = "1us"
        [classes]
        lossless = [3, 4]
        [[traffic]]
        kind = "flows"
        priority = 3
        flows = [{ src = "h0", dst = "h2", size = "9000B" }]
        [[traffic]]
        kind = "flows"
        priority = 4
        flows = [{ src = "h1", dst = "h2", size = "6000B" }]
        [trace]
        packets = ["s0"]
    "#;
    let order = |set| {
        let result = run_with(text, &[set]);
        let trace = result.packet_trace.expect("it was asked for");
        let rows = (0..trace.time_ps.len()).filter(|&row| {
            let event = results::PacketTrace::EVENTS[usize::from(trace.event[row])];
            (event, trace.port[row], trace.kind[row]) == ("dequeued", 2, 0)
        });
        rows.map(|row| trace.priority[row]).collect::<Vec<_>>()
    };
    let turns = order(("quirks.packet_round_robin", "true"));
    assert_eq!(turns.len(), 15);
    // Both wait from the second packet on until the shorter flow is through.
    assert!(turns[1..12].windows(2).all(|pair| pair[0] != pair[1]), "{turns:?}");
    let by_bytes = order(("classes.weights", "[1, 1, 1, 1, 5, 1, 1, 1]"));
    assert!(by_bytes.windows(3).any(|three| three == [4, 4, 4]), "{by_bytes:?}");
}
