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
    let flows = &result.flows;
    assert_eq!(result.summary.flows_done, result.summary.flows);
    let ends = flows.start_ps.iter().zip(&flows.fct_ps).map(|(start, fct)| start + fct);
    (ends.max().unwrap() - flows.start_ps.iter().min().unwrap()) as f64 / 1e6
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
        [scheme]
        name = "dcqcn"
    "#;
    for scheme in ["dcqcn", "rcm", "expresspass"] {
        let scenario = parse(fat_tree, &[("scheme", scheme)]);
        let digest = |threads, reference_mode| {
            let options =
                RunOptions { threads: Some(threads), reference_mode, ..RunOptions::default() };
            let result = rocelab::run(&scenario, &options).unwrap();
            assert_eq!(result.summary.flows_done, 2 * 30 * 16 + 3 * 20, "{scheme}");
            result.summary.digest
        };
        let one = digest(1, false);
        assert_eq!([digest(3, false), digest(1, true)], [one.clone(), one], "{scheme}");
    }
}
