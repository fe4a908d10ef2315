//! The control laws. HPCC, TIMELY, DCTCP and the sender of HPCC-PINT are those of the crate
//! `schemes`. DCQCN's timers are events here, so it is in `dcqcn.rs`.

use crate::dcqcn::{self, Dcqcn};
use crate::network::INT_RATES;
use crate::packets::{HOPS, Packet};
use crate::pint::Codes;
use crate::settings::Settings;
use hpcc_files::{CcMode, Config};
use schemes::contract::{LinkRates, PathFacts, RateCode};
use schemes::hpcc::{BaseRtt, HpccParams, IntPrecision, rate};
use schemes::int::{IntRecord, IntStack};
use schemes::rate_window::WindowMode;
use schemes::{dctcp, hpcc, timely};
use units::{Bytes, MixSide, NodeId, PortId, Rate, Time};

/// One more record than a packet has room for: a full stack says that the path was too long.
const STACK: usize = HOPS + 1;

/// What all flows share of their law.
#[derive(Debug)]
pub(crate) struct Laws {
    mode: CcMode,
    pub(crate) dcqcn: dcqcn::Params,
    hpcc: HpccParams,
    timely: timely::TimelyParams,
    dctcp: dctcp::DctcpParams,
    pub(crate) codes: Codes,
    has_window: bool,
    global: bool,
    follows_rate: bool,
    rates: LinkRates,
    rate_codes: [RateCode; INT_RATES.len()],
    /// Bytes that a unit of bytes sent and of a queue stands for.
    sent_unit: u64,
    queue_unit: u64,
    pub(crate) max_rtt: u64,
    pub(crate) max_bdp: u64,
}

/// The state of a flow's law.
#[derive(Debug)]
pub(crate) enum Law {
    None,
    Dcqcn(Box<Dcqcn>),
    Hpcc(Box<rate::ReactionPoint<STACK>>),
    Timely(Box<timely::ReactionPoint>),
    Dctcp(Box<dctcp::ReactionPoint>),
    Pint(Box<rate::ReactionPoint<0>>),
}

/// What the law says to an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// The rate stays.
    Nothing,
    /// The rate becomes this from the next gap on.
    Rate(u64),
    /// The rate becomes this, and the gap that runs is scaled.
    Rescale(u64),
}

impl Laws {
    pub(crate) fn new(config: &Config, settings: &Settings, max_rtt: u64, max_bdp: u64) -> Laws {
        let rates = LinkRates::new(INT_RATES.map(Rate::from_gbps));
        let rate_codes = INT_RATES.map(|gbps| rates.code(Rate::from_gbps(gbps)));
        let (ai, hai) = (config.rate_ai.unwrap_or_default(), config.rate_hai.unwrap_or_default());
        let gain = config.ewma_gain.unwrap_or(0.0);
        let window = match (config.global_t, config.var_win) {
            (true, true) => WindowMode::Bdp,
            (true, false) => WindowMode::FixedBdp,
            (false, true) => WindowMode::PathBdp,
            (false, false) => WindowMode::FixedPathBdp,
        };
        Laws {
            mode: config.cc_mode,
            dcqcn: dcqcn::Params::new(config),
            hpcc: HpccParams {
                eta: config.u_target,
                max_stage: config.mi_thresh.into(),
                rate_ai: ai,
                // An increase of 0 stands for a share of the rate, which is 0 for this number of
                // flows.
                expected_flows: u64::MAX,
                base_rtt: if config.global_t { BaseRtt::Network } else { BaseRtt::Path },
                min_rate: config.min_rate,
                fast_reaction: config.fast_react,
                sample_feedback: config.sample_feedback,
                rate_per_hop: config.multi_rate,
                window: if config.has_win { window } else { WindowMode::None },
                int_format: IntPrecision::Ns3Uncoded,
                int_multi: config.int_multi.into(),
                max_hops: HOPS as u64,
                ..hpcc::presets::ns3(Rate::ZERO)
            },
            timely: timely::TimelyParams {
                rate_ai: ai,
                rate_hai: hai,
                min_rate: config.min_rate,
                window: WindowMode::None,
                ..timely::presets::hpcc(Rate::ZERO)
            },
            dctcp: dctcp::DctcpParams {
                gain,
                rate_ai: config.dctcp_rate_ai,
                min_rate: config.min_rate,
                window: WindowMode::None,
                ..dctcp::presets::hpcc(Rate::ZERO)
            },
            codes: Codes::new(config.pint_log_base, config.pint_prob),
            has_window: config.has_win,
            global: config.global_t,
            follows_rate: config.var_win,
            rates,
            rate_codes,
            sent_unit: 128 * settings.int_multi,
            queue_unit: 80 * settings.int_multi,
            max_rtt,
            max_bdp,
        }
    }

