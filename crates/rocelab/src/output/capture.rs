//! What was sent and received at traced nodes as a capture: the frames that a RoCEv2 network would
//! carry, cut where their headers end.

use fabric::{PacketEvent, PacketEventKind, Setup};
use model::{Impairment, PauseExpiry};
use scenario::{Network, Port, Scenario};
use schemes::contract::{EcnCodePoint, Flags, Header, PacketKind};
use std::collections::BTreeMap;
use std::io::{self, Write};
use units::{NodeId, PortId, Rate, Time};
use wire::ethernet::{EthernetHeader, FCS_BYTES, IPV4};
use wire::ip::{Ecn, Ipv4Header, ROCEV2_PORT, UDP, UdpHeader};
use wire::pcapng::{Capture, Direction};
use wire::pfc::PfcFrame;
use wire::roce::{Aeth, Bth, CnpPacket, Opcode, Reth, Syndrome};

/// For packets of schemes between neighbours: IEEE 802's first type for local experiments.
const LOCAL_EXPERIMENT: u16 = 0x88b5;
/// For other packets of schemes than CNPs, which nothing reads: the last UDP port.
const OF_THE_SCHEME: u16 = 0xffff;
/// P_Key of the default partition.
const PARTITION: u16 = 0xffff;
/// Bytes that are written at once, and a packet more.
const AT_ONCE: usize = 64 << 10;
/// No headers take more.
const MAX_BYTES: usize = 128;

/// Makes the capture of the nodes whose packets are traced, an interface for each of their ports.
#[derive(Debug)]
pub(crate) struct Capturer {
    /// By number: node and port, name, rate.
    interfaces: Vec<((NodeId, PortId), String, Rate)>,
    frames: Frames,
}

impl Capturer {
    pub(crate) fn new(scenario: &Scenario, setup: &Setup) -> Capturer {
        let network = &scenario.network;
        let ports = network.ports();
        let mut interfaces = Vec::new();
        for &node in &scenario.trace.packets {
            for (number, port) in ports[node.index()].iter().enumerate() {
                let name = format!("{}:{}", network.name(node), network.name(port.peer));
                let rate = network.links[port.link as usize].rate;
                interfaces.push(((node, PortId::new(number as u16)), name, rate));
            }
        }
        Capturer { interfaces, frames: Frames::new(scenario, setup, ports) }
    }

    /// Writes the capture of these events.
    pub(crate) fn write(
        &self,
        events: impl Iterator<Item = io::Result<PacketEvent>>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut capture = Capture::new();
        let numbers: BTreeMap<_, _> = self
            .interfaces
            .iter()
            .map(|(port, name, rate)| (*port, capture.interface(name, *rate)))
            .collect();
        let mut frame = [0; MAX_BYTES];
        for event in events {
            let event = event?;
            let direction = match event.happening {
                PacketEventKind::Received => Direction::Inbound,
                PacketEventKind::Dequeued => Direction::Outbound,
                PacketEventKind::Enqueued
                | PacketEventKind::Dropped
                | PacketEventKind::Lost
                | PacketEventKind::Held => {
                    continue;
                }
            };
            let length = self.frames.length(&event.header);
            let headers = self.frames.write(&event, direction, length, &mut frame);
            let kept = &frame[..headers.min(length as usize)];
            let interface = numbers[&(event.node, event.port)];
            capture.packet(interface, event.time, direction, kept, length);
            if capture.len() >= AT_ONCE {
                out.write_all(&capture.take())?;
            }
        }
        out.write_all(&capture.take())
    }
}

/// A message on its QP.
#[derive(Clone, Copy, Debug)]
struct StreamPart {
    /// Its first byte in the QP's stream, and its size.
    start: u64,
    size: u64,
    /// The number of its first packet.
    packet: u64,
}

/// What frames are made of.
#[derive(Debug)]
struct Frames {
    wire: wire::Profile,
    payload: u64,
    ports: Vec<Vec<Port>>,
    /// How long pauses last; `None` until the resume.
    expiry: Option<PauseExpiry>,
    /// By link: its rate, and when it has others.
    rates: Vec<(Rate, Vec<Impairment>)>,
    /// The number of hosts.
    hosts: usize,
    /// By message: its QP, and its index among the messages of that QP.
    messages: Vec<(u32, usize)>,
    /// By QP, its messages in the order of its stream.
    queue_pairs: BTreeMap<u32, Vec<StreamPart>>,
}

