//! Which way packets go: spanning trees, and data and ACKs on one path.

use crate::common::random::{Case, Law, Shape, Traffic, build};
use crate::common::{ACK, Build, FIRST, FULL, G100, US, empty, fct, run};
use fabric::{NodeKind, Paths, RunOutput, Setup, SetupError, Simulation};
use schemes::none::{NoControl, NoParams};
use schemes::rate_window::WindowMode;
use units::{Bytes, Rate, Time};

/// The cables that carried data, and those that carried ACKs alone in a direction, with the number
/// of packets.
fn ways(setup: &Setup, output: &RunOutput) -> (Vec<(usize, u64)>, Vec<(usize, u64)>) {
    let mut data = Vec::new();
    let mut acks = Vec::new();
    for report in &output.ports {
        let cables = setup.links.iter().enumerate();
        let mut own = cables.filter(|(_, cable)| [cable.a, cable.b].contains(&report.node));
        let (cable, _) = own.nth(report.port.index()).unwrap();
        match (report.counters.tx_data_packets, report.counters.tx_packets) {
            (0, 0) => {}
            (0, acknowledged) => acks.push((cable, acknowledged)),
            (sent, _) => data.push((cable, sent)),
        }
    }
    data.sort_unstable();
    acks.sort_unstable();
    (data, acks)
}

/// Protects the promise of spanning trees, that ACKs return over the data's cables in any network,
/// on 200 random ones; and that the tables' longest path and round trip bound every one.
#[test]
fn in_a_spanning_tree_acks_return_over_the_cables_of_the_data() {
    let shapes = [Shape::Mesh, Shape::Tree, Shape::LeafSpine, Shape::FatTree];
    for seed in 0..200 {
        let case = Case {
            shape: shapes[seed as usize % 4],
            traffic: Traffic::Listed,
            law: Law::None,
            dynamic: false,
            ack_every: 1,
            acks_with_data: false,
            seed,
        };
        let mut setup = build(&case);
        setup.paths = Paths::SpanningTrees(1 + seed as u32 % 7);
        setup.messages.truncate(1);
        // Without pause frames on the ACKs' ports.
        setup.pfc.lossless = 0;
        let output = run::<NoControl>(&setup, NoParams { window: WindowMode::None }, 1);
        let (data, acks) = ways(&setup, &output);
        assert_eq!(data, acks, "seed {seed}");
        // The first packet and its ACK alone take no longer than the network's round trip.
        if setup.messages[0].size.get() <= u64::from(setup.payload) {
            assert!(output.flows[0].fct <= output.network_rtt + US, "seed {seed}");
        }
    }
}

/// Two pods of two leaves and two aggregation switches under four cores: nodes 0 to 3 are hosts.
fn pods() -> Setup {
    let mut setup = empty();
    let hosts: Vec<u32> = (0..4).map(|_| setup.host()).collect();
    let leaves: Vec<u32> = (0..4).map(|_| setup.switch(1)).collect();
    let aggs: Vec<u32> = (0..4).map(|_| setup.switch(2)).collect();
    let cores: Vec<u32> = (0..4).map(|_| setup.switch(3)).collect();
    for (host, leaf) in hosts.iter().zip(&leaves) {
        setup.cable(*host, *leaf, G100, US);
    }
    for (number, &leaf) in leaves.iter().enumerate() {
        for agg in &aggs[number / 2 * 2..][..2] {
            setup.cable(leaf, *agg, G100, US);
        }
    }
    for (number, &agg) in aggs.iter().enumerate() {
        for core in &cores[number % 2 * 2..][..2] {
            setup.cable(agg, *core, G100, US);
        }
    }
    setup
}

/// Protects the trees of a fat tree: with one for each core, QPs between pods take them all, and
/// no path is longer than the shortest.
#[test]
fn the_trees_of_a_fat_tree_are_the_paths_of_ecmp() {
    let mut setup = pods();
    setup.paths = Paths::SpanningTrees(4);
    for number in 0..64 {
        setup.message(0, 3, 1_000, US * (100 * number));
    }
    let output = run::<NoControl>(&setup, NoParams { window: WindowMode::None }, 1);
    // Six cables of a microsecond each way; the packet and its ACK on each, at 80 ps a byte.
    let expected = Time::from_ps(6 * (FIRST + ACK) * 80) + US * 12;
    for flow in 0..64 {
        assert_eq!(fct(&output, flow), expected.ps());
    }
    let full = Time::from_ps(6 * (FULL + ACK) * 80) + US * 12;
    assert_eq!(output.network_rtt, full);
    for core in 12..16 {
        let sent = output.ports.iter().filter(|port| port.node.get() == core);
        let data: u64 = sent.map(|port| port.counters.tx_data_packets).sum();
        assert!((4..=32).contains(&data), "core {core} carried {data} of 64");
    }
}