    /// Returns the law of a flow that starts on a port of rate `line`.
    pub(crate) fn open(&self, line: u64, flow: &crate::network::Flow) -> Law {
        let facts = || PathFacts {
            receiver: 0,
            side: MixSide::First,
            line_rate: Rate::from_bps(line),
            bottleneck_rate: Rate::from_bps(flow.bottleneck),
            base_rtt: Time::from_ns(flow.base_rtt),
            network_rtt: Time::from_ns(self.max_rtt),
            network_bdp: Bytes::new(self.max_bdp),
            switches: 0,
            payload: Bytes::new(self.dcqcn.payload),
            packet_bytes: Bytes::new(self.dcqcn.payload),
            rates: self.rates.clone(),
        };
        match self.mode {
            CcMode::Dcqcn => Law::Dcqcn(Box::new(Dcqcn::new(line))),
            CcMode::Hpcc => Law::Hpcc(Box::new(rate::ReactionPoint::new(&self.hpcc, &facts()))),
            CcMode::HpccPint => Law::Pint(Box::new(rate::ReactionPoint::new(
                &HpccParams { rate_per_hop: false, ..self.hpcc },
                &facts(),
            ))),
            CcMode::Timely => {
                Law::Timely(Box::new(timely::ReactionPoint::new(&self.timely, &facts())))
            }
            CcMode::Dctcp => Law::Dctcp(Box::new(dctcp::ReactionPoint::new(&self.dctcp, &facts()))),
            CcMode::None(_) => Law::None,
        }
    }

    /// Returns the window at line rate; 0 if there is none.
    pub(crate) fn full_window(&self, flow: &crate::network::Flow) -> u64 {
        let window = if self.global { self.max_bdp } else { flow.bdp };
        if self.has_window { u64::from(window as u32) } else { 0 }
    }

    /// Returns the window at a rate; 0 if there is none.
    #[inline]
    pub(crate) fn window_at(&self, full: u64, rate: u64, line: u64) -> u64 {
        if full == 0 || !self.follows_rate {
            return full;
        }
        (full.wrapping_mul(rate) / line).max(1)
    }

    /// Lets a law other than DCQCN and HPCC-PINT react to an ACK or NACK.
    #[inline]
    pub(crate) fn react(&self, law: &mut Law, now: u64, ack: &Packet, snd_nxt: u64) -> Reaction {
        let seq = u64::from(ack.seq);
        match law {
            Law::Hpcc(rp) => {
                let computed =
                    rp.acknowledge(Time::from_ns(now), seq, snd_nxt & U32, &self.stack(ack));
                if computed { Reaction::Rescale(rp.limits().rate.bps()) } else { Reaction::Nothing }
            }
            Law::Timely(rp) => {
                let rtt = Time::from_ns(now - ack.sent_at);
                rp.acknowledge(&self.timely, seq, snd_nxt & U32, rtt);
                Reaction::Rate(rp.limits().rate.bps())
            }
            Law::Dctcp(rp) => {
                rp.acknowledge(seq, 0, snd_nxt, ack.echo);
                Reaction::Rate(rp.limits().rate.bps())
            }
            Law::None | Law::Dcqcn(_) | Law::Pint(_) => Reaction::Nothing,
        }
    }

    /// Returns the records of INT that an ACK carries.
    #[inline]
    fn stack(&self, ack: &Packet) -> IntStack<STACK> {
        let mut stack = IntStack::default();
        let hops = usize::from(ack.hops).min(STACK);
        for hop in 0..hops {
            let int = Int(ack.int[hop % HOPS]);
            let record = IntRecord {
                rate: self.rate_codes[int.code()],
                time: Time::from_ns(int.time()),
                tx_bytes: int.sent() * self.sent_unit,
                queue_bytes: int.queue() * self.queue_unit,
            };
            stack.push(NodeId::new(0), PortId::new(0), record);
        }
        stack
    }

    /// Returns the record of a port, as its 64 bits.
    #[inline]
    pub(crate) fn record(&self, code: u8, now: u64, sent: u64, queue: u64) -> u64 {
        let Laws { sent_unit, queue_unit, .. } = *self;
        // Nearly always the factor is a power of two; a division takes longer than all else here.
        let sent = if sent_unit.is_power_of_two() {
            sent >> sent_unit.trailing_zeros()
        } else {
            sent / sent_unit
        };
        let queue = if queue < queue_unit { 0 } else { queue / queue_unit };
        Int::new(code, now, sent, queue).0
    }
}

const U32: u64 = u32::MAX as u64;

/// A record of INT: the code of the rate, 24 bits of time, 20 of bytes sent, 17 of the queue.
#[derive(Clone, Copy, Debug)]
struct Int(u64);

impl Int {
    fn new(code: u8, time: u64, sent: u64, queue: u64) -> Int {
        Int(u64::from(code) << 61
            | (time & 0xff_ffff) << 37
            | (sent & 0xf_ffff) << 17
            | (queue & 0x1_ffff))
    }
    fn code(self) -> usize {
        (self.0 >> 61) as usize
    }
    fn time(self) -> u64 {
        self.0 >> 37 & 0xff_ffff
    }
    fn sent(self) -> u64 {
        self.0 >> 17 & 0xf_ffff
    }
    fn queue(self) -> u64 {
        self.0 & 0x1_ffff
    }
}
