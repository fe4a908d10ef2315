//! DCQCN: "Congestion Control for Large-Scale RDMA Deployments", Zhu et al., SIGCOMM 2015.
//!
//! Switches mark packets by RED on the egress queue (section 3.1, CP), the receiver turns marks into
//! congestion notification packets (CNPs, NP), the sender cuts its rate on a CNP and recovers by
//! QCN's three phases, clocked by a timer and a byte counter (RP).
//!
//! Two reaction points go by this name, and they differ by an order of magnitude in queue length:
//!
//! - `paper`: section 3.1. A CNP cuts at once; alpha rises with each CNP and decays after each
//!   quiet period; every CNP restarts timer, byte counter and the quiet period.
//! - `mellanox`: the firmware's form, which the HPCC simulator calls DCQCN. Alpha and the cut have
//!   periodic checks of their own, both begun by the first CNP, that ask whether any CNP came since
//!   the check before.
//!
//! Time passes for a reaction point only where someone looks: [`ReactionPoint::advance_to`] replays
//! what its timers would have done. So a QP needs no timer events, unless it has a window that follows
//! the rate: that is looked at as it is.
//!
//! # Order at the same instant
//!
//! A notification comes before the timers that are due with it, and these before a departure, as
//! everywhere in the fabric. Among timers: alpha, then increase, then the decrease check. (The HPCC
//! simulator starts its decrease check a nanosecond late to have alpha first, and its increase
//! timer, being longer, was scheduled earlier.)

mod hosts;

pub use hosts::DcqcnHosts;

use crate::contract::{
    Ctl, EcnCodePoint, EcnLaw, HostFacts, PathFacts, PlainSwitch, Preset, Scheme, SendLimits,
    SenderMetric, SwitchFacts,
};
use crate::rate_window::{self, RateWindow};
use crate::shared_law::Shared;
use std::ops::RangeInclusive;
use std::sync::Arc;
use units::{Bytes, Rate, Time};

const SPAN: RangeInclusive<Time> = Time::from_ns(100)..=Time::from_ms(100);
const STEP: RangeInclusive<Rate> = Rate::from_bps(100_000)..=Rate::from_gbps(100);
const FRACTION: RangeInclusive<f64> = 0.0..=1.0;

crate::params! {
    /// Parameters of DCQCN.
    pub struct DcqcnParams {
        /// Reaction point: the paper's, or the one of the Mellanox firmware.
        variant: &'static str, "", &["paper", "mellanox"],
            "SIGCOMM'15 section 3.1; HPCC simulator, CC_MODE 1";
        /// How marks reach the sender: CNPs, at most one per `cnp_interval`, or a flag in every ACK.
        notification: &'static str, "", &["cnp", "ack-echo"],
            "SIGCOMM'15 section 3.1; HPCC simulator";
        /// Least time between two CNPs of a QP.
        cnp_interval: Time, "N", Time::ZERO..=Time::from_ms(100), "SIGCOMM'15 section 3.1";
        /// Alpha when the first notification arrives.
        initial_alpha: f64, "alpha", FRACTION, "SIGCOMM'15 section 3.1";
        /// Gain of alpha's moving average.
        gain: f64, "g", 0.0001..=1.0, "SIGCOMM'15 section 5.2";
        /// Alpha decays when this long nothing was notified (paper); period of its update (mellanox).
        alpha_timer: Time, "K", SPAN, "SIGCOMM'15 section 3.1";
        /// Period of the check whether to cut (mellanox only).
        decrease_interval: Time, "", SPAN, "HPCC simulator, RATE_DECREASE_INTERVAL";
        /// Period of the increase timer.
        increase_timer: Time, "T", SPAN, "SIGCOMM'15 section 5.2";
        /// Bytes on the wire per increase of the byte counter; 0B for no byte counter.
        byte_counter: Bytes, "B", Bytes::ZERO..=Bytes::new(1_000_000_000_000),
            "SIGCOMM'15 section 5.2";
        /// Fast-recovery steps before the target rate rises.
        recovery_steps: u64, "F", 0..=1_000_000, "SIGCOMM'15 section 3.1";
        /// Additive increase of the target rate.
        rate_ai: Rate, "R_AI", STEP, "SIGCOMM'15 section 5.2";
        /// Hyper increase of the target rate.
        rate_hai: Rate, "R_HAI", STEP, "QCN's ratio, 10 R_AI";
        /// The rate never falls below this.
        min_rate: Rate, "", Rate::from_bps(1000)..=Rate::from_gbps(100),
            "the authors' simulator, MinRate";
        /// Share of the rate that the first notification leaves (mellanox only).
        first_cnp_rate: f64, "", 0.001..=1.0, "firmware, rate_to_set_on_first_cnp";
        /// Every cut lowers the target to the rate before it, not only the first after an increase.
        clamp_target: bool, "", (), "SIGCOMM'15 section 3.1; firmware, clamp_tgt_rate";
        /// Limit of the bytes in flight: none, or the network's or the path's BDP, fixed or scaled by
        /// rate over line rate.
        window: &'static str, "", rate_window::CHOICES, "HPCC simulator, HAS_WIN, VAR_WIN and GLOBAL_T";
    }
}

