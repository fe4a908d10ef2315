//! Schemes that others are compared with do what their papers say of them, in whole runs.

use crate::common::{refusal, run, run_with};
use rocelab::RunResult;

/// Time in us and value of each sample of a series, for one flow where it has several.
fn samples(result: &RunResult, name: &str, flow: Option<u32>) -> Vec<(f64, f64)> {
    let series = result.series.iter().find(|series| series.name == name).expect("it is recorded");
    (0..series.value.len())
        .filter(|&row| flow.is_none_or(|flow| series.flow[row] == flow))
        .map(|row| (series.time_ps[row] as f64 / 1e6, series.value[row]))
        .collect()
}

/// The values from a time on.
fn late(samples: &[(f64, f64)], from_us: f64) -> Vec<f64> {
    let values: Vec<f64> =
        samples.iter().filter(|(time, _)| *time >= from_us).map(|(_, value)| *value).collect();
    assert!(values.len() >= 10, "{} late samples", values.len());
    values
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Two flows over one 100 Gb/s link; the second joins at 300 us.
const JOIN: &str = r#"
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
        { src = "h0", dst = "h2", size = "10GB" },
        { src = "h1", dst = "h3", size = "10GB", start = "300us" },
    ]
    [[probe]]
    name = "queue"
    kind = "queue"
    interval = "1us"
    ports = ["s0:s1"]
    [[probe]]
    name = "link"
    kind = "utilisation"
    interval = "10us"
    ports = ["s0:s1"]
"#;

fn join(stop: &str, scheme: &str, probes: &str) -> RunResult {
    run(&format!("{scheme}\n[run]\nstop = \"{stop}\"\n{JOIN}\n{probes}"))
}

/// Protects RoCC's times: it reacts within a period of 40 us, the 15 us of the host and the way
/// there and back, and takes more than a millisecond to stay within 5 % of the fair share. Then its
/// queue is at Q_ref.
#[test]
fn rocc_reacts_in_a_period_and_settles_in_milliseconds() {
    let probes = r#"
        [[probe]]
        name = "rate"
        kind = "rate"
        interval = "1us"
        flows = [0, 1]
    "#;
    let result = join("20ms", "[scheme]\nname = \"rocc\"", probes);
    let first = samples(&result, "rate", Some(0));
    let reacts = first.iter().find(|(_, rate)| *rate < 100e9).expect("it slows down").0;
    // The second flow's data takes 1.1 us to the switch, and as long the message to the host.
    let latest = 300.0 + 1.1 + 40.0 + 15.0 + 1.1 + 1.0;
    assert!(reacts > 300.0 + 16.0 && reacts <= latest, "reacts at {reacts} us");
    let unfair = |(_, rate): &&(f64, f64)| (rate / 50e9 - 1.0).abs() > 0.05;
    let settles = [0, 1].map(|flow| {
        let rates = samples(&result, "rate", Some(flow));
        rates.iter().rev().find(unfair).expect("it begins at line rate").0
    });
    for settled in settles {
        assert!((1_300.0..15_000.0).contains(&settled), "settles at {settled} us");
    }
    let queue = mean(&late(&samples(&result, "queue", None), 15_000.0));
    assert!((queue / 300_000.0 - 1.0).abs() < 0.05, "{queue} B wait, Q_ref is 300 KB");
    assert!(mean(&late(&samples(&result, "link", None), 15_000.0)) > 0.99);
    assert_eq!(result.summary.drops, 0);
}

