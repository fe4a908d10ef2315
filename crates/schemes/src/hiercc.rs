//! HierCC: "HierCC: Hierarchical RDMA Congestion Control", Zhang et al., APNet 2021.
//!
//! The flows from a rack to a host share a virtual output queue (VOQ) at the rack's ToR switch. Two
//! loops control them. Between racks, a VOQ sends against credits from the receiving ToR, which has
//! a credit scheduler for each downlink (section 3.2). Within the rack, the ToR assigns one rate to
//! all flows of a VOQ and stops them if the VOQ grows too long (section 3.3).
//!
//! Data carries F (the number of flows of the VOQ) and S (the bytes that the VOQ has sent) to the
//! receiving ToR. This ToR grants credits of Delta bytes, by weighted round robin (WRR), to VOQs
//! whose S is above what they were granted. So a VOQ never has more than C0 bytes in flight without
//! a credit, and no more than racks x C0 bytes wait at a downlink.
//!
//! The presets have three forms of this loop. With S and C0 as in the paper, a VOQ moves at most C0
//! per round trip between ToRs: 10 KB in 8.4 us is 9.5 Gb/s, which cannot fill a 25 Gb/s link
//! between pods. The default takes C0 from the downlink's rate and that round trip, plus one
//! packet, and keeps the bound. The third form also counts in S what has joined the VOQ. Credits
//! then come ahead of the data, and the bound is lost.
//!
//! The paper has no losses: its credits are increments, so a lost credit would be missing for ever.
//! Our choice: a credit carries C_sent, the total that its downlink has granted, as data carries
//! the total S. So the next credit makes up for a lost one, and an overtaken credit has no effect.
//! The bytes of lost data are requested by the next packet's S. If no packet follows,
//! `loss_timeout` recovers.

mod credits;
mod flows;
mod tor;
mod voq;

pub use credits::{CreditRequest, Downlink, Grant};
pub use flows::Flows;
pub use tor::TorSwitch;
pub use voq::{FirstHop, Voq};

use crate::contract::{
    Absent, Ctl, Fit, Flags, Header, HostCx, HostFacts, Needs, NetworkFacts, Pacing, PathFacts,
    PlainReceiver, Preset, RateFloor, Rp, Scheme, SendLimits, SenderMetric, SwitchFacts, Tolerates,
};
use crate::params::ParamError;
use std::ops::RangeInclusive;
use units::{Bytes, Rate, Time};

const LENGTH: RangeInclusive<Bytes> = Bytes::new(100)..=Bytes::new(1_000_000_000);
const SPAN: RangeInclusive<Time> = Time::from_ns(100)..=Time::from_ms(100);

crate::choice! {
    /// What S counts.
    pub enum SentCounter {
        /// What has left the VOQ.
        Left = "left",
        /// What has joined the VOQ.
        Joined = "joined",
    }
}

crate::choice! {
    /// Where equation 1 gives the line rate.
    pub enum FullRate {
        /// Below q0.
        BelowTarget = "below-target",
        /// Where the packet that asks waits alone.
        Empty = "empty",
    }
}

crate::choice! {
    /// What a VOQ is for.
    pub enum VoqPer {
        /// A receiving host.
        Host = "host",
        /// A receiving rack.
        Rack = "rack",
    }
}

crate::choice! {
    /// Where VOQs are.
    pub enum ControlScope {
        /// In the whole network.
        Network = "network",
        /// In the sender's pod. Between pods there is PFC alone.
        Pod = "pod",
    }
}

