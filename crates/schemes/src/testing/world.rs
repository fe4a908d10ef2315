//! A QP, its receiver and two switches between them, without a network.

use crate::contract::{
    Ack, Address, ArrivalSlot, Cp, CpTimerSlot, Ctl, Departure, EcnCodePoint, EnqueueSlot, Flags,
    FullCx, Header, HoldVerdict, HostCx, HostFacts, HostLocation, Level, LinkRates, Np,
    NpTimerSlot, Packet, PacketKind, PortFacts, PortView, Ports, QpEnd, Rp, RpTimerSlot, Scheme,
    SendLimits, SenderMetric, SwitchEffect, SwitchFacts, WireFacts,
};
use crate::params::{Params, Value};
use crate::registry::params_of;
use std::collections::VecDeque;
use units::{Bytes, NodeId, PortId, Priority, Rate, Time};

const LINE: Rate = Rate::from_gbps(100);
/// Payload bytes of a full packet.
pub const PAYLOAD: u64 = 1000;
const PACKET: u16 = 1082;
const RTT: Time = Time::from_us(8);
/// How often timers fire in one wait. A receiver that paces credits has a timer for each of them.
const MAX_TIMERS: usize = 5_000;

/// One step of a history.
#[derive(Clone, Debug)]
pub enum Operation {
    /// The sender sends a packet, if its limits allow it.
    Send {
        /// Payload bytes, at most [`PAYLOAD`].
        payload: u64,
    },
    /// The oldest data packet passes the switches and reaches the receiver.
    Deliver {
        /// Bytes that wait at the egress ports.
        queue_bytes: u64,
        /// The packet's code point at the receiver.
        code_point: EcnCodePoint,
    },
    /// The oldest data packet is lost, and the receiver sends a NACK.
    Lose,
    /// The oldest ACK reaches the sender.
    Acknowledge,
    /// The oldest control packet in flight reaches its host.
    DeliverCtl,
    /// The retransmission timer of the sender expires.
    RetransmissionTimeout,
    /// The peer of the second switch pauses or resumes its egress port.
    Pfc {
        /// Pause, or resume.
        paused: bool,
    },
    /// Time passes, and timers fire.
    Wait(Time),
}

/// A switch with two ports. Data comes in through port 0 and leaves through port 1.
struct Switch<S: Scheme> {
    cp: S::Cp,
    ports: Vec<<S::Cp as Cp<S>>::Port>,
    views: Vec<PortView>,
    effects: Vec<SwitchEffect<S::Ctl>>,
}

type LevelOf<S> = <<S as Scheme>::Cp as Cp<S>>::Level;
type ArrivalsOf<S> = <<S as Scheme>::Cp as Cp<S>>::Arrivals;
type EnqueuesOf<S> = <<S as Scheme>::Cp as Cp<S>>::Enqueues;
type CpTimerOf<S> = <<S as Scheme>::Cp as Cp<S>>::Timer;
type RpTimerOf<S> = <<S as Scheme>::Rp as Rp<S>>::Timer;
type NpTimerOf<S> = <<S as Scheme>::Np as Np<S>>::Timer;

struct AllPorts<'a, P> {
    ports: &'a mut [P],
    views: &'a [PortView],
}

impl<P> Ports<P> for AllPorts<'_, P> {
    fn count(&self) -> usize {
        self.ports.len()
    }
    fn port(&mut self, port: PortId) -> (&mut P, &PortView) {
        (&mut self.ports[port.index()], &self.views[port.index()])
    }
}

impl<S: Scheme> Switch<S> {
    fn new(params: &S::Params, node: u32) -> Option<Switch<S>> {
        let facts: Vec<PortFacts> = (0..2)
            .map(|port| PortFacts {
                port: PortId::new(port),
                rate: LINE,
                delay: Time::from_us(1),
                peer: NodeId::new([[0, 3], [2, 1]][node as usize - 2][usize::from(port)]),
                peer_is_host: u32::from(port) + 2 == node,
                xoff: Bytes::new(500_000),
                xon: Bytes::new(497_000),
                resume_offset: Bytes::new(3_000),
                kmin: [Bytes::new(50_000); 8],
                transit: Time::from_ns(1_087),
            })
            .collect();
        let place =
            |rack| HostLocation { tor: NodeId::new(2 + rack), rack, pod: 0, rate: LINE, ports: 1 };
        let hosts = [place(0), place(1)];
        let switch = SwitchFacts {
            node: NodeId::new(node),
            tier: 1,
            ports: &facts,
            hosts: &hosts,
            network_rtt: RTT,
            packet_bytes: Bytes::new(1_082),
            rates: &LinkRates::new([]),
            seed: 7,
        };
        let cp = S::congestion_point(params, &switch)?;
        let ports = facts.iter().map(|facts| cp.port(params, facts)).collect();
        let views = facts
            .iter()
            .map(|facts| PortView {
                port: facts.port,
                rate: facts.rate,
                queue_bytes: 0,
                class_bytes: 0,
                tx_bytes: 0,
                last_departure: Time::ZERO,
            })
            .collect();
        Some(Switch { cp, ports, views, effects: Vec::new() })
    }

