//! Queue pairs: the sending and the receiving end of a stream of messages.

use crate::compat::clock::Clock;
use crate::context::recovery::InFlight;
use crate::host::scoreboard::Scoreboard;
use crate::network::flow::{FlowInfo, NO_FLOW};
use crate::packet::{Address, Scheme};
use engine::prefetch_object;
use schemes::contract::{EcnCodePoint, Rp, SendLimits};
use units::{Bytes, Rate, Time};

/// A message in a QP's stream, and the position after its last byte. Packed, as there may be many
/// QPs and each has two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub(crate) struct StreamMessage {
    pub(crate) flow: u32,
    pub(crate) end: u64,
}

impl StreamMessage {
    /// The message that begins at position `start` of the stream.
    pub(crate) fn from(start: u64, flow: u32, size: u64) -> StreamMessage {
        StreamMessage { flow, end: start + size }
    }

    /// No message, at position `end` of the stream.
    pub(crate) const fn none(end: u64) -> StreamMessage {
        StreamMessage { flow: NO_FLOW, end }
    }
}

/// The sending end of a QP. There may be very many, so it keeps nothing that its host, its slot or
/// its messages say. What only few QPs need is in [`ColdSenderState`].
pub(crate) struct Sender<S: Scheme> {
    pub(crate) rp: S::Rp,
    /// The receiving host, and the number of the QP there.
    pub(crate) dst: u32,
    pub(crate) receiver_slot: u32,
    /// The first message of the QP.
    pub(crate) first: u32,
    /// Hash of the five-tuple.
    pub(crate) hash: u32,
    pub(crate) priority: u8,
    /// Which of the host's ports it uses.
    pub(crate) nic: u16,
    /// It is in the port's list of ready QPs.
    pub(crate) is_ready: bool,
    pub(crate) open: bool,
    /// The next packet is the first of its message.
    pub(crate) at_start: bool,
    /// It carries several messages: [`ColdSenderState::messages`].
    pub(crate) is_shared: bool,
    /// It went back and has not caught up: [`ColdSenderState::sent_up_to`] says how far it was
    /// sent.
    pub(crate) went_back: bool,
    /// Packets wait to be sent again: [`ColdSenderState::board`] says which.
    pub(crate) has_lost: bool,
    /// As much is in flight as may be: nothing new is sent.
    pub(crate) is_full: bool,
    pub(crate) next_to_send: u64,
    pub(crate) acknowledged: u64,
    /// Position after the last message that was posted.
    pub(crate) posted: u64,
    /// When pacing allows the next packet, and when and how large the last one was.
    pub(crate) next_at: Time,
    pub(crate) last_sent_at: Time,
    pub(crate) last_size: u16,
    /// Packets and bytes sent since the last packet that asked for an ACK.
    pub(crate) since_ack_request: u16,
    pub(crate) bytes_since: u32,
    /// Payload bytes that are not acknowledged in order, but have arrived or are lost: they are not
    /// in flight.
    pub(crate) settled: u32,
    /// When something was last acknowledged, or sent with nothing in flight.
    pub(crate) last_progress: Time,
}

impl<S: Scheme> Sender<S> {
    /// Opens the sending end of the QP whose first message is `first`, described by `row`.
    pub(crate) fn new(rp: S::Rp, first: u32, row: &FlowInfo, hash: u32, nic: u16) -> Sender<S> {
        Sender {
            rp,
            dst: row.dst,
            receiver_slot: row.receiver_slot,
            first,
            hash,
            priority: row.priority,
            nic,
            is_ready: false,
            open: true,
            at_start: true,
            is_shared: row.next_on_qp != NO_FLOW,
            went_back: false,
            has_lost: false,
            is_full: false,
            next_to_send: 0,
            acknowledged: 0,
            posted: 0,
            next_at: Time::ZERO,
            last_sent_at: Time::ZERO,
            last_size: 0,
            since_ack_request: 0,
            bytes_since: 0,
            settled: 0,
            last_progress: Time::ZERO,
        }
    }

    /// The address of its packets, if it is in a slot of host `src`.
    #[inline]
    pub(crate) fn address(&self, src: u32, sender_slot: u32) -> Address {
        let Sender { dst, receiver_slot, first, hash, .. } = *self;
        Address { src, dst, flow: first, sender_slot, receiver_slot, hash }
    }

    /// Whether a packet with this address is for it, and not for an earlier QP in its slot.
    #[inline]
    pub(crate) fn matches(&self, address: &Address) -> bool {
        self.receiver_slot == address.receiver_slot && self.dst == address.dst
    }

