//! The outputs: exact text, exact bytes, and back.

use hpcc_files::fct::FctRow;
use hpcc_files::packet_trace::{Event, Header, Packet, PortRate, Reader, Record, Writer};
use hpcc_files::pfc::PfcRow;
use hpcc_files::queue_lengths::{Block, Histogram, PortQueue};
use hpcc_files::{address, fct, pfc, queue_lengths};
use proptest::prelude::*;
use std::net::Ipv4Addr;
use units::{Bytes, NodeId, Rate, Time};

const FCT: &str = "\
0b000001 0b000201 10000 100 50000000 2000000000 8893010 4204320
0b010201 0b00ff01 10001 200 1 2000299999 8911496 8421
";

#[test]
fn fct_lines() {
    let rows = fct::parse(FCT.as_bytes()).unwrap();
    let row = FctRow {
        src: address::of(NodeId::new(0)),
        dst: address::of(NodeId::new(2)),
        sport: 10_000,
        dport: 100,
        size: Bytes::new(50_000_000),
        start: Time::from_ns(2_000_000_000),
        fct: Time::from_ns(8_893_010),
        ideal_fct: Time::from_ns(4_204_320),
    };
    assert_eq!(rows[0], row);
    assert_eq!(address::node(rows[1].src), NodeId::new(258));
    assert_eq!(row.with_numbers(), "0 2 10000 100 50000000 2000000000 8893010 4204320");
    assert_eq!(rows.iter().map(|row| format!("{row}\n")).collect::<String>(), FCT);
    assert_eq!(fct::parse(FCT.replace('\n', "\r\n").as_bytes()).unwrap(), rows);
    assert_eq!(fct::parse(FCT.trim_end().as_bytes()).unwrap(), rows);
    assert_eq!(fct::parse(b"\n \n").unwrap(), []);
}

#[test]
fn pfc_lines() {
    let text = "2000007564 0 0 1 1\n2000021010 7 1 300 0\n";
    let rows = pfc::parse(text.as_bytes()).unwrap();
    let (time, node) = (Time::from_ns(2_000_007_564), NodeId::new(0));
    assert_eq!(rows[0], PfcRow { time, node, is_switch: false, port: 1, pause: true });
    assert!(rows[1].is_switch && !rows[1].pause);
    assert_eq!(rows.iter().map(|row| format!("{row}\n")).collect::<String>(), text);
}

#[test]
fn queue_blocks() {
    let mut first = Histogram::default();
    for bytes in [0, 999, 1000, 5200] {
        first.add(Bytes::new(bytes));
    }
    assert_eq!(first.counts, [2, 1, 0, 0, 0, 1]);
    let (switch, none) = (NodeId::new(3), Histogram::default());
    let mut out = Vec::new();
    let time = Time::from_ms(2000);
    queue_lengths::write_block(&mut out, time, [(switch, 1, &first), (switch, 2, &none)]).unwrap();
    queue_lengths::write_block(&mut out, time + queue_lengths::BLOCK_INTERVAL, []).unwrap();
    assert_eq!(
        String::from_utf8(out.clone()).unwrap(),
        "time: 2000000000\n3 1 2 1 0 0 0 1\n3 2\ntime: 2100000000\n"
    );
    let port = |port, histogram| PortQueue { switch, port, histogram };
    assert_eq!(
        queue_lengths::parse(&out).unwrap(),
        [
            Block { time, ports: vec![port(1, first), port(2, none)] },
            Block { time: Time::from_ms(2100), ports: vec![] },
        ]
    );
}

#[test]
fn bad_lines() {
    let bad = |error: hpcc_files::FileError, wanted: &str| assert_eq!(error.to_string(), wanted);
    let fct = |text: &str| fct::parse(text.as_bytes()).unwrap_err();
    bad(fct("0b000001 0b000201 1"), "line 1: the line ends where destination port should be");
    bad(
        fct("\n0b00001g 0b000201 10000 100 1 1 1 1"),
        "line 2: the sender's address needs eight hexadecimal digits, got \"0b00001g\"",
    );
    bad(fct(&format!("{} 9", FCT.trim_end())), "line 2: the line goes on with \"9\"");
    bad(
        pfc::parse(b"1 0 2 1 1").unwrap_err(),
        "line 1: kind of node needs a whole number from 0 to 1, got \"2\"",
    );
    let qlen = |text: &str| queue_lengths::parse(text.as_bytes()).unwrap_err();
    bad(qlen("3 1 0"), "line 1: a port stands before the first `time:`");
    bad(
        qlen("time: now"),
        &format!("line 1: time needs a whole number from 0 to {}, got \"now\"", u64::MAX / 1000),
    );
    bad(qlen("time: 1\n3 1 -1"), "line 2: count needs a whole number, 0 or more, got \"-1\"");
}

