//! PFC keeps its promise: whatever the network and the traffic, nothing is lost.

use crate::common;
use crate::common::random::{Case, Law, build, cases};
use crate::common::{Build, balances, empty, essence, lossless, pauses, run, star};
use crate::common::{FIRST, FULL, LEAST, US};
use fabric::{Headroom, Memory, RunOutput, Setup, Threshold};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use schemes::dcqcn::{self, Dcqcn};
use schemes::hpcc::{self, Hpcc};
use schemes::none::{NoControl, NoParams};
use schemes::rate_window::WindowMode;
use std::cell::Cell;
use units::{Bytes, Rate, Time};

fn run_case(case: &Case, setup: &Setup, threads: usize) -> RunOutput {
    let host_rate = setup.links[0].rate;
    match case.law {
        Law::None => run::<NoControl>(setup, NoParams { window: WindowMode::None }, threads),
        Law::DcqcnPaper => run::<Dcqcn>(setup, dcqcn::presets::paper(host_rate), threads),
        Law::DcqcnHpcc => run::<Dcqcn>(setup, dcqcn::presets::hpcc(host_rate), threads),
        Law::Hpcc => run::<Hpcc<10>>(setup, hpcc::presets::paper(host_rate), threads),
    }
}

/// Protects the promise of the whole simulator: with PFC and headroom for what is under way,
/// nothing is dropped and every flow ends, on 200 random networks. The reference engine gives equal
/// results, and threads change nothing.
#[test]
fn nothing_is_lost_on_two_hundred_random_networks() {
    const CASES: u32 = 200;
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let (ran, paused) = (Cell::new(0), Cell::new(0));
    let result = runner.run(&cases(), |case| {
        let setup = build(&case);
        let output = run_case(&case, &setup, 1);
        lossless(&setup, &output).map_err(TestCaseError::fail)?;
        ran.set(ran.get() + 1);
        paused.set(paused.get() + u32::from(pauses(&output) > 0));
        let by_the_book = Setup { reference_mode: true, ..setup.clone() };
        let other = run_case(&case, &by_the_book, 1);
        prop_assert_eq!(essence(&output), essence(&other), "by the book");
        if ran.get() % 8 == 0 {
            for threads in [2, 3] {
                let other = run_case(&case, &setup, threads);
                prop_assert_eq!(essence(&output), essence(&other), "on {} threads", threads);
            }
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(ran.get() >= CASES);
    assert!(paused.get() * 2 >= CASES, "only {} of {CASES} cases paused anyone", paused.get());
}

/// Host 0 sends at 100 Gb/s to host 1, whose link is so slow that in the time looked at it takes
/// just the first packet.
fn funnel(headroom: u64) -> Setup {
    let mut setup = empty();
    let (sender, receiver) = (setup.host(), setup.host());
    let switch = setup.switch(1);
    setup.cable(sender, switch, Rate::from_gbps(100), US);
    setup.cable(receiver, switch, Rate::from_mbps(1), US);
    setup.message(sender, receiver, 1_000_000, Time::ZERO);
    let (xoff, xon) = (Bytes::new(50_000), Bytes::new(40_000));
    setup.pfc.threshold = Threshold::Static { xoff, xon };
    setup.pfc.headroom = Headroom::Fixed(Bytes::new(headroom));
    setup.until_done = false;
    setup.stop = US * 200;
    setup
}

/// Protects the headroom's accounting and the report of a loss: what must still be taken after
/// Xoff is known to the byte here, and one packet (even one byte) less of room loses exactly the
/// last packet, at the time it comes.
#[test]
fn a_headroom_one_packet_too_small_drops_and_says_where() {
    // At 80 ps a byte, packets are back to back: the n-th has arrived, a microsecond of cable
    // included, at `arrival(n)`. The first leaves at once; all others stay.
    let arrival = |n: u64| (FIRST + (n - 1) * FULL) * 80 + 1_000_000;
    // 46 x 1082 = 49 772 is below Xoff and 47 x 1082 = 50 854 above: packet 48 has it paused.
    let crossing = 48;
    assert!((crossing - 2) * FULL < 50_000 && (crossing - 1) * FULL >= 50_000);
    // The frame takes 84 x 80 ps and a microsecond. Until then the host has begun packets; the
    // n-th begins when the (n-1)-th is on the wire.
    let paused_at = arrival(crossing) + LEAST * 80 + 1_000_000;
    let sent = (2..).take_while(|n| (FIRST + (n - 2) * FULL) * 80 < paused_at).last().unwrap();
    // 2 006 720 ps are 23.2 packets.
    assert_eq!(sent, crossing + 24);
    let headroom = (sent - 1) * FULL - 50_000;

    let enough = run::<NoControl>(&funnel(headroom), NoParams { window: WindowMode::None }, 1);
    assert_eq!(enough.lossless_drops, 0, "{:?}", enough.drops);
    assert_eq!(enough.audits[0].stored, (sent - 1) * FULL);
    balances(&enough).unwrap();

    for less in [1, FULL] {
        let output =
            run::<NoControl>(&funnel(headroom - less), NoParams { window: WindowMode::None }, 1);
        balances(&output).unwrap();
        assert_eq!(output.lossless_drops, 1, "{less} B less");
        let drop = &output.drops[0];
        assert_eq!(
            (drop.node.get(), drop.port.get(), drop.priority, drop.flow.get()),
            (2, 0, 3, 0)
        );
        assert_eq!(drop.time, Time::from_ps(arrival(sent)));
        assert_eq!(u64::from(drop.size), FULL);
        assert_eq!(drop.full, Memory::Headroom);
        assert_eq!(common::port(&output, 2, 0).dropped_packets, 1);
        assert_eq!(output.audits[0].removed, FULL);
    }
}

/// Protects the size of the automatic headroom from below: the worst that can follow a pause. The
/// frame is due just when a full packet has begun to leave towards the peer, and the other class's
/// frame goes first.
#[test]
fn the_automatic_headroom_is_enough_where_pause_frames_must_wait() {
    for delay in [50, 1_000, 5_000] {
        for offset in (0..87).map(|step| step * 1_000) {
            let mut setup = star(4, Rate::from_gbps(100), Time::from_ns(delay));
            setup.pfc.lossless = 0b1_1000;
            let (xoff, xon) = (Bytes::new(3_000), Bytes::new(1_000));
            setup.pfc.threshold = Threshold::Static { xoff, xon };
            // Hosts 0 and 1 send to 2 and get from 3: their pauses wait for what they get.
            for (src, dst) in [(0, 2), (1, 2), (3, 0), (3, 1)] {
                let start = Time::from_ps(if src == 3 { offset } else { 0 });
                let flow = setup.message(src, dst, 30_000, start);
                setup.messages[flow].priority = 3 + (src % 2) as u8;
            }
            setup.messages.sort_by_key(|message| message.start);
            let output = run::<NoControl>(&setup, NoParams { window: WindowMode::None }, 1);
            lossless(&setup, &output).unwrap();
            assert!(pauses(&output) > 0);
        }
    }
}

/// Protects the same from messages of one packet: those are all first packets, the longest there
/// are. Nothing leaves the switch meanwhile, and two packets stay below Xoff by a byte.
#[test]
fn the_automatic_headroom_is_enough_for_first_packets() {
    // What the host has just begun as the frame comes depends on its cable.
    for delay in (1_000..1_090).map(Time::from_ns) {
        let mut setup = empty();
        let (sender, receiver, other) = (setup.host(), setup.host(), setup.host());
        let switch = setup.switch(1);
        setup.cable(sender, switch, Rate::from_gbps(100), delay);
        setup.cable(receiver, switch, Rate::from_mbps(1), delay);
        setup.cable(other, switch, Rate::from_gbps(100), US);
        let (xoff, xon) = (Bytes::new(2 * FIRST + 1), Bytes::new(1_000));
        setup.pfc.threshold = Threshold::Static { xoff, xon };
        setup.until_done = false;
        setup.stop = US * 50;
        for _ in 0..60 {
            setup.message(sender, receiver, 1_000, Time::ZERO);
        }
        // The first packet leaves at once; the fourth crosses Xoff just after the switch has begun
        // to send one to the sender, which is not to answer that at once.
        let crossing = Time::from_ps(4 * FIRST * 80) + delay;
        let begun = Time::from_ps(FIRST * 80 + 10) + US;
        setup.message(other, sender, 2_000, crossing - begun);
        setup.host.ack_every = 2;
        setup.messages.sort_by_key(|message| message.start);
        let output = run::<NoControl>(&setup, NoParams { window: WindowMode::None }, 1);
        assert_eq!(output.lossless_drops, 0, "{delay:?}: {:?}", output.drops);
        assert!(pauses(&output) > 0);
    }
}
