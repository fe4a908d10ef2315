//! Mercury's port states, windows and senders against values worked out by hand: 40 Gb/s (200 ps a
//! byte), a base round trip of 32 us and so a BDP of 160 KB, a threshold of 5 KB, T = 10 us.

use schemes::contract::{
    Address, Cp, EcnCodePoint, Emits, Flags, FullCx, Header, HostCx, HostFacts, Level, LinkRates,
    LocalCx, OnEnqueue, Packet, PacketKind, PathFacts, PortFacts, PortView, QpEnd, Rp, RpTimer,
    Scheme, SenderMetric, SwitchEffect, SwitchFacts, WireFacts,
};
use schemes::dcqcn::Dcqcn;
use schemes::mercury::{
    self, CongestionPoint, Detector, FlowTable, Host, Mercury, MercuryParams, Notice, Pauses,
    PortState, Sender, State, WindowScope,
};
use schemes::testing;
use units::{Bytes, NodeId, PortId, Priority, Rate, Time};

type Scheme0 = Mercury<Dcqcn>;

const LINE: Rate = Rate::from_gbps(40);
const THRESHOLD: u64 = 5_000;

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn params() -> MercuryParams {
    mercury::presets::paper(LINE)
}

fn detector() -> Detector {
    Detector::new(LINE, THRESHOLD, us(10))
}

#[test]
fn what_arrives_in_a_pause_decides_whether_pfc_made_the_queue() {
    // 40 Gb/s for 50 us are 250 000 B.
    for (received, queue, expected) in [
        (250_000, 300_000, State::Undetermined),
        (250_001, 300_000, State::Determined),
        (250_000, THRESHOLD, State::Determined),
        (250_000, THRESHOLD + 1, State::Undetermined),
        (0, 0, State::Determined),
    ] {
        let mut port = detector();
        port.arrive(1_000_000);
        port.pause(us(100));
        assert_eq!(port.state(), State::Undetermined);
        port.arrive(received / 2);
        // A frame that says what is known neither begins a pause nor forgets what came.
        port.pause(us(140));
        port.arrive(received - received / 2);
        port.resume(us(150), queue);
        assert_eq!(port.state(), expected, "{received} B received, {queue} B wait");
    }
}

#[test]
fn an_undetermined_port_is_determined_when_its_queue_does_not_shrink() {
    let undetermined = || {
        let mut port = detector();
        port.pause(us(100));
        port.resume(us(150), 300_000);
        port
    };
    let mut port = undetermined();
    // T has not expired: nothing is looked at.
    port.depart(Time::from_ns(159_999), 1_000_000);
    assert_eq!(port.state(), State::Undetermined);
    // Shrunk from 300 000 B to 280 000 B: for another T.
    port.depart(us(160), 280_000);
    port.depart(us(169), 290_000);
    assert_eq!(port.state(), State::Undetermined);
    // Not below 280 000 B.
    port.depart(us(170), 280_000);
    assert_eq!(port.state(), State::Determined);

    let mut port = undetermined();
    port.depart(us(160), THRESHOLD);
    assert_eq!(port.state(), State::Determined, "nothing to explain");

    let mut port = undetermined();
    port.pause(us(155));
    port.depart(us(170), 400_000);
    assert_eq!(port.state(), State::Undetermined, "paused again");
}

/// A flow table, where the flow `key` is of the sender `key`.
struct Table(FlowTable);

impl Table {
    fn join(&mut self, now: Time, key: u64, bytes: u64) {
        self.0.join(now, key, Address { src: key as u32, ..Address::default() }, bytes);
    }

    /// Returns who is notified that the port is congested, and their bytes.
    fn told(&mut self, now: Time) -> Vec<(u32, u64)> {
        let mut told = Vec::new();
        self.0.notify(now, us(50), |address, bytes| told.push((address.src, bytes)));
        told
    }
}

#[test]
fn a_flow_table_is_exact_until_it_is_full() {
    let mut table = Table(FlowTable::new(4));
    for key in 1..=5 {
        table.join(us(1), key, 100 * key);
    }
    // A fifth flow finds no entry; the sum has it all the same.
    assert_eq!((table.0.bytes(5), table.0.total()), (0, 1500));
    assert_eq!(table.told(us(1)), [(1, 100), (2, 200), (3, 300), (4, 400)]);
    // The flow 1 is gone, and 5 takes its entry, but not its silence.
    table.0.leave(1, 100);
    table.join(us(3), 5, 500);
    table.join(us(3), 1, 100);
    assert_eq!(table.told(us(3)), [(5, 500)]);
    // What joined without an entry leaves without harm.
    table.0.leave(5, 500);
    table.0.leave(5, 500);
    table.0.leave(1, 100);
    assert_eq!((table.0.bytes(5), table.0.total()), (0, 200 + 300 + 400));
}

