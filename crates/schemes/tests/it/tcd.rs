//! TCD's detector and the reactions built on it, against sequences worked out by hand.

use schemes::contract::{
    Ack, Cp, Ctl, EcnCodePoint, HostCx, LocalCx, PathFacts, PortFacts, PortView, Rp, Scheme,
    SenderMetric,
};
use schemes::dcqcn::Cnp;
use schemes::dcqcn_tcd::{
    self, DcqcnTcd, HoldingReactionPoint, Notification, TernaryNotificationPoint,
};
use schemes::hpcc_tcd::{self, OverloadMaskingReactionPoint};
use schemes::int::IntStack;
use schemes::params::{ParamError, Params, Value};
use schemes::registry::params_of;
use schemes::tcd::{Detector, State, Tcd, TcdParams};
use schemes::testing::{self, record};
use schemes::timely::TimelyParams;
use schemes::timely_tcd::{self, TernaryReactionPoint, TimelyTcd};
use units::{Bytes, NodeId, PortId, Rate, Time};

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn port(gbps: u64, transit: Time, resume_offset: u64) -> PortFacts {
    PortFacts {
        port: PortId::new(0),
        rate: Rate::from_gbps(gbps),
        delay: transit,
        peer: NodeId::new(9),
        peer_is_host: false,
        xoff: Bytes::new(320_000),
        xon: Bytes::new(320_000 - resume_offset),
        resume_offset: Bytes::new(resume_offset),
        kmin: [Bytes::new(50_000); 8],
        transit,
    }
}

fn params() -> <DcqcnTcd as Scheme>::Params {
    params_of::<DcqcnTcd>("dcqcn-paper+tcd", Rate::from_gbps(100), &[]).unwrap()
}

mod max_on {
    use super::*;

    /// 2 tau + (B + 2 tau R_d) / (C - R_d) with R_d = C / 1.05.
    #[test]
    fn follows_rate_distance_and_thresholds() {
        let law = TcdParams::default();
        assert_eq!(law.congestion_degree, 0.05);
        // 8 us and 0.4 us, 21 times.
        assert_eq!(law.max_on(&port(40, us(4), 2_000)).ns(), 176_400);
        assert_eq!(law.max_on(&port(40, us(1), 2_000)).ns(), 50_400);
        assert_eq!(law.max_on(&port(100, us(1), 2_000)).ns(), 45_360);
        // R_d = C / 2: 8 us and 0.4 us twice.
        let half = TcdParams { congestion_degree: 1.0, ..law };
        assert_eq!(half.max_on(&port(40, us(4), 2_000)).ns(), 16_800);
    }

    #[test]
    fn follows_a_rate_that_changes() {
        let mut tcd = Tcd(TcdParams::default());
        let (before, after) = (port(100, us(1), 2_000), port(10, us(1), 2_000));
        let mut detectors = Cp::<DcqcnTcd>::port(&tcd, &params(), &before);
        Cp::<DcqcnTcd>::on_rate(&mut tcd, &params(), &mut detectors, &after);
        let fresh = Cp::<DcqcnTcd>::port(&tcd, &params(), &after);
        assert_eq!(format!("{detectors:?}"), format!("{fresh:?}"));
    }

    #[test]
    fn may_be_given() {
        let given = TcdParams { max_on: us(70), ..TcdParams::default() };
        assert_eq!(given.max_on(&port(40, us(4), 2_000)), us(70));
    }
}

mod port {
    use super::*;

    /// A port under TCD, and what waits there.
    struct Port {
        tcd: Tcd,
        detectors: [Detector; 8],
        waiting: u64,
    }

    impl Port {
        fn new() -> Port {
            let tcd = Tcd(TcdParams { max_on: us(100), ..TcdParams::default() });
            let detectors = Cp::<DcqcnTcd>::port(&tcd, &params(), &port(100, us(1), 2_000));
            Port { tcd, detectors, waiting: 0 }
        }

