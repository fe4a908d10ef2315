//! DCQCN against sequences worked out by hand from the paper, and against the HPCC simulator's own
//! output.

use proptest::prelude::*;
use schemes::contract::{EcnCodePoint, PathFacts, Rp, RpTimer, SenderMetric};
use schemes::dcqcn::{self, Dcqcn, DcqcnParams, NotificationPoint, ReactionPoint};
use schemes::registry::params_of;
use schemes::testing;
use units::{Bytes, Rate, Time};

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn path(line_rate: Rate) -> PathFacts {
    testing::path(line_rate, us(8))
}

fn with(params: &DcqcnParams, line_rate: Rate) -> ReactionPoint {
    ReactionPoint::new(params, &path(line_rate))
}

fn preset(name: &str, gbps: u64) -> ReactionPoint {
    let line_rate = Rate::from_gbps(gbps);
    with(&params_of::<Dcqcn>(name, line_rate, &[]).unwrap(), line_rate)
}

/// Rate and target at `now`, in Mb/s, which must be whole.
#[track_caller]
fn rates(rp: &mut ReactionPoint, now: Time) -> (u64, u64) {
    rp.advance_to(now);
    let mbps = |rate: Rate| {
        assert_eq!(rate.bps() % 1_000_000, 0, "{rate}");
        rate.bps() / 1_000_000
    };
    (mbps(rp.rate()), mbps(rp.target_rate()))
}

/// The rate at `now` in bits per second.
fn rate(rp: &mut ReactionPoint, now: Time) -> u64 {
    rp.advance_to(now);
    rp.rate().bps()
}

mod paper {
    use super::*;

    #[test]
    fn nothing_limits_a_flow_before_its_first_cnp() {
        let mut rp = preset("dcqcn-paper", 40);
        rp.count_bytes(us(500), 50_000_000);
        assert_eq!(rates(&mut rp, us(1000)), (40_000, 40_000));
        assert_eq!(rp.alpha(us(1000)), 1.0);
    }

    #[test]
    fn the_first_cnp_halves_the_rate() {
        let mut rp = preset("dcqcn-paper", 40);
        rp.notify(us(10));
        assert_eq!(rates(&mut rp, us(10)), (20_000, 40_000));
        // (1 - g) 1 + g = 1.
        assert_eq!(rp.alpha(us(10)), 1.0);
    }

    #[test]
    fn alpha_decays_every_55_us_of_silence() {
        let mut rp = preset("dcqcn-paper", 40);
        rp.notify(us(10));
        assert_eq!(rp.alpha(Time::from_ns(64_999)), 1.0);
        assert_eq!(rp.alpha(us(65)), 0.996_093_75);
        assert_eq!(rp.alpha(us(120)), 0.996_093_75 * 0.996_093_75);
    }

    #[test]
    fn a_cut_uses_the_alpha_of_before_and_lowers_the_target() {
        let mut rp = preset("dcqcn-paper", 40);
        rp.notify(us(10));
        rp.notify(us(66));
        // At 65 us the timer brought 20 to 30 Gb/s and alpha to 255/256: the factor is
        // 1 - 255/512 = 0.501953125.
        assert_eq!(rate(&mut rp, us(66)), 15_058_593_750);
        assert_eq!(rp.target_rate(), Rate::from_gbps(30));
        // 255/256 * 255/256 + 1/256.
        assert_eq!(rp.alpha(us(66)), 0.996_109_008_789_062_5);
    }

    #[test]
    fn a_cnp_comes_before_the_timers_of_its_instant() {
        let mut rp = preset("dcqcn-paper", 40);
        rp.notify(us(10));
        rp.notify(us(65));
        assert_eq!(rates(&mut rp, us(65)), (10_000, 20_000));
        assert_eq!(rates(&mut rp, us(119)), (10_000, 20_000));
        assert_eq!(rates(&mut rp, us(120)), (15_000, 20_000));
    }

    #[test]
    fn fast_recovery_halves_the_gap_five_times() {
        let mut rp = preset("dcqcn-paper", 40);
        rp.notify(us(0));
        let steps = [(55, 30_000), (110, 35_000), (165, 37_500), (220, 38_750), (275, 39_375)];
        for (at, mbps) in steps {
            assert_eq!(rates(&mut rp, us(at)), (mbps, 40_000));
        }
    }

