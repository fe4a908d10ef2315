//! HPCC in the HPCC simulator's form: rates against that simulator's own output, to the bit, and
//! its rules against round trips worked out by hand (100 Gb/s, T = 8 us, so that W is 100 KB).

use proptest::prelude::*;
use schemes::contract::{
    Ack, EcnCodePoint, HostCx, LinkRates, PathFacts, PortFacts, Rp, Scheme, SwitchFacts,
};
use schemes::hpcc::rate::ReactionPoint;
use schemes::hpcc::{self, BaseRtt, Hpcc, HpccParams, IntPrecision, Variant};
use schemes::int::{IntFormat, IntRecord, IntStack};
use schemes::params::ParamError;
use schemes::rate_window::WindowMode;
use schemes::testing::{self, record};
use units::{Bytes, NodeId, PortId, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn path(rtt: Time) -> PathFacts {
    PathFacts {
        base_rtt: us(4),
        switches: 3,
        packet_bytes: Bytes::new(1090),
        ..testing::path(LINE, rtt)
    }
}

/// The preset with exact records, where rounding is not what is looked at.
fn ns3() -> HpccParams {
    HpccParams { int_format: IntPrecision::Full, ..hpcc::presets::ns3(LINE) }
}

fn stack<const N: usize>(records: impl IntoIterator<Item = IntRecord>) -> IntStack<N> {
    let mut stack = IntStack::default();
    for (node, record) in records.into_iter().enumerate() {
        stack.push(NodeId::new(node as u32), PortId::new(1), record);
    }
    stack
}

/// The records of ports of switches 0, 1, ..: time in us, bytes sent, bytes waiting.
fn records<const N: usize>(hops: &[(u64, u64, u64)]) -> IntStack<N> {
    stack(hops.iter().map(|&(time, sent, queue)| record(LINE, us(time), sent, queue)))
}

// ---- The simulator's own output: three switches in a row, four cables of 1.5 us, 100 Gb/s,
// packets ---- of 1090 B every 87 ns, so T = 2 * 6000 ns + 4 * 80 ns; RATE_AI 50 Mb/s, INT_MULTI 4.

fn golden() -> ReactionPoint<5> {
    let params = HpccParams { rate_ai: Rate::from_mbps(50), ..hpcc::presets::ns3(LINE) };
    assert_eq!((params.int_format, params.int_multi), (IntPrecision::Ns3, 4));
    ReactionPoint::new(&params, &path(Time::from_ns(12_320)))
}

#[track_caller]
fn allows(rp: &ReactionPoint<5>, rate: u64, window: u64) {
    assert_eq!(rp.limits().rate, Rate::from_bps(rate));
    assert_eq!(rp.limits().window, Bytes::new(window));
}

/// The simulator's flow 0 alone. There is a sample for each whole microsecond: the packets
/// acknowledged by then, the rate and the window. Packet n leaves switch h at 1587 (h + 1) + 87 n
/// ns. The last two, which left their host after its first ACKs, leave 91 ns after the packet
/// before.
#[test]
fn a_lone_flow_has_the_simulators_rates() {
    const SAMPLES: [(u64, u64, u64); 14] = [
        (0, 100_000_000_000, 154_000),
        (8, 95_319_224_201, 146_791),
        (19, 95_108_728_338, 146_467),
        (31, 95_253_878_883, 146_690),
        (42, 95_046_454_632, 146_371),
        (54, 95_196_504_238, 146_602),
        (65, 94_991_399_284, 146_286),
        (77, 95_145_775_068, 146_524),
        (88, 94_944_674_629, 146_214),
        (100, 95_100_563_195, 146_454),
        (111, 94_903_028_506, 146_150),
        (123, 95_062_185_158, 146_395),
        (134, 94_865_575_527, 146_092),
        // The ACK of packet 143 ends the round trip that the first one began.
        (146, 90_288_071_686, 139_043),
    ];
    let format = IntFormat::hpcc_ns3(4);
    let mut rp = golden();
    allows(&rp, SAMPLES[0].1, SAMPLES[0].2);
    for packet in 0..146 {
        let late = 4 * u64::saturating_sub(packet, 143);
        let ack = stack((1..=3).map(|hop| {
            let time = Time::from_ns(1587 * hop + 87 * packet + late);
            format.round(record(LINE, time, 1090 * packet, 0))
        }));
        // 143 packets had been sent as the first ACK came.
        rp.acknowledge(us(20), 1000 * (packet + 1), 143_000 + 1000 * packet, &ack);
        if let Some(sample) = SAMPLES.iter().find(|sample| sample.0 == packet + 1) {
            allows(&rp, sample.1, sample.2);
        }
    }
}

/// Its flow 1, from 300 us on, as a queue grows at the first switch: the records there, in ns,
/// units of 512 B and units of 320 B. The other two switches have no queue.
#[test]
fn a_growing_queue_has_the_simulators_rates() {
    const FIRST_HOP: [(u64, u64, u64); 22] = [
        (301_599, 6972, 0),
        (301_773, 6976, 6),
        (301_947, 6980, 13),
        (302_121, 6984, 20),
        (302_295, 6989, 27),
        (302_469, 6993, 34),
        (302_643, 6997, 40),
        (302_817, 7001, 47),
        (302_991, 7006, 54),
        (303_165, 7010, 61),
        (303_339, 7014, 68),
        (303_513, 7019, 71),
        (303_687, 7023, 78),
        (303_861, 7027, 85),
        (304_035, 7031, 91),
        (304_209, 7036, 98),
        (304_383, 7040, 105),
        (304_557, 7044, 112),
        (304_644, 7046, 115),
        (304_818, 7050, 122),
        (304_992, 7055, 129),
        (305_166, 7059, 132),
    ];
    let mut rp = golden();
    for (packet, &(time, sent, queue)) in (1..).zip(&FIRST_HOP) {
        let ack = stack((0..3).map(|hop| {
            let queue = if hop == 0 { queue } else { 0 };
            record(LINE, Time::from_ns(time + 1587 * hop), 512 * sent, 320 * queue)
        }));
        rp.acknowledge(us(315), 1000 * packet, 143_000, &ack);
        match packet {
            4 => allows(&rp, 95_229_330_948, 146_653),
            10 => allows(&rp, 94_464_212_937, 145_474),
            16 => allows(&rp, 93_160_811_759, 143_467),
            22 => allows(&rp, 91_797_652_908, 141_368),
            _ => {}
        }
    }
}

// ---- By hand ----

/// After the first ACK, which only stores: line rate, U = 1, and the reference's round trip ends at
/// byte 50 000.
fn begun(params: &HpccParams) -> ReactionPoint<5> {
    let mut rp = ReactionPoint::new(params, &path(us(8)));
    rp.acknowledge(us(10), 1000, 50_000, &records(&[(1, 0, 0), (2, 0, 20_000)]));
    assert_eq!((rp.limits().rate, rp.reference(), rp.utilisation()), (LINE, LINE, 1.0));
    rp
}

/// Hop 0: 10 000 B in 1 us are 80 Gb/s, no queue: 0.8. Hop 1: 25 000 B in 2 us are 100 Gb/s, and
/// the smaller queue of 20 000 and 30 000 B is a fifth of W: 1.2.
fn second() -> IntStack<5> {
    records(&[(2, 10_000, 0), (4, 25_000, 30_000)])
}

#[track_caller]
fn near(rate: Rate, expected: u64) {
    assert!(rate.bps().abs_diff(expected) <= 1, "{rate}, not {expected}");
}

#[test]
fn a_fast_reaction_leaves_the_reference_and_a_full_one_moves_it() {
    let mut rp = begun(&ns3());
    rp.acknowledge(us(12), 50_000, 51_000, &second());
    // 2 us are a quarter of T: U = 0.75 + 0.25 * 1.2 = 1.05. 100 / (1.05 / 0.95) Gb/s, and RATE_AI
    // is 40 Mb/s. W is in proportion, cut to a byte.
    near(rp.limits().rate, 90_516_190_476);
    assert_eq!(rp.limits().window, Bytes::new(90_516));
    assert_eq!(rp.reference(), LINE);

    let mut rp = begun(&ns3());
    rp.acknowledge(us(12), 50_001, 51_000, &second());
    near(rp.reference(), 90_516_190_476);
    // 8 us later both hops have sent at 90 %: U = 0.9, and it rises multiplicatively.
    let ack = records(&[(10, 100_000, 0), (12, 115_000, 0)]);
    rp.acknowledge(us(20), 51_001, 60_000, &ack);
    assert!((rp.utilisation() - 0.9).abs() < 1e-12);
    near(rp.limits().rate, (90_516_190_476.0 * 0.95 / 0.9) as u64 + 40_000_000);
}

#[test]
fn additive_steps_come_first_where_asked_for() {
    let params = HpccParams { max_stage: 2, min_rate: Rate::from_gbps(1), ..ns3() };
    let mut rp = begun(&params);
    rp.acknowledge(us(12), 60_000, 100_000, &second());
    let mut rate = rp.reference().bps();
    for step in 1..=3 {
        let at = 10 + 8 * step;
        let sent = 90_000 * step;
        let ack = records(&[(at, 10_000 + sent, 0), (at + 2, 25_000 + sent, 0)]);
        rp.acknowledge(us(30), 100_000 * step + 1, 100_000 * (step + 1), &ack);
        rate = if step <= 2 { rate } else { (rate as f64 * 0.95 / 0.9) as u64 } + 40_000_000;
        near(rp.reference(), rate);
    }
}

#[test]
fn the_rate_keeps_its_bounds() {
    let mut rp = begun(&ns3());
    // A queue of 400 W.
    let full = records(&[(9, 100_000, 0), (10, 100_000, 40_000_000)]);
    rp.acknowledge(us(20), 50_001, 51_000, &full);
    let full = records(&[(17, 200_000, 0), (18, 200_000, 40_000_000)]);
    rp.acknowledge(us(28), 51_001, 52_000, &full);
    assert_eq!(rp.limits().rate, Rate::from_gbps(1));
    assert_eq!(rp.limits().window, Bytes::new(1000));
    // A byte in 8 us: the quotient is above line rate.
    let idle = records(&[(25, 200_001, 0), (26, 200_000, 0)]);
    rp.acknowledge(us(36), 52_001, 53_000, &idle);
    assert!((rp.utilisation() - 1e-5).abs() < 1e-12);
    assert_eq!(rp.limits().rate, LINE);
    // Nothing at all has no weight.
    rp.acknowledge(us(44), 53_001, 54_000, &records(&[(33, 200_001, 0), (34, 200_000, 0)]));
    assert_eq!(rp.limits().rate, LINE);
}

/// Acknowledges as the fabric does.
fn hear<const N: usize>(rp: &mut Variant<N>, params: &HpccParams, ack: &Ack<'_, Hpcc<N>>) {
    let mut outbox = Vec::new();
    let mut cx = HostCx { now: us(20), params, host: &mut (), outbox: &mut outbox };
    rp.on_ack(&mut cx, ack);
}

fn ack<const N: usize>(meta: &IntStack<N>, next_expected: u64, sent: u64) -> Ack<'_, Hpcc<N>> {
    Ack {
        next_expected,
        newly_acked: Bytes::new(1000),
        newly_lost: Bytes::ZERO,
        next_to_send: sent,
        nack: false,
        echo: EcnCodePoint::NotMarked,
        rtt: us(9),
        meta,
    }
}

