//! Hooks of CIOQ switches: packets held in input queues, what is seen of these, detours.

use crate::common::{
    BYTE, Build, FIRST, FULL, G100, US, WIRE, ack_back, alone, balances, empty, fct, lossless,
    one_way, port, run, star,
};
use crate::toy::{Log, Port, Switch, WithInputs, parts};
use fabric::{Cioq, RunOutput, Setup, Threshold};
use schemes::contract::{Crossing, FullCx, Header, InputView, PacketKind, Ports};
use units::{Bytes, PortId, Time};

fn cioq(mut setup: Setup) -> Setup {
    let room = Bytes::new(1_000_000);
    setup.switch.cioq = Some(Cioq { speedup: 2.0, input_queue: room, output_queue: room });
    let (xoff, xon) = (Bytes::new(400_000), Bytes::new(300_000));
    setup.pfc.threshold = Threshold::Static { xoff, xon };
    setup
}

// ---- crossing ----

/// What is held, and until when.
struct Holder {
    /// Flows with these numbers (bits).
    flows: u32,
    verdict: Crossing,
    until: Time,
    timer: Time,
}

impl Switch<WithInputs> for Holder {
    fn may_block(&self, _: PortId, now: Time) -> bool {
        now < self.until
    }
    fn crossing(&self, header: &Header) -> Crossing {
        let held = self.flows & 1 << header.address.flow != 0;
        if held { self.verdict } else { Crossing::Allowed }
    }
    fn next_timer(&self) -> Time {
        self.timer
    }
    fn on_timer(&mut self, _: &mut FullCx<'_, WithInputs>, _: &mut dyn Ports<Port>) {
        self.timer = Time::NEVER;
    }
}

fn hold(setup: &Setup, flows: u32, verdict: Crossing, until: Time) -> RunOutput {
    let toy = parts().switch(move |_| Some(Holder { flows, verdict, until, timer: until }));
    let output = run::<WithInputs>(setup, toy, 1);
    lossless(setup, &output).unwrap();
    assert_eq!(output.out_of_order, 0);
    output
}

/// Protects held packets: they wait for the timer, and those of other flows behind them in the
/// same virtual output queue pass.
#[test]
fn a_held_flow_waits_and_the_next_one_passes() {
    let mut setup = star(2, G100, US);
    setup.message(0, 1, 10_000, Time::ZERO);
    setup.message(0, 1, 10_000, Time::ZERO);
    let setup = cioq(setup);
    let free = hold(&setup, 0, Crossing::Blocked, US);
    let until = US * 50;
    let output = hold(&setup, 0b01, Crossing::Blocked, until);
    assert!(fct(&output, 1) < fct(&free, 1), "it has the link for itself");
    // All ten of flow 0 leave back to back at 50 us.
    let last = (FIRST + 9 * FULL) * BYTE + WIRE;
    assert_eq!(fct(&output, 0), until.ps() + last + ack_back(2));
}

/// Protects order: a flow that is let go while packets of it stand aside sends those first.
#[test]
fn order_within_a_flow_is_kept_when_a_hold_ends_midway() {
    for until in (0..60).map(|step| Time::from_ns(1_000 + 37 * step)) {
        let mut setup = star(4, G100, US);
        for flow in 0..4 {
            setup.message(flow % 2, 2 + flow / 2 % 2, 30_000, Time::ZERO);
        }
        hold(&cioq(setup), 0b0101, Crossing::Blocked, until);
    }
}

/// Protects what may go last: it takes no time alone, and none from others.
#[test]
fn what_may_go_last_fills_what_would_be_idle() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 20_000, Time::ZERO);
    let single = cioq(setup.clone());
    assert_eq!(fct(&hold(&single, 0b01, Crossing::AllowedIfLast, US * 900), 0), alone(20, 2));
    setup.message(1, 2, 20_000, Time::ZERO);
    let both = cioq(setup);
    let output = hold(&both, 0b01, Crossing::AllowedIfLast, US * 900);
    // The one that is not held may wait for one packet that had begun to cross, at most.
    assert!(fct(&output, 1) <= alone(20, 2) + FIRST * BYTE, "{}", fct(&output, 1));
    assert!(fct(&output, 0) >= alone(20, 2) + 19 * FULL * BYTE);
}