    /// RC 10, RT 20 Gb/s at 1 us.
    fn cut_twice() -> ReactionPoint {
        let mut rp = preset("dcqcn-paper", 40);
        rp.notify(us(0));
        rp.notify(us(1));
        assert_eq!(rates(&mut rp, us(1)), (10_000, 20_000));
        rp
    }

    #[test]
    fn then_the_target_rises_additively_and_no_faster_without_the_byte_counter() {
        let mut rp = cut_twice();
        // The gap of 10 Gb/s after five halvings: 312.5 Mb/s.
        assert_eq!(rate(&mut rp, us(276)), 19_687_500_000);
        assert_eq!(rp.target_rate(), Rate::from_gbps(20));
        assert_eq!(rate(&mut rp, us(331)), 19_863_750_000);
        assert_eq!(rp.target_rate(), Rate::from_mbps(20_040));
        assert_eq!(rate(&mut rp, us(386)), 19_971_875_000);
        // Fifteen more.
        rp.advance_to(us(386 + 15 * 55));
        assert_eq!(rp.target_rate(), Rate::from_mbps(20_080 + 15 * 40));
    }

    #[test]
    fn the_byte_counter_recovers_too() {
        let mut rp = preset("dcqcn-paper", 40);
        rp.notify(us(0));
        rp.count_bytes(us(1), 9_999_999);
        assert_eq!(rates(&mut rp, us(1)), (20_000, 40_000));
        rp.count_bytes(us(2), 1);
        assert_eq!(rates(&mut rp, us(2)), (30_000, 40_000));
        // Two steps at once, the timer's on top of it.
        rp.count_bytes(us(60), 20_000_000);
        assert_eq!(rates(&mut rp, us(60)), (38_750, 40_000));
        // A CNP restarts the byte counter.
        rp.count_bytes(us(61), 9_999_999);
        rp.notify(us(62));
        let after_cut = rate(&mut rp, us(62));
        rp.count_bytes(us(63), 9_999_999);
        assert_eq!(rate(&mut rp, us(63)), after_cut);
    }

    #[test]
    fn both_counters_beyond_f_make_the_target_rise_ever_faster() {
        let mut rp = cut_twice();
        for _ in 0..5 {
            rp.count_bytes(us(2), 10_000_000);
        }
        assert_eq!(rate(&mut rp, us(2)), 19_687_500_000);
        // BC = 5, TC = 0: additive.
        rp.count_bytes(us(2), 10_000_000);
        assert_eq!(rate(&mut rp, us(2)), 19_863_750_000);
        // Timer steps with max(TC, BC) = 6, min(TC, BC) = 0 to 5: additive.
        let additive = [
            (56, 19_971_875_000),
            (111, 20_045_937_500),
            (166, 20_102_968_750),
            (221, 20_151_484_375),
            (276, 20_195_742_188),
            (331, 20_237_871_094),
        ];
        for (at, bps) in additive {
            assert_eq!(rate(&mut rp, us(at)), bps, "at {at} us");
        }
        assert_eq!(rp.target_rate(), Rate::from_mbps(20_280));
        // TC = BC = 6: hyper increase, i = 1, by 400 Mb/s.
        assert_eq!(rate(&mut rp, us(386)), 20_458_935_547);
        assert_eq!(rp.target_rate(), Rate::from_mbps(20_680));
        // TC = 7, BC = 6: i = 1 still.
        rp.count_bytes(us(387), 10_000_000);
        assert_eq!(rp.rate(), Rate::from_bps(20_769_467_774));
        // Both 7: i = 2.
        assert_eq!(rate(&mut rp, us(441)), 21_324_733_887);
        assert_eq!(rp.target_rate(), Rate::from_mbps(21_880));
    }

    #[test]
    fn recovery_ends_at_line_rate() {
        let mut rp = preset("dcqcn-paper", 40);
        rp.notify(us(0));
        assert_eq!(rates(&mut rp, Time::from_ms(10)), (40_000, 40_000));
        // Ten seconds, 182 000 timer periods of silence: alpha is gone, the next cut is none.
        let late = Time::from_ms(10_000);
        assert_eq!(rp.alpha(late), 0.0);
        rp.notify(late);
        assert_eq!(rates(&mut rp, late), (40_000, 40_000));
        assert_eq!(rp.alpha(late), 1.0 / 256.0);
    }