crate::params! {
    /// Parameters of HierCC. Bytes are counted on the wire.
    pub struct HierccParams {
        /// Bytes that a VOQ may send before its first credit.
        initial_credits: Bytes, "C0", LENGTH, "APNet'21 section 5, at 25 Gb/s";
        /// C0 is at least the downlink's rate times the round trip between ToRs, plus one packet.
        fill_path: bool, "", (), "decided here: else C0 limits the throughput";
        /// S counts what has left the VOQ, or what has joined it.
        sent_counter: SentCounter, "S", (), "APNet'21 section 3.2: left";
        /// Bytes that a credit allows.
        credit: Bytes, "Delta", LENGTH, "APNet'21 sections 3.2, 5";
        /// Queue length that a VOQ converges to. If it is less than a full packet, all three queue
        /// lengths are scaled up so that it is not.
        target_queue: Bytes, "q0", LENGTH, "APNet'21 section 5, at 25 Gb/s";
        /// Share of the queue above q0 that drains in a round trip of the first hop.
        beta: f64, "beta", 0.001..=1.0, "APNet'21 section 5";
        /// Condition for the line rate in equation 1: the queue is below q0, or the packet that
        /// triggers the update waits alone.
        full_rate: FullRate, "", (),
            "decided here: APNet'21 equation 1 prints Q < 0";
        /// Round trip between a sender and its ToR. The rate is computed every RTT_hop / beta.
        hop_rtt: Time, "RTT_hop", SPAN, "APNet'21 section 3.3";
        /// A VOQ longer than this stops its senders.
        stop_queue: Bytes, "V_high", LENGTH, "APNet'21 section 5, at 25 Gb/s";
        /// A VOQ shorter than this resumes its senders.
        resume_queue: Bytes, "V_low", LENGTH, "APNet'21 section 5, at 25 Gb/s";
        /// Interval at which a sender marks a packet of a flow. The ToR answers a marked packet
        /// with the rate.
        mark_interval: Time, "", SPAN, "APNet'21 section 4";
        /// Minimum of the assigned rate: a sender at rate zero would mark no packet and get no new
        /// rate.
        min_rate: Rate, "", Rate::from_mbps(1)..=Rate::from_gbps(100),
            "decided here: 870 Mb/s, a packet in 10 us, from 1 to 10 % of the hosts' rate";
        /// A flow without a packet for this time no longer counts, and gets no stop message.
        flow_timeout: Time, "", SPAN,
            "decided here: longer than a packet of 1000 B takes at `min_rate`";
        /// A VOQ without credits and a stopped sender start again if nothing came for this time:
        /// what they wait for was lost.
        loss_timeout: Time, "", SPAN, "decided here: the paper has no losses";
        /// One VOQ for each receiving host, or for each receiving rack.
        voq_per: VoqPer, "", (), "APNet'21 sections 3.1, 4: host";
        /// VOQs for destinations in the whole network, or only in the sender's pod. In the second
        /// case PFC alone acts between pods.
        control_scope: ControlScope, "", (), "APNet'21 section 4: network";
    }
}

impl HierccParams {
    /// Returns these parameters with q0, V_low and V_high scaled by one integer, so that q0 is at
    /// least a packet. Otherwise, at low rates, a packet that waits alone would slow its sender
    /// down.
    fn with_room_for(&self, packet: Bytes) -> HierccParams {
        let times = packet.get().div_ceil(self.target_queue.get().max(1)).max(1);
        let longer = |queue: Bytes| Bytes::new(queue.get() * times);
        HierccParams {
            target_queue: longer(self.target_queue),
            resume_queue: longer(self.resume_queue),
            stop_queue: longer(self.stop_queue),
            ..self.clone()
        }
    }
}

/// The scheme `hiercc`.
#[derive(Debug)]
pub struct Hiercc;

/// What several paths mean for HierCC.
const ORDER_OF_CREDITS: &str =
    "credits are for a pair of switches, whatever paths its packets take";

/// Warns of an RTT_hop that is too short for the links of hosts. Two thirds of it are enough where
/// packets take most of the time, as links of 10 Gb/s and 1 us are filled with 2 us.
fn short_hops(params: &HierccParams, facts: &NetworkFacts) -> Option<String> {
    let hop_rtt = params.hop_rtt;
    let hops = facts.host_links.iter().map(|(rate, delay)| {
        let on_cable = delay.saturating_mul(2);
        (on_cable, on_cable + rate.time_for(facts.payload))
    });
    let longer = hops.filter(|(on_cable, whole)| {
        hop_rtt < *on_cable || hop_rtt.saturating_mul(3) < whole.saturating_mul(2)
    });
    let longest = longer.map(|(_, whole)| whole).max()?;
    Some(format!(
        "scheme.params.hop_rtt is {hop_rtt}, and a round trip between a host and its switch takes \
         {longest} or more: queues of {} run empty and links are not filled; raise it",
        facts.scheme
    ))
}

