//! ExpressPass: "Credit-Scheduled Delay-Bounded Congestion Control for Datacenters", Cho, Jang and
//! Han, SIGCOMM 2017.
//!
//! A sender asks for credits (credit request). The receiver sends credit packets at a certain rate,
//! and each credit permits one data packet (section 3). Every port passes only as many credits as
//! data packets fit on the link in the other direction. It queues few credits and drops the rest.
//! So data never exceeds the rate of a link, provided that it returns on the credits' path.
//!
//! The receiver controls its credit rate by the share of its credits that were lost (section 3.2,
//! Algorithm 1). For that, credits are numbered, and data carries the number of its credit.
//!
//! What a credit triggers must fit on the link in addition to the credits of the other direction.
//! In the paper that is a data packet. In RoCE it is the data packet and, in the other direction,
//! its ACK. With the paper's spacing, which is the default, data and ACKs exceed the capacity of a
//! link that is full in both directions by 7 %. Queues then grow to PFC's thresholds, which the
//! scheme is meant to prevent. With `ack_room` the spacing of credits allows for both.
//!
//! Credits that find nothing to send are wasted: they were in flight when the last data left. The
//! counters are `credits_sent`, `credits_used` and `credits_wasted`. The remaining credits were
//! dropped by a port or are still in flight.

mod receiver;
mod sender;

pub use receiver::NotificationPoint;
pub use sender::ReactionPoint;

use crate::contract::{
    ClassSpec, Classes, Ctl, Fit, HostFacts, Needs, PlainSwitch, Preset, QueueLimit, Scheme,
    SwitchFacts, Tolerates, WireFacts,
};
use crate::params::ParamError;
use std::ops::RangeInclusive;
use std::sync::Arc;
use units::{Bytes, Priority, Rate, Time};

const SHARE: RangeInclusive<f64> = 0.0001..=1.0;

/// Bytes of the shortest Ethernet frame.
const SHORTEST: u32 = 64;
/// The largest that `credit_spread` may be.
const MAX_SPREAD: u32 = 64;

crate::choice! {
    /// Whose feedback control.
    pub enum Feedback {
        /// The one of the authors' simulator.
        Code = "code",
        /// The paper's Algorithm 1.
        Paper = "paper",
    }
}

crate::params! {
    /// Parameters of ExpressPass.
    pub struct ExpressPassParams {
        /// Feedback control: as in the authors' simulator, or the paper's Algorithm 1.
        feedback: Feedback, "", (), "ns2-xpass; SIGCOMM'17 Algorithm 1";
        /// A QP's first credit rate, as a share of the highest.
        initial_rate: f64, "alpha", SHARE, "SIGCOMM'17 section 3.2; ns2-xpass, alpha_";
        /// QPs that request fewer packets start at a proportionally lower rate.
        ramp_packets: u64, "", 1..=1_000_000, "ns2-xpass, adaptive initial rate";
        /// Aggressiveness at the start.
        initial_w: f64, "w_init", SHARE, "ns2-xpass, w_init_";
        /// Minimum of the aggressiveness.
        min_w: f64, "w_min", SHARE, "SIGCOMM'17 Algorithm 1";
        /// Maximum of the aggressiveness.
        max_w: f64, "w_max", SHARE, "SIGCOMM'17 Algorithm 1";
        /// Tolerated share of lost credits: at a rate near zero (code), or at every rate (paper).
        target_loss: f64, "target_loss", 0.0..=0.9,
            "SIGCOMM'17 section 3.2; ns2-xpass, target_loss_scaling_";
        /// Maximum random shift of a credit, as a share of the gap between two credits.
        jitter: f64, "", 0.0..=0.9, "ns2-xpass, min_jitter_, max_jitter_";
        /// How much longer credits may be than the shortest frame. Each has a size at random, so
        /// that a port does not always drop those of the same flows.
        credit_spread: Bytes, "", Bytes::ZERO..=Bytes::new(MAX_SPREAD as u64),
            "ns2-xpass, min_credit_size_, max_credit_size_: 76 to 92 B";
        /// Maximum number of credits in the queue of a port.
        credit_queue: u64, "", 1..=10_000, "ns2-xpass, credit_limit_";
        /// Number of credits that a port may send back to back.
        credit_burst: u64, "", 1..=10_000, "ns2-xpass, max_tokens_";
        /// Priority of credits. No other traffic may use it.
        credit_priority: u64, "", 0..=7, "decided here: above ACKs and data";
        /// Credits leave room on the link for one ACK per data packet.
        ack_room: bool, "", (),
            "SIGCOMM'17 section 3.1, whose hosts send no ACKs; true is ours, for RoCE's";
        /// A credit request is repeated if no credit came for this time. A receiver that has all
        /// data stops its credits if no data came for this time. If credits are further apart, or
        /// the requests of a host need more than half of its link, they are repeated later.
        request_timeout: Time, "", Time::from_us(1)..=Time::from_ms(1000),
            "ns2-xpass, retransmit_timeout_";
        /// Stop the credits as soon as those of one round trip suffice for the remaining packets.
        early_stop: bool, "", (), "ns2-xpass, early credit stop";
    }
}

