//! Sends a data packet of a QP: builds it, accounts for it, and paces the next one.

use super::Host;
use super::port_turns::wire_rate;
use super::sending::wake;
use super::tracked_send;
use crate::compat::event_order::set_ns3_lead;
use crate::context::RunContext;
use crate::host::nic::Nic;
use crate::host::qp::{ColdSenderState, Sender, StreamMessage};
use crate::observe::recorder::PacketEventKind;
use crate::packet::{Flags, Header, Scheme, Win};
use schemes::contract::{HostCx, Rp, SendLimits};
use units::Time;

impl<S: Scheme> Host<S> {
    /// Sends the next data packet of the QP in `slot` through port `number`.
    #[inline]
    pub(super) fn send_data(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        number: usize,
        slot: u32,
    ) {
        let (is_coupled, takes_turns) = (self.is_coupled(), self.takes_turns());
        let wire_rate = wire_rate(&self.nics, number, takes_turns);
        let common = &*self.common;
        let nic = &mut self.nics[number];
        let sender = self.senders.get_mut(slot).expect("it is about to send");
        // A copy of a packet in memory: assembling one here and moving it takes longer.
        let mut handle = window.packets.insert_copy(&common.blank);
        let (header, meta) = window.packets.get_mut(&mut handle).split_mut();
        let meta = meta.expect("it is for data");
        header.address = sender.address(self.index, slot);
        let was_idle = sender.in_flight() == 0;
        let (message, Sent { resent, is_new, by_timeout }) = if common.tracks_packets {
            let (cold, spray) = (&mut self.cold, &mut self.spray);
            tracked_send::fill(common, cold, spray, (sender, slot), now, header)
        } else {
            let message = current_message(common, &mut self.cold, sender, slot);
            build(common, sender, message, now, header);
            let sent_up_to = self.cold.sent_up_to(sender, slot);
            (message, account(sender, u64::from(header.payload), sent_up_to))
        };
        let stays_in_rack = is_coupled && common.is_same_rack(&common.flows[message.flow as usize]);
        if stays_in_rack {
            header.flags.insert(Flags::NEIGHBOURLY);
        }
        let (size, is_last) = (header.size, header.flags.contains(Flags::LAST));
        if resent > 0 {
            let row = &common.flows[message.flow as usize];
            self.outcomes[row.index_at_sender as usize].retransmitted_bytes += resent;
            let went_back = !common.recovery.keeps_out_of_order;
            if by_timeout || went_back && self.cold.went_back_by_timeout(slot) {
                self.timeouts.entry(message.flow).or_default().bytes += resent;
            }
        }

        let mut cx =
            HostCx { now, params: &common.params, host: &mut self.state, outbox: &mut self.outbox };
        sender.rp.on_send(&mut cx, header, meta);
        if let Some(scan) = &nic.scan {
            set_ns3_lead(header, scan.lead);
        }
        let limits = sender.rp.limits();
        wake(&mut self.timers, sender, now, slot);
        let ack_requested = asks_for_ack(common, sender, &limits, is_last);
        header.flags.set(Flags::ACK_REQUESTED, ack_requested);
        sender.last_sent_at = now;
        sender.last_size = size;
        sender.pace(limits.rate, wire_rate, common.clock);
        if was_idle {
            sender.last_progress = now;
        }
        self.timers.arm_retransmission(now.saturating_add(common.recovery.shortest_timeout()));
        let has_sent_all = is_new && sender.next_to_send == sender.posted;
        if let Some(recorder) = &mut self.recorder {
            recorder.packet(now, number as u16, PacketEventKind::Dequeued, 0, header);
        }
        let wire = header.kind_priority_size();
        nic.port.transmit(window, now, wire, handle);
        if takes_turns {
            self.take_turn(now, slot);
        } else {
            schedule_next(sender, nic, &limits, slot);
        }
        if stays_in_rack {
            self.couple_packet(message.flow);
        }
        self.send_outbox(window, now, slot);
        if has_sent_all {
            self.on_backlog(window, now, slot);
        }
    }
}