impl Scheme for Hiercc {
    const NAME: &'static str = "hiercc";
    const TITLE: &'static str = "HierCC";
    const PAPER: &'static str =
        "Zhang et al., HierCC: Hierarchical RDMA Congestion Control, APNet 2021";
    const CAVEAT: &'static str = "The paper's C0 can't fill a link between pods; the default takes \
                                  C0 from the path. Hosts with several ports do without VOQs.";
    const PRESETS: &'static [Preset<HierccParams>] = &[
        Preset {
            name: "hiercc-path",
            summary: "C0 fills the path between ToRs, S counts what has left",
            source: "APNet'21 section 5; C0 decided",
            ecn: None,
            params: presets::path,
        },
        Preset {
            name: "hiercc-paper",
            summary: "To the letter: C0 of 10 KB at 25 Gb/s, S counts what has left",
            source: "APNet'21 sections 3.2, 5",
            ecn: None,
            params: presets::paper,
        },
        Preset {
            name: "hiercc-ahead",
            summary: "C0 of 10 KB at 25 Gb/s, S counts what has joined the VOQ",
            source: "APNet'21 section 5; S decided",
            ecn: None,
            params: presets::ahead,
        },
    ];
    const NEEDS: Needs = Needs {
        tolerates: Tolerates {
            flowlets: Fit::Note(ORDER_OF_CREDITS),
            rerouting: Fit::Refused("its switches order the packets of racks themselves"),
            selective_repeat: Fit::Note("a credit that a lossy network drops is not sent again"),
            ..Tolerates::several_paths(ORDER_OF_CREDITS)
        },
        ..Needs::NONE
    };

    type Params = HierccParams;
    type Meta = Stamp;
    type Ctl = Control;
    type Host = ();
    type Rp = ReactionPoint;
    type Np = PlainReceiver;
    type Cp = TorSwitch;

    fn check(params: &HierccParams) -> Result<(), ParamError> {
        let bound = format!("must not be above stop_queue, which is {}", params.stop_queue);
        if params.resume_queue > params.stop_queue {
            return Err(ParamError::Conflict("resume_queue", bound));
        }
        if params.target_queue > params.stop_queue {
            return Err(ParamError::Conflict("target_queue", bound));
        }
        if params.voq_per == VoqPer::Rack && params.sent_counter == SentCounter::Joined {
            let why =
                "what joined a rack's VOQ is not counted by host: sent_counter must be \"left\"";
            return Err(ParamError::Conflict("voq_per", why.to_owned()));
        }
        Ok(())
    }
    /// Refuses a `loss_timeout` that could expire while nothing is lost, only in flight or in a
    /// queue.
    fn check_switch(params: &HierccParams, facts: &SwitchFacts<'_>) -> Result<(), ParamError> {
        let Some(slowest) = facts.hosts.iter().map(|host| host.rate).min() else { return Ok(()) };
        let stop_queue = params.with_room_for(facts.packet_bytes).stop_queue;
        let min = facts.network_rtt + slowest.time_for(stop_queue);
        if params.loss_timeout < min {
            let bound = format!(
                "is {}, and a round trip and a VOQ of stop_queue, here {stop_queue}, which are not \
                 lost, take {min}",
                params.loss_timeout
            );
            return Err(ParamError::Conflict("loss_timeout", bound));
        }
        Ok(())
    }
    fn rate_floor(params: &HierccParams) -> Option<RateFloor> {
        Some(RateFloor { rate: params.min_rate, has_window: true, max_packet_gap: None })
    }
    fn warnings(params: &HierccParams, facts: &NetworkFacts) -> Vec<String> {
        short_hops(params, facts).into_iter().collect()
    }
    /// F in 2 B and S in 4 B, on data.
    fn meta_bytes(_params: &HierccParams) -> (u32, u32) {
        (6, 0)
    }
    fn host(_params: &HierccParams, _facts: &HostFacts) {}
    fn congestion_point(params: &HierccParams, facts: &SwitchFacts<'_>) -> Option<TorSwitch> {
        TorSwitch::new(params, facts)
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `hiercc-path`: C0 fills the path between ToRs, S counts what has left.
    pub fn path(host_rate: Rate) -> HierccParams {
        HierccParams { fill_path: true, ..paper(host_rate) }
    }

    /// Preset `hiercc-paper`: to the letter: C0 of 10 KB at 25 Gb/s, S counts what has left.
    pub fn paper(host_rate: Rate) -> HierccParams {
        // The paper's lengths are for 25 Gb/s. They scale with the rate, so that they take the same
        // time to drain.
        let at_25 = |kb: u64| Bytes::new(kb * host_rate.bps() / 25_000_000);
        HierccParams {
            initial_credits: at_25(10),
            fill_path: false,
            sent_counter: SentCounter::Left,
            credit: Bytes::new(1000),
            target_queue: at_25(20),
            beta: 0.2,
            full_rate: FullRate::BelowTarget,
            hop_rtt: Time::from_us(2),
            stop_queue: at_25(70),
            resume_queue: at_25(50),
            mark_interval: Time::from_us(10),
            min_rate: default_min_rate(host_rate),
            flow_timeout: Time::from_us(100),
            loss_timeout: Time::from_ms(10),
            voq_per: VoqPer::Host,
            control_scope: ControlScope::Network,
        }
    }

    /// Preset `hiercc-ahead`: C0 of 10 KB at 25 Gb/s, S counts what has joined the VOQ.
    pub fn ahead(host_rate: Rate) -> HierccParams {
        HierccParams { sent_counter: SentCounter::Joined, ..paper(host_rate) }
    }
}

