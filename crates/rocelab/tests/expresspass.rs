//! ExpressPass where packets are lost: what it says beside data is lost, too.

mod common;

use common::run_with;

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
    flows = 300
    [scheme]
    name = "expresspass"
    [run]
    stop = "flows-done"
    limit = "20ms"
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
