//! Queue pairs: the sending and the receiving end of a stream of messages.

use crate::compat::clock::Clock;
use crate::network::flow::{FlowInfo, NO_FLOW};
use crate::packet::{Address, Scheme};
use engine::prefetch_object;
use schemes::contract::{EcnCodePoint, Rp, SendLimits};
use units::{Bytes, Rate, Time};

/// A message of a QP's stream, and the byte after its last. Without gaps, as QPs are many and have two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub(crate) struct StreamMessage {
    pub(crate) flow: u32,
    pub(crate) end: u64,
}

impl StreamMessage {
    /// The message that begins where the stream has come to.
    pub(crate) fn from(start: u64, flow: u32, size: u64) -> StreamMessage {
        StreamMessage { flow, end: start + size }
    }

    /// No message, where the stream has come to `end`.
    pub(crate) const fn none(end: u64) -> StreamMessage {
        StreamMessage { flow: NO_FLOW, end }
    }
}

/// The sending end of a QP. There may be very many: what its host, its slot and the rows of its messages say
/// is not kept, nor what few need.
pub(crate) struct Sender<S: Scheme> {
    pub(crate) rp: S::Rp,
    /// The receiving host, and where that finds the QP.
    pub(crate) dst: u32,
    pub(crate) receiver_slot: u32,
    /// The first message.
    pub(crate) first: u32,
    /// Hash of the five-tuple.
    pub(crate) hash: u32,
    pub(crate) priority: u8,
    /// Which of the host's ports it uses.
    pub(crate) nic: u16,
    /// In the port's list of QPs that may send.
    pub(crate) is_ready: bool,
    pub(crate) open: bool,
    /// The first packet of the message being sent comes next.
    pub(crate) at_start: bool,
    /// It is for several messages: [`ColdSenderState::messages`].
    pub(crate) is_shared: bool,
    /// It went back, and the stream has been sent beyond where it now is: [`ColdSenderState::sent_up_to`].
    pub(crate) went_back: bool,
    pub(crate) next_to_send: u64,
    pub(crate) acknowledged: u64,
    /// End of the last message posted.
    pub(crate) posted: u64,
    /// Pacing: when the next packet may leave, and what the last one was.
    pub(crate) next_at: Time,
    pub(crate) last_sent_at: Time,
    pub(crate) last_size: u16,
    /// Packets, and their bytes, sent since an ACK was asked for.
    pub(crate) since_ack_request: u16,
    pub(crate) bytes_since: u32,
    /// Since then nothing that is in flight has been acknowledged.
    pub(crate) last_progress: Time,
}

impl<S: Scheme> Sender<S> {
    /// Of the QP whose first message is `first`, of this row.
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
            next_to_send: 0,
            acknowledged: 0,
            posted: 0,
            next_at: Time::ZERO,
            last_sent_at: Time::ZERO,
            last_size: 0,
            since_ack_request: 0,
            bytes_since: 0,
            last_progress: Time::ZERO,
        }
    }

    /// Where it is found, with the host `src` and the slot there that it is in.
    #[inline]
    pub(crate) fn address(&self, src: u32, sender_slot: u32) -> Address {
        let Sender { dst, receiver_slot, first, hash, .. } = *self;
        Address { src, dst, flow: first, sender_slot, receiver_slot, hash }
    }

    /// Whether a packet of this address is for it, and not for who had its slot before.
    #[inline]
    pub(crate) fn matches(&self, address: &Address) -> bool {
        self.receiver_slot == address.receiver_slot && self.dst == address.dst
    }

    /// Payload bytes sent and not acknowledged.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        self.next_to_send - self.acknowledged
    }

    /// Whether it has something to send and may, pacing aside. A window may close on packets in flight of which
    /// none asks for an ACK: then one more packet goes and asks, or nothing would ever open it.
    #[inline]
    pub(crate) fn may_send(&self, limits: &SendLimits) -> bool {
        self.next_to_send < self.posted
            && self.next_to_send < limits.credit_limit
            && (self.window_is_open(limits)
                || (self.in_flight() <= u64::from(self.bytes_since) && self.in_flight() > 0))
    }

    /// Whether the window has room.
    #[inline]
    pub(crate) fn window_is_open(&self, limits: &SendLimits) -> bool {
        Bytes::new(self.in_flight()) < limits.window
    }

    /// When it may send next, if nothing but time is in the way.
    #[inline]
    pub(crate) fn ready_at(&self) -> Option<Time> {
        let limits = self.rp.limits();
        self.may_send(&limits).then(|| self.next_at.max(limits.not_before))
    }

    /// Sets when the next packet may leave after the last one, at `rate` on a wire of `line_rate`.
    #[inline]
    pub(crate) fn pace(&mut self, rate: Rate, line_rate: Rate, clock: Clock) {
        self.next_at = self.last_sent_at;
        if rate < line_rate {
            let gap = clock.time_for(rate, u64::from(self.last_size));
            self.next_at = self.next_at.saturating_add(gap);
        }
    }
}

