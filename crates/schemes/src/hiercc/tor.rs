//! The ToR switch: sends packets from its VOQs against credits, controls the senders, and grants
//! credits for its downlinks.

use super::{
    Control, CreditRequest, Downlink, FirstHop, Flows, Grant, Hiercc, HierccParams, Stamp, Voq,
};
use crate::contract::{
    Cp, CpTimer, Flags, FullCx, Gate, HostLocation, OnArrival, OnEnqueue, Packet, PacketKind,
    PortFacts, PortView, Ports, QpEnd, Strict, SubQueues, SwitchFacts, SwitchFlowMetric, Verdict,
};
use crate::hiercc::{ControlScope, SentCounter, VoqPer};
use units::{Bytes, PortId, Rate, Time};

const NO_VOQ: u32 = u32::MAX;

/// Sub-queue 0 holds packets outside of VOQs. A VOQ has one sub-queue for each priority, and all of
/// them use its credits.
const PRIORITIES: u32 = 8;

/// A ToR switch.
#[derive(Debug)]
pub struct TorSwitch {
    params: HierccParams,
    /// One VOQ per receiving host, not per rack.
    by_host: bool,
    /// VOQs are for destinations in this pod only.
    within_pod: bool,
    /// S counts bytes that have joined the VOQ.
    counts_joined: bool,
    rack: u32,
    pod: u32,
    hosts: Vec<HostLocation>,
    /// Index of each host among its VOQ's receivers.
    receivers: Vec<u32>,
    /// Number of hosts of each rack.
    rack_hosts: Vec<u64>,
    round_trip: Time,
    /// Size of a full packet.
    packet: Bytes,
    /// R_line: the rate that the rack's fastest host has at present.
    line: Rate,
    /// The scheduler of each port that is a downlink.
    downlinks: Vec<Option<Downlink>>,
    /// Index into `voqs`, by receiving host or rack.
    numbers: Vec<u32>,
    /// The VOQs that have had packets.
    voqs: Vec<Voq>,
    flows: Flows,
    /// No credit is due before this time.
    next: Time,
    credits_sent: u64,
    rate_messages: u64,
    stop_messages: u64,
}

impl TorSwitch {
    /// Returns the state of a rack's ToR, or `None` for other switches.
    pub fn new(params: &HierccParams, facts: &SwitchFacts<'_>) -> Option<TorSwitch> {
        let here = facts.hosts.iter().find(|host| host.tor == facts.node)?;
        let racks = facts.hosts.iter().map(|host| host.rack).max()? as usize + 1;
        let by_host = params.voq_per == VoqPer::Host;
        let mut rack_hosts = vec![0; racks];
        let mut receivers = Vec::with_capacity(facts.hosts.len());
        for host in facts.hosts {
            let known = &mut rack_hosts[host.rack as usize];
            receivers.push(if by_host { 0 } else { *known as u32 });
            *known += 1;
        }
        // The part of the hosts' round trip on their own links. ACKs are counted as zero bytes.
        let cable = facts.ports.iter().find(|port| port.peer_is_host)?;
        let own = (cable.transit + cable.delay) * 2;
        let downlink = |port: &PortFacts| {
            port.peer_is_host.then(|| Downlink::new(port.rate, params.credit, racks))
        };
        let keys = if by_host { facts.hosts.len() } else { racks };
        Some(TorSwitch {
            params: params.with_room_for(facts.packet_bytes),
            by_host,
            within_pod: params.control_scope == ControlScope::Pod,
            counts_joined: params.sent_counter == SentCounter::Joined,
            rack: here.rack,
            pod: here.pod,
            hosts: facts.hosts.to_vec(),
            receivers,
            rack_hosts,
            round_trip: facts.network_rtt.saturating_sub(own),
            packet: facts.packet_bytes,
            line: facts
                .ports
                .iter()
                .filter(|port| port.peer_is_host)
                .map(|port| port.rate)
                .max()?,
            downlinks: facts.ports.iter().map(downlink).collect(),
            numbers: vec![NO_VOQ; keys],
            voqs: Vec::new(),
            flows: Flows::new(facts.ports.len()),
            next: Time::NEVER,
            credits_sent: 0,
            rate_messages: 0,
            stop_messages: 0,
        })
    }