/// Returns the minimum rate for a line rate: one packet in each mark interval, because a sender
/// gets its rate in answer to its marks. It is clamped to 1 % and 10 % of the line rate.
fn default_min_rate(line: Rate) -> Rate {
    let part = |of: u64| Rate::from_bps(line.bps() / of);
    Rate::from_mbps(870).clamp(part(100), part(10))
}

/// What data carries from the sending ToR to the receiving one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// F, the number of flows in the VOQ; 0 if the packet was in no VOQ.
    pub flows: u32,
    /// The sending rack. A real ToR knows it from the sender's address.
    pub rack: u32,
    /// S, the bytes that the VOQ has sent to the packet's receiver, this packet included. The VOQ
    /// of a rack has several receivers and counts for each.
    pub sent: u64,
}

/// Control packets of ToRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// To the other ToR: C_sent, the total bytes that the downlink has granted to a VOQ. The
    /// downlink is that of the receiver of the packet that this credit answers, and the VOQ is that
    /// packet's.
    Credit(u64),
    /// To a sender: its rate R(t). Zero stops it.
    Rate(Rate),
}

impl Ctl<HierccParams> for Control {
    const MAX_FRAME_BYTES: u32 = 64;
}

/// The reaction point, one per QP: marks packets and applies the rate that the ToR assigns.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    mark_interval: Time,
    loss_timeout: Time,
    next_mark: Time,
    line_rate: Rate,
    rate: Rate,
    /// A stopped sender resumes at this time at the latest.
    stopped_until: Time,
}

impl ReactionPoint {
    /// Returns the state of a new QP: at line rate.
    pub fn new(params: &HierccParams, path: &PathFacts) -> ReactionPoint {
        ReactionPoint {
            mark_interval: params.mark_interval,
            loss_timeout: params.loss_timeout,
            next_mark: Time::ZERO,
            line_rate: path.line_rate,
            rate: path.line_rate,
            stopped_until: Time::ZERO,
        }
    }
}

impl Rp<Hiercc> for ReactionPoint {
    type Timer = Absent;

    /// A new rate applies at once, also to a packet that already waits.
    #[inline]
    fn pacing(&self) -> Pacing {
        Pacing::Continuous
    }
    fn open(params: &HierccParams, _host: &mut (), path: &PathFacts, _now: Time) -> Self {
        ReactionPoint::new(params, path)
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        SendLimits { rate: self.rate, not_before: self.stopped_until, ..SendLimits::UNLIMITED }
    }
    #[inline]
    fn on_send(&mut self, cx: &mut HostCx<'_, Hiercc>, data: &mut Header, _stamp: &mut Stamp) {
        if cx.now >= self.next_mark {
            data.flags.insert(Flags::MARK);
            self.next_mark = cx.now + self.mark_interval;
        }
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, Hiercc>, control: &Control) {
        match *control {
            Control::Rate(rate) if rate == Rate::ZERO => {
                self.stopped_until = cx.now + self.loss_timeout;
            }
            // The assigned rate may exceed the line rate of this host: the rack may have faster
            // hosts.
            Control::Rate(rate) => {
                (self.rate, self.stopped_until) = (rate.min(self.line_rate), Time::ZERO);
            }
            Control::Credit(_) => debug_assert!(false, "a credit is for a ToR"),
        }
    }
    fn observe(&self, now: Time, what: SenderMetric) -> Option<f64> {
        match what {
            SenderMetric::Rate if now < self.stopped_until => Some(0.0),
            SenderMetric::Rate => Some(self.rate.bps() as f64),
            SenderMetric::Window | SenderMetric::Alpha => None,
        }
    }
}
