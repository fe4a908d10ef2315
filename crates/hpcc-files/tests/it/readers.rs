//! Readers of topologies, flows and lists of traced nodes: values of small files, and errors of bad
//! ones.

use crate::common::{FILES, TOPOLOGY, refused, texts};
use hpcc_files::{Flow, Topology, config, flows, topology, trace_list};
use proptest::prelude::*;
use std::fmt::Write;
use units::{Bytes, NodeId, Priority, Rate, Time};

fn network() -> Topology {
    topology::parse(TOPOLOGY.as_bytes(), &mut Vec::new()).unwrap()
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

#[test]
fn bad_trace_lists() {
    let bad = [
        ("", 1, "the number of nodes"),
        ("2 0", 1, "promises 2 nodes, but the file has 1"),
        ("1\nall", 2, "node needs a whole number"),
    ];
    refused(&bad, |text| trace_list::parse(text.as_bytes(), &network(), &mut Vec::new()));
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