/// Parameters of receivers, which mean nothing where switches notify.
pub const RECEIVER_PARAMS: &[&str] = &["notification", "cnp_interval"];

/// The scheme `dcqcn`.
#[derive(Debug)]
pub struct Dcqcn;

/// RED of the HPCC simulator's configurations.
const HPCC_ECN: EcnLaw = EcnLaw {
    kmin: Bytes::new(100_000),
    kmax: Bytes::new(400_000),
    pmax: 0.2,
    at: Rate::from_gbps(25),
};

impl Scheme for Dcqcn {
    const NAME: &'static str = "dcqcn";
    const TITLE: &'static str = "DCQCN";
    const PAPER: &'static str = "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, \
                                 SIGCOMM 2015";
    const CAVEAT: &'static str = "Presets differ by an order of magnitude in queue length: say \
                                  which one a figure used.";
    const PRESETS: &'static [Preset] = &[
        Preset {
            name: "dcqcn-paper",
            summary: "The paper's reaction point and its 40G settings, scaled with the port rate",
            source: "SIGCOMM'15 sections 3.1 and 5.2; R_HAI by QCN's ratio",
            ecn: Some(EcnLaw {
                kmin: Bytes::new(5_000),
                kmax: Bytes::new(200_000),
                pmax: 0.01,
                at: Rate::from_gbps(40),
            }),
        },
        Preset {
            name: "dcqcn-hpcc",
            summary: "What the HPCC paper's simulator compares with: firmware form, no window",
            source: "HPCC simulator, run.py, `dcqcn`",
            ecn: Some(HPCC_ECN),
        },
        Preset {
            name: "dcqcn-mlx",
            summary: "Defaults of Mellanox 100G firmware, with byte counter and CNPs",
            source: "NVIDIA DOCA 3.4 DCQCN parameters; Google Isekai. The marking law, which is no \
                     matter of the adapter, is the HPCC simulator's",
            ecn: Some(HPCC_ECN),
        },
        Preset {
            name: "dcqcn-themis",
            summary: "The HPCC simulator's sample configuration, as THEMIS used it: with a window",
            source: "THEMIS prototype, config.txt",
            ecn: Some(HPCC_ECN),
        },
    ];

    type Params = DcqcnParams;
    type Meta = ();
    type Ctl = Cnp;
    type Host = ();
    type Rp = ReactionPoint;
    type Np = NotificationPoint;
    type Cp = PlainSwitch;

    fn preset(name: &str, host_rate: Rate) -> DcqcnParams {
        let share = |parts: u64| Rate::from_bps((host_rate.bps() / parts).max(100_000));
        let paper = DcqcnParams {
            variant: "paper",
            notification: "cnp",
            cnp_interval: Time::from_us(50),
            initial_alpha: 1.0,
            gain: 1.0 / 256.0,
            alpha_timer: Time::from_us(55),
            // Not used by the paper's form; the firmware's value.
            decrease_interval: Time::from_us(4),
            increase_timer: Time::from_us(55),
            byte_counter: Bytes::new(10_000_000),
            recovery_steps: 5,
            // 40 Mb/s and 400 Mb/s at 40G.
            rate_ai: share(1000),
            rate_hai: share(100),
            min_rate: Rate::from_mbps(100),
            first_cnp_rate: 1.0,
            clamp_target: true,
            window: "none",
        };
        let hpcc = DcqcnParams {
            variant: "mellanox",
            notification: "ack-echo",
            alpha_timer: Time::from_us(1),
            increase_timer: Time::from_us(300),
            byte_counter: Bytes::ZERO,
            recovery_steps: 1,
            // 5 Mb/s and 50 Mb/s at 25G.
            rate_ai: share(5000),
            rate_hai: share(500),
            min_rate: Rate::from_mbps(1000),
            clamp_target: false,
            ..paper
        };
        match name {
            "dcqcn-hpcc" => hpcc,
            "dcqcn-mlx" => DcqcnParams {
                notification: "cnp",
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
                ..hpcc
            },
            "dcqcn-themis" => DcqcnParams {
                increase_timer: Time::from_us(900),
                rate_ai: Rate::from_mbps(50),
                rate_hai: Rate::from_mbps(100),
                min_rate: Rate::from_mbps(100),
                window: "bdp",
                ..hpcc
            },
            _ => paper,
        }
    }
    fn host(_params: &DcqcnParams, _facts: &HostFacts) {}
    fn congestion_point(_params: &DcqcnParams, _facts: &SwitchFacts<'_>) -> Option<PlainSwitch> {
        None
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

/// A congestion notification packet. It says only that a marked packet of the QP arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cnp;

impl<P> Ctl<P> for Cnp {
    fn frame_bytes(&self) -> u32 {
        Cnp::FRAME_BYTES
    }
}

impl Cnp {
    /// Ethernet 14, IPv4 20, UDP 8, BTH 12, 16 reserved, ICRC 4, FCS 4 (InfiniBand annex A17).
    pub const FRAME_BYTES: u32 = 78;
}

static LAWS: Shared<Law> = Shared::new();

/// The parameters in the form in which a reaction point works with them. All QPs with the same line rate and
/// the same window share it. On cache lines of its own, as its users are counted beside it.
#[derive(Clone, Debug, PartialEq)]
#[repr(align(64))]
struct Law {
    form: Form,
    ack_echo: bool,
    clamp_target: bool,
    initial_alpha: f64,
    gain: f64,
    alpha_timer: Time,
    decrease_interval: Time,
    increase_timer: Time,
    byte_counter: u64,
    recovery_steps: u64,
    rate_ai: u64,
    rate_hai: u64,
    /// Bits per second, as all rates here.
    line_rate: u64,
    min_rate: u64,
    first_cnp_rate: f64,
    /// What limits the bytes in flight beside the rate.
    limit: RateWindow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Paper,
    Mellanox,
}

impl Law {
    /// The law for a QP on this path.
    fn new(params: &DcqcnParams, path: &PathFacts) -> Law {
        let line_rate = path.line_rate.bps();
        Law {
            form: if params.variant == "mellanox" { Form::Mellanox } else { Form::Paper },
            ack_echo: params.notification == "ack-echo",
            clamp_target: params.clamp_target,
            initial_alpha: params.initial_alpha,
            gain: params.gain,
            alpha_timer: params.alpha_timer,
            decrease_interval: params.decrease_interval,
            increase_timer: params.increase_timer,
            byte_counter: params.byte_counter.get(),
            recovery_steps: params.recovery_steps,
            rate_ai: params.rate_ai.bps(),
            rate_hai: params.rate_hai.bps(),
            line_rate,
            min_rate: params.min_rate.bps().min(line_rate),
            first_cnp_rate: params.first_cnp_rate,
            limit: RateWindow::new(params.window, path),
        }
    }
}

/// Below this alpha is nothing: a cut by it would not take a bit per second off a 1.6 Tb/s rate.
const NEGLIGIBLE_ALPHA: f64 = 1e-12;

const TICK: Time = Time::from_ps(1);

/// The reaction point, one per QP. Its methods are plain, so that other schemes can build on it.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    law: Arc<Law>,
    /// R_C, never above `target`.
    current: u64,
    /// R_T, never above the line rate.
    target: u64,
    /// As of the last update before `alpha_due`; updated only when it is needed.
    alpha: f64,
    /// The first update that `alpha` has not seen; never before the first notification.
    alpha_due: Time,
    /// Mellanox: a notification came since the last update of alpha.
    alpha_notified: bool,
    /// Mellanox: when the first notification came, from which the decrease checks are counted.
    first_notified: Time,
    /// Mellanox: the decrease check that will cut.
    cut_due: Time,
    /// When the increase timer expires; never before the first cut.
    increase_due: Time,
    /// TC: increases by the timer since the last cut.
    timer_stage: u64,
    /// BC: increases by the byte counter since the last cut.
    byte_stage: u64,
    /// Bytes until the byte counter's next increase.
    bytes_left: u64,
    /// The rate stays as it is before this time.
    hold_until: Time,
    /// The window now.
    window: Bytes,
}

