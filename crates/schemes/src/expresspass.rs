//! ExpressPass: "Credit-Scheduled Delay-Bounded Congestion Control for Datacenters", Cho, Jang and
//! Han, SIGCOMM 2017.
//!
//! A sender asks for credits (credit request); the receiver sends credit packets at a pace; each one
//! lets one data packet go (section 3). Every port passes only as many credits as data packets
//! would fit on the link in the other direction, keeps few waiting and drops the rest. So data meets
//! on no link beyond its rate, as long as it comes back on the credits' path. The receiver steers
//! its pace by the share of its credits that were lost (section 3.2, Algorithm 1): credits are
//! numbered, and data carries the number of its credit.
//!
//! What a credit calls forth must fit on the link beside the credits of the other way. In the paper
//! that is a data packet; in RoCE it is the packet and, the other way, its ACK. With the paper's spacing,
//! which is the default, data and ACKs are 7 % more than a link carries that is full both ways, and what
//! the scheme is for is lost: queues grow to PFC's thresholds. With `ack_room` credits are spaced for both.
//!
//! Credits that find nothing to send are wasted: those under way when the last data has gone. The
//! counters `credits_sent`, `credits_used` and `credits_wasted` tell of them; what was sent and is in
//! neither of the others was dropped by a port, or is still under way.

mod receiver;
mod sender;

pub use receiver::NotificationPoint;
pub use sender::ReactionPoint;

use crate::contract::{
    ClassSpec, Ctl, HostFacts, PlainSwitch, Preset, QueueLimit, Scheme, SwitchFacts, WireFacts,
};
use crate::params::ParamError;
use std::ops::RangeInclusive;
use std::sync::Arc;
use units::{Bytes, Priority, Rate, Time};

const SHARE: RangeInclusive<f64> = 0.0001..=1.0;

crate::params! {
    /// Parameters of ExpressPass.
    pub struct ExpressPassParams {
        /// Feedback control: as in the authors' simulator, or as in the paper's Algorithm 1.
        feedback: &'static str, "", &["code", "paper"], "ns2-xpass; SIGCOMM'17 Algorithm 1";
        /// A QP's first credit rate, as a share of the highest.
        initial_rate: f64, "alpha", SHARE, "SIGCOMM'17 section 3.2; ns2-xpass, alpha_";
        /// QPs that ask for fewer packets begin lower in proportion.
        ramp_packets: u64, "", 1..=1_000_000, "ns2-xpass, adaptive initial rate";
        /// Aggressiveness at the start.
        initial_w: f64, "w_init", SHARE, "ns2-xpass, w_init_";
        /// Aggressiveness never falls below this.
        min_w: f64, "w_min", SHARE, "SIGCOMM'17 Algorithm 1";
        /// Aggressiveness never rises above this.
        max_w: f64, "w_max", SHARE, "SIGCOMM'17 Algorithm 1";
        /// Share of credits that may be lost: at a rate of nothing (code), or at all rates (paper).
        target_loss: f64, "target_loss", 0.0..=0.9,
            "SIGCOMM'17 section 3.2; ns2-xpass, target_loss_scaling_";
        /// Credits come up to this share of their gap early or late.
        jitter: f64, "", 0.0..=0.9, "ns2-xpass, min_jitter_, max_jitter_";
        /// Credits that wait at a port at most.
        credit_queue: u64, "", 1..=10_000, "ns2-xpass, credit_limit_";
        /// Credits that may follow one another at once at a port.
        credit_burst: u64, "", 1..=10_000, "ns2-xpass, max_tokens_";
        /// Priority of credits; nothing else may have it.
        credit_priority: u64, "", 0..=7, "decided here: above ACKs and data";
        /// Credits leave room on the link for an ACK, too, for each data packet.
        ack_room: bool, "", (),
            "SIGCOMM'17 section 3.1, whose hosts send no ACKs; true is ours, for RoCE's";
        /// A credit request is repeated when no credit came for this long; a receiver that has all stops
        /// when no data did. Where requests need half of a link for that, they are repeated later.
        request_timeout: Time, "", Time::from_us(1)..=Time::from_ms(1000),
            "ns2-xpass, retransmit_timeout_";
        /// Stop the credits as soon as those of a round trip will do for the rest.
        early_stop: bool, "", (), "ns2-xpass, early credit stop";
    }
}

