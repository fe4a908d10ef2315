//! HierCC in whole networks.

use crate::common::run_with;
use rocelab::RunResult;

/// The paper's smaller network: 4 ToRs in 2 pods, 16 hosts each, 25 Gb/s under 100 Gb/s.
const PODS: &str = r#"
    [topology]
    kind = "three-tier"
    pods = 2
    tors_per_pod = 2
    aggs_per_pod = 2
    cores = 2
    hosts_per_tor = 16
    host_rate = "25Gbps"
    host_delay = "1us"
    agg_rate = "100Gbps"
    agg_delay = "1us"
    core_rate = "100Gbps"
    core_delay = "1us"
    [scheme]
    name = "hiercc"
"#;

fn values<'a>(result: &'a RunResult, name: &str) -> &'a [f64] {
    &result.series.iter().find(|series| series.name == name).expect("there is such a series").value
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Probes of the first sender's VOQ and of the downlink to `h63`.
const PROBES: &str = r#"
    [[probe]]
    name = "used"
    kind = "utilisation"
    interval = "10us"
    start = "100us"
    ports = ["tor3:h63"]
    [[probe]]
    name = "queue"
    kind = "queue"
    interval = "500ns"
    ports = ["tor3:h63"]
    [[probe]]
    name = "voq"
    kind = "flow-queue"
    interval = "1us"
    nodes = ["h0"]
    [[probe]]
    name = "credits"
    kind = "flow-credits"
    interval = "1us"
    nodes = ["h0"]
    [[probe]]
    name = "rate"
    kind = "flow-rate"
    interval = "1us"
    nodes = ["h0"]
"#;

fn in_pods(preset: &str, rest: &str, set: &[(&str, &str)]) -> RunResult {
    run_with(&format!("{PODS}\npreset = \"{preset}\"\n{PROBES}\n{rest}"), set)
}

/// The round trip between ToRs of two pods, 8 links of 1 us and what packets take on them, is less
/// than this many bytes of a downlink.
const FILL: f64 = 27_500.0;

/// The three forms of the credit loop. To the letter, C0 = 10 KB in a round trip of 8.4 us are 9.5
/// Gb/s of 25, and its own credits prove the sender's ToR right to slow it down.
#[test]
fn the_papers_c0_does_not_fill_the_path_between_pods_and_the_others_do() {
    let traffic = r#"
        [run]
        stop = "1ms"
        [[traffic]]
        kind = "flows"
        flows = [{ src = "h0", dst = "h63", size = "1GB" }]
    "#;
    for (preset, least, most_used) in
        [("hiercc-path", 0.98, 1.01), ("hiercc-paper", 0.33, 0.38), ("hiercc-ahead", 0.98, 1.01)]
    {
        let result = in_pods(preset, traffic, &[]);
        let used = mean(values(&result, "used"));
        assert!((least..most_used).contains(&used), "{preset} uses {used} of the link");
        assert!(most(values(&result, "queue")) < 5_000.0, "{preset} leaves no queue");
        let credits = most(values(&result, "credits"));
        let c0 = if preset == "hiercc-path" { FILL } else { 10_000.0 };
        assert!(credits < c0 + 1_000.0, "{preset} has {credits} B of credits");
        assert_eq!(result.summary.drops, 0);
    }
}

/// Senders hear of R(t) by the packets that they mark: where all of a receiver's senders are in one
/// rack, nobody fills the link while they wait for it.
#[test]
fn the_senders_of_one_rack_fill_the_link() {
    for last in [2, 8] {
        let traffic = format!(
            r#"
            [run]
            stop = "3ms"
            [[traffic]]
            kind = "incast"
            senders = ["h0..h{last}"]
            receiver = "h63"
            size = "100MB"
            "#
        );
        let late = [("probe.0.start", "1ms")];
        let used = mean(values(&in_pods("hiercc-path", &traffic, &late), "used"));
        assert!(used > 0.99, "{} senders use {used} of the link", last + 1);
    }
}