impl Frames {
    fn new(scenario: &Scenario, setup: &Setup, ports: Vec<Vec<Port>>) -> Frames {
        let payload = u64::from(setup.payload);
        let mut queue_pairs: BTreeMap<u32, Vec<StreamPart>> = BTreeMap::new();
        let mut messages = Vec::with_capacity(setup.messages.len());
        for message in &setup.messages {
            let parts = queue_pairs.entry(message.qp).or_default();
            let (start, packet) = parts.last().map_or((0, 0), |last| {
                let packets = last.size.div_ceil(payload);
                (last.start + last.size, last.packet + packets)
            });
            messages.push((message.qp, parts.len()));
            parts.push(StreamPart { start, size: message.size.get(), packet });
        }
        let network: &Network = &scenario.network;
        let rates = network.links.iter().map(|link| (link.rate, Vec::new()));
        let mut rates: Vec<(Rate, Vec<Impairment>)> = rates.collect();
        for impairment in &setup.impairments {
            rates[impairment.link as usize].1.push(*impairment);
        }
        Frames {
            wire: setup.wire,
            payload,
            ports,
            expiry: setup.pfc.timing.expiry,
            rates,
            hosts: network.hosts().count(),
            messages,
            queue_pairs,
        }
    }

    /// Bytes of a frame, without FCS, as captures have it.
    fn length(&self, header: &Header) -> u32 {
        let beside = self.wire.preamble_and_gap();
        let fcs = if beside > 0 { FCS_BYTES as u32 } else { 0 };
        u32::from(header.size) - beside - fcs
    }

    /// Writes the headers of a frame of `length` bytes; returns how long they are.
    fn write(
        &self,
        event: &PacketEvent,
        direction: Direction,
        length: u32,
        out: &mut [u8; MAX_BYTES],
    ) -> usize {
        let header = &event.header;
        let here = (event.node, event.port);
        let peer = &self.ports[event.node.index()][event.port.index()];
        let there = (peer.peer, peer.peer_port);
        let (from, to) = match direction {
            Direction::Inbound => (there, here),
            Direction::Outbound => (here, there),
        };
        if header.kind == PacketKind::Pfc {
            let mut quanta = [None; 8];
            let asked = if event.pause { self.quanta(peer.link, header.sent_at) } else { 0 };
            quanta[usize::from(header.priority & 7)] = Some(asked);
            emitted(PfcFrame { source: mac(from), quanta }.emit(out));
            return PfcFrame::BYTES;
        }
        // No standard format says what these do.
        let is_private = matches!(header.kind, PacketKind::LinkControl | PacketKind::PathControl);
        let ethertype = if is_private { LOCAL_EXPERIMENT } else { IPV4 };
        let ethernet = EthernetHeader { destination: mac(to), source: mac(from), ethertype };
        emitted(ethernet.emit(out));
        let mut at = EthernetHeader::BYTES;
        if is_private {
            return at;
        }
        let (src, dst) = header.route_ends();
        let datagram = (length as usize).saturating_sub(at) as u16;
        let ip = Ipv4Header {
            // Class selectors, as adapters map priorities.
            dscp: header.priority << 3,
            ecn: match header.code_point {
                EcnCodePoint::NotMarked => Ecn::Capable0,
                EcnCodePoint::Undetermined => Ecn::Capable1,
                EcnCodePoint::CongestionExperienced => Ecn::CongestionExperienced,
            },
            total_length: datagram,
            identification: 0,
            ttl: 64,
            protocol: UDP,
            source: self.address(src),
            destination: self.address(dst),
        };
        emitted(ip.emit(&mut out[at..]));
        at += Ipv4Header::BYTES;
        let is_known = header.kind != PacketKind::Control || header.flags.contains(Flags::CNP);
        // What a scheme sends between messages belongs to none.
        let known = self.messages.get(header.address.flow as usize);
        let (queue_pair, index) = known.copied().unwrap_or_default();
        let udp = UdpHeader {
            source_port: 0xc000 | (queue_pair & 0x3fff) as u16,
            destination_port: if is_known { ROCEV2_PORT } else { OF_THE_SCHEME },
            length: datagram.saturating_sub(Ipv4Header::BYTES as u16),
        };
        emitted(udp.emit(&mut out[at..]));
        at += UdpHeader::BYTES;
        if !is_known {
            return at;
        }
        at + self.transport(header, queue_pair, index, &mut out[at..])
    }

