//! Readers of the inputs: values of small files, and errors of bad ones.

use hpcc_files::config::{self, LinkDown};
use hpcc_files::{CcMode, Experiment, Flow, Topology, Warning, flows, topology, trace_list};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use units::{Bytes, NodeId, Priority, Rate, Time};

const FILES: &str = "TOPOLOGY_FILE t.txt FLOW_FILE f.txt\n";

/// Two racks: hosts 0, 1 at switch 4 and 2, 3 at switch 5.
const TOPOLOGY: &str = "\
6 2 5
4 5
0 4 100Gbps 1000ns 0
1 4 100Gbps 1us 0.000000
2 5 100Gb/s 0.001ms 1e-3
5 4 400Gbps 0.0015ms 0
3 5 100Gbps 1000ns 0
";

fn network() -> Topology {
    topology::parse(TOPOLOGY.as_bytes(), &mut Vec::new()).unwrap()
}

fn texts(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(Warning::to_string).collect()
}

fn config_warnings(text: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    config::parse(text.as_bytes(), &mut warnings).unwrap();
    texts(&warnings)
}

#[test]
fn a_topology() {
    let mut warnings = Vec::new();
    let network = topology::parse(TOPOLOGY.as_bytes(), &mut warnings).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(network.hosts().map(NodeId::get).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(network.switches().map(NodeId::get).collect::<Vec<_>>(), [4, 5]);
    let trunk = &network.links[3];
    assert_eq!((trunk.a.get(), trunk.b.get(), trunk.line), (5, 4, 6));
    // Port numbers follow the order of the links: the trunk is 5's second and 4's third.
    assert_eq!((trunk.a_port, trunk.b_port), (2, 3));
    assert_eq!((trunk.rate, trunk.delay), (Rate::from_gbps(400), Time::from_ns(1500)));
    let last = &network.links[4];
    assert_eq!((last.a_port, last.b_port), (1, 3));
    assert_eq!(network.links[2].error_rate, 1e-3);
    assert!(network.links[..3].iter().all(|link| link.delay == Time::from_ns(1000)));
    assert_eq!(network.switch_links().count(), 5);
}

#[test]
fn flows_and_trace_list() {
    let text = "2 \n0 2 3 100 1000 2\n3 1 1 200 5000000000 2.000003075 \n";
    let mut warnings = Vec::new();
    let read = flows::parse(text.as_bytes(), &network(), &mut warnings).unwrap().flows;
    let flow = |line, src, dst, priority, dport, size, ns| Flow {
        src: NodeId::new(src),
        dst: NodeId::new(dst),
        priority: Priority::new(priority),
        dport,
        size: Bytes::new(size),
        start: Time::from_ns(ns),
        line,
    };
    assert_eq!(
        read,
        [
            flow(2, 0, 2, 3, 100, 1000, 2_000_000_000),
            flow(3, 3, 1, 1, 200, 5_000_000_000, 2_000_003_074)
        ]
    );
    assert_eq!(
        texts(&warnings),
        ["line 3: this flow has 4 GiB or more: sent in full; the original can't read such a \
             size, nor anything after the first"]
    );

    let mut warnings = Vec::new();
    let nodes = trace_list::parse(b"5\n4 0 4 77 6\n1", &network(), &mut warnings).unwrap();
    assert_eq!(nodes, [4, 0, 4].map(NodeId::new));
    assert_eq!(
        texts(&warnings),
        [
            "line 2: there is no node 77 (1 more like it): skipped, as in the original",
            "line 3: there is more after the last node, beginning with \"1\": not read, as in the \
             original",
        ]
    );
}

#[test]
fn defaults_of_a_configuration() {
    let mut warnings = Vec::new();
    let config = config::parse(FILES.as_bytes(), &mut warnings).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(config.topology_file, PathBuf::from("t.txt"));
    assert_eq!(config.fct_output_file, PathBuf::from("fct.txt"));
    assert_eq!(config.simulator_stop_time, Some(Time::from_ms(3010)));
    assert_eq!(config.cc_mode, CcMode::Dcqcn);
    assert_eq!(config.alpha_resume_interval, Time::from_us(55));
    assert_eq!((config.mi_thresh, config.fast_recovery_times), (5, 5));
    assert_eq!(config.buffer_size, Bytes::new(16 * 1024 * 1024));
    assert!(config.enable_trace && config.multi_rate && config.fast_react && config.global_t);
    assert!(!config.var_win && !config.ack_high_prio && config.enable_themis.is_none());
    assert_eq!((config.rp_timer, config.ewma_gain, config.rate_ai), (None, None, None));
}

#[test]
fn values_of_a_configuration() {
    let text = "\
ENABLE_THEMIS 1 TOPOLOGY_FILE ../t.txt
FLOW_FILE f.txt CC_MODE 3
RATE_AI 50Mb/s BUFFER_SIZE 32 GLOBAL_T 2 HAS_WIN 2 RP_TIMER 900 EWMA_GAIN 0.00390625
KMAX_MAP 2 100000000000 1600
 400000000000 6400
KMIN_MAP 1 100000000000 400 PMAX_MAP 1 100000000000 .20
LINK_DOWN 1500 0 4 SIMULATOR_STOP_TIME 2.05
QLEN_MON_START 2000000000";
    let mut warnings = Vec::new();
    let config = config::parse(text.as_bytes(), &mut warnings).unwrap();
    assert_eq!(warnings, []);
    assert!(config.enable_themis == Some(true) && config.has_win);
    // 2 sets every flag but this one.
    assert!(!config.global_t);
    assert_eq!(config.topology_file, PathBuf::from("../t.txt"));
    assert_eq!(config.cc_mode, CcMode::Hpcc);
    assert_eq!(config.rate_ai, Some(Rate::from_mbps(50)));
    assert_eq!(config.buffer_size, Bytes::new(32 << 20));
    assert_eq!(config.rp_timer, Some(Time::from_us(900)));
    assert_eq!(config.ewma_gain, Some(1.0 / 256.0));
    assert_eq!(config.kmax[&Rate::from_gbps(400)], Bytes::new(6_400_000));
    assert_eq!(config.kmin[&Rate::from_gbps(100)], Bytes::new(400_000));
    assert_eq!(config.pmax[&Rate::from_gbps(100)], 0.2);
    let (a, b) = (NodeId::new(0), NodeId::new(4));
    assert_eq!(config.link_down, Some(LinkDown { at: Time::from_us(2_001_500), a, b }));
    // 2.05 s as a double is a little less.
    assert_eq!(config.simulator_stop_time, Some(Time::from_ns(2_049_999_999)));
    assert_eq!(config.qlen_mon_start, Time::from_ms(2000));
}

#[test]
fn what_is_odd_in_a_configuration() {
    let odd = [
        ("RATE_BOUNDS 1", "\"RATE_BOUNDS\" is not a key: skipped; did you mean RATE_BOUND?"),
        ("X_ONE 1 Y_TWO 2 Z_THREE 3", "\"X_ONE\", \"Y_TWO\", \"Z_THREE\" are not keys: skipped"),
        ("#CC_MODES 3", "\"#CC_MODES\" and 1 more are not keys: skipped"),
        (
            "DATA_RATE 1Gbps",
            "DATA_RATE is ignored, as in the original: each link has its own in the topology",
        ),
        (
            "USE_DYNAMIC_PFC_THRESHOLD 0",
            "USE_DYNAMIC_PFC_THRESHOLD 0 changes nothing, as in the original: the threshold is \
             dynamic",
        ),
        (
            "CC_MODE 4",
            "CC_MODE 4 is no control law (1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT): \
             packets go at line rate, as in the original",
        ),
        ("RP_TIMER 1.5", "RP_TIMER is 1 us: fractions are cut off, as in the original"),
        ("FLOW_FILE g.txt", "FLOW_FILE is in line 1 too; the last counts, as in the original"),
        ("rp_timer 300", "\"rp_timer\" is not a key: skipped; did you mean RP_TIMER?"),
        ("RP_TIMER=300", "\"RP_TIMER=300\" is not a key: skipped; did you mean RP_TIMER?"),
        (
            "RP_TIMR 1 EWMA_GIAN 2",
            "\"RP_TIMR\", \"EWMA_GIAN\" are not keys: skipped; did you mean RP_TIMER, \
             EWMA_GAIN?",
        ),
        (
            "KMIN_MAP 1 1 1 KMIN_MAP 1 1 2",
            "KMIN_MAP is in line 2 too; the entries of both count, and for a rate in both the \
             last, as in the original",
        ),
    ];
    for (line, warning) in odd {
        assert_eq!(config_warnings(&format!("{FILES}{line}\n")), [format!("line 2: {warning}")]);
    }
    let mut warnings = Vec::new();
    let text = format!("CC_MODE 3\n# old CC_MODE 8\n{FILES}");
    let config = config::parse(text.as_bytes(), &mut warnings).unwrap();
    assert_eq!(config.cc_mode, CcMode::Dctcp);
    assert_eq!(
        texts(&warnings),
        [
            "line 2: CC_MODE counts, though it looks commented out: the format has no comments",
            "line 2: CC_MODE is in line 1 too; the last counts, as in the original",
            "line 2: \"#\" and 1 more are not keys: skipped",
        ]
    );
    // Entries of several maps add up. The number of warnings is limited, however long the text.
    let text = format!("{FILES}PMAX_MAP 1 1 .1 PMAX_MAP 1 2 .2\n{}", "a b\nc d\n".repeat(1000));
    let mut warnings = Vec::new();
    assert_eq!(config::parse(text.as_bytes(), &mut warnings).unwrap().pmax.len(), 2);
    assert_eq!(warnings.len(), 22);
    assert!(warnings[21].to_string().contains("1980 more lines"), "{}", warnings[21]);
}

#[test]
fn line_ends_and_marks_do_not_matter() {
    let config = format!("{FILES}CC_MODE 3\nKMAX_MAP 1 100000000000 1600\n");
    let flow_text = "1\n0 1 3 100 5 2.5\n";
    for change in [
        |text: &str| text.replace('\n', "\r\n"),
        |text: &str| text.trim_end().to_string(),
        |text: &str| format!("\u{feff}{text}"),
        |text: &str| text.replace(['\n', ' '], "\n\t\x0b\x0c \n"),
    ] {
        let parse = |text: &str| config::parse(text.as_bytes(), &mut Vec::new()).unwrap();
        assert_eq!(parse(&change(&config)), parse(&config));
        let changed = topology::parse(change(TOPOLOGY).as_bytes(), &mut Vec::new()).unwrap();
        let ports = |link: &topology::Link| (link.a, link.a_port, link.b, link.b_port, link.rate);
        assert!(changed.links.iter().map(ports).eq(network().links.iter().map(ports)));
        let parse = |text: &str| {
            flows::parse(text.as_bytes(), &network(), &mut Vec::new()).unwrap().flows[0]
        };
        let line = parse(flow_text).line;
        assert_eq!(Flow { line, ..parse(&change(flow_text)) }, parse(flow_text));
    }
}

/// Asserts that each bad text is refused at its line with these words.
fn refused<T: std::fmt::Debug>(
    bad: &[(&str, usize, &str)],
    parse: impl Fn(&str) -> hpcc_files::Result<T>,
) {
    for (text, line, words) in bad {
        let error = parse(text).expect_err(text);
        assert_eq!(error.line, Some(*line), "{text:?}: {error}");
        assert!(error.to_string().contains(words), "{text:?}: {error}");
    }
}

#[test]
fn bad_topologies() {
    let bad = [
        ("", 1, "the file ends where the number of nodes should be; hint: is it complete?"),
        ("\n\n", 3, "the file ends"),
        ("two 1 1", 1, "the number of nodes needs a whole number from 1 to 65536, got \"two\""),
        ("0 0 0", 1, "nodes"),
        ("65537 0 0", 1, "nodes"),
        ("99999999999999999999 0 0", 1, "nodes"),
        ("-2 0 0", 1, "got \"-2\""),
        ("2 3 0", 1, "switches"),
        ("2 0 4294967296", 1, "links"),
        ("2 18446744073709551615 3 1", 1, "switches"),
        (
            "3 1 1\n3",
            2,
            "switch needs a whole number from 0 to 2, got \"3\"; hint: the topology has nodes 0 to \
             2",
        ),
        ("3 2 1\n2 2", 2, "switch 2 is listed twice"),
        ("2 0 1\n0 0 1Gbps 1us 0", 2, "joins node 0 to itself"),
        ("2 0 1\n0 2 1Gbps 1us 0", 2, "node needs a whole number from 0 to 1"),
        ("2 0 1\n0 1 0Gbps 1us 0", 2, "rate needs more than 0"),
        (
            "2 0 1\n0 1 1Tbps 1us 0",
            2,
            "rate needs a rate in bps or b/s with k, M or G, got \"1Tbps\"",
        ),
        ("2 0 1\n0 1 1Gbps 1m 0", 2, "delay needs a time in s, ms, us, ns, ps or fs, got \"1m\""),
        ("2 0 1\n0 1 1Gbps -1us 0", 2, "delay"),
        ("2 0 1\n0 1 1Gbps 1us 1.5", 2, "error rate needs a number from 0 to 1"),
        ("2 0 1\n0 1 1Gbps 1us nan", 2, "error rate"),
        ("2 0 1\n0 1 1Gbps 1us", 2, "the file ends where the error rate of a link should be"),
        ("2 0 2\n0 1 1Gbps 1us 0\n", 3, "the first line promises 2 links, but the file has 1"),
        ("2 0 1\n", 2, "the first line promises 1 link, but the file has 0"),
        ("2 0 4000000000\n0 1 1Gbps 1us 0", 2, "promises 4000000000 links, but the file has 1"),
        ("2 0 1\n0 1 \u{1b}[31m 1us 0", 2, "got \"\\u{1b}[31m\""),
        // A wrong number of switches makes words of the list belong to links, or the reverse.
        (
            "4 1 2\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0",
            1,
            "line 1 promises 1 switch, but line 2 has 2; hint: the first line has the numbers of \
             nodes",
        ),
        (
            "4 3 2\n\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0",
            1,
            "promises 3 switches, but line 3 has 2",
        ),
        ("4 4 2\n2 3\n3 2 1Gbps 1us 0", 1, "promises 4 switches, but line 2 has 2"),
        // What is probably wrong is a line before.
        (
            "3 1 2\n2\n0 2 1Gbps 1us\n1 2 1Gbps 1us 0",
            4,
            "node needs a whole number from 0 to 2, got \"1Gbps\"; hint: line 3 has 4 words, not \
             5: node, node, rate, delay, error rate",
        ),
        (
            "3 1 2\n2\n0 2 1Gbps 1us 0 # host\n1 2 1Gbps 1us 0",
            3,
            "got \"#\"; hint: the format has no comments, and line 3 has one",
        ),
        ("# nodes\n3 1 2", 1, "got \"#\"; hint: the format has no comments"),
        (
            "3 1 2\n2\n#first\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0",
            3,
            "got \"#first\"; hint: the format has no comments",
        ),
        // A list may have several lines.
        ("4 2 2\n2\n3\n0 2 1Gbps 1us 0\n1 3 1Gbps soon 0", 5, "delay"),
    ];
    refused(&bad, |text| topology::parse(text.as_bytes(), &mut Vec::new()));
    let error = topology::parse(b"3 0 1\n1 2 1Gbps 1us 0", &mut Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "host 0 has no link, and it is the first one: the original takes the rate of hosts from \
         its port; hint: add one, or leave the host out"
    );
}

#[test]
fn topologies_in_parts() {
    let told = |text: &str| {
        let mut warnings = Vec::new();
        let network = topology::parse(text.as_bytes(), &mut warnings).unwrap();
        (network.is_in_parts(), texts(&warnings))
    };
    let unlinked = |what: &str| {
        format!(
            "{what}: nothing gets there, as in the original; is the number of nodes in the first \
             line right?"
        )
    };
    assert_eq!(told(TOPOLOGY), (false, Vec::new()));
    let host = told("3 0 1\n0 1 1Gbps 1us 0");
    assert_eq!(host, (true, vec![unlinked("host 2 has no link")]));
    let switch = told("4 1 1\n2\n0 1 1Gbps 1us 0");
    assert_eq!(switch, (true, vec![unlinked("switch 2 has no link (1 more node, too)")]));
    let (in_parts, warnings) = told("7 0 2\n4 3 1Gbps 1us 0\n0 1 1Gbps 1us 0");
    assert!(in_parts);
    let more = "host 2 has no link (2 more nodes, too)";
    let parts = "the network has 2 parts that no link joins: flows stay within one, and windows of \
                 GLOBAL_T are those of the longest path of all, as in the original";
    assert_eq!(warnings, [unlinked(more), parts.to_owned()]);
}

#[test]
fn odd_topologies() {
    let mut text = "301 1 302\n300\n0 300 1Gbps 1us 0\n300 0 1Gbps 1us 0\n".to_string();
    for host in 0..300 {
        writeln!(text, "{host} 300 1Gbps 1us 0").unwrap();
    }
    let mut warnings = Vec::new();
    let network = topology::parse(text.as_bytes(), &mut warnings).unwrap();
    assert_eq!(network.links.len(), 302);
    assert_eq!(
        texts(&warnings),
        [
            "line 4: the nodes of this link have one in line 3 too (1 more like it): the original \
             sends over the last such link alone",
            "node 300 has 302 ports; the original has room for 256",
        ]
    );
}

#[test]
fn bad_flows() {
    let bad = [
        ("", 1, "the number of flows"),
        ("1000000000000", 1, "from 0 to 4294967295"),
        (
            "4000000000\n0 1 3 100 1 2",
            2,
            "promises 4000000000 flows, but the file has 1; hint: is it complete? The original \
             repeats the last flow until",
        ),
        (
            "2\n0 1 3 100 1 2\n0 1 3",
            3,
            "the file ends where destination port should be; hint: line 3 has 3 words, not 6",
        ),
        ("1\n0 6 3 100 1 2", 2, "destination needs a whole number from 0 to 5"),
        ("1\n4 1 3 100 1 2", 2, "source 4 is a switch; hint: only hosts send and receive"),
        ("1\n1 1 3 100 1 2", 2, "a flow from host 1 to itself"),
        (
            "1\n0 1 0 100 1 2",
            2,
            "priority group 0 is not served: the original counts its packets in no buffer, and PFC \
             does not pause them; hint: use 1 to 7",
        ),
        ("1\n0 1 8 100 1 2", 2, "priority group needs a whole number from 1 to 7, got \"8\""),
        ("1\n0 1 3 65536 1 2", 2, "destination port"),
        (
            "1\n0 1 3 100 0 2",
            2,
            "the flow from 0 to 1 has 0 bytes; hint: leave it out: the original never sends nor",
        ),
        ("1\n0 1 3 100 18446744073709551615 2", 2, "size"),
        (
            "3\n0 1 3 100 1 2\n0 1 3 100 2\n0 1 3 100 1 2",
            3,
            "starts before the one above it: with such files the original sets its clock back; \
             hint: line 3 has 5 words, not 6: source, destination, priority group, port, size, \
             start",
        ),
        ("1\n# a flow\n0 1 3 100 1 2", 2, "hint: the format has no comments, and line 2 has one"),
        ("1 // flows\n0 1 3 100 1 2", 1, "got \"//\"; hint: the format has no comments"),
        ("1\n0 1 3 100 1e6 2", 2, "size needs a whole number"),
        ("1\n0 1 3 100 1 -2", 2, "start needs a decimal number, 0 or more"),
        ("1\n0 1 3 100 1 inf", 2, "start"),
        ("1\n0 1 3 100 1 1e300", 2, "start needs less than 200 days"),
        (
            "2\n0 1 3 100 1 2.1\n0 1 3 100 1 2.0\n",
            3,
            "this flow starts before the one above it: with such files the original sets its clock \
             back; hint: sort the flows by their start",
        ),
    ];
    refused(&bad, |text| flows::parse(text.as_bytes(), &network(), &mut Vec::new()));
    // Two flows may start in one nanosecond.
    let text = b"2\n0 1 3 100 1 2.0000000004\n0 1 3 100 1 2.0";
    assert_eq!(flows::parse(text, &network(), &mut Vec::new()).unwrap().flows.len(), 2);
}

/// With kmin above kmax the original marks what exceeds kmax, and draws nothing.
#[test]
fn a_kmin_above_kmax_is_kmax() {
    let text = format!("{FILES}KMIN_MAP 2 1 400 2 500\nKMAX_MAP 2 1 300 2 500");
    let mut warnings = Vec::new();
    let config = config::parse(text.as_bytes(), &mut warnings).unwrap();
    let kmin: Vec<u64> = config.kmin.values().map(|kmin| kmin.get()).collect();
    assert_eq!(kmin, [300_000, 500_000]);
    assert_eq!(
        texts(&warnings),
        ["line 2: KMIN_MAP has 400 for 1bps, and KMAX_MAP 300: all above 300 is marked, and \
             nothing below, as in the original"]
    );
}

#[test]
fn bad_trace_lists() {
    let bad = [
        ("", 1, "the number of nodes"),
        ("2 0", 1, "promises 2 nodes, but the file has 1"),
        ("1\nall", 2, "node needs a whole number"),
    ];
    refused(&bad, |text| trace_list::parse(text.as_bytes(), &network(), &mut Vec::new()));
}

#[test]
fn bad_configurations() {
    let bad = [
        ("CC_MODE", 1, "the file ends where the value of CC_MODE should be"),
        ("CC_MODE fast", 1, "CC_MODE needs a whole number from 0 to 4294967295, got \"fast\""),
        ("CC_MODE 1.5", 1, "CC_MODE"),
        ("\nENABLE_QCN yes", 2, "ENABLE_QCN needs 0 or 1, got \"yes\""),
        (
            "TRACE_FILE\nTRACE_OUTPUT_FILE a",
            2,
            "TRACE_FILE needs the name of a file, got \"TRACE_OUTPUT_FILE\"",
        ),
        ("RATE_AI 50", 1, "nothing"),
        ("RATE_AI 50MB", 1, "RATE_AI needs a rate"),
        ("MIN_RATE 0Mb/s", 1, "MIN_RATE needs a rate above 0"),
        ("EWMA_GAIN 1/16", 1, "EWMA_GAIN needs a number from 0 to 1, got \"1/16\""),
        ("U_TARGET 0", 1, "U_TARGET needs a number above 0"),
        ("INT_MULTI 0", 1, "nothing"),
        ("INT_MULTI -1", 1, "INT_MULTI"),
        ("PINT_LOG_BASE 1", 1, "PINT_LOG_BASE needs a number above 1"),
        ("PACKET_PAYLOAD_SIZE 0", 1, "PACKET_PAYLOAD_SIZE"),
        ("BUFFER_SIZE 4096", 1, "BUFFER_SIZE needs a whole number from 1 to 4095"),
        ("SIMULATOR_STOP_TIME 1e18", 1, "nothing"),
        ("SIMULATOR_STOP_TIME -1", 1, "SIMULATOR_STOP_TIME needs a decimal number, 0 or more"),
        ("RP_TIMER 1e300", 1, "RP_TIMER needs at most 1000000000000 microseconds"),
        // 2^32 would be 0 in the original's frames.
        ("PAUSE_TIME 4294967295", 1, "nothing"),
        ("PAUSE_TIME 4294967296", 1, "PAUSE_TIME needs at most 4294967295 microseconds"),
        ("LINK_DOWN 0 0", 1, "LINK_DOWN"),
        ("KMIN_MAP -1", 1, "KMIN_MAP"),
        (
            "KMIN_MAP 2 1 1\nKMAX_MAP 1 1 1",
            2,
            "KMIN_MAP needs a whole number, 1 or more, got \"KMAX_MAP\"; hint: after the number 2, \
             KMIN_MAP needs 2 pairs of a rate in bit/s and a value",
        ),
        (
            "KMIN_MAP 1 100Gbps 400",
            1,
            "hint: after the number 1, KMIN_MAP needs 1 pair of a rate in bit/s and a value",
        ),
        ("HAS_WIN # 1", 1, "HAS_WIN needs 0 or 1, got \"#\"; hint: the format has no comments"),
        ("KMIN_MAP 4000000000 1 1", 1, "KMIN_MAP"),
        ("PMAX_MAP 1 100000000000 2", 1, "nothing"),
        ("PMAX_MAP 1 100000000000 -2", 1, "PMAX_MAP needs a decimal number, 0 or more"),
        ("QLEN_MON_END 18446744073709551615", 1, "QLEN_MON_END"),
        ("FLOW_FILE \u{0}", 1, "FLOW_FILE needs a name in UTF-8, without a null"),
    ];
    for (text, line, words) in bad {
        match config::parse(format!("{text} {FILES}").as_bytes(), &mut Vec::new()) {
            // These are fine.
            Ok(_) => assert_eq!(words, "nothing", "{text}"),
            Err(_) if text == "CC_MODE" || text == "LINK_DOWN 0 0" => {
                refused(&[(text, line, words)], |text| {
                    config::parse(text.as_bytes(), &mut Vec::new())
                });
            }
            Err(error) => {
                assert_eq!(error.line, Some(line), "{text}: {error}");
                assert!(error.to_string().contains(words), "{text}: {error}");
            }
        }
    }
    let error = config::parse(b"CC_MODE 3", &mut Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "TOPOLOGY_FILE is missing; hint: add a line such as TOPOLOGY_FILE topology.txt"
    );
    // A configuration that is refused gives its warnings, too.
    let mut warnings = Vec::new();
    let error = config::parse(b"FOO 1\nTOPLOGY_FILE t.txt", &mut warnings).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2: TOPOLOGY_FILE is missing; hint: \"TOPLOGY_FILE\" is not a key; did you mean \
         TOPOLOGY_FILE? Write TOPOLOGY_FILE topology.txt"
    );
    assert_eq!(
        texts(&warnings),
        [
            "line 1: \"FOO\" is not a key: skipped",
            "line 2: \"TOPLOGY_FILE\", \"t.txt\" are not keys: skipped; did you mean \
             TOPOLOGY_FILE?",
        ]
    );
}

