//! Swift: "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", Kumar et
//! al., SIGCOMM 2020.
//!
//! The sender compares the round trip of each packet with a target, and adjusts its window so that
//! the two are equal (Algorithm 1). The target grows with the number of switches on the path. For
//! small windows it also grows with the number of flows that share the path, which the window
//! indicates (section 3.5). A window may fall below one packet. Packets are then paced further
//! apart than a round trip.
//!
//! The paper splits the round trip into the parts of fabric and hosts, each with a window of its
//! own. Here a NIC answers at once, so only the fabric's part is modelled.

use crate::contract::{
    Absent, Ack, Fit, HostCx, HostFacts, Needs, NetworkFacts, NoCtl, Pacing, PathFacts,
    PlainReceiver, PlainSwitch, Preset, Rp, Scheme, SendLimits, SenderMetric, SwitchFacts,
    Tolerates,
};
use crate::params::ParamError;
use std::ops::RangeInclusive;
use units::{Bytes, Rate, Time};

const SPAN: RangeInclusive<Time> = Time::ZERO..=Time::from_ms(100);
const PACKETS: RangeInclusive<f64> = 0.001..=1_000_000.0;
const FRACTION: RangeInclusive<f64> = 0.001..=1.0;

crate::params! {
    /// Parameters of Swift.
    pub struct SwiftParams {
        /// Target delay without the parts of hops and flows. It includes the round trip of the
        /// empty network.
        base_target: Time, "base_target", Time::from_ns(100)..=Time::from_ms(100),
            "SIGCOMM'20 section 3.5; a deployment's value";
        /// Part of the target for each switch on the path.
        per_hop: Time, "h", SPAN, "SIGCOMM'20 section 3.5; a deployment's value";
        /// Maximum that a small window adds to the target; 0ns turns this off.
        fs_range: Time, "fs_range", SPAN, "SIGCOMM'20 section 3.5";
        /// Window, in packets, at or below which all of `fs_range` is added.
        fs_min_cwnd: f64, "fs_min_cwnd", PACKETS, "SIGCOMM'20 section 3.5";
        /// Window, in packets, at or above which nothing is added.
        fs_max_cwnd: f64, "fs_max_cwnd", PACKETS, "SIGCOMM'20 section 3.5";
        /// Additive increase, packets per round trip.
        ai: f64, "ai", 0.001..=1000.0, "SIGCOMM'20 Algorithm 1";
        /// Share of the delay's excess by which the window shrinks.
        beta: f64, "beta", FRACTION, "SIGCOMM'20 Algorithm 1";
        /// Maximum share of the window that one decrease removes.
        max_mdf: f64, "max_mdf", 0.001..=0.99, "SIGCOMM'20 Algorithm 1";
        /// Minimum of the window, in packets.
        min_cwnd: f64, "min_cwnd", 0.0001..=1.0, "SIGCOMM'20 Algorithm 1";
        /// Maximum of the window, in packets.
        max_cwnd: f64, "max_cwnd", 1.0..=1_000_000.0, "SIGCOMM'20 Algorithm 1";
        /// Retransmission timeouts in a row after which the window falls to its minimum.
        reset_threshold: u64, "RETX_RESET_THRESHOLD", 1..=1_000_000, "SIGCOMM'20 Algorithm 1";
        /// Weight of a new sample in the average round trip, which sets the pace and the time
        /// between decreases.
        rtt_weight: f64, "", FRACTION, "csg-htsim, update_rtt";
    }
}

/// The scheme `swift`.
#[derive(Debug)]
pub struct Swift;

/// Warns of a largest window that does not fill the longest path.
fn small_window(params: &SwiftParams, facts: &NetworkFacts) -> Option<String> {
    let max_cwnd = params.max_cwnd;
    let max_bytes = Bytes::new((max_cwnd * facts.payload.get() as f64) as u64);
    let bdp = facts.network_bdp.filter(|bdp| *bdp > max_bytes)?;
    Some(format!(
        "scheme.params.max_cwnd is {max_cwnd} packets, or {max_bytes}, and the longest path holds \
         {bdp}: one flow cannot fill it; raise max_cwnd"
    ))
}

