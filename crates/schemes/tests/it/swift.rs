//! Swift's Algorithm 1 against values worked out by hand: 100 Gb/s, a round trip of 8 us over two
//! switches, packets of 1000 bytes (1082 on the wire).

use schemes::contract::{Ack, EcnCodePoint, HostCx, PathFacts, Rp, Scheme, SendLimits};
use schemes::registry::params_of;
use schemes::swift::{self, ReactionPoint, Swift, SwiftParams};
use schemes::testing;
use units::{Bytes, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);

fn us(n: u64) -> Time {
    Time::from_us(n)
}

fn path() -> PathFacts {
    testing::path(LINE, us(8))
}

/// Without flow scaling: the target is 25 us + 2 us.
fn flat() -> SwiftParams {
    SwiftParams { fs_range: Time::ZERO, ..swift::presets::bolt(LINE) }
}

#[track_caller]
fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-6 * expected.abs().max(1.0), "{got}, not {expected}");
}

#[test]
fn a_queue_pair_begins_with_what_its_path_holds() {
    let rp = ReactionPoint::new(&flat(), &path());
    // 100 000 B are 92.4 packets on the wire.
    assert_eq!(rp.limits(), SendLimits { window: Bytes::new(93_000), ..SendLimits::UNLIMITED });
    close(rp.target(), 27e6);
}

#[test]
fn below_the_target_a_round_trip_adds_a_packet() {
    let mut rp = ReactionPoint::new(&flat(), &path());
    rp.acknowledge(us(8), 1.0, us(8));
    close(rp.cwnd(), 93.0 + 1.0 / 93.0);
    // The window has 93 whole packets until 93 ACKs have come.
    assert_eq!(rp.limits().window, Bytes::new(93_000));
    for _ in 1..93 {
        rp.acknowledge(us(8), 1.0, Time::from_ps(26_999_999));
    }
    assert!((93.98..94.0).contains(&rp.cwnd()), "{}", rp.cwnd());
    // An ACK of several packets counts as several.
    let before = rp.cwnd();
    rp.acknowledge(us(9), 4.0, us(8));
    close(rp.cwnd(), before + 4.0 / before);
}

#[test]
fn above_the_target_the_excess_cuts_once_a_round_trip() {
    let mut rp = ReactionPoint::new(&flat(), &path());
    // (36 - 27) / 36 is a quarter; 1 - 0.8 / 4.
    rp.acknowledge(us(100), 1.0, us(36));
    close(rp.cwnd(), 93.0 * 0.8);
    // The average round trip is 36 us: nothing more before 136 us, whatever the delay.
    rp.acknowledge(us(120), 1.0, us(36));
    rp.acknowledge(Time::from_ps(135_999_999), 1.0, us(36));
    close(rp.cwnd(), 93.0 * 0.8);
    rp.acknowledge(us(136), 1.0, us(36));
    close(rp.cwnd(), 93.0 * 0.64);
    // At the target itself there is nothing to cut, and nothing to add.
    rp.acknowledge(us(200), 1.0, us(27));
    close(rp.cwnd(), 93.0 * 0.64);
    // 270 us: 1 - 0.8 * 0.9 would leave 0.28; max_mdf leaves a half.
    rp.acknowledge(us(400), 1.0, us(270));
    close(rp.cwnd(), 93.0 * 0.32);
}

/// Bolt's simulator spaces decreases by the round trip as measured, csg-htsim by an average.
#[test]
fn presets_average_round_trips_as_their_sources_do() {
    let first_cut_after = |preset| {
        let params =
            SwiftParams { fs_range: Time::ZERO, ..params_of::<Swift>(preset, LINE, &[]).unwrap() };
        let mut rp = ReactionPoint::new(&params, &path());
        rp.acknowledge(us(8), 1.0, us(8));
        rp.acknowledge(us(100), 1.0, us(48));
        let cut = rp.cwnd();
        let cuts_at = |at: &u64| {
            let mut rp = rp.clone();
            rp.acknowledge(us(100 + at), 1.0, us(48));
            rp.cwnd() < cut
        };
        (1..100).find(cuts_at)
    };
    assert_eq!(first_cut_after("swift-bolt"), Some(48));
    // An eighth of the way from 8 us to 48.
    assert_eq!(first_cut_after("swift-htsim"), Some(13));
}

