//! The receiving half of a host: delivers data, acknowledges it, and calls the notification point.

use super::timers::Timers;
use super::{Host, ReceiverSlot};
use crate::context::RunContext;
use crate::hooks::NpTimerOf;
use crate::host::qp::{Receiver, grown};
use crate::host::reorder_buffer::{Fate, KeptPacket, ReorderBuffer};
use crate::network::flow::{FlowInfo, NO_FLOW};
use crate::packet::{
    Address, EcnCodePoint, Flags, Header, NO_INGRESS, Packet, PacketKind, Scheme, Win,
};
use engine::Handle;
use schemes::contract::{HostCx, Np, NpTimerSlot};
use units::Time;

/// What follows from data that was delivered in order.
struct Delivered {
    /// The mark that the ACK echoes; `None` if there is none for this packet.
    echo: Option<EcnCodePoint>,
    /// The next byte of the stream.
    expected: u64,
    /// Hash of the ACK.
    hash_back: u32,
    /// The QP has received everything, and its receiving end can go.
    over: bool,
}

/// Gives data that is in order to the notification point.
#[inline(always)]
fn deliver<S: Scheme>(
    receiver: &mut Receiver<S>,
    cx: &mut HostCx<'_, S>,
    header: &Header,
    meta: &mut S::Meta,
) {
    receiver.next_nack = Time::ZERO;
    receiver.expected += u64::from(header.payload);
    receiver.since_ack += 1;
    receiver.np.on_packet(cx, header, meta);
    receiver.np.on_kept_data(cx, header, meta);
}

/// The mark that an answer to this packet echoes: the most severe one of all packets that it
/// acknowledges.
#[inline(always)]
fn take_mark<S: Scheme>(receiver: &mut Receiver<S>, header: &Header) -> EcnCodePoint {
    let mark = receiver.mark.max(header.code_point);
    (receiver.since_ack, receiver.mark) = (0, EcnCodePoint::NotMarked);
    mark
}

/// Decides whether data that was delivered in order is acknowledged. `fills_gap`: others that came
/// before it are in order now. An ACK for these would otherwise never be sent.
#[inline(always)]
fn acknowledge<S: Scheme>(
    receiver: &mut Receiver<S>,
    header: &Header,
    fills_gap: bool,
    ack_every: u32,
) -> Option<EcnCodePoint> {
    if fills_gap
        || header.flags.contains(Flags::ACK_REQUESTED)
        || u32::from(receiver.since_ack) >= ack_every
    {
        return Some(take_mark(receiver, header));
    }
    receiver.mark = receiver.mark.max(header.code_point);
    None
}

/// The last byte of a message has arrived, with all before it.
#[inline(always)]
fn end_message<S: Scheme>(
    receiver: &mut Receiver<S>,
    cx: &mut HostCx<'_, S>,
    common: &RunContext<S>,
    waiting: &mut Waiting<'_>,
    flow: u32,
) {
    let row = &common.flows[flow as usize];
    receiver.over = row.next_on_qp == NO_FLOW;
    receiver.np.on_message_end(cx, receiver.over);
    if row.joins.0 != row.joins.1 {
        waiting.post_after(common, row, cx.now);
    }
}

/// The messages of a host that wait for others.
struct Waiting<'h> {
    missing: &'h mut [u32],
    timers: &'h mut Timers,
}

impl Waiting<'_> {
    /// Posts those that waited for the message of `row` last.
    #[inline(never)]
    fn post_after<S: Scheme>(&mut self, common: &RunContext<S>, row: &FlowInfo, now: Time) {
        common.joins.arrived(row, now, self.missing, |time, flow| {
            self.timers.post(time.max(common.flows[flow as usize].start), flow);
        });
    }
}