    /// The quanta in a frame that was made at `time` and pauses a link: the longest time, where a
    /// pause lasts until the resume.
    fn quanta(&self, link: u32, time: Time) -> u16 {
        let Some(expiry) = self.expiry else { return u16::MAX };
        let (rate, others) = &self.rates[link as usize];
        let other = others.iter().find(|one| one.is_at(time)).and_then(|one| one.rate);
        expiry.quanta(other.unwrap_or(*rate))
    }

    /// From the BTH on.
    fn transport(&self, header: &Header, queue_pair: u32, index: usize, out: &mut [u8]) -> usize {
        let bth = |opcode, sequence: u64| Bth {
            opcode,
            solicited: false,
            migrated: false,
            pad: (4 - header.carried() % 4) as u8 & 3,
            partition: PARTITION,
            forward_congestion: false,
            backward_congestion: header.echo == EcnCodePoint::CongestionExperienced,
            queue_pair,
            ack_requested: header.flags.contains(Flags::ACK_REQUESTED),
            sequence: sequence as u32,
        };
        match header.kind {
            PacketKind::Data => {
                let message = self.queue_pairs[&queue_pair][index];
                let first = header.sequence == message.start;
                let opcode = match (first, header.flags.contains(Flags::LAST)) {
                    (true, true) => Opcode::WriteOnly,
                    (true, false) => Opcode::WriteFirst,
                    (false, true) => Opcode::WriteLast,
                    (false, false) => Opcode::WriteMiddle,
                };
                let number = self.packet_at(queue_pair, header.sequence);
                emitted(bth(opcode, number).emit(out));
                if !first {
                    return Bth::BYTES;
                }
                let length = message.size.min(u32::MAX.into()) as u32;
                let reth = Reth { address: message.start, key: 0, length };
                emitted(reth.emit(&mut out[Bth::BYTES..]));
                Bth::BYTES + Reth::BYTES
            }
            PacketKind::Ack | PacketKind::Nack => {
                let next = self.packet_at(queue_pair, header.sequence);
                let (syndrome, number) = if header.kind == PacketKind::Nack {
                    (Syndrome::SequenceError, next)
                } else {
                    // 31: no end-to-end credits.
                    (Syndrome::Ack(31), next.wrapping_sub(1))
                };
                emitted(bth(Opcode::Acknowledge, number).emit(out));
                // The MSN: how many messages have arrived whole.
                let message = self.messages_before(queue_pair, header.sequence);
                let aeth = Aeth { syndrome, message: message as u32 };
                emitted(aeth.emit(&mut out[Bth::BYTES..]));
                Bth::BYTES + Aeth::BYTES
            }
            PacketKind::Control
            | PacketKind::LinkControl
            | PacketKind::PathControl
            | PacketKind::Pfc => {
                // What a scheme says in its reserved bytes is not recorded.
                let cnp = CnpPacket { partition: PARTITION, queue_pair, reserved: [0; 16] };
                emitted(cnp.emit(out));
                CnpPacket::BYTES
            }
        }
    }

    /// The number of the packet in which a byte of a QP's stream goes, or would go.
    fn packet_at(&self, queue_pair: u32, byte: u64) -> u64 {
        let parts = &self.queue_pairs[&queue_pair];
        let after = parts.partition_point(|part| part.start <= byte);
        let StreamPart { start, packet, .. } = parts[after.max(1) - 1];
        packet + (byte - start).div_ceil(self.payload)
    }

    /// The number of a QP's messages that end at a byte of its stream, or before it.
    fn messages_before(&self, queue_pair: u32, byte: u64) -> usize {
        self.queue_pairs[&queue_pair].partition_point(|part| part.start + part.size <= byte)
    }

    /// Hosts are 10.0.0.1 and so on, in their order.
    fn address(&self, host: u32) -> [u8; 4] {
        debug_assert!((host as usize) < self.hosts);
        let [_, a, b, c] = (host + 1).to_be_bytes();
        [10, a, b, c]
    }
}

/// The address of a port: locally administered, then its node and its number.
fn mac((node, port): (NodeId, PortId)) -> [u8; 6] {
    let [_, a, b, c] = node.get().to_be_bytes();
    let [d, e] = port.get().to_be_bytes();
    [0x02, a, b, c, d, e]
}

/// Headers fit: [`MAX_BYTES`] are more than all of them.
fn emitted(result: Result<(), wire::DecodeError>) {
    result.expect("headers fit");
}
