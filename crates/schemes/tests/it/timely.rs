//! TIMELY against sequences worked out by hand from its Algorithm 1, and against the HPCC
//! simulator's own output.

use schemes::contract::{Ack, EcnCodePoint, HostCx, PathFacts, Rp};
use schemes::params::ParamError;
use schemes::rate_window::WindowMode;
use schemes::registry::params_of;
use schemes::testing;
use schemes::timely::{self, ReactionPoint, Timely, TimelyParams};
use units::{Bytes, Rate, Time};

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn ns(n: u64) -> Time {
    Time::from_ns(n)
}

fn path(line_rate: Rate) -> PathFacts {
    PathFacts { packet_bytes: Bytes::new(1090), ..testing::path(line_rate, us(8)) }
}

/// A reaction point with its parameters and place in the stream.
struct Sender {
    params: TimelyParams,
    rp: ReactionPoint,
    acknowledged: u64,
}

impl Sender {
    fn with(params: TimelyParams, line_rate: Rate) -> Sender {
        let rp = ReactionPoint::new(&params, &path(line_rate));
        Sender { params, rp, acknowledged: 0 }
    }
    fn new(preset: &str, gbps: u64) -> Sender {
        let line_rate = Rate::from_gbps(gbps);
        Sender::with(params_of::<Timely>(preset, line_rate, &[]).unwrap(), line_rate)
    }
    /// An ACK for `bytes` more with `ahead` bytes under way beyond it; the rate after it.
    fn ack(&mut self, bytes: u64, ahead: u64, rtt: Time) -> u64 {
        self.acknowledged += bytes;
        let (acknowledged, sent) = (self.acknowledged, self.acknowledged + ahead);
        self.rp.acknowledge(&self.params, acknowledged, sent, rtt);
        self.rp.limits().rate.bps()
    }
    /// An ACK that makes an update, in both forms.
    fn update(&mut self, rtt: Time) -> u64 {
        self.ack(16_000, 15_999, rtt)
    }
    /// Brings the rate down to its floor by round trips of 1 ms. From then on the gradient is that
    /// of the newest round trip alone.
    fn floored(mut self) -> Sender {
        self.update(us(8));
        let floor = self.params.min_rate.bps();
        while self.update(us(1000)) > floor {}
        self.params.ewma_weight = 1.0;
        self.update(us(1000));
        self
    }
}

mod paper {
    use super::*;

    #[test]
    fn a_flow_begins_at_line_rate_and_the_first_round_trip_is_only_remembered() {
        let mut sender = Sender::new("timely-paper", 10);
        assert_eq!(sender.rp.limits().rate, Rate::from_gbps(10));
        assert_eq!(sender.rp.limits().window, Bytes::UNLIMITED);
        assert_eq!(sender.update(us(900)), 10_000_000_000);
        assert_eq!(sender.rp.gradient(&sender.params), 0.0);
    }

    #[test]
    fn an_update_takes_a_segment() {
        let mut sender = Sender::new("timely-paper", 10);
        sender.update(us(100));
        // A round trip of 600 us: 1 - 0.8 (1 - 500/600) = 0.8666..
        for _ in 0..15 {
            assert_eq!(sender.ack(1000, 64_000, us(600)), 10_000_000_000);
        }
        assert_eq!(sender.ack(1000, 64_000, us(600)), 8_666_666_666);
    }

    #[test]
    fn between_the_thresholds_a_rising_gradient_cuts() {
        let mut sender = Sender::new("timely-paper", 10);
        sender.update(us(100));
        // 4 us more: 0.875 * 4 us / 20 us = 0.175; 1 - 0.8 * 0.175 = 0.86.
        assert_eq!(sender.update(us(104)), 8_600_000_000);
        assert_eq!(sender.rp.gradient(&sender.params), 0.175);
        // No change: 0.125 * 0.175 = 0.021875; 0.9825 is left.
        assert_eq!(sender.update(us(104)), 8_449_500_000);
        // 20 us less: 0.125 * 0.021875 - 0.875; delta is 10 Mb/s.
        assert_eq!(sender.update(us(84)), 8_459_500_000);
    }