#[test]
fn the_target_grows_as_the_window_shrinks() {
    // fs 0.25 to 100 packets: alpha = 100 us / (2 - 0.1), beta = -alpha / 10.
    let params =
        SwiftParams { fs_min_cwnd: 0.25, fs_max_cwnd: 100.0, ..swift::presets::bolt(LINE) };
    let alpha = 100e6 / 1.9;
    let mut rp = ReactionPoint::new(&params, &path());
    close(rp.target(), 27e6 + alpha * (1.0 / 93.0_f64.sqrt() - 0.1));
    // Cuts by half down to 93 / 16 = 5.8, a window that adds alpha (0.4148 - 0.1) = 16.57 us.
    for round in 1..=4 {
        rp.acknowledge(us(10_000 * round), 1.0, us(1000));
    }
    close(rp.cwnd(), 93.0 / 16.0);
    close(rp.target(), 27e6 + alpha * ((16.0 / 93.0_f64).sqrt() - 0.1));
    for round in 5..=20 {
        rp.acknowledge(us(10_000 * round), 1.0, us(1000));
    }
    assert!(rp.cwnd() < 0.25);
    close(rp.target(), 127e6);
    // A window beyond the range adds nothing.
    let wide = PathFacts { line_rate: Rate::from_gbps(400), ..path() };
    close(ReactionPoint::new(&params, &wide).target(), 27e6);
}

#[test]
fn a_window_below_one_packet_is_paced() {
    let mut rp = ReactionPoint::new(&flat(), &path());
    // 93 / 2^8 = 0.363; the average delay comes to be 270 us.
    for round in 1..=8 {
        rp.acknowledge(us(10_000 * round), 1.0, us(270));
    }
    close(rp.cwnd(), 93.0 / 256.0);
    let SendLimits { rate, window, .. } = rp.limits();
    assert_eq!(window, Bytes::new(1000));
    // A packet of 1082 B each 270 us / 0.36328 = 743.23 us.
    let gap = rate.time_for(Bytes::new(1082)).ps() as f64;
    assert!((gap / 743.226e6 - 1.0).abs() < 1e-4, "{gap}");
    // Below one packet an ACK adds ai, and then the pacing ends.
    rp.acknowledge(us(90_000), 1.0, us(8));
    close(rp.cwnd(), 93.0 / 256.0 + 1.0);
    assert_eq!(rp.limits().rate, SendLimits::UNLIMITED.rate);
    // 0.015 packets are the least.
    for round in 10..=40 {
        rp.acknowledge(us(10_000 * round), 1.0, us(270));
    }
    close(rp.cwnd(), 0.015);
}

#[test]
fn losses_halve_once_a_round_trip_and_timeouts_reset() {
    let mut rp = ReactionPoint::new(&flat(), &path());
    rp.lose(us(100));
    rp.lose(us(107));
    close(rp.cwnd(), 46.5);
    rp.lose(us(108));
    close(rp.cwnd(), 23.25);
    for timeout in 1..=4 {
        rp.time_out(us(1000 * timeout));
    }
    close(rp.cwnd(), 23.25 / 16.0);
    rp.time_out(us(5000));
    close(rp.cwnd(), 0.015);
    // An ACK in between ends the row.
    let mut rp = ReactionPoint::new(&flat(), &path());
    for timeout in 1..=8 {
        rp.time_out(us(1000 * timeout));
        if timeout == 4 {
            rp.acknowledge(us(4500), 0.0, us(8));
        }
    }
    close(rp.cwnd(), 93.0 / 256.0);
}

#[test]
fn nacks_are_losses_and_a_held_window_stays() {
    let params = flat();
    let mut rp = ReactionPoint::new(&params, &path());
    let mut outbox = Vec::new();
    let mut cx =
        HostCx { now: us(20), params: &params, host: &mut Default::default(), outbox: &mut outbox };
    let mut ack: Ack<'_, Swift> = Ack {
        next_expected: 60_000,
        newly_acked: Bytes::new(2000),
        newly_lost: Bytes::ZERO,
        next_to_send: 110_000,
        nack: true,
        echo: EcnCodePoint::CongestionExperienced,
        rtt: us(9),
        meta: &(),
    };
    rp.on_ack(&mut cx, &ack);
    close(rp.cwnd(), 46.5);
    ack.nack = false;
    rp.on_ack(&mut cx, &ack);
    close(rp.cwnd(), 46.5 + 2.0 / 46.5);
}

#[test]
fn scaling_over_no_range_of_windows_is_refused() {
    let params = SwiftParams { fs_min_cwnd: 256.0, ..flat() };
    assert!(Swift::check(&params).unwrap_err().to_string().contains("below fs_max_cwnd"));
}
