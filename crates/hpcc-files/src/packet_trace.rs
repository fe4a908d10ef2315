//! The packet trace (`.tr`): what each traced port received, queued, sent and dropped.
//!
//! A binary file, little-endian as x86 writes it. First the table of ports, packed:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | number of ports |
//! | 2, 1, 8 for each | node, port, rate in bits per second |
//! | 4 | the largest window in bytes: the largest BDP of any pair of hosts |
//!
//! Then a record of [`RECORD_BYTES`] for each event, a C struct with its natural gaps:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | time, ns |
//! | 8 | 2, 1, 1 | node, port, queue |
//! | 12 | 4 | bytes in that queue |
//! | 16 | 4, 4 | addresses of source and destination |
//! | 24 | 2 | size of the packet |
//! | 26 | 1, 1, 1, 1 | protocol, event, ECN bits, kind of node |
//! | 32 | 24 | by protocol: |
//! | | 2, 2, 4, 8, 2, 2 | data: ports, sequence number, time stamp, priority group, payload |
//! | | 2, 2, 2, 2 | ACK, NACK: ports, flags, priority group |
//! | | 4, gap of 4, 8 | and: sequence number, time stamp |
//! | | 4, 4, 1 | PFC: pause time in us, queue in bytes, priority |
//! | | 2, 1, 1, 4 | CNP: flow, priority, ECN bits, sequence number |
//! | | 2, 2 | a QP became available: ports |
//!
//! [`Record`] displays as the line that the original's `trace_reader` prints for it.

mod layout;
mod text;

use crate::error::{FileError, Result};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::net::Ipv4Addr;
use units::{NodeId, Rate, Time};

pub use layout::RECORD_BYTES;

/// A port of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRate {
    /// The node.
    pub node: u16,
    /// The port, counted from 1.
    pub port: u8,
    /// Its rate.
    pub rate: Rate,
}

/// The table in front of the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// All ports of the network, in any order.
    pub ports: Vec<PortRate>,
    /// The largest window of a flow in bytes.
    pub window: u32,
}

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It came in.
    Received,
    /// It entered a queue.
    Enqueued,
    /// It left a queue and began to go out.
    Dequeued,
    /// It was dropped for want of buffer.
    Dropped,
    /// An unknown number.
    Unknown(u8),
}

/// Fields of a packet, by its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Data.
    Data {
        /// The packet is TCP. Otherwise it is UDP, as all RoCE packets are.
        tcp: bool,
        /// Source port.
        sport: u16,
        /// Destination port.
        dport: u16,
        /// Sequence number: its first byte.
        seq: u32,
        /// Time in nanoseconds at which it left the sender; 0 if packets do not carry it.
        timestamp: u64,
        /// Priority group.
        priority: u16,
        /// Bytes of the flow.
        payload: u16,
    },
    /// An ACK or a NACK.
    Ack {
        /// It is a NACK.
        nack: bool,
        /// Source port.
        sport: u16,
        /// Destination port.
        dport: u16,
        /// Flags. The lowest bit is set if the packet was marked.
        flags: u16,
        /// Priority group.
        priority: u16,
        /// The next byte that is expected.
        seq: u32,
        /// The time stamp of the packet that it acknowledges.
        timestamp: u64,
    },
    /// A PFC frame.
    Pfc {
        /// Pause in microseconds; 0 resumes.
        time: u32,
        /// Bytes in the queue that it concerns.
        queue_bytes: u32,
        /// The priority that it concerns.
        priority: u8,
    },
    /// A separate CNP.
    Cnp {
        /// The flow's source port.
        flow: u16,
        /// Priority group.
        priority: u8,
        /// ECN bits that it reports.
        ecn: u8,
        /// Sequence number.
        seq: u32,
    },
    /// No packet: a QP has data to send.
    QpAvailable {
        /// Source port.
        sport: u16,
        /// Destination port.
        dport: u16,
    },
    /// An unknown protocol.
    Other {
        /// Its number.
        protocol: u8,
    },
}

/// An event of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time, in whole nanoseconds.
    pub time: Time,
    /// The node. The format has 16 bits for it.
    pub node: NodeId,
    /// Whether the node is a switch.
    pub is_switch: bool,
    /// The port, counted from 1.
    pub port: u8,
    /// The queue.
    pub queue: u8,
    /// Bytes in that queue.
    pub queue_bytes: u32,
    /// Source address of the packet.
    pub src: Ipv4Addr,
    /// Destination address of the packet.
    pub dst: Ipv4Addr,
    /// Its size on the wire.
    pub size: u16,
    /// The kind of event.
    pub event: Event,
    /// Its ECN bits.
    pub ecn: u8,
    /// Fields of its protocol.
    pub packet: Packet,
}

/// Returns the bytes of a record.
pub fn encode(record: &Record) -> [u8; RECORD_BYTES] {
    layout::emit(record)
}

/// Writes a trace, buffered.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: BufWriter<W>,
}

impl<W: Write> Writer<W> {
    /// Writes `header` to `out`.
    pub fn new(out: W, header: &Header) -> io::Result<Writer<W>> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let ports = u32::try_from(header.ports.len()).map_err(io::Error::other)?;
        out.write_all(&ports.to_le_bytes())?;
        for port in &header.ports {
            out.write_all(&layout::emit_port(port))?;
        }
        out.write_all(&header.window.to_le_bytes())?;
        Ok(Writer { out })
    }

    /// Writes an event.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        self.out.write_all(&layout::emit(record))
    }

    /// Writes what is left in the buffer.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads a trace, record by record.
#[derive(Debug)]
pub struct Reader<R: Read> {
    input: BufReader<R>,
    header: Header,
    read: u64,
}

impl<R: Read> Reader<R> {
    /// Reads the header of `input`.
    pub fn new(input: R) -> Result<Reader<R>> {
        let mut input = BufReader::with_capacity(1 << 16, input);
        let mut header = Header::default();
        let ports = u32::from_le_bytes(take(&mut input)?);
        for _ in 0..ports {
            header.ports.push(layout::parse_port(&take(&mut input)?));
        }
        header.window = u32::from_le_bytes(take(&mut input)?);
        Ok(Reader { input, header, read: 0 })
    }

    /// Reads the table of ports in front of the records.
    pub fn header(&self) -> &Header {
        &self.header
    }

    fn read(&mut self) -> Result<Option<Record>> {
        if self.input.fill_buf().map_err(|error| FileError::unreadable(&error))?.is_empty() {
            return Ok(None);
        }
        self.read += 1;
        layout::parse(&take(&mut self.input)?)
            .map(Some)
            .ok_or_else(|| FileError::new(format!("record {} has no time", self.read)))
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Result<Record>> {
        self.read().transpose()
    }
}

fn take<const N: usize>(input: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    match input.read_exact(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(FileError::new("the file ends within its table of ports or a record")
                .hint("is it complete?"))
        }
        Err(error) => Err(FileError::unreadable(&error)),
    }
}
