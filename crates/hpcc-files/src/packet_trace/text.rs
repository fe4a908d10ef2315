//! Records as lines of text.

use super::{Event, Packet, Record};
use std::fmt;

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Event::Received => "Recv",
            Event::Enqueued => "Enqu",
            Event::Dequeued => "Dequ",
            Event::Dropped => "Drop",
            Event::Unknown(_) => "????",
        })
    }
}

/// The format of the original's `trace_reader`.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { time, node, port, queue, event, size, .. } = self;
        write!(f, "{} n:{node} {port}:{queue} ", time.ns())?;
        let (src, dst) = (self.src.to_bits(), self.dst.to_bits());
        if let Packet::QpAvailable { sport, dport } = self.packet {
            return write!(f, "{event} {src:08x} {dst:08x} {sport} {dport}");
        }
        write!(f, "{} {event} ecn:{:x} {src:08x} {dst:08x} ", self.queue_bytes, self.ecn)?;
        match self.packet {
            Packet::Data { tcp, sport, dport, seq, timestamp, priority, payload } => {
                let letter = if tcp { 'T' } else { 'U' };
                write!(f, "{sport} {dport} {letter} {seq} {timestamp} {priority} {size}({payload})")
            }
            Packet::Ack { nack, sport, dport, flags, priority, seq, timestamp } => {
                let letter = if nack { 'N' } else { 'A' };
                write!(
                    f,
                    "{sport} {dport} {letter} 0x{flags:02X} {priority} {seq} {timestamp} {size}"
                )
            }
            Packet::Pfc { time, queue_bytes, priority } => {
                write!(f, "P {time} {queue_bytes} {priority} {size}")
            }
            Packet::Cnp { flow, priority, ecn, seq } => {
                write!(f, "C {flow} {priority} {ecn} {seq} {size}")
            }
            Packet::Other { protocol } => write!(f, "{protocol:x} {size}"),
            Packet::QpAvailable { .. } => Ok(()),
        }
    }
}
