//! DCQCN: "Congestion Control for Large-Scale RDMA Deployments", Zhu et al., SIGCOMM 2015.
//!
//! Switches mark packets by RED on the egress queue (section 3.1, CP). The receiver turns marks
//! into congestion notification packets (CNPs, NP). The sender cuts its rate on a CNP and recovers
//! in QCN's three phases, clocked by a timer and a byte counter (RP).
//!
//! Two reaction points have this name. Their queue lengths differ by an order of magnitude:
//!
//! - `paper`: section 3.1. A CNP cuts at once. Alpha rises with each CNP and decays after each
//!   quiet period. Every CNP restarts timer, byte counter and quiet period.
//! - `mellanox`: the form of the firmware, which the HPCC simulator calls DCQCN. Alpha and the cut
//!   have periodic checks of their own. The first CNP starts both. A check acts if a CNP came since
//!   the check before it.
//!
//! A reaction point has no timer events. Each call first runs the timers that were due since the
//! last one ([`ReactionPoint::advance_to`]). The exception is a window that follows the rate: it
//! takes effect without a call, so such a QP has a timer ([`ReactionPoint::next_window`]).
//!
//! # Order at the same instant
//!
//! A notification comes before the timers that are due with it, and these come before a departure,
//! as everywhere in the fabric. Among timers the order is alpha, increase, decrease check. The HPCC
//! simulator has this order, too: it starts its decrease check a nanosecond late, and its increase
//! timer, which is longer, was scheduled earlier.

mod hosts;
mod mellanox;
mod notification_point;
mod paper;
mod reaction_point;

pub use hosts::DcqcnHosts;
pub use notification_point::NotificationPoint;
pub use reaction_point::ReactionPoint;

use crate::contract::{
    Ctl, EcnLaw, HostFacts, Needs, PlainSwitch, Preset, RateFloor, Scheme, SwitchFacts, Tolerates,
};
use crate::rate_window::{FLOOR, WindowMode};
use std::ops::RangeInclusive;
use units::{Bytes, Rate, Time};

const SPAN: RangeInclusive<Time> = Time::from_ns(100)..=Time::from_ms(100);
const STEP: RangeInclusive<Rate> = Rate::ZERO..=Rate::from_gbps(100);
const FRACTION: RangeInclusive<f64> = 0.0..=1.0;

crate::choice! {
    /// Which form of the reaction point a sender works by.
    pub enum Form {
        /// The paper's.
        Paper = "paper",
        /// The one of the Mellanox firmware.
        Mellanox = "mellanox",
    }
}

crate::choice! {
    /// How marks reach the sender.
    pub enum MarkFeedback {
        /// By CNPs, at most one per `cnp_interval`.
        Cnp = "cnp",
        /// By a flag in every ACK.
        AckEcho = "ack-echo",
    }
}

crate::params! {
    /// Parameters of DCQCN.
    pub struct DcqcnParams {
        /// Reaction point: the paper's, or the one of the Mellanox firmware.
        variant: Form, "", (),
            "SIGCOMM'15 section 3.1; HPCC simulator, CC_MODE 1";
        /// How marks reach the sender: CNPs, at most one per `cnp_interval`, or a flag in every
        /// ACK.
        notification: MarkFeedback, "", (),
            "SIGCOMM'15 section 3.1; HPCC simulator";
        /// Minimum time between two CNPs of a QP.
        cnp_interval: Time, "N", Time::ZERO..=Time::from_ms(100), "SIGCOMM'15 section 3.1",
            only notification = ["cnp"];
        /// Alpha at the first notification.
        initial_alpha: f64, "alpha", FRACTION, "SIGCOMM'15 section 3.1";
        /// Gain of alpha's moving average.
        gain: f64, "g", 0.0..=1.0, "SIGCOMM'15 section 5.2";
        /// Time without a notification after which alpha decays (paper); period of alpha's update
        /// (mellanox).
        alpha_timer: Time, "K", SPAN, "SIGCOMM'15 section 3.1";
        /// Period of the check that may cut (mellanox only).
        decrease_interval: Time, "", SPAN, "HPCC simulator, RATE_DECREASE_INTERVAL",
            only variant = ["mellanox"];
        /// Period of the increase timer.
        increase_timer: Time, "T", SPAN, "SIGCOMM'15 section 5.2";
        /// Bytes on the wire per increase of the byte counter; 0B turns the byte counter off.
        byte_counter: Bytes, "B", Bytes::ZERO..=Bytes::new(1_000_000_000_000),
            "SIGCOMM'15 section 5.2";
        /// Fast-recovery steps before the target rate rises.
        recovery_steps: u64, "F", 0..=1_000_000, "SIGCOMM'15 section 3.1";
        /// Additive increase of the target rate.
        rate_ai: Rate, "R_AI", STEP, "SIGCOMM'15 section 5.2";
        /// Hyper increase of the target rate.
        rate_hai: Rate, "R_HAI", STEP, "QCN's ratio, 10 R_AI";
        /// The rate never falls below this.
        min_rate: Rate, "", FLOOR,
            "the authors' simulator, MinRate";
        /// Share of the rate that is left after the first notification (mellanox only).
        first_cnp_rate: f64, "", 0.001..=1.0, "firmware, rate_to_set_on_first_cnp",
            only variant = ["mellanox"];
        /// Every cut lowers the target to the rate before the cut, not only the first cut after an
        /// increase.
        clamp_target: bool, "", (), "SIGCOMM'15 section 3.1; firmware, clamp_tgt_rate";
        /// Limit of the bytes in flight: none, or the BDP of the network or of the path, either
        /// fixed or scaled by rate over line rate.
        window: WindowMode, "", (),
            "HPCC simulator, HAS_WIN, VAR_WIN and GLOBAL_T";
    }
}

