//! Headers against bytes written by hand from the standards, and round trips.

use proptest::prelude::*;
use units::{Rate, Time};
use wire::DecodeError;
use wire::ethernet::{EthernetHeader, IPV4};
use wire::int::{FnccAck, IntHeader, IntHop, RATES};
use wire::ip::{Ecn, Ipv4Header, ROCEV2_PORT, UDP, UdpHeader};
use wire::pfc::PfcFrame;
use wire::roce::{Aeth, Bth, CnpPacket, Opcode, Reth, Syndrome};

/// What `emit` writes, with a byte behind it that it must leave alone.
macro_rules! emitted {
    ($header:expr, $n:expr) => {{
        let mut bytes = [0xee_u8; $n + 1];
        assert_eq!($header.emit(&mut bytes[..$n - 1]), Err(short($n)));
        $header.emit(&mut bytes).unwrap();
        assert_eq!(bytes[$n], 0xee);
        <[u8; $n]>::try_from(&bytes[..$n]).unwrap()
    }};
}

fn short(needed: usize) -> DecodeError {
    DecodeError::Short { needed, got: needed - 1 }
}

#[test]
fn ethernet() {
    let header = EthernetHeader {
        destination: [0x02, 0, 0, 0, 0, 0x0b],
        source: [0x02, 0, 0, 0, 0, 0x0a],
        ethertype: IPV4,
    };
    let bytes = [0x02, 0, 0, 0, 0, 0x0b, 0x02, 0, 0, 0, 0, 0x0a, 0x08, 0x00];
    assert_eq!(emitted!(header, 14), bytes);
    assert_eq!(EthernetHeader::parse(&bytes), Ok(header));
    assert_eq!(EthernetHeader::parse(&bytes[..13]), Err(short(14)));
}

#[test]
fn ipv4_with_its_checksum() {
    let header = Ipv4Header {
        dscp: 26,
        ecn: Ecn::Capable0,
        total_length: 1044,
        identification: 0x1234,
        ttl: 64,
        protocol: UDP,
        source: [10, 0, 0, 1],
        destination: [10, 0, 0, 2],
    };
    // The words 456a 0414 1234 4000 4011 0000 0a00 0001 0a00 0002 sum to efc6; the checksum is the
    // complement, 1039.
    let bytes = [
        0x45, 0x6a, 0x04, 0x14, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11, 0x10, 0x39, 10, 0, 0, 1, 10, 0,
        0, 2,
    ];
    assert_eq!(emitted!(header, 20), bytes);
    assert_eq!(Ipv4Header::parse(&bytes), Ok(header));

    // A switch that marks the packet must mend the checksum.
    let mut marked = bytes;
    marked[1] |= 0b11;
    assert_eq!(Ipv4Header::parse(&marked), Err(DecodeError::Checksum));
    marked[11] -= 1;
    let read = Ipv4Header::parse(&marked).unwrap();
    assert_eq!(read, Ipv4Header { ecn: Ecn::CongestionExperienced, ..header });

    let mut v6 = bytes;
    v6[0] = 0x60;
    assert!(matches!(Ipv4Header::parse(&v6), Err(DecodeError::Field(_))));
}

#[test]
fn udp() {
    let header = UdpHeader { source_port: 0xc001, destination_port: ROCEV2_PORT, length: 1024 };
    // 4791 is 0x12b7.
    let bytes = [0xc0, 0x01, 0x12, 0xb7, 0x04, 0x00, 0x00, 0x00];
    assert_eq!(emitted!(header, 8), bytes);
    assert_eq!(UdpHeader::parse(&bytes), Ok(header));
}

#[test]
fn bth_of_the_last_packet_of_a_write() {
    let header = Bth {
        opcode: Opcode::WriteLast,
        solicited: true,
        migrated: true,
        pad: 3,
        partition: 0xffff,
        forward_congestion: false,
        backward_congestion: false,
        queue_pair: 0x00_1234,
        ack_requested: true,
        sequence: 0xab_cdef,
    };
    let bytes = [0x08, 0xf0, 0xff, 0xff, 0x00, 0x00, 0x12, 0x34, 0x80, 0xab, 0xcd, 0xef];
    assert_eq!(emitted!(header, 12), bytes);
    assert_eq!(Bth::parse(&bytes), Ok(header));

    let mut unknown = bytes;
    unknown[0] = 0x7f;
    assert_eq!(Bth::parse(&unknown), Err(DecodeError::Field("opcode")));
    let mut version = bytes;
    version[1] |= 1;
    assert!(Bth::parse(&version).is_err());
}

