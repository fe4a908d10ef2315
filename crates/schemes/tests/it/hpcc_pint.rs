//! HPCC over PINT: the field's rounding, the switch's average against rates and queues that are
//! known, and what the sender makes of it. 100 Gb/s, T = 8 us: the BDP is 100 KB.

use schemes::contract::{
    Ack, Address, Cp, EcnCodePoint, Flags, Header, HostCx, HostFacts, LinkRates, LocalCx, Packet,
    PacketKind, PathFacts, PortFacts, PortView, Rp, Scheme, SenderMetric, SwitchFacts, WireFacts,
};
use schemes::hpcc_pint::{self, Codebook, HpccPint, HpccPintParams, ReactionPoint};
use schemes::registry::params_of;
use schemes::testing;
use std::sync::Arc;
use units::{Bytes, NodeId, PortId, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);
const RTT: Time = Time::from_us(8);

fn paper() -> HpccPintParams {
    hpcc_pint::presets::paper(LINE)
}

fn blank(kind: PacketKind, sequence: u64, size: u16) -> Header {
    Header {
        address: Address { hash: 0x1234_5678, ..Address::default() },
        sequence,
        sent_at: Time::ZERO,
        size,
        payload: 1000,
        ingress: 0,
        kind,
        priority: 3,
        code_point: EcnCodePoint::NotMarked,
        echo: EcnCodePoint::NotMarked,
        flags: Flags::ACK_REQUESTED,
    }
}

/// A QP's sender and the ports of a path, each of a switch of its own.
struct Bench {
    params: HpccPintParams,
    codebook: Arc<Codebook>,
    rp: ReactionPoint,
    ports: Vec<(<HpccPint as Scheme>::Cp, <<HpccPint as Scheme>::Cp as Cp<HpccPint>>::Port)>,
    facts: PortFacts,
    next: u64,
}

impl Bench {
    fn new(params: HpccPintParams, switches: u32) -> Bench {
        Bench::with_rtt(params, switches, RTT)
    }

    /// T is `network_rtt` for switches.
    fn with_rtt(params: HpccPintParams, switches: u32, network_rtt: Time) -> Bench {
        let path = PathFacts { packet_bytes: Bytes::new(1083), ..testing::path(LINE, RTT) };
        let host = HostFacts {
            node: NodeId::new(0),
            line_rate: LINE,
            network_rtt: RTT,
            wire: WireFacts {
                profile: wire::Profile::Rocev2,
                packet_bytes: Bytes::new(1083),
                ack_bytes: Bytes::new(86),
                min_control_bytes: Bytes::new(84),
            },
            seed: 7,
        };
        let facts = PortFacts {
            port: PortId::new(1),
            rate: LINE,
            delay: Time::from_us(1),
            peer: NodeId::new(9),
            peer_is_host: false,
            xoff: Bytes::UNLIMITED,
            xon: Bytes::UNLIMITED,
            resume_offset: Bytes::UNLIMITED,
            kmin: [Bytes::UNLIMITED; 8],
            transit: Time::from_us(1),
        };
        let ports = (0..switches)
            .map(|node| {
                let switch = SwitchFacts {
                    node: NodeId::new(node),
                    tier: 1,
                    ports: &[facts],
                    hosts: &[],
                    network_rtt,
                    packet_bytes: Bytes::new(1_082),
                    rates: &LinkRates::new([]),
                    seed: 7 + u64::from(node),
                };
                let cp =
                    HpccPint::congestion_point(&params, &switch).expect("every switch takes part");
                let port = cp.port(&params, &facts);
                (cp, port)
            })
            .collect();
        let mut codebook = HpccPint::host(&params, &host);
        let rp = ReactionPoint::open(&params, &mut codebook, &path, Time::ZERO);
        Bench { params, codebook, rp, ports, facts, next: 0 }
    }