impl<S: Scheme> Host<S> {
    /// Handles a data packet. If it is acknowledged, the packet becomes its own ACK.
    #[inline]
    pub(super) fn on_data(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: u16,
        mut handle: Handle,
    ) {
        let packet = window.packets.get_mut(&mut handle);
        let header = &packet.header;
        debug_assert_eq!(header.address.dst, self.index, "a packet went astray");
        let slot = match self.receiver_slots[header.address.receiver_slot as usize] {
            ReceiverSlot::Open(slot) => slot,
            ReceiverSlot::Unopened => self.open_receiver(now, header),
            ReceiverSlot::Finished(all) => {
                return self.on_finished_data(window, now, handle, all);
            }
        };
        let (header, meta) = packet.split_mut();
        let (header, meta) = (&*header, meta.expect("data carries meta"));
        let receiver = self.receivers.get_mut(slot).expect("its slot is open");
        let keeps = self.common.recovery.keeps_out_of_order;
        if header.sequence != receiver.expected {
            if keeps {
                return self.on_kept_or_late(window, now, port, slot, handle);
            }
            return self.on_out_of_order(window, now, port, slot, handle);
        }
        let mut cx = HostCx {
            now,
            params: &self.common.params,
            host: &mut self.state,
            outbox: &mut self.outbox,
        };
        deliver(receiver, &mut cx, header, meta);
        let mut waiting = Waiting { missing: &mut self.missing, timers: &mut self.timers };
        if header.flags.contains(Flags::LAST) {
            end_message(receiver, &mut cx, &self.common, &mut waiting, header.address.flow);
        }
        let mut fills_gap = false;
        if keeps {
            self.reorder_buffers[slot as usize].advance(|packet| {
                fills_gap = true;
                receiver.expected += u64::from(packet.payload);
                if let Some(flow) = packet.ends {
                    end_message(receiver, &mut cx, &self.common, &mut waiting, flow);
                }
            });
        }
        let timer = NpTimerOf::<S>::next_timer(&receiver.np);
        let delivered = Delivered {
            echo: acknowledge(receiver, header, fills_gap, self.common.host.ack_every),
            expected: receiver.expected,
            hash_back: receiver.hash_back,
            // A notification point that still waits for a timer stays open until then.
            over: receiver.over && timer == Time::NEVER,
        };
        self.timers.wake_receiver(slot, timer);
        self.finish_data(window, now, port, slot, handle, delivered);
    }

    /// Data of a QP arrived that has received everything, `all` bytes: its ACK was lost or late.
    #[cold]
    fn on_finished_data(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        mut handle: Handle,
        all: u64,
    ) {
        let header = &mut window.packets.get_mut(&mut handle).header;
        self.count_disorder(header.address.flow, Fate::Duplicate, 0, header.payload, 0);
        if !self.common.compat.answers_duplicates() {
            return window.packets.discard(handle);
        }
        let hash = self.common.hash_back(&header.address);
        self.answer(header, PacketKind::Ack, all, hash);
        self.send_answer(window, now, handle);
    }

    /// Data arrived before its turn, or a second time, at a receiver that keeps data that is out of
    /// order. Answers with an ACK if it is kept or was known, with a NACK if it is too far ahead
    /// for a sender that goes back, and else not at all.
    fn on_kept_or_late(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: u16,
        slot: u32,
        mut handle: Handle,
    ) {
        let (header, meta) = window.packets.get_mut(&mut handle).split_mut();
        let meta = meta.expect("data carries meta");
        let common = &self.common;
        let (recovery, host) = (&common.recovery, &common.host);
        let receiver = self.receivers.get_mut(slot).expect("its slot is open");
        let (expected, hash) = (receiver.expected, receiver.hash_back);
        let flow = header.address.flow;
        let ends = header.flags.contains(Flags::LAST).then_some(flow);
        let buffer = &mut self.reorder_buffers[slot as usize];
        let number = recovery.number_of(header);
        let fate =
            buffer.keep(number, KeptPacket { payload: header.payload, ends }, recovery.reorder);
        let (distance, kept) = (buffer.distance(number), buffer.bytes());
        let answer = match fate {
            Fate::Kept => Some(PacketKind::Ack),
            Fate::Duplicate => common.compat.answers_duplicates().then_some(PacketKind::Ack),
            Fate::Beyond => {
                let asks = !recovery.is_selective && host.nack && now >= receiver.next_nack;
                asks.then_some(PacketKind::Nack)
            }
        };
        if answer == Some(PacketKind::Nack) {
            receiver.next_nack = now.saturating_add(host.nack_interval);
        }
        let payload = header.payload;
        if recovery.reordering_is_congestion && fate != Fate::Duplicate {
            header.code_point = EcnCodePoint::CongestionExperienced;
        }
        let mark = answer.map(|_| take_mark(receiver, header));
        self.count_disorder(flow, fate, distance, payload, kept);
        // This may finish the receiver, if it was kept open for a timer alone.
        self.with_np(window, now, slot, port, |np, cx| {
            np.on_packet(cx, header, meta);
            if fate == Fate::Kept {
                np.on_kept_data(cx, header, meta);
            }
        });
        if fate == Fate::Kept && !self.flow_probes.is_empty() {
            let delay = now.saturating_sub(header.sent_at);
            self.flow_probes.received(flow, delay, header.payload);
        }
        match answer.zip(mark) {
            Some((kind, mark)) => {
                header.code_point = mark;
                self.answer(header, kind, expected, hash);
                self.send_answer(window, now, handle);
            }
            None => window.packets.discard(handle),
        }
    }

