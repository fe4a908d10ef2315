//! A host with its RDMA NIC: posts messages, sends them as packets, receives and acknowledges.
//!
//! As in a switch, departures are not events: before anything happens at t, each port sends what it
//! would have sent before t.

mod acknowledging;
mod arriving;
mod control;
mod flow_recovery;
mod link_failure;
pub(crate) mod nic;
mod ns3_scan;
mod pause_times;
mod port_turns;
pub(crate) mod qp;
mod rack_coupling;
pub(crate) mod receive_buffer;
mod receiving;
pub(crate) mod reorder_buffer;
mod samples;
pub(crate) mod scoreboard;
mod send_data;
mod sending;
pub(crate) mod spray;
mod timers;
pub(crate) mod tournament;
mod tracked_send;
pub(crate) mod unfinished;

pub(crate) use self::flow_recovery::Timeouts;
use self::rack_coupling::RackCouplings;
use self::timers::{Timer, Timers};
use crate::context::RunContext;
use crate::host::nic::Nic;
use crate::host::qp::{ColdSenderState, Receiver, Sender, Slots};
use crate::host::receive_buffer::ReceiveBuffer;
use crate::host::reorder_buffer::ReorderBuffer;
use crate::host::spray::HostSpray;
use crate::observe::probe::{FlowProbes, PortProbes};
use crate::observe::recorder::Recorder;
use crate::packet::{Packet, Scheme, Win};
use crate::port::emission_order::EmissionOrder;
use crate::port::losses::Losses;
use crate::port::pause_clock::PauseClock;
use engine::{Arrivals, prefetch};
use model::FlowRecovery;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use units::Time;

/// The outcome of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowOutcome {
    /// When it was posted; [`Time::NEVER`] if it was not.
    pub posted: Time,
    /// Time from posting to the last ACK; [`Time::NEVER`] if it did not finish.
    pub fct: Time,
    /// Payload bytes sent more than once.
    pub retransmitted_bytes: u64,
}

impl FlowOutcome {
    /// The outcome of a message that was never posted.
    pub(crate) const NONE: FlowOutcome =
        FlowOutcome { posted: Time::NEVER, fct: Time::NEVER, retransmitted_bytes: 0 };
}

/// How many arrivals ahead the state of a QP is prefetched.
const PREFETCH_DISTANCE: usize = 2;

/// Where the receiving end of a QP is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReceiverSlot {
    /// No packet has arrived.
    Unopened,
    /// It is open, in this slot.
    Open(u32),
    /// All its bytes have arrived: this many.
    Finished(u64),
}

/// A host.
pub(crate) struct Host<S: Scheme> {
    common: Arc<RunContext<S>>,
    /// Index among the hosts.
    pub(crate) index: u32,
    node: u32,
    pub(crate) nics: Vec<Nic>,
    state: S::Host,
    senders: Slots<Sender<S>>,
    cold: ColdSenderState,
    spray: HostSpray,
    receivers: Slots<Receiver<S>>,
    /// By slot of the receiving end, if receivers keep data that is out of order.
    reorder_buffers: Vec<ReorderBuffer>,
    /// Where each receiving end is, by the number that packets carry.
    receiver_slots: Vec<ReceiverSlot>,
    /// The sender's slot of each open QP that later messages will use, by QP number.
    shared_qps: BTreeMap<u32, u32>,
    timers: Timers,
    /// The messages that it sends.
    outgoing: Vec<u32>,
    /// Index of the next message to post, among those that depend on no other.
    posted: usize,
    /// When that message is posted.
    next_post: Time,
    /// For each join of the host, how many of its messages have not arrived.
    missing: Vec<u32>,
    /// `None` until the first coupling with another host of the rack.
    couplings: Option<Box<RackCouplings>>,
    /// Messages that are due, but whose predecessor on their QP is not posted.
    blocked_posts: BTreeSet<u32>,
    /// By index in `outgoing`.
    pub(crate) outcomes: Vec<FlowOutcome>,
    /// Data packets that arrived ahead of others of their QP.
    pub(crate) out_of_order: u64,
    /// By index of a message among those to this host; empty until a packet is out of order.
    reordering: Vec<FlowRecovery>,
    /// How many messages end here.
    incoming: u32,
    /// How often nothing was acknowledged for the timeout, and how many bytes were sent again for
    /// it, by message.
    pub(crate) timeouts: BTreeMap<u32, Timeouts>,
    /// What a hook wants to send; empty between hooks.
    outbox: Vec<S::Ctl>,
    epoch: usize,
    epoch_end: Time,
    emission_order: EmissionOrder,
    /// See [`examines_arrivals`](Host::examines_arrivals). It is known before the first packet.
    examines_arrivals: bool,
    /// The links to it, if they may lose packets.
    losses: Option<Box<Losses>>,
    /// Where data waits for a NIC that passes it on slowly.
    pub(crate) receive_buffer: Option<Box<ReceiveBuffer>>,
    /// The times of pauses, if they have some.
    pub(crate) pause_clock: Option<Box<PauseClock>>,
    pub(crate) port_probes: PortProbes,
    pub(crate) flow_probes: FlowProbes,
    /// When the next sample of one of them is due.
    next_sample: Time,
    pub(crate) recorder: Option<Box<Recorder>>,
}

