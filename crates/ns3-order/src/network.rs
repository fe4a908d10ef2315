//! Nodes and ports, made from the topology file.

use crate::conweave;
use crate::event_list::{Handle, NONE, Past};
use crate::packets::Fifo;
use crate::settings::Settings;
use fabric::PortCounters;
use fabric::ns3::{address, murmur3, whole_nanoseconds};
use hpcc_files::{Config, Experiment};
use units::Rate;

/// Priorities of a port.
pub(crate) const CLASSES: usize = 8;
/// Bytes of each ingress port that are not shared.
pub(crate) const RESERVE: u32 = 4096;

/// A host or a switch.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) is_switch: bool,
    /// How often each event of its packets is recorded.
    pub(crate) records: u32,
    /// Its ports in the order of their numbers.
    pub(crate) ports: Vec<u32>,
    /// Switches: bytes of the buffer that are shared, which may be below zero and wrapped around,
    /// and how many of them are in use.
    pub(crate) shared: u32,
    pub(crate) used: u32,
    /// The time of the last event here, and how it was scheduled.
    pub(crate) last_event: (u64, Past),
}

/// A port of a host or of a switch. Sizes in bytes, times in nanoseconds, rates in bits per second.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub(crate) node: u32,
    /// From 1.
    pub(crate) number: u16,
    pub(crate) is_host: bool,
    /// Whether events of packets are recorded.
    pub(crate) traced: bool,
    pub(crate) up: bool,
    pub(crate) busy: bool,
    /// The classes that its peer pauses.
    pub(crate) paused: u8,
    pub(crate) peer: u32,
    pub(crate) rate: u64,
    pub(crate) delay: u64,
    /// The error model of its link.
    pub(crate) errors: u32,
    /// How long packets of some sizes take.
    times: [(u16, u64); 4],

    /// Switches: the queues, the mask of those with packets, and the bytes in all of them.
    pub(crate) queues: [Fifo; CLASSES],
    pub(crate) waiting: u8,
    pub(crate) queued: u64,
    /// The queue that was served last, other than queue 0.
    pub(crate) turn: u8,
    /// The MMU's bytes of each queue. They include packets that a link failure dropped.
    pub(crate) egress: [u32; CLASSES],
    pub(crate) ecn: Ecn,
    /// The MMU's bytes of what came in here, by class: in reserve and shared buffer, in headroom.
    pub(crate) ingress: [u32; CLASSES],
    pub(crate) in_headroom: [u32; CLASSES],
    /// The classes in which it pauses its peer.
    pub(crate) pausing: u8,
    pub(crate) headroom: u32,
    pub(crate) shift: u32,
    pub(crate) int_code: u8,
    pub(crate) last_size: u16,
    pub(crate) last_time: u64,
    /// Bytes sent, as INT counts them.
    pub(crate) tx_bytes: u64,
    /// U of HPCC-PINT.
    pub(crate) utilisation: f64,
    pub(crate) samples: Samples,

    /// Hosts: ACKs, the flows in the order of their start, the place of the one that sent last, and
    /// the wake-up.
    pub(crate) acks: Fifo,
    pub(crate) table: Vec<u32>,
    pub(crate) last: usize,
    pub(crate) wake: Handle,

    pub(crate) counters: PortCounters,
    pub(crate) paused_since: u64,
}

/// Returns the node at the other end of a port's link.
pub(crate) fn neighbour(ports: &[Port], port: u32) -> u32 {
    ports[ports[port as usize].peer as usize].node
}

/// How a port marks: thresholds in bytes, and the probability at the upper one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ecn {
    pub(crate) kmin: u32,
    pub(crate) kmax: u32,
    pub(crate) pmax: f64,
}

/// Samples of all queues of a port together, in bins of 1000 bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    /// Bytes at present.
    pub(crate) bytes: u64,
    /// How many samples are in the histogram.
    pub(crate) counted: u64,
    pub(crate) histogram: Vec<u64>,
}

impl Samples {
    /// Counts the samples up to the one with number `taken`, which all see the present bytes.
    #[inline]
    pub(crate) fn count(&mut self, taken: u64) {
        if taken != self.counted {
            let bin = (self.bytes / 1000) as usize;
            if self.histogram.len() <= bin {
                self.histogram.resize(bin + 1, 0);
            }
            self.histogram[bin] += taken - self.counted;
            self.counted = taken;
        }
    }
}

impl Port {
    /// Returns how long a packet takes on the wire.
    #[inline]
    pub(crate) fn time_for(&self, size: u16) -> u64 {
        match self.times.iter().find(|(known, _)| *known == size) {
            Some(&(_, time)) => time,
            None => time_for(self.rate, u64::from(size)),
        }
    }
}

/// Returns how long bytes take at a rate, in nanoseconds.
pub(crate) fn time_for(rate: u64, bytes: u64) -> u64 {
    whole_nanoseconds(Rate::from_bps(rate), bytes).ns()
}

/// The rates that INT has codes for.
pub(crate) const INT_RATES: [u64; 5] = [25, 50, 100, 200, 400];

