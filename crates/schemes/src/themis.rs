//! THEMIS: "THEMIS: Efficiently Mitigating Congestion-Induced Fairness Disparities in Long-Haul
//! RDMA Networks", Liu et al. (poster).
//!
//! The network has two data centres, each behind an external switch, and a long link between these
//! two. A sender gets feedback on congestion in the other data centre hundreds of times later than
//! its neighbours there, so these alone reduce their rates. THEMIS leaves hosts and inner switches
//! unchanged, with DCQCN. The external switches react before the far end can:
//!
//! - As a notification point (section 2.1), for packets that leave the data centre: a packet with
//!   CE triggers a CNP to its source, at most one per flow and t_interval, and continues without
//!   CE. CNPs that come over the long link obey the same interval.
//! - As a reaction point (section 2.2), for packets that come in: a CNP of its own data centre
//!   blocks its flow for a time T_block. The CNP continues with a mark, so that no other external
//!   switch reacts.
//!
//! `switch_variant` selects one of two variants. `paper` ([`over_dcqcn`]) follows the poster, with
//! our choices where it is silent. `prototype` ([`prototype`]) does what the published code does.
//! [`over_hpcc`] is the scheme `themis+hpcc`.
//!
//! A switch is external if it has a long link. No other configuration is needed.

pub mod external_switch;
mod flow_table;
pub mod over_dcqcn;
pub mod over_hpcc;
pub mod prototype;

use crate::contract::{
    Address, Cp, DequeueAction, EcnCodePoint, Fit, Flags, FullCx, Header, HoldVerdict, HostFacts,
    Needs, OnArrivalOrHold, OnEnqueue, Packet, PacketKind, PortFacts, PortView, Preset, QpEnd,
    RateFloor, Requeue, Scheme, Strict, SwitchFacts, Tolerates,
};
use crate::dcqcn::{self, Cnp, DcqcnHosts, DcqcnParams, NotificationPoint, ReactionPoint};
use external_switch::ExternalSwitch;
use over_dcqcn::Flow;
use prototype::Prototype;
use std::ops::RangeInclusive;
use units::{PortId, Rate, Time};

const SPAN: RangeInclusive<Time> = Time::from_ns(100)..=Time::from_ms(100);

crate::choice! {
    /// What external switches do.
    pub enum SwitchVariant {
        /// What the poster says.
        Paper = "paper",
        /// What its published prototype does.
        Prototype = "prototype",
    }
}

crate::params! {
    /// Parameters of an external switch.
    pub struct ExternalParams {
        /// Variant of the external switches: what the poster says, or what its published prototype
        /// does.
        switch_variant: SwitchVariant, "", (),
            "THEMIS sections 2.1 and 2.2; THEMIS prototype";
        /// A link of at least this delay leads to another data centre; a switch with one is
        /// external.
        wan_delay: Time, "", Time::from_us(1)..=Time::from_ms(1000), "decided";
        /// External switches are notification points.
        notify: bool, "", (), "THEMIS section 2.1";
        /// External switches are reaction points.
        react: bool, "", (), "THEMIS section 2.2";
        /// Minimum time between two CNPs of a flow that an external switch sends or forwards.
        notify_interval: Time, "t_interval", SPAN, "THEMIS section 2.1";
        /// Increase of a flow's blocking time per CNP (paper only).
        block_step: Time, "", SPAN,
            "decided: t_interval, which halves the rate while CNPs come as often as they may",
            only switch_variant = ["paper"];
        /// Maximum of the blocking time (paper only).
        block_max: Time, "", SPAN, "decided: a long round trip", only switch_variant = ["paper"];
        /// Time without a CNP after which the blocking time is halved, repeatedly (paper only).
        /// Over HPCC, a flow without packets for this time may lose its entry to another flow.
        quiet_time: Time, "", SPAN, "decided, as the authors' later code";
        /// Minimum time of a resubmission (paper only).
        pass_time: Time, "", SPAN, "decided", only switch_variant = ["paper"];
        /// Maximum age of a flow's last ACK with a mark for which a packet that leaves makes the
        /// next packet of the flow go round the queue (prototype only).
        fresh_time: Time, "", SPAN, "THEMIS prototype", only switch_variant = ["prototype"];
        /// A port that requeues a packet sends nothing until another packet joins (prototype only).
        stall_after_requeue: bool, "", (), "THEMIS prototype", only switch_variant = ["prototype"];
        /// Number of flows that an external switch tracks, rounded up to a power of two. Other
        /// flows are notified without an interval, and never blocked.
        flow_entries: u64, "", 16..=1 << 20, "decided";
    }
}

