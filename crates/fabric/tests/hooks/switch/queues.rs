//! Queues of a congestion point's own, gates, and packets that go back to the tail.

use super::is_data;
use crate::common::{Build, FIRST, FULL, G100, US, balances, fct, line, run, star};
use crate::toy::{BYTE, LineRate, Plain, WIRE, ack_back, alone, no_host, one_way, toy};
use schemes::contract::{
    Cp, DequeueAction, Flags, FullCx, Gate, LocalCx, NoCtl, OnEnqueue, Packet, PlainReceiver,
    PortFacts, PortLocal, PortView, Requeue, Strict, SubQueues, SwitchFacts,
};
use units::{PortId, Time};

// ---- sub_queue, gate, wake ----

toy! {
    /// Flow 1 may not leave the switch before the last packet of flow 0 has.
    Ordering: (), (), NoCtl, (), LineRate, PlainReceiver, FirstThenSecond;
    no_host!();
    fn congestion_point(_: &Plain<()>, _: &SwitchFacts<'_>) -> Option<FirstThenSecond> {
        Some(FirstThenSecond { open: false })
    }
}

#[derive(Debug)]
struct FirstThenSecond {
    open: bool,
}

impl Cp<Ordering> for FirstThenSecond {
    type Level = Strict;
    type Port = ();
    schemes::hooks!(sub_queues);
    fn port(&self, _: &Plain<()>, _: &PortFacts) {}
    fn on_depart(
        &mut self,
        cx: &mut FullCx<'_, Ordering>,
        _: &mut (),
        view: &PortView,
        packet: &mut Packet<Ordering>,
    ) {
        if is_data(packet)
            && packet.header.address.flow == 0
            && packet.header.flags.contains(Flags::LAST)
        {
            self.open = true;
            cx.wake(view.port);
        }
    }
}

impl SubQueues<Ordering> for FirstThenSecond {
    fn sub_queue(&self, _: PortId, _: PortId, packet: &Packet<Ordering>) -> u32 {
        if is_data(packet) { 1 + packet.header.address.flow } else { 0 }
    }
    fn gate(&self, _: &(), sub_queue: u32, head: &Packet<Ordering>, _: Time) -> Gate {
        assert_eq!(sub_queue, 1 + head.header.address.flow);
        if sub_queue == 1 || self.open { Gate::Open } else { Gate::Closed }
    }
}

/// Protects queues apart from the ordinary one, shut gates and what opens them.
#[test]
fn a_shut_gate_waits_for_a_wake() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 10_000, Time::ZERO);
    setup.message(1, 2, 10_000, Time::ZERO);
    let output = run::<Ordering>(&setup, Plain(()), 1);
    assert_eq!(fct(&output, 0), alone(10, 2), "as if the other were not there");
    let free = (2 * FIRST + 9 * FULL) * BYTE + WIRE;
    let second = free + (FIRST + 9 * FULL) * BYTE + WIRE + ack_back(2);
    assert_eq!(fct(&output, 1), second, "then back to back");
}

toy! {
    /// Data may leave the switch at whole 5 us only.
    Ticking: (), (), NoCtl, (), LineRate, PlainReceiver, Ticker;
    no_host!();
    fn congestion_point(_: &Plain<()>, _: &SwitchFacts<'_>) -> Option<Ticker> {
        Some(Ticker)
    }
}

#[derive(Debug)]
struct Ticker;

impl Cp<Ticking> for Ticker {
    type Level = Strict;
    type Port = ();
    schemes::hooks!(sub_queues);
    fn port(&self, _: &Plain<()>, _: &PortFacts) {}
}

impl SubQueues<Ticking> for Ticker {
    fn sub_queue(&self, _: PortId, _: PortId, packet: &Packet<Ticking>) -> u32 {
        u32::from(is_data(packet))
    }
    fn gate(&self, _: &(), _: u32, _: &Packet<Ticking>, now: Time) -> Gate {
        let next = now.round_up(US * 5);
        if next == now { Gate::Open } else { Gate::ClosedUntil(next) }
    }
}

/// Protects gates that wait for a time.
#[test]
fn a_gate_opens_at_its_time() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 6_000, Time::ZERO);
    let output = run::<Ticking>(&setup, Plain(()), 1);
    assert_eq!(fct(&output, 0), 6 * 5_000_000 + one_way(FULL, 1) + ack_back(2));
}

toy! {
    /// Data may leave the switch after 5 us, and not yet at them.
    Late: (), (), NoCtl, (), LineRate, PlainReceiver, Latecomer;
    no_host!();
    fn congestion_point(_: &Plain<()>, _: &SwitchFacts<'_>) -> Option<Latecomer> {
        Some(Latecomer)
    }
}

#[derive(Debug)]
struct Latecomer;

impl Cp<Late> for Latecomer {
    type Level = Strict;
    type Port = ();
    schemes::hooks!(sub_queues);
    fn port(&self, _: &Plain<()>, _: &PortFacts) {}
}

