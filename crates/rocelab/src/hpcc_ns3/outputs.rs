//! From results to the files of the HPCC simulator.

use crate::Recordings;
use fabric::{PacketEvent, PacketEventKind, QueueBlock};
use hpcc_files::packet_trace::{self, Event, Record};
use hpcc_files::{CcMode, Experiment, address, fct, pfc, queue_lengths};
use ns3_order::TraceRecords;
use results::{FlowTable, UNFINISHED};
use scenario::{HostPorts, SourcePorts};
use schemes::contract::{EcnCodePoint, Flags, PacketKind};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::iter;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use units::{Bytes, NodeId, Time};

/// The files of a run, ready to be written.
#[derive(Clone, Debug)]
pub struct Ns3OutputFiles {
    fct: Vec<fct::FctRow>,
    recordings: Recordings,
    trace: TraceSource,
}

/// Where the packet trace comes from.
#[derive(Clone, Debug)]
enum TraceSource {
    /// The recorded events, and of each flow its source and destination port.
    Recordings(Vec<(u16, u16)>),
    /// Records as the file has them.
    Records(packet_trace::Header, TraceRecords),
}

impl Ns3OutputFiles {
    /// What goes into the files of `experiment`, whose run left `table` and `recordings`.
    pub fn new(
        experiment: &Experiment,
        table: &FlowTable,
        recordings: &Recordings,
    ) -> Ns3OutputFiles {
        let ports = ports(experiment);
        let conweave = experiment.writes_conweave_fct.then(|| conweave_ports(experiment));
        let mut rows: Vec<(Time, fct::FctRow)> = Vec::new();
        for (row, &(sport, dport)) in conweave.as_ref().unwrap_or(&ports).iter().enumerate() {
            if table.fct_ps[row] == UNFINISHED {
                continue;
            }
            let (start, fct) =
                (Time::from_ps(table.start_ps[row]), Time::from_ps(table.fct_ps[row]));
            rows.push((
                start + fct,
                fct::FctRow {
                    src: address::of(NodeId::new(table.src[row])),
                    dst: address::of(NodeId::new(table.dst[row])),
                    sport,
                    dport,
                    size: Bytes::new(table.size_bytes[row]),
                    start,
                    fct,
                    ideal_fct: Time::from_ps(table.ideal_fct_ps[row]),
                },
            ));
        }
        rows.sort_by_key(|(end, _)| *end);
        Ns3OutputFiles {
            fct: rows.into_iter().map(|(_, row)| row).collect(),
            recordings: recordings.clone(),
            trace: TraceSource::Recordings(ports),
        }
    }

    /// What goes into the files of a run in ns-3's order of events: the rows of finished flows in
    /// that order, PFC frames and queues, and the packet trace.
    pub(super) fn in_ns3_order(
        fct: Vec<fct::FctRow>,
        recordings: &Recordings,
        (header, records): (packet_trace::Header, TraceRecords),
    ) -> Ns3OutputFiles {
        let trace = TraceSource::Records(header, records);
        Ns3OutputFiles { fct, recordings: recordings.clone(), trace }
    }
}

/// Source and destination port of each flow.
fn ports(experiment: &Experiment) -> Vec<(u16, u16)> {
    let mut sources = SourcePorts::default();
    let flows = experiment.flows.iter();
    flows.map(|flow| (sources.next(flow.src, flow.dst), flow.dport)).collect()
}

/// Source and destination port of each flow in ConWeave's `fct.txt`.
fn conweave_ports(experiment: &Experiment) -> Vec<(u16, u16)> {
    let mut ports = HostPorts::default();
    experiment.flows.iter().map(|flow| ports.next(flow.src, flow.dst)).collect()
}

/// Writes the files that the configuration names, or files of the same names into `into`; returns
/// where they are. None is ever half there: each is written beside its place, and when all are,
/// they are moved there.
///
/// # Errors
/// With the path, where one can't be written.
pub fn write(
    experiment: &Experiment,
    files: &Ns3OutputFiles,
    directory: &Path,
    into: Option<&Path>,
) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let config = &experiment.config;
    let place = |path: &Path| match (into, path.file_name()) {
        (Some(into), Some(name)) => into.join(name),
        _ => directory.join(path),
    };
    let mut all: Vec<(PathBuf, Placed)> = Vec::new();
    let mut put = |path: &Path, content: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let path = place(path);
        let placed = Placed::new(&path, content).map_err(|error| (path.clone(), error))?;
        all.push((path, placed));
        Ok(())
    };
    put(&config.fct_output_file, &|out| {
        files.fct.iter().try_for_each(|row| match experiment.writes_conweave_fct {
            true => writeln!(out, "{}", row.with_numbers()),
            false => writeln!(out, "{row}"),
        })
    })?;
    put(&config.pfc_output_file, &|out| write_pfc(out, experiment, &files.recordings))?;
    if let Some(path) = &config.qlen_mon_file {
        put(path, &|out| write_qlen(out, &files.recordings))?;
    }
    // Where nothing is traced, it has its header all the same.
    if let Some(path) = &config.trace_output_file {
        put(path, &|out| write_trace(out, experiment, files))?;
    }
    let mut written = Vec::new();
    for (path, placed) in all {
        placed.finish().map_err(|error| (path.clone(), error))?;
        written.push(path);
    }
    Ok(written)
}