    /// Payload bytes sent and not acknowledged in order.
    #[inline]
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.next_to_send - self.acknowledged
    }

    /// Payload bytes sent and not known to have arrived, without those that are lost.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        self.unacknowledged() - u64::from(self.settled)
    }

    /// Whether an ACK is to come for something that was sent. None is while all that is not
    /// acknowledged is lost and waits to be sent again.
    #[inline]
    pub(crate) fn awaits_ack(&self) -> bool {
        self.in_flight() > 0 || (self.unacknowledged() > 0 && !self.has_lost)
    }

    /// Takes over what its board says about packets that are not in flight.
    #[inline]
    pub(crate) fn follow(&mut self, board: &Scoreboard) {
        (self.settled, self.has_lost) = (board.settled(), board.has_lost());
    }

    /// Notes whether as much is in flight as may be. `packets`: those that are not acknowledged in
    /// order, where they are counted.
    #[inline]
    pub(crate) fn limit_in_flight(&mut self, max: InFlight, packets: u32) {
        self.is_full = self.unacknowledged() >= max.bytes || packets >= max.packets;
    }

    /// Whether it has something to send and may, pacing aside. A window may close while no packet
    /// in flight asks for an ACK. Then one more packet is sent, which asks; nothing else would open
    /// it.
    #[inline]
    pub(crate) fn may_send(&self, limits: &SendLimits) -> bool {
        let has_data = self.next_to_send < self.posted
            && self.next_to_send < limits.credit_limit
            && !self.is_full;
        (has_data || self.has_lost)
            && (self.window_is_open(limits)
                || (self.in_flight() <= u64::from(self.bytes_since) && self.in_flight() > 0))
    }

    /// Whether the window has room.
    #[inline]
    pub(crate) fn window_is_open(&self, limits: &SendLimits) -> bool {
        Bytes::new(self.in_flight()) < limits.window
    }

    /// When it may send next; `None` if it must wait for an ACK or a message.
    #[inline]
    pub(crate) fn ready_at(&self) -> Option<Time> {
        let limits = self.rp.limits();
        self.may_send(&limits).then(|| self.next_at.max(limits.not_before))
    }

    /// Sets when the next packet may leave after the last one. `line_rate` is that of the port.
    #[inline]
    pub(crate) fn pace(&mut self, rate: Rate, line_rate: Rate, clock: Clock) {
        self.next_at = self.last_sent_at;
        if rate < line_rate {
            let gap = clock.time_for(rate, u64::from(self.last_size));
            self.next_at = self.next_at.saturating_add(gap);
        }
    }
}

/// State that few sending ends need, by slot. Each list ends at the last slot that needed it.
#[derive(Default)]
pub(crate) struct ColdSenderState {
    messages: Vec<Messages>,
    sent_up_to: Vec<u64>,
    /// Whether a timeout made it go back last, and not a NACK.
    by_timeout: Vec<bool>,
    boards: Vec<Scoreboard>,
}

/// The position of a QP in its messages: the first one not acknowledged, and the one being sent.
#[derive(Clone, Copy)]
pub(crate) struct Messages {
    pub(crate) oldest: StreamMessage,
    pub(crate) sending: StreamMessage,
}

impl Messages {
    const NONE: Messages =
        Messages { oldest: StreamMessage::none(0), sending: StreamMessage::none(0) };
}

impl ColdSenderState {
    /// The messages that a sending end is at: one that is not acknowledged, and one being sent.
    #[inline]
    pub(crate) fn messages<S: Scheme>(&self, sender: &Sender<S>, slot: u32) -> Messages {
        if sender.is_shared {
            return self.messages[slot as usize];
        }
        let only = StreamMessage { flow: sender.first, end: sender.posted };
        Messages { oldest: only, sending: only }
    }

    /// The messages of a sending end that carries several.
    pub(crate) fn messages_mut(&mut self, slot: u32) -> &mut Messages {
        &mut self.messages[slot as usize]
    }

    /// Prepares this slot for a QP that carries several messages.
    pub(crate) fn open(&mut self, slot: u32) {
        *grown(&mut self.messages, slot, || Messages::NONE) = Messages::NONE;
    }

    /// Prepares this slot for a QP whose receiver keeps data that is out of order.
    pub(crate) fn open_board(&mut self, slot: u32) {
        grown(&mut self.boards, slot, Scoreboard::default).reset();
    }

    /// What is known of the packets of a sending end, if its receiver keeps data that is out of
    /// order.
    #[inline]
    pub(crate) fn board(&mut self, slot: u32) -> &mut Scoreboard {
        &mut self.boards[slot as usize]
    }