impl SubQueues<Late> for Latecomer {
    fn sub_queue(&self, _: PortId, _: PortId, packet: &Packet<Late>) -> u32 {
        u32::from(is_data(packet))
    }
    fn gate(&self, _: &(), _: u32, _: &Packet<Late>, now: Time) -> Gate {
        if now > US * 5 { Gate::Open } else { Gate::ClosedUntil(US * 5) }
    }
}

/// Protects time: a gate that is still shut at its time is asked again just after it.
#[test]
fn a_gate_may_open_after_its_time() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 6_000, Time::ZERO);
    let output = run::<Late>(&setup, Plain(()), 1);
    let open = 5_000_000 + 1;
    let data = (FIRST + 5 * FULL) * BYTE + WIRE;
    assert_eq!(fct(&output, 0), open + data + ack_back(2), "back to back from then on");
}

// ---- turn ----

toy! {
    /// The first packet that is about to leave a port goes back to the tail.
    Returning: DequeueAction, (), NoCtl, (), LineRate, PlainReceiver, Returner;
    no_host!();
    fn congestion_point(turn: &Plain<DequeueAction>, _: &SwitchFacts<'_>) -> Option<Returner> {
        Some(Returner(turn.0))
    }
}

#[derive(Debug)]
struct Returner(DequeueAction);

impl Cp<Returning> for Returner {
    type Level = PortLocal;
    type Port = bool;
    schemes::hooks!(requeue);
    fn port(&self, _: &Plain<DequeueAction>, _: &PortFacts) -> bool {
        false
    }
}

impl Requeue<Returning> for Returner {
    fn at_head(&mut self, turned: &mut bool, packet: &Packet<Returning>, _: Time) -> DequeueAction {
        if std::mem::replace(turned, true) || !is_data(packet) {
            DequeueAction::Send
        } else {
            self.0
        }
    }
}

/// Protects queues whose heads go back: the next one goes first, at the same instant; and ports that
/// rest then, until another packet joins.
#[test]
fn a_packet_may_go_back_to_the_tail() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 1_000, Time::ZERO);
    setup.message(1, 2, 1_000, Time::ZERO);
    let fcts = |turn| {
        let output = run::<Returning>(&setup, Plain(turn), 1);
        balances(&output).unwrap();
        [fct(&output, 0), fct(&output, 1)]
    };
    let [first, second] = fcts(DequeueAction::Send);
    assert_ne!(first, second);
    assert_eq!(fcts(DequeueAction::Requeue), [second, first]);

    let mut setup = star(3, G100, US);
    setup.message(0, 2, 1_000, Time::ZERO);
    setup.message(1, 2, 1_000, US * 10);
    let output = run::<Returning>(&setup, Plain(DequeueAction::RequeueAndStall), 1);
    assert_eq!(fct(&output, 0), 10_000_000 + alone(1, 2), "it leaves as the other comes");
    assert_eq!(fct(&output, 1), FIRST * BYTE + alone(1, 2));
    balances(&output).unwrap();
}

toy! {
    /// Data goes back to the tail until two packets have joined the port.
    Gathering: (), (), NoCtl, (), LineRate, PlainReceiver, Gatherer;
    no_host!();
    fn congestion_point(_: &Plain<()>, _: &SwitchFacts<'_>) -> Option<Gatherer> {
        Some(Gatherer)
    }
}

#[derive(Debug)]
struct Gatherer;

impl Cp<Gathering> for Gatherer {
    type Level = PortLocal;
    type Port = u32;
    schemes::hooks!(enqueues, requeue);
    fn port(&self, _: &Plain<()>, _: &PortFacts) -> u32 {
        0
    }
}

impl OnEnqueue<Gathering> for Gatherer {
    fn on_enqueue(
        &mut self,
        _: &mut LocalCx,
        joined: &mut u32,
        _: &PortView,
        _: &mut Packet<Gathering>,
    ) {
        *joined += 1;
    }
}

impl Requeue<Gathering> for Gatherer {
    fn at_head(&mut self, joined: &mut u32, packet: &Packet<Gathering>, _: Time) -> DequeueAction {
        if *joined < 2 && is_data(packet) { DequeueAction::Requeue } else { DequeueAction::Send }
    }
}

/// Protects time: a port all of whose packets go back does not look at them for ever at one instant, but
/// rests until another joins.
#[test]
fn a_port_rests_where_all_goes_back() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 1_000, Time::ZERO);
    setup.message(1, 2, 1_000, US * 10);
    let output = run::<Gathering>(&setup, Plain(()), 1);
    assert_eq!(fct(&output, 0), 10_000_000 + alone(1, 2), "it leaves as the other comes");
    assert_eq!(fct(&output, 1), FIRST * BYTE + alone(1, 2));
    balances(&output).unwrap();
}
