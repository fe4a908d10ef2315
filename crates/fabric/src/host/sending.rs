//! The sending half of a host: posts messages, opens QPs, and decides what a port sends next.

use super::Host;
use super::port_turns::wire_rate;
use super::timers::Timers;
use crate::compat::event_order::set_ns3_lead;
use crate::hooks::RpTimerOf;
use crate::host::nic::Nic;
use crate::host::qp::{Messages, Sender, StreamMessage};
use crate::network::flow::NO_FLOW;
use crate::observe::recorder::PacketEventKind;
use crate::packet::{Scheme, Win};
use crate::port::scheduler::PFC;
use schemes::contract::{HostCx, Pacing, Rp, RpTimerSlot};
use units::Time;

impl<S: Scheme> Host<S> {
    /// Posts a message: adds it to the stream of its QP.
    fn post(&mut self, window: &mut Win<'_, '_, S>, now: Time, flow: u32) {
        let row = self.common.flows[flow as usize];
        self.outcomes[row.index_at_sender as usize].posted = now;
        if row.has_dependency {
            self.uncouple(flow);
        }
        let known = self.shared_qps.get(&row.qp).copied();
        let slot = known.unwrap_or_else(|| self.open(now, flow));
        let sender = self.senders.get_mut(slot).expect("a QP with messages is open");
        let message = StreamMessage::from(sender.posted, flow, row.size);
        if sender.is_shared {
            let Messages { oldest, sending } = self.cold.messages_mut(slot);
            if oldest.flow == NO_FLOW {
                *oldest = message;
            }
            if sending.flow == NO_FLOW {
                *sending = message;
                sender.at_start = true;
            }
        }
        sender.posted = message.end;
        if sender.unacknowledged() == 0 {
            sender.last_progress = now;
        }
        self.on_backlog(window, now, slot);
        self.schedule_qp(now, slot);
    }

    /// Posts a message that is due, and those that waited for it. A message waits until its
    /// predecessor on the QP is posted.
    pub(super) fn post_in_qp_order(&mut self, window: &mut Win<'_, '_, S>, now: Time, flow: u32) {
        let row = |flow: u32| self.common.flows.get(flow as usize);
        let ahead = row(flow).and_then(|this| row(this.before_on_qp));
        if ahead.is_some_and(|ahead| {
            self.outcomes[ahead.index_at_sender as usize].posted == Time::NEVER
        }) {
            self.blocked_posts.insert(flow);
            return;
        }
        let mut due = flow;
        loop {
            self.post(window, now, due);
            due = self.common.flows[due as usize].next_on_qp;
            if !self.blocked_posts.remove(&due) {
                return;
            }
        }
    }

    /// Opens the QP of its first message. Returns the slot of the sending end.
    pub(super) fn open(&mut self, now: Time, flow: u32) -> u32 {
        let common = &self.common;
        let row = &common.flows[flow as usize];
        let hash = common.data_hash(row);
        let nic = common.select_port(self.node, (row.src, row.dst), hash, self.epoch);
        let mut path = common.path_facts(row.src, row.dst, hash, self.epoch);
        path.side = common.side(flow);
        path.packet_bytes = common.wire.full_packet_of(path.side);
        let rp = S::Rp::open(&common.params, &mut self.state, &path, now);
        let (qp, shared) = (row.qp, row.next_on_qp != NO_FLOW);
        let slot = self.senders.insert(Sender::new(rp, flow, row, hash, nic.get()));
        self.couple(flow);
        if self.common.recovery.keeps_out_of_order {
            self.cold.open_board(slot);
        }
        if self.spray.is_on() {
            self.spray.open(slot, qp);
        }
        if shared {
            self.shared_qps.insert(qp, slot);
            self.cold.open(slot);
        }
        if let Some(scan) = &mut self.nics[nic.index()].scan {
            scan.table.push((slot, flow));
        }
        slot
    }