/// A packet that is traced, with what its record must be, byte by byte.
fn traced() -> [(Record, &'static str, [u8; 56]); 3] {
    let record = |ns, node, port, queue, event, size, packet| Record {
        time: Time::from_ns(ns),
        node: NodeId::new(node),
        is_switch: node == 7,
        port,
        queue,
        queue_bytes: 0,
        src: address::of(NodeId::new(0)),
        dst: address::of(NodeId::new(6)),
        size,
        event,
        ecn: 0,
        packet,
    };
    let data = Packet::Data {
        tcp: false,
        sport: 10_000,
        dport: 100,
        seq: 2000,
        timestamp: 2_000_000_000,
        priority: 3,
        payload: 1000,
    };
    let ack = Packet::Ack {
        nack: false,
        sport: 100,
        dport: 10_000,
        flags: 1,
        priority: 3,
        seq: 1000,
        timestamp: 2_000_000_000,
    };
    let pause = Packet::Pfc { time: 5, queue_bytes: 258, priority: 3 };
    let mut data = record(2_000_000_174, 0, 1, 3, Event::Dequeued, 1056, data);
    data.ecn = 3;
    data.queue_bytes = 66_051;
    let mut ack = record(2_000_002_166, 6, 1, 0, Event::Enqueued, 60, ack);
    (ack.src, ack.dst) = (ack.dst, ack.src);
    let mut pause = record(2_000_007_564, 7, 4, 0, Event::Received, 43, pause);
    (pause.src, pause.dst) = (Ipv4Addr::new(10, 1, 1, 2), Ipv4Addr::BROADCAST);
    #[rustfmt::skip]
    let bytes: [[u8; 56]; 3] = [
        [
            0xae, 0x94, 0x35, 0x77, 0, 0, 0, 0, // 2000000174 ns
            0, 0, 1, 3,             // node, port, queue
            3, 2, 1, 0,             // 66051 bytes
            1, 0, 0, 0x0b,          // 11.0.0.1
            1, 6, 0, 0x0b,          // 11.0.6.1
            0x20, 4,                // 1056 bytes
            0x11, 2, 3, 0,          // UDP, dequeued, CE, a host
            0, 0,                   // gap
            0x10, 0x27, 100, 0,     // ports
            0xd0, 7, 0, 0,          // 2000
            0, 0x94, 0x35, 0x77, 0, 0, 0, 0, // time stamp 2 s
            3, 0, 0xe8, 3,          // priority, payload
            0, 0, 0, 0,             // gap
        ],
        [
            0x76, 0x9c, 0x35, 0x77, 0, 0, 0, 0,
            6, 0, 1, 0,
            0, 0, 0, 0,
            1, 6, 0, 0x0b,
            1, 0, 0, 0x0b,
            60, 0,
            0xfc, 1, 0, 0,          // ACK, enqueued
            0, 0,
            100, 0, 0x10, 0x27,     // ports
            1, 0, 3, 0,             // flags, priority
            0xe8, 3, 0, 0,          // 1000
            0, 0, 0, 0,             // gap
            0, 0x94, 0x35, 0x77, 0, 0, 0, 0,
        ],
        [
            0x8c, 0xb1, 0x35, 0x77, 0, 0, 0, 0,
            7, 0, 4, 0,
            0, 0, 0, 0,
            2, 1, 1, 10,
            255, 255, 255, 255,
            43, 0,
            0xfe, 0, 0, 1,          // PFC, received, a switch
            0, 0,
            5, 0, 0, 0,             // pause time
            2, 1, 0, 0,             // 258 bytes
            3,
            0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0,
        ],
    ];
    let lines = [
        "2000000174 n:0 1:3 66051 Dequ ecn:3 0b000001 0b000601 10000 100 U 2000 2000000000 3 \
         1056(1000)",
        "2000002166 n:6 1:0 0 Enqu ecn:0 0b000601 0b000001 100 10000 A 0x01 3 1000 2000000000 60",
        "2000007564 n:7 4:0 0 Recv ecn:0 0a010102 ffffffff P 5 258 3 43",
    ];
    [(data, lines[0], bytes[0]), (ack, lines[1], bytes[1]), (pause, lines[2], bytes[2])]
}

#[test]
fn a_packet_trace_byte_by_byte() {
    let header = Header {
        ports: vec![PortRate { node: 258, port: 7, rate: Rate::from_gbps(100) }],
        window: 156_000,
    };
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &header).unwrap();
    #[rustfmt::skip]
    let mut wanted = vec![
        1, 0, 0, 0,
        2, 1, 7, 0, 0xe8, 0x76, 0x48, 0x17, 0, 0, 0,
        0x60, 0x61, 2, 0,
    ];
    for (record, line, bytes) in traced() {
        assert_eq!(record.to_string(), line);
        writer.write(&record).unwrap();
        wanted.extend(bytes);
    }
    writer.finish().unwrap();
    assert_eq!(out, wanted);
    let mut reader = Reader::new(&out[..]).unwrap();
    assert_eq!(reader.header(), &header);
    for (record, ..) in traced() {
        assert_eq!(reader.next(), Some(Ok(record)));
    }
    assert_eq!(reader.next(), None);
}

