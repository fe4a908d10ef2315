//! Offsets of the fields of a trace.

use super::{Event, Packet, PortRate, Record};
use std::net::Ipv4Addr;
use units::{NodeId, Rate, Time};

/// The size of a record. The union at offset 32 is as long as an ACK, 24 bytes.
pub const RECORD_BYTES: usize = 56;
const PORT_BYTES: usize = 11;

const TCP: u8 = 0x06;
const UDP: u8 = 0x11;
const ACK: u8 = 0xfc;
const NACK: u8 = 0xfd;
const PFC: u8 = 0xfe;
const CNP: u8 = 0xff;
const QP_AVAILABLE: u8 = 0;

/// Little-endian fields at offsets.
struct Fields<B>(B);

impl Fields<&mut [u8]> {
    fn put<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        self.0[at..at + N].copy_from_slice(&bytes);
    }
    fn put_u16(&mut self, at: usize, value: u16) {
        self.put(at, value.to_le_bytes());
    }
    fn put_u32(&mut self, at: usize, value: u32) {
        self.put(at, value.to_le_bytes());
    }
    fn put_u64(&mut self, at: usize, value: u64) {
        self.put(at, value.to_le_bytes());
    }
}

impl Fields<&[u8]> {
    fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[at..at + N]);
        bytes
    }
    fn u8(&self, at: usize) -> u8 {
        self.0[at]
    }
    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.get(at))
    }
    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.get(at))
    }
    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.get(at))
    }
}

pub(super) fn emit_port(port: &PortRate) -> [u8; PORT_BYTES] {
    let mut bytes = [0; PORT_BYTES];
    let mut out = Fields(&mut bytes[..]);
    out.put_u16(0, port.node);
    out.put(2, [port.port]);
    out.put_u64(3, port.rate.bps());
    bytes
}

pub(super) fn parse_port(bytes: &[u8; PORT_BYTES]) -> PortRate {
    let from = Fields(&bytes[..]);
    PortRate { node: from.u16(0), port: from.u8(2), rate: Rate::from_bps(from.u64(3)) }
}

/// Encodes the record; gaps are zero.
pub(super) fn emit(record: &Record) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    let mut out = Fields(&mut bytes[..]);
    out.put_u64(0, record.time.ns());
    out.put_u16(8, record.node.get() as u16);
    out.put(10, [record.port, record.queue]);
    out.put_u32(12, record.queue_bytes);
    out.put_u32(16, record.src.to_bits());
    out.put_u32(20, record.dst.to_bits());
    out.put_u16(24, record.size);
    let protocol = emit_packet(&record.packet, &mut out);
    out.put(26, [protocol, event_number(record.event), record.ecn, u8::from(record.is_switch)]);
    bytes
}

/// Writes the fields that depend on the protocol. Returns the number of the protocol.
fn emit_packet(packet: &Packet, out: &mut Fields<&mut [u8]>) -> u8 {
    match *packet {
        Packet::Data { tcp, sport, dport, seq, timestamp, priority, payload } => {
            out.put_u16(32, sport);
            out.put_u16(34, dport);
            out.put_u32(36, seq);
            out.put_u64(40, timestamp);
            out.put_u16(48, priority);
            out.put_u16(50, payload);
            if tcp { TCP } else { UDP }
        }
        Packet::Ack { nack, sport, dport, flags, priority, seq, timestamp } => {
            out.put_u16(32, sport);
            out.put_u16(34, dport);
            out.put_u16(36, flags);
            out.put_u16(38, priority);
            out.put_u32(40, seq);
            out.put_u64(48, timestamp);
            if nack { NACK } else { ACK }
        }
        Packet::Pfc { time, queue_bytes, priority } => {
            out.put_u32(32, time);
            out.put_u32(36, queue_bytes);
            out.put(40, [priority]);
            PFC
        }
        Packet::Cnp { flow, priority, ecn, seq } => {
            out.put_u16(32, flow);
            out.put(34, [priority, ecn]);
            out.put_u32(36, seq);
            CNP
        }
        Packet::QpAvailable { sport, dport } => {
            out.put_u16(32, sport);
            out.put_u16(34, dport);
            QP_AVAILABLE
        }
        Packet::Other { protocol } => protocol,
    }
}

/// Decodes a record. Returns `None` if its time does not fit a [`Time`].
pub(super) fn parse(bytes: &[u8; RECORD_BYTES]) -> Option<Record> {
    let from = Fields(&bytes[..]);
    let time = Time::from_ps(from.u64(0).checked_mul(1000)?);
    let packet = match from.u8(26) {
        protocol @ (TCP | UDP) => Packet::Data {
            tcp: protocol == TCP,
            sport: from.u16(32),
            dport: from.u16(34),
            seq: from.u32(36),
            timestamp: from.u64(40),
            priority: from.u16(48),
            payload: from.u16(50),
        },
        protocol @ (ACK | NACK) => Packet::Ack {
            nack: protocol == NACK,
            sport: from.u16(32),
            dport: from.u16(34),
            flags: from.u16(36),
            priority: from.u16(38),
            seq: from.u32(40),
            timestamp: from.u64(48),
        },
        PFC => Packet::Pfc { time: from.u32(32), queue_bytes: from.u32(36), priority: from.u8(40) },
        CNP => Packet::Cnp {
            flow: from.u16(32),
            priority: from.u8(34),
            ecn: from.u8(35),
            seq: from.u32(36),
        },
        QP_AVAILABLE => Packet::QpAvailable { sport: from.u16(32), dport: from.u16(34) },
        protocol => Packet::Other { protocol },
    };
    Some(Record {
        time,
        node: NodeId::new(u32::from(from.u16(8))),
        is_switch: from.u8(29) != 0,
        port: from.u8(10),
        queue: from.u8(11),
        queue_bytes: from.u32(12),
        src: Ipv4Addr::from_bits(from.u32(16)),
        dst: Ipv4Addr::from_bits(from.u32(20)),
        size: from.u16(24),
        event: event(from.u8(27)),
        ecn: from.u8(28),
        packet,
    })
}

fn event(number: u8) -> Event {
    match number {
        0 => Event::Received,
        1 => Event::Enqueued,
        2 => Event::Dequeued,
        3 => Event::Dropped,
        _ => Event::Unknown(number),
    }
}

fn event_number(event: Event) -> u8 {
    match event {
        Event::Received => 0,
        Event::Enqueued => 1,
        Event::Dequeued => 2,
        Event::Dropped => 3,
        Event::Unknown(number) => number,
    }
}
