//! PACC's congestion point, as reconstructed, against sequences worked out by hand.

use schemes::contract::{
    Address, Cp, CpTimer, EcnCodePoint, Emits, Flags, FullCx, Header, Level, OnEnqueue, Packet,
    PacketKind, PortFacts, PortView, Ports, QpEnd, SwitchEffect,
};
use schemes::dcqcn::Cnp;
use schemes::pacc::{
    self, CongestionPoint, Controller, FeedbackParams, FlowTable, Pacc, PaccParams,
};
use units::{Bytes, NodeId, PortId, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn feedback() -> FeedbackParams {
    FeedbackParams {
        reference_queue: Bytes::new(10_000),
        integral_gain: 0.02,
        proportional_gain: 0.1,
        ..pacc::presets::pacc(LINE).feedback
    }
}

#[track_caller]
fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-12, "{got}, not {expected}");
}

#[test]
fn the_controller_adds_excess_and_growth() {
    let mut pi = Controller::new(&feedback(), LINE);
    close(pi.probability(), 0.0);
    // 0.02 (20 - 10) / 10 + 0.1 (20 - 0) / 10.
    pi.step(20_000);
    close(pi.probability(), 0.22);
    // + 0.01 - 0.05.
    pi.step(15_000);
    close(pi.probability(), 0.18);
    // - 0.02 - 0.15, and then not below nothing.
    pi.step(0);
    close(pi.probability(), 0.01);
    pi.step(0);
    close(pi.probability(), 0.0);
    pi.step(10_000_000);
    close(pi.probability(), 1.0);
}

#[test]
fn the_reference_follows_the_rate_of_the_port() {
    let mut pi = Controller::new(&feedback(), Rate::from_gbps(400));
    // 0.02 (60 - 40) / 40 + 0.1 (60 / 40).
    pi.step(60_000);
    close(pi.probability(), 0.16);
}

fn address(slot: u32, hash: u32) -> Address {
    Address { src: 1, dst: 2, flow: 100 + slot, sender_slot: slot, receiver_slot: slot, hash }
}

fn drained(table: &mut FlowTable) -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    table.drain(|address, count| all.push((address.sender_slot, count)));
    all
}

#[test]
fn the_flow_table_counts_by_queue_pair() {
    let mut table = FlowTable::new(16);
    // Slots 1 and 2 meet at entry 3; slot 3 is at the end and goes round to the start.
    for (slot, hash) in [(1, 3), (2, 19), (1, 3), (3, 15), (4, 31), (1, 3)] {
        assert!(table.count(&address(slot, hash)));
    }
    assert!(!table.is_empty());
    assert_eq!(drained(&mut table), [(4, 1), (1, 3), (2, 1), (3, 1)], "by entry");
    assert!(table.is_empty());
    assert_eq!(drained(&mut table), []);
}

#[test]
fn a_queue_pair_without_a_free_entry_is_not_counted() {
    let mut table = FlowTable::new(12);
    for slot in 0..8 {
        assert!(table.count(&address(slot, 0)));
    }
    assert!(!table.count(&address(8, 0)), "eight entries tried");
    assert!(table.count(&address(9, 8)), "rounded up to 16");
    assert!(table.count(&address(7, 0)));
}

struct OnePort(<CongestionPoint as Cp<Pacc>>::Port, PortView);

impl Ports<<CongestionPoint as Cp<Pacc>>::Port> for OnePort {
    fn count(&self) -> usize {
        1
    }
    fn port(&mut self, _: PortId) -> (&mut <CongestionPoint as Cp<Pacc>>::Port, &PortView) {
        (&mut self.0, &self.1)
    }
}

/// A port of one switch and what was sent.
struct World {
    cp: CongestionPoint,
    port: OnePort,
    sent: Vec<SwitchEffect<Cnp>>,
}

impl World {
    fn new(feedback: FeedbackParams) -> World {
        let dcqcn = pacc::presets::pacc(LINE).dcqcn;
        let params = PaccParams { dcqcn, feedback };
        let facts = PortFacts {
            port: PortId::new(0),
            rate: LINE,
            delay: us(1),
            peer: NodeId::new(9),
            peer_is_host: true,
            xoff: Bytes::UNLIMITED,
            xon: Bytes::UNLIMITED,
            resume_offset: Bytes::new(3_000),
            kmin: [Bytes::UNLIMITED; 8],
            transit: us(1),
        };
        let view = PortView {
            port: PortId::new(0),
            rate: LINE,
            queue_bytes: 0,
            class_bytes: 0,
            tx_bytes: 0,
            last_departure: Time::ZERO,
        };
        let cp = CongestionPoint::new(&params.feedback, 7);
        let state = cp.port(&params, &facts);
        World { cp, port: OnePort(state, view), sent: Vec::new() }
    }