    /// Returns whether a packet that came through `in_port` goes through a VOQ.
    #[inline]
    fn takes(&self, in_port: PortId, packet: &Packet<Hiercc>) -> bool {
        let header = &packet.header;
        header.kind == PacketKind::Data
            && self.is_downlink(in_port.index())
            && self.is_in_scope(header.address.src, header.address.dst)
    }

    #[inline]
    fn is_downlink(&self, port: usize) -> bool {
        matches!(self.downlinks.get(port), Some(Some(_)))
    }

    /// Returns whether a pair of hosts uses VOQs. Both need a single port: otherwise a credit would
    /// not know which ToR to go to.
    fn is_in_scope(&self, src: u32, dst: u32) -> bool {
        let (from, to) = (&self.hosts[src as usize], &self.hosts[dst as usize]);
        let single = from.ports == 1 && to.ports == 1;
        single && (!self.within_pod || to.pod == self.pod)
    }

    /// Returns the index of `dst` in `numbers`.
    #[inline]
    fn key(&self, dst: u32) -> usize {
        if self.by_host { dst as usize } else { self.hosts[dst as usize].rack as usize }
    }

    #[inline]
    fn voq_for(&self, dst: u32) -> u32 {
        self.numbers[self.key(dst)]
    }

    /// Returns C0 of the VOQ for `dst`. Within the rack the loop has no delay. The VOQ of a rack
    /// has the sum of its hosts.
    ///
    /// To fill a path, C0 is what the downlink carries in the round trip, plus one packet. S counts
    /// a packet as soon as it begins to leave, but its credits take as long as the downlink takes
    /// to send it. The next packet leaves only with all of its own credits.
    fn initial_credits(&self, dst: u32) -> u64 {
        let of_host = |host: &HostLocation| {
            let mut initial = self.params.initial_credits;
            if self.params.fill_path && host.rack != self.rack {
                initial = initial.max(host.rate.bytes_in(self.round_trip) + self.packet);
            }
            initial.get()
        };
        let to = &self.hosts[dst as usize];
        if self.by_host {
            return of_host(to);
        }
        self.hosts.iter().filter(|host| host.rack == to.rack).map(of_host).sum()
    }

    /// Returns the number of receivers of the VOQ for `dst`.
    fn receivers_beside(&self, dst: u32) -> u64 {
        if self.by_host { 1 } else { self.rack_hosts[self.hosts[dst as usize].rack as usize] }
    }

    /// Returns the VOQ for `dst`; creates it for its first packet.
    fn open_voq(&mut self, now: Time, dst: u32) -> u32 {
        let key = self.key(dst);
        if self.numbers[key] == NO_VOQ {
            self.numbers[key] = self.voqs.len() as u32;
            let first_hop = FirstHop::new(&self.params, self.line, now);
            let ports = self.downlinks.len();
            let receivers = self.receivers_beside(dst) as usize;
            self.voqs.push(Voq::new(self.initial_credits(dst), receivers, ports, first_hop));
            self.flows.add_voq();
        }
        self.numbers[key]
    }

    /// Adds a packet from a host to its VOQ.
    fn join(&mut self, cx: &mut FullCx<'_, Hiercc>, out: usize, packet: &Packet<Hiercc>) {
        let header = &packet.header;
        let (in_port, now, size) = (header.ingress as usize, cx.now, u64::from(header.size));
        let number = self.open_voq(now, header.address.dst);
        self.flows.record_packet(now, in_port, number, &header.address);
        let voq = &mut self.voqs[number as usize];
        voq.join(out, size);
        if voq.reset(now, size, self.params.loss_timeout) {
            wake(cx, voq);
        }
        if voq.stopped {
            if header.flags.contains(Flags::MARK) {
                self.stop_messages += 1;
                cx.to_host(header.address, QpEnd::Sender, Control::Rate(Rate::ZERO));
            }
        } else if voq.queue() > self.params.stop_queue.get() {
            voq.stopped = true;
            self.flows.forget(number, now.saturating_sub(self.params.flow_timeout));
            for address in self.flows.of(number) {
                self.stop_messages += 1;
                cx.to_host(*address, QpEnd::Sender, Control::Rate(Rate::ZERO));
            }
        } else if header.flags.contains(Flags::MARK) {
            voq.first_hop.update(now, voq.queue(), size);
            self.rate_messages += 1;
            let rate = voq.first_hop.rate();
            cx.to_host(header.address, QpEnd::Sender, Control::Rate(rate));
        }
    }

