//! TCD: "Congestion Detection in Lossless Networks", Zhang et al., SIGCOMM 2021.
//!
//! A port that its peer pauses now and then sends in an ON-OFF pattern, and its queue tells nothing
//! of its own input and capacity. So ports have three states: non-congestion (0), congestion (1),
//! undetermined (/). Packets that leave an undetermined port are not marked as having experienced
//! congestion (CE) but as having met an undetermined port (UE), unless they are CE already.
//!
//! This file is the detector and the congestion point, which fits any scheme; what senders make of
//! UE is in the schemes built on it (`dcqcn_tcd.rs`, `timely_tcd.rs`, `hpcc_tcd.rs`).
//!
//! # Transitions
//! - A pause makes the port undetermined.
//! - It leaves that state with the first packet that leaves after max(Ton) without a pause. If its
//!   queue is above the threshold, yet shorter than at the resume, it is what PFC left behind: the
//!   port is non-congested while the queue shrinks, which is looked at once every max(Ton), or
//!   until it falls to the threshold.
//! - Otherwise, and on a port that was never paused, the queue alone decides: 1 above the threshold,
//!   0 up to it. There RED marks as ever.
//!
//! The states and the code points are the paper's. That the trend is taken from the resume to the
//! end of max(Ton) was decided here, as was the threshold: Kmin of the port's RED. States are kept
//! per port and priority.
//!
//! # max(Ton)
//! While a port is ON, the ingress behind it fills at C - R_d, where R_d is the rate at which that
//! ingress is drained. From a resume to the pause after it the ingress gains what was drained
//! between its resume frame and the first data, then B = Xoff - Xon; frames and data take tau each
//! way. With R_d = C / (1 + epsilon):
//!
//! Ton = 2 tau + (B + 2 tau R_d) / (C - R_d) = (1 + 1 / epsilon) (2 tau + B / C)
//!
//! The milder the congestion, the longer the ON periods; max(Ton) is that of the least epsilon that
//! is still called congestion. This derivation is ours; the paper's closed form may treat tau
//! differently.

use crate::contract::{
    Cp, EcnCodePoint, LocalCx, Packet, PacketKind, PortFacts, PortLocal, PortView, Scheme,
};
use units::{Priority, Time};

crate::params! {
    /// Parameters of TCD's congestion point.
    pub struct TcdParams {
        /// Least excess of input over the rate drained downstream that is called congestion.
        congestion_degree: f64, "epsilon", 0.001..=10.0, "SIGCOMM'21, second-hand";
        /// ON period after which a port is judged again; 0ns derives it for each port from epsilon.
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
    /// max(Ton) of a port. tau is the time of a full packet to the peer, in both directions.
    pub fn max_on(&self, facts: &PortFacts) -> Time {
        if self.max_on != Time::ZERO {
            return self.max_on;
        }
        let min = facts.transit * 2 + facts.rate.time_for(facts.resume_offset);
        Time::from_ps((min.ps() as f64 * (1.0 + 1.0 / self.congestion_degree)) as u64)
    }
}

/// The state of a port. A `port-state` probe shows it as 0, 1 and, for undetermined, 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// 0: it can send what comes, or only works off what PFC left behind.
    NonCongestion,
    /// 1: it gets more than it can send.
    Congestion,
    /// /: PFC makes it send in an ON-OFF pattern.
    Undetermined,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// ON for as long as it matters.
    Steady,
    /// Paused.
    Off,
    /// ON again; to be judged at `until`, against the queue at the resume.
    On { until: Time, queue: u64 },
    /// ON, with a queue that was shrinking when last looked at; to be judged again at `until`.
    Draining { until: Time, queue: u64 },
}

/// The detector of a port's priority.
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    max_on: Time,
    /// Bytes, above which a queue is congestion.
    threshold: u64,
    phase: Phase,
    /// The queue when it was last seen.
    queue: u64,
}

impl Detector {
    /// A port that was never paused.
    pub fn new(max_on: Time, threshold: u64) -> Detector {
        Detector { max_on, threshold, phase: Phase::Steady, queue: 0 }
    }

    /// The peer paused the port.
    pub fn pause(&mut self) {
        self.phase = Phase::Off;
    }

    /// The peer let it go on; `queue` bytes wait.
    pub fn resume(&mut self, now: Time, queue: u64) {
        self.phase = Phase::On { until: now + self.max_on, queue };
        self.queue = queue;
    }

    /// A packet leaves and `queue` bytes stay behind: the state that it meets.
    #[inline]
    pub fn depart(&mut self, now: Time, queue: u64) -> State {
        self.phase = self.phase_at(now, queue);
        self.queue = queue;
        self.state(self.phase, queue)
    }

    /// Whether RED has a say: the queue is neither held back by PFC nor left behind by it.
    #[inline]
    pub fn is_determined_by_queue(&self, now: Time, queue: u64) -> bool {
        self.phase_at(now, queue) == Phase::Steady
    }

    /// The state with the queue that was last seen.
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
    /// Its parameters.
    pub TcdParams,
);

impl<S: Scheme> Cp<S> for Tcd {
    type Level = PortLocal;
    /// By priority.
    type Port = [Detector; 8];
    crate::hooks!();

    fn port(&self, _params: &S::Params, facts: &PortFacts) -> [Detector; 8] {
        [Detector::new(self.0.max_on(facts), facts.kmin.get()); 8]
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
    /// The state that says most among the priorities: undetermined, then congestion.
    fn observe(&self, port: &[Detector; 8], now: Time) -> Option<f64> {
        let state = port.iter().map(|detector| detector.state_at(now)).max()?;
        Some(f64::from(state as u8))
    }
}
