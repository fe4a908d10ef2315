//! Mercury's port states, windows and senders against values worked out by hand: 40 Gb/s (200 ps a
//! byte), a base round trip of 32 us and so a BDP of 160 KB, a threshold of 5 KB, T = 10 us.

use schemes::contract::{
    Address, Body, CodePoint, Cp, Emits, Full, Header, HostCx, HostFacts, Kind, Level, LinkRates,
    Local, Observable, Packet, PathFacts, PortFacts, PortView, Rp, Scheme, SwitchEffect,
    SwitchFacts, Target, WireFacts,
};
use schemes::dcqcn::Dcqcn;
use schemes::mercury::{
    CongestionPoint, Detector, FlowTable, Host, Mercury, MercuryParams, Notice, PortState, Sender,
    State,
};
use std::sync::Arc;
use units::{Bytes, NodeId, PortId, Priority, Rate, Time};

type Scheme0 = Mercury<Dcqcn>;

const LINE: Rate = Rate::from_gbps(40);
const THRESHOLD: u64 = 5_000;

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn params() -> MercuryParams {
    Scheme0::preset("mercury-paper", LINE)
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

#[test]
fn a_flow_table_is_exact_until_it_is_full() {
    let mut table = FlowTable::new(4);
    for key in 1..=4 {
        assert_eq!(table.join(us(1), key, 100 * key, true, us(50)), Some(100 * key));
    }
    // A fifth flow finds no entry; the sum has it all the same.
    assert_eq!(table.join(us(1), 5, 500, true, us(50)), None);
    assert_eq!((table.bytes(5), table.total()), (0, 1500));
    // Another CNP to the flow 2 only after the silence.
    assert_eq!(table.join(us(50), 2, 100, true, us(50)), None);
    assert_eq!(table.join(us(51), 2, 100, true, us(50)), Some(400));
    // Where it is not congested nobody is told, and no silence begins.
    assert_eq!(table.join(us(102), 3, 100, false, us(50)), None);
    assert_eq!(table.join(us(102), 3, 100, true, us(50)), Some(500));
    // The flow 1 is gone, and 5 takes its entry.
    table.leave(1, 100);
    assert_eq!(table.join(us(103), 5, 500, true, us(50)), Some(500));
    assert_eq!(table.join(us(103), 1, 100, true, us(50)), None);
    // What joined without an entry leaves without harm.
    table.leave(5, 500);
    table.leave(5, 500);
    table.leave(1, 100);
    assert_eq!((table.bytes(5), table.total()), (0, 400 + 500 + 400));
}

struct Switch {
    cp: CongestionPoint,
    port: PortState,
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
            kmin: Bytes::UNLIMITED,
            transit: us(4),
        };
        let switch = SwitchFacts {
            node: NodeId::new(5),
            tier: 1,
            ports: &[facts],
            hosts: &[],
            network_rtt: us(32),
            packet_bytes: Bytes::new(1_082),
            rates: &LinkRates::new([]),
            seed: 1,
        };
        let cp = Scheme0::cp(&params, &switch).expect("every switch takes part");
        let port = Cp::<Scheme0>::port(&cp, &params, &facts);
        Switch { cp, port, queue: 0, effects: Vec::new() }
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

    /// A thousand bytes from host `src` join: who is told what.
    fn join(&mut self, now: Time, src: u32) -> Option<(u32, Notice)> {
        let view = self.view();
        let full = Full::new(now, &mut self.effects, &[]);
        let mut cx = <Emits as Level>::arrive::<Scheme0>(full);
        self.cp.on_enqueue(&mut cx, &mut self.port, &view, &mut data(src));
        self.queue += 1_000;
        match self.effects.pop() {
            None => None,
            Some(SwitchEffect::ToHost(address, Target::Source, notice)) => {
                Some((address.src, notice))
            }
            Some(_) => panic!("Mercury only notifies senders"),
        }
    }

    fn leave(&mut self, now: Time, src: u32) {
        self.queue -= 1_000;
        let view = self.view();
        self.cp.on_depart(&mut Local { now }, &mut self.port, &view, &mut data(src));
    }

    fn pfc(&mut self, now: Time, paused: bool) {
        let view = self.view();
        let full = Full::new(now, &mut self.effects, &[]);
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
        kind: Kind::Data,
        priority: 3,
        code_point: CodePoint::Capable,
        echo: CodePoint::Capable,
        last: false,
        ack_requested: true,
        to_source: false,
        mark: false,
    };
    Packet { header, body: Body::Meta(()) }
}