// ---- on_input ----

/// Writes down what it sees of an input queue: its port, the output, and bytes by output. Lets
/// nothing cross to port 2.
struct Watcher(Log<(u16, u16, Vec<u64>)>);

impl Switch<WithInputs> for Watcher {
    fn on_input(&mut self, input: &InputView<'_>, out_port: PortId, header: &Header) {
        if header.kind == PacketKind::Data {
            assert_eq!(input.bytes(), input.voqs.iter().sum::<u64>());
            self.0.push((input.port.get(), out_port.get(), input.voqs.to_vec()));
        }
    }
    fn may_block(&self, out_port: PortId, _: Time) -> bool {
        out_port.get() == 2
    }
    fn crossing(&self, _: &Header) -> Crossing {
        Crossing::Blocked
    }
}

/// Protects the view of an input queue: bytes by output, of what waits, without the packet at hand.
#[test]
fn an_input_queue_is_seen_by_output() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 1_000, Time::ZERO);
    setup.message(0, 1, 1_000, US);
    setup.message(0, 2, 1_000, US * 2);
    setup.message(0, 1, 1_000, US * 3);
    let mut setup = cioq(setup);
    (setup.until_done, setup.stop) = (false, US * 10);
    let log = Log::default();
    let seen = log.clone();
    let output = run::<WithInputs>(&setup, parts().switch(move |_| Some(Watcher(seen.clone()))), 1);
    balances(&output).unwrap();
    assert_eq!(output.audits[0].stored, 2 * FIRST);
    let seen = [(2, 0), (1, FIRST), (2, FIRST), (1, 2 * FIRST)];
    assert_eq!(log.all(), seen.map(|(out, waiting)| (0, out, vec![0, 0, waiting])));
}

// ---- reroute ----

/// Every other data packet takes the port that was not chosen.
struct Detourer;

impl Switch<WithInputs> for Detourer {
    fn reroute(&mut self, header: &Header, equal_cost: &[PortId], chosen: PortId) -> PortId {
        let other = equal_cost.iter().find(|port| **port != chosen);
        match other {
            Some(&other) if header.kind == PacketKind::Data && header.sequence / 1000 % 2 == 1 => {
                other
            }
            _ => chosen,
        }
    }
}

/// Protects detours: packets of a flow take the ports that the hook says, of those of equal cost.
/// What overtakes on a shorter cable is counted as out of order.
#[test]
fn a_detour_takes_packets_to_another_port() {
    for (far, reordered) in [(US, false), (US * 20, true)] {
        let mut setup = empty();
        let (a, b) = (setup.host(), setup.host());
        let (left, up, down, right) =
            (setup.switch(1), setup.switch(2), setup.switch(2), setup.switch(1));
        setup.cable(a, left, G100, US);
        setup.cable(b, right, G100, US);
        for (middle, delay) in [(up, US), (down, far)] {
            setup.cable(left, middle, G100, delay);
            setup.cable(middle, right, G100, US);
        }
        setup.message(a, b, 10_000, Time::ZERO);
        let mut setup = cioq(setup);
        setup.host.nack_interval = US * 100;
        let toy = parts().switch(|facts| (facts.tier == 1).then_some(Detourer));
        let output = run::<WithInputs>(&setup, toy, 1);
        let sent = |port: u16| self::port(&output, left, port).tx_data_packets;
        if !reordered {
            assert_eq!((sent(1), sent(2)), (5, 5));
            assert_eq!(fct(&output, 0), one_way(FIRST, 4) + 9 * FULL * BYTE + ack_back(4));
        }
        assert!(sent(1) >= 5 && sent(2) >= 5);
        assert_eq!(output.out_of_order > 0, reordered);
    }
}
