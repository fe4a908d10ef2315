//! What a congestion point does with packets that arrive: consumes, answers, holds them.

use super::is_data;
use crate::common::{
    ACK, BYTE, Build, FIRST, FULL, G100, LEAST, US, WIRE, ack_back, alone, balances, fct, line,
    one_way, port, run,
};
use crate::toy::parts;
use crate::toy::{Emitting, Log, Receiver, Sender, Switch, Watching, Word};
use schemes::contract::{
    EmitCx, Flags, HoldVerdict, HostCx, LocalCx, Packet, PortLocal, QpEnd, SendLimits,
};
use units::{Bytes, PortId, Time};

// ---- on_arrival: Consume; to_host, both ways ----

const MAY_I: Word = Word("may I", 0);
const YOU_MAY: Word = Word("you may", 0);
const COMES: Word = Word("comes", 0);

/// Asks, and sends when it is answered.
struct Asker {
    window: Bytes,
}

impl Sender<Emitting> for Asker {
    fn limits(&self) -> SendLimits {
        SendLimits { window: self.window, ..SendLimits::UNLIMITED }
    }
    fn on_backlog(&mut self, cx: &mut HostCx<'_, Emitting>, left: Bytes) {
        if left > Bytes::ZERO {
            cx.send(MAY_I);
        }
    }
    fn on_ctl(&mut self, _: &mut HostCx<'_, Emitting>, word: Word) {
        assert_eq!(word, YOU_MAY);
        self.window = Bytes::UNLIMITED;
    }
}

struct Listener(Log<Time>);

impl Receiver<Emitting> for Listener {
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Emitting>, word: Word) {
        assert_eq!(word, COMES);
        self.0.push(cx.now);
    }
}

/// Answers the sender, and tells the receiver when data begins.
struct Answering;

impl Switch<Emitting> for Answering {
    fn on_arrival(
        &mut self,
        cx: &mut EmitCx<'_, Emitting>,
        _: PortId,
        packet: &mut Packet<Emitting>,
    ) -> HoldVerdict {
        let address = packet.header.address;
        match packet.ctl().copied() {
            Some(MAY_I) => {
                cx.to_host(address, QpEnd::Sender, YOU_MAY);
                return HoldVerdict::Consume;
            }
            None if is_data(packet) && packet.header.sequence == 0 => {
                cx.to_host(address, QpEnd::Receiver, COMES);
            }
            _ => {}
        }
        HoldVerdict::Forward
    }
}

/// Protects packets for the switch, and notifications from a switch to either end.
#[test]
fn a_switch_answers_the_sender_and_warns_the_receiver() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 1_000, Time::ZERO);
    let log = Log::default();
    let warnings = log.clone();
    let toy = parts()
        .sender(|_, _, _| Asker { window: Bytes::ZERO })
        .receiver(move || Listener(warnings.clone()))
        .switch(|_| Some(Answering));
    let output = run::<Emitting>(&setup, toy, 1);
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

/// Holds data until the next whole 10 us.
struct Holder;

impl Switch<Watching<PortLocal>> for Holder {
    fn on_arrival(
        &mut self,
        cx: &mut LocalCx,
        _: PortId,
        packet: &mut Packet<Watching<PortLocal>>,
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
    let output = run::<Watching<PortLocal>>(&setup, parts().switch(|_| Some(Holder)), 1);
    let rest = (FIRST + 19 * FULL) * BYTE + WIRE + ack_back(2);
    assert_eq!(fct(&output, 0), 10_000_000 + rest);
    assert_eq!(output.flows[0].retransmitted_bytes, 0);
    // 20 data packets and 20 ACKs, each once.
    assert_eq!(output.audits[0].arrived, FIRST + 19 * FULL + 20 * ACK);
    balances(&output).unwrap();
}