#[test]
fn reth_and_aeth() {
    let reth = Reth { address: 0x7f00_0000_1000, key: 0x0badcafe, length: 1_000_000 };
    let bytes = [0, 0, 0x7f, 0, 0, 0, 0x10, 0, 0x0b, 0xad, 0xca, 0xfe, 0, 0x0f, 0x42, 0x40];
    assert_eq!(emitted!(reth, 16), bytes);
    assert_eq!(Reth::parse(&bytes), Ok(reth));

    let nak = Aeth { syndrome: Syndrome::SequenceError, message: 7 };
    assert_eq!(emitted!(nak, 4), [0x60, 0, 0, 7]);
    assert_eq!(Aeth::parse(&[0x60, 0, 0, 7]), Ok(nak));
    let ack = Aeth { syndrome: Syndrome::Ack(0x1f), message: 0x01_0203 };
    assert_eq!(emitted!(ack, 4), [0x1f, 1, 2, 3]);
    let not_ready = Aeth { syndrome: Syndrome::ReceiverNotReady(14), message: 0 };
    assert_eq!(emitted!(not_ready, 4), [0x2e, 0, 0, 0]);
    assert_eq!(Aeth::parse(&[0x61, 0, 0, 0]), Err(DecodeError::Field("syndrome")));
}

#[test]
fn cnp_has_opcode_0x81_becn_and_sixteen_zeros() {
    let cnp = CnpPacket { partition: 0xffff, queue_pair: 0x17, reserved: [0; 16] };
    let mut bytes = [0; 28];
    bytes[..12].copy_from_slice(&[0x81, 0, 0xff, 0xff, 0x40, 0, 0, 0x17, 0, 0, 0, 0]);
    assert_eq!(emitted!(cnp, 28), bytes);
    assert_eq!(CnpPacket::parse(&bytes), Ok(cnp));

    let mut without_becn = bytes;
    without_becn[4] = 0;
    assert_eq!(CnpPacket::parse(&without_becn), Err(DecodeError::Field("BECN")));
    let mut data = bytes;
    data[0] = 0x0a;
    assert_eq!(CnpPacket::parse(&data), Err(DecodeError::Field("opcode")));
}

#[test]
fn pfc_pauses_one_priority_and_resumes_another() {
    let mut quanta = [None; 8];
    quanta[3] = Some(0xffff);
    quanta[4] = Some(0);
    let frame = PfcFrame { source: [0x02, 0, 0, 0, 0, 0x0a], quanta };
    let mut bytes = [0; 60];
    bytes[..18].copy_from_slice(&[
        0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0, 0, 0, 0, 0x0a, 0x88, 0x08, 0x01, 0x01, 0x00,
        0x18,
    ]);
    // The pause time of priority 3, the fourth of eight.
    bytes[24] = 0xff;
    bytes[25] = 0xff;
    assert_eq!(emitted!(frame, 60), bytes);
    assert_eq!(PfcFrame::parse(&bytes), Ok(frame));

    let mut pause_802_3x = bytes;
    pause_802_3x[15] = 0x02;
    pause_802_3x[14] = 0x00;
    assert_eq!(PfcFrame::parse(&pause_802_3x), Err(DecodeError::Field("opcode")));
}

#[test]
fn int_header_and_record() {
    let through = IntHeader::default().through(0x0f0).through(0x00f);
    assert_eq!(through, IntHeader { hops: 2, path: 0x0ff });
    assert_eq!(emitted!(through, 2), [0x20, 0xff]);
    assert_eq!(IntHeader::parse(&[0x20, 0xff]), Ok(through));

    // 100G has code 6. 1 us is 0x3e8 ns, 12 800 bytes are 0x64 units, 800 bytes are 0xa units:
    // 6 | 0003e8 | 00064 | 000a.
    let hop = IntHop::new(Rate::from_gbps(100), Time::from_us(1), 12_800, 800).unwrap();
    let bytes = [0x60, 0x00, 0x3e, 0x80, 0x00, 0x64, 0x00, 0x0a];
    assert_eq!(emitted!(hop, 8), bytes);
    assert_eq!(IntHop::parse(&bytes), Ok(hop));
    assert_eq!(hop.rate(), Some(Rate::from_gbps(100)));
    assert_eq!(hop.queue_bytes(), 800);
    assert_eq!(IntHop::new(Rate::from_gbps(33), Time::ZERO, 0, 0), None);
}

#[test]
fn int_differences_survive_a_wrap() {
    let rate = Rate::from_gbps(100);
    // 2^24 ns are 16.777216 ms, 2^20 units of 128 bytes are 134 217 728 bytes.
    let before = IntHop::new(rate, Time::from_ns((1 << 24) - 100), 134_217_728 - 1280, 0).unwrap();
    let after = IntHop::new(rate, Time::from_ns((1 << 24) + 150), 134_217_728 + 2560, 0).unwrap();
    assert_eq!(after.span_ns(&before), 250);
    assert_eq!(after.sent_between(&before), 3840);
    // Ten megabytes do not fit 16 bits of 80 bytes.
    let full = IntHop::new(rate, Time::ZERO, 0, 10_000_000).unwrap();
    assert_eq!(full.queue_bytes(), 65_535 * 80);
}

#[test]
fn an_fncc_ack_carries_the_number_of_flows_before_the_records() {
    let int = IntHeader { hops: 3, path: 0x0ff };
    let ack = FnccAck { flows: 0x1234, int };
    assert_eq!(emitted!(ack, 4), [0x12, 0x34, 0x30, 0xff]);
    assert_eq!(FnccAck::parse(&[0x12, 0x34, 0x30, 0xff]), Ok(ack));
    // N 16 bits, hop count and path 16, five hops of 64 bits.
    assert_eq!(FnccAck::bytes_with(5), 44);
    // The table of a switch with 64 ports has 4 kbit.
    assert_eq!(64 * IntHop::BYTES * 8, 4096);
}