/// A file that is whole, beside its place until it is finished; without that it goes.
struct Placed {
    /// Where it is and where it goes; none where there was no file to replace.
    from_to: Option<(PathBuf, PathBuf)>,
}

impl Placed {
    /// Writes a file beside its place. What is no file, as a device or a pipe, is written to; a
    /// link stands for what it leads to.
    fn new(path: &Path, content: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<Placed> {
        if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
            content(&mut out)?;
            out.flush()?;
            return Ok(Placed { from_to: None });
        }
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if path.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent)?;
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{}-{number}.partial", std::process::id()));
        let partial = path.with_file_name(name);
        let mut out = BufWriter::new(File::create(&partial)?);
        // From here on it is removed where something fails.
        let placed = Placed { from_to: Some((partial, path)) };
        content(&mut out)?;
        out.flush()?;
        Ok(placed)
    }

    /// Moves it to its place.
    fn finish(mut self) -> io::Result<()> {
        let Some((from, to)) = &self.from_to else { return Ok(()) };
        fs::rename(from, to)?;
        self.from_to = None;
        Ok(())
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        if let Some((partial, _)) = &self.from_to {
            // The first error is the one that is reported.
            let _ = fs::remove_file(partial);
        }
    }
}

fn write_pfc(
    out: &mut dyn Write,
    experiment: &Experiment,
    recordings: &Recordings,
) -> io::Result<()> {
    recordings.pfc_events().try_for_each(|event| {
        let event = event?;
        let row = pfc::PfcRow {
            time: event.time,
            node: event.node,
            is_switch: experiment.topology.is_switch[event.node.index()],
            port: u32::from(event.port.get()) + 1,
            pause: event.pause,
        };
        writeln!(out, "{row}")
    })
}

fn write_qlen(mut out: &mut dyn Write, recordings: &Recordings) -> io::Result<()> {
    let mut blocks = recordings.queue_blocks().peekable();
    while let Some(first) = blocks.next() {
        let first = first?;
        let time = first.time;
        let at_once = |next: &io::Result<QueueBlock>| next.as_ref().is_ok_and(|it| it.time == time);
        let others = iter::from_fn(|| blocks.next_if(at_once)).filter_map(Result::ok);
        let histograms: Vec<_> = iter::once(first)
            .chain(others)
            .map(|QueueBlock { node, port, counts, .. }| {
                (node, u32::from(port.get()) + 1, queue_lengths::Histogram { counts })
            })
            .collect();
        let ports = histograms.iter().map(|(node, port, histogram)| (*node, *port, histogram));
        queue_lengths::write_block(&mut out, time, ports)?;
    }
    Ok(())
}

fn write_trace(
    out: &mut dyn Write,
    experiment: &Experiment,
    files: &Ns3OutputFiles,
) -> io::Result<()> {
    let ports = match &files.trace {
        TraceSource::Recordings(ports) => ports,
        TraceSource::Records(header, records) => {
            packet_trace::Writer::new(&mut *out, header)?.finish()?;
            return records.write(out);
        }
    };
    let header = packet_trace::Header {
        ports: ns3_order::port_table(experiment),
        window: files.recordings.network_bdp().map_or(0, |bdp| bdp.get() as u32),
    };
    let mut trace = packet_trace::Writer::new(out, &header)?;
    let mut copies = vec![0_u32; experiment.topology.is_switch.len()];
    experiment.traced.iter().for_each(|node| copies[node.index()] += 1);
    for event in files.recordings.packet_events() {
        let event = event?;
        if is_traced(&event, experiment) {
            let record = record(&event, experiment, ports);
            for _ in 0..copies[event.node.index()] {
                trace.write(&record)?;
            }
        }
    }
    trace.finish()
}

