//! Fast notification as its papers say, in whole runs: FNCC against HPCC, Mercury against DCQCN.

use crate::common::run_with;
use results::Series;
use rocelab::RunResult;

fn series<'a>(result: &'a RunResult, name: &str) -> &'a Series {
    result.series.iter().find(|series| series.name == name).expect("there is such a series")
}

/// The values of a flow's or port's series in the order of time, with their microseconds.
fn values(series: &Series, flow: u32) -> Vec<(u64, f64)> {
    let rows = series.time_ps.iter().zip(&series.value).zip(&series.flow);
    rows.filter(|(_, of)| **of == flow).map(|((time, v), _)| (time / 1_000_000, *v)).collect()
}

/// FNCC section 5.1 and 5.4: a chain of three switches, links of 100 Gb/s and 1.5 us. A long flow
/// to the last switch, and at 300 us another one to the same host, from a host on the switch
/// `from`.
fn joined(from: usize, scheme: &str, set: &[(&str, &str)]) -> RunResult {
    let side = ["1, 0, 0", "0, 1, 0", "0, 0, 1"][from];
    let port = ["s0:s1", "s1:s2", "s2:h1"][from];
    let text = format!(
        r#"
        [run]
        stop = "1ms"
        [topology]
        kind = "dumbbell"
        switches = 3
        senders = 1
        side_hosts = [{side}]
        host_rate = "100Gbps"
        host_delay = "1.5us"
        rate = "100Gbps"
        delay = "1.5us"
        [pfc]
        xoff = "500KB"
        xon = "497KB"
        [[traffic]]
        kind = "flows"
        flows = [
            {{ src = "h0", dst = "h1", size = "10GB" }},
            {{ src = "h2", dst = "h1", size = "10GB", start = "300us" }},
        ]
        [scheme]
        name = "{scheme}"
        [[probe]]
        name = "queue"
        kind = "queue"
        interval = "250ns"
        ports = ["{port}"]
        [[probe]]
        name = "rate"
        kind = "rate"
        interval = "1us"
        flows = ["flows"]
        "#
    );
    run_with(&text, set)
}

fn peak(result: &RunResult) -> f64 {
    series(result, "queue").value.iter().copied().fold(0.0, f64::max)
}

/// When the first flow first went below 90 Gb/s after the second began.
fn reaction(result: &RunResult) -> u64 {
    let rates = values(series(result, "rate"), 0);
    let slow = rates.into_iter().find(|&(time, rate)| time >= 300 && rate < 90e9);
    slow.expect("it reacts").0
}

const WITHOUT: [(&str, &str); 1] = [("scheme.params.last_hop_speedup", "\"off\"")];

/// Protects what FNCC is for: the INT of its ACKs is younger than HPCC's, most so of the first hop;
/// so senders react earlier and queues stay shorter.
#[test]
fn fncc_reacts_earlier_than_hpcc_and_queues_less() {
    let mut gains = Vec::new();
    for from in 0..3 {
        let hpcc = joined(from, "hpcc", &[]);
        let fncc = joined(from, "fncc", &WITHOUT);
        assert!(reaction(&fncc) < reaction(&hpcc), "joined at switch {from}");
        gains.push(1.0 - peak(&fncc) / peak(&hpcc));
    }
    // Section 5.4.2 has 37.5, 29.5 and 8.4 % for the three hops.
    assert!(gains[0] > gains[1] && gains[1] > gains[2] && gains[2] > 0.05, "{gains:?}");
    assert!(gains[0] > 0.2, "{gains:?}");
}

/// Protects the last-hop speed-up: three round trips later both flows go at about beta = 0.9 times
/// their half (Figure 13d), and the peak is far below that without it. The 64-bit table does as
/// well.
#[test]
fn last_hop_congestion_gives_fair_rates_at_once() {
    let without = peak(&joined(2, "fncc", &WITHOUT));
    for format in ["\"full\"", "\"fncc-64\""] {
        let fncc = joined(2, "fncc", &[("scheme.params.int_format", format)]);
        assert!(peak(&fncc) < 0.7 * without, "{format}: {} B", peak(&fncc));
        for flow in [0, 1] {
            let rates = values(series(&fncc, "rate"), flow);
            let of = |time: u64| rates.iter().find(|(at, _)| *at == time).unwrap().1;
            assert!((0.8..1.02).contains(&(of(345) / 45e9)), "{format}: {} at 345 us", of(345));
        }
    }
}