/// A new flow does not take the place of a recently notified one, as long as there is another.
#[test]
fn flows_keep_their_silence_while_they_have_no_bytes() {
    for other in 2..64 {
        let mut table = Table(FlowTable::new(8));
        table.join(us(1), 1, 100);
        assert_eq!(table.told(us(1)), [(1, 100)]);
        table.0.leave(1, 100);
        table.join(us(2), other, 100);
        table.join(us(9), 1, 100);
        assert_eq!(table.told(us(9)), [(other as u32, 100)], "it was told 8 us ago");
        assert_eq!(table.told(us(51)), [(1, 100)]);
    }
}

#[test]
fn all_flows_with_bytes_are_told_each_after_its_silence() {
    let mut table = Table(FlowTable::new(64));
    table.join(us(1), 1, 100);
    table.join(us(2), 2, 200);
    assert_eq!(table.told(us(3)), [(1, 100), (2, 200)], "whoever joined last");
    table.join(us(4), 3, 300);
    assert_eq!(table.told(us(4)), [(3, 300)], "the others lately");
    table.join(us(52), 2, 50);
    assert_eq!(table.told(us(52)), []);
    // Also those of which nothing has come since.
    assert_eq!(table.told(us(53)), [(1, 100), (2, 250)]);
    assert_eq!(table.told(us(54)), [(3, 300)]);
    // A flow without bytes is not notified before some have come.
    table.0.leave(1, 100);
    assert_eq!(table.told(us(103)), [(2, 250)]);
    table.join(us(110), 1, 10);
    assert_eq!(table.told(us(110)), [(1, 10), (3, 300)]);
    assert_eq!(table.told(us(159)), [(2, 250)]);
    assert_eq!(table.told(us(160)), [(1, 10), (3, 300)]);
}

#[test]
fn what_pauses_kept_is_no_more_than_what_waits() {
    // 40 Gb/s: 5000 B a microsecond.
    let mut pauses = Pauses::default();
    assert_eq!(pauses.kept(us(10), LINE, 7_000), 0);
    pauses.pause(us(10), 7_000);
    assert_eq!(pauses.kept(us(11), LINE, 9_000), 5_000);
    // A pause that is repeated goes on.
    pauses.pause(us(11), 9_000);
    assert_eq!(pauses.kept(us(20), LINE, 12_000), 12_000, "it would be empty");
    pauses.resume(us(21), LINE, 14_000);
    // What has come since would still be there.
    assert_eq!(pauses.kept(us(21), LINE, 20_000), 14_000);
    // The queue has been down to 3000 B.
    assert_eq!(pauses.kept(us(25), LINE, 3_000), 3_000);
    assert_eq!(pauses.kept(us(26), LINE, 8_000), 3_000);
}

struct Switch {
    cp: CongestionPoint,
    port: PortState,
    facts: PortFacts,
    params: MercuryParams,
    queue: u64,
    effects: Vec<SwitchEffect<Notice>>,
}

impl Switch {
    fn new(change: impl Fn(&mut MercuryParams)) -> Switch {
        let mut params = params();
        // 5 KB at 40G.
        assert_eq!(params.feedback.congestion_threshold, Bytes::new(12_500));
        change(&mut params);
        let facts = PortFacts {
            port: PortId::new(0),
            rate: LINE,
            delay: us(4),
            peer: NodeId::new(9),
            peer_is_host: false,
            xoff: Bytes::new(320_000),
            xon: Bytes::new(318_000),
            resume_offset: Bytes::new(2_000),
            kmin: [Bytes::UNLIMITED; 8],
            transit: us(4),
        };
        let switch = SwitchFacts {
            node: NodeId::new(5),
            tier: 1,
            ports: &[facts],
            hosts: &[],
            network_rtt: us(32),
            packet_bytes: Bytes::new(1_082),
            rates: &LinkRates::new([LINE, Rate::from_gbps(4)]),
            seed: 1,
        };
        let cp = Scheme0::congestion_point(&params, &switch).expect("every switch takes part");
        let port = Cp::<Scheme0>::port(&cp, &params, &facts);
        Switch { cp, port, facts, params, queue: 0, effects: Vec::new() }
    }

