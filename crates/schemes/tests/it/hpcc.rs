//! HPCC's Algorithm 1, the paper's window form, against round trips worked out by hand: 100 Gb/s,
//! T = 8 us, so that the BDP is 100 KB and, for 100 flows at eta 0.95, W_AI is 50 B.

use proptest::prelude::*;
use schemes::contract::{Ack, EcnCodePoint, HostCx, LinkRates, PathFacts, Rp, Scheme};
use schemes::hpcc::{self, BaseRtt, Hpcc, HpccParams, IntPrecision, ReactionPoint, Variant};
use schemes::int::{IntFormat, IntRecord, IntStack};
use schemes::testing::{self, record};
use units::{Bytes, NodeId, PortId, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn path() -> PathFacts {
    PathFacts { base_rtt: us(4), packet_bytes: Bytes::new(1124), ..testing::path(LINE, us(8)) }
}

fn paper() -> HpccParams {
    hpcc::presets::paper(LINE)
}

/// The records of ports of switches 0, 1, ..: time in us, bytes sent, bytes waiting.
fn records(hops: &[(u64, u64, u64)]) -> IntStack<5> {
    through(0, hops)
}

/// Records of a path that begins at switch `first`.
fn through(first: u32, hops: &[(u64, u64, u64)]) -> IntStack<5> {
    let mut stack = IntStack::default();
    for (node, &(time, tx_bytes, queue_bytes)) in (first..).zip(hops) {
        let record = record(LINE, us(time), tx_bytes, queue_bytes);
        stack.push(NodeId::new(node), PortId::new(1), record);
    }
    stack
}

#[track_caller]
fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-6 * expected.abs().max(1.0), "{got}, not {expected}");
}

/// After the first ACK, which only stores: full window, U = 1, and the reference window's round
/// trip ends at byte 50 000.
fn begun(params: &HpccParams) -> ReactionPoint<5> {
    let mut rp = ReactionPoint::new(params, &path());
    rp.new_ack(us(10), 1000, 50_000, &records(&[(1, 0, 0), (2, 0, 20_000)]));
    assert_eq!(rp.limits().rate, LINE);
    assert_eq!(rp.limits().window, Bytes::new(100_000));
    assert_eq!(rp.utilisation(), 1.0);
    rp
}

#[test]
fn the_busiest_of_two_hops_counts() {
    let mut rp = begun(&paper());
    // Hop 0: 10 000 B in 1 us are 80 Gb/s, no queue: 0.8. Hop 1: 25 000 B in 2 us are 100 Gb/s,
    // the smaller queue of 20 000 and 30 000 B is a fifth of the BDP: 1.2.
    let ack = records(&[(2, 10_000, 0), (4, 25_000, 30_000)]);
    let busiest = rp.clone().measure(us(12), &ack).unwrap();
    assert_eq!(busiest.hop, 1);
    close(busiest.inflight, 1.2);

    rp.new_ack(us(12), 2000, 51_000, &ack);
    // tau is 2 us, a quarter of T: U = 0.75 * 1 + 0.25 * 1.2.
    close(rp.utilisation(), 1.05);
    // A fast reaction: W = 100 000 / (1.05 / 0.95) + 50, and the reference stays.
    close(rp.window(), 90_526.190_476_19);
    close(rp.reference(), 100_000.0);
    assert_eq!(rp.limits().window, Bytes::new(90_526));
    assert_eq!(rp.limits().rate, Rate::from_bps(90_526_190_476));
}

#[test]
fn fast_reactions_start_from_the_reference_each_time() {
    let mut rp = begun(&paper());
    rp.new_ack(us(12), 2000, 51_000, &records(&[(2, 10_000, 0), (4, 25_000, 30_000)]));
    // 8 us on, hop 1 sent 50 000 B: u = 0.5 with the whole weight.
    rp.new_ack(us(20), 3000, 52_000, &records(&[(10, 50_000, 0), (12, 75_000, 0)]));
    close(rp.utilisation(), 0.5);
    // Additive: 100 050, which the line rate bounds.
    close(rp.window(), 100_000.0);
    rp.new_ack(us(28), 4000, 53_000, &records(&[(18, 170_000, 0), (20, 175_000, 0)]));
    // Hop 0: 120 000 B in 8 us are 1.2.
    close(rp.utilisation(), 1.2);
    close(rp.window(), 100_000.0 / (1.2 / 0.95) + 50.0);
    close(rp.reference(), 100_000.0);
}

/// One round trip of `span` us later, with both hops having sent at `percent` of the line rate.
fn later(stack: &IntStack<5>, span: u64, percent: u64) -> IntStack<5> {
    let hops: Vec<_> = stack
        .records()
        .map(|old| {
            let sent = LINE.bytes_in(us(span)).get() * percent / 100;
            (old.time.ns() / 1000 + span, old.tx_bytes + sent, 0)
        })
        .collect();
    records(&hops)
}

