//! A host with its RDMA NIC: posts messages, sends them as packets, receives and acknowledges.
//!
//! As in a switch, departures are not events: before anything happens at t, each port sends what it
//! would have sent before t.

use crate::common::Common;
use crate::network::ProbeKind;
use crate::nic::Nic;
use crate::packet::{Body, CodePoint, Header, Kind, Packet, Scheme, blank, is_pause};
use crate::probe::FlowProbes;
use crate::probe::PortProbes;
use crate::qp::{NO_FLOW, Part, Receiver, Sender, Slots};
use crate::routing::flow_hash;
use engine::{Handle, Window};
use schemes::contract::{Ack, Address, HostCx, Np, Observable, Rp};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use units::{Bytes, Priority, Time};

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowOutcome {
    /// From posting to the last ACK; [`Time::NEVER`] where it did not finish.
    pub fct: Time,
    /// Payload bytes sent more than once.
    pub retransmitted_bytes: u64,
}

/// What a timer is for. The order decides among timers at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Sender,
    Receiver,
    Timeout,
}

/// Where a receiver is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seat {
    /// Nothing has arrived.
    Empty,
    /// In this slot.
    At(u32),
    /// All of it has arrived: this many bytes.
    Done(u64),
}

/// A host.
pub(crate) struct Host<S: Scheme> {
    common: Arc<Common<S>>,
    /// Index among the hosts.
    index: u32,
    node: u32,
    pub(crate) nics: Vec<Nic>,
    state: S::Host,
    senders: Slots<Sender<S>>,
    receivers: Slots<Receiver<S>>,
    /// Receivers by the number that packets carry.
    seats: Vec<Seat>,
    /// QPs that later messages will use, by number.
    shared_qps: BTreeMap<u32, u32>,
    timers: BinaryHeap<Reverse<(Time, Timer, u32)>>,
    /// Its messages in order of posting, and how many are posted.
    outgoing: Vec<u32>,
    posted: usize,
    pub(crate) outcomes: Vec<FlowOutcome>,
    outbox: Vec<S::Ctl>,
    pub(crate) port_probes: PortProbes,
    pub(crate) flow_probes: FlowProbes,
}

impl<S: Scheme> Host<S> {
    #[expect(clippy::too_many_arguments, reason = "made in one place")]
    pub(crate) fn new(
        common: Arc<Common<S>>,
        index: u32,
        nics: Vec<Nic>,
        state: S::Host,
        seats: u32,
        outgoing: Vec<u32>,
        port_probes: PortProbes,
        flow_probes: FlowProbes,
    ) -> Host<S> {
        let unfinished = FlowOutcome { fct: Time::NEVER, retransmitted_bytes: 0 };
        Host {
            node: common.graph.hosts[index as usize],
            index,
            nics,
            state,
            senders: Slots::new(),
            receivers: Slots::new(),
            seats: vec![Seat::Empty; seats as usize],
            shared_qps: BTreeMap::new(),
            timers: BinaryHeap::new(),
            outcomes: vec![unfinished; outgoing.len()],
            outgoing,
            posted: 0,
            outbox: Vec::new(),
            port_probes,
            flow_probes,
            common,
        }
    }

    pub(crate) fn outgoing(&self) -> &[u32] {
        &self.outgoing
    }

    pub(crate) fn advance(&mut self, window: &mut Window<'_, '_, Packet<S>>) -> Time {
        let until = window.until();
        loop {
            let arrival = window.next_arrival_time();
            let timer = self.next_timer();
            let probe = self.port_probes.next().min(self.flow_probes.next());
            let time = arrival.min(timer).min(probe);
            if time >= until {
                break;
            }
            if time == arrival {
                let (time, port, handle) = window.next_arrival().expect("there is one");
                self.drain(window, time);
                self.on_arrival(window, time, port, handle);
            } else if time == timer {
                self.drain(window, time);
                self.on_timer(window, time);
            } else {
                self.drain(window, time + Time::from_ps(1));
                self.sample(time);
            }
        }
        self.drain(window, until);
        let due = self.nics.iter().map(|nic| nic.due).min().unwrap_or(Time::NEVER);
        let probe = self.port_probes.next().min(self.flow_probes.next());
        due.min(self.next_timer()).min(probe)
    }

