//! THEMIS over HPCC, the scheme `themis+hpcc`. The poster says only that THEMIS "can be easily
//! applied to switch-assisted algorithms like HPCC". How it applies is our choice.
//!
//! DCQCN's loop is closed by CNPs, HPCC's by INT records. In both cases an external switch cuts the
//! loop in two, so that each half is as short as the loops of flows inside a data centre. Hosts
//! inside one data centre and inner switches work as in [HPCC](crate::hpcc).
//!
//! Notification point (section 2.1), for the sender's half: a data packet that leaves its data
//! centre joins the queue of the long link. There the external switch adds a record of that port
//! and returns the records to the source in its own ACK ([`Notice`]). It sends one for each packet
//! that requests an ACK, as receivers do. It removes the records from the packet, as it clears CE
//! over DCQCN, so that they have no second effect. The sender runs HPCC's law on these records, in
//! addition to the one for ACKs. It keeps to the lower rate, with a window of the whole path's
//! round trip at that rate.
//!
//! Reaction point (section 2.2), for the receiver's half: ACKs from inside carry the records from
//! the external switch to the receiver. The switch runs HPCC's law on them for each flow
//! ([`ReceiverHalf`]) and blocks the flow to the resulting pace W / T. T_block of a packet is the
//! time until its turn at that pace. The window is not enforced, because a lost ACK could then
//! block a flow for ever. The switch removes the records that it has handled, as it marks CNPs over
//! DCQCN. So a sender does not know that its packets wait; its window of the path's bandwidth-delay
//! product limits their number. (We tried to put a record of the flow's own queue and pace in their
//! place. The pace changes within microseconds, and senders that got it a millisecond later stopped
//! for several.)
//!
//! Nobody knows T of a half in advance. It is the minimum round trip that the half has had. An
//! external switch times one data packet of a flow at a time, as TCP does.
//!
//! Order: a packet leaves after all packets of its flow that came before it. With the poster's
//! rule, at least as many passes as any packet before it, a pace could not rise again while packets
//! of the flow wait. Only the first of a flow's blocked packets is resubmitted; the others wait for
//! it. When all of them were resubmitted, 12 MB took 60 us a round and left in bursts as long,
//! which the law takes for congestion. Packets that wait are checked halfway to their turn, and at
//! least once in 4 T. So if the pace more than doubles meanwhile, they may be late by as much.

use super::external_switch::{Backlog, ExternalSwitch, Reaction, ReactionStep};
use super::{ExternalParams, Resubmission, is_long};
use crate::contract::{
    Absent, Ack, Cp, Ctl, EmitCx, Emits, Fit, Flags, Header, HoldVerdict, HostCx, HostFacts,
    LinkRates, LocalCx, Needs, OnArrivalOrHold, OnEnqueue, Pacing, Packet, PacketKind, PathFacts,
    PlainReceiver, PortFacts, PortView, Preset, QpEnd, RateCode, RateFloor, Rp, Scheme, SendLimits,
    SenderMetric, SwitchFacts, Tolerates,
};
use crate::hpcc::ONE_PATH_FOR_INT;
use crate::hpcc::{self, BaseRtt, Hpcc, HpccParams, Law, ReactionPoint, SIMULATOR_ONLY};
use crate::int::{CarriesInt, IntRecord, IntStack, StampInt};
use std::sync::Arc;
use units::{Bytes, NodeId, PortId, Rate, Time};

/// Parameters of an external switch that have no effect if INT records are the signal.
const DCQCN_ONLY: &[&str] = &[
    "switch_variant",
    "notify_interval",
    "block_step",
    "block_max",
    "fresh_time",
    "stall_after_requeue",
];

crate::join_params! {
    /// Parameters of THEMIS over HPCC.
    pub struct ThemisHpccParams {
        /// Parameters of HPCC.
        hpcc: HpccParams, without SIMULATOR_ONLY;
        /// Parameters of the external switches.
        external: ExternalParams, without DCQCN_ONLY;
    }
}

/// The scheme `themis+hpcc`, with room for `N` switches on a path.
#[derive(Debug)]
pub struct ThemisHpcc<const N: usize>;