#[test]
fn five_additive_steps_then_a_multiplicative_one() {
    let mut rp = begun(&paper());
    let mut stack = records(&[(2, 10_000, 0), (4, 25_000, 30_000)]);
    // Byte 60 000 is beyond 50 000: the reference window follows.
    rp.new_ack(us(20), 60_000, 110_000, &stack);
    let cut = 90_526.190_476_19;
    close(rp.reference(), cut);

    for step in 1..=5_u32 {
        stack = later(&stack, 8, 90);
        let next_to_send = 110_000 + 100_000 * u64::from(step);
        // Not beyond the byte that was next to send at the update before: no update.
        rp.new_ack(us(30), next_to_send - 100_000, next_to_send, &stack);
        close(rp.reference(), cut + 50.0 * f64::from(step - 1));
        stack = later(&stack, 8, 90);
        rp.new_ack(us(30), next_to_send - 99_999, next_to_send, &stack);
        close(rp.utilisation(), 0.9);
        close(rp.reference(), cut + 50.0 * f64::from(step));
    }
    // maxStage: (90 526.190476 + 250) / (0.9 / 0.95) + 50.
    stack = later(&stack, 8, 90);
    rp.new_ack(us(99), 700_000, 800_000, &stack);
    close(rp.reference(), 95_869.312_169_31);
    // And additive again.
    stack = later(&stack, 8, 90);
    rp.new_ack(us(99), 800_001, 900_000, &stack);
    close(rp.reference(), 95_919.312_169_31);
}

#[test]
fn without_additive_steps_it_is_always_multiplicative() {
    let params = HpccParams { max_stage: 0, rate_ai: Rate::from_mbps(40), ..paper() };
    let mut rp = begun(&params);
    let stack = records(&[(9, 120_000, 0), (10, 120_000, 0)]);
    // U = 1.2; 40 Mb/s times 8 us are 40 B.
    rp.new_ack(us(20), 60_000, 110_000, &stack);
    close(rp.reference(), 100_000.0 * 0.95 / 1.2 + 40.0);
    let before = rp.reference();
    rp.new_ack(us(30), 120_000, 210_000, &later(&stack, 8, 90));
    close(rp.reference(), before * 0.95 / 0.9 + 40.0);
}

#[test]
fn a_long_silence_counts_as_one_base_rtt() {
    let mut rp = begun(&paper());
    // 80 us: tau is cut to T, U is what the 80 us had: 250 000 B are 0.25 of them.
    rp.new_ack(us(90), 2000, 51_000, &records(&[(81, 250_000, 0), (82, 100_000, 0)]));
    close(rp.utilisation(), 0.25);
}

#[test]
fn records_of_the_same_instant_say_nothing() {
    let mut rp = begun(&paper());
    let before = rp.limits();
    rp.new_ack(us(11), 2000, 51_000, &records(&[(1, 0, 5000), (2, 0, 5000)]));
    assert_eq!(rp.utilisation(), 1.0);
    assert_eq!(rp.limits(), before);
    // Where only one hop says nothing, the other one counts.
    let busiest = rp.measure(us(21), &records(&[(1, 0, 0), (4, 12_500, 0)])).unwrap();
    assert_eq!(busiest.hop, 1);
}

/// Protects the reference window where records are not of each departure: a round trip whose first
/// ACK tells nothing new is not lost.
#[test]
fn an_ack_without_news_leaves_its_turn_to_the_next() {
    let mut rp = begun(&paper());
    rp.new_ack(us(19), 60_000, 110_000, &records(&[(1, 0, 0), (2, 0, 0)]));
    close(rp.reference(), 100_000.0);
    // 12 000 B a microsecond are 0.96 of the link, for 8 us.
    rp.new_ack(us(20), 61_000, 111_000, &records(&[(9, 96_000, 0), (10, 50_000, 0)]));
    assert!(rp.reference() < 100_000.0, "W^c follows");
    let reference = rp.reference();
    rp.new_ack(us(21), 62_000, 112_000, &records(&[(10, 130_000, 0), (11, 60_000, 0)]));
    close(rp.reference(), reference);
}

#[test]
fn another_path_starts_over() {
    let mut rp = begun(&paper());
    let elsewhere = [(2, 900_000, 90_000), (4, 900_000, 90_000)];
    assert_eq!(rp.measure(us(12), &through(7, &elsewhere)), None);
    assert_eq!(rp.utilisation(), 1.0);
    let on = [(3, 912_500, 90_000), (5, 912_500, 90_000)];
    assert!(rp.measure(us(13), &through(7, &on)).is_some());
    // No switch at all: nothing to go by.
    assert_eq!(rp.measure(us(14), &IntStack::default()), None);
}