impl Scheme for Swift {
    const NAME: &'static str = "swift";
    const TITLE: &'static str = "Swift (fabric part)";
    const PAPER: &'static str = "Kumar et al., Swift: Delay is Simple and Effective for Congestion \
                                 Control in the Datacenter, SIGCOMM 2020";
    const CAVEAT: &'static str = "The target delay is a deployment's own value and decides the \
                                  queue: no preset is the paper's.";
    const PRESETS: &'static [Preset<SwiftParams>] = &[
        Preset {
            name: "swift-bolt",
            summary: "What Google's Bolt is compared with: 25 us and 1 us for each switch",
            source: "the Bolt authors' simulator",
            ecn: None,
            params: presets::bolt,
        },
        Preset {
            name: "swift-htsim",
            summary: "The settings of csg-htsim: 20 us and 3 us for each switch",
            source: "csg-htsim, sim/swift.cpp",
            ecn: None,
            params: presets::htsim,
        },
    ];
    const NEEDS: Needs = Needs {
        tolerates: Tolerates {
            rerouting: Fit::Note(
                "it takes the time that a switch holds packets for order for a queue",
            ),
            ..Tolerates::several_paths(
                "the delay of each packet's own path is compared with one target, so all paths \
                 should have as many hops",
            )
        },
        ..Needs::NONE
    };

    type Params = SwiftParams;
    type Meta = ();
    type Ctl = NoCtl;
    type Host = StarvedFlows;
    type Rp = ReactionPoint;
    type Np = PlainReceiver;
    type Cp = PlainSwitch;

    fn check(params: &SwiftParams) -> Result<(), ParamError> {
        if params.fs_min_cwnd >= params.fs_max_cwnd {
            let why = format!("must be below fs_max_cwnd, which is {}", params.fs_max_cwnd);
            return Err(ParamError::Conflict("fs_min_cwnd", why));
        }
        Ok(())
    }
    fn warnings(params: &SwiftParams, facts: &NetworkFacts) -> Vec<String> {
        small_window(params, facts).into_iter().collect()
    }
    fn host(_params: &SwiftParams, _facts: &HostFacts) -> StarvedFlows {
        StarvedFlows::default()
    }
    fn counters(host: &StarvedFlows) -> Vec<(&'static str, u64)> {
        vec![(FLOWS_BEYOND_TARGET, host.flows)]
    }
    fn congestion_point(_params: &SwiftParams, _facts: &SwitchFacts<'_>) -> Option<PlainSwitch> {
        None
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `swift-bolt`: what Google's Bolt is compared with: 25 us and 1 us for each switch.
    pub fn bolt(_host_rate: Rate) -> SwiftParams {
        SwiftParams {
            base_target: Time::from_us(25),
            per_hop: Time::from_us(1),
            fs_range: Time::from_us(100),
            fs_min_cwnd: 0.1,
            fs_max_cwnd: 256.0,
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            // 15 and 373,760 B of packets of 1 KB.
            min_cwnd: 0.015,
            max_cwnd: 373.76,
            reset_threshold: 5,
            // Nothing reads that simulator's RttSmoothingAlpha.
            rtt_weight: 1.0,
        }
    }

    /// Preset `swift-htsim`: the settings of csg-htsim: 20 us and 3 us for each switch.
    pub fn htsim(host_rate: Rate) -> SwiftParams {
        SwiftParams {
            base_target: Time::from_us(20),
            // 20 us / 6.55.
            per_hop: Time::from_ns(3053),
            fs_max_cwnd: 100.0,
            // 10 B.
            min_cwnd: 0.01,
            max_cwnd: 1000.0,
            rtt_weight: 0.125,
            ..bolt(host_rate)
        }
    }
}

/// The counter of QPs whose empty round trip is not below their target.
pub const FLOWS_BEYOND_TARGET: &str = "flows_beyond_target";

/// Counts a host's QPs whose empty round trip is not below their target. Even alone on their path,
/// such QPs find every delay too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StarvedFlows {
    flows: u64,
}

/// Picoseconds in a second times bits in a byte.
const PS_BITS: f64 = 8e12;

/// The reaction point, one per QP. Times are in picoseconds, windows in packets.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    /// Target delay with the path's hops, without flow scaling.
    path_target: f64,
    fs_range: f64,
    /// alpha and beta of flow scaling (section 3.5).
    fs_alpha: f64,
    fs_beta: f64,
    ai: f64,
    beta: f64,
    max_mdf: f64,
    min_cwnd: f64,
    max_cwnd: f64,
    reset_threshold: u64,
    rtt_weight: f64,
    payload: u64,
    packet_bytes: f64,
    line_rate: Rate,

    cwnd: f64,
    /// The average round trip. Before the first sample, the path's own.
    rtt: f64,
    sampled: bool,
    /// Round trip of the last packet.
    delay: f64,
    last_decrease: Option<Time>,
    /// retransmit_cnt.
    timeouts: u64,
}

impl ReactionPoint {
    /// Returns the state of a new QP. It may fill its path, as in RDMA; the paper gives no initial
    /// window.
    pub fn new(params: &SwiftParams, path: &PathFacts) -> ReactionPoint {
        let ps = |time: Time| time.ps() as f64;
        let (low, high) = (params.fs_min_cwnd.sqrt(), params.fs_max_cwnd.sqrt());
        let fs_alpha = ps(params.fs_range) / (1.0 / low - 1.0 / high);
        let bdp = path.line_rate.bytes_in(path.base_rtt).get() as f64;
        let packet_bytes = path.packet_bytes.get() as f64;
        ReactionPoint {
            path_target: ps(params.base_target + params.per_hop * u64::from(path.switches)),
            fs_range: ps(params.fs_range),
            fs_alpha,
            fs_beta: -fs_alpha / high,
            ai: params.ai,
            beta: params.beta,
            max_mdf: params.max_mdf,
            min_cwnd: params.min_cwnd,
            max_cwnd: params.max_cwnd,
            reset_threshold: params.reset_threshold,
            rtt_weight: params.rtt_weight,
            payload: path.payload.get(),
            packet_bytes,
            line_rate: path.line_rate,
            cwnd: (bdp / packet_bytes).ceil().clamp(1.0, params.max_cwnd),
            rtt: ps(path.base_rtt),
            sampled: false,
            delay: ps(path.base_rtt),
            last_decrease: None,
            timeouts: 0,
        }
    }