impl<const N: usize> Scheme for ThemisHpcc<N> {
    const NAME: &'static str = "themis+hpcc";
    const TITLE: &'static str = "THEMIS over HPCC";
    const PAPER: &'static str = "Liu et al., THEMIS: Efficiently Mitigating Congestion-Induced \
                                 Fairness Disparities in Long-Haul RDMA Networks (poster); Li et \
                                 al., SIGCOMM 2019";
    const CAVEAT: &'static str = "The poster says that THEMIS applies to HPCC and not how: that \
                                  was decided here. Without long links this is HPCC with \
                                  base_rtt = \"path\".";
    const PRESETS: &'static [Preset<ThemisHpccParams>] = &[Preset {
        name: "themis+hpcc",
        summary: "External switches cut the loop of hpcc-paper in two; T is each path's own",
        source: "THEMIS section 2, how it applies decided; the rest as hpcc-paper",
        ecn: None,
        params: presets::themis_hpcc,
    }];
    const NEEDS: Needs = Needs {
        max_hops: N,
        max_link_rates: LinkRates::MAX,
        tolerates: Tolerates {
            rerouting: Fit::Note(
                "an external switch may block packets for longer than ConWeave waits for them, and \
                 some then arrive out of order; the first ACK of a new path measures nothing",
            ),
            ..ONE_PATH_FOR_INT
        },
        ..Needs::NONE
    };

    type Params = ThemisHpccParams;
    type Meta = ThemisMeta<N>;
    type Ctl = Notice<N>;
    type Host = ();
    type Rp = Sender<N>;
    type Np = PlainReceiver;
    type Cp = Switch<N>;

    fn rate_floor(params: &ThemisHpccParams) -> Option<RateFloor> {
        Some(params.hpcc.rate_floor())
    }
    fn meta_bytes(params: &ThemisHpccParams) -> (u32, u32) {
        Hpcc::<N>::meta_bytes(&params.hpcc)
    }
    fn host(_params: &ThemisHpccParams, _facts: &HostFacts) {}
    fn congestion_point(params: &ThemisHpccParams, facts: &SwitchFacts<'_>) -> Option<Switch<N>> {
        let stamp = StampInt::new(facts);
        let external = &params.external;
        let law = ReceiverHalfLaw {
            hpcc: params.hpcc.clone(),
            rates: facts.hosts.iter().map(|host| host.rate).collect(),
            codes: facts.rates.clone(),
            quiet: external.quiet_time,
            pass_time: external.pass_time,
        };
        let is_external = facts.ports.iter().any(|port| is_long(external, port));
        let external =
            is_external.then(|| Box::new(ExternalSwitch::new(external, facts.ports, law)));
        Some(Switch { node: facts.node, stamp, external })
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `themis+hpcc`: external switches cut the loop of hpcc-paper in two; T is each path's
    /// own.
    pub fn themis_hpcc(host_rate: Rate) -> ThemisHpccParams {
        let hpcc = hpcc::presets::paper(host_rate);
        ThemisHpccParams {
            // The network's T would be that of the long path, for all flows.
            hpcc: HpccParams { base_rtt: BaseRtt::Path, ..hpcc },
            external: ExternalParams::poster(),
        }
    }
}

/// The content of data packets and ACKs.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct ThemisMeta<const N: usize> {
    /// INT records.
    pub int: IntStack<N>,
    held: Resubmission,
}

impl<const N: usize> CarriesInt for ThemisMeta<N> {
    const ROOM: usize = N;

    #[inline]
    fn push_record(&mut self, wanted: bool, node: NodeId, port: PortId, record: IntRecord) {
        self.int.push_if(wanted, node, port, record);
    }
}

/// An ACK of an external switch.
#[derive(Clone, Copy, Debug)]
pub struct Notice<const N: usize> {
    /// The records of the sender's half of the path.
    pub int: IntStack<N>,
    /// The first byte after the data packet.
    pub end: u64,
    /// When the data packet left its sender.
    pub sent_at: Time,
}

