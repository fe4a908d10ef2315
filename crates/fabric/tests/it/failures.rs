//! Links that fail and links that damage packets: what is lost, and that everything else goes on.

use crate::common;
use crate::common::{Build, FIRST, FULL, G100, US, balances, empty, essence, fct, port, run};
use fabric::{
    Balance, Outage, PacketEventKind, Paths, PfcEvent, Probe, ProbeKind, ProbeTargets, Quirks,
    RunOutput, ScanQuirks, Setup, SetupError, Simulation, SlowReceiver, Threshold,
};
use model::Conga;
use schemes::contract::PacketKind;
use schemes::none::{NoControl, NoParams};
use schemes::rate_window::WindowMode;
use units::{Bytes, NodeId, PortId, Rate, Time};

const RAW: NoParams = NoParams { window: WindowMode::None };

/// Hosts first, then leaves, then spines; every leaf is linked to every spine.
fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32) -> Setup {
    let mut setup = empty();
    let hosts: Vec<u32> = (0..leaves * hosts_per_leaf).map(|_| setup.host()).collect();
    let leaf: Vec<u32> = (0..leaves).map(|_| setup.switch(1)).collect();
    let spine: Vec<u32> = (0..spines).map(|_| setup.switch(2)).collect();
    for &host in &hosts {
        setup.cable(host, leaf[(host / hosts_per_leaf) as usize], G100, US);
    }
    for &leaf in &leaf {
        for &spine in &spine {
            setup.cable(leaf, spine, G100, US);
        }
    }
    setup.host.retransmit_timeout = Time::from_us(200);
    setup
}

fn fail(setup: &mut Setup, a: u32, b: u32, from: Time) {
    fail_until(setup, a, b, (from, Time::NEVER));
}

fn fail_until(setup: &mut Setup, a: u32, b: u32, (from, until): (Time, Time)) {
    let (a, b) = (NodeId::new(a), NodeId::new(b));
    let cable = setup.links.iter().position(|cable| (cable.a, cable.b) == (a, b));
    let cable = cable.expect("there is one") as u32;
    setup.outages.push(Outage { link: cable, from, until, entry: 0 });
}

fn lost(output: &RunOutput) -> u64 {
    output.ports.iter().map(|port| port.counters.lost_packets).sum()
}

/// Protects what a failure costs, to the packet: what is on the wire between the leaf and the spine
/// at that time, in both directions; and that the flow goes on over the other spine.
#[test]
fn what_is_on_the_wire_is_lost_and_the_rest_takes_the_other_way() {
    let mut setup = leaf_spine(2, 2, 1);
    let (leaf, spines) = (2, [4, 5]);
    setup.message(0, 1, 400_000, Time::ZERO);
    let whole = run::<NoControl>(&setup, RAW, 1);
    // Ports of a leaf: its host, then the spines. What data and ACKs take is the hash's choice.
    let used = (1..3).find(|&spine| port(&whole, leaf, spine).tx_data_packets > 0).unwrap();
    let spine = spines[usize::from(used) - 1];
    let at = Time::from_us(10);
    fail(&mut setup, leaf, spine, at);
    let output = run::<NoControl>(&setup, RAW, 1);
    // The n-th packet leaves the leaf when it has arrived there: the leaf only adds a microsecond
    // and its own serialisation to it.
    let leaves = |n: u64| (FIRST + (n - 1) * FULL) * 80 + 1_000_000;
    let arrives = |n: u64| {
        let size = if n == 1 { FIRST } else { FULL };
        leaves(n).max(if n == 1 { 0 } else { leaves(n - 1) + FULL * 80 }) + size * 80 + 1_000_000
    };
    let on_wire = (1..400).filter(|&n| leaves(n) < at.ps() && arrives(n) >= at.ps()).count();
    assert_eq!(on_wire, 12, "of 1 us and a packet at 86.56 ns each");
    assert_eq!(port(&output, spine, 0).lost_packets, on_wire as u64);
    // ACKs come back on the same cable or on the other one.
    let acks_lost = port(&output, leaf, used).lost_packets;
    assert_eq!(acks_lost > 0, port(&whole, spine, 0).tx_packets > 0);
    assert_eq!(lost(&output), on_wire as u64 + acks_lost);
    let gone = port(&output, leaf, used).tx_packets;
    assert!(gone < port(&whole, leaf, used).tx_packets / 2, "nothing goes there any more");
    assert!(port(&output, leaf, 3 - used).tx_data_packets > 200);
    assert!(fct(&output, 0) > fct(&whole, 0));
    assert!(output.flows[0].retransmitted_bytes >= 1000 * on_wire as u64);
    balances(&output).unwrap();
}

