//! The HPCC simulator's completion times, to the nanosecond, where its ways are asked for.
//!
//! Three switches in a row, cables of 100 Gb/s and 1.5 us, the preset `hpcc-ns3` with RATE_AI 50
//! Mb/s: INT, the law, pacing and the window all have a part in every flow that is longer than the
//! first round trip.

use crate::common::run;

/// Completion times, in ns, of flows given as source, size and start.
fn completion_times(flows: &[(&str, &str, &str)]) -> Vec<u64> {
    let flows: Vec<String> = flows
        .iter()
        .map(|(src, size, start)| {
            format!(r#"{{ src = "{src}", dst = "h2", size = "{size}", start = "{start}" }}"#)
        })
        .collect();
    let result = run(&format!(
        r#"
        [topology]
        kind = "dumbbell"
        switches = 3
        senders = 2
        host_rate = "100Gbps"
        host_delay = "1.5us"
        rate = "100Gbps"
        delay = "1.5us"
        [[traffic]]
        kind = "flows"
        flows = [{}]
        [scheme]
        name = "hpcc"
        preset = "hpcc-ns3"
        params = {{ rate_ai = "50Mbps" }}
        [wire]
        profile = "hpcc-ns3"
        [classes]
        ack = "data"
        strict = []
        [quirks]
        whole_nanoseconds = true
        one_way_rtt = true
        scan_queue_pairs = true
        missed_wakeup = true
        stale_scan_index = true
        ns3_tie_order = true
        "#,
        flows.join(", ")
    ));
    result.flows.fct_ps.iter().map(|fct| fct / 1000).collect()
}

/// A flow a time. All of them, as records are rounded by what the ports have sent before.
#[test]
fn lone_flows_take_as_long() {
    let flows = [
        ("1B", 12_056),
        ("500B", 12_216),
        ("1KB", 12_376),
        ("1001B", 12_383),
        ("2KB", 12_463),
        ("10KB", 13_159),
        ("64KB", 17_857),
        ("65536B", 17_994),
        ("100KB", 20_989),
        ("154KB", 25_727),
        ("155KB", 25_820),
        ("1MB", 103_650),
        ("10MB", 929_231),
    ];
    let starts = (0..).step_by(2).map(|ms| format!("{ms}ms"));
    let starts: Vec<String> = starts.take(flows.len()).collect();
    let asked: Vec<_> =
        flows.iter().zip(&starts).map(|((size, _), start)| ("h0", *size, start.as_str())).collect();
    assert_eq!(completion_times(&asked), flows.map(|(_, fct)| fct));
}

/// Two of 200 KB that meet at the first switch, and queue there.
#[test]
fn two_flows_that_meet_take_as_long() {
    let flows = [("h0", "200KB", "0ns"), ("h1", "200KB", "4999ns")];
    assert_eq!(completion_times(&flows), [42_304, 42_808]);
}
