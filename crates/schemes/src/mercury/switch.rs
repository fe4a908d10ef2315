//! Mercury's congestion point and notification point, both in the switch. They track the state of
//! each port and its flows, and notify senders.

use super::detector::{Detector, State};
use super::flow_table::FlowTable;
use super::pauses::Pauses;
use super::{Base, FeedbackParams, Mercury, Notice};
use crate::contract::{
    Address, Cp, EmitCx, Emits, Header, LinkRates, LocalCx, OnEnqueue, Packet, PacketKind,
    PortFacts, PortView, QpEnd, RateCode, SwitchFacts,
};
use units::{NodeId, Priority, Rate, Time};

/// The state of a port.
#[derive(Clone, Debug)]
pub struct PortState {
    rate: Rate,
    rate_code: RateCode,
    /// Queue length in bytes above which the port is congested.
    threshold: u64,
    /// State by priority. Created when data of it or a pause first comes.
    classes: [Option<Box<Class>>; 8],
}

/// The state of one priority of a port.
#[derive(Clone, Debug)]
struct Class {
    detector: Detector,
    /// The queue length at the last event.
    queue: u64,
    pauses: Pauses,
    flows: FlowTable,
}

/// The congestion point of a switch.
#[derive(Clone, Debug)]
pub struct CongestionPoint {
    node: NodeId,
    /// baseRTT of the whole network, in picoseconds.
    base_rtt: u64,
    state_detection: bool,
    window_notification: bool,
    by_pair: bool,
    check_period: Time,
    notice_interval: Time,
    flow_entries: usize,
    packet: u64,
    rates: LinkRates,
}

impl CongestionPoint {
    /// The congestion point of a switch.
    pub fn new(params: &FeedbackParams, facts: &SwitchFacts<'_>) -> CongestionPoint {
        CongestionPoint {
            node: facts.node,
            base_rtt: facts.network_rtt.ps(),
            state_detection: params.state_detection,
            window_notification: params.window_notification,
            by_pair: params.by_pair(),
            check_period: params.check_period,
            notice_interval: params.notice_interval,
            flow_entries: params.flow_entries as usize,
            packet: facts.packet_bytes.get(),
            rates: facts.rates.clone(),
        }
    }

    /// Returns the state of a priority of a port; creates it on first use.
    #[inline]
    fn class<'p>(&self, port: &'p mut PortState, priority: u8) -> &'p mut Class {
        port.classes[usize::from(priority & 7)].get_or_insert_with(|| {
            Box::new(Class {
                detector: Detector::new(port.rate, port.threshold, self.check_period),
                queue: 0,
                pauses: Pauses::default(),
                flows: FlowTable::new(self.flow_entries),
            })
        })
    }

    /// Removes data that no longer waits at a port. `queue` bytes of its priority still do.
    #[inline]
    fn leave<'p>(&self, port: &'p mut PortState, header: &Header, queue: u64) -> &'p mut Class {
        let class = self.class(port, header.priority);
        class.queue = queue;
        class.flows.leave(self.key(&header.address), u64::from(header.size));
        class
    }

    /// Returns the flow's key (FID).
    #[inline]
    fn key(&self, address: &Address) -> u64 {
        if self.by_pair {
            u64::from(address.src) << 32 | u64::from(address.dst)
        } else {
            address.qp()
        }
    }

    /// Returns Win in bytes: the flow's share of the rate for a base round trip (Algorithm 2, lines
    /// 10 to 13). It counts link bytes, like C baseRTT at the sender. Zero means a plain CNP.
    fn window(&self, rate: Rate, bytes: u64, total: u64) -> u32 {
        if !self.window_notification {
            return 0;
        }
        let bdp = u128::from(rate.bps()) * u128::from(self.base_rtt) / 8_000_000_000_000;
        let window = bdp * u128::from(bytes) / u128::from(total.max(1));
        u32::try_from(window).unwrap_or(u32::MAX).max(1)
    }
}

impl<B: Base> Cp<Mercury<B>> for CongestionPoint {
    type Level = Emits;
    type Port = PortState;
    crate::hooks!(enqueues);

