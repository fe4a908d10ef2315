//! Hooks of the notification point, control packets between hosts, credits.

use crate::common::{
    BYTE, Build, FIRST, FULL, LEAST, US, WIRE, ack_back, fct, line, one_way, port, run,
};
use crate::toy::{Basic, Parts, Receiver, Sender, Word, parts};
use schemes::contract::{HostCx, SendLimits};
use units::{Bytes, Rate, Time};

/// From the start of a control packet of the least size at one host to its arrival at the other.
const fn notice(links: u64) -> u64 {
    one_way(LEAST, links)
}

// ---- Credits: Rp::on_backlog, Rp::on_ctl, granted; Np::on_ctl, Np::on_timer ----

const GIVEN: Word = Word("given", 0);

/// Asks for credits.
struct Asker {
    granted: u64,
}

impl Sender<Basic> for Asker {
    fn limits(&self) -> SendLimits {
        SendLimits { credit_limit: self.granted, ..SendLimits::UNLIMITED }
    }
    fn on_backlog(&mut self, cx: &mut HostCx<'_, Basic>, left: Bytes) {
        if left > Bytes::ZERO {
            cx.send(Word("wanted", left.get()));
        }
    }
    fn on_ctl(&mut self, _: &mut HostCx<'_, Basic>, word: Word) {
        assert_eq!(word, GIVEN);
        self.granted += 1_000;
    }
}

/// Gives one packet's worth of credits a microsecond.
struct Giver {
    left: u64,
    next: Time,
}

impl Receiver<Basic> for Giver {
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Basic>, word: Word) {
        if let Word("wanted", bytes) = word {
            self.left += bytes.div_ceil(1_000);
            self.next = cx.now + US;
        }
    }
    fn next_timer(&self) -> Time {
        self.next
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, Basic>) {
        cx.send(GIVEN);
        self.left -= 1;
        self.next = if self.left == 0 { Time::NEVER } else { self.next + US };
    }
}

fn crediting() -> Parts<Basic> {
    parts().sender(|_, _, _| Asker { granted: 0 }).receiver(|| Giver { left: 0, next: Time::NEVER })
}

/// Protects receiver-driven schemes: nothing leaves without permission, each credit lets one packet
/// go at once, and control packets take their wire time.
#[test]
fn credits_clock_the_sender() {
    let mut setup = line(2, Rate::from_gbps(100), US);
    setup.message(0, 1, 7_500, Time::ZERO);
    let output = run::<Basic>(&setup, crediting(), 1);
    // The eighth packet has 500 B: 582 on the wire.
    let expected = notice(3) + 8 * 1_000_000 + notice(3) + one_way(582, 3) + ack_back(3);
    assert_eq!(fct(&output, 0), expected);
    let (sender, receiver) = (port(&output, 0, 0), port(&output, 1, 0));
    assert_eq!((sender.tx_packets, sender.tx_data_packets), (9, 8), "one request");
    assert_eq!(receiver.tx_packets, 16, "eight credits, eight ACKs");
    assert_eq!(receiver.tx_bytes, 8 * LEAST + 8 * 86);
}

/// Protects an ACK per several packets where credits and not a window hold the sender back: the
/// last packet that is permitted asks for its ACK, so nothing waits for a timeout.
#[test]
fn credits_do_not_stall_with_few_acks() {
    for ack_every in [4, 64] {
        let mut setup = line(1, Rate::from_gbps(100), US);
        setup.host.ack_every = ack_every;
        setup.message(0, 1, 20_000, Time::ZERO);
        let output = run::<Basic>(&setup, crediting(), 1);
        let expected = notice(2) + 20 * 1_000_000 + notice(2) + one_way(FULL, 2) + ack_back(2);
        assert_eq!(fct(&output, 0), expected);
    }
}

// ---- on_message_end ----

const RECEIVED: Word = Word("received", 0);

/// Waits with its second message until the receiver says that it has the first.
struct Polite {
    granted: u64,
}

impl Sender<Basic> for Polite {
    fn limits(&self) -> SendLimits {
        SendLimits { credit_limit: self.granted, ..SendLimits::UNLIMITED }
    }
    fn on_ctl(&mut self, _: &mut HostCx<'_, Basic>, _: Word) {
        self.granted = u64::MAX;
    }
}

struct Announcer {
    has_first: bool,
}

impl Receiver<Basic> for Announcer {
    fn on_message_end(&mut self, cx: &mut HostCx<'_, Basic>, is_last: bool) {
        assert_eq!(is_last, std::mem::replace(&mut self.has_first, true), "of two messages");
        cx.send(RECEIVED);
    }
}

/// Protects the end of a message as receivers see it, and that a QP's second message goes on where
/// the first ended.
#[test]
fn the_end_of_a_message_is_announced() {
    let mut setup = line(1, Rate::from_gbps(100), US);
    setup.message(0, 1, 3_000, Time::ZERO);
    setup.message(0, 1, 2_000, Time::ZERO);
    setup.messages[1].qp = 0;
    let toy = parts()
        .sender(|_, _, _| Polite { granted: 3_000 })
        .receiver(|| Announcer { has_first: false });
    let output = run::<Basic>(&setup, toy, 1);
    let first_there = (2 * FIRST + 2 * FULL) * BYTE + 2 * WIRE;
    let second_takes = (2 * FIRST + FULL) * BYTE + 2 * WIRE;
    // The announcement leaves before the ACK of the same packet.
    assert_eq!(fct(&output, 0), first_there + ack_back(2) + LEAST * BYTE);
    let expected = first_there + notice(2) + second_takes + LEAST * BYTE + ack_back(2);
    assert_eq!(fct(&output, 1), expected);
}

// ---- on_late_ctl, counters ----

/// Says a while after the end of a message that it has it. Hosts count what comes too late.
struct Straggler {
    next: Time,
}

impl Receiver<Basic> for Straggler {
    fn on_message_end(&mut self, cx: &mut HostCx<'_, Basic>, _: bool) {
        self.next = cx.now + US * 10;
    }
    fn next_timer(&self) -> Time {
        self.next
    }
    fn on_timer(&mut self, cx: &mut HostCx<'_, Basic>) {
        cx.send(RECEIVED);
        self.next = Time::NEVER;
    }
}

/// Protects what is counted of control packets that come too late, and the sums over hosts.
#[test]
fn what_comes_too_late_is_heard_of() {
    let mut setup = line(1, Rate::from_gbps(100), US);
    for start in [0, 5, 50] {
        setup.message(0, 1, 1_000, US * start);
    }
    let toy = parts().receiver(|| Straggler { next: Time::NEVER });
    let output = run::<Basic>(&setup, toy, 1);
    // The run ends with the third message, before word of it.
    assert_eq!(output.counters.into_iter().collect::<Vec<_>>(), [("hosts", 2), ("strays", 2)]);
}