/// The scheme `expresspass`.
#[derive(Debug)]
pub struct ExpressPass;

/// Why data keeps to one path.
const PATH_OF_CREDITS: &str = "data must meet the links that its credits passed";

impl Scheme for ExpressPass {
    const NAME: &'static str = "expresspass";
    const TITLE: &'static str = "ExpressPass";
    const PAPER: &'static str = "Cho et al., Credit-Scheduled Delay-Bounded Congestion Control for \
                                 Datacenters, SIGCOMM 2017";
    const CAVEAT: &'static str = "Credits have the paper's share of a link, which leaves no room \
                                  for RoCE's ACKs: where links are full both ways queues grow; \
                                  ack_room = true mends that. A flow that meets others on \
                                  several links may get half or twice its fair share, and \
                                  hardly any with expresspass-paper.";
    const PRESETS: &'static [Preset<ExpressPassParams>] = &[
        Preset {
            name: "expresspass-xpass",
            summary: "The authors' simulator in its large-scale set-up",
            source: "ns2-xpass, large-scale-fattree.tcl",
            ecn: None,
            params: presets::xpass,
        },
        Preset {
            name: "expresspass-paper",
            summary: "The paper's feedback control: half the highest rate, 10 % loss",
            source: "SIGCOMM'17 section 3.2; queue, burst, timeout and credit_spread of ns2-xpass",
            ecn: None,
            params: presets::paper,
        },
    ];
    const NEEDS: Needs = Needs {
        symmetric_paths: true,
        tolerates: Tolerates {
            spraying: Fit::Refused(PATH_OF_CREDITS),
            adaptive: Fit::Refused(PATH_OF_CREDITS),
            flowlets: Fit::Refused(PATH_OF_CREDITS),
            rerouting: Fit::Refused(PATH_OF_CREDITS),
            selective_repeat: Fit::Refused("what is sent again would need credits of its own"),
        },
        ..Needs::NONE
    };
    const CLASSES: Option<Classes<ExpressPassParams>> = Some(classes);

    type Params = ExpressPassParams;
    type Meta = Credit;
    type Ctl = Control;
    type Host = HostState;
    type Rp = ReactionPoint;
    type Np = NotificationPoint;
    type Cp = PlainSwitch;

    fn check(params: &ExpressPassParams) -> Result<(), ParamError> {
        if params.min_w > params.max_w {
            let why = format!("must not be above max_w, which is {}", params.max_w);
            return Err(ParamError::Conflict("min_w", why));
        }
        if !(params.min_w..=params.max_w).contains(&params.initial_w) {
            let why = format!(
                "must be from min_w to max_w, which are {} and {}",
                params.min_w, params.max_w
            );
            return Err(ParamError::Conflict("initial_w", why));
        }
        Ok(())
    }
    /// Credit number and time, 4 B each, on data; nothing on ACKs.
    fn meta_bytes(_params: &ExpressPassParams) -> (u32, u32) {
        (8, 0)
    }
    fn host(params: &ExpressPassParams, facts: &HostFacts) -> HostState {
        let min_gap = facts.line_rate.time_for(spacing(params, &facts.wire));
        let law = Law { params: params.clone(), min_gap };
        HostState {
            law: Arc::new(law),
            seed: facts.seed,
            receivers: 0,
            asking_until: Time::ZERO,
            sent: 0,
            used: 0,
            wasted: 0,
        }
    }
    fn congestion_point(
        _params: &ExpressPassParams,
        _facts: &SwitchFacts<'_>,
    ) -> Option<PlainSwitch> {
        None
    }
    fn on_late_ctl(host: &mut HostState, control: &Control) {
        host.wasted += u64::from(matches!(control, Control::Credit(_)));
    }
    fn counters(host: &HostState) -> Vec<(&'static str, u64)> {
        vec![
            ("credits_sent", host.sent),
            ("credits_used", host.used),
            ("credits_wasted", host.wasted),
        ]
    }
}

