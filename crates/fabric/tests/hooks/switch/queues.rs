//! Queues of a congestion point's own, gates, and packets that go back to the tail.

use super::is_data;
use crate::common::{
    BYTE, Build, FIRST, FULL, G100, US, WIRE, ack_back, alone, balances, fct, line, one_way, run,
    star,
};
use crate::toy::parts;
use crate::toy::{Port, Stacked, Switch, WithSubQueues};
use schemes::contract::{DequeueAction, Flags, FullCx, Gate, LocalCx, Packet, PortView};
use units::Time;

// ---- sub_queue, gate, wake ----

/// Flow 1 may not leave the switch before the last packet of flow 0 has.
struct FirstThenSecond {
    open: bool,
}

impl Switch<WithSubQueues> for FirstThenSecond {
    fn on_depart(
        &mut self,
        cx: &mut FullCx<'_, WithSubQueues>,
        _: &mut Port,
        view: &PortView,
        packet: &mut Packet<WithSubQueues>,
    ) {
        if is_data(packet)
            && packet.header.address.flow == 0
            && packet.header.flags.contains(Flags::LAST)
        {
            self.open = true;
            cx.wake(view.port);
        }
    }
    fn sub_queue(&self, packet: &Packet<WithSubQueues>) -> u32 {
        if is_data(packet) { 1 + packet.header.address.flow } else { 0 }
    }
    fn gate(&self, sub_queue: u32, head: &Packet<WithSubQueues>, _: Time) -> Gate {
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
    let toy = parts().switch(|_| Some(FirstThenSecond { open: false }));
    let output = run::<WithSubQueues>(&setup, toy, 1);
    assert_eq!(fct(&output, 0), alone(10, 2), "as if the other were not there");
    let free = (2 * FIRST + 9 * FULL) * BYTE + WIRE;
    let second = free + (FIRST + 9 * FULL) * BYTE + WIRE + ack_back(2);
    assert_eq!(fct(&output, 1), second, "then back to back");
}

/// Data may leave the switch at whole 5 us only.
struct Ticker;

impl Switch<WithSubQueues> for Ticker {
    fn sub_queue(&self, packet: &Packet<WithSubQueues>) -> u32 {
        u32::from(is_data(packet))
    }
    fn gate(&self, _: u32, _: &Packet<WithSubQueues>, now: Time) -> Gate {
        let next = now.round_up(US * 5);
        if next == now { Gate::Open } else { Gate::ClosedUntil(next) }
    }
}

/// Protects gates that wait for a time.
#[test]
fn a_gate_opens_at_its_time() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 6_000, Time::ZERO);
    let output = run::<WithSubQueues>(&setup, parts().switch(|_| Some(Ticker)), 1);
    assert_eq!(fct(&output, 0), 6 * 5_000_000 + one_way(FULL, 1) + ack_back(2));
}

/// Data may leave the switch after 5 us, and not yet at them.
struct Latecomer;

impl Switch<WithSubQueues> for Latecomer {
    fn sub_queue(&self, packet: &Packet<WithSubQueues>) -> u32 {
        u32::from(is_data(packet))
    }
    fn gate(&self, _: u32, _: &Packet<WithSubQueues>, now: Time) -> Gate {
        if now > US * 5 { Gate::Open } else { Gate::ClosedUntil(US * 5) }
    }
}

/// Protects time: a gate that is still shut at its time is asked again just after it.
#[test]
fn a_gate_may_open_after_its_time() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 6_000, Time::ZERO);
    let output = run::<WithSubQueues>(&setup, parts().switch(|_| Some(Latecomer)), 1);
    let open = 5_000_000 + 1;
    let data = (FIRST + 5 * FULL) * BYTE + WIRE;
    assert_eq!(fct(&output, 0), open + data + ack_back(2), "back to back from then on");
}

// ---- at_head ----

/// The first packet that is about to leave a port goes back to the tail.
struct Returner(DequeueAction);

impl Switch<Stacked> for Returner {
    fn at_head(&mut self, [turned, ..]: &mut Port, packet: &Packet<Stacked>) -> DequeueAction {
        if std::mem::replace(turned, 1) == 1 || !is_data(packet) {
            DequeueAction::Send
        } else {
            self.0
        }
    }
}

/// Protects queues whose heads go back: the next one goes first, at the same instant; and ports
/// that rest then, until another packet joins.
#[test]
fn a_packet_may_go_back_to_the_tail() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 1_000, Time::ZERO);
    setup.message(1, 2, 1_000, Time::ZERO);
    let fcts = |turn| {
        let output = run::<Stacked>(&setup, parts().switch(move |_| Some(Returner(turn))), 1);
        balances(&output).unwrap();
        [fct(&output, 0), fct(&output, 1)]
    };
    let [first, second] = fcts(DequeueAction::Send);
    assert_ne!(first, second);
    assert_eq!(fcts(DequeueAction::Requeue), [second, first]);

    let mut setup = star(3, G100, US);
    setup.message(0, 2, 1_000, Time::ZERO);
    setup.message(1, 2, 1_000, US * 10);
    let toy = parts().switch(|_| Some(Returner(DequeueAction::RequeueAndStall)));
    let output = run::<Stacked>(&setup, toy, 1);
    assert_eq!(fct(&output, 0), 10_000_000 + alone(1, 2), "it leaves as the other comes");
    assert_eq!(fct(&output, 1), FIRST * BYTE + alone(1, 2));
    balances(&output).unwrap();
}

/// Data goes back to the tail until two packets have joined the port.
struct Gatherer;

impl Switch<Stacked> for Gatherer {
    fn on_enqueue(
        &mut self,
        _: &mut LocalCx,
        [joined, ..]: &mut Port,
        _: &PortView,
        _: &mut Packet<Stacked>,
    ) {
        *joined += 1;
    }
    fn at_head(&mut self, [joined, ..]: &mut Port, packet: &Packet<Stacked>) -> DequeueAction {
        if *joined < 2 && is_data(packet) { DequeueAction::Requeue } else { DequeueAction::Send }
    }
}

/// Protects time: a port all of whose packets go back does not look at them for ever at one
/// instant, but rests until another joins.
#[test]
fn a_port_rests_where_all_goes_back() {
    let mut setup = star(3, G100, US);
    setup.message(0, 2, 1_000, Time::ZERO);
    setup.message(1, 2, 1_000, US * 10);
    let output = run::<Stacked>(&setup, parts().switch(|_| Some(Gatherer)), 1);
    assert_eq!(fct(&output, 0), 10_000_000 + alone(1, 2), "it leaves as the other comes");
    assert_eq!(fct(&output, 1), FIRST * BYTE + alone(1, 2));
    balances(&output).unwrap();
}