#[test]
fn other_lines_of_a_trace() {
    let (mut record, ..) = traced()[0];
    let mut line = |event, packet| {
        (record.event, record.packet) = (event, packet);
        record.to_string()
    };
    let cnp = Packet::Cnp { flow: 10_000, priority: 3, ecn: 1, seq: 9 };
    assert_eq!(
        line(Event::Dropped, cnp),
        "2000000174 n:0 1:3 66051 Drop ecn:3 0b000001 0b000601 C 10000 3 1 9 1056"
    );
    assert_eq!(
        line(Event::Unknown(9), Packet::Other { protocol: 0xab }),
        "2000000174 n:0 1:3 66051 ???? ecn:3 0b000001 0b000601 ab 1056"
    );
    assert_eq!(
        line(Event::Received, Packet::QpAvailable { sport: 1, dport: 2 }),
        "2000000174 n:0 1:3 Recv 0b000001 0b000601 1 2"
    );
}

#[test]
fn truncated_traces() {
    let (record, ..) = traced()[0];
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, &Header::default()).unwrap();
    writer.write(&record).unwrap();
    writer.finish().unwrap();
    for length in 0..out.len() {
        let read =
            Reader::new(&out[..length]).and_then(|reader| reader.collect::<Result<Vec<_>, _>>());
        // Eight bytes are a trace of nothing.
        assert_eq!(read.is_ok(), length == 8, "{length}: {read:?}");
    }
    // A table of 2^32 - 1 ports that is not there.
    assert!(Reader::new(&[255; 100][..]).is_err());
    // A time beyond 213 days.
    let mut bytes = vec![0; 8];
    bytes.extend([255; 56]);
    let error = Reader::new(&bytes[..]).unwrap().next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "record 1 has no time");
}

fn packets() -> impl Strategy<Value = Packet> {
    prop_oneof![
        any::<(bool, u16, u16, u32, u64, u16, u16)>().prop_map(
            |(tcp, sport, dport, seq, timestamp, priority, payload)| Packet::Data {
                tcp,
                sport,
                dport,
                seq,
                timestamp,
                priority,
                payload
            }
        ),
        any::<(bool, u16, u16, u16, u16, u32, u64)>().prop_map(
            |(nack, sport, dport, flags, priority, seq, timestamp)| Packet::Ack {
                nack,
                sport,
                dport,
                flags,
                priority,
                seq,
                timestamp
            }
        ),
        any::<(u32, u32, u8)>().prop_map(|(time, queue_bytes, priority)| Packet::Pfc {
            time,
            queue_bytes,
            priority
        }),
        any::<(u16, u8, u8, u32)>().prop_map(|(flow, priority, ecn, seq)| Packet::Cnp {
            flow,
            priority,
            ecn,
            seq
        }),
        any::<(u16, u16)>().prop_map(|(sport, dport)| Packet::QpAvailable { sport, dport }),
        (0x20_u8..0xf0).prop_map(|protocol| Packet::Other { protocol }),
    ]
}

