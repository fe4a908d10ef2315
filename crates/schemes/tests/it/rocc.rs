//! RoCC's controller and sender against values worked out by hand. At 100 Gb/s F_max is 10 000
//! steps of 10 Mb/s; Q_ref, Q_mid and Q_max are 500, 1000 and 1100 steps of 600 B.

use proptest::prelude::*;
use schemes::contract::{
    Address, Cp, CpTimer, Departure, EcnCodePoint, Emits, Flags, FullCx, Header, Level, LinkRates,
    OnEnqueue, Packet, PacketKind, PortFacts, PortView, Ports, QpEnd, Scheme, SwitchEffect,
    SwitchFacts,
};
use schemes::rocc::{
    self, CongestionPoint, Controller, EgressQueue, FairRate, FlowTable, ReactionPoint, Rocc,
    RoccParams,
};
use schemes::testing;
use std::collections::BTreeMap;
use units::{Bytes, NodeId, PortId, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn paper() -> RoccParams {
    rocc::presets::paper(LINE)
}

/// The fair rates after periods that ended with these multiples of 600 B waiting.
fn rates(rate: Rate, queue: &[u64]) -> Vec<u32> {
    let mut controller = Controller::new(&rocc::presets::paper(rate), rate);
    queue
        .iter()
        .map(|steps| {
            controller.update(steps * 600 + 599);
            controller.steps()
        })
        .collect()
}

#[test]
fn the_controller_follows_the_queue() {
    // 10 000 - 0.3 (291 - 500) - 1.5 * 291 = 9626.2; then 400 waiting, 109 more than before:
    // 9626.2 + 30 - 163.5 = 9492.7; then 600: 9492.7 - 30 - 300 = 9162.7.
    assert_eq!(rates(LINE, &[291, 400, 600]), [9626, 9493, 9163]);
    // An empty queue: + 0.3 * 500, and never above the line.
    assert_eq!(rates(LINE, &[0]), [10_000]);
    assert_eq!(rates(LINE, &[600, 0, 0, 0]), [9070, 10_000, 10_000, 10_000]);
}

#[test]
fn sudden_growth_halves_and_a_full_queue_drops_to_the_least() {
    // 1000 more than before is Q_mid.
    assert_eq!(rates(LINE, &[1000]), [5000]);
    // 5000 - 0.3 * 599 - 1.5 * 99 = 4671.8; 1100 is Q_max.
    assert_eq!(rates(LINE, &[1000, 1099, 1100]), [5000, 4672, 10]);
}

#[test]
fn at_low_rates_the_gains_are_small_and_nothing_is_cut() {
    // 10 is below 10 000 / 64: gains over 32. 1125 waiting, no growth: 10 - 0.009375 * 625, the
    // least is 10. Then all of it leaves: 10 + 0.009375 * 500 + 0.046875 * 1125 = 67.4.
    assert_eq!(rates(LINE, &[1125, 1125, 0]), [10, 10, 67]);
    // 67.4 + 4.7 a period.
    assert_eq!(rates(LINE, &[1125, 1125, 0, 0, 0]), [10, 10, 67, 72, 77]);
}

#[test]
fn gains_fall_by_powers_of_two() {
    // 5000 is F_max / 2: level 2, ratio 1. 5000 + 1.5 * 500 = 5750, for the queue is at its aim.
    // Then 5750 - 0.3 * 599 - 1.5 * 599 = 4671.8, which is below 5000 and not below 2500: ratio 2,
    // 4671.8 + 0.75 * 599 = 5121.05.
    assert_eq!(rates(LINE, &[1000, 500, 1099, 500]), [5000, 5750, 4672, 5121]);
}

#[test]
fn slower_ports_have_a_set_of_their_own_and_faster_ones_scale() {
    let forty = Rate::from_gbps(40);
    assert_eq!(rocc::presets::paper(forty).q_max, Bytes::new(360_000));
    // Q_ref 250, Q_mid 500, Q_max 600 of F_max 4000: 4000 - 0.3 * 49 - 1.5 * 299 = 3536.8.
    assert_eq!(rates(forty, &[299]), [3537]);
    assert_eq!(rates(forty, &[500]), [2000]);
    assert_eq!(rates(forty, &[600]), [10]);
    // 400G: four times the 100G set. At Q_ref only growth counts: 40 000 - 1.5 * 2000.
    let fast = Rate::from_gbps(400);
    assert_eq!(rates(fast, &[2000]), [37_000]);
    assert_eq!(rates(fast, &[4000]), [20_000]);
    assert_eq!(rates(fast, &[4399, 4400]), [20_000, 10]);
}

const HERE: (NodeId, PortId) = (NodeId::new(7), PortId::new(1));
const THERE: (NodeId, PortId) = (NodeId::new(8), PortId::new(3));

fn sender() -> ReactionPoint {
    let path = testing::path(LINE, us(8));
    ReactionPoint::new(&paper(), &path)
}

fn gbps(rate: Rate) -> f64 {
    rate.bps() as f64 / 1e9
}

#[test]
fn a_message_counts_when_the_host_has_worked_on_it() {
    let mut rp = sender();
    rp.on_rate(us(100), FairRate { steps: 5000, origin: HERE });
    assert_eq!((rp.rate(), rp.next_due()), (LINE, us(115)));
    rp.advance_to(us(115));
    assert_eq!(rp.rate(), Rate::from_gbps(50));
    assert_eq!(rp.next_due(), us(170), "recovery, 55 us on");
}

#[test]
fn a_sender_follows_the_lowest_congestion_point() {
    let mut rp = sender();
    let mut tell = |time, steps, origin| {
        rp.on_rate(us(time), FairRate { steps, origin });
        rp.advance_to(us(time + 15));
        gbps(rp.rate())
    };
    assert_eq!(tell(0, 5000, HERE), 50.0);
    assert_eq!(tell(40, 6000, THERE), 50.0, "another one's, and not lower");
    assert_eq!(tell(41, 5500, HERE), 55.0, "its own may raise the rate");
    assert_eq!(tell(80, 5400, THERE), 54.0, "another one's, and lower");
    assert_eq!(tell(81, 5400, HERE), 54.0, "now it is bound to that one");
    assert_eq!(tell(120, 7000, THERE), 70.0);
}

#[test]
fn silence_doubles_the_rate_until_the_line_is_reached() {
    let mut rp = sender();
    rp.on_rate(us(0), FairRate { steps: 2000, origin: HERE });
    rp.advance_to(us(69));
    assert_eq!(gbps(rp.rate()), 20.0);
    rp.advance_to(us(70));
    assert_eq!(gbps(rp.rate()), 40.0);
    // What is not accepted does not restart the timer.
    rp.on_rate(us(80), FairRate { steps: 9000, origin: THERE });
    rp.advance_to(us(125));
    assert_eq!(gbps(rp.rate()), 80.0);
    rp.advance_to(us(180));
    assert_eq!((rp.rate(), rp.next_due()), (LINE, Time::NEVER));
    // Free again: anyone may bind it.
    rp.on_rate(us(200), FairRate { steps: 9999, origin: THERE });
    rp.advance_to(us(215));
    assert_eq!(gbps(rp.rate()), 99.99);
}

fn address(qp: u32) -> Address {
    Address { src: qp, dst: qp % 3, receiver_slot: qp, ..Address::default() }
}

fn data(qp: u32) -> Packet<Rocc> {
    let header = Header {
        address: address(qp),
        sequence: 0,
        sent_at: Time::ZERO,
        size: 1082,
        payload: 1000,
        ingress: 0,
        kind: PacketKind::Data,
        priority: 3,
        code_point: EcnCodePoint::NotMarked,
        echo: EcnCodePoint::NotMarked,
        flags: Flags::ACK_REQUESTED,
    };
    Packet::with_meta(header, ())
}

/// One port with a queue.
struct OnePort(EgressQueue, PortView);

impl Ports<EgressQueue> for OnePort {
    fn count(&self) -> usize {
        1
    }
    fn port(&mut self, _port: PortId) -> (&mut EgressQueue, &PortView) {
        (&mut self.0, &self.1)
    }
}

/// A congestion point with one port, and what it tells.
struct World {
    cp: CongestionPoint,
    ports: OnePort,
}

impl World {
    fn new() -> World {
        let facts = PortFacts {
            port: PortId::new(0),
            rate: LINE,
            delay: us(1),
            peer: NodeId::new(9),
            peer_is_host: true,
            xoff: Bytes::UNLIMITED,
            xon: Bytes::UNLIMITED,
            resume_offset: Bytes::UNLIMITED,
            kmin: [Bytes::UNLIMITED; 8],
            transit: Time::from_us(1),
        };
        let switch = SwitchFacts {
            node: HERE.0,
            tier: 1,
            ports: &[facts],
            hosts: &[],
            network_rtt: us(8),
            packet_bytes: Bytes::new(1_082),
            rates: &LinkRates::new([]),
            seed: 1,
        };
        let params = RoccParams { flow_table: 16, ..paper() };
        let cp = Rocc::congestion_point(&params, &switch).unwrap();
        let view = PortView {
            port: facts.port,
            rate: LINE,
            queue_bytes: 0,
            class_bytes: 0,
            tx_bytes: 0,
            last_departure: Time::ZERO,
        };
        let ports = OnePort(cp.port(&params, &facts), view);
        World { cp, ports }
    }

    /// A packet joins the queue, and waits as it is returned.
    fn join(&mut self, mut packet: Packet<Rocc>) -> Packet<Rocc> {
        let mut effects = Vec::new();
        let mut cx = Emits::arrive(FullCx::new(us(1), &mut effects, &[]));
        self.cp.on_enqueue(&mut cx, &mut self.ports.0, &self.ports.1, &mut packet);
        packet
    }

    fn leave(&mut self, mut packet: Packet<Rocc>) {
        let mut effects = Vec::new();
        let mut cx =
            Emits::depart::<Rocc>(Departure { now: us(2), effects: &mut effects, views: &[] });
        self.cp.on_depart(&mut cx, &mut self.ports.0, &self.ports.1, &mut packet);
    }

    /// A packet that waits is lost.
    fn drop(&mut self, packet: &Packet<Rocc>) {
        let mut effects = Vec::new();
        let mut cx = Emits::arrive(FullCx::new(us(2), &mut effects, &[]));
        self.cp.on_drop(&mut cx, &mut self.ports.0, &self.ports.1, packet);
    }

    /// Returns the sources that get a message when the timer fires, in order, and the message.
    fn told(&mut self) -> Vec<(u32, FairRate)> {
        let (now, mut effects) = (self.cp.next_timer(), Vec::new());
        let mut cx = Emits::arrive(FullCx::<Rocc>::new(now, &mut effects, &[]));
        self.cp.on_timer(&mut cx, &mut self.ports);
        let mut told: Vec<_> = effects
            .iter()
            .map(|effect| match effect {
                SwitchEffect::ToHost(address, QpEnd::Sender, message) => (address.src, *message),
                other => panic!("{other:?}"),
            })
            .collect();
        told.sort_unstable_by_key(|(source, _)| *source);
        told
    }
}

#[test]
fn each_flow_with_a_packet_in_the_queue_is_told_once() {
    let mut world = World::new();
    let [one, two, ..] = [1, 2, 2, 3].map(|qp| world.join(data(qp)));
    // An ACK of another flow that waits there is nobody's data.
    let mut ack = data(4);
    ack.header.kind = PacketKind::Ack;
    world.join(ack);
    world.leave(one);
    world.leave(two);
    assert_eq!(world.cp.next_timer(), us(40));
    world.ports.1.queue_bytes = 1000 * 600;
    let half = FairRate { steps: 5000, origin: (HERE.0, PortId::new(0)) };
    assert_eq!(world.told(), [(2, half), (3, half)]);
    assert_eq!(world.cp.next_timer(), us(80));
    assert_eq!(world.cp.observe(&world.ports.0, us(40)), Some(50e9));
}

/// Protects flows that found the table full: what was not counted as it came is not taken off what
/// was, as it leaves or is dropped.
#[test]
fn a_flow_that_was_left_out_is_told_once_there_is_room() {
    let mut world = World::new();
    let sources = |world: &mut World| -> Vec<u32> {
        world.told().into_iter().map(|(source, _)| source).collect()
    };
    let first = world.join(data(0));
    for qp in 1..16 {
        world.join(data(qp));
    }
    let left_out = [(); 3].map(|()| world.join(data(16)));
    assert_eq!(sources(&mut world), Vec::from_iter(0..16));
    world.leave(first);
    let counted = [(); 2].map(|()| world.join(data(16)));
    let [one, two, three] = left_out;
    world.leave(one);
    world.leave(two);
    world.drop(&three);
    assert_eq!(sources(&mut world), Vec::from_iter(1..17), "two packets wait");
    let [one, two] = counted;
    world.leave(one);
    assert_eq!(sources(&mut world), Vec::from_iter(1..17), "one packet waits");
    world.drop(&two);
    assert_eq!(sources(&mut world), Vec::from_iter(1..16));
}

proptest! {
    /// The table against a map: as long as it is not full, they agree.
    #[test]
    fn the_flow_table_counts(steps in prop::collection::vec((0..40_u32, any::<bool>()), 1..400)) {
        let mut table = FlowTable::new(16);
        let mut map: BTreeMap<u32, u32> = BTreeMap::new();
        for (qp, arrives) in steps {
            if arrives {
                let room = map.len() < 16 || map.contains_key(&qp);
                prop_assert_eq!(table.arrive(&address(qp)), room);
                if room {
                    *map.entry(qp).or_default() += 1;
                }
            } else if let Some(count) = map.get_mut(&qp) {
                table.depart(&address(qp));
                *count -= 1;
                if *count == 0 {
                    map.remove(&qp);
                }
            }
            let mut flows: Vec<u32> = table.addresses().map(|address| address.src).collect();
            flows.sort_unstable();
            prop_assert_eq!(flows, map.keys().copied().collect::<Vec<_>>());
        }
    }
}