    #[test]
    fn the_rate_has_a_floor() {
        let mut rp = preset("dcqcn-paper", 40);
        for at in 0..20 {
            rp.notify(us(at));
        }
        assert_eq!(rp.rate(), Rate::from_mbps(100));
        // A port slower than the floor is not sped up.
        let mut slow = DcqcnParams { min_rate: Rate::from_gbps(50), ..params() };
        slow.alpha_timer = us(1);
        let mut rp = with(&slow, Rate::from_gbps(40));
        rp.notify(us(1));
        assert_eq!(rp.rate(), Rate::from_gbps(40));
    }

    fn params() -> DcqcnParams {
        dcqcn::presets::paper(Rate::from_gbps(40))
    }

    #[test]
    fn a_target_that_is_not_clamped_survives_back_to_back_cuts() {
        let params = DcqcnParams { clamp_target: false, ..params() };
        let mut rp = with(&params, Rate::from_gbps(40));
        rp.notify(us(0));
        rp.notify(us(1));
        assert_eq!(rates(&mut rp, us(1)), (10_000, 40_000));
        // 56 us: an increase. The next cut lowers the target.
        assert_eq!(rates(&mut rp, us(56)), (25_000, 40_000));
        rp.notify(us(57));
        assert_eq!(rp.target_rate(), Rate::from_gbps(25));
    }

    #[test]
    fn nothing_changes_the_rate_while_it_is_held() {
        let mut rp = preset("dcqcn-paper", 40);
        rp.notify(us(0));
        rp.hold(us(10), us(100));
        rp.notify(us(20));
        rp.count_bytes(us(30), 30_000_000);
        assert_eq!(rates(&mut rp, us(99)), (20_000, 40_000));
        // The timer ran on: the step due at 55 us is lost, that of 110 us is the first.
        assert_eq!(rates(&mut rp, us(110)), (30_000, 40_000));
        rp.notify(us(111));
        assert_eq!(rp.target_rate(), Rate::from_gbps(30));
    }

    #[test]
    fn no_timer_is_asked_for() {
        let mut rp = preset("dcqcn-paper", 40);
        rp.notify(us(0));
        assert_eq!(RpTimer::<Dcqcn>::next_timer(&rp), Time::NEVER);
    }
}

mod mellanox {
    use super::*;

    /// `cases/hpcc-ns3/dumbbell/dcqcn_ts`: the rates of flow 0, two flows of 50 MB into one 100G
    /// port, `ts_rate.txt`. Its file of rates does not say when marks arrived; exactly one pattern
    /// of marked microseconds gives these rates to the bit, and here it is.
    #[test]
    fn the_hpcc_simulators_rates_to_the_bit() {
        let mut rp = preset("dcqcn-hpcc", 100);
        let start = us(352);
        rp.notify(start);
        assert_eq!(rates(&mut rp, start), (100_000, 100_000));
        let marked = [4, 8, 17, 22, 23, 26, 28, 30];
        let cuts = [
            (4, 50_776_684_272),
            (8, 26_072_949_528),
            (12, 13_534_723_408),
            (16, 13_534_723_408),
            (20, 7_200_416_737),
            (24, 3_854_865_957),
            (28, 2_084_090_987),
            (32, 1_133_534_536),
        ];
        let mut marks = marked.iter().map(|at| start + us(*at) + Time::from_ns(500)).peekable();
        for (at, bps) in cuts {
            let now = start + us(at);
            while let Some(mark) = marks.next_if(|mark| *mark < now) {
                rp.notify(mark);
            }
            assert_eq!(rate(&mut rp, now), bps, "{at} us after the first mark");
        }
        // One more mark and the floor; the target stayed at line rate through all these cuts.
        rp.notify(us(386));
        assert_eq!(rates(&mut rp, us(388)), (1_000, 100_000));
        // The increase timer, 300 us: to half way, and half way again.
        assert_eq!(rates(&mut rp, us(687)), (1_000, 100_000));
        assert_eq!(rates(&mut rp, us(688)), (50_500, 100_000));
        assert_eq!(rates(&mut rp, us(988)), (75_250, 100_000));
    }

