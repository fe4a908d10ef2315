//! RCM and its CIOQ switches in whole networks.

use crate::common::{run_on, run_with};
use rocelab::RunResult;

fn values<'a>(result: &'a RunResult, name: &str) -> &'a [f64] {
    &result.series.iter().find(|series| series.name == name).expect("there is such a series").value
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Four hosts on 25 Gb/s links, whose flows enter the last switch by one port, and at 150 us a
/// burst of 250 KB by another, all to `d`.
const BURST: &str = r#"
    [topology]
    kind = "custom"
    nodes = [
        { name = "i0", kind = "host" },
        { name = "i1", kind = "host" },
        { name = "i2", kind = "host" },
        { name = "i3", kind = "host" },
        { name = "b", kind = "host" },
        { name = "d", kind = "host" },
        { name = "near", kind = "switch", tier = 1 },
        { name = "far", kind = "switch", tier = 1 },
        { name = "last", kind = "switch", tier = 1 },
    ]
    links = [
        { a = "i0", b = "near", rate = "25Gbps", delay = "1us" },
        { a = "i1", b = "near", rate = "25Gbps", delay = "1us" },
        { a = "i2", b = "near", rate = "25Gbps", delay = "1us" },
        { a = "i3", b = "near", rate = "25Gbps", delay = "1us" },
        { a = "b", b = "far", rate = "100Gbps", delay = "1us" },
        { a = "near", b = "last", rate = "100Gbps", delay = "1us" },
        { a = "far", b = "last", rate = "100Gbps", delay = "1us" },
        { a = "d", b = "last", rate = "100Gbps", delay = "1us" },
    ]
    [[traffic]]
    kind = "flows"
    tag = "incast"
    flows = [
        { src = "i0", dst = "d", size = "1GB" },
        { src = "i1", dst = "d", size = "1GB" },
        { src = "i2", dst = "d", size = "1GB" },
        { src = "i3", dst = "d", size = "1GB" },
    ]
    [[traffic]]
    kind = "flows"
    tag = "burst"
    flows = [{ src = "b", dst = "d", size = "250KB", start = "150us" }]
    [run]
    stop = "181us"
    [[probe]]
    name = "first"
    kind = "goodput"
    start = "154us"
    end = "160us"
    interval = "6us"
    flows = ["incast", "burst"]
    [[probe]]
    name = "then"
    kind = "goodput"
    start = "164us"
    end = "180us"
    interval = "16us"
    flows = ["incast", "burst"]
    [[probe]]
    name = "root"
    kind = "port-state"
    start = "170us"
    interval = "1us"
    ports = ["last:d"]
    [[probe]]
    name = "edge"
    kind = "port-state"
    start = "170us"
    interval = "1us"
    ports = ["far:last"]
    [[probe]]
    name = "inputs"
    kind = "input-queue"
    interval = "500ns"
    nodes = ["last"]
"#;

/// Protects what the paper's figure 6 shows: the burst takes half of the link, as inputs share it
/// evenly, and RCC gives it a third (a full output queue that grows no more has four fifths of the
/// greatest Fb, which cuts by two fifths); without RCC it keeps the half. The root is at the last
/// switch, the edge at the burst's.
#[test]
fn a_burst_gives_way_to_the_flows_that_were_there() {
    // 1000 of 1082 bytes are data.
    let link = 100e9 * 1000.0 / 1082.0;
    for (rcc, expected) in [("true", 0.33), ("false", 0.5)] {
        let set = [("scheme", &*format!("{{ name = \"rcm\", params = {{ rcc = {rcc} }} }}"))];
        let result = run_with(BURST, &set);
        assert_eq!(result.summary.lossless_drops, 0);
        let (first, then) = (values(&result, "first"), values(&result, "then"));
        assert!((first[4] / link - 0.5).abs() < 0.03, "{first:?}");
        assert!((then[4] / link - expected).abs() < 0.06, "rcc {rcc}: {then:?}");
        let incast = mean(&then[..4]) / link;
        assert!((incast - (1.0 - expected) / 4.0).abs() < 0.02, "rcc {rcc}: {then:?}");
        let most = values(&result, "inputs").iter().copied().fold(0.0, f64::max);
        assert!(most > 20_000.0 && most <= 100_000.0, "{most}");
        let share = |name, state| {
            let states = values(&result, name);
            states.iter().filter(|value| **value == state).count() as f64 / states.len() as f64
        };
        if rcc == "true" {
            assert!(share("root", 1.0) > 0.9, "{:?}", values(&result, "root"));
            assert!(share("edge", 2.0) + share("edge", 3.0) > 0.9, "{:?}", values(&result, "edge"));
        }
    }
}

