//! FNCC: "FNCC: Fast Notification Congestion Control in Data Center Networks", Xu et al., 2024.
//!
//! HPCC whose INT is younger: switches write it into the ACK on its way back and not into the data
//! (section 3.2.1, Algorithm 1). The ACK that came in through a port gets the record of that port's
//! egress, where the data of its QP left; so data and ACKs must share a path, by symmetric ECMP or
//! by spanning trees (section 3.1, observation 2). The records come in the order of the way back:
//! L\[0\] is the last hop's.
//!
//! Receivers tell N, their number of concurrent flows, in the ACK (section 3.2.3). A sender that
//! finds the last hop to be the busiest, and congested, sets W^c to its fair share at once
//! (Algorithm 2, last-hop congestion speed-up, LHCS). All else at the sender is HPCC's.
//!
//! # The table of records
//! All_INT_Table has an entry for each port: time and bytes sent as of the port's last departure,
//! and the queue. The paper has it updated periodically and gives no period. By default an ACK reads
//! the port as it is then. Both counters are of one instant, or short intervals would count whole
//! packets as sent and look congested; a port that has sent nothing since the ACK before says
//! nothing of its rate and is passed over.
//!
//! # What N counts
//! The text has the RDMA QPs and the concurrent flows. A QP without traffic would take a share from
//! the others, so these count: QPs with data in this or the previous base round trip of the network,
//! as long as their last message is not over. It is the receiver's own count, whatever limits its flows.
//!
//! # When W^c is set
//! Algorithm 3 does it at every ACK that finds the last hop congested, before ComputeWind divides
//! W^c by U / eta: `per-ack`. The flows then go at about beta times their share until the queue is
//! gone, as in Figure 13d. `per-round-trip` does it only where W^c follows W; then the ACKs in between divide
//! the share once more, and rates fall below it.

use crate::contract::{
    Absent, Ack, Body, Cp, FullCx, Header, HostCx, HostFacts, LinkRates, NoCtl, Np, OnEnqueue,
    Packet, PacketKind, PathFacts, PortFacts, PortView, Preset, RateCode, Rp, Scheme, SendLimits,
    SenderMetric, Strict, SwitchFacts,
};
use crate::hpcc::{self, Hpcc, HpccParams, SIMULATOR_ONLY};
use crate::int::{IntFormat, IntRecord, IntStack};
use crate::params::ParamError;
use units::{NodeId, PortId, Rate, Time};
use wire::int::FnccAck;

crate::params! {
    /// Parameters that FNCC adds to HPCC's.
    pub struct NotificationParams {
        /// Last-hop congestion speed-up: whether W^c may be set to the fair share, and how often.
        last_hop_speedup: &'static str, "LHCS", &["off", "per-ack", "per-round-trip"],
            "section 3.2.2, Algorithm 3";
        /// Normalised bytes in flight above which the last hop is congested.
        last_hop_threshold: f64, "alpha", 0.5..=10.0, "section 3.2.2";
        /// Share of the fair window that is taken, so that the queue drains.
        last_hop_share: f64, "beta", 0.01..=1.0, "section 3.2.2";
        /// Period in which switches update their tables of records; 0ns for at every ACK.
        update_period: Time, "", Time::ZERO..=Time::from_ms(10),
            "section 4.1, which gives no value";
        /// Records at full precision, or rounded and wrapped around in 64 bits.
        int_format: &'static str, "", &["full", "fncc-64"],
            "section 4.3: B 4, ts 24, txBytes 20, qLen 16 bits";
    }
}

impl NotificationParams {
    /// What is left of INT records.
    fn format(&self) -> IntFormat {
        if self.int_format == "fncc-64" { IntFormat::PAPER } else { IntFormat::FULL }
    }
}

crate::join_params! {
    /// Parameters of FNCC.
    pub struct FnccParams {
        /// HPCC's, as its paper has it.
        hpcc: HpccParams, without SIMULATOR_ONLY;
        /// FNCC's own.
        notification: NotificationParams;
    }
}

/// The scheme `fncc`, with room for `N` switches on a path.
#[derive(Debug)]
pub struct Fncc<const N: usize>;

