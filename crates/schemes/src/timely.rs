//! TIMELY: "TIMELY: RTT-based Congestion Control for the Datacenter", Mittal et al., SIGCOMM 2015.
//!
//! Switches do nothing. The sender measures the round-trip time of each packet and its ACK. The
//! gradient of the round-trip time says whether queues grow (Algorithm 1):
//!
//! - Below T_low the rate rises.
//! - Above T_high it falls, whatever the gradient is.
//! - In between it rises if round trips shorten, and falls in proportion to the gradient if they
//!   lengthen.
//!
//! Two forms differ in when they update, and in which updates lead to hyperactive increase:
//!
//! - `paper`: updates for each completion, that is for each acknowledged segment. The fifth
//!   completion in a row with a gradient of zero or below, and those after it, raise the rate by N
//!   delta (hyperactive increase).
//! - `ns3`, as in the HPCC simulator: updates once per round trip, at the first ACK beyond what was
//!   sent at the previous update. An increase is hyperactive if five increases of either kind came
//!   before it.
//!
//! Rates are whole bits per second, and differences of round trips are in nanoseconds. Both are as
//! in the HPCC simulator, so the same ACKs give the same rates to the bit.

use crate::contract::{
    Absent, Ack, Fit, HostCx, HostFacts, Needs, NetworkFacts, NoCtl, PathFacts, PlainReceiver,
    PlainSwitch, Preset, RateFloor, Rp, Scheme, SendLimits, SwitchFacts, Tolerates,
};
use crate::form::Form;
use crate::params::ParamError;
use crate::rate_window::{FLOOR, RateWindow, WindowMode};
use std::ops::RangeInclusive;
use units::{Bytes, Rate, Time};

const RTT: RangeInclusive<Time> = Time::from_ns(100)..=Time::from_ms(100);
const STEP: RangeInclusive<Rate> = Rate::ZERO..=Rate::from_gbps(100);
const FRACTION: RangeInclusive<f64> = 0.0..=1.0;

crate::params! {
    /// Parameters of TIMELY.
    pub struct TimelyParams {
        /// Reaction point: the paper's, or the HPCC simulator's.
        variant: Form, "", (),
            "SIGCOMM'15 Algorithm 1; HPCC simulator, CC_MODE 7";
        /// Acknowledged bytes per update (paper only).
        segment: Bytes, "", Bytes::new(1)..=Bytes::new(1_000_000_000),
            "SIGCOMM'15 section 3: 16 to 64 KB", only variant = ["paper"];
        /// Weight of the newest difference of round-trip times in the moving average.
        ewma_weight: f64, "alpha", FRACTION, "SIGCOMM'15 Algorithm 1; HPCC simulator, TimelyAlpha";
        /// Share of the rate that a gradient of one, or an infinite round trip, takes away.
        decrease: f64, "beta", FRACTION, "SIGCOMM'15 Algorithm 1; HPCC simulator, TimelyBeta";
        /// Round trips shorter than this raise the rate, whatever the gradient is.
        t_low: Time, "T_low", RTT, "SIGCOMM'15 Algorithm 1; HPCC simulator, TimelyTLow";
        /// Round trips longer than this lower the rate, whatever the gradient is.
        t_high: Time, "T_high", RTT, "SIGCOMM'15 Algorithm 1; HPCC simulator, TimelyTHigh";
        /// Divisor that turns differences of round-trip times into the gradient.
        min_rtt: Time, "minRTT", RTT, "SIGCOMM'15 Algorithm 1; HPCC simulator, TimelyMinRtt";
        /// Additive increase.
        rate_ai: Rate, "delta", STEP, "SIGCOMM'15 Algorithm 1; HPCC simulator, run.py";
        /// Hyperactive increase.
        rate_hai: Rate, "N delta", STEP, "SIGCOMM'15 Algorithm 1, N = 5; HPCC simulator, run.py";
        /// Number of increases in a row after which increases are hyperactive.
        hai_threshold: u64, "", 0..=1_000_000, "SIGCOMM'15 section 4.3; HPCC simulator";
        /// The rate never falls below this.
        min_rate: Rate, "", FLOOR, "HPCC simulator, MIN_RATE";
        /// Limit of the bytes in flight: none, or the BDP of the network or of the path, either
        /// fixed or scaled by rate over line rate.
        window: WindowMode, "", (),
            "HPCC simulator, HAS_WIN, VAR_WIN and GLOBAL_T";
    }
}

/// The scheme `timely`.
#[derive(Debug)]
pub struct Timely;

/// Why TIMELY should not see several paths.
const DELAY_OF_PATHS: &str = "it takes the difference between the delays of two paths for a queue, \
                              so all paths should have one delay";