        fn view(&self) -> PortView {
            PortView {
                port: PortId::new(0),
                rate: Rate::from_gbps(100),
                queue_bytes: self.waiting,
                class_bytes: self.waiting,
                tx_bytes: 0,
                last_departure: Time::ZERO,
            }
        }

        /// A packet leaves, and `waiting` bytes stay.
        fn departs(&mut self, now: Time, waiting: u64) {
            self.waiting = waiting;
            let (view, mut packet) = (self.view(), testing::data_packet::<DcqcnTcd>(0));
            self.tcd.on_depart(&mut LocalCx { now }, &mut self.detectors, &view, &mut packet);
        }

        /// A packet that waits is dropped, and `waiting` bytes stay.
        fn drops(&mut self, now: Time, waiting: u64) {
            self.waiting = waiting;
            let (view, packet) = (self.view(), testing::data_packet::<DcqcnTcd>(0));
            self.tcd.on_drop(&mut LocalCx { now }, &mut self.detectors, &view, &packet);
        }

        fn state(&self, now: Time) -> f64 {
            Cp::<DcqcnTcd>::observe(&self.tcd, &self.detectors, now).unwrap()
        }
    }

    /// Such as by a link that fails, after which nothing leaves.
    #[test]
    fn packets_that_are_dropped_congest_no_more() {
        let mut port = Port::new();
        port.departs(us(1), 51_000);
        assert_eq!(port.state(us(1)), 1.0);
        port.drops(us(2), 50_001);
        assert_eq!(port.state(us(2)), 1.0);
        port.drops(us(2), 50_000);
        assert_eq!(port.state(us(2)), 0.0);
    }
}

mod detector {
    use super::*;

    /// max(Ton) 100 us, threshold 50 KB.
    fn detector() -> Detector {
        Detector::new(us(100), 50_000)
    }

    #[test]
    fn a_port_that_was_never_paused_is_judged_by_its_queue() {
        let mut port = detector();
        assert_eq!(port.state_at(us(0)), State::NonCongestion);
        assert_eq!(port.depart(us(1), 50_000), State::NonCongestion);
        assert_eq!(port.depart(us(2), 50_001), State::Congestion);
        assert!(port.is_determined_by_queue(us(2), 50_001));
        assert_eq!(port.depart(us(3), 10_000), State::NonCongestion);
    }

    #[test]
    fn on_off_is_undetermined_until_an_on_period_of_max_on() {
        let mut port = detector();
        port.pause();
        assert_eq!(port.state_at(us(5)), State::Undetermined);
        port.resume(us(10), 80_000);
        assert_eq!(port.depart(us(11), 90_000), State::Undetermined);
        assert!(!port.is_determined_by_queue(us(11), 90_000));
        // A second pause: the ON period counts from the second resume.
        port.pause();
        port.resume(us(60), 80_000);
        assert_eq!(port.depart(us(110), 80_000), State::Undetermined);
        assert_eq!(port.depart(us(159), 80_000), State::Undetermined);
        assert_eq!(port.depart(us(160), 80_000), State::Congestion, "it did not shrink");
        assert!(port.is_determined_by_queue(us(160), 80_000));
    }

    #[test]
    fn what_pfc_left_behind_is_no_congestion_while_it_shrinks() {
        let mut port = detector();
        port.pause();
        port.resume(us(10), 90_000);
        assert_eq!(port.depart(us(110), 80_000), State::NonCongestion);
        assert!(!port.is_determined_by_queue(us(110), 80_000), "RED must not mark");
        // Growth in between is seen at the next look.
        assert_eq!(port.depart(us(209), 85_000), State::NonCongestion);
        assert_eq!(port.clone().depart(us(210), 79_999), State::NonCongestion);
        assert_eq!(port.depart(us(210), 80_000), State::Congestion);
    }

    #[test]
    fn a_backlog_that_is_gone_is_forgotten() {
        let mut port = detector();
        port.pause();
        port.resume(us(10), 90_000);
        assert_eq!(port.depart(us(110), 80_000), State::NonCongestion);
        assert_eq!(port.depart(us(120), 50_000), State::NonCongestion);
        assert_eq!(port.depart(us(130), 60_000), State::Congestion, "a queue of its own");
    }