    fn cx<'a>(
        params: &'a HpccPintParams,
        host: &'a mut Arc<Codebook>,
        outbox: &'a mut Vec<schemes::contract::NoCtl>,
    ) -> HostCx<'a, HpccPint> {
        HostCx { now: Time::ZERO, params, host, outbox }
    }

    /// The next data packet.
    fn data(&mut self) -> Packet<HpccPint> {
        let mut header = blank(PacketKind::Data, self.next, 1050);
        self.next += 1000;
        let mut meta = <HpccPint as Scheme>::Meta::default();
        let mut outbox = Vec::new();
        let mut cx = Bench::cx(&self.params, &mut self.codebook, &mut outbox);
        self.rp.on_send(&mut cx, &mut header, &mut meta);
        Packet::with_meta(header, meta)
    }

    /// The packet leaves through a port where `queue` bytes stay.
    fn pass(&mut self, hop: usize, now: Time, queue: u64, packet: &mut Packet<HpccPint>) {
        let (cp, port) = &mut self.ports[hop];
        let view = PortView {
            port: PortId::new(1),
            rate: LINE,
            queue_bytes: queue,
            class_bytes: queue,
            tx_bytes: 0,
            last_departure: Time::ZERO,
        };
        cp.on_depart(&mut LocalCx { now }, port, &view, packet);
    }

    /// The link of a port has another rate from now on.
    fn change_rate(&mut self, hop: usize, rate: Rate) {
        let (cp, port) = &mut self.ports[hop];
        cp.on_rate(&self.params, port, &PortFacts { rate, ..self.facts });
    }

    /// Its ACK arrives, with all sent that the bench has made.
    fn ack(&mut self, packet: &Packet<HpccPint>) {
        self.answer(packet, false);
    }

    fn answer(&mut self, packet: &Packet<HpccPint>, nack: bool) {
        let meta = packet.meta().unwrap();
        let ack: Ack<'_, HpccPint> = Ack {
            next_expected: packet.header.sequence + 1000,
            newly_acked: Bytes::new(1000),
            newly_lost: Bytes::ZERO,
            next_to_send: self.next,
            nack,
            echo: EcnCodePoint::NotMarked,
            rtt: RTT,
            meta,
        };
        let mut outbox = Vec::new();
        let mut cx = Bench::cx(&self.params, &mut self.codebook, &mut outbox);
        self.rp.on_ack(&mut cx, &ack);
    }

    /// What the port's average is.
    fn port(&self, hop: usize) -> f64 {
        let (cp, port) = &self.ports[hop];
        Cp::<HpccPint>::observe(cp, port, Time::ZERO).expect("a number")
    }

    /// What the sender takes for U.
    fn sender(&self) -> f64 {
        self.rp.observe(Time::ZERO, SenderMetric::Alpha).expect("a number")
    }
}

#[track_caller]
fn within(got: f64, expected: f64, share: f64) {
    assert!((got - expected).abs() <= share * expected, "{got}, not {expected}");
}

#[test]
fn the_field_has_a_byte_or_two() {
    let bytes = |log_base| HpccPint::meta_bytes(&HpccPintParams { log_base, ..paper() });
    // ln 512^2 / ln 1.05 = 255.7, ln 512^2 / ln 1.01 = 1253.9.
    assert_eq!(bytes(1.05), (1, 1));
    assert_eq!(bytes(1.01), (2, 2));
    let codebook = Codebook::new(1.05);
    assert_eq!(codebook.encode(1e9, u16::MAX), 255, "the largest U fits");
    assert_eq!(codebook.encode(0.0, 0), 0, "there is no U of zero");
    assert_eq!(codebook.decode(0), 1.0 / 512.0);
}

/// Protects what a port has measured when its link becomes slower; from then on the same bytes are
/// more of its capacity.
#[test]
fn a_port_keeps_its_average_when_its_rate_changes() {
    let mut bench = Bench::new(paper(), 1);
    for step in 1..200 {
        let mut packet = bench.data();
        bench.pass(0, Time::from_ns(500 * step), 0, &mut packet);
    }
    let before = bench.port(0);
    assert!(before > 0.1, "{before}");
    bench.change_rate(0, Rate::from_bps(LINE.bps() / 2));
    assert_eq!(bench.port(0), before);
    for step in 200..600 {
        let mut packet = bench.data();
        bench.pass(0, Time::from_ns(500 * step), 0, &mut packet);
    }
    within(bench.port(0), 2.0 * before, 0.1);
}

