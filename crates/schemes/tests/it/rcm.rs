//! RCM's parts, against numbers computed by hand: Fb and its mixing, the sampling interval, the
//! CAM, the send window, and the table of flows. Then a switch that gets CNs, sends them, holds
//! packets and reroutes.

use schemes::contract::{
    Address, Cp, CpTimer, Crossing, EcnCodePoint, EmitCx, Emits, Flags, FullCx, Header,
    InputQueues, InputView, Level, LinkRates, OnArrival, OnEnqueue, Packet, PacketKind, PortFacts,
    PortView, Scheme, SwitchEffect, SwitchFacts, Verdict,
};
use schemes::params::{ParamError, Value};
use schemes::rcm::{
    self, Cam, Control, CutRule, Detector, DetourRule, FlowId, FlowTable, MAX_FLOWS, Notice, Rcm,
    RcmParams, RcmSwitch, RegionParams, ReleaseRule, Role, Sampling, SendWindow, SentPacket,
};
use schemes::registry::params_of;
use units::{Bytes, NodeId, PortId, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn ns(n: u64) -> Time {
    Time::from_ns(n)
}

/// Q_eq 20 KB, w 2, mixing by a half, samples every 15 KB, without jitter.
fn region() -> RegionParams {
    RegionParams { sample_jitter: 0.0, ..rcm::presets::rcm(LINE).region }
}

fn flow(n: u64) -> FlowId {
    FlowId(n)
}

#[test]
fn values_that_do_not_go_together_are_refused() {
    let overrides = [("min_window".to_owned(), Value::Bytes(Bytes::new(100_001)))];
    match params_of::<Rcm>("rcm", LINE, &overrides) {
        Err(ParamError::Conflict(which, why)) => {
            assert_eq!((which, why.contains("100KB")), ("min_window", true), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

/// Equation 1: Fb = Q_off + w Q_delta, no more than (2 w + 1) Q_eq = 100 KB.
#[test]
fn feedback_is_offset_and_growth() {
    let mut detector = Detector::new(&region(), 1);
    assert_eq!(detector.max_feedback(), 100_000.0);
    // 10 - 20 + 2 (10 - 0).
    assert_eq!(detector.sample(us(1), 10_000), 10_000.0);
    assert!(detector.is_congested(us(1)), "it grows, though it is short");
    // 30 - 20 + 2 (30 - 10) = 50; 63 x 50 / 100 = 31.5.
    assert_eq!(detector.sample(us(2), 30_000), 50_000.0);
    assert_eq!(detector.degree(us(2)), 32);
    // 90 - 20 + 2 (90 - 30) = 190.
    assert_eq!(detector.sample(us(3), 90_000), 100_000.0);
    assert_eq!(detector.degree(us(3)), 63);
    // 40 - 20 + 2 (40 - 90): long, but it shrinks faster than it is too long.
    assert_eq!(detector.sample(us(4), 40_000), -80_000.0);
    assert!(detector.is_congested(us(4)), "one such sample is not enough");
    assert_eq!(detector.degree(us(4)), 0);
    // 20 - 20: nothing in excess. The second in a row.
    assert_eq!(detector.sample(us(5), 30_000), -10_000.0);
    assert!(!detector.is_congested(us(5)));
    detector.sample(us(6), 60_000);
    assert!(detector.is_congested(us(6) + ns(49_999)) && !detector.is_congested(us(56)));
    detector.sample(us(3_000), 1_000);
    assert!(!detector.is_congested(us(3_000)), "that was long ago");
}

/// Bytes from one sample to the next: 15 KB times 150, 75, 50, 37.5, 30, 25, 21.5, 18.5 over 150.
#[test]
fn the_sampling_interval_shrinks_with_congestion() {
    // From an empty queue to `queue`: Fb = 3 queue - 20 KB.
    let cases = [
        (0, 15_000),
        (10_000, 15_000), // 10 KB: 6.3
        (11_000, 7_500),  // 13 KB: 8.19
        (20_000, 3_750),  // 40 KB: 25.2
        (30_000, 2_500),  // 70 KB: 44.1
        (40_000, 1_850),  // 100 KB: 63
    ];
    for (queue, expected) in cases {
        let mut detector = Detector::new(&region(), 1);
        assert!(!detector.count_bytes(14_999) && detector.count_bytes(1), "the first after 15 KB");
        detector.sample(us(1), queue);
        assert!(!detector.count_bytes(expected - 1), "{queue} B");
        assert!(detector.count_bytes(1), "{queue} B");
    }
}

#[test]
fn samples_come_up_to_the_jitter_early_or_late() {
    let mut sampling = Sampling::new(1000.0, 0.15, 7);
    let mut intervals = vec![];
    for _ in 0..2000 {
        sampling.restart(1000.0);
        intervals.push((1..).find(|_| sampling.count_bytes(1)).unwrap());
    }
    let (least, most) = (intervals.iter().min().unwrap(), intervals.iter().max().unwrap());
    assert!((850..860).contains(least) && (1140..=1150).contains(most), "{least} to {most}");
    let mean = intervals.iter().sum::<i32>() / 2000;
    assert!((990..1010).contains(&mean), "{mean}");
}

/// Written cyclically, with one entry per sample; the flows at or above the mean are harmful.
#[test]
fn the_cam_forgets_the_oldest_and_knows_the_fast() {
    let params = RegionParams { cam_depth: 4, ..region() };
    let mut cam = Cam::new(&params);
    for (n, input) in [(1, 0), (1, 0), (2, 1)] {
        cam.write(us(1), flow(n), input);
    }
    // Mean 1.5: flow 1 has 2, flow 2 has 1.
    assert_eq!(cam.harmful(us(1)), [(flow(1), 0)]);
    cam.write(us(2), flow(2), 1);
    assert_eq!(cam.harmful(us(2)), [(flow(1), 0), (flow(2), 1)], "two each");
    // The two of flow 1, then the first of flow 2, give way.
    cam.write(us(3), flow(3), 1);
    assert_eq!(cam.harmful(us(3)), [(flow(2), 1)], "1, 2, 2, 3: mean 4/3");
    assert!(cam.is_harmful(us(3), flow(2)) && !cam.is_harmful(us(3), flow(3)));
    cam.write(us(4), flow(3), 1);
    assert!(!cam.is_harmful(us(4), flow(1)), "overwritten");
    // Entries count for 100 us: those of flow 2 no more, one of flow 3 not.
    cam.write(us(104), flow(4), 2);
    assert_eq!(cam.harmful(us(104)), [(flow(3), 1), (flow(4), 2)]);
    assert!(cam.harmful(us(204)).len() == 2 && cam.harmful(us(205)).is_empty());

    let mut any = Cam::new(&RegionParams { harmful_share: 0.0, ..params });
    for n in [1, 1, 1, 2] {
        any.write(us(1), flow(n), 0);
    }
    assert_eq!(any.harmful(us(1)).len(), 2, "any flow in the CAM");
}

fn send(window: &mut SendWindow, now: Time, size: u64, harmful: bool, all_sent: bool) {
    window.sent(&SentPacket { now, size, harmful }, || (all_sent, 1));
}

/// W and Wc are what was sent from the start of congestion until each harmful flow had sent (and 10
/// KB at least); then Wc <- Wc (1 - Fb Gd), Wnc = W - Wc (equations 3, 5, 6).
#[test]
fn the_window_is_measured_and_cut() {
    let mut window = SendWindow::new(&region(), LINE, 1_500);
    window.cut(21);
    assert!(window.is_on() && !window.limits());
    send(&mut window, us(1), 6_000, true, true);
    assert!(!window.limits(), "less than 10 KB");
    send(&mut window, us(2), 6_000, false, false);
    assert!(!window.limits(), "a harmful flow has not sent");
    send(&mut window, us(3), 3_000, true, true);
    // Of 15 KB 9 were of harmful flows; 21 of 63 takes a sixth.
    assert_eq!(window.window_parts(), Some((15_000.0, 7_500.0, 7_500.0)));
    window.cut(63);
    assert_eq!(
        window.window_parts(),
        Some((15_000.0, 4_500.0, 10_500.0)),
        "half of what was measured"
    );
    window.end_congestion();
    assert_eq!((window.is_on(), window.window_parts()), (false, None));

    let params = RegionParams { cut_rule: CutRule::Compound, ..region() };
    let mut window = SendWindow::new(&params, LINE, 1_500);
    window.cut(0);
    send(&mut window, us(1), 8_000, true, true);
    send(&mut window, us(1), 8_000, false, true);
    for left in [4_000.0, 2_000.0, 1_000.0] {
        window.cut(63);
        assert_eq!(window.window_parts(), Some((16_000.0, left, 16_000.0 - left)));
    }
    // Never less than a packet.
    assert_eq!(window.held_until(us(1)), None);
    send(&mut window, us(1), 1_499, true, true);
    assert_eq!(window.held_until(us(1)), None);
    send(&mut window, us(1), 1, true, true);
    assert!(window.held_until(us(1)).is_some());
}

/// A harmful flow that never sends again does not keep the window from its measure: 100 KB end it.
#[test]
fn the_measure_ends_at_a_queue() {
    let mut window = SendWindow::new(&region(), LINE, 1_500);
    window.cut(63);
    for _ in 0..99 {
        send(&mut window, us(1), 1_000, false, false);
    }
    assert!(!window.limits());
    send(&mut window, us(1), 1_000, false, false);
    // Nothing of harmful flows: a packet of each may go, then half of that.
    assert_eq!(window.window_parts(), Some((100_000.0, 750.0, 99_250.0)));
}

/// However far Wc has been cut, a packet is no debt.
#[test]
fn a_packet_may_go_in_each_window() {
    let params = RegionParams { cut_rule: CutRule::Compound, ..region() };
    let mut window = SendWindow::new(&params, LINE, 1_000);
    window.cut(63);
    send(&mut window, us(0), 5_000, true, true);
    send(&mut window, us(0), 5_000, false, true);
    for _ in 0..5 {
        window.cut(63);
    }
    assert!(window.window_parts().is_some_and(|(_, limit, _)| limit < 100.0));
    for number in 0..5 {
        let begin = us(1) + ns(800) * number;
        send(&mut window, begin, 500, false, true);
        assert_eq!(window.held_until(begin), None, "in window {number}");
        send(&mut window, begin, 1_000, true, true);
        assert!(window.held_until(begin).is_some());
    }
}

/// Nor does a cut take from any of several flows the packet that it may send in each window, as
/// long as all of them fit.
#[test]
fn a_packet_of_each_flow_may_go_in_each_window() {
    for cuts in [CutRule::Compound, CutRule::Measured] {
        let params = RegionParams { cut_rule: cuts, ..region() };
        let mut window = SendWindow::new(&params, LINE, 1_000);
        window.cut(63);
        for (size, harmful) in [(3_000, true), (7_000, false)] {
            window.sent(&SentPacket { now: us(0), size, harmful }, || (true, 3));
        }
        (0..9).for_each(|_| window.cut(63));
        assert!(window.window_parts().is_some_and(|(_, limit, _)| limit < 2_000.0));
        for sent in 0..3 {
            assert_eq!(window.held_until(ns(100)), None, "after {sent} packets, {cuts:?}");
            send(&mut window, ns(100), 1_000, true, true);
        }
        assert!(window.held_until(ns(100)).is_some());
    }
}

/// Harmful flows wait once they have sent Wc, until W has been sent or could have been.
#[test]
fn harmful_flows_wait_for_the_next_window() {
    let mut window = SendWindow::new(&region(), LINE, 1_000);
    window.cut(63);
    send(&mut window, us(0), 5_000, true, true);
    send(&mut window, us(0), 5_000, false, true);
    // W 10 KB, Wc 2.5 KB; 10 KB take 800 ns.
    assert_eq!(window.window_parts(), Some((10_000.0, 2_500.0, 7_500.0)));
    send(&mut window, ns(100), 1_500, true, true);
    assert_eq!(window.held_until(ns(100)), None);
    send(&mut window, ns(200), 1_500, true, true);
    assert_eq!(window.held_until(ns(200)), Some(ns(800)), "3 KB of 2.5");
    assert_eq!(window.held_until(ns(800)), None, "the time of 10 KB has passed");
    // The next window begins with its first packet, and lacks the 500 B.
    send(&mut window, ns(900), 2_000, true, true);
    assert_eq!(window.held_until(ns(900)), Some(ns(1_700)));
    send(&mut window, ns(1_000), 8_000, false, true);
    assert_eq!(window.held_until(ns(1_000)), None, "W has been sent");
}

/// At a root harmful flows may send all of W while nobody else does. When others come, that is no
/// debt: they wait for what one packet took too much, and have Wc in each window from then on.
#[test]
fn what_harmful_flows_send_in_idle_time_is_forgotten() {
    let mut window = SendWindow::new(&region(), LINE, 1_000);
    window.cut(63);
    send(&mut window, us(0), 5_000, true, true);
    send(&mut window, us(0), 5_000, false, true);
    // W 10 KB, Wc 2.5 KB: 20 windows, each of ten packets of harmful flows.
    for packet in 0..200 {
        send(&mut window, ns(80) * packet, 1_000, true, true);
    }
    let others_come = us(16);
    for number in 0..4 {
        let begin = others_come + ns(800) * number;
        send(&mut window, begin, 1_000, false, true);
        // All that they may send.
        let mut harmful = 0;
        while window.held_until(begin).is_none() {
            send(&mut window, begin, 500, true, true);
            harmful += 500;
        }
        let expected = if number == 0 { 1_500 } else { 2_500 };
        assert_eq!(harmful, expected, "in window {number}");
    }
}

#[test]
fn flows_keep_their_port_until_they_pause() {
    let mut table = FlowTable::new(1, us(50));
    let [a, b] = [1, 2].map(PortId::new);
    assert_eq!(table.current(us(1), flow(1), a), Some((a, true)));
    table.take(us(1), flow(1), b);
    assert_eq!(table.current(us(51), flow(1), a), Some((b, false)));
    assert_eq!(table.current(us(51), flow(2), a), None, "its place is taken");
    assert_eq!(table.current(ns(51_001), flow(1), a), Some((a, true)), "silent for 50 us");
    assert_eq!(table.current(ns(51_001), flow(2), a), Some((a, false)), "it was under way before");
    table.take(ns(51_001), flow(2), a);
    assert_eq!(table.current(us(102), flow(3), b), Some((b, true)), "all were silent for 50 us");
}

// A switch with four ports: hosts at 0 and 1, switches at 2 and 3.

fn params() -> RcmParams {
    RcmParams { region: region(), ..rcm::presets::rcm(LINE) }
}

fn facts(port: u16) -> PortFacts {
    PortFacts {
        port: PortId::new(port),
        rate: LINE,
        delay: us(1),
        peer: NodeId::new(100 + u32::from(port)),
        peer_is_host: port < 2,
        xoff: Bytes::new(70_000),
        xon: Bytes::new(50_000),
        resume_offset: Bytes::new(20_000),
        kmin: [Bytes::UNLIMITED; 8],
        transit: us(1),
    }
}

fn switch(params: &RcmParams) -> RcmSwitch {
    let ports: Vec<PortFacts> = (0..4).map(facts).collect();
    let facts = SwitchFacts {
        node: NodeId::new(9),
        tier: 1,
        ports: &ports,
        hosts: &[],
        network_rtt: us(8),
        packet_bytes: Bytes::new(1_500),
        rates: &LinkRates::new([]),
        seed: 1,
    };
    Rcm::congestion_point(params, &facts).unwrap()
}

fn view(port: u16, bytes: u64) -> PortView {
    PortView {
        port: PortId::new(port),
        rate: LINE,
        queue_bytes: bytes,
        class_bytes: bytes,
        tx_bytes: 0,
        last_departure: Time::ZERO,
    }
}

/// A packet of host `src` that came through `ingress`.
fn data(src: u32, ingress: u16) -> Packet<Rcm> {
    let header = Header {
        address: Address { src, receiver_slot: src, ..Address::default() },
        sequence: 0,
        sent_at: Time::ZERO,
        size: 1_000,
        payload: 900,
        ingress,
        kind: PacketKind::Data,
        priority: 3,
        code_point: EcnCodePoint::NotMarked,
        echo: EcnCodePoint::NotMarked,
        flags: Flags::empty(),
    };
    Packet::with_meta(header, ())
}

fn id(src: u32) -> FlowId {
    FlowId(u64::from(src))
}

/// What a call has the switch do.
fn with<T>(now: Time, hook: impl FnOnce(&mut EmitCx<'_, Rcm>) -> T) -> (T, Vec<(u16, Notice)>) {
    let mut effects = Vec::new();
    let result = hook(&mut Emits::arrive(FullCx::new(now, &mut effects, &[])));
    let sent = effects.iter().map(|effect| match effect {
        SwitchEffect::ToLink(port, Control::Region(notice)) => (port.get(), *notice),
        other => panic!("{other:?}"),
    });
    (result, sent.collect())
}

/// `count` packets of host `src` cross from `ingress` to `out`, where `queue` bytes wait.
fn cross(
    switch: &mut RcmSwitch,
    now: Time,
    (src, ingress): (u32, u16),
    out: u16,
    count: u32,
    queue: u64,
) {
    for _ in 0..count {
        let mut packet = data(src, ingress);
        let mut port = PortId::new(out);
        with(now, |cx| switch.on_enqueue(cx, &mut port, &view(out, queue), &mut packet));
    }
}

/// 15 packets join the input queue of `input`, which are its first sample.
fn fill(switch: &mut RcmSwitch, now: Time, input: u16, voqs: [u64; 4]) -> Vec<(u16, Notice)> {
    let mut sent = vec![];
    for _ in 0..15 {
        let packet = data(0, input);
        let input = InputView { port: PortId::new(input), voqs: &voqs };
        sent.extend(with(now, |cx| switch.on_input(cx, &input, PortId::new(0), &packet.header)).1);
    }
    sent
}

fn notice(degree: u8, flows: &[FlowId]) -> Notice {
    let mut notice = Notice { degree, count: flows.len() as u8, flows: [FlowId(0); MAX_FLOWS] };
    notice.flows[..flows.len()].copy_from_slice(flows);
    notice
}

fn notify(switch: &mut RcmSwitch, now: Time, port: u16, notices: Notice) {
    let mut packet = data(0, port);
    packet.header.kind = PacketKind::LinkControl;
    let mut packet = Packet::with_ctl(packet.header, Control::Region(notices));
    let (verdict, _) = with(now, |cx| switch.on_arrival(cx, PortId::new(port), &mut packet));
    assert_eq!(verdict, Verdict::Consume);
}

/// Section 3.2 and equation 2: what an input queue finds goes upstream, with the harmful flows that
/// come that way and the neighbour's degree mixed in.
#[test]
fn an_input_queue_tells_its_neighbour_upstream() {
    let mut switch = switch(&params());
    // Host 5 comes through switch port 2 and host 6 through port 3, both to port 0.
    cross(&mut switch, us(1), (5, 2), 0, 16, 0);
    cross(&mut switch, us(1), (6, 3), 0, 16, 0);
    assert_eq!(switch.role(0, us(1)), Role::None);
    // 40 KB in all, 30 of them to port 0: Fb = 20 + 2 x 40 KB, the most.
    let sent = fill(&mut switch, us(2), 2, [30_000, 10_000, 0, 0]);
    assert_eq!(sent, [(2, notice(63, &[id(5)]))], "the flow that comes through port 2");
    assert_eq!([0, 1].map(|port| switch.role(port, us(2))), [Role::Root, Role::None]);
    // Host ports get no CNs.
    assert_eq!(fill(&mut switch, us(3), 1, [30_000, 0, 0, 0]), []);
    // The neighbour downstream of port 0's flows says 20: (63 + 20) / 2 = 41.5, and its flows
    // count, where they come through, once one of their packets was seen.
    notify(&mut switch, us(4), 0, notice(20, &[id(7)]));
    assert_eq!(switch.role(0, us(4)), Role::Inner);
    assert_eq!(fill(&mut switch, us(4), 2, [40_000, 0, 0, 0]), []);
    cross(&mut switch, us(4), (7, 3), 0, 1, 0);
    let sent = fill(&mut switch, us(5), 3, [40_000, 0, 0, 0]);
    assert_eq!(sent, [(3, notice(42, &[id(7)]))]);
    assert_eq!(fill(&mut switch, us(5), 2, [40_000, 0, 0, 0]), [], "flow 7 comes through port 3");
    // What a CN said is forgotten after 50 us, and so is what was found.
    assert_eq!(switch.role(0, us(53)), Role::Inner, "port 3's sample is of 5 us");
    assert_eq!(switch.role(0, us(54)), Role::Root);
    assert_eq!(switch.role(0, us(55)), Role::None);
}

/// The flows of the latest CN go upstream first: the congestion of others may be over.
#[test]
fn the_latest_flows_go_upstream_first() {
    let params = RcmParams { region: RegionParams { notice_flows: 2, ..region() }, ..params() };
    let mut switch = switch(&params);
    for (at, notices) in [(1, [6, 5]), (2, [7, 6]), (3, [8, 7])] {
        notify(&mut switch, us(at), 0, notice(20, &notices.map(id)));
        for src in notices {
            cross(&mut switch, us(at), (src, 2), 0, 1, 0);
        }
    }
    let sent = fill(&mut switch, us(4), 2, [30_000, 0, 0, 0]);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].1.flows(), [8, 7].map(id));
}

/// Whether a packet may cross.
fn crossing(switch: &RcmSwitch, out: u16, header: &Header, now: Time) -> Crossing {
    let out = PortId::new(out);
    if !InputQueues::<Rcm>::may_block(switch, out, now) {
        return Crossing::Allowed;
    }
    InputQueues::<Rcm>::crossing(switch, out, header, now)
}

/// Section 3.4: at the edge, harmful flows wait once Wc is spent, and others do not.
#[test]
fn the_edge_holds_harmful_flows_alone() {
    let mut switch = switch(&params());
    notify(&mut switch, us(1), 2, notice(63, &[id(5)]));
    assert_eq!(switch.role(2, us(1)), Role::Edge);
    let crossing = |switch: &RcmSwitch, src, now| crossing(switch, 2, &data(src, 0).header, now);
    // Measured: 10 KB, of which 5 of host 5; cut to 2.5 KB.
    cross(&mut switch, us(1), (6, 1), 2, 5, 0);
    cross(&mut switch, us(1), (5, 0), 2, 5, 0);
    assert_eq!(crossing(&switch, 5, us(1)), Crossing::Allowed);
    cross(&mut switch, us(1), (5, 0), 2, 3, 0);
    assert_eq!(crossing(&switch, 5, us(1)), Crossing::Blocked);
    assert_eq!(crossing(&switch, 6, us(1)), Crossing::Allowed);
    // 10 KB at 100 Gb/s.
    let until = us(1) + ns(800);
    assert_eq!(CpTimer::<Rcm>::next_timer(&switch), until);
    assert_eq!(crossing(&switch, 5, until), Crossing::Allowed);
}

/// A second congestion finds nothing left of the first, though no packet came to see that it was
/// over.
#[test]
fn a_window_lasts_no_longer_than_its_congestion() {
    let mut switch = switch(&params());
    for begin in [us(1), us(200), us(400)] {
        notify(&mut switch, begin, 2, notice(63, &[id(5)]));
        let crossing = |switch: &RcmSwitch| crossing(switch, 2, &data(5, 0).header, begin);
        // Each time 10 KB are measured, and 2.5 KB are left.
        cross(&mut switch, begin, (5, 0), 2, 4, 0);
        assert_eq!(crossing(&switch), Crossing::Allowed, "at {begin}");
        cross(&mut switch, begin, (6, 1), 2, 5, 0);
        cross(&mut switch, begin, (5, 0), 2, 1, 0);
        assert_eq!(crossing(&switch), Crossing::Allowed, "at {begin}");
        cross(&mut switch, begin, (5, 0), 2, 3, 0);
        assert_eq!(crossing(&switch), Crossing::Blocked, "at {begin}");
    }
}

/// At a root they may go where nobody else does.
#[test]
fn a_root_is_never_idle_for_harmful_flows() {
    for (release, expected) in [
        (ReleaseRule::Root, Crossing::AllowedIfLast),
        (ReleaseRule::Always, Crossing::AllowedIfLast),
        (ReleaseRule::Never, Crossing::Blocked),
    ] {
        let params =
            RcmParams { region: RegionParams { release_rule: release, ..region() }, ..params() };
        let mut switch = switch(&params);
        cross(&mut switch, us(1), (5, 2), 0, 20, 0);
        // The queue is 60 KB long at the second sample.
        cross(&mut switch, us(2), (5, 2), 0, 10, 60_000);
        assert_eq!(switch.role(0, us(2)), Role::Root);
        // 10 KB are measured, a fifth is cut (Fb = 41 KB), and the rest is spent.
        cross(&mut switch, us(2), (5, 2), 0, 17, 60_000);
        let held = crossing(&switch, 0, &data(5, 2).header, us(2));
        assert_eq!(held, expected, "{release:?}");
    }
}

fn reroute(switch: &mut RcmSwitch, now: Time, src: u32) -> u16 {
    let (port, _) = with(now, |cx| {
        let ports = [2, 3].map(PortId::new);
        switch.reroute(cx, &data(src, 0).header, &ports, PortId::new(2))
    });
    port.get()
}

/// Section 3.4: new flows that are not harmful go where the region's degree is least, after several
/// CNs.
#[test]
fn new_flows_go_around_congestion() {
    let mut switch = switch(&params());
    assert_eq!(reroute(&mut switch, us(1), 8), 2, "no congestion");
    notify(&mut switch, us(2), 2, notice(40, &[id(5)]));
    assert_eq!(reroute(&mut switch, us(2), 6), 2, "one CN is not several");
    notify(&mut switch, us(3), 2, notice(40, &[id(5)]));
    assert_eq!(reroute(&mut switch, us(3), 7), 3);
    assert_eq!(reroute(&mut switch, us(3), 8), 2, "not a new flow");
    assert_eq!(reroute(&mut switch, us(3), 5), 2, "harmful");
    // Flow 7 stays where it is, though that is now as bad.
    for _ in 0..2 {
        notify(&mut switch, us(4), 3, notice(63, &[id(7)]));
    }
    assert_eq!(reroute(&mut switch, us(4), 7), 3);
    assert_eq!(reroute(&mut switch, us(4), 9), 2, "both are congested, port 2 less");
    assert_eq!(switch_counter(&switch, "detours"), 1);

    let off = RcmParams { region: RegionParams { sar: false, ..region() }, ..params() };
    let mut still = self::switch(&off);
    for _ in 0..2 {
        notify(&mut still, us(3), 2, notice(63, &[id(5)]));
    }
    assert_eq!(reroute(&mut still, us(3), 7), 2);

    let any =
        RcmParams { region: RegionParams { detour: DetourRule::Any, ..region() }, ..params() };
    let mut any = self::switch(&any);
    assert_eq!(reroute(&mut any, us(1), 8), 2);
    for _ in 0..2 {
        notify(&mut any, us(3), 2, notice(40, &[id(5)]));
    }
    assert_eq!(reroute(&mut any, us(3), 8), 3, "any flow that is not harmful");
}

fn switch_counter(switch: &RcmSwitch, name: &str) -> u64 {
    let counters = Cp::<Rcm>::counters(switch);
    counters.iter().find(|(known, _)| *known == name).expect("it is counted").1
}
