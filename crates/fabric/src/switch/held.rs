//! Packets that a congestion point holds until a time that it names.

use engine::Handle;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use units::Time;

/// The held packets, earliest end first. Among equal ends, the one held first comes first.
///
/// If a switch resubmits packets, most of their holds have about the same length. Holds that end in
/// the order in which they begin are kept in a queue. Only the others need a heap.
#[derive(Debug, Default)]
pub(crate) struct HeldPackets {
    queue: VecDeque<Waiting>,
    others: BinaryHeap<Reverse<Waiting>>,
    holds: u64,
}

#[derive(Debug)]
struct Waiting {
    until: Time,
    order: u64,
    in_port: u16,
    handle: Handle,
}

impl Waiting {
    fn key(&self) -> (Time, u64) {
        (self.until, self.order)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Waiting {}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl HeldPackets {
    /// Holds a packet that came through `in_port`.
    #[inline]
    pub(crate) fn add(&mut self, until: Time, in_port: u16, handle: Handle) {
        self.holds += 1;
        let waiting = Waiting { until, order: self.holds, in_port, handle };
        if self.queue.back().is_none_or(|last| last.until <= until) {
            self.queue.push_back(waiting);
        } else {
            self.others.push(Reverse(waiting));
        }
    }

    /// Returns when the next hold ends.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        let until = |waiting: Option<&Waiting>| waiting.map_or(Time::NEVER, |next| next.until);
        until(self.queue.front()).min(until(self.others.peek().map(|Reverse(next)| next)))
    }

    /// Takes the next packet whose hold ends by `now`, with its ingress port.
    #[inline]
    pub(crate) fn take(&mut self, now: Time) -> Option<(u16, Handle)> {
        let queued = self.queue.front().map(Waiting::key);
        let other = self.others.peek().map(|Reverse(other)| other.key());
        let (until, _) = match (queued, other) {
            (Some(queued), Some(other)) => queued.min(other),
            (queued, other) => queued.or(other)?,
        };
        if until > now {
            return None;
        }
        let next = if other.is_none_or(|other| queued.is_some_and(|queued| queued < other)) {
            self.queue.pop_front()
        } else {
            self.others.pop().map(|Reverse(other)| other)
        };
        next.map(|next| (next.in_port, next.handle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::arena::Arena;
    use proptest::prelude::*;

    proptest! {
        /// Packets come out when their holds end. Those that end together come out in the order in
        /// which they were held.
        #[test]
        fn packets_come_out_by_time_and_then_in_order(
            steps in prop::collection::vec((0..40_u64, any::<bool>()), 1..200),
        ) {
            let arena = Arena::new();
            let mut packets = arena.packets();
            let mut held = HeldPackets::default();
            let (mut expected, mut now) = (Vec::new(), 0);
            for (number, (span, passes)) in steps.into_iter().enumerate() {
                let until = now + span;
                held.add(Time::from_ps(until), number as u16, packets.insert(number));
                expected.push((until, number));
                if passes {
                    now += 7;
                    expected.sort_unstable();
                    for (until, number) in expected.extract_if(.., |(until, _)| *until <= now) {
                        prop_assert_eq!(held.next(), Time::from_ps(until));
                        let (in_port, handle) = held.take(Time::from_ps(now)).expect("due");
                        let taken = (in_port as usize, packets.remove(handle));
                        prop_assert_eq!(taken, (number, number));
                    }
                    prop_assert!(held.next() > Time::from_ps(now));
                    prop_assert!(held.take(Time::from_ps(now)).is_none());
                }
            }
        }
    }
}