    #[test]
    fn a_steep_gradient_stops_at_the_lowest_rate() {
        let mut sender = Sender::new("timely-paper", 10);
        sender.update(us(60));
        // 0.875 * 40 / 20 = 1.75: the factor is -0.4.
        assert_eq!(sender.update(us(100)), 100_000_000);
        // A port slower than the floor is not sped up.
        let params = TimelyParams { min_rate: Rate::from_gbps(50), ..sender.params };
        let mut slow = Sender::with(params, Rate::from_gbps(10));
        slow.update(us(60));
        assert_eq!(slow.update(us(100)), 10_000_000_000);
    }

    #[test]
    fn the_fifth_completion_without_growth_is_hyperactive() {
        let mut sender = Sender::new("timely-paper", 10).floored();
        // The first is 900 us shorter, the rest the same: gradients below and at zero.
        let rates: Vec<u64> = (0..7).map(|_| sender.update(us(100)) / 1_000_000).collect();
        assert_eq!(rates, [110, 120, 130, 140, 190, 240, 290]);
        // A longer one ends the run, and so does one below T_low.
        sender.update(us(101));
        let before = sender.update(us(100));
        assert_eq!(sender.update(us(40)) - before, 10_000_000);
        let steps = [50, 50, 50, 50, 50, 50].map(|rtt| {
            let before = sender.rp.limits().rate.bps();
            sender.update(us(rtt)).saturating_sub(before) / 1_000_000
        });
        // From 40 to 50 us is a rise, which cuts.
        assert_eq!(steps, [0, 10, 10, 10, 10, 50]);
    }

    #[test]
    fn below_t_low_the_gradient_does_not_matter() {
        let mut sender = Sender::new("timely-paper", 10).floored();
        sender.update(us(10));
        let rates: Vec<u64> =
            [20, 30, 40, 49, 20, 30, 40, 49].map(|rtt| sender.update(us(rtt)) / 1_000_000).into();
        assert_eq!(rates, [120, 130, 140, 150, 160, 170, 180, 190], "never hyperactive");
    }

    #[test]
    fn the_rate_ends_at_the_line() {
        let mut sender = Sender::new("timely-paper", 10).floored();
        for _ in 0..400 {
            sender.update(us(100));
        }
        assert_eq!(sender.rp.limits().rate, Rate::from_gbps(10));
    }
}

mod ns3 {
    use super::*;

    /// Two flows of 50 MB into one 100G port, the second 300 us after the first, as run.py's
    /// `timely`: the first one's rates. Round trips are from a model of that network that gives the
    /// simulator's flow completion times to the nanosecond.
    #[test]
    fn the_hpcc_simulators_rates_to_the_bit() {
        let mut sender = Sender::new("timely-hpcc", 100);
        // The other flow begins: the queue grows at the line rate, and the rate falls to its floor.
        for (rtt, mbps) in
            [(12_352, 100_000), (23_188, 100_000), (46_456, 100_000), (92_992, 1_000)]
        {
            assert_eq!(sender.update(ns(rtt)), mbps * 1_000_000, "{rtt} ns");
        }
        assert_eq!(sender.update(ns(186_064)), 1_000_000_000);
        // Five steps of 100 Mb/s, then steps of 500 Mb/s, as long as round trips stay below 50 us.
        for step in 1..=102 {
            let mbps = if step <= 5 { 1_000 + 100 * step } else { 1_500 + 500 * (step - 5) };
            assert_eq!(sender.update(ns(12_352)), mbps * 1_000_000);
        }
        let rising = [
            12_416, 12_388, 12_379, 12_607, 12_831, 13_227, 13_807, 14_590, 15_529, 16_645, 17_965,
            19_651, 21_647, 24_089, 27_083, 30_659, 35_027, 40_509, 47_109,
        ];
        for rtt in rising {
            sender.update(ns(rtt));
        }
        assert_eq!(sender.rp.limits().rate, Rate::from_mbps(59_500));
        let then = [
            (55_191, 40_752_997_020),
            (64_767, 25_489_187_756),
            // Still above T_low, but falling.
            (52_056, 25_589_187_756),
            (26_050, 25_689_187_756),
            (13_084, 25_789_187_756),
            (12_396, 25_889_187_756),
            (12_352, 25_989_187_756),
            // The sixth increase in a row.
            (12_352, 26_489_187_756),
        ];
        for (rtt, bps) in then {
            assert_eq!(sender.update(ns(rtt)), bps, "{rtt} ns");
        }
    }