    /// Passes a packet from one port to the other, where `queue_bytes` wait.
    fn pass(
        &mut self,
        now: Time,
        from: u16,
        queue_bytes: u64,
        packet: &mut Packet<S>,
    ) -> HoldVerdict {
        let out = usize::from(1 - from);
        packet.header.ingress = from;
        self.views[out].queue_bytes = queue_bytes;
        self.views[out].class_bytes = queue_bytes;
        let Switch { cp, ports, views, effects } = self;
        let mut cx = LevelOf::<S>::arrive(FullCx::new(now, effects, views));
        let verdict = ArrivalsOf::<S>::on_arrival(cp, &mut cx, PortId::new(from), packet);
        if matches!(verdict, HoldVerdict::Consume | HoldVerdict::Drop) {
            return verdict;
        }
        EnqueuesOf::<S>::on_enqueue(cp, &mut cx, &mut ports[out], &views[out], packet);
        drop(cx);
        let mut cx = LevelOf::<S>::depart(Departure { now, effects, views });
        cp.on_depart(&mut cx, &mut ports[out], &views[out], packet);
        drop(cx);
        views[out].tx_bytes += u64::from(packet.header.size);
        views[out].last_departure = now;
        HoldVerdict::Forward
    }

    fn pfc(&mut self, now: Time, paused: bool) {
        let Switch { cp, ports, views, effects } = self;
        let mut cx = LevelOf::<S>::arrive(FullCx::new(now, effects, views));
        cp.on_pfc(&mut cx, &mut ports[1], &views[1], Priority::new(3), paused);
    }

    fn run_timer(&mut self, now: Time) {
        let Switch { cp, ports, views, effects } = self;
        let mut cx = LevelOf::<S>::arrive(FullCx::new(now, effects, views));
        CpTimerOf::<S>::on_timer(cp, &mut cx, &mut AllPorts { ports, views });
    }
}

/// A QP with both hosts' state, two switches, and the packets in flight. Create one with
/// [`new`](World::new), drive it with [`apply`](World::apply), and call [`check`](World::check)
/// after each step.
pub struct World<S: Scheme> {
    preset: String,
    params: S::Params,
    now: Time,
    /// The sender's reaction point.
    pub rp: S::Rp,
    np: S::Np,
    sender: S::Host,
    receiver: S::Host,
    switches: Vec<Switch<S>>,
    data: VecDeque<Packet<S>>,
    acks: VecDeque<Packet<S>>,
    /// Control packets in flight to the sender.
    pub to_sender: VecDeque<S::Ctl>,
    /// Control packets in flight to the receiver.
    pub to_receiver: VecDeque<S::Ctl>,
    next_to_send: u64,
    /// First byte that is not acknowledged.
    pub acknowledged: u64,
    /// Number of the message that is being sent.
    pub flow: u32,
    /// First byte that the receiver has not received.
    expected: u64,
    /// Control packets that a hook has just sent.
    outbox: Vec<S::Ctl>,
}

impl<S: Scheme> World<S> {
    /// Returns a QP that begins, with the parameters of a preset at 100 Gb/s.
    ///
    /// # Panics
    ///
    /// If `S` has no such preset.
    pub fn new(preset: &str) -> World<S> {
        let params = params_of::<S>(preset, LINE, &[]).unwrap();
        let host = |node| HostFacts {
            node: NodeId::new(node),
            line_rate: LINE,
            network_rtt: RTT,
            wire: WireFacts {
                profile: wire::Profile::Rocev2,
                packet_bytes: Bytes::new(u64::from(PACKET)),
                ack_bytes: Bytes::new(86),
                min_control_bytes: Bytes::new(84),
            },
            seed: 7,
        };
        let path = super::path(LINE, RTT);
        let mut sender = S::host(&params, &host(0));
        let mut receiver = S::host(&params, &host(1));
        let rp = S::Rp::open(&params, &mut sender, &path, Time::ZERO);
        let np = S::Np::open(&params, &mut receiver, Time::ZERO);
        let switches = (2..4).filter_map(|node| Switch::new(&params, node)).collect();
        let mut world: World<S> = World {
            preset: preset.to_owned(),
            params,
            now: Time::ZERO,
            rp,
            np,
            sender,
            receiver,
            switches,
            data: VecDeque::new(),
            acks: VecDeque::new(),
            to_sender: VecDeque::new(),
            to_receiver: VecDeque::new(),
            next_to_send: 0,
            acknowledged: 0,
            flow: 0,
            expected: 0,
            outbox: Vec::new(),
        };
        world.at_sender(|rp, cx| rp.on_backlog(cx, Bytes::new(1_000_000)));
        world
    }

