//! Priorities that PFC does not protect, beside those that it does.

use crate::common::{parse, run_with};
use rocelab::RunOptions;

/// Four flows in a lossy priority and two in a lossless one to the same host.
const MIXED: &str = r#"
    [topology]
    kind = "star"
    hosts = 7
    host_rate = "100Gbps"
    host_delay = "1us"
    [switch]
    buffer = "2MB"
    [[traffic]]
    kind = "flows"
    flows = [
        { src = "h0", dst = "h6", size = "20MB", priority = 0 },
        { src = "h1", dst = "h6", size = "20MB", priority = 0 },
        { src = "h2", dst = "h6", size = "20MB", priority = 0 },
        { src = "h3", dst = "h6", size = "20MB", priority = 0 },
        { src = "h4", dst = "h6", size = "20MB", priority = 3 },
        { src = "h5", dst = "h6", size = "20MB", priority = 3 },
    ]
    [scheme]
    name = "none"
    [run]
    stop = "2ms"
"#;

#[test]
fn lossy_traffic_takes_no_room_that_pfc_counts_on() {
    for threshold in [("pfc.threshold", "dynamic"), ("pfc.xoff", "100KB")] {
        let summary = run_with(MIXED, &[threshold]).summary;
        assert_eq!(summary.lossless_drops, 0, "{threshold:?}");
        assert!(summary.drops > 0 && summary.pause_frames > 0, "{threshold:?}");
    }
}

/// Protects the thresholds of lossless classes from lossy queues, which fill all that is free and
/// leave no share of it: with an alpha of their own both classes have what their weights say.
#[test]
fn a_share_for_lossy_queues_leaves_lossless_classes_theirs() {
    let mixed = r#"
        [topology]
        kind = "star"
        hosts = 3
        host_rate = "400Gbps"
        host_delay = "1us"
        [switch]
        buffer = "4MB"
        [classes]
        weights = [1, 1, 1, 3, 1, 1, 1, 1]
        [host]
        nack = false
        retransmit_timeout = "10ms"
        [[traffic]]
        kind = "flows"
        flows = [
            { src = "h0", dst = "h2", size = "500MB", priority = 0 },
            { src = "h1", dst = "h2", size = "500MB", priority = 3 },
        ]
        [scheme]
        name = "none"
        [[probe]]
        name = "goodput"
        kind = "goodput"
        flows = [1]
        interval = "1ms"
        start = "1ms"
        [run]
        stop = "3001us"
    "#;
    let lossless_gbps = |set: &[(&str, &str)]| {
        let result = run_with(mixed, set);
        assert_eq!(result.summary.lossless_drops, 0);
        assert!(result.summary.drops > 0);
        *result.series[0].value.last().unwrap() / 1e9
    };
    // Three quarters of the link, 1000 of each 1082 bytes.
    let by_weight = 400.0 * 0.75 * 1000.0 / 1082.0;
    let with = lossless_gbps(&[("switch.lossy_alpha", "1")]);
    assert!((with / by_weight - 1.0).abs() < 0.01, "{with} of {by_weight} Gb/s");
    let without = lossless_gbps(&[]);
    assert!(without < 0.95 * by_weight, "{without} of {by_weight} Gb/s");
}

#[test]
fn shares_of_lossy_queues_do_not_depend_on_threads() {
    for alpha in ["0.25", "8"] {
        let set = [("switch.lossy_alpha", alpha), ("run.stop", "300us")];
        let scenario = parse(MIXED, &set);
        let digest = |threads, reference_mode| {
            let options =
                RunOptions { threads: Some(threads), reference_mode, ..RunOptions::default() };
            let summary = rocelab::run(&scenario, &options).unwrap().summary;
            assert!(summary.drops > 0 && summary.lossless_drops == 0);
            summary.digest
        };
        let one = digest(1, false);
        assert_eq!([digest(3, false), digest(1, true)], [one.clone(), one], "{alpha}");
    }
}