/// Protects queues, pauses and the buffer's books at a failing port: twelve hosts press through few
/// links while one link after another fails, for good or for a while. Everything ends, the books
/// balance, and neither threads nor the plain engine nor the way paths are chosen change that.
#[test]
fn failures_under_pressure_leave_no_one_behind() {
    let us = Time::from_us;
    // Leaves are nodes 12 to 15, spines 16 to 18. All keep spine 18: ways that go up and down again
    // may close circles of pauses.
    let for_good = [
        (12, 16, (us(20), Time::NEVER)),
        (13, 16, (us(20), Time::NEVER)),
        (12, 17, (us(47), Time::NEVER)),
    ];
    let for_a_while = [
        (12, 16, (us(20), us(30))),
        (12, 16, (us(35), us(50))),
        (13, 16, (us(20), us(24))),
        (12, 17, (us(47), us(60))),
        (15, 17, (us(10), Time::NEVER)),
    ];
    for paths in [Paths::FiveTuple, Paths::Symmetric, Paths::SpanningTrees(3)] {
        let mut whole = leaf_spine(4, 3, 3);
        whole.paths = paths;
        whole.pfc.threshold =
            Threshold::Static { xoff: Bytes::new(20_000), xon: Bytes::new(15_000) };
        for src in 0..12 {
            for step in [1, 4, 7] {
                whole.message(src, (src + step) % 12, 150_000, Time::ZERO);
            }
        }
        for src in 3..12 {
            whole.message(src, 0, 100_000, Time::ZERO);
        }
        let pauses = common::pauses(&run::<NoControl>(&whole, RAW, 1));
        assert!(pauses > 100, "there is pressure");
        for outages in [&for_good[..], &for_a_while] {
            let mut setup = whole.clone();
            for &(leaf, spine, span) in outages {
                fail_until(&mut setup, leaf, spine, span);
            }
            let output = run::<NoControl>(&setup, RAW, 1);
            for flow in 0..setup.messages.len() {
                fct(&output, flow);
            }
            assert!(lost(&output) > 10, "{paths:?}: queues and cables were full");
            balances(&output).unwrap();
            assert!(output.audits.iter().all(|audit| audit.stored == 0), "{paths:?}");
            for threads in [2, 3] {
                let other = run::<NoControl>(&setup, RAW, threads);
                assert_eq!(essence(&output), essence(&other), "{paths:?} on {threads} threads");
            }
            setup.reference_mode = true;
            let other = run::<NoControl>(&setup, RAW, 1);
            assert_eq!(essence(&output), essence(&other), "{paths:?} by the book");
        }
    }
}

/// Protects repairs: what is lost is what was lost without, and then the flow takes its old way
/// again.
#[test]
fn a_link_that_is_repaired_is_used_again() {
    let mut setup = leaf_spine(2, 2, 1);
    let (leaf, spines) = (2, [4, 5]);
    setup.message(0, 1, 4_000_000, Time::ZERO);
    let whole = run::<NoControl>(&setup, RAW, 1);
    let used = (1..3).find(|&spine| port(&whole, leaf, spine).tx_data_packets > 0).unwrap();
    let (from, until) = (Time::from_us(10), Time::from_us(60));
    let broken = |until: Time| {
        let mut setup = setup.clone();
        fail_until(&mut setup, leaf, spines[usize::from(used) - 1], (from, until));
        run::<NoControl>(&setup, RAW, 1)
    };
    let (for_good, repaired) = (broken(Time::NEVER), broken(until));
    assert_eq!(lost(&repaired), lost(&for_good));
    balances(&repaired).unwrap();
    let (old, new) = (used, 3 - used);
    assert!(port(&for_good, leaf, old).tx_data_packets < 120, "10 us");
    // 50 us of 360 or more over the other spine, and the rest again over this one.
    let detour = port(&repaired, leaf, new).tx_data_packets;
    assert!((500..650).contains(&detour), "{detour}");
    assert!(port(&repaired, leaf, old).tx_data_packets > 3_300);
}