    fn at_sender(&mut self, hook: impl FnOnce(&mut S::Rp, &mut HostCx<'_, S>)) {
        let mut cx = HostCx {
            now: self.now,
            params: &self.params,
            host: &mut self.sender,
            outbox: &mut self.outbox,
        };
        hook(&mut self.rp, &mut cx);
        self.empty_outbox(false);
    }

    fn at_receiver(&mut self, hook: impl FnOnce(&mut S::Np, &mut HostCx<'_, S>)) {
        let mut cx = HostCx {
            now: self.now,
            params: &self.params,
            host: &mut self.receiver,
            outbox: &mut self.outbox,
        };
        hook(&mut self.np, &mut cx);
        self.empty_outbox(true);
    }

    /// Sends the control packets of a host's hook through all switches.
    fn empty_outbox(&mut self, to_source: bool) {
        let address = self.header(PacketKind::Control, 0, self.now).address;
        let count = self.switches.len();
        for ctl in std::mem::take(&mut self.outbox) {
            if to_source {
                self.send_ctl(address, true, (0..count).rev(), ctl);
            } else {
                self.send_ctl(address, false, 0..count, ctl);
            }
        }
        self.collect_effects();
    }

    fn may_send(&self) -> bool {
        let limits = self.rp.limits();
        let in_flight = self.next_to_send - self.acknowledged;
        in_flight < limits.window.get()
            && self.next_to_send < limits.credit_limit
            && self.now >= limits.not_before
            && limits.rate != Rate::ZERO
    }

    fn header(&self, kind: PacketKind, sequence: u64, sent_at: Time) -> Header {
        Header { payload: 0, ..header(kind, self.flow, sequence, sent_at) }
    }

    /// Carries `packet` through the switches. Returns whether it comes out.
    fn carry(&mut self, packet: &mut Packet<S>, queue_bytes: u64) -> bool {
        let back = packet.header.flags.contains(Flags::TO_SOURCE);
        let count = self.switches.len();
        let arrives = (0..count).all(|hop| {
            let (at, from) = if back { (count - 1 - hop, 1) } else { (hop, 0) };
            self.switches[at].pass(self.now, from, queue_bytes, packet) == HoldVerdict::Forward
        });
        self.collect_effects();
        arrives
    }

    /// Sends the control packets of the switches, and those that follow from them.
    fn collect_effects(&mut self) {
        loop {
            let mut effects = Vec::new();
            for (at, switch) in self.switches.iter_mut().enumerate() {
                effects.extend(switch.effects.drain(..).map(|effect| (at, effect)));
            }
            if effects.is_empty() {
                break;
            }
            for (at, effect) in effects {
                match effect {
                    SwitchEffect::ToHost(address, QpEnd::Sender, ctl) => {
                        self.send_ctl(address, true, (0..at).rev(), ctl);
                    }
                    SwitchEffect::ToHost(address, QpEnd::Receiver, ctl) => {
                        self.send_ctl(address, false, at + 1..self.switches.len(), ctl);
                    }
                    SwitchEffect::ToLink(..) | SwitchEffect::Wake(_) => {}
                }
            }
        }
    }

    /// Sends a control packet to the sender or the receiver through some switches, each of which
    /// may consume it.
    fn send_ctl(
        &mut self,
        address: Address,
        to_source: bool,
        hops: impl Iterator<Item = usize>,
        ctl: S::Ctl,
    ) {
        check_ctl::<S>(&self.params, &ctl);
        let mut header = self.header(PacketKind::Control, 0, self.now);
        header.address = address;
        header.size = ctl.frame_bytes() as u16;
        header.flags.set(Flags::TO_SOURCE, to_source);
        let mut packet: Packet<S> = Packet::with_ctl(header, ctl);
        for at in hops {
            if self.switches[at].pass(self.now, u16::from(to_source), 0, &mut packet)
                != HoldVerdict::Forward
            {
                return;
            }
        }
        let ctl = *packet.ctl().expect("a control packet stays one");
        if to_source {
            self.to_sender.push_back(ctl);
        } else {
            self.to_receiver.push_back(ctl);
        }
    }

    /// Does `operation`. Does nothing if it is not possible now.
    pub fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Send { payload } => {
                if !self.may_send() {
                    return;
                }
                let mut header = self.header(PacketKind::Data, self.next_to_send, self.now);
                header.payload = payload as u16;
                let mut meta = S::Meta::default();
                self.at_sender(|rp, cx| rp.on_send(cx, &mut header, &mut meta));
                self.next_to_send += payload;
                self.data.push_back(Packet::with_meta(header, meta));
                self.at_sender(|rp, cx| rp.on_backlog(cx, Bytes::new(1_000_000)));
            }
            Operation::Deliver { queue_bytes, code_point } => {
                let Some(mut packet) = self.data.pop_front() else { return };
                packet.header.code_point = code_point;
                if !self.carry(&mut packet, queue_bytes) {
                    return;
                }
                let header = packet.header;
                let mut meta = *packet.meta().expect("data carries meta");
                self.at_receiver(|np, cx| np.on_packet(cx, &header, &meta));
                if header.sequence != self.expected {
                    return;
                }
                self.expected += u64::from(header.payload);
                self.at_receiver(|np, cx| np.on_kept_data(cx, &header, &mut meta));
                let mut ack = self.header(PacketKind::Ack, self.expected, header.sent_at);
                ack.echo = header.code_point;
                self.acks.push_back(Packet::with_meta(ack, meta));
            }
            Operation::Lose => {
                if self.data.pop_front().is_some() {
                    let nack = self.header(PacketKind::Nack, self.expected, self.now);
                    self.acks.push_back(Packet::with_meta(nack, S::Meta::default()));
                }
            }
            Operation::Acknowledge => {
                let Some(mut packet) = self.acks.pop_front() else { return };
                if !self.carry(&mut packet, 0) {
                    return;
                }
                let header = packet.header;
                let meta = *packet.meta().expect("ACKs carry meta");
                let newly_acked = header.sequence.saturating_sub(self.acknowledged);
                self.acknowledged += newly_acked;
                let nack = header.kind == PacketKind::Nack;
                if nack {
                    self.next_to_send = self.acknowledged;
                    self.data.clear();
                }
                let ack = Ack {
                    next_expected: header.sequence,
                    newly_acked: Bytes::new(newly_acked),
                    newly_lost: Bytes::ZERO,
                    next_to_send: self.next_to_send.max(self.acknowledged),
                    nack,
                    echo: header.echo,
                    rtt: self.now - header.sent_at,
                    meta: &meta,
                };
                self.next_to_send = ack.next_to_send;
                self.at_sender(|rp, cx| rp.on_ack(cx, &ack));
            }
            Operation::DeliverCtl => {
                if let Some(ctl) = self.to_sender.pop_front() {
                    check_ctl::<S>(&self.params, &ctl);
                    self.at_sender(|rp, cx| rp.on_ctl(cx, &ctl));
                }
                if let Some(ctl) = self.to_receiver.pop_front() {
                    check_ctl::<S>(&self.params, &ctl);
                    self.at_receiver(|np, cx| np.on_ctl(cx, &ctl));
                }
            }
            Operation::RetransmissionTimeout => {
                self.next_to_send = self.acknowledged;
                self.data.clear();
                self.at_sender(|rp, cx| rp.on_retransmission_timeout(cx));
            }
            Operation::Pfc { paused } => {
                let now = self.now;
                for switch in self.switches.iter_mut().skip(1) {
                    switch.pfc(now, paused);
                }
                self.collect_effects();
            }
            Operation::Wait(span) => self.wait(span),
        }
    }

