//! Collective operations: who waits for what, how long they take, and that threads change nothing.

use crate::common::{parse, run_with};
use rocelab::{RunOptions, RunResult};

const STAR: &str = r#"
    [topology]
    kind = "star"
    hosts = 6
    host_rate = "100Gbps"
    host_delay = "1us"
    [scheme]
    name = "hpcc"
    [[traffic]]
    kind = "collective"
    operation = "all-reduce"
    size = "12MB"
"#;

/// From the first posting to the last completion, in us.
fn lasts_us(result: &RunResult) -> f64 {
    assert_eq!(result.summary.flows_done, result.summary.flows);
    (ends_ps(result).max().unwrap() - result.flows.start_ps.iter().min().unwrap()) as f64 / 1e6
}

/// When each message is done.
fn ends_ps(result: &RunResult) -> impl Iterator<Item = u64> {
    let flows = &result.flows;
    flows.start_ps.iter().zip(&flows.fct_ps).map(|(start, fct)| start + fct)
}

/// By hand: N - 1 steps, or twice as many, of an N-th each, and in each a way through the empty
/// network.
#[test]
fn a_ring_takes_its_steps_at_line_rate() {
    for (operation, steps) in [("all-reduce", 10.0), ("reduce-scatter", 5.0), ("all-gather", 5.0)] {
        for (scheme, share) in [("none", 1.0), ("hpcc", 0.95)] {
            let set = [("traffic.0.operation", operation), ("scheme", scheme)];
            let result = run_with(STAR, &set);
            assert_eq!(result.summary.flows as f64, steps * 6.0);
            assert!(result.flows.size_bytes.iter().all(|&size| size == 2_000_000));
            // ACKs of what goes the other way share the link; HPCC adds 42 bytes of INT to each
            // packet.
            let packet = if scheme == "hpcc" { 1_124.0 + 128.0 } else { 1_082.0 + 86.0 };
            let by_hand = steps * (2_000.0 * packet * 80e-6 / share + 2.1);
            let lasts = lasts_us(&result);
            assert!(
                (lasts / by_hand - 1.0).abs() < 0.03,
                "{operation} {scheme}: {lasts} {by_hand}"
            );
        }
    }
}

/// A step begins when the part of the step before has arrived: no sooner than its bytes take, no
/// later than its sender knows.
#[test]
fn a_host_passes_on_what_has_come() {
    let flows =
        run_with(STAR, &[("traffic.0.repeat", "2"), ("traffic.0.compute_time", "70us")]).flows;
    let hosts = 6;
    assert_eq!(flows.len(), 2 * 10 * hosts);
    for row in hosts..flows.len() {
        let (step, place) = (row / hosts, row % hosts);
        let before = (step - 1) * hosts + (place + hosts - 1) % hosts;
        assert_eq!((flows.dst[before], flows.qp_id[row]), (flows.src[row], place as u32));
        let computes = if step == 10 { 70_000_000 } else { 0 };
        let arrived = flows.start_ps[row] - computes - flows.start_ps[before];
        // The ACK's way back takes 2 us and more.
        assert!(arrived + 2_000_000 < flows.fct_ps[before], "row {row}");
        assert!(arrived + 20_000_000 > flows.fct_ps[before], "row {row}");
    }
}

#[test]
fn all_to_all_fills_the_links() {
    let set = [("traffic.0.operation", "all-to-all"), ("scheme", "none")];
    let result = run_with(STAR, &set);
    assert_eq!(result.summary.flows, 30);
    // Each host sends and receives five parts of 2 MB, and ACKs beside.
    let by_hand = 5.0 * 2_000.0 * (1_082.0 + 86.0) * 80e-6 + 4.2;
    let lasts = lasts_us(&result);
    assert!((lasts / by_hand - 1.0).abs() < 0.03, "{lasts} {by_hand}");
    // The second time waits for the other's part, pair by pair.
    let flows = run_with(STAR, &[set[0], set[1], ("traffic.0.repeat", "2")]).flows;
    for row in 30..60 {
        let ends = (flows.dst[row], flows.src[row]);
        let before = (0..30).find(|&other| (flows.src[other], flows.dst[other]) == ends).unwrap();
        let arrived = flows.start_ps[row] - flows.start_ps[before];
        assert!(arrived < flows.fct_ps[before] && arrived + 50_000_000 > flows.fct_ps[before]);
        let same_way = (0..30).find(|&other| flows.qp_id[other] == flows.qp_id[row]).unwrap();
        assert_eq!((flows.src[same_way], flows.dst[same_way]), (flows.src[row], flows.dst[row]));
    }
}