    #[inline]
    fn next_timer(&self) -> Time {
        let post = match self.outgoing.get(self.posted) {
            Some(&flow) => self.common.flows[flow as usize].start,
            None => Time::NEVER,
        };
        self.timers.peek().map_or(post, |&Reverse((time, ..))| time.min(post))
    }

    fn on_timer(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time) {
        while let Some(&flow) = self.outgoing.get(self.posted)
            && self.common.flows[flow as usize].start <= now
        {
            self.posted += 1;
            self.post(window, now, flow);
        }
        while let Some(&Reverse((time, timer, slot))) = self.timers.peek()
            && time <= now
        {
            self.timers.pop();
            match timer {
                Timer::Sender => self.on_sender_timer(window, now, time, slot),
                Timer::Receiver => self.on_receiver_timer(window, now, time, slot),
                Timer::Timeout => self.on_timeout(window, now, time, slot),
            }
        }
    }

    // ---- Sending ----

    /// A message is handed to the NIC.
    fn post(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time, flow: u32) {
        let row = self.common.flows[flow as usize];
        let known = self.shared_qps.get(&row.qp).copied();
        let slot = known.unwrap_or_else(|| self.open(now, flow));
        let sender = self.senders.get_mut(slot).expect("a QP with messages is open");
        let part = Part { flow, end: sender.posted + row.size };
        if sender.oldest.flow == NO_FLOW {
            sender.oldest = part;
        }
        if sender.sending.flow == NO_FLOW {
            sender.sending = part;
        }
        sender.posted = part.end;
        sender.newest = flow;
        if sender.in_flight() == 0 {
            sender.last_progress = now;
        }
        self.on_backlog(window, now, slot);
        self.consider(now, slot);
    }

    /// Opens a QP for its first message.
    fn open(&mut self, now: Time, flow: u32) -> u32 {
        let common = &self.common;
        let row = &common.flows[flow as usize];
        let hash = flow_hash(row.src, row.dst, row.qp, common.symmetric, false);
        let candidates = common.routes.candidates(self.node, row.dst);
        let nic = common.routes.ecmp(self.node, candidates, hash);
        let path = common.path_facts(row.src, row.dst, hash);
        let rp = S::Rp::open(&common.params, &mut self.state, &path, now);
        let mut address = Address {
            src: row.src,
            dst: row.dst,
            flow,
            sender_slot: 0,
            receiver_slot: row.receiver_slot,
            hash,
        };
        let (qp, priority, shared) = (row.qp, row.priority, row.next_on_qp != NO_FLOW);
        let slot = self.senders.insert(|slot| {
            address.sender_slot = slot;
            Sender::new(rp, address, priority, nic.get() as u8)
        });
        if shared {
            self.shared_qps.insert(qp, slot);
        }
        slot
    }

