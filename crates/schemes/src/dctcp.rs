//! DCTCP: "Data Center TCP (DCTCP)", Alizadeh et al., SIGCOMM 2010.
//!
//! Switches mark all packets that leave more than K bytes waiting, and ACKs echo the marks. The
//! sender cuts in proportion to the share of marked packets (section 3):
//!
//! - Once per window of data, alpha moves to that share: alpha = (1 - g) alpha + g F (equation 1).
//! - At most once per window, a mark cuts by alpha / 2 (equation 2).
//! - A window in which no cut is in force adds a step.
//!
//! Two forms differ in what is cut and raised:
//!
//! - `paper`: a window, which grows by a packet. F is the share of the acknowledged bytes. Packets
//!   leave at line rate as the window allows.
//! - `ns3`, as in the HPCC simulator: a pacing rate in whole bits per second, which grows by
//!   `rate_ai`. F is the number of marked ACKs over the packets in flight when the round trip
//!   began.
//!
//! The rest is RoCE and not TCP: no slow start, and go-back-N instead of fast retransmit.

use crate::contract::{
    Absent, Ack, EcnCodePoint, EcnLaw, Fit, HostCx, HostFacts, Needs, NoCtl, PathFacts,
    PlainReceiver, PlainSwitch, Preset, RateFloor, Rp, Scheme, SendLimits, SenderMetric,
    SwitchFacts, Tolerates,
};
use crate::form::Form;
use crate::rate_window::{FLOOR, RateWindow, WindowMode};
use units::{Bytes, Rate, Time};

crate::params! {
    /// Parameters of DCTCP.
    pub struct DctcpParams {
        /// Controlled quantity: the paper's window, or a rate as in the HPCC simulator.
        variant: Form, "", (),
            "SIGCOMM'10 section 3.1; HPCC simulator, CC_MODE 8";
        /// Gain of alpha's moving average.
        gain: f64, "g", 0.0..=1.0, "SIGCOMM'10 section 3.4";
        /// Additive increase per round trip (ns3 only; a window grows by a packet).
        rate_ai: Rate, "", Rate::ZERO..=Rate::from_gbps(100),
            "HPCC simulator, DCTCP_RATE_AI: 1 KB per 13 us", only variant = ["ns3"];
        /// Minimum of the rate (ns3 only; a window holds at least a packet).
        min_rate: Rate, "", FLOOR, "HPCC simulator, MIN_RATE",
            only variant = ["ns3"];
        /// Limit of the bytes in flight in addition to the rate (ns3 only): none, or the BDP of the
        /// network or of the path, either fixed or scaled by rate over line rate.
        window: WindowMode, "", (),
            "HPCC simulator, HAS_WIN, VAR_WIN and GLOBAL_T", only variant = ["ns3"];
    }
}

/// The scheme `dctcp`.
#[derive(Debug)]
pub struct Dctcp;