/// R_line is the sender's: a rack's fast host is not held to the rate of a slow one that used the
/// VOQ before it.
#[test]
fn a_slow_host_does_not_slow_the_others_of_its_rack_down() {
    let result = run_with(
        r#"
        [topology]
        kind = "custom"
        nodes = [
            { name = "slow", kind = "host" },
            { name = "fast", kind = "host" },
            { name = "to", kind = "host" },
            { name = "tor0", kind = "switch", tier = 1 },
            { name = "tor1", kind = "switch", tier = 1 },
        ]
        links = [
            { a = "slow", b = "tor0", rate = "25Gbps", delay = "1us" },
            { a = "fast", b = "tor0", rate = "100Gbps", delay = "1us" },
            { a = "tor0", b = "tor1", rate = "100Gbps", delay = "1us" },
            { a = "to", b = "tor1", rate = "100Gbps", delay = "1us" },
        ]
        [scheme]
        name = "hiercc"
        [run]
        stop = "1ms"
        [[traffic]]
        kind = "flows"
        flows = [
            { src = "slow", dst = "to", size = "1KB" },
            { src = "fast", dst = "to", size = "1GB", start = "100us" },
        ]
        [[probe]]
        name = "used"
        kind = "utilisation"
        interval = "10us"
        start = "500us"
        ports = ["tor1:to"]
        "#,
        &[],
    );
    let used = mean(values(&result, "used"));
    assert!(used > 0.9, "{used} of the link");
}

/// A C0 that fills the path fills it whatever the size of packets: the VOQ of a flow alone, whose
/// host is no faster than the downlink, stays empty but for the packet that is on its way.
#[test]
fn a_lone_flow_leaves_no_queue_in_its_voq() {
    for payload in ["256B", "1000B", "1456B", "4096B"] {
        let scenario = format!(
            r#"
            [topology]
            kind = "dumbbell"
            switches = 3
            senders = 1
            host_rate = "100Gbps"
            host_delay = "1.5us"
            rate = "100Gbps"
            delay = "1.5us"
            [wire]
            payload = "{payload}"
            [scheme]
            name = "hiercc"
            preset = "hiercc-path"
            [[traffic]]
            kind = "flows"
            flows = [{{ src = "h0", dst = "h1", size = "1GB" }}]
            [[probe]]
            name = "voq"
            kind = "flow-queue"
            interval = "1us"
            nodes = ["h0"]
            [run]
            stop = "1ms"
            "#
        );
        let voq = most(values(&run_with(&scenario, &[]), "voq"));
        assert!(voq < 9_000.0, "a VOQ of {voq} B with a payload of {payload}");
    }
}

/// Racks x C0 at the receiving ToR (section 1), also where ACKs of as much data the other way take
/// their part of the link; and no VOQ far beyond V_high: what 16 hosts send in a round trip of the
/// first hop comes on top.
#[test]
fn queues_are_bounded_whatever_the_incast() {
    let traffic = |size: &str| {
        format!(
            r#"
            [run]
            stop = "3ms"
            [[traffic]]
            kind = "incast"
            senders = ["h0..h47"]
            receiver = "h63"
            size = "{size}"
            [[traffic]]
            kind = "flows"
            flows = [{{ src = "h63", dst = "h0", size = "1GB" }}]
            "#
        )
    };
    for (preset, c0) in [("hiercc-path", FILL), ("hiercc-paper", 10_000.0)] {
        let result = in_pods(preset, &traffic("1MB"), &[]);
        let bound = 3.0 * (c0 + 1_000.0) + 1_000.0;
        let queue = most(values(&result, "queue"));
        assert!(queue < bound, "{preset}: {queue} B at the downlink, above {bound}");
        let voq = most(values(&result, "voq"));
        assert!((70_000.0..230_000.0).contains(&voq), "{preset}: a VOQ of {voq} B");
        assert!(result.summary.counters["stop_messages"] > 0);
        let used = mean(values(&result, "used"));
        assert!(used > 0.97, "{preset}: {used} of the downlink used");
        assert_eq!((result.summary.drops, result.summary.pause_frames), (0, 0));
    }
    // The queues of DCQCN, for the comparison to mean something.
    let dcqcn = in_pods(
        "hiercc-path",
        &traffic("1MB"),
        &[
            ("scheme", "dcqcn"),
            ("probe.2.kind", "rate"),
            ("probe.3.kind", "rate"),
            ("probe.4.kind", "rate"),
        ],
    );
    assert!(most(values(&dcqcn, "queue")) > 5.0 * FILL);
}

/// Section 5.1: a long flow keeps the link while 15 short ones come and go, and all is sent.
#[test]
fn bursts_stay_in_the_voq_and_leave_the_link_full() {
    let traffic = r#"
        [run]
        stop = "5ms"
        [[traffic]]
        kind = "flows"
        flows = [{ src = "h0", dst = "h63", size = "1GB" }]
        [[traffic]]
        kind = "bursts"
        tag = "burst"
        src = ["h1..h15"]
        dst = ["h63"]
        size = "75KB"
        start = "1ms"
        period = "2ms"
        count = 2
    "#;
    let result = in_pods("hiercc-path", traffic, &[]);
    assert_eq!((result.summary.flows_done, result.summary.drops), (30, 0));
    assert!(most(values(&result, "queue")) < FILL + 2_000.0, "one rack, one C0");
    assert!(most(values(&result, "voq")) < 230_000.0);
    let used = mean(values(&result, "used"));
    assert!(used > 0.97, "{used} of the link used");
    let rates = values(&result, "rate");
    assert!(rates.contains(&0.0) && rates.contains(&25e9), "stopped, and at line rate");
}