/// When the last byte of each message arrives: the ACK's way back through the empty star is known.
fn arrivals_ps(result: &RunResult) -> Vec<u64> {
    let back = 2 * 1_000_000 + 2 * 86 * 80;
    ends_ps(result).map(|end| end - back).collect()
}

#[test]
fn with_a_barrier_a_host_goes_on_when_it_has_all_parts() {
    let set = [
        ("traffic.0.operation", "all-to-all"),
        ("traffic.0.repeat", "2"),
        ("traffic.0.barrier", "true"),
        ("traffic.0.compute_time", "30us"),
        ("scheme", "none"),
        // ACKs wait for nothing, so that arrivals are known.
        ("classes.ack", "7"),
    ];
    let result = run_with(STAR, &set);
    let (flows, arrivals) = (&result.flows, arrivals_ps(&result));
    assert_eq!(flows.len(), 60);
    for host in 0..6 {
        let begins: Vec<u64> =
            (30..60).filter(|&row| flows.src[row] == host).map(|row| flows.start_ps[row]).collect();
        assert!(begins.len() == 5 && begins.iter().all(|&start| start == begins[0]), "{begins:?}");
        let last = (0..30).filter(|&row| flows.dst[row] == host).map(|row| arrivals[row]).max();
        let late = begins[0].abs_diff(last.unwrap() + 30_000_000);
        // An ACK may wait behind a packet of data that is being sent.
        assert!(late < 2 * 1_082 * 80 + 1, "host {host}: {late} ps");
    }
}

/// Partition and aggregate: workers answer, and then the aggregator sends to all of them. By hand:
/// the first phase takes the bytes of five messages on the aggregator's link, so does the second.
#[test]
fn phases_follow_each_other() {
    let text = r#"
        [topology]
        kind = "star"
        hosts = 6
        host_rate = "100Gbps"
        host_delay = "1us"
        [scheme]
        name = "none"
        [[traffic]]
        kind = "incast"
        tag = "gather"
        senders = ["h1..h5"]
        receiver = "h0"
        size = "2MB"
        [[traffic]]
        kind = "flows"
        tag = "scatter"
        after = "gather"
        after_delay = "40us"
        flows = [
            { src = "h0", dst = "h1", size = "2MB" },
            { src = "h0", dst = "h2", size = "2MB" },
            { src = "h0", dst = "h3", size = "2MB" },
            { src = "h0", dst = "h4", size = "2MB" },
            { src = "h0", dst = "h5", size = "2MB", start = "5ms" },
        ]
    "#;
    let result = run_with(text, &[]);
    let flows = &result.flows;
    assert_eq!((result.summary.flows_done, flows.len()), (10, 10));
    let by_hand = 5 * 2_000 * 1_082 * 80 + 40_000_000 + 2_100_000;
    for row in 5..9 {
        let ratio = flows.start_ps[row] as f64 / f64::from(by_hand);
        assert!((ratio - 1.0).abs() < 0.002, "{row}: {ratio}");
    }
    // The last one has a start of its own, which is later.
    assert_eq!(flows.start_ps[9], 5_000_000_000);
}

#[test]
fn threads_and_the_reference_engine_agree() {
    let fat_tree = r#"
        [topology]
        kind = "fat-tree"
        k = 4
        host_rate = "100Gbps"
        host_delay = "1us"
        rate = "100Gbps"
        delay = "1us"
        [[traffic]]
        kind = "collective"
        operation = "all-reduce"
        size = "1MB"
        repeat = 2
        compute_time = "10us"
        [[traffic]]
        kind = "collective"
        operation = "all-to-all"
        hosts = ["h3", "h9", "h1", "h14", "h6"]
        size = "500KB"
        repeat = 3
        [[traffic]]
        kind = "collective"
        tag = "dispatch"
        operation = "all-to-all"
        size = "160KB"
        repeat = 2
        barrier = true
        [[traffic]]
        kind = "permutation"
        after = "dispatch"
        after_delay = "1us"
        size = "40KB"
        [scheme]
        name = "dcqcn"
    "#;
    for scheme in ["dcqcn", "rcm", "expresspass"] {
        let scenario = parse(fat_tree, &[("scheme", scheme)]);
        let digest = |threads, reference_mode| {
            let options =
                RunOptions { threads: Some(threads), reference_mode, ..RunOptions::default() };
            let result = rocelab::run(&scenario, &options).unwrap();
            assert_eq!(result.summary.flows_done, 2 * 30 * 16 + 3 * 20 + 2 * 240 + 16, "{scheme}");
            result.summary.digest
        };
        let one = digest(1, false);
        assert_eq!([digest(3, false), digest(1, true)], [one.clone(), one], "{scheme}");
    }
}