/// Protects pauses over a repaired link: the paused port has forgotten its pause, and is paused
/// again.
#[test]
fn a_pause_that_holds_over_an_outage_is_told_again() {
    let mut setup = leaf_spine(3, 2, 3);
    setup.pfc.threshold = Threshold::Static { xoff: Bytes::new(20_000), xon: Bytes::new(15_000) };
    setup.records.pfc = true;
    for src in 0..6 {
        for _ in 0..4 {
            setup.message(src, 6, 200_000, Time::ZERO);
        }
    }
    // The leaf of the receiver, and a spine whose third port leads there. The outage is as short as
    // it can be.
    let (leaf, spine) = (11, 12);
    let mut told = 0;
    for at in (30..60).step_by(3).map(Time::from_us) {
        let mut setup = setup.clone();
        let until = at + Time::from_ns(1_200);
        fail_until(&mut setup, leaf, spine, (at, until));
        let output = run::<NoControl>(&setup, RAW, 1);
        (0..setup.messages.len()).for_each(|flow| assert!(fct(&output, flow) > 0));
        assert_eq!(output.lossless_drops, 0);
        balances(&output).unwrap();
        // Sooner than anything that is sent after the repair can have called for it.
        let at_once = until..until + Time::from_ns(1_100);
        let here = |event: &PfcEvent| {
            (event.node.get(), event.port.get(), event.pause) == (spine, 2, true)
        };
        let mut pauses = output.pfc_events.iter().map(Result::unwrap).filter(here);
        told += usize::from(pauses.any(|event| at_once.contains(&event.time)));
    }
    assert!(told > 0, "it was never paused when its link failed");
}

/// Protects from taking what was on a cable when it failed for what was sent after its repair.
#[test]
fn a_cable_is_not_repaired_before_what_was_on_it_would_have_arrived() {
    let mut setup = leaf_spine(2, 2, 1);
    setup.message(0, 1, 1_000, Time::ZERO);
    fail_until(&mut setup, 2, 4, (Time::from_us(10), Time::from_us(11)));
    let refusal = Simulation::<NoControl>::new(&setup, RAW).err();
    let Some(SetupError::OutageTooShort { link: 2, from, min }) = refusal else {
        panic!("{refusal:?}")
    };
    assert_eq!(from, Time::from_us(10));
    // A microsecond and the longest packet, 1098 B at 100 Gb/s, 87.84 ns, in whole nanoseconds.
    assert_eq!(min, Time::from_ns(1_088));
    setup.outages[0].until = from + min + Time::from_ps(1);
    assert!(Simulation::<NoControl>::new(&setup, RAW).is_ok());
}

/// A flow that a failure moves to the only uplink left has moved, and so has one that takes its old
/// uplink again after the repair. The one that it has then is the one that later choices compare.
#[test]
fn moves_to_the_only_path_and_back_are_counted() {
    let gap = Time::from_us(100);
    let conga = Conga { gap, dre_period: Time::from_us(20), alpha: 0.125, bits: 3, age: gap };
    let policies = [
        Balance::LetFlow { gap },
        Balance::Adaptive { levels: Vec::new(), update: Time::ZERO, gap },
        Balance::Conga(conga),
    ];
    let leaf = 2;
    for balance in policies {
        let mut returns = 0;
        for seed in 0..8 {
            let mut setup = leaf_spine(2, 2, 1);
            setup.balance = balance.clone();
            setup.seed = seed;
            setup.message(0, 1, 4_000_000, Time::ZERO);
            let whole = run::<NoControl>(&setup, RAW, 1);
            assert_eq!(whole.path_changes, Some(vec![0]));
            let used = (1..3).find(|&spine| port(&whole, leaf, spine).tx_data_packets > 0).unwrap();
            let span = (Time::from_us(100), Time::from_us(200));
            fail_until(&mut setup, leaf, 3 + u32::from(used), span);
            let output = run::<NoControl>(&setup, RAW, 1);
            // 1,150 packets in 100 us, and all but as many again after the repair.
            let has_returned = port(&output, leaf, used).tx_data_packets > 1_500;
            let moves = 1 + u32::from(has_returned);
            assert_eq!(output.path_changes, Some(vec![moves]), "{balance:?}, seed {seed}");
            returns += moves - 1;
        }
        let draws = matches!(balance, Balance::LetFlow { .. });
        assert!(!draws || (1..8).contains(&returns), "{returns} of 8");
    }
}

