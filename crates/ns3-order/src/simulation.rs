//! The state of a run, and the loop that handles its events.

use crate::conweave::ConWeave;
use crate::draws::{CRand, ErrorModel, Seeds};
use crate::event_list::{Event, EventList, Kind, NONE, Past};
use crate::laws::{Law, Laws, Reaction};
use crate::network::{self, Flow, FourTuple, Node, Port};
use crate::output::{Collected, Output};
use crate::packets::Packets;
use crate::routes::{PathFacts, Routes};
use crate::settings::Settings;
use crate::walk_order::WalkOrder;
use crate::{Options, Progress};
use fabric::ns3::{Draws, address as word, first_stream};
use hpcc_files::fct::FctRow;
use hpcc_files::{Experiment, address};
use std::collections::HashMap;
use units::{Bytes, NodeId, Time};

/// Events between two reports of the progress.
const REPORT_INTERVAL: u64 = 1 << 15;
/// The seed of the hash by which hosts choose a NIC.
const NIC_SEED: u32 = 0x8bad_f00d;

/// A QP at its sender. Sizes in bytes, times in nanoseconds, rates in bits per second.
#[derive(Debug)]
pub(crate) struct Qp {
    /// The first byte that is sent next, and the first that is not acknowledged.
    pub(crate) snd_nxt: u64,
    pub(crate) snd_una: u64,
    pub(crate) size: u64,
    /// No packet leaves before this time.
    pub(crate) next_avail: u64,
    pub(crate) rate: u64,
    /// The window at the present rate; 0 without a window.
    pub(crate) window: u64,
    /// The port whose list it is in.
    pub(crate) port: u32,
    /// Bytes of the packet that was sent last.
    pub(crate) last_size: u32,
    /// A size, a rate and the time of such a packet, so that few gaps are computed.
    gap: (u32, u64, u64),
    pub(crate) priority: u8,
    pub(crate) started: bool,
    pub(crate) ended: bool,
    /// The rate of the port on which it started.
    pub(crate) line: u64,
    /// The window at line rate; 0 without a window.
    pub(crate) full_window: u64,
    pub(crate) law: Law,
    /// The first byte that was never sent.
    pub(crate) fresh: u64,
    /// Bytes that were sent more than once.
    pub(crate) resent: u64,
}

impl Qp {
    fn new(flow: &Flow) -> Qp {
        Qp {
            snd_nxt: 0,
            snd_una: 0,
            size: flow.size,
            next_avail: 0,
            rate: 0,
            window: 0,
            port: NONE,
            last_size: 0,
            gap: (0, 0, 0),
            priority: flow.priority,
            started: false,
            ended: false,
            line: 0,
            full_window: 0,
            law: Law::None,
            fresh: 0,
            resent: 0,
        }
    }

    /// Returns how long a packet of `size` bytes takes at `rate`, in nanoseconds.
    #[inline]
    pub(crate) fn gap(&mut self, size: u32, rate: u64) -> u64 {
        if (self.gap.0, self.gap.1) != (size, rate) {
            self.gap = (size, rate, network::time_for(rate, u64::from(size)));
        }
        self.gap.2
    }

    /// Whether the window is full.
    #[inline]
    pub(crate) fn is_window_bound(&self) -> bool {
        self.window != 0 && self.snd_nxt.wrapping_sub(self.snd_una) >= self.window
    }
}

/// What the hosts of a flow keep under its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection {
    /// The flow that the sender's entry stands for.
    pub(crate) sender: u32,
    pub(crate) key: u64,
    pub(crate) receiver: Receiver,
}

/// The state of a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    /// The first byte that has not arrived.
    pub(crate) expected: u32,
    /// The last NACK asked for this byte.
    pub(crate) last_nack: u32,
    /// Until then, in nanoseconds, that NACK is not repeated.
    pub(crate) nack_time: u64,
}

impl Receiver {
    pub(crate) const NEW: Receiver = Receiver { expected: 0, last_nack: 0, nack_time: 0 };
}

/// A run.
pub(crate) struct Simulation<'a> {
    experiment: &'a Experiment,
    pub(crate) settings: Settings,
    pub(crate) events: EventList,
    pub(crate) packets: Packets,
    pub(crate) nodes: Vec<Node>,
    pub(crate) ports: Vec<Port>,
    pub(crate) routes: Routes,
    pub(crate) flows: Vec<Flow>,
    pub(crate) qps: Vec<Qp>,
    pub(crate) connections: Vec<Connection>,
    pub(crate) laws: Laws,
    pub(crate) marks: Draws,
    pub(crate) errors: Vec<ErrorModel>,
    pub(crate) rand: CRand,
    /// What ConWeave's simulator has besides; empty in other runs.
    pub(crate) conweave: ConWeave,
    /// By host: its QPs in the order in which a link failure finds them. Empty if none fails.
    pub(crate) tables: Vec<WalkOrder<u32>>,
    /// The flow that the reader starts next.
    next_flow: usize,
    /// Samples of queues that were taken.
    pub(crate) samples: u64,
    pub(crate) output: Collected<'a>,
}