/// Protects cumulative ACKs (section 3.2.3) and the other way to equal paths: flows on spanning
/// trees, with an ACK for every fourth packet, still use the link.
#[test]
fn fncc_works_with_cumulative_acks_on_spanning_trees() {
    let text = r#"
        [topology]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        links_per_pair = 2
        hosts_per_leaf = 2
        host_rate = "100Gbps"
        host_delay = "1us"
        rate = "100Gbps"
        delay = "1us"
        [host]
        ack_every = 4
        [routing]
        paths = "spanning-trees"
        trees = 4
        [[traffic]]
        kind = "flows"
        flows = [{ src = "h0", dst = "h2", size = "8MB" }, { src = "h1", dst = "h2", size = "8MB" }]
        [scheme]
        name = "fncc"
        "#;
    let result = run_with(text, &[]);
    assert_eq!((result.summary.drops, result.summary.pause_frames), (0, 0));
    // 16 MB and their headers at 95 Gb/s take 1.46 ms.
    let last = result.flows.fct_ps.iter().max().unwrap();
    assert!(*last < 1_700_000_000, "{last} ps");
}

/// Protects from runs on paths that the law would misread: parallel cables, for which symmetric
/// hashes are not enough.
#[test]
#[should_panic(expected = "set routing.paths = \"spanning-trees\"")]
fn fncc_refuses_paths_that_differ() {
    let flows: String =
        (0..16).map(|_| "{ src = \"h0\", dst = \"h2\", size = \"8KB\" },").collect();
    let text = format!(
        r#"
        [topology]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        links_per_pair = 2
        hosts_per_leaf = 2
        host_rate = "100Gbps"
        host_delay = "1us"
        rate = "100Gbps"
        delay = "1us"
        [[traffic]]
        kind = "flows"
        flows = [{flows}]
        [scheme]
        name = "fncc"
        "#
    );
    run_with(&text, &[]);
}

/// Mercury's Figure 2: h0 and h1 at 20 Gb/s, the chain at 40; the flow of h0 is the victim, that of
/// h1 shares its last port with bursts of eight hosts on the last switch: six of 50 KB each, in
/// 100 us. A low Xoff has the pauses spread to the first switch.
fn chain(scheme: &str, set: &[(&str, &str)]) -> RunResult {
    let bursts: String = (0..6)
        .flat_map(|round| (4..12).map(move |host| (host, 1_000 + 20 * round)))
        .map(|(host, start)| {
            format!(
                "{{ src = \"h{host}\", dst = \"h3\", size = \"50KB\", start = \"{start}us\" }},"
            )
        })
        .collect();
    let text = format!(
        r#"
        [run]
        stop = "2500us"
        [topology]
        kind = "dumbbell"
        switches = 3
        senders = 2
        receivers = 2
        side_hosts = [0, 0, 8]
        sender_rate = "20Gbps"
        host_rate = "40Gbps"
        host_delay = "4us"
        rate = "40Gbps"
        delay = "4us"
        [pfc]
        xoff = "40KB"
        xon = "38KB"
        [[traffic]]
        tag = "long"
        kind = "flows"
        flows = [
            {{ src = "h0", dst = "h2", size = "10GB" }},
            {{ src = "h1", dst = "h3", size = "10GB" }},
        ]
        [[traffic]]
        tag = "bursts"
        kind = "flows"
        flows = [{bursts}]
        [scheme]
        name = "{scheme}"
        [[probe]]
        name = "rate"
        kind = "rate"
        interval = "5us"
        flows = ["long"]
        [[probe]]
        name = "states"
        kind = "port-state"
        interval = "1us"
        ports = ["s0:s1", "s1:s2"]
        [[probe]]
        name = "root"
        kind = "port-state"
        interval = "1us"
        ports = ["s2:h3"]
        "#
    );
    run_with(&text, set)
}

fn slowest(result: &RunResult, flow: u32) -> f64 {
    let rates = values(series(result, "rate"), flow);
    rates.into_iter().map(|(_, rate)| rate).fold(f64::INFINITY, f64::min)
}

