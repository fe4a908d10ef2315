//! Queues that a congestion point keeps apart within a priority: one per destination, per flow, of
//! harmful flows. Their heads are gated; those that may go take turns.

use crate::packet::{Packet, Scheme};
use engine::{Fifo, Handle, Packets};
use schemes::contract::Gate;
use std::collections::VecDeque;
use units::Time;

#[derive(Debug, Default)]
struct SubQueue {
    fifo: Fifo,
    priority: u8,
}

/// The sub-queues of a port.
#[derive(Debug, Default)]
pub(crate) struct SubQueues {
    /// By number; number 0 is the port's own queue and stays empty here.
    queues: Vec<SubQueue>,
    /// Those that are not empty, next one first.
    round: VecDeque<u32>,
    /// Priorities in which a sub-queue sent last, and the port's own queue has its turn.
    own_turn: u8,
}

impl SubQueues {
    pub(crate) fn push<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        number: u32,
        priority: u8,
        handle: Handle,
    ) {
        if self.queues.len() <= number as usize {
            self.queues.resize_with(number as usize + 1, SubQueue::default);
        }
        let queue = &mut self.queues[number as usize];
        if queue.fifo.is_empty() {
            queue.priority = priority;
            self.round.push_back(number);
        }
        debug_assert_eq!(queue.priority, priority, "a sub-queue belongs to one priority");
        queue.fifo.push(packets, handle);
    }

    /// Priorities of which a sub-queue may send now, and the earliest time at which a gate that
    /// only waits for time opens.
    pub(crate) fn open<S: Scheme>(
        &self,
        packets: &Packets<'_, Packet<S>>,
        paused: u16,
        gate: impl Fn(u32, &Packet<S>) -> Gate,
    ) -> (u8, Time) {
        let (mut open, mut wait) = (0, Time::NEVER);
        for &number in &self.round {
            let queue = &self.queues[number as usize];
            if paused & 1 << queue.priority != 0 || open & 1 << queue.priority != 0 {
                continue;
            }
            let head = queue.fifo.peek(packets).expect("only filled ones are in the round");
            match gate(number, head) {
                Gate::Open => open |= 1 << queue.priority,
                Gate::Until(time) => wait = wait.min(time),
                Gate::Shut => {}
            }
        }
        (open, wait)
    }

    /// Whether a sub-queue rather than the port's own queue of this priority goes now: they
    /// alternate where both have packets.
    pub(crate) fn takes_turn(&mut self, priority: usize, own_waits: bool) -> bool {
        let bit = 1 << priority;
        if own_waits && self.own_turn & bit != 0 {
            self.own_turn &= !bit;
            return false;
        }
        self.own_turn |= bit;
        true
    }

    /// Takes any packet that waits here.
    pub(crate) fn take_any<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
    ) -> Option<Handle> {
        let &number = self.round.front()?;
        let queue = &mut self.queues[number as usize];
        let handle = queue.fifo.pop(packets).expect("only filled ones are in the round");
        if queue.fifo.is_empty() {
            self.round.pop_front();
        }
        Some(handle)
    }

    /// Takes the head of the next open sub-queue of a priority.
    pub(crate) fn pop<S: Scheme>(
        &mut self,
        packets: &Packets<'_, Packet<S>>,
        priority: usize,
        gate: impl Fn(u32, &Packet<S>) -> Gate,
    ) -> Handle {
        let place = self.round.iter().position(|&number| {
            let queue = &self.queues[number as usize];
            queue.priority as usize == priority
                && queue.fifo.peek(packets).is_some_and(|head| gate(number, head) == Gate::Open)
        });
        let number = self.round.remove(place.expect("one was open")).expect("it has a place");
        let queue = &mut self.queues[number as usize];
        let handle = queue.fifo.pop(packets).expect("only filled ones are in the round");
        if !queue.fifo.is_empty() {
            self.round.push_back(number);
        }
        handle
    }
}