impl<'a> Simulation<'a> {
    pub(crate) fn new(experiment: &'a Experiment, options: &Options<'a>) -> Simulation<'a> {
        let config = &experiment.config;
        let settings = Settings::new(config);
        let (nodes, mut ports) = network::build(experiment, &settings);
        let (mut flows, connections) = flows(experiment, settings.conweave);
        let routes = Routes::for_flows(&nodes, &ports, &settings, &mut flows, |flow, facts| {
            let PathFacts { base_rtt, bdp, bottleneck } = facts;
            (flow.base_rtt, flow.bdp, flow.bottleneck) = (base_rtt, bdp, bottleneck);
        });
        let laws = Laws::new(config, &settings, routes.max_rtt, routes.max_bdp);
        let seeds = match settings.conweave {
            true => Seeds { seed: options.run, run: 1 },
            false => Seeds { seed: 1, run: options.run },
        };
        let (errors, own_rates) = error_models(experiment, &mut ports, seeds);
        let first = first_stream(nodes.len() as u64) + 2 * own_rates;
        let conweave = match settings.conweave {
            true => {
                let network = (&nodes[..], &ports[..], &routes);
                let counts = (flows.len(), connections.len());
                ConWeave::new(config, &settings, network, counts, seeds.seed)
            }
            false => ConWeave::default(),
        };
        let numbers = 8 + 2 * nodes.len() as u32 + 2 * experiment.topology.links.len() as u32;
        let fails = config.link_down.is_some();
        Simulation {
            experiment,
            events: EventList::new(numbers),
            packets: Packets::new(),
            routes,
            qps: flows.iter().map(Qp::new).collect(),
            connections,
            laws,
            marks: Draws::from_stream(first, seeds.run),
            errors,
            rand: CRand::new(seeds.seed as u32),
            conweave,
            tables: if fails { vec![WalkOrder::new(); nodes.len()] } else { Vec::new() },
            next_flow: 0,
            samples: 0,
            output: Collected::new(options, flows.len()),
            settings,
            nodes,
            ports,
            flows,
        }
    }

    /// Handles all events up to the stop.
    pub(crate) fn run(mut self, watch: &dyn Fn(Progress) -> bool) -> Output {
        self.schedule_start();
        let mut left = REPORT_INTERVAL;
        let mut cancelled = false;
        while let Some(event) = self.events.pop()
            && event.kind != Kind::Stop
        {
            self.handle(event);
            left -= 1;
            if left == 0 {
                left = REPORT_INTERVAL;
                cancelled = !watch(self.progress());
                if cancelled {
                    break;
                }
            }
        }
        watch(self.progress());
        self.finish(cancelled)
    }

    /// Handles an event other than the stop.
    #[inline]
    pub(crate) fn handle(&mut self, event: Event) {
        match event.kind {
            Kind::TransmitEnd => {
                self.note_event(self.ports[event.a as usize].node, event.past);
                self.ports[event.a as usize].busy = false;
                self.kick(event.a);
            }
            Kind::Receive => {
                self.note_event(self.ports[event.a as usize].node, event.past);
                self.receive(event.a, event.b);
            }
            Kind::WakeUp => {
                self.note_event(self.ports[event.a as usize].node, event.past);
                self.kick(event.a);
            }
            Kind::Alpha => {
                self.note_event(self.flows[event.a as usize].src, event.past);
                self.on_alpha_timer(event.a);
            }
            Kind::Decrease => {
                self.note_event(self.flows[event.a as usize].src, event.past);
                self.on_decrease_timer(event.a);
            }
            Kind::Increase => {
                self.note_event(self.flows[event.a as usize].src, event.past);
                self.on_increase_timer(event.a);
            }
            Kind::PauseExpiry => {
                self.note_event(self.ports[event.a as usize].node, event.past);
                self.resume(event.a, event.b as u8);
            }
            Kind::PauseForgotten => self.forget_pause(event.a, event.b as usize),
            Kind::Timeout => self.on_timeout(event.a),
            Kind::Decay => self.on_decay(event.a),
            Kind::Aging => self.on_aging(event.a),
            Kind::Flush => self.flush(event.a),
            Kind::CountFlows => self.count_flows(),
            Kind::Monitor => self.sample_queues(),
            Kind::Reader => self.read_flows(),
            Kind::AppStart => {
                self.events.schedule(0, Kind::FlowStart, event.a, 0);
            }
            Kind::FlowStart => {
                self.note_event(self.flows[event.a as usize].src, event.past);
                self.start_flow(event.a);
            }
            Kind::LinkFailure => self.fail_link(),
            Kind::Stop | Kind::Cancelled => {}
        }
    }

    /// Counts an event that two levels of scheduling do not tell from the one before it at its
    /// node.
    #[inline]
    fn note_event(&mut self, node: u32, past: Past) {
        let event = (self.events.now(), past);
        let last = &mut self.nodes[node as usize].last_event;
        self.output.unordered += u64::from(*last == event);
        *last = event;
    }

    fn progress(&self) -> Progress {
        Progress {
            time: self.events.now(),
            packets_delivered: self.output.delivered,
            finished: self.output.fct.len() as u64,
        }
    }

    /// Schedules what is known before the run.
    pub(crate) fn schedule_start(&mut self) {
        let Settings { monitor_start, stop, .. } = self.settings;
        if let Some(first) = self.flows.first() {
            self.events.schedule(first.start, Kind::Reader, 0, 0);
        }
        if let Some(down) = self.experiment.config.link_down {
            self.events.schedule(down.at.ns(), Kind::LinkFailure, 0, 0);
        }
        self.events.schedule(monitor_start, Kind::Monitor, 0, 0);
        if self.settings.selective {
            self.events.schedule(self.settings.count_start, Kind::CountFlows, 0, 0);
        }
        self.events.schedule(stop, Kind::Stop, 0, 0);
    }

    fn read_flows(&mut self) {
        let now = self.events.now();
        while let Some(flow) = self.flows.get(self.next_flow)
            && flow.start == now
        {
            self.events.schedule(0, Kind::AppStart, self.next_flow as u32, 0);
            self.next_flow += 1;
        }
        if let Some(flow) = self.flows.get(self.next_flow) {
            self.events.schedule(flow.start - now, Kind::Reader, 0, 0);
        }
    }

    fn start_flow(&mut self, index: u32) {
        let flow = &self.flows[index as usize];
        let port = self.nic(flow.ends());
        let line = self.ports[port as usize].rate;
        let now = self.events.now();
        let qp = &mut self.qps[index as usize];
        qp.started = true;
        qp.port = port;
        (qp.line, qp.rate) = (line, line);
        qp.full_window = self.laws.full_window(flow);
        qp.window = self.laws.window_at(qp.full_window, line, line);
        qp.next_avail = now;
        qp.law = self.laws.open(line, flow);
        self.output.posted[index as usize] = now;
        self.ports[port as usize].table.push(index);
        let connection = &mut self.connections[flow.connection as usize];
        connection.sender = index;
        if let Some(table) = self.tables.get_mut(flow.src as usize) {
            table.insert(connection.key, index);
        }
        self.kick(port);
    }

    /// Ends a flow whose last byte is acknowledged.
    pub(crate) fn end_flow(&mut self, index: u32) {
        self.stop_timers(index);
        self.qps[index as usize].ended = true;
        let now = self.events.now();
        let flow = &self.flows[index as usize];
        let row = FctRow {
            src: address::of(NodeId::new(flow.src)),
            dst: address::of(NodeId::new(flow.dst)),
            sport: flow.sport,
            dport: flow.dport,
            size: Bytes::new(flow.size),
            start: Time::from_ns(self.output.posted[index as usize]),
            fct: Time::from_ns(now - self.output.posted[index as usize]),
            ideal_fct: Time::from_ns(self.ideal_fct(index)),
        };
        self.output.finish(index, row);
        let connection = &mut self.connections[flow.connection as usize];
        connection.receiver = Receiver::NEW;
        connection.sender = NONE;
        if let Some(table) = self.tables.get_mut(flow.src as usize) {
            table.remove(connection.key);
        }
        self.forget_kept(flow.connection);
    }

    /// Returns the port through which a host sends packets with these ends.
    pub(crate) fn nic(&self, ends: FourTuple) -> u32 {
        match self.routes.next_hops(ends.src, ends.dst) {
            [port] => *port,
            ports => ports[ends.hash(NIC_SEED) as usize % ports.len()],
        }
    }

    /// Lets a port send if it can.
    #[inline]
    pub(crate) fn kick(&mut self, index: u32) {
        let port = &self.ports[index as usize];
        if port.busy || !port.up {
            return;
        }
        if port.is_host {
            self.kick_host(index);
        } else {
            self.kick_switch(index);
        }
    }

    /// Puts a packet on the wire of a port.
    #[inline]
    pub(crate) fn transmit(&mut self, index: u32, packet: u32) {
        let size = self.packets.get(packet).size;
        let port = &mut self.ports[index as usize];
        port.busy = true;
        port.counters.tx_bytes += u64::from(size);
        port.counters.tx_packets += 1;
        let (time, delay, peer) = (port.time_for(size), port.delay, port.peer);
        self.events.schedule(time, Kind::TransmitEnd, index, 0);
        self.events.schedule(time + delay, Kind::Receive, peer, packet);
    }

    /// Sets the rate of a flow, from its next gap on.
    #[inline]
    pub(crate) fn set_rate(&mut self, flow: u32, rate: u64) {
        let qp = &mut self.qps[flow as usize];
        if qp.rate != rate {
            qp.rate = rate;
            qp.window = self.laws.window_at(qp.full_window, rate, qp.line);
        }
    }

    /// Does what a law says.
    #[inline]
    pub(crate) fn apply(&mut self, flow: u32, reaction: Reaction) {
        match reaction {
            Reaction::Nothing => {}
            Reaction::Rate(rate) => self.set_rate(flow, rate),
            Reaction::Rescale(rate) => {
                let qp = &mut self.qps[flow as usize];
                if qp.rate != rate {
                    let old = qp.gap(qp.last_size, qp.rate);
                    let new = qp.gap(qp.last_size, rate);
                    qp.next_avail = qp.next_avail.wrapping_add(new).wrapping_sub(old);
                }
                let next_avail = qp.next_avail;
                let (wake, number) = (&mut self.ports[qp.port as usize].wake, qp.port);
                if next_avail < wake.time() && self.events.is_pending(wake) {
                    self.events.cancel(wake);
                    let delay = next_avail.saturating_sub(self.events.now());
                    *wake = self.events.schedule(delay, Kind::WakeUp, number, 0);
                }
                self.set_rate(flow, rate);
            }
        }
    }

    /// Takes the failed link out of the routes. Flows keep their base round trip and BDP.
    pub(crate) fn recompute_routes(&mut self) {
        let Simulation { nodes, ports, settings, flows, .. } = self;
        self.routes = Routes::for_flows(nodes, ports, settings, flows, |flow, facts| {
            flow.bottleneck = facts.bottleneck;
        });
    }

    pub(crate) fn experiment(&self) -> &'a Experiment {
        self.experiment
    }
}