    #[test]
    fn the_first_notification_cuts_only_at_the_check() {
        let mut rp = preset("dcqcn-hpcc", 100);
        rp.notify(us(10));
        assert_eq!(rates(&mut rp, Time::from_ns(13_999)), (100_000, 100_000));
        assert!(rate(&mut rp, us(14)) < 51_000_000_000);
    }

    #[test]
    fn a_check_hears_the_notification_of_its_instant() {
        let mut rp = preset("dcqcn-hpcc", 100);
        rp.notify(us(10));
        let once = rate(&mut rp, us(17));
        rp.notify(us(18));
        assert_eq!(rp.rate().bps(), once);
        assert!(rate(&mut rp, us(18)) < once);
    }

    #[test]
    fn a_check_without_notification_does_nothing() {
        let mut rp = preset("dcqcn-hpcc", 100);
        rp.notify(us(10));
        let once = rate(&mut rp, us(14));
        assert_eq!(rate(&mut rp, us(100)), once);
    }

    #[test]
    fn the_firmwares_first_notification_leaves_85_per_cent() {
        let mut rp = preset("dcqcn-mlx", 100);
        rp.notify(us(10));
        assert_eq!(rates(&mut rp, us(10)), (85_000, 85_000));
        assert_eq!(rp.alpha(us(10)), 1023.0 / 1024.0);
        // At 14 us, after four updates without notification, by alpha (1019/1024)^4 1023/1024.
        let keep = 1019.0 / 1024.0;
        let alpha: f64 = 1023.0 / 1024.0 * keep * keep * keep * keep;
        let expected = 85e9 * (1.0 - alpha / 2.0);
        assert!((rate(&mut rp, us(14)) as f64 - expected).abs() < 1.0);
    }

    #[test]
    fn hyper_increase_is_not_multiplied() {
        let params = DcqcnParams {
            rate_ai: Rate::from_mbps(20),
            rate_hai: Rate::from_mbps(200),
            clamp_target: true,
            ..dcqcn::presets::hpcc(Rate::from_gbps(100))
        };
        let mut rp = with(&params, Rate::from_gbps(100));
        rp.notify(us(0));
        rp.notify(us(6));
        // Cuts at 4 and 8 us; the second lowers the target to what the first left.
        rp.advance_to(us(8));
        let target = rp.target_rate().bps();
        assert_eq!(target, 50_776_684_272);
        // Timer stages 0, 1 and on: fast recovery, additive, hyper, hyper.
        for (at, more) in [(308, 0), (608, 20), (908, 220), (1208, 420)] {
            rp.advance_to(us(at));
            assert_eq!(rp.target_rate().bps() - target, more * 1_000_000, "at {at} us");
        }
    }

    #[test]
    fn an_increase_comes_before_the_cut_of_its_instant() {
        let mut rp = preset("dcqcn-hpcc", 100);
        rp.notify(us(0));
        // The first cut, at 4 us, starts the timer; 304 us is also a check.
        let cut = rate(&mut rp, us(4));
        rp.notify(us(302));
        rp.advance_to(us(304));
        // So the rate that the cut takes as its target is the raised one.
        assert_eq!(rp.target_rate().bps(), (cut + 100_000_000_000) / 2);
    }

    #[test]
    fn a_window_leaves_room_for_a_packet() {
        let mut rp = preset("dcqcn-themis", 100);
        for at in 0..100 {
            rp.notify(us(at));
        }
        rp.advance_to(us(100));
        // 100 Mb/s of 100 Gb/s would be 100 bytes.
        assert_eq!(rp.rate(), Rate::from_mbps(100));
        assert_eq!(rp.limits().window, Bytes::new(1000));
    }

    #[test]
    fn the_window_follows_the_rate() {
        // 100 Gb/s times 8 us: 100 KB.
        let mut rp = preset("dcqcn-themis", 100);
        assert_eq!(rp.limits().window, Bytes::new(100_000));
        assert_eq!(rp.next_window(), Time::NEVER);
        rp.notify(us(0));
        assert_eq!(rp.next_window(), us(4), "the cut is not seen before, but then");
        rp.advance_to(us(4));
        // 50 776 684 272 b/s of 100 Gb/s.
        assert_eq!(rp.limits().window, Bytes::new(50_776));
        assert_eq!(rp.next_window(), us(904));
        rp.advance_to(us(904));
        assert_eq!(rp.limits().window, Bytes::new(75_388));
        assert_eq!(rp.next_window(), us(1804));
    }
}