impl Scheme for Dctcp {
    const NAME: &'static str = "dctcp";
    const TITLE: &'static str = "DCTCP";
    const PAPER: &'static str = "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010";
    const CAVEAT: &'static str = "A law of TCP on RoCE: starts at line rate, without slow start.";
    const PRESETS: &'static [Preset<DctcpParams>] = &[
        Preset {
            name: "dctcp-paper",
            summary: "The paper's window, and its K for 10G, scaled with the port rate",
            source: "SIGCOMM'10 sections 3.1, 3.4 and 4; K is 65 packets of 1500 B",
            ecn: Some(EcnLaw {
                kmin: Bytes::new(97_500),
                kmax: Bytes::new(97_500),
                pmax: 1.0,
                at: Rate::from_gbps(10),
            }),
            params: presets::paper,
        },
        Preset {
            name: "dctcp-hpcc",
            summary: "What the HPCC paper's simulator compares with: a rate, and a window on top",
            source: "HPCC simulator, run.py, `dctcp`",
            ecn: Some(EcnLaw {
                kmin: Bytes::new(30_000),
                kmax: Bytes::new(30_000),
                pmax: 1.0,
                at: Rate::from_gbps(10),
            }),
            params: presets::hpcc,
        },
    ];
    const NEEDS: Needs = Needs {
        tolerates: Tolerates {
            selective_repeat: Fit::Note(
                "it slows down for marks and not for losses, so where nothing is marked a full \
                 buffer goes on losing packets",
            ),
            ..Tolerates::several_paths("its alpha is the share of marks over all paths")
        },
        ..Needs::NONE
    };

    type Params = DctcpParams;
    type Meta = ();
    type Ctl = NoCtl;
    type Host = ();
    type Rp = ReactionPoint;
    type Np = PlainReceiver;
    type Cp = PlainSwitch;

    fn rate_floor(params: &DctcpParams) -> Option<RateFloor> {
        // The paper's form has no lowest rate.
        (params.variant == Form::Ns3).then_some(RateFloor {
            rate: params.min_rate,
            has_window: params.window != WindowMode::None,
            max_packet_gap: None,
        })
    }
    fn host(_params: &DctcpParams, _facts: &HostFacts) {}
    fn congestion_point(_params: &DctcpParams, _facts: &SwitchFacts<'_>) -> Option<PlainSwitch> {
        None
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `dctcp-paper`: the paper's window, and its K for 10G, scaled with the port rate.
    pub fn paper(host_rate: Rate) -> DctcpParams {
        DctcpParams { variant: Form::Paper, ..hpcc(host_rate) }
    }

    /// Preset `dctcp-hpcc`: what the HPCC paper's simulator compares with: a rate, and a window on
    /// top.
    pub fn hpcc(_host_rate: Rate) -> DctcpParams {
        DctcpParams {
            variant: Form::Ns3,
            gain: 1.0 / 16.0,
            // The same at every port rate.
            rate_ai: Rate::from_mbps(615),
            min_rate: Rate::from_mbps(1000),
            window: WindowMode::Bdp,
        }
    }
}

/// The controlled quantity, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    /// A window in bytes.
    Window,
    /// A pacing rate in bits per second.
    Rate,
}

/// The reaction point, one per QP. Its methods take plain values, so that other schemes can use it.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    control: Control,
    gain: f64,
    /// The window or rate. Its bounds and its step follow.
    current: u64,
    min: u64,
    max: u64,
    step: u64,
    rate_window: RateWindow,
    payload: u64,
    limits: SendLimits,
    /// alpha, the moving average of the share of marked packets.
    alpha: f64,
    /// The present round trip ends when a byte beyond this is acknowledged; 0 before the first ACK.
    round_end: u64,
    /// In this round trip: marked bytes and all acknowledged bytes (window), or marked ACKs and
    /// expected packets (rate).
    marked: u64,
    total: u64,
    /// At some time in this round trip, the bytes in flight filled the window.
    filled: bool,
    /// A cut is in force until a byte beyond this is acknowledged (CWR).
    cut_until: Option<u64>,
    /// First byte that is not sent yet.
    sent: u64,
}

impl ReactionPoint {
    /// Returns the state of a new QP: at line rate, with alpha 1. Both are as in the HPCC
    /// simulator. (The paper's alpha begins with its TCP, which begins with slow start.)
    pub fn new(params: &DctcpParams, path: &PathFacts) -> ReactionPoint {
        let control = if params.variant == Form::Ns3 { Control::Rate } else { Control::Window };
        let payload = path.payload.get();
        let (first, min, max, step) = match control {
            Control::Window => {
                let bdp = path.line_rate.bytes_in(path.network_rtt).get().max(payload);
                (bdp, payload, u64::MAX, payload)
            }
            Control::Rate => {
                let line = path.line_rate.bps();
                (line, params.min_rate.bps().min(line), line, params.rate_ai.bps())
            }
        };
        let rate_window = if control == Control::Rate { params.window } else { WindowMode::None };
        let mut rp = ReactionPoint {
            control,
            gain: params.gain,
            current: first,
            min,
            max,
            step,
            rate_window: RateWindow::new(rate_window, path),
            payload,
            limits: SendLimits::UNLIMITED,
            alpha: 1.0,
            round_end: 0,
            marked: 0,
            total: 0,
            filled: false,
            cut_until: None,
            sent: 0,
        };
        rp.set(first);
        rp
    }