    #[test]
    fn a_short_queue_after_max_on_is_no_congestion() {
        let mut port = detector();
        port.pause();
        port.resume(us(10), 0);
        assert_eq!(port.depart(us(110), 40_000), State::NonCongestion);
        assert!(port.is_determined_by_queue(us(110), 40_000));
    }
}

mod dcqcn {
    use super::*;

    /// dcqcn-paper at 40 Gb/s: K = T = 55 us, g = 1/256.
    fn sender() -> HoldingReactionPoint {
        let params = dcqcn_tcd::presets::paper(Rate::from_gbps(40));
        HoldingReactionPoint::new(&params, &path())
    }

    fn path() -> PathFacts {
        let line_rate = Rate::from_gbps(40);
        testing::path(line_rate, us(8))
    }

    fn rate(rp: &HoldingReactionPoint, now: Time) -> f64 {
        rp.observe(now, SenderMetric::Rate).unwrap()
    }

    #[test]
    fn a_ue_neither_cuts_nor_lets_increase() {
        let mut rp = sender();
        rp.on_undetermined(us(1));
        assert_eq!(rate(&rp, us(1)), 40e9);
        rp.on_congestion(us(10));
        assert_eq!(rate(&rp, us(10)), 20e9);
        // Half way to 40 at 65 us; then held to 70 + 55, so that the step at 120 is passed over.
        rp.on_undetermined(us(70));
        assert_eq!(rate(&rp, us(124)), 30e9);
        assert_eq!(rate(&rp, us(174)), 30e9);
        assert_eq!(rate(&rp, us(175)), 35e9);
    }

    #[test]
    fn a_ce_ends_a_hold() {
        let mut rp = sender();
        rp.on_congestion(us(10));
        rp.on_undetermined(us(70));
        rp.on_congestion(us(80));
        // From 30 Gb/s with alpha 255/256: 30 (1 - 255/512).
        assert_eq!(rate(&rp, us(80)), 15_058_593_750.0);
        // The step at 80 + 55 is not held.
        assert_eq!(rate(&rp, us(135)), (15_058_593_750.0 + 30e9) / 2.0);
    }

    #[test]
    fn a_ce_outweighs_the_ues_after_it() {
        let mut rp = sender();
        rp.on_congestion(us(10));
        rp.on_undetermined(us(64));
        assert_eq!(rate(&rp, us(65)), 30e9, "not held");
    }

    /// The firmware's form cuts at a check up to 4 us after the notification: a UE in between must
    /// not take the cut away.
    #[test]
    fn a_ue_does_not_undo_a_cut_to_come() {
        let line = Rate::from_gbps(100);
        let params = dcqcn_tcd::presets::hpcc(line);
        let path = PathFacts { line_rate: line, ..path() };
        let mut rp = HoldingReactionPoint::new(&params, &path);
        rp.on_congestion(us(10));
        rp.on_undetermined(us(11));
        assert_eq!(rate(&rp, us(13)), 100e9);
        // Alpha at 14 us: 1, lowered four times by 1/256.
        let alpha = (255.0_f64 / 256.0).powi(4);
        let cut = (100e9 * (1.0 - alpha / 2.0)).floor();
        assert_eq!(rate(&rp, us(14)), cut);
    }