/// A host's port that fails gives up a PFC frame that waits for the end of a packet. Such a frame
/// does not count as waiting, so nothing is taken off the port's books.
#[test]
fn a_pause_that_waits_at_a_failing_host_is_dropped() {
    let mut setup = empty();
    let rate = Rate::from_gbps(10);
    let (near, far) = (setup.host(), setup.host());
    let switches = [setup.switch(1), setup.switch(1)];
    for &switch in &switches {
        setup.cable(near, switch, rate, US);
        setup.cable(far, switch, rate, US);
    }
    setup.host.retransmit_timeout = Time::from_us(500);
    setup.slow_receivers.push(SlowReceiver {
        host: NodeId::new(far),
        rate: Rate::from_gbps(1),
        buffer: Bytes::new(100_000),
        xoff: Bytes::new(50_000),
        xon: Bytes::new(40_000),
        from: Time::ZERO,
        until: Time::NEVER,
    });
    for _ in 0..8 {
        setup.message(near, far, 50_000, Time::ZERO);
        setup.message(far, near, 100_000, Time::ZERO);
    }
    setup.records.packets.insert(NodeId::new(far));
    let when = |output: &RunOutput, what: PacketEventKind| {
        let mut events = output.packet_events.iter().map(Result::unwrap);
        let at = |port: PortId| port == PortId::new(0);
        let found = events.find(|event| {
            event.happening == what && event.header.kind == PacketKind::Pfc && at(event.port)
        });
        found.map(|event| event.time)
    };
    let whole = run::<NoControl>(&setup, RAW, 1);
    let waits = when(&whole, PacketEventKind::Enqueued).expect("it pauses its links");
    let leaves = when(&whole, PacketEventKind::Dequeued).expect("the frame leaves");
    assert!(leaves > waits + Time::from_ns(2), "another packet was on the wire");
    let at = waits + Time::from_ps((leaves - waits).ps() / 2);
    fail(&mut setup, far, switches[0], at);
    let output = run::<NoControl>(&setup, RAW, 1);
    assert_eq!(when(&output, PacketEventKind::Dropped), Some(at));
    (0..setup.messages.len()).for_each(|flow| assert!(fct(&output, flow) > 0));
    assert!(port(&output, far, 0).max_queue_bytes < 100_000);
    assert_eq!(balances(&output), Ok(()));
}

/// Protects hosts with two links: when one fails, the QPs on it go on over the other.
#[test]
fn a_host_moves_its_queue_pairs_to_the_cable_that_is_left() {
    for quirks in [
        Quirks::default(),
        Quirks { scan_queue_pairs: Some(ScanQuirks::default()), ..Quirks::default() },
    ] {
        let mut setup = empty();
        setup.quirks = quirks;
        setup.host.retransmit_timeout = Time::from_us(200);
        let (a, b) = (setup.host(), setup.host());
        let (left, right) = (setup.switch(1), setup.switch(1));
        for (host, switch) in [(a, left), (a, right), (b, left), (b, right)] {
            setup.cable(host, switch, G100, US);
        }
        for flow in 0..16 {
            setup.message(a, b, 200_000, Time::from_ns(flow));
        }
        let whole = run::<NoControl>(&setup, RAW, 1);
        assert!((0..2).all(|nic| port(&whole, a, nic).tx_packets > 400), "both cables are used");
        fail(&mut setup, a, left, Time::from_us(50));
        let output = run::<NoControl>(&setup, RAW, 1);
        (0..16).for_each(|flow| assert!(fct(&output, flow) > 0));
        assert!(port(&output, a, 0).tx_packets < port(&whole, a, 0).tx_packets / 2);
        assert!(port(&output, a, 1).tx_data_packets > 2_000);
        balances(&output).unwrap();
    }
}