impl<const N: usize> Ctl<ThemisHpccParams> for Notice<N> {
    /// Like an ACK with INT: Ethernet 14, IPv4 20, UDP 8, BTH 12, AETH 4, ICRC 4, FCS 4, and the
    /// records.
    const MAX_FRAME_BYTES: u32 = 66 + 2 + 8 * N as u32;
}

/// The part of HPCC that is equal for all flows of an external switch.
#[derive(Clone, Debug)]
pub struct ReceiverHalfLaw {
    hpcc: HpccParams,
    /// Rates of the hosts' ports.
    rates: Vec<Rate>,
    codes: LinkRates,
    quiet: Time,
    pass_time: Time,
}

/// The receiver's half of a flow's path, as the external switch of the receiver's data centre sees
/// it.
#[derive(Clone, Debug, Default)]
pub struct ReceiverHalf<const N: usize> {
    /// HPCC's law, when T is known.
    law: Option<ReactionPoint<N>>,
    line_rate: Rate,
    /// Number of records that data brought along, and the number of their path.
    before: (u8, u16),
    /// The first byte that was never forwarded, and the first one not yet acknowledged.
    sent: u64,
    acknowledged: u64,
    /// The first byte after the packet that is timed, and when that packet was forwarded.
    timed: Option<(u64, Time)>,
    /// When the next packet may leave at the pace, and when the packet under resubmission completes
    /// its pass.
    due: Time,
    round_at: Time,
    backlog: Backlog,
    seen: Time,
}

impl<const N: usize> ReceiverHalf<N> {
    /// Returns the pace of the flow. At line rate nothing blocks it.
    fn pace(&self) -> Rate {
        self.law.as_ref().map_or(self.line_rate, |law| law.limits().rate)
    }

    /// Notes the records of data that came over the long link.
    fn on_data(&mut self, law: &ReceiverHalfLaw, header: &Header, int: &IntStack<N>) {
        self.before = (int.hops() as u8, int.path());
        self.line_rate = law.rates[header.address.src as usize];
    }

    /// Notes that a data packet is forwarded.
    fn pass_on(&mut self, now: Time, header: &Header) {
        let end = header.sequence + u64::from(header.payload);
        if end <= self.sent {
            // Its sender went back: an ACK may be for either of the two copies.
            self.timed = None;
        } else {
            self.sent = end;
            self.timed = self.timed.or(Some((end, now)));
        }
    }

    /// Runs the law for an ACK or NACK from inside, and removes the records of the receiver's half.
    /// Until T is known, the ACK stays as it is.
    fn on_ack(&mut self, now: Time, own: &ReceiverHalfLaw, header: &Header, int: &mut IntStack<N>) {
        self.seen = now;
        let (hops, path) = self.before;
        let (first, second) = int.split(usize::from(hops), path);
        if header.kind == PacketKind::Ack && header.sequence > self.acknowledged {
            self.acknowledged = header.sequence;
            if let Some((end, since)) = self.timed
                && header.sequence >= end
            {
                self.timed = None;
                let rtt = now - since;
                let law = || {
                    let ReceiverHalfLaw { hpcc, codes, .. } = own;
                    let law = Law::with_rtt(hpcc, self.line_rate, rtt, Bytes::ZERO, codes);
                    ReactionPoint::under(Arc::new(law))
                };
                self.law.get_or_insert_with(law).shorten(rtt);
            }
            if let Some(law) = &mut self.law {
                law.new_ack(now, header.sequence, self.sent, &second);
            }
        }
        if self.law.is_some() {
            *int = first;
        }
    }
}

impl<const N: usize> Reaction for ReceiverHalf<N> {
    type Law = ReceiverHalfLaw;