/// A k = 4 fat tree: uniform traffic with 15 % to two hot hosts.
const HOT_SPOT: &str = r#"
    [topology]
    kind = "fat-tree"
    k = 4
    host_rate = "100Gbps"
    host_delay = "1us"
    rate = "100Gbps"
    delay = "1us"
    [[traffic]]
    kind = "poisson"
    tag = "background"
    cdf = [[30000, 0.0], [50000, 1.0]]
    load = 0.6
    duration = "200us"
    [[traffic]]
    kind = "poisson"
    tag = "hot"
    cdf = [[30000, 0.0], [50000, 1.0]]
    load = 0.2
    duration = "200us"
    receivers = ["h0..h1"]
    [run]
    time_limit = "100ms"
"#;

/// Protects the engine's promise, PFC's, and the order of packets: only flows that SAR moves are
/// reordered, few of them where it moves new flows alone (one that waited for long counts as new),
/// and what was reordered is counted.
#[test]
fn a_hot_spot_is_the_same_on_any_threads_and_keeps_order() {
    let mut reordered = vec![];
    for params in ["sar = false", "detour = \"new-flows\"", "detour = \"any\""] {
        let scheme = format!("{{ name = \"rcm\", params = {{ {params} }} }}");
        let set = [("scheme", scheme.as_str())];
        let first = run_on(HOT_SPOT, &set, 1);
        assert_eq!(first.summary.flows_done, first.summary.flows, "{params}");
        assert_eq!(first.summary.lossless_drops, 0, "{params}");
        assert!(first.summary.counters["notices"] > 0, "{params}");
        assert_eq!(first.summary.counters["detours"] > 0, params != "sar = false");
        for threads in [2, 4] {
            let other = run_on(HOT_SPOT, &set, threads);
            assert_eq!(other.summary.digest, first.summary.digest, "{params}, {threads} threads");
        }
        reordered.push(first.summary.out_of_order_packets);
    }
    assert_eq!(reordered[0], 0, "without detours");
    assert!(reordered[1] * 10 < reordered[2], "{reordered:?}");
}

/// Protects that CIOQ switches go with other schemes, and that those with queues of their own are
/// refused with one line.
#[test]
fn other_schemes_run_on_cioq_switches() {
    for scheme in ["none", "dcqcn"] {
        let result = run_with(HOT_SPOT, &[("scheme", scheme), ("switch.architecture", "cioq")]);
        assert_eq!(result.summary.flows_done, result.summary.flows, "{scheme}");
        assert_eq!(result.summary.lossless_drops, 0, "{scheme}");
    }
}

/// A host's second flow takes the place of its first one in the host's memory, and leaves for
/// elsewhere while switches still remember the first.
#[test]
fn a_flow_that_begins_as_another_ends_has_its_own_way() {
    let result = run_with(
        r#"
        [topology]
        kind = "custom"
        nodes = [
            { name = "h", kind = "host" },
            { name = "a", kind = "host" },
            { name = "b", kind = "host" },
            { name = "s", kind = "switch", tier = 1 },
            { name = "m0", kind = "switch", tier = 2 },
            { name = "m1", kind = "switch", tier = 2 },
            { name = "m2", kind = "switch", tier = 2 },
            { name = "m3", kind = "switch", tier = 2 },
            { name = "sa", kind = "switch", tier = 1 },
            { name = "sb", kind = "switch", tier = 1 },
        ]
        links = [
            { a = "h", b = "s", rate = "100Gbps", delay = "1us" },
            { a = "a", b = "sa", rate = "100Gbps", delay = "1us" },
            { a = "b", b = "sb", rate = "100Gbps", delay = "1us" },
            { a = "s", b = "m0", rate = "100Gbps", delay = "1us" },
            { a = "s", b = "m1", rate = "100Gbps", delay = "1us" },
            { a = "s", b = "m2", rate = "100Gbps", delay = "1us" },
            { a = "s", b = "m3", rate = "100Gbps", delay = "1us" },
            { a = "sa", b = "m0", rate = "100Gbps", delay = "1us" },
            { a = "sa", b = "m1", rate = "100Gbps", delay = "1us" },
            { a = "sb", b = "m2", rate = "100Gbps", delay = "1us" },
            { a = "sb", b = "m3", rate = "100Gbps", delay = "1us" },
        ]
        [[traffic]]
        kind = "flows"
        flows = [
            { src = "h", dst = "a", size = "20KB" },
            { src = "h", dst = "b", size = "20KB", start = "40us" },
        ]
        [scheme]
        name = "rcm"
        [run]
        stop = "1ms"
        "#,
        &[],
    );
    assert_eq!(result.summary.flows_done, 2);
}