    /// The link has another rate from now on.
    fn change_rate(&mut self, rate: Rate) {
        let facts = PortFacts { rate, ..self.facts };
        Cp::<Scheme0>::on_rate(&mut self.cp, &self.params, &mut self.port, &facts);
    }

    fn view(&self) -> PortView {
        PortView {
            port: PortId::new(0),
            rate: LINE,
            queue_bytes: self.queue,
            class_bytes: self.queue,
            tx_bytes: 0,
            last_departure: Time::ZERO,
        }
    }

    /// A thousand bytes from host `src` join. Returns the notifications.
    fn join(&mut self, now: Time, src: u32) -> Vec<(u32, Notice)> {
        let view = self.view();
        let full = FullCx::new(now, &mut self.effects, &[]);
        let mut cx = <Emits as Level>::arrive::<Scheme0>(full);
        self.cp.on_enqueue(&mut cx, &mut self.port, &view, &mut data(src));
        self.queue += 1_000;
        let notices = self.effects.drain(..).map(|effect| match effect {
            SwitchEffect::ToHost(address, QpEnd::Sender, notice) => (address.src, notice),
            _ => panic!("Mercury only notifies senders"),
        });
        notices.collect()
    }

    fn leave(&mut self, now: Time, src: u32) {
        self.queue -= 1_000;
        let view = self.view();
        self.cp.on_depart(&mut LocalCx { now }, &mut self.port, &view, &mut data(src));
    }

    fn pfc(&mut self, now: Time, paused: bool) {
        let view = self.view();
        let full = FullCx::new(now, &mut self.effects, &[]);
        let mut cx = <Emits as Level>::arrive::<Scheme0>(full);
        let class = Priority::new(3);
        Cp::<Scheme0>::on_pfc(&mut self.cp, &mut cx, &mut self.port, &view, class, paused);
    }

    fn state(&self) -> Option<f64> {
        Cp::<Scheme0>::observe(&self.cp, &self.port, Time::ZERO)
    }
}

fn data(src: u32) -> Packet<Scheme0> {
    let header = Header {
        address: Address { src, dst: 7, ..Address::default() },
        sequence: 0,
        sent_at: Time::ZERO,
        size: 1_000,
        payload: 900,
        ingress: 0,
        kind: PacketKind::Data,
        priority: 3,
        code_point: EcnCodePoint::NotMarked,
        echo: EcnCodePoint::NotMarked,
        flags: Flags::ACK_REQUESTED,
    };
    Packet::with_meta(header, ())
}

#[test]
fn a_congested_port_gives_each_flow_its_share_of_the_queue() {
    let mut switch = Switch::new(|_| {});
    for _ in 0..4 {
        assert_eq!(switch.join(us(1), 1), []);
    }
    assert_eq!(switch.join(us(1), 2), [], "up to the threshold");
    assert_eq!(switch.state(), Some(0.0));
    // Of 6000 B the first flow has 4000, so it gets that share of C baseRTT.
    let told = |src, window| (src, Notice { window, from_root: true });
    assert_eq!(switch.join(us(1), 2), [told(1, 106_666), told(2, 53_333)]);
    assert_eq!(switch.state(), Some(1.0));
    assert_eq!(switch.join(us(2), 2), [], "told lately");
    // 1000 of 8000 B.
    assert_eq!(switch.join(us(3), 3), [told(3, 20_000)]);
    for _ in 0..3 {
        switch.leave(us(4), 1);
    }
    // Each has 1000 or 4000 B of 6000. The flow that is not sending is notified, too.
    assert_eq!(switch.join(us(51), 2), [told(2, 106_666), told(1, 26_666)]);
    assert_eq!(switch.join(us(53), 2), [told(3, 22_857)]);
}

#[test]
fn priorities_have_nothing_to_do_with_each_other() {
    let mut switch = Switch::new(|_| {});
    for _ in 0..5 {
        assert_eq!(switch.join(us(1), 1), []);
    }
    let mut other = data(2);
    other.header.priority = 4;
    let view = PortView { class_bytes: 0, ..switch.view() };
    let full = FullCx::new(us(1), &mut switch.effects, &[]);
    let mut cx = <Emits as Level>::arrive::<Scheme0>(full);
    switch.cp.on_enqueue(&mut cx, &mut switch.port, &view, &mut other);
    assert!(switch.effects.is_empty());
    // All of that priority's bytes are the flow's.
    assert_eq!(switch.join(us(1), 1), [(1, Notice { window: 160_000, from_root: true })]);
}