/// Protects what hosts with several cables get: they hang on their switches in turn, tree by tree.
#[test]
fn hosts_on_two_switches_use_both() {
    let mut setup = empty();
    let (a, b) = (setup.host(), setup.host());
    let switches = [setup.switch(1), setup.switch(1)];
    for host in [a, b] {
        for switch in switches {
            setup.cable(host, switch, G100, US);
        }
    }
    setup.cable(switches[0], switches[1], G100, US);
    setup.paths = Paths::SpanningTrees(2);
    for number in 0..32 {
        setup.message(a, b, 1_000, US * (100 * number));
    }
    let output = run::<NoControl>(&setup, NoParams { window: WindowMode::None }, 1);
    for switch in switches {
        let sent = output.ports.iter().filter(|port| port.node.get() == switch);
        let data: u64 = sent.map(|port| port.counters.tx_data_packets).sum();
        assert!((8..=24).contains(&data), "switch {switch} carried {data} of 32");
    }
    let between = |port: &&fabric::PortReport| {
        setup.nodes[port.node.index()].kind == NodeKind::Switch
            && setup.nodes[port.peer.index()].kind == NodeKind::Switch
    };
    let crossed: u64 =
        output.ports.iter().filter(between).map(|port| port.counters.tx_packets).sum();
    assert_eq!(crossed, 0, "both hosts are on the tree's switch");
}

/// Protects from trees that leave someone out.
#[test]
fn hosts_without_a_common_switch_have_no_spanning_tree() {
    let mut setup = empty();
    let (a, b) = (setup.host(), setup.host());
    setup.cable(a, b, G100, US);
    setup.paths = Paths::SpanningTrees(1);
    setup.message(a, b, 1_000, Time::ZERO);
    let refused = Simulation::<NoControl>::new(&setup, NoParams { window: WindowMode::None }).err();
    assert_eq!(refused, Some(SetupError::NoSpanningTree));
}

/// Protects the window of laws that take the network's BDP: it is that of a pair of hosts, at the
/// lowest rate of their path, also where hosts on one switch have links of different rates.
#[test]
fn the_bdp_of_a_network_is_that_of_a_pair() {
    let links = [(100, 1), (25, 3), (50, 2), (10, 9)];
    for used in 1..1 << links.len() {
        let mut setup = empty();
        let chosen: Vec<(u64, u64)> =
            (0..links.len()).filter(|bit| used & 1 << bit != 0).map(|bit| links[bit]).collect();
        // Two switches with one host of each kind, or one with two of them.
        let kinds = if chosen.len() == 1 { vec![chosen[0]; 2] } else { chosen };
        let hosts: Vec<u32> = kinds.iter().map(|_| setup.host()).collect();
        let near = setup.switch(1);
        for (host, &(gbps, us)) in hosts.iter().zip(&kinds) {
            setup.cable(*host, near, Rate::from_gbps(gbps), US * us);
        }
        setup.message(0, 1, 1_000, Time::ZERO);
        let output = run::<NoControl>(&setup, NoParams { window: WindowMode::None }, 1);
        let rtt = |(gbps, us): (u64, u64)| {
            let rate = Rate::from_gbps(gbps);
            rate.time_for(Bytes::new(FULL)) + rate.time_for(Bytes::new(ACK)) + US * (2 * us)
        };
        let pairs = (0..kinds.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let bdp = pairs.map(|(a, b)| {
            let slower = Rate::from_gbps(kinds[a].0.min(kinds[b].0));
            slower.bytes_in(rtt(kinds[a]) + rtt(kinds[b]))
        });
        assert_eq!(output.network_bdp, bdp.max(), "{kinds:?}");
    }
}