#[test]
fn nacks_and_repeated_acks_count_and_the_round_trips_end_stays() {
    let params = ns3();
    for nack in [false, true] {
        let mut rp = Variant::new(&params, &path(us(8)));
        let first = records(&[(1, 0, 0), (2, 0, 20_000)]);
        hear(&mut rp, &params, &ack(&first, 1000, 50_000));
        let second = second();
        let repeated = Ack { newly_acked: Bytes::ZERO, nack, ..ack(&second, 1000, 50_000) };
        hear(&mut rp, &params, &repeated);
        near(rp.limits().rate, 90_516_190_476);
        // Beyond byte 50 000 a NACK moves the reference too; what lay beyond it is sent again.
        let third = records(&[(10, 100_000, 0), (12, 115_000, 0)]);
        hear(&mut rp, &params, &Ack { nack, ..ack(&third, 60_000, 110_000) });
        let Variant::Ns3(rp) = rp else { panic!("the preset is of the simulator's form") };
        // U = 0.9 lets it rise to the line rate.
        assert_eq!(rp.reference(), LINE);
        let mut rp = rp;
        let fourth = records(&[(18, 220_000, 0), (20, 235_000, 0)]);
        rp.acknowledge(us(40), 61_000, 120_000, &fourth);
        // A full update after the NACK, whose round trip ends at byte 60 000, a fast reaction else.
        let cut = 1e11 * 0.95 / 1.2 + 4e7;
        near(rp.limits().rate, cut as u64);
        near(rp.reference(), if nack { cut as u64 } else { LINE.bps() });
    }
}