/// Protects detection on a link that becomes slow: what it could have sent during a pause is that
/// of its present rate, also for classes that were in use before.
#[test]
fn a_slower_port_is_congested_by_less() {
    for (rate, state) in [(LINE, 2.0), (Rate::from_gbps(4), 1.0)] {
        let mut switch = Switch::new(|_| {});
        switch.pfc(us(100), true);
        switch.change_rate(rate);
        // 10 000 B in 11 us: less than 40 Gb/s send in that time, and more than 4 Gb/s do.
        for step in 0..10 {
            switch.join(us(101 + step), 1);
        }
        switch.pfc(us(111), false);
        assert_eq!(switch.state(), Some(state), "{rate}");
    }
}

#[test]
fn a_port_that_pfc_may_have_filled_tells_nobody() {
    let paused = |detection: bool| {
        let mut switch = Switch::new(|params| params.feedback.state_detection = detection);
        switch.pfc(us(100), true);
        let mut told = Vec::new();
        // 10 000 B in 10 us, a fifth of what the port could send.
        for step in 0..10 {
            told.extend(switch.join(us(101 + step), 1));
        }
        switch.pfc(us(111), false);
        told.extend(switch.join(us(112), 2));
        (switch, told)
    };
    let (mut switch, told) = paused(true);
    assert_eq!(told, []);
    assert_eq!(switch.state(), Some(2.0));
    // T after the resume the queue has not shrunk from the 10 000 B: the port is congested.
    switch.leave(us(121), 1);
    assert_eq!(switch.state(), Some(1.0));
    let told = switch.join(us(122), 2);
    assert_eq!(told.iter().map(|(src, _)| *src).collect::<Vec<_>>(), [1, 2]);

    // Without the detection the victims are notified, by a port that is no root.
    let (_, told) = paused(false);
    assert_eq!(told.iter().map(|(src, _)| *src).collect::<Vec<_>>(), [1, 2]);
    assert!(told.iter().all(|(_, notice)| !notice.from_root));
}

#[test]
fn a_plain_cnp_has_no_window() {
    let mut switch = Switch::new(|params| params.feedback.window_notification = false);
    let told: Vec<_> = (0..6).flat_map(|_| switch.join(us(1), 1)).collect();
    assert_eq!(told, [(1, Notice { window: 0, from_root: true })]);
}

struct Bench {
    params: MercuryParams,
    host: Host<()>,
    sender: Sender<Dcqcn>,
}

impl Bench {
    fn new() -> Bench {
        Bench::with(params())
    }

    fn with(params: MercuryParams) -> Bench {
        let facts = HostFacts {
            node: NodeId::new(0),
            line_rate: LINE,
            network_rtt: us(32),
            wire: WireFacts {
                profile: wire::Profile::Rocev2,
                packet_bytes: Bytes::new(1082),
                ack_bytes: Bytes::new(86),
                min_control_bytes: Bytes::new(84),
            },
            seed: 7,
        };
        let path = PathFacts { base_rtt: us(20), ..testing::path(LINE, us(32)) };
        let mut host = Scheme0::host(&params, &facts);
        let sender = Sender::open(&params, &mut host, &path, Time::ZERO);
        Bench { params, host, sender }
    }