impl Scheme for Timely {
    const NAME: &'static str = "timely";
    const TITLE: &'static str = "TIMELY";
    const PAPER: &'static str = "Mittal et al., TIMELY: RTT-based Congestion Control for the \
                                 Datacenter, SIGCOMM 2015";
    const CAVEAT: &'static str = "It has no fixed point: how flows share a link depends on how \
                                  they began.";
    const PRESETS: &'static [Preset<TimelyParams>] = &[
        Preset {
            name: "timely-paper",
            summary: "The paper's reaction point and its 10G settings, increases scaled with the \
                      port rate",
            source: "SIGCOMM'15 Algorithm 1; its constants as the HPCC simulator has them",
            ecn: None,
            params: presets::paper,
        },
        Preset {
            name: "timely-hpcc",
            summary: "What the HPCC paper's simulator compares with: once per round trip, no \
                      window",
            source: "HPCC simulator, run.py, `timely`; with window = \"bdp\" its `timely_vwin`",
            ecn: None,
            params: presets::hpcc,
        },
    ];
    const NEEDS: Needs = Needs {
        tolerates: Tolerates {
            flowlets: Fit::Note(DELAY_OF_PATHS),
            rerouting: Fit::Note(
                "it takes the time that a switch holds packets for order for a queue",
            ),
            ..Tolerates::several_paths(DELAY_OF_PATHS)
        },
        ..Needs::NONE
    };

    type Params = TimelyParams;
    type Meta = ();
    type Ctl = NoCtl;
    type Host = ();
    type Rp = ReactionPoint;
    type Np = PlainReceiver;
    type Cp = PlainSwitch;

    fn check(params: &TimelyParams) -> Result<(), ParamError> {
        if params.t_low > params.t_high {
            let why = format!("{} is above t_high, {}", params.t_low, params.t_high);
            return Err(ParamError::Conflict("t_low", why));
        }
        Ok(())
    }
    fn rate_floor(params: &TimelyParams) -> Option<RateFloor> {
        Some(RateFloor {
            rate: params.min_rate,
            has_window: params.window != WindowMode::None,
            max_packet_gap: None,
        })
    }
    fn warnings(params: &TimelyParams, facts: &NetworkFacts) -> Vec<String> {
        let longest = facts.network_rtt;
        let is_late = longest >= params.t_high;
        let text = || {
            format!(
                "scheme.params.t_high is {}, and the longest round trip without queues is \
                 {longest}: on such paths every round trip slows {} down; raise t_high",
                params.t_high, facts.scheme
            )
        };
        is_late.then(text).into_iter().collect()
    }
    /// A timestamp of the packet's departure, on data. The fabric knows that time, so no field
    /// carries it, but its bytes are on the wire as in the HPCC simulator.
    fn meta_bytes(_params: &TimelyParams) -> (u32, u32) {
        (8, 0)
    }
    fn host(_params: &TimelyParams, _facts: &HostFacts) {}
    fn congestion_point(_params: &TimelyParams, _facts: &SwitchFacts<'_>) -> Option<PlainSwitch> {
        None
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `timely-paper`: the paper's reaction point and its 10G settings, increases scaled
    /// with the port rate.
    pub fn paper(host_rate: Rate) -> TimelyParams {
        let share = |parts: u64| Rate::from_bps((host_rate.bps() / parts).max(100_000));
        TimelyParams {
            variant: Form::Paper,
            segment: Bytes::new(16_000),
            ewma_weight: 0.875,
            decrease: 0.8,
            t_low: Time::from_us(50),
            t_high: Time::from_us(500),
            min_rtt: Time::from_us(20),
            // 10 Mb/s and 50 Mb/s at 10G.
            rate_ai: share(1000),
            rate_hai: share(200),
            hai_threshold: 5,
            min_rate: Rate::from_mbps(100),
            window: WindowMode::None,
        }
    }

    /// Preset `timely-hpcc`: what the HPCC paper's simulator compares with: once per round trip, no
    /// window.
    pub fn hpcc(host_rate: Rate) -> TimelyParams {
        TimelyParams { variant: Form::Ns3, min_rate: Rate::from_mbps(1000), ..paper(host_rate) }
    }
}

/// Returns a span in nanoseconds. Exact for whole nanoseconds.
fn nanoseconds(span: Time) -> f64 {
    span.ps() as f64 / 1000.0
}

/// The reaction point, one per QP. Its methods take plain values, so that other schemes can use it.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    form: Form,
    /// Line rate in bits per second, like all rates here.
    line_rate: u64,
    min_rate: u64,
    rate: u64,
    limit: RateWindow,
    /// The window at the present rate.
    window: Bytes,
    /// prev_rtt; `None` before the first update.
    last_rtt: Option<Time>,
    /// rtt_diff, the moving average of differences of round-trip times, nanoseconds.
    difference: f64,
    /// Number of increases in a row.
    run: u64,
    /// The first ACK up to this byte of the stream, or beyond, triggers the next update.
    next_update: u64,
}