#[test]
fn rounding_is_right_on_average() {
    for base in [1.01, 1.05] {
        let codebook = Codebook::new(base);
        for utilisation in [0.01, 0.3, 0.95, 1.0, 1.7, 40.0] {
            let mut sum = 0.0;
            for random in 0..=u16::MAX {
                let decoded = codebook.decode(codebook.encode(utilisation, random));
                within(decoded, utilisation, base - 1.0 + 0.2 / (512.0 * utilisation) * 5.0);
                sum += decoded;
            }
            // U is first rounded up to the next 512th.
            let whole = (utilisation * 512.0_f64).ceil() / 512.0;
            within(sum / 65_536.0, whole, 1e-4);
        }
    }
}

#[test]
fn a_power_is_its_own_code_and_others_are_one_of_two() {
    let codebook = Codebook::new(1.05);
    // In 512ths: 1 is 1.05^0; 2 lies between 1.05^14 = 1.98 and 1.05^15 = 2.08.
    assert_eq!(codebook.encode(1.0 / 512.0, 0), 0);
    assert_eq!(codebook.encode(2.0 / 512.0, 0), 15);
    assert_eq!(codebook.encode(2.0 / 512.0, u16::MAX), 14);
}

#[test]
fn a_port_finds_its_load_and_queue() {
    // Packets of 1050 B take 84 ns. Gap in ns, bytes waiting, U.
    for (gap, queue, expected) in
        [(84, 0, 1.0), (168, 0, 0.5), (84, 50_000, 1.5), (84, 200_000, 3.0), (840, 0, 0.1)]
    {
        let mut bench = Bench::new(paper(), 1);
        let mut sum = 0.0;
        for packet in 0..2000 {
            let mut data = bench.data();
            bench.pass(0, Time::from_ns(gap * packet), queue, &mut data);
            if packet >= 1000 {
                sum += bench.port(0);
            }
        }
        within(sum / 1000.0, expected, 0.02);
    }
}

/// Protects U on long paths, where a packet is less than one of the 8192 units that U is multiplied
/// in. The simulator's form rounds to the nearest unit.
#[test]
fn a_port_finds_its_load_over_a_long_round_trip() {
    let simulators = params_of::<HpccPint>("hpcc-pint-ns3", LINE, &[]).unwrap();
    // T in microseconds, and what the simulator's form makes of U = 0.95.
    for (rtt, expected) in [(84, 0.87), (420, 0.59), (1_680, 0.0)] {
        let mean = |params| {
            let mut bench = Bench::with_rtt(params, 1, Time::from_us(rtt));
            let (packets, mut sum) = (rtt * 600, 0.0);
            for packet in 0..packets {
                let mut data = bench.data();
                bench.pass(0, Time::from_ps(88_421 * packet), 0, &mut data);
                sum += if packet >= packets / 2 { bench.port(0) } else { 0.0 };
            }
            sum / (packets - packets / 2) as f64
        };
        within(mean(paper()), 0.95, 0.05);
        let simulators = mean(simulators.clone());
        assert!((simulators - expected).abs() < 0.02, "T = {rtt} us: {simulators}");
    }
}

#[test]
fn a_silence_of_t_forgets_everything_before() {
    let mut bench = Bench::new(paper(), 1);
    for packet in 0..1000 {
        let mut data = bench.data();
        bench.pass(0, Time::from_ns(84 * packet), 500_000, &mut data);
    }
    assert!(bench.port(0) > 4.0);
    let mut data = bench.data();
    bench.pass(0, Time::from_us(500), 0, &mut data);
    // 1050 B in T: 0.0105 of the BDP, with nine bits of logarithm.
    within(bench.port(0), 0.0105, 0.005);
}