    /// Data arrived before its turn, or a second time, at a receiver that discards such data:
    /// answers with a NACK, an ACK or nothing.
    fn on_out_of_order(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: u16,
        slot: u32,
        mut handle: Handle,
    ) {
        let (header, meta) = window.packets.get_mut(&mut handle).split_mut();
        let meta = meta.expect("data carries meta");
        let receiver = self.receivers.get_mut(slot).expect("its slot is open");
        let (expected, hash) = (receiver.expected, receiver.hash_back);
        let ahead = header.sequence > expected;
        let distance = header.sequence.saturating_sub(expected);
        let packets = distance.div_ceil(u64::from(self.common.wire.payload)) as u32;
        let is_answered = if ahead {
            now >= receiver.next_nack && self.common.host.nack
        } else {
            self.common.compat.answers_duplicates()
        };
        if is_answered {
            let interval = self.common.host.nack_interval;
            receiver.next_nack = if ahead { now.saturating_add(interval) } else { Time::ZERO };
        }
        if ahead && is_answered && self.common.recovery.reordering_is_congestion {
            header.code_point = EcnCodePoint::CongestionExperienced;
        }
        let mark = is_answered.then(|| take_mark(receiver, header));
        let fate = if ahead { Fate::Beyond } else { Fate::Duplicate };
        self.count_disorder(header.address.flow, fate, packets, header.payload, 0);
        // This may finish the receiver, if it was kept open for a timer alone.
        self.with_np(window, now, slot, port, |np, cx| np.on_packet(cx, header, meta));
        let Some(mark) = mark else { return window.packets.discard(handle) };
        header.code_point = mark;
        let kind = if ahead { PacketKind::Nack } else { PacketKind::Ack };
        self.answer(header, kind, expected, hash);
        self.send_answer(window, now, handle);
    }

    /// Ends the handling of data that was delivered in order: probes, the scheme's control packets,
    /// the ACK.
    #[inline(always)]
    fn finish_data(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        port: u16,
        slot: u32,
        mut handle: Handle,
        delivered: Delivered,
    ) {
        let header = &window.packets.get(&handle).header;
        if !self.flow_probes.is_empty() {
            let delay = now.saturating_sub(header.sent_at);
            self.flow_probes.received(header.address.flow, delay, header.payload);
        }
        if !self.outbox.is_empty() {
            let address = header.address;
            let ends = (address.dst, address.src);
            let nic = self.port_back(ends, delivered.hash_back, port);
            self.send_ctl(window, now, address, nic, true);
        }
        if let Some(mark) = delivered.echo {
            let header = &mut window.packets.get_mut(&mut handle).header;
            header.code_point = mark;
            self.answer(header, PacketKind::Ack, delivered.expected, delivered.hash_back);
            self.send_answer(window, now, handle);
        } else {
            window.packets.discard(handle);
        }
        if delivered.over {
            self.finish_receiver(slot);
        }
    }

