//! Classes: drop-tail and shaped ones.

use crate::common::{
    ACK, BYTE, Build, FIRST, FULL, G100, LEAST, US, ack_back, balances, fct, line, one_way, port,
    run, star,
};
use crate::toy::{Limited, Log, Parts, Receiver, Sender, Word, parts};
use fabric::{SetupError, Simulation};
use schemes::contract::{ClassSpec, HostCx, QueueLimit};
use units::{Bytes, Priority, Time};

/// The class of notices.
const CLASS: Priority = Priority::new(5);

/// Begins with eight notices.
struct Shouter;

impl Sender<Limited> for Shouter {
    fn on_backlog(&mut self, cx: &mut HostCx<'_, Limited>, left: Bytes) {
        if left > Bytes::ZERO {
            (0..8).for_each(|_| cx.send(Word("notice", 0)));
        }
    }
}

/// Writes down when notices arrive.
struct Counter(Log<Time>);

impl Receiver<Limited> for Counter {
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Limited>, _: Word) {
        self.0.push(cx.now);
    }
}

/// Senders begin with eight notices in class 5; the times at which they arrive.
fn shouting() -> (Parts<Limited>, Log<Time>) {
    let log = Log::default();
    let arrivals = log.clone();
    let toy = parts()
        .sender(|_, _, _| Shouter)
        .receiver(move || Counter(arrivals.clone()))
        .word_priority(CLASS);
    (toy, log)
}

/// Class 5 keeps at most four waiting anywhere.
fn noisy() -> (Parts<Limited>, Log<Time>) {
    let (toy, log) = shouting();
    let limit = QueueLimit::DropTail(4);
    let spec = ClassSpec { priority: CLASS, limit, share: 1.0, burst: 1, first: false };
    (toy.classes(move |_| vec![spec]), log)
}

/// Protects drop-tail classes, at hosts and at switches: what finds its class full is dropped and
/// counted, and is no loss of a lossless class.
#[test]
fn a_drop_tail_class_keeps_so_many_and_drops_the_rest() {
    let mut setup = star(5, G100, US);
    setup.classes.strict |= 1 << 5;
    for sender in 0..4 {
        setup.message(sender, 4, 1_000, Time::ZERO);
    }
    let (toy, log) = noisy();
    let output = run::<Limited>(&setup, toy, 1);
    // Of eight at once each host keeps four. At the switch these are four rounds of four: the first
    // four are kept; then one leaves a round, and one of four is kept.
    (0..4).for_each(|host| assert_eq!(port(&output, host, 0).dropped_packets, 4));
    assert_eq!(log.all().len(), 4 + 3);
    let dropped: u64 = (0..4).map(|at| port(&output, 5, at).dropped_packets).sum();
    assert_eq!((dropped, output.lossless_drops), (16 - 7, 0));
    assert_eq!(output.audits[0].removed, 9 * LEAST);
    balances(&output).unwrap();
    (0..4).for_each(|flow| assert!(fct(&output, flow) > 0));
}

/// Class 3 may take half of every link.
fn shaped() -> Parts<Limited> {
    let (priority, limit) = (Priority::new(3), QueueLimit::Lossless);
    let spec = ClassSpec { priority, limit, share: 0.5, burst: 1, first: false };
    parts().classes(move |_| vec![spec])
}

/// Protects shaped classes, at hosts and at switches: each packet is followed by as much silence.
#[test]
fn a_shaped_class_takes_its_share() {
    let mut setup = line(1, G100, US);
    setup.message(0, 1, 50_000, Time::ZERO);
    let output = run::<Limited>(&setup, shaped(), 1);
    let begins = 2 * (FIRST + 48 * FULL) * BYTE;
    // The switch's packet two waits for the silence after packet one, which is longer by as much
    // as the first packet is; nothing else waits.
    let expected = begins + one_way(FULL, 2) + ack_back(2);
    assert!((expected..=expected + 3 * (FIRST - FULL) * BYTE).contains(&fct(&output, 0)));
    let mut two = star(3, G100, US);
    two.message(0, 2, 50_000, Time::ZERO);
    two.message(1, 2, 50_000, Time::ZERO);
    let output = run::<Limited>(&two, shaped(), 1);
    // 100 packets at half the rate through one port.
    let last = fct(&output, 0).max(fct(&output, 1));
    let at_least = 2 * 99 * FULL * BYTE;
    assert!((at_least..at_least + 5_000_000).contains(&last), "{last}");
}