/// The message that a QP sends from next. Moves on to the following one if all bytes of the last
/// one are sent.
#[inline(always)]
pub(super) fn current_message<S: Scheme>(
    common: &RunContext<S>,
    cold: &mut ColdSenderState,
    sender: &mut Sender<S>,
    slot: u32,
) -> StreamMessage {
    let message = cold.messages(sender, slot).sending;
    if sender.next_to_send != message.end {
        return message;
    }
    let flow = common.flows[message.flow as usize].next_on_qp;
    let next = StreamMessage::from(message.end, flow, common.flows[flow as usize].size);
    cold.messages_mut(slot).sending = next;
    sender.at_start = true;
    next
}

/// Fills the header of the next data packet. Its address is that of the QP.
#[inline(always)]
pub(super) fn build<S: Scheme>(
    common: &RunContext<S>,
    sender: &mut Sender<S>,
    message: StreamMessage,
    now: Time,
    header: &mut Header,
) {
    let sequence = sender.next_to_send;
    let payload = u64::from(common.wire.payload).min(message.end - sequence) as u16;
    let begins = sender.at_start;
    sender.at_start = false;
    write_header(common, sender.priority, message, (sequence, payload, begins), now, header);
}

/// Writes the header of a packet of `message`: its first byte in the stream, its payload bytes, and
/// whether it begins the message.
#[inline(always)]
pub(super) fn write_header<S: Scheme>(
    common: &RunContext<S>,
    priority: u8,
    message: StreamMessage,
    (sequence, payload, begins): (u64, u16, bool),
    now: Time,
    header: &mut Header,
) {
    header.priority = priority;
    header.size = common.wire.data_size(payload.into(), begins, common.side(message.flow));
    header.address.flow = message.flow;
    header.sequence = sequence;
    header.sent_at = now;
    header.payload = payload;
    header.flags.set(Flags::LAST, sequence + u64::from(payload) == message.end);
}

/// What a data packet adds to the stream of its QP.
pub(super) struct Sent {
    /// Bytes of it that were sent before.
    pub(super) resent: u64,
    /// It holds bytes that were never sent before.
    pub(super) is_new: bool,
    /// A timeout said that it was lost. Not known of senders that go back.
    pub(super) by_timeout: bool,
}

/// Counts the payload of a packet as sent. `sent_up_to`: how far the stream was ever sent.
#[inline(always)]
pub(super) fn account<S: Scheme>(sender: &mut Sender<S>, payload: u64, sent_up_to: u64) -> Sent {
    let resent = sent_up_to.saturating_sub(sender.next_to_send).min(payload);
    sender.next_to_send += payload;
    let is_new = sender.next_to_send > sent_up_to;
    sender.went_back &= !is_new;
    sender.since_ack_request += 1;
    sender.bytes_since += payload as u32;
    Sent { resent, is_new, by_timeout: false }
}

/// Whether a packet asks for an ACK; `is_last`: it ends a message. If receivers acknowledge several
/// packets at once, the last packet before the sender falls silent must ask, or the sender would
/// wait for ever.
#[inline(always)]
fn asks_for_ack<S: Scheme>(
    common: &RunContext<S>,
    sender: &mut Sender<S>,
    limits: &SendLimits,
    is_last: bool,
) -> bool {
    let asks = is_last
        || u32::from(sender.since_ack_request) >= common.host.ack_every
        || !sender.window_is_open(limits)
        || !sender.may_send(limits);
    if asks {
        sender.since_ack_request = 0;
        sender.bytes_since = 0;
    }
    asks
}

/// Schedules the next packet of a QP. If its pacing time comes while the wire is still busy, the QP
/// is ready now; else when that time comes. If the QP may not send, an ACK or a timer schedules it.
#[inline(always)]
fn schedule_next<S: Scheme>(sender: &mut Sender<S>, nic: &mut Nic, limits: &SendLimits, slot: u32) {
    if !sender.may_send(limits) || nic.scan.is_some() {
        return;
    }
    let at = sender.next_at.max(limits.not_before);
    if at <= nic.port.free_at {
        sender.is_ready = true;
        nic.mark_ready(sender.priority, slot);
    } else {
        nic.pace(at, slot);
    }
}