    /// Lets time pass and runs the timers that are due. Ends early after [`MAX_TIMERS`].
    fn wait(&mut self, span: Time) {
        let end = self.now + span;
        for _ in 0..MAX_TIMERS {
            let switch_timer =
                self.switches.iter().map(|switch| CpTimerOf::<S>::next_timer(&switch.cp)).min();
            let due = RpTimerOf::<S>::next_timer(&self.rp)
                .min(NpTimerOf::<S>::next_timer(&self.np))
                .min(switch_timer.unwrap_or(Time::NEVER));
            if due > end {
                self.now = end;
                return;
            }
            // A timer that stays due would fire for ever; the assertions below find it.
            self.now = self.now.max(due);
            let now = self.now;
            if RpTimerOf::<S>::next_timer(&self.rp) <= now {
                self.at_sender(|rp, cx| RpTimerOf::<S>::on_timer(rp, cx));
                assert!(
                    RpTimerOf::<S>::next_timer(&self.rp) > now,
                    "{}: after `on_timer` the sender's next timer is not later",
                    self.who()
                );
            }
            if NpTimerOf::<S>::next_timer(&self.np) <= now {
                self.at_receiver(|np, cx| NpTimerOf::<S>::on_timer(np, cx));
                assert!(
                    NpTimerOf::<S>::next_timer(&self.np) > now,
                    "{}: after `on_timer` the receiver's next timer is not later",
                    self.who()
                );
            }
            for switch in &mut self.switches {
                if CpTimerOf::<S>::next_timer(&switch.cp) <= now {
                    switch.run_timer(now);
                    assert!(
                        CpTimerOf::<S>::next_timer(&switch.cp) > now,
                        "scheme {}: after `on_timer` the switch's next timer is not later",
                        S::NAME
                    );
                }
            }
            self.collect_effects();
        }
    }