impl<const N: usize> Scheme for Fncc<N> {
    const NAME: &'static str = "fncc";
    const TITLE: &'static str = "FNCC";
    const PAPER: &'static str = "Xu et al., FNCC: Fast Notification Congestion Control in Data \
                                 Center Networks, 2024";
    const CAVEAT: &'static str = "The paper gives no period for the switches' tables; by default \
                                  they are always up to date.";
    const PRESETS: &'static [Preset<FnccParams>] = &[Preset {
        name: "fncc-paper",
        summary: "The paper's alpha and beta on hpcc-paper, tables always up to date",
        source: "section 3.2.2; HPCC's as hpcc-paper",
        ecn: None,
        params: presets::paper,
    }];
    const SYMMETRIC_PATHS: bool = true;
    const MAX_HOPS: usize = N;
    const MAX_RATES: usize = LinkRates::MAX;

    type Params = FnccParams;
    type Meta = AckReport<N>;
    type Ctl = NoCtl;
    type Host = ActiveFlows;
    type Rp = ReactionPoint<N>;
    type Np = NotificationPoint;
    type Cp = IntTable;

    fn check(params: &FnccParams) -> Result<(), ParamError> {
        if !params.hpcc.fast_reaction && params.notification.last_hop_speedup == "per-ack" {
            let why =
                "without fast_reaction W is computed once a round trip: take \"per-round-trip\"";
            return Err(ParamError::Conflict("last_hop_speedup", why.to_owned()));
        }
        Hpcc::<N>::check(&params.hpcc)
    }
    /// A port's rate has a code of four bits.
    fn check_switch(params: &FnccParams, facts: &SwitchFacts<'_>) -> Result<(), ParamError> {
        let format = params.notification.format();
        match facts.ports.iter().find(|port| !format.encodes(port.rate)) {
            None => Ok(()),
            Some(port) => {
                let known = wire::int::RATES.map(|rate| rate.to_string()).join(", ");
                let why = format!("fncc-64 has no code for a port of {}, only {known}", port.rate);
                Err(ParamError::Conflict("int_format", why))
            }
        }
    }
    /// Data carries nothing. An ACK has room for all hops from the start, whether or not all are
    /// used, as HPCC's packets have.
    fn meta_bytes(_params: &FnccParams) -> (u32, u32) {
        (0, FnccAck::bytes_with(N) as u32)
    }
    fn host(_params: &FnccParams, facts: &HostFacts) -> ActiveFlows {
        ActiveFlows::new(facts.network_rtt)
    }
    fn congestion_point(params: &FnccParams, facts: &SwitchFacts<'_>) -> Option<IntTable> {
        Some(IntTable::new(&params.notification, facts))
    }
}

/// The presets, as functions of the rate of the hosts' ports.
pub mod presets {
    use super::*;

    /// Preset `fncc-paper`: the paper's alpha and beta on hpcc-paper, tables always up to date.
    pub fn paper(host_rate: Rate) -> FnccParams {
        FnccParams {
            hpcc: hpcc::presets::paper(host_rate),
            notification: NotificationParams {
                last_hop_speedup: "per-ack",
                last_hop_threshold: 1.05,
                last_hop_share: 0.9,
                update_period: Time::ZERO,
                int_format: "full",
            },
        }
    }
}

/// What an ACK carries; in data it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct AckReport<const N: usize> {
    /// The records of the path, last hop first.
    pub int: IntStack<N>,
    /// N, the receiver's concurrent flows.
    pub flows: u16,
}

/// A receiver's concurrent flows: those with data in this or the previous period.
#[derive(Clone, Debug)]
pub struct ActiveFlows {
    length: Time,
    /// The number of the period, from 2 on, so that a flow that was never seen is in none.
    period: u64,
    /// Flows with data in this period, and those with data in the one before only.
    this: u32,
    before: u32,
}

impl ActiveFlows {
    /// Periods of this length.
    pub fn new(length: Time) -> ActiveFlows {
        ActiveFlows { length: length.max(Time::from_ps(1)), period: 2, this: 0, before: 0 }
    }

    /// How many there are now.
    pub fn flows(&self) -> u16 {
        u16::try_from(self.this + self.before).unwrap_or(u16::MAX)
    }