/// Makes all nodes and ports. A link has ports 2n and 2n + 1, in the order of its nodes in the
/// file.
pub(crate) fn build(experiment: &Experiment, settings: &Settings) -> (Vec<Node>, Vec<Port>) {
    let Experiment { config, topology, traced, .. } = experiment;
    let mut nodes: Vec<Node> = topology
        .is_switch
        .iter()
        .map(|&is_switch| Node {
            is_switch,
            records: 0,
            ports: Vec::new(),
            shared: 0,
            used: 0,
            last_event: (0, Past::NONE),
        })
        .collect();
    traced.iter().for_each(|node| nodes[node.index()].records += 1);
    let mut ports = Vec::with_capacity(topology.links.len() * 2);
    for link in &topology.links {
        for (node, number) in [(link.a, link.a_port), (link.b, link.b_port)] {
            let index = ports.len() as u32;
            let at = &mut nodes[node.index()];
            at.ports.push(index);
            let rate = link.rate.bps();
            let sizes = [settings.payload as u16 + settings.header, settings.ack, 43, 0];
            ports.push(Port {
                node: node.get(),
                number: number as u16,
                is_host: !at.is_switch,
                traced: at.records > 0,
                up: true,
                busy: false,
                paused: 0,
                peer: index ^ 1,
                rate,
                delay: link.delay.ns(),
                errors: NONE,
                times: sizes.map(|size| (size, time_for(rate, u64::from(size)))),
                queues: [Fifo::EMPTY; CLASSES],
                waiting: 0,
                queued: 0,
                turn: 0,
                egress: [0; CLASSES],
                ecn: ecn(config, link.rate),
                ingress: [0; CLASSES],
                in_headroom: [0; CLASSES],
                pausing: 0,
                headroom: 0,
                shift: 0,
                int_code: int_code(rate),
                last_size: 0,
                last_time: 0,
                tx_bytes: 0,
                utilisation: 0.0,
                samples: Samples::default(),
                acks: Fifo::EMPTY,
                table: Vec::new(),
                last: 0,
                wake: Handle::NONE,
                counters: PortCounters::default(),
                paused_since: 0,
            });
        }
    }
    if settings.conweave {
        conweave::size_buffers(config, &mut nodes, &mut ports);
    } else {
        size_buffers(config, &mut nodes, &mut ports);
    }
    (nodes, ports)
}

/// A rate without a code leaves the field at 0.
fn int_code(rate: u64) -> u8 {
    let place = INT_RATES.iter().position(|gbps| gbps * 1_000_000_000 == rate);
    place.unwrap_or(0) as u8
}

fn ecn(config: &Config, rate: Rate) -> Ecn {
    let bytes = |map: &std::collections::BTreeMap<Rate, units::Bytes>| {
        map.get(&rate).map_or(0, |bytes| bytes.get() as u32)
    };
    let pmax = config.pmax.get(&rate).copied().unwrap_or(0.0);
    Ecn { kmin: bytes(&config.kmin), kmax: bytes(&config.kmax), pmax }
}

/// Divides the buffers of switches into headroom, reserve and a shared part.
fn size_buffers(config: &Config, nodes: &mut [Node], ports: &mut [Port]) {
    let first_host = nodes.iter().find(|node| !node.is_switch && !node.ports.is_empty());
    let nic_rate = first_host.map_or(0, |host| ports[host.ports[0] as usize].rate);
    for node in nodes.iter_mut().filter(|node| node.is_switch) {
        node.shared = config.buffer_size.get() as u32;
        for &port in &node.ports {
            let port = &mut ports[port as usize];
            port.headroom = (port.rate.wrapping_mul(port.delay) / 8 / 1_000_000_000 * 3) as u32;
            port.shift = 3;
            let mut rate = port.rate;
            while rate > nic_rate && port.shift > 0 {
                port.shift -= 1;
                rate /= 2;
            }
            node.shared = node.shared.wrapping_sub(port.headroom).wrapping_sub(RESERVE);
        }
    }
}

/// The ends of a packet: what nodes hash to choose among next hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FourTuple {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) sport: u16,
    pub(crate) dport: u16,
}

impl FourTuple {
    /// Returns the ends of a packet in the other direction.
    #[inline]
    pub(crate) fn back(self) -> FourTuple {
        FourTuple { src: self.dst, dst: self.src, sport: self.dport, dport: self.sport }
    }

    /// Returns the hash by which a node with this seed chooses.
    #[inline]
    pub(crate) fn hash(self, seed: u32) -> u32 {
        let ports = u32::from(self.sport) | u32::from(self.dport) << 16;
        murmur3([address(self.src), address(self.dst), ports], seed)
    }
}

/// What a message is, and where its QP is.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) sport: u16,
    pub(crate) dport: u16,
    pub(crate) priority: u8,
    pub(crate) size: u64,
    /// The pair of table entries at its hosts. Flows with the same key share one.
    pub(crate) connection: u32,
    /// Base round trip of its hosts in nanoseconds, their BDP in bytes, and the lowest rate between
    /// them at present, in bits per second.
    pub(crate) base_rtt: u64,
    pub(crate) bdp: u64,
    pub(crate) bottleneck: u64,
    pub(crate) start: u64,
}

impl Flow {
    /// Returns the ends of its data packets.
    #[inline]
    pub(crate) fn ends(&self) -> FourTuple {
        FourTuple { src: self.src, dst: self.dst, sport: self.sport, dport: self.dport }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_there() {
        let ends = FourTuple { src: 0, dst: 1, sport: 10_000, dport: 100 };
        assert_eq!(ends.hash(0x8bad_f00d), 0xe7b5_5057);
        assert_eq!(ends.hash(8), 0x0326_0400);
        assert_eq!(ends.back().hash(8), 0x5b59_5f19);
    }
}