/// The scheme `expresspass`.
#[derive(Debug)]
pub struct ExpressPass;

impl Scheme for ExpressPass {
    const NAME: &'static str = "expresspass";
    const TITLE: &'static str = "ExpressPass";
    const PAPER: &'static str = "Cho et al., Credit-Scheduled Delay-Bounded Congestion Control for \
                                 Datacenters, SIGCOMM 2017";
    const CAVEAT: &'static str = "Credits have the paper's share of a link, which leaves no room for \
                                  RoCE's ACKs: where links are full both ways queues grow; \
                                  ack_room = true mends that.";
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
            source: "SIGCOMM'17 section 3.2; queue, burst and timeout of ns2-xpass",
            ecn: None,
            params: presets::paper,
        },
    ];
    const SYMMETRIC_PATHS: bool = true;
    const CLASSES: bool = true;

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
    /// Number and time of the credit, 4 B each; nothing on ACKs.
    fn meta_bytes(_params: &ExpressPassParams) -> (u32, u32) {
        (8, 0)
    }
    /// Credits take 84 of 84 + 1538 bytes in the paper: one for each full data packet, which goes
    /// the other way (section 3.1).
    fn classes(params: &ExpressPassParams, wire: &WireFacts) -> Vec<ClassSpec> {
        let credit = wire.min_control_bytes.get() as f64;
        vec![ClassSpec {
            priority: priority(params),
            limit: QueueLimit::DropTail(params.credit_queue as u32),
            share: credit / spacing(params, wire).get() as f64,
            burst: params.credit_burst as u32,
            first: true,
        }]
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

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `expresspass-xpass`: the authors' simulator in its large-scale set-up.
    pub fn xpass(_host_rate: Rate) -> ExpressPassParams {
        ExpressPassParams {
            feedback: "code",
            initial_rate: 0.5,
            ramp_packets: 40,
            initial_w: 0.0625,
            min_w: 0.01,
            max_w: 0.5,
            target_loss: 0.125,
            jitter: 0.1,
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
            feedback: "paper",
            ramp_packets: 1,
            initial_w: 0.5,
            target_loss: 0.1,
            early_stop: false,
            ..xpass(host_rate)
        }
    }
}

/// Bytes of link time from a credit to the next at the highest rate. They leave out the RETH, by which a
/// message's first packet is 16 B longer: one packet in many.
fn spacing(params: &ExpressPassParams, wire: &WireFacts) -> Bytes {
    let ack = if params.ack_room { wire.ack_bytes } else { Bytes::ZERO };
    wire.min_control_bytes + wire.packet_bytes + ack
}

fn priority(params: &ExpressPassParams) -> Priority {
    Priority::new(params.credit_priority as u8)
}

/// A credit: permission to send one data packet, which carries it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Credit {
    /// Its number; a receiver numbers the credits of a QP.
    pub number: u32,
    /// When the receiver sent it.
    pub sent_at: Time,
}

/// What sender and receiver tell each other beside data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The sender has so many packets to send.
    Request(u32),
    /// The receiver lets it send one.
    Credit(Credit),
    /// The sender needs no more.
    Stop,
}

impl Ctl<ExpressPassParams> for Control {
    /// The shortest frame: 84 B with preamble and gap (section 3.1).
    fn frame_bytes(&self) -> u32 {
        64
    }
    fn priority(&self, params: &ExpressPassParams) -> Option<Priority> {
        matches!(self, Control::Credit(_)).then(|| priority(params))
    }
    fn needs_ack(&self, _params: &ExpressPassParams) -> bool {
        matches!(self, Control::Request(_))
    }
}

/// The parameters and what follows from them at a host.
#[derive(Debug)]
struct Law {
    params: ExpressPassParams,
    /// Time between two credits at the highest rate.
    min_gap: Time,
}

/// What the QPs of a host share: the law, and the counts of credits.
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