#[test]
fn presets_scale_with_the_port_rate() {
    let at = |name, gbps| params_of::<Dcqcn>(name, Rate::from_gbps(gbps), &[]).unwrap();
    assert_eq!(at("dcqcn-paper", 40).rate_ai, Rate::from_mbps(40));
    assert_eq!(at("dcqcn-paper", 40).rate_hai, Rate::from_mbps(400));
    assert_eq!(at("dcqcn-paper", 100).rate_ai, Rate::from_mbps(100));
    assert_eq!(at("dcqcn-hpcc", 100).rate_ai, Rate::from_mbps(20));
    assert_eq!(at("dcqcn-hpcc", 100).rate_hai, Rate::from_mbps(200));
    assert_eq!(at("dcqcn-themis", 400).rate_ai, Rate::from_mbps(50));
    assert_eq!(at("dcqcn-mlx", 100).byte_counter, Bytes::new(2_097_088));
}

#[test]
fn the_receiver_answers_a_mark_at_most_every_50_us() {
    let marked = EcnCodePoint::CongestionExperienced;
    let params = dcqcn::presets::paper(Rate::from_gbps(40));
    let mut np = NotificationPoint::new(&params);
    assert!(!np.should_send_cnp(us(5), &params, EcnCodePoint::NotMarked));
    assert!(!np.should_send_cnp(us(6), &params, EcnCodePoint::Undetermined));
    assert!(np.should_send_cnp(us(7), &params, marked));
    assert!(!np.should_send_cnp(Time::from_ns(56_999), &params, marked));
    assert!(np.should_send_cnp(us(57), &params, marked));

    let params = dcqcn::presets::hpcc(Rate::from_gbps(40));
    assert!(!NotificationPoint::new(&params).should_send_cnp(us(7), &params, marked));
}

#[derive(Clone, Debug)]
enum Step {
    Notify,
    Send(u64),
    Hold(u64),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Notify),
        3 => (1_u64..12_000_000).prop_map(Step::Send),
        1 => (0_u64..200_000_000).prop_map(Step::Hold),
        6 => (0_u64..600_000_000).prop_map(Step::Wait),
    ]
}

proptest! {
    /// Timers are replayed when someone looks; it must not matter who looks when.
    #[test]
    fn looking_more_often_changes_nothing(
        name in proptest::sample::select(
            &["dcqcn-paper", "dcqcn-hpcc", "dcqcn-mlx", "dcqcn-themis"][..]
        ),
        steps in proptest::collection::vec(step(), 1..60),
        looks in 1_u64..20,
    ) {
        let mut seldom = preset(name, 100);
        let mut often = seldom.clone();
        let mut now = Time::ZERO;
        for step in steps {
            match step {
                Step::Notify => {
                    seldom.notify(now);
                    often.notify(now);
                }
                Step::Send(bytes) => {
                    seldom.count_bytes(now, bytes);
                    often.count_bytes(now, bytes);
                }
                Step::Hold(ps) => {
                    seldom.hold(now, now + Time::from_ps(ps));
                    often.hold(now, now + Time::from_ps(ps));
                }
                Step::Wait(ps) => {
                    // What is due now runs before the next look, as at a packet's departure.
                    seldom.advance_to(now);
                    for look in 0..=looks {
                        let then = now + Time::from_ps(ps) * look / (looks + 1);
                        often.advance_to(then);
                        let alpha = Rp::<Dcqcn>::observe(&often, then, SenderMetric::Alpha);
                        prop_assert!(alpha.is_some_and(|alpha| (0.0..=1.0).contains(&alpha)));
                    }
                    now += Time::from_ps(ps);
                }
            }
            let rp = seldom.clone();
            prop_assert_eq!(rp.alpha(now), often.alpha(now));
        }
        seldom.advance_to(now);
        often.advance_to(now);
        prop_assert_eq!(seldom.limits(), often.limits());
        prop_assert_eq!(seldom.target_rate(), often.target_rate());
    }
}