    /// Calls a hook of a sender's reaction point. Then updates its timer and sends its packets.
    pub(super) fn with_rp(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        slot: u32,
        hook: impl FnOnce(&mut Sender<S>, &mut HostCx<'_, S>),
    ) {
        let Some(sender) = self.senders.get_mut(slot) else { return };
        let mut cx = HostCx {
            now,
            params: &self.common.params,
            host: &mut self.state,
            outbox: &mut self.outbox,
        };
        hook(sender, &mut cx);
        wake(&mut self.timers, sender, now, slot);
        self.send_outbox(window, now, slot);
    }

    /// Sends the control packets that a hook of a reaction point put into the outbox.
    #[inline]
    pub(super) fn send_outbox(&mut self, window: &mut Win<'_, '_, S>, now: Time, slot: u32) {
        if !self.outbox.is_empty() {
            let sender = self.senders.get(slot).expect("its hook was just called");
            let (address, nic) = (sender.address(self.index, slot), sender.nic);
            self.send_ctl(window, now, address, nic, false);
        }
    }

    /// Tells the reaction point how many bytes wait to be sent for the first time.
    pub(super) fn on_backlog(&mut self, window: &mut Win<'_, '_, S>, now: Time, slot: u32) {
        let Some(sender) = self.senders.get(slot) else { return };
        let left = self.cold.backlog(sender, slot);
        self.with_rp(window, now, slot, |sender, cx| sender.rp.on_backlog(cx, left));
    }

    /// Schedules a QP again after its reaction point may have changed rate or window. If the scheme
    /// paces continuously, the time of its next packet follows the new rate.
    #[inline]
    pub(super) fn reschedule_qp(&mut self, now: Time, slot: u32) {
        let takes_turns = self.takes_turns();
        let Some(sender) = self.senders.get_mut(slot) else { return };
        let number = usize::from(sender.nic);
        let wire_rate = wire_rate(&self.nics, number, takes_turns);
        let nic = &mut self.nics[number];
        if sender.rp.pacing() == Pacing::Continuous {
            sender.pace(sender.rp.limits().rate, wire_rate, self.common.clock);
            if let Some(scan) = &mut nic.scan {
                scan.pacing_changed(sender.next_at, now);
            }
        }
        if takes_turns {
            return self.schedule_in_turn(now, slot);
        }
        schedule_at_port(sender, nic, now, slot);
    }

    /// Schedules a QP: it is ready, waits for its pacing time, or may not send.
    #[inline]
    pub(super) fn schedule_qp(&mut self, now: Time, slot: u32) {
        if self.takes_turns() {
            return self.schedule_in_turn(now, slot);
        }
        if let Some(sender) = self.senders.get_mut(slot) {
            let nic = &mut self.nics[sender.nic as usize];
            schedule_at_port(sender, nic, now, slot);
        }
    }

    /// Has all ports send what they send before `time`. No timer may be due before then.
    #[inline(always)]
    pub(super) fn drain(&mut self, window: &mut Win<'_, '_, S>, time: Time) {
        debug_assert!(self.timers.due() >= time);
        if self.nics.iter().any(|nic| nic.due < time) {
            self.drain_what_is_due(window, time);
        }
    }

    /// Handles timers and has all ports send what they send before `time`. A departure may set a
    /// timer before then. At the same instant, timers come before departures.
    #[inline(never)]
    pub(super) fn drain_what_is_due(&mut self, window: &mut Win<'_, '_, S>, time: Time) {
        loop {
            let (mut due, mut nic) = (self.nics[0].due, 0);
            if self.nics.len() > 1 {
                for (other, rival) in self.nics.iter().enumerate() {
                    if rival.due < due {
                        (due, nic) = (rival.due, other);
                    }
                }
            }
            let timer = self.timers.due();
            if timer < time && timer <= due {
                self.on_timer(window, timer);
            } else if due < time {
                self.depart(window, nic);
            } else {
                return;
            }
        }
    }

    /// Has a port begin to send its next packet, at the time when it is due.
    #[inline]
    pub(super) fn depart(&mut self, window: &mut Win<'_, '_, S>, number: usize) {
        let takes_turns = self.takes_turns();
        let now = self.nics[number].due;
        let mut nic = &mut self.nics[number];
        nic.port.free_at = nic.port.free_at.max(now);
        if nic.scan.is_some() {
            return self.scan(window, now, number);
        }
        while let Some(slot) = nic.next_paced(now) {
            if let Some(coming) = nic.next_in_pace() {
                self.senders.prefetch(coming);
            }
            let sender = self.senders.get_mut(slot).expect("a QP that is over is forgotten");
            if sender.is_ready {
                continue;
            }
            if takes_turns && nic.port.paused & 1 << sender.priority != 0 {
                self.take_turn(now, slot);
                nic = &mut self.nics[number];
                continue;
            }
            match sender.ready_at() {
                Some(at) if at <= now => {
                    // If nothing else can be sent, the QP sends at once and skips the list.
                    if self.common.fast_paths
                        && nic.port.can_send_priority_now(sender.priority, now)
                        && !nic.port.is_shaped()
                        && nic.is_only_ready(now)
                    {
                        self.send_data(window, now, number, slot);
                        return self.nics[number].schedule();
                    }
                    sender.is_ready = true;
                    nic.mark_ready(sender.priority, slot);
                }
                Some(at) => nic.pace(at, slot),
                None => {}
            }
        }
        let open =
            nic.port.allowed_by_shaper((nic.port.waiting | nic.ready_mask) & !nic.port.paused, now);
        if open == 0 {
            return nic.schedule();
        }
        let full = self.common.wire.full_packet;
        let in_turn = open & open.wrapping_sub(1) != 0;
        let queue = nic.port.pick(window.packets, open, Some(full));
        if queue == PFC {
            self.send_pfc_frame(window, now, number);
        } else if nic.port.has(queue) {
            self.send_control(window, now, number, queue);
        } else {
            let slot = nic.take(queue);
            // Many QPs are far apart in memory. The next ones are loaded while this one is handled.
            for coming in nic.likely_next(queue) {
                self.senders.prefetch(coming);
            }
            let sender = self.senders.get_mut(slot).expect("a listed QP is there");
            sender.is_ready = false;
            if !sender.open {
                self.forget(slot);
                return self.nics[number].schedule();
            }
            // A notification may have closed the window since the QP became ready.
            let sends = sender.ready_at().is_some_and(|at| at <= now);
            if sends {
                self.send_data(window, now, number, slot);
            } else {
                self.schedule_qp(now, slot);
            }
            if in_turn {
                self.refund(number, queue, slot, sends);
            }
        }
        self.nics[number].schedule();
    }

    /// Corrects what a class was charged for the packet that it sent in turn with others: a full
    /// one, as its size was not known.
    #[cold]
    fn refund(&mut self, number: usize, queue: usize, slot: u32, sent: bool) {
        let full = self.common.wire.full_packet;
        let sender = self.senders.get(slot).filter(|_| sent);
        let size = sender.map_or(0, |sender| u32::from(sender.last_size));
        self.nics[number].port.refund(queue, full.saturating_sub(size));
    }

    /// Sends a PFC frame that waits at a port.
    #[cold]
    fn send_pfc_frame(&mut self, window: &mut Win<'_, '_, S>, now: Time, number: usize) {
        let port = &mut self.nics[number].port;
        let frame = port.dequeue(window.packets, PFC);
        if let Some(recorder) = &mut self.recorder {
            let header = &window.packets.get(&frame).header;
            recorder.packet(now, number as u16, PacketEventKind::Dequeued, 0, header);
        }
        port.transmit_pfc(window, now, frame);
    }

    /// Sends the next packet of a port's queue of control packets.
    #[inline]
    pub(super) fn send_control(
        &mut self,
        window: &mut Win<'_, '_, S>,
        now: Time,
        number: usize,
        queue: usize,
    ) {
        let nic = &mut self.nics[number];
        let port = &mut nic.port;
        let mut handle = port.dequeue(window.packets, queue);
        if let Some(scan) = &nic.scan {
            set_ns3_lead(&mut window.packets.get_mut(&mut handle).header, scan.lead);
        }
        let header = window.packets.get(&handle).header;
        port.count_out(queue as u8, header.size);
        if let Some(recorder) = &mut self.recorder {
            let bytes = port.class_bytes(queue as u8);
            recorder.packet(now, number as u16, PacketEventKind::Dequeued, bytes, &header);
        }
        port.transmit(window, now, header.kind_priority_size(), handle);
    }

    /// Handles the timer of a reaction point.
    pub(super) fn on_sender_timer(&mut self, window: &mut Win<'_, '_, S>, now: Time, slot: u32) {
        self.with_rp(window, now, slot, |sender, cx| {
            RpTimerOf::<S>::on_timer(&mut sender.rp, cx);
            debug_assert!(RpTimerOf::<S>::next_timer(&sender.rp) > now, "a timer must move on");
        });
        // There, a new rate does not wake the NIC.
        if !self.common.compat.misses_wake_ups() {
            self.reschedule_qp(now, slot);
        }
    }
}

/// Sets the timer of a sender's reaction point.
#[inline]
pub(super) fn wake<S: Scheme>(timers: &mut Timers, sender: &Sender<S>, now: Time, slot: u32) {
    let timer = RpTimerOf::<S>::next_timer(&sender.rp);
    debug_assert!(timer >= now, "a timer in the past");
    timers.wake_sender(slot, timer);
}

/// Schedules a QP at its port: marks it ready, or has it wait for its pacing time.
#[inline]
pub(super) fn schedule_at_port<S: Scheme>(
    sender: &mut Sender<S>,
    nic: &mut Nic,
    now: Time,
    slot: u32,
) {
    if nic.scan.is_some() {
        return nic.wake(now);
    }
    if sender.is_ready {
        return;
    }
    let Some(at) = sender.ready_at() else { return };
    if at <= now {
        sender.is_ready = true;
        nic.port.free_at = nic.port.free_at.max(now);
        nic.mark_ready(sender.priority, slot);
    } else {
        nic.pace(at, slot);
    }
    nic.schedule();
}
