//! The two ports of THEMIS's external switch.

use schemes::contract::PortFacts;
use units::{Bytes, NodeId, PortId, Rate, Time};

/// Into the data centre, and out of it.
pub const INSIDE: u16 = 0;
pub const AFAR: u16 = 1;

pub fn us(us: u64) -> Time {
    Time::from_us(us)
}

/// One of 400 Gb/s into the data centre, one of 1.6 Tb/s to another, 500 us away.
pub fn ports() -> [PortFacts; 2] {
    [(400, us(1)), (1600, us(500))].map(|(gbps, delay)| PortFacts {
        port: PortId::new(u16::from(gbps == 1600)),
        rate: Rate::from_gbps(gbps),
        delay,
        peer: NodeId::new(gbps as u32),
        peer_is_host: false,
        xoff: Bytes::UNLIMITED,
        xon: Bytes::UNLIMITED,
        resume_offset: Bytes::new(3_000),
        kmin: [Bytes::UNLIMITED; 8],
        transit: delay,
    })
}