impl ReactionPoint {
    /// The reaction point of a QP that begins: at line rate, without a limiter until the first
    /// notification (section 3.1).
    pub fn new(params: &DcqcnParams, path: &PathFacts) -> ReactionPoint {
        let law = LAWS.share(Law::new(params, path));
        let Law { line_rate, initial_alpha, byte_counter, limit, .. } = *law;
        ReactionPoint {
            law,
            current: line_rate,
            target: line_rate,
            alpha: initial_alpha,
            alpha_due: Time::NEVER,
            alpha_notified: false,
            first_notified: Time::NEVER,
            cut_due: Time::NEVER,
            increase_due: Time::NEVER,
            timer_stage: 0,
            byte_stage: 0,
            bytes_left: byte_counter,
            hold_until: Time::ZERO,
            window: limit.at(line_rate),
        }
    }

    /// Whether ACKs that echo a mark are its notifications.
    #[inline]
    pub fn uses_ecn_echo(&self) -> bool {
        self.law.ack_echo
    }

    /// The rate, as of the last call with a time.
    #[inline]
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.current)
    }

    /// The target rate, as of the last call with a time.
    #[inline]
    pub fn target_rate(&self) -> Rate {
        Rate::from_bps(self.target)
    }

    /// Rate and window, as of the last call with a time.
    #[inline]
    pub fn limits(&self) -> SendLimits {
        SendLimits { rate: self.rate(), window: self.window, ..SendLimits::UNLIMITED }
    }

    /// Alpha after the updates due until `now`.
    pub fn alpha(&self, now: Time) -> f64 {
        let mut then = self.clone();
        then.advance_to(now);
        then.age_alpha(now + TICK);
        then.alpha
    }

    /// Does what the timers due until `now` would have done.
    #[inline]
    pub fn advance_to(&mut self, now: Time) {
        self.run_timers(now + TICK);
    }

    /// `bytes` left the sender.
    #[inline]
    pub fn count_bytes(&mut self, now: Time, mut bytes: u64) {
        self.advance_to(now);
        let counting = self.law.byte_counter != 0 && self.increase_due != Time::NEVER;
        if !counting || now < self.hold_until {
            return;
        }
        while bytes >= self.bytes_left {
            bytes -= self.bytes_left;
            self.bytes_left = self.law.byte_counter;
            self.increase();
            self.byte_stage += 1;
        }
        self.bytes_left -= bytes;
    }

    /// A CNP arrived, or an ACK that echoes a mark.
    pub fn notify(&mut self, now: Time) {
        // Before the timers that are due with it.
        self.run_timers(now);
        if now < self.hold_until {
            return;
        }
        match self.law.form {
            Form::Paper => {
                self.age_alpha(now);
                // The cut uses the alpha of before (section 3.1, equation 1).
                self.cut(now);
                self.raise_alpha();
                self.alpha_due = now + self.law.alpha_timer;
            }
            Form::Mellanox if self.first_notified == Time::NEVER => {
                self.first_notified = now;
                self.alpha_due = now + self.law.alpha_timer;
                self.set_current((self.current as f64 * self.law.first_cnp_rate) as u64);
                self.target = self.current;
                // Alpha starts at its initial value rather than being raised, but the first check
                // cuts.
                self.cut_due = now + self.law.decrease_interval;
            }
            Form::Mellanox => {
                self.age_alpha(now);
                self.alpha_notified = true;
                if self.cut_due == Time::NEVER {
                    let since = now - self.first_notified;
                    self.cut_due = self.first_notified + since.round_up(self.law.decrease_interval);
                }
            }
        }
    }

    /// An ACK arrived with this echo.
    #[inline]
    pub fn on_ecn_echo(&mut self, now: Time, echo: EcnCodePoint) {
        if self.uses_ecn_echo() && echo == EcnCodePoint::CongestionExperienced {
            self.notify(now);
        }
    }

    /// The rate stays as it is until `until`: notifications and increases due before then are
    /// passed over. An earlier `until` shortens a hold.
    pub fn hold(&mut self, now: Time, until: Time) {
        self.run_timers(now);
        self.hold_until = until;
    }

    /// What a probe sees at `now`.
    pub fn metric_at(&self, now: Time, what: SenderMetric) -> Option<f64> {
        let mut then = self.clone();
        then.advance_to(now);
        match what {
            SenderMetric::Rate => Some(then.current as f64),
            SenderMetric::Window => {
                (then.window != Bytes::UNLIMITED).then_some(then.window.get() as f64)
            }
            SenderMetric::Alpha => Some(then.alpha(now)),
        }
    }

    /// When the window may next change without a call, where it follows the rate: a sender may then go on,
    /// or have to stop.
    #[inline]
    pub fn next_window(&self) -> Time {
        if !self.law.limit.follows_rate() {
            return Time::NEVER;
        }
        let rises = self.current < self.law.line_rate;
        self.cut_due.min(if rises { self.increase_due } else { Time::NEVER })
    }

    /// Runs the timers due before `end`.
    #[inline]
    fn run_timers(&mut self, end: Time) {
        while self.increase_due.min(self.cut_due) < end {
            if self.increase_due <= self.cut_due {
                self.increase_timer(end);
            } else {
                let now = self.cut_due;
                self.cut_due = Time::NEVER;
                if now >= self.hold_until {
                    self.age_alpha(now + TICK);
                    self.cut(now);
                }
            }
        }
    }

    /// The increase timer expired, some time before `end`.
    fn increase_timer(&mut self, end: Time) {
        let now = self.increase_due;
        let mut steps = 1;
        if now >= self.hold_until {
            if self.current == self.law.line_rate {
                // At line rate steps only count, so all go by at once. A cut among them restarts
                // count and timer in any case.
                let last = end - TICK;
                steps += (last - now).ps() / self.law.increase_timer.ps();
            } else {
                self.increase();
            }
            self.timer_stage += steps;
        }
        self.increase_due = now + self.law.increase_timer * steps;
    }

    /// One step of recovery (section 3.1, equations 3 and 4). The stages are those completed since
    /// the cut, so that there are F steps of fast recovery, as the text and the firmware have it;
    /// the authors' simulator counts first and so has F - 1.
    fn increase(&mut self) {
        let law = &*self.law;
        let (min_stage, max_stage) = if law.byte_counter == 0 {
            (self.timer_stage, self.timer_stage)
        } else {
            (self.timer_stage.min(self.byte_stage), self.timer_stage.max(self.byte_stage))
        };
        let raise = if max_stage < law.recovery_steps {
            0
        } else if min_stage > law.recovery_steps {
            match law.form {
                Form::Paper => law.rate_hai.saturating_mul(min_stage - law.recovery_steps),
                Form::Mellanox => law.rate_hai,
            }
        } else {
            law.rate_ai
        };
        // A target above the line rate would mean nothing, and later hide a cut.
        self.target = self.target.saturating_add(raise).min(law.line_rate);
        // Rounded up, or the rate would stay a bit per second below its target for ever.
        self.set_current((self.current + self.target).div_ceil(2));
    }

    /// Cuts the rate and begins its recovery (section 3.1, equation 1).
    fn cut(&mut self, now: Time) {
        if self.law.clamp_target || self.timer_stage != 0 || self.byte_stage != 0 {
            self.target = self.current;
        }
        let cut = (self.current as f64 * (1.0 - self.alpha / 2.0)) as u64;
        self.set_current(cut);
        self.timer_stage = 0;
        self.byte_stage = 0;
        self.bytes_left = self.law.byte_counter;
        self.increase_due = now + self.law.increase_timer;
    }

    fn raise_alpha(&mut self) {
        let g = self.law.gain;
        self.alpha = (1.0 - g) * self.alpha + g;
    }

    /// The updates of alpha due before `end` (section 3.1, equation 2). Step by step, because a
    /// power would round differently; a long silence ends early at nothing.
    fn age_alpha(&mut self, end: Time) {
        if self.alpha_due < end && self.alpha_notified {
            self.alpha_notified = false;
            self.raise_alpha();
            self.alpha_due += self.law.alpha_timer;
        }
        if self.alpha_due >= end {
            return;
        }
        let steps = 1 + (end - TICK - self.alpha_due).ps() / self.law.alpha_timer.ps();
        self.alpha_due += self.law.alpha_timer * steps;
        let keep = 1.0 - self.law.gain;
        for _ in 0..steps {
            if self.alpha < NEGLIGIBLE_ALPHA {
                self.alpha = 0.0;
                break;
            }
            self.alpha *= keep;
        }
    }

    fn set_current(&mut self, rate: u64) {
        let Law { min_rate, line_rate, limit, .. } = *self.law;
        self.current = rate.clamp(min_rate, line_rate);
        self.window = limit.at(self.current);
    }
}

/// The notification point, one per QP: a CNP for a marked packet, unless one went out less than the
/// interval ago (section 3.1).
#[derive(Clone, Copy, Debug)]
pub struct NotificationPoint {
    /// For ever, where marks are echoed in ACKs.
    silent_until: Time,
}

impl NotificationPoint {
    /// Its state when a QP begins.
    pub fn new(params: &DcqcnParams) -> NotificationPoint {
        let sends = params.notification == "cnp";
        NotificationPoint { silent_until: if sends { Time::ZERO } else { Time::NEVER } }
    }

    /// A data packet arrived; whether a CNP answers it.
    #[inline]
    pub fn should_send_cnp(
        &mut self,
        now: Time,
        params: &DcqcnParams,
        code_point: EcnCodePoint,
    ) -> bool {
        let sends = code_point == EcnCodePoint::CongestionExperienced && now >= self.silent_until;
        if sends {
            self.silent_until = now + params.cnp_interval;
        }
        sends
    }
}