#[test]
fn the_first_ack_only_stores_whatever_it_is() {
    let params = ns3();
    let mut rp = Variant::new(&params, &path(us(8)));
    let (first, second) = (records(&[(1, 0, 0), (2, 0, 20_000)]), second());
    // A NACK of byte 0: nothing is sent by then, so the next one is a first one too.
    hear(&mut rp, &params, &Ack { nack: true, ..ack(&first, 0, 50_000) });
    hear(&mut rp, &params, &ack(&second, 1000, 50_000));
    assert_eq!(rp.limits().rate, LINE);
    hear(&mut rp, &params, &ack(&records(&[(10, 110_000, 0), (12, 125_000, 0)]), 2000, 51_000));
    near(rp.limits().rate, 95_040_000_000);
}

#[test]
fn sampled_feedback_passes_over_idle_hops_between_updates() {
    let mut rp = begun(&HpccParams { sample_feedback: true, ..ns3() });
    // Both idle: nothing happens, and the records stay those of the first ACK.
    rp.acknowledge(us(12), 2000, 51_000, &records(&[(2, 12_500, 0), (3, 12_500, 0)]));
    assert_eq!((rp.limits().rate, rp.utilisation()), (LINE, 1.0));
    // Hop 1 alone: as without the ACK in between.
    rp.acknowledge(us(13), 3000, 52_000, &second());
    near(rp.limits().rate, 90_516_190_476);
    // At an update every hop counts: hop 0 has sent 90 000 B in the 8 us since the first ACK, hop 1
    // 65 000 B in 6 us since the one before, 13/15 of the line rate. U = 0.9.
    rp.acknowledge(us(20), 60_000, 110_000, &records(&[(9, 90_000, 0), (10, 90_000, 0)]));
    assert!((rp.utilisation() - 0.9).abs() < 1e-12);
}

