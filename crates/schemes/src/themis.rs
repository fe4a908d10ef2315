//! THEMIS: "THEMIS: Efficiently Mitigating Congestion-Induced Fairness Disparities in Long-Haul RDMA
//! Networks", Liu et al. (poster).
//!
//! Two data centres, each behind an external switch, and a long link between those. A sender hears of
//! congestion in the other data centre hundreds of times later than its neighbours there, and they
//! alone make room for it. THEMIS leaves hosts and inner switches as they are, with DCQCN, and has
//! the external switches answer before the far end can:
//!
//! - as a notification point (section 2.1) for what leaves the data centre: a packet with CE makes a
//!   CNP to its source, at most one per flow and t_interval, and goes on without CE; CNPs that
//!   come over the long link keep to the same interval;
//! - as a reaction point (section 2.2) for what comes in: a CNP of its own data centre blocks its flow
//!   for a while, T_block, and goes on marked, so that no other external switch reacts.
//!
//! Two forms, chosen by `form`: `paper` ([`over_dcqcn`]), in which what the poster leaves open
//! was decided, and `prototype` ([`prototype`]), which does what the published code does.
//! [`over_hpcc`] is the scheme `themis+hpcc`.
//!
//! An external switch is one with a long link; no other has to be told apart.

pub mod external_switch;
mod flow_table;
pub mod over_dcqcn;
pub mod over_hpcc;
pub mod prototype;

use crate::contract::{
    Address, Cp, DequeueAction, EcnCodePoint, Flags, FullCx, Header, HoldVerdict, HostFacts,
    OnArrivalOrHold, OnEnqueue, Packet, PacketKind, PortFacts, PortView, Preset, QpEnd, Requeue,
    Scheme, Strict, SwitchFacts,
};
use crate::dcqcn::{self, Cnp, DcqcnHosts, DcqcnParams, NotificationPoint, ReactionPoint};
use external_switch::ExternalSwitch;
use over_dcqcn::Flow;
use prototype::Prototype;
use std::ops::RangeInclusive;
use units::{PortId, Rate, Time};

const SPAN: RangeInclusive<Time> = Time::from_ns(100)..=Time::from_ms(100);

crate::params! {
    /// Parameters of an external switch.
    pub struct ExternalParams {
        /// What external switches do: what the poster says, or what its published prototype does.
        form: &'static str, "", &["paper", "prototype"],
            "THEMIS sections 2.1 and 2.2; THEMIS prototype";
        /// A link of at least this delay leads to another data centre; a switch with one is external.
        wan_delay: Time, "", Time::from_us(1)..=Time::from_ms(1000), "decided";
        /// External switches are notification points.
        notify: bool, "", (), "THEMIS section 2.1";
        /// External switches are reaction points.
        react: bool, "", (), "THEMIS section 2.2";
        /// Least time between two CNPs of a flow that an external switch makes or lets through.
        notify_interval: Time, "t_interval", SPAN, "THEMIS section 2.1";
        /// What a CNP adds to a flow's blocking time (paper only).
        block_step: Time, "", SPAN,
            "decided: t_interval, which halves the rate while CNPs come as often as they may";
        /// The longest blocking time (paper only).
        block_most: Time, "", SPAN, "decided: a long round trip";
        /// Each time so long passes without a CNP halves the blocking time (paper only); over HPCC a flow
        /// of which nothing came for so long may give its place to another.
        quiet_time: Time, "", SPAN, "decided, as the authors' later code";
        /// The least time that a resubmission takes (paper only).
        pass_time: Time, "", SPAN, "decided";
        /// A packet that leaves has the next of its flow go round the queue if the last ACK with a mark is not
        /// older (prototype only).
        fresh_time: Time, "", SPAN, "THEMIS prototype";
        /// A port that puts a packet back sends nothing until another joins (prototype only).
        stall: bool, "", (), "THEMIS prototype";
        /// Flows that an external switch tells apart, rounded up to a power of two; others are notified
        /// without an interval, and never blocked.
        flow_entries: u64, "", 16..=1 << 20, "decided";
    }
}