/// Whether the original has a record of it. Of packets that a link damages, and of those that find
/// no room, it has none; of those that a failing link loses it has, be they queued for it or on it.
fn is_traced(event: &PacketEvent, experiment: &Experiment) -> bool {
    let at_failed = |from: fn(Time, Time) -> bool| {
        let Some(down) = experiment.config.link_down else { return false };
        let port = u32::from(event.port.get()) + 1;
        let mut links = experiment.topology.links.iter();
        from(event.time, down.at)
            && links.any(|link| {
                let ends = [(link.a, link.a_port), (link.b, link.b_port)];
                ends.contains(&(event.node, port))
                    && ends.iter().all(|(node, _)| [down.a, down.b].contains(node))
            })
    };
    match event.happening {
        PacketEventKind::Received | PacketEventKind::Enqueued | PacketEventKind::Dequeued => true,
        // At that time nothing comes in there before it fails, so this waited in its queue.
        PacketEventKind::Dropped => at_failed(|time, down| time == down),
        PacketEventKind::Lost => at_failed(|time, down| time >= down),
        PacketEventKind::Held => false,
    }
}

fn record(event: &PacketEvent, experiment: &Experiment, ports: &[(u16, u16)]) -> Record {
    let header = &event.header;
    let is_pfc = header.kind == PacketKind::Pfc;
    let is_ack = matches!(header.kind, PacketKind::Ack | PacketKind::Nack);
    let is_switch = experiment.topology.is_switch[event.node.index()];
    let (src, dst) = if is_pfc {
        (interface(experiment, event), Ipv4Addr::BROADCAST)
    } else {
        let flow = &experiment.flows[header.address.flow as usize];
        let (src, dst) = (address::of(flow.src), address::of(flow.dst));
        if header.flags.contains(Flags::TO_SOURCE) { (dst, src) } else { (src, dst) }
    };
    let (sport, dport) = match ports.get(header.address.flow as usize) {
        Some(&(sport, dport)) if header.flags.contains(Flags::TO_SOURCE) => (dport, sport),
        Some(&ports) => ports,
        None => (0, 0),
    };
    let timestamp =
        if experiment.config.cc_mode == CcMode::Timely { header.sent_at.ns() } else { 0 };
    let packet = match header.kind {
        PacketKind::Pfc => packet_trace::Packet::Pfc {
            time: if event.pause {
                (experiment.config.pause_time.ps() / 1_000_000) as u32
            } else {
                0
            },
            queue_bytes: 0,
            priority: header.priority,
        },
        PacketKind::Ack | PacketKind::Nack => packet_trace::Packet::Ack {
            nack: header.kind == PacketKind::Nack,
            sport,
            dport,
            flags: u16::from(header.echo == EcnCodePoint::CongestionExperienced),
            priority: u16::from(header.priority),
            seq: header.sequence as u32,
            timestamp,
        },
        _ => packet_trace::Packet::Data {
            tcp: false,
            sport,
            dport,
            seq: header.sequence as u32,
            timestamp,
            priority: u16::from(header.priority),
            payload: header.payload,
        },
    };
    let came_in = came_in(event);
    Record {
        time: event.time,
        node: event.node,
        is_switch,
        // A byte, as in the original.
        port: (event.port.get() as u8).wrapping_add(1),
        // Hosts queue ACKs apart and have 0 bytes in the trace, and what comes in is in no queue.
        queue: if came_in || is_pfc || (is_ack && !is_switch) { 0 } else { header.priority },
        queue_bytes: if came_in || is_pfc || !is_switch { 0 } else { event.queue_bytes as u32 },
        src,
        dst,
        size: header.size,
        event: match event.happening {
            PacketEventKind::Received => Event::Received,
            PacketEventKind::Enqueued => Event::Enqueued,
            PacketEventKind::Dequeued => Event::Dequeued,
            PacketEventKind::Dropped | PacketEventKind::Lost => Event::Dropped,
            PacketEventKind::Held => unreachable!("the original has no event for it"),
        },
        ecn: if header.code_point == EcnCodePoint::CongestionExperienced { 3 } else { 0 },
        packet,
    }
}

/// Whether it happened as the packet came in from a link.
fn came_in(event: &PacketEvent) -> bool {
    matches!(event.happening, PacketEventKind::Received | PacketEventKind::Lost)
}

/// The address of the interface that sends a PFC frame: the link's number in the file makes
/// 10.x.y, the end 1 or 2.
fn interface(experiment: &Experiment, event: &PacketEvent) -> Ipv4Addr {
    let port = u32::from(event.port.get()) + 1;
    let links = &experiment.topology.links;
    let of = |link: &hpcc_files::topology::Link| {
        let at_a = link.a == event.node && link.a_port == port;
        let at_b = link.b == event.node && link.b_port == port;
        // What comes in was sent from the other end.
        let sender_is_a = if came_in(event) { at_b } else { at_a };
        (at_a || at_b).then_some(if sender_is_a { 1 } else { 2 })
    };
    let mut ends = links.iter().enumerate().filter_map(|(number, link)| Some((number, of(link)?)));
    let (number, end) = ends.next().unwrap_or((0, 1));
    Ipv4Addr::new(10, (number / 254 + 1) as u8, (number % 254 + 1) as u8, end)
}
