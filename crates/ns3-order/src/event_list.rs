//! The event list: events are handled by time and, at one time, by the number of their scheduling.
//!
//! Events of the next [`SPAN`] nanoseconds are in a wheel with one first-in-first-out list for each
//! nanosecond. The numbers rise, so such a list is in order. Later events wait in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

/// How many nanoseconds ahead the wheel reaches. A power of two.
const SPAN: usize = 1 << 13;
const WORDS: usize = SPAN / 64;

/// What an event does. The comments say what its arguments `a` and `b` are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Starts the flows whose time has come.
    Reader,
    /// Schedules the start of flow `a`.
    AppStart,
    /// Starts flow `a`.
    FlowStart,
    /// Port `a` has sent a packet.
    TransmitEnd,
    /// Port `a` receives packet `b`.
    Receive,
    /// The NIC of port `a` looks for something to send.
    WakeUp,
    /// DCQCN's alpha timer of flow `a`.
    Alpha,
    /// DCQCN's decrease timer of flow `a`.
    Decrease,
    /// DCQCN's increase timer of flow `a`.
    Increase,
    /// The pause of class `b` expires at port `a`.
    PauseExpiry,
    /// Port `a` no longer counts as pausing class `b` of its peer.
    PauseForgotten,
    /// The sender of flow `a` has waited for an answer.
    Timeout,
    /// What switch `a` has measured decays.
    Decay,
    /// Switch `a` forgets what was not used.
    Aging,
    /// A leaf sends on what it holds back of flow `a`.
    Flush,
    /// The flows that have bytes left are counted.
    CountFlows,
    /// Samples the queues.
    Monitor,
    /// A link fails.
    LinkFailure,
    /// The run ends.
    Stop,
    /// It was cancelled.
    Cancelled,
}

/// What two levels of scheduling tell of an event: how many nanoseconds before it it was scheduled,
/// and how many before that the event was scheduled that did so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Past(u32, u32);

impl Past {
    /// No event has it.
    pub(crate) const NONE: Past = Past(u32::MAX, 0);
}

/// Nanoseconds as a [`Past`] holds them. Times too long for it are all the same.
fn short(nanoseconds: u64) -> u32 {
    u32::try_from(nanoseconds).unwrap_or(u32::MAX - 1)
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    time: u64,
    number: u32,
    pub(crate) past: Past,
    /// The next event in the list of its nanosecond, or the next free slot.
    next: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) kind: Kind,
}

#[cfg(test)]
impl Event {
    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

/// Finds an event that was scheduled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle {
    time: u64,
    number: u32,
    /// [`NONE`] if nothing was scheduled, or if it was cancelled.
    slot: u32,
}

impl Handle {
    /// Nothing was scheduled.
    pub(crate) const NONE: Handle = Handle { time: 0, number: 0, slot: NONE };

    /// When the event is due.
    pub(crate) fn time(&self) -> u64 {
        self.time
    }
}

/// The event list and its clock.
#[derive(Debug)]
pub(crate) struct EventList {
    now: u64,
    /// The number of the event that is handled, and how long before it it was scheduled.
    current: u32,
    scheduled_before: u32,
    /// The number of the next event that is scheduled.
    next_number: u32,
    events: Vec<Event>,
    free: u32,
    /// By nanosecond modulo [`SPAN`]: first and last event.
    lists: Vec<(u32, u32)>,
    /// Which lists are not empty, and which words of these bits are not zero.
    filled: [u64; WORDS],
    filled_words: u128,
    later: BinaryHeap<Reverse<(u64, u32, u32)>>,
}

impl EventList {
    /// Makes an empty list whose first event has number `first`.
    pub(crate) fn new(first: u32) -> EventList {
        const { assert!(WORDS == u128::BITS as usize) };
        EventList {
            now: 0,
            current: 0,
            scheduled_before: 0,
            next_number: first,
            events: Vec::new(),
            free: NONE,
            lists: vec![(NONE, NONE); SPAN],
            filled: [0; WORDS],
            filled_words: 0,
            later: BinaryHeap::new(),
        }
    }