impl ExternalParams {
    /// The poster's values, and what was decided where it has none.
    pub fn poster() -> ExternalParams {
        ExternalParams {
            form: "paper",
            wan_delay: Time::from_us(10),
            notify: true,
            react: true,
            notify_interval: Time::from_us(50),
            block_step: Time::from_us(50),
            block_most: Time::from_ms(1),
            quiet_time: Time::from_us(500),
            pass_time: Time::from_us(1),
            fresh_time: Time::from_us(55),
            stall: false,
            flow_entries: 4096,
        }
    }
}

crate::join_params! {
    /// Parameters of THEMIS over DCQCN.
    pub struct ThemisParams {
        /// DCQCN's.
        dcqcn: DcqcnParams;
        /// The external switches'.
        external: ExternalParams;
    }
}

/// The scheme `themis`.
#[derive(Debug)]
pub struct Themis;

impl Scheme for Themis {
    const NAME: &'static str = "themis";
    const TITLE: &'static str = "THEMIS over DCQCN";
    const PAPER: &'static str = "Liu et al., THEMIS: Efficiently Mitigating Congestion-Induced \
                                 Fairness Disparities in Long-Haul RDMA Networks (poster)";
    const CAVEAT: &'static str = "The poster gives no law for T_block: its constants are decided \
                                  here. Without long links this is DCQCN.";
    const PRESETS: &'static [Preset<ThemisParams>] = &[
        Preset {
            name: "themis",
            summary: "The poster's external switch over dcqcn-paper",
            source: "THEMIS sections 2.1 and 2.2, what is open there decided; the rest as \
                     dcqcn-paper",
            ecn: Some(dcqcn::presets::PAPER_ECN),
            params: presets::themis,
        },
        Preset {
            name: "themis-prototype",
            summary: "The published prototype over dcqcn-themis, its stall included",
            source: "THEMIS prototype; the rest as dcqcn-themis",
            ecn: Some(dcqcn::presets::HPCC_ECN),
            params: presets::prototype,
        },
    ];

    type Params = ThemisParams;
    type Meta = Resubmission;
    type Ctl = Cnp;
    type Host = ();
    type Rp = ReactionPoint;
    type Np = NotificationPoint;
    type Cp = Either;

    fn host(_params: &ThemisParams, _facts: &HostFacts) {}
    fn congestion_point(params: &ThemisParams, facts: &SwitchFacts<'_>) -> Option<Either> {
        let external = &params.external;
        facts.ports.iter().any(|port| is_long(external, port)).then(|| match external.form {
            "prototype" => Either::Prototype(Prototype::new(external)),
            _ => Either::Paper(ExternalSwitch::over_dcqcn(params, facts.ports)),
        })
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `themis`: the poster's external switch over dcqcn-paper.
    pub fn themis(host_rate: Rate) -> ThemisParams {
        ThemisParams { dcqcn: dcqcn::presets::paper(host_rate), external: ExternalParams::poster() }
    }

    /// Preset `themis-prototype`: the published prototype over dcqcn-themis, its stall included.
    pub fn prototype(host_rate: Rate) -> ThemisParams {
        ThemisParams {
            dcqcn: dcqcn::presets::themis(host_rate),
            external: ExternalParams {
                form: "prototype",
                notify_interval: Time::from_us(10),
                stall: true,
                ..ExternalParams::poster()
            },
        }
    }
}

/// Whether a port leads to another data centre.
fn is_long(params: &ExternalParams, port: &PortFacts) -> bool {
    !port.peer_is_host && port.delay >= params.wan_delay
}

/// Whether this is word of congestion on its way to a sender: a CNP, or an ACK that echoes a mark.
#[inline]
fn is_notification(header: &Header) -> bool {
    match header.kind {
        PacketKind::Control => header.flags.contains(Flags::TO_SOURCE),
        _ => echoes_a_mark(header),
    }
}