/// What a host is built from.
pub(crate) struct HostParts<S: Scheme> {
    /// Its index among the hosts.
    pub(crate) index: u32,
    pub(crate) nics: Vec<Nic>,
    /// The scheme's state of the host.
    pub(crate) state: S::Host,
    pub(crate) spray: HostSpray,
    /// How many QPs end here, and how many messages.
    pub(crate) receivers: u32,
    pub(crate) incoming: u32,
    /// The messages that it sends.
    pub(crate) outgoing: Vec<u32>,
    /// How many messages each of its joins waits for.
    pub(crate) awaited: Vec<u32>,
    pub(crate) port_probes: PortProbes,
    pub(crate) flow_probes: FlowProbes,
    pub(crate) recorder: Option<Box<Recorder>>,
    /// The links to it, if they may lose packets.
    pub(crate) losses: Option<Box<Losses>>,
    /// Its NIC's receive buffer, if it passes data on slowly.
    pub(crate) receive_buffer: Option<Box<ReceiveBuffer>>,
    /// The times of pauses, if they have some.
    pub(crate) pause_clock: Option<Box<PauseClock>>,
}

impl<S: Scheme> Host<S> {
    pub(crate) fn new(common: Arc<RunContext<S>>, parts: HostParts<S>) -> Host<S> {
        let HostParts {
            index,
            nics,
            state,
            spray,
            receivers,
            incoming,
            outgoing,
            awaited,
            port_probes,
            flow_probes,
            recorder,
            losses,
            receive_buffer,
            pause_clock,
        } = parts;
        let node = common.graph.hosts[index as usize];
        // Arrivals at one port are in order.
        let emission_order = if common.compat.orders_by_emission() && nics.len() > 1 {
            EmissionOrder::new(&common.graph, node, nics.iter().map(|nic| &nic.port))
        } else {
            EmissionOrder::default()
        };
        let mut host = Host {
            node,
            index,
            nics,
            state,
            senders: Slots::new(),
            cold: ColdSenderState::default(),
            spray,
            receivers: Slots::new(),
            reorder_buffers: Vec::new(),
            receiver_slots: vec![ReceiverSlot::Unopened; receivers as usize],
            shared_qps: BTreeMap::new(),
            timers: Timers::new(),
            out_of_order: 0,
            reordering: Vec::new(),
            incoming,
            timeouts: BTreeMap::new(),
            outcomes: vec![FlowOutcome::NONE; outgoing.len()],
            next_post: Time::NEVER,
            missing: awaited,
            couplings: None,
            blocked_posts: BTreeSet::new(),
            outgoing,
            posted: 0,
            outbox: Vec::new(),
            epoch: 0,
            epoch_end: common.graph.end_of(0),
            emission_order,
            examines_arrivals: false,
            losses,
            receive_buffer,
            pause_clock,
            port_probes,
            flow_probes,
            next_sample: Time::NEVER,
            recorder,
            common,
        };
        host.examines_arrivals = host.examines_arrivals();
        host.find_next_post();
        host.find_next_sample();
        for place in 0..host.outgoing.len() {
            let flow = host.outgoing[place];
            if host.common.flows[flow as usize].has_dependency {
                host.couple(flow);
            }
        }
        host
    }