    /// The time of the event that is handled, in nanoseconds.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// The number of the next event that is scheduled.
    #[cfg(test)]
    pub(crate) fn next_number(&self) -> u32 {
        self.next_number
    }

    /// Takes the number of an event that is scheduled later, if at all.
    pub(crate) fn take_number(&mut self) -> u32 {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        number
    }

    /// Schedules an event in `delay` nanoseconds.
    #[inline]
    pub(crate) fn schedule(&mut self, delay: u64, kind: Kind, a: u32, b: u32) -> Handle {
        let number = self.take_number();
        self.add(number, delay, kind, a, b)
    }

    /// Schedules an event in `delay` nanoseconds with a number that was taken before.
    pub(crate) fn schedule_as(&mut self, number: u32, delay: u64, kind: Kind, a: u32, b: u32) {
        self.add(number, delay, kind, a, b);
    }

    #[inline(always)]
    fn add(&mut self, number: u32, delay: u64, kind: Kind, a: u32, b: u32) -> Handle {
        let time = self.now.saturating_add(delay);
        let past = Past(short(delay), self.scheduled_before);
        let event = Event { time, number, past, next: NONE, a, b, kind };
        let slot = if self.free == NONE {
            self.events.push(event);
            (self.events.len() - 1) as u32
        } else {
            let slot = self.free;
            self.free = self.events[slot as usize].next;
            self.events[slot as usize] = event;
            slot
        };
        if delay < SPAN as u64 {
            self.append(slot);
        } else {
            self.later.push(Reverse((time, number, slot)));
        }
        Handle { time, number, slot }
    }

    /// Whether the event has yet to be handled. An event of this nanosecond that comes after the
    /// one at hand has.
    #[inline]
    pub(crate) fn is_pending(&self, handle: &Handle) -> bool {
        handle.slot != NONE
            && (handle.time > self.now || (handle.time == self.now && handle.number > self.current))
    }

    /// Cancels an event if it is pending. It stays in the list, as a number is not given back.
    pub(crate) fn cancel(&mut self, handle: &mut Handle) {
        if !self.is_pending(handle) {
            return;
        }
        let event = &mut self.events[handle.slot as usize];
        // Numbers that wrapped around may take an event for pending that was handled.
        if event.time == handle.time && event.number == handle.number {
            event.kind = Kind::Cancelled;
        }
        *handle = Handle::NONE;
    }