    /// Data of the flow that was last seen in the period `seen` arrived.
    pub fn arrived(&mut self, now: Time, seen: &mut u64) {
        let period = 2 + now.ps() / self.length.ps();
        if period != self.period {
            self.before = if period == self.period + 1 { self.this } else { 0 };
            self.this = 0;
            self.period = period;
        }
        if *seen + 1 == period {
            self.before -= 1;
        }
        if *seen != period {
            self.this += 1;
            *seen = period;
        }
    }

    /// The flow that was last seen in the period `seen` is over.
    pub fn ended(&mut self, seen: &mut u64) {
        if *seen == self.period {
            self.this -= 1;
        } else if *seen + 1 == self.period {
            self.before -= 1;
        }
        *seen = 0;
    }
}

/// The notification point, one per QP: writes N into the ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotificationPoint {
    seen: u64,
}

impl<const N: usize> Np<Fncc<N>> for NotificationPoint {
    type Timer = Absent;
    fn open(_params: &FnccParams, _host: &mut ActiveFlows, _now: Time) -> NotificationPoint {
        NotificationPoint::default()
    }
    #[inline]
    fn on_in_order_data(
        &mut self,
        cx: &mut HostCx<'_, Fncc<N>>,
        _data: &Header,
        report: &mut AckReport<N>,
    ) {
        cx.host.arrived(cx.now, &mut self.seen);
        report.flows = cx.host.flows();
    }
    /// A QP that has other messages is a connection all the same.
    fn on_message_end(&mut self, cx: &mut HostCx<'_, Fncc<N>>, is_last: bool) {
        if is_last {
            cx.host.ended(&mut self.seen);
        }
    }
}

/// What a port says of itself.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    rate: RateCode,
    /// ts and txBytes, both of the last departure.
    time: Time,
    tx_bytes: u64,
    /// qLen.
    queue_bytes: u64,
}

/// The congestion point of a switch: All_INT_Table, which goes by the port through which an ACK
/// comes in (Algorithm 1).
#[derive(Clone, Debug)]
pub struct IntTable {
    node: NodeId,
    period: Time,
    format: IntFormat,
    /// By port, as it is now.
    ports: Vec<Entry>,
    /// What ACKs are told, and until when; with a period of zero, `ports` itself.
    published: Vec<Entry>,
    published_until: Time,
}

impl IntTable {
    /// The table of a switch that has sent nothing.
    pub fn new(params: &NotificationParams, facts: &SwitchFacts<'_>) -> IntTable {
        let format = params.format();
        let entry = |port: &PortFacts| Entry {
            rate: format.code(facts.rates, port.rate),
            ..Entry::default()
        };
        let ports: Vec<Entry> = facts.ports.iter().map(entry).collect();
        IntTable {
            node: facts.node,
            period: params.update_period,
            format,
            published: ports.clone(),
            ports,
            published_until: params.update_period,
        }
    }

    /// Nothing happened at the switch since it was last called, and something will now: an update
    /// that was due in between finds what is in the table.
    #[inline]
    fn update(&mut self, now: Time) {
        if self.period != Time::ZERO && now >= self.published_until {
            self.published.copy_from_slice(&self.ports);
            self.published_until = (now + Time::from_ps(1)).round_up(self.period);
        }
    }

    /// What an ACK that came in through `port` is told.
    fn record(&self, port: PortId) -> IntRecord {
        let table = if self.period == Time::ZERO { &self.ports } else { &self.published };
        let Entry { rate, time, tx_bytes, queue_bytes } = table[port.index()];
        self.format.round(IntRecord { rate, time, tx_bytes, queue_bytes })
    }
}

impl<const N: usize> Cp<Fncc<N>> for IntTable {
    /// A departure looks at another port.
    type Level = Strict;
    type Port = ();
    crate::hooks!(enqueues);

    fn port(&self, _params: &FnccParams, _facts: &PortFacts) {}

    #[inline]
    fn on_depart(
        &mut self,
        cx: &mut FullCx<'_, Fncc<N>>,
        _port: &mut (),
        view: &PortView,
        packet: &mut Packet<Fncc<N>>,
    ) {
        self.update(cx.now);
        let entry = &mut self.ports[view.port.index()];
        entry.time = cx.now;
        entry.tx_bytes = view.tx_bytes;
        entry.queue_bytes = view.queue_bytes;
        if packet.header.kind == PacketKind::Ack
            && let Body::Meta(report) = &mut packet.body
        {
            let port = PortId::new(packet.header.ingress);
            report.int.push(self.node, port, self.record(port));
        }
    }
}