    fn at(&mut self, now: Time, hook: impl FnOnce(&mut Sender<Dcqcn>, &mut HostCx<'_, Scheme0>)) {
        let mut outbox = Vec::new();
        let (params, host) = (&self.params, &mut self.host);
        hook(&mut self.sender, &mut HostCx { now, params, host, outbox: &mut outbox });
    }

    fn told(&mut self, now: Time, window: u32, from_root: bool) {
        self.at(now, |sender, cx| sender.on_ctl(cx, &Notice { window, from_root }));
    }

    fn window(&self) -> u64 {
        self.sender.limits().window.get()
    }

    fn counters(&self) -> Vec<u64> {
        Scheme0::counters(&self.host).into_iter().map(|(_, count)| count).collect()
    }
}

#[test]
fn a_cnp_cuts_the_rate_and_sets_the_window() {
    let mut bench = Bench::new();
    assert_eq!(bench.window(), 160_000);
    assert_eq!(bench.sender.next_timer(), Time::NEVER);
    bench.told(us(100), 40_000, true);
    // DCQCN's first cut halves the rate.
    assert_eq!(bench.sender.limits().rate, Rate::from_gbps(20));
    assert_eq!(bench.window(), 40_000);
    assert_eq!(bench.sender.observe(us(100), SenderMetric::Window), Some(40_000.0));
    // 55 us later without another.
    assert_eq!(bench.sender.next_timer(), us(155));
    bench.at(us(155), |sender, cx| sender.on_timer(cx));
    assert_eq!(bench.window(), 160_000);
    assert_eq!(bench.sender.next_timer(), Time::NEVER);
}

/// One window for all QPs from a host to another: those with data to send have equal parts of it.
#[test]
fn qps_of_a_pair_of_hosts_share_a_window() {
    let mut params = params();
    params.feedback.window_scope = WindowScope::HostPair;
    let mut bench = Bench::with(params);
    let backlog = |bytes: u64| {
        move |sender: &mut Sender<Dcqcn>, cx: &mut HostCx<'_, Scheme0>| {
            sender.on_backlog(cx, Bytes::new(bytes));
        }
    };
    bench.at(us(1), backlog(100_000));
    assert_eq!(bench.window(), 160_000);
    // A second QP to the same receiver, and one to another.
    let open = |bench: &mut Bench, receiver| {
        let path = PathFacts { receiver, base_rtt: us(20), ..testing::path(LINE, us(32)) };
        let second = Sender::open(&bench.params, &mut bench.host, &path, us(2));
        std::mem::replace(&mut bench.sender, second)
    };
    let first = open(&mut bench, 1);
    bench.at(us(2), backlog(100_000));
    assert_eq!(bench.window(), 80_000);
    let second = open(&mut bench, 2);
    bench.at(us(2), backlog(100_000));
    assert_eq!(bench.window(), 160_000);
    // A CNP brings the window of the pair.
    bench.sender = first;
    bench.told(us(3), 40_000, true);
    assert_eq!(bench.window(), 20_000);
    let first = std::mem::replace(&mut bench.sender, second);
    bench.at(us(4), backlog(0));
    // The first has it alone from its next hook on.
    bench.sender = first;
    bench.at(us(5), backlog(50_000));
    assert_eq!(bench.window(), 40_000);
}

#[test]
fn the_smallest_window_of_an_interval_counts() {
    let mut bench = Bench::new();
    bench.told(us(100), 40_000, true);
    bench.told(us(120), 90_000, true);
    assert_eq!(bench.window(), 40_000);
    bench.told(us(130), 30_000, true);
    assert_eq!(bench.window(), 30_000);
    // 50 us after the 30 000 it is forgotten.
    bench.told(us(179), 90_000, true);
    assert_eq!(bench.window(), 30_000);
    bench.told(us(180), 90_000, true);
    assert_eq!(bench.window(), 90_000);
    assert_eq!(bench.sender.next_timer(), us(235));
}

#[test]
fn a_window_is_a_packet_at_least_and_a_bdp_at_most() {
    let mut bench = Bench::new();
    bench.told(us(1), 1, true);
    assert_eq!(bench.window(), 1000);
    bench.told(us(100), 1_000_000, true);
    assert_eq!(bench.window(), 160_000);
    // A plain CNP leaves it alone.
    let mut bench = Bench::new();
    bench.told(us(1), 0, true);
    assert_eq!((bench.window(), bench.sender.next_timer()), (160_000, Time::NEVER));
}

#[test]
fn a_flow_is_misidentified_while_no_root_has_told_it() {
    let mut bench = Bench::new();
    let notice = Notice { window: 1000, from_root: false };
    bench.told(us(1), notice.window, notice.from_root);
    bench.told(us(60), notice.window, notice.from_root);
    // CNPs, those off the root, flows notified, misidentified, CNPs too late.
    assert_eq!(bench.counters(), [2, 2, 1, 1, 0]);
    bench.told(us(120), 1000, true);
    assert_eq!(bench.counters(), [3, 2, 1, 0, 0]);
    Scheme0::on_late_ctl(&mut bench.host, &notice);
    assert_eq!(bench.counters(), [3, 2, 1, 0, 1]);
}
