//! PACC: "PACC: Proactive and Accurate Congestion Feedback for RDMA Congestion Control", Zhong et
//! al., INFOCOM 2022.
//!
//! **A reconstruction.** Only this is known, from a description by others (He et al., "Mercury", J.
//! Cloud Computing 2024): switches detect congestion with a PI controller, generate CNPs in
//! proportion to the number of congested packets, and process a flow table every 80 us. The senders
//! run DCQCN. Everything else here, constants included, is our choice.
//!
//! The congestion point, at every port of a switch:
//!
//! - Every T the controller changes p by a (q - q_ref) + b (q - q_old), within 0 and 1. q is the
//!   number of bytes that wait at the port, all priorities.
//! - A data packet that joins the port's queue counts as congested with probability p. The flow
//!   table counts these packets by QP.
//! - Every 80 us, each QP with n > 0 gets a CNP from the switch with probability min(1, n / n_max).
//!   Then the table is cleared. Several CNPs at the same instant would cut several times for the
//!   same evidence.
//!
//! Both periods start at time zero at all switches, and stop while there is nothing to do.
//! Receivers send no CNPs, and RED is off. Every CNP counts at the sender, whichever switch sent
//! it.

use crate::contract::{
    Address, Cp, CpTimer, EmitCx, Emits, HostFacts, Needs, OnEnqueue, Packet, PacketKind,
    PlainReceiver, PortFacts, PortView, Ports, Preset, QpEnd, RateFloor, Scheme, SwitchFacts,
    Tolerates,
};
use crate::dcqcn::{self, Cnp, DcqcnHosts, DcqcnParams, RECEIVER_PARAMS, ReactionPoint};
use crate::random::Stream;
use std::ops::RangeInclusive;
use units::{Bytes, PortId, Rate, Time};

const PERIOD: RangeInclusive<Time> = Time::from_us(1)..=Time::from_ms(10);
const GAIN: RangeInclusive<f64> = 0.0..=10.0;

crate::params! {
    /// Parameters of PACC's congestion point.
    pub struct FeedbackParams {
        /// Target queue at a port of 100 Gb/s. It scales with the port rate.
        reference_queue: Bytes, "q_ref", Bytes::new(100)..=Bytes::new(100_000_000),
            "decided: Kmin of the DCQCN preset";
        /// Period of the PI controller.
        control_period: Time, "T", PERIOD, "decided";
        /// Increase of the marking probability per period for an excess of q_ref.
        integral_gain: f64, "a q_ref", GAIN, "decided, by measurement";
        /// Increase of the marking probability for a growth by q_ref in a period.
        proportional_gain: f64, "b q_ref", GAIN, "decided, by measurement";
        /// Period at which the flow table is processed and CNPs are sent.
        flush_interval: Time, "", PERIOD, "Mercury's description of PACC: 80us";
        /// Number of congested packets of a QP per flush interval at which it always gets a CNP.
        certain_mark_count: u64, "n_max", 1..=1_000_000, "decided, by measurement";
        /// Entries of each port's flow table, rounded up to a power of two.
        flow_entries: u64, "", 1..=65_536, "decided";
    }
}

crate::join_params! {
    /// Parameters of PACC.
    pub struct PaccParams {
        /// Parameters of DCQCN.
        dcqcn: DcqcnParams, without RECEIVER_PARAMS;
        /// Parameters of the congestion point.
        feedback: FeedbackParams;
    }
}

/// The scheme `pacc`.
#[derive(Debug)]
pub struct Pacc;