#[test]
fn hops_may_have_rates_of_their_own() {
    let mut rp = begun(&HpccParams { rate_per_hop: true, ..ns3() });
    rp.acknowledge(us(12), 60_000, 110_000, &second());
    // Hop 0: 1 us is an eighth of T, U = 7/8 + 0.8 / 8 = 0.975. Hop 1 as ever: 1.05, the lowest.
    near(rp.limits().rate, 90_516_190_476);
    // In the next round trip hop 0 is at 1.2 and hop 1 at 0.8. Each has its own reference: hop 0's
    // is 100 / (0.975 / 0.95) Gb/s and RATE_AI.
    let ack = records(&[(10, 130_000, 0), (12, 105_000, 0)]);
    rp.acknowledge(us(20), 120_000, 210_000, &ack);
    let first = 1e11 * 0.95 / 0.975 + 4e7;
    near(rp.limits().rate, (first * 0.95 / 1.2 + 4e7) as u64);
    // One rate for the path would have begun at hop 1's.
    let mut rp = begun(&ns3());
    rp.acknowledge(us(12), 60_000, 110_000, &second());
    rp.acknowledge(us(20), 120_000, 210_000, &ack);
    near(rp.limits().rate, (90_516_190_476.0 * 0.95 / 1.2 + 4e7) as u64);
}

