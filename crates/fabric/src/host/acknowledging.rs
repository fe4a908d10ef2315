//! ACKs at a sender, and what happens without them: progress, go-back-N, the ends of messages and
//! QPs.

use super::Host;
use super::sending::wake;
use crate::context::recovery::RecoveryPlan;
use crate::host::qp::{Messages, Sender, StreamMessage};
use crate::host::scoreboard::{Losing, LossSign, Progress, Scoreboard};
use crate::host::spray::HostSpray;
use crate::network::flow::NO_FLOW;
use crate::packet::{EcnCodePoint, Header, PacketKind, Scheme, Win};
use engine::Handle;
use schemes::contract::{Ack, HostCx, Rp};
use units::{Bytes, Time};

impl<S: Scheme> Host<S> {
    /// Has QPs go back that have waited too long for an ACK. QPs have no timers of their own: the
    /// host looks through all of them about once per timeout, and then knows when to look again.
    #[cold]
    pub(super) fn on_timeout(&mut self, window: &mut Win<'_, '_, S>, now: Time) {
        let recovery = &self.common.recovery;
        let (is_selective, shortest) = (recovery.is_selective, recovery.shortest_timeout());
        for slot in 0..self.senders.places() {
            let Some(sender) = self.senders.get(slot).filter(|sender| sender.awaits_ack()) else {
                continue;
            };
            let timeout = self.common.recovery.timeout(self.cold.outstanding(slot));
            let begins = if is_selective {
                sender.last_progress.max(sender.last_sent_at)
            } else {
                sender.last_progress
            };
            let expires = begins.saturating_add(timeout);
            if expires > now {
                // With fewer packets in flight the timeout may get shorter.
                self.timers.arm_retransmission(expires.min(now.saturating_add(shortest)));
                continue;
            }
            self.count_timeout(slot);
            self.go_back(slot, Some(now));
            self.with_rp(window, now, slot, |sender, cx| sender.rp.on_retransmission_timeout(cx));
            self.reschedule_qp(now, slot);
        }
    }

    /// Counts a timeout of the message that a QP is at.
    fn count_timeout(&mut self, slot: u32) {
        let sender = self.senders.get(slot).expect("it is open");
        let flow = self.cold.messages(sender, slot).oldest.flow;
        if flow != NO_FLOW {
            self.timeouts.entry(flow).or_default().count += 1;
        }
    }

    /// Has a QP send again from the first byte that is not acknowledged; with selective repeat,
    /// only what is not known to have arrived. `timeout`: the time, if that is because of a
    /// timeout.
    pub(super) fn go_back(&mut self, slot: u32, timeout: Option<Time>) {
        let sender = self.senders.get_mut(slot).expect("it is open");
        let recovery = &self.common.recovery;
        if recovery.keeps_out_of_order {
            let board = self.cold.board(slot);
            let spray = &mut self.spray;
            let losing = if recovery.is_selective { Losing::Unknown } else { Losing::Kept };
            let sign = if timeout.is_some() { LossSign::Timeout } else { LossSign::Gap };
            board.lose_all(losing, sign, |entropy| match timeout {
                Some(now) => spray.on_timeout(now, slot, entropy),
                None => spray.on_loss(slot, entropy),
            });
            sender.follow(board);
            return;
        }
        self.cold.go_back(sender, slot, timeout.is_some());
        sender.is_full = false;
        let oldest = self.cold.messages(sender, slot).oldest;
        if sender.is_shared {
            self.cold.messages_mut(slot).sending = oldest;
        }
        sender.since_ack_request = 0;
        sender.bytes_since = 0;
        let StreamMessage { flow, end } = oldest;
        let row = self.common.flows.get(flow as usize);
        sender.at_start = row.is_some_and(|row| sender.acknowledged + row.size == end);
    }