    /// Protects that cut where holds are short: the least hold that is not refused leaves it, also
    /// when UE comes as soon as it counts.
    #[test]
    fn a_hold_is_longer_than_a_cut_is_to_come() {
        let line = Rate::from_gbps(100);
        let preset = |hold_time| {
            let mut params = dcqcn_tcd::presets::hpcc(line);
            params.hold.hold_time = hold_time;
            params
        };
        let refused = DcqcnTcd::check(&preset(us(4)));
        assert!(matches!(refused, Err(ParamError::Conflict("hold_time", why))
            if why.contains("decrease_interval, which is 4us")));
        let least = us(4) + Time::from_ps(1);
        DcqcnTcd::check(&preset(least)).unwrap();
        let path = PathFacts { line_rate: line, ..path() };
        let mut rp = HoldingReactionPoint::new(&preset(least), &path);
        rp.on_congestion(us(10));
        rp.on_undetermined(us(10) + least);
        assert!(rate(&rp, us(15)) < 60e9);
        // The paper's form cuts at once, and any hold will do.
        let mut paper = dcqcn_tcd::presets::paper(line);
        (paper.dcqcn.cnp_interval, paper.hold.hold_time) = (us(1), us(2));
        DcqcnTcd::check(&paper).unwrap();
    }

    #[test]
    fn the_receiver_answers_ce_and_ue_apart() {
        let dcqcn = schemes::dcqcn::presets::paper(Rate::from_gbps(40));
        let mut np = TernaryNotificationPoint::new(&dcqcn);
        let (none, ue, ce) = (
            EcnCodePoint::NotMarked,
            EcnCodePoint::Undetermined,
            EcnCodePoint::CongestionExperienced,
        );
        assert_eq!(np.answer(us(0), &dcqcn, none), None);
        assert_eq!(np.answer(us(1), &dcqcn, ue), Some(Notification::Undetermined));
        assert_eq!(np.answer(us(2), &dcqcn, ue), None, "50 us apart");
        assert_eq!(np.answer(us(3), &dcqcn, ce), Some(Notification::Congestion), "at once");
        assert_eq!(np.answer(us(52), &dcqcn, ce), None, "50 us apart");
        assert_eq!(np.answer(us(51), &dcqcn, ue), Some(Notification::Undetermined));
        assert_eq!(np.answer(us(53), &dcqcn, ce), Some(Notification::Congestion));
        assert_eq!(Notification::Undetermined.frame_bytes(), Cnp::FRAME_BYTES);
    }

    #[test]
    fn parameters_are_those_of_all_parts() {
        let names = <DcqcnTcd as Scheme>::Params::specs();
        assert_eq!(names.len(), 16 + 2 + 1);
        let line = Rate::from_gbps(40);
        let set = [
            ("max_on".to_owned(), Value::Time(us(70))),
            ("cnp_interval".to_owned(), Value::Time(us(4))),
        ];
        let params = params_of::<DcqcnTcd>("dcqcn-paper+tcd", line, &set).unwrap();
        assert_eq!((params.tcd.max_on, params.dcqcn.cnp_interval), (us(70), us(4)));
        assert_eq!(params.get("gain"), Some(Value::Number(1.0 / 256.0)));
        let unknown = [("eta".to_owned(), Value::Number(0.9))];
        let refused = params_of::<DcqcnTcd>("dcqcn-paper+tcd", line, &unknown);
        assert!(matches!(refused, Err(ParamError::UnknownParam(name, known))
            if name == "eta" && known.len() == names.len()));
    }
}

mod timely {
    use super::*;

    const NONE: EcnCodePoint = EcnCodePoint::NotMarked;
    const UE: EcnCodePoint = EcnCodePoint::Undetermined;
    const CE: EcnCodePoint = EcnCodePoint::CongestionExperienced;

    /// timely-paper at 10 Gb/s: beta 0.8, minRTT 20 us, T_low 50 us, T_high 500 us, delta 10 Mb/s.
    /// A weight of 1 makes the gradient that of the newest round trip alone.
    struct Sender {
        params: TimelyParams,
        rp: TernaryReactionPoint,
        acknowledged: u64,
    }