/// On x86-64 the simulator's conversion of an infinite quotient to 64 bits gives 0.
#[test]
fn a_hop_that_sent_nothing_for_a_round_trip_has_the_lowest_rate() {
    let mut rp = begun(&HpccParams { rate_per_hop: true, ..ns3() });
    // Hop 1 has sent nothing for longer than T, so that its U is 0.
    rp.acknowledge(us(20), 60_000, 110_000, &records(&[(9, 95_000, 0), (11, 0, 0)]));
    assert_eq!(rp.limits().rate, Rate::from_gbps(1));
}

#[test]
fn paths_of_more_than_five_switches_keep_their_rate() {
    for (hops, reacts) in [(5, true), (6, false)] {
        let mut rp = ReactionPoint::<10>::new(&ns3(), &path(us(8)));
        rp.acknowledge(us(10), 1000, 50_000, &records(&vec![(1, 0, 0); hops]));
        rp.acknowledge(us(20), 60_000, 110_000, &records(&vec![(9, 120_000, 0); hops]));
        assert_eq!(rp.limits().rate < LINE, reacts, "{hops} switches");
    }
    assert_eq!(Hpcc::<10>::meta_bytes(&ns3()), (42, 42));
}

#[test]
fn windows_and_round_trips_as_asked_for() {
    let after = |params: &HpccParams| {
        let mut rp = begun(params);
        rp.acknowledge(us(12), 2000, 51_000, &second());
        rp.limits()
    };
    assert_eq!(after(&HpccParams { window: WindowMode::None, ..ns3() }).window, Bytes::UNLIMITED);
    assert_eq!(
        after(&HpccParams { window: WindowMode::FixedBdp, ..ns3() }).window,
        Bytes::new(100_000)
    );
    // The QP's own 4 us: W is 50 KB, so hop 1 is at 1.4, and 2 us are half of T. U = 1.2.
    let own = after(&HpccParams { base_rtt: BaseRtt::Path, window: WindowMode::PathBdp, ..ns3() });
    near(own.rate, (1e11 * 0.95 / 1.2 + 4e7) as u64);
    assert_eq!(own.window, Bytes::new(39_603));
    let slow = HpccParams { fast_reaction: false, ..ns3() };
    assert_eq!(after(&slow).rate, LINE);
}

// ---- Its records ----

#[test]
fn records_are_cut_to_their_units() {
    let exact = record(LINE, Time::from_ps(1_234_999), 10_000, 10_000);
    assert_eq!(IntFormat::FULL.round(exact), exact);
    let one = IntFormat::hpcc_ns3(1).round(exact);
    assert_eq!((one.time, one.tx_bytes, one.queue_bytes), (Time::from_ns(1234), 9984, 10_000));
    let four = IntFormat::hpcc_ns3(4).round(exact);
    assert_eq!((four.time, four.tx_bytes, four.queue_bytes), (Time::from_ns(1234), 9728, 9920));
    // 17 bits of 80 B are 10.5 MB; longer queues wrap around.
    let long = record(LINE, Time::ZERO, 0, 80 * 131_072 + 170);
    assert_eq!(IntFormat::hpcc_ns3(1).round(long).queue_bytes, 160);
}