    /// Handles an ACK or a NACK.
    #[inline]
    pub(super) fn on_ack(&mut self, window: &mut Win<'_, '_, S>, now: Time, handle: Handle) {
        let packet = window.packets.get(&handle);
        let header = &packet.header;
        let slot = header.address.sender_slot;
        // The slot may be free by now, or belong to another QP.
        let Some(sender) =
            self.senders.get_mut(slot).filter(|sender| sender.matches(&header.address))
        else {
            return window.packets.discard(handle);
        };
        let meta = packet.meta().expect("ACKs carry meta");
        let nack = header.kind == PacketKind::Nack;
        let next_expected = header.sequence;
        // The HPCC simulator goes back for any NACK, before its control law sees the NACK.
        let goes_back_first = self.common.compat.goes_back_before_law();
        let newly_acked = next_expected.saturating_sub(sender.acknowledged);
        if newly_acked > 0 {
            sender.acknowledged = next_expected;
            if sender.next_to_send < next_expected {
                sender.next_to_send = next_expected;
                sender.at_start = false;
            }
        }
        let progress = if self.common.tracks_packets {
            let (board, spray) = (self.cold.board_of(slot), &mut self.spray);
            learn(sender, board, spray, (header, slot), &self.common.recovery, newly_acked)
        } else {
            Progress { newly_acked, ..Progress::default() }
        };
        if newly_acked > 0 || progress.newly_acked > 0 {
            sender.last_progress = now;
        }
        let ack = Ack {
            next_expected,
            newly_acked: Bytes::new(progress.newly_acked),
            newly_lost: Bytes::new(progress.newly_lost),
            next_to_send: if nack && goes_back_first {
                sender.acknowledged
            } else {
                sender.next_to_send
            },
            nack,
            echo: header.echo,
            rtt: now - header.sent_at,
            meta,
        };
        let mut cx = HostCx {
            now,
            params: &self.common.params,
            host: &mut self.state,
            outbox: &mut self.outbox,
        };
        sender.rp.on_ack(&mut cx, &ack);
        wake(&mut self.timers, sender, now, slot);
        window.packets.discard(handle);
        let oldest = self.cold.messages(sender, slot).oldest;
        let complete = oldest.end <= sender.acknowledged && sender.open && oldest.flow != NO_FLOW;
        let go_back = nack && (goes_back_first || next_expected >= sender.acknowledged);
        let nic = usize::from(sender.nic);
        self.send_outbox(window, now, slot);
        if complete && self.complete(window, now, slot) {
            if let Some(nic) = self.nics.get_mut(nic).filter(|nic| nic.scan.is_some()) {
                nic.wake(now);
            }
            return;
        }
        if go_back {
            self.go_back(slot, None);
        }
        self.reschedule_qp(now, slot);
    }

    /// Completes the messages of a QP whose bytes are all acknowledged. Returns whether its last
    /// one was among them.
    fn complete(&mut self, window: &mut Win<'_, '_, S>, now: Time, slot: u32) -> bool {
        let sender = self.senders.get_mut(slot).expect("it is open");
        loop {
            let Messages { oldest, sending } = self.cold.messages(sender, slot);
            if oldest.flow == NO_FLOW || oldest.end > sender.acknowledged {
                return false;
            }
            let row = &self.common.flows[oldest.flow as usize];
            let outcome = &mut self.outcomes[row.index_at_sender as usize];
            outcome.fct = now - outcome.posted;
            window.count_finished(1);
            if row.next_on_qp == NO_FLOW {
                self.close(slot);
                return true;
            }
            // The next message follows, if it is posted.
            let next = if oldest.end == sender.posted {
                StreamMessage::none(oldest.end)
            } else {
                StreamMessage::from(
                    oldest.end,
                    row.next_on_qp,
                    self.common.flows[row.next_on_qp as usize].size,
                )
            };
            let messages = self.cold.messages_mut(slot);
            messages.oldest = next;
            if sending.flow == oldest.flow {
                messages.sending = next;
                sender.at_start = sender.next_to_send == oldest.end;
            }
        }
    }

    /// Closes a QP whose last message is acknowledged.
    pub(super) fn close(&mut self, slot: u32) {
        let sender = self.senders.get_mut(slot).expect("it is open");
        let qp = self.common.flows[sender.first as usize].qp;
        self.shared_qps.remove(&qp);
        // A QP that went back may be in the list of ready ones. It leaves when its turn comes.
        sender.open = false;
        if !sender.is_ready {
            self.forget(slot);
        }
    }

    /// Frees the slot of a QP's sending end.
    pub(super) fn forget(&mut self, slot: u32) {
        let sender = self.senders.get(slot).expect("it is forgotten once");
        self.nics[usize::from(sender.nic)].forget(slot);
        self.timers.wake_sender(slot, Time::NEVER);
        self.uncouple(sender.first);
        self.senders.remove(slot);
    }
}

/// What an ACK tells of the packets of a QP of which more is known than go-back-N needs.
#[inline(never)]
fn learn<S: Scheme>(
    sender: &mut Sender<S>,
    board: Option<&mut Scoreboard>,
    spray: &mut HostSpray,
    (header, slot): (&Header, u32),
    recovery: &RecoveryPlan,
    newly_acked: u64,
) -> Progress {
    let mut progress = Progress { newly_acked, ..Progress::default() };
    let mut packets = 0;
    if let Some(board) = board {
        progress = board.acknowledge(header.sequence, header.payload, header.sent_at);
        if recovery.is_selective {
            let each = |entropy| spray.on_loss(slot, entropy);
            progress.newly_lost = board.find_lost(recovery.loss_test, each);
        }
        sender.follow(board);
        packets = board.span();
        if let Some(entropy) = progress.entropy {
            let is_marked = header.echo == EcnCodePoint::CongestionExperienced;
            spray.on_ack(slot, entropy, is_marked);
        }
    }
    sender.limit_in_flight(recovery.max_in_flight, packets);
    progress
}
