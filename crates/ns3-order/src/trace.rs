//! The packet trace, in the order of events.

use crate::network::FourTuple;
use crate::packets::PacketKind;
use crate::simulation::Simulation;
use hpcc_files::packet_trace::{self, Event, Record};
use hpcc_files::{CcMode, address};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use units::{NodeId, Time};

/// Makes a file that records go to if they are too many for memory.
pub type NewFile<'a> = &'a dyn Fn() -> io::Result<File>;

/// The records of a trace, as their bytes in the file.
#[derive(Clone, Debug, Default)]
pub struct TraceRecords {
    file: Option<Arc<Mutex<File>>>,
    rest: Arc<Vec<u8>>,
    /// How many there are.
    pub count: u64,
}

impl TraceRecords {
    /// Writes all records to `out`.
    ///
    /// # Errors
    /// If the file that holds them cannot be read, or `out` not be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(file) = &self.file {
            let mut file = file.lock().unwrap_or_else(|broken| broken.into_inner());
            file.seek(SeekFrom::Start(0))?;
            let mut block = vec![0; 1 << 18];
            loop {
                let read = file.read(&mut block)?;
                if read == 0 {
                    break;
                }
                out.write_all(&block[..read])?;
            }
        }
        out.write_all(&self.rest)
    }
}

/// Collects records.
pub(crate) struct Trace<'a> {
    new_file: NewFile<'a>,
    max_held: usize,
    file: Option<File>,
    /// Bytes in the file.
    stored: u64,
    held: Vec<u8>,
    count: u64,
    /// Why there are no more records from some time on.
    pub(crate) failure: Option<(Time, io::Error)>,
}

impl<'a> Trace<'a> {
    pub(crate) fn new(new_file: NewFile<'a>, max_held: usize) -> Trace<'a> {
        Trace {
            new_file,
            max_held,
            file: None,
            stored: 0,
            held: Vec::new(),
            count: 0,
            failure: None,
        }
    }

    fn add(&mut self, record: &Record) {
        if self.failure.is_some() {
            return;
        }
        self.held.extend_from_slice(&packet_trace::encode(record));
        self.count += 1;
        if self.held.len() >= self.max_held {
            self.failure = self.empty().err().map(|error| (record.time, error));
        }
    }

    fn empty(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert((self.new_file)()?),
        };
        if let Err(error) = file.write_all(&self.held) {
            // What is held goes to the end of the trace instead.
            file.set_len(self.stored)?;
            return Err(error);
        }
        self.stored += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }

    pub(crate) fn finish(self) -> TraceRecords {
        TraceRecords {
            file: self.file.map(|file| Arc::new(Mutex::new(file))),
            rest: Arc::new(self.held),
            count: self.count,
        }
    }
}

impl Simulation<'_> {
    /// Records what happens to a packet at a port, in or for `queue`, which holds `bytes`.
    #[cold]
    pub(crate) fn trace(&mut self, port: u32, slot: u32, event: Event, queue: u8, bytes: u32) {
        let at = &self.ports[port as usize];
        let packet = self.packets.get(slot);
        let is_pfc = packet.kind == PacketKind::Pfc;
        let sender = if event == Event::Received { at.peer } else { port };
        let (src, dst) = if is_pfc {
            (interface(sender), Ipv4Addr::BROADCAST)
        } else {
            let FourTuple { src, dst, .. } = self.four_tuple(slot);
            (address::of(NodeId::new(src)), address::of(NodeId::new(dst)))
        };
        let record = Record {
            time: Time::from_ns(self.events.now()),
            node: NodeId::new(at.node),
            is_switch: !at.is_host,
            port: at.number as u8,
            queue,
            queue_bytes: bytes,
            src,
            dst,
            size: packet.size,
            event,
            ecn: if packet.marked && !is_pfc { 3 } else { 0 },
            packet: self.fields(slot),
        };
        for _ in 0..self.nodes[record.node.index()].records {
            self.output.trace.add(&record);
        }
    }

    /// What a record holds of a packet beside what all have.
    fn fields(&self, slot: u32) -> packet_trace::Packet {
        let packet = self.packets.get(slot);
        let timestamp = if self.settings.mode == CcMode::Timely { packet.sent_at } else { 0 };
        let priority = u16::from(packet.priority);
        if packet.kind == PacketKind::Pfc {
            return packet_trace::Packet::Pfc {
                time: if packet.pause { self.settings.pause_time } else { 0 },
                queue_bytes: packet.queue_bytes,
                priority: packet.priority,
            };
        }
        let FourTuple { sport, dport, .. } = self.four_tuple(slot);
        match packet.kind {
            PacketKind::Data => packet_trace::Packet::Data {
                tcp: false,
                sport,
                dport,
                seq: packet.seq,
                timestamp,
                priority,
                payload: packet.payload,
            },
            _ => packet_trace::Packet::Ack {
                nack: packet.kind == PacketKind::Nack,
                sport,
                dport,
                flags: u16::from(packet.echo),
                priority,
                seq: packet.seq,
                timestamp,
            },
        }
    }
}

/// The address of a port: the number of its link makes 10.x.y, and its end 1 or 2.
fn interface(port: u32) -> Ipv4Addr {
    let (link, end) = (port / 2, port % 2);
    Ipv4Addr::new(10, (link / 254 + 1) as u8, (link % 254 + 1) as u8, end as u8 + 1)
}