impl ReactionPoint {
    /// Returns the state of a new QP: at line rate, as in the HPCC simulator. (The paper's senders
    /// begin at their share of the host's link.)
    pub fn new(params: &TimelyParams, path: &PathFacts) -> ReactionPoint {
        let form = params.variant;
        let line_rate = path.line_rate.bps();
        let limit = RateWindow::new(params.window, path);
        ReactionPoint {
            form,
            line_rate,
            min_rate: params.min_rate.bps().min(line_rate),
            rate: line_rate,
            limit,
            window: limit.at(line_rate),
            last_rtt: None,
            difference: 0.0,
            run: 0,
            next_update: match form {
                Form::Paper => params.segment.get(),
                Form::Ns3 => 1,
            },
        }
    }

    /// Rate and window, as limits for the sender.
    #[inline]
    pub fn limits(&self) -> SendLimits {
        SendLimits { rate: Rate::from_bps(self.rate), window: self.window, ..SendLimits::UNLIMITED }
    }

    /// Returns the gradient: the average difference of round-trip times over minRTT.
    pub fn gradient(&self, params: &TimelyParams) -> f64 {
        self.difference / nanoseconds(params.min_rtt)
    }

    /// Handles an ACK up to `acknowledged`, which came `rtt` after its packet left. The sender has
    /// sent up to `sent`.
    #[inline]
    pub fn acknowledge(&mut self, params: &TimelyParams, acknowledged: u64, sent: u64, rtt: Time) {
        if self.measure(params, acknowledged, sent, rtt) {
            self.update(params, rtt);
        }
    }

    /// Measures a round trip, with the arguments of [`acknowledge`](Self::acknowledge). Returns
    /// whether an update is due.
    #[inline]
    pub fn measure(
        &mut self,
        params: &TimelyParams,
        acknowledged: u64,
        sent: u64,
        rtt: Time,
    ) -> bool {
        if acknowledged < self.next_update {
            return false;
        }
        let next_update = match self.form {
            Form::Paper => acknowledged + params.segment.get(),
            Form::Ns3 => sent + 1,
        };
        let last_rtt = self.last_rtt;
        // A sender that went back may have sent less than at the last update. Then the simulator
        // keeps both.
        if next_update > self.next_update {
            self.next_update = next_update;
            self.last_rtt = Some(rtt);
        }
        // There is nothing to compare the first round trip with.
        let Some(last_rtt) = last_rtt else { return false };
        let newest = nanoseconds(rtt) - nanoseconds(last_rtt);
        let weight = params.ewma_weight;
        self.difference = (1.0 - weight) * self.difference + weight * newest;
        true
    }

    /// Does the update of Algorithm 1.
    pub fn update(&mut self, params: &TimelyParams, rtt: Time) {
        match self.rate_factor(params, rtt) {
            Some(factor) => self.scale_rate(factor),
            None => self.raise(params, rtt),
        }
    }

    /// Returns the factor by which Algorithm 1 scales the rate down, or `None` if the rate rises.
    pub fn rate_factor(&self, params: &TimelyParams, rtt: Time) -> Option<f64> {
        let gradient = self.gradient(params);
        if rtt < params.t_low {
            None
        } else if rtt > params.t_high {
            let excess = 1.0 - nanoseconds(params.t_high) / nanoseconds(rtt);
            Some(1.0 - params.decrease * excess)
        } else if gradient <= 0.0 {
            None
        } else {
            Some(1.0 - params.decrease * gradient)
        }
    }

    /// Scales the rate by `factor`, and resets the number of increases in a row.
    pub fn scale_rate(&mut self, factor: f64) {
        self.run = 0;
        // A steep gradient gives a negative result; the cast turns it into zero.
        self.set((self.rate as f64 * factor) as u64);
    }

    fn raise(&mut self, params: &TimelyParams, rtt: Time) {
        let hyperactive = match self.form {
            Form::Paper => {
                // Below T_low the algorithm returns before it checks the gradient.
                self.run = if rtt < params.t_low { 0 } else { self.run + 1 };
                self.run >= params.hai_threshold
            }
            Form::Ns3 => {
                self.run += 1;
                self.run > params.hai_threshold
            }
        };
        let step = if hyperactive { params.rate_hai } else { params.rate_ai };
        self.set(self.rate + step.bps());
    }

    fn set(&mut self, rate: u64) {
        self.rate = rate.clamp(self.min_rate, self.line_rate);
        self.window = self.limit.at(self.rate);
    }
}

impl Rp<Timely> for ReactionPoint {
    type Timer = Absent;
    fn open(params: &TimelyParams, _host: &mut (), path: &PathFacts, _now: Time) -> ReactionPoint {
        ReactionPoint::new(params, path)
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        self.limits()
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, Timely>, ack: &Ack<'_, Timely>) {
        self.acknowledge(cx.params, ack.next_expected, ack.highest_sent(), ack.rtt);
    }
}