fn records() -> impl Strategy<Value = Record> {
    let event = prop_oneof![
        Just(Event::Received),
        Just(Event::Enqueued),
        Just(Event::Dequeued),
        Just(Event::Dropped),
        (4_u8..).prop_map(Event::Unknown),
    ];
    let place = (0..u64::MAX / 1000, any::<u16>(), any::<bool>(), any::<u8>(), any::<u8>());
    (place, any::<(u32, u32, u32, u16, u8)>(), event, packets()).prop_map(
        |(
            (ns, node, is_switch, port, queue),
            (queue_bytes, src, dst, size, ecn),
            event,
            packet,
        )| {
            Record {
                time: Time::from_ns(ns),
                node: NodeId::new(u32::from(node)),
                is_switch,
                port,
                queue,
                queue_bytes,
                src: Ipv4Addr::from_bits(src),
                dst: Ipv4Addr::from_bits(dst),
                size,
                event,
                ecn,
                packet,
            }
        },
    )
}

proptest! {
    #[test]
    fn traces_come_back(
        ports in prop::collection::vec(any::<(u16, u8, u64)>(), 0..20),
        window in any::<u32>(),
        records in prop::collection::vec(records(), 0..20),
    ) {
        let ports = ports
            .into_iter()
            .map(|(node, port, bps)| PortRate { node, port, rate: Rate::from_bps(bps) })
            .collect();
        let header = Header { ports, window };
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, &header).unwrap();
        for record in &records {
            writer.write(record).unwrap();
        }
        writer.finish().unwrap();
        let reader = Reader::new(&out[..]).unwrap();
        prop_assert_eq!(reader.header(), &header);
        let read: Result<Vec<Record>, _> = reader.collect();
        prop_assert_eq!(read.unwrap(), records);
    }

    #[test]
    fn lines_come_back(
        flows in prop::collection::vec(any::<(u32, u32, u16, u16, u64, u32, u32, u32)>(), 0..20),
        frames in prop::collection::vec(any::<(u32, u32, bool, u32, bool)>(), 0..20),
    ) {
        let flows: Vec<FctRow> = flows
            .into_iter()
            .map(|(src, dst, sport, dport, size, start, fct, ideal_fct)| FctRow {
                src: Ipv4Addr::from_bits(src),
                dst: Ipv4Addr::from_bits(dst),
                sport,
                dport,
                size: Bytes::new(size),
                start: Time::from_ns(start.into()),
                fct: Time::from_ns(fct.into()),
                ideal_fct: Time::from_ns(ideal_fct.into()),
            })
            .collect();
        let text: String = flows.iter().map(|row| format!("{row}\n")).collect();
        prop_assert_eq!(fct::parse(text.as_bytes()).unwrap(), flows);
        let frames: Vec<PfcRow> = frames
            .into_iter()
            .map(|(ns, node, is_switch, port, pause)| PfcRow {
                time: Time::from_ns(ns.into()),
                node: NodeId::new(node),
                is_switch,
                port,
                pause,
            })
            .collect();
        let text: String = frames.iter().map(|row| format!("{row}\n")).collect();
        prop_assert_eq!(pfc::parse(text.as_bytes()).unwrap(), frames);
    }

    #[test]
    fn blocks_come_back(
        blocks in prop::collection::vec(
            (any::<u32>(), prop::collection::vec(
                (any::<u32>(), any::<u32>(), prop::collection::vec(any::<u64>(), 0..10)), 0..5)),
            0..5),
    ) {
        let blocks: Vec<Block> = blocks
            .into_iter()
            .map(|(ns, ports)| Block {
                time: Time::from_ns(ns.into()),
                ports: ports
                    .into_iter()
                    .map(|(switch, port, counts)| PortQueue {
                        switch: NodeId::new(switch),
                        port,
                        histogram: Histogram { counts },
                    })
                    .collect(),
            })
            .collect();
        let mut out = Vec::new();
        for block in &blocks {
            let ports = block.ports.iter().map(|port| (port.switch, port.port, &port.histogram));
            queue_lengths::write_block(&mut out, block.time, ports).unwrap();
        }
        prop_assert_eq!(queue_lengths::parse(&out).unwrap(), blocks);
    }
}