    fn is_idle(&self, now: Time, law: &ReceiverHalfLaw) -> bool {
        self.backlog.is_empty() && now >= self.seen + law.quiet
    }
    fn step(
        &mut self,
        now: Time,
        law: &ReceiverHalfLaw,
        header: &Header,
        held: &mut Resubmission,
    ) -> ReactionStep {
        let is_new = held.passes == 0;
        if is_new {
            self.backlog.join(header, held);
            self.seen = now;
        }
        let pace = self.pace();
        let full = pace >= self.line_rate;
        let ahead = self.backlog.bytes_ahead(held);
        if ahead != 0 {
            // Halfway to its turn, in time for a pace that doubles. T is a round of the law.
            let turn = self.due.max(now) + pace.time_for(Bytes::new(u64::from(ahead)));
            let max = self.law.as_ref().map_or(Time::ZERO, |law| law.base_rtt() * 4);
            let wait = ((turn - now) / 2).min(max).max(law.pass_time);
            return ReactionStep::Wait((now + wait).max(self.round_at));
        }
        if now < self.due && !full {
            return ReactionStep::Resubmit;
        }
        self.backlog.leave(header);
        if is_new {
            self.due = self.due.max(now);
        }
        // A packet that completes its pass late does not delay those behind it.
        self.due =
            if full { now } else { self.due + pace.time_for(Bytes::new(u64::from(header.size))) };
        self.pass_on(now, header);
        ReactionStep::Forward
    }
    fn resubmitted(&mut self, _header: &Header, _held: &Resubmission, until: Time) {
        self.round_at = until;
    }
}

/// The congestion point. Every switch stamps records; external switches do more.
#[derive(Clone, Debug)]
pub struct Switch<const N: usize> {
    node: NodeId,
    stamp: StampInt,
    external: Option<Box<ExternalSwitch<ReceiverHalf<N>>>>,
}

impl<const N: usize> Switch<N> {
    /// Returns whether a data packet ends the sender's half of its path at this egress port.
    #[inline]
    fn ends_first_half(&self, long: bool, header: &Header) -> bool {
        long && header.kind == PacketKind::Data
            && self.external.as_ref().is_some_and(|external| {
                external.notifies && !external.is_long(PortId::new(header.ingress))
            })
    }
}

/// The state of a port.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    rate: RateCode,
    long: bool,
}

impl<const N: usize> Cp<ThemisHpcc<N>> for Switch<N> {
    type Level = Emits;
    type Port = Port;
    crate::hooks!(holding_arrivals, enqueues);

    fn port(&self, params: &ThemisHpccParams, facts: &PortFacts) -> Port {
        let rate = Cp::<ThemisHpcc<N>>::port(&self.stamp, params, facts);
        Port { rate, long: is_long(&params.external, facts) }
    }
    fn may_hold(&self) -> bool {
        self.external.as_ref().is_some_and(|external| external.reacts)
    }
    fn on_rate(&mut self, params: &ThemisHpccParams, port: &mut Port, facts: &PortFacts) {
        Cp::<ThemisHpcc<N>>::on_rate(&mut self.stamp, params, &mut port.rate, facts);
        if let Some(external) = &mut self.external {
            external.set_rate(facts.port, facts.rate);
        }
    }
    #[inline]
    fn on_depart(
        &mut self,
        cx: &mut LocalCx,
        port: &mut Port,
        view: &PortView,
        packet: &mut Packet<ThemisHpcc<N>>,
    ) {
        if !self.ends_first_half(port.long, &packet.header) {
            self.stamp.on_depart(cx, &mut port.rate, view, packet);
        }
    }
}

impl<const N: usize> OnArrivalOrHold<ThemisHpcc<N>> for Switch<N> {
    fn on_arrival(
        &mut self,
        cx: &mut EmitCx<'_, ThemisHpcc<N>>,
        in_port: PortId,
        packet: &mut Packet<ThemisHpcc<N>>,
    ) -> HoldVerdict {
        let Some(external) = &mut self.external else { return HoldVerdict::Forward };
        let (header, Some(meta)) = packet.split_mut() else { return HoldVerdict::Forward };
        if !external.reacts || external.is_long(in_port) == header.flags.contains(Flags::TO_SOURCE)
        {
            return HoldVerdict::Forward;
        }
        if header.flags.contains(Flags::TO_SOURCE) {
            if let Some((half, law)) = external.known(&header.address) {
                half.on_ack(cx.now, law, header, &mut meta.int);
            }
            return HoldVerdict::Forward;
        }
        if meta.held.passes == 0
            && let Some((half, law)) = external.flow(cx.now, &header.address)
        {
            half.on_data(law, header, &meta.int);
        }
        external.resubmit(cx.now, in_port, header, &mut meta.held)
    }
}