/// The HPCC simulator's records bring no number of their path.
#[test]
fn where_records_tell_no_path_two_paths_are_compared_as_one() {
    for int_format in [IntPrecision::Ns3, IntPrecision::Ns3Uncoded] {
        let mut rp = begun(&HpccParams { int_format, int_multi: 1, ..paper() });
        // Hop 1: 25 600 B in 2 us are 102.4 Gb/s, and the smaller queue is a fifth of the BDP.
        let elsewhere = through(7, &[(2, 10_240, 0), (4, 25_600, 30_000)]);
        let busiest = rp.measure(us(12), &elsewhere).unwrap();
        assert_eq!(busiest.hop, 1);
        close(busiest.inflight, 1.224);
        // There is no more to compare than both have.
        let shorter = through(3, &[(3, 17_920, 0)]);
        close(rp.measure(us(13), &shorter).unwrap().inflight, 0.6144);
    }
}

#[test]
fn the_window_keeps_its_bounds() {
    let mut rp = begun(&paper());
    // A queue of a hundred BDPs and a full link.
    let mut stack = records(&[(9, 100_000, 10_000_000), (10, 100_000, 10_000_000)]);
    for round in 1..5 {
        rp.new_ack(us(20), 100_000 * round, 100_000 * round + 50_000, &stack);
        let hops: Vec<_> = stack
            .records()
            .map(|old| (old.time.ns() / 1000 + 8, old.tx_bytes + 100_000, 10_000_000))
            .collect();
        stack = records(&hops);
    }
    // 100 Mb/s and W_AI on top: a packet may always be under way.
    assert_eq!(rp.limits().window, Bytes::new(1000));
    assert!(rp.limits().rate >= Rate::from_mbps(100));
    assert!(rp.limits().rate <= Rate::from_mbps(1200));
    // An idle network brings it back to line rate and no further.
    for round in 5..20 {
        stack = later(&stack, 8, 0);
        rp.new_ack(us(20), 100_000 * round, 100_000 * round + 50_000, &stack);
    }
    assert_eq!(rp.limits().rate, LINE);
    assert_eq!(rp.limits().window, Bytes::new(100_000));
}

#[test]
fn without_fast_reaction_only_full_round_trips_count() {
    let params = HpccParams { fast_reaction: false, ..paper() };
    let mut rp = begun(&params);
    rp.new_ack(us(12), 2000, 51_000, &records(&[(2, 10_000, 0), (4, 90_000, 90_000)]));
    assert_eq!(rp.limits().rate, LINE);
    assert_eq!(rp.utilisation(), 1.0);
    // Measured from the first ACK on: 62 500 B in 8 us and 50 000 B in 8 us.
    rp.new_ack(us(20), 60_000, 110_000, &records(&[(9, 62_500, 0), (10, 50_000, 0)]));
    close(rp.utilisation(), 0.625);
}

#[test]
fn the_base_rtt_may_be_the_paths_own() {
    let rp = ReactionPoint::<5>::new(&HpccParams { base_rtt: BaseRtt::Path, ..paper() }, &path());
    assert_eq!(rp.limits().window, Bytes::new(50_000));
}

#[test]
fn nacks_and_repeated_acks_are_passed_over() {
    let params = paper();
    let mut rp = Variant::Paper(begun(&params));
    let before = rp.limits();
    let meta = records(&[(9, 120_000, 0), (10, 120_000, 0)]);
    let mut ack: Ack<'_, Hpcc<5>> = Ack {
        next_expected: 60_000,
        newly_acked: Bytes::new(1000),
        newly_lost: Bytes::ZERO,
        next_to_send: 110_000,
        nack: true,
        echo: EcnCodePoint::NotMarked,
        rtt: us(9),
        meta: &meta,
    };
    let mut outbox = Vec::new();
    let mut cx = HostCx { now: us(20), params: &params, host: &mut (), outbox: &mut outbox };
    rp.on_ack(&mut cx, &ack);
    ack.nack = false;
    ack.newly_acked = Bytes::ZERO;
    rp.on_ack(&mut cx, &ack);
    assert_eq!(rp.limits(), before);
    ack.newly_acked = Bytes::new(1000);
    rp.on_ack(&mut cx, &ack);
    let Variant::Paper(rp) = rp else { panic!("it was one") };
    close(rp.reference(), 100_000.0 * 0.95 / 1.2 + 50.0);
}