/// Makes the flows, and the keys under which their hosts keep them. In ConWeave's simulator a host
/// counts its source ports for all peers, and also the destination ports of flows to it.
fn flows(experiment: &Experiment, conweave: bool) -> (Vec<Flow>, Vec<Connection>) {
    let mut next_ports: HashMap<(u32, u32), u16> = HashMap::new();
    let mut next_dports: HashMap<u32, u16> = HashMap::new();
    let mut known: HashMap<(u32, u32, u16, u8), u32> = HashMap::new();
    let mut connections = Vec::new();
    let flows = experiment.flows.iter().map(|flow| {
        let (src, dst, priority) = (flow.src.get(), flow.dst.get(), flow.priority.get());
        let peer = if conweave { NONE } else { dst };
        let sport = take_port(next_ports.entry((src, peer)).or_insert(10_000));
        let dport = match conweave {
            true => take_port(next_dports.entry(dst).or_insert(100)),
            false => flow.dport,
        };
        let connection = *known.entry((src, dst, sport, priority)).or_insert_with(|| {
            let ports = u64::from(sport) << 16 | u64::from(priority);
            let key = u64::from(word(dst)) << 32 | ports;
            connections.push(Connection { sender: NONE, key, receiver: Receiver::NEW });
            (connections.len() - 1) as u32
        });
        Flow {
            src,
            dst,
            sport,
            dport,
            priority,
            size: flow.size.get(),
            connection,
            base_rtt: 0,
            bdp: 0,
            bottleneck: 0,
            start: flow.start.ns(),
        }
    });
    (flows.collect(), connections)
}

fn take_port(next: &mut u16) -> u16 {
    let port = *next;
    *next = port.wrapping_add(1);
    port
}

/// Makes the error models. Returns also how many links have a rate of their own.
fn error_models(
    experiment: &Experiment,
    ports: &mut [Port],
    seeds: Seeds,
) -> (Vec<ErrorModel>, u64) {
    let common = experiment.config.error_rate_per_link;
    // Draws that lose nothing are left out: nothing else takes numbers of their stream.
    let mut models = Vec::new();
    if common > 0.0 {
        models.push(ErrorModel::new(common, seeds));
    }
    let mut own = 0;
    for (number, link) in experiment.topology.links.iter().enumerate() {
        let model = if link.error_rate > 0.0 {
            own += 1;
            models.push(ErrorModel::new(link.error_rate, seeds));
            (models.len() - 1) as u32
        } else if common > 0.0 {
            0
        } else {
            NONE
        };
        ports[2 * number].errors = model;
        ports[2 * number + 1].errors = model;
    }
    (models, own)
}