    fn port(&self, params: &B::Joined, facts: &PortFacts) -> PortState {
        let own = params.as_ref();
        let share = facts.rate.bps() as f64 / Rate::from_gbps(100).bps() as f64;
        // A packet that waits alone is no congestion, however slow the port is.
        let threshold = ((own.congestion_threshold.get() as f64 * share) as u64).max(self.packet);
        PortState {
            rate: facts.rate,
            rate_code: self.rates.code(facts.rate),
            threshold,
            classes: Default::default(),
        }
    }
    fn on_rate(&mut self, params: &B::Joined, port: &mut PortState, facts: &PortFacts) {
        let begins = Cp::<Mercury<B>>::port(self, params, facts);
        let PortState { rate, rate_code, threshold, .. } = begins;
        (port.rate, port.rate_code, port.threshold) = (rate, rate_code, threshold);
        for class in port.classes.iter_mut().flatten() {
            class.detector.set_rate(rate, threshold);
        }
    }
    #[inline]
    fn on_depart(
        &mut self,
        cx: &mut LocalCx,
        port: &mut PortState,
        view: &PortView,
        packet: &mut Packet<Mercury<B>>,
    ) {
        let header = &packet.header;
        if header.kind != PacketKind::Data {
            return;
        }
        let class = self.leave(port, header, view.class_bytes);
        class.detector.depart(cx.now, view.class_bytes);
        if let Some(meta) = packet.meta_mut() {
            B::stamp(meta, self.node, cx.now, port.rate_code, view);
        }
    }
    fn on_drop(
        &mut self,
        _cx: &mut EmitCx<'_, Mercury<B>>,
        port: &mut PortState,
        view: &PortView,
        packet: &Packet<Mercury<B>>,
    ) {
        if packet.header.kind == PacketKind::Data {
            self.leave(port, &packet.header, view.class_bytes);
        }
    }
    fn on_pfc(
        &mut self,
        cx: &mut EmitCx<'_, Mercury<B>>,
        port: &mut PortState,
        view: &PortView,
        priority: Priority,
        paused: bool,
    ) {
        let rate = port.rate;
        let class = self.class(port, priority.get());
        if paused {
            class.detector.pause(cx.now);
            class.pauses.pause(cx.now, view.class_bytes);
        } else {
            class.detector.resume(cx.now, view.class_bytes);
            class.pauses.resume(cx.now, rate, view.class_bytes);
        }
    }
    /// Shows the strongest state of all priorities.
    fn observe(&self, port: &PortState, _now: Time) -> Option<f64> {
        let number = |class: &Class| match class.detector.state() {
            State::Undetermined => 2,
            State::Determined => u8::from(class.queue > port.threshold),
        };
        let max = port.classes.iter().flatten().map(|class| number(class)).max();
        Some(f64::from(max.unwrap_or(0)))
    }
}

impl<B: Base> OnEnqueue<Mercury<B>> for CongestionPoint {
    #[inline]
    fn on_enqueue(
        &mut self,
        cx: &mut EmitCx<'_, Mercury<B>>,
        port: &mut PortState,
        view: &PortView,
        packet: &mut Packet<Mercury<B>>,
    ) {
        let header = &packet.header;
        if header.kind != PacketKind::Data {
            return;
        }
        let (now, rate, threshold) = (cx.now, port.rate, port.threshold);
        let (size, queue) = (u64::from(header.size), view.class_bytes + u64::from(header.size));
        let class = self.class(port, header.priority);
        class.queue = queue;
        class.detector.arrive(size);
        class.flows.join(now, self.key(&header.address), header.address, size);
        let kept = class.pauses.kept(now, rate, view.class_bytes);
        let determined = !self.state_detection || class.detector.state() == State::Determined;
        if !determined || queue <= threshold {
            return;
        }
        // A root of congestion would be congested if no port had ever been paused.
        let (from_root, total) = (queue - kept > threshold, class.flows.total());
        class.flows.notify(now, self.notice_interval, |address, bytes| {
            let window = self.window(rate, bytes, total);
            cx.to_host(address, QpEnd::Sender, Notice { window, from_root });
        });
    }
}