/// Protects ExpressPass's promise: next to no queue however many send, without a pause, and the
/// link used but for what credits of the other direction would take.
#[test]
fn expresspass_keeps_data_queues_below_five_packets() {
    let incast = r#"
        [run]
        stop = "3ms"
        [topology]
        kind = "star"
        hosts = 17
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "incast"
        senders = 16
        receiver = "h0"
        size = "1GB"
        [scheme]
        name = "expresspass"
        [[probe]]
        name = "queue"
        kind = "queue"
        interval = "1us"
        ports = ["s0:h0"]
        [[probe]]
        name = "link"
        kind = "utilisation"
        interval = "10us"
        ports = ["s0:h0"]
    "#;
    let scheme = "[scheme]\nname = \"expresspass\"";
    for (result, used) in [(join("3ms", scheme, ""), 0.90), (run(incast), 0.85)] {
        // A packet is 1090 B with its credit's number.
        let longest = most(&late(&samples(&result, "queue", None), 1_000.0));
        assert!(longest < 5.0 * 1_090.0, "{longest} B wait");
        let share = mean(&late(&samples(&result, "link", None), 1_000.0));
        // 1090 of 1182 bytes: the rest is for credits of data the other way.
        assert!(share > used && share < 0.9225, "{share} of the link used");
        let summary = &result.summary;
        assert_eq!((summary.pause_frames, summary.lossless_drops), (0, 0));
        let count = |name: &str| summary.counters[name];
        // Too many credits are what steers it: those that find no room are the only drops.
        assert!(summary.drops > 0, "no credit was dropped");
        let under_way = count("credits_sent") - count("credits_used") - summary.drops;
        assert!(under_way < 500, "{under_way} credits under way");
        assert_eq!(count("credits_wasted"), 0, "none while there is data");
    }
}

/// Protects the room for ACKs that one can ask for: where links are full both ways, data queues
/// stay short with it, and only with it.
#[test]
fn expresspass_can_leave_room_for_acks() {
    let longest = |set: &[(&str, &str)]| {
        let result = run_with(
            r#"
            [run]
            stop = "1ms"
            [topology]
            kind = "star"
            hosts = 3
            host_rate = "100Gbps"
            host_delay = "1us"
            [[traffic]]
            kind = "flows"
            flows = [
                { src = "h0", dst = "h1", size = "1GB" },
                { src = "h1", dst = "h0", size = "1GB" },
                { src = "h2", dst = "h1", size = "1GB" },
                { src = "h1", dst = "h2", size = "1GB" },
            ]
            [scheme]
            name = "expresspass"
            [[probe]]
            name = "queue"
            kind = "queue"
            interval = "1us"
            ports = ["s0:h1"]
            "#,
            set,
        );
        most(&late(&samples(&result, "queue", None), 500.0))
    };
    let room = ("scheme.params.ack_room", "true");
    assert!(longest(&[room, ("scheme.params.credit_spread", "0B")]) < 5.0 * 1_090.0);
    // The data of shorter credits comes faster. Links that are full on average get queues that
    // grow with the square root of time.
    assert!(longest(&[room]) < 20.0 * 1_090.0);
    assert!(longest(&[]) > 100.0 * 1_090.0);
}

/// Protects the count of what ExpressPass wastes: until its receiver knows that a flow is
/// over, it sends credits for a round trip. These are more than a tenth of all credits.
#[test]
fn expresspass_wastes_credits_on_short_flows() {
    let text = r#"
        [topology]
        kind = "star"
        hosts = 9
        host_rate = "100Gbps"
        host_delay = "4us"
        [[traffic]]
        kind = "permutation"
        size = "50KB"
        [scheme]
        name = "expresspass"
    "#;
    // 100 Gb/s for 17 us are 211 KB.
    for preset in ["expresspass-xpass", "expresspass-paper"] {
        for size in ["10KB", "50KB", "150KB"] {
            let result = run_with(text, &[("scheme.preset", preset), ("traffic.0.size", size)]);
            let summary = &result.summary;
            assert_eq!((summary.flows_done, summary.lossless_drops), (9, 0));
            let count = |name: &str| summary.counters[name];
            let (sent, wasted) = (count("credits_sent"), count("credits_wasted"));
            let waste = wasted as f64 / sent as f64;
            assert!(waste > 0.1, "{preset}, {size}: {wasted} of {sent} wasted");
            assert!(count("credits_used") + wasted + summary.drops <= sent);
        }
    }
}

/// Protects credits from what is not to be dropped with them.
#[test]
fn nothing_else_may_use_the_class_of_credits() {
    let text = r#"
        [topology]
        kind = "star"
        hosts = 2
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "flows"
        flows = [{ src = "h0", dst = "h1", size = "1KB", priority = 7 }]
        [scheme]
        name = "expresspass"
    "#;
    let scenario = scenario::parse(text, None, &[]).expect("a valid scenario");
    let refused = rocelab::run(&scenario, &rocelab::RunOptions::default()).unwrap_err();
    let refused = refusal(refused);
    assert_eq!(refused.key, "classes");
    assert!(refused.message.contains("expresspass keeps priority 7"), "{}", refused.message);
}