impl<const N: usize> OnEnqueue<ThemisHpcc<N>> for Switch<N> {
    fn on_enqueue(
        &mut self,
        cx: &mut EmitCx<'_, ThemisHpcc<N>>,
        port: &mut Port,
        view: &PortView,
        packet: &mut Packet<ThemisHpcc<N>>,
    ) {
        if !self.ends_first_half(port.long, &packet.header) {
            return;
        }
        let (header, Some(meta)) = packet.split_mut() else { return };
        let mut int = std::mem::take(&mut meta.int);
        if header.flags.contains(Flags::ACK_REQUESTED) {
            int.push(self.node, view.port, IntRecord::of(port.rate, cx.now, view));
            let end = header.sequence + u64::from(header.payload);
            let notice = Notice { int, end, sent_at: header.sent_at };
            cx.to_host(header.address, QpEnd::Sender, notice);
        }
    }
}

/// The reaction point: HPCC's law on ACKs, and on the notices of external switches.
#[derive(Clone, Debug)]
pub struct Sender<const N: usize> {
    whole: ReactionPoint<N>,
    /// `None` until the first notice of an external switch.
    sender_half: Option<ReactionPoint<N>>,
    line_rate: Rate,
    base_rtt: Time,
    payload: Bytes,
    rates: LinkRates,
    /// The first byte that is not sent.
    sent: u64,
}

impl<const N: usize> Rp<ThemisHpcc<N>> for Sender<N> {
    type Timer = Absent;

    /// As in HPCC, a new rate also moves the packet that waits.
    #[inline]
    fn pacing(&self) -> Pacing {
        Pacing::Continuous
    }
    fn open(params: &ThemisHpccParams, _host: &mut (), path: &PathFacts, _now: Time) -> Sender<N> {
        Sender {
            whole: ReactionPoint::new(&params.hpcc, path),
            sender_half: None,
            line_rate: path.line_rate,
            base_rtt: path.base_rtt,
            payload: path.payload,
            rates: path.rates.clone(),
            sent: 0,
        }
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        let whole = self.whole.limits();
        let Some(first) = &self.sender_half else { return whole };
        let rate = first.limits().rate;
        let window = rate.bytes_in(self.base_rtt).max(self.payload);
        SendLimits { rate: whole.rate.min(rate), window: whole.window.min(window), ..whole }
    }
    #[inline]
    fn on_send(
        &mut self,
        _cx: &mut HostCx<'_, ThemisHpcc<N>>,
        data: &mut Header,
        _meta: &mut ThemisMeta<N>,
    ) {
        self.sent = data.sequence + u64::from(data.payload);
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, ThemisHpcc<N>>, ack: &Ack<'_, ThemisHpcc<N>>) {
        if ack.acks_new_data() {
            self.whole.new_ack(cx.now, ack.next_expected, ack.next_to_send, &ack.meta.int);
        }
    }
    fn on_ctl(&mut self, cx: &mut HostCx<'_, ThemisHpcc<N>>, notice: &Notice<N>) {
        let rtt = cx.now - notice.sent_at;
        let (line_rate, payload, rates) = (self.line_rate, self.payload, &self.rates);
        let first = self.sender_half.get_or_insert_with(|| {
            let law = Law::with_rtt(&cx.params.hpcc, line_rate, rtt, payload, rates);
            ReactionPoint::under(Arc::new(law))
        });
        first.shorten(rtt);
        first.new_ack(cx.now, notice.end, self.sent, &notice.int);
    }
    fn observe(&self, _now: Time, what: SenderMetric) -> Option<f64> {
        let limits = Rp::<ThemisHpcc<N>>::limits(self);
        Some(match what {
            SenderMetric::Rate => limits.rate.bps() as f64,
            SenderMetric::Window => limits.window.get() as f64,
            SenderMetric::Alpha => {
                // U of the half that limits the rate.
                let first = self.sender_half.as_ref().filter(|f| f.limits().rate == limits.rate);
                first.unwrap_or(&self.whole).utilisation()
            }
        })
    }
}