impl Scheme for Pacc {
    const NAME: &'static str = "pacc";
    const TITLE: &'static str = "PACC (reconstructed)";
    const PAPER: &'static str = "Zhong et al., PACC: Proactive and Accurate Congestion Feedback \
                                 for RDMA Congestion Control, INFOCOM 2022";
    const CAVEAT: &'static str = "Reconstructed from a secondary description; the constants are \
                                  not the authors'.";
    const PRESETS: &'static [Preset<PaccParams>] = &[
        Preset {
            name: "pacc",
            summary: "Switch CNPs every 80 us, senders of dcqcn-paper",
            source: "reconstructed; senders as dcqcn-paper",
            ecn: None,
            params: presets::pacc,
        },
        Preset {
            name: "pacc-ns3",
            summary: "Switch CNPs every 80 us, senders of dcqcn-hpcc",
            source: "reconstructed; senders as dcqcn-hpcc",
            ecn: None,
            params: presets::ns3,
        },
        Preset {
            name: "pacc-ns3-paper",
            summary: "Switch CNPs every 80 us, senders of dcqcn-hpcc-paper",
            source: "reconstructed; senders as dcqcn-hpcc-paper",
            ecn: None,
            params: presets::ns3_paper,
        },
    ];
    const NEEDS: Needs = Needs {
        tolerates: Tolerates::several_paths(
            "each switch counts only the share of a flow that it sees",
        ),
        ..Needs::NONE
    };

    type Params = PaccParams;
    type Meta = ();
    type Ctl = Cnp;
    type Host = ();
    type Rp = ReactionPoint;
    type Np = PlainReceiver;
    type Cp = CongestionPoint;

    fn rate_floor(params: &PaccParams) -> Option<RateFloor> {
        Some(params.dcqcn.rate_floor())
    }
    fn host(_params: &PaccParams, _facts: &HostFacts) {}
    fn congestion_point(params: &PaccParams, facts: &SwitchFacts<'_>) -> Option<CongestionPoint> {
        Some(CongestionPoint::new(&params.feedback, facts.seed))
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `pacc`: switch CNPs every 80 us, senders of dcqcn-paper.
    pub fn pacc(host_rate: Rate) -> PaccParams {
        PaccParams {
            dcqcn: dcqcn::presets::paper(host_rate),
            feedback: FeedbackParams {
                // 5 KB at 40G.
                reference_queue: Bytes::new(12_500),
                control_period: Time::from_us(10),
                integral_gain: 0.0001,
                proportional_gain: 0.03,
                flush_interval: Time::from_us(80),
                // 40 at 100G.
                certain_mark_count: (host_rate.bps() / 2_500_000_000).max(1),
                flow_entries: 256,
            },
        }
    }

    /// Preset `pacc-ns3`: switch CNPs every 80 us, senders of dcqcn-hpcc.
    pub fn ns3(host_rate: Rate) -> PaccParams {
        PaccParams { dcqcn: dcqcn::presets::hpcc(host_rate), ..pacc(host_rate) }
    }

    /// Preset `pacc-ns3-paper`: switch CNPs every 80 us, senders of dcqcn-hpcc-paper.
    pub fn ns3_paper(host_rate: Rate) -> PaccParams {
        PaccParams { dcqcn: dcqcn::presets::hpcc_paper(host_rate), ..pacc(host_rate) }
    }
}

impl DcqcnHosts for Pacc {
    fn dcqcn(params: &PaccParams) -> &DcqcnParams {
        &params.dcqcn
    }
    fn cnp() -> Cnp {
        Cnp
    }
}

/// The PI controller of a port.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    /// Bytes.
    reference: f64,
    integral: f64,
    proportional: f64,
    before: f64,
    probability: f64,
}

impl Controller {
    /// Returns the controller of a port of this rate, which never had a queue.
    pub fn new(params: &FeedbackParams, rate: Rate) -> Controller {
        let reference = params.reference_queue.get() as f64 * rate.bps() as f64
            / Rate::from_gbps(100).bps() as f64;
        Controller {
            reference,
            integral: params.integral_gain,
            proportional: params.proportional_gain,
            before: 0.0,
            probability: 0.0,
        }
    }

    /// Follows a new rate of the port: the reference is that of the rate, and p and the last length
    /// stay.
    fn set_rate(&mut self, params: &FeedbackParams, rate: Rate) {
        self.reference = Controller::new(params, rate).reference;
    }

    /// Returns p, the probability that a packet counts as congested.
    #[inline]
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Updates p at the end of a period; `queue` bytes wait.
    pub fn step(&mut self, queue: u64) {
        let queue = queue as f64;
        let excess = self.integral * (queue - self.reference);
        let growth = self.proportional * (queue - self.before);
        let change = (excess + growth) / self.reference;
        self.probability = (self.probability + change).clamp(0.0, 1.0);
        self.before = queue;
    }

    /// Returns whether a step without a queue would change nothing.
    fn rests(&self) -> bool {
        self.probability == 0.0 && self.before == 0.0
    }
}

/// Number of entries where a QP may be. A QP that finds none of them free is not counted.
const PROBES: usize = 8;

/// Counts congested packets by QP. The number of entries is fixed; an entry is found by the hash of
/// the five-tuple and linear probing.
#[derive(Clone, Debug)]
pub struct FlowTable {
    entries: Vec<Entry>,
    used: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    address: Address,
    /// Zero if the entry is free.
    count: u32,
}

impl FlowTable {
    /// Returns an empty table of `entries`, rounded up to a power of two.
    pub fn new(entries: usize) -> FlowTable {
        FlowTable { entries: vec![Entry::default(); entries.next_power_of_two()], used: 0 }
    }

