//! FNCC's own parts against values worked out by hand: 100 Gb/s and T = 12 us, so that the BDP is
//! 150 KB and, for 100 flows at eta 0.95, W_AI is 75 B.

use schemes::contract::{
    Address, Cp, EcnCodePoint, Flags, FullCx, Header, HostCx, LinkRates, Np, OnEnqueue, Packet,
    PacketKind, PathFacts, PortFacts, PortView, Scheme, SwitchFacts,
};
use schemes::fncc::{
    self, AckReport, ActiveFlows, FlowCount, Fncc, FnccParams, IntTable, LastHopSpeedup,
    NotificationPoint, ReactionPoint, RecordFormat,
};
use schemes::int::{IntFormat, IntRecord, IntStack};
use schemes::testing::{self, record};
use units::{Bytes, NodeId, PortId, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn path() -> PathFacts {
    PathFacts { base_rtt: us(9), ..testing::path(LINE, us(12)) }
}

fn params(speedup: LastHopSpeedup) -> FnccParams {
    let mut params = fncc::presets::paper(LINE);
    params.notification.last_hop_speedup = speedup;
    params
}

/// What an ACK brings from the last hop and the one before it: time in us, bytes sent, bytes
/// waiting.
fn report(flows: u16, hops: &[(u64, u64, u64)]) -> AckReport<5> {
    let mut int = IntStack::default();
    for (node, &(time, tx_bytes, queue_bytes)) in (0..).zip(hops) {
        let record = record(LINE, us(time), tx_bytes, queue_bytes);
        int.push(NodeId::new(node), PortId::new(1), record);
    }
    AckReport { int, flows }
}

#[track_caller]
fn close(got: f64, expected: f64, share: f64) {
    assert!((got - expected).abs() < share * expected, "{got}, not {expected}");
}

/// The reaction point after a first ACK, which only stores, and a second one, 12 us later, that
/// begins no round trip (`full` false) or does. In between the last hop sent 150 000 B, a BDP, and
/// `last` bytes waited there at both times; the other hop sent as much with `other` waiting.
fn after(params: &FnccParams, flows: u16, last: u64, other: u64, full: bool) -> ReactionPoint<5> {
    let mut rp = ReactionPoint::new(params, &path());
    rp.new_ack(us(10), 1_000, 50_000, &report(flows, &[(8, 0, last), (7, 0, other)]));
    let acknowledged = if full { 60_000 } else { 2_000 };
    let second = report(flows, &[(20, 150_000, last), (19, 150_000, other)]);
    rp.new_ack(us(22), acknowledged, 200_000, &second);
    rp
}

#[test]
fn a_congested_last_hop_gives_each_flow_its_share() {
    // U = 1 + 75 000 / 150 000 = 1.5 in a whole T. W^c = 0.9 * 150 000 / 2, and
    // W = 67 500 / (1.5 / 0.95) + 75.
    let rp = after(&params(LastHopSpeedup::PerAck), 2, 75_000, 0, false);
    close(rp.hpcc().utilisation(), 1.5, 1e-9);
    close(rp.hpcc().reference(), 67_500.0, 1e-9);
    close(rp.hpcc().window(), 42_825.0, 1e-9);
    // At the end of a round trip W^c follows W.
    let rp = after(&params(LastHopSpeedup::PerAck), 2, 75_000, 0, true);
    close(rp.hpcc().reference(), 42_825.0, 1e-9);
}

/// Section 3.2.2 in place of Algorithm 3: the window is the share itself.
#[test]
fn a_direct_speed_up_sets_the_window_to_the_share() {
    for full in [false, true] {
        let rp = after(&params(LastHopSpeedup::Direct), 2, 75_000, 0, full);
        close(rp.hpcc().window(), 67_500.0, 1e-9);
        close(rp.hpcc().reference(), 67_500.0, 1e-9);
    }
}

#[test]
fn without_speed_up_it_is_hpcc() {
    // W = 150 000 / (1.5 / 0.95) + 75.
    let hpcc = |rp: ReactionPoint<5>| {
        close(rp.hpcc().reference(), 150_000.0, 1e-9);
        close(rp.hpcc().window(), 95_075.0, 1e-9);
    };
    hpcc(after(&params(LastHopSpeedup::Off), 2, 75_000, 0, false));
    hpcc(after(&params(LastHopSpeedup::PerRoundTrip), 2, 75_000, 0, false));
    // The other hop is the busier one.
    hpcc(after(&params(LastHopSpeedup::PerAck), 2, 74_000, 75_000, false));
    // Once per round trip.
    let rp = after(&params(LastHopSpeedup::PerRoundTrip), 2, 75_000, 0, true);
    close(rp.hpcc().window(), 42_825.0, 1e-9);
}

#[test]
fn the_last_hop_is_congested_above_alpha() {
    // 7500 B are 0.05 BDP: U = 1.05, which is not above alpha.
    let rp = after(&params(LastHopSpeedup::PerAck), 4, 7_500, 0, false);
    close(rp.hpcc().reference(), 150_000.0, 1e-9);
    let rp = after(&params(LastHopSpeedup::PerAck), 4, 7_650, 0, false);
    close(rp.hpcc().reference(), 33_750.0, 1e-9);
}

#[test]
fn records_of_64_bits_lose_nothing_where_they_wrap_around() {
    // ts wraps at 16 777.216 us, txBytes at 134 217 728 B: both between the two ACKs.
    let mut params = params(LastHopSpeedup::PerAck);
    params.notification.int_format = RecordFormat::Fncc64;
    let narrowed = |time: u64, tx_bytes: u64| {
        let mut int = IntStack::<5>::default();
        let record = IntFormat::PAPER.round(record(LINE, us(time), tx_bytes, 75_000));
        int.push(NodeId::new(0), PortId::new(1), record);
        AckReport { int, flows: 2 }
    };
    let (first, second) = (narrowed(16_771, 134_150_000), narrowed(16_783, 134_300_000));
    let [first_int, second_int] =
        [first, second].map(|report| report.int.records().next().unwrap());
    assert!(second_int.time < first_int.time && second_int.tx_bytes < first_int.tx_bytes);
    let mut rp = ReactionPoint::new(&params, &path());
    rp.new_ack(us(16_780), 1_000, 50_000, &first);
    rp.new_ack(us(16_792), 2_000, 200_000, &second);
    // Bytes to the next 128, queues to the next 80 of 75 000.
    close(rp.hpcc().utilisation(), 1.5, 0.001);
    close(rp.hpcc().window(), 42_825.0, 0.001);
    // And on, over a hundred wraps.
    for step in 1..2_000 {
        let at = 16_783 + step * 1_000;
        let report = narrowed(at, 134_300_000 + step * 11_250_000);
        rp.new_ack(us(at), 3_000 + step, 200_000, &report);
    }
    // 11.25 MB in a millisecond are 90 Gb/s; with the queue, 1.4.
    close(rp.hpcc().utilisation(), 1.4, 0.001);
}

#[test]
fn a_narrowed_record_is_rounded_down() {
    let said = IntFormat::PAPER.round(record(LINE, Time::from_ps(1_999), 12_927, 879));
    // 100 units of 128 B; 10 of 80 B.
    assert_eq!(said, record(LINE, Time::from_ns(1), 12_800, 800));
    // Rates without a code, among or below those with one, are refused.
    let encodes = |rate| (IntFormat::PAPER.encodes(rate), IntFormat::FULL.encodes(rate));
    assert_eq!(encodes(LINE), (true, true));
    assert_eq!(encodes(Rate::from_gbps(33)), (false, true));
    assert_eq!(encodes(Rate::from_mbps(100)), (false, true));
}

#[test]
fn concurrent_flows_are_those_of_two_periods_that_go_on() {
    let mut host = ActiveFlows::new(us(12), FlowCount::Active);
    let (mut a, mut b, mut c) = (0, 0, 0);
    host.arrived(us(1), &mut a);
    host.arrived(us(2), &mut a);
    host.arrived(us(3), &mut b);
    assert_eq!(host.flows(), 2);
    // The second period: b was there in the first, and c comes.
    host.arrived(us(13), &mut a);
    host.arrived(us(14), &mut c);
    assert_eq!(host.flows(), 3);
    // The third: b is forgotten.
    host.arrived(us(25), &mut a);
    assert_eq!(host.flows(), 2);
    // c's message is over, though it was only seen in the period before.
    host.ended(&mut c);
    assert_eq!(host.flows(), 1);
    host.arrived(us(26), &mut c);
    assert_eq!(host.flows(), 2);
    // After a silence nobody is left.
    host.arrived(us(100), &mut b);
    assert_eq!(host.flows(), 1);
    host.ended(&mut b);
    assert_eq!(host.flows(), 0);
}

/// A QP with another message to come is a connection all the same.
#[test]
fn a_flow_is_concurrent_until_its_last_message_is_over() {
    let params = fncc::presets::paper(Rate::from_gbps(100));
    let mut host = ActiveFlows::new(us(12), FlowCount::Active);
    let (mut np, mut outbox) = (NotificationPoint::default(), Vec::new());
    let mut cx = HostCx { now: us(1), params: &params, host: &mut host, outbox: &mut outbox };
    for is_last in [false, false, true] {
        let mut report = AckReport::default();
        let data = Switch::packet(PacketKind::Data, 0, 1082).header;
        Np::<Fncc<5>>::on_kept_data(&mut np, &mut cx, &data, &mut report);
        assert_eq!(report.flows, 1);
        Np::<Fncc<5>>::on_message_end(&mut np, &mut cx, is_last);
        assert_eq!(cx.host.flows(), u16::from(!is_last));
    }
}

/// The other way to count: QPs from their first data until their last message is over, however long
/// they are silent.
#[test]
fn open_flows_count_while_they_are_silent() {
    let mut params = params(LastHopSpeedup::PerAck);
    params.notification.flow_count = FlowCount::Open;
    let mut host = ActiveFlows::new(us(12), FlowCount::Open);
    let mut outbox = Vec::new();
    let mut points = [NotificationPoint::default(); 2];
    let mut flows_at = |point: usize, now, is_last: Option<bool>| {
        let mut cx = HostCx { now, params: &params, host: &mut host, outbox: &mut outbox };
        let (np, mut report) = (&mut points[point], AckReport::default());
        let data = Switch::packet(PacketKind::Data, 0, 1082).header;
        Np::<Fncc<5>>::on_kept_data(np, &mut cx, &data, &mut report);
        if let Some(is_last) = is_last {
            Np::<Fncc<5>>::on_message_end(np, &mut cx, is_last);
        }
        report.flows
    };
    assert_eq!(flows_at(0, us(1), None), 1);
    assert_eq!(flows_at(1, us(2), None), 2);
    // The second says nothing for many periods, and counts all the same.
    assert_eq!(flows_at(0, us(500), Some(false)), 2);
    assert_eq!(flows_at(1, us(501), Some(true)), 2);
    assert_eq!(flows_at(0, us(502), None), 1);
}

struct Switch {
    table: IntTable,
    tx_bytes: [u64; 2],
    queue: [u64; 2],
}

impl Switch {
    fn new(period: Time) -> Switch {
        let mut params = params(LastHopSpeedup::PerAck);
        params.notification.update_period = period;
        let port = |number| PortFacts {
            port: PortId::new(number),
            rate: LINE,
            delay: us(1),
            peer: NodeId::new(9),
            peer_is_host: false,
            xoff: Bytes::UNLIMITED,
            xon: Bytes::UNLIMITED,
            resume_offset: Bytes::UNLIMITED,
            kmin: [Bytes::UNLIMITED; 8],
            transit: us(1),
        };
        let facts = SwitchFacts {
            node: NodeId::new(5),
            tier: 1,
            ports: &[port(0), port(1)],
            hosts: &[],
            network_rtt: us(12),
            packet_bytes: Bytes::new(1_082),
            rates: &LinkRates::new([]),
            seed: 1,
        };
        let table = Fncc::<5>::congestion_point(&params, &facts).expect("every switch takes part");
        Switch { table, tx_bytes: [0; 2], queue: [0; 2] }
    }

    fn packet(kind: PacketKind, ingress: u16, size: u16) -> Packet<Fncc<5>> {
        let header = Header {
            address: Address::default(),
            sequence: 0,
            sent_at: Time::ZERO,
            size,
            payload: 0,
            ingress,
            kind,
            priority: 3,
            code_point: EcnCodePoint::NotMarked,
            echo: EcnCodePoint::NotMarked,
            flags: Flags::ACK_REQUESTED | Flags::TO_SOURCE.when(kind != PacketKind::Data),
        };
        Packet::with_meta(header, AckReport::default())
    }

    fn view(&self, port: u16) -> PortView {
        PortView {
            port: PortId::new(port),
            rate: LINE,
            queue_bytes: self.queue[usize::from(port)],
            class_bytes: self.queue[usize::from(port)],
            tx_bytes: self.tx_bytes[usize::from(port)],
            last_departure: Time::ZERO,
        }
    }

    fn join(&mut self, now: Time, port: u16, packet: &mut Packet<Fncc<5>>) {
        let (view, mut effects) = (self.view(port), Vec::new());
        self.table.on_enqueue(&mut FullCx::new(now, &mut effects, &[]), &mut (), &view, packet);
        self.queue[usize::from(port)] += u64::from(packet.header.size);
    }

    fn leave(&mut self, now: Time, port: u16, packet: &mut Packet<Fncc<5>>) {
        self.queue[usize::from(port)] -= u64::from(packet.header.size);
        let (view, mut effects) = (self.view(port), Vec::new());
        self.table.on_depart(&mut FullCx::new(now, &mut effects, &[]), &mut (), &view, packet);
        self.tx_bytes[usize::from(port)] += u64::from(packet.header.size);
    }

    /// A packet that waits is dropped.
    fn drop(&mut self, now: Time, port: u16, packet: &Packet<Fncc<5>>) {
        self.queue[usize::from(port)] -= u64::from(packet.header.size);
        let (view, mut effects) = (self.view(port), Vec::new());
        self.table.on_drop(&mut FullCx::new(now, &mut effects, &[]), &mut (), &view, packet);
    }

    /// The records of an ACK that came in through port 1 and passes port 0.
    fn ack(&mut self, now: Time) -> Vec<IntRecord> {
        let mut packet = Switch::packet(PacketKind::Ack, 1, 86);
        self.join(now, 0, &mut packet);
        self.leave(now, 0, &mut packet);
        packet.meta().unwrap().int.records().collect()
    }
}

/// Three packets of 1000 B for port 1, of which two leave, at 1.0 and 1.08 us.
fn busy(switch: &mut Switch) {
    let at = Time::from_ns;
    let mut data = Switch::packet(PacketKind::Data, 0, 1000);
    for _ in 0..3 {
        switch.join(at(1_000), 1, &mut data);
    }
    switch.leave(at(1_000), 1, &mut data);
    switch.leave(at(1_080), 1, &mut data);
    assert_eq!(data.meta().unwrap().int.hops(), 0, "data carries nothing");
}

#[test]
fn an_ack_tells_of_the_port_through_which_it_came_in() {
    let mut switch = Switch::new(Time::ZERO);
    assert_eq!(switch.ack(us(1)), [record(LINE, Time::ZERO, 0, 0)]);
    busy(&mut switch);
    // Before the second departure 1000 B had been sent; then one packet waits, and another joins.
    let waiting = |bytes| record(LINE, Time::from_ns(1_080), 1000, bytes);
    assert_eq!(switch.ack(Time::from_ns(1_090)), [waiting(1000)]);
    switch.join(Time::from_ns(1_100), 1, &mut Switch::packet(PacketKind::Data, 0, 500));
    assert_eq!(switch.ack(Time::from_ns(1_110)), [waiting(1500)]);
}

/// Such as by a watchdog, at a port that sends nothing afterwards either.
#[test]
fn a_packet_that_is_dropped_waits_no_more() {
    let mut switch = Switch::new(Time::ZERO);
    busy(&mut switch);
    switch.drop(Time::from_ns(1_090), 1, &Switch::packet(PacketKind::Data, 0, 1000));
    let empty = record(LINE, Time::from_ns(1_080), 1000, 0);
    assert_eq!(switch.ack(Time::from_ns(1_100)), [empty]);
}

#[test]
fn a_table_with_a_period_tells_what_was_at_its_last_update() {
    let mut switch = Switch::new(us(1));
    busy(&mut switch);
    // Updated at 1 us, before what happened then.
    assert_eq!(switch.ack(Time::from_ns(1_990)), [record(LINE, Time::ZERO, 0, 0)]);
    let told = [record(LINE, Time::from_ns(1_080), 1000, 1000)];
    assert_eq!(switch.ack(us(2)), told);
    switch.join(Time::from_ns(2_100), 1, &mut Switch::packet(PacketKind::Data, 0, 500));
    assert_eq!(switch.ack(Time::from_ns(2_999)), told);
    // Nothing happened at 3 and 4 us.
    let later = [record(LINE, Time::from_ns(1_080), 1000, 1500)];
    assert_eq!(switch.ack(Time::from_ns(4_500)), later);
}
