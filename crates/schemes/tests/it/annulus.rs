//! Annulus's near-source loop on sequences worked out by hand.

use schemes::annulus::{Annulus, CongestionPoint, NearSource};
use schemes::contract::{Cp, LinkRates, PortFacts, Scheme, SwitchFacts};
use schemes::params::Value;
use schemes::registry::params_of;
use units::{Bytes, NodeId, PortId, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);

fn uplink(peer_is_host: bool) -> PortFacts {
    PortFacts {
        port: PortId::new(0),
        rate: LINE,
        delay: Time::from_us(1),
        peer: NodeId::new(1),
        peer_is_host,
        xoff: Bytes::UNLIMITED,
        xon: Bytes::UNLIMITED,
        resume_offset: Bytes::new(3_000),
        kmin: [Bytes::new(10_000); 8],
        transit: Time::from_us(1),
    }
}

fn tor(tier: u8, changes: &[(String, Value)]) -> Option<CongestionPoint> {
    let params = params_of::<Annulus>("annulus", LINE, changes).unwrap();
    let ports = [uplink(false)];
    let node = NodeId::new(0);
    Annulus::congestion_point(
        &params,
        &SwitchFacts {
            node,
            tier,
            ports: &ports,
            hosts: &[],
            network_rtt: Time::from_us(8),
            packet_bytes: Bytes::new(1_082),
            rates: &LinkRates::new([]),
            seed: 1,
        },
    )
}

#[test]
fn tors_alone_sample_their_uplinks() {
    assert!(tor(2, &[]).is_none());
    let params = params_of::<Annulus>("annulus", LINE, &[]).unwrap();
    let cp = tor(1, &[]).unwrap();
    let mut to_host = cp.port(&params, &uplink(true));
    let mut up = cp.port(&params, &uplink(false));
    for packet in 1..=300 {
        assert_eq!(cp.sample(&mut to_host, 1_000_000, 3), None);
        // One in a hundred, saturated at 5 x Kmin.
        let told = cp.sample(&mut up, 1_000_000, 3);
        assert_eq!(told, (packet % 100 == 0).then_some(63), "packet {packet}");
    }
}

#[test]
fn feedback_is_offset_and_twice_the_growth_in_63rds_of_five_set_points() {
    let params = params_of::<Annulus>("annulus", LINE, &[]).unwrap();
    let cp = tor(1, &[("sample_every".to_owned(), Value::Count(1))]).unwrap();
    let mut up = cp.port(&params, &uplink(false));
    // Q_eq 10 KB. 12 KB: 2 + 2 x 12 = 26 KB of 50 are 32.76 of 63.
    assert_eq!(cp.sample(&mut up, 12_000, 3), Some(32));
    // As long as before: 2 KB are 2.52.
    assert_eq!(cp.sample(&mut up, 12_000, 3), Some(2));
    // Shrinking to 11 KB: 1 - 2 < 0.
    assert_eq!(cp.sample(&mut up, 11_000, 3), None);
    // Below the set point, but growing: -4 + 2 x -5 and then -2 + 2 x 2 = 2 KB.
    assert_eq!(cp.sample(&mut up, 6_000, 3), None);
    assert_eq!(cp.sample(&mut up, 8_000, 3), Some(2));
}

#[test]
fn the_near_source_rate_is_cut_by_the_feedback_and_recovers_by_the_timer() {
    let params = params_of::<Annulus>("annulus", LINE, &[]).unwrap();
    let mut near = NearSource::new(&params, LINE);
    let us = Time::from_us;
    assert_eq!(near.rate(), LINE);
    near.notify(us(0), 32);
    assert_eq!(near.rate(), Rate::from_gbps(75), "a cut by 32/128");
    near.notify(us(10), 64);
    assert_eq!(near.rate(), Rate::from_bps(37_500_000_000));
    // The second cut in the same period leaves the target at 100.
    near.advance_to(us(310));
    assert_eq!(near.rate(), Rate::from_bps(68_750_000_000));
    near.notify(us(320), 32);
    assert_eq!(near.rate(), Rate::from_bps(51_562_500_000));
    // Towards 68.75 for five periods, then it rises by 50 Mb/s a period.
    near.advance_to(us(320 + 300 * 5));
    assert_eq!(near.rate(), Rate::from_bps(68_212_890_625));
    near.advance_to(us(320 + 300 * 6));
    assert_eq!(near.rate(), Rate::from_bps((68_212_890_625_u64 + 68_800_000_000).div_ceil(2)));
    // At last it is at line rate.
    near.advance_to(Time::from_ms(1000));
    assert_eq!(near.rate(), LINE);
}