    /// Counts a packet. Returns `false` if its QP finds no entry.
    pub fn count(&mut self, address: &Address) -> bool {
        let mask = self.entries.len() - 1;
        let first = address.hash as usize;
        for probe in 0..PROBES.min(self.entries.len()) {
            let entry = &mut self.entries[first.wrapping_add(probe) & mask];
            if entry.count == 0 || entry.address.qp() == address.qp() {
                self.used += usize::from(entry.count == 0);
                entry.count += 1;
                // The latest message of a QP is the one that can still be answered.
                entry.address = *address;
                return true;
            }
        }
        false
    }

    /// Empties the table. Calls `each` with every QP and its count, in the order of the entries.
    pub fn drain(&mut self, mut each: impl FnMut(Address, u32)) {
        if self.used == 0 {
            return;
        }
        self.used = 0;
        for entry in self.entries.iter_mut().filter(|entry| entry.count != 0) {
            each(entry.address, entry.count);
            entry.count = 0;
        }
    }

    /// Returns whether nothing was counted since the table was emptied.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }
}

/// The state of a port.
#[derive(Clone, Debug)]
pub struct PortState {
    controller: Controller,
    flows: FlowTable,
}

/// The congestion point of a switch.
#[derive(Clone, Debug)]
pub struct CongestionPoint {
    control_period: Time,
    flush_interval: Time,
    certain_mark_count: u32,
    control_due: Time,
    flush_due: Time,
    random: Stream,
}

impl CongestionPoint {
    /// Returns the congestion point of a switch whose random stream has this seed.
    pub fn new(params: &FeedbackParams, seed: u64) -> CongestionPoint {
        CongestionPoint {
            control_period: params.control_period,
            flush_interval: params.flush_interval,
            certain_mark_count: params.certain_mark_count as u32,
            control_due: Time::NEVER,
            flush_due: Time::NEVER,
            random: Stream::new(seed, 0),
        }
    }

    /// Returns `true` with this probability.
    fn chance(&mut self, probability: f64) -> bool {
        self.random.fraction() < probability
    }
}

impl Cp<Pacc> for CongestionPoint {
    type Level = Emits;
    type Port = PortState;
    crate::hooks!(enqueues, timer);

    fn port(&self, params: &PaccParams, facts: &PortFacts) -> PortState {
        PortState {
            controller: Controller::new(&params.feedback, facts.rate),
            flows: FlowTable::new(params.feedback.flow_entries as usize),
        }
    }
    fn on_rate(&mut self, params: &PaccParams, port: &mut PortState, facts: &PortFacts) {
        port.controller.set_rate(&params.feedback, facts.rate);
    }
    /// Shows p.
    fn observe(&self, port: &PortState, _now: Time) -> Option<f64> {
        Some(port.controller.probability())
    }
}

impl OnEnqueue<Pacc> for CongestionPoint {
    #[inline]
    fn on_enqueue(
        &mut self,
        cx: &mut EmitCx<'_, Pacc>,
        port: &mut PortState,
        _view: &PortView,
        packet: &mut Packet<Pacc>,
    ) {
        if packet.header.kind != PacketKind::Data {
            return;
        }
        if self.control_due == Time::NEVER {
            let later = cx.now + Time::from_ps(1);
            self.control_due = later.round_up(self.control_period);
            self.flush_due = later.round_up(self.flush_interval);
        }
        let probability = port.controller.probability();
        if probability > 0.0 && self.chance(probability) {
            port.flows.count(&packet.header.address);
        }
    }
}

impl CpTimer<Pacc> for CongestionPoint {
    fn next_timer(&self) -> Time {
        self.control_due.min(self.flush_due)
    }
    fn on_timer(&mut self, cx: &mut EmitCx<'_, Pacc>, ports: &mut dyn Ports<PortState>) {
        let (control, flush) = (cx.now >= self.control_due, cx.now >= self.flush_due);
        // Only a control step sees the queue, so only it can find that there is none.
        let mut rests = control;
        for number in 0..ports.count() {
            let (port, view) = ports.port(PortId::new(number as u16));
            if control {
                port.controller.step(view.queue_bytes);
            }
            if flush {
                port.flows.drain(|address, count| {
                    let certainty = f64::from(count) / f64::from(self.certain_mark_count);
                    if self.chance(certainty) {
                        cx.to_host(address, QpEnd::Sender, Cnp);
                    }
                });
            }
            rests &= port.controller.rests() && port.flows.is_empty();
        }
        if rests {
            (self.control_due, self.flush_due) = (Time::NEVER, Time::NEVER);
            return;
        }
        if control {
            self.control_due += self.control_period;
        }
        if flush {
            self.flush_due += self.flush_interval;
        }
    }
}
