//! Packets of a QP that take turns over the ports of its host.

use crate::common::{BYTE, Build, FULL, G100, US, empty, fct, run};
use fabric::{PortUse, RunOutput, Setup, Span, Threshold};
use schemes::none::{NoControl, NoParams};
use schemes::rate_window::WindowMode;
use units::{Bytes, NodeId, Rate, Time};

/// Two hosts, 0 and 1, with a port at each of `switches` switches, which follow.
fn planes(switches: u32) -> Setup {
    let mut setup = empty();
    let hosts = [setup.host(), setup.host()];
    for _ in 0..switches {
        let switch = setup.switch(1);
        hosts.iter().for_each(|&host| setup.cable(host, switch, G100, US));
    }
    setup.host.ports = PortUse::Spray;
    setup.host.recovery.reorder = Span::Packets(16_000);
    setup
}

fn run_alone(setup: &Setup) -> RunOutput {
    let params = || NoParams { window: WindowMode::None };
    let output = run::<NoControl>(setup, params(), 1);
    let mut reference = setup.clone();
    reference.reference_mode = true;
    let expected = run::<NoControl>(&reference, params(), 1);
    assert_eq!(output.flows, expected.flows, "the reference engine says otherwise");
    output
}

/// Data packets and all packets that left through each port of a node.
fn sent(output: &RunOutput, node: u32) -> Vec<(u64, u64)> {
    let of_node = output.ports.iter().filter(|report| report.node == NodeId::new(node));
    of_node.map(|it| (it.counters.tx_data_packets, it.counters.tx_packets)).collect()
}

/// Protects the closed form: with n ports each has every n-th packet, and the ACKs go back the way
/// that their data came. The completion time is the ideal one.
#[test]
fn a_message_over_several_ports_takes_its_ideal_time() {
    for switches in [1, 2, 4, 7] {
        for packets in [1, 2, 3, 8, 1000] {
            let mut setup = planes(switches);
            // The last packet is a short one.
            setup.message(0, 1, packets * 1000 - 900, Time::ZERO);
            let output = run_alone(&setup);
            let most = packets.div_ceil(u64::from(switches));
            let data = sent(&output, 0);
            assert!(data.iter().all(|(data, _)| *data == most || *data + 1 == most), "{data:?}");
            let acks: Vec<u64> = sent(&output, 1).iter().map(|(_, all)| *all).collect();
            assert_eq!(acks, data.iter().map(|(data, _)| *data).collect::<Vec<_>>());
            // Data that arrived at one instant over several ports makes one cumulative ACK wait
            // for another only where the message ends.
            let ideal = output.ideal[0];
            let late = fct(&output, 0).abs_diff(ideal.ps());
            assert!(late <= FULL * BYTE, "{switches} switches, {packets} packets: {late} ps");
            assert_eq!(output.flows[0].retransmitted_bytes, 0);
        }
    }
}

/// Protects that no packet waits at a paused port while another one is free: with one of two
/// planes slow and lossless, the other one carries what it can.
#[test]
fn paused_ports_are_passed_over() {
    let mut setup = planes(2);
    // Behind the first switch, packets leave at a tenth of the rate that they come in with.
    setup.links[1].rate = Rate::from_gbps(10);
    setup.pfc.threshold = Threshold::Static { xoff: Bytes::new(20_000), xon: Bytes::new(18_000) };
    setup.message(0, 1, 10_000_000, Time::ZERO);
    let output = run_alone(&setup);
    let data = sent(&output, 0);
    let share = data[1].0 as f64 / data[0].0 as f64;
    assert!((9.0..10.5).contains(&share), "rates of 100 and 10 Gb/s: {data:?}");
    // 10,000 packets at 110 Gb/s, and at the end what waits at the slow port: Xoff, and what came
    // in while the pause was on its way, 2 us at 100 Gb/s.
    let both = 10_000 * FULL * BYTE * 100 / 110;
    let rest = (20_000 + 25_000) * BYTE * 10;
    let took = fct(&output, 0);
    assert!((both..both + rest + 10 * US.ps()).contains(&took), "{took} ps, {both} at 110 Gb/s");
}

/// Protects that a host whose port is cut goes on with the others, and comes back to it.
#[test]
fn a_host_goes_on_with_the_ports_that_are_left() {
    let mut setup = planes(4);
    let (from, until) = (Time::from_us(100), Time::from_us(400));
    setup.outages.push(fabric::Outage { link: 0, from, until, entry: 0 });
    setup.host.retransmit_timeout = Time::from_us(50);
    setup.message(0, 1, 40_000_000, Time::ZERO);
    let output = run_alone(&setup);
    let data = sent(&output, 0);
    let others = data[1..].iter().map(|(data, _)| *data);
    assert!(others.clone().max() < others.min().map(|least| least + 400), "{data:?}");
    let without = (until - from).ps() / (FULL * BYTE);
    assert!(data[0].0 + without / 4 < data[1].0, "it sends nothing for 300 us: {data:?}");
    assert!(data[0].0 > 2 * (from.ps() / (FULL * BYTE)), "it sends again after that: {data:?}");
}
