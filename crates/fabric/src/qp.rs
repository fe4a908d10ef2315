//! Queue pairs: the sending and the receiving end of a stream of messages.

use crate::packet::{Address, Scheme};
use crate::quirks::Clock;
use engine::fetch_whole;
use schemes::contract::{Allow, CodePoint, Rp};
use units::{Bytes, Rate, Time};

/// No message.
pub(crate) const NO_FLOW: u32 = u32::MAX;

/// A message of a QP's stream: its first byte and the one after its last. Without gaps, as QPs are many
/// and have two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub(crate) struct Part {
    pub(crate) flow: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Part {
    /// The message that begins where the stream has come to.
    pub(crate) fn from(start: u64, flow: u32, size: u64) -> Part {
        Part { flow, start, end: start + size }
    }

    /// No message, where the stream has come to `end`.
    pub(crate) fn none(end: u64) -> Part {
        Part { flow: NO_FLOW, start: end, end }
    }
}

/// The sending end of a QP.
pub(crate) struct Sender<S: Scheme> {
    pub(crate) rp: S::Rp,
    pub(crate) address: Address,
    pub(crate) priority: u8,
    /// Which of the host's ports it uses.
    pub(crate) nic: u8,
    /// In the port's list of QPs that may send.
    pub(crate) listed: bool,
    pub(crate) open: bool,
    /// The stream has been sent beyond where it now is: the sender went back.
    pub(crate) sent_up_to: u64,
    pub(crate) next_to_send: u64,
    pub(crate) acknowledged: u64,
    /// End of the last message posted.
    pub(crate) posted: u64,
    /// The first message not yet acknowledged, the one being sent, the last one posted.
    pub(crate) oldest: Part,
    pub(crate) sending: Part,
    pub(crate) newest: u32,
    /// Pacing: when the next packet may leave, and what the last one was.
    pub(crate) next_at: Time,
    pub(crate) last_sent_at: Time,
    pub(crate) last_size: u16,
    pub(crate) since_ack_request: u16,
    /// Up to here an ACK has been asked for.
    pub(crate) ack_requested_to: u64,
    /// Times that wait in the host's heap; entries with another time are stale.
    pub(crate) timer_at: Time,
    pub(crate) timeout_at: Time,
    pub(crate) last_progress: Time,
}

impl<S: Scheme> Sender<S> {
    pub(crate) fn new(rp: S::Rp, address: Address, priority: u8, nic: u8) -> Sender<S> {
        let nothing = Part::none(0);
        Sender {
            rp,
            address,
            priority,
            nic,
            listed: false,
            open: true,
            sent_up_to: 0,
            next_to_send: 0,
            acknowledged: 0,
            posted: 0,
            oldest: nothing,
            sending: nothing,
            newest: NO_FLOW,
            next_at: Time::ZERO,
            last_sent_at: Time::ZERO,
            last_size: 0,
            since_ack_request: 0,
            ack_requested_to: 0,
            timer_at: Time::NEVER,
            timeout_at: Time::NEVER,
            last_progress: Time::ZERO,
        }
    }

    /// Payload bytes sent and not acknowledged.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        self.next_to_send - self.acknowledged
    }

    /// Whether it has something to send and may, pacing aside.
    #[inline]
    pub(crate) fn may_send(&self, allow: &Allow) -> bool {
        self.next_to_send < self.posted
            && self.next_to_send < allow.granted
            && (self.window_is_open(allow)
                || (self.ack_requested_to <= self.acknowledged && self.in_flight() > 0))
    }

    /// A window may close on packets in flight of which none asks for an ACK. Then one more packet
    /// goes and asks, or nothing would ever open it.
    #[inline]
    pub(crate) fn window_is_open(&self, allow: &Allow) -> bool {
        Bytes::new(self.in_flight()) < allow.window
    }

    /// When it may send next, if nothing but time is in the way.
    #[inline]
    pub(crate) fn ready_at(&self) -> Option<Time> {
        let allow = self.rp.allow();
        self.may_send(&allow).then(|| self.next_at.max(allow.hold_until))
    }

    /// Sets when the next packet may leave after the last one, at `rate` on a wire of `line_rate`.
    #[inline]
    pub(crate) fn pace(&mut self, rate: Rate, line_rate: Rate, clock: Clock) {
        self.next_at = self.last_sent_at;
        if rate < line_rate {
            self.next_at += clock.time_for(rate, u64::from(self.last_size));
        }
    }

    /// Bytes that wait to be sent for the first time.
    pub(crate) fn backlog(&self) -> Bytes {
        Bytes::new(self.posted - self.sent_up_to)
    }
}

/// The receiving end of a QP.
pub(crate) struct Receiver<S: Scheme> {
    pub(crate) np: S::Np,
    pub(crate) expected: u64,
    /// A NACK for `expected` has been sent; no other before this time.
    pub(crate) next_nack: Time,
    pub(crate) since_ack: u16,
    /// The gravest mark since the last ACK.
    pub(crate) mark: CodePoint,
    /// The last message of the QP has arrived.
    pub(crate) over: bool,
    pub(crate) address: Address,
    /// Hash of the way back.
    pub(crate) hash_back: u32,
    pub(crate) timer_at: Time,
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
    pub(crate) fn insert(&mut self, make: impl FnOnce(u32) -> T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.slots[number as usize] = Some(make(number));
                number
            }
            None => {
                let number = self.slots.len() as u32;
                self.slots.push(Some(make(number)));
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
    pub(crate) fn fetch(&self, number: u32) {
        if let Some(slot) = self.slots.get(number as usize) {
            fetch_whole(slot);
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