/// Protects what Mercury is for: pauses reach the first switch under every scheme, and only with
/// state-driven detection does the victim keep its rate.
#[test]
fn mercurys_victim_keeps_its_rate_and_dcqcns_does_not() {
    let blind = [("scheme.params.state_detection", "false")];
    for scheme in ["dcqcn", "timely"] {
        let result = chain(scheme, &[]);
        assert!(result.summary.pause_frames > 0);
        assert!(slowest(&result, 0) < 12e9, "{scheme}: {}", slowest(&result, 0));
    }
    let mercury = chain("mercury", &[]);
    assert!(slowest(&mercury, 0) > 19.9e9, "{}", slowest(&mercury, 0));
    assert!(slowest(&mercury, 1) < 5e9, "the culprit goes on at {}", slowest(&mercury, 1));
    assert_eq!(mercury.summary.counters["misidentified_flows"], 0);
    let blind = chain("mercury", &blind);
    assert!(slowest(&blind, 0) < 12e9, "{}", slowest(&blind, 0));
    assert_eq!(blind.summary.counters["misidentified_flows"], 1);

    // On the way the ports were undetermined; the root was congested and never that.
    assert!(series(&mercury, "states").value.contains(&2.0));
    let root = &series(&mercury, "root").value;
    assert!(root.contains(&1.0) && !root.contains(&2.0));
}

/// Protects the compositions: on TIMELY and on HPCC, too, the culprit gets a window, and no CNP
/// goes to what Mercury's detection calls a victim.
#[test]
fn mercury_works_on_timely_and_hpcc() {
    for scheme in ["mercury+timely", "mercury+hpcc"] {
        let result = chain(scheme, &[]);
        let counters = &result.summary.counters;
        assert!(counters["cnps"] > 30, "{scheme}: {counters:?}");
        assert_eq!(counters["misidentified_flows"], 0, "{scheme}");
        assert!(slowest(&result, 1) < 5e9, "{scheme}");
    }
}

/// Protects window notification (Figure 4): eight hosts send a bandwidth-delay product each into a
/// port that a long flow fills. With a window the queue peaks lower than with the cut alone.
#[test]
fn windows_keep_the_queue_of_a_burst_shorter() {
    let bursts: String = (1..9)
        .map(|host| {
            format!("{{ src = \"h{host}\", dst = \"h9\", size = \"240KB\", start = \"600us\" }},")
        })
        .collect();
    let text = format!(
        r#"
        [run]
        stop = "2ms"
        [topology]
        kind = "dumbbell"
        switches = 3
        senders = 9
        host_rate = "40Gbps"
        host_delay = "4us"
        rate = "40Gbps"
        delay = "4us"
        [pfc]
        xoff = "320KB"
        xon = "318KB"
        [[traffic]]
        kind = "flows"
        flows = [{{ src = "h0", dst = "h9", size = "10GB" }}, {bursts}]
        [scheme]
        name = "mercury"
        [[probe]]
        name = "queue"
        kind = "queue"
        interval = "1us"
        ports = ["s0:s1"]
        "#
    );
    let with = peak(&run_with(&text, &[]));
    let without = peak(&run_with(&text, &[("scheme.params.window_notification", "false")]));
    assert!(with < 0.8 * without, "{with} B with windows, {without} B without");
}

/// Protects what a CNP is for: the flow is a pair of hosts, so that each of its QPs gets the
/// window; where it is a QP each has its own.
#[test]
fn all_qps_between_two_hosts_get_the_window() {
    let text = r#"
        [run]
        stop = "1ms"
        [topology]
        kind = "dumbbell"
        switches = 1
        senders = 2
        receivers = 1
        host_rate = "40Gbps"
        host_delay = "4us"
        rate = "40Gbps"
        delay = "4us"
        [[traffic]]
        kind = "flows"
        flows = [
            { src = "h0", dst = "h2", size = "10GB" },
            { src = "h1", dst = "h2", size = "10GB" },
            { src = "h0", dst = "h2", size = "10GB", start = "20us" },
        ]
        tag = "long"
        [scheme]
        name = "mercury"
        [[probe]]
        name = "window"
        kind = "window"
        interval = "1us"
        flows = ["long"]
    "#;
    let windows = |set: &[(&str, &str)]| {
        let result = run_with(text, set);
        // Only hosts may have been paused, so that every congested port is a root.
        assert_eq!(result.summary.counters["cnps_off_root"], 0);
        let of = |flow| values(series(&result, "window"), flow);
        let since = |flow| of(flow).into_iter().filter(|(us, _)| *us > 100).collect::<Vec<_>>();
        (since(0), since(2))
    };
    let (first, second) = windows(&[]);
    assert!(first.iter().any(|(_, window)| *window < 60_000.0), "of 82 KB");
    assert!(first == second);
    let (first, second) = windows(&[("scheme.params.flow_key", "five-tuple")]);
    assert!(first != second);
}