/// In the paper, credits take 84 of 84 + 1538 bytes: one credit for each full data packet,
/// which travels in the other direction (section 3.1).
fn classes(params: &ExpressPassParams, wire: &WireFacts) -> Vec<ClassSpec> {
    let credit = mean_credit(params, wire);
    vec![ClassSpec {
        priority: priority(params),
        limit: QueueLimit::DropTail(params.credit_queue as u32),
        share: credit / spacing(params, wire).get() as f64,
        burst: params.credit_burst as u32,
        first: true,
    }]
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `expresspass-xpass`: the authors' simulator in its large-scale set-up.
    pub fn xpass(_host_rate: Rate) -> ExpressPassParams {
        ExpressPassParams {
            feedback: Feedback::Code,
            initial_rate: 0.5,
            ramp_packets: 40,
            initial_w: 0.0625,
            min_w: 0.01,
            max_w: 0.5,
            target_loss: 0.125,
            jitter: 0.1,
            credit_spread: Bytes::new(16),
            credit_queue: 8,
            credit_burst: 2,
            credit_priority: 7,
            ack_room: false,
            request_timeout: Time::from_us(100),
            early_stop: true,
        }
    }

    /// Preset `expresspass-paper`: the paper's feedback control: half the highest rate, 10 % loss.
    pub fn paper(host_rate: Rate) -> ExpressPassParams {
        ExpressPassParams {
            feedback: Feedback::Paper,
            ramp_packets: 1,
            initial_w: 0.5,
            target_loss: 0.1,
            early_stop: false,
            ..xpass(host_rate)
        }
    }
}

/// Returns the gap between two credits at the highest rate, in bytes of link time. The RETH is left
/// out: it makes the first packet of a message, one in many, 16 B longer.
fn spacing(params: &ExpressPassParams, wire: &WireFacts) -> Bytes {
    let ack = if params.ack_room { wire.ack_bytes } else { Bytes::ZERO };
    let credit = Bytes::new(mean_credit(params, wire).ceil() as u64);
    credit + wire.packet_bytes + ack
}

/// Returns the mean size of a credit on the wire, in bytes.
fn mean_credit(params: &ExpressPassParams, wire: &WireFacts) -> f64 {
    let last = params.credit_spread.get() as u32;
    let sum: u32 = (0..=last).map(|extra| wire.profile.control_bytes(SHORTEST + extra)).sum();
    f64::from(sum) / f64::from(last + 1)
}

fn priority(params: &ExpressPassParams) -> Priority {
    Priority::new(params.credit_priority as u8)
}

/// A credit: permits one data packet, which carries the credit back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Credit {
    /// Number of the credit. A receiver numbers the credits of each QP.
    pub number: u32,
    /// When the receiver sent it.
    pub sent_at: Time,
    /// By how many bytes its frame is longer than the shortest one.
    pub extra: u8,
}

/// Control packets between sender and receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// From the sender: it has this number of packets to send.
    Request(u32),
    /// From the receiver: the sender may send one packet.
    Credit(Credit),
    /// From the sender: it needs no more credits.
    Stop,
}

impl Ctl<ExpressPassParams> for Control {
    const MAX_FRAME_BYTES: u32 = SHORTEST + MAX_SPREAD;

    /// The minimum frame, 84 B with preamble and gap (section 3.1), or for a credit a longer one.
    fn frame_bytes(&self) -> u32 {
        match self {
            Control::Credit(credit) => SHORTEST + u32::from(credit.extra),
            Control::Request(_) | Control::Stop => SHORTEST,
        }
    }
    fn priority(&self, params: &ExpressPassParams) -> Option<Priority> {
        matches!(self, Control::Credit(_)).then(|| priority(params))
    }
    fn needs_ack(&self, _params: &ExpressPassParams) -> bool {
        matches!(self, Control::Request(_))
    }
}

/// The parameters, and values that follow from them at a host.
#[derive(Debug)]
struct Law {
    params: ExpressPassParams,
    /// Time between two credits at the highest rate.
    min_gap: Time,
}

/// State that the QPs of a host share: the law, and the counts of credits.
#[derive(Debug)]
pub struct HostState {
    law: Arc<Law>,
    seed: u64,
    /// Receivers opened so far; each has a random stream of its own.
    receivers: u64,
    /// When its requests so far would all have passed the slowest links of their paths.
    asking_until: Time,
    sent: u64,
    used: u64,
    wasted: u64,
}