/// Protects INT from rates that its records can't tell apart: a record has a byte for the rate, and
/// the 64-bit format's rates come first.
#[test]
fn a_network_of_more_rates_than_int_has_codes_for_is_refused() {
    let star = |hosts: u32, scheme: &str| {
        let nodes: String =
            (0..hosts).map(|host| format!("{{ name = \"h{host}\", kind = \"host\" }},")).collect();
        let links: String = (0..hosts)
            .map(|host| {
                let mbps = 20_001 + host;
                format!("{{ a = \"h{host}\", b = \"s\", rate = \"{mbps}Mbps\", delay = \"1us\" }},")
            })
            .collect();
        let text = format!(
            "[topology]\nkind = \"custom\"\n\
             nodes = [{nodes} {{ name = \"s\", kind = \"switch\" }}]\nlinks = [{links}]\n\
             [scheme]\nname = \"{scheme}\"\n\
             [[traffic]]\nkind = \"flows\"\n\
             flows = [{{ src = \"h0\", dst = \"h1\", size = \"100KB\" }}]"
        );
        let scenario = scenario::parse(&text, None, &[]).expect("a valid scenario");
        rocelab::run(&scenario, &rocelab::RunOptions::default())
    };
    let most = 256 - wire::int::RATES.len() as u32;
    let result = star(most, "hpcc").expect("each rate has a code");
    assert_eq!(result.summary.flows_done, 1);
    let refused = refusal(star(most + 1, "hpcc").unwrap_err());
    assert_eq!(refused.key, "topology");
    assert!(refused.message.contains("257 would be needed"), "{}", refused.message);
    star(most + 1, "dctcp").expect("it needs no codes");
}

/// Protects recovery where nothing protects from loss: a sender that has no credits left asks again
/// for what was dropped. ACKs of flows the other way are what makes ExpressPass lose data at all.
#[test]
fn credits_and_fair_rates_recover_from_loss() {
    for scheme in ["swift", "rocc", "expresspass"] {
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
                [[traffic]]
                kind = "flows"
                flows = [
                    { src = "h0", dst = "h1", size = "2MB" },
                    { src = "h0", dst = "h2", size = "2MB" },
                    { src = "h1", dst = "h0", size = "100B", qp = "a" },
                    { src = "h1", dst = "h0", size = "200B", qp = "a" },
                    { src = "h1", dst = "h0", size = "5001B", qp = "a", start = "30us" },
                ]
                [host]
                retransmit_timeout = "100us"
                [switch]
                buffer = "2200B"
                [pfc]
                enabled = false
                resume_offset = "1B"
                reserve = "1B"
                "#,
                &[("scheme", scheme), ("host.nack", nack)],
            );
            let summary = &result.summary;
            assert_eq!(summary.flows_done, 13, "{scheme}, nack = {nack}");
            let again: u64 = result.flows.retransmitted_bytes.iter().sum();
            assert!(again > 0, "{scheme}: nothing was lost");
        }
    }
}

/// Protects Swift's aim, under both sets of values: the round trip within 10 % of the target, and
/// windows that come to be equal.
#[test]
fn swift_stays_at_its_target_delay() {
    let probes = r#"
        [[probe]]
        name = "delay"
        kind = "alpha"
        interval = "10us"
        flows = [0, 1]
        [[probe]]
        name = "window"
        kind = "window"
        interval = "10us"
        flows = [0, 1]
    "#;
    for preset in ["swift-bolt", "swift-htsim"] {
        let scheme = format!("[scheme]\nname = \"swift\"\npreset = \"{preset}\"");
        let result = join("8ms", &scheme, probes);
        let windows = [0, 1].map(|flow| {
            let delays = late(&samples(&result, "delay", Some(flow)), 4_000.0);
            assert!(
                delays.iter().all(|over| (0.9..1.1).contains(over)),
                "{preset}: off its target"
            );
            mean(&late(&samples(&result, "window", Some(flow)), 6_000.0))
        });
        // Beyond 100 packets htsim's target no longer tells windows apart.
        let unequal = if preset == "swift-bolt" { 0.05 } else { 0.3 };
        assert!((windows[0] / windows[1] - 1.0).abs() < unequal, "{preset}: {windows:?}");
        assert!(mean(&late(&samples(&result, "link", None), 4_000.0)) > 0.99);
    }
}

