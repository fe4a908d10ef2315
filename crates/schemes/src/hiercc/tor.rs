//! The ToR switch: sends from its VOQs what has credits, steers their senders, and grants credits for
//! its downlinks.

use super::{
    Control, CreditRequest, Downlink, FirstHop, Flows, Grant, Hiercc, HierccParams, Stamp, Voq,
};
use crate::contract::{
    Body, Cp, CpTimer, Flags, FullCx, Gate, HostLocation, OnArrival, OnEnqueue, Packet, PacketKind,
    PortFacts, PortView, Ports, QpEnd, Strict, SubQueues, SwitchFacts, SwitchFlowMetric, Verdict,
};
use units::{Bytes, PortId, Rate, Time};

const NO_VOQ: u32 = u32::MAX;

/// Sub-queue 0 is the ordinary one. A VOQ has one for each priority, all with its credits.
const PRIORITIES: u32 = 8;

/// A ToR switch.
#[derive(Debug)]
pub struct TorSwitch {
    params: HierccParams,
    /// VOQs are for hosts, and not for racks.
    by_host: bool,
    /// They are for the pod alone.
    within_pod: bool,
    /// S counts what joined.
    counts_joined: bool,
    rack: u32,
    pod: u32,
    hosts: Vec<HostLocation>,
    /// By host: which of its VOQ's receivers it is.
    receivers: Vec<u32>,
    /// Hosts of each rack.
    rack_hosts: Vec<u64>,
    round_trip: Time,
    /// A full packet.
    packet: Bytes,
    /// R_line: of the rack's fastest host.
    line: Rate,
    /// By port: the scheduler of a downlink.
    downlinks: Vec<Option<Downlink>>,
    /// By receiving host, or rack: place among `voqs`.
    numbers: Vec<u32>,
    /// Those used so far.
    voqs: Vec<Voq>,
    flows: Flows,
    /// No credit is due before then.
    next: Time,
    credits_sent: u64,
    rate_messages: u64,
    stop_messages: u64,
}

impl TorSwitch {
    /// The ToR of a rack; nothing for other switches.
    pub fn new(params: &HierccParams, facts: &SwitchFacts<'_>) -> Option<TorSwitch> {
        let here = facts.hosts.iter().find(|host| host.tor == facts.node)?;
        let racks = facts.hosts.iter().map(|host| host.rack).max()? as usize + 1;
        let by_host = params.voq == "host";
        let mut rack_hosts = vec![0; racks];
        let mut receivers = Vec::with_capacity(facts.hosts.len());
        for host in facts.hosts {
            let known = &mut rack_hosts[host.rack as usize];
            receivers.push(if by_host { 0 } else { *known as u32 });
            *known += 1;
        }
        // What the round trip of hosts takes on their own cables, ACKs counted as no bytes.
        let cable = facts.ports.iter().find(|port| port.peer_is_host)?;
        let own = (cable.transit + cable.delay) * 2;
        let downlink = |port: &PortFacts| {
            port.peer_is_host.then(|| Downlink::new(port.rate, params.credit, racks))
        };
        let keys = if by_host { facts.hosts.len() } else { racks };
        Some(TorSwitch {
            params: params.with_room_for(facts.packet_bytes),
            by_host,
            within_pod: params.scope == "pod",
            counts_joined: params.sent == "joined",
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

    /// Whether a packet that came through `in_port` goes through a VOQ.
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

    /// Credits find a host's ToR where there is only one.
    fn is_in_scope(&self, src: u32, dst: u32) -> bool {
        let (from, to) = (&self.hosts[src as usize], &self.hosts[dst as usize]);
        let single = from.ports == 1 && to.ports == 1;
        single && (!self.within_pod || to.pod == self.pod)
    }

    /// What a VOQ for `dst` goes by.
    #[inline]
    fn key(&self, dst: u32) -> usize {
        if self.by_host { dst as usize } else { self.hosts[dst as usize].rack as usize }
    }

    #[inline]
    fn voq_for(&self, dst: u32) -> u32 {
        self.numbers[self.key(dst)]
    }

    /// C0 of the VOQ for `dst`. Within the rack the loop has no delay. A rack's VOQ has that of all
    /// its hosts.
    ///
    /// To fill a path it takes what the downlink carries in the round trip, and a packet: S counts
    /// one as soon as it begins to leave, but its credits are spaced over as long as the downlink
    /// takes for it, and the next one leaves only with all of its own.
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

    /// How many receivers the VOQ for `dst` has.
    fn receivers_beside(&self, dst: u32) -> u64 {
        if self.by_host { 1 } else { self.rack_hosts[self.hosts[dst as usize].rack as usize] }
    }

    /// The VOQ for `dst`, made where it is the first packet's.
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

    /// A packet from a host joins its VOQ.
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

    /// A packet leaves its VOQ through `out`.
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
        packet.body = Body::Meta(stamp);
        if self.is_downlink(out) {
            self.request_credits(now, out, packet, stamp);
        }
    }

    /// A VOQ has fewer bytes than before: its senders may go on.
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
            // While they are stopped flows are remembered, however long: they are to go on.
            self.flows.forget(number, cx.now.saturating_sub(self.params.flow_timeout));
        }
    }

    /// A packet that was in a VOQ goes to a host of this rack.
    fn request_credits(&mut self, now: Time, out: usize, packet: &Packet<Hiercc>, stamp: Stamp) {
        let Stamp { flows, rack, sent } = stamp;
        let downlink = self.downlinks[out].as_mut().expect("it is a downlink");
        downlink
            .on_request(now, &CreditRequest { rack, flows, sent, address: packet.header.address });
        self.next = self.next.min(downlink.due());
    }

    /// A credit of the downlink to host `dst`, with its C_sent.
    fn credit(&mut self, cx: &mut FullCx<'_, Hiercc>, dst: u32, granted: u64) {
        let number = self.voq_for(dst);
        let voq = &mut self.voqs[number as usize];
        voq.credit(cx.now, self.receivers[dst as usize] as usize, granted);
        wake(cx, voq);
    }
}

/// Has the ports look again whether packets of a VOQ may leave.
fn wake(cx: &mut FullCx<'_, Hiercc>, voq: &Voq) {
    for port in voq.ports() {
        cx.wake(PortId::new(port as u16));
    }
}

impl Cp<Hiercc> for TorSwitch {
    /// Gates, and credits that open them.
    type Level = Strict;
    type Port = ();
    crate::hooks!(arrivals, enqueues, sub_queues, timer);

    fn port(&self, _params: &HierccParams, _facts: &PortFacts) {}
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
    /// Length, credits and R(t) of the VOQ that a flow shares.
    fn observe_flow(&self, _src: u32, dst: u32, _now: Time, what: SwitchFlowMetric) -> Option<f64> {
        let voq = self.voqs.get(self.voq_for(dst) as usize)?;
        Some(match what {
            SwitchFlowMetric::Queue => voq.queue() as f64,
            SwitchFlowMetric::Credits => voq.credits() as f64,
            SwitchFlowMetric::Rate if voq.stopped => 0.0,
            SwitchFlowMetric::Rate => voq.first_hop.rate().bps() as f64,
        })
    }
    /// `voqs` is what the switches must have room for, `voqs_used` those that had packets.
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
        let Body::Ctl(Control::Credit(granted)) = packet.body else { return Verdict::Forward };
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
        match packet.body {
            Body::Meta(stamp) if packet.header.kind == PacketKind::Data && stamp.flows > 0 => {
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
        // At a downlink credits say how much, and what comes from other racks has had its own.
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