/// Credits go by the number of flows: of three flows from one rack and one from another the one has
/// not half of the link. It has more than a quarter, because equation 1 lets the VOQ of the three
/// run dry at times.
#[test]
fn credits_go_by_the_number_of_flows() {
    let traffic = r#"
        [run]
        stop = "4ms"
        [[traffic]]
        kind = "flows"
        flows = [
            { src = "h0", dst = "h63", size = "1GB" },
            { src = "h1", dst = "h63", size = "1GB" },
            { src = "h2", dst = "h63", size = "1GB" },
            { src = "h16", dst = "h63", size = "1GB" },
        ]
        [[probe]]
        name = "share"
        kind = "throughput"
        interval = "2ms"
        start = "1ms"
        ports = ["h16:tor1"]
    "#;
    let result = in_pods("hiercc-path", traffic, &[]);
    let share = values(&result, "share")[0] / (25e9 / 4.0);
    assert!((0.95..1.4).contains(&share), "the one has {share} of its share");
}

/// Hosts of the receiver's own rack get the share that their credits allow, although they leave
/// their VOQ through the receiver's own port.
#[test]
fn flows_of_the_own_rack_have_their_share_too() {
    for (near, far) in [(1, 6), (6, 1), (3, 3)] {
        let mut traffic =
            "[run]\nstop = \"4ms\"\n[[traffic]]\nkind = \"flows\"\nflows = [\n".to_owned();
        let hosts = (48..48 + near).chain(0..far);
        for host in hosts {
            traffic += &format!("{{ src = \"h{host}\", dst = \"h63\", size = \"1GB\" }},\n");
        }
        traffic += "]\n";
        for (name, port) in [("near", "h48:tor3"), ("far", "h0:tor0")] {
            traffic += &format!(
                "[[probe]]\nname = \"{name}\"\nkind = \"throughput\"\ninterval = \"2ms\"\n\
                 start = \"1ms\"\nports = [\"{port}\"]\n"
            );
        }
        // At 100 Gb/s, where VOQs do not run dry.
        let rates = [
            ("topology.host_rate", "100Gbps"),
            ("topology.agg_rate", "400Gbps"),
            ("topology.core_rate", "400Gbps"),
        ];
        let result = in_pods("hiercc-path", &traffic, &rates);
        for name in ["near", "far"] {
            let share = values(&result, name)[0] / (100e9 / f64::from(near + far));
            assert!((0.95..1.05).contains(&share), "{near} near, {far} far: {name} has {share}");
        }
    }
}

/// Within a rack the loop is in one switch; on every shape of network all is delivered, with
/// nothing dropped.
#[test]
fn every_network_delivers_everything() {
    let shapes = [
        r#"kind = "star"
           hosts = 8
           host_rate = "100Gbps"
           host_delay = "1us""#,
        r#"kind = "leaf-spine"
           leaves = 4
           spines = 2
           hosts_per_leaf = 4
           host_rate = "100Gbps"
           host_delay = "1us"
           rate = "100Gbps"
           delay = "1us""#,
        r#"kind = "fat-tree"
           k = 4
           host_rate = "100Gbps"
           host_delay = "1us"
           rate = "100Gbps"
           delay = "1us""#,
    ];
    for shape in shapes {
        for (key, value) in [
            ("voq_per", "host"),
            ("voq_per", "rack"),
            ("control_scope", "pod"),
            ("sent_counter", "joined"),
        ] {
            let text = format!(
                r#"
                [run]
                time_limit = "20ms"
                [topology]
                {shape}
                [scheme]
                name = "hiercc"
                params = {{ {key} = "{value}" }}
                [[traffic]]
                kind = "incast"
                senders = 7
                receiver = "h0"
                size = "300KB"
                [[traffic]]
                kind = "permutation"
                size = "200KB"
                [[traffic]]
                kind = "flows"
                flows = [
                    {{ src = "h1", dst = "h0", size = "100KB", start = "50us" }},
                    {{ src = "h2", dst = "h0", size = "1B", start = "60us" }},
                ]
                "#
            );
            let result = run_with(&text, &[]);
            let summary = &result.summary;
            assert_eq!(summary.flows_done, summary.flows, "{key} = {value} on {shape}");
            assert_eq!(summary.drops, 0, "{key} = {value} on {shape}");
        }
    }
}