#[test]
fn a_congested_port_gives_each_flow_its_share_of_the_queue() {
    let mut switch = Switch::new(|_| {});
    for _ in 0..5 {
        assert_eq!(switch.join(us(1), 1), None, "up to the threshold");
    }
    assert_eq!(switch.state(), Some(0.0));
    // All 6000 B are the first flow's: C baseRTT.
    let told = |src, window| Some((src, Notice { window, from_root: true }));
    assert_eq!(switch.join(us(1), 1), told(1, 160_000));
    assert_eq!(switch.state(), Some(1.0));
    // 1000 of 7000 B: 160 000 / 7.
    assert_eq!(switch.join(us(1), 2), told(2, 22_857));
    assert_eq!(switch.join(us(2), 2), None, "told lately");
    for _ in 0..4 {
        switch.leave(us(2), 1);
    }
    assert_eq!(switch.join(us(50), 1), None);
    // Each has 3000 B of 6000. No root: without pauses the port
    // would have sent all but the last by now.
    assert_eq!(switch.join(us(51), 2), Some((2, Notice { window: 80_000, from_root: false })));
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
    assert_eq!(switch.join(us(122), 2).map(|(src, _)| src), Some(2));

    // Without the detection the victims are told, by a port that is no root.
    let (_, told) = paused(false);
    assert_eq!(told.iter().map(|(src, _)| *src).collect::<Vec<_>>(), [1, 2]);
    assert!(told.iter().all(|(_, notice)| !notice.from_root));
}

#[test]
fn a_plain_cnp_has_no_window() {
    let mut switch = Switch::new(|params| params.feedback.window_notification = false);
    let told: Vec<_> = (0..6).filter_map(|_| switch.join(us(1), 1)).collect();
    assert_eq!(told, [(1, Notice { window: 0, from_root: true })]);
}

struct Bench {
    params: MercuryParams,
    host: Host<Arc<schemes::dcqcn::Law>>,
    sender: Sender<Dcqcn>,
}

impl Bench {
    fn new() -> Bench {
        let params = params();
        let facts = HostFacts {
            node: NodeId::new(0),
            line_rate: LINE,
            network_rtt: us(32),
            wire: WireFacts {
                packet_bytes: Bytes::new(1082),
                ack_bytes: Bytes::new(86),
                least_bytes: Bytes::new(84),
            },
            seed: 7,
        };
        let path = PathFacts {
            line_rate: LINE,
            bottleneck_rate: LINE,
            base_rtt: us(20),
            network_rtt: us(32),
            network_bdp: LINE.bytes_in(us(32)),
            switches: 2,
            payload: Bytes::new(1000),
            packet_bytes: Bytes::new(1082),
            rates: LinkRates::new([]),
        };
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
        self.sender.allow().window.get()
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
    assert_eq!(bench.sender.allow().rate, Rate::from_gbps(20));
    assert_eq!(bench.window(), 40_000);
    assert_eq!(bench.sender.observe(us(100), Observable::Window), Some(40_000.0));
    // 55 us later without another.
    assert_eq!(bench.sender.next_timer(), us(155));
    bench.at(us(155), |sender, cx| sender.on_timer(cx));
    assert_eq!(bench.window(), 160_000);
    assert_eq!(bench.sender.next_timer(), Time::NEVER);
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
    Scheme0::on_stray(&mut bench.host, &notice);
    assert_eq!(bench.counters(), [3, 2, 1, 0, 1]);
}