    impl Sender {
        /// A sender that has measured a round trip of 100 us.
        fn new() -> Sender {
            let line_rate = Rate::from_gbps(10);
            let params = timely_tcd::presets::paper(line_rate).timely;
            let params = TimelyParams { ewma_weight: 1.0, ..params };
            let path =
                PathFacts { packet_bytes: Bytes::new(1090), ..testing::path(line_rate, us(8)) };
            let rp = TernaryReactionPoint::new(&params, &path);
            let mut sender = Sender { params, rp, acknowledged: 0 };
            assert_eq!(sender.segment(us(0), us(100), NONE), 10_000_000_000);
            sender
        }
        /// An ACK for `bytes` more; the rate after it in bits per second.
        fn ack(&mut self, bytes: u64, now: Time, rtt: Time, echo: EcnCodePoint) -> u64 {
            self.acknowledged += bytes;
            let (acknowledged, sent) = (self.acknowledged, self.acknowledged + 64_000);
            self.rp.acknowledge(&self.params, now, acknowledged, sent, rtt, echo);
            <TernaryReactionPoint as Rp<TimelyTcd>>::limits(&self.rp).rate.bps()
        }
        fn segment(&mut self, now: Time, rtt: Time, echo: EcnCodePoint) -> u64 {
            self.ack(16_000, now, rtt, echo)
        }
    }

    #[test]
    fn without_echoes_it_is_timely() {
        let mut sender = Sender::new();
        // 5 us of 20: 1 - 0.8 / 4.
        assert_eq!(sender.segment(us(10), us(105), NONE), 8_000_000_000);
        assert_eq!(sender.segment(us(20), us(100), NONE), 8_010_000_000);
        // 1 - 0.8 (1 - 500 / 1000).
        assert_eq!(sender.segment(us(30), us(1000), NONE), 4_806_000_000);
    }

    #[test]
    fn a_ue_neither_cuts_nor_raises_but_is_measured() {
        let mut sender = Sender::new();
        assert_eq!(sender.segment(us(10), us(1000), UE), 10_000_000_000);
        assert_eq!(sender.segment(us(20), us(105), NONE), 10_000_000_000, "at line rate");
        assert_eq!(sender.segment(us(30), us(110), NONE), 8_000_000_000, "5 us since 105");
        assert_eq!(sender.segment(us(40), us(100), UE), 8_000_000_000);
        assert_eq!(sender.segment(us(50), us(40), UE), 8_000_000_000, "below T_low");
        assert_eq!(sender.segment(us(60), us(40), NONE), 8_010_000_000);
    }

    #[test]
    fn a_ue_ends_a_run_of_good_news() {
        let mut sender = Sender::new();
        sender.segment(us(1), us(105), NONE);
        for n in 1..=4 {
            assert_eq!(sender.segment(us(10), us(100), NONE), 8_000_000_000 + n * 10_000_000);
        }
        sender.segment(us(10), us(100), UE);
        // The fifth in a row would have been 50 Mb/s.
        assert_eq!(sender.segment(us(10), us(100), NONE), 8_050_000_000);
    }

    #[test]
    fn a_ce_cuts_whatever_the_gradient_once_in_a_round_trip() {
        let mut sender = Sender::new();
        // The gradient is zero: 1 - 0.8 (1 - 50 / 100).
        assert_eq!(sender.segment(us(10), us(100), CE), 6_000_000_000);
        assert_eq!(sender.segment(us(109), us(100), CE), 6_000_000_000, "the same queue");
        // Shorter round trips: 1 - 0.8 (1 - 50 / 80) = 0.7, and whole bits per second.
        assert_eq!(sender.segment(us(110), us(80), CE), 4_199_999_999);
        assert_eq!(sender.segment(us(111), us(80), NONE), 4_209_999_999);
        // 1 - 0.8 (1 - 50 / 62.5) = 0.84.
        assert_eq!(sender.segment(us(190), Time::from_ns(62_500), CE), 3_536_399_999);
    }

    #[test]
    fn a_ce_below_t_low_holds() {
        let mut sender = Sender::new();
        sender.segment(us(10), us(105), NONE);
        assert_eq!(sender.segment(us(20), us(50), CE), 8_000_000_000);
        assert_eq!(sender.segment(us(30), us(40), CE), 8_000_000_000);
        // It was no cut: the next is not put off.
        assert_eq!(sender.segment(us(31), us(40), NONE), 8_010_000_000);
        assert_eq!(sender.segment(us(40), us(1000), CE), 4_806_000_000);
    }