    /// Returns the scoreboard of a QP; `None` if receivers keep nothing out of order.
    pub(crate) fn board_of(&mut self, slot: u32) -> Option<&mut Scoreboard> {
        self.boards.get_mut(slot as usize)
    }

    /// How many packets of a sending end are not known to have arrived.
    pub(crate) fn outstanding(&self, slot: u32) -> u32 {
        self.boards.get(slot as usize).map_or(0, Scoreboard::outstanding)
    }

    /// How far the stream of a sending end was ever sent.
    #[inline]
    pub(crate) fn sent_up_to<S: Scheme>(&self, sender: &Sender<S>, slot: u32) -> u64 {
        if sender.went_back { self.sent_up_to[slot as usize] } else { sender.next_to_send }
    }

    /// Whether a sending end that went back did so because of a timeout.
    pub(crate) fn went_back_by_timeout(&self, slot: u32) -> bool {
        self.by_timeout.get(slot as usize).copied().unwrap_or(false)
    }

    /// Has a sending end go back to the first byte that is not acknowledged; `by_timeout`: because
    /// of a timeout.
    pub(crate) fn go_back<S: Scheme>(
        &mut self,
        sender: &mut Sender<S>,
        slot: u32,
        by_timeout: bool,
    ) {
        let up_to = self.sent_up_to(sender, slot);
        *grown(&mut self.sent_up_to, slot, || up_to) = up_to;
        *grown(&mut self.by_timeout, slot, || by_timeout) = by_timeout;
        sender.went_back = true;
        sender.next_to_send = sender.acknowledged;
    }

    /// The bytes that wait to be sent for the first time.
    pub(crate) fn backlog<S: Scheme>(&self, sender: &Sender<S>, slot: u32) -> Bytes {
        Bytes::new(sender.posted - self.sent_up_to(sender, slot))
    }
}

/// The value at an index. The list grows if needed, by what `make` returns.
pub(crate) fn grown<T>(values: &mut Vec<T>, place: u32, make: impl FnMut() -> T) -> &mut T {
    let place = place as usize;
    if values.len() <= place {
        values.resize_with(place + 1, make);
    }
    &mut values[place]
}

/// The receiving end of a QP.
pub(crate) struct Receiver<S: Scheme> {
    pub(crate) np: S::Np,
    pub(crate) expected: u64,
    /// No NACK for `expected` is sent before this time.
    pub(crate) next_nack: Time,
    pub(crate) since_ack: u16,
    /// The most severe mark since the last ACK.
    pub(crate) mark: EcnCodePoint,
    /// The last message of the QP has arrived.
    pub(crate) over: bool,
    /// The message that arrived first; it gives the address of the QP. And the slot of the sender.
    pub(crate) flow: u32,
    pub(crate) sender_slot: u32,
    /// Hash of the packets to the sender.
    pub(crate) hash_back: u32,
}

/// Values by number. A free number is used again, the last one freed first.
pub(crate) struct Slots<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    pub(crate) fn new() -> Slots<T> {
        Slots { slots: Vec::new(), free: Vec::new() }
    }
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.slots[number as usize] = Some(value);
                number
            }
            None => {
                let number = self.slots.len() as u32;
                self.slots.push(Some(value));
                number
            }
        }
    }
    pub(crate) fn remove(&mut self, number: u32) {
        self.slots[number as usize] = None;
        self.free.push(number);
    }
    /// One more than the highest number that was ever used.
    #[inline]
    pub(crate) fn places(&self) -> u32 {
        self.slots.len() as u32
    }
    /// Prefetches the value of a number, if there is one.
    #[inline]
    pub(crate) fn prefetch(&self, number: u32) {
        if let Some(slot) = self.slots.get(number as usize) {
            prefetch_object(slot);
        }
    }
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.slots.get(number as usize)?.as_ref()
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.slots.get_mut(number as usize)?.as_mut()
    }
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        self.slots
            .iter_mut()
            .enumerate()
            .filter_map(|(number, slot)| Some((number as u32, slot.as_mut()?)))
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(number, slot)| Some((number as u32, slot.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemes::{dcqcn::Dcqcn, hpcc::Hpcc};

    /// Protects memory: a host with many QPs needs it for their ends.
    #[test]
    fn the_ends_of_a_qp_are_small() {
        let of_hpcc =
            (size_of::<Option<Sender<Hpcc<5>>>>(), size_of::<Option<Receiver<Hpcc<5>>>>());
        let of_dcqcn = (size_of::<Option<Sender<Dcqcn>>>(), size_of::<Option<Receiver<Dcqcn>>>());
        assert_eq!((of_hpcc, of_dcqcn), ((208, 32), (200, 40)));
    }
}