/// The budget of VOQs, and the two ways to need fewer (section 4).
#[test]
fn the_budget_of_voqs_is_reported() {
    let traffic = r#"
        [run]
        time_limit = "10ms"
        [[traffic]]
        kind = "incast"
        senders = ["h0..h59"]
        receiver = "h63"
        size = "20KB"
    "#;
    let voqs = |set: &[(&str, &str)]| {
        let result = in_pods("hiercc-path", traffic, set);
        assert_eq!((result.summary.flows_done, result.summary.drops), (60, 0), "{set:?}");
        (result.summary.counters["voqs"], result.summary.counters["voqs_used"])
    };
    assert_eq!(voqs(&[]), (4 * 64, 4), "hosts x ToRs");
    assert_eq!(voqs(&[("scheme.params.voq_per", "rack")]), (4 * 4, 4), "ToRs x ToRs");
    assert_eq!(
        voqs(&[("scheme.params.control_scope", "pod")]),
        (4 * 32, 2),
        "hosts of a pod x ToRs"
    );
}

/// Eight hosts in two racks, with two ways between those.
fn in_two_racks(rest: &str, set: &[(&str, &str)]) -> RunResult {
    let network = r#"
        [scheme]
        name = "hiercc"
        [topology]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 4
        host_rate = "25Gbps"
        host_delay = "1us"
        rate = "100Gbps"
        delay = "1us"
    "#;
    run_with(&format!("{network}{rest}"), set)
}

/// What is lost, credits and the word to go on among it, delays flows and does not end them.
#[test]
fn flows_end_though_credits_are_lost() {
    let result = in_two_racks(
        r#"
        [[traffic]]
        kind = "flows"
        flows = [
            { src = "h0", dst = "h4", size = "5MB" },
            { src = "h1", dst = "h4", size = "5MB" },
            { src = "h2", dst = "h5", size = "5MB" },
            { src = "h3", dst = "h2", size = "5MB" },
        ]
        [wire]
        error_rate = 1e-3
        [run]
        time_limit = "2s"
        "#,
        &[],
    );
    assert_eq!(result.summary.flows_done, 4);
    assert!(result.summary.lost_packets > 10);
}

/// Losses cost what they cost without credits, and no more: C0 is 16 packets here, and in a
/// millisecond six credits are lost and 12 packets of data. A VOQ that starves is still for 10 ms.
#[test]
fn losses_do_not_eat_up_the_credits() {
    let goodput = |set: &[(&str, &str)]| {
        let result = in_two_racks(
            r#"
            [host]
            retransmit_timeout = "100us"
            [[traffic]]
            kind = "flows"
            flows = [
                { src = "h0", dst = "h4", size = "1GB" },
                { src = "h1", dst = "h5", size = "1GB" },
                { src = "h2", dst = "h3", size = "1GB" },
            ]
            [[probe]]
            name = "goodput"
            kind = "goodput"
            interval = "10ms"
            start = "10ms"
            nodes = ["h0", "h1", "h2"]
            [run]
            stop = "21ms"
            "#,
            set,
        );
        values(&result, "goodput").to_vec()
    };
    let damages = ("wire.error_rate", "1e-3");
    let without = goodput(&[damages, ("scheme", "none")]);
    for voq in ["host", "rack"] {
        let form = ("scheme.params.voq_per", voq);
        let (sound, lossy) = (goodput(&[form]), goodput(&[form, damages]));
        for (flow, lossy) in lossy.into_iter().enumerate() {
            assert!(lossy > 0.95 * without[flow], "{voq}, flow {flow}: {lossy:.3e} b/s");
            assert!(lossy > 0.85 * sound[flow], "{voq}, flow {flow}: {lossy:.3e} b/s");
        }
    }
}

/// Protects VOQs that span ports: packets dropped as a link fails are no longer waiting, so that
/// those that go on over the other link come to the host at its rate.
#[test]
fn a_failed_link_leaves_nothing_in_a_voq() {
    let result = run_with(
        r#"
        [topology]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 8
        host_rate = "25Gbps"
        host_delay = "1us"
        rate = "100Gbps"
        delay = "1us"
        [scheme]
        name = "hiercc"
        [[traffic]]
        kind = "incast"
        senders = ["h0..h7"]
        receiver = "h8"
        size = "100MB"
        [[failure]]
        link = "leaf0:spine0"
        at = "8us"
        [[probe]]
        name = "goodput"
        kind = "throughput"
        ports = ["leaf1:h8"]
        interval = "10us"
        start = "1ms"
    "#,
        &[("run.stop", "3ms")],
    );
    assert!(result.summary.lost_packets > 0);
    let goodput = mean(values(&result, "goodput"));
    assert!(goodput > 15e9, "{goodput:.3e} b/s");
}
