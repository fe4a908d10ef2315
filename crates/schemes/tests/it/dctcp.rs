//! DCTCP against windows worked out by hand from its equations, and against the HPCC simulator's
//! own output.

use schemes::contract::{PathFacts, Rp, SenderMetric};
use schemes::dctcp::{self, Dctcp, DctcpParams, ReactionPoint};
use schemes::rate_window::WindowMode;
use schemes::registry::params_of;
use schemes::testing;
use units::{Bytes, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);

fn us(n: u64) -> Time {
    Time::from_us(n)
}

/// A BDP of 100 KB.
fn path() -> PathFacts {
    testing::path(LINE, us(8))
}

fn begun(preset: &str) -> ReactionPoint {
    ReactionPoint::new(&params_of::<Dctcp>(preset, LINE, &[]).unwrap(), &path())
}

#[track_caller]
fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-9, "{got}, not {expected}");
}

mod paper {
    use super::*;

    /// A sender that keeps its window full of packets of 1000 bytes.
    struct Sender {
        rp: ReactionPoint,
        acknowledged: u64,
        sent: u64,
    }

    impl Sender {
        fn new() -> Sender {
            Sender { rp: begun("dctcp-paper"), acknowledged: 0, sent: 100_000 }
        }
        fn window(&self) -> u64 {
            self.rp.limits().window.get()
        }
        /// Acknowledges `count` packets, the first `marked` of them with a mark.
        fn acks(&mut self, count: u64, marked: u64) -> &mut Sender {
            for packet in 0..count {
                self.acknowledged += 1000;
                let mark = packet < marked;
                self.rp.acknowledge(self.acknowledged, 1000, self.sent, mark);
                while self.sent < self.acknowledged + self.window() {
                    self.sent += 1000;
                }
            }
            self
        }
    }

    #[test]
    fn a_flow_begins_with_the_bdp_at_line_rate() {
        let sender = Sender::new();
        assert_eq!(sender.window(), 100_000);
        assert!(sender.rp.limits().rate > LINE, "the window alone limits");
        assert_eq!(sender.rp.alpha(), 1.0);
    }

    #[test]
    fn a_full_window_without_marks_adds_a_packet() {
        let mut sender = Sender::new();
        // The first ACK begins the count of windows; its own was full.
        assert_eq!(sender.acks(1, 0).window(), 101_000);
        assert_eq!(sender.acks(99, 0).window(), 101_000);
        assert_eq!(sender.acks(1, 0).window(), 102_000);
        // A window on, F = 0: alpha lost a sixteenth.
        close(sender.rp.alpha(), 0.9375);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut rp = begun("dctcp-paper");
        for packet in 1..1000 {
            // Never more than 50 packets under way.
            rp.acknowledge(packet * 1000, 1000, packet * 1000 + 49_000, false);
        }
        assert_eq!(rp.limits().window, Bytes::new(100_000));
    }

    #[test]
    fn a_mark_cuts_once_per_window_by_half_of_alpha() {
        let mut sender = Sender::new();
        // alpha = 1 halves.
        assert_eq!(sender.acks(1, 1).window(), 50_000);
        // What was under way comes back marked: 99 ACKs up to byte 100 000, and no further cut.
        assert_eq!(sender.acks(99, 99).window(), 50_000);
        // The first beyond: the cut's window is over, F = 1, alpha stays 1, and it cuts again.
        assert_eq!(sender.acks(1, 1).window(), 25_000);
        close(sender.rp.alpha(), 1.0);
    }

    #[test]
    fn alpha_is_the_average_share_of_marked_bytes() {
        let mut sender = Sender::new();
        sender.acks(1, 0);
        // 100 packets from the second to the first beyond byte 100 000: 25 are marked. The first of
        // them cuts with alpha 1, of 101 000 bytes.
        sender.acks(100, 25);
        close(sender.rp.alpha(), 0.9375 + 0.25 / 16.0);
        assert_eq!(sender.window(), 50_500);
    }

    #[test]
    fn the_window_keeps_room_for_a_packet() {
        let mut sender = Sender::new();
        sender.acks(2000, 2000);
        assert_eq!(sender.window(), 1000);
    }
}

mod ns3 {
    use super::*;

    /// A flow of 10 MB at 100G, into whose way an incast of 16 comes at 100 us, as run.py's
    /// `dctcp`: its rates. ACKs and their marks are from a model of that network that gives the
    /// simulator's flow completion times to the nanosecond.
    #[test]
    fn the_hpcc_simulators_rates_to_the_bit() {
        let mut rp = begun("dctcp-hpcc");
        // A round trip takes 76 packets. The first ACK counts for nothing, 15 round trips follow.
        for round in 0..16 {
            let acknowledged = 1000 + 76_000 * round;
            rp.acknowledge(acknowledged, 1000, acknowledged + 75_000, false);
        }
        let alpha = 0.9375_f64.powi(15);
        close(rp.alpha(), alpha);
        let rate = |rp: &ReactionPoint| rp.limits().rate.bps();
        assert_eq!(rate(&rp), 100_000_000_000);
        // Packets come back marked: one cut.
        rp.acknowledge(1_209_000, 1000, 1_274_000, true);
        assert_eq!(rate(&rp), 81_009_379_709);
        // The ninth marked ACK ends the round trip, which had 75 packets under way at its
        // beginning.
        for packet in 1210..=1217 {
            rp.acknowledge(packet * 1000, 1000, 1_274_000, true);
        }
        let alpha = 0.9375 * alpha + 9.0 / 76.0 / 16.0;
        close(rp.alpha(), alpha);
        for packet in 1218..=1241 {
            rp.acknowledge(packet * 1000, 1000, 1_290_000, true);
        }
        assert_eq!(rate(&rp), 81_009_379_709);
        // The cut is over, and 615 Mb/s are added for each round trip.
        rp.acknowledge(1_275_000, 1000, 1_338_000, false);
        assert_eq!(rate(&rp), 81_624_379_709);
        close(rp.alpha(), 0.9375 * alpha + 24.0 / 58.0 / 16.0);
        rp.acknowledge(1_338_000, 1000, 1_399_000, false);
        assert_eq!(rate(&rp), 81_624_379_709);
        rp.acknowledge(1_339_000, 1000, 1_400_000, false);
        assert_eq!(rate(&rp), 82_239_379_709);
    }

    #[test]
    fn rate_and_window_have_bounds() {
        let mut rp = begun("dctcp-hpcc");
        assert_eq!(rp.limits().window, Bytes::new(100_000));
        for round in 1..100 {
            rp.acknowledge(round * 1000, 1000, round * 1000 + 500, true);
        }
        assert_eq!(rp.limits().rate, Rate::from_mbps(1000));
        assert_eq!(rp.limits().window, Bytes::new(1000));
        for round in 100..400 {
            rp.acknowledge(round * 1000, 1000, round * 1000 + 500, false);
        }
        assert_eq!(rp.limits().rate, LINE);
        assert_eq!(rp.limits().window, Bytes::new(100_000));
        let params = DctcpParams { window: WindowMode::None, ..dctcp::presets::hpcc(LINE) };
        let rp = ReactionPoint::new(&params, &path());
        assert_eq!(rp.limits().window, Bytes::UNLIMITED);
        assert_eq!(Rp::<Dctcp>::observe(&rp, us(1), SenderMetric::Window), None);
    }
}