fn flag() -> impl Strategy<Value = bool> {
    any::<bool>()
}

proptest! {
    #[test]
    fn bth_round_trip(
        opcode in proptest::sample::select(&Opcode::ALL[..]),
        (solicited, migrated, forward_congestion, backward_congestion, ack_requested) in
            (flag(), flag(), flag(), flag(), flag()),
        pad in 0_u8..4,
        partition in any::<u16>(),
        queue_pair in 0_u32..1 << 24,
        sequence in 0_u32..1 << 24,
    ) {
        let header = Bth {
            opcode, solicited, migrated, pad, partition, forward_congestion, backward_congestion,
            queue_pair, ack_requested, sequence,
        };
        prop_assert_eq!(Bth::parse(&emitted!(header, 12)), Ok(header));
    }

    #[test]
    fn ip_and_udp_round_trip(
        dscp in 0_u8..64,
        ecn in proptest::sample::select(
            &[Ecn::NotCapable, Ecn::Capable1, Ecn::Capable0, Ecn::CongestionExperienced][..]
        ),
        (total_length, identification, source_port) in any::<(u16, u16, u16)>(),
        (ttl, protocol) in any::<(u8, u8)>(),
        (source, destination) in any::<([u8; 4], [u8; 4])>(),
    ) {
        let ip = Ipv4Header {
            dscp, ecn, total_length, identification, ttl, protocol, source, destination,
        };
        prop_assert_eq!(Ipv4Header::parse(&emitted!(ip, 20)), Ok(ip));
        let udp = UdpHeader { source_port, destination_port: ROCEV2_PORT, length: total_length };
        prop_assert_eq!(UdpHeader::parse(&emitted!(udp, 8)), Ok(udp));
    }

    #[test]
    fn reth_aeth_cnp_and_ethernet_round_trip(
        (address, key, length) in any::<(u64, u32, u32)>(),
        syndrome in prop_oneof![
            (0_u8..32).prop_map(Syndrome::Ack),
            (0_u8..32).prop_map(Syndrome::ReceiverNotReady),
            Just(Syndrome::SequenceError),
        ],
        message in 0_u32..1 << 24,
        reserved in any::<[u8; 16]>(),
        (destination, source, ethertype) in any::<([u8; 6], [u8; 6], u16)>(),
    ) {
        let reth = Reth { address, key, length };
        prop_assert_eq!(Reth::parse(&emitted!(reth, 16)), Ok(reth));
        let aeth = Aeth { syndrome, message };
        prop_assert_eq!(Aeth::parse(&emitted!(aeth, 4)), Ok(aeth));
        let cnp = CnpPacket { partition: ethertype, queue_pair: message, reserved };
        prop_assert_eq!(CnpPacket::parse(&emitted!(cnp, 28)), Ok(cnp));
        let ethernet = EthernetHeader { destination, source, ethertype };
        prop_assert_eq!(EthernetHeader::parse(&emitted!(ethernet, 14)), Ok(ethernet));
    }

    #[test]
    fn pfc_round_trip(source in any::<[u8; 6]>(), quanta in any::<[Option<u16>; 8]>()) {
        let frame = PfcFrame { source, quanta };
        prop_assert_eq!(PfcFrame::parse(&emitted!(frame, 60)), Ok(frame));
    }

    #[test]
    fn int_round_trip_and_differences(
        rate in proptest::sample::select(&RATES[..]),
        start in 0_u64..1 << 40,
        span in 0_u64..1 << 24,
        sent in 0_u64..1 << 40,
        more in 0_u64..100_000_000,
        queue in 0_u64..5_000_000,
    ) {
        let old = IntHop::new(rate, Time::from_ns(start), sent, queue).unwrap();
        let new = IntHop::new(rate, Time::from_ns(start + span), sent + more, queue).unwrap();
        prop_assert_eq!(IntHop::parse(&emitted!(new, 8)), Ok(new));
        prop_assert_eq!(new.span_ns(&old), span);
        // Each counter is rounded down to its unit.
        prop_assert!(new.sent_between(&old).abs_diff(more) < 128);
        prop_assert!(queue - new.queue_bytes() < 80);
        prop_assert_eq!(new.rate(), Some(rate));
    }

    #[test]
    fn no_bytes_make_parsing_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = EthernetHeader::parse(&bytes);
        let _ = Ipv4Header::parse(&bytes);
        let _ = UdpHeader::parse(&bytes);
        let _ = Bth::parse(&bytes);
        let _ = Reth::parse(&bytes);
        let _ = Aeth::parse(&bytes);
        let _ = CnpPacket::parse(&bytes);
        let _ = PfcFrame::parse(&bytes);
        let _ = IntHeader::parse(&bytes);
        let _ = IntHop::parse(&bytes);
        let _ = FnccAck::parse(&bytes);
    }
}
