//! TCD: "Congestion Detection in Lossless Networks", Zhang et al., SIGCOMM 2021.
//!
//! A port that its peer pauses from time to time sends in an ON-OFF pattern. The queue of such a
//! port says nothing about its own input and capacity. So ports have three states: non-congestion
//! (0), congestion (1), undetermined (/). Packets that leave an undetermined port get the mark UE
//! (undetermined encountered) and not CE (congestion experienced), unless they have CE already.
//!
//! This file holds the detector and the congestion point. Both work with any scheme. How senders
//! react to UE is in the schemes: `dcqcn_tcd.rs`, `timely_tcd.rs`, `hpcc_tcd.rs`.
//!
//! # Transitions
//! - A pause makes the port undetermined.
//! - The port leaves that state with the first packet that leaves after max(Ton) without a pause.
//!   If its queue is then above the threshold but shorter than at the resume, PFC left that queue
//!   behind. The port counts as non-congested while the queue shrinks, which is checked once every
//!   max(Ton), or until it falls to the threshold.
//! - Otherwise, and on a port that was never paused, the queue alone decides: 1 above the
//!   threshold, else 0. In these states RED marks as usual.
//!
//! The states and the code points are the paper's. Two choices are ours: the trend is measured from
//! the resume to the end of max(Ton), and the threshold is Kmin of the port's RED. States are kept
//! per port and priority.
//!
//! # max(Ton)
//! While a port is ON, the ingress behind it fills at C - R_d, where R_d is the rate at which that
//! ingress is drained. From a resume to the next pause the ingress gains what was drained between
//! its resume frame and the first data, and then B = Xoff - Xon. Frames and data take tau each way.
//! With R_d = C / (1 + epsilon):
//!
//! Ton = 2 tau + (B + 2 tau R_d) / (C - R_d) = (1 + 1 / epsilon) (2 tau + B / C)
//!
//! The milder the congestion, the longer the ON periods. max(Ton) is that of the smallest epsilon
//! that still counts as congestion. This derivation is ours; the paper's closed form may treat tau
//! differently.

use crate::contract::{
    Cp, EcnCodePoint, LocalCx, Packet, PacketKind, PortFacts, PortLocal, PortView, Scheme,
};
use units::{Priority, Time};

crate::params! {
    /// Parameters of TCD's congestion point.
    pub struct TcdParams {
        /// Minimum excess of input over the rate drained downstream that counts as congestion.
        congestion_degree: f64, "epsilon", 0.001..=10.0, "SIGCOMM'21, second-hand";
        /// ON period after which a port is checked again; 0ns derives it for each port from
        /// epsilon.
        max_on: Time, "max(Ton)", Time::ZERO..=Time::from_ms(100),
            "derived: (1 + 1 / epsilon) (2 tau + (Xoff - Xon) / C)";
    }
}

impl Default for TcdParams {
    fn default() -> TcdParams {
        TcdParams { congestion_degree: 0.05, max_on: Time::ZERO }
    }
}

impl TcdParams {
    /// Returns max(Ton) of a port. tau is the time of a full packet to the peer, in both
    /// directions.
    pub fn max_on(&self, facts: &PortFacts) -> Time {
        if self.max_on != Time::ZERO {
            return self.max_on;
        }
        let min = facts.transit * 2 + facts.rate.time_for(facts.resume_offset);
        Time::from_ps((min.ps() as f64 * (1.0 + 1.0 / self.congestion_degree)) as u64)
    }
}

/// The state of a port. A `port-state` probe shows 0, 1 or, for undetermined, 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// 0: the port can send its input, or only drains the queue that PFC left behind.
    NonCongestion,
    /// 1: the port receives more than it can send.
    Congestion,
    /// /: PFC makes the port send in an ON-OFF pattern.
    Undetermined,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// ON for longer than max(Ton), or never paused.
    Steady,
    /// Paused by the peer.
    Off,
    /// ON again. The check at `until` compares the queue with `queue`, its length at the resume.
    On { until: Time, queue: u64 },
    /// ON, with a queue that was shrinking at the last check. The next check is at `until`.
    Draining { until: Time, queue: u64 },
}

/// The detector of one priority of a port.
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    max_on: Time,
    /// Queue length in bytes above which the port is congested.
    threshold: u64,
    phase: Phase,
    /// The queue length at the last call.
    queue: u64,
}

impl Detector {
    /// Returns the detector of a port that was never paused.
    pub fn new(max_on: Time, threshold: u64) -> Detector {
        Detector { max_on, threshold, phase: Phase::Steady, queue: 0 }
    }

