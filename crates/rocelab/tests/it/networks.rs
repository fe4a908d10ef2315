//! Networks of unusual shape: very many routes, hosts with very many ports, frames that take no
//! time.

use crate::common;
use crate::common::{run, run_on};
use std::fmt::Write as _;

/// A custom topology of these nodes and links; links have 100 Gb/s and 1 us.
fn custom(hosts: usize, switches: usize, links: &[(String, String)], rest: &str) -> String {
    let mut text = "[topology]\nkind = \"custom\"\nnodes = [\n".to_owned();
    let kinds = [("h", "host", hosts), ("s", "switch", switches)];
    for (letter, kind, count) in kinds {
        for number in 0..count {
            writeln!(text, "{{ name = \"{letter}{number}\", kind = \"{kind}\" }},").unwrap();
        }
    }
    text += "]\nlinks = [\n";
    for (a, b) in links {
        writeln!(text, "{{ a = \"{a}\", b = \"{b}\", rate = \"100Gbps\", delay = \"1us\" }},")
            .unwrap();
    }
    text + "]\n" + rest
}

/// A network without order: nearly each switch has its own set of ports to each other.
#[test]
fn a_random_graph_of_many_switches_has_its_routes() {
    const SWITCHES: usize = 500;
    let mut links: Vec<_> = (0..SWITCHES).map(|n| (format!("h{n}"), format!("s{n}"))).collect();
    let mut draw = 1_u64;
    for turn in 0..11 {
        for from in 0..SWITCHES {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            // The first turn is a ring, so that all are reached.
            let step = if turn == 0 { 1 } else { 1 + (draw >> 33) as usize % (SWITCHES - 1) };
            links.push((format!("s{from}"), format!("s{}", (from + step) % SWITCHES)));
        }
    }
    let result = run(&custom(
        SWITCHES,
        SWITCHES,
        &links,
        "[[traffic]]\nkind = \"permutation\"\nsize = \"1000B\"\n",
    ));
    assert_eq!(result.summary.flows_done, SWITCHES as u64);
    // All that is sent arrives over shortest paths: alone, each message takes its ideal time.
    let slowdown = result.summary.slowdown.p50.unwrap();
    assert!(slowdown < 1.05, "{slowdown}");
}

/// A host with 300 cables, of which the last leads straight to where its messages go.
#[test]
fn a_host_sends_through_any_of_its_ports() {
    const CABLES: usize = 300;
    let mut links = Vec::new();
    for number in 0..CABLES {
        links.push(("h0".to_owned(), format!("s{number}")));
    }
    // The last but one and the host behind it are reached from all others; the last alone is near.
    for number in 0..CABLES - 1 {
        links.push((format!("s{number}"), format!("s{CABLES}")));
    }
    links.push((format!("s{CABLES}"), format!("s{}", CABLES - 1)));
    links.push(("h1".to_owned(), format!("s{}", CABLES - 1)));
    let flow = "[[traffic]]\nkind = \"flows\"\n\
                flows = [{ src = \"h0\", dst = \"h1\", size = \"100KB\" }]\n";
    for scheme in ["none", "dcqcn", "hpcc"] {
        let text = custom(2, CABLES + 1, &links, flow);
        let result = common::run_with(&text, &[("scheme", scheme)]);
        let port = |node: &str, number: u16| {
            let ports = &result.ports;
            let is = |place: &usize| {
                let name = &ports.node_names[ports.node[*place] as usize];
                name == node && ports.port[*place] == number
            };
            (0..ports.len()).find(is).expect("there is such a port")
        };
        let last = port("h0", CABLES as u16 - 1);
        assert_eq!(result.ports.tx_packets[last], 100, "{scheme}");
        let sent = (0..CABLES as u16).map(|number| result.ports.tx_packets[port("h0", number)]);
        assert_eq!(sent.sum::<u64>(), 100, "{scheme}");
        assert_eq!(result.summary.flows_done, 1);
    }
}

/// Where times are cut to whole nanoseconds, small frames take none on fast links: any number of
/// them comes at one instant, in order, on any threads.
#[test]
fn frames_that_take_no_time_keep_their_order_on_any_threads() {
    let text = r#"
        [topology]
        kind = "fat-tree"
        k = 4
        host_rate = "10Tbps"
        host_delay = "1us"
        rate = "10Tbps"
        delay = "1us"
        [wire]
        profile = "hpcc-ns3"
        [quirks]
        whole_nanoseconds = true
        ns3_tie_order = true
        ns3_ecmp_hash = true
        [switch]
        buffer = "64MB"
        [[traffic]]
        kind = "incast"
        senders = 15
        receiver = "h0"
        size = "200KB"
        [[traffic]]
        kind = "permutation"
        size = "300KB"
    "#;
    let one = run_on(text, &[], 1);
    assert_eq!(one.summary.flows_done, one.summary.flows);
    assert_eq!(one.summary.out_of_order_packets, 0);
    for threads in [1, 2, 3] {
        assert_eq!(run_on(text, &[], threads).summary.digest, one.summary.digest, "{threads}");
    }
}

/// Protects every scheme from links that come and go: what was lost is sent again, feedback that
/// was lost or comes another way keeps nobody, and threads change nothing.
#[test]
fn every_scheme_gets_along_with_links_that_come_and_go() {
    let mut text = r#"
        [topology]
        kind = "leaf-spine"
        leaves = 3
        spines = 2
        hosts_per_leaf = 4
        host_rate = "100Gbps"
        host_delay = "1us"
        rate = "100Gbps"
        delay = "1us"
        [run]
        time_limit = "100ms"
        [[traffic]]
        kind = "permutation"
        size = "1MB"
        [[traffic]]
        kind = "incast"
        senders = ["h4..h11"]
        receiver = "h0"
        size = "200KB"
    "#
    .to_owned();
    for (link, at, until) in [
        ("leaf0:spine0", 20, Some(40)),
        ("leaf1:spine0", 30, Some(50)),
        ("leaf0:spine1", 60, Some(80)),
        ("leaf0:spine0", 100, Some(110)),
        ("leaf2:spine1", 120, None),
    ] {
        writeln!(text, "[[failure]]\nlink = \"{link}\"\nat = \"{at}us\"").unwrap();
        if let Some(until) = until {
            writeln!(text, "until = \"{until}us\"").unwrap();
        }
    }
    for scheme in schemes::registry::all().iter().filter(|scheme| !scheme.input_queues) {
        let run = |threads| common::run_on(&text, &[("scheme", scheme.name)], threads).summary;
        let one = run(1);
        assert_eq!(one.flows_done, one.flows, "{}: {:?}", scheme.name, one.warnings);
        assert!(one.lost_packets > 0, "{}", scheme.name);
        assert_eq!(run(3).digest, one.digest, "{} on 3 threads", scheme.name);
    }
}
