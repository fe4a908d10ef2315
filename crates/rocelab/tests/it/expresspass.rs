//! ExpressPass where packets are lost: what it says beside data is lost, too; and how flows share
//! a link when some of their credits have passed another one.

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

/// The paper's network of several bottlenecks: flow 0 shares a link with others, whose credits have
/// passed a second link of the same rate. The max-min fair share is that of all flows. If all
/// credits have one size, the second link spaces them as the first one takes them. So they always
/// find the first one's queue in the same state, and one side loses nearly all its credits.
#[test]
fn no_flow_starves_whose_credits_have_several_sizes() {
    let share = |others: usize, seed: &str, spread: &str| {
        let (senders, receiver) = (others + 1, 2 * others + 1);
        let flows: Vec<String> = (0..senders)
            .map(|from| {
                let to = if from == 0 { receiver } else { others + from };
                format!("{{ src = \"h{from}\", dst = \"h{to}\", size = \"1GB\" }}")
            })
            .collect();
        let text = format!(
            r#"
            [topology]
            kind = "dumbbell"
            switches = 3
            senders = {senders}
            receivers = {others}
            side_hosts = [0, 1, 0]
            host_rate = "10Gbps"
            host_delay = "1us"
            rate = "10Gbps"
            delay = "4us"
            [[traffic]]
            kind = "flows"
            flows = [{}]
            [[probe]]
            name = "goodput"
            kind = "goodput"
            flows = [0]
            interval = "100us"
            start = "3ms"
            [scheme]
            name = "expresspass"
            "#,
            flows.join(",")
        );
        let set =
            [("run.stop", "8ms"), ("run.seed", seed), ("scheme.params.credit_spread", spread)];
        let goodput = &run_with(&text, &set).series[0].value;
        let full = 10e9 * 1000.0 / 1198.0;
        goodput.iter().sum::<f64>() / goodput.len() as f64 / full
    };
    for (others, seed) in [(2, "1"), (48, "2")] {
        let fair = 1.0 / (others + 1) as f64;
        let of_fair = share(others, seed, "16B") / fair;
        assert!((0.33..3.0).contains(&of_fair), "{others} others: {of_fair} of the fair share");
    }
    assert!(share(48, "2", "0B") > 0.5, "nearly all goes to one of 49 flows");
}

/// Hundreds of flows share a receiver, and the credits of each are further apart than
/// `request_timeout`. Requests leave room for the data, and queues stay short.
#[test]
fn many_flows_ask_no_more_than_the_link_can_take() {
    let text = r#"
        [run]
        stop = "8ms"
        [topology]
        kind = "star"
        hosts = 301
        host_rate = "10Gbps"
        host_delay = "5us"
        [[traffic]]
        kind = "incast"
        senders = 300
        receiver = "h300"
        size = "10MB"
        [[probe]]
        name = "queue"
        kind = "queue"
        ports = ["s0:h300"]
        interval = "1us"
        start = "4ms"
        [scheme]
        name = "expresspass"
    "#;
    let queue = &run_with(text, &[]).series[0].value;
    let most = queue.iter().copied().fold(0.0, f64::max);
    assert!(most < 10_000.0, "{most} B wait");
}
