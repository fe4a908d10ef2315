//! A host's timers.

use crate::host::tournament::Tournament;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// What a timer is for. Timers of one instant are handled by kind in this order, then by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// Post this message.
    Post(u32),
    /// Wake the reaction point in this slot.
    Sender(u32),
    /// Wake the notification point in this slot.
    Receiver(u32),
    /// Look for sending ends that have waited too long for an ACK.
    Timeout,
    /// See whether the receive buffer has drained.
    Buffer,
    /// See which pauses expire and which are sent again.
    Pauses,
}

/// The timers of a host.
pub(super) struct Timers {
    /// When the earliest of them is due.
    due: Time,
    posts: BinaryHeap<Reverse<(Time, u32)>>,
    senders: Tournament,
    receivers: Tournament,
    /// No retransmission timeout expires before this.
    timeout: Time,
    /// When to look at the receive buffer.
    buffer: Time,
    /// When to look at the times of pauses.
    pauses: Time,
}

impl Timers {
    pub(super) fn new() -> Timers {
        Timers {
            due: Time::NEVER,
            posts: BinaryHeap::new(),
            senders: Tournament::default(),
            receivers: Tournament::default(),
            timeout: Time::NEVER,
            buffer: Time::NEVER,
            pauses: Time::NEVER,
        }
    }

    /// When the earliest is due.
    #[inline]
    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// The messages that have a time to be posted.
    pub(super) fn posts(&self) -> impl Iterator<Item = u32> {
        self.posts.iter().map(|&Reverse((_, flow))| flow)
    }

    /// Takes the first timer that is due by `now`.
    pub(super) fn next(&mut self, now: Time) -> Option<Timer> {
        if self.due > now {
            return None;
        }
        let post = self.posts.peek().map(|&Reverse((time, flow))| (time, Timer::Post(flow)));
        let sender =
            self.senders.first().map(|slot| (self.senders.earliest(), Timer::Sender(slot)));
        let receiver =
            self.receivers.first().map(|slot| (self.receivers.earliest(), Timer::Receiver(slot)));
        let timeout = (self.timeout != Time::NEVER).then_some((self.timeout, Timer::Timeout));
        let buffer = (self.buffer != Time::NEVER).then_some((self.buffer, Timer::Buffer));
        let pauses = (self.pauses != Time::NEVER).then_some((self.pauses, Timer::Pauses));
        let all = [post, sender, receiver, timeout, buffer, pauses];
        let (_, timer) = all.into_iter().flatten().min()?;
        match timer {
            Timer::Post(_) => {
                self.posts.pop();
            }
            Timer::Sender(slot) => self.senders.set(slot, Time::NEVER),
            Timer::Receiver(slot) => self.receivers.set(slot, Time::NEVER),
            Timer::Timeout => self.timeout = Time::NEVER,
            Timer::Buffer => self.buffer = Time::NEVER,
            Timer::Pauses => self.pauses = Time::NEVER,
        }
        self.find_due();
        Some(timer)
    }

    /// Has a message posted at `time`.
    pub(super) fn post(&mut self, time: Time, flow: u32) {
        self.posts.push(Reverse((time, flow)));
        self.find_due();
    }

    /// Has the reaction point in this slot woken at `time`. Replaces its earlier timer.
    #[inline]
    pub(super) fn wake_sender(&mut self, slot: u32, time: Time) {
        if time != self.senders.at(slot) {
            self.senders.set(slot, time);
            self.find_due();
        }
    }

    /// Has the notification point in this slot woken at `time`. Replaces its earlier timer.
    #[inline]
    pub(super) fn wake_receiver(&mut self, slot: u32, time: Time) {
        if time != self.receivers.at(slot) {
            self.receivers.set(slot, time);
            self.find_due();
        }
    }

    /// Has retransmission timeouts checked at `time`, unless they are checked earlier.
    #[inline]
    pub(super) fn arm_retransmission(&mut self, time: Time) {
        if self.timeout > time {
            self.timeout = time;
            self.find_due();
        }
    }

    /// Has the receive buffer looked at at `time`, instead of when it was to be before.
    pub(super) fn wake_buffer(&mut self, time: Time) {
        self.buffer = time;
        self.find_due();
    }

    /// Has the times of pauses looked at at `time`, instead of when they were to be before.
    pub(super) fn wake_pauses(&mut self, time: Time) {
        self.pauses = time;
        self.find_due();
    }

    fn find_due(&mut self) {
        let post = self.posts.peek().map_or(Time::NEVER, |&Reverse((time, _))| time);
        let asked = self.senders.earliest().min(self.receivers.earliest());
        self.due = post.min(asked).min(self.timeout).min(self.buffer).min(self.pauses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with a single list. In it a new time of a reaction or notification point, or an
        /// earlier timeout, replaces the one before.
        #[test]
        fn timers_come_by_time_then_kind_then_number(
            changes in prop::collection::vec((0u8..7, 0u32..6, 0u64..30), 1..100),
        ) {
            let mut timers = Timers::new();
            let mut list: Vec<(Time, Timer)> = Vec::new();
            for (what, number, ns) in changes {
                let time = Time::from_ns(ns);
                match what {
                    0 => {
                        timers.post(time, number);
                        list.push((time, Timer::Post(number)));
                    }
                    1 | 2 => {
                        let timer = match what {
                            1 => Timer::Sender(number),
                            _ => Timer::Receiver(number),
                        };
                        list.retain(|&(_, other)| other != timer);
                        list.push((time, timer));
                        match what {
                            1 => timers.wake_sender(number, time),
                            _ => timers.wake_receiver(number, time),
                        }
                    }
                    5 => {
                        timers.wake_buffer(time);
                        list.retain(|&(_, other)| other != Timer::Buffer);
                        list.push((time, Timer::Buffer));
                    }
                    6 => {
                        timers.wake_pauses(time);
                        list.retain(|&(_, other)| other != Timer::Pauses);
                        list.push((time, Timer::Pauses));
                    }
                    3 => {
                        timers.arm_retransmission(time);
                        let earlier = list
                            .iter()
                            .any(|&(at, timer)| timer == Timer::Timeout && at <= time);
                        if !earlier {
                            list.retain(|&(_, timer)| timer != Timer::Timeout);
                            list.push((time, Timer::Timeout));
                        }
                    }
                    _ => {
                        let first = list.iter().copied().min().filter(|&(at, _)| at <= time);
                        prop_assert_eq!(timers.next(time), first.map(|(_, timer)| timer));
                        if let Some(first) = first {
                            let place = list.iter().position(|&entry| entry == first).unwrap();
                            list.swap_remove(place);
                        }
                    }
                }
                let due = list.iter().map(|&(at, _)| at).min().unwrap_or(Time::NEVER);
                prop_assert_eq!(timers.due(), due);
            }
        }
    }
}