    /// Ends the receiving end of a QP that has received everything.
    pub(super) fn finish_receiver(&mut self, slot: u32) {
        let receiver = self.receivers.get(slot).expect("it has a number");
        let number = self.common.flows[receiver.flow as usize].receiver_slot;
        self.receiver_slots[number as usize] = ReceiverSlot::Finished(receiver.expected);
        self.uncouple(receiver.flow);
        self.receivers.remove(slot);
    }

    /// Opens the receiving end of a QP for its first packet. Returns its slot.
    pub(super) fn open_receiver(&mut self, now: Time, header: &Header) -> u32 {
        let np = S::Np::open(&self.common.params, &mut self.state, now);
        let hash_back = self.common.hash_back(&header.address);
        let slot = self.receivers.insert(Receiver {
            np,
            flow: header.address.flow,
            sender_slot: header.address.sender_slot,
            hash_back,
            expected: 0,
            next_nack: Time::ZERO,
            since_ack: 0,
            mark: EcnCodePoint::NotMarked,
            over: false,
        });
        self.receiver_slots[header.address.receiver_slot as usize] = ReceiverSlot::Open(slot);
        if self.common.recovery.keeps_out_of_order {
            grown(&mut self.reorder_buffers, slot, ReorderBuffer::default).reset();
        }
        self.couple(header.address.flow);
        slot
    }

    /// Turns a data packet's header into that of the ACK or NACK that answers it.
    #[inline]
    fn answer(&self, header: &mut Header, kind: PacketKind, expected: u64, hash: u32) {
        let common = &self.common;
        header.kind = kind;
        header.priority = common.classes.config.ack.unwrap_or(header.priority);
        header.size = common.wire.ack_size_of(common.side(header.address.flow));
        header.payload = match common.recovery.keeps_out_of_order {
            true => common.recovery.number_of(header) as u16,
            false => 0,
        };
        header.address.hash = hash;
        header.sequence = expected;
        header.echo = header.code_point;
        header.code_point = EcnCodePoint::NotMarked;
        header.flags = header.flags & (Flags::MARK | Flags::NEIGHBOURLY) | Flags::TO_SOURCE;
    }

    /// Answers a control packet of a QP that has received everything: its last ACK was lost.
    #[cold]
    pub(super) fn acknowledge_all(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        mut header: Header,
        all: u64,
    ) {
        let flow = header.address.flow;
        // The priority of an ACK depends on that of the QP's data.
        header.priority = self.common.flows[flow as usize].priority;
        let hash = self.common.hash_back(&header.address);
        self.answer(&mut header, PacketKind::Ack, all, hash);
        let packet = Packet::with_meta(header, S::blank_meta(self.common.side(flow)));
        let handle = window.packets.insert(packet);
        self.send_answer(window, now, handle);
    }

    /// Calls a hook of a receiver's notification point. Then updates its timer, sends its packets,
    /// and ends the receiver if it waits for nothing else. `ingress`: the port of the packet that
    /// arrived, or [`NO_INGRESS`].
    pub(super) fn with_np(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        slot: u32,
        ingress: u16,
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
        let timer = NpTimerOf::<S>::next_timer(&receiver.np);
        self.timers.wake_receiver(slot, timer);
        let over = receiver.over;
        if !self.outbox.is_empty() {
            let row = &self.common.flows[receiver.flow as usize];
            let hash = receiver.hash_back;
            let address = Address {
                src: row.src,
                dst: row.dst,
                flow: receiver.flow,
                sender_slot: receiver.sender_slot,
                receiver_slot: row.receiver_slot,
                hash: self.common.data_hash(row),
            };
            let nic = self.port_back((address.dst, address.src), hash, ingress);
            self.send_ctl(window, now, address, nic, true);
        }
        if over && timer == Time::NEVER {
            self.finish_receiver(slot);
        }
    }

    /// Handles the timer of a notification point.
    pub(super) fn on_receiver_timer(&mut self, window: &mut Win<'_, '_, S>, now: Time, slot: u32) {
        self.with_np(window, now, slot, NO_INGRESS, |np, cx| {
            NpTimerOf::<S>::on_timer(np, cx);
            debug_assert!(NpTimerOf::<S>::next_timer(np) > now, "a timer must move on");
        });
    }
}