#[test]
fn differences_wrap_around_as_the_fields_do() {
    let format = IntFormat::hpcc_ns3(4);
    let record = |ns, sent| record(LINE, Time::from_ns(ns), sent, 0);
    let older = record(16_777_000, 512 * 1_048_570);
    let newer = record(16_777_300, 512 * 1_048_580);
    assert_eq!(format.span(&newer, &older), Time::from_ns(300));
    assert_eq!(format.sent_between(&newer, &older), 5120);
    // A whole turn of 2^24 ns, or of 2^20 units, is as nothing.
    let later = record(16_777_000 + 16_777_216 + 5, 512 * (1_048_570 + 1_048_576 + 3));
    assert_eq!(format.span(&later, &older), Time::from_ns(5));
    assert_eq!(format.sent_between(&later, &older), 1536);
    assert_eq!(IntFormat::FULL.span(&later, &older), Time::from_ns(16_777_221));
    assert_eq!(IntFormat::FULL.sent_between(&later, &older), 512 * 1_048_579);
}

proptest! {
    /// Protects the shortcuts for multiples that are a power of two: with any multiple, bytes are
    /// counted in whole units, of which 20 bits of bytes sent and 17 of the queue are kept.
    #[test]
    fn any_multiple_counts_whole_units(
        multiple in 1..70u64,
        (sent, more, queue) in (0..1u64 << 40, 0..1u64 << 26, 0..1u64 << 26),
        (ns, span) in (0..1u64 << 30, 0..1u64 << 24),
    ) {
        let format = IntFormat::hpcc_ns3(multiple as u32);
        let older = format.round(record(LINE, Time::from_ns(ns), sent, queue));
        let (sent_unit, queue_unit) = (128 * multiple, 80 * multiple);
        prop_assert_eq!(older.tx_bytes, sent / sent_unit % (1 << 20) * sent_unit);
        prop_assert_eq!(older.queue_bytes, queue / queue_unit % (1 << 17) * queue_unit);
        let newer = format.round(record(LINE, Time::from_ns(ns + span), sent + more, queue));
        let units = (sent + more) / sent_unit - sent / sent_unit;
        prop_assert_eq!(format.sent_between(&newer, &older), units % (1 << 20) * sent_unit);
        prop_assert_eq!(format.span(&newer, &older), Time::from_ns(span));
        prop_assert_eq!(format.span_ns(&newer, &older), span as f64);
    }
}

#[test]
fn ports_without_a_code_are_refused() {
    let check = |params: &HpccParams, gbps| {
        let port = PortFacts {
            port: PortId::new(0),
            rate: Rate::from_gbps(gbps),
            delay: us(1),
            peer: NodeId::new(9),
            peer_is_host: true,
            xoff: Bytes::UNLIMITED,
            xon: Bytes::UNLIMITED,
            resume_offset: Bytes::ZERO,
            kmin: [Bytes::UNLIMITED; 8],
            transit: us(1),
        };
        let facts = SwitchFacts {
            node: NodeId::new(0),
            tier: 1,
            ports: &[PortFacts { rate: LINE, ..port }, port],
            hosts: &[],
            network_rtt: us(8),
            packet_bytes: Bytes::new(1_082),
            rates: &LinkRates::new([]),
            seed: 1,
        };
        Hpcc::<5>::check_switch(params, &facts)
    };
    let rounded = hpcc::presets::ns3(LINE);
    for gbps in [25, 50, 100, 200, 400] {
        assert_eq!(check(&rounded, gbps), Ok(()));
    }
    let refused = check(&rounded, 40).expect_err("40 Gb/s has no code");
    assert!(matches!(&refused, ParamError::Conflict("int_format", why) if why.contains("40Gbps")));
    assert_eq!(check(&ns3(), 40), Ok(()));
    // The original's mistake, by name: such a port says 25 Gb/s.
    let uncoded = HpccParams { int_format: IntPrecision::Ns3Uncoded, ..rounded };
    assert_eq!(check(&uncoded, 1600), Ok(()));
    let said = |gbps| {
        let rates = LinkRates::new([Rate::from_gbps(gbps)]);
        rates.rate(uncoded.format().code(&rates, Rate::from_gbps(gbps)))
    };
    assert_eq!(said(1600), Rate::from_gbps(25));
    assert_eq!(said(400), Rate::from_gbps(400));
}