impl<const N: usize> OnEnqueue<Fncc<N>> for IntTable {
    #[inline]
    fn on_enqueue(
        &mut self,
        cx: &mut FullCx<'_, Fncc<N>>,
        _port: &mut (),
        view: &PortView,
        packet: &mut Packet<Fncc<N>>,
    ) {
        self.update(cx.now);
        let size = u64::from(packet.header.size);
        self.ports[view.port.index()].queue_bytes = view.queue_bytes + size;
    }
}

/// The reaction point, one per QP: HPCC's, and the speed-up (Algorithm 3).
#[derive(Clone, Debug)]
pub struct ReactionPoint<const N: usize> {
    hpcc: hpcc::ReactionPoint<N>,
    speedup: Speedup,
    rates: LinkRates,
    threshold: f64,
    /// beta T / 8: times a rate in bits per second, the window that LHCS shares out, in bytes.
    share: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speedup {
    Off,
    PerAck,
    PerRoundTrip,
}

impl<const N: usize> ReactionPoint<N> {
    /// The reaction point of a QP that begins.
    pub fn new(params: &FnccParams, path: &PathFacts) -> ReactionPoint<N> {
        let own = &params.notification;
        let law = hpcc::Law::new(&params.hpcc, path).with_format(own.format());
        let rtt = if params.hpcc.base_rtt == "path" { path.base_rtt } else { path.network_rtt };
        ReactionPoint {
            hpcc: hpcc::ReactionPoint::under(law.shared()),
            speedup: match own.last_hop_speedup {
                "per-ack" => Speedup::PerAck,
                "per-round-trip" => Speedup::PerRoundTrip,
                _ => Speedup::Off,
            },
            rates: path.rates.clone(),
            threshold: own.last_hop_threshold,
            share: own.last_hop_share * rtt.ps() as f64 / 8e12,
        }
    }

    /// HPCC's part of it.
    pub fn hpcc(&self) -> &hpcc::ReactionPoint<N> {
        &self.hpcc
    }

    /// An ACK up to `next_expected` that is neither a NACK nor a duplicate (NewAck, lines 41 to 48).
    pub fn new_ack(
        &mut self,
        now: Time,
        next_expected: u64,
        next_to_send: u64,
        report: &AckReport<N>,
    ) {
        let ReactionPoint { hpcc, speedup, rates, threshold, share } = self;
        let int = &report.int;
        hpcc.new_ack_with(now, next_expected, next_to_send, int, |hpcc, bottleneck, full| {
            // UpdateWc, lines 22 to 28. U_j is the newest value, not its average.
            let wanted = match speedup {
                Speedup::Off => false,
                Speedup::PerAck => true,
                Speedup::PerRoundTrip => full,
            };
            if wanted
                && bottleneck.hop == 0
                && bottleneck.inflight > *threshold
                && let Some(last_hop) = int.records().next()
            {
                let rate = rates.rate(last_hop.rate).bps() as f64;
                hpcc.set_reference(rate * *share / f64::from(report.flows.max(1)));
            }
        });
    }
}

impl<const N: usize> Rp<Fncc<N>> for ReactionPoint<N> {
    type Timer = Absent;
    /// As HPCC.
    const REPACE: bool = true;

    fn open(
        params: &FnccParams,
        _host: &mut ActiveFlows,
        path: &PathFacts,
        _now: Time,
    ) -> ReactionPoint<N> {
        ReactionPoint::new(params, path)
    }
    #[inline]
    fn limits(&self) -> SendLimits {
        self.hpcc.limits()
    }
    #[inline]
    fn on_ack(&mut self, cx: &mut HostCx<'_, Fncc<N>>, ack: &Ack<'_, Fncc<N>>) {
        if ack.acks_new_data() {
            self.new_ack(cx.now, ack.next_expected, ack.next_to_send, ack.meta);
        }
    }
    fn observe(&self, _now: Time, what: SenderMetric) -> Option<f64> {
        Some(match what {
            SenderMetric::Rate => self.hpcc.limits().rate.bps() as f64,
            SenderMetric::Window => self.hpcc.window(),
            SenderMetric::Alpha => self.hpcc.utilisation(),
        })
    }
}
