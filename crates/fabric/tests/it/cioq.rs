//! Combined input- and output-queued switches: nothing is lost, nobody starves, order is kept, and
//! a crossbar twice as fast as the links carries all they bring.

use crate::common;
use crate::common::random::{Case, build, cases};
use crate::common::{
    Build, FIRST, FULL, G100, US, essence, fct, lossless, pauses, port, run, star,
};
use fabric::{
    Cioq, Probe, ProbeKind, ProbeTargets, RunOutput, Setup, SetupError, Simulation, Threshold,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use schemes::dcqcn::{self, Dcqcn};
use schemes::expresspass::{self, ExpressPass};
use schemes::hiercc::{self, Hiercc};
use schemes::none::{NoControl, NoParams};
use schemes::rate_window::WindowMode;
use std::cell::Cell;
use units::{Bytes, NodeId, PortId, Rate, Time};

const NO_PARAMS: NoParams = NoParams { window: WindowMode::None };

/// 100 KB queues, Xoff 70 KB, Xon 50 KB.
fn cioq(setup: &mut Setup, speedup: f64) {
    let room = Bytes::new(100_000);
    setup.switch.cioq = Some(Cioq { speedup, input_queue: room, output_queue: room });
    let (xoff, xon) = (Bytes::new(70_000), Bytes::new(50_000));
    setup.pfc.threshold = Threshold::Static { xoff, xon };
}

fn run_none(setup: &Setup) -> RunOutput {
    run::<NoControl>(setup, NO_PARAMS, 1)
}

/// Protects the promise of ideal completion times: an empty CIOQ switch takes no time of its own,
/// whatever its speed-up.
#[test]
fn alone_a_message_takes_as_long_as_through_a_shared_memory_switch() {
    for speedup in [1.0, 2.0, 3.5] {
        let mut setup = common::line(3, G100, US);
        setup.message(0, 1, 123_456, Time::ZERO);
        let shared = fct(&run_none(&setup), 0);
        cioq(&mut setup, speedup);
        let output = run_none(&setup);
        assert_eq!(fct(&output, 0), shared, "speed-up {speedup}");
        assert_eq!(output.ideal[0].ps(), shared);
    }
}

/// Protects PFC's promise on the networks on which shared-memory switches keep it, small input
/// queues included; and threads change nothing.
#[test]
fn nothing_is_lost_on_a_hundred_random_networks() {
    let config = Config { cases: 100, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let (ran, paused) = (Cell::new(0), Cell::new(0));
    let run_case = |case: &Case, setup: &Setup, threads: usize| match case.law {
        common::random::Law::None => run::<NoControl>(setup, NO_PARAMS, threads),
        _ => run::<Dcqcn>(setup, dcqcn::presets::paper(setup.links[0].rate), threads),
    };
    let result = runner.run(&cases(), |case| {
        let mut setup = build(&case);
        setup.pfc.threshold =
            Threshold::Static { xoff: Bytes::new(20_000), xon: Bytes::new(15_000) };
        let (input, output) = (Bytes::new(10_000_000), Bytes::new(12_000));
        let speedup = [1.0, 1.5, 2.0][ran.get() % 3];
        setup.switch.cioq = Some(Cioq { speedup, input_queue: input, output_queue: output });
        let output = run_case(&case, &setup, 1);
        lossless(&setup, &output).map_err(TestCaseError::fail)?;
        ran.set(ran.get() + 1);
        paused.set(paused.get() + u32::from(pauses(&output) > 0));
        if ran.get() % 8 == 0 {
            for threads in [2, 4] {
                let other = run_case(&case, &setup, threads);
                prop_assert_eq!(essence(&output), essence(&other), "on {} threads", threads);
            }
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(paused.get() >= 50, "only {} of {} cases paused anyone", paused.get(), ran.get());
}

/// Each of `hosts` hosts sends to all others without end, the n-th message of a host to the n-th
/// host after it: uniform traffic at full load.
fn uniform(hosts: u32, speedup: f64) -> Setup {
    let mut setup = star(hosts, G100, US);
    for src in 0..hosts {
        for step in 1..hosts {
            setup.message(src, (src + step) % hosts, 100_000_000, Time::ZERO);
        }
    }
    cioq(&mut setup, speedup);
    (setup.until_done, setup.stop) = (false, US * 400);
    setup
}

/// Bytes that the switch of a star sent to its hosts over what its links carry from 100 us on.
fn throughput(setup: &mut Setup, hosts: u32) -> f64 {
    let ports = (0..hosts).map(|port| (NodeId::new(hosts), PortId::new(port as u16))).collect();
    let (start, end) = (US * 100, setup.stop - US);
    setup.probes.push(Probe {
        kind: ProbeKind::Utilisation,
        priority: None,
        interval: end - start,
        start,
        end,
        targets: ProbeTargets::Ports(ports),
    });
    let output = run_none(setup);
    assert_eq!(output.samples.count(0), hosts as usize);
    output.samples.of(0).map(Result::unwrap).map(|sample| sample.value).sum::<f64>()
        / f64::from(hosts)
}

/// Protects the crossbar's worth: at a speed-up of 2 the links are full. iSLIP fills them even
/// without one where all VOQs always have something to send; a crossbar that served one VOQ after
/// another would not.
#[test]
fn uniform_traffic_fills_the_links() {
    for speedup in [2.0, 1.0] {
        let share = throughput(&mut uniform(12, speedup), 12);
        assert!(share >= 0.98, "{share} at a speed-up of {speedup}");
    }
}

/// Protects against starvation: at a speed-up of 1 input 0 is asked by three outputs, and output 3
/// by all inputs. iSLIP's pointers give each VOQ its turn.
#[test]
fn no_queue_starves() {
    let mut setup = star(6, G100, US);
    let mut pairs = vec![];
    for (src, dst) in [(0, 3), (1, 3), (2, 3), (0, 4), (0, 5), (1, 4), (2, 5)] {
        pairs.push(setup.message(src, dst, 100_000_000, Time::ZERO));
    }
    cioq(&mut setup, 1.0);
    (setup.until_done, setup.stop) = (false, US * 1_001);
    setup.probes.push(Probe {
        kind: ProbeKind::Goodput,
        priority: None,
        interval: US * 800,
        start: US * 200,
        end: US * 1_000,
        targets: ProbeTargets::Flows(pairs.iter().map(|&f| units::FlowId::new(f as u32)).collect()),
    });
    let output = run_none(&setup);
    for sample in output.samples.of(0).map(Result::unwrap) {
        assert!(sample.value > 10e9, "flow {} gets {} b/s", sample.target, sample.value);
    }
    assert_eq!(output.samples.count(0), pairs.len());
}

/// Protects the arithmetic of shares: inputs take turns, however many flows come through each. Of
/// five senders four share a link into the switch and get an eighth each, the fifth a half.
#[test]
fn inputs_share_an_output_evenly() {
    let mut setup = common::empty();
    let hosts: Vec<u32> = (0..6).map(|_| setup.host()).collect();
    let (near, far) = (setup.switch(1), setup.switch(1));
    for &host in &hosts[..4] {
        setup.cable(host, near, G100, US);
    }
    setup.cable(hosts[4], far, G100, US);
    setup.cable(hosts[5], far, G100, US);
    setup.cable(near, far, G100, US);
    let flows: Vec<usize> =
        (0..5).map(|host| setup.message(hosts[host], hosts[5], 100_000_000, Time::ZERO)).collect();
    cioq(&mut setup, 2.0);
    (setup.until_done, setup.stop) = (false, US * 501);
    setup.probes.push(Probe {
        kind: ProbeKind::Goodput,
        priority: None,
        interval: US * 400,
        start: US * 100,
        end: US * 500,
        targets: ProbeTargets::Flows(flows.iter().map(|&f| units::FlowId::new(f as u32)).collect()),
    });
    let output = run_none(&setup);
    let goodput = 100e9 * 1000.0 / FULL as f64;
    for sample in output.samples.of(0).map(Result::unwrap) {
        let share = sample.value / goodput;
        let expected = if sample.target == 4 { 0.5 } else { 0.125 };
        assert!((share / expected - 1.0).abs() < 0.02, "flow {}: {share}", sample.target);
    }
}

/// Protects the bounds of the queues: what waits at an output never exceeds its queue, and an input
/// whose class PFC does not protect drops beyond its own.
#[test]
fn queues_hold_what_they_are_given() {
    let mut setup = star(5, G100, US);
    for src in 0..4 {
        setup.message(src, 4, 500_000, Time::ZERO);
    }
    cioq(&mut setup, 2.0);
    let output = run_none(&setup);
    lossless(&setup, &output).unwrap();
    let most = port(&output, 5, 4).max_queue_bytes;
    assert!(most <= 100_000 && most > 100_000 - 2 * FULL, "{most}");

    setup.pfc.lossless = 0;
    (setup.until_done, setup.stop) = (false, US * 30);
    let output = run_none(&setup);
    common::balances(&output).unwrap();
    let dropped: u64 = (0..4).map(|input| port(&output, 5, input).dropped_packets).sum();
    assert!(dropped > 0 && output.lossless_drops == 0, "{dropped}");
}

/// Protects from silent loss: room for what still comes after a pause is asked for before the run,
/// as are switches that some schemes can't do without.
#[test]
fn what_does_not_fit_is_refused() {
    let mut setup = star(3, G100, US);
    setup.message(0, 1, 1_000, Time::ZERO);
    cioq(&mut setup, 2.0);
    // Xoff, three packets, a PFC frame, a round trip on the cable.
    let needed = 70_000 + 3 * FIRST + 84 + 25_000 + 1;
    assert!(needed < 100_000);
    setup.switch.cioq.as_mut().unwrap().input_queue = Bytes::new(needed - 1);
    let refused = Simulation::<NoControl>::new(&setup, NO_PARAMS).err();
    assert_eq!(refused, Some(SetupError::InputQueueTooSmall { node: NodeId::new(3), needed }));
    setup.switch.cioq.as_mut().unwrap().input_queue = Bytes::new(needed);
    assert!(Simulation::<NoControl>::new(&setup, NO_PARAMS).is_ok());

    let line = Rate::from_gbps(100);
    let refused = Simulation::<Hiercc>::new(&setup, hiercc::presets::path(line)).err();
    assert_eq!(refused, Some(SetupError::NotForCioq));
    let params = expresspass::presets::xpass(line);
    assert_eq!(Simulation::<ExpressPass>::new(&setup, params).err(), Some(SetupError::NotForCioq));
}