/// A directory for one test, removed at its end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("hpcc-files-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn read(&self, config: &str) -> hpcc_files::Result<Experiment> {
        self.write("config.txt", config);
        Experiment::read(&self.0.join("config.txt"), &self.0)
    }

    fn error(&self, config: &str) -> String {
        let error = self.read(config).expect_err(config).to_string();
        error.replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const DCQCN: &str = "\
TOPOLOGY_FILE t.txt FLOW_FILE f.txt
CC_MODE 1 RP_TIMER 300 EWMA_GAIN 0.00390625 RATE_AI 20Mb/s RATE_HAI 200Mb/s L2_ACK_INTERVAL 1
KMIN_MAP 2 100000000000 400 400000000000 1600
KMAX_MAP 2 100000000000 1600 400000000000 6400
PMAX_MAP 2 100000000000 .2 400000000000 .2
";

#[test]
fn an_experiment() {
    let there = Directory::new("experiment");
    there.write("t.txt", TOPOLOGY);
    there.write("f.txt", "1\n0 2 3 100 1000 2\n");
    there.write("trace.txt", "2\n0 99");

    let output = "TRACE_OUTPUT_FILE mix.tr";
    let experiment = there.read(&format!("{DCQCN}TRACE_FILE trace.txt {output}")).unwrap();
    assert_eq!(experiment.flows.len(), 1);
    assert_eq!(experiment.traced, [NodeId::new(0)]);
    assert_eq!(experiment.warnings.len(), 1);
    assert_eq!(experiment.warnings[0].file, Some(there.0.join("trace.txt")));
    // Without a list nothing is traced. Without tracing the list is not read.
    let experiment = there.read(&format!("{DCQCN}TRACE_FILE none.txt")).unwrap();
    assert_eq!(experiment.traced, []);
    let told = experiment.warnings[0].to_string();
    assert!(told.contains("config.txt:6: TRACE_FILE: none.txt does not exist"), "{told}");
    let quiet = format!("{DCQCN}ENABLE_TRACE 0 TRACE_FILE none.txt");
    assert_eq!(there.read(&quiet).unwrap().warnings, []);
    // A warning says what is asked for and goes nowhere.
    for (keys, needs) in
        [("TRACE_FILE trace.txt", "TRACE_OUTPUT_FILE"), ("QLEN_MON_START 5", "QLEN_MON_FILE")]
    {
        let told = there.read(&format!("{DCQCN}{keys}")).unwrap().warnings.pop().unwrap();
        let key = keys.split(' ').next().unwrap();
        let words = format!("config.txt:6: {key} is given without {needs}: no ");
        assert!(told.to_string().contains(&words), "{told}");
    }

    // A missing file is an error of the configuration.
    assert_eq!(
        there.error(&DCQCN.replace("t.txt", "nowhere.txt")),
        "config.txt:1: TOPOLOGY_FILE: cannot read nowhere.txt: No such file or directory"
    );
    assert_eq!(
        there.error(&DCQCN.replace("f.txt", ".")).replace("/.", "."),
        "config.txt:1: FLOW_FILE: cannot read .: Is a directory"
    );
    let config = there.0.join("config.txt");
    std::fs::write(&config, DCQCN.replace("t.txt", "far/t.txt")).unwrap();
    let error = Experiment::read(&config, Path::new(".")).unwrap_err();
    assert_eq!(error.message, "TOPOLOGY_FILE: cannot read far/t.txt: No such file or directory");
    let found = there.0.join("t.txt");
    let hint = format!("names are relative to the working directory; there is {}", found.display());
    assert_eq!(error.hint, Some(hint));
    assert_eq!(
        Experiment::read(Path::new("/"), Path::new("")).unwrap_err().to_string(),
        "/: cannot read: Is a directory"
    );
    assert_eq!(
        Experiment::read(Path::new("/dev/zero"), Path::new("")).unwrap_err().to_string(),
        "/dev/zero: cannot read: it is not a regular file"
    );
    there.write("f.txt", "1\n0 2 3 100 1000 soon\n");
    assert_eq!(
        there.error(DCQCN),
        "f.txt:2: start needs a decimal number, 0 or more, got \"soon\""
    );
    for mark in [0xfeff_u16.to_le_bytes(), 0xfeff_u16.to_be_bytes()] {
        std::fs::write(there.0.join("f.txt"), [&mark[..], b"1\0\n\0"].concat()).unwrap();
        assert_eq!(there.error(DCQCN), "f.txt: is UTF-16 text; hint: save it as UTF-8");
    }
}

#[test]
fn what_the_original_leaves_undefined() {
    let there = Directory::new("undefined");
    there.write("t.txt", TOPOLOGY);
    there.write("f.txt", "0\n");
    let without = |part: &str| DCQCN.replace(part, "");
    let refused = [
        (
            without("RP_TIMER 300"),
            "config.txt: RP_TIMER is missing, and CC_MODE 1 needs it; hint: add a line such as \
             RP_TIMER 300",
        ),
        (without("RATE_AI 20Mb/s"), "RATE_AI is missing"),
        (without("RATE_HAI 200Mb/s"), "RATE_HAI is missing"),
        (
            without("L2_ACK_INTERVAL 1"),
            "config.txt: L2_ACK_INTERVAL is missing: nothing is acknowledged and no flow ends; \
             hint: add a line such as L2_ACK_INTERVAL 1",
        ),
        (
            DCQCN.replace("RP_TIMER", "RP_TIMR"),
            "config.txt:2: RP_TIMER is missing, and CC_MODE 1 needs it; hint: \"RP_TIMR\" is not a \
             key; did you mean RP_TIMER? Write RP_TIMER 300",
        ),
        (
            format!("{DCQCN}\nL2_ACK_INTERVAL 0"),
            "config.txt:7: L2_ACK_INTERVAL is 0: nothing is acknowledged and no flow ends; hint: \
             set",
        ),
        (
            format!("{DCQCN}\nALPHA_RESUME_INTERVAL 0"),
            "config.txt:7: ALPHA_RESUME_INTERVAL is 0 us",
        ),
        (format!("{DCQCN}\nRATE_DECREASE_INTERVAL 0"), "txt:7: RATE_DECREASE_INTERVAL is 0 us"),
        (format!("{DCQCN}\nRATE_BOUND 0"), "config.txt:7: RATE_BOUND 0 is not served"),
        (format!("{DCQCN} RP_TIMER 0.9"), "config.txt:6: RP_TIMER is 0 us: time would stand still"),
        (format!("{DCQCN} L2_BACK_TO_ZERO 1"), "config.txt:6: L2_BACK_TO_ZERO 1 is not served"),
        (format!("{DCQCN} L2_ACK_INTERVAL 2000"), "config.txt: L2_CHUNK_SIZE is missing, and L2_"),
        (
            format!("{DCQCN} L2_ACK_INTERVAL 2000\nL2_CHUNK_SIZE 0"),
            "config.txt:7: L2_CHUNK_SIZE is 0, and L2_ACK_INTERVAL above 1 divides by it",
        ),
        (
            format!("{DCQCN} CC_MODE 3\nHAS_WIN 0"),
            "config.txt:7: HAS_WIN is 0, and CC_MODE 3 divides queues by the window: U is infinite",
        ),
        (
            format!("{DCQCN} LINK_DOWN 1 0 6"),
            "config.txt:6: LINK_DOWN names node 6, and the topology has nodes 0 to 5",
        ),
        (
            DCQCN.replace("KMAX_MAP 2 100000000000 1600 4", "KMAX_MAP 2 100000000000 1600 2"),
            "config.txt:4: KMAX_MAP has no entry for 400Gbps, the rate of the link in line 6 of \
             the topology; hint: add `400000000000 VALUE` to KMAX_MAP and count it",
        ),
    ];
    for (config, words) in &refused {
        let error = there.error(config);
        assert!(error.contains(words), "{error}");
    }
    let error = there.read(&DCQCN.replace("RP_TIMER 300", "# RP_TIMER 0")).unwrap_err();
    assert!(error.message.starts_with("RP_TIMER is 0 us"), "{error}");
    let told = texts(&error.warnings);
    assert!(
        told[0].contains("config.txt:2: RP_TIMER counts, though it looks commented"),
        "{told:?}"
    );
    // Thresholds are needed only if switches mark and the law reacts to marks.
    let unmarked = DCQCN.replace("KMAX_MAP 2 100000000000 1600 4", "KMAX_MAP 2 1 1600 4");
    assert!(there.read(&unmarked).is_err());
    for other in ["ENABLE_QCN 0", "CC_MODE 3", "CC_MODE 7", "CC_MODE 0"] {
        there.read(&format!("{unmarked} {other}")).unwrap();
    }
    let down = there.read(&format!("{DCQCN} LINK_DOWN 1 4 0")).unwrap();
    assert!(down.config.link_down.is_some());
}

#[test]
fn what_is_odd_in_the_values_of_a_configuration() {
    let there = Directory::new("odd");
    there.write("t.txt", TOPOLOGY);
    there.write("f.txt", "0\n");
    let told = |config: &str| texts(&there.read(config).unwrap().warnings);
    assert!(told(DCQCN).is_empty());
    let without = DCQCN.replace("EWMA_GAIN 0.00390625", "");
    for (config, words) in [
        (
            without.clone(),
            "config.txt: EWMA_GAIN is missing, which means 0: alpha stays 1, and each cut halves \
             the rate, as in the original; 0.00390625 is usual",
        ),
        (format!("{without} CC_MODE 8"), "EWMA_GAIN is missing, which means 0"),
        (format!("{DCQCN}\nEWMA_GAIN 0"), "config.txt:7: EWMA_GAIN is 0: alpha stays 1"),
        (
            format!("{DCQCN}\nRATE_AI 0"),
            "config.txt:7: RATE_AI is 0bps: such a step raises nothing, as in the original; \
             without a unit it is in bit/s",
        ),
        (
            format!("{DCQCN}\nCC_MODE 7 RATE_HAI 20"),
            "config.txt:7: RATE_HAI is 20bps: such a step raises next to nothing",
        ),
        (
            format!("{DCQCN}\nCC_MODE 8 DCTCP_RATE_AI 0Mb/s"),
            "config.txt:7: DCTCP_RATE_AI is 0bps: such a step raises nothing",
        ),
        (
            format!("{DCQCN}\nCC_MODE 3 U_TARGET 1.5"),
            "config.txt:7: U_TARGET is 1.5: senders aim at more than links carry, so that queues \
             stay, as in the original",
        ),
        (
            format!("{DCQCN}\nLINK_DOWN 1 0 5"),
            "config.txt:7: LINK_DOWN names 0 and 5, which no link joins: nothing fails, as in the \
             original",
        ),
    ] {
        let warnings = told(&config);
        assert!(warnings.iter().any(|warning| warning.contains(words)), "{warnings:?}");
    }
    // Where nothing reads the key, it is not odd.
    for other in ["CC_MODE 3 RATE_AI 0", "CC_MODE 0 RATE_AI 0", "CC_MODE 7 EWMA_GAIN 0"] {
        let warnings = told(&format!("{DCQCN}\n{other}"));
        assert!(!warnings.iter().any(|warning| warning.contains(" is 0")), "{warnings:?}");
    }
    let down = there.read(&format!("{DCQCN} LINK_DOWN 1 0 5")).unwrap();
    assert_eq!(down.config.link_down, None);
}

proptest! {
    /// Random networks and flows come back as they were written.
    #[test]
    fn what_is_written_is_read(
        hosts in 2_u32..50,
        drawn in prop::collection::vec(
            (0_u32..50, 1_u32..50, 1_u8..8, any::<u16>(), 1_u64..1 << 40, 0_u64..4_000_000_000),
            0..50,
        ),
        gbps in 1_u64..1000,
        ns in 0_u64..1_000_000,
    ) {
        let mut text = format!("{} 1 {hosts}\n{hosts}\n", hosts + 1);
        for host in 0..hosts {
            writeln!(text, "{host} {hosts} {gbps}Gbps {ns}ns 0").unwrap();
        }
        let network = topology::parse(text.as_bytes(), &mut Vec::new()).unwrap();
        prop_assert_eq!(network.hosts().count(), hosts as usize);
        for (index, link) in network.links.iter().enumerate() {
            prop_assert_eq!(link.rate, Rate::from_gbps(gbps));
            prop_assert_eq!(link.delay, Time::from_ns(ns));
            prop_assert_eq!((link.a_port, link.b_port), (1, index as u32 + 1));
        }
        let mut wanted: Vec<Flow> = drawn
            .iter()
            .map(|&(src, far, priority, dport, size, start)| Flow {
                src: NodeId::new(src % hosts),
                dst: NodeId::new((src % hosts + 1 + far % (hosts - 1)) % hosts),
                priority: Priority::new(priority),
                dport,
                size: Bytes::new(size),
                start: Time::from_ns(start),
                line: 0,
            })
            .collect();
        wanted.sort_by_key(|flow| flow.start);
        for (line, flow) in (2..).zip(&mut wanted) {
            flow.line = line;
        }
        let mut text = format!("{}\n", wanted.len());
        for Flow { src, dst, priority, dport, size, start, .. } in &wanted {
            // Half a nanosecond more, so that rounding to a double loses none.
            let ns = start.ns();
            let (s, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
            let size = size.get();
            writeln!(text, "{src} {dst} {priority} {dport} {size} {s}.{rest:09}5").unwrap();
        }
        let read = flows::parse(text.as_bytes(), &network, &mut Vec::new()).unwrap().flows;
        prop_assert_eq!(read, wanted);
    }
}