    /// Rate and window, as limits for the sender.
    #[inline]
    pub fn limits(&self) -> SendLimits {
        self.limits
    }
    /// alpha, the moving average of the share of marked packets.
    #[inline]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Reacts to an ACK of `newly_acked` bytes, up to `acknowledged`. The sender has sent up to
    /// `sent`. `marked` says whether the ACK echoes a CE mark.
    #[inline]
    pub fn acknowledge(&mut self, acknowledged: u64, newly_acked: u64, sent: u64, marked: bool) {
        self.sent = sent;
        match self.control {
            Control::Window => {
                self.total += newly_acked;
                self.marked += if marked { newly_acked } else { 0 };
                let under_way = (sent + newly_acked).saturating_sub(acknowledged);
                self.filled |= under_way >= self.current;
            }
            Control::Rate => {
                self.marked += u64::from(marked);
                self.filled = true;
            }
        }
        let round_ends = acknowledged > self.round_end;
        if round_ends {
            self.begin_round(acknowledged);
        }
        if self.cut_until.is_some_and(|end| acknowledged > end) {
            self.cut_until = None;
        }
        if marked {
            self.cut();
        }
        if round_ends && self.cut_until.is_none() && self.filled {
            self.set(self.current.saturating_add(self.step));
        }
        if round_ends {
            self.filled = false;
        }
    }

    /// Updates alpha (equation 1) and starts a new round trip.
    fn begin_round(&mut self, acknowledged: u64) {
        let first = self.round_end == 0;
        if !first {
            let share = (self.marked as f64 / self.total.max(1) as f64).min(1.0);
            self.alpha = (1.0 - self.gain) * self.alpha + self.gain * share;
        }
        self.round_end = self.sent;
        // In the first round trip, the HPCC simulator counts packets and marks from the start of
        // the flow.
        let begin = if first { 0 } else { acknowledged };
        match self.control {
            Control::Window => (self.marked, self.total) = (0, 0),
            Control::Rate => {
                if !first {
                    self.marked = 0;
                }
                // A sender that went back may have sent less than is acknowledged. The simulator's
                // unsigned numbers wrap around then.
                let packets = self.sent.wrapping_sub(begin) / self.payload;
                self.total = u64::from((packets as u32).wrapping_add(1));
            }
        }
    }

    /// Cuts by alpha / 2 (equation 2), unless a cut is in force.
    fn cut(&mut self) {
        if self.cut_until.is_some() {
            return;
        }
        self.set((self.current as f64 * (1.0 - self.alpha / 2.0)) as u64);
        self.cut_until = Some(self.sent);
    }

    fn set(&mut self, level: u64) {
        self.current = level.clamp(self.min, self.max);
        let (rate, window) = match self.control {
            Control::Window => (SendLimits::UNLIMITED.rate, Bytes::new(self.current)),
            Control::Rate => (Rate::from_bps(self.current), self.rate_window.at(self.current)),
        };
        self.limits = SendLimits { rate, window, ..SendLimits::UNLIMITED };
    }
}

impl Rp<Dctcp> for ReactionPoint {
    type Timer = Absent;
    fn open(params: &DctcpParams, _host: &mut (), path: &PathFacts, _now: Time) -> ReactionPoint {
        ReactionPoint::new(params, path)
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        self.limits()
    }
    #[inline]
    fn on_ack(&mut self, _cx: &mut HostCx<'_, Dctcp>, ack: &Ack<'_, Dctcp>) {
        let marked = ack.echo == EcnCodePoint::CongestionExperienced;
        let (new, sent) = (ack.newly_acked.get(), ack.highest_sent());
        self.acknowledge(ack.next_expected, new, sent, marked);
    }
    fn observe(&self, _now: Time, what: SenderMetric) -> Option<f64> {
        match what {
            SenderMetric::Rate => (self.control == Control::Rate).then_some(self.current as f64),
            SenderMetric::Window => {
                (self.limits.window != Bytes::UNLIMITED).then_some(self.limits.window.get() as f64)
            }
            SenderMetric::Alpha => Some(self.alpha),
        }
    }
}