/// Whether this is an ACK or NACK that echoes a mark.
#[inline]
fn echoes_a_mark(header: &Header) -> bool {
    matches!(header.kind, PacketKind::Ack | PacketKind::Nack)
        && header.echo == EcnCodePoint::CongestionExperienced
}

impl DcqcnHosts for Themis {
    fn dcqcn(params: &ThemisParams) -> &DcqcnParams {
        &params.dcqcn
    }
    fn cnp() -> Cnp {
        Cnp
    }
}

/// What an external switch keeps of a packet that it resubmits; it leaves with the switch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resubmission {
    /// When the packet arrived.
    begun: Time,
    /// Resubmissions so far.
    passes: u32,
    /// Its place in the [`Backlog`](external_switch::Backlog).
    place: u32,
}

/// The congestion point of an external switch.
#[derive(Clone, Debug)]
pub enum Either {
    /// The paper's.
    Paper(ExternalSwitch<Flow>),
    /// The prototype's.
    Prototype(Prototype),
}

/// Whether a port leads to another data centre.
#[derive(Clone, Copy, Debug)]
pub struct LongHaulPort(pub bool);

impl Cp<Themis> for Either {
    type Level = Strict;
    type Port = LongHaulPort;
    crate::hooks!(holding_arrivals, enqueues, requeue);

    fn port(&self, params: &ThemisParams, facts: &PortFacts) -> LongHaulPort {
        LongHaulPort(is_long(&params.external, facts))
    }
    fn on_depart(
        &mut self,
        cx: &mut FullCx<'_, Themis>,
        port: &mut LongHaulPort,
        _view: &PortView,
        packet: &mut Packet<Themis>,
    ) {
        let header = &mut packet.header;
        if header.kind != PacketKind::Data {
            return;
        }
        let notifications = match self {
            Either::Paper(switch) => u32::from(port.0 && switch.notifies(cx.now, header)),
            Either::Prototype(switch) => switch.notifications(cx.now, header),
        };
        for _ in 0..notifications {
            notify(cx, header.address);
        }
    }
    fn on_drop(
        &mut self,
        _cx: &mut FullCx<'_, Themis>,
        _port: &mut LongHaulPort,
        _view: &PortView,
        packet: &Packet<Themis>,
    ) {
        if let Either::Prototype(switch) = self {
            switch.on_drop(&packet.header);
        }
    }
}

impl OnArrivalOrHold<Themis> for Either {
    fn on_arrival(
        &mut self,
        cx: &mut FullCx<'_, Themis>,
        in_port: PortId,
        packet: &mut Packet<Themis>,
    ) -> HoldVerdict {
        match self {
            Either::Paper(switch) => switch.on_arrival(cx, in_port, packet),
            Either::Prototype(switch) => {
                switch.on_arrival(cx.now, &mut packet.header);
                HoldVerdict::Forward
            }
        }
    }
}

impl OnEnqueue<Themis> for Either {
    fn on_enqueue(
        &mut self,
        cx: &mut FullCx<'_, Themis>,
        port: &mut LongHaulPort,
        _view: &PortView,
        packet: &mut Packet<Themis>,
    ) {
        if let Either::Paper(switch) = self
            && port.0
            && packet.header.kind == PacketKind::Data
            && switch.notifies(cx.now, &mut packet.header)
        {
            notify(cx, packet.header.address);
        }
    }
}

impl Requeue<Themis> for Either {
    fn at_head(
        &mut self,
        port: &mut LongHaulPort,
        packet: &Packet<Themis>,
        now: Time,
    ) -> DequeueAction {
        match self {
            Either::Prototype(switch) if !port.0 => switch.turn(now, &packet.header),
            _ => DequeueAction::Send,
        }
    }
}

/// Sends a CNP to the source of a flow.
fn notify(cx: &mut FullCx<'_, Themis>, address: Address) {
    cx.to_host(address, QpEnd::Sender, Cnp);
}