/// Parameters of receivers. They have no effect if switches send the notifications.
pub const RECEIVER_PARAMS: &[&str] = &["notification", "cnp_interval"];

impl DcqcnParams {
    /// Returns what `min_rate` means.
    pub(crate) fn rate_floor(&self) -> RateFloor {
        let has_window = self.window != WindowMode::None;
        RateFloor { rate: self.min_rate, has_window, max_packet_gap: None }
    }
}

/// The scheme `dcqcn`.
#[derive(Debug)]
pub struct Dcqcn;

impl Scheme for Dcqcn {
    const NAME: &'static str = "dcqcn";
    const TITLE: &'static str = "DCQCN";
    const PAPER: &'static str = "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, \
                                 SIGCOMM 2015";
    const CAVEAT: &'static str =
        "Presets (named parameter sets, `rocelab list dcqcn`) differ tenfold in queue length.";
    const PRESETS: &'static [Preset<DcqcnParams>] = &[
        Preset {
            name: "dcqcn-paper",
            summary: "The paper's reaction point and its 40G settings, scaled with the port rate",
            source: "SIGCOMM'15 sections 3.1 and 5.2; R_HAI by QCN's ratio",
            ecn: Some(presets::PAPER_ECN),
            params: presets::paper,
        },
        Preset {
            name: "dcqcn-hpcc",
            summary: "What the HPCC paper's simulator compares with: firmware form, no window",
            source: "HPCC simulator, run.py, `dcqcn`",
            ecn: Some(presets::HPCC_ECN),
            params: presets::hpcc,
        },
        Preset {
            name: "dcqcn-hpcc-paper",
            summary: "The HPCC paper's simulator with timers and steps near those of DCQCN's paper",
            source: "HPCC simulator, run.py, `dcqcn_paper`",
            ecn: Some(presets::HPCC_ECN),
            params: presets::hpcc_paper,
        },
        Preset {
            name: "dcqcn-mlx",
            summary: "Defaults of Mellanox 100G firmware, with byte counter and CNPs",
            source: "NVIDIA DOCA 3.4 DCQCN parameters; Google Isekai. The marking law, which is no \
                     matter of the adapter, is the HPCC simulator's",
            ecn: Some(presets::HPCC_ECN),
            params: presets::mlx,
        },
        Preset {
            name: "dcqcn-themis",
            summary: "The HPCC simulator's sample configuration, as THEMIS used it: with a window",
            source: "THEMIS prototype, config.txt",
            ecn: Some(presets::HPCC_ECN),
            params: presets::themis,
        },
    ];
    const NEEDS: Needs = Needs {
        tolerates: Tolerates::several_paths(
            "marks from one of its paths slow the whole queue pair; set ecn.kmin above the \
             queues that spraying itself makes (a probe of kind \"queue\" shows them)",
        ),
        ..Needs::NONE
    };

    type Params = DcqcnParams;
    type Meta = ();
    type Ctl = Cnp;
    type Host = ();
    type Rp = ReactionPoint;
    type Np = NotificationPoint;
    type Cp = PlainSwitch;

    fn rate_floor(params: &DcqcnParams) -> Option<RateFloor> {
        Some(params.rate_floor())
    }
    fn host(_params: &DcqcnParams, _facts: &HostFacts) {}
    fn congestion_point(_params: &DcqcnParams, _facts: &SwitchFacts<'_>) -> Option<PlainSwitch> {
        None
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// RED of the paper: its settings at 40G.
    pub const PAPER_ECN: EcnLaw = EcnLaw {
        kmin: Bytes::new(5_000),
        kmax: Bytes::new(200_000),
        pmax: 0.01,
        at: Rate::from_gbps(40),
    };
    /// RED of the HPCC simulator's configurations.
    pub const HPCC_ECN: EcnLaw = EcnLaw {
        kmin: Bytes::new(100_000),
        kmax: Bytes::new(400_000),
        pmax: 0.2,
        at: Rate::from_gbps(25),
    };

    /// A part of the rate of the hosts' ports, at least 100 kb/s.
    fn share(host_rate: Rate, parts: u64) -> Rate {
        Rate::from_bps((host_rate.bps() / parts).max(100_000))
    }

    /// Preset `dcqcn-paper`: the paper's reaction point and its 40G settings, scaled with the port
    /// rate.
    pub fn paper(host_rate: Rate) -> DcqcnParams {
        DcqcnParams {
            variant: Form::Paper,
            notification: MarkFeedback::Cnp,
            cnp_interval: Time::from_us(50),
            initial_alpha: 1.0,
            gain: 1.0 / 256.0,
            alpha_timer: Time::from_us(55),
            // The firmware's value; the paper's form does not use it.
            decrease_interval: Time::from_us(4),
            increase_timer: Time::from_us(55),
            byte_counter: Bytes::new(10_000_000),
            recovery_steps: 5,
            // 40 Mb/s and 400 Mb/s at 40G.
            rate_ai: share(host_rate, 1000),
            rate_hai: share(host_rate, 100),
            min_rate: Rate::from_mbps(100),
            first_cnp_rate: 1.0,
            clamp_target: true,
            window: WindowMode::None,
        }
    }

    /// Preset `dcqcn-hpcc`: what the HPCC paper's simulator compares with: firmware form, no
    /// window.
    pub fn hpcc(host_rate: Rate) -> DcqcnParams {
        DcqcnParams {
            variant: Form::Mellanox,
            notification: MarkFeedback::AckEcho,
            alpha_timer: Time::from_us(1),
            increase_timer: Time::from_us(300),
            byte_counter: Bytes::ZERO,
            recovery_steps: 1,
            // 5 Mb/s and 50 Mb/s at 25G.
            rate_ai: share(host_rate, 5000),
            rate_hai: share(host_rate, 500),
            min_rate: Rate::from_mbps(1000),
            clamp_target: false,
            ..paper(host_rate)
        }
    }

    /// Preset `dcqcn-hpcc-paper`: the HPCC paper's simulator with timers and steps near those of
    /// DCQCN's paper. Fast recovery has one step, as in `dcqcn-hpcc`.
    pub fn hpcc_paper(host_rate: Rate) -> DcqcnParams {
        DcqcnParams {
            alpha_timer: Time::from_us(50),
            decrease_interval: Time::from_us(50),
            increase_timer: Time::from_us(55),
            ..hpcc(host_rate)
        }
    }

    /// Preset `dcqcn-mlx`: defaults of Mellanox 100G firmware, with byte counter and CNPs.
    pub fn mlx(host_rate: Rate) -> DcqcnParams {
        DcqcnParams {
            notification: MarkFeedback::Cnp,
            cnp_interval: Time::from_us(4),
            initial_alpha: 1023.0 / 1024.0,
            gain: 5.0 / 1024.0,
            // 32767 units of 64 bytes.
            byte_counter: Bytes::new(32_767 * 64),
            rate_ai: Rate::from_mbps(5),
            rate_hai: Rate::from_mbps(50),
            min_rate: Rate::from_mbps(1),
            // 85 Gb/s at 100G.
            first_cnp_rate: 0.85,
            ..hpcc(host_rate)
        }
    }

    /// Preset `dcqcn-themis`: the HPCC simulator's sample configuration, as THEMIS used it: with a
    /// window.
    pub fn themis(host_rate: Rate) -> DcqcnParams {
        DcqcnParams {
            increase_timer: Time::from_us(900),
            rate_ai: Rate::from_mbps(50),
            rate_hai: Rate::from_mbps(100),
            min_rate: Rate::from_mbps(100),
            window: WindowMode::Bdp,
            ..hpcc(host_rate)
        }
    }
}

impl DcqcnHosts for Dcqcn {
    fn dcqcn(params: &DcqcnParams) -> &DcqcnParams {
        params
    }
    fn cnp() -> Cnp {
        Cnp
    }
}

/// A congestion notification packet. Its only content: a marked packet of the QP arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cnp;

impl<P> Ctl<P> for Cnp {
    const MAX_FRAME_BYTES: u32 = Cnp::FRAME_BYTES;

    fn is_cnp(&self) -> bool {
        true
    }
}

impl Cnp {
    /// Ethernet 14, IPv4 20, UDP 8, BTH 12, 16 reserved, ICRC 4, FCS 4 (InfiniBand annex A17).
    pub const FRAME_BYTES: u32 = 78;
}