    fn enqueue(&mut self, now: Time, slot: u32, kind: PacketKind) {
        let header = Header {
            address: address(slot, slot),
            sequence: 0,
            sent_at: Time::ZERO,
            size: 1082,
            payload: 1000,
            ingress: 0,
            kind,
            priority: 3,
            code_point: EcnCodePoint::NotMarked,
            echo: EcnCodePoint::NotMarked,
            flags: Flags::ACK_REQUESTED,
        };
        let mut packet = Packet::with_meta(header, ());
        let mut cx = Emits::arrive(FullCx::<Pacc>::new(now, &mut self.sent, &[]));
        self.cp.on_enqueue(&mut cx, &mut self.port.0, &self.port.1, &mut packet);
    }

    /// The timer fires, as it must at `now`, and `queue` bytes wait.
    #[track_caller]
    fn timer(&mut self, now: Time, queue: u64) {
        assert_eq!(self.cp.next_timer(), now);
        self.port.1.queue_bytes = queue;
        let mut cx = Emits::arrive(FullCx::<Pacc>::new(now, &mut self.sent, &[]));
        self.cp.on_timer(&mut cx, &mut self.port);
    }
}

#[test]
fn congested_packets_bring_a_cnp_every_80_us() {
    // p is 1 as soon as anything is in excess, and one congested packet is enough.
    let feedback = FeedbackParams { integral_gain: 10.0, certain_mark_count: 1, ..feedback() };
    let mut world = World::new(feedback);
    world.enqueue(us(3), 5, PacketKind::Ack);
    assert_eq!(world.cp.next_timer(), Time::NEVER, "only data matters");
    world.enqueue(us(3), 5, PacketKind::Data);
    // Not counted: p was 0.
    world.timer(us(10), 100_000);
    world.enqueue(us(11), 5, PacketKind::Data);
    world.enqueue(us(12), 6, PacketKind::Data);
    world.enqueue(us(13), 5, PacketKind::Data);
    for step in 2..=7 {
        world.timer(us(10 * step), 100_000);
        assert!(world.sent.is_empty());
    }
    world.timer(us(80), 100_000);
    let answered: Vec<_> = world
        .sent
        .iter()
        .map(|effect| match effect {
            SwitchEffect::ToHost(address, QpEnd::Sender, Cnp) => address.sender_slot,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(answered, [5, 6], "one each");
    // An empty port: p falls to 0 and the timers rest.
    world.sent.clear();
    world.timer(us(90), 0);
    assert_eq!(world.cp.next_timer(), Time::NEVER);
    assert!(world.sent.is_empty());
    world.enqueue(us(105), 5, PacketKind::Data);
    assert_eq!(world.cp.next_timer(), us(110));
}

/// Protects the control step where the flow table is worked off more often: a step that is due is
/// done, though the one before found no queue.
#[test]
fn a_flush_leaves_the_control_step_due() {
    let feedback = FeedbackParams { flush_interval: us(4), ..feedback() };
    let mut world = World::new(feedback);
    world.enqueue(us(3), 5, PacketKind::Data);
    world.timer(us(4), 100_000);
    world.timer(us(8), 100_000);
    world.timer(us(10), 100_000);
    // 0.02 (100 - 10) / 10 + 0.1 (100 - 0) / 10.
    assert_eq!(world.cp.observe(&world.port.0, us(10)), Some(1.0));
    world.timer(us(12), 0);
    world.timer(us(16), 0);
    world.timer(us(20), 0);
    assert_eq!(world.cp.next_timer(), Time::NEVER, "nothing waits, and p is 0 again");
}

/// A QP with a quarter of the count that makes a CNP certain gets one in every fourth interval.
#[test]
fn cnps_are_in_proportion_to_congested_packets() {
    let feedback = FeedbackParams { integral_gain: 10.0, certain_mark_count: 8, ..feedback() };
    let mut world = World::new(feedback);
    world.enqueue(us(1), 0, PacketKind::Data);
    for interval in 0..1_000 {
        let start = 80 * interval;
        for slot in [1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3] {
            world.enqueue(us(start + 11), slot, PacketKind::Data);
        }
        for step in 1..=8 {
            world.timer(us(start + 10 * step), 100_000);
        }
    }
    let cnps = |wanted: u32| {
        let all = world.sent.iter();
        all.filter(
            |effect| matches!(effect, SwitchEffect::ToHost(a, _, _) if a.sender_slot == wanted),
        )
        .count()
    };
    assert!((210..290).contains(&cnps(1)), "{} of 250", cnps(1));
    assert!((450..550).contains(&cnps(2)), "{} of 500", cnps(2));
    // In the first interval p was still 0 at 11 us.
    assert!(cnps(3) >= 999, "{} of 1000", cnps(3));
}
