//! Priorities that PFC does not protect, beside those that it does.

mod common;

use common::run_with;

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