impl ExternalParams {
    /// Returns the poster's values, and our choices where it has none.
    pub fn poster() -> ExternalParams {
        ExternalParams {
            switch_variant: SwitchVariant::Paper,
            wan_delay: Time::from_us(10),
            notify: true,
            react: true,
            notify_interval: Time::from_us(50),
            block_step: Time::from_us(50),
            block_max: Time::from_ms(1),
            quiet_time: Time::from_us(500),
            pass_time: Time::from_us(1),
            fresh_time: Time::from_us(55),
            stall_after_requeue: false,
            flow_entries: 4096,
        }
    }
}

crate::join_params! {
    /// Parameters of THEMIS over DCQCN.
    pub struct ThemisParams {
        /// Parameters of DCQCN.
        dcqcn: DcqcnParams;
        /// Parameters of the external switches.
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
    const NEEDS: Needs = Needs {
        tolerates: Tolerates {
            rerouting: Fit::Note(
                "an external switch may block packets for longer than ConWeave waits for them, and \
                 some then arrive out of order",
            ),
            ..Tolerates::several_paths(
                "the external switch counts passes of a flow in the order of one long link",
            )
        },
        ..Needs::NONE
    };

    type Params = ThemisParams;
    type Meta = Resubmission;
    type Ctl = Cnp;
    type Host = ();
    type Rp = ReactionPoint;
    type Np = NotificationPoint;
    type Cp = Either;

    fn rate_floor(params: &ThemisParams) -> Option<RateFloor> {
        Some(params.dcqcn.rate_floor())
    }
    fn host(_params: &ThemisParams, _facts: &HostFacts) {}
    fn congestion_point(params: &ThemisParams, facts: &SwitchFacts<'_>) -> Option<Either> {
        let external = &params.external;
        facts.ports.iter().any(|port| is_long(external, port)).then(|| {
            match external.switch_variant {
                SwitchVariant::Prototype => Either::Prototype(Prototype::new(external)),
                SwitchVariant::Paper => {
                    Either::Paper(ExternalSwitch::over_dcqcn(params, facts.ports))
                }
            }
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
                switch_variant: SwitchVariant::Prototype,
                notify_interval: Time::from_us(10),
                stall_after_requeue: true,
                ..ExternalParams::poster()
            },
        }
    }
}

/// Whether a port leads to another data centre.
fn is_long(params: &ExternalParams, port: &PortFacts) -> bool {
    !port.peer_is_host && port.delay >= params.wan_delay
}

/// Returns whether this packet carries news of congestion to a sender: a CNP, or an ACK that echoes
/// a mark.
#[inline]
fn is_notification(header: &Header) -> bool {
    match header.kind {
        PacketKind::Control => header.flags.contains(Flags::TO_SOURCE),
        _ => echoes_a_mark(header),
    }
}

/// Returns whether this is an ACK or NACK that echoes a mark.
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

/// State of a packet that an external switch resubmits. It is removed when the packet leaves the
/// switch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resubmission {
    /// When the packet arrived.
    begun: Time,
    /// Resubmissions so far.
    passes: u32,
    /// Its position in the [`Backlog`](external_switch::Backlog), in bytes.
    place: u32,
}

/// The congestion point of an external switch.
#[derive(Clone, Debug)]
pub enum Either {
    /// The paper's variant.
    Paper(ExternalSwitch<Flow>),
    /// The prototype's variant.
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
    /// Only the paper's reaction point blocks packets.
    fn may_hold(&self) -> bool {
        matches!(self, Either::Paper(switch) if switch.reacts)
    }
    /// Whether a port leads to another data centre depends on delays alone.
    fn on_rate(&mut self, _: &ThemisParams, _port: &mut LongHaulPort, facts: &PortFacts) {
        if let Either::Paper(switch) = self {
            switch.set_rate(facts.port, facts.rate);
        }
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