    #[test]
    fn an_update_takes_a_round_trip() {
        let mut sender = Sender::new("timely-hpcc", 100);
        // 99 000 bytes are under way when the first ACK arrives: the next update is by a byte
        // beyond.
        sender.ack(1000, 99_000, us(8));
        for _ in 0..99 {
            assert_eq!(sender.ack(1000, 99_000, us(600)), 100_000_000_000);
        }
        assert_eq!(sender.ack(1000, 99_000, us(600)), 86_666_666_666);
    }

    #[test]
    fn after_a_nack_the_next_round_trip_begins_where_the_sender_went_back_to() {
        let mut sender = Sender::new("timely-hpcc", 100);
        sender.ack(1000, 9_000, us(100));
        let mut outbox = Vec::new();
        let params = sender.params.clone();
        let mut cx = HostCx { now: us(1), params: &params, host: &mut (), outbox: &mut outbox };
        let mut ack: Ack<'_, Timely> = Ack {
            next_expected: 11_000,
            newly_acked: Bytes::new(10_000),
            newly_lost: Bytes::ZERO,
            next_to_send: 21_000,
            nack: true,
            echo: EcnCodePoint::NotMarked,
            rtt: us(104),
            meta: &(),
        };
        sender.rp.on_ack(&mut cx, &ack);
        assert_eq!(sender.rp.limits().rate, Rate::from_gbps(86));
        (ack.next_expected, ack.nack) = (11_001, false);
        sender.rp.on_ack(&mut cx, &ack);
        assert_eq!(sender.rp.limits().rate, Rate::from_bps(84_495_000_000));
    }

    #[test]
    fn the_window_follows_the_rate() {
        let line_rate = Rate::from_gbps(100);
        let params = TimelyParams { window: WindowMode::Bdp, ..timely::presets::hpcc(line_rate) };
        let mut sender = Sender::with(params, line_rate);
        // 100 Gb/s times 8 us: 100 KB.
        assert_eq!(sender.rp.limits().window, Bytes::new(100_000));
        sender.update(us(100));
        sender.update(us(104));
        assert_eq!(sender.rp.limits().window, Bytes::new(86_000));
        let sender = sender.floored();
        assert_eq!(sender.rp.limits().window, Bytes::new(1000), "room for a packet");
    }
}

#[test]
fn increases_scale_with_the_port_rate() {
    for preset in ["timely-paper", "timely-hpcc"] {
        let at = |gbps| params_of::<Timely>(preset, Rate::from_gbps(gbps), &[]).unwrap();
        assert_eq!(at(10).rate_ai, Rate::from_mbps(10));
        assert_eq!(at(10).rate_hai, Rate::from_mbps(50));
        assert_eq!(at(100).rate_ai, Rate::from_mbps(100));
        assert_eq!(at(100).rate_hai, Rate::from_mbps(500));
    }
}

#[test]
fn thresholds_must_be_in_order() {
    let low = [("t_low".to_owned(), schemes::params::Value::Time(us(600)))];
    let refused = params_of::<Timely>("timely-paper", Rate::from_gbps(10), &low);
    assert!(matches!(refused, Err(ParamError::Conflict("t_low", _))), "{refused:?}");
}