    /// Removes the event that is handled next, and sets the clock to its time.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        loop {
            let place = self.now as usize % SPAN;
            let (first, last) = self.lists[place];
            if first == NONE {
                self.advance()?;
                continue;
            }
            let event = self.events[first as usize];
            if first == last {
                self.lists[place] = (NONE, NONE);
                self.mark_empty(place);
            } else {
                self.lists[place].0 = event.next;
            }
            self.events[first as usize].next = self.free;
            self.free = first;
            if event.kind != Kind::Cancelled {
                self.current = event.number;
                self.scheduled_before = event.past.0;
                return Some(event);
            }
        }
    }

    /// Sets the clock to the time of the next event.
    fn advance(&mut self) -> Option<()> {
        self.now = match self.next_in_wheel() {
            Some(distance) => self.now + distance,
            None => self.later.peek()?.0.0,
        };
        while let Some(&Reverse((time, _, slot))) = self.later.peek() {
            if time - self.now >= SPAN as u64 {
                break;
            }
            self.later.pop();
            self.append(slot);
        }
        Some(())
    }

    /// How far ahead the next list is that is not empty. That of now is empty.
    fn next_in_wheel(&self) -> Option<u64> {
        if self.filled_words == 0 {
            return None;
        }
        let place = self.now as usize % SPAN;
        let (word, bit) = (place / 64, place % 64);
        // The bits after that of now in its word.
        let rest = self.filled[word] & u64::MAX.checked_shl(bit as u32 + 1).unwrap_or(0);
        if rest != 0 {
            return Some(u64::from(rest.trailing_zeros()) - bit as u64);
        }
        // The words after it, and at last its own.
        let words = self.filled_words.rotate_right((word as u32 + 1) % 128);
        let next = (word + 1 + words.trailing_zeros() as usize) % WORDS;
        let found = next * 64 + self.filled[next].trailing_zeros() as usize;
        Some(((found + SPAN - place - 1) % SPAN + 1) as u64)
    }

    fn mark_empty(&mut self, place: usize) {
        let word = place / 64;
        self.filled[word] &= !(1 << (place % 64));
        if self.filled[word] == 0 {
            self.filled_words &= !(1 << word);
        }
    }

    /// Puts an event into the list of its nanosecond, which the wheel reaches.
    #[inline]
    fn append(&mut self, slot: u32) {
        let Event { time, number, .. } = self.events[slot as usize];
        let place = time as usize % SPAN;
        let (first, last) = self.lists[place];
        if first == NONE {
            self.lists[place] = (slot, slot);
            self.filled[place / 64] |= 1 << (place % 64);
            self.filled_words |= 1 << (place / 64);
        } else if self.events[last as usize].number < number {
            self.events[last as usize].next = slot;
            self.lists[place].1 = slot;
        } else {
            self.insert_wrapped(slot, place);
        }
    }

    /// Puts an event before those with greater numbers, which were given before numbers wrapped
    /// around, or after the number of the event was taken.
    #[cold]
    fn insert_wrapped(&mut self, slot: u32, place: usize) {
        let number = self.events[slot as usize].number;
        let (mut before, mut after) = (NONE, self.lists[place].0);
        while after != NONE && self.events[after as usize].number < number {
            (before, after) = (after, self.events[after as usize].next);
        }
        self.events[slot as usize].next = after;
        if before == NONE {
            self.lists[place].0 = slot;
        } else {
            self.events[before as usize].next = slot;
        }
        if after == NONE {
            self.lists[place].1 = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Handles all events and returns their first arguments.
    fn drain(list: &mut EventList) -> Vec<(u64, u32)> {
        let mut all = Vec::new();
        while let Some(event) = list.pop() {
            all.push((list.now(), event.a));
        }
        all
    }

    #[test]
    fn events_come_by_time_and_then_by_number() {
        let mut list = EventList::new(7);
        for (number, delay) in [100_000, 5, 0, 5, 8192, 8191, 100_000, 63, 64].iter().enumerate() {
            list.schedule(*delay, Kind::WakeUp, number as u32, 0);
        }
        let times = [
            (0, 2),
            (5, 1),
            (5, 3),
            (63, 7),
            (64, 8),
            (8191, 5),
            (8192, 4),
            (100_000, 0),
            (100_000, 6),
        ];
        assert_eq!(drain(&mut list), times);
    }

    #[test]
    fn a_later_event_that_was_scheduled_first_goes_first() {
        let mut list = EventList::new(0);
        list.schedule(10_000, Kind::WakeUp, 0, 0);
        list.schedule(9_000, Kind::WakeUp, 1, 0);
        assert_eq!(list.pop().unwrap().a, 1);
        list.schedule(1_000, Kind::WakeUp, 2, 0);
        assert_eq!(drain(&mut list), [(10_000, 0), (10_000, 2)]);
    }

    #[test]
    fn an_event_is_pending_until_it_is_handled_or_cancelled() {
        let mut list = EventList::new(0);
        let mut handles =
            [0, 0, 3, 3].map(|delay| list.schedule(delay, Kind::WakeUp, delay as u32, 0));
        list.pop();
        assert!(!list.is_pending(&handles[0]) && list.is_pending(&handles[1]));
        list.cancel(&mut handles[2]);
        assert!(!list.is_pending(&handles[2]));
        assert_eq!(drain(&mut list), [(0, 0), (3, 3)]);
    }

    #[test]
    fn after_a_wrap_new_events_go_before_old_ones() {
        let mut list = EventList::new(u32::MAX);
        for number in 0..4 {
            list.schedule(9, Kind::WakeUp, number, 0);
        }
        assert_eq!(drain(&mut list), [(9, 1), (9, 2), (9, 3), (9, 0)]);
    }
}