    /// Calls a hook of a sender's reaction point and does what it asked for.
    #[inline]
    fn with_rp<R>(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        slot: u32,
        hook: impl FnOnce(&mut Sender<S>, &mut HostCx<'_, S>) -> R,
    ) -> Option<R> {
        let sender = self.senders.get_mut(slot)?;
        let mut cx = HostCx {
            now,
            params: &self.common.params,
            host: &mut self.state,
            outbox: &mut self.outbox,
        };
        let result = hook(sender, &mut cx);
        let timer = sender.rp.next_timer();
        if timer < sender.timer_at {
            debug_assert!(timer >= now, "a timer in the past");
            sender.timer_at = timer;
            self.timers.push(Reverse((timer, Timer::Sender, slot)));
        }
        if !self.outbox.is_empty() {
            let (address, nic) = (sender.address, sender.nic);
            self.send_ctl(window, now, address, nic, false);
        }
        Some(result)
    }

    fn on_backlog(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time, slot: u32) {
        self.with_rp(window, now, slot, |sender, cx| {
            let left = sender.backlog();
            sender.rp.on_backlog(cx, left);
        });
    }

    /// Puts a QP where it belongs: among those that may send, or among those that wait for a time.
    #[inline]
    fn consider(&mut self, now: Time, slot: u32) {
        let Some(sender) = self.senders.get_mut(slot) else { return };
        if sender.listed {
            return;
        }
        let Some(at) = sender.ready_at() else { return };
        let nic = &mut self.nics[sender.nic as usize];
        if at <= now {
            sender.listed = true;
            nic.port.free_at = nic.port.free_at.max(now);
            nic.list(sender.priority, slot);
        } else if at < sender.paced_at {
            sender.paced_at = at;
            nic.pace(at, slot);
        } else {
            return;
        }
        nic.schedule();
    }

    /// Has all ports send what they send before `time`. A departure may ask for a timer that comes
    /// before then; at the same instant the timer goes first.
    #[inline]
    fn drain(&mut self, window: &mut Window<'_, '_, Packet<S>>, time: Time) {
        loop {
            let (mut due, mut nic) = (self.nics[0].due, 0);
            for other in 1..self.nics.len() {
                if self.nics[other].due < due {
                    (due, nic) = (self.nics[other].due, other);
                }
            }
            let timer = self.timers.peek().map_or(Time::NEVER, |&Reverse((timer, ..))| timer);
            if timer < time && timer <= due {
                self.on_timer(window, timer);
            } else if due < time {
                self.depart(window, nic);
            } else {
                return;
            }
        }
    }

    /// Has a port begin to send its next packet.
    #[inline]
    fn depart(&mut self, window: &mut Window<'_, '_, Packet<S>>, number: usize) {
        let now = self.nics[number].due;
        let nic = &mut self.nics[number];
        nic.port.free_at = nic.port.free_at.max(now);
        while let Some((time, slot)) = nic.next_paced(now) {
            let Some(sender) = self.senders.get_mut(slot) else { continue };
            if sender.paced_at != time {
                continue;
            }
            sender.paced_at = Time::NEVER;
            if sender.listed {
                continue;
            }
            match sender.ready_at() {
                Some(at) if at <= now => {
                    sender.listed = true;
                    nic.list(sender.priority, slot);
                }
                Some(at) => {
                    sender.paced_at = at;
                    nic.pace(at, slot);
                }
                None => {}
            }
        }
        let open = nic.port.unshaped((nic.port.waiting | nic.ready_mask) & !nic.port.paused, now);
        if open == 0 {
            return nic.schedule();
        }
        let full = self.common.full_packet;
        let queue = nic.port.pick(window.packets, open, Some(full));
        if nic.port.has(queue) {
            let handle = nic.port.dequeue(window.packets, queue);
            let header = window.packets.get(&handle).header;
            nic.port.count_out(header.priority, header.size);
            nic.port.transmit(window, now, &header, handle);
        } else {
            let slot = nic.take(queue);
            let sender = self.senders.get_mut(slot).expect("a listed QP is there");
            sender.listed = false;
            if !sender.open {
                self.senders.remove(slot);
                return self.nics[number].schedule();
            }
            // A notification may have closed the window since it was listed.
            match sender.ready_at() {
                Some(at) if at <= now => self.send_data(window, now, number, slot),
                Some(_) | None => self.consider(now, slot),
            }
        }
        self.nics[number].schedule();
    }

    /// Sends the next data packet of a QP.
    #[inline]
    fn send_data(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        nic: usize,
        slot: u32,
    ) {
        let common = &*self.common;
        let line_rate = self.nics[nic].port.rate();
        let sender = self.senders.get_mut(slot).expect("it is about to send");
        if sender.next_to_send == sender.sending.end {
            let flow = common.flows[sender.sending.flow as usize].next_on_qp;
            let end = sender.sending.end + common.flows[flow as usize].size;
            sender.sending = Part { flow, end };
        }
        let part = sender.sending;
        let begin = part.end - common.flows[part.flow as usize].size;
        let payload = u64::from(common.payload).min(part.end - sender.next_to_send);
        let first = sender.next_to_send == begin;
        let size = common.data_size(payload as u32, first);
        let mut header = blank(Kind::Data, sender.address, sender.priority, size);
        header.address.flow = part.flow;
        header.sequence = sender.next_to_send;
        header.sent_at = now;
        header.payload = payload as u16;
        header.last = sender.next_to_send + payload == part.end;

        let again = sender.sent_up_to.saturating_sub(sender.next_to_send).min(payload);
        if again > 0 {
            let outcome = common.flows[part.flow as usize].place as usize;
            self.outcomes[outcome].retransmitted_bytes += again;
        }
        let was_idle = sender.in_flight() == 0;
        sender.next_to_send += payload;
        let new = sender.next_to_send > sender.sent_up_to;
        sender.sent_up_to = sender.sent_up_to.max(sender.next_to_send);
        sender.since_ack_request += 1;

        let mut meta = S::Meta::default();
        let allow = self
            .with_rp(window, now, slot, |sender, cx| {
                sender.rp.on_send(cx, &mut header, &mut meta);
                sender.rp.allow()
            })
            .expect("it is open");
        let sender = self.senders.get_mut(slot).expect("it is open");
        let common = &*self.common;
        // With an ACK for several packets, the last one before the sender falls silent must be
        // acknowledged, or it would wait for ever.
        header.ack_requested = header.last
            || u32::from(sender.since_ack_request) >= common.host.ack_every
            || !sender.window_is_open(&allow)
            || !sender.may_send(&allow);
        if header.ack_requested {
            sender.since_ack_request = 0;
            sender.ack_requested_to = sender.next_to_send;
        }
        sender.last_sent_at = now;
        sender.last_size = size;
        sender.next_at = if allow.rate >= line_rate {
            now
        } else {
            now + allow.rate.time_for(Bytes::new(u64::from(size)))
        };
        if was_idle {
            sender.last_progress = now;
        }
        let timeout = common.host.retransmit_timeout;
        if sender.timeout_at == Time::NEVER && timeout != Time::NEVER {
            sender.timeout_at = now + timeout;
            self.timers.push(Reverse((sender.timeout_at, Timer::Timeout, slot)));
        }
        let emptied = new && sender.backlog() == Bytes::ZERO;
        // Its next packet: at once, when its time comes, or when something lets it.
        let may_send = sender.may_send(&allow);
        let at = sender.next_at.max(allow.hold_until);
        let handle = window.packets.insert(Packet { header, body: Body::Meta(meta) });
        let nic = &mut self.nics[nic];
        nic.port.transmit(window, now, &header, handle);
        if may_send {
            if at <= nic.port.free_at {
                sender.listed = true;
                nic.list(sender.priority, slot);
            } else if at < sender.paced_at {
                sender.paced_at = at;
                nic.pace(at, slot);
            }
        }
        if emptied {
            self.on_backlog(window, now, slot);
        }
    }

    fn on_sender_timer(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        time: Time,
        slot: u32,
    ) {
        match self.senders.get_mut(slot) {
            Some(sender) if sender.timer_at == time => sender.timer_at = Time::NEVER,
            _ => return,
        }
        self.with_rp(window, now, slot, |sender, cx| {
            if sender.rp.next_timer() <= now {
                sender.rp.on_timer(cx);
                debug_assert!(sender.rp.next_timer() > now, "a timer must move on");
            }
        });
        self.repace(slot);
        self.consider(now, slot);
    }

    fn on_timeout(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        time: Time,
        slot: u32,
    ) {
        let Some(sender) = self.senders.get_mut(slot) else { return };
        if sender.timeout_at != time {
            return;
        }
        sender.timeout_at = Time::NEVER;
        if sender.in_flight() == 0 {
            return;
        }
        let timeout = self.common.host.retransmit_timeout;
        let expires = sender.last_progress + timeout;
        if expires > now {
            sender.timeout_at = expires;
            self.timers.push(Reverse((expires, Timer::Timeout, slot)));
            return;
        }
        self.go_back(slot);
        self.with_rp(window, now, slot, |sender, cx| sender.rp.on_retransmission_timeout(cx));
        self.repace(slot);
        self.consider(now, slot);
    }

    /// Sends again from the first byte that is not acknowledged.
    fn go_back(&mut self, slot: u32) {
        let sender = self.senders.get_mut(slot).expect("it is open");
        sender.next_to_send = sender.acknowledged;
        sender.sending = sender.oldest;
        sender.since_ack_request = 0;
        sender.ack_requested_to = sender.acknowledged;
    }

    /// Moves the time of the next packet with the rate, for reaction points that want it.
    #[inline]
    fn repace(&mut self, slot: u32) {
        if !<S::Rp as Rp<S>>::REPACE {
            return;
        }
        let Some(sender) = self.senders.get_mut(slot) else { return };
        let rate = sender.rp.allow().rate;
        let line_rate = self.nics[sender.nic as usize].port.rate();
        sender.next_at = if rate >= line_rate {
            sender.last_sent_at
        } else {
            sender.last_sent_at + rate.time_for(Bytes::new(u64::from(sender.last_size)))
        };
    }

    // ---- Receiving ----

    #[inline]
    fn on_arrival(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        port: u16,
        handle: Handle,
    ) {
        match window.packets.get(&handle).header.kind {
            Kind::Data => self.on_data(window, now, port, handle),
            Kind::Ack | Kind::Nack => {
                self.on_ack(window, now, handle);
            }
            Kind::Pfc => {
                let header = window.packets.remove(handle).header;
                let nic = &mut self.nics[port as usize];
                nic.port.set_paused(header.priority, is_pause(&header), now);
                nic.port.free_at = nic.port.free_at.max(now);
                nic.schedule();
            }
            Kind::Ctl => {
                let packet = window.packets.remove(handle);
                let Body::Ctl(ctl) = packet.body else { unreachable!("control carries control") };
                self.on_ctl(window, now, &packet.header, &ctl);
            }
            // For a switch that is not there.
            Kind::LinkCtl => window.packets.discard(handle),
        }
    }

    /// Data arrived: it becomes its own ACK.
    #[inline]
    fn on_data(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        port: u16,
        mut handle: Handle,
    ) {
        let packet = window.packets.get_mut(&mut handle);
        let header = packet.header;
        debug_assert_eq!(header.address.dst, self.index, "a packet went astray");
        let payload = u64::from(header.payload);
        let slot = match self.seats[header.address.receiver_slot as usize] {
            Seat::At(slot) => slot,
            Seat::Empty => self.sit(now, &header),
            Seat::Done(all) => {
                // A duplicate of a message that has arrived: the ACK was lost.
                let hash = self.common.hash_back(&header.address);
                packet.header = self.answer(&header, Kind::Ack, all, hash);
                return self.send_answer(window, now, handle);
            }
        };
        let receiver = self.receivers.get_mut(slot).expect("its seat is taken");
        if header.sequence != receiver.expected {
            let expected = receiver.expected;
            let ahead = header.sequence > expected;
            if ahead && (receiver.nacked || !self.common.host.nack) {
                window.packets.discard(handle);
                return;
            }
            receiver.nacked = ahead;
            let kind = if ahead { Kind::Nack } else { Kind::Ack };
            let hash = receiver.hash_back;
            packet.header = self.answer(&header, kind, expected, hash);
            return self.send_answer(window, now, handle);
        }
        receiver.nacked = false;
        receiver.expected += payload;
        receiver.since_ack += 1;
        let (expected, hash) = (receiver.expected, receiver.hash_back);
        let Body::Meta(meta) = &mut packet.body else { unreachable!("data carries meta") };
        let mut cx = HostCx {
            now,
            params: &self.common.params,
            host: &mut self.state,
            outbox: &mut self.outbox,
        };
        receiver.np.on_data(&mut cx, &header, meta);
        let acknowledge =
            header.ack_requested || u32::from(receiver.since_ack) >= self.common.host.ack_every;
        if acknowledge {
            receiver.since_ack = 0;
        }
        let mut over = false;
        if header.last {
            receiver.np.on_message_end(&mut cx);
            over = self.common.flows[header.address.flow as usize].next_on_qp == NO_FLOW;
            receiver.over = over;
        }
        let timer = receiver.np.next_timer();
        if timer < receiver.timer_at {
            receiver.timer_at = timer;
            self.timers.push(Reverse((timer, Timer::Receiver, slot)));
        }
        if !self.flow_probes.is_empty() {
            let delay = now.saturating_sub(header.sent_at);
            self.flow_probes.received(header.address.flow, delay, header.payload);
        }
        if !self.outbox.is_empty() {
            self.send_ctl(window, now, header.address, port as u8, true);
        }
        if acknowledge {
            let packet = window.packets.get_mut(&mut handle);
            packet.header = self.answer(&header, Kind::Ack, expected, hash);
            self.send_answer(window, now, handle);
        } else {
            window.packets.discard(handle);
        }
        // A notification point that still waits for something keeps its seat until then.
        if over && timer == Time::NEVER {
            self.leave(slot);
        }
    }

    /// All that a QP has to receive has arrived.
    fn leave(&mut self, slot: u32) {
        let receiver = self.receivers.get(slot).expect("it has a seat");
        let seat = receiver.address.receiver_slot as usize;
        self.seats[seat] = Seat::Done(receiver.expected);
        self.receivers.remove(slot);
    }

    /// The first packet of a QP.
    fn sit(&mut self, now: Time, header: &Header) -> u32 {
        let np = S::Np::open(&self.common.params, &mut self.state, now);
        let hash_back = self.common.hash_back(&header.address);
        let slot = self.receivers.insert(|_| Receiver {
            np,
            hash_back,
            expected: 0,
            nacked: false,
            since_ack: 0,
            over: false,
            address: header.address,
            timer_at: Time::NEVER,
        });
        self.seats[header.address.receiver_slot as usize] = Seat::At(slot);
        slot
    }

    /// The header of the ACK or NACK that answers a data packet.
    #[inline]
    fn answer(&self, data: &Header, kind: Kind, expected: u64, hash: u32) -> Header {
        let common = &self.common;
        let mut header = blank(kind, data.address, common.classes.ack, common.ack_size);
        header.address.hash = hash;
        header.sequence = expected;
        header.sent_at = data.sent_at;
        header.echo = data.code_point;
        header.code_point = CodePoint::Capable;
        header.to_source = true;
        header.mark = data.mark;
        header
    }

    #[inline]
    fn send_answer(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time, handle: Handle) {
        let number = if self.nics.len() == 1 {
            0
        } else {
            let address = window.packets.get(&handle).header.address;
            let candidates = self.common.routes.candidates(self.node, address.src);
            self.common.routes.ecmp(self.node, candidates, address.hash).index()
        };
        self.send_from(window, now, number, handle);
    }

    /// Queues a control packet at a port.
    #[inline]
    fn send_from(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        number: usize,
        handle: Handle,
    ) {
        let header = &window.packets.get(&handle).header;
        let (priority, size) = (header.priority, header.size);
        let nic = &mut self.nics[number];
        nic.port.enqueue(window.packets, priority, size, handle);
        nic.port.free_at = nic.port.free_at.max(now);
        nic.schedule();
    }

    /// Sends what a hook put into the outbox to the QP's other end.
    #[cold]
    fn send_ctl(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        mut address: Address,
        nic: u8,
        to_source: bool,
    ) {
        if to_source {
            address.hash = self.common.hash_back(&address);
        }
        let mut outbox = std::mem::take(&mut self.outbox);
        for ctl in outbox.drain(..) {
            let common = &*self.common;
            let priority = S::ctl_priority(&common.params, &ctl);
            let priority = priority.map_or(common.classes.control, Priority::get);
            let size = common.wire.control_bytes(S::ctl_bytes(&ctl)) as u16;
            let mut header = blank(Kind::Ctl, address, priority, size);
            header.to_source = to_source;
            header.sent_at = now;
            let handle = window.packets.insert(Packet { header, body: Body::Ctl(ctl) });
            self.send_from(window, now, usize::from(nic), handle);
        }
        self.outbox = outbox;
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window<'_, '_, Packet<S>>, now: Time, handle: Handle) {
        let packet = window.packets.get(&handle);
        let header = packet.header;
        let slot = header.address.sender_slot;
        // The slot may be free, or serve another QP by now.
        let Some(sender) = self.senders.get_mut(slot).filter(|sender| {
            sender.address.receiver_slot == header.address.receiver_slot
                && sender.address.dst == header.address.dst
        }) else {
            return window.packets.discard(handle);
        };
        let Body::Meta(meta) = &packet.body else { unreachable!("ACKs carry meta") };
        let nack = header.kind == Kind::Nack;
        let newly_acked = header.sequence.saturating_sub(sender.acknowledged);
        if newly_acked > 0 {
            sender.acknowledged = header.sequence;
            sender.next_to_send = sender.next_to_send.max(header.sequence);
            sender.last_progress = now;
        }
        self.with_rp(window, now, slot, |sender, cx| {
            let ack = Ack {
                next_expected: header.sequence,
                newly_acked: Bytes::new(newly_acked),
                next_to_send: sender.next_to_send,
                nack,
                echo: header.echo,
                mark: header.mark,
                rtt: now - header.sent_at,
                meta,
            };
            sender.rp.on_ack(cx, &ack);
        });
        window.packets.discard(handle);
        let sender = self.senders.get_mut(slot).expect("it is open");
        while sender.oldest.flow != NO_FLOW && sender.oldest.end <= sender.acknowledged {
            let done = sender.oldest.flow;
            let row = &self.common.flows[done as usize];
            self.outcomes[row.place as usize].fct = now - row.start;
            window.finish(1);
            let next = if done == sender.newest { NO_FLOW } else { row.next_on_qp };
            if sender.sending.flow == done {
                // The next message, if it is posted, begins here.
                sender.sending = match next {
                    NO_FLOW => Part { flow: NO_FLOW, end: sender.oldest.end },
                    next => Part {
                        flow: next,
                        end: sender.oldest.end + self.common.flows[next as usize].size,
                    },
                };
            }
            if next == NO_FLOW {
                sender.oldest = Part { flow: NO_FLOW, end: sender.oldest.end };
                if row.next_on_qp == NO_FLOW {
                    self.close(slot);
                    return;
                }
            } else {
                let end = sender.oldest.end + self.common.flows[next as usize].size;
                sender.oldest = Part { flow: next, end };
            }
        }
        if nack && header.sequence >= sender.acknowledged {
            self.go_back(slot);
        }
        self.repace(slot);
        self.consider(now, slot);
    }

    /// The last message of a QP is acknowledged.
    fn close(&mut self, slot: u32) {
        let sender = self.senders.get_mut(slot).expect("it is open");
        let qp = self.common.flows[sender.newest as usize].qp;
        self.shared_qps.remove(&qp);
        // A QP that went back is listed until its turn comes, also if an ACK overtook it.
        sender.open = false;
        if !sender.listed {
            self.senders.remove(slot);
        }
    }

    fn on_ctl(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        header: &Header,
        ctl: &S::Ctl,
    ) {
        if header.to_source {
            let slot = header.address.sender_slot;
            let known = self.senders.get(slot).is_some_and(|sender| {
                sender.address.receiver_slot == header.address.receiver_slot
                    && sender.address.dst == header.address.dst
            });
            if known {
                self.with_rp(window, now, slot, |sender, cx| sender.rp.on_ctl(cx, ctl));
                self.repace(slot);
                self.consider(now, slot);
            }
            return;
        }
        let slot = match self.seats[header.address.receiver_slot as usize] {
            Seat::At(slot) => slot,
            Seat::Empty => self.sit(now, header),
            Seat::Done(_) => return,
        };
        self.with_np(window, now, slot, |np, cx| np.on_ctl(cx, ctl));
    }

    /// Calls a hook of a receiver's notification point and does what it asked for.
    fn with_np(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        slot: u32,
        hook: impl FnOnce(&mut S::Np, &mut HostCx<'_, S>),
    ) {
        let Some(receiver) = self.receivers.get_mut(slot) else { return };
        let mut cx = HostCx {
            now,
            params: &self.common.params,
            host: &mut self.state,
            outbox: &mut self.outbox,
        };
        hook(&mut receiver.np, &mut cx);
        let timer = receiver.np.next_timer();
        if timer < receiver.timer_at {
            receiver.timer_at = timer;
            self.timers.push(Reverse((timer, Timer::Receiver, slot)));
        }
        let (address, over) = (receiver.address, receiver.over);
        if !self.outbox.is_empty() {
            let candidates = self.common.routes.candidates(self.node, address.src);
            let hash = self.common.hash_back(&address);
            let nic = self.common.routes.ecmp(self.node, candidates, hash);
            self.send_ctl(window, now, address, nic.get() as u8, true);
        }
        if over && timer == Time::NEVER {
            self.leave(slot);
        }
    }

    fn on_receiver_timer(
        &mut self,
        window: &mut Window<'_, '_, Packet<S>>,
        now: Time,
        time: Time,
        slot: u32,
    ) {
        match self.receivers.get_mut(slot) {
            Some(receiver) if receiver.timer_at == time => receiver.timer_at = Time::NEVER,
            _ => return,
        }
        self.with_np(window, now, slot, |np, cx| {
            if np.next_timer() <= now {
                np.on_timer(cx);
                debug_assert!(np.next_timer() > now, "a timer must move on");
            }
        });
    }

    fn sample(&mut self, now: Time) {
        if self.port_probes.next() == now {
            let nics = &self.nics;
            self.port_probes.sample(now, |port| &nics[port].port, |_| None);
        }
        if self.flow_probes.next() == now {
            let senders = &self.senders;
            self.flow_probes.sample(now, |flow, kind| {
                let what = match kind {
                    ProbeKind::Rate => Observable::Rate,
                    ProbeKind::Window => Observable::Window,
                    _ => Observable::Alpha,
                };
                let (_, sender) = senders.iter().find(|(_, sender)| sender.oldest.flow == flow)?;
                sender.rp.observe(now, what)
            });
        }
    }
}