    /// Removes a packet that leaves its VOQ through `out`, and stamps it.
    fn leave(&mut self, cx: &mut FullCx<'_, Hiercc>, out: usize, packet: &mut Packet<Hiercc>) {
        let (now, header) = (cx.now, &packet.header);
        let number = self.voq_for(header.address.dst);
        let receiver = self.receivers[header.address.dst as usize] as usize;
        let voq = &mut self.voqs[number as usize];
        voq.leave(now, receiver, out, u64::from(header.size));
        self.shrank(cx, number);
        let voq = &self.voqs[number as usize];
        let stamp = Stamp {
            flows: self.flows.count(number).max(1),
            rack: self.rack,
            sent: voq.sent(receiver, self.counts_joined),
        };
        *packet.meta_mut().expect("data carries meta") = stamp;
        if self.is_downlink(out) {
            self.request_credits(now, out, packet, stamp);
        }
    }

    /// Resumes the senders of a VOQ that has become short enough.
    fn shrank(&mut self, cx: &mut FullCx<'_, Hiercc>, number: u32) {
        let voq = &mut self.voqs[number as usize];
        if voq.stopped {
            if voq.queue() < self.params.resume_queue.get() {
                voq.stopped = false;
                let rate = voq.first_hop.rate();
                for address in self.flows.of(number) {
                    self.rate_messages += 1;
                    cx.to_host(*address, QpEnd::Sender, Control::Rate(rate));
                }
            }
        } else {
            // While the senders are stopped, flows stay in the list however long it takes: they
            // must be resumed.
            self.flows.forget(number, cx.now.saturating_sub(self.params.flow_timeout));
        }
    }

    /// Requests credits for the VOQ of a packet that goes to a host of this rack.
    fn request_credits(&mut self, now: Time, out: usize, packet: &Packet<Hiercc>, stamp: Stamp) {
        let Stamp { flows, rack, sent } = stamp;
        let downlink = self.downlinks[out].as_mut().expect("it is a downlink");
        downlink
            .on_request(now, &CreditRequest { rack, flows, sent, address: packet.header.address });
        self.next = self.next.min(downlink.due());
    }

    /// Handles a credit of the downlink to host `dst`, with its C_sent.
    fn credit(&mut self, cx: &mut FullCx<'_, Hiercc>, dst: u32, granted: u64) {
        let number = self.voq_for(dst);
        let voq = &mut self.voqs[number as usize];
        voq.credit(cx.now, self.receivers[dst as usize] as usize, granted);
        wake(cx, voq);
    }
}

/// Makes the ports check again whether packets of a VOQ may leave.
fn wake(cx: &mut FullCx<'_, Hiercc>, voq: &Voq) {
    for port in voq.ports() {
        cx.wake(PortId::new(port as u16));
    }
}

impl Cp<Hiercc> for TorSwitch {
    /// Gates depend on credits, which other ports bring.
    type Level = Strict;
    type Port = ();
    crate::hooks!(arrivals, enqueues, sub_queues, timer);

    fn port(&self, _params: &HierccParams, _facts: &PortFacts) {}
    fn on_rate(&mut self, _params: &HierccParams, (): &mut (), facts: &PortFacts) {
        let Some(downlink) = &mut self.downlinks[facts.port.index()] else { return };
        downlink.set_rate(facts.rate);
        let rates = self.downlinks.iter().flatten().map(Downlink::rate);
        self.line = rates.max().expect("it has a downlink");
        for voq in &mut self.voqs {
            voq.first_hop.set_line(&self.params, self.line);
        }
    }
    fn on_depart(
        &mut self,
        cx: &mut FullCx<'_, Hiercc>,
        (): &mut (),
        view: &PortView,
        packet: &mut Packet<Hiercc>,
    ) {
        if self.takes(PortId::new(packet.header.ingress), packet) {
            self.leave(cx, view.port.index(), packet);
        }
    }
    fn on_drop(
        &mut self,
        cx: &mut FullCx<'_, Hiercc>,
        (): &mut (),
        view: &PortView,
        packet: &Packet<Hiercc>,
    ) {
        let header = &packet.header;
        if self.takes(PortId::new(header.ingress), packet) {
            let number = self.voq_for(header.address.dst);
            let voq = &mut self.voqs[number as usize];
            voq.drop_one(view.port.index(), u64::from(header.size));
            self.shrank(cx, number);
        }
    }
    /// Length, credits and R(t) of the VOQ of a flow.
    fn observe_flow(&self, _src: u32, dst: u32, _now: Time, what: SwitchFlowMetric) -> Option<f64> {
        let voq = self.voqs.get(self.voq_for(dst) as usize)?;
        Some(match what {
            SwitchFlowMetric::Queue => voq.queue() as f64,
            SwitchFlowMetric::Credits => voq.credits() as f64,
            SwitchFlowMetric::Rate if voq.stopped => 0.0,
            SwitchFlowMetric::Rate => voq.first_hop.rate().bps() as f64,
        })
    }
    /// `voqs` is the number that the switch must have room for, `voqs_used` the number that had
    /// packets.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let in_scope = |pod: u32| !self.within_pod || pod == self.pod;
        let mut keys: Vec<usize> = (0..self.hosts.len() as u32)
            .filter(|&host| in_scope(self.hosts[host as usize].pod))
            .map(|host| self.key(host))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        vec![
            ("voqs", keys.len() as u64),
            ("voqs_used", self.voqs.len() as u64),
            ("credits_sent", self.credits_sent),
            ("rate_messages", self.rate_messages),
            ("stop_messages", self.stop_messages),
        ]
    }
}