/// What few sending ends need, by slot, as far as any has.
#[derive(Default)]
pub(crate) struct ColdSenderState {
    messages: Vec<Messages>,
    sent_up_to: Vec<u64>,
}

/// Of a QP of several messages: the first not yet acknowledged, and the one being sent.
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
    /// The messages that a sending end is at.
    #[inline]
    pub(crate) fn messages<S: Scheme>(&self, sender: &Sender<S>, slot: u32) -> Messages {
        if sender.is_shared {
            return self.messages[slot as usize];
        }
        let only = StreamMessage { flow: sender.first, end: sender.posted };
        Messages { oldest: only, sending: only }
    }

    /// Those of a QP of several messages.
    pub(crate) fn messages_mut(&mut self, slot: u32) -> &mut Messages {
        &mut self.messages[slot as usize]
    }

    /// A QP of several messages takes this slot.
    pub(crate) fn open(&mut self, slot: u32) {
        put(&mut self.messages, slot, Messages::NONE);
    }

    /// Up to where a sending end's stream has been sent.
    #[inline]
    pub(crate) fn sent_up_to<S: Scheme>(&self, sender: &Sender<S>, slot: u32) -> u64 {
        if sender.went_back { self.sent_up_to[slot as usize] } else { sender.next_to_send }
    }

    /// The sending end goes back to the first byte that is not acknowledged.
    pub(crate) fn go_back<S: Scheme>(&mut self, sender: &mut Sender<S>, slot: u32) {
        let up_to = self.sent_up_to(sender, slot);
        put(&mut self.sent_up_to, slot, up_to);
        sender.went_back = true;
        sender.next_to_send = sender.acknowledged;
    }

    /// Bytes that wait to be sent for the first time.
    pub(crate) fn backlog<S: Scheme>(&self, sender: &Sender<S>, slot: u32) -> Bytes {
        Bytes::new(sender.posted - self.sent_up_to(sender, slot))
    }
}

/// Puts a value in its place, after as many as that takes.
fn put<T: Copy>(values: &mut Vec<T>, place: u32, value: T) {
    let place = place as usize;
    if values.len() <= place {
        values.resize(place + 1, value);
    }
    values[place] = value;
}

/// The receiving end of a QP.
pub(crate) struct Receiver<S: Scheme> {
    pub(crate) np: S::Np,
    pub(crate) expected: u64,
    /// A NACK for `expected` has been sent; no other before this time.
    pub(crate) next_nack: Time,
    pub(crate) since_ack: u16,
    /// The gravest mark since the last ACK.
    pub(crate) mark: EcnCodePoint,
    /// The last message of the QP has arrived.
    pub(crate) over: bool,
    /// The message that came first, whose row tells the QP's address; and where the sender finds it.
    pub(crate) flow: u32,
    pub(crate) sender_slot: u32,
    /// Hash of the way back.
    pub(crate) hash_back: u32,
}

/// Values by number, numbers reused last in first out.
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
    /// One more than the highest number that there has been.
    #[inline]
    pub(crate) fn places(&self) -> u32 {
        self.slots.len() as u32
    }
    /// Has the processor fetch a value, if there is one of this number.
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

    /// Where a host has many QPs, their memory is what they cost.
    #[test]
    fn the_ends_of_a_qp_are_small() {
        let of_hpcc =
            (size_of::<Option<Sender<Hpcc<5>>>>(), size_of::<Option<Receiver<Hpcc<5>>>>());
        let of_dcqcn = (size_of::<Option<Sender<Dcqcn>>>(), size_of::<Option<Receiver<Dcqcn>>>());
        assert_eq!((of_hpcc, of_dcqcn), ((200, 32), (192, 40)));
    }
}
