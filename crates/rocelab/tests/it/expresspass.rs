//! ExpressPass where packets are lost: what it says beside data is lost, too.

use crate::common::{parse, run_with};
use rocelab::RunOptions;

/// Short messages, each with a QP of its own, where a packet in a hundred is damaged.
const SHORT: &str = r#"
    [topology]
    kind = "star"
    hosts = 8
    host_rate = "100Gbps"
    host_delay = "1us"
    [wire]
    error_rate = 0.01
    [[traffic]]
    kind = "poisson"
    cdf = [[20000, 0.0], [20001, 1.0]]
    load = 0.2
    messages = 300
    [scheme]
    name = "expresspass"
    [run]
    stop = "flows-done"
    time_limit = "20ms"
"#;

/// An ACK that is lost when all has arrived: the sender's next request is answered with another.
#[test]
fn messages_end_though_their_last_acks_are_lost() {
    for seed in ["1", "2", "3"] {
        let summary = run_with(SHORT, &[("run.seed", seed)]).summary;
        assert_eq!(summary.flows_done, 300, "seed {seed}");
    }
}

/// A stop that is lost: the receiver ends by itself.
#[test]
fn credits_end_though_stops_are_lost() {
    for seed in ["1", "2", "3"] {
        let sent = |stop| {
            let counters =
                run_with(SHORT, &[("run.seed", seed), ("run.stop", stop)]).summary.counters;
            counters["credits_sent"]
        };
        assert_eq!(sent("5ms"), sent("10ms"), "seed {seed}");
    }
}

/// Protects from credits that wait for data: their class goes before all else, or the run is
/// refused.
#[test]
fn credits_that_others_may_go_before_are_refused() {
    let refused = |set: &[(&str, &str)]| {
        let error = rocelab::run(&parse(SHORT, set), &RunOptions::default()).err();
        error.map(|error| error.to_string())
    };
    let behind = [
        [("classes.strict", "[6]"), ("scheme.params.credit_priority", "7")],
        // Above data, but not strict.
        [("classes.data", "3"), ("scheme.params.credit_priority", "5")],
        // Strict, but below ACKs and control packets.
        [("classes.strict", "[5, 6]"), ("scheme.params.credit_priority", "5")],
    ];
    for set in behind {
        let why = refused(&set).unwrap_or_else(|| panic!("{set:?} is accepted"));
        let priority = set[1].1;
        assert!(why.contains(&format!("priority {priority}")), "{why}");
        assert!(why.contains("classes.strict"), "{why}");
    }
    let ahead = [
        ("classes.strict", "[5]"),
        ("classes.ack", "4"),
        ("classes.control", "4"),
        ("scheme.params.credit_priority", "5"),
        ("run.time_limit", "1us"),
    ];
    assert_eq!(refused(&ahead), None);
}