/// Protects the error rate: that share of packets of every kind is damaged, by draws of each port.
/// Flows recover, and threads change nothing.
#[test]
fn damaged_packets_are_as_many_as_the_rate_says_and_are_sent_again() {
    let mut setup = leaf_spine(2, 2, 4);
    for cable in &mut setup.links {
        cable.error_rate = 0.002;
    }
    for src in 0..4 {
        setup.message(src, src + 4, 4_000_000, Time::ZERO);
        setup.message(src + 4, (src + 1) % 4, 4_000_000, Time::ZERO);
    }
    // The window keeps queues short: a resume that is lost would be a pause for ever.
    let params = NoParams { window: WindowMode::Bdp };
    let output = run::<NoControl>(&setup, params.clone(), 1);
    (0..8).for_each(|flow| assert!(fct(&output, flow) > 0));
    let sent: u64 = output.ports.iter().map(|port| port.counters.tx_packets).sum();
    let (lost, expected) = (lost(&output) as f64, sent as f64 * 0.002);
    // Four standard deviations of a Poisson number.
    assert!((lost - expected).abs() < 4.0 * expected.sqrt(), "{lost} lost of {sent}");
    assert!(output.flows.iter().all(|flow| flow.retransmitted_bytes > 0));
    assert_eq!(essence(&output), essence(&run::<NoControl>(&setup, params.clone(), 3)));
    let mut again = setup.clone();
    again.seed = 2;
    assert_ne!(essence(&output), essence(&run::<NoControl>(&again, params, 1)));
}

/// Protects that a link which damages everything lets nothing through, and that the other direction
/// is drawn for itself.
#[test]
fn a_link_that_damages_everything_delivers_nothing() {
    let mut setup = common::line(1, G100, US);
    setup.message(0, 1, 10_000, Time::ZERO);
    setup.links[1].error_rate = 1.0;
    setup.until_done = false;
    setup.stop = Time::from_ms(1);
    let output = run::<NoControl>(&setup, RAW, 1);
    assert_eq!(output.flows[0].fct, Time::NEVER);
    assert_eq!(port(&output, 1, 0).lost_packets, 10);
    assert_eq!(lost(&output), 10);
}

/// Nobody pauses a port whose link has failed.
#[test]
fn a_failed_port_is_not_paused() {
    let mut setup = leaf_spine(2, 2, 1);
    let (leaf, spine) = (2, 4);
    setup.message(0, 1, 1_000_000, Time::ZERO);
    fail(&mut setup, leaf, spine, Time::from_us(10));
    let ports = (0..3).map(|port| (NodeId::new(leaf), PortId::new(port))).collect();
    setup.probes.push(Probe {
        kind: ProbeKind::Pause,
        priority: None,
        interval: US,
        start: US,
        end: US * 50,
        targets: ProbeTargets::Ports(ports),
    });
    let output = run::<NoControl>(&setup, RAW, 1);
    assert_eq!(output.samples.count(0), 150);
    assert!(output.samples.of(0).map(Result::unwrap).all(|sample| sample.value == 0.0));
}

/// A host's port that fails gives up its ACKs, whatever queue they wait in.
#[test]
fn acks_that_wait_in_a_queue_of_their_own_are_dropped() {
    let mut setup = empty();
    let (near, far) = (setup.host(), setup.host());
    let switches = [setup.switch(1), setup.switch(1)];
    for &switch in &switches {
        setup.cable(near, switch, G100, US);
        setup.cable(far, switch, G100, US);
    }
    setup.host.retransmit_timeout = Time::from_us(200);
    setup.quirks = Quirks {
        scan_queue_pairs: Some(ScanQuirks::default()),
        acks_ignore_pause: true,
        ..Quirks::default()
    };
    for _ in 0..4 {
        setup.message(near, far, 500_000, Time::ZERO);
        setup.message(far, near, 500_000, Time::ZERO);
    }
    setup.records.packets.insert(NodeId::new(far));
    let mut most = 0;
    // One of these times finds an ACK that waits for the end of a packet.
    for step in 0..20 {
        setup.outages.clear();
        fail(&mut setup, far, switches[0], Time::from_us(20) + Time::from_ns(10) * step);
        let output = run::<NoControl>(&setup, RAW, 1);
        (0..setup.messages.len()).for_each(|flow| assert!(fct(&output, flow) > 0));
        assert_eq!(balances(&output), Ok(()));
        let events = output.packet_events.iter().map(Result::unwrap);
        let dropped: Vec<_> =
            events.filter(|event| event.happening == PacketEventKind::Dropped).collect();
        let mut behind = 0;
        for event in dropped.iter().rev() {
            assert_eq!(event.queue_bytes, behind, "what waits behind it");
            behind += u64::from(event.header.size);
        }
        most = most.max(dropped.len());
    }
    assert!(most > 1, "several waited");
}