/// Protects shapers from shares with which a class could never send, or not be limited.
#[test]
fn a_share_that_is_none_is_refused() {
    for (share, burst) in [(0.0, 1), (-0.5, 1), (f64::NAN, 1), (1.5, 1), (1e-9, 1), (0.5, 0)] {
        let (priority, limit) = (Priority::new(3), QueueLimit::Lossless);
        let spec = ClassSpec { priority, limit, share, burst, first: false };
        let mut setup = line(1, G100, US);
        setup.message(0, 1, 1_000, Time::ZERO);
        let toy = parts::<Limited>().classes(move |_| vec![spec]);
        let refused = Simulation::<Limited>::new(&setup, toy).err();
        assert_eq!(refused, Some(SetupError::ClassNotSendable { priority: 3 }), "{share} {burst}");
    }
}

/// Class 5 may take 84 of 1700 bytes, two packets at once.
fn bucket() -> (Parts<Limited>, Log<Time>) {
    let (toy, log) = shouting();
    let toy = toy.classes(|wire| {
        let sizes = [wire.packet_bytes, wire.ack_bytes, wire.min_control_bytes];
        assert_eq!(sizes, [FULL, ACK, LEAST].map(Bytes::new));
        let share = LEAST as f64 / SPACING as f64;
        let limit = QueueLimit::Lossless;
        vec![ClassSpec { priority: CLASS, limit, share, burst: 2, first: false }]
    });
    (toy, log)
}

/// Bytes of link time from a notice to the next.
const SPACING: u64 = 1_700;

/// Protects the depth of a shaped class's bucket: two go at once, then one as often as its share
/// says: the wire's delays do not add up. A long silence saves up two again, no more.
#[test]
fn a_shaped_class_may_save_up_a_burst() {
    let mut setup = line(1, G100, US);
    setup.classes.strict |= 1 << 5;
    setup.message(0, 1, 1_000_000, Time::ZERO);
    setup.message(0, 1, 1_000_000, US * 50);
    let (toy, log) = bucket();
    run::<Limited>(&setup, toy, 1);
    let there = log.all();
    assert_eq!(there.len(), 16);
    let gap = (SPACING * BYTE) as i64;
    // Both wires are full of data: a notice waits up to a packet at each.
    let slack = (2 * FIRST * BYTE) as i64;
    for burst in there.chunks(8) {
        for (number, time) in burst.iter().enumerate() {
            let due = (number as i64 - 1).max(0) * gap;
            let late = (time.ps() - burst[0].ps()) as i64 - due;
            assert!(late.abs() <= slack, "{number}: {late} ps late");
        }
    }
}

/// Protects drop-tail classes: what must not be dropped may not be in them.
#[test]
fn a_drop_tail_class_that_others_use_is_refused() {
    let taken = |change: fn(&mut fabric::Setup)| {
        let mut setup = line(1, G100, US);
        setup.message(0, 1, 1_000, Time::ZERO);
        change(&mut setup);
        Simulation::<Limited>::new(&setup, noisy().0).err()
    };
    let refused = Some(SetupError::ClassInUse { priority: 5 });
    assert_eq!(taken(|_| {}), None);
    assert_eq!(taken(|setup| setup.messages[0].priority = 5), refused);
    assert_eq!(taken(|setup| setup.classes.ack = Some(5)), refused);
    assert_eq!(taken(|setup| setup.classes.control = 5), refused);
    assert_eq!(taken(|setup| setup.pfc.lossless = 1 << 5 | 1 << 3), refused);
}