    /// Returns the window, in packets.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Returns the target delay at the present window, in picoseconds (section 3.5).
    #[inline]
    pub fn target(&self) -> f64 {
        let scaling = self.fs_alpha / self.cwnd.sqrt() + self.fs_beta;
        self.path_target + scaling.clamp(0.0, self.fs_range)
    }

    /// Window and pace, as limits for the sender. The window allows as many packets as it has whole
    /// ones. Below one packet, pacing stretches the packet's round trip to rtt / cwnd.
    #[inline]
    pub fn limits(&self) -> SendLimits {
        let packets = (self.cwnd as u64).max(1);
        let rate = if self.cwnd < 1.0 {
            let bps = self.cwnd * self.packet_bytes * PS_BITS / self.rtt;
            Rate::from_bps((bps as u64).max(1)).min(self.line_rate)
        } else {
            SendLimits::UNLIMITED.rate
        };
        SendLimits { rate, window: Bytes::new(packets * self.payload), ..SendLimits::UNLIMITED }
    }

    /// Handles an ACK of `packets` packets that took `delay` (Algorithm 1, on receiving an ACK).
    pub fn acknowledge(&mut self, now: Time, packets: f64, delay: Time) {
        let can_decrease = self.can_decrease(now);
        self.timeouts = 0;
        self.sample(delay);
        let target = self.target();
        if self.delay < target {
            let increase = self.ai * packets;
            self.set_cwnd(
                now,
                self.cwnd + if self.cwnd >= 1.0 { increase / self.cwnd } else { increase },
            );
        } else if can_decrease {
            let excess = (self.delay - target) / self.delay;
            self.set_cwnd(now, self.cwnd * (1.0 - self.beta * excess).max(1.0 - self.max_mdf));
        }
    }

    /// Handles a NACK: packets were lost and later ones arrived (Algorithm 1, on fast recovery).
    pub fn lose(&mut self, now: Time) {
        self.timeouts = 0;
        self.cut(now);
    }

    /// Handles a timeout (Algorithm 1, on retransmit timeout).
    pub fn time_out(&mut self, now: Time) {
        self.timeouts += 1;
        if self.timeouts >= self.reset_threshold {
            self.set_cwnd(now, self.min_cwnd);
        } else {
            self.cut(now);
        }
    }

    /// Returns whether a decrease is allowed: one per round trip.
    fn can_decrease(&self, now: Time) -> bool {
        self.last_decrease.is_none_or(|last| (now - last).ps() as f64 >= self.rtt)
    }

    fn cut(&mut self, now: Time) {
        if self.can_decrease(now) {
            self.set_cwnd(now, self.cwnd * (1.0 - self.max_mdf));
        }
    }

    fn sample(&mut self, delay: Time) {
        self.delay = delay.ps().max(1) as f64;
        let weight = if self.sampled { self.rtt_weight } else { 1.0 };
        self.rtt = (1.0 - weight) * self.rtt + weight * self.delay;
        self.sampled = true;
    }

    fn set_cwnd(&mut self, now: Time, cwnd: f64) {
        let before = self.cwnd;
        self.cwnd = cwnd.clamp(self.min_cwnd, self.max_cwnd);
        if self.cwnd < before {
            self.last_decrease = Some(now);
        }
    }
}

impl Rp<Swift> for ReactionPoint {
    type Timer = Absent;

    /// A window that grows past one packet ends the wait for the pacer.
    #[inline]
    fn pacing(&self) -> Pacing {
        Pacing::Continuous
    }
    fn open(
        params: &SwiftParams,
        host: &mut StarvedFlows,
        path: &PathFacts,
        _now: Time,
    ) -> ReactionPoint {
        let rp = ReactionPoint::new(params, path);
        host.flows += u64::from(path.base_rtt.ps() as f64 >= rp.path_target);
        rp
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        self.limits()
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, Swift>, ack: &Ack<'_, Swift>) {
        if ack.shows_loss() {
            self.lose(cx.now);
        } else {
            let packets = ack.newly_acked.get() as f64 / self.payload as f64;
            self.acknowledge(cx.now, packets, ack.rtt);
        }
    }
    fn on_retransmission_timeout(&mut self, cx: &mut HostCx<'_, Swift>) {
        self.time_out(cx.now);
    }
    /// `alpha` shows the last packet's delay over the target.
    fn observe(&self, _now: Time, what: SenderMetric) -> Option<f64> {
        Some(match what {
            SenderMetric::Rate => self.limits().rate.min(self.line_rate).bps() as f64,
            SenderMetric::Window => self.cwnd * self.payload as f64,
            SenderMetric::Alpha => self.delay / self.target(),
        })
    }
}