    #[test]
    fn where_timely_cuts_a_ce_adds_nothing() {
        let mut sender = Sender::new();
        assert_eq!(sender.segment(us(10), us(105), CE), 8_000_000_000);
        assert_eq!(sender.segment(us(11), us(110), CE), 6_400_000_000, "at each completion");
    }

    #[test]
    fn the_gravest_echo_of_a_segment_counts() {
        let mut sender = Sender::new();
        for echo in [NONE, CE, UE] {
            sender.ack(1000, us(10), us(100), echo);
        }
        assert_eq!(sender.ack(13_000, us(10), us(100), NONE), 6_000_000_000);
        // And is forgotten after it.
        assert_eq!(sender.segment(us(200), us(100), NONE), 6_010_000_000);
        sender.ack(1000, us(300), us(100), UE);
        assert_eq!(sender.ack(15_000, us(300), us(100), NONE), 6_010_000_000);
    }

    #[test]
    fn parameters_are_those_of_both_parts_and_checked() {
        let line = Rate::from_gbps(40);
        assert_eq!(<TimelyTcd as Scheme>::Params::specs().len(), 12 + 2);
        let set = [("t_low".to_owned(), Value::Time(us(600)))];
        let refused = params_of::<TimelyTcd>("timely-hpcc+tcd", line, &set);
        assert!(matches!(refused, Err(ParamError::Conflict("t_low", _))), "{refused:?}");
    }
}

mod hpcc {
    use super::*;

    const LINE: Rate = Rate::from_gbps(100);

    /// Two records of a port without a queue: time in us, bytes sent.
    fn records(time: u64, tx_bytes: u64) -> IntStack<5> {
        let mut stack = IntStack::default();
        stack.push(NodeId::new(0), PortId::new(1), record(LINE, us(time), tx_bytes, 0));
        stack
    }

    /// 100 Gb/s, T = 8 us, W_AI 50 B; each ACK ends a round trip of 8 us in which the port sent 120
    /// % of what it can.
    #[test]
    fn a_ue_does_not_cut() {
        let params = hpcc_tcd::presets::paper(LINE);
        let path =
            PathFacts { switches: 1, packet_bytes: Bytes::new(1124), ..testing::path(LINE, us(8)) };
        let mut rp = OverloadMaskingReactionPoint::<5>::open(&params, &mut (), &path, us(0));
        let mut round = 0;
        let mut window_after = |echo| {
            round += 1;
            let meta = records(8 * round, 120_000 * round);
            let ack = Ack {
                next_expected: 100_000 * round + 1,
                newly_acked: Bytes::new(1000),
                newly_lost: Bytes::ZERO,
                next_to_send: 100_000 * (round + 1),
                nack: false,
                echo,
                rtt: us(9),
                meta: &meta,
            };
            let now = us(8 * round + 2);
            let mut outbox = Vec::new();
            let mut cx = HostCx { now, params: &params, host: &mut (), outbox: &mut outbox };
            rp.on_ack(&mut cx, &ack);
            (
                rp.observe(now, SenderMetric::Window).unwrap(),
                rp.observe(now, SenderMetric::Alpha).unwrap(),
            )
        };
        // The first only stores.
        assert_eq!(window_after(EcnCodePoint::NotMarked), (100_000.0, 1.0));
        let close = |(window, u): (f64, f64), expected: f64, load: f64| {
            assert!((window - expected).abs() < 1e-6, "{window}, not {expected}");
            assert!((u - load).abs() < 1e-12, "{u}, not {load}");
        };
        let cut = 100_000.0 * 0.95 / 1.2 + 50.0;
        close(window_after(EcnCodePoint::NotMarked), cut, 1.2);
        close(window_after(EcnCodePoint::Undetermined), cut + 50.0, 0.95);
        let again = (cut + 50.0) * 0.95 / 1.2 + 50.0;
        close(window_after(EcnCodePoint::CongestionExperienced), again, 1.2);
    }
}
