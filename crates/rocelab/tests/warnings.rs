//! What a result warns of, and what it does not.

mod common;

use common::{run, run_with};
use units::Time;

/// Protects from comparing marks that never come: where no queue can reach Kmin, the summary says so.
#[test]
fn marking_that_cannot_happen_is_told() {
    let incast = r#"
        [topology]
        kind = "star"
        hosts = 5
        host_rate = "100Gbps"
        host_delay = "1us"
        [[traffic]]
        kind = "incast"
        senders = 4
        receiver = "h4"
        size = "50KB"
        [scheme]
        name = "dcqcn"
        preset = "dcqcn-hpcc"
    "#;
    let warnings = |set: &[(&str, &str)]| run_with(incast, set).summary.warnings;
    assert_eq!(warnings(&[]), Vec::<String>::new());
    let queue = warnings(&[("switch.architecture", "cioq")]);
    assert!(queue[0].contains("100Gbps") && queue[0].contains("switch.output_queue"), "{queue:?}");
    let room = ("switch.output_queue", "2MB");
    assert_eq!(warnings(&[("switch.architecture", "cioq"), room]), Vec::<String>::new());
    let buffer = warnings(&[("switch.buffer", "400KB"), ("pfc.enabled", "false")]);
    assert!(buffer[0].contains("switch.buffer"), "{buffer:?}");
}

/// Protects sweeps of one threshold: it is told that it is for ports of the preset's rate.
#[test]
fn a_threshold_that_grows_with_the_rate_is_told() {
    let warnings = |set: &[(&str, &str)]| run_with(MIXED, set).summary.warnings;
    let (kmin, kmax) = (("ecn.kmin", "50KB"), ("ecn.kmax", "300KB"));
    let one = warnings(&[("topology.links.2.rate", "100Gbps"), kmin]);
    assert!(one.len() == 1 && one[0].contains("ecn.kmin is for ports of 25Gbps"), "{one:?}");
    assert_eq!(warnings(&[("topology.links.2.rate", "100Gbps"), kmin, kmax]), Vec::<String>::new());
}

/// Two senders, the second of which has a slower port.
const MIXED: &str = r#"
    [topology]
    kind = "custom"
    nodes = [
        { name = "a", kind = "host" },
        { name = "b", kind = "host" },
        { name = "c", kind = "host" },
        { name = "s", kind = "switch" },
    ]
    links = [
        { a = "a", b = "s", rate = "100Gbps", delay = "1us" },
        { a = "b", b = "s", rate = "100Gbps", delay = "1us" },
        { a = "c", b = "s", rate = "10Gbps", delay = "1us" },
    ]
    [[traffic]]
    kind = "flows"
    flows = [{ src = "a", dst = "b", size = "100KB" }]
    [scheme]
    name = "dcqcn"
    preset = "dcqcn-hpcc"
"#;

/// Protects from parameters of the slowest host at all others without a word.
#[test]
fn parameters_of_the_slowest_host_are_told() {
    let warnings = |set: &[(&str, &str)]| run_with(MIXED, set).summary.warnings;
    let told = warnings(&[]);
    assert!(told.len() == 1 && told[0].contains("10Gbps to 100Gbps"), "{told:?}");
    assert!(told[0].contains("rate_ai = "), "{told:?}");
    assert_eq!(warnings(&[("topology.links.2.rate", "100Gbps")]), Vec::<String>::new());
    assert_eq!(warnings(&[("scheme", "none")]), Vec::<String>::new());
}

/// Long flows that a run's end cuts off are missing in its statistics.
#[test]
fn flows_that_the_stop_cuts_off_are_told() {
    let flows = |stop: &str| {
        run(&format!(
            r#"
            [topology]
            kind = "star"
            hosts = 3
            host_rate = "100Gbps"
            host_delay = "1us"
            [[traffic]]
            kind = "flows"
            flows = [
                {{ src = "h0", dst = "h2", size = "10KB" }},
                {{ src = "h1", dst = "h2", size = "10MB" }},
            ]
            [scheme]
            name = "hpcc"
            [run]
            stop = "{stop}"
            "#
        ))
        .summary
    };
    let cut = flows("100us");
    assert_eq!(cut.flows_done, 1);
    assert!(cut.warnings.len() == 1 && cut.warnings[0].contains("1 of 2 flows"), "{cut:?}");
    assert_eq!(flows("2ms").warnings, Vec::<String>::new());
    assert_eq!(flows("1us").warnings, Vec::<String>::new(), "none was meant to be done");
}

/// Protects slow lossless networks: what waits in a full switch is not sent again. Asked for, it is told.
#[test]
fn a_timeout_below_the_delay_of_full_switches_is_told() {
    let incast = r#"
        [topology]
        kind = "star"
        hosts = 9
        host_rate = "100Mbps"
        host_delay = "1us"
        [[traffic]]
        kind = "incast"
        senders = 8
        receiver = "h0"
        size = "100KB"
        [scheme]
        name = "none"
        [run]
        limit = "200ms"
    "#;
    let usual = run(incast);
    assert_eq!((usual.summary.flows_done, usual.summary.warnings), (8, vec![]));
    assert_eq!(usual.flows.retransmitted_bytes.iter().sum::<u64>(), 0);
    assert!(usual.flows.fct_ps.iter().all(|&fct| fct < Time::from_ms(75).ps()));
    let short = run_with(incast, &[("host.retransmit_timeout", "1ms")]).summary.warnings;
    assert!(
        short.iter().any(|told| told.contains("sent again though nothing was lost")),
        "{short:?}"
    );
}