#[test]
fn acks_count_as_load_and_carry_nothing_of_it() {
    let mut bench = Bench::new(paper(), 1);
    let mut sum = 0.0;
    for packet in 0..4000_u64 {
        let now = Time::from_ns(168 * packet);
        let mut data = bench.data();
        bench.pass(0, now, 0, &mut data);
        let mut ack = Packet::with_meta(blank(PacketKind::Ack, 0, 1050), *data.meta().unwrap());
        bench.pass(0, now + Time::from_ns(84), 100_000_000, &mut ack);
        assert_eq!(ack.meta(), data.meta());
        sum += if packet >= 2000 { bench.port(0) } else { 0.0 };
    }
    within(sum / 2000.0, 1.0, 0.02);
}

#[test]
fn the_sender_gets_the_largest_of_the_path() {
    let mut bench = Bench::new(paper(), 3);
    // The first ACK only begins the round trip.
    let mut data = bench.data();
    bench.pass(0, Time::ZERO, 0, &mut data);
    bench.ack(&data);
    assert_eq!(bench.sender(), 1.0);
    for packet in 1..2000 {
        let mut data = bench.data();
        for (hop, queue) in [(0, 0), (1, 70_000), (2, 10_000)] {
            bench.pass(hop, Time::from_ns(84 * packet), queue, &mut data);
        }
        bench.ack(&data);
        if packet > 1000 {
            within(bench.sender(), bench.port(1), 0.06);
        }
    }
    within(bench.sender(), 1.7, 0.1);
    // HPCC's law on it, a round trip an ACK: the window is at its floor.
    assert_eq!(bench.rp.limits().window, Bytes::new(1000));
}

#[test]
fn only_the_share_p_of_packets_brings_it_home() {
    let mut bench = Bench::new(HpccPintParams { probability: 0.25, ..paper() }, 1);
    let (mut changes, mut before) = (0, 0.0);
    for packet in 0..4000 {
        let mut data = bench.data();
        // Queues that alternate, so that each digest is another.
        bench.pass(0, Time::from_ns(4000 * packet), (packet % 7) * 100_000, &mut data);
        bench.ack(&data);
        changes += usize::from(bench.sender() != before);
        before = bench.sender();
    }
    assert!((800..1150).contains(&changes), "{changes} of 4000 at p = 0.25");
}

/// Sixteen leading bits hold every number here, so nothing is left to chance but the field.
#[test]
fn the_simulators_logarithms_are_finer() {
    let histories = |preset: &str| {
        let mut bench = Bench::new(params_of::<HpccPint>(preset, LINE, &[]).unwrap(), 2);
        for packet in 0..500 {
            let mut data = bench.data();
            for hop in 0..2 {
                bench.pass(hop, Time::from_ns(84 * packet), 50_000, &mut data);
            }
        }
        (bench.port(0), bench.port(1))
    };
    let (one, other) = histories("hpcc-pint-paper");
    assert_ne!(one, other);
    let (one, other) = histories("hpcc-pint-ns3");
    assert_eq!(one, other);
    within(one, 1.5, 0.01);
}

#[test]
fn nacks_count_in_the_simulators_form_alone() {
    for (preset, counts) in [("hpcc-pint-paper", false), ("hpcc-pint-ns3", true)] {
        let mut bench = Bench::new(params_of::<HpccPint>(preset, LINE, &[]).unwrap(), 1);
        let mut data = bench.data();
        bench.pass(0, Time::ZERO, 0, &mut data);
        bench.ack(&data);
        let mut data = bench.data();
        bench.pass(0, Time::from_us(8), 200_000, &mut data);
        bench.answer(&data, true);
        // A queue of twice the BDP.
        assert_eq!(bench.sender() > 1.9, counts, "{preset}");
        assert_eq!(bench.rp.limits().rate < LINE, counts, "{preset}");
    }
}

#[test]
fn ports_draw_their_own_numbers_and_the_same_ones_again() {
    let history = |hop: usize| {
        let mut bench = Bench::new(paper(), 2);
        (0..200_u64)
            .map(|packet| {
                let mut data = bench.data();
                bench.pass(hop, Time::from_ns(90 * packet), 12_345 * (packet % 9), &mut data);
                bench.port(hop)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(history(0), history(0));
    assert_ne!(history(0), history(1));
}