    /// Reorders arrivals of the same instant by their sending.
    pub(crate) fn reorder_arrivals(&mut self, arrivals: &mut Arrivals<'_, '_, Packet<S>>) {
        self.emission_order.sort(arrivals);
    }

    /// What the scheme counted at this host.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        S::counters(&self.state)
    }

    /// The messages that it sends.
    pub(crate) fn outgoing(&self) -> &[u32] {
        &self.outgoing
    }

    /// Prefetches what most packets touch.
    pub(crate) fn prefetch(&self) {
        for nic in &self.nics {
            prefetch(nic, 12);
        }
    }

    /// Handles a window. Returns when something is due next.
    pub(crate) fn advance(&mut self, window: &mut Win<'_, '_, S>) -> Time {
        let until = window.until();
        Recorder::begin(&mut self.recorder, window);
        while self.epoch_end < until {
            self.advance_until(window, self.epoch_end);
            self.begin_epoch(window);
        }
        let next = self.advance_until(window, until).min(self.epoch_end);
        Recorder::end(&mut self.recorder, window);
        next
    }

    /// Handles everything that is due before `until`. Returns when something is due next.
    fn advance_until(&mut self, window: &mut Win<'_, '_, S>, until: Time) -> Time {
        // The first arrivals have none before them from which they could be prefetched.
        for place in 0..PREFETCH_DISTANCE {
            if let Some(packet) = window.peek_ahead(place) {
                self.prefetch_qp(&packet.header);
            }
        }
        loop {
            let arrival = window.next_arrival_time();
            let timer = self.next_timer();
            let time = arrival.min(timer).min(self.next_sample);
            if time >= until {
                break;
            }
            if time == arrival {
                if let Some(packet) = window.peek_ahead(PREFETCH_DISTANCE) {
                    self.prefetch_qp(&packet.header);
                }
                let (time, port, handle) = window.next_arrival().expect("there is one");
                self.drain(window, time);
                self.on_arrival(window, time, port, handle);
            } else if time == timer {
                self.drain(window, time);
                self.on_timer(window, time);
            } else {
                self.drain(window, time + Time::from_ps(1));
                self.sample(window, time);
            }
        }
        self.drain(window, until);
        let due = self.nics.iter().map(|nic| nic.due).min().unwrap_or(Time::NEVER);
        due.min(self.next_timer()).min(self.next_sample)
    }

    /// Skips the messages that depend on others, and notes when the next one is posted.
    fn find_next_post(&mut self) {
        let flows = &self.common.flows;
        while self
            .outgoing
            .get(self.posted)
            .is_some_and(|&flow| flows[flow as usize].has_dependency)
        {
            self.posted += 1;
        }
        let next = self.outgoing.get(self.posted);
        self.next_post = next.map_or(Time::NEVER, |&flow| flows[flow as usize].start);
    }

    /// When the next timer expires or the next message is posted.
    #[inline]
    fn next_timer(&self) -> Time {
        self.timers.due().min(self.next_post)
    }

    /// Posts messages and handles timers that are due at `now`.
    fn on_timer(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        if self.common.compat.scans_queue_pairs() && self.next_post <= now {
            // There, messages are posted after all timers, and each begins to send at once if it
            // can.
            self.fire(window, now);
            self.scan_now(window, now);
        }
        while self.next_post <= now {
            let flow = self.outgoing[self.posted];
            self.posted += 1;
            self.find_next_post();
            self.set_cause(now);
            self.post_in_qp_order(window, now, flow);
            self.scan_now(window, now);
        }
        self.fire(window, now);
    }

    /// Handles the timers that are due.
    fn fire(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        while let Some(timer) = self.timers.next(now) {
            self.set_cause(Time::ZERO);
            match timer {
                Timer::Post(flow) => self.post_in_qp_order(window, now, flow),
                Timer::Sender(slot) => self.on_sender_timer(window, now, slot),
                Timer::Receiver(slot) => self.on_receiver_timer(window, now, slot),
                Timer::Timeout => self.on_timeout(window, now),
                Timer::Buffer => self.on_buffer_timer(window, now),
                Timer::Pauses => self.on_pause_timer(window, now),
            }
        }
    }
}