/// Protects windows below one packet: more senders than the target has room for packets still keep
/// the queue near it, by pacing, and all get on.
#[test]
fn swift_paces_windows_below_one_packet() {
    let result = run(r#"
        [run]
        stop = "15ms"
        [topology]
        kind = "star"
        hosts = 201
        host_rate = "10Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "incast"
        senders = 200
        receiver = "h0"
        size = "1GB"
        [scheme]
        name = "swift"
        [[probe]]
        name = "window"
        kind = "window"
        interval = "10us"
        flows = [0, 100, 199]
        [[probe]]
        name = "queue"
        kind = "queue"
        interval = "10us"
        ports = ["s0:h0"]
        [[probe]]
        name = "link"
        kind = "utilisation"
        interval = "10us"
        ports = ["s0:h0"]
    "#);
    for flow in [0, 100, 199] {
        let window = mean(&late(&samples(&result, "window", Some(flow)), 10_000.0));
        assert!(window < 1_000.0, "{window} B");
    }
    // 126 us of 10 Gb/s are 157.5 KB, fewer than 200 packets.
    let queue = mean(&late(&samples(&result, "queue", None), 10_000.0));
    assert!(queue < 157_500.0, "{queue} B wait");
    assert!(mean(&late(&samples(&result, "link", None), 10_000.0)) > 0.95);
}

/// Protects what senders hear of congestion where packets are lost: a packet behind a gap is
/// discarded, but its mark is answered. Eight senders into a port with a small buffer and no PFC
/// leave the line rate, although the first losses are never made good.
#[test]
fn marks_on_packets_behind_a_gap_are_answered() {
    let result = run(r#"
        [run]
        stop = "1ms"
        [topology]
        kind = "star"
        hosts = 9
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "incast"
        senders = ["h1..h8"]
        receiver = "h0"
        size = "10MB"
        [scheme]
        name = "dcqcn"
        preset = "dcqcn-paper"
        [switch]
        buffer = "400KB"
        [host]
        nack_interval = "never"
        retransmit_timeout = "never"
        [ecn]
        kmin = "50KB"
        kmax = "100KB"
        pmax = 1.0
        [pfc]
        enabled = false
        [[probe]]
        name = "rate"
        kind = "rate"
        interval = "10us"
        nodes = ["h1..h8"]
    "#);
    assert!(result.summary.out_of_order_packets > 0 && result.summary.flows_done == 0);
    for flow in 0..8 {
        let rate = most(&late(&samples(&result, "rate", Some(flow)), 800.0));
        assert!(rate < 20e9, "flow {flow}: {rate:.3e} b/s");
    }
}

/// Protects RoCC's flow table: packets that are dropped as their link fails leave the table, so no
/// rates are sent once all flows are done.
#[test]
fn rocc_forgets_the_flows_of_a_failed_link() {
    let hops = |stop: &str| {
        let result = run(&format!(
            r#"
            [run]
            stop = "{stop}"
            [topology]
            kind = "leaf-spine"
            leaves = 2
            spines = 2
            hosts_per_leaf = 4
            host_rate = "100Gbps"
            host_delay = "1us"
            rate = "100Gbps"
            delay = "1us"
            [[traffic]]
            kind = "flows"
            flows = [
                {{ src = "h0", dst = "h4", size = "2MB" }},
                {{ src = "h1", dst = "h5", size = "2MB" }},
                {{ src = "h2", dst = "h6", size = "2MB" }},
                {{ src = "h3", dst = "h7", size = "2MB" }},
            ]
            [scheme]
            name = "rocc"
            [[failure]]
            link = "leaf0:spine1"
            at = "100us"
            "#
        ));
        assert_eq!(result.summary.flows_done, 4);
        assert!(result.summary.lost_packets > 0);
        result.summary.packet_hops
    };
    assert_eq!(hops("4ms"), hops("8ms"));
}