/// Protects what is measured from records that have wrapped around: bytes sent do after 4.3 GB,
/// which a link of 3.2 Tb/s sends in 10.7 ms.
#[test]
fn a_long_silence_starts_over() {
    // Of 10 ms, to a microsecond or so.
    let after = |silence: u64, params: &HpccParams| {
        let mut rp = begun(params);
        // The first ACK came at 10 us.
        let at = us(10 + silence);
        rp.measure(at, &records(&[(10_001, 125_000_000, 0), (10_002, 62_500_000, 0)]))
    };
    let busiest = after(9_998, &paper()).expect("it is not too long");
    assert_eq!(busiest.hop, 0);
    close(busiest.inflight, 1.0);
    assert_eq!(after(10_002, &paper()), None);
    // And goes on from there.
    let mut rp = begun(&paper());
    assert_eq!(rp.measure(us(20_000), &records(&[(19_995, 1 << 33, 0)])), None);
    let busiest = rp.measure(us(20_001), &records(&[(19_996, (1 << 33) + 12_500, 0)])).unwrap();
    close(busiest.inflight, 1.0);
}

/// Times and bytes sent of full records wrap around between two ACKs: 2^36 ps are 68.72 ms, 2^32
/// bytes 4.29 GB.
#[test]
fn full_records_lose_nothing_where_they_wrap_around() {
    let mut rp = begun(&paper());
    // Both turns come within the first ten steps.
    let (turn, at) = (1 << 36, 50_000_000);
    for step in 0..20_u64 {
        let time = Time::from_ps(turn - at + step * 17_100_000);
        let sent = (1 << 32) - 1_000_000 + step * 106_875;
        let mut stack = IntStack::<5>::default();
        let queue = 1_000_000 * (step % 2);
        stack.push(NodeId::new(0), PortId::new(1), record(LINE, time, sent, queue));
        assert_eq!(stack.records().len(), 1);
        let measured = rp.measure(time + us(3), &stack);
        // 106,875 B in 17.1 us are half the rate; the shorter of two queues is empty.
        if step > 0 {
            close(measured.expect("there is something to compare with").inflight, 0.5);
        }
    }
}

proptest! {
    /// Protects what senders take from records, whenever they are made: a time in between of up to
    /// half of 2^36 ps, less than 2^32 bytes and a queue of less than 2^28 bytes are exact.
    #[test]
    fn differences_survive_packing(
        time in 0..1u64 << 50,
        span in 0..1u64 << 35,
        sent in 0..1u64 << 50,
        more in 0..1u64 << 32,
        queue in 0..1u64 << 28,
    ) {
        let through_a_packet = |time, sent, queue| {
            let mut stack = IntStack::<5>::default();
            let said = record(LINE, Time::from_ps(time), sent, queue);
            stack.push(NodeId::new(0), PortId::new(1), said);
            stack.records().next().expect("it was pushed")
        };
        let older = through_a_packet(time, sent, 0);
        let newer = through_a_packet(time + span, sent + more, queue);
        let full = IntFormat::FULL;
        prop_assert_eq!(full.span(&newer, &older), Time::from_ps(span));
        prop_assert_eq!(full.sent_between(&newer, &older), more);
        prop_assert_eq!(newer.queue_bytes, queue);
        if span != 0 {
            prop_assert_eq!(full.span(&older, &newer), Time::ZERO, "time runs backwards");
        }
    }
}

/// A code stands for a port's rate. A queue is exact up to 2^28 - 1 bytes.
#[test]
fn a_packed_record_says_what_was_put_in() {
    let odd = Rate::from_bps(33_333_333_333);
    let rates = LinkRates::new([LINE, odd, LINE]);
    assert_eq!(rates.count(), 13);
    let said = IntRecord {
        rate: rates.code(odd),
        time: Time::from_ps((1 << 36) - 1),
        tx_bytes: u64::from(u32::MAX),
        queue_bytes: (1 << 28) - 1,
    };
    let mut stack = IntStack::<5>::default();
    stack.push(NodeId::new(3), PortId::new(2), said);
    stack.push(NodeId::new(4), PortId::new(2), IntRecord { queue_bytes: 1 << 28, ..said });
    assert!(stack.records().eq([said, said]));
    assert_eq!(rates.rate(said.rate), odd);
}

#[test]
fn int_takes_42_bytes_for_five_hops() {
    assert_eq!(Hpcc::<5>::meta_bytes(&paper()), (42, 42));
    assert_eq!(Hpcc::<10>::meta_bytes(&paper()), (82, 82));
}

/// A packet that is in flight when a link fails may pass more switches than any path has.
#[test]
fn a_full_stack_keeps_its_first_records() {
    let hops: Vec<(u64, u64, u64)> = (1..=5).map(|hop| (hop, hop * 100, hop * 1_000)).collect();
    let full = records(&hops);
    let mut more = full;
    more.push(NodeId::new(5), PortId::new(1), record(LINE, us(6), 600, 6_000));
    assert_eq!(more, full);
}