    /// Notes that the peer paused the port.
    pub fn pause(&mut self) {
        self.phase = Phase::Off;
    }

    /// Notes that the peer resumed the port, where `queue` bytes wait.
    pub fn resume(&mut self, now: Time, queue: u64) {
        self.phase = Phase::On { until: now + self.max_on, queue };
        self.queue = queue;
    }

    /// Returns the state that a leaving packet meets. `queue` bytes stay behind.
    #[inline]
    pub fn depart(&mut self, now: Time, queue: u64) -> State {
        self.phase = self.phase_at(now, queue);
        self.queue = queue;
        self.state(self.phase, queue)
    }

    /// Notes that a packet that waited is dropped. `queue` bytes go on waiting.
    pub fn drop_waiting(&mut self, queue: u64) {
        self.queue = queue;
    }

    /// Returns whether the queue alone decides about a CE mark: it is neither held back by PFC nor
    /// left behind by it.
    #[inline]
    pub fn is_determined_by_queue(&self, now: Time, queue: u64) -> bool {
        self.phase_at(now, queue) == Phase::Steady
    }

    /// Returns the state at `now` with the queue of the last call.
    pub fn state_at(&self, now: Time) -> State {
        self.state(self.phase_at(now, self.queue), self.queue)
    }

    #[inline]
    fn phase_at(&self, now: Time, queue: u64) -> Phase {
        match self.phase {
            Phase::On { until, queue: before } | Phase::Draining { until, queue: before }
                if now >= until =>
            {
                if queue > self.threshold && queue < before {
                    Phase::Draining { until: now + self.max_on, queue }
                } else {
                    Phase::Steady
                }
            }
            Phase::Draining { .. } if queue <= self.threshold => Phase::Steady,
            phase => phase,
        }
    }

    #[inline]
    fn state(&self, phase: Phase, queue: u64) -> State {
        match phase {
            Phase::Off | Phase::On { .. } => State::Undetermined,
            Phase::Steady if queue > self.threshold => State::Congestion,
            Phase::Steady | Phase::Draining { .. } => State::NonCongestion,
        }
    }
}

/// The congestion point of TCD, for any scheme.
#[derive(Clone, Debug)]
pub struct Tcd(
    /// The parameters.
    pub TcdParams,
);

impl<S: Scheme> Cp<S> for Tcd {
    type Level = PortLocal;
    /// One detector for each priority.
    type Port = [Detector; 8];
    crate::hooks!();

    fn port(&self, _params: &S::Params, facts: &PortFacts) -> [Detector; 8] {
        facts.kmin.map(|kmin| Detector::new(self.0.max_on(facts), kmin.get()))
    }
    /// max(Ton) is that of the new rate. Thresholds are those of ECN, which stay.
    fn on_rate(&mut self, _params: &S::Params, port: &mut [Detector; 8], facts: &PortFacts) {
        port.iter_mut().for_each(|detector| detector.max_on = self.0.max_on(facts));
    }
    #[inline]
    fn may_mark(
        &self,
        port: &[Detector; 8],
        view: &PortView,
        packet: &Packet<S>,
        now: Time,
    ) -> bool {
        port[usize::from(packet.header.priority & 7)].is_determined_by_queue(now, view.class_bytes)
    }
    #[inline]
    fn on_depart(
        &mut self,
        cx: &mut LocalCx,
        port: &mut [Detector; 8],
        view: &PortView,
        packet: &mut Packet<S>,
    ) {
        let header = &mut packet.header;
        if header.kind != PacketKind::Data {
            return;
        }
        let state = port[usize::from(header.priority & 7)].depart(cx.now, view.class_bytes);
        if state == State::Undetermined {
            header.code_point = header.code_point.max(EcnCodePoint::Undetermined);
        }
    }
    fn on_drop(
        &mut self,
        _cx: &mut LocalCx,
        port: &mut [Detector; 8],
        view: &PortView,
        packet: &Packet<S>,
    ) {
        port[usize::from(packet.header.priority & 7)].drop_waiting(view.class_bytes);
    }
    fn on_pfc(
        &mut self,
        cx: &mut LocalCx,
        port: &mut [Detector; 8],
        view: &PortView,
        priority: Priority,
        paused: bool,
    ) {
        let detector = &mut port[priority.index()];
        if paused {
            detector.pause();
        } else {
            detector.resume(cx.now, view.class_bytes);
        }
    }
    /// Shows the strongest state of all priorities: undetermined, then congestion.
    fn observe(&self, port: &[Detector; 8], now: Time) -> Option<f64> {
        let state = port.iter().map(|detector| detector.state_at(now)).max()?;
        Some(f64::from(state as u8))
    }
}
