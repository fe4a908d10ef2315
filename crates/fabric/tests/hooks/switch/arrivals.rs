//! What a congestion point does with packets that arrive: consumes, answers, holds them, chooses their way.

use super::is_data;
use crate::common::{ACK, Build, FIRST, FULL, G100, LEAST, US, balances, fct, line, port, run};
use crate::toy::{BYTE, LineRate, Log, Plain, WIRE, ack_back, alone, no_host, one_way, toy};
use schemes::contract::{
    Absent, Body, Cp, Ctl, EmitCx, Emits, Flags, HoldVerdict, HostCx, LocalCx, NoCtl, Np,
    OnArrival, OnArrivalOrHold, Packet, PathFacts, PlainReceiver, PortFacts, PortLocal, QpEnd, Rp,
    SendLimits, SwitchFacts, Verdict,
};
use units::{Bytes, PortId, Time};

// ---- on_arrival: Consume; to_host, both ways ----

toy! {
    /// The sender asks, the first switch answers, and tells the receiver when data begins.
    Asking: Log<Time>, (), Word, (), Asker, Listener, Answering;
    no_host!();
    fn congestion_point(_: &Plain<Log<Time>>, _: &SwitchFacts<'_>) -> Option<Answering> {
        Some(Answering)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Word {
    MayI,
    YouMay,
    Comes,
}

impl<P> Ctl<P> for Word {
    fn frame_bytes(&self) -> u32 {
        64
    }
}

#[derive(Debug)]
struct Asker {
    window: Bytes,
}

impl Rp<Asking> for Asker {
    type Timer = Absent;
    fn open(_: &Plain<Log<Time>>, _: &mut (), _: &PathFacts, _: Time) -> Asker {
        Asker { window: Bytes::ZERO }
    }
    fn limits(&self) -> SendLimits {
        SendLimits { window: self.window, ..SendLimits::UNLIMITED }
    }
    fn on_backlog(&mut self, cx: &mut HostCx<'_, Asking>, left: Bytes) {
        if left > Bytes::ZERO {
            cx.send(Word::MayI);
        }
    }
    fn on_ctl(&mut self, _: &mut HostCx<'_, Asking>, ctl: &Word) {
        assert_eq!(*ctl, Word::YouMay);
        self.window = Bytes::UNLIMITED;
    }
}

#[derive(Debug)]
struct Listener;

impl Np<Asking> for Listener {
    type Timer = Absent;
    fn open(_: &Plain<Log<Time>>, _: &mut (), _: Time) -> Listener {
        Listener
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Asking>, ctl: &Word) {
        assert_eq!(*ctl, Word::Comes);
        cx.params.0.push(cx.now);
    }
}

#[derive(Debug)]
struct Answering;

impl Cp<Asking> for Answering {
    type Level = Emits;
    type Port = ();
    schemes::hooks!(arrivals);
    fn port(&self, _: &Plain<Log<Time>>, _: &PortFacts) {}
}

impl OnArrival<Asking> for Answering {
    fn on_arrival(
        &mut self,
        cx: &mut EmitCx<'_, Asking>,
        _: PortId,
        packet: &mut Packet<Asking>,
    ) -> Verdict {
        let address = packet.header.address;
        match packet.body {
            Body::Ctl(Word::MayI) => {
                cx.to_host(address, QpEnd::Sender, Word::YouMay);
                return Verdict::Consume;
            }
            Body::Meta(()) if is_data(packet) && packet.header.sequence == 0 => {
                cx.to_host(address, QpEnd::Receiver, Word::Comes);
            }
            _ => {}
        }
        Verdict::Forward
    }
}

/// Protects packets for the switch, and notifications from a switch to either end.
#[test]
fn a_switch_answers_the_sender_and_warns_the_receiver() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 1_000, Time::ZERO);
    let log = Log::default();
    let output = run::<Asking>(&setup, Plain(log.clone()), 1);
    let asked = 2 * one_way(LEAST, 1);
    // The warning is of a strict class and goes before the packet that it warns of.
    assert_eq!(fct(&output, 0), asked + alone(1, 2) + LEAST * BYTE);
    let warned = asked + one_way(FIRST, 1) + one_way(LEAST, 1);
    assert_eq!(log.all(), [Time::from_ps(warned)]);
    assert_eq!(port(&output, 2, 1).tx_packets, 2, "the warning and the data, not the question");
    // The question was taken in.
    assert_eq!(output.audits[0].removed, LEAST);
    balances(&output).unwrap();
}

// ---- on_arrival: Hold ----

toy! {
    /// The switch holds data until the next whole 10 us.
    Holding: (), (), NoCtl, (), LineRate, PlainReceiver, Holder;
    no_host!();
    fn congestion_point(_: &Plain<()>, _: &SwitchFacts<'_>) -> Option<Holder> {
        Some(Holder)
    }
}

#[derive(Debug)]
struct Holder;

impl Cp<Holding> for Holder {
    type Level = PortLocal;
    type Port = ();
    schemes::hooks!(holding_arrivals);
    fn port(&self, _: &Plain<()>, _: &PortFacts) {}
}

impl OnArrivalOrHold<Holding> for Holder {
    fn on_arrival(
        &mut self,
        cx: &mut LocalCx,
        _: PortId,
        packet: &mut Packet<Holding>,
    ) -> HoldVerdict {
        if is_data(packet) && !packet.header.flags.contains(Flags::MARK) {
            packet.header.flags.set(Flags::MARK, true);
            return HoldVerdict::Hold(cx.now.round_up(US * 10));
        }
        HoldVerdict::Forward
    }
}

/// Protects held packets: they come again at the time named, in their order, and are counted once.
#[test]
fn packets_held_until_the_same_time_keep_their_order() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 20_000, Time::ZERO);
    let output = run::<Holding>(&setup, Plain(()), 1);
    let rest = (FIRST + 19 * FULL) * BYTE + WIRE + ack_back(2);
    assert_eq!(fct(&output, 0), 10_000_000 + rest);
    assert_eq!(output.flows[0].retransmitted_bytes, 0);
    // 20 data packets and 20 ACKs, each once.
    assert_eq!(output.audits[0].arrived, FIRST + 19 * FULL + 20 * ACK);
    balances(&output).unwrap();
}