    /// Checks the promises of [`SendLimits`], which hold at any time.
    ///
    /// # Panics
    ///
    /// If one is broken, with a text that names the scheme, the preset and the promise.
    pub fn check(&self) {
        let limits = self.rp.limits();
        let unpaced = SendLimits::UNLIMITED.rate;
        assert!(
            limits.rate <= LINE || limits.rate == unpaced,
            "{}: a rate of {} is neither within the line rate of {LINE} nor that of UNLIMITED",
            self.who(),
            limits.rate
        );
        if let Some(Value::Rate(min)) = self.params.get("min_rate") {
            let min = min.min(LINE);
            assert!(
                limits.rate >= min,
                "{}: a rate of {} is below its parameter `min_rate`, {min}",
                self.who(),
                limits.rate
            );
        }
        let opens =
            RpTimerOf::<S>::next_timer(&self.rp) != Time::NEVER || !self.to_sender.is_empty();
        assert!(
            limits.window != Bytes::ZERO || opens,
            "{}: a window of 0 stops the QP for ever, as no timer is set",
            self.who()
        );
    }

    /// Calls all hooks of probes.
    ///
    /// # Panics
    ///
    /// If a value is not finite, or a sender's value is negative.
    pub fn observe(&self) {
        for what in [SenderMetric::Rate, SenderMetric::Window, SenderMetric::Alpha] {
            if let Some(value) = self.rp.observe(self.now, what) {
                assert!(
                    value.is_finite() && value >= 0.0,
                    "{}: `Rp::observe` says {what:?} is {value}; it is finite and not negative",
                    self.who()
                );
            }
        }
        for switch in &self.switches {
            for port in &switch.ports {
                let value = switch.cp.observe(port, self.now);
                assert!(
                    value.is_none_or(f64::is_finite),
                    "{}: `Cp::observe` says {value:?}; it is finite",
                    self.who()
                );
            }
        }
    }

    /// Returns the names of scheme and preset, for messages.
    fn who(&self) -> String {
        format!("scheme {}, preset {}", S::NAME, self.preset)
    }
}

/// The header of a packet of a QP; of data, full.
pub(super) fn header(kind: PacketKind, flow: u32, sequence: u64, sent_at: Time) -> Header {
    Header {
        address: Address {
            src: 0,
            dst: 1,
            flow,
            hash: flow.wrapping_mul(0x9E37_79B9),
            ..Address::default()
        },
        sequence,
        sent_at,
        size: if kind == PacketKind::Data { PACKET } else { 86 },
        payload: if kind == PacketKind::Data { PAYLOAD as u16 } else { 0 },
        ingress: 0,
        kind,
        priority: 3,
        code_point: EcnCodePoint::NotMarked,
        echo: EcnCodePoint::NotMarked,
        flags: Flags::ACK_REQUESTED | Flags::TO_SOURCE.when(kind != PacketKind::Data),
    }
}

fn check_ctl<S: Scheme>(params: &S::Params, ctl: &S::Ctl) {
    let (name, bytes) = (S::NAME, ctl.frame_bytes());
    assert!(
        (64..1600).contains(&bytes),
        "scheme {name}: `frame_bytes` says {bytes}, no frame's size"
    );
    let priority = ctl.priority(params);
    assert!(
        priority.is_none_or(|priority| priority.get() < 8),
        "scheme {name}: `priority` says {priority:?}; there are 8"
    );
}