impl OnArrival<Hiercc> for TorSwitch {
    fn on_arrival(
        &mut self,
        cx: &mut FullCx<'_, Hiercc>,
        _in_port: PortId,
        packet: &mut Packet<Hiercc>,
    ) -> Verdict {
        let Some(&Control::Credit(granted)) = packet.ctl() else { return Verdict::Forward };
        let address = &packet.header.address;
        if self.hosts[address.src as usize].rack != self.rack {
            return Verdict::Forward;
        }
        self.credit(cx, address.dst, granted);
        Verdict::Consume
    }
}

impl OnEnqueue<Hiercc> for TorSwitch {
    fn on_enqueue(
        &mut self,
        cx: &mut FullCx<'_, Hiercc>,
        (): &mut (),
        view: &PortView,
        packet: &mut Packet<Hiercc>,
    ) {
        let out = view.port.index();
        if self.takes(PortId::new(packet.header.ingress), packet) {
            return self.join(cx, out, packet);
        }
        if !self.is_downlink(out) {
            return;
        }
        match packet.meta().copied() {
            Some(stamp) if packet.header.kind == PacketKind::Data && stamp.flows > 0 => {
                self.request_credits(cx.now, out, packet, stamp);
            }
            _ => {
                let downlink = self.downlinks[out].as_mut().expect("it is a downlink");
                downlink.carry(cx.now, u64::from(packet.header.size));
            }
        }
    }
}

impl SubQueues<Hiercc> for TorSwitch {
    #[inline]
    fn sub_queue(&self, in_port: PortId, _out: PortId, packet: &Packet<Hiercc>) -> u32 {
        if !self.takes(in_port, packet) {
            return 0;
        }
        let priority = u32::from(packet.header.priority);
        1 + self.voq_for(packet.header.address.dst) * PRIORITIES + priority
    }
    #[inline]
    fn gate(&self, (): &(), sub_queue: u32, head: &Packet<Hiercc>, _now: Time) -> Gate {
        let voq = &self.voqs[((sub_queue - 1) / PRIORITIES) as usize];
        if !voq.may_send(u64::from(head.header.size)) {
            return Gate::Closed;
        }
        // At a downlink, credits decide how much may leave. Packets from other racks have had their
        // own credits.
        let to = &self.hosts[head.header.address.dst as usize];
        if to.rack == self.rack { Gate::OpenFirst } else { Gate::Open }
    }
}

impl CpTimer<Hiercc> for TorSwitch {
    #[inline]
    fn next_timer(&self) -> Time {
        self.next
    }
    fn on_timer(&mut self, cx: &mut FullCx<'_, Hiercc>, _ports: &mut dyn Ports<()>) {
        self.next = Time::NEVER;
        for port in 0..self.downlinks.len() {
            let Some(downlink) = &mut self.downlinks[port] else { continue };
            let grant = (downlink.due() <= cx.now).then(|| downlink.grant(cx.now));
            self.next = self.next.min(downlink.due());
            let Some(Grant { rack, address, granted }) = grant else { continue };
            self.credits_sent += 1;
            if rack == self.rack {
                self.credit(cx, address.dst, granted);
            } else {
                cx.to_host(address, QpEnd::Sender, Control::Credit(granted));
            }
        }
    }
}
